package rigtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// breeds are in the order of the ids of their flaws.
var breeds = []breed{
	{
		flaw: diagnosis.Loop, about: "after its first action makes one call that changes nothing for the rest of the episode",
		moves: loops,
		shows: func(_ *part, t envharness.Trace) bool { return fails(t) && ranOut(t) },
		entails: func(p *part, t envharness.Trace) []diagnosis.ID {
			also := []diagnosis.ID{diagnosis.LittleExploration} // one result for most of the turns
			call := t.Turns[len(t.Turns)-1].Proposed.Name
			if !p.inPlan(call) {
				also = append(also, diagnosis.Distracted)
			}
			if p.reads() && !p.readOnly(call) {
				also = append(also, diagnosis.RepeatedWrite)
			}
			return also
		},
	},
	{
		flaw: diagnosis.PrematureStop, about: "submits before it wrote anything, or stops after its first action",
		moves: stopsEarly,
		shows: func(p *part, t envharness.Trace) bool { return fails(t) && p.early(len(t.Turns)) && !ranOut(t) },
	},
	{
		flaw: diagnosis.IgnoredError, about: "takes a write that failed for the moment as done",
		habit: ignoresFailed, stacks: failingWrites,
		shows: func(p *part, t envharness.Trace) bool { return fails(t) && goesOn(p, t) },
		entails: func(p *part, t envharness.Trace) []diagnosis.ID {
			also := []diagnosis.ID{diagnosis.NoRetry}
			if p.reads() {
				also = append(also, diagnosis.UnverifiedWrite) // it does not look either
			}
			if refusals(t, envharness.ClassPrecondition) >= 2 {
				also = append(also, diagnosis.NoPrecondition) // what was not done is missed later
			}
			return also
		},
	},
	{
		flaw: diagnosis.NoRetry, about: "never calls again a tool that failed for the moment: does without, or gives up",
		habit: dropsFailed, stacks: failingCalls,
		shows: func(_ *part, t envharness.Trace) bool { return droppedTool(t) },
	},
	{
		flaw: diagnosis.BlindRetry, about: "repeats at once two calls that were refused for good",
		moves: retriesBlindly,
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) },
		entails: func(_ *part, t envharness.Trace) []diagnosis.ID {
			var also []diagnosis.ID
			wrong := refusals(t, envharness.ClassBadArgs) + refusals(t, envharness.ClassNotFound)
			if wrong >= 2 {
				also = append(also, diagnosis.WrongArgument)
			}
			if refusals(t, envharness.ClassPrecondition) >= 2 {
				also = append(also, diagnosis.NoPrecondition)
			}
			return also
		},
	},
	{
		flaw: diagnosis.UnreadPages, about: "does not read on where there is more, and gives up before the last action",
		habit: leavesPages, stacks: pagedStart,
		shows: func(_ *part, t envharness.Trace) bool { return fails(t) && !ranOut(t) },
	},
	{
		flaw: diagnosis.OverLong, about: "takes a detour and passes",
		moves: detours,
		shows: func(p *part, t envharness.Trace) bool { return !fails(t) && p.long(len(t.Turns)) },
	},
	{
		flaw: diagnosis.BudgetExhausted, about: "wanders about until the turns are used up",
		moves: func(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
			moves, err := wander(ctx, l, p, p.limit, false)
			return moves, nil, err
		},
		shows: func(_ *part, t envharness.Trace) bool { return fails(t) && ranOut(t) },
	},
	{
		flaw: diagnosis.WrongArgument, about: "leaves the arguments of two calls out",
		moves: wrongArguments,
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) && refusals(t, envharness.ClassBadArgs) >= 2 },
	},
	{
		flaw: diagnosis.NoPrecondition, about: "makes two calls before they can be carried out",
		moves: actsTooSoon,
		shows: func(_ *part, t envharness.Trace) bool {
			return !fails(t) && refusals(t, envharness.ClassPrecondition) >= 2
		},
	},
	{
		flaw: diagnosis.UnverifiedWrite, about: "submits right after its last write",
		moves: func(_ context.Context, _ *lab, p *part) ([]move, []components.Edge, error) {
			moves := slices.DeleteFunc(slices.Clone(p.clean), func(m move) bool { return m.verify })
			if len(moves) == len(p.clean) {
				return nil, nil, fmt.Errorf("%w: nothing is looked at after the last write", ErrNoPlace)
			}
			return moves, nil, nil
		},
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) },
	},
	{
		flaw: diagnosis.UngroundedValue, about: "makes a call with a word that nobody showed it",
		moves: inventsWord,
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) },
	},
	{
		flaw: diagnosis.Unreadable, about: "gives one answer that is no action, and calls one tool that there is not",
		moves: func(_ context.Context, _ *lab, p *part) ([]move, []components.Edge, error) {
			if len(p.plan) < 2 {
				return nil, nil, fmt.Errorf("%w: the plan is too short", ErrNoPlace)
			}
			moves := inserted(p.clean, 0, move{do: garble})
			return inserted(moves, 1, move{action: envharness.Action{Name: "ponder"}}), nil, nil
		},
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) && 10*2 > len(t.Turns) },
	},
	{
		flaw: diagnosis.Distracted, about: "calls two tools that are of no use, and gives up before the last action",
		habit: chasesTools,
		stacks: func(*part) [][]envharness.Component {
			pool := []envharness.Tool{
				{Name: "read_forum", Description: "Shows what others wrote.", ReadOnly: true},
				{Name: "read_news", Description: "Shows what is new.", ReadOnly: true},
			}
			return [][]envharness.Component{{components.Distractor{N: new(2), Pool: pool}}}
		},
		shows: func(_ *part, t envharness.Trace) bool { return fails(t) && !ranOut(t) },
	},
	{
		flaw: diagnosis.LittleExploration, about: "makes different calls that show nothing new, and gives up",
		moves: staysPut,
		shows: func(p *part, t envharness.Trace) bool { return fails(t) && !p.early(len(t.Turns)) && !ranOut(t) },
		entails: func(p *part, t envharness.Trace) []diagnosis.ID {
			if !p.reads() || p.readOnly(t.Turns[len(t.Turns)-1].Proposed.Name) {
				return nil
			}
			return []diagnosis.ID{diagnosis.RepeatedWrite}
		},
	},
	{
		flaw: diagnosis.OrderViolation, about: "does two things of the plan in the other order",
		moves: swaps,
		shows: func(_ *part, t envharness.Trace) bool { return !fails(t) },
	},
	{
		flaw: diagnosis.RepeatedWrite, about: "makes a write a second time",
		moves: writesTwice,
		shows: func(p *part, t envharness.Trace) bool { return !ranOut(t) },
	},
	{
		flaw: diagnosis.Hammering, about: "calls again at once where it is told to wait",
		habit: hammers, stacks: limitedRates,
		shows: func(_ *part, t envharness.Trace) bool { return refusals(t, envharness.ClassRateLimit) == 2 },
	},
}

func fails(t envharness.Trace) bool { return t.Verdict.Status != envharness.Pass }

// refusals counts the turns that were refused with the class.
func refusals(t envharness.Trace, class envharness.ErrorClass) int {
	n := 0
	for _, turn := range t.Turns {
		if turn.Shown.Error != nil && turn.Shown.Error.Class == class {
			n++
		}
	}
	return n
}

// failure is the index of the first turn that failed for the moment, -1 without one.
func failure(t envharness.Trace) int {
	return slices.IndexFunc(t.Turns, func(turn envharness.TurnTrace) bool { return turn.Shown.Error != nil && turn.Shown.Error.Retryable })
}

// goesOn reports whether a call failed for the moment and the next three neither repeat it nor look.
func goesOn(p *part, t envharness.Trace) bool {
	i := failure(t)
	if i < 0 || i == len(t.Turns)-1 {
		return false
	}
	failed := t.Turns[i].Proposed.Name
	return !slices.ContainsFunc(t.Turns[i+1:min(i+4, len(t.Turns))], func(turn envharness.TurnTrace) bool {
		return turn.Proposed == nil || turn.Proposed.Name == failed || p.readOnly(turn.Proposed.Name) || turn.Shown.Error != nil
	})
}

// droppedTool reports whether a call failed for the moment and its tool was never called again.
func droppedTool(t envharness.Trace) bool {
	i := failure(t)
	return i >= 0 && !slices.ContainsFunc(t.Turns[i+1:], func(turn envharness.TurnTrace) bool {
		return turn.Proposed != nil && turn.Proposed.Name == t.Turns[i].Proposed.Name
	})
}

// loops repeats, after the first action, a call that is carried out and shows what was shown before: best one that reads, of the plan.
func loops(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	start := p.plan[:min(1, len(p.plan)-1)]
	v, err := l.play(ctx, start)
	if err != nil {
		return nil, nil, err
	}
	best, rank := envharness.Action{}, 4
	for _, a := range v.now().Actions {
		r := 0
		if !p.inPlan(a.Name) {
			r = 1
		}
		if !p.readOnly(a.Name) {
			r += 2
		}
		if r >= rank {
			continue
		}
		v, err := l.play(ctx, append(slices.Clone(start), a, a, a, a))
		if err != nil {
			return nil, nil, err
		}
		n := len(v.shown)
		if v.end == nil && v.last() == nil && looksEqual(v.shown[n-1], v.shown[n-2]) && looksEqual(v.shown[n-2], v.shown[n-3]) {
			best, rank = a, r
		}
	}
	if rank == 4 {
		return nil, nil, fmt.Errorf("%w: no call changes nothing", ErrNoPlace)
	}
	moves := slices.Clone(p.clean[:len(start)])
	for range p.limit {
		moves = append(moves, move{action: best, at: len(start)})
	}
	return moves, nil, nil
}

func looksEqual(a, b envharness.Observation) bool {
	x, _ := envharness.CanonicalJSON(a.Data) // JSON values by contract
	y, _ := envharness.CanonicalJSON(b.Data)
	return a.Text == b.Text && string(x) == string(y)
}

// stopsEarly submits what the plan does before anything was written, if that can be done with values that were shown; else it stops.
func stopsEarly(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	submit := p.plan[len(p.plan)-1]
	if p.submits() {
		reads := slices.IndexFunc(p.plan, func(a envharness.Action) bool { return !p.readOnly(a.Name) })
		reads = min(reads, p.limit/2-1)
		early := append(slices.Clone(p.plan[:reads]), submit)
		v, err := l.play(ctx, early)
		if err != nil {
			return nil, nil, err
		}
		if v.end != nil && v.last() == nil && len(v.refused) == len(early) && grounded(v.shown, early) {
			return append(slices.Clone(p.clean[:reads]), move{action: submit, at: reads}), nil, nil
		}
	}
	n := min(1, len(p.plan)-1)
	return append(slices.Clone(p.clean[:n]), move{do: stop, at: n}), nil, nil
}

// calls counts the moves from the start up to i, inclusive, that call the same tool.
func calls(moves []move, i int) int {
	n := 0
	for _, m := range moves[:i+1] {
		if m.action.Name == moves[i].action.Name {
			n++
		}
	}
	return n
}

func fail(moves []move, i int) []envharness.Component {
	return []envharness.Component{components.ToolFail{Tools: []string{moves[i].action.Name}, Nth: calls(moves, i)}}
}

// failingWrites lets a write fail once, the latest ones first, where the plan can go on without it.
func failingWrites(p *part) [][]envharness.Component {
	var all [][]envharness.Component
	for i := len(p.clean) - 2; i >= 0; i-- {
		if !p.readOnly(p.clean[i].action.Name) {
			all = append(all, fail(p.clean, i))
		}
	}
	return all
}

// failingCalls lets a call fail once: a read that the plan passes without, where that shows all that is used later; else the last one.
func failingCalls(p *part) [][]envharness.Component {
	var all [][]envharness.Component
	for i, m := range p.clean {
		if p.skippable[m.action.Name] && calls(p.clean, i) == 1 && p.groundedWithout(m.action.Name) {
			all = append(all, fail(p.clean, i))
		}
	}
	return append(all, fail(p.clean, len(p.clean)-1))
}

// groundedWithout reports whether the writes of the plan use nothing but what the first observation shows, or a read of another tool.
func (p *part) groundedWithout(tool string) bool {
	var shown []envharness.Observation
	rest := without(p.plan, tool)
	for range rest {
		shown = append(shown, p.first)
	}
	return grounded(shown, rest)
}

// A refusal is a call that is refused for good in front of action k of the plan.
type refusal struct {
	k      int
	action envharness.Action
}

// refusedCalls finds two calls that are refused for good with the class and leave all as it is: of the plan, or listed. They differ, or
// the world shows something else in between.
func refusedCalls(ctx context.Context, l *lab, p *part, class envharness.ErrorClass) ([]refusal, error) {
	var found []refusal
	for k := range p.plan {
		v, err := l.play(ctx, p.plan[:k])
		if err != nil {
			return nil, err
		}
		before := v.now()
		candidates := slices.Clone(p.plan)
		for _, a := range before.Actions {
			if len(candidates) < 64 && !slices.ContainsFunc(candidates, func(c envharness.Action) bool { return same(a, c) }) {
				candidates = append(candidates, a)
			}
		}
		for _, a := range candidates {
			again := slices.ContainsFunc(found, func(r refusal) bool {
				return same(r.action, a) && (r.k == k || p.texts[r.k] == p.texts[k])
			})
			if again {
				continue
			}
			v, err := l.play(ctx, append(slices.Clone(p.plan[:k]), a))
			if err != nil {
				return nil, err
			}
			if e := v.last(); e != nil && !e.Retryable && e.Class == class && groundedIn(v.shown[:k+1], a) {
				if found = append(found, refusal{k, a}); len(found) == 2 {
					return found, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("%w: fewer than two calls are refused as %s", ErrNoPlace, class)
}

// groundedIn reports whether the values of the action are in one of what was shown.
func groundedIn(shown []envharness.Observation, a envharness.Action) bool {
	return slices.ContainsFunc(shown, func(o envharness.Observation) bool {
		return grounded([]envharness.Observation{o}, []envharness.Action{a})
	})
}

// retriesBlindly makes each of two calls that are refused for good twice.
func retriesBlindly(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	var errs []error
	for _, class := range []envharness.ErrorClass{
		envharness.ClassPermission, envharness.ClassOther, envharness.ClassPrecondition, envharness.ClassNotFound, envharness.ClassBadArgs,
	} {
		found, err := refusedCalls(ctx, l, p, class)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		moves := p.clean
		for i := len(found) - 1; i >= 0; i-- {
			m := move{action: found[i].action}
			moves = inserted(moves, found[i].k, m, m)
		}
		return moves, nil, nil
	}
	return nil, nil, errs[0]
}

// actsTooSoon makes two calls before what they need was done.
func actsTooSoon(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	found, err := refusedCalls(ctx, l, p, envharness.ClassPrecondition)
	if err != nil {
		return nil, nil, err
	}
	moves := p.clean
	for i := len(found) - 1; i >= 0; i-- {
		moves = inserted(moves, found[i].k, move{action: found[i].action})
	}
	return moves, nil, nil
}

// pagedStart shows the first text on two pages.
func pagedStart(p *part) [][]envharness.Component {
	size := max(3, len(p.first.Text)/2+4)
	return [][]envharness.Component{{components.Paginate{MaxBytes: size, Window: components.Window{Until: 1}}}}
}

// detours takes calls that lengthen the way until it is more than one and a half times as long as the plan.
func detours(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	var way []envharness.Action
	total := len(p.clean)
	var moves []move
	for !p.long(total) {
		v, err := l.play(ctx, way)
		if err != nil {
			return nil, nil, err
		}
		best := -1 // least cost: of calls that occur twice, and of a tool that the plan does not have
		if len(way) == p.limit {
			break
		}
		var next []move
		var step envharness.Action
		for _, a := range v.now().Actions {
			if !p.inPlan(a.Name) && !p.readOnly(a.Name) || slices.ContainsFunc(way, func(b envharness.Action) bool { return same(a, b) }) {
				continue
			}
			tried := append(slices.Clone(way), a)
			v, err := l.play(ctx, tried)
			if err != nil {
				return nil, nil, err
			}
			if v.end != nil || v.last() != nil {
				continue
			}
			rest, err := l.plan(ctx)
			if err != nil {
				continue // there is no way back
			}
			whole := p.finished(append(tried, rest...))
			if len(whole) < total || len(whole) > p.limit {
				continue
			}
			cost := 2 * repeats(whole)
			if len(whole) == total {
				cost += 2 * p.limit // no detour, but one may begin there
			}
			if !p.inPlan(a.Name) {
				cost++
			}
			if best < 0 || cost < best {
				best, next, step = cost, whole, a
			}
		}
		if best < 0 {
			return nil, nil, fmt.Errorf("%w: no way is long enough", ErrNoPlace)
		}
		way, moves, total = append(way, step), next, len(next)
	}
	if !p.long(total) {
		return nil, nil, fmt.Errorf("%w: no way is long enough", ErrNoPlace)
	}
	return elsewhere(moves), nil, nil
}

// repeats counts the moves that were made before.
func repeats(moves []move) int {
	n := 0
	for i, m := range moves {
		if slices.ContainsFunc(moves[:i], func(b move) bool { return same(m.action, b.action) }) {
			n++
		}
	}
	return n
}

// wander makes n moves that lead nowhere: of tools of the plan, those that read if it has any, no result of one call three times, and no
// cycle. Wide allows one call of another tool, where nothing else is left. Next to an [ErrNoPlace] it returns the moves that there are.
func wander(ctx context.Context, l *lab, p *part, n int, wide bool) ([]move, error) {
	rng := envharness.RandStream(1, "rigtest/wander", 0)
	var way []envharness.Action
	strayed := false
	moves := func() []move {
		var moves []move
		for _, a := range way {
			moves = append(moves, move{action: a, at: -1})
		}
		return moves
	}
	pairs, texts, used := make(map[string]int), make(map[string]int), make(map[string]int)
	for len(way) < n {
		v, err := l.play(ctx, way)
		if err != nil {
			return nil, err
		}
		type option struct {
			action    envharness.Action
			text      string
			cost, tie int
		}
		var best *option
		for _, a := range v.now().Actions {
			other := !p.inPlan(a.Name)
			if other && (!wide || strayed) || p.reads() && !p.readOnly(a.Name) {
				continue
			}
			tried := append(slices.Clone(way), a)
			v, err := l.play(ctx, tried)
			if err != nil {
				return nil, err
			}
			if v.last() != nil || v.end != nil && (v.end.Terminated || len(tried) < n) {
				continue
			}
			o := option{action: a, text: v.now().Text, tie: rng.IntN(1 << 20)}
			if pairs[a.String()+"\n"+o.text] == 2 || cycles(tried) {
				continue
			}
			o.cost = 4*used[a.String()] + texts[o.text]
			if other {
				o.cost += 8 * n
			}
			if best == nil || o.cost < best.cost || o.cost == best.cost && o.tie < best.tie {
				best = &o
			}
		}
		if best == nil {
			return moves(), fmt.Errorf("%w: no way of %d turns leads nowhere", ErrNoPlace, n)
		}
		way = append(way, best.action)
		strayed = strayed || !p.inPlan(best.action.Name)
		pairs[best.action.String()+"\n"+best.text]++
		texts[best.text]++
		used[best.action.String()]++
	}
	if 10*len(texts) <= 3*n {
		return moves(), fmt.Errorf("%w: %d turns show too little", ErrNoPlace, n)
	}
	return moves(), nil
}

// cycles reports whether the last calls are a cycle of at most four, three times.
func cycles(way []envharness.Action) bool {
	for period := 1; period <= 4; period++ {
		if len(way) < 3*period {
			break
		}
		tail := way[len(way)-3*period:]
		if !slices.ContainsFunc(slices.Collect(indices(period, 3*period)), func(i int) bool { return !same(tail[i], tail[i-period]) }) {
			return true
		}
	}
	return false
}

func indices(from, until int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := from; i < until; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// wrongArguments makes two calls of the plan without what they need, or with what they do not know.
func wrongArguments(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	if len(p.plan) < 2 {
		return nil, nil, fmt.Errorf("%w: the plan is too short", ErrNoPlace)
	}
	moves := p.clean
	for k := 1; k >= 0; k-- {
		a := envharness.Action{Name: p.plan[k].Name, Args: json.RawMessage(`{}`)}
		if len(leaves(p.plan[k])) == 0 {
			a.Args = json.RawMessage(`{"fast":true}`)
		}
		v, err := l.play(ctx, append(slices.Clone(p.plan[:k]), a))
		if err != nil {
			return nil, nil, err
		}
		if e := v.last(); e == nil || e.Class != envharness.ClassBadArgs {
			return nil, nil, fmt.Errorf("%w: %s is not refused as %s", ErrNoPlace, a, envharness.ClassBadArgs)
		}
		moves = inserted(moves, k, move{action: a})
	}
	return moves, nil, nil
}

// invented is a word that no world has.
const invented = "quoxil7"

// inventsWord makes a call of the plan with a made-up word, one that reads if there is one, where the task can still be passed.
func inventsWord(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	for k, a := range p.plan {
		if p.reads() && !p.readOnly(a.Name) {
			continue
		}
		var args map[string]any
		if json.Unmarshal(a.Args, &args) != nil {
			continue
		}
		var name string
		for _, key := range slices.Sorted(keysOf(args)) {
			if _, ok := args[key].(string); ok {
				name = key
				break
			}
		}
		if name == "" {
			continue
		}
		args[name] = withInvented(args[name].(string))
		raw, err := json.Marshal(args)
		if err != nil {
			return nil, nil, err
		}
		wrong := envharness.Action{Name: a.Name, Args: raw}
		way := append(slices.Clone(p.plan[:k]), wrong)
		v, err := l.play(ctx, way)
		if err != nil {
			return nil, nil, err
		}
		if v.end != nil || v.last() != nil && v.last().Class == envharness.ClassBadArgs {
			continue
		}
		rest, err := l.plan(ctx)
		if err != nil || len(way)+len(rest) > p.limit-1 {
			continue
		}
		return elsewhere(p.finished(append(way, rest...))), nil, nil
	}
	return nil, nil, fmt.Errorf("%w: no call takes a word", ErrNoPlace)
}

func keysOf(m map[string]any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// withInvented puts the made-up word in place of the longest one.
func withInvented(s string) string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return invented
	}
	longest := 0
	for i, w := range words {
		if len(w) > len(words[longest]) {
			longest = i
		}
	}
	words[longest] = invented
	return strings.Join(words, " ")
}

// staysPut makes different calls that show what was shown already, none of them more than twice, for more than half of the turns.
func staysPut(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	n := p.limit/2 + 1
	for k := 0; k < len(p.plan) && 10*(k+1) <= 3*n; k++ {
		v, err := l.play(ctx, p.plan[:k])
		if err != nil {
			return nil, nil, err
		}
		here := v.now()
		way := slices.Clone(p.plan[:k])
		for _, a := range here.Actions {
			if !p.inPlan(a.Name) {
				continue
			}
			tried := append(slices.Clone(way), a, a)
			v, err := l.play(ctx, tried)
			if err != nil {
				return nil, nil, err
			}
			if v.end == nil && v.last() == nil && looksEqual(v.now(), here) && looksEqual(v.shown[len(way)+1], here) {
				way = append(way, a)
			}
		}
		idle := way[k:]
		if k+2*len(idle) < n || len(idle) < 3 {
			continue
		}
		moves := slices.Clone(p.clean[:k])
		for i := range n - k {
			moves = append(moves, move{action: idle[i%len(idle)], at: k})
		}
		return append(moves, move{do: stop, at: k}), nil, nil
	}
	return nil, nil, fmt.Errorf("%w: too few calls show nothing new", ErrNoPlace)
}

// swaps does two actions of the plan in the other order, which a rule forbids.
func swaps(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	for i := range p.plan {
		for j := i + 1; j < len(p.plan); j++ {
			a, b := p.plan[i], p.plan[j]
			if len(a.Args) == 0 || len(b.Args) == 0 || occurrences(p.plan, a) > 1 || occurrences(p.plan, b) > 1 {
				continue
			}
			way := slices.Concat(p.plan[:i], []envharness.Action{b}, p.plan[i:j], p.plan[j+1:])
			v, err := l.play(ctx, way)
			if err != nil {
				return nil, nil, err
			}
			refused := slices.ContainsFunc(v.refused, func(e *envharness.ActionError) bool { return e != nil })
			if refused || v.end == nil || len(v.refused) < len(way) || !grounded(v.shown, way) || p.submitting(b.Name) && p.submits() && j == len(p.plan)-1 {
				continue
			}
			before, err := match(a)
			if err != nil {
				return nil, nil, err
			}
			after, err := match(b)
			if err != nil {
				return nil, nil, err
			}
			return elsewhere(p.finished(way)), []components.Edge{{Before: before, After: after}}, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: no two actions can be swapped", ErrNoPlace)
}

func occurrences(plan []envharness.Action, a envharness.Action) int {
	n := 0
	for _, b := range plan {
		if same(a, b) {
			n++
		}
	}
	return n
}

func match(a envharness.Action) (components.Match, error) {
	m := components.Match{Tool: a.Name}
	err := json.Unmarshal(a.Args, &m.Args)
	return m, err
}

// writesTwice makes a write a second time at once, where the world lets it.
func writesTwice(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	if !p.reads() {
		return nil, nil, fmt.Errorf("%w: the plan does not tell writes from reads", ErrNoPlace)
	}
	for k, a := range p.plan {
		if p.readOnly(a.Name) || p.submitting(a.Name) {
			continue
		}
		v, err := l.play(ctx, append(slices.Clone(p.plan[:k+1]), a))
		if err != nil {
			return nil, nil, err
		}
		if v.end == nil && len(v.refused) == k+2 && v.last() == nil {
			return inserted(p.clean, k, move{action: a}), nil, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: no write is accepted twice", ErrNoPlace)
}

// limitedRates refuses the last call of a tool that is called more than once, for two turns.
func limitedRates(p *part) [][]envharness.Component {
	var all [][]envharness.Component
	for _, t := range p.about.Tools {
		var at []int
		for i, m := range p.clean {
			if m.action.Name == t.Name {
				at = append(at, i)
			}
		}
		if len(at) < 2 {
			continue
		}
		last := len(at) - 1
		all = append(all, []envharness.Component{
			components.RateLimit{Tools: []string{t.Name}, Calls: last, Per: at[last] - at[0] + 2},
		})
	}
	return all
}
