package components_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A corpusRow is a component of the reference's example corpus: actions for its Setup, and Python for its Rules.
type corpusRow struct {
	Code    string `json:"rules_code"`
	Actions []struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"kwargs"`
	} `json:"in_env_actions"`
}

func corpus(t *testing.T) []corpusRow {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set: the test needs the public test data (envharness)")
	}
	f, err := os.Open(filepath.Join(dir, "envharness", "example_corpus.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the folder of THROUGHLINE_DATA has no envharness/example_corpus.jsonl")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []corpusRow
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row corpusRow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

var pythonHook = regexp.MustCompile(`(?m)^    def (\w+)\(self`)

// hooks returns the names of the methods that the row's Python defines.
func (c corpusRow) hooks() []string {
	var names []string
	for _, m := range pythonHook.FindAllStringSubmatch(c.Code, -1) {
		names = append(names, m[1])
	}
	return names
}

// replay writes the row's actions as a component.
func (c corpusRow) replay() components.Entry {
	var setup envharness.Setup
	for _, a := range c.Actions {
		setup.Actions = append(setup.Actions, envharness.Action{Name: a.Name, Args: a.Args})
	}
	return components.Entry{Tag: "start_replay", Params: setup.Spec().Params}
}

// kitchen is a world with the one tool that those of the corpus have; "look" is no tool, but a text for it.
type kitchen struct{ envharness.Environment }

func (kitchen) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	return envharness.Observation{Text: "You are in the middle of a room."}, nil
}

func (kitchen) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	t := envharness.Transition{Observation: envharness.Observation{Text: "You see a desk."}}
	if a.Name != "do" {
		t.Error = &envharness.ActionError{Class: envharness.ClassUnknownTool, Message: "no tool " + a.Name}
	}
	return t, nil
}

func (kitchen) Close() error { return nil }

func withKitchen(t *testing.T) *components.Registry {
	t.Helper()
	r := components.Catalogue()
	err := r.AddWorld("kitchen", 1, func(json.RawMessage) (envharness.World, error) {
		return envharness.World{
			New: func(context.Context) (envharness.Environment, error) { return kitchen{}, nil },
			Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
				return envharness.Verdict{Status: envharness.Fail}, nil
			}),
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The reference loads all six rows of its example corpus. Five of them have a hook that it does not know, which therefore does nothing
// (7.1 case 4): here a hook is neither a tag nor a parameter, so that none can be written. Two replay an action that is no tool, which it
// does not notice (7.1 case 3): here the reset fails and names the action.
func TestCorpusOfTheReference(t *testing.T) {
	r := withKitchen(t)
	unknown, dead, bad := 0, 0, 0
	for i, row := range corpus(t) {
		hooks := row.hooks()
		if len(hooks) == 0 {
			t.Fatalf("row %d: no hooks in %q", i, row.Code)
		}
		for _, hook := range hooks {
			if hook != "setup_initial_state" {
				continue
			}
			unknown++
			if len(hooks) == 1 {
				dead++
			}
		}
		spec := func(more ...components.Entry) components.Spec {
			return components.Spec{Env: components.EnvSpec{Tag: "kitchen"}, Stack: append([]components.Entry{row.replay()}, more...)}
		}
		for _, hook := range hooks {
			refused(t, r, spec(components.Entry{Tag: hook}), components.ErrUnknownTag, "/stack/1/tag")
			code, err := json.Marshal(map[string]string{hook: row.Code})
			if err != nil {
				t.Fatal(err)
			}
			refused(t, r, spec(components.Entry{Tag: "block", Params: code}), components.ErrUnknownParam, "/stack/1/params/"+hook)
		}
		if resets(t, r, i, row, spec()) {
			bad++
		}
	}
	if unknown != 5 || dead != 3 || bad != 2 {
		t.Errorf("%d rows with an unknown hook, %d with nothing else, %d with an unknown action; want 5, 3 and 2", unknown, dead, bad)
	}
}

// refused checks that a specification is neither built nor read.
func refused(t *testing.T, r *components.Registry, s components.Spec, is error, place string) {
	t.Helper()
	raw, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Decode(raw); !errors.Is(err, is) || !strings.Contains(err.Error(), place+":") {
		t.Errorf("decoded: %v, want %v at %s", err, is, place)
	}
	if _, _, _, err := r.Build(s); !errors.Is(err, is) {
		t.Errorf("built: %v, want %v", err, is)
	}
}

// resets reports whether the row replays an action that is no tool, and checks that exactly this makes the reset fail.
func resets(t *testing.T, r *components.Registry, i int, row corpusRow, s components.Spec) (bad bool) {
	t.Helper()
	w, stack, _, err := r.Build(s)
	if err != nil {
		t.Fatalf("row %d: %v", i, err)
	}
	h, err := envharness.New(w, stack...)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, a := range row.Actions {
		bad = bad || a.Name != "do"
	}
	_, err = h.Reset(t.Context(), envharness.ResetOptions{})
	if bad != errors.Is(err, envharness.ErrStart) || bad && !strings.Contains(err.Error(), "action 0 (look {})") || !bad && err != nil {
		t.Errorf("row %d: reset: %v, unknown action %v", i, err, bad)
	}
	return bad
}
