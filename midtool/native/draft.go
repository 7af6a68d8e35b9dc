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
	key      []string    // of all choices
	values   *draw.Draws // of tools and arguments
	words    wording.Writer
	session  midtool.Session
	offered  []*tool // from the start
	late     []*tool // offered later
	exported []export
	sample   midtool.Sample
}

// An export is a tool as the sample shows it.
type export struct {
	of   *tool
	tool *midtool.Tool
}

func (d *draft) shown(t *tool) *midtool.Tool {
	for _, e := range d.exported {
		if e.of == t {
			return e.tool
		}
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

func (d *draft) draws(stage string) *draw.Draws { return draw.New(d.g.opts.Seed, stage, d.key...) }

// build makes the sample of the planned family.
func (d *draft) build(ctx context.Context) (miss, error) {
	d.values = d.draws("values")
	d.words = wording.Writer{Draws: d.draws("words")}
	d.sample = midtool.Sample{ID: d.id(), Family: d.family, Source: "native", Generator: "template", Plan: &midtool.Plan{}}
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
	d.late = late
	d.offered = d.g.offer(d.draws("offer"), gold, late, absent)
	all := slices.Concat(d.offered, late)
	exported := make([]midtool.Tool, len(all))
	for i, t := range all {
		exported[i] = t.Tool
	}
	originals := exported
	if exportNames(exported) {
		originals = make([]midtool.Tool, len(all)) // executors know tools by their own names
		for i, t := range all {
			originals[i] = t.Tool
		}
	}
	d.exported = make([]export, len(all))
	for i, t := range all {
		d.exported[i] = export{t, &exported[i]}
		d.words.Avoid = append(d.words.Avoid, t.given...)
		if exported[i].Original != "" {
			d.words.Avoid = append(d.words.Avoid, names.GivenAway(exported[i].Name)...)
		}
	}
	d.sample.Tools = exported[:len(d.offered):len(d.offered)]
	var err error
	d.session, err = d.g.opts.Executor.Open(ctx, d.sample.ID, originals)
	return err
}

// step makes the arguments of a call of t. fixed holds arguments that are settled.
func (d *draft) step(t *tool, optional float64, fixed ...jsonval.Member) (*step, bool) {
	m := schema.Maker{D: d.values, Optional: optional}
	args, ok := m.Value(t.schema, t.Name, 0)
	if !ok || args.Kind != jsonval.Object {
		return nil, false
	}
	if known, ok := d.session.(simulate.Knower); ok {
		for i := range args.Members {
			a := &args.Members[i]
			if have := known.Known(t.Tool, a.Key); len(have) > 0 {
				if v, err := jsonval.Parse(draw.One(d.values, have)); err == nil {
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
	s := &step{tool: t, args: args, task: wording.Task{Tool: t.about}}
	if len(args.Members) > 0 {
		for _, l := range schema.LeavesOf(t.schema, &s.args, "", nil) {
			s.task.Slots = append(s.task.Slots, wording.Slot{Leaf: l})
		}
	}
	return s, true
}

// execute answers a step.
func (d *draft) execute(ctx context.Context, s *step) error {
	r, err := d.session.Execute(ctx, s.tool.Tool, s.args.Bytes(jsonval.Compact))
	if err != nil {
		return err
	}
	s.answer, err = result(r)
	s.failed = r.IsError || err == nil && jsonval.ReportsError(&s.answer)
	return err
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
	m := midtool.Message{Role: midtool.RoleAssistant, Untrained: untrained}
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
