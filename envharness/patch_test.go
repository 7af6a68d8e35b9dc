package envharness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

const ledgerStart = `{"":"none","0":"zero","a":{"b":1,"c":[10,[20]]},"a/b":"slash","m~n":"tilde","n":9007199254740993,"won":false}`

// A ledger is a document that can be taken and put back. It shows all of it, and any second step ends it.
type ledger struct {
	doc             []byte
	steps           int
	instance        int
	graded, mutable []string

	onSnapshot func() ([]byte, error)
	onRestore  func(l *ledger, doc []byte) ([]byte, error)
	onObserve  func(l *ledger, o *eh.Observation) error
}

func (l *ledger) Reset(context.Context, eh.ResetOptions) (eh.Observation, error) {
	l.doc, l.steps = []byte(ledgerStart), 0
	return eh.Observation{Text: ledgerStart}, nil
}

func (l *ledger) Step(context.Context, eh.Action) (eh.Transition, error) {
	l.steps++
	return eh.Transition{Observation: eh.Observation{Text: string(l.doc)}, Terminated: l.steps == 2}, nil
}

func (l *ledger) Observe(context.Context) (eh.Observation, error) {
	o := eh.Observation{Text: string(l.doc)}
	if l.onObserve != nil {
		return o, l.onObserve(l, &o)
	}
	return o, nil
}

func (l *ledger) State(context.Context) (eh.State, error) { return bytes.Clone(l.doc), nil }

func (l *ledger) Snapshot(context.Context) (eh.State, error) {
	if l.onSnapshot != nil {
		return l.onSnapshot()
	}
	return bytes.Clone(l.doc), nil
}

func (l *ledger) Restore(_ context.Context, s eh.State) (err error) {
	s = bytes.Clone(s)
	if l.onRestore != nil {
		if s, err = l.onRestore(l, s); err != nil {
			return err
		}
	}
	l.doc = s
	return nil
}

func (l *ledger) Describe() eh.Description {
	return eh.Description{Name: "ledger", Graded: l.graded, Mutable: l.mutable, Deterministic: true}
}

func (l *ledger) Close() error { return nil }

// wonVerifier passes when the end state says so.
var wonVerifier = eh.VerifierFunc(func(_ context.Context, e eh.Evidence) (eh.Verdict, error) {
	var s struct{ Won bool }
	if err := json.Unmarshal(e.End, &s); err != nil {
		return eh.Verdict{}, err
	}
	if s.Won {
		return eh.Verdict{Status: eh.Pass}, nil
	}
	return eh.Verdict{Status: eh.Fail}, nil
})

func ledgerWorld(l ledger) eh.World {
	var made atomic.Int64
	return eh.World{Verifier: wonVerifier, New: func(context.Context) (eh.Environment, error) {
		c := l
		c.instance = int(made.Add(1)) - 1
		return &c, nil
	}}
}

type set = map[string]json.RawMessage

// setting is a component that sets values, one edit for each map.
func setting(id string, edits ...set) eh.Component {
	return ruleID(id, eh.AxisStart, eh.Hooks{Start: func(context.Context, eh.View) ([]eh.StartEdit, error) {
		list := make([]eh.StartEdit, len(edits))
		for i, e := range edits {
			list[i].Set = e
		}
		return list, nil
	}})
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func TestSetValues(t *testing.T) {
	all := []string{""}
	tests := []struct {
		name    string
		mutable []string
		set     set
		want    []string // replaced by turns in the text of the start
		reason  string
	}{
		{"field", all, set{"/n": raw("2")}, []string{"9007199254740993", "2"}, "at the top"},
		{"nested", all, set{"/a/b": raw(`{"x":null}`)}, []string{`"b":1`, `"b":{"x":null}`}, "any JSON value"},
		{"item", all, set{"/a/c/0": raw("11")}, []string{"[10,", "[11,"}, "counted from 0"},
		{"item of an item", all, set{"/a/c/1/0": raw("21")}, []string{"[20]", "[21]"}, "each token is one step"},
		{"list", all, set{"/a/c": raw("[]")}, []string{"[10,[20]]", "[]"}, "the whole of it"},
		{"slash", all, set{"/a~1b": raw(`"x"`)}, []string{`"slash"`, `"x"`}, "RFC 6901: ~1 is a slash, and not the field b of a"},
		{"tilde", all, set{"/m~0n": raw(`"x"`)}, []string{`"tilde"`, `"x"`}, "RFC 6901: ~0 is a tilde"},
		{"empty name", all, set{"/": raw(`"x"`)}, []string{`"none"`, `"x"`}, "RFC 6901: the field with no name"},
		{"name like an index", all, set{"/0": raw(`"x"`)}, []string{`"zero"`, `"x"`}, "of an object"},
		{"everything", all, set{"": raw(`{"won": false}`)}, []string{ledgerStart, `{"won":false}`}, "RFC 6901: the document"},
		{"several", all, set{"/n": raw("2"), "/a": raw(`{"b":5}`), "/a/b": raw("6")},
			[]string{"9007199254740993", "2", `{"b":1,"c":[10,[20]]}`, `{"b":6}`}, "in the order of the pointers: what is above first"},
		{"none", all, set{}, nil, "an edit that changes nothing is one too"},
		{"large number", all, set{"/a/b": raw("9007199254740995")}, []string{`"b":1`, `"b":9007199254740995`},
			"digits are kept, also those beside it"},
		{"mutable itself", []string{"/a/b"}, set{"/a/b": raw("2")}, []string{`"b":1`, `"b":2`}, "at"},
		{"below mutable", []string{"/x", "/a"}, set{"/a/c/0": raw("2")}, []string{"[10,", "[2,"}, "and below"},
		{"mutable with a slash", []string{"/a~1b"}, set{"/a~1b": raw("2")}, []string{`"slash"`, "2"},
			"pointers are compared as they are written"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			h := mustNew(t, ledgerWorld(ledger{mutable: tt.mutable}), setting("set", tt.set))
			want := strings.NewReplacer(tt.want...).Replace(ledgerStart)
			if o := mustReset(t, h); o.Text != want {
				t.Fatalf("start %s, want %s (%s)", o.Text, want, tt.reason)
			}
			mustStep(t, h, look)
			if v := mustVerdict(t, h); v.Status != eh.Fail {
				t.Errorf("verdict while it runs: %+v", v)
			}
			mustStep(t, h, look)
			if v := mustVerdict(t, h); v.Status != eh.Fail || v.Unreplayed {
				t.Errorf("verdict %+v, want a replayed fail", v)
			}
			e := mustEvidence(t, h)
			args, err := eh.CanonicalJSON(tt.set)
			if err != nil {
				t.Fatal(err)
			}
			wantLog := []eh.LogEntry{
				{Kind: eh.LogReset, Transition: eh.Transition{Observation: eh.Observation{Text: ledgerStart}}},
				{Kind: eh.LogPatch, Action: eh.Action{Name: "patch", Args: args}, Transition: eh.Transition{Observation: eh.Observation{Text: want}}},
			}
			if d := cmp.Diff(wantLog, e.Log[:2]); d != "" || string(e.Start) != want {
				t.Errorf("start %s, log (-want +got):\n%s", e.Start, d)
			}
		})
	}
}

func TestSetValuesRefused(t *testing.T) {
	all := []string{""}
	refusing := ledger{mutable: all, onRestore: func(*ledger, []byte) ([]byte, error) { return nil, errBoom }}
	tests := []struct {
		name   string
		l      ledger
		hide   bool // all abilities but the description
		set    set
		says   string
		reason string
	}{
		{"missing field", ledger{mutable: all}, false, set{"/a/x": raw("1")}, `"/a/x": there is no field "x"`, "nothing is added"},
		{"missing in between", ledger{mutable: all}, false, set{"/x/b": raw("1")}, `there is no field "x"`, "nothing is added"},
		{"after the last", ledger{mutable: all}, false, set{"/a/c/2": raw("1")}, `there is no item "2" among 2`, "lists keep their length"},
		{"new item", ledger{mutable: all}, false, set{"/a/c/-": raw("1")}, `there is no item "-" among 2`,
			"RFC 6901: the item after the last, which is none"},
		{"leading zero", ledger{mutable: all}, false, set{"/a/c/01": raw("1")}, `there is no item "01" among 2`, "RFC 6901"},
		{"negative", ledger{mutable: all}, false, set{"/a/c/-1": raw("1")}, `there is no item "-1" among 2`, "RFC 6901"},
		{"signed", ledger{mutable: all}, false, set{"/a/c/+1": raw("1")}, `there is no item "+1" among 2`, "RFC 6901"},
		{"no index", ledger{mutable: all}, false, set{"/a/c/": raw("1")}, `there is no item "" among 2`, "RFC 6901"},
		{"huge index", ledger{mutable: all}, false, set{"/a/c/99999999999999999999": raw("1")}, `there is no item "99999999999999999999"`,
			"no overflow"},
		{"below a number", ledger{mutable: all}, false, set{"/n/x": raw("1")}, `there is nothing below a value at "x"`, "no place"},
		{"no slash", ledger{mutable: []string{"n"}}, false, set{"n": raw("1")}, "a JSON pointer begins with a slash", "RFC 6901"},
		{"half an escape", ledger{mutable: all}, false, set{"/a~": raw("1")}, `"/a~"`, "RFC 6901: a tilde is followed by 0 or 1"},
		{"not JSON", ledger{mutable: all}, false, set{"/n": raw("{")}, "patch 0 of 1 values", "a value is JSON"},
		{"two values", ledger{mutable: all}, false, set{"/n": raw("1 2")}, "patch 0 of 1 values", "one value"},
		{"not mutable", ledger{}, false, set{"/n": raw("1")}, `"/n" is not declared mutable`, "nothing is, unless it is declared"},
		{"above mutable", ledger{mutable: []string{"/a/b"}}, false, set{"/a": raw("1")}, `"/a" is not declared mutable`,
			"at and below, not above"},
		{"beside mutable", ledger{mutable: []string{"/a"}}, false, set{"/a~1b": raw("1")}, `"/a~1b" is not declared mutable`, "names are whole"},
		{"one of two", ledger{mutable: []string{"/a"}}, false, set{"/a": raw("1"), "/n": raw("1")}, `"/n" is not declared mutable`,
			"each is looked at"},
		{"graded", ledger{mutable: all, graded: []string{"won"}}, false, set{"/won": raw("true")}, `"/won" is graded`, "the verifier reads it"},
		{"below graded", ledger{mutable: []string{"/a/b"}, graded: []string{"a"}}, false, set{"/a/b": raw("2")}, `"/a/b" is graded`,
			"declared mutable by mistake"},
		{"above graded", ledger{mutable: all, graded: []string{"won"}}, false, set{"": raw(`{"won":true}`)}, `"" is graded`,
			"the document holds it"},
		{"graded with a slash", ledger{mutable: all, graded: []string{"a/b"}}, false, set{"/a~1b": raw("1")}, `"/a~1b" is graded`,
			"a name, not a pointer"},
		{"graded, half an escape", ledger{mutable: all, graded: []string{"m~n"}}, false, set{"/m~n": raw("1")}, `"/m~n"`,
			"the field by a name that no pointer has"},
		{"no snapshots", ledger{mutable: all}, true, set{"/n": raw("1")}, "needs an environment that is a Snapshotter and an Observer",
			"no way to set a value"},
		{"snapshot errs", ledger{mutable: all, onSnapshot: func() ([]byte, error) { return nil, errBoom }}, false, set{"/n": raw("1")},
			"snapshot: boom", "as it is"},
		{"snapshot panics", ledger{mutable: all, onSnapshot: func() ([]byte, error) { panic("ouch") }}, false, set{"/n": raw("1")}, "panic: ouch",
			"as an error"},
		{"snapshot is not JSON", ledger{mutable: all, onSnapshot: func() ([]byte, error) { return raw("{"), nil }}, false, set{"/n": raw("1")},
			"snapshot: ", "a snapshot is JSON"},
		{"snapshot is two values", ledger{mutable: all, onSnapshot: func() ([]byte, error) { return raw(`{"n":1}{"n":2}`), nil }}, false,
			set{"/n": raw("1")}, "snapshot: there is more after the JSON value", "a snapshot is one JSON object"},
		{"snapshot with a bracket too many", ledger{mutable: all, onSnapshot: func() ([]byte, error) { return raw(`{"n":1}]`), nil }}, false,
			set{"/n": raw("1")}, "snapshot: there is more after the JSON value", "a snapshot is one JSON object"},
		{"restore refuses", refusing, false, set{"/n": raw("1")}, "restore: boom", "as it is"},
		{"observe errs", ledger{mutable: all, onObserve: func(*ledger, *eh.Observation) error { return errBoom }}, false, set{"/n": raw("1")},
			"boom", "as it is"},
		{"solved", ledger{mutable: all}, false, set{"/won": raw("true")}, "the verdict on the start is pass, not fail", "nothing is left to do"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			w := ledgerWorld(tt.l)
			if tt.hide {
				mk := w.New
				w.New = func(ctx context.Context) (eh.Environment, error) {
					e, err := mk(ctx)
					return &describing{e, e.(eh.Describer).Describe()}, err
				}
			}
			got := playOnce(t, w, setting("set", tt.set))
			if got.Verdict.Status != eh.Invalid || !strings.Contains(got.Cause, tt.says) || len(got.Turns) != 0 {
				t.Errorf("%d turns, %+v, want %q (%s)", len(got.Turns), got.Verdict, tt.says, tt.reason)
			}
			if !strings.Contains(got.Cause, eh.ErrStart.Error()) || !strings.Contains(got.Cause, "set") || !got.End.Infra() {
				t.Errorf("end %s, cause %q, want an ErrStart of the component", got.End, got.Cause)
			}
			if len(got.Log) != 1 && tt.says != "the verdict on the start is pass, not fail" {
				t.Errorf("log %v, want the reset alone", got.Log)
			}
		})
	}
}

// Edits are made in the order of the components and seen by those that come after, and all of them are in the log and the replay.
func TestSetValuesInOrder(t *testing.T) {
	var seen []string
	early := ruleID("early", eh.AxisStart, eh.Hooks{Start: func(_ context.Context, v eh.View) ([]eh.StartEdit, error) {
		_, err := v.State() // which must not be what the spy sees
		return nil, err
	}})
	spy := ruleID("spy", eh.AxisStart, eh.Hooks{Start: func(_ context.Context, v eh.View) ([]eh.StartEdit, error) {
		st, err := v.State()
		seen = append(seen, v.Shown().Text, string(st))
		return []eh.StartEdit{{Set: set{"/n": raw("3")}}}, err
	}})
	h := mustNew(t, ledgerWorld(ledger{mutable: []string{"/n"}, graded: []string{"won"}}), early,
		setting("first", set{"/n": raw("1")}, set{"/n": raw("2")}), spy)
	o := mustReset(t, h)
	at := func(n string) string { return strings.Replace(ledgerStart, "9007199254740993", n, 1) }
	if d := cmp.Diff([]string{at("2"), strings.Replace(at("2"), `,"won":false`, "", 1)}, seen); d != "" || o.Text != at("3") {
		t.Errorf("start %s, seen (-want +got):\n%s", o.Text, d)
	}
	mustStep(t, h, look)
	mustStep(t, h, look)
	if v := mustVerdict(t, h); v.Status != eh.Fail || v.Unreplayed {
		t.Errorf("verdict %+v", v)
	}
	if log := mustEvidence(t, h).Log; len(log) != 6 || log[3].Kind != eh.LogPatch {
		t.Errorf("log %v, want a reset, three patches and two steps", log)
	}
}

// A replay in which the values come out otherwise is no replay.
func TestSetValuesReplayDiffers(t *testing.T) {
	tests := []struct {
		name   string
		l      ledger
		says   []string
		reason string
	}{
		{"restore ignored", ledger{onRestore: func(l *ledger, doc []byte) ([]byte, error) {
			if l.instance > 0 {
				return l.doc, nil
			}
			return doc, nil
		}}, []string{eh.ErrTamper.Error()}, "the fresh one keeps its start"},
		{"restore refused", ledger{onRestore: func(l *ledger, doc []byte) ([]byte, error) {
			if l.instance > 0 {
				return nil, errBoom
			}
			return doc, nil
		}}, []string{"entry 1 (patch patch): restore: boom"}, "the place is named"},
		{"shown otherwise", ledger{onObserve: func(l *ledger, o *eh.Observation) error {
			if l.instance > 0 {
				o.Text = "nothing"
			}
			return nil
		}}, []string{eh.ErrTamper.Error(), `entry 1 (patch patch): text "nothing"`}, "the observation after the patch is in the log"},
	}
	for _, tt := range tests {
		tt.l.mutable = []string{"/n"}
		got := playOnce(t, ledgerWorld(tt.l), setting("set", set{"/n": raw("1")}))
		for _, s := range tt.says {
			if got.Verdict.Status != eh.Invalid || !strings.Contains(got.Cause, s) {
				t.Errorf("%s: %+v, want %q (%s)", tt.name, got.Verdict, s, tt.reason)
			}
		}
	}
}
