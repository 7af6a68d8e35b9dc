package learn

import (
	"fmt"
	"math"
)

// features holds the features of all names of one side as sparse rows. Each is divided by its largest amount over all names, and then all
// by the mean sum of a row: so a map starts with rows of one size whatever the unit of the features and however many there are.
type features struct {
	start  []int // those of name i are start[i]..start[i+1]-1
	column []int32
	amount []float64
	scale  []float64 // of each column: amount = scale*what the caller gave; 0 for a column of zeros
	unit   float64   // largest amount in a column
}

// tabulate asks f about all names; kind is for errors.
func tabulate(kind string, names []string, f Features) (*features, error) {
	t := &features{start: make([]int, 1, len(names)+1)}
	for i, name := range names {
		x := f(name)
		if len(x) == 0 {
			return nil, fmt.Errorf("%w: %s %q is in the records and has none", ErrFeatures, kind, name)
		}
		if i == 0 {
			t.scale = make([]float64, len(x))
		}
		if err := checkFeatures(kind, name, x, len(t.scale)); err != nil {
			return nil, err
		}
		for j, v := range x {
			if v > 0 {
				t.column = append(t.column, int32(j))
				t.amount = append(t.amount, v)
				t.scale[j] = max(t.scale[j], v)
			}
		}
		t.start = append(t.start, len(t.column))
	}
	sum := 0.0
	for e, j := range t.column {
		t.amount[e] /= t.scale[j]
		sum += t.amount[e]
	}
	if sum == 0 {
		return t, nil
	}
	t.unit = float64(len(names)) / sum
	for e := range t.amount {
		t.amount[e] *= t.unit
	}
	for j, largest := range t.scale {
		if largest > 0 {
			t.scale[j] = min(t.unit/largest, math.MaxFloat64)
		}
	}
	return t, nil
}

// checkFeatures checks one row of width features.
func checkFeatures(kind, name string, x []float64, width int) error {
	if len(x) != width {
		return fmt.Errorf("%w: %s %q has %d, want %d", ErrFeatures, kind, name, len(x), width)
	}
	for j, v := range x {
		if !nonNegative(v) {
			return fmt.Errorf("%w: feature %d of %s %q is %v, want a finite number >= 0", ErrFeatures, j, kind, name, v)
		}
	}
	return nil
}

func nonNegative(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }

// weights returns the map in the unit of the caller, a row a feature; nil without features.
func (s *side) weights() [][]float64 {
	if s.features == nil {
		return nil
	}
	rows := make([][]float64, len(s.scale))
	for j, scale := range s.scale {
		rows[j] = make([]float64, s.dim)
		for k := range rows[j] {
			rows[j][k] = min(scale*s.inner[j*s.dim+k], maxNumber)
		}
	}
	return rows
}
