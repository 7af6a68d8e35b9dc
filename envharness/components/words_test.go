package components_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// wordsCases have for every kind parameters and what they mean in words.
var wordsCases = []struct{ tag, params, want, reason string }{
	{"start_replay", `{}`, "nothing changes", "no actions"},
	{"start_replay", `{"actions":[{"name":"look"}]}`, "before the first turn 1 action is carried out: look", "one"},
	{"start_replay", `{"actions":[{"name":"look"},{"name":"take","args":{"id":1}}],"aid":true}`,
		`before the first turn 2 actions of a solution are carried out: look, take {"id":1}`, "two, and part of a solution"},
	{"start_replay", `{"actions":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"},{"name":"e"},{"name":"f"}]}`,
		"before the first turn 6 actions are carried out: a, b, c, d, e, f", "all where one would be left"},
	{"start_replay", `{"actions":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"},{"name":"e"},{"name":"f"},{"name":"g"}]}`,
		"before the first turn 7 actions are carried out: a, b, c, d, e, 2 more", "the first five of many"},

	{"start_replay", `{"actions":[{"name":"a\nb"}]}`, `before the first turn 1 action is carried out: "a\nb"`, "one line"},

	{"start_patch", `{}`, "nothing changes", "nothing is set"},
	{"start_patch", `{"set":{"/count":2}}`, "before the first turn /count is set to 2", "one place"},
	{"start_patch", `{"set":{"/x y":"a b","/count":{"n":2}}}`, `before the first turn /count is set to {"n":2} and "/x y" to "a b"`,
		"in order of the places"},

	{"block", `{}`, `calls of any tool are refused with "not available"`, "the defaults"},
	{"block", `{"tools":["get_order"],"reason":"closed for today"}`, `calls of get_order are refused with "closed for today"`,
		"its own reason"},
	{"block", `{"tools":["get_*","set_address"],"args":{"id":1}}`,
		`calls of "get_*" or set_address with {"id":1} are refused with "not available"`, "a pattern is no name"},
	{"block", `{"tools":["a","b","c","d","e","f"]}`, `calls of a, b, c, d, e or f are refused with "not available"`,
		"none is left out for one"},
	{"block", `{"max":1}`, `the first call of any tool is refused with "not available"`, "once"},
	{"block", `{"tools":["a","b","c"],"max":2,"from":3}`, `from turn 3 on, the first 2 calls of a, b or c are refused with "not available"`,
		"twice, and later"},
	{"block", `{"tools":["a","b","c","d","e","f","g"],"until":1}`,
		`in turn 0, calls of a, b, c, d, e or 2 more are refused with "not available"`, "a long list and one turn"},

	{"rename", `{}`, "nothing changes", "no names"},
	{"rename", `{"tools":{"get":"get"},"args":{"get":{"id":"id"}}}`, "nothing changes", "the same names"},
	{"rename", `{"tools":{"get_order":"show_order"}}`, "get_order is called show_order", "a tool"},
	{"rename", `{"tools":{"b":"a","a":"b"},"args":{"a":{"id":"order id"}}}`,
		`a is called b, b is called a and the argument id of a is called "order id"`, "a swap, and an argument by the tool's present name"},

	{"sticky", `{"p":0}`, "nothing changes", "never"},
	{"sticky", `{}`, "in each turn the action before is repeated, with probability 0.1, in place of the one asked for, " +
		"except for calls of tools that submit", "the defaults"},
	{"sticky", `{"p":0.25,"duration":2,"exempt":["wait","look"],"from":1,"until":5}`, "from turn 1 to turn 4, in each turn the action before is repeated " +
		"for 2 turns, with probability 0.25, in place of the one asked for, except for calls of wait, look or tools that submit", "all of it"},

	{"tool_fail", `{"tools":["get_order"]}`, "the first call of get_order fails once, and can be retried", "the defaults"},
	{"tool_fail", `{"mode":"nth","nth":2,"count":1,"message":"busy"}`, `the second call of any tool fails once with "busy", and can be retried`,
		"a later one, with a message"},
	{"tool_fail", `{"tools":["a","b"],"count":3,"until":2}`, "before turn 2, the first 3 calls of a or b fail, and can be retried",
		"more than one"},
	{"tool_fail", `{"nth":2,"count":2,"from":1}`, "from turn 1 on, calls 2 to 3 of any tool fail, and can be retried",
		"more than one, later"},
	{"tool_fail", `{"nth":2,"count":9223372036854775807}`, "calls 2 to 9223372036854775808 of any tool fail, and can be retried",
		"no overflow"},
	{"tool_fail", `{"nth":11,"from":2}`, "from turn 2 on, the 11th call of any tool fails once, and can be retried", "eleventh"},
	{"tool_fail", `{"nth":22}`, "the 22nd call of any tool fails once, and can be retried", "twenty-second"},
	{"tool_fail", `{"nth":101}`, "the 101st call of any tool fails once, and can be retried", "hundred and first"},
	{"tool_fail", `{"nth":113}`, "the 113th call of any tool fails once, and can be retried", "hundred and thirteenth"},
	{"tool_fail", `{"nth":33}`, "the 33rd call of any tool fails once, and can be retried", "thirty-third"},
	{"tool_fail", `{"mode":"rate","until":1}`, "in turn 0, each call of any tool fails, with probability 0.2, and can be retried",
		"the default probability"},
	{"tool_fail", `{"mode":"rate","p":0.5,"count":2}`,
		"each call of any tool fails, with probability 0.5, and the call after it fails too; they can be retried", "one more"},
	{"tool_fail", `{"mode":"rate","p":1,"count":3,"message":"busy","from":1,"until":4}`, `from turn 1 to turn 3, each call of any tool fails with ` +
		`"busy", with probability 1, and the 2 calls after it fail too; they can be retried`, "two more"},
	{"tool_fail", `{"mode":"rate","p":0}`, "nothing changes", "never"},

	{"tool_down", `{}`, "every call of any tool fails for good", "the defaults"},
	{"tool_down", `{"tools":["get"],"message":"out of order","from":2,"until":3}`, `in turn 2, every call of get fails for good with "out of order"`,
		"all of it"},

	{"corrupt_read", `{"field":"/status"}`,
		"each result of a tool that only reads shows, with probability 0.3, a value with two characters swapped at /status", "the defaults"},
	{"corrupt_read", `{"field":"/a b","tools":["get"],"p":0.5,"kind":"offset","until":9}`,
		`before turn 9, each result of get shows, with probability 0.5, a number that is a little off at "/a b"`, "all of it"},
	{"corrupt_read", `{"field":"/x/*/y","p":1,"kind":"blank","from":1}`,
		`from turn 1 on, each result of a tool that only reads shows, with probability 1, an empty value at "/x/*/y"`,
		"blank, and many places"},
	{"corrupt_read", `{"field":"/x","p":0}`, "nothing changes", "never"},

	{"rate_limit", `{}`, "at most 3 calls of any tool can be made in any 10 turns, and further ones fail until the next is due",
		"the defaults"},
	{"rate_limit", `{"tools":["get"],"calls":1,"window":4,"from":2,"until":3}`,
		"in turn 2, at most 1 call of get can be made in any 4 turns, and further ones fail until the next is due", "all of it"},

	{"permission", `{"grant":{"tool":"login"}}`, "calls of any tool are refused until a call of login was carried out", "the defaults"},
	{"permission", `{"tools":["set_*"],"grant":{"tool":"login","args":{"as":"me"}},"expires":1,"from":1,"until":5}`,
		`from turn 1 to turn 4, calls of "set_*" are refused until a call of login with {"as":"me"} was carried out, which holds for 1 turn`,
		"all of it"},

	{"stale_read", `{}`, "a repeated call of a tool that only reads shows its result from before the last write", "the defaults"},
	{"stale_read", `{"tools":["get"],"age":2,"from":1,"until":9}`,
		"from turn 1 to turn 8, a repeated call of get shows its result from before the last 2 writes", "all of it"},

	{"paginate", `{}`, "lists in results of any tool are shown 10 items at a time; next shows what follows", "the defaults"},
	{"paginate", `{"tools":["get"],"page_size":1,"list":"/items","next":"more","from":1,"until":7}`,
		"from turn 1 to turn 6, the list /items in results of get is shown 1 item at a time; more shows what follows", "one list"},
	{"paginate", `{"max_bytes":60,"until":9}`, "before turn 9, results of any tool are shown 60 bytes at a time; next shows what follows",
		"the text"},

	{"obs_noise", `{"fields":["/total"]}`, "/total is left out with probability 0.1", "the defaults"},
	{"obs_noise", `{"fields":["/a","text"],"kind":"drop","p":0.5,"from":2,"until":4}`,
		"from turn 2 to turn 3, each of /a and the text is left out with probability 0.5", "two fields"},
	{"obs_noise", `{"fields":["/a"],"kind":"gauss","sigma":0.5,"until":9}`, "before turn 9, /a is shown with normal noise of deviation 0.5",
		"gauss"},
	{"obs_noise", `{"fields":["/a"],"kind":"stuck","p":0.25,"until":9}`, "before turn 9, /a is shown as it was before with probability 0.25",
		"stuck"},
	{"obs_noise", `{"fields":["/a"],"kind":"gauss","sigma":0}`, "nothing changes", "no noise"},
	{"obs_noise", `{"fields":["/a"],"p":0}`, "nothing changes", "never"},

	{"obs_delay", `{}`, "each observation is shown 1 turn late", "the defaults"},
	{"obs_delay", `{"delay":2,"from":1,"until":3}`, "from turn 1 to turn 2, each observation is shown 2 turns late", "all of it"},
	{"obs_delay", `{"delay":0}`, "nothing changes", "no delay"},

	{"hide_keys", `{}`, "nothing changes", "nothing is hidden"},
	{"hide_keys", `{"keys":["/task"]}`, "/task is not shown", "one field"},
	{"hide_keys", `{"actions":true,"from":4}`, "from turn 4 on, the list of admissible actions is not shown", "no actions"},
	{"hide_keys", `{"lines":["^Rules"]}`, `lines that match "^Rules" are not shown`, "lines"},
	{"hide_keys", `{"keys":["/a","/b"],"actions":true,"lines":["x","\""],"until":4}`,
		`before turn 4, /a, /b, the list of admissible actions and lines that match "x" or "\"" are not shown`, "all of it"},

	{"distractor", `{"n":0}`, "nothing changes", "none"},
	{"distractor", `{"n":1,"pool":[{"name":"get_news"}]}`, `1 tool of no use is offered: get_news; a call shows "No results found."`,
		"all of one"},
	{"distractor", `{"pool":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}],"result":"Nothing."}`,
		`3 tools of no use are offered, drawn from a, b, c and d; a call shows "Nothing."`, "three of four"},
	{"distractor", `{"n":2,"documents":["x","y"],"list":"/docs"}`, "2 documents of no use are mixed into the list /docs", "documents"},

	{"step_budget", `{"turns":1}`, "the episode ends after 1 turn", "one"},
	{"step_budget", `{"turns":9}`, "the episode ends after 9 turns", "more"},

	{"call_cap", `{}`, "after 5 calls of any tool further ones are refused", "the defaults"},
	{"call_cap", `{"tools":["get"],"max":1,"cooldown":2,"from":1,"until":3}`, "from turn 1 to turn 2, after every call of get further ones are refused for 2 turns",
		"one"},
	{"call_cap", `{"max":2,"cooldown":1,"until":9}`, "before turn 9, after every 2 calls of any tool further ones are refused for 1 turn",
		"more"},

	{"submit_gate", `{"require":[{"tool":"read"}]}`, "calls of a tool that submits are refused, at most 2 times, until a call of read was carried out " +
		"since the last write", "the defaults"},
	{"submit_gate", `{"submit":["buy"],"require":[{"tool":"read"},{"args":{"id":1}}],"max_blocks":1,"from":1,"until":8}`, "from turn 1 to turn 7, calls of buy are " +
		`refused, at most once, until a call of read and a call of any tool with {"id":1} were carried out since the last write`, "all of it"},
	{"submit_gate", `{"require":[{"tool":"read"}],"max_blocks":0}`, "nothing changes", "never"},

	{"order_lock", `{"edges":[{"before":{"tool":"a"},"after":{"tool":"b*"}}]}`, `a call of "b*" is refused until a call of a was carried out`,
		"one edge"},
	{"order_lock", `{"edges":[{"before":{"tool":"a"},"after":{"tool":"b"}},{"before":{"tool":"b"},"after":{"tool":"c"}}],"hide":true,"from":1,"until":3}`,
		"from turn 1 to turn 2, a call of b is refused until a call of a was carried out and a call of c is refused until a call of b was carried out; " +
			"the refusal does not say what is missing", "all of it"},

	{"schema_drift", `{}`, "nothing changes", "no tools"},
	{"schema_drift", `{"tools":{"get":{}}}`, "nothing changes", "a drift that is none"},
	{"schema_drift", `{"tools":{"get":{"rename":{"order_id":"id"},"remove":["page"],"version":"2"}}}`,
		`the argument order_id of get is called id, get has no argument page and get is marked as "2"`, "old and new"},
	{"schema_drift", `{"tools":{"b":{"add":{"locale":{}}},"a":{"enum":{"status":{"open":"OPEN","closed":"CLOSED"}}}}}`,
		"the value closed of the argument status of a is called CLOSED, the value open of the argument status of a is called OPEN and b has a new argument locale",
		"two tools, in order"},
}

// wordsRegistry also has a component that says nothing of itself, with an About and without.
func wordsRegistry(t testing.TB) *components.Registry {
	t.Helper()
	r := components.Catalogue()
	k := waitKind()
	if err := r.Add(k); err != nil {
		t.Fatal(err)
	}
	build := func(raw json.RawMessage) (envharness.Component, error) {
		var p politeness
		return p, json.Unmarshal(raw, &p)
	}
	if err := r.Add(components.Kind{
		Tag: "politeness", Version: 1, Axis: envharness.AxisObservation, About: "greets the policy", New: build,
	}); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWords(t *testing.T) {
	r := wordsRegistry(t)
	for _, tt := range append(wordsCases, []struct{ tag, params, want, reason string }{
		{"wait", `{"turns":3}`, `wait {"turns":3}`, "a kind of which nothing is said"},
		{"wait", ``, "wait", "no parameters"},
		{"wait", ` {} `, "wait", "no parameters"},
		{"politeness", `{"greeting":"Hi!"}`, `greets the policy {"greeting":"Hi!"}`, "a kind with an About"},
		{"politeness", `{"greeting":` + jsonOf(t, strings.Repeat("é", 500)) + `}`, `greets the policy {"greeting":"` + strings.Repeat("é", 187) + "...",
			"long parameters are cut"},
		{"unknown", `{"a":1}`, `unknown {"a":1}`, "not in the registry"},
		{"step_budget", `{"turns":0}`, `ends the episode after a number of turns {"turns":0}`, "it cannot be built"},
		{"chain", `{"carry":0}`, `plays worlds one after the other {"carry":0}`, "no component"},
	}...) {
		if tt.reason == "" {
			t.Errorf("%s %s: no reason", tt.tag, tt.params)
		}
		if got := r.Words(components.Entry{Tag: tt.tag, Params: json.RawMessage(tt.params)}); got != tt.want {
			t.Errorf("%s %.200s:\n got %s\nwant %s\n(%s)", tt.tag, tt.params, got, tt.want, tt.reason)
		}
	}
	// The words are those of String, also under an id of its own.
	for _, tt := range wordsCases {
		stack, err := r.Stack(components.Entry{Tag: tt.tag, Params: json.RawMessage(tt.params)},
			components.Entry{Tag: tt.tag, ID: "own", Params: json.RawMessage(tt.params)})
		if err != nil {
			t.Fatalf("%s %s: %v", tt.tag, tt.params, err)
		}
		for _, c := range stack {
			for range 64 { // few of the orders in which Go walks small maps differ
				if got := fmt.Sprint(c); got != tt.want {
					t.Fatalf("%s %s prints as %s", tt.tag, tt.params, got)
				}
			}
		}
	}
	stack, err := r.Stack(components.Entry{Tag: "wait", ID: "own"})
	if err != nil || fmt.Sprint(stack[0]) != "wait" {
		t.Errorf("%v, %v", stack, err)
	}
}

// Every parameter of every kind is said: for each there is a case which reads otherwise, or cannot be built, without it.
func TestWordsSayEveryParameter(t *testing.T) {
	r := components.Catalogue()
	for _, k := range kinds() {
		for name := range fieldsOf(t, k) {
			told := false
			for _, tt := range wordsCases {
				var params map[string]json.RawMessage
				if err := json.Unmarshal([]byte(tt.params), &params); err != nil {
					t.Fatal(err)
				}
				if _, given := params[name]; tt.tag != k.Tag || !given {
					continue
				}
				delete(params, name)
				raw, err := json.Marshal(params)
				if err != nil {
					t.Fatal(err)
				}
				told = told || r.Words(components.Entry{Tag: k.Tag, Params: raw}) != tt.want
			}
			if !told {
				t.Errorf("%s: no case tells of %s", k.Tag, name)
			}
		}
	}
}

// Words are one short line of text, whatever the parameters hold, and equal parameters have equal words.
func TestWordsAreShort(t *testing.T) {
	r := components.Catalogue()
	long := strings.Repeat("long \n\"é\u202e", 50)
	many := make(map[string]string)
	var names []string
	for i := range 50 {
		many[fmt.Sprintf("%s%d", long, i)] = fmt.Sprintf("%d%s", i, long)
		names = append(names, fmt.Sprintf("%s%d", long, i))
	}
	one := []components.Match{{Tool: long, Args: map[string]any{long: long}}}
	for range 49 {
		one = append(one, one[0])
	}
	edges := make([]components.Edge, 50)
	for i := range edges {
		edges[i] = components.Edge{Before: one[0], After: components.Match{Tool: names[i]}}
	}
	pool := make([]envharness.Tool, 50)
	actions := make([]envharness.Action, 50)
	set := make(map[string]json.RawMessage)
	for i, name := range names {
		pool[i].Name = name
		actions[i] = envharness.Action{Name: "say", Args: json.RawMessage(jsonOf(t, map[string]any{"text": long}))}
		set["/"+name] = json.RawMessage(jsonOf(t, long))
	}
	for _, c := range []envharness.Component{
		envharness.Setup{Actions: actions, Aid: true}, components.StartPatch{Set: set},
		components.Block{Tools: names, Args: one[0].Args, Reason: long}, components.Rename{Tools: many, Args: map[string]map[string]string{long: many}},
		components.Sticky{Exempt: names}, components.ToolFail{Tools: names, Message: long}, components.ToolDown{Tools: names, Message: long},
		components.CorruptRead{Tools: names, Field: "/" + long}, components.RateLimit{Tools: names}, components.Permission{Tools: names, Grant: one[0]},
		components.StaleRead{Tools: names}, components.Paginate{Tools: names, List: "/" + long, Next: long},
		components.ObsNoise{Fields: names}, components.HideKeys{Keys: names, Lines: names}, components.Distractor{Pool: pool, Result: long},
		components.CallCap{Tools: names, Cooldown: 1}, components.SubmitGate{Submit: names, Require: one}, components.OrderLock{Edges: edges, Hide: true},
		components.SchemaDrift{Tools: map[string]components.Drift{long: {Rename: many, Remove: names, Version: long}}},
	} {
		got := fmt.Sprint(c)
		if len(got) > 2500 || strings.Contains(got, "\n") || !utf8.ValidString(got) {
			t.Errorf("%T: %d bytes: %q", c, len(got), got)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		tt := rapid.SampledFrom(wordsCases).Draw(rt, "case")
		e := components.Entry{Tag: tt.tag, Params: json.RawMessage(tt.params)}
		stack, err := r.Stack(e)
		if err != nil {
			rt.Fatal(err)
		}
		entries, err := r.Entries(stack...) // with the defaults filled in
		if err != nil {
			rt.Fatal(err)
		}
		if got := r.Words(entries[0]); got != tt.want {
			rt.Fatalf("%s %s: %s, want %s", tt.tag, entries[0].Params, got, tt.want)
		}
	})
}

// The zero value of every component, which may be none that Check accepts, prints without a panic.
func TestZeroValuesPrint(t *testing.T) {
	for _, c := range []fmt.Stringer{
		envharness.Setup{}, components.StartPatch{}, components.Block{}, components.Rename{}, components.Sticky{}, components.ToolFail{},
		components.ToolDown{}, components.CorruptRead{}, components.RateLimit{}, components.Permission{}, components.StaleRead{},
		components.Paginate{}, components.ObsNoise{}, components.ObsNoise{Kind: "gauss"}, components.ObsDelay{}, components.HideKeys{},
		components.Distractor{}, components.StepBudget{}, components.CallCap{}, components.SubmitGate{}, components.OrderLock{},
		components.SchemaDrift{}, components.CorruptRead{Kind: "none"}, components.ToolFail{Mode: "none", Nth: -1, Count: -1},
		components.Block{Args: map[string]any{"f": func() {}}},
	} {
		_ = c.String()
	}
}

// About is one clause, and the one that the table in the package comment has.
func TestAbout(t *testing.T) {
	src, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	table := make(map[string]string)
	for line := range strings.Lines(string(src)) {
		if row, ok := strings.CutPrefix(line, "//\t"); ok {
			fields := strings.Fields(row)
			about, _, _ := strings.Cut(strings.Join(fields[min(4, len(fields)):], " "), ";")
			table[fields[0]] = about
		}
	}
	all := components.Catalogue().Kinds()
	for _, k := range all {
		if k.About == "" || k.About != table[k.Tag] {
			t.Errorf("%s: %q, in the package comment %q", k.Tag, k.About, table[k.Tag])
		}
	}
	tags := make(map[string]bool)
	for _, tt := range wordsCases {
		tags[tt.tag] = true
	}
	if got := slices.Sorted(maps.Keys(tags)); len(got) != len(all)-1 { // the chain is no component
		t.Errorf("%d kinds have words: %q", len(got), got)
	}
}
