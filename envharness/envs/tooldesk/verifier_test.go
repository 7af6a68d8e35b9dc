package tooldesk

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

// gold returns the plan of a fresh episode.
func gold(t testing.TB, id string) []envharness.Action {
	d := newDesk()
	reset(t, d, id)
	return plan(t, d)
}

func TestVerdicts(t *testing.T) {
	write := func(a []envharness.Action) int {
		return slices.IndexFunc(a, func(a envharness.Action) bool { return full.tool(a.Name).write })
	}
	tests := []struct {
		name, id string
		edit     func(a []envharness.Action) []envharness.Action
		want     envharness.Status
		db, comm float64
		reason   string
	}{
		{"gold", "T1-0000", func(a []envharness.Action) []envharness.Action { return a }, envharness.Pass, 1, 1, ""},
		{"nothing", "T1-0000", func([]envharness.Action) []envharness.Action { return nil }, envharness.Fail, 0, 0, "nothing was submitted"},
		{
			"no submit", "T1-0000", func(a []envharness.Action) []envharness.Action { return a[:len(a)-1] },
			envharness.Fail, 0, 0, "nothing was submitted",
		},
		{
			"submit at once", "T7-0000", func(a []envharness.Action) []envharness.Action { return a[len(a)-1:] },
			envharness.Fail, 0, 1, "the tables differ from those of the solution",
		},
		{
			"writes only, after the look-up", "T1-0000",
			func(a []envharness.Action) []envharness.Action {
				return slices.DeleteFunc(a, func(a envharness.Action) bool { return a.Name == "get_order" })
			}, envharness.Pass, 1, 1, "",
		},
		{
			"no look-up", "T1-0000", func(a []envharness.Action) []envharness.Action { return a[1:] },
			envharness.Fail, 0, 1, "the tables differ from those of the solution",
		},
		{
			"reads are free", "T4-0000",
			func(a []envharness.Action) []envharness.Action {
				return slices.Concat(a[:2], []envharness.Action{
					raw("get_order", `{"order_id":"O-0"}`), raw("nonsense", ""), a[1], a[1], raw("find_customer", `{}`),
				}, a[2:])
			}, envharness.Pass, 1, 1, "",
		},
		{
			"another wording of the answer", "T4-0000",
			func(a []envharness.Action) []envharness.Action {
				return append(a[:len(a)-1], raw("submit", `{"answer":"we paid 4159 cents back"}`))
			}, envharness.Pass, 1, 1, "",
		},
		{
			"wrong answer", "T4-0000",
			func(a []envharness.Action) []envharness.Action {
				return append(a[:len(a)-1], raw("submit", `{"answer":"we paid 41590 cents back"}`))
			}, envharness.Fail, 1, 0, `the answer does not name all of ["4159"]`,
		},
		{
			"wrong amount", "T4-0000",
			func(a []envharness.Action) []envharness.Action {
				a[write(a)].Args = json.RawMessage(strings.Replace(string(a[write(a)].Args), "4159", "4158", 1))
				return a
			}, envharness.Fail, 0, 1, "the tables differ from those of the solution",
		},
		{
			"an amount in two parts", "T4-0000",
			func(a []envharness.Action) []envharness.Action {
				i := write(a)
				part := string(a[i].Args)
				return slices.Concat(a[:i], []envharness.Action{
					raw("refund", strings.Replace(part, "4159", "4000", 1)), raw("refund", strings.Replace(part, "4159", "159", 1)),
				}, a[i+1:])
			}, envharness.Pass, 1, 1, "",
		},
		{
			"a harmful write more", "T3-0000",
			func(a []envharness.Action) []envharness.Action {
				return slices.Insert(a, len(a)-1, call("transfer", customerOf("T3-0000"), reasonStatus))
			}, envharness.Fail, 0, 1, "the tables differ from those of the solution",
		},
		{
			"another note", "T5-0000",
			func(a []envharness.Action) []envharness.Action {
				i := slices.IndexFunc(a, func(a envharness.Action) bool { return a.Name == "resolve_ticket" })
				a[i].Args = json.RawMessage(strings.Replace(string(a[i].Args), `"resolved"`, `"all good"`, 1))
				return a
			}, envharness.Pass, 1, 1, "",
		},
		{
			"the ticket left open", "T5-0000",
			func(a []envharness.Action) []envharness.Action {
				return slices.DeleteFunc(a, func(a envharness.Action) bool { return a.Name == "resolve_ticket" })
			}, envharness.Fail, 0, 1, "the tables differ from those of the solution",
		},
		{
			"independent writes the other way round", "T6-0000",
			func(a []envharness.Action) []envharness.Action {
				i, j := 0, 0
				for n := range a {
					if full.tool(a[n].Name).write {
						i, j = j, n
					}
				}
				a[i], a[j] = a[j], a[i]
				return a
			}, envharness.Pass, 1, 1, "",
		},
		{
			"one of two requests", "T6-0000",
			func(a []envharness.Action) []envharness.Action { return slices.Delete(a, write(a), write(a)+1) },
			envharness.Fail, 0, 1, "the tables differ from those of the solution",
		},
		{
			"the wrong reason", "T7-0000",
			func(a []envharness.Action) []envharness.Action {
				i := write(a)
				a[i].Args = json.RawMessage(strings.Replace(string(a[i].Args), reasonStatus, reasonStock, 1))
				return a
			}, envharness.Fail, 0, 1, "the tables differ from those of the solution",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := record(t, tt.id)
			tr := r.play(t, tt.edit(gold(t, tt.id))...)
			score := 0.0
			if tt.want == envharness.Pass {
				score = 1
			}
			want := envharness.Verdict{
				Status: tt.want, Score: score, Parts: map[string]float64{"db": tt.db, "comm": tt.comm}, Reason: tt.reason,
			}
			if diff := cmp.Diff(want, r.verdict(t)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if tr.Reward != score {
				t.Errorf("reward %v, want %v", tr.Reward, score)
			}
			before := marshal(r.ev)
			r.verdict(t)
			if marshal(r.ev) != before {
				t.Error("the verifier changed the evidence")
			}
			for i := range r.ev.Log {
				r.ev.Log[i].Transition = envharness.Transition{Observation: envharness.Observation{Text: "something else"}}
			}
			if diff := cmp.Diff(want, r.verdict(t)); diff != "" {
				t.Errorf("verdict depends on what was shown (-want +got):\n%s", diff)
			}
		})
	}
}

// customerOf is who the task is about.
func customerOf(id string) string {
	m, err := made(id)
	if err != nil {
		panic(err)
	}
	i := slices.IndexFunc(m.start.Customers, func(c *customer) bool { return strings.Contains(m.text, c.Email) })
	return m.start.Customers[i].ID
}

// Evidence that this world cannot have produced has no verdict.
func TestTampering(t *testing.T) {
	tests := []struct {
		name   string
		tamper func(ev *envharness.Evidence)
		reason string
	}{
		{"end state", func(ev *envharness.Evidence) {
			ev.End = json.RawMessage(strings.Replace(string(ev.End), `"refunded_cents":0`, `"refunded_cents":1`, 1))
		}, "a number was changed"},
		{"session", func(ev *envharness.Evidence) {
			ev.End = json.RawMessage(strings.Replace(string(ev.End), `"turn":4`, `"turn":3`, 1))
		}, "the whole state counts, not only what is graded"},
		{"cut log", func(ev *envharness.Evidence) { ev.Log = slices.Delete(ev.Log, 2, 3) }, "a call was left out"},
		{"empty end state", func(ev *envharness.Evidence) { ev.End = json.RawMessage(`{}`) }, "nothing recorded is not this"},
		{"broken end state", func(ev *envharness.Evidence) { ev.End = json.RawMessage(`{`) }, "no JSON"},
		{"another task", func(ev *envharness.Evidence) { ev.Task = "T1-0001" }, "the log belongs to T1-0000"},
		{"a call after the end", func(ev *envharness.Evidence) {
			ev.Log, ev.End = append(ev.Log, ev.Log[1]), nil
		}, "the episode was over"},
		{"a rewind after the end", func(ev *envharness.Evidence) {
			ev.Log, ev.End = append(ev.Log, envharness.LogEntry{Kind: envharness.LogRewind}), nil
		}, "the episode was over"},
		{"a second reset", func(ev *envharness.Evidence) { ev.Log = append(ev.Log, ev.Log[0]) }, "one episode, one reset"},
		{"no log", func(ev *envharness.Evidence) { ev.Log, ev.End = nil, nil }, "nothing was reset"},
		{"no reset", func(ev *envharness.Evidence) { ev.Log = ev.Log[1:] }, "the reset was left out"},
		{"an unknown kind", func(ev *envharness.Evidence) { ev.Log[1].Kind = "x" }, "not a kind of the log"},
	}
	for _, tt := range tests {
		r := record(t, "T1-0000")
		r.play(t, gold(t, "T1-0000")...)
		if v := r.verdict(t); v.Status != envharness.Pass {
			t.Fatalf("before tampering: %+v", v)
		}
		tt.tamper(&r.ev)
		if v, err := verify(r.ev); err == nil || v.Status != envharness.Invalid {
			t.Errorf("%s (%s): verdict %+v, error %v", tt.name, tt.reason, v, err)
		}
	}
}

// A recorded end state counts as JSON, not as bytes; without one the log alone decides.
func TestEndStateForms(t *testing.T) {
	r := record(t, "T2-0003")
	r.play(t, gold(t, "T2-0003")...)
	canonical, err := envharness.CanonicalJSON(r.ev.End)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []envharness.State{r.ev.End, canonical, nil} {
		r.ev.End = end
		if v := r.verdict(t); v.Status != envharness.Pass {
			t.Errorf("end state %.40s: %+v", end, v)
		}
	}
}

// The actions of a setup count as actions; the turns start again after a rewind.
func TestSetup(t *testing.T) {
	r := record(t, "T5-0000")
	p := gold(t, "T5-0000")
	setup := slices.Concat(p[:3], slices.Repeat([]envharness.Action{raw("nonsense", "")}, 20))
	for _, a := range setup {
		r.ev.Log = append(r.ev.Log, envharness.LogEntry{Kind: envharness.LogReplay, Action: a, Transition: do(t, r.d, a)})
	}
	if err := r.d.RewindCounters(ctx); err != nil {
		t.Fatal(err)
	}
	r.ev.Log = append(r.ev.Log, envharness.LogEntry{Kind: envharness.LogRewind})
	r.play(t, slices.Repeat([]envharness.Action{raw("nonsense", "")}, 20)...)
	r.play(t, plan(t, r.d)...)
	if v := r.verdict(t); v.Status != envharness.Pass {
		t.Errorf("verdict %+v", v)
	}
}

func TestVerifierContext(t *testing.T) {
	if _, err := World(nil).Verifier.Verify(ctx, envharness.Evidence{Task: "nonsense"}); !errors.Is(err, envharness.ErrNoTask) {
		t.Errorf("error %v", err)
	}
	v, err := World(nil).Verifier.Verify(ctx, envharness.Evidence{Log: []envharness.LogEntry{{Kind: envharness.LogReset}}})
	if err != nil || v.Status != envharness.Fail {
		t.Errorf("no task and a reset only: %+v, %v", v, err)
	}
}

// Nothing, submit at once and the first candidate for ever fail on every task.
func TestNullPolicies(t *testing.T) {
	for n, task := range someTasks(t) {
		r := record(t, task.ID)
		r.ev.End = state(t, r.d)
		if v := r.verdict(t); v.Status != envharness.Fail || v.Score != 0 {
			t.Fatalf("%s: an empty log gives %+v", task.ID, v)
		}
		d := newDesk()
		for _, a := range r.ev.Log[0].Transition.Observation.Actions {
			if a.Name == "submit" {
				reset(t, d, task.ID)
				if tr := do(t, d, a); tr.Reward != 0 {
					t.Fatalf("%s: submit %s at once passes", task.ID, a.Args)
				}
			}
		}
		if n%5 > 0 {
			continue
		}
		first := r.ev.Log[0].Transition.Observation.Actions[0]
		r.play(t, slices.Repeat([]envharness.Action{first}, MaxTurns)...)
		if v := r.verdict(t); v.Status != envharness.Fail {
			t.Fatalf("%s: repeating %s %s gives %+v", task.ID, first.Name, first.Args, v)
		}
	}
}

// Whatever happened before, a plan solves the task from there or is refused for a stated reason, and ErrNoPlan only
// after a write.
func TestOracleRepairs(t *testing.T) {
	tasks := allTasks(t)
	solved, unsolvable, other := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		d := newDesk()
		o := reset(t, d, rapid.SampledFrom(tasks).Draw(rt, "task").ID)
		m := d.episode().task
		do(t, d, m.gold[0])
		for range rapid.IntRange(0, 10).Draw(rt, "calls") {
			a := rapid.SampledFrom(o.Actions).Draw(rt, "call")
			if a.Name == "submit" {
				continue
			}
			o = do(t, d, a).Observation
		}
		p, err := d.Plan(ctx)
		switch {
		case errors.Is(err, envharness.ErrNoPlan):
			unsolvable++
			if len(d.episode().session.Written) == 0 {
				rt.Fatalf("no plan although nothing was written: %v", err)
			}
		case err != nil:
			other++
		default:
			solved++
			reward := 0.0
			for _, a := range p {
				reward += do(t, d, a).Reward
			}
			if reward != 1 {
				rt.Fatalf("the plan does not pass: %v", p)
			}
		}
	})
	t.Logf("solved %d, unsolvable %d, no plan found %d", solved, unsolvable, other)
	if solved == 0 {
		t.Error("nothing was solved")
	}
}

func TestOracleRepairTable(t *testing.T) {
	tests := []struct {
		name, id string
		wrong    func(e *episode) envharness.Action
		noPlan   bool
		reason   string
	}{
		{"wrong address", "T2-0000", func(e *episode) envharness.Action {
			return call("set_address", "1 Wrong Street", goldOrder(e))
		}, false, "the right one replaces it"},
		{"wrong exchange", "T3-0000", func(e *episode) envharness.Action {
			o := e.world.order(goldOrder(e))
			family := e.world.product(o.Lines[1].SKU).Family
			i := slices.IndexFunc(e.world.Products, func(p *product) bool {
				return p.Family == family && p.Stock > 0 && o.line(p.SKU) < 0 && p.SKU != "HEA-190"
			})
			return call("exchange_item", e.world.Products[i].SKU, o.ID, o.Lines[1].SKU)
		}, false, "exchanging further telescopes"},
		{"part of the amount", "T4-0000", func(e *episode) envharness.Action {
			return call("refund", "1", goldOrder(e))
		}, false, "the rest is refunded, 4158"},
		{"too much", "T4-0000", func(e *episode) envharness.Action {
			return call("refund", "4160", goldOrder(e))
		}, true, "money does not come back"},
		{"wrong cancellation", "T2-0000", func(e *episode) envharness.Action {
			return call("cancel_order", goldOrder(e), cancelReasons[0])
		}, true, "a cancelled order stays cancelled"},
		{"transfer", "T1-0000", func(e *episode) envharness.Action {
			return call("transfer", e.session.Verified[0], reasonStock)
		}, true, "a transfer stays"},
	}
	for _, tt := range tests {
		d := newDesk()
		reset(t, d, tt.id)
		do(t, d, d.episode().task.gold[0])
		if tr := do(t, d, tt.wrong(d.episode())); tr.Error != nil {
			t.Fatalf("%s: %+v", tt.name, tr.Error)
		}
		p, err := d.Plan(ctx)
		if errors.Is(err, envharness.ErrNoPlan) != tt.noPlan || !tt.noPlan && err != nil {
			t.Errorf("%s (%s): error %v", tt.name, tt.reason, err)
		}
		reward := 0.0
		for _, a := range p {
			reward += do(t, d, a).Reward
		}
		if !tt.noPlan && reward != 1 {
			t.Errorf("%s (%s): the plan %v does not pass", tt.name, tt.reason, p)
		}
	}
	d := newDesk()
	reset(t, d, "T1-0000")
	for range MaxTurns - 2 {
		do(t, d, raw("nonsense", ""))
	}
	if _, err := d.Plan(ctx); err == nil || errors.Is(err, envharness.ErrNoPlan) {
		t.Errorf("with two turns left: error %v, want one that proves nothing", err)
	}
}

// goldOrder is the order that the task is about.
func goldOrder(e *episode) string {
	for _, a := range e.task.gold {
		if a.Name == "get_order" {
			var in inputs
			full.tool(a.Name).parse(a.Args, &in)
			return string(in[0].s)
		}
	}
	return ""
}
