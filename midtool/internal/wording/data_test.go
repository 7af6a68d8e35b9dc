package wording

import (
	"bufio"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A known tool is one of the real ones.
type known struct {
	about  *Tool
	name   string
	schema *schema.Schema
	avoid  [][]string
}

// realTools reads the tools of MCP servers in the folder of test data.
func realTools(t *testing.T) []known {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	f, err := os.Open(filepath.Join(dir, "mcp", "tools.jsonl"))
	if dir == "" || err != nil {
		t.Skip("set THROUGHLINE_DATA to the folder of test data that holds mcp/tools.jsonl")
	}
	defer f.Close()
	var out []known
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		server, err := jsonval.Parse(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		tools := server.Get("tools")
		for i := range tools.List {
			tool := &tools.List[i]
			k := known{name: tool.Get("name").Text}
			description := ""
			if d := tool.Get("description"); d != nil {
				description = d.Text
			}
			compiled, fault := schema.Compile(tool.Get("input_schema"))
			if fault != nil {
				continue
			}
			k.schema, k.about = compiled, About(k.name, description)
			k.avoid = names.GivenAway(k.name)
			out = append(out, k)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// task makes a call of the n-th tool.
func (k *known) task(d *draw.Draws) (Task, bool) {
	m := schema.Maker{D: d, Optional: 0.4}
	args, ok := m.Value(k.schema, k.name, 0)
	if !ok {
		return Task{}, false
	}
	task := Task{Tool: k.about}
	if len(args.Members) > 0 {
		for _, l := range schema.LeavesOf(k.schema, &args, "", nil) {
			task.Slots = append(task.Slots, Slot{Leaf: l})
		}
	}
	return task, true
}

// No template may stand out: in the texts over real tools the most frequent one has less than 2 % of its kind.
func TestTemplateShares(t *testing.T) {
	tools := realTools(t)
	results := make([]jsonval.Value, 0, 7)
	for _, text := range []string{`{"status":"ok","id":"usr_0007","name":"Ada"}`,
		`{"items":[{"id":"a_1","name":"Ada"},{"id":"a_2","name":"Bo"}]}`,
		`{"success":true}`, `{"temp_c":7,"city":"Oslo","wind":"calm"}`, `{"status":"ok"}`, `{"result":46.5}`, `{"items":[{"name":"Ada"}]}`} {
		r, err := jsonval.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	templates := make(map[string]map[string]int)
	total := make(map[string]int)
	add := func(kind string, x Text) {
		if templates[kind] == nil {
			templates[kind] = make(map[string]int)
		}
		templates[kind][x.Template]++
		total[kind]++
	}
	n := 20_000
	if testing.Short() {
		n = 4_000
	}
	for i := range n {
		d := draw.New(3, "share", strconv.Itoa(i))
		k := &tools[d.Pick(len(tools))]
		task, ok := k.task(d)
		if !ok {
			continue
		}
		w := Writer{Draws: d, Avoid: k.avoid}
		x := w.Request([]Task{task}, false)
		add("request", x)
		add("request of "+strconv.Itoa(min(2, len(task.Slots))), x)
		add("follow-up", w.Request([]Task{task}, true))
		add("failed", w.Failed(&task, "no"))
		add("cannot", w.Cannot(&task, false))
		r := &results[i%len(results)]
		add("answer "+strconv.Itoa(i%len(results)), w.Answer([]Task{task}, []*jsonval.Value{r}))
		add("answers "+strconv.Itoa(i%len(results)), w.Answer([]Task{task, task}, []*jsonval.Value{r, r}))
		if len(task.Slots) > 0 {
			task.Slots[0].Hidden = true
			add("question", w.Question(&task))
			add("supply", w.Supply(&task))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(templates)) {
		best := ""
		for template, count := range templates[kind] {
			if count > templates[kind][best] || count == templates[kind][best] && template < best {
				best = template
			}
		}
		share := float64(templates[kind][best]) / float64(total[kind])
		t.Logf("%-12s %5d texts, %5d templates, largest %.2f %%: %q", kind, total[kind], len(templates[kind]), 100*share, best)
		limit := 0.02
		if kind == "request" {
			limit = 0.01
		}
		if share >= limit {
			t.Errorf("%s: %.2f %% follow %q", kind, 100*share, best)
		}
	}
}
