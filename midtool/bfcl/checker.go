package bfcl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A language says how arguments are written.
type language uint8

const (
	python language = iota
	java
	javaScript
)

// A rule is the way of comparing calls with gold.
type rule uint8

const (
	simple rule = iota
	multiple
	parallel
	irrelevance
	relevance
)

// ruleOf reads a category as the reference does, by the words in it.
func ruleOf(category string) (rule, error) {
	has := func(word string) bool { return strings.Contains(category, word) }
	switch {
	case has("multi_turn"), has("memory"), has("web_search"):
		return 0, fmt.Errorf("category %q is scored by running code, not by comparing calls", category)
	case has("irrelevance"):
		return irrelevance, nil
	case has("relevance"):
		return relevance, nil
	case has("parallel"):
		return parallel, nil
	case has("multiple"):
		return multiple, nil
	default:
		return simple, nil
	}
}

func languageOf(category string) language {
	switch {
	case strings.Contains(category, "javascript"):
		return javaScript
	case strings.Contains(category, "java"):
		return java
	default:
		return python
	}
}

// A Checker compares calls with the gold answer of one task. It is immutable and safe for concurrent use.
type Checker struct {
	rule      rule
	lang      language
	functions map[string]*function // the first of each name, as a call must spell it
	targets   []target
}

// A function is a schema prepared for comparing.
type function struct {
	name     string // as a call must spell it
	required []string
	params   map[string]*param
}

type param struct {
	declared string // the type word of the schema
	element  string // that of the elements of a list
	want     pyType // what a value must be; zero for a word that the reference does not know
	inner    pyType // what an element must be; zero where elements are not looked at
	broken   string // why the reference would raise; empty if it would not
}

// A target is one expected call.
type target struct {
	goldName string
	*function
	missing bool // no function of that name is offered
	gold    []*accepted
	byName  map[string]*accepted
}

// NewChecker prepares a task. Its Category decides, by the words in it, how many calls are expected and how they are
// compared: "irrelevance" and "relevance" by whether there are calls at all; "parallel" in any order; "multiple" and
// all others by one call, of the function that the gold answer names or of the first one. "java" and "javascript" read
// arguments as source text of that language. "multi_turn", "memory" and "web_search" cannot be checked and are an
// error, as are schemas or gold that are not JSON of the documented shape, and a missing gold answer; the error names
// the task and the place.
func NewChecker(t Task, o *Options) (*Checker, error) {
	c, err := newChecker(&t, o)
	if err != nil {
		return nil, fmt.Errorf("bfcl: task %s: %w", t.ID, err)
	}
	return c, nil
}

func newChecker(t *Task, o *Options) (*Checker, error) {
	if o == nil {
		o = &Options{}
	}
	r, err := ruleOf(t.Category)
	if err != nil {
		return nil, err
	}
	c := &Checker{rule: r, lang: languageOf(t.Category), functions: make(map[string]*function, len(t.Functions))}
	byName := make(map[string]*function, len(t.Functions))
	var first *function
	for i := range t.Functions {
		f, err := newFunction(&t.Functions[i], c.lang)
		if err != nil {
			return nil, fmt.Errorf("function %d (%s): %w", i, t.Functions[i].Name, err)
		}
		if o.DotsToUnderscores {
			f.name = strings.ReplaceAll(f.name, ".", "_")
		}
		if i == 0 {
			first = f
		}
		if byName[t.Functions[i].Name] == nil {
			byName[t.Functions[i].Name] = f
		}
		if c.functions[f.name] == nil {
			c.functions[f.name] = f
		}
	}
	if r == irrelevance || r == relevance {
		return c, nil
	}
	if len(t.Gold) == 0 {
		return nil, fmt.Errorf("no gold answer in category %q", t.Category)
	}
	for i, g := range t.Gold {
		tg, err := newTarget(g)
		if err != nil {
			return nil, fmt.Errorf("gold call %d (%s): %w", i, g.Name, err)
		}
		if r == simple {
			tg.function = first
		} else {
			tg.function = byName[g.Name]
		}
		if tg.function == nil {
			tg.function, tg.missing = &function{name: g.Name}, true
		}
		c.targets = append(c.targets, tg)
	}
	return c, nil
}

func newFunction(f *Function, lang language) (*function, error) {
	schema, err := jsonval.Parse(f.Parameters)
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	if schema.Kind != jsonval.Object {
		return nil, fmt.Errorf("parameters: want an object, got %s", schema.Kind)
	}
	c := &function{name: f.Name, params: map[string]*param{}}
	if r := schema.Get("required"); r != nil && r.Kind != jsonval.Null {
		if r.Kind != jsonval.List {
			return nil, fmt.Errorf(`parameters: "required": want a list, got %s`, r.Kind)
		}
		for i := range r.List {
			if r.List[i].Kind != jsonval.String {
				return nil, fmt.Errorf(`parameters: "required" %d: want a string, got %s`, i, r.List[i].Kind)
			}
			c.required = append(c.required, r.List[i].Text)
		}
	}
	if p := schema.Get("properties"); p != nil && p.Kind != jsonval.Null {
		if p.Kind != jsonval.Object {
			return nil, fmt.Errorf(`parameters: "properties": want an object, got %s`, p.Kind)
		}
		for i := range p.Members {
			c.params[p.Members[i].Key] = newParam(&p.Members[i].Value, lang)
		}
	}
	return c, nil
}

func newParam(schema *jsonval.Value, lang language) *param {
	p := &param{declared: jsonval.StringOf(schema.Get("type"))}
	words := typeWords(lang)
	p.want = words[p.declared]
	if p.want == 0 {
		p.broken = fmt.Sprintf("the schema has the type %q, which the reference does not know", p.declared)
		return p
	}
	switch p.declared {
	case "array", "tuple", "Array", "ArrayList":
		if items := schema.Get("items"); items != nil {
			p.element = jsonval.StringOf(items.Get("type"))
		}
		p.inner = words[p.element]
		if p.inner == 0 {
			p.broken = fmt.Sprintf("the schema has a list of %q, which the reference does not know", p.element)
		}
	}
	return p
}

// typeWords maps the type words of a schema to Python types.
func typeWords(lang language) map[string]pyType {
	switch lang {
	case java:
		return map[string]pyType{
			"byte": pyInt, "short": pyInt, "integer": pyInt, "long": pyInt, "float": pyFloat, "double": pyFloat,
			"boolean": pyBool, "char": pyStr, "String": pyStr, "any": pyStr, "Array": pyList, "ArrayList": pyList,
			"HashMap": pyDict, "Hashtable": pyDict, "Set": pyList, "Queue": pyList, "Stack": pyList,
		}
	case javaScript:
		return map[string]pyType{
			"String": pyStr, "integer": pyInt, "float": pyFloat, "Bigint": pyInt, "Boolean": pyBool, "dict": pyDict,
			"array": pyList, "any": pyStr,
		}
	default:
		return map[string]pyType{
			"string": pyStr, "integer": pyInt, "float": pyFloat, "boolean": pyBool, "array": pyList, "tuple": pyList,
			"dict": pyDict, "any": pyStr,
		}
	}
}

func newTarget(g Gold) (target, error) {
	v, err := jsonval.Parse(g.Options)
	if err != nil {
		return target{}, err
	}
	if v.Kind != jsonval.Object {
		return target{}, fmt.Errorf("want an object of parameters, got %s", v.Kind)
	}
	tg := target{goldName: g.Name, byName: make(map[string]*accepted, len(v.Members))}
	for i := range v.Members {
		a, err := accept(v.Members[i].Key, &v.Members[i].Value)
		if err != nil {
			return target{}, err
		}
		tg.gold = append(tg.gold, a)
		tg.byName[a.name] = a
	}
	return tg, nil
}

// Check compares calls with the gold answer. Arguments that are no JSON object, or that break the bounds of the package,
// make the verdict "format".
func (c *Checker) Check(calls []Call) Verdict {
	parsed := make([]call, len(calls))
	for i, cl := range calls {
		parsed[i] = call{name: cl.Name, args: jsonval.NewObject()}
		if cl.Arguments == nil {
			continue
		}
		v, err := jsonval.Parse(cl.Arguments)
		if err == nil && v.Kind != jsonval.Object {
			err = fmt.Errorf("want an object of arguments, got %s", v.Kind)
		}
		if err != nil {
			return c.undecoded(fmt.Errorf("call %d (%s): %w", i, brief(cl.Name), err))
		}
		parsed[i].args = v
	}
	return c.check(parsed)
}

// CheckOutput decodes an output as [Decode] does and compares its calls. An output that is no list of calls has the
// verdict "format", which is what is wanted where no call is.
func (c *Checker) CheckOutput(output []byte) Verdict {
	calls, err := decode(output)
	switch {
	case errors.Is(err, errNoCall): // [{}] stands for no call too where that is the question
		if c.rule == irrelevance || c.rule == relevance {
			return c.check(nil)
		}
		return c.undecoded(err)
	case err != nil:
		return c.undecoded(err)
	}
	return c.check(calls)
}

func (c *Checker) undecoded(err error) Verdict {
	switch c.rule {
	case irrelevance:
		return Verdict{Valid: true, Call: -1}
	case relevance:
		return Verdict{Error: "relevance_error:decoder_failed", Detail: err.Error(), Call: -1}
	default:
		return Verdict{Error: "format", Detail: err.Error(), Call: -1}
	}
}

func (c *Checker) check(calls []call) Verdict {
	blank := c.blank(calls)
	v := c.compare(calls, blank)
	v.Calls, v.Blank = len(calls), blank
	return v
}

func (c *Checker) compare(calls []call, blank bool) Verdict {
	count := func(kind string, want int) Verdict {
		return Verdict{Error: kind + ":wrong_count", Detail: fmt.Sprintf("want %d calls, got %d", want, len(calls)), Call: -1}
	}
	switch c.rule {
	case irrelevance, relevance:
		switch {
		case blank:
			return Verdict{Error: "blank_call", Detail: "each call has a required string argument without text"}
		case c.rule == irrelevance && len(calls) > 0:
			return Verdict{Error: "irrelevance_error:decoder_success", Detail: "want no call, got one of " + brief(calls[0].name)}
		case c.rule == relevance && len(calls) == 0:
			return Verdict{Error: "relevance_error:decoder_failed", Detail: "want a call, got none", Call: -1}
		}
	case parallel:
		if len(calls) != len(c.targets) {
			return count("parallel_function_checker_no_order", len(c.targets))
		}
		return c.noOrder(calls)
	case multiple:
		if len(calls) != len(c.targets) {
			return count("multiple_function_checker", len(c.targets))
		}
		return verdictOf(0, c.one(&c.targets[0], &calls[0]))
	default:
		if len(calls) != 1 {
			return count("simple_function_checker", 1)
		}
		return verdictOf(0, c.one(&c.targets[0], &calls[0]))
	}
	return Verdict{Valid: true, Call: -1}
}

// noOrder gives each expected call, in their order, the first call left that fits. A choice is never revised, as in
// the reference: it can miss an assignment that exists.
func (c *Checker) noOrder(calls []call) Verdict {
	used := make([]bool, len(calls))
	for i := range c.targets {
		found := false
		var why []string
		for j := range calls {
			if used[j] {
				continue
			}
			f := c.one(&c.targets[i], &calls[j])
			if f == nil {
				used[j], found = true, true
				break
			}
			if f.kind == exception {
				return verdictOf(j, f)
			}
			why = append(why, fmt.Sprintf("call %d: %s", j, f.kind))
		}
		if !found {
			return Verdict{Error: "parallel_function_checker_no_order:cannot_find_match", Call: -1,
				Detail: fmt.Sprintf("no call left fits expected call %d (%s): %s", i, c.targets[i].goldName, strings.Join(why, ", "))}
		}
	}
	return Verdict{Valid: true, Call: -1}
}

func verdictOf(call int, f *fault) Verdict {
	if f == nil {
		return Verdict{Valid: true, Call: -1}
	}
	return Verdict{Error: f.kind, Detail: f.detail(), Call: call, Path: f.path()}
}

// blank says whether there are calls and each lacks text in a required string argument.
func (c *Checker) blank(calls []call) bool {
	for i := range calls {
		f := c.functions[calls[i].name]
		if f == nil || !f.blank(&calls[i].args) {
			return false
		}
	}
	return len(calls) > 0
}

func (f *function) blank(args *jsonval.Value) bool {
	for _, name := range f.required {
		p := f.params[name]
		if p == nil || p.declared != "string" && p.declared != "String" {
			continue
		}
		if v := args.Get(name); v != nil && v.Kind == jsonval.String && strings.TrimSpace(v.Text) == "" {
			return true
		}
	}
	return false
}
