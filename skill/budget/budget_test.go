package budget_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/budget"
)

func Example() {
	file := func(name, description, body string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: " + description + "\n---\n" + body + "\n")}
	}
	files := fstest.MapFS{
		"pdf-forms/SKILL.md":    file("pdf-forms", "Fill in PDF forms", "Read the field names first, then set each field."),
		"pdf-merge/SKILL.md":    file("pdf-merge", "Merge PDF files", "Keep the order that the user gives."),
		"send-email/SKILL.md":   file("send-email", "Send an email with attachments", "Ask before sending."),
		"spreadsheets/SKILL.md": file("spreadsheets", "Edit spreadsheets and charts", "Never overwrite a formula."),
	}
	set, err := skill.LoadFS(context.Background(), []skill.Source{{FS: files}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	choice, err := budget.Select(context.Background(), "Fill in this PDF form, then send it by email.", set.Skills, 140, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(choice.Text)
	fmt.Printf("%d tokens, factor %.3f\n", choice.Tokens, choice.Selection.Guarantee.Factor)
	// Output:
	// The skills below come from earlier tasks. They are hints for the current subtask only: use what fits it, leave the rest, and trust what you observe over them.
	// <skill name="pdf-forms">
	// Fill in PDF forms
	//
	// Read the field names first, then set each field.
	// </skill>
	// <skill name="send-email">
	// Send an email with attachments
	//
	// Ask before sending.
	// </skill>
	// 116 tokens, factor 0.632
}

func doc(name, description, body string) *skill.Document {
	return &skill.Document{Frontmatter: skill.Frontmatter{Name: name, Description: description}, Content: body}
}

var desk = []*skill.Document{
	doc("get-order", "Look up an order", "Returns the items and the delivery status."),
	doc("issue-refund", "Refund an order", "Needs the amount."),
	doc("send-email", "Send a message to a customer", ""),
	doc("weather", "Forecast for a city", "For a week at most."),
}

func words(s string) int { return len(strings.Fields(s)) }

// prelude is what the first line of a rendered text counts.
var prelude = words(skill.Prelude)

func TestSelect(t *testing.T) {
	lines := func(s string) int { return words(s) * strings.Count(s, "\n") }
	for _, tt := range []struct {
		name   string
		task   string
		budget int
		o      *bps.TextOptions
		want   []string
		tokens int
		reason string
	}{
		{"two", "look up the order, then send a message", 999, &bps.TextOptions{Count: words, Keep: 2}, []string{"send-email", "get-order"}, prelude + 23,
			"14 and 9 words, 3 of them of the block each"},
		{"body counts", "order delivery status", prelude + 13, &bps.TextOptions{Count: words}, []string{"issue-refund"}, prelude + 9,
			"14 words do not fit: the body is counted"},
		{"body is read", "amount of a delivery", 999, &bps.TextOptions{Count: words}, []string{"issue-refund", "get-order"}, prelude + 23,
			"both words are in bodies"},
		{"named", "weather in the order", 999, &bps.TextOptions{Count: words, PinNamed: true, PenaltyPerToken: 9}, []string{"weather"}, prelude + 12,
			"options reach the search"},
		{"rendered", "look up the order, then send a message", (prelude + 23) * 9, &bps.TextOptions{Count: lines}, []string{"send-email"}, (prelude + 9) * 4,
			"all three fit when counted one by one, but 14 lines of as many words each as the whole text has do not"},
		{"overhead", "send a message", prelude + 12, &bps.TextOptions{Count: words, Overhead: 3}, []string{"send-email"}, prelude + 12, "9 words and 3"},
		{"overhead too large", "send a message", prelude + 12, &bps.TextOptions{Count: words, Overhead: 4}, nil, 0, "13 tokens"},
		{"no room for the prelude", "send a message", prelude, &bps.TextOptions{Count: words}, nil, 0, "it is a part of the text"},
		{"no match", "quantum", 999, nil, nil, 0, "nothing in common"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason given")
			}
			c, err := budget.Select(context.Background(), tt.task, desk, tt.budget, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for k, s := range c.Skills {
				names = append(names, s.Name())
				if desk[c.Selection.Items[k]] != s {
					t.Errorf("skill %d of the selection is not %q", c.Selection.Items[k], s.Name())
				}
			}
			if diff := cmp.Diff(tt.want, names); diff != "" || c.Tokens != tt.tokens {
				t.Errorf("%d tokens, want %d: %s (-want +got):\n%s", c.Tokens, tt.tokens, tt.reason, diff)
			}
			inOrder := slices.DeleteFunc(slices.Clone(desk), func(d *skill.Document) bool { return !slices.Contains(c.Skills, d) })
			if diff := cmp.Diff(skill.Render(inOrder), c.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
	c, err := budget.Select(context.Background(), "task", []skill.Skill(nil), 9, nil)
	if err != nil || c.Skills != nil || c.Text != "" || c.Tokens != 0 || len(c.Selection.Items) != 0 {
		t.Errorf("no skills: %+v, %v", c, err)
	}
}

func TestSelectErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		skills []skill.Skill
		budget int
		o      *bps.TextOptions
		want   error
		text   string
	}{
		{"nil skill", []skill.Skill{desk[0], nil}, 9, nil, nil, "budget: skill 1 is nil"},
		{"nil pointer", []skill.Skill{(*skill.Document)(nil)}, 9, nil, nil, "budget: skill 0 is nil"},
		{"nil pointer to one that embeds", []skill.Skill{(*skill.Loaded)(nil)}, 9, nil, nil, "budget: skill 0 is nil"},
		{"no document behind a pointer", []skill.Skill{&skill.Loaded{}}, 9, nil, nil, "budget: skill 0 is nil"},
		{"no document two deep", []skill.Skill{struct{ skill.Loaded }{}}, 9, nil, nil, "budget: skill 0 is nil"},
		{"no document", []skill.Skill{desk[0], skill.Loaded{Path: "x"}}, 9, nil, nil, "budget: skill 1 is nil"},
		{"budget", []skill.Skill{desk[0]}, -1, nil, bps.ErrBudget, "-1"},
		{"count", []skill.Skill{desk[0]}, 9, &bps.TextOptions{Count: func(string) int { return -1 }}, bps.ErrTokens, "prelude counts -1"},
		{"count of a skill", []skill.Skill{desk[0]}, 9, &bps.TextOptions{Count: func(s string) int {
			if strings.Contains(s, "get-order") {
				return -1
			}
			return 1
		}}, bps.ErrTokens, `"get-order"`},
		{"overhead", []skill.Skill{desk[0]}, 9, &bps.TextOptions{Overhead: -2}, bps.ErrTokens, "-2"},
		{"rendered count", []skill.Skill{desk[0], desk[1]}, 99, &bps.TextOptions{Overhead: 5, Count: func(s string) int {
			if strings.Contains(s, "get-order") && strings.Contains(s, "issue-refund") {
				return -3
			}
			return 1
		}}, bps.ErrTokens, "Recheck gives -3"},
		{"index", []skill.Skill{desk[0]}, 9, &bps.TextOptions{Pinned: []int{1}}, bps.ErrIndex, "Pinned has text 1"},
	} {
		c, err := budget.Select(context.Background(), "order", tt.skills, tt.budget, tt.o)
		if c != nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.text) {
			t.Errorf("%s: %v, %v; want %v with %q", tt.name, c, err, tt.want, tt.text)
		}
	}
}

// The options of the caller are not changed, and a recheck of the caller is used as it is.
func TestSelectRecheck(t *testing.T) {
	var seen [][]int
	search := &bps.Options{Recheck: func(set []int) int {
		seen = append(seen, slices.Clone(set))
		return 1
	}}
	o := &bps.TextOptions{Search: search}
	if _, err := budget.Select(context.Background(), "order", desk, 999, o); err != nil || len(seen) != 1 {
		t.Errorf("%v after the counts %v, want one", err, seen)
	}
	o = &bps.TextOptions{}
	if _, err := budget.Select(context.Background(), "order", desk, 999, o); err != nil || o.Search != nil {
		t.Errorf("%v, %+v: the options were changed", err, o)
	}
}

// Whatever the counter, the rendered skills fit into the budget with the overhead.
func TestRenderedFits(t *testing.T) {
	word := rapid.SampledFrom([]string{"order", "refund", "send", "mail", "status"})
	phrase := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "words"), " ") })
	rapid.Check(t, func(t *rapid.T) {
		var skills []*skill.Document
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			skills = append(skills, doc(phrase.Draw(t, "name"), phrase.Draw(t, "description"), phrase.Draw(t, "body")))
		}
		per := rapid.IntRange(1, 4).Draw(t, "per newline")
		count := func(s string) int { return words(s) + strings.Count(s, "\n")*strings.Count(s, "\n")/per }
		o := &bps.TextOptions{Count: count, Overhead: rapid.IntRange(0, 5).Draw(t, "overhead")}
		most := rapid.IntRange(0, 60).Draw(t, "room")
		if rapid.Bool().Draw(t, "prelude fits") {
			most += count(skill.Prelude) * 4
		}
		c, err := budget.Select(context.Background(), phrase.Draw(t, "task"), skills, most, o)
		if err != nil {
			t.Fatal(err)
		}
		if n := count(c.Text) + o.Overhead; len(c.Skills) > 0 && (n > most || n != c.Tokens) {
			t.Fatalf("%d tokens of %q, want at most %d, and %d as stated", n, c.Text, most, c.Tokens)
		}
	})
}

// Skills of every shape that is no nil are taken.
func TestSelectShapes(t *testing.T) {
	skills := []skill.Skill{desk[0], skill.Loaded{Document: desk[1]}, &skill.Loaded{Document: desk[2]}, struct{ skill.Loaded }{skill.Loaded{Document: desk[3]}}}
	c, err := budget.Select(context.Background(), "order, refund, message, forecast", skills, 999, nil)
	if err != nil || len(c.Skills) != 4 {
		t.Errorf("%v, %v, want all four", c, err)
	}
}

// An overhead beyond every budget leaves no room; it does not wrap around.
func TestSelectHugeOverhead(t *testing.T) {
	for _, most := range []int{1000, math.MaxInt} {
		for _, overhead := range []int{math.MaxInt, math.MaxInt - 30} {
			c, err := budget.Select(context.Background(), "order", desk, most, &bps.TextOptions{Overhead: overhead})
			if err != nil || len(c.Skills) != 0 || c.Tokens != 0 {
				t.Errorf("budget %d, overhead %d: %+v, %v, want no skill", most, overhead, c, err)
			}
		}
	}
}

// A skill that shares a stray word with the task fills the room that there is, unless its tokens cost more than it brings.
func ExampleSelect_penalty() {
	for _, penalty := range []float64{0, 0.005} {
		choice, err := budget.Select(context.Background(), "look up the order, then message the customer", desk, 500,
			&bps.TextOptions{PenaltyPerToken: penalty})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(penalty, ":")
		for _, s := range choice.Skills {
			fmt.Print(" ", s.Name())
		}
		fmt.Println()
	}
	// Output:
	// 0: send-email get-order issue-refund
	// 0.005: send-email get-order
}

func BenchmarkSelect(b *testing.B) {
	body := strings.Repeat("Look up what is needed, then act, and say what was done.\n", 30)
	for _, n := range []int{100, 1000} {
		var skills []*skill.Document
		for i := range n {
			skills = append(skills, doc(fmt.Sprint("skill-", i), fmt.Sprintf("Handle case %d of order refund mail status", i%17), body))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := budget.Select(context.Background(), "refund the order, then mail its status", skills, 4000, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
