package document

import (
	"context"
	"errors"
	"fmt"
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func page1(t testing.TB, source string) Document {
	t.Helper()
	d, err := ReadHTML(context.Background(), "p", []byte(source))
	if err != nil {
		t.Fatalf("%.200q: %v", source, err)
	}
	return d
}

func TestReadHTML(t *testing.T) {
	for _, tt := range []struct{ name, in, want, reason string }{
		{"paragraphs", "<p>One\n  two.<p>Three", "One two.\n\nThree", "white space is one blank, and a paragraph needs no end tag"},
		{"headings", "<h1>A <b>b</b></h1><h3>C<br>d</h3>e", "# A b\n\n### C d\n\ne", "one line each, by level"},
		{"empty heading", "<h1></h1>a<h2> </h2>", "a", "no marker without a text"},
		{"list", "<ul><li>a<li><p>b</p><p>c</p></li></ul>d", "- a\n- b\n\n  c\n\nd", "a later paragraph stands below the first"},
		{"nested list", `<ol start=3><li>a<ul><li>b</ul><li>c</ol>`, "3. a\n   - b\n4. c", "the start, and columns by depth"},
		{"list without items", "<ul></ul><li>a", "- a", "an item without a list"},
		{"table", "<table><tr><th>k<th>v<tr><td>a<td>b</table>", "k | v\na | b", "cells need no end tag"},
		{"table blocks", "<table><tr><td><p>a</p><p>b</p></td><td><ul><li>c</li><li>d</li></ul></td></tr></table>", "a b | - c - d", "a row is a line"},
		{"table empty cells", "<table><tr><td></td><td>b</td><td></td></tr><tr><td></td></tr></table>c", " | b |\n\nc", "columns stay, a row without text goes"},
		{"layout", "<table><tr><td><h1>A</h1>b</td><td>c</td></tr></table>", "# A\n\nb\n\nc", "a table of blocks is no table"},
		{"table in table", "<table><tr><td>x<table><tr><td>a<td>b</table></td></tr></table>", "x\n\na | b", "the outer one is layout"},
		{"pre", "<p>a<pre class='lang-go'>\n  x := 1\n\n\ty</pre>b", "a\n\n```go\n  x := 1\n\n\ty\n```\n\nb", "verbatim, but for the first line break"},
		{"pre code", `<pre><code class="hljs language-c++">a&lt;b&gt; <i>c</i><br>d</code></pre>`, "```c++\na<b> c\nd\n```", "the language of the code inside"},
		{"pre backticks", "<pre>```\nx</pre>", "````\n```\nx\n````", "a longer fence"},
		{"pre lines", "<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```", "lines may be elements"},
		{"pre open", "<pre>a<h2>B</h2>c", "```\na\n```\n\n## B\n\nc", "a heading ends it"},
		{"code", "Use <code> go  vet</code>, not <code>a`b</code> or <code></code>.", "Use `go vet`, not ``a`b`` or .", "backticks outside the word"},
		{"code open", "<p>Use <code>go<p>later", "Use `go`\n\nlater", "ends with its paragraph"},
		{"code in a heading", "<h2><code>Foo</code> method</h2>", "## `Foo` method", "markers first"},
		{"entities", "&lt;a&gt; &amp; &copy;&nbsp;&#x41; &bogus; &amp", "<a> & © A &bogus; &", "as HTML names them"},
		{"unseen", "soft\u00adware &#8203;x", "software x", "no soft hyphens"},
		{"definitions", "<dl><dt>k<dd>v<dt>l<dd>w</dl>", "k\nv\nl\nw", "lines"},
		{"dropped", "a<script>if (x < 1) '<p>no'</script><style>p{}</style><nav>no<nav>no</nav></nav><header>no</header><footer>no</footer>" +
			"<aside>no</aside><form>no<input value=no></form><svg><title>no</title></svg><noscript>no</noscript><template>no</template>" +
			"<iframe>no</iframe><textarea>no</textarea><button>no</button>b", "a\n\nb", "what is no text of the page"},
		{"dropped in a word", "a<svg><path/></svg>b", "ab", "an icon is no word break"},
		{"script end", "<script>x</scripty></script >a", "a", "the whole name counts"},
		{"comments", "a<!-- <p> --- > -->b<!-->c<!--->d<!x>e<?x?>f</ x>g", "abcdefg", "all forms of them"},
		{"cdata", "a<![CDATA[ <b> ]]>c", "a <b> c", "text of XHTML"},
		{"no tags", "a < b && c <d", "a < b && c", "a sign alone is text; a tag that is cut off ends the page"},
		{"attributes", `<p title="a > b" data-x='c"d' y=z/>e</p><a href=x/>f</a>`, "e\n\nf", "signs in quotes"},
		{"case", "<P>a</P><UL><LI>b</UL><PRE>c</PRE>", "a\n\n- b\n\n```\nc\n```", "names in any case"},
		{"form alone", "<form><p>The page</p></form>", "The page", "a form that is all of the page"},
		{"form besides", "<form>login</form><p>The page</p>", "The page", "else it goes"},
		{"main", "<form><div>x<main>The page</main></div></form>", "The page", "main content is never dropped"},
		{"nav open", "<div><nav>no<ul><li>no</div><p>text", "text", "ends with the element around it"},
		{"nav never ended", "<nav>menu<p>text<p>more", "menu\n\ntext\n\nmore", "nothing ended it, so it is kept"},
		{"nav never ended later", "<nav>a</nav>b<nav>c<p>d<!-- x -->e", "b\n\nc\n\nde", "with what was read before as it was"},
		{"nav self closed", "<nav/>a<script src=x/>b</script>c", "ac", "an empty one drops nothing; a value may end in a slash"},
		{"title open", "<title>a<p>b", "a\n\nb", "read as markup"},
		{"comment open", "a<!-- b <p>c", "ac", "ends at the next sign"},
		{"quote open", `a<p class="x>b<p>c`, "a\n\nb\n\nc", "quotes count no more"},
		{"misnested", "<b>a<ul><li>b</b><table></li>c</ul>d</table>e", "a\n\n- b\n\n  c\n\nd\n\ne", "all text in order"},
		{"body", "<html><head><meta charset=utf-8><link rel=x></head><body>a</body></html>", "a", "nothing of the head"},
		{"line ends", "<pre>a\r\nb\rc</pre>", "```\na\nb\nc\n```", "one form"},
	} {
		if tt.reason == "" {
			t.Fatalf("%s has no reason", tt.name)
		}
		if got := page1(t, tt.in).Text; got != tt.want {
			t.Errorf("%s: %q, want %q (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

func TestReadHTMLHead(t *testing.T) {
	d := page1(t, "<!doctype html><HTML lang='en-GB'><title> A &amp;\n B </title><title>C</title><p>x")
	if d.Title != "A & B" || d.Language != "en-GB" || d.Kind != Web || d.ID != "p" {
		t.Errorf("%+v", d)
	}
}

func TestReadHTMLEncodings(t *testing.T) {
	utf16 := func(s string, big bool) string {
		var b []byte
		for _, r := range "\ufeff" + s { // the texts below have no pairs
			if big {
				b = append(b, byte(r>>8), byte(r))
			} else {
				b = append(b, byte(r), byte(r>>8))
			}
		}
		return string(b)
	}
	for _, tt := range []struct{ name, in, want, fault string }{
		{"UTF-8", "<p>Zürich", "Zürich", ""},
		{"mark", "\ufeff<p>Zürich", "Zürich", ""},
		{"latin 1", "<meta charset=iso-8859-1><p>Z\xfcrich", "Zürich", ""},
		{"windows-1252", `<meta http-equiv=x content="text/html; charset=Windows-1252"><p>` + "\x93a\x94 \x80", "“a” €", ""},
		{"XML", `<?xml version="1.0" encoding="ISO-8859-1"?><p>` + "Z\xfcrich", "Zürich", ""},
		{"wrongly declared", "<meta charset=latin1><p>Zürich", "Zürich", ""},
		{"UTF-16 little", utf16("<p>Zürich", false), "Zürich", ""},
		{"UTF-16 big", utf16("<p>Zürich", true), "Zürich", ""},
		{"UTF-16 pair", "\xff\xfe\x3d\xd8\x00\xde", "😀", ""},
		{"UTF-16 odd", "\xff\xfea", "", "invalid_utf8"},
		{"UTF-16 half", "\xff\xfe\x3d\xd8a\x00", "", "invalid_utf8"},
		{"UTF-16 cut", "\xff\xfe\x3d\xd8", "", "invalid_utf8"},
		{"undeclared", "<p>Z\xfcrich", "", "invalid_utf8"},
		{"other", "<meta charset=koi8-r><p>Z\xfcrich", "", "invalid_utf8"},
		{"NUL", "<p>a\x00", "", "binary"},
		{"empty", "<nav>x</nav><p> <br>", "", "no_text"},
		{"nothing", "", "", "no_text"},
	} {
		d, err := ReadHTML(context.Background(), "p", []byte(tt.in))
		code := ""
		if f, ok := errors.AsType[*Fault](err); ok {
			code = f.Code
		}
		if d.Text != tt.want || code != tt.fault {
			t.Errorf("%s: %q, %v, want %q, %q", tt.name, d.Text, err, tt.want, tt.fault)
		}
	}
}

// Text that is escaped comes back, whatever it holds, with its white space as one blank.
func TestReadHTMLText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab<>&\"'`/!-=;# \n\té漢😀")), 1, 30, -1).Draw(t, "text")
		want := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n\t", r) }), " ")
		d, err := ReadHTML(context.Background(), "p", []byte("<div>"+html.EscapeString(text)+"</div>"))
		if want == "" {
			if err == nil {
				t.Fatalf("%q: text %q", text, d.Text)
			}
			return
		}
		if d.Text != want {
			t.Fatalf("%q: %q, %v", text, d.Text, err)
		}
	})
}

// No word outside of what is dropped is lost, however the tags around it are mixed up; one inside is not kept where all tags are closed.
func TestReadHTMLWords(t *testing.T) {
	names := []string{"p", "div", "ul", "li", "table", "tr", "td", "h1", "b", "section", "pre", "code", "main", "nav", "header", "form"}
	rapid.Check(t, func(t *rapid.T) {
		var source strings.Builder
		var want []string
		for i := range rapid.IntRange(1, 40).Draw(t, "n") {
			name := rapid.SampledFrom(names).Draw(t, "tag")
			dropped := droppedElements[name]
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				if !dropped {
					source.WriteString("<" + name + ">")
				}
			case 1:
				source.WriteString("</" + name + ">") // also where nothing is open
			case 2:
				word := "w" + strings.Repeat("x", i)
				if dropped {
					source.WriteString("<" + name + ">" + "no" + "</" + name + ">")
				} else {
					source.WriteString(" " + word + " ")
					want = append(want, word)
				}
			}
		}
		if len(want) == 0 {
			return
		}
		d, err := ReadHTML(context.Background(), "p", []byte(source.String()))
		if err != nil {
			t.Fatalf("%s: %v", source.String(), err)
		}
		var got []string
		for w := range strings.FieldsFuncSeq(d.Text, func(r rune) bool { return r < 'a' || r > 'z' }) {
			got = append(got, w)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("%s\n%q\nwords %q, want %q", source.String(), d.Text, got, want)
		}
	})
}

// hostile pages, by the piece that they repeat.
var hostile = []string{
	"<div>", "<nav>", "<table><tr><td>", "<ul><li>", "<ul>", "<h1>", "<pre>", "<code>", "<a ", `<a x="`, `<a x='">`, "<!--", "<![CDATA[", "<title>", "</nav>",
	"<", "</", "&", "&#", "&amp", "`", "<code>`", "</ul>", "<svg>", "<nav><form><header>", "<script", "<b", "a", " ", "\u00a0",
	"<textarea>", "<td>", "<br>", "<li>",
	`<a x="<!--`, "<nav></div><div>", "<title></titl", "<p>\u00ad", "<a =", "<a/", "<z c='>' ",
}

// The text of a page is bounded by the page, and the time is linear: 1 MB of any piece is read at once.
func TestReadHTMLHostile(t *testing.T) {
	for _, piece := range hostile {
		source := strings.Repeat(piece, 1<<20/len(piece))
		checkPage(t, source)
		checkPage(t, source+"<p>the end")
	}
}

func checkPage(t *testing.T, source string) {
	d, err := ReadHTML(context.Background(), "p", []byte(source))
	if err != nil {
		if _, _, ok := reasonOf(err); !ok || d.Text != "" {
			t.Fatalf("%.200q: %v with %d bytes of text", source, err, len(d.Text))
		}
		return
	}
	if !utf8.ValidString(d.Text) || strings.ContainsAny(d.Text, "\r\x00") || strings.TrimSpace(d.Text) == "" {
		t.Fatalf("%.200q: text %.200q", source, d.Text)
	}
	if len(d.Text) > 12*len(source)+64 {
		t.Fatalf("%.200q: %d bytes of text of %d", source, len(d.Text), len(source))
	}
}

// FuzzReadHTML: any page gives a clean text of bounded length or a fault.
func FuzzReadHTML(f *testing.F) {
	for _, piece := range hostile {
		f.Add([]byte(piece + "x" + piece))
	}
	f.Add([]byte("<table><tr><td>a<td><pre>b</table><nav>c</div><p title=\"d>e"))
	f.Fuzz(func(t *testing.T, source []byte) { checkPage(t, string(source)) })
}

func BenchmarkReadHTML(b *testing.B) {
	page := "<html><body><nav><ul>" + strings.Repeat("<li><a href='/x'>Menu</a></li>", 50) + "</ul></nav>" +
		strings.Repeat("<h2>Part</h2><p>Call <code>get_weather</code> with a <b>city</b> &amp; units.</p><ul><li>one<li>two</ul><pre>curl x</pre>", 400)
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			source := []byte(strings.Repeat(page, n))
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadHTML(context.Background(), "p", source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
