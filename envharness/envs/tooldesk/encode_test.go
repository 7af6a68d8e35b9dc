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
		Session *session `json:"session"`
		Turn    int      `json:"turn"`
	}{e.world, &e.session, e.turn})
}

// only reports whether these bytes are the state, and no part of them and nothing longer is.
func only(e *episode, s string) bool {
	return e.inState([]byte(s)) && !e.inState([]byte(s[:len(s)-1])) && !e.inState([]byte(s+" ")) && !e.inState(nil)
}

// The state is, byte for byte, what encoding/json makes of it: at the start of every task, at the end of a solution, and after random
// calls.
func TestStateEqualsEncodingJSON(t *testing.T) {
	check := func(e *episode) {
		t.Helper()
		if got, want := string(e.state()), plainState(e); got != want || !only(e, want) {
			t.Fatalf("%s, turn %d:\n got %s\nwant %s", e.task.id, e.turn, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, task := range allTasks(t) {
		m, err := makeTask(task.ID)
		if err != nil {
			t.Fatal(err)
		}
		e := newEpisode(m)
		check(e)
		for _, a := range append(m.gold[:len(m.gold):len(m.gold)], call("submit", m.answer)) {
			e.step(a)
		}
		check(e)
		e = newEpisode(m)
		for range 12 {
			calls := e.candidates()
			e.step(calls[r.IntN(len(calls)-1)])
		}
		check(e)
	}
	check(sample())
	w := &world{}
	check(&episode{task: &task{start: w, written: write(w)}, world: &world{Orders: []order{{}}}})
}

// Whatever a policy writes into the tables comes out as encoding/json writes it.
func TestQuoteEqualsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := sample()
		e.world = e.world.clone()
		e.world.Orders[0].Address = rapid.String().Draw(rt, "address")
		e.world.Tickets[0].Note = string(rapid.SliceOf(rapid.Byte()).Draw(rt, "note"))
		e.session.Written = append(e.session.Written, rapid.StringN(0, 9, -1).Draw(rt, "written"))
		e.session.Answer = new(rapid.SampledFrom([]string{"", "\u2028", "<&>", "\x7f", "\x1f\b\f\n\r\t", "\xff", `a"b\c`}).Draw(rt, "answer"))
		if got, want := string(e.state()), plainState(e); got != want || !only(e, want) {
			rt.Fatalf("\n got %s\nwant %s", got, want)
		}
	})
}
