package rigger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
)

// A component that behaves until the rollouts of a phase begin is refused by what it does in them, and a designer is told no more of a
// confirmation than that.
func TestRigReviewsRollouts(t *testing.T) {
	answer := func(v envharness.View, _ envharness.Action) envharness.ActionEdit {
		if v.Turn == 1 {
			return envharness.AnswerAction("Done.", nil)
		}
		return envharness.PassAction()
	}
	replace := func(v envharness.View, a envharness.Action) envharness.ActionEdit {
		if v.Turn == 1 && a.Name != "stop" {
			return envharness.ReplaceAction(envharness.Action{Name: "stop"})
		}
		return envharness.PassAction()
	}
	none := func(envharness.View, envharness.Action) envharness.ActionEdit { return envharness.PassAction() }
	tests := []struct {
		phase  string
		act    func(envharness.View, envharness.Action) envharness.ActionEdit
		print  string
		want   string // in the reason; empty means that it is accepted
		tells  bool   // the designer is told so
		reason string
	}{
		{"screen", answer, "", "of the screening: waker tells in turn 1 that ", true, "answers a call that changes something"},
		{"confirm", answer, "", "of the confirmation: waker tells in turn 1 that ", false, "likewise, later"},
		{"screen", replace, "", "of the screening: waker sends stop", true, "makes another call"},
		{"confirm", none, `combine {"i":2,"j":0,"op":"div"}`, "of the confirmation: a component tells what the base has not shown, at the start", false,
			"tells the solution"},
		{"screen", none, `combine {"i":2,"j":0,"op":"div"}`, "of the screening: a component tells what the base has not shown, at the start", true,
			"likewise, earlier"},
		{"confirm", none, "", "", false, "never wakes"},
	}
	for _, tt := range tests {
		t.Run(tt.phase+", "+tt.reason, func(t *testing.T) {
			var awake atomic.Bool
			p := problem(t, 7)
			p.Registry = components.Catalogue()
			if err := p.Registry.Add(components.Kind{
				Tag: "waker", Version: 1, Axis: envharness.AxisAction, Direction: components.Harder,
				New: func(json.RawMessage) (envharness.Component, error) {
					return envharness.Rules(envharness.ComponentSpec{Tag: "waker", Axis: envharness.AxisAction},
						func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
							if !awake.Load() {
								return envharness.Hooks{}, nil
							}
							return envharness.Hooks{
								Action: func(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
									return tt.act(v, a), nil
								},
								Observe: func(_ context.Context, v envharness.View, o envharness.Observation) (envharness.Observation, error) {
									o.Text += " " + tt.print
									return o, nil
								},
							}, nil
						}), nil
				},
			}); err != nil {
				t.Fatal(err)
			}
			made := budget(7)
			made.Stack = append([]components.Entry{{Tag: "waker"}}, made.Stack...)
			var told string
			o := quick(rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
				if len(b.Attempts) == 0 {
					return made, nil
				}
				doc, err := json.Marshal(b.Attempts)
				told = string(doc)
				return rigger.Candidate{}, err
			}))
			o.Progress = func(p rigger.Progress) { awake.Store(p.Phase == tt.phase) }
			r, err := rigger.Rig(t.Context(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if len(r.Items) != 1 {
					t.Errorf("%+v (%s)", r.Tasks[0], tt.reason)
				}
				return
			}
			a := r.Tasks[0].Attempts[0]
			last := a.Steps[len(a.Steps)-1]
			if len(r.Items) > 0 || a.Decision != rigger.Reject || last.Step != rigger.StepIntegrity || last.Result != rigger.Failed ||
				!strings.HasPrefix(last.Reason, "rollout ") || !strings.Contains(last.Reason, tt.want) || a.Reason != "integrity: "+last.Reason {
				t.Errorf("%s, %s: %+v, want %q (%s)", a.Decision, a.Reason, a.Steps, tt.want, tt.reason)
			}
			if tells := strings.Contains(told, "rollout "); tells != tt.tells || !strings.Contains(told, "integrity") {
				t.Errorf("the designer is told %s (%s)", told, tt.reason)
			}
			if tt.phase == "confirm" && (a.Cost.Confirm == 0 || a.Cost.Confirm == 16) {
				t.Errorf("%d rollouts of the confirmation (%s)", a.Cost.Confirm, tt.reason)
			}
		})
	}
}

// The sleeper is refused with the defaults.
func TestRigRefusesSleeper(t *testing.T) {
	w := game24.World(nil)
	for _, h := range rigtest.Hostiles(nil) {
		if h.Kind.Tag != "hostile_sleeper" {
			continue
		}
		registry := components.Catalogue()
		if err := registry.Add(h.Kind); err != nil {
			t.Fatal(err)
		}
		p := rigger.Problem{World: w, Tasks: []envharness.Task{hand}, NewPolicy: rigtest.Clean(w), Registry: registry}
		r, err := rigger.Rig(t.Context(), p, &rigger.Options{Designer: proposes(rigger.Candidate{Stack: []components.Entry{h.Entry()}}), Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		a := r.Tasks[0].Attempts[0]
		if last := a.Steps[len(a.Steps)-1]; fmt.Sprint(last.Step, last.Result) != h.Step+"fail" || !strings.Contains(last.Reason, "rollout") {
			t.Errorf("%+v", a.Steps)
		}
		return
	}
	t.Error("there is no sleeper")
}
