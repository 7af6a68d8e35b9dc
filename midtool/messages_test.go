package midtool

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"pgregory.net/rapid"
)

func readBack(data []byte) ([]Sample, error) {
	var out []Sample
	for s, err := range ReadMessages(bytes.NewReader(data), "c.jsonl") {
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

func TestWriteMessages(t *testing.T) {
	s := Sample{
		ID: "s1", Family: "single", Ability: "grounding",
		Tools: []Tool{{Name: "run", Description: "Runs a && b <tool_call>.", License: "MIT", Parameters: []byte(`{ "type":"object", "properties":{"b":{"const":"\u003c日本\u003e"},"a":{}}}`)}},
		Messages: []Message{
			{Role: RoleUser, Content: "Run \u2028 <b> & 😀 now."},
			{Role: RoleAssistant, Calls: []Call{{ID: "call_0001", Name: "run", Arguments: []byte(`{"b": "\u003c日本\u003e", "a": [1, 2.50]}`)}}},
			{Role: RoleTool, Content: `{"x": "<"}`, CallID: "call_0001", Name: "run"},
			{Role: RoleAssistant, Content: "Done."},
		},
		Evidence: []Evidence{{"call_0001", "/b", EvidenceEnumDefault, "<日本>"}},
	}
	const head = `"messages":[{"role":"user","content":"Run ` + "\u2028" + ` <b> & 😀 now."},{"role":"assistant","content":"","tool_calls":[{"id":"call_0001","type":"function","function":{"name":"run","arguments":`
	const tail = `}}]},{"role":"tool","content":"{\"x\": \"<\"}","tool_call_id":"call_0001","name":"run"},{"role":"assistant","content":"Done."}],` +
		`"tools":[{"type":"function","function":{"name":"run","description":"Runs a && b <tool_call>.","parameters":{"type":"object","properties":{"b":{"const":"<日本>"},"a":{}}}}}]`
	for _, tt := range []struct {
		o            MessageOptions
		want, reason string
	}{
		{MessageOptions{}, "{" + head + `{"b":"<日本>","a":[1,2.5]}` + tail + "}\n", "raw at every depth"},
		{MessageOptions{StringArguments: true}, "{" + head + `"{\"b\": \"<日本>\", \"a\": [1, 2.5]}"` + tail + "}\n", "a string holds the display form"},
		{MessageOptions{Meta: true}, `{"id":"s1",` + head + `{"b":"<日本>","a":[1,2.5]}` + tail +
			`,"meta":{"family":"single","ability":"grounding","licenses":["MIT"],"evidence":[{"call_id":"call_0001","path":"/b","class":"enum_default","text":"<日本>"}]}}` + "\n", "ours"},
	} {
		var b bytes.Buffer
		if err := WriteMessages(&b, []Sample{s}, &tt.o); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, b.String()); diff != "" || tt.reason == "" {
			t.Errorf("%+v (-want +got):\n%s", tt.o, diff)
		}
	}
	var b bytes.Buffer
	if err := WriteMessages(&b, []Sample{{Messages: []Message{{Role: RoleUser, Content: "Hi."}}}}, nil); err != nil || strings.Contains(b.String(), "tools") {
		t.Errorf("no tools: %q, %v", b.String(), err)
	}
}

func TestWriteMessagesErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plant func(s *Sample)
		want  string
	}{
		{"content", func(s *Sample) { s.Messages[1].Content = "\xff" }, "UTF-8"},
		{"arguments", func(s *Sample) { s.Messages[2].Calls[0].Arguments = []byte(`[1]`) }, "arguments of get_forecast: want a JSON object, got list"},
		{"parameters", func(s *Sample) { s.Tools[1].Parameters = nil }, "parameters of send_mail"},
		{"name", func(s *Sample) { s.Tools[1].Name = "\xff" }, "tool name"},
		{"meta", func(s *Sample) { s.Source = "\xff" }, "source"},
		{"document", func(s *Sample) { s.Document = "\xff" }, "document"},
		{"answer", func(s *Sample) { s.Plan = &Plan{Answer: []string{"\xff"}} }, "answer"},
		{"template", func(s *Sample) { s.Messages[1].Template = "\xff" }, "template"},
		{"planned", func(s *Sample) { s.Plan = &Plan{Calls: []Call{{Name: "f", Arguments: []byte(`5`)}}} }, "arguments of f: want a JSON object, got number"},
		{"absent", func(s *Sample) { s.Plan = &Plan{Absent: &Tool{Name: "f"}} }, "parameters of f"},
		{"group", func(s *Sample) { s.Tools[1].Group = "\xff" }, "tool send_mail"},
		{"offered group", func(s *Sample) {
			late := lateTools()
			s.Messages[0] = Message{Role: RoleSystem, Content: OfferText(late), Offers: late}
			late[0].Group = "\xff"
		}, "tool book_hut"},
		{"absent group", func(s *Sample) { s.Plan = &Plan{Absent: &Tool{Name: "f", Parameters: []byte(`{}`), Group: "\xff"}} }, "tool f"},
	} {
		bad := clean()
		tt.plant(&bad)
		var b bytes.Buffer
		err := WriteMessages(&b, []Sample{clean(), bad}, &MessageOptions{Meta: true})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "sample 1") || strings.Count(b.String(), "\n") != 1 {
			t.Errorf("%s: %v, %d lines", tt.name, err, strings.Count(b.String(), "\n"))
		}
	}
	if err := WriteMessages(failing{}, []Sample{clean()}, nil); !errors.Is(err, errDisk) {
		t.Errorf("full disk: %v", err)
	}
}

var errDisk = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errDisk }

// What is written reads back equal: on arbitrary Unicode, with every option.
func TestMessagesRoundTrip(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"😀", "日本語", "a\u2028b\u2029", "<tool_call>&", "### User\n", "\x00\x1f\x7f", `\u003c`, ""}))
	object := func(t *rapid.T, label string) json.RawMessage {
		return json.RawMessage(marshal(rapid.MapOfN(text, anyValue(2), 0, 3).AsAny().Draw(t, label)))
	}
	anyTool := func(t *rapid.T) Tool {
		tool := Tool{Name: text.Filter(func(s string) bool { return s != "" }).Draw(t, "name"), Description: text.Draw(t, "description"), Parameters: object(t, "parameters")}
		params, _ := jsonval.Parse(tool.Parameters)
		tool.ID = toolID(tool.Name, tool.Description, params)
		return tool
	}
	anySource := func(t *rapid.T, tools []Tool) {
		for i := range tools {
			tools[i].Group, tools[i].Original = text.Draw(t, "group"), text.Draw(t, "original")
			if rapid.Bool().Draw(t, "returning") {
				tools[i].Returns = object(t, "returns")
			}
		}
	}
	anyCalls := func(t *rapid.T) (calls []Call) {
		for range rapid.IntRange(0, 2).Draw(t, "calls") {
			calls = append(calls, Call{ID: text.Draw(t, "id"), Name: text.Draw(t, "call"), Arguments: object(t, "arguments")})
		}
		return calls
	}
	rapid.Check(t, func(t *rapid.T) {
		var s Sample
		o := MessageOptions{StringArguments: rapid.Bool().Draw(t, "string"), Meta: rapid.Bool().Draw(t, "meta")}
		for range rapid.IntRange(0, 3).Draw(t, "tools") {
			s.Tools = append(s.Tools, anyTool(t))
		}
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			m := Message{Role: rapid.SampledFrom([]Role{RoleSystem, RoleUser, RoleAssistant, RoleTool}).Draw(t, "role"), Content: text.Draw(t, "content"),
				CallID: text.Draw(t, "call id"), Name: text.Draw(t, "tool name"), Calls: anyCalls(t)}
			if m.Role == RoleSystem && rapid.Bool().Draw(t, "offers") {
				m.Offers = []Tool{anyTool(t), anyTool(t)}[:rapid.IntRange(1, 2).Draw(t, "offered")]
				m.Content = OfferText(m.Offers)
			}
			m.Untrained = m.Role == RoleAssistant && rapid.Bool().Draw(t, "untrained")
			if o.Meta {
				anySource(t, m.Offers)
				m.Template = text.Draw(t, "template")
			}
			s.Messages = append(s.Messages, m)
		}
		if o.Meta {
			anySource(t, s.Tools)
			s.ID, s.Family, s.Ability = text.Draw(t, "id"), Family(text.Draw(t, "family")), Ability(text.Draw(t, "ability"))
			s.Document = text.Draw(t, "document")
			s.SecondAbility, s.Source, s.Generator = Ability(text.Draw(t, "second")), text.Draw(t, "source"), text.Draw(t, "generator")
			for range rapid.IntRange(0, 2).Draw(t, "evidence") {
				s.Evidence = append(s.Evidence, Evidence{text.Draw(t, "call id"), text.Draw(t, "path"), EvidenceLiteral, text.Draw(t, "text")})
			}
			if rapid.Bool().Draw(t, "plan") {
				s.Plan = &Plan{Calls: anyCalls(t), Fault: text.Draw(t, "fault")}
				for range rapid.IntRange(0, 2).Draw(t, "withheld") {
					s.Plan.Withheld = append(s.Plan.Withheld, text.Draw(t, "pointer"))
				}
				for range rapid.IntRange(0, 2).Draw(t, "answer") {
					s.Plan.Answer = append(s.Plan.Answer, text.Draw(t, "piece"))
				}
				if rapid.Bool().Draw(t, "absent") {
					absent := anyTool(t)
					absent.Original, absent.Group, absent.License, absent.ReadOnly = text.Draw(t, "original"), text.Draw(t, "group"), text.Draw(t, "license"), true
					absent.Origin, absent.Returns, absent.Lossy = Origin{Kind: "mcp", Locator: text.Draw(t, "locator"), Line: 3}, object(t, "returns"), []string{"wrapped"}
					s.Plan.Absent = &absent
				}
			}
		}
		var b bytes.Buffer
		if err := WriteMessages(&b, []Sample{s, s}, &o); err != nil {
			t.Fatal(err)
		}
		got, err := readBack(b.Bytes())
		if diff := cmp.Diff([]Sample{s, s}, got); diff != "" || err != nil {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
		if line := b.Bytes(); bytes.Count(line, []byte("\n")) != 2 || !json.Valid(line[:bytes.IndexByte(line, '\n')]) {
			t.Fatalf("line %q", line)
		}
	})
}

// A sample that is read back is checked as it was written: tools keep the names and groups that proofs look at.
func TestMessagesProofReadBack(t *testing.T) {
	late := Tool{Name: "mail_send", Original: "send_mail", Group: "shop", Description: "Sends a letter.", Parameters: []byte(`{"type":"object","properties":{"to":{"type":"string"}}}`)}
	s := shop(MissingFunction).user("Mail it to Ann Lee.").says("None of the tools does that.").offer(late).user("Now there is one.").
		calls("mail_send", `{"to":"Ann Lee"}`, `{"sent": 1}`).says("Sent.").plan(Plan{Absent: &Tool{Name: "send_mail", Parameters: []byte(`{}`)}}).Sample
	s.Tools[0].Name, s.Tools[0].Original = "post_mail_2", "post_letter"
	if v := Validate(s); v != nil {
		t.Fatal(v)
	}
	var b bytes.Buffer
	if err := WriteMessages(&b, []Sample{s}, &MessageOptions{Meta: true}); err != nil {
		t.Fatal(err)
	}
	got, err := readBack(b.Bytes())
	if err != nil || Validate(got[0]) != nil {
		t.Errorf("%v, %v", err, Validate(got[0]))
	}
	if got[0].Tools[2].Group != "shop" || got[0].Tools[0].Original != "post_letter" || got[0].Messages[2].Offers[0].Original != "send_mail" {
		t.Errorf("%+v", got[0])
	}
}

// What may nest to the bound by itself can also be read back from within a line.
func TestMessagesDeepest(t *testing.T) {
	s := clean()
	deepest := strings.Repeat(`{"a":`, 63) + `{}` + strings.Repeat(`}`, 63)
	s.Messages[2].Calls[0].Arguments, s.Tools[0].Parameters = []byte(deepest), []byte(deepest)
	for _, o := range []MessageOptions{{}, {StringArguments: true}} {
		var b bytes.Buffer
		if err := WriteMessages(&b, []Sample{s}, &o); err != nil {
			t.Fatal(err)
		}
		if got, err := readBack(b.Bytes()); err != nil || string(got[0].Messages[2].Calls[0].Arguments) != deepest {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestReadMessagesErrors(t *testing.T) {
	const ok = `{"messages":[{"role":"user","content":"Hi."}]}` + "\n"
	for _, tt := range []struct{ line, rule string }{
		{`{`, "expected a key"}, {`[]`, `no "messages"`}, {`{"messages":{}}`, `"messages": want list, got object`}, {`{"messages":[5]}`, `unknown role ""`},
		{`{"messages":[{"role":"observation","content":"x"}]}`, `unknown role "observation"`}, {`{"messages":[{"role":"user","content":5}]}`, `"content": want string`},
		{`{"messages":[{"role":"user","content":["x"]}]}`, `part 0: want object, got string`},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"}]}]}`, `part 1 is of type "image_url"`},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":["a"]}]}]}`, `"text": want string`},
		{`{"messages":[{"role":"assistant","function_call":"f"}]}`, `"function_call": want object`},
		{`{"messages":[{"role":"assistant","tool_calls":{"a":1}}]}`, `"tool_calls": want list`},
		{`{"messages":[{"role":"assistant","content":"a","train":"no"}]}`, `"train": want boolean`},
		{`{"messages":[],"tools":[{"name":"a"}],"meta":{"returns":["{"]}}`, `"returns"`}, {`{"messages":[],"meta":{"returns":["{}"]}}`, `"returns": want one string a tool`},
		{`{"messages":[],"meta":{"templates":["a"]}}`, `"templates": want one string a message`},
		{`{"messages":[{"role":"user"}],"meta":{"templates":[1]}}`, `"templates": want one string a message`},
		{`{"messages":[],"meta":{"groups":["a"]}}`, `"groups": want one string a tool`},
		{`{"messages":[],"tools":[{"name":"f"}],"meta":{"originals":[1]}}`, `"originals": want one string a tool`},
		{`{"messages":[],"meta":{"plan":[]}}`, `"plan": want object`}, {`{"messages":[],"meta":{"plan":{"withheld":[1]}}}`, `"withheld": want strings`},
		{`{"messages":[],"meta":{"plan":{"absent":{"name":5}}}}`, `"absent"`}, {`{"messages":[],"meta":{"plan":{"absent":{"name":"f","parameters":[]}}}}`, `"absent": parameters of f`},
		{`{"messages":[],"meta":{"plan":{"calls":[{"name":"f","arguments":[1]}]}}}`, `arguments of "f": want an object`},
		{`{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{'a':1}"}}]}]}`, `arguments of "f"`},
		{`{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":[1]}}]}]}`, `arguments of "f": want an object`},
		{`{"messages":[],"tools":[{"type":"function"}]}`, "a tool has no name"}, {`{"messages":[],"tools":[{"function":{"name":"f","parameters":"{}"}}]}`, `"parameters": want object`},
	} {
		got, err := readBack([]byte(ok + tt.line + "\n" + ok))
		var e *SyntaxError
		if !errors.As(err, &e) || e.Line != 2 || e.Locator != "c.jsonl" || !strings.Contains(e.Rule, tt.rule) || len(got) != 1 {
			t.Errorf("%s: %v after %d samples, want %q", tt.line, err, len(got), tt.rule)
		}
	}
}

// Conversations as agents record them.
func TestReadMessagesInTheWild(t *testing.T) {
	hi := Message{Role: RoleUser, Content: "Hi."}
	call := func(id, args string) Message {
		return Message{Role: RoleAssistant, Calls: []Call{{ID: id, Name: "f", Arguments: []byte(args)}}}
	}
	f := Tool{Name: "f", Description: "Does it.", Parameters: []byte(`{"type":"object"}`)}
	params, _ := jsonval.Parse(f.Parameters)
	f.ID = toolID(f.Name, f.Description, params)
	bare := Tool{Name: "f", Parameters: []byte(`{}`), ID: toolID("f", "", jsonval.NewObject())}
	for _, tt := range []struct {
		line   string
		want   Sample
		reason string
	}{
		{`{"messages":[{"role":"assistant","content":null}],"tools":null,"extra":1}`, Sample{Messages: []Message{{Role: RoleAssistant}}}, "null is no text"},
		{`{"messages":[{"role":"developer","content":"Be brief."}]}`, Sample{Messages: []Message{{Role: RoleSystem, Content: "Be brief."}}}, "the newer name of system"},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":"Hi."},{"type":"text","text":"You."}]}]}`,
			Sample{Messages: []Message{{Role: RoleUser, Content: "Hi.\nYou."}}}, "parts"},
		{`{"messages":[{"role":"user","content":[]}]}`, Sample{Messages: []Message{{Role: RoleUser}}}, "no parts"},
		{`{"messages":[{"role":"user","content":"Hi.","tool_calls":null,"name":null,"function_call":null}]}`, Sample{Messages: []Message{hi}}, "null is absent"},
		{`{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\": 1}"}}]}]}`, Sample{Messages: []Message{call("c", `{"a":1}`)}}, "a string"},
		{`{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":""}}]}]}`, Sample{Messages: []Message{call("c", `{}`)}}, "an empty string"},
		{`{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f"}}]}]}`, Sample{Messages: []Message{call("c", `{}`)}}, "no arguments"},
		{`{"messages":[{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"5"}]}`,
			Sample{Messages: []Message{call("", `{}`), {Role: RoleTool, Name: "f", Content: "5"}}}, "before there were ids"},
		{`{"messages":[],"tools":[{"name":"f","description":"Does it.","parameters":{"type":"object"}},{"type":"function","name":"f"}]}`,
			Sample{Tools: []Tool{f, bare}}, "without the function around"},
		{`{"messages":[{"role":"system","content":"` + offerLine + `\n{\"name\":\"f\"}"}]}`,
			Sample{Messages: []Message{{Role: RoleSystem, Content: offerLine + "\n" + `{"name":"f"}`}}}, "not as it would be written: an ordinary text"},
		{`{"messages":[{"role":"user","content":` + toJSON(OfferText([]Tool{f})) + `}]}`,
			Sample{Messages: []Message{{Role: RoleUser, Content: OfferText([]Tool{f})}}}, "a user offers nothing"},
	} {
		got, err := readBack([]byte(tt.line))
		if diff := cmp.Diff([]Sample{tt.want}, got); diff != "" || err != nil || tt.reason == "" {
			t.Errorf("%s (%s): %v (-want +got):\n%s", tt.line, tt.reason, err, diff)
		}
	}
}

// FuzzReadMessages: what is read can be written, and reads back equal.
func FuzzReadMessages(f *testing.F) {
	var b bytes.Buffer
	if err := WriteMessages(&b, []Sample{clean()}, &MessageOptions{Meta: true, StringArguments: true}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"function":{"arguments":"{}"}}]}],"tools":[{"function":{"name":"x"}}]}`))
	late := clean()
	late.Messages[0] = Message{Role: RoleSystem, Content: OfferText(lateTools()), Offers: lateTools()}
	late.Messages[2].Untrained, late.Messages[1].Template = true, "{request}"
	late.Plan = &Plan{Calls: late.Messages[2].Calls, Withheld: []string{"/city"}, Absent: &late.Tools[0], Fault: "timeout", Answer: []string{"a"}}
	b.Reset()
	if err := WriteMessages(&b, []Sample{late}, &MessageOptions{Meta: true}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"messages":[{"role":"function","content":[{"type":"text","text":"a"}]},{"role":"developer","function_call":{"name":"f","arguments":""}}],"tools":[{"name":"x"}],"meta":{"plan":{"absent":{"name":"f","parameters":{},"lossy":[],"returns":null}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		samples, _ := readBack(data)
		var b bytes.Buffer
		if err := WriteMessages(&b, samples, &MessageOptions{Meta: true}); err != nil {
			if strings.Contains(err.Error(), "nested deeper") {
				return // a line may nest deeper than arguments may
			}
			t.Fatal(err)
		}
		again, err := readBack(b.Bytes())
		if diff := cmp.Diff(samples, again); diff != "" || err != nil {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
		for _, s := range samples {
			Validate(s)
		}
	})
}

func anyValue(depth int) *rapid.Generator[any] {
	gens := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int64().AsAny(),
		rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }).AsAny(),
		rapid.SampledFrom([]any{"<tool>", "a\u2028b", "### User", "😀", "日本語", "&&"}),
	}
	if depth > 0 {
		gens = append(gens, rapid.SliceOfN(anyValue(depth-1), 0, 3).AsAny(), rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(gens...)
}
