package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/sim"
)

// peerFaults are faults that were reported of other libraries, each met with the right behaviour.
func peerFaults() []weakness {
	return []weakness{
		{"huggingface/lerobot#4242", "the environment resets inside a step and the runner resets again", resetsEqualEpisodes},
		{"SREGym/SREGym#69", "the setup runs twice", setupRunsOnce},
		{"Gymnasium#885", "a reset leaves the step counter", resetClearsCounters},
		{"automl/DACBench#94", "the first observation holds the last episode's actions", resetClearsObservations},
		{"Gymnasium#291", "a larger outer limit hides which limit fired", innerLimitWins},
		{"Gymnasium#773", "nobody knows who truncated", truncationIsSigned},
		{"poke-env#211", "a step after the end starts a new episode", stepAfterEndStartsNothing},
		{"PettingZoo#1085", "the episode ends without a flag, then errors", endsCarryAFlag},
		{"Farama/Minigrid#62", "a wrapper copied what was true at its construction", toolsReadThrough},
		{"openai/gym#2952, Gymnasium#1293, #836", "reading through a wrapper disagrees with the environment, or forwards what it should not", wrappersForwardNothing},
		{"huggingface/OpenEnv#1102, NetHack-LE/nle#131, gym-pybullet-drones#300, pc-gym#44", "the seed is dropped", seedsAreHonoured},
		{"alfworld#14, #72, #73, #100", "the same reset gives another game, or order", resetIsIdempotent},
		{"openai/gym#1544, hill-a/stable-baselines#570", "workers outlive the run", nothingOutlivesARun},
		{"thu-ml/tianshou#166", "a pool closed by one user breaks obscurely for the next", closedSaysSo},
		{"Unity ml-agents#1167, #1550, osim-rl#58", "closing and opening again fails, or instances share a backend", openAndCloseOften},
		{"openai/gym#3281", "a dead worker shows as an opaque end of file, or as a failure", deathIsInvalid},
		{"sierra-research/tau2-bench#499", "reference actions that raise are only logged", referencesMustReplay},
		{"sierra-research/tau2-bench#15, #81, #224, #320", "doing nothing passes", nullPoliciesFail},
		{"NVIDIA-NeMo/RL#2207", "a verifier's exception becomes 0.0", verifierErrorIsInvalid},
		{"Unity ml-agents#1340, verl-project/verl#7180", "a hang without an error", hangsEnd},
	}
}

func resetsEqualEpisodes(ctx context.Context) error {
	var n calls
	w := corridors(&n, nil)
	traces, err := envharness.Rollouts(ctx, w, nil, scripted("right right done"), make([]envharness.Task, 6), nil)
	return errors.Join(err, want("episodes", len(traces), 6), want("environments", n.opened, 12), // each episode and its replay
		want("resets", n.reset, n.opened), want("closed", n.closed, n.opened))
}

func setupRunsOnce(ctx context.Context) error {
	var n calls
	setup := envharness.Setup{Actions: []envharness.Action{{Name: "right"}}}
	leg := envharness.Leg{World: corridors(&n, nil), Components: []envharness.Component{setup}}
	chain, err := envharness.Link([]envharness.Leg{leg, leg}, nil)
	if err != nil {
		return err
	}
	nested, err := envharness.New(chain)
	if err != nil {
		return err
	}
	defer nested.Close()
	plain, err := envharness.New(corridors(&n, nil), setup)
	if err != nil {
		return err
	}
	defer plain.Close()
	for range 3 {
		for _, h := range []*envharness.Harness{plain, nested} {
			before := n
			_, e := h.Reset(ctx, envharness.ResetOptions{})
			err = errors.Join(err, e, want("resets", n.reset, before.reset+1), want("steps", n.step, before.step+1), want("rewinds", n.rewound, before.rewound+1))
		}
	}
	return err
}

func resetClearsCounters(ctx context.Context) error {
	var n calls
	var turns []int
	note := rule("note", envharness.AxisAction, envharness.Hooks{
		Action: func(_ context.Context, v envharness.View, _ envharness.Action) (envharness.ActionEdit, error) {
			turns = append(turns, v.Turn, v.Left)
			return envharness.PassAction(), nil
		},
	})
	h, err := envharness.New(corridors(&n, nil), note, components.StepBudget{Turns: 3})
	if err != nil {
		return err
	}
	defer h.Close()
	for range 2 {
		if _, err := walk(ctx, h, 0, "right right"); err != nil {
			return err
		}
	}
	return want("turns used and left", fmt.Sprint(turns), "[0 3 1 2 0 3 1 2]")
}

func resetClearsObservations(ctx context.Context) error {
	h, err := envharness.New(game24.World(nil), components.StepBudget{Turns: 5})
	if err != nil {
		return err
	}
	defer h.Close()
	first, err := h.Reset(ctx, envharness.ResetOptions{Task: "3,3,8,8", Seed: new(uint64(1))})
	if err != nil {
		return err
	}
	if _, err := h.Step(ctx, combine(0, 1, "add")); err != nil {
		return err
	}
	again, err := h.Reset(ctx, envharness.ResetOptions{Task: "3,3,8,8", Seed: new(uint64(1))})
	return errors.Join(err, want("observation", fmt.Sprint(again), fmt.Sprint(first)))
}

func innerLimitWins(ctx context.Context) error {
	var n calls
	h, err := envharness.New(corridors(&n, nil), components.StepBudget{Turns: 2}, components.StepBudget{Turns: 9})
	if err != nil {
		return err
	}
	defer h.Close()
	t, err := walk(ctx, h, 0, "right right")
	return errors.Join(err, want("reason", t.Reason, "budget:step_budget"))
}

func truncationIsSigned(ctx context.Context) error {
	var n calls
	clerk := rule("clerk", envharness.AxisTransition, envharness.Hooks{
		Transition: func(context.Context, envharness.View, envharness.Transition) (envharness.TransitionEdit, error) {
			return envharness.TransitionEdit{Truncate: "closing time"}, nil
		},
	})
	h, err := envharness.New(corridors(&n, nil), clerk)
	if err != nil {
		return err
	}
	defer h.Close()
	t, err := walk(ctx, h, 0, "right")
	return errors.Join(err, want("truncated", t.Truncated, true), want("reason", t.Reason, "budget:clerk:closing time"))
}

func stepAfterEndStartsNothing(ctx context.Context) error {
	var n calls
	h, err := envharness.New(corridors(&n, nil))
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := walk(ctx, h, 0, "done"); err != nil {
		return err
	}
	before := n
	_, over := goOn(ctx, h, "right")
	return errors.Join(wantErr("step", over, envharness.ErrEpisodeOver), want("calls", n, before))
}

func endsCarryAFlag(ctx context.Context) error {
	for _, stack := range [][]envharness.Component{nil, {components.StepBudget{Turns: 2}}, {components.Block{}, components.StepBudget{Turns: 1}}} {
		h, err := envharness.New(game24.World(nil), stack...)
		if err != nil {
			return err
		}
		defer h.Close()
		if _, err := h.Reset(ctx, envharness.ResetOptions{}); err != nil {
			return err
		}
		flags := 0
		for {
			t, err := h.Step(ctx, combine(0, 0, "add"))
			if errors.Is(err, envharness.ErrEpisodeOver) {
				break
			}
			if err != nil {
				return err
			}
			if t.Ended() {
				flags++
			}
		}
		if err := want("turns with a flag", flags, 1); err != nil {
			return err
		}
	}
	return nil
}

// A toolbox has the tool that its task names.
type toolbox struct {
	corridor
	task string
}

func (b *toolbox) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	b.task = o.Task
	return b.corridor.Reset(ctx, o)
}

func (b *toolbox) Tools() []envharness.Tool { return []envharness.Tool{{Name: b.task}} }

func toolsReadThrough(ctx context.Context) error {
	var n calls
	w := corridors(&n, nil)
	w.New = func(context.Context) (envharness.Environment, error) {
		return &toolbox{corridor: corridor{calls: &n}}, nil
	}
	h, err := envharness.New(w, components.StepBudget{Turns: 4})
	if err != nil {
		return err
	}
	defer h.Close()
	for _, task := range []string{"hammer", "saw"} {
		_, e := h.Reset(ctx, envharness.ResetOptions{Task: task})
		err = errors.Join(err, e, want("tool", h.Tools()[0].Name, task))
	}
	return err
}

func wrappersForwardNothing(ctx context.Context) error {
	var n calls
	h, err := envharness.New(corridors(&n, nil))
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{}); err != nil {
		return err
	}
	_, state := envharness.As[envharness.Stater](h)
	_, rewind := envharness.As[envharness.Rewinder](h)
	_, through := envharness.As[envharness.Stater](&wrapper{&corridor{calls: &n}})
	return errors.Join(want("state behind the harness", state, false), want("counters behind the harness", rewind, false), want("state behind a wrapper", through, true))
}

type wrapper struct{ envharness.Environment }

func (w *wrapper) Unwrap() envharness.Environment { return w.Environment }

func seedsAreHonoured(ctx context.Context) error {
	var n calls
	h, err := envharness.New(corridors(&n, nil))
	if err != nil {
		return err
	}
	defer h.Close()
	seeded, unseeded := make(map[string]bool), make(map[string]bool)
	for range 6 {
		a, e := h.Reset(ctx, envharness.ResetOptions{Seed: new(uint64(5))})
		err = errors.Join(err, e)
		seeded[a.Text] = true
	}
	for range 6 {
		b, e := h.Reset(ctx, envharness.ResetOptions{})
		err = errors.Join(err, e)
		unseeded[b.Text] = true
	}
	// One that says it is deterministic and drops the seed is found out.
	w := corridors(&n, nil)
	w.New = func(context.Context) (envharness.Environment, error) {
		return &seedDeaf{corridor: corridor{calls: &n}, n: &n}, nil
	}
	traces, e := envharness.Rollouts(ctx, w, nil, scripted("right done"), make([]envharness.Task, 1), &envharness.RolloutOptions{Reruns: new(0)})
	return errors.Join(err, e, want("seeded", len(seeded), 1), want("unseeded differ", len(unseeded) > 1, true),
		want("verdict of one that lies", traces[0].Verdict.Status, envharness.Invalid))
}

// A seedDeaf corridor starts where it likes.
type seedDeaf struct {
	corridor
	n *calls
}

func (s *seedDeaf) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	o.Seed = new(uint64(s.n.opened + s.n.reset))
	_, err := s.corridor.Reset(ctx, o)
	s.cell = s.n.reset
	return s.observation(), err
}

func resetIsIdempotent(ctx context.Context) error {
	texts := make(map[string]bool)
	for range 3 {
		desk := tooldesk.New(nil)
		for range 2 {
			o, err := desk.Reset(ctx, envharness.ResetOptions{Seed: new(uint64(9))})
			if err != nil {
				return err
			}
			st, err := desk.State(ctx)
			if err != nil {
				return err
			}
			raw, err := json.Marshal(o)
			if err != nil {
				return err
			}
			texts[string(raw)+string(st)] = true
		}
		if err := desk.Close(); err != nil {
			return err
		}
	}
	return want("different starts of one task", len(texts), 1)
}

func nothingOutlivesARun(ctx context.Context) error {
	before := runtime.NumGoroutine()
	for _, fault := range []func(context.Context, *corridor) error{
		func(context.Context, *corridor) error { panic("ouch") },
		func(context.Context, *corridor) error { runtime.Goexit(); return nil },
		func(context.Context, *corridor) error { return errors.New("broken pipe") },
	} {
		var n calls
		traces, err := envharness.Rollouts(ctx, corridors(&n, fault), nil, scripted("right"), make([]envharness.Task, 4), nil)
		if err != nil {
			return err
		}
		for _, t := range traces {
			err = errors.Join(err, want("verdict", t.Verdict.Status, envharness.Invalid))
		}
		if err := errors.Join(err, want("environments closed", n.closed, n.opened)); err != nil {
			return err
		}
	}
	for range 1_000_000 { // a goroutine that is on its way out may take a moment
		if runtime.NumGoroutine() <= before {
			return nil
		}
		runtime.Gosched()
	}
	return want("goroutines", runtime.NumGoroutine(), before)
}

func closedSaysSo(ctx context.Context) error {
	h, err := envharness.New(game24.World(nil))
	if err != nil {
		return err
	}
	if _, err := h.Reset(ctx, envharness.ResetOptions{}); err != nil {
		return err
	}
	err = errors.Join(h.Close(), h.Close())
	_, reset := h.Reset(ctx, envharness.ResetOptions{})
	_, step := h.Step(ctx, stopGame())
	return errors.Join(err, wantErr("reset", reset, envharness.ErrClosed), wantErr("step", step, envharness.ErrClosed))
}

func openAndCloseOften(ctx context.Context) error {
	for range 50 {
		h, err := envharness.New(game24.World(nil))
		if err != nil {
			return err
		}
		_, err = h.Reset(ctx, envharness.ResetOptions{})
		if err := errors.Join(err, h.Close()); err != nil {
			return err
		}
	}
	a, b := game24.New(nil), game24.New(nil)
	defer a.Close()
	defer b.Close()
	for _, g := range []*sim.Env{a, b} {
		if _, err := g.Reset(ctx, envharness.ResetOptions{Task: "3,3,8,8"}); err != nil {
			return err
		}
	}
	if _, err := a.Step(ctx, combine(0, 1, "add")); err != nil {
		return err
	}
	o, err := b.Observe(ctx)
	return errors.Join(err, want("the other's numbers", fmt.Sprint(o.Data["numbers"]), "[3 3 8 8]"))
}

func deathIsInvalid(ctx context.Context) error {
	var n calls
	w := corridors(&n, func(_ context.Context, c *corridor) error {
		if c.turns == 1 {
			return fmt.Errorf("worker: %w", errors.New("unexpected EOF"))
		}
		return nil
	})
	traces, err := envharness.Rollouts(ctx, w, nil, scripted("right right done"), make([]envharness.Task, 1), &envharness.RolloutOptions{Reruns: new(0)})
	if err != nil {
		return err
	}
	return errors.Join(want("verdict", traces[0].Verdict.Status, envharness.Invalid), want("end", traces[0].End, envharness.EndEnvError),
		want("cause", traces[0].Cause, "envharness: env_error: step 2: worker: unexpected EOF"))
}

func referencesMustReplay(ctx context.Context) error {
	desk := tooldesk.New(nil)
	defer desk.Close()
	for _, split := range []string{"validation", "test", "ood"} {
		tasks, err := desk.Tasks(ctx, split)
		if err != nil {
			return err
		}
		for _, task := range tasks[:min(len(tasks), 40)] {
			if err := replayPlan(ctx, desk, task); err != nil {
				return fmt.Errorf("%s: %w", task.ID, err)
			}
		}
	}
	return nil
}

func replayPlan(ctx context.Context, desk *sim.Env, task envharness.Task) error {
	if _, err := desk.Reset(ctx, envharness.ResetOptions{Task: task.ID, Seed: task.Seed}); err != nil {
		return err
	}
	plan, err := desk.Plan(ctx)
	if err != nil {
		return err
	}
	for i, a := range plan {
		t, err := desk.Step(ctx, a)
		if err != nil {
			return err
		}
		if t.Error != nil {
			return fmt.Errorf("action %d (%s): %s", i, a.Name, t.Error.Message)
		}
	}
	return nil
}

func nullPoliciesFail(ctx context.Context) error {
	for name, act := range map[string]func(envharness.Turn) (envharness.Action, error){
		"stop at once": func(envharness.Turn) (envharness.Action, error) { return envharness.Action{}, envharness.ErrStop },
		"submit at once": func(envharness.Turn) (envharness.Action, error) {
			return call("submit", map[string]any{"answer": "done"}), nil
		},
		"first action": func(t envharness.Turn) (envharness.Action, error) {
			if len(t.Shown.Actions) == 0 {
				return envharness.Action{}, envharness.ErrStop
			}
			return t.Shown.Actions[0], nil
		},
	} {
		desk := tooldesk.New(nil)
		tasks, err := desk.Tasks(ctx, "validation")
		if err := errors.Join(err, desk.Close()); err != nil {
			return err
		}
		traces, err := envharness.Rollouts(ctx, tooldesk.World(nil), nil, func(int) (envharness.Policy, error) {
			return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) { return act(t) }), nil
		}, tasks[:min(len(tasks), 40)], nil)
		if err != nil {
			return err
		}
		rate, err := envharness.SuccessRate(traces, len(traces))
		if err := errors.Join(err, want(name, rate, 0)); err != nil {
			return err
		}
	}
	return nil
}

func verifierErrorIsInvalid(ctx context.Context) error {
	var n calls
	w := corridors(&n, nil)
	w.Verifier = envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) { panic("division by zero") })
	traces, err := envharness.Rollouts(ctx, w, nil, scripted("done"), make([]envharness.Task, 2), nil)
	if err != nil {
		return err
	}
	_, rate := envharness.SuccessRate(traces, 1)
	return errors.Join(want("verdict", traces[0].Verdict.Status, envharness.Invalid), want("end", traces[0].End, envharness.EndVerifierError),
		wantErr("rate", rate, envharness.ErrInsufficient))
}

func hangsEnd(ctx context.Context) error {
	var n calls
	w := corridors(&n, func(ctx context.Context, _ *corridor) error { <-ctx.Done(); return ctx.Err() })
	traces, err := envharness.Rollouts(ctx, w, nil, scripted("right"), make([]envharness.Task, 1),
		&envharness.RolloutOptions{StepTimeout: time.Millisecond, Reruns: new(0)})
	if err != nil {
		return err
	}
	return errors.Join(want("verdict", traces[0].Verdict.Status, envharness.Invalid), want("end", traces[0].End, envharness.EndTimeout))
}
