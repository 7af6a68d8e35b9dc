package native

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schematest"
	"github.com/throughline-go/throughline/midtool/simulate"
	"pgregory.net/rapid"
)

// Every planned sample is kept or rejected, every family occurs, and each sample is sound when it is looked at anew and
// its calls are made again.
func TestGenerate(t *testing.T) {
	const n = 600
	c := generate(t, shop(), &Options{Samples: n})
	if c.Tools != 9 || len(c.Samples) != c.Kept || c.Kept+len(c.Rejected) != n || len(c.Rejected) > n/10 {
		t.Fatalf("%d tools, %d samples, rejected %v", c.Tools, c.Kept, c.Reasons())
	}
	planned := 0
	for _, n := range c.Planned {
		planned += n
	}
	if planned != n || c.Planned[midtool.Recovery] == 0 {
		t.Errorf("planned %v", c.Planned)
	}
	check := midtool.Checker{Replay: simulate.NewWorld(0)}
	counts := make(map[midtool.Family]int)
	abilities := make(map[midtool.Ability]int)
	classes := make(map[midtool.EvidenceClass]int)
	tokens := 0
	ids := make(map[string]bool)
	for _, s := range c.Samples {
		found, err := check.Check(context.Background(), &s)
		if err != nil || found.Violations != nil {
			t.Fatalf("%s: %v, %v", s.ID, err, found.Violations)
		}
		if diff := cmp.Diff(found.Evidence, s.Evidence); diff != "" || ids[s.ID] {
			t.Errorf("%s: other evidence, or a second time:\n%s", s.ID, diff)
		}
		ids[s.ID] = true
		tokens += found.Tokens
		counts[s.Family]++
		abilities[s.Ability]++
		for _, e := range s.Evidence {
			classes[e.Class]++
		}
		if s.Source != "native" || s.Generator != "template" {
			t.Errorf("%s: source %q, generator %q", s.ID, s.Source, s.Generator)
		}
	}
	if tokens != c.Tokens {
		t.Errorf("Tokens %d, counted %d", c.Tokens, tokens)
	}
	for _, f := range families {
		if counts[f] == 0 {
			t.Errorf("no sample of family %s: %v", f, counts)
		}
	}
	for _, a := range []midtool.Ability{midtool.Affordance, midtool.Grounding, midtool.Composition, midtool.Recover} {
		if abilities[a] < n/20 {
			t.Errorf("%d samples for ability %s: %v", abilities[a], a, abilities)
		}
	}
	for _, class := range []midtool.EvidenceClass{midtool.EvidenceLiteral, midtool.EvidenceNormalized, midtool.EvidenceToolResult,
		midtool.EvidenceEnumDefault, midtool.EvidenceDerived} {
		if classes[class] == 0 {
			t.Errorf("no evidence of class %s: %v", class, classes)
		}
	}
}

// The order of the tools and the number of workers change no byte; another seed changes the choices; a callback sees
// what would be collected.
func TestGenerateDeterminism(t *testing.T) {
	bad := []midtool.Tool{{Name: "x", License: "GPL-2.0-only"}, {Name: "y"}, {Name: "y", Group: "z"}, {}}
	tools := append(shop(), bad...)
	want := encode(t, generate(t, tools, &Options{Samples: 200}))
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, workers := range []int{1, 2, 3, 8} {
		rnd.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		if got := encode(t, generate(t, tools, &Options{Samples: 200, Workers: workers})); got != want {
			t.Fatalf("%d workers and another order of the tools changed the corpus", workers)
		}
	}
	if encode(t, generate(t, tools, &Options{Samples: 200, Seed: 1})) == want {
		t.Error("another seed changed nothing")
	}
	var emitted midtool.Corpus
	c := generate(t, tools, &Options{Samples: 200, Workers: 2, Emit: func(s midtool.Sample) error {
		emitted.Samples = append(emitted.Samples, s)
		return nil
	}})
	if emitted.Rejected = c.Rejected; c.Samples != nil || c.Kept != len(emitted.Samples) || encode(t, &emitted) != want {
		t.Error("the callback saw other samples")
	}
}

// Of tools with one ID the same is kept in either order, whatever they differ in.
func TestGenerateKeepsOne(t *testing.T) {
	base := midtool.Tool{Name: "get_thing", License: "MIT", Parameters: []byte(`{"properties":{"a":{"type":"string"},"b":{"type":"integer"}}}`)}
	for _, tt := range []struct {
		change func(o *midtool.Tool)
		reason string
	}{
		{func(o *midtool.Tool) { o.Returns = []byte(`{"type":"integer"}`) }, "other results"},
		{func(o *midtool.Tool) { o.License = "ISC" }, "another license in the sample's"},
		{func(o *midtool.Tool) { o.ReadOnly = true }, "another rule for equal calls"},
		{func(o *midtool.Tool) { o.Hints.Destructive = new(false) }, "a hint, kept in the sample"},
		{func(o *midtool.Tool) { o.Hints.OpenWorld = new(true) }, "another hint"},
		{func(o *midtool.Tool) { o.Title = "Thing" }, "kept in the sample"},
		{func(o *midtool.Tool) { o.Group = "other" }, "another group"},
		{func(o *midtool.Tool) {
			o.Parameters = []byte(`{"properties":{"b":{"type":"integer"},"a":{"type":"string"}}}`)
		}, "another order of keys, the same ID"},
	} {
		other := base
		tt.change(&other)
		a := generate(t, []midtool.Tool{base, other}, nil)
		b := generate(t, []midtool.Tool{other, base}, nil)
		if diff := cmp.Diff(a, b); diff != "" || a.Tools != 1 {
			t.Errorf("%s (-one +other):\n%s", tt.reason, diff)
		}
	}
}

func TestGenerateRejects(t *testing.T) {
	tool := func(name, license, params string) midtool.Tool {
		return midtool.Tool{Name: name, License: license, Parameters: []byte(params), Description: "Does the thing called " + name + "."}
	}
	tools := []midtool.Tool{
		tool("ok", "MIT", `{}`), tool("ok", "MIT", `{}`), tool("copyleft", "GPL-3.0-only", `{}`), tool("silent", "", `{}`), tool("", "MIT", `{}`),
		tool("remote", "MIT", `{"properties":{"a":{"$ref":"http://x/y"}}}`),
		tool("lookahead", "MIT", `{"properties":{"a":{"pattern":"(?=a)"}}}`),
		tool("upload", "MIT", `{"properties":{"f":{"type":"file"}},"required":["f"]}`),
		tool("endless", "MIT", `{"properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"],"$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"]}}}`),
		tool("huge", "MIT", `{"description":"`+strings.Repeat("word ", 9000)+`"}`),
	}
	c := generate(t, tools, &Options{Samples: 8, Shares: map[midtool.Family]int{midtool.Single: 1}})
	got := make(map[string]string)
	for _, r := range c.Rejected {
		if got[r.Tool] = r.Reason; r.Sample != "" {
			got[r.Sample] = r.Reason
		}
		if !strings.Contains(r.Error(), r.Reason) {
			t.Errorf("%q does not name %q", r.Error(), r.Reason)
		}
	}
	for tool, reason := range map[string]string{"ok": "duplicate", "copyleft": "license", "silent": "license", "": "no_value", "remote": "remote_ref",
		"lookahead": "pattern_unsupported", "huge": "window"} {
		if got[tool] != reason && !(tool == "" && c.Reasons()["no_name"] == 1) {
			t.Errorf("%q: rejected for %q, want %q", tool, got[tool], reason)
		}
	}
	if c.Reasons()["no_value"] == 0 || c.Kept == 0 || c.Tools != 3 {
		t.Errorf("%d samples of %d tools, %v", c.Kept, c.Tools, c.Reasons())
	}
	for _, tt := range []struct {
		o    Options
		want int
	}{{Options{Own: true}, 1}, {Options{}, 0}, {Options{Licenses: []string{"GPL-3.0-only"}, Own: true}, 2}, {Options{Licenses: []string{}}, 0}} {
		tt.o.MinQuality = new(0.0)
		if c := generate(t, tools[2:4], &tt.o); c.Tools != tt.want {
			t.Errorf("%+v: %d tools, want %d", tt.o, c.Tools, tt.want)
		}
	}
	if c := generate(t, nil, nil); c.Kept != 0 || len(c.Rejected) != 0 {
		t.Errorf("no tools: %+v", c)
	}
}

// A group of poor definitions is left out as a whole, and said to be.
func TestGroupQuality(t *testing.T) {
	poor := midtool.Tool{Name: "x", Group: "poor", License: "MIT", Parameters: []byte(`{"properties":{"a":{"type":"wat"}}}`)}
	also := poor
	also.Name = "y"
	c := generate(t, append(shop(), poor, also), &Options{Samples: 20, MinQuality: new(0.5)})
	if c.Reasons()["group_quality"] != 2 || c.Tools != 9 {
		t.Errorf("%d tools, %v", c.Tools, c.Reasons())
	}
	gr := &group{tools: []*tool{
		{Tool: midtool.Tool{Description: "Twenty characters, at least."}, params: []parameter{{described: true}, {}}},
		{Tool: midtool.Tool{Description: "Short.", Lossy: []string{"items_added"}}, params: make([]parameter, 16)},
	}}
	// 1 of 2 long, 1 of 18 described, 1 of 2 lossless, 1 of 2 with few parameters, 2 of 2 distinct.
	if got, want := gr.quality(), (0.5+1.0/18+0.5+0.5+1)/5; math.Abs(got-want) > 1e-12 {
		t.Errorf("quality %v, want %v", got, want)
	}
}

func TestGenerateOptions(t *testing.T) {
	_, err := Generate(context.Background(), shop(), &Options{Samples: -1, MaxTokens: 100, OptionalProb: new(math.NaN()), MinQuality: new(1.5),
		TeacherShare: new(-0.1), Attempts: 11, Workers: -2, BudgetCap: -1, Answers: "x", Shares: map[midtool.Family]int{"poetry": 1, midtool.Single: -1}})
	for _, part := range []string{"Samples -1", "MaxTokens 100", "OptionalProb NaN", "MinQuality 1.5", "TeacherShare -0.1", "Attempts 11", "Workers -2",
		"BudgetCap -1", "Answers", `"poetry"`, "-1 of single"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not name %s", err, part)
		}
	}
	if _, err := Generate(context.Background(), nil, &Options{Shares: map[midtool.Family]int{}}); err == nil {
		t.Error("no family has a share, and no error")
	}
	for _, p := range []float64{0, 1} {
		c := generate(t, shop(), &Options{OptionalProb: &p, Samples: 60, Shares: map[midtool.Family]int{midtool.Single: 1}})
		for _, s := range c.Samples {
			if call := s.Plan.Calls[0]; call.Name == "list_orders" && strings.Contains(string(call.Arguments), "limit") != (p == 1) {
				t.Errorf("probability %v: %s", p, call.Arguments)
			}
		}
	}
}

// A canceled context, a failing callback and a failing executor end the work with their error and no corpus.
func TestGenerateStops(t *testing.T) {
	boom := errors.New("boom")
	for name, o := range map[string]*Options{
		"callback": {Samples: 10, Emit: func(midtool.Sample) error { return boom }},
		"open": {Samples: 10, Executor: midtool.ExecutorFunc(func(context.Context, string, []midtool.Tool) (midtool.Session, error) {
			return nil, boom
		})},
		"execute": {Samples: 10, Executor: answering(midtool.Result{}, boom)},
		"no JSON": {Samples: 10, Executor: answering(midtool.Result{Value: []byte(`{"a":`)}, nil)},
	} {
		c, err := Generate(context.Background(), shop(), o)
		if c != nil || err == nil || name != "no JSON" && !errors.Is(err, boom) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	c, err := Generate(ctx, shop(), &Options{Samples: 2000, Workers: 2, Progress: func(done, total int) {
		if calls++; total != 2000 || done <= 0 || done > total {
			t.Errorf("progress %d of %d", done, total)
		}
		cancel()
	}})
	if c != nil || !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v, %v after %d calls", c, err, calls)
	}
}

func answering(r midtool.Result, err error) midtool.Executor {
	return midtool.ExecutorFunc(func(context.Context, string, []midtool.Tool) (midtool.Session, error) {
		return midtool.SessionFunc(func(context.Context, midtool.Tool, json.RawMessage) (midtool.Result, error) { return r, err }), nil
	})
}

// A tool of the caller's that always fails gives no sample that says it went well.
func TestExecutorFails(t *testing.T) {
	c := generate(t, shop(), &Options{Samples: 40, Executor: answering(midtool.Result{Value: []byte(`{"error":"down"}`)}, nil)})
	for _, s := range c.Samples {
		if s.Family != midtool.Irrelevance {
			t.Errorf("%s is kept", s.ID)
		}
	}
	if c.Reasons()["no_value"] == 0 {
		t.Errorf("rejected %v", c.Reasons())
	}
}

// One string argument changed to a fresh one has no evidence, in any family.
func TestChangedArgumentIsUngrounded(t *testing.T) {
	c := generate(t, shop(), &Options{Samples: 200})
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(c.Samples).Draw(t, "sample")
		fresh := rapid.StringMatching(`[a-z]{12,20}`).Draw(t, "fresh")
		s.Messages = slices.Clone(s.Messages)
		for i := range s.Messages {
			m := &s.Messages[i]
			if len(m.Calls) == 0 || m.Untrained {
				continue
			}
			call := m.Calls[0]
			args, _ := jsonval.Parse(call.Arguments)
			at := slices.IndexFunc(args.Members, func(m jsonval.Member) bool { return m.Value.Kind == jsonval.String && m.Key != "reason" })
			if at < 0 {
				continue
			}
			args.Members[at].Value = jsonval.NewString(fresh)
			call.Arguments = args.Bytes(jsonval.Compact)
			m.Calls = append([]midtool.Call{call}, m.Calls[1:]...)
			path := fmt.Sprintf("/messages/%d/calls/0/arguments/%s", i, args.Members[at].Key)
			v := midtool.Validate(s)
			if !slices.ContainsFunc(v, func(v midtool.Violation) bool { return v.Rule == "ungrounded" && v.Path == path }) {
				t.Fatalf("%s: %v", call.Arguments, v)
			}
			return
		}
	})
}

// Whatever the normalizer accepts, calls made for it validate and are grounded, and nothing panics.
func TestAnySchemaGenerates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tool := midtool.Tool{Name: "get_thing", Description: "Returns a thing.", Parameters: toJSON(schematest.Schema(2).Draw(t, "schema")),
			Returns: toJSON(schematest.Schema(1).Draw(t, "returns"))}
		c, err := Generate(context.Background(), []midtool.Tool{tool}, &Options{Samples: 3, Own: true, MinQuality: new(0.0)})
		if err != nil {
			t.Fatal(err)
		}
		if c.Kept+len(c.Rejected) != 3 && c.Tools != 0 {
			t.Fatalf("%d samples, %v", c.Kept, c.Reasons())
		}
	})
}

// Schemas of a few kilobytes whose naive reading takes for ever: finding, laying over and making end all the same.
func TestHostileSchemas(t *testing.T) {
	refs := strings.Repeat(`{"$ref":"#/$defs/d"},`, 300)
	for _, tt := range []struct{ name, d, reason string }{
		{"union", `{"type":"string","anyOf":[` + refs + `{"type":"string"}]}`, "300^4 paths to a default or a member"},
		{"object union", `{"type":"object","properties":{"y":{"type":"string"}},"anyOf":[{"required":["y"]},` + refs + `{}]}`, "the same for a member"},
		{"allOf", `{"allOf":[` + refs + `{"type":"string"}]}`, "300^8 schemas to lay over each other"},
		{"recursion", `{"type":"object","properties":{"y":{"anyOf":[` + refs + `{"$ref":"#/$defs/d"}]}},"required":["y"]}`, "8^8 ways to run out of depth"},
		{"pattern", `{"type":"string","pattern":"` + strings.Repeat("(", 40) + strings.Repeat(")*", 40) + `"}`, "4^40 repetitions of nothing"},
		{"enum", `{"type":"array","items":{"enum":[` + strings.Repeat(`"aaaa",`, 5000) + `"b"]}}`, "linear per value"},
	} {
		raw := `{"type":"object","properties":{"x":{"$ref":"#/$defs/d"}},"required":["x"],"$defs":{"d":` + tt.d + `}}`
		c := generate(t, []midtool.Tool{{Name: "get_thing", Parameters: []byte(raw)}}, &Options{Samples: 1, Own: true, MinQuality: new(0.0), MaxTokens: 1 << 20})
		if c.Kept+len(c.Rejected) != 1 || tt.reason == "" {
			t.Errorf("%s: %d samples, rejected %v", tt.name, c.Kept, c.Reasons())
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, n := range []int{1000, 10000, 100000} {
			b.Run(fmt.Sprintf("workers=%d/samples=%d", workers, n), func(b *testing.B) {
				b.ReportAllocs()
				kept := 0
				for b.Loop() {
					c := generate(b, shop(), &Options{Samples: n, Workers: workers, Emit: func(midtool.Sample) error { return nil }})
					kept += c.Kept
				}
				b.ReportMetric(float64(kept)/b.Elapsed().Seconds(), "samples/s")
			})
		}
	}
}

// What is written with its metadata and read back is checked and replayed as it was made.
func TestReadBack(t *testing.T) {
	tools := shop()
	tools[0].Returns = []byte(`{"type":"object","properties":{"order_id":{"type":"string"},"total":{"type":"number"}},"required":["order_id","total"]}`)
	c := generate(t, tools, &Options{Samples: 200})
	var b bytes.Buffer
	if err := midtool.WriteMessages(&b, c.Samples, &midtool.MessageOptions{Meta: true}); err != nil {
		t.Fatal(err)
	}
	check := midtool.Checker{Replay: simulate.NewWorld(0)}
	n := 0
	for s, err := range midtool.ReadMessages(&b, "corpus.jsonl") {
		if err != nil {
			t.Fatal(err)
		}
		found, err := check.Check(context.Background(), &s)
		if err != nil || found.Violations != nil {
			t.Errorf("%s: %v, %v", s.ID, err, found.Violations)
		}
		if diff := cmp.Diff(c.Samples[n].Evidence, found.Evidence); diff != "" {
			t.Errorf("%s: other evidence:\n%s", s.ID, diff)
		}
		n++
	}
	if n != c.Kept {
		t.Errorf("read %d of %d", n, c.Kept)
	}
}
