package diagnosis_test

import (
	"encoding/json"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// desk is a world with two reads, two writes and a submit.
func desk() envharness.Description {
	schema := func(names ...string) json.RawMessage {
		properties := make(map[string]any)
		for _, n := range names {
			properties[n] = map[string]any{}
		}
		raw, _ := json.Marshal(map[string]any{"type": "object", "properties": properties})
		return raw
	}
	return envharness.Description{Name: "desk", MaxTurns: 20, Tools: []envharness.Tool{
		{Name: "get", Schema: schema("id"), ReadOnly: true},
		{Name: "list", Schema: schema("owner", "page"), ReadOnly: true},
		{Name: "set", Schema: schema("id", "to")},
		{Name: "note", Schema: schema("id", "text")},
		{Name: "submit", Schema: schema("answer"), Submits: true},
	}}
}

// hall is a world that is told in words.
func hall() envharness.Description {
	return envharness.Description{Name: "hall", MaxTurns: 20, Tools: []envharness.Tool{{Name: "do", Submits: true,
		Description: "go to R, take O from R, look", Schema: json.RawMessage(`{"properties":{"text":{"type":"string"}}}`)}}}
}

// A step is one turn of a test: what is called, and what is shown.
type step struct {
	call  string // name and arguments; empty for an answer that cannot be read
	shows string
	class envharness.ErrorClass // of the refusal, if not empty
}

func action(call string) envharness.Action {
	name, args, _ := strings.Cut(call, " ")
	a := envharness.Action{Name: name}
	if args != "" {
		a.Args = json.RawMessage(args)
	}
	return a
}

func actions(calls ...string) []envharness.Action {
	var out []envharness.Action
	for _, c := range calls {
		out = append(out, action(c))
	}
	return out
}

// trace makes the trace of an episode.
func trace(status envharness.Status, end envharness.EndReason, steps ...step) envharness.Trace {
	t := envharness.Trace{
		Task: envharness.Task{ID: "a"}, Shown: envharness.Observation{Text: "Set a1 to 77 and tell bob."},
		Verdict: envharness.Verdict{Status: status}, End: end,
	}
	for i, s := range steps {
		u := envharness.TurnTrace{Left: 20 - i, Shown: envharness.Transition{Observation: envharness.Observation{Text: s.shows}}}
		if s.call != "" {
			a := action(s.call)
			u.Proposed, u.Applied = &a, &a
		}
		if s.class != "" {
			u.Shown.Error = &envharness.ActionError{Class: s.class, Message: s.shows}
		}
		u.Shown.Terminated = end == envharness.EndTerminated && i == len(steps)-1
		t.Turns = append(t.Turns, u)
	}
	return t
}

// find returns the flaw of that id, and whether there is one.
func find(flaws []diagnosis.Flaw, id diagnosis.ID) (diagnosis.Flaw, bool) {
	for _, f := range flaws {
		if f.ID == id {
			return f, true
		}
	}
	return diagnosis.Flaw{}, false
}
