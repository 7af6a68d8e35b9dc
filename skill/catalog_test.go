package skill

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// words is a counter of the kind that adds up.
func words(s string) int { return len(strings.Fields(s)) }

// hashText is a counter of no kind at all.
func hashText(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

func TestNewCatalog(t *testing.T) {
	a, b, c := plainSkill("a", "one", "body"), plainSkill("b", strings.Repeat("long ", 20), ""), plainSkill("c", "three", "")
	const entryA, entryC = "<skill name=\"a\">one</skill>\n", "<skill name=\"c\">three</skill>\n" // 28 and 30 runes
	tests := []struct {
		name   string
		skills []*Document
		budget int
		count  func(string) int
		want   Catalog
		reason string
	}{
		{"none", nil, 100, nil, Catalog{}, "nothing to show"},
		{"all", []*Document{a, c}, 58, nil, Catalog{entryA + entryC, 58, []string{"a", "c"}, nil}, "28 + 30 fill the budget to the rune"},
		{"one rune less", []*Document{a, c}, 57, nil, Catalog{entryA, 28, []string{"a"}, []string{"c"}}, "whole entries or none"},
		{"next tried", []*Document{b, a, b, c}, 60, nil, Catalog{entryA + entryC, 58, []string{"a", "c"}, []string{"b", "b"}}, "what does not fit stops nothing"},
		{"none fits", []*Document{a, b, c}, 27, nil, Catalog{"", 0, nil, []string{"a", "b", "c"}}, "all are named"},
		{"runes", []*Document{plainSkill("a", "名名名", "")}, 28, nil, Catalog{"<skill name=\"a\">名名名</skill>\n", 28, []string{"a"}, nil}, "runes, not bytes"},
		{"zero", []*Document{a}, 0, nil, Catalog{"", 0, nil, []string{"a"}}, "zero is zero"},
		{"zero of a count", []*Document{a}, 0, words, Catalog{"", 0, nil, []string{"a"}}, "whatever counts"},
		{"zero of nothing", []*Document{a}, 0, func(string) int { return 0 }, Catalog{entryA, 0, []string{"a"}, nil}, "what counts as nothing fits"},
		{"count", []*Document{a, c}, 3, words, Catalog{entryA, 2, []string{"a"}, []string{"c"}}, "two words each"},
		{"escapes", []*Document{plainSkill("a\"\n'", " <b>\x00&\r\n\tc\u0085 ", "")}, 100, nil,
			Catalog{"<skill name=\"a&quot; &#39;\">&lt;b&gt;&amp;\n\tc</skill>\n", 54, []string{"a\"\n'"}, nil}, "the five characters, controls but \\n and \\t dropped; the name itself is reported"},
		{"same names", []*Document{a, a}, 30, nil, Catalog{entryA, 28, []string{"a"}, []string{"a"}}, "each is told of"},

		{"nothing counts", []*Document{a, b, c}, 0, func(string) int { return 0 }, Catalog{catalogEntry(a) + catalogEntry(b) + catalogEntry(c), 0, []string{"a", "b", "c"}, nil}, "0 <= 0"},
		{"everything counts too much", []*Document{a, c}, math.MaxInt - 1, func(string) int { return math.MaxInt }, Catalog{"", 0, nil, []string{"a", "c"}}, "no sum overflows"},
		{"less together", []*Document{a, a, a, a, a}, 12, func(s string) int { return 4 + 2*strings.Count(s, "\n") },
			Catalog{strings.Repeat(entryA, 4), 12, []string{"a", "a", "a", "a"}, []string{"a"}}, "alone 6 each, so two by the sum; the third and the fourth are counted with those before, 10 and 12; the fifth makes 14"},
		{"more together", []*Document{a, c, a, c}, 6, func(s string) int { n := strings.Count(s, "\n"); return n * n },
			Catalog{entryA + entryC, 4, []string{"a", "c"}, []string{"a", "c"}}, "alone 1 each, together 16 > 6: the last go, 3 have 9, 2 have 4"},
		{"fits alone only", []*Document{a, c}, 1, func(s string) int { return 1 + 9*(strings.Count(s, "\n")-1) }, Catalog{entryA, 1, []string{"a"}, []string{"c"}}, "1 and 1 > 1 by the sum"},
		{"whole never fits", []*Document{a, c}, 5, func(s string) int {
			if strings.Count(s, "\n") > 0 && !strings.HasPrefix(s, entryC) {
				return 3 * len(s) / len(entryA) / 1 // a alone 3, a and c 6
			}
			return 2
		}, Catalog{entryA, 3, []string{"a"}, []string{"c"}}, "3 + 2 fit by the sum, 6 counted together do not"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			got, err := NewCatalog(tt.skills, tt.budget, tt.count)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestNewCatalogErrors(t *testing.T) {
	a := plainSkill("a", "one", "")
	whole := func(s string) int { // -1 and worse for two entries
		if strings.Count(s, "\n") > 1 {
			return -2
		}
		return 1
	}
	tests := []struct {
		name   string
		skills []Skill
		budget int
		count  func(string) int
		want   string
		reason string
	}{
		{"budget", nil, -1, nil, "skill: catalog: budget is -1, want at least 0", "no size is negative"},
		{"nil", []Skill{a, nil}, 9, nil, "skill: catalog: skill 1 is nil", "no name to tell"},
		{"nil pointer", []Skill{(*Document)(nil)}, 9, nil, "skill: catalog: skill 0 is nil", "a nil pointer in the interface"},
		{"no document", []Skill{a, Loaded{Path: "x"}}, 9, nil, "skill: catalog: skill 1 is nil", "a nil document in the struct"},
		{"negative", []Skill{a}, 9, func(string) int { return -1 }, `skill: catalog: entry of skill 0, "a": count is -1, want at least 0`, "no size is negative"},
		{"negative whole", []Skill{a, a}, 9, whole, "skill: catalog: text of 2 skills: count is -2, want at least 0", "of the text too"},
		{"panic", []Skill{a}, 9, func(string) int { panic("bad rune") }, `skill: catalog: entry of skill 0, "a": count panics: bad rune`, "one bad text must not end the program"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			c, err := NewCatalog(tt.skills, tt.budget, tt.count)
			if c != nil || err == nil || err.Error() != tt.want {
				t.Errorf("%s: got %v, %v, want the error %q", tt.reason, c, err, tt.want)
			}
		})
	}
}

// checkCatalog checks what holds for every counter.
func checkCatalog(t *rapid.T, docs []*Document, budget int, count func(string) int) *Catalog {
	c, err := NewCatalog(docs, budget, func(s string) int {
		if s == "" {
			t.Fatal("the empty text is counted")
		}
		return count(s)
	})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	if c.Text != "" {
		size = count(c.Text)
	}
	if c.Size != size || size > budget {
		t.Fatalf("size %d, counted %d, budget %d", c.Size, size, budget)
	}
	// The shown names and the omitted ones are all names, each in order, and the text is that of the shown ones: some way
	// to split the skills explains all three.
	rest, shown, omitted := c.Text, c.Shown, c.Omitted
	for i, d := range docs {
		entry := catalogEntry(d)
		switch {
		case len(shown) > 0 && shown[0] == d.Name() && strings.HasPrefix(rest, entry):
			rest, shown = rest[len(entry):], shown[1:]
		case len(omitted) > 0 && omitted[0] == d.Name():
			omitted = omitted[1:]
		default:
			t.Fatalf("skill %d, %q, is neither shown nor omitted", i, d.Name())
		}
	}
	if rest != "" || len(shown)+len(omitted) > 0 {
		t.Fatalf("left over: %q, %q, %q", rest, shown, omitted)
	}
	return c
}

func namedHostileSkills(t *rapid.T) []*Document {
	docs := hostileSkills(t, 12)
	for i, d := range docs {
		d.Frontmatter.Name = fmt.Sprintf("%d%s", i, d.Name()) // so that a name tells which skill it is
	}
	return docs
}

// For a counter that adds up the catalog is that of trying each entry in turn.
func TestCatalogAdditive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := namedHostileSkills(t)
		budget := rapid.IntRange(1, 600).Draw(t, "budget")
		var want Catalog
		for _, d := range docs {
			if text := want.Text + catalogEntry(d); utf8.RuneCountInString(text) <= budget {
				want.Text, want.Shown = text, append(want.Shown, d.Name())
			} else {
				want.Omitted = append(want.Omitted, d.Name())
			}
		}
		want.Size = utf8.RuneCountInString(want.Text)
		got := checkCatalog(t, docs, budget, utf8.RuneCountInString)
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// Whatever the counter does, the text is within the budget as it counts, and no skill is lost.
func TestCatalogAnyCounter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := namedHostileSkills(t)
		per := rapid.IntRange(1, 9).Draw(t, "per")
		counters := map[string]func(string) int{
			"rounded up": func(s string) int { return (len(s) + per - 1) / per },
			"overhead":   func(s string) int { return per + len(s)/4 },
			"square":     func(s string) int { return len(s) * len(s) / 500 },
			"root":       func(s string) int { return int(math.Sqrt(float64(len(s)))) },
			"constant":   func(string) int { return per },
			"wild":       func(s string) int { return int(hashText(s) % uint64(40*per)) },
			"huge":       func(s string) int { return math.MaxInt - len(s) },
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(counters))).Draw(t, "counter")
		checkCatalog(t, docs, rapid.IntRange(0, 400).Draw(t, "budget"), counters[name])
	})
}

// Tokens of entries counted alone are a little more than those of the text. What that leaves unused is used: not much
// less fits than fits by trying the whole text for each entry.
func TestCatalogUsesBudget(t *testing.T) {
	count := func(s string) int { return (len(s) + 3) / 4 }
	docs := make([]*Document, 400)
	for i := range docs {
		docs[i] = plainSkill(fmt.Sprintf("skill-%d", i), strings.Repeat("x", i%7), "")
	}
	for budget := 100; budget <= 3000; budget += 100 {
		c, err := NewCatalog(docs, budget, count)
		if err != nil {
			t.Fatal(err)
		}
		var text string
		for _, d := range docs {
			if s := text + catalogEntry(d); count(s) <= budget {
				text = s
			}
		}
		if n := strings.Count(text, "\n"); len(c.Shown) < n-1 {
			t.Errorf("budget %d: %d shown, %d fit", budget, len(c.Shown), n)
		}
	}
}

// The whole text is counted a limited number of times, however many skills there are.
func TestCatalogRecounts(t *testing.T) {
	docs := make([]*Document, 4_000)
	for i := range docs {
		docs[i] = plainSkill(fmt.Sprintf("skill-%d", i), strings.Repeat("x ", i%50), "")
	}
	for name, count := range map[string]func(string) int{
		"runes":  utf8.RuneCountInString,
		"less":   func(s string) int { return 3 + len(s)/4 },
		"more":   func(s string) int { return len(s) + len(s)/1000*len(s)/1000 },
		"unlike": func(s string) int { return int(hashText(s) % 2000) },
	} {
		for _, budget := range []int{1000, 100_000, 10_000_000} {
			alone, whole := 0, 0
			c, err := NewCatalog(docs, budget, func(s string) int {
				if strings.Count(s, "\n") == 1 {
					alone++
				} else {
					whole++
				}
				return count(s)
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Shown)+len(c.Omitted) != len(docs) || c.Size > budget {
				t.Errorf("%s, %d: shown %d, omitted %d, size %d", name, budget, len(c.Shown), len(c.Omitted), c.Size)
			}
			if alone < len(docs) || whole > maxRetries+2+14 || name == "runes" && whole > maxRetries+1 {
				t.Errorf("%s, %d: %d entries and %d texts counted", name, budget, alone, whole)
			}
		}
	}
}

// A list of far more skills than fit, of which peers are known to drop some without a word.
func TestCatalogNamesWhatItOmits(t *testing.T) {
	docs := make([]*Document, 119)
	for i := range docs {
		docs[i] = plainSkill(fmt.Sprintf("skill-%03d", i), strings.Repeat("The same long start of a description. ", 4)+fmt.Sprint(i), "")
	}
	c, err := NewCatalog(docs, 8000, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Omitted) == 0 || len(c.Shown)+len(c.Omitted) != 119 || c.Size > 8000 {
		t.Errorf("shown %d, omitted %d, size %d", len(c.Shown), len(c.Omitted), c.Size)
	}
	for i, name := range c.Shown {
		if want := " " + fmt.Sprint(i) + "</skill>\n"; !strings.Contains(c.Text, want) {
			t.Errorf("the end of %s, which tells it from the others, is cut", name)
		}
	}
}

func FuzzNewCatalog(f *testing.F) {
	f.Add("a", "b", "c", "d", 40)
	f.Add("\"", "</skill>\x00", "\xff", "\n<skill name=\"x\">", 1000)
	f.Fuzz(func(t *testing.T, n1, d1, n2, d2 string, budget int) {
		docs := []*Document{plainSkill(n1, d1, ""), plainSkill(n2, d2, "")}
		c, err := NewCatalog(docs, budget, nil)
		if err != nil {
			if budget >= 0 {
				t.Fatal(err)
			}
			return
		}
		if n := utf8.RuneCountInString(c.Text); n != c.Size || n > budget || len(c.Shown)+len(c.Omitted) != 2 || !utf8.ValidString(c.Text) {
			t.Fatalf("size %d of %d: %+v", n, budget, c)
		}
		if strings.Count(c.Text, "<") != 2*len(c.Shown) || strings.Count(c.Text, "</skill>\n") != len(c.Shown) {
			t.Fatalf("%q has not one element for each of %q", c.Text, c.Shown)
		}
	})
}

func BenchmarkNewCatalog(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		docs := make([]*Document, n)
		for i := range docs {
			docs[i] = plainSkill(fmt.Sprintf("skill-%d", i), strings.Repeat("Fill in forms & check them. ", 1+i%8), "")
		}
		for _, budget := range []int{8_000, 1 << 40} {
			b.Run(fmt.Sprintf("%d/budget=%d", n, budget), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := NewCatalog(docs, budget, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
