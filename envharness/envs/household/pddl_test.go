package household_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A small reader of PDDL domains and an evaluator of ground actions: what alfred.pddl needs of the language, :adl without functions of numbers.
// Names are read in lower case, as PDDL does not tell cases apart.

// An sexp is a word or a list.
type sexp struct {
	word string
	list []sexp
}

func (s sexp) String() string {
	if s.list == nil {
		return s.word
	}
	parts := make([]string, len(s.list))
	for i, e := range s.list {
		parts[i] = e.String()
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// head returns the first word of a list.
func (s sexp) head() string {
	if len(s.list) == 0 {
		return ""
	}
	return s.list[0].word
}

const maxDepth = 100

// readSexp reads one list; comments run from a semicolon to the end of the line.
func readSexp(text string) (sexp, error) {
	var words []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, ";")
		line = strings.NewReplacer("(", " ( ", ")", " ) ", ",", " ").Replace(strings.ToLower(line)) // alfred.pddl has a comma between parameters
		words = append(words, strings.Fields(line)...)
	}
	open := []sexp{{list: []sexp{}}}
	for _, w := range words {
		top := &open[len(open)-1]
		switch w {
		case "(":
			if len(open) > maxDepth {
				return sexp{}, fmt.Errorf("lists nested deeper than %d", maxDepth)
			}
			open = append(open, sexp{list: []sexp{}})
		case ")":
			if len(open) == 1 {
				return sexp{}, errors.New("a bracket closes nothing")
			}
			done := *top
			open = open[:len(open)-1]
			open[len(open)-1].list = append(open[len(open)-1].list, done)
		default:
			top.list = append(top.list, sexp{word: w})
		}
	}
	if len(open) != 1 || len(open[0].list) != 1 || open[0].list[0].list == nil {
		return sexp{}, errors.New("want one list")
	}
	return open[0].list[0], nil
}

// A typed name is a variable with its type, or a predicate's parameter.
type typedName struct{ name, typ string }

// A pddlAction is one of the domain's actions.
type pddlAction struct {
	name         string
	parameters   []typedName
	precondition sexp
	effect       sexp
}

// A domain is what is in a domain file.
type domain struct {
	types      []string
	predicates map[string][]typedName
	actions    []pddlAction
}

// readDomain reads and checks a domain: predicates and types are declared, arguments have their types, variables are bound.
func readDomain(text string) (*domain, error) {
	s, err := readSexp(text)
	if err != nil {
		return nil, err
	}
	if s.head() != "define" || len(s.list) < 2 || s.list[1].head() != "domain" {
		return nil, errors.New("want (define (domain name) ...)")
	}
	d := &domain{predicates: map[string][]typedName{}}
	for _, part := range s.list[2:] {
		switch part.head() {
		case ":requirements", ":functions":
		case ":types":
			for _, t := range part.list[1:] {
				d.types = append(d.types, t.word)
			}
		case ":predicates":
			for _, p := range part.list[1:] {
				if p.head() == "" || d.predicates[p.head()] != nil {
					return nil, fmt.Errorf("predicate %v has no name, or it occurs twice", p)
				}
				parameters, err := d.typed(p.list[1:])
				if err != nil {
					return nil, err
				}
				d.predicates[p.head()] = parameters
			}
		case ":action":
			a, err := d.action(part)
			if err != nil {
				return nil, err
			}
			d.actions = append(d.actions, a)
		default:
			return nil, fmt.Errorf("unknown part %q", part.head())
		}
	}
	return d, nil
}

// typed reads ?a ?b - type ?c - type.
func (d *domain) typed(list []sexp) ([]typedName, error) {
	out := []typedName{}
	from := 0
	for i := 0; i < len(list); i++ {
		if list[i].word != "-" {
			if !strings.HasPrefix(list[i].word, "?") {
				return nil, fmt.Errorf("%v is no variable", list[i])
			}
			out = append(out, typedName{name: list[i].word})
			continue
		}
		i++
		if i == len(list) || !slices.Contains(d.types, list[i].word) {
			return nil, fmt.Errorf("%v has an unknown type", list)
		}
		for ; from < len(out); from++ {
			out[from].typ = list[i].word
		}
	}
	if from != len(out) {
		return nil, fmt.Errorf("%v has no type", out[from].name)
	}
	return out, nil
}

func (d *domain) action(s sexp) (pddlAction, error) {
	var a pddlAction
	if len(s.list)%2 != 0 || len(s.list) < 2 {
		return a, fmt.Errorf("action %v: keys and values do not pair", s)
	}
	a.name = s.list[1].word
	for i := 2; i < len(s.list); i += 2 {
		value := s.list[i+1]
		switch s.list[i].word {
		case ":parameters":
			var err error
			if a.parameters, err = d.typed(value.list); err != nil {
				return a, fmt.Errorf("action %s: %w", a.name, err)
			}
		case ":precondition":
			a.precondition = value
		case ":effect":
			a.effect = value
		default:
			return a, fmt.Errorf("action %s: unknown key %v", a.name, s.list[i])
		}
	}
	for _, f := range []sexp{a.precondition, a.effect} {
		if err := d.check(f, a.parameters); err != nil {
			return a, fmt.Errorf("action %s: %w", a.name, err)
		}
	}
	return a, nil
}

// check looks at a condition or an effect.
func (d *domain) check(f sexp, bound []typedName) error {
	switch head := f.head(); head {
	case "":
		if f.list == nil || len(f.list) > 0 {
			return fmt.Errorf("%v is no formula", f)
		}
		return nil // () holds
	case "and", "or", "not", "when", "exists", "forall":
		parts := f.list[1:]
		if head == "exists" || head == "forall" {
			if len(parts) != 2 {
				return fmt.Errorf("%v: want variables and a formula", f)
			}
			more, err := d.typed(parts[0].list)
			if err != nil {
				return err
			}
			return d.check(parts[1], append(slices.Clone(bound), more...))
		}
		if head == "not" && len(parts) != 1 || head == "when" && len(parts) != 2 {
			return fmt.Errorf("%v: wrong number of parts", f)
		}
		for _, p := range parts {
			if err := d.check(p, bound); err != nil {
				return err
			}
		}
		return nil
	case "increase":
		return nil // costs
	default:
		parameters, ok := d.predicates[head]
		if !ok || len(parameters) != len(f.list)-1 {
			return fmt.Errorf("%v: no such predicate, or another number of arguments", f)
		}
		for i, arg := range f.list[1:] {
			if !strings.HasPrefix(arg.word, "?") {
				continue // a constant
			}
			k := slices.IndexFunc(bound, func(b typedName) bool { return b.name == arg.word })
			// alfred.pddl declares (checked ?r - receptacle) and uses it for whatever was looked at.
			if k < 0 || bound[k].typ != parameters[i].typ && head != "checked" {
				return fmt.Errorf("%v: %s is not bound, or of another type than %s", f, arg.word, parameters[i].typ)
			}
		}
		return nil
	}
}

// facts are the ground atoms that hold, as "predicate argument ...".
type facts map[string]bool

// A problem has the objects of each type.
type problem map[string][]string

func atom(f sexp, bind map[string]string) string {
	var b strings.Builder
	for i, w := range f.list {
		if i > 0 {
			b.WriteByte(' ')
		}
		if value, ok := bind[w.word]; ok {
			b.WriteString(value)
		} else {
			b.WriteString(w.word)
		}
	}
	return b.String()
}

// holds evaluates a condition.
func (p problem) holds(d *domain, f sexp, s facts, bind map[string]string) bool {
	switch head := f.head(); head {
	case "":
		return true
	case "and":
		for _, part := range f.list[1:] {
			if !p.holds(d, part, s, bind) {
				return false
			}
		}
		return true
	case "or":
		return slices.ContainsFunc(f.list[1:], func(part sexp) bool { return p.holds(d, part, s, bind) })
	case "not":
		return !p.holds(d, f.list[1], s, bind)
	case "exists", "forall":
		variables, err := d.typed(f.list[1].list)
		if err != nil {
			panic(err) // it was checked when it was read
		}
		found := false // an assignment with which the part is, or for forall is not, true
		for inner := range p.assignments(variables, bind) {
			if p.holds(d, f.list[2], s, inner) == (head == "exists") {
				found = true
				break
			}
		}
		return found == (head == "exists")
	}
	return s[atom(f, bind)]
}

// assignments yields bind with every value of the variables. What it yields is changed afterwards.
func (p problem) assignments(variables []typedName, bind map[string]string) func(yield func(map[string]string) bool) {
	return func(yield func(map[string]string) bool) {
		inner := make(map[string]string, len(bind)+len(variables))
		maps.Copy(inner, bind)
		var assign func(i int) bool
		assign = func(i int) bool {
			if i == len(variables) {
				return yield(inner)
			}
			for _, value := range p[variables[i].typ] {
				inner[variables[i].name] = value
				if !assign(i + 1) {
					return false
				}
			}
			return true
		}
		assign(0)
	}
}

// A ground action is an action with values for its parameters.
type ground struct {
	action pddlAction
	bind   map[string]string
}

// applicable lists the ground actions whose preconditions hold. It tries every value of each parameter in turn and gives up on those with which a
// part of the precondition that has all its variables is false.
func (p problem) applicable(d *domain, a pddlAction, s facts) []ground {
	parts := []sexp{a.precondition}
	if a.precondition.head() == "and" {
		parts = a.precondition.list[1:]
	}
	ready := make([][]sexp, len(a.parameters)+1) // parts by the number of parameters that they need
	for _, part := range parts {
		need := 0
		for i, v := range a.parameters {
			if mentions(part, v.name) {
				need = i + 1
			}
		}
		ready[need] = append(ready[need], part)
	}
	var out []ground
	bind := map[string]string{}
	var assign func(i int)
	assign = func(i int) {
		for _, part := range ready[i] {
			if !p.holds(d, part, s, bind) {
				return
			}
		}
		if i == len(a.parameters) {
			done := map[string]string{}
			for _, v := range a.parameters {
				done[v.name] = bind[v.name]
			}
			out = append(out, ground{a, done})
			return
		}
		for _, value := range p[a.parameters[i].typ] {
			bind[a.parameters[i].name] = value
			assign(i + 1)
		}
		delete(bind, a.parameters[i].name)
	}
	assign(0)
	return out
}

func mentions(f sexp, variable string) bool {
	return f.word == variable || slices.ContainsFunc(f.list, func(e sexp) bool { return mentions(e, variable) })
}

// apply returns the facts after a ground action: conditions of effects are evaluated before, and what is both deleted and added is added.
func (p problem) apply(d *domain, g ground, s facts) facts {
	var add, del []string
	var effect func(f sexp, bind map[string]string)
	effect = func(f sexp, bind map[string]string) {
		switch f.head() {
		case "", "increase":
		case "and":
			for _, part := range f.list[1:] {
				effect(part, bind)
			}
		case "when":
			if p.holds(d, f.list[1], s, bind) {
				effect(f.list[2], bind)
			}
		case "forall":
			variables, err := d.typed(f.list[1].list)
			if err != nil {
				panic(err)
			}
			for inner := range p.assignments(variables, bind) {
				effect(f.list[2], inner)
			}
		case "not":
			del = append(del, atom(f.list[1], bind))
		default:
			add = append(add, atom(f, bind))
		}
	}
	effect(g.action.effect, g.bind)
	out := make(facts, len(s)+len(add))
	for k := range s {
		out[k] = true
	}
	for _, k := range del {
		delete(out, k)
	}
	for _, k := range add {
		out[k] = true
	}
	return out
}
