package grounded

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/teach"
	"github.com/throughline-go/throughline/midtool/internal/wording"
)

// A Result is what a document got.
type Result struct {
	Profile  *Profile
	Outline  Outline
	Samples  []midtool.Sample    // in the order of Outline.Items, as far as they were made
	Tokens   int                 // of the samples, at most Outline.Budget
	Rejected []midtool.Rejection // of the items that were not, in the same order
}

// A Generator makes samples of documents. It is safe for concurrent use.
type Generator struct {
	opts    settings
	teacher *teach.Teacher
	journal io.Closer
	workers sync.Pool
}

// New returns a Generator. The error names the options that are out of range, or is that of the file Answers.
func New(o *Options) (*Generator, error) {
	s, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	g := &Generator{opts: s}
	if s.Teacher != nil {
		ask := s.Teacher
		if s.Answers != "" {
			if ask, g.journal, err = teach.Remember(ask, s.Answers); err != nil {
				return nil, err
			}
		}
		g.teacher = &teach.Teacher{Generate: ask, Attempts: s.Attempts}
	}
	return g, nil
}

// Close ends the use of the file Answers. The Generator must not be used after it.
func (g *Generator) Close() error {
	if g.journal == nil {
		return nil
	}
	return g.journal.Close()
}

// A worker makes one sample at a time.
type worker struct {
	check  midtool.Checker
	draws  draw.Draws
	values draw.Draws
	words  wording.Writer
}

func (g *Generator) worker() *worker {
	if w, ok := g.workers.Get().(*worker); ok {
		return w
	}
	w := &worker{check: midtool.Checker{MaxTokens: g.opts.MaxTokens}}
	if g.opts.Replay {
		w.check.Replay = g.opts.Executor
	}
	return w
}

// A miss says why an item was not made.
type miss struct{ reason, path, detail string }

// tries is how often an item is made anew, of something else in the document.
const tries = 4

// Generate profiles a document, plans what it gets, and makes it. A sample has
//
//   - an ID of the document's, "#", the kind of its item and a number; Source, the kind of the document; Document, its ID;
//   - a system message first, with the part of the document that it is grounded in; of qa, no tools;
//   - in the other families up to 4 tools of the document, under its license, with its ID as their Group.
//
// Questions are of the family qa. Of conversations, single and long_context are single, parallel is parallel,
// clarification is clarification, and a chain is sequential or multi_turn, or qa where it goes through the steps of a list.
//
// An item that cannot be made is rejected, for the reason of the last of up to 4 tries: budget (longer than what the samples before
// left of the budget), no_text (nothing is left to be asked), no_tool, no_value, no_chain (no such tool, arguments or
// calls), a rule of [midtool.Validate], or a reason of a teacher, see package native.
//
// The error is that of ctx, of Executor or of the file Answers; the result is then nil.
func (g *Generator) Generate(ctx context.Context, d *document.Document) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := Read(d)
	out := &Result{Profile: p}
	tokens := midtool.ApproxTokens(d.Text)
	m := newMaterial(p, tokens, &g.opts)
	out.Outline = g.opts.plan(p, m, tokens)
	if len(out.Outline.Items) == 0 {
		return out, nil
	}
	w := g.worker()
	defer g.workers.Put(w)
	count := make(map[string]int)
	asked := make(map[string]bool)
	for _, it := range out.Outline.Items {
		count[it.Kind]++
		id := d.ID + "#" + it.Kind + strconv.Itoa(count[it.Kind])
		var last miss
		made := false
		for try := range tries {
			dr := &draft{worker: w, g: g, m: m, kind: it.Kind, try: try, asked: asked, left: out.Outline.Budget - out.Tokens}
			dr.begin(id)
			var err error
			if last, err = dr.build(ctx); err != nil {
				return nil, err
			}
			if last.reason == "" {
				out.Samples = append(out.Samples, dr.sample)
				out.Tokens += dr.tokens
				made = true
				break
			}
			if last.reason == "no_text" || last.reason == "no_tool" {
				break
			}
		}
		if !made {
			out.Rejected = append(out.Rejected, midtool.Rejection{Group: d.ID, Origin: d.Origin, Sample: id,
				Reason: last.reason, Path: last.path, Detail: last.detail})
		}
	}
	return out, nil
}

// build makes the sample and checks it.
func (d *draft) build(ctx context.Context) (miss, error) {
	m, err := d.compose(ctx)
	if err != nil || m.reason != "" {
		return m, err
	}
	if m, err = d.accept(ctx); err != nil || m.reason != "" {
		return m, err
	}
	if d.g.teacher != nil {
		check := func(s *midtool.Sample) ([]midtool.Violation, error) {
			f, err := d.check.Check(ctx, s)
			s.Evidence = f.Evidence
			return f.Violations, err
		}
		taught, rejected, err := d.g.teacher.Rewrite(ctx, d.sample, check)
		if err != nil {
			return miss{}, err
		}
		if rejected != nil {
			return miss{rejected.Reason, rejected.Path, rejected.Detail}, nil
		}
		d.sample = taught
		if m := d.measure(); m.reason != "" {
			return m, nil
		}
	}
	if d.key != "" {
		d.asked[d.key] = true
	}
	return miss{}, nil
}

// accept checks a sample and its length.
func (d *draft) accept(ctx context.Context) (miss, error) {
	found, err := d.check.Check(ctx, &d.sample)
	if err != nil {
		return miss{}, err
	}
	d.sample.Evidence = found.Evidence
	if len(found.Violations) > 0 {
		v := found.Violations[0]
		return miss{v.Rule, v.Path, v.Detail}, nil
	}
	return d.measure(), nil
}

func (d *draft) measure() miss {
	if d.tokens = d.g.opts.Tokens(&d.sample); d.tokens < 0 || d.tokens > d.left {
		return miss{reason: "budget", detail: fmt.Sprintf("%d tokens, and %d are left", d.tokens, d.left)}
	}
	return miss{}
}

// compose makes the sample of the planned kind.
func (d *draft) compose(ctx context.Context) (miss, error) {
	switch d.kind {
	case singleKind:
		return d.single(ctx)
	case parallelKind:
		return d.parallel(ctx)
	case clarificationKind:
		return d.clarification(ctx)
	case longContextKind:
		return d.longContext(ctx)
	case chainKind:
		return d.chain(ctx)
	}
	return d.ask(), nil
}

// ask makes a question and its answer.
func (d *draft) ask() miss {
	list := d.m.questions[d.kind]
	var open []*question
	for i := range list {
		if !d.asked[keyOf(d.kind, &list[i])] {
			open = append(open, &list[i])
		}
	}
	if len(open) == 0 {
		return miss{reason: "no_text", detail: "nothing is left to be asked"}
	}
	q := draw.One(&d.draws, open)
	d.key = keyOf(d.kind, q)
	asked := *q
	if q.tool != nil {
		wish := plainWish.Replace(d.words.Wish(wording.About(q.tool.name, q.tool.prose)))
		if lastWord(wish) == lastWord(q.fields.text) { // else it leaves out what tells the tool from others
			asked.form, asked.fields.text = &selecting, wish
		}
	}
	d.show(textLeads, d.m.r.excerpt(q.focus, questionRoom))
	d.user(asked.say(&d.draws))
	d.assistant(asked.answer(&d.draws))
	d.sample.Family = midtool.QA
	d.sample.Plan.Answer = q.pieces
	d.sample.Ability = abilities[d.kind]
	return miss{}
}

func lastWord(s string) string { return strings.ToLower(s[strings.LastIndexByte(s, ' ')+1:]) }

func keyOf(kind string, q *question) string {
	return kind + "\x00" + q.fields.name + "\x00" + q.fields.of + "\x00" + q.fields.text + "\x00" + strings.Join(q.pieces, "\x00")
}

// plainWish turns what a user wants of an assistant into what the user wants to do.
var plainWish = strings.NewReplacer("show me ", "see ", "give me ", "get ", "get me ", "get ", "tell me ", "find out ",
	"walk me through ", "understand ")

var abilities = map[string]midtool.Ability{
	"tool_selection": midtool.Affordance, "argument_extraction": midtool.Grounding, "workflow_recognition": midtool.Composition,
	"prerequisite": midtool.Composition, "output_use": midtool.Composition, "error_reading": midtool.Recover,
}
