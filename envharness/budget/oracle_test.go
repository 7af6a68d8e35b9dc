package budget

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
)

var vocabulary = rapid.SampledFrom([]string{"order", "refund", "mail", "status", "city", "song", "price", "stock", "and", "day."})

func phrase(t *rapid.T, label string, most int) string {
	return strings.Join(rapid.SliceOfN(vocabulary, 0, most).Draw(t, label), " ")
}

func drawTools(t *rapid.T, most int) []envharness.Tool {
	var tools []envharness.Tool
	for i := range rapid.IntRange(0, most).Draw(t, "tools") {
		tool := envharness.Tool{Name: fmt.Sprintf("tool_%d", i), Description: phrase(t, "description", 6)}
		if rapid.Bool().Draw(t, "schema") {
			tool.Schema = fmt.Appendf(nil, `{"type":"object","properties":{"a":{"type":"string","description":%q}}}`, phrase(t, "argument", 4))
		}
		tool.Submits = rapid.IntRange(0, 5).Draw(t, "submits") == 0
		tools = append(tools, tool)
	}
	return tools
}

func drawSkills(t *rapid.T, most int) []bps.Text {
	var skills []bps.Text
	for i := range rapid.IntRange(0, most).Draw(t, "skills") {
		skills = append(skills, bps.Text{Name: fmt.Sprint("skill ", i), Description: phrase(t, "about", 4), Body: phrase(t, "body", 8)})
	}
	return skills
}

// What is chosen reaches the guarantee against every set that fits and has the pinned texts, and the optimum in mode Exact.
func TestChoiceAgainstAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools, skills := drawTools(t, 6), drawSkills(t, 3)
		exact := rapid.Bool().Draw(t, "exact")
		o := &Options{Text: &bps.TextOptions{Search: &bps.Options{}}}
		if exact {
			o.Text.Search.Mode = bps.Exact
		}
		if rapid.Bool().Draw(t, "price") {
			o.Text.PenaltyPerToken = 0.002
		}
		c, err := New(rapid.IntRange(20, 400).Draw(t, "budget"), skills, o)
		if err != nil {
			t.Fatal(err)
		}
		turn := envharness.Turn{Shown: envharness.Observation{Text: phrase(t, "task", 10)}, Tools: tools}
		if _, _, err := c.Offer(t.Context(), turn); err != nil {
			t.Skip(err)
		}
		sel := c.last.Selection
		if sel == nil || sel.Guarantee.Factor == 0 || sel.Rechecked.Reruns > 0 {
			t.Skip("nothing to compare")
		}
		l := c.lists[0]
		overhead, err := c.overhead()
		if err != nil {
			t.Fatal(err)
		}
		price := func(set []int) float64 {
			if len(set) == 0 {
				return 0
			}
			return o.Text.PenaltyPerToken * float64(l.parts(set, overhead))
		}
		worth := func(set []int) float64 {
			w, err := c.worth(context.Background(), l, c.last.Query, set)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		base := worth(l.pinned) + price(l.pinned)
		best, most := math.Inf(-1), max(c.budget, l.parts(l.pinned, overhead))
		for bits := range 1 << len(l.tokens) {
			var set []int
			for k := range l.tokens {
				if bits>>k&1 == 1 {
					set = append(set, k)
				}
			}
			if slices.ContainsFunc(l.pinned, func(k int) bool { return !slices.Contains(set, k) }) || len(set) > 0 && l.parts(set, overhead) > most {
				continue
			}
			w := worth(set)
			best = max(best, w)
			if bound := base + sel.Guarantee.Factor*(w+price(set)-base) - price(set); sel.Objective < bound-1e-9 {
				t.Fatalf("objective %v of %v, but %v has %v, which promises %v", sel.Objective, sel.Items, set, w, bound)
			}
		}
		if exact && math.Abs(best-sel.Objective) > 1e-9 {
			t.Fatalf("objective %v of %v, want %v", sel.Objective, sel.Items, best)
		}
		if w := worth(slices.Sorted(slices.Values(sel.Items))); math.Abs(w-sel.Objective) > 1e-9 {
			t.Fatalf("worth %v, want %v", w, sel.Objective)
		}
	})
}

// A list that comes again is not read again, and no more lists are kept than are worth it.
func TestListsAreReadOnce(t *testing.T) {
	counted := 0
	c, err := New(200, nil, &Options{Text: &bps.TextOptions{Count: func(s string) int {
		if strings.HasPrefix(s, "{") {
			counted++
		}
		return len(s)
	}}})
	if err != nil {
		t.Fatal(err)
	}
	offer := func(names ...string) {
		t.Helper()
		var tools []envharness.Tool
		for _, n := range names {
			tools = append(tools, envharness.Tool{Name: n, Description: strings.Repeat("order ", 20)})
		}
		if _, _, err := c.Offer(t.Context(), envharness.Turn{Shown: envharness.Observation{Text: "order"}, Tools: tools}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		offer("a", "b")
		offer("a", "c")
	}
	if counted != 4 || len(c.lists) != 2 {
		t.Errorf("%d tools were counted of %d lists, want 4 of 2", counted, len(c.lists))
	}
	for _, n := range []string{"d", "e", "f", "g"} {
		offer(n)
	}
	if len(c.lists) != maxLists {
		t.Errorf("%d lists are kept, want %d", len(c.lists), maxLists)
	}
	counted = 0
	offer("a", "b")
	if counted != 2 {
		t.Errorf("%d tools were counted, want 2 of a list that was forgotten", counted)
	}
}

func TestWords(t *testing.T) {
	for _, tt := range []struct{ schema, want, reason string }{
		{``, "", "no arguments"},
		{`{"type":"object","properties":{"city":{"type":"string","description":"Name of it"},"unit":{"enum":["metric","us"]}}}`,
			"city Name of it unit metric us", "no word of the schema language"},
		{`{"properties":{"description":{"type":"string"},"list":{"items":{"properties":{"sku":{"title":"Unit"}}}}}}`,
			"description list sku Unit", "a property may be called as a keyword is"},
		{`{"anyOf":[{"const":"a"},{"const":2}],"$defs":{"thing":{"default":"b"}}}`, "thing b a", "branches and definitions"},
		{`[{"description":7},true,null]`, "", "values of other types"},
		{`{"properties":[1]}`, "", "no object"},
	} {
		if got := strings.Join(strings.Fields(words([]byte(tt.schema))), " "); got != tt.want {
			t.Errorf("%s: %q, want %q: %s", tt.schema, got, tt.want, tt.reason)
		}
	}
}

// The latest text is one clause, whatever it is.
func TestLatestIsOneClause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := "cancel the pending order"
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("ab.,;!? \n。、then AND")))).Draw(t, "text")
		if got := bps.SplitClauses(task + "\n" + clause(text)); len(got) > 2 {
			t.Fatalf("%q has the clauses %q, want two at most", clause(text), got)
		}
	})
	if n := len(strings.Fields(clause(strings.Repeat("word ", 500)))); n != maxWords {
		t.Errorf("%d words, want %d", n, maxWords)
	}
}
