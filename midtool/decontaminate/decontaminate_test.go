package decontaminate

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/midtool"
)

// slowNumber is a number, in digits of any script.
var slowNumber = regexp.MustCompile(`\p{Nd}+([.,]\p{Nd}+)?`)

// slowNormalize goes by the letter, one step after the other.
func slowNormalize(text string) string {
	text = slowNumber.ReplaceAllString(strings.Map(unicode.ToLower, text), "0")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

func TestNormalize(t *testing.T) {
	tests := []struct{ name, text, want, reason string }{
		{"numbers", "Find the price of AAPL, 3.5% below 1,200 USD_now!", "find the price of aapl 0 below 0 usd now",
			"one 0 a number, and _ separates"},
		{"three parts", "1.2.3 and 1,2,3,4", "0 0 and 0 0", "a number takes one separator"},
		{"bare separator", "12. 13, x.5", "0 0 x 0", "a separator without digits after it is none of the number"},
		{"in a word", "mp3 3d a1b2", "mp0 0d a0b0", "digits in words, too"},
		{"scripts", "ΑΒΓ Żółw 東京 ٣٫٥ x²", "αβγ żółw 東京 0 0 x", "letters and digits of any script; ² is neither"},
		{"marks", "cafe\u0301 ok", "cafe ok", "a combining mark separates"},
		{"invalid", "a\xffb \xc3", "a b", "invalid UTF-8 separates"},
		{"nothing", " \n.,!?", "", "no word"},
	}
	for _, tt := range tests {
		if got := Normalize(tt.text); got != tt.want {
			t.Errorf("%s: got %q, want %q (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

// Normalizing is what the steps say one after the other, and changes nothing when done again; words are cut where it cuts them.
func TestNormalizeProperties(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"a", "Bc", "0", "12", ".", ",", " ", "_", "é", "İ", "K", "٣", "²", "\u0301", "\xff",
		"東", "ß", "Ǆ"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(pieces, rapid.String()), 0, 30).Draw(t, "text"), "")
		got := Normalize(text)
		if want := slowNormalize(text); got != want {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
		if again := Normalize(got); again != got {
			t.Fatalf("%q, then %q", got, again)
		}
		var list []string
		hashes := make(map[string]uint64)
		for w := (words{text: text}); w.next(); {
			word := Normalize(text[w.start:w.end])
			if h, ok := hashes[word]; ok && h != w.hash {
				t.Fatalf("%q has two hashes", word)
			}
			hashes[word] = w.hash
			list = append(list, word)
		}
		if strings.Join(list, " ") != got {
			t.Fatalf("%q: words %q, want %q", text, list, got)
		}
	})
}

// message makes a benchmark of messages with the IDs 0, 1, 2 ...
func messages(name string, texts ...string) Benchmark {
	b := Benchmark{Name: name}
	for i, text := range texts {
		b.Items = append(b.Items, Item{ID: fmt.Sprint(i), Text: text})
	}
	return b
}

func newIndex(t interface {
	Helper()
	Fatal(...any)
}, o *Options, benchmarks ...Benchmark) *Index {
	t.Helper()
	ix, err := NewIndex(benchmarks, o)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

const (
	long  = "please book a table for two at the oldest restaurant near the river tonight"
	short = "play some quiet music now"
	tiny  = "stop it"
)

func TestScan(t *testing.T) {
	bench := messages("b", long, short, tiny, "a b c d 1 2 3 4", "a b c d e 1 2 3")
	bench.Items = append(bench.Items,
		Item{ID: "f", Function: "Math.Area-of", Parameters: []string{"width", "height"}, Description: "The area.", Text: "Math.Area-of The area."},
		Item{ID: "g", Function: "now", Description: "The time of day!", Text: "now The time of day!"})
	tool := func(name, description string, parameters ...string) Record {
		properties := make([]string, len(parameters))
		for i, p := range parameters {
			properties[i] = fmt.Sprintf("%q:{}", p)
		}
		schema := `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`
		return Record{Tools: []midtool.Tool{{Name: name, Description: description, Parameters: json.RawMessage(schema)}}}
	}
	renamed := tool("math_Area_of_2", "", "height", "width")
	renamed.Tools[0].Original = "math.Area of"
	broken := tool("now", "the time of day")
	broken.Tools[0].Parameters = json.RawMessage(`{`)
	say := func(text string) Record { return Record{Messages: []string{text}} }
	tests := []struct {
		name   string
		record Record
		want   []string // rule and item
		reason string
	}{
		{"nothing", Record{}, nil, "no text"},
		{"whole", say("PLEASE book a table; for two, at the oldest restaurant near the river tonight!"), slices.Repeat([]string{"n_gram 0"}, 7),
			"14 words have 7 runs of 8"},
		{"one run", Record{Texts: []string{"it says: at the oldest restaurant near the river tonight, or not"}}, []string{"n_gram 0"},
			"8 words are enough"},
		{"seven words", Record{Texts: []string{"the oldest restaurant near the river tonight"}}, nil, "7 words are not"},
		{"twice", Record{Texts: slices.Repeat([]string{"at the oldest restaurant near the river tonight"}, 2)}, []string{"n_gram 0"},
			"told once"},
		{"border", Record{Texts: []string{"at the oldest restaurant", "near the river tonight"}}, nil, "runs do not cross texts"},
		{"border of messages", Record{Messages: []string{"play some quiet", "music now"}}, nil, "nor messages"},
		{"short", say("Play some quiet music, now."), []string{"short_item 1"}, "the message says the item"},
		{"short inside", say("Could you play some quiet music now, please?"), []string{"short_item 1"}, "5 words are looked for inside"},
		{"short in a document", Record{Texts: []string{short}}, nil, "documents have short sentences, too"},
		{"tiny", say("Stop it!"), []string{"short_item 2"}, "the message says the item"},
		{"tiny inside", say("please stop it"), nil, "2 words are not looked for inside"},
		{"numbers", Record{Texts: []string{"a b c d 5 6 7 8"}}, nil, "half of the words are numbers"},
		{"some numbers", Record{Texts: []string{"a b c d e 9 9 9"}}, []string{"n_gram 4"}, "three of eight are not half"},
		{"numbers in short", say("a b c d 9 9 9 9"), []string{"short_item 3"}, "as a whole, numbers do not matter"},
		{"tool", tool("math_area_OF", "Another text.", "height", "width"), []string{"same_tool 5"},
			"name in another form, parameters in another order"},
		{"other parameters", tool("math.area_of", "The area.", "height"), nil, "one parameter less"},
		{"more parameters", tool("math.area_of", "The area.", "height", "width", "unit"), nil, "one parameter more"},
		{"other name", tool("math.surface", "The area.", "height", "width"), nil, "equal parameters are not enough"},
		{"before it was renamed", renamed, []string{"same_tool 5"}, "the name that the tool had counts"},
		{"no parameters", tool("NOW", "the time, of day"), []string{"same_tool 6"}, "descriptions that read the same"},
		{"no parameters, other text", tool("now", "the hour of the day"), nil, "the name alone says nothing"},
		{"unreadable schema", broken, nil, "it cannot be compared"},
	}
	ix := newIndex(t, nil, bench)
	for _, tt := range tests {
		var got []string
		for _, m := range ix.Scan(&tt.record) {
			got = append(got, fmt.Sprintf("%s %d", m.Rule, m.Item))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

// Runs of words that more than five items of a benchmark have are left out for it, not for another.
func TestSharedRuns(t *testing.T) {
	var texts []string
	for word := range strings.FieldsSeq("one two three four five six") {
		texts = append(texts, "what is the fastest way to get from "+word)
	}
	common, five := messages("six", texts...), messages("five", texts[:5]...)
	record := Record{Texts: []string{"what is the fastest way to get from nowhere"}}
	for _, tt := range []struct {
		benchmarks []Benchmark
		want       int
	}{{[]Benchmark{common}, 0}, {[]Benchmark{five}, 5}, {[]Benchmark{common, five}, 5}} {
		if got := newIndex(t, nil, tt.benchmarks...).Scan(&record); len(got) != tt.want {
			t.Errorf("%d matches, want %d: %v", len(got), tt.want, got)
		}
	}
	same := messages("same", slices.Repeat([]string{long}, 9)...)
	if got := newIndex(t, nil, same).Scan(&Record{Texts: []string{long}}); len(got) != 7 {
		t.Errorf("nine items that read the same are one, with 7 runs: %v", got)
	}
}

func TestTally(t *testing.T) {
	ix := newIndex(t, &Options{MaxRecords: 3, MaxShare: new(0.1), ReportOnly: []Rule{ShortItem}}, messages("b", long, short), messages("c", long))
	run := "book a table for two at the oldest"
	tests := []struct {
		name             string
		with, all        int // records with the run
		dropped, ignored int
		reason           string
	}{
		{"few", 3, 10, 3, 0, "3 are allowed"},
		{"share", 4, 40, 4, 0, "4 of 40 are no more than 0.1"},
		{"common", 4, 39, 0, 1, "4 of 39 are"},
	}
	for _, tt := range tests {
		tally := ix.Tally()
		for i := range tt.all {
			r := Record{Texts: []string{"nothing to see"}}
			if i < tt.with {
				r.Texts[0] = "who would " + run + " in"
			}
			if err := tally.Add(fmt.Sprint(i), "web", ix.Scan(&r)); err != nil {
				t.Fatal(err)
			}
		}
		r := tally.Report()
		if len(r.Dropped) != tt.dropped || len(r.Ignored) != tt.ignored || r.Counts["b"][NGram] != tt.dropped || r.Counts["c"][NGram] != tt.dropped ||
			len(r.Hits) != 2*tt.dropped {
			t.Errorf("%s: %+v, want %d dropped, %d ignored (%s)", tt.name, r, tt.dropped, tt.ignored, tt.reason)
		}
		for _, i := range r.Ignored {
			if i != (Ignored{"web", run, tt.with}) {
				t.Errorf("%s: ignored %+v", tt.name, i)
			}
		}
	}
	tally := ix.Tally()
	for id, text := range []string{short, long + " and " + long} {
		if err := tally.Add(fmt.Sprint(id), "native", ix.Scan(&Record{Messages: []string{text}})); err != nil {
			t.Fatal(err)
		}
	}
	want := &Report{
		Hits: []Hit{
			{Record: "0", Source: "native", Benchmark: "b", Item: "1", Rule: ShortItem, Text: short},
			{Record: "1", Source: "native", Benchmark: "b", Item: "0", Rule: NGram, Grams: 7, Text: "please book a table for two at the"},
			{Record: "1", Source: "native", Benchmark: "c", Item: "0", Rule: NGram, Grams: 7, Text: "please book a table for two at the"},
		},
		Dropped:   []string{"1"}, // short items are only reported
		Counts:    map[string]map[Rule]int{"b": {ShortItem: 1, NGram: 1, SameTool: 0}, "c": {ShortItem: 0, NGram: 1, SameTool: 0}},
		Invisible: map[string]float64{"b": 0.5, "c": 0},
	}
	if diff := cmp.Diff(want, tally.Report()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, bad := range []Match{{Rule: NGram, Item: 3}, {Rule: NGram, Item: -1}, {Rule: NGram, Gram: 1000}, {Rule: "other"}} {
		if err := tally.Add("x", "web", []Match{bad}); err == nil {
			t.Errorf("%+v was added", bad)
		}
	}
	if diff := cmp.Diff(want, tally.Report()); diff != "" {
		t.Errorf("after matches of another index (-want +got)\n%s", diff)
	}
}

func TestInvisible(t *testing.T) {
	b := messages("b", long, long, short, "1 2 3 4 5 6 7 8 9", "")
	if got := newIndex(t, nil, b, Benchmark{Name: "empty"}).Tally().Report().Invisible; got["b"] != 0.6 || got["empty"] != 0 {
		t.Errorf("got %v: the copy is as visible as the first, three of five are not", got)
	}
}

func TestTextIsBounded(t *testing.T) {
	word := strings.Repeat("ü", 300)
	ix := newIndex(t, nil, messages("b", word))
	m := ix.Scan(&Record{Messages: []string{word + "!"}})
	if len(m) != 1 || m[0].Text != word[:2*200] {
		t.Errorf("%v", m)
	}
	if got := brief("a\xffb"); got != "a\ufffdb" {
		t.Errorf("%q", got)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := NewIndex(nil, &Options{N: 1, ShortWords: 65, MaxRecords: -1, MaxShare: new(1.5), ReportOnly: []Rule{"x"}})
	for _, want := range []string{"N is 1, want 2 to 32", "ShortWords is 65", "MaxRecords is -1", "MaxShare is 1.5", `ReportOnly has "x"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	for _, names := range [][]string{{""}, {"a", "b", "a"}} {
		var list []Benchmark
		for _, n := range names {
			list = append(list, messages(n))
		}
		if _, err := NewIndex(list, nil); err == nil || !strings.Contains(err.Error(), "is empty or that of another") {
			t.Errorf("%q: %v", names, err)
		}
	}
}

// Words of different hashes are put in one place of a table, which must tell them apart by their text.
func TestEqualHashes(t *testing.T) {
	text := []byte("red fox blue cat")
	const hash = 7 << 60
	all := []occurrence{{hash, 0, 7, 1}, {hash, 8, 16, 2}, {hash, 0, 7, 0}, {hash, 0, 7, 1}}
	tab := newTable(text, all, func(items []int32) []int32 { return items })
	var scratch []byte
	for text, want := range map[string][]int32{"Red fox": {0, 1}, "BLUE cat": {2}, "red cat": nil} {
		var got []int32
		if i := tab.find(hash, text, &scratch); i >= 0 {
			got = tab.itemsOf(i)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
	if tab.may(1) || !tab.may(hash) || tab.find(1, "red fox", &scratch) >= 0 {
		t.Error("a hash that none has")
	}
}

// slowScan finds items by comparing words, item by item.
func slowScan(benchmarks []Benchmark, r *Record, n, short int) map[string]bool {
	out := make(map[string]bool)
	runs := func(text string) map[string]bool {
		list := strings.Fields(slowNormalize(text))
		set := make(map[string]bool)
		for i := 0; i+n <= len(list); i++ {
			zeros := 0
			for _, w := range list[i : i+n] {
				if w == "0" {
					zeros++
				}
			}
			if 2*zeros < n {
				set[strings.Join(list[i:i+n], " ")] = true
			}
		}
		return set
	}
	for _, b := range benchmarks {
		holders := make(map[string]map[string]bool) // of a run: the texts of items
		seen := make(map[string]bool)
		for _, it := range b.Items {
			for run := range runs(it.Text) {
				if holders[run] == nil {
					holders[run] = make(map[string]bool)
				}
				holders[run][slowNormalize(it.Text)] = true
			}
		}
		for _, it := range b.Items {
			item := slowNormalize(it.Text)
			if item == "" || seen[item] {
				continue
			}
			seen[item] = true
			length := len(strings.Fields(item))
			for _, m := range r.Messages {
				message := slowNormalize(m)
				if length < short && (message == item || length >= 5 && strings.Contains(" "+message+" ", " "+item+" ")) {
					out[b.Name+" short_item "+it.ID] = true
				}
			}
			for _, text := range slices.Concat(r.Messages, r.Texts) {
				for run := range runs(text) {
					if h := holders[run]; h[item] && len(h) <= 5 {
						out[b.Name+" n_gram "+it.ID] = true
					}
				}
			}
		}
	}
	return out
}

func anyText(t *rapid.T, name string, most int) string {
	words := rapid.SampledFrom([]string{"a", "b", "A", "c", "7", "1.5", "é"})
	return strings.Join(rapid.SliceOfN(words, 0, most).Draw(t, name), rapid.SampledFrom([]string{" ", "_", ", "}).Draw(t, "blank"))
}

func anyBenchmark(t *rapid.T, name string) Benchmark {
	b := Benchmark{Name: name}
	for i := range rapid.IntRange(0, 12).Draw(t, "items") {
		b.Items = append(b.Items, Item{ID: fmt.Sprint(i), Text: anyText(t, "item", 12)})
	}
	return b
}

// The scan finds what the slow way finds; a further benchmark takes nothing away, whatever is common.
func TestScanAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := &Options{N: rapid.IntRange(2, 4).Draw(t, "n"), ShortWords: rapid.IntRange(1, 9).Draw(t, "short"), MaxRecords: 1, MaxShare: new(0.3)}
		benchmarks := []Benchmark{anyBenchmark(t, "x"), anyBenchmark(t, "y")}
		ix, more := newIndex(t, o, benchmarks...), newIndex(t, o, append(benchmarks, anyBenchmark(t, "z"))...)
		tally, all := ix.Tally(), more.Tally()
		for i := range 4 {
			r := Record{Messages: []string{anyText(t, "message", 15)}, Texts: []string{anyText(t, "text", 15)}}
			got := make(map[string]bool)
			for _, m := range ix.Scan(&r) {
				b := benchmarks[ix.benchmarkOf(m.Item)]
				got[b.Name+" "+string(m.Rule)+" "+ix.ids[m.Item]] = true
			}
			if diff := cmp.Diff(slowScan(benchmarks, &r, o.N, o.ShortWords), got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%+v (-want +got)\n%s", r, diff)
			}
			for tally, ix := range map[*Tally]*Index{tally: ix, all: more} {
				if err := tally.Add(fmt.Sprint(i), "s", ix.Scan(&r)); err != nil {
					t.Fatal(err)
				}
			}
		}
		after := all.Report().Dropped
		for _, id := range tally.Report().Dropped {
			if !slices.Contains(after, id) {
				t.Fatalf("record %s is dropped for two benchmarks and not for three", id)
			}
		}
	})
}

// An item without numbers, of as many words as a run or more, is found wherever it is planted, as the only one in its source.
func TestPlantedItemsAreFound(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{1,6}`)
	rapid.Check(t, func(t *rapid.T) {
		item := strings.Join(rapid.SliceOfN(word, 8, 30).Draw(t, "item"), " ")
		around := rapid.SliceOfN(word, 0, 20)
		text := strings.Join(append(append(around.Draw(t, "before"), strings.ToUpper(item)), around.Draw(t, "after")...), " ")
		ix := newIndex(t, nil, messages("b", item))
		matches := ix.Scan(&Record{Texts: []string{text}})
		if len(matches) == 0 {
			t.Fatalf("%q is not found in %q", item, text)
		}
		for _, m := range matches {
			if !utf8.ValidString(m.Text) || !strings.Contains(text, m.Text) {
				t.Fatalf("%q is not in the text", m.Text)
			}
		}
	})
}
