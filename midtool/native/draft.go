package native

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/internal/wording"
	"github.com/throughline-go/throughline/midtool/simulate"
)

// A draft is one try to make a planned sample.
type draft struct {
	*worker
	item
	key      []string // of all choices
	session  midtool.Session
	offered  []*tool        // from the start, then those offered later
	exported []midtool.Tool // the same as the sample shows them
	sample   midtool.Sample
}

func (d *draft) shown(t *tool) *midtool.Tool {
	if i := slices.Index(d.offered, t); i >= 0 {
		return &d.exported[i]
	}
	return nil
}

// A step is one call, its answer, and how a user asks for it.
type step struct {
	tool   *tool
	args   jsonval.Value
	task   wording.Task
	answer jsonval.Value
	failed bool
}

// build makes the sample of the planned family.
func (d *draft) build(ctx context.Context) (miss, error) {
	d.values.Start(d.g.opts.Seed, "values", d.key...)
	d.wording.Start(d.g.opts.Seed, "words", d.key...)
	d.words.Begin(&d.wording)
	d.sample = midtool.Sample{ID: d.id(), Family: d.family, Source: "native", Generator: "template", Plan: &midtool.Plan{},
		Messages: make([]midtool.Message, 0, 4)} // of most samples
	switch d.family {
	case midtool.Parallel:
		return d.parallel(ctx)
	case midtool.Sequential:
		return d.sequential(ctx)
	case midtool.MultiTurn:
		return d.multiTurn(ctx)
	case midtool.MissingInfo:
		return d.missingInfo(ctx)
	case midtool.MissingFunction:
		return d.missingFunction(ctx)
	case midtool.Irrelevance:
		return d.irrelevance(ctx)
	case midtool.Recovery:
		return d.recovery(ctx)
	}
	return d.single(ctx)
}

// pick is the tool that the sample is built around.
func (d *draft) pick() *tool { return d.g.center(d.item) }

// open offers the tools, with distractors beside them, and opens the session. late tools are offered later; absent is
// never offered.
func (d *draft) open(ctx context.Context, gold, late []*tool, absent *tool) error {
	d.offering.Start(d.g.opts.Seed, "offer", d.key...)
	start := d.g.offer(&d.offering, gold, late, absent)
	all := append(start, late...)
	exported, pointers := make([]midtool.Tool, len(all)), make([]*midtool.Tool, len(all))
	for i, t := range all {
		exported[i], pointers[i] = t.Tool, &exported[i]
	}
	originals := exported
	if midtool.ExportNames(pointers) {
		originals = make([]midtool.Tool, len(all)) // executors know tools by their own names
		for i, t := range all {
			originals[i] = t.Tool
		}
	}
	d.offered, d.exported = all, exported
	for i, t := range all {
		d.words.Avoid = append(d.words.Avoid, t.given...)
		if exported[i].Original != "" {
			d.words.Avoid = append(d.words.Avoid, names.GivenAway(exported[i].Name)...)
		}
	}
	d.sample.Tools = exported[:len(start):len(start)]
	var err error
	switch d.session, err = d.g.opts.Executor.Open(ctx, d.sample.ID, originals); {
	case err != nil:
		return fmt.Errorf("native: sample %q: open a session: %w", d.sample.ID, err)
	case d.session == nil:
		return fmt.Errorf("native: sample %q: Executor opened no session", d.sample.ID)
	}
	return nil
}

// step makes the arguments of a call of t. fixed holds arguments that are settled.
func (d *draft) step(t *tool, optional float64, fixed ...jsonval.Member) (*step, bool) {
	m := schema.Maker{D: &d.values, Optional: optional}
	args, ok := m.Value(t.schema, t.Name, 0)
	if !ok || args.Kind != jsonval.Object {
		return nil, false
	}
	for i := range args.Members {
		a := &args.Members[i]
		d.know(t, a.Key, &a.Value)
	}
	for _, f := range fixed {
		args.Set(f.Key, f.Value)
	}
	if !t.schema.Accepts(&args) {
		return nil, false
	}
	s := &step{tool: t, args: args, task: wording.Task{Tool: t.about}}
	if len(args.Members) > 0 {
		d.leaves = schema.AppendLeaves(d.leaves[:0], t.schema, &s.args)
		s.task.Slots = make([]wording.Slot, len(d.leaves))
		for i := range d.leaves {
			s.task.Slots[i].Leaf = d.leaves[i]
		}
	}
	return s, true
}

// Sessions of package simulate give and take values as they are, without JSON to be written and read.
type (
	knower interface {
		KnownValues(t *midtool.Tool, parameter string) []jsonval.Value
	}
	answerer interface {
		Answer(ctx context.Context, t *midtool.Tool, args *jsonval.Value) (v jsonval.Value, failed bool, err error)
	}
)

// know replaces the value of a parameter by one that exists in the session, if there are any.
func (d *draft) know(t *tool, param string, v *jsonval.Value) {
	switch s := d.session.(type) {
	case knower:
		if have := s.KnownValues(&t.Tool, param); len(have) > 0 {
			*v = draw.One(&d.values, have).Clone()
		}
	case simulate.Knower:
		if have := s.Known(t.Tool, param); len(have) > 0 {
			if known, err := jsonval.Parse(draw.One(&d.values, have)); err == nil {
				*v = known
			}
		}
	}
}

// execute answers a step.
func (d *draft) execute(ctx context.Context, s *step) error {
	if a, ok := d.session.(answerer); ok {
		var err error
		s.answer, s.failed, err = a.Answer(ctx, &s.tool.Tool, &s.args)
		s.failed = s.failed || jsonval.ReportsError(&s.answer)
		return err
	}
	r, err := d.session.Execute(ctx, s.tool.Tool, s.args.Bytes(jsonval.Compact))
	if err != nil {
		return fmt.Errorf("native: sample %q: tool %q: %w", d.sample.ID, s.tool.Name, err)
	}
	if s.answer, err = jsonval.Parse(r.Value); err != nil {
		return fmt.Errorf("native: sample %q: tool %q answered no JSON: %w", d.sample.ID, s.tool.Name, err)
	}
	s.failed = r.IsError || jsonval.ReportsError(&s.answer)
	return nil
}

// made is step and execute for a call that must succeed.
func (d *draft) made(ctx context.Context, t *tool, fixed ...jsonval.Member) (*step, miss, error) {
	s, ok := d.step(t, *d.g.opts.OptionalProb, fixed...)
	if !ok {
		return nil, noArguments(t), nil
	}
	m, err := d.succeed(ctx, s)
	return s, m, err
}

func noArguments(t *tool) miss {
	return miss{reason: "no_value", detail: fmt.Sprintf("no valid arguments found for %q", t.Name)}
}

// succeed executes a step that must not fail.
func (d *draft) succeed(ctx context.Context, s *step) (miss, error) {
	if err := d.execute(ctx, s); err != nil {
		return miss{}, err
	}
	if s.failed {
		return miss{reason: "no_value", detail: fmt.Sprintf("%q answered %s", s.tool.Name, clip(s.answer.Encode(jsonval.Compact)))}, nil
	}
	return miss{}, nil
}

func clip(s string) string {
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + " [cut]"
	}
	return s
}

// user, assistant and calls append messages.
func (d *draft) user(t wording.Text) {
	d.sample.Messages = append(d.sample.Messages, midtool.Message{Role: midtool.RoleUser, Content: t.Text, Template: t.Template})
}

func (d *draft) assistant(t wording.Text) {
	d.sample.Messages = append(d.sample.Messages, midtool.Message{Role: midtool.RoleAssistant, Content: t.Text, Template: t.Template})
}

// calls appends one turn of calls and their answers.
func (d *draft) calls(untrained bool, steps ...*step) {
	m := midtool.Message{Role: midtool.RoleAssistant, Untrained: untrained, Calls: make([]midtool.Call, 0, len(steps))}
	d.sample.Messages = slices.Grow(d.sample.Messages, 2+len(steps)) // an answer follows
	for _, s := range steps {
		c := midtool.Call{
			ID:        "call_" + strconv.Itoa(10001 + len(d.sample.Plan.Calls))[1:],
			Name:      d.shown(s.tool).Name,
			Arguments: json.RawMessage(s.args.Bytes(jsonval.Compact)),
		}
		m.Calls = append(m.Calls, c)
		d.sample.Plan.Calls = append(d.sample.Plan.Calls, c)
	}
	d.sample.Messages = append(d.sample.Messages, m)
	for i, s := range steps {
		d.sample.Messages = append(d.sample.Messages, midtool.Message{
			Role: midtool.RoleTool, Content: s.answer.Encode(jsonval.Display), CallID: m.Calls[i].ID, Name: m.Calls[i].Name,
		})
	}
}

// answer is the assistant's last word on steps that succeeded.
func (d *draft) answer(steps ...*step) {
	d.assistant(d.words.Answer(tasks(steps), answers(steps)))
}

func tasks(steps []*step) []wording.Task {
	out := make([]wording.Task, len(steps))
	for i, s := range steps {
		out[i] = s.task
	}
	return out
}

func answers(steps []*step) []*jsonval.Value {
	out := make([]*jsonval.Value, len(steps))
	for i, s := range steps {
		out[i] = &s.answer
	}
	return out
}
