package skill

import (
	"context"
	"fmt"
)

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

// A Task is something that an agent is asked to do.
type Task struct {
	ID    string `json:"id,omitempty"`    // unique among tasks; empty means unknown
	Text  string `json:"text"`            // the instruction
	Group string `json:"group,omitempty"` // template or type of the task, for held-out statistics; empty means none
}

// Tasks returns one task per text, without an ID. Origins name tasks by ID, so [Score] finds no source of a skill among them: nothing is
// held out, and a skill is credited for the very task that it was made from.
func Tasks(texts ...string) []Task {
	tasks := make([]Task, len(texts))
	for i, t := range texts {
		tasks[i].Text = t
	}
	return tasks
}

// A Step is one action of a finished episode and what came back. A structured action has a Name and Args; a free-text
// action has its text in Name and nil Args.
type Step struct {
	Thought     string         `json:"thought,omitempty"`
	Name        string         `json:"name,omitempty"` // empty for a step that is a thought alone
	Args        map[string]any `json:"args,omitzero"`  // JSON values; not nil for a structured action
	Observation string         `json:"observation,omitempty"`
	Err         bool           `json:"err,omitempty"`    // the action was refused
	Marker      string         `json:"marker,omitempty"` // text of the subtask that this step opens; blank means it opens none
}

// A Trajectory is one finished episode of one task.
type Trajectory struct {
	ID     string   `json:"id,omitempty"` // of the episode; empty means unknown
	TaskID string   `json:"task_id"`
	Task   string   `json:"task"`             // the instruction
	Group  string   `json:"group,omitempty"`  // template or type of the task, for held-out statistics
	Steps  []Step   `json:"steps"`            // in order of time
	Reward *float64 `json:"reward,omitempty"` // the verifier's, in [0, 1], 1 for solved; nil means that there is none
}

// A Span is a half-open range of steps.
type Span struct {
	Start, End int
}

// A Level says how much of an episode a skill was made of.
type Level string

const (
	LevelTask    Level = "task"    // the whole trajectory
	LevelSubtask Level = "subtask" // one span of it
)

// A Format says what the body of a skill is.
type Format int

const (
	FormatText Format = iota // a procedure and notes, read by [ParseTextBody]
	FormatCode               // a function in a fenced block, read by [Code]
)

// String returns "text" or "code".
func (f Format) String() string {
	switch f {
	case FormatText:
		return "text"
	case FormatCode:
		return "code"
	}
	return fmt.Sprintf("Format(%d)", int(f))
}
