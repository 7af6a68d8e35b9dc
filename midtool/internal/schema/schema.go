// Package schema checks values against JSON Schemas and makes values for them. Schemas come from strangers, so all work
// is bounded.
package schema

import (
	"cmp"
	"errors"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// An Error says why a schema cannot be used.
type Error struct {
	Reason string // "bad_schema", "too_deep", "remote_ref" or "bad_ref"
	Detail string
}

// Error gives the reason and the detail.
func (e *Error) Error() string { return e.Reason + ": " + e.Detail }

// KeywordKinds gives the kind of value that a keyword must have; those of subschemas are checked where they are
// walked.
var KeywordKinds = map[string]jsonval.Kind{
	"enum": jsonval.List, "required": jsonval.List, "examples": jsonval.List, "anyOf": jsonval.List, "oneOf": jsonval.List, "allOf": jsonval.List,
	"prefixItems": jsonval.List, "properties": jsonval.Object, "$defs": jsonval.Object, "definitions": jsonval.Object, "patternProperties": jsonval.Object,
	"minimum": jsonval.Number, "maximum": jsonval.Number, "multipleOf": jsonval.Number, "exclusiveMinimum": jsonval.Number,
	"exclusiveMaximum": jsonval.Number, "minLength": jsonval.Number, "maxLength": jsonval.Number, "minItems": jsonval.Number, "maxItems": jsonval.Number,
	"pattern": jsonval.String, "format": jsonval.String, "title": jsonval.String, "description": jsonval.String, "$ref": jsonval.String,
	"uniqueItems": jsonval.Bool, "minProperties": jsonval.Number, "maxProperties": jsonval.Number,
}

// IsAnnotation holds for keywords that accept and refuse nothing.
func IsAnnotation(key string) bool {
	return key == "title" || key == "description" || key == "format" || key == "examples" || key == "$schema"
}

// IsSchema holds for the kinds of values that can be a schema.
func IsSchema(n *jsonval.Value) bool { return n.Kind == jsonval.Object || n.Kind == jsonval.Bool }

// A Schema is a compiled JSON Schema. It knows the keywords type, properties, patternProperties, additionalProperties,
// propertyNames, minProperties, maxProperties, required, items, prefixItems, enum, const, anyOf, oneOf, allOf, not,
// minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern, minItems, maxItems,
// uniqueItems and $ref; others are annotations.
type Schema struct {
	Never       bool // the schema false
	types       typeSet
	typeOrder   []string // as written
	props       []property
	index       map[string]*Schema
	Required    []string
	Additional  *Schema // nil if absent
	patterns    []patternProperty
	keys        *Schema // propertyNames
	minKeys     int
	maxKeys     int // one more than maxProperties; 0 if absent
	items       *Schema
	prefix      []*Schema
	Enum        []jsonval.Value
	enumForms   map[string]bool
	named       map[string]bool // forms of const, default and examples
	constant    *jsonval.Value
	constForm   string
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
	told        atomic.Pointer[told] // by Description, once asked for
}

type property struct {
	name   string
	schema *Schema
}

// A patternProperty is the schema of the members whose names match. A pattern outside Go's syntax is nil: what it
// matches is unknown, so the members that no other keyword speaks of are let pass.
type patternProperty struct {
	pattern *regexp.Regexp
	schema  *Schema
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

// TypesOf reads the type keyword of a schema; unknown words count for nothing.
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

// Has says whether all values of the kind are accepted.
func (t typeSet) Has(k jsonval.Kind) bool { return t == 0 || t&(1<<k) != 0 }

// Accepts says whether the types allow a value; an integral float is an integer.
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
	d := decimalOf(text)
	return &d
}

func decimalOf(text string) decimal {
	f, err := strconv.ParseFloat(text, 64)
	isFloat := strings.ContainsAny(text, ".eE")
	return decimal{text, f, err == nil && (isFloat || f < 1<<53 && f > -(1<<53))}
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

// Compile turns a schema document into a schema. It fails on a reference that leaves the document or leads nowhere;
// keywords of a wrong kind are ignored, for the normalizer drops them with a note. The document must not change after.
func Compile(root *jsonval.Value) (*Schema, *Error) {
	c := compiler{root: root, done: make(map[*jsonval.Value]*Schema)}
	s := c.schema(root)
	s.Unsupported = c.unsupported
	return s, c.err
}

var (
	boundNames  = [4]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
	lengthNames = [4]string{"minLength", "maxLength", "minItems", "maxItems"}
)

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
			if IsSchema(v) {
				s.Additional = c.schema(v)
			}
		case "patternProperties":
			for j := range v.Members {
				p := patternProperty{schema: c.schema(&v.Members[j].Value)}
				var err error
				if p.pattern, err = regexp.Compile(v.Members[j].Key); err != nil {
					c.unsupported = cmp.Or(c.unsupported, v.Members[j].Key)
				}
				s.patterns = append(s.patterns, p)
			}
		case "propertyNames":
			if IsSchema(v) {
				s.keys = c.schema(v)
			}
		case "minProperties":
			s.minKeys, _ = jsonval.Count(v.Text)
		case "maxProperties":
			if k, ok := jsonval.Count(v.Text); ok {
				s.maxKeys = k + 1
			}
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
			s.constForm = jsonval.EqualForm(v)
			s.named = jsonval.AddForms(s.named, *v)
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
			s.bounds[slices.Index(boundNames[:], m.Key)] = newDecimal(v.Text)
		case "multipleOf":
			if jsonval.Sign(v.Text) > 0 {
				s.multipleOf = newDecimal(v.Text)
			}
		case "minLength", "maxLength", "minItems", "maxItems":
			if k, ok := jsonval.Count(v.Text); ok {
				s.lengths[slices.Index(lengthNames[:], m.Key)] = k
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

// Resolve follows a reference inside one document: "#" or "#/" and a JSON Pointer.
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

// A Fault is one way in which a value breaks a schema.
type Fault struct {
	Path    string // JSON Pointer into the value
	Keyword string
	Detail  string
}

// Offers says whether the schema itself names the value: in an enum, const, default or example.
func (s *Schema) Offers(v *jsonval.Value) bool {
	form := ""
	return s.within(func(s *Schema) bool {
		if s.enumForms == nil && s.named == nil {
			return false
		}
		if form == "" {
			form = jsonval.EqualForm(v)
		}
		return s.enumForms[form] || s.named[form]
	})
}

// within visits s and the schemas that speak of the same value, through references and branches, each once, until
// visit returns true. It gives up after 256 of them.
func (s *Schema) within(visit func(*Schema) bool) bool {
	switch {
	case s == nil:
		return false
	case s.ref == nil && s.allOf == nil && s.anyOf == nil && s.oneOf == nil:
		return visit(s)
	}
	return s.search(make(map[*Schema]bool), visit)
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

// Faults lists, in the order of the schema, how v breaks s: at most 32 of them, each at its place in v.
func (s *Schema) Faults(v *jsonval.Value) []Fault {
	if s.Accepts(v) { // the usual case, in which no places are written
		return nil
	}
	c := checker{collect: true}
	c.check(s, v, "", 0)
	return c.found
}

// Accepts says whether v is valid for s.
func (s *Schema) Accepts(v *jsonval.Value) bool {
	var c checker
	return c.check(s, v, "", 0)
}

// A checker walks a value along a schema. Schemas come from strangers: a reference may lead back to itself without
// consuming anything, and a few nested unions can ask for exponentially many visits, so depth and visits are bounded. A
// pattern tried on a name counts as a visit, and so does a stretch of a value that a pattern or an enum reads again.
type checker struct {
	collect bool
	found   []Fault
	visits  int
	form    []byte // of the value compared last
}

const (
	maxVisits    = 1 << 18
	patternBytes = 1 << 6 // so that patterns read at most 16 MiB, in a second or so
	formBytes    = 1 << 10
	maxNesting   = 512
	maxFaults    = 32
)

// note keeps a fault and says whether to go on looking.
func (c *checker) note(path, keyword, detail string) bool {
	if c.collect && len(c.found) < maxFaults {
		c.found = append(c.found, Fault{path, keyword, detail})
	}
	return c.collect
}

// quietly checks without noting faults.
func (c *checker) quietly(s *Schema, v *jsonval.Value, nesting int) bool {
	old := c.collect
	c.collect = false
	ok := c.check(s, v, "", nesting)
	c.collect = old
	return ok
}

// equalForm returns the form of v, which is valid until the next call.
func (c *checker) equalForm(v *jsonval.Value) []byte {
	c.form = jsonval.AppendEqualForm(c.form[:0], v)
	c.visits += len(c.form) / formBytes
	return c.form
}

// check says whether s accepts v. It notes all faults when it collects, and else stops at the first.
func (c *checker) check(s *Schema, v *jsonval.Value, path string, nesting int) bool {
	if c.visits++; c.visits > maxVisits || nesting > maxNesting {
		return c.tooCostly(path)
	}
	if s.Never {
		c.note(path, "false", "no value is allowed here")
		return false
	}
	if !s.types.Accepts(v) {
		if c.collect {
			c.note(path, "type", v.Kind.String()+" is not "+strings.Join(s.typeOrder, " or "))
		}
		return false // further faults would only follow from this one
	}
	ok := true
	if s.Enum != nil && !s.enumForms[string(c.equalForm(v))] {
		if ok = false; !c.note(path, "enum", "not a member of the enum") {
			return false
		}
	}
	if s.constant != nil && s.constForm != string(c.equalForm(v)) {
		if ok = false; !c.note(path, "const", "not the constant") {
			return false
		}
	}
	if ok = c.branches(s, v, path, nesting+1) && ok; !ok && !c.collect {
		return false
	}
	switch v.Kind {
	case jsonval.Number:
		return c.number(s, v, path) && ok
	case jsonval.String:
		return c.str(s, v, path) && ok
	case jsonval.List:
		return c.list(s, v, path, nesting+1) && ok
	case jsonval.Object:
		return c.object(s, v, path, nesting+1) && ok
	}
	return ok
}

func (c *checker) tooCostly(path string) bool {
	c.note(path, "$ref", "the schema is recursive without end or too costly to check")
	return false
}

// branches checks the schemas that speak of the same value.
func (c *checker) branches(s *Schema, v *jsonval.Value, path string, nesting int) bool {
	ok := true
	if s.ref != nil && !c.check(s.ref, v, path, nesting) {
		if ok = false; !c.collect {
			return false
		}
	}
	for _, sub := range s.allOf {
		if !c.check(sub, v, path, nesting) {
			if ok = false; !c.collect {
				return false
			}
		}
	}
	if s.anyOf != nil {
		accepted := false
		for i := 0; i < len(s.anyOf) && !accepted; i++ {
			accepted = c.quietly(s.anyOf[i], v, nesting)
		}
		if !accepted {
			if ok = false; !c.note(path, "anyOf", "no branch accepts the value") {
				return false
			}
		}
	}
	if s.oneOf != nil {
		n := 0
		for _, sub := range s.oneOf {
			if c.quietly(sub, v, nesting) {
				n++
			}
		}
		if n != 1 {
			if ok = false; !c.note(path, "oneOf", strconv.Itoa(n)+" branches accept the value, want 1") {
				return false
			}
		}
	}
	if s.not != nil && c.quietly(s.not, v, nesting) {
		ok = false
		c.note(path, "not", "the excluded schema accepts the value")
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

func (c *checker) number(s *Schema, v *jsonval.Value, path string) bool {
	if s.bounds == [4]*decimal{} && s.multipleOf == nil {
		return true
	}
	ok := true
	d := decimalOf(v.Text)
	for i, b := range s.bounds {
		if b == nil {
			continue
		}
		o := d.compare(b)
		if i == 0 && o < 0 || i == 1 && o > 0 || i == 2 && o <= 0 || i == 3 && o >= 0 {
			if ok = false; !c.note(path, boundNames[i], v.Text+" against "+b.text) {
				return false
			}
		}
	}
	if s.multipleOf != nil && !s.multipleOf.divides(&d) {
		ok = false
		c.note(path, "multipleOf", v.Text+" is no multiple of "+s.multipleOf.text)
	}
	return ok
}

func (c *checker) str(s *Schema, v *jsonval.Value, path string) bool {
	ok := true
	if s.lengths[0] >= 0 || s.lengths[1] >= 0 {
		ok = c.size(utf8.RuneCountInString(v.Text), s.lengths[0], s.lengths[1], path, "minLength", "maxLength", " code points")
	}
	if (ok || c.collect) && s.pattern != nil {
		if c.visits += len(v.Text) / patternBytes; !s.pattern.MatchString(v.Text) {
			ok = false
			c.note(path, "pattern", "does not match "+s.pattern.String())
		}
	}
	return ok
}

// size compares a count with its bounds, of which a negative one is absent.
func (c *checker) size(n, least, most int, path, under, over, unit string) bool {
	switch {
	case least >= 0 && n < least:
		if c.collect {
			c.note(path, under, strconv.Itoa(n)+unit+", want at least "+strconv.Itoa(least))
		}
		return false
	case most >= 0 && n > most:
		if c.collect {
			c.note(path, over, strconv.Itoa(n)+unit+", want at most "+strconv.Itoa(most))
		}
		return false
	}
	return true
}

func (c *checker) list(s *Schema, v *jsonval.Value, path string, nesting int) bool {
	ok := c.size(len(v.List), s.lengths[2], s.lengths[3], path, lengthNames[2], lengthNames[3], " items")
	if !ok && !c.collect {
		return false
	}
	if s.unique && len(v.List) > 1 {
		seen := make(map[string]bool, len(v.List))
		for i := range v.List {
			if form := c.equalForm(&v.List[i]); !seen[string(form)] {
				seen[string(form)] = true
				continue
			}
			if ok = false; !c.note(path, "uniqueItems", "item "+strconv.Itoa(i)+" occurs before") {
				return false
			}
			break
		}
	}
	for i := range v.List {
		sub := s.items
		if i < len(s.prefix) {
			sub = s.prefix[i]
		}
		if sub == nil {
			continue
		}
		at := ""
		if c.collect {
			at = c.join(path, strconv.Itoa(i))
		}
		if !c.check(sub, &v.List[i], at, nesting) {
			if ok = false; !c.collect {
				return false
			}
		}
	}
	return ok
}

func (c *checker) object(s *Schema, v *jsonval.Value, path string, nesting int) bool {
	ok := c.size(len(v.Members), s.minKeys, s.maxKeys-1, path, "minProperties", "maxProperties", " members")
	if !ok && !c.collect {
		return false
	}
	if len(s.Required)*len(v.Members) < 1024 {
		for _, name := range s.Required {
			if v.Get(name) == nil && !c.missing(&ok, path, name) {
				return false
			}
		}
	} else {
		has := v.Lookup(len(s.Required))
		for _, name := range s.Required {
			if has(name) == nil && !c.missing(&ok, path, name) {
				return false
			}
		}
	}
	for i := range v.Members {
		m := &v.Members[i]
		if s.keys != nil {
			key := jsonval.NewString(m.Key)
			if !c.quietly(s.keys, &key, nesting) {
				if ok = false; !c.note(c.join(path, m.Key), "propertyNames", "the name is not allowed") {
					return false
				}
			}
		}
		if !c.member(s, m, path, nesting) {
			if ok = false; !c.collect {
				return false
			}
		}
	}
	return ok
}

// missing notes the lack of a required member and says whether to go on looking.
func (c *checker) missing(ok *bool, path, name string) bool {
	*ok = false
	return c.collect && c.note(path, "required", "missing "+strconv.Quote(name))
}

func (c *checker) member(s *Schema, m *jsonval.Member, path string, nesting int) bool {
	sub := s.index[m.Key]
	spoken := sub != nil
	ok := sub == nil || c.check(sub, &m.Value, c.join(path, m.Key), nesting)
	if c.visits += len(s.patterns); c.visits > maxVisits {
		return c.tooCostly(path)
	}
	for _, p := range s.patterns {
		if p.pattern == nil {
			spoken = true
		} else if (ok || c.collect) && p.pattern.MatchString(m.Key) {
			spoken = true
			ok = c.check(p.schema, &m.Value, c.join(path, m.Key), nesting) && ok
		}
	}
	if !spoken && s.Additional != nil {
		return c.check(s.Additional, &m.Value, c.join(path, m.Key), nesting)
	}
	return ok
}

// CompileRaw parses and compiles a schema document. The error is a [*Error].
func CompileRaw(raw []byte) (*Schema, error) {
	root, bad := ParseSchema(raw)
	if bad != nil {
		return nil, bad
	}
	s, bad := Compile(&root)
	if bad != nil {
		return nil, bad
	}
	return s, nil
}

// ParseSchema reads the JSON of a schema document.
func ParseSchema(raw []byte) (jsonval.Value, *Error) {
	root, err := jsonval.Parse(raw)
	je, _ := errors.AsType[*jsonval.Error](err)
	switch {
	case err == nil && IsSchema(&root):
		return root, nil
	case err == nil:
		return root, &Error{"bad_schema", "want a schema object, got " + root.Kind.String()}
	case je != nil && strings.HasPrefix(je.Rule, "nested deeper"):
		return root, &Error{"too_deep", err.Error()}
	}
	return root, &Error{"bad_schema", err.Error()}
}
