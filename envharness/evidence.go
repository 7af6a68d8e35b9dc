package envharness

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
)

// take copies the arguments of an action into the memory of the episode, so that a step costs no allocation of its own. It comes
// before anything else looks at the action: what was logged must be what the base was given, whatever the caller does to its bytes.
func (h *Harness) take(a Action) Action {
	if len(a.Args) == 0 {
		return Action{Name: a.Name}
	}
	at := len(h.args)
	h.args = append(h.args, a.Args...)
	a.Args = h.args[at:len(h.args):len(h.args)]
	return a
}

// record appends a call on the base to the log, makes the result its own, and returns the logged result, which nobody changes any more. A
// result that no environment may give is an error. The arguments of a are the harness's own already.
func (h *Harness) record(kind LogKind, a Action, t Transition) (*Transition, error) {
	h.log = append(h.log, LogEntry{Kind: kind, Action: a, Transition: t})
	logged := &h.log[len(h.log)-1].Transition
	if err := ownTransition(logged); err != nil {
		h.unlog()
		return nil, err
	}
	return logged, nil
}

// unlog takes back the last entry, of a call that failed.
func (h *Harness) unlog() {
	h.log[len(h.log)-1] = LogEntry{}
	h.log = h.log[:len(h.log)-1]
}

// evidence copies what is known, without the state of a running episode.
func (h *Harness) evidence() Evidence {
	e := Evidence{
		Task:      h.task,
		Seed:      h.seed,
		Options:   bytes.Clone(h.options),
		Log:       make([]LogEntry, len(h.log)),
		Start:     bytes.Clone(h.start),
		End:       bytes.Clone(h.endState),
		EndReason: h.end,
	}
	for i := range h.log {
		e.Log[i] = copyEntry(h.log[i])
	}
	return e
}

// currentEvidence is the evidence with the present state as End while the episode runs.
func (h *Harness) currentEvidence(ctx context.Context) (Evidence, error) {
	e := h.evidence()
	if h.phase == running {
		st, err := h.readState(ctx)
		if err != nil {
			return Evidence{}, fmt.Errorf("envharness: state: %w", err)
		}
		e.End = st
	}
	return e, nil
}

// Evidence returns a copy of what happened on the base in the present or last episode. Before the first Reset, and after a failed one,
// it returns [ErrNeedReset].
func (h *Harness) Evidence(ctx context.Context) (Evidence, error) {
	if err := h.enter(); err != nil {
		return Evidence{}, err
	}
	defer h.leave()
	if h.phase == idle {
		return Evidence{}, ErrNeedReset
	}
	return h.currentEvidence(ctx)
}

// Verdict asks the verifier about the present evidence; while the episode runs, that is what was reached so far. An episode that an
// infrastructure failure ended is [Invalid], and so is one whose verifier errs, panics, or returns a score or part outside [0, 1]. A
// Pass always has Score 1.
//
// Where the environment declares itself deterministic, an episode that has ended is not taken at its word: the log is carried out on
// a fresh environment of the [World], every result and both states must come out the same, and the verifier must say the same of the
// replay. A difference makes the verdict [Invalid] with [ErrTamper] in its Reason. A verdict without that is marked Unreplayed.
//
// The error is [ErrNeedReset], [ErrBusy], [ErrClosed] or a failure to read the state of a running episode, and says nothing about the
// episode.
func (h *Harness) Verdict(ctx context.Context) (Verdict, error) {
	if err := h.enter(); err != nil {
		return Verdict{}, err
	}
	defer h.leave()
	switch {
	case h.phase == idle:
		return Verdict{}, ErrNeedReset
	case h.end.Infra():
		return Verdict{Reason: h.cause.Error()}, nil
	case h.phase == over:
		v, err := h.judge(ctx)
		if err != nil {
			v.Reason = err.Error()
		}
		return v, nil
	}
	e, err := h.currentEvidence(ctx)
	if err != nil {
		return Verdict{}, err
	}
	v, err := h.ask(ctx, e)
	if err != nil {
		v.Reason = err.Error()
	}
	v.Unreplayed = true
	return v, nil
}

// judge asks the verifier about an episode that came to its end, and about its replay. An error comes with an [Invalid] verdict.
func (h *Harness) judge(ctx context.Context) (Verdict, error) {
	e := h.evidence()
	v, err := h.ask(ctx, e)
	if err != nil || v.Status == Invalid {
		return v, err
	}
	if !h.desc.Deterministic || h.unseedable || h.chain != nil && h.chain.unseedable() {
		v.Unreplayed = true
		return v, nil
	}
	e.Options, e.Log = h.options, h.log // the verifier may have spoilt its copies
	e.Start, e.End = intact(e.Start, h.start), intact(e.End, h.endState)
	fresh, err := h.replay(ctx, e)
	if err != nil {
		return Verdict{}, blame(ctx, EndEnvError, err)
	}
	again, err := h.ask(ctx, fresh)
	if err != nil {
		return Verdict{}, err
	}
	if !sameVerdict(v, again) {
		return Verdict{}, &failure{EndVerifierError, fmt.Errorf("%w: verdict %s %v, of the episode itself %s %v",
			ErrTamper, again.Status, again.Score, v.Status, v.Score)}
	}
	return v, nil
}

// intact returns a copy of a state: the one that was made before, if it still is one.
func intact(used, original State) State {
	if bytes.Equal(used, original) {
		return used
	}
	return bytes.Clone(original)
}

// ask calls the verifier and holds it to its contract. An error comes with an [Invalid] verdict.
func (h *Harness) ask(ctx context.Context, e Evidence) (Verdict, error) {
	v, err := watched(h.watch, site{kind: siteVerifier}, func() (Verdict, error) { return h.world.Verifier.Verify(ctx, e) })
	if err == nil {
		v, err = normalise(v)
	}
	if err != nil {
		return Verdict{}, &failure{EndVerifierError, err}
	}
	return v, nil
}

// unit reports whether x is in [0, 1].
func unit(x float64) bool { return x >= 0 && x <= 1 }

func normalise(v Verdict) (Verdict, error) {
	if v.Status > Pass {
		return Verdict{}, fmt.Errorf("status %d is unknown", v.Status)
	}
	if !unit(v.Score) {
		return Verdict{}, fmt.Errorf("score %v is outside [0, 1]", v.Score)
	}
	v.Unreplayed = false
	v.Parts = maps.Clone(v.Parts) // the verifier may keep its own
	for _, name := range slices.Sorted(maps.Keys(v.Parts)) {
		if !unit(v.Parts[name]) {
			return Verdict{}, fmt.Errorf("part %q is %v, outside [0, 1]", name, v.Parts[name])
		}
	}
	switch v.Status {
	case Pass:
		v.Score = 1
	case Invalid:
		v.Score = 0
	}
	return v, nil
}
