package keydoor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// What may be played. The splits list less.
const (
	maxRooms      = 9
	maxCells      = 20
	maxGap        = 9
	maxSeed       = 9999
	maxSmallCells = 4
)

const smallPrefix = "small-"

// A task is what an id says: rooms, cells in each, how many rooms before its door a key lies, and the number of the drawing.
type task struct{ m, w, g, s int }

// id writes a task without the prefix.
func (t task) id() string {
	return strconv.Itoa(t.m) + "," + strconv.Itoa(t.w) + "," + strconv.Itoa(t.g) + "," + strconv.Itoa(t.s)
}

// shortest is the length of the shortest plan: each room takes w moves, and each key is picked up and used.
func (t task) shortest() int { return t.m * (t.w + 2) }

// parse reads an id of the preset.
func (w *world) parse(id string) (task, error) {
	bare, small := strings.CutPrefix(id, smallPrefix)
	fields := strings.SplitN(bare, ",", 5)
	var t task
	ok := small == w.small && len(fields) == 4
	if ok {
		for i, to := range []*int{&t.m, &t.w, &t.g, &t.s} {
			n, err := strconv.Atoi(fields[i])
			ok = ok && err == nil && n >= 0
			*to = n
		}
	}
	switch {
	case !ok || bare != t.id():
		ok = false
	case w.small:
		ok = t.m == 2 && 2 <= t.w && t.w <= maxSmallCells && t.g <= 1 && t.s < colourings
	default:
		ok = 1 <= t.m && t.m <= maxRooms && 2 <= t.w && t.w <= maxCells && t.g <= maxGap && t.s <= maxSeed && 3*t.shortest() <= MaxTurns
	}
	if ok {
		return t, nil
	}
	rule := fmt.Sprintf("m,w,g,s with m 1 to %d, w 2 to %d, m*(w+2) at most %d, g 0 to %d, s 0 to %d",
		maxRooms, maxCells, MaxTurns/3, maxGap, maxSeed)
	if w.small {
		rule = fmt.Sprintf("%sm,w,g,s with m 2, w 2 to %d, g 0 to 1, s 0 to %d", smallPrefix, maxSmallCells, colourings-1)
	}
	return task{}, fmt.Errorf("%w: %q, want %s, in plain decimals", envharness.ErrNoTask, sim.Clip(id), rule)
}

// tasks lists a split, the seeds in order and for each all sizes.
func (w *world) tasks(split string) ([]envharness.Task, error) {
	rooms, cells, gaps := []int{2, 3}, []int{5}, []int{0, 1}
	train, held := 100, 20 // seeds
	prefix := ""
	if w.small {
		rooms, cells, train, prefix = []int{2}, []int{2, 3}, 200, smallPrefix
	}
	from, to := 0, train
	switch split {
	case "train":
	case "validation":
		from, to = train, train+held
	case "test":
		from, to = train+held, train+2*held
	case "ood":
		rooms, gaps, to = []int{4, 6}, []int{2, 3}, 20
		if w.small {
			rooms, cells, gaps, to = []int{2}, []int{4}, []int{0, 1}, 40
		}
	default:
		return nil, rules.UnknownSplit(split)
	}
	list := make([]envharness.Task, 0, (to-from)*len(rooms)*len(cells)*len(gaps))
	for s := from; s < to; s++ {
		for _, m := range rooms {
			for _, c := range cells {
				for _, g := range gaps {
					list = append(list, envharness.Task{ID: prefix + task{m, c, g, s}.id(), Split: split, Family: fmt.Sprintf("%d,%d,%d", m, c, g)})
				}
			}
		}
	}
	return list, nil
}
