package skill

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// oddStrings are texts that YAML, line ends or fences could spoil.
var oddStrings = []string{
	"", " ", "\t", "\n", "\r", "\r\n", "\n\n", " a", "a ", "\ta", "a\n", "\na", "a\r", "\ra", "a\rb", "a\r\nb", "a\r\r\nb", "a\n\nb", "a\n b", " a\nb", "a\n---\nb", "---", "--- a", "...", "----", "\n---\n", "- a", "-", "--",
	"#", "# a", "a # b", "a#b", ":", ": a", "a: b", "a:", "a :b", "http://x", "?", "? a", ",", "[", "]", "[a]", "{", "}", "{a: b}", "&a", "*a", "!a", "!!str a", "|", ">", "|-", ">+2", "%", "%YAML 1.2", "@a", "`a`", "<<", "=", "~", "null", "Null", "NULL",
	"true", "FALSE", "yes", "No", "on", "OFF", "y", "N", "1", "-1", "+1", "1.0", "1e3", ".5", ".inf", "-.Inf", ".NaN", "0x1f", "0o7", "010", "1_0", "12:30", "1:2:3", "2024-01-02", "2024-01-02 03:04:05", "'", "''", "'a'", `"`, `""`, `"a"`, `\`, `\n`, `\\`, `a"b'c`, `'"`, `"\`,
	"\x00", "\x01", "\x07", "\x1b[0m", "\x7f", "\u0080", "\u0085", "a\u0085b", "\u00a0", "\u00a0a", "a\u00a0", "\u2028", "a\u2028b", "\u2029", "\u200b", "\u202e", "\u3000", "\ufeff", "\ufeffa", "a\ufeffb", "\ufffd", "\ufffe", "\uffff", "\U0001f600", "\U000e0041", "\U0010ffff",
	"e\u0301", "技能", "\ud7ff", "\ue000", "a" + strings.Repeat(" ", 200) + "b", strings.Repeat("a", 129), strings.Repeat("é", 1024), strings.Repeat("word ", 60) + "end", strings.Repeat("x", 2000), "\xff", "a\xc0\xafb", "\xed\xa0\x80",
}

// genAnyText draws any string, valid or not.
func genAnyText() *rapid.Generator[string] {
	odd := rapid.SampledFrom(oddStrings)
	return rapid.OneOf(odd, rapid.String(), rapid.Map(rapid.SliceOfN(odd, 2, 4), func(s []string) string { return strings.Join(s, "") }), rapid.StringMatching(`[a-z #:'"\-{}\[\]&*!|>%@,?\\\n\t\r]{0,40}`))
}

// writable says, rule by rule, whether a document without unknown keys can be a strict file.
func writable(d *Document) bool {
	f := d.Frontmatter
	texts := []string{f.Name, f.Description, f.License, f.Compatibility, d.Content}
	for k, v := range f.Metadata {
		texts = append(texts, k, v)
	}
	description, compatibility := strings.TrimSpace(f.Description), strings.TrimSpace(f.Compatibility)
	ok := description != "" && utf8.RuneCountInString(description) <= 1024 && utf8.RuneCountInString(compatibility) <= 500 && !strings.Contains(d.Content, "\x00")
	for _, tool := range f.AllowedTools {
		texts = append(texts, tool)
		depth := 0
		for _, r := range tool {
			switch {
			case r == '(':
				depth++
			case r == ')':
				depth--
			case depth == 0 && (strings.TrimSpace(string(r)) == "" || r == ','):
				ok = false
			}
			ok = ok && depth >= 0
		}
		ok = ok && tool != "" && depth == 0
	}
	return ok && !slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
}

// checkWritten fails unless d is written and read back as it is, or refused for a reason.
func checkWritten(t interface{ Fatalf(string, ...any) }, d *Document, want bool) {
	b, err := Marshal(d)
	if (err == nil) != want {
		t.Fatalf("%+v: error %v, writable %v", *d, err, want)
	}
	if err != nil {
		if b != nil {
			t.Fatalf("%+v: bytes in spite of %v", *d, err)
		}
		return
	}
	for _, strict := range []bool{true, false} {
		got, diags, err := Parse(b, &ParseOptions{Strict: strict && len(d.Frontmatter.Unknown) == 0})
		expect := *d
		f := &expect.Frontmatter
		f.Name, f.Description, f.License, f.Compatibility = strings.TrimSpace(f.Name), strings.TrimSpace(f.Description), strings.TrimSpace(f.License), strings.TrimSpace(f.Compatibility)
		for strings.Contains(expect.Content, "\r\n") {
			expect.Content = strings.ReplaceAll(expect.Content, "\r\n", "\n")
		}
		if len(f.Metadata) == 0 {
			f.Metadata = nil
		}
		if len(f.Unknown) == 0 {
			f.Unknown = nil
		}
		if diff := cmp.Diff(&expect, got); err != nil || diff != "" {
			t.Fatalf("strict %v: %v (-want +got):\n%s\n%q\n%v", strict, err, diff, b, diags)
		}
		if got.Frontmatter.Unknown == nil {
			again, err := Marshal(got)
			if err != nil || !bytes.Equal(b, again) {
				t.Fatalf("written again: %v\n%q\n%q", err, b, again)
			}
		}
	}
}

// Every string in every field is written and read back as it is, or refused because a rule of the format says so.
func TestMarshalAnyString(t *testing.T) {
	base := func() *Document {
		return &Document{Frontmatter: Frontmatter{Name: "a", Description: "x"}, Content: "b\n"}
	}
	for i, s := range oddStrings {
		for _, set := range []func(d *Document){
			func(d *Document) { d.Frontmatter.Description = s },
			func(d *Document) { d.Frontmatter.Compatibility = s },
			func(d *Document) {
				d.Frontmatter.License = s
				d.Frontmatter.Metadata = map[string]string{s: "v", "k": s}
			},
			func(d *Document) { d.Frontmatter.AllowedTools = []string{s} },
			func(d *Document) { d.Frontmatter.AllowedTools = []string{"a", "b(" + s + ")", "c"} },
			func(d *Document) { d.Content = s; d.CRLF = false },
			func(d *Document) { d.Content = s + "\n" + s; d.CRLF = true },
		} {
			d := base()
			d.CRLF = i%2 == 0
			set(d)
			checkWritten(t, d, writable(d))
		}
	}
	written, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := base()
		d.CRLF = rapid.Bool().Draw(t, "crlf")
		f := &d.Frontmatter
		f.Description = genAnyText().Draw(t, "description")
		f.License = genAnyText().Draw(t, "license")
		f.Compatibility = genAnyText().Draw(t, "compatibility")
		if rapid.Bool().Draw(t, "has tools") {
			f.AllowedTools = rapid.SliceOfN(genAnyText(), 0, 2).Draw(t, "tools")
		}
		f.Metadata = rapid.MapOfN(genAnyText(), genAnyText(), 0, 3).Draw(t, "metadata")
		d.Content = genAnyText().Draw(t, "content")
		want := writable(d)
		if want {
			written++
		} else {
			refused++
		}
		checkWritten(t, d, want)
	})
	if !testing.Short() && (written == 0 || refused == 0) {
		t.Errorf("%d documents written, %d refused", written, refused)
	}
}

// The value of an unknown key is YAML of any form: written in the form that Parse gives it, and not changed in meaning.
func TestMarshalUnknown(t *testing.T) {
	for _, c := range []struct{ value, want, reason string }{
		{"x", "x", "plain"},
		{"", "", "null"},
		{"[a,b]", "[a, b]", "flow"},
		{"{a: 1}", "{a: 1}", "flow"},
		{"a # b", "a", "comments are dropped"},
		{"- a\n- b", "- a\n- b", "block"},
		{"|\n  a\n  b", "|\n    a\n    b", "the last line of a block has its end"},
		{"|+\n  a\n\n", "|+\n    a\n\n", "ends that are kept; the one of the last line is not part of the value"},
		{"|-\n  a", "|-\n    a", "ends that are dropped"},
		{"'1'", "'1'", "a text that looks like a number stays one"},
		{"\"a\\nb\"", "\"a\\nb\"", "escapes"},
	} {
		d := &Document{Frontmatter: Frontmatter{Name: "a", Description: "x", Unknown: []Field{{"k", c.value}, {"z", "1"}}}, Content: "b\n"}
		b, err := Marshal(d)
		if err != nil {
			t.Errorf("%q (%s): %v", c.value, c.reason, err)
			continue
		}
		got, _, err := Parse(b, nil)
		if err != nil || c.reason == "" || !cmp.Equal([]Field{{"k", c.want}, {"z", "1"}}, got.Frontmatter.Unknown) {
			t.Errorf("%q (%s): %q, %v, want %q", c.value, c.reason, got.Frontmatter.Unknown, err, c.want)
		}
		if again, err := Marshal(got); err != nil || !bytes.Equal(b, again) {
			t.Errorf("%q (%s), written again: %v\n%s\n%s", c.value, c.reason, err, b, again)
		}
		if d.Frontmatter.Unknown[0].Value != c.value {
			t.Errorf("%q was changed in the document", c.value)
		}
	}
}

func FuzzMarshal(f *testing.F) {
	for i, s := range oddStrings {
		next := oddStrings[(i+7)%len(oddStrings)]
		f.Add("a", "x"+s, s, next, s, s, next, "x"+next, "b\n"+s, i%2 == 0)
	}
	f.Add("a b", "x", "", "", "Bash(git add:*)", "k", "v", "[a, b]", "---\n", true)
	f.Fuzz(func(t *testing.T, name, description, license, compatibility, tool, key, value, unknown, content string, crlf bool) {
		d := &Document{Frontmatter: Frontmatter{Name: name, Description: description, License: license, Compatibility: compatibility,
			AllowedTools: []string{tool}, Metadata: map[string]string{key: value}}, Content: content, CRLF: crlf}
		if unsafeName(strings.TrimSpace(name)) == "" && nameFault(strings.TrimSpace(name), false) == "" && strings.TrimSpace(name) != "" && len(description)+len(license)+len(compatibility)+len(tool)+len(key)+len(value)+len(content) < maxFile/10 {
			checkWritten(t, d, writable(d))
		}
		d.Frontmatter.Unknown = []Field{{"x-y", unknown}, {key, "v"}}
		b, err := Marshal(d)
		if err != nil {
			return
		}
		got, _, err := Parse(b, nil)
		if err != nil {
			t.Fatalf("written but not read: %v\n%q", err, b)
		}
		again, err := Marshal(got)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("written again: %v\n%q\n%q", err, b, again)
		}
	})
}
