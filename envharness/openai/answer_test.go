package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func testClient(t testing.TB) *Client {
	c, err := New(Options{BaseURL: "http://localhost/v1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// response is an answer with a body of a kind.
func response(kind, body string) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}
}

// What servers make of the format is read as it was meant.
func TestAnswersOfServers(t *testing.T) {
	look := answer{calls: []call{{name: "look", args: "{}"}}}
	for _, c := range []struct {
		name, message string
		want          answer
		reason        string
	}{
		{"null content", `{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{}"}}]}`,
			answer{calls: []call{{"a", "look", "{}"}}}, "as OpenAI answers"},
		{"no content", `{"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{}"}}]}`,
			answer{calls: []call{{"a", "look", "{}"}}}, "content and type may lack"},
		{"arguments as an object", `{"tool_calls":[{"function":{"name":"look","arguments":{"a": 1}}}]}`,
			answer{calls: []call{{name: "look", args: `{"a": 1}`}}}, "Ollama's own format"},
		{"no arguments", `{"tool_calls":[{"function":{"name":"look"}}]}`, answer{calls: []call{{name: "look"}}}, "nothing is no arguments"},
		{"null arguments", `{"tool_calls":[{"id":null,"function":{"name":"look","arguments":null}}]}`, answer{calls: []call{{name: "look"}}}, "as nothing"},
		{"id is a number", `{"tool_calls":[{"id":7,"function":{"name":"look","arguments":"{}"}}]}`,
			answer{calls: []call{{"7", "look", "{}"}}}, "an id is kept as it is written"},
		{"the same index", `{"tool_calls":[{"index":0,"function":{"name":"look","arguments":"{}"}},` +
			`{"index":0,"function":{"name":"look","arguments":"{}"}}]}`,
			answer{calls: []call{look.calls[0], look.calls[0]}}, "each is a whole call"},
		{"empty list of calls", `{"content":"x","tool_calls":[]}`, answer{content: "x"}, "none"},
		{"null list of calls", `{"content":"x","tool_calls":null,"function_call":null,"refusal":null}`, answer{content: "x"}, "none"},
		{"parts", `{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}`, answer{content: "ab"}, "parts with text count"},
		{"further fields", `{"content":"x","reasoning_content":"I think","annotations":[],"audio":null}`, answer{content: "x"}, "others are passed over"},
		{"one function", `{"content":null,"function_call":{"name":"look","arguments":"{}"}}`, look, "the format before there were tools"},
		{"refusal", `{"content":null,"refusal":"no"}`, answer{refusal: "no"}, "its own field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.finish = "stop" // also with calls, as many servers say
			for kind, body := range map[string]string{
				"application/json": `{"choices":[{"message":` + c.message + `,"finish_reason":"stop"}]}`,
				"text/plain":       `{"choices":[{"index":0,"message":` + c.message + `,"finish_reason":"stop"}],"usage":null}`,
				"text/event-stream": "data: {\"choices\":[{\"message\":" + c.message + "}]}\r\n\r\n: ping\n\n" +
					"data: {\"choices\":[{\"finish_reason\":\"stop\",\"delta\":{}}]}\n\ndata: [DONE]\n\n",
			} {
				got, err := testClient(t).answer(response(kind, body))
				if err != nil || !reflect.DeepEqual(got, c.want) {
					t.Errorf("%s: %+v, %v, want %+v: %s", kind, got, err, c.want, c.reason)
				}
			}
		})
	}
}

// Calls in pieces are put together whatever the server says of index, id and name.
func TestPiecesOfCalls(t *testing.T) {
	two := []call{{"a", "look", `{"x":1}`}, {"b", "go", `{"y":2}`}}
	anonymous := []call{{"", "look", `{"x":1}`}, {"", "go", `{"y":2}`}}
	for _, c := range []struct {
		name   string
		pieces []string
		want   []call
		reason string
	}{
		{"by index", []string{
			`{"index":0,"id":"a","function":{"name":"look","arguments":""}}`, `{"index":1,"id":"b","function":{"name":"go","arguments":""}}`,
			`{"index":0,"function":{"arguments":"{\"x\""}}`, `{"index":1,"function":{"arguments":"{\"y\":2}"}}`, `{"index":0,"function":{"arguments":":1}"}}`,
		}, two, "the format of OpenAI, the calls mixed"},
		{"indexes with gaps", []string{
			`{"index":3,"id":"a","function":{"name":"look","arguments":"{\"x\":1}"}}`, `{"index":5,"id":"b","function":{"name":"go","arguments":"{\"y\":2}"}}`,
		}, two, "the order is that of coming"},
		{"no index", []string{
			`{"id":"a","function":{"name":"look","arguments":"{\"x\""}}`, `{"function":{"arguments":":1}"}}`,
			`{"id":"b","function":{"name":"go","arguments":"{\"y\":2}"}}`,
		}, two, "Ollama before 0.4.7"},
		{"index 0 for all, whole", []string{
			`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"x\":1}"}}`, `{"index":0,"id":"b","function":{"name":"go","arguments":"{\"y\":2}"}}`,
		}, two, "Ollama since"},
		{"index 0 for all, in pieces", []string{
			`{"index":0,"id":"a","function":{"name":"look","arguments":""}}`, `{"index":0,"id":"","function":{"name":null,"arguments":"{\"x\":1}"}}`,
			`{"index":0,"id":"b","function":{"name":"go","arguments":""}}`, `{"index":0,"id":"","function":{"name":null,"arguments":"{\"y\":2}"}}`,
		}, two, "lmdeploy"},
		{"index 0 for all, ids repeated", []string{
			`{"index":0,"id":"a","function":{"name":"look","arguments":""}}`, `{"index":0,"id":"a","function":{"name":null,"arguments":"{\"x\":1}"}}`,
			`{"index":0,"id":"b","function":{"name":"go","arguments":""}}`, `{"index":0,"id":"b","function":{"name":null,"arguments":"{\"y\":2}"}}`,
		}, two, "sglang"},
		{"index 0 for all, no ids", []string{
			`{"index":0,"function":{"name":"look","arguments":"{\"x\":1}"}}`, `{"index":0,"function":{"name":"go","arguments":"{\"y\":2}"}}`,
		}, anonymous, "whole arguments cannot go on"},
		{"names repeated", []string{
			`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"x\""}}`, `{"index":0,"id":"a","function":{"name":"look","arguments":":1}"}}`,
		}, two[:1], "the same name once"},
		{"id after the name", []string{
			`{"index":0,"function":{"name":"look","arguments":""}}`, `{"index":0,"id":"a","function":{"arguments":"{\"x\":1}"}}`,
		}, two[:1], "the first id there is"},
		{"arguments as an object", []string{`{"index":0,"id":"a","function":{"name":"look","arguments":{"x":1}}}`}, two[:1], "as they are written"},
	} {
		var b strings.Builder
		for _, p := range c.pieces {
			b.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[" + p + "]}}]}\n\n")
		}
		b.WriteString("data: [DONE]\n\n")
		got, err := testClient(t).answer(response("text/event-stream; charset=utf-8", b.String()))
		if err != nil || !reflect.DeepEqual(got.calls, c.want) {
			t.Errorf("%s: %+v, %v, want %+v: %s", c.name, got.calls, err, c.want, c.reason)
		}
	}
}

// Numbers of tokens that make no sense are as none.
func TestCounts(t *testing.T) {
	for usage, want := range map[string]tokens{
		`{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3}}`: {5, 3, 2},
		`{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":null}`:                {5, 0, 2},
		`{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":9}}`:                       {5, 5, 0},
		`{"prompt_tokens":-5,"completion_tokens":2e300}`:                                        {},
		`{"prompt_tokens":"many"}`: {}, `null`: {}, `[]`: {}, `{}`: {}, `7`: {},
	} {
		got, err := testClient(t).parseAnswer([]byte(`{"choices":[{"message":{"content":"x"}}],"usage":` + usage + `}`))
		if err != nil || got.used != want || got.counted != (want != tokens{}) {
			t.Errorf("%s: %+v, %v", usage, got, err)
		}
	}
}

// Whatever comes, an answer is read or refused: no panic, valid text, and what was read can be said again.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		`{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",` +
			`"function":{"name":"f","arguments":"{\"x\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}],"function_call":{"name":"f","arguments":{"a":[1]}}}}]}`,
		`{"error":{"message":"no","type":"invalid_request_error","code":400}}`,
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n" +
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\"}}]}}]}\n\ndata: [DONE]\n\n",
		"event: error\ndata: {\"message\":\"no\"}\n\n", ": ping\n\ndata: [DONE]\n\n", `{"choices":[{"message":{"content":"\ud800\xff"}}]}`, "[[[[",
	} {
		f.Add([]byte(s), strings.HasPrefix(s, "data") || strings.HasPrefix(s, "event"))
	}
	c := testClient(f)
	f.Fuzz(func(t *testing.T, body []byte, stream bool) {
		kind := "application/json"
		if stream {
			kind = "text/event-stream"
		}
		a, err := c.answer(response(kind, string(body)))
		if err != nil {
			if a.content != "" || a.calls != nil || a.finish != "" {
				t.Fatalf("an answer beside an error: %+v", a)
			}
			if e := c.classify(err); len(e.Message) > 3*maxText || !utf8.ValidString(e.Error()) {
				t.Fatalf("%q", e.Error())
			}
			return
		}
		p := c.Policy(nil)
		offered, err := p.names.offer(nil)
		if err != nil {
			t.Fatal(err)
		}
		p.history = history{count: p.o.Count}
		for i := range a.calls {
			p.plan(&a.calls[i], offered, nil)
		}
		p.history.call(a.content, a.calls)
		seen := map[string]bool{}
		for _, k := range a.calls {
			if seen[k.id] || k.id == "" || len(k.id) > maxID || !validName(k.name) || !json.Valid([]byte(k.args)) || k.args[0] == '[' {
				t.Fatalf("%+v", k)
			}
			seen[k.id] = true
		}
	})
}
