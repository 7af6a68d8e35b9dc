package midtool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Rejection says why a tool, or one planned sample of it, was left out. It is the error of [Normalize].
type Rejection struct {
	Tool   string // name of the tool
	ToolID string // empty before normalization
	Group  string
	Origin Origin // where the tool was read
	Sample int    // 1-based number of the planned sample; 0 when the tool itself is rejected
	Reason string // a short code; see [Normalize], [Generate] and [Validate]
	Detail string // what was found; may be empty
}

// Error names the tool, its place, the reason and the detail.
func (r *Rejection) Error() string {
	s := "midtool: "
	if r.Origin.Locator != "" {
		s += fmt.Sprintf("%s:%d: ", r.Origin.Locator, r.Origin.Line)
	}
	s += fmt.Sprintf("tool %q", r.Tool)
	if r.Sample > 0 {
		s += fmt.Sprintf(", sample %d", r.Sample)
	}
	s += ": " + r.Reason
	if r.Detail != "" {
		s += ": " + r.Detail
	}
	return s
}

// Normalize returns the tool with its Parameters and Returns in one dialect of JSON Schema, its ID and its Lossy
// steps. It walks schema positions only and never replaces text, so that a parameter named "type" or a description
// with the word "date" stays as it is. In order:
//
//   - type words of other languages become JSON types (int32, List[str], Dict[str,int], Optional[T], "string,
//     optional"; date and datetime become strings with a format); an unknown word is removed;
//   - parameters null or {} become an object without properties; a top-level union of objects becomes one object, a
//     reference is put in its place, and any other top level becomes the required property "value";
//   - a property whose schema is no schema is dropped, true becomes {}, and keywords of the wrong kind are dropped;
//   - "nullable" becomes the type "null", and boolean exclusive bounds of draft 4 become numbers;
//   - an array without an item schema gets "items": {}; "required" names existing properties only; a default of the
//     wrong type and equal enum members go; "$schema" goes.
//
// Steps that change what the schema accepts are appended to Lossy. Key order is kept. Normalize is idempotent. The ID
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
	case !utf8.ValidString(t.Name) || !utf8.ValidString(t.Description) || !utf8.ValidString(t.Title):
		return reject("invalid_utf8", "in name, title or description")
	}
	z := normalizer{lossy: slices.Clone(t.Lossy)}
	params, err := z.document(t.Parameters, true)
	if err != nil {
		return reject(err.reason, err.detail)
	}
	t.Parameters = params.bytes(compactForm)
	if len(t.Returns) > 0 {
		if returns, err := z.document(t.Returns, false); err != nil {
			t.Returns = nil // a tool is usable without
			z.loss("returns_dropped:" + err.reason)
		} else {
			t.Returns = returns.bytes(compactForm)
		}
	}
	t.Lossy = z.lossy
	t.ID = toolID(t.Name, t.Description, params)
	return t, nil
}

func toolID(name, description string, params node) string {
	id := listNode(stringNode(name), stringNode(description), params)
	sum := sha256.Sum256(id.bytes(canonicalForm))
	return "t_" + hex.EncodeToString(sum[:8])
}

type schemaError struct{ reason, detail string }

type normalizer struct{ lossy []string }

func (z *normalizer) loss(step string) { z.lossy = append(z.lossy, step) }

// document normalizes one schema document; arguments asks for an object at the top.
func (z *normalizer) document(raw []byte, arguments bool) (node, *schemaError) {
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	root, err := parseJSON(raw)
	switch {
	case err != nil && strings.Contains(err.Error(), "nested deeper"):
		return node{}, &schemaError{"too_deep", err.Error()}
	case err != nil:
		return node{}, &schemaError{"bad_schema", err.Error()}
	case root.kind == nullKind, root.kind == boolKind && root.text == "true":
		root = objectNode()
	case root.kind != objectKind:
		return node{}, &schemaError{"bad_schema", "want a schema object, got " + root.kind.String()}
	}
	z.schema(&root)
	if arguments {
		if err := z.top(&root); err != nil {
			return node{}, err
		}
	}
	if root.depth() > maxDepth {
		return node{}, &schemaError{"too_deep", "nested deeper than 64"}
	}
	if _, err := compile(&root); err != nil {
		return node{}, err
	}
	return root, nil
}

// keywordKinds gives the kind of value that a keyword must have; those of subschemas are checked where they are
// walked.
var keywordKinds = map[string]kind{
	"enum": listKind, "required": listKind, "examples": listKind, "anyOf": listKind, "oneOf": listKind, "allOf": listKind,
	"prefixItems": listKind, "properties": objectKind, "$defs": objectKind, "definitions": objectKind, "patternProperties": objectKind,
	"minimum": numberKind, "maximum": numberKind, "multipleOf": numberKind, "exclusiveMinimum": numberKind,
	"exclusiveMaximum": numberKind, "minLength": numberKind, "maxLength": numberKind, "minItems": numberKind, "maxItems": numberKind,
	"pattern": stringKind, "format": stringKind, "title": stringKind, "description": stringKind, "$ref": stringKind,
	"uniqueItems": boolKind,
}

// isAnnotation holds for keywords that accept and refuse nothing.
func isAnnotation(key string) bool {
	return key == "title" || key == "description" || key == "format" || key == "examples" || key == "$schema"
}

// schema normalizes one schema object in place and reports whether its type word said that the property is optional.
func (z *normalizer) schema(n *node) (optional bool) {
	n.remove("$schema")
	z.draft4(n)
	z.keywords(n)
	optional = z.types(n)
	z.children(n)
	z.objects(n)
	z.arrays(n)
	if e := n.get("enum"); e != nil {
		seen := make(nodeSet)
		e.list = slices.DeleteFunc(slices.Clone(e.list), func(v node) bool { return !seen.add(v) })
	}
	if v := n.get("nullable"); v != nil {
		on := v.kind == boolKind && v.text == "true"
		n.remove("nullable")
		if on {
			*n = nullable(*n)
		}
	}
	if d := n.get("default"); d != nil && !typesOf(n).accepts(d) {
		n.remove("default")
		z.loss("default_dropped")
	}
	return optional
}

// draft4 turns boolean exclusive bounds into numbers.
func (z *normalizer) draft4(n *node) {
	for _, k := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		x := n.get(k[0])
		if x == nil || x.kind != boolKind {
			continue
		}
		if bound := n.get(k[1]); x.text == "true" && bound != nil && bound.kind == numberKind {
			*x = *bound
			n.remove(k[1])
		} else {
			n.remove(k[0])
		}
	}
}

// keywords drops keywords whose value is of the wrong kind: they would refuse everything or nothing, depending on the
// reader.
func (z *normalizer) keywords(n *node) {
	n.members = slices.DeleteFunc(slices.Clone(n.members), func(m member) bool {
		want, known := keywordKinds[m.key]
		bad := known && m.value.kind != want
		switch {
		case bad || !known:
		case m.key == "enum":
			bad = len(m.value.list) == 0
		case m.key == "multipleOf":
			bad = sign(m.value.text) <= 0
		case strings.HasSuffix(m.key, "Length") || strings.HasSuffix(m.key, "Items") && want == numberKind:
			_, ok := count(m.value.text)
			bad = !ok
		}
		if bad && !isAnnotation(m.key) {
			z.loss("keyword_dropped:" + m.key)
		}
		return bad
	})
}

// types rewrites the type keyword.
func (z *normalizer) types(n *node) (optional bool) {
	t := n.get("type")
	if t == nil {
		return false
	}
	switch t.kind {
	case stringKind:
		word := t.text
		if head, tail, ok := cutLast(word, ","); ok && strings.EqualFold(strings.TrimSpace(tail), "optional") {
			word, optional = head, true
		}
		s, ok := typeSchema(word, 0)
		if !ok {
			z.loss("unknown_type:" + word)
		}
		z.applyType(n, s)
	case listKind:
		var names []node
		var only node // what the one word that is not "null" stands for
		for _, e := range t.list {
			s, ok := typeSchema(e.text, 0)
			name := s.get("type")
			if ok && e.kind == stringKind && name == nil { // "any"
				n.remove("type")
				return false
			}
			if !ok || e.kind != stringKind || name.kind != stringKind {
				z.loss("unknown_type:" + e.string(compactForm))
				continue
			}
			if !containsNode(names, *name) {
				names = append(names, *name)
			}
			if name.text != "null" {
				only = s
			}
		}
		switch nulls := containsNode(names, stringNode("null")); {
		case len(names) == 0:
			n.remove("type")
		case len(names) == 1 && !nulls:
			z.applyType(n, only)
		case len(names) == 2 && nulls:
			z.applyType(n, only)
			n.set("type", listNode(names...))
		default:
			n.set("type", listNode(names...))
		}
	default:
		n.remove("type")
		z.loss("keyword_dropped:type")
	}
	return optional
}

// applyType puts the members of a type schema in place of the type keyword; what the schema states itself stays.
func (z *normalizer) applyType(n *node, s node) {
	if s.get("type") == nil {
		n.remove("type")
	}
	for _, m := range s.members {
		switch {
		case m.key == "type" || n.get(m.key) == nil:
			n.set(m.key, m.value)
		case m.key == "anyOf":
			z.loss("type_dropped")
		}
	}
	if s.get("anyOf") != nil {
		n.remove("type")
	}
}

// children normalizes every subschema and drops what is none.
func (z *normalizer) children(n *node) {
	for i := 0; i < len(n.members); i++ {
		m := &n.members[i]
		switch m.key {
		case "properties", "$defs", "definitions", "patternProperties":
			z.named(n, m)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			before := len(m.value.list)
			m.value.list = slices.DeleteFunc(slices.Clone(m.value.list), func(s node) bool { return !isSchema(&s) })
			if len(m.value.list) < before {
				z.loss("keyword_dropped:" + m.key)
			}
			for j := range m.value.list {
				if m.value.list[j].kind == objectKind {
					z.schema(&m.value.list[j])
				}
			}
		case "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames":
			switch {
			case m.value.kind == objectKind:
				z.schema(&m.value)
			case m.value.kind != boolKind:
				z.loss("keyword_dropped:" + m.key)
				n.members = slices.Delete(n.members, i, i+1)
				i--
			}
		case "items":
			switch {
			case m.value.kind == objectKind:
				z.schema(&m.value)
			case m.value.kind == listKind && n.get("prefixItems") == nil:
				// The tuple form of older drafts: keep the schemas, as prefixItems, and let arrays add the items.
				m.key = "prefixItems"
				i--
			}
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		if l := n.get(key); l != nil && len(l.list) == 0 {
			n.remove(key)
		}
	}
}

// named normalizes a map of schemas.
func (z *normalizer) named(n *node, m *member) {
	var kept []member
	optional := make(map[string]bool)
	for _, p := range m.value.members {
		switch {
		case p.value.kind == objectKind:
			optional[p.key] = z.schema(&p.value)
		case p.value.kind == boolKind && p.value.text == "true":
			p.value = objectNode()
		default:
			z.loss("property_dropped:" + p.key)
			continue
		}
		kept = append(kept, p)
	}
	m.value.members = kept
	if r := n.get("required"); r != nil && m.key == "properties" {
		r.list = slices.DeleteFunc(slices.Clone(r.list), func(v node) bool { return optional[v.text] })
	}
}

// A nodeSet holds values that JSON Schema tells apart.
type nodeSet map[string]bool

// add reports whether v is new.
func (s nodeSet) add(v node) bool {
	form := equalForm(&v)
	known := s[form]
	s[form] = true
	return !known
}

func isSchema(n *node) bool { return n.kind == objectKind || n.kind == boolKind }

// objects gives an object its properties and trims "required".
func (z *normalizer) objects(n *node) {
	if textOf(n.get("type")) == "object" && n.get("properties") == nil {
		n.set("properties", objectNode())
	}
	r := n.get("required")
	if r == nil {
		return
	}
	// A branch that only says {"required": [...]}, or a schema built from others, names properties found elsewhere.
	elsewhere := n.get("properties") == nil || n.get("$ref") != nil || n.get("allOf") != nil || n.get("anyOf") != nil || n.get("oneOf") != nil
	known := func(string) *node { return r }
	if !elsewhere {
		known = n.get("properties").lookup(len(r.list))
	}
	seen := make(nodeSet)
	r.list = slices.DeleteFunc(slices.Clone(r.list), func(name node) bool {
		if name.kind != stringKind || known(name.text) == nil {
			z.loss("required_dropped:" + cmp.Or(name.text, name.kind.String()))
			return true
		}
		return !seen.add(name)
	})
}

// arrays gives an array its item schema.
func (z *normalizer) arrays(n *node) {
	items := n.get("items")
	switch {
	case items != nil && items.kind == objectKind:
	case items != nil && items.kind == boolKind && items.text == "true":
		*items = objectNode()
	case items != nil || typesOf(n).has(listKind) && n.get("type") != nil:
		n.set("items", objectNode())
		z.loss("items_added")
	}
}

// top makes the root an object of arguments.
func (z *normalizer) top(root *node) *schemaError {
	for hops := 0; root.get("$ref") != nil; hops++ {
		ref := root.get("$ref").text
		target, err := resolve(root, ref)
		if err != nil {
			return err
		}
		if hops == 8 || target == root || target.kind != objectKind {
			return &schemaError{"bad_ref", ref}
		}
		merged := target.clone()
		for _, m := range root.members {
			if m.key != "$ref" && merged.get(m.key) == nil {
				merged.members = append(merged.members, m)
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
	t := root.get("type")
	switch {
	case t == nil && (root.get("properties") != nil || !constrains(root)):
		root.members = slices.Insert(root.members, 0, member{"type", stringNode("object")})
	case t != nil && t.kind == listKind && containsNode(t.list, stringNode("object")):
		*t = stringNode("object")
		z.loss("top_type")
	case textOf(t) != "object":
		z.wrap(root)
	}
	z.schema(root) // what came here from a reference was perhaps not yet seen
	return nil
}

// constrains says whether a schema without type or properties refuses any value.
func constrains(n *node) bool {
	return slices.ContainsFunc(n.members, func(m member) bool {
		_, known := keywordKinds[m.key]
		return m.key == "items" || m.key == "const" || m.key == "not" ||
			known && !isAnnotation(m.key) && m.key != "required" && m.key != "$defs" && m.key != "definitions"
	})
}

// More branches at the top are hostile: each is compared with all.
const maxTopBranches = 256

// mergeTop unites the branches of a top-level combination of objects, which most model APIs refuse.
func (z *normalizer) mergeTop(root *node, key string) *schemaError {
	list := root.get(key)
	if list == nil {
		return nil
	}
	if len(list.list) > maxTopBranches {
		return &schemaError{"bad_schema", fmt.Sprintf("%s of %d branches at the top, want at most %d", key, len(list.list), maxTopBranches)}
	}
	var branches []node
	targets := make(map[*node]bool)
	objects := true
	for _, b := range list.list {
		if ref := b.get("$ref"); ref != nil {
			target, err := resolve(root, ref.text)
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
		t := b.get("type")
		objects = objects && (textOf(t) == "object" || t == nil && (b.get("properties") != nil || b.get("required") != nil))
	}
	isObject := textOf(root.get("type")) == "object" || root.get("properties") != nil
	switch {
	case objects:
		z.loss("top_union_merged")
	case isObject:
		z.loss("top_union_dropped")
		branches = nil
	default:
		return nil // to be wrapped
	}
	root.remove(key)
	props, required := objectNode(), listNode()
	if p := root.get("properties"); p != nil {
		props = *p
	}
	if r := root.get("required"); r != nil {
		required = *r
	}
	at := make(map[string]int, len(props.members))
	for i, m := range props.members {
		at[m.key] = i
	}
	votes := make(map[string]int)
	var names []node // required by some branch, in order
	for _, b := range branches {
		if p := b.get("properties"); p != nil {
			for _, m := range p.members {
				i, known := at[m.key]
				switch {
				case !known:
					at[m.key] = len(props.members)
					props.members = append(props.members, member{m.key, m.value.clone()})
				case equalForm(&props.members[i].value) != equalForm(&m.value):
					props.members[i].value = anyOf(props.members[i].value, m.value.clone())
				}
			}
		}
		if r := b.get("required"); r != nil {
			seen := make(nodeSet)
			for _, name := range r.list {
				if seen.add(name) {
					votes[name.text]++
					names = append(names, name)
				}
			}
		}
	}
	seen := make(nodeSet)
	for _, name := range required.list {
		seen.add(name)
	}
	for _, name := range names {
		if (key == "allOf" || votes[name.text] == len(branches)) && seen.add(name) {
			required.list = append(required.list, name)
		}
	}
	if root.get("type") == nil {
		root.members = slices.Insert(root.members, 0, member{"type", stringNode("object")})
	}
	root.set("properties", props)
	if len(required.list) > 0 {
		root.set("required", required)
	}
	return nil
}

// anyOf adds a branch to a union, or makes one.
func anyOf(a, b node) node {
	if u := a.get("anyOf"); u != nil && len(a.members) == 1 {
		if !containsNode(u.list, b) {
			u.list = append(u.list, b)
		}
		return a
	}
	return objectNode(member{"anyOf", listNode(a, b)})
}

// wrap makes a root that is no object the required property "value" of one. Definitions stay at the root; other
// references follow the schema to its new place.
func (z *normalizer) wrap(root *node) {
	inner := objectNode()
	outer := objectNode(member{"type", stringNode("object")}, member{"properties", objectNode()},
		member{"required", listNode(stringNode("value"))})
	for _, m := range root.members {
		if m.key == "$defs" || m.key == "definitions" {
			outer.members = append(outer.members, m)
		} else {
			inner.members = append(inner.members, m)
		}
	}
	outer.get("properties").set("value", inner)
	eachRef(&outer, func(ref *node) {
		if rest, ok := strings.CutPrefix(ref.text, "#"); ok && !strings.HasPrefix(rest, "/$defs/") && !strings.HasPrefix(rest, "/definitions/") {
			ref.text = "#/properties/value" + rest
		}
	})
	*root = outer
	z.loss("wrapped")
}

// eachRef visits the references at schema positions.
func eachRef(n *node, visit func(*node)) {
	if n.kind != objectKind {
		return
	}
	for i := range n.members {
		m := &n.members[i]
		switch m.key {
		case "$ref":
			if m.value.kind == stringKind {
				visit(&m.value)
			}
		case "properties", "$defs", "definitions", "patternProperties":
			for j := range m.value.members {
				eachRef(&m.value.members[j].value, visit)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			for j := range m.value.list {
				eachRef(&m.value.list[j], visit)
			}
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames":
			eachRef(&m.value, visit)
		}
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
