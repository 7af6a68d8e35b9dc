package wording

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

func text(key, value string) Slot {
	v := jsonval.NewString(value)
	return Slot{Leaf: schema.Leaf{Keys: strings.Split(key, "/"), Value: &v}}
}

func parsed(t *testing.T, s string) *jsonval.Value {
	t.Helper()
	v, err := jsonval.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

// An answer tells what is new in a result, and agrees with it in number.
func TestAnswerTells(t *testing.T) {
	show := Task{Tool: About("get_note", "Opens a note."), Slots: []Slot{text("note_id", "note_0007")}}
	for _, c := range []struct {
		name, result string
		tasks        int
		want, not    string
		reason       string
	}{
		{name: "fresh", result: `{"status":"ok","note_id":"note_0007","title":"Weekly List"}`, want: `Weekly List`, not: `ok|note_0007`,
			reason: "a status and an argument that comes back tell nothing beside a title"},
		{name: "thin", result: `{"status":"ok","note_id":"note_0007"}`,
			want: `open (up )?(a|the) note|bring up (a|the) note`, not: `note_0007`,
			reason: "nothing is new, so that the answer says what worked"},
		{name: "echo", result: `{"note_id":"note_0007"}`, want: `note ID.*note_0007|note_0007.*note ID`,
			reason: "no other scalar is there"},
		{name: "flag", result: `{"confirmed":false,"note_id":"note_0007"}`,
			want: `(?i)confirmed.*false|false.*confirmed`, not: `note_0007`,
			reason: "a boolean is new, an argument that comes back is not"},
		{name: "tags", result: `{"note_id":"note_0007","title":"Weekly List","tags":["folk","jazz"]}`, want: `Weekly List`, not: `folk|jazz`,
			reason: "the tags of a note are not what was asked for"},
		{name: "items", result: `{"count":2,"items":[{"id":"n_1","subject":"Late trains"},{"id":"n_2","subject":"Old maps"}]}`,
			want: `2.*Late trains and Old maps`, reason: "the list is what was asked for, and a subject says more than an ID"},
		{name: "plural", result: `{"rows":31}`, want: `(?i)rows.*31|31.*rows`, not: `(?i)rows is|rows, it is`, reason: "rows are many"},
		{name: "quoted", result: `{"body":"old maps, new maps"}`, want: `"old maps, new maps"`,
			reason: "a comma would run into the sentence"},
		{name: "key", result: `{"ready_on":"2027-01-02"}`, want: `(?i)ready date`, not: `ready on`,
			reason: "nobody says that the ready on is a day"},
		{name: "unit", result: `{"currency":"NOK","price":7.5}`, want: `7\.5`, reason: "a currency alone is no price"},
		{name: "text", result: `{"status":"ok","content":"` + strings.Repeat("long ", 40) + `"}`,
			want: `long long`, not: `ok`,
			reason: "the content is new"},
		{name: "both", result: `{"status":"ok","note_id":"note_0007"}`, tasks: 2,
			want: `(?i)both|twice|neither`, not: `All 2|first|second`,
			reason: "one sentence serves two calls with the same outcome"},
		{name: "all", result: `{"status":"ok"}`, tasks: 3, want: `3`, not: `first|second`,
			reason: "one sentence serves three calls with the same outcome"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tasks, results := []Task{show}, []*jsonval.Value{parsed(t, c.result)}
			for range c.tasks - 1 {
				tasks, results = append(tasks, show), append(results, results[0])
			}
			want, not := regexp.MustCompile(c.want), regexp.MustCompile(`\b(`+c.not+`)\b`)
			for seed := range uint64(200) {
				w := Writer{Draws: draw.New(seed, "test")}
				x := w.Answer(tasks, results).Text
				if !want.MatchString(x) || c.not != "" && not.MatchString(x) {
					t.Fatalf("%q: want %s, not %s: %s", x, c.want, c.not, c.reason)
				}
			}
		})
	}
}

// What is done is told with an article between the words of a name that is not to be told.
func TestAnswerKeepsNames(t *testing.T) {
	task := Task{Tool: About("debug_image_links", "Debug image links")}
	for seed := range uint64(100) {
		w := Writer{Draws: draw.New(seed, "test"), Avoid: [][]string{{"debug", "image", "links"}}}
		if x := w.Answer([]Task{task}, []*jsonval.Value{parsed(t, `{"status":"ok"}`)}).Text; !strings.Contains(x, "debug the image links") {
			t.Fatalf("%q", x)
		}
	}
}

// Keys are named as people would name them.
func TestKeyPhrase(t *testing.T) {
	for _, c := range [][2]string{
		{"to_currency", "target currency"}, {"from_currency", "source currency"}, {"from_date", "start date"}, {"to_year", "end year"},
		{"weight_kg", "weight in kg"}, {"price_usd", "price in USD"}, {"max_seconds", "maximum seconds"}, {"created_at", "creation time"},
		{"starts_at", "start time"}, {"ready_on", "ready date"}, {"sort_by", "sort order"}, {"cwd", "working directory"}, {"cols", "columns"},
		{"from", "from field"}, {"kg", "kg"}, {"city", "city"}, {"data/user_id", "user ID"},
	} {
		if got := keyPhrase(strings.Split(c[0], "/"), false); got != c[1] {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}

// The words of a tool read as a sentence of its user.
func TestAbout(t *testing.T) {
	for _, c := range []struct{ name, description, want, reason string }{
		{"queue", "Returns how many support tickets wait.", "how many support tickets wait", "a question takes no article"},
		{"get_order", "Returns one order with its state.", "an order", "one of many"},
		{"mk", "Create parallel browser session", "a parallel browser session", "what is made is not known yet"},
		{"bld", "Run build command (seeds and tests)", "the build command", "descriptions leave articles out"},
		{"price", "Get Bitcoin price", "the Bitcoin price", "a name before a noun takes its article"},
		{"repos", "List GitHub repositories", "GitHub repositories", "a plural needs none"},
		{"nav", "Navigate to the url", "to the URL", "abbreviations are in capitals"},
	} {
		tool := About(c.name, c.description)
		if got := tool.said[0].object; got != c.want {
			t.Errorf("%s: %q, want %q: %s", c.description, got, c.want, c.reason)
		}
	}
	if x := About("___", "Executes C# code"); len(x.said) > 0 {
		t.Errorf("%q: a letter is no object", x.said[0].object)
	}
}

// A value of a list comes from its first entry; an argument that stays the same is not called a result.
func TestReferenceWords(t *testing.T) {
	id := text("note_id", "note_0001")
	id.From, id.Field, id.First = 1, "id", true
	list := []Task{{Tool: About("list_notes", "Lists the notes.")}, {Tool: About("get_note", "Opens a note."), Slots: []Slot{id}}}
	same := text("city", "Oslo")
	same.From, same.Same = 1, true
	for seed := range uint64(200) {
		w := Writer{Draws: draw.New(seed, "test")}
		if x := w.Request(list, false).Text; !strings.Contains(x, "first") && !strings.Contains(x, "top of the list") {
			t.Fatalf("%q", x)
		}
		x := w.Request([]Task{{Tool: About("get_weather", "Returns the weather."), Slots: []Slot{same}}}, true).Text
		if !strings.Contains(x, "city") || regexp.MustCompile(`result|you found|came back|Oslo`).MatchString(x) {
			t.Fatalf("%q", x)
		}
	}
}

// What belongs to one row is named once in an enumeration.
func TestNestedItems(t *testing.T) {
	task := Task{Tool: About("save_rows", "Save all rows")}
	for i := range 3 {
		task.Slots = append(task.Slots, text(fmt.Sprintf("rows/%d/name", i), fmt.Sprint("Ada", i)))
		task.Slots = append(task.Slots, text(fmt.Sprintf("rows/%d/color", i), fmt.Sprint("red", i)))
	}
	found := 0
	for seed := range uint64(200) {
		w := Writer{Draws: draw.New(seed, "test")}
		x := w.Request([]Task{task}, false).Text
		for i, n := range []string{"first", "second", "third"} {
			if strings.Contains(x, fmt.Sprintf("name of the %s row Ada%d, its color red%d", n, i, i)) {
				found++
			}
		}
		if strings.Contains(x, ": its") || strings.Contains(x, "s its") {
			t.Fatalf("%q", x)
		}
	}
	if found == 0 {
		t.Error("no row is named once")
	}
}
