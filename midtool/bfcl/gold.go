package bfcl

import (
	"fmt"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// The accepted values of one parameter, prepared for every way of comparing them.
type accepted struct {
	name     string
	list     []jsonval.Value
	first    pyType       // type of the first value that is not ""; zero if there is none
	optional bool         // "" is among them
	strings  []string     // the strings, folded
	lists    []listOption // nil in a badly formed list
	badList  bool
	dicts    []dictOption
	rows     []rowsOption
}

// A listOption is an accepted list with the strings in it folded.
type listOption []jsonval.Value

// A dictOption is one accepted object.
type dictOption struct {
	skip    bool // it is "": the parameter may be left out
	bad     bool // it is no object: the reference would raise
	members []dictMember
	index   map[string]int
}

// A dictMember is one member of an accepted object with its own accepted values, folded.
type dictMember struct {
	key      string
	list     []jsonval.Value
	bad      bool // no list: the reference would raise when it walks through it
	optional bool
	badBlank bool // no container: the reference would raise when it looks for ""
}

// A rowsOption is one accepted list of objects.
type rowsOption struct {
	count int
	bad   bool // it has no length
	rows  []dictOption
	keyed bool // it is an object: it has a length and no positions
}

// accept prepares the accepted values of a parameter.
func accept(name string, v *jsonval.Value) (*accepted, error) {
	if v.Kind != jsonval.List {
		return nil, fmt.Errorf("parameter %q: want a list of accepted values, got %s", name, v.Kind)
	}
	a := &accepted{name: name, list: v.List, first: firstType(v.List), optional: hasBlank(v.List)}
	for i := range v.List {
		o := &v.List[i]
		if o.Kind == jsonval.String {
			a.strings = append(a.strings, fold(o.Text))
		}
		list, ok := walk(o)
		a.badList = a.badList || !ok
		a.lists = append(a.lists, foldAll(list))
		a.dicts = append(a.dicts, newDictOption(o))
		a.rows = append(a.rows, newRowsOption(o))
	}
	return a, nil
}

func isBlank(v *jsonval.Value) bool { return v.Kind == jsonval.String && v.Text == "" }

func hasBlank(list []jsonval.Value) bool {
	for i := range list {
		if isBlank(&list[i]) {
			return true
		}
	}
	return false
}

// firstType is the type of the first value that is not "".
func firstType(list []jsonval.Value) pyType {
	for i := range list {
		if !isBlank(&list[i]) {
			return typeOf(&list[i])
		}
	}
	return 0
}

// walk returns what the reference finds at the positions 0, 1, ... of a value; false where it would raise.
func walk(v *jsonval.Value) ([]jsonval.Value, bool) {
	switch v.Kind {
	case jsonval.List:
		return v.List, true
	case jsonval.String:
		return characters(v.Text), true
	case jsonval.Object:
		return nil, len(v.Members) == 0
	default:
		return nil, false
	}
}

func foldAll(list []jsonval.Value) []jsonval.Value {
	folded := make([]jsonval.Value, len(list))
	for i := range list {
		folded[i] = foldValue(&list[i])
	}
	return folded
}

func newDictOption(v *jsonval.Value) dictOption {
	d := dictOption{skip: isBlank(v), bad: v.Kind != jsonval.Object, index: make(map[string]int, len(v.Members))}
	for i := range v.Members {
		m := &v.Members[i]
		list, ok := walk(&m.Value)
		dm := dictMember{key: m.Key, list: foldAll(list), bad: !ok}
		switch m.Value.Kind {
		case jsonval.List:
			dm.optional = hasBlank(m.Value.List)
		case jsonval.String:
			dm.optional = true // the empty string is in every string
		case jsonval.Object:
			dm.optional = m.Value.Get("") != nil
		default:
			dm.badBlank = true
		}
		d.index[m.Key] = len(d.members)
		d.members = append(d.members, dm)
	}
	return d
}

func newRowsOption(v *jsonval.Value) rowsOption {
	if v.Kind == jsonval.Object {
		return rowsOption{count: len(v.Members), keyed: true}
	}
	list, ok := walk(v)
	r := rowsOption{count: len(list), bad: !ok}
	for i := range list {
		r.rows = append(r.rows, newDictOption(&list[i]))
	}
	return r
}

// GoldCalls returns calls that a gold answer is meant to accept: of every parameter, and of every member of an object, the
// first accepted value that is not "". Parameters and members that accept "" alone are left out; with short, so is
// every parameter that accepts it. Checked against the same task they tell whether its gold answer and its schemas
// agree, which they do not in every row of the leaderboard.
//
// For Java and JavaScript, where arguments are source text, numbers, booleans and strings are written in the language
// and anything else is an error, as is a gold answer that is not well formed.
func (t *Task) GoldCalls(short bool) ([]Call, error) {
	c, err := NewChecker(*t, nil)
	if err != nil {
		return nil, err
	}
	calls := make([]Call, len(c.targets))
	for i, g := range c.targets {
		args := jsonval.NewObject()
		for _, a := range g.gold {
			v := firstValue(a.list)
			if v == nil || short && a.optional {
				continue
			}
			value := plain(v)
			if c.lang != python {
				declared := ""
				if p := g.params[a.name]; p != nil {
					declared = p.declared
				}
				text, ok := source(c.lang, declared, &value)
				if !ok {
					return nil, fmt.Errorf("bfcl: task %s: parameter %q of %s: a %s is not written as source text", t.ID, a.name, g.goldName, value.Kind)
				}
				value = jsonval.NewString(text)
			}
			args.Members = append(args.Members, jsonval.Pair(a.name, value))
		}
		calls[i] = Call{Name: g.goldName, Arguments: args.Bytes(jsonval.Compact)}
	}
	return calls, nil
}

func firstValue(list []jsonval.Value) *jsonval.Value {
	for i := range list {
		if !isBlank(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// plain replaces the lists of accepted values in an object, and in the objects of a list, by a value.
func plain(v *jsonval.Value) jsonval.Value {
	switch v.Kind {
	case jsonval.Object:
		o := jsonval.NewObject()
		for i := range v.Members {
			m := &v.Members[i]
			if m.Value.Kind != jsonval.List {
				o.Members = append(o.Members, *m)
			} else if first := firstValue(m.Value.List); first != nil {
				o.Members = append(o.Members, jsonval.Pair(m.Key, *first))
			}
		}
		return o
	case jsonval.List:
		l := jsonval.NewList()
		for i := range v.List {
			if v.List[i].Kind == jsonval.Object {
				l.List = append(l.List, plain(&v.List[i]))
			} else {
				l.List = append(l.List, v.List[i])
			}
		}
		return l
	default:
		return *v
	}
}
