package rl

import (
	"cmp"
	"math"
)

// Credit is the result of an estimator: one number per turn of a batch, turns of all trajectories one after another, or one
// number per token.
//
// Pass a Credit from an earlier call to reuse its memory, or nil: the slices of the earlier result are then overwritten.
// After an error the content of a reused Credit is of no use, but it can be passed again.
type Credit struct {
	Start       []int     // turns of trajectory i are Start[i] up to Start[i+1]; one entry more than there are trajectories
	Advantage   []float64 // one per turn, shared by all trainable tokens of the turn; 0 where the turn has no vote
	Vote        []bool    // one per turn: whether it has a vote, which advantage 0 does not tell
	ValueTarget []float64 // target of the critic's V, one per turn; nil from estimators without a critic of turns
	QTarget     []float64 // target of the critic's Q, one per turn; nil from estimators without it

	// From an estimator whose time steps are tokens, one number per token that has Trainable set, in the order of
	// trajectories, turns and tokens; nil from others. Advantage then has the mean over the tokens of each turn.
	TokenAdvantage []float64
	TokenTarget    []float64 // target of a critic of tokens; nil where there is none

	// NoVote says, per trajectory, why it has no vote: its own Excluded text, or "truncated", "non-finite" or
	// "no trainable token". It is empty for a voter. Value targets of the first three kinds are 0 and must not be
	// trained on, nor must those of excluded turns.
	NoVote []string

	// Flat tells, per trajectory, whether it was compared with other voters of its group and there was no difference: in
	// their scores, and in GAGPO in the advantages of their turns. By its score it teaches nothing then, but GiGPO, GraphGPO
	// and MileGPO compare steps as well. nil from estimators that compare no groups.
	Flat []bool

	// The groups that were compared, 0 from estimators that compare none.
	Groups       int // groups of two voters or more
	ZeroVariance int // those among Groups whose trajectories are Flat; 0 with StdOff
	Singletons   int // groups of one voter

	kept struct { // memory of slices that may be nil above
		value, q []float64
		flat     []bool
	}
	// The rest is memory that estimators use again.
	score     []float64    // per trajectory
	groups    partition    // of trajectories
	flatGroup []bool       // per group
	packed    []float64    // voters' numbers, packed
	keys      numbering    // of groups, then of states
	rows      []float64    // per trajectory, how often it counts
	step      []float64    // per turn, discounted return or what becomes of it
	steps     partition    // of turns
	visitor   []int        // per state, the trajectory that was there last
	state     []int        // per turn
	value     []stateValue // per state
	graph     *stateGraph
}

// An Estimator gives credit to a batch. The functions of this package and of package token are estimators once their
// options are bound. It must not change batch, and must work for any batch that passes [Validate].
type Estimator func(dst *Credit, batch []Trajectory) (*Credit, error)

// The reasons of an estimator in Credit.NoVote.
const (
	reasonTruncated   = "truncated"
	reasonNonFinite   = "non-finite"
	reasonNoTrainable = "no trainable token"
)

// NewCredit returns dst, or a new Credit if that is nil, laid out for batch, for estimators of one's own: Start, Vote and
// NoVote are set, and Advantage is 0. Each turn that has a trainable token votes if neither it nor its trajectory is
// excluded. The error is a [*FieldError] for a trajectory, not excluded, that has no turn or does not end on its last turn
// and on no other. O(turns + tokens) time; it allocates nothing if dst comes from a batch of at least this size.
func NewCredit(dst *Credit, batch []Trajectory) (*Credit, error) {
	c := layOut(dst, batch)
	for i := range batch {
		if batch[i].Excluded != "" {
			continue
		}
		if err := c.vote(i, &batch[i]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// layOut returns c with room for batch in which no turn votes yet.
func layOut(c *Credit, batch []Trajectory) *Credit {
	if c == nil {
		c = new(Credit)
	}
	c.Start = resize(c.Start, len(batch)+1)
	c.NoVote = resize(c.NoVote, len(batch))
	turns := 0
	for i := range batch {
		c.Start[i] = turns
		turns += len(batch[i].Turns)
		c.NoVote[i] = batch[i].Excluded
	}
	c.Start[len(batch)] = turns
	c.Advantage = resize(c.Advantage, turns)
	c.Vote = resize(c.Vote, turns)
	c.ValueTarget, c.QTarget, c.TokenAdvantage, c.TokenTarget, c.Flat = nil, nil, nil, nil, nil
	c.Groups, c.ZeroVariance, c.Singletons = 0, 0, 0
	return c
}

// vote checks where trajectory i, which is not excluded, ends, and gives its turns their votes.
func (c *Credit) vote(i int, t *Trajectory) error {
	if len(t.Turns) == 0 {
		return checkEnds(i, t)
	}
	vote := c.Vote[c.Start[i]:c.Start[i+1]]
	last, any := len(vote)-1, false
	for k := range t.Turns {
		turn := &t.Turns[k]
		if (turn.End == Continue) == (k == last) || turn.End > Truncated {
			return checkEnds(i, t)
		}
		if !turn.Excluded {
			vote[k] = trains(turn.Tokens)
			any = any || vote[k]
		}
	}
	if !any {
		c.NoVote[i] = reasonNoTrainable
	}
	return nil
}

func trains(tokens []Token) bool {
	for j := range tokens {
		if tokens[j].Trainable {
			return true
		}
	}
	return false
}

// Exclude takes the vote of trajectory i away, for estimators of one's own, before they compare anything; its advantages
// and targets of turns become 0. An empty reason becomes "excluded"; those of this package, "truncated", "non-finite" and
// "no trainable token", keep their meaning, so give another. It does nothing if there is no trajectory i.
func (c *Credit) Exclude(i int, reason string) {
	if i < 0 || i >= len(c.NoVote) {
		return
	}
	c.NoVote[i] = cmp.Or(reason, "excluded")
	from, to := c.Start[i], c.Start[i+1]
	clear(c.Vote[from:to])
	clear(c.Advantage[from:to])
	if c.ValueTarget != nil {
		clear(c.ValueTarget[from:to])
	}
	if c.QTarget != nil {
		clear(c.QTarget[from:to])
	}
}

// Normalize applies n to the advantages of all voting turns of the batch together, as [TurnGAE] does at its end: once per
// collected batch, never per mini-batch. Std zero means StdPopulation and Eps nil 1e-8, added. Errors are those of
// [Norm.Apply], and one where TokenAdvantage is set, whose mean Advantage is. O(turns) time.
func (c *Credit) Normalize(n Norm) error {
	f, err := n.fill("Norm", batchNorm)
	if err != nil {
		return err
	}
	if c.TokenAdvantage != nil {
		return &FieldError{-1, -1, "TokenAdvantage", "set", "credit per turn alone", nil}
	}
	for k, v := range c.Vote {
		if v && !finite(c.Advantage[k]) {
			return nonFinite(-1, -1, at("Advantage", k), c.Advantage[k])
		}
	}
	return c.normalise(f)
}

// normalise applies n to the finite advantages of voting turns.
func (c *Credit) normalise(n norm) error {
	voters := 0
	for _, v := range c.Vote {
		if v {
			voters++
		}
	}
	if n.refuses(voters) {
		return &FieldError{-1, -1, "the batch", "one voting turn", "two or more to compare", nil}
	}
	x := c.Advantage
	if voters < len(x) {
		x = resize(c.packed, voters)[:0]
		for k, v := range c.Vote {
			if v {
				x = append(x, c.Advantage[k])
			}
		}
		c.packed = x
	}
	if flat := n.apply(x, nil); flat || n.std == StdNone { // huge numbers that are centred only can overflow
		for _, v := range x {
			if !finite(v) {
				return nonFinite(-1, -1, "a centred advantage", v)
			}
		}
	}
	if voters < len(c.Advantage) {
		next := 0
		for k, v := range c.Vote {
			if v {
				c.Advantage[k] = x[next]
				next++
			}
		}
	}
	return nil
}

// resize returns n zeros, in the memory of s if it suffices; not nil, even if n is 0.
func resize[T any](s []T, n int) []T {
	if s == nil || cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// TokenAdvantages returns one number per token of batch that has Trainable set, in the order of trajectories, then turns,
// then tokens: TokenAdvantage where the estimator gave one, else the advantage of its turn. Tokens of excluded turns and
// trajectories are among them, so that the order is
// the one of a plain walk over the batch; like all tokens of turns without a vote they have 0. Give those weight 0 in a
// loss, since with advantage 0 they would still be read and count in its mean: Weights of package loss does.
//
// Batch is the one that c was estimated from. If c does not have its shape, see [Credit.Fits], all the result is NaN,
// which losses refuse. It is written over dst, which grows if need be. O(tokens) time.
func (c *Credit) TokenAdvantages(dst []float64, batch []Trajectory) []float64 {
	dst = dst[:0]
	fits := c.Fits(batch)
	turn := 0
	for i := range batch {
		for k := range batch[i].Turns {
			for j := range batch[i].Turns[k].Tokens {
				if !batch[i].Turns[k].Tokens[j].Trainable {
					continue
				}
				a := math.NaN()
				switch {
				case !fits:
				case !c.Vote[turn]:
					a = 0
				case c.TokenAdvantage == nil:
					a = c.Advantage[turn]
				default:
					a = c.TokenAdvantage[len(dst)]
				}
				dst = append(dst, a)
			}
			turn++
		}
	}
	return dst
}

// Fits reports whether c has the shape of batch: as many trajectories, each with as many turns, and of tokens as many as
// are trainable, in all slices that are not nil. O(turns) time, and O(tokens) where there are numbers per token.
func (c *Credit) Fits(batch []Trajectory) bool {
	if c == nil || len(c.Start) != len(batch)+1 || len(c.NoVote) != len(batch) || c.Flat != nil && len(c.Flat) != len(batch) {
		return false
	}
	turns := 0
	for i := range batch {
		if c.Start[i] != turns {
			return false
		}
		turns += len(batch[i].Turns)
	}
	if c.Start[len(batch)] != turns || len(c.Advantage) != turns || len(c.Vote) != turns {
		return false
	}
	for _, x := range [...][]float64{c.ValueTarget, c.QTarget} {
		if x != nil && len(x) != turns {
			return false
		}
	}
	if c.TokenAdvantage == nil && c.TokenTarget == nil {
		return true
	}
	tokens := 0
	for i := range batch {
		for k := range batch[i].Turns {
			for j := range batch[i].Turns[k].Tokens {
				if batch[i].Turns[k].Tokens[j].Trainable {
					tokens++
				}
			}
		}
	}
	for _, x := range [...][]float64{c.TokenAdvantage, c.TokenTarget} {
		if x != nil && len(x) != tokens {
			return false
		}
	}
	return true
}
