package tooldesk

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
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
		d := New()
		o := reset(t, d, rapid.SampledFrom(tasks).Draw(rt, "task").ID)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		shown := o.Text
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
			before := d.episode.clone()
			tr := do(t, d, a)
			turns++
			e := d.episode
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
			before.turn++
			if tr.Error != nil && string(before.state()) != string(e.state()) {
				rt.Fatalf("refused %s %s changed the state", a.Name, a.Args)
			}
			if tool := toolNamed(a.Name); tool != nil && !tool.write && marshal(before.world) != marshal(e.world) {
				rt.Fatalf("read %s %s changed the tables", a.Name, a.Args)
			}
			submitted := e.session.Answer != nil
			if tr.Terminated != submitted || tr.Truncated != (!submitted && e.turn == MaxTurns) {
				rt.Fatalf("turn %d: terminated %v, truncated %v, submitted %v", e.turn, tr.Terminated, tr.Truncated, submitted)
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
	return raw(tools[r.IntN(len(tools))].name+strings.Repeat("x", r.IntN(2)), args[r.IntN(len(args))])
}

func checkCandidates(t *rapid.T, d *Desk, actions []envharness.Action, shown string) {
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
		if per[a.Name]++; per[a.Name] > perTool {
			t.Fatalf("more than %d candidates of %s", perTool, a.Name)
		}
		canonical, err := envharness.CanonicalJSON(a.Args)
		if err != nil || string(canonical) != string(a.Args) {
			t.Fatalf("%s is not canonical (%v)", key, err)
		}
		if _, refusal := d.episode.clone().do(a); refusal != nil && refusal.Class != envharness.ClassPrecondition && refusal.Class != envharness.ClassPermission {
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
	e.memory.scan("1500 cents of O-3")
	e.do(call("get_order", "O-3"))
	n := 0
	for _, c := range e.candidates() {
		if same(c, call("refund", "1500", "O-3")) {
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
		m, err := makeTask(task.ID)
		if err != nil {
			t.Fatal(err)
		}
		a := newEpisode(m)
		other := *m
		other.start = &world{Today: m.start.Today, Transfers: []transfer{}} // nothing of the tables is left
		b := newEpisode(&other)
		if marshal(a.candidates()) != marshal(b.candidates()) {
			t.Errorf("%s: candidates show the tables", task.ID)
		}
	}
}

func TestShow(t *testing.T) {
	var list []string
	for _, v := range []string{"a", "b", "c", "a", "a", "b"} {
		show(&list, v)
	}
	if want := []string{"c", "a", "b"}; !slices.Equal(list, want) {
		t.Errorf("got %v, want %v: the newest is the last", list, want)
	}
}

func TestScan(t *testing.T) {
	var m memory
	m.scan(`Ada (ada.b@example.com): O-1004, then "12 Mill Street, Lundby". K-17? LAM-204! 4599 cents, e-mail, U-boat, X-1, AB-2.`)
	got := fmt.Sprint(m.emails, m.orders, m.addresses, m.tickets, m.skus, m.wanted, m.named)
	want := "[ada.b@example.com] [O-1004] [12 Mill Street, Lundby] [K-17] [LAM-204] [LAM-204] [4599]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Any name and any bytes as arguments give a reply that is JSON, with an error class exactly if the call was refused.
func FuzzStep(f *testing.F) {
	for i := range tools {
		f.Add(tools[i].name, []byte(`{"order_id":"O-1","customer_id":"C-1","sku":"AAA-2"}`))
	}
	f.Add("refund", []byte(`{"amount_cents":1e2,"order_id":"O-2"}`))
	f.Add("submit", []byte(`{"answer":"\ud800"}`))
	f.Add("set_address", []byte("{\"address\":\"\xff\",\"order_id\":\"O-1\"}"))
	f.Fuzz(func(t *testing.T, name string, args []byte) {
		e := sample()
		before := e.clone()
		refusal := e.step(envharness.Action{Name: name, Args: args})
		var got struct {
			Error *envharness.ActionError `json:"error"`
		}
		if err := json.Unmarshal([]byte(e.reply), &got); err != nil {
			t.Fatalf("reply %q: %v", e.reply, err)
		}
		if (got.Error != nil) != (refusal != nil) {
			t.Fatalf("reply %s, refusal %v", e.reply, refusal)
		}
		before.turn++
		if refusal != nil && string(before.state()) != string(e.state()) {
			t.Fatal("a refusal changed the state")
		}
		if _, err := envharness.CanonicalJSON(e.state()); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkReset(b *testing.B) {
	b.ReportAllocs()
	d := New()
	for b.Loop() {
		reset(b, d, "T5-0001")
	}
}

func BenchmarkStep(b *testing.B) {
	d := New()
	reset(b, d, "T6-0001")
	calls := d.episode.task.gold
	for name, a := range map[string]envharness.Action{
		"read": calls[1], "refused": call("cancel_order", "O-1", cancelReasons[0]), "garbage": raw("refund", `{"amount_cents":[]}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for _, c := range calls {
				do(b, d, c)
			}
			for b.Loop() {
				d.episode.turn = 0
				do(b, d, a)
			}
		})
		reset(b, d, "T6-0001")
	}
}

func BenchmarkTasks(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := listTasks("train"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	r := record(b, "T6-0001")
	r.play(b, gold(b, "T6-0001")...)
	c := &catalogue{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.verify(ctx, r.ev); err != nil {
			b.Fatal(err)
		}
	}
}
