// Package mcpclient connects to a server of the Model Context Protocol, over the standard streams of a program that it owns or over
// streamable HTTP, with bounds on all that the server sends. It is the common part of midtool/mcpsource and envharness/mcpenv.
//
// # Protocol
//
// The client of the official SDK (github.com/modelcontextprotocol/go-sdk v1.7.0) does the handshake, numbers the calls and cancels them.
// The handshake is initialize, which every server answers that exists today; the newer server/discover is never sent, since old servers
// end or fall silent on it. The client has no capabilities. Below the SDK lies a connection of our own, because that of the SDK reads
// messages of any length, queues notifications without end, decodes numbers to float64, and puts what a server says into its errors:
//
//   - A message of the server has at most Server.MaxMessage bytes and 80 nested values; it is measured before it is decoded. A longer one
//     ends a connection over standard streams, and one call over HTTP.
//   - Results of tools are kept as the bytes that came; nothing is decoded and written again.
//   - Notifications are read and dropped. A request of the server is answered at once: ping with an empty result, any other with code
//     -32601. While that answer is not taken, nothing more is read.
//   - Over HTTP each message is a POST, answered by JSON or by events. There is no stream of its own for messages of the server, and none
//     is resumed: one that ends before its answer is a call without one. Redirects are followed to the same scheme and host alone.
//
// # Errors and secrets
//
// [ErrNoAnswer] is the error of all that is no answer: a server that is gone, out of reach, or does not keep to the protocol. A JSON-RPC
// error is an [*Error]. What a server writes besides JSON-RPC, bodies of refused requests, standard error, addresses and headers are in
// no error. In the messages of JSON-RPC errors, which a server may fill as it likes, the values of Header, the user, password and query of
// URL, and the values of variables of Env whose names speak of a secret are replaced by "[redacted]". Results are handed out as they are.
//
// # Cost
//
// A session has two goroutines for the streams of a program, or one for each call over HTTP, and one of the SDK. It holds one message at a
// time over standard streams, or one for each call over HTTP, and what it was asked for.
package mcpclient
