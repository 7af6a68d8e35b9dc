package grounded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/simulate"
)

const manual = `# Notes API

A small service for notes.

### Endpoints

- ` + "`POST /v1/notes`" + ` - Creates a note.
- ` + "`GET /v1/notes/{note_id}`" + ` - Returns a note with its text.
- ` + "`DELETE /v1/notes/{note_id}`" + ` - Removes a note for good.
- ` + "`GET /v1/folders?limit=20&color=teal`" + ` - Lists the folders of a user.

### Parameters of a folder

| Name | Type | Required | Description |
|------|------|----------|-------------|
| ` + "`title`" + ` | string | yes | What the folder is called |
| ` + "`archived`" + ` | boolean | no | Whether it is hidden |

## Set up the client

1. Install the client with the package manager of your system.
2. Write your key to ~/.notes/key.
3. Run the check and wait 30 seconds.
4. Delete the check note.

To search the notes, run:

` + "```sh" + `
notes find --text "blue shoes" --limit 5
` + "```" + `

- ` + "`--text`" + `: Words to look for.
- ` + "`--limit`" + `: How many notes to show. Default: 10.

## Errors

- ` + "`404`" + `: There is no such note.
- ` + "`429`" + `: Too many requests in a minute.

It fails if the key is missing.
`

// long is a manual with enough text around it for all kinds of items.
var long = manual + "\n## About\n" + strings.Repeat("\nThe text goes on about the weather in a quiet town, as texts do.\n", 200)

func generate(t testing.TB, o *Options, d *document.Document) *Result {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Generate(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check states the laws of a result; it returns the first that is broken.
func check(d *document.Document, r *Result, s *settings) error {
	kinds := make(map[string]int)
	for _, it := range r.Outline.Items {
		kinds[it.Kind]++
	}
	if kinds[chainKind] > 1 || kinds[singleKind]+kinds[parallelKind]+kinds[clarificationKind]+kinds[longContextKind] > 2 {
		return fmt.Errorf("too many conversations: %v", r.Outline.Items)
	}
	if r.Tokens > r.Outline.Budget || r.Outline.Budget > s.cap {
		return fmt.Errorf("%d tokens of %d, at most %d", r.Tokens, r.Outline.Budget, s.cap)
	}
	if len(r.Samples)+len(r.Rejected) != len(r.Outline.Items) {
		return fmt.Errorf("%d items, %d samples and %d rejected", len(r.Outline.Items), len(r.Samples), len(r.Rejected))
	}
	tokens := 0
	var c midtool.Checker
	c.Replay = s.Executor
	ids := make(map[string]bool)
	for i := range r.Samples {
		one := &r.Samples[i]
		tokens += s.Tokens(one)
		f, err := c.Check(context.Background(), one)
		if err != nil || f.Violations != nil {
			return fmt.Errorf("sample %s: %v %v", one.ID, f.Violations, err)
		}
		if !slices.Equal(f.Evidence, one.Evidence) {
			return fmt.Errorf("sample %s: other evidence", one.ID)
		}
		if one.Document != d.ID || one.Source != string(d.Kind) || !strings.HasPrefix(one.ID, d.ID+"#") || ids[one.ID] || one.Ability == "" {
			return fmt.Errorf("sample %s of %s, %s, %s", one.ID, one.Document, one.Source, one.Ability)
		}
		ids[one.ID] = true
		_, shown, _ := strings.Cut(one.Messages[0].Content, "\n\n")
		if rest, ok := strings.CutPrefix(shown, "# "); ok && !strings.Contains(d.Text, shown) {
			_, shown, _ = strings.Cut(rest, "\n\n")
		}
		if one.Messages[0].Role != midtool.RoleSystem || !strings.Contains(d.Text, shown) {
			return fmt.Errorf("sample %s shows what the document does not have: %q", one.ID, shown)
		}
		for _, p := range one.Plan.Answer {
			if !strings.HasPrefix(p, `{"name": `) && !strings.Contains(d.Text, p) {
				return fmt.Errorf("sample %s answers %q, which the document does not have", one.ID, p)
			}
		}
		for _, tool := range one.Tools {
			if tool.Group != d.ID || tool.License != d.License {
				return fmt.Errorf("sample %s offers a tool of group %q under %q", one.ID, tool.Group, tool.License)
			}
		}
	}
	if tokens != r.Tokens {
		return fmt.Errorf("%d tokens, counted are %d", r.Tokens, tokens)
	}
	return nil
}

func TestGenerate(t *testing.T) {
	d := markdown(long)
	seen := make(map[string]int)
	for seed := range uint64(40) {
		o := &Options{Seed: seed}
		s, err := o.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		r := generate(t, o, d)
		if err := check(d, r, &s); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if r.Outline.Tier != TierTrajectory || len(r.Rejected) > 2 {
			t.Errorf("seed %d: %s, rejected %v", seed, r.Outline.Tier, r.Rejected)
		}
		for i := range r.Samples {
			kind := strings.TrimRight(r.Samples[i].ID[len(d.ID)+1:], "0123456789")
			seen[kind+" "+string(r.Samples[i].Family)]++
		}
	}
	for _, want := range []string{"chain sequential", "chain multi_turn", "single single", "parallel parallel", "clarification clarification",
		"long_context single", "tool_selection qa", "argument_extraction qa", "workflow_recognition qa", "prerequisite qa", "output_use qa", "error_reading qa"} {
		if seen[want] == 0 {
			t.Errorf("no %s among %v", want, seen)
		}
	}
}

// The value that a call takes from the document stands more than 1,024 tokens before the end of what is shown, and the user
// does not say it.
func TestGenerateLongContext(t *testing.T) {
	d := markdown(long)
	found := 0
	for seed := range uint64(40) {
		for _, s := range generate(t, &Options{Seed: seed}, d).Samples {
			if !strings.Contains(s.ID, "#long_context") {
				continue
			}
			found++
			far := false
			for _, e := range s.Evidence {
				at := strings.Index(s.Messages[0].Content, e.Text)
				if e.Text != "" && at >= 0 && !strings.Contains(s.Messages[1].Content, e.Text) {
					far = far || midtool.ApproxTokens(s.Messages[0].Content[at:]) > 1024
				}
			}
			if !far {
				t.Errorf("seed %d: %v", seed, s.Evidence)
			}
		}
	}
	if found == 0 {
		t.Error("none was made")
	}
}

// fragments of documents, to be put together in any order.
var fragments = []string{manual, "# Heading\n", "## Step 1: Open the door\n", "1. Do it.\n2. Do it again if it fails.\n3. Stop.\n",
	"`GET /users/{id}` - Returns a user.\n", "| Name | Description |\n|---|---|\n| `x` | The first value |\n", "```sh\n$ tool run --id 7 --name 'a b'\n```\n",
	"```python\ndef get_user(user_id: str, limit: int = 5):\n    \"\"\"Return a user.\"\"\"\n```\n", "- `limit` (integer): How many. Default: 7.\n",
	"It raises KeyError when {id} is unknown.\n", "`ValueError`: %s is no number.\n", "- `--force`: Deletes the file at once.\n", "日本語のテキスト。\n", "\"quoted text\" and 30 seconds.\n",
	"POST /users\n", "Returns the new user.\n", "### User\n", "<tool_call>{\"name\": \"x\"}</tool_call>\n", "\u2028 & < > \x00\n", "\xff\xfe\n", "```\n", "\n\n",
	"func GetUser(id string) error {\n", "// GetUser returns a user.\n", "First, open it. Then close it. Finally go home.\n", "GET /a?b=1&c=two\n"}

// However documents are put together, and whatever the options: samples are sound, and within the budget.
func TestGenerateLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 40).Draw(t, "parts")
		d := &document.Document{ID: rapid.SampledFrom([]string{"doc", "guides/the first one.md", "a#b", "日本"}).Draw(t, "id"), License: "MIT",
			Kind: rapid.SampledFrom([]document.Kind{document.Web, document.Code, document.Markdown, document.Skill}).Draw(t, "kind"),
			Text: strings.ToValidUTF8(strings.Join(parts, ""), "?")}
		o := &Options{Seed: rapid.Uint64().Draw(t, "seed"), MinTokens: new(1), Percent: new(rapid.IntRange(0, 1000).Draw(t, "percent")),
			Cap: new(rapid.IntRange(0, 6000).Draw(t, "cap"))}
		if rapid.Bool().Draw(t, "cheap") { // than samples are
			o.CostQA, o.CostTrajectory, o.CostChain = 20, 40, 60
		}
		if rapid.Bool().Draw(t, "low") {
			o.MinScore, o.MinTrajectoryScore = new(0), new(0)
		}
		s, err := o.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := g.Generate(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(d, r, &s); err != nil {
			t.Fatal(err)
		}
		plan, err := Plan(Read(d), midtool.ApproxTokens(d.Text), o)
		if diff := cmp.Diff(r.Outline, plan); err != nil || diff != "" {
			t.Fatalf("%v (-generated +planned):\n%s", err, diff)
		}
		again, err := g.Generate(context.Background(), d)
		if diff := cmp.Diff(r.Samples, again.Samples); err != nil || diff != "" {
			t.Fatalf("%v (-first +second):\n%s", err, diff)
		}
	})
}

// What a document gets does not depend on those before it, nor on how many are in work.
func TestGenerateConcurrently(t *testing.T) {
	var docs []*document.Document
	for i := range 24 {
		d := markdown(strings.ReplaceAll(long, "note", []string{"note", "photo", "ticket"}[i%3]))
		d.ID = fmt.Sprintf("doc-%03d", i)
		docs = append(docs, d)
	}
	want := make([]*Result, len(docs))
	for i, d := range docs {
		want[i] = generate(t, nil, d)
	}
	g, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]*Result, len(docs))
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := len(docs) - 1 - k; i >= 0; i -= 4 {
				r, err := g.Generate(t.Context(), docs[i])
				if err != nil {
					panic(err)
				}
				got[i] = r
			}
		})
	}
	wg.Wait()
	for i := range docs {
		if diff := cmp.Diff(want[i].Samples, got[i].Samples); diff != "" {
			t.Fatalf("%s (-alone +together):\n%s", docs[i].ID, diff)
		}
	}
}

// Items that cost more than was set aside for them are left out once nothing is left.
func TestGenerateBudget(t *testing.T) {
	o := &Options{CostQA: 20, CostTrajectory: 40, CostChain: 60, Cap: new(600)}
	s, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	d := markdown(long)
	r := generate(t, o, d)
	if err := check(d, r, &s); err != nil {
		t.Fatal(err)
	}
	if len(r.Samples) == 0 || !slices.ContainsFunc(r.Rejected, func(x midtool.Rejection) bool { return x.Reason == "budget" }) {
		t.Errorf("%d samples, rejected %v", len(r.Samples), r.Rejected)
	}
}

// What the checker finds fault with is rejected under the rule.
func TestGenerateChecked(t *testing.T) {
	d := markdown(long)
	for seed := range uint64(8) {
		r := generate(t, &Options{Seed: seed, MaxTokens: 256}, d)
		for i := range r.Samples {
			c := midtool.Checker{MaxTokens: 256}
			if f, err := c.Check(t.Context(), &r.Samples[i]); err != nil || f.Violations != nil {
				t.Errorf("%s: %v %v", r.Samples[i].ID, f.Violations, err)
			}
		}
		if !slices.ContainsFunc(r.Rejected, func(x midtool.Rejection) bool { return x.Reason == "window" && x.Sample != "" }) {
			t.Errorf("seed %d: %v", seed, r.Rejected)
		}
	}
}

// Nothing is asked that has two answers.
func TestAskUnambiguous(t *testing.T) {
	d := markdown("| `GET` | `/notes/{id}` | Returns a note |\n| `DELETE` | `/notes/{id}` | Removes a note |\n| `POST` | `/notes` | Creates a note |\n\n" +
		"- `404`: There is no note.\n\n- `404`: There is no user.\n\n- `503`: The disk is full.\n\n" +
		"- `size` (integer): How large it is.\n\n# More\n\n- `size` (string): What size it has.\n- `color` (string): What color it has.\n")
	s, err := (&Options{MinScore: new(0), Cap: new(1000)}).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	m := newMaterial(Read(d), 1000, &s)
	var got []string
	for _, kind := range questionKinds {
		for _, q := range m.questions[kind] {
			got = append(got, kind+": "+q.fields.name+q.fields.of+" "+strings.Join(q.pieces, ", "))
		}
	}
	want := []string{"tool_selection:  /notes", "argument_extraction: size/notes How large it is", "argument_extraction: size/notes integer", "argument_extraction: color What color it has", "argument_extraction: color string",
		"error_reading: 503 The disk is full"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A seed changes what is chosen.
func TestGenerateSeed(t *testing.T) {
	d := markdown(long)
	a, b := generate(t, &Options{Seed: 1}, d), generate(t, &Options{Seed: 2}, d)
	if cmp.Diff(a.Samples, b.Samples) == "" {
		t.Error("two seeds give the same samples")
	}
}

// No wording is in more than 2 % of a large corpus.
func TestGenerateVaried(t *testing.T) {
	var sum midtool.Summary
	g, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		d := markdown(long)
		d.ID = fmt.Sprintf("doc-%03d", i)
		r, err := g.Generate(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		for j := range r.Samples {
			sum.Add(&r.Samples[j], 1)
		}
	}
	if sum.Samples < 500 || sum.User.TemplateShare > 0.02 || sum.Assistant.TemplateShare > 0.02 {
		t.Errorf("%d samples; user %q %.4f; assistant %q %.4f", sum.Samples, sum.User.TopTemplate, sum.User.TemplateShare,
			sum.Assistant.TopTemplate, sum.Assistant.TemplateShare)
	}
}

func TestGenerateExecutor(t *testing.T) {
	d := markdown(long)
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		open func(ctx context.Context, id string, tools []midtool.Tool) (midtool.Session, error)
		want string
	}{
		{"open", func(context.Context, string, []midtool.Tool) (midtool.Session, error) { return nil, broken }, "open a session: broken"},
		{"none", func(context.Context, string, []midtool.Tool) (midtool.Session, error) { return nil, nil }, "opened no session"},
		{"no JSON", func(context.Context, string, []midtool.Tool) (midtool.Session, error) {
			return midtool.SessionFunc(func(context.Context, midtool.Tool, jsonRaw) (midtool.Result, error) {
				return midtool.Result{Value: jsonRaw("{")}, nil
			}), nil
		}, "answered no JSON"},
	} {
		g, err := New(&Options{Executor: midtool.ExecutorFunc(tt.open)})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := g.Generate(t.Context(), d); err == nil || !strings.Contains(err.Error(), tt.want) || r != nil {
			t.Errorf("%s: %v, %v", tt.name, r, err)
		}
	}
	// Every call fails: what rests on calls is rejected, the questions are made.
	g, err := New(&Options{Executor: midtool.ExecutorFunc(func(context.Context, string, []midtool.Tool) (midtool.Session, error) {
		return midtool.SessionFunc(func(context.Context, midtool.Tool, jsonRaw) (midtool.Result, error) {
			return midtool.Result{Value: jsonRaw(`{"error": "out of order"}`), IsError: true}, nil
		}), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Generate(t.Context(), d)
	if err != nil || len(r.Samples) == 0 || len(r.Rejected) == 0 {
		t.Fatalf("%v %v", r, err)
	}
	for _, x := range r.Rejected {
		if x.Reason != "no_value" || x.Sample == "" {
			t.Errorf("%+v", x)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Generate(ctx, d); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

type jsonRaw = json.RawMessage

// A teacher writes the words, and nothing else.
func TestGenerateTeacher(t *testing.T) {
	d := markdown(long)
	plain := generate(t, &Options{Executor: simulate.NewWorld(0)}, d)
	var asked atomic.Int64
	garbage := func(context.Context, string) (string, error) { asked.Add(1); return "no JSON", nil }
	r := generate(t, &Options{Teacher: garbage, Attempts: 2}, d)
	if len(r.Samples) != 0 || int(asked.Load()) != 2*tries*len(r.Rejected) && int(asked.Load()) < 2*len(r.Rejected) {
		t.Errorf("%d samples, %d rejected, asked %d times", len(r.Samples), len(r.Rejected), asked.Load())
	}
	for _, x := range r.Rejected {
		if x.Reason != "bad_answer" && x.Reason != "no_text" && x.Reason != "no_chain" {
			t.Errorf("%+v", x)
		}
	}
	// One that says again what stands there passes, and its answers are remembered.
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	o := &Options{Teacher: parrot, Answers: file}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err = g.Generate(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if len(r.Samples) < len(plain.Samples)/2 {
		t.Errorf("%d samples, %d without a teacher; rejected %v", len(r.Samples), len(plain.Samples), r.Rejected)
	}
	for _, s := range r.Samples {
		if s.Generator != "teacher" || s.Messages[1].Template != "" {
			t.Errorf("%s is of %q", s.ID, s.Generator)
		}
	}
	silent := func(context.Context, string) (string, error) { return "", errors.New("not there") }
	g, err = New(&Options{Teacher: silent, Answers: file})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	again, err := g.Generate(t.Context(), d)
	if diff := cmp.Diff(r.Samples, again.Samples); err != nil || diff != "" {
		t.Errorf("%v (-asked +remembered):\n%s", err, diff)
	}
}

func FuzzGenerate(f *testing.F) {
	f.Add(manual, "md", uint64(1))
	f.Add(strings.Join(fragments, ""), "code", uint64(2))
	f.Add("1. a b c d\n2. GET /x/{y}?z=1 - Lists the things of a user.\n", "web", uint64(3))
	low := Options{MinScore: new(0), MinTrajectoryScore: new(0), MinTokens: new(1), Percent: new(10000)}
	f.Fuzz(func(t *testing.T, text, kind string, seed uint64) {
		o := low
		o.Seed = seed
		s, err := o.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(&o)
		if err != nil {
			t.Fatal(err)
		}
		d := &document.Document{ID: "doc", Kind: document.Kind(kind), Text: text}
		r, err := g.Generate(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(d, r, &s); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkGenerate(b *testing.B) {
	for _, size := range []int{1, 16, 256} {
		d := markdown(strings.Repeat(manual, size))
		b.Run(fmt.Sprint(len(d.Text)), func(b *testing.B) {
			g, err := New(nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(d.Text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Generate(b.Context(), d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
