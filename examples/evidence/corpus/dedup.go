package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/dedup"
)

// A dedupResult says how well copies are found, and nothing else.
type dedupResult struct {
	Texts        int                         `json:"texts"`         // that are like no other
	Planted      int                         `json:"planted"`       // copies with a similarity of 0.9 or more
	Found        float64                     `json:"planted_found"` // share of these
	FalseRemoved float64                     `json:"false_removed"` // share of the texts
	BelowBound   int                         `json:"below_bound"`   // copies that were removed with a similarity below 0.8
	Largest      int                         `json:"largest_cluster"`
	Similarity   map[string]similarityResult `json:"by_similarity"`        // of copies, by their similarity
	Regression   map[string]regressionResult `json:"regression,omitempty"` // by how tools are cut, and what is counted; nil without data
	Content      *contentResult              `json:"content,omitempty"`    // nil without data
}

// A similarityResult is about copies of one similarity.
type similarityResult struct {
	Copies    int     `json:"copies"`
	Candidate float64 `json:"candidate"` // share that has a band in common with the original
	Formula   float64 `json:"formula"`   // the probability of that
	Removed   float64 `json:"removed"`
}

// A regressionResult is a figure beside that which was counted before: percent, or members of the largest group.
type regressionResult struct {
	Got    float64 `json:"got"`
	Want   float64 `json:"want"`
	Within bool    `json:"within_1"` // whether they differ by 1 at most
}

// A contentResult is what is made of the tools by content.
type contentResult struct {
	Tools   int     `json:"tools"`
	Exact   float64 `json:"exact"` // share
	Near    float64 `json:"near"`
	Largest int     `json:"largest_cluster"`
}

const length = 104 // words of a text: 100 shingles

// changes are ways to change a text of distinct words: so many words at its end, or so many words within, far apart. They leave similarities from
// 0.98 to 0.48: a word at the end is in one shingle, one within in five.
var changes = []struct{ end, within int }{{1, 0}, {2, 0}, {3, 0}, {5, 0}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}}

// dedup plants copies.
func (e *evidence) dedup(ctx context.Context, data string, s effort) error {
	w := newWriter(1)
	sketcher, err := dedup.NewSketcher(&dedup.Options{Seed: seed})
	if err != nil {
		return err
	}
	type pair struct {
		original, copied int // records
		similarity       float64
		candidate        bool
	}
	var records []dedup.Record
	add := func(id, text string) int {
		records = append(records, dedup.Record{ID: fmt.Sprintf("%s/%06d", id, len(records)), Source: "texts", Content: text})
		return len(records) - 1
	}
	for range s.texts {
		add("text", strings.Join(w.list(40+w.r.IntN(60)), " "))
	}
	var pairs []pair
	for _, c := range changes {
		for range s.copies {
			words := w.list(length)
			original := strings.Join(words, " ")
			for i := range c.end {
				words[length-1-i] = w.coin() + "x"
			}
			for i := range c.within {
				words[7+14*i] = w.coin() + "x"
			}
			p := pair{original: add("original", original), copied: add("copy", strings.Join(words, " "))}
			p.similarity = dedup.Similarity(records[p.original].Content, records[p.copied].Content, 0, false)
			a, b := sketcher.Sketch(&records[p.original]), sketcher.Sketch(&records[p.copied])
			for i := range a.Bands {
				p.candidate = p.candidate || a.Bands[i] == b.Bands[i]
			}
			pairs = append(pairs, p)
		}
	}
	result, err := dedup.Run(ctx, func(yield func(dedup.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}, &dedup.Options{Seed: seed, Workers: 2})
	if err != nil {
		return err
	}
	witness := make(map[int]dedup.Removal)
	falsely := 0
	for _, r := range result.Removed {
		witness[r.Index] = r
		if r.Index < s.texts {
			falsely++
		}
		if !r.Exact && r.Jaccard < 0.8 {
			e.Dedup.BelowBound++
		}
	}
	d := &e.Dedup
	d.Texts, d.FalseRemoved, d.Largest = s.texts, share(falsely, s.texts), result.Largest
	d.Similarity = make(map[string]similarityResult)
	found := 0
	for group := range slices.Chunk(pairs, s.copies) {
		candidates, removed, expected := 0, 0, 0.0
		for _, p := range group {
			expected += dedup.CandidateProbability(p.similarity, 14, 8)
			if p.candidate {
				candidates++
			}
			a, ok := witness[p.copied]
			b, other := witness[p.original]
			if ok && a.Witness == p.original || other && b.Witness == p.copied {
				removed++
			}
			if ok && p.similarity < 0.8 {
				d.BelowBound++
			}
		}
		n := float64(len(group))
		p := expected / n
		name := fmt.Sprintf("%.3f", group[0].similarity)
		got := similarityResult{len(group), share(candidates, len(group)), p, share(removed, len(group))}
		d.Similarity[name] = got
		e.claim(math.Abs(got.Candidate-p) <= 3*math.Sqrt(p*(1-p)/n)+1/n,
			"dedup: at similarity %s %.4f of the copies are candidates, the formula says %.4f", name, got.Candidate, p)
		if group[0].similarity >= 0.9 {
			d.Planted += len(group)
			found += removed
		}
	}
	d.Found = share(found, d.Planted)
	e.claim(d.Found >= 0.98, "dedup: %.3f of the planted copies are found, want 0.98", d.Found)
	e.claim(d.FalseRemoved <= 0.005, "dedup: %.4f of the texts that are like no other are removed, want at most 0.005", d.FalseRemoved)
	e.claim(d.BelowBound == 0, "dedup: %d copies are removed whose similarity is below 0.8", d.BelowBound)
	e.claim(d.Largest == 2, "dedup: the largest cluster has %d members, want a text and its copy", d.Largest)
	if data == "" {
		return nil
	}
	return e.regression(ctx, data)
}

// regression counts what another program counted before on the definitions of real tools, with other hash functions. How it cut them is
// not known in all details, so words are counted in two ways: the whole JSON with its keys, as it was described, and the values alone.
func (e *evidence) regression(ctx context.Context, data string) error {
	texts, err := definitions(data)
	if err != nil {
		return err
	}
	e.Dedup.Regression = make(map[string]regressionResult)
	for _, way := range []struct {
		name           string
		texts          []string
		zero           bool
		removed, alike float64 // percent; alike 0 was not counted
		largest        float64
	}{
		{"json_words", texts.json, true, 20.3, 16.7, 24},
		{"value_words", texts.values, true, 20.3, 16.7, 24},
		{"json_characters", texts.spelled, false, 53.1, 0, 885},
	} {
		j, err := joinedBySeeds(ctx, way.texts, way.zero)
		if err != nil {
			return err
		}
		note := func(what string, got, want float64) {
			if want > 0 {
				e.Dedup.Regression[way.name+"_"+what] = regressionResult{got, want, math.Abs(got-want) <= 1}
			}
		}
		note("removed", 100*j.removed, way.removed)
		note("alike", 100*j.alike, way.alike)
		note("largest", float64(j.largest), way.largest)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Dedup.Regression)) {
		switch r := e.Dedup.Regression[name]; {
		case r.Within:
		case name == "json_words_removed" && math.Abs(r.Got-r.Want) <= 4:
			e.differs("dedup: %s of the real tools is %.2f, counted before %.2f: off by more than 1", name, r.Got, r.Want)
		case strings.HasSuffix(name, "_largest"): // hangs on single pairs
			e.differs("dedup: %s of the real tools is %.0f, counted before %.0f", name, r.Got, r.Want)
		default:
			e.claim(false, "dedup: %s of the real tools is %.2f, counted before %.2f, want it within 1", name, r.Got, r.Want)
		}
	}
	tools, err := midtool.ReadTools(ctx, midtool.ToolsJSONL{Locator: filepath.Join(data, "mcp", "tools.jsonl")})
	if err != nil {
		return err
	}
	none := 1.0 // no bound: most tools of some servers are copies of one another
	result, err := dedup.Run(ctx, func(yield func(dedup.Record, error) bool) {
		for i := range tools {
			if !yield(dedup.Record{ID: fmt.Sprintf("%06d", i), Content: dedup.ToolContent(&tools[i])}, nil) {
				return
			}
		}
	}, &dedup.Options{Seed: seed, MaxLoss: &none})
	if err != nil {
		return err
	}
	e.Dedup.Content = &contentResult{len(tools), share(result.Exact, len(tools)), share(result.Near, len(tools)), result.Largest}
	return nil
}

// toolTexts are the definitions of real tools, cut in three ways.
type toolTexts struct {
	json    []string // as it is written
	values  []string // without the keys
	spelled []string // the JSON with numbers as 0 and a word for every character, so that shingles of words are shingles of characters
}

// definitions reads the definitions of real tools.
func definitions(data string) (*toolTexts, error) {
	f, err := os.Open(filepath.Join(data, "mcp", "tools.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	texts := new(toolTexts)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("tools.jsonl: %w", err)
		}
		for _, tool := range row.Tools {
			values, err := scalars(tool)
			if err != nil {
				return nil, fmt.Errorf("tools.jsonl: %w", err)
			}
			var b strings.Builder
			for _, r := range number.ReplaceAllString(strings.ToLower(string(tool)), "0") {
				fmt.Fprintf(&b, "x%x ", r)
			}
			texts.json = append(texts.json, string(tool))
			texts.values = append(texts.values, values)
			texts.spelled = append(texts.spelled, b.String())
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(texts.json) == 0 {
		return nil, errors.New("tools.jsonl has no tools")
	}
	return texts, nil
}

var number = regexp.MustCompile(`\d+([.,]\d+)?`)

// scalars joins all values in JSON but lists and objects, in order.
func scalars(raw []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var b strings.Builder
	var walk func(inObject bool) error
	walk = func(inObject bool) error { // up to the end of a list or an object
		for d.More() {
			if inObject {
				if _, err := d.Token(); err != nil { // the key
					return err
				}
			}
			t, err := d.Token()
			if err != nil {
				return err
			}
			if open, ok := t.(json.Delim); ok {
				if err := walk(open == '{'); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintln(&b, t)
		}
		_, err := d.Token()
		return err
	}
	if _, err := d.Token(); err != nil {
		return "", err
	}
	err := walk(true)
	return b.String(), err
}

// A joining is what is removed if all that share a band are one group, and likeness is passed on: the way of others.
type joining struct {
	removed float64 // share: all but one of each group
	largest int     // group
	alike   float64 // as removed, if only those are joined that have a similarity of 0.8
}

// joinedBySeeds is the mean of several seeds, and the median of the largest groups: a single seed may be some points off.
func joinedBySeeds(ctx context.Context, texts []string, zero bool) (joining, error) {
	const seeds = 5
	var mean joining
	var largest []int
	for seed := range uint64(seeds) {
		j, err := joined(ctx, texts, zero, seed)
		if err != nil {
			return joining{}, err
		}
		mean.removed += j.removed / seeds
		mean.alike += j.alike / seeds
		largest = append(largest, j.largest)
	}
	slices.Sort(largest)
	mean.largest = largest[seeds/2]
	return mean, nil
}

func joined(ctx context.Context, texts []string, zero bool, seed uint64) (joining, error) {
	sketcher, err := dedup.NewSketcher(&dedup.Options{Seed: seed})
	if err != nil {
		return joining{}, err
	}
	type band struct {
		number int
		hash   uint64
	}
	shared := make(map[band][]int)
	for i, text := range texts {
		for n, h := range sketcher.Sketch(&dedup.Record{Content: text, Zero: zero}).Bands {
			shared[band{n, h}] = append(shared[band{n, h}], i)
		}
	}
	all, alike := newGroups(len(texts)), newGroups(len(texts))
	compared := make(map[[2]int]bool)
	for _, members := range shared { // in any order: groups do not depend on it
		if err := ctx.Err(); err != nil {
			return joining{}, err
		}
		for n, i := range members {
			all.join(i, members[0])
			for _, j := range members[:n] {
				if pair := [2]int{j, i}; !compared[pair] && alike.root(i) != alike.root(j) {
					compared[pair] = true
					if dedup.Similarity(texts[i], texts[j], 0, zero) >= 0.8 {
						alike.join(i, j)
					}
				}
			}
		}
	}
	out := joining{}
	out.removed, out.largest = all.size()
	out.alike, _ = alike.size()
	return out, nil
}

// groups has the parent of each member.
type groups []int

func newGroups(n int) groups {
	g := make(groups, n)
	for i := range g {
		g[i] = i
	}
	return g
}

func (g groups) root(i int) int {
	for g[i] != i {
		g[i] = g[g[i]]
		i = g[i]
	}
	return i
}

func (g groups) join(i, j int) {
	a, b := g.root(i), g.root(j)
	g[max(a, b)] = min(a, b)
}

// size returns the share of members that are not the first of their group, and the size of the largest.
func (g groups) size() (float64, int) {
	sizes := make(map[int]int)
	for i := range g {
		sizes[g.root(i)]++
	}
	return share(len(g)-len(sizes), len(g)), slices.Max(slices.Collect(maps.Values(sizes)))
}

func (d dedupResult) write(line func(string, ...any)) {
	line("dedup: %.2f %% of %d copies found, %.3f %% of %d texts removed, largest cluster %d", 100*d.Found, d.Planted, 100*d.FalseRemoved, d.Texts,
		d.Largest)
	line("\nsimilarity\tcopies\tcandidates\tformula\tremoved")
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(d.Similarity))) {
		r := d.Similarity[name]
		line("%s\t%d\t%.1f %%\t%.1f %%\t%.1f %%", name, r.Copies, 100*r.Candidate, 100*r.Formula, 100*r.Removed)
	}
	if d.Content == nil {
		return
	}
	line("\nreal tools, likeness passed on\tgot\tcounted before\twithin 1")
	for _, name := range slices.Sorted(maps.Keys(d.Regression)) {
		r := d.Regression[name]
		line("%s\t%.2f\t%.2f\t%v", name, r.Got, r.Want, r.Within)
	}
	line("by content: %d tools, exact %.1f %%, near %.1f %%, largest cluster %d", d.Content.Tools, 100*d.Content.Exact, 100*d.Content.Near,
		d.Content.Largest)
}
