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
	Hints       Hints           `json:"hints,omitzero"`         // what else is said of its effects; never part of ID
	Group       string          `json:"group,omitempty"`        // server, API, folder or document that the tool belongs to
	Origin      Origin          `json:"origin,omitzero"`        // where it was read; never part of ID
	License     string          `json:"license,omitempty"`      // SPDX identifier where the text is a usual spelling of one; else the text
	LicenseFrom string          `json:"license_from,omitempty"` // the object that states it, for example "tool" or "server"; empty if unknown
	Lossy       []string        `json:"lossy,omitempty"`        // repairs that changed the meaning of the schema, in order
}

// Hints are what the author of a tool says of its effects besides ReadOnly: the annotations of MCP, which are nobody's promise. nil means
// that the author says nothing, for which MCP has a default that is not always false. The values must not be changed.
type Hints struct {
	Destructive *bool `json:"destructive,omitempty"` // it may undo or overwrite, not only add; MCP takes nil for true
	Idempotent  *bool `json:"idempotent,omitempty"`  // to call it again with equal arguments has no further effect; MCP takes nil for false
	OpenWorld   *bool `json:"open_world,omitempty"`  // it deals with an open set of things, such as the web; MCP takes nil for true
}

// Origin says where a record came from.
type Origin struct {
	Kind    string `json:"kind"`           // for example "mcp", "openai" or "server"
	Locator string `json:"locator"`        // file name or address, as the caller gave it
	Line    int    `json:"line,omitempty"` // 1-based line in the file; 0 means the whole file

	Revision string `json:"revision,omitempty"` // version or commit of the file, as the caller gave it
	SHA256   string `json:"sha256,omitempty"`   // of the record read there, in 64 hex digits; see [ToolsJSONL]
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
	ID            string     `json:"id"`
	Family        Family     `json:"family"`                   // the plan it follows
	Ability       Ability    `json:"ability"`                  // what it teaches
	SecondAbility Ability    `json:"second_ability,omitempty"` // what it teaches besides; empty if nothing
	Source        string     `json:"source"`                   // branch or file it comes from, for example "native"
	Document      string     `json:"document,omitempty"`       // ID of the document that it is grounded in; empty for none
	Generator     string     `json:"generator,omitempty"`      // who wrote the words: "template", "teacher"; empty if unknown
	Tools         []Tool     `json:"tools"`                    // offered to the model from the start, in order
	Messages      []Message  `json:"messages"`
	Evidence      []Evidence `json:"evidence"`       // one per scalar argument of every trained call, in order
	Plan          *Plan      `json:"plan,omitempty"` // what was decided before the words were written; nil if nothing was
}

// A Plan is what a sample must do, whoever writes its words.
type Plan struct {
	// Calls are all calls in the order of the conversation, faulty ones included; empty for none. Of a clarification it is
	// the one call that cannot be made yet, with the arguments that are known.
	Calls []Call `json:"calls"`

	// Withheld has JSON Pointers into the arguments of the first call that the first request leaves out (missing_info,
	// clarification).
	Withheld []string `json:"withheld,omitempty"`

	// Absent is the tool that the request needs (irrelevance), or that is offered late (missing_function).
	Absent *Tool `json:"absent,omitempty"`

	// Fault is how a call fails (recovery): "bad_argument" or "not_found", of which the tool says what is wrong; or "timeout",
	// "rate_limited" or "permission", of calls that never reach it.
	Fault string `json:"fault,omitempty"`

	// Answer has what the assistant's messages must hold (qa), in order, the last piece in the last message: texts of the
	// shown document, or calls as JSON with its words and values.
	Answer []string `json:"answer,omitempty"`
}

// A Family is a kind of sample. The checks of [Checker] include the proof that each sample is of its family.
type Family string

// The families of both branches, and no_call for an imported conversation without calls. MidTool names single calls,
// multi or parallel calls, and clarification of missing information; how they are divided here, and the others, are ours.
const (
	Single          Family = "single"           // one call
	Parallel        Family = "parallel"         // 2 to 4 calls in one turn, none of which needs another's result
	Sequential      Family = "sequential"       // one request, calls in several turns, each later one fed by an earlier result
	MultiTurn       Family = "multi_turn"       // several requests, a later one building on what came before
	MissingInfo     Family = "missing_info"     // the request lacks a required argument: the assistant asks, then calls
	MissingFunction Family = "missing_function" // the needed tool is offered later: the assistant declines, then calls
	Irrelevance     Family = "irrelevance"      // no offered tool fits: no call
	Recovery        Family = "recovery"         // a call fails; the assistant repairs it, tries again or reports
	Clarification   Family = "clarification"    // the request lacks a required argument: the assistant asks, and that is the end
	QA              Family = "qa"               // a question about a document that is shown, answered with its words: no call
	NoCall          Family = "no_call"
)

// An Ability is one of the four that a corpus teaches (MidTool).
type Ability string

// The abilities.
const (
	Affordance  Ability = "affordance"  // see what tool fits, or that none does
	Grounding   Ability = "grounding"   // take arguments from the context
	Composition Ability = "composition" // order and combine calls
	Recover     Ability = "recovery"    // act when information is incomplete or a call has failed
)

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
	Role      Role   `json:"role"`
	Content   string `json:"content"`
	Calls     []Call `json:"calls,omitempty"`     // of an assistant
	CallID    string `json:"call_id,omitempty"`   // of a tool: the call it answers
	Name      string `json:"name,omitempty"`      // of a tool: its name
	Offers    []Tool `json:"offers,omitempty"`    // of a system message: tools offered from here on; Content is then [OfferText] of them
	Untrained bool   `json:"untrained,omitempty"` // of an assistant: a mistake that is shown and not learned
	Template  string `json:"template,omitempty"`  // of a user or an assistant: the template that Content follows; empty if none
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
	EvidenceDerived     EvidenceClass = "derived"      // another way to write the value, such as 3 March 2027 for a date
	EvidenceUngrounded  EvidenceClass = "ungrounded"
)
