package envharness_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	eh "github.com/throughline-go/throughline/envharness"
)

func importAll(r io.Reader) (traces []eh.Trace, err error) {
	for t, err := range eh.ReadMessages(r) {
		if err != nil {
			return traces, err
		}
		traces = append(traces, t)
	}
	return traces, nil
}

// imported is the trace of a conversation.
func imported(id, shown string, end eh.EndReason, turns ...eh.TurnTrace) eh.Trace {
	return eh.Trace{
		Kind: eh.KindImported, Task: eh.Task{ID: id}, Shown: eh.Observation{Text: shown}, Turns: turns,
		Verdict: eh.Verdict{Reason: "imported: not judged"}, End: end,
	}
}

// said is a turn without an action, called one with; args may be empty.
func said(text, shown string) eh.TurnTrace {
	return eh.TurnTrace{Said: text, Shown: eh.Transition{Observation: eh.Observation{Text: shown}}}
}

func called(text, name, args, shown string) eh.TurnTrace {
	t := said(text, shown)
	t.Proposed = &eh.Action{Name: name}
	if args != "" {
		t.Proposed.Args = json.RawMessage(args)
	}
	t.Applied = t.Proposed
	return t
}

// cut is a call that nobody answered.
func cut(t eh.TurnTrace) eh.TurnTrace {
	t.Applied = nil
	return t
}

// conv is the line of a conversation.
func conv(messages ...string) string { return `{"messages":[` + strings.Join(messages, ",") + `]}` }

// Messages for conv: of the system, of a user, of the assistant, of the assistant with calls, and an answer.
const (
	sys   = `{"role":"system","content":"Be brief."}`
	ask   = `{"role":"user","content":"Weather in Rome?"}`
	done  = `{"role":"assistant","content":"Sunny."}`
	sunny = `{"role":"tool","tool_call_id":"c1","content":"sun"}`
	oneC  = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":` +
		`{"name":"weather","arguments":"{\"city\": \"Rome\"}"}}]}`
)

// calls makes an assistant message with a call of w1, w2, ... for each of the arguments, which are JSON, and with ids c1, c2, ...
func calls(content string, arguments ...string) string {
	list := make([]string, len(arguments))
	for i, a := range arguments {
		list[i] = fmt.Sprintf(`{"id":"c%d","type":"function","function":{"name":"w%d","arguments":%s}}`, i+1, i+1, a)
	}
	return fmt.Sprintf(`{"role":"assistant","content":%q,"tool_calls":[%s]}`, content, strings.Join(list, ","))
}

func answer(id, content string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, content)
}

func TestReadMessages(t *testing.T) {
	rome := `{"city":"Rome"}`
	tests := []struct {
		name, in string
		want     eh.Trace
		reason   string
	}{
		{"one call", conv(sys, ask, oneC, sunny, done),
			imported("line 1", "Be brief.\n\nWeather in Rome?", eh.EndAgentStop, called("", "weather", rome, "sun"), said("Sunny.", "")),
			"what came before the assistant is shown first; the last word ends the episode"},
		{"no call", conv(ask, done), imported("line 1", "Weather in Rome?", eh.EndAgentStop, said("Sunny.", "")), "a turn with Said alone"},
		{"dialogue", conv(ask, done, `{"role":"user","content":"Sure?"}`, `{"role":"assistant","content":"Yes."}`),
			imported("line 1", "Weather in Rome?", eh.EndAgentStop, said("Sunny.", "Sure?"), said("Yes.", "")),
			"the user's text is what the turn showed"},
		{"only asked", conv(sys, ask), imported("line 1", "Be brief.\n\nWeather in Rome?", ""), "no turn and no end"},
		{"broken off after an answer", conv(ask, oneC, sunny), imported("line 1", "Weather in Rome?", "", called("", "weather", rome, "sun")),
			"nothing says how it ended"},
		{"broken off after a call", conv(ask, oneC), imported("line 1", "Weather in Rome?", "", cut(called("", "weather", rome, ""))),
			"proposed, and nothing says that it was carried out"},
		{"broken off after a later call", conv(oneC, sunny, calls("Hm.", `""`)),
			imported("line 1", "", "", called("", "weather", rome, "sun"), cut(called("Hm.", "w1", "", ""))), "what was answered before stays"},
		{"broken off after one answer of three", conv(calls("Hm.", `""`, `""`, `""`), answer("c2", "two")),
			imported("line 1", "", "", cut(called("Hm.", "w1", "", "")), called("", "w2", "", "two"), cut(called("", "w3", "", ""))),
			"answers may come in any order"},
		{"broken off after a function_call", conv(`{"role":"assistant","function_call":{"name":"a"}}`),
			imported("line 1", "", "", cut(called("", "a", "", ""))), "the older form"},
		{"broken off after an unreadable call", conv(calls("Hm.", `"{bad"`)), imported("line 1", "", "", said("Hm.\n\nw1 {bad", "")),
			"there was no action in the first place"},
		{"broken off by the user", conv(ask, done, ask), imported("line 1", "Weather in Rome?", "", said("Sunny.", "Weather in Rome?")),
			"the assistant would have gone on"},
		{"broken off by an empty word", conv(ask, done, `{"role":"user","content":""}`),
			imported("line 1", "Weather in Rome?", "", said("Sunny.", "")),
			"the last message is not the assistant's, whatever it says"},
		{"the assistant begins", conv(done, ask), imported("line 1", "", "", said("Sunny.", "Weather in Rome?")), "nothing is shown first"},
		{"the assistant twice", conv(done, done), imported("line 1", "", eh.EndAgentStop, said("Sunny.", ""), said("Sunny.", "")), "two turns"},
		{"two calls, answers crossed", conv(ask, calls("Let me see.", `"{}"`, `"{\"b\":2}"`), answer("c2", "two"), answer("c1", "one"), done),
			imported("line 1", "Weather in Rome?", eh.EndAgentStop, called("Let me see.", "w1", "{}", "one"), called("", "w2", `{"b":2}`, "two"),
				said("Sunny.", "")),
			"in the order of the calls, each with the answer of its id; the content goes with the first"},
		{"ids used again", conv(oneC, sunny, oneC, sunny),
			imported("line 1", "", "", called("", "weather", rome, "sun"), called("", "weather", rome, "sun")), "nothing is ambiguous"},
		{"user after an answer", conv(oneC, sunny, ask, sys, done),
			imported("line 1", "", eh.EndAgentStop, called("", "weather", rome, "sun\n\nWeather in Rome?\n\nBe brief."), said("Sunny.", "")),
			"what the policy saw before its next turn"},
		{"arguments as an object", conv(calls("", `{ "city" : "Rome" }`), answer("c1", "x")),
			imported("line 1", "", "", called("", "w1", rome, "x")),
			"fine-tuning sets have them so; spaces go"},
		{"no arguments", conv(calls("", `""`, `null`, `" "`), answer("c1", ""), answer("c2", ""), answer("c3", "")),
			imported("line 1", "", "", called("", "w1", "", ""), called("", "w2", "", ""), called("", "w3", "", "")),
			"nil Args mean the empty object"},
		{"unreadable arguments", conv(calls("Hm.", `"{bad"`, `"[1]"`, `7`), answer("c1", "what?"), answer("c2", ""), answer("c3", "")),
			imported("line 1", "", "", said("Hm.\n\nw1 {bad", "what?"), said("w2 [1]", ""), said("w3 7", "")),
			"as a turn of ErrBadAction: no action, and what was said"},
		{"large number", conv(calls("", `"{\"n\":1e999,\"m\":10000000000000000001}"`), answer("c1", "")),
			imported("line 1", "", "", called("", "w1", `{"n":1e999,"m":10000000000000000001}`, "")), "arguments stay as they are written"},
		{"line separator", conv(calls("", `"{\"a\":\"\u2028<\"}"`), answer("c1", "<\u2028>")),
			imported("line 1", "", "", called("", "w1", "{\"a\":\"\u2028<\"}", "<\u2028>")), "not escaped, since the trace is not either"},
		{"function_call", conv(ask, `{"role":"assistant","content":null,"function_call":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}`,
			`{"role":"function","name":"weather","content":"sun"}`, done),
			imported("line 1", "Weather in Rome?", eh.EndAgentStop, called("", "weather", rome, "sun"), said("Sunny.", "")), "the older form"},
		{"no ids", conv(`{"role":"assistant","tool_calls":[{"function":{"name":"a"}},{"function":{"name":"b"}}]}`,
			`{"role":"tool","content":"1"}`, `{"role":"tool","name":"b","content":"2"}`),
			imported("line 1", "", "", called("", "a", "", "1"), called("", "b", "", "2")), "answers in order"},
		{"parts",
			conv(`{"role":"user","content":[{"type":"text","text":"What is"},{"type":"image_url","image_url":{"url":"data:"}},`+
				`{"type":"text","text":"this?"}]}`, `{"role":"assistant","content":[{"type":"refusal","refusal":"No."}]}`),
			imported("line 1", "What is\n[image_url]\nthis?", eh.EndAgentStop, said("No.", "")), "what is no text leaves its type"},
		{"refusal", conv(`{"role":"assistant","content":null,"refusal":"I cannot."}`),
			imported("line 1", "", eh.EndAgentStop, said("I cannot.", "")), "in place of the content"},
		{"developer", conv(`{"role":"developer","content":"D"}`, `{"role":"user"}`, done),
			imported("line 1", "D", eh.EndAgentStop, said("Sunny.", "")), "the newer system; nothing said is nothing shown"},
		{"foreign fields",
			`{"model":"m","tools":[1],"messages":[{"role":"user","content":"u","name":"kim","weight":0},` +
				`{"role":"assistant","content":"a","audio":null,"reasoning_content":"r"}]}`,
			imported("line 1", "u", eh.EndAgentStop, said("a", "")), "ignored"},
		{"id", `{"id":"a-1","task_id":2,` + conv(done)[1:], imported("a-1", "", eh.EndAgentStop, said("Sunny.", "")), "id first"},
		{"number", `{"id":null,"task_id":12345678901234567890,` + conv(done)[1:],
			imported("12345678901234567890", "", eh.EndAgentStop, said("Sunny.", "")), "digits as they are"},
		{"no usable id", `{"id":{"$oid":1},"task_id":"",` + conv(done)[1:], imported("line 1", "", eh.EndAgentStop, said("Sunny.", "")),
			"the line instead"},
		{"not UTF-8", conv("{\"role\":\"user\",\"content\":\"a\xff\xfeb\"}", calls("", "{\"k\":\"\xff\"}"), answer("c1", "")),
			imported("line 1", "a\uFFFDb", "", called("", "w1", "{\"k\":\"\uFFFD\"}", "")), "replaced"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			got, err := importAll(strings.NewReader(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]eh.Trace{tt.want}, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, d)
			}
			back, err := read(write(t, got))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(got, back); d != "" {
				t.Errorf("written and read (-want +got):\n%s", d)
			}
			if _, err := eh.SuccessRate(got, 0); !errors.Is(err, eh.ErrInsufficient) {
				t.Errorf("a rate of what nobody judged: %v", err)
			}
		})
	}
}

// nested is an object in so many levels of brackets.
func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
}

func TestReadMessagesRefuses(t *testing.T) {
	tests := []struct{ name, in, says, reason string }{
		{"not JSON", "\n \n{", "messages line 3: ", "blank lines count"},
		{"a list", "[]", "messages line 1: ", "a line is an object"},
		{"two objects", conv(done) + conv(done), "messages line 1: ", "one a line"},
		{"no messages", `{"id":1}`, `line 1: "messages" is not a list`, "nothing to import"},
		{"null messages", `{"messages":null}`, `line 1: "messages" is not a list`, "nothing to import"},
		{"empty messages", `{"messages":[]}`, `line 1: "messages" is not a list`, "nothing to import"},
		{"messages as text", `{"messages":"hi"}`, `line 1: "messages" is not a list`, "another format"},
		{"later line", conv(done) + "\n" + conv(done, `{"role":"robot"}`), `line 2: message 1: role "robot" is unknown`,
			"line from 1, message from 0"},
		{"no role", conv(`{"content":"x"}`), `message 0: role "" is unknown`, "required"},
		{"message null", conv("null"), `message 0: role "" is unknown`, "no message"},
		{"message as text", conv(ask, `"x"`), "message 1: ", "a message is an object"},
		{"content number", conv(`{"role":"user","content":7}`), "message 0: content is neither text nor a list of parts", "no content"},
		{"content object", conv(`{"role":"user","content":{"text":"x"}}`), "message 0: content is neither", "no content"},
		{"call without a name", conv(`{"role":"assistant","tool_calls":[{"id":"x","type":"custom","custom":{"name":"sql"}}]}`),
			`message 0: call 0 of type "custom" has no name of a function`, "free text is no action"},
		{"id twice", conv(`{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"a"}},{"id":"x","function":{"name":"b"}}]}`),
			`message 0: call 1: id "x" is used twice`, "ambiguous"},
		{"no answer before the user", conv(ask, oneC, ask, ask), "message 2: turn 0, the call of weather, has no answer",
			"the user came between"},
		{"none of three", conv(calls("", `""`, `""`, `""`), done), "message 1: turn 0, the call of w1, has no answer", "the first is named"},
		{"no answer before the last word", conv(oneC, ask), "message 1: turn 0, the call of weather, has no answer",
			"the user would not have come first: the log lacks something within"},
		{"no answer before the assistant", conv(ask, oneC, done, done), "message 2: turn 0, the call of weather, has no answer",
			"the assistant went on"},
		{"one of two unanswered", conv(done, calls("", `""`, `""`), answer("c1", ""), done), "message 3: turn 2, the call of w2, has no answer",
			"each call"},
		{"tool_use", conv(ask, `{"role":"assistant","content":[{"type":"text","text":"Hm."},{"type":"tool_use","id":"a","name":"w"}]}`),
			`message 1: content part 1 is of type "tool_use"`, "a turn without an action would be a lie"},
		{"tool_result", conv(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"sun"}]}`),
			`message 0: content part 0 is of type "tool_result"`, "an answer that nobody would see"},
		{"late answer", conv(oneC, sunny, ask, answer("c1", "again")), `message 3: no call with id "c1" waits`, "answered already"},
		{"answer twice", conv(oneC, sunny, sunny), `message 2: no call with id "c1" waits`, "which one holds?"},
		{"unknown answer", conv(oneC, answer("c9", "")), `message 1: no call with id "c9" waits`, "nobody asked"},
		{"answer first", conv(sunny), `message 0: no call with id "c1" waits`, "nobody asked"},
		{"answer without an id", conv(oneC, `{"role":"tool","content":"x"}`), "message 1: no call without an id waits", "the call has one"},
		{"answer of another", conv(`{"role":"assistant","function_call":{"name":"a"}}`, `{"role":"function","name":"b","content":""}`),
			"message 1: an answer of b, where one of a is due", "not what was called"},
		{"deep arguments", conv(calls("", nested(1001)), answer("c1", "")), "message 0: call 0: arguments of w1: nested deeper than 1000",
			"as every JSON value"},
		{"deep line", `{"messages":` + strings.Repeat("[", 20000), "messages line 1: ", "bounded by encoding/json"},
		{"long line", `{"messages":"` + strings.Repeat("x", 16<<20), "messages line 1: longer than 16777216 bytes", "memory is bounded"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		if _, err := importAll(strings.NewReader(tt.in)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want one with %q (%s)", tt.name, err, tt.says, tt.reason)
		}
	}
}

func TestReadMessagesSequence(t *testing.T) {
	in := "\n" + conv(done) + "\n\n" + conv(ask) + "\n{\n" + conv(done)
	got, err := importAll(strings.NewReader(in))
	if err == nil || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("error %v, want one of line 5", err)
	}
	want := []eh.Trace{imported("line 2", "", eh.EndAgentStop, said("Sunny.", "")), imported("line 4", "Weather in Rome?", "")}
	want[1].Slot = 1
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("slots count the traces and ids the lines (-want +got):\n%s", d)
	}
	for range eh.ReadMessages(strings.NewReader(in)) {
		break // stopping early must be possible
	}
	n := 0
	for _, err := range eh.ReadMessages(io.MultiReader(strings.NewReader(conv(done)+"\n"+`{"mes`), iotest.ErrReader(errBoom))) {
		if n++; n == 2 && (!errors.Is(err, errBoom) || !strings.Contains(err.Error(), "line 2")) {
			t.Errorf("error %v, want the reader's on line 2", err)
		}
	}
	if n != 2 {
		t.Errorf("%d items, want a trace and an error, and then nothing", n)
	}
}

// What fits into a line fits into the line of a trace, where a name is written twice and each line separator takes six bytes.
func TestReadMessagesLongest(t *testing.T) {
	head, tail := `{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"`, `"}}]},{"role":"tool","tool_call_id":"1"}]}`
	traces, err := importAll(strings.NewReader(head + strings.Repeat("\u2028", (16<<20-len(head)-len(tail))/3) + tail))
	if err != nil {
		t.Fatal(err)
	}
	if err := eh.WriteTraces(io.Discard, traces); err != nil {
		t.Error(err)
	}
}

// Long lists of messages and of calls, and the deepest arguments, come back as they are.
func TestReadMessagesMany(t *testing.T) {
	many := func(unit string) string { return strings.TrimSuffix(strings.Repeat(unit+",", 10_000), ",") }
	for name, in := range map[string]string{
		"depth":      conv(calls("", nested(1000)), answer("c1", "")),
		"users":      conv(many(`{"role":"user","content":"u"}`)),
		"assistants": conv(many(`{"role":"assistant"}`)),
		"calls":      conv(`{"role":"assistant","tool_calls":[`+many(`{"function":{"name":"a"}}`)+`]}`, many(`{"role":"tool"}`)),
	} {
		traces, err := importAll(strings.NewReader(in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back, err := read(write(t, traces))
		if err != nil || !reflect.DeepEqual(traces, back) { // cmp takes minutes
			t.Errorf("%s: does not come back as it is: %v", name, err)
		}
	}
}

// An oracle: a conversation is drawn as turns, written as messages, and read back as these turns.
func TestReadMessagesAgainstWriter(t *testing.T) {
	word := rapid.StringOfN(rapid.SampledFrom([]rune("ab \"\\\n<é\u2028")), 1, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		want := imported("x", word.Draw(t, "shown"), "")
		messages := []any{map[string]any{"role": "user", "content": want.Shown.Text}}
		turnOf := map[string]int{} // the call of an id, used last
		for range rapid.IntRange(0, 4).Draw(t, "messages") {
			said1 := rapid.OneOf(rapid.Just(""), word).Draw(t, "said")
			n := rapid.IntRange(0, 3).Draw(t, "calls")
			if n == 0 {
				shown := word.Draw(t, "shown")
				want.Turns = append(want.Turns, said(said1, shown))
				messages = append(messages, map[string]any{"role": "assistant", "content": said1}, map[string]any{"role": "user", "content": shown})
				continue
			}
			var list, answers []any
			for i := range n {
				name, shown := word.Draw(t, "name"), rapid.OneOf(rapid.Just(""), word).Draw(t, "answer")
				args, err := json.Marshal(map[string]string{word.Draw(t, "key"): word.Draw(t, "value")})
				if err != nil {
					t.Fatal(err)
				}
				id := fmt.Sprint("call", i)
				turnOf[id] = len(want.Turns)
				list = append(list, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": string(args)}})
				answers = append(answers, map[string]any{"role": "tool", "tool_call_id": id, "content": shown})
				want.Turns = append(want.Turns, called(said1, name, string(args), shown))
				said1 = ""
			}
			first := want.Turns[len(want.Turns)-n].Said
			messages = append(messages, map[string]any{"role": "assistant", "content": first, "tool_calls": list})
			messages = append(messages, rapid.Permutation(answers).Draw(t, "answers")...)
		}
		for len(messages) > 1 && rapid.Bool().Draw(t, "broken off") {
			m := messages[len(messages)-1].(map[string]any)
			if m["role"] != "tool" {
				break
			}
			messages = messages[:len(messages)-1]
			lost := &want.Turns[turnOf[m["tool_call_id"].(string)]]
			*lost = cut(*lost)
			lost.Shown = eh.Transition{}
		}
		line, err := json.Marshal(map[string]any{"id": "x", "messages": messages})
		if err != nil {
			t.Fatal(err)
		}
		got, err := importAll(strings.NewReader(string(line)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]eh.Trace{want}, got); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	})
}

// published opens a file of the public test data.
func published(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set: the test needs the public test data")
	}
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the folder of THROUGHLINE_DATA has no " + name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The prompts of the live part of BFCL, with the assistant's turns that some of them hold.
func TestReadMessagesBFCL(t *testing.T) {
	for _, name := range []string{"live_simple", "live_multiple", "live_irrelevance", "multi_turn_base"} {
		t.Run(name, func(t *testing.T) {
			var lines strings.Builder
			want := 0
			dec := json.NewDecoder(strings.NewReader(string(published(t, "bfcl/BFCL_v4_"+name+".json"))))
			for dec.More() {
				var row struct {
					ID       string              `json:"id"`
					Question [][]json.RawMessage `json:"question"`
				}
				if err := dec.Decode(&row); err != nil {
					t.Fatal(err)
				}
				for _, q := range row.Question {
					if len(q) == 0 {
						continue
					}
					line, err := json.Marshal(map[string]any{"id": row.ID, "messages": q})
					if err != nil {
						t.Fatal(err)
					}
					lines.Write(append(line, '\n'))
					want++
				}
			}
			got, err := importAll(strings.NewReader(lines.String()))
			if err != nil || len(got) != want || want < 200 {
				t.Fatalf("%d traces of %d, %v", len(got), want, err)
			}
			back, err := read(write(t, got))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(got, back); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The conversations in the tasks of tau2, whose calls are flat and answered by "id": put into the form of the API they are read.
func TestReadMessagesTau2(t *testing.T) {
	var tasks []struct {
		ID           string `json:"id"`
		InitialState *struct {
			History []struct {
				Role    string  `json:"role"`
				Content *string `json:"content,omitempty"`
				ID      string  `json:"id"`
				Calls   []struct {
					ID        string          `json:"id"`
					Name      string          `json:"name"`
					Arguments json.RawMessage `json:"arguments"`
				} `json:"tool_calls"`
			} `json:"message_history"`
		} `json:"initial_state"`
	}
	if err := json.Unmarshal(published(t, "tau2/mock/tasks.json"), &tasks); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, task := range tasks {
		if task.InitialState == nil || len(task.InitialState.History) == 0 {
			continue
		}
		found++
		var messages []any
		for _, m := range task.InitialState.History {
			out := map[string]any{"role": m.Role, "content": m.Content}
			if m.ID != "" {
				out["tool_call_id"] = m.ID
			}
			var list []any
			for _, c := range m.Calls {
				list = append(list, map[string]any{"id": c.ID, "type": "function",
					"function": map[string]any{"name": c.Name, "arguments": string(c.Arguments)}})
			}
			out["tool_calls"] = list
			messages = append(messages, out)
		}
		line, err := json.Marshal(map[string]any{"task_id": task.ID, "messages": messages})
		if err != nil {
			t.Fatal(err)
		}
		got, err := importAll(strings.NewReader(string(line)))
		if err != nil {
			t.Fatalf("%s: %v", task.ID, err)
		}
		want := imported(task.ID, "I need to create a task for the project review meeting.", eh.EndAgentStop,
			called("", "create_task", `{"user_id":"user_1","title":"Project Review","description":"Review Q4 project status"}`,
				`{"task_id":"task_2","title":"Project Review","description":"Review Q4 project status","status":"pending"}`),
			said("I've created a task titled 'Project Review' for you. The task has been created with ID task_2 and is currently in pending status.",
				""))
		if d := cmp.Diff([]eh.Trace{want}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", task.ID, d)
		}
	}
	if found != 2 {
		t.Errorf("%d tasks with a history, want 2", found)
	}
}
