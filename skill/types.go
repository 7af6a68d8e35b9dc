package skill

import "context"

// A Skill is a piece of reusable know-how: a short description, by which it is found, and a body, which is read when it
// is used. [*Document] implements it; one that was read leniently can break the limits on name and description. The three
// texts are valid UTF-8 and constant.
type Skill interface {
	Name() string        // unique in a memory; lower-case letters, digits and hyphens, at most 64 runes
	Description() string // at most 1,024 runes
	Body() string        // Markdown
}

// An Embedder turns texts into vectors whose cosine measures likeness. It returns one vector per text, in order, all of
// one length greater than 0 and with finite entries; they need not have unit length, and a zero vector means that the
// text has no content. The same text gives the same vector. It must be safe for concurrent use. The caller owns the
// result. An optional method ID() string names the embedder in reports. [HashEmbedder] is the default.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float64, error)
}

// EmbedderFunc lets an ordinary function serve as an [Embedder], for example a client of an embedding service.
type EmbedderFunc func(ctx context.Context, texts []string) ([][]float64, error)

// Embed calls f.
func (f EmbedderFunc) Embed(ctx context.Context, texts []string) ([][]float64, error) {
	return f(ctx, texts)
}

// A Step is one action of a finished episode and what came back. A structured action has a Name and Args; a free-text
// action has its text in Name and nil Args.
type Step struct {
	Thought     string         `json:"thought,omitempty"`
	Name        string         `json:"name,omitempty"` // empty for a step that is a thought alone
	Args        map[string]any `json:"args,omitempty"` // JSON values; not nil for a structured action
	Observation string         `json:"observation,omitempty"`
	Err         bool           `json:"err,omitempty"`    // the action was refused
	Marker      string         `json:"marker,omitempty"` // text of the subtask that this step opens; empty means it opens none
}

// A Trajectory is one finished episode of one task.
type Trajectory struct {
	TaskID  string `json:"task_id"`
	Task    string `json:"task"`              // the instruction
	Group   string `json:"group,omitempty"`   // template or type of the task, for held-out statistics
	Steps   []Step `json:"steps"`             // in order of time
	Success *bool  `json:"success,omitempty"` // the verifier's verdict; nil means that there is none
}

// A Span is a half-open range of steps.
type Span struct {
	Start, End int
}
