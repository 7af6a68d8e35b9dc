package teach

import (
	"context"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool"
)

// A refusal is told by a word that denies, wherever it stands and however it is spelled.
func TestDenies(t *testing.T) {
	for _, tt := range []struct {
		text   string
		want   bool
		reason string
	}{
		{"I cannot do that.", true, "cannot"},
		{"NO tool does it.", true, "capitals"},
		{"That isn't something I can do.", true, "a contraction"},
		{"I can\u2019t send mail.", true, "a curly apostrophe"},
		{"Sending mail takes a tool that is missing.", true, "missing"},
		{"I am unable to.", true, "at the end"},
		{"I lack a 'send' tool.", true, "lack"},
		{"No problem, but nothing here sends mail.", true, "a courtesy and a denial"},
		{"Done, your mail is on its way.", false, "a claim"},
		{"No problem, it is sent.", false, "a courtesy"},
		{"Not  a\nproblem: it is sent.", false, "a courtesy over two lines"},
		{"I notice that nobodys@example.com wants a knot.", false, "parts of words"},
		{"Now I know a note.", false, "parts of words"},
		{"Sure.", false, "nothing denied"},
		{"", false, "nothing"},
	} {
		if got := denies(tt.text); got != tt.want || tt.reason == "" {
			t.Errorf("%q: %v (%s)", tt.text, got, tt.reason)
		}
	}
}

// Where a sample rests on what is said instead of called, a text that says something else does not pass.
func TestSpeech(t *testing.T) {
	book := midtool.Call{ID: "call_0001", Name: "book", Arguments: []byte(`{"guests":4}`)}
	mail := []midtool.Tool{{Name: "mail", Description: "Sends mail.", Parameters: []byte(`{"type":"object"}`)}}
	user := func(text string) midtool.Message { return midtool.Message{Role: midtool.RoleUser, Content: text} }
	bot := func(text string) midtool.Message { return midtool.Message{Role: midtool.RoleAssistant, Content: text} }
	missing := midtool.Sample{ID: "a", Family: midtool.MissingInfo, Plan: &midtool.Plan{Calls: []midtool.Call{book},
		Withheld: []string{"/guests"}},
		Messages: []midtool.Message{user("Book a table."), bot("For how many?"), user("For 4 guests."),
			{Role: midtool.RoleAssistant, Calls: []midtool.Call{book}},
			{Role: midtool.RoleTool, CallID: book.ID, Content: `{"status": "ok", "table": 7}`}, bot("Table 7.")}}
	refused := midtool.Sample{ID: "b", Family: midtool.MissingFunction,
		Messages: []midtool.Message{user("Write to Ada."), bot("I cannot."), {Role: midtool.RoleSystem, Offers: mail},
			{Role: midtool.RoleAssistant, Content: "Writing.", Calls: []midtool.Call{{ID: "call_0001", Name: "mail", Arguments: []byte(`{}`)}}},
			{Role: midtool.RoleTool, CallID: "call_0001", Content: `{"status": "sent"}`}, bot("It is sent.")}}
	irrelevant := midtool.Sample{ID: "c", Family: midtool.Irrelevance, Messages: []midtool.Message{user("Write to Ada."), bot("I cannot.")}}
	chat := midtool.Sample{ID: "d", Family: midtool.NoCall, Messages: irrelevant.Messages}
	for _, tt := range []struct {
		name       string
		sample     midtool.Sample
		contents   []string
		rule, path string
		reason     string
	}{
		{"question", missing, []string{"Book a table.", "How many of you will there be?", "4 guests.", "Table 7."}, "", "", "asks"},
		{"full width", missing, []string{"Book a table.", "How many\uFF1F", "4 guests.", "Table 7."}, "", "", "asks"},
		{"statement", missing, []string{"Book a table.", "Guests are welcome.", "4 guests.", "Table 7."},
			"no_question", "/messages/1/content", "asks nothing"},
		{"part of a word", missing, []string{"Book a table.", "How many?", "4 guests.", "The table is broken."},
			"no_fact", "/messages/5/content", "ok is in broken"},
		{"word", missing, []string{"Book a table.", "How many?", "4 guests.", "That is ok."}, "", "", "ok"},
		{"refusal", refused, []string{"Write to Ada.", "None of my tools can write.", "Let me write.", "Sent."}, "", "", "denies"},
		{"claim", refused, []string{"Write to Ada.", "Done, Ada has your mail.", "Let me write.", "Sent."},
			"no_refusal", "/messages/1/content", "a claim before there is a tool"},
		{"irrelevance", irrelevant, []string{"Write to Ada.", "There's no way for me to write."}, "", "", "denies"},
		{"irrelevant claim", irrelevant, []string{"Write to Ada.", "No problem! I have written to Ada."},
			"no_refusal", "/messages/1/content", "a claim without a call"},
		{"chat", chat, []string{"Write to Ada.", "Gladly."}, "", "", "need not refuse"},
	} {
		var prompts []string
		teacher := Teacher{Generate: script(&prompts, say(textsOf(&tt.sample), tt.contents...))}
		pass := func(*midtool.Sample) ([]midtool.Violation, error) { return nil, nil }
		_, rejected, err := teacher.Rewrite(context.Background(), tt.sample, pass)
		if err != nil {
			t.Fatal(err)
		}
		if rejected == nil {
			rejected = &midtool.Rejection{}
		}
		if rejected.Reason != tt.rule || rejected.Path != tt.path || tt.reason == "" {
			t.Errorf("%s: %+v, want %q at %s (%s)", tt.name, *rejected, tt.rule, tt.path, tt.reason)
		}
		if !strings.Contains(prompts[0], "\n- Write English.\n") {
			t.Errorf("%s: the prompt does not ask for English", tt.name)
		}
	}
}

// A value is said only as a whole word or number.
func TestContainsWhole(t *testing.T) {
	for _, tt := range []struct {
		text, fact string
		want       bool
		reason     string
	}{
		{"it is ok.", "ok", true, "a word"},
		{"it is broken.", "ok", false, "inside a word"},
		{"broken, but ok", "ok", true, "later on"},
		{"ok", "ok", true, "all there is"},
		{"okay", "ok", false, "the start of a word"},
		{"\u00e9ok", "ok", false, "a letter of two bytes"},
		{"17.5 degrees", "7.5", false, "a digit before"},
		{"7.51 degrees", "7.5", false, "a digit after"},
		{"7.5.", "7.5", true, "the end of a sentence"},
		{"7.5 degrees", "7", false, "a fraction follows"},
		{"3,7 degrees", "7", false, "a separator before"},
		{"7, 8 or 9", "7", true, "a list"},
		{"7km", "7", true, "a unit"},
		{"item c-77", "c-77", true, "an ID"},
		{"item c-778", "c-77", false, "another ID"},
		{"$5", "$5", true, "a sign"},
		{"\u6771\u4eac\u306f\u6674\u308c", "\u6674\u308c", true, "a script without spaces"},
		{"\u6771\u4eactower", "\u6771\u4eac", true, "another script after it"},
		{"ok\u3067\u3059", "ok", true, "another script after it"},
	} {
		if got := containsWhole(tt.text, tt.fact); got != tt.want || tt.reason == "" {
			t.Errorf("%q in %q: %v (%s)", tt.fact, tt.text, got, tt.reason)
		}
	}
	// A value without letters and digits is in every text.
	s := weather()
	s.Messages[2].Content = `{"mark": ".", "text": "mild"}`
	s.Messages[3].Content = "It is so."
	if v := unfounded(&s, both); len(v) != 1 || v[0].Rule != "no_fact" {
		t.Errorf("a period for a fact: %v", v)
	}
}
