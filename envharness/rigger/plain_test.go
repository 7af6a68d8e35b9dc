package rigger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

func passAll(context.Context, envharness.Evidence) (envharness.Verdict, error) {
	return envharness.Verdict{Status: envharness.Pass}, nil
}

// plain is a lock with three digits to be set to 3, 1 and 2, one after the other. It has no ability but those that are put around it.
type plain struct {
	digits  []string
	noise   bool // every text has another number
	resets  *int
	listing bool
}

func (p *plain) show(text string) envharness.Observation {
	if p.noise {
		*p.resets++
		text += fmt.Sprint(" ", *p.resets)
	}
	o := envharness.Observation{Text: text}
	if p.listing {
		for _, d := range []string{"1", "2", "3"} {
			o.Actions = append(o.Actions, envharness.Action{Name: "dial", Args: json.RawMessage(`{"digit":"` + d + `"}`)})
		}
	}
	return o
}

func (p *plain) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	p.digits = nil
	return p.show("dial three digits"), nil
}

func (p *plain) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	var args struct {
		Digit string `json:"digit"`
	}
	if a.Name != "dial" || json.Unmarshal(a.Args, &args) != nil || len(args.Digit) != 1 {
		return envharness.Transition{Observation: p.show("?"), Error: &envharness.ActionError{Class: envharness.ClassBadArgs, Message: "?"}}, nil
	}
	p.digits = append(p.digits, args.Digit)
	return envharness.Transition{Observation: p.show("click " + strings.Join(p.digits, "")), Terminated: len(p.digits) == 3}, nil
}

func (p *plain) Close() error { return nil }

func (p *plain) world() envharness.World {
	resets := 0
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) {
			return &plain{noise: p.noise, listing: p.listing, resets: &resets}, nil
		},
		Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			var dialled []string
			for _, l := range e.Log[1:] {
				if l.Transition.Error == nil {
					dialled = append(dialled, string(l.Action.Args))
				}
			}
			if strings.Join(dialled, "") == `{"digit":"3"}{"digit":"1"}{"digit":"2"}` {
				return envharness.Verdict{Status: envharness.Pass}, nil
			}
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

// TestPlainWorlds has worlds that lack what the steps would like to have: no oracle, state, snapshots, description, tools or admissible
// actions.
func TestPlainWorlds(t *testing.T) {
	solution := act(`dial {"digit":"3"}`, `dial {"digit":"1"}`, `dial {"digit":"2"}`)
	mistake := act(`dial {"digit":"3"}`, `dial {"digit":"1"}`, `dial {"digit":"1"}`)
	fail := part("tool_fail", `{"nth":2,"count":2}`)
	tests := []struct {
		world    plain
		baseline []envharness.Action
		part     components.Entry
		want     string
		reason   string
	}{
		{plain{}, solution, fail, "null pass", "what passed is played again"},
		{plain{}, mistake, fail, "oracle fail", "nothing to go by"},
		{plain{listing: true}, mistake, fail, "null pass", "a search finds it"},
		{plain{listing: true}, mistake, part("step_budget", `{"turns":2}`), "oracle fail", "a search does not"},
		{plain{noise: true}, solution, fail, "null pass", "nothing can be compared, and the verdict counts"},
		{plain{listing: true}, mistake, part("hide_keys", `{"actions":true}`), "null pass", "what the base lists can be tried, shown or not"},
	}
	for _, tt := range tests {
		in := newTestInspector(t, tt.world.world(), "", components.Catalogue(), tt.baseline...)
		in.play = fakePlayer(nil, new([]string))
		found, err := in.inspect(t.Context(), 1, harder(tt.part))
		if err != nil || lastStep(found) != tt.want {
			t.Errorf("%s: %v, %v, want %s", tt.reason, found.steps, err, tt.want)
		}
		if found.proven {
			s, err := in.solve(t.Context(), found.stack)
			if err != nil || replayed(t, in, found.stack, s.proof) != envharness.Pass {
				t.Errorf("%s: the proof %v does not pass: %v", tt.reason, s.proof, err)
			}
		}
		if tt.world.noise && (found.steps[0].Reason == "" || found.steps[1].Reason == "") {
			t.Errorf("%s: it does not say so: %v", tt.reason, found.steps)
		}
	}
}

// TestPlainHostiles plants cheats in a world that does not promise to be deterministic, so that no harness replays its episodes.
func TestPlainHostiles(t *testing.T) {
	var p tap
	tests := []struct {
		begin  beginFunc
		want   string // part of the reason
		reason string
	}{
		{hooks(envharness.Hooks{Action: func(ctx context.Context, v view, _ envharness.Action) (envharness.ActionEdit, error) {
			if v.Turn == 1 {
				_, err := p.base().Step(ctx, act(`dial {"digit":"1"}`)[0])
				return envharness.PassAction(), err
			}
			return envharness.PassAction(), nil
		}}), "something else than without", "plays on the base"},
		{hooks(envharness.Hooks{Action: func(_ context.Context, v view, a envharness.Action) (envharness.ActionEdit, error) {
			if v.Turn == 1 {
				return envharness.AnswerAction("click", nil), nil
			}
			return envharness.PassAction(), nil
		}}), "was carried out", "no list of tools says that a call is harmless"},
	}
	for _, tt := range tests {
		w := p.world((&plain{}).world())
		in := newTestInspector(t, w, "", registryWith(t, kindOf("hostile", envharness.AxisAction, tt.begin)),
			act(`dial {"digit":"3"}`, `dial {"digit":"1"}`, `dial {"digit":"2"}`)...)
		found, err := in.inspect(t.Context(), 1, harder(part("hostile", `{}`)))
		if err != nil || lastStep(found) != "integrity fail" || !strings.Contains(found.steps[1].Reason, tt.want) {
			t.Errorf("%s: %v, %v, want %q", tt.reason, found.steps, err, tt.want)
		}
	}
}
