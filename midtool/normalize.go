package midtool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/internal/spdx"
)

// A Rejection says why a tool, one planned sample of it, or a schema was left out. It is the error of [Normalize],
// [CompileSchema] and [Schema.Instance].
type Rejection struct {
	Tool   string // name of the tool; empty if it has none, or for a schema alone
	ToolID string // empty before normalization
	Group  string
	Origin Origin // where the tool was read
	Sample string // ID of the planned or imported sample; empty when the tool itself is rejected
	Path   string // JSON Pointer into the tool or the sample; empty for the whole
	Reason string // a short code; see [Normalize] and [Validate]
	Detail string // what was found; may be empty
}

// Error gives the place, the tool, the sample, the reason and the detail, as far as they are known.
func (r *Rejection) Error() string {
	s := "midtool: "
	if r.Origin.Locator != "" {
		s += r.Origin.Locator + ": "
		if r.Origin.Line > 0 { // of a document over many lines there is none
			s = fmt.Sprintf("midtool: %s:%d: ", r.Origin.Locator, r.Origin.Line)
		}
	}
	switch {
	case r.Tool != "" && r.Sample != "":
		s += fmt.Sprintf("tool %q, sample %q: ", r.Tool, r.Sample)
	case r.Tool != "":
		s += fmt.Sprintf("tool %q: ", r.Tool)
	case r.Sample != "":
		s += fmt.Sprintf("sample %q: ", r.Sample)
	}
	s += r.Reason
	if r.Path != "" {
		s += " at " + r.Path
	}
	if r.Detail != "" {
		s += ": " + r.Detail
	}
	return s
}

// Normalize returns the tool with its Parameters and Returns in one dialect of JSON Schema, its ID, its Lossy steps,
// and a usual spelling of a common License as its SPDX identifier ("The MIT License" as "MIT"; others stay). It walks
// schema positions only and never replaces text, so that a parameter named "type" or a description with the word "date"
// stays as it is. In order:
//
//   - type words of other languages become JSON types (int32, List[str], Map<str,int>, Optional[T], "int | None",
//     "string, optional"; date and datetime become strings with a format; "any" is no type); an unknown word is removed;
//   - parameters null or {} become an object without properties, and a bare map of names to schemas its properties; a
//     top-level union of objects becomes one object, a reference is put in its place, and any other top level becomes
//     the required property "value";
//   - a property whose schema is no schema is dropped, true becomes {}, and keywords of the wrong kind are dropped;
//   - "nullable" becomes the type "null", boolean exclusive bounds and item lists of draft 4 become numbers and
//     "prefixItems", and "required": true of draft 3 becomes an entry in the list of the parent;
//   - an array without an item schema gets "items": {}; "required" names existing properties only; a default of the
//     wrong type and equal enum members go; "$schema" goes.
//
// Steps that change what the schema accepts, or guess what it means, are appended to Lossy: unknown_type:WORD,
// type_dropped, keyword_dropped:KEYWORD, property_dropped:NAME, required_dropped:NAME, default_dropped, items_added,
// property_map, top_union_merged, top_union_dropped, top_type, wrapped, returns_dropped:REASON. Key order is kept. Normalize is idempotent. The ID
// is "t_" and the first 16 hex digits of SHA-256 over the canonical JSON of [name, description, parameters]: keys sorted
// by their UTF-8 bytes, no spaces, only the quote, the backslash and control characters escaped, integers as they are
// and other numbers in the shortest float64 form that keeps a point or an exponent.
//
// The error is a [*Rejection] with reason no_name, invalid_utf8, bad_schema, remote_ref (a reference leaves its
// document), bad_ref (it leads nowhere) or too_deep (more than 64 levels).
func Normalize(t Tool) (Tool, error) {
	reject := func(reason, detail string) (Tool, error) {
		return Tool{}, &Rejection{Tool: t.Name, Group: t.Group, Origin: t.Origin, Reason: reason, Detail: detail}
	}
	switch {
	case t.Name == "":
		return reject("no_name", "")
	}
	for _, text := range []string{t.Name, t.Original, t.Title, t.Description, t.Group, t.License, t.LicenseFrom} {
		if !utf8.ValidString(text) {
			return reject("invalid_utf8", strconv.QuoteToASCII(text))
		}
	}
	z := normalizer{lossy: slices.Clone(t.Lossy)}
	params, err := z.document(t.Parameters, true)
	if err != nil {
		return reject(err.Reason, err.Detail)
	}
	t.Parameters = params.Bytes(jsonval.Compact)
	if len(t.Returns) > 0 {
		if returns, err := z.document(t.Returns, false); err != nil {
			t.Returns = nil // a tool is usable without
			z.loss("returns_dropped:" + err.Reason)
		} else {
			t.Returns = returns.Bytes(jsonval.Compact)
		}
	}
	t.Lossy = z.lossy
	t.License = spdx.Name(t.License)
	t.ID = toolID(t.Name, t.Description, params)
	return t, nil
}

func toolID(name, description string, params jsonval.Value) string {
	id := jsonval.NewList(jsonval.NewString(name), jsonval.NewString(description), params)
	sum := sha256.Sum256(id.Bytes(jsonval.Canonical))
	return "t_" + hex.EncodeToString(sum[:8])
}

type normalizer struct{ lossy []string }

func (z *normalizer) loss(step string) { z.lossy = append(z.lossy, step) }

// document normalizes one schema document; arguments asks for an object at the top.
func (z *normalizer) document(raw []byte, arguments bool) (jsonval.Value, *schema.Error) {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "true" {
		raw = []byte("{}")
	}
	root, err := schema.ParseSchema(raw)
	if err != nil {
		return root, err
	}
	if root.Kind == jsonval.Bool && root.Text == "false" {
		return root, &schema.Error{Reason: "bad_schema", Detail: "the schema false accepts nothing"}
	}
	if arguments && isPropertyMap(&root) {
		root = jsonval.NewObject(jsonval.Pair("type", jsonval.NewString("object")), jsonval.Pair("properties", root))
		z.loss("property_map")
	}
	z.schema(&root)
	if arguments {
		if err := z.top(&root); err != nil {
			return jsonval.Value{}, err
		}
	}
	if root.Depth() > jsonval.MaxDepth {
		return jsonval.Value{}, &schema.Error{Reason: "too_deep", Detail: "nested deeper than 64"}
	}
	if _, err := schema.Compile(&root); err != nil {
		return jsonval.Value{}, err
	}
	return root, nil
}

// schema normalizes one schema object in place and reports whether its type word said that the property is optional.
func (z *normalizer) schema(n *jsonval.Value) (optional bool) {
	n.Remove("$schema")
	draft4(n)
	z.keywords(n)
	liftRequired(n)
	optional = z.types(n)
	z.children(n)
	z.objects(n)
	z.arrays(n)
	if e := n.Get("enum"); e != nil {
		e.List = distinct(e.List)
	}
	applyNullable(n)
	if d := n.Get("default"); d != nil && !schema.TypesOf(n).Accepts(d) {
		n.Remove("default")
		z.loss("default_dropped")
	}
	return optional
}

// isPropertyMap recognizes the bare properties of an object, as some data sets have them in place of its schema: every
// member is a schema that says something, and none is a keyword that would have an object for its value.
func isPropertyMap(n *jsonval.Value) bool {
	return len(n.Members) > 0 && !slices.ContainsFunc(n.Members, func(m jsonval.Member) bool {
		switch m.Key {
		case "properties", "patternProperties", "additionalProperties", "propertyNames", "$defs", "definitions", "items", "not", "if", "then",
			"else", "contains", "const", "default", "example", "dependencies", "dependentSchemas", "dependentRequired",
			"additionalItems", "unevaluatedItems", "unevaluatedProperties", "contentSchema":
			return true
		}
		return m.Value.Get("type") == nil && m.Value.Get("description") == nil
	})
}

// distinct keeps the first of equal values.
func distinct(list []jsonval.Value) []jsonval.Value {
	seen := make(jsonval.Set)
	return slices.DeleteFunc(slices.Clone(list), func(v jsonval.Value) bool { return !seen.Add(v) })
}

// applyNullable replaces "nullable" by a type.
func applyNullable(n *jsonval.Value) {
	v := n.Get("nullable")
	if v == nil {
		return
	}
	on := v.Kind == jsonval.Bool && v.Text == "true"
	n.Remove("nullable")
	if on {
		*n = nullable(*n)
	}
}

// draft4 turns boolean exclusive bounds into numbers, and a list of items with the schema of those after it into
// "prefixItems" and "items".
func draft4(n *jsonval.Value) {
	for _, k := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		x := n.Get(k[0])
		if x == nil || x.Kind != jsonval.Bool {
			continue
		}
		if bound := n.Get(k[1]); x.Text == "true" && bound != nil && bound.Kind == jsonval.Number {
			*x = *bound
			n.Remove(k[1])
		} else {
			n.Remove(k[0])
		}
	}
	if items := n.Get("items"); items != nil && items.Kind == jsonval.List && n.Get("prefixItems") == nil {
		for i := range n.Members {
			switch m := &n.Members[i]; m.Key {
			case "items":
				m.Key = "prefixItems"
			case "additionalItems":
				m.Key = "items"
			}
		}
	}
}

// keywords drops keywords whose value is of the wrong kind: they would refuse everything or nothing, depending on the
// reader. A null, and a list for a map that is empty, are how some languages write that there is none.
func (z *normalizer) keywords(n *jsonval.Value) {
	n.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m jsonval.Member) bool {
		bad := wrongKind(&m)
		nothing := m.Value.Kind == jsonval.Null || m.Value.Kind == jsonval.List && len(m.Value.List) == 0 && schema.KeywordKinds[m.Key] == jsonval.Object
		if bad && !nothing && !schema.IsAnnotation(m.Key) {
			z.loss("keyword_dropped:" + m.Key)
		}
		return bad
	})
}

// wrongKind holds for a keyword whose value no reader understands.
func wrongKind(m *jsonval.Member) bool {
	want, known := schema.KeywordKinds[m.Key]
	switch {
	case !known:
		return false
	case m.Value.Kind != want:
		return true
	case m.Key == "enum":
		return len(m.Value.List) == 0
	case m.Key == "multipleOf":
		return jsonval.Sign(m.Value.Text) <= 0
	case want == jsonval.Number && (strings.HasSuffix(m.Key, "Length") || strings.HasSuffix(m.Key, "Items") || strings.HasSuffix(m.Key, "Properties")):
		_, ok := jsonval.Count(m.Value.Text)
		return !ok
	}
	return false
}

// types rewrites the type keyword.
func (z *normalizer) types(n *jsonval.Value) (optional bool) {
	t := n.Get("type")
	if t == nil {
		return false
	}
	switch t.Kind {
	case jsonval.String:
		var word string
		word, optional = cutOptional(t.Text)
		s, ok := typeSchema(word, 0)
		if !ok {
			z.loss("unknown_type:" + word)
		}
		z.applyType(n, s)
	case jsonval.List:
		var names []jsonval.Value
		var only jsonval.Value // what the one word that is not "null" stands for
		for _, e := range t.List {
			s, ok := typeSchema(e.Text, 0)
			name := s.Get("type")
			if ok && e.Kind == jsonval.String && name == nil { // "any"
				n.Remove("type")
				return false
			}
			if !ok || e.Kind != jsonval.String || name.Kind != jsonval.String {
				z.loss("unknown_type:" + e.Encode(jsonval.Compact))
				continue
			}
			if !jsonval.Contains(names, *name) {
				names = append(names, *name)
			}
			if name.Text != "null" {
				only = s
			}
		}
		switch nulls := jsonval.Contains(names, jsonval.NewString("null")); {
		case len(names) == 0:
			n.Remove("type")
		case len(names) == 1 && !nulls:
			z.applyType(n, only)
		case len(names) == 2 && nulls:
			z.applyType(n, only)
			n.Set("type", jsonval.NewList(names...))
		default:
			n.Set("type", jsonval.NewList(names...))
		}
	default:
		n.Remove("type")
		z.loss("keyword_dropped:type")
	}
	return optional
}

// applyType puts the members of a type schema in place of the type keyword; what the schema states itself stays.
func (z *normalizer) applyType(n *jsonval.Value, s jsonval.Value) {
	if s.Get("type") == nil {
		n.Remove("type")
	}
	for _, m := range s.Members {
		switch {
		case m.Key == "type" || n.Get(m.Key) == nil:
			n.Set(m.Key, m.Value)
		case m.Key == "anyOf":
			z.loss("type_dropped")
		}
	}
	if s.Get("anyOf") != nil {
		n.Remove("type")
	}
}

// children normalizes every subschema and drops what is none.
func (z *normalizer) children(n *jsonval.Value) {
	for i := 0; i < len(n.Members); i++ {
		m := &n.Members[i]
		switch m.Key {
		case "properties", "$defs", "definitions", "patternProperties":
			z.named(n, m)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			before := len(m.Value.List)
			m.Value.List = slices.DeleteFunc(slices.Clone(m.Value.List), func(s jsonval.Value) bool { return !schema.IsSchema(&s) })
			if len(m.Value.List) < before {
				z.loss("keyword_dropped:" + m.Key)
			}
			for j := range m.Value.List {
				if m.Value.List[j].Kind == jsonval.Object {
					z.schema(&m.Value.List[j])
				}
			}
		case "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames":
			switch {
			case m.Value.Kind == jsonval.Object:
				z.schema(&m.Value)
			case m.Value.Kind != jsonval.Bool:
				z.loss("keyword_dropped:" + m.Key)
				n.Members = slices.Delete(n.Members, i, i+1)
				i--
			}
		case "items":
			if m.Value.Kind == jsonval.Object {
				z.schema(&m.Value)
			}
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		if l := n.Get(key); l != nil && len(l.List) == 0 {
			n.Remove(key)
		}
	}
}

// named normalizes a map of schemas.
func (z *normalizer) named(n *jsonval.Value, m *jsonval.Member) {
	var kept []jsonval.Member
	optional := make(map[string]bool)
	for _, p := range m.Value.Members {
		switch {
		case p.Value.Kind == jsonval.Object:
			optional[p.Key] = z.schema(&p.Value)
		case p.Value.Kind == jsonval.Bool && p.Value.Text == "true":
			p.Value = jsonval.NewObject()
		default:
			z.loss("property_dropped:" + p.Key)
			continue
		}
		kept = append(kept, p)
	}
	m.Value.Members = kept
	if r := n.Get("required"); r != nil && m.Key == "properties" {
		r.List = slices.DeleteFunc(slices.Clone(r.List), func(v jsonval.Value) bool { return optional[v.Text] })
	}
}

// liftRequired moves the "required" that properties of draft 3 have themselves to their parent.
func liftRequired(n *jsonval.Value) {
	props := n.Get("properties")
	if props == nil {
		return
	}
	var lifted []jsonval.Value
	for i := range props.Members {
		p := &props.Members[i]
		r := p.Value.Get("required")
		if !isBool(r) {
			continue
		}
		if r.Text == "true" {
			lifted = append(lifted, jsonval.NewString(p.Key))
		}
		p.Value.Members = slices.Clone(p.Value.Members)
		p.Value.Remove("required")
	}
	if len(lifted) == 0 {
		return
	}
	var list []jsonval.Value
	if r := n.Get("required"); r != nil {
		list = r.List
	}
	n.Set("required", jsonval.NewList(distinct(slices.Concat(list, lifted))...))
}

// objects gives an object its properties and trims "required".
func (z *normalizer) objects(n *jsonval.Value) {
	if jsonval.StringOf(n.Get("type")) == "object" && n.Get("properties") == nil {
		n.Set("properties", jsonval.NewObject())
	}
	z.required(n)
}

// required trims "required" to the names of properties, each once.
func (z *normalizer) required(n *jsonval.Value) {
	r := n.Get("required")
	if r == nil {
		return
	}
	// A branch that only says {"required": [...]}, or a schema built from others, names properties found elsewhere.
	elsewhere := n.Get("properties") == nil || n.Get("$ref") != nil || n.Get("allOf") != nil || n.Get("anyOf") != nil || n.Get("oneOf") != nil
	known := func(string) *jsonval.Value { return r }
	if !elsewhere {
		known = n.Get("properties").Lookup(len(r.List))
	}
	seen := make(jsonval.Set)
	r.List = slices.DeleteFunc(slices.Clone(r.List), func(name jsonval.Value) bool {
		if name.Kind != jsonval.String || known(name.Text) == nil {
			z.loss("required_dropped:" + cmp.Or(name.Text, name.Kind.String()))
			return true
		}
		return !seen.Add(name)
	})
}

// arrays gives an array its item schema.
func (z *normalizer) arrays(n *jsonval.Value) {
	items := n.Get("items")
	switch {
	case items != nil && items.Kind == jsonval.Object:
	case items != nil && items.Kind == jsonval.Bool && items.Text == "true":
		*items = jsonval.NewObject()
	case items != nil || schema.TypesOf(n).Has(jsonval.List) && n.Get("type") != nil:
		n.Set("items", jsonval.NewObject())
		z.loss("items_added")
	}
}

// top makes the root an object of arguments.
func (z *normalizer) top(root *jsonval.Value) *schema.Error {
	for hops := 0; root.Get("$ref") != nil; hops++ {
		ref := root.Get("$ref").Text
		target, err := schema.Resolve(root, ref)
		if err != nil {
			return err
		}
		if hops == 8 || target == root || target.Kind != jsonval.Object {
			return &schema.Error{Reason: "bad_ref", Detail: ref}
		}
		merged := target.Clone()
		for _, m := range root.Members {
			if m.Key != "$ref" && merged.Get(m.Key) == nil {
				merged.Members = append(merged.Members, m)
			}
		}
		*root = merged
	}
	// Twice, because a union can make an object of a root whose other combinations were looked at before.
	for _, key := range []string{"allOf", "anyOf", "oneOf", "allOf", "anyOf"} {
		if err := z.mergeTop(root, key); err != nil {
			return err
		}
	}
	t := root.Get("type")
	switch {
	case t == nil && (root.Get("properties") != nil || !constrains(root)):
		root.Members = slices.Insert(root.Members, 0, jsonval.Pair("type", jsonval.NewString("object")))
	case t != nil && t.Kind == jsonval.List && jsonval.Contains(t.List, jsonval.NewString("object")):
		*t = jsonval.NewString("object")
		z.loss("top_type")
	case jsonval.StringOf(t) != "object":
		z.wrap(root)
	}
	z.schema(root) // what came here from a reference was perhaps not yet seen
	return nil
}

// constrains says whether a schema without type or properties refuses any value.
func constrains(n *jsonval.Value) bool {
	return slices.ContainsFunc(n.Members, func(m jsonval.Member) bool {
		_, known := schema.KeywordKinds[m.Key]
		return m.Key == "items" || m.Key == "const" || m.Key == "not" ||
			known && !schema.IsAnnotation(m.Key) && m.Key != "required" && m.Key != "$defs" && m.Key != "definitions"
	})
}

// More branches at the top are hostile: each is compared with all.
const maxTopBranches = 256

// mergeTop unites the branches of a top-level combination of objects, which most model APIs refuse.
func (z *normalizer) mergeTop(root *jsonval.Value, key string) *schema.Error {
	list := root.Get(key)
	if list == nil {
		return nil
	}
	if len(list.List) > maxTopBranches {
		return &schema.Error{Reason: "bad_schema", Detail: fmt.Sprintf("%s of %d branches at the top, want at most %d", key, len(list.List), maxTopBranches)}
	}
	var branches []jsonval.Value
	targets := make(map[*jsonval.Value]bool)
	objects := true
	for _, b := range list.List {
		if ref := b.Get("$ref"); ref != nil {
			target, err := schema.Resolve(root, ref.Text)
			if err != nil {
				return err
			}
			if targets[target] {
				continue // the same branch again says nothing new
			}
			targets[target] = true
			b = *target
		}
		branches = append(branches, b)
		t := b.Get("type")
		objects = objects && (jsonval.StringOf(t) == "object" || t == nil && (b.Get("properties") != nil || b.Get("required") != nil))
	}
	isObject := jsonval.StringOf(root.Get("type")) == "object" || root.Get("properties") != nil
	switch {
	case objects:
		z.loss("top_union_merged")
	case isObject:
		z.loss("top_union_dropped")
		branches = nil
	default:
		return nil // to be wrapped
	}
	root.Remove(key)
	props, required := jsonval.NewObject(), jsonval.NewList()
	if p := root.Get("properties"); p != nil {
		props = *p
	}
	if r := root.Get("required"); r != nil {
		required = *r
	}
	at := make(map[string]int, len(props.Members))
	for i, m := range props.Members {
		at[m.Key] = i
	}
	votes := make(map[string]int)
	var names []jsonval.Value // required by some branch, in order
	for _, b := range branches {
		if p := b.Get("properties"); p != nil {
			for _, m := range p.Members {
				i, known := at[m.Key]
				switch {
				case !known:
					at[m.Key] = len(props.Members)
					props.Members = append(props.Members, jsonval.Pair(m.Key, m.Value.Clone()))
				case jsonval.EqualForm(&props.Members[i].Value) != jsonval.EqualForm(&m.Value):
					props.Members[i].Value = anyOf(props.Members[i].Value, m.Value.Clone())
				}
			}
		}
		if r := b.Get("required"); r != nil {
			seen := make(jsonval.Set)
			for _, name := range r.List {
				if seen.Add(name) {
					votes[name.Text]++
					names = append(names, name)
				}
			}
		}
	}
	seen := make(jsonval.Set)
	for _, name := range required.List {
		seen.Add(name)
	}
	for _, name := range names {
		if (key == "allOf" || votes[name.Text] == len(branches)) && seen.Add(name) {
			required.List = append(required.List, name)
		}
	}
	if root.Get("type") == nil {
		root.Members = slices.Insert(root.Members, 0, jsonval.Pair("type", jsonval.NewString("object")))
	}
	root.Set("properties", props)
	if len(required.List) > 0 {
		root.Set("required", required)
	}
	return nil
}

// anyOf adds a branch to a union, or makes one.
func anyOf(a, b jsonval.Value) jsonval.Value {
	if u := a.Get("anyOf"); u != nil && len(a.Members) == 1 {
		if !jsonval.Contains(u.List, b) {
			u.List = append(u.List, b)
		}
		return a
	}
	return jsonval.NewObject(jsonval.Pair("anyOf", jsonval.NewList(a, b)))
}

// wrap makes a root that is no object the required property "value" of one. Definitions stay at the root; other
// references follow the schema to its new place.
func (z *normalizer) wrap(root *jsonval.Value) {
	inner := jsonval.NewObject()
	outer := jsonval.NewObject(jsonval.Pair("type", jsonval.NewString("object")), jsonval.Pair("properties", jsonval.NewObject()),
		jsonval.Pair("required", jsonval.NewList(jsonval.NewString("value"))))
	for _, m := range root.Members {
		if m.Key == "$defs" || m.Key == "definitions" {
			outer.Members = append(outer.Members, m)
		} else {
			inner.Members = append(inner.Members, m)
		}
	}
	outer.Get("properties").Set("value", inner)
	eachRef(&outer, func(ref *jsonval.Value) {
		if rest, ok := strings.CutPrefix(ref.Text, "#"); ok && !strings.HasPrefix(rest, "/$defs/") && !strings.HasPrefix(rest, "/definitions/") {
			ref.Text = "#/properties/value" + rest
		}
	})
	*root = outer
	z.loss("wrapped")
}

// eachRef visits the references at schema positions.
func eachRef(n *jsonval.Value, visit func(*jsonval.Value)) {
	if n.Kind != jsonval.Object {
		return
	}
	for i := range n.Members {
		m := &n.Members[i]
		switch m.Key {
		case "$ref":
			if m.Value.Kind == jsonval.String {
				visit(&m.Value)
			}
		case "properties", "$defs", "definitions", "patternProperties":
			for j := range m.Value.Members {
				eachRef(&m.Value.Members[j].Value, visit)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			for j := range m.Value.List {
				eachRef(&m.Value.List[j], visit)
			}
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames":
			eachRef(&m.Value, visit)
		}
	}
}

// cutOptional takes ", optional" off a type word.
func cutOptional(word string) (string, bool) {
	if i := strings.LastIndexByte(word, ','); i >= 0 && strings.EqualFold(strings.TrimSpace(word[i+1:]), "optional") {
		return word[:i], true
	}
	return word, false
}
