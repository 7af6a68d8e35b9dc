package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// offers says whether the schema itself names the value: in an enum, const, default or example.
func (s *Schema) Offers(v *jsonval.Value) bool {
	form := jsonval.EqualForm(v)
	return s.within(func(s *Schema) bool { return s.enumForms[form] || s.named[form] })
}

type Error struct{ Reason, Detail string }

// keywordKinds gives the kind of value that a keyword must have; those of subschemas are checked where they are
// walked.
var KeywordKinds = map[string]jsonval.Kind{
	"enum": jsonval.List, "required": jsonval.List, "examples": jsonval.List, "anyOf": jsonval.List, "oneOf": jsonval.List, "allOf": jsonval.List,
	"prefixItems": jsonval.List, "properties": jsonval.Object, "$defs": jsonval.Object, "definitions": jsonval.Object, "patternProperties": jsonval.Object,
	"minimum": jsonval.Number, "maximum": jsonval.Number, "multipleOf": jsonval.Number, "exclusiveMinimum": jsonval.Number,
	"exclusiveMaximum": jsonval.Number, "minLength": jsonval.Number, "maxLength": jsonval.Number, "minItems": jsonval.Number, "maxItems": jsonval.Number,
	"pattern": jsonval.String, "format": jsonval.String, "title": jsonval.String, "description": jsonval.String, "$ref": jsonval.String,
	"uniqueItems": jsonval.Bool,
}

// isAnnotation holds for keywords that accept and refuse nothing.
func IsAnnotation(key string) bool {
	return key == "title" || key == "description" || key == "format" || key == "examples" || key == "$schema"
}

func IsSchema(n *jsonval.Value) bool { return n.Kind == jsonval.Object || n.Kind == jsonval.Bool }

// A schema is a compiled JSON Schema. It knows the keywords type, properties, required, additionalProperties, items,
// prefixItems, enum, const, anyOf, oneOf, allOf, not, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
// multipleOf, minLength, maxLength, pattern, minItems, maxItems, uniqueItems and $ref; others are annotations.
type Schema struct {
	Never       bool // the schema false
	types       typeSet
	typeOrder   []string // as written
	props       []property
	index       map[string]*Schema
	Required    []string
	Additional  *Schema // nil if absent
	items       *Schema
	prefix      []*Schema
	Enum        []jsonval.Value
	enumForms   map[string]bool
	named       map[string]bool // forms of const, default and examples
	constant    *jsonval.Value
	anyOf       []*Schema
	oneOf       []*Schema
	allOf       []*Schema
	not         *Schema
	ref         *Schema
	bounds      [4]*decimal // minimum, maximum, exclusiveMinimum, exclusiveMaximum
	multipleOf  *decimal
	lengths     [4]int // minLength, maxLength, minItems, maxItems; -1 if absent
	pattern     *regexp.Regexp
	badPattern  string // a pattern outside Go's syntax: skipped by validation
	unique      bool
	format      string
	Description string
	Unsupported string // of the root: a pattern anywhere in the document outside Go's syntax
	examples    []jsonval.Value
}

type property struct {
	name   string
	schema *Schema
}

// A typeSet is a set of JSON Schema types; the empty set accepts all.
type typeSet uint8

const integerType typeSet = 1 << 7

func typeBit(name string) typeSet {
	switch name {
	case "null":
		return 1 << jsonval.Null
	case "boolean":
		return 1 << jsonval.Bool
	case "number":
		return 1 << jsonval.Number
	case "string":
		return 1 << jsonval.String
	case "array":
		return 1 << jsonval.List
	case "object":
		return 1 << jsonval.Object
	case "integer":
		return integerType
	}
	return 0
}

// typesOf reads the type keyword of a schema; unknown words count for nothing.
func TypesOf(n *jsonval.Value) typeSet {
	t := n.Get("type")
	if t == nil {
		return 0
	}
	set := typeBit(jsonval.StringOf(t))
	for _, e := range t.List {
		set |= typeBit(jsonval.StringOf(&e))
	}
	return set
}

func (t typeSet) Has(k jsonval.Kind) bool { return t == 0 || t&(1<<k) != 0 }

func (t typeSet) Accepts(v *jsonval.Value) bool {
	return t.Has(v.Kind) || t&integerType != 0 && v.Kind == jsonval.Number && jsonval.Integral(v.Text)
}

// A decimal is a number compared without rounding.
type decimal struct {
	text  string
	value float64
	exact bool // value is the number itself
}

func newDecimal(text string) *decimal {
	f, err := strconv.ParseFloat(text, 64)
	isFloat := strings.ContainsAny(text, ".eE")
	return &decimal{text, f, err == nil && (isFloat || f < 1<<53 && f > -(1<<53))}
}

func (d *decimal) compare(o *decimal) int {
	if d.exact && o.exact {
		switch {
		case d.value < o.value:
			return -1
		case d.value > o.value:
			return 1
		}
		return 0
	}
	return jsonval.Rational(d.text).Cmp(jsonval.Rational(o.text))
}

// divides says whether o is a multiple of d, both as written in decimal digits: 0.07 is a multiple of 0.01.
func (d *decimal) divides(o *decimal) bool {
	q := new(big.Rat).Quo(jsonval.Rational(o.text), jsonval.Rational(d.text))
	return q.IsInt()
}

// compile turns a schema document into a schema. It fails on a reference that leaves the document or leads nowhere;
// keywords of a wrong kind are ignored, for [Normalize] drops them with a note.
func Compile(root *jsonval.Value) (*Schema, *Error) {
	c := compiler{root: root, done: make(map[*jsonval.Value]*Schema)}
	s := c.schema(root)
	s.Unsupported = c.unsupported
	return s, c.err
}

type compiler struct {
	root  *jsonval.Value
	done  map[*jsonval.Value]*Schema
	refs  int
	depth int
	err   *Error // the first

	unsupported string // the first pattern outside Go's syntax
}

// A schema that follows more references, or nests deeper through them, is hostile: none of 3,404 real tools has more
// than 5.
const (
	maxRefs     = 4096
	maxRefDepth = 512
)

func (c *compiler) schema(n *jsonval.Value) *Schema {
	if s := c.done[n]; s != nil {
		return s
	}
	if c.depth++; c.depth > maxRefDepth {
		c.fail(&Error{"too_deep", "references nested deeper than 512"})
	}
	defer func() { c.depth-- }()
	if c.err != nil {
		return &Schema{}
	}
	s := &Schema{lengths: [4]int{-1, -1, -1, -1}}
	c.done[n] = s
	if n.Kind != jsonval.Object {
		s.Never = n.Kind == jsonval.Bool && n.Text == "false"
		return s
	}
	s.types = TypesOf(n)
	for i := range n.Members {
		m := &n.Members[i]
		v := &m.Value
		if want, known := KeywordKinds[m.Key]; known && v.Kind != want {
			continue
		}
		switch m.Key {
		case "type":
			if v.Kind == jsonval.String {
				s.typeOrder = []string{v.Text}
			}
			for _, e := range v.List {
				s.typeOrder = append(s.typeOrder, jsonval.StringOf(&e))
			}
		case "properties":
			s.index = make(map[string]*Schema, len(v.Members))
			for j := range v.Members {
				p := property{v.Members[j].Key, c.schema(&v.Members[j].Value)}
				s.props = append(s.props, p)
				s.index[p.name] = p.schema
			}
		case "required":
			for j := range v.List {
				if v.List[j].Kind == jsonval.String {
					s.Required = append(s.Required, v.List[j].Text)
				}
			}
		case "additionalProperties":
			s.Additional = c.schema(v)
		case "items":
			if IsSchema(v) {
				s.items = c.schema(v)
			}
		case "prefixItems":
			s.prefix = c.schemas(v)
		case "anyOf":
			s.anyOf = c.schemas(v)
		case "oneOf":
			s.oneOf = c.schemas(v)
		case "allOf":
			s.allOf = c.schemas(v)
		case "not":
			if IsSchema(v) {
				s.not = c.schema(v)
			}
		case "$ref":
			c.refs++
			target, err := Resolve(c.root, v.Text)
			switch {
			case c.refs > maxRefs:
				c.fail(&Error{"bad_ref", "more than 4096 references"})
			case err != nil:
				c.fail(err)
			default:
				s.ref = c.schema(target)
			}
		case "enum":
			s.Enum = v.List
			s.enumForms = jsonval.AddForms(nil, v.List...)
		case "const":
			s.constant = v
			s.named = jsonval.AddForms(s.named, *v)
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
			s.bounds[slices.Index([]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}, m.Key)] = newDecimal(v.Text)
		case "multipleOf":
			if jsonval.Sign(v.Text) > 0 {
				s.multipleOf = newDecimal(v.Text)
			}
		case "minLength", "maxLength", "minItems", "maxItems":
			if k, ok := jsonval.Count(v.Text); ok {
				s.lengths[slices.Index([]string{"minLength", "maxLength", "minItems", "maxItems"}, m.Key)] = k
			}
		case "pattern":
			if re, err := regexp.Compile(v.Text); err != nil {
				s.badPattern = v.Text
				c.unsupported = cmp.Or(c.unsupported, v.Text)
			} else {
				s.pattern = re
			}
		case "uniqueItems":
			s.unique = v.Text == "true"
		case "format":
			s.format = v.Text
		case "description":
			s.Description = v.Text
		case "default":
			s.named = jsonval.AddForms(s.named, *v)
		case "examples":
			s.examples = v.List
			s.named = jsonval.AddForms(s.named, v.List...)
		}
	}
	// Definitions are compiled through the references to them; walking them finds the broken references of unused ones.
	for _, key := range []string{"$defs", "definitions"} {
		if defs := n.Get(key); defs != nil {
			for i := range defs.Members {
				c.schema(&defs.Members[i].Value)
			}
		}
	}
	return s
}

func (c *compiler) fail(err *Error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *compiler) schemas(list *jsonval.Value) []*Schema {
	var out []*Schema
	for i := range list.List {
		out = append(out, c.schema(&list.List[i]))
	}
	return out
}

// resolve follows a reference inside one document: "#" or "#/" and a JSON Pointer.
func Resolve(root *jsonval.Value, ref string) (*jsonval.Value, *Error) {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, &Error{"remote_ref", ref}
	}
	if decoded, err := url.PathUnescape(rest); err == nil {
		rest = decoded
	}
	n := root
	if rest != "" {
		if rest[0] != '/' {
			return nil, &Error{"bad_ref", ref}
		}
		for part := range strings.SplitSeq(rest[1:], "/") {
			part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
			var next *jsonval.Value
			if n.Kind == jsonval.Object {
				next = n.Get(part)
			} else if i, err := strconv.Atoi(part); err == nil && n.Kind == jsonval.List && i >= 0 && i < len(n.List) {
				next = &n.List[i]
			}
			if next == nil {
				return nil, &Error{"bad_ref", ref}
			}
			n = next
		}
	}
	if !IsSchema(n) {
		return nil, &Error{"bad_ref", ref}
	}
	return n, nil
}

// A fault is one way in which a value breaks a schema.
type fault struct {
	Path    string // JSON Pointer into the value
	Keyword string
	Detail  string
}

// within visits s and the schemas that speak of the same value, through references and branches, each once, until
// visit returns true. It gives up after 256 of them.
func (s *Schema) within(visit func(*Schema) bool) bool {
	return s != nil && s.search(make(map[*Schema]bool), visit)
}

func (s *Schema) search(seen map[*Schema]bool, visit func(*Schema) bool) bool {
	if s == nil || seen[s] || len(seen) == 256 {
		return false
	}
	seen[s] = true
	if visit(s) {
		return true
	}
	for _, list := range [][]*Schema{{s.ref}, s.allOf, s.anyOf, s.oneOf} {
		if slices.ContainsFunc(list, func(sub *Schema) bool { return sub.search(seen, visit) }) {
			return true
		}
	}
	return false
}

// faults lists, in the order of the schema, how v breaks s: at most 32 of them, each at its place in v.
func (s *Schema) Faults(v *jsonval.Value) []fault {
	c := checker{collect: true}
	c.check(s, v, "", 0)
	return c.found
}

func (s *Schema) Accepts(v *jsonval.Value) bool {
	var c checker
	return c.check(s, v, "", 0)
}

// A checker walks a value along a schema. Schemas come from strangers: a reference may lead back to itself without
// consuming anything, and a few nested unions can ask for exponentially many visits, so depth and visits are bounded.
type checker struct {
	collect bool
	found   []fault
	visits  int
}

const (
	maxVisits  = 1 << 18
	maxNesting = 512
	maxFaults  = 32
)

// quiet runs f without collecting.
func (c *checker) quiet(f func() bool) bool {
	old := c.collect
	c.collect = false
	ok := f()
	c.collect = old
	return ok
}

func (c *checker) check(s *Schema, v *jsonval.Value, path string, nesting int) bool {
	ok := true
	// fail notes a fault and says whether to go on looking.
	fail := func(keyword, detail string) bool {
		ok = false
		if c.collect && len(c.found) < maxFaults {
			c.found = append(c.found, fault{path, keyword, detail})
		}
		return c.collect
	}
	if c.visits++; c.visits > maxVisits || nesting > maxNesting {
		fail("$ref", "the schema is recursive without end or too costly to check")
		return false
	}
	if s.Never {
		fail("false", "no value is allowed here")
		return false
	}
	in := func(sub *Schema) bool { return c.check(sub, v, path, nesting+1) }
	quietly := func(sub *Schema) bool { return c.quiet(func() bool { return in(sub) }) }

	if !s.types.Accepts(v) {
		fail("type", v.Kind.String()+" is not "+strings.Join(s.typeOrder, " or "))
		return false // further faults would only follow from this one
	}
	if s.Enum != nil && !s.enumForms[jsonval.EqualForm(v)] && !fail("enum", "not a member of the enum") {
		return false
	}
	if s.constant != nil && jsonval.EqualForm(s.constant) != jsonval.EqualForm(v) && !fail("const", "not the constant") {
		return false
	}
	if s.ref != nil && !in(s.ref) {
		ok = false
	}
	for _, sub := range s.allOf {
		if (ok || c.collect) && !in(sub) {
			ok = false
		}
	}
	if !ok && !c.collect {
		return false
	}
	if s.anyOf != nil && !slices.ContainsFunc(s.anyOf, quietly) && !fail("anyOf", "no branch accepts the value") {
		return false
	}
	if s.oneOf != nil {
		n := 0
		for _, sub := range s.oneOf {
			if quietly(sub) {
				n++
			}
		}
		if n != 1 && !fail("oneOf", strconv.Itoa(n)+" branches accept the value, want 1") {
			return false
		}
	}
	if s.not != nil && quietly(s.not) && !fail("not", "the excluded schema accepts the value") {
		return false
	}
	switch v.Kind {
	case jsonval.Number:
		s.checkNumber(v, fail)
	case jsonval.String:
		s.checkString(v, fail)
	case jsonval.List:
		s.checkList(v, fail)
		for i := range v.List {
			sub := s.items
			if i < len(s.prefix) {
				sub = s.prefix[i]
			}
			if sub == nil {
				continue
			}
			if !c.check(sub, &v.List[i], c.join(path, strconv.Itoa(i)), nesting+1) {
				if ok = false; !c.collect {
					return false
				}
			}
		}
	case jsonval.Object:
		has := v.Lookup(len(s.Required))
		for _, name := range s.Required {
			if has(name) == nil && !fail("required", "missing "+strconv.Quote(name)) {
				return false
			}
		}
		for i := range v.Members {
			m := &v.Members[i]
			sub := s.index[m.Key]
			if sub == nil {
				sub = s.Additional
			}
			if sub != nil && !c.check(sub, &m.Value, c.join(path, m.Key), nesting+1) {
				if ok = false; !c.collect {
					return false
				}
			}
		}
	}
	return ok
}

// join extends a path only when someone will read it.
func (c *checker) join(path, key string) string {
	if !c.collect {
		return ""
	}
	return path + "/" + jsonval.PointerEscape(key)
}

func (s *Schema) checkNumber(v *jsonval.Value, fail func(keyword, detail string) bool) {
	if s.bounds == [4]*decimal{} && s.multipleOf == nil {
		return
	}
	d := newDecimal(v.Text)
	for i, b := range s.bounds {
		if b == nil {
			continue
		}
		c := d.compare(b)
		bad := i == 0 && c < 0 || i == 1 && c > 0 || i == 2 && c <= 0 || i == 3 && c >= 0
		keyword := [4]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}[i]
		if bad && !fail(keyword, v.Text+" against "+b.text) {
			return
		}
	}
	if s.multipleOf != nil && !s.multipleOf.divides(d) {
		fail("multipleOf", v.Text+" is no multiple of "+s.multipleOf.text)
	}
}

func (s *Schema) checkString(v *jsonval.Value, fail func(keyword, detail string) bool) {
	n := utf8.RuneCountInString(v.Text)
	if k := s.lengths[0]; k >= 0 && n < k && !fail("minLength", strconv.Itoa(n)+" code points, want at least "+strconv.Itoa(k)) {
		return
	}
	if k := s.lengths[1]; k >= 0 && n > k && !fail("maxLength", strconv.Itoa(n)+" code points, want at most "+strconv.Itoa(k)) {
		return
	}
	if s.pattern != nil && !s.pattern.MatchString(v.Text) {
		fail("pattern", "does not match "+s.pattern.String())
	}
}

func (s *Schema) checkList(v *jsonval.Value, fail func(keyword, detail string) bool) {
	n := len(v.List)
	if k := s.lengths[2]; k >= 0 && n < k && !fail("minItems", strconv.Itoa(n)+" items, want at least "+strconv.Itoa(k)) {
		return
	}
	if k := s.lengths[3]; k >= 0 && n > k && !fail("maxItems", strconv.Itoa(n)+" items, want at most "+strconv.Itoa(k)) {
		return
	}
	if !s.unique {
		return
	}
	seen := make(map[string]bool, n)
	for i := range v.List {
		form := jsonval.EqualForm(&v.List[i])
		if seen[form] {
			fail("uniqueItems", "item "+strconv.Itoa(i)+" occurs before")
			return
		}
		seen[form] = true
	}
}

func CompileRaw(raw json.RawMessage) (*Schema, error) {
	root, err := jsonval.Parse(raw)
	if err != nil {
		return nil, err
	}
	s, bad := Compile(&root)
	if bad != nil {
		return nil, fmt.Errorf("%s: %s", bad.Reason, bad.Detail)
	}
	return s, nil
}
