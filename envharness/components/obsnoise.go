package components

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// wholeText names the text of an observation among fields.
const wholeText = "text"

// ObsNoise disturbs fields of what is shown, anew in every turn and in every field by itself. The result that ends the episode is shown
// undisturbed.
//
// Tag obs_noise, axis O; the params are the struct with its defaults filled in. It is sound if a solution can do without the fields, or
// look again and average; the verdict does not depend on what is shown.
type ObsNoise struct {
	// Fields are JSON pointers into Data and into a Text that is JSON, where the token "*" is every item or field; or "text" for the
	// whole Text, which can only be dropped. At least one.
	Fields []string `json:"fields"`
	// Kind is "gauss": to a number is added a normal draw with mean 0 and deviation Sigma; "drop": with probability P the field is missing
	// (an item of a list null, Text empty); or "stuck": with probability P a number or boolean is the one that was shown before. Empty means
	// "drop". Values of other types stay; strings can only be dropped.
	Kind  string   `json:"kind"`
	Sigma *float64 `json:"sigma,omitempty"` // of gauss alone, which needs it; finite, at least 0, in the unit of the fields
	P     *float64 `json:"p,omitempty"`     // of drop and stuck, in [0, 1]; nil means 0.1
	Window
}

func (n ObsNoise) withDefaults() ObsNoise {
	n.Kind = cmp.Or(n.Kind, "drop")
	if n.P == nil && n.Kind != "gauss" {
		n.P = new(0.1)
	}
	return n
}

// Spec implements [envharness.Component].
func (n ObsNoise) Spec() envharness.ComponentSpec {
	return spec("obs_noise", envharness.AxisObservation, n.withDefaults())
}

// Check reports fields, a kind or a range of turns that are none, and a Sigma or P that is out of range or of the other kind.
func (n ObsNoise) Check() error {
	n = n.withDefaults()
	_, text, err := n.paths()
	errs := []error{n.check(), err, checkChance("p", n.P)}
	if len(n.Fields) == 0 {
		errs = append(errs, errors.New("no fields"))
	}
	switch n.Kind {
	case "gauss":
		if n.P != nil {
			errs = append(errs, errors.New("p is no parameter of gauss"))
		}
		if n.Sigma == nil || !(*n.Sigma >= 0) || math.IsInf(*n.Sigma, 1) {
			errs = append(errs, errors.New("gauss needs a finite sigma that is not negative"))
		}
	case "drop", "stuck":
		if n.Sigma != nil {
			errs = append(errs, fmt.Errorf("sigma is no parameter of %s", n.Kind))
		}
	default:
		errs = append(errs, fmt.Errorf("kind %q is none of gauss, drop and stuck", n.Kind))
	}
	if text && n.Kind != "drop" {
		errs = append(errs, fmt.Errorf("text cannot be %s, only dropped", n.Kind))
	}
	return errors.Join(errs...)
}

// paths reads the fields, of which one may be the text.
func (n ObsNoise) paths() (paths []dataPath, text bool, err error) {
	pointers := slices.DeleteFunc(slices.Clone(n.Fields), func(f string) bool { return f == wholeText })
	paths, err = parsePaths(pointers)
	return paths, len(pointers) < len(n.Fields), err
}

// String says in words what the component does with its parameters.
func (n ObsNoise) String() string {
	n = n.withDefaults()
	fields := make([]string, len(n.Fields))
	for i, f := range n.Fields {
		fields[i] = word(f)
		if f == wholeText {
			fields[i] = "the text"
		}
	}
	each := list("and", fields)
	if len(fields) > 1 {
		each = "each of " + each
	}
	switch {
	case n.Kind == "gauss" && n.Sigma != nil && *n.Sigma != 0:
		return n.in(each + " is shown with normal noise of deviation " + strconv.FormatFloat(*n.Sigma, 'g', -1, 64))
	case n.Kind == "drop" && *n.P != 0:
		return n.in(each + " is left out " + probability(*n.P))
	case n.Kind == "stuck" && *n.P != 0:
		return n.in(each + " is shown as it was before " + probability(*n.P))
	}
	return unchanged
}

// Begin implements [envharness.Component].
func (n ObsNoise) Begin(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
	n = n.withDefaults()
	paths, text, err := n.paths()
	if err != nil {
		return envharness.Hooks{}, err
	}
	last := make(map[string]any) // what was shown last, by place; for stuck
	return envharness.Hooks{Observe: func(_ context.Context, v envharness.View, o envharness.Observation) (envharness.Observation, error) {
		open := n.open(v.Turn)
		seed := e.Rand.Uint64() // one draw a turn: fields that come and go do not shift those of later turns
		shown := make(map[string]any)
		editFields(&o, paths, func(pointer string, v any) (any, outcome) {
			if !open {
				shown[pointer] = v
				return v, kept
			}
			out, change := n.disturb(v, last[pointer], placeRand(seed, pointer))
			shown[pointer] = out
			return out, change
		})
		last = shown
		if text && open && placeRand(seed, wholeText).Float64() < *n.P {
			o.Text = ""
		}
		return o, nil
	}}, nil
}

// disturb changes the value of one field, of which before was shown last.
func (n ObsNoise) disturb(v, before any, r *rand.Rand) (any, outcome) {
	switch n.Kind {
	case "gauss":
		x, ok := v.(float64)
		if y := x + *n.Sigma*r.NormFloat64(); ok && y != x && !math.IsInf(y, 0) {
			return y, replaced
		}
	case "drop":
		if r.Float64() < *n.P {
			return v, removed
		}
	case "stuck":
		if scalar(v) && scalar(before) && v != before && r.Float64() < *n.P {
			return before, replaced
		}
	}
	return v, kept
}

// scalar tells numbers and booleans.
func scalar(v any) bool {
	switch v.(type) {
	case float64, bool:
		return true
	}
	return false
}

func obsNoiseKind() Kind {
	return Kind{
		Tag: "obs_noise", Version: 1, Axis: envharness.AxisObservation, Direction: Harder,
		About: "disturbs fields of what is shown",
		Sound: "A solution can do without the fields, or look again and average.",
		Schema: objectSchema("fields", `"fields":{"type":"array","minItems":1,"items":{"type":"string","pattern":"^(/.*|text)$"}}`,
			`"kind":{"enum":["gauss","drop","stuck"]}`, `"sigma":{"type":"number","minimum":0}`, `"p":`+chanceSchema, windowProperty),
		Ladder: ladder(`{"kind":"drop","p":0.05}`, `{"kind":"drop","p":0.1}`, `{"kind":"drop","p":0.2}`),
		New:    build[ObsNoise],
	}
}
