package grounded

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/midtool/document"
)

// asked are the questions of a document with their answers, and "tool" with the names of its tools.
func asked(t *testing.T, d *document.Document) []string {
	t.Helper()
	s, err := (&Options{MinScore: new(0), Cap: new(4000), Percent: new(10000)}).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p := Read(d)
	m := newMaterial(p, 4000, &s)
	var out []string
	for _, kind := range questionKinds {
		for _, q := range m.questions[kind] {
			about := strings.TrimSpace(strings.Join([]string{q.fields.name, q.fields.of, q.fields.text}, " "))
			out = append(out, fmt.Sprintf("%s: %s -> %s", kind, about, strings.Join(q.pieces, ", ")))
		}
	}
	for _, tool := range p.Tools {
		out = append(out, "tool: "+tool.Name)
	}
	return out
}

func extracted(name, shown, args string) string {
	return fmt.Sprintf(`argument_extraction: %s %s -> {"name": "%[1]s", "arguments": %[3]s}`, name, shown, args)
}

func TestAskSound(t *testing.T) {
	for _, tt := range []struct {
		name   string
		doc    *document.Document
		want   []string
		reason string
	}{
		{"whole", source("go", "// Bytes returns the data over which the index was made.\nfunc (x *Index) Bytes() []byte {\n"),
			[]string{"tool_selection: returns the data over which the index was made -> Bytes",
				"output_use: Bytes -> the data over which the index was made"},
			"cut before a preposition, it would be any data; and an index is nothing that a call can give"},
		{"same", source("go", "// Ones8 returns the number of bits in x.\nfunc Ones8(x uint8) int {\n\n// Ones16 returns the number of bits in x.\nfunc Ones16(x uint16) int {\n"),
			[]string{"prerequisite: Ones8 -> x", "prerequisite: Ones16 -> x", "output_use: Ones8 -> the number of bits in x",
				"output_use: Ones16 -> the number of bits in x", "tool: Ones8", "tool: Ones16"},
			"two functions do it"},
		{"directive", source("go", "//export Stop\nfunc Stop(name string) {\n\n// Find finds a file by name.\n//\n//go:noinline\nfunc Find(name string) string {\n"),
			[]string{"tool_selection: finds a file by name -> Find", "prerequisite: Find -> name", "tool: Find"},
			"a line for the compiler says nothing"},
		{"no data", source("go", "// Find finds a handler by its path.\nfunc Find(path string) Handler {\n\n"+
			"// Load gets a user of an account.\nfunc Load(ctx context.Context, id string) (*User, error) {\n"),
			[]string{"tool_selection: finds a handler by its path -> Find", "tool_selection: gets a user of an account -> Load",
				"prerequisite: Find -> path", "prerequisite: Load -> id", "tool: Load"},
			"a handler is no answer to a call; what takes a context is one"},
		{"operands", markdown(fenced("sh", "# Search the posts of a friend\npost search \"rain\" --limit 3\n\n# List the posts of a friend\npost list --limit 3")),
			[]string{"tool_selection: search the posts of a friend -> post search", "tool_selection: list the posts of a friend -> post list",
				extracted("post_list", "post list --limit 3", `{"limit": 3}`), "tool: post_list"},
			"a call without the words to search for is another one"},
		{"commands of commands", markdown(fenced("sh", "# List all channels\nchat channel list --all\n\nchat channel new --name x")), nil,
			"the text is about one of the two"},
		{"pipe", markdown(fenced("sh", "# Count the lines of a log\nshow -r log | count -l")), nil, "neither does it alone"},
		{"here string", markdown(fenced("sh", "# Show the tokens of a text\nyam -t <<< 'a: b'")),
			[]string{"tool_selection: show the tokens of a text -> yam"}, "its input is no argument"},
		{"substitution", markdown(fenced("sh", "# Show the version of a tool\nshow build -m \"$(which tool)\"")),
			[]string{"tool_selection: show the version of a tool -> show build"}, "its input is what another command says"},
		{"folders", markdown(fenced("", "$ fetch get example.com/x/... --all  # Fetch a package")),
			[]string{"tool_selection: fetch a package -> fetch get"}, "an address with dots is no name of a parameter"},
		{"version", markdown(fenced("sh", "# Verify the installation\nrg --version")), nil, "the program does something else"},
		{"behind", markdown(fenced("sh", "ship export -f a.yaml   # Export one agent\nship import -f a.yaml")),
			[]string{"tool_selection: export one agent -> ship export", extracted("ship_export", "ship export -f a.yaml", `{"f": "a.yaml"}`),
				extracted("ship_import", "ship import -f a.yaml", `{"f": "a.yaml"}`),
				"tool: ship_export"}, "a comment ends with its line"},
		{"block", markdown("To create a set of files, run these:\n\n" + fenced("sh", "$ repo clone --all\n$ make files -x")),
			[]string{extracted("repo_clone", "repo clone --all", `{"all": true}`), extracted("make_files", "make files -x", `{"x": true}`)}, "the second one does it"},
		{"heading of several", markdown("## Send a change\n\n" + fenced("sh", "repo add --all\nrepo push --force")),
			[]string{extracted("repo_add", "repo add --all", `{"all": true}`), extracted("repo_push", "repo push --force", `{"force": true}`)}, "none does it alone"},
		{"heading of prose", markdown("## Report a bug\n\nTell us which version you have.\n\n" + fenced("sh", "tool show -m")),
			[]string{extracted("tool_show", "tool show -m", `{"m": true}`)}, "the text says something else"},
		{"topic", markdown("## Watching for changes\n\n" + fenced("sh", "tool watch -p")),
			[]string{extracted("tool_watch", "tool watch -p", `{"p": true}`)}, "what a part is about is no task"},
		{"endpoint of a heading", markdown("## Key differences in 2025\n\n" + fenced("", "GET /v1/sources/{source_id}")), nil, "a topic again"},
		{"body", markdown(fenced("sh", "# Create a page for a team\ncurl -X POST \"https://x.example/v1/pages\" \\\n  -H \"A: b\" \\\n  -d '{\"title\": \"x\"}'")),
			[]string{"tool_selection: create a page for a team -> https://x.example/v1/pages"}, "what it sends is not told of"},
		{"examples", markdown("`GET /notes` - Lists the notes.\n\n| Name | Description | Example |\n|---|---|---|\n| `sort` | The order of them | `rating`, `distance` |\n" +
			"| `--price` | The price filter | `--price 1,2` for $ |\n| `size` | The size of them | `--low 1 --high 2` |\n"),
			[]string{"tool_selection: lists the notes -> GET /notes", "argument_extraction: sort GET /notes -> The order of them",
				"argument_extraction: --price GET /notes -> The price filter", "argument_extraction: size GET /notes -> The size of them", "tool: list_notes"},
			"a cell may show more than a value; see below"},
		{"conditions", markdown("1. Verify the card.\n2. If the card is expired:\n   - Send another.\n3. Store the key:\n\n4. Ask the customer.\n"),
			[]string{"prerequisite: Ask the customer -> Store the key"}, "nobody does a condition"},
		{"criteria", markdown("1. Account Good Standing: The account is current.\n2. Minimum age: It is 60 days old.\n"), nil, "there is nothing to do"},
		{"kinds", markdown("1. **Metadata** (100 words) - Always in context.\n2. **Body** (5k words) - When it triggers.\n"), nil, "parts of a whole"},
		{"code kinds", markdown("1. `a.Equal(x)` - the plain variant\n2. `a.Equalf(x)` - the format variant\n"), nil, "parts of a whole"},
		{"bold label", markdown("1. **Possible causes**:\n   - It is lost.\n2. Ask the customer.\n"), nil, "a list in a list"},
		{"statements", markdown("1. The universe block has all text.\n2. Each file has a file block.\n"), nil, "facts in a row"},
		{"cut", markdown("1. Compose the tree of nodes (calls\n   Parser for that)\n2. Resolve the tags.\n"), nil, "half of it is on the next line"},
		{"topics", markdown("- cli: allow several flags now\n- `mode`: how it is opened\n- max_size: how large it gets\n"),
			[]string{"argument_extraction: mode -> how it is opened", "argument_extraction: max_size -> how large it gets"}, "nobody asks what cli is there"},
		{"rows", markdown("| Plugin | Purpose | Part of |\n|---|---|---|\n| `tab-indent` | Reads text that is indented with tabs | The core |\n| `other` | `Not` prefix | `x` |\n"),
			[]string{"argument_extraction: tab-indent -> Reads text that is indented with tabs"}, "the longest cell tells most; two pieces of code tell nothing"},
		{"defaults", markdown("| Option | Default | Description |\n|---|---|---|\n| `--guidance` | varies | How strong it is |\n"),
			[]string{"argument_extraction: --guidance -> How strong it is"}, "that is no value"},
		{"columns", markdown(fenced("", "+x                          is 0 + x\n-x    negation              is 0 - x")), nil, "a table of three columns has no flags"},
		{"types for names", markdown("- `use_unicode(bool)` - Turn on the letters of all scripts\n"),
			[]string{"tool_selection: turn on the letters of all scripts -> use_unicode", "prerequisite: use_unicode -> bool"}, "the parameter has no name"},
		{"method", markdown("- `node.load()` - Load the rest of a file\n"),
			[]string{"tool_selection: load the rest of a file -> node.load"}, "a call does not give the node"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		if diff := cmp.Diff(tt.want, asked(t, tt.doc)); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", tt.name, tt.reason, diff)
		}
	}
}

// A cell gives one value, without marks and flags.
func TestReadCellValues(t *testing.T) {
	p := Read(markdown("`GET /notes` - Lists the notes.\n\n| Name | Description | Example |\n|---|---|---|\n| `sort` | The order of them | `rating`, `distance` |\n" +
		"| `price` | The price filter | `--price 1,2` for $ |\n| `size` | The size of them | `--low 1 --high 2` |\n| `place` | The place of them | `\"San Francisco\"` or `\"94123\"` |\n"))
	got := string(p.Tools[0].Parameters)
	for _, want := range []string{`"examples":["rating"]`, `"examples":["1,2"]`, `"The size of them."}`, `"examples":["San Francisco"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// A request in other words than the document's is as long as its description.
func TestGenerateWholeWish(t *testing.T) {
	d := source("go", "// Pid returns the id of a process.\nfunc Pid() int {\n\n// Unix returns the time stored in x as seconds.\nfunc Unix(x string) int {\n"+
		strings.Repeat("// It goes on.\n", 60))
	for seed := range uint64(60) {
		for _, s := range generate(t, &Options{Seed: seed, MinScore: new(0), MinTrajectoryScore: new(10000), Percent: new(10000)}, d).Samples {
			if !strings.Contains(s.ID, "#tool_selection") {
				continue
			}
			user := s.Messages[1].Content
			whole := slices.ContainsFunc([]string{"process", "stored in x as seconds"}, func(w string) bool { return strings.Contains(user, w) })
			if !whole {
				t.Errorf("seed %d: %s", seed, user)
			}
		}
	}
}
