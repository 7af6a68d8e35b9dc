package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/native"
)

// A decontaminationResult says how well items of a benchmark are found.
type decontaminationResult struct {
	Benchmark string                `json:"benchmark"` // "public", or "own" without data
	Items     int                   `json:"items"`
	Invisible float64               `json:"invisible"`     // share of these that runs of words cannot find, over all benchmarks
	Found     float64               `json:"planted_found"` // the worst of what must be found
	FalseHits int                   `json:"false_hits"`
	Searched  int                   `json:"searched"` // records without any item
	Leaks     map[string]leakResult `json:"leaks"`
	Generic   map[string]int        `json:"generic_hits"`         // hits in generated conversations, by what was found
	RealTools map[string]int        `json:"real_tools,omitempty"` // hits by rule, nil without data
}

// A leakResult is about one disguise.
type leakResult struct {
	Planted int     `json:"planted"`
	Found   float64 `json:"found"` // share of the records in which the item is found
	Missed  string  `json:"missed,omitempty"`
}

// A leak is a way in which an item gets into a record; false for an item that it does not suit.
type leak struct {
	kind  string
	plant func(it *decontaminate.Item, words int) (decontaminate.Record, bool)
}

// renamed is the only leak that must not be found.
const renamed = "renamed_tool"

func leaks(w *writer) []leak {
	message := func(text string) decontaminate.Record { return decontaminate.Record{Messages: []string{text}} }
	tool := func(it *decontaminate.Item, name string) (decontaminate.Record, bool) {
		properties := make(map[string]any)
		for _, p := range it.Parameters {
			properties[p] = struct{}{}
		}
		schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
		r := decontaminate.Record{Tools: []midtool.Tool{{Name: name, Description: w.prose(1), Parameters: schema}}}
		return r, err == nil && len(it.Parameters) > 0
	}
	isMessage := func(it *decontaminate.Item) bool { return it.Function == "" }
	letters := func(it *decontaminate.Item) bool { return !strings.Contains(decontaminate.Normalize(it.Text), "0") }
	return []leak{
		{"whole_question", func(it *decontaminate.Item, words int) (decontaminate.Record, bool) {
			return message(it.Text), isMessage(it) && words >= 8
		}},
		{"inside_message", func(it *decontaminate.Item, words int) (decontaminate.Record, bool) {
			return message(w.prose(1) + it.Text + "\n" + w.prose(1)), isMessage(it) && words >= 8 && letters(it)
		}},
		{"inside_document", func(it *decontaminate.Item, words int) (decontaminate.Record, bool) {
			return decontaminate.Record{Texts: []string{w.prose(9) + "> " + it.Text + "\n\n" + w.prose(9)}}, isMessage(it) && words >= 8 && letters(it)
		}},
		{"other_punctuation", func(it *decontaminate.Item, words int) (decontaminate.Record, bool) {
			return message(strings.ToUpper(strings.Join(strings.Fields(decontaminate.Normalize(it.Text)), " -- "))), isMessage(it) && words >= 8
		}},
		{"short_whole", func(it *decontaminate.Item, words int) (decontaminate.Record, bool) {
			return message(it.Text), isMessage(it) && words > 0 && words < 13
		}},
		{"short_inside", func(it *decontaminate.Item, words int) (decontaminate.Record, bool) {
			return message(w.prose(1) + it.Text + "\n" + w.prose(1)), isMessage(it) && words >= 5 && words < 13
		}},
		{"equal_tool", func(it *decontaminate.Item, _ int) (decontaminate.Record, bool) {
			return tool(it, strings.ToUpper(strings.NewReplacer(".", "_", "-", "_", " ", "_").Replace(it.Function)))
		}},
		{renamed, func(it *decontaminate.Item, _ int) (decontaminate.Record, bool) {
			return tool(it, it.Function+"_"+w.coin())
		}},
	}
}

// decontamination plants items of a benchmark, and searches what has none.
func (e *evidence) decontamination(ctx context.Context, data string, s effort) error {
	d := &e.Decontamination
	w := newWriter(2)
	benchmarks := []decontaminate.Benchmark{ownBenchmark(w, 2*s.leaks)}
	d.Benchmark = "own"
	if data != "" {
		var err error
		if benchmarks, err = publicBenchmarks(data); err != nil {
			return err
		}
		d.Benchmark = "public"
	}
	ix, err := decontaminate.NewIndex(benchmarks, nil)
	if err != nil {
		return err
	}
	var items []*decontaminate.Item
	for i := range benchmarks {
		for k := range benchmarks[i].Items {
			items = append(items, &benchmarks[i].Items[k])
		}
	}
	d.Items, d.Found, d.Leaks = len(items), 1, make(map[string]leakResult)
	for _, l := range leaks(w) {
		r, err := planted(ctx, ix, w, l, items, s.leaks)
		if err != nil {
			return err
		}
		d.Leaks[l.kind] = r
		e.claim(r.Planted > 0, "decontamination: there is no item for %s", l.kind)
		if l.kind == renamed {
			d.FalseHits += int(r.Found*float64(r.Planted) + 0.5)
		} else {
			d.Found = min(d.Found, r.Found)
			e.claim(r.Found >= 0.99, "decontamination: %.1f %% of %s are found, want 99 %%: not %q", 100*r.Found, l.kind, r.Missed)
		}
	}
	report, err := e.unrelated(ix, w, data, s)
	if err != nil {
		return err
	}
	d.FalseHits += len(report.Hits)
	unseen := 0.0
	for _, b := range benchmarks {
		unseen += report.Invisible[b.Name] * float64(len(b.Items))
	}
	d.Invisible = unseen / float64(len(items))
	example := ""
	if len(report.Hits) > 0 {
		example = fmt.Sprintf(": %+v", report.Hits[0])
	}
	e.claim(d.FalseHits == 0, "decontamination: %d hits where no item is%s", d.FalseHits, example)
	if err := e.generic(ctx, ix, s); err != nil {
		return err
	}
	if data != "" {
		return e.realTools(ctx, data, ix)
	}
	return nil
}

// planted plants items drawn in random order, none that reads the same twice, each in a record of its own.
func planted(ctx context.Context, ix *decontaminate.Index, w *writer, l leak, items []*decontaminate.Item, most int) (leakResult, error) {
	tally := ix.Tally()
	seen := make(map[string]bool)
	texts := make(map[string]string)
	var ids []string
	for _, i := range w.r.Perm(len(items)) {
		if err := ctx.Err(); err != nil {
			return leakResult{}, err
		}
		it := items[i]
		text := decontaminate.Normalize(it.Text)
		r, ok := l.plant(it, len(strings.Fields(text)))
		if !ok || seen[text] {
			continue
		}
		seen[text] = true
		id := fmt.Sprint(len(ids))
		ids, texts[id] = append(ids, id), it.Text
		if err := tally.Add(id, l.kind, ix.Scan(&r)); err != nil {
			return leakResult{}, err
		}
		if len(ids) == most {
			break
		}
	}
	hit := make(map[string]bool)
	for _, h := range tally.Report().Hits {
		if l.kind != renamed || h.Rule == decontaminate.SameTool {
			hit[h.Record] = true
		}
	}
	out := leakResult{Planted: len(ids), Found: share(len(hit), len(ids))}
	for _, id := range ids {
		if !hit[id] && l.kind != renamed {
			out.Missed = texts[id]
			break
		}
	}
	return out, nil
}

// unrelated searches texts that have nothing to do with the benchmark: those of this program, and where there is data public skills and
// what people want to buy.
func (e *evidence) unrelated(ix *decontaminate.Index, w *writer, data string, s effort) (*decontaminate.Report, error) {
	tally := ix.Tally()
	add := func(id, source string, r decontaminate.Record) error {
		e.Decontamination.Searched++
		return tally.Add(id, source, ix.Scan(&r))
	}
	for i := range s.texts / 4 {
		kind := kinds[i%len(kinds)]
		d := w.document(kind, fmt.Sprint(i))
		if err := add(d.ID, string(kind), decontaminate.Record{Texts: []string{d.Text}}); err != nil {
			return nil, err
		}
	}
	if data == "" {
		return tally.Report(), nil
	}
	err := filepath.WalkDir(filepath.Join(data, "skills"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return add(path, "skills", decontaminate.Record{Texts: []string{string(text)}})
	})
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(data, "webshop", "human_goals.json"))
	if err != nil {
		return nil, err
	}
	var wishes []string
	if err := json.Unmarshal(raw, &wishes); err != nil {
		return nil, fmt.Errorf("human_goals.json: %w", err)
	}
	for i, wish := range wishes {
		if err := add(fmt.Sprint(i), "wishes", decontaminate.Record{Messages: []string{wish}}); err != nil {
			return nil, err
		}
	}
	return tally.Report(), nil
}

// generic searches conversations that are made of the tools of this program. Their wording is common, and so may be a run of it.
func (e *evidence) generic(ctx context.Context, ix *decontaminate.Index, s effort) error {
	tools, err := ownTools()
	if err != nil {
		return err
	}
	corpus, err := native.Generate(ctx, tools, &native.Options{Seed: seed, Samples: s.samples})
	if err != nil {
		return err
	}
	tally := ix.Tally()
	for i := range corpus.Samples {
		sample := &corpus.Samples[i]
		r := decontaminate.Record{Tools: sample.Tools}
		for _, m := range sample.Messages {
			switch m.Role {
			case midtool.RoleUser:
				r.Messages = append(r.Messages, m.Content)
			case midtool.RoleAssistant:
				r.Texts = append(r.Texts, m.Content)
			}
		}
		if err := tally.Add(sample.ID, "native", ix.Scan(&r)); err != nil {
			return err
		}
	}
	e.Decontamination.Generic = make(map[string]int)
	for _, h := range tally.Report().Hits {
		e.Decontamination.Generic[h.Text]++
	}
	return nil
}

var kinds = []document.Kind{document.Web, document.Code, document.PDF, document.Markdown}

// ownBenchmark makes questions and functions of words that nothing else here has.
func ownBenchmark(w *writer, n int) decontaminate.Benchmark {
	b := decontaminate.Benchmark{Name: "own"}
	for i := range n {
		words := make([]string, 3+w.r.IntN(25))
		for k := range words {
			words[k] = w.coin() + "q"
		}
		it := decontaminate.Item{ID: fmt.Sprint(i), Text: strings.Join(words, " ")}
		if i%3 == 0 {
			it.Function, it.Parameters = words[0]+"."+words[1], words[2:min(len(words), 5)]
		}
		b.Items = append(b.Items, it)
	}
	return b
}

// publicBenchmarks reads the tasks of the Berkeley leaderboard.
func publicBenchmarks(data string) ([]decontaminate.Benchmark, error) {
	files, err := filepath.Glob(filepath.Join(data, "bfcl", "BFCL_v4_*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no BFCL_v4_*.json", filepath.Join(data, "bfcl"))
	}
	var out []decontaminate.Benchmark
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		b, err := decontaminate.Read(filepath.Base(name), f)
		f.Close()
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// realTools counts what the benchmark has in common with tools of public servers.
func (e *evidence) realTools(ctx context.Context, data string, ix *decontaminate.Index) error {
	tools, err := midtool.ReadTools(ctx, midtool.ToolsJSONL{Locator: filepath.Join(data, "mcp", "tools.jsonl")})
	if err != nil {
		return err
	}
	tally := ix.Tally()
	for i := range tools {
		r := decontaminate.Record{Tools: tools[i : i+1], Texts: []string{tools[i].Description}}
		if err := tally.Add(fmt.Sprint(i), "tools", ix.Scan(&r)); err != nil {
			return err
		}
	}
	e.Decontamination.RealTools = make(map[string]int)
	for _, rule := range decontaminate.Rules() {
		e.Decontamination.RealTools[string(rule)] = 0
	}
	for _, h := range tally.Report().Hits {
		e.Decontamination.RealTools[string(h.Rule)]++
	}
	return nil
}

func (d decontaminationResult) write(line func(string, ...any)) {
	line("\ndecontamination: %d items of a benchmark (%s), %.1f %% invisible to runs of words; %d hits where no item is", d.Items, d.Benchmark,
		100*d.Invisible, d.FalseHits)
	line("\nleak\tplanted\tfound")
	for _, kind := range slices.Sorted(maps.Keys(d.Leaks)) {
		line("%s\t%d\t%.1f %%", kind, d.Leaks[kind].Planted, 100*d.Leaks[kind].Found)
	}
	for _, text := range slices.Sorted(maps.Keys(d.Generic)) {
		line("generated conversations: %d hits of %q", d.Generic[text], text)
	}
	if d.RealTools != nil {
		line("real tools: hits %s", counts(d.RealTools))
	}
}
