package grounded

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/midtool"
)

func TestScore(t *testing.T) {
	for _, tt := range []struct {
		counts map[Feature]int
		want   int
		reason string
	}{
		{nil, 0, "nothing is shown"},
		{map[Feature]int{Endpoint: 1, Param: 3}, 3600, "1 - (1 - 0.6/3)(1 - 0.4 3/6) = 0.36"},
		{map[Feature]int{Endpoint: 3, Param: 6}, 7600, "1 - 0.4 0.6"},
		{map[Feature]int{Command: 4, Step: 4, Param: 2}, 6464, "1 - 0.6 0.68 0.8666..."},
		{map[Feature]int{Step: 5, Value: 10}, 5200, "1 - 0.6 0.8"},
		{map[Feature]int{Endpoint: 3, Param: 6, Value: 10}, 8080, "1 - 0.4 0.6 0.8"},
		{map[Feature]int{Endpoint: 3, Param: 6, Value: 1000}, 8080, "more than the cap adds nothing"},
	} {
		if got := score(tt.counts); got != tt.want {
			t.Errorf("%v: %d, want %d: %s", tt.counts, got, tt.want, tt.reason)
		}
	}
}

func TestPlan(t *testing.T) {
	tool := midtool.Tool{Name: "get_user", Parameters: []byte(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`)}
	list := midtool.Tool{Name: "list_users", Parameters: []byte(`{"type":"object","properties":{}}`)}
	all := map[Feature]int{Endpoint: 1, Param: 1, Step: 1, ErrorRef: 1}
	steps := []Span{{0, 1}, {2, 3}, {4, 5}}
	kinds := func(items []Item) string {
		var out []string
		for _, it := range items {
			out = append(out, it.Kind)
		}
		return strings.Join(out, " ")
	}
	const questions = "tool_selection argument_extraction workflow_recognition prerequisite output_use error_reading"
	for _, tt := range []struct {
		name    string
		profile Profile
		tokens  int
		opts    Options
		tier    Tier
		budget  int
		items   string
		reason  string
	}{
		{"poor", Profile{Score: 3600, Tools: []midtool.Tool{tool}}, 1000, Options{}, TierText, 0, "", "a score below 5000"},
		{"short", Profile{Score: 9000, Tools: []midtool.Tool{tool}}, 63, Options{}, TierText, 0, "", "fewer than 64 tokens"},
		{"thin", Profile{Score: 5100, Counts: all}, 1000, Options{}, TierText, 0, "", "150 1000 100 / 500000 = 30, below 160"},
		{"two calls", Profile{Score: 7600, Tools: []midtool.Tool{tool}, Steps: steps, Counts: all}, 1000, Options{}, TierTrajectory, 780, "single parallel",
			"780: no chain for 900, then 350 and 350; the 80 left buy no question"},
		{"no tool", Profile{Score: 7600, Counts: all}, 1000, Options{}, TierQA, 780, "tool_selection argument_extraction workflow_recognition prerequisite",
			"no tool: 4 questions for 160 each"},
		{"questions", Profile{Score: 6464, Tools: []midtool.Tool{tool}, Counts: map[Feature]int{Step: 4}}, 1000, Options{}, TierQA, 439,
			"workflow_recognition prerequisite", "150 1000 1464 / 500000 = 439; steps alone"},
		{"larger", Profile{Score: 8080}, 2000, Options{}, TierQA, 1848, "", "150 2000 3080 / 500000 = 1848; nothing to ask about"},
		{"all", Profile{Score: 10000, Tools: []midtool.Tool{tool, list}, Counts: all, Values: []Span{{0, 1}}}, 1 << 20, Options{}, TierTrajectory, 4096,
			"chain single parallel " + questions + " " + questions, "an edge makes a chain; 900 + 700 + 12 160 = 3520 of 4096"},
		{"cap", Profile{Score: 10000, Counts: all}, 1 << 20, Options{Cap: new(200)}, TierQA, 200, "tool_selection", "one fits"},
		{"nothing", Profile{Score: 10000, Counts: all}, 1 << 20, Options{Percent: new(0)}, TierText, 0, "", "no augmentation"},
		{"strict", Profile{Score: 10000, Counts: all}, 1000, Options{MinScore: new(10000)}, TierQA, 1500, questions + " tool_selection argument_extraction workflow_recognition",
			"a threshold of 10000 leaves the percentage alone"},
	} {
		got, err := Plan(&tt.profile, tt.tokens, &tt.opts)
		if err != nil {
			t.Fatal(tt.name, err)
		}
		if got.Tier != tt.tier || got.Budget != tt.budget || kinds(got.Items) != tt.items {
			t.Errorf("%s: %s %d %s, want %s %d %s: %s", tt.name, got.Tier, got.Budget, kinds(got.Items), tt.tier, tt.budget, tt.items, tt.reason)
		}
	}
}

// The conversation that shows a long part of a document costs what it shows.
func TestPlanLongContext(t *testing.T) {
	p := Profile{Score: 10000, Values: []Span{{0, 1}},
		Tools: []midtool.Tool{{Name: "get_time", Parameters: []byte(`{"type":"object","properties":{}}`)}}}
	for tokens, want := range map[int][]Item{
		2047: {{"single", 350}},
		2048: {{"single", 350}, {"long_context", 1374}},
	} {
		got, err := Plan(&p, tokens, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Items); diff != "" {
			t.Errorf("%d tokens (-want +got):\n%s", tokens, diff)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		opts Options
		want string
	}{
		{Options{MinScore: new(-1)}, "MinScore -1 is outside [0, 10000]"},
		{Options{MinTrajectoryScore: new(10001)}, "MinTrajectoryScore 10001"},
		{Options{MinTokens: new(-1)}, "MinTokens -1"}, {Options{Percent: new(10001)}, "Percent 10001"}, {Options{Cap: new(-1)}, "Cap -1"},
		{Options{CostQA: -1}, "CostQA -1"}, {Options{CostTrajectory: -1}, "CostTrajectory -1"}, {Options{CostChain: -1}, "CostChain -1"},
		{Options{Attempts: 11}, "Attempts 11"}, {Options{MaxTokens: 255}, "MaxTokens 255"}, {Options{Answers: "x"}, "without a Teacher"},
	} {
		_, err := New(&tt.opts)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
		if _, err := Plan(&Profile{}, 0, &tt.opts); err == nil {
			t.Errorf("Plan takes what New refuses: %s", tt.want)
		}
	}
	for _, p := range []*Profile{nil, {Score: -1}, {Score: 10001}} {
		if _, err := Plan(p, 0, nil); err == nil {
			t.Errorf("%v: no error", p)
		}
	}
	if _, err := Plan(&Profile{}, -1, nil); err == nil {
		t.Error("-1 tokens: no error")
	}
}
