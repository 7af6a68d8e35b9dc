package midtool

import (
	"context"
	"encoding/json"
)

// An Executor answers calls: package simulate has two without a network; a caller's own can run real tools. It must be
// safe for concurrent use.
type Executor interface {
	// Open starts a session with state of its own. Sessions with the same id and tools start alike.
	Open(ctx context.Context, id string, tools []Tool) (Session, error)
}

// ExecutorFunc lets an ordinary function serve as an [Executor].
type ExecutorFunc func(ctx context.Context, id string, tools []Tool) (Session, error)

// Open calls f.
func (f ExecutorFunc) Open(ctx context.Context, id string, tools []Tool) (Session, error) {
	return f(ctx, id, tools)
}

// A Session carries the state of one conversation from call to call. It is not safe for concurrent use.
type Session interface {
	// Execute answers one call of a tool of the session, under its original name. A failure of the tool is a Result with
	// IsError; an error ends the work.
	Execute(ctx context.Context, tool Tool, arguments json.RawMessage) (Result, error)
}

// SessionFunc lets an ordinary function serve as a [Session].
type SessionFunc func(ctx context.Context, tool Tool, arguments json.RawMessage) (Result, error)

// Execute calls f.
func (f SessionFunc) Execute(ctx context.Context, tool Tool, arguments json.RawMessage) (Result, error) {
	return f(ctx, tool, arguments)
}

// A Result is the answer to a call. A failure is best given as {"error": {"type", "message"}} or {"error": "text"} besides
// IsError: in a sample the value stands alone, and other values are read as successes.
type Result struct {
	Value   json.RawMessage // any JSON value
	IsError bool            // the tool reports a failure, which Value describes
}

// A Generator is a language model: it answers a prompt. It must be safe for concurrent use.
type Generator func(ctx context.Context, prompt string) (string, error)
