package rigger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// An Explorer is a [Designer] that writes starts and nothing else, each one [envharness.Setup]: it finds them by playing on an environment
// of its own, which is closed before Design returns (ours).
//
// For an easier task a start is the first 25, 50 or 75 % of the plan, or of what the shortest passed rollout carried out, marked as an aid.
// For a harder one it is a sequence of 1, 2 or 4 actions, sought by a beam search over the actions that are listed as admissible, or else
// those that the rollouts of the brief made and tools without arguments: all are carried out, none ends or solves the episode, and the
// task can still be solved. Of these it takes the one after which the oracle needs the most turns, if that is more than from the
// unmodified start; without an oracle the one that shows the most texts that no passed rollout showed, the last one among them.
//
// It begins with the mildest; a [Refinement] asks for the next longer or shorter one, and after another attempt the next best of the same
// length follows, then longer ones. A start that was tried is never proposed again. Design draws from Brief.Rand alone, nil means
// rand.New(rand.NewPCG(1, 2)): equal briefs give equal candidates, if the world is deterministic. The context is handed to the environment and
// looked at before each step; an environment that hangs is not interrupted.
type Explorer struct {
	World envharness.World // whose tasks are to be rigged; required
	Steps int              // resets, steps and plans on the environment, in each Design; zero means 1000
}

// Lengths of the starts of harder tasks, mild to strong, and how many sequences of a length are kept to go on from.
var harderLengths = []int{1, 2, 4}

const beamWidth = 4

// String returns "explorer" and how many steps it may take, as in "explorer, 1000 steps".
func (e Explorer) String() string { return fmt.Sprintf("explorer, %d steps", e.steps()) }

func (e Explorer) steps() int { return cmp.Or(e.Steps, 1000) }

// Design implements [Designer]. The error is one of the context, of the brief, of the settings, or of an environment that cannot be opened,
// reset or closed. What it refuses in between is not proposed.
func (e Explorer) Design(ctx context.Context, b Brief) (c Candidate, err error) {
	switch {
	case e.World.New == nil || e.World.Verifier == nil:
		err = errors.New("the world needs New and Verifier")
	case e.Steps < 0:
		err = fmt.Errorf("%d steps must not be negative", e.Steps)
	case b.Direction != components.Harder && b.Direction != components.Easier:
		err = fmt.Errorf("direction %q of the brief is neither harder nor easier", b.Direction)
	default:
		err = ctx.Err()
	}
	var x *expedition
	if err == nil {
		x, err = e.open(ctx, b)
	}
	if err != nil {
		return Candidate{}, fmt.Errorf("rigger: explorer: %w", err)
	}
	defer func() {
		if closing := x.env.Close(); err == nil && closing != nil {
			c, err = Candidate{}, fmt.Errorf("rigger: explorer: close the environment: %w", closing)
		}
	}()
	c = Candidate{Direction: b.Direction}
	start, err := x.find(ctx)
	if err == nil && start != nil {
		c.Rationale = start.why
		c.Stack, err = x.registry.Entries(envharness.Setup{Actions: start.actions, Aid: b.Direction == components.Easier})
	}
	if err != nil {
		return Candidate{}, fmt.Errorf("rigger: explorer: %w", err)
	}
	return c, nil
}

// An expedition is one Design of an [Explorer].
type expedition struct {
	*clues
	world    envharness.World
	env      envharness.Environment
	oracle   envharness.Oracle // nil if there is none
	reset    envharness.ResetOptions
	rand     *rand.Rand
	left     int // steps
	tried    map[string]bool
	familiar map[string]bool // texts that passed rollouts showed
	usual    int             // turns of the oracle from the unmodified start
}

// A start is a sequence of actions that was carried out.
type start struct {
	actions []envharness.Action
	next    []envharness.Action // what can be done then
	score   int                 // of the harder the larger; at most 0 if it is no harder than the unmodified start
	lost    bool                // it is solved, or not known to be solvable
	strange int                 // texts on the way that are not familiar
	why     string
}

func (e Explorer) open(ctx context.Context, b Brief) (*expedition, error) {
	x := &expedition{
		clues: newClues(b), world: e.World, rand: b.Rand, left: e.steps(), tried: make(map[string]bool), familiar: make(map[string]bool),
		reset: envharness.ResetOptions{Task: b.Task.ID, Seed: b.Task.Seed, Options: b.Task.Options},
	}
	if x.reset.Seed == nil {
		x.reset.Seed = new(uint64(1)) // any, but the same in each reset
	}
	if x.rand == nil {
		x.rand = rand.New(rand.NewPCG(1, 2))
	}
	for _, a := range b.Attempts {
		x.tried[stackKey(a.Candidate.Stack)] = true
	}
	for _, t := range x.passed {
		x.familiar[t.Shown.Text] = true
		for _, turn := range t.Turns {
			x.familiar[turn.Shown.Observation.Text] = true
		}
	}
	env, err := e.World.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("open an environment: %w", err)
	}
	if env == nil {
		return nil, errors.New("open an environment: there is none")
	}
	x.env = env
	x.oracle, _ = envharness.As[envharness.Oracle](env)
	return x, nil
}

// find returns the start to propose, nil if there is none.
func (x *expedition) find(ctx context.Context) (*start, error) {
	if x.Direction == components.Easier {
		return x.findAid(ctx)
	}
	return x.findObstacle(ctx)
}

// lengths returns the lengths to look at, in order, out of all from mild to strong. Those of harder tasks stay in ascending order.
func (x *expedition) lengths(all []int) []int {
	if len(x.Attempts) == 0 {
		return all
	}
	at := slices.Index(all, x.lastLength())
	switch {
	case at < 0:
		return all
	case x.Refine == nil && x.Direction == components.Harder:
		return all[at:]
	case x.Refine == nil:
		return slices.Concat(all[at+1:], all[:at])
	case x.Refine.Harder == (x.Direction == components.Harder):
		return all[at+1:]
	}
	return all[max(0, at-1):at]
}

// lastLength returns the number of actions of the last attempt; -1 if it is none of a start.
func (x *expedition) lastLength() int {
	stack := x.Attempts[len(x.Attempts)-1].Candidate.Stack
	if len(stack) != 1 || stack[0].Tag != (envharness.Setup{}).Spec().Tag {
		return -1
	}
	built, err := x.registry.Stack(stack...)
	if err != nil {
		return -1
	}
	s, ok := built[0].(envharness.Setup)
	if !ok {
		return -1
	}
	return len(s.Actions)
}

// findAid returns a part of the solution that is a legal start.
func (x *expedition) findAid(ctx context.Context) (*start, error) {
	for _, n := range x.lengths(aidLengths(len(x.way))) {
		s := &start{actions: x.way[:n], why: fmt.Sprintf("actions of a solution before the first turn: %d of %d", n, len(x.way))}
		ok, err := x.legal(ctx, s)
		if ok || err != nil {
			return s, err
		}
	}
	return nil, nil
}

// findObstacle returns the sequence of a length after which the task is hardest.
func (x *expedition) findObstacle(ctx context.Context) (*start, error) {
	root, err := x.walk(ctx, nil)
	if err != nil || root == nil || root.lost {
		return nil, err
	}
	wanted := x.lengths(harderLengths)
	beam := []*start{root}
	for n := 1; len(wanted) > 0 && n <= wanted[len(wanted)-1] && len(beam) > 0; n++ {
		// What is left is shared out among the lengths to come, each step of which costs as much as all before it.
		share := x.left / (harderLengths[len(harderLengths)-1] - n + 1)
		var grown []*start
		for _, s := range beam {
			actions := slices.Clone(s.next)
			x.rand.Shuffle(len(actions), func(i, j int) { actions[i], actions[j] = actions[j], actions[i] })
			most := max(1, share/(n+2)/len(beam))
			for _, a := range actions[:min(most, len(actions))] {
				t, err := x.walk(ctx, append(slices.Clone(s.actions), a))
				if err != nil {
					return nil, err
				}
				if t != nil {
					grown = append(grown, t)
				}
			}
		}
		slices.SortStableFunc(grown, func(a, b *start) int { return cmp.Compare(b.score, a.score) })
		if slices.Contains(wanted, n) {
			for _, s := range grown {
				if s.lost || s.score <= 0 {
					continue
				}
				ok, err := x.legal(ctx, s)
				if ok || err != nil {
					return s, err
				}
			}
		}
		beam = grown[:min(beamWidth, len(grown))]
	}
	return nil, nil
}

// walk carries the actions out from the unmodified start. It returns nil if one is refused or ends the episode, or the steps are used up.
func (x *expedition) walk(ctx context.Context, actions []envharness.Action) (*start, error) {
	if x.left < len(actions)+2 {
		return nil, nil
	}
	o, err := x.begin(ctx)
	if err != nil {
		return nil, err
	}
	s := &start{actions: actions}
	for _, a := range actions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x.left--
		t, err := x.env.Step(ctx, a)
		if err != nil || t.Error != nil || t.Ended() {
			return nil, ctx.Err()
		}
		o = t.Observation
		if !x.familiar[o.Text] {
			s.strange++
		}
	}
	s.next = x.choices(o)
	return s, x.judge(ctx, s, o)
}

// begin resets the environment.
func (x *expedition) begin(ctx context.Context) (envharness.Observation, error) {
	if err := ctx.Err(); err != nil {
		return envharness.Observation{}, err
	}
	x.left--
	o, err := x.env.Reset(ctx, x.reset)
	if errors.Is(err, envharness.ErrSeedUnsupported) {
		x.reset.Seed = nil
		o, err = x.env.Reset(ctx, x.reset)
	}
	if err != nil {
		return o, fmt.Errorf("reset the environment: %w", err)
	}
	return o, nil
}

// judge says how hard a start is.
func (x *expedition) judge(ctx context.Context, s *start, o envharness.Observation) error {
	if x.oracle == nil {
		if !x.familiar[o.Text] && len(x.familiar) > 0 {
			s.score = s.strange
		}
		s.why = fmt.Sprintf("actions before the first turn: %d; texts that no passed rollout showed: %d", len(s.actions), s.strange)
		return nil
	}
	x.left--
	plan, err := x.oracle.Plan(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	switch {
	case err != nil || len(plan) == 0 || x.Baseline.Limit > 0 && len(plan) > x.Baseline.Limit:
		s.lost, s.score = true, -1
	case len(s.actions) == 0:
		x.usual = len(plan)
	default:
		s.score = len(plan) - x.usual
	}
	s.why = fmt.Sprintf("actions before the first turn: %d; turns of a solution from there: %d, not %d", len(s.actions), len(plan), x.usual)
	return nil
}

// choices returns what may be done: the admissible actions, or else those of the rollouts of the brief and of tools without arguments.
func (x *expedition) choices(o envharness.Observation) []envharness.Action {
	if o.Actions != nil {
		return o.Actions
	}
	var out []envharness.Action
	seen := make(map[string]bool)
	add := func(a envharness.Action) {
		if key := actionKey(a); !seen[key] {
			seen[key] = true
			out = append(out, a)
		}
	}
	for _, t := range x.traces {
		for _, a := range carriedOut(t) {
			add(a)
		}
	}
	for _, a := range x.way {
		add(a)
	}
	for _, t := range x.tools {
		if takesNothing(t.Schema) {
			add(envharness.Action{Name: t.Name})
		}
	}
	return out
}

// legal reports whether the harness takes a start that was not tried before.
func (x *expedition) legal(ctx context.Context, s *start) (bool, error) {
	setup := envharness.Setup{Actions: s.actions, Aid: x.Direction == components.Easier}
	entries, err := x.registry.Entries(setup)
	if err != nil {
		return false, err
	}
	if x.tried[stackKey(entries)] || x.left < len(s.actions)+1 {
		return false, nil
	}
	x.left -= len(s.actions) + 1
	h, err := envharness.New(x.world, setup)
	if err != nil {
		return false, nil
	}
	_, err = h.Reset(ctx, x.reset)
	if closing := h.Close(); closing != nil {
		return false, fmt.Errorf("close an environment: %w", closing)
	}
	return err == nil, ctx.Err()
}
