package tooldesk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

var ctx = context.Background()

var splits = []string{"train", "validation", "test", "ood"}

// A desk is an environment whose episode can be looked at.
type desk struct {
	*sim.Env
	begun sim.Episode
}

// deskOf makes a desk whose tasks come from the catalogue.
func deskOf(c *catalogue) *desk {
	d := &desk{}
	s := c.simulation()
	start := s.Start
	s.Start = func(id string) (sim.Episode, error) {
		e, err := start(id)
		if err == nil {
			d.begun = e
		}
		return e, err
	}
	d.Env = s.New()
	return d
}

// kept saves the tests from making their tasks again and again.
var kept = newCatalogue(&full, true)

func newDesk() *desk { return deskOf(kept) }

// aloneDesk shares nothing with other desks.
func aloneDesk() *desk { return deskOf(newCatalogue(&full, false)) }

// episode is the one that began last.
func (d *desk) episode() *episode {
	if n, ok := d.begun.(narrated); ok {
		return n.episode
	}
	return d.begun.(*episode)
}

func verify(ev envharness.Evidence) (envharness.Verdict, error) {
	return World(nil).Verifier.Verify(ctx, ev)
}

func drafts() *sync.Pool { return &newCatalogue(&full, false).drafts }

func made(id string) (*task, error) { return kept.task(id) }

func begin(t *task) *episode { return newEpisode(t, drafts()) }

func stateOf(e *episode) string { return string(e.AppendState(nil)) }

// copyOf makes a copy of an episode that stays as it is.
func copyOf(e *episode) *episode {
	c := begin(e.task)
	c.world, c.memory, c.answer, c.way = e.world.share(), e.memory.share(), e.answer, -1
	c.session = session{slices.Clone(e.session.Verified), slices.Clone(e.session.Read), slices.Clone(e.session.Written)}
	return c
}

// marshal writes v as JSON without the escapes for HTML.
func marshal(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func allTasks(t testing.TB) []envharness.Task {
	t.Helper()
	var all []envharness.Task
	for _, s := range splits {
		tasks, err := full.list(s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tasks...)
	}
	return all
}

// someTasks are all tasks, or one in nine of them, of every family, in a short run.
func someTasks(t testing.TB) []envharness.Task {
	all := allTasks(t)
	if !testing.Short() {
		return all
	}
	return slices.DeleteFunc(all, func(task envharness.Task) bool {
		number, err := strconv.Atoi(task.ID[3:])
		return err != nil || number%9 > 0
	})
}

func reset(t testing.TB, d *desk, id string) envharness.Observation {
	t.Helper()
	o, err := d.Reset(ctx, envharness.ResetOptions{Task: id})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func do(t testing.TB, d *desk, a envharness.Action) envharness.Transition {
	t.Helper()
	tr, err := d.Step(ctx, a)
	if err != nil {
		t.Fatalf("%s %s: %v", a.Name, a.Args, err)
	}
	return tr
}

func plan(t testing.TB, d *desk) []envharness.Action {
	t.Helper()
	p, err := d.Plan(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func state(t testing.TB, d *desk) envharness.State {
	t.Helper()
	s, err := d.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func raw(name, args string) envharness.Action {
	a := envharness.Action{Name: name}
	if args != "" {
		a.Args = json.RawMessage(args)
	}
	return a
}

// A recorder plays episodes and keeps the evidence, as a harness would.
type recorder struct {
	d  *desk
	ev envharness.Evidence
}

func record(t testing.TB, id string) *recorder { return recordOn(t, newDesk(), id) }

func recordOn(t testing.TB, d *desk, id string) *recorder {
	r := &recorder{d: d}
	o := reset(t, r.d, id)
	r.ev = envharness.Evidence{Task: id, Log: []envharness.LogEntry{
		{Kind: envharness.LogReset, Transition: envharness.Transition{Observation: o}},
	}}
	return r
}

func (r *recorder) play(t testing.TB, actions ...envharness.Action) envharness.Transition {
	t.Helper()
	var tr envharness.Transition
	for _, a := range actions {
		tr = do(t, r.d, a)
		r.ev.Log = append(r.ev.Log, envharness.LogEntry{Kind: envharness.LogStep, Action: a, Transition: tr})
	}
	r.ev.End = state(t, r.d)
	return tr
}

func (r *recorder) verdict(t testing.TB) envharness.Verdict {
	t.Helper()
	v, err := verify(r.ev)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The oracle passes on every task of every split, in 4 to 8 calls of which each is on offer, and the reward is the
// verdict.
func TestOracleSolvesEveryTask(t *testing.T) {
	lengths := map[string][2]int{}
	most, sum, n := 0, 0, 0
	for _, task := range someTasks(t) {
		r := record(t, task.ID)
		shown, err := r.d.Observe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		p := plan(t, r.d)
		l, ok := lengths[task.Family]
		if !ok {
			l = [2]int{len(p), len(p)}
		}
		lengths[task.Family] = [2]int{min(l[0], len(p)), max(l[1], len(p))}
		for i, a := range p {
			most, sum, n = max(most, len(shown.Actions)), sum+len(shown.Actions), n+1
			if !slices.ContainsFunc(shown.Actions, func(c envharness.Action) bool { return sameCall(c, a) }) {
				t.Fatalf("%s: call %d, %s %s, is no candidate", task.ID, i, a.Name, a.Args)
			}
			tr := do(t, r.d, a)
			last := i == len(p)-1
			if tr.Error != nil || tr.Terminated != last || tr.Truncated || (tr.Reward == 1) != last {
				t.Fatalf("%s: call %d, %s %s: %+v", task.ID, i, a.Name, a.Args, tr)
			}
			shown = tr.Observation
			r.ev.Log = append(r.ev.Log, envharness.LogEntry{Kind: envharness.LogStep, Action: a, Transition: tr})
		}
		r.ev.End = state(t, r.d)
		want := envharness.Verdict{Status: envharness.Pass, Score: 1, Parts: map[string]float64{"db": 1, "comm": 1}}
		if diff := cmp.Diff(want, r.verdict(t)); diff != "" {
			t.Fatalf("%s: verdict (-want +got):\n%s", task.ID, diff)
		}
	}
	for f, l := range lengths {
		if l[0] < 4 || l[1] > 8 {
			t.Errorf("%s: plans of %d to %d calls, want 4 to 8", f, l[0], l[1])
		}
	}
	if most > 60 {
		t.Errorf("up to %d candidates, want at most 60", most)
	}
	t.Logf("plan lengths %v; candidates: mean %.1f, most %d", lengths, float64(sum)/float64(n), most)
}

// The gold actions of every task are carried out without a refusal, change the tables, and name what the answer needs.
func TestGold(t *testing.T) {
	for _, task := range someTasks(t) {
		m, err := made(task.ID)
		if err != nil {
			t.Fatal(err)
		}
		gold := m.end
		if m.start.equal(gold) {
			t.Errorf("%s: the gold actions change nothing", task.ID)
		}
		if len(m.required) == 0 || m.answer == "" {
			t.Errorf("%s: no answer is required", task.ID)
		}
	}
}

// What T7 asks for is refused as a conflict, so handing it over is the only way.
func TestForbiddenRequestsAreRefused(t *testing.T) {
	seen := map[string]int{}
	for _, task := range someTasks(t) {
		if task.Family != "T7" {
			continue
		}
		id := task.ID
		n, err := strconv.Atoi(id[3:])
		if err != nil {
			t.Fatal(err)
		}
		var q request
		full.generate(id, &familiar, envharness.RandStream(uint64(n), "env", 6), func(g *generator) {
			k := kind(g.r.IntN(numKinds)) // the draws of forbiddenTask
			g.allow(k, g.orders[0])
			q = g.request(k, g.orders[0])
		})
		m, err := made(id)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(m.text, q.text) {
			t.Fatalf("%s: %q does not end with %q", id, m.text, q.text)
		}
		e := begin(m)
		for _, a := range m.gold {
			if !full.tool(a.Name).write {
				e.do(a)
			}
		}
		refusal := e.do(q.write)
		if refusal == nil || refusal.Class != envharness.ClassPrecondition {
			t.Errorf("%s: %s %s gives %v, want a conflict", id, q.write.Name, q.write.Args, refusal)
		}
		seen[q.write.Name]++
	}
	if len(seen) != int(numKinds) {
		t.Errorf("requests %v, want all %d kinds", seen, numKinds)
	}
}

func TestSplits(t *testing.T) {
	sizes, seen := map[string]int{}, map[string]bool{}
	for _, task := range allTasks(t) {
		if seen[task.ID] {
			t.Errorf("%s is in two splits", task.ID)
		}
		seen[task.ID] = true
		sizes[task.Split]++
		if task.Seed != nil || task.Family != task.ID[:2] || (task.Family == "T6") != (task.Split == "ood") {
			t.Errorf("task %+v", task)
		}
	}
	if diff := cmp.Diff(map[string]int{"train": 1166, "validation": 233, "test": 233, "ood": 80}, sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	tasks, err := newDesk().Tasks(ctx, "train")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, task := range tasks[:8] {
		ids = append(ids, task.ID)
	}
	want := []string{"T1-0000", "T2-0000", "T3-0000", "T4-0000", "T5-0000", "T7-0000", "T1-0001", "T2-0001"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("a prefix has every family (-want +got):\n%s", diff)
	}
	if _, err := newDesk().Tasks(ctx, "dev"); err == nil {
		t.Error("split dev is not refused")
	}
}

// No name of the out-of-distribution split occurs in the others, in messages or in tables, and the other way round.
func TestHeldOutNames(t *testing.T) {
	names := func(p pool) map[string]bool {
		set := map[string]bool{}
		for _, list := range [][]string{p.first, p.last, p.street, p.town, p.brand, p.family} {
			for _, w := range list {
				set[strings.ToLower(w)] = true
			}
		}
		for _, f := range p.family {
			set[strings.ToLower(f[:3])] = true // the prefix of its skus
		}
		return set
	}
	in, out := names(familiar), names(unfamiliar)
	words := regexp.MustCompile(`[A-Za-z]+`)
	found := map[string]bool{}
	for _, task := range someTasks(t) {
		d := newDesk()
		foreign := out
		if task.Split == "ood" {
			foreign = in
		}
		var text strings.Builder
		text.WriteString(reset(t, d, task.ID).Text)
		m := d.episode().task
		for _, c := range m.start.Customers {
			text.WriteString(" " + c.Name + " " + c.Email + " " + c.Address)
		}
		for _, p := range m.start.Products {
			text.WriteString(" " + p.SKU + " " + p.Name + " " + p.Family)
		}
		for _, o := range m.start.Orders {
			text.WriteString(" " + o.Address)
		}
		for _, k := range m.start.Tickets {
			text.WriteString(" " + k.Body)
		}
		for _, w := range words.FindAllString(text.String(), -1) {
			w = strings.ToLower(w)
			if foreign[w] {
				t.Fatalf("%s has the word %q of the other pool", task.ID, w)
			}
			found[w] = true
		}
	}
	for w := range out {
		if !found[w] && !testing.Short() {
			t.Errorf("%q is never used", w)
		}
	}
}

// No single word marks a kind of request: one that is in all its wordings is in those of another kind too.
func TestNoMagicWord(t *testing.T) {
	w := &sentences
	kinds := map[string][]string{
		"cancel":   slices.Concat(w.cancel, w.cancelUnnamed),
		"address":  slices.Concat(w.address, w.addressUnnamed),
		"exchange": w.exchange,
		"refund":   slices.Concat(w.refundItem, w.refundRest, w.refunds),
		"ticket":   slices.Concat(w.ticket, w.ticketUnnamed),
	}
	blank := regexp.MustCompile(`\{[a-z]+\}`)
	words := func(phrase string) []string {
		return strings.FieldsFunc(strings.ToLower(blank.ReplaceAllString(phrase, "")), func(r rune) bool { return r < 'a' || r > 'z' })
	}
	for k, phrases := range kinds {
		var elsewhere []string
		for other, list := range kinds {
			if other != k {
				elsewhere = append(elsewhere, words(strings.Join(list, " "))...)
			}
		}
		for _, w := range words(phrases[0]) {
			everywhere := !slices.ContainsFunc(phrases, func(p string) bool { return !slices.Contains(words(p), w) })
			if everywhere && !slices.Contains(elsewhere, w) {
				t.Errorf("%q marks the requests of kind %s", w, k)
			}
		}
	}
}

func TestTaskIDs(t *testing.T) {
	tests := []struct{ id, reason string }{
		{"T1-0280", "behind the test split"},
		{"T7-0166", "behind the train split of T7"},
		{"T7-0233", "behind the validation split of T7"},
		{"T7-0273", "behind the test split of T7"},
		{"small-T1-0000", "of the other preset"},
		{"T6-0080", "behind the ood split"},
		{"T8-0000", "no such family"},
		{"T1-000", "too short"},
		{"T1-00000", "too long"},
		{"T1_0000", "no hyphen"},
		{"T1-+001", "a sign"},
		{"T1--001", "negative"},
		{"t1-0000", "lower case"},
		{strings.Repeat("T", 10_000), "huge"},
		{"\xff\xfe-0000", "not UTF-8"},
	}
	for _, tt := range tests {
		d := newDesk()
		if _, err := d.Reset(ctx, envharness.ResetOptions{Task: tt.id}); !errors.Is(err, envharness.ErrNoTask) {
			t.Errorf("%.20q (%s): error %v, want ErrNoTask", tt.id, tt.reason, err)
		}
		if _, err := verify(envharness.Evidence{Task: tt.id}); !errors.Is(err, envharness.ErrNoTask) {
			t.Errorf("verify %.20q (%s): error %v, want ErrNoTask", tt.id, tt.reason, err)
		}
	}
}

// trace plays the same random calls and returns everything that comes back, as bytes.
func trace(t testing.TB, d *desk, id string, seed *uint64) string {
	r := rand.New(rand.NewPCG(7, 7))
	o, err := d.Reset(ctx, envharness.ResetOptions{Task: id, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	out.WriteString(marshal(o))
	for {
		tr := do(t, d, o.Actions[r.IntN(len(o.Actions)-1)]) // hardly ever submits
		o = tr.Observation
		out.WriteString(marshal(tr) + string(state(t, d)))
		if tr.Ended() {
			return out.String()
		}
	}
}

func TestDeterminism(t *testing.T) {
	d := newDesk()
	for _, id := range []string{"T1-0003", "T5-0010", "T6-0042", "T7-0200"} {
		first := trace(t, d, id, nil)
		if again := trace(t, d, id, new(uint64(99))); again != first {
			t.Errorf("%s: another seed on the same desk gives another episode", id)
		}
		if other := trace(t, aloneDesk(), id, nil); other != first {
			t.Errorf("%s: another desk gives another episode", id)
		}
	}
}

// What one desk does shows in no other desk, and the arguments of one candidate do not reach into the next.
func TestNothingIsShared(t *testing.T) {
	c := newCatalogue(&full, true)
	a, b := deskOf(c), deskOf(c)
	reset(t, a, "T4-0000")
	o := reset(t, b, "T4-0000")
	before, want, actions := string(state(t, b)), marshal(o), marshal(o.Actions)
	for _, c := range plan(t, a) {
		do(t, a, c)
	}
	if string(state(t, b)) != before || marshal(o) != want {
		t.Fatal("a write on one desk changed another")
	}
	for i := range o.Actions {
		_ = append(o.Actions[i].Args, "overwritten"...)
	}
	if marshal(o.Actions) != actions {
		t.Error("the arguments of one candidate reach into the next")
	}
	for _, c := range plan(t, b) {
		args := slices.Clone(c.Args)
		do(t, b, envharness.Action{Name: c.Name, Args: args})
		clear(args) // the desk must not keep what it was given
	}
	if got := string(state(t, b)); got != string(state(t, a)) {
		t.Errorf("end states differ:\n%s\n%s", got, state(t, a))
	}
}

func TestLifecycle(t *testing.T) {
	d := newDesk()
	any := raw("get_order", `{"order_id":"O-1"}`)
	calls := map[string]func() error{
		"Step":           func() error { _, err := d.Step(ctx, any); return err },
		"Observe":        func() error { _, err := d.Observe(ctx); return err },
		"State":          func() error { _, err := d.State(ctx); return err },
		"Plan":           func() error { _, err := d.Plan(ctx); return err },
		"RewindCounters": func() error { return d.RewindCounters(ctx) },
	}
	check := func(when string, want error, but ...string) {
		t.Helper()
		for name, f := range calls {
			if err := f(); !slices.Contains(but, name) && !errors.Is(err, want) {
				t.Errorf("%s %s: error %v, want %v", name, when, err, want)
			}
		}
	}
	check("before the first reset", envharness.ErrNeedReset)

	reset(t, d, "")
	if id := d.episode().task.id; id != "T1-0000" {
		t.Errorf("default task %s", id)
	}
	if _, err := d.Reset(ctx, envharness.ResetOptions{Task: "nonsense"}); err == nil {
		t.Error("an unknown task is not refused")
	}
	for _, options := range []string{"", "null", "{}"} {
		o := envharness.ResetOptions{}
		if options != "" {
			o.Options = json.RawMessage(options)
		}
		if _, err := d.Reset(ctx, o); err != nil {
			t.Errorf("options %q: %v", options, err)
		}
	}
	for _, options := range []string{`{"hard":true}`, `[]`, `{`} {
		if _, err := d.Reset(ctx, envharness.ResetOptions{Options: json.RawMessage(options)}); err == nil {
			t.Errorf("options %s are not refused", options)
		}
	}
	do(t, d, any) // after failed resets the episode goes on
	stop, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := d.Step(stop, any); !errors.Is(err, context.Canceled) || !strings.HasSuffix(string(state(t, d)), `,"turn":1}`) {
		t.Errorf("cancelled step: error %v, state %s", err, state(t, d))
	}

	for range 2 { // two episodes in a row, and a reset in mid-episode
		reset(t, d, "T3-0001")
		do(t, d, any)
		reset(t, d, "T3-0001")
		for _, a := range plan(t, d) {
			do(t, d, a)
		}
		before := string(state(t, d))
		check("after the end", envharness.ErrEpisodeOver, "Observe", "State")
		if string(state(t, d)) != before {
			t.Error("the state changed after the end")
		}
	}

	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	check("after Close", envharness.ErrClosed)
	if _, err := d.Reset(ctx, envharness.ResetOptions{}); !errors.Is(err, envharness.ErrClosed) {
		t.Errorf("Reset after Close: %v", err)
	}
	if _, err := d.Tasks(ctx, "train"); !errors.Is(err, envharness.ErrClosed) {
		t.Errorf("Tasks after Close: %v", err)
	}
	if err := newDesk().Close(); err != nil {
		t.Errorf("Close before the first reset: %v", err)
	}
}

// Whoever starts after a setup has to learn the request and what the setup found out.
func TestRewindShowsTheStart(t *testing.T) {
	d := newDesk()
	first, err := d.Reset(ctx, envharness.ResetOptions{Task: "T1-0000"})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := d.Plan(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString(first.Text + "\nDone so far:")
	for _, a := range plan[:2] {
		tr := do(t, d, a)
		want.WriteString("\n" + a.Text() + " -> " + tr.Observation.Text)
	}
	if err := d.RewindCounters(ctx); err != nil {
		t.Fatal(err)
	}
	got, err := d.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), got.Text); diff != "" {
		t.Errorf("observation after the setup (-want +got):\n%s", diff)
	}
	reset(t, d, "T1-0000")
	if err := d.RewindCounters(ctx); err != nil {
		t.Fatal(err)
	}
	if again, err := d.Observe(ctx); err != nil || again.Text != first.Text {
		t.Errorf("rewound without a call: %q, %v; want the first observation", again.Text, err)
	}
}

func TestTurnLimit(t *testing.T) {
	d := newDesk()
	reset(t, d, "T1-0000")
	do(t, d, raw("nonsense", ""))
	if err := d.RewindCounters(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range MaxTurns {
		tr := do(t, d, raw("nonsense", ""))
		if last := i == MaxTurns-1; tr.Truncated != last || tr.Terminated || (tr.Reason == "max_turns") != last {
			t.Fatalf("turn %d: %+v", i, tr)
		}
	}
	if _, err := d.Step(ctx, raw("nonsense", "")); !errors.Is(err, envharness.ErrEpisodeOver) {
		t.Errorf("after the limit: %v", err)
	}
	reset(t, d, "T1-0000")
	for range MaxTurns - 1 {
		do(t, d, raw("nonsense", ""))
	}
	if tr := do(t, d, raw("submit", `{"answer":"x"}`)); !tr.Terminated || tr.Truncated {
		t.Errorf("a submit on the last turn: %+v", tr)
	}
}

// sample is an episode with two customers looked up and one left out, and orders of every status.
func sample() *episode {
	w := &world{
		Customers: []*customer{{ID: "C-1", Email: "a@example.com"}, {ID: "C-2", Email: "b@example.com"}},
		Products: []*product{
			{"AAA-1", "one", "a", 1000, 0}, {"AAA-2", "two", "a", 1500, 2}, {"AAA-3", "three", "a", 100, 1}, {"BBB-1", "four", "b", 900, 3},
		},
		Orders: []*order{
			{ID: "O-1", Customer: "C-1", Status: pending, Lines: []line{{"AAA-1", "one", 1000}}, Paid: 1000, Address: "x"},
			{
				ID: "O-2", Customer: "C-1", Status: delivered, Lines: []line{{"AAA-2", "two", 1500}, {"BBB-1", "four", 900}},
				Paid: 2400, Refunded: 2000, Delivered: 70,
			},
			{ID: "O-3", Customer: "C-1", Status: delivered, Lines: []line{{"AAA-2", "two", 1500}}, Paid: 1500, Delivered: 69},
			{ID: "O-4", Customer: "C-1", Status: cancelled, Lines: []line{{"AAA-2", "two", 1500}}, Paid: 1500, Refunded: 1500},
			{ID: "O-5", Customer: "C-2", Status: pending, Lines: []line{{"AAA-2", "two", 1500}}, Paid: 1500},
		},
		Tickets: []*ticket{
			{ID: "K-1", Customer: "C-1", Order: "O-1", Status: open},
			{ID: "K-2", Customer: "C-1", Order: "O-1", Status: resolved, Note: "n"},
			{ID: "K-3", Customer: "C-2", Order: "O-5", Status: open},
		},
		Transfers: []transfer{},
		Today:     100,
	}
	e := begin(&task{preset: &full, start: w, end: w, written: write(w), shelf: newShelf(&full, w), bodies: make([][]mention, 3)})
	e.memory.stale = ofAll
	e.do(call("find_customer", "a@example.com"))
	return e
}

func TestReplies(t *testing.T) {
	const ok = envharness.ErrorClass("")
	tests := []struct {
		tool, args string
		class      envharness.ErrorClass
		want       string // the reply, or the message of the refusal
		reason     string
	}{
		{"", "", envharness.ClassUnknownTool, `no tool named ""`, "no name"},
		{"Submit", `{"answer":"x"}`, envharness.ClassUnknownTool, `no tool named "Submit"`, "names are case-sensitive"},
		{"reset", "{}", envharness.ClassUnknownTool, `no tool named "reset"`, "the life cycle is no tool"},

		{"get_order", "", envharness.ClassBadArgs, "missing argument order_id", "nil is the empty object"},
		{"get_order", "null", envharness.ClassBadArgs, "arguments must be one JSON object", "null is no object"},
		{"get_order", "[1]", envharness.ClassBadArgs, "arguments must be one JSON object", "nor is a list"},
		{"get_order", `{"order_id":"O-1"`, envharness.ClassBadArgs, "arguments must be one JSON object", "cut off"},
		{"get_order", `{"order_id":"O-1"} {}`, envharness.ClassBadArgs, "arguments must be one JSON object", "two values"},
		{"get_order", `{"order_id":1}`, envharness.ClassBadArgs, "argument order_id must be a string", "type"},
		{"get_order", `{"order_id":""}`, envharness.ClassBadArgs, "argument order_id must not be empty", "minLength"},
		{
			"get_order", `{"order_id":"` + strings.Repeat("ä", 65) + `"}`, envharness.ClassBadArgs,
			"argument order_id must not be longer than 64 characters", "maxLength counts characters",
		},
		{
			"get_order", `{"order_id":"` + strings.Repeat("ä", 64) + `"}`, envharness.ClassNotFound,
			`no order "` + strings.Repeat("ä", 64) + `"`, "characters, not bytes",
		},
		{"get_order", `{"order_id":"O-1","b":1,"a":1}`, envharness.ClassBadArgs, `unknown argument "a"`, "additionalProperties, the first by name"},
		{"get_order", `{"x":"` + strings.Repeat("x", 9000) + `"}`, envharness.ClassBadArgs, "arguments of 9008 bytes are longer than 8192", "size"},
		{"list_orders", `{"customer_id":"C-1","page":1.5}`, envharness.ClassBadArgs, "argument page must be an integer", "a fraction"},
		{"list_orders", `{"customer_id":"C-1","page":"1"}`, envharness.ClassBadArgs, "argument page must be an integer", "a string"},
		{"list_orders", `{"customer_id":"C-1","page":0}`, envharness.ClassBadArgs, "argument page must be from 1 to 1000", "minimum"},
		{"refund", `{"order_id":"O-2","amount_cents":-5}`, envharness.ClassBadArgs, "argument amount_cents must be from 1 to 100000000", "minimum"},
		{"refund", `{"order_id":"O-2","amount_cents":1e300}`, envharness.ClassBadArgs, "argument amount_cents must be from 1 to 100000000", "maximum"},
		{"refund", `{"order_id":"O-2","amount_cents":1e999}`, envharness.ClassBadArgs, "arguments must be one JSON object", "no float64"},
		{
			"cancel_order", `{"order_id":"O-1","reason":"because"}`, envharness.ClassBadArgs,
			"argument reason must be one of: no longer needed, ordered by mistake", "enum",
		},

		{"find_customer", `{"email":"x@example.com"}`, envharness.ClassNotFound, `no customer with e-mail "x@example.com"`, "unknown"},
		{"list_orders", `{"customer_id":"C-9"}`, envharness.ClassNotFound, `no customer "C-9"`, "unknown"},
		{"list_tickets", `{"customer_id":"C-9"}`, envharness.ClassNotFound, `no customer "C-9"`, "unknown"},
		{"get_order", `{"order_id":"O-9"}`, envharness.ClassNotFound, `no order "O-9"`, "unknown"},
		{"get_product", `{"sku":"AAA-9"}`, envharness.ClassNotFound, `no product with sku "AAA-9"`, "unknown"},
		{"get_ticket", `{"ticket_id":"K-9"}`, envharness.ClassNotFound, `no ticket "K-9"`, "unknown"},
		{"cancel_order", `{"order_id":"O-9","reason":"no longer needed"}`, envharness.ClassNotFound, `no order "O-9"`, "unknown"},
		{"exchange_item", `{"order_id":"O-2","sku":"AAA-2","new_sku":"X"}`, envharness.ClassNotFound, `no product with sku "X"`, "unknown"},
		{"resolve_ticket", `{"ticket_id":"K-9","note":"n"}`, envharness.ClassNotFound, `no ticket "K-9"`, "unknown"},
		{"transfer", `{"customer_id":"C-9","reason":"item is out of stock"}`, envharness.ClassNotFound, `no customer "C-9"`, "unknown"},

		{
			"cancel_order", `{"order_id":"O-5","reason":"no longer needed"}`, envharness.ClassPermission,
			"customer C-2 has not been looked up with find_customer", "another customer's order",
		},
		{
			"set_address", `{"order_id":"O-5","address":"y"}`, envharness.ClassPermission,
			"customer C-2 has not been looked up with find_customer", "another customer's order",
		},
		{
			"refund", `{"order_id":"O-5","amount_cents":1}`, envharness.ClassPermission,
			"customer C-2 has not been looked up with find_customer", "permission comes before the status",
		},
		{
			"resolve_ticket", `{"ticket_id":"K-3","note":"n"}`, envharness.ClassPermission,
			"customer C-2 has not been looked up with find_customer", "another customer's ticket",
		},
		{
			"transfer", `{"customer_id":"C-2","reason":"item is out of stock"}`, envharness.ClassPermission,
			"customer C-2 has not been looked up with find_customer", "another customer",
		},

		{
			"cancel_order", `{"order_id":"O-2","reason":"no longer needed"}`, envharness.ClassPrecondition,
			"order O-2 is delivered, not pending", "status",
		},
		{"set_address", `{"order_id":"O-4","address":"y"}`, envharness.ClassPrecondition, "order O-4 is cancelled, not pending", "status"},
		{"exchange_item", `{"order_id":"O-1","sku":"AAA-1","new_sku":"AAA-2"}`, envharness.ClassPrecondition, "order O-1 is pending, not delivered", "status"},
		{"exchange_item", `{"order_id":"O-3","sku":"AAA-1","new_sku":"AAA-2"}`, envharness.ClassPrecondition, `order O-3 has no item "AAA-1"`, "no such item"},
		{"exchange_item", `{"order_id":"O-3","sku":"AAA-2","new_sku":"AAA-2"}`, envharness.ClassPrecondition, "order O-3 has item AAA-2 already", "itself"},
		{"exchange_item", `{"order_id":"O-3","sku":"AAA-2","new_sku":"BBB-1"}`, envharness.ClassPrecondition, "BBB-1 is not of the family a", "family"},
		{"exchange_item", `{"order_id":"O-3","sku":"AAA-2","new_sku":"AAA-1"}`, envharness.ClassPrecondition, "AAA-1 is out of stock", "stock"},
		{
			"exchange_item", `{"order_id":"O-2","sku":"AAA-2","new_sku":"AAA-3"}`, envharness.ClassPrecondition,
			"order O-2 would be refunded 2000 cents of 1000 paid", "2400 + 100 - 1500 = 1000",
		},
		{"refund", `{"order_id":"O-1","amount_cents":1}`, envharness.ClassPrecondition, "order O-1 is pending, not delivered", "status"},
		{"refund", `{"order_id":"O-3","amount_cents":1}`, envharness.ClassPrecondition, "order O-3 was delivered more than 30 days ago", "100 - 69 = 31"},
		{"refund", `{"order_id":"O-2","amount_cents":401}`, envharness.ClassPrecondition, "order O-2 has only 400 cents left to refund", "2400 - 2000"},
		{"resolve_ticket", `{"ticket_id":"K-2","note":"n"}`, envharness.ClassPrecondition, "ticket K-2 is resolved", "status"},

		{"find_customer", `{"email":"B@Example.com"}`, ok, `{"customer_id":"C-2","name":"","email":"b@example.com","address":""}`, "letter case aside"},
		{"list_orders", `{"customer_id":"C-1","page":2.0}`, ok, `{"customer_id":"C-1","page":2,"orders":[],"has_more":false}`, "behind the last page"},
		{"list_orders", `{"customer_id":"C-2"}`, ok, `{"customer_id":"C-2","page":1,"orders":[{"order_id":"O-5","status":"pending","items":"two"}],"has_more":false}`, "a read needs no look-up"},
		{"list_tickets", `{"customer_id":"C-2"}`, ok, `{"customer_id":"C-2","page":1,"tickets":[{"ticket_id":"K-3","status":"open","opened_day":0}],"has_more":false}`, "a read"},
		{"get_order", `{"order_id":"O-2"}`, ok, `{"order_id":"O-2","customer_id":"C-1","status":"delivered","paid_cents":2400,"refunded_cents":2000,"address":"",` +
			`"lines":[{"sku":"AAA-2","name":"two","price_cents":1500},{"sku":"BBB-1","name":"four","price_cents":900}],"refundable_cents":400,"delivered_day":70,"refund_window":"open"}`, "100 - 70 = 30 days"},
		{
			"get_order", `{"order_id":"O-3"}`, ok,
			`{"order_id":"O-3","customer_id":"C-1","status":"delivered","paid_cents":1500,"refunded_cents":0,"address":"",` +
				`"lines":[{"sku":"AAA-2","name":"two","price_cents":1500}],"refundable_cents":1500,"delivered_day":69,"refund_window":"closed"}`,
			"100 - 69 = 31 days",
		},
		{"get_product", `{"sku":"AAA-1"}`, ok, `{"sku":"AAA-1","name":"one","family":"a","price_cents":1000,"stock":0,"availability":"out of stock"}`, "a read"},
		{"get_ticket", `{"ticket_id":"K-2"}`, ok, `{"ticket_id":"K-2","customer_id":"C-1","order_id":"O-1","status":"resolved","opened_day":0,"body":"","note":"n"}`, "a read"},
		{"cancel_order", `{"order_id":"O-1","reason":"ordered by mistake"}`, ok, `{"order_id":"O-1","status":"cancelled","refunded_cents":1000}`, "all is paid back"},
		{"set_address", `{"order_id":"O-1","address":"<b>"}`, ok, `{"order_id":"O-1","address":"<b>"}`, "no HTML escapes"},
		{"exchange_item", `{"order_id":"O-3","sku":"AAA-2","new_sku":"AAA-3"}`, ok, `{"order_id":"O-3","sku":"AAA-2","new_sku":"AAA-3","paid_cents":100}`, "no window for exchanges"},
		{"refund", `{"order_id":"O-2","amount_cents":400}`, ok, `{"order_id":"O-2","amount_cents":400,"refunded_cents":2400}`, "all that is left, on the last day"},
		{"resolve_ticket", `{"ticket_id":"K-1","note":"n"}`, ok, `{"ticket_id":"K-1","status":"resolved"}`, "open"},
		{"transfer", `{"customer_id":"C-1","reason":"item is out of stock"}`, ok, `{"customer_id":"C-1","reason":"item is out of stock"}`, "looked up"},
		{"submit", `{"answer":"x"}`, ok, `{"status":"submitted"}`, "ends"},
	}
	for _, tt := range tests {
		e := sample()
		before := stateOf(e)
		refusal := e.Step(raw(tt.tool, tt.args)).Refusal
		var class envharness.ErrorClass
		if refusal != nil {
			class = refusal.Class
			tt.want = marshal(map[string]any{"error": map[string]string{"class": string(tt.class), "message": tt.want}})
			if refusal.Retryable {
				t.Errorf("%s %.80s: retryable", tt.tool, tt.args)
			}
		}
		if class != tt.class || e.Text() != tt.want {
			t.Errorf("%s %.80s (%s):\n got %s\nwant %s", tt.tool, tt.args, tt.reason, e.Text(), tt.want)
		}
		changed := stateOf(e) != before
		reader := !slices.ContainsFunc(full.tools, func(x tool) bool { return x.name == tt.tool && (x.write || x.submits) })
		if refusal != nil && changed || !reader && refusal == nil && !changed {
			t.Errorf("%s %.80s: state changed: %v", tt.tool, tt.args, changed)
		}
		if reader && !e.world.equal(&sample().world) {
			t.Errorf("%s %.80s: a read changed the tables", tt.tool, tt.args)
		}
	}
}

// Cancelling gives the items back, an exchange moves one piece of stock each way.
func TestStock(t *testing.T) {
	e := sample()
	e.do(call("cancel_order", "O-1", cancelReasons[0]))
	e.do(call("exchange_item", "AAA-3", "O-3", "AAA-2"))
	var stock []int
	for _, p := range e.world.Products {
		stock = append(stock, p.Stock)
	}
	if diff := cmp.Diff([]int{1, 3, 0, 3}, stock); diff != "" {
		t.Errorf("stock (-want +got):\n%s", diff)
	}
}

func TestPages(t *testing.T) {
	tests := []struct {
		n, number, from, to int
		reason              string
	}{
		{0, 1, 0, 0, "nothing"},
		{5, 1, 0, 5, "one full page"},
		{6, 1, 0, 5, "the first of two"},
		{6, 2, 5, 6, "the last of two"},
		{6, 1000, 0, 0, "behind the last"},
		{11, 2, 5, 10, "in the middle"},
	}
	for _, tt := range tests {
		w := &world{Customers: []*customer{{ID: "C-1"}, {ID: "C-2"}}}
		var want []string
		for i := range tt.n {
			id := fmt.Sprintf("O-%02d", i)
			w.Orders = append(w.Orders, &order{ID: id, Customer: "C-2"}, &order{ID: id + "x", Customer: "C-1"})
			if tt.from <= i && i < tt.to {
				want = append(want, id)
			}
		}
		e := begin(&task{preset: &full, start: w, shelf: newShelf(&full, w)})
		for range 2 { // made, and kept
			s := e.ordersSheet(1, tt.number)
			var got []string
			for _, c := range s.list {
				got = append(got, c.value)
			}
			if !slices.Equal(got, want) || (s.next != nil) != (tt.number == 1 && tt.n > 5 || tt.to == 10) {
				t.Errorf("%s: page %d of %d rows is %v, next %v, want %v", tt.reason, tt.number, tt.n, got, s.next, want)
			}
		}
	}
}

func TestMentions(t *testing.T) {
	tests := []struct {
		text, word string
		want       bool
		reason     string
	}{
		{"O-1004", "O-1004", true, "equal"},
		{"order o-1004.", "O-1004", true, "letter case, punctuation"},
		{"O-10045", "O-1004", false, "digits are exact"},
		{"45994599", "4599", false, "digits on either side"},
		{"14599 4599", "4599", true, "the second one counts"},
		{"untransferred", "transferred", false, "part of a word"},
		{"", "x", false, "empty"},
		{"ä4599", "4599", false, "a letter beyond ASCII"},
		{"refunded “4599”—done", "4599", true, "punctuation beyond ASCII is no letter"},
	}
	for _, tt := range tests {
		if got := mentions(tt.text, tt.word); got != tt.want {
			t.Errorf("%s: mentions(%q, %q) = %v", tt.reason, tt.text, tt.word, got)
		}
	}
}

// The log of a harness does not tell no arguments from empty ones, so both must get the same reply.
func TestEmptyArguments(t *testing.T) {
	e := sample()
	e.Step(envharness.Action{Name: "get_order"})
	none := e.Text()
	e.Step(envharness.Action{Name: "get_order", Args: json.RawMessage{}})
	empty := e.Text()
	if none != empty {
		t.Errorf("nil: %s, empty: %s", none, empty)
	}
}

// obeys is a second reading of the published schemas, with the keywords that they use and no other.
func obeys(t *testing.T, schema map[string]any, v any) bool {
	ok := true
	for keyword, want := range schema {
		number, _ := want.(float64)
		switch keyword {
		case "description":
		case "type":
			switch v := v.(type) {
			case string:
				ok = ok && want == "string"
			case float64:
				ok = ok && (want == "number" || want == "integer" && v == math.Trunc(v))
			case map[string]any:
				ok = ok && want == "object"
			default:
				ok = false
			}
		case "enum":
			ok = ok && slices.ContainsFunc(want.([]any), func(e any) bool { return cmp.Equal(e, v) })
		case "minLength", "maxLength":
			if s, is := v.(string); is {
				n := float64(utf8.RuneCountInString(s))
				ok = ok && (keyword == "minLength" && n >= number || keyword == "maxLength" && n <= number)
			}
		case "multipleOf":
			if x, is := v.(float64); is {
				ok = ok && math.Mod(x, number) == 0
			}
		case "minimum", "maximum":
			if x, is := v.(float64); is {
				ok = ok && (keyword == "minimum" && x >= number || keyword == "maximum" && x <= number)
			}
		case "required":
			for _, name := range want.([]any) {
				_, has := v.(map[string]any)[name.(string)]
				ok = ok && has
			}
		case "additionalProperties", "properties":
			properties, _ := schema["properties"].(map[string]any)
			for name, value := range v.(map[string]any) {
				p, known := properties[name].(map[string]any)
				ok = ok && known && obeys(t, p, value)
			}
		default:
			t.Fatalf("keyword %q is unknown here", keyword)
		}
	}
	return ok
}

// Our validation accepts what the published schema accepts, and nothing else.
func TestSchemaEqualsValidation(t *testing.T) {
	names := []any{}
	for i := range full.tools {
		for _, p := range full.tools[i].params {
			names = append(names, p.name)
		}
	}
	values := []any{
		"O-1", "", strings.Repeat("x", 64), strings.Repeat("é", 65), strings.Repeat("x", 501), cancelReasons[0], transferReasons[1],
		1.0, 20.0, 25.0, 0.0, 1.5, -1.0, 1000.0, 1001.0, 1e8, 1e8 + 1, true, nil, []any{}, map[string]any{},
	}
	for i := range 2 * numTools {
		tool := &slices.Concat(full.tools, small.tools)[i]
		var schema map[string]any
		if err := json.Unmarshal(tool.schema(), &schema); err != nil {
			t.Fatal(err)
		}
		if schema["additionalProperties"] != false {
			t.Errorf("%s: the schema allows further arguments", tool.name)
		}
		rapid.Check(t, func(rt *rapid.T) {
			args := map[string]any{}
			for _, p := range tool.params {
				if rapid.IntRange(0, 9).Draw(rt, "keep") > 0 {
					args[p.name] = rapid.SampledFrom(values).Draw(rt, p.name)
				}
			}
			if rapid.IntRange(0, 9).Draw(rt, "extra") == 0 {
				args[rapid.SampledFrom(names).Draw(rt, "name").(string)] = "O-1"
			}
			want := obeys(t, schema, args)
			broken := tool.parse(json.RawMessage(marshal(args)), new(inputs))
			if want != (broken == "") {
				rt.Fatalf("%s %s: schema says %v, we say %q", tool.name, marshal(args), want, broken)
			}
		})
	}
}

func TestTools(t *testing.T) {
	var reads, writes, ends []string
	for i, tool := range newDesk().Describe().Tools {
		switch {
		case tool.Submits:
			ends = append(ends, tool.Name)
		case tool.ReadOnly:
			reads = append(reads, tool.Name)
		default:
			writes = append(writes, tool.Name)
		}
		if tool.Description == "" || !slices.IsSortedFunc(full.tools[i].params, func(a, b param) int { return strings.Compare(a.name, b.name) }) {
			t.Errorf("%s: no description, or parameters out of order", tool.Name)
		}
		canonical, err := envharness.CanonicalJSON(tool.Schema)
		if err != nil || string(canonical) != string(tool.Schema) {
			t.Errorf("%s: schema is not canonical (%v)", tool.Name, err)
		}
	}
	if len(reads) != 6 || len(writes) != 6 || len(ends) != 1 {
		t.Errorf("reads %v, writes %v, ends %v", reads, writes, ends)
	}
	if len(full.tools) != numTools {
		t.Errorf("%d tools, want %d", len(full.tools), numTools)
	}
	for _, field := range newDesk().Describe().Graded {
		var s map[string]json.RawMessage
		if err := json.Unmarshal([]byte(stateOf(sample())), &s); err != nil || s[field] == nil {
			t.Errorf("graded field %s is not in the state (%v)", field, err)
		}
	}
}
