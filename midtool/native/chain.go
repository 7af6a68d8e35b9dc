package native

import (
	"context"
	"slices"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// chainLengths are the percents of chains of 2, 3, 4 and 5 calls (ours).
var chainLengths = [...]int{50, 30, 15, 5}

// chain walks from a start along edges, each chosen with a probability in proportion to its confidence, and visits no
// tool twice. It ends early where no edge leads on.
func (d *draft) chain(start *tool) []link {
	length := 2
	x := d.values.Pick(100)
	for i, percent := range chainLengths {
		if x -= percent; x < 0 {
			length = i + 2
			break
		}
	}
	out := []link{{to: start}}
	for at := start; len(out) < length; {
		var open []edge
		sum := 0.0
		for _, e := range at.feeds {
			if !slices.ContainsFunc(out, func(l link) bool { return l.to == e.to || confusable(l.to, e.to) }) {
				open = append(open, e)
				sum += e.confidence
			}
		}
		if len(open) == 0 {
			break
		}
		u := unit(&d.values) * sum
		next := open[len(open)-1]
		for _, e := range open {
			if u -= e.confidence; u < 0 {
				next = e
				break
			}
		}
		out = append(out, link{next.to, next.field, next.param})
		at = next.to
	}
	return out
}

// A link is one tool of a chain and the argument that the one before it feeds; both names are empty for the first.
type link struct {
	to           *tool
	field, param string
}

// run executes a chain. It returns the steps that succeeded, at least two, with the fed arguments marked as such.
func (d *draft) run(ctx context.Context, chain []link) ([]*step, miss, error) {
	var steps []*step
	for i, l := range chain {
		var fixed []jsonval.Member
		var fed product
		if i > 0 {
			if fed = produced(&steps[i-1].answer, l); fed.value == nil {
				break
			}
			fixed = []jsonval.Member{jsonval.Pair(l.param, *fed.value)}
		}
		s, m, err := d.made(ctx, l.to, fixed...)
		if err != nil {
			return nil, m, err
		}
		if m.reason != "" {
			if i < 2 {
				return nil, m, nil
			}
			break
		}
		for j := range s.task.Slots {
			if slot := &s.task.Slots[j]; i > 0 && len(slot.Keys) == 1 && slot.Keys[0] == l.param {
				slot.From, slot.Field, slot.First = i, fed.field, fed.first
			}
		}
		steps = append(steps, s)
	}
	if len(steps) < 2 {
		return nil, miss{reason: "no_chain", detail: "the answer has nothing that the next call takes"}, nil
	}
	return steps, miss{}, nil
}

// A product is a value in an answer that feeds a parameter.
type product struct {
	value *jsonval.Value
	field string
	first bool // of several
}

// produced finds what feeds a parameter: the field of the edge, one with the words of the parameter, or else the id of the
// answer or of its first item. The value is nil if there is none.
func produced(answer *jsonval.Value, l link) product {
	type place struct {
		at    *jsonval.Value
		first bool
	}
	var places []place
	add := func(v *jsonval.Value) {
		if v.Kind == jsonval.List && len(v.List) > 0 {
			places = append(places, place{&v.List[0], len(v.List) > 1})
		} else if v.Kind == jsonval.Object {
			places = append(places, place{v, false})
		}
	}
	add(answer)
	for i := range answer.Members {
		add(&answer.Members[i].Value)
	}
	param := names.Words(l.param)
	for _, fits := range []func(key string) bool{
		func(key string) bool { return l.field != "" && key == l.field },
		func(key string) bool { return slices.Equal(names.Words(key), param) },
		func(key string) bool {
			return schema.IsIdentifier(param) && slices.Equal(names.Words(key), param[len(param)-1:])
		},
	} {
		for _, o := range places {
			for i := range o.at.Members {
				m := &o.at.Members[i]
				if fits(m.Key) && (m.Value.Kind == jsonval.String && m.Value.Text != "" || m.Value.Kind == jsonval.Number) {
					return product{&m.Value, m.Key, o.first}
				}
			}
		}
	}
	return product{}
}

// sequential is one request whose calls feed each other, each in a turn of its own.
func (d *draft) sequential(ctx context.Context) (miss, error) {
	steps, m, err := d.linkedFrom(ctx, d.pick())
	if err != nil || m.reason != "" {
		return m, err
	}
	d.sample.Ability = midtool.Composition
	d.sample.SecondAbility = midtool.Grounding
	d.user(d.words.Request(tasks(steps), false))
	for _, s := range steps {
		d.calls(false, s)
	}
	d.answer(steps...)
	return miss{}, nil
}

// multiTurn is two or more requests, of which a later one builds on what came before: on an answer, as in a chain whose
// calls are asked for one by one, or on an argument that stays the same.
func (d *draft) multiTurn(ctx context.Context) (miss, error) {
	first := d.pick()
	steps := d.linkedFrom
	if len(first.shares) > 0 && (!first.startsChain() || d.values.Chance(0.5)) {
		steps = d.sharing
	}
	made, m, err := steps(ctx, first)
	if err != nil || m.reason != "" {
		return m, err
	}
	d.sample.Ability = midtool.Composition
	d.sample.SecondAbility = midtool.Grounding
	for i, s := range made {
		d.user(d.words.Request(tasks([]*step{s}), i > 0))
		d.calls(false, s)
		d.answer(s)
	}
	return miss{}, nil
}

// sharing makes two or three steps that have an argument in common, which is said once.
func (d *draft) sharing(ctx context.Context, first *tool) ([]*step, miss, error) {
	tools := []*tool{first}
	common := draw.One(&d.values, first.shares)
	param := common.param
	for _, e := range first.shares {
		if e.param == param && len(tools) < 4 && d.values.Chance(0.5) {
			tools = append(tools, e.to)
		}
	}
	if len(tools) == 1 {
		tools = append(tools, common.to)
	}
	tools = tools[:min(len(tools), d.values.Between(2, 3))]
	if err := d.open(ctx, distinct(tools), nil, nil); err != nil {
		return nil, miss{}, err
	}
	var steps []*step
	for i, t := range tools {
		var fixed []jsonval.Member
		if i > 0 {
			fixed = []jsonval.Member{jsonval.Pair(param, *steps[0].args.Get(param))}
		}
		s, m, err := d.made(ctx, t, fixed...)
		if err != nil || m.reason != "" {
			return nil, m, err
		}
		if s.args.Get(param) == nil {
			return nil, miss{reason: "no_value", detail: "no argument in common"}, nil
		}
		for j := range s.task.Slots {
			if slot := &s.task.Slots[j]; i > 0 && len(slot.Keys) == 1 && slot.Keys[0] == param {
				slot.From, slot.Same = 1, true
			}
		}
		if i > 0 && t == first && len(s.args.Members) < 2 {
			return nil, miss{reason: "no_value", detail: "the same call again"}, nil
		}
		steps = append(steps, s)
	}
	return steps, miss{}, nil
}

// distinct returns the tools without repetitions, in order.
func distinct(tools []*tool) []*tool {
	var out []*tool
	for _, t := range tools {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// linkedFrom makes the steps of a chain from a tool.
func (d *draft) linkedFrom(ctx context.Context, first *tool) ([]*step, miss, error) {
	chain := d.chain(first)
	if len(chain) < 2 {
		return nil, miss{reason: "no_chain", detail: "no tool takes what the first one gives"}, nil
	}
	gold := make([]*tool, len(chain))
	for i, l := range chain {
		gold[i] = l.to
	}
	if err := d.open(ctx, gold, nil, nil); err != nil {
		return nil, miss{}, err
	}
	return d.run(ctx, chain)
}
