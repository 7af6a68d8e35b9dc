package midtool

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A talk builds a sample of a family by hand, with the tools of a shop.
type talk struct{ Sample }

func shop(f Family) *talk {
	text := func(name string, required bool) string {
		s := `{"type":"object","properties":{"` + name + `":{"type":"string"},"note":{"type":"string"},"color":{"enum":["red"]}}`
		if required {
			s += `,"required":["` + name + `"]`
		}
		return s + `}`
	}
	t := &talk{Sample{Family: f}}
	for _, tool := range []struct{ name, description, params string }{
		{"get_price", "Returns the price of an article in the shop.", text("article", true)},
		{"find_shelf", "Finds the shelf where goods stand.", text("goods", true)},
		{"reserve", "Keeps an item for a customer until the evening.", text("item_code", true)},
	} {
		t.Tools = append(t.Tools, Tool{Name: tool.name, Description: tool.description, Parameters: []byte(tool.params), Group: "shop"})
	}
	return t
}

func (t *talk) user(text string) *talk {
	t.Messages = append(t.Messages, Message{Role: RoleUser, Content: text})
	return t
}

func (t *talk) says(text string) *talk {
	t.Messages = append(t.Messages, Message{Role: RoleAssistant, Content: text})
	return t
}

// calls adds calls in one message and their results: name, arguments, result, ...
func (t *talk) calls(parts ...string) *talk {
	m := Message{Role: RoleAssistant}
	var results []Message
	for p := range slices.Chunk(parts, 3) {
		id := fmt.Sprintf("call_%d_%d", len(t.Messages), len(m.Calls))
		m.Calls = append(m.Calls, Call{ID: id, Name: p[0], Arguments: []byte(p[1])})
		results = append(results, Message{Role: RoleTool, CallID: id, Name: p[0], Content: p[2]})
	}
	t.Messages = append(append(t.Messages, m), results...)
	return t
}

// mistaken says that the calls added last are shown and not learned.
func (t *talk) mistaken() *talk {
	for i := len(t.Messages) - 1; i >= 0; i-- {
		if len(t.Messages[i].Calls) > 0 {
			t.Messages[i].Untrained = true
			break
		}
	}
	return t
}

func (t *talk) offer(tools ...Tool) *talk {
	t.Messages = append(t.Messages, Message{Role: RoleSystem, Content: OfferText(tools), Offers: tools})
	return t
}

func (t *talk) plan(p Plan) *talk {
	for _, m := range t.Messages {
		p.Calls = append(p.Calls, m.Calls...)
	}
	t.Plan = &p
	return t
}

func (t *talk) tool(name string, change func(*Tool)) *talk {
	change(&t.Tools[slices.IndexFunc(t.Tools, func(o Tool) bool { return o.Name == name })])
	return t
}

func params(s string) func(*Tool) { return func(t *Tool) { t.Parameters = []byte(s) } }

// Every family is proven by a sample that shows it, and by none that only says so.
func TestProof(t *testing.T) {
	const ask, shelf = "What does the blue lamp cost?", "Where do the candles stand?"
	price := []string{"get_price", `{"article":"blue lamp"}`, `{"price": 20, "code": "L-88"}`}
	where := []string{"find_shelf", `{"goods":"candles"}`, `{"shelf": "B4"}`}
	keep := []string{"reserve", `{"item_code":"L-88"}`, `{"kept": true}`}
	failed := `{"error": {"type": "timeout", "message": "no answer in 5 seconds"}}`
	mail := Tool{Name: "send_mail", Description: "Sends a letter to an address.", Parameters: []byte(`{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}`)}
	late := func(f Family) *talk {
		return shop(f).user("Mail it to Ann Lee.").says("None of the tools does that.").offer(mail).user("Now there is one.").calls("send_mail", `{"to":"Ann Lee"}`, `{"sent": 1}`).says("Sent.")
	}
	for _, tt := range []struct {
		name, reason string
		talk         *talk
		want         string // part of the detail; empty for a proof
	}{
		{"untagged", "nothing is claimed", shop("").user(ask).calls(price...).calls(price...).says("It costs 20."), ""},
		{"single", "one call", shop(Single).user(ask).calls(price...).says("It costs 20."), ""},
		{"single, none", "no call", shop(Single).user(ask).says("No idea at all."), "0 calls, want 1"},
		{"single, two", "two calls", shop(Single).user(ask + " " + shelf).calls(append(price, where...)...).says("20."), "2 calls, want 1"},

		{"single, a mistake", "nothing is learned of the call", shop(Single).
			user(ask).calls("get_price", price[1], failed).mistaken().says("There was no answer in 5 seconds."), "not trained"},
		{"single, failed", "the failure is hidden", shop(Single).user(ask).calls("get_price", price[1], failed).says("It costs 20."), "it fails"},
		{"single, failed and reported", "the failure is reported", shop(Single).
			user(ask).calls("get_price", price[1], failed).says("There was no answer in 5 seconds."), ""},

		{"parallel", "two together", shop(Parallel).user(ask + " " + shelf).calls(append(slices.Clone(price), where...)...).says("20."), ""},
		{"parallel, one", "one call", shop(Parallel).user(ask).calls(price...).says("20."), "1 calls together"},
		{"parallel, equal", "the same twice, in other spacing", shop(Parallel).user(ask).calls(append(slices.Clone(price), "get_price", `{ "article":"blue lamp"}`, price[2])...).says("20."),
			"equal to an earlier"},
		{"parallel, in turn", "one after the other", shop(Parallel).user(ask + " " + shelf).calls(price...).calls(where...).says("20."), "outside the first"},
		{"parallel, late", "not in the first message", shop(Parallel).user("Hello to you.").says("Hello.").user(ask + " " + shelf).calls(append(slices.Clone(price), where...)...).says("20."), "outside the first"},

		{"parallel, mistakes", "nothing is learned of the calls", shop(Parallel).
			user(ask+" "+shelf).calls("get_price", price[1], failed, "find_shelf", where[1], failed).mistaken().says("No."), "not trained"},

		{"sequential", "fed", shop(Sequential).user(ask + " Reserve it.").calls(price...).calls(keep...).says("Done."), ""},
		{"sequential, unfed", "the second needs nothing of the first", shop(Sequential).user(ask + " " + shelf).calls(price...).calls(where...).says("B4."), "no argument comes"},
		{"sequential, said", "the user gives what a result has too", shop(Sequential).user(ask + " Reserve L-88 too.").calls(price...).calls(keep...).says("Done."), "no argument comes"},
		{"sequential, together", "in one message", shop(Sequential).user(ask + " Reserve L-88.").calls(append(slices.Clone(price), keep...)...).says("Done."), "calls in 1 messages"},
		{"sequential, asked twice", "two requests", shop(Sequential).user(ask).calls(price...).says("20.").user("Then reserve it.").calls(keep...).says("Done."), "2 requests"},

		{"sequential, by chance", "the schema names what the result has", shop(Sequential).
			user(ask+" Reserve L-88 too.").calls("get_price", price[1], `{"color": "red"}`).
			calls("reserve", `{"item_code":"L-88","color":"red"}`, `{"kept": true}`).says("Done."), "no argument comes"},
		{"sequential, repeated", "the third call is the second again", shop(Sequential).
			user(ask + " Reserve it.").calls(price...).calls(keep...).calls(keep...).says("Done."), "no argument comes"},

		{"multi-turn", "from a result", shop(MultiTurn).user(ask).calls(price...).says("20.").user("Then reserve it.").calls(keep...).says("Done."), ""},
		{"multi-turn, words", "from the first request", shop(MultiTurn).user(ask).calls(price...).says("20.").user("On which shelf is it?").
			calls("find_shelf", `{"goods":"blue lamp"}`, `{"shelf": "A1"}`).says("A1."), ""},
		{"multi-turn, fresh", "nothing from before", shop(MultiTurn).user(ask).calls(price...).says("20.").user(shelf).calls(where...).says("B4."), "from an earlier one alone"},
		{"multi-turn, repeated", "said again", shop(MultiTurn).user(ask).calls(price...).says("20.").user("Then reserve L 88 for me.").calls(keep...).says("Done."), "from an earlier one alone"},
		{"multi-turn, same turn", "from a result of the same turn", shop(MultiTurn).user(shelf).calls(where...).says("B4.").user(ask + " Keep it.").calls(price...).calls(keep...).says("Done."),
			"from an earlier one alone"},
		{"multi-turn, one", "calls in one turn", shop(MultiTurn).user("Hello to you.").says("Hello.").user(ask + " Keep it.").calls(price...).calls(keep...).says("Done."), "calls in 1 turns"},

		{"multi-turn, by chance", "the schema names what was said before", shop(MultiTurn).
			user("What does the red blue lamp cost?").calls("get_price", `{"article":"blue lamp","color":"red"}`, price[2]).
			says("20.").user(shelf).calls("find_shelf", `{"goods":"candles","color":"red"}`, where[2]).says("B4."), "from an earlier one alone"},
		{"multi-turn, true", "a boolean carries nothing", shop(MultiTurn).
			tool("find_shelf", params(`{"type":"object","properties":{"goods":{"type":"string"},"all":{"type":"boolean"}}}`)).
			user("Is it true? "+ask).calls(price...).says("20.").user(shelf).calls("find_shelf", `{"goods":"candles","all":true}`, where[2]).says("B4."), "from an earlier one alone"},
		{"multi-turn, again", "the same call", shop(MultiTurn).
			user(ask).calls(price...).says("20.").user("And how much is it today?").calls(price...).says("20."), "from an earlier one alone"},

		{"missing info", "asked and given", shop(MissingInfo).user("What does it cost?").says("Which one?").user("The blue lamp, please.").calls(price...).says("20."), ""},
		{"missing info, planned", "asked and given", shop(MissingInfo).user("What does it cost?").says("Which one?").user("The blue lamp, please.").calls(price...).says("20.").
			plan(Plan{Withheld: []string{"/article"}}), ""},
		{"missing info, list", "each of a list", shop(MissingInfo).tool("get_price", params(`{"type":"object","properties":{"article":{"type":"array","items":{"type":"string"}}},"required":["article"]}`)).
			user("What do they cost?").says("Which ones?").user("The blue lamp and the bed, please.").calls("get_price", `{"article":["blue lamp","bed"]}`, `{"price": 30}`).says("30.").
			plan(Plan{Withheld: []string{"/article"}}), ""},
		{"missing info, no question", "called at once", shop(MissingInfo).user(ask).calls(price...).says("20."), "where the assistant should ask"},
		{"missing info, no answer", "never called", shop(MissingInfo).user("What does it cost?").says("Which one?"), "no question, answer and call"},
		{"missing info, said before", "in the first request, in other spelling", shop(MissingInfo).user("What does a Blue-Lamp cost?").says("Which one?").user("The blue lamp, please.").calls(price...).says("20.").
			plan(Plan{Withheld: []string{"/article"}}), "known before"},
		{"missing info, suggested", "in the question", shop(MissingInfo).user("What does it cost?").says("Is it the blue lamp?").user("The blue lamp, yes.").calls(price...).says("20."), "could be known"},
		{"missing info, a mistake", "the call after the answer is not learned", shop(MissingInfo).
			user("What does it cost?").says("Which one?").user("The blue lamp, please.").
			calls("get_price", price[1], failed).mistaken().says("It failed."), "no question, answer and call"},
		{"missing info, repaired", "the call after a mistake is learned", shop(MissingInfo).
			user("What does it cost?").says("Which one?").user("The blue lamp, please.").
			calls("get_price", `{"article":"lamp"}`, `{"error": {"message": "no lamp", "similar": ["blue lamp"]}}`).mistaken().calls(price...).says("20."), ""},
		{"missing info, elsewhere", "in an earlier turn of the system", func() *talk {
			s := shop(MissingInfo).user("What does it cost?").says("Which one?").user("The blue lamp, please.").calls(price...).says("20.").plan(Plan{Withheld: []string{"/article"}})
			s.Messages = slices.Insert(s.Messages, 0, Message{Role: RoleSystem, Content: "We sell a blue lamp."})
			return s
		}(), "known before"},
		{"missing info, not given", "the call takes it from the third request", shop(MissingInfo).user("What does it cost?").says("Which one?").user("I have to look it up.").says("Please do.").
			user("The blue lamp, please.").calls(price...).says("20.").plan(Plan{Withheld: []string{"/article"}}), "not in the second request"},
		{"missing info, default", "the schema has a default", shop(MissingInfo).tool("get_price", params(`{"type":"object","properties":{"article":{"type":"string","default":"bed"}},"required":["article"]}`)).
			user("What does it cost?").says("Which one?").user("The blue lamp, please.").calls(price...).says("20.").plan(Plan{Withheld: []string{"/article"}}), "settles it"},
		{"missing info, one choice", "through a reference", shop(MissingInfo).tool("get_price", params(`{"type":"object","properties":{"article":{"$ref":"#/$defs/a"}},"required":["article"],"$defs":{"a":{"enum":["blue lamp"]}}}`)).
			user("What does it cost?").says("Which one?").user("The blue lamp, please.").calls(price...).says("20."), "could be known"},
		{"missing info, optional", "need not be asked for", shop(MissingInfo).tool("get_price", params(`{"type":"object","properties":{"article":{"type":"string"}}}`)).
			user("What does it cost?").says("Which one?").user("The blue lamp, please.").calls(price...).says("20.").plan(Plan{Withheld: []string{"/article"}}), "not required"},
		{"missing info, no such", "the plan names none", shop(MissingInfo).user("What does it cost?").says("Which one?").user("The blue lamp, please.").calls(price...).says("20.").
			plan(Plan{Withheld: []string{"/article/name"}}), "no such argument"},
		{"missing info, fed", "another tool produces it", shop(MissingInfo).tool("find_shelf", func(t *Tool) {
			t.Returns = []byte(`{"type":"object","properties":{"article":{"type":"string"}}}`)
		}).user("What does it cost?").says("Which one?").user("The blue lamp, please.").calls(price...).says("20."), "could be known"},
		{"missing info, fed later", "the tool that could produce it is not offered yet", func() *talk {
			s := shop(MissingInfo).user("What does it cost?").says("Which one?").user("The blue lamp, please.").calls(price...).says("20.")
			return s.offer(Tool{Name: "pick", Group: "shop", Parameters: []byte(`{}`), Returns: []byte(`{"type":"object","properties":{"article":{"type":"string"}}}`)}).
				user("Thank you very much.").says("Come again.")
		}(), ""},

		{"missing function", "declined and released", late(MissingFunction), ""},
		{"missing function, planned", "the tool of the plan", late(MissingFunction).plan(Plan{Absent: &mail}), ""},
		{"missing function, other", "another than planned", late(MissingFunction).plan(Plan{Absent: &shop("").Tools[0]}), "the missing tool is"},
		{"missing function, released too early", "nothing was declined", shop(MissingFunction).offer(mail).user("Mail it to Ann Lee.").calls("send_mail", `{"to":"Ann Lee"}`, `{"sent": 1}`).says("Sent."),
			"does not decline"},
		{"missing function, never", "not released", shop(MissingFunction).user("Mail it to Ann Lee.").says("I cannot."), "does not decline"},
		{"missing function, unused", "released and not called", shop(MissingFunction).user("Mail it to Ann Lee.").says("I cannot.").offer(mail).user(ask).calls(price...).says("20."), "no call of a tool"},
		{"missing function, rival", "one offered before does the same", late(MissingFunction).tool("reserve", func(t *Tool) { t.Name = "sendMails" }), "does what"},

		{"irrelevance", "no call", shop(Irrelevance).user("Mail it to Ann Lee.").says("None of the tools does that."), ""},
		{"irrelevance, planned", "the needed tool is absent", shop(Irrelevance).user("Mail it to Ann Lee.").says("None of the tools does that.").plan(Plan{Absent: &mail}), ""},
		{"irrelevance, called", "a call", shop(Irrelevance).user(ask).calls(price...).says("20."), "a call, want none"},
		{"irrelevance, offered", "the tool is there", shop(Irrelevance).user(ask).says("I cannot.").plan(Plan{Absent: &shop("").Tools[0]}), "is offered"},
		{"irrelevance, rival", "another does the same", shop(Irrelevance).user(ask).says("I cannot.").plan(Plan{Absent: &Tool{Name: "fetch_prices", Parameters: []byte(`{}`)}}), "does what"},
		{"irrelevance, half alike", "4 of 8 words of the description", shop(Irrelevance).user(ask).says("I cannot.").
			plan(Plan{Absent: &Tool{Name: "hold", Description: "Keeps items: keeps an item for a customer until noon, tea, coffee.", Parameters: []byte(`{}`)}}), ""},
		{"irrelevance, alike", "4 of 5 words of the description", shop(Irrelevance).user(ask).says("I cannot.").
			plan(Plan{Absent: &Tool{Name: "hold", Description: "Keeps an item for a customer until noon.", Parameters: []byte(`{}`)}}), "that describe the absent tool"},

		{"recovery, repaired", "the same tool again", shop(Recovery).user(ask).calls("get_price", `{"article":"blue lamp"}`, failed).calls(price...).says("20."), ""},
		{"recovery, reported", "the message of the error", shop(Recovery).user(ask).calls("get_price", `{"article":"blue lamp"}`, failed).says("There was no answer in 5 seconds."), ""},
		{"recovery, none", "nothing failed", shop(Recovery).user(ask).calls(price...).says("20."), "no result reports an error"},
		{"recovery, hidden", "glossed over", shop(Recovery).user(ask).calls("get_price", `{"article":"blue lamp"}`, failed).says("It costs 20."), "neither repaired nor reported"},
		{"recovery, other tool", "another tool succeeds", shop(Recovery).user(ask+" "+shelf).calls("get_price", `{"article":"blue lamp"}`, failed).calls(where...).says("B4."), "neither repaired nor reported"},
		{"recovery, together", "it succeeds beside the failure", shop(Recovery).user(ask).calls("get_price", `{"article":"lamp"}`, failed, "get_price", price[1], price[2]).says("20."), "neither repaired nor reported"},
		{"recovery, before", "it had succeeded earlier", shop(Recovery).user(ask).calls(price...).calls("get_price", `{"article":"blue lamp"}`, failed).says("20."), "neither repaired nor reported"},

		{"recovery, inside a word", "part of a longer word", shop(Recovery).
			user(ask).calls("get_price", price[1], `{"error": "timeout"}`).says("There are three timeouts."), "neither repaired nor reported"},
		{"recovery, no words", "a message that every sentence has", shop(Recovery).
			user(ask).calls("get_price", price[1], `{"error": "no"}`).says("There is no lamp."), "neither repaired nor reported"},
		{"recovery, number", "three digits", shop(Recovery).
			user(ask).calls("get_price", price[1], `{"error": "503"}`).says("The shop answers 503."), ""},
		{"recovery, MCP", "the content of the result", shop(Recovery).
			user(ask).calls("get_price", price[1], `{"isError": true, "content": [{"type": "text", "text": "no such lamp"}]}`).
			says("There is no such lamp."), ""},

		{"no call", "no call", shop(NoCall).user("Hello to you.").says("Hello."), ""},
		{"no call, one", "a call", shop(NoCall).user(ask).calls(price...).says("20."), "a call, want none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []Violation
			for _, v := range Validate(tt.talk.Sample) {
				if v.Rule != "leak" { // some requests say "reserve" on purpose
					got = append(got, v)
				}
			}
			if tt.want == "" && got != nil || tt.reason == "" {
				t.Errorf("(%s) %v", tt.reason, got)
			}
			if tt.want != "" && (len(got) == 0 || slices.ContainsFunc(got, func(v Violation) bool { return v.Rule != "proof" || !strings.Contains(v.Detail, tt.want) })) {
				t.Errorf("(%s) want a proof fault %q alone, got %v", tt.reason, tt.want, got)
			}
		})
	}
}

// What a mistake invents does not become true by being repeated in the error.
func TestMistakeIsNoEvidence(t *testing.T) {
	say := func(args, result string) *talk {
		return shop(MultiTurn).
			user("What does the lamp cost?").calls("get_price", `{"article":"lamp","note":"Q-9","x":{"n":["5",7.50]}}`, result).mistaken().
			says("It failed.").
			user("Try it once more.").calls("get_price", args, `{"price": 20}`).says("20.")
	}
	for _, tt := range []struct {
		args, result string
		want         []string // rules
		reason       string
	}{
		{`{"article":"lamp","note":"Q-9"}`, `{"error": {"message": "wrong", "note": "Q-9"}}`, []string{"ungrounded"}, "as it was"},
		{`{"article":"lamp","note":"q 9"}`, `{"error": ["wrong", {"got": "Q_9"}]}`, []string{"ungrounded"}, "in other spelling"},
		{`{"article":"lamp","note":"5"}`, `{"error": "wrong", "n": 5}`, []string{"ungrounded"}, "as a number"},
		{`{"article":"lamp","note":"7.5"}`, `{"error": "wrong", "n": 7.5}`, []string{"ungrounded"}, "as an equal number"},
		{`{"article":"lamp","note":"Q-10"}`, `{"error": {"message": "wrong", "note": "Q-9", "use": "Q-10"}}`, nil, "the tool adds it"},
		{`{"note":"Q-9","article":"wrong"}`, `{"error": {"message": "wrong", "note": "Q-9"}}`, []string{"ungrounded"}, "one of two"},
	} {
		var got []string
		for _, v := range Validate(say(tt.args, tt.result).Sample) {
			got = append(got, v.Rule)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || tt.reason == "" {
			t.Errorf("%s after %s (%s) (-want +got):\n%s", tt.args, tt.result, tt.reason, diff)
		}
	}
	s := say(`{"note":"Q-9","article":"bed"}`, `{"error": {"message": "wrong", "note": "Q-9"}}`).Sample
	if v := Validate(s); !slices.ContainsFunc(v, func(v Violation) bool { return v.Rule == "proof" }) {
		t.Errorf("nothing links the turns: %v", v)
	}
}

// A sample proves one family of those whose plans exclude each other, whatever it is tagged.
func TestProofOfOneFamily(t *testing.T) {
	s := shop(Sequential).user("What does the blue lamp cost? Keep it.").calls("get_price", `{"article":"blue lamp"}`, `{"code": "L-88"}`).
		calls("reserve", `{"item_code":"L-88"}`, `{"kept": true}`).says("Done.").Sample
	var proven []Family
	for _, f := range []Family{Single, Parallel, Sequential, MultiTurn, MissingInfo, MissingFunction, Irrelevance, Recovery, NoCall} {
		s.Family = f
		if Validate(s) == nil {
			proven = append(proven, f)
		}
	}
	if diff := cmp.Diff([]Family{Sequential}, proven); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The message of an error is found by structure.
func TestErrorMessage(t *testing.T) {
	for _, tt := range []struct{ result, want string }{
		{`{"error": "no such city"}`, "no such city"}, {`{"error": {"type": "t", "message": "m"}}`, "m"}, {`{"error": {"type": "t"}}`, "t"},
		{`{"error": true, "message": "m"}`, "m"}, {`{"status": 404, "detail": "gone"}`, "gone"}, {`{"status": 404}`, ""}, {`{"error": {"code": 5}, "message": "m"}`, "m"},
		{`{"isError": true, "content": [{"type": "text", "text": "m"}, {"type": "text", "text": "n"}]}`, "m"}, {`{"isError": true, "content": []}`, ""},
	} {
		n := parsed(t, tt.result)
		if got := errorMessage(&n); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.result, got, tt.want)
		}
	}
}
