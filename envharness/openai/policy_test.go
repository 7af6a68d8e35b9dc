package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
)

// calls makes a reply with calls, each a name and arguments.
func calls(pairs ...string) openaitest.Reply {
	var r openaitest.Reply
	for i := 0; i < len(pairs); i += 2 {
		r.Calls = append(r.Calls, openaitest.Call{Name: pairs[i], Args: pairs[i+1]})
	}
	return r
}

var lookTools = []envharness.Tool{
	{Name: "look", Description: "Look around.", ReadOnly: true},
	{Name: "go", Schema: json.RawMessage(`{"type": "object", "properties": {"z": {"type": "integer", "maximum": 10000000000000001}, "a": {}}}`)},
}

// turn is the i-th, with what is shown.
func turn(i int, text string) envharness.Turn {
	return envharness.Turn{Index: i, Shown: envharness.Observation{Text: text}, Tools: lookTools}
}

// conversation tells the messages of a request in short.
func conversation(r openaitest.Request) []string {
	var all []string
	for _, m := range r.Messages {
		parts := []string{m.Role + ": " + m.Content}
		for _, k := range m.Calls {
			parts = append(parts, "<"+k.Name+k.Args+">")
		}
		all = append(all, strings.Join(parts, " "))
	}
	return all
}

// An episode is solved, in one body and in pieces; the trace has what was said and what it took, and equal runs give equal bytes.
func TestRolloutPasses(t *testing.T) {
	both(t, func(t *testing.T, stream bool) {
		var first []byte
		for range 2 {
			s := serve(t, openaitest.Script(
				openaitest.Reply{
					Text:  "1*1*4*6: first 1*1.",
					Calls: []openaitest.Call{{Name: "combine", Args: `{"i":0,"j":1,"op":"mul"}`}, {Name: "combine", Args: `{"i":0,"j":1,"op":"mul"}`}},
					Usage: &openaitest.Usage{Input: 90, Output: 10},
				},
				openaitest.Reply{Status: 500},
				calls("combine", `{"i":0,"j":1,"op":"mul"}`),
				calls("stop", ``),
			), &openaitest.Options{Key: key, Model: "m"})
			c := connect(t, openai.Options{BaseURL: s.BaseURL, APIKey: key, Stream: stream})
			traces, err := envharness.Rollouts(t.Context(), game24.World(nil), nil, func(int) (envharness.Policy, error) {
				return c.Policy(nil), nil
			}, []envharness.Task{{ID: "1,1,4,6"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			trace := traces[0]
			if trace.Verdict.Status != envharness.Pass || len(trace.Turns) != 4 {
				t.Fatalf("%+v after %d turns: %s", trace.Verdict, len(trace.Turns), trace.Cause)
			}
			said := "1*1*4*6: first 1*1.\ncombine {\"i\":0,\"j\":1,\"op\":\"mul\"}\ncombine {\"i\":0,\"j\":1,\"op\":\"mul\"}"
			if got := trace.Turns[0]; got.Said != said || got.Tokens != 100 {
				t.Errorf("said %q with %d tokens", got.Said, got.Tokens)
			}
			if got := trace.Turns[1]; got.Said != "" || got.Tokens != 0 {
				t.Errorf("the second call of an answer said %q with %d tokens", got.Said, got.Tokens)
			}
			if got := trace.Turns[3]; got.Said != "stop" || got.Tokens == 0 {
				t.Errorf("said %q with %d tokens", got.Said, got.Tokens)
			}
			var b bytes.Buffer
			if err := envharness.WriteTraces(&b, traces); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b.Bytes()
			} else if !bytes.Equal(first, b.Bytes()) {
				t.Error(cmp.Diff(string(first), b.String()))
			}
		}
	})
}

// The conversation is the same however the server answers, and each call is answered by what it led to.
func TestConversation(t *testing.T) {
	both(t, func(t *testing.T, stream bool) {
		var got []string
		replies := []openaitest.Reply{
			{Text: "Let me see.", Calls: []openaitest.Call{{ID: "a", Name: "look", Args: ``}, {ID: "b", Name: "go", Args: ` {"z": 1} `}}},
			{Text: "I am done."},
			calls("fly", `{"x":1}`, "go", `{"z":`, "go", `[1]`, "look", `null`),
			calls("look", `{}`),
		}
		s := serve(t, func(r openaitest.Request) openaitest.Reply {
			got = conversation(r)
			return replies[r.Index]
		}, nil)
		p := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: stream}).Policy(&openai.PolicyOptions{System: "S"})
		refused := turn(2, "a wall")
		refused.Error = &envharness.ActionError{Class: envharness.ClassPrecondition, Message: "there is a wall"}
		for i, step := range []struct {
			turn   envharness.Turn
			action string // or what is wrong
			asked  []string
		}{
			{turn(0, "a room"), "look {}", []string{"system: S", "user: a room"}},
			{turn(1, "a door"), `go  {"z": 1} `, nil},
			{refused, "the answer calls no tool: call one of look, go", []string{
				"assistant: Let me see. <look{}> <go {\"z\": 1} >", "tool: a door", "tool: error (precondition): there is a wall\n\na wall",
			}},
			{turn(3, "call a tool"), `there is no tool "fly": call one of look, go`, []string{"assistant: I am done.", "user: call a tool"}},
			{turn(4, "no fly"), `the arguments of go are not JSON: {"z":`, nil},
			{turn(5, "no JSON"), `the arguments of go are not a JSON object: [1]`, nil},
			{turn(6, "no object"), "look {}", nil},
			{turn(7, "seen"), "look {}", []string{
				"assistant:  <fly{\"x\":1}> <go{}> <go{}> <look{}>", "tool: no fly", "tool: no JSON", "tool: no object", "tool: seen",
			}},
		} {
			before := s.Requests()
			a, err := p.Act(t.Context(), step.turn)
			text := a.String()
			if a.Args != nil {
				text = a.Name + " " + string(a.Args)
			}
			if err != nil {
				text = strings.TrimPrefix(err.Error(), envharness.ErrBadAction.Error()+": ")
				if !errors.Is(err, envharness.ErrBadAction) {
					t.Fatal(err)
				}
			}
			if text != step.action {
				t.Fatalf("turn %d: %q, want %q", i, text, step.action)
			}
			if asked := s.Requests() > before; asked != (step.asked != nil) {
				t.Fatalf("turn %d: asked %v", i, asked)
			}
			if step.asked != nil && !cmp.Equal(got[max(0, len(got)-len(step.asked)):], step.asked) {
				t.Errorf("turn %d: %s", i, cmp.Diff(step.asked, got))
			}
		}
		// A new episode has nothing of the one before, whose calls were not all played.
		replies = append(replies, calls("look", ``, "look", ``), calls("go", ``))
		for range 2 {
			if _, err := p.Act(t.Context(), turn(0, "another room")); err != nil {
				t.Fatal(err)
			}
			if want := []string{"system: S", "user: another room"}; !cmp.Equal(got, want) {
				t.Error(got)
			}
		}
	})
}

// Ids that are missing, there twice or too long are replaced, so that a strict server takes them back: no two of a conversation are equal,
// and those of our own are 9 letters and digits.
func TestIDs(t *testing.T) {
	long := strings.Repeat("x", 41)
	for _, list := range [][]string{{"", ""}, {"a", "a"}, {"call00002", ""}, {"", "call00001"}, {long, long + "y"}, {"a", "a", "", "call00004",
		"call00004"}} {
		var raw, ids []string
		for i, id := range list {
			idField := fmt.Sprintf(`"id":%q,`, id)
			if id == "" && i > 0 {
				idField = ""
			}
			raw = append(raw, fmt.Sprintf(`{%s"function":{"name":"look","arguments":{}}}`, idField))
		}
		s := serve(t, func(r openaitest.Request) openaitest.Reply {
			if r.Index == 0 {
				return openaitest.Reply{Raw: fmt.Appendf(nil, `{"choices":[{"message":{"tool_calls":[%s]}}]}`, strings.Join(raw, ","))}
			}
			if r.Index == 1 {
				return openaitest.Reply{Calls: []openaitest.Call{{ID: list[0], Name: "look", Args: "{}"}}} // once more
			}
			for _, m := range r.Messages {
				for _, k := range m.Calls {
					ids = append(ids, k.ID)
				}
			}
			return calls("look", "{}")
		}, nil)
		p := connect(t, openai.Options{BaseURL: s.BaseURL}).Policy(nil)
		for i := range len(list) + 2 {
			if _, err := p.Act(t.Context(), turn(i, "x")); err != nil {
				t.Fatalf("%q: %v", list, err)
			}
		}
		for i, id := range ids {
			kept := i < len(list) && id == list[i]
			if slices.Contains(ids[:i], id) || !kept && !regexp.MustCompile("^([a-zA-Z0-9]{9}|call_1_0)$").MatchString(id) {
				t.Errorf("%q: %q", list, ids)
			}
		}
		if len(ids) != len(list)+1 || ids[0] != list[0] && list[0] != "" && list[0] != long {
			t.Errorf("%q: %q", list, ids)
		}
	}
}

// Names go to the wire one to one and come back; schemas go there as they are.
func TestNames(t *testing.T) {
	long := strings.Repeat("n", 70)
	tools := []envharness.Tool{
		{Name: "a.b"}, {Name: "a_b"}, {Name: "a b"}, {Name: long + "1"}, {Name: long + "2"}, {Name: "名"}, {Name: "x"}, {Name: "none",
			Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "any", Schema: json.RawMessage(`{}`)},
		{Name: "s", Schema: json.RawMessage(`{"type": "object", "properties": {"z": {"maximum": 10000000000000001}, "a": {}}}`)},
	}
	s := serve(t, func(r openaitest.Request) openaitest.Reply {
		if !strings.Contains(string(r.Body), `{"z":{"maximum":10000000000000001},"a":{}}`) {
			t.Errorf("the schema was changed: %s", r.Body)
		}
		reply := openaitest.Reply{}
		for _, tool := range r.Tools {
			reply.Calls = append(reply.Calls, openaitest.Call{Name: tool.Name, Args: "{}"})
		}
		return reply
	}, nil)
	p := connect(t, openai.Options{BaseURL: s.BaseURL}).Policy(nil)
	for i, want := range append(tools, tools...) {
		a, err := p.Act(t.Context(), envharness.Turn{Index: i, Tools: tools})
		if err != nil || a.Name != want.Name {
			t.Errorf("turn %d: %v, %v, want %s", i, a, err, want.Name)
		}
	}
	if s.Requests() != 2 {
		t.Errorf("%d requests", s.Requests())
	}
	for _, bad := range [][]envharness.Tool{{{Name: "x"}, {Name: "x"}}, {{Name: "x", Schema: json.RawMessage(`{`)}}} {
		if _, err := p.Act(t.Context(), envharness.Turn{Tools: bad}); err == nil {
			t.Errorf("%v was offered", bad)
		}
	}
}

// Each way in which an answer is no action has its error, and the next request is still one that a strict server takes.
func TestAnswersThatAreNoAction(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply openaitest.Reply
		kind  error
		want  string
		say   string // the model's message in the next request
	}{
		{"text", openaitest.Reply{Text: "done"}, envharness.ErrBadAction, "the answer calls no tool", "done"},
		{"nothing", openaitest.Reply{}, envharness.ErrBadAction, "the answer calls no tool", "(no answer)"},
		{"cut off in a call",
			openaitest.Reply{Calls: []openaitest.Call{{Name: "go", Args: `{"z":`}}, Finish: "length", Usage: &openaitest.Usage{Output: 9}},
			envharness.ErrBadAction, "the answer was cut off after 9 tokens", "(no answer)"},
		{"cut off in a text", openaitest.Reply{Text: "First I", Finish: "length"}, envharness.ErrBadAction, "cut off after", "First I"},
		{"refusal", openaitest.Reply{Refusal: "I will not."}, envharness.ErrStop, "the model refuses: I will not.", ""},
		{"filter", openaitest.Reply{Finish: "content_filter"}, envharness.ErrStop, "withheld by a content filter", ""},
		{"too long, by code", openaitest.Reply{Status: 400, Error: openaitest.Error{Code: "context_length_exceeded"}},
			envharness.ErrTokenBudget, "context_length_exceeded", ""},
		{"too long, in words", openaitest.Reply{Status: 400, Error: openaitest.Error{Message: "This model's maximum context length is 5"}},
			envharness.ErrTokenBudget, "status 400", ""},
		{"too long, by type", openaitest.Reply{Status: 400, Error: openaitest.Error{Type: "exceed_context_size_error"}},
			envharness.ErrTokenBudget, "status 400", ""},
		{"400", openaitest.Reply{Status: 400, Error: openaitest.Error{Message: "no such field"}}, envharness.ErrInfra, "no such field", ""},
		{"401", openaitest.Reply{Status: 401}, envharness.ErrInfra, "status 401", ""},
		{"403", openaitest.Reply{Status: 403}, envharness.ErrInfra, "status 403", ""},
		{"404", openaitest.Reply{Status: 404, Error: openaitest.Error{Code: "model_not_found"}}, envharness.ErrInfra, "model_not_found", ""},
		{"429", openaitest.Reply{Status: 429}, envharness.ErrInfra, "(after 5 attempts)", ""},
		{"500", openaitest.Reply{Status: 500}, envharness.ErrInfra, "(after 5 attempts)", ""},
		{"cut", openaitest.Reply{Text: "x", Cut: new(5)}, envharness.ErrInfra, "(after 5 attempts)", ""},
		{"malformed", openaitest.Reply{Raw: []byte("[]")}, envharness.ErrInfra, "not the JSON of a chat completion", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, stream bool) {
				over := false
				s := serve(t, func(r openaitest.Request) openaitest.Reply {
					if !over {
						return c.reply
					}
					if m := r.Messages[2]; m.Role != "assistant" || m.Content != c.say {
						t.Errorf("%+v", m)
					}
					return calls("look", "")
				}, nil)
				p := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: stream}).Policy(nil)
				_, err := p.Act(t.Context(), turn(0, "x"))
				if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("%v, want %q", err, c.want)
				}
				for _, kind := range []error{envharness.ErrBadAction, envharness.ErrStop, envharness.ErrTokenBudget, envharness.ErrInfra} {
					if kind != c.kind && errors.Is(err, kind) {
						t.Errorf("it is also %v", kind)
					}
				}
				if over = true; c.kind == envharness.ErrBadAction {
					if a, err := p.Act(t.Context(), turn(1, "y")); err != nil || a.Name != "look" {
						t.Error(a, err)
					}
				}
			})
		})
	}
}

// A server that fails makes an episode invalid; a model that fails makes it a failure.
func TestVerdicts(t *testing.T) {
	both(t, func(t *testing.T, stream bool) {
		for _, c := range []struct {
			reply  openaitest.Reply
			status envharness.Status
			end    envharness.EndReason
		}{
			{openaitest.Reply{Status: 401}, envharness.Invalid, envharness.EndPolicyInfra},
			{openaitest.Reply{Status: 503}, envharness.Invalid, envharness.EndPolicyInfra},
			{openaitest.Reply{Cut: new(3)}, envharness.Invalid, envharness.EndPolicyInfra},
			{openaitest.Reply{Raw: []byte("<html>")}, envharness.Invalid, envharness.EndPolicyInfra},
			{openaitest.Reply{Refusal: "no"}, envharness.Fail, envharness.EndAgentStop},
			{openaitest.Reply{Status: 400, Error: openaitest.Error{Code: "context_length_exceeded"}}, envharness.Fail, envharness.EndTokenBudget},
			{openaitest.Reply{Text: "I give up"}, envharness.Fail, envharness.EndMaxTurns},
		} {
			s := serve(t, always(c.reply), nil)
			client := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: stream})
			traces, err := envharness.Rollouts(t.Context(), game24.World(nil), nil, func(int) (envharness.Policy, error) {
				return client.Policy(nil), nil
			}, []envharness.Task{{ID: "1,1,4,6"}}, &envharness.RolloutOptions{Reruns: new(0)})
			if err != nil {
				t.Fatal(err)
			}
			if got := traces[0]; got.Verdict.Status != c.status || got.End != c.end {
				t.Errorf("%+v: %v, %v, %s", c.reply, got.Verdict.Status, got.End, got.Cause)
			}
		}
	})
}

func TestAnswer(t *testing.T) {
	var got []string
	s := serve(t, func(r openaitest.Request) openaitest.Reply {
		got = conversation(r)
		return []openaitest.Reply{{Text: "42"}, {Text: "?"}, {Text: "43"}}[r.Index]
	}, nil)
	p := connect(t, openai.Options{BaseURL: s.BaseURL}).Policy(&openai.PolicyOptions{System: "S", Answer: func(text string) (envharness.Action, bool) {
		return envharness.Action{Name: "answer", Args: fmt.Appendf(nil, `{"n":%s}`, text)}, text != "?"
	}})
	if a, err := p.Act(t.Context(), envharness.Turn{}); err != nil || a.String() != `answer {"n":42}` {
		t.Error(a, err)
	}
	if _, err := p.Act(t.Context(), turn(1, "no")); !errors.Is(err, envharness.ErrBadAction) {
		t.Error(err)
	}
	if a, err := p.Act(t.Context(), turn(2, "no tool")); err != nil || a.String() != `answer {"n":43}` {
		t.Error(a, err)
	}
	want := []string{"system: S", "user: (nothing is shown)", "assistant: 42", "user: no", "assistant: ?", "user: no tool"}
	if !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// Offer decides what each request offers; a call of anything else is not played. Called is told what was.
func TestOffer(t *testing.T) {
	var offered, called []string
	s := serve(t, func(r openaitest.Request) openaitest.Reply {
		offered = append(offered, r.Messages[0].Content)
		for _, tool := range r.Tools {
			offered = append(offered, tool.Name)
		}
		for _, field := range []string{`"parallel_tool_calls":false`, `"tool_choice":"required"`} {
			if strings.Contains(string(r.Body), field) != (len(r.Tools) > 0) {
				t.Errorf("%s", r.Body)
			}
		}
		return []openaitest.Reply{calls("look", ""), calls("look", ""), {Text: "x"}}[r.Index]
	}, nil)
	fail := errors.New("no offer")
	p := connect(t, openai.Options{BaseURL: s.BaseURL, NoParallel: true}).Policy(&openai.PolicyOptions{
		System: "S", Require: true, Called: func(name string) { called = append(called, name) },
		Offer: func(_ context.Context, turn envharness.Turn) (string, []envharness.Tool, error) {
			instructions, offered := []string{"", "I", "", ""}, [][]envharness.Tool{turn.Tools, turn.Tools[1:], nil, nil}
			return instructions[turn.Index], offered[turn.Index], []error{nil, nil, nil, fail}[turn.Index]
		},
	})
	var errs []string
	for i := range 4 {
		_, err := p.Act(t.Context(), turn(i, "x"))
		errs = append(errs, fmt.Sprint(err))
	}
	if want := []string{"S", "look", "go", "S\n\nI", "go", "S"}; !cmp.Equal(offered, want) {
		t.Error(cmp.Diff(want, offered))
	}
	bad := envharness.ErrBadAction.Error() + ": "
	want := []string{
		"<nil>", bad + `the tool "look" exists, but is not offered in this turn: call one of go`,
		bad + "the answer calls no tool: there are none now", "no offer",
	}
	if !cmp.Equal(errs, want) || !slices.Equal(called, []string{"look"}) {
		t.Error(cmp.Diff(want, errs), called)
	}
}

// A tool that the turn has and Offer left out is told apart from one that there is not, by its own name and by that on the wire.
func TestNotOffered(t *testing.T) {
	names := []string{"go to", "go", "late one", "plain"}
	turn := func(i int) envharness.Turn {
		t := turn(i, "x")
		t.Tools = nil
		for _, n := range names {
			t.Tools = append(t.Tools, envharness.Tool{Name: n})
		}
		return t
	}
	asked := []string{"go_to", "go", "late one", "plain", "fly", "", "go to", "go_to"}
	s := serve(t, func(r openaitest.Request) openaitest.Reply { return calls(asked[r.Index], "{}") }, nil)
	p := connect(t, openai.Options{BaseURL: s.BaseURL}).Policy(&openai.PolicyOptions{
		Offer: func(_ context.Context, turn envharness.Turn) (string, []envharness.Tool, error) {
			switch turn.Index {
			case 0:
				return "", turn.Tools[:2], nil
			case 7:
				return "", turn.Tools[1:], nil
			}
			return "", turn.Tools[:1], nil
		},
	})
	left := func(name string, rest string) string {
		return fmt.Sprintf("%v: the tool %q exists, but is not offered in this turn: call one of %s", envharness.ErrBadAction, name, rest)
	}
	none := func(name string) string {
		return fmt.Sprintf("%v: there is no tool %q: call one of go_to", envharness.ErrBadAction, name)
	}
	want := []string{
		"<nil>", left("go", "go_to"), left("late one", "go_to"), left("plain", "go_to"), none("fly"), none(""),
		none("go to"), // it is offered, by another name
		left("go_to", "go, late_one, plain"),
	}
	var got []string
	for i := range asked {
		_, err := p.Act(t.Context(), turn(i))
		got = append(got, fmt.Sprint(err))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A request never has more tokens than Context: the episode ends, or the oldest answers are left out with all that followed on them.
func TestContext(t *testing.T) {
	words := func(s string) int { return len(strings.Fields(s)) }
	for _, forget := range []bool{false, true} {
		var kept []int
		s := serve(t, func(r openaitest.Request) openaitest.Reply {
			kept = append(kept, len(r.Messages))
			if r.Messages[0].Content != "the system" || r.Messages[1].Content != "the first" {
				t.Errorf("%v", conversation(r))
			}
			return calls("look", "", "look", "")
		}, nil)
		p := connect(t, openai.Options{BaseURL: s.BaseURL}).Policy(&openai.PolicyOptions{System: "the system", Context: 200, Count: words, Forget: forget})
		var err error
		for i := range 20 {
			shown := "one two three"
			if i == 0 {
				shown = "the first"
			}
			if _, err = p.Act(t.Context(), turn(i, shown)); err != nil {
				break
			}
		}
		if !forget {
			if !errors.Is(err, envharness.ErrTokenBudget) || len(kept) != 4 {
				t.Errorf("%v after %v", err, kept)
			}
			continue
		}
		if err != nil || len(kept) != 10 || kept[9] != 11 || kept[8] != 11 {
			t.Errorf("%v after %v", err, kept)
		}
		if _, err := p.Act(t.Context(), turn(20, strings.Repeat("word ", 200))); !errors.Is(err, envharness.ErrTokenBudget) {
			t.Error(err)
		}
	}
}

// Where the server says that it is too much, older answers are left out as well, half of them at a time.
func TestForgetByTheServersWord(t *testing.T) {
	for _, said := range []openaitest.Error{
		{Code: "context_length_exceeded"},
		{Type: "exceed_context_size_error", Message: "too large"},
		{Message: "This model's maximum context length is 4096 tokens, and 5000 were sent."},
		{Message: "The input is longer than the model's context length (4096 tokens)."},
		{Message: "The decoder prompt (length 5000) is longer than the maximum model length of 4096."},
		{Message: "The model was loaded with a context length of only 4096 tokens."},
	} {
		var kept []int
		s := serve(t, func(r openaitest.Request) openaitest.Reply {
			kept = append(kept, len(r.Messages))
			if len(r.Messages) > 8 {
				return openaitest.Reply{Status: 400, Error: said}
			}
			return calls("look", "")
		}, nil)
		p := connect(t, openai.Options{BaseURL: s.BaseURL}).Policy(&openai.PolicyOptions{Forget: true})
		for i := range 6 {
			if _, err := p.Act(t.Context(), turn(i, "x")); err != nil {
				t.Fatalf("%+v: %v", said, err)
			}
		}
		if want := []int{2, 4, 6, 8, 10, 6, 8}; !cmp.Equal(kept, want) {
			t.Errorf("%+v: %s", said, cmp.Diff(want, kept))
		}
	}
}

func TestShow(t *testing.T) {
	actions := []envharness.Action{{Name: "look"}, {Name: "go", Args: json.RawMessage(`{"z":1}`)}}
	for _, c := range []struct {
		turn envharness.Turn
		want string
	}{
		{envharness.Turn{}, "(nothing is shown)"},
		{envharness.Turn{Shown: envharness.Observation{Text: "a", Data: map[string]any{"x": 1.0}}}, "a"},
		{envharness.Turn{Shown: envharness.Observation{Data: map[string]any{"x": 1.0, "a": nil}}}, `{"a":null,"x":1}`},
		{envharness.Turn{Shown: envharness.Observation{Text: "a", Data: map[string]any{"task": "b"}}}, "Task: b\n\na"},
		{envharness.Turn{Shown: envharness.Observation{Text: "do b", Data: map[string]any{"task": "b"}}}, "do b"},
		{envharness.Turn{Index: 1, Shown: envharness.Observation{Text: "a", Data: map[string]any{"task": "b"}}}, "a"},
		{envharness.Turn{Shown: envharness.Observation{Text: "a", Actions: actions}}, "a\n\nPossible calls:\n- look\n- go {\"z\":1}"},
		{envharness.Turn{Shown: envharness.Observation{Text: "a", Actions: slices.Repeat(actions, 11)}}, "a"},
	} {
		if got := openai.Show(c.turn); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Whatever a model answers, in whatever order, what is sent next is accepted by a strict server, within the budget, and with one message for
// each call.
func TestAnyConversation(t *testing.T) {
	var replies []openaitest.Reply
	s := serve(t, func(openaitest.Request) openaitest.Reply {
		r := replies[0]
		replies = replies[1:]
		return r
	}, nil)
	whole := connect(t, openai.Options{BaseURL: s.BaseURL})
	pieces := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: true})
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(60, 3000).Draw(t, "context")
		c := rapid.SampledFrom([]*openai.Client{whole, pieces}).Draw(t, "client")
		o := openai.PolicyOptions{System: "S", Forget: rapid.Bool().Draw(t, "forget"), Context: limit}
		if rapid.Bool().Draw(t, "answer") {
			o.Answer = func(text string) (envharness.Action, bool) { return envharness.Action{Name: "say"}, len(text)%2 == 0 }
		}
		p := c.Policy(&o)
		call := rapid.Custom(func(t *rapid.T) openaitest.Call {
			return openaitest.Call{
				ID:   rapid.SampledFrom([]string{"", "a", "b", "call00001", "call00002", strings.Repeat("i", 50)}).Draw(t, "id"),
				Name: rapid.OneOf(rapid.SampledFrom([]string{"look", "go"}), rapid.String()).Draw(t, "name"),
				Args: rapid.OneOf(rapid.SampledFrom([]string{"", "{}", "null", "[]", `{"z":1}`, `{"z":`, "\"x\"", "{}{}"}), rapid.String()).Draw(t, "args"),
			}
		})
		reply := rapid.Custom(func(t *rapid.T) openaitest.Reply {
			return openaitest.Reply{
				Text: rapid.String().Draw(t, "text"), Calls: rapid.SliceOfN(call, 0, 4).Draw(t, "calls"),
				Finish: rapid.SampledFrom([]string{"", "stop", "length", "tool_calls"}).Draw(t, "finish"), NoUsage: rapid.Bool().Draw(t, "usage"),
			}
		})
		for i := range rapid.IntRange(1, 12).Draw(t, "turns") {
			replies = []openaitest.Reply{reply.Draw(t, "reply")}
			_, err := p.Act(t.Context(), turn(i, rapid.StringN(0, 60, 200).Draw(t, "shown")))
			if errors.Is(err, envharness.ErrTokenBudget) {
				return
			}
			if err != nil && !errors.Is(err, envharness.ErrBadAction) {
				t.Fatal(err)
			}
		}
		if v := s.Violations(); len(v) > 0 {
			t.Fatal(v)
		}
	})
}
