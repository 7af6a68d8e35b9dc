package grounded

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/midtool/document"
)

func markdown(text string) *document.Document {
	return &document.Document{ID: "doc", Kind: document.Markdown, Text: text, License: "MIT"}
}

func source(syntax, text string) *document.Document {
	return &document.Document{ID: "code", Kind: document.Code, Syntax: syntax, Text: text, License: "MIT"}
}

func fenced(lang, text string) string { return "```" + lang + "\n" + text + "\n```\n" }

func TestReadCounts(t *testing.T) {
	for _, tt := range []struct {
		name string
		doc  *document.Document
		want map[Feature]int
	}{
		{"nothing", markdown("The sea was calm that evening, and nobody spoke."), nil},
		{"endpoint", markdown("`GET /users/{id}` returns a user. Again: GET /users/{id}."), map[Feature]int{Endpoint: 1}},
		{"endpoints", markdown("POST https://api.example.com/v1/users and DELETE /users/7"), map[Feature]int{Endpoint: 2}},
		{"table of endpoints", markdown("| `GET` | `/users` | List users |\n| `POST` | `/users` | Create a user |"), map[Feature]int{Endpoint: 2}},
		{"no endpoint", markdown("TARGET / this and get / that, or the FORGET / key"), nil},
		{"command", markdown(fenced("sh", "$ lookout\ngrep -v later")), map[Feature]int{Command: 2}},
		{"command twice", markdown(fenced("", "tool --dry-run\ntool --dry-run")), map[Feature]int{Command: 1}},
		{"no command", markdown("tool --dry-run\n" + fenced("python", "tool -x") + fenced("sh", "some words alone")), nil},
		{"callable", source("go", "func Cut(s, sep string) bool {\nfunc (r *Reader) Len() int {"), map[Feature]int{Callable: 2}},
		{"callable in a block", markdown(fenced("python", "def send(to: str, text: str = 'x') -> None:")), map[Feature]int{Callable: 1}},
		{"signature in a heading", markdown("## `client.send(to, text)`"), map[Feature]int{Callable: 1}},
		{"params", markdown("- `limit` (integer): How many there are.\n- `offset`: Where to start.\n* **color** - The color of it"), map[Feature]int{Param: 3}},
		{"no params", markdown("- Note: this is said only once.\n- the rest of it\n- `docs/`: a folder"), nil},
		{"table of params", markdown("| Name | Type | Description |\n|---|---|---|\n| `a` | string | The first one |\n| b | integer | The second one |"), map[Feature]int{Param: 2}},
		{"flags", markdown(fenced("text", "  -v, --verbose   Say more about it\n  --out FILE   Where to write")), map[Feature]int{Param: 2}},
		{"properties", markdown(fenced("json", "\"city\": {\n  \"type\": \"string\"\n},\n\"days\": {\"description\": \"How many days\"}")), map[Feature]int{Param: 2, Value: 6}},
		{"steps", markdown("1. Open the door.\n2. Go in.\n3) Close it."), map[Feature]int{Step: 3}},
		{"step labels", markdown("## Step 1: Open the door\n\nStep 2 - Go inside"), map[Feature]int{Step: 2}},
		{"sentences", markdown("First, open the door. Then go inside. Finally close it. Firstly is no such word."), map[Feature]int{Step: 3}},
		{"values", markdown(`It takes 30 seconds or 5GB, until 2027-03-03, for "blue shoes" in ./data/in.csv, see https://example.com/x of user_0001.`), map[Feature]int{Value: 7}},
		{"no values", markdown("and/or 3 of them, well-known, 7 and 12 and I/O"), nil},
		{"errors", markdown("- `404`: There is no such user.\n\nIt fails if the disk is full.\n\nIt raises KeyError when the key is unknown."), map[Feature]int{ErrorRef: 3}},
		{"no errors", markdown("404 is the number of a room. Nobody fails here."), nil},
		{"invalid", markdown("\xff\xfe `GET /\xff` \xc3("), map[Feature]int{Endpoint: 1}},
	} {
		got := Read(tt.doc).Counts
		if len(got) == 0 {
			got = nil
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestReadTools(t *testing.T) {
	for _, tt := range []struct {
		name string
		doc  *document.Document
		want []string // name, description and parameters
	}{
		{"endpoint", markdown("### Users\n\n`GET /v1/users/{user_id}?limit=20` - Returns a user.\n\n- `limit` (integer, optional): How many orders to show.\n" +
			"- `user_id` (string, required): Identifier of the user.\n- `verbose` (boolean): Tells more. Default: false.\n"),
			[]string{`get_user | Returns a user. | {"type":"object","properties":{"user_id":{"type":"string","description":"Identifier of the user."},` +
				`"limit":{"type":"integer","description":"How many orders to show.","examples":[20]},"verbose":{"type":"boolean","description":"Tells more.",` +
				`"default":false}},"required":["user_id"]}`}},
		{"endpoint with a parameter that begins in code", markdown("`GET /v1/users/{user_id}` - Returns a user.\n\n- `user_id`: `some text` of it.\n"),
			[]string{`get_user | Returns a user. | {"type":"object","properties":{"user_id":{"type":"string"}},"required":["user_id"]}`}},
		{"endpoint with a text below", markdown("#### POST /orders\n\nCreates an order for a\ncustomer. More of it.\n"),
			[]string{`post_orders | Creates an order for a customer. | {"type":"object","properties":{}}`}},
		{"command", markdown("To deploy a service, run:\n\n" + fenced("sh", "$ ship deploy --region eu-west-1 --count 3 --wait <service>") + "\n- `--region`: Where it runs.\n"),
			[]string{`ship_deploy | Deploy a service. | {"type":"object","properties":{"region":{"type":"string","description":"Where it runs.","examples":["eu-west-1"]},` +
				`"count":{"type":"integer","examples":[3]},"wait":{"type":"string"}}}`}},
		{"commands that are no tools", markdown("Change the folder:\n\n" + fenced("sh", "cd -P /tmp\nls -la\ngit -C x log\ncurl -s https://example.com")), nil},
		{"Go", source("go", "// Cut slices a text.\nfunc Cut(s, sep string, n ...int) bool {\n\n// Copy copies a file.\nfunc Copy(w io.Writer) {\n\nfunc Bare(s string) {\n"+
			"// helper removes a file.\nfunc helper(s string) {"), nil},
		{"Go that tells", source("go", "// Search finds a text in\n// a folder.\nfunc Search(ctx context.Context, pattern string, depth int) ([]string, error) {"),
			[]string{`Search | Finds a text in a folder. | {"type":"object","properties":{"pattern":{"type":"string"},"depth":{"type":"integer"}},"required":["pattern","depth"]}`}},
		{"Python", source("py", "def send_mail(\n    to: str,\n    copies: int = 2,\n    *,\n    cc: Optional[list[str]] = None,\n):\n    \"\"\"Send a letter to a person.\n\n"+
			"    Args:\n        to (str): Address of the person.\n    \"\"\"\n"),
			[]string{`send_mail | Send a letter to a person. | {"type":"object","properties":{"to":{"type":"string","description":"Address of the person."},` +
				`"copies":{"type":"integer","default":2},"cc":{"type":"array","items":{"type":"string"}}},"required":["to"]}`}},
		{"JavaScript", source("ts", "/**\n * Removes a note.\n * @param {string} id - Identifier of the note.\n */\nexport async function dropNote(id: string, force?: boolean) {"),
			[]string{`dropNote | Removes a note. | {"type":"object","properties":{"id":{"type":"string","description":"Identifier of the note."},"force":{"type":"boolean"}},"required":["id"]}`}},
	} {
		p := Read(tt.doc)
		var got []string
		for _, tool := range p.Tools {
			got = append(got, fmt.Sprintf("%s | %s | %s", tool.Name, tool.Description, tool.Parameters))
			if tool.Group != tt.doc.ID || tool.License != "MIT" {
				t.Errorf("%s: %s has group %q and license %q", tt.name, tool.Name, tool.Group, tool.License)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What is found stands where it is said to stand, in order and within the text.
func TestReadSpans(t *testing.T) {
	d := markdown("# Setup\n\n1. **Open the door**\n2. Wait 30 seconds.\n\n- `404`: There is no door.\n\nIt fails if the key is lost.\n")
	p := Read(d)
	text := func(spans []Span) []string {
		var out []string
		for _, s := range spans {
			out = append(out, s.of(d.Text))
		}
		return out
	}
	got := map[string][]string{"steps": text(p.Steps), "values": text(p.Values), "errors": text(p.Errors)}
	want := map[string][]string{"steps": {"Open the door", "Wait 30 seconds."}, "values": {"30 seconds"},
		"errors": {"- `404`: There is no door.", "It fails if the key is lost."}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// hostile are texts that ask for more than they are worth.
func hostile(n int) map[string]string {
	return map[string]string{
		"one line":    strings.Repeat("word. First, do it if 30 seconds /a/b ", n/38),
		"no blank":    strings.Repeat("x", n),
		"brackets":    strings.Repeat("func A(", n/7),
		"lines":       strings.Repeat("func A((((\n", n/11),
		"tables":      strings.Repeat("| a | b ", n/8),
		"flags":       "```\n" + strings.Repeat("tool --a b\\\n", n/12),
		"quotes":      strings.Repeat("\" ", n/2),
		"fences":      strings.Repeat("```\n", n/4),
		"slashes":     strings.Repeat("GET /", n/5),
		"list":        strings.Repeat("1. fails if\n", n/12),
		"blank lines": "1. Open it.\n" + strings.Repeat("\n", n) + "2. Close it.\n",
		"blanks":      "It fails if you do" + strings.Repeat(" ", n) + "\nso.",
		"not UTF-8":   strings.Repeat("\xff", n),
		"comment":     strings.Repeat("// to (str): x\n", n/15) + "func Search(s string) {",
	}
}

func TestReadHostile(t *testing.T) {
	texts := hostile(1 << 18)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, d := range []*document.Document{markdown(texts[name]), source("go", texts[name])} {
			p := Read(d)
			if len(p.Tools) > maxTools || len(p.Steps) > maxSpans || len(p.Values) > maxSpans || len(p.Errors) > maxSpans || p.Score < 0 || p.Score > 10000 {
				t.Errorf("%s: out of bounds", name)
			}
			for _, n := range p.Counts {
				if n < 1 || n > maxCounted {
					t.Errorf("%s: count %d", name, n)
				}
			}
		}
	}
}

// The time grows in proportion to the text, for all of what is hostile.
func BenchmarkRead(b *testing.B) {
	for _, size := range []int{1 << 14, 1 << 17, 1 << 20} {
		texts := hostile(size)
		texts["manual"] = strings.Repeat(manual, size/len(manual)+1)
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			d := markdown(texts[name])
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, " ", "-"), size), func(b *testing.B) {
				b.SetBytes(int64(len(d.Text)))
				b.ReportAllocs()
				for b.Loop() {
					Read(d)
				}
			})
		}
	}
}
