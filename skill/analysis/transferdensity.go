package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
)

// A Transfer is one retrieval of one skill. Tasks are numbered in the order of the stream, from 0.
type Transfer struct {
	From []int // tasks that the version retrieved was made of
	To   int   // task that it was retrieved for
}

// A Density is the result of [TransferDensity].
type Density struct {
	Value   float64 // in [0, 1]
	Defined bool    // false with fewer than two tasks; Value is then 0 and means nothing
	Bins    int     // that the stream was cut into
	Linked  int     // pairs of bins with a transfer
}

// TransferDensity says how widely the skills of a stream of tasks are used later. The stream is cut into n bins of equal
// size, and the density is the share of the pairs of bins i < j in which a skill made in bin i is retrieved in bin j
// (arXiv:2608.20274). Report skills that were selected by similarity; what selected code calls does not count.
//
// N = 0 means 50, as in the paper. Ours: task t of T is in bin floor(tn/T), with n at most T; every origin of the version
// that was retrieved links, so another transfer never lowers the density; within a bin and backwards nothing does.
//
// Negative tasks, n = 1 or below 0, and a task out of range are errors. The cost is linear in the origins.
func TransferDensity(tasks int, transfers []Transfer, n int) (Density, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("analysis: transfer density: "+format, args...))
	}
	if tasks < 0 {
		fault("%d tasks, want at least 0", tasks)
	}
	if n < 0 || n == 1 {
		fault("n is %d, want 0 or at least 2", n)
	}
	for i, u := range transfers {
		if u.To < 0 || u.To >= tasks {
			fault("transfer %d goes to task %d, want it in [0, %d)", i, u.To, tasks)
		}
		for _, from := range u.From {
			if from < 0 || from >= tasks {
				fault("transfer %d comes from task %d, want it in [0, %d)", i, from, tasks)
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return Density{}, err
	}
	n = min(cmp.Or(n, 50), tasks)
	if tasks < 2 {
		return Density{Bins: n}, nil
	}
	bin := func(task int) uint64 {
		hi, lo := bits.Mul64(uint64(task), uint64(n)) // the product of two numbers of tasks can overflow
		b, _ := bits.Div64(hi, lo, uint64(tasks))
		return b
	}
	linked := map[[2]uint64]bool{}
	for _, u := range transfers {
		to := bin(u.To)
		for _, from := range u.From {
			if b := bin(from); b < to {
				linked[[2]uint64{b, to}] = true
			}
		}
	}
	pairs := float64(n) * float64(n-1) / 2
	return Density{Value: float64(len(linked)) / pairs, Defined: true, Bins: n, Linked: len(linked)}, nil
}
