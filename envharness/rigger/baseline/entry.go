package baseline

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// RandomEntry draws a component for the task of the brief, from b.Rand: a kind of b.Registry, all equally likely that work in the direction
// of the brief and that there is something to make of, and then its parameters, each uniformly among those that fit the task. It reports
// false if there is no such kind, and draws nothing then. A nil b.Registry is [components.Catalogue], a nil b.Rand has a fixed seed.
//
// What a component is made of is the tools of the world, the calls of the plan (without one those of the rollouts in the brief), and the
// fields that were shown in these, where data or a text that is JSON has some. So start_patch, for which a brief has no values, and chain
// are never drawn, and corrupt_read only where read-only tools showed fields. Where the kind has a ladder a rung of it is drawn, also for a
// kind of the caller's own, which without a ladder is drawn only if it can be built without parameters. All that is drawn can be built by
// the registry, and an episode begins with it if it begins without; whether the task can be solved is not looked at (ours).
func RandomEntry(b rigger.Brief) (components.Entry, bool) {
	b = withDefaults(b)
	p := newPalette(b)
	if len(p.kinds) == 0 {
		return components.Entry{}, false
	}
	return p.entry(p.kinds[b.Rand.IntN(len(p.kinds))], b.Rand)
}

func withDefaults(b rigger.Brief) rigger.Brief {
	if b.Registry == nil {
		b.Registry = components.Catalogue()
	}
	if b.Rand == nil {
		b.Rand = rand.New(rand.NewPCG(1, 2))
	}
	return b
}

// A palette is the kinds that can be drawn for a brief.
type palette struct {
	material
	kinds []components.Kind
}

func newPalette(b rigger.Brief) palette {
	p := palette{material: newMaterial(b)}
	for _, k := range b.Registry.Kinds() {
		if k.Direction&b.Direction == 0 || k.Axis == envharness.AxisLink {
			continue
		}
		if _, ok := p.entry(k, rand.New(rand.NewPCG(1, 2))); ok {
			p.kinds = append(p.kinds, k)
		}
	}
	return p
}

// entry draws the parameters of a kind. Whether it can does not depend on what is drawn.
func (p palette) entry(k components.Kind, rng *rand.Rand) (components.Entry, bool) {
	params, ok := p.params(k.Tag, rng)
	if !ok {
		return components.Entry{}, false
	}
	if len(k.Ladder) > 0 {
		var rung map[string]any
		if err := json.Unmarshal(k.Ladder[rng.IntN(len(k.Ladder))], &rung); err != nil {
			return components.Entry{}, false
		}
		for key, v := range rung {
			if _, drawn := params[key]; !drawn {
				params[key] = v
			}
		}
	}
	raw, err := envharness.CanonicalJSON(params)
	if err != nil {
		return components.Entry{}, false
	}
	if _, err := k.New(raw); err != nil {
		return components.Entry{}, false
	}
	return components.Entry{Tag: k.Tag, Version: k.Version, Params: raw}, true
}

type object = map[string]any

// params draws what depends on the task; the rungs of ladders come on top. It reports false if there is nothing to make the component of.
func (m material) params(tag string, rng *rand.Rand) (object, bool) {
	switch tag {
	case "start_replay":
		return m.startReplay(rng)
	case "block":
		return m.block(rng)
	case "rename":
		return m.rename(rng)
	case "sticky", "stale_read", "rate_limit":
		needs := m.taken
		if tag == "stale_read" {
			needs = m.reads
		}
		return object{}, len(needs) > 0
	case "tool_fail":
		return m.toolFail(rng)
	case "tool_down", "call_cap":
		return m.bounded(tag, rng)
	case "corrupt_read":
		if len(m.read) == 0 {
			return nil, false
		}
		return object{"field": pick(m.read, rng), "kind": pick([]string{"swap", "offset", "blank"}, rng)}, true
	case "permission":
		return m.permission(rng)
	case "paginate":
		next := "next"
		for slices.Contains(m.taken, next) {
			next += "_page"
		}
		return object{"next": next}, true
	case "obs_noise":
		return m.obsNoise(rng)
	case "hide_keys":
		return m.hideKeys(rng)
	case "distractor":
		return m.distractor()
	case "step_budget":
		return m.stepBudget(rng)
	case "submit_gate":
		return m.submitGate(rng)
	case "order_lock":
		return m.orderLock(rng)
	case "schema_drift":
		return m.schemaDrift(rng)
	case "start_patch":
		return nil, false
	}
	return object{}, true // obs_delay, and kinds that are not of the catalogue
}

func pick[T any](from []T, rng *rand.Rand) T { return from[rng.IntN(len(from))] }

// between draws an integer from lo to hi, both included.
func between(lo, hi int, rng *rand.Rand) int { return lo + rng.IntN(max(hi-lo, 0)+1) }

// startReplay begins an easier task with a part of a solution, and a harder one with a part of a failed rollout.
func (m material) startReplay(rng *rand.Rand) (object, bool) {
	if m.direction == components.Easier {
		if len(m.solution) < 2 {
			return nil, false
		}
		return object{"actions": m.solution[:between(1, len(m.solution)-1, rng)], "aid": true}, true
	}
	if len(m.wrong) == 0 {
		return nil, false
	}
	return object{"actions": m.wrong[:between(1, min(len(m.wrong), 4), rng)]}, true
}

// block refuses a tool or, evenly, the calls of one with an argument that it was called with. Where every tool may submit it is the latter.
func (m material) block(rng *rand.Rand) (object, bool) {
	tools := m.tools
	if len(tools) == 0 {
		for _, a := range m.calls {
			if len(decoded(a)) > 0 {
				tools = add(tools, a.Name)
			}
		}
	}
	if len(tools) == 0 {
		return nil, false
	}
	tool := pick(tools, rng)
	params := object{"tools": []string{tool}}
	var called []object
	for _, a := range m.calls {
		if args := decoded(a); a.Name == tool && len(args) > 0 {
			called = append(called, args)
		}
	}
	if len(called) > 0 && (len(m.tools) == 0 || rng.IntN(2) == 0) {
		args := pick(called, rng)
		key := pick(slices.Sorted(maps.Keys(args)), rng)
		params["args"] = object{key: args[key]}
	}
	return params, true
}

func decoded(a envharness.Action) object {
	var args object
	if json.Unmarshal(a.Args, &args) != nil {
		return nil
	}
	return args
}

// rename gives some of the tools new names.
func (m material) rename(rng *rand.Rand) (object, bool) {
	if len(m.taken) == 0 {
		return nil, false
	}
	names := slices.Clone(m.taken)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	tools := make(object)
	for _, name := range names[:between(1, len(names), rng)] {
		tools[name] = m.unused(name + "_v2")
	}
	return object{"tools": tools}, true
}

func (m material) unused(name string) string {
	for slices.Contains(m.taken, name) {
		name += "_"
	}
	return name
}

func (m material) toolFail(rng *rand.Rand) (object, bool) {
	if len(m.taken) == 0 {
		return nil, false
	}
	params := object{"tools": []string{pick(m.taken, rng)}}
	if rng.IntN(2) == 0 {
		params["mode"], params["nth"] = "nth", between(1, 3, rng)
	} else {
		params["mode"], params["p"] = "rate", pick([]float64{0.1, 0.2, 0.3, 0.4, 0.5}, rng)
	}
	return params, true
}

// bounded takes a tool away for some of the turns, or caps its calls.
func (m material) bounded(tag string, rng *rand.Rand) (object, bool) {
	if len(m.tools) == 0 {
		return nil, false
	}
	params := object{"tools": []string{pick(m.tools, rng)}}
	if tag == "call_cap" {
		params["max"] = between(1, max(5, m.turns), rng)
		return params, true
	}
	if until := between(0, m.span()/2, rng); until > 0 {
		params["until"] = until
	}
	return params, true
}

// span is the number of turns that an episode may take, as far as it is known.
func (m material) span() int {
	switch {
	case m.limit > 0:
		return m.limit
	case m.turns > 0:
		return 3 * m.turns
	}
	return 20
}

// permission makes a tool wait for a call of another one that is known to be carried out.
func (m material) permission(rng *rand.Rand) (object, bool) {
	var grants []string
	for _, a := range m.calls {
		if slices.Contains(m.tools, a.Name) && !slices.Contains(grants, a.Name) {
			grants = append(grants, a.Name)
		}
	}
	if len(grants) == 0 || len(m.taken) < 2 {
		return nil, false
	}
	grant := pick(grants, rng)
	others := slices.DeleteFunc(slices.Clone(m.taken), func(name string) bool { return name == grant })
	return object{"tools": []string{pick(others, rng)}, "grant": object{"tool": grant}}, true
}

// obsNoise lets a field or the whole text be missing now and then, or a number stay as it was.
func (m material) obsNoise(rng *rand.Rand) (object, bool) {
	field := pick(append([]string{"text"}, m.fields...), rng)
	if slices.Contains(m.numbers, field) && rng.IntN(2) == 0 {
		return object{"fields": []string{field}, "kind": "stuck"}, true
	}
	return object{"fields": []string{field}}, true
}

func (m material) hideKeys(rng *rand.Rand) (object, bool) {
	n := len(m.fields)
	if m.listed {
		n++
	}
	if n == 0 {
		return nil, false
	}
	if i := rng.IntN(n); i < len(m.fields) {
		return object{"keys": []string{m.fields[i]}}, true
	}
	return object{"actions": true}, true
}

// distractor offers tools that have nothing to do with any world that we know of.
func (m material) distractor() (object, bool) {
	var pool []object
	for _, t := range [...][2]string{
		{"weather", "Tells the weather of a city."}, {"translate", "Translates a sentence."}, {"convert_units", "Converts a length or a weight."},
		{"horoscope", "Tells the horoscope of the day."}, {"news", "Tells the headlines."}, {"play_music", "Plays a song."},
		{"set_alarm", "Sets an alarm."}, {"dictionary", "Explains a word."}, {"timetable", "Lists trains between two towns."},
		{"recipe", "Finds a recipe."},
	} {
		pool = append(pool, object{"name": m.unused(t[0]), "description": t[1], "read_only": true})
	}
	return object{"pool": pool}, true
}

// stepBudget leaves from as many turns as a solution takes to twice as many; without a solution any part of what the limit leaves.
func (m material) stepBudget(rng *rand.Rand) (object, bool) {
	if m.turns > 0 {
		return object{"turns": between(m.turns, 2*m.turns, rng)}, true
	}
	return object{"turns": between(1, m.span(), rng)}, true
}

func (m material) submitGate(rng *rand.Rand) (object, bool) {
	var required []string
	for _, a := range m.calls {
		if slices.Contains(m.tools, a.Name) && !slices.Contains(required, a.Name) {
			required = append(required, a.Name)
		}
	}
	if len(m.submits) == 0 || len(required) == 0 {
		return nil, false
	}
	return object{"require": []object{{"tool": pick(required, rng)}}, "max_blocks": between(1, 3, rng)}, true
}

// orderLock makes one known call wait for another one that came before it.
func (m material) orderLock(rng *rand.Rand) (object, bool) {
	var pairs [][2]envharness.Action
	for j, after := range m.calls {
		for _, before := range m.calls[:j] {
			if !covers(after, before) {
				pairs = append(pairs, [2]envharness.Action{before, after})
			}
		}
	}
	if len(pairs) == 0 {
		return nil, false
	}
	pair := pick(pairs, rng)
	return object{"edges": []object{{"before": exactly(pair[0]), "after": exactly(pair[1])}}, "hide": rng.IntN(2) == 0}, true
}

// covers reports whether the pattern of call a fits call b, so that b would wait for itself.
func covers(a, b envharness.Action) bool {
	if a.Name != b.Name {
		return false
	}
	args := decoded(b)
	for key, want := range decoded(a) {
		if got, ok := args[key]; !ok || !reflect.DeepEqual(got, want) {
			return false
		}
	}
	return true
}

// exactly is the pattern of a call: its tool with each of its arguments.
func exactly(a envharness.Action) object {
	match := object{"tool": a.Name}
	if args := decoded(a); len(args) > 0 {
		match["args"] = args
	}
	return match
}

// schemaDrift renames an argument.
func (m material) schemaDrift(rng *rand.Rand) (object, bool) {
	if len(m.arguments) == 0 {
		return nil, false
	}
	tool := pick(slices.Sorted(maps.Keys(m.arguments)), rng)
	name := pick(m.arguments[tool], rng)
	renamed := name + "_value"
	for slices.Contains(m.arguments[tool], renamed) {
		renamed += "_"
	}
	return object{"tools": object{tool: object{"rename": object{name: renamed}, "version": fmt.Sprintf("v%d", between(2, 9, rng))}}}, true
}
