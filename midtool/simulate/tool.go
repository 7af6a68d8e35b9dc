package simulate

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A tool is what is derived from a tool. It is immutable and shared by all sessions.
type tool struct {
	identity
	meaning names.Meaning
	params  *schema.Schema // nil if unknown
	returns *schema.Schema // nil if unknown
	fields  []schema.Field // parameters
	id      int            // index in fields of the identifier of what the tool is about; -1 if there is none
	plural  bool           // the name speaks of many
	number  uint64         // different for each tool of a catalog
}

// newTool reads a tool. A schema that cannot be read is as good as none.
func newTool(i identity) *tool {
	out := &tool{identity: i, meaning: names.MeaningOf(i.Name), id: -1}
	if i.Parameters != "" {
		out.params, _ = schema.CompileRaw([]byte(i.Parameters))
	}
	if i.Returns != "" {
		out.returns, _ = schema.CompileRaw([]byte(i.Returns))
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

// identifiesOwn says whether the identifier that the tool takes, if any, is one of the noun.
func (t *tool) identifiesOwn(stem string) bool {
	return t.id >= 0 && (t.owner() == "" || t.owner() == stem)
}

// refuse says what is wrong with arguments, field first; it returns "" for arguments that follow the tool's schema. An
// argument that the schema does not speak of is refused, as servers do.
func (t *tool) refuse(args *jsonval.Value) string {
	if args.Kind != jsonval.Object {
		return "arguments: want object, got " + schemaWord(args.Kind.String())
	}
	if t.params == nil {
		return ""
	}
	if !t.params.Accepts(args) {
		if faults := t.params.Faults(args); len(faults) > 0 {
			return explain(field(faults[0].Path), faults[0])
		}
		return "arguments: are too costly to check"
	}
	if t.params.Additional == nil || t.params.Additional.Never {
		for i := range args.Members {
			if key := args.Members[i].Key; t.params.Member(key) == nil {
				return explain(key, schema.Fault{Keyword: "false"})
			}
		}
	}
	return ""
}

// field writes a JSON Pointer as people write the place of a field: at.x.
func field(path string) string {
	keys := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, key := range keys {
		keys[i] = pointerUnescape(key)
	}
	return strings.Join(keys, ".")
}

func pointerUnescape(key string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
}

// explain says what a fault is: the field and the rule in the words of JSON Schema.
func explain(field string, f schema.Fault) string {
	switch f.Keyword {
	case "required":
		if name, err := strconv.Unquote(strings.TrimPrefix(f.Detail, "missing ")); err == nil {
			return named(strings.TrimPrefix(field+"."+name, ".")) + ": is required"
		}
		return named(field) + ": lacks a required property"
	case "type":
		if got, want, ok := strings.Cut(f.Detail, " is not "); ok {
			return named(field) + ": want " + want + ", got " + schemaWord(got)
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		if got, want, ok := strings.Cut(f.Detail, " against "); ok && plain(got) != "" && plain(want) != "" {
			return named(field) + ": want " + f.Keyword + " " + want + ", got " + got
		}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		got, _, _ := strings.Cut(f.Detail, " ")
		if want := f.Detail[strings.LastIndexByte(f.Detail, ' ')+1:]; got != "" && want != "" {
			return named(field) + ": want " + f.Keyword + " " + want + ", got " + got
		}
	case "enum":
		return named(field) + ": is not in the enum"
	case "pattern":
		return named(field) + ": does not match the pattern"
	case "$ref":
		return named(field) + ": is too costly to check"
	case "false":
		return named(field) + ": is not a property"
	}
	return named(field) + ": breaks " + f.Keyword
}

// schemaWord is the name that JSON Schema has for a kind of value.
func schemaWord(kind string) string {
	if kind == jsonval.List.String() {
		return "array"
	}
	return kind
}

// named is the field as a message begins with it.
func named(field string) string {
	if field == "" {
		return "arguments"
	}
	return cmp.Or(plain(field), "an argument")
}

// plain makes a name or a value of a stranger fit for a message that others quote: short, on one line, without
// marks of any format. It returns "" for what cannot be quoted so.
func plain(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 80 || strings.ContainsAny(s, "<>{}`\"\\") || strings.Contains(s, "..") {
		return ""
	}
	return s
}
