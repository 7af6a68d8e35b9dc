package keydoor

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// A place is a cell of a room.
type place struct{ room, cell int }

// A key is where it lay at the start and what it is called.
type key struct {
	place
	name string
}

// keys draws the keys of a task: first that of each door, by rooms, then in the small preset one spare key for each room.
func (w *world) keys(t task) []key {
	r := envharness.RandStream(uint64(t.s), "env", uint64((t.m*100+t.w)*100+t.g)) // a stream for each size and number
	keys := make([]key, t.m, 2*t.m)
	for i := range keys {
		keys[i].place = place{max(0, i-t.g), 1 + r.IntN(t.w-1)}
	}
	if !w.small {
		for i := range keys {
			keys[i].name = strconv.Itoa(i)
		}
		return keys
	}
	for room := range t.m {
		keys = append(keys, key{place: spare(r, keys, room, t.w)})
	}
	number := t.s
	if t.w == maxSmallCells {
		number = (number + colourings/2) % colourings // so that ood has none of the other splits' colourings
	}
	for i, name := range coloured(w.colouring[number], len(keys)) {
		keys[i].name = name
	}
	return keys
}

// spare draws a cell of the room where no key lies. There is one: a key of a door never lies in cell 0.
func spare(r *rand.Rand, keys []key, room, cells int) place {
	var free []place
	for cell := range cells {
		p := place{room, cell}
		if !slices.ContainsFunc(keys, func(k key) bool { return k.place == p }) {
			free = append(free, p)
		}
	}
	return free[r.IntN(len(free))]
}

func colours() []string {
	return []string{"black", "blue", "brown", "green", "pink", "red", "white", "yellow"}
}

// colourings counts the ways to give four keys different colours: 8*7*6*5.
const colourings = 1680

// colourSeed is the seed of the order in which the drawings take the colourings: at random, since neighbours of the numbering look alike, and
// the splits should not.
const colourSeed = 1_000_003

// coloured returns n different colours, n <= 4. For n = 4 the numbers from 0 to colourings-1 give each choice once, so that two tasks of a
// size never agree in all colours.
func coloured(number, n int) []string {
	left := colours()
	chosen := make([]string, n)
	for i := range chosen {
		k := number % len(left)
		number /= len(left)
		chosen[i] = left[k]
		left = slices.Delete(left, k, k+1)
	}
	return chosen
}
