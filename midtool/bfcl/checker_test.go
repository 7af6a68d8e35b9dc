package bfcl

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// one makes a task of one function f with one parameter x.
func one(schema, gold string) Task {
	return Task{ID: "t_0", Category: "simple_python",
		Functions: []Function{{Name: "f", Parameters: json.RawMessage(`{"type": "dict", "properties": {"x": ` + schema + `}, "required": []}`)}},
		Gold:      []Gold{{Name: "f", Options: json.RawMessage(`{"x": ` + gold + `}`)}}}
}

func word(t string) string { return `{"type": "` + t + `"}` }

func listOf(t string) string { return `{"type": "array", "items": {"type": "` + t + `"}}` }

// The rules for one value.
func TestValues(t *testing.T) {
	for _, tt := range []struct{ schema, gold, value, want, reason string }{
		{word("float"), `[5.0]`, `5`, "", "an integer is converted where the schema says float"},
		{word("integer"), `[5]`, `5.0`, "type_error:simple", "a float is no integer"},
		{word("integer"), `[1]`, `true`, "type_error:simple", "a boolean is no integer"},
		{word("boolean"), `[true]`, `1`, "type_error:simple", "an integer is no boolean"},
		{listOf("float"), `[[1, 2]]`, `[1, 2]`, "", "elements have the type of the accepted list"},
		{listOf("float"), `[[1.0, 2.0]]`, `[1, 2]`, "type_error:nested", "elements are not converted"},
		{listOf("string"), `[["a"], ""]`, `[]`, "", "an optional list may be empty"},
		{listOf("string"), `[["a"], ""]`, `[1]`, "value_error:list/tuple", "an option that is no list lets every element pass as to its type"},
		{listOf("string"), `[["a"]]`, `[1]`, "type_error:nested", "else the type counts"},
		{word("string"), `["New York, NY"]`, `"new-york ny"`, "", "case, spaces and punctuation are folded"},
		{word("string"), `["abc", ""]`, `""`, "", "an optional string may be empty"},
		{word("dict"), `[{"a": ["p"], "b": ["q"]}]`, `{"a": "z"}`, "value_error:dict_key", "a key that is missing replaces a wrong value"},
		{word("dict"), `[""]`, `{"a": 1}`, "dict_checker:unclear", "no object is accepted"},
		{word("dict"), `[{"a": ["p"], "b": ["q", ""]}]`, `{"a": "P"}`, "", "members may be optional"},
		{listOf("dict"), `[[{"a": ["p"]}], ""]`, `[]`, "", "an optional list of objects may be empty"},
		{listOf("dict"), `[[{"a": ["p"]}]]`, `[{"a": "p"}, {"a": "p"}]`, "value_error:list_dict_count", "lengths count"},
		{word("string"), `[7]`, `7`, "", "accepted values of another type stand for a variable"},
		{word("string"), `[7]`, `"7"`, "value_error:others", "and are compared as they are"},
		{listOf("float"), `["v"]`, `[1.0]`, "value_error:others", "so are lists"},

		{word("integer"), `[1000000000000000000000000000000]`, `1000000000000000000000000000000`, "", "integers have any length"},
		{word("integer"), `[1000000000000000000000000000000]`, `1000000000000000000000000000001`, "value_error:others", "and are exact"},
		{word("float"), `[9007199254740992.0]`, `9007199254740993`, "", "a conversion rounds as Python's float does"},
		{listOf("integer"), `[[9007199254740992.0], [9007199254740993]]`, `[9007199254740993]`, "", "an integer equals itself"},
		{listOf("integer"), `[[9007199254740992.0, 1]]`, `[9007199254740993, 1]`, "value_error:list/tuple", "and no float near it"},
		{listOf("integer"), `[[9007199254740992.0, 1]]`, `[9007199254740992, 1]`, "", "but the float of the same value"},
		{listOf("integer"), `[[2.5, 1]]`, `[2, 1]`, "value_error:list/tuple", "a float with a fraction is no integer"},
		{listOf("any"), `[["a", 1, true, null]]`, `["A", 1.0, 1, null]`, "type_error:nested", "each element has the type of the schema or of the first"},
		{word("any"), `["a b"]`, `"AB"`, "", "any is a string"},
		{word("tuple"), `[[1, 2]]`, `[1, 2]`, "exception", "a tuple without a type of its elements"},
		{`{"type": "tuple", "items": {"type": "integer"}}`, `[[1, 2]]`, `[2, 1]`, "value_error:list/tuple", "order counts"},
		{word("number"), `[1]`, `1`, "exception", "the reference knows no such word"},
		{listOf("string"), `[["a"], null]`, `["a"]`, "exception", "null cannot be walked through"},
		{listOf("dict"), `[[{"a": ["p"]}], ""]`, `["b"]`, "exception", "an element that is no object"},
		{listOf("string"), `[["a"], "ab"]`, `["A", "b"]`, "", "a string is walked through by its characters"},
		{word("string"), `["it's"]`, `"It\"s"`, "", "quotes are equal"},
		{word("string"), `["a"]`, `"a\t"`, "value_error:string", "a tab is not folded"},
		{word("string"), `["\u00e9"]`, `"e\u0301"`, "value_error:string", "accents are not folded"},
		{word("string"), `["a"]`, `null`, "type_error:simple", "null is no string"},
		{word("string"), `[null, "a"]`, `null`, "", "unless it is accepted"},
		{word("dict"), `[{"a": ["P Q"]}, {"a": ["r"]}]`, `{"a": "pq"}`, "", "members are folded"},
		{word("dict"), `[{"a": ["p"]}]`, `{"a": "z"}`, "value_error:dict_value", "a wrong value alone"},
		{word("dict"), `[{"a": [[1, {"b": 1}]]}]`, `{"a": [1.0, {"b": true}]}`, "", "what is deeper is compared as Python does"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			task := one(tt.schema, tt.gold)
			v := checker(t, task).Check([]Call{{Name: "f", Arguments: json.RawMessage(`{"x": ` + tt.value + `}`)}})
			if v.Error != tt.want || v.Valid != (tt.want == "") {
				t.Errorf("%s, gold %s, value %s: %+v, want %q", tt.schema, tt.gold, tt.value, v, tt.want)
			}
			if !v.Valid && (v.Path != "/x" || v.Call != 0 || v.Detail == "") {
				t.Errorf("no place in %+v", v)
			}
		})
	}
}

// beds is a task with two functions that share their parameters.
func beds(category string, gold ...Gold) Task {
	schema := json.RawMessage(`{"type": "dict", "properties": {"bed": {"type": "string"}, "minutes": {"type": "integer"},
		"gentle": {"type": "boolean"}}, "required": ["bed"]}`)
	return Task{ID: category + "_0", Category: category, Functions: []Function{{Name: "garden.water", Parameters: schema}, {Name: "dig", Parameters: schema}}, Gold: gold}
}

func gold(name, options string) Gold { return Gold{name, json.RawMessage(options)} }

// Counting, matching and the faults of whole calls.
func TestCalls(t *testing.T) {
	ferns, moss := `{"bed": ["ferns"], "minutes": [4, ""]}`, `{"bed": ["moss"], "minutes": [2]}`
	single := beds("simple_python", gold("garden.water", ferns))
	multiple := beds("multiple", gold("dig", ferns))
	parallel := beds("parallel", gold("garden.water", ferns), gold("garden.water", moss))
	for _, tt := range []struct {
		task                       Task
		output, want, path, reason string
		call                       int
	}{
		{single, `[{"garden.water": {"bed": "Ferns"}}]`, "", "", "an optional argument is left out", -1},
		{single, `[]`, "simple_function_checker:wrong_count", "", "no call", -1},
		{single, `[{"garden.water": {"bed": "ferns"}}, {"garden.water": {"bed": "ferns"}}]`, "simple_function_checker:wrong_count", "", "two calls", -1},
		{single, `[{"Garden.water": {"bed": "ferns"}}]`, "simple_function_checker:wrong_func_name", "", "case counts in names", 0},
		{single, `[{"garden_water": {"bed": "ferns"}}]`, "simple_function_checker:wrong_func_name", "", "a dot is a dot", 0},
		{single, `[{"garden.water": {"minutes": 4}}]`, "simple_function_checker:missing_required", "/bed", "the schema comes first", 0},
		{single, `[{"garden.water": {"bed": "ferns", "a/b~": 4}}]`, "simple_function_checker:unexpected_param", "/a~1b~0", "not in the schema", 0},
		{single, `[{"garden.water": {"bed": "ferns", "gentle": true}}]`, "simple_function_checker:unexpected_param", "/gentle", "not in gold", 0},
		{single, `[{"dig": {"bed": "ferns"}}]`, "simple_function_checker:wrong_func_name", "", "the first function is meant", 0},
		{multiple, `[{"dig": {"bed": "ferns"}}]`, "", "", "the function that gold names is meant", -1},
		{multiple, `[]`, "multiple_function_checker:wrong_count", "", "no call", -1},
		{beds("multiple", gold("plow", ferns)), `[{"plow": {"bed": "ferns"}}]`, "exception", "", "gold names a function that is not offered", 0},
		{parallel, `[{"garden.water": {"bed": "moss", "minutes": 2}}, {"garden.water": {"bed": "ferns"}}]`, "", "", "any order", -1},
		{parallel, `[{"garden.water": {"bed": "moss", "minutes": 2}}, {"garden.water": {"bed": "moss", "minutes": 2}}]`,
			"parallel_function_checker_no_order:cannot_find_match", "", "each call is used once", -1},
		{parallel, `[{"garden.water": {"bed": "ferns"}}]`, "parallel_function_checker_no_order:wrong_count", "", "one of two", -1},
		{beds("simple_python", gold("garden.water", moss)), `[{"garden.water": {"bed": "moss"}}]`, "simple_function_checker:missing_optional", "/minutes",
			"gold expects what the schema does not require", 0},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			v := checker(t, tt.task).CheckOutput([]byte(tt.output))
			if v.Error != tt.want || v.Valid != (tt.want == "") || v.Path != tt.path || v.Call != tt.call {
				t.Errorf("%s: %+v, want %q, call %d at %q", tt.output, v, tt.want, tt.call, tt.path)
			}
		})
	}
}

// An assignment exists, and the reference misses it: the first expected call takes the call that the second needs.
func TestParallelIsGreedy(t *testing.T) {
	task := beds("parallel", gold("dig", `{"bed": ["ferns", "moss"]}`), gold("dig", `{"bed": ["ferns"]}`))
	c := checker(t, task)
	for output, want := range map[string]bool{
		`[{"dig": {"bed": "moss"}}, {"dig": {"bed": "ferns"}}]`: true,
		`[{"dig": {"bed": "ferns"}}, {"dig": {"bed": "moss"}}]`: false,
	} {
		if v := c.CheckOutput([]byte(output)); v.Valid != want {
			t.Errorf("%s: %+v, want %v", output, v, want)
		}
	}
}

// A model that was shown a_b for a.b is right when it calls a_b; nothing is looked up by the name of a model.
func TestDotsToUnderscores(t *testing.T) {
	task := beds("parallel_multiple", gold("garden.water", `{"bed": ["ferns"]}`), gold("dig", `{"bed": ["moss"]}`))
	output := `[{"dig": {"bed": "moss"}}, {"%s": {"bed": "ferns"}}]`
	for _, dots := range []bool{false, true} {
		c, err := NewChecker(task, &Options{DotsToUnderscores: dots})
		if err != nil {
			t.Fatal(err)
		}
		for name, underscore := range map[string]bool{"garden.water": false, "garden_water": true} {
			if v := c.CheckOutput(fmt.Appendf(nil, output, name)); v.Valid != (underscore == dots) {
				t.Errorf("dots to underscores %v, %s: %+v", dots, name, v)
			}
		}
	}
}

// The same function called twice is two entries of a list, in gold as in the output: no names are made up.
func TestSameFunctionTwice(t *testing.T) {
	g := gold("dig", `{"bed": ["ferns"]}`)
	c := checker(t, beds("parallel", g, g))
	if v := c.CheckOutput([]byte(`[{"dig": {"bed": "ferns"}}, {"dig": {"bed": "ferns"}}]`)); !v.Valid {
		t.Errorf("%+v", v)
	}
	if v := c.CheckOutput([]byte(`[{"dig_1": {"bed": "ferns"}}, {"dig_2": {"bed": "ferns"}}]`)); v.Valid {
		t.Errorf("%+v", v)
	}
}

// Calls are compared by their arguments, never by the text that has them.
func TestOrderOfArgumentsDoesNotCount(t *testing.T) {
	c := checker(t, beds("simple_python", gold("garden.water", `{"bed": ["ferns"], "minutes": [4]}`)))
	for _, output := range []string{`[garden.water(bed="ferns", minutes=4)]`, `garden.water( minutes = 4,bed='ferns',)`,
		`[{"garden.water": {"minutes": 4, "bed": "ferns"}}]`, `"[garden.water(minutes=4, bed=\"ferns\")]"`} {
		if v := c.CheckOutput([]byte(output)); !v.Valid {
			t.Errorf("%s: %+v", output, v)
		}
	}
}

// Where no call is wanted, and where one is.
func TestRelevance(t *testing.T) {
	none, some := checker(t, beds("live_irrelevance")), checker(t, beds("live_relevance"))
	const called, silent = "irrelevance_error:decoder_success", "relevance_error:decoder_failed"
	for _, tt := range []struct{ output, irrelevance, relevance, reason string }{
		{`[]`, "", silent, "an empty list is silence"},
		{`[{}]`, "", silent, "so is an empty object in it"},
		{`"Which bed?"`, "", silent, "so is prose"},
		{`Which bed?`, "", silent, "also where it is no JSON"},
		{`[{"dig": {}, "garden.water": {}}]`, "", silent, "two keys are no call"},
		{`[{"dig": 1}]`, "", silent, "arguments that are no object are no call"},
		{"[{\"dig\": {\"bed\": \"\xff\"}}]", "", silent, "invalid UTF-8 is no call"},
		{`null`, "", silent, "null"},
		{`[{"dig": {"bed": "moss"}}]`, called, "", "a call"},
		{`[{"plow": {}}]`, called, "", "a call of something else is a call"},
		{`[{"dig": {"bed": " "}}]`, "blank_call", "blank_call", "a question in the clothes of a call is neither"},
		{`[{"dig": {"bed": ""}}, {"dig": {"bed": "moss"}}]`, called, "", "one real call is enough"},
		{`[{"dig": {"minutes": 2}}]`, called, "", "an absent argument is not a blank one"},
	} {
		for c, want := range map[*Checker]string{none: tt.irrelevance, some: tt.relevance} {
			if v := c.CheckOutput([]byte(tt.output)); v.Error != want || v.Valid != (want == "") || v.Blank != (want == "blank_call") {
				t.Errorf("%s: %s: %+v, want %q", tt.reason, tt.output, v, want)
			}
		}
	}
	// The comparison with gold is that of the reference; a blank call is marked besides.
	v := checker(t, beds("simple_python", gold("dig", `{"bed": ["moss"]}`))).CheckOutput([]byte(`[{"dig": {"bed": ""}}]`))
	if v.Error != "simple_function_checker:wrong_func_name" || !v.Blank {
		t.Errorf("%+v", v)
	}
}

// Gold and schema that disagree show when gold is fed back.
func TestGoldThatContradictsTheSchema(t *testing.T) {
	for _, tt := range []struct {
		gold, full, short, reason string
	}{
		{`{"bed": ["ferns"], "minutes": ["", 4]}`, "", "", "they agree"},
		{`{"bed": [""], "minutes": [4]}`, "simple_function_checker:missing_required", "simple_function_checker:missing_required",
			"gold leaves out what the schema requires"},
		{`{"bed": ["ferns", ""]}`, "", "simple_function_checker:missing_required", "gold allows to leave it out"},
		{`{"bed": ["ferns"], "depth": [1]}`, "simple_function_checker:unexpected_param", "simple_function_checker:unexpected_param",
			"gold knows a parameter that the schema has not"},
	} {
		task := beds("simple_python", gold("garden.water", tt.gold))
		for short, want := range map[bool]string{false: tt.full, true: tt.short} {
			calls, err := task.GoldCalls(short)
			if err != nil {
				t.Fatal(err)
			}
			if v := checker(t, task).Check(calls); v.Error != want {
				t.Errorf("%s, short %v: %+v, want %q", tt.reason, short, v, want)
			}
		}
	}
}

// Gold of objects has lists of accepted values inside.
func TestGoldCalls(t *testing.T) {
	task := one(listOf("dict"), `["", [{"a": ["", "p"], "b": [""], "c": [[1]], "d": 2}, 7]]`)
	calls, err := task.GoldCalls(false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(calls[0].Arguments), `{"x":[{"a":"p","c":[1],"d":2},7]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	short, err := task.GoldCalls(true)
	if err != nil || string(short[0].Arguments) != `{}` {
		t.Errorf("%s, %v", short[0].Arguments, err)
	}
}

// What cannot be a task is named when it is prepared, with its place.
func TestNewCheckerErrors(t *testing.T) {
	fn := func(parameters string) Task {
		task := one(word("string"), `["a"]`)
		task.Functions[0].Parameters = json.RawMessage(parameters)
		return task
	}
	category := one(word("string"), `["a"]`)
	category.Category = "multi_turn_base"
	noGold := one(word("string"), `["a"]`)
	noGold.Gold = nil
	bare := one(word("string"), `["a"]`)
	bare.Gold[0].Options = json.RawMessage(`[1]`)
	for _, tt := range []struct {
		task Task
		want []string
	}{
		{category, []string{`"multi_turn_base"`, "running code"}},
		{noGold, []string{"no gold answer"}},
		{bare, []string{"gold call 0 (f)", "got list"}},
		{one(word("string"), `"a"`), []string{"gold call 0 (f)", `parameter "x"`, "got string"}},
		{fn(`[]`), []string{"function 0 (f)", "got list"}},
		{fn(`{"properties": 1}`), []string{"function 0 (f)", `"properties"`, "got number"}},
		{fn(`{"required": {}}`), []string{`"required"`, "got object"}},
		{fn(`{"required": [1]}`), []string{`"required" 0`, "got number"}},
		{fn(`{`), []string{"parameters", "offset 1"}},
		{fn(``), []string{"parameters"}},
		{fn(strings.Repeat("[", 1000)), []string{"nested deeper than 64"}},
	} {
		_, err := NewChecker(tt.task, nil)
		for _, want := range append(tt.want, "bfcl: task t_0: ") {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
	if _, err := NewChecker(fn(`{"required": null}`), nil); err != nil {
		t.Error(err)
	}
}

// Check takes calls as they come.
func TestCheckBadArguments(t *testing.T) {
	c := checker(t, one(word("string"), `["a", ""]`))
	if v := c.Check([]Call{{Name: "f"}}); !v.Valid {
		t.Errorf("no arguments: %+v", v)
	}
	for _, args := range []string{``, `1`, `{"x": NaN}`, "{\"x\": \"\xff\"}", `{"x": 1e999}`, `{"x":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}`} {
		if v := c.Check([]Call{{Name: "f", Arguments: json.RawMessage(args)}}); v.Error != "format" || v.Calls != 0 || v.Call != -1 {
			t.Errorf("%.40s: %+v", args, v)
		}
	}
	long := c.Check([]Call{{Name: "f", Arguments: json.RawMessage(`{"x": "` + strings.Repeat("é", 1<<20) + `"}`)}})
	if long.Error != "value_error:string" || len(long.Detail) > 300 {
		t.Errorf("%d bytes of detail", len(long.Detail))
	}
}

// Adding an unknown argument, another name, and no calls are never right; the order of keys never matters.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := drawTask(t)
		c, err := NewChecker(task, nil)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := task.GoldCalls(rapid.Bool().Draw(t, "short"))
		if err != nil {
			t.Fatal(err)
		}
		before := c.Check(calls)
		if c.Check(nil).Valid {
			t.Fatal("valid without calls")
		}
		i := rapid.IntRange(0, len(calls)-1).Draw(t, "call")
		change := func(f func(*Call)) []Call {
			other := append([]Call(nil), calls...)
			f(&other[i])
			return other
		}
		if v := c.Check(change(func(c *Call) { c.Name += "x" })); v.Valid {
			t.Fatal("valid with another name")
		}
		if v := c.Check(change(func(c *Call) { c.Arguments = addKey(t, c.Arguments) })); v.Valid {
			t.Fatal("valid with an unknown argument")
		}
		if v := c.Check(change(func(c *Call) { c.Arguments = reverseKeys(t, c.Arguments) })); v.Valid != before.Valid {
			t.Fatalf("%+v, with keys reversed %+v", before, v)
		}
		var output []map[string]json.RawMessage
		for _, call := range calls {
			output = append(output, map[string]json.RawMessage{call.Name: call.Arguments})
		}
		b, err := json.Marshal(output)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, c.CheckOutput(b)); diff != "" {
			t.Fatalf("as output (-calls +output):\n%s", diff)
		}
	})
}
