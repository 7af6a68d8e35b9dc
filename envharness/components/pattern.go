package components

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// Window bounds the turns in which a component does anything: from turn From, counted from 0, until before turn Until; 0 means no end.
type Window struct {
	From  int `json:"from,omitempty"`
	Until int `json:"until,omitempty"`
}

func (w Window) check() error {
	if w.From < 0 || w.Until < 0 || w.Until > 0 && w.Until <= w.From {
		return fmt.Errorf("from %d and until %d are no range of turns", w.From, w.Until)
	}
	return nil
}

func (w Window) open(turn int) bool { return turn >= w.From && (w.Until == 0 || turn < w.Until) }

// A Match is a pattern of actions.
type Match struct {
	Tool string         `json:"tool,omitempty"` // pattern of tool names, as of [path.Match]; empty means any
	Args map[string]any `json:"args,omitempty"` // each of these arguments must be there with an equal JSON value
}

func (m Match) check() error {
	if err := checkPattern(m.Tool); err != nil {
		return err
	}
	if _, err := envharness.CanonicalJSON(m.Args); err != nil {
		return fmt.Errorf("arguments of pattern %q: %w", m.Tool, err)
	}
	return nil
}

// Fits reports whether the action is one of the pattern: its name fits Tool, and each of Args is among its arguments with an equal JSON
// value, whatever its form and the order of its keys. Arguments that are no JSON object fit only a pattern without any. A pattern that no
// component would take, such as one with a faulty Tool or a value that has no JSON form, fits no action.
func (m Match) Fits(a envharness.Action) bool {
	if m.Tool != "" {
		if ok, err := path.Match(m.Tool, a.Name); !ok || err != nil {
			return false
		}
	}
	if len(m.Args) == 0 {
		return true
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(a.Args, &args) != nil {
		return false
	}
	for k, want := range m.Args {
		got, ok := args[k]
		if !ok || !equalJSON(want, got) {
			return false
		}
	}
	return true
}

// equalJSON compares two values by their canonical form; what has none equals nothing.
func equalJSON(a, b any) bool {
	x, errX := envharness.CanonicalJSON(a)
	y, errY := envharness.CanonicalJSON(b)
	return errors.Join(errX, errY) == nil && bytes.Equal(x, y)
}

func checkPattern(p string) error {
	if _, err := path.Match(p, ""); err != nil {
		return fmt.Errorf("tool pattern %q: %w", p, err)
	}
	if !utf8.ValidString(p) {
		return fmt.Errorf("tool pattern %q is not UTF-8, so that no file can hold it", p)
	}
	return nil
}

func checkPatterns(patterns []string) error {
	for _, p := range patterns {
		if err := checkPattern(p); err != nil {
			return err
		}
	}
	return nil
}

// match reports whether a pattern fits the tool; no patterns fit every tool.
func match(patterns []string, tool string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, tool); ok && err == nil {
			return true
		}
	}
	return len(patterns) == 0
}

// spec encodes the parameters of a component; params must be a plain struct.
func spec(tag string, axis envharness.Axis, params any) envharness.ComponentSpec {
	raw, _ := json.Marshal(params) // what cannot be written is refused by Check
	return envharness.ComponentSpec{Tag: tag, Axis: axis, Params: raw}
}
