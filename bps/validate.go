package bps

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// missing also finds a nil function or pointer inside the interface.
func missing(b Benefit) bool {
	v := reflect.ValueOf(b)
	return b == nil || (v.Kind() == reflect.Func || v.Kind() == reflect.Pointer) && v.IsNil()
}

// Validate reports every fault of p that shows before the benefit is asked, as [Select] does.
func (p Problem) Validate() error {
	var faults []error
	fault := func(kind error, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...)))
	}
	if i := slices.IndexFunc(p.Tokens, func(t int) bool { return t < 0 }); i >= 0 {
		fault(ErrTokens, "candidate %d has %d tokens, want >= 0", i, p.Tokens[i])
	}
	if p.Overhead < 0 {
		fault(ErrTokens, "the overhead is %d tokens, want >= 0", p.Overhead)
	}
	if p.Budget < 0 {
		fault(ErrBudget, "%d tokens, want >= 0", p.Budget)
	}
	if k := p.PenaltyPerToken; !finite(k) || k < 0 {
		fault(ErrPenalty, "PenaltyPerToken is %v, want a finite number >= 0", k)
	}
	if p.Penalty != nil && p.PenaltyPerToken != 0 {
		fault(ErrPenalty, "both Penalty and PenaltyPerToken are set")
	}
	if missing(p.Benefit) {
		if len(p.Tokens) > 0 {
			fault(ErrBenefit, "none given for %d candidates", len(p.Tokens))
		}
	} else if b, ok := p.Benefit.(interface{ Len() int }); ok && b.Len() != len(p.Tokens) {
		fault(ErrBenefit, "made for %d candidates, want %d", b.Len(), len(p.Tokens))
	}

	lists := map[int]string{}
	for _, list := range []struct {
		name string
		set  []int
	}{{"Pinned", p.Pinned}, {"Excluded", p.Excluded}} {
		for _, i := range list.set {
			switch other := lists[i]; {
			case i < 0 || i >= len(p.Tokens):
				fault(ErrIndex, "%s has candidate %d, want one of 0..%d", list.name, i, len(p.Tokens)-1)
			case other == list.name:
				fault(ErrIndex, "%s has candidate %d twice", list.name, i)
			case other != "":
				fault(ErrIndex, "candidate %d is in Pinned and in Excluded", i)
			default:
				lists[i] = list.name
			}
		}
	}
	if len(faults) == 0 && len(p.Pinned) > 0 {
		left := p.Budget - p.Overhead
		for _, i := range p.Pinned {
			if p.Tokens[i] > left { // no sum of tokens, which might overflow
				fault(ErrBudget, "%d tokens, but pinned candidate %d has %d, and the overhead and those before it leave %d", p.Budget, i, p.Tokens[i], left)
				break
			}
			left -= p.Tokens[i]
		}
	}
	return errors.Join(faults...)
}

func (o *Options) validate() error {
	var faults []error
	option := func(name string, v any, rule string) {
		faults = append(faults, fmt.Errorf("bps: Options.%s is %v, want %s", name, v, rule))
	}
	if o.Mode < Auto || o.Mode > Exact {
		option("Mode", int(o.Mode), "one of the modes")
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"MaxPool", o.MaxPool}, {"NodeLimit", o.NodeLimit}, {"Workers", o.Workers}, {"MaxReruns", o.MaxReruns}} {
		if f.value < 0 {
			option(f.name, f.value, ">= 0")
		}
	}
	return errors.Join(faults...)
}
