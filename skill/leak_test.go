package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// valuesOf returns the values of a whole trajectory.
func valuesOf(t interface{ Fatal(...any) }, traj Trajectory, o *InduceOptions) *values {
	in, err := newInduction(context.Background(), traj, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.part(context.Background(), Span{0, len(traj.Steps)})
	if err != nil {
		t.Fatal(err)
	}
	return newValues(in.o.Keep, in.o.Subtask, p)
}

// A value of the episode that stands in a skill is found wherever it was in the episode; a word of the language is not.
func TestLeaks(t *testing.T) {
	args := func(m map[string]any) Trajectory { return Trajectory{Steps: []Step{{Name: "call", Args: m}}} }
	said := func(s string) Trajectory { return Trajectory{Steps: []Step{{Name: s}}} }
	seen := func(s string) Trajectory { return Trajectory{Steps: []Step{{Name: "look", Observation: s}}} }
	task := func(s string, t Trajectory) Trajectory { t.Task = s; return t }
	for _, c := range []struct {
		traj   Trajectory
		skill  string
		want   []string
		reason string
	}{
		{seen("from Amy@Example.com."), "write to amy@example.com first", []string{"Amy@Example.com"}, "an e-mail counts anywhere, in any case"},
		{seen("see https://x.example/a/7, then"), "open (https://x.example/a/7)", []string{"https://x.example/a/7,"}, "a URL counts anywhere, without punctuation after it"},
		{seen("id 550e8400-e29b-41d4-a716-446655440000"), "use 550E8400-E29B-41D4-A716-446655440000", []string{"550e8400-e29b-41d4-a716-446655440000"}, "an identifier counts anywhere"},
		{Trajectory{Steps: []Step{{Thought: "ask a@b.cd"}}}, "a@b.cd", []string{"a@b.cd"}, "also in a thought"},
		{seen("order 1001 on 2024-05-01 at 10:30"), "order 1001 on 2024-05-01 at 10:30", nil, "what was only read can be a fact of the world"},
		{said("order 1001 on 2024-05-01 at 10:30"), "1001; 2024-05-01; 10:30", []string{"1001", "10:30", "2024-05-01"}, "what was done is not"},
		{task("order 1001", said("x")), "order 1001", []string{"1001"}, "what was told is not"},
		{Trajectory{Steps: []Step{{Name: "x", Marker: "order 1001"}}}, "order 1001", []string{"1001"}, "a marker tells"},
		{said("take mug 2"), "take mug 2 from a shelf", []string{"mug 2"}, "a short number counts after its word"},
		{said("take mug 2"), "try 2 times, shelf 2", nil, "a short number alone is no value"},
		{said("2 mugs"), "2 plates", nil, "nor one without a word before it"},
		{said("take mug 2"), "take mug 21 and mug x2", nil, "whole words alone"},
		{args(map[string]any{"order_id": 7}), "get_order(order_id=7)", []string{"order_id 7"}, "a short argument counts with its name"},
		{args(map[string]any{"orderId": 7}), "get_order(order_id=7)", []string{"order_id 7"}, "in snake case too"},
		{args(map[string]any{"page": 1, "offset": 0, "step": -1}), "page=1, offset=0, step=-1", nil, "0, 1 and -1 are no values of arguments"},
		{args(map[string]any{"amount": 1234.5}), "pay 1234.5", []string{"1234.5"}, "a long number by itself"},
		{args(map[string]any{"sku": "B07XYZ1234"}), "buy b07xyz1234", []string{"B07XYZ1234"}, "a text with 4 digits by itself"},
		{args(map[string]any{"code": "utf-8", "hash": "sha256"}), "as utf-8 with sha256", nil, "fewer digits do not"},
		{task("close HEA-22", args(map[string]any{"ticket": "HEA-22"})), "close HEA-22", []string{"HEA-22", "hea 22"}, "unless the task names it"},
		{task("Refund Amy's order", args(map[string]any{"name": "Amy"})), "ask Amy", []string{"Amy"}, "a name that the task gives"},
		{args(map[string]any{"button": "Submit"}), "press Submit", nil, "a capital letter alone can be the label of a button"},
		{task("Will Will come?", args(map[string]any{"name": "Will"})), "it will come", nil, "a name has its capital letter"},
		{task("Ab Cd, Ab Cd Ab", args(map[string]any{"a": "Ab Cd", "b": "Ab Cd Ab"})), "ab cd Ab", []string{"Ab Cd Ab"}, "within its own words"},
		{task("show pending orders", args(map[string]any{"status": "pending"})), "show pending orders", nil, "a word of the language is no value"},
		{task("convert to EUR", args(map[string]any{"to": "EUR"})), "convert to EUR", nil, "nor is one in capitals"},
		{task("say please call me back", args(map[string]any{"body": "please call me back"})), "say: please call me back!", []string{"please call me back"}, "4 words of it are, whatever stands between them"},
		{task("buy the big red mug", args(map[string]any{"q": "big red mug"})), "buy the big red mug", nil, "3 are not"},
		{args(map[string]any{"password": "hunter"}), "log in with hunter", []string{"hunter"}, "secrets need neither task nor digits"},
		{args(map[string]any{"apiKey": "abc def"}), "use ABC  def", []string{"abc def"}, "a key"},
		{args(map[string]any{"max_tokens": "many"}), "many", nil, "no secret"},
		{args(map[string]any{"a": []any{map[string]any{"b": "mail a@b.cd"}}}), "to a@b.cd", []string{"a@b.cd"}, "inside an argument"},
		{args(map[string]any{"id": "12345 Main Street, Springfield, 99999 Illinois, USA and more that differs"}), "12345 Main Street Springfield 99999 Illinois USA and so on",
			[]string{"12345", "12345 Main Street, Springfield, 99999 Illinois, USA and more that differs", "99999"}, "the first 8 words of a long text"},
		{task(`reply "Thank you, Bob"`, said("x")), "say Thank you Bob", []string{"Thank you, Bob"}, "a quotation of the task"},
		{said(`click "Add to Cart"`), "click Add to Cart", nil, "a quotation that the task does not hold"},
		{said(`type "call 'amy@x.example' now"`), "amy@x.example", []string{"amy@x.example"}, "inside quotations"},
		{task("read /home/amy/a.txt", said("x")), `run "cat /home/amy/a.txt"`, []string{"/home/amy/a.txt"}, "a path of the task, inside a quotation of the skill"},
		{said("open /admin/users"), "open /admin/users", nil, "a path of the environment"},
		{Trajectory{Task: "Get Order Details", Steps: []Step{{Name: "get", Args: map[string]any{"Order Details": "Order Details"}}}}, "Order Details", nil, "names of arguments"},
		{Trajectory{Task: "x", Steps: []Step{{Name: "call 4711", Args: map[string]any{"n": 4711}}}}, "call 4711", nil, "names of tools"},
		{said("send to 5 of <email>"), "send to <email>", nil, "placeholders are no values"},
	} {
		v := valuesOf(t, c.traj, &InduceOptions{})
		for _, got := range [][]string{
			v.leaksOf(c.skill, "", FormatText),
			v.leaksOf("x", "- "+c.skill+"\n", FormatText),
			v.leaksOf("x", "- Procedure: a → "+c.skill+" → b\n", FormatText),
			v.leaksOf("x", "```python\n    # "+c.skill+"\n```\n", FormatCode),
		} {
			if diff := cmp.Diff(c.want, got); diff != "" || c.reason == "" {
				t.Errorf("%q (%s) (-want +got):\n%s", c.skill, c.reason, diff)
			}
		}
	}
	v := valuesOf(t, args(map[string]any{"a": "A1234", "b": "B 1234"}), &InduceOptions{Keep: func(kind, value string) bool { return kind == "a" && value == `"A1234"` || kind == "n" }})
	if got := v.leaksOf("A1234 B 1234 1234", "", FormatText); !slices.Equal(got, []string{"B 1234"}) {
		t.Errorf("with Keep %q, want what it does not exempt", got)
	}
	v = valuesOf(t, said("x"), &InduceOptions{Subtask: "refund order 1001"})
	if got := v.leaksOf("order 1001", "", FormatText); !slices.Equal(got, []string{"1001"}) {
		t.Errorf("%q, want the value of the subtask", got)
	}
	v = valuesOf(t, said("a 1001"), &InduceOptions{})
	if got := v.leaksOf("x", "- Procedure: a → 10\n- b\n- 01\n", FormatText); got != nil {
		t.Errorf("%q is joined over steps or bullets", got)
	}
}

// Phrases in a text are those that a search word by word finds, and after the longest from the left are replaced, none is left.
func TestPhrasesMatchOracle(t *testing.T) {
	word := rapid.SampledFrom([]string{"Ab", "ab", "Cd", "ef1234", "GH", "i", "<n>", "9999"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 12).Draw(t, "words"), rapid.SampledFrom([]string{" ", ", ", "-"}).Draw(t, "sep"))
	})
	hits := 0
	rapid.Check(t, func(t *rapid.T) {
		v := &values{literals: make(map[[2]string]*value), words: make(map[string]int32), phrases: make(map[phrase]*value)}
		said := rapid.SliceOfN(text, 1, 5).Draw(t, "values")
		for _, s := range said {
			v.addText(s, rapid.Bool().Draw(t, "secret"))
		}
		for _, x := range v.phrases {
			x.counts = true
		}
		s := text.Draw(t, "text")
		if rapid.Bool().Draw(t, "with a value") {
			s += " " + said[0]
		}
		var got []string
		v.visitPhrases(s, func(m match, x *value) bool {
			got = append(got, fmt.Sprintf("%d:%d %s", m.start, m.end, x.text))
			return false
		})
		var want []string
		spans := wordSpans(s)
		for i := range spans {
			for j := i + 1; j <= min(len(spans), i+maxPhrase); j++ {
				if slices.ContainsFunc(spans[i:j], func(w [2]int) bool { return w[1] < 0 }) {
					break
				}
				for _, x := range v.phrases {
					var ws []string
					for _, w := range wordSpans(x.text) {
						if w[1] < 0 || len(ws) == maxPhrase {
							break
						}
						ws = append(ws, x.text[w[0]:w[1]])
					}
					var here []string
					for _, w := range spans[i:j] {
						here = append(here, s[w[0]:w[1]])
					}
					in := strings.Join(here, " ")
					if strings.EqualFold(in, strings.Join(ws, " ")) && (!x.upper || in != strings.ToLower(in)) {
						want = append(want, fmt.Sprintf("%d:%d %s", spans[i][0], spans[j-1][1], x.text))
					}
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", s, diff)
		}
		hits += len(got)
		var b strings.Builder
		at := 0
		for _, m := range v.replaceable(s) {
			b.WriteString(s[at:m.start] + "<text>")
			at = m.end
		}
		b.WriteString(s[at:])
		if left := v.find(b.String()); len(left) > 0 {
			t.Fatalf("%v in %q of %q", left, b.String(), s)
		}
		if left := v.find(v.cut(s)); len(left) > 0 {
			t.Fatalf("%v in %q", left, v.cut(s))
		}
	})
	if hits == 0 && !testing.Short() {
		t.Error("no phrase was drawn")
	}
}

func wordSpans(s string) (out [][2]int) {
	eachWord(s, func(start, end int) bool { out = append(out, [2]int{start, end}); return true })
	return out
}

// leaky draws episodes that are full of values, in all places.
func leaky() *rapid.Generator[Trajectory] {
	piece := rapid.SampledFrom([]string{"Amy Smith", "amy@x.example", "Red Mug", `"Red Mug"`, "'Bob Jones'", "1001", "12", "mug 2", "/home/amy/a.txt", "2024-05-01", "10:30", "B07XYZ1234",
		"https://x.example/a", "550e8400-e29b-41d4-a716-446655440000", "go", "to", "please call me back", "\n", "->", "<n>", "Red_Mug", "Amy", "Mug", "Red", "\x01", "\xff", "Bob-Jones", "订单", "x.Mug"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), rapid.SampledFrom([]string{" ", "", ", "}).Draw(t, "sep"))
	})
	name := rapid.SampledFrom([]string{"name", "order_id", "q", "Red Mug", "password", "orderId", "n"})
	arg := rapid.OneOf(rapid.Map(text, func(s string) any { return s }), rapid.Just[any](1001), rapid.Just[any](12), rapid.Just[any]([]any{"Amy Smith", 12.5}), rapid.Just[any](nil))
	step := rapid.Custom(func(t *rapid.T) Step {
		s := Step{Name: text.Draw(t, "name"), Observation: text.Draw(t, "observation"), Err: rapid.IntRange(0, 3).Draw(t, "err") == 0}
		if rapid.Bool().Draw(t, "structured") {
			s.Name = rapid.SampledFrom([]string{"find", "get_order", "app.buy", "Red Mug"}).Draw(t, "tool")
			s.Args = rapid.MapOfN(name, arg, 0, 3).Draw(t, "args")
		}
		if rapid.IntRange(0, 3).Draw(t, "marked") == 0 {
			s.Marker = text.Draw(t, "marker")
		}
		return s
	})
	return rapid.Custom(func(t *rapid.T) Trajectory {
		return Trajectory{TaskID: "t", Task: text.Draw(t, "task"), Steps: rapid.SliceOfN(step, 2, 8).Draw(t, "steps")}
	})
}

// The inducer without a model leaves no value of an episode in a skill, whatever the episode, in each format and from a pair.
func TestRulesLeaveNoValue(t *testing.T) {
	made, pairs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		traj := leaky().Draw(t, "trajectory")
		for _, format := range []Format{FormatText, FormatCode} {
			in, err := Induce(context.Background(), traj, Span{0, len(traj.Steps)}, &InduceOptions{Format: format, RejectLeaks: true})
			if errors.Is(err, ErrTrivial) {
				continue
			}
			if err != nil || len(in.Leaks) > 0 {
				t.Fatalf("%v, %v", in, err)
			}
			made++
			if _, err := Marshal(in.Document); err != nil {
				t.Fatal(err)
			}
		}
		failed := leaky().Draw(t, "failure")
		failed.Task = traj.Task
		traj.Reward, failed.Reward = new(1.0), new(0.0)
		in, err := Contrast(context.Background(), []Trajectory{traj, failed}, nil)
		if errors.Is(err, ErrTrivial) || errors.Is(err, ErrNoPair) {
			return
		}
		if err != nil || len(in.Leaks) > 0 {
			t.Fatalf("%v, %v", in, err)
		}
		pairs++
	})
	if !testing.Short() && (made == 0 || pairs == 0) {
		t.Errorf("%d skills, %d of pairs", made, pairs)
	}
}

// What public episodes leave in skills: nothing, under every segmentation and format.
func TestRulesLeaveNoValueOfPublicEpisodes(t *testing.T) {
	skills := 0
	check := func(traj Trajectory, s *SegmentOptions) {
		for _, format := range []Format{FormatText, FormatCode} {
			out, err := InduceAll(context.Background(), traj, s, &InduceOptions{Format: format})
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range out {
				if o.Err != nil {
					if !errors.Is(o.Err, ErrTrivial) {
						t.Errorf("%v", o.Err)
					}
					continue
				}
				skills++
				if len(o.Leaks) > 0 || len(o.Findings) > 0 {
					t.Errorf("leaks %q, findings %v\n%s\n%s", o.Leaks, o.Findings, o.Description(), o.Body())
				}
			}
		}
	}
	var houses struct {
		Trajectories []struct {
			ID      string
			Actions []string
		}
	}
	public(t, "alfworld/expert_walkthroughs.json", &houses)
	for i, x := range houses.Trajectories {
		if i%5 != 0 || testing.Short() && i%50 != 0 {
			continue
		}
		traj := free(x.Actions...)
		traj.Task = strings.ReplaceAll(x.ID, "-", " ")
		check(traj, nil)
	}
	var intents []struct {
		Intent string         `json:"intent"`
		Values map[string]any `json:"instantiation_dict"`
	}
	public(t, "skills/webarena/intents.json", &intents)
	for _, x := range intents {
		typed := "type"
		for _, v := range x.Values {
			typed += fmt.Sprintf(" %q", fmt.Sprint(v))
		}
		if len(x.Values) > 1 { // the order of a map must not count
			typed = "type it"
		}
		check(Trajectory{Task: x.Intent, Steps: []Step{{Name: "browser.search", Args: x.Values}, {Name: "click [164]"}, {Name: typed}}}, &SegmentOptions{TaskLevel: true})
	}
	if skills < 1000 {
		t.Errorf("%d skills", skills)
	}
}

// public reads a file of the public test data or skips the test.
func public(t *testing.T, name string, v any) {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set")
	}
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// The constants and keywords that code is written in are no values, alone or beside a word of the episode; in a description they are.
func TestLeaksPythonWords(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		task   string
		args   map[string]any
		reason string
	}{
		{"Set the reminder to None", map[string]any{"reminder": "None", "x": nil}, "None"},
		{"Set the flag to True", map[string]any{"flag": "True", "x": true}, "True"},
		{"Set the flag to False", map[string]any{"flag": "False", "x": false}, "False"},
		{"Call Full True", map[string]any{"who": "Full True", "full": true}, "after the name of its argument"},
		{"Call True Order", map[string]any{"full": true, "order": "True Order"}, "before the name of the next one"},
		{"Call Odd True", map[string]any{"an odd": true, "who": "Odd True"}, "after a name that is none in Python"},
		{"log in", map[string]any{"password": "def"}, "a keyword as a password"},
	} {
		traj := Trajectory{Task: c.task, Steps: []Step{{Name: "set_it", Args: c.args}, {Name: "check_it", Args: map[string]any{"x": nil}}}}
		in, err := Induce(ctx, traj, Span{0, 2}, &InduceOptions{Subtask: "change a setting", Format: FormatCode, RejectLeaks: true})
		if err != nil || len(in.Leaks) > 0 || c.reason == "" {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
	traj := Trajectory{Task: "Call Max None", Steps: []Step{{Name: "call", Args: map[string]any{"who": "None", "whole": "Max None"}}, {Name: "wait"}}}
	reply := withCode("f", "Call None", "def f(a):\n    if a is None:\n        return call(None)\n    call('Max None')\n")
	in, err := Induce(ctx, traj, Span{0, 2}, &InduceOptions{Format: FormatCode, Generate: (&scripted{replies: []string{reply}}).reply})
	if want := []string{"Max None", "None"}; err != nil || !slices.Equal(in.Leaks, want) {
		t.Errorf("%v, %v, want %q: a name with such a word, and the word in the description", in.Leaks, err, want)
	}
	reply = withCode("f", "Call someone", "def f(a):\n    if a is None:\n        return call(None)\n")
	in, err = Induce(ctx, traj, Span{0, 2}, &InduceOptions{Format: FormatCode, RejectLeaks: true, Generate: (&scripted{replies: []string{reply}}).reply})
	if err != nil || len(in.Leaks) > 0 {
		t.Errorf("%v: code of a model may say None", err)
	}
}

// Values are collected and found in near linear time: quadratic search would take many minutes here.
func TestLeaksLinear(t *testing.T) {
	n := 1 << 15
	if testing.Short() {
		n = 1 << 13
	}
	for _, s := range []string{"Ab ", "Ab 1234 ", "order 1", "\"a 'b 1234' c\" ", "a@b.cd ", "<n> A1234 ", "A", "1234 "} {
		long := strings.Repeat(s, n/len(s))
		traj := Trajectory{Task: long, Steps: []Step{{Name: long, Observation: long}, {Name: "f", Args: map[string]any{"a": long, "secret": long, "b": strings.Fields(long)}}}}
		v := valuesOf(t, traj, &InduceOptions{})
		v.leaksOf(long, "- "+long, FormatText)
	}
	words := make([]any, n/8)
	for i := range words {
		words[i] = fmt.Sprintf("Order Of %d", i)
	}
	v := valuesOf(t, Trajectory{Steps: []Step{{Name: "f", Args: map[string]any{"a": words}}}}, &InduceOptions{})
	if got := v.leaksOf("", "- "+strings.Repeat("Order Of ", n)+"1000", FormatText); !slices.Equal(got, []string{"1000", "Order Of 1000"}) {
		t.Errorf("%.100q", got)
	}
}
