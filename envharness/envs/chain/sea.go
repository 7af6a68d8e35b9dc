package chain

import "strconv"

const moveCost = 0.01 // of an episode that always goes right (bsuite)

// A seaChain is bsuite's deep sea, the deterministic one.
type seaChain struct {
	n           int
	right       []uint64 // by row: bit c is the action that goes right in column c
	row, column int
	reached     bool
}

func newSea(n int, r *random) *seaChain {
	s := &seaChain{n: n, right: make([]uint64, n)}
	for i := range s.right {
		s.right[i] = r.Uint64()
	}
	return s
}

// rightward returns the action that goes right in a place.
func (s *seaChain) rightward(row, column int) int { return int(s.right[row] >> column & 1) }

func (s *seaChain) step(action int) float64 {
	reward := 0.
	if action == s.rightward(s.row, s.column) {
		reward = -moveCost / float64(s.n)
		if s.column == s.n-1 { // only on the last row is it possible to be there
			reward++
			s.reached = true
		}
		s.column = min(s.column+1, s.n-1)
	} else {
		s.column = max(s.column-1, 0)
	}
	s.row++
	return reward
}

func (s *seaChain) ended() bool  { return s.row == s.n }
func (s *seaChain) passes() bool { return s.reached }

func (s *seaChain) plan() ([]int, string) {
	if s.column < s.row { // a column is lost at each step to the left
		return nil, "the last column is out of reach"
	}
	var plan []int
	for i := s.row; i < s.n; i++ {
		plan = append(plan, s.rightward(i, i))
	}
	return plan, ""
}

func (s *seaChain) appendText(b []byte) []byte {
	b = append(b, "Size "...)
	b = strconv.AppendInt(b, int64(s.n), 10)
	if s.ended() { // bsuite shows nothing then
		return append(b, ", bottom"...)
	}
	b = append(b, ", row "...)
	b = strconv.AppendInt(b, int64(s.row), 10)
	b = append(b, ", column "...)
	return strconv.AppendInt(b, int64(s.column), 10)
}

func (s *seaChain) appendState(b []byte) []byte {
	b = append(b, `{"column":`...)
	b = strconv.AppendInt(b, int64(s.column), 10)
	b = append(b, `,"reached":`...)
	b = strconv.AppendBool(b, s.reached)
	b = append(b, `,"row":`...)
	b = strconv.AppendInt(b, int64(s.row), 10)
	return append(b, '}')
}
