// Package envtest checks that environments, components, verifiers and vector runners keep the promises of package envharness.
//
// Each kind of thing has a struct that says what to check: [Environment], [Component], [Verifier], [Runner]. Its method Check returns one
// joined error with a [Violation] for every broken [Rule]; its method Run checks each rule in a subtest of its own, named by the rule's id.
// [Rules] lists the rules.
//
// A check looks from outside and tries a few episodes: passing proves nothing about others. A rule about an ability that is absent, such as
// snapshots, is passed by Check and skipped by Run, with the reason. Where what a rule needs fails, for example a Reset, the violation
// is of the rule about that alone; a panic is a violation of the rule being checked. The same values are drawn each time, so that a check
// of something deterministic gives the same answer always. Where no action can be made, for want of tools, of admissible actions and of a
// [Source], nothing is checked: the error says so and is no Violation.
//
// Rules and form of the report are ours; the kit is itself tested on deliberately broken things, one for each rule: see package doubles.
package envtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// A Violation is a promise that was not kept.
type Violation struct {
	Rule string // id of the [Rule]
	Err  error  // what was found
}

// Error names the rule and what was found.
func (v Violation) Error() string { return v.Rule + ": " + v.Err.Error() }

// Unwrap returns Err.
func (v Violation) Unwrap() error { return v.Err }

// A Rule is one promise: E01 to E31 of environments, C01 to C20 of components, V01 to V11 of verifiers, R01 to R08 of vector runners.
type Rule struct {
	ID   string
	Text string
}

// Rules lists all rules in order.
func Rules() []Rule {
	return slices.Concat(environmentRules(), componentRules(), verifierRules(), runnerRules())
}

// A rule is a [Rule] with its check of a T. The check returns nil, what it found, a skip, or a Violation of another rule.
type rule[T any] struct {
	id, text string
	check    func(ctx context.Context, subject T) error
}

// listed takes the checks off a table.
func listed[T any](table []rule[T]) []Rule {
	rules := make([]Rule, len(table))
	for i, r := range table {
		rules[i] = Rule{r.id, r.text}
	}
	return rules
}

// A skipped is the answer of a check that does not apply.
type skipped struct{ reason string }

func (s skipped) Error() string { return s.reason }

// skip says why a rule does not apply.
func skip(format string, args ...any) error { return skipped{fmt.Sprintf(format, args...)} }

// blame says that what was found while checking one rule breaks another, on which the first one rests.
func blame(id, format string, args ...any) error { return Violation{id, fmt.Errorf(format, args...)} }

// try makes the check. The error is nil, a skipped or a Violation.
func (r rule[T]) try(ctx context.Context, subject T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Violation{r.id, panicked(p)}
		}
	}()
	err = r.check(ctx, subject)
	if err == nil {
		return nil
	}
	if s, ok := errors.AsType[skipped](err); ok {
		return s
	}
	if v, ok := errors.AsType[Violation](err); ok {
		return v
	}
	return Violation{r.id, err}
}

// checkAll joins the first violation of every rule, in the order of the table. Where the context ends, its error is the last.
func checkAll[T any](ctx context.Context, subject T, table []rule[T]) error {
	found := make(map[string]bool)
	var all []error
	for _, r := range table {
		if ctx.Err() != nil {
			all = append(all, context.Cause(ctx))
			break
		}
		v, ok := r.try(ctx, subject).(Violation)
		if ok && !found[v.Rule] {
			found[v.Rule] = true
			all = append(all, v)
		}
	}
	slices.SortStableFunc(all, func(a, b error) int { return place(table, a) - place(table, b) })
	return errors.Join(all...)
}

// place returns the index of the rule that an error is about; what is about none comes last.
func place[T any](table []rule[T], err error) int {
	v, _ := err.(Violation)
	if i := slices.IndexFunc(table, func(r rule[T]) bool { return r.id == v.Rule }); i >= 0 {
		return i
	}
	return len(table)
}

// runAll makes each check in a subtest. A subtest fails for whatever its check found, also if another rule is to blame: it then reports
// that rule, and for which it was found.
func runAll[T any](t *testing.T, subject T, table []rule[T]) {
	t.Helper()
	for _, r := range table {
		t.Run(r.id, func(t *testing.T) {
			switch err := r.try(t.Context(), subject).(type) {
			case skipped:
				t.Skip(err)
			case Violation:
				t.Error(report(table, r, err))
			}
		})
	}
}

// report describes what was found while r was checked, with the text of the rule that is broken.
func report[T any](table []rule[T], r rule[T], v Violation) string {
	if v.Rule == r.id {
		return fmt.Sprintf("%s\n%v", r.text, v)
	}
	text := ""
	if i := place(table, v); i < len(table) {
		text = table[i].text
	}
	return fmt.Sprintf("%s\n%s (found while checking %s): %v", text, v.Rule, r.id, v.Err)
}

// A Source makes the actions that a check plays, from what is shown. Given the same arguments and a generator in the same state it must
// return the same action. Where a check takes a Source, nil stands for: one of the admissible actions if the observation lists any, all
// equally likely, else a tool with arguments drawn from its schema.
type Source func(r *rand.Rand, o envharness.Observation, tools []envharness.Tool) envharness.Action

// draw returns the next action.
func (s Source) draw(r *rand.Rand, o envharness.Observation, tools []envharness.Tool) envharness.Action {
	switch {
	case s != nil:
		return s(r, o, tools)
	case len(o.Actions) > 0:
		a := o.Actions[r.IntN(len(o.Actions))]
		return envharness.Action{Name: a.Name, Args: slices.Clone(a.Args)}
	case len(tools) > 0:
		return call(r, tools[r.IntN(len(tools))])
	}
	return noTool
}

// noTool is an action that no environment knows.
var noTool = envharness.Action{Name: "envtest_no_such_tool"}

// call returns a call of the tool with arguments that fit its schema.
func call(r *rand.Rand, t envharness.Tool) envharness.Action {
	a := envharness.Action{Name: t.Name}
	if t.Schema == nil {
		return a
	}
	var s schema
	if json.Unmarshal(t.Schema, &s) != nil {
		return a
	}
	args, ok := s.value(r, 0).(map[string]any)
	if !ok {
		args = map[string]any{}
	}
	a.Args, _ = json.Marshal(args) // JSON values
	return a
}
