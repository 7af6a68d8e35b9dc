package rigger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// Faults are found before anything is paid.
func ExampleOptions_Check() {
	o := &rigger.Options{Confirm: 4, Attempts: 30}
	err := o.Check(rigger.Problem{})
	fmt.Println(err)
	// Output:
	// rigger: Options.Confirm is 4, want at least 8
	// rigger: Options.Attempts is 30, want at most 20
	// rigger: World.New is nil
	// rigger: World.Verifier is nil
	// rigger: Problem.NewPolicy is nil
	// rigger: Problem.Tasks is empty
}

// Check says what Rig says, and opens nothing.
func TestCheckIsThatOfRig(t *testing.T) {
	opened := 0
	p := rigger.Problem{
		World: envharness.World{
			New: func(context.Context) (envharness.Environment, error) {
				opened++
				return nil, errors.New("closed")
			},
			Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
				return envharness.Verdict{}, nil
			}),
		},
		Tasks: []envharness.Task{{ID: "a"}},
	}
	for _, tt := range []struct {
		o      *rigger.Options
		reason string
	}{
		{nil, "a fault of the problem"},
		{&rigger.Options{Confirm: 1}, "a fault of the options"},
		{&rigger.Options{Screen: 2, Objective: rigger.Difficulty{Screen: rigger.Band{Lo: .26, Hi: .3}}}, "a band that no count is in"},
	} {
		_, want := rigger.Rig(t.Context(), p, tt.o)
		if got := tt.o.Check(p); got == nil || got.Error() != want.Error() || opened > 0 {
			t.Errorf("%s: %v, Rig says %v; %d worlds opened", tt.reason, got, want, opened)
		}
	}
}
