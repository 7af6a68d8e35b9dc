package midtool

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/internal/spdx"
)

// Advice is one thing about a tool definition that hurts those who use it, with a repair where one is known.
type Advice struct {
	Code   string          // one of the list at [Lint]
	Path   string          // JSON Pointer into {"name", "description", "parameters", "returns", "license"}
	Detail string          // what was found
	Repair json.RawMessage // what to put at Path; nil where only its author can know
}

// String gives the place, the code and the detail, with the repair after an arrow.
func (a Advice) String() string {
	s := a.Path + ": " + a.Code
	if a.Detail != "" {
		s += ": " + a.Detail
	}
	if a.Repair != nil {
		s += " -> " + string(a.Repair)
	}
	return s
}

// Bounds of the advice (ours). Of 3,404 tools of MCP servers 10 have 15 parameters or more.
const (
	shortDescription = 20 // code points
	manyParameters   = 15
	maxLintBytes     = 256 << 10 // a repair holds the schema around it, so the work can grow by the depth
)

// Lint reads a tool definition as it came, before [Normalize], and advises its author, in the order of the paths and
// then of the codes. A sound tool has no advice, which is nil. Codes with a repair are marked by an asterisk; one that
// would move a schema from where a reference looks for it is left out.
//
// Of the tool:
//
//   - name_missing; name_characters*: not 1 to 64 of the characters A-Z, a-z, 0-9, "_" and "-", which model APIs ask for;
//   - description_missing; description_short: less than 20 code points; invalid_utf8: no text at all;
//   - license_missing; license_spelling*: a usual spelling of an SPDX identifier; license_unknown: any other text.
//
// Of a schema as a whole:
//
//   - parameters_missing*: absent or null; bad_schema, too_deep, remote_ref, bad_ref: the reasons of [Normalize];
//     too_large: more than 256 KiB, which are not looked into;
//   - top_level: no object, or a union, which most model APIs refuse; property_map*: bare properties in its place;
//   - many_parameters: more than 15; recursive: a part of it refers to what is around it, which some readers refuse.
//
// Of the schema of one value:
//
//   - type_word*: a type of another language; type_unknown*: a word that no schema has, which says nothing;
//   - nullable*, draft4* and required_boolean*: keywords of older dialects; keyword_kind*: a value that no reader
//     understands, or null; not_a_schema: a property that is no schema, with a repair* if it is a type word;
//   - items_missing*: an array that says nothing of its items;
//   - required_unknown*: names that are no properties, or named twice; required_optional*: names of properties whose
//     type word ends in ", optional";
//   - enum_duplicate*; enum_type: members that the type refuses; default_type*: a default that the type refuses, repaired
//     where its text is a value of the type and else taken out; default_enum: a default that the enum refuses;
//   - pattern_unsupported: a pattern outside Go's syntax, which is not checked;
//   - parameter_name: a property that model APIs refuse; parameter_description: a property without one;
//   - date_format*: a string that is described as YYYY-MM-DD, or by ISO 8601 or RFC 3339 as a date with a time, without
//     its format; type_in_name: a type word in the name of a property that is described as a date or time, which is what
//     is left when "date" was replaced by "string" everywhere.
func Lint(t Tool) []Advice {
	l := linter{}
	l.tool(&t)
	l.document("/parameters", t.Parameters, true)
	if len(t.Returns) > 0 {
		l.document("/returns", t.Returns, false)
	}
	slices.SortStableFunc(l.found, func(a, b Advice) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code)) })
	return l.found
}

// Repair returns the tool with all repairs of [Lint], those that become known by others too, and the advice that is
// left, for which only the author knows what is right. It changes the name, the license and the schemas and nothing
// else; a tool without repairs comes back as it is, byte for byte. The result needs [Normalize] as before.
func Repair(t Tool) (Tool, []Advice) {
	// Each round repairs every place that no other repair of the round encloses, so the rounds follow the nesting. A
	// schema has at most a handful of repairs at its own place.
	for range 8 * jsonval.MaxDepth {
		left := Lint(t)
		if !repairRound(&t, left) {
			return t, left
		}
	}
	return t, Lint(t)
}

func repairRound(t *Tool, advice []Advice) bool {
	var documents [2]*jsonval.Value
	done := make(map[string]bool) // paths repaired; what is below them waits
	for _, a := range advice {
		waits := false
		for at := a.Path; at != "" && !waits; at = at[:strings.LastIndexByte(at, '/')] {
			waits = done[at]
		}
		if a.Repair == nil || waits {
			continue
		}
		switch part, _, _ := strings.Cut(a.Path[1:], "/"); part {
		case "name":
			t.Name = textOf(a.Repair)
		case "license":
			t.License = textOf(a.Repair)
		default:
			raw, i := &t.Parameters, 0
			if part == "returns" {
				raw, i = &t.Returns, 1
			}
			value, err := jsonval.Parse(a.Repair)
			if err != nil {
				continue
			}
			if documents[i] == nil {
				documents[i] = new(jsonval.Value)
				*documents[i], _ = jsonval.Parse(*raw) // what cannot be read has no repair but the whole
			}
			put(documents[i], strings.TrimPrefix(a.Path, "/"+part), value)
		}
		done[a.Path] = true
	}
	if documents[0] != nil {
		t.Parameters = documents[0].Bytes(jsonval.Compact)
	}
	if documents[1] != nil {
		t.Returns = documents[1].Bytes(jsonval.Compact)
	}
	return len(done) > 0
}

func textOf(raw json.RawMessage) string {
	v, err := jsonval.Parse(raw)
	if err != nil {
		return ""
	}
	return jsonval.StringOf(&v)
}

// put replaces the value at a JSON Pointer, or adds the last key of it to an object.
func put(n *jsonval.Value, path string, v jsonval.Value) {
	if path == "" {
		*n = v
		return
	}
	for path != "" {
		key, rest, more := strings.Cut(path[1:], "/")
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		if n.Kind == jsonval.List {
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(n.List) {
				return
			}
			n = &n.List[i]
		} else {
			if n.Get(key) == nil {
				n.Set(key, jsonval.Value{})
			}
			n = n.Get(key)
		}
		if path = ""; more {
			path = "/" + rest
		}
	}
	*n = v
}

type linter struct {
	found []Advice
	refs  []string // all references of the document
	base  string   // its path
}

func (l *linter) advise(code, path, detail string, repair *jsonval.Value) {
	a := Advice{Code: code, Path: path, Detail: detail}
	if repair != nil {
		a.Repair = repair.Bytes(jsonval.Compact)
	}
	l.found = append(l.found, a)
}

func (l *linter) tool(t *Tool) {
	switch {
	case t.Name == "":
		l.advise("name_missing", "/name", "", nil)
	case !names.Exportable(t.Name):
		l.advise("name_characters", "/name", strconv.Quote(t.Name), new(jsonval.NewString(names.ExportName(t.Name))))
	}
	for _, f := range []struct{ path, text string }{{"/name", t.Name}, {"/description", t.Description}, {"/license", t.License}} {
		if !utf8.ValidString(f.text) {
			l.advise("invalid_utf8", f.path, strconv.QuoteToASCII(f.text), nil)
		}
	}
	switch d := strings.TrimSpace(t.Description); {
	case d == "":
		l.advise("description_missing", "/description", "", nil)
	case utf8.RuneCountInString(d) < shortDescription:
		l.advise("description_short", "/description", strconv.Quote(d), nil)
	}
	known := spdx.Known(t.License)
	switch id := spdx.Name(t.License); {
	case id == "":
		l.advise("license_missing", "/license", "", nil)
	case id != t.License && utf8.ValidString(id):
		l.advise("license_spelling", "/license", strconv.Quote(t.License), new(jsonval.NewString(id)))
	case !known:
		l.advise("license_unknown", "/license", strconv.Quote(t.License), nil)
	}
}

// document advises on one schema document at a path.
func (l *linter) document(path string, raw []byte, arguments bool) {
	if len(raw) == 0 || string(raw) == "null" {
		l.advise("parameters_missing", path, "", &emptyArguments)
		return
	}
	if len(raw) > maxLintBytes {
		l.advise("too_large", path, strconv.Itoa(len(raw))+" bytes", nil)
		return
	}
	root, bad := schema.ParseSchema(raw)
	if bad != nil {
		l.advise(bad.Reason, path, bad.Detail, nil)
		return
	}
	if arguments && isPropertyMap(&root) {
		l.advise("property_map", path, "",
			new(jsonval.NewObject(jsonval.Pair("type", jsonval.NewString("object")), jsonval.Pair("properties", root))))
		return
	}
	if _, err := schema.Compile(&root); err != nil {
		l.advise(err.Reason, path, err.Detail, nil)
	} else if recursive(&root) {
		l.advise("recursive", path, "", nil)
	}
	l.base, l.refs = path, nil
	eachRef(&root, func(ref *jsonval.Value) { l.refs = append(l.refs, ref.Text) })
	if arguments {
		l.top(path, &root)
	}
	l.schema(path, &root)
}

var emptyArguments = jsonval.NewObject(jsonval.Pair("type", jsonval.NewString("object")), jsonval.Pair("properties", jsonval.NewObject()))

func (l *linter) top(path string, root *jsonval.Value) {
	s, known := typeSchema(jsonval.StringOf(root.Get("type")), 0)
	isObject := known && jsonval.StringOf(s.Get("type")) == "object" || root.Get("type") == nil && (root.Get("properties") != nil || len(root.Members) == 0)
	union := ""
	for _, key := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
		if root.Get(key) != nil {
			union = cmp.Or(union, key)
		}
	}
	switch {
	case union != "":
		l.advise("top_level", path, union, nil)
	case !isObject:
		l.advise("top_level", path, "no object", nil)
	}
	if p := root.Get("properties"); p != nil && len(p.Members) > manyParameters {
		l.advise("many_parameters", path, strconv.Itoa(len(p.Members))+" properties", nil)
	}
}

// recursive says whether a reference leads to a schema around it, at once or by way of others.
func recursive(root *jsonval.Value) bool {
	const open, closed = 1, 2
	state := make(map[*jsonval.Value]int)
	var visit func(n *jsonval.Value) bool
	visit = func(n *jsonval.Value) bool {
		if state[n] != 0 || n.Kind != jsonval.Object {
			return state[n] == open
		}
		state[n] = open
		found := false
		eachSubschema(n, func(_ string, sub *jsonval.Value) { found = found || visit(sub) })
		if ref := n.Get("$ref"); !found && ref != nil {
			target, err := schema.Resolve(root, ref.Text)
			found = err == nil && visit(target)
		}
		state[n] = closed
		return found
	}
	return visit(root)
}

// eachSubschema visits the schemas just below n with their places.
func eachSubschema(n *jsonval.Value, visit func(path string, sub *jsonval.Value)) {
	for i := range n.Members {
		m := &n.Members[i]
		switch m.Key {
		case "properties", "$defs", "definitions", "patternProperties":
			for j := range m.Value.Members {
				visit("/"+m.Key+"/"+jsonval.PointerEscape(m.Value.Members[j].Key), &m.Value.Members[j].Value)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems", "items":
			for j := range m.Value.List {
				visit("/"+m.Key+"/"+strconv.Itoa(j), &m.Value.List[j])
			}
			if m.Key == "items" && m.Value.Kind == jsonval.Object {
				visit("/items", &m.Value)
			}
		case "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains", "propertyNames":
			visit("/"+m.Key, &m.Value)
		}
	}
}

// schema advises on a schema and those below it.
func (l *linter) schema(path string, n *jsonval.Value) {
	if n.Kind != jsonval.Object {
		return
	}
	l.dialect(path, n)
	l.types(path, n)
	l.values(path, n)
	l.properties(path, n)
	if p := n.Get("pattern"); p != nil && p.Kind == jsonval.String {
		if _, err := regexp.Compile(p.Text); err != nil {
			l.advise("pattern_unsupported", path+"/pattern", strconv.Quote(p.Text), nil)
		}
	}
	if p := n.Get("patternProperties"); p != nil {
		for i := range p.Members {
			if _, err := regexp.Compile(p.Members[i].Key); err != nil {
				l.advise("pattern_unsupported", path+"/patternProperties", strconv.Quote(p.Members[i].Key), nil)
			}
		}
	}
	eachSubschema(n, func(below string, sub *jsonval.Value) { l.schema(path+below, sub) })
}

// edited returns a copy of n after a change of its own members; those below are shared.
func edited(n *jsonval.Value, change func(*jsonval.Value)) *jsonval.Value {
	c := *n
	c.Members = slices.Clone(n.Members)
	change(&c)
	return &c
}

// moved returns a repair that may put the schemas below a path elsewhere, or nil if a reference leads there.
func (l *linter) moved(path string, repair *jsonval.Value) *jsonval.Value {
	below := "#" + strings.TrimPrefix(path, l.base) + "/"
	if slices.ContainsFunc(l.refs, func(ref string) bool {
		return strings.HasPrefix(ref, below) && !strings.HasPrefix(ref[len(below)-1:], "/$defs/")
	}) {
		return nil
	}
	return repair
}

// dialect advises on keywords of older drafts and those of the wrong kind.
func (l *linter) dialect(path string, n *jsonval.Value) {
	if n.Get("nullable") != nil {
		l.advise("nullable", path, "", l.moved(path, edited(n, applyNullable)))
	}
	for _, key := range []string{"exclusiveMinimum", "exclusiveMaximum", "items"} {
		v := n.Get(key)
		old := isBool(v)
		if key == "items" {
			old = v != nil && v.Kind == jsonval.List && n.Get("prefixItems") == nil
		}
		if old {
			l.advise("draft4", path, key, l.moved(path, edited(n, draft4)))
			return // the kinds of the others are looked at after
		}
	}
	for i := range n.Members {
		m := &n.Members[i]
		switch {
		case m.Key == "required" && m.Value.Kind == jsonval.Bool:
			// Its repair is known where the parent is; elsewhere it has no meaning.
		case wrongKind(m), isSubschema(m.Key) && !schema.IsSchema(&m.Value) && (m.Key != "items" || m.Value.Kind != jsonval.List):
			l.advise("keyword_kind", path, m.Key+" is "+m.Value.Kind.String(), edited(n, func(c *jsonval.Value) { c.Remove(m.Key) }))
		}
	}
}

// isSubschema holds for the keywords whose value is one schema.
func isSubschema(key string) bool {
	return slices.Contains([]string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"}, key)
}

// types advises on the type keyword and the items of arrays.
func (l *linter) types(path string, n *jsonval.Value) {
	if t := n.Get("type"); t != nil {
		z := normalizer{}
		fixed := edited(n, func(c *jsonval.Value) { z.types(c) })
		switch {
		case len(z.lossy) > 0:
			l.advise("type_unknown", path, t.Encode(jsonval.Compact), fixed)
		case len(fixed.Members) != len(n.Members) || fixed.Get("type") == nil || fixed.Get("type").Encode(jsonval.Compact) != t.Encode(jsonval.Compact):
			l.advise("type_word", path, t.Encode(jsonval.Compact), fixed)
		}
	}
	if t := n.Get("type"); t != nil && n.Get("items") == nil &&
		(jsonval.StringOf(t) == "array" || jsonval.Contains(t.List, jsonval.NewString("array"))) {
		l.advise("items_missing", path+"/items", "", new(jsonval.NewObject()))
	}
}

// values advises on enums and defaults.
func (l *linter) values(path string, n *jsonval.Value) {
	if n.Get("nullable") != nil {
		return // its repair adds a type
	}
	types := schema.TypesOf(n)
	enum := n.Get("enum")
	if enum != nil && enum.Kind == jsonval.List {
		if list := distinct(enum.List); len(list) < len(enum.List) {
			l.advise("enum_duplicate", path+"/enum", "", new(jsonval.NewList(list...)))
		}
		if i := slices.IndexFunc(enum.List, func(v jsonval.Value) bool { return !types.Accepts(&v) }); i >= 0 {
			l.advise("enum_type", path+"/enum", enum.List[i].Encode(jsonval.Compact), nil)
		}
	}
	d := n.Get("default")
	if d == nil {
		return
	}
	switch {
	case !types.Accepts(d):
		if v, ok := converted(d); ok && types.Accepts(&v) {
			l.advise("default_type", path+"/default", d.Encode(jsonval.Compact), &v)
		} else {
			l.advise("default_type", path, d.Encode(jsonval.Compact), edited(n, func(c *jsonval.Value) { c.Remove("default") }))
		}
	case enum != nil && enum.Kind == jsonval.List && len(enum.List) > 0 && !jsonval.Contains(enum.List, *d):
		l.advise("default_enum", path+"/default", d.Encode(jsonval.Compact), nil)
	}
}

// converted reads the text of a string as a value, and a number or boolean as text.
func converted(d *jsonval.Value) (jsonval.Value, bool) {
	switch d.Kind {
	case jsonval.Number, jsonval.Bool:
		return jsonval.NewString(d.Text), true
	case jsonval.String:
		v, err := jsonval.Parse([]byte(strings.ToLower(d.Text))) // True of Python is meant too
		return v, err == nil && (v.Kind == jsonval.Number || v.Kind == jsonval.Bool)
	}
	return jsonval.Value{}, false
}

// properties advises on the properties of an object and what is required of them.
func (l *linter) properties(path string, n *jsonval.Value) {
	z := normalizer{}
	if r := n.Get("required"); r != nil && r.Kind == jsonval.List {
		if trimmed := edited(n, z.required).Get("required"); len(trimmed.List) < len(r.List) {
			l.advise("required_unknown", path+"/required", strings.ReplaceAll(strings.Join(z.lossy, ", "), "required_dropped:", ""), trimmed)
		}
	}
	props := n.Get("properties")
	if props == nil || props.Kind != jsonval.Object {
		return
	}
	if r := n.Get("required"); r != nil && r.Kind == jsonval.List {
		of := props.Lookup(len(r.List))
		kept := slices.DeleteFunc(slices.Clone(r.List), func(name jsonval.Value) bool {
			p := of(name.Text)
			if p == nil {
				return false
			}
			_, optional := cutOptional(jsonval.StringOf(p.Get("type")))
			return optional
		})
		if len(kept) < len(r.List) {
			l.advise("required_optional", path+"/required", "", new(jsonval.NewList(kept...)))
		}
	}
	if slices.ContainsFunc(props.Members, func(m jsonval.Member) bool { return isBool(m.Value.Get("required")) }) {
		l.advise("required_boolean", path, "", lifted(n))
	}
	for i := range props.Members {
		m := &props.Members[i]
		l.property(path+"/properties/"+jsonval.PointerEscape(m.Key), m)
	}
}

func lifted(n *jsonval.Value) *jsonval.Value {
	c := n.Clone()
	liftRequired(&c)
	return &c
}

func isBool(v *jsonval.Value) bool { return v != nil && v.Kind == jsonval.Bool }

// property advises on one property by its name.
func (l *linter) property(path string, m *jsonval.Member) {
	if !parameterName.MatchString(m.Key) {
		l.advise("parameter_name", path, strconv.Quote(m.Key), nil)
	}
	switch {
	case m.Value.Kind == jsonval.Bool && m.Value.Text == "true":
	case m.Value.Kind == jsonval.String:
		if s, ok := typeSchema(m.Value.Text, 0); ok {
			l.advise("not_a_schema", path, m.Value.Encode(jsonval.Compact), &s)
			return
		}
		fallthrough
	case m.Value.Kind != jsonval.Object:
		l.advise("not_a_schema", path, m.Value.Kind.String(), nil)
		return
	}
	description := jsonval.StringOf(m.Value.Get("description"))
	if strings.TrimSpace(description) == "" {
		l.advise("parameter_description", path, "", nil)
		return
	}
	words := names.Words(description)
	if f := statedFormat(description, words); f != "" && isPlainString(&m.Value) {
		l.advise("date_format", path+"/format", "", new(jsonval.NewString(f)))
	}
	if slices.Contains(words, "date") || slices.Contains(words, "time") {
		for _, w := range names.Words(m.Key) {
			switch w {
			case "string", "str", "integer", "int", "float", "boolean", "bool", "object", "dict":
				l.advise("type_in_name", path, m.Key, nil)
				return
			}
		}
	}
}

// The names of properties that the APIs of large models take.
var parameterName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// statedFormat reads the format that a description states in so many letters.
func statedFormat(description string, words []string) string {
	upper := strings.ToUpper(description)
	hours := strings.Contains(upper, "HH") || slices.Contains(words, "time") || slices.Contains(words, "timestamp") || slices.Contains(words, "datetime")
	switch {
	case strings.Contains(upper, "YYYY-MM-DD") && !hours:
		return "date"
	case (strings.Contains(upper, "ISO 8601") || strings.Contains(upper, "RFC 3339") || strings.Contains(upper, "RFC3339") || strings.Contains(upper, "ISO8601")) &&
		hours && (slices.Contains(words, "date") || slices.Contains(words, "timestamp") || slices.Contains(words, "datetime")):
		return "date-time"
	}
	return ""
}

// isPlainString holds for a string of which nothing says how it looks.
func isPlainString(n *jsonval.Value) bool {
	return jsonval.StringOf(n.Get("type")) == "string" && n.Get("format") == nil && n.Get("pattern") == nil && n.Get("enum") == nil && n.Get("const") == nil
}
