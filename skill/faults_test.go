package skill

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The tests of this file are about faults that other readers of SKILL.md files have, each as a whole kind.

func mustParse(t *rapid.T, src string, o *ParseOptions) (*Document, []Diagnostic) {
	d, diags, err := Parse([]byte(src), o)
	if err != nil {
		t.Fatalf("%v\n%q", err, src)
	}
	return d, diags
}

// A description with colons and no quotes is one skill of two: read with the text as it stands, or, strictly, refused at
// its line. The other skill is there in both modes.
func TestUnquotedColons(t *testing.T) {
	repaired := 0
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"use", "when:", "it's", "a: b", "\"quoted\":", "x:y", "[z]", "k: 'v'", "http://x:", "{}"}), 1, 6).Draw(t, "words")
		text := "a " + strings.Join(words, " ")
		before := rapid.SampledFrom([][]string{nil, {"license: MIT"}, {"metadata:", "  k: v"}, {"allowed-tools: Read"}}).Draw(t, "before")
		lines := slices.Concat([]string{"name: a"}, before, []string{"description: " + text, "compatibility: none"})
		fsys := fstest.MapFS{"a/SKILL.md": file(doc(lines...)), "b/SKILL.md": skillFile("b", "x")}
		set := load(t, fsys, nil)
		if len(set.Skills) != 2 || set.Skills[0].Description() != text || set.Skills[0].Frontmatter.Compatibility != "none" {
			t.Fatalf("loaded %v: %v", set.Skills, set.Diagnostics)
		}
		if !strings.Contains(text, ": ") && !strings.HasSuffix(text, ":") {
			return
		}
		repaired++
		at := slices.Index(lines, "description: "+text) + 2
		if got := codes(set.Diagnostics); got != fmt.Sprintf("%d repaired-unquoted", at) {
			t.Fatalf("lenient: %v", set.Diagnostics)
		}
		set = load(t, fsys, &LoadOptions{Parse: ParseOptions{Strict: true}})
		if len(set.Skills) != 1 || codes(set.Diagnostics) != fmt.Sprintf("%d invalid-yaml!", at) {
			t.Fatalf("strict: %d loaded, %v", len(set.Skills), set.Diagnostics)
		}
	})
	if !testing.Short() && repaired == 0 {
		t.Error("no text needed quotes")
	}
}

// Whatever breaks the YAML, and wherever the restriction stands, no document comes without it.
func TestToolsNeverLost(t *testing.T) {
	broken := []string{`description: "x`, "description: 'x", "description: [x", "description: {x", "description: |x", "description: >5", "license: *a", "license: %a", "license: a: b: c", "\tlicense: x", "license\n  : x", "? x", "- x", "metadata: {a", "x", "'", "description: x\n allowed: y", "a: |\n  b\n c: d", "--- x", "..."}
	tools := []string{"allowed-tools: Read", "allowed-tools:", "allowed-tools: Bash(git: x)", "allowed-tools: [Read", "allowed-tools: @x", "'allowed-tools': Read", "allowed-tools : Read", "Allowed-Tools: Read", "allowed_tools: Read", "allowedTools: Read", "\"allowed-tools\u200b\": Read", "ALLOWED TOOLS: Read", "allowed-tools:\n  - Read"}
	read := 0
	for _, b := range append(broken, "license: x") {
		for _, tool := range tools {
			for _, lines := range [][]string{{"name: a", "description: y", b, tool}, {"name: a", "description: y", tool, b}, {tool, b, "name: a", "description: y"}, {b, tool, b, "name: a", "description: y"}} {
				src := doc(lines...)
				if b != "license: x" && strings.HasPrefix(b, "description") {
					src = strings.Replace(src, "description: y\n", "", 1)
				}
				for _, strict := range []bool{true, false} {
					d, diags, err := Parse([]byte(src), &ParseOptions{Strict: strict})
					if (d == nil) != (err != nil) {
						t.Fatalf("document %v, error %v", d, err)
					}
					if d != nil && d.Frontmatter.AllowedTools == nil {
						t.Errorf("strict %v: read without its tools:\n%s\n%v", strict, src, diags)
					}
					if d != nil {
						read++
					}
				}
			}
		}
	}
	if read == 0 {
		t.Error("no file was read")
	}
	for _, key := range []string{"tools", "allowed", "disallowed-tools", "allowed-tools-note"} {
		if d, diags, err := Parse([]byte(doc("name: a", "description: x", key+": y")), nil); err != nil || len(d.Frontmatter.Unknown) != 1 {
			t.Errorf("%s is another key: %v", key, diags)
		}
	}
}

// A block scalar with any header is its lines, folded or not, and with the end that its header asks for.
func TestBlockScalars(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		style := rapid.SampledFrom([]string{"|", ">"}).Draw(t, "style")
		chomp := rapid.SampledFrom([]string{"", "-", "+"}).Draw(t, "chomp")
		indent := rapid.IntRange(1, 4).Draw(t, "indent")
		header := style + chomp
		switch rapid.IntRange(0, 2).Draw(t, "digit") {
		case 1:
			header = style + fmt.Sprint(indent) + chomp
		case 2:
			header = style + chomp + fmt.Sprint(indent)
		}
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
		line := rapid.SampledFrom([]string{"use it", "a: b", "# no comment", "--- ", "---", "- item", "it's \"x\"", "é技", "a:"})
		lines := rapid.SliceOfN(line, 1, 5).Draw(t, "lines")
		trailing := rapid.IntRange(0, 2).Draw(t, "trailing")

		want := strings.Join(lines, map[string]string{"|": "\n", ">": " "}[style])
		switch chomp {
		case "":
			want += "\n"
		case "+":
			want += "\n" + strings.Repeat("\n", trailing)
		}
		pad := strings.Repeat(" ", indent)
		block := func(deeper string) string {
			return header + end + deeper + pad + strings.Join(lines, end+deeper+pad) + end + strings.Repeat(end, trailing)
		}
		src := strings.Join([]string{"---", "name: a", "description: " + block("") + "metadata:", "  k: " + block("  ") + "license: MIT", "---", "b"}, end)
		for _, strict := range []bool{true, false} {
			d, diags := mustParse(t, src, &ParseOptions{Strict: strict})
			f := d.Frontmatter
			if f.Metadata["k"] != want || f.Description != strings.TrimSpace(want) || f.License != "MIT" || len(diags) > 0 {
				t.Fatalf("%q: metadata %q, description %q, want %q (%v)", header, f.Metadata["k"], f.Description, want, diags)
			}
		}
	})
}

// A file with a byte order mark or \r\n that is edited and written again has one frontmatter and all its text.
func TestEditKeepsOneFrontmatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDocument().Draw(t, "document")
		d.CRLF = false
		b, err := Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		src := string(b)
		crlf := rapid.Bool().Draw(t, "crlf")
		if crlf {
			src = strings.ReplaceAll(src, "\n", "\r\n")
		}
		if rapid.Bool().Draw(t, "bom") {
			src = "\ufeff" + src
		}
		read, _ := mustParse(t, src, &ParseOptions{Strict: true})
		read.Content += rapid.SampledFrom([]string{"more\n", "---\nname: b\ndescription: y\n---\n", "\ufeff"}).Draw(t, "more")
		read.Frontmatter.Description = "edited"
		out, err := Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := mustParse(t, string(out), &ParseOptions{Strict: true})
		if diff := cmp.Diff(read, again); diff != "" || again.CRLF != crlf {
			t.Fatalf("(-edited +written):\n%s", diff)
		}
		unix := strings.ReplaceAll(string(out), "\r\n", "\n")
		head, ok := strings.CutSuffix(unix, "---\n"+read.Content)
		if !ok || !strings.HasPrefix(head, "---\nname: ") || strings.Count("\n"+head, "\n---\n") != 1 || strings.Contains(head, "\ufeff---") {
			t.Fatalf("more than one frontmatter:\n%s", unix)
		}
	})
}

// Only a line of three dashes and blanks is a fence; the first one opens, the next closes. Everything behind it is body and stays
// as it is, \r\n aside.
func TestFences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]string{"a --- b", "--- a", "a ---", "----", "-- -", "a\n  ---\n  b", "---x", "a\n  --- b", "a ---\n  ---"}).Draw(t, "value")
		quote := rapid.SampledFrom([]string{`"`, "'"}).Draw(t, "quote")
		fence := rapid.SampledFrom([]string{"---", "--- ", "---\t \t"})
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
		last := rapid.SampledFrom([]string{"\n", "\r\n", "\r", ""}).Draw(t, "last")
		body := ""
		if last != "" {
			line := rapid.OneOf(rapid.SampledFrom([]string{"---", "----", "name: b", "\tcol1\tcol2", "allowed-tools: x", "```", "", "\ufeff", "..."}), rapid.String())
			body = strings.ReplaceAll(strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, "body"), rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "body end")), "\x00", "")
			if last == "\r" {
				body = strings.TrimLeft(body, "\n") // it would be one line end with the \r
			}
		}
		head := "name: a\ndescription: " + quote + value + quote + "\n"
		src := fence.Draw(t, "open") + end + strings.ReplaceAll(head, "\n", end) + fence.Draw(t, "close") + last + body
		d, _ := mustParse(t, src, &ParseOptions{Strict: true})
		if want := strings.Join(strings.Fields(value), " "); strings.Join(strings.Fields(d.Description()), " ") != want {
			t.Fatalf("description %q, want %q", d.Description(), want)
		}
		want := body
		for strings.Contains(want, "\r\n") {
			want = strings.ReplaceAll(want, "\r\n", "\n")
		}
		if d.Body() != want || d.Frontmatter.AllowedTools != nil || d.CRLF != (end == "\r\n") {
			t.Fatalf("body %q, want %q", d.Body(), want)
		}
	})
}

// Limits count runes, whatever their length in bytes: at the limit a text is valid in both modes, above it strictly not.
func TestLimitsAreRunes(t *testing.T) {
	for _, c := range []struct {
		key    string
		limit  int
		code   string
		runes  string
		reason string
	}{
		{"name", maxName, "invalid-name", "aé技𐐨", "letters that are their own lower case, of 1 to 4 bytes"},
		{"description", maxDescription, "description-too-long", "aé技😀", "any runes"},
		{"compatibility", maxCompatibility, "compatibility-too-long", "aé技😀", "any runes"},
	} {
		for _, r := range c.runes {
			for _, n := range []int{c.limit / 3, c.limit, c.limit + 1} {
				values := map[string]string{"name": "a", "description": "x", "compatibility": "y"}
				values[c.key] = strings.Repeat(string(r), n)
				src := doc("name: "+values["name"], "description: "+values["description"], "compatibility: "+values["compatibility"])
				for _, strict := range []bool{true, false} {
					d, diags, err := Parse([]byte(src), &ParseOptions{Strict: strict})
					over := n > c.limit
					if (err != nil) != (over && strict) || over != (len(diags) == 1 && diags[0].Code == c.code) || c.reason == "" {
						t.Errorf("%s of %d times %q, strict %v: %v", c.key, n, r, strict, diags)
					}
					if d != nil && utf8.RuneCountInString(map[string]string{"name": d.Name(), "description": d.Description(), "compatibility": d.Frontmatter.Compatibility}[c.key]) != n {
						t.Errorf("%s of %d runes was cut", c.key, n)
					}
				}
			}
		}
	}
}

// Every scalar is its text, whatever type a reader of YAML would see in it, and is so again after writing.
func TestScalarsAreText(t *testing.T) {
	for _, s := range []string{"123", "1.10", "0x1F", "0o17", "017", "1e3", "-5", "+1", ".5", "1_000", "12:30:45", "2024-01-02", "2024-01-02T03:04:05Z", "yes", "no", "on", "off", "On", "y", "n", "true", "False", ".inf", "-.INF", ".nan", "NaN", "=", "16", "null-ish", "1.0.0", "0"} {
		src := doc("name: a", "description: "+s, "license: "+s, "compatibility: "+s, "allowed-tools: "+s, "metadata:", "  k: "+s, "  "+s+": v", "x-y: "+s)
		if s != "16" && strings.ToLower(s) == s && !strings.ContainsAny(s, "_.:+=") && nameFault(s, false) == "" {
			src = strings.Replace(src, "name: a", "name: "+s, 1)
		}
		d, _, err := Parse([]byte(src), nil)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		want := Frontmatter{Name: d.Name(), Description: s, License: s, Compatibility: s, AllowedTools: []string{s}, Metadata: map[string]string{"k": s, s: "v"}, Unknown: []Field{{"x-y", s}}}
		if diff := cmp.Diff(want, d.Frontmatter); diff != "" || d.Name() != s && d.Name() != "a" {
			t.Errorf("%s (-want +got):\n%s", s, diff)
		}
		b, err := Marshal(d)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		again, _, err := Parse(b, nil)
		if diff := cmp.Diff(d, again); err != nil || diff != "" {
			t.Errorf("%s, written and read: %v (-want +got):\n%s", s, err, diff)
		}
	}
}

// Of skills of one name the first source wins, then the smaller path; every other one is in Shadowed or is the same.
func TestNameCollisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type holder struct{ path, description string }
		first := map[string]holder{}
		var sources []Source
		var all []string
		for i := range rapid.IntRange(1, 3).Draw(t, "sources") {
			fsys := fstest.MapFS{}
			label := string(rune('z' - i)) // so that the order of labels is not that of sources
			here := map[string]holder{}
			for range rapid.IntRange(0, 5).Draw(t, "skills") {
				dir := rapid.SampledFrom([]string{"a", "z", "x/a", "x/b", "x/c", "a-b"}).Draw(t, "folder")
				h := holder{label + "/" + dir + "/SKILL.md", rapid.SampledFrom([]string{"p", "q"}).Draw(t, "description")}
				name := rapid.SampledFrom([]string{"a", "b", "broken"}).Draw(t, "name")
				if _, ok := fsys[dir+"/SKILL.md"]; ok {
					continue
				}
				if name == "broken" {
					fsys[dir+"/SKILL.md"] = file("---\nname: a\ndescription: 'x\n---\n")
					continue
				}
				fsys[dir+"/SKILL.md"] = skillFile(name, h.description)
				all = append(all, h.path)
				if old, ok := here[name]; !ok || h.path < old.path {
					here[name] = h
				}
			}
			for name, h := range here {
				if _, ok := first[name]; !ok {
					first[name] = h
				}
			}
			sources = append(sources, Source{label, fsys})
		}
		set, err := LoadFS(t.Context(), sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]holder{}
		var names, accounted []string
		for _, s := range set.Skills {
			got[s.Name()] = holder{s.Path, s.Description()}
			names = append(names, s.Name())
			accounted = append(accounted, s.Path)
		}
		if diff := cmp.Diff(first, got, cmp.AllowUnexported(holder{})); diff != "" || !slices.Equal(names, slices.Sorted(maps.Keys(first))) {
			t.Fatalf("holders (-want +got):\n%s", diff)
		}
		for _, s := range set.Shadowed {
			if s.Description() == first[s.Name()].description {
				t.Fatalf("%s is in Shadowed, but the same", s.Path)
			}
			accounted = append(accounted, s.Path)
		}
		for _, d := range set.Diagnostics {
			if d.Code == "same-skill" {
				accounted = append(accounted, d.Path)
			}
			if (d.Code == "same-skill" || d.Code == "shadowed") && !slices.ContainsFunc(set.Skills, func(s Loaded) bool { return strings.Contains(d.Msg, s.Path) }) {
				t.Fatalf("%v does not name the other path", d)
			}
		}
		slices.Sort(all)
		slices.Sort(accounted)
		if diff := cmp.Diff(all, accounted); diff != "" {
			t.Fatalf("skills that can be reached or are reported as the same (-want +got):\n%s", diff)
		}
	})
}

// Any key that the format does not have is kept with its value, in order, and written back. Strictly it is refused at its line.
func TestUnknownKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{2,8}(-[a-z]{1,4})?`).Filter(func(s string) bool {
			return !slices.Contains([]string{"name", "description", "license", "compatibility", "metadata", "allowed-tools", "null", "true", "false", "yes", "no", "on", "off"}, s)
		}), 1, 5, rapid.ID[string]).Draw(t, "keys")
		lines := []string{"name: a", "description: a -> b => <c> & d"}
		var want []Field
		for _, k := range keys {
			v := rapid.SampledFrom([]struct{ in, out string }{
				{"x", "x"}, {"[a, b]", "[a, b]"}, {"[a,  b] # c", "[a, b]"}, {"", ""}, {"~", "~"}, {"'a: b'", "'a: b'"}, {"{a: [1, {b: c}]}", "{a: [1, {b: c}]}"}, {"\n  - a\n  - b", "- a\n- b"}, {"\n  a: 1\n  b:\n    - c", "a: 1\nb:\n    - c"}, {"|\n  a\n  b", "|-\n    a\n    b"},
			}).Draw(t, "value")
			if strings.HasPrefix(v.in, "|") {
				v.out = "|\n    a\n    b"
			}
			lines = append(lines, k+": "+v.in)
			want = append(want, Field{k, v.out})
		}
		d, diags := mustParse(t, doc(lines...), nil)
		if diff := cmp.Diff(want, d.Frontmatter.Unknown); diff != "" || len(diags) != len(keys) || d.Description() != "a -> b => <c> & d" {
			t.Fatalf("%v (-want +got):\n%s", diags, diff)
		}
		b, err := Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := mustParse(t, string(b), nil)
		if diff := cmp.Diff(d, again); diff != "" {
			t.Fatalf("written and read (-want +got):\n%s\n%s", diff, b)
		}
		_, diags, err = Parse([]byte(doc(lines...)), &ParseOptions{Strict: true})
		if err == nil || len(diags) != len(keys) || diags[0].Line != 4 || diags[0].Code != "unknown-key" {
			t.Fatalf("strict: %v", diags)
		}
	})
}

// Quotes are no part of a value, and what they hold is decoded.
func TestQuotesAreDecoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"it's", `"x"`, `\n`, "a: b", "#c", " # d", "技", "-", "{", "]", "%"}), 1, 5).Draw(t, "parts"), " ")
		want := strings.TrimSpace(s)
		single := "'" + strings.ReplaceAll(s, "'", "''") + "'"
		double := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "技", `\u6280`).Replace(s) + `"`
		for _, q := range []string{single, double} {
			d, diags := mustParse(t, doc("name: 'a'", "description: "+q, "license: "+q+" # note", "metadata:", "  "+q+": "+q), &ParseOptions{Strict: true})
			if f := d.Frontmatter; f.Name != "a" || f.Description != want || f.License != want || f.Metadata[s] != s || len(diags) > 0 {
				t.Fatalf("%s: %+v %v", q, f, diags)
			}
		}
	})
}
