package game24

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
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
	f := fnv.New64a()
	f.Write([]byte(h.taskID()))
	switch f.Sum64() % 10 {
	case 0:
		return "validation"
	case 1:
		return "test"
	}
	return "train"
}

// listTasks returns the solvable hands of a split in ascending order.
func listTasks(split string) ([]envharness.Task, error) {
	switch split {
	case "train", "validation", "test", "ood":
	default:
		return nil, fmt.Errorf("unknown split %q, want train, validation, test or ood", sim.Clip(split))
	}
	var out []envharness.Task
	var s solver // always strict, so that the splits are the same with every option
	for h := range allHands {
		if h.split() != split {
			continue
		}
		if _, ok := s.solve(h); ok {
			out = append(out, envharness.Task{ID: h.taskID(), Split: split})
		}
	}
	return out, nil
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
