package midtool

import (
	"context"
	"encoding/json"
	"iter"
)

// A Tool is one callable with a JSON Schema for its arguments. It is immutable after [Normalize]; the raw messages
// must not be changed.
type Tool struct {
	ID          string          `json:"id"` // "t_" and 16 hex digits over name, description and parameters; see [Normalize]
	Name        string          `json:"name"`
	Original    string          `json:"original,omitempty"` // in a sample: the name before it was made exportable; empty if unchanged
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`        // JSON Schema of the arguments, an object schema
	Returns     json.RawMessage `json:"returns,omitempty"` // JSON Schema of the result; nil means unknown
	ReadOnly    bool            `json:"read_only,omitempty"`
	Group       string          `json:"group,omitempty"` // server, API, folder or document that the tool belongs to
	Origin      Origin          `json:"origin,omitzero"` // where it was read; never part of ID
	License     string          `json:"license,omitempty"`
	Lossy       []string        `json:"lossy,omitempty"` // repairs that changed the meaning of the schema, in order
}

// Origin says where a record came from.
type Origin struct {
	Kind    string `json:"kind"`           // for example "mcp", "openai" or "server"
	Locator string `json:"locator"`        // file name or address, as the caller gave it
	Line    int    `json:"line,omitempty"` // 1-based line in the file; 0 means the whole file
}

// A Source yields tools in a fixed order. After a non-nil error the sequence ends; stopping early releases
// everything. It can be ranged over more than once and is not safe for concurrent use unless it says so.
type Source interface {
	Tools(ctx context.Context) iter.Seq2[Tool, error]
}

// SourceFunc lets an ordinary function serve as a [Source].
type SourceFunc func(ctx context.Context) iter.Seq2[Tool, error]

// Tools calls f.
func (f SourceFunc) Tools(ctx context.Context) iter.Seq2[Tool, error] { return f(ctx) }

// A Sample is one training example: the offered tools, the messages, and why it can be trusted.
type Sample struct {
	ID       string     `json:"id"`
	Family   string     `json:"family"`  // the plan it follows, for example "single"
	Ability  string     `json:"ability"` // what it teaches: affordance, grounding, composition or recovery
	Tools    []Tool     `json:"tools"`   // offered to the model, in order
	Messages []Message  `json:"messages"`
	Evidence []Evidence `json:"evidence"` // one per scalar argument of every call, in order
}

// Role is the author of a [Message].
type Role string

// The roles.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// A Message is one entry of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
	Calls   []Call `json:"calls,omitempty"`   // of an assistant
	CallID  string `json:"call_id,omitempty"` // of a tool: the call it answers
	Name    string `json:"name,omitempty"`    // of a tool: its name
}

// A Call is one use of a tool. Calls are always a list, never a map keyed by name.
type Call struct {
	ID        string          `json:"id"` // unique in a sample
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a JSON object
}

// Evidence says where one argument of a call comes from.
type Evidence struct {
	CallID string        `json:"call_id"`
	Path   string        `json:"path"` // JSON Pointer into the arguments
	Class  EvidenceClass `json:"class"`
	Text   string        `json:"text,omitempty"` // the words that carry the value, empty for classes without words
}

// EvidenceClass ranks how an argument is supported by its context, best first.
type EvidenceClass string

// The classes. Only EvidenceUngrounded fails validation.
const (
	EvidenceLiteral     EvidenceClass = "literal"      // the value's text stands in an earlier message
	EvidenceNormalized  EvidenceClass = "normalized"   // the same after folding case, punctuation or number form
	EvidenceToolResult  EvidenceClass = "tool_result"  // equal to a scalar of an earlier result
	EvidenceEnumDefault EvidenceClass = "enum_default" // a member of an enum, a const, a default, an example or a boolean
	EvidenceDerived     EvidenceClass = "derived"      // a recorded transformation
	EvidenceUngrounded  EvidenceClass = "ungrounded"
)
