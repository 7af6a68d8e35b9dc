package doubles

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
)

// The correct verifier keeps every rule, and no rule is skipped.
func TestVerifyMaze(t *testing.T) {
	v := mazeVerifier(mazeWorld())
	if err := v.Check(t.Context()); err != nil {
		t.Error(err)
	}
	v.Run(t)
}

// An undescribed maze hides Describe behind a method of another form.
type undescribed struct{ *brokenMaze }

func (undescribed) Describe() {}

// A declared chance is what lets a random walk find the goal now and then. What the verifier is given goes before the description.
func TestChanceIsDeclared(t *testing.T) {
	for _, tt := range []struct {
		name      string
		described float64
		hidden    bool // the environment has no description
		given     float64
		want      string // end of what V03 says; "" if it is kept
		reason    string
	}{
		{"none", 0, false, 0, ", chance 0 of the description", "a walk finds the goal"},
		{"no description", 0.5, true, 0, ", and no chance is declared", "nobody can know"},
		{"described", 0.5, false, 0, "", "zero is what the description says"},
		{"described too low", 0.0625, false, 0, ", chance 0.0625 of the description", "likewise"},
		{"given", 0, false, 0.5, "", "that is enough"},
		{"given, no description", 0.5, true, 0.5, "", "likewise"},
		{"given too low", 0.5, false, 0.0625, ", chance 0.0625 of Verifier.Chance", "it goes before the description"},
		{"given, described too low", 0.0625, false, 0.5, "", "likewise"},
		{"given 1", 0, false, 1, "", "every pass may be by chance"},
		{"given below 0", 0.5, false, -0.5, "chance -0.5 of Verifier.Chance, want it in [0, 1]", "no rate"},
		{"described above 1", 2, false, 0, "chance 2 of the description, want it in [0, 1]", "no rate"},
		{"described as no number", math.NaN(), false, 0, "chance NaN of the description, want it in [0, 1]", "no rate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			w := mazeWorld()
			w.New = func(context.Context) (envharness.Environment, error) {
				b := &brokenMaze{maze: newMaze()}
				describing(func(d *envharness.Description) { d.Chance = tt.described })(b)
				if tt.hidden {
					return undescribed{b}, nil
				}
				return b, nil
			}
			v := mazeVerifier(w)
			v.Chance = tt.given
			err := v.Check(t.Context())
			found, broken := errors.AsType[envtest.Violation](err)
			switch got := brokenRules(err); {
			case tt.want == "" && err != nil:
				t.Errorf("%v, want all rules kept (%s)", err, tt.reason)
			case tt.want != "" && (!broken || !slices.Equal(got, []string{"V03"}) || !strings.HasSuffix(found.Error(), tt.want)):
				t.Errorf("%v, want V03 alone with %q at its end (%s)", err, tt.want, tt.reason)
			}
		})
	}
}

// Each double is caught for its fault and for nothing else.
func TestVerifiersAreCaught(t *testing.T) {
	for _, d := range verifiers() {
		t.Run(d.Rule+" "+d.Text, func(t *testing.T) {
			if err := d.Caught(t.Context()); err != nil {
				t.Errorf("%v\n%v", err, d.Check(t.Context()))
			}
		})
	}
}

// passing is a correct verifier but for the score of a pass.
func passing(score, threshold float64) envtest.Verifier {
	w := mazeWorld()
	w.Verifier = envharness.VerifierFunc(func(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
		v, err := verifyMaze(ctx, e)
		if v.Status == envharness.Pass {
			v.Score = score
		}
		return v, err
	})
	v := mazeVerifier(w)
	v.Threshold = threshold
	return v
}

// A world that cannot be played is one violation, and what is not given is not missed.
func TestUnusualWorlds(t *testing.T) {
	hidden := mazeWorld()
	hidden.New = func(context.Context) (envharness.Environment, error) {
		return described{&brokenMaze{maze: newMaze()}, nil}, nil
	}
	unknown := mazeVerifier(mazeWorld())
	unknown.Tasks = []envharness.Task{{ID: "x"}}
	noPlan := mazeVerifier(mazeWorld())
	noPlan.Plan = nil // the environment is an Oracle
	noPlan.Independent = nil
	failing := mazeWorld()
	failing.New = func(context.Context) (envharness.Environment, error) { return nil, envharness.ErrInfra }
	stateless := mazeWorld()
	stateless.New = func(context.Context) (envharness.Environment, error) { return plain{newMaze()}, nil }
	stateless.Verifier = envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
		if len(e.Log) == 0 {
			return envharness.Verdict{}, envharness.ErrInfra
		}
		return envharness.Verdict{Status: envharness.Fail}, nil
	})
	for _, tt := range []struct {
		name   string
		v      envtest.Verifier
		want   []string
		reason string
	}{
		{"no world", envtest.Verifier{}, []string{"V01"}, "there is nothing to check"},
		{"New fails", mazeVerifier(failing), []string{"V01"}, "every time"},
		{"no such task", unknown, []string{"V01", "V02"}, "nothing can be played, and Plan has no solution"},
		{"oracle", noPlan, nil, "the environment plans"},
		{"another description", mazeVerifier(hidden), nil, "the wrapper shows all abilities"},
		{"no score", passing(0, 0), nil, "the harness makes it 1"},
		{"no score, threshold", passing(0, 0.5), nil, "likewise"},
		{"score above the threshold", passing(0.6, 0.5), nil, "the threshold is declared"},
		{"score below the threshold", passing(0.3, 0.5), []string{"V07"}, "a fault, whatever the harness makes of it"},
		{"score below 1", passing(0.3, 0), []string{"V07"}, "no threshold is declared"},
		{"no state and no plan", envtest.Verifier{World: stateless, Tasks: mazeTasks()}, nil, "a verifier that reads the log, and fails all"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			err := tt.v.Check(t.Context())
			if got := brokenRules(err); !slices.Equal(got, tt.want) {
				t.Errorf("(-want +got)\n%s\n%v", cmp.Diff(tt.want, got), err)
			}
		})
	}
}
