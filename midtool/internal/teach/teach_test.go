package teach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
)

// weather is a sample of one call as templates write it.
func weather() midtool.Sample {
	return midtool.Sample{
		ID: "single/t_1/1", Family: midtool.Single, Ability: midtool.Grounding, Source: "native", Generator: "template",
		Tools: []midtool.Tool{{Name: "get_weather", Description: "Returns the weather for a city.", Group: "sky-watch",
			Parameters: []byte(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},` +
				`"units":{"enum":["metric","imperial"]}},"required":["city"]}`)}},
		Messages: []midtool.Message{
			{Role: midtool.RoleUser, Content: "Get the weather for the city Oslo and days 12, in metric.", Template: "Get {request}."},
			{Role: midtool.RoleAssistant, Calls: []midtool.Call{{ID: "call_0001", Name: "get_weather",
				Arguments: []byte(`{"city":"Oslo","days":12,"units":"metric"}`)}}},
			{Role: midtool.RoleTool, Content: `{"temp": 7.5, "days": ["mild", "cold"]}`, CallID: "call_0001", Name: "get_weather"},
			{Role: midtool.RoleAssistant, Content: "The temp is 7.5.", Template: "The {name} is {fact}."},
		},
		Evidence: []midtool.Evidence{
			{CallID: "call_0001", Path: "/city", Class: midtool.EvidenceLiteral, Text: "Oslo"},
			{CallID: "call_0001", Path: "/days", Class: midtool.EvidenceLiteral, Text: "12"},
			{CallID: "call_0001", Path: "/units", Class: midtool.EvidenceLiteral, Text: "metric"},
		},
		Plan: &midtool.Plan{Calls: []midtool.Call{{ID: "call_0001", Name: "get_weather",
			Arguments: []byte(`{"city":"Oslo","days":12,"units":"metric"}`)}}},
	}
}

// validate is the check of the pipeline.
func validate(s *midtool.Sample) ([]midtool.Violation, error) {
	var c midtool.Checker
	f, err := c.Check(context.Background(), s)
	s.Evidence = f.Evidence
	return f.Violations, err
}

// say answers with contents in the order of the indexes given.
func say(indexes []int, contents ...string) string {
	type message struct {
		Index   int    `json:"index"`
		Content string `json:"content"`
	}
	var list []message
	for k, i := range indexes {
		list = append(list, message{i, contents[k]})
	}
	b, err := json.Marshal(map[string]any{"messages": list})
	if err != nil {
		panic(err)
	}
	return string(b)
}

const (
	goodUser  = "How will the next 12 days be in Oslo? Metric units, please."
	goodReply = "It is 7.5 degrees there."
)

var both = []int{0, 3}

// script answers each prompt with the next line, and the last one for ever; it keeps the prompts.
func script(prompts *[]string, answers ...string) midtool.Generator {
	return func(ctx context.Context, prompt string) (string, error) {
		*prompts = append(*prompts, prompt)
		return answers[min(len(*prompts), len(answers))-1], nil
	}
}

// Words change, and nothing else does.
func TestRewrite(t *testing.T) {
	given := weather()
	var prompts []string
	teacher := Teacher{Generate: script(&prompts, "```json\n"+say([]int{3, 0}, goodReply, goodUser)+"\n```\n"), Attempts: 3}
	got, rejected, err := teacher.Rewrite(context.Background(), given, validate)
	if rejected != nil || err != nil || len(prompts) != 1 {
		t.Fatalf("%v, %v after %d prompts", rejected, err, len(prompts))
	}
	want := weather()
	want.Generator = "teacher"
	want.Messages[0].Content, want.Messages[0].Template = goodUser, ""
	want.Messages[3].Content, want.Messages[3].Template = goodReply, ""
	got.Evidence, want.Evidence = nil, nil // found anew
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(weather(), given); diff != "" {
		t.Errorf("the sample given has changed (-want +got):\n%s", diff)
	}
}

// Each fault of an answer is told to the model, and is the reason when it does not go away.
func TestRewriteFaults(t *testing.T) {
	for _, tt := range []struct{ name, answer, rule, path, detail, reason string }{
		{"prose", "Sure! " + say(both, goodUser, goodReply), "bad_answer", "", "nothing else", "text before"},
		{"epilogue", say(both, goodUser, goodReply) + "\nDone.", "bad_answer", "", "nothing else", "text after"},
		{"two fences", "```json\n{}\n```\n```json\n" + say(both, goodUser, goodReply) + "\n```", "bad_answer", "", "nothing else",
			"one is taken off"},
		{"open fence", "```json\n" + say(both, goodUser, goodReply), "bad_answer", "", "nothing else", "half a fence is text around"},
		{"fence language", "```python\n" + say(both, goodUser, goodReply) + "\n```", "bad_answer", "", "nothing else", "another language"},
		{"empty", "", "bad_answer", "", "unexpected end", "nothing"},
		{"list", "[]", "bad_answer", "", "want an object", "no object"},
		{"no list", `{"messages":{}}`, "bad_answer", "", "want an object", "wrong kind"},
		{"other key", `{"messages":[],"notes":"x"}`, "bad_answer", "", "want an object", "unknown field"},
		{"other field", `{"messages":[{"index":0,"content":"x","role":"user"}]}`, "bad_answer", "/messages/0", `"index" and "content" alone`,
			"unknown field"},
		{"text index", `{"messages":[{"index":"0","content":"x"}]}`, "bad_answer", "/messages/0/index", "want an integer", "wrong kind"},
		{"fraction", `{"messages":[{"index":0.0,"content":"x"}]}`, "bad_answer", "/messages/0/index", "want an integer",
			"0.0 is no integer literal"},
		{"number content", `{"messages":[{"index":0,"content":5}]}`, "bad_answer", "/messages/0/content", "want a string", "wrong kind"},
		{"blank", say([]int{0, 3}, "  \n", goodReply), "bad_answer", "/messages/0/content", "blank", "nothing said"},
		{"damaged", say([]int{0, 3}, "Oslo\uFFFD", goodReply), "bad_answer", "/messages/0/content", "replacement", "damaged elsewhere"},
		{"missing", say([]int{0}, goodUser), "bad_answer", "/messages", "message 3 is missing", "an index too few"},
		{"extra", say([]int{0, 3, 1}, goodUser, goodReply, "Wait."), "bad_answer", "/messages/2/index", "not to be written",
			"the call has no words"},
		{"result", say([]int{0, 3, 2}, goodUser, goodReply, "{}"), "bad_answer", "/messages/2/index", "not to be written", "results are settled"},
		{"out of range", say([]int{0, 3, 99}, goodUser, goodReply, "x"), "bad_answer", "/messages/2/index", "not to be written",
			"no such message"},
		{"twice", say([]int{0, 0, 3}, goodUser, goodUser, goodReply), "bad_answer", "/messages/1/index", "written twice", "which one?"},
		{"key twice", `{"messages":[{"index":0,"content":"x","content":"` + goodUser + `"},{"index":3,"content":"` + goodReply + `"}]}`,
			"bad_answer", "", "a key is given twice", "which one?"},
		{"large", strings.Repeat(" ", maxAnswer+1), "bad_answer", "", "want at most 1048576", "bounded"},
		{"deep", strings.Repeat("[", 1000), "bad_answer", "", "nested deeper", "bounded"},
		{"bytes", "\xff", "bad_answer", "", "UTF-8", "not a text"},
		{"leak", say(both, "Please get weather for Oslo for 12 days, metric.", goodReply), "leak", "/messages/0", "get weather",
			"the name of the tool"},
		{"group", say(both, "Ask sky watch about Oslo for 12 days, metric.", goodReply), "leak", "/messages/0", "sky watch",
			"the name of its group"},
		{"number", say(both, strings.Replace(goodUser, "12", "14", 1), goodReply), "ungrounded", "/messages/1/calls/0/arguments/days", "12",
			"another number"},
		{"enum", say(both, "How will the next 12 days be in Oslo?", goodReply), "unsaid", "/messages/1/calls/0/arguments/units", "metric",
			"the schema alone supports it"},
		{"wrong fact", say(both, goodUser, "It is 9.5 degrees there."), "new_number", "/messages/3/content", "9.5", "the result says 7.5"},
		{"no fact", say(both, goodUser, "All went well."), "no_fact", "/messages/3/content", "repeats no value", "nothing from the result"},
	} {
		if tt.reason == "" {
			t.Fatalf("%s has no reason", tt.name)
		}
		var prompts []string
		teacher := Teacher{Generate: script(&prompts, tt.answer), Attempts: 3}
		got, rejected, err := teacher.Rewrite(context.Background(), weather(), validate)
		if err != nil || rejected == nil || len(prompts) != 3 || got.ID != "" {
			t.Errorf("%s: %v, %v after %d prompts", tt.name, rejected, err, len(prompts))
			continue
		}
		if rejected.Sample != "single/t_1/1" || rejected.Reason != tt.rule || !strings.HasPrefix(rejected.Path, tt.path) ||
			!strings.Contains(rejected.Detail, tt.detail) {
			t.Errorf("%s: %+v, want %s at %s: %s (%s)", tt.name, *rejected, tt.rule, tt.path, tt.detail, tt.reason)
		}
		// Good words after that are accepted: the fault is in the answer.
		prompts = nil
		teacher.Generate = script(&prompts, tt.answer, say(both, goodUser, goodReply))
		if _, rejected, err := teacher.Rewrite(context.Background(), weather(), validate); rejected != nil || err != nil || len(prompts) != 2 {
			t.Errorf("%s, then good: %v, %v after %d prompts", tt.name, rejected, err, len(prompts))
		}
		if p := prompts[len(prompts)-1]; !strings.Contains(p, "- "+tt.rule) || !strings.HasPrefix(p, prompts[0]) ||
			len(p) > len(prompts[0])+maxShown*6+maxViolations*(maxDetail+10)+200 {
			t.Errorf("%s: the second prompt, of %d bytes, does not say what was wrong", tt.name, len(p))
		}
	}
}

// A model that is broken, wrong or silent costs Attempts calls and the sample, whatever Attempts is.
func TestRewriteAttempts(t *testing.T) {
	down := errors.New("connection refused")
	for _, attempts := range []int{-1, 0, 1, 2, 10} {
		calls := 0
		teacher := Teacher{Attempts: attempts, Generate: func(context.Context, string) (string, error) {
			calls++
			return "", down
		}}
		_, rejected, err := teacher.Rewrite(context.Background(), weather(), validate)
		if err != nil || rejected == nil || rejected.Reason != "teacher" || rejected.Detail != down.Error() || calls != max(1, attempts) {
			t.Errorf("%d attempts: %v, %v after %d calls", attempts, rejected, err, calls)
		}
	}
	// The failure is an attempt, and nothing that the model could learn from.
	var prompts []string
	teacher := Teacher{Attempts: 4, Generate: func(ctx context.Context, p string) (string, error) {
		prompts = append(prompts, p)
		switch len(prompts) {
		case 1, 3:
			return "", down
		case 2:
			return "?", nil
		}
		return say(both, goodUser, goodReply), nil
	}}
	if _, rejected, err := teacher.Rewrite(context.Background(), weather(), validate); rejected != nil || err != nil {
		t.Fatal(rejected, err)
	}
	if prompts[0] != prompts[1] || prompts[1] == prompts[2] || prompts[2] != prompts[3] {
		t.Error("after a failure the same prompt is asked again, after an answer another one")
	}
}

// Prompts after different numbers of answers differ even if the answers do not, so that each has its own answer in a file.
func TestPromptsDiffer(t *testing.T) {
	var prompts []string
	teacher := Teacher{Generate: script(&prompts, "no"), Attempts: 10}
	if _, _, err := teacher.Rewrite(context.Background(), weather(), validate); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, p := range prompts {
		if seen[p] {
			t.Fatalf("asked twice:\n%s", p)
		}
		seen[p] = true
	}
}

func TestRewriteStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	teacher := Teacher{Attempts: 5, Generate: func(ctx context.Context, _ string) (string, error) {
		calls++
		cancel()
		<-ctx.Done() // a slow model
		return "", fmt.Errorf("request: %w", ctx.Err())
	}}
	for range 2 { // in the middle, and before
		_, rejected, err := teacher.Rewrite(ctx, weather(), validate)
		if !errors.Is(err, context.Canceled) || rejected != nil || calls != 1 {
			t.Errorf("%v, %v after %d calls", rejected, err, calls)
		}
	}
	broken := errors.New("executor broke")
	var prompts []string
	teacher.Generate = script(&prompts, say(both, goodUser, goodReply))
	_, rejected, err := teacher.Rewrite(context.Background(), weather(), func(*midtool.Sample) ([]midtool.Violation, error) {
		return nil, broken
	})
	if !errors.Is(err, broken) || rejected != nil || len(prompts) != 1 {
		t.Errorf("check: %v, %v after %d calls", rejected, err, len(prompts))
	}
}

// One teacher serves many samples at once.
func TestRewriteConcurrently(t *testing.T) {
	teacher := Teacher{Attempts: 2, Generate: func(_ context.Context, p string) (string, error) {
		if !strings.Contains(p, "rejected so far") {
			return "?", nil
		}
		return say(both, goodUser, goodReply), nil
	}}
	shared := weather()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if s, rejected, err := teacher.Rewrite(context.Background(), shared, validate); rejected != nil || err != nil ||
				s.Messages[0].Content != goodUser {
				t.Error(rejected, err)
			}
		})
	}
	wg.Wait()
}

// FuzzReadAnswer: what is accepted has a content for each message, and reads the same from the form asked for.
func FuzzReadAnswer(f *testing.F) {
	f.Add(say(both, goodUser, goodReply))
	f.Add("```\n" + say(both, goodReply, goodUser) + "\n```")
	f.Add(`{"messages":[{"index":0,"content":"\ud800"},{"content":"a:\"b","index":3}]}`)
	f.Fuzz(func(t *testing.T, answer string) {
		got, bad := readAnswer(answer, both)
		if bad != nil {
			if bad.Rule != "bad_answer" || bad.Detail == "" {
				t.Fatalf("%+v", *bad)
			}
			return
		}
		again, bad := readAnswer(say(both, got...), both)
		if bad != nil || !cmp.Equal(got, again) {
			t.Fatalf("%q, %v, want %q", again, bad, got)
		}
	})
}

func TestNumbers(t *testing.T) {
	known := make(map[string]bool)
	learn(known, `{"temp": 7.50, "total": "1,200", "date": "2027-03-05", "share": 0.25, "version": "10.3.1"}`)
	for _, tt := range []struct {
		number string
		want   bool
		reason string
	}{
		{"7.5", true, "the same number"}, {"7", false, "not 7.50"}, {"1200", true, "without the comma"}, {"1,200", true, "as it stands"},
		{"5", true, "day of the date"}, {"2027", true, "its year"}, {"25", true, "percent"}, {"3.1", false, "no part of a version"},
		{"10", true, "a part of it"}, {"6", false, "nowhere"}, {"5.7", false, "a point between two that are known"},
	} {
		if got := isKnown(known, tt.number); got != tt.want || tt.reason == "" {
			t.Errorf("%s: %v (%s)", tt.number, got, tt.reason)
		}
	}
}
