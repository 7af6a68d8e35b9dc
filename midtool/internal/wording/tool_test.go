package wording

import (
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

func TestDescribe(t *testing.T) {
	for _, tt := range []struct{ name, description, want, reason string }{
		{"weather", "Returns the current weather for a city.", "get the current weather", "third person, cut before the arguments"},
		{"w", "Weather at a place", "", "one word is too little of a noun phrase"},
		{"get_w", "Weather forecast at a place", "get the weather forecast", "a noun, with the verb of the name"},
		{"x", "Fetch and parse pages", "get the pages", "the first of two verbs"},
		{"x", "Use this tool to delete a specified row.", "delete a row", "preamble, and what points at the arguments"},
		{"x", "A detailed tool for analyzing logs", "analyze logs", "gerund"},
		{"x", "Send one or more files to the printer", "send files", "a number that is none"},
		{"x", "[Mail] **Sends** mail", "", "markdown inside"},
		{"x", "[Mail] Sends an urgent mail", "send an urgent mail", "label before"},
		{"x", "Archive (delete) multiple notes", "archive multiple notes", "aside"},
		{"x", "Get a specific order", "get an order", "article after the adjective is gone"},
		{"x", "Search the shop for old bikes", "search the shop for old bikes", "place and thing"},
		{"x", "获取数据", "", "another language"},
		{"x", "Get x_y of it", "", "an identifier"},
		{"x", "Removes \"it\"", "", "nothing left"},
		{"x", "Navigate to a page", "navigate to a page", "the preposition belongs to the verb"},
		{"x", "Creates the b c d e f g h k l m n", "create the b c d e f g h k l", "cut after ten words"},
	} {
		p, ok := describe(tt.description, names.MeaningOf(tt.name).Class)
		got := ""
		if ok {
			got = p.verbs[0] + " " + p.object
		}
		if got != tt.want {
			t.Errorf("%q (%s): %q, want %q", tt.description, tt.reason, got, tt.want)
		}
	}
}

func TestOfName(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"get_weather", "get the weather"}, {"mcp_listUser", "list the users"}, {"createOrder", "create an order"}, {"create_url", "create a URL"},
		{"get_all_users", "get all users"}, {"ChatsController_archiveChat", "archive the chat"}, {"congress_trades_by_name", "help me with the congress trades"},
		{"calculate", "calculate this"}, {"base64_encode", "encode this"}, {"search", "search for what is there"}, {"delete", "delete this"}, {"___", ""},
	} {
		got := ""
		if p := ofName(names.MeaningOf(tt.name)); len(p) > 0 {
			got = p[0].verbs[0] + " " + p[0].object
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The clause keeps the names of the tools where it can, and the user speaks of what is his.
func TestClause(t *testing.T) {
	for _, name := range []string{"web_search", "get_the_weather", "showMe", "run_report", "data-export_job", "led_control", "measure_upload_speed"} {
		for _, description := range []string{"Runs report data export job of web search", "Measure upload speed", ""} {
			tool := About(name, description)
			w := Writer{Draws: draw.New(1, "test", name), Avoid: names.GivenAway(name)}
			for range 200 {
				if c := w.clause(tool); c.object == "" || names.SequenceIn(names.Words(c.verb+" "+c.object), names.Words(name)) {
					t.Fatalf("%s is given away by %v", name, c)
				}
			}
		}
	}
	w := Writer{Draws: draw.New(1, "test")}
	mail := About("mail", "Lists your unread mails")
	if c := w.clause(mail); c.object != "my unread mails" {
		t.Errorf("%v", c)
	}
	if d := w.deed(mail); !strings.HasSuffix(d, " your unread mails") || slices.Contains(names.Words(d), "me") {
		t.Errorf("%q", d)
	}
}

func TestArticle(t *testing.T) {
	for _, tt := range [][2]string{{"order", "an"}, {"user", "a"}, {"hour", "an"}, {"URL", "a"}, {"HTML", "an"}, {"uninstaller", "an"}, {"row", "a"}} {
		if got := article(tt[0]); got != tt[1] {
			t.Errorf("%s %s", got, tt[0])
		}
	}
}

func FuzzAbout(f *testing.F) {
	for _, s := range strangers {
		f.Add(s[0], s[1])
	}
	f.Add("a", "[((({{{")
	f.Add("get", "use this tool to")
	f.Fuzz(func(t *testing.T, name, description string) {
		w := Writer{Draws: draw.New(1, "fuzz"), Avoid: names.GivenAway(name)}
		task := Task{Tool: About(name, description)}
		for _, x := range []Text{w.Request([]Task{task}, false), w.Cannot(&task, true), w.Failed(&task, name)} {
			if x.Text == "" || !names.HasAnySuffix(x.Text, ".", "?", "!") {
				t.Errorf("%q", x.Text)
			}
		}
	})
}

func BenchmarkRequest(b *testing.B) {
	all := [][2]string{{"get_weather", "Returns the current weather for a city."}, {"create_user", "Create a new user"}}
	for _, s := range all {
		b.Run(s[0], func(b *testing.B) {
			b.ReportAllocs()
			task := Task{Tool: About(s[0], s[1]), Slots: sampleSlots()}
			avoid := names.GivenAway("get_weather", "create_user", "list_all_books", "delete_row")
			d := draw.New(1, "bench")
			w := Writer{Draws: d, Avoid: avoid}
			list := []Task{task}
			for b.Loop() {
				w.Request(list, false)
			}
		})
	}
}

func sampleSlots() []Slot {
	city, units, days := jsonval.NewString("Oslo"), jsonval.NewString("metric"), jsonval.Value{Kind: jsonval.Number, Text: "3"}
	return []Slot{{Leaf: schema.Leaf{Keys: []string{"city"}, Value: &city}}, {Leaf: schema.Leaf{Keys: []string{"units"}, Value: &units}},
		{Leaf: schema.Leaf{Keys: []string{"days"}, Value: &days}}}
}
