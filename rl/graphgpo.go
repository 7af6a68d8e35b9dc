package rl

import (
	"errors"
	"fmt"
	"math"
)

// GraphGPOOptions adjusts [GraphGPO], and [MileGPO] within [MileGPOOptions]. A nil *GraphGPOOptions equals
// &GraphGPOOptions{}. Numbers without another range are in [0, 1e100], so that no product of them overflows.
type GraphGPOOptions struct {
	GoalReturn    *float64 // return of a step into a goal, c; nil means 10
	GoalDecay     *float64 // factor of that return per step of distance to the goal, gamma_G, in (0, 1); nil means 0.2
	StepWeight    *float64 // of the comparison of steps from one state, w_step; nil means 1
	EpisodeWeight *float64 // of the comparison of scores in a group, w_episode; nil means 1

	// SuccessAbove is the score, without penalties, above which a trajectory without a verdict of its own counts as a
	// success, theta_R; any finite number (ours).
	SuccessAbove   float64
	InvalidPenalty *float64 // subtracted from the score for each invalid turn, >= 0; nil means 0.1 (paper of MileGPO)

	// Norm is that of the scores of a group and that of the returns of steps from one state. Std zero means StdSample and
	// Eps nil means 1e-6 (both ours). Singleton is about a group of one voter and a state in which one turn
	// starts, SingletonError about the former only: for the latter, which is ordinary, it stands for SingletonZero.
	Norm Norm

	// ExcludeNonFinite takes the vote from a trajectory whose score is not finite, instead of returning an error.
	ExcludeNonFinite bool
}

// GraphGPO computes the credit of GraphGPO (arXiv:2605.26684, as arXiv:2608.19803 states it). The trajectories of a group
// make a graph of states: Turn.State and FinalState are its nodes, each turn an edge. With d(s) the number of steps on the
// shortest way from s to a goal, turn t, which leads from s_t to s_{t+1}, has the return
//
//	r_t = c * gamma_G^d(s_{t+1})
//
// or 0 where no goal can be reached, and the advantage
//
//	A_t = w_step * Norm(r_t over the turns of the group that start in s_t) + w_episode * Norm(Z over the group)
//
// with the penalised score Z of [GRPO]. Goals are the final states of successes: trajectories with Success true or, where it
// is nil, with a score above SuccessAbove. With several goals the nearest one counts (ours: the paper has one). A state
// without a key is like no other, and a goal that a trajectory passes on its way is still a goal.
//
// All turns of trajectories that vote are edges, those without a vote too; only voting turns are compared. Every visit of a
// state counts. Turns without a vote get 0.
//
// GraphGPO reads rewards, ends, flags, states and verdicts of trajectories that are not excluded, and whether a token is
// trainable. It returns a [*FieldError] around [ErrOpenTrajectory] or [ErrNonFinite] for the first fault, one for a group of
// one under [SingletonError], and an error for options out of range. It sets Groups, ZeroVariance, Singletons and Flat of
// the result, all about the scores alone: where they do not differ the step part can still teach. It is deterministic,
// groups and states are processed in order of first appearance, and takes expected O(turns + tokens + bytes
// of keys) time; with dst from a batch of at least this size, groups and states counted, it allocates nothing.
func GraphGPO(dst *Credit, batch []Trajectory, o *GraphGPOOptions) (*Credit, error) {
	if o == nil {
		o = &GraphGPOOptions{}
	}
	s, err := o.fill("GraphGPOOptions", "GraphGPOOptions.Norm")
	if err != nil {
		return nil, err
	}
	return s.credit(dst, batch, nil)
}

// graphSettings is GraphGPOOptions with its defaults filled in.
type graphSettings struct {
	goalReturn, goalDecay     float64
	stepWeight, episodeWeight float64
	successAbove, penalty     float64
	norm                      norm
	exclude                   bool
}

// heaviest is the largest weight. Products of up to three weights are finite.
const heaviest = 1e100

// fill fills in the defaults. Errors name the fields as those of options, and of the norm.
func (o *GraphGPOOptions) fill(options, norm string) (graphSettings, error) {
	s := graphSettings{
		goalReturn:    orDefault(o.GoalReturn, 10),
		goalDecay:     orDefault(o.GoalDecay, 0.2),
		stepWeight:    orDefault(o.StepWeight, 1),
		episodeWeight: orDefault(o.EpisodeWeight, 1),
		successAbove:  o.SuccessAbove,
		penalty:       orDefault(o.InvalidPenalty, 0.1),
		exclude:       o.ExcludeNonFinite,
	}
	n, err := o.Norm.fill(norm, groupNorm)
	if err := errors.Join(
		inRange(options, "GoalReturn", s.goalReturn, 0, heaviest),
		within(options, "GoalDecay", s.goalDecay),
		inRange(options, "StepWeight", s.stepWeight, 0, heaviest),
		inRange(options, "EpisodeWeight", s.episodeWeight, 0, heaviest),
		inRange(options, "SuccessAbove", s.successAbove, -math.MaxFloat64, math.MaxFloat64),
		inRange(options, "InvalidPenalty", s.penalty, 0, math.Inf(1)),
		err,
	); err != nil {
		return graphSettings{}, err
	}
	s.norm = n
	return s, nil
}

// within returns an error unless the option has 0 < x < 1.
func within(options, field string, x float64) error {
	if x > 0 && x < 1 {
		return nil
	}
	return fmt.Errorf("rl: %s.%s is %v, want a number in (0, 1), the ends not included", options, field, x)
}

// credit computes GraphGPO, or MileGPO with the given settings.
func (s *graphSettings) credit(dst *Credit, batch []Trajectory, m *mileSettings) (*Credit, error) {
	c, err := NewCredit(dst, batch)
	if err != nil {
		return nil, err
	}
	if err := c.scores(batch, s.penalty, s.exclude); err != nil {
		return nil, err
	}
	if err := c.compareScores(batch, s.norm); err != nil {
		return nil, err
	}
	n := s.norm
	if n.singleton == SingletonError {
		n.singleton = SingletonZero // a state met once is no fault
	}
	g := c.stateGraph()
	g.build(c, batch, s.successAbove)
	g.reach(s.goalReturn, s.goalDecay)
	g.compareStates(c)

	c.step = resize(c.step, len(g.edge)) // A^G
	for k := range c.step {
		if c.Vote[k] {
			c.step[k] = g.worth[g.target[k]]
		}
	}
	if err := c.compareReturns(n, c.step); err != nil {
		return nil, err
	}
	if m != nil && m.mix != 0 {
		m.shape(g, s)
		g.mixed = resize(g.mixed, len(g.edge)) // A^mix
		for k := range g.mixed {
			if c.Vote[k] {
				g.mixed[k] = g.mile.edges[g.edge[k]].MilestoneReturn
			}
		}
		if err := c.compareReturns(n, g.mixed); err != nil {
			return nil, err
		}
		for k, mixed := range g.mixed {
			c.step[k] += m.mix * (mixed - c.step[k])
		}
	}
	for i := range batch {
		for k := c.Start[i]; k < c.Start[i+1]; k++ {
			if !c.Vote[k] {
				continue
			}
			c.Advantage[k] = s.stepWeight*c.step[k] + s.episodeWeight*c.score[i]
			if !finite(c.Advantage[k]) {
				return nil, nonFinite(i, k-c.Start[i], "the advantage", c.Advantage[k])
			}
		}
	}
	return c, nil
}

// compareReturns replaces the returns x by n of them among the voting turns that start in the same state.
func (c *Credit) compareReturns(n norm, x []float64) error {
	if _, at := c.steps.normalise(n, x, nil, nil); at >= 0 {
		i, k := c.locate(at)
		return nonFinite(i, k, "the centred return", x[at])
	}
	return nil
}
