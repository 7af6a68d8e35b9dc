package midtool

import (
	"slices"
	"strconv"
	"strings"
)

// simulate answers a call from its schema: equal calls of one tool under one seed get equal answers. With a result
// schema the value is drawn from it and fields named like an argument echo that; without, it is a status and the
// arguments, an id for what is created and two entries for what is listed.
func simulate(seed uint64, t *tool, args *node) (node, bool) {
	d := newDraws(seed, "simulate", t.ID, args.string(canonicalForm))
	if t.returns != nil {
		m := maker{d: d, optional: 1}
		v, ok := m.value(t.returns, "result", 0)
		if !ok {
			return node{}, false
		}
		for i := range v.members {
			old := v.members[i].value
			if a := echo(args, v.members[i].key); a != nil {
				if v.members[i].value = *a; !t.returns.accepts(&v) {
					v.members[i].value = old
				}
			}
		}
		ok = succeed(t.returns, &v)
		return v, ok
	}
	out := objectNode(member{"status", stringNode("ok")})
	stem := strings.ReplaceAll(t.meaning.stem, " ", "_")
	if stem == "" {
		stem = "item"
	}
	id := func(n int) node { return stringNode(stem + "_" + strconv.Itoa(10000 + n)[1:]) }
	switch t.meaning.class {
	case createVerb:
		out.set("id", id(d.between(1, 9999)))
	case listVerb, searchVerb:
		m := maker{d: d}
		first := d.between(1, 9998)
		var items []node
		for i := range 2 {
			items = append(items, objectNode(member{"id", id(first + i)}, member{"name", stringNode(m.byName(&view{}, "name"))}))
		}
		out.set("items", listNode(items...))
	}
	for _, m := range args.members {
		if out.get(m.key) == nil {
			out.members = append(out.members, m)
		}
	}
	return out, true
}

// succeed takes out of a made result what reports a failure: the conclusion says that all went well. It returns false
// where the schema demands a failure.
func succeed(s *schema, v *node) bool {
	for _, key := range []string{"success", "ok"} {
		if f := v.get(key); f != nil && f.kind == boolKind {
			made := *f
			if *f = boolNode(true); !s.accepts(v) {
				*f = made
			}
		}
	}
	if e := v.get("error"); e != nil {
		for _, none := range []node{{}, stringNode(""), boolNode(false)} {
			if *e = none; s.accepts(v) {
				return !isError(v)
			}
		}
		v.remove("error")
	}
	return s.accepts(v) && !isError(v)
}

// echo finds the argument whose name has the same words.
func echo(args *node, name string) *node {
	for i := range args.members {
		if slices.Equal(words(args.members[i].key), words(name)) {
			return &args.members[i].value
		}
	}
	return nil
}

// isError says, by structure and never by words, whether a result reports a failure.
func isError(v *node) bool {
	if e := v.get("error"); e != nil {
		return e.kind != nullKind && e.text != "" && e.text != "false" || len(e.list) > 0 || len(e.members) > 0
	}
	for _, key := range []string{"status", "status_code", "statusCode"} {
		if s := v.get(key); s != nil && s.kind == numberKind {
			if n, ok := count(s.text); ok && n >= 400 && n < 600 {
				return true
			}
		}
	}
	return false
}

// conclude restates one or two short scalars of the result, of different names.
func conclude(d *draws, result *node) string {
	type fact struct{ name, text string }
	var facts []fact
	var collect func(n *node, name string)
	collect = func(n *node, name string) {
		switch n.kind {
		case objectKind:
			for i := range n.members {
				collect(&n.members[i].value, n.members[i].key)
			}
		case listKind:
			for i := range n.list {
				collect(&n.list[i], singular(name))
			}
		case stringKind, numberKind:
			f := fact{keyPhrase([]string{name}, false), n.text}
			told := slices.ContainsFunc(facts, func(o fact) bool { return o.name == f.name })
			if !told && len(n.text) <= 80 && strings.TrimSpace(n.text) != "" && !strings.Contains(n.text, "\n") {
				facts = append(facts, f)
			}
		}
	}
	collect(result, "result")
	if len(facts) == 0 {
		return "Done. The result is " + result.string(displayForm) + "."
	}
	first := facts[0]
	if len(facts) == 1 {
		return strings.NewReplacer("%p", first.name, "%v", first.text).Replace(pickOne(d, []string{
			"Done, the %p is %v.", "The call went through: %p %v.", "That worked, with %p %v.", "It is done. The %p is %v."}))
	}
	other := facts[1+d.pick(len(facts)-1)]
	return strings.NewReplacer("%p", first.name, "%v", first.text, "%q", other.name, "%w", other.text).Replace(pickOne(d, []string{
		"Done: the %p is %v and the %q is %w.", "The %p is %v, for %q %w.", "It worked. The %q is %w and the %p %v.",
		"Here is the outcome: %p %v, %q %w.", "All set, with %q %w (%p %v)."}))
}
