package format

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/throughline-go/throughline/midtool"
	"pgregory.net/rapid"
)

// structured are the forms that [Read] reads.
func structured() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return name == "pretokenized" })
}

// alternating is a conversation of requests or results and answers, one letter a message.
var alternating = regexp.MustCompile(`^s?((u|t+)a)+$`)

// reasons says, apart from the code, why a form skips a sample; nothing if it must write it.
func reasons(form string, s *midtool.Sample) []string {
	var out []string
	letters, silent, trained, masked, system := "", true, false, false, true
	for i, m := range s.Messages {
		letters += string(m.Role[0])
		silent = silent && (m.Content == "" || len(m.Calls) == 0)
		trained = trained || m.Role == midtool.RoleAssistant && !m.Untrained
		masked = masked || m.Untrained
		system = system && (m.Role != midtool.RoleSystem || i == 0 && m.Content != "")
	}
	add := func(reason string, applies bool) {
		if applies {
			out = append(out, reason)
		}
	}
	add("untrained", form != "plain" && !trained)
	add("marker", (form == "hermes" || form == "qwen") && holds(s, markers...))
	add("untrained_turn", (form == "trl" || form == "llamafactory" || form == "sharegpt") && masked)
	if form == "llamafactory" || form == "sharegpt" {
		add("system", !system)
		add("alternation", !alternating.MatchString(letters))
	}
	add("text_with_calls", form == "sharegpt" && !silent)
	return out
}

// Every structured form either gives back the same conversation, or skips it for a reason that holds.
func TestConversations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := conversationIn(t, oneIn(t, 3))
		for _, form := range structured() {
			var b strings.Builder
			w, err := NewWriter(&b, form, &Options{Thinking: rapid.Bool().Draw(t, "thinking"), Tokens: func(s string) int { return len(s) }})
			if err != nil {
				t.Fatal(err)
			}
			want := reasons(form, &s)
			err = w.Write(&Record{Sample: &s})
			if skipped, ok := errors.AsType[*SkipError](err); ok {
				if !slices.Contains(want, skipped.Reason) || w.Close() == nil || w.Counts().Skipped[skipped.Reason] != 1 {
					t.Fatalf("%s: %v, want one of %q and a failing Close", form, err, want)
				}
				continue
			}
			if err != nil || len(want) > 0 || w.Close() != nil {
				t.Fatalf("%s: error %v, want to be skipped by one of %q", form, err, want)
			}
			if c := w.Counts(); c.Written != 1 || c.Bytes != int64(b.Len()) || len(c.Skipped) != 0 {
				t.Fatalf("%s: counts %+v of %d bytes", form, c, b.Len())
			}
			if strings.Count(b.String(), "\n") != 1 || !json.Valid([]byte(b.String())) || !utf8.ValidString(b.String()) {
				t.Fatalf("%s: no line of JSON: %q", form, b.String())
			}
			got, err := readBack(form, b.String())
			if err != nil {
				t.Fatalf("%s: %v in\n%s", form, err, b.String())
			}
			wantRecord := Record{Source: "native", Sample: new(normal(s))}
			wantRecord.ID = s.ID
			forget(form, &wantRecord)
			if diff := cmp.Diff(wantRecord, got, alike); diff != "" {
				t.Fatalf("%s (-want +got):\n%s\n%s", form, diff, b.String())
			}
		}
	})
}

func readBack(form, data string) (Record, error) {
	for r, err := range Read(strings.NewReader(data), form, "test.jsonl") {
		return r, err
	}
	return Record{}, errors.New("no record")
}

// forget takes out of a record what a form does not hold.
func forget(form string, r *Record) {
	if form == "plain" || form == "hermes" || form == "qwen" {
		return
	}
	r.Source, r.Sample.Source, r.Sample.Document, r.Sample.Generator = "", "", "", ""
	r.Sample.Ability, r.Sample.SecondAbility, r.Sample.Family = "", "", ""
	if form == "openai" {
		r.ID, r.Sample.ID = "", ""
	}
}

// Documents come back as they are from the forms that take them, and all of them is learned.
func TestDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Record{ID: "d1", Source: "web", Text: "x" + text(t, 12, oneIn(t, 3)), Licenses: []string{"MIT", "A AND B"},
			Meta: map[string]string{"title": text(t, 2, true), "family": "a", "messages": "7", "": "empty"}}
		for _, form := range structured() {
			var b strings.Builder
			w, err := NewWriter(&b, form, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = w.Write(&r)
			want := ""
			switch form {
			case "plain":
			case "hermes", "qwen":
				if slices.ContainsFunc(markers, func(m string) bool { return strings.Contains(r.Text, m) }) {
					want = "marker"
				}
			default:
				want = "document"
			}
			if want != "" {
				if skipped, ok := errors.AsType[*SkipError](err); !ok || skipped.Reason != want {
					t.Fatalf("%s: error %v, want %s", form, err, want)
				}
				continue
			}
			if err := errors.Join(err, w.Close()); err != nil || w.Counts().Trained != len(r.Text) {
				t.Fatalf("%s: %v, counts %+v", form, err, w.Counts())
			}
			if got, err := readBack(form, b.String()); err != nil || !cmp.Equal(r, got, cmpopts.EquateEmpty()) {
				t.Fatalf("%s: error %v (-want +got):\n%s", form, err, cmp.Diff(r, got))
			}
		}
	})
}

// checkSpans checks what must hold for the spans of any text.
func checkSpans(t *rapid.T, r *Rendering) {
	last := -1
	for _, s := range r.Loss {
		if s.Start <= last || s.End <= s.Start || s.End > len(r.Text) {
			t.Fatalf("spans %v of %d bytes", r.Loss, len(r.Text))
		}
		for _, at := range []int{s.Start, s.End} {
			if at < len(r.Text) && !utf8.RuneStart(r.Text[at]) {
				t.Fatalf("byte %d is inside a code point", at)
			}
		}
		last = s.End
	}
}

// learnedText joins what is learned, and the rest.
func learnedText(r *Rendering) (learned, rest string) {
	at := 0
	for _, s := range r.Loss {
		learned, rest = learned+r.Text[s.Start:s.End], rest+r.Text[at:s.Start]
		at = s.End
	}
	return learned, rest + r.Text[at:]
}

// In plain text all is learned but the blocks of untrained messages, and in turns only what trained assistants write: the
// texts are those of the single messages, put together.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := conversationIn(t, false)
		p, err := Plain(&Record{Sample: &s})
		if err != nil {
			t.Fatal(err)
		}
		checkSpans(t, &p)
		if row, err := NewRow(&Record{Sample: &s}, nil); err != nil || row.Trained() != p.trained() || row.Text != p.Text {
			t.Fatalf("%v: the row has %d learned bytes, want %d", err, row.Trained(), p.trained())
		}
		c, skipped := conversationOf(&Record{Sample: &s})
		if skipped != nil {
			t.Fatal(skipped)
		}
		untrained, turns := "", ""
		for i, m := range c.messages {
			alone := &conversation{messages: []message{m}}
			if m.untrained {
				alone.messages = slices.Clone(c.messages[max(0, i-1) : i+1])
				two := plainText(alone).Text
				alone.messages = alone.messages[:len(alone.messages)-1]
				untrained += two[len(plainText(alone).Text):]
			} else if m.role == midtool.RoleAssistant {
				var calls []string
				for j := range m.calls {
					calls = append(calls, "<tool_call>\n"+string(appendCall(nil, &m.calls[j]))+"\n</tool_call>")
				}
				if m.content != "" {
					calls = slices.Insert(calls, 0, m.content)
				}
				turns += strings.Join(calls, "\n") + "<|im_end|>"
			}
		}
		if _, rest := learnedText(&p); rest != untrained {
			t.Fatalf("plain: not learned is %q, want %q", rest, untrained)
		}
		if holds(&s, markers...) {
			return
		}
		for _, form := range []string{"hermes", "qwen"} {
			f, err := chatForm(form, &Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, _, skipped := f.render(c)
			if skipped != nil {
				t.Fatal(skipped)
			}
			checkSpans(t, &r)
			if learned, _ := learnedText(&r); learned != turns {
				t.Fatalf("%s: learned is %q, want %q", form, learned, turns)
			}
		}
	})
}

// The text of a conversation begins with that of its beginning, wherever it is cut between turns: what a model is
// trained on is what it sees when it goes on.
func TestPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := conversationIn(t, false)
		cut := rapid.IntRange(1, len(s.Messages)).Draw(t, "cut")
		for cut < len(s.Messages) && s.Messages[cut].Role == midtool.RoleTool {
			cut++
		}
		first := s
		first.Messages = s.Messages[:cut]
		if len(s.Tools) > 0 && !slices.ContainsFunc(first.Messages, func(m midtool.Message) bool { return m.Role != midtool.RoleSystem }) {
			return // in plain text the tools come after all system messages at the beginning
		}
		for _, form := range []string{"plain", "hermes", "qwen"} {
			part, err := render(form, &first)
			whole, errWhole := render(form, &s)
			if err != nil || errWhole != nil {
				continue
			}
			if !strings.HasPrefix(whole, part) {
				t.Fatalf("%s: %q is no beginning of %q", form, part, whole)
			}
		}
	})
}

func render(form string, s *midtool.Sample) (string, error) {
	c, err := conversationOf(&Record{Sample: s})
	if err != nil {
		return "", err
	}
	if form == "plain" {
		return plainText(c).Text, nil
	}
	f, bad := chatForm(form, &Options{})
	if bad != nil {
		return "", bad
	}
	r, _, err := f.render(c)
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

// Meta of a record comes back beside a conversation, except for the keys that the row needs itself.
func TestConversationMeta(t *testing.T) {
	s := weather()
	s.SecondAbility = midtool.Affordance
	s.Evidence = []midtool.Evidence{{Class: midtool.EvidenceLiteral}, {Class: midtool.EvidenceEnumDefault}, {Class: midtool.EvidenceLiteral}}
	meta := map[string]string{"url": "https://example.com", "family": "mine", "messages": "no"}
	row, err := NewRow(&Record{ID: "r", Source: "web", Sample: &s, Meta: meta}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"messages":4,"family":"single","second_ability":"affordance","evidence":{"enum_default":1,"literal":2},"url":"https://example.com"}`
	if row.Meta != want || row.Ability != "grounding" || !slices.Equal(row.License, []string{"MIT"}) || row.Tokens != midtool.ApproxTokens(row.Text) {
		t.Errorf("got %+v, want meta %s", row, want)
	}
	got, err := row.Record()
	if err != nil || !maps.Equal(got.Meta, map[string]string{"url": "https://example.com"}) || got.Source != "web" || got.Sample.Family != midtool.Single {
		t.Errorf("got %+v, %v", got, err)
	}
}
