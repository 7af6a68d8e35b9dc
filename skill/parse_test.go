package skill

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// codes returns the diagnostics as "line code" or, for errors, "line code!".
func codes(ds []Diagnostic) string {
	var out []string
	for _, d := range ds {
		s := fmt.Sprintf("%d %s", d.Line, d.Code)
		if d.Severity == SeverityError {
			s += "!"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// doc puts lines between fences in a file with a body.
func doc(lines ...string) string { return "---\n" + strings.Join(lines, "\n") + "\n---\nBody\n" }

func TestParse(t *testing.T) {
	long := func(s string, n int) string { return strings.Repeat(s, n) }
	for _, c := range []struct {
		name            string
		in              string
		strict, lenient string // diagnostics
		want            func(d *Document) bool
		reason          string
	}{
		{"plain", doc("name: a", "description: Use it."), "", "",
			func(d *Document) bool { return d.Description() == "Use it." && d.Body() == "Body\n" && d.Name() == "a" }, "the format"},
		{"quoted", doc(`name: "a"`, `description: 'It''s'`), "", "",
			func(d *Document) bool { return d.Name() == "a" && d.Description() == "It's" }, "quotes are decoded"},
		{"number is text", doc("name: a", "description: 123", "license: 1.10", "metadata:", "  when: 2024-01-02", "  on: yes", "  n: 16"), "", "",
			func(d *Document) bool {
				return d.Description() == "123" && d.Frontmatter.License == "1.10" &&
					cmp.Equal(d.Frontmatter.Metadata, map[string]string{"when": "2024-01-02", "on": "yes", "n": "16"})
			}, "no numbers, booleans or dates"},
		{"unquoted colon", doc("name: a", "description: Use when: x"), "3 invalid-yaml!", "3 repaired-unquoted",
			func(d *Document) bool { return d.Description() == "Use when: x" }, "an unquoted colon is repaired, not lost"},
		{"unquoted colon, continued", doc("name: a", "description: Use when: it's x", "  and: more", "  or less", "license: MIT"), "3 invalid-yaml!", "3 invalid-yaml!",
			nil, "an indented line that looks like a key is not joined, so the YAML stays bad"},
		{"unquoted colon, joined", doc("name: a", "description: Use when: it's x", "  or less", "license: MIT"), "3 invalid-yaml!", "3 repaired-unquoted",
			func(d *Document) bool {
				return d.Description() == "Use when: it's x or less" && d.Frontmatter.License == "MIT"
			}, "continuation lines are joined by a space and ' is doubled"},
		{"indicator first", doc("name: a", "description: `x` does it", "license: @home"), "3 invalid-yaml!", "3 repaired-unquoted, 4 repaired-unquoted",
			func(d *Document) bool {
				return d.Description() == "`x` does it" && d.Frontmatter.License == "@home"
			}, "characters that YAML reserves"},
		{"bracket text", doc("name: a", "description: [beta] does it"), "3 invalid-yaml!", "3 repaired-unquoted",
			func(d *Document) bool { return d.Description() == "[beta] does it" }, "a [ value is quoted if it is no list"},
		{"alias as text", doc("name: a", "description: *all* of it"), "3 invalid-yaml!", "3 repaired-unquoted",
			func(d *Document) bool { return d.Description() == "*all* of it" }, "a repaired alias is plain text"},
		{"tab", doc("name: a", "description: x", "metadata:", "\tk: v"), "5 invalid-yaml!", "5 repaired-tab",
			func(d *Document) bool { return d.Frontmatter.Metadata["k"] == "v" }, "a tab that indents"},
		{"folded", doc("name: a", "description: >-", "  one", "  two"), "", "",
			func(d *Document) bool { return d.Description() == "one two" }, "a block scalar is its text, not its mark"},
		{"literal, kept end", doc("name: a", "description: |+", "  one", "  two", ""), "", "",
			func(d *Document) bool { return d.Description() == "one\ntwo" }, "a block scalar; white space around the text is dropped"},
		{"indent digit", doc("name: a", "description: >2-", "   one", "  two"), "", "",
			func(d *Document) bool { return d.Description() == "one\ntwo" || d.Description() == "one two" }, "a block scalar is its text, not its mark"},
		{"bom and crlf", "\ufeff---\r\nname: a\r\ndescription: x\r\n---\r\nl1\r\nl2\r\n", "1 bom", "1 bom",
			func(d *Document) bool { return d.CRLF && d.Body() == "l1\nl2\n" }, "line ends of either kind"},
		{"lone cr in head", "---\rname: a\rdescription: x\r---\rl1\rl2", "", "",
			func(d *Document) bool { return !d.CRLF && d.Body() == "l1\rl2" }, "a lone CR breaks lines of the frontmatter only"},
		{"cr before crlf", "---\r\nname: a\r\ndescription: x\r\n---\r\nl1\r\r\nl2\r\n", "", "",
			func(d *Document) bool { return d.CRLF && d.Body() == "l1\nl2\n" }, "what is left must not form a new line end"},
		{"fence at end", "---\nname: a\ndescription: x\n---", "0 empty-body", "0 empty-body",
			func(d *Document) bool { return d.Body() == "" }, "no line end after the last fence"},
		{"blanks after fences", "--- \t\nname: a\ndescription: x\n---  \nb", "", "",
			func(d *Document) bool { return d.Body() == "b" }, "blanks after a fence count for nothing"},
		{"dashes in value", doc("name: a", "description: a --- b"), "", "",
			func(d *Document) bool { return d.Description() == "a --- b" }, "no fence inside a value"},
		{"four dashes", doc("name: a", "description: x", "----"), "4 invalid-yaml!", "4 invalid-yaml!", nil, "---- is no fence, hence malformed YAML"},
		{"indented fence", doc("name: a", "description: >-", "  x", "  ---"), "", "",
			func(d *Document) bool { return d.Description() == "x ---" }, "only column 0 closes"},
		{"rules in body", "---\nname: a\ndescription: x\n---\n---\nk: v\n---\n\tcol1\tcol2\n", "", "",
			func(d *Document) bool { return d.Body() == "---\nk: v\n---\n\tcol1\tcol2\n" }, "cases 13, 26: nothing in the body is read"},
		{"no frontmatter", "# Title\nname: a\n", "1 no-frontmatter!", "1 no-frontmatter!", nil, "no fence"},
		{"four dashes first", "----\nname: a\n---\n", "1 no-frontmatter!", "1 no-frontmatter!", nil, "---- does not open"},
		{"empty file", "", "1 no-frontmatter!", "1 no-frontmatter!", nil, "nothing at all"},
		{"unclosed", "---\nname: a\ndescription: x\n", "1 unclosed-frontmatter!", "1 unclosed-frontmatter!", nil, "never read as a body"},
		{"blank lines first", "\n \n---\nname: a\ndescription: x\n---\nb", "1 leading-blank!", "1 leading-blank",
			func(d *Document) bool { return d.Body() == "b" }, "table"},
		{"no description", doc("name: a"), "0 missing-description!", "0 missing-description!", nil, "table"},
		{"blank description", doc("name: a", `description: "  "`), "3 missing-description!", "3 missing-description!", nil, "blank is missing"},
		{"null description", doc("name: a", "description: ~"), "3 missing-description!", "3 missing-description!", nil, "table"},
		{"list description", doc("name: a", "description: [x]"), "3 missing-description!, 3 not-a-text!", "3 missing-description!, 3 not-a-text!", nil, "no text"},
		{"duplicate", doc("name: a", "description: x", "description: y"), "4 duplicate-key!", "4 duplicate-key!", nil, "table: the library would accept it"},
		{"duplicate below", doc("name: a", "description: x", "metadata:", "  k: 1", "  k: 2"), "6 duplicate-key!", "6 duplicate-key!", nil, "at any depth"},
		{"anchor", doc("name: a", "description: &d x"), "3 yaml-anchor!", "3 yaml-anchor!", nil, "table"},
		{"alias", doc("name: &d a", "description: *d"), "2 yaml-anchor!, 3 yaml-alias!", "2 yaml-anchor!, 3 yaml-alias!", nil, "table"},
		{"tag", doc("name: a", "description: !!str x"), "3 yaml-tag!", "3 yaml-tag!", nil, "table"},
		{"merge", doc("name: a", "description: x", "metadata:", "  <<: {a: b}"), "5 yaml-merge!", "5 yaml-merge!", nil, "table"},
		{"key is a list", doc("name: a", "description: x", "metadata:", "  ? [a]", "  : b"), "5 yaml-key!", "5 yaml-key!", nil, "keys are texts"},
		{"root is a list", doc("- name: a"), "1 not-a-mapping!", "1 not-a-mapping!", nil, "table"},
		{"root is empty", "---\n---\nb", "1 not-a-mapping!", "1 not-a-mapping!", nil, "table"},
		{"two documents", doc("name: a", "description: x", "...", "license: y"), "4 invalid-yaml!", "4 invalid-yaml!", nil, "a second document would be lost"},
		{"second document", doc("name: a", "description: x", "--- y"), "4 invalid-yaml!", "4 invalid-yaml!", nil, "--- y is no fence, but YAML starts a document there"},
		{"too deep", doc("name: a", "description: x", "metadata: {a: {b: {c: {d: {e: {f: {g: {h: i}}}}}}}}"), "4 yaml-depth!", "4 yaml-depth!", nil, "depth 8"},
		{"too many", doc("name: a", "description: x", "metadata: {l: ["+long("x,", 1000)+"x]}"), "4 yaml-size!", "4 yaml-size!", nil, "1,000 nodes"},
		{"no name", doc("description: x"), "0 missing-name!", "0 missing-name",
			func(d *Document) bool { return d.Name() == "a" }, "the folder's name"},
		{"name differs", doc("name: b", "description: x"), "2 name-mismatch!", "2 name-mismatch",
			func(d *Document) bool { return d.Name() == "b" }, "its own name stays"},
		{"name number", doc("name: 123", "description: x"), "2 name-mismatch!", "2 name-mismatch",
			func(d *Document) bool { return d.Name() == "123" }, "text as it stands"},
		{"name with spaces", doc("name: My Skill", "description: x"), "2 invalid-name!, 2 name-mismatch!", "2 invalid-name, 2 name-mismatch",
			func(d *Document) bool { return d.Name() == "My Skill" }, "real files"},
		{"name hyphens", doc("name: a--b", "description: x"), "2 invalid-name!, 2 name-mismatch!", "2 invalid-name, 2 name-mismatch",
			func(d *Document) bool { return d.Name() == "a--b" }, "format"},
		{"name too long", doc("name: "+long("a", 65), "description: x"), "2 invalid-name!, 2 name-mismatch!", "2 invalid-name, 2 name-mismatch",
			func(d *Document) bool { return len(d.Name()) == 65 }, "format"},
		{"name with mark", doc("name: \"e\u0301\"", "description: x"), "2 invalid-name!, 2 name-mismatch!", "2 invalid-name, 2 name-mismatch",
			func(d *Document) bool { return true }, "no normalisation, so no combining marks"},
		{"name escapes", doc("name: ../x", "description: x"), "2 name-mismatch!, 2 unsafe-name!", "2 name-mismatch, 2 unsafe-name!", nil, "no name leads out of its folder"},
		{"name is a device", doc("name: nul", "description: x"), "2 name-mismatch!, 2 unsafe-name!", "2 name-mismatch, 2 unsafe-name!", nil, "no file of that name on Windows"},
		{"cjk", doc("name: a", "description: "+long("技", 342)), "", "", func(d *Document) bool { return true }, "runes, not 1,026 bytes"},
		{"description too long", doc("name: a", "description: "+long("x", 1025)), "3 description-too-long!", "3 description-too-long",
			func(d *Document) bool { return len(d.Description()) == 1025 }, "too long, but kept whole"},
		{"compatibility too long", doc("name: a", "description: x", "compatibility: "+long("x", 501)), "4 compatibility-too-long!", "4 compatibility-too-long",
			func(d *Document) bool { return len(d.Frontmatter.Compatibility) == 501 }, "table"},
		{"unknown key", doc("name: a", "description: x -> y", "homepage: https://x.example", "tags: [a, b] # c"), "4 unknown-key!, 5 unknown-key!", "4 unknown-key, 5 unknown-key",
			func(d *Document) bool {
				return cmp.Equal(d.Frontmatter.Unknown, []Field{{"homepage", "https://x.example"}, {"tags", "[a, b]"}})
			}, "kept"},
		{"license list", doc("name: a", "description: x", "license: [MIT, ISC]"), "4 not-a-text!", "4 not-a-text",
			func(d *Document) bool { return d.Frontmatter.License == "[MIT, ISC]" }, "kept as its YAML"},
		{"metadata null", doc("name: a", "description: x", "metadata:"), "4 metadata-not-a-map!", "4 metadata-not-a-map",
			func(d *Document) bool { return d.Frontmatter.Metadata == nil }, "table"},
		{"metadata nested", doc("name: a", "description: x", "metadata:", "  t:", "    - a", "    - b: c"), "5 metadata-not-a-text!", "5 metadata-not-a-text",
			func(d *Document) bool { return d.Frontmatter.Metadata["t"] == "[a, {b: c}]" }, "kept as its YAML"},
		{"tools", doc("name: a", "description: x", "allowed-tools: Bash(git add:*) Read"), "", "",
			func(d *Document) bool {
				return cmp.Equal(d.Frontmatter.AllowedTools, []string{"Bash(git add:*)", "Read"})
			}, "blanks outside parentheses"},
		{"tools absent", doc("name: a", "description: x"), "", "", func(d *Document) bool { return d.Frontmatter.AllowedTools == nil }, "no statement"},
		{"tools null", doc("name: a", "description: x", "allowed-tools:"), "", "",
			func(d *Document) bool {
				return d.Frontmatter.AllowedTools != nil && len(d.Frontmatter.AllowedTools) == 0
			}, "nothing allowed"},
		{"tools tilde", doc("name: a", "description: x", "allowed-tools: ~"), "", "",
			func(d *Document) bool {
				return d.Frontmatter.AllowedTools != nil && len(d.Frontmatter.AllowedTools) == 0
			}, "null in its other spelling"},
		{"tools list", doc("name: a", "description: x", "allowed-tools: [Read, 'Bash(a, b)']"), "4 tools-list!", "4 tools-list",
			func(d *Document) bool {
				return cmp.Equal(d.Frontmatter.AllowedTools, []string{"Read", "Bash(a, b)"})
			}, "table"},
		{"tools commas", doc("name: a", "description: x", "allowed-tools: Read, Bash(a, b),Write"), "4 tools-commas!", "4 tools-commas",
			func(d *Document) bool {
				return cmp.Equal(d.Frontmatter.AllowedTools, []string{"Read", "Bash(a, b)", "Write"})
			}, "table"},
		{"tools unbalanced", doc("name: a", "description: x", "allowed-tools: Bash(a Read"), "4 tools-parentheses!", "4 tools-parentheses",
			func(d *Document) bool { return cmp.Equal(d.Frontmatter.AllowedTools, []string{"Bash(a Read"}) }, "table"},
		{"tools unbalanced back", doc("name: a", "description: x", "allowed-tools: a) (b"), "4 tools-parentheses!", "4 tools-parentheses",
			func(d *Document) bool { return cmp.Equal(d.Frontmatter.AllowedTools, []string{"a) (b"}) }, "table"},
		{"tools list over lines", doc("name: a", "description: Use when: x", "allowed-tools: [Read, # two", "  Write]"), "3 invalid-yaml!", "3 repaired-unquoted, 4 tools-list",
			func(d *Document) bool { return cmp.Equal(d.Frontmatter.AllowedTools, []string{"Read", "Write"}) }, "a valid list needs no repair: quoted it would name a tool [Read"},
		{"tools map", doc("name: a", "description: x", "allowed-tools: {a: b}"), "4 not-a-text!", "4 not-a-text!", nil, "never guessed"},
		{"tools in bad yaml", doc("name: a", "description: \"x", "allowed-tools: Read"), "3 invalid-yaml!", "3 invalid-yaml!", nil, "skipped, not loaded without"},
		{"tools swallowed", doc("name: a", "description: \"x", "allowed-tools: Read\""), "4 lost-allowed-tools!", "4 lost-allowed-tools!", nil, "a restriction inside a quoted value is lost"},
		{"comment cuts", doc("name: a", "description: use C # or not"), "3 comment-cut", "3 comment-cut",
			func(d *Document) bool { return d.Description() == "use C" }, "table"},
		{"comment for a value", doc("name: a", "description: x", "license: # MIT"), "4 comment-cut", "4 comment-cut",
			func(d *Document) bool { return d.Frontmatter.License == "" }, "nothing is left of it"},
		{"comments below", doc("name: a", "description: x", "metadata: # free", "  # keys", "  k: C # D", "  q: 'C' # D"), "6 comment-cut", "6 comment-cut",
			func(d *Document) bool { return d.Frontmatter.Metadata["k"] == "C" }, "values of the metadata can be cut too; after quotes a comment is one"},
		{"comment in a list", doc("name: a", "description: x", "allowed-tools:", "  - Read # files", "  - ~"), "4 tools-list!", "4 tools-list",
			func(d *Document) bool { return cmp.Equal(d.Frontmatter.AllowedTools, []string{"Read"}) }, "comments beside items are usual; null is no tool"},
		{"tools misspelled", doc("name: a", "description: x", "Allowed_Tools: Read"), "4 lost-allowed-tools!", "4 lost-allowed-tools!", nil, "a restriction that no reader would heed"},
		{"line separator", doc("name: a", `description: use\"it"`+"\u2028then: that", "license: MIT", "x-y: z"), "3 invalid-yaml!", "3 repaired-unquoted, 5 unknown-key",
			func(d *Document) bool { return d.Description() == `use\"it"`+"\u2028then: that" }, "it ends a line for the YAML library and for no editor"},
		{"tools in the metadata", doc("name: a", "description: x", "metadata:", "  k: v", "  allowed-tools: Bash"), "6 lost-allowed-tools!", "6 lost-allowed-tools!", nil, "one indentation too deep"},
		{"tools in a flow map", doc("name: a", "description: x", "metadata: {k: v,", "allowed-tools: Bash}"), "5 lost-allowed-tools!", "5 lost-allowed-tools!", nil, "told once"},
		{"tools below", doc("name: a", "description: x", "x-y:", "- a: [{Allowed_Tools: Bash}]"), "4 unknown-key!, 5 lost-allowed-tools!", "4 unknown-key, 5 lost-allowed-tools!", nil, "at any depth, however spelled"},
		{"tools at both places", doc("name: a", "description: x", "allowed-tools: Read", "metadata:", "  allowed-tools: Bash"), "", "", func(d *Document) bool {
			return slices.Equal(d.Frontmatter.AllowedTools, []string{"Read"}) && d.Frontmatter.Metadata["allowed-tools"] == "Bash"
		}, "the restriction is not lost"},
		{"tools as a text", doc("name: a", "description: |", "  Bash is fine.", "  allowed-tools: Bash"), "", "", func(d *Document) bool { return d.Frontmatter.AllowedTools == nil },
			"a sentence of a description is no key"},
		{"hidden tools", doc("name: a", "description: x\u2028allowed-tools: Bash"), "3 invalid-yaml!", "3 repaired-unquoted",
			func(d *Document) bool {
				return d.Description() == "x\u2028allowed-tools: Bash" && d.Frontmatter.AllowedTools == nil
			}, "no permission that an editor shows as a text"},
		{"hidden key below", doc("name: a", "description: x", "metadata:", "  k: v\u2029  l: w"), "5 invalid-yaml!", "5 invalid-yaml!", nil, "only values at the left margin are repaired"},
		{"separator alone", doc("name: a", "description: use it\u2028then \"that\"", "license: MIT"), "3 invalid-yaml!", "3 repaired-unquoted",
			func(d *Document) bool { return d.Description() == "use it\u2028then \"that\"" }, "the rest would be half a key"},
		{"hidden key beside a repair", doc("name: a", "description: b: c", "metadata:", "  k: v\u2029  l: w"), "3 invalid-yaml!", "3 invalid-yaml!", nil, "a repair elsewhere does not let it in"},
		{"hidden key in quotes", doc("name: a", "description: \"x\u2028license: y\""), "", "",
			func(d *Document) bool { return d.Description() == "x\u2028license: y" }, "a text in quotes hides nothing"},
		{"deep enough", doc("name: a", "description: x", "k: [[[[[[y]]]]]]"), "4 unknown-key!", "4 unknown-key",
			func(d *Document) bool { return d.Frontmatter.Unknown[0].Value == "[[[[[[y]]]]]]" }, "root, 6 lists and a text are 8"},
		{"one too deep", doc("name: a", "description: x", "k: [[[[[[[y]]]]]]]"), "4 yaml-depth!", "4 yaml-depth!", nil, "9"},
		{"many enough", doc("name: a", "description: x", "k: ["+strings.Repeat("y,", 993)+"]"), "4 unknown-key!", "4 unknown-key",
			func(d *Document) bool { return true }, "root, 3 keys, 2 texts, a list and its 993 items are 1,000"},
		{"one too many", doc("name: a", "description: x", "k: ["+strings.Repeat("y,", 994)+"]"), "4 yaml-size!", "4 yaml-size!", nil, "1,001"},
		{"two repairs", doc("name: a", "description: b: c", "metadata:", "\tk: v"), "3 invalid-yaml!", "3 repaired-unquoted, 5 repaired-tab",
			func(d *Document) bool { return d.Frontmatter.Metadata["k"] == "v" }, "strictly the first line at fault is named"},
		{"block at the end", doc("name: a", "description: x", "metadata:", "  k: |", "    v"), "", "",
			func(d *Document) bool { return d.Frontmatter.Metadata["k"] == "v\n" }, "the last line of a block has its end also before the fence"},
		{"nul", "---\nname: a\ndescription: \x00\n---\nb", "3 nul-byte!", "3 nul-byte!", nil, "no text file"},
		{"not utf-8", "---\nname: a\n\n\xff---\nb", "4 invalid-utf8!", "4 invalid-utf8!", nil, "no text file"},
		{"too large", doc("name: a", "description: x") + long("x", maxFile), "0 too-large!", "0 too-large!", nil, "2 MiB"},
	} {
		if c.reason == "" {
			t.Errorf("%s: no reason", c.name)
		}
		for _, strict := range []bool{true, false} {
			want := c.lenient
			if strict {
				want = c.strict
			}
			d, diags, err := Parse([]byte(c.in), &ParseOptions{Dir: "a", Strict: strict})
			if got := codes(diags); got != want {
				t.Errorf("%s, strict %v: diagnostics %q, want %q (%s)\n%v", c.name, strict, got, want, c.reason, diags)
			}
			if failed := strings.Contains(want, "!"); (err != nil) != failed || (d == nil) != failed {
				t.Errorf("%s, strict %v: document %v, error %v (%s)", c.name, strict, d, err, c.reason)
			}
			if d != nil && !c.want(d) {
				t.Errorf("%s, strict %v: document %+v (%s)", c.name, strict, d, c.reason)
			}
		}
	}
}

// No file gives more than a few thousand diagnostics, or takes quadratic time: that would be many seconds for each of these.
func TestParseBounded(t *testing.T) {
	n := maxFile / 8
	if testing.Short() {
		n = maxFile / 32
	}
	for _, c := range []struct{ line, reason string }{
		{"a: 1\n", "the same key"},
		{"a: b: c\n", "values to repair"},
		{"\tx\n", "tabs to repair"},
		{" x\n", "a long value to repair"},
	} {
		in := "---\nname: a\ndescription: b: c\n" + strings.Repeat(c.line, n/len(c.line)) + "---\n"
		_, diags, _ := Parse([]byte(in), nil)
		if len(diags) > 3*maxYAMLNodes {
			t.Errorf("%s: %d diagnostics, the first are %v", c.reason, len(diags), diags[:3])
		}
	}
	if got := bullets("- a\n" + strings.Repeat("b\n", n)); len(got) != 1 || len(got[0]) != 1+2*n {
		t.Errorf("a long bullet: %d bullets", len(got))
	}
}

func TestParseOptions(t *testing.T) {
	in := []byte(doc("name: ä", "description: a <b>"))
	if _, diags, err := Parse(in, &ParseOptions{Strict: true}); err != nil || len(diags) > 0 {
		t.Errorf("default: %v %v", diags, err)
	}
	_, diags, err := Parse(in, &ParseOptions{Path: "x/SKILL.md", Strict: true, ASCIINames: true, RejectAngle: true})
	if got := codes(diags); got != "2 invalid-name!, 3 angle-bracket!" {
		t.Errorf("ASCIINames and RejectAngle: %s", got)
	}
	var d Diagnostic
	if !errors.As(err, &d) || d.Error() != `x/SKILL.md:2: error: name "ä" holds 'ä', want lower-case letters, digits and '-' [invalid-name]` {
		t.Errorf("errors.As found %v", d)
	}
}

// genDocument draws valid documents with hostile texts.
func genDocument() *rapid.Generator[*Document] {
	text := func(maxRunes int) *rapid.Generator[string] {
		return rapid.Map(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z #:'"\-{}\[\]&*!|>%@,?\\\n\t]{0,40}`),
			rapid.SampledFrom([]string{"yes", "null", "~", "1.10", "0x1f", "12:30", "2024-01-02", "- a", "a: b", "a #b", "|", ">-", "---", "<<", "\u0085", "\u2028a", "\ufeffx", "a\r\nb"})),
			func(s string) string {
				if r := []rune(s); len(r) > maxRunes {
					s = string(r[:maxRunes])
				}
				return strings.TrimSpace(s)
			})
	}
	return rapid.Custom(func(t *rapid.T) *Document {
		d := &Document{CRLF: rapid.Bool().Draw(t, "crlf")}
		f := &d.Frontmatter
		f.Name = rapid.StringMatching(`[a-z0-9]{1,8}(-[a-zäé0-9]{1,8}){0,3}`).Filter(func(s string) bool { return unsafeName(s) == "" }).Draw(t, "name")
		f.Description = text(maxDescription).Filter(func(s string) bool { return s != "" }).Draw(t, "description")
		f.License = text(100).Draw(t, "license")
		f.Compatibility = text(maxCompatibility).Draw(t, "compatibility")
		if rapid.Bool().Draw(t, "has tools") {
			f.AllowedTools = rapid.SliceOf(rapid.StringMatching(`[A-Za-z"'#:*]{1,5}(\([a-z :*,]{0,5}\))?`)).Draw(t, "tools")
		}
		f.Metadata = rapid.MapOfN(rapid.String(), rapid.OneOf(rapid.String(), text(50)), 0, 4).Draw(t, "metadata")
		d.Content = strings.ReplaceAll(text(200).Draw(t, "content"), "\x00", "") + "\n"
		return d
	})
}

// Writing a valid document and reading it strictly gives it back; writing is deterministic and makes one frontmatter block.
func TestMarshalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDocument().Draw(t, "document")
		b, err := Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Marshal(d)
		if !bytes.Equal(b, again) {
			t.Fatalf("two writings differ:\n%q\n%q", b, again)
		}
		got, _, err := Parse(b, &ParseOptions{Strict: true, Dir: d.Name()})
		if err != nil {
			t.Fatalf("%v\n%q", err, b)
		}
		want := canonical(d)
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Fatalf("round trip (-want +got):\n%s\n%q", diff, b)
		}
		lenient, _, err := Parse(b, nil)
		if diff := cmp.Diff(got, lenient); err != nil || diff != "" {
			t.Fatalf("strict and lenient reading differ: %v (-strict +lenient):\n%s", err, diff)
		}
		if d.CRLF && bytes.Count(b, []byte("\n")) != bytes.Count(b, []byte("\r\n")) {
			t.Fatalf("mixed line ends: %q", b)
		}
	})
}

func TestMarshalKeepsFile(t *testing.T) {
	in := "---\nname: a\ndescription: Use when it rains.\nallowed-tools: Bash(git add:*) Read\nmetadata:\n  k: \"1\"\nhomepage: https://x.example\ntags:\n  - a\n  - b\n---\n# Title\n"
	for _, crlf := range []bool{false, true} {
		src := in
		if crlf {
			src = "\ufeff" + strings.ReplaceAll(in, "\n", "\r\n")
		}
		d, _, err := Parse([]byte(src), nil)
		if err != nil {
			t.Fatal(err)
		}
		d.Content += "More.\n"
		got, err := Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(src, "\ufeff")+map[bool]string{false: "More.\n", true: "More.\r\n"}[crlf], string(got)); diff != "" {
			t.Errorf("crlf %v: edited file (-want +got):\n%s", crlf, diff)
		}
	}
}

// Values that other YAML readers take for numbers, booleans or times are quoted, and a text stays on its line.
func TestMarshalQuotes(t *testing.T) {
	b, err := Marshal(&Document{Frontmatter: Frontmatter{Name: "1", Description: "a\nb", License: "MIT",
		Metadata: map[string]string{"on": "Yes", "t": "12:30", "n": "1e3", "z": "", "p": "plain text", "m": "a: b"}}})
	want := `---
name: "1"
description: "a\nb"
license: MIT
metadata:
  m: 'a: b'
  "n": "1e3"
  "on": "Yes"
  p: plain text
  t: "12:30"
  z: ""
---
`
	if diff := cmp.Diff(want, string(b)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestMarshalRefuses(t *testing.T) {
	for _, c := range []struct {
		d      *Document
		want   string
		reason string
	}{
		{nil, "nil", "nothing to write"},
		{&Document{}, "missing-name", "the format needs a name"},
		{&Document{Frontmatter: Frontmatter{Name: "a b", Description: "x"}}, "invalid-name", "strict names"},
		{&Document{Frontmatter: Frontmatter{Name: "../a", Description: "x"}}, "unsafe-name", "names become folders"},
		{&Document{Frontmatter: Frontmatter{Name: "a", Description: strings.Repeat("x", 1025)}}, "description-too-long", "limit"},
		{&Document{Frontmatter: Frontmatter{Name: "a", Description: "\xff"}}, "description is not UTF-8", "not text"},
		{&Document{Frontmatter: Frontmatter{Name: "a", Description: "x"}, Content: "\x00"}, "nul-byte", "could not be read again"},
		{&Document{Frontmatter: Frontmatter{Name: "a", Description: "x", AllowedTools: []string{"Bash x"}}}, "AllowedTools", "one tool would be read as two"},
		{&Document{Frontmatter: Frontmatter{Name: "a", Description: "x", AllowedTools: []string{""}}}, "AllowedTools", "an empty tool would vanish"},
		{&Document{Frontmatter: Frontmatter{Name: "a", Description: "x", AllowedTools: []string{"a,b"}}}, "tools-commas", "strict tools"},
		{&Document{Frontmatter: Frontmatter{Name: "a", Description: "x", Unknown: []Field{{"name", "b"}}}}, "duplicate-key", "one value per key"},
		{&Document{Frontmatter: Frontmatter{Name: "a", Description: "x", Unknown: []Field{{"k", "[b"}}}}, `"k" is not YAML`, "raw text must be YAML"},
		{&Document{Frontmatter: Frontmatter{Name: "a", Description: "x", Unknown: []Field{{"k", "&a b"}}}}, "yaml-anchor", "nor smuggle in what reading refuses"},
		{&Document{Frontmatter: Frontmatter{Name: "a", Description: "x"}, Content: strings.Repeat("x", maxFile)}, "too-large", "limit"},
	} {
		b, err := Marshal(c.d)
		if b != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %d bytes, error %v, want one with %q (%s)", c.d, len(b), err, c.want, c.reason)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		doc("name: a", "description: x", "allowed-tools: Bash(a b) R", "metadata: {k: v}", "x-y: [1, {a: b}]"),
		doc("name: a", "description: Use when: x", "\tlicense: `a`"), doc("name: a", "description: >-", "  a", "  b"),
		"\ufeff\r\n---\r\nname: a\r\ndescription: \"\\x01\\u2028\\0\"\r\n---\r\nb\r\r\nc\r", "---\r---", "---\n? a\n: b\n---\n", "", "---",
		doc("name: a", "description: x\u2028y", "Allowed-Tools: z"), doc("name: a", "description: x # y", "license: # z", "metadata: {a: [b] # c", "}"),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		strict, diags, err := Parse(data, &ParseOptions{Strict: true})
		if (strict == nil) != (err != nil) || err != nil && joinErrors(diags) == nil {
			t.Fatalf("document %v, error %v, diagnostics %v", strict, err, diags)
		}
		lenient, _, err2 := Parse(data, nil)
		if lenient == nil && err2 == nil {
			t.Fatal("no document and no error")
		}
		if lenient != nil && bytes.Contains(data, []byte("\nallowed-tools:")) && lenient.Frontmatter.AllowedTools == nil {
			head, _, _ := bytes.Cut(bytes.TrimPrefix(data, []byte("---")), []byte("\n---"))
			if bytes.Contains(head, []byte("\nallowed-tools:")) {
				t.Fatalf("restriction lost: %+v", lenient)
			}
		}
		if strict == nil {
			return
		}
		if diff := cmp.Diff(strict, lenient); diff != "" {
			t.Fatalf("lenient reading differs (-strict +lenient):\n%s", diff)
		}
		if !utf8.ValidString(fmt.Sprint(*strict)) {
			t.Fatalf("invalid text in %+v", strict)
		}
		b, err := Marshal(strict)
		if err != nil {
			t.Fatalf("accepted but cannot be written: %v", err)
		}
		again, _, err := Parse(b, &ParseOptions{Strict: true})
		if diff := cmp.Diff(strict, again); err != nil || diff != "" {
			t.Fatalf("written and read: %v (-want +got):\n%s\n%q", err, diff, b)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	const line = "A line of advice that is neither long nor short.\n"
	head := []string{"name: a", "description: Use when it rains and the order is late.", "license: MIT", "metadata:", "  k: v"}
	broken := slices.Concat(head, []string{"compatibility: needs: a shell"})
	for _, c := range []struct {
		name string
		data string
	}{
		{"2KB", doc(head...) + strings.Repeat(line, 40)},
		{"50KB", doc(head...) + strings.Repeat(line, 1000)},
		{"1MB", doc(head...) + strings.Repeat(line, 20000)},
		{"repaired", doc(broken...) + strings.Repeat(line, 40)},
		{"crlf", strings.ReplaceAll(doc(head...)+strings.Repeat(line, 40), "\n", "\r\n")},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := []byte(c.data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Parse(data, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMarshal(b *testing.B) {
	d := typicalDocument("a")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Marshal(d); err != nil {
			b.Fatal(err)
		}
	}
}
