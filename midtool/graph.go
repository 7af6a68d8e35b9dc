package midtool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// An Edge says that one tool produces what another takes.
type Edge struct {
	Producer   int     // index of the tool whose result has the value
	Consumer   int     // index of the tool that takes it
	Field      string  // name of the field of the result; empty if unknown
	Parameter  string  // name of the required or optional parameter
	Rule       string  // "field" (R1), "identifier" (R2) or "mention" (R3)
	Confidence float64 // in (0, 1]
}

// DependencyOptions adjusts [Dependencies]. A nil *DependencyOptions equals &DependencyOptions{}.
type DependencyOptions struct {
	MinConfidence *float64 // edges below are dropped; in [0, 1]; nil means 0.5
	AcrossGroups  bool     // edges of rule "field" with confidence 0.9 or more may join tools of different groups
}

// Dependencies finds which tools feed which, by rules on names, schemas and descriptions, without a model; the rules
// and their confidences are ours. The tools should be normalized; tools without a group form one group. A tool feeds
// another of its group for one of these reasons:
//
//   - field: its result schema has a field with the words of the parameter, or the field id where the parameter is
//     named after its noun and id (user_id from get_user). Types are equal, null aside, and so are formats, unless one
//     side states none. Confidence 0.9 for an identifier (last word id, ids, uuid, key or slug), else 0.6. Fields are
//     those of the result and of the records in it: of the items of a list, or of what a property such as data or items
//     holds.
//   - mention: the parameter's description has its name, word for word: 0.8, or 0.5 for a name of one word, which is
//     often no more than that word.
//   - identifier: it lists, searches or creates what the other gets, updates or deletes by a required identifier: 0.7.
//     The identifier is the one named after the noun, or just id, or the only one. Most real tools state no result
//     schema, so this is a guess from names.
//
// There is at most one edge for a producer, a consumer and a parameter, of the most confident reason; edges are in
// the order of these three, parameters as the consumer's schema has them. No tool feeds itself; cycles are allowed.
// No tools give no edges.
//
// The time grows with the size of the tools and with the number of edges, which is quadratic only where many tools
// share a name for what they produce and take. The error names a bad option, or the first tool whose schemas cannot be
// read.
func Dependencies(tools []Tool, o *DependencyOptions) ([]Edge, error) {
	least, across := 0.5, false
	if o != nil {
		across = o.AcrossGroups
		if o.MinConfidence != nil {
			least = *o.MinConfidence
		}
	}
	if !(least >= 0 && least <= 1) {
		return nil, fmt.Errorf("midtool: DependencyOptions.MinConfidence %v is outside [0, 1]", least)
	}
	nodes := make([]*node, len(tools))
	groups := make(map[string]*producers)
	all := newProducers()
	for i, t := range tools {
		n, err := newNode(i, t)
		if err != nil {
			return nil, fmt.Errorf("midtool: tool %d %q: %w", i, t.Name, err)
		}
		nodes[i] = n
		if groups[t.Group] == nil {
			groups[t.Group] = newProducers()
		}
		groups[t.Group].add(n)
		if across {
			all.add(n)
		}
	}
	var edges []Edge
	for i, n := range nodes {
		w := walk{node: n, from: groups[tools[i].Group], best: make(map[[2]int]Edge)}
		if across {
			w.all = all
		}
		w.edges()
		for _, e := range w.best {
			if e.Confidence >= least {
				edges = append(edges, e)
			}
		}
	}
	slices.SortFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Consumer, b.Consumer),
			cmp.Compare(nodes[a.Consumer].place[a.Parameter], nodes[b.Consumer].place[b.Parameter]))
	})
	return edges, nil
}

const (
	identifierField   = 0.9
	otherField        = 0.6
	mentioned         = 0.8
	mentionedWord     = 0.5
	identifierByNames = 0.7
)

// A node is what the rules ask of a tool.
type node struct {
	index   int
	words   []string // of the name
	meaning names.Meaning
	params  []schema.Field
	place   map[string]int // of a parameter in params
	fields  []field        // of the result
}

// A field is one that a result has.
type field struct {
	schema.Field
	of *node
}

func newNode(index int, t Tool) (*node, error) {
	n := &node{index: index, words: names.Words(t.Name), meaning: names.MeaningOf(t.Name)}
	if len(t.Parameters) > 0 {
		s, err := schema.CompileRaw(t.Parameters)
		if err != nil {
			return nil, fmt.Errorf("parameters: %w", err)
		}
		n.params = s.Fields()
	}
	n.place = make(map[string]int, len(n.params))
	for i, p := range n.params {
		n.place[p.Name] = i
	}
	if len(t.Returns) == 0 {
		return n, nil
	}
	s, err := schema.CompileRaw(t.Returns)
	if err != nil {
		return nil, fmt.Errorf("returns: %w", err)
	}
	record := schema.RecordOf(s, n.meaning.Stem)
	if record.Schema != nil {
		for _, f := range record.Schema.Fields() {
			n.fields = append(n.fields, field{f, n})
		}
	}
	if record.Schema != s && s.Is(jsonval.Object) {
		for _, f := range s.Fields() {
			n.fields = append(n.fields, field{f, n})
		}
	}
	return n, nil
}

// Producers are the tools of a group, ready to be asked who produces something.
type producers struct {
	byWords map[string][]field // by the words of the field
	byStem  map[string][]field // the fields called just id, by the noun of their tool
	makers  map[string][]*node // tools that list, search or create, by noun
	names   trie
}

func newProducers() *producers {
	return &producers{byWords: make(map[string][]field), byStem: make(map[string][]field), makers: make(map[string][]*node)}
}

func (p *producers) add(n *node) {
	for _, f := range n.fields {
		key := strings.Join(f.Words, " ")
		p.byWords[key] = append(p.byWords[key], f)
		if stem := n.meaning.Stem; key == "id" && stem != "" {
			p.byStem[stem] = append(p.byStem[stem], f)
		}
	}
	switch n.meaning.Class {
	case names.ListVerb, names.SearchVerb, names.CreateVerb:
		if stem := n.meaning.Stem; stem != "" {
			p.makers[stem] = append(p.makers[stem], n)
		}
	}
	p.names.add(n)
}

// A trie finds tools by the words of their names.
type trie struct {
	next  map[string]*trie
	tools []*node
}

func (t *trie) add(n *node) {
	for _, w := range n.words {
		if t.next == nil {
			t.next = make(map[string]*trie)
		}
		if t.next[w] == nil {
			t.next[w] = new(trie)
		}
		t = t.next[w]
	}
	t.tools = append(t.tools, n)
}

// in calls found for each tool whose name the text contains word for word.
func (t *trie) in(text []string, found func(*node)) {
	for i := range text {
		at := t
		for _, w := range text[i:] {
			if at = at.next[w]; at == nil {
				break
			}
			for _, n := range at.tools {
				found(n)
			}
		}
	}
}

// A walk collects the edges that lead to one tool.
type walk struct {
	*node
	from *producers
	all  *producers      // of every group; nil unless edges may cross groups
	best map[[2]int]Edge // by producer and place of the parameter
}

func (w *walk) edges() {
	for at, p := range w.params {
		w.fields(at, w.from)
		if w.all != nil && schema.IsIdentifier(p.Words) {
			w.fields(at, w.all)
		}
		w.from.names.in(names.Words(p.Schema.Description), func(producer *node) {
			confidence := mentioned
			if len(producer.words) == 1 {
				confidence = mentionedWord
			}
			w.note(at, producer, "", "mention", confidence)
		})
	}
	switch w.meaning.Class {
	case names.GetVerb, names.UpdateVerb, names.DeleteVerb:
		var required []schema.Field
		for _, p := range w.params {
			if p.Required {
				required = append(required, p)
			}
		}
		if i := schema.IdentifierOf(required, w.meaning.Stem); i >= 0 {
			for _, producer := range w.from.makers[w.meaning.Stem] {
				w.note(w.place[required[i].Name], producer, "", "identifier", identifierByNames)
			}
		}
	}
}

// fields notes the producers whose result has the parameter as a field.
func (w *walk) fields(at int, from *producers) {
	p := w.params[at]
	confidence := otherField
	if schema.IsIdentifier(p.Words) {
		confidence = identifierField
	}
	for _, f := range from.byWords[strings.Join(p.Words, " ")] {
		if len(p.Words) > 0 && schema.Alike(f.Schema, p.Schema) {
			w.note(at, f.of, f.Name, "field", confidence)
		}
	}
	if n := len(p.Words); n > 1 && p.Words[n-1] == "id" {
		for _, f := range from.byStem[strings.Join(p.Words[:n-1], " ")] {
			if schema.Alike(f.Schema, p.Schema) {
				w.note(at, f.of, f.Name, "field", confidence)
			}
		}
	}
}

// note keeps an edge that is more confident than what was found before.
func (w *walk) note(at int, producer *node, field, rule string, confidence float64) {
	key := [2]int{producer.index, at}
	if producer.index == w.index || w.best[key].Confidence >= confidence {
		return
	}
	w.best[key] = Edge{producer.index, w.index, field, w.params[at].Name, rule, confidence}
}
