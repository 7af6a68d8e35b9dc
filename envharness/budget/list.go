package budget

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/toolschema"
)

// maxLists is how many lists of tools are kept: those of a chain of worlds, or before and after a component changes them.
const maxLists = 4

// A list is what was read from one list of tools, together with the skills. Its texts are the skills, then the tools.
type list struct {
	chooser  *Chooser
	tools    []envharness.Tool
	rendered []string // of tools
	tokens   []int    // of texts
	index    *bps.Index
	position map[string]int // of texts that are tools, by name
	pinned   []int          // texts, ascending; all tools are among them where complete is set
	complete bool           // all tools are chosen, whatever the query is
	whole    []int          // texts that are not excluded, ascending
	all      int            // tokens of whole
}

// read returns the list of these tools, which is kept if it was read before.
func (c *Chooser) read(tools []envharness.Tool) (*list, error) {
	for i, l := range c.lists {
		if slices.EqualFunc(l.tools, tools, same) {
			copy(c.lists[1:i+1], c.lists[:i])
			c.lists[0] = l
			return l, nil
		}
	}
	l, err := c.newList(tools)
	if err != nil {
		return nil, err
	}
	c.lists = slices.Insert(c.lists, 0, l)
	if len(c.lists) > maxLists {
		c.lists[maxLists] = nil
		c.lists = c.lists[:maxLists]
	}
	return l, nil
}

// same reports whether two tools are the same in all that the chooser reads.
func same(a, b envharness.Tool) bool {
	return a.Name == b.Name && a.Submits == b.Submits && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

func (c *Chooser) newList(tools []envharness.Tool) (*list, error) {
	skills := len(c.skills)
	l := &list{
		chooser:  c,
		tools:    slices.Clone(tools),
		rendered: make([]string, len(tools)),
		tokens:   slices.Grow(slices.Clone(c.tokens), len(tools)),
		position: make(map[string]int, len(tools)),
		pinned:   slices.Clone(c.pinned),
	}
	texts := slices.Grow(slices.Clone(c.skills), len(tools))
	for i, t := range tools {
		if j, ok := l.position[t.Name]; ok {
			return nil, fmt.Errorf("tools %d and %d are both called %q, want names that are unique", j-skills, i, t.Name)
		}
		l.position[t.Name] = skills + i
		text, err := writeTool(t)
		if err != nil {
			return nil, fmt.Errorf("tool %d, %q: %w", i, t.Name, err)
		}
		n, err := c.counted(text)
		if err != nil {
			return nil, fmt.Errorf("tool %d, %q: %w", i, t.Name, err)
		}
		l.rendered[i] = text
		l.tokens = append(l.tokens, n)
		if t.Submits || c.names[t.Name] {
			l.pinned = append(l.pinned, skills+i)
		}
		texts = append(texts, bps.Text{Name: t.Name, Description: t.Description, Body: words(t.Schema)})
	}
	for k := range texts {
		if !slices.Contains(c.excluded, k) {
			l.whole = append(l.whole, k)
		}
	}
	var err error
	if l.all, err = l.count(l.whole); err != nil {
		return nil, err
	}
	if err = l.toolsFirst(); err != nil {
		return nil, err
	}
	// The index hands over the plain text, and what is counted is the rendered one. Texts that are equal without marks between their parts
	// cost nearly the same, and what is offered is counted again as a whole.
	plain := make(map[string]int, len(texts))
	for k, t := range texts {
		plain[t.String()] = l.tokens[k]
	}
	l.index, err = bps.NewIndex(texts, func(s string) int { return plain[s] })
	return l, err
}

// toolsFirst pins all tools if they fit together with the pinned skills and tokens have no penalty: a skill is of use, but no task can do
// without the one tool that it needs.
func (l *list) toolsFirst() error {
	c := l.chooser
	if c.priced() {
		return nil
	}
	set := slices.Clone(c.pinned)
	for i := range l.tools {
		set = append(set, len(c.skills)+i)
	}
	n, err := l.count(set)
	if err == nil && n <= c.budget {
		l.pinned, l.complete = set, true
	}
	return err
}

// count returns the tokens of some texts, ascending, as a request has them.
func (l *list) count(set []int) (int, error) {
	if len(set) == 0 {
		return 0, nil
	}
	c := l.chooser
	first, _ := slices.BinarySearch(set, len(c.skills))
	total := c.text.Overhead
	if first > 0 {
		n, err := c.counted(c.instructions(set[:first]))
		if err != nil {
			return 0, err
		}
		total = sum(total, n)
	}
	if first < len(set) {
		n, err := c.counted(l.array(set[first:]))
		if err != nil {
			return 0, err
		}
		total = sum(total, n)
	}
	return total, nil
}

// counted returns the tokens of a text.
func (c *Chooser) counted(text string) (int, error) {
	n := c.count(text)
	if n < 0 {
		return 0, fmt.Errorf("%w: Count gives %d for %.40q..., want >= 0", bps.ErrTokens, n, text)
	}
	return n, nil
}

// parts returns the tokens of some texts, counted one by one, and an overhead.
func (l *list) parts(set []int, overhead int) int {
	for _, k := range set {
		overhead = sum(overhead, l.tokens[k])
	}
	return overhead
}

// sum returns a + b, both at least 0, or the largest int if that is more.
func sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// array returns the tools of a request.
func (l *list) array(set []int) string {
	size := 1 + len(set)
	for _, k := range set {
		size += len(l.rendered[k-len(l.chooser.skills)])
	}
	b := make([]byte, 0, size)
	for i, k := range set {
		b = append(b, "[,"[min(i, 1)])
		b = append(b, l.rendered[k-len(l.chooser.skills)]...)
	}
	return string(append(b, ']'))
}

// name says which text a position is.
func (l *list) name(k int) string {
	if n := len(l.chooser.skills); k >= n {
		return fmt.Sprintf("tool %q", l.tools[k-n].Name)
	}
	return fmt.Sprintf("skill %q", l.chooser.skills[k].Name)
}

// writeTool returns a tool as the chat completions API gets it.
func writeTool(t envharness.Tool) (string, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	f := function{t.Name, t.Description, toolschema.Object(t.Schema)}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", f}); err != nil {
		return "", fmt.Errorf("the schema is no JSON: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// words returns what a schema says in words: names of properties, titles, descriptions and constants.
func words(schema json.RawMessage) string {
	var v any
	if json.Unmarshal(schema, &v) != nil {
		return "" // there is none
	}
	var b strings.Builder
	collect(v, &b)
	return b.String()
}

func collect(v any, b *strings.Builder) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collect(e, b)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch key {
			case "title", "description", "const", "enum", "default":
				literal(v[key], b)
			case "properties", "$defs", "definitions":
				named, _ := v[key].(map[string]any)
				for _, name := range slices.Sorted(maps.Keys(named)) {
					literal(name, b)
					collect(named[name], b)
				}
			default:
				collect(v[key], b)
			}
		}
	}
}

// literal writes strings, also those in a list.
func literal(v any, b *strings.Builder) {
	switch v := v.(type) {
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
	case []any:
		for _, e := range v {
			literal(e, b)
		}
	}
}
