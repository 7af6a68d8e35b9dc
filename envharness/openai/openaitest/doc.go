// Package openaitest is an offline model endpoint for tests. It is strict about the wire: a request that the OpenAI API would refuse is
// refused with status 400, and recorded, so that a test can fail for it.
//
// A [Server] listens on this machine alone and answers POST /v1/chat/completions, in one body or in pieces, and POST /v1/embeddings. What
// it answers is up to a func of the test's; a [Reply] can be anything from a text to a connection that is cut in the middle.
//
// # What is checked
//
// Method, path, content type and authorization; that the body is one JSON object without a field that is unknown or there twice, here and
// in messages, tools and calls; the types and ranges of all fields that have one; roles, and the kinds of content that each may have;
// that every call of an assistant's message is answered by exactly one message directly after it, and that no message answers anything
// else; that ids of calls are unique in their message; names of tools, which are 1 to 64 of a-z, A-Z, 0-9, _ and -, and unique; that
// parameters are the schema of an object with properties, and arguments a string with JSON in it; that tool_choice and parallel_tool_calls come with
// tools, and stream_options with stream.
//
// The fields and their ranges are those of the public reference of the API, as the types of github.com/openai/openai-go/v3 v3.100.0 have
// them; stricter than the API are the checks of fields that are there twice and of arguments, which it passes to the model as they are.
// Three more are known from its messages alone: that lists of tools and of calls must not be empty, and that the schema of an object must
// have properties.
package openaitest
