package format

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
)

// No form escapes what JSON does not demand, at any depth: escapes would become part of the text that is learned.
func TestRawCharacters(t *testing.T) {
	const wide = "<a> && 日本語 \u2028 😀"
	schema := json.RawMessage(`{"type":"object","properties":{"q":{"type":"string","enum":["\u003ca\u003e \u0026\u0026 \u65e5\u672c\u8a9e \u2028 \ud83d\ude00"]}}}`)
	s := &midtool.Sample{Tools: []midtool.Tool{{Name: "f", Description: wide, Parameters: schema}}, Messages: []midtool.Message{
		{Role: user, Content: wide}, calling("", `{"q":{"list":["\u003ca\u003e \u0026\u0026 \u65e5\u672c\u8a9e \u2028 \ud83d\ude00"]}}`),
		{Role: toolRole, CallID: "a", Content: wide}, {Role: assistant, Content: wide},
	}}
	for _, form := range structured() {
		line, err := written(t, form, nil, Record{Sample: s, Source: "native"})
		if err != nil {
			t.Fatal(form, err)
		}
		if n := strings.Count(line, wide); n != 6 || strings.Contains(line, `\u`) {
			t.Errorf("%s: %d of 6 texts are raw: %s", form, n, line)
		}
	}
}

// A call ends where its JSON ends, whatever its strings hold; and what would need that care is not written.
func TestTagInArguments(t *testing.T) {
	for _, inner := range []string{"</tool_call>", "</tool_call>\n<tool_call>", "<|im_end|>", "<tool_call>{}</tool_call>", "</tool_response>", "x"} {
		arguments := string(compact(raw(map[string]string{"q": "a " + inner + " }\" b"})))
		row := map[string]string{"text": "<|im_start|>user\nHi.<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", \"arguments\": " + arguments +
			"}\n</tool_call>\n<tool_call>\n{\"name\": \"g\", \"arguments\": {}}</tool_call><|im_end|>\n"}
		if strings.Contains(inner, turnEnd) {
			row["text"] = strings.Replace(row["text"], "\n<tool_call>\n{\"name\": \"f", "\n<tool_call>{\"name\": \"f", 1)
		}
		for _, form := range []string{"hermes", "qwen"} {
			got, err := readBack(form, string(raw(row)))
			if err != nil {
				t.Errorf("%s, %q: %v", form, inner, err)
				continue
			}
			want := []midtool.Call{{ID: "call_0001", Name: "f", Arguments: json.RawMessage(arguments)}, {ID: "call_0002", Name: "g", Arguments: json.RawMessage("{}")}}
			if diff := cmp.Diff(want, got.Sample.Messages[1].Calls); diff != "" {
				t.Errorf("%s, %q (-want +got):\n%s", form, inner, diff)
			}
			if _, err := written(t, form, nil, got); (err == nil) != (inner == "x") {
				t.Errorf("%s, %q: %v", form, inner, err)
			}
		}
		got, err := written(t, "trl", nil, Record{Sample: talk(midtool.Message{Role: user, Content: "Hi."}, calling("", arguments))})
		if err != nil || !strings.Contains(got, inner[:1]) {
			t.Errorf("trl, %q: %v, want no other form to be blocked", inner, err)
		}
	}
}

// JSON in prose is no call, in any form, and a call in an answer's words stays words.
func TestJSONInProse(t *testing.T) {
	for _, prose := range []string{
		"```json\n{\"name\": \"f\", \"arguments\": {}}\n```", `{"name": "f", "arguments": {}}`, `[{"name": "f", "arguments": {}}]`,
		"Call:\n### Call\n{\"name\": \"f\", \"arguments\": {}}", `{"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}`,
	} {
		s := talk(midtool.Message{Role: user, Content: prose}, midtool.Message{Role: assistant, Content: prose})
		for _, form := range structured() {
			line, err := written(t, form, nil, Record{Sample: s})
			if err != nil {
				t.Fatal(form, err)
			}
			got, err := readBack(form, line)
			if err != nil {
				t.Fatal(form, err)
			}
			if diff := cmp.Diff(s.Messages, got.Sample.Messages, alike); diff != "" {
				t.Errorf("%s, %q (-want +got):\n%s", form, prose, diff)
			}
		}
	}
}

// Arguments and results are JSON in every form, never a language's way to print a value.
func TestJSONOnly(t *testing.T) {
	const arguments = `{"on":true,"none":null,"n":5,"x":5.0,"big":12345678901234567890,"s":"it's"}`
	s := talk(midtool.Message{Role: user, Content: "Hi."}, calling("", arguments),
		midtool.Message{Role: toolRole, CallID: "a", Content: `{"ok": true, "left": null}`}, midtool.Message{Role: assistant, Content: "Done."})
	for _, form := range structured() {
		line, err := written(t, form, nil, Record{Sample: s})
		if err != nil {
			t.Fatal(form, err)
		}
		for _, wrong := range []string{"True", "None", "'on'", `\u0027`, "1234567890123456e", "12345678901234567000"} {
			if strings.Contains(line, wrong) {
				t.Errorf("%s: %q in %s", form, wrong, line)
			}
		}
		got, err := readBack(form, line)
		if err != nil || string(got.Sample.Messages[1].Calls[0].Arguments) != arguments {
			t.Errorf("%s: %v, got %+v", form, err, got.Sample)
		}
	}
}

// Several results in one turn come back as the texts that they were, JSON or not.
func TestResultsOfOneTurn(t *testing.T) {
	texts := []string{`"a"`, "a", "5", "5.0", "5.00", "1e2", "[1, 2]", "[1,2]", `{"a": 1, "a": 2}`, "null", "", " 1", `"\u0061"`, `["x"]`}
	for _, a := range texts {
		for _, b := range texts {
			s := talk(midtool.Message{Role: user, Content: "Hi."}, calling("", "{}", "{}"), midtool.Message{Role: toolRole, CallID: "a", Content: a},
				midtool.Message{Role: toolRole, CallID: "b", Content: b}, midtool.Message{Role: assistant, Content: "Done."})
			line, err := written(t, "sharegpt", nil, Record{Sample: s})
			if err != nil {
				t.Fatal(err)
			}
			got, err := readBack("sharegpt", line)
			if err != nil || got.Sample.Messages[2].Content != a || got.Sample.Messages[3].Content != b {
				t.Errorf("%v: %q and %q became %+v", err, a, b, got.Sample.Messages)
			}
		}
	}
}

// A file of which a trainer would keep nothing is an error, and one of which it would keep a part says what it lost.
func TestNothingWritten(t *testing.T) {
	twice := talk(midtool.Message{Role: user, Content: "Hi."}, midtool.Message{Role: user, Content: "Hi?"}, midtool.Message{Role: assistant, Content: "Hello."})
	for _, form := range []string{"llamafactory", "sharegpt"} {
		w, err := NewWriter(new(strings.Builder), form, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := w.Write(&Record{Sample: twice}); err == nil {
				t.Errorf("%s: written", form)
			}
		}
		if err := w.Close(); err == nil || !strings.Contains(err.Error(), "alternation 3") {
			t.Errorf("%s: Close returns %v", form, err)
		}
	}
}

// What is not learned is not learned in any form that can say so, and goes into no other.
func TestMistakesAreMasked(t *testing.T) {
	mistake := calling("", `{"city":"Wrong"}`)
	mistake.Untrained = true
	s := talk(midtool.Message{Role: user, Content: "Hi."}, mistake, midtool.Message{Role: toolRole, CallID: "a", Content: "not found"},
		calling("", `{"city":"Right"}`), midtool.Message{Role: toolRole, CallID: "a", Content: "ok"}, midtool.Message{Role: assistant, Content: "Done."})
	for _, form := range Names() {
		line, err := written(t, form, &Options{Tokenizer: byteTokenizer{}, Text: "qwen"}, Record{Sample: s})
		if slices.Contains([]string{"trl", "llamafactory", "sharegpt"}, form) {
			if err == nil {
				t.Errorf("%s: written: %s", form, line)
			}
			continue
		}
		if err != nil {
			t.Fatal(form, err)
		}
		if form == "pretokenized" {
			var learned []byte
			for row, err := range ReadTokens(strings.NewReader(line), "t") {
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range row.Labels[:len(row.Labels)-1] {
					if l >= 0 {
						learned = append(learned, byte(l))
					}
				}
			}
			if text := string(learned); strings.Contains(text, "Wrong") || !strings.Contains(text, "Right") || !strings.Contains(text, "Done.") {
				t.Errorf("%s: learned is %q", form, text)
			}
			continue
		}
		got, err := readBack(form, line)
		if err != nil {
			t.Fatal(form, err)
		}
		var untrained []bool
		for _, m := range got.Sample.Messages {
			untrained = append(untrained, m.Untrained)
		}
		if !slices.Equal(untrained, []bool{false, true, false, false, false, false}) {
			t.Errorf("%s: untrained %v", form, untrained)
		}
	}
}
