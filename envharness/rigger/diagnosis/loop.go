package diagnosis

import (
	"fmt"
	"slices"
)

const (
	loopTimes = 3 // repetitions that make a loop
	maxPeriod = 4 // calls in a circle
)

// loop is F01: the same call with the same shown at least 3 times; or a circle of 2 to 4 calls gone round 3 times in a row that no
// solution goes round, if one is known. One call after the other in a row is no circle: that is how one walks.
func loop(e *episode) sign {
	type pair struct{ call, shown int }
	times := make(map[pair][]int)
	var most []int
	for i, u := range e.turns {
		if u.call < 0 || !e.counts(i) {
			continue
		}
		p := pair{u.call, u.shown}
		times[p] = append(times[p], i)
		if len(times[p]) > len(most) {
			most = times[p]
		}
	}
	if len(most) >= loopTimes {
		return e.at(most, "%s, %d times with the same result", e.callOf(most[0]).words(), len(most))
	}
	if e.toolsFor == nil {
		return sign{}
	}
	calls, positions := e.sequence()
	for _, c := range circlesOf(calls) {
		if !e.circles[c.key] {
			first := e.calls[calls[c.from]]
			return e.at(positions[c.from:c.to], "%d calls gone round %d times, beginning with %s", c.period, loopTimes, first.words())
		}
	}
	return sign{}
}

// A circle is a part of a sequence of calls.
type circle struct {
	from, to, period int
	key              string // the same wherever one enters it
}

// circlesOf returns where each circle that is gone round begins, once for each way.
func circlesOf(sequence []int) []circle {
	var found []circle
	seen := make(map[string]bool)
	for period := 2; period <= maxPeriod; period++ {
		run := 0 // calls in a row that equal the one a period before
		for i := period; i < len(sequence); i++ {
			if run++; sequence[i] != sequence[i-period] {
				run = 0
			}
			if run < (loopTimes-1)*period {
				continue
			}
			from := i + 1 - loopTimes*period
			around := sequence[from : from+period]
			key := rotation(around)
			if !seen[key] && slices.Min(around) != slices.Max(around) {
				seen[key] = true
				found = append(found, circle{from, i + 1, period, key})
			}
		}
	}
	return found
}

// rotation writes a circle from its least beginning.
func rotation(around []int) string {
	double := slices.Concat(around, around)
	least := around
	for i := range around {
		if r := double[i : i+len(around)]; slices.Compare(r, least) < 0 {
			least = r
		}
	}
	return fmt.Sprint(least)
}
