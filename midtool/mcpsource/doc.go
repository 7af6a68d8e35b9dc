// Package mcpsource reads the tools of servers of the Model Context Protocol as tools of package midtool, and executes calls on them.
//
// # Quick start
//
// The tools of a server that speaks on its standard streams, and of one that is reached over HTTP:
//
//	memory := mcpsource.Source{Server: mcpsource.Server{Command: []string{"mcp-server-memory"}}, License: "MIT"}
//	remote := mcpsource.Source{Server: mcpsource.Server{
//		URL:    "https://mcp.example.com/mcp",
//		Header: http.Header{"Authorization": {"Bearer " + token}},
//	}}
//	tools, err := midtool.ReadTools(ctx, memory, remote)
//
// [midtool.Normalize] then brings their schemas into one dialect. To call them, once, and to have the answers again from a file:
//
//	executor, err := mcpsource.Record("answers.jsonl", mcpsource.Options{
//		Servers: map[string]mcpsource.Server{"memory-server": memory.Server}, // by the Group of the tools
//	})
//	...                                          // native.Generate, midtool.Checker.Replay, Session.Execute
//	err = executor.Close()                       // writes the file
//	executor, err = mcpsource.Replay("answers.jsonl")
//
// A later run needs the tools as well: json.Marshal and json.Unmarshal keep a [midtool.Tool] as it is. This server keeps its graph in a
// file, which sessions that change something would share, see below: have it only read, or give it a file of its own by Env. To choose
// among tools under a budget, bps takes each as {Name, Description, Body: string(Parameters)}.
//
// # Source
//
// The protocol is that of the Model Context Protocol, version 2025-11-25 and before, in the client of its official Go SDK: initialize, then
// tools/list until no cursor follows. Of a result the bytes are kept and read by [midtool.ToolsJSONL], so that a live server gives what its
// saved result gives: schemas, their order of keys and integers of any size as the server wrote them. Title, description, output schema
// and annotations are kept. What a server is told, what is stored, and the order are ours.
//
// A server's word is all there is for readOnlyHint and the other annotations. What it writes in descriptions is text of strangers.
//
// # Recording
//
// The answer to a call is stored under the tool's ID, the canonical JSON of its arguments, the calls before it in the session of tools that
// are not read-only, and how many equal calls came since the last of those. The identifier of a session is not part of it: equal sessions
// get equal answers, and where many ask the same the server is asked once. Two sessions that ask the same at the same time get the same
// answer. So a second run with the recording of the first gets the same bytes without a server, as long as it makes the same calls.
//
// Read-only calls of all sessions go to one connection for each server. Where Allow lets a session change something, it gets a process of
// its own, on which what it changed before is done again first, so that a session whose start was recorded can go on, and at most
// Options.Processes of these are kept. That holds for programs alone, and only for those that start alike: one that keeps its state in
// a file outside its process does not. A server at a URL has one state for all, which the recording does not capture.
//
// # Secrets
//
// Environments, headers and addresses are in no error, tool or recording: an Origin has the base name of a program, or the URL without
// user, query and fragment. But a server's answers are recorded as they are, with any secret that it puts into them.
//
// # Guarantees, cost, determinism
//
// Messages are bounded by MaxMessage, nested values, pages (1,000) and all pages together (64 MiB); a cursor that comes again is an error.
// A program and all that it started are gone when the loop over Tools ends, or with [Executor.Close]. Tools are sorted by name, equal names
// in the order of the server; a listing takes time and memory linear in its bytes. A recording is held in memory, and its file has an order
// of its own, so that equal answers give equal bytes.
package mcpsource
