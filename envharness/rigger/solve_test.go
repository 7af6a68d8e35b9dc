package rigger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A fataler is a test or a property.
type fataler interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
}

// replayed plays the calls of a proof behind the stack.
func replayed(t fataler, in *inspector, stack []envharness.Component, proof []envharness.Action) envharness.Status {
	t.Helper()
	trace, err := in.trial(t.Context(), stack, in.world, script(proof))
	if err != nil {
		t.Fatal(err)
	}
	return trace.Verdict.Status
}

func TestSolve(t *testing.T) {
	all := []string{"tooldesk", "household", "keydoor", "game24", "shop"}
	tests := []struct {
		worlds  []string
		entries string // tag and parameters, with L for the turns of the plan
		want    Result
		reason  string
	}{
		{all, `tool_fail {"count":1}`, Passed, "try again"},
		{all, `tool_fail {"count":2}`, Passed, "and again"},
		{all, `tool_fail {"nth":2,"count":3}`, Passed, "in the middle"},
		{all, `tool_fail {"mode":"rate","p":0.2}`, Passed, "at random"},
		{all, `block {"max":2}`, Passed, "insist"},
		{[]string{"game24", "tooldesk"}, `rate_limit {"calls":3,"window":5}`, Passed, "wait"},
		{[]string{"keydoor", "household"}, `rate_limit {"calls":3,"window":4}`, Passed, "wait, several times"},
		{[]string{"tooldesk"}, `permission {"tools":["set_address","submit"],"grant":{"tool":"get_product"}}`, Passed,
			"a grant that no plan has"},
		{[]string{"tooldesk"}, `permission {"tools":["set_address","submit"],"grant":{"tool":"get_product"},"expires":1}`, Passed,
			"a grant to be renewed"},
		{[]string{"keydoor"}, `permission {"grant":{"tool":"noop"}}`, Passed, "of all"},
		{[]string{"household"}, `permission {"grant":{"tool":"do","args":{"text":"look"}}}`, Passed, "the call comes from the pattern"},
		{[]string{"tooldesk"}, `order_lock {"edges":[{"before":{"tool":"list_orders"},"after":{"tool":"set_address"}}]}`, Passed, "a step more"},
		{[]string{"tooldesk"}, `order_lock {"edges":[{"before":{"tool":"list_orders"},"after":{"tool":"get_product"}},` +
			`{"before":{"tool":"get_product"},"after":{"tool":"submit"}}]}`, Passed, "steps within steps"},
		{[]string{"tooldesk"}, `submit_gate {"require":[{"tool":"get_order"}],"max_blocks":50}`, Passed, "read again after the write"},
		{[]string{"tooldesk"}, `submit_gate {"require":[{"tool":"no_such_tool"}],"max_blocks":2}`, Passed, "nobody can, and it gives in"},
		{[]string{"tooldesk"}, `rename {"tools":{"set_address":"move","submit":"done"},"args":{"get_order":{"order_id":"id"}}}`, Passed,
			"other names"},
		{[]string{"tooldesk"}, `schema_drift {"tools":{"get_order":{"rename":{"order_id":"id"}}}}`, Passed, "other arguments"},
		{[]string{"tooldesk"}, `rename {"tools":{"get_product":"look","submit":"done"}} + permission {"tools":["done"],"grant":{"tool":"look"}}`, Passed,
			"a grant under its new name"},
		{[]string{"tooldesk"}, `permission {"tools":["submit"],"grant":{"tool":"get_product"}} + ` +
			`rename {"tools":{"get_product":"look","submit":"get_product"}}`,
			Passed, "a grant under its old name, which another tool has"},
		{[]string{"tooldesk"}, `permission {"tools":["get_order"],"grant":{"tool":"[lc]*_*r*"}}`, Passed, "not the grant that spoils the task"},
		{[]string{"shop"}, `permission {"grant":{"tool":"search","args":{"query":"bed"}}}`, Passed, "a grant that is not on the list"},
		{all, `hide_keys {"actions":true}`, Passed, "nothing is listed"},
		{all, `hide_keys {"lines":["."]}`, Passed, "nothing is told"},
		{all, `obs_delay {"delay":2}`, Passed, "the plan needs no sight"},
		{[]string{"game24", "keydoor", "household"}, `sticky {"p":0.1}`, Passed, "plans are made anew"},
		{all, `paginate {"max_bytes":20}`, Passed, "pages"},
		{all, `distractor {"n":2,"pool":[{"name":"foo"},{"name":"bar"},{"name":"baz"}]}`, Passed, "tools of no use"},
		{all, `step_budget {"turns":L}`, Passed, "just enough"},
		{[]string{"tooldesk", "household", "keydoor", "game24"}, `step_budget {"turns":L-1}`, Unproven, "too few"},
		{all, `tool_fail {"count":1} + step_budget {"turns":L+1}`, Passed, "enough to try again"},
		{[]string{"tooldesk", "household", "keydoor", "game24"}, `tool_fail {"count":1} + step_budget {"turns":L}`, Unproven,
			"not enough to try again"},
		{all, `call_cap {"max":L}`, Passed, "as many calls as the plan has"},
		{[]string{"household", "keydoor", "game24"}, `call_cap {"max":L-1}`, Unproven, "fewer"},
		{all, `block {}`, Unproven, "nothing goes"},
		{all, `tool_down {}`, Unproven, "likewise"},
		{[]string{"tooldesk"}, `tool_down {"tools":["submit"]}`, Unproven, "nobody can finish"},
		{[]string{"tooldesk"}, `tool_down {"tools":["get_order"]}`, Passed, "searched: a read that is not needed, or is had from a list"},
	}
	for row, tt := range tests {
		if testing.Short() {
			tt.worlds = tt.worlds[row%len(tt.worlds):][:1]
		}
		for _, name := range tt.worlds {
			w := gateWorlds[name]()
			in := newTestInspector(t, w, gateTasks[name], components.Catalogue())
			in.searchLimit = 0
			if tt.want != Passed || strings.HasPrefix(tt.reason, "searched: ") {
				in.searchLimit = 1500
			}
			if testing.Short() && tt.want == Unproven {
				in.searchLimit = 200
			}
			n := len(in.plan)
			params := strings.NewReplacer(":L-1", fmt.Sprint(":", n-1), ":L+1", fmt.Sprint(":", n+1), ":L", fmt.Sprint(":", n)).Replace(tt.entries)
			var entries []components.Entry
			for e := range strings.SplitSeq(params, " + ") {
				tag, p, _ := strings.Cut(e, " ")
				entries = append(entries, part(tag, p))
			}
			stack := stackOf(t, entries...)
			s, err := in.solve(t.Context(), stack)
			if err != nil {
				t.Fatal(err)
			}
			if s.result != tt.want {
				t.Errorf("%s, %s: %s (%s), want %s (%s)", name, tt.entries, s.result, s.reason, tt.want, tt.reason)
			}
			if s.result == Passed && replayed(t, in, stack, s.proof) != envharness.Pass {
				t.Errorf("%s, %s: the proof %v does not pass", name, tt.entries, s.proof)
			}
		}
	}
}

// TestReasonsAreMerged: of rollouts that passed alike one is tried, and what ends alike is said once.
func TestReasonsAreMerged(t *testing.T) {
	in := newTestInspector(t, gateWorlds["keydoor"](), gateTasks["keydoor"], components.Catalogue())
	passes := func(slot int, calls []envharness.Action) envharness.Trace {
		trace, err := in.trial(t.Context(), nil, in.world, script(calls))
		if err != nil || trace.Verdict.Status != envharness.Pass {
			t.Fatalf("%v: %s, %v", calls, trace.Verdict.Status, err)
		}
		trace.Slot = slot
		return trace
	}
	failed, err := in.trial(t.Context(), nil, in.world, script(nil))
	if err != nil {
		t.Fatal(err)
	}
	failed.Slot = 1
	longer := slices.Concat(act("noop"), in.plan)
	in.baseline = []envharness.Trace{passes(0, in.plan), failed, passes(2, in.plan), passes(3, longer), passes(5, in.plan)}
	in.searchLimit = 0
	tests := []struct {
		part   components.Entry
		want   string
		reason string
	}{
		{part("step_budget", `{"turns":2}`), "the oracle did not pass in 2 turns, the end was budget:step_budget; " +
			"what passed in rollouts 0, 2, 3, 5 of the unmodified task did not pass in 2 turns, the end was budget:step_budget", "all end alike"},
		{part("step_budget", fmt.Sprintf(`{"turns":%d}`, len(in.plan)-1)), "", "likewise"},
	}
	for _, tt := range tests {
		s, err := in.solve(t.Context(), stackOf(t, tt.part))
		if err != nil || s.result != Unproven || strings.Count(s.reason, "what passed") != 1 || tt.want != "" && s.reason != tt.want {
			t.Errorf("%s: %v, %v, want %q", tt.reason, s, err, tt.want)
		}
	}
}

// TestEveryPassIsTried: without an oracle the second of two ways is taken if the first leads nowhere.
func TestEveryPassIsTried(t *testing.T) {
	in := newTestInspector(t, gateWorlds["keydoor"](), gateTasks["keydoor"], components.Catalogue())
	for i, calls := range [][]envharness.Action{in.plan[:1], in.plan} {
		trace, err := in.trial(t.Context(), nil, in.world, script(calls))
		if err != nil {
			t.Fatal(err)
		}
		trace.Slot, trace.Verdict.Status = i, envharness.Pass
		in.baseline = append(in.baseline, trace)
	}
	in.plans, in.searchLimit = false, 0
	s, err := in.solve(t.Context(), stackOf(t, part("step_budget", fmt.Sprintf(`{"turns":%d}`, len(in.plan)))))
	if err != nil || s.result != Passed || !strings.Contains(s.reason, "rollout 1 ") {
		t.Errorf("%v, %v", s, err)
	}
}

// TestRequirementsInOrder: what is needed is done in the order in which the component lets it through, so that only one call is refused.
func TestRequirementsInOrder(t *testing.T) {
	in := newTestInspector(t, gateWorlds["tooldesk"](), gateTasks["tooldesk"], components.Catalogue())
	s, err := in.solve(t.Context(), stackOf(t, part("order_lock", `{"edges":[{"before":{"tool":"list_orders"},"after":{"tool":"get_product"}},`+
		`{"before":{"tool":"get_product"},"after":{"tool":"set_address"}}]}`)))
	if err != nil || s.result != Passed || len(s.proof) != len(in.plan)+3 {
		t.Errorf("%v in %d turns, %v: want %d and one refusal more", s, len(s.proof), err, len(in.plan)+2)
	}
}

// TestSearchIsThrifty: situations that come up again, and those that the oracle gives up, are not looked into.
func TestSearchIsThrifty(t *testing.T) {
	tests := []struct {
		world, task, block string
		most               int // states
		reason             string
	}{
		{"keydoor", "small-2,2,0,0", `{"tools":["use"]}`, 400, "few situations can be reached without the first door"},
		{"tooldesk", "small-T2-0000", `{"tools":["submit"],"args":{"answer":"o1"}}`, 800, "most calls spoil the task"},
	}
	for _, tt := range tests {
		in := newTestInspector(t, gateWorlds[tt.world](), tt.task, components.Catalogue())
		in.searchLimit = 20000
		s, err := in.solve(t.Context(), stackOf(t, part("block", tt.block)))
		if err != nil {
			t.Fatal(err)
		}
		states := 0
		_, after, _ := strings.Cut(s.reason, "a search of ")
		if _, err := fmt.Sscan(after, &states); err != nil || states > tt.most {
			t.Errorf("%s: %s, want at most %d states (%s)", tt.world, s.reason, tt.most, tt.reason)
		}
	}
}

// TestSolveFromPatchedStart: the plan is one from where the patch put the base, with the microwave open.
func TestSolveFromPatchedStart(t *testing.T) {
	in := newTestInspector(t, gateWorlds["household"](), gateTasks["household"], components.Catalogue())
	s, err := in.solve(t.Context(), stackOf(t, part("start_patch", `{"set":{"/start/open/microwave 1":true}}`)))
	if err != nil || s.result != Passed || len(s.proof) != len(in.plan)-1 {
		t.Errorf("%v, %v: want %d turns", s, err, len(in.plan)-1)
	}
}

func TestSolveHands(t *testing.T) {
	noDivision := part("block", `{"tools":["combine"],"args":{"op":"div"}}`)
	tests := []struct {
		hand   string
		block  bool
		want   Result
		plan   string
		reason string
	}{
		{"3,3,8,8", false, Passed, `combine {"i":2,"j":0,"op":"div"} combine {"i":0,"j":2,"op":"sub"} combine {"i":0,"j":1,"op":"div"} stop`,
			"worked example"},
		{"1,5,5,5", false, Passed, `combine {"i":0,"j":1,"op":"div"} combine {"i":0,"j":2,"op":"sub"} combine {"i":0,"j":1,"op":"mul"} stop`,
			"worked example"},
		{"4,4,6,6", false, Failed, "", "worked example: proved unsolvable"},
		{"3,3,8,8", true, Unproven, "", "worked example: there is no other solution"},
		{"1,5,5,5", true, Unproven, "", "worked example: there is no other solution"},
		{"6,7,8,9", true, Unproven, "", "worked example: there is no other solution"},
		{"6,6,6,6", true, Passed, "", "worked example: stays solvable"},
		{"2,4,4,8", true, Passed, "", "worked example: stays solvable"},
	}
	for _, tt := range tests {
		in := newTestInspector(t, gateWorlds["game24"](), tt.hand, components.Catalogue())
		in.searchLimit = 500
		// A block without effect stands for no block.
		stack := stackOf(t, part("block", `{"tools":["nothing"]}`))
		if tt.block {
			stack = stackOf(t, noDivision)
		}
		s, err := in.solve(t.Context(), stack)
		if err != nil {
			t.Fatal(err)
		}
		if s.result != tt.want {
			t.Errorf("%s: %s (%s), want %s (%s)", tt.hand, s.result, s.reason, tt.want, tt.reason)
		}
		var plan []string
		for _, a := range s.proof {
			plan = append(plan, a.String())
		}
		if got := strings.Join(plan, " "); tt.plan != "" && got != tt.plan {
			t.Errorf("%s: %s, want %s (%s)", tt.hand, got, tt.plan, tt.reason)
		}
		if s.result == Passed && replayed(t, in, stack, s.proof) != envharness.Pass {
			t.Errorf("%s: the proof %v does not pass", tt.hand, s.proof)
		}
	}
}

// TestSetupThenBlock is a worked example: a start around 3,3,7,7 multiplies 3 and 7, and a block around it refuses to multiply.
func TestSetupThenBlock(t *testing.T) {
	in := newTestInspector(t, gateWorlds["game24"](), "3,3,7,7", components.Catalogue())
	start := part("start_replay", `{"actions":[{"name":"combine","args":{"i":1,"j":2,"op":"mul"}}]}`)
	block := part("block", `{"tools":["combine"],"args":{"op":"mul"}}`)
	trace, err := in.trial(t.Context(), stackOf(t, start, block), in.world, script(act(`combine {"i":0,"j":1,"op":"mul"}`)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(trace.Shown.Text, "[3, 7, 21]") || len(carriedOut(&trace)) != 0 ||
		!strings.HasPrefix(trace.Turns[0].Shown.Observation.Text, "[blocked] ") {
		t.Errorf("start %q, turn %q", trace.Shown.Text, trace.Turns[0].Shown.Observation.Text)
	}
	found, err := in.inspect(t.Context(), 1, harder(block, start))
	if err != nil || lastStep(found) != "static fail" || !strings.Contains(found.steps[0].Reason, "order") {
		t.Errorf("start around block: %v, %v", found.steps, err)
	}
}

// TestProofsPass draws stacks: what is proven passes when it is played again, whatever the stack.
func TestProofsPass(t *testing.T) {
	rungs := make(map[string][]string)
	for _, k := range components.Catalogue().Kinds() {
		for _, r := range k.Ladder {
			rungs[k.Tag] = append(rungs[k.Tag], string(r))
		}
	}
	rungs["permission"] = []string{`{"tools":["submit","use","click","stop"],"grant":{"tool":"*"}}`}
	rungs["block"] = append(rungs["block"], `{"tools":["get_order","pickup"]}`)
	rungs["hide_keys"] = []string{`{"actions":true}`}
	delete(rungs, "start_patch")
	delete(rungs, "stale_read")   // needs tools that read
	delete(rungs, "corrupt_read") // likewise
	tags := make([]string, 0, len(rungs))
	for tag := range rungs {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	worlds := []string{"game24", "keydoor", "shop", "tooldesk", "household"}
	inspectors := make(map[string]*inspector)
	for _, name := range worlds {
		inspectors[name] = newTestInspector(t, gateWorlds[name](), gateTasks[name], components.Catalogue())
		inspectors[name].searchLimit = 100
	}
	rapid.Check(t, func(t *rapid.T) {
		in := inspectors[rapid.SampledFrom(worlds).Draw(t, "world")]
		var stack []envharness.Component
		for range rapid.IntRange(1, 3).Draw(t, "n") {
			tag := rapid.SampledFrom(tags).Draw(t, "tag")
			built, err := components.Catalogue().Stack(part(tag, rapid.SampledFrom(rungs[tag]).Draw(t, "params")))
			if err != nil {
				t.Skip(err)
			}
			stack = append(stack, built...)
		}
		stack = envharness.Canonical(stack)
		if _, err := envharness.New(in.world, stack...); err != nil {
			t.Skip(err)
		}
		s, err := in.solve(t.Context(), stack)
		if err != nil {
			t.Fatal(err)
		}
		if s.result == Passed && replayed(t, in, stack, s.proof) != envharness.Pass {
			t.Fatalf("the proof %v does not pass", s.proof)
		}
		if s.result != Passed && s.proof != nil {
			t.Fatalf("%s with a proof", s.result)
		}
	})
}

// TestPursuit has small worlds in which one thing alone leads on.
func TestPursuit(t *testing.T) {
	gate := func(tool, grant string, expires int) envharness.Component {
		return components.Permission{Tools: []string{tool}, Grant: components.Match{Tool: grant}, Expires: expires}
	}
	free := func(tools string, pass func(done string) bool, plan func(done string) string) *lane {
		return &lane{tools: tools, pass: pass, plan: func(done string) (string, error) {
			if rest := plan(done); rest != "" {
				return rest, nil
			}
			return "", envharness.ErrNoPlan
		}}
	}
	ends := func(done string) bool { return strings.HasSuffix(done, "a") }
	toEnd := func(string) string { return "a" }
	first := envharness.Rules(envharness.ComponentSpec{Tag: "first", Axis: envharness.AxisAction}, hooks(envharness.Hooks{
		Action: func(_ context.Context, v view, _ action) (envharness.ActionEdit, error) {
			if v.Turn == 0 {
				return envharness.ReplaceAction(envharness.Action{Name: "b"}), nil
			}
			return envharness.PassAction(), nil
		}}))
	other := free("abck", func(done string) bool { return done == "kcb" }, func(done string) string {
		return map[string]string{"": "ab", "a": "b", "k": "cb", "kc": "b"}[done]
	})
	picky := straight("abx", "ab")
	picky.no = func(_, tool string) bool { return tool == "x" }
	tests := []struct {
		lane   *lane
		stack  []envharness.Component
		fixed  string // the plan, if it is not the oracle's
		want   Result
		proof  string
		reason string
	}{
		{free("a", ends, func(string) string { return "" }), nil, "", Failed, "", "there is no plan from the start"},
		{straight("ab", "aa"), []envharness.Component{first}, "", Unproven, "", "there is none after a step, which refutes nothing"},
		{other, []envharness.Component{gate("a", "k", 0)}, "", Passed, "akcb", "what was needed leads to another plan"},
		{picky, nil, "xab", Passed, "xab", "of a given plan what the base refuses is left out"},
		{picky, nil, "xaa", Unproven, "", "a given plan is all there is"},
		{free("ak", ends, toEnd), []envharness.Component{gate("a", "k", 0), refuses("k", 3, false)}, "", Passed, "akkkka", "a need is insisted on"},
		{free("akl", ends, toEnd), []envharness.Component{gate("a", "[kl]", 0), refuses("k", -1, false)}, "", Passed, "akkkkla",
			"but not for ever, if there is another way to meet it"},
		{free("a", ends, toEnd), []envharness.Component{refuses("a", 9, false), asks("a", "z"), stepLimit(t, 15)}, "", Passed,
			"azazazaaaaaaa", "a need that nobody can meet is not gone into for ever"},
		{free("akl", ends, toEnd), []envharness.Component{gate("a", "k", 0), gate("a", "l", 0)}, "", Passed, "alaka", "who let it through is not asked again"},
		{free("akl", ends, toEnd), []envharness.Component{gate("a", "k", 1), gate("a", "l", 0)}, "", Passed, "alaka",
			"the outermost first, as what is further in may expire"},
		{free("akl", ends, toEnd), []envharness.Component{gate("k", "l", 0), gate("a", "k", 0)}, "", Passed, "aklka", "a need of a need"},
	}
	for _, tt := range tests {
		in := tt.lane.inspector(t)
		s, err := in.pursue(t.Context(), tt.stack, "it", letters(tt.fixed))
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		var proof strings.Builder
		for _, a := range s.proof {
			proof.WriteString(a.Name)
		}
		if s.result != tt.want || proof.String() != tt.proof {
			t.Errorf("%s: %s with %q (%s), want %s with %q", tt.reason, s.result, proof.String(), s.reason, tt.want, tt.proof)
		}
	}
}

// asker is a component that says what a tool needs, and does nothing.
type asker struct {
	envharness.Component
	tool, needs string
}

func (r asker) Requires(a envharness.Action) []components.Match {
	if a.Name != r.tool {
		return nil
	}
	return []components.Match{{Tool: r.needs}}
}

func asks(tool, needs string) envharness.Component {
	return asker{envharness.Rules(envharness.ComponentSpec{Tag: "asks", Axis: envharness.AxisAction}, hooks(envharness.Hooks{})), tool, needs}
}
