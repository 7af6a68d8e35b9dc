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

	"github.com/throughline-go/throughline/internal/jsonl"
)

// A Trace is the record of one rollout: what the policy did and was shown, what reached the base and came back, and what each
// component changed in between. It holds no times, so that equal runs give equal bytes.
//
// Text in it is valid UTF-8 (other bytes became U+FFFD) and arguments are compact JSON; arguments that were no JSON at all are kept
// as one JSON string.
type Trace struct {
	Slot       int             `json:"slot"` // index of the task in the call of [Rollouts]
	Task       Task            `json:"task"`
	Seed       uint64          `json:"seed"`                // the seed of the episode
	Components []ComponentSpec `json:"components,omitzero"` // innermost first, ids filled in
	// Log holds the calls on the base before the first turn: the reset, then the setup. Together with Applied and Raw of every turn
	// that has a Raw it is the Log of the [Evidence]; the states in the Evidence are not in a Trace.
	Log []LogEntry `json:"log,omitzero"`
	// Layers are the changes to the first observation and Shown is the first observation after them.
	Layers  []Layer     `json:"layers,omitzero"`
	Shown   Observation `json:"shown"`
	Turns   []TurnTrace `json:"turns,omitzero"` // in order of time
	Verdict Verdict     `json:"verdict"`
	End     EndReason   `json:"end_reason"`
	Cause   string      `json:"cause,omitempty"` // the error behind an [Invalid] verdict, or one that the policy ended with, or that of Close
}

// A TurnTrace records one turn.
type TurnTrace struct {
	Proposed *Action     `json:"proposed,omitempty"` // by the policy; nil if its answer could not be read
	Layers   []Layer     `json:"layers,omitzero"`    // components that changed something, innermost first
	Applied  *Action     `json:"applied,omitempty"`  // what reached the base; nil if the base was not stepped
	Raw      *Transition `json:"raw,omitempty"`      // the base's result; nil if the base was not stepped or failed
	Shown    Transition  `json:"shown"`              // after all components, with the flags and the reason of an end; zero if the harness failed
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

	ErrorIn  *ActionError `json:"error_in,omitempty"`  // the refusal from inside, if a [TransitionEdit] replaced it
	ErrorOut *ActionError `json:"error_out,omitempty"` // as it went further out
}

// SuccessRate returns the share of Pass among the traces with a valid verdict, and how many those are. Invalid ones never count. With
// none valid there is no rate and it is NaN.
func SuccessRate(traces []Trace) (rate float64, valid int) {
	pass := 0
	for _, t := range traces {
		switch t.Verdict.Status {
		case Pass:
			pass++
			valid++
		case Fail:
			valid++
		}
	}
	if valid == 0 {
		return math.NaN(), 0
	}
	return float64(pass) / float64(valid), valid
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

// WriteTraces writes one JSON object a line, in order, with "schema_version":1. Traces from [Rollouts] and [ReadTraces] come back from
// [ReadTraces] exactly as they are. A trace that takes more than the 64 MiB that ReadTraces accepts is an error, which comes after the
// traces before it have been written.
func WriteTraces(w io.Writer, traces []Trace) error {
	bw := bufio.NewWriter(w)
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	for i := range traces {
		line.Reset()
		err := enc.Encode(traceLine{traceVersion, traces[i]})
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

// ReadTraces reads what [WriteTraces] wrote, one trace at a time. Reading is strict: an unknown field, another schema_version or a line
// above 64 MiB is an error that names the line. The sequence ends after an error and can be ranged over once.
func ReadTraces(r io.Reader) iter.Seq2[Trace, error] {
	return func(yield func(Trace, error) bool) {
		number := 0
		for line, err := range jsonl.Lines(r, maxTraceLine) {
			number++
			switch {
			case errors.Is(err, jsonl.ErrTooLong):
				err = fmt.Errorf("longer than %d bytes", maxTraceLine)
			case err == nil && len(bytes.TrimSpace(line)) == 0:
				continue
			}
			var t Trace
			if err == nil {
				t, err = decodeTrace(line)
			}
			if err != nil {
				yield(Trace{}, fmt.Errorf("envharness: traces line %d: %w", number, err))
				return
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

func decodeTrace(line []byte) (Trace, error) {
	var compact bytes.Buffer // so that raw arguments compare equal however they were spaced
	if err := json.Compact(&compact, line); err != nil {
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
