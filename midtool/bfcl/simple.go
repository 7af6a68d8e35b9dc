package bfcl

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

const exception = "exception"

// A fault is the first thing wrong with one call. Its words are made on demand: a parallel task tries many calls.
type fault struct {
	kind  string
	t     *target
	cl    *call
	param string         // empty for the whole call
	value *jsonval.Value // what was given; nil if nothing was
	p     *param         // nil if the schema has none
	a     *accepted      // nil if no value is expected
}

func (f *fault) path() string {
	if f.param == "" {
		return ""
	}
	return "/" + jsonval.PointerEscape(f.param)
}

func (f *fault) detail() string {
	words := f.words()
	if f.value == nil {
		return words
	}
	return words + ", got " + brief(f.value.Encode(jsonval.Compact))
}

func (f *fault) words() string {
	switch f.kind {
	case "simple_function_checker:wrong_func_name":
		return fmt.Sprintf("want function %q, got %q", f.t.name, brief(f.cl.name))
	case "simple_function_checker:missing_required":
		return fmt.Sprintf("the schema requires %q, which is missing", f.param)
	case "simple_function_checker:missing_optional":
		return fmt.Sprintf("a value of %q is expected", f.param)
	case "simple_function_checker:unexpected_param":
		if f.p == nil {
			return fmt.Sprintf("the schema has no parameter %q", brief(f.param))
		}
		return fmt.Sprintf("no value of %q is expected", f.param)
	case "type_error:simple", "type_error:nested":
		return fmt.Sprintf("want %s, as the schema says (%s), or the type of the accepted values", f.p.want, f.p.declared)
	case "type_error:java", "type_error:js":
		return "want source text in a string"
	case exception:
		switch {
		case f.t.missing:
			return fmt.Sprintf("the expected function %q is not offered", f.t.goldName)
		case f.p.broken != "":
			return f.p.broken
		default:
			return "the reference cannot compare such values"
		}
	default:
		list := jsonval.NewList(f.a.list...)
		return "want one of " + brief(list.Encode(jsonval.Compact))
	}
}

// brief cuts a text of a stranger to what a message can hold.
func brief(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + "... (" + strconv.Itoa(len(s)) + " bytes)"
}

// one compares one call with one expected call; nil means that it fits.
func (c *Checker) one(t *target, cl *call) *fault {
	if t.missing {
		return &fault{kind: exception, t: t, cl: cl}
	}
	if cl.name != t.name {
		return &fault{kind: "simple_function_checker:wrong_func_name", t: t, cl: cl}
	}
	get := cl.args.Lookup(len(t.required) + len(t.gold))
	for _, name := range t.required {
		if get(name) == nil {
			return &fault{kind: "simple_function_checker:missing_required", t: t, cl: cl, param: name}
		}
	}
	for i := range cl.args.Members {
		m := &cl.args.Members[i]
		f := fault{t: t, cl: cl, param: m.Key, value: &m.Value, p: t.params[m.Key], a: t.byName[m.Key]}
		switch {
		case f.p == nil || f.a == nil:
			f.kind = "simple_function_checker:unexpected_param"
		default:
			f.kind = c.argument(f.p, f.a, &m.Value)
		}
		if f.kind != "" {
			return &f
		}
	}
	for _, a := range t.gold {
		if !a.optional && get(a.name) == nil {
			return &fault{kind: "simple_function_checker:missing_optional", t: t, cl: cl, param: a.name, a: a}
		}
	}
	return nil
}

// argument compares one value with the accepted ones and returns the kind of fault, "" if there is none.
func (c *Checker) argument(p *param, a *accepted, given *jsonval.Value) string {
	value := *given
	switch { // in the order in which the reference would raise or reject
	case p.want == 0:
		return exception
	case c.lang == java && value.Kind != jsonval.String:
		return "type_error:java"
	case c.lang == javaScript && value.Kind != jsonval.String:
		return "type_error:js"
	case p.broken != "":
		return exception
	}
	switch c.lang {
	case java:
		var ok bool
		if value, ok = javaValue(value.Text, p.declared, p.element); !ok {
			return exception
		}
	case javaScript:
		value = javaScriptValue(value.Text, p.declared, p.element)
	default:
		if p.want == pyFloat && typeOf(&value) == pyInt {
			value.Text = floatOf(value.Text)
		}
	}
	variable, kind := typeCheck(p, a, &value)
	if kind != "" {
		return kind
	}
	if !variable {
		switch {
		case p.want == pyDict:
			return compareDict(&value, a.dicts)
		case p.want == pyList && p.inner == pyDict:
			return compareRows(&value, a.rows)
		case p.want == pyStr:
			return compareString(value.Text, a.strings)
		case p.want == pyList:
			return compareList(&value, a)
		}
	}
	if !contains(a.list, &value) {
		return "value_error:others"
	}
	return ""
}

func floatOf(integer string) string {
	f, _ := strconv.ParseFloat(integer, 64) // in range: the parser has seen to it
	return jsonval.FloatText(f)
}

// typeCheck says whether the type of a value is right, and whether the accepted values are of another type than the
// schema says: then they stand for variables and are compared as they are.
func typeCheck(p *param, a *accepted, value *jsonval.Value) (variable bool, kind string) {
	t := typeOf(value)
	if t != p.want {
		if a.first != 0 && t == a.first {
			return true, ""
		}
		return false, "type_error:simple"
	}
	variable = a.first != 0 && a.first != p.want
	if p.inner == 0 {
		return variable, ""
	}
	for i := range a.list {
		if a.list[i].Kind != jsonval.List || elementsAre(value.List, p.inner, firstType(a.list[i].List)) {
			return variable, ""
		}
	}
	if a.first != 0 && t == a.first {
		return false, "type_error:nested"
	}
	return false, "type_error:simple"
}

// elementsAre says whether each element has one of two types.
func elementsAre(list []jsonval.Value, a, b pyType) bool {
	for i := range list {
		if t := typeOf(&list[i]); t != a && t != b {
			return false
		}
	}
	return true
}

func compareString(s string, options []string) string {
	s = fold(s)
	if slices.Contains(options, s) {
		return ""
	}
	return "value_error:string"
}

func compareList(value *jsonval.Value, a *accepted) string {
	if a.badList {
		return exception
	}
	folded := jsonval.NewList(foldAll(value.List)...)
	for _, o := range a.lists {
		if list := jsonval.NewList(o...); equal(&list, &folded) {
			return ""
		}
	}
	return "value_error:list/tuple"
}

// compareDict reports the fault with the accepted object that was tried last.
func compareDict(value *jsonval.Value, options []dictOption) string {
	kind := "dict_checker:unclear"
	for i := range options {
		if options[i].skip {
			continue
		}
		if options[i].bad || value.Kind != jsonval.Object {
			return exception
		}
		if kind = compareMembers(value, &options[i]); kind == "" || kind == exception {
			return kind
		}
	}
	return kind
}

func compareMembers(value *jsonval.Value, o *dictOption) string {
	kind := ""
	for i := range value.Members {
		m := &value.Members[i]
		at, known := o.index[m.Key]
		if !known {
			kind = "value_error:dict_key"
			break
		}
		if o.members[at].bad {
			return exception
		}
		if v := foldValue(&m.Value); !contains(o.members[at].list, &v) {
			kind = "value_error:dict_value"
			break
		}
	}
	// Looked for also after another fault, which it replaces: so does the reference.
	get := value.Lookup(len(o.members))
	for i := range o.members {
		if m := &o.members[i]; get(m.key) == nil {
			if m.badBlank {
				return exception
			}
			if !m.optional {
				return "value_error:dict_key"
			}
		}
	}
	return kind
}

func compareRows(value *jsonval.Value, options []rowsOption) string {
	kind := "list_dict_checker:unclear"
	for i := range options {
		o := &options[i]
		switch {
		case o.bad:
			return exception
		case o.count != len(value.List):
			kind = "value_error:list_dict_count"
			continue
		case o.keyed && o.count > 0:
			return exception
		}
		fits := true
		for j := range value.List {
			if kind = compareDict(&value.List[j], o.rows[j:j+1]); kind == exception {
				return kind
			} else if kind != "" {
				fits = false
				break
			}
		}
		if fits {
			return ""
		}
	}
	return kind
}
