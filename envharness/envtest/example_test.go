package envtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/sim"
)

// Check reports what is broken: here that a Step after the end is no error.
func ExampleEnvironment_Check() {
	e := envtest.Environment{
		New:       func(context.Context) (envharness.Environment, error) { return &forgiving{Env: game24.New(nil)}, nil },
		SeedBlind: true, // the hand says all
	}
	fmt.Println(e.Check(context.Background()))
	// Output: E09: task "": Step "stop" with arguments "{}" after the end: <nil>, want envharness: episode is over
}

// A forgiving game answers a Step after the end with the last transition.
type forgiving struct {
	*sim.Env
	last envharness.Transition
}

func (f *forgiving) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	t, err := f.Env.Step(ctx, a)
	if errors.Is(err, envharness.ErrEpisodeOver) {
		return f.last, nil
	}
	f.last = t
	return t, err
}

// In a test, Run gives each rule a subtest, so that one of them can be run alone.
func ExampleEnvironment_Run() {
	testGame := func(t *testing.T) {
		envtest.Environment{New: game24.World(nil).New, SeedBlind: true}.Run(t)
	}
	_ = testGame // in a test file: func TestGame(t *testing.T)
	// Output:
}

// A verifier that passes every stop is found by playing without skill.
func ExampleVerifier_Check() {
	w := game24.World(nil)
	strict := w.Verifier
	w.Verifier = envharness.VerifierFunc(func(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
		v, err := strict.Verify(ctx, e)
		if err == nil && e.EndReason == envharness.EndTerminated {
			v = envharness.Verdict{Status: envharness.Pass, Score: 1}
		}
		return v, err
	})
	fmt.Println(envtest.Verifier{World: w}.Check(context.Background()))
	// Output: V03: a submit at once: passes 20 of 20 episodes, chance 0 of the description
}

func ExampleRules() {
	rules := envtest.Rules()
	for _, id := range []string{"E09", "V03"} {
		i := slices.IndexFunc(rules, func(r envtest.Rule) bool { return r.ID == id })
		fmt.Println(rules[i].ID, rules[i].Text)
	}
	// Output:
	// E09 Step after the end is ErrEpisodeOver and changes nothing
	// V03 policies without skill fail: refused actions, a submit at once, the first action again and again, random ones
}
