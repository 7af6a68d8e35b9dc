package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// What an episode is read as: which calls and results are equal, which turns count, who ended it, what a value is.
func TestReading(t *testing.T) {
	changed := func(t envharness.Trace, change func(turns []envharness.TurnTrace)) envharness.Trace {
		change(t.Turns)
		return t
	}
	left := func(n int) func(turns []envharness.TurnTrace) {
		return func(turns []envharness.TurnTrace) { turns[len(turns)-1].Left = n }
	}
	value := func(v string) step { return step{get.call, `{"value":` + v + `}`, ""} }
	puts := func(v string) step { return step{call: `set {"id":"a1","to":` + v + `}`} }
	source := func(with string) step { return step{get.call, `{` + with + `,"value":50}`, ""} }
	news, forum := step{call: "news"}, step{call: "forum"}
	first, second := step{`list {"owner":"bob"}`, "a5 a6", ""}, step{`list {"owner":"bob","page":2}`, "a7", ""}
	noWrites := plans()
	noWrites.World.Tools = []envharness.Tool{noWrites.World.Tools[0], noWrites.World.Tools[4]}
	words := diagnosis.Context{World: hall()}
	timeout := refused(get, envharness.ClassTimeout)
	tests := []struct {
		id      diagnosis.ID
		context diagnosis.Context
		trace   envharness.Trace
		want    []int // turns; nil means that there is no flaw
		reason  string
	}{
		{diagnosis.StaleBelief, plans(), trace(pass, done, value("50"), value("60"), step{call: `note {"id":"a1","page":50}`}), nil, "a page is no belief"},
		{diagnosis.StaleBelief, plans(), trace(pass, done, value("50"), step{get.call, `{"value":60}`, permit}, puts("50")), nil, "a refusal replaces nothing"},
		{diagnosis.StaleBelief, plans(), trace(pass, done, value("5"), value("6"), puts("5")), nil, "one digit says too little"},
		{diagnosis.StaleBelief, plans(), trace(pass, done, value("50"), value("60"), puts("50"), step{`get {"id":"a2"}`, "it was 50", ""}), []int{1, 2},
			"told in words after it was used"},
		{diagnosis.StaleBelief, plans(), trace(pass, done, value("50"), step{`get {"id":"a2"}`, "it was 50", ""}, value("60"), puts("50")), nil,
			"told in words before"},
		{diagnosis.StaleBelief, plans(), changed(trace(pass, done, value("60"), puts("50")), func(turns []envharness.TurnTrace) {
			turns[0].Shown.Observation.Data = map[string]any{"value": 50.0}
		}), nil, "data and text have places of their own"},
		{diagnosis.StaleBelief, plans(), trace(pass, done, value("-50"), value("60"), puts("50.0")), []int{1, 2}, "a number, whatever its sign and form"},
		{diagnosis.StaleBelief, plans(), trace(pass, done, step{get.call, ` [{"value":50}] of 1`, ""}, step{get.call, `[{"value":60}] of 1`, ""}, puts("50")), []int{1, 2},
			"a list, with something around it"},

		{diagnosis.SingleSource, plans(), trace(failed, done, source(`"owner":"bob"`), refused(puts("50"), permit), submit), nil, "it was not written"},
		{diagnosis.SingleSource, plans(), trace(failed, done, step{get.call, `{"owner":"bob","value":"red"}`, ""}, puts(`"red"`), submit), nil,
			"one word says too little"},
		{diagnosis.SingleSource, plans(), trace(failed, done, source(`"text":"x"`), puts("50"), submit), nil, "only note has a text, and it does not read"},
		{diagnosis.SingleSource, plans(), trace(failed, done, source(`"page":1`), puts("50"), submit), nil, "what is next to it is a page"},
		{diagnosis.SingleSource, plans(), trace(failed, done, source(`"owner":"bob"`), puts("50"), submit), []int{0, 1}, "list has an argument owner"},

		{diagnosis.Distracted, plans(planned...), trace(failed, stop, refused(news, transient), refused(news, transient), news), nil,
			"what is out of order for a while does not count"},
		{diagnosis.Distracted, plans(planned...), trace(failed, stop, news, forum, news), []int{0, 1, 2}, "all of them"},
		{diagnosis.Distracted, plans(planned...), offering(trace(failed, stop, news, forum), "get", "set", "submit", "news", "forum"), []int{0, 1},
			"the plan's tools are offered, and nothing says which arguments they have"},
		{diagnosis.Distracted, plans(planned...), trace(failed, stop, first, second, refused(step{call: `get {"id":"a7"}`}, permit)), []int{0, 1},
			"what was shown was used in a call that was refused"},
		{diagnosis.Distracted, plans(planned...), trace(failed, stop, step{call: `get {"id":"a7"}`}, first, second), []int{1, 2}, "it was used before it was shown"},
		{diagnosis.Distracted, plans(planned...), trace(failed, stop, step{call: `get {"id":"a7"}`}, first, second, step{call: `get {"id":"a7"}`}), []int{1, 2},
			"the call was made before, without the list"},

		{diagnosis.IgnoredError, noWrites, trace(failed, done, refused(submit, permit), get, get, get), []int{0}, "with nothing to write, a read is any call"},
		{diagnosis.IgnoredError, words, trace(failed, stop, refused(do("take o 1 from r 1", ""), precond), do("  take o 2 from r 1", "")), nil,
			"the verb is the first word, wherever it begins"},
		{diagnosis.UngroundedValue, words, trace(pass, done, do("look", "r 1"), do("fly r 1", "")), []int{1}, "the description tells the verbs, and this is none"},
		{diagnosis.UngroundedValue, diagnosis.Context{}, trace(pass, done, do("look", "r 1"), do("fly r 1", "")), nil, "nothing tells the verbs"},

		{diagnosis.Loop, plans(), trace(failed, limit, step{call: `get {}`}, step{call: "get"}, step{call: `get { }`}), []int{0, 1, 2}, "no arguments, in three forms"},
		{diagnosis.Loop, plans(), trace(failed, limit, step{call: `get {"a":10,"b":2}`}, step{call: `get {"b":2,"a":10.0}`}, step{call: `get {"b":2.0,"a":1e1}`}),
			[]int{0, 1, 2}, "equal as JSON"},
		{diagnosis.Loop, plans(), changed(trace(failed, limit, get, get, get), func(turns []envharness.TurnTrace) {
			turns[1].Shown.Observation.Data = map[string]any{"value": 51.0}
		}), nil, "other data is something else"},
		{diagnosis.Loop, plans(), changed(trace(failed, limit, get, get, get), func(turns []envharness.TurnTrace) {
			for i := range turns {
				turns[i].Shown.Observation.Data = map[string]any{"open": i == 1}
			}
		}), nil, "true is not false"},
		{diagnosis.Loop, plans(), changed(trace(failed, limit, refused(get, permit), refused(get, permit), refused(get, permit)), func(turns []envharness.TurnTrace) {
			turns[1].Shown.Error.Message = "not today"
		}), nil, "another message is something else"},
		{diagnosis.Loop, plans(), trace(failed, limit, timeout, timeout, timeout), nil, "it took too long: try again"},

		{diagnosis.PrematureStop, plans(planned...), trace(failed, done, get), nil, "the world ended it"},
		{diagnosis.PrematureStop, plans(planned...), trace(failed, done, get, refused(submit, permit)), nil, "the world ended it, at a submit that was refused"},

		{diagnosis.Unreadable, plans(), changed(trace(failed, stop, get, step{}), left(0)), nil, "the answer that ended it used up no turn"},
		{diagnosis.Unreadable, plans(), changed(trace(failed, stop, get, step{}), left(7)), []int{1}, "this one did"},
		{diagnosis.Unreadable, plans(), changed(trace(failed, stop, get, step{shows: "no call"}), left(0)), []int{1}, "something was shown: a turn"},
		{diagnosis.Unreadable, plans(), changed(trace(failed, stop, get, step{}), func(turns []envharness.TurnTrace) {
			turns[1].Left, turns[1].Shown.Observation.Data = 0, map[string]any{"x": true}
		}), []int{1}, "data was shown: a turn"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		flaws, err := diagnosis.Diagnose([]envharness.Trace{tt.trace}, tt.context, all())
		if err != nil {
			t.Fatal(err)
		}
		f, ok := find(flaws, tt.id)
		var got []int
		if ok {
			got = f.Found[0].Turns
		}
		if ok != (tt.want != nil) || !slices.Equal(got, tt.want) {
			t.Errorf("%s: found %v at %v, want %v: %s", tt.id, ok, got, tt.want, tt.reason)
		}
	}
}

// What a passed episode wrote is right, and what was refused there is not.
func TestPassedWritesAreRight(t *testing.T) {
	source := step{get.call, `{"owner":"bob","value":50}`, ""}
	puts := step{call: `set {"id":"a1","to":50}`}
	for _, tt := range []struct {
		write  step
		want   bool
		reason string
	}{
		{puts, false, "it was right"},
		{refused(puts, permit), true, "nobody knows whether it was right"},
	} {
		flaws, err := diagnosis.Diagnose([]envharness.Trace{trace(pass, done, tt.write, submit), trace(failed, done, source, puts, submit)}, plans(), all())
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := find(flaws, diagnosis.SingleSource); ok != tt.want || tt.reason == "" {
			t.Errorf("found %v, want %v: %s", ok, tt.want, tt.reason)
		}
	}
}
