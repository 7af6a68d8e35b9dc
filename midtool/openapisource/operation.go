package openapisource

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool"
)

// methods are those of a path, in the order in which they are read.
var methods = []string{"get", "put", "post", "delete", "patch", "head", "options", "trace"}

// An operation is one method of a path.
type operation struct {
	path, method string
	item, node   *node
}

// name is what the tool is called.
func (o *operation) name() string {
	if id := o.node.get("operationId").string(); id != "" {
		return id
	}
	words := strings.FieldsFunc(o.method+"_"+o.path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
	})
	return strings.Join(words, "_")
}

// description is the first text that says what the operation, or else its path, is for.
func (o *operation) description() string {
	return cmp.Or(o.node.get("description").string(), o.node.get("summary").string(),
		o.item.get("description").string(), o.item.get("summary").string())
}

// operations lists those of the document in order, without the deprecated ones unless they are asked for. What cannot be
// an operation, and what is not asked for, is told to skip.
func (d *document) operations(deprecated bool, skip func(operation, *fault)) []operation {
	var out []operation
	paths := d.root.get("paths")
	if !paths.is(object) {
		return nil
	}
	for i, path := range paths.keys {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		item, _, f := d.follow(paths.items[i])
		if f == nil && !item.is(object) {
			f = &fault{"bad_operation", "want an object for the path " + path}
		}
		if f != nil {
			skip(operation{path: path, node: paths.items[i]}, f)
			continue
		}
		for _, method := range methods {
			declared := item.get(method)
			if declared == nil {
				continue
			}
			o := operation{path, method, item, declared}
			n, _, f := d.follow(declared) // no version allows a reference here, and some have it
			if f == nil {
				o.node = n
			}
			switch {
			case f != nil:
				skip(o, f)
			case !n.is(object):
				skip(o, &fault{"bad_operation", "want an object for " + method + " " + path})
			case n.get("deprecated").isTrue() && !deprecated:
				skip(o, &fault{reason: "deprecated"})
			default:
				out = append(out, o)
			}
		}
	}
	return out
}

// tool makes a tool of an operation; work is the number of bytes that this took.
func (d *document) tool(o *operation) (t midtool.Tool, work int, f *fault) {
	t = midtool.Tool{
		Name:        o.name(),
		Title:       o.node.get("summary").string(),
		Description: o.description(),
		ReadOnly:    o.method == "get" || o.method == "head" || o.method == "options" || o.method == "trace", // the safe methods of HTTP
	}
	a := arguments{bundle: newBundle(d), doc: d, at: make(map[string]int)}
	f = a.read(o)
	if f == nil {
		t.Parameters, f = a.schema()
	}
	work = a.work + len(t.Parameters)
	if f != nil {
		return t, work, f
	}
	t.Lossy = append(a.lossy, d.security(o)...)
	b := newBundle(d)
	returns, f := d.returns(b, o)
	work += b.work + len(returns)
	t.Returns, t.Lossy = returns, append(t.Lossy, b.lossy...)
	if f != nil {
		t.Returns, t.Lossy = nil, append(t.Lossy, "returns_dropped:"+f.reason) // a tool is usable without
	}
	return t, work, nil
}

// arguments are the parameters and the body of an operation as the properties of one schema.
type arguments struct {
	*bundle
	doc        *document
	properties []property
	at         map[string]int // properties by name
	additional *node          // of the body; nil if it says nothing
}

type property struct {
	name     string
	node     *node
	extra    []member
	required bool
}

// A parameter is one of an operation, with what it is declared as.
type parameter struct {
	name, in string
	node     *node
}

func (a *arguments) read(o *operation) *fault {
	params, f := a.parameters(o)
	if f != nil {
		return f
	}
	for _, p := range params {
		switch p.in {
		case "header", "cookie":
			a.lossy = append(a.lossy, p.in+"_parameter:"+p.name)
		case "path":
			a.parameter(p, p.in, true)
		case "query":
			a.parameter(p, p.in, p.node.get("required").isTrue())
		}
	}
	a.templates(o.path)
	if !a.doc.old {
		return a.requestBody(o)
	}
	for _, p := range params {
		switch p.in {
		case "formData":
			a.parameter(p, "body", p.node.get("required").isTrue())
		case "body":
			if f := a.body(p.node.get("schema"), p.node); f != nil {
				return f
			}
		}
	}
	return nil
}

// parameters merges those of the path and of the operation, which win.
func (a *arguments) parameters(o *operation) ([]parameter, *fault) {
	var out []parameter
	at := make(map[[2]string]int)
	for _, from := range []*node{o.item, o.node} {
		declared := from.get("parameters")
		if declared == nil || declared.kind == null {
			continue
		}
		if declared.kind != list {
			a.lossy = append(a.lossy, "keyword_dropped:parameters")
			continue
		}
		for _, n := range declared.items {
			n, _, f := a.doc.follow(n)
			if f != nil {
				return nil, f
			}
			p := parameter{n.get("name").string(), n.get("in").string(), n}
			if p.in == "body" && a.doc.old {
				p.name = "body" // there is one alone, whatever it is called
			}
			switch p.in {
			case "query", "path", "header", "cookie":
			case "body", "formData":
				if !a.doc.old {
					p.name = ""
				}
			default:
				p.name = ""
			}
			if p.name == "" {
				a.lossy = append(a.lossy, "parameter_dropped:"+n.get("name").string())
				continue
			}
			if i, known := at[[2]string{p.name, p.in}]; known {
				out[i] = p
				continue
			}
			at[[2]string{p.name, p.in}] = len(out)
			out = append(out, p)
		}
	}
	return out, nil
}

// add appends a property; a name that is taken gets a prefix.
func (a *arguments) add(p property, prefix string) {
	for {
		if _, taken := a.at[p.name]; !taken {
			break
		}
		p.name = prefix + "_" + p.name
	}
	a.at[p.name] = len(a.properties)
	a.properties = append(a.properties, p)
}

// ofParameter are the keywords of a parameter of version 2 that are not of its schema.
var ofParameter = []string{"name", "in", "required", "description", "allowEmptyValue"}

// parameter appends one; prefix tells it from another of that name.
func (a *arguments) parameter(p parameter, prefix string, required bool) {
	q := property{name: p.name, required: required}
	n := p.node
	switch {
	case a.doc.old:
		q.node = &node{kind: object}
		for i, key := range n.keys {
			if !slices.Contains(ofParameter, key) {
				q.node.add(key, n.items[i])
			}
		}
	case n.get("schema") != nil:
		q.node = n.get("schema")
	default:
		if _, media := pick(n.get("content"), true); media != nil {
			q.node = media.get("schema")
		}
	}
	if text := n.get("description").string(); text != "" {
		q.extra = append(q.extra, member{"description", appendString(nil, text)})
	}
	if !a.doc.old {
		if examples := examplesOf(n); examples != nil {
			q.extra = append(q.extra, member{"examples", examples})
		}
	}
	a.add(q, prefix)
}

// maxExamples is how many examples of a parameter are kept.
const maxExamples = 4

// examplesOf lists the examples that stand beside a schema, nil for none.
func examplesOf(n *node) []byte {
	if e := n.get("example"); e != nil {
		return append(e.appendJSON([]byte{'['}), ']')
	}
	named := n.get("examples")
	if !named.is(object) {
		return nil
	}
	var out []byte
	found := 0
	for _, e := range named.items {
		value := e.get("value")
		if value == nil {
			continue
		}
		if found++; found > maxExamples {
			break
		}
		out = value.appendJSON(append(out, ','))
	}
	if out == nil {
		return nil
	}
	out[0] = '['
	return append(out, ']')
}

// templates adds the variables of a path that nobody declared: without them there is no address.
func (a *arguments) templates(path string) {
	for {
		_, rest, found := strings.Cut(path, "{")
		if !found {
			return
		}
		var name string
		if name, path, found = strings.Cut(rest, "}"); !found {
			return
		}
		if _, declared := a.at[name]; declared || name == "" {
			continue
		}
		a.add(property{name: name, node: stringSchema, required: true}, "path")
		a.lossy = append(a.lossy, "path_parameter_added:"+name)
	}
}

var stringSchema = &node{kind: object, keys: []string{"type"}, items: []*node{{kind: text, text: "string"}}}

// requestBody adds the body of version 3.
func (a *arguments) requestBody(o *operation) *fault {
	declared := o.node.get("requestBody")
	if declared == nil || declared.kind == null {
		return nil
	}
	body, _, f := a.doc.follow(declared)
	if f != nil {
		return f
	}
	name, media := pick(body.get("content"), false)
	if media == nil {
		switch content := body.get("content"); {
		case !content.is(object) || len(content.keys) == 0:
			return nil // nothing is said about it
		case body.get("required").isTrue():
			return &fault{"body_type", content.keys[0]}
		default:
			a.lossy = append(a.lossy, "body_dropped:"+name)
			return nil
		}
	}
	return a.body(media.get("schema"), body)
}

// pick chooses of media types: JSON, then a type with the suffix +json, then any type, then a form, unless JSON is asked
// for. If there is none it returns the name of the first.
func pick(content *node, onlyJSON bool) (string, *node) {
	if !content.is(object) || len(content.keys) == 0 {
		return "", nil
	}
	best, rank := 0, 0
	for i, key := range content.keys {
		media, _, _ := strings.Cut(strings.ToLower(key), ";")
		media = strings.TrimSpace(media)
		r := 0
		switch {
		case media == "application/json":
			r = 4
		case strings.HasSuffix(media, "+json") || media == "text/json":
			r = 3
		case media == "*/*" || media == "application/*":
			r = 2
		case (media == "application/x-www-form-urlencoded" || media == "multipart/form-data") && !onlyJSON:
			r = 1
		}
		if r > rank {
			best, rank = i, r
		}
	}
	if rank == 0 {
		return content.keys[0], nil
	}
	return content.keys[best], content.items[best]
}

// body adds the properties of a body that is an object, and any other body as one property.
func (a *arguments) body(schema, declared *node) *fault {
	required := declared.get("required").isTrue()
	var flat flattened
	whole, f := a.doc.flatten(schema, &flat, 0)
	if f != nil {
		return f
	}
	if !whole || len(flat.names) == 0 {
		p := property{name: "body", node: schema, required: required}
		if text := declared.get("description").string(); text != "" && (schema == nil || schema.get("description") == nil) {
			p.extra = append(p.extra, member{"description", appendString(nil, text)})
		}
		a.add(p, "body")
		return nil
	}
	for _, name := range flat.names {
		versions := flat.of[name]
		if a.doc.readOnly(versions) {
			a.lossy = append(a.lossy, "read_only:"+name)
			continue
		}
		n := versions[0]
		if len(versions) > 1 {
			n = &node{kind: object}
			n.add("allOf", &node{kind: list, items: versions})
		}
		a.add(property{name: name, node: n, required: required && flat.required[name]}, "body")
	}
	a.additional = flat.additional
	return nil
}

// flattened are the properties of an object that may be put together from several.
type flattened struct {
	names      []string
	of         map[string][]*node // what is said of each
	required   map[string]bool
	additional *node
}

// flatten collects the properties of a schema, and says whether properties are all that it consists of.
func (d *document) flatten(n *node, into *flattened, depth int) (bool, *fault) {
	n, _, f := d.follow(n)
	if f != nil {
		return false, f
	}
	if !n.is(object) || depth > maxHops {
		return false, nil
	}
	for _, key := range []string{"anyOf", "oneOf", "not", "if", "enum", "const", "patternProperties"} {
		if n.get(key) != nil {
			return false, nil
		}
	}
	isObject := func(n *node) bool { return n.string() == "object" }
	if t := n.get("type"); t != nil && !isObject(t) && !slices.ContainsFunc(t.items, isObject) {
		return false, nil
	}
	if into.of == nil {
		into.of, into.required = make(map[string][]*node), make(map[string]bool)
	}
	if all := n.get("allOf"); all.is(list) {
		for _, part := range all.items {
			if whole, f := d.flatten(part, into, depth+1); !whole || f != nil {
				return false, f
			}
		}
	}
	if p := n.get("properties"); p.is(object) {
		for i, name := range p.keys {
			if !slices.Contains(into.of[name], p.items[i]) {
				if into.of[name] == nil {
					into.names = append(into.names, name)
				}
				into.of[name] = append(into.of[name], p.items[i])
			}
			if r := p.items[i].get("required"); r.is(boolean) && r.isTrue() {
				into.required[name] = true // as draft 3 had it
			}
		}
	}
	if r := n.get("required"); r.is(list) {
		for _, name := range r.items {
			into.required[name.string()] = true
		}
	}
	if a := n.get("additionalProperties"); a.is(object) || a.is(boolean) {
		into.additional = a
	}
	return true, nil
}

// readOnly holds for a property that only answers have.
func (d *document) readOnly(versions []*node) bool {
	return slices.ContainsFunc(versions, func(n *node) bool {
		target, _, f := d.follow(n)
		return f == nil && (n.get("readOnly").isTrue() || target.get("readOnly").isTrue())
	})
}

// schema writes the whole.
func (a *arguments) schema() ([]byte, *fault) {
	dst := []byte(`{"type":"object","properties":{`)
	var required []byte
	for i, p := range a.properties {
		if i > 0 {
			dst = append(dst, ',')
		}
		var f *fault
		if dst, f = a.bundle.schema(append(appendString(dst, p.name), ':'), p.node, p.extra...); f != nil {
			return nil, f
		}
		if p.required {
			required = appendString(append(required, ','), p.name)
		}
	}
	dst = append(dst, '}')
	if required != nil {
		dst = append(append(append(dst, `,"required":[`...), required[1:]...), ']')
	}
	if a.additional != nil {
		var f *fault
		if dst, f = a.bundle.schema(append(dst, `,"additionalProperties":`...), a.additional); f != nil {
			return nil, f
		}
	}
	dst, f := a.defs(dst)
	return append(dst, '}'), f
}

// security names the schemes that an operation asks for.
func (d *document) security(o *operation) []string {
	declared := o.node.get("security")
	if declared == nil {
		declared = d.root.get("security")
	}
	if !declared.is(list) {
		return nil
	}
	var out []string
	seen := make(map[string]bool)
	for _, choice := range declared.items {
		if !choice.is(object) {
			continue
		}
		for _, name := range choice.keys {
			if !seen[name] {
				seen[name] = true
				out = append(out, "security:"+name)
			}
		}
	}
	return out
}

// returns writes the schema of the answer with the smallest status of success that has JSON, nil for none.
func (d *document) returns(b *bundle, o *operation) ([]byte, *fault) {
	responses := o.node.get("responses")
	if !responses.is(object) {
		return nil, nil
	}
	type answer struct {
		status int
		node   *node
	}
	var answers []answer
	for i, key := range responses.keys {
		if strings.EqualFold(key, "2XX") {
			answers = append(answers, answer{300, responses.items[i]}) // it stands for those that are not listed
		} else if status, err := strconv.Atoi(key); err == nil && status >= 200 && status < 300 {
			answers = append(answers, answer{status, responses.items[i]})
		}
	}
	slices.SortStableFunc(answers, func(a, b answer) int { return cmp.Compare(a.status, b.status) })
	for _, r := range answers {
		n, _, f := d.follow(r.node)
		if f != nil {
			return nil, f
		}
		schema := n.get("schema")
		if !d.old {
			_, media := pick(n.get("content"), true)
			schema = media.get("schema")
		} else if !d.produces(o) {
			return nil, nil
		}
		if schema == nil {
			continue
		}
		// A reference would be no whole schema where definitions stand beside it.
		dst, f := b.schema(nil, schema)
		if f != nil || !schema.is(object) {
			return dst, f
		}
		dst = dst[:len(dst)-1]
		if len(dst) == 1 { // no member for the definitions to stand behind
			return append(dst, '}'), nil
		}
		dst, f = b.defs(dst)
		return append(dst, '}'), f
	}
	return nil, nil
}

// produces says whether an operation of version 2 answers in JSON; where nothing is said it is taken to.
func (d *document) produces(o *operation) bool {
	declared := o.node.get("produces")
	if declared == nil {
		declared = d.root.get("produces")
	}
	return !declared.is(list) || len(declared.items) == 0 || slices.ContainsFunc(declared.items, func(n *node) bool {
		media := strings.ToLower(n.string())
		return strings.Contains(media, "json") || media == "*/*" || media == "application/*"
	})
}
