package tooldesk

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func sameInputs(a, b *inputs) bool {
	return slices.EqualFunc(a[:], b[:], func(v, w value) bool { return bytes.Equal(v.s, w.s) && v.n == w.n })
}

// Arguments that are read without encoding/json are read as it would read them: those of candidate calls, all of which are, and what
// comes of them when some bytes are changed, most of which are not.
func TestPlainArguments(t *testing.T) {
	tasks := allTasks(t)
	plain, other := 0, 0
	check := func(rt *rapid.T, tool *tool, args []byte) bool {
		var in, want inputs
		if !tool.parsePlain(args, &in) {
			return false
		}
		if broken := tool.parseJSON(args, &want); broken != "" || !sameInputs(&in, &want) {
			rt.Fatalf("%s %q: read as %v, should be %v, %v", tool.name, args, in, want, broken)
		}
		return true
	}
	rapid.Check(t, func(rt *rapid.T) {
		d := newDesk()
		reset(t, d, rapid.SampledFrom(tasks).Draw(rt, "task").ID)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		for range 5 {
			calls := d.episode().candidates()
			for _, a := range calls {
				if !check(rt, full.tool(a.Name), a.Args) {
					rt.Fatalf("%s %s is not read at once", a.Name, a.Args)
				}
				args := slices.Clone(a.Args)
				for range 1 + r.IntN(2) {
					i := r.IntN(len(args))
					switch c := `{}",:\0 9xé`[r.IntN(12)]; r.IntN(3) {
					case 0:
						args[i] = c
					case 1:
						args = slices.Insert(args, i, c)
					default:
						args = append(slices.Delete(args, i, i+1), 'x')[:len(args)-1]
					}
				}
				if check(rt, full.tool(a.Name), args) {
					plain++
				} else {
					other++
				}
				check(rt, &full.tools[r.IntN(numTools)], a.Args)
			}
			if do(t, d, calls[r.IntN(len(calls)-1)]).Ended() {
				break
			}
		}
	})
	if (plain < 100 || other < 100) && !testing.Short() { // few draws show less
		t.Errorf("%d plain, %d others", plain, other)
	}
}

func TestPlainArgumentsTable(t *testing.T) {
	tests := []struct {
		tool, args string
		want       bool
		reason     string
	}{
		{"refund", `{"amount_cents":100000000,"order_id":"O-1"}`, true, "the largest amount"},
		{"refund", `{"amount_cents":100000001,"order_id":"O-1"}`, false, "above the largest"},
		{"refund", `{"amount_cents":9999999999,"order_id":"O-1"}`, false, "ten digits"},
		{"refund", `{"amount_cents":0,"order_id":"O-1"}`, false, "below 1"},
		{"refund", `{"amount_cents":01,"order_id":"O-1"}`, false, "no JSON"},
		{"refund", `{"amount_cents":1.0,"order_id":"O-1"}`, false, "an integer in another form"},
		{"refund", `{"amount_cents":1e2,"order_id":"O-1"}`, false, "an integer in another form"},
		{"refund", `{"amount_cents":"1","order_id":"O-1"}`, false, "no integer"},
		{"refund", `{"order_id":"O-1","amount_cents":1}`, false, "another order"},
		{"list_orders", `{"customer_id":"C-1"}`, true, "the page is optional"},
		{"list_orders", `{"customer_id":"C-1","page":2}`, true, "two arguments"},
		{"list_orders", `{"customer_id":"C-1",}`, false, "no JSON"},
		{"list_orders", `{"page":2}`, false, "the customer is not optional"},
		{"list_orders", `{}`, false, "the customer is not optional"},
		{"get_order", `{"order_id":"O-1"}}`, false, "no JSON"},
		{"get_order", `{"order_id":"O-1","order_id":"O-2"}`, false, "the last one counts"},
		{"get_order", `{"order_id":""}`, false, "too short"},
		{"get_order", `{"order_id":"O\u002d1"}`, false, "an escape"},
		{"get_order", `{"order_id":"é"}`, false, "not one byte a character"},
		{"get_order", `{"order_id":"O-1`, false, "cut short"},
		{"get_order", `{"order_id`, false, "cut short"},
		{"get_order", ``, false, "nothing"},
		{"cancel_order", `{"order_id":"O-1","reason":"no longer needed"}`, true, "one of two reasons"},
		{"cancel_order", `{"order_id":"O-1","reason":"x"}`, false, "not one of them"},
	}
	for _, tt := range tests {
		var in, want inputs
		got := full.tool(tt.tool).parsePlain(json.RawMessage(tt.args), &in)
		if got != tt.want || tt.reason == "" {
			t.Errorf("%s %s (%s): %v, want %v", tt.tool, tt.args, tt.reason, got, tt.want)
		}
		if full.tool(tt.tool).parseJSON(json.RawMessage(tt.args), &want); got && !sameInputs(&in, &want) {
			t.Errorf("%s %s: %v, want %v", tt.tool, tt.args, in, want)
		}
	}
}
