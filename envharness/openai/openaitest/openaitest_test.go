package openaitest_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness/openai/openaitest"
)

// post sends a body and returns the status and what came back.
func post(t testing.TB, s *openaitest.Server, path, body string) (int, string, error) {
	t.Helper()
	res, err := http.Post(strings.TrimSuffix(s.BaseURL, "/v1")+path, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// with is a right request for a chat with further fields.
func with(fields string) string {
	return `{"model":"m","messages":[{"role":"user","content":"hi"}]` + fields + `}`
}

// messages is a request with messages.
func messages(list string) string { return `{"model":"m","messages":[` + list + `]}` }

const tools = `,"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{}},"strict":false}}]`

// What the API takes is taken; what it refuses is refused with the field that is wrong, and recorded.
func TestChecks(t *testing.T) {
	const asked = `{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	call := func(c string) string {
		return messages(`{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[` + c + `]},{"role":"tool","tool_call_id":"a","content":"x"}`)
	}
	for _, c := range []struct {
		name, body, want string // want: the field, or empty
	}{
		{"least", with(""), ""},
		{"settings", with(`,"temperature":2,"top_p":0,"n":1,"seed":-5,"max_tokens":1,"stop":["a"],"user":"u","store":false,"reasoning_effort":"low"`), ""},
		{"stream", with(`,"stream":true,"stream_options":{"include_usage":true}`), ""},
		{"tools", with(tools + `,"tool_choice":"required","parallel_tool_calls":false`), ""},
		{"a tool by name", with(tools + `,"tool_choice":{"type":"function","function":{"name":"f"}}`), ""},
		{"tool without parameters", with(`,"tools":[{"type":"function","function":{"name":"f"}}]`), ""},
		{"roles", messages(`{"role":"developer","content":"a"},{"role":"system","content":[{"type":"text","text":"a"}]},` +
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]},{"role":"assistant","content":"x"}`),
			""},
		{"answered calls", messages(asked + `,{"role":"tool","tool_call_id":"b","content":"x"},{"role":"tool","tool_call_id":"a","content":"x"}`), ""},
		{"no JSON", `{`, "the body is not JSON"},
		{"no object", `[]`, "it must be an object"},
		{"field twice", `{"model":"m","model":"m","messages":[{"role":"user","content":"hi"}]}`, "model: the field is there twice"},
		{"field twice within", messages(`{"role":"user","content":"a","content":"b"}`), "content: the field is there twice"},
		{"unknown field", with(`,"temprature":1`), "temprature: there is no such field"},
		{"other spelling", with(`,"Temperature":1`), "Temperature: there is no such field"},
		{"no model", `{"messages":[{"role":"user","content":"hi"}]}`, "model: it is missing"},
		{"empty model", `{"model":"","messages":[{"role":"user","content":"hi"}]}`, "model: it is empty"},
		{"no messages", messages(""), "messages: there are none"},
		{"messages no list", `{"model":"m","messages":{}}`, "messages: it must be a list"},
		{"temperature", with(`,"temperature":2.1`), "temperature: 2.1 is not in [0, 2]"},
		{"temperature a text", with(`,"temperature":"1"`), "temperature: it must be a number"},
		{"tokens", with(`,"max_tokens":0`), "max_tokens: 0 is not in"},
		{"half a token", with(`,"max_tokens":1.5`), "max_tokens: 1.5 is not a whole number"},
		{"two limits", with(`,"max_tokens":1,"max_completion_tokens":1`), "max_tokens: it excludes"},
		{"top_logprobs", with(`,"top_logprobs":1`), "top_logprobs: it needs logprobs"},
		{"penalty", with(`,"presence_penalty":-3`), "presence_penalty: -3"},
		{"effort", with(`,"reasoning_effort":"huge"`), `reasoning_effort: "huge" is none of`},
		{"stops", with(`,"stop":["a","b","c","d","e"]`), "stop: it must be"},
		{"stream a text", with(`,"stream":"yes"`), "stream: it must be true or false"},
		{"stream options", with(`,"stream_options":{"include_usage":true}`), "stream_options: it needs stream"},
		{"stream options unknown", with(`,"stream":true,"stream_options":{"usage":true}`), "stream_options.usage: there is no such field"},
		{"choice without tools", with(`,"tool_choice":"auto"`), "tool_choice: it needs tools"},
		{"parallel without tools", with(`,"parallel_tool_calls":true`), "parallel_tool_calls: it needs tools"},
		{"choice unknown", with(tools + `,"tool_choice":"any"`), `tool_choice: "any" is none of`},
		{"choice of no tool", with(tools + `,"tool_choice":{"type":"function","function":{"name":"g"}}`), `tool_choice.function.name: "g" is no tool`},
		{"no tools", with(`,"tools":[]`), "tools: 0 tools are not in [1, 128]"},
		{"tool name", with(`,"tools":[{"type":"function","function":{"name":"a.b"}}]`), "tools[0].function.name"},
		{"long tool name", with(`,"tools":[{"type":"function","function":{"name":"` + strings.Repeat("n", 65) + `"}}]`), "tools[0].function.name"},
		{"tool twice", with(`,"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]`), "there twice"},
		{"tool field", with(`,"tools":[{"type":"function","function":{"name":"f","input_schema":{}}}]`), "tools[0].function.input_schema"},
		{"tool kind", with(`,"tools":[{"type":"fn","function":{"name":"f"}}]`), "tools[0].type"},
		{"parameters a list", with(`,"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`), "parameters: it must be an object"},
		{"parameters a string schema", with(`,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"string"}}}]`), "parameters.type"},
		{"parameters without properties", with(`,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`),
			"parameters.properties"},
		{"role", messages(`{"role":"robot","content":"x"}`), `role: there is no role "robot"`},
		{"message field", messages(`{"role":"user","content":"x","tool_calls":[]}`), "messages[0].tool_calls: there is no such field"},
		{"null content", messages(`{"role":"user","content":null}`), "content: it is missing"},
		{"content a number", messages(`{"role":"user","content":1}`), "content: it must be a string"},
		{"no parts", messages(`{"role":"user","content":[]}`), "content: it has no parts"},
		{"part of another role", messages(`{"role":"system","content":[{"type":"image_url","image_url":{}}]}`), "content[0].type"},
		{"part without text", messages(`{"role":"user","content":[{"type":"text"}]}`), "content[0].text: it is missing"},
		{"assistant with nothing", messages(`{"role":"assistant","content":null}`), "content: it is missing"},
		{"empty list of calls", messages(`{"role":"assistant","content":"x","tool_calls":[]}`), "tool_calls: there are none"},
		{"orphan", messages(`{"role":"tool","tool_call_id":"a","content":"x"}`), `"a" is no call`},
		{"one of two answered", messages(asked + `,{"role":"tool","tool_call_id":"a","content":"x"},{"role":"user","content":"x"}`),
			"calls without an answer: b"},
		{"none answered at the end", messages(asked), "calls without an answer: a, b"},
		{"answered twice", messages(asked + `,{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"a","content":"x"}`),
			`"a" is no call`},
		{"answer without content", messages(asked + `,{"role":"tool","tool_call_id":"a"}`), "content: it is missing"},
		{"id", call(`{"type":"function","function":{"name":"f","arguments":"{}"}}`), "tool_calls[0].id: it is missing"},
		{"ids", call(`{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},` +
			`{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`),
			"tool_calls[1].id"},
		{"long id", call(`{"id":"` + strings.Repeat("i", 41) + `","type":"function","function":{"name":"f","arguments":"{}"}}`), "tool_calls[0].id"},
		{"kind of call", call(`{"id":"a","function":{"name":"f","arguments":"{}"}}`), "tool_calls[0].type"},
		{"name of call", call(`{"id":"a","type":"function","function":{"name":"a b","arguments":"{}"}}`), "function.name"},
		{"arguments an object", call(`{"id":"a","type":"function","function":{"name":"f","arguments":{}}}`), "arguments: it must be a string"},
		{"arguments no JSON", call(`{"id":"a","type":"function","function":{"name":"f","arguments":"{"}}`), "arguments: it must be a string with JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openaitest.New(func(openaitest.Request) openaitest.Reply { return openaitest.Reply{Text: "x"} }, nil)
			defer s.Close()
			status, body, err := post(t, s, "/v1/chat/completions", c.body)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if status != 200 || len(s.Violations()) > 0 {
					t.Errorf("%d %s", status, body)
				}
				return
			}
			var e struct {
				Error struct{ Message, Type string }
			}
			err = json.Unmarshal([]byte(body), &e)
			if err != nil || status != 400 || e.Error.Type != "invalid_request_error" || !strings.Contains(e.Error.Message, c.want) {
				t.Errorf("%d %s, want %q", status, body, c.want)
			}
			if v := s.Violations(); len(v) != 1 || !strings.HasPrefix(v[0], "request 0: ") {
				t.Error(v)
			}
		})
	}
}

func TestChecksOfEmbeddings(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m","input":"a"}`: "", `{"model":"m","input":["a","b"],"encoding_format":"base64","dimensions":2,"user":"u"}`: "",
		`{"model":"m"}`: "input: it is missing", `{"model":"m","input":[]}`: "0 texts", `{"model":"m","input":["a",""]}`: "input[1]: it is empty",
		`{"model":"m","input":[[1]]}`: "input: it must be", `{"model":"m","input":"a","encoding_format":"hex"}`: "encoding_format",
		`{"input":"a"}`: "model",
		`{"model":"m","input":"a","dimensions":0}`: "dimensions", `{"model":"m","input":"a","temperature":0}`: "temperature: there is no such field",
	} {
		s := openaitest.New(func(openaitest.Request) openaitest.Reply { return openaitest.Reply{} }, nil)
		defer s.Close()
		status, got, err := post(t, s, "/v1/embeddings", body)
		if err != nil || (want == "") != (status == 200) || want != "" && !strings.Contains(got, want) || (want == "") != (len(s.Violations()) == 0) {
			t.Errorf("%s: %d %s %v", body, status, got, err)
		}
	}
}

// The way of a request is checked as well as what is in it.
func TestChecksOfTheWay(t *testing.T) {
	for _, c := range []struct {
		method, path, kind, authorization string
		status                            int
	}{
		{"POST", "/v1/chat/completions", "application/json; charset=utf-8", "Bearer k", 200},
		{"GET", "/v1/chat/completions", "application/json", "Bearer k", 405},
		{"POST", "/chat/completions", "application/json", "Bearer k", 404},
		{"POST", "/v1/chat/completions/", "application/json", "Bearer k", 404},
		{"POST", "/v1/chat/completions", "text/plain", "Bearer k", 415},
		{"POST", "/v1/chat/completions", "", "Bearer k", 415},
		{"POST", "/v1/chat/completions", "application/json", "Bearer other", 401},
		{"POST", "/v1/chat/completions", "application/json", "", 401},
	} {
		s := openaitest.New(func(openaitest.Request) openaitest.Reply { return openaitest.Reply{Text: "x"} }, &openaitest.Options{Key: "k"})
		defer s.Close()
		r, err := http.NewRequest(c.method, strings.TrimSuffix(s.BaseURL, "/v1")+c.path, strings.NewReader(with("")))
		if err != nil {
			t.Fatal(err)
		}
		if c.kind != "" {
			r.Header.Set("Content-Type", c.kind)
		}
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%+v: %d", c, res.StatusCode)
		}
		if violated := len(s.Violations()) > 0; violated != (c.status != 200 && c.status != 401) {
			t.Errorf("%+v: %v", c, s.Violations())
		}
	}
}

// The same reply in pieces is the one in a whole body.
func TestStream(t *testing.T) {
	reply := openaitest.Reply{
		Text: "Größe, 世界", Refusal: "but no", Usage: &openaitest.Usage{Input: 5, Cached: 2, Output: 3},
		Calls: []openaitest.Call{{Name: "f", Args: `{"x":"a longer text"}`}, {ID: "b", Name: "g", Args: ""}},
	}
	s := openaitest.New(func(openaitest.Request) openaitest.Reply { return reply }, nil)
	defer s.Close()
	type message struct {
		Content, Refusal string
		ToolCalls        []struct {
			Index    int
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	var whole struct {
		Choices []struct {
			Message message
			Finish  string `json:"finish_reason"`
		}
		Usage json.RawMessage
	}
	_, body, err := post(t, s, "/v1/chat/completions", with(""))
	if err != nil || json.Unmarshal([]byte(body), &whole) != nil {
		t.Fatal(body, err)
	}
	_, body, err = post(t, s, "/v1/chat/completions", with(`,"stream":true,"stream_options":{"include_usage":true}`))
	if err != nil {
		t.Fatal(err)
	}
	var sum message
	var finish, usage, last string
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if last = data; !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta  message
				Finish string `json:"finish_reason"`
			}
			Usage json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatal(err)
		}
		if len(chunk.Choices) == 0 {
			usage = string(chunk.Usage)
			continue
		}
		d := chunk.Choices[0].Delta
		sum.Content, sum.Refusal, finish = sum.Content+d.Content, sum.Refusal+d.Refusal, finish+chunk.Choices[0].Finish
		for _, k := range d.ToolCalls {
			if k.Index == len(sum.ToolCalls) {
				sum.ToolCalls = append(sum.ToolCalls, k)
			} else {
				sum.ToolCalls[k.Index].Function.Arguments += k.Function.Arguments
			}
		}
	}
	want := whole.Choices[0]
	if sum.Content != want.Message.Content || sum.Refusal != want.Message.Refusal || finish != want.Finish ||
		usage != string(whole.Usage) || len(sum.ToolCalls) != 2 {
		t.Errorf("%+v %q %s\nwant %+v %s", sum, finish, usage, want, whole.Usage)
	}
	for i, k := range sum.ToolCalls {
		if w := want.Message.ToolCalls[i]; k.Function != w.Function || i == 1 && k.ID != "b" {
			t.Errorf("%+v, want %+v", k, w)
		}
	}
	if !strings.HasSuffix(strings.TrimSpace(body), "data: [DONE]") || last != "" {
		t.Error("no end")
	}
}

// Answers that break off do so, and closing the server ends what hangs.
func TestBreakingOff(t *testing.T) {
	for _, stream := range []string{"", `,"stream":true`} {
		s := openaitest.New(openaitest.Script(openaitest.Reply{Text: "x", Cut: new(0)}, openaitest.Reply{Text: "x", Cut: new(20), Piece: 3}), nil)
		if _, _, err := post(t, s, "/v1/chat/completions", with(stream)); err == nil {
			t.Error("no cut before the header")
		}
		if _, body, err := post(t, s, "/v1/chat/completions", with(stream)); !errors.Is(err, io.ErrUnexpectedEOF) || len(body) != 20 {
			t.Errorf("%q, %v", body, err)
		}
		if status, body, err := post(t, s, "/v1/chat/completions", with(stream)); status != 400 || !strings.Contains(body, "script_ended") || err != nil {
			t.Error(status, body, err)
		}
		if s.Requests() != 3 || len(s.Violations()) > 0 {
			t.Error(s.Requests(), s.Violations())
		}
		s.Close()
		s.Close()
	}
	asked := make(chan struct{})
	s := openaitest.New(func(openaitest.Request) openaitest.Reply { close(asked); return openaitest.Reply{Hang: true} }, nil)
	done := make(chan error)
	go func() {
		_, _, err := post(t, s, "/v1/chat/completions", with(""))
		done <- err
	}()
	<-asked
	s.Close()
	if err := <-done; err == nil {
		t.Error("an answer came")
	}
}
