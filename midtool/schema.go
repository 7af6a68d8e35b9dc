package midtool

import (
	"cmp"
	"math"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A schema is a compiled JSON Schema. It knows the keywords type, properties, required, additionalProperties, items,
// prefixItems, enum, const, anyOf, oneOf, allOf, not, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
// multipleOf, minLength, maxLength, pattern, minItems, maxItems, uniqueItems and $ref; others are annotations.
type schema struct {
	never       bool // the schema false
	types       typeSet
	typeOrder   []string // as written
	props       []property
	index       map[string]*schema
	required    []string
	additional  *schema // nil if absent
	items       *schema
	prefix      []*schema
	enum        []node
	enumForms   map[string]bool
	named       map[string]bool // forms of const, default and examples
	constant    *node
	anyOf       []*schema
	oneOf       []*schema
	allOf       []*schema
	not         *schema
	ref         *schema
	bounds      [4]*decimal // minimum, maximum, exclusiveMinimum, exclusiveMaximum
	multipleOf  *decimal
	lengths     [4]int // minLength, maxLength, minItems, maxItems; -1 if absent
	pattern     *regexp.Regexp
	badPattern  string // a pattern outside Go's syntax: skipped by validation
	unique      bool
	format      string
	description string
	unsupported string // of the root: a pattern anywhere in the document outside Go's syntax
	examples    []node
}

type property struct {
	name   string
	schema *schema
}

// A typeSet is a set of JSON Schema types; the empty set accepts all.
type typeSet uint8

const integerType typeSet = 1 << 7

func typeBit(name string) typeSet {
	switch name {
	case "null":
		return 1 << nullKind
	case "boolean":
		return 1 << boolKind
	case "number":
		return 1 << numberKind
	case "string":
		return 1 << stringKind
	case "array":
		return 1 << listKind
	case "object":
		return 1 << objectKind
	case "integer":
		return integerType
	}
	return 0
}

// typesOf reads the type keyword of a schema; unknown words count for nothing.
func typesOf(n *node) typeSet {
	t := n.get("type")
	if t == nil {
		return 0
	}
	set := typeBit(textOf(t))
	for _, e := range t.list {
		set |= typeBit(textOf(&e))
	}
	return set
}

func (t typeSet) has(k kind) bool { return t == 0 || t&(1<<k) != 0 }

func (t typeSet) accepts(v *node) bool {
	return t.has(v.kind) || t&integerType != 0 && v.kind == numberKind && integral(v.text)
}

// integral holds for 1 and for 1.0, as JSON Schema says.
func integral(text string) bool {
	if !strings.ContainsAny(text, ".eE") {
		return true
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == math.Trunc(f)
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
	return rational(d.text).Cmp(rational(o.text))
}

// divides says whether o is a multiple of d, both as written in decimal digits: 0.07 is a multiple of 0.01.
func (d *decimal) divides(o *decimal) bool {
	q := new(big.Rat).Quo(rational(o.text), rational(d.text))
	return q.IsInt()
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return new(big.Rat)
	}
	return r
}

func sign(text string) int { return rational(text).Sign() }

// count reads a length: an integer from 0.
func count(text string) (int, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f > 1<<31 || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

// equalForm is equal for values that JSON Schema calls equal: the canonical form with 1.0 written as 1.
func equalForm(n *node) string {
	if !hasFloat(n) {
		return n.string(canonicalForm)
	}
	c := n.clone()
	foldFloats(&c)
	return c.string(canonicalForm)
}

// addForms adds the forms of values to a set, made when nil.
func addForms(set map[string]bool, values ...node) map[string]bool {
	if set == nil {
		set = make(map[string]bool, len(values))
	}
	for i := range values {
		set[equalForm(&values[i])] = true
	}
	return set
}

func hasFloat(n *node) bool {
	if n.kind == numberKind {
		return strings.ContainsAny(n.text, ".eE")
	}
	for i := range n.list {
		if hasFloat(&n.list[i]) {
			return true
		}
	}
	for i := range n.members {
		if hasFloat(&n.members[i].value) {
			return true
		}
	}
	return false
}

func foldFloats(n *node) {
	if n.kind == numberKind && integral(n.text) {
		n.text = rational(n.text).RatString()
	}
	for i := range n.list {
		foldFloats(&n.list[i])
	}
	for i := range n.members {
		foldFloats(&n.members[i].value)
	}
}

// compile turns a schema document into a schema. It fails on a reference that leaves the document or leads nowhere;
// keywords of a wrong kind are ignored, for [Normalize] drops them with a note.
func compile(root *node) (*schema, *schemaError) {
	c := compiler{root: root, done: make(map[*node]*schema)}
	s := c.schema(root)
	s.unsupported = c.unsupported
	return s, c.err
}

type compiler struct {
	root  *node
	done  map[*node]*schema
	refs  int
	depth int
	err   *schemaError // the first

	unsupported string // the first pattern outside Go's syntax
}

// A schema that follows more references, or nests deeper through them, is hostile: none of 3,404 real tools has more
// than 5.
const (
	maxRefs     = 4096
	maxRefDepth = 512
)

func (c *compiler) schema(n *node) *schema {
	if s := c.done[n]; s != nil {
		return s
	}
	if c.depth++; c.depth > maxRefDepth {
		c.fail(&schemaError{"too_deep", "references nested deeper than 512"})
	}
	defer func() { c.depth-- }()
	if c.err != nil {
		return &schema{}
	}
	s := &schema{lengths: [4]int{-1, -1, -1, -1}}
	c.done[n] = s
	if n.kind != objectKind {
		s.never = n.kind == boolKind && n.text == "false"
		return s
	}
	s.types = typesOf(n)
	for i := range n.members {
		m := &n.members[i]
		v := &m.value
		if want, known := keywordKinds[m.key]; known && v.kind != want {
			continue
		}
		switch m.key {
		case "type":
			if v.kind == stringKind {
				s.typeOrder = []string{v.text}
			}
			for _, e := range v.list {
				s.typeOrder = append(s.typeOrder, textOf(&e))
			}
		case "properties":
			s.index = make(map[string]*schema, len(v.members))
			for j := range v.members {
				p := property{v.members[j].key, c.schema(&v.members[j].value)}
				s.props = append(s.props, p)
				s.index[p.name] = p.schema
			}
		case "required":
			for j := range v.list {
				if v.list[j].kind == stringKind {
					s.required = append(s.required, v.list[j].text)
				}
			}
		case "additionalProperties":
			s.additional = c.schema(v)
		case "items":
			if isSchema(v) {
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
			if isSchema(v) {
				s.not = c.schema(v)
			}
		case "$ref":
			c.refs++
			target, err := resolve(c.root, v.text)
			switch {
			case c.refs > maxRefs:
				c.fail(&schemaError{"bad_ref", "more than 4096 references"})
			case err != nil:
				c.fail(err)
			default:
				s.ref = c.schema(target)
			}
		case "enum":
			s.enum = v.list
			s.enumForms = addForms(nil, v.list...)
		case "const":
			s.constant = v
			s.named = addForms(s.named, *v)
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
			s.bounds[slices.Index([]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}, m.key)] = newDecimal(v.text)
		case "multipleOf":
			if sign(v.text) > 0 {
				s.multipleOf = newDecimal(v.text)
			}
		case "minLength", "maxLength", "minItems", "maxItems":
			if k, ok := count(v.text); ok {
				s.lengths[slices.Index([]string{"minLength", "maxLength", "minItems", "maxItems"}, m.key)] = k
			}
		case "pattern":
			if re, err := regexp.Compile(v.text); err != nil {
				s.badPattern = v.text
				c.unsupported = cmp.Or(c.unsupported, v.text)
			} else {
				s.pattern = re
			}
		case "uniqueItems":
			s.unique = v.text == "true"
		case "format":
			s.format = v.text
		case "description":
			s.description = v.text
		case "default":
			s.named = addForms(s.named, *v)
		case "examples":
			s.examples = v.list
			s.named = addForms(s.named, v.list...)
		}
	}
	// Definitions are compiled through the references to them; walking them finds the broken references of unused ones.
	for _, key := range []string{"$defs", "definitions"} {
		if defs := n.get(key); defs != nil {
			for i := range defs.members {
				c.schema(&defs.members[i].value)
			}
		}
	}
	return s
}

func (c *compiler) fail(err *schemaError) {
	if c.err == nil {
		c.err = err
	}
}

func (c *compiler) schemas(list *node) []*schema {
	var out []*schema
	for i := range list.list {
		out = append(out, c.schema(&list.list[i]))
	}
	return out
}

// resolve follows a reference inside one document: "#" or "#/" and a JSON Pointer.
func resolve(root *node, ref string) (*node, *schemaError) {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, &schemaError{"remote_ref", ref}
	}
	if decoded, err := url.PathUnescape(rest); err == nil {
		rest = decoded
	}
	n := root
	if rest != "" {
		if rest[0] != '/' {
			return nil, &schemaError{"bad_ref", ref}
		}
		for part := range strings.SplitSeq(rest[1:], "/") {
			part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
			var next *node
			if n.kind == objectKind {
				next = n.get(part)
			} else if i, err := strconv.Atoi(part); err == nil && n.kind == listKind && i >= 0 && i < len(n.list) {
				next = &n.list[i]
			}
			if next == nil {
				return nil, &schemaError{"bad_ref", ref}
			}
			n = next
		}
	}
	if !isSchema(n) {
		return nil, &schemaError{"bad_ref", ref}
	}
	return n, nil
}

// A fault is one way in which a value breaks a schema.
type fault struct {
	path    string // JSON Pointer into the value
	keyword string
	detail  string
}

// within visits s and the schemas that speak of the same value, through references and branches, each once, until
// visit returns true. It gives up after 256 of them.
func (s *schema) within(visit func(*schema) bool) bool {
	return s != nil && s.search(make(map[*schema]bool), visit)
}

func (s *schema) search(seen map[*schema]bool, visit func(*schema) bool) bool {
	if s == nil || seen[s] || len(seen) == 256 {
		return false
	}
	seen[s] = true
	if visit(s) {
		return true
	}
	for _, list := range [][]*schema{{s.ref}, s.allOf, s.anyOf, s.oneOf} {
		if slices.ContainsFunc(list, func(sub *schema) bool { return sub.search(seen, visit) }) {
			return true
		}
	}
	return false
}

// faults lists, in the order of the schema, how v breaks s: at most 32 of them, each at its place in v.
func (s *schema) faults(v *node) []fault {
	c := checker{collect: true}
	c.check(s, v, "", 0)
	return c.found
}

func (s *schema) accepts(v *node) bool {
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

func (c *checker) check(s *schema, v *node, path string, nesting int) bool {
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
	if s.never {
		fail("false", "no value is allowed here")
		return false
	}
	in := func(sub *schema) bool { return c.check(sub, v, path, nesting+1) }
	quietly := func(sub *schema) bool { return c.quiet(func() bool { return in(sub) }) }

	if !s.types.accepts(v) {
		fail("type", v.kind.String()+" is not "+strings.Join(s.typeOrder, " or "))
		return false // further faults would only follow from this one
	}
	if s.enum != nil && !s.enumForms[equalForm(v)] && !fail("enum", "not a member of the enum") {
		return false
	}
	if s.constant != nil && equalForm(s.constant) != equalForm(v) && !fail("const", "not the constant") {
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
	switch v.kind {
	case numberKind:
		s.checkNumber(v, fail)
	case stringKind:
		s.checkString(v, fail)
	case listKind:
		s.checkList(v, fail)
		for i := range v.list {
			sub := s.items
			if i < len(s.prefix) {
				sub = s.prefix[i]
			}
			if sub == nil {
				continue
			}
			if !c.check(sub, &v.list[i], c.join(path, strconv.Itoa(i)), nesting+1) {
				if ok = false; !c.collect {
					return false
				}
			}
		}
	case objectKind:
		has := v.lookup(len(s.required))
		for _, name := range s.required {
			if has(name) == nil && !fail("required", "missing "+strconv.Quote(name)) {
				return false
			}
		}
		for i := range v.members {
			m := &v.members[i]
			sub := s.index[m.key]
			if sub == nil {
				sub = s.additional
			}
			if sub != nil && !c.check(sub, &m.value, c.join(path, m.key), nesting+1) {
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
	return path + "/" + pointerEscape(key)
}

func pointerEscape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

func (s *schema) checkNumber(v *node, fail func(keyword, detail string) bool) {
	if s.bounds == [4]*decimal{} && s.multipleOf == nil {
		return
	}
	d := newDecimal(v.text)
	for i, b := range s.bounds {
		if b == nil {
			continue
		}
		c := d.compare(b)
		bad := i == 0 && c < 0 || i == 1 && c > 0 || i == 2 && c <= 0 || i == 3 && c >= 0
		keyword := [4]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}[i]
		if bad && !fail(keyword, v.text+" against "+b.text) {
			return
		}
	}
	if s.multipleOf != nil && !s.multipleOf.divides(d) {
		fail("multipleOf", v.text+" is no multiple of "+s.multipleOf.text)
	}
}

func (s *schema) checkString(v *node, fail func(keyword, detail string) bool) {
	n := utf8.RuneCountInString(v.text)
	if k := s.lengths[0]; k >= 0 && n < k && !fail("minLength", strconv.Itoa(n)+" code points, want at least "+strconv.Itoa(k)) {
		return
	}
	if k := s.lengths[1]; k >= 0 && n > k && !fail("maxLength", strconv.Itoa(n)+" code points, want at most "+strconv.Itoa(k)) {
		return
	}
	if s.pattern != nil && !s.pattern.MatchString(v.text) {
		fail("pattern", "does not match "+s.pattern.String())
	}
}

func (s *schema) checkList(v *node, fail func(keyword, detail string) bool) {
	n := len(v.list)
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
	for i := range v.list {
		form := equalForm(&v.list[i])
		if seen[form] {
			fail("uniqueItems", "item "+strconv.Itoa(i)+" occurs before")
			return
		}
		seen[form] = true
	}
}
