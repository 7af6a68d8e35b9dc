package envharness

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// class ranks the axes for the order of a stack; -1 is no axis.
func (a Axis) class() int {
	switch a {
	case AxisStart:
		return 0
	case AxisAction, AxisTransition, AxisObservation:
		return 1
	case AxisBudget:
		return 2
	}
	return -1
}

// Canonical returns the components in the order that [New] asks for: sorted by class, and within a class, where the order is the caller's
// to choose, as they were.
func Canonical(components []Component) []Component {
	sorted := slices.Clone(components)
	class := func(c Component) int { // what New will refuse comes first
		spec, _ := guard(func() (ComponentSpec, error) { return c.Spec(), nil })
		return spec.Axis.class()
	}
	slices.SortStableFunc(sorted, func(a, b Component) int { return cmp.Compare(class(a), class(b)) })
	return sorted
}

func aroundChain(s ComponentSpec) error {
	return fmt.Errorf("%w: %q (axis %s) must not be around a chain: put it around a leg", ErrOrder, s.ID, s.Axis)
}

// stack checks the components, innermost first, and gives each its id.
func stack(components []Component, chain bool) ([]level, error) {
	levels := make([]level, len(components))
	uses := make(map[string]int)
	at := make(map[string]int)
	var errs []error
	for i, c := range components {
		if c == nil {
			return nil, fmt.Errorf("envharness: component %d is nil", i)
		}
		spec, err := guard(func() (ComponentSpec, error) { return c.Spec(), nil })
		if err != nil {
			return nil, fmt.Errorf("envharness: component %d: spec: %w", i, err)
		}
		if spec.Tag == "" {
			return nil, fmt.Errorf("envharness: component %d has no tag", i)
		}
		uses[spec.Tag]++
		if spec.ID == "" {
			spec.ID = spec.Tag
			if n := uses[spec.Tag]; n > 1 {
				spec.ID = fmt.Sprintf("%s#%d", spec.Tag, n)
			}
		}
		if j, used := at[spec.ID]; used {
			errs = append(errs, fmt.Errorf("envharness: components %d and %d have the same id %q", j, i, spec.ID))
		}
		at[spec.ID] = i
		if spec.Axis.class() < 0 {
			errs = append(errs, fmt.Errorf("envharness: component %q: unknown axis %q", spec.ID, spec.Axis))
		} else if chain && spec.Axis == AxisStart {
			errs = append(errs, aroundChain(spec))
		} else if i > 0 && levels[i-1].spec.Axis.class() > spec.Axis.class() {
			inner := levels[i-1].spec
			errs = append(errs, fmt.Errorf("%w: %q (axis %s) must not be around %q (axis %s)",
				ErrOrder, spec.ID, spec.Axis, inner.ID, inner.Axis))
		}
		if k, ok := c.(interface{ Check() error }); ok {
			if _, err := guard(func() (struct{}, error) { return struct{}{}, k.Check() }); err != nil {
				errs = append(errs, fmt.Errorf("envharness: component %q: %w", spec.ID, err))
			}
		}
		levels[i] = level{spec: spec, comp: c}
	}
	return levels, errors.Join(errs...)
}
