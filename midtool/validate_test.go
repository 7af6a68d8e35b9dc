package midtool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
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

// lateTools returns a tool that can be offered in the middle.
func lateTools() []Tool {
	return []Tool{{Name: "book_hut", Description: "Books a hut.", Parameters: []byte(`{"type":"object","properties":{"hut":{"type":"string"}},"required":["hut"]}`)}}
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
		{"content", func(s *Sample) { s.Messages[4].Content = "\xff." }, "invalid_utf8", "/messages/4/content", "JSON is UTF-8"},
		{"description", func(s *Sample) { s.Tools[1].Description = "\xff" }, "invalid_utf8", "/tools/1/description", "JSON is UTF-8"},
		{"call id", func(s *Sample) { s.Messages[2].Calls[0].ID, s.Messages[3].CallID = "\xff", "\xff" }, "invalid_utf8", "/messages/2/calls/0/id", "WriteMessages refuses it"},
		{"dotted name", func(s *Sample) { s.Tools[1].Name = "mail.send" }, "name", "/tools/1/name", "name lint"},
		{"long name", func(s *Sample) { s.Tools[1].Name = strings.Repeat("a", 65) }, "name", "/tools/1/name", "name lint"},
		{"same name", func(s *Sample) { s.Tools[1].Name = "get_forecast" }, "name", "/tools/1/name", "names are one-to-one"},
		{"schema text", func(s *Sample) { s.Tools[0].Parameters = []byte(`{`) }, "bad_schema", "/tools/0/parameters", "cannot be checked"},
		{"remote schema", func(s *Sample) { s.Tools[0].Parameters = []byte(`{"$ref":"x.json"}`) }, "bad_schema", "/tools/0/parameters", "cannot be checked"},
		{"user after user", func(s *Sample) { s.Messages = slices.Insert(s.Messages, 1, s.Messages[1]) }, "turn_order", "/messages/2", "trainers drop such rows"},
		{"starts with assistant", func(s *Sample) {
			s.Messages = slices.Insert(s.Messages, 0, Message{Role: RoleAssistant, Content: "Hello."})
		}, "turn_order", "/messages/0", "turns alternate"},
		{"ends with user", func(s *Sample) {
			s.Messages = append(s.Messages, Message{Role: RoleUser, Content: "Thank you very much."})
		}, "turn_order", "/messages/5", "turns alternate"},
		{"assistant twice", func(s *Sample) { s.Messages = append(s.Messages, s.Messages[4]) }, "turn_order", "/messages/5", "turns alternate"},
		{"role", func(s *Sample) { s.Messages[0].Role = "observation" }, "turn_order", "/messages/0", "no such role"},
		{"none", func(s *Sample) { s.Messages = nil }, "turn_order", "/messages", "turns alternate"},
		{"user calls", func(s *Sample) { s.Messages[1].Calls = s.Messages[2].Calls[:0:0]; s.Messages[1].Calls = []Call{{}} }, "turn_order", "/messages/1/calls", "turns alternate"},
		{"empty turn", func(s *Sample) { s.Messages[4].Content = "" }, "empty_turn", "/messages/4", "nothing to learn"},
		{"unknown tool", func(s *Sample) {
			s.Messages[2].Calls[0].Name, s.Messages[3].Name = "get_report", "get_report"
		}, "unknown_tool", "/messages/2/calls/0/name", "cannot be called"},
		{"list as arguments", func(s *Sample) { s.Messages[2].Calls[0].Arguments = []byte(`["Zürich"]`) }, "bad_arguments", args, "arguments are an object"},
		{"no JSON", func(s *Sample) { s.Messages[2].Calls[0].Arguments = []byte(`{'city': 'Zürich'}`) }, "bad_arguments", args, "the repr of Python is no JSON"},
		{"missing required", func(s *Sample) { arguments(s, func(a map[string]any) { delete(a, "city") }) }, "missing_required", args + "/city", "required"},
		{"extra", func(s *Sample) { arguments(s, func(a map[string]any) { a["alert"] = true }) }, "unexpected_argument", args + "/alert", "no such property"},
		{"wrong type", func(s *Sample) { arguments(s, func(a map[string]any) { a["days"] = "3" }) }, "schema", args + "/days", "breaks the schema"},
		{"out of bounds", func(s *Sample) {
			s.Tools[0].Parameters = []byte(strings.Replace(string(s.Tools[0].Parameters), `"maximum":16`, `"maximum":2`, 1))
		}, "schema", args + "/days", "breaks the schema"},
		{"nested type", func(s *Sample) { arguments(s, func(a map[string]any) { a["tags"] = []any{"ski-trip", true} }) }, "schema", args + "/tags/1", "the place inside a list"},
		{"no result", func(s *Sample) {
			s.Messages[2].Calls = append(s.Messages[2].Calls, s.Messages[2].Calls[0])
			s.Messages[2].Calls[1].ID = "call_0002"
		},
			"response", "/messages/2", "one result per call"},
		{"result of another call", func(s *Sample) { s.Messages[3].CallID = "call_0007" }, "response", "/messages/3/call_id", "answers no call rightly"},
		{"result of another tool", func(s *Sample) { s.Messages[3].Name = "send_mail" }, "response", "/messages/3/name", "answers no call rightly"},
		{"result schema", func(s *Sample) { s.Messages[3].Content = `{"temp": "7.5"}` }, "response", "/messages/3/content/temp", "answers no call rightly"},
		{"changed result", func(s *Sample) {
			again := []Message{s.Messages[2], s.Messages[3]}
			again[1].Content = `{"temp": 8.5}`
			s.Messages = slices.Insert(s.Messages, 4, again...)
		}, "response", "/messages/5/content", "equal calls, equal results"},
		{"dots", func(s *Sample) { s.Tools[0].Returns = nil; s.Messages[3].Content = "7.5 degrees and..." }, "truncated", "/messages/3/content", "a result was cut"},
		{"cut JSON", func(s *Sample) { s.Tools[0].Returns = nil; s.Messages[3].Content = `{"temp": 7.5` }, "truncated", "/messages/3/content", "a result was cut"},
		{"hallucinated", func(s *Sample) { arguments(s, func(a map[string]any) { a["city"] = "Bern" }) }, "ungrounded", args + "/city", "stands nowhere"},
		{"other number", func(s *Sample) { arguments(s, func(a map[string]any) { a["days"] = 7 }) }, "ungrounded", args + "/days", "stands nowhere"},
		{"other date", func(s *Sample) { arguments(s, func(a map[string]any) { a["from"] = "2027-03-04" }) }, "ungrounded", args + "/from", "stands nowhere"},
		{"one of a list", func(s *Sample) { arguments(s, func(a map[string]any) { a["tags"] = []any{"ski-trip", "family"} }) }, "ungrounded", args + "/tags/1", "stands nowhere"},
		{"tool name", func(s *Sample) { s.Messages[1].Content += " Use getForecast for that." }, "leak", "/messages/1/content", "gives away or is no sentence"},
		{"other tool's name", func(s *Sample) { s.Messages[1].Content += " Then send mail to me." }, "leak", "/messages/1/content", "gives away or is no sentence"},
		{"original name", func(s *Sample) { s.Tools[1].Original = "post.letter"; s.Messages[1].Content += " And post letter." }, "leak", "/messages/1/content", "gives away or is no sentence"},
		{"group name", func(s *Sample) { s.Messages[1].Content += " Ask the weather service." }, "leak", "/messages/1/content", "gives away or is no sentence"},
		{"slot", func(s *Sample) { s.Messages[1].Content += " In {city}." }, "leak", "/messages/1/content", "gives away or is no sentence"},
		{"no end", func(s *Sample) { s.Messages[1].Content += " please" }, "leak", "/messages/1/content", "gives away or is no sentence"},
		{"too long", func(s *Sample) { s.Messages[1].Content += strings.Repeat(" very", 400) + "." }, "leak", "/messages/1/content", "gives away or is no sentence"},
		{"id used twice", func(s *Sample) {
			s.Messages = slices.Insert(s.Messages, 4, s.Messages[2], s.Messages[3])
		}, "response", "/messages/4/calls/0/id", "evidence names a call by its id"},
		{"result schema text", func(s *Sample) { s.Tools[0].Returns = []byte(`{`) }, "bad_schema", "/tools/0/returns", "cannot be checked"},
		{"offered by the user", func(s *Sample) { s.Messages[1].Offers = lateTools(); s.Messages[1].Content = OfferText(lateTools()) }, "turn_order", "/messages/1/offers",
			"only system messages offer"},
		{"offer not shown", func(s *Sample) { s.Messages[0].Offers = lateTools() }, "unknown_tool", "/messages/0/content", "the model does not see it"},
		{"offered again", func(s *Sample) {
			s.Messages[0] = Message{Role: RoleSystem, Content: OfferText(s.Tools[:1]), Offers: s.Tools[:1]}
		}, "name", "/messages/0/offers/0/name", "names are one-to-one over all that is offered"},
		{"offered name", func(s *Sample) {
			late := lateTools()
			late[0].Name = "a b"
			s.Messages[0] = Message{Role: RoleSystem, Content: OfferText(late), Offers: late}
		}, "name", "/messages/0/offers/0/name", "as for tools offered from the start"},
		{"called too early", func(s *Sample) {
			late := s.Tools[:1]
			s.Tools = s.Tools[1:]
			s.Messages = append(s.Messages, Message{Role: RoleSystem, Content: OfferText(late), Offers: late}, Message{Role: RoleUser, Content: "Thank you very much."}, s.Messages[4])
		}, "unknown_tool", "/messages/2/calls/0/name", "offered later"},
		{"untrained user", func(s *Sample) { s.Messages[1].Untrained = true }, "turn_order", "/messages/1/untrained", "only the assistant is trained"},
		{"mistake without an error", func(s *Sample) { s.Messages[2].Untrained = true }, "response", "/messages/3/content", "what is shown as a mistake must fail"},
		{"nothing trained", func(s *Sample) {
			s.Messages[2].Untrained, s.Messages[4].Untrained = true, true
			s.Messages[3].Content = `{"error":"x"}`
		}, "untrained", "/messages",
			"the loss would be 0"},
		{"fewer calls than planned", func(s *Sample) { s.Plan = &Plan{Calls: slices.Repeat(s.Messages[2].Calls, 2)} }, "contradiction", "/plan/calls", "four requests, three calls"},
		{"unplanned call", func(s *Sample) { s.Plan = &Plan{} }, "contradiction", "/plan/calls", "more than planned"},
		{"other arguments", func(s *Sample) {
			s.Plan = &Plan{Calls: []Call{{ID: "call_0001", Name: "get_forecast", Arguments: []byte(`{"city":"Bern"}`)}}}
		}, "contradiction", args, "not those of the plan"},
		{"other tool", func(s *Sample) {
			s.Plan = &Plan{Calls: []Call{{ID: "call_0001", Name: "send_mail", Arguments: s.Messages[2].Calls[0].Arguments}}}
		}, "contradiction", "/messages/2/calls/0/name", "not that of the plan"},
		{"other id", func(s *Sample) {
			s.Plan = &Plan{Calls: []Call{{ID: "call_0002", Name: "get_forecast", Arguments: s.Messages[2].Calls[0].Arguments}}}
		}, "contradiction", "/messages/2/calls/0/id", "not that of the plan"},
		{"family", func(s *Sample) { s.Family = "double" }, "proof", "/family", "not one of the constants"},
		{"blank", func(s *Sample) {
			s.Tools[0].Parameters = []byte(strings.Replace(string(s.Tools[0].Parameters), `"city":{`, `"city":{"default":" ",`, 1))
			arguments(s, func(a map[string]any) { a["city"] = " " })
		}, "blank_call", args + "/city", "neither a call nor a question"},
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

// An argument that is no property is reported once.
func TestValidateUnexpectedOnce(t *testing.T) {
	s := clean()
	s.Tools[0].Parameters = []byte(strings.Replace(string(s.Tools[0].Parameters), `"type":"object",`, `"type":"object","additionalProperties":false,`, 1))
	arguments(&s, func(a map[string]any) { a["alert"] = true })
	want := []Violation{{"unexpected_argument", "/messages/2/calls/0/arguments/alert", "not a property"}}
	if diff := cmp.Diff(want, Validate(s)); diff != "" {
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
		{"null error", func(s *Sample) { s.Messages[3].Content = `{"error": null, "temp": 7}` }, "an empty error is none"},
		{"0 errors", func(s *Sample) { s.Messages[3].Content = `{"temp": 7, "note": "0 errors"}` }, "failure is told by structure"},
		{"error", func(s *Sample) { s.Messages[3].Content = `{"error": "no such city"}` }, "an error need not follow the result schema"},
		{"status 404", func(s *Sample) { s.Messages[3].Content = `{"status": 404}` }, "an error need not follow the result schema"},
		{"same tool twice", func(s *Sample) {
			c := s.Messages[2].Calls[0]
			c.ID = "call_0002"
			s.Messages[2].Calls = append(s.Messages[2].Calls, c)
			r := s.Messages[3]
			r.CallID = "call_0002"
			s.Messages = slices.Insert(s.Messages, 4, r)
		}, "calls are a list"},
		{"from a result", func(s *Sample) {
			s.Messages = slices.Insert(s.Messages, 4, Message{Role: RoleAssistant, Calls: []Call{{ID: "call_0002", Name: "send_mail", Arguments: []byte(`{"to":"7.5"}`)}}},
				Message{Role: RoleTool, Content: "sent", CallID: "call_0002", Name: "send_mail"})
		}, "evidence class tool_result"},
		{"system between turns", func(s *Sample) {
			s.Messages = append(s.Messages, Message{Role: RoleSystem, Content: "New tools."}, Message{Role: RoleUser, Content: "Thank you very much."}, s.Messages[4])
		}, "missing_function releases a tool that way"},
		{"as planned", func(s *Sample) {
			s.Plan = &Plan{Calls: []Call{{ID: "call_0001", Name: "get_forecast",
				Arguments: []byte(`{"days":3, "city":"Z\u00fcrich", "units":"metric","alerts":true,"from":"2027-03-03","tags":["ski-trip"]}`)}}}
		}, "JSON is compared, not its text"},
		{"another result after an error", func(s *Sample) {
			again := slices.Clone(s.Messages[2:4])
			again[0].Calls = []Call{{ID: "call_0002", Name: "get_forecast", Arguments: s.Messages[2].Calls[0].Arguments}}
			again[1].Content, again[1].CallID = s.Messages[3].Content, "call_0002"
			s.Messages[3].Content = `{"error": "timeout"}`
			s.Messages = slices.Insert(s.Messages, 4, again...)
		}, "an error may pass"},
		{"same result, other spacing", func(s *Sample) {
			again := slices.Clone(s.Messages[2:4])
			again[0].Calls = []Call{{ID: "call_0002", Name: "get_forecast", Arguments: s.Messages[2].Calls[0].Arguments}}
			again[1].Content, again[1].CallID = `{"temp":7.50}`, "call_0002"
			s.Messages = slices.Insert(s.Messages, 4, again...)
		}, "results are compared as JSON"},
		{"changed in between", func(s *Sample) {
			again := slices.Clone(s.Messages[2:4])
			again[0].Calls = []Call{{ID: "call_0003", Name: "get_forecast", Arguments: s.Messages[2].Calls[0].Arguments}}
			again[1].Content, again[1].CallID = `{"temp": 8}`, "call_0003"
			s.Messages = slices.Insert(s.Messages, 4, append([]Message{
				{Role: RoleAssistant, Calls: []Call{{ID: "call_0002", Name: "send_mail", Arguments: []byte(`{"to":"Zürich"}`)}}},
				{Role: RoleTool, CallID: "call_0002", Content: "sent"}}, again...)...)
		}, "a call that may change something stands between"},
		{"mistake shown", func(s *Sample) {
			bad := []Message{{Role: RoleAssistant, Untrained: true, Calls: []Call{{ID: "call_0000", Name: "get_forecast", Arguments: []byte(`{"days":"99","x":"Bern","units":"kelvin"}`)}}},
				{Role: RoleTool, CallID: "call_0000", Content: `{"error": {"type": "bad_argument", "message": "days: want an integer"}}`}}
			s.Messages = slices.Insert(s.Messages, 2, bad...)
		}, "a mistake may be one in every way that the tool answers"},
		{"offered in the middle", func(s *Sample) {
			s.Messages = append(s.Messages, Message{Role: RoleUser, Content: "Now book the Monte Rosa hut."}, Message{Role: RoleAssistant, Content: "I cannot book."},
				Message{Role: RoleSystem, Content: OfferText(lateTools()), Offers: lateTools()}, Message{Role: RoleUser, Content: "Now you can do it."},
				Message{Role: RoleAssistant, Calls: []Call{{ID: "call_0002", Name: "book_hut", Arguments: []byte(`{"hut":"Monte Rosa"}`)}}},
				Message{Role: RoleTool, CallID: "call_0002", Content: "done"}, Message{Role: RoleAssistant, Content: "The hut is booked."})
		}, "a tool can be released"},
		{"no evidence recorded", func(s *Sample) { s.Evidence = nil }, "evidence is found again"},
		{"open schema", func(s *Sample) {
			s.Tools[0].Parameters = []byte(`{"type":"object","additionalProperties":true}`)
			arguments(s, func(a map[string]any) { delete(a, "units") }) // no enum supports it any more
		}, "additionalProperties is true"},
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
		{"Go to Oslo.", `{}`, `"Oslo"`, EvidenceLiteral, "as it stands"},
		{"Go to Oslofjord.", `{}`, `"Oslo"`, EvidenceUngrounded, "not at a word boundary"},
		{"go to new york ny now", `{}`, `"New York, NY"`, EvidenceNormalized, "other form, punctuation and case"},
		{"the York of New England", `{}`, `"new-york"`, EvidenceNormalized, "other form, words in any order"},
		{"it's fine", `{}`, `"it\"s"`, EvidenceNormalized, "other form, quotes"},
		{"for example.com/a", `{}`, `"example.com"`, EvidenceLiteral, "punctuation is a boundary"},
		{"take 5.", `{}`, `5`, EvidenceLiteral, "a sentence may end after a number"},
		{"take 15 or 5.5", `{}`, `5`, EvidenceUngrounded, "part of longer numbers"},
		{"take -5", `{}`, `5`, EvidenceUngrounded, "another sign (ours)"},
		{"take -5", `{}`, `-5`, EvidenceLiteral, "as it stands"},
		{"range 1-5", `{}`, `5`, EvidenceLiteral, "a hyphen between words is no sign"},
		{"take five", `{}`, `5`, EvidenceNormalized, "number word"},
		{"take 5", `{}`, `5.0`, EvidenceNormalized, "equal number"},
		{"pay 1,200 now", `{}`, `1200`, EvidenceNormalized, "thousands separator"},
		{"take 9007199254740992", `{}`, `9007199254740993`, EvidenceUngrounded, "equal as floats alone"},
		{"take 9,007,199,254,740,993", `{}`, `9007199254740993`, EvidenceNormalized, "all digits"},
		{"take 0100 and -0.0", `{}`, `100`, EvidenceNormalized, "leading zeros"}, {"take 100.50", `{}`, `100.5`, EvidenceNormalized, "closing zeros"},
		{"take 0", `{}`, `-0.0`, EvidenceNormalized, "one zero"}, {"take 500 %", `{}`, `5`, EvidenceNormalized, "percent"}, {"take -1,200", `{}`, `-1200.0`, EvidenceNormalized, "sign"},
		{"a share of 5 %", `{}`, `0.05`, EvidenceNormalized, "percent"},
		{"on 3 March 2027", `{}`, `"2027-03-03"`, EvidenceDerived, "a date"},
		{"on 3 March 2027", `{}`, `"2027-03-30"`, EvidenceUngrounded, "another day"},
		{"anything", `{"enum":["a"]}`, `"a"`, EvidenceEnumDefault, "named by the schema"},
		{"nothing", `{"anyOf":[{"type":"null"},{"const":7}]}`, `7`, EvidenceEnumDefault, "named by the schema, inside a branch"},
		{"nothing", `{"default":"x"}`, `"x"`, EvidenceEnumDefault, "named by the schema"}, {"nothing", `{"examples":["x"]}`, `"x"`, EvidenceEnumDefault, "named by the schema"},
		{"nothing", `{"type":"boolean"}`, `true`, EvidenceEnumDefault, "named by the schema"},
		{"nothing", `{"type":"array","items":{}}`, `[]`, EvidenceEnumDefault, "empty and allowed"},
		{"nothing", `{"type":"array","minItems":1}`, `[]`, EvidenceUngrounded, "empty and not allowed"},
		{"nothing", `{"type":["string","null"]}`, `null`, EvidenceEnumDefault, "ours: null carries no words"},
		{"on 2026-02-01", `{}`, `"2026-01-02"`, EvidenceUngrounded, "digits in another order"},
		{"at 30:10", `{}`, `"10:30"`, EvidenceUngrounded, "digits in another order"},
		{"from 7-3", `{}`, `"3-7"`, EvidenceUngrounded, "digits in another order"},
		{"the new York", `{}`, `"New New York"`, EvidenceUngrounded, "a word more often than it is said"},
		{"New York is new", `{}`, `"new, new york"`, EvidenceNormalized, "as often as it is said"},
		{"take 5", `{}`, `"-5"`, EvidenceUngrounded, "the sign of a numeral"},
		{"take -5", `{}`, `"5"`, EvidenceUngrounded, "the sign of a numeral"},
		{"pay 1250", `{}`, `"12.50"`, EvidenceUngrounded, "the point of a numeral"},
		{"pay 12.50", `{}`, `"1250"`, EvidenceUngrounded, "the point of a numeral"},
		{"pay 12.5", `{}`, `"12.50"`, EvidenceNormalized, "an equal numeral"},
		{"version 1.2.3 here", `{}`, `"1.2.3"`, EvidenceLiteral, "two points are no number"},
		{"take \u22125", `{}`, `-5`, EvidenceNormalized, "the minus of printed texts"},
		{"take \u22125", `{}`, `5`, EvidenceUngrounded, "the minus of printed texts"},
		{"take -5", `{}`, `"\u22125"`, EvidenceNormalized, "the minus of printed texts"},
		{"气温\u22125", `{}`, `5`, EvidenceUngrounded, "a minus after a letter of Han"},
		{"take 1,2 of them", `{}`, `12`, EvidenceUngrounded, "a list, no separator"},
		{"take 3,7.50", `{}`, `7.5`, EvidenceNormalized, "a list, no separator"},
		{"take 1,200,30", `{}`, `120030`, EvidenceUngrounded, "a list, no separator"},
		{"take 0,200", `{}`, `0.0`, EvidenceNormalized, "a list, no separator"},
		{"take 1,200.5,3", `{}`, `1200.53`, EvidenceUngrounded, "a list, no separator"},
		{"タワーAへ", `{}`, `"タワー"`, EvidenceLiteral, "the mark of a long vowel"},
		{"take 1234,567", `{}`, `1234567`, EvidenceUngrounded, "a list, no separator"},
		{"take -1,2 %", `{}`, `0.02`, EvidenceNormalized, "the unit of the last"},
		{"take -1,2 %", `{}`, `-1.0`, EvidenceNormalized, "the sign of the first"},
		{"请告诉我北京的天气。", `{}`, `"北京"`, EvidenceLiteral, "no spaces between words"},
		{"東京タワーへ", `{}`, `"タワー"`, EvidenceLiteral, "no spaces between words"},
		{"ไปกรุงเทพพรุ่งนี้", `{}`, `"กรุงเทพ"`, EvidenceLiteral, "no spaces between words"},
		{"请到New York去", `{}`, `"new-york"`, EvidenceNormalized, "beside another script"},
		{"Москваград", `{}`, `"Москва"`, EvidenceUngrounded, "spaces between words"},
		{"서울에서", `{}`, `"서울"`, EvidenceUngrounded, "spaces between words"},
		{"result 42 came", `{}`, `""`, EvidenceUngrounded, "a blank is supported by nothing"},
	} {
		s, err := schema.CompileRaw([]byte(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		v, _ := jsonval.Parse([]byte(tt.value))
		var c scene
		c.say(tt.text)
		if got, _ := c.find(&schema.Leaf{Value: &v, Schema: s}); got != tt.want || tt.reason == "" {
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
		if got, _ := c.find(&schema.Leaf{Value: &v}); got != EvidenceLiteral {
			t.Fatalf("%q: %s", value, got)
		}
	})
}

// The words recorded as evidence stand in the text, and carry the value.
func TestEvidenceText(t *testing.T) {
	for _, tt := range []struct{ text, value, want, reason string }{
		{"Go to Oslo.", `"Oslo"`, "Oslo", "as it stands"},
		{"Take -5 or so.", `-5`, "-5", "as it stands"},
		{"Go to NEW york, n.y. now", `"New York, NY"`, "NEW york, n.y", "folded, in the spelling of the text"},
		{"Is Ça-va İstanbul ok", `"ça va"`, "Ça-va", "characters change their length"},
		{"the York of New England", `"new-york"`, "New York", "the words of the text in the order of the value"},
		{"book a sunnyDay now", `"Day sunny"`, "sunnyDay sunnyDay", "a word inside another"},
		{"Take Five.", `5`, "Five", "number word"},
		{"Take five.", `"5"`, "five", "a numeral in a string"},
		{"Agent 7 is there.", `"007"`, "", "a code is no number"},
		{"pay 1,200.50 now", `1200.5`, "1,200.50", "separators"},
		{"about -5 % less", `-0.05`, "-5 %", "percent"},
		{"about 5% and 5 percent less", `0.05`, "5%", "percent without a space"},
		{"about 5 percent less", `0.05`, "5 percent", "percent in letters"},
		{"on 3 March 2027", `"2027-03-03"`, "3 March 2027", "long date"},
		{"on March 3, 2027", `"2027-03-03"`, "March 3, 2027", "long date of other order"},
		{"on Mar 3, 2027", `"2027-03-03"`, "Mar 3, 2027", "short month"},
		{"on 13 March 2027", `"2027-03-03"`, "", "another day"},
		{"nothing", `true`, "", "not said"},
	} {
		v, _ := jsonval.Parse([]byte(tt.value))
		var c scene
		c.say(tt.text)
		if class, got := c.find(&schema.Leaf{Value: &v}); got != tt.want || tt.reason == "" {
			t.Errorf("%s in %q: %s %q, want %q (%s)", tt.value, tt.text, class, got, tt.want, tt.reason)
		}
	}
}

// What was said in pieces gives what a fresh scene with the whole text gives; the text found folds to the value.
func TestSceneGrows(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("abA1 ,.-'ıİß日é%")))
	rapid.Check(t, func(t *rapid.T) {
		var grown scene
		whole := ""
		for i := range rapid.IntRange(1, 4).Draw(t, "pieces") {
			piece := text.Draw(t, "text")
			if i > 0 && whole != "" {
				whole += "\n"
			}
			whole += piece
			grown.say(piece)
			v := jsonval.NewString(text.Draw(t, "value"))
			if len(whole) > 2 && rapid.Bool().Draw(t, "from the text") {
				runes := []rune(whole)
				v.Text = string(runes[rapid.IntRange(0, len(runes)/2).Draw(t, "from"):])
			}
			var fresh scene
			fresh.say(whole)
			class, found := grown.find(&schema.Leaf{Value: &v})
			if c, f := fresh.find(&schema.Leaf{Value: &v}); c != class || f != found {
				t.Fatalf("%q in %q: grown %s %q, fresh %s %q", v.Text, whole, class, found, c, f)
			}
			if class == EvidenceLiteral && found != v.Text {
				t.Fatalf("literal %q for %q", found, v.Text)
			}
			if class != EvidenceNormalized || fold(found) == fold(v.Text) || isNumeral(v.Text) {
				continue
			}
			said := names.Words(found)
			if slices.ContainsFunc(names.Words(v.Text), func(w string) bool { return !slices.Contains(said, w) }) {
				t.Fatalf("%q for %q", found, v.Text)
			}
		}
	})
}

// The place of a folded match is found by walking from a known one: it is that which a walk from the start finds.
func TestFoldedSource(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab ,.-İß日é😀")), 60, 300, -1)
	rapid.Check(t, func(t *rapid.T) {
		source := text.Draw(t, "source")
		var f folded
		cut := rapid.IntRange(0, len(source)).Draw(t, "cut")
		for cut > 0 && cut < len(source) && source[cut]&0xc0 == 0x80 {
			cut--
		}
		f.grow(source[:cut])
		f.grow(source)
		if f.text.String() != fold(source) {
			t.Fatalf("%q, want %q", f.text.String(), fold(source))
		}
		at := 0
		for i, r := range source {
			if x := foldRune(r); x >= 0 {
				if got := f.source(source, at); got != i {
					t.Fatalf("byte %d of the folded text is at %d, want %d", at, got, i)
				}
				at += len(string(x))
			}
		}
	})
}

// A result supports scalars that are equal, in the same sense as a text does, and no others.
func TestEvidenceInResults(t *testing.T) {
	for _, tt := range []struct {
		result, value string
		want          EvidenceClass
		reason        string
	}{
		{`{"a":[{"id":"u-17"}]}`, `"u-17"`, EvidenceToolResult, "inside"},
		{`{"id":"U_17"}`, `"u-17"`, EvidenceToolResult, "other spelling"},
		{`{"id":17}`, `"17"`, EvidenceToolResult, "as a string"},
		{`{"id":"17"}`, `17`, EvidenceToolResult, "as a number"},
		{`{"id":17.0}`, `17`, EvidenceToolResult, "equal numbers"}, {`{"id":17.0}`, `"17"`, EvidenceToolResult, "an equal number"},
		{`{"id":"12.50"}`, `"12.5"`, EvidenceToolResult, "an equal number"}, {`{"id":"12.50"}`, `"1250"`, EvidenceUngrounded, "the point"},
		{`{"id":"5"}`, `"-5"`, EvidenceUngrounded, "the sign"}, {`{"id":"\u22125"}`, `-5`, EvidenceToolResult, "the minus of printed texts"},
		{`{"id":"1.2"}`, `"1.2.0"`, EvidenceUngrounded, "no number"}, {`{"id":"1-2-0"}`, `"1.2.0"`, EvidenceToolResult, "other spelling"},
		{`{"temp":7.5}`, `75`, EvidenceUngrounded, "another number"},
		{`{"temp":-7}`, `7`, EvidenceUngrounded, "another number"},
		{`"order 17 is made"`, `17`, EvidenceUngrounded, "not the scalar itself"},
		{`{"u-17":1}`, `"u-17"`, EvidenceUngrounded, "a key is no scalar"},
		{`{"ok":true}`, `true`, EvidenceEnumDefault, "a boolean carries nothing"},
		{`{"a":""}`, `"-"`, EvidenceUngrounded, "nothing is left of it"},
	} {
		r, _ := jsonval.Parse([]byte(tt.result))
		v, _ := jsonval.Parse([]byte(tt.value))
		var c scene
		c.answer(r)
		if got, text := c.find(&schema.Leaf{Value: &v}); got != tt.want || text != "" || tt.reason == "" {
			t.Errorf("%s from %s: %s %q, want %s (%s)", tt.value, tt.result, got, text, tt.want, tt.reason)
		}
	}
}

// What is left over of a template is told from what people write.
func TestTemplateSlot(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"Go to {city}.", "{city}"}, {"Go to {city_2}.", "{city_2}"}, {"Go to {0} now.", "{0}"}, {"{1}.", "{1}"}, {"Say \"{0}\".", "{0}"},
		{"Go to {{x}}.", "{{"},
		{"Go to %s.", "%s"}, {"Take %d of them.", "%d"}, {"Take %d", "%d"}, {"%s", "%s"},
		{"Match \\d{3} and x^{2}.", ""}, {"The set {a, b} and {}.", ""}, {"Set {\"a\": 1}.", ""}, {"Use <city> here.", ""},
		{"5%d or 100 % sure.", ""}, {"See a%d0%b0%sale.", ""}, {"See %de.", ""},
		{"{city", ""}, {"%", ""}, {"It is 5 %.", ""},
	} {
		if got := templateSlot(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// A request may be in any script.
func TestLintScripts(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"请告诉我北京的天气。", true}, {"北京！", false}, {"明日の天気は？", true}, {"请告诉我北京的天气", false}, {"ما هو الطقس اليوم؟", true}, {"आज मौसम कैसा है।", true},
		{"आज मौसम कैसा है॥", true},
		{"오늘 날씨가 어때요?", true}, {"오늘 날씨?", false},
	} {
		s := clean()
		s.Messages = []Message{{Role: RoleUser, Content: tt.text}, s.Messages[4]}
		if got := Validate(s); (got == nil) != tt.want || got != nil && got[0].Rule != "leak" {
			t.Errorf("%s: %v", tt.text, got)
		}
	}
}

func TestViolationString(t *testing.T) {
	for _, tt := range []struct {
		v    Violation
		want string
	}{
		{Violation{"window", "", "9 tokens"}, "window: 9 tokens"},
		{Violation{"name", "/tools/0/name", "no"}, "name at /tools/0/name: no"},
	} {
		if got := tt.v.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// FuzzValidate: no sample, however broken, makes Validate panic.
func FuzzValidate(f *testing.F) {
	f.Add("Go to {city}.", `{"city":"Oslo"}`, `{"type":"object","properties":{"city":{"$ref":"#"}}}`, `{"error":null`, "single", "/city", byte(0))
	f.Add("\xff", `[`, ``, "…", "missing_info", "/", byte(1))
	f.Add("It is Oslo.", `{"city":"Oslo"}`, `{"properties":{"city":{"$ref":"#/properties/city"}},"required":["city"]}`, `{"error":{"message":"no"}}`, "missing_info", "/city/0", byte(2))
	f.Add("Go.", `{"city":["Oslo"]}`, `{"properties":{"city":{"items":{"enum":[1]}}},"required":["city"]}`, `{"id":1}`, "recovery", "/city/0", byte(7))
	var used Checker
	f.Fuzz(func(t *testing.T, user, args, schema, result, family, pointer string, kind byte) {
		s := clean()
		s.Messages[1].Content, s.Messages[3].Content = user, result
		s.Messages[2].Calls[0].Arguments = []byte(args)
		s.Tools[0].Parameters, s.Tools[0].Returns = []byte(schema), []byte(schema)
		s.Family = Family(family)
		s.Plan = &Plan{Calls: []Call{{Name: "get_forecast", Arguments: []byte(args)}}, Withheld: []string{pointer}, Absent: &s.Tools[1], Fault: pointer}
		s.Messages[2].Untrained = kind&1 > 0
		if kind&2 > 0 {
			s.Messages = slices.Insert(s.Messages, 1, Message{Role: RoleUser, Content: result}, Message{Role: RoleAssistant, Content: pointer})
		}
		if kind&4 > 0 {
			s.Messages[0].Offers = s.Tools[:1]
			s.Tools = s.Tools[1:]
			s.Messages[0].Content = user
		}
		f, err := used.Check(context.Background(), &s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(f.Violations, Validate(s)); diff != "" {
			t.Fatalf("(-used +new):\n%s", diff)
		}
		for _, v := range f.Violations {
			if !slices.Contains(rules, v.Rule) || len(v.Detail) > 300 || !utf8.ValidString(v.Detail) && utf8.ValidString(user+args+schema+result+family+pointer) {
				t.Fatal(v)
			}
		}
	})
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
