package household

import (
	"math/bits"

	"github.com/throughline-go/throughline/envharness"
)

func (s receptacleSet) len() int { return bits.OnesCount64(uint64(s)) }

// sentence tells what is to be done, as one of ALFWorld's forms.
func (g Goal) sentence() string {
	switch g.Kind {
	case LookInLight:
		return "look at " + g.Object + " under the " + g.Receptacle + "."
	case PickClean:
		return "put a clean " + g.Object + " in " + g.Receptacle + "."
	case PickHeat:
		return "put a hot " + g.Object + " in " + g.Receptacle + "."
	case PickCool:
		return "put a cool " + g.Object + " in " + g.Receptacle + "."
	case PickTwo:
		return "put two " + g.Object + " in " + g.Receptacle + "."
	}
	return "put a " + g.Object + " in " + g.Receptacle + "."
}

// treatment returns the verb that the kind asks for besides placing.
func (k Kind) treatment() (verb, bool) {
	switch k {
	case PickClean:
		return clean, true
	case PickHeat:
		return heat, true
	case PickCool:
		return cool, true
	}
	return noCommand, false
}

// has reports whether a treatment was carried out last, in effect.
func (m marks) has(v verb) bool {
	switch v {
	case clean:
		return m.clean
	case heat:
		return m.hot
	case cool:
		return m.cool
	}
	return true // none is asked for
}

// reached reports whether the goal holds.
func (e *episode) reached() bool {
	g := &e.goal
	switch g.kind {
	case LookInLight:
		return e.holding >= 0 && e.objects[e.holding].typ == g.object && e.lit(e.here())
	case PickTwo:
		return e.mostTogether() >= 2
	}
	treatment, _ := g.kind.treatment()
	for o := range e.objects {
		if e.objects[o].typ == g.object && e.in[o]&g.places != 0 && e.marks[o].has(treatment) {
			return true
		}
	}
	return false
}

// lit reports whether a lamp of the goal's type that was switched is in or on one of the receptacles.
func (e *episode) lit(s receptacleSet) bool {
	for o := range e.objects {
		if e.objects[o].typ == e.goal.lamp && e.marks[o].switched && e.in[o]&s != 0 {
			return true
		}
	}
	return false
}

// mostTogether returns the most objects of the goal's type in one receptacle of its type.
func (e *episode) mostTogether() int {
	most := 0
	for r := range e.goal.places.all {
		n := 0
		for o := range e.objects {
			if e.objects[o].typ == e.goal.object && e.in[o].has(r) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// Verdict passes if the goal holds. The score of a failure is the mean of the parts, of which one is less than 1: for a treated object those of
// the object that is best off.
func (e *episode) Verdict() envharness.Verdict {
	if e.reached() {
		return envharness.Verdict{Status: envharness.Pass, Score: 1}
	}
	v := envharness.Verdict{Status: envharness.Fail}
	thing := e.goal.object.String()
	treatment, treated := e.goal.kind.treatment()
	switch {
	case e.goal.kind == LookInLight:
		v.Reason = "no " + thing + " is held at a " + e.goal.lamp.String() + " that was switched"
		v.Parts = map[string]float64{
			"held":     truth(e.holding >= 0 && e.objects[e.holding].typ == e.goal.object),
			"switched": truth(e.lit(^receptacleSet(0))),
			"there":    truth(e.lit(e.here())),
		}
		v.Score = (v.Parts["held"] + v.Parts["switched"] + v.Parts["there"]) / 3
	case e.goal.kind == PickTwo:
		v.Reason = "no " + e.goal.place.String() + " has two " + thing
		v.Score = float64(e.mostTogether()) / 2
	case !treated:
		v.Reason = "no " + thing + " is in a " + e.goal.place.String()
	default:
		v.Reason = "no " + thing + " that is " + participle(treatment) + " is in a " + e.goal.place.String()
		v.Parts = map[string]float64{participle(treatment): 0, "placed": 0}
		for o := range e.objects {
			if e.objects[o].typ != e.goal.object {
				continue
			}
			done, placed := truth(e.marks[o].has(treatment)), truth(e.in[o]&e.goal.places != 0)
			if score := (done + placed) / 2; score > v.Score {
				v.Score, v.Parts[participle(treatment)], v.Parts["placed"] = score, done, placed
			}
		}
	}
	return v
}

// participle tells what an object is after a treatment.
func participle(v verb) string {
	if v == heat {
		return "hot"
	}
	return phrases[v].first
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
