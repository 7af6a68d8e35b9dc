package format

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
)

const (
	user      = midtool.RoleUser
	assistant = midtool.RoleAssistant
	toolRole  = midtool.RoleTool
	system    = midtool.RoleSystem
)

// written writes records and returns the lines and the first error.
func written(t testing.TB, form string, o *Options, records ...Record) (string, error) {
	t.Helper()
	var b strings.Builder
	w, err := NewWriter(&b, form, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		err = errors.Join(err, w.Write(&records[i]))
	}
	if err == nil {
		err = w.Close()
	}
	return b.String(), err
}

// talk makes a sample of messages.
func talk(messages ...midtool.Message) *midtool.Sample { return &midtool.Sample{Messages: messages} }

// calling makes an assistant's message that calls a tool f with arguments.
func calling(content string, arguments ...string) midtool.Message {
	m := midtool.Message{Role: assistant, Content: content}
	for i, a := range arguments {
		m.Calls = append(m.Calls, midtool.Call{ID: string(rune('a' + i)), Name: "f", Arguments: json.RawMessage(a)})
	}
	return m
}

// The bytes of each form, put together by hand from what its trainer documents; the spans were computed by an independent
// script.
func TestBytes(t *testing.T) {
	const u = `{"role":"user","content":"Weather in Zürich?"`
	const schema = `{"type":"object","properties":{"city":{"type":"string"}}}`
	const shown = `{"type": "object", "properties": {"city": {"type": "string"}}}`
	s := &midtool.Sample{
		ID:    "s1",
		Tools: []midtool.Tool{{Name: "f", Description: "Says <how> & when.", Parameters: json.RawMessage(schema)}},
		Messages: []midtool.Message{
			{Role: system, Content: "Be brief."}, {Role: user, Content: "Weather in Zürich?"}, calling("", `{"city":"Zürich"}`, `{}`),
			{Role: toolRole, CallID: "b", Content: "none"}, {Role: toolRole, CallID: "a", Content: `{"temp_c": 7}`},
			{Role: assistant, Content: "It is 7 °C."},
		},
	}
	const openTools = `"tools":[{"type":"function","function":{"name":"f","description":"Says <how> & when.","parameters":` + schema + `}}]}`
	const chatTools = `# T\n<tools>\n{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": \"Says <how> & when.\", \"parameters\": ` +
		`{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}}}\n</tools>\n\nCall.<|im_end|>\n`
	const chatCalls = `<|im_start|>user\nWeather in Zürich?<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"city\": \"Zürich\"}}\n</tool_call>\n` +
		`<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call><|im_end|>\n<|im_start|>`
	const chatResults = `\n<tool_response>\n{\"temp_c\": 7}\n</tool_response>\n<tool_response>\nnone\n</tool_response><|im_end|>\n<|im_start|>assistant\n`
	const rest = `,"source":"","ability":"","tokens":1,"license":[],"meta":{"messages":6,"system":9}}`
	tests := []struct{ form, want, reason string }{
		{"plain", `{"id":"s1","text":"### System\nBe brief.\n### Tools\n{\"name\": \"f\", \"description\": \"Says <how> & when.\", \"parameters\": ` +
			`{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}}\n### User\nWeather in Zürich?\n### Call\n` +
			`{\"name\": \"f\", \"arguments\": {\"city\": \"Zürich\"}}\n{\"name\": \"f\", \"arguments\": {}}\n` +
			`### Result f\n{\"temp_c\": 7}\n### Result f\nnone\n### Assistant\nIt is 7 °C.\n",` +
			`"source":"","ability":"","tokens":1,"license":[],"meta":{"messages":6}}`, "the tools come after the system message"},
		{"openai", `{"messages":[{"role":"system","content":"Be brief."},` + u + `},{"role":"assistant","content":"","tool_calls":[` +
			`{"id":"call_0001","type":"function","function":{"name":"f","arguments":"{\"city\": \"Zürich\"}"}},` +
			`{"id":"call_0002","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
			`{"role":"tool","content":"{\"temp_c\": 7}","tool_call_id":"call_0001"},{"role":"tool","content":"none","tool_call_id":"call_0002"},` +
			`{"role":"assistant","content":"It is 7 °C."}],` + openTools, "no keys that the API does not know"},
		{"trl", `{"id":"s1","messages":[{"role":"system","content":"Be brief."},` + u + `},{"role":"assistant","content":"","tool_calls":[` +
			`{"id":"call_0001","type":"function","function":{"name":"f","arguments":{"city":"Zürich"}}},` +
			`{"id":"call_0002","type":"function","function":{"name":"f","arguments":{}}}]},` +
			`{"role":"tool","content":"{\"temp_c\": 7}","tool_call_id":"call_0001","name":"f"},` +
			`{"role":"tool","content":"none","tool_call_id":"call_0002","name":"f"},` +
			`{"role":"assistant","content":"It is 7 °C."}],` + openTools, "arguments are objects"},
		{"axolotl", `{"id":"s1","messages":[{"role":"system","content":"Be brief.","train":false},` + u + `,"train":false},` +
			`{"role":"assistant","content":"","tool_calls":[` +
			`{"id":"call_0001","type":"function","function":{"name":"f","arguments":"{\"city\": \"Zürich\"}"}},` +
			`{"id":"call_0002","type":"function","function":{"name":"f","arguments":"{}"}}],"train":true},` +
			`{"role":"tool","content":"{\"temp_c\": 7}","tool_call_id":"call_0001","name":"f","train":false},` +
			`{"role":"tool","content":"none","tool_call_id":"call_0002","name":"f","train":false},` +
			`{"role":"assistant","content":"It is 7 °C.","train":true}],` +
			`"tools":[{"type":"function","function":{"name":"f","description":"Says <how> & when.","parameters":` + quoted(shown) + `}}]}`,
			"what has keys of its own is a string"},
		{"llamafactory", `{"id":"s1","messages":[{"role":"system","content":"Be brief.","tool_calls":[]},` + u + `,"tool_calls":[]},` +
			`{"role":"assistant","content":"","tool_calls":[{"id":"call_0001","type":"function","function":{"name":"f","arguments":{"city":"Zürich"}}},` +
			`{"id":"call_0002","type":"function","function":{"name":"f","arguments":{}}}]},` +
			`{"role":"tool","content":"{\"temp_c\": 7}","tool_calls":[],"tool_call_id":"call_0001","name":"f"},` +
			`{"role":"tool","content":"none","tool_calls":[],"tool_call_id":"call_0002","name":"f"},` +
			`{"role":"assistant","content":"It is 7 °C.","tool_calls":[]}],"tools":` +
			quoted(`[{"type": "function", "function": {"name": "f", "description": "Says <how> & when.", "parameters": `+shown+`}}]`) + `}`,
			"its converter takes the length of tool_calls in every message"},
		{"sharegpt", `{"id":"s1","conversations":[{"from":"human","value":"Weather in Zürich?"},` +
			`{"from":"function_call","value":` + quoted(`[{"name": "f", "arguments": {"city": "Zürich"}}, {"name": "f", "arguments": {}}]`) + `},` +
			`{"from":"observation","value":` + quoted(`[{"temp_c": 7}, "none"]`) + `},{"from":"gpt","value":"It is 7 °C."}],` +
			`"system":"Be brief.","tools":` + quoted(`[{"name": "f", "description": "Says <how> & when.", "parameters": `+shown+`}]`) + `}`,
			"one turn of calls, one of results"},
		{"hermes", `{"id":"s1","text":"<|im_start|>system\nBe brief.\n\n` + chatTools + chatCalls + `tool` + chatResults +
			`It is 7 °C.<|im_end|>\n","loss":[[300,438],[573,595]]` + rest, "results are a turn of the tool"},
		{"qwen", `{"id":"s1","text":"<|im_start|>system\nBe brief.\n\n` + chatTools + chatCalls + `user` + chatResults +
			`<think>\n\n</think>\n\nIt is 7 °C.<|im_end|>\n","loss":[[300,457],[592,633]]` + rest, "results are a turn of the user"},
	}
	for _, tt := range tests {
		o := &Options{Preamble: "# T", Instructions: "Call.", Thinking: true, Tokens: func(string) int { return 1 }}
		got, err := written(t, tt.form, o, Record{Sample: s})
		want := tt.want
		if tt.form == "qwen" { // both answers come after the last request
			want = strings.Replace(want, `assistant\n<tool_call>`, `assistant\n<think>\n\n</think>\n\n<tool_call>`, 1)
		}
		if diff := cmp.Diff(want+"\n", got); err != nil || diff != "" || tt.reason == "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.form, err, diff)
		}
	}
}

// quoted writes an ASCII or wide text as a JSON string without the escapes of encoding/json.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// Worked out by hand: 300 bytes, and what the assistant writes is bytes 69 to 180 and 277 to 299.
func TestQwenSpans(t *testing.T) {
	s := talk(midtool.Message{Role: user, Content: "Weather in Zürich?"},
		midtool.Message{Role: assistant, Calls: []midtool.Call{{ID: "1", Name: "get_weather", Arguments: json.RawMessage(`{"city":"Zürich","units":"metric"}`)}}},
		midtool.Message{Role: toolRole, Content: `{"temp_c": 7}`, CallID: "1"},
		midtool.Message{Role: assistant, Content: "It is 7 °C."})
	f, err := chatForm("qwen", &Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, _, skipped := f.text(&Record{Sample: s}, mustConversation(t, s))
	if skipped != nil {
		t.Fatal(skipped)
	}
	if diff := cmp.Diff([]Span{{69, 180}, {277, 299}}, r.Loss); diff != "" || len(r.Text) != 300 {
		t.Errorf("%d bytes, want 300 (-want +got):\n%s\n%s", len(r.Text), diff, r.Text)
	}
}

// An empty block of thinking stands before the answers after the last request, in training as when the model goes on.
func TestThinking(t *testing.T) {
	s := talk(midtool.Message{Role: user, Content: "1"}, midtool.Message{Role: assistant, Content: "one"},
		midtool.Message{Role: user, Content: "2"}, midtool.Message{Role: assistant, Content: "two"})
	f, err := chatForm("qwen", &Options{Thinking: true})
	if err != nil {
		t.Fatal(err)
	}
	r, _, skipped := f.text(&Record{Sample: s}, mustConversation(t, s))
	const want = "<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\none<|im_end|>\n" +
		"<|im_start|>user\n2<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\ntwo<|im_end|>\n"
	if skipped != nil || r.Text != want {
		t.Errorf("%v (-want +got):\n%s", skipped, cmp.Diff(want, r.Text))
	}
}

func mustConversation(t *testing.T, s *midtool.Sample) *conversation {
	t.Helper()
	c, err := conversationOf(&Record{Sample: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSkips(t *testing.T) {
	ask, answer := midtool.Message{Role: user, Content: "Hi."}, midtool.Message{Role: assistant, Content: "Hello."}
	result := midtool.Message{Role: toolRole, CallID: "a", Name: "f", Content: "ok"}
	call := calling("", "{}")
	mistake := midtool.Message{Role: assistant, Content: "No.", Untrained: true}
	deep := strings.Repeat(`{"a":`, 64) + "{}" + strings.Repeat("}", 64)
	tests := []struct {
		name, form string
		r          Record
		want       string
		reason     string
	}{
		{"document", "trl", Record{Text: "x"}, "document", "a form of conversations"},
		{"document in sharegpt", "sharegpt", Record{Text: "x"}, "document", "the same"},
		{"nothing", "plain", Record{}, "empty", "neither text nor messages"},
		{"no messages", "plain", Record{Sample: talk()}, "empty", "neither text nor messages"},
		{"both", "plain", Record{Text: "x", Sample: talk(ask, answer)}, "text_and_sample", "which one is meant?"},
		{"bytes in a text", "plain", Record{Text: "\xff"}, "invalid_utf8", "JSON has no place for it"},
		{"bytes in an ID", "plain", Record{ID: "\xff", Text: "x"}, "invalid_utf8", "the same"},
		{"bytes in a source", "plain", Record{Source: "\xff", Text: "x"}, "invalid_utf8", "the same"},
		{"bytes in meta", "plain", Record{Text: "x", Meta: map[string]string{"a": "\xff"}}, "invalid_utf8", "the same"},
		{"bytes in a license", "plain", Record{Text: "x", Licenses: []string{"\xff"}}, "invalid_utf8", "the same"},
		{"bytes in a family", "trl", Record{Sample: &midtool.Sample{Family: "\xff", Messages: talk(ask, answer).Messages}}, "invalid_utf8", "the same"},
		{"bytes in evidence", "trl", Record{Sample: &midtool.Sample{Evidence: []midtool.Evidence{{Class: "\xff"}}, Messages: talk(ask, answer).Messages}},
			"invalid_utf8", "the same"},
		{"bytes in a tool", "trl", Record{Sample: &midtool.Sample{Tools: []midtool.Tool{{Name: "f\xff"}}, Messages: talk(ask, answer).Messages}},
			"invalid_utf8", "the same"},
		{"bytes in arguments", "trl", Record{Sample: talk(ask, calling("", "{\"a\":\"\xff\"}"))}, "bad_json", "the same"},
		{"bytes in a content", "qwen", Record{Sample: talk(ask, midtool.Message{Role: assistant, Content: "\xff"})}, "invalid_utf8", "the same"},
		{"arguments are a list", "trl", Record{Sample: talk(ask, calling("", "[]"))}, "bad_json", "want an object"},
		{"deep arguments", "plain", Record{Sample: talk(ask, calling("", deep))}, "bad_json", "65 levels"},
		{"no schema", "trl", Record{Sample: &midtool.Sample{Tools: []midtool.Tool{{Name: "f"}}, Messages: talk(ask, answer).Messages}}, "bad_json", "want an object"},
		{"schema is true", "trl", Record{Sample: &midtool.Sample{Tools: []midtool.Tool{{Name: "f", Parameters: json.RawMessage("true")}},
			Messages: talk(ask, answer).Messages}}, "bad_json", "want an object"},
		{"nameless tool", "trl", Record{Sample: &midtool.Sample{Tools: []midtool.Tool{{Parameters: json.RawMessage("{}")}}, Messages: talk(ask, answer).Messages}},
			"tool_name", "no reader takes it"},
		{"name of two lines", "plain", Record{Sample: talk(ask, midtool.Message{Role: assistant, Calls: []midtool.Call{{Name: "f\n### User", Arguments: json.RawMessage("{}")}}})},
			"tool_name", "it would end the header"},
		{"role", "trl", Record{Sample: talk(ask, midtool.Message{Role: "critic"})}, "role", "unknown"},
		{"user calls", "trl", Record{Sample: talk(midtool.Message{Role: user, Calls: call.Calls}, answer)}, "role", "only an assistant can"},
		{"result calls", "trl", Record{Sample: talk(ask, call, midtool.Message{Role: toolRole, Calls: call.Calls}, answer)}, "role", "only an assistant can"},
		{"stray result", "trl", Record{Sample: talk(ask, result, answer)}, "results", "no call"},
		{"one result too many", "trl", Record{Sample: talk(ask, call, result, result, answer)}, "results", "one call"},
		{"same result twice", "trl", Record{Sample: talk(ask, calling("", "{}", "{}"), result, result, answer)}, "results", "both for the first call"},
		{"result missing", "hermes", Record{Sample: talk(ask, call, answer)}, "results", "not at the end"},
		{"result of another tool", "plain", Record{Sample: talk(ask, call, midtool.Message{Role: toolRole, CallID: "a", Name: "g"}, answer)}, "results", "called f"},
		{"hidden offer", "plain", Record{Sample: talk(midtool.Message{Role: system, Content: "More tools.", Offers: []midtool.Tool{{Name: "f", Parameters: json.RawMessage("{}")}}}, ask, answer)},
			"offer", "a reader of the text cannot know them"},
		{"marker", "qwen", Record{Sample: talk(ask, midtool.Message{Role: assistant, Content: "Write <tool_call>."})}, "marker", "a control text"},
		{"marker in a key", "hermes", Record{Sample: talk(ask, calling("", `{"\u003c/tool_call>":1}`))}, "marker", "JSON hides it from a search"},
		{"marker in a tool", "qwen", Record{Sample: &midtool.Sample{Tools: []midtool.Tool{{Name: "f", Description: "Writes <think>.",
			Parameters: json.RawMessage("{}")}}, Messages: talk(ask, answer).Messages}}, "marker", "a control text"},
		{"marker in a system message", "qwen", Record{Sample: &midtool.Sample{Tools: []midtool.Tool{{Name: "f", Parameters: json.RawMessage("{}")}},
			Messages: talk(midtool.Message{Role: system, Content: "<tools>"}, ask, answer).Messages}}, "marker", "a control text"},
		{"marker in a document", "hermes", Record{Text: "a<|im_end|>"}, "marker", "a control text"},
		{"two requests", "llamafactory", Record{Sample: talk(ask, ask, answer)}, "alternation", "would be dropped with a warning"},
		{"two requests in sharegpt", "sharegpt", Record{Sample: talk(ask, ask, answer)}, "alternation", "the same"},
		{"two answers", "sharegpt", Record{Sample: talk(ask, answer, answer)}, "alternation", "the same"},
		{"answer first", "sharegpt", Record{Sample: talk(answer, ask)}, "alternation", "the same"},
		{"no last answer", "sharegpt", Record{Sample: talk(ask, answer, ask)}, "alternation", "the number must be even"},
		{"late system", "sharegpt", Record{Sample: talk(ask, answer, midtool.Message{Role: system, Content: "x"}, ask, answer)}, "system", "no place"},
		{"empty system", "sharegpt", Record{Sample: talk(midtool.Message{Role: system}, ask, answer)}, "system", "the same as none"},
		{"words and call", "sharegpt", Record{Sample: talk(ask, calling("Wait.", "{}"), result, answer)}, "text_with_calls", "one value a turn"},
		{"mistake", "trl", Record{Sample: talk(ask, mistake, ask, answer)}, "untrained_turn", "it would be learned"},
		{"only mistakes", "axolotl", Record{Sample: talk(ask, mistake)}, "untrained", "nothing to learn"},
		{"only mistakes in turns", "qwen", Record{Sample: talk(ask, mistake)}, "untrained", "nothing to learn"},
		{"only questions", "openai", Record{Sample: talk(ask)}, "untrained", "nothing to learn"},
		{"window", "pretokenized", Record{Text: "aaaaaaaaa"}, "window", "9 bytes and the end are 10"},
		{"no learned token", "pretokenized", Record{Sample: talk(midtool.Message{Role: user, Content: "aa"}, mistake)}, "untrained", "nothing to learn"},
	}
	for _, tt := range tests {
		o := &Options{Tokenizer: byteTokenizer{}, MaxTokens: 9}
		if tt.want == "untrained" {
			o.Text, o.MaxTokens = "qwen", 0
		}
		if tt.r.ID == "" {
			tt.r.ID = tt.name
		}
		w, err := NewWriter(io.Discard, tt.form, o)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write(&tt.r)
		skipped, ok := errors.AsType[*SkipError](err)
		if !ok || skipped.Reason != tt.want || skipped.Format != tt.form || skipped.Record != tt.r.ID || tt.reason == "" {
			t.Errorf("%s: got %v, want reason %s (%s)", tt.name, err, tt.want, tt.reason)
			continue
		}
		if diff := cmp.Diff(Counts{Skipped: map[string]int{tt.want: 1}}, w.Counts()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if err := w.Close(); err == nil || !strings.Contains(err.Error(), tt.want+" 1") {
			t.Errorf("%s: Close returns %v, want an error with the reason: nothing was written", tt.name, err)
		}
	}
}

// A record that is skipped leaves no trace in the lines, and what was written counts.
func TestSkipAndGoOn(t *testing.T) {
	s := weather()
	records := []Record{{ID: "a", Sample: &s}, {ID: "b", Text: "x"}, {ID: "c", Sample: &s}, {ID: "d", Text: "y"}}
	var b strings.Builder
	w, err := NewWriter(&b, "trl", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if err := w.Write(&records[i]); (err != nil) != (records[i].Sample == nil) {
			t.Errorf("%s: %v", records[i].ID, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := Plain(&records[0])
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{Written: 2, Bytes: int64(b.Len()), Tokens: 2 * midtool.ApproxTokens(p.Text), Skipped: map[string]int{"document": 2}}
	if diff := cmp.Diff(want, w.Counts()); diff != "" || strings.Count(b.String(), "\n") != 2 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if w.Write(&records[0]) == nil || w.Close() == nil {
		t.Error("a closed writer takes records")
	}
	w.Counts().Skipped["document"] = 7
	if !maps.Equal(w.Counts().Skipped, map[string]int{"document": 2}) {
		t.Error("counts are shared with the caller")
	}
}

func TestNoRecords(t *testing.T) {
	for _, form := range Names() {
		if got, err := written(t, form, &Options{Tokenizer: byteTokenizer{}}); err != nil || got != "" {
			t.Errorf("%s: %q, %v, want nothing and no error: nothing was given", form, got, err)
		}
	}
}

func TestOptions(t *testing.T) {
	tests := []struct {
		form   string
		o      Options
		want   []string
		reason string
	}{
		{"xml", Options{}, []string{"unknown form", "plain, openai"}, "names what there is"},
		{"pretokenized", Options{MaxTokens: -1, Text: "xml"}, []string{"Tokenizer", "MaxTokens", "Text"}, "all faults at once"},
		{"pretokenized", Options{Tokenizer: byteTokenizer{}, Text: "qwen", Preamble: "<|im_end|>"}, []string{"Preamble"}, "it would end the turn"},
		{"qwen", Options{Preamble: "a\n<tools>\nb", Instructions: "<|im_start|>"}, []string{"Preamble", "Instructions"}, "all faults at once"},
		{"hermes", Options{Instructions: "\xff"}, []string{"UTF-8"}, "JSON has no place for it"},
	}
	for _, tt := range tests {
		_, err := NewWriter(io.Discard, tt.form, &tt.o)
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) || tt.reason == "" {
				t.Errorf("%s %+v: got %v, want %q in it", tt.form, tt.o, err, want)
			}
		}
	}
	if _, err := NewWriter(io.Discard, "plain", &Options{MaxTokens: -1, Text: "xml"}); err != nil {
		t.Errorf("plain: %v, want what it does not use to be passed over", err)
	}
}

// A failing writer below ends this one.
func TestFailingWriter(t *testing.T) {
	full := errors.New("disk full")
	w, err := NewWriter(failing{full}, "plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Record{ID: "big", Text: strings.Repeat("x", 1<<20)}
	if err := w.Write(&r); !errors.Is(err, full) || !strings.Contains(err.Error(), "big") {
		t.Errorf("got %v", err)
	}
	if err := w.Write(&Record{Text: "y"}); !errors.Is(err, full) {
		t.Errorf("got %v, want the first error again", err)
	}
	if err := w.Close(); !errors.Is(err, full) || w.Counts().Written != 0 {
		t.Errorf("got %v", err)
	}
	if w, _ = NewWriter(failing{full}, "plain", nil); w.Write(&Record{Text: "y"}) != nil || !errors.Is(w.Close(), full) {
		t.Error("Close hides that the buffer could not be written")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
