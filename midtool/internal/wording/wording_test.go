package wording

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// Tools as strangers describe them.
var strangers = [][2]string{
	{"get_weather", "Returns the current weather for a city."}, {"create_user", "Create a new user"}, {"listAllBooks", "Lists all books in the library."},
	{"search", "Search for articles, with filters."}, {"delete_row", ""}, {"send-mail", "[Mail] Send an email to your contacts"}, {"___", ""},
	{"run_job", "执行"}, {"mcp_api_tool", "**Tool** `x`"}, {"convert_unit", "Use this tool to convert a unit."}, {"led_control", "{{x}} %v %p {name}"},
	{"q", "Quickly fetch and parse one or more pages."}, {"ChatsController_pin", "Pins the given chat"}, {"hash", "\xff\xfe hash"},
}

// scalar draws a value with the words that no grammar has by chance: every string and number is made of a number of its own.
func scalar(t *rapid.T, n int) (jsonval.Value, *schema.Schema) {
	mark := 70000 + 137*n
	str := func(format string) jsonval.Value { return jsonval.NewString(fmt.Sprintf(format, mark)) }
	switch rapid.IntRange(0, 11).Draw(t, "value") {
	case 0:
		return jsonval.NewBool(rapid.Bool().Draw(t, "bool")), nil
	case 1:
		return jsonval.Value{}, nil
	case 2:
		return jsonval.NewList(), nil
	case 3:
		return jsonval.Value{Kind: jsonval.Number, Text: fmt.Sprint(mark)}, nil
	case 4:
		return jsonval.Value{Kind: jsonval.Number, Text: fmt.Sprintf("-%d.5", mark)}, nil
	case 5:
		v := str("mode-zz%d_fast")
		return v, &schema.Schema{Enum: []jsonval.Value{v}, Description: "The mode of work, for example x"}
	case 6:
		return jsonval.NewString(fmt.Sprintf("%04d-03-%02d", 2030+n, 1+n%28)), nil
	case 7:
		return str("Ann's \"zz%d\" 100% {x}"), nil
	case 8:
		return str("two words zz%d..."), &schema.Schema{Description: "Your name, if any"}
	case 9:
		return str("a\nb zz%d"), nil
	}
	return str("zz%d"), &schema.Schema{Description: "ID of the thing that is used"}
}

var keyNames = []string{"city", "user_id", "to", "include_details", "isOpen", "x", "tags", "start_date", "max_results", "q", "名", "", "a.b", "limit"}

func tasks(t *rapid.T, most int) []Task {
	var out []Task
	n := 0
	for i := range rapid.IntRange(1, most).Draw(t, "tasks") {
		about := rapid.SampledFrom(strangers).Draw(t, "tool")
		task := Task{Tool: About(about[0], about[1])}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keyNames), 0, 6, rapid.ID).Draw(t, "keys") {
			paths := [][]string{{key}}
			switch rapid.IntRange(0, 7).Draw(t, "shape") {
			case 0:
				paths = [][]string{{key, "0"}, {key, "1"}, {key, "2"}}
			case 1:
				paths = [][]string{{"filter", key}}
			case 2:
				paths = [][]string{{"rows", "0", key}, {"rows", "11", key}}
			}
			hidden, from := rapid.IntRange(0, 5).Draw(t, "hidden") == 0, 0
			if !hidden && rapid.IntRange(0, 4).Draw(t, "from") == 0 {
				from = 1 + rapid.IntRange(0, max(0, i-1)).Draw(t, "source")
			}
			for _, keys := range paths {
				v, s := scalar(t, n)
				n++
				task.Slots = append(task.Slots, Slot{Leaf: schema.Leaf{Path: "/" + strings.Join(keys, "/"), Keys: keys, Value: &v, Schema: s},
					Hidden: hidden, From: from, Field: rapid.SampledFrom([]string{"id", "", "record_key"}).Draw(t, "field")})
			}
		}
		out = append(out, task)
	}
	return out
}

// carries says whether words are a form of a value that a reader would accept.
func carries(s *Slot) bool {
	v := s.Value
	long, _ := names.LongDate(v.Text)
	switch v.Kind {
	case jsonval.Number:
		return s.Text == v.Text
	case jsonval.String:
		return s.Text == v.Text || s.Text == long || strings.NewReplacer("-", " ", "_", " ").Replace(v.Text) == s.Text
	case jsonval.Bool:
		negative := strings.Contains(s.Text, "without") || names.HasAnySuffix(s.Text, " off", " no", " disabled")
		return s.Text == v.Text || negative == (v.Text == "false")
	}
	return s.Text != ""
}

// follows says whether a text can be had from its template by filling the slots.
func follows(x Text) bool {
	rest, at := x.Text, x.Template
	for _, slot := range []string{"{request}", "{name}", "{value}", "{fact}", "{item}", "{count}"} {
		at = strings.ReplaceAll(at, slot, "\x00")
	}
	parts := strings.Split(at, "\x00")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return rest == first
	}
	rest, begins := strings.CutPrefix(rest, first)
	rest, ends := strings.CutSuffix(rest, last)
	for _, part := range parts[1 : len(parts)-1] {
		var ok bool
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return begins && ends
}

// said checks what holds for every text of a user: each value once, in words that carry it, and nothing of the others.
func said(t *rapid.T, x Text, tasks []Task, isSaid func(*Slot) bool, avoid [][]string) {
	rest := x.Text // without the values
	for i := range tasks {
		for j := range tasks[i].Slots {
			s := &tasks[i].Slots[j]
			if !isSaid(s) {
				if s.Text != "" {
					t.Fatalf("%s is not said and has the words %q", s.Path, s.Text)
				}
				continue
			}
			if !carries(s) {
				t.Fatalf("%s: %q does not carry %q", s.Path, s.Text, s.Value.Text)
			}
			if s.Value.Kind == jsonval.String || s.Value.Kind == jsonval.Number {
				if n := strings.Count(x.Text, s.Text); n != 1 {
					t.Fatalf("%q occurs %d times in %q", s.Text, n, x.Text)
				}
				rest = strings.Replace(rest, s.Text, "", 1)
			} else if !strings.Contains(strings.ToLower(x.Text), strings.ToLower(s.Text)) {
				t.Fatalf("%q is not in %q", s.Text, x.Text)
			}
		}
	}
	for i := range tasks {
		for j := range tasks[i].Slots {
			s := &tasks[i].Slots[j]
			if text := s.Value.Text; !isSaid(s) && (s.Value.Kind == jsonval.String || s.Value.Kind == jsonval.Number) && strings.Contains(rest, text) {
				t.Fatalf("%q tells %q of %s", x.Text, text, s.Path)
			}
		}
	}
	if strings.Contains(rest, "%") || strings.Contains(rest, "{") {
		t.Fatalf("%q has a slot left", rest)
	}
	if !names.HasAnySuffix(x.Text, ".", "?", "!") || names.HasAnySuffix(x.Text, "...", "…") {
		t.Fatalf("%q does not end as a sentence", x.Text)
	}
	words := names.Words(x.Text)
	if len(words) < 3 {
		t.Fatalf("%q has %d words", x.Text, len(words))
	}
	for _, seq := range avoid {
		if names.SequenceIn(words, seq) {
			t.Fatalf("%q gives %q away", x.Text, seq)
		}
	}
	if !follows(x) {
		t.Fatalf("%q does not follow %q", x.Text, x.Template)
	}
}

// A request says each of its values once, keeps the others and the names of the tools, and is the same for the same draws.
func TestRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks, follow := tasks(t, 4), rapid.Bool().Draw(t, "follow")
		seed := rapid.Uint64().Draw(t, "seed")
		var avoid [][]string
		for _, s := range strangers {
			avoid = append(avoid, names.GivenAway(s[0])...)
		}
		w := Writer{Draws: draw.New(seed, "test"), Avoid: avoid}
		x := w.Request(tasks, follow)
		said(t, x, tasks, func(s *Slot) bool { return !s.Hidden && s.From == 0 }, avoid)
		again := Writer{Draws: draw.New(seed, "test"), Avoid: avoid}
		if y := again.Request(tasks, follow); x != y {
			t.Fatalf("%q and %q for the same draws", x, y)
		}
	})
}

// A question names what is missing without its value; the answer gives the values and nothing else.
func TestQuestionAndSupply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := tasks(t, 1)
		task := &all[0]
		w := Writer{Draws: draw.New(rapid.Uint64().Draw(t, "seed"), "test")}
		q := w.Question(task)
		for i := range task.Slots {
			if s := &task.Slots[i]; s.Hidden && s.Value.Text != "" && s.Value.Kind != jsonval.Bool && strings.Contains(q.Text, s.Value.Text) {
				t.Fatalf("%q tells %q", q.Text, s.Value.Text)
			}
		}
		if !names.HasAnySuffix(q.Text, ".", "?", "!") || !follows(q) {
			t.Fatalf("%q, %q", q.Text, q.Template)
		}
		said(t, w.Supply(task), all, func(s *Slot) bool { return s.Hidden }, nil)
	})
}

func anyResult() *rapid.Generator[jsonval.Value] {
	text := rapid.SampledFrom([]string{"Ada", "usr_0007", "Oslo", "ends...", "dots…", "two\nlines", strings.Repeat("long ", 40),
		"", " ", "ok", "{fact} %v", "\"quoted\""})
	leaf := rapid.OneOf(rapid.Map(text, jsonval.NewString), rapid.Just(jsonval.NewBool(true)), rapid.Just(jsonval.Value{}),
		rapid.Map(rapid.IntRange(-5, 500), func(i int) jsonval.Value { return jsonval.Value{Kind: jsonval.Number, Text: fmt.Sprint(i)} }))
	var deep func(depth int) *rapid.Generator[jsonval.Value]
	deep = func(depth int) *rapid.Generator[jsonval.Value] {
		if depth == 0 {
			return leaf
		}
		below := deep(depth - 1)
		list := rapid.Map(rapid.SliceOfN(below, 0, 5), func(l []jsonval.Value) jsonval.Value { return jsonval.NewList(l...) })
		object := rapid.Custom(func(t *rapid.T) jsonval.Value {
			o := jsonval.NewObject()
			names := rapid.SampledFrom([]string{"id", "name", "items", "status", "is_open", ""})
			for _, key := range rapid.SliceOfNDistinct(names, 0, 4, rapid.ID).Draw(t, "keys") {
				o.Members = append(o.Members, jsonval.Member{Key: key, Value: below.Draw(t, key)})
			}
			return o
		})
		return rapid.OneOf(leaf, list, object)
	}
	return deep(3)
}

// An answer has a scalar of the last result as it is, wherever there is one, and never ends as if something were left out.
func TestAnswer(t *testing.T) {
	var scalars func(v *jsonval.Value) []string
	scalars = func(v *jsonval.Value) []string {
		var out []string
		for i := range v.List {
			out = append(out, scalars(&v.List[i])...)
		}
		for i := range v.Members {
			out = append(out, scalars(&v.Members[i].Value)...)
		}
		if v.Kind != jsonval.List && v.Kind != jsonval.Object && strings.TrimSpace(v.Text) != "" {
			out = append(out, v.Text)
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		tasks := tasks(t, 4)
		var results []*jsonval.Value
		for range tasks {
			r := anyResult().Draw(t, "result")
			results = append(results, &r)
		}
		w := Writer{Draws: draw.New(rapid.Uint64().Draw(t, "seed"), "test")}
		x := w.Answer(tasks, results)
		facts := scalars(results[len(results)-1])
		if len(facts) > 0 && !slices.ContainsFunc(facts, func(f string) bool { return strings.Contains(x.Text, f) }) {
			t.Fatalf("%q restates nothing of %q", x.Text, facts)
		}
		if !names.HasAnySuffix(x.Text, ".", "?", "!", `."`) || names.HasAnySuffix(x.Text, "...", "…") || !follows(x) {
			t.Fatalf("%q, %q", x.Text, x.Template)
		}
	})
}

// A refusal makes no call: what it shows is JSON that names no tool and tells nothing hidden. A report has the message as it is.
func TestCannotAndFailed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := tasks(t, 1)
		var avoid [][]string
		for _, s := range strangers {
			avoid = append(avoid, names.GivenAway(s[0])...)
		}
		w := Writer{Draws: draw.New(rapid.Uint64().Draw(t, "seed"), "test"), Avoid: avoid}
		code := rapid.Bool().Draw(t, "code")
		x := w.Cannot(&all[0], code)
		_, block, fenced := strings.Cut(x.Text, "```json\n")
		if fenced != code {
			t.Fatalf("code %v in %q", code, x.Text)
		}
		if code {
			block, _, _ = strings.Cut(block, "\n```\n")
			v, err := jsonval.Parse([]byte(block))
			if err != nil || v.Kind != jsonval.Object || strings.ContainsAny(block, "<>|") {
				t.Fatalf("%q: %v", block, err)
			}
		}
		for i := range all[0].Slots {
			if s := &all[0].Slots[i]; s.Hidden && strings.Contains(x.Text, "zz") && s.Value.Kind == jsonval.String && strings.Contains(x.Text, s.Value.Text) {
				t.Fatalf("%q tells %q", x.Text, s.Value.Text)
			}
		}
		message := rapid.SampledFrom([]string{"not found", "no \"x\"...", "a\nb", "wait...", ""}).Draw(t, "message")
		f := w.Failed(&all[0], message)
		for _, x := range []Text{x, f} {
			if !names.HasAnySuffix(x.Text, ".", "?", "!") || names.HasAnySuffix(x.Text, "...") || !follows(x) {
				t.Fatalf("%q, %q", x.Text, x.Template)
			}
		}
		if !strings.Contains(f.Text, message) {
			t.Fatalf("%q is not in %q", message, f.Text)
		}
	})
}

// Every said value stands for its list: one enumeration, not an item at a time.
func TestEnumeration(t *testing.T) {
	for seed := range uint64(50) {
		task := Task{Tool: About("tag_photo", "Tags a photo")}
		for i, c := range []string{"red", "green", "blue"} {
			v := jsonval.NewString(c)
			task.Slots = append(task.Slots, Slot{Leaf: schema.Leaf{Keys: []string{"tags", fmt.Sprint(i)}, Value: &v}})
		}
		w := Writer{Draws: draw.New(seed, "test")}
		if x := w.Request([]Task{task}, false); !strings.Contains(x.Text, "red, green and blue") {
			t.Errorf("%q", x.Text)
		}
	}
}

// What a later task takes from an earlier result is told by the name of the field.
func TestReference(t *testing.T) {
	for seed := range uint64(50) {
		v, city := jsonval.NewString("id"), jsonval.NewString("Oslo")
		list := []Task{
			{Tool: About("find_customer", "Find a customer"), Slots: []Slot{{Leaf: schema.Leaf{Keys: []string{"city"}, Value: &city}}}},
			{Tool: About("list_orders", "List all orders of a customer"),
				Slots: []Slot{{Leaf: schema.Leaf{Keys: []string{"customer_number"}, Value: &v}, From: 1, Field: "id"}}},
		}
		w := Writer{Draws: draw.New(seed, "test")}
		if x := w.Request(list, false); slices.Contains(names.Words(x.Text), "id") ||
			!strings.Contains(x.Text, "customer number") && !strings.Contains(x.Text, "result") {
			t.Errorf("%q", x.Text)
		}
	}
}
