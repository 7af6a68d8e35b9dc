package train

import (
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// A view is the logits at one position as the policy there reads them: all of them, or where not all tokens could be drawn those of the
// reserved entries and then those of the tokens that could.
type view struct {
	head   loss.Head
	z, dz  []float64
	action int
	ids    []int // where z[k] comes from; nil if z is all
}

// look returns the view of logits z for the token drawn at position j of a response, and room for its gradient if grad is not nil.
func look(head loss.Head, s *rl.Sequence, j int, z, grad []float64) view {
	v := view{head: head, z: z, dz: grad}
	if s.Start+j < len(s.Tokens) {
		v.action = s.Tokens[s.Start+j]
	}
	if j >= len(s.Allowed) || len(s.Allowed[j]) == 0 {
		return v
	}
	first := 0
	if head.Plus != head.Minus {
		v.ids = append(v.ids, head.Plus, head.Minus)
		v.head.Plus, v.head.Minus, first = 0, 1, 2
	}
	v.ids = append(v.ids, s.Allowed[j]...)
	v.z = make([]float64, len(v.ids))
	if grad != nil {
		v.dz = make([]float64, len(v.ids))
	}
	for k, id := range v.ids {
		v.z[k] = z[id]
		if k >= first && id == s.Tokens[s.Start+j] {
			v.action = k
		}
	}
	return v
}

// scatter adds the gradient of a restricted view to that of the logits.
func (v *view) scatter(grad []float64) {
	for k, id := range v.ids {
		grad[id] += v.dz[k]
	}
}

// all returns the logits of an unrestricted view in the order of a restricted one: loss.SAPO has one head for all positions of a turn.
func (v *view) all(grad []float64) {
	if v.ids != nil {
		return
	}
	ids := make([]int, 0, len(v.z))
	ids = append(ids, v.head.Plus, v.head.Minus)
	for k := range v.z {
		if k != v.head.Plus && k != v.head.Minus {
			ids = append(ids, k)
		}
	}
	z := make([]float64, len(ids))
	action := 0
	for k, id := range ids {
		z[k] = v.z[id]
		if k >= 2 && id == v.action {
			action = k
		}
	}
	v.ids, v.z, v.action = ids, z, action
	v.head.Plus, v.head.Minus = 0, 1
	if grad != nil {
		v.dz = make([]float64, len(ids))
	}
}
