// Package mcptest is a server of the Model Context Protocol for tests and examples that must run without a network and without Node: a
// stockroom, whose items have a name, a shelf and a count, and switches that make the server break off in the ways that servers do.
//
// Its seven tools are list_items, get_item and search_items, which are annotated as read-only; create_item, update_item and move_item;
// and delete_item, which is annotated as destructive. All have schemas of input and output, and answer with structured content and the
// same as text. Arguments outside the input schema are a JSON-RPC error with code -32602, which is also what the SDK makes of an
// unknown tool; a call that the present stock does not allow, such as one for an item that does not exist, is a result with isError.
//
// There are three ways to serve: [NewServer] for a transport of the caller's, [Serve] on the standard streams, for a program that
// starts itself again as a child, and [Handler] over streamable HTTP. With [Options].File the stock is kept in a file, so that a new
// file is a new world and a program that starts again on the same file goes on with it.
//
// Protocol and transports are those of the official Go SDK (github.com/modelcontextprotocol/go-sdk, protocol 2025-06-18 and later);
// the stockroom is ours.
//
// # Cost and determinism
//
// The same calls give the same answers, byte for byte; items stay in the order in which they were created. A read takes time linear
// in the stock, and so does a write where there is a file, which is written anew. The package reads no environment, clock or random
// source. It is no model of a server to imitate: it has no limits but those of the schemas.
package mcptest
