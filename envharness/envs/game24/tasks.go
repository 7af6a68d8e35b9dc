package game24

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// highest is the highest number of a hand, and familiar the highest of a hand that is not in the split ood.
const (
	highest  = 13
	familiar = 10
)

// deal returns the hand of a task.
func deal(id string) (hand, error) {
	h := hand{n: 4}
	fields := strings.SplitN(id, ",", 5)
	if len(fields) != 4 {
		return hand{}, noTask(id)
	}
	for i, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 || n > highest || strconv.Itoa(n) != f {
			return hand{}, noTask(id)
		}
		h.v[i] = whole(int64(n))
		if i > 0 && h.v[i].less(h.v[i-1]) {
			return hand{}, noTask(id)
		}
	}
	return h, nil
}

func noTask(id string) error {
	return fmt.Errorf("%w: %q, want four numbers from 1 to %d in ascending order, such as %q",
		envharness.ErrNoTask, sim.Clip(id), highest, defaultTask)
}

// taskID returns the id of a hand of whole numbers in ascending order.
func (h hand) taskID() string {
	var b strings.Builder
	for i, v := range h.v[:h.n] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(v.String())
	}
	return b.String()
}

// split returns the name of the split that a hand belongs to if it is solvable.
func (h hand) split() string {
	if whole(familiar).less(h.v[3]) {
		return "ood"
	}
	return rules.HashSplit(h.taskID())
}

// taskLists returns a function that lists the tasks of a split. The hands are solved once, on its first call.
func taskLists() func(split string) ([]envharness.Task, error) {
	lists := sync.OnceValue(solvableHands)
	return func(split string) ([]envharness.Task, error) {
		switch split {
		case "train", "validation", "test", "ood":
			return slices.Clone(lists()[split]), nil // the caller's
		}
		return nil, rules.UnknownSplit(split)
	}
}

// solvableHands returns the tasks of the splits, each in ascending order.
func solvableHands() map[string][]envharness.Task {
	out := make(map[string][]envharness.Task)
	var s solver // always strict, so that the splits are the same with every option
	for h := range allHands {
		if _, ok := s.solve(h); ok {
			split := h.split()
			out[split] = append(out[split], envharness.Task{ID: h.taskID(), Split: split})
		}
	}
	return out
}

// allHands yields the 1,820 hands in ascending order.
func allHands(yield func(hand) bool) {
	for a := int64(1); a <= highest; a++ {
		for b := a; b <= highest; b++ {
			for c := b; c <= highest; c++ {
				for d := c; d <= highest; d++ {
					if !yield(hand{4, [4]rational{whole(a), whole(b), whole(c), whole(d)}}) {
						return
					}
				}
			}
		}
	}
}
