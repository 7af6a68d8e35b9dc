package bfcl

import (
	"encoding/json"
	"testing"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// Source text of Java and JavaScript as the reference converts it. What does not convert stays a string.
func TestSource(t *testing.T) {
	for _, tt := range []struct {
		lang                            language
		declared, element, text, reason string
		want                            string
	}{
		{java, "integer", "", "-07", "leading zeros", `-7`},
		{java, "integer", "", "7L", "a suffix that does not belong", `"7L"`},
		{java, "long", "", "7l", "a suffix that must be", `7`},
		{java, "long", "", "7", "and is missing", `"7"`},
		{java, "float", "", "1e2f", "an exponent", `100.0`},
		{java, "double", "", "3", "a double needs no point", `3.0`},
		{java, "boolean", "", "True", "case counts", `"True"`},
		{java, "Array", "integer", "new int[]{1, , 2}", "empty elements are passed over", `[1,2]`},
		{java, "Array", "String", `new String[] {"a"}`, "quotes stay in an array", `["\"a\""]`},
		{java, "ArrayList", "String", `new ArrayList<>(Arrays.asList("a", "é"))`, "and go in a list", `["a","é"]`},
		{java, "ArrayList", "integer", "new ArrayList<Integer>() {{ add(1); add(2); }}", "a list by adding", `[1,2]`},
		{java, "ArrayList", "integer", "new ArrayList<>()", "an empty list", `[]`},
		{java, "HashMap", "", `new HashMap<String, Object>() {{ put("k", "v"); put("n", 2L); put("k", 1.5f); }}`, "the last of equal keys", `{"k":1.5,"n":2}`},
		{java, "HashMap", "", `new HashMap<>()`, "an empty map", `{}`},
		{java, "any", "", "5", "any is text", `"5"`},
		{javaScript, "String", "", `'a"`, "quotes that do not match", `"'a\""`},
		{javaScript, "String", "", `'a'`, "quotes that do", `"a"`},
		{javaScript, "float", "", "5", "an integer is a float there", `5.0`},
		{javaScript, "float", "", "1e2", "no exponent", `"1e2"`},
		{javaScript, "Bigint", "", "12n", "the suffix of a big integer", `12`},
		{javaScript, "Boolean", "", "false", "a boolean", `false`},
		{javaScript, "array", "integer", "new Array(1, 2)", "a list by its constructor", `[1,2]`},
		{javaScript, "array", "array", "[[1, 'a'], [2.5, true]]", "rows", `[[1,"a"],[2.5,true]]`},
		{javaScript, "array", "integer", " [ ] ", "an empty list", `[]`},
		{javaScript, "dict", "", "{a: [1, 2], 'b': x, c: true}", "commas inside a list do not end a member", `{"a":[1,2],"b":"x","c":true}`},
		{javaScript, "dict", "", "{}", "an empty object", `{}`},
		{javaScript, "dict", "", "map", "no object", `"map"`},
	} {
		v, ok := jsonval.Value{}, true
		if tt.lang == java {
			v, ok = javaValue(tt.text, tt.declared, tt.element)
		} else {
			v = javaScriptValue(tt.text, tt.declared, tt.element)
		}
		if got := v.Encode(jsonval.Compact); got != tt.want || !ok {
			t.Errorf("%s: %s as %s: %s, want %s", tt.reason, tt.text, tt.declared, got, tt.want)
		}
	}
	for _, declared := range []string{"Set", "Queue", "Stack", "Hashtable"} {
		if _, ok := javaValue("x", declared, ""); ok {
			t.Errorf("%s: the reference raises", declared)
		}
	}
}

// Arguments in source text must be strings, before anything else is asked.
func TestSourceMustBeText(t *testing.T) {
	for category, want := range map[string]string{"simple_java": "type_error:java", "simple_javascript": "type_error:js"} {
		task := one(word("integer"), `[1]`)
		task.Category = category
		c := checker(t, task)
		if v := c.Check([]Call{{Name: "f", Arguments: json.RawMessage(`{"x": 1}`)}}); v.Error != want {
			t.Errorf("%s: %+v, want %s", category, v, want)
		}
		if v := c.Check([]Call{{Name: "f", Arguments: json.RawMessage(`{"x": "1"}`)}}); !v.Valid {
			t.Errorf("%s: %+v", category, v)
		}
	}
}
