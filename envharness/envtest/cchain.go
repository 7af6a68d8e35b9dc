package envtest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// A chainLeg is one leg of a chain and what became of it.
type chainLeg struct {
	book     ledger
	verdicts []envharness.Verdict // on episodes that were played, in order
}

// checkChain plays chains of two legs that end after two turns each, with the component on the first leg and around both.
func checkChain(ctx context.Context, x *componentTrial) error {
	steady, err := x.steady(ctx)
	if err != nil {
		return err
	}
	places := []string{"on a leg"}
	if x.axis != envharness.AxisStart && !x.edits() {
		places = append(places, "around the chain")
	}
	for _, place := range places {
		if err := x.inChain(ctx, place == "on a leg", steady[0]); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	return nil
}

func (x *componentTrial) inChain(ctx context.Context, onLeg bool, usual played) error {
	task := x.tasks[0]
	legs := make([]chainLeg, 2)
	parts := make([]envharness.Leg, len(legs))
	for i := range legs {
		after := 2
		if i == 0 && onLeg {
			after += usual.replays()
		}
		parts[i] = envharness.Leg{World: legs[i].world(x.World, i, after), Task: task.ID}
	}
	var around []envharness.Component
	if onLeg {
		parts[0].Components = []envharness.Component{x.New()}
	} else {
		around = []envharness.Component{x.New()}
	}
	w, err := envharness.Link(parts, nil)
	if err != nil {
		return err
	}
	task.ID = ""
	ep, err := x.one(ctx, staging{world: w, components: around}, task)
	if err != nil {
		return err
	}
	if ep.Verdict.Status == envharness.Invalid {
		return fmt.Errorf("the episode is invalid: %s", ep.Cause)
	}
	return chainIsSound(ep, legs)
}

// world is a leg whose base ends the episode after so many results. It is not deterministic, so that nothing is replayed and counted
// twice, and the second leg lists one more tool than the first.
func (l *chainLeg) world(w envharness.World, i, after int) envharness.World {
	l.book.change = func(n int, t *envharness.Transition) {
		if n >= after {
			t.Terminated, t.Truncated, t.Reason = true, false, ""
		}
	}
	l.book.describe = func(d envharness.Description) envharness.Description {
		d.Deterministic = false
		if i > 0 {
			d.Tools = append(slices.Clone(d.Tools), envharness.Tool{Name: "envtest_other"})
		}
		return d
	}
	verifier := w.Verifier
	w = seamed(w, &l.book)
	w.Verifier = envharness.VerifierFunc(func(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
		v, err := verifier.Verify(ctx, e)
		if err == nil && (e.EndReason != "" || slices.ContainsFunc(e.Log, isStep)) { // else it is the verdict on a start
			l.verdicts = append(l.verdicts, v)
		}
		return v, err
	})
	return w
}

func isStep(e envharness.LogEntry) bool { return e.Kind == envharness.LogStep }

func chainIsSound(ep played, legs []chainLeg) error {
	want := envharness.Pass
	for i := range legs {
		l := &legs[i]
		if l.book.opened == 0 || l.book.opened != l.book.closed || l.book.closeErr != nil {
			return fmt.Errorf("leg %d: %d environments opened, %d closed, error %v", i, l.book.opened, l.book.closed, l.book.closeErr)
		}
		if len(l.book.seeds) == 0 { // not reached
			want = envharness.Fail
			continue
		}
		if seed := legSeed(ep.Seed, i); len(l.book.seeds) != 1 || l.book.seeds[0] != seed {
			return fmt.Errorf("leg %d: reset with seeds %d, want %d once", i, l.book.seeds, seed)
		}
		left := i+1 < len(legs) && len(legs[i+1].book.seeds) > 0
		if len(l.verdicts) > 1 || left && len(l.verdicts) == 0 {
			return fmt.Errorf("leg %d: judged %d times", i, len(l.verdicts))
		}
		if len(l.verdicts) == 0 || l.verdicts[0].Status != envharness.Pass {
			want = envharness.Fail
		}
	}
	if len(legs[0].book.seeds) == 0 {
		return errors.New("the first leg was not reset")
	}
	if ep.Verdict.Status != want {
		return fmt.Errorf("the verdict is %s, of the legs %s", ep.Verdict.Status, want)
	}
	return nil
}

// legSeed is the seed of a leg, by the rule that package envharness has for all its streams.
func legSeed(seed uint64, leg int) uint64 {
	b := []byte("envharness/v1\x00")
	b = binary.BigEndian.AppendUint64(b, seed)
	b = fmt.Appendf(b, "\x00seed/leg/%d\x00", leg)
	b = binary.BigEndian.AppendUint64(b, 0)
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:8])
}
