package envharness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Setup is a component that starts every episode further along: the actions are carried out on the base before the first turn, below
// all other components (the paper's Stage). Then the base's counters are set to zero ([Rewinder]).
//
// The reset fails with [ErrStart], naming index and action, if an action is refused or errs or ends the episode, if the counters
// cannot be rewound although the base has a limit on turns, if no admissible action is left, or if the verifier does not say [Fail] of the
// start. No actions: nothing happens, no rewind either.
//
// The actions are the same for every task. For others with each task, give [Rules] of axis S0 with a Start hook.
//
// Tag start_replay, axis S0; the params are the struct, which must not be changed once it was given to [New]. It is sound under
// exactly the conditions that the reset checks.
type Setup struct {
	Actions []Action `json:"actions,omitempty"`
	// Aid marks actions that are part of a solution. It changes nothing but the record: success from an aided start is not to be reported
	// together with success from an unaided one.
	Aid bool `json:"aid,omitempty"`
}

// Spec implements [Component].
func (s Setup) Spec() ComponentSpec {
	params, _ := json.Marshal(s) // Check reports what cannot be written
	return ComponentSpec{Tag: "start_replay", Axis: AxisStart, Params: params}
}

// Check reports arguments that are not JSON.
func (s Setup) Check() error {
	for i, a := range s.Actions {
		if len(a.Args) > 0 && !json.Valid(a.Args) {
			return fmt.Errorf("action %d (%s): arguments are not JSON", i, a.Name)
		}
	}
	return nil
}

// String says in words what the component does: how many actions it carries out, and the first five of them, each cut to 80 characters.
func (s Setup) String() string {
	if len(s.Actions) == 0 {
		return "nothing changes"
	}
	const most, longest = 5, 80 // actions, and characters of each
	names := make([]string, 0, most+1)
	for i, a := range s.Actions {
		if rest := len(s.Actions) - i; i == most && rest > 1 {
			names = append(names, fmt.Sprintf("%d more", rest))
			break
		}
		name := a.String()
		if runes := []rune(name); len(runes) > longest {
			name = string(runes[:longest]) + "..."
		}
		if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			name = strconv.Quote(name)
		}
		names = append(names, name)
	}
	what, are := "1 action", "is"
	if n := len(s.Actions); n > 1 {
		what, are = fmt.Sprintf("%d actions", n), "are"
	}
	if s.Aid {
		what += " of a solution"
	}
	return "before the first turn " + what + " " + are + " carried out: " + strings.Join(names, ", ")
}

// Begin implements [Component].
func (s Setup) Begin(context.Context, EpisodeInfo) (Hooks, error) {
	return Hooks{Start: func(context.Context, View) ([]StartEdit, error) {
		edits := make([]StartEdit, len(s.Actions))
		for i, a := range s.Actions {
			edits[i].Action = a
		}
		return edits, nil
	}}, nil
}

// setup carries out the Start hooks, innermost first, reads the start state and checks the start.
func (h *Harness) setup(ctx context.Context) error {
	edited := "" // the last component that changed something
	for i := range h.levels {
		l := &h.levels[i]
		if l.hooks.Start == nil {
			continue
		}
		v := h.view(ctx)
		v.shown = &h.log[len(h.log)-1].Transition.Observation
		edits, err := watched(h.watch, site{siteHook, l.spec.ID, "start"}, func() ([]StartEdit, error) { return l.hooks.Start(ctx, v) })
		if err != nil || h.stateErr != nil {
			return h.hookFault(ctx, i, "start", err)
		}
		if len(edits) > 0 && l.spec.Axis != AxisStart {
			return h.fault(ctx, EndComponentError, l.spec.ID, fmt.Errorf("%w: edits of the start by a component of axis %s", ErrOrder, l.spec.Axis))
		}
		for k, e := range slices.Clone(edits) {
			what, err := h.editStart(ctx, e)
			if err != nil {
				return h.badStart(ctx, l.spec.ID, fmt.Errorf("%s %d %s: %w", what, k, e, err))
			}
			edited = l.spec.ID
		}
	}
	if edited != "" {
		if err := h.rewind(ctx); err != nil {
			return h.badStart(ctx, edited, err)
		}
	}
	var err error
	if h.start, err = h.readState(ctx); err != nil {
		return h.fault(ctx, EndEnvError, "state", err)
	}
	if edited == "" {
		return nil
	}
	obs, err := h.observe(ctx)
	if err != nil {
		return err
	}
	if obs.Actions != nil && len(obs.Actions) == 0 {
		return h.badStart(ctx, edited, errors.New("no admissible action is left"))
	}
	e := h.evidence()
	e.End = bytes.Clone(h.start)
	v, err := h.ask(ctx, e)
	if err == nil && v.Status != Fail {
		err = fmt.Errorf("the verdict on the start is %s, not fail", v.Status)
	}
	if err != nil {
		return h.badStart(ctx, edited, err)
	}
	return nil
}

// String names the edit in an error.
func (e StartEdit) String() string {
	if e.Set == nil {
		return "(" + e.Action.String() + ")"
	}
	return fmt.Sprintf("of %d values", len(e.Set))
}

// editStart makes one edit and logs it.
func (h *Harness) editStart(ctx context.Context, e StartEdit) (what string, err error) {
	if e.Set != nil {
		return "patch", h.patch(ctx, e.Set)
	}
	t, err := h.stepLogged(ctx, LogReplay, copyAction(e.Action))
	if err != nil {
		return "action", baseFailed(err)
	}
	return "action", refusal(t)
}

// baseFailed marks a failure during a setup as the base's own.
func baseFailed(err error) error { return &failure{EndEnvError, err} }

func refusal(t *Transition) error {
	switch {
	case t.Error != nil:
		return fmt.Errorf("refused: %s: %s", t.Error.Class, t.Error.Message)
	case t.Ended():
		return errors.New("it ended the episode")
	}
	return nil
}

func (h *Harness) rewind(ctx context.Context) error {
	if h.rewinder == nil {
		if h.desc.MaxTurns > 0 || h.turnLimit > 0 {
			return errors.New("the environment has a limit on turns and cannot rewind them: it is no Rewinder")
		}
		return nil
	}
	err := h.callBase("rewind", func() error { return h.rewinder.RewindCounters(ctx) })
	if err != nil {
		err = fmt.Errorf("rewind: %w", err)
		if errors.Is(err, ErrEpisodeOver) {
			return err // the components made it so
		}
		return baseFailed(err)
	}
	h.public = nil
	_, err = h.record(LogRewind, Action{}, Transition{})
	return err
}

func (h *Harness) badStart(ctx context.Context, id string, err error) error {
	return h.fault(ctx, EndComponentError, id, fmt.Errorf("%w: %w", ErrStart, err))
}
