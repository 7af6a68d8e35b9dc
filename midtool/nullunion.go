package midtool

import (
	"slices"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// DropNullUnions returns the tool in normal form, with parameters that are not null where they can be anything else:
// "null" leaves lists of types, enums and "anyOf". Libraries that derive schemas from Go types add it to every pointer
// and slice, and clients that expect one type cut such parameters off. What the result accepts the tool accepts too, so
// calls made for it are valid for both. For that, null stays below "not" and "oneOf", and a tool with a reference below
// one of these stays as it is. Each schema changed adds null_union_dropped to Lossy. The result has an ID of its own,
// and DropNullUnions changes it no more.
//
// The error is that of [Normalize].
func DropNullUnions(t Tool) (Tool, error) {
	t, err := Normalize(t)
	if err != nil {
		return Tool{}, err
	}
	root, err := jsonval.Parse(t.Parameters)
	if err != nil || refersWithin(&root, false) {
		return t, err
	}
	before := len(t.Lossy)
	lossy := slices.Clone(t.Lossy)
	dropNulls(&root, func() { lossy = append(lossy, "null_union_dropped") })
	if len(lossy) == before {
		return t, nil
	}
	t.Parameters, t.Lossy = root.Bytes(jsonval.Compact), lossy
	return Normalize(t)
}

// refersWithin says whether a reference lies below a "not" or a "oneOf".
func refersWithin(n *jsonval.Value, below bool) bool {
	for i := range n.Members {
		m := &n.Members[i]
		if below && m.Key == "$ref" || refersWithin(&m.Value, below || m.Key == "not" || m.Key == "oneOf") {
			return true
		}
	}
	return slices.ContainsFunc(n.List, func(v jsonval.Value) bool { return refersWithin(&v, below) })
}

func dropNulls(n *jsonval.Value, note func()) {
	dropped := dropNullType(n)
	for i := range n.Members {
		m := &n.Members[i]
		switch m.Key {
		case "properties", "$defs", "definitions", "patternProperties":
			for j := range m.Value.Members {
				dropNulls(&m.Value.Members[j].Value, note)
			}
		case "items", "additionalProperties":
			dropNulls(&m.Value, note)
		case "allOf", "prefixItems", "anyOf":
			for j := range m.Value.List {
				dropNulls(&m.Value.List[j], note)
			}
		}
	}
	isNull := func(v jsonval.Value) bool { return jsonval.StringOf(v.Get("type")) == "null" }
	if u := n.Get("anyOf"); u != nil {
		if rest := slices.DeleteFunc(slices.Clone(u.List), isNull); len(rest) > 0 && len(rest) < len(u.List) {
			u.List = rest
			dropped = true
			unwrapUnion(n)
		}
	}
	if dropped {
		if d := n.Get("default"); d != nil && d.Kind == jsonval.Null {
			n.Remove("default")
		}
		note()
	}
}

// dropNullType takes null from the types and the enum of a schema, if they leave anything else.
func dropNullType(n *jsonval.Value) bool {
	null := jsonval.NewString("null")
	t, e := n.Get("type"), n.Get("enum")
	hasType := t != nil && t.Kind == jsonval.List && len(t.List) > 1 && jsonval.Contains(t.List, null)
	hasEnum := e != nil && (hasType || t == nil) && jsonval.Contains(e.List, jsonval.Value{})
	if hasEnum && len(e.List) == 1 {
		return false
	}
	if hasEnum {
		e.List = slices.DeleteFunc(slices.Clone(e.List), func(v jsonval.Value) bool { return v.Kind == jsonval.Null })
	}
	if hasType {
		if t.List = slices.DeleteFunc(slices.Clone(t.List), func(v jsonval.Value) bool { return v.Text == "null" }); len(t.List) == 1 {
			*t = t.List[0]
		}
	}
	return hasType || hasEnum
}

// unwrapUnion puts the one branch that "anyOf" is left with in its place, where only annotations stand beside it.
func unwrapUnion(n *jsonval.Value) {
	at := slices.IndexFunc(n.Members, func(m jsonval.Member) bool { return m.Key == "anyOf" })
	branches := n.Members[at].Value.List
	if len(branches) != 1 {
		return
	}
	members := slices.Clone(n.Members[:at])
	for _, m := range slices.Concat(branches[0].Members, n.Members[at+1:]) {
		if old := slices.IndexFunc(members, func(o jsonval.Member) bool { return o.Key == m.Key }); old < 0 {
			members = append(members, m)
		}
	}
	beside := slices.ContainsFunc(n.Members, func(m jsonval.Member) bool {
		return m.Key != "anyOf" && m.Key != "default" && m.Key != "deprecated" && !schema.IsAnnotation(m.Key)
	})
	if !beside {
		n.Members = members
	}
}
