// Package doubles holds environments, components, verifiers and vector runners with one deliberate fault each, to test tests with: a
// conformance kit that does not catch them proves nothing. Package envtest is tested on them, and so can be any other checker.
//
// Each fault breaks one rule of envtest, and only where it cannot be otherwise a few more, which the double declares. Most are faults
// that public reports describe of real environments; the comments name them.
//
// The doubles are deterministic and made anew for every check. What some of them leave behind on purpose, such as goroutines, is gone
// when the check returns.
package doubles

import (
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness/envtest"
)

// A Double has one fault, which breaks one rule.
type Double struct {
	Rule  string                          // id of the broken [envtest.Rule]
	Text  string                          // the fault
	Also  []string                        // further rules that this fault cannot but break
	Check func(ctx context.Context) error // runs the kit on the double; safe for concurrent use, each call makes a double of its own
}

// All returns every double: those of environments, components, verifiers and runners, each in the order of the rules. The slice is the
// caller's.
func All() []Double {
	return slices.Concat(environments(), components(), verifiers(), runners())
}

// Caught runs the kit on the double and returns an error unless it reports violations of exactly Rule and Also.
func (d Double) Caught(ctx context.Context) error {
	err := d.Check(ctx)
	got := brokenRules(err)
	want := append([]string{d.Rule}, d.Also...)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("doubles: %s (%s): broken rules %q, want %q", d.Rule, d.Text, got, want)
	}
	return nil
}

// brokenRules returns the ids of the rules that a check found broken, sorted and each once. An error that is no violation counts as "".
func brokenRules(err error) []string {
	var ids []string
	var walk func(err error)
	walk = func(err error) {
		switch e := err.(type) {
		case nil:
		case envtest.Violation:
			ids = append(ids, e.Rule)
		case interface{ Unwrap() []error }:
			for _, one := range e.Unwrap() {
				walk(one)
			}
		case interface{ Unwrap() error }:
			walk(e.Unwrap())
		default:
			ids = append(ids, "")
		}
	}
	walk(err)
	slices.Sort(ids)
	return slices.Compact(ids)
}
