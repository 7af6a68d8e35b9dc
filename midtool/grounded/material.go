package grounded

import (
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/internal/wording"
)

// material is what samples of a document can be made of.
type material struct {
	r         *reading
	turn      int
	tools     []*tool
	questions map[string][]question
	named     map[string]int // candidates by what they are called: one of two is not meant by its name alone
	askable   map[string]int // questions by kind; of a profile made by hand, 2 for what its figures allow
	suits     map[string]bool
	chains    bool
	walks     [][]step // lists of 3 steps or more
	far       []farValue
}

// A tool is a document's tool with what is derived from it.
type tool struct {
	midtool.Tool
	owner  int // candidate; -1 for none
	schema *schema.Schema
	about  *wording.Tool
	tokens int
	given  [][]string
	params []property
	feeds  []link
	fed    map[string]bool // parameters that an edge leads to
}

// A property is a parameter of a tool.
type property struct {
	name     string
	required bool
	askable  bool // a scalar that only the user can know
	isText   bool
}

// A link leads to a tool that takes what another one gives.
type link struct {
	to           *tool
	field, param string
}

// A farValue is an argument that stands far before the end of a range of the document.
type farValue struct {
	tool  *tool
	param string
	value jsonval.Value
	shown Span // the range, which begins with the line of the value
}

func newMaterial(p *Profile, tokens int, s *settings) *material {
	m := &material{r: p.read, askable: make(map[string]int), suits: make(map[string]bool)}
	if s.budget(p.Score, tokens) == 0 {
		return m
	}
	if m.r != nil {
		m.turn = s.turnOf(m.r)
	}
	if p.Score >= s.minTrajectory {
		m.prepare(p.Tools)
		m.trajectories(p, tokens)
	}
	if m.r == nil {
		for kind, of := range asksAbout {
			if slices.ContainsFunc(of, func(f Feature) bool { return p.Counts[f] > 0 }) {
				m.askable[kind] = 2
			}
		}
		return m
	}
	m.ask()
	for kind, list := range m.questions {
		m.askable[kind] = len(list)
	}
	return m
}

// prepare reads the tools; those whose schemas cannot be used are left out.
func (m *material) prepare(tools []midtool.Tool) {
	for i := range tools {
		t := &tool{Tool: tools[i], owner: -1}
		if m.r != nil && i < len(m.r.owner) {
			t.owner = m.r.owner[i]
		}
		var err error
		if t.schema, err = schema.CompileRaw(t.Parameters); err != nil || t.schema.Unsupported != "" {
			continue
		}
		root, err := jsonval.Parse(t.Parameters)
		if err != nil {
			continue
		}
		t.about = wording.About(t.Name, t.Description)
		t.given = names.GivenAway(t.Name, t.Group)
		t.tokens = midtool.ApproxTokens(t.Name) + midtool.ApproxTokens(t.Description) + midtool.ApproxTokens(string(t.Parameters))
		if props := root.Get("properties"); props != nil {
			for j := range props.Members {
				t.params = append(t.params, propertyOf(&root, &props.Members[j]))
			}
		}
		m.tools = append(m.tools, t)
	}
	kept := make([]midtool.Tool, len(m.tools))
	for i, t := range m.tools {
		kept[i] = t.Tool
	}
	edges, err := midtool.Dependencies(kept, nil)
	if err != nil {
		return // the tools have no edges then; they compile, so this does not happen
	}
	for _, e := range edges {
		from, to := m.tools[e.Producer], m.tools[e.Consumer]
		if to.fed == nil {
			to.fed = make(map[string]bool)
		}
		to.fed[e.Parameter] = true
		if !from.about.SoundsLike(to.about) {
			from.feeds = append(from.feeds, link{to, e.Field, e.Parameter})
		}
	}
}

func propertyOf(root *jsonval.Value, p *jsonval.Member) property {
	out := property{name: p.Key}
	if r := root.Get("required"); r != nil {
		out.required = jsonval.Contains(r.List, jsonval.NewString(p.Key))
	}
	typ, enum := jsonval.StringOf(p.Value.Get("type")), p.Value.Get("enum")
	scalar := typ == "string" || typ == "integer" || typ == "number"
	out.askable = scalar && (enum == nil || len(enum.List) > 1) && p.Value.Get("default") == nil && p.Value.Get("const") == nil
	out.isText = typ == "string" && enum == nil
	return out
}

// withheld lists the parameters that a request can leave out. No tool that feeds them may be offered then.
func (t *tool) withheld() []string {
	var out []string
	for _, p := range t.params {
		if p.required && p.askable {
			out = append(out, p.name)
		}
	}
	return out
}

// trajectories says which conversations there can be.
func (m *material) trajectories(p *Profile, tokens int) {
	m.suits[singleKind] = len(m.tools) > 0
	m.suits[parallelKind] = len(m.tools) > 1
	for _, t := range m.tools {
		m.suits[parallelKind] = m.suits[parallelKind] || len(t.params) > 0
		m.suits[clarificationKind] = m.suits[clarificationKind] || len(t.withheld()) > 0
		m.chains = m.chains || len(t.feeds) > 0
	}
	if m.r == nil {
		m.suits[longContextKind] = tokens >= longDocument && len(p.Values) > 0
		m.chains = m.chains || len(p.Steps) > 2
		return
	}
	for from := 0; from < len(m.r.steps) && len(m.walks) < 64; {
		to := from + 1
		for to < len(m.r.steps) && m.r.steps[to].list == m.r.steps[from].list {
			to++
		}
		if to-from > 2 && !lists(m.r.sections[m.r.steps[from].section].heading.of(m.r.text)) {
			m.walks = append(m.walks, m.r.steps[from:to])
		}
		from = to
	}
	m.chains = m.chains || len(m.walks) > 0
	if tokens >= longDocument {
		m.findFar()
	}
	m.suits[longContextKind] = len(m.far) > 0
}

// findFar finds values of arguments with enough text behind them.
func (m *material) findFar() {
	text := m.r.text
	for _, t := range m.tools {
		if t.owner < 0 || len(m.far) >= 16 {
			continue
		}
		for _, p := range m.r.candidates[t.owner].params {
			member := t.schema.Member(p.name)
			if p.example.empty() || member == nil {
				continue
			}
			v := valueOf(p.example.of(text))
			if v.Kind == jsonval.Number && !member.Accepts(&v) {
				v = jsonval.NewString(v.Text)
			}
			if len(v.Text) < 2 || v.Kind == jsonval.Bool || !member.Accepts(&v) {
				continue
			}
			start := strings.LastIndexByte(text[:p.example.Start], '\n') + 1
			end := p.example.End
			for left := longDistance + 32; left > 0; {
				if end >= len(text) {
					end = 0
					break
				}
				next := len(text)
				if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
					next = end + i + 1
				}
				next = min(next, end+4*maxLine)
				left -= midtool.ApproxTokens(strings.TrimSpace(text[end:next])) // several line breaks count as one
				end = next
			}
			if end > 0 && end-start < 8*longDistance {
				m.far = append(m.far, farValue{t, p.name, v, m.r.trim(Span{start, end})})
			}
		}
	}
}
