package chain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// id writes the id of an episode of the setting n.
func id(n, episode int) string { return strconv.Itoa(n) + "-" + strconv.Itoa(episode) }

// playable counts the episodes of the setting n.
func (d *design) playable(n int) int {
	if d.ood(n) {
		return d.episodes
	}
	return d.episodes + 2*d.held
}

// parse reads an id.
func (d *design) parse(task string) (n, episode int, err error) {
	a, b, ok := strings.Cut(task, "-")
	if ok {
		n, err = strconv.Atoi(a)
		if err == nil {
			episode, err = strconv.Atoi(b)
		}
	}
	if !ok || err != nil || episode < 0 || task != id(n, episode) || !slices.Contains(d.numbers, n) || episode >= d.playable(n) {
		return 0, 0, fmt.Errorf("%w: %q, want n-k in plain decimals with n of %v and k below %d (or %d if n is out of distribution)",
			envharness.ErrNoTask, sim.Clip(task), d.numbers, d.episodes+2*d.held, d.episodes)
	}
	return n, episode, nil
}

// tasks lists a split: the episodes in order, and for each all settings.
func (d *design) tasks(split string) ([]envharness.Task, error) {
	from, to := 0, d.episodes
	switch split {
	case "train", "ood":
	case "validation":
		from, to = d.episodes, d.episodes+d.held
	case "test":
		from, to = d.episodes+d.held, d.episodes+2*d.held
	default:
		return nil, rules.UnknownSplit(split)
	}
	var settings []string
	for _, n := range d.numbers {
		if d.ood(n) == (split == "ood") {
			settings = append(settings, strconv.Itoa(n))
		}
	}
	list := make([]envharness.Task, 0, (to-from)*len(settings))
	var ids strings.Builder // one piece of memory for all, as there are up to 140,000
	var digits [20]byte
	ids.Grow(cap(list) * len("100-10199"))
	for episode := from; episode < to; episode++ {
		number := strconv.AppendInt(digits[:0], int64(episode), 10)
		for _, n := range settings {
			at := ids.Len()
			ids.WriteString(n)
			ids.WriteByte('-')
			ids.Write(number)
			list = append(list, envharness.Task{ID: ids.String()[at:], Split: split, Family: n})
		}
	}
	return list, nil
}
