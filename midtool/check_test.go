package midtool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// usual is a sample of one call with four tools offered, as most are.
func usual() Sample {
	s := clean()
	for i := range 2 {
		s.Tools = append(s.Tools, Tool{Name: fmt.Sprintf("find_room_%d", i), Description: "Finds a free room in a building, on a day and for so many people.",
			Parameters: []byte(`{"type":"object","properties":{"building":{"type":"string","description":"Name of the building."},"people":{"type":"integer","minimum":1},
				"day":{"type":"string","format":"date"},"floor":{"type":"integer"}},"required":["building","day"]}`)})
	}
	s.Family = Single
	return s
}

func BenchmarkCheck(b *testing.B) {
	var c Checker
	s := usual()
	b.ReportAllocs()
	for b.Loop() {
		if f, err := c.Check(b.Context(), &s); err != nil || f.Violations != nil {
			b.Fatal(f, err)
		}
	}
}

// The cost grows with the number of turns, and no faster.
func BenchmarkCheckTurns(b *testing.B) {
	for _, turns := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			c := Checker{MaxTokens: 1 << 30}
			s := longSample(turns)
			b.ReportAllocs()
			for b.Loop() {
				if f, err := c.Check(b.Context(), &s); err != nil || f.Violations != nil {
					b.Fatal(f, err)
				}
			}
		})
	}
}

// longSample has many turns; half of the arguments come from results, and two thirds from texts in another form.
func longSample(turns int) Sample {
	s := clean()
	s.Messages = nil
	for i := range turns {
		id := fmt.Sprintf("call_%d", i)
		s.Messages = append(s.Messages,
			Message{Role: RoleUser, Content: fmt.Sprintf("How is it in new town %d over the next three days?", i)},
			Message{Role: RoleAssistant, Calls: []Call{{ID: id, Name: "get_forecast", Arguments: fmt.Appendf(nil, `{"city":"New Town, %d","days":3}`, i)}}},
			Message{Role: RoleTool, CallID: id, Content: fmt.Sprintf(`{"temp": %d.5}`, 1000+i)},
			Message{Role: RoleAssistant, Calls: []Call{{ID: id + "b", Name: "send_mail", Arguments: fmt.Appendf(nil, `{"to":"%d.5"}`, 1000+i)}}},
			Message{Role: RoleTool, CallID: id + "b", Content: `{"sent": true}`},
			Message{Role: RoleAssistant, Content: "It is done."})
	}
	return s
}

func check(t interface {
	Helper()
	Fatal(...any)
}, c *Checker, s Sample) Findings {
	t.Helper()
	f, err := c.Check(context.Background(), &s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The tokens are those of the line that is written, whatever the checker has seen before.
func TestCheckTokens(t *testing.T) {
	var c Checker
	rapid.Check(t, func(t *rapid.T) {
		s := anySample(t)
		var b bytes.Buffer
		if err := WriteMessages(&b, []Sample{s}, nil); err != nil {
			t.Fatal(err)
		}
		want := ApproxTokens(strings.TrimSuffix(b.String(), "\n"))
		if f := check(t, &c, s); f.Tokens != want {
			t.Fatalf("%d tokens, want %d in %s", f.Tokens, want, b.String())
		}
	})
}

// A checker that has seen other samples finds what a new one finds, and changes nothing of the sample.
func TestCheckIsRepeatable(t *testing.T) {
	var used Checker
	rapid.Check(t, func(t *rapid.T) {
		s := anySample(t)
		before := toJSON(s)
		var fresh Checker
		want := check(t, &fresh, s)
		if diff := cmp.Diff(want, check(t, &used, s)); diff != "" {
			t.Fatalf("(-new +used):\n%s", diff)
		}
		if diff := cmp.Diff(want.Violations, Validate(s)); diff != "" {
			t.Fatalf("(-Check +Validate):\n%s", diff)
		}
		if after := toJSON(s); before != after {
			t.Fatalf("changed: %s", after)
		}
	})
}

// The schemas that a checker keeps are those of the bytes that it was given, also when a caller uses these again.
func TestCheckKeepsNoBytes(t *testing.T) {
	var c Checker
	s := clean()
	want := check(t, &c, s)
	params := s.Tools[0].Parameters
	saved := slices.Clone(params)
	copy(params, bytes.Repeat([]byte(" "), len(params)))
	s.Tools[0].Parameters = saved
	if diff := cmp.Diff(want, check(t, &c, s)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}

	// A schema that is compiled late is that of the bytes as they were, too.
	c, s = Checker{}, clean()
	s.Messages = []Message{s.Messages[1], s.Messages[4]}
	check(t, &c, s)
	params = s.Tools[0].Parameters
	saved = slices.Clone(params)
	clear(params)
	s = clean()
	if diff := cmp.Diff(want, check(t, &c, s)); diff != "" {
		t.Errorf("late (-before +after):\n%s", diff)
	}
	s.Tools[0].Parameters = []byte(strings.Replace(string(saved), `"maximum":16`, `"maximum":2`, 1))
	if f := check(t, &c, s); len(f.Violations) != 1 || f.Violations[0].Rule != "schema" {
		t.Errorf("another schema under the same name: %v", f.Violations)
	}
}

// A checker forgets rather than grow without bound.
func TestCheckForgets(t *testing.T) {
	var c Checker
	large := strings.Repeat(" ", maxHeld/4)
	for i := range 6 {
		s := clean()
		s.Tools[1].Description = large + fmt.Sprint(i)
		check(t, &c, s)
	}
	if c.held > maxHeld || len(c.known) > 8 {
		t.Errorf("%d bytes and %d tools are held", c.held, len(c.known))
	}
}

func TestCheckOptions(t *testing.T) {
	s := clean()
	for _, tt := range []struct {
		c    Checker
		want string
	}{{Checker{MaxTokens: 255}, "MaxTokens is 255"}, {Checker{MaxTokens: -1}, "MaxTokens is -1"}, {Checker{Skip: []string{"leak", "leek"}}, `no rule "leek"`}} {
		if _, err := tt.c.Check(context.Background(), &s); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if f, err := new(Checker).Check(ctx, &s); !errors.Is(err, context.Canceled) || !cmp.Equal(f, Findings{}) {
		t.Errorf("canceled: %v, %v", f, err)
	}

	s.Messages[1].Content += " in {city}"
	full := check(t, &Checker{}, s)
	if len(full.Violations) != 2 {
		t.Fatal(full.Violations)
	}
	f := check(t, &Checker{Skip: []string{"leak"}}, s)
	full.Violations = nil
	if diff := cmp.Diff(full, f); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

// The window: one token more than it has is too many.
func TestCheckWindow(t *testing.T) {
	s := usual()
	s.Messages[1].Content += strings.Repeat(" Well.", 100)
	n := check(t, &Checker{}, s).Tokens
	if f := check(t, &Checker{MaxTokens: n}, s); f.Violations != nil {
		t.Errorf("%d tokens: %v", n, f.Violations)
	}
	want := []Violation{{"window", "", fmt.Sprintf("%d tokens, want at most %d", n, n-1)}}
	if diff := cmp.Diff(want, check(t, &Checker{MaxTokens: n - 1}, s).Violations); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Messages[0].Content = strings.Repeat("1", 8192)
	if v := Validate(s); len(v) != 1 || v[0].Rule != "window" {
		t.Errorf("by default: %v", v)
	}
}

// Control markers are found where they are, in plain or escaped form, and only those that are asked for.
func TestCheckMarkers(t *testing.T) {
	marks := []string{"<tool_call>", "</tool_call>"}
	for _, tt := range []struct {
		name, path string
		plant      func(s *Sample)
	}{
		{"content", "/messages/4/content", func(s *Sample) { s.Messages[4].Content += " </tool_call>" }},
		{"result", "/messages/3/content", func(s *Sample) { s.Tools[0].Returns = nil; s.Messages[3].Content = `{"x": "<tool_call>"}` }},
		{"argument", "/messages/2/calls/0/arguments", func(s *Sample) {
			s.Messages[1].Content = strings.Replace(s.Messages[1].Content, "Zürich", "a<tool_call>", 1)
			s.Messages[2].Calls[0].Arguments = []byte(strings.Replace(string(s.Messages[2].Calls[0].Arguments), "Zürich", `a\u003ctool_call>`, 1))
			s.Messages[1].Content = strings.Replace(s.Messages[1].Content, "a<tool_call>", "a < tool call >", 1)
		}},
		{"key", "/messages/2/calls/0/arguments", func(s *Sample) {
			s.Tools[0].Parameters = []byte(`{"type":"object","additionalProperties":true}`)
			arguments(s, func(a map[string]any) { delete(a, "units"); a["<tool_call>"] = 3 })
		}},
	} {
		s := clean()
		tt.plant(&s)
		if f := check(t, &Checker{Markers: marks}, s); !slices.ContainsFunc(f.Violations, func(v Violation) bool { return v.Rule == "marker" && v.Path == tt.path }) {
			t.Errorf("%s: %v", tt.name, f.Violations)
		}
		for _, c := range []Checker{{}, {Markers: []string{"<|im_end|>", ""}}} {
			if f := check(t, &c, s); slices.ContainsFunc(f.Violations, func(v Violation) bool { return v.Rule == "marker" }) {
				t.Errorf("%s with markers %q: %v", tt.name, c.Markers, f.Violations)
			}
		}
	}
}

// What a hostile sample has many of costs time in proportion: none of these takes seconds.
func TestCheckHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("large samples")
	}
	t.Run("turns", func(t *testing.T) {
		s := longSample(20_000)
		if f := check(t, &Checker{MaxTokens: 1 << 30}, s); len(f.Evidence) == 0 {
			t.Error("no evidence")
		}
	})
	t.Run("calls in a turn", func(t *testing.T) {
		s := clean()
		var results []Message
		for i := range 50_000 {
			c := s.Messages[2].Calls[0]
			c.ID = fmt.Sprint(i)
			s.Messages[2].Calls = append(s.Messages[2].Calls, c)
			results = append(results, Message{Role: RoleTool, CallID: c.ID, Content: `{"temp": 7}`})
		}
		s.Messages = slices.Insert(s.Messages, 4, results...)
		check(t, &Checker{}, s)
	})
	t.Run("long key", func(t *testing.T) {
		s := clean()
		s.Tools[0].Parameters = []byte(`{"type":"object","additionalProperties":true}`)
		s.Messages[2].Calls[0].Arguments = []byte(`{"city":"Zürich","` + strings.Repeat("k", 1<<20) + `":[` + strings.Repeat("1,", 1<<20) + `1]}`)
		check(t, &Checker{}, s)
	})
	t.Run("tools", func(t *testing.T) {
		s := clean()
		for i := range 50_000 {
			s.Tools = append(s.Tools, Tool{Name: fmt.Sprintf("get_get_%d", i), Parameters: []byte(`{}`)})
		}
		s.Messages[1].Content += strings.Repeat(" Get get.", 50_000)
		check(t, &Checker{}, s)
	})
	t.Run("messages", func(t *testing.T) {
		s := clean()
		for range 100_000 {
			s.Messages = append(s.Messages, Message{Role: RoleAssistant, Content: "\xff", Untrained: true})
		}
		check(t, &Checker{}, s)
	})
}

// anySample is a sample that can be written, with anything in it.
func anySample(t *rapid.T) Sample {
	text := rapid.OneOf(rapid.StringN(0, 40, 120), rapid.SampledFrom([]string{"😀", "日本語", "a\u2028b\u2029", "<tool_call>&", "### User\n", "\x00\x1f\x7f", `\u003c`, "",
		"Go to Oslo.", "Oslo", "get_forecast", "call_1"})).Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s })
	object := func(label string) json.RawMessage {
		return json.RawMessage(marshal(rapid.MapOfN(text, anyValue(2), 0, 3).AsAny().Draw(t, label)))
	}
	tool := func() Tool {
		return Tool{Name: text.Draw(t, "name"), Description: text.Draw(t, "description"), Parameters: object("parameters"), Group: text.Draw(t, "group"),
			Returns: rapid.SampledFrom([]json.RawMessage{nil, []byte(`{"type":"object"}`)}).Draw(t, "returns")}
	}
	var s Sample
	s.Family = rapid.SampledFrom([]Family{"", Single, Parallel, Sequential, MultiTurn, MissingInfo, MissingFunction, Irrelevance, Recovery, NoCall, QA, Clarification, "other"}).Draw(t, "family")
	for range rapid.IntRange(0, 3).Draw(t, "tools") {
		s.Tools = append(s.Tools, tool())
	}
	call := func() Call {
		c := Call{ID: text.Draw(t, "id"), Name: text.Draw(t, "call"), Arguments: object("arguments")}
		if len(s.Tools) > 0 && rapid.Bool().Draw(t, "known") {
			c.Name = s.Tools[0].Name
		}
		return c
	}
	for range rapid.IntRange(0, 6).Draw(t, "messages") {
		m := Message{Role: rapid.SampledFrom([]Role{RoleSystem, RoleUser, RoleAssistant, RoleTool}).Draw(t, "role"), Content: text.Draw(t, "content")}
		switch m.Role {
		case RoleAssistant:
			m.Untrained = rapid.Bool().Draw(t, "untrained")
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				m.Calls = append(m.Calls, call())
			}
		case RoleTool:
			m.CallID, m.Content = text.Draw(t, "call id"), toJSON(anyValue(2).Draw(t, "result"))
		case RoleSystem:
			if rapid.Bool().Draw(t, "offers") {
				m.Offers = []Tool{tool()}
				m.Content = OfferText(m.Offers)
			}
		}
		s.Messages = append(s.Messages, m)
	}
	if rapid.Bool().Draw(t, "plan") {
		s.Plan = &Plan{Withheld: []string{"/" + text.Draw(t, "withheld")}, Fault: text.Draw(t, "fault"), Answer: []string{text.Draw(t, "piece")}}
		for range rapid.IntRange(0, 2).Draw(t, "planned") {
			s.Plan.Calls = append(s.Plan.Calls, call())
		}
		if rapid.Bool().Draw(t, "absent") {
			absent := tool()
			s.Plan.Absent = &absent
		}
	}
	return s
}
