package memory

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/skill"
)

// The learned libraries of three public runs, as one memory of code: a function of the same name replaces the one before, what is alike
// is dropped, and whatever is removed takes its callers along.
func TestPublicLibraries(t *testing.T) {
	data := os.Getenv("THROUGHLINE_DATA")
	if data == "" {
		t.Skip("THROUGHLINE_DATA does not name a folder of public data")
	}
	ctx := context.Background()
	m, err := New(ctx, &Options{Format: skill.FormatCode})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	last := make(map[string]string) // the source by function
	did := make(map[Action]int)
	total := 0
	for _, trial := range []string{"trial1", "trial2", "trial3"} {
		b, err := os.ReadFile(filepath.Join(data, "skills", "voyager", trial, "skills.json"))
		if err != nil {
			t.Fatal(err)
		}
		var library map[string]struct{ Code, Description string }
		if err := json.Unmarshal(b, &library); err != nil {
			t.Fatal(err)
		}
		for _, function := range slices.Sorted(maps.Keys(library)) {
			total++
			// A description is a comment in an empty function.
			description := strings.Join(strings.Fields(strings.Trim(strings.ReplaceAll(library[function].Description, "//", ""), "\n }")), " ")
			d := &skill.Document{
				Frontmatter: skill.Frontmatter{Name: strings.ToLower(function), Description: description},
				Content:     "```javascript\n" + library[function].Code + "\n```\n",
			}
			if err := d.SetRecord(skill.Record{Format: skill.FormatCode, Function: function}); err != nil {
				t.Fatal(err)
			}
			added, err := m.Add(ctx, d)
			if err != nil {
				t.Fatalf("%s of %s: %v", function, trial, err)
			}
			did[added.Action]++
			if _, known := last[function]; added.Action == Overwritten && !known || added.Action == Created && known {
				t.Errorf("%s of %s: %v, seen before: %v", function, trial, added.Action, known)
			}
			if added.Action != Dropped {
				last[function] = d.Content
			}
		}
	}
	if m.Len() != len(last) || m.Len() != did[Created] || did[Created]+did[Overwritten]+did[Dropped] != total || did[Overwritten] == 0 {
		t.Errorf("%d of %d functions are stored: %v, %d names", m.Len(), total, did, len(last))
	}
	called := make(map[string]int)
	names := make(map[string]string) // of the skill by function
	for e := range m.All() {
		names[e.Record.Function] = e.Name()
		if e.Body() != last[e.Record.Function] {
			t.Errorf("%s is not its last version", e.Name())
		}
	}
	for e := range m.All() {
		for _, c := range e.Record.Calls {
			if _, stored := names[c]; stored && c != e.Record.Function {
				called[c]++
			}
		}
	}
	if len(called) == 0 {
		t.Fatal("no function calls another")
	}
	most := slices.MaxFunc(slices.Sorted(maps.Keys(called)), func(a, b string) int { return called[a] - called[b] })
	before := m.Len()
	removed, err := m.Remove(ctx, names[most], "test")
	if err != nil || len(removed) < 1+called[most] || m.Len() != before-len(removed) {
		t.Errorf("%s is called by %d: %v, removed %q, %d of %d left", most, called[most], err, removed, m.Len(), before)
	}
	for e := range m.All() {
		for _, c := range e.Record.Calls {
			if slices.Contains(removed, names[c]) {
				t.Errorf("%s calls %s, which is removed", e.Name(), c)
			}
		}
	}
	t.Logf("%d functions: %v; %s is called by %d", total, did, most, called[most])
}
