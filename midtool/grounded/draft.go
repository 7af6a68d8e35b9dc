package grounded

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/internal/wording"
	"github.com/throughline-go/throughline/midtool/simulate"
)

// A draft is one try to make an item.
type draft struct {
	*worker
	g       *Generator
	m       *material
	kind    string
	try     int
	left    int             // tokens
	asked   map[string]bool // questions of the samples before
	key     string          // this one
	sample  midtool.Sample
	tokens  int
	session midtool.Session
	offered []*tool
}

// begin starts the choices and the sample.
func (d *draft) begin(id string) {
	try := strconv.Itoa(d.try)
	d.draws.Start(d.g.opts.Seed, "grounded/words", id, try)
	d.values.Start(d.g.opts.Seed, "grounded/values", id, try)
	d.words.Begin(&d.draws)
	doc := d.m.r.doc
	d.sample = midtool.Sample{ID: id, Source: string(doc.Kind), Document: doc.ID, Generator: "template", Plan: &midtool.Plan{}}
}

// show begins the conversation with a part of the document.
func (d *draft) show(leads []string, s Span) {
	d.sample.Messages = append(d.sample.Messages, midtool.Message{Role: midtool.RoleSystem,
		Content: draw.One(&d.draws, leads) + "\n\n" + d.m.r.shown(s)})
}

func (d *draft) user(t said) {
	d.sample.Messages = append(d.sample.Messages, midtool.Message{Role: midtool.RoleUser, Content: t.text, Template: t.template})
}

func (d *draft) assistant(t said) {
	d.sample.Messages = append(d.sample.Messages, midtool.Message{Role: midtool.RoleAssistant, Content: t.text, Template: t.template})
}

func spoken(t wording.Text) said { return said{t.Text, t.Template} }

// pick draws a tool that suits, nil if there is none.
func (d *draft) pick(suits func(*tool) bool) *tool {
	var out []*tool
	for _, t := range d.m.tools {
		if suits(t) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return draw.One(&d.values, out)
}

// Bounds of the tools that are offered besides those that are called (ours): a sample has a price.
const (
	maxDistractors   = 3
	distractorTokens = 90
)

// confusable says whether a request for one of two tools could be met with the other.
func confusable(a, b *tool) bool {
	return a.about.Meaning.Rivals(b.about.Meaning) || a.about.SoundsLike(b.about) || a.Description == b.Description
}

// open shows the part of the document around the first tool, offers the tools and others of the document in a drawn order, and
// opens the session.
func (d *draft) open(ctx context.Context, room int, tools ...*tool) error {
	var focus Span
	for _, t := range tools {
		if t.owner < 0 {
			continue
		}
		if s := d.m.r.candidates[t.owner].spanned(); focus.empty() || focus.union(s).End-focus.union(s).Start < maxFocus {
			focus = focus.union(s)
		}
	}
	d.show(toolLeads, d.m.r.excerpt(focus, room))
	return d.offer(ctx, tools)
}

func (d *draft) offer(ctx context.Context, tools []*tool) error {
	d.offered = slices.Clone(tools)
	tokens := 0
	for range min(8, 2*len(d.m.tools)) {
		o := draw.One(&d.values, d.m.tools)
		if len(d.offered) >= len(tools)+maxDistractors || slices.Contains(d.offered, o) || tokens+o.tokens > distractorTokens ||
			slices.ContainsFunc(tools, func(t *tool) bool { return confusable(t, o) || d.kind == clarificationKind && linked(o, t) }) {
			continue
		}
		tokens += o.tokens
		d.offered = append(d.offered, o)
	}
	for i := len(d.offered) - 1; i > 0; i-- {
		j := d.values.Pick(i + 1)
		d.offered[i], d.offered[j] = d.offered[j], d.offered[i]
	}
	originals := make([]midtool.Tool, len(d.offered))
	d.sample.Tools = make([]midtool.Tool, len(d.offered))
	pointers := make([]*midtool.Tool, len(d.offered))
	for i, t := range d.offered {
		originals[i], d.sample.Tools[i] = t.Tool, t.Tool
		pointers[i] = &d.sample.Tools[i]
		d.words.Avoid = append(d.words.Avoid, t.given...)
	}
	if midtool.ExportNames(pointers) {
		for _, t := range d.sample.Tools {
			d.words.Avoid = append(d.words.Avoid, names.GivenAway(t.Name)...)
		}
	}
	var err error
	switch d.session, err = d.g.opts.Executor.Open(ctx, d.sample.ID, originals); {
	case err != nil:
		return fmt.Errorf("grounded: sample %q: open a session: %w", d.sample.ID, err)
	case d.session == nil:
		return fmt.Errorf("grounded: sample %q: Executor opened no session", d.sample.ID)
	}
	return nil
}

// A turn is one call, its answer, and how a user asks for it.
type turn struct {
	tool   *tool
	args   jsonval.Value
	task   wording.Task
	answer jsonval.Value
}

// Probability that a call has an optional argument (ours, as in package native).
const optional = 0.4

// made makes arguments and executes the call, which must succeed. fixed holds arguments that are settled.
func (d *draft) made(ctx context.Context, t *tool, fixed ...jsonval.Member) (*turn, miss, error) {
	s, ok := d.prepared(t, fixed...)
	if !ok {
		return nil, miss{reason: "no_value", detail: fmt.Sprintf("no valid arguments found for %q", t.Name)}, nil
	}
	r, err := d.session.Execute(ctx, t.Tool, s.args.Bytes(jsonval.Compact))
	if err != nil {
		return nil, miss{}, fmt.Errorf("grounded: sample %q: tool %q: %w", d.sample.ID, t.Name, err)
	}
	if s.answer, err = jsonval.Parse(r.Value); err != nil {
		return nil, miss{}, fmt.Errorf("grounded: sample %q: tool %q answered no JSON: %w", d.sample.ID, t.Name, err)
	}
	if r.IsError || jsonval.ReportsError(&s.answer) {
		return nil, miss{reason: "no_value", detail: fmt.Sprintf("%q reports an error", t.Name)}, nil
	}
	return s, miss{}, nil
}

func (d *draft) prepared(t *tool, fixed ...jsonval.Member) (*turn, bool) {
	maker := schema.Maker{D: &d.values, Optional: optional}
	args, ok := maker.Value(t.schema, t.Name, 0)
	if !ok || args.Kind != jsonval.Object {
		return nil, false
	}
	if k, ok := d.session.(simulate.Knower); ok {
		for i := range args.Members {
			a := &args.Members[i]
			if have := k.Known(t.Tool, a.Key); len(have) > 0 {
				if v, err := jsonval.Parse(draw.One(&d.values, have)); err == nil {
					a.Value = v
				}
			}
		}
	}
	for _, f := range fixed {
		args.Set(f.Key, f.Value)
	}
	if !t.schema.Accepts(&args) {
		return nil, false
	}
	s := &turn{tool: t, args: args, task: wording.Task{Tool: t.about}}
	if len(args.Members) > 0 {
		for _, l := range schema.AppendLeaves(nil, t.schema, &s.args) {
			s.task.Slots = append(s.task.Slots, wording.Slot{Leaf: l})
		}
	}
	return s, true
}

// call is a call as the sample shows it.
func (d *draft) call(s *turn, args *jsonval.Value) midtool.Call {
	c := midtool.Call{ID: "call_" + strconv.Itoa(10001 + len(d.sample.Plan.Calls))[1:], Arguments: json.RawMessage(args.Bytes(jsonval.Compact))}
	c.Name = d.sample.Tools[slices.Index(d.offered, s.tool)].Name
	d.sample.Plan.Calls = append(d.sample.Plan.Calls, c)
	return c
}

// calls appends one message of calls and their answers.
func (d *draft) calls(turns ...*turn) {
	m := midtool.Message{Role: midtool.RoleAssistant}
	for _, s := range turns {
		m.Calls = append(m.Calls, d.call(s, &s.args))
	}
	d.sample.Messages = append(d.sample.Messages, m)
	for i, s := range turns {
		d.sample.Messages = append(d.sample.Messages, midtool.Message{Role: midtool.RoleTool, Content: s.answer.Encode(jsonval.Display),
			CallID: m.Calls[i].ID, Name: m.Calls[i].Name})
	}
}

// request and answer are the words around calls.
func (d *draft) request(follow bool, turns ...*turn) {
	d.user(spoken(d.words.Request(tasks(turns), follow)))
}

func (d *draft) answer(turns ...*turn) {
	var answers []*jsonval.Value
	for _, s := range turns {
		answers = append(answers, &s.answer)
	}
	d.assistant(spoken(d.words.Answer(tasks(turns), answers)))
}

func tasks(turns []*turn) []wording.Task {
	out := make([]wording.Task, len(turns))
	for i, s := range turns {
		out[i] = s.task
	}
	return out
}
