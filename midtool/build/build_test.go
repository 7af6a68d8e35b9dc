package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/mix"
	"github.com/throughline-go/throughline/midtool/native"
	"github.com/throughline-go/throughline/midtool/quality"
)

// A list is a source of given documents that can be split and digested. A document of the kind "reject" is rejected.
type list struct {
	docs []document.Document
	err  error // after them
}

func (l list) Documents(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[document.Document, error] {
	return func(yield func(document.Document, error) bool) {
		for _, d := range l.docs {
			if d.Kind == "reject" {
				reject(midtool.Rejection{Origin: midtool.Origin{Locator: d.ID}, Reason: "bad_json"})
				continue
			}
			if !yield(d, nil) {
				return
			}
		}
		if l.err != nil {
			yield(document.Document{}, l.err)
		}
	}
}

func (l list) Split(_ context.Context, size int) ([]document.Source, error) {
	var out []document.Source
	for part := range slices.Chunk(l.docs, size) {
		out = append(out, list{docs: part})
	}
	return out, nil
}

func (l list) Digest(context.Context) (string, error) { return hashOf(fmt.Sprint(l.docs)), nil }

// words makes a text that is like no other with another number.
func words(from, n int) string {
	var b strings.Builder
	for i := range n {
		// No digits, for these are compared as zeros.
		b.WriteString(strings.Map(func(r rune) rune { return 'a' + r - '0' }, fmt.Sprint(1000*(from+1)+(i*i+7*from)%1009)) + " ")
		if i%9 == 8 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// world is a build of documents of three inputs and the tools of three groups.
func world(t testing.TB) *Options {
	return worldIn(filepath.Join(t.TempDir(), "corpus"))
}

func worldIn(dir string) *Options {
	var web, code, manual []document.Document
	for i := range 50 {
		web = append(web, document.Document{ID: fmt.Sprint("page-", i), Kind: document.Web, Text: words(i, 80+i), License: "MIT", URL: fmt.Sprint("https://example.org/", i)})
		code = append(code, document.Document{ID: fmt.Sprint("src/", i, ".go"), Kind: document.Code, Text: words(1000+i, 50), License: "MIT", Syntax: "go"})
		manual = append(manual, document.Document{ID: fmt.Sprint("m", i), Kind: document.PDF, Text: words(2000+i, 50), License: "MIT"})
	}
	web[3].License = "GPL-3.0-only"
	web[4].License = ""
	web[5].Text = web[6].Text             // exact
	web[7].Text = web[8].Text + "another" // near
	web[9].Kind = "reject"
	web[10].Kind = "song"
	web[11].Text = ""
	web[12].Text = "\xff" + web[12].Text
	web[13].Text += "Please find the shortest way from the old town hall to the harbor by tram."
	web[14].ID = web[15].ID
	code[0].Text = "short"
	return &Options{
		Dir: dir, Seed: 7,
		Documents: []Input{{"web", list{docs: web}}, {"code", list{docs: code}}, {"manuals", list{docs: manual}}},
		Tools: []midtool.Tool{
			{Name: "get_weather", Group: "weather", License: "MIT", Description: "Returns the current weather for a city.",
				Parameters: []byte(`{"type":"object","properties":{"city":{"type":"string","description":"City name."},"days":{"type":"integer","minimum":1,"maximum":9}},"required":["city"]}`)},
			{Name: "send_mail", Group: "mail", License: "MIT", Description: "Sends a mail to a person.",
				Parameters: []byte(`{"type":"object","properties":{"person":{"type":"string"},"subject":{"type":"string"}},"required":["person","subject"]}`)},
			{Name: "book_table", Group: "food", License: "MIT", Description: "Books a table at a restaurant.",
				Parameters: []byte(`{"type":"object","properties":{"guests":{"type":"integer"}},"required":["guests"]}`)},
			{Name: "no_license", Description: "Nobody knows."},
		},
		Native: native.Options{Samples: 75},
		Rules:  map[document.Kind][]quality.Rule{document.Code: {{Measure: quality.Words, Min: 10, Max: 1e9}}},
		Benchmarks: []decontaminate.Benchmark{{Name: "bench", Items: []decontaminate.Item{
			{ID: "q1", Text: "please find the shortest way from the old town hall to the harbor by tram"},
			{ID: "f1", Text: "book_table Books a table at a restaurant.", Function: "book_table", Description: "Books a table at a restaurant.", Parameters: []string{"guests"}},
		}}},
		Outputs: []Output{{"plain", ".jsonl", sink("plain")}, {"chat", ".jsonl", sink("openai")}},
		Shards:  3, ShardRecords: 25, Workers: 2, lazy: true,
	}
}

func sink(name string) func(w io.Writer) (Sink, error) {
	return func(w io.Writer) (Sink, error) { return format.NewWriter(w, name, nil) }
}

// build runs all ranks until the corpus is complete.
func build(t testing.TB, o *Options) *Report {
	t.Helper()
	all := *o
	for range 3 {
		for rank := range max(o.World, 1) {
			all.Rank = rank
			r, err := Run(context.Background(), &all)
			if err == nil {
				return r
			}
			if !errors.Is(err, ErrIncomplete) || r != nil {
				t.Fatalf("rank %d: %v, %v", rank, r, err)
			}
		}
	}
	t.Fatal("never complete")
	return nil
}

// files reads a folder. Locks and the folders of temporary files are passed over.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		if strings.HasPrefix(name, workDir+"/locks/") {
			return nil
		}
		data, err := os.ReadFile(path)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func differing(a, b map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if got, ok := b[name]; !ok || got != a[name] {
			out = append(out, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	return out
}

// outputs are the files of the corpus itself.
func outputs(all map[string]string) map[string]string {
	out := make(map[string]string)
	for name, data := range all {
		if strings.HasPrefix(name, "plain/") || strings.HasPrefix(name, "chat/") {
			out[name] = data
		}
	}
	return out
}

// What becomes of every record is counted.
func TestFlows(t *testing.T) {
	o := world(t)
	r := build(t, o)
	want := map[string]map[string]int{
		"ingest":        {"bad_json": 1, "unknown_kind": 1, "no_text": 1, "invalid_utf8": 1},
		"filter":        {"license": 2},
		"dedup":         {"duplicate_id": 1, "exact_duplicate": 1, "near_duplicate": 1},
		"decontaminate": {"n_gram": 1},
	}
	web := r.Inputs["web"]
	delete(web.Drops, "mix")
	if diff := cmp.Diff(want, web.Drops); diff != "" || web.Read != 50 {
		t.Errorf("%d read, drops (-want +got):\n%s", web.Read, diff)
	}
	if got := r.Inputs["code"].Drops["filter"]["words"]; got != 1 {
		t.Errorf("code: %v", r.Inputs["code"].Drops)
	}
	if x := web.Examples["filter/license"]; len(x) != 2 || x[0] != (Example{"web/page-3", "GPL-3.0-only"}) || x[1].ID != "web/page-4" {
		t.Errorf("examples of license: %v", x)
	}
	if x := web.Examples["decontaminate/n_gram"]; len(x) != 1 || x[0].ID != "web/page-13" || !strings.HasPrefix(x[0].Detail, "q1 of bench: ") {
		t.Errorf("examples of n_gram: %v", x)
	}
	if diff := cmp.Diff(map[string]int{"license": 1, "same_tool": 1}, r.Tools.Drops); diff != "" || r.Tools.Read != 4 || r.Tools.Used != 2 {
		t.Errorf("tools %+v", r.Tools)
	}
	if n := r.Inputs[nativeName]; n.Read != 75 || n.Out == 0 {
		t.Errorf("native %+v", n)
	}
	records := 0
	for _, f := range r.Inputs {
		records += f.Out
	}
	if records != r.Records || r.Units != r.Records || r.Samples.Samples != r.Inputs[nativeName].Out || r.Outputs["plain"].Records != records ||
		r.Outputs["plain"].Tokens != r.Tokens || r.Outputs["chat"].Records != r.Samples.Samples {
		t.Errorf("%d records out, report %d, %+v", records, r.Records, r.Outputs)
	}
	for name, s := range r.Mix.Sources {
		if d := s.Got - s.Want; d > 0.05 || d < -0.05 {
			t.Errorf("source %s: %.3f of the tokens, want %.3f", name, s.Got, s.Want)
		}
	}
	// What is written is what can be read.
	ids := make(map[string]bool)
	for name, data := range files(t, o.Dir) {
		if !strings.HasPrefix(name, "plain/") {
			continue
		}
		for rec, err := range format.Read(strings.NewReader(data), "plain", name) {
			if err != nil {
				t.Fatal(err)
			}
			if ids[rec.ID] {
				t.Errorf("%s twice", rec.ID)
			}
			ids[rec.ID] = true
			if want := fmt.Sprintf("plain/%05d-of-00003.jsonl", mix.Shard(o.Seed, rec.ID, 3)); name != want {
				t.Errorf("%s is in %s, want %s", rec.ID, name, want)
			}
		}
	}
	if len(ids) != records {
		t.Errorf("%d records were read back, want %d", len(ids), records)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, workDir, "tmp-00000")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("temporary files: %v", err)
	}
}

// Neither workers nor ranks change a byte of anything, manifests and report included; the size of the parts changes none of the corpus.
func TestSameBytes(t *testing.T) {
	o := world(t)
	build(t, o)
	want := files(t, o.Dir)
	for _, tt := range []struct{ workers, world, records int }{{1, 1, 25}, {8, 1, 25}, {2, 3, 25}, {3, 40, 25}, {2, 1, 7}, {2, 2, 10_000}} {
		c := *o
		c.Dir, c.Workers, c.World, c.ShardRecords = t.TempDir(), tt.workers, tt.world, tt.records
		build(t, &c)
		got := files(t, c.Dir)
		a, b := want, got
		if tt.records != 25 {
			a, b = outputs(want), outputs(got)
		}
		if diff := differing(a, b); len(diff) > 0 || len(a) == 0 {
			t.Errorf("%+v: %v differ", tt, diff)
		}
	}
	o.Seed, o.Dir = 8, t.TempDir()
	build(t, o)
	if len(differing(outputs(want), outputs(files(t, o.Dir)))) == 0 {
		t.Error("another seed changed nothing")
	}
	// A second run has nothing to do, and says the same.
	first := build(t, o)
	o.fault = func(op, name string) error { return fmt.Errorf("%s %s", op, name) }
	if diff := cmp.Diff(first.Mix, build(t, o).Mix); diff != "" {
		t.Error(diff)
	}
}

// A failure at any point leaves under final names only what a whole run writes, and the next run completes it.
func TestFailures(t *testing.T) {
	o := world(t)
	var ops atomic.Int64
	o.fault = func(string, string) error { ops.Add(1); return nil }
	build(t, o)
	want := files(t, o.Dir)
	count := int(ops.Load())
	boom := errors.New("disk full")
	step := 3
	if testing.Short() {
		step = 13
	}
	for k := 0; k < count; k += step {
		c := *o
		c.Dir = t.TempDir()
		c.Workers = 1 + k%3
		ctx, cancel := context.WithCancel(context.Background())
		canceling := k%2 == 1
		var n atomic.Int64
		c.fault = func(string, string) error {
			switch {
			case n.Add(1) <= int64(k):
			case canceling:
				cancel()
			default:
				return boom
			}
			return nil
		}
		r, err := Run(ctx, &c)
		cancel()
		if err == nil && !canceling || err != nil && (r != nil || !errors.Is(err, boom) && !errors.Is(err, context.Canceled)) {
			t.Fatalf("stopped at %d of %d: %v", k, count, err)
		}
		for name, data := range files(t, c.Dir) {
			if want[name] != data {
				t.Fatalf("stopped at %d of %d: %s is not that of a whole run", k, count, name)
			}
		}
		c.fault = nil
		build(t, &c)
		if diff := differing(want, files(t, c.Dir)); len(diff) > 0 {
			t.Fatalf("stopped at %d of %d and resumed: %v differ", k, count, diff)
		}
	}
}
