package budget_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/budget"
	"github.com/throughline-go/throughline/envharness/envs/game24"
)

func shown(index int, text string, tools ...envharness.Tool) envharness.Turn {
	return envharness.Turn{Index: index, Shown: envharness.Observation{Text: text}, Tools: tools}
}

func newChooser(t testing.TB, tokens int, skills []bps.Text, o *budget.Options) *budget.Chooser {
	t.Helper()
	c, err := budget.New(tokens, skills, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func offer(t testing.TB, c *budget.Chooser, turn envharness.Turn) (string, string) {
	t.Helper()
	instructions, tools, err := c.Offer(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	return instructions, names(tools)
}

// bytesOf counts a byte as a token: parts add up exactly.
func bytesOf(s string) int { return len(s) }

// request is what a request has of a choice, written by a second hand.
func request(instructions string, tools []envharness.Tool) (parts []string) {
	if instructions != "" {
		parts = append(parts, instructions)
	}
	if len(tools) == 0 {
		return parts
	}
	var list []string
	for _, tool := range tools {
		function := []string{`"name":` + quote(tool.Name)}
		if tool.Description != "" {
			function = append(function, `"description":`+quote(tool.Description))
		}
		schema := string(tool.Schema)
		if schema == "" {
			schema = `{"type":"object","properties":{}}`
		}
		function = append(function, `"parameters":`+schema)
		list = append(list, `{"type":"function","function":{`+strings.Join(function, ",")+`}}`)
	}
	return append(parts, "["+strings.Join(list, ",")+"]")
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// An episode is what is drawn for a property: options, and the turns of two episodes.
type episode struct {
	budget  int
	skills  []bps.Text
	options budget.Options
	count   func(string) int
	turns   []envharness.Turn
	called  []string // after each turn, "" for none
}

var word = rapid.SampledFrom([]string{"order", "refund", "mail", "status", "city", "song", "price", "stock", "then", "day."})

func drawEpisode(t *rapid.T) episode {
	phrase := func(label string, most int) string {
		return strings.Join(rapid.SliceOfN(word, 0, most).Draw(t, label), " ")
	}
	var all []envharness.Tool
	for i := range rapid.IntRange(0, 9).Draw(t, "tools") {
		tool := envharness.Tool{
			Name:        fmt.Sprintf("%s_%d", word.Draw(t, "name"), i),
			Description: phrase("description", 8),
			Submits:     rapid.IntRange(0, 7).Draw(t, "submits") == 0,
		}
		if rapid.Bool().Draw(t, "schema") {
			tool.Schema = schema(word.Draw(t, "argument"), phrase("meaning", 4))
		}
		all = append(all, tool)
	}
	e := episode{budget: rapid.IntRange(0, 900).Draw(t, "budget")}
	for i := range rapid.IntRange(0, 3).Draw(t, "skills") {
		e.skills = append(e.skills, bps.Text{Name: fmt.Sprint("skill", i), Description: phrase("about", 4), Body: phrase("body", 9)})
	}
	e.options.Text = &bps.TextOptions{Overhead: rapid.IntRange(0, 9).Draw(t, "overhead"), Keep: rapid.IntRange(0, 4).Draw(t, "keep"),
		PinNamed: rapid.Bool().Draw(t, "pin named"), Search: &bps.Options{BothOrders: rapid.Bool().Draw(t, "both")}}
	if rapid.Bool().Draw(t, "price") {
		e.options.Text.PenaltyPerToken = rapid.SampledFrom([]float64{1e-4, 0.002, 0.1}).Draw(t, "kappa")
	}
	if rapid.Bool().Draw(t, "stay") {
		e.options.Stay = new(rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "share"))
	}
	switch rapid.IntRange(0, 3).Draw(t, "counter") {
	case 0:
		e.count = bps.EstimateTokens
	case 1:
		e.count, e.options.Text.Count = bytesOf, bytesOf
		e.budget *= 3
	case 2: // the whole is more than its parts
		e.count = func(s string) int { return len(s)*len(s)/900 + 1 }
		e.options.Text.Count = e.count
	case 3: // the whole is less than its parts
		e.count = func(s string) int { return int(3 * math.Sqrt(float64(len(s)))) }
		e.options.Text.Count = e.count
		e.budget /= 4
	}
	for _, tool := range all {
		if rapid.IntRange(0, 6).Draw(t, "pinned") == 0 {
			e.options.Pinned = append(e.options.Pinned, tool.Name)
		}
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "turns") {
		tools := slices.DeleteFunc(slices.Clone(all), func(envharness.Tool) bool { return rapid.IntRange(0, 9).Draw(t, "gone") == 0 })
		if rapid.IntRange(0, 4).Draw(t, "shuffled") == 0 {
			tools = rapid.Permutation(tools).Draw(t, "order")
		}
		turn := shown(i, phrase("shown", 12), tools...)
		if rapid.IntRange(0, 3).Draw(t, "refused") == 0 {
			turn.Error = &envharness.ActionError{Message: phrase("refusal", 4)}
		}
		if rapid.IntRange(0, 3).Draw(t, "stated") == 0 {
			turn.Shown.Data = map[string]any{"task": phrase("stated task", 6)}
		}
		e.turns = append(e.turns, turn)
		name := ""
		if len(all) > 0 && rapid.Bool().Draw(t, "calls") {
			name = rapid.SampledFrom(all).Draw(t, "called").Name
		}
		e.called = append(e.called, name)
	}
	return e
}

type answer struct {
	Instructions string
	Tools        []envharness.Tool
	Err          string
	Choice       budget.Choice
}

func (e episode) play(t *rapid.T, c *budget.Chooser) []answer {
	var out []answer
	for i, turn := range e.turns {
		var a answer
		var err error
		if a.Instructions, a.Tools, err = c.Offer(t.Context(), turn); err != nil {
			if !errors.Is(err, bps.ErrBudget) {
				t.Fatal(err)
			}
			a.Err = err.Error()
		} else {
			a.Choice = c.Last()
			a.Choice.Selection = nil
		}
		out = append(out, a)
		if e.called[i] != "" {
			c.Called(e.called[i])
		}
	}
	return out
}

// Whatever is drawn: what is offered is within the budget, counted as a request has it; it has all that may end the episode and all that
// is pinned, in the order of the turn; where there is no price, all is offered where it fits, and all tools where they fit; and it fails
// only if what has to be offered does not fit.
func TestOffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEpisode(t)
		c, err := budget.New(e.budget, e.skills, &e.options)
		if err != nil {
			t.Fatal(err)
		}
		total := func(instructions string, tools []envharness.Tool) (n int) {
			for _, part := range request(instructions, tools) {
				n += e.count(part)
			}
			if n > 0 {
				n += e.options.Text.Overhead
			}
			return n
		}
		pinned := func(tool envharness.Tool) bool { return tool.Submits || slices.Contains(e.options.Pinned, tool.Name) }
		for i, a := range e.play(t, c) {
			tools := e.turns[i].Tools
			must := slices.DeleteFunc(slices.Clone(tools), func(tool envharness.Tool) bool { return !pinned(tool) })
			if a.Err != "" {
				if n := total("", must); n <= e.budget {
					t.Fatalf("turn %d: %d of %d tokens: %s", i, n, e.budget, a.Err)
				}
				for _, tool := range must[:min(len(must), 8)] {
					if !strings.Contains(a.Err, fmt.Sprintf("tool %q", tool.Name)) {
						t.Fatalf("turn %d: %q is not named: %s", i, tool.Name, a.Err)
					}
				}
				continue
			}
			if n := total(a.Instructions, a.Tools); n > e.budget || n != a.Choice.Tokens {
				t.Fatalf("turn %d: %d tokens of %d, said to be %d", i, n, e.budget, a.Choice.Tokens)
			}
			at := -1
			for _, tool := range a.Tools {
				k := slices.IndexFunc(tools, func(o envharness.Tool) bool { return o.Name == tool.Name })
				if k <= at || cmp.Diff(tools[k], tool) != "" {
					t.Fatalf("turn %d: %q is at %d after %d", i, tool.Name, k, at)
				}
				at = k
			}
			for _, tool := range must {
				if !slices.ContainsFunc(a.Tools, func(o envharness.Tool) bool { return o.Name == tool.Name }) {
					t.Fatalf("turn %d: %q is left out", i, tool.Name)
				}
			}
			for k, s := range e.skills {
				if got, want := strings.Contains(a.Instructions, "\""+s.Name+"\""), slices.Contains(a.Choice.Skills, k); got != want {
					t.Fatalf("turn %d: %q is in the instructions: %v, want %v", i, s.Name, got, want)
				}
			}
			if a.Choice.All <= e.budget && e.options.Text.PenaltyPerToken == 0 {
				if len(a.Choice.Skills) != len(e.skills) || len(a.Tools) != len(tools) {
					t.Fatalf("turn %d: %d of %d tokens would be all, but %v and %v were offered",
						i, a.Choice.All, e.budget, a.Choice.Skills, a.Choice.Tools)
				}
			}
			if n := total("", tools); n <= e.budget && e.options.Text.PenaltyPerToken == 0 && len(a.Tools) != len(tools) {
				t.Fatalf("turn %d: all tools take %d of %d tokens, but %d of %d were offered", i, n, e.budget, len(a.Tools), len(tools))
			}
			var chosen []string
			for _, k := range a.Choice.Tools {
				chosen = append(chosen, tools[k].Name)
			}
			if strings.Join(chosen, " ") != names(a.Tools) {
				t.Fatalf("turn %d: offered %s, said to be %v", i, names(a.Tools), chosen)
			}
		}
	})
}

// The same turns and calls give the same, whatever was played before, and a turn that is offered again gives the same.
func TestSameTurnsSameOffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEpisode(t)
		fresh := func() *budget.Chooser {
			c, err := budget.New(e.budget, e.skills, &e.options)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		c := fresh()
		want := e.play(t, c)
		if diff := cmp.Diff(want, e.play(t, fresh())); diff != "" {
			t.Fatalf("another chooser (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, e.play(t, c)); diff != "" {
			t.Fatalf("the next episode (-want +got):\n%s", diff)
		}
		last := e.turns[len(e.turns)-1]
		if a := want[len(want)-1]; a.Err == "" && e.called[len(e.called)-1] == "" {
			_, tools, err := c.Offer(t.Context(), last)
			if err != nil || names(tools) != names(a.Tools) {
				t.Fatalf("%s, %v when offered again, want %s", names(tools), err, names(a.Tools))
			}
		}
	})
}

func long(name, description string) envharness.Tool {
	return envharness.Tool{Name: name, Description: description + strings.Repeat(" -", 60-len(description)/2)}
}

// Each of the tools of the desk takes 232 to 239 bytes.
var desk = []envharness.Tool{
	long("get_order", "Look an order up"), long("list_orders", "All orders of a customer"), long("weather", "Forecast for a city"),
	long("songs", "Titles of an artist"), long("mail", "Send a message"),
}

func TestOffer(t *testing.T) {
	done := envharness.Tool{Name: "done", Submits: true}
	two := request("", []envharness.Tool{desk[0], desk[1], done})[0]
	for _, tt := range []struct {
		name   string
		budget int
		o      budget.Options
		tools  []envharness.Tool
		turns  []string
		want   []string
		reason string
	}{
		{"all", 5000, budget.Options{}, desk, []string{"nothing that matches"}, []string{names(desk)}, "all fits: no search"},
		{"priced", 5000, budget.Options{Text: &bps.TextOptions{PenaltyPerToken: 1e-9}}, desk, []string{"forecast"},
			[]string{"weather"}, "with a price what is of no use is left out"},
		{"priced, no clue", 520, budget.Options{Text: &bps.TextOptions{PenaltyPerToken: 1e-9}}, desk, []string{"xyzzy"}, []string{""},
			"no tool is worth its price"},
		{"by task", 520, budget.Options{}, desk, []string{"look an order up, then send a message"}, []string{"get_order mail"},
			"a tool for each clause"},
		{"by the latest", 520, budget.Options{Stay: new(1.0)}, desk,
			[]string{"help", "forecast for a city", "titles of an artist"},
			[]string{"get_order list_orders", "weather", "songs"}, "no word of the task is found"},
		{"first ones", 520, budget.Options{}, desk, []string{"xyzzy"}, []string{"get_order list_orders"}, "no clue"},
		{"no more than candidates", 520, budget.Options{Text: &bps.TextOptions{Keep: 1}}, desk, []string{"xyzzy"},
			[]string{"get_order"}, "as a search"},
		{"stays", 520, budget.Options{Stay: new(0.0)}, desk, []string{"forecast for a city", "titles of an artist"},
			[]string{"weather", "weather"}, "anything is good enough"},
		{"ends", len(two), budget.Options{}, append(slices.Clone(desk), done), []string{"orders of a customer: look an order up"},
			[]string{"get_order list_orders done"}, "to the byte"},
		{"ends less", len(two) - 1, budget.Options{}, append(slices.Clone(desk), done), []string{"orders of a customer: look an order up"},
			[]string{"get_order done"}, "a byte less, and one of them has to go"},
		{"pinned", 520, budget.Options{Pinned: []string{"songs", "absent"}}, desk, []string{"forecast for a city"}, []string{"weather songs"},
			"a name that is not there is no error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason given")
			}
			text := bps.TextOptions{}
			if tt.o.Text != nil {
				text = *tt.o.Text
			}
			text.Count = bytesOf
			tt.o.Text = &text
			c := newChooser(t, tt.budget, nil, &tt.o)
			var got []string
			for i, s := range tt.turns {
				_, tools := offer(t, c, shown(i, s, tt.tools...))
				got = append(got, tools)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// What has to be offered may take the budget to the byte, and not a byte more.
func TestPinnedToTheByte(t *testing.T) {
	pins := desk[:2]
	size := len(request("", pins)[0])
	for _, n := range []int{size, size - 1} {
		c := newChooser(t, n, nil, &budget.Options{Pinned: []string{"get_order", "list_orders"}, Text: &bps.TextOptions{Count: bytesOf}})
		_, tools, err := c.Offer(t.Context(), shown(0, "forecast", desk...))
		if n == size && (err != nil || names(tools) != names(pins)) || n < size && !errors.Is(err, bps.ErrBudget) {
			t.Errorf("%d of %d bytes: %s, %v", n, size, names(tools), err)
		}
	}
}

// Pinned skills are named in their order, whatever the order of the options.
func TestPinnedSkillsInOrder(t *testing.T) {
	_, err := budget.New(9, []bps.Text{{Name: "a"}, {Name: "b"}}, &budget.Options{Text: &bps.TextOptions{Pinned: []int{1, 0}}})
	if !errors.Is(err, bps.ErrBudget) || !strings.HasSuffix(err.Error(), `skill "a", skill "b"`) {
		t.Error(err)
	}
}

// A schema counts as it is sent: as that of an object with properties, which not every server writes out.
func TestSchemaAsItIsSent(t *testing.T) {
	want := len(`[{"type":"function","function":{"name":"ping","parameters":{"properties":{},"type":"object"}}}]`)
	c := newChooser(t, 500, nil, &budget.Options{Text: &bps.TextOptions{Count: bytesOf}})
	offer(t, c, shown(0, "x", envharness.Tool{Name: "ping", Schema: json.RawMessage(`{"type":"object"}`)}))
	if got := c.Last().Tokens; got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

// Where the parts of what has to be offered count more than the budget, and a part counts nothing, the whole still fits.
func TestCounterThatDoesNotAddUp(t *testing.T) {
	count := func(s string) int {
		switch n := strings.Count(s, `"function":`); {
		case strings.HasPrefix(s, "["):
			return 100 * n
		case strings.Contains(s, `"mail"`):
			return 0
		}
		return 300
	}
	o := &budget.Options{Pinned: []string{"get_order"}, Text: &bps.TextOptions{Count: count}}
	c := newChooser(t, 150, nil, o)
	if _, tools := offer(t, c, shown(0, "send a message", desk...)); tools != "get_order" || c.Last().Tokens != 100 {
		t.Errorf("%s with %d tokens, want the pinned one", tools, c.Last().Tokens)
	}
}

// A tool that is the same but for one field is read again.
func TestChangedTool(t *testing.T) {
	tool := long("weather", "Forecast for a city")
	ends, other := tool, tool
	ends.Submits = true
	other.Schema = schema("city", "name of a city")
	c := newChooser(t, 500, nil, &budget.Options{Text: &bps.TextOptions{Count: bytesOf}})
	for _, tt := range []struct {
		tool envharness.Tool
		want string
	}{{tool, "get_order songs"}, {ends, "get_order weather"}, {tool, "get_order songs"}} {
		if _, tools := offer(t, c, shown(0, "look an order up, titles of an artist", desk[0], desk[3], tt.tool)); tools != tt.want {
			t.Errorf("%s, want %s", tools, tt.want)
		}
	}
	offer(t, c, shown(0, "city", tool))
	before := c.Last().Tokens
	if offer(t, c, shown(0, "city", other)); c.Last().Tokens != before-len(`{"type":"object","properties":{}}`)+len(other.Schema) {
		t.Errorf("%d tokens with another schema, %d before", c.Last().Tokens, before)
	}
}

// The search has the options that it was given, and no certificate unless it was asked for.
func TestSearchOptions(t *testing.T) {
	for _, certify := range []bool{false, true} {
		o := &bps.Options{Mode: bps.Level2}
		if certify {
			o.Certify = new(true)
		}
		c := newChooser(t, 520, nil, &budget.Options{Text: &bps.TextOptions{Count: bytesOf, Search: o}})
		offer(t, c, shown(0, "look an order up", desk...))
		if sel := c.Last().Selection; sel.Guarantee.Mode != bps.Level2 || (sel.Certificate != nil) != certify {
			t.Errorf("mode %v, certificate %v, want level2 and one only if it was asked for", sel.Guarantee.Mode, sel.Certificate)
		}
	}
}

// A world without tools is offered skills, one without either nothing, and nil stays nil.
func TestWithoutTools(t *testing.T) {
	for _, skills := range [][]bps.Text{nil, {{Name: "one", Body: "Do it."}}} {
		c := newChooser(t, 900, skills, nil)
		instructions, tools, err := c.Offer(t.Context(), shown(0, "anything"))
		if err != nil || tools != nil || (instructions != "") != (skills != nil) {
			t.Errorf("%q, %v, %v", instructions, tools, err)
		}
	}
	c := newChooser(t, 0, []bps.Text{{Name: "one"}}, nil)
	if instructions, tools := offer(t, c, shown(0, "one", desk...)); instructions != "" || tools != "" || c.Last().Tokens != 0 {
		t.Errorf("%q and %q for no tokens, counted %d", instructions, tools, c.Last().Tokens)
	}
}

// The choice of the turn before stays while it is nearly as good, changes where it is not, and where its tools are gone.
func TestStay(t *testing.T) {
	// The second text makes another tool better, by less than half.
	turns := []string{"forecast for a city", "titles of songs of an artist"}
	choices := func(stay float64) (out []string, stayed []bool) {
		c := newChooser(t, 280, nil, &budget.Options{Stay: &stay, Text: &bps.TextOptions{Count: bytesOf}})
		for i, s := range turns {
			_, tools := offer(t, c, shown(i, s, desk...))
			out, stayed = append(out, tools), append(stayed, c.Last().Stayed)
		}
		return out, stayed
	}
	best, stayed := choices(1)
	if best[0] == best[1] || slices.Contains(stayed, true) {
		t.Errorf("%v, %v: want a better choice in the second turn", best, stayed)
	}
	if got, stayed := choices(0.5); got[1] != best[0] || !stayed[1] {
		t.Errorf("%v, %v: want %s to stay", got, stayed, best[0])
	}

	c := newChooser(t, 280, nil, &budget.Options{Stay: new(0.0), Text: &bps.TextOptions{Count: bytesOf}})
	_, first := offer(t, c, shown(0, turns[0], desk...))
	less := slices.DeleteFunc(slices.Clone(desk), func(tool envharness.Tool) bool { return tool.Name == first })
	if _, tools := offer(t, c, shown(1, turns[0], less...)); tools == first || tools == "" {
		t.Errorf("%q where %q is gone", tools, first)
	}
	// Nor can it stay once a tool that has to be offered takes the room.
	c = newChooser(t, 280, nil, &budget.Options{Stay: new(0.0), Text: &bps.TextOptions{Count: bytesOf}})
	offer(t, c, shown(0, turns[0], desk...))
	end := long("end", "The end")
	end.Submits = true
	if _, tools := offer(t, c, shown(1, turns[0], append(slices.Clone(desk), end)...)); tools != "end" {
		t.Errorf("%q, want the end alone", tools)
	}
	// A tool that has grown beyond the budget is not offered again.
	c = newChooser(t, 280, nil, &budget.Options{Stay: new(0.0), Text: &bps.TextOptions{Count: bytesOf}})
	offer(t, c, shown(0, "forecast for a city", desk...))
	drifted := slices.Clone(desk)
	drifted[2].Description += strings.Repeat(".", 99)
	if _, tools := offer(t, c, shown(1, "forecast for a city", drifted...)); strings.Contains(tools, "weather") {
		t.Errorf("%q, want none of what does not fit", tools)
	}
}

// The task is what the first turn shows and Data["task"] says, and a new Data["task"] is another task.
func TestTask(t *testing.T) {
	c := newChooser(t, 520, nil, nil)
	for i, tt := range []struct {
		index           int
		text            string
		stated, refused string
		want            string
	}{
		{3, "joined late", "", "", "joined late"},
		{0, "first text", "the task", "", "first text\nthe task"},
		{1, "page 1. And more, then", "the task", "", "first text\nthe task\npage 1 more "},
		{2, "page 2", "the task", "no such page", "first text\nthe task\nno such page page 2 "},
		{3, "page 3", "", "", "first text\nthe task\npage 3 "},
		{4, "the next task: go on", "go on", "", "the next task: go on"},
		{5, "page 4", "go on", "", "the next task: go on\npage 4 "},
		{0, "again", "", "", "again"},
		{1, "again", "", "", "again"},
		{0, "again", "", "refused", "again\nrefused again "},
	} {
		turn := shown(tt.index, tt.text, desk...)
		if tt.stated != "" {
			turn.Shown.Data = map[string]any{"task": tt.stated}
		}
		if tt.refused != "" {
			turn.Error = &envharness.ActionError{Message: tt.refused}
		}
		offer(t, c, turn)
		if got := c.Last(); got.Query != tt.want || got.Turn != tt.index {
			t.Errorf("%d: query %q of turn %d, want %q of %d", i, got.Query, got.Turn, tt.want, tt.index)
		}
	}
}

// Called tools are chosen beside what the query asks for, but leave half of the room, the latest call first.
func TestCalled(t *testing.T) {
	c := newChooser(t, 1080, nil, &budget.Options{Stay: new(1.0), Text: &bps.TextOptions{Count: bytesOf, Keep: 2}})
	offer(t, c, shown(0, "order, orders of a customer", desk...))
	for _, name := range []string{"unknown", "mail", "weather", "songs", "weather"} {
		c.Called(name)
	}
	if _, tools := offer(t, c, shown(1, "order, orders of a customer", desk...)); tools != "get_order list_orders weather songs" {
		t.Errorf("%s, want the latest two that were called", tools)
	}
	if _, tools := offer(t, c, shown(0, "order, orders of a customer", desk...)); tools != "get_order list_orders" {
		t.Errorf("%s in a new episode", tools)
	}
}

// Skills and tools share the budget, and positions of options are those of skills.
func TestSkills(t *testing.T) {
	skills := []bps.Text{
		{Name: "forecasts", Body: "Read a forecast twice."}, {Name: "orders", Body: "Look at each order."}, {Name: "manners", Body: "Be polite."},
	}
	o := &budget.Options{Text: &bps.TextOptions{Count: bytesOf, Pinned: []int{2}, Excluded: []int{0}}}
	c := newChooser(t, 460, skills, o)
	instructions, tools := offer(t, c, shown(0, "forecast for a city", desk...))
	choice := c.Last()
	if tools != "weather" || !slices.Equal(choice.Skills, []int{2}) || !strings.Contains(instructions, "Be polite.") {
		t.Errorf("%q, %q, %v", instructions, tools, choice.Skills)
	}
	if !slices.Equal(choice.Selection.Items, []int{2, 5}) && !slices.Equal(choice.Selection.Items, []int{5, 2}) {
		t.Errorf("items %v, want skill 2 and tool 2", choice.Selection.Items)
	}
	reasons := choice.Selection.Explain()
	if len(reasons) != len(skills)+len(desk) {
		t.Errorf("%d reasons, want one for each skill and tool", len(reasons))
	}
	// Pinned ones are in their order, whatever the order of the options.
	o.Text.Pinned, o.Text.Excluded = []int{2, 0}, nil
	c = newChooser(t, 520, skills, o)
	instructions, _ = offer(t, c, shown(0, "xyzzy", desk...))
	if !slices.Equal(c.Last().Skills, []int{0, 2}) || strings.Index(instructions, "twice") > strings.Index(instructions, "polite") {
		t.Errorf("%v in %q", c.Last().Skills, instructions)
	}
	// Where all fits, only the excluded one is left out.
	c = newChooser(t, 9000, skills, &budget.Options{Text: &bps.TextOptions{Excluded: []int{0}}})
	instructions, tools = offer(t, c, shown(0, "x", desk...))
	if strings.Contains(instructions, "twice") || tools != names(desk) || c.Last().Selection != nil {
		t.Errorf("%q, %q", instructions, tools)
	}
}

// Where all tools fit, no skill takes the place of one, to the byte; skills have the rest, those that are of use first.
func TestToolsFirst(t *testing.T) {
	// Each is in the turn's own words, as no tool is, and takes less than any of them.
	skills := []bps.Text{
		{Name: "a", Body: "make ends meet"}, {Name: "b", Body: "make ends meet soon"}, {Name: "c", Body: "a long walk"},
	}
	all, pair := len(request("", desk)[0]), len(request("", desk[:2])[0])
	instructions := func(chosen ...int) int {
		c := newChooser(t, 9000, skills, &budget.Options{Text: &bps.TextOptions{Count: bytesOf, Excluded: slices.DeleteFunc([]int{0, 1, 2},
			func(k int) bool { return slices.Contains(chosen, k) })}})
		text, _ := offer(t, c, shown(0, "x"))
		return len(text)
	}
	for _, tt := range []struct {
		name   string
		budget int
		text   bps.TextOptions
		tools  []envharness.Tool
		shown  string
		want   []int  // skills
		left   string // tools
	}{
		{"no room for a skill", all, bps.TextOptions{}, desk, "make ends meet", nil, names(desk)},
		{"a byte less than a skill", all + instructions(0) - 1, bps.TextOptions{}, desk, "make ends meet", nil, names(desk)},
		{"room for one", all + instructions(0), bps.TextOptions{}, desk, "make ends meet", []int{0}, names(desk)},
		{"the one of use", all + instructions(1), bps.TextOptions{}, desk, "a long walk", []int{2}, names(desk)},
		{"two", all + instructions(0, 1), bps.TextOptions{}, desk, "make ends meet", []int{0, 1}, names(desk)},
		{"without a clue", all + instructions(0, 1), bps.TextOptions{}, desk, "xyzzy", nil, names(desk)},
		{"two tools", pair + instructions(0), bps.TextOptions{}, desk[:2], "make ends meet", []int{0}, names(desk[:2])},
		{"beside a pinned skill", all + instructions(2), bps.TextOptions{Pinned: []int{2}}, desk, "make ends meet", []int{2}, names(desk)},
		{"a byte less than all", all - 1, bps.TextOptions{}, desk, "make ends meet", []int{0, 1}, ""},
		{"a pinned skill has no room", all + instructions(2) - 1, bps.TextOptions{Pinned: []int{2}}, desk, "make ends meet", []int{0, 1, 2}, ""},
		{"priced", all, bps.TextOptions{PenaltyPerToken: 1e-9}, desk, "make ends meet", []int{0, 1}, ""},
	} {
		tt.text.Count = bytesOf
		c := newChooser(t, tt.budget, skills, &budget.Options{Text: &tt.text})
		_, tools := offer(t, c, shown(0, tt.shown, tt.tools...))
		if got := c.Last().Skills; tools != tt.left || !slices.Equal(got, tt.want) {
			t.Errorf("%s: skills %v and %q, want %v and %q", tt.name, got, tools, tt.want, tt.left)
		}
	}
}

// The tools of a world that all fit are offered with every budget between them and all, whatever the skills are.
func TestToolsOfAWorld(t *testing.T) {
	env, err := game24.World(nil).New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	d, ok := envharness.As[envharness.Describer](env)
	if !ok {
		t.Fatal("the world has no tools")
	}
	tools := d.Describe().Tools
	skills := []bps.Text{
		{Name: "divide-first", Description: "How to make 24 of four numbers, the target", Body: "Try divisions first: 24 is 8 / (1/3)."},
		{Name: "factors", Description: "How to reach the target 24 from numbers", Body: "Look for 3 and 8, 4 and 6, 2 and 12."},
	}
	c := newChooser(t, 1<<20, nil, nil)
	offer(t, c, shown(0, "target=24", tools...))
	least := c.Last().Tokens
	c = newChooser(t, 1<<20, skills, nil)
	offer(t, c, shown(0, "target=24", tools...))
	for n := least; n <= c.Last().Tokens; n++ {
		c := newChooser(t, n, skills, nil)
		if _, got := offer(t, c, shown(0, "target=24, numbers=[4, 6, 1, 1]", tools...)); got != names(tools) {
			t.Fatalf("%s of %s with %d tokens", got, names(tools), n)
		}
	}
}

// Where all tools are offered, a skill stays by what skills add, for else the worth of the tools would hide that another one is needed.
func TestSkillsChangeBesideAllTools(t *testing.T) {
	skills := []bps.Text{{Name: "a", Body: "make ends meet"}, {Name: "b", Body: "take a walk on"}}
	const task = "look an order up, all orders of a customer, forecast for a city, titles of an artist, send a message, "
	for _, tt := range []struct {
		stay *float64
		want [][]int
	}{{nil, [][]int{{0}, {1}}}, {new(1.0), [][]int{{0}, {1}}}, {new(0.0), [][]int{{0}, {0}}}} {
		c := newChooser(t, len(request("", desk)[0])+160, skills, &budget.Options{Stay: tt.stay, Text: &bps.TextOptions{Count: bytesOf}})
		var got [][]int
		for i, more := range []string{"make ends meet", "take a walk on make"} {
			turn := shown(i, task+more, desk...)
			turn.Shown.Data = map[string]any{"task": task + more}
			offer(t, c, turn)
			got = append(got, c.Last().Skills)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("stay %v (-want +got):\n%s", tt.stay, diff)
		}
	}
}

// The options and texts of the caller are not changed, and what the caller changes later changes nothing.
func TestOwnership(t *testing.T) {
	skills := []bps.Text{{Name: "a", Body: "order"}, {Name: "b", Body: "order"}}
	text := &bps.TextOptions{Pinned: []int{1, 0}, Search: &bps.Options{}}
	o := &budget.Options{Pinned: []string{"mail"}, Text: text}
	c := newChooser(t, 300, skills, o)
	if text.Search.Certify != nil || !slices.Equal(text.Pinned, []int{1, 0}) || text.Count != nil {
		t.Errorf("the options were changed: %+v", text)
	}
	instructions, tools := offer(t, c, shown(0, "order", desk...))
	skills[0].Body, o.Pinned[0], text.Pinned[0] = "other", "songs", 0
	if again, toolsAgain := offer(t, c, shown(0, "order", desk...)); again != instructions || toolsAgain != tools {
		t.Errorf("%q, %q, want %q, %q", again, toolsAgain, instructions, tools)
	}
}

func TestNewErrors(t *testing.T) {
	one := []bps.Text{{Name: "one", Body: "Do it."}}
	text := func(o bps.TextOptions) budget.Options { return budget.Options{Text: &o} }
	free := func(int) float64 { return 0 }
	for _, tt := range []struct {
		name   string
		tokens int
		o      budget.Options
		want   error
		texts  []string
	}{
		{"budget", -1, budget.Options{}, bps.ErrBudget, []string{"-1"}},
		{"stay", 9, budget.Options{Stay: new(math.NaN())}, nil, []string{"Stay is NaN"}},
		{"stay above 1", 9, budget.Options{Stay: new(1.1)}, nil, []string{"Stay is 1.1"}},
		{"penalty", 9, text(bps.TextOptions{PenaltyPerToken: math.NaN()}), bps.ErrPenalty, []string{"NaN"}},
		{"negative penalty", 9, text(bps.TextOptions{PenaltyPerToken: -1}), bps.ErrPenalty, []string{"-1"}},
		{"infinite penalty", 9, text(bps.TextOptions{PenaltyPerToken: math.Inf(1)}), bps.ErrPenalty, []string{"Inf"}},
		{"two penalties", 9, text(bps.TextOptions{PenaltyPerToken: 1, Penalty: free}), bps.ErrPenalty, []string{"both"}},
		{"keep", 9, text(bps.TextOptions{Keep: -1}), nil, []string{"Keep is -1"}},
		{"clauses", 9, text(bps.TextOptions{Clauses: &bps.ClauseOptions{Scale: -1}}), nil, []string{"Scale"}},
		{"mode", 9, text(bps.TextOptions{Search: &bps.Options{Mode: 99}}), nil, []string{"99"}},
		{"overhead", 9, text(bps.TextOptions{Overhead: -3}), bps.ErrTokens, []string{"-3"}},
		{"recheck", 9, text(bps.TextOptions{Search: &bps.Options{Recheck: func([]int) int { return 0 }}}), nil, []string{"Recheck"}},
		{"empty name", 9, budget.Options{Pinned: []string{"a", ""}}, nil, []string{"name 1"}},
		{"pinned skill", 9, text(bps.TextOptions{Pinned: []int{1}}), bps.ErrIndex, []string{"1"}},
		{"excluded skill", 9, text(bps.TextOptions{Excluded: []int{-1}}), bps.ErrIndex, []string{"-1"}},
		{"pinned and excluded", 99, text(bps.TextOptions{Pinned: []int{0}, Excluded: []int{0}}), bps.ErrIndex, []string{"0"}},
		{"no room", 9, text(bps.TextOptions{Pinned: []int{0}}), bps.ErrBudget, []string{`skill "one"`, "9 tokens"}},
		{"counter", 9, text(bps.TextOptions{Count: func(string) int { return -7 }}), bps.ErrTokens, []string{"-7", `skill 0, "one"`}},
		{"together", -1, budget.Options{Stay: new(-0.5), Text: &bps.TextOptions{Keep: -2}}, bps.ErrBudget, []string{"-1", "-0.5", "-2"}},
	} {
		c, err := budget.New(tt.tokens, one, &tt.o)
		if c != nil || err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.name, c, err, tt.want)
		}
		for _, part := range tt.texts {
			if !strings.Contains(fmt.Sprint(err), part) {
				t.Errorf("%s: %v, want it to have %q", tt.name, err, part)
			}
		}
	}
}

func TestOfferErrors(t *testing.T) {
	var none context.Context
	done, cancel := context.WithCancel(t.Context())
	cancel()
	many := make([]envharness.Tool, 20)
	for i := range many {
		many[i] = envharness.Tool{Name: fmt.Sprint("t", i), Submits: true}
	}
	failing := &budget.Options{Text: &bps.TextOptions{Count: func(s string) int {
		if strings.HasPrefix(s, "[{") && strings.Count(s, "{\"type\":\"function\"") == 1 {
			return -4
		}
		return len(s)
	}}}
	failsOnMail := &budget.Options{Text: &bps.TextOptions{Count: func(s string) int { return 1 - 2*strings.Count(s, "mail") }}}
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		o     *budget.Options
		tools []envharness.Tool
		want  error
		text  string
	}{
		{"no context", none, nil, desk, nil, "context is nil"},
		{"canceled", done, nil, desk, context.Canceled, ""},
		{"canceled where all fits", done, nil, nil, context.Canceled, ""},
		{"one name", t.Context(), nil, []envharness.Tool{{Name: "a"}, {Name: "b"}, {Name: "a"}}, nil, `tools 0 and 2 are both called "a"`},
		{"schema", t.Context(), nil, []envharness.Tool{{Name: "a", Schema: json.RawMessage(`{"type":`)}}, nil,
			`tool 0, "a": the schema is no JSON`},
		{"no room", t.Context(), nil, many, bps.ErrBudget, `tool "t7", 12 more`},
		{"counter", t.Context(), failsOnMail, desk, bps.ErrTokens,
			`tool 4, "mail": bps: invalid token count: Count gives -1`},
		{"counter of the whole", t.Context(), failing, desk, bps.ErrTokens, "Count gives -4"},
	} {
		c := newChooser(t, 250, nil, tt.o)
		text, tools, err := c.Offer(tt.ctx, shown(0, "forecast for a city", tt.tools...))
		if text != "" || tools != nil || err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %q, %v, %v; want %v with %q", tt.name, text, tools, err, tt.want, tt.text)
		}
		if !strings.HasPrefix(fmt.Sprint(err), "budget: ") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	// The last choice survives a failure, and the next turn goes on from it.
	c := newChooser(t, 280, nil, &budget.Options{Stay: new(0.0)})
	_, want := offer(t, c, shown(0, "forecast for a city", desk...))
	if _, _, err := c.Offer(done, shown(1, "titles of an artist", desk...)); err == nil || c.Last().Turn != 0 {
		t.Errorf("%v, turn %d", err, c.Last().Turn)
	}
	if _, got := offer(t, c, shown(1, "titles of an artist", desk...)); got != want {
		t.Errorf("%s, want %s to stay", got, want)
	}
}

// A penalty that forbids what was offered before ends its stay, and is no error.
func TestPenaltyForbids(t *testing.T) {
	penalty := func(tokens int) float64 {
		if tokens > 280 {
			return math.Inf(1)
		}
		return 0
	}
	c := newChooser(t, 900, nil, &budget.Options{Stay: new(0.0), Text: &bps.TextOptions{Count: bytesOf, Penalty: penalty}})
	offer(t, c, shown(0, "forecast for a city", desk...))
	drifted := slices.Clone(desk)
	drifted[2].Description += strings.Repeat(".", 99)
	if _, tools := offer(t, c, shown(1, "forecast for a city, titles of an artist", drifted...)); tools != "songs" {
		t.Errorf("%q, want what may be offered", tools)
	}
}

// The policy shows what was chosen, notes calls and explains itself as the inner one.
func TestPolicy(t *testing.T) {
	o := &budget.Options{Stay: new(1.0), Text: &bps.TextOptions{Count: func(s string) int { return len(s) / 2 }}}
	c := newChooser(t, 300, []bps.Text{{Name: "s", Body: "forecast"}}, o)
	inner := &explainer{}
	p := c.Policy(inner)
	action, err := p.Act(t.Context(), shown(0, "forecast for a city", desk...))
	if err != nil || action.Name != "weather" || !strings.HasSuffix(inner.text, "</skill>\n\nforecast for a city") {
		t.Errorf("%v, %v after %q", action, err, inner.text)
	}
	if text, tokens := p.(envharness.Explainer).Explain(); text != "because" || tokens != 5 {
		t.Errorf("%q, %d", text, tokens)
	}
	inner.err = envharness.ErrStop
	if _, err := p.Act(t.Context(), shown(1, "titles of an artist", desk...)); !errors.Is(err, envharness.ErrStop) {
		t.Error(err)
	}
	if _, err := p.Act(t.Context(), shown(2, "", desk[0], desk[0])); err == nil {
		t.Error("tools of one name were accepted")
	}
	c = newChooser(t, 600, nil, &budget.Options{Stay: new(1.0), Text: &bps.TextOptions{Count: bytesOf}})
	for i, want := range []string{"weather", "weather mail"} {
		_, err := c.Policy(envharness.PolicyFunc(func(_ context.Context, turn envharness.Turn) (envharness.Action, error) {
			if got := names(turn.Tools); got != want {
				t.Errorf("turn %d: %s, want %s", i, got, want)
			}
			return envharness.Action{Name: "mail"}, nil
		})).Act(t.Context(), shown(i, "forecast for a city", desk...))
		if err != nil {
			t.Error(err)
		}
	}
	plain := c.Policy(envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
		return envharness.Action{}, nil
	}))
	if text, tokens := plain.(envharness.Explainer).Explain(); text != "" || tokens != 0 {
		t.Errorf("%q, %d", text, tokens)
	}
}

type explainer struct {
	text string
	err  error
}

func (e *explainer) Act(_ context.Context, t envharness.Turn) (envharness.Action, error) {
	e.text = t.Shown.Text
	return envharness.Action{Name: t.Tools[0].Name}, e.err
}

func (e *explainer) Explain() (string, int) { return "because", 5 }

func BenchmarkOffer(b *testing.B) {
	verbs := strings.Fields("get list find create update delete send cancel book convert")
	things := strings.Fields("order invoice ticket customer flight hotel song city payment message report table")
	for _, n := range []int{100, 1000, 4000} {
		tools := make([]envharness.Tool, n)
		for i := range tools {
			verb, thing := verbs[i%len(verbs)], things[i/len(verbs)%len(things)]
			tools[i] = envharness.Tool{
				Name:        fmt.Sprintf("%s_%s_%d", verb, thing, i),
				Description: fmt.Sprintf("Use it to %s the %s of an account in region %d, as its owner asks.", verb, thing, i),
				Schema:      schema(thing+"_id", "which "+thing+" it is about"),
			}
		}
		turn := func(i int) envharness.Turn {
			return shown(i, "Find the order of a customer, send a message about it, then book a flight.", tools...)
		}
		b.Run(fmt.Sprintf("first/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				offer(b, newChooser(b, 4000, nil, nil), turn(0))
			}
		})
		b.Run(fmt.Sprintf("next/%d", n), func(b *testing.B) {
			c := newChooser(b, 4000, nil, nil)
			offer(b, c, turn(0))
			b.ReportAllocs()
			for b.Loop() {
				offer(b, c, turn(0))
			}
		})
	}
}
