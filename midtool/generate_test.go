package midtool

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
	"pgregory.net/rapid"
)

// shop is a small hand-written tool set in three groups.
func shop() []Tool {
	def := func(group, name, description, properties, required string) Tool {
		return Tool{Name: name, Description: description, Group: group, License: "MIT",
			Parameters: []byte(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)}
	}
	return []Tool{
		def("orders", "get_order", "Returns one order with its lines.", `"order_id":{"type":"string","description":"The order's number"},"verbose":{"type":"boolean"}`, `"order_id"`),
		def("orders", "cancel_order", "Cancels an order.", `"order_id":{"type":"string"},"reason":{"type":"string","enum":["changed_mind","too_late","other"]}`, `"order_id","reason"`),
		def("orders", "list_orders", "List the orders of a customer.", `"customer":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":5},"since":{"type":"string","format":"date"}`, `"customer"`),
		def("orders", "createOrder", "", `"customer":{"type":"string"},"lines":{"type":"array","minItems":1,"items":{"type":"object","properties":{"sku":{"type":"string"},"quantity":{"type":"integer"}},"required":["sku","quantity"]}}`, `"customer","lines"`),
		def("weather-service", "forecast", "Get the forecast for a city", `"city":{"type":"string"},"at":{"type":"string","format":"date-time"},"code":{"type":"string","pattern":"^[A-Z]{2}-\\d{3}$"}`, `"city","at","code"`),
		def("weather-service", "station.status", "状態を返します。", `"station":{"type":"string"},"range":{"type":"number","exclusiveMinimum":0,"maximum":1}`, `"station","range"`),
		def("misc", "ping", "Check that the service is up.", ``, ``),
	}
}

func TestGenerate(t *testing.T) {
	c, err := Generate(context.Background(), shop(), &GenerateOptions{PerTool: 25})
	if err != nil {
		t.Fatal(err)
	}
	if c.Tools != 7 || len(c.Samples)+len(c.Rejected) != 7*25 || len(c.Rejected) > 25 {
		t.Fatalf("%d tools, %d samples, rejected %v", c.Tools, len(c.Samples), c.Reasons())
	}
	tokens, requests := 0, make(map[string]bool)
	classes := make(map[EvidenceClass]int)
	for _, s := range c.Samples {
		var b bytes.Buffer
		if err := WriteMessages(&b, []Sample{s}, nil); err != nil {
			t.Fatal(err)
		}
		tokens += ApproxTokens(strings.TrimSuffix(b.String(), "\n"))
		requests[s.Messages[0].Content] = true
		call := s.Messages[1].Calls[0]
		gold := s.Tools[slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == call.Name })]
		if gold.Original == "station.status" && gold.Name != "station_status" {
			t.Errorf("exported as %q", gold.Name)
		}
		// Evidence: one per scalar, and its words stand in the request.
		args, _ := parseJSON(call.Arguments)
		schema, _ := compileRaw(gold.Parameters)
		leaves := leavesOf(schema, &args, "", nil)
		if len(args.members) == 0 {
			leaves = nil
		}
		if len(leaves) != len(s.Evidence) {
			t.Fatalf("%d scalars, %d evidence", len(leaves), len(s.Evidence))
		}
		for i, e := range s.Evidence {
			if classes[e.Class]++; e.Path != leaves[i].path || e.Class == EvidenceUngrounded || !strings.Contains(s.Messages[0].Content, e.Text) || e.Text == "" {
				t.Errorf("evidence %+v in %q", e, s.Messages[0].Content)
			}
		}
		// No distractor does the same to the same noun.
		for _, o := range s.Tools {
			if o.ID != gold.ID && meaningOf(o.Name).rivals(meaningOf(gold.Name)) {
				t.Errorf("%s is offered beside %s", o.Name, gold.Name)
			}
		}
		// The answer restates a scalar of the result.
		if !strings.Contains(s.Messages[3].Content, "ok") {
			t.Errorf("%q restates nothing of %s", s.Messages[3].Content, s.Messages[2].Content)
		}
	}
	if tokens != c.Tokens {
		t.Errorf("Tokens %d, counted %d", c.Tokens, tokens)
	}
	if len(requests) < len(c.Samples)*9/10 {
		t.Errorf("only %d different requests in %d samples", len(requests), len(c.Samples))
	}
	for _, class := range []EvidenceClass{EvidenceLiteral, EvidenceNormalized, EvidenceEnumDefault, EvidenceDerived} {
		if classes[class] == 0 {
			t.Errorf("no evidence of class %s: %v", class, classes)
		}
	}
}

// The order of the tools and of the groups changes no byte; another seed changes the choices.
func TestGenerateDeterminism(t *testing.T) {
	write := func(tools []Tool, o GenerateOptions) string {
		c, err := Generate(context.Background(), tools, &o)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteMessages(&b, c.Samples, &MessageOptions{Meta: true}); err != nil {
			t.Fatal(err)
		}
		return b.String() + fmt.Sprint(c.Rejected)
	}
	bad := []Tool{{Name: "x", License: "GPL-2.0-only"}, {Name: "y"}, {Name: "y", Group: "z"}, {}}
	tools := append(shop(), bad...)
	want := write(tools, GenerateOptions{PerTool: 3})
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		rnd.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		if got := write(tools, GenerateOptions{PerTool: 3}); got != want {
			t.Fatal("the order of the tools changed the corpus")
		}
	}
	if write(tools, GenerateOptions{PerTool: 3, Seed: 1}) == want {
		t.Error("another seed changed nothing")
	}
	if more := write(tools, GenerateOptions{PerTool: 4}); !strings.Contains(more, strings.SplitN(want, "\n", 2)[0]) {
		t.Error("a larger corpus lost the first sample of a smaller one")
	}
}

// Of tools with one ID the same is kept in either order, whatever they differ in.
func TestGenerateKeepsOne(t *testing.T) {
	base := Tool{Name: "get_thing", License: "MIT", Parameters: []byte(`{"properties":{"a":{"type":"string"},"b":{"type":"integer"}}}`)}
	for _, tt := range []struct {
		change func(o *Tool)
		reason string
	}{
		{func(o *Tool) { o.Returns = []byte(`{"type":"integer"}`) }, "other results"},
		{func(o *Tool) { o.License = "ISC" }, "another license in the sample's"},
		{func(o *Tool) { o.ReadOnly = true }, "another rule for equal calls"},
		{func(o *Tool) { o.Title = "Thing" }, "kept in the sample"},
		{func(o *Tool) { o.Parameters = []byte(`{"properties":{"b":{"type":"integer"},"a":{"type":"string"}}}`) }, "another order of keys, the same ID"},
	} {
		other := base
		tt.change(&other)
		a, err1 := Generate(context.Background(), []Tool{base, other}, nil)
		b, err2 := Generate(context.Background(), []Tool{other, base}, nil)
		if diff := cmp.Diff(a, b); diff != "" || err1 != nil || err2 != nil {
			t.Errorf("%s: %v %v (-one +other):\n%s", tt.reason, err1, err2, diff)
		}
	}
}

func TestGenerateRejects(t *testing.T) {
	tool := func(name, license, params string) Tool {
		return Tool{Name: name, License: license, Parameters: []byte(params)}
	}
	tools := []Tool{
		tool("ok", "MIT", `{}`), tool("ok", "MIT", `{}`), tool("copyleft", "GPL-3.0-only", `{}`), tool("silent", "", `{}`), tool("", "MIT", `{}`),
		tool("remote", "MIT", `{"properties":{"a":{"$ref":"http://x/y"}}}`),
		tool("lookahead", "MIT", `{"properties":{"a":{"pattern":"(?=a)"}}}`),
		tool("upload", "MIT", `{"properties":{"f":{"type":"file"}},"required":["f"]}`),
		tool("endless", "MIT", `{"properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"],"$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"]}}}`),
		tool("huge", "MIT", `{"description":"`+strings.Repeat("word ", 9000)+`"}`),
		{Name: "badreturn", License: "MIT", Returns: []byte(`{"type":"string","format":"binary"}`)},
	}
	c, err := Generate(context.Background(), tools, &GenerateOptions{PerTool: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, r := range c.Rejected {
		got[r.Tool] = r.Reason
		if !strings.Contains(r.Error(), r.Reason) {
			t.Errorf("%q does not name %q", r.Error(), r.Reason)
		}
	}
	want := map[string]string{"ok": "duplicate", "copyleft": "license", "silent": "license", "": "no_name", "remote": "remote_ref",
		"lookahead": "pattern_unsupported", "upload": "no_value", "endless": "no_value", "huge": "window", "badreturn": "no_value"}
	if diff := cmp.Diff(want, got); diff != "" || len(c.Samples) != 1 || c.Tools != 5 {
		t.Errorf("%d samples of %d tools (-want +got):\n%s", len(c.Samples), c.Tools, diff)
	}
	for _, tt := range []struct {
		o    GenerateOptions
		want int
	}{{GenerateOptions{OwnTools: true}, 1}, {GenerateOptions{}, 0}, {GenerateOptions{Licenses: []string{"GPL-3.0-only"}, OwnTools: true}, 2}, {GenerateOptions{Licenses: []string{}}, 0}} {
		tt.o.PerTool = 1
		c, err := Generate(context.Background(), tools[2:4], &tt.o)
		if err != nil || len(c.Samples) != tt.want {
			t.Errorf("%+v: %d samples, want %d; %v", tt.o, len(c.Samples), tt.want, err)
		}
	}
	if c, err := Generate(context.Background(), nil, nil); err != nil || len(c.Samples) != 0 {
		t.Errorf("no tools: %v, %v", c, err)
	}
}

func TestGenerateOptions(t *testing.T) {
	_, err := Generate(context.Background(), shop(), &GenerateOptions{PerTool: -1, MaxTokens: 100, OptionalProb: new(math.NaN())})
	for _, part := range []string{"PerTool -1", "MaxTokens 100", "OptionalProb NaN"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not name %s", err, part)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	c, err := Generate(ctx, shop(), &GenerateOptions{Progress: func(done, total int) {
		if calls++; done != calls || total != 7 {
			t.Errorf("progress %d of %d at call %d", done, total, calls)
		}
		if done == 2 {
			cancel()
		}
	}})
	if c != nil || !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("%v, %v after %d tools", c, err, calls)
	}
	for _, p := range []float64{0, 1} {
		c, err := Generate(context.Background(), shop(), &GenerateOptions{OptionalProb: &p})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Samples {
			if call := s.Messages[1].Calls[0]; call.Name == "list_orders" && bytes.Contains(call.Arguments, []byte("limit")) != (p == 1) {
				t.Errorf("probability %v: %s", p, call.Arguments)
			}
		}
	}
}

// P5: every generated call validates; one string argument changed to a fresh random string is ungrounded.
func TestChangedArgumentIsUngrounded(t *testing.T) {
	c, err := Generate(context.Background(), shop(), &GenerateOptions{PerTool: 10})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(c.Samples).Draw(t, "sample")
		fresh := rapid.StringMatching(`[a-z]{12,20}`).Draw(t, "fresh")
		call := s.Messages[1].Calls[0]
		args, _ := parseJSON(call.Arguments)
		i := slices.IndexFunc(args.members, func(m member) bool { return m.value.kind == stringKind && m.key != "reason" })
		if i < 0 {
			return
		}
		args.members[i].value = stringNode(fresh)
		call.Arguments = args.bytes(compactForm)
		s.Messages = slices.Clone(s.Messages)
		s.Messages[1].Calls = []Call{call}
		if v := Validate(s); !slices.ContainsFunc(v, func(v Violation) bool { return v.Rule == "ungrounded" }) {
			t.Fatalf("%s: %v", call.Arguments, v)
		}
	})
}

// Sizes of the offered sets follow their weights, half of the distractors share the group.
func TestOffer(t *testing.T) {
	var tools []Tool
	for g := range 12 {
		for i := range 60 - 4*g {
			tools = append(tools, Tool{Name: fmt.Sprintf("do_%c_%d", 'a'+g, i), Group: fmt.Sprint("g", g), License: "MIT"})
		}
	}
	g := generator{opts: GenerateOptions{MaxTokens: 1 << 20, Licenses: defaultLicenses}, corpus: &Corpus{}}
	if err := g.prepare(context.Background(), tools); err != nil {
		t.Fatal(err)
	}
	const n = 4000
	var sizes [5]int
	hard, easy, lent := 0, 0, make(map[int]int)
	for i := range n {
		gold := g.tools[i%len(g.tools)]
		out := g.offer(newDraws(1, "test", fmt.Sprint(i)), gold)
		if len(slices.CompactFunc(slices.SortedFunc(slices.Values(out), func(a, b *tool) int { return strings.Compare(a.ID, b.ID) }),
			func(a, b *tool) bool { return a == b })) != len(out) || !slices.Contains(out, gold) {
			t.Fatalf("offered set %v", out)
		}
		for k, o := range offerSizes {
			if len(out)-1 >= o.lo && len(out)-1 <= o.hi {
				sizes[k]++
			}
		}
		for _, o := range out {
			switch {
			case o == gold:
			case o.group == gold.group:
				hard++
			default:
				easy++
				lent[o.group]++
			}
		}
	}
	for k, o := range offerSizes {
		p := float64(o.percent) / 100
		if d := math.Abs(float64(sizes[k]) - n*p); d > 4*math.Sqrt(n*p*(1-p)) {
			t.Errorf("%d sets with %d to %d distractors, want about %.0f", sizes[k], o.lo, o.hi, n*p)
		}
	}
	if hard < easy || hard > easy+n {
		t.Errorf("%d hard, %d easy", hard, easy)
	}
	if lent[0] < 2*lent[11] { // weights 1 and 1/sqrt(12)
		t.Errorf("the largest group lent %d, the smallest %d", lent[0], lent[11])
	}
}

// A made value validates, for every schema keyword alone and for their mixtures.
func TestMaker(t *testing.T) {
	for _, tt := range []struct {
		schema string
		ok     bool
		reason string
	}{
		{`{"const":7}`, true, ""}, {`{"enum":[null,""," ","a"]}`, true, ""}, {`{"examples":["a","b"]}`, true, ""},
		{`{"type":"string","format":"date"}`, true, ""}, {`{"type":"string","format":"date-time"}`, true, ""}, {`{"type":"string","format":"time"}`, true, ""},
		{`{"type":"string","format":"email"}`, true, ""}, {`{"type":"string","format":"uri"}`, true, ""}, {`{"type":"string","format":"uuid"}`, true, ""},
		{`{"type":"string","format":"ipv4"}`, true, ""}, {`{"type":"string","format":"ipv6"}`, true, ""}, {`{"type":"string","format":"hostname"}`, true, ""},
		{`{"type":"string","format":"binary"}`, false, "cannot be said in words"},
		{`{"type":"integer","minimum":1000,"maximum":1003}`, true, ""}, {`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.05}`, true, "narrow"},
		{`{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2}`, false, "none exists"}, {`{"type":"integer","maximum":-5}`, true, ""},
		{`{"type":"number","multipleOf":0.01,"minimum":1}`, true, ""}, {`{"type":"integer","multipleOf":7}`, true, ""}, {`{"type":"integer","minimum":1e30}`, false, "out of reach"},
		{`{"type":"string","minLength":40,"maxLength":60}`, true, ""}, {`{"type":"string","maxLength":3}`, true, ""}, {`{"type":"string","minLength":100000}`, false, "too long"},
		{`{"type":"string","pattern":"^(foo|ba[rz])-\\d{2,4}(x|y)?$","maxLength":10}`, true, ""}, {`{"type":"string","pattern":"^[^a-z]+$"}`, true, ""},
		{`{"type":"string","pattern":"^a$","minLength":2}`, false, "none exists"}, {`{"pattern":"(?=x)"}`, false, "outside Go's syntax"},
		{`{"type":"array","items":{"type":"boolean"},"minItems":2,"uniqueItems":true}`, true, ""}, {`{"type":"array","items":{"enum":["a"]},"minItems":2,"uniqueItems":true}`, false, "none exists"},
		{`{"type":"array","maxItems":0}`, true, "empty"}, {`{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}],"items":{}}`, true, "tuple"},
		{`{"anyOf":[{"type":"string","format":"binary"},{"type":"integer"}]}`, true, "first branch that yields a value"},
		{`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, true, "2.5 fits one branch only"},
		{`{"allOf":[{"type":"integer"},{"minimum":50},{"maximum":51}]}`, true, ""}, {`{"type":["null","string"]}`, true, ""}, {`{"type":"null"}`, true, ""},
		{`{"not":{"type":"string"}}`, false, "ours: no search beyond the first kind"}, {`false`, false, ""}, {`true`, true, ""},
		{`{"type":"object","properties":{"a":{"$ref":"#"}}}`, true, "optional recursion ends"},
		{`{"type":"object","properties":{"kind":{"const":"x"}},"required":["kind"],"anyOf":[{"required":["kind"]}]}`, true, ""},
	} {
		s, err := compileRaw([]byte(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		good := 0
		for i := range 20 {
			m := maker{d: newDraws(1, "test", fmt.Sprint(i)), optional: 0.5}
			if v, ok := m.value(s, "thing", 0); ok {
				good++
				if !s.accepts(&v) {
					t.Errorf("%s: made %s", tt.schema, v.string(compactForm))
				}
			}
		}
		if tt.ok && good < 10 || !tt.ok && good > 0 {
			t.Errorf("%s (%s): %d of 20 values, want some: %v", tt.schema, tt.reason, good, tt.ok)
		}
	}
}

// Equal calls get equal answers; an answer follows the result schema and echoes the arguments it names.
func TestSimulate(t *testing.T) {
	tl := &tool{Tool: Tool{ID: "t_1"}, meaning: meaningOf("list_users")}
	args, _ := parseJSON([]byte(`{"city_name":"Oslo","limit":3}`))
	a, _ := simulate(7, tl, &args)
	b, _ := simulate(7, tl, &args)
	if a.string(compactForm) != b.string(compactForm) || len(a.get("items").list) != 2 || textOf(a.get("city_name")) != "Oslo" {
		t.Errorf("%s, %s", a.string(compactForm), b.string(compactForm))
	}
	other, _ := parseJSON([]byte(`{"city_name":"Bergen","limit":3}`))
	if o, _ := simulate(7, tl, &other); o.get("items").string(compactForm) == a.get("items").string(compactForm) {
		t.Error("other arguments got the same items")
	}
	tl.returns, _ = compileRaw([]byte(`{"type":"object","properties":{"cityName":{"type":"string"},"limit":{"type":"string"},"n":{"type":"integer"}},"required":["n"]}`))
	r, ok := simulate(7, tl, &args)
	if !ok || !tl.returns.accepts(&r) || textOf(r.get("cityName")) != "Oslo" || r.get("limit").kind != stringKind {
		t.Errorf("%s", r.string(compactForm))
	}
}

// No made result reports a failure, for the conclusion says that all went well.
func TestSimulateSucceeds(t *testing.T) {
	args, _ := parseJSON([]byte(`{"error":"E42"}`))
	for _, tt := range []struct{ returns, want, reason string }{
		{`{"type":"object","properties":{"error":{"type":"string","minLength":1},"success":{"type":"boolean"}}}`, `{"success":true}`, "an optional error goes"},
		{`{"type":"object","properties":{"error":{"type":["string","null"]},"ok":{"const":false}},"required":["error"]}`, `{"error":null,"ok":false}`, "null, and a constant stays"},
		{`{"type":"object","properties":{"error":{"type":"string"}},"required":["error"]}`, `{"error":""}`, "an empty one is none"},
		{`{"type":"object","properties":{"error":{"const":"x"}},"required":["error"]}`, ``, "the schema demands a failure"},
		{`{"type":"object","properties":{"status":{"const":404}},"required":["status"]}`, ``, "the schema demands a failure"},
	} {
		tl := &tool{Tool: Tool{ID: "t_1"}}
		tl.returns, _ = compileRaw([]byte(tt.returns))
		got := ""
		if v, ok := simulate(1, tl, &args); ok {
			got = v.string(compactForm)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || tt.reason == "" {
			t.Errorf("%s (%s) (-want +got):\n%s", tt.returns, tt.reason, diff)
		}
	}
}

// A conclusion says two things of different names, and a member of a list in the singular.
func TestConclude(t *testing.T) {
	result, _ := parseJSON([]byte(`[{"ids":["a","b"]},{"ids":["c"]}]`))
	for i := range 20 {
		if got := conclude(newDraws(1, "test", fmt.Sprint(i)), &result); strings.Count(got, "id") != 1 || strings.Contains(got, "ids") || !strings.Contains(got, " a") {
			t.Errorf("%q", got)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	tools := shop()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		c, err := Generate(context.Background(), tools, &GenerateOptions{PerTool: 20})
		if err != nil {
			b.Fatal(err)
		}
		n += len(c.Samples)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}

func BenchmarkValidate(b *testing.B) {
	s := clean()
	b.ReportAllocs()
	for b.Loop() {
		Validate(s)
	}
}

func BenchmarkNormalize(b *testing.B) {
	t := shop()[3]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Normalize(t); err != nil {
			b.Fatal(err)
		}
	}
}

// Tools that do the same to the same noun are never offered together: a request for one is as well one for the other.
func TestOfferNoRivals(t *testing.T) {
	tools := []Tool{{Name: "get_order", Group: "a"}, {Name: "fetchOrders", Group: "a"}, {Name: "retrieve_order_by_id", Group: "b"}, {Name: "cancel_order", Group: "b"}}
	c, err := Generate(context.Background(), tools, &GenerateOptions{PerTool: 20, OwnTools: true})
	if err != nil {
		t.Fatal(err)
	}
	together := 0
	for _, s := range c.Samples {
		gold := s.Messages[1].Calls[0].Name
		for _, o := range s.Tools {
			if o.Name != gold && gold != "cancel_order" && o.Name != "cancel_order" {
				t.Errorf("%s is offered beside %s", o.Name, gold)
			}
		}
		together += len(s.Tools) - 1
	}
	if together == 0 {
		t.Error("nothing was offered beside a called tool")
	}
}

// A clause made of a name alone is cut before what speaks of the arguments, and a lone verb is used as one.
func TestClauseOfName(t *testing.T) {
	for _, tt := range []struct{ name, never, reason string }{
		{"calculate", "the calculate", "a verb is no noun"}, {"convert_to_base_unit", "the to", "as in a description"},
		{"congress_trades_by_name", "by", "as in a description"}, {"by", "the the", "nothing is left before it"},
	} {
		for i := range 50 {
			tl := &tool{Tool: Tool{Name: tt.name}, meaning: meaningOf(tt.name)}
			r := request{d: newDraws(1, "test", fmt.Sprint(i)), tool: tl, avoid: givenAway(tl.Tool)}
			if c := r.clause(); c == "" || sequenceIn(words(c), words(tt.never)) {
				t.Errorf("%s (%s): %q", tt.name, tt.reason, c)
			}
		}
	}
}

// An optional member that comes out empty is left out: nobody asks for it.
func TestMakerNoEmptyMember(t *testing.T) {
	s, err := compileRaw([]byte(`{"type":"object","properties":{"a":{"type":"object","properties":{}},"b":{"type":"object","properties":{}}},"required":["b"]}`))
	if err != nil {
		t.Fatal(err)
	}
	m := maker{d: newDraws(1, "test"), optional: 1}
	if v, _ := m.value(s, "x", 0); v.string(compactForm) != `{"b":{}}` {
		t.Errorf("made %s", v.string(compactForm))
	}
}

// The wording avoids the names by itself; the check after it is a second line.
func TestClauseKeepsNames(t *testing.T) {
	for _, name := range []string{"web_search", "get_the_weather", "showMe", "run_report", "data-export_job"} {
		tl := &tool{Tool: Tool{Name: name}, meaning: meaningOf(name)}
		tl.verb, tl.object = describe("Runs report data export job of web search")
		r := request{d: newDraws(1, "test", name), tool: tl, avoid: givenAway(tl.Tool)}
		for range 200 {
			if c := r.clause(); sequenceIn(words(c), words(name)) {
				t.Fatalf("%s is given away by %q", name, c)
			}
		}
	}
}

// Of equal tools the first is kept, and the rejection is that of the other, which names the group of the first.
func TestDuplicate(t *testing.T) {
	tool := func(group string, line int) Tool {
		return Tool{Name: "ping_host", Description: "Check that a host answers.", Parameters: json.RawMessage(`{"type":"object"}`),
			Group: group, Origin: Origin{Kind: "mcp", Locator: "f", Line: line}}
	}
	for _, tools := range [][]Tool{{tool("a", 1), tool("b", 2), tool("b", 3)}, {tool("b", 3), tool("b", 2), tool("a", 1)}} {
		c, err := Generate(context.Background(), tools, &GenerateOptions{OwnTools: true, PerTool: 1})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range c.Rejected {
			got = append(got, fmt.Sprintf("%s:%d %s %s", r.Group, r.Origin.Line, r.Reason, r.Detail))
		}
		want := []string{`b:2 duplicate as in group "a"`, `b:3 duplicate as in group "a"`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
