package skill

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// free makes a trajectory of free-text actions.
func free(actions ...string) Trajectory {
	t := Trajectory{TaskID: "t", Task: "clean a mug"}
	for _, a := range actions {
		t.Steps = append(t.Steps, Step{Name: a})
	}
	return t
}

var kitchen = free("go to cabinet 1", "open cabinet 1", "go to cabinet 2", "open cabinet 2", "take mug 1 from cabinet 2", "go to sink 1", "clean mug 1 with sink 1")

func TestAbstraction(t *testing.T) {
	for _, c := range []struct{ in, want, reason string }{
		{"take mug 2 from cabinet 4 ; put mug 2 in/on shelf 1", "take mug <n> from cabinet <n_2> ; put mug <n> in/on shelf <n_3>", "E10: a number belongs to the word before it"},
		{`send "Hi Bob" to bob@example.com and to amy@example.com on 2024-05-01 at 10:30`, "send <text> to <email> and to <email_2> on <date> at <time>", "E10"},
		{"commit 9f1c2d3e4b in v2 of app3", "commit <id> in v2 of app3", "E10: numbers inside words stay"},
		{"price -12.50 and 3", "price <n> and <n_2>", "E10"},
		{"see https://x.example/a?b=1 now", "see <url> now", "url to white space"},
		{`say "a 'b' c" and 'it's ok' don't`, "say <text> and <text_2> don't", "an apostrophe inside a word quotes nothing"},
		{"'90s rock", "'90s rock", "no closing quote"},
		{`a "b` + "\n" + `c" d`, `a "b` + "\n" + `c" d`, "a quotation stays on its line"},
		{"550e8400-e29b-41d4-a716-446655440000 deadbeef decade12 12345678 0123456f", "<id> deadbeef <id_2> <n> <id_3>", "hexadecimal digits of both kinds, at least 8"},
		{"at 2024-05-01T10:30:00Z or 2024-05-01 9:05 or 2024-05-011", "at <date> or <date_2> or <n>-<n_2>-<n_3>", "date with time; 011 makes no date"},
		{"ls ./a/b.txt ~/x /etc/hosts and/or a/b 1/2 / .", "ls <path> <path_2> <path_3> and/or a/b <n>/<n_2> / .", "a path touches no word on its left"},
		{"x=5 y=5 x=5 1.2.3 3.", "x=<n> y=<n_2> x=<n> <n_3>.3 <n_4>.", "same word and number, same placeholder"},
		{"<n> and <n_2> 7", "<n> and <n_2> <n>", "placeholders are not touched"},
		{"<b>5<b>", "<b><n><b>", "other angle brackets are no placeholders"},
		{"5http://x.example 'a'", "5<url> <text>", "what touches a literal is no number"},
		{"a+bob@x.example/c", "<email>/c", "an e-mail ends where its domain does"},
	} {
		if got := newAbstraction(nil).text(c.in); got != c.want {
			t.Errorf("%q -> %q, want %q (%s)", c.in, got, c.want, c.reason)
		}
	}
	keep := func(kind, value string) bool { return kind == "n" && value == "2" }
	if got := newAbstraction(keep).text("mug 2 on shelf 3"); got != "mug 2 on shelf <n>" {
		t.Errorf("kept literal: %q", got)
	}
}

var leaks = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9]|https?://[^\s"'<>]|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

// checkAbstraction states P17: a second pass changes nothing, and no e-mail, URL or UUID is left.
func checkAbstraction(t interface{ Fatalf(string, ...any) }, s string) {
	once := newAbstraction(nil).text(s)
	if twice := newAbstraction(nil).text(once); twice != once {
		t.Fatalf("%q -> %q -> %q", s, once, twice)
	}
	if l := leaks.FindString(once); l != "" {
		t.Fatalf("%q -> %q leaks %q", s, once, l)
	}
}

func TestAbstractionIdempotent(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"a@b.cd", "http://x", `"q"`, "'q'", "'", `"`, "550e8400-e29b-41d4-a716-446655440000", "0123456f", "2024-05-01", "10:30", "/a/b",
		"../", "5", "-5.5", ".", "x", "_", " ", "\n", "<n>", "<", ">", "<text_2>", "@", "é", ":", "-", "+"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		checkAbstraction(t, strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), ""))
	})
}

func FuzzAbstraction(f *testing.F) {
	for _, s := range []string{"mug 2 'a' \"b\" /c/d a@b.cd http://x 2024-05-01 10:30 0123456f", "5http://x'y'<n>_5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkAbstraction(t, s) })
}

func TestSegment(t *testing.T) {
	tool := func(names ...string) Trajectory {
		var tr Trajectory
		for _, n := range names {
			tr.Steps = append(tr.Steps, Step{Name: n, Args: map[string]any{"id": 7, "flag": true}})
		}
		return tr
	}
	marked := free("a", "b", "c", "d", "e", "f")
	marked.Steps[1].Marker, marked.Steps[4].Marker = "first", "second"
	thoughts := free("", "go to a 1", "", "look at b 1", "", "take c 1", "put c 1", "")
	for _, c := range []struct {
		name   string
		traj   Trajectory
		o      *SegmentOptions
		want   []Span
		reason string
	}{
		{"free text", kitchen, nil, []Span{{0, 2}, {2, 5}, {5, 7}}, "E11"},
		{"apps", tool("amazon.login", "amazon.show_cart", "amazon.place_order", "gmail.login", "gmail.send"), nil, []Span{{0, 3}, {3, 5}}, "E11: the app changes, though the arguments are shared"},
		{"tools", tool("get", "set", "get", "set"), nil, []Span{{0, 4}}, "no app: shared arguments hold a span together"},
		{"no steps", Trajectory{}, nil, nil, "nothing to cut"},
		{"one step", free("a"), nil, []Span{{0, 1}}, "a sole span may be short"},
		{"task level", kitchen, &SegmentOptions{TaskLevel: true}, []Span{{0, 7}}, "rule 2"},
		{"markers", marked, nil, []Span{{0, 4}, {4, 6}}, "the leading span of one action joins the next"},
		{"markers, all long enough", marked, &SegmentOptions{MinActions: 1}, []Span{{0, 1}, {1, 4}, {4, 6}}, "steps before the first marker make a span"},
		{"short last", marked, &SegmentOptions{MinActions: 3}, []Span{{0, 6}}, "the last joins the one before"},
		{"most actions", free("a 1", "a 1", "a 1", "a 1", "a 1"), &SegmentOptions{MinActions: 2, MaxActions: 2}, []Span{{0, 2}, {2, 5}}, "cut at MaxActions, the short last joined"},
		{"thoughts", thoughts, nil, []Span{{0, 4}, {4, 8}}, "thoughts belong to the next action, trailing ones to the last span"},
		{"thoughts alone", free("", " ", ""), nil, []Span{{0, 3}}, "no action, one span"},
		{"explicit", kitchen, &SegmentOptions{Spans: []Span{{0, 1}, {3, 7}}, TaskLevel: true}, []Span{{0, 1}, {3, 7}}, "gaps are allowed"},
	} {
		got, err := Segment(context.Background(), c.traj, c.o)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" || c.reason == "" {
			t.Errorf("%s (%s): %v (-want +got):\n%s", c.name, c.reason, err, diff)
		}
	}
}

func TestSegmentErrors(t *testing.T) {
	for _, c := range []struct {
		spans  []Span
		index  int
		reason string
	}{
		{[]Span{{0, 3}, {3, 3}}, 1, "empty"},
		{[]Span{{0, 3}, {2, 4}}, 1, "overlap"},
		{[]Span{{4, 5}, {0, 2}}, 1, "unsorted"},
		{[]Span{{0, 9}}, 0, "beyond the end"},
		{[]Span{{-1, 2}}, 0, "before the start"},
		{[]Span{{5, 2}}, 0, "reversed"},
		{[]Span{{math.MinInt, math.MaxInt}}, 0, "huge"},
	} {
		_, err := Segment(context.Background(), kitchen, &SegmentOptions{Spans: c.spans})
		var se *SegmentError
		if !errors.As(err, &se) || se.Index != c.index || se.Start != c.spans[c.index].Start {
			t.Errorf("%s: %v, want a SegmentError at %d", c.reason, err, c.index)
		}
		if _, err := Induce(context.Background(), kitchen, c.spans[c.index], nil); c.reason != "overlap" && c.reason != "unsorted" && !errors.As(err, &se) {
			t.Errorf("induce %s: %v, want a SegmentError", c.reason, err)
		}
	}
	for _, o := range []*SegmentOptions{{MinActions: -1}, {MaxActions: -1}, {MinActions: 3, MaxActions: 2}} {
		if _, err := Segment(context.Background(), kitchen, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	bad := Trajectory{Steps: []Step{{Name: "f", Args: map[string]any{"x": math.NaN()}}, {Name: "g", Args: map[string]any{}}}}
	if _, err := Segment(context.Background(), bad, nil); err == nil || !strings.Contains(err.Error(), "step 0") {
		t.Errorf("NaN argument: %v", err)
	}
	if _, err := Induce(context.Background(), bad, Span{0, 2}, nil); err == nil || !strings.Contains(err.Error(), "step 0") {
		t.Errorf("NaN argument: %v", err)
	}
	self := map[string]any{}
	self["x"] = []any{self}
	bad.Steps[0].Args = self
	if _, err := Segment(context.Background(), bad, nil); err == nil || !strings.Contains(err.Error(), "step 0") {
		t.Errorf("argument that contains itself: %v", err)
	}
	if _, err := Induce(context.Background(), bad, Span{0, 2}, nil); err == nil || !strings.Contains(err.Error(), "step 0") {
		t.Errorf("argument that contains itself: %v", err)
	}
	if _, err := Induce(context.Background(), kitchen, Span{0, 7}, &InduceOptions{MinActions: -1}); err == nil {
		t.Error("negative MinActions: no error")
	}
}

// endsAfter is a context that is done once it has been asked left times.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left == 0 {
		return context.Canceled
	}
	c.left--
	return nil
}

// A canceled context stops at the start, and in each loop over the steps.
func TestSegmentAndInduceCanceled(t *testing.T) {
	n := len(kitchen.Steps)
	for left := range n + 1 { // the start, then every step
		spans, err := Segment(&endsAfter{context.Background(), left}, kitchen, nil)
		if spans != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("segment after %d checks: %v, %v, want a canceled context", left, spans, err)
		}
	}
	for left := range 2*n + 1 { // the start, every step, and at most every step again
		d, err := Induce(&endsAfter{context.Background(), left}, kitchen, Span{0, n}, nil)
		if d != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("induce after %d checks: %v, %v, want a canceled context", left, d, err)
		}
	}
	for _, o := range []*SegmentOptions{{TaskLevel: true}, {Spans: []Span{{0, 1}}}} {
		if _, err := Segment(&endsAfter{context.Background(), 0}, kitchen, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v, want a canceled context", o, err)
		}
	}
}

func genTrajectory() *rapid.Generator[Trajectory] {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "go to cabinet 1", "take mug 2", "app.get", "app.set", "mail.send", "echo a -> b", "not found: \"x\"\nmore", "con", "5"}), rapid.String())
	step := rapid.Custom(func(t *rapid.T) Step {
		s := Step{Name: text.Draw(t, "name"), Observation: text.Draw(t, "observation"), Err: rapid.IntRange(0, 3).Draw(t, "err") == 0}
		if rapid.Bool().Draw(t, "structured") {
			s.Args = rapid.MapOfN(text, rapid.OneOf(rapid.Map(text, func(s string) any { return s }), rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](3), rapid.Just[any]([]any{1.5, "x"})), 0, 3).Draw(t, "args")
		}
		if rapid.IntRange(0, 4).Draw(t, "marked") == 0 {
			s.Marker = text.Draw(t, "marker")
		}
		return s
	})
	return rapid.Custom(func(t *rapid.T) Trajectory {
		return Trajectory{Task: text.Draw(t, "task"), Steps: rapid.SliceOfN(step, 0, 12).Draw(t, "steps")}
	})
}

// P15: spans partition the steps, and every one but a sole one has at least MinActions actions. What is induced from a span can be
// written, and its procedure read.
func TestSegmentAndInduce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		traj := genTrajectory().Draw(t, "trajectory")
		o := &SegmentOptions{MinActions: rapid.IntRange(1, 3).Draw(t, "min"), MaxActions: rapid.IntRange(3, 5).Draw(t, "max")}
		spans, err := Segment(context.Background(), traj, o)
		if err != nil {
			t.Fatal(err)
		}
		end := 0
		for _, s := range spans {
			actions := 0
			for _, st := range traj.Steps[s.Start:s.End] {
				if isAction(st) {
					actions++
				}
			}
			if s.Start != end || s.End <= s.Start || len(spans) > 1 && actions < o.MinActions {
				t.Fatalf("span %v with %d actions of %v", s, actions, spans)
			}
			end = s.End

			d, err := Induce(context.Background(), traj, s, nil)
			if errors.Is(err, ErrTrivial) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Marshal(d.Document); err != nil {
				t.Fatalf("%v\n%+v", err, d)
			}
			steps := Procedure(d.Body())
			if len(steps) == 0 || !strings.HasPrefix(d.Body(), textBody(steps, nil)) {
				t.Fatalf("procedure %q of %q", steps, d.Body())
			}
			if again, err := Induce(context.Background(), traj, s, nil); err != nil || !cmp.Equal(d, again) {
				t.Fatalf("second induction differs: %v", err)
			}
		}
		if end != len(traj.Steps) {
			t.Fatalf("spans %v end before %d", spans, len(traj.Steps))
		}
	})
}

func TestInduce(t *testing.T) {
	call := func(name string, args map[string]any, obs string, failed bool) Step {
		if args == nil {
			args = map[string]any{}
		}
		return Step{Name: name, Args: args, Observation: obs, Err: failed}
	}
	desk := Trajectory{Task: "Refund order 1001 of amy@example.com.", Steps: []Step{
		{Thought: "find the customer first"},
		call("find_customer", map[string]any{"email": "amy@example.com"}, "C1", false),
		call("refund", map[string]any{"orderId": 1001, "full": true}, "error: order 1001 is not \"delivered\"\ntrace", true),
		call("refund", map[string]any{"orderId": 1001, "full": true}, "error: order 1001 is not \"delivered\"\nagain", true),
		call("refund", map[string]any{"orderId": 1001, "full": true}, strings.Repeat("x", 161), true),
		call("get_order", map[string]any{"order_id": 1001, "tags": []any{"a"}}, "ok", false),
		call("get_order", map[string]any{"order_id": 1001, "tags": []any{"a"}}, "ok", false),
		call("get_order", map[string]any{"order_id": 1002, "tags": nil}, "ok", false),
		call("search", nil, "p1", false),
		call("search", nil, "p2", false),
		call("drop", nil, "denied", true),
		call("refund", map[string]any{"orderId": 1001, "full": true}, "done", false),
		call("get_order", map[string]any{"order_id": 1001}, "too late", true),
	}}
	apps := Trajectory{Steps: []Step{call("amazon.show_cart", nil, "", false), call("amazon.place_order", map[string]any{"card": 1}, "", false)}}
	marked := free("go to sink 1", "wash mug 1", "go to shelf 2", "put mug 1")
	marked.Steps[0].Marker, marked.Steps[2].Marker = "Clean mug 1 at the sink", "Put it away"
	for _, c := range []struct {
		name       string
		traj       Trajectory
		span       Span
		o          *InduceOptions
		slug, desc string
		body       string
		reason     string
	}{
		{"free text", kitchen, Span{2, 5}, nil, "go-to-cabinet-then-take-mug-from-cabinet", "go to cabinet then take mug from cabinet",
			"- Procedure: go to cabinet <n> → open cabinet <n> → take mug <n_2> from cabinet <n>\n", "E12"},
		{"structured", desk, Span{0, 13}, nil, "refund-order-of", "Refund order of",
			"- Procedure: find_customer(email) → get_order(order_id, tags) → get_order(order_id_2, tags=null) → search() (repeat) → refund(full=true, order_id)\n" +
				"- refund(full=true, order_id) can fail: error: order <n> is not <text>\n",
			"refusals, repetitions and thoughts dropped; one short note of the refusal that was retried"},
		{"kept values", desk, Span{5, 9}, &InduceOptions{Keep: func(kind, value string) bool { return kind == "order_id" && value == "1001" }}, "get-order-then-search", "get order then search",
			"- Procedure: get_order(order_id=1001, tags) → get_order(order_id, tags=null) → search()\n", "a kept argument shows its value"},
		{"apps", apps, Span{0, 2}, &InduceOptions{}, "amazon-show-cart-then-amazon-place-order", "amazon show cart then amazon place order",
			"- Procedure: amazon.show_cart() → amazon.place_order(card)\n", "no task text: the first and the last action"},
		{"marker", marked, Span{0, 2}, nil, "clean-mug-at-the-sink", "Clean mug at the sink", "- Procedure: go to sink <n> → wash mug <n_2>\n", "the marker describes its span"},
		{"markers of the task", marked, Span{0, 4}, nil, "clean-a-mug", "clean a mug", "- Procedure: go to sink <n> → wash mug <n_2> → go to shelf <n_3> → put mug <n_2>\n", "the whole trajectory is described by its task, not by one of its markers"},
		{"subtask", marked, Span{0, 2}, &InduceOptions{Subtask: "洗杯子"}, "skill", "洗杯子", "- Procedure: go to sink <n> → wash mug <n_2>\n", "no ASCII words for a name"},
		{"parted arrow", free("echo a -\x01> b", "x"), Span{0, 2}, &InduceOptions{Subtask: "nul"}, "skill", "nul", "- Procedure: echo a => b → x\n", "what is left when a control character goes is no step either"},
		{"arrow", free("echo a -> b", "x → y"), Span{0, 2}, &InduceOptions{Subtask: "nul"}, "skill", "nul", "- Procedure: echo a => b → x => y\n", "an arrow in an action is no step; a device name is no folder"},
	} {
		d, err := Induce(context.Background(), c.traj, c.span, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := &Document{Frontmatter: Frontmatter{Name: c.slug, Description: c.desc}, Content: c.body}
		if diff := cmp.Diff(want, d); diff != "" || c.reason == "" {
			t.Errorf("%s (%s) (-want +got):\n%s", c.name, c.reason, diff)
		}
	}
	for _, c := range []struct {
		traj   Trajectory
		span   Span
		o      *InduceOptions
		reason string
	}{
		{kitchen, Span{0, 1}, nil, "one action"},
		{free("look", "look", "look"), Span{0, 3}, nil, "the same action without effect"},
		{desk, Span{9, 11}, nil, "one useful action"},
		{kitchen, Span{0, 2}, &InduceOptions{MinActions: 3}, "fewer than asked for"},
		{kitchen, Span{0, 2}, &InduceOptions{Subtask: `"5"`}, "no words for a description"},
	} {
		if d, err := Induce(context.Background(), c.traj, c.span, c.o); d != nil || !errors.Is(err, ErrTrivial) {
			t.Errorf("%s: %v, %v, want ErrTrivial", c.reason, d, err)
		}
	}
	long := free(strings.Repeat("word ", 2000)+"a", "b")
	d, err := Induce(context.Background(), long, Span{0, 2}, &InduceOptions{Subtask: strings.Repeat("word ", 300)})
	if err != nil || len(d.Description()) != 1024 || len(d.Name()) != 64 || !strings.HasSuffix(d.Name(), "-word") {
		t.Errorf("long texts are cut at whole words: %d, %q, %v", len(d.Description()), d.Name(), err)
	}
}

// Abstraction and induction are near linear: quadratic ones would take many minutes here.
func TestInduceLinear(t *testing.T) {
	for _, s := range []string{"a/", "/", "./", "~", "'a ", "\"", "a@", "<n_1", "+1", "1 ", "a(", "https://"} {
		newAbstraction(nil).text(strings.Repeat(s, 1<<18/len(s)))
	}
	const n = 30_000
	var steps []Step
	for i := range n {
		steps = append(steps, Step{Name: fmt.Sprintf("a%d", i), Err: true, Observation: "no"})
	}
	for i := range n {
		steps = append(steps, Step{Name: fmt.Sprintf("a%d", n-1-i)})
	}
	d, err := Induce(context.Background(), Trajectory{Task: "do it", Steps: steps}, Span{0, 2 * n}, nil)
	if err != nil || strings.Count(d.Content, "can fail: no\n") != n {
		t.Errorf("%d failed steps that were retried: %v", n, err)
	}
}

func TestProcedure(t *testing.T) {
	for _, c := range []struct {
		in     string
		want   []string
		reason string
	}{
		{"", nil, "no body"},
		{"- Procedure: a → b -> c\n- note\n", []string{"a", "b", "c"}, "both arrows"},
		{"intro\n\n* a note\n* PROCEDURE:\n  a ->\n\n  b\n* more\n", []string{"a", "b"}, "any case, any place, continued over lines"},
		{"   • procedure: a\nb → c", []string{"a b", "c"}, "a line without bullet continues"},
		{"    - Procedure: a", nil, "four spaces make no bullet"},
		{"Procedure: a → b", nil, "no bullet"},
		{"- Procedure: a\n- Procedure: b", []string{"a"}, "the first counts"},
		{"- Procedure: → ->  →", nil, "no steps"},
		{"- Procedure: a → b\r\n- c\r\n", []string{"a", "b"}, "line ends"},
	} {
		if diff := cmp.Diff(c.want, Procedure(c.in)); diff != "" {
			t.Errorf("%q (%s) (-want +got):\n%s", c.in, c.reason, diff)
		}
	}
}

func FuzzProcedure(f *testing.F) {
	for _, s := range []string{"- Procedure: a → b -> c\n- note\n", "x\n * procedure: a\n\n  ->b\n", "• Procedure:→"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		steps := Procedure(s)
		for _, x := range steps {
			if x == "" || x != strings.TrimSpace(x) {
				t.Fatalf("step %q of %q", x, s)
			}
		}
		if steps != nil && !slices.Equal(steps, Procedure(textBody(steps, nil))) {
			t.Fatalf("%q -> %q -> %q", s, steps, Procedure(textBody(steps, nil)))
		}
	})
}

func BenchmarkInduce(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Induce(context.Background(), kitchen, Span{0, 7}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// A description is found by its words: nothing of an identifier may be left behind.
func TestDescribe(t *testing.T) {
	for _, c := range []struct{ in, want, reason string }{
		{"Please send me HEA-22 for order #1234.", "Please send me for order", "prefixes joined to a number go with it"},
		{"Is ticket K-0012 done?", "Is ticket done?", "no blank before punctuation"},
		{"ask ann@example.com, then W-1-7; ok", "ask, then; ok", "several literals"},
		{"a well-known state-of-the-art tool", "a well-known state-of-the-art tool", "hyphens between words stay"},
		{"call find_customer(email) first", "call find customer first", "names become words, arguments go"},
	} {
		if got := describe(c.in, nil); got != c.want {
			t.Errorf("describe(%q) = %q, want %q: %s", c.in, got, c.want, c.reason)
		}
	}
	describe(strings.Repeat("a-", 1<<17), nil) // in linear time
}
