package tooldesk

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// plainState is the state as encoding/json writes it.
func plainState(e *episode) string {
	return marshal(struct {
		*world
		Answer  *string  `json:"answer"`
		Session *session `json:"session"`
	}{&e.world, e.answer, &e.session})
}

// The state is, byte for byte, what encoding/json makes of it: at the start of every task, at the end of a solution, and after random
// calls.
func TestStateEqualsEncodingJSON(t *testing.T) {
	check := func(e *episode) {
		t.Helper()
		if got, want := stateOf(e), plainState(e); got != want {
			t.Fatalf("%s:\n got %s\nwant %s", e.task.id, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, task := range someTasks(t) {
		m, err := made(task.ID)
		if err != nil {
			t.Fatal(err)
		}
		e := begin(m)
		check(e)
		for _, a := range append(m.gold[:len(m.gold):len(m.gold)], call("submit", m.answer)) {
			e.Step(a)
		}
		check(e)
		e = begin(m)
		for range 12 {
			calls := e.candidates()
			e.Step(calls[r.IntN(len(calls)-1)])
		}
		check(e)
	}
	check(sample())
}

// Whatever a policy writes into the tables comes out as encoding/json writes it.
func TestQuoteEqualsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := sample()
		e.world.writableOrder("O-1").Address = rapid.String().Draw(rt, "address")
		e.world.writableTicket("K-1").Note = string(rapid.SliceOf(rapid.Byte()).Draw(rt, "note"))
		e.session.Written = append(e.session.Written, rapid.StringN(0, 9, -1).Draw(rt, "written"))
		e.answer = new(rapid.SampledFrom([]string{"", "\u2028", "<&>", "\x7f", "\x1f\b\f\n\r\t", "\xff", `a"b\c`}).Draw(rt, "answer"))
		if got, want := stateOf(e), plainState(e); got != want {
			rt.Fatalf("\n got %s\nwant %s", got, want)
		}
	})
}
