package tooldesk

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

// ids finds what a candidate may only name if it was shown: ids, skus, e-mail addresses and numbers.
var ids = regexp.MustCompile(`[A-Z]+-[0-9]+|[a-z.]+@[a-z.]+|[0-9]+`)

// Over a thousand turns of random calls, candidates and garbage alike: the rules of the life cycle hold, no stock is
// negative, no refund exceeds the payment, a refusal changes nothing but the turn, a read nothing but the session, and
// candidates are well formed and name nothing that was not shown.
func TestRandomCalls(t *testing.T) {
	tasks := allTasks(t)
	turns := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := newDesk()
		o := reset(t, d, rapid.SampledFrom(tasks).Draw(rt, "task").ID)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		shown, n := o.Text, 0
		for {
			checkCandidates(rt, d, o.Actions, shown)
			a := o.Actions[r.IntN(len(o.Actions))]
			switch r.IntN(10) {
			case 0:
				a = garbage(r)
			case 1: // a candidate of one tool with the arguments of another
				a.Args = o.Actions[r.IntN(len(o.Actions))].Args
			}
			if a.Name == "submit" && r.IntN(4) > 0 {
				continue
			}
			before := copyOf(d.episode())
			tr := do(t, d, a)
			turns++
			e := d.episode()
			for _, p := range e.world.Products {
				if p.Stock < 0 {
					rt.Fatalf("%s has stock %d", p.SKU, p.Stock)
				}
			}
			for _, x := range e.world.Orders {
				if x.Refunded < 0 || x.Refunded > x.Paid {
					rt.Fatalf("%s is refunded %d of %d", x.ID, x.Refunded, x.Paid)
				}
			}
			if tr.Error != nil && stateOf(before) != stateOf(e) {
				rt.Fatalf("refused %s %s changed the state", a.Name, a.Args)
			}
			if tool := full.tool(a.Name); tool != nil && !tool.write && marshal(&before.world) != marshal(&e.world) {
				rt.Fatalf("read %s %s changed the tables", a.Name, a.Args)
			}
			submitted := e.answer != nil
			if n++; tr.Terminated != submitted || tr.Truncated != (!submitted && n == MaxTurns) {
				rt.Fatalf("turn %d: terminated %v, truncated %v, submitted %v", n, tr.Terminated, tr.Truncated, submitted)
			}
			if tr.Ended() {
				return
			}
			o = tr.Observation
			shown += "\n" + o.Text
		}
	})
	if turns < 1000 && !testing.Short() { // few draws make few turns
		t.Errorf("only %d turns", turns)
	}
}

func garbage(r *rand.Rand) envharness.Action {
	b := make([]byte, r.IntN(40))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	args := []string{string(b), "{}", "[]", `{"order_id":7}`, `{"page":1e400}`, `{"answer":null}`, strings.Repeat("[", 5000)}
	return raw(full.tools[r.IntN(numTools)].name+strings.Repeat("x", r.IntN(2)), args[r.IntN(len(args))])
}

func checkCandidates(t *rapid.T, d *desk, actions []envharness.Action, shown string) {
	per := map[string]int{}
	seen := map[string]bool{}
	words := map[string]bool{transferred: true}
	for _, w := range ids.FindAllString(shown, -1) {
		words[w] = true
		words[strings.TrimSuffix(w, ".")] = true
	}
	for _, a := range actions {
		key := a.Name + " " + string(a.Args)
		if seen[key] {
			t.Fatalf("%s is offered twice", key)
		}
		seen[key] = true
		if per[a.Name]++; per[a.Name] > full.perTool {
			t.Fatalf("more than %d candidates of %s", full.perTool, a.Name)
		}
		canonical, err := envharness.CanonicalJSON(a.Args)
		if err != nil || string(canonical) != string(a.Args) {
			t.Fatalf("%s is not canonical (%v)", key, err)
		}
		if refusal := copyOf(d.episode()).do(a); refusal != nil && refusal.Class != envharness.ClassPrecondition && refusal.Class != envharness.ClassPermission {
			t.Fatalf("%s is refused: %+v", key, refusal)
		}
		var args map[string]any
		if err := json.Unmarshal(a.Args, &args); err != nil {
			t.Fatal(err)
		}
		for name, v := range args {
			if name == "page" {
				continue // counted up from the page shown
			}
			for _, w := range ids.FindAllString(fmt.Sprint(v), -1) {
				if f, ok := v.(float64); ok {
					w = fmt.Sprintf("%.0f", f)
				}
				if !words[w] && !strings.Contains(shown, w) {
					t.Fatalf("%s names %s, which was never shown", key, w)
				}
			}
		}
	}
}

// An amount that a message names and an order shows is offered once.
func TestCandidatesAreDistinct(t *testing.T) {
	e := sample()
	e.memory.mention(e.task, mention{"1500", ofCents})
	e.memory.mention(e.task, mention{"O-3", ofOrder})
	e.do(call("get_order", "O-3"))
	n := 0
	for _, c := range e.candidates() {
		if sameCall(c, call("refund", "1500", "O-3")) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("offered %d times", n)
	}
}

// A hidden fact has no influence: worlds that differ only in rows never shown offer the same candidates.
func TestCandidatesDependOnWhatWasShownOnly(t *testing.T) {
	for _, task := range allTasks(t)[:60] {
		m, err := made(task.ID)
		if err != nil {
			t.Fatal(err)
		}
		a := begin(m)
		a.offers, a.memory.stale = offers{}, ofAll
		other := *m
		other.args = nil
		other.start = &world{Today: m.start.Today, Transfers: []transfer{}} // nothing of the tables is left
		other.shelf = newShelf(m.preset, other.start)
		other.named = memory{}
		for _, v := range m.mentions {
			other.named.mention(&other, v)
		}
		b := begin(&other)
		b.offers, b.memory.stale = offers{}, ofAll
		if marshal(a.candidates()) != marshal(b.candidates()) {
			t.Errorf("%s: candidates show the tables", task.ID)
		}
	}
}

func TestShow(t *testing.T) {
	show := func(m *memory, v string) { m.showOrder(&card{value: v}) } // another card each time, which is the same if the value is
	values := func(m *memory) string {
		var all []string
		for _, c := range m.orders {
			all = append(all, c.value)
		}
		return strings.Join(all, " ")
	}
	var first memory
	for _, v := range []string{"a", "b", "c", "a", "a", "b"} {
		show(&first, v)
	}
	if got, want := values(&first), "c a b"; got != want || first.stale != ofOrder {
		t.Errorf("got %v, want %v: the newest is the last", got, want)
	}
	first.stale = 0
	show(&first, "b")
	if first.stale != 0 {
		t.Error("what is the newest already changes something")
	}
	second, third := first.share(), first.share()
	show(&second, "c")
	show(&third, "d")
	show(&second, "e")
	if values(&first) != "c a b" || values(&second) != "a b c e" || values(&third) != "c a b d" {
		t.Errorf("copies share what they change: %v, %v, %v", values(&first), values(&second), values(&third))
	}
	var amounts memory
	for _, of := range []string{"O-1", "O-2", "O-1"} {
		amounts.showAmount(&card{value: "10", of: of})
	}
	if len(amounts.amounts) != 2 {
		t.Errorf("%d amounts, want one of each order", len(amounts.amounts))
	}
}

// Any name and any bytes as arguments give a reply that is JSON, with an error class exactly if the call was refused.
func FuzzStep(f *testing.F) {
	for i := range full.tools {
		f.Add(full.tools[i].name, []byte(`{"order_id":"O-1","customer_id":"C-1","sku":"AAA-2"}`))
	}
	f.Add("refund", []byte(`{"amount_cents":1e2,"order_id":"O-2"}`))
	f.Add("submit", []byte(`{"answer":"\ud800"}`))
	f.Add("set_address", []byte("{\"address\":\"\xff\",\"order_id\":\"O-1\"}"))
	f.Fuzz(func(t *testing.T, name string, args []byte) {
		e := sample()
		before := stateOf(e)
		refusal := e.Step(envharness.Action{Name: name, Args: args}).Refusal
		var got struct {
			Error *envharness.ActionError `json:"error"`
		}
		if err := json.Unmarshal([]byte(e.Text()), &got); err != nil {
			t.Fatalf("reply %q: %v", e.Text(), err)
		}
		if (got.Error != nil) != (refusal != nil) {
			t.Fatalf("reply %s, refusal %v", e.Text(), refusal)
		}
		if refusal != nil && before != stateOf(e) {
			t.Fatal("a refusal changed the state")
		}
		if _, err := envharness.CanonicalJSON(json.RawMessage(stateOf(e))); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkTasks(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := full.list("train"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	r := record(b, "T6-0001")
	r.play(b, gold(b, "T6-0001")...)
	v := World(nil).Verifier
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(ctx, r.ev); err != nil {
			b.Fatal(err)
		}
	}
}
