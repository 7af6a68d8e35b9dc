package bps

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEstimateTokens(t *testing.T) {
	for _, tt := range []struct {
		text   string
		want   int
		reason string
	}{
		{"", 0, "nothing"},
		{"a", 1, "one byte is a third, rounded up"},
		{"abc", 1, "three bytes"},
		{"abcd", 2, "four bytes"},
		{"a b c d", 4, "words: more than 7/3 bytes"},
		{"{}[]()", 6, "each mark may be a token"},
		{"a+b=c", 5, "symbols too"},
		{"1\n2\n3\n", 6, "short lines of digits: chars/3 was 3 times too low (gptscript)"},
		{"天気", 2, "three bytes a sign"},
		{"\xff\xff", 2, "invalid bytes count one each"},
		{strings.Repeat("word ", 100), 167, "500 bytes"},
	} {
		if got := EstimateTokens(tt.text); got != tt.want {
			t.Errorf("EstimateTokens(%q) = %d, want %d: %s", tt.text, got, tt.want, tt.reason)
		}
	}
}

func TestClauses(t *testing.T) {
	for _, tt := range []struct {
		query  string
		want   [][]string
		reason string
	}{
		{"find order status and refund payment", [][]string{{"find", "order", "status"}, {"refund", "payment"}}, "cut at and"},
		{"Find orders, THEN refund payment.", [][]string{{"find", "orders"}, {"refund", "payment"}}, "comma, then, end"},
		{"find orders, then", [][]string{{"find", "orders"}}, "a joint at the end"},
		{"price is 3.50 dollars", [][]string{{"price", "50", "dollars"}}, "no cut inside a number"},
		{"list handles and sandals", [][]string{{"list", "handles"}}, "and inside words is none; sandals is too short for a clause"},
		{"refund", [][]string{{"refund"}}, "no clause of two words: the whole query"},
		{"flights, hotels", [][]string{{"flights", "hotels"}}, "no clause of two words: the whole query"},
		{"", [][]string{nil}, "one clause without words"},
		{"open file\nclose file", [][]string{{"open", "file"}, {"close", "file"}}, "lines"},
		{"注文を返金。天気予報", [][]string{{"注文", "文を", "を返", "返金"}, {"天気", "気予", "予報"}}, "marks that need no space"},
		{"call getOrder; call get_refund!", [][]string{{"call", "get", "order"}, {"call", "get", "refund"}}, "names are split"},
	} {
		if diff := cmp.Diff(tt.want, clauses(tt.query)); diff != "" {
			t.Errorf("clauses(%q), %s (-want +got):\n%s", tt.query, tt.reason, diff)
		}
	}
}

var desk = []Text{
	{Name: "get_order", Description: "Look up an order by its number", Body: "Returns the items and the delivery status."},
	{Name: "issue_refund", Description: "Refund the payment of an order", Body: "Needs the amount and a reason."},
	{Name: "refund_policy", Description: "Explain when the payment of an order can be refunded", Body: "Read this before you refund."},
	{Name: "send_email", Description: "Send a message to a customer"},
	{Name: "weather", Description: "Forecast for a city"},
}

// words counts the words, so that budgets in tests can be checked by eye.
func words(s string) int { return len(strings.Fields(s)) }

func TestFromTexts(t *testing.T) {
	const query = "look up the order status and send the customer an email message"
	long := slices.Insert(slices.Clone(desk), 0, Text{Name: "look_order_status_send_customer_email_message", Body: strings.Repeat("order status ", 50)})
	for _, tt := range []struct {
		name    string
		query   string
		texts   []Text
		budget  int
		o       TextOptions
		items   []int
		dropped []Drop
		reason  string
	}{
		{"two needs", query, desk, 30, TextOptions{}, []int{3, 0}, []Drop{{4, DropNoMatch}}, "one text for each clause; both refund texts are 3rd and 4th"},
		{"one fits", query, desk, 8, TextOptions{}, []int{3}, []Drop{{0, DropOverBudget}, {1, DropOverBudget}, {2, DropOverBudget}, {4, DropNoMatch}}, "7 words"},
		{"large text", query, long, 24, TextOptions{Keep: 2}, []int{4, 1},
			[]Drop{{0, DropOverBudget}, {2, DropRelevance}, {3, DropRelevance}, {5, DropNoMatch}}, "a text that does not fit takes no place"},
		{"more than there are", query, desk, 1000, TextOptions{Keep: 99}, []int{3, 0, 1, 2}, []Drop{{4, DropNoMatch}}, "langchain 1186: k larger than the number of documents"},
		{"price", query, desk, 1000, TextOptions{PenaltyPerToken: 10}, nil, []Drop{{4, DropNoMatch}}, "nothing is worth its tokens"},
		{"overhead", query, desk, 8, TextOptions{Overhead: 9}, nil,
			[]Drop{{0, DropOverhead}, {1, DropOverhead}, {2, DropOverhead}, {3, DropOverhead}, {4, DropNoMatch}}, "the header does not fit"},
		{"prefilter", query, desk, 1000, TextOptions{Select: &Options{MaxPool: 1}}, []int{3},
			[]Drop{{0, DropPrefilter}, {1, DropPrefilter}, {2, DropPrefilter}, {4, DropNoMatch}}, "options reach the search, and indices are those of texts"},
		{"no match", "quantum chromodynamics", desk, 1000, TextOptions{}, nil,
			[]Drop{{0, DropNoMatch}, {1, DropNoMatch}, {2, DropNoMatch}, {3, DropNoMatch}, {4, DropNoMatch}}, "empty, no error"},
		{"empty query", "", desk[:1], 1000, TextOptions{}, nil, []Drop{{0, DropNoMatch}}, "empty, no error"},
		{"no texts", query, nil, 1000, TextOptions{}, nil, nil, "empty, no error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason given")
			}
			tt.o.Count = words
			sel, err := FromTexts(context.Background(), tt.query, tt.texts, tt.budget, &tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.items, sel.Items); diff != "" {
				t.Errorf("items, %s (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(tt.dropped, sel.Dropped); diff != "" {
				t.Errorf("dropped, %s (-want +got):\n%s", tt.reason, diff)
			}
			checkTexts(t, sel, tt.texts, tt.budget, tt.o)
			if vacuous := len(tt.dropped) == len(tt.texts) && tt.name != "overhead"; vacuous != (sel.Guarantee.Factor == 0) {
				t.Errorf("guarantee %+v: there is none exactly where no text matches", sel.Guarantee)
			}
		})
	}
}

// checkTexts checks the laws of a selection of texts.
func checkTexts(t *testing.T, sel *Selection, texts []Text, budget int, o TextOptions) {
	t.Helper()
	seen := make([]int, len(texts))
	tokens := 0
	for _, i := range sel.Items {
		seen[i]++
		tokens += o.Count(texts[i].String())
	}
	if len(sel.Items) > 0 {
		tokens += o.Overhead
	}
	for j, d := range sel.Dropped {
		seen[d.Item]++
		if j > 0 && d.Item <= sel.Dropped[j-1].Item {
			t.Errorf("dropped out of order: %v", sel.Dropped)
		}
	}
	if slices.ContainsFunc(seen, func(n int) bool { return n > 1 }) {
		t.Errorf("chosen %v and dropped %v overlap", sel.Items, sel.Dropped)
	}
	if tokens != sel.Tokens || tokens > budget {
		t.Errorf("%d tokens, want %d within %d", sel.Tokens, tokens, budget)
	}
	for _, pt := range sel.Frontier {
		n := 0
		for _, i := range pt.Items {
			n += o.Count(texts[i].String())
		}
		if len(pt.Items) > 0 {
			n += o.Overhead
		}
		if n != pt.Tokens || !slices.IsSorted(pt.Items) {
			t.Errorf("frontier point %v has %d tokens", pt, n)
		}
	}
}

func TestFromTextsScope(t *testing.T) {
	for _, tt := range []struct {
		query string
		want  string
	}{
		{"refund order email weather payment forecast", "all 5 candidates"},
		{"refund the order", "all 3 candidates: the most relevant that fit, of 5 texts"},
	} {
		sel, err := FromTexts(context.Background(), tt.query, desk, 1000, nil)
		if err != nil {
			t.Fatal(err)
		}
		if sel.Guarantee.Scope != tt.want {
			t.Errorf("%q: %q, want %q", tt.query, sel.Guarantee.Scope, tt.want)
		}
	}
}

func TestFromTextsErrors(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		budget int
		o      *TextOptions
		want   error
		text   string
	}{
		{"budget", context.Background(), -1, nil, ErrBudget, "-1 tokens"},
		{"keep", context.Background(), 9, &TextOptions{Keep: -1}, nil, "bps: TextOptions.Keep is -1"},
		{"count", context.Background(), 9, &TextOptions{Count: func(string) int { return -4 }}, ErrTokens, `Count gives -4 for text 1, "issue_refund"`},
		{"overhead", context.Background(), 9, &TextOptions{Overhead: -1}, ErrTokens, "overhead"},
		{"price", context.Background(), 9, &TextOptions{PenaltyPerToken: -1}, ErrPenalty, "-1"},
		{"penalty", context.Background(), 9, &TextOptions{Penalty: func(n int) float64 { return -float64(n) }}, ErrPenalty, "falls"},
		{"pool", context.Background(), 9, &TextOptions{Select: &Options{MaxPool: -1}}, nil, "bps: Options.MaxPool"},
		{"context", ended, 9, nil, context.Canceled, "after 0 of 5 texts"},
	} {
		sel, err := FromTexts(tt.ctx, "refund the payment", desk, tt.budget, tt.o)
		if sel != nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.text) {
			t.Errorf("%s: got %v, %v; want nil, %v with %q", tt.name, sel, err, tt.want, tt.text)
		}
	}
	for _, left := range []int{len(desk), len(desk) + 1} { // at each of two clauses
		sel, err := FromTexts(&countdown{Context: context.Background(), left: left}, "send email, forecast weather", desk, 1000, nil)
		if !errors.Is(err, context.Canceled) || sel != nil {
			t.Errorf("stopped before the search: %+v, %v, want nil", sel, err)
		}
	}
	if sel, err := FromTexts(ended, "x", nil, 9, nil); !errors.Is(err, context.Canceled) || sel != nil {
		t.Errorf("stopped before the search without texts: %+v, %v, want nil", sel, err)
	}
	// Stopped in the search: the best so far, in positions of the texts.
	sel, err := FromTexts(&countdown{Context: context.Background(), left: len(desk) + 2 + 2 + 1}, "send email, forecast weather", desk, 1000, nil)
	if !errors.Is(err, context.Canceled) || sel == nil || len(sel.Items) == 0 || sel.Guarantee.Factor != 0 {
		t.Errorf("stopped in the search: %+v, %v", sel, err)
	}
}

func TestTextString(t *testing.T) {
	for _, tt := range []struct {
		text Text
		want string
	}{
		{Text{}, ""},
		{Text{"a", "b", "c"}, "a\nb\nc\n"},
		{Text{Name: "a", Body: "c"}, "a\nc\n"},
	} {
		if got := tt.text.String(); got != tt.want {
			t.Errorf("%#v: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzFromTexts(f *testing.F) {
	f.Add("look up the order, then send mail", "get_order\nsend_mail\nweather", 20, 3, 0.001)
	f.Add("", "", 0, 0, 0.0)
	f.Add("返金する。 and and then", "返金\x00 \xff\n\n\nthen", 5, 1, 1.0)
	f.Fuzz(func(t *testing.T, query, lines string, budget, overhead int, price float64) {
		var texts []Text
		for line := range strings.SplitSeq(lines, "\n") {
			name, rest, _ := strings.Cut(line, " ")
			texts = append(texts, Text{Name: name, Description: rest, Body: line})
		}
		o := TextOptions{Count: EstimateTokens, Overhead: overhead, PenaltyPerToken: price, Keep: 20}
		sel, err := FromTexts(context.Background(), query, texts, budget, &o)
		if err != nil {
			if sel != nil || budget >= 0 && overhead >= 0 && price >= 0 && finite(price) {
				t.Fatalf("%v, %v", sel, err)
			}
			return
		}
		checkTexts(t, sel, texts, budget, o)
		if sel.Objective < 0 {
			t.Fatalf("objective %v is below that of the empty set", sel.Objective)
		}
	})
}

// mcpTools reads the tools of the test data: about 3,400 of them.
func mcpTools(t testing.TB) []Text {
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set")
	}
	f, err := os.Open(filepath.Join(dir, "mcp", "tools.jsonl"))
	if err != nil {
		t.Skipf("no test data: %v", err)
	}
	defer f.Close()
	var texts []Text
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var server struct {
			Tools []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				InputSchema json.RawMessage `json:"input_schema"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(lines.Bytes(), &server); err != nil {
			t.Fatal(err)
		}
		for _, tool := range server.Tools {
			texts = append(texts, Text{Name: tool.Name, Description: tool.Description, Body: string(tool.InputSchema)})
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestFromTextsMCP(t *testing.T) {
	texts := mcpTools(t)
	o := TextOptions{Count: EstimateTokens}
	sel, err := FromTexts(context.Background(), "search the web for recent papers and send a summary by email", texts, 2000, &o)
	if err != nil {
		t.Fatal(err)
	}
	checkTexts(t, sel, texts, 2000, o)
	var chosen []string
	for _, i := range sel.Items {
		chosen = append(chosen, texts[i].Name)
	}
	names := strings.Join(chosen, " ")
	for _, want := range []string{"search", "mail"} {
		if !strings.Contains(strings.ToLower(names), want) {
			t.Errorf("no tool for %q among %s", want, names)
		}
	}
	t.Logf("%d of %d texts, %d tokens: %s", len(sel.Items), len(texts), sel.Tokens, names)
}

func BenchmarkFromTexts(b *testing.B) {
	for _, n := range []int{100, 1000} {
		rng := newRand(1)
		texts := make([]Text, n)
		for i := range texts {
			var body strings.Builder
			for range 60 {
				fmt.Fprintf(&body, "word%d ", int(rng.ExpFloat64()*300))
			}
			texts[i] = Text{Name: fmt.Sprintf("tool%d", i), Description: body.String()[:100], Body: body.String()}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := FromTexts(context.Background(), "word3 word40, then word7 word110 and word400 word2", texts, 2000, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("mcp", func(b *testing.B) {
		texts := mcpTools(b)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := FromTexts(context.Background(), "search the web and send a summary by email", texts, 2000, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
