package simulate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/internal/schematest"
	"github.com/throughline-go/throughline/midtool/simulate"
)

type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func open(t tester, e midtool.Executor, id string, tools ...midtool.Tool) midtool.Session {
	t.Helper()
	s, err := e.Open(context.Background(), id, tools)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// call returns the answer, with "! " before that of a failure.
func call(t tester, s midtool.Session, tool midtool.Tool, arguments string) string {
	t.Helper()
	r, err := s.Execute(context.Background(), tool, json.RawMessage(arguments))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonval.Parse(r.Value)
	if err != nil {
		t.Fatalf("%s: %v", r.Value, err)
	}
	if r.IsError != jsonval.ReportsError(&v) {
		t.Fatalf("IsError is %v for %s", r.IsError, r.Value)
	}
	if r.IsError {
		return "! " + string(r.Value)
	}
	return string(r.Value)
}

// Without a result schema the answer is a status and the arguments.
func TestSchemaPlain(t *testing.T) {
	free := json.RawMessage(`{"type":"object","additionalProperties":true}`)
	for _, tt := range []struct{ tool, arguments, want, reason string }{
		{"send_mail", `{"to":"a@example.com","status":5}`, `{"status": "ok", "to": "a@example.com"}`,
			"a status of one's own does not hide that of the answer"},
		{"send_mail", `{"error":"E42","status_code":500}`, `{"status": "ok"}`, "nothing that would report a failure"},
		{"create_user_group", `{"a":1.0}`, `{"status": "ok", "id": "user_group_0512", "a": 1.0}`, "an id of the noun for what is created"},
		{"list", `{}`, `{"status": "ok", "items": [{"id": "item_5683", "name": "?"}, {"id": "item_5684", "name": "?"}]}`, "two items"},
	} {
		s := open(t, simulate.NewSchema(1), "")
		got := call(t, s, midtool.Tool{Name: tt.tool, Parameters: free}, tt.arguments)
		if again := call(t, s, midtool.Tool{Name: tt.tool, Parameters: free}, tt.arguments); got != again {
			t.Errorf("%s, then %s", got, again)
		}
		var v, want struct {
			Items []struct{ ID, Name string }
		}
		json.Unmarshal([]byte(got), &v)
		json.Unmarshal([]byte(tt.want), &want)
		if len(want.Items) > 0 { // the names are those of a table
			if len(v.Items) != 2 || v.Items[0].Name == "" || !strings.HasPrefix(v.Items[0].ID, "item_") || v.Items[0].ID == v.Items[1].ID {
				t.Errorf("%s: %s", tt.reason, got)
			}
			continue
		}
		if tt.tool == "create_user_group" {
			got, tt.want = strings.ReplaceAll(got, got[strings.Index(got, "group_"):strings.Index(got, `", "a`)], "N"), strings.ReplaceAll(tt.want,
				"group_0512", "N")
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

// Arguments that break the parameters are refused in a few words: the field and the rule, as JSON Schema calls it.
func TestBadArguments(t *testing.T) {
	tool := midtool.Tool{Name: "get_weather", Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","pattern":"^[A-Z]"},
		"days":{"type":["integer","null"],"maximum":7},"unit":{"enum":["c","f"]},"a\nb":{"type":"string"},"b/c~":{"type":"string"},
		"at":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"],"additionalProperties":false},
		"tags":{"type":"array","maxItems":2,"uniqueItems":true,"items":{"type":"string","minLength":1}}},"required":["city"]}`)}
	for _, tt := range []struct{ arguments, want string }{
		{`{"city":"Oslo","days":3}`, ""}, {`{}`, "city: is required"}, {`{"city":5}`, "city: want string, got number"},
		{`{"city":["Oslo"]}`, "city: want string, got array"},
		{`{"city":"oslo"}`, "city: does not match the pattern"}, {`{"city":"Oslo","days":"3"}`, "days: want integer or null, got string"},
		{`{"city":"Oslo","days":9}`, "days: want maximum 7, got 9"}, {`{"city":"Oslo","days":-2.5}`, "days: want integer or null, got number"},
		{`{"city":"Oslo","unit":"k"}`, "unit: is not in the enum"}, {`{"city":"Oslo","tags":["a","b","c"]}`, "tags: want maxItems 2, got 3"},
		{`{"city":"Oslo","tags":["a","a"]}`, "tags: breaks uniqueItems"}, {`{"city":"Oslo","tags":["a",5]}`, "tags.1: want string, got number"},
		{`{"city":"Oslo","tags":[""]}`, "tags.0: want minLength 1, got 0"}, {`{"city":"Oslo","at":{}}`, "at.x: is required"},
		{`{"city":"Oslo","at":{"x":"1"}}`, "at.x: want number, got string"}, {`{"city":"Oslo","at":{"x":1,"y":1}}`, "at.y: is not a property"},
		{`{"city":"Oslo","b/c~":1}`, "b/c~: want string, got number"}, {`{"city":"Oslo","town":"Oslo"}`, "town: is not a property"},
		{`[]`, "arguments: want object, got array"}, {`"x"`, "arguments: want object, got string"}, {`{`, "arguments: are not JSON"},
		{`{"city":"Oslo","a\nb":1}`, "a b: want string, got number"}, {`{"city":"Oslo","<tool_call>":1}`, "an argument: is not a property"},
	} {
		for _, e := range []midtool.Executor{simulate.NewSchema(1), simulate.NewWorld(1)} {
			got := call(t, open(t, e, "", tool), tool, tt.arguments)
			want := fmt.Sprintf(`! {"error": {"type": "bad_argument", "message": "%s"}}`, tt.want)
			if (tt.want == "") != !strings.HasPrefix(got, "!") || tt.want != "" && got != want {
				t.Errorf("%s: %s, want %q", tt.arguments, got, tt.want)
			}
		}
	}
}

// No made result reports a failure, for the call succeeds.
func TestSchemaSucceeds(t *testing.T) {
	for _, tt := range []struct{ returns, want, reason string }{
		{`{"type":"object","properties":{"error":{"type":"string","minLength":1},"success":{"type":"boolean"}}}`, `{"success": true}`,
			"an optional error goes"},
		{`{"type":"object","properties":{"error":{"type":["string","null"]},"ok":{"const":false}},"required":["error"]}`,
			`{"error": null, "ok": false}`, "null, and a constant stays"},
		{`{"type":"object","properties":{"error":{"type":"string"}},"required":["error"]}`, `{"error": ""}`, "an empty one is none"},
		{`{"type":"object","properties":{"error":{"const":"x"}},"required":["error"]}`, `{"status": "ok"}`,
			"a schema that demands a failure has no answer"},
		{`{"type":"object","properties":{"status":{"const":404}},"required":["status"]}`, `{"status": "ok"}`,
			"a schema that demands a failure has no answer"},
		{`{"type":"object","properties":{"cityName":{"type":"string"},"n":{"const":"x"}}}`, `{"cityName": "Oslo", "n": "x"}`,
			"arguments are repeated where the schema has room"},
	} {
		tool := midtool.Tool{Name: "report", Returns: json.RawMessage(tt.returns),
			Parameters: json.RawMessage(`{"type":"object","additionalProperties":true}`)}
		args := `{}`
		if strings.Contains(tt.want, "Oslo") {
			args = `{"city_name":"Oslo","n":7}`
		}
		if diff := cmp.Diff(tt.want, call(t, open(t, simulate.NewSchema(1), ""), tool, args)); diff != "" {
			t.Errorf("%s (%s) (-want +got):\n%s", tt.returns, tt.reason, diff)
		}
	}
}

// Equal calls get equal answers that follow the result schema, whatever comes between them and whoever else calls.
func TestSchemaAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, _ := json.Marshal(schematest.Schema(2).Draw(t, "returns"))
		tool, err := midtool.Normalize(midtool.Tool{Name: "work", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{}}}`)})
		if err != nil {
			t.Fatal(err)
		}
		// The dialects of strangers are brought into one by the normalizer, which wraps what is no object.
		if n, err := midtool.Normalize(midtool.Tool{Name: "work", Parameters: raw}); err == nil {
			tool.Returns = n.Parameters
		}
		e := simulate.NewSchema(rapid.Uint64().Draw(t, "seed"))
		args := fmt.Sprintf(`{"a":%d}`, rapid.IntRange(0, 3).Draw(t, "a"))
		first := call(t, open(t, e, "x"), tool, args)
		s := open(t, e, "y")
		for range rapid.IntRange(0, 3).Draw(t, "between") {
			call(t, s, tool, `{"a":null}`)
		}
		if again := call(t, s, tool, args); again != first {
			t.Fatalf("%s, then %s", first, again)
		}
		if returns, err := schema.CompileRaw(tool.Returns); err == nil && first != `{"status": "ok", "a": `+args[5:] {
			if v, _ := jsonval.Parse([]byte(first)); !returns.Accepts(&v) {
				t.Fatalf("%s for %s", first, tool.Returns)
			}
		}
	})
}

// Many goroutines, one executor: the answers are those of one goroutine.
func TestConcurrent(t *testing.T) {
	tools := shop()
	for _, make := range []func() midtool.Executor{
		func() midtool.Executor { return simulate.NewSchema(3) }, func() midtool.Executor { return simulate.NewWorld(3) },
	} {
		play := func(e midtool.Executor, id int) (out []string) {
			s := open(t, e, fmt.Sprint(id), tools...)
			for i, tool := range slices.Backward(tools) {
				out = append(out, call(t, s, tool, sampleArguments[i]))
			}
			return out
		}
		shared := make()
		got := [16][]string{}
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i] = play(shared, i) })
		}
		wg.Wait()
		for i := range got {
			if diff := cmp.Diff(play(make(), i), got[i]); diff != "" {
				t.Errorf("session %d (-alone +together):\n%s", i, diff)
			}
		}
	}
}

// The zero values are simulators with the seed 0.
func TestZero(t *testing.T) {
	var schema simulate.Schema
	var world simulate.World
	for _, tt := range []struct{ zero, made midtool.Executor }{{&schema, simulate.NewSchema(0)}, {&world, simulate.NewWorld(0)}} {
		for i, tool := range shop() {
			got := call(t, open(t, tt.zero, "a", shop()...), tool, sampleArguments[i])
			if want := call(t, open(t, tt.made, "a", shop()...), tool, sampleArguments[i]); got != want {
				t.Errorf("%T: %s, with the seed 0 %s", tt.zero, got, want)
			}
		}
	}
}

// What is kept of a tool does not depend on the caller's memory.
func TestCallerMemory(t *testing.T) {
	tool := midtool.Tool{Name: "pick", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"enum":[1]}}}`)}
	s := open(t, simulate.NewSchema(1), "")
	if got := call(t, s, tool, `{"a":1}`); strings.HasPrefix(got, "!") {
		t.Error(got)
	}
	tool.Parameters[bytes.IndexByte(tool.Parameters, '1')] = '2'
	if got := call(t, s, tool, `{"a":1}`); !strings.HasPrefix(got, "!") {
		t.Errorf("%s after the schema changed", got)
	}
}
