package native

import (
	"context"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/wording"
)

// missingInfo leaves a required argument out of the request: the assistant asks for it and calls when the user has said
// it.
func (d *draft) missingInfo(ctx context.Context) (miss, error) {
	t := d.pick()
	if err := d.open(ctx, []*tool{t}, nil, nil); err != nil {
		return miss{}, err
	}
	s, m, err := d.made(ctx, t)
	if err != nil || m.reason != "" {
		return m, err
	}
	param := draw.One(&d.values, t.withheld())
	for i := range s.task.Slots {
		if slot := &s.task.Slots[i]; len(slot.Keys) == 1 && slot.Keys[0] == param {
			slot.Hidden = true
			d.sample.Plan.Withheld = append(d.sample.Plan.Withheld, slot.Path)
		}
	}
	if len(d.sample.Plan.Withheld) == 0 {
		return miss{reason: "recoverable", detail: "no argument can be withheld"}, nil
	}
	d.sample.Ability = midtool.Recover
	d.sample.SecondAbility = midtool.Grounding
	d.user(d.words.Request(tasks([]*step{s}), false))
	d.assistant(d.words.Question(&s.task))
	d.user(d.words.Supply(&s.task))
	d.calls(false, s)
	d.answer(s)
	return miss{}, nil
}

// missingFunction withholds the needed tool until the assistant has said that it cannot help. Half of the conversations
// begin with another request, which can be met.
func (d *draft) missingFunction(ctx context.Context) (miss, error) {
	t := d.pick()
	var before *tool
	if d.values.Chance(0.5) {
		for _, o := range some(&d.values, d.group.tools) {
			if o != t && !confusable(o, t) {
				before = o
				break
			}
		}
	}
	var gold []*tool
	if before != nil {
		gold = append(gold, before)
	}
	if err := d.open(ctx, gold, []*tool{t}, nil); err != nil {
		return miss{}, err
	}
	if len(d.sample.Tools) == 0 {
		return miss{reason: "no_value", detail: "no other tool can be offered"}, nil
	}
	d.sample.Ability = midtool.Recover
	d.sample.SecondAbility = midtool.Affordance
	d.sample.Plan.Absent = &t.Tool
	if before != nil {
		s, m, err := d.made(ctx, before)
		if err != nil || m.reason != "" {
			return m, err
		}
		d.user(d.words.Request(tasks([]*step{s}), false))
		d.calls(false, s)
		d.answer(s)
	}
	s, m, err := d.made(ctx, t)
	if err != nil || m.reason != "" {
		return m, err
	}
	d.user(d.words.Request(tasks([]*step{s}), before != nil))
	d.assistant(d.words.Cannot(&s.task, false))
	offers := []midtool.Tool{*d.shown(t)}
	d.sample.Messages = append(d.sample.Messages, midtool.Message{Role: midtool.RoleSystem, Content: midtool.OfferText(offers), Offers: offers})
	d.calls(false, s)
	d.answer(s)
	return miss{}, nil
}

// irrelevance asks for a tool that is not offered, with nothing like it among the offered ones: the assistant says so
// and makes no call. A fifth of the refusals show JSON in prose, which is no call either.
func (d *draft) irrelevance(ctx context.Context) (miss, error) {
	gold := d.pick() // stands for the domain of the offered tools
	absent := d.stranger(gold)
	if absent == nil {
		return miss{reason: "no_value", detail: "no tool of another kind"}, nil
	}
	if err := d.open(ctx, []*tool{gold}, nil, absent); err != nil {
		return miss{}, err
	}
	s, ok := d.step(absent, *d.g.opts.OptionalProb)
	if !ok {
		return noArguments(absent), nil
	}
	d.sample.Ability = midtool.Affordance
	d.sample.Plan.Absent = &absent.Tool
	d.user(d.words.Request([]wording.Task{s.task}, false))
	d.assistant(d.words.Cannot(&s.task, d.values.Chance(0.2)))
	return miss{}, nil
}

// stranger draws a tool that does another thing than t: of another group where there is one.
func (d *draft) stranger(t *tool) *tool {
	for range 16 {
		from := d.group
		if len(d.g.groups) > 1 {
			from = d.g.groups[d.g.otherGroup(&d.values, d.group.rank)]
		}
		if o := draw.One(&d.values, from.tools); o != t && !alike(o, t) {
			return o
		}
	}
	return nil
}

// alike says whether two tools have so much in common that one could stand in for the other: they are confusable, or more
// than half of the words that name and describe one of them do so for the other.
func alike(a, b *tool) bool {
	return confusable(a, b) || 2*a.shared(b) > min(len(a.content), len(b.content))
}

// confusable says whether a request for one of two tools could be met with the other: they do the same to the same noun,
// are described by the same first words, or by nearly the same words in all.
func confusable(a, b *tool) bool {
	fewer := min(len(a.content), len(b.content))
	return a.about.Meaning.Rivals(b.about.Meaning) || a.about.SoundsLike(b.about) ||
		fewer > 2 && 5*a.shared(b) > 4*fewer
}

// shared counts the words of meaning that two tools have in common.
func (t *tool) shared(o *tool) int {
	n, a, b := 0, t.content, o.content
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n, a, b = n+1, a[1:], b[1:]
		}
	}
	return n
}
