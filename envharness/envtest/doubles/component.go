package doubles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
)

// A tally is a small sound world: numbers are added up until the policy says that it is done. The fields from touched on are for faults.
type tally struct {
	at, calls int
	over      bool

	volatile bool       // says that it is not deterministic, so that the harness takes its word
	touched  int        // is shown in the state and matters to nothing
	shared   *rand.Rand // numbers are drawn from it and shown, if it is not nil
	begun    func()     // called by a Reset
}

const (
	tallyGoal  = 6
	tallyTurns = 8
)

func (t *tally) Reset(_ context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if o.Seed == nil {
		return envharness.Observation{}, errors.New("tally: a seed is needed")
	}
	r := envharness.RandStream(*o.Seed, "env", 0)
	t.at, t.calls, t.over = r.IntN(3), 0, false
	if t.shared != nil {
		*t.shared = *r
	}
	if t.begun != nil {
		t.begun()
	}
	return t.observation(), nil
}

func (t *tally) observation() envharness.Observation {
	o := envharness.Observation{
		Text: fmt.Sprintf("at %d of %d", t.at, tallyGoal),
		Data: map[string]any{"at": float64(t.at), "goal": float64(tallyGoal), "note": "add up and say done"},
	}
	return o
}

func (t *tally) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	if t.over {
		return envharness.Transition{}, envharness.ErrEpisodeOver
	}
	t.calls++
	refused := t.act(a)
	tr := envharness.Transition{
		Observation: t.observation(), Error: refused, Terminated: t.over, Info: map[string]any{"calls": float64(t.calls)},
	}
	switch {
	case t.over && t.at >= tallyGoal:
		tr.Reward = 1
	case !t.over && t.calls >= tallyTurns:
		t.over, tr.Truncated, tr.Reason = true, true, "max_turns"
	}
	if t.shared != nil {
		tr.Observation.Text += fmt.Sprintf(", drawn %d", t.shared.IntN(1000))
	}
	return tr, nil
}

func (t *tally) act(a envharness.Action) *envharness.ActionError {
	switch a.Name {
	case "done":
		t.over = true
	case "add":
		var args struct{ N int }
		if json.Unmarshal(a.Args, &args) != nil || args.N < 1 || args.N > 3 {
			return &envharness.ActionError{Class: envharness.ClassBadArgs, Message: "n is from 1 to 3"}
		}
		t.at += args.N
	default:
		return &envharness.ActionError{Class: envharness.ClassUnknownTool, Message: "there is no such tool"}
	}
	return nil
}

func (t *tally) Close() error { return nil }

func (t *tally) Observe(context.Context) (envharness.Observation, error) { return t.observation(), nil }

func (t *tally) State(context.Context) (envharness.State, error) {
	return json.Marshal(map[string]any{"at": t.at, "over": t.over, "passed": t.over && t.at >= tallyGoal, "touched": t.touched})
}

func (t *tally) RewindCounters(context.Context) error {
	t.calls = 0
	return nil
}

func (t *tally) Describe() envharness.Description {
	return envharness.Description{
		Name: "tally",
		Tools: []envharness.Tool{
			{Name: "add", Schema: json.RawMessage(
				`{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":3}},"required":["n"],"additionalProperties":false}`)},
			{Name: "done", Submits: true},
		},
		Graded: []string{"passed"}, MaxTurns: tallyTurns, Deterministic: !t.volatile,
	}
}

// tallyWorld makes tallies; fault may change each.
func tallyWorld(fault func(*tally)) envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) {
			t := new(tally)
			if fault != nil {
				fault(t)
			}
			return t, nil
		},
		Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			var s struct{ Passed bool }
			if err := json.Unmarshal(e.End, &s); err != nil {
				return envharness.Verdict{}, err
			}
			if s.Passed {
				return envharness.Verdict{Status: envharness.Pass}, nil
			}
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

// A mark is a small sound component: it puts a sign and a number of its own below some observations. The unexported fields are for faults.
type mark struct {
	P    float64 `json:"p"`
	Sign string  `json:"sign"`

	begin func(*envharness.Hooks, envharness.EpisodeInfo) error // changes what a sound mark does
	spec  func(*envharness.ComponentSpec)
}

func (m mark) Spec() envharness.ComponentSpec {
	params, _ := json.Marshal(m) // two plain fields
	s := envharness.ComponentSpec{Tag: "mark", Axis: envharness.AxisObservation, Params: params}
	if m.spec != nil {
		m.spec(&s)
	}
	return s
}

func (m mark) Begin(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
	h := observing(func(o *envharness.Observation) {
		if n := e.Rand.IntN(10); e.Rand.Float64() < m.P {
			o.Text += fmt.Sprintf("\n%s%d", m.Sign, n)
		}
	})
	if m.begin != nil {
		return h, m.begin(&h, e)
	}
	return h, nil
}

func observing(change func(o *envharness.Observation)) envharness.Hooks {
	return envharness.Hooks{Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
		change(&o)
		return o, nil
	}}
}

func buildMark(params json.RawMessage) (envharness.Component, error) {
	var m mark
	dec := json.NewDecoder(bytes.NewReader(params))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	return m, nil
}

// always returns a maker of the component.
func always(c envharness.Component) func() envharness.Component {
	return func() envharness.Component { return c }
}

// marked is a mark, sound but for what begin changes.
func marked(begin func(*envharness.Hooks, envharness.EpisodeInfo) error) func() envharness.Component {
	return always(mark{P: 0.5, Sign: "~", begin: begin})
}

// hidesNote takes the note out of the data.
func hidesNote() envharness.Component {
	return envharness.Rules(envharness.ComponentSpec{Tag: "hide_note", Axis: envharness.AxisObservation},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return observing(func(o *envharness.Observation) { delete(o.Data, "note") }), nil
		})
}

// soundComponent is the check of a component without a fault.
func soundComponent() envtest.Component {
	return envtest.Component{
		World:    tallyWorld(nil),
		New:      marked(nil),
		Identity: always(mark{Sign: "~"}),
		Off:      always(mark{Sign: "?"}),
		On:       always(mark{P: 1, Sign: "~"}),
		Build:    buildMark,
		Commutes: []func() envharness.Component{hidesNote},
	}
}

// component is the double of a component that differs from a sound one by its fault.
func component(rule, text string, fault func(c *envtest.Component)) Double {
	return Double{Rule: rule, Text: text, Check: func(ctx context.Context) error {
		c := soundComponent()
		fault(&c)
		return c.Check(ctx)
	}}
}

// faulty is the double of a component whose hooks do something else than those of a sound one, whatever its parameters.
func faulty(rule, text string, begin func(*envharness.Hooks, envharness.EpisodeInfo) error) Double {
	return component(rule, text, func(c *envtest.Component) { *c = envtest.Component{World: c.World, New: marked(begin)} })
}

// A play is one way of playing episodes, as [envharness.Rollouts] is.
type play = func(
	ctx context.Context, w envharness.World, components []envharness.Component, newPolicy func(slot int) (envharness.Policy, error),
	tasks []envharness.Task, o *envharness.RolloutOptions,
) ([]envharness.Trace, error)

// played is the double of a harness with a sound component in it.
func played(rule, text string, rollouts play) Double {
	return component(rule, text, func(c *envtest.Component) {
		c.Identity, c.Off, c.On = nil, nil, nil // compare records only
		c.Rollouts = rollouts
	})
}

// harness is the double of a harness that changes the record.
func harness(rule, text string, change func(t *envharness.Trace)) Double {
	return played(rule, text, recording(change))
}

func recording(change func(t *envharness.Trace)) play {
	return func(
		ctx context.Context, w envharness.World, components []envharness.Component, newPolicy func(slot int) (envharness.Policy, error),
		tasks []envharness.Task, o *envharness.RolloutOptions,
	) ([]envharness.Trace, error) {
		traces, err := envharness.Rollouts(ctx, w, components, newPolicy, tasks, o)
		for i := range traces {
			change(&traces[i])
		}
		return traces, err
	}
}

// anyOrder plays nothing where the order of the components is illegal, and says that all is well.
func anyOrder(
	ctx context.Context, w envharness.World, components []envharness.Component, newPolicy func(slot int) (envharness.Policy, error),
	tasks []envharness.Task, o *envharness.RolloutOptions,
) ([]envharness.Trace, error) {
	traces, err := envharness.Rollouts(ctx, w, components, newPolicy, tasks, o)
	if errors.Is(err, envharness.ErrOrder) {
		return make([]envharness.Trace, len(tasks)), nil
	}
	return traces, err
}

// countedSeeds makes the seed depend on the number of components.
func countedSeeds(
	ctx context.Context, w envharness.World, components []envharness.Component, newPolicy func(slot int) (envharness.Policy, error),
	tasks []envharness.Task, o *envharness.RolloutOptions,
) ([]envharness.Trace, error) {
	tasks = slices.Clone(tasks)
	for i := range tasks {
		tasks[i].Seed = new(*tasks[i].Seed + uint64(len(components)))
	}
	return envharness.Rollouts(ctx, w, components, newPolicy, tasks, o)
}

// frozenClock always shows the same number of turns left.
func frozenClock(
	ctx context.Context, w envharness.World, components []envharness.Component, newPolicy func(slot int) (envharness.Policy, error),
	tasks []envharness.Task, o *envharness.RolloutOptions,
) ([]envharness.Trace, error) {
	frozen := func(slot int) (envharness.Policy, error) {
		p, err := newPolicy(slot)
		return envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
			t.Left = tallyTurns
			return p.Act(ctx, t)
		}), err
	}
	return envharness.Rollouts(ctx, w, components, frozen, tasks, o)
}

// chargedStart shows a turn less after a start.
func chargedStart(
	ctx context.Context, w envharness.World, components []envharness.Component, newPolicy func(slot int) (envharness.Policy, error),
	tasks []envharness.Task, o *envharness.RolloutOptions,
) ([]envharness.Trace, error) {
	charged := func(slot int) (envharness.Policy, error) {
		p, err := newPolicy(slot)
		return envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
			if len(components) > 0 && components[0].Spec().Axis == envharness.AxisStart {
				t.Left--
			}
			return p.Act(ctx, t)
		}), err
	}
	return envharness.Rollouts(ctx, w, components, charged, tasks, o)
}

// around plays with something around every environment.
func around(wrap func(envharness.Environment) envharness.Environment) play {
	return func(
		ctx context.Context, w envharness.World, components []envharness.Component, newPolicy func(slot int) (envharness.Policy, error),
		tasks []envharness.Task, o *envharness.RolloutOptions,
	) ([]envharness.Trace, error) {
		open := w.New
		w.New = func(ctx context.Context) (envharness.Environment, error) {
			env, err := open(ctx)
			if err != nil {
				return nil, err
			}
			return wrap(env), nil
		}
		return envharness.Rollouts(ctx, w, components, newPolicy, tasks, o)
	}
}

// An eager environment makes a step when it is asked for its observation, but for the first time in an episode, when the harness shows it.
type eager struct {
	envharness.Environment
	asked int
}

func (e *eager) Unwrap() envharness.Environment { return e.Environment }

func (e *eager) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	e.asked = 0
	return e.Environment.Reset(ctx, o)
}

func (e *eager) Observe(ctx context.Context) (envharness.Observation, error) {
	if e.asked++; e.asked > 1 {
		if _, err := e.Step(ctx, envharness.Action{Name: "wait"}); err != nil {
			return envharness.Observation{}, err
		}
	}
	o, _ := envharness.As[envharness.Observer](e.Environment)
	return o.Observe(ctx)
}

// An unobserved environment has all abilities of a tally but that of an Observer.
type unobserved struct {
	envharness.Environment
	envharness.Stater
	envharness.Describer
}

// unclosed is an environment whose Close does nothing.
type unclosed struct{ envharness.Environment }

func (u unclosed) Unwrap() envharness.Environment { return u.Environment }
func (u unclosed) Close() error                   { return nil }

// changedTurns calls f for the turns that a component changed, that reached the base and did not end the episode.
func changedTurns(f func(t *envharness.TurnTrace)) func(*envharness.Trace) {
	return func(trace *envharness.Trace) {
		for i := range trace.Turns {
			if t := &trace.Turns[i]; len(t.Layers) > 0 && t.Raw != nil && !t.Shown.Ended() {
				f(t)
			}
		}
	}
}

// lastTurn calls f for the last turn and the one before it.
func lastTurn(f func(before, t *envharness.TurnTrace)) func(*envharness.Trace) {
	return func(trace *envharness.Trace) {
		if n := len(trace.Turns); n > 1 {
			f(&trace.Turns[n-2], &trace.Turns[n-1])
		}
	}
}

// blockedTurns calls f for the turns that were blocked and did not end the episode.
func blockedTurns(f func(t *envharness.TurnTrace)) func(*envharness.Trace) {
	return func(trace *envharness.Trace) {
		for i := range trace.Turns {
			if isBlocked(trace.Turns[i]) {
				f(&trace.Turns[i])
			}
		}
	}
}

func isBlocked(t envharness.TurnTrace) bool {
	return t.Shown.Observation.Data["blocked"] == true && !t.Shown.Ended()
}

// forgiven makes a failure of the policy out of a failure of a component whose cause fits.
func forgiven(fits func(cause string) bool) func(*envharness.Trace) {
	return func(t *envharness.Trace) {
		if t.End == envharness.EndComponentError && fits(t.Cause) {
			t.End, t.Verdict = envharness.EndAgentError, envharness.Verdict{Status: envharness.Fail}
		}
	}
}

func components() []Double {
	panicked := func(cause string) bool { return strings.Contains(cause, "panic: ") }
	late := func(cause string) bool { return strings.Contains(cause, "no answer within") }
	return []Double{
		component("C01", "parameters of the identity take a space away", func(c *envtest.Component) {
			c.Identity = always(mark{begin: func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
				*h = observing(func(o *envharness.Observation) { o.Text = strings.Replace(o.Text, " ", "", 1) })
				return nil
			}})
		}),
		component("C02", "probability 0 still marks", func(c *envtest.Component) { c.Off = always(mark{P: 0.2, Sign: "~"}) }),
		component("C02", "probability 1 misses some turns", func(c *envtest.Component) { c.On = always(mark{P: 0.7, Sign: "~"}) }),
		sharesGenerator(),
		played("C03", "the harness makes the seed depend on the number of components", countedSeeds),
		drawsAnywhere(),
		faulty("C04", "fails in the third turn", func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
			h.Transition = func(_ context.Context, v envharness.View, _ envharness.Transition) (envharness.TransitionEdit, error) {
				if v.Turn == 2 {
					return envharness.TransitionEdit{}, errors.New("three is too many")
				}
				return envharness.TransitionEdit{}, nil
			}
			return nil
		}),
		countsEpisodes(),
		resumes(),
		reachesVerifier("tells the verifier to pass", envharness.Verdict{Status: envharness.Pass}),
		reachesVerifier("tells the verifier to give credit", envharness.Verdict{Status: envharness.Fail, Score: 0.5}),
		reachesBase(),
		harness("C08", "the harness pays for what a component changed",
			changedTurns(func(t *envharness.TurnTrace) { t.Shown.Reward++ })),
		harness("C08", "the harness lets a component end an episode as if the task were done, and goes on",
			changedTurns(func(t *envharness.TurnTrace) { t.Shown.Terminated = true })).also("C10"),
		harness("C09", "the harness does not count blocked turns", func(t *envharness.Trace) {
			t.Turns = slices.DeleteFunc(t.Turns, isBlocked)
		}),
		played("C09", "the harness shows the same number of turns left in every turn", frozenClock),
		harness("C09", "the harness does not show that a turn was blocked", blockedTurns(func(t *envharness.TurnTrace) {
			o := &t.Shown.Observation
			_, o.Text, _ = strings.Cut(o.Text, "\n\n")
		})),
		harness("C09", "the harness pays for blocked turns", blockedTurns(func(t *envharness.TurnTrace) { t.Shown.Reward = 1 })),
		harness("C09", "the harness records a blocked turn as a step of the base", blockedTurns(func(t *envharness.TurnTrace) {
			t.Applied, t.Raw = t.Proposed, new(t.Shown)
		})),
		played("C09", "the harness steps the base in a blocked turn", around(func(env envharness.Environment) envharness.Environment {
			return &eager{Environment: env}
		})),
		played("C09", "the harness does not ask for the present observation", around(func(env envharness.Environment) envharness.Environment {
			s, _ := envharness.As[envharness.Stater](env)
			d, _ := envharness.As[envharness.Describer](env)
			return unobserved{env, s, d}
		})),
		harness("C10", "the harness delays the observation of the end", lastTurn(func(before, t *envharness.TurnTrace) {
			if t.Raw != nil && t.Raw.Ended() {
				t.Shown.Observation = before.Shown.Observation
			}
		})),
		harness("C10", "the harness delays the observation where a limit ends the episode", lastTurn(func(before, t *envharness.TurnTrace) {
			if t.Raw != nil && !t.Raw.Ended() {
				t.Shown.Observation = before.Shown.Observation
			}
		})),
		harness("C10", "the harness does not say that a limit ended the episode", lastTurn(func(_, t *envharness.TurnTrace) {
			if t.Raw != nil && !t.Raw.Ended() {
				t.Shown.Truncated = false
			}
		})),
		harness("C10", "the harness does not say which limit ended the episode", lastTurn(func(_, t *envharness.TurnTrace) {
			if t.Raw != nil && !t.Raw.Ended() {
				t.Shown.Reason = ""
			}
		})),
		played("C11", "the harness accepts components in any order", anyOrder),
		component("C11", "a partner is declared that does not commute", func(c *envtest.Component) {
			c.Commutes = []func() envharness.Component{always(mark{P: 1, Sign: "!"})}
		}),
		faulty("C11", "edits the start from a place where interface components stand", func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
			h.Start = startWith(envharness.Action{Name: "add", Args: json.RawMessage(`{"n":1}`)})
			return nil
		}),
		component("C12", "a parameter is not in the spec", func(c *envtest.Component) {
			c.New = always(mark{P: 0.5, Sign: "~", spec: func(s *envharness.ComponentSpec) { s.Params = json.RawMessage(`{"sign":"~"}`) }})
			c.Build = func(params json.RawMessage) (envharness.Component, error) {
				built, err := buildMark(params)
				if m, ok := built.(mark); ok {
					m.spec = func(s *envharness.ComponentSpec) { s.Params = params }
					built = m
				}
				return built, err
			}
		}),
		component("C12", "the params are no object", func(c *envtest.Component) {
			*c = envtest.Component{World: c.World, New: always(mark{P: 0.5, spec: func(s *envharness.ComponentSpec) {
				s.Params = json.RawMessage("[0.5]")
			}})}
		}),
		component("C12", "an unknown parameter is accepted", func(c *envtest.Component) {
			c.Build = func(params json.RawMessage) (envharness.Component, error) {
				var m mark
				err := json.Unmarshal(params, &m)
				return m, err
			}
		}),
		faulty("C13", "does nothing", func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
			*h = observing(func(*envharness.Observation) {})
			return nil
		}),
		component("C14", "an action of the start is refused", func(c *envtest.Component) {
			setup := envharness.Setup{Actions: []envharness.Action{{Name: "add", Args: json.RawMessage(`{"n":9}`)}}}
			*c = envtest.Component{World: c.World, New: always(setup)}
		}),
		started("the harness counts the start among the turns", chargedStart),
		started("the harness does not rewind the counters after a start", recording(func(t *envharness.Trace) {
			t.Log = slices.DeleteFunc(t.Log, func(e envharness.LogEntry) bool { return e.Kind == envharness.LogRewind })
		})),
		started("the harness accepts a start that was refused in part", recording(func(t *envharness.Trace) {
			for i := range t.Log {
				if e := &t.Log[i]; e.Kind == envharness.LogReplay {
					e.Transition.Error = &envharness.ActionError{Class: envharness.ClassOther, Message: "no"}
				}
			}
		})),
		started("the harness accepts a start that solves the task", recording(func(t *envharness.Trace) {
			if len(t.Turns) == 0 && t.Verdict.Status == envharness.Fail {
				t.Verdict = envharness.Verdict{Status: envharness.Pass, Score: 1}
			}
		})),
		harness("C15", "the harness drops a key of Info from what a component changed", changedTurns(func(t *envharness.TurnTrace) {
			t.Shown.Info = maps.Clone(t.Shown.Info)
			delete(t.Shown.Info, "calls")
		})),
		harness("C15", "the harness makes text of a number in Info", changedTurns(func(t *envharness.TurnTrace) {
			t.Shown.Info = maps.Clone(t.Shown.Info)
			t.Shown.Info["calls"] = fmt.Sprint(t.Shown.Info["calls"])
		})),
		faulty("C16", "cuts text in the middle of a character", func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
			first := true
			*h = observing(func(o *envharness.Observation) {
				if !first {
					o.Text = "> " + o.Text[:min(len(o.Text), 1000)]
				}
				first = false
			})
			return nil
		}),
		faulty("C16", "cuts a field of the first observation inside a character", func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
			first := true
			*h = observing(func(o *envharness.Observation) {
				if note, ok := o.Data["note"].(string); ok && first {
					o.Data["note"] = "> " + note[:min(len(note), 1000)]
				}
				first = false
			})
			return nil
		}),
		faulty("C16", "takes for granted that there is data", func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
			*h = observing(func(o *envharness.Observation) { o.Text = fmt.Sprint(o.Data["at"].(float64)) })
			return nil
		}),
		faulty("C17", "adds a tool to a list of its own, which grows when the tools change", growsTools),
		harness("C17", "the harness gives the legs seeds that are not those of the chain", func(t *envharness.Trace) {
			if _, chain := t.Verdict.Parts["leg0"]; chain {
				t.Seed++
			}
		}),
		harness("C17", "the harness lets a chain pass whose legs do not", func(t *envharness.Trace) {
			if _, chain := t.Verdict.Parts["leg0"]; chain {
				t.Verdict.Status = envharness.Pass
			}
		}),
		played("C17", "the harness closes no environment", around(func(env envharness.Environment) envharness.Environment {
			return unclosed{env}
		})).also("C18", "C19", "C20"),
		harness("C18", "the harness counts an error of a component as a failure of the policy",
			forgiven(func(cause string) bool { return !panicked(cause) && !late(cause) })),
		component("C18", "the harness spoils the episode after an error of a component", func(c *envtest.Component) {
			spoilt := false
			c.Identity, c.Off, c.On = nil, nil, nil
			c.Rollouts = recording(func(t *envharness.Trace) {
				if spoilt {
					t.Verdict = envharness.Verdict{}
				}
				spoilt = t.End == envharness.EndComponentError && !panicked(t.Cause) && !late(t.Cause)
			})
		}),
		harness("C18", "the harness does not record which component failed", func(t *envharness.Trace) {
			if t.End == envharness.EndComponentError && !panicked(t.Cause) && !late(t.Cause) {
				t.Cause = "component failed"
			}
		}),
		harness("C19", "the harness counts a panic of a component as a failure of the policy", forgiven(panicked)),
		harness("C20", "the harness counts a slow component as a failure of the policy", forgiven(late)),
	}
}

// started is the double of a harness with a sound start in it.
func started(text string, rollouts play) Double {
	return component("C14", text, func(c *envtest.Component) {
		setup := envharness.Setup{Actions: []envharness.Action{{Name: "add", Args: json.RawMessage(`{"n":1}`)}}}
		*c = envtest.Component{World: c.World, New: always(setup), Rollouts: rollouts}
	})
}

// also declares further rules that the fault breaks.
func (d Double) also(rules ...string) Double {
	d.Also = rules
	return d
}

func startWith(actions ...envharness.Action) func(context.Context, envharness.View) ([]envharness.StartEdit, error) {
	return func(context.Context, envharness.View) ([]envharness.StartEdit, error) {
		var edits []envharness.StartEdit
		for _, a := range actions {
			edits = append(edits, envharness.StartEdit{Action: a})
		}
		return edits, nil
	}
}

func growsTools(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
	var added []envharness.Tool
	h.Tools = func(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) {
		added = append(added, envharness.Tool{Name: "help"})
		return append(tools, added...), nil
	}
	return nil
}

// sharesGenerator draws from the generator of the world.
func sharesGenerator() Double {
	return component("C03", "draws from the generator of the environment", func(c *envtest.Component) {
		shared := rand.New(rand.NewPCG(1, 2))
		*c = envtest.Component{
			World: tallyWorld(func(t *tally) { t.shared, t.volatile = shared, true }),
			New: marked(func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
				*h = observing(func(o *envharness.Observation) { o.Text += fmt.Sprint(" ", shared.IntN(10)) })
				return nil
			}),
		}
	})
}

// drawsAnywhere draws from a generator that all components share, as the global one is.
func drawsAnywhere() Double {
	return component("C04", "draws from a generator that is not the episode's", func(c *envtest.Component) {
		shared := rand.New(rand.NewPCG(1, 2))
		*c = envtest.Component{World: c.World, New: marked(func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
			*h = observing(func(o *envharness.Observation) { o.Text += fmt.Sprint(" ", shared.IntN(1000)) })
			return nil
		})}
	})
}

// countsEpisodes keeps the number of its episodes.
func countsEpisodes() Double {
	return component("C05", "counts its episodes and shows the count", func(c *envtest.Component) {
		*c = envtest.Component{World: c.World, New: func() envharness.Component {
			episodes := 0
			return mark{begin: func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
				episodes++
				n := episodes
				*h = observing(func(o *envharness.Observation) { o.Text += fmt.Sprint(" episode ", n) })
				return nil
			}}
		}}
	})
}

// resumes goes on where an episode was left.
func resumes() Double {
	return component("C05", "takes an episode that was left early for the same as the next", func(c *envtest.Component) {
		*c = envtest.Component{World: c.World, New: func() envharness.Component {
			shown := 0
			return mark{begin: func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
				left := shown == 3 // the first observation and two turns
				shown = 0
				*h = observing(func(o *envharness.Observation) {
					shown++
					o.Text += fmt.Sprint(" resumed ", left)
				})
				return nil
			}}
		}}
	})
}

// reachesVerifier shares a variable with the verifier, which makes it say v.
func reachesVerifier(text string, v envharness.Verdict) Double {
	return component("C06", text, func(c *envtest.Component) {
		told := false
		w := tallyWorld(func(t *tally) { t.volatile, t.begun = true, func() { told = false } })
		honest := w.Verifier
		w.Verifier = envharness.VerifierFunc(func(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			if told {
				return v, nil
			}
			return honest.Verify(ctx, e)
		})
		*c = envtest.Component{
			World: w,
			New: marked(func(*envharness.Hooks, envharness.EpisodeInfo) error {
				told = true
				return nil
			}),
			Script: []envharness.Action{{Name: "add", Args: json.RawMessage(`{"n":1}`)}, {Name: "done"}},
		}
	})
}

// reachesBase writes to the environment behind the back of the harness.
func reachesBase() Double {
	return component("C07", "writes to the state of the environment", func(c *envtest.Component) {
		var last *tally
		*c = envtest.Component{
			World: tallyWorld(func(t *tally) { t.volatile, last = true, t }),
			New: marked(func(h *envharness.Hooks, _ envharness.EpisodeInfo) error {
				*h = observing(func(o *envharness.Observation) {
					last.touched++
					o.Text += " ~"
				})
				return nil
			}),
		}
	})
}
