package tooldesk

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

func snapshotOf(t testing.TB, d *Desk) envharness.State {
	t.Helper()
	s, err := d.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// everything is all that a desk shows.
func everything(t testing.TB, d *Desk) string {
	t.Helper()
	o, err := d.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return marshal(o) + "\n" + string(state(t, d)) + "\n" + string(snapshotOf(t, d))
}

// wander makes n random moves: candidates, garbage, now and then a rewind. It returns what was shown after each.
func wander(t testing.TB, d *Desk, r *rand.Rand, n int) string {
	t.Helper()
	var out strings.Builder
	for range n {
		if d.episode.over {
			break
		}
		if r.IntN(12) == 0 {
			if err := d.RewindCounters(ctx); err != nil {
				t.Fatal(err)
			}
			out.WriteString(everything(t, d))
			continue
		}
		calls := d.episode.candidates()
		a := calls[r.IntN(len(calls))]
		switch {
		case r.IntN(8) == 0:
			a = garbage(r)
		case a.Name == "submit" && r.IntN(4) > 0:
			a = calls[0]
		}
		out.WriteString(marshal(do(t, d, a)) + everything(t, d))
	}
	return out.String()
}

// An episode that is taken up from a snapshot goes on as it would have without: on another desk, and on the same one after it has gone
// elsewhere. A snapshot is one JSON object, and what is restored has that very snapshot.
func TestSnapshotRestoresTheFuture(t *testing.T) {
	tasks := allTasks(t)
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.SampledFrom(tasks).Draw(rt, "task").ID
		seed := rapid.Uint64().Draw(rt, "seed")
		before := rapid.IntRange(0, 40).Draw(rt, "before")
		d := New()
		reset(t, d, id)
		wander(t, d, rand.New(rand.NewPCG(seed, 1)), before)
		s, there := snapshotOf(t, d), everything(t, d)
		if !json.Valid(s) || s[0] != '{' {
			rt.Fatalf("no JSON object: %s", s)
		}
		want := wander(t, d, rand.New(rand.NewPCG(seed, 2)), 40)

		other := New()
		reset(t, other, id)
		wander(t, other, rand.New(rand.NewPCG(seed, 3)), rapid.IntRange(0, 9).Draw(rt, "elsewhere"))
		for name, at := range map[string]*Desk{"same desk": d, "other desk": other} {
			if err := at.Restore(ctx, s); err != nil {
				rt.Fatalf("%s: %v\n%s", name, err, s)
			}
			if got := everything(t, at); got != there {
				rt.Fatalf("%s: restored\n%s\nwant\n%s", name, got, there)
			}
			if got := wander(t, at, rand.New(rand.NewPCG(seed, 2)), 40); got != want {
				rt.Fatalf("%s: the future differs:\n%s\nwant\n%s", name, got, want)
			}
		}
	})
}

func TestRestoreRefuses(t *testing.T) {
	d := New()
	reset(t, d, "T4-0000")
	for _, a := range gold(t, "T4-0000")[:3] {
		do(t, d, a)
	}
	s := string(snapshotOf(t, d))
	other := New()
	reset(t, other, "T4-0001")
	thirty := strings.Repeat(`,{"name":"x","args":""}`, MaxTurns)[1:]
	tests := []struct{ name, snapshot, reason string }{
		{"other task", string(snapshotOf(t, other)), "the tables are not those of this task"},
		{"later version", strings.Replace(s, `"version":1`, `"version":2`, 1), "E28"},
		{"no version", strings.Replace(s, `"version":1,`, "", 1), "E28"},
		{"other world", strings.Replace(s, `"world":"tooldesk"`, `"world":"game24"`, 1), "not of its own kind"},
		{"unknown field", strings.Replace(s, "{", `{"turn":0,`, 1), "nobody would restore it"},
		{"unknown field of a call", strings.Replace(s, `"args":`, `"x":1,"args":`, 1), "nobody would restore it"},
		{"field in other letters", strings.Replace(s, `"calls"`, `"CALLS"`, 1), "encoding/json takes it"},
		{"calls missing", s[:strings.Index(s, `,"calls"`)] + "}", "a desk writes a list"},
		{"calls null", s[:strings.Index(s, `,"calls"`)] + `,"calls":null}`, "a desk writes a list"},
		{"no list of calls", s[:strings.Index(s, `,"calls"`)] + `,"calls":[]}`, "a desk writes one, if empty"},
		{"name missing", strings.Replace(s, `"name":"find_customer",`, "", 1), "a desk writes it, if empty"},
		{"text in bytes", strings.Replace(s, `"name":"find_customer"`, `"name":{"base64":"eA=="}`, 1), "x can be written as it is"},
		{"call after the end", strings.Replace(s, `"calls":[[`, `"calls":[[{"name":"submit","args":"{\"answer\":\"x\"}"},`, 1), "no desk steps"},
		{"rewind after the end", strings.Replace(s, `"calls":[[`, `"calls":[[`+thirty+`],[`, 1), "no desk rewinds"},
		{"31 calls", strings.Replace(s, `"calls":[[`, `"calls":[[`+thirty+`,`, 1), "no desk makes more than 30"},
		{"cut short", s[:len(s)-1], "no JSON"},
		{"two objects", s + s, "one JSON object"},
		{"no object", "[]", "one JSON object"},
		{"nothing", "", "one JSON object"},
		{"null", "null", "one JSON object"},
	}
	says := map[string]string{ // what is at fault
		"other task": `"T4-0001"`, "later version": "version 2 ", "no version": "version 0 ", "other world": `"game24"`,
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatalf("%s: no reason", tt.name)
		}
		before := everything(t, d)
		if tt.snapshot == s {
			t.Fatalf("%s: not changed", tt.name)
		}
		err := d.Restore(ctx, envharness.State(tt.snapshot))
		if err == nil {
			t.Errorf("%s (%s): restored", tt.name, tt.reason)
		} else if !strings.Contains(err.Error(), says[tt.name]) {
			t.Errorf("%s: %v, want it to name %s", tt.name, err, says[tt.name])
		}
		if everything(t, d) != before {
			t.Errorf("%s: it changed the desk", tt.name)
		}
	}

	reordered, err := envharness.CanonicalJSON(json.RawMessage(s))
	if err != nil || string(reordered) == s {
		t.Fatal("the canonical form is no other", err)
	}
	for _, form := range []string{s, string(reordered), " " + strings.ReplaceAll(s, ",", ", ")} {
		if err := d.Restore(ctx, envharness.State(form)); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
	fresh := New()
	if err := fresh.Restore(ctx, envharness.State(s)); !errors.Is(err, envharness.ErrNeedReset) {
		t.Errorf("before a reset: %v", err)
	}
	if _, err := fresh.Snapshot(ctx); !errors.Is(err, envharness.ErrNeedReset) {
		t.Errorf("before a reset: %v", err)
	}
	d.Close()
	if err := d.Restore(ctx, envharness.State(s)); !errors.Is(err, envharness.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// An episode that is over has a snapshot too; restored, it is over, and an earlier snapshot takes it up again.
func TestSnapshotAfterTheEnd(t *testing.T) {
	d := New()
	reset(t, d, "T4-0000")
	early := snapshotOf(t, d)
	for _, a := range plan(t, d) {
		do(t, d, a)
	}
	late := snapshotOf(t, d)
	for _, tt := range []struct {
		s    envharness.State
		want error
	}{{early, nil}, {late, envharness.ErrEpisodeOver}} {
		if err := d.Restore(ctx, tt.s); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Step(ctx, raw("get_order", "")); !errors.Is(err, tt.want) {
			t.Errorf("step: %v, want %v", err, tt.want)
		}
	}
}

// Any bytes are refused, with nothing changed, or are the snapshot of what they lead to.
func FuzzRestore(f *testing.F) {
	d := New()
	reset(f, d, "T1-0000")
	start := snapshotOf(f, d)
	f.Add([]byte(start))
	wander(f, d, rand.New(rand.NewPCG(1, 1)), 20)
	f.Add([]byte(snapshotOf(f, d)))
	do(f, d, raw("\xff", "\xfe"))
	f.Add([]byte(snapshotOf(f, d)))
	f.Add([]byte(`{"world":"tooldesk","version":1,"task":"T1-0000","calls":[[],[],[{"name":"\ud800","args":{"base64":"/w=="}}]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := d.Restore(ctx, start); err != nil {
			t.Fatal(err)
		}
		before := everything(t, d)
		if err := d.Restore(ctx, b); err != nil {
			if everything(t, d) != before {
				t.Fatal("a refused snapshot changed the desk")
			}
			return
		}
		got, err := envharness.CanonicalJSON(json.RawMessage(b))
		if err != nil {
			t.Fatal(err)
		}
		want, err := envharness.CanonicalJSON(snapshotOf(t, d))
		if err != nil || string(got) != string(want) {
			t.Fatalf("restored %s, which has the snapshot %s (%v)", got, want, err)
		}
		if e := d.episode; e.turn > MaxTurns || e.over != (e.session.Answer != nil || e.turn == MaxTurns) {
			t.Fatalf("turn %d, over %v", e.turn, e.over)
		}
	})
}
