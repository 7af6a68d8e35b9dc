package components

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// CorruptRead shows a plausible wrong value at one place in some results of read-only tools. The base is untouched, so that another
// read may give the truth; what a write answers is never changed. A wrong value stays until the next action that is carried out.
//
// A pattern that fits a tool not declared ReadOnly is refused when the episode begins.
//
// Tag corrupt_read, axis T; the params are the struct with its defaults filled in. It is sound if every value that a solution needs can
// be read again, and the limits on turns leave room for it.
type CorruptRead struct {
	Tools []string `json:"tools,omitempty"` // patterns of names of read-only tools; none means all of them
	// Field is the place, a JSON pointer into Data and into a Text that is JSON; the token "*" is every item or field. Values of
	// types that Kind has no answer to stay.
	Field string   `json:"field"`
	P     *float64 `json:"p"` // probability for each read, in [0, 1]; nil means 0.3
	// Kind is "swap": two neighbouring digits, else letters, change places, and true and false; "offset": a number moves by at most a tenth
	// of itself, at least one of its last place; or "blank": the empty value, null for numbers and booleans. Empty means "swap". Swap
	// does to a number without two different neighbouring digits what offset does.
	Kind string `json:"kind"`
	Window
}

func (c CorruptRead) withDefaults() CorruptRead {
	if c.P == nil {
		c.P = new(0.3)
	}
	c.Kind = cmp.Or(c.Kind, "swap")
	return c
}

// Spec implements [envharness.Component].
func (c CorruptRead) Spec() envharness.ComponentSpec {
	return spec("corrupt_read", envharness.AxisTransition, c.withDefaults())
}

// Check reports a window, pattern, pointer, probability or kind that is none.
func (c CorruptRead) Check() error {
	c = c.withDefaults()
	_, err := parsePath(c.Field)
	if err != nil {
		err = fmt.Errorf("field: %w", err)
	}
	if !slices.Contains([]string{"swap", "offset", "blank"}, c.Kind) {
		err = errors.Join(err, fmt.Errorf("kind %q is none of swap, offset and blank", c.Kind))
	}
	return errors.Join(c.check(), checkPatterns(c.Tools), checkChance("p", c.P), err)
}

// String says in words what the component does with its parameters.
func (c CorruptRead) String() string {
	c = c.withDefaults()
	if *c.P == 0 {
		return unchanged
	}
	value := map[string]string{
		"swap": "a value with two characters swapped", "offset": "a number that is a little off", "blank": "an empty value",
	}[c.Kind]
	return c.in("each result of " + oneOf(c.Tools, "a tool that only reads") + " shows, " + probability(*c.P) + ", " + value + " at " +
		word(c.Field))
}

// Begin implements [envharness.Component].
func (c CorruptRead) Begin(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
	c = c.withDefaults()
	path, err := parsePath(c.Field)
	if err != nil {
		return envharness.Hooks{}, err
	}
	reads, err := readOnlyTools(e.Base().Tools, c.Tools)
	if err != nil {
		return envharness.Hooks{}, err
	}
	var tool string
	var seed uint64 // of the wrong values; kept, so that showing the observation again shows the same
	corrupt := false
	return envharness.Hooks{
		Tools: func(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) {
			reads, err = readOnlyTools(tools, c.Tools)
			return tools, err
		},
		Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
			tool = a.Name
			return envharness.PassAction(), nil
		},
		Transition: func(_ context.Context, v envharness.View, t envharness.Transition) (envharness.TransitionEdit, error) {
			if t.Error != nil {
				return envharness.TransitionEdit{}, nil
			}
			corrupt = false
			if reads[tool] && c.open(v.Turn) {
				corrupt, seed = e.Rand.Float64() < *c.P, e.Rand.Uint64()
			}
			return envharness.TransitionEdit{}, nil
		},
		Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
			if corrupt {
				editFields(&o, []dataPath{path}, func(pointer string, v any) (any, outcome) { return wrong(c.Kind, v, placeRand(seed, pointer)) })
			}
			return o, nil
		},
	}, nil
}

// readOnlyTools lists the read-only tools that a pattern fits, and refuses patterns that fit others; no patterns mean all read-only ones.
func readOnlyTools(tools []envharness.Tool, patterns []string) (map[string]bool, error) {
	reads := make(map[string]bool)
	for _, t := range tools {
		if !match(patterns, t.Name) {
			continue
		}
		if !t.ReadOnly && len(patterns) > 0 {
			return nil, fmt.Errorf("tool %q is not declared read-only", t.Name)
		}
		reads[t.Name] = t.ReadOnly
	}
	return reads, nil
}

// placeRand gives a place the same draws wherever it is shown, in Data or in Text.
func placeRand(seed uint64, pointer string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(pointer))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// wrong makes a plausible wrong value of v.
func wrong(kind string, v any, r *rand.Rand) (any, outcome) {
	switch kind {
	case "blank":
		return blank(v)
	case "offset":
		if x, ok := v.(float64); ok {
			return offset(x, r)
		}
		return v, kept
	}
	switch v := v.(type) {
	case bool:
		return !v, replaced
	case string:
		if !utf8.ValidString(v) {
			return v, kept
		}
		if s, ok := transpose(v, unicode.IsDigit, r); ok {
			return s, replaced
		}
		if s, ok := transpose(v, unicode.IsLetter, r); ok {
			return s, replaced
		}
	case float64:
		s, ok := transpose(strconv.FormatFloat(v, 'f', -1, 64), unicode.IsDigit, r)
		if x, err := strconv.ParseFloat(s, 64); ok && err == nil && x != v {
			return x, replaced
		}
		return offset(v, r)
	}
	return v, kept
}

func blank(v any) (any, outcome) {
	switch v.(type) {
	case nil:
		return v, kept
	case string:
		return "", replaced
	case []any:
		return []any{}, replaced
	case map[string]any, *members:
		return map[string]any{}, replaced
	}
	return nil, replaced
}

// transpose exchanges two different neighbours that are both of a class of runes.
func transpose(s string, class func(rune) bool, r *rand.Rand) (string, bool) {
	runes := []rune(s)
	var at []int
	for i := range max(len(runes)-1, 0) {
		if runes[i] != runes[i+1] && class(runes[i]) && class(runes[i+1]) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return s, false
	}
	i := at[r.IntN(len(at))]
	runes[i], runes[i+1] = runes[i+1], runes[i]
	return string(runes), true
}

// offset moves a number by up to a tenth, with as many decimals as it has.
func offset(x float64, r *rand.Rand) (any, outcome) {
	up := r.IntN(2) == 0 || x == 0
	decimals := 0
	if s := strconv.FormatFloat(x, 'f', -1, 64); len(s) <= 20 { // longer ones are no numbers that somebody wrote
		for i := range len(s) {
			if s[i] == '.' {
				decimals = len(s) - i - 1
			}
		}
	}
	scale := math.Pow10(decimals)
	n := math.Round(x * scale)
	y := x * 0.9
	if size := math.Abs(n); size >= 1 && size < 1<<53 || x == 0 {
		by := float64(1 + r.Int64N(max(1, int64(size/10))))
		if !up {
			by = -by
		}
		y = (n + by) / scale
	}
	if y == x {
		return x, kept
	}
	return y, replaced
}

func corruptReadKind() Kind {
	return Kind{
		Tag:       "corrupt_read",
		Version:   1,
		Axis:      envharness.AxisTransition,
		Direction: Harder,
		About:     "shows a wrong value in some results of reads",
		Sound:     "Every value that a solution needs can be read again, and the limits on turns leave room for it.",
		Schema: objectSchema("field", toolsProperty, `"field":{"type":"string","pattern":"^/"}`, `"p":`+chanceSchema,
			`"kind":{"enum":["swap","offset","blank"]}`, windowProperty),
		Ladder: ladder(`{"p":0.1}`, `{"p":0.3}`, `{"p":0.5}`),
		New:    build[CorruptRead],
	}
}
