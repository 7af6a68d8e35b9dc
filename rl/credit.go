package rl

import "math"

// The reasons of an estimator in Credit.NoVote.
const (
	reasonTruncated   = "truncated"
	reasonNonFinite   = "non-finite"
	reasonNoTrainable = "no trainable token"
)

// prepare lays c out for batch, checks where trajectories end, and gives a vote to each turn that has a trainable token
// and is not excluded, nor its trajectory. Advantages and value targets are 0 afterwards. A nil c is allocated.
func prepare(c *Credit, batch []Trajectory, values bool) (*Credit, error) {
	if c == nil {
		c = new(Credit)
	}
	turns := 0
	for i := range batch {
		turns += len(batch[i].Turns)
	}
	c.Start = resize(c.Start, len(batch)+1)
	c.Advantage = resize(c.Advantage, turns)
	c.Vote = resize(c.Vote, turns)
	c.NoVote = resize(c.NoVote, len(batch))
	if values {
		c.ValueTarget = resize(c.ValueTarget, turns)
	} else {
		c.ValueTarget = nil
	}
	c.Groups, c.ZeroVariance, c.Singletons = 0, 0, 0
	at := 0
	for i := range batch {
		t := &batch[i]
		c.Start[i] = at
		at += len(t.Turns)
		c.NoVote[i] = t.Excluded
		if t.Excluded != "" {
			continue
		}
		if err := checkEnds(i, t); err != nil {
			return nil, err
		}
		c.NoVote[i] = reasonNoTrainable
		for k := range t.Turns {
			if votes(&t.Turns[k]) {
				c.Vote[c.Start[i]+k] = true
				c.NoVote[i] = ""
			}
		}
	}
	c.Start[len(batch)] = at
	return c, nil
}

// exclude takes the vote of trajectory i away.
func (c *Credit) exclude(i int, reason string) {
	c.NoVote[i] = reason
	from, to := c.Start[i], c.Start[i+1]
	clear(c.Vote[from:to])
	clear(c.Advantage[from:to])
	if c.ValueTarget != nil {
		clear(c.ValueTarget[from:to])
	}
}

func votes(t *Turn) bool {
	if t.Excluded {
		return false
	}
	for j := range t.Tokens {
		if t.Tokens[j].Trainable {
			return true
		}
	}
	return false
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
// then tokens: the advantage of its turn. Tokens of excluded turns and trajectories are among them, so that the order is
// the one of a plain walk over the batch; like all tokens of turns without a vote they get 0. Give those weight 0 in a
// loss, since with advantage 0 they would still be read and count in its mean: Vote tells.
//
// Batch is the one that c was estimated from. If the numbers of trajectories or turns differ, all the result is NaN,
// which losses refuse. It is written over dst, which grows if need be. O(tokens) time.
func (c *Credit) TokenAdvantages(dst []float64, batch []Trajectory) []float64 {
	dst = dst[:0]
	fits := c.fits(batch)
	at := 0
	for i := range batch {
		for k := range batch[i].Turns {
			a := math.NaN()
			if fits {
				a = c.Advantage[at]
			}
			at++
			for j := range batch[i].Turns[k].Tokens {
				if batch[i].Turns[k].Tokens[j].Trainable {
					dst = append(dst, a)
				}
			}
		}
	}
	return dst
}

// fits reports whether c has the shape of batch.
func (c *Credit) fits(batch []Trajectory) bool {
	if c == nil || len(c.Start) != len(batch)+1 {
		return false
	}
	at := 0
	for i := range batch {
		if c.Start[i] != at {
			return false
		}
		at += len(batch[i].Turns)
	}
	return c.Start[len(batch)] == at && len(c.Advantage) == at
}
