package simulate

import (
	"bytes"
	"cmp"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A tool is a tool with what is derived from it. It is immutable and shared by all sessions.
type tool struct {
	midtool.Tool
	meaning names.Meaning
	params  *schema.Schema // nil if unknown
	returns *schema.Schema // nil if unknown
	fields  []schema.Field // parameters
	id      int            // index in fields of the identifier of what the tool is about; -1 if there is none
	plural  bool           // the name speaks of many
	number  uint32         // different for each tool of a catalog
}

// newTool reads a tool. A schema that cannot be read is as good as none.
func newTool(t midtool.Tool) *tool {
	out := &tool{Tool: t, meaning: names.MeaningOf(t.Name), id: -1}
	if len(t.Parameters) > 0 {
		out.params, _ = schema.CompileRaw(t.Parameters)
	}
	if len(t.Returns) > 0 {
		out.returns, _ = schema.CompileRaw(t.Returns)
	}
	if out.params != nil {
		out.fields = out.params.Fields()
		out.id = schema.IdentifierOf(out.fields, out.meaning.Stem)
	}
	if noun := out.meaning.Noun; len(noun) > 0 {
		last := noun[len(noun)-1]
		out.plural = last == "all" || names.Singular(last) != last
	}
	return out
}

// identifier is the argument that identifies what the tool is about; nil if there is none.
func (t *tool) identifier(args *jsonval.Value) *jsonval.Value {
	if t.id < 0 {
		return nil
	}
	return args.Get(t.fields[t.id].Name)
}

// owner is the noun whose identifier the tool takes: "user" for user_id; empty for a plain id.
func (t *tool) owner() string {
	words := t.fields[t.id].Words
	return strings.Join(words[:len(words)-1], " ")
}

// refuse says what is wrong with arguments, field first; it returns "" for arguments that follow the tool's schema. An
// argument that the schema does not speak of is refused, as servers do.
func (t *tool) refuse(args *jsonval.Value) string {
	if args.Kind != jsonval.Object {
		return "arguments: not an object"
	}
	if t.params == nil {
		return ""
	}
	if !t.params.Accepts(args) {
		if faults := t.params.Faults(args); len(faults) > 0 {
			return t.explain(args, faults[0].Path, faults[0].Keyword)
		}
		return "arguments: are not valid" // no more is known where checking costs too much
	}
	if t.params.Additional == nil || t.params.Additional.Never {
		for i := range args.Members {
			if key := args.Members[i].Key; t.params.Member(key) == nil {
				return named(key) + ": is not a parameter"
			}
		}
	}
	return ""
}

// explain says in words what a fault is.
func (t *tool) explain(args *jsonval.Value, path, keyword string) string {
	field := strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", ".")
	switch keyword {
	case "required":
		has := args.Lookup(len(t.params.Required))
		for _, name := range t.params.Required {
			if field == "" && has(name) == nil {
				return named(name) + ": is required"
			}
		}
		return named(field) + ": lacks a required field"
	case "type":
		return named(field) + ": has the wrong type"
	case "enum", "const":
		return named(field) + ": is not one of the allowed values"
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return named(field) + ": is out of range"
	}
	return named(field) + ": is not valid"
}

func named(field string) string { return cmp.Or(plain(field), "arguments") }

// plain makes a name or a value of a stranger fit for a message that others quote: short, on one line, without
// marks of any format. It returns "" for what cannot be quoted so.
func plain(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 80 || strings.ContainsAny(s, "<>{}`\"\\") || strings.Contains(s, "..") {
		return ""
	}
	return s
}

// A catalog holds what is derived from tools, so that this is done once however many sessions there are. It is safe for
// concurrent use.
type catalog struct {
	mu    sync.RWMutex
	tools map[string][]*tool // by name
	kinds map[string]*kind   // by the stem and the numbers of the tools
	count uint32
}

// A catalog that has seen more tools than any collection has starts anew, so that a stream of tools without end does
// not fill the memory. What was handed out stays valid.
const maxTools = 1 << 16

// all looks up tools, in order.
func (c *catalog) all(tools []midtool.Tool) []*tool {
	out := make([]*tool, len(tools))
	missing := false
	c.mu.RLock()
	for i := range tools {
		out[i] = c.find(&tools[i])
		missing = missing || out[i] == nil
	}
	c.mu.RUnlock()
	for i := range out {
		if missing && out[i] == nil {
			out[i] = c.add(tools[i])
		}
	}
	return out
}

func (c *catalog) get(t *midtool.Tool) *tool {
	c.mu.RLock()
	found := c.find(t)
	c.mu.RUnlock()
	if found == nil {
		found = c.add(*t)
	}
	return found
}

func (c *catalog) find(t *midtool.Tool) *tool { return among(c.tools[t.Name], t) }

// among finds what is known of a tool; nil if nothing is.
func among(tools []*tool, t *midtool.Tool) *tool {
	for _, known := range tools {
		if known.Name == t.Name && known.ID == t.ID && bytes.Equal(known.Parameters, t.Parameters) && bytes.Equal(known.Returns, t.Returns) {
			return known
		}
	}
	return nil
}

func (c *catalog) add(t midtool.Tool) *tool {
	made := newTool(t) // outside the lock: it may take a while
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.find(&t); known != nil {
		return known
	}
	if c.tools == nil || len(c.tools) >= maxTools {
		c.tools, c.kinds = make(map[string][]*tool), make(map[string]*kind)
	}
	c.count++
	made.number = c.count
	c.tools[t.Name] = append(c.tools[t.Name], made)
	return made
}
