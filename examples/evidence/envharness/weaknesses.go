package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// A weakness is something that another implementation gets wrong, or got wrong, and what is right.
type weakness struct {
	Source string // "reference N": measured on the paper's code with its game of 24; else a public report
	Fault  string
	Check  func(ctx context.Context) error // nil if it is not so here
}

func call(name string, args any) envharness.Action {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // the calls are written below
	}
	return envharness.Action{Name: name, Args: raw}
}

func combine(i, j int, op string) envharness.Action {
	return call("combine", map[string]any{"i": i, "j": j, "op": op})
}

func stopGame() envharness.Action { return call("stop", map[string]any{}) }

// referenceFaults are the faults of the paper's code, each met with the right behaviour.
func referenceFaults() []weakness {
	return []weakness{
		{"reference 1", "an observation hook that sets success on the state passes the task", hookCannotPass},
		{"reference 2", "a setup replays a winning sequence and the episode starts solved", func(ctx context.Context) error {
			return badSetup(ctx, "3,3,8,8", "it ended the episode", combine(2, 0, "div"), combine(0, 2, "sub"), combine(0, 1, "div"), stopGame())
		}},
		{"reference 3", "a setup with an unknown tool is accepted silently", func(ctx context.Context) error {
			return badSetup(ctx, "3,3,8,8", "action 0 (look", call("look", map[string]any{}))
		}},
		{"reference 4", "a specification with an unknown hook loads and does nothing", unknownHook},
		{"reference 5", "a transition hook sets reward and terminated", hookCannotReward},
		{"reference 6", "a step after the end still acts", stepAfterEnd},
		{"reference 7", "a step before the reset works on an empty state", stepBeforeReset},
		{"reference 8", "a stop with 24 among several numbers passes; an unsolvable hand is listed as easy", strictStop},
		{"reference 9", "a setup outside a block is blocked silently", setupOutsideBlock},
		{"reference 10", "blocked turns cost nothing", blockedTurnsCount},
		{"reference 11", "six resets of a chain with one seed give different second tasks", chainSeeds},
		{"reference 12", "five time-outs are a success rate of 0.00, and traces count as accepted", timeoutsAreNoRate},
		{"reference 13", "a band that no rate can reach is accepted", unreachableBand},
		{"reference 14", "the runner's cap has no flag and no reason; raw observations are overwritten by filtered ones", capAndBothSides},
		{"reference, options", "options of one episode of a chain persist into the next", chainOptions},
	}
}

func hookCannotPass(ctx context.Context) error {
	greedy := rule("greedy", envharness.AxisObservation, envharness.Hooks{
		Observe: func(_ context.Context, v envharness.View, o envharness.Observation) (envharness.Observation, error) {
			st, err := v.State()
			copy(st, strings.ReplaceAll(string(st), "false", "true "))
			if o.Data != nil {
				o.Data["success"], o.Data["numbers"] = true, []any{"24"}
			}
			return o, err
		},
	})
	once := func(w envharness.World, comps ...envharness.Component) error {
		traces, err := envharness.Rollouts(ctx, w, comps, func(int) (envharness.Policy, error) {
			return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) { return stopGame(), nil }), nil
		}, []envharness.Task{{}}, nil)
		if err != nil {
			return err
		}
		return want("verdict", traces[0].Verdict.Status, envharness.Fail)
	}
	game := game24.World(nil)
	leg := envharness.Leg{World: game, Components: []envharness.Component{greedy}, Task: "1,1,1,1"}
	chain, err := envharness.Link([]envharness.Leg{leg, leg}, nil)
	if err != nil {
		return err
	}
	return errors.Join(once(game, greedy), once(chain), once(chain, greedy))
}

// badSetup checks that a setup is refused at the reset, with a reason.
func badSetup(ctx context.Context, task, reason string, actions ...envharness.Action) error {
	h, err := envharness.New(game24.World(nil), envharness.Setup{Actions: actions})
	if err != nil {
		return err
	}
	defer h.Close()
	_, err = h.Reset(ctx, envharness.ResetOptions{Task: task})
	if err == nil || !strings.Contains(err.Error(), reason) {
		return fmt.Errorf("got %v, want a reason with %q", err, reason)
	}
	return wantErr("setup", err, envharness.ErrStart)
}

func hookCannotReward(ctx context.Context) error {
	var n calls
	liar := rule("liar", envharness.AxisTransition, envharness.Hooks{
		Transition: func(_ context.Context, _ envharness.View, t envharness.Transition) (envharness.TransitionEdit, error) {
			t.Reward, t.Terminated = 1, true // a copy: the edit has no field for either
			return envharness.TransitionEdit{Observation: &t.Observation}, nil
		},
	})
	h, err := envharness.New(corridors(&n, nil), liar)
	if err != nil {
		return err
	}
	defer h.Close()
	t, err := walk(ctx, h, 0, "right")
	return errors.Join(err, want("reward", t.Reward, 0), want("terminated", t.Terminated, false))
}

func stepAfterEnd(ctx context.Context) error {
	h, err := envharness.New(game24.World(nil))
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{Task: "1,1,1,1"}); err != nil {
		return err
	}
	if _, err := h.Step(ctx, stopGame()); err != nil {
		return err
	}
	before, err := h.Evidence(ctx)
	if err != nil {
		return err
	}
	for _, a := range []envharness.Action{combine(0, 1, "add"), call("nonsense", map[string]any{}), stopGame()} {
		_, e := h.Step(ctx, a)
		err = errors.Join(err, wantErr(a.Name+" after the stop", e, envharness.ErrEpisodeOver))
	}
	after, e := h.Evidence(ctx)
	return errors.Join(err, e, want("state", string(after.End), string(before.End)), want("log", len(after.Log), len(before.Log)))
}

func stepBeforeReset(ctx context.Context) error {
	h, err := envharness.New(game24.World(nil))
	if err != nil {
		return err
	}
	defer h.Close()
	_, err = h.Step(ctx, stopGame())
	return wantErr("step", err, envharness.ErrNeedReset)
}

func strictStop(ctx context.Context) error {
	h, err := envharness.New(game24.World(nil))
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{Task: "4,6,11,13"}); err != nil {
		return err
	}
	for _, a := range []envharness.Action{combine(0, 1, "mul"), stopGame()} {
		if _, err := h.Step(ctx, a); err != nil {
			return err
		}
	}
	v, err := h.Verdict(ctx)
	err = errors.Join(err, want("4*6 of 4, 6, 11, 13, then stop", v.Status, envharness.Fail))
	for _, split := range []string{"train", "validation", "test", "ood"} {
		tasks, e := h.Tasks(ctx, split)
		err = errors.Join(err, e)
		for _, t := range tasks {
			if t.ID == "4,4,6,6" {
				err = errors.Join(err, fmt.Errorf("4,4,6,6 has no solution and is listed in %s", split))
			}
		}
	}
	return err
}

func setupOutsideBlock(ctx context.Context) error {
	setup := envharness.Setup{Actions: []envharness.Action{combine(1, 2, "mul")}}
	block := components.Block{Tools: []string{"combine"}, Args: map[string]any{"op": "mul"}}
	_, err := envharness.New(game24.World(nil), block, setup)
	err = wantErr("setup around block", err, envharness.ErrOrder)
	h, e := envharness.New(game24.World(nil), setup, block)
	if e != nil {
		return errors.Join(err, e)
	}
	defer h.Close()
	o, e := h.Reset(ctx, envharness.ResetOptions{Task: "3,3,7,7"})
	err = errors.Join(err, e, want("numbers", fmt.Sprint(o.Data["numbers"]), "[3 7 21]"))
	t, e := h.Step(ctx, combine(0, 1, "mul"))
	ev, e2 := h.Evidence(ctx)
	return errors.Join(err, e, e2, want("blocked", t.Observation.Data["blocked"], any(true)), want("log", len(ev.Log), 3)) // reset, replay, rewind
}

func blockedTurnsCount(ctx context.Context) error {
	var n calls
	h, err := envharness.New(corridors(&n, nil), components.Block{}, components.StepBudget{Turns: 3})
	if err != nil {
		return err
	}
	defer h.Close()
	t, err := walk(ctx, h, 0, "right right right")
	_, over := h.Step(ctx, envharness.Action{Name: "right"})
	return errors.Join(err, want("steps of the base", n.step, 0), want("truncated", t.Truncated, true),
		want("reason", t.Reason, "budget:step_budget"), wantErr("fourth step", over, envharness.ErrEpisodeOver))
}

func chainSeeds(ctx context.Context) error {
	var n calls
	chain, err := envharness.Link([]envharness.Leg{{World: corridors(&n, nil)}, {World: corridors(&n, nil)}}, nil)
	if err != nil {
		return err
	}
	h, err := envharness.New(chain)
	if err != nil {
		return err
	}
	defer h.Close()
	seen := make(map[string]bool)
	for range 6 {
		t, err := walk(ctx, h, 42, "done")
		if err != nil {
			return err
		}
		seen[fmt.Sprint(t.Observation.Data)] = true
	}
	return want("second tasks", len(seen), 1)
}

func timeoutsAreNoRate(ctx context.Context) error {
	var n calls
	w := corridors(&n, func(context.Context, *corridor) error { return errors.New("subprocess timeout") })
	traces, err := envharness.Rollouts(ctx, w, nil, scripted("right"), make([]envharness.Task, 5), &envharness.RolloutOptions{Reruns: new(0)})
	if err != nil {
		return err
	}
	for _, t := range traces {
		err = errors.Join(err, want("verdict", t.Verdict.Status, envharness.Invalid), want("kind", t.Kind, envharness.KindExploration))
	}
	_, e := envharness.SuccessRate(traces, 5)
	return errors.Join(err, wantErr("rate", e, envharness.ErrInsufficient))
}

func unreachableBand(context.Context) error {
	_, err := rigger.Band{Lo: .4, Hi: .6}.Counts(3)
	return wantErr("K=3", err, rigger.ErrBandUnreachable)
}

func capAndBothSides(ctx context.Context) error {
	var n calls
	shout := rule("shout", envharness.AxisObservation, envharness.Hooks{
		Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
			o.Text = strings.ToUpper(o.Text)
			return o, nil
		},
	})
	traces, err := envharness.Rollouts(ctx, corridors(&n, nil), []envharness.Component{shout}, scripted("right right right"),
		[]envharness.Task{{Seed: new(uint64(0))}}, &envharness.RolloutOptions{MaxTurns: 2})
	if err != nil {
		return err
	}
	t := traces[0]
	first, last := t.Turns[0], t.Turns[1].Shown
	return errors.Join(want("end", t.End, envharness.EndMaxTurns), want("truncated", last.Truncated, true), want("reason", last.Reason, "max_turns"),
		want("raw is kept", first.Raw.Observation.Text == strings.ToLower(first.Raw.Observation.Text), true),
		want("shown is kept", first.Shown.Observation.Text, strings.ToUpper(first.Raw.Observation.Text)))
}

func chainOptions(ctx context.Context) error {
	leg := envharness.Leg{World: game24.World(nil), Task: "1,1,1,1"}
	chain, err := envharness.Link([]envharness.Leg{leg, leg}, nil)
	if err != nil {
		return err
	}
	h, err := envharness.New(chain)
	if err != nil {
		return err
	}
	defer h.Close()
	once, err := h.Reset(ctx, envharness.ResetOptions{Task: `["3,3,8,8","1,5,5,5"]`})
	if err != nil {
		return err
	}
	again, err := h.Reset(ctx, envharness.ResetOptions{})
	return errors.Join(err, want("named", fmt.Sprint(once.Data["numbers"]), "[3 3 8 8]"), want("default again", fmt.Sprint(again.Data["numbers"]), "[1 1 1 1]"))
}

// unknownHook gives a specification in the manner of the reference's corpus, whose hook setup_initial_state does nothing there.
func unknownHook(context.Context) error {
	r := components.Catalogue()
	if err := r.AddWorld("game24", 1, func(json.RawMessage) (envharness.World, error) { return game24.World(nil), nil }); err != nil {
		return err
	}
	spec := func(entry string) []byte {
		return []byte(`{"schema_version":1,"env":{"tag":"game24","version":1,"params":{}},"task":{"id":"3,3,8,8"},"stack":[` + entry + `],"meta":{}}`)
	}
	if _, err := r.Decode(spec(`{"tag":"block","version":1,"id":"block","params":{}}`)); err != nil {
		return err
	}
	_, unknown := r.Decode(spec(`{"tag":"setup_initial_state","version":1,"id":"a","params":{}}`))
	_, param := r.Decode(spec(`{"tag":"block","version":1,"id":"a","params":{"setup_initial_state":"..."}}`))
	return errors.Join(wantErr("unknown tag", unknown, components.ErrUnknownTag), wantErr("unknown parameter", param, components.ErrUnknownParam))
}
