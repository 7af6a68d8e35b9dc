package vector

import (
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// The stages of serving a slot, for errors.
const (
	stageNext    = "next"
	stageReset   = "reset"
	stageStep    = "step"
	stageVerdict = "verdict"
	stageClose   = "close"
)

// step serves a slot in a Step.
func (l *lane) step(a envharness.Action) {
	s := l.slot
	manual := l.c.v.o.Mode == Disabled
	switch {
	case s.phase == running:
		l.act(a)
	case !s.begun || manual && s.phase == idle:
		l.result.Err = fmt.Errorf("vector: slot %d: %w", s.index, envharness.ErrNeedReset)
	case manual:
		l.result.Err = fmt.Errorf("vector: slot %d: %w", s.index, envharness.ErrEpisodeOver)
	default:
		l.result.AutoReset = true
		l.again()
	}
}

// act carries out an action in a running episode.
func (l *lane) act(a envharness.Action) {
	s, r, h := l.slot, &l.result, l.slot.h
	s.turns++
	var t envharness.Transition
	err := l.during(stageStep, 1, func() (err error) {
		t, err = h.Step(l.ctx, a)
		return err
	})
	if err != nil {
		l.failed(stageStep, err)
		return
	}
	s.sum += t.Reward
	r.Transition = t
	if !t.Ended() {
		return
	}
	s.phase = over
	r.Episode = s.summary()
	if !l.judge() || l.c.v.o.Mode != SameStep {
		return
	}
	r.Final = new(t)
	r.Observation = envharness.Observation{}
	l.again()
}

// judge asks for the verdict of the ended episode. It reports whether the slot can go on.
func (l *lane) judge() bool {
	if l.c.v.o.Unjudged {
		return true
	}
	h := l.slot.h
	var v envharness.Verdict
	err := l.during(stageVerdict, 3+l.slot.turns, func() (err error) {
		v, err = h.Verdict(l.ctx)
		return err
	})
	if err != nil {
		l.failed(stageVerdict, err)
		return false
	}
	l.result.Episode.Verdict = v
	return true
}

// again begins the next episode of a slot that resets itself.
func (l *lane) again() {
	l.slot.episode++
	l.resetNext(envharness.ResetOptions{Task: l.slot.task, Options: l.slot.options})
}

// resetNext resets the slot to what [Options].Next says, or to fallback.
func (l *lane) resetNext(fallback envharness.ResetOptions) {
	o, next := fallback, l.c.v.o.Next
	if next != nil {
		index, episode := l.slot.index, l.slot.episode
		err := l.during(stageNext, 1, func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v", p)
				}
			}()
			o = next(index, episode)
			return nil
		})
		if err != nil {
			l.failed(stageNext, err)
			return
		}
	}
	l.reset(o)
}

// reset begins an episode.
func (l *lane) reset(o envharness.ResetOptions) {
	s := l.slot
	s.take(o)
	h, err := l.c.v.harness(s)
	if err != nil {
		l.failed(stageReset, err)
		return
	}
	s.h = h
	var obs envharness.Observation
	o = envharness.ResetOptions{Task: s.task, Seed: new(s.seed), Options: s.options}
	err = l.during(stageReset, 1, func() (err error) {
		obs, err = h.Reset(l.ctx, o)
		return err
	})
	if err != nil {
		l.failed(stageReset, err)
		return
	}
	s.phase = running
	l.result.Observation = obs
}

// failed notes a failure and lets go of the environment, unless nobody waits any more.
func (l *lane) failed(stage string, err error) {
	if errors.Is(err, errLeft) {
		return
	}
	l.result.fail(l.slot, stage, err)
	l.drop()
}

// drop closes the environment of a slot after a failure. The next reset opens another.
func (l *lane) drop() {
	s := l.slot
	s.phase = s.phase.afterFailure()
	h := s.h
	if h == nil {
		return
	}
	err := l.during(stageClose, 1, h.Close)
	switch {
	case errors.Is(err, errLeft):
		return
	case err != nil && !errors.Is(l.result.Err, err):
		l.result.fail(s, stageClose, err)
	}
	s.h = nil
	l.c.v.forget(s.index)
}

// afterFailure is the phase that a failure leaves: an episode that had begun is over.
func (p phase) afterFailure() phase {
	if p == running {
		return over
	}
	return p
}

// fail adds a failure to the result. The verdict of an episode that it ended, or that it kept from being judged, is Invalid.
func (r *Result) fail(s *slot, stage string, err error) {
	err = fmt.Errorf("vector: slot %d: %s: %w", s.index, stage, err)
	if stage == stageStep {
		r.Episode = s.summary()
	}
	if stage == stageStep || stage == stageVerdict {
		r.Episode.Verdict = envharness.Verdict{Reason: err.Error()}
	}
	r.Err = errors.Join(r.Err, err)
}
