package native

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
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

// GenerateOptions adjusts [Generate]. A nil *GenerateOptions equals &GenerateOptions{}.
type GenerateOptions struct {
	Seed         uint64                // of every random choice
	PerTool      int                   // samples planned for each tool; zero means 4
	Licenses     []string              // allow-list of SPDX identifiers; nil means MIT, Apache-2.0, BSD (2, 3), ISC, CC0-1.0
	OwnTools     bool                  // tools that state no license are the caller's own and pass; false rejects them
	OptionalProb *float64              // probability in [0, 1] that a call has an optional argument; nil means 0.4
	MaxTokens    int                   // largest sample by [ApproxTokens] of its line, at least 256; zero means 8192
	Progress     func(done, total int) // called after each tool, in order; nil means not
}

func (o *GenerateOptions) withDefaults() (GenerateOptions, error) {
	var d GenerateOptions
	if o != nil {
		d = *o
	}
	var errs []error
	if d.PerTool < 0 {
		errs = append(errs, fmt.Errorf("midtool: GenerateOptions.PerTool %d is negative", d.PerTool))
	}
	if d.MaxTokens != 0 && d.MaxTokens < 256 {
		errs = append(errs, fmt.Errorf("midtool: GenerateOptions.MaxTokens %d is below 256", d.MaxTokens))
	}
	if d.OptionalProb == nil {
		d.OptionalProb = new(0.4)
	}
	if p := *d.OptionalProb; !(p >= 0 && p <= 1) {
		errs = append(errs, fmt.Errorf("midtool: GenerateOptions.OptionalProb %v is outside [0, 1]", p))
	}
	d.PerTool = cmp.Or(d.PerTool, 4)
	d.MaxTokens = cmp.Or(d.MaxTokens, 8192)
	if d.Licenses == nil {
		d.Licenses = midtool.DefaultLicenses()
	}
	return d, errors.Join(errs...)
}

// Generate makes single-call samples: a user asks, the assistant calls one of the offered tools, the tool answers,
// the assistant concludes. Tools need not be normalized. The call is made first, from the tool's schema, and put into
// words afterwards, so that each argument is grounded in the request by construction (MidTool, arXiv:2608.20314,
// native branch; the details are ours). Each sample has passed [Validate].
//
//   - Values: const, enum, examples, formats, bounds, patterns, and built-in tables by the name of the parameter;
//     objects to depth 4.
//   - Wording: templates around the tool's description or name; a name of two words or more is never given away.
//   - Offered tools: the called one and 0 to 36 others, half of them of the same group, in random order; none of them
//     does the same to the same noun, and all fit in 3/4 of MaxTokens. Tools without a group form one group. Names
//     are made exportable, one to one.
//   - Results: drawn from the result schema, else a status and the arguments.
//
// Nothing is dropped without a [Rejection]: every given tool is counted in Tools or rejected, and Tools times PerTool
// are the samples and the rejected samples. Reasons for tools: those of [Normalize]; license; duplicate (same ID);
// pattern_unsupported (a pattern outside Go's syntax). For samples, after 8 tries each: no_value (no value found for
// a required argument), window (more than MaxTokens), duplicate (same offered tools, call and request), or the first
// rule of Validate that the last try broke.
//
// The same tools, options and seed give the same bytes, whatever the order of the tools. The time grows linearly with
// the number of samples; memory holds the whole corpus. The error is that of ctx or names bad options; the result is
// then nil. No tools give an empty corpus.
func Generate(ctx context.Context, tools []midtool.Tool, o *GenerateOptions) (*midtool.Corpus, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	g := generator{opts: opts, corpus: &midtool.Corpus{}}
	if err := g.prepare(ctx, tools); err != nil {
		return nil, err
	}
	seen := make(map[[sha256.Size]byte]bool)
	for i, t := range g.tools {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for n := 1; n <= opts.PerTool; n++ {
			s, rejected := g.sample(t, n)
			if rejected == nil {
				if key := contentKey(s); seen[key] {
					rejected = t.rejection(strconv.Itoa(n), "duplicate", "")
				} else {
					seen[key] = true
				}
			}
			if rejected != nil {
				g.corpus.Rejected = append(g.corpus.Rejected, *rejected)
				continue
			}
			g.corpus.Samples = append(g.corpus.Samples, s)
		}
		if opts.Progress != nil {
			opts.Progress(i+1, len(g.tools))
		}
	}
	return g.corpus, nil
}

// A tool is a usable tool with what is derived from it.
type tool struct {
	midtool.Tool
	schema  *schema.Schema
	returns *schema.Schema // nil if unknown
	about   *wording.Tool
	tokens  int // of the exported definition
	group   int // index in generator.groups
	at      int // index in the group
}

func (t *tool) rejection(sample string, reason, detail string) *midtool.Rejection {
	return &midtool.Rejection{Tool: t.Name, ToolID: t.ID, Group: t.Group, Origin: t.Origin, Sample: sample, Reason: reason, Detail: detail}
}

type generator struct {
	opts   GenerateOptions
	tools  []*tool   // by ID
	groups [][]*tool // by descending size, then name
	weight []float64 // of the groups, summed up from the first
	corpus *midtool.Corpus
	check  midtool.Checker
}

// prepare sorts the tools out: usable ones by ID and group, the rest with a reason.
func (g *generator) prepare(ctx context.Context, tools []midtool.Tool) error {
	for _, raw := range tools {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := midtool.Normalize(raw)
		if r, ok := errors.AsType[*midtool.Rejection](err); ok {
			g.corpus.Rejected = append(g.corpus.Rejected, *r)
			continue
		}
		t := &tool{Tool: n, about: wording.About(n.Name, n.Description)}
		switch {
		case n.License == "" && !g.opts.OwnTools:
			g.reject(t, "license", "not stated; GenerateOptions.OwnTools lets tools of your own pass")
			continue
		case n.License != "" && !slices.Contains(g.opts.Licenses, n.License):
			g.reject(t, "license", n.License)
			continue
		}
		if t.schema, err = schema.CompileRaw(n.Parameters); err != nil {
			g.reject(t, "bad_schema", err.Error())
			continue
		}
		if t.schema.Unsupported != "" {
			g.reject(t, "pattern_unsupported", t.schema.Unsupported)
			continue
		}
		if len(n.Returns) > 0 {
			if t.returns, err = schema.CompileRaw(n.Returns); err != nil {
				g.reject(t, "bad_schema", err.Error())
				continue
			}
		}
		t.tokens = midtool.ApproxTokens(n.Name) + midtool.ApproxTokens(n.Description) + midtool.ApproxTokens(string(n.Parameters))
		g.tools = append(g.tools, t)
	}
	slices.SortFunc(g.tools, func(a, b *tool) int { return compareTools(a.Tool, b.Tool) })
	var kept []*tool
	for _, t := range g.tools {
		if n := len(kept); n > 0 && kept[n-1].ID == t.ID {
			g.reject(t, "duplicate", "as in group "+strconv.Quote(kept[n-1].Group))
			continue
		}
		kept = append(kept, t)
	}
	g.tools = kept
	slices.SortFunc(g.corpus.Rejected, func(a, b midtool.Rejection) int {
		return cmp.Or(cmp.Compare(a.ToolID, b.ToolID), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Group, b.Group),
			compareOrigin(a.Origin, b.Origin), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail, b.Detail))
	})
	g.corpus.Tools = len(g.tools)
	g.group()
	return nil
}

// compareTools orders by ID, then by everything else, for the first of equal IDs is kept.
func compareTools(a, b midtool.Tool) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Group, b.Group), compareOrigin(a.Origin, b.Origin),
		bytes.Compare(a.Parameters, b.Parameters), bytes.Compare(a.Returns, b.Returns), cmp.Compare(a.License, b.License),
		cmp.Compare(a.Title, b.Title), cmp.Compare(a.Original, b.Original), slices.Compare(a.Lossy, b.Lossy),
		cmp.Compare(strconv.FormatBool(a.ReadOnly), strconv.FormatBool(b.ReadOnly)))
}

func compareOrigin(a, b midtool.Origin) int {
	return cmp.Or(cmp.Compare(a.Locator, b.Locator), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind))
}

func (g *generator) reject(t *tool, reason, detail string) {
	g.corpus.Rejected = append(g.corpus.Rejected, *t.rejection("", reason, detail))
}

// group ranks the groups by size; the chance to lend distractors falls with the square root of the rank, as group use
// does in Toucan.
func (g *generator) group() {
	byName := make(map[string][]*tool)
	for _, t := range g.tools {
		byName[t.Group] = append(byName[t.Group], t)
	}
	for _, group := range byName {
		g.groups = append(g.groups, group)
	}
	slices.SortFunc(g.groups, func(a, b []*tool) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0].Group, b[0].Group))
	})
	sum := 0.0
	for i, group := range g.groups {
		sum += 1 / math.Sqrt(float64(i+1))
		g.weight = append(g.weight, sum)
		for j, t := range group {
			t.group, t.at = i, j
		}
	}
}

// sample makes the n-th sample of a tool, in up to 8 tries with choices of their own.
func (g *generator) sample(t *tool, n int) (midtool.Sample, *midtool.Rejection) {
	if t.tokens > g.opts.MaxTokens { // no try can help
		return midtool.Sample{}, t.rejection(strconv.Itoa(n), "window", strconv.Itoa(t.tokens)+" tokens in the definition")
	}
	var last *midtool.Rejection
	for try := range 8 {
		d := draw.New(g.opts.Seed, "single", t.ID, strconv.Itoa(n), strconv.Itoa(try))
		m := schema.Maker{D: d, Optional: *g.opts.OptionalProb}
		args, ok := m.Value(t.schema, t.Name, 0)
		if !ok {
			last = t.rejection(strconv.Itoa(n), "no_value", "no valid arguments found")
			continue
		}
		s, ok := g.single(d, t, n, try, &args)
		if !ok {
			last = t.rejection(strconv.Itoa(n), "no_value", "no valid result found")
			continue
		}
		found, err := g.check.Check(context.Background(), &s)
		if err != nil || len(found.Violations) > 0 {
			v := found.Violations[0]
			last = t.rejection(strconv.Itoa(n), v.Rule, v.Path+": "+v.Detail)
			continue
		}
		s.Evidence = found.Evidence
		tokens := found.Tokens
		g.corpus.Tokens += tokens
		return s, nil
	}
	return midtool.Sample{}, last
}

func (g *generator) single(d *draw.Draws, t *tool, n, try int, args *jsonval.Value) (midtool.Sample, bool) {
	// Choices of their own, so that another offered set leaves the call and the wording alone.
	id := []string{t.ID, strconv.Itoa(n), strconv.Itoa(try)}
	offered := g.offer(draw.New(g.opts.Seed, "offer", id...), t)
	exported := make([]midtool.Tool, len(offered))
	for i, o := range offered {
		exported[i] = o.Tool
	}
	exportNames(exported)
	name := exported[slices.Index(offered, t)].Name

	r := wording.Writer{Draws: d}
	for _, e := range exported {
		r.Avoid = append(r.Avoid, names.GivenAway(e.Name, e.Original, e.Group)...)
	}
	leaves := schema.LeavesOf(t.schema, args, "", nil)
	if len(args.Members) == 0 {
		leaves = nil
	}
	task := wording.Task{Tool: t.about}
	for _, l := range leaves {
		task.Slots = append(task.Slots, wording.Slot{Leaf: l})
	}
	query := r.Request([]wording.Task{task}, false)
	session, _ := simulate.World{Seed: g.opts.Seed}.Open(context.Background(), "", nil)
	answer, err := session.Execute(context.Background(), t.Tool, args.Bytes(jsonval.Compact))
	if err != nil {
		return midtool.Sample{}, false
	}
	result, _ := jsonval.Parse(answer.Value)
	const callID = "call_0001"
	s := midtool.Sample{
		ID:      "single/" + t.ID + "/" + strconv.Itoa(n),
		Family:  "single",
		Ability: "grounding",
		Tools:   exported,
		Messages: []midtool.Message{
			{Role: midtool.RoleUser, Content: query.Text, Template: query.Template},
			{Role: midtool.RoleAssistant, Calls: []midtool.Call{{ID: callID, Name: name, Arguments: args.Bytes(jsonval.Compact)}}},
			{Role: midtool.RoleTool, Content: result.Encode(jsonval.Display), CallID: callID, Name: name},
			{Role: midtool.RoleAssistant, Content: r.Answer([]wording.Task{task}, []*jsonval.Value{&result}).Text},
		},
	}
	if len(leaves) == 0 {
		s.Ability = "affordance" // there is nothing to ground, only a tool to find
	}
	return s, true
}

// Sizes of the offered set and their weights in percent (ours): how many distractors stand beside the called tool.
var offerSizes = []struct{ percent, lo, hi int }{{5, 0, 0}, {10, 1, 1}, {50, 2, 4}, {25, 5, 8}, {10, 9, 36}}

// offer chooses the offered tools and their order. Half of the distractors share the called tool's group, the odd one
// too; where a kind runs short the other fills in.
func (g *generator) offer(d *draw.Draws, t *tool) []*tool {
	size, x := 0, d.Pick(100)
	for _, o := range offerSizes {
		if x -= o.percent; x < 0 {
			size = d.Between(o.lo, o.hi)
			break
		}
	}
	out := []*tool{t}
	taken := map[*tool]bool{t: true}
	tokens := t.tokens
	try := func(o *tool) bool {
		if taken[o] || t.about.Meaning.Rivals(o.about.Meaning) || tokens+o.tokens > g.opts.MaxTokens*3/4 {
			return false
		}
		taken[o] = true
		tokens += o.tokens
		out = append(out, o)
		return true
	}
	own := g.groups[t.group]
	fill := func(want int, candidate func() *tool) {
		for tries := 4*want + 8; want > 0 && tries > 0; tries-- {
			if try(candidate()) {
				want--
			}
		}
	}
	hard := func() *tool { return draw.One(d, own) }
	easy := func() *tool { return draw.One(d, g.groups[g.otherGroup(d, t.group)]) }
	if len(own) > 1 {
		fill((size+1)/2, hard)
	}
	if len(g.groups) > 1 {
		fill(1+size-len(out), easy)
	}
	if len(own) > 1 {
		fill(1+size-len(out), hard)
	}
	keys := make(map[*tool]uint64, len(out))
	for _, o := range out {
		keys[o] = d.Key()
	}
	slices.SortFunc(out, func(a, b *tool) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), strings.Compare(a.ID, b.ID)) })
	return out
}

// otherGroup draws a group by weight; the few draws that hit the excluded one go to its neighbor.
func (g *generator) otherGroup(d *draw.Draws, not int) int {
	u := float64(d.Key()>>11) / (1 << 53) * g.weight[len(g.weight)-1]
	i, _ := slices.BinarySearch(g.weight, u)
	if i = min(i, len(g.groups)-1); i == not {
		return (i + 1) % len(g.groups)
	}
	return i
}

// contentKey is equal for samples with the same offered tools, calls and requests.
func contentKey(s midtool.Sample) [sha256.Size]byte {
	var ids, calls, texts []jsonval.Value
	for _, t := range s.Tools {
		ids = append(ids, jsonval.NewString(t.ID))
	}
	slices.SortFunc(ids, func(a, b jsonval.Value) int { return cmp.Compare(a.Text, b.Text) })
	for _, m := range s.Messages {
		if m.Role == midtool.RoleUser {
			texts = append(texts, jsonval.NewString(m.Content))
		}
		for _, c := range m.Calls {
			calls = append(calls, jsonval.NewList(jsonval.NewString(c.Name), jsonval.NewString(string(c.Arguments))))
		}
	}
	key := jsonval.NewList(jsonval.NewList(ids...), jsonval.NewList(calls...), jsonval.NewList(texts...))
	return sha256.Sum256(key.Bytes(jsonval.Canonical))
}
