package teach

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
)

func TestPrompt(t *testing.T) {
	s := weather()
	s.Tools = append(s.Tools, midtool.Tool{Name: "f", Description: "Two\nlines\u2028\"quoted\" <tag>."})
	const want = `Write the words of a conversation between a user and an assistant that calls tools. Calls and results are settled; ` +
		`what the user and the assistant say is to be written.

Sample: single/t_1/1
Task: The user wants one thing, which takes one call.

Tools, one JSON object a line:
{"name": "get_weather", "description": "Returns the weather for a city.", "group": "sky-watch"}
{"name": "f", "description": "Two\nlines` + "\u2028" + `\"quoted\" <tag>."}

Conversation, one JSON object a line; "write" marks the messages to be written, with the words in place now:
{"index": 0, "role": "user", "content": "Get the weather for the city Oslo and days 12, in metric.", "write": true}
{"index": 1, "role": "assistant", "calls": [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 12, "units": "metric"}}]}
{"index": 2, "role": "tool", "content": "{\"temp\": 7.5, \"days\": [\"mild\", \"cold\"]}", "name": "get_weather"}
{"index": 3, "role": "assistant", "content": "The temp is 7.5.", "write": true}

What each message to be written does:
- Message 0, the user: Asks for what the words in place ask for. Says word for word: "Oslo" (city), "12" (days), "metric" (units).
- Message 3, the assistant: Answers the request from the results, with at least one of their values word for word.

Rules:
` + rules + `
Answer with one JSON object of this form and with nothing around it, each of the indexes once:
{"messages":[{"index":0,"content":"..."},{"index":3,"content":"..."}]}
`
	p := newPrompt(&s)
	if diff := cmp.Diff(want, p.text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.reject("no\nidea\xff", []midtool.Violation{{Rule: "leak", Path: "/messages/0/content", Detail: "two\nlines"},
		{Rule: "unsaid", Path: "/x", Detail: "y"}})
	const after = `
Answers rejected so far: 1. The last one, as a JSON string:
"no\nidea` + "\uFFFD" + `"
What is wrong with it:
- leak at /messages/0/content: two lines
- unsaid at /x: y
Write all messages again, without these faults.
`
	if diff := cmp.Diff(want+after, p.text()); diff != "" {
		t.Errorf("after an answer (-want +got):\n%s", diff)
	}
}

// duties returns what the prompt says that each message does.
func duty(t *testing.T, s midtool.Sample) []string {
	t.Helper()
	p := newPrompt(&s)
	_, rest, _ := strings.Cut(p.text(), "does:\n")
	list, _, ok := strings.Cut(rest, "\n\nRules:")
	if !ok {
		t.Fatalf("no duties in\n%s", p.text())
	}
	return strings.Split(list, "\n")
}

// What was withheld is said by the message that supplies it and by none before.
func TestDutiesMissingInfo(t *testing.T) {
	call := midtool.Call{ID: "call_0001", Name: "book", Arguments: []byte(`{"who":{"na/me":"Ada"},"guests":4}`)}
	s := midtool.Sample{
		Family: midtool.MissingInfo,
		Messages: []midtool.Message{
			{Role: midtool.RoleSystem, Content: "Be brief."},
			{Role: midtool.RoleUser, Content: "Book a table for Ada."},
			{Role: midtool.RoleAssistant, Content: "For how many?"},
			{Role: midtool.RoleUser, Content: "For 4 guests."},
			{Role: midtool.RoleAssistant, Content: "One moment.", Calls: []midtool.Call{call}},
			{Role: midtool.RoleTool, CallID: "call_0001", Content: `{"error": {"message": "closed"}}`},
			{Role: midtool.RoleAssistant, Content: "It said: closed."},
		},
		Evidence: []midtool.Evidence{
			{CallID: "call_0001", Path: "/who/na~1me", Class: midtool.EvidenceLiteral, Text: "Ada"},
			{CallID: "call_0001", Path: "/guests", Class: midtool.EvidenceLiteral, Text: "4"},
		},
		Plan: &midtool.Plan{Calls: []midtool.Call{call}, Withheld: []string{"/guests"}},
	}
	want := []string{
		`- Message 1, the user: Asks for what the words in place ask for. Says word for word: "Ada" (who na/me).` +
			` Neither says nor hints at: "4" (guests).`,
		`- Message 2, the assistant: Asks for guests in a sentence that ends with a question mark, says no value for it, and makes no call.`,
		`- Message 3, the user: Answers the question. Says word for word: "4" (guests).`,
		`- Message 4, the assistant: Says in short what its calls are for, before their results are known.`,
		`- Message 6, the assistant: Says that it did not work, with the message of the error word for word.`,
	}
	if diff := cmp.Diff(want, duty(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A refusal makes no call, and tools offered later are shown as tools.
func TestDutiesMissingFunction(t *testing.T) {
	late := []midtool.Tool{{Name: "mail", Description: "Sends mail.", Parameters: []byte(`{"type":"object"}`)}}
	s := midtool.Sample{
		Family: midtool.MissingFunction,
		Messages: []midtool.Message{
			{Role: midtool.RoleUser, Content: "Write to Ada."},
			{Role: midtool.RoleAssistant, Content: "I cannot write to anyone."},
			{Role: midtool.RoleSystem, Content: midtool.OfferText(late), Offers: late},
			{Role: midtool.RoleAssistant, Calls: []midtool.Call{{ID: "call_0001", Name: "mail", Arguments: []byte(`not JSON`)}}},
			{Role: midtool.RoleTool, CallID: "call_0001", Content: `sent`},
			{Role: midtool.RoleAssistant, Content: "It is sent."},
			{Role: midtool.RoleUser, Content: "Thanks a lot."},
			{Role: midtool.RoleAssistant, Content: "Gladly."},
		},
	}
	want := []string{
		`- Message 0, the user: Asks for what the words in place ask for.`,
		`- Message 1, the assistant: Says that no tool it has does this and what is lacking, ` +
			`with a plain negation (no, not, none, cannot), and makes no call.`,
		`- Message 5, the assistant: Answers the request from the results, with at least one of their values word for word.`,
		`- Message 6, the user: Goes on from what came before, with what the words in place say.`,
		`- Message 7, the assistant: Says what the words in place say, without a call.`,
	}
	if diff := cmp.Diff(want, duty(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p := newPrompt(&s)
	const offer = `{"index": 2, "role": "system", "more_tools": [{"name": "mail", "description": "Sends mail."}]}`
	const broken = `{"index": 3, "role": "assistant", "calls": [{"name": "mail", "arguments": "not JSON"}]}`
	if text := p.text(); !strings.Contains(text, offer+"\n") || !strings.Contains(text, broken+"\n") {
		t.Errorf("want %s and %s in\n%s", offer, broken, text)
	}
}
