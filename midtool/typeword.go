package midtool

import "strings"

// typeWords maps the type words found in the wild to JSON Schema: a type and, after a colon, a format or a keyword.
var typeWords = func() map[string]string {
	m := map[string]string{
		"null": "null", "none": "null", "nonetype": "null", "any": "", "date": "string:date", "datetime": "string:date-time",
		"date-time": "string:date-time", "file": "string:binary", "binary": "string:binary", "set": "array:uniqueItems",
	}
	for typ, names := range map[string]string{
		"string":  "string str char text password",
		"integer": "integer int int32 int64 long short byte bigint",
		"number":  "number float double decimal",
		"boolean": "boolean bool",
		"array":   "array list arraylist queue stack tuple",
		"object":  "object dict map hashmap hashtable",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = typ
		}
	}
	return m
}()

// typeSchema turns a type word into schema members, in a fixed order. It understands T[], List[T], Dict[K,V],
// Optional[T] and Union[A,B], nested to any depth that the reader allows. The second result is false for a word it
// does not know.
func typeSchema(word string, depth int) (node, bool) {
	word = strings.TrimSpace(word)
	if depth > 16 {
		return node{}, false
	}
	if t, ok := typeWords[strings.ToLower(word)]; ok {
		s := objectNode()
		typ, extra, _ := strings.Cut(t, ":")
		if typ != "" {
			s.set("type", stringNode(typ))
		}
		switch extra {
		case "":
		case "uniqueItems":
			s.set("uniqueItems", boolNode(true))
		default:
			s.set("format", stringNode(extra))
		}
		return s, true
	}
	if inner, ok := strings.CutSuffix(word, "[]"); ok {
		items, ok := typeSchema(inner, depth+1)
		return objectNode(member{"type", stringNode("array")}, member{"items", items}), ok
	}
	head, rest, ok := strings.Cut(word, "[")
	if !ok || !strings.HasSuffix(rest, "]") {
		return node{}, false
	}
	var args []node
	for _, a := range splitArguments(strings.TrimSuffix(rest, "]")) {
		s, ok := typeSchema(a, depth+1)
		if !ok {
			return node{}, false
		}
		args = append(args, s)
	}
	head = strings.ToLower(strings.TrimSpace(head))
	switch {
	case head == "optional" && len(args) == 1:
		return nullable(args[0]), true
	case head == "union" && len(args) > 0:
		return objectNode(member{"anyOf", listNode(args...)}), true
	}
	base, ok := typeSchema(head, depth+1)
	switch typ := textOf(base.get("type")); {
	case !ok:
	case typ == "array" && len(args) == 1:
		base.set("items", args[0])
		return base, true
	case typ == "array" && head == "tuple":
		base.set("prefixItems", listNode(args...))
		base.set("items", objectNode())
		return base, true
	case typ == "object" && len(args) == 2:
		base.set("additionalProperties", args[1])
		return base, true
	}
	return node{}, false
}

// splitArguments cuts at the commas outside brackets.
func splitArguments(s string) []string {
	var out []string
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

// nullable returns a schema that also accepts null: its type gains "null" and its enum the value; a schema that is
// combined from others becomes a branch.
func nullable(s node) node {
	inner := false
	for _, k := range []string{"$ref", "oneOf", "anyOf", "allOf", "not", "const"} {
		inner = inner || s.get(k) != nil
	}
	if !inner {
		switch t := s.get("type"); {
		case t == nil:
		case t.kind == stringKind && t.text != "null":
			*t = listNode(*t, stringNode("null"))
		case t.kind == listKind && !containsNode(t.list, stringNode("null")):
			t.list = append(t.list, stringNode("null"))
		}
		if e := s.get("enum"); e != nil && e.kind == listKind && !containsNode(e.list, node{}) {
			e.list = append(e.list, node{})
		}
		return s
	}
	outer, branch := objectNode(), objectNode()
	for _, m := range s.members {
		switch m.key {
		case "title", "description", "default", "examples", "deprecated", "$defs", "definitions":
			outer.members = append(outer.members, m)
		default:
			branch.members = append(branch.members, m)
		}
	}
	outer.set("anyOf", listNode(branch, objectNode(member{"type", stringNode("null")})))
	return outer
}

// containsNode compares as JSON Schema does: 1 equals 1.0.
func containsNode(list []node, v node) bool {
	want := equalForm(&v)
	for i := range list {
		if equalForm(&list[i]) == want {
			return true
		}
	}
	return false
}
