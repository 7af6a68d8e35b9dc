package midtool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"pgregory.net/rapid"
)

func BenchmarkValidate(b *testing.B) {
	s := clean()
	b.ReportAllocs()
	for b.Loop() {
		Validate(s)
	}
}

// clean returns a sample without faults, built by hand.
func clean() Sample {
	schema := `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","maximum":16},"units":{"enum":["metric","imperial"]},
		"alerts":{"type":"boolean"},"from":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["city"]}`
	return Sample{
		Tools: []Tool{
			{Name: "get_forecast", Description: "Returns the forecast.", Parameters: []byte(schema), Group: "weather-service",
				Returns: []byte(`{"type":"object","properties":{"temp":{"type":"number"}},"required":["temp"]}`)},
			{Name: "send_mail", Parameters: []byte(`{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}`)},
		},
		Messages: []Message{
			{Role: RoleSystem, Content: "Be brief."},
			{Role: RoleUser, Content: "How will it be in Zürich over the next three days, from 3 March 2027 on, with alerts? Tag it ski trip."},
			{Role: RoleAssistant, Calls: []Call{{ID: "call_0001", Name: "get_forecast",
				Arguments: []byte(`{"city":"Zürich","days":3,"units":"metric","alerts":true,"from":"2027-03-03","tags":["ski-trip"]}`)}}},
			{Role: RoleTool, Content: `{"temp": 7.5}`, CallID: "call_0001", Name: "get_forecast"},
			{Role: RoleAssistant, Content: "It will be 7.5 degrees."},
		},
	}
}

func arguments(s *Sample, f func(args map[string]any)) {
	var args map[string]any
	if err := json.Unmarshal(s.Messages[2].Calls[0].Arguments, &args); err != nil {
		panic(err)
	}
	f(args)
	s.Messages[2].Calls[0].Arguments = []byte(toJSON(args))
}

// One planted fault each: Validate reports exactly its rule at its place.
func TestValidateFaults(t *testing.T) {
	if v := Validate(clean()); v != nil {
		t.Fatalf("clean sample: %v", v)
	}
	const args = "/messages/2/calls/0/arguments"
	for _, tt := range []struct {
		name   string
		plant  func(s *Sample)
		rule   string
		path   string
		reason string
	}{
		{"content", func(s *Sample) { s.Messages[4].Content = "\xff." }, "invalid_utf8", "/messages/4/content", "spec 2"},
		{"description", func(s *Sample) { s.Tools[1].Description = "\xff" }, "invalid_utf8", "/tools/1/description", "spec 2"},
		{"call id", func(s *Sample) { s.Messages[2].Calls[0].ID, s.Messages[3].CallID = "\xff", "\xff" }, "invalid_utf8", "/messages/2/calls/0/id", "WriteMessages refuses it"},
		{"dotted name", func(s *Sample) { s.Tools[1].Name = "mail.send" }, "name", "/tools/1/name", "name lint"},
		{"long name", func(s *Sample) { s.Tools[1].Name = strings.Repeat("a", 65) }, "name", "/tools/1/name", "name lint"},
		{"same name", func(s *Sample) { s.Tools[1].Name = "get_forecast" }, "name", "/tools/1/name", "P4"},
		{"schema text", func(s *Sample) { s.Tools[0].Parameters = []byte(`{`) }, "bad_schema", "/tools/0/parameters", "cannot be checked"},
		{"remote schema", func(s *Sample) { s.Tools[0].Parameters = []byte(`{"$ref":"x.json"}`) }, "bad_schema", "/tools/0/parameters", "cannot be checked"},
		{"user after user", func(s *Sample) { s.Messages = slices.Insert(s.Messages, 1, s.Messages[1]) }, "turn_order", "/messages/2", "V1; LLaMA-Factory #2529"},
		{"starts with assistant", func(s *Sample) {
			s.Messages = slices.Insert(s.Messages, 0, Message{Role: RoleAssistant, Content: "Hello."})
		}, "turn_order", "/messages/0", "V1"},
		{"ends with user", func(s *Sample) {
			s.Messages = append(s.Messages, Message{Role: RoleUser, Content: "Thank you very much."})
		}, "turn_order", "/messages/5", "V1"},
		{"assistant twice", func(s *Sample) { s.Messages = append(s.Messages, s.Messages[4]) }, "turn_order", "/messages/5", "V1"},
		{"role", func(s *Sample) { s.Messages[0].Role = "observation" }, "turn_order", "/messages/0", "V1; axolotl #3824"},
		{"none", func(s *Sample) { s.Messages = nil }, "turn_order", "/messages", "V1"},
		{"user calls", func(s *Sample) { s.Messages[1].Calls = s.Messages[2].Calls[:0:0]; s.Messages[1].Calls = []Call{{}} }, "turn_order", "/messages/1/calls", "V1"},
		{"empty turn", func(s *Sample) { s.Messages[4].Content = "" }, "empty_turn", "/messages/4", "V2"},
		{"unknown tool", func(s *Sample) {
			s.Messages[2].Calls[0].Name, s.Messages[3].Name = "get_report", "get_report"
		}, "unknown_tool", "/messages/2/calls/0/name", "V3"},
		{"list as arguments", func(s *Sample) { s.Messages[2].Calls[0].Arguments = []byte(`["Zürich"]`) }, "bad_arguments", args, "V4"},
		{"no JSON", func(s *Sample) { s.Messages[2].Calls[0].Arguments = []byte(`{'city': 'Zürich'}`) }, "bad_arguments", args, "V4; Toucan's Python repr"},
		{"missing required", func(s *Sample) { arguments(s, func(a map[string]any) { delete(a, "city") }) }, "missing_required", args + "/city", "V5"},
		{"extra", func(s *Sample) { arguments(s, func(a map[string]any) { a["alert"] = true }) }, "unexpected_argument", args + "/alert", "V6"},
		{"wrong type", func(s *Sample) { arguments(s, func(a map[string]any) { a["days"] = "3" }) }, "schema", args + "/days", "V7"},
		{"out of bounds", func(s *Sample) {
			s.Tools[0].Parameters = []byte(strings.Replace(string(s.Tools[0].Parameters), `"maximum":16`, `"maximum":2`, 1))
		}, "schema", args + "/days", "V7"},
		{"nested type", func(s *Sample) { arguments(s, func(a map[string]any) { a["tags"] = []any{"ski-trip", true} }) }, "schema", args + "/tags/1", "V7, place inside"},
		{"no result", func(s *Sample) {
			s.Messages[2].Calls = append(s.Messages[2].Calls, s.Messages[2].Calls[0])
			s.Messages[2].Calls[1].ID = "call_0002"
		},
			"response", "/messages/2", "V8: one result per call"},
		{"result of another call", func(s *Sample) { s.Messages[3].CallID = "call_0007" }, "response", "/messages/3/call_id", "V8"},
		{"result of another tool", func(s *Sample) { s.Messages[3].Name = "send_mail" }, "response", "/messages/3/name", "V8"},
		{"result schema", func(s *Sample) { s.Messages[3].Content = `{"temp": "7.5"}` }, "response", "/messages/3/content/temp", "V8"},
		{"changed result", func(s *Sample) {
			again := []Message{s.Messages[2], s.Messages[3]}
			again[1].Content = `{"temp": 8.5}`
			s.Messages = slices.Insert(s.Messages, 4, again...)
		}, "response", "/messages/5/content", "V8: equal calls, equal results"},
		{"dots", func(s *Sample) { s.Tools[0].Returns = nil; s.Messages[3].Content = "7.5 degrees and..." }, "truncated", "/messages/3/content", "V9; agent-data-protocol #182"},
		{"cut JSON", func(s *Sample) { s.Tools[0].Returns = nil; s.Messages[3].Content = `{"temp": 7.5` }, "truncated", "/messages/3/content", "V9"},
		{"hallucinated", func(s *Sample) { arguments(s, func(a map[string]any) { a["city"] = "Bern" }) }, "ungrounded", args + "/city", "V10"},
		{"other number", func(s *Sample) { arguments(s, func(a map[string]any) { a["days"] = 7 }) }, "ungrounded", args + "/days", "V10"},
		{"other date", func(s *Sample) { arguments(s, func(a map[string]any) { a["from"] = "2027-03-04" }) }, "ungrounded", args + "/from", "V10"},
		{"one of a list", func(s *Sample) { arguments(s, func(a map[string]any) { a["tags"] = []any{"ski-trip", "family"} }) }, "ungrounded", args + "/tags/1", "V10"},
		{"tool name", func(s *Sample) { s.Messages[1].Content += " Use getForecast for that." }, "leak", "/messages/1/content", "V11"},
		{"other tool's name", func(s *Sample) { s.Messages[1].Content += " Then send mail to me." }, "leak", "/messages/1/content", "V11"},
		{"original name", func(s *Sample) { s.Tools[1].Original = "post.letter"; s.Messages[1].Content += " And post letter." }, "leak", "/messages/1/content", "V11"},
		{"group name", func(s *Sample) { s.Messages[1].Content += " Ask the weather service." }, "leak", "/messages/1/content", "V11"},
		{"slot", func(s *Sample) { s.Messages[1].Content += " In {city}." }, "leak", "/messages/1/content", "V11"},
		{"no end", func(s *Sample) { s.Messages[1].Content += " please" }, "leak", "/messages/1/content", "V11"},
		{"too long", func(s *Sample) { s.Messages[1].Content += strings.Repeat(" very", 400) + "." }, "leak", "/messages/1/content", "V11"},
		{"blank", func(s *Sample) {
			s.Tools[0].Parameters = []byte(strings.Replace(string(s.Tools[0].Parameters), `"city":{`, `"city":{"default":" ",`, 1))
			arguments(s, func(a map[string]any) { a["city"] = " " })
		}, "blank_call", args + "/city", "V12; gorilla #685"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := clean()
			tt.plant(&s)
			got := Validate(s)
			if !slices.ContainsFunc(got, func(v Violation) bool { return v.Rule == tt.rule && v.Path == tt.path }) || tt.reason == "" {
				t.Errorf("want %s at %s, got %v", tt.rule, tt.path, got)
			}
			if !slices.IsSortedFunc(got, func(a, b Violation) int { return slices.Index(rules, a.Rule) - slices.Index(rules, b.Rule) }) {
				t.Errorf("not in the order of the rules: %v", got)
			}
			if again := Validate(s); !cmp.Equal(got, again) {
				t.Errorf("two runs differ: %v, %v", got, again)
			}
		})
	}
	short := clean()
	short.Messages[1].Content = "Do it."
	if v := Validate(short); !slices.ContainsFunc(v, func(v Violation) bool { return strings.Contains(v.Detail, "2 words") }) {
		t.Errorf("two words: %v", v)
	}
}

// A sample with many faults reports all of them, in the order of the rules.
func TestValidateCollectsAll(t *testing.T) {
	s := clean()
	s.Messages[1].Content = "{city}"
	s.Messages[2].Calls[0].Arguments = []byte(`{"days":99,"x":1}`)
	s.Messages[3].Content = "[..."
	s.Messages = append(s.Messages, Message{Role: RoleUser})
	var got []string
	for _, v := range Validate(s) {
		if !slices.Contains(got, v.Rule) {
			got = append(got, v.Rule)
		}
	}
	want := []string{"turn_order", "empty_turn", "missing_required", "unexpected_argument", "schema", "response", "truncated", "ungrounded", "leak"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Things that peers reject and that are right.
func TestValidateAccepts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(s *Sample)
		reason string
	}{
		{"null error", func(s *Sample) { s.Messages[3].Content = `{"error": null, "temp": 7}` }, "fault 24: an empty error is none"},
		{"0 errors", func(s *Sample) { s.Messages[3].Content = `{"temp": 7, "note": "0 errors"}` }, "spec 3.7: by structure"},
		{"error", func(s *Sample) { s.Messages[3].Content = `{"error": "no such city"}` }, "an error need not follow the result schema"},
		{"status 404", func(s *Sample) { s.Messages[3].Content = `{"status": 404}` }, "an error need not follow the result schema"},
		{"same tool twice", func(s *Sample) {
			c := s.Messages[2].Calls[0]
			c.ID = "call_0002"
			s.Messages[2].Calls = append(s.Messages[2].Calls, c)
			r := s.Messages[3]
			r.CallID = "call_0002"
			s.Messages = slices.Insert(s.Messages, 4, r)
		}, "fault 4: calls are a list"},
		{"from a result", func(s *Sample) {
			s.Messages = slices.Insert(s.Messages, 4, Message{Role: RoleAssistant, Calls: []Call{{ID: "call_0002", Name: "send_mail", Arguments: []byte(`{"to":"7.5"}`)}}},
				Message{Role: RoleTool, Content: "sent", CallID: "call_0002", Name: "send_mail"})
		}, "evidence class tool_result"},
		{"system between turns", func(s *Sample) {
			s.Messages = append(s.Messages, Message{Role: RoleSystem, Content: "New tools."}, Message{Role: RoleUser, Content: "Thank you very much."}, s.Messages[4])
		}, "missing_function releases a tool that way"},
		{"no evidence recorded", func(s *Sample) { s.Evidence = nil }, "evidence is found again"},
		{"open schema", func(s *Sample) {
			s.Tools[0].Parameters = []byte(`{"type":"object","additionalProperties":true}`)
			arguments(s, func(a map[string]any) { delete(a, "units") }) // no enum supports it any more
		}, "V6: additionalProperties is true"},
	} {
		s := clean()
		tt.change(&s)
		if v := Validate(s); v != nil || tt.reason == "" {
			t.Errorf("%s (%s): %v", tt.name, tt.reason, v)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		text, schema, value string
		want                EvidenceClass
		reason              string
	}{
		{"Go to Oslo.", `{}`, `"Oslo"`, EvidenceLiteral, "rule 1"},
		{"Go to Oslofjord.", `{}`, `"Oslo"`, EvidenceUngrounded, "not at a word boundary"},
		{"go to new york ny now", `{}`, `"New York, NY"`, EvidenceNormalized, "rule 2, punctuation and case"},
		{"the York of New England", `{}`, `"new-york"`, EvidenceNormalized, "rule 2, words in any order"},
		{"it's fine", `{}`, `"it\"s"`, EvidenceNormalized, "rule 2, quotes"},
		{"for example.com/a", `{}`, `"example.com"`, EvidenceLiteral, "punctuation is a boundary"},
		{"take 5.", `{}`, `5`, EvidenceLiteral, "a sentence may end after a number"},
		{"take 15 or 5.5", `{}`, `5`, EvidenceUngrounded, "part of longer numbers"},
		{"take -5", `{}`, `5`, EvidenceUngrounded, "another sign (ours)"},
		{"take -5", `{}`, `-5`, EvidenceLiteral, "rule 1"},
		{"range 1-5", `{}`, `5`, EvidenceLiteral, "a hyphen between words is no sign"},
		{"take five", `{}`, `5`, EvidenceNormalized, "number word"},
		{"take 5", `{}`, `5.0`, EvidenceNormalized, "equal number"},
		{"pay 1,200 now", `{}`, `1200`, EvidenceNormalized, "thousands separator"},
		{"a share of 5 %", `{}`, `0.05`, EvidenceNormalized, "percent"},
		{"on 3 March 2027", `{}`, `"2027-03-03"`, EvidenceDerived, "rule 5"},
		{"on 3 March 2027", `{}`, `"2027-03-30"`, EvidenceUngrounded, "another day"},
		{"anything", `{"enum":["a"]}`, `"a"`, EvidenceEnumDefault, "rule 4"},
		{"nothing", `{"anyOf":[{"type":"null"},{"const":7}]}`, `7`, EvidenceEnumDefault, "rule 4, inside a branch"},
		{"nothing", `{"default":"x"}`, `"x"`, EvidenceEnumDefault, "rule 4"}, {"nothing", `{"examples":["x"]}`, `"x"`, EvidenceEnumDefault, "rule 4"},
		{"nothing", `{"type":"boolean"}`, `true`, EvidenceEnumDefault, "rule 4"},
		{"nothing", `{"type":"array","items":{}}`, `[]`, EvidenceEnumDefault, "empty and allowed"},
		{"nothing", `{"type":"array","minItems":1}`, `[]`, EvidenceUngrounded, "empty and not allowed"},
		{"nothing", `{"type":["string","null"]}`, `null`, EvidenceEnumDefault, "ours: null carries no words"},
		{"result 42 came", `{}`, `""`, EvidenceUngrounded, "a blank is supported by nothing"},
	} {
		s, err := schema.CompileRaw([]byte(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		v, _ := jsonval.Parse([]byte(tt.value))
		var c scene
		c.say(tt.text)
		if got := c.classify(&schema.Leaf{Value: &v, Schema: s}); got != tt.want || tt.reason == "" {
			t.Errorf("%s in %q: %s, want %s (%s)", tt.value, tt.text, got, tt.want, tt.reason)
		}
	}
}

// The time for evidence grows with arguments plus results, not with their product: minutes become milliseconds.
func TestValidateManyResults(t *testing.T) {
	s := clean()
	s.Tools[0].Parameters, s.Tools[0].Returns = []byte(`{"type":"object","additionalProperties":true}`), nil
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `,"k%d":"v%d"`, i, i)
	}
	many := `{` + b.String()[1:] + `}`
	s.Messages[3].Content = many
	again := s.Messages[2]
	again.Calls = []Call{{ID: "call_0002", Name: "get_forecast", Arguments: []byte(strings.ReplaceAll(many, "v", "w"))}}
	answer := s.Messages[3]
	answer.CallID = "call_0002"
	s.Messages = slices.Insert(s.Messages, 4, again, answer)
	n := 0
	for _, v := range Validate(s) {
		if v.Rule == "ungrounded" && strings.HasPrefix(v.Path, "/messages/4/") {
			n++
		}
	}
	if n != 20_000 {
		t.Errorf("%d arguments of 20,000 are ungrounded", n)
	}
}

// Text that stands whole in the context is literal evidence, whatever characters it has.
func TestLiteralAlwaysFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringN(1, 12, -1).Filter(func(s string) bool { return strings.TrimSpace(s) != "" }).Draw(t, "value")
		v := jsonval.NewString(value)
		var c scene
		c.say(rapid.String().Draw(t, "before") + ` "` + value + `" ` + rapid.String().Draw(t, "after"))
		if got := c.classify(&schema.Leaf{Value: &v}); got != EvidenceLiteral {
			t.Fatalf("%q: %s", value, got)
		}
	})
}

// FuzzValidate: no sample, however broken, makes Validate panic.
func FuzzValidate(f *testing.F) {
	f.Add("Go to {city}.", `{"city":"Oslo"}`, `{"type":"object","properties":{"city":{"$ref":"#"}}}`, `{"error":null`)
	f.Add("\xff", `[`, ``, "…")
	f.Fuzz(func(t *testing.T, user, args, schema, result string) {
		s := clean()
		s.Messages[1].Content, s.Messages[3].Content = user, result
		s.Messages[2].Calls[0].Arguments = []byte(args)
		s.Tools[0].Parameters, s.Tools[0].Returns = []byte(schema), []byte(schema)
		Validate(s)
	})
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
