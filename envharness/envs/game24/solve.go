package game24

// target is the number to be made.
const target = 24

// A hand is the list of numbers in play; those beyond n are zero, so that equal lists are equal structs.
type hand struct {
	n int
	v [4]rational
}

// combine takes the numbers at i and j out and appends r.
func (h hand) combine(i, j int, r rational) hand {
	var out hand
	for k := range h.n {
		if k != i && k != j {
			out.v[out.n] = h.v[k]
			out.n++
		}
	}
	out.v[out.n] = r
	out.n++
	return out
}

// append appends the numbers as a JSON list of strings.
func (h hand) append(b []byte) []byte {
	b = append(b, '[')
	for i, v := range h.v[:h.n] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(v.append(append(b, '"')), '"')
	}
	return append(b, ']')
}

// sorted returns the numbers in ascending order.
func (h hand) sorted() hand {
	for i := 1; i < h.n; i++ {
		for k := i; k > 0 && h.v[k].less(h.v[k-1]); k-- {
			h.v[k], h.v[k-1] = h.v[k-1], h.v[k]
		}
	}
	return h
}

// won reports whether a stop with these numbers passes: one number that is the target or, if loose, any number that is.
//
// The reference compares with a tolerance of 1e-6. That accepts no more than equality does, since a fraction with a denominator of
// at most 228,488 that is not 24 differs from it by more than 4e-6.
func (h hand) won(loose bool) bool {
	if !loose {
		return h.n == 1 && h.v[0] == whole(target)
	}
	for _, v := range h.v[:h.n] {
		if v == whole(target) {
			return true
		}
	}
	return false
}

// A move is one combine.
type move struct {
	i, j int
	op   operator
}

// A solver finds the fewest moves to a hand that wins, by trying all: i ascending, then j, then the operators in their order. The
// first solution counts.
type solver struct {
	loose bool
	dead  map[deadEnd]struct{} // without a solution; filled while searching
}

// A deadEnd is a sorted hand that no such number of moves turns into one that wins. What can be made of a hand does not depend on its
// order.
type deadEnd struct {
	hand  hand
	moves int
}

// solve returns the moves, none for a hand that wins as it is; it is not ok if there are none, which is a proof.
func (s *solver) solve(h hand) (moves []move, ok bool) {
	if s.dead == nil {
		s.dead = map[deadEnd]struct{}{}
	}
	// A strict solution takes exactly n-1 moves; a loose one may take fewer.
	fewest := h.n - 1
	if s.loose {
		fewest = 0
	}
	for n := fewest; n < h.n; n++ {
		moves = make([]move, n)
		if s.search(h, moves) {
			return moves, true
		}
	}
	return nil, false
}

// search fills path with moves that lead to a win.
func (s *solver) search(h hand, path []move) bool {
	if len(path) == 0 {
		return h.won(s.loose)
	}
	end := deadEnd{moves: len(path)}
	if len(path) > 1 { // a last move is as fast to try as to look up
		end.hand = h.sorted()
		if _, ok := s.dead[end]; ok {
			return false
		}
	}
	for i := range h.n {
		for j := range h.n {
			if i == j {
				continue
			}
			for op := add; op <= div; op++ {
				if i > j && (op == add || op == mul) {
					continue // made the same list with i and j exchanged
				}
				r, ok := op.apply(h.v[i], h.v[j])
				if ok && s.search(h.combine(i, j, r), path[1:]) {
					path[0] = move{i, j, op}
					return true
				}
			}
		}
	}
	if len(path) > 1 {
		s.dead[end] = struct{}{}
	}
	return false
}
