package grounded

import (
	"context"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
)

func anyTool(*tool) bool { return true }

// single is one request and one call.
func (d *draft) single(ctx context.Context) (miss, error) {
	t := d.pick(anyTool)
	if err := d.open(ctx, callRoom, t); err != nil {
		return miss{}, err
	}
	s, m, err := d.made(ctx, t)
	if err != nil || m.reason != "" {
		return m, err
	}
	d.sample.Family, d.sample.Ability = midtool.Single, midtool.Grounding
	if len(s.task.Slots) == 0 {
		d.sample.Ability = midtool.Affordance // there is nothing to ground, only a tool to find
	} else if len(d.sample.Tools) > 2 {
		d.sample.SecondAbility = midtool.Affordance
	}
	d.request(false, s)
	d.calls(s)
	d.answer(s)
	return miss{}, nil
}

// parallel is one request and two calls in one message: of two tools, or of one with other values.
func (d *draft) parallel(ctx context.Context) (miss, error) {
	first := d.pick(func(t *tool) bool { return len(t.params) > 0 || len(d.m.tools) > 1 })
	second := d.pick(func(t *tool) bool {
		return t != first && !confusable(t, first) && !linked(t, first) && !linked(first, t)
	})
	if second == nil || len(first.params) > 0 && d.values.Chance(0.3) {
		if second = first; len(first.params) == 0 {
			return miss{reason: "no_value", detail: "no second call for the same turn"}, nil
		}
	}
	tools := []*tool{first}
	if second != first {
		tools = append(tools, second)
	}
	if err := d.open(ctx, callRoom, tools...); err != nil {
		return miss{}, err
	}
	a, m, err := d.made(ctx, first)
	if err != nil || m.reason != "" {
		return m, err
	}
	b, m, err := d.made(ctx, second)
	if err != nil || m.reason != "" {
		return m, err
	}
	if first == second && a.args.Encode(jsonval.Canonical) == b.args.Encode(jsonval.Canonical) {
		return miss{reason: "no_value", detail: "two equal calls"}, nil
	}
	d.sample.Family, d.sample.Ability = midtool.Parallel, midtool.Grounding
	d.request(false, a, b)
	d.calls(a, b)
	d.answer(a, b)
	return miss{}, nil
}

func linked(from, to *tool) bool {
	return slices.ContainsFunc(from.feeds, func(l link) bool { return l.to == to })
}

// clarification is a request that leaves a required argument out, and the assistant's question for it.
func (d *draft) clarification(ctx context.Context) (miss, error) {
	t := d.pick(func(t *tool) bool { return len(t.withheld()) > 0 })
	if t == nil {
		return miss{reason: "no_tool", detail: "no tool has a parameter that can be withheld"}, nil
	}
	if err := d.open(ctx, callRoom, t); err != nil {
		return miss{}, err
	}
	s, ok := d.prepared(t)
	if !ok {
		return miss{reason: "no_value", detail: "no valid arguments found"}, nil
	}
	name := draw.One(&d.values, t.withheld())
	for i := range s.task.Slots {
		if slot := &s.task.Slots[i]; len(slot.Keys) == 1 && slot.Keys[0] == name {
			slot.Hidden = true
		}
	}
	d.sample.Family, d.sample.Ability, d.sample.SecondAbility = midtool.Clarification, midtool.Recover, midtool.Grounding
	d.request(false, s)
	d.assistant(spoken(d.words.Question(&s.task)))
	known := s.args.Clone()
	known.Remove(name)
	d.call(s, &known)
	d.sample.Plan.Withheld = []string{"/" + jsonval.PointerEscape(name)}
	return miss{}, nil
}

// longContext is a call with an argument that stands far before the end of what is shown.
func (d *draft) longContext(ctx context.Context) (miss, error) {
	far := draw.One(&d.values, d.m.far)
	d.show(toolLeads, far.shown)
	if err := d.offer(ctx, []*tool{far.tool}); err != nil {
		return miss{}, err
	}
	s, m, err := d.made(ctx, far.tool, jsonval.Pair(far.param, far.value))
	if err != nil || m.reason != "" {
		return m, err
	}
	for i := range s.task.Slots {
		if slot := &s.task.Slots[i]; len(slot.Keys) == 1 && slot.Keys[0] == far.param {
			slot.Hidden = true
		}
	}
	d.sample.Family, d.sample.Ability, d.sample.SecondAbility = midtool.Single, midtool.Grounding, midtool.Affordance
	asked := d.words.Request(tasks([]*turn{s}), false)
	hint := fill(draw.One(&d.draws, farValues), "{name}", strings.Join(names.Words(far.param), " "))
	d.user(said{asked.Text + hint.text, asked.Template + hint.template})
	d.calls(s)
	d.answer(s)
	return miss{}, nil
}

// chain is a conversation of several dependent calls, or of several turns.
func (d *draft) chain(ctx context.Context) (miss, error) {
	starts := func(t *tool) bool {
		return len(t.feeds) > 0 && !slices.ContainsFunc(t.params, func(p property) bool { return p.required && t.fed[p.name] })
	}
	first := d.pick(starts)
	if first == nil || d.try >= 2 && len(d.m.walks) > 0 {
		if len(d.m.walks) == 0 {
			return miss{reason: "no_chain", detail: "no tool takes what another one gives, and no list has 3 steps"}, nil
		}
		return d.walk(), nil
	}
	next := draw.One(&d.values, first.feeds)
	if confusable(first, next.to) && first.about.Meaning.Class == next.to.about.Meaning.Class {
		return miss{reason: "no_chain", detail: "no request can tell the tools apart"}, nil
	}
	if err := d.open(ctx, chainRoom, first, next.to); err != nil {
		return miss{}, err
	}
	a, m, err := d.made(ctx, first)
	if err != nil || m.reason != "" {
		return m, err
	}
	value, field, several := produced(&a.answer, next)
	if value == nil {
		return miss{reason: "no_chain", detail: "the answer has nothing that the next call takes"}, nil
	}
	b, m, err := d.made(ctx, next.to, jsonval.Pair(next.param, *value))
	if err != nil || m.reason != "" {
		return m, err
	}
	for i := range b.task.Slots {
		if slot := &b.task.Slots[i]; len(slot.Keys) == 1 && slot.Keys[0] == next.param {
			slot.From, slot.Field, slot.First = 1, field, several
		}
	}
	d.sample.Ability, d.sample.SecondAbility = midtool.Composition, midtool.Grounding
	if d.values.Chance(0.5) {
		d.sample.Family = midtool.Sequential
		d.request(false, a, b)
		d.calls(a)
		d.calls(b)
		d.answer(a, b)
		return miss{}, nil
	}
	d.sample.Family = midtool.MultiTurn
	for i, s := range []*turn{a, b} {
		d.request(i > 0, s)
		d.calls(s)
		d.answer(s)
	}
	return miss{}, nil
}

// produced finds in an answer what feeds a parameter: the field of the link, one with the words of the parameter, or else the
// id of the answer or of its first item. several says that there are more.
func produced(answer *jsonval.Value, l link) (value *jsonval.Value, field string, several bool) {
	type place struct {
		at      *jsonval.Value
		several bool
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
		func(key string) bool { return len(param) > 0 && slices.Equal(names.Words(key), param[len(param)-1:]) },
	} {
		for _, o := range places {
			for i := range o.at.Members {
				m := &o.at.Members[i]
				if fits(m.Key) && (m.Value.Kind == jsonval.String && m.Value.Text != "" || m.Value.Kind == jsonval.Number) {
					return &m.Value, m.Key, o.several
				}
			}
		}
	}
	return nil, "", false
}

// walk goes through the steps of a list, one a turn.
func (d *draft) walk() miss {
	list := draw.One(&d.values, d.m.walks)
	r := d.m.r
	var focus Span
	var pieces []string
	for _, s := range list {
		one := r.short(s)
		if one.empty() || focus.union(one).End-focus.union(one).Start > 3*maxFocus || len(pieces) == 6 {
			break
		}
		focus = focus.union(one)
		pieces = append(pieces, one.of(r.text))
	}
	if len(pieces) < 2 {
		return miss{reason: "no_chain", detail: "the steps are too long to be said"}
	}
	d.sample.Family, d.sample.Ability = midtool.QA, midtool.Composition
	d.sample.Plan.Answer = pieces
	d.show(textLeads, r.excerpt(focus, chainRoom))
	heading := r.sections[list[0].section].heading.of(r.text)
	starts := walkStarts
	if heading == "" || len(heading) > 80 || strings.Contains(heading, `"`) {
		starts = walkStartsHere
	}
	done, next := d.draws.Pick(len(walkDones)), d.draws.Pick(len(walkNexts))
	for i, piece := range pieces {
		// Side by side in the tables, so that no phrase comes twice in a conversation.
		ask := walkDones[(done+i)%len(walkDones)] + walkNexts[(next+3*i)%len(walkNexts)]
		if i == 0 {
			lead := draw.One(&d.draws, askLeads)
			ask = draw.One(&d.draws, starts)
			if lead == "" || strings.HasSuffix(lead, ". ") {
				ask = upper(ask)
			}
			ask = upper(lead) + ask
		}
		d.user(fill(ask, "{text}", heading))
		template := draw.One(&d.draws, walkAnswers)
		if strings.IndexByte(".!?", piece[len(piece)-1]) >= 0 {
			template = strings.TrimSuffix(template, ".")
		}
		if i+1 < len(pieces) && d.draws.Pick(100) < 75 {
			template += draw.One(&d.draws, walkClosings)
		}
		d.assistant(fill(template, "{piece}", piece))
	}
	return miss{}
}
