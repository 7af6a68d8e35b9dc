package memory

import "testing"

func TestDefines(t *testing.T) {
	for _, tt := range []struct {
		language, source string
		want             bool
		reason           string
	}{
		{"python", "def f():\n    pass\n", true, "a function"},
		{"Py", "import os\n\nasync  def\tf ( x ):\n    pass\n", true, "one that waits"},
		{"python", "x = 1; def f(): pass", true, "on a line with others; Python refuses it, but it is plain what is meant"},
		{"python3", "def f[T](x: T) -> T:\n    return x\n", true, "with parameters of types"},
		{"python", "def ff():\n    f()\n", false, "a longer name, and a call"},
		{"python", "# def f():\ndef g(): pass\n", false, "a comment"},
		{"python", "f = lambda: 1\n", false, "no def"},
		{"python", "class f:\n    pass\n", false, "a class"},
		{"python", "undef f()\n", false, "part of a word"},
		{"python", "def größe():\n    pass\n", false, "another name"},
		{"js", "function f() {}\n", true, "a function"},
		{"JavaScript", "export default async function f(x) {}\n", true, "one that waits"},
		{"js", "const a = 1; function* f() {}", true, "a generator behind a statement"},
		{"js", "let f = async (x) => x\n", true, "an arrow function"},
		{"ts", "export const f: (x: number) => void = (x) => {}\n", true, "with a type"},
		{"ts", "function f<T>(x: T) {}\n", true, "with parameters of types"},
		{"js", "var f2 = 1\nf()\n", false, "a longer name, and a call"},
		{"js", "// function f() {}\n", false, "a comment"},
		{"js", "const g = f => f\n", false, "a parameter"},
		{"js", "let f\n", false, "not defined yet"},
		{"js", "const $f = 1\n", false, "a longer name"},
		{"go", "func f() {}\n", true, "the word occurs"},
		{"sh", "f() { ls; }", true, "the word occurs"},
		{"sh", "ff() { ls_f; }; fé() { :; }", false, "within words alone"},
		{"sh", "fff f", true, "after a longer word"},
		{"sh", "", false, "no code"},
	} {
		if tt.reason == "" {
			t.Fatalf("%q: no reason", tt.source)
		}
		if got := defines(tt.language, tt.source, "f"); got != tt.want {
			t.Errorf("%s: %q defines f: %v, want %v: %s", tt.language, tt.source, got, tt.want, tt.reason)
		}
	}
	if !defines("python", "def größe_2(): pass", "größe_2") {
		t.Error("a name of other letters is not found")
	}
}
