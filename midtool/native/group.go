package native

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/internal/text"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/internal/wording"
)

// A tool is a usable tool with what is derived from it.
type tool struct {
	midtool.Tool
	schema   *schema.Schema
	about    *wording.Tool
	tokens   int        // of the definition
	given    [][]string // names that a request must not give away
	content  []int      // words of name and description that carry meaning, by number, sorted
	params   []parameter
	group    *group
	produced map[string]bool // parameters that an edge leads to
	feeds    []edge          // to tools that take what this one produces
	shares   []edge          // to tools that take an argument of the same name; at most maxShares
}

// A parameter is a property of the arguments at the top level.
type parameter struct {
	name      string
	described bool
	required  bool
	askable   bool // a scalar of which a user can be asked: no default, const or enum of one member
	isText    bool // a string that is no member of an enum
}

// An edge leads from a producer to a consumer.
type edge struct {
	to           *tool
	field, param string
	confidence   float64
}

// A group is the tools of one server, API or folder.
type group struct {
	name   string
	tools  []*tool // by ID
	rank   int     // in the descending order of sizes
	budget int

	byFamily map[midtool.Family][]*tool // candidates, in the order in which they take turns
}

func (t *tool) rejection(reason, detail string) midtool.Rejection {
	return midtool.Rejection{Tool: t.Name, ToolID: t.ID, Group: t.Group, Origin: t.Origin, Reason: reason, Detail: detail}
}

// prepare sorts the tools out: usable ones by group and ID, the rest with a reason.
func (g *generator) prepare(ctx context.Context, tools []midtool.Tool) error {
	read := make([]*tool, len(tools))
	rejected := make([]*midtool.Rejection, len(tools))
	g.each(len(tools), func(i int) {
		if ctx.Err() == nil {
			read[i], rejected[i] = g.read(tools[i])
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	vocabulary := make(map[string]int)
	var usable []*tool
	for i, t := range read {
		if rejected[i] != nil {
			g.rejected = append(g.rejected, *rejected[i])
		} else {
			t.number(vocabulary)
			usable = append(usable, t)
		}
	}
	slices.SortFunc(usable, func(a, b *tool) int { return compareTools(&a.Tool, &b.Tool) })
	byName := make(map[string]*group)
	var last *tool
	for _, t := range usable {
		if last != nil && last.ID == t.ID {
			g.rejected = append(g.rejected, t.rejection("duplicate", "as in group "+strconv.Quote(last.Group)))
			continue
		}
		last = t
		gr := byName[t.Group]
		if gr == nil {
			gr = &group{name: t.Group}
			byName[t.Group] = gr
			g.groups = append(g.groups, gr)
		}
		gr.tools = append(gr.tools, t)
		t.group = gr
	}
	g.tools = len(usable) - countReason(g.rejected, "duplicate")
	slices.SortFunc(g.groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(len(b.tools), len(a.tools)), cmp.Compare(a.name, b.name))
	})
	sum := 0.0
	for i, gr := range g.groups {
		gr.rank = i
		sum += 1 / math.Sqrt(float64(i+1)) // the use of groups falls with the square root of their rank, as in Toucan
		g.weight = append(g.weight, sum)
	}
	errs := make([]error, len(g.groups))
	g.each(len(g.groups), func(i int) { errs[i] = g.groups[i].connect() })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls do for every number below n, with the workers side by side.
func (g *generator) each(n int, do func(i int)) {
	var wg sync.WaitGroup
	for k := range g.opts.Workers {
		wg.Go(func() {
			for i := k; i < n; i += g.opts.Workers {
				do(i)
			}
		})
	}
	wg.Wait()
}

// read makes a usable tool, or says why it is none.
func (g *generator) read(raw midtool.Tool) (*tool, *midtool.Rejection) {
	n, err := midtool.Normalize(raw)
	if r, ok := errors.AsType[*midtool.Rejection](err); ok {
		return nil, r
	}
	t := &tool{Tool: n}
	if reason, detail := g.derive(t); reason != "" {
		return nil, new(t.rejection(reason, detail))
	}
	return t, nil
}

func countReason(rejected []midtool.Rejection, reason string) int {
	n := 0
	for _, r := range rejected {
		if r.Reason == reason {
			n++
		}
	}
	return n
}

// derive fills in what generation needs to know of a normalized tool, or says why it cannot be used.
func (g *generator) derive(t *tool) (reason, detail string) {
	switch {
	case t.License == "" && !g.opts.Own:
		return "license", "not stated; Options.Own lets tools of your own pass"
	case t.License != "" && !slices.Contains(g.opts.Licenses, t.License):
		return "license", t.License
	}
	var err error
	if t.schema, err = schema.CompileRaw(t.Parameters); err != nil {
		return "bad_schema", err.Error()
	}
	if t.schema.Unsupported != "" {
		return "pattern_unsupported", t.schema.Unsupported
	}
	root, err := jsonval.Parse(t.Parameters)
	if err != nil {
		return "bad_schema", err.Error()
	}
	t.tokens = midtool.ApproxTokens(t.Name) + midtool.ApproxTokens(t.Description) + midtool.ApproxTokens(string(t.Parameters))
	if t.tokens > g.opts.MaxTokens/2 {
		return "window", strconv.Itoa(t.tokens) + " tokens in the definition"
	}
	t.about = wording.About(t.Name, t.Description)
	t.given = names.GivenAway(t.Name, t.Original, t.Group)
	required := make(map[string]bool)
	if r := root.Get("required"); r != nil {
		for i := range r.List {
			required[r.List[i].Text] = true
		}
	}
	if props := root.Get("properties"); props != nil {
		for i := range props.Members {
			m := &props.Members[i]
			t.params = append(t.params, parameter{
				name:      m.Key,
				described: strings.TrimSpace(jsonval.StringOf(m.Value.Get("description"))) != "",
				required:  required[m.Key],
				askable:   askable(&m.Value),
				isText:    jsonval.StringOf(m.Value.Get("type")) == "string" && m.Value.Get("enum") == nil,
			})
		}
	}
	return "", ""
}

// number fills in the content of a tool.
func (t *tool) number(vocabulary map[string]int) {
	for _, w := range text.Tokens(strings.Join(names.Words(t.Name), " ") + " " + t.Description) {
		n, known := vocabulary[w]
		if !known {
			n = len(vocabulary)
			vocabulary[w] = n
		}
		t.content = append(t.content, n)
	}
	slices.Sort(t.content)
	t.content = slices.Compact(t.content)
}

// askable holds for a scalar whose value the schema does not give away.
func askable(s *jsonval.Value) bool {
	switch jsonval.StringOf(s.Get("type")) {
	case "string", "integer", "number":
	default:
		return false
	}
	if e := s.Get("enum"); e != nil && len(e.List) < 2 {
		return false
	}
	return s.Get("default") == nil && s.Get("const") == nil
}

// compareTools orders by ID, then by everything else, for the first of equal IDs is kept.
func compareTools(a, b *midtool.Tool) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Group, b.Group), compareOrigin(a.Origin, b.Origin),
		bytes.Compare(a.Parameters, b.Parameters), bytes.Compare(a.Returns, b.Returns), cmp.Compare(a.License, b.License),
		cmp.Compare(a.Title, b.Title), cmp.Compare(a.Original, b.Original), slices.Compare(a.Lossy, b.Lossy),
		cmp.Compare(strconv.FormatBool(a.ReadOnly), strconv.FormatBool(b.ReadOnly)), compareHints(a.Hints, b.Hints))
}

func compareHints(a, b midtool.Hints) int {
	rank := func(hint *bool) int {
		switch {
		case hint == nil:
			return 0
		case *hint:
			return 2
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a.Destructive), rank(b.Destructive)), cmp.Compare(rank(a.Idempotent), rank(b.Idempotent)),
		cmp.Compare(rank(a.OpenWorld), rank(b.OpenWorld)))
}

func compareOrigin(a, b midtool.Origin) int {
	return cmp.Or(cmp.Compare(a.Locator, b.Locator), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind))
}

// connect finds which tools of the group feed which.
func (gr *group) connect() error {
	tools := make([]midtool.Tool, len(gr.tools))
	for i, t := range gr.tools {
		tools[i] = t.Tool
	}
	edges, err := midtool.Dependencies(tools, nil)
	if err != nil {
		return err
	}
	for _, e := range edges {
		from, to := gr.tools[e.Producer], gr.tools[e.Consumer]
		if to.produced == nil {
			to.produced = make(map[string]bool)
		}
		to.produced[e.Parameter] = true
		if confusable(from, to) {
			continue // no request could tell which of the two is meant
		}
		from.feeds = append(from.feeds, edge{to, e.Field, e.Parameter, e.Confidence})
	}
	gr.share()
	return nil
}

// maxShares bounds how many tools with an argument in common are kept for each tool.
const maxShares = 16

// share finds which tools take a text of the same name, a tool with another argument besides itself among them.
func (gr *group) share() {
	takers := make(map[string][]*tool)
	for _, t := range gr.tools {
		for _, p := range t.params {
			if p.isText && len(takers[p.name]) < maxShares {
				takers[p.name] = append(takers[p.name], t)
			}
		}
	}
	for _, t := range gr.tools {
		for _, p := range t.params {
			if !p.isText || !p.required {
				continue
			}
			for _, o := range takers[p.name] {
				if (o == t && len(t.params) > 1 || o != t && !confusable(o, t)) && len(t.shares) < maxShares {
					t.shares = append(t.shares, edge{to: o, param: p.name})
				}
			}
		}
	}
}

// quality is the mean of five shares: tools with a description of 20 characters or more, parameters with a
// description, tools that were normalized without loss, tools with at most 15 parameters, and distinct descriptions
// among the tools. A group without parameters has none that lacks a description.
func (gr *group) quality() float64 {
	var long, lossless, few, params, described float64
	distinct := make(map[string]bool)
	for _, t := range gr.tools {
		long += share(len([]rune(strings.TrimSpace(t.Description))) >= 20)
		lossless += share(len(t.Lossy) == 0)
		few += share(len(t.params) <= 15)
		for _, p := range t.params {
			params++
			described += share(p.described)
		}
		distinct[t.Description] = true
	}
	n := float64(len(gr.tools))
	if params == 0 {
		params, described = 1, 1
	}
	return (long/n + described/params + lossless/n + few/n + float64(len(distinct))/n) / 5
}

func share(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// meanParameters is the mean number of parameters of a tool.
func (gr *group) meanParameters() float64 {
	n := 0
	for _, t := range gr.tools {
		n += len(t.params)
	}
	return float64(n) / float64(len(gr.tools))
}

// budget is how many samples a group deserves by its quality q, its number n of tools and its mean number p of
// parameters.
func budget(q float64, n int, p float64, most int) int {
	return min(most, int(math.Floor(8*q*math.Sqrt(float64(n))*(1+p/4)+0.5)))
}
