package format

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
)

// The first bad line ends the sequence and is named.
func TestReadErrors(t *testing.T) {
	row := func(text string, meta string) string {
		return `{"text":` + string(raw(text)) + `,"meta":` + meta + `}`
	}
	const talk = `{"messages":1}`
	tests := []struct{ form, line, want, reason string }{
		{"plain", `{"text":`, "unexpected end", "no JSON"},
		{"plain", `[]`, "want object", "no object"},
		{"plain", `{"id":"a"}`, `"text"`, "nothing to read"},
		{"plain", row("x", "[]"), `"meta"`, "no object"},
		{"plain", row("Hi.\n", talk), "want a header", "text before the first block"},
		{"plain", row("### User", talk), "no line break", "a header ends its line"},
		{"plain", row("### User\nHi.", talk), "no line break at its end", "a block ends its line"},
		{"plain", row("### User now\nHi.\n", talk), "unknown header", "only results have names"},
		{"plain", row("### Result-x\nHi.\n", talk), "unknown header", "a space comes before the name"},
		{"plain", row("### Result f\nHi.\n", talk), "without a call", "nothing was called"},
		{"plain", row("### Call\n{}\n", talk), "no name", "what is called?"},
		{"plain", row("### Call\n{\"name\": \"f\", \"arguments\": []}\n", talk), "arguments", "no object"},
		{"plain", row("### Call\nf()\n", talk), "expected a value", "no JSON"},
		{"plain", row("### Tools\n{\"name\": \"f\"}\n", talk), "parameters", "no schema"},
		{"plain", row("### Tools\n{\"parameters\": {}}\n", talk), "no name", "what is offered?"},
		{"plain", row("### Tools\nf\n", talk), "expected a value", "no JSON"},
		{"plain", row("### User\nHi.\n", `{"messages":1,"loss":[[0,99]]}`), `"loss"`, "behind the text"},
		{"plain", row("### User\nHi.\n", `{"messages":1,"loss":[[4,8],[2,9]]}`), `"loss"`, "not sorted"},
		{"plain", row("### User\nHi.\n", `{"messages":1,"loss":[[4]]}`), `"loss"`, "no span"},
		{"plain", row("### User\nHi.\n", `{"messages":1,"loss":{}}`), `"loss"`, "no list"},
		{"qwen", row("Hi.", talk), "want <|im_start|>", "no turn"},
		{"qwen", row("<|im_start|>user", talk), "want <|im_start|>", "no line break"},
		{"qwen", row("<|im_start|>user\nHi.", talk), "no <|im_end|>", "cut off"},
		{"qwen", row("<|im_start|>assistant\nHi.", talk), "no <|im_end|>", "cut off"},
		{"qwen", row("<|im_start|>user\nHi.<|im_end|>x", talk), "no line break", "text between turns"},
		{"qwen", row("<|im_start|>critic\nHi.<|im_end|>\n", talk), "unknown role", "nobody"},
		{"qwen", row("<|im_start|>user\n<tool_response>\nx<|im_end|>\n", talk), "</tool_response>", "cut off"},
		{"qwen", row("<|im_start|>user\n<tool_response>\nx\n</tool_response><|im_end|>\n", talk), "without a call", "nothing was called"},
		{"hermes", row("<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\"<|im_end|>\n", talk), "call:", "cut off"},
		{"hermes", row("<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\"}\n</tool_call><|im_end|>\n", talk), "arguments", "none"},
		{"hermes", row("<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}<|im_end|>\n", talk), "without </tool_call>", "cut off"},
		{"hermes", row("<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call> and<|im_end|>\n", talk), "after a call", "words after calls"},
		{"hermes", row("<|im_start|>system\nx\n<tools>\n{}\n</tools><|im_end|>\n", talk), "no name", "what is offered?"},
		{"hermes", row("<|im_start|>system\nx\n<tools>\nf<|im_end|>\n", talk), "tool:", "no JSON"},
		{"hermes", row("<|im_start|>system\nx\n<tools>\n{\"name\": \"f\", \"parameters\": {}}<|im_end|>\n", talk), "no </tools>", "cut off"},
		{"hermes", row("<|im_start|>system\nx\n<tools>\n</tools><|im_end|>\n", `{"messages":1,"system":5}`), "5 bytes", "longer than what there is"},
		{"trl", `{"messages":[{"role":"critic"}]}`, "unknown role", "nobody"},
		{"trl", `{"x":1}`, "messages", "no conversation"},
		{"llamafactory", `{"messages":[],"tools":"["}`, "tools", "no JSON in the string"},
		{"axolotl", `{"messages":[],"tools":[{"name":"f","parameters":"{"}]}`, "parameters", "no JSON in the string"},
		{"sharegpt", `{"conversations":{}}`, "conversations", "no list"},
		{"sharegpt", `{"conversations":[{"from":"human"}]}`, "turn 0", "no value"},
		{"sharegpt", `{"conversations":[{"from":"critic","value":""}]}`, "unknown speaker", "nobody"},
		{"sharegpt", `{"conversations":[{"from":"observation","value":""}]}`, "without a call", "nothing was called"},
		{"sharegpt", `{"conversations":[{"from":"function_call","value":"{'name': 'f'}"}]}`, "calls", "a language's way to print a value"},
		{"sharegpt", `{"conversations":[{"from":"function_call","value":"[{}]"}]}`, "no name", "what is called?"},
		{"sharegpt", `{"conversations":[{"from":"function_call","value":"[{\"name\":\"f\",\"arguments\":{}},{\"name\":\"f\",\"arguments\":{}}]"},{"from":"observation","value":"[1]"}]}`,
			"list of 2", "one result is missing"},
		{"sharegpt", `{"conversations":[{"from":"function_call","value":"[{\"name\":\"f\",\"arguments\":{}},{\"name\":\"f\",\"arguments\":{}}]"},{"from":"observation","value":"x"}]}`,
			"results", "no JSON"},
		{"sharegpt", `{"conversations":[],"tools":"x"}`, "tools", "no JSON"},
		{"sharegpt", `{"conversations":[],"tools":"{}"}`, "tools", "no list"},
		{"sharegpt", `{"conversations":[],"tools":"[{}]"}`, "no name", "what is offered?"},
	}
	for _, tt := range tests {
		n := 0
		for _, err := range Read(strings.NewReader("\n"+tt.line+"\n"+tt.line), tt.form, "c.jsonl") {
			bad, ok := errors.AsType[*midtool.SyntaxError](err)
			if n++; n > 1 || !ok || bad.Line != 2 || bad.Locator != "c.jsonl" || !strings.Contains(bad.Rule, tt.want) || tt.reason == "" {
				t.Errorf("%s %s: got %v, want %q at line 2 (%s)", tt.form, tt.line, err, tt.want, tt.reason)
			}
		}
		if n != 1 {
			t.Errorf("%s %s: %d records and errors, want one error", tt.form, tt.line, n)
		}
	}
	for _, form := range []string{"xml", "pretokenized"} {
		if _, err := readBack(form, "{}"); err == nil || !strings.Contains(err.Error(), form) {
			t.Errorf("%s: got %v", form, err)
		}
	}
	broken := errors.New("cable cut")
	if _, err := first(Read(iotest.ErrReader(broken), "plain", "c.jsonl")); !errors.Is(err, broken) || !strings.Contains(err.Error(), "c.jsonl:1") {
		t.Errorf("got %v", err)
	}
}

func first(seq func(func(Record, error) bool)) (r Record, err error) {
	for r, err = range seq {
		break
	}
	return r, err
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// A line without an end is an error after the bound, not memory without an end.
func TestEndlessLine(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 64 MiB")
	}
	_, err := first(Read(io.MultiReader(strings.NewReader("\n"), endless{}), "plain", "c.jsonl"))
	if bad, ok := errors.AsType[*midtool.SyntaxError](err); !ok || bad.Line != 2 || !strings.Contains(bad.Rule, "longer") {
		t.Errorf("got %v", err)
	}
}

// A record whose line could not be read back is not written.
func TestTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 64 MiB")
	}
	_, err := written(t, "plain", &Options{Tokens: func(string) int { return 0 }}, Record{Text: strings.Repeat("a", 64<<20)})
	if skipped, ok := errors.AsType[*SkipError](err); !ok || skipped.Reason != "too_long" {
		t.Errorf("got %v", err)
	}
}

// What others write in these forms is read as well.
func TestForeign(t *testing.T) {
	call := []midtool.Call{{ID: "call_0001", Name: "f", Arguments: json.RawMessage(`{"a":1}`)}}
	want := []midtool.Message{{Role: user, Content: "Hi."}, {Role: assistant, Calls: call}, {Role: toolRole, Content: "ok", CallID: "call_0001", Name: "f"}}
	plain := func(text string) string { return string(raw(map[string]string{"text": text})) }
	const turns = "<|im_start|>user\nHi.<|im_end|>\n<|im_start|>assistant\n<tool_call>{\"arguments\":\n {\"a\":1},\"name\":\"f\"}</tool_call><|im_end|>\n<|im_start|>"
	for _, tt := range []struct{ form, line, reason string }{
		{"qwen", plain(turns + "user\n<tool_response>\nok\n</tool_response><|im_end|>"), "JSON of several lines, no loss, no last line break"},
		{"qwen", plain("<|im_start|>system\n# Tools\n<tools>\n</tools>\n<|im_end|>\n" + turns + "tool\n<tool_response>\nok\n</tool_response><|im_end|>\n"), "no tools, another role"},
		{"trl", `{"messages":[{"role":"user","content":"Hi."},{"role":"assistant","tool_calls":[{"id":"call_0001","function":{"name":"f","arguments":"{\"a\":1}"}}]},` +
			`{"role":"tool","content":"ok","tool_call_id":"call_0001"}]}`, "a string for arguments, no name of the result"},
		{"sharegpt", `{"conversations":[{"from":"human","value":"Hi."},{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{\"a\":1}}"},` +
			`{"from":"observation","value":"ok"}]}`, "one call without a list"},
	} {
		got, err := readBack(tt.form, tt.line)
		if err != nil {
			t.Errorf("%s: %v (%s)", tt.form, err, tt.reason)
			continue
		}
		if diff := cmp.Diff(want, got.Sample.Messages); diff != "" || len(got.Sample.Tools) > 0 {
			t.Errorf("%s (%s) (-want +got):\n%s", tt.form, tt.reason, diff)
		}
	}
	got, err := readBack("sharegpt", `{"conversations":[{"from":"system","value":"Be brief."},{"from":"gpt","value":"Hi."}]}`)
	if err != nil || len(got.Sample.Messages) != 2 || got.Sample.Messages[0].Role != system {
		t.Errorf("got %+v, %v", got.Sample, err)
	}
}

// Whatever is read as a conversation is written again in its form and read as the same, or is skipped for a reason.
func FuzzRead(f *testing.F) {
	s := weather()
	for i, form := range Names() {
		for _, r := range []Record{{ID: "a", Sample: &s}, {ID: "d", Text: "### User\n"}} {
			if line, err := written(f, form, &Options{Tokenizer: byteTokenizer{}}, r); err == nil {
				f.Add(uint8(i), []byte(line))
			}
		}
	}
	for i := range 3 { // texts by themselves
		line, err := render([]string{"plain", "hermes", "qwen"}[i], &s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(len(Names())+slices.Index(Names(), []string{"plain", "hermes", "qwen"}[i])), []byte(line))
	}
	f.Fuzz(func(t *testing.T, form uint8, data []byte) {
		name := Names()[int(form)%len(Names())]
		if int(form) >= len(Names()) {
			data = raw(map[string]any{"text": string(data), "meta": map[string]any{"messages": 1}})
		}
		if name == "pretokenized" {
			for row, err := range ReadTokens(strings.NewReader(string(data)), "f") {
				if err == nil && (len(row.Labels) != len(row.InputIDs) || len(row.AttentionMask) != len(row.InputIDs)) {
					t.Fatalf("%+v", row)
				}
			}
			return
		}
		for r, err := range Read(strings.NewReader(string(data)), name, "f") {
			if err != nil {
				return
			}
			line, err := written(t, name, nil, r)
			if _, skipped := errors.AsType[*SkipError](err); skipped {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			again, err := readBack(name, line)
			if err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			if twice, err := written(t, name, nil, again); err != nil || twice != line {
				t.Fatalf("%v: %s became %s", err, line, twice)
			}
		}
	})
}

// A row that does not come from JSON, which is UTF-8 always, is checked.
func TestRowIsUTF8(t *testing.T) {
	for _, row := range []Row{{ID: "\xff"}, {Text: "\xff"}, {Source: "\xff"}, {Ability: "\xff"}, {License: []string{"MIT", "\xff"}}, {Meta: "{\"a\":\"\xff\"}"}} {
		if r, err := row.Record(); err == nil {
			t.Errorf("%#v is read as %+v", row, r)
		}
	}
}
