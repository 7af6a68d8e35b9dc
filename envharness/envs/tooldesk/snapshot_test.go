package tooldesk

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

func snapshotOf(t testing.TB, d *desk) envharness.State {
	t.Helper()
	s, err := d.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// everything is all that a desk shows.
func everything(t testing.TB, d *desk) string {
	t.Helper()
	o, err := d.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return marshal(o) + "\n" + string(state(t, d)) + "\n" + string(snapshotOf(t, d))
}

// wander makes n random moves: candidates, garbage, now and then a rewind. It returns what was shown after each.
func wander(t testing.TB, d *desk, r *rand.Rand, n int) string {
	t.Helper()
	var out strings.Builder
	for range n {
		calls := d.episode().candidates()
		if shown, err := d.Observe(ctx); err != nil || len(shown.Actions) == 0 { // it is over
			break
		}
		if r.IntN(12) == 0 {
			if err := d.RewindCounters(ctx); err != nil {
				t.Fatal(err)
			}
			out.WriteString(everything(t, d))
			continue
		}
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
		d := newDesk()
		reset(t, d, id)
		wander(t, d, rand.New(rand.NewPCG(seed, 1)), before)
		s, there := snapshotOf(t, d), everything(t, d)
		if !json.Valid(s) || s[0] != '{' {
			rt.Fatalf("no JSON object: %s", s)
		}
		want := wander(t, d, rand.New(rand.NewPCG(seed, 2)), 40)

		other := newDesk()
		reset(t, other, id)
		wander(t, other, rand.New(rand.NewPCG(seed, 3)), rapid.IntRange(0, 9).Draw(rt, "elsewhere"))
		for name, at := range map[string]*desk{"same desk": d, "other desk": other} {
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
