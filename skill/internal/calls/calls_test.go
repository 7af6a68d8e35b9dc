package calls

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	tests := []struct {
		name, lang, source string
		want               []string
		reason             string
	}{
		{"call", "python", "def f():\n    g(1)\n    h (2)\n\tk\t(3)", []string{"g", "h", "k"}, "a name, optional blanks, and a bracket"},
		{"no call", "python", "def f():\n    g\n    x = h\n    (k)\n", nil, "a name alone is none, and a line end is no blank"},
		{"itself", "python", "def f(n):\n    return f(n - 1)", nil, "it is defined here"},
		{"nested helper", "python", "def f():\n    async def g(x): return h(x)\n    class C(B): pass\n    return g(C())", []string{"h"},
			"a local definition hides the stored function of its name"},
		{"attribute", "python", "x.g(1); x . h(2); x.\\\n  k(3); a().b(c())", []string{"a", "c"}, "what stands after a dot belongs to an object"},
		{"comment", "python", "# g(1)\nh(2) # k(3)\n#", []string{"h"}, "comments do not run"},
		{"strings", "python", `a("b(1)") ; c('d(2)' "\"e(3)") ; """f(4)
" g(5)""" ; '''h(6) " ''' ; i("""\"""j(7)""")`, []string{"a", "c", "i"}, "string literals do not run"},
		{"raw", "python", `r"\" + g(1)" ; h(2)`, []string{"h"}, "a raw string does not end at a quote after a backslash either"},
		{"bytes", "python", `b"a(" + Rb'b(' + u"c(" ; xb"d(1)"`, nil, "prefixes of strings, and a name that is none"},
		{"f-string", "python", `f"a(1) {b(2)} {{c(3)}} {d('e(4)'):{f(5)}} " + g(6)`, []string{"b", "d", "f", "g"}, "what stands in braces runs"},
		{"f-string dictionary", "python", `f"{ {1: a()}[b(2)] } c(3)" ; d(4)`, []string{"a", "b", "d"}, "braces nest"},
		{"f-string triple", "python", "rf'''{a(1)}\n' b(2) {c(3)}''' ; d(4)", []string{"a", "c", "d"}, "the prefix has two letters"},
		{"keywords", "python", "if (a(1)) and not (b(2)): return (lambda: (c(3)))() or yield (4)\nassert (x); print (5)", []string{"a", "b", "c", "print"},
			"keywords take brackets and are no functions"},
		{"decorator", "python", "@retry(3)\ndef f(): pass", []string{"retry"}, "it is called"},
		{"open string", "python", "x = 'oops\ny = g(1)", []string{"g"}, "an error in one line must not hide the next"},
		{"open triple", "python", "'''\ng(1)", nil, "it goes to the end"},
		{"unicode", "python", "größe(1); 取得(2)", []string{"größe", "取得"}, "identifiers are not only ASCII"},
		{"numbers", "python", "1e5(x); 0xg(1); a1(2); 2_a(3)", []string{"a1"}, "letters of a number start no name"},
		{"long comment", "python", "// g(1)", []string{"g"}, "two slashes divide in Python"},
		{"other language", "lua", "# g(1)\nh('k(2)')", []string{"h"}, "unknown languages are read as Python"},
		{"script comments", "js", "// a(1)\nb(2) /* c(3)\nd(4) */ e(5) /*", []string{"b", "e"}, "both kinds of comments"},
		{"script strings", "JavaScript", "a('b(1)', \"c(2)\", `d(3)\n'e(4)`, '\\'f(5)')", []string{"a"}, "three kinds of strings"},
		{"template", "ts", "`a(1) ${b(2) + `c(3) ${d({e: f(4)})}`} g(5)` + h(6)", []string{"b", "d", "f", "h"}, "what stands in ${} runs, and templates nest"},
		{"script definitions", "js", "async function a(bot) { const b = async (x) => c(x); function* d() {} ; b(1); d(2); let e = 1; var g; e(); g() }",
			[]string{"c"}, "functions and variables of its own"},
		{"script keywords", "js", "if (a) { while (b) {} } for (;;) switch (c) {} ; new D(1); await e(2); typeof (f); super(3)", []string{"D", "e"}, "keywords"},
		{"script attribute", "js", "x.a(1); x\n .b(2); x?.c(3); this.d(4); f(...e(5))", []string{"e", "f"}, "a dot, but three dots spread"},
		{"regexp", "js", "x = /['\"`]a(1)/g.test(b(2)) ; y = c(3) / d(4) / 2 ; return /[/]\"e(5)/ ; f(6)", []string{"b", "c", "d", "f"},
			"a quote in a regular expression opens no string, and a slash after a value divides"},
		{"hash", "js", "this.#a(1); # b(2)", []string{"b"}, "no comment in JavaScript"},
		{"dollar", "js", "$(1); a$b(2)", []string{"$", "a$b"}, "part of a name in JavaScript"},
		{"helper of its own", "python", "def f(x):\n    if (x): return not (x)\n    f(x)\n    def g(): pass\n    class H(object): pass\n    g(); H(k())", []string{"k"}, "what the source defines is not called from elsewhere"},
		{"awaited", "python", "async def f():\n    await g()\n    x = [h() for y in k()]\n", []string{"g", "h", "k"}, "what is awaited is called"},
		{"twice", "python", "b(1); a(2); b(3)", []string{"a", "b"}, "sorted, each once"},
		{"empty", "", "", nil, "nothing"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatalf("%s: no reason", tt.name)
		}
		if diff := cmp.Diff(tt.want, Of(tt.lang, tt.source)); diff != "" {
			t.Errorf("%s (%s):\n%s\n(-want +got):\n%s", tt.name, tt.reason, tt.source, diff)
		}
	}
}

// In a program of pieces the calls are those of the pieces that run, in whatever order the pieces stand.
func TestOfPieces(t *testing.T) {
	type piece struct {
		text  string // %s is the name
		calls bool
	}
	both := []piece{
		{"%s(1)\n", true}, {"x = [%s (2), 3]\n", true}, {"y = {'a': %s\t(3)}\n", true}, {"%s\n", false}, {"x.%s(4)\n", false}, {"x. %s(5)\n", false},
		{"'%s(6)'\n", false}, {"\"%s(7)\"\n", false}, {"'\\'%s(8)'\n", false}, {"a%sb\n", false}, {"\"'\"\n%s(9)\n'\"'\n", true},
	}
	python := append(slices.Clone(both), []piece{
		{"# %s(1)\n", false}, {"'''%s(2)\n'''\n", false}, {"\"\"\"\n\"%s(3)\"\"\"\n", false}, {"f'{%s(4)}'\n", true}, {"f'{{%s(5)}}'\n", false},
		{"f\"{x}%s(6){y}\"\n", false}, {"# '''\n%s(7) # '''\n", true}, {"// %s(8)\n", true}, {"r'\\' %s(9)'\n", false},
	}...)
	js := append(slices.Clone(both), []piece{
		{"// %s(1)\n", false}, {"/* %s(2)\n */\n", false}, {"`%s(3)\n`\n", false}, {"`${%s(4)}`\n", true}, {"`${x}%s(5)${y}`\n", false},
		{"// `\n%s(6) // `\n", true}, {"`\\${%s(7)}`\n", false}, {"x = /'%s(8)/\n", false}, {"x = a / %s(9) / 2\n", true}, {"`{%s(1)}`\n", false},
	}...)
	rapid.Check(t, func(t *rapid.T) {
		lang, pieces := "python", python
		if rapid.Bool().Draw(t, "js") {
			lang, pieces = "js", js
		}
		var source strings.Builder
		var want []string
		for i := range rapid.IntRange(1, 12).Draw(t, "pieces") {
			p := rapid.SampledFrom(pieces).Draw(t, "piece")
			name := fmt.Sprintf("fn_%02d", i)
			fmt.Fprintf(&source, p.text, name)
			if p.calls {
				want = append(want, name)
			}
		}
		if diff := cmp.Diff(want, Of(lang, source.String())); diff != "" {
			t.Fatalf("calls of\n%s\n(-want +got):\n%s", source.String(), diff)
		}
	})
}

// Any text is read in linear time and gives sorted names that stand in it before a bracket.
func FuzzOf(f *testing.F) {
	for _, s := range []string{"g(1)", "f'{a(1)}'", "`${b(2)}`", "/[/ c(3)", "'''", "/* x", "x.\xffg(1)", "#", "..a(", "function*a("} {
		f.Add(true, s)
		f.Add(false, s)
	}
	f.Fuzz(func(t *testing.T, js bool, s string) {
		lang := "python"
		if js {
			lang = "js"
		}
		calls := Of(lang, s)
		for i, c := range calls {
			if i > 0 && c <= calls[i-1] {
				t.Fatalf("calls %q are not sorted", calls)
			}
			rest, ok := s, false
			for !ok {
				_, after, found := strings.Cut(rest, c)
				if !found {
					t.Fatalf("%q does not stand before a bracket in %q", c, s)
				}
				ok = strings.HasPrefix(strings.TrimLeft(after, " \t"), "(")
				rest = after
			}
		}
	})
}

// Inputs that a careless lexer reads again and again.
func BenchmarkOf(b *testing.B) {
	for _, in := range []struct{ name, unit string }{
		{"calls", "g(1)\n"}, {"regexps", "/["}, {"templates", "`${"}, {"braces", "f'{"}, {"comments", "/* "}, {"dots", "."}, {"quotes", "'\n"},
	} {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", in.name, n), func(b *testing.B) {
				s := strings.Repeat(in.unit, n/len(in.unit))
				b.SetBytes(int64(len(s)))
				b.ReportAllocs()
				for b.Loop() {
					Of("js", s)
					Of("python", s)
				}
			})
		}
	}
}
