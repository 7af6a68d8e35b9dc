// Package mcpenv makes an environment of any server of the Model Context Protocol (MCP): the server's tools are the actions, what the
// server has become in the end is what is judged.
//
// # Quick start
//
// The memory server of npm, a graph in a file, as a world of one task; npx needs Node:
//
//	w, err := mcpenv.World(mcpenv.Config{
//		Server: func(dir string) mcpenv.Server {
//			return mcpenv.Server{
//				Command: []string{"npx", "-y", "@modelcontextprotocol/server-memory"},
//				Env:     []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.json")},
//			}
//		},
//		Tasks: []mcpenv.Task{{
//			Task:   envharness.Task{ID: "oslo"},
//			Prompt: "Remember that Oslo is a city.",
//			Goal:   json.RawMessage(`{"entities":[{"name":"Oslo","entityType":"city","observations":[]}],"relations":[]}`),
//		}},
//		Read: envharness.Action{Name: "read_graph"},
//	})
//
// [envharness.Rollouts] then lets policies play, and components change what they meet.
//
// # An episode
//
// Reset makes a new empty folder, starts a new server on it, initializes the session, lists the tools and makes the calls of
// [Task].Start. What is shown first is the Prompt. Step is one tools/call: the text of the result is shown as Text, structured
// content as Data, an object as it is and anything else as its field "result". The answers of a server mean:
//
//   - a result: the action was carried out.
//   - a result with isError, or a JSON-RPC error with code -32602: the action was refused, with class bad_args if the code is -32602,
//     also in the text, and else with class other. What the server has changed before it refused stays changed.
//   - any other JSON-RPC error, the end of a program or its output, an answer that is longer than [Server].MaxMessage or no answer at
//     all, and the end of the context: the server failed. The error is an [envharness.ErrInfra] and the episode Invalid, neither
//     passed nor failed; so it is if the policy made a server fail.
//
// So a policy that can make a server fail can get out of an episode that it loses: [envharness.Rollouts] plays it again, and
// [envharness.SuccessRate] leaves it out. Where policies are trained, or may have learned to, set Reruns to 0 and let the rate need all
// traces, look at the End and the last action of Invalid ones, and give them no tool that ends the server or writes where it lives.
//
// A tool that the server does not list is refused with class unknown_tool, and arguments that are no JSON object with bad_args,
// without the server being asked. An episode ends when the policy stops or, with [Config].Answer, submits an answer, and on turn
// MaxTurns at the latest. The list of tools is that of the Reset: later changes to it are not looked at. Tools with readOnlyHint are
// ReadOnly; what a server says of its tools, and in their descriptions, is its own word.
//
// # Verdict
//
// The harness reads the state by [Config].Read at the start and in the end, on the session of the episode, before the server ends.
// The verifier compares it with the Goal as canonical JSON, lists of objects in any order, or leaves it to [Config].Judge with the
// submitted answer. It looks at the Evidence alone. The state is graded as a whole, so that no component sees it; a policy sees what
// the tools show it.
//
// Servers are taken for what they mostly are, not repeatable: there are no seeds, and verdicts are marked Unreplayed. With
// [Config].Deterministic each episode is played again on a fresh server, which must give the same results and the same states.
//
// # Isolation
//
// A program is started for each episode, gets the folder of the episode and no variable of this process's environment but those that
// programs need, and is killed with all that it started if it does not end by itself. That is all: it runs with the rights of this
// process, and one that keeps its state elsewhere than in the folder, in a fixed file or a database, shares it with all other
// episodes.
//
// A session over HTTP is no fresh world. There the server lives on, and it is the caller's duty that an episode begins where it
// should and is alone: by [Config].Fresh, which resets the server, and one rollout at a time; or by a Server that returns another
// address for each folder. Calls of Start alone make a start only on a server that does not mind what was there before.
//
// # Secrets
//
// Secrets come from the caller alone, in Server.Env, Server.Header and Server.URL. They are in no error and no trace of this
// package's making, nor is what a program writes to standard error. But what a tool answers is shown and recorded as it is: give a
// server no secret that one of its tools tells.
//
// # Cost and determinism
//
// A Reset costs the start of a program, which is about 10 ms for one in Go and some 150 ms for one on Node, and a round trip for each
// page of tools and each call of Start. A Step is one round trip, and so is a read of the state: two an episode, and one more after
// each step of which a component asks for the state, though it is shown nothing of it. A message of the server takes as much memory
// as it is long, while it is read up to a hundred times as much if it is made for that, and the tools at most 32 MiB. The package has no
// randomness and reads no clock; it reads the environment for the place of temporary folders.
//
// # Source
//
// The protocol is MCP as the official Go SDK speaks it (github.com/modelcontextprotocol/go-sdk, protocol 2025-06-18 and later). The
// mapping of its answers is ours, found by measurement of the servers of npm, as is the verdict by a read tool.
package mcpenv
