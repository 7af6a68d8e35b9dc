package skill

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCode(t *testing.T) {
	for _, c := range []struct {
		body, lang, code string
		ok               bool
		reason           string
	}{
		{"", "", "", false, "no body"},
		{"Use it.\n\n```python\ndef f():\n    g()\n```\nmore\n", "python", "def f():\n    g()\n", true, "text around it is documentation"},
		{"```\nno\n```\n```js x=1\nyes()\n```\n```py\nlater\n```", "js", "yes()\n", true, "the first block with a tag"},
		{"```\n```python\nno\n```\n", "", "", false, "a tag inside a block opens none"},
		{"~~~~go\n~~~\n```\n~~~~~  \nx", "go", "~~~\n```\n", true, "tildes; a shorter fence and the other sign close nothing"},
		{"  ```python\n  a\n    b\n c\n   ```\n", "python", "a\n  b\nc\n", true, "the indent of the fence goes"},
		{"    ```python\n    a\n    ```\n", "", "", false, "four spaces are no fence"},
		{"``python\na\n``\n", "", "", false, "two signs are none"},
		{"```python `x`\na\n```\n", "", "", false, "nor is code in a line"},
		{"```python\na\n", "python", "a\n", true, "not closed: up to the end"},
		{"```python\na\n``` b\n```\n", "python", "a\n``` b\n", true, "a closing fence stands alone"},
		{"```python\r\na\r\n```\r\n", "python", "a\r\n", true, "line ends"},
		{"```python\n```\n", "python", "", true, "empty"},
		{"- a\n- b\n", "", "", false, "a text skill"},
	} {
		lang, code, ok := Code(c.body)
		if !ok {
			lang, code = "", ""
		}
		if lang != c.lang || code != c.code || ok != c.ok || c.reason == "" {
			t.Errorf("%q: %q, %q, %t (%s)", c.body, lang, code, ok, c.reason)
		}
	}
	for _, code := range []string{"def f(): pass\n", "x = '```'\n", "# `````` \n````\n", "~~~\n"} {
		if lang, got, ok := Code("intro\n" + pythonBody(code)); lang != "python" || got != code || !ok {
			t.Errorf("%q reads back as %q", code, got)
		}
	}
}

func FuzzCode(f *testing.F) {
	for _, s := range []string{"```python\na\n```\n", "  ~~~x\n```\n~~~~", "```\n```a\n", "\x00```\xff\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lang, code, ok := Code(s)
		if !ok {
			code = s
		} else if lang == "" || len(code) > len(s) {
			t.Fatalf("%q, %q of %q", lang, code, s)
		}
		if code = strings.TrimRight(code, "\n") + "\n"; strings.Trim(code, "\n") != "" { // pythonBody writes no code of line ends alone
			if _, got, ok := Code(pythonBody(code)); !ok || got != code {
				t.Fatalf("%q is written as %q and read as %q", code, pythonBody(code), got)
			}
		}
	})
}

func TestInduceCode(t *testing.T) {
	call := func(name string, args map[string]any) Step {
		if args == nil {
			args = map[string]any{}
		}
		return Step{Name: name, Args: args}
	}
	failed := func(s Step, message string) Step { s.Err, s.Observation = true, message; return s }
	keepAll := &InduceOptions{Keep: func(kind, value string) bool { return true }}
	for _, c := range []struct {
		task   string
		steps  []Step
		o      *InduceOptions
		name   string
		want   string
		reason string
	}{
		{"Refund an order", []Step{call("find_customer", map[string]any{"email": "amy@x.example"}), failed(call("refund", map[string]any{"order": 7}), "not delivered"), call("wait", nil),
			call("refund", map[string]any{"full": true, "order": 7, "to": nil})}, nil, "refund-an-order",
			"def refund_an_order(email, order):\n    # refund(order) can fail: not delivered\n    find_customer(email=email)\n    wait()\n    refund(full=True, order=order, to=None)\n",
			"parameters in the order of first use, notes first"},
		{"clean a mug", []Step{{Name: "go to cabinet 2"}, {Name: "take mug 1 from cabinet 2"}, {Name: `say "hi" {x}`}}, nil, "clean-a-mug",
			"def clean_a_mug(n, n_2, text):\n    act(f\"go to cabinet {n}\")\n    act(f\"take mug {n_2} from cabinet {n}\")\n    act(f\"say {text} {{x}}\")\n", "free text; braces stay"},
		{"wait", []Step{{Name: `a {b} \ "`}, {Name: "line\nend\t\x00é→"}}, keepAll, "wait",
			"def wait():\n    act(\"a {b} \\\\ \\\"\")\n    act(\"line\\nend\\té→\")\n", "no placeholder: a plain text; nothing leaves its quotation marks"},
		{"search", []Step{call("search", map[string]any{"search": "a", "q": 1}), call("get_it", nil)}, nil, "f-search",
			"def f_search(q, search_2):\n    search(q=q, search=search_2)\n    get_it()\n", "neither function nor parameter hides a tool"},
		{"3 import", []Step{call("a", map[string]any{"class": 1, "2nd": 2, "ü": 3, "x-y": "z"}), call("b", map[string]any{"class": 1})}, nil, "f-import",
			"def f_import(arg_2nd, class_, x_y, arg):\n    a(**{\"2nd\": arg_2nd, \"class\": class_, \"x-y\": x_y, \"ü\": arg})\n    b(**{\"class\": class_})\n",
			"arguments whose names are none in Python"},
		{"go on", []Step{call("get-order", map[string]any{"id": 5}), call("x.class", nil), call("shop.get", map[string]any{"id": 6}), {Name: "look 4711"}}, nil, "go-on",
			"def go_on(id, id_2, n):\n    act(\"get-order\", id=id)\n    act(\"x.class\")\n    shop.get(id=id_2)\n    act(f\"look {n}\")\n", "a tool whose name is none in Python"},
		{"again", []Step{call("next", map[string]any{"p": 1}), {Name: "think"}, {Name: "think", Observation: "x"}, {Name: "think", Observation: "y"}}, nil, "again",
			"def again(p):\n    next(p=p)\n    act(\"think\")  # repeat\n", "equal neighbours"},
		{"keep", []Step{call("f", map[string]any{"a": []any{1, "x\"", nil, map[string]any{"k": false, "l": []any{}}}, "b": -1.5}), call("g", nil)}, keepAll, "keep",
			"def keep():\n    f(a=[1, \"x\\\"\", None, {\"k\": False, \"l\": []}], b=-1.5)\n    g()\n", "kept values in Python"},
		{"deep", []Step{call("f", map[string]any{"a": nested(80), "b": nested(10)}), call("g", nil)}, keepAll, "deep",
			"def deep(a):\n    f(a=a, b=" + strings.Repeat("[", 10) + strings.Repeat("]", 10) + ")\n    g()\n", "what Python could refuse is a parameter"},
		{"go there", []Step{call("f", map[string]any{"go_there": 5}), call("g", nil)}, nil, "go-there", "def go_there(go_there_2):\n    f(go_there=go_there_2)\n    g()\n", "nor does a parameter hide the function"},
		{"order order", []Step{call("f", map[string]any{"n": 5, "n_2": 6}), {Name: "go 5 6"}}, nil, "order-order",
			"def order_order(n, n_2, n_3, n_2_2):\n    f(n=n, n_2=n_2)\n    act(f\"go {n_3} {n_2_2}\")\n", "a placeholder of a text is no argument"},
	} {
		o := InduceOptions{}
		if c.o != nil {
			o = *c.o
		}
		o.Format = FormatCode
		in, err := Induce(context.Background(), Trajectory{Task: c.task, Steps: c.steps}, Span{0, len(c.steps)}, &o)
		if err != nil {
			t.Errorf("%s: %v", c.task, err)
			continue
		}
		_, code, _ := Code(in.Body())
		if diff := cmp.Diff(c.want, code); diff != "" || in.Name() != c.name || c.reason == "" {
			t.Errorf("%q (%s) (-want +got):\n%s", in.Name(), c.reason, diff)
		}
	}
}

func nested(n int) any {
	var v any = []any{}
	for range n - 1 {
		v = []any{v}
	}
	return v
}

// A function of any episode has one def line, Python names alone, each parameter once and used, and no line that its texts could have put in.
func TestInduceCodeAnyEpisode(t *testing.T) {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "import", "get-order", "get_order", "app.show", "act", "None", "__debug__", "x.def", "1st", "订单", "n", "n_2", "go to cabinet 1", `say "hi\" {x}`,
		"a{b}c 5 {}", `"""`, "\x00\\", "line\nbreak \"q\" {0}", "`````", `\N{DASH} 5`, "\u0085x", "order_id", "order_id_2", "print", "ﬁx", "lambda", "\"\nimport os\n#"}), rapid.String())
	value := rapid.OneOf(rapid.Map(text, func(s string) any { return s }), rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](-3.5e300), rapid.Just(nested(60)),
		rapid.Just[any]([]any{1.5, "x\"\n", map[string]any{"a\"": nil}}))
	def := regexp.MustCompile(`^def ([a-z_][a-z0-9_]*)\(([a-zA-Z0-9_, ]*)\):$`)
	line := regexp.MustCompile(`^    (# .*|[A-Za-z_][A-Za-z0-9_.]*\(.*\)(  # repeat)?)$`)
	made := 0
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.Custom(func(t *rapid.T) Step {
			s := Step{Name: text.Draw(t, "name"), Observation: text.Draw(t, "observation"), Err: rapid.IntRange(0, 3).Draw(t, "err") == 0}
			if rapid.Bool().Draw(t, "structured") {
				s.Args = rapid.MapOfN(text, value, 0, 4).Draw(t, "args")
			}
			return s
		})
		traj := Trajectory{Task: text.Draw(t, "task"), Steps: rapid.SliceOfN(step, 2, 8).Draw(t, "steps")}
		o := &InduceOptions{Format: FormatCode, Subtask: rapid.SampledFrom([]string{"", "import", "get order", "act", "1st", "f"}).Draw(t, "subtask")}
		if rapid.Bool().Draw(t, "keep") {
			o.Keep = func(_, value string) bool { return len(value)%2 == 0 }
		}
		in, err := Induce(context.Background(), traj, Span{0, len(traj.Steps)}, o)
		if errors.Is(err, ErrTrivial) || errors.Is(err, ErrUnsafe) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		made++
		_, code, _ := Code(in.Body())
		lines := strings.Split(strings.TrimSuffix(code, "\n"), "\n")
		m := def.FindStringSubmatch(lines[0])
		r, err := in.ParseRecord()
		if err != nil || m == nil || m[1] != r.Function || slug(r.Function) != in.Name() {
			t.Fatalf("%q, %v, name %q", lines[0], err, in.Name())
		}
		seen := map[string]bool{m[1]: true}
		for _, c := range r.Calls {
			seen[c] = true
		}
		if m[2] != "" {
			for p := range strings.SplitSeq(m[2], ", ") {
				if !isPythonName(p) || seen[p] || !regexp.MustCompile(`[=:{] ?`+p+`\b`).MatchString(code) {
					t.Fatalf("parameter %q of %q", p, code)
				}
				seen[p] = true
			}
		}
		if !isPythonName(m[1]) || len(m[1]) > maxName || slices.Contains(r.Calls, m[1]) {
			t.Fatalf("function %q calls %q", m[1], r.Calls)
		}
		for _, l := range lines[1:] {
			if !line.MatchString(l) || strings.ContainsAny(l, "\r\x00\f") {
				t.Fatalf("line %q of %q", l, code)
			}
		}
	})
	if made == 0 && !testing.Short() {
		t.Error("no function was made")
	}
}

func TestFunctionName(t *testing.T) {
	long := strings.Repeat("a", maxName)
	for _, c := range []struct {
		skill  string
		taken  []string
		want   string
		reason string
	}{
		{"clean-a-mug", nil, "clean_a_mug", "the name of the skill"},
		{"3-mugs", nil, "f_3_mugs", "a digit first"},
		{"import", nil, "f_import", "a keyword"},
		{"search", []string{"search", "f_search"}, "f_search_2", "taken twice"},
		{long, []string{long}, "f_" + long[:maxName-2], "cut to the limit of names"},
		{long, []string{long, "f_" + long[:maxName-2]}, "f_" + long[:maxName-4] + "_2", "cut for a number"},
	} {
		taken := make(map[string]bool)
		for _, s := range c.taken {
			taken[s] = true
		}
		if got := functionName(c.skill, taken); got != c.want || c.reason == "" {
			t.Errorf("%q: %q, want %q (%s)", c.skill, got, c.want, c.reason)
		}
	}
}
