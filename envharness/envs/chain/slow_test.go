package chain

// The experiments once more, as functions of the whole list of actions: what each step pays, and whether the episode passes. The noise
// of an umbrella is left out: a step that pays by a coin is NaN here.

import "math"

type outcome struct {
	rewards []float64
	pass    bool
}

func slowUmbrella(need, n int, actions []int) outcome {
	out := outcome{rewards: make([]float64, n), pass: actions[0] == need}
	for i := range out.rewards {
		out.rewards[i] = math.NaN()
	}
	out.rewards[n-1] = map[bool]float64{true: 1, false: -1}[out.pass]
	return out
}

func slowDiscounting(setting int, times []int, n int, actions []int) outcome {
	out := outcome{rewards: make([]float64, n), pass: actions[0] == setting%5}
	out.rewards[times[actions[0]]-1] = map[bool]float64{true: 1.1, false: 1}[out.pass]
	return out
}

func slowMemory(bit, n int, actions []int) outcome {
	out := outcome{rewards: make([]float64, n+1), pass: actions[n] == bit}
	out.rewards[n] = map[bool]float64{true: 1, false: -1}[out.pass]
	return out
}

// slowSea follows the map, a table of the action that goes right by row and column.
func slowSea(right [][]int, actions []int) outcome {
	n := len(right)
	out := outcome{rewards: make([]float64, n)}
	column := 0
	for row, a := range actions {
		if a != right[row][column] {
			if column > 0 {
				column--
			}
			continue
		}
		out.rewards[row] = -0.01 / float64(n)
		if column == n-1 {
			out.rewards[row] += 1
			out.pass = true
		} else {
			column++
		}
	}
	return out
}
