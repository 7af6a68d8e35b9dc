package game24

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

func snapshotOf(t testing.TB, g *Game) string {
	t.Helper()
	s, err := g.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(s)
}

// everything is all that a game shows.
func everything(t testing.TB, g *Game) string {
	t.Helper()
	o, err := g.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n" + state(t, g) + "\n" + snapshotOf(t, g)
}

// wander makes n random moves, refused ones and rewinds among them. It returns what was shown after each.
func wander(t testing.TB, g *Game, r *rand.Rand, n int) string {
	t.Helper()
	var out strings.Builder
	for range n {
		if g.episode.over() {
			break
		}
		switch offered := g.episode.numbers.admissible(); r.IntN(12) {
		case 0:
			if err := g.RewindCounters(ctx); err != nil {
				t.Fatal(err)
			}
		case 1, 2:
			do(t, g, call("3 3 add"))
		case 3:
			do(t, g, call(restartTool))
		default:
			tr := do(t, g, offered[r.IntN(len(offered)-r.IntN(2))])
			b, err := json.Marshal(tr)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(b)
		}
		out.WriteString(everything(t, g))
	}
	return out.String()
}

// An episode that is taken up from a snapshot goes on as it would have without: in another game, and in the same one after it has gone
// elsewhere. A snapshot is one JSON object, and what is restored has that very snapshot.
func TestSnapshotRestoresTheFuture(t *testing.T) {
	hands := slices.Collect(allHands)
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.SampledFrom(hands).Draw(rt, "hand").taskID()
		o := &Options{LooseStop: rapid.Bool().Draw(rt, "loose")}
		seed := rapid.Uint64().Draw(rt, "seed")
		g := New(o)
		reset(t, g, id)
		wander(t, g, rand.New(rand.NewPCG(seed, 1)), rapid.IntRange(0, 20).Draw(rt, "before"))
		s, there := snapshotOf(t, g), everything(t, g)
		if !json.Valid([]byte(s)) || s[0] != '{' {
			rt.Fatalf("no JSON object: %s", s)
		}
		want := wander(t, g, rand.New(rand.NewPCG(seed, 2)), 20)

		other := New(o)
		reset(t, other, id)
		wander(t, other, rand.New(rand.NewPCG(seed, 3)), rapid.IntRange(0, 9).Draw(rt, "elsewhere"))
		for name, at := range map[string]*Game{"same game": g, "other game": other} {
			if err := at.Restore(ctx, envharness.State(s)); err != nil {
				rt.Fatalf("%s: %v\n%s", name, err, s)
			}
			if got := everything(t, at); got != there {
				rt.Fatalf("%s: restored\n%s\nwant\n%s", name, got, there)
			}
			if got := wander(t, at, rand.New(rand.NewPCG(seed, 2)), 20); got != want {
				rt.Fatalf("%s: the future differs:\n%s\nwant\n%s", name, got, want)
			}
		}
	})
}

func TestRestoreRefuses(t *testing.T) {
	g := New(nil)
	reset(t, g, "3,3,8,8")
	for _, a := range calls("0 2 div", "restart", "3 3 add", "0 1 mul") {
		do(t, g, a)
	}
	s := snapshotOf(t, g)
	want := `{"world":"game24","version":1,"task":"3,3,8,8","calls":[{"name":"combine","args":{"i":0,"j":2,"op":"div"}},` +
		`{"name":"restart"},{"name":"combine","args":{"i":0,"j":1,"op":"mul"}}],"stopped":false,"turn":4}`
	if s != want {
		t.Fatalf("got  %s\nwant %s", s, want)
	}
	loose := New(&Options{LooseStop: true})
	reset(t, loose, "3,3,8,8")
	change := func(old, with string) string { return strings.Replace(s, old, with, 1) }
	tests := []struct{ name, snapshot, reason string }{
		{"other task", change("3,3,8,8", "3,3,8,9"), "the moves would be with other numbers"},
		{"loose stop", snapshotOf(t, loose), "another game"},
		{"later version", change(`"version":1`, `"version":2`), "E28"},
		{"no version", change(`"version":1,`, ""), "E28"},
		{"unknown field", change("{", `{"numbers":["24"],`), "nobody would restore it"},
		{"unknown field of a call", change(`"args":`, `"x":1,"args":`), "nobody would restore it"},
		{"unknown argument", change(`"i":0`, `"k":0,"i":0`), "such a call is refused"},
		{"field in other letters", change(`"turn"`, `"TURN"`), "encoding/json takes it"},
		{"restart with arguments", change(`{"name":"restart"}`, `{"name":"restart","args":{}}`), "a game writes none"},
		{"refused call", change(`"j":1`, `"j":7`), "refused calls are not in it"},
		{"unknown tool", change("restart", "reset"), "refused calls are not in it"},
		{"a stop among the calls", change(`{"name":"restart"}`, `{"name":"stop"}`), "it has a field of its own"},
		{"calls missing", s[:strings.Index(s, `"calls"`)] + `"stopped":false,"turn":4}`, "a game writes a list"},
		{"calls null", s[:strings.Index(s, `"calls"`)] + `"calls":null,"stopped":false,"turn":4}`, "a game writes a list"},
		{"turn missing", change(`,"turn":4`, ""), "a game writes it, if 0"},
		{"turn below 0", change(`"turn":4`, `"turn":-1`), "turns left without end"},
		{"turn 13", change(`"turn":4`, `"turn":13`), "no game plays it"},
		{"stopped without a turn", change(`"stopped":false,"turn":4`, `"stopped":true,"turn":0`), "a stop takes a turn"},
		{"cut short", s[:len(s)-1], "no JSON"},
		{"two objects", s + s, "one JSON object"},
		{"no object", "[]", "one JSON object"},
		{"nothing", "", "one JSON object"},
		{"null", "null", "one JSON object"},
	}
	says := map[string]string{ // what is at fault
		"other task": `"3,3,8,9"`, "later version": "version 2 ", "no version": "version 0 ", "loose stop": `"game24_loose"`,
		"refused call": "call 2",
	}
	for _, tt := range tests {
		if tt.reason == "" || tt.snapshot == s {
			t.Fatalf("%s: no reason, or not changed", tt.name)
		}
		before := everything(t, g)
		err := g.Restore(ctx, envharness.State(tt.snapshot))
		if err == nil {
			t.Errorf("%s (%s): restored", tt.name, tt.reason)
		} else if !strings.Contains(err.Error(), says[tt.name]) {
			t.Errorf("%s: %v, want it to name %s", tt.name, err, says[tt.name])
		}
		if everything(t, g) != before {
			t.Errorf("%s: it changed the game", tt.name)
		}
	}

	reordered, err := envharness.CanonicalJSON(json.RawMessage(s))
	if err != nil || string(reordered) == s {
		t.Fatal("the canonical form is no other", err)
	}
	for _, form := range []string{s, string(reordered), " " + strings.ReplaceAll(s, `,"`, `, "`)} {
		if err := g.Restore(ctx, envharness.State(form)); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
	fresh := New(nil)
	if err := fresh.Restore(ctx, envharness.State(s)); !errors.Is(err, envharness.ErrNeedReset) {
		t.Errorf("before a reset: %v", err)
	}
	if _, err := fresh.Snapshot(ctx); !errors.Is(err, envharness.ErrNeedReset) {
		t.Errorf("before a reset: %v", err)
	}
	g.Close()
	if err := g.Restore(ctx, envharness.State(s)); !errors.Is(err, envharness.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// Any bytes are refused, with nothing changed, or are the snapshot of what they lead to.
func FuzzRestore(f *testing.F) {
	g := New(nil)
	reset(f, g, "1,2,3,4")
	start := envharness.State(snapshotOf(f, g))
	f.Add([]byte(start))
	wander(f, g, rand.New(rand.NewPCG(1, 1)), 20)
	f.Add([]byte(snapshotOf(f, g)))
	f.Add([]byte(`{"turn":12,"stopped":true,"calls":[{"name":"combine","args":{"op":"mul","j":0,"i":3}}],` +
		`"task":"1,2,3,4","version":1,"world":"game24"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := g.Restore(ctx, start); err != nil {
			t.Fatal(err)
		}
		before := everything(t, g)
		if err := g.Restore(ctx, b); err != nil {
			if everything(t, g) != before {
				t.Fatal("a refused snapshot changed the game")
			}
			return
		}
		got, err := envharness.CanonicalJSON(json.RawMessage(b))
		if err != nil {
			t.Fatal(err)
		}
		want, err := envharness.CanonicalJSON(json.RawMessage(snapshotOf(t, g)))
		if err != nil || string(got) != string(want) {
			t.Fatalf("restored %s, which has the snapshot %s (%v)", got, want, err)
		}
		if e := g.episode; e.turn < 0 || e.turn > MaxTurns || e.stopped && e.turn == 0 || e.numbers.n < 1 {
			t.Fatalf("turn %d, stopped %v, %d numbers", e.turn, e.stopped, e.numbers.n)
		}
	})
}
