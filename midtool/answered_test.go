package midtool

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shown is a question about a document and its answer.
func shown(answer string, pieces ...string) Sample {
	t := &talk{Sample{Family: QA, Plan: &Plan{Calls: []Call{}, Answer: pieces}}}
	t.Messages = []Message{{Role: RoleSystem, Content: "Use the text.\n\nRun `ship --count 3` to send crates. Then close the hatch.\nGET /crates/{id} returns a crate."}}
	return t.user("What do I have to do with the 7 crates?").says(answer).Sample
}

func TestProofQA(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sample Sample
		want   string // of the violation of proof; empty for none
	}{
		{"a text", shown("Then: close the hatch.", "close the hatch"), ""},
		{"texts in order", shown("`ship --count 3`, and then close the hatch.", "ship --count 3", "close the hatch"), ""},
		{"texts out of order", shown("Close up: close the hatch after ship --count 3", "ship --count 3", "close the hatch"), "not said in its place"},
		{"twice", shown("close the hatch", "close the hatch", "close the hatch"), "not said in its place"},
		{"another text", shown("Then: open the hatch.", "open the hatch"), "no text of the document"},
		{"part of a word", shown("rates", "rates"), "no text of the document"},
		{"not said", shown("Then: shut it.", "close the hatch"), "not said in its place"},
		{"only asked", shown("the 7 crates", "the 7 crates"), "no text of the document"},
		{"blank", shown("Yes, it is.", " "), "no text of the document"},
		{"no plan", func() Sample { s := shown("Yes."); s.Plan = nil; return s }(), "what the answer must hold"},
		{"no pieces", shown("Yes."), "what the answer must hold"},
		{"a call", shown(`{"name": "ship", "arguments": {"count": 3}}`, `{"name": "ship", "arguments": {"count": 3}}`), ""},
		{"a call with a value of the question", shown(`{"name": "ship", "arguments": {"count": 7}}`, `{"name": "ship", "arguments": {"count": 7}}`), ""},
		{"a call with another value", shown(`{"name": "ship", "arguments": {"count": 4}}`, `{"name": "ship", "arguments": {"count": 4}}`), "no call with its words"},
		{"a call with another argument", shown(`{"name": "ship", "arguments": {"speed": 3}}`, `{"name": "ship", "arguments": {"speed": 3}}`), "no call with its words"},
		{"a call of another name", shown(`{"name": "sail", "arguments": {"count": 3}}`, `{"name": "sail", "arguments": {"count": 3}}`), "no call with its words"},
		{"a call with more in it", shown(`{"name": "ship", "arguments": {"count": 3}, "x": 1}`, `{"name": "ship", "arguments": {"count": 3}, "x": 1}`), "no call with its words"},
		{"a call in depth", shown(`{"name": "ship", "arguments": {"count": [3, {"hatch": 9}]}}`, `{"name": "ship", "arguments": {"count": [3, {"hatch": 9}]}}`), "no call with its words"},
		{"turns", (&talk{shown("First: ship --count 3", "ship --count 3", "close the hatch")}).user("And what comes then?").says("You close the hatch.").Sample, ""},
		{"not in the last turn", (&talk{shown("First: ship --count 3, then close the hatch", "ship --count 3", "close the hatch")}).user("And what comes then?").says("Nothing.").Sample,
			"not said in its place"},
	} {
		if got := proofs(tt.sample); len(got) > 1 || (len(got) == 0) != (tt.want == "") || len(got) == 1 && !strings.Contains(got[0].Detail, tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, got, tt.want)
		}
	}
	s := shop(QA).user("Where are the lamps?").calls("find_shelf", `{"goods":"lamps"}`, `{"shelf": 4}`).says("On shelf 4.").plan(Plan{Answer: []string{"shelf"}}).Sample
	if got := proofs(s); !slices.ContainsFunc(got, func(v Violation) bool { return v.Detail == "a call, want none" }) {
		t.Errorf("a call: %v", got)
	}
}

func proofs(s Sample) []Violation {
	return slices.DeleteFunc(Validate(s), func(v Violation) bool { return v.Rule != "proof" })
}

// A piece is proven if and only if it stands in the document between word boundaries.
func TestProofQAPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := shown("")
		text := s.Messages[0].Content
		i := rapid.IntRange(0, len(text)-1).Draw(t, "start")
		piece := text[i:rapid.IntRange(i+1, len(text)).Draw(t, "end")]
		if rapid.Bool().Draw(t, "changed") {
			piece = piece[:len(piece)-1] + rapid.SampledFrom([]string{"a", "q", " ", "7", "\n"}).Draw(t, "last")
		}
		s.Messages[2].Content, s.Plan.Answer = "So: "+piece, []string{piece}
		stands := false
		for at := range len(text) - len(piece) + 1 {
			stands = stands || text[at:at+len(piece)] == piece && !insideWord(text, at) && !insideWord(text, at+len(piece))
		}
		want := stands && strings.TrimSpace(piece) != ""
		if got := len(proofs(s)) == 0; got != want {
			t.Fatalf("%q: proven %t, want %t", piece, got, want)
		}
	})
}

func TestProofClarification(t *testing.T) {
	ask := func(args string, withheld ...string) *talk {
		s := shop(Clarification).user("Keep something for me, with the note blue.").says("Which item should I keep?")
		s.Plan = &Plan{Calls: []Call{{ID: "call_0001", Name: "reserve", Arguments: []byte(args)}}, Withheld: withheld}
		return s
	}
	change := func(s *talk, f func(*talk)) Sample { f(s); return s.Sample }
	for _, tt := range []struct {
		name   string
		sample Sample
		want   string
	}{
		{"asked", ask(`{"note":"blue"}`, "/item_code").Sample, ""},
		{"nothing known", ask(`{}`, "/item_code").Sample, ""},
		{"known", ask(`{"item_code":"blue"}`, "/item_code").Sample, "withheld and known"},
		{"not required", ask(`{}`, "/item_code", "/note").Sample, "not required"},
		{"neither known nor withheld", change(ask(`{}`, "/note"), func(s *talk) {}), "neither known nor withheld"},
		{"nothing withheld", ask(`{}`).Sample, "want one call and what it lacks"},
		{"no plan", change(ask(`{}`, "/item_code"), func(s *talk) { s.Plan = nil }), "want one call and what it lacks"},
		{"not offered", change(ask(`{}`, "/item_code"), func(s *talk) { s.Plan.Calls[0].Name = "other" }), "not offered"},
		{"no object", ask(`[]`, "/item_code").Sample, "want an object"},
		{"made up", ask(`{"note":"green"}`, "/item_code").Sample, "is in no message"},
		{"two requests", ask(`{}`, "/item_code").user("The red one, please.").says("Thanks, noted.").Sample, "2 requests, want 1"},
		{"default", change(ask(`{}`, "/item_code"), func(s *talk) {
			s.Tools[2].Parameters = []byte(`{"type":"object","properties":{"item_code":{"type":"string","default":"A1"}},"required":["item_code"]}`)
		}), "the schema settles it"},
		{"fed", change(ask(`{}`, "/item_code"), func(s *talk) {
			s.Tools[0].Returns = []byte(`{"type":"object","properties":{"item_code":{"type":"string"}}}`)
		}), "another tool feeds it"},
	} {
		got := proofs(tt.sample)
		if (len(got) == 0) != (tt.want == "") || tt.want != "" && !slices.ContainsFunc(got, func(v Violation) bool { return strings.Contains(v.Detail, tt.want) }) {
			t.Errorf("%s: %v, want %q", tt.name, got, tt.want)
		}
	}
	s := ask(`{"note":"blue"}`, "/item_code").Sample
	if got := Validate(s); got != nil {
		t.Errorf("%v", got)
	}
}

// A user may name what looks like a template slot if the document shows it.
func TestShownSlot(t *testing.T) {
	s := shown("close the hatch", "close the hatch")
	for slot, want := range map[string]bool{"{id}": true, "{name}": false} {
		s.Messages[1].Content = "What is GET /crates/" + slot + " for?"
		leak := slices.ContainsFunc(Validate(s), func(v Violation) bool { return v.Rule == "leak" })
		if leak == want {
			t.Errorf("%s: leak %t", slot, leak)
		}
	}
}
