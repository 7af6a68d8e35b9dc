package dedup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func each[T any](items []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, x := range items {
			if !yield(x, nil) {
				return
			}
		}
	}
}

// slowFind compares all pairs, by the rules as they are told.
func slowFind(records []Record, o *Options) (removed []Removal, overflow int) {
	s := newSketcher(o)
	sketches := make([]Sketch, len(records))
	sets := make([]map[string]bool, len(records))
	original := make([]int, len(records))
	for i := range records {
		sketches[i] = s.Sketch(&records[i])
		sets[i] = slowShingles(records[i].Content, o.ShingleWords, records[i].Zero)
	}
	for i := range records {
		original[i] = i
		for j := range records {
			if sketches[i].Exact != [32]byte{} && sketches[i].Exact == sketches[j].Exact && records[j].ID < records[original[i]].ID {
				original[i] = j
			}
		}
	}
	var order []int
	for i := range records {
		if original[i] == i {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(len(records[b].Content)-len(records[a].Content), cmp.Compare(records[a].ID, records[b].ID))
	})
	witnesses := make(map[int]Removal)
	members := make(map[int]int)
	var kept []int
next:
	for _, i := range order {
		compared := 0
		for _, j := range kept {
			shares := false
			for b := range sketches[i].Bands {
				shares = shares || len(sketches[j].Bands) > 0 && sketches[i].Bands[b] == sketches[j].Bands[b]
			}
			if !shares {
				continue
			}
			if compared++; compared > o.MaxCandidates {
				overflow++
				break
			}
			if s := slowJaccard(sets[i], sets[j]); s >= *o.Jaccard {
				if members[j]++; members[j] >= o.ClusterCap {
					witnesses[i] = Removal{Index: i, Witness: j, Jaccard: s}
				}
				continue next
			}
		}
		kept = append(kept, i)
	}
	for i := range records {
		x, near := witnesses[original[i]]
		switch {
		case original[i] != i && near:
			removed = append(removed, Removal{i, x.Witness, true, x.Jaccard})
		case original[i] != i:
			removed = append(removed, Removal{i, original[i], true, 1})
		case near:
			removed = append(removed, x)
		}
	}
	return removed, overflow
}

// likeTexts draws records that have much in common, some of them the same.
func likeTexts(t *rapid.T) []Record {
	words := rapid.SampledFrom([]string{"a", "b", "c", "d", "1", "2", ";", "ä"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(words, 0, 12).Draw(t, "words"), " ") })
	n := rapid.IntRange(0, 25).Draw(t, "records")
	records := make([]Record, n)
	for i := range records {
		r := &records[i]
		r.ID = fmt.Sprint((i*7 + 3) % 26) // distinct, and in another order as texts
		r.Source = rapid.SampledFrom([]string{"x", "y"}).Draw(t, "source")
		r.Zero = rapid.Bool().Draw(t, "zero")
		if i > 0 && rapid.Bool().Draw(t, "copy") {
			r.Content = records[rapid.IntRange(0, i-1).Draw(t, "of")].Content + rapid.SampledFrom([]string{"", " \n", " a", " 3"}).Draw(t, "end")
		} else {
			r.Content = text.Draw(t, "content")
		}
		if rapid.IntRange(0, 9).Draw(t, "given") == 0 {
			r.Exact[5] = rapid.ByteRange(1, 2).Draw(t, "exact")
		}
	}
	return records
}

// What is removed, and for whom, is what comparing all pairs removes: by Find and by Run, in any order of the records, with any
// number of workers, in memory and through temporary files.
func TestAgainstAllPairs(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		records := likeTexts(t)
		o, err := (&Options{
			Seed: rapid.Uint64().Draw(t, "seed"), ShingleWords: rapid.IntRange(1, 3).Draw(t, "shingle words"),
			Bands: rapid.IntRange(1, 5).Draw(t, "bands"), Rows: rapid.IntRange(1, 2).Draw(t, "rows"),
			Jaccard:       new(rapid.SampledFrom([]float64{0.3, 0.5, 0.6, 0.8, 1}).Draw(t, "jaccard")),
			MaxCandidates: rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "candidates"), ClusterCap: rapid.IntRange(0, 3).Draw(t, "cap"),
			MaxLoss: new(1.0), Workers: rapid.IntRange(1, 3).Draw(t, "workers"), TempDir: dir,
		}).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if rapid.IntRange(0, 3).Draw(t, "spill") == 0 { // files take their time
			o.Memory = rapid.Int64Range(1, 1000).Draw(t, "memory")
		}
		want, overflow := slowFind(records, &o)

		result, err := run(t.Context(), each(records), &o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, result.Removed, cmpopts.EquateEmpty()); diff != "" || result.Overflow != overflow {
			t.Fatalf("overflow %d, want %d; removed (-want +got):\n%s", result.Overflow, overflow, diff)
		}
		checkCounts(t, records, result)

		shuffled := rapid.Permutation(numbersTo(len(records))).Draw(t, "order")
		s := newSketcher(&o)
		sketches := make([]Sketch, len(records))
		for i, from := range shuffled {
			sketches[i] = s.Sketch(&records[from])
		}
		found, err := find(t.Context(), each(sketches), func(i int) (string, error) { return records[shuffled[i]].Content, nil }, &o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(found.Removed, byIndex) {
			t.Fatal("removals are not in order")
		}
		for i := range found.Removed {
			x := &found.Removed[i]
			x.Index, x.Witness = shuffled[x.Index], shuffled[x.Witness]
		}
		slices.SortFunc(found.Removed, byIndex)
		if diff := gocmp.Diff(result, found, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("in another order (-want +got):\n%s", diff)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left behind: %v, %v", left, err)
	}
}

func byIndex(a, b Removal) int { return a.Index - b.Index }

func numbersTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// checkCounts compares the numbers of a result with its removals.
func checkCounts(t *rapid.T, records []Record, r *Result) {
	sources := make(map[string]Counts)
	for _, x := range records {
		c := sources[x.Source]
		c.Records++
		sources[x.Source] = c
	}
	exact, near := 0, 0
	kept := make(map[int]bool)
	for i := range records {
		kept[i] = true
	}
	for _, x := range r.Removed {
		delete(kept, x.Index)
	}
	for _, x := range r.Removed {
		c := sources[records[x.Index].Source]
		if x.Exact {
			c.Exact++
			exact++
		} else {
			c.Near++
			near++
		}
		sources[records[x.Index].Source] = c
		if !kept[x.Witness] {
			t.Fatalf("witness of %+v is removed", x)
		}
	}
	if diff := gocmp.Diff(sources, r.Sources, cmpopts.IgnoreFields(Counts{}, "Largest"), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("sources (-want +got):\n%s", diff)
	}
	if r.Records != len(records) || r.Exact != exact || r.Near != near {
		t.Fatalf("%+v, want %d exact and %d near", r, exact, near)
	}
}

// copies are n texts of 40 words, of which every second repeats the one before it with its last word changed, and every tenth
// is the same as the first of all.
func copies(n int) []Record {
	r := rand.New(rand.NewPCG(3, 4))
	words := vocabulary(r, 5_000)
	var records []Record
	var text []string
	for i := range n {
		if i%2 == 0 {
			text = nil
			for range 40 {
				text = append(text, words[r.IntN(len(words))])
			}
		}
		content := strings.Join(text, " ")
		switch {
		case i%2 == 1:
			content = strings.Join(append(slices.Clone(text[:39]), "x"), " ")
		case i > 0 && i%5 == 0:
			content = records[0].Content + "\r\n"
		}
		records = append(records, Record{ID: fmt.Sprintf("r%05d", i), Content: content})
	}
	return records
}

// Through files, with two workers, as in memory with one; nothing is left behind, and without room for files it is an error.
func TestMemory(t *testing.T) {
	records := copies(4_000)
	want, err := Run(t.Context(), each(records), nil)
	if _, ok := errors.AsType[*LossError](err); !ok {
		t.Fatal(err)
	}
	if want.Exact < 350 || want.Near < 1_500 || want.Largest != 2 {
		t.Fatalf("%d exact, %d near, largest %d", want.Exact, want.Near, want.Largest)
	}
	dir := t.TempDir()
	o := &Options{Memory: 1, TempDir: dir, Workers: 2, MaxLoss: new(0.5)}
	got, err := Run(t.Context(), each(records), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-in memory +in files):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(done int) {
		if done > 2_000 {
			cancel()
		}
	}
	if r, err := Run(ctx, each(records), o); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v, %v", r, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left behind: %v, %v", left, err)
	}
	o = &Options{Memory: 1, TempDir: filepath.Join(dir, "none")}
	if r, err := Run(t.Context(), each(records), o); r != nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v, %v", r, err)
	}
}

// sequence is the text of the words from one number up to another.
func sequence(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

// Likeness is not passed on: of three texts in a chain the ends stay, for they are not alike.
func TestChain(t *testing.T) {
	records := []Record{
		{ID: "c", Content: sequence(108, 208)}, {ID: "b", Content: sequence(104, 204) + " "}, {ID: "a", Content: sequence(100, 200) + "  "},
	}
	alike := func(i, j int) bool { return Similarity(records[i].Content, records[j].Content, 1, false) >= 0.9 }
	if !alike(2, 1) || !alike(1, 0) || alike(2, 0) {
		t.Fatal("the texts are no chain")
	}
	r, err := Run(t.Context(), each(records), &Options{ShingleWords: 1, Rows: 1, Jaccard: new(0.9)})
	if err != nil {
		t.Fatal(err)
	}
	if want := []Removal{{Index: 1, Witness: 2, Jaccard: 96.0 / 104}}; !slices.Equal(r.Removed, want) {
		t.Errorf("%+v, want %+v", r.Removed, want)
	}
}

// Of what repeats one thing, exactly one record stays, whatever the order.
func TestOneStays(t *testing.T) {
	lines := strings.ReplaceAll(sequence(0, 60), " ", "\n")
	records := []Record{
		{ID: "near", Content: lines + "w61"}, {ID: "b", Content: lines}, {ID: "a", Content: strings.ReplaceAll(lines, "\n", " \r\n")},
		{ID: "empty 1"}, {ID: "empty 2", Content: " \n"}, {ID: "dots 2", Content: "..."}, {ID: "dots 1", Content: "... "},
		{ID: "short 1", Content: "Thank you!"}, {ID: "short 2", Content: "thank you."},
	}
	want := []string{
		"b is an exact copy of a", "dots 2 is an exact copy of dots 1", "near is like a", "short 2 is like short 1",
	}
	for range 5 {
		r, err := Run(t.Context(), each(records), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range r.Removed {
			kind := " is like "
			if x.Exact {
				kind = " is an exact copy of "
			}
			got = append(got, records[x.Index].ID+kind+records[x.Witness].ID)
		}
		slices.Sort(got)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		records = append(records[4:], records[:4]...)
	}
}

// A record whose exact original repeats another in turn is told the one that stays.
func TestCopyOfCopy(t *testing.T) {
	text := sequence(0, 60)
	records := []Record{{ID: "a", Content: text}, {ID: "b", Content: text + "w61"}, {ID: "c", Content: text}}
	r, err := Run(t.Context(), each(records), nil)
	if err != nil {
		t.Fatal(err)
	}
	j := 56.0 / 57
	want := &Result{
		Records: 3, Removed: []Removal{{0, 1, false, j}, {2, 1, true, j}}, Exact: 1, Near: 1, Largest: 2,
		Sources: map[string]Counts{"": {Records: 3, Exact: 1, Near: 1, Largest: 2}},
	}
	if diff := gocmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Templated texts, that share most of their form and differ in what they say, stay.
func TestTemplates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	words := vocabulary(r, 2_000)
	word := func() string { return words[r.IntN(len(words))] }
	var records []Record
	for i := range 400 {
		noun, place, unit := word(), word(), word()
		content := fmt.Sprintf("get_%s\nReturns the current %s of a %s in %s.\n%s\nName of the %s to look up, required.\n%s\n"+
			"Unit of the %s, optional, default is %s.", noun, noun, place, unit, place, place, unit, noun, word())
		records = append(records, Record{ID: fmt.Sprint("tool ", i), Source: "tools", Content: content})
	}
	got, err := Run(t.Context(), each(records), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Removed) > 0 || got.Largest != 1 || len(got.Warnings) > 0 {
		t.Errorf("%d removed, largest %d, %v", len(got.Removed), got.Largest, got.Warnings)
	}
}

// A source that is one large cluster is told in words and as an error, with the whole result; a caller can allow it.
func TestGuards(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := vocabulary(r, 1_000)
	text := sequence(0, 100)
	var records []Record
	for i := range 60 {
		records = append(records, Record{ID: fmt.Sprintf("f%02d", i), Source: "forms", Content: fmt.Sprintf("%s x%d", text, i)})
		records = append(records, Record{ID: fmt.Sprintf("t%02d", i), Source: "texts", Content: strings.Join(words[10*i:10*i+10], " ")})
	}
	got, err := Run(t.Context(), each(records), nil)
	loss, ok := errors.AsType[*LossError](err)
	if !ok || *loss != (LossError{"forms", 60, 59, 0.4}) || !strings.Contains(loss.Error(), `"forms" would lose 59 of 60`) {
		t.Errorf("%+v", err)
	}
	if got == nil || got.Near != 59 || got.Largest != 60 || got.Sources["texts"].Near != 0 || len(got.Warnings) != 1 ||
		!strings.Contains(got.Warnings[0], `"forms": the largest cluster has 60 members of 60 records`) {
		t.Errorf("%+v", got)
	}
	got, err = Run(t.Context(), each(records), &Options{MaxLoss: new(1.0), ClusterCap: 10})
	if err != nil || got.Near != 50 || got.Largest != 60 {
		t.Errorf("%+v, %v", got, err)
	}
	// At the bound, which no binary fraction is, it is no error.
	ten := records[:0:0]
	for i := range 10 {
		ten = append(ten, Record{ID: fmt.Sprint(i), Content: strings.Join(words[20*i:20*i+10], " ")})
	}
	for i := range 3 {
		ten[i+7].Content = ten[i].Content + "."
	}
	for bound, bad := range map[float64]bool{0.3: false, 0.29: true} {
		_, err := Run(t.Context(), each(ten), &Options{MaxLoss: &bound})
		if _, ok := errors.AsType[*LossError](err); ok != bad {
			t.Errorf("bound %v: %v", bound, err)
		}
	}
}

// A bucket of many records that are not alike costs each of them MaxCandidates comparisons and no more, and is told.
func TestLargeBucket(t *testing.T) {
	const n, most = 2_000, 10
	r := rand.New(rand.NewPCG(1, 2))
	words := vocabulary(r, 20_000)
	bands := make([]uint64, 14)
	for i := range bands {
		bands[i] = uint64(i) << 60
	}
	sketches := make([]Sketch, n)
	for i := range sketches {
		sketches[i] = Sketch{ID: fmt.Sprintf("%05d", i), Length: 100, Bands: bands}
	}
	calls := 0
	content := func(i int) (string, error) {
		calls++
		return strings.Join(words[10*i:10*i+10], " "), nil
	}
	got, err := Find(t.Context(), each(sketches), content, &Options{MaxCandidates: most})
	if err != nil {
		t.Fatal(err)
	}
	if got.Overflow != n-most-1 || len(got.Removed) != 0 || len(got.Warnings) != 1 {
		t.Errorf("%+v, want %d that overflow", got, n-most-1)
	}
	if calls > n {
		t.Errorf("%d contents are read for %d records", calls, n)
	}
}

// What is read again and again is read once as long as it fits, and what does not fit is forgotten.
func TestCache(t *testing.T) {
	c := cache{limit: 10 * (100 + elementsOfEntry)}
	set := make([]uint64, 100)
	for i := range uint32(1000) {
		if i > 0 {
			if _, ok := c.get(0); !ok {
				t.Fatalf("what is asked for all the time is gone after %d", i)
			}
		}
		c.put(i, set)
		if n := len(c.young) + len(c.old); n > 20 {
			t.Fatalf("%d sets are kept", n)
		}
	}
	if _, ok := c.get(500); ok {
		t.Error("an old set is still there")
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	text := sequence(0, 20)
	s, err := NewSketcher(nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Sketch(&Record{ID: "a", Content: text}), s.Sketch(&Record{ID: "b", Content: text + "x"})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	content := func(int) (string, error) { return text, nil }
	for _, tt := range []struct {
		name     string
		ctx      context.Context
		sketches iter.Seq2[Sketch, error]
		content  func(int) (string, error)
		options  *Options
		is       error
		want     string
	}{
		{"one ID", t.Context(), each([]Sketch{a, b, a}), content, nil, nil, `records 0 and 2 have the same ID "a"`},
		{"bands", t.Context(), each([]Sketch{a, b}), content, &Options{Bands: 13}, nil, `record 0 ("a") has 14 bands, the options say 13`},
		{"content", t.Context(), each([]Sketch{a, b}), func(int) (string, error) { return "", broken }, nil, broken, `content of record 0 ("a")`},
		{"sketches", t.Context(), func(yield func(Sketch, error) bool) {
			if yield(a, nil) {
				yield(Sketch{}, broken)
			}
		}, content, nil, broken, "after 1 records"},
		{"canceled", cancelled, each([]Sketch{a, b}), content, nil, context.Canceled, ""},
	} {
		r, err := Find(tt.ctx, tt.sketches, tt.content, tt.options)
		if r != nil || err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v, want %q", tt.name, r, err, tt.want)
		}
	}
	records := func(yield func(Record, error) bool) {
		if yield(Record{ID: "a"}, nil) {
			yield(Record{}, broken)
		}
	}
	if r, err := Run(t.Context(), records, nil); r != nil || !errors.Is(err, broken) || !strings.Contains(err.Error(), "after 1 records") {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := Run(cancelled, each([]Record{}), nil); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
}

// All faults of the options are told at once, by everything that takes them.
func TestOptions(t *testing.T) {
	bad := &Options{
		ShingleWords: -1, Bands: 5000, Rows: -2, Jaccard: new(0.0), MaxCandidates: -1, ClusterCap: -1, MaxLoss: new(1.1), Memory: -1, Workers: -1,
	}
	_, sketcher := NewSketcher(bad)
	_, found := Find(t.Context(), each[Sketch](nil), nil, bad)
	_, ran := Run(t.Context(), each[Record](nil), bad)
	for _, err := range []error{sketcher, found, ran} {
		if err == nil {
			t.Fatal("bad options pass")
		}
		for _, name := range []string{"ShingleWords", "Bands", "Rows", "Jaccard", "MaxCandidates", "ClusterCap", "MaxLoss", "Memory", "Workers"} {
			if !strings.Contains(err.Error(), "dedup: Options."+name) {
				t.Errorf("%v does not tell %s", err, name)
			}
		}
	}
	if _, err := NewSketcher(&Options{Bands: 100, Rows: 50}); err == nil || !strings.Contains(err.Error(), "Bands 100 times Rows 50") {
		t.Errorf("%v", err)
	}
	r, err := Run(t.Context(), each[Record](nil), nil)
	if diff := gocmp.Diff(&Result{Sources: map[string]Counts{}}, r); err != nil || diff != "" {
		t.Errorf("no records: %v\n%s", err, diff)
	}
}

// A sketch does not depend on who else uses the Sketcher, and other seeds make other bands. Bands with equal values are told apart.
func TestSketch(t *testing.T) {
	s, err := NewSketcher(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Record{ID: "a", Source: "web", Content: "one two three four five six 7", Zero: true}
	k := s.Sketch(&r)
	if len(k.Bands) != 14 || k.Length != len(r.Content) || k.Exact != sha256.Sum256([]byte(r.Content)) || !k.Zero {
		t.Errorf("%+v", k)
	}
	s.Sketch(&Record{Content: sequence(0, 5_000)})
	if diff := gocmp.Diff(k, s.Sketch(&r)); diff != "" {
		t.Errorf("a second time (-want +got):\n%s", diff)
	}
	if k := s.Sketch(&Record{ID: "b", Content: " .\n"}); k.Bands != nil || k.Exact == [32]byte{} {
		t.Errorf("no words: %+v", k)
	}
	if k := s.Sketch(&Record{ID: "c", Content: " \n"}); k.Exact != [32]byte{} {
		t.Errorf("empty: %+v", k)
	}
	other, err := NewSketcher(&Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range other.Sketch(&r).Bands {
		if h == k.Bands[i] {
			t.Errorf("band %d is the same under another seed", i)
		}
	}
	twins := &Sketcher{words: 5, rows: 1, factors: []uint64{1, 1}, addends: []uint64{0, 0}}
	twins.workspaces.New = func() any { return &workspace{minima: make([]uint64, 2)} }
	if k := twins.Sketch(&r); k.Bands[0] == k.Bands[1] {
		t.Error("the same function in two bands makes them the same")
	}
}
