package midtool

import (
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

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
// Optional[T], Union[A,B] and A | B, with angle brackets too, nested at most 16 deep. The second result is false for a word it
// does not know.
func typeSchema(word string, depth int) (jsonval.Value, bool) {
	word = strings.TrimSpace(word)
	if depth > 16 {
		return jsonval.Value{}, false
	}
	if strings.ContainsAny(word, "<>") {
		word = strings.ReplaceAll(strings.ReplaceAll(word, "<", "["), ">", "]")
	}
	if t, ok := typeWords[strings.ToLower(word)]; ok {
		s := jsonval.NewObject()
		typ, extra, _ := strings.Cut(t, ":")
		if typ != "" {
			s.Set("type", jsonval.NewString(typ))
		}
		switch extra {
		case "":
		case "uniqueItems":
			s.Set("uniqueItems", jsonval.NewBool(true))
		default:
			s.Set("format", jsonval.NewString(extra))
		}
		return s, true
	}
	if alternatives := splitOutside(word, '|'); len(alternatives) > 1 {
		branches, ok := typeSchemas(alternatives, depth)
		return jsonval.NewObject(jsonval.Pair("anyOf", jsonval.NewList(branches...))), ok
	}
	if inner, ok := strings.CutSuffix(word, "[]"); ok {
		items, ok := typeSchema(inner, depth+1)
		return jsonval.NewObject(jsonval.Pair("type", jsonval.NewString("array")), jsonval.Pair("items", items)), ok
	}
	head, rest, ok := strings.Cut(word, "[")
	if !ok || !strings.HasSuffix(rest, "]") {
		return jsonval.Value{}, false
	}
	args, ok := typeSchemas(splitOutside(strings.TrimSuffix(rest, "]"), ','), depth)
	if !ok {
		return jsonval.Value{}, false
	}
	head = strings.ToLower(strings.TrimSpace(head))
	switch {
	case head == "optional" && len(args) == 1:
		return nullable(args[0]), true
	case head == "union" && len(args) > 0:
		return jsonval.NewObject(jsonval.Pair("anyOf", jsonval.NewList(args...))), true
	}
	base, ok := typeSchema(head, depth+1)
	switch typ := jsonval.StringOf(base.Get("type")); {
	case !ok:
	case typ == "array" && len(args) == 1:
		base.Set("items", args[0])
		return base, true
	case typ == "array" && head == "tuple":
		base.Set("prefixItems", jsonval.NewList(args...))
		base.Set("items", jsonval.NewObject())
		return base, true
	case typ == "object" && len(args) == 2:
		base.Set("additionalProperties", args[1])
		return base, true
	}
	return jsonval.Value{}, false
}

// typeSchemas reads the words inside another.
func typeSchemas(words []string, depth int) ([]jsonval.Value, bool) {
	var out []jsonval.Value
	for _, w := range words {
		s, ok := typeSchema(w, depth+1)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// splitOutside cuts at the separators outside brackets.
func splitOutside(s string, separator byte) []string {
	var out []string
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		case separator:
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
func nullable(s jsonval.Value) jsonval.Value {
	inner := false
	for _, k := range []string{"$ref", "oneOf", "anyOf", "allOf", "not", "const"} {
		inner = inner || s.Get(k) != nil
	}
	if !inner {
		switch t := s.Get("type"); {
		case t == nil:
		case t.Kind == jsonval.String && t.Text != "null":
			*t = jsonval.NewList(*t, jsonval.NewString("null"))
		case t.Kind == jsonval.List && !jsonval.Contains(t.List, jsonval.NewString("null")):
			t.List = append(t.List, jsonval.NewString("null"))
		}
		if e := s.Get("enum"); e != nil && e.Kind == jsonval.List && !jsonval.Contains(e.List, jsonval.Value{}) {
			e.List = append(e.List, jsonval.Value{})
		}
		return s
	}
	outer, branch := jsonval.NewObject(), jsonval.NewObject()
	for _, m := range s.Members {
		switch m.Key {
		case "title", "description", "default", "examples", "deprecated", "$defs", "definitions":
			outer.Members = append(outer.Members, m)
		default:
			branch.Members = append(branch.Members, m)
		}
	}
	outer.Set("anyOf", jsonval.NewList(branch, jsonval.NewObject(jsonval.Pair("type", jsonval.NewString("null")))))
	return outer
}
