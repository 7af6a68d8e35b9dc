package grounded

import (
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/wording"
)

// A candidate is an endpoint, a command or a callable on the way to become a tool.
type candidate struct {
	feature Feature
	name    string
	surface Span // as the document has it: "GET /users/{id}", "git commit", "Cut"
	about   Span // what it does; may be empty
	prose   string
	line    Span
	section int
	params  []parameter
	reads   bool // it changes nothing
	inCode  bool // it stands in code
	closed  bool // its parameters are all known: others are not added
	poor    bool // it takes what no JSON can give
	partial bool // a call takes or gives something that nothing names: it can be asked about, and is no tool
}

// A parameter is one of a candidate.
type parameter struct {
	name     string
	at       Span // of the name
	flag     string
	typ      string // type word; empty if unknown
	about    string
	example  Span
	def      string
	valued   bool // of a flag: it takes a value
	required bool
}

// add keeps a candidate, or adds what is new to one of the same name, and makes it the current one.
func (r *reading) add(c candidate) {
	c.section = len(r.sections) - 1
	r.added = &c
	key := string(c.feature) + " " + c.name
	i, known := r.byName[key]
	if !known {
		if len(r.candidates) >= 4*maxTools {
			r.current, r.added = -1, nil
			return
		}
		r.byName[key] = len(r.candidates)
		r.current = len(r.candidates)
		r.candidates = append(r.candidates, c)
		own := &r.candidates[r.current]
		own.params = nil
		for _, p := range c.params {
			own.merge(p)
		}
		return
	}
	r.current = i
	old := &r.candidates[i]
	if old.about.empty() && old.prose == "" {
		old.about, old.prose = c.about, c.prose
	}
	old.partial = old.partial || c.partial
	old.poor = old.poor || c.poor && c.feature == Command
	for _, p := range c.params {
		old.merge(p)
	}
}

// merge adds a parameter, or what is new about one.
func (c *candidate) merge(p parameter) {
	for i := range c.params {
		q := &c.params[i]
		if q.name != p.name {
			continue
		}
		if q.example.empty() {
			q.example = p.example
		}
		if q.typ == "" {
			q.typ = p.typ
		}
		if q.about == "" {
			q.about = p.about
		}
		if q.def == "" {
			q.def = p.def
		}
		q.valued = q.valued || p.valued
		q.required = q.required || p.required
		return
	}
	if len(c.params) < maxParams {
		c.params = append(c.params, p)
	}
}

// attach gives what is said of a name to the current candidate, if it has such a parameter or can have it.
func (r *reading) attach(p parameter) int {
	if r.current < 0 {
		return -1
	}
	c := &r.candidates[r.current]
	if c.section != len(r.sections)-1 && !r.code {
		return -1
	}
	known := false
	for i := range c.params {
		known = known || c.params[i].name == p.name
	}
	if !known && (c.closed || c.feature == Command && p.flag == "") {
		return -1
	}
	c.merge(p)
	return r.current
}

// makeTools makes tools of the candidates that can be called with what their document says.
func (r *reading) makeTools() {
	for i := range r.candidates {
		c := &r.candidates[i]
		if len(r.tools) == maxTools {
			break
		}
		if s := &r.sections[c.section]; c.feature == Command && s.several && c.about == s.heading {
			c.about, c.prose = Span{}, ""
		}
		if c.prose == "" && !c.about.empty() {
			c.prose = r.flow(c.about)
		}
		if c.prose == "" && c.feature == Endpoint {
			if h := r.sections[c.section].heading; isPhrase(h.of(r.text)) && !h.has(c.surface) && r.tells("", h) {
				c.prose = flat(h.of(r.text))
			}
		}
		for j := range c.params {
			c.poor = c.poor || c.inCode && c.feature == Callable && c.params[j].required && c.params[j].typ == ""
		}
		if c.poor || (c.feature != Endpoint || c.inCode) && !wording.About(c.name, c.prose).Described() {
			continue // nothing says what it does
		}
		r.told = append(r.told, i)
		if c.partial {
			continue
		}
		t, err := midtool.Normalize(r.tool(c))
		if err != nil || len(t.Lossy) > 0 && c.feature == Callable {
			continue
		}
		r.tools = append(r.tools, t)
		r.owner = append(r.owner, i)
	}
}

// flat is a text on one line, without marks of code and emphasis, that begins with a capital letter and ends with a point.
func flat(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(s, "`", ""), "**", "")), " ")
	if s == "" {
		return ""
	}
	if c := s[0]; c >= 'a' && c <= 'z' {
		s = string(c-'a'+'A') + s[1:]
	}
	if strings.IndexByte(".!?", s[len(s)-1]) < 0 {
		s += "."
	}
	return s
}

// flow is a sentence as [flat] has it, with the lines on which it goes on.
func (r *reading) flow(s Span) string {
	text := s.of(r.text)
	for !r.complete(s) && len(text) < maxPiece {
		i := strings.IndexByte(r.text[s.End:min(len(r.text), s.End+maxPiece)], '\n')
		if i < 0 {
			break
		}
		next := Span{s.End + i + 1, s.End + i + 1}
		next.End = min(len(r.text), next.Start+2*maxPiece)
		if n := strings.IndexByte(next.of(r.text), '\n'); n >= 0 {
			next.End = next.Start + n
		}
		if s = r.sentenceAt(r.trim(next)); s.empty() {
			break
		}
		text += " " + s.of(r.text)
	}
	return flat(strings.ToValidUTF8(text, ""))
}

func (r *reading) tool(c *candidate) midtool.Tool {
	properties, required := jsonval.NewObject(), jsonval.NewList()
	for i := range c.params {
		p := &c.params[i]
		s := typeOf(p.typ)
		var example jsonval.Value
		if !p.example.empty() {
			example = valueOf(p.example.of(r.text))
		}
		if s.Get("type") == nil {
			typ := "string"
			switch {
			case example.Kind == jsonval.Number && strings.ContainsAny(example.Text, ".eE"):
				typ = "number"
			case example.Kind == jsonval.Number:
				typ = "integer"
			case example.Kind == jsonval.Bool, p.flag != "" && !p.valued && p.example.empty():
				typ = "boolean"
			}
			s.Set("type", jsonval.NewString(typ))
		}
		if p.about != "" {
			s.Set("description", jsonval.NewString(p.about))
		}
		if jsonval.StringOf(s.Get("type")) == "string" && (example.Kind == jsonval.Number || example.Kind == jsonval.Bool) {
			example = jsonval.NewString(example.Text)
		}
		if accepts(jsonval.StringOf(s.Get("type")), &example) {
			s.Set("examples", jsonval.NewList(example))
		}
		if def := valueOf(p.def); accepts(jsonval.StringOf(s.Get("type")), &def) {
			s.Set("default", def)
		}
		properties.Set(p.name, s)
		if p.required {
			required.List = append(required.List, jsonval.NewString(p.name))
		}
	}
	params := jsonval.NewObject(jsonval.Pair("type", jsonval.NewString("object")), jsonval.Pair("properties", properties))
	if len(required.List) > 0 {
		params.Set("required", required)
	}
	return midtool.Tool{Name: c.name, Description: c.prose, Parameters: params.Bytes(jsonval.Compact), ReadOnly: c.reads,
		Group: r.doc.ID, License: r.doc.License, LicenseFrom: r.doc.LicenseFrom, Origin: r.doc.Origin}
}

// accepts says whether a scalar is of a type.
func accepts(typ string, v *jsonval.Value) bool {
	switch v.Kind {
	case jsonval.String:
		return typ == "string" && strings.TrimSpace(v.Text) != ""
	case jsonval.Number:
		return typ == "number" || typ == "integer" && !strings.ContainsAny(v.Text, ".eE")
	case jsonval.Bool:
		return typ == "boolean"
	}
	return false
}

// scalarTypes are the words for types, of documents and of languages.
var scalarTypes = map[string]string{
	"string": "string", "str": "string", "text": "string", "char": "string", "uuid": "string", "url": "string", "uri": "string",
	"email": "string", "path": "string", "pathlike": "string", "date": "date", "datetime": "date-time", "date-time": "date-time",
	"&str": "string", "std::string": "string", "enum": "string", "id": "string", "guid": "string", "varchar": "string",
	"integer": "integer", "int": "integer", "int8": "integer", "int16": "integer", "int32": "integer", "int64": "integer",
	"uint": "integer", "uint8": "integer", "uint16": "integer", "uint32": "integer", "uint64": "integer", "long": "integer", "usize": "integer",
	"u8": "integer", "u16": "integer", "u32": "integer", "u64": "integer", "i32": "integer", "i64": "integer", "size_t": "integer",
	"number": "number", "float": "number", "float32": "number", "float64": "number", "double": "number", "decimal": "number", "f64": "number",
	"boolean": "boolean", "bool": "boolean",
}

// typeOf is the schema of a type word: a scalar or a list of scalars. It has no type where the word is unknown.
func typeOf(word string) jsonval.Value {
	s := jsonval.NewObject()
	word = strings.TrimSpace(strings.Trim(word, "`*?\" "))
	low := strings.ToLower(word)
	inner := ""
	switch {
	case strings.HasPrefix(word, "[]"):
		inner = word[2:]
	case strings.HasSuffix(word, "[]"):
		inner = word[:len(word)-2]
	case strings.HasPrefix(low, "list[") && strings.HasSuffix(word, "]"):
		inner = word[5 : len(word)-1]
	case strings.HasPrefix(low, "array<") && strings.HasSuffix(word, ">"):
		inner = word[6 : len(word)-1]
	case strings.HasPrefix(low, "optional[") && strings.HasSuffix(word, "]"):
		return typeOf(word[9 : len(word)-1])
	case low == "array" || low == "list":
		inner = "string"
	default:
		first, _, _ := strings.Cut(low, ",")
		first, _, _ = strings.Cut(first, "|")
		switch typ := scalarTypes[strings.TrimSpace(first)]; typ {
		case "":
		case "date", "date-time":
			s.Set("type", jsonval.NewString("string"))
			s.Set("format", jsonval.NewString(typ))
		default:
			s.Set("type", jsonval.NewString(typ))
		}
		return s
	}
	items := typeOf(inner)
	if jsonval.StringOf(items.Get("type")) == "" || items.Get("items") != nil {
		return s
	}
	s.Set("type", jsonval.NewString("array"))
	s.Set("items", items)
	return s
}
