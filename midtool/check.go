package midtool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/throughline-go/throughline/internal/text"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A Checker validates samples and finds their evidence. It keeps what it has learned of the tools it has seen, their
// compiled schemas above all, so one Checker for many samples is faster than [Validate] for each. The zero value is
// ready. It is not safe for concurrent use.
type Checker struct {
	MaxTokens int      // window of a sample in [Findings] Tokens, at least 256; zero means 8192
	Markers   []string // control markers of the formats to be written, which no text may contain; nil means none
	Skip      []string // rules that are not checked; nil means none
	Replay    Executor // executes the calls of each sample again, in a session opened with its ID: the results must be equal; nil means not

	known map[toolKey]*toolFacts
	feeds map[[2]*toolFacts][]string // parameters of the second tool that the first one feeds
	held  int                        // bytes of the keys of known
	count int                        // of all facts ever made
	run   validator                  // its buffers are used again
}

// Findings is what a [Checker] found in a sample.
type Findings struct {
	Violations []Violation // by rule and then by place; nil for a sound sample
	Evidence   []Evidence  // one per scalar argument of every trained call, in order
	Tokens     int         // [ApproxTokens] of the line that [WriteMessages] writes by default
}

// Check looks at one sample and lists what is wrong with it by the rules of [Validate]. It takes time linear in the
// size of the sample, and gives up the search for evidence in one that would need more.
//
// With Replay, the calls of a sample whose turns, tools and arguments can be read are executed in order, with tools under
// their original names, and each result must equal the message: as JSON, and in whether it is an error. Left out are the
// calls answered by an error in a sample whose [Plan] has the Fault timeout, rate_limited or permission: they never
// reached the tool.
//
// The error is that of ctx or of Replay, or names a field of c that is out of range; the Findings are then empty. What is
// wrong with the sample is a [Violation].
func (c *Checker) Check(ctx context.Context, s *Sample) (Findings, error) {
	if c.MaxTokens != 0 && c.MaxTokens < 256 {
		return Findings{}, fmt.Errorf("midtool: Checker.MaxTokens is %d, want 0 or at least 256", c.MaxTokens)
	}
	for _, rule := range c.Skip {
		if !slices.Contains(rules, rule) {
			return Findings{}, fmt.Errorf("midtool: Checker.Skip: no rule %q", rule)
		}
	}
	if err := ctx.Err(); err != nil {
		return Findings{}, err
	}
	v := &c.run
	v.start(c, s)
	defer v.done()
	v.offered()
	v.order()
	v.conversation()
	v.plan()
	v.proof()
	f := Findings{Tokens: v.tokens()}
	if len(v.evidence) > 0 {
		f.Evidence = slices.Clone(v.evidence)
	}
	if most := cmp.Or(c.MaxTokens, 8192); f.Tokens > most {
		v.fault("window", "", "%d tokens, want at most %d", f.Tokens, most)
	}
	if c.Replay != nil {
		if err := v.replay(ctx); err != nil {
			return Findings{}, err
		}
	}
	f.Violations = v.sorted()
	return f, ctx.Err()
}

// A toolKey tells tools apart whose facts differ.
type toolKey struct {
	name, original, group, description, parameters, returns string
	readOnly                                                bool
}

// toolFacts is what is derived from one definition. Schemas are compiled when they are first needed.
type toolFacts struct {
	tool       Tool // under its original name
	exportable bool
	valid      bool // the description is UTF-8
	span       tokenSpan
	meaning    names.Meaning
	reads      bool       // calls change nothing
	given      [][]string // word sequences that give the tool or its group away
	params     compiled
	returns    compiled
	members    map[string]param // of params, by name
	content    map[string]bool  // content words of the description; nil until asked for
	settles    map[string]bool  // whether the schema settles a parameter, by pointer
	number     int              // among all that the Checker has seen
	node       *node            // for the rules of [Dependencies]; nil until asked for
	nodeErr    error
	gives      *producers // the node alone
}

// compiled is a schema, compiled at its first use.
type compiled struct {
	schema *schema.Schema
	err    error
	done   bool
}

func (c *compiled) get(raw []byte) (*schema.Schema, error) {
	if !c.done {
		c.schema, c.err = schema.CompileRaw(raw)
		c.done = true
	}
	return c.schema, c.err
}

// A param is the schema of a parameter with its place in the arguments.
type param struct {
	schema *schema.Schema
	path   string
}

// Bounds of what a Checker keeps; beyond, it forgets everything and starts anew.
const (
	maxKnown = 1 << 16
	maxHeld  = 64 << 20
)

func (c *Checker) facts(t *Tool) *toolFacts {
	// The compiler looks this key up without copying the bytes.
	if f := c.known[toolKey{t.Name, t.Original, t.Group, t.Description, string(t.Parameters), string(t.Returns), t.ReadOnly}]; f != nil {
		return f
	}
	size := len(t.Name) + len(t.Original) + len(t.Group) + len(t.Description) + len(t.Parameters) + len(t.Returns)
	if c.known == nil || len(c.known) >= maxKnown || c.held+size > maxHeld {
		c.known, c.feeds, c.held = make(map[toolKey]*toolFacts), make(map[[2]*toolFacts][]string), 0
	}
	f := &toolFacts{tool: *t, exportable: names.Exportable(t.Name), valid: utf8.ValidString(t.Description)}
	f.tool.Name, f.tool.Original = cmp.Or(t.Original, t.Name), ""
	// The caller's bytes may be changed after the check.
	f.tool.Parameters, f.tool.Returns = slices.Clone(t.Parameters), slices.Clone(t.Returns)
	var mw messageWriter
	f.span = spanOf(mw.tool(nil, t))
	f.meaning = names.MeaningOf(f.tool.Name)
	f.reads = t.ReadOnly || f.meaning.Class == names.GetVerb || f.meaning.Class == names.ListVerb || f.meaning.Class == names.SearchVerb
	f.given = names.GivenAway(t.Name, t.Original, t.Group)
	f.members = make(map[string]param)
	c.count++
	f.number = c.count
	c.known[toolKey{t.Name, t.Original, t.Group, t.Description, string(t.Parameters), string(t.Returns), t.ReadOnly}] = f
	c.held += size
	return f
}

// parameters is the schema of the arguments, nil if it cannot be read.
func (f *toolFacts) parameters() (*schema.Schema, error) { return f.params.get(f.tool.Parameters) }

// param finds the schema of a parameter by its name; of a name that is none of its own it knows the path alone.
func (f *toolFacts) param(name string) param {
	if p, ok := f.members[name]; ok {
		return p
	}
	s, _ := f.parameters()
	p := param{path: "/" + jsonval.PointerEscape(name)}
	if s != nil {
		p.schema = s.Member(name)
	}
	if p.schema != nil && len(f.members) < 256 {
		f.members[name] = p
	}
	return p
}

// contentWords are the words of the description without stop words.
func (f *toolFacts) contentWords() map[string]bool {
	if f.content == nil {
		f.content = make(map[string]bool)
		for _, w := range text.Tokens(f.tool.Description) {
			f.content[w] = true
		}
	}
	return f.content
}

// connect makes the node.
func (f *toolFacts) connect() error {
	if f.node == nil && f.nodeErr == nil {
		if f.node, f.nodeErr = newNode(f.number, f.tool); f.nodeErr == nil {
			f.gives = newProducers()
			f.gives.add(f.node)
		}
	}
	return f.nodeErr
}

// feeding lists the parameters of consumer that producer feeds.
func (c *Checker) feeding(producer, consumer *toolFacts) []string {
	if producer.tool.Group != consumer.tool.Group {
		return nil // as Dependencies says
	}
	pair := [2]*toolFacts{producer, consumer}
	params, ok := c.feeds[pair]
	if !ok {
		if producer.connect() == nil && consumer.connect() == nil {
			w := walk{node: consumer.node, from: producer.gives, best: make(map[[2]int]Edge)}
			w.edges()
			for _, e := range w.best { // none is below the confidence that Dependencies asks for
				params = append(params, e.Parameter)
			}
		}
		if len(c.feeds) >= maxKnown {
			clear(c.feeds)
		}
		c.feeds[pair] = params
	}
	return params
}
