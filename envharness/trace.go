package envharness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/throughline-go/throughline/internal/jsonl"
)

// A Trace is the record of one rollout: what the policy did and was shown, what reached the base and came back, and what each
// component changed in between. It holds no times, so that equal runs give equal bytes.
//
// A trace is read-only: its parts share memory.
type Trace struct {
	Slot       int             `json:"slot"`             // index of the task in the call of [Rollouts]
	Kind       string          `json:"kind,omitempty"`   // what the rollout was for; see [RolloutOptions]
	Reruns     int             `json:"reruns,omitempty"` // attempts before this one that infrastructure spoilt
	Task       Task            `json:"task"`
	Seed       uint64          `json:"seed"`                // the seed of the episode
	Components []ComponentSpec `json:"components,omitzero"` // innermost first, ids filled in
	// Log holds the calls on the base before the first turn: the reset, then the setup. Together with Applied and Raw of every turn
	// that has a Raw it is the Log of the [Evidence]; the states in the Evidence are not in a Trace.
	Log []LogEntry `json:"log,omitzero"`
	// Layers are the changes to the first observation and to the tools; Shown and Tools are the first observation and the tools after them.
	Layers []Layer     `json:"layers,omitzero"`
	Shown  Observation `json:"shown"`
	Tools  []Tool      `json:"tools,omitzero"`
	// Turns are in order of time. An answer with which the policy ended the episode, and of which it can tell something ([Explainer]), is a
	// last one with Said and Tokens alone; it used up no turn.
	Turns   []TurnTrace `json:"turns,omitzero"`
	Verdict Verdict     `json:"verdict"`
	End     EndReason   `json:"end_reason"`
	Cause   string      `json:"cause,omitempty"` // the error behind an [Invalid] verdict, or one that the policy ended with, or that of Close
}

// A TurnTrace records one turn.
type TurnTrace struct {
	Said     string      `json:"said,omitempty"` // the policy's answer as it gave it, and the tokens it took; see [Explainer]
	Tokens   int         `json:"tokens,omitempty"`
	Left     int         `json:"left,omitempty"`     // turns left, this one included, as in [Turn]
	Proposed *Action     `json:"proposed,omitempty"` // by the policy; nil if its answer could not be read
	Layers   []Layer     `json:"layers,omitzero"`    // components that changed something, innermost first
	Applied  *Action     `json:"applied,omitempty"`  // what reached the base; nil if the base was not stepped
	Raw      *Transition `json:"raw,omitempty"`      // the base's result; nil if the base was not stepped or failed
	Shown    Transition  `json:"shown"`              // after all components, with the end's flags and reason; zero if the harness failed
	Tools    []Tool      `json:"tools,omitzero"`     // those shown from now on, if they changed
}

// A Layer records what one component changed in one turn.
type Layer struct {
	Component string `json:"component"`
	// Edit is "replace", "block", "answer" or "end" where the action was not simply passed, "truncate" where the result was
	// truncated, and empty where only the observation or the refusal changed.
	Edit   string `json:"edit,omitempty"`
	Reason string `json:"reason,omitempty"` // of a block, an end or a truncation

	ActionIn  *Action `json:"action_in,omitempty"`  // the action as it came from outside, if it was not simply passed
	ActionOut *Action `json:"action_out,omitempty"` // the action that went further in; nil if none did

	ObservationIn  *Observation `json:"observation_in,omitempty"`  // from inside, if it was changed
	ObservationOut *Observation `json:"observation_out,omitempty"` // as it went further out

	ToolsIn  []Tool `json:"tools_in,omitzero"`  // from inside, if they were changed, at the start and when the base changes its own
	ToolsOut []Tool `json:"tools_out,omitzero"` // as they went further out

	ErrorIn  *ActionError `json:"error_in,omitempty"`  // the refusal from inside, if a [TransitionEdit] replaced it
	ErrorOut *ActionError `json:"error_out,omitempty"` // as it went further out
}

// SuccessRate returns the share of Pass among the traces with a valid verdict. [Invalid] ones never count as failures: with fewer than need
// valid ones, or none, there is no rate, and the error is an [ErrInsufficient]. With need = len(traces) all must be valid. Verdicts marked
// Unreplayed count as the others do.
func SuccessRate(traces []Trace, need int) (float64, error) {
	pass, valid := 0, 0
	for i := range traces {
		switch traces[i].Verdict.Status {
		case Pass:
			pass++
			valid++
		case Fail:
			valid++
		}
	}
	if valid < max(need, 1) {
		return math.NaN(), fmt.Errorf("%w: %d of %d, %d needed", ErrInsufficient, valid, len(traces), max(need, 1))
	}
	return float64(pass) / float64(valid), nil
}

const (
	traceVersion = 1
	maxTraceLine = 64 << 20 // bytes; a longer line is not one of ours
)

// traceLine is the wire form of a Trace.
type traceLine struct {
	Version int `json:"schema_version"`
	Trace
}

// WriteTraces writes one JSON object a line, in order, with "schema_version":1. What cannot be written as it is gets changed: text that is
// not UTF-8 (its bytes become U+FFFD), arguments that are not JSON (they become one JSON string) and the spaces between the tokens of
// arguments. A trace without any of that comes back from [ReadTraces] exactly as it is. A trace that takes more than the 64 MiB that
// ReadTraces accepts is an error, which comes after the traces before it have been written.
func WriteTraces(w io.Writer, traces []Trace) error {
	bw := bufio.NewWriter(w)
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	for i := range traces {
		line.Reset()
		err := enc.Encode(traceLine{traceVersion, traces[i]})
		if err != nil || !utf8.Valid(line.Bytes()) {
			line.Reset()
			err = enc.Encode(traceLine{traceVersion, writable(traces[i])})
		}
		if err == nil && line.Len() > maxTraceLine {
			err = fmt.Errorf("a line of %d bytes is longer than %d", line.Len(), maxTraceLine)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("envharness: write trace %d: %w", i, err), bw.Flush())
		}
		if _, err := bw.Write(line.Bytes()); err != nil {
			return fmt.Errorf("envharness: write traces: %w", err)
		}
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("envharness: write traces: %w", err)
	}
	return nil
}

// writable returns a copy of t in which all arguments and parameters are JSON in UTF-8.
func writable(t Trace) Trace {
	t.Task.Options = writableRaw(t.Task.Options)
	t.Tools = writableTools(t.Tools)
	t.Components = slices.Clone(t.Components)
	for i := range t.Components {
		t.Components[i].Params = writableRaw(t.Components[i].Params)
	}
	t.Log = slices.Clone(t.Log)
	for i := range t.Log {
		e := &t.Log[i]
		e.Action, e.Transition = *writableAction(&e.Action), *writableTransition(&e.Transition)
	}
	t.Shown = *writableObservation(&t.Shown)
	t.Layers = writableLayers(t.Layers)
	t.Turns = slices.Clone(t.Turns)
	for i := range t.Turns {
		u := &t.Turns[i]
		u.Proposed, u.Applied, u.Layers = writableAction(u.Proposed), writableAction(u.Applied), writableLayers(u.Layers)
		u.Raw, u.Shown, u.Tools = writableTransition(u.Raw), *writableTransition(&u.Shown), writableTools(u.Tools)
	}
	return t
}

func writableLayers(ls []Layer) []Layer {
	ls = slices.Clone(ls)
	for i := range ls {
		l := &ls[i]
		l.ActionIn, l.ActionOut = writableAction(l.ActionIn), writableAction(l.ActionOut)
		l.ObservationIn, l.ObservationOut = writableObservation(l.ObservationIn), writableObservation(l.ObservationOut)
		l.ToolsIn, l.ToolsOut = writableTools(l.ToolsIn), writableTools(l.ToolsOut)
	}
	return ls
}

func writableTransition(t *Transition) *Transition {
	if t == nil {
		return nil
	}
	c := *t
	c.Observation = *writableObservation(&t.Observation)
	return &c
}

func writableObservation(o *Observation) *Observation {
	if o == nil {
		return nil
	}
	c := *o
	c.Actions = slices.Clone(o.Actions)
	for i := range c.Actions {
		c.Actions[i] = *writableAction(&c.Actions[i])
	}
	return &c
}

func writableAction(a *Action) *Action {
	if a == nil {
		return nil
	}
	return &Action{Name: a.Name, Args: writableRaw(a.Args)}
}

func writableTools(ts []Tool) []Tool {
	ts = slices.Clone(ts)
	for i := range ts {
		ts[i].Schema = writableRaw(ts[i].Schema)
	}
	return ts
}

func writableRaw(doc json.RawMessage) json.RawMessage {
	if len(doc) == 0 {
		return doc
	}
	if !json.Valid(doc) {
		return appendString(nil, string(doc)) // the text is all that can be kept
	}
	return bytes.ToValidUTF8(doc, []byte("\uFFFD"))
}

// ReadTraces reads what [WriteTraces] wrote, one trace at a time. Reading is strict: an unknown field, another schema_version or a line
// above 64 MiB is an error that names the line. The sequence ends after an error and can be ranged over once.
func ReadTraces(r io.Reader) iter.Seq2[Trace, error] {
	return jsonl.Values(r, maxTraceLine, "envharness: traces", func(line []byte, _ int) (Trace, error) { return decodeTrace(line) })
}

func decodeTrace(line []byte) (Trace, error) {
	var compact bytes.Buffer // so that raw arguments compare equal however they were spaced
	if err := json.Compact(&compact, bytes.ToValidUTF8(line, []byte("\uFFFD"))); err != nil {
		return Trace{}, err
	}
	dec := json.NewDecoder(&compact)
	dec.DisallowUnknownFields()
	var t traceLine
	if err := dec.Decode(&t); err != nil {
		return Trace{}, err
	}
	if t.Version != traceVersion {
		return Trace{}, fmt.Errorf("schema_version is %d, not %d", t.Version, traceVersion)
	}
	if s := t.Verdict.Score; s < 0 || s > 1 {
		return Trace{}, errors.New("verdict score is outside [0, 1]")
	}
	return t.Trace, nil
}
