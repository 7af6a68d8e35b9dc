package chain

import (
	"slices"
	"strconv"
)

// An umbrellaChain is bsuite's umbrella: the first action counts and the last step shows it.
type umbrellaChain struct {
	random    *random
	need, has int
	t, n      int
	signs     []byte // bits that mean nothing, '0' or '1', with spaces between them
}

func newUmbrella(steps, signs int, r *random) *umbrellaChain {
	u := &umbrellaChain{random: r, n: steps, need: r.bit(), has: r.bit()}
	u.signs = make([]byte, 2*signs-1)
	for i := range u.signs {
		u.signs[i] = ' '
	}
	u.redraw()
	return u
}

func (u *umbrellaChain) redraw() {
	for i := 0; i < len(u.signs); i += 2 {
		u.signs[i] = byte('0' + u.random.bit())
	}
}

func (u *umbrellaChain) step(action int) float64 {
	u.t++
	if u.t == 1 {
		u.has = action
	}
	won := u.has == u.need
	if u.t < u.n {
		won = u.random.bit() == 1
	}
	u.redraw()
	if won {
		return 1
	}
	return -1
}

func (u *umbrellaChain) ended() bool  { return u.t == u.n }
func (u *umbrellaChain) passes() bool { return u.has == u.need }

func (u *umbrellaChain) plan() ([]int, string) {
	if u.t > 0 && u.has != u.need {
		return nil, "has is not need and cannot be changed any more"
	}
	return slices.Repeat([]int{u.need}, u.n-u.t), ""
}

func (u *umbrellaChain) appendText(b []byte) []byte {
	b = append(b, "Need "...)
	b = strconv.AppendInt(b, int64(u.need), 10)
	b = append(b, ", has "...)
	b = strconv.AppendInt(b, int64(u.has), 10)
	b = appendLeft(append(b, ", "...), u.n-u.t, u.n)
	b = append(b, ", signs "...)
	return append(b, u.signs...)
}

func (u *umbrellaChain) appendState(b []byte) []byte {
	b = append(b, `{"has":`...)
	b = strconv.AppendInt(b, int64(u.has), 10)
	b = append(b, `,"left":`...)
	b = strconv.AppendInt(b, int64(u.n-u.t), 10)
	b = append(b, `,"need":`...)
	b = strconv.AppendInt(b, int64(u.need), 10)
	b = append(b, `,"signs":"`...)
	b = append(b, u.signs...)
	return append(b, `"}`...)
}

// appendLeft appends how many steps are left.
func appendLeft(b []byte, left, of int) []byte {
	b = append(b, "left "...)
	b = strconv.AppendInt(b, int64(left), 10)
	b = append(b, " of "...)
	return strconv.AppendInt(b, int64(of), 10)
}
