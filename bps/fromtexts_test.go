package bps

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
		want   []clause
		reason string
	}{
		{"find order status and refund payment", []clause{
			{"find order status", []string{"find", "order", "status"}},
			{"refund payment", []string{"refund", "payment"}},
			{"find order status and refund payment", []string{"find", "order", "status", "refund", "payment"}},
		}, "cut at and; a sentence that was cut is a clause too"},
		{"Find orders, THEN refund payment. Send  mail.", []clause{
			{"Find orders", []string{"find", "orders"}},
			{"refund payment", []string{"refund", "payment"}},
			{"Find orders, THEN refund payment", []string{"find", "orders", "refund", "payment"}},
			{"Send mail", []string{"send", "mail"}},
		}, "comma, then, end"},
		{"find orders, then", []clause{{"find orders", []string{"find", "orders"}}}, "a joint at the end is no part"},
		{"price is 3.50 dollars", []clause{{"price is 3.50 dollars", []string{"price", "50", "dollars"}}}, "no cut inside a number"},
		{"list handles and sandals", []clause{
			{"list handles", []string{"list", "handles"}},
			{"list handles and sandals", []string{"list", "handles", "sandals"}},
		}, "and inside words is none; sandals is too short for a clause, but the sentence has it"},
		{"refund", []clause{{wholeQuery, []string{"refund"}}}, "no clause of two words: the whole query"},
		{"flights, hotels", []clause{{"flights, hotels", []string{"flights", "hotels"}}}, "two parts of one word, one sentence of two"},
		{"flights. hotels", []clause{{wholeQuery, []string{"flights", "hotels"}}}, "no clause of two words: the whole query"},
		{"", []clause{{wholeQuery, nil}}, "one clause without words"},
		{"the, and of it", []clause{{wholeQuery, nil}}, "stop words alone"},
		{"open file\nclose file", []clause{{"open file", []string{"open", "file"}}, {"close file", []string{"close", "file"}}}, "lines"},
		{"注文を返金。天気予報", []clause{
			{"注文を返金", []string{"注文", "文を", "を返", "返金"}},
			{"天気予報", []string{"天気", "気予", "予報"}},
		}, "marks that need no space"},
		{"call getOrder; call get_refund!", []clause{
			{"call getOrder", []string{"call", "get", "order"}},
			{"call get_refund", []string{"call", "get", "refund"}},
		}, "names are split"},
		{"refund the refund payment", []clause{{"refund the refund payment", []string{"refund", "payment"}}}, "each word counts once"},
	} {
		if diff := cmp.Diff(tt.want, clauses(tt.query), cmp.AllowUnexported(clause{})); diff != "" {
			t.Errorf("clauses(%q), %s (-want +got):\n%s", tt.query, tt.reason, diff)
		}
	}
	if got := len(clauses(strings.Repeat("find orders. ", 100))); got != maxClauses {
		t.Errorf("%d clauses of 100 sentences, want %d", got, maxClauses)
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
	long := slices.Insert(slices.Clone(desk), 0, Text{Name: "look_order_status_send_customer_email_message",
		Body: strings.Repeat("order status ", 50)})
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
		{"two needs", query, desk, 30, TextOptions{}, []int{3, 0}, []Drop{{4, DropNoMatch}},
			"one text for each clause; both refund texts are 3rd and 4th"},
		{"one fits", query, desk, 8, TextOptions{}, []int{3}, []Drop{{0, DropOverBudget}, {1, DropOverBudget}, {2, DropOverBudget}, {4,
			DropNoMatch}}, "7 words"},
		{"large text", query, long, 24, TextOptions{Keep: 2}, []int{4, 1},
			[]Drop{{0, DropOverBudget}, {2, DropRelevance}, {3, DropRelevance}, {5, DropNoMatch}}, "a text that does not fit takes no place"},
		{"just too large", query, slices.Concat([]Text{{Name: "look_order_status_send_customer_email_message",
			Body: strings.Repeat("order status ", 12)}}, desk), 24,
			TextOptions{Keep: 2}, []int{4, 1}, []Drop{{0, DropOverBudget}, {2, DropRelevance}, {3, DropRelevance}, {5, DropNoMatch}}, "25 words"},
		{"more than there are", query, desk, 1000, TextOptions{Keep: 99}, []int{3, 0, 1, 2}, []Drop{{4, DropNoMatch}},
			"langchain 1186: k larger than the number of documents"},
		{"price", query, desk, 1000, TextOptions{PenaltyPerToken: 10}, nil, []Drop{{4, DropNoMatch}}, "nothing is worth its tokens"},
		{"overhead", query, desk, 8, TextOptions{Overhead: 9}, nil,
			[]Drop{{0, DropOverhead}, {1, DropOverhead}, {2, DropOverhead}, {3, DropOverhead}, {4, DropNoMatch}}, "the header does not fit"},
		{"prefilter", query, desk, 1000, TextOptions{Search: &Options{MaxPool: 1}}, []int{3, 0, 1, 2},
			[]Drop{{4, DropNoMatch}}, "where one candidate is searched, the chains of Level0 still look at all"},
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
	pinned := func(pinned, excluded []int) *TextOptions { return &TextOptions{Pinned: pinned, Excluded: excluded} }
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		budget int
		o      *TextOptions
		want   error
		text   string
	}{
		{"pinned index", context.Background(), 99, pinned([]int{0, 5}, nil), ErrIndex, "Pinned has text 5, want one of 0..4"},
		{"pinned twice", context.Background(), 99, pinned([]int{2, 0, 2}, nil), ErrIndex, "Pinned has text 2 twice"},
		{"excluded index", context.Background(), 99, pinned(nil, []int{-1}), ErrIndex, "Excluded has text -1, want one of 0..4"},
		{"excluded twice", context.Background(), 99, pinned(nil, []int{3, 3}), ErrIndex, "Excluded has text 3 twice"},
		{"both", context.Background(), 99, pinned([]int{3}, []int{3}), ErrIndex, "text 3 is in Pinned and in Excluded"},
		{"pinned budget", context.Background(), 50, pinned([]int{0, 1}, nil), ErrBudget, "50 tokens, but pinned text 1 needs"},
		{"pinned overhead", context.Background(), 5, &TextOptions{Pinned: []int{4}, Overhead: 6}, ErrBudget, "leave -1"},
		{"pinned, negative budget", context.Background(), -1, pinned([]int{4}, nil), ErrBudget, "-1 tokens, want >= 0"},
		{"pinned count", context.Background(), 9, &TextOptions{Pinned: []int{4}, Count: func(string) int { return -4 }}, ErrTokens,
			`text 4, "weather"`},
		{"named count", context.Background(), 9, &TextOptions{PinNamed: true, Count: func(string) int { return -4 }}, ErrTokens,
			`text 1, "issue_refund"`},
		{"recheck", context.Background(), 999, &TextOptions{Pinned: []int{4}, Search: &Options{Recheck: func([]int) int { return -2 }}},
			ErrTokens,
			"Options.Recheck gives -2 for the set [1 2 4]"},
		{"budget", context.Background(), -1, nil, ErrBudget, "-1 tokens"},
		{"keep", context.Background(), 9, &TextOptions{Keep: -1}, nil, "bps: TextOptions.Keep is -1"},
		{"count", context.Background(), 9, &TextOptions{Count: func(string) int { return -4 }}, ErrTokens,
			`Count gives -4 for text 1, "issue_refund"`},
		{"overhead", context.Background(), 9, &TextOptions{Overhead: -1}, ErrTokens, "overhead"},
		{"price", context.Background(), 9, &TextOptions{PenaltyPerToken: -1}, ErrPenalty, "-1"},
		{"penalty", context.Background(), 9, &TextOptions{Penalty: func(n int) float64 { return -float64(n) }}, ErrPenalty, "falls"},
		{"pool", context.Background(), 9, &TextOptions{Search: &Options{MaxPool: -1}}, nil, "bps: Options.MaxPool"},
		{"context", ended, 9, nil, context.Canceled, "after 0 of 5 texts"},
	} {
		sel, err := FromTexts(tt.ctx, "refund the payment", desk, tt.budget, tt.o)
		if sel != nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.text) {
			t.Errorf("%s: got %v, %v; want nil, %v with %q", tt.name, sel, err, tt.want, tt.text)
		}
	}
	for _, left := range []int{len(desk), len(desk) + 1, len(desk) + 2} { // at each of three clauses
		sel, err := FromTexts(&countdown{Context: context.Background(), left: left}, "send email, forecast weather", desk, 1000, nil)
		if !errors.Is(err, context.Canceled) || sel != nil {
			t.Errorf("stopped before the search: %+v, %v, want nil", sel, err)
		}
	}
	if sel, err := FromTexts(ended, "x", nil, 9, nil); !errors.Is(err, context.Canceled) || sel != nil {
		t.Errorf("stopped before the search without texts: %+v, %v, want nil", sel, err)
	}
	// Stopped in the search: the best so far, in positions of the texts.
	some := false
	for left := len(desk) + 3; ; left++ {
		sel, err := FromTexts(&countdown{Context: context.Background(), left: left}, "send email, forecast weather", desk, 1000, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) || sel == nil || sel.Guarantee.Factor != 0 {
			t.Errorf("stopped in the search: %+v, %v", sel, err)
		}
		checkTexts(t, sel, desk, 1000, TextOptions{Count: EstimateTokens})
		some = some || len(sel.Items) > 0
	}
	if !some {
		t.Error("stopped in the search: never anything chosen")
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

// Pinned and excluded texts, by position and by name. Words are tokens.
func TestFromTextsPinned(t *testing.T) {
	const query = "look up the order status and send the customer an email message"
	for _, tt := range []struct {
		name   string
		query  string
		budget int
		o      TextOptions
		items  []int
		drops  map[int]DropReason
		reason string
	}{
		{"pinned without a match", query, 30, TextOptions{Pinned: []int{4}}, []int{0, 3, 4}, map[int]DropReason{}, "5 + 7 + 15 words"},
		{"pinned alone fits", query, 5, TextOptions{Pinned: []int{4}}, []int{4},
			map[int]DropReason{0: DropOverBudget, 1: DropOverBudget, 2: DropOverBudget, 3: DropOverBudget}, "what is left decides"},
		{"beyond keep", query, 99, TextOptions{Pinned: []int{4, 2}, Keep: 1}, []int{2, 3, 4},
			map[int]DropReason{0: DropRelevance, 1: DropRelevance}, "pinned texts take no place"},
		{"excluded", query, 30, TextOptions{Excluded: []int{0, 4}}, []int{1, 3}, map[int]DropReason{0: DropExcluded, 4: DropExcluded},
			"the next best fills in"},
		{"no match", "quantum", 99, TextOptions{Pinned: []int{1}}, []int{1},
			map[int]DropReason{0: DropNoMatch, 2: DropNoMatch, 3: DropNoMatch, 4: DropNoMatch}, "the pinned ones alone"},
		{"price", query, 99, TextOptions{Pinned: []int{4}, PenaltyPerToken: 10}, []int{4}, map[int]DropReason{},
			"a price does not matter to them"},
		{"named", "use refund_policy to answer the customer", 16, TextOptions{PinNamed: true}, []int{2},
			map[int]DropReason{0: DropNoMatch, 1: DropOverBudget, 3: DropOverBudget, 4: DropNoMatch},
			"codex 21503: the exact name was missed; without the name it would lose to send_email"},
		{"named as words", "Issue Refund for the order", 99, TextOptions{PinNamed: true, PenaltyPerToken: 10}, []int{1},
			map[int]DropReason{3: DropNoMatch, 4: DropNoMatch}, "the words of the name, one after another"},
		{"not named", query, 99, TextOptions{PinNamed: true, PenaltyPerToken: 10}, nil, map[int]DropReason{4: DropNoMatch},
			"send and email are apart"},
		{"named and excluded", "weather for the city", 99, TextOptions{PinNamed: true, Excluded: []int{4}}, nil,
			map[int]DropReason{0: DropNoMatch, 1: DropNoMatch, 2: DropNoMatch, 3: DropNoMatch, 4: DropExcluded}, "excluded wins"},
		{"named and pinned", "weather for the city", 99, TextOptions{PinNamed: true, Pinned: []int{4}}, []int{4},
			map[int]DropReason{0: DropNoMatch, 1: DropNoMatch, 2: DropNoMatch, 3: DropNoMatch}, "once"},
		{"too many named", "weather, send_email, refund_policy", 21, TextOptions{PinNamed: true, PenaltyPerToken: 10}, []int{2, 4},
			map[int]DropReason{0: DropNoMatch, 1: DropOverBudget, 3: DropOverBudget}, "16 words of the longest name, 7 do not fit any more, 5 do"},
		{"named overhead", "weather", 4, TextOptions{PinNamed: true, Overhead: 9}, nil,
			map[int]DropReason{0: DropNoMatch, 1: DropNoMatch, 2: DropNoMatch, 3: DropNoMatch, 4: DropOverhead},
			"a name is no error where Pinned would be"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason given")
			}
			tt.o.Count = words
			sel, err := FromTexts(context.Background(), tt.query, desk, tt.budget, &tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.items, slices.Sorted(slices.Values(sel.Items))); diff != "" {
				t.Errorf("items, %s (-want +got):\n%s", tt.reason, diff)
			}
			drops := map[int]DropReason{}
			for _, d := range sel.Dropped {
				drops[d.Item] = d.Reason
			}
			if diff := cmp.Diff(tt.drops, drops); diff != "" {
				t.Errorf("dropped, %s (-want +got):\n%s", tt.reason, diff)
			}
			checkTexts(t, sel, desk, tt.budget, tt.o)
		})
	}
}

func TestNamed(t *testing.T) {
	for _, tt := range []struct {
		query  string
		names  []string
		want   []int
		reason string
	}{
		{"run get_order now", []string{"get_order", "order", "get", "run"}, []int{0, 3}, "a name within a longer one does not count"},
		{"get_order of an order", []string{"get_order", "order"}, []int{0, 1}, "unless the query has it elsewhere too"},
		{"GetOrder", []string{"get-order"}, []int{0}, "letter case and punctuation aside"},
		{"get the order", []string{"get order"}, []int{0}, "stop words aside"},
		{"order get", []string{"get_order"}, nil, "in this order only"},
		{"forget orders", []string{"get_order", "get"}, nil, "whole words"},
		{"write C++ code", []string{"C++", "C", "++", "code"}, []int{3, 0},
			"without words, as it is; C stands within C++; the longer name first"},
		{"C and C++", []string{"C++", "C"}, []int{0, 1}, "each somewhere"},
		{"abC Cx C1", []string{"C"}, nil, "not within a word"},
		{"a b a b a", []string{"a b a", "b"}, []int{0}, "single letters are no words: as it is, also where two overlap"},
		{"how to do it", []string{"how to", "", "  ", "do"}, []int{0, 3}, "stop words alone are compared as they are; an empty name is none"},
		{"mail mail", []string{"mail", "post", "mail"}, []int{0, 2}, "two texts of one name, each once"},
		{"注文を返金する", []string{"返金", "返金する", "注"}, []int{1}, "no spaces needed; one sign alone is not looked for within others"},
		{"alpha beta gamma", []string{"alpha beta", "beta gamma", "beta"}, []int{0, 1}, "names that overlap both count"},
		{"天 C", []string{"\xa4", "\xe5", "\xe5\xa4", "\xa9 C", "C"}, []int{4}, "bytes that are no letters do not cut one"},
		{"\xff\xfe", []string{"\xff\xfe"}, []int{0}, "bytes that are no letters as they are"},
		{"mail C", []string{"C", "mail", "C", "post", "mail"}, []int{1, 4, 0, 2}, "texts of one name in their order"},
		{"", []string{"x", ""}, nil, "no query"},
	} {
		got := named(tt.query, len(tt.names), func(i int) name { return newName(tt.names[i]) })
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q names of %q: %s (-want +got):\n%s", tt.query, tt.names, tt.reason, diff)
		}
	}
}

// Many texts of one name that the query has many times take no memory for each pair, which would be 96 MB here.
func TestNamedRepeats(t *testing.T) {
	const n = 2000
	query := strings.Repeat("mail ", n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := named(query, n, func(int) name { return name{words: " mail "} })
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; len(got) != n || bytes > 16<<20 {
		t.Errorf("%d texts in %d bytes, want %d in at most 16 MiB", len(got), bytes, n)
	}
}

// No number of candidates is too large.
func TestFromTextsKeepsAll(t *testing.T) {
	all := &TextOptions{Count: words, Keep: len(desk), Pinned: []int{4}}
	want, err := FromTexts(context.Background(), "refund the payment", desk, 30, all)
	if err != nil {
		t.Fatal(err)
	}
	all.Keep = math.MaxInt
	got, err := FromTexts(context.Background(), "refund the payment", desk, 30, all)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Selection{})); err != nil || diff != "" {
		t.Errorf("%v (-all +more):\n%s", err, diff)
	}
}

// Named texts that fit one by one, but not when counted as a whole or not into what the penalty allows, are not all pinned; no error.
func TestFromTextsNamedTooMuch(t *testing.T) {
	texts := []Text{{Name: "mail"}, {Name: "calendar"}, {Name: "forecast"}}
	for _, tt := range []struct {
		name   string
		budget int
		o      TextOptions
		want   []int
		reason string
	}{
		{"all", 3, TextOptions{}, []int{1, 2, 0}, "three words"},
		{"recheck", 30, TextOptions{Search: &Options{Recheck: func(set []int) int { return 12 * len(set) }}}, []int{1, 2},
			"two of them have 24 tokens as a whole"},
		{"recheck with pinned", 30, TextOptions{Pinned: []int{0}, Search: &Options{Recheck: func(set []int) int { return 12 * len(set) }}},
			[]int{0, 1}, "one is left for names"},
		{"recheck of nothing", 30, TextOptions{Search: &Options{Recheck: func(set []int) int { return 31 }}}, nil, "not even one"},
		{"penalty", 30, TextOptions{Penalty: func(n int) float64 {
			if n > 2 {
				return math.Inf(1)
			}
			return 0
		}}, []int{1, 2}, "three tokens are forbidden"},
	} {
		o := tt.o
		o.PinNamed, o.Count = true, words
		sel, err := FromTexts(context.Background(), "forecast, mail, calendar", texts, tt.budget, &o)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		slices.Sort(tt.want)
		if got := slices.Sorted(slices.Values(sel.Items)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v (%s)", tt.name, got, tt.want, tt.reason)
		}
		sameAsIndex(t, "forecast, mail, calendar", texts, tt.budget, o, sel, nil)
	}
}

// A word that the query repeats counts once, for the query and for its clauses.
func TestFromTextsRepeats(t *testing.T) {
	var got [2]*Selection
	for k, query := range []string{"weather, refund payment order", "weather weather, refund the refund payment of the order order order"} {
		sel, err := FromTexts(context.Background(), query, desk, 30, &TextOptions{Count: words})
		if err != nil {
			t.Fatal(err)
		}
		got[k] = sel
	}
	if diff := cmp.Diff(got[0], got[1], cmpopts.IgnoreUnexported(Selection{})); diff != "" {
		t.Errorf("(-once +repeated):\n%s", diff)
	}
}

// Explain speaks of positions in the texts and of clauses by their words.
func TestFromTextsExplain(t *testing.T) {
	o := &TextOptions{Count: words, Excluded: []int{0}}
	sel, err := FromTexts(context.Background(), "forecast for the city, then send a message", desk, 12, o)
	if err != nil {
		t.Fatal(err)
	}
	serves := map[int][]string{}
	for _, r := range sel.Explain() {
		serves[r.Item] = nil
		for _, part := range r.Serves {
			serves[r.Item] = append(serves[r.Item], part.Name)
		}
		if r.Chosen != slices.Contains(sel.Items, r.Item) {
			t.Errorf("chosen is %v for %d of %v", r.Chosen, r.Item, sel.Items)
		}
	}
	if !slices.Contains(serves[4], "forecast for the city") || slices.Contains(serves[4], "send a message") {
		t.Errorf("the weather serves %q", serves[4])
	}
	if !slices.Contains(serves[3], "send a message") || !slices.Contains(serves[3], wholeQuery) {
		t.Errorf("the mail serves %q", serves[3])
	}
	if _, ok := serves[0]; !ok {
		t.Errorf("nothing is said about the excluded text: %v", serves)
	}
}

// What all texts share is counted once, as overhead: counters of peers took it for each of them (claude-code 9425, sentry-mcp 596).
func TestFromTextsSharedPrelude(t *testing.T) {
	const query = "look up the order status and send the customer an email message"
	prelude := strings.Repeat("prelude ", 100)
	each := TextOptions{Count: func(s string) int { return words(prelude + s) }}
	once := TextOptions{Count: words, Overhead: 100}
	sel, err := FromTexts(context.Background(), query, desk, 130, &once)
	if err != nil {
		t.Fatal(err)
	}
	if sel.Tokens != 122 || len(sel.Items) != 2 {
		t.Errorf("%d tokens of %v, want 100 + 15 + 7", sel.Tokens, sel.Items)
	}
	if sel, err = FromTexts(context.Background(), query, desk, 130, &each); err != nil || len(sel.Items) != 1 {
		t.Errorf("%v, %v: counted with each text, the prelude leaves room for one", sel, err)
	}
}

// The rendered whole is counted by positions of texts, and what is taken out is named by them.
func TestFromTextsRecheck(t *testing.T) {
	var seen [][]int
	o := TextOptions{Count: words, Pinned: []int{4}, Search: &Options{Recheck: func(set []int) int {
		seen = append(seen, slices.Clone(set))
		return 15 * len(set)
	}}}
	sel, err := FromTexts(context.Background(), "look up the order status and send the customer an email message", desk, 30, &o)
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 || !slices.Equal(seen[0], []int{0, 3, 4}) {
		t.Errorf("counted %v, want [0 3 4] first", seen)
	}
	if len(sel.Items) != 2 || !slices.Contains(sel.Items, 4) || sel.Rechecked == nil || sel.Rechecked.Tokens != 30 {
		t.Errorf("%v, %+v: want two texts, the pinned one among them", sel.Items, sel.Rechecked)
	}
	for _, i := range sel.Rechecked.Removed {
		if slices.Contains(sel.Items, i) || i == 4 || i >= len(desk) {
			t.Errorf("removed %v, kept %v", sel.Rechecked.Removed, sel.Items)
		}
	}
	// A counter that wants one text at most, whatever the budget: the last ones are taken out.
	o.Search.Recheck = func(set []int) int { return []int{0, 40, 1000, 2000, 3000, 4000}[len(set)] }
	if sel, err = FromTexts(context.Background(), "look up the order status and send the customer an email message", desk, 99,
		&o); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sel.Items, []int{4}) || slices.Contains(sel.Rechecked.Removed, 4) || len(sel.Rechecked.Removed) == 0 {
		t.Errorf("%v left and %v removed, want the pinned text alone", sel.Items, sel.Rechecked.Removed)
	}
}

// Long queries and long texts take time in proportion, and no more clauses than the search can bear.
func TestFromTextsHuge(t *testing.T) {
	var query strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&query, "find order%d, send mail%d and ", i, i)
	}
	texts := append(slices.Clone(desk), Text{Name: "order7", Body: strings.Repeat("order7 mail8 ", 20_000)})
	o := TextOptions{Count: words, PinNamed: true}
	sel, err := FromTexts(context.Background(), query.String(), texts, 1<<40, &o)
	if err != nil {
		t.Fatal(err)
	}
	checkTexts(t, sel, texts, 1<<40, o)
	if !slices.Contains(sel.Items, 5) {
		t.Errorf("%v chosen, want the named text among them", sel.Items)
	}
}

func FuzzFromTexts(f *testing.F) {
	f.Add("look up the order, then send mail", "get_order\nsend_mail\nweather", 20, 3, 0.001, uint8(0), uint8(0))
	f.Add("", "", 0, 0, 0.0, uint8(1), uint8(2))
	f.Add("返金する。 and and then", "返金\x00 \xff\n\n\nthen", 5, 1, 1.0, uint8(9), uint8(3))
	f.Add("call get_order and weather, C++", "get_order\nC++\norder\nweather", 30, 0, 0.0, uint8(4), uint8(3))
	f.Fuzz(func(t *testing.T, query, lines string, budget, overhead int, price float64, pin, exclude uint8) {
		var texts []Text
		for line := range strings.SplitSeq(lines, "\n") {
			name, rest, _ := strings.Cut(line, " ")
			texts = append(texts, Text{Name: name, Description: rest, Body: line})
		}
		o := TextOptions{Count: EstimateTokens, Overhead: overhead, PenaltyPerToken: price, Keep: 20, PinNamed: pin%2 == 0}
		for i := range min(8, len(texts)) {
			switch {
			case exclude>>i&1 != 0:
				o.Excluded = append(o.Excluded, i)
			case pin>>i&1 != 0:
				o.Pinned = append(o.Pinned, i)
			}
		}
		sel, err := FromTexts(context.Background(), query, texts, budget, &o)
		sameAsIndex(t, query, texts, budget, o, sel, err)
		if err != nil {
			if sel != nil || budget >= 0 && overhead >= 0 && price >= 0 && finite(price) && len(o.Pinned) == 0 {
				t.Fatalf("%v, %v", sel, err)
			}
			return
		}
		checkTexts(t, sel, texts, budget, o)
		for _, i := range o.Pinned {
			if !slices.Contains(sel.Items, i) {
				t.Fatalf("%v chosen, want %v among them", sel.Items, o.Pinned)
			}
		}
		for _, i := range o.Excluded {
			if slices.Contains(sel.Items, i) || !slices.Contains(sel.Dropped, Drop{i, DropExcluded}) {
				t.Fatalf("%v chosen, %v dropped, want none of %v", sel.Items, sel.Dropped, o.Excluded)
			}
		}
		if sel.Objective < 0 && len(o.Pinned) == 0 && !o.PinNamed {
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

// benchTexts returns n texts of 200 words and a query of five needs.
func benchTexts(n int) (texts []Text, query string) {
	rng := newRand(1)
	texts = make([]Text, n)
	for i := range texts {
		var body strings.Builder
		for range 197 {
			fmt.Fprintf(&body, "word%d ", int(rng.ExpFloat64()*300))
		}
		texts[i] = Text{Name: fmt.Sprintf("tool%d", i), Description: body.String()[:20], Body: body.String()}
	}
	return texts, "word3 word40, then word7 word110 and word400 word2"
}

func BenchmarkFromTexts(b *testing.B) {
	o := &TextOptions{Search: &Options{Certify: new(false)}}
	for _, n := range []int{100, 1000, 10_000} {
		texts, query := benchTexts(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := FromTexts(context.Background(), query, texts, 2000, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("mcp", func(b *testing.B) {
		texts := mcpTools(b)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := FromTexts(context.Background(), "search the web and send a summary by email", texts, 2000, o); err != nil {
				b.Fatal(err)
			}
		}
	})
}
