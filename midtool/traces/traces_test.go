package traces

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/throughline-go/throughline/midtool"
	"pgregory.net/rapid"
)

func all(samples ...midtool.Sample) iter.Seq2[midtool.Sample, error] {
	return func(yield func(midtool.Sample, error) bool) {
		for _, s := range samples {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func lines(text string) iter.Seq2[midtool.Sample, error] {
	return midtool.ReadMessages(strings.NewReader(text), "agent.jsonl")
}

func user(text string) midtool.Message { return midtool.Message{Role: midtool.RoleUser, Content: text} }

func say(text string) midtool.Message {
	return midtool.Message{Role: midtool.RoleAssistant, Content: text}
}

// call makes calls of tools named by "name arguments", without IDs.
func call(calls ...string) midtool.Message {
	m := midtool.Message{Role: midtool.RoleAssistant}
	for _, c := range calls {
		name, arguments, _ := strings.Cut(c, " {")
		m.Calls = append(m.Calls, midtool.Call{Name: name, Arguments: []byte("{" + arguments)})
	}
	return m
}

func result(content string) midtool.Message {
	return midtool.Message{Role: midtool.RoleTool, Content: content}
}

func tool(name, properties string, required ...string) midtool.Tool {
	list := `"` + strings.Join(required, `","`) + `"`
	if len(required) == 0 {
		list = ""
	}
	return midtool.Tool{Name: name, Description: "Works with a " + name + ".",
		Parameters: []byte(`{"type":"object","properties":{` + properties + `},"required":[` + list + `]}`)}
}

var shop = []midtool.Tool{
	tool("find_customer", `"email":{"type":"string"}`, "email"),
	tool("list_orders", `"customer_id":{"type":"string"}`, "customer_id"),
	tool("get_price", `"item":{"type":"string"},"count":{"type":"integer"}`, "item"),
	tool("ping", ``),
}

func conversation(messages ...midtool.Message) midtool.Sample {
	return midtool.Sample{Tools: shop, Messages: messages}
}

var own = &Options{Own: true}

func importAll(t testing.TB, o *Options, samples ...midtool.Sample) *midtool.Corpus {
	t.Helper()
	c, err := Import(context.Background(), all(samples...), o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Kept+len(c.Rejected) != len(samples) {
		t.Fatalf("%d kept and %d rejected of %d", c.Kept, len(c.Rejected), len(samples))
	}
	return c
}

// The family is what the structure proves.
func TestFamilies(t *testing.T) {
	for _, tt := range []struct {
		name            string
		sample          midtool.Sample
		family          midtool.Family
		ability, second midtool.Ability
		reason          string
	}{
		{"single", conversation(user("What does a red lamp cost?"), call(`get_price {"item":"red lamp"}`), result(`{"price": 20}`),
			say("It costs 20.")),
			midtool.Single, midtool.Grounding, midtool.Affordance, "one call among four tools"},
		{"two tools", midtool.Sample{Tools: shop[2:], Messages: []midtool.Message{user("What does a red lamp cost?"),
			call(`get_price {"item":"red lamp"}`), result(`{"price": 20}`), say("It costs 20.")}},
			midtool.Single, midtool.Grounding, "", "one other tool is no choice"},
		{"no arguments", conversation(user("Are you there, server?"), call(`ping {}`), result(`"pong"`), say("It said pong.")),
			midtool.Single, midtool.Affordance, "", "nothing to ground"},
		{"parallel", conversation(user("What do a red lamp and a blue lamp cost?"),
			call(`get_price {"item":"red lamp"}`, `get_price {"item":"blue lamp"}`),
			result(`{"price": 20}`), result(`{"price": 21}`), say("They cost 20 and 21.")),
			midtool.Parallel, midtool.Grounding, "", "two calls in one turn"},
		{"sequential", conversation(user("What did ada@example.com order so far?"), call(`find_customer {"email":"ada@example.com"}`),
			result(`{"id": "c-77"}`),
			call(`list_orders {"customer_id":"c-77"}`), result(`["lamp"]`), say("She ordered a lamp.")),
			midtool.Sequential, midtool.Composition, "", "the second call takes c-77 from the first result"},
		{"multi turn", conversation(user("Who is ada@example.com?"), call(`find_customer {"email":"ada@example.com"}`),
			result(`{"id": "c-77"}`), say("Customer c-77."),
			user("What did she order?"), call(`list_orders {"customer_id":"c-77"}`), result(`["lamp"]`), say("A lamp.")),
			midtool.MultiTurn, midtool.Composition, "", "the later request needs the earlier result"},
		{"unconnected turns", conversation(user("What does a red lamp cost?"), call(`get_price {"item":"red lamp"}`), result(`{"price": 20}`),
			say("20."),
			user("And what does a blue lamp cost?"), call(`get_price {"item":"blue lamp"}`), result(`{"price": 21}`), say("21.")),
			"", midtool.Grounding, "", "no call needs what came before"},
		{"unconnected calls", conversation(user("What do a red lamp and a blue lamp cost?"), call(`get_price {"item":"red lamp"}`),
			result(`{"price": 20}`),
			call(`get_price {"item":"blue lamp"}`), result(`{"price": 21}`), say("They cost 20 and 21.")),
			"", midtool.Grounding, "", "one after the other without need"},
		{"recovery", conversation(user("What does a red lamp cost?"), call(`get_price {"item":"red lamp"}`), result(`{"error": "timeout"}`),
			call(`get_price {"item":"red lamp"}`), result(`{"price": 20}`), say("It costs 20.")),
			midtool.Recovery, midtool.Recover, "", "tried again"},
		{"report", conversation(user("What does a red lamp cost?"), call(`get_price {"item":"red lamp"}`),
			result(`{"error": {"message": "no such item"}}`), say("I got an error: no such item.")),
			midtool.Recovery, midtool.Recover, "", "reported"},
		{"no call", conversation(user("Do you like lamps?"), say("I have no taste.")), midtool.NoCall, midtool.Affordance, "",
			"nothing was called"},
		{"no tools", midtool.Sample{Messages: []midtool.Message{user("Do you like lamps?"), say("I have no taste.")}}, midtool.NoCall, "", "",
			"nothing to see"},
	} {
		c := importAll(t, own, tt.sample)
		if tt.reason == "" || len(c.Samples) != 1 {
			t.Errorf("%s: %v", tt.name, c.Rejected)
			continue
		}
		if s := c.Samples[0]; s.Family != tt.family || s.Ability != tt.ability || s.SecondAbility != tt.second {
			t.Errorf("%s: %q %q %q, want %q %q %q (%s)", tt.name, s.Family, s.Ability, s.SecondAbility, tt.family, tt.ability, tt.second, tt.reason)
		}
	}
}

// A mistake that the tool has answered by an error is shown and not learned; one that it has not is none of ours to keep.
func TestMistakes(t *testing.T) {
	bad := conversation(user("What does a red lamp cost?"), call(`get_price {"item":"red lamp","count":"many"}`),
		result(`{"error": "count: want integer"}`),
		call(`get_price {"item":"red lamp"}`), result(`{"price": 20}`), say("It costs 20."))
	c := importAll(t, own, bad)
	if len(c.Samples) != 1 {
		t.Fatal(c.Rejected)
	}
	s := c.Samples[0]
	if s.Family != midtool.Recovery || !s.Messages[1].Untrained || s.Messages[3].Untrained || bad.Messages[1].Untrained {
		t.Errorf("%s, untrained %v %v", s.Family, s.Messages[1].Untrained, s.Messages[3].Untrained)
	}
	want := []midtool.Evidence{{CallID: "call_0002", Path: "/item", Class: midtool.EvidenceLiteral}}
	if diff := cmp.Diff(want, s.Evidence, cmpopts.IgnoreFields(midtool.Evidence{}, "Text")); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
	bad.Messages[2] = result(`{"price": 19}`)
	if c := importAll(t, own, bad); len(c.Rejected) != 1 || c.Rejected[0].Reason != "schema" ||
		c.Rejected[0].Path != "/messages/1/calls/0/arguments/count" {
		t.Errorf("%+v", c.Rejected)
	}
}

// Traces as agents write them: legacy roles apart, without IDs and names, with names that no API takes.
func TestNamesAndIDs(t *testing.T) {
	s := midtool.Sample{
		Tools: []midtool.Tool{tool("shop.price", `"item":{"type":"string"}`), tool("shop price", `"item":{"type":"string"}`),
			tool("shop_price", `"item":{"type":"string"}`), tool("größe", ``)},
		Messages: []midtool.Message{
			user("Compare what a red lamp and a blue lamp cost, and the size."),
			call(`shop.price {"item":"red lamp"}`, `shop price {"item":"blue lamp"}`, `shop_price {"item":"red lamp"}`, `größe {}`),
			result(`1`), result(`2`), result(`3`), result(`4`),
			say("Between 1 and 4."),
		},
	}
	s.Messages[1].Calls[1].ID, s.Messages[1].Calls[2].ID, s.Messages[1].Calls[3].ID = "call_0001", "x", "x"
	s.Messages[2].CallID, s.Messages[3].CallID, s.Messages[4].CallID = "x", "call_0001", "x"
	before := clone(s)
	c := importAll(t, own, s)
	if len(c.Samples) != 1 {
		t.Fatal(c.Rejected)
	}
	got := c.Samples[0]
	var names, originals []string
	for _, o := range got.Tools {
		names, originals = append(names, o.Name), append(originals, o.Original)
	}
	if want := []string{"shop.price", "shop price", "", "größe"}; !slices.Equal(originals, want) || names[2] != "shop_price" ||
		names[3] != "gr__e" {
		t.Errorf("tools %q from %q", names, originals)
	}
	if got := []string{names[0], names[1]}; !slices.Contains(got, "shop_price_2") || !slices.Contains(got, "shop_price_3") {
		t.Errorf("clashes: %q", got)
	}
	calls := got.Messages[1].Calls
	for k, want := range []struct{ id, name string }{{"call_0001_2", names[0]}, {"call_0001", names[1]}, {"x", "shop_price"},
		{"call_0004", "gr__e"}} {
		if calls[k].ID != want.id || calls[k].Name != want.name {
			t.Errorf("call %d: %s %s, want %s %s", k, calls[k].ID, calls[k].Name, want.id, want.name)
		}
	}
	for k, want := range []int{2, 1, 3, 0} { // by ID, then what is left
		if r := got.Messages[2+k]; r.CallID != calls[want].ID || r.Name != calls[want].Name {
			t.Errorf("result %d answers %s %s, want call %d", k, r.CallID, r.Name, want)
		}
	}
	if diff := cmp.Diff(before, s); diff != "" {
		t.Errorf("the conversation given has changed (-want +got):\n%s", diff)
	}
}

// A call by the exportable form of a name is a call of the tool.
func TestExportableCall(t *testing.T) {
	s := midtool.Sample{Tools: []midtool.Tool{tool("shop.price", `"item":{"type":"string"}`)}, Messages: []midtool.Message{
		user("What does a red lamp cost?"), call(`shop_price {"item":"red lamp"}`), result(`20`), say("It costs 20.")}}
	if c := importAll(t, own, s); len(c.Samples) != 1 || c.Samples[0].Tools[0].Original != "shop.price" {
		t.Errorf("%+v", c.Rejected)
	}
}

// Everything that is not kept has a reason, a place and an ID.
func TestRejections(t *testing.T) {
	good := func() midtool.Sample {
		return conversation(user("What does a red lamp cost?"), call(`get_price {"item":"red lamp"}`), result(`{"price": 20}`),
			say("It costs 20."))
	}
	licensed := func(license string) midtool.Sample {
		s := good()
		s.Tools = slices.Clone(s.Tools)
		for i := range s.Tools {
			s.Tools[i].License = "MIT"
		}
		s.Tools[1].License = license
		return s
	}
	for _, tt := range []struct {
		name         string
		o            *Options
		change       func(s *midtool.Sample)
		reason, path string
		detail       string
		why          string
	}{
		{"bad schema", own, func(s *midtool.Sample) { s.Tools = []midtool.Tool{shop[2], {Name: "x", Parameters: []byte(`[`)}} }, "bad_schema",
			"/tools/1", "", "no schema"},
		{"remote", own, func(s *midtool.Sample) {
			s.Tools = []midtool.Tool{shop[2], tool("x", `"a":{"$ref":"http://example.com/a.json"}`)}
		}, "remote_ref", "/tools/1", "", "leaves its document"},
		{"twice", own, func(s *midtool.Sample) { s.Tools = append(slices.Clone(s.Tools), shop[0]) }, "name", "/tools/4/name",
			`"find_customer" is offered twice`, "whose call?"},
		{"license of none", nil, func(s *midtool.Sample) {}, "license", "", "Options.License", "not stated"},
		{"license of conversation", &Options{License: "GPL-3.0-only"}, func(s *midtool.Sample) {}, "license", "", "GPL-3.0-only",
			"not on the list"},
		{"license of tool", &Options{License: "MIT"}, func(s *midtool.Sample) { *s = licensed("GPL-3.0-only") }, "license", "/tools/1/license",
			"GPL-3.0-only", "all must be allowed"},
		{"license of tool though own", own, func(s *midtool.Sample) { *s = licensed("GPL-3.0-only") }, "license", "/tools/1/license",
			"GPL-3.0-only", "what is stated counts"},
		{"license list", &Options{License: "MIT", Licenses: []string{"ISC"}}, func(s *midtool.Sample) {}, "license", "", "MIT", "another list"},
		{"leak", own, func(s *midtool.Sample) { s.Messages[0] = user("Call get_price for a red lamp.") }, "leak", "/messages/0", "get price",
			"gives the tool away"},
		{"ungrounded", own, func(s *midtool.Sample) { s.Messages[0] = user("What does that lamp cost?") }, "ungrounded",
			"/messages/1/calls/0/arguments/item", "red lamp", "from nowhere"},
		{"cut", own, func(s *midtool.Sample) {
			s.Messages = append([]midtool.Message{user("And what does a red lamp cost?")}, s.Messages[1:3]...)
		}, "turn_order", "/messages/2", "", "ends without an answer"},
		{"unknown tool", own, func(s *midtool.Sample) { s.Messages[1].Calls[0].Name = "get_cost" }, "unknown_tool", "/messages/1/calls/0/name",
			"get_cost", "not offered"},
		{"missing", own, func(s *midtool.Sample) { s.Messages[1].Calls[0].Arguments = []byte(`{}`) }, "missing_required",
			"/messages/1/calls/0/arguments/item", "", "required"},
		{"empty", own, func(s *midtool.Sample) { *s = midtool.Sample{} }, "turn_order", "/messages", "", "nothing"},
	} {
		s := good()
		tt.change(&s)
		c := importAll(t, tt.o, good(), s)
		if tt.o == own && c.Kept != 1 {
			t.Fatalf("%s: %v", tt.name, c.Rejected)
		}
		r := c.Rejected[len(c.Rejected)-1]
		if r.Sample != "import/2" || r.Reason != tt.reason || !strings.HasPrefix(r.Path, tt.path) || !strings.Contains(r.Detail, tt.detail) ||
			tt.why == "" {
			t.Errorf("%s: %+v, want %s at %s: %s (%s)", tt.name, r, tt.reason, tt.path, tt.detail, tt.why)
		}
	}
	// The license of the conversations covers tools that state none; stated ones count for themselves.
	stated := licensed("Apache-2.0")
	stated.Messages[0] = user("And what does a red lamp cost?")
	c := importAll(t, &Options{License: "MIT"}, good(), stated)
	if c.Kept != 2 || c.Samples[0].Tools[0].License != "MIT" || c.Samples[1].Tools[1].License != "Apache-2.0" {
		t.Errorf("%v", c.Rejected)
	}
}

func TestSkip(t *testing.T) {
	s := conversation(user("red lamp"), call(`get_price {"item":"blue lamp"}`), result(`{"price": 20}`), say("It costs 20."))
	c := importAll(t, &Options{Own: true, Skip: []string{"leak", "ungrounded"}}, s)
	if c.Kept != 1 || c.Samples[0].Evidence[0].Class != midtool.EvidenceUngrounded {
		t.Fatalf("%v", c.Rejected)
	}
	for _, skip := range []string{"leak", "ungrounded"} {
		if c := importAll(t, &Options{Own: true, Skip: []string{skip}}, s); c.Kept != 0 || c.Rejected[0].Reason == skip {
			t.Errorf("%s: %v", skip, c.Rejected)
		}
	}
}

// Of conversations with the same tools, calls and requests the first that can be kept is.
func TestDuplicates(t *testing.T) {
	one := conversation(user("What do 2 red lamps cost?"), call(`get_price {"item":"red lamps","count":2}`), result(`{"price": 20}`),
		say("They cost 20."))
	broken, other, again, reordered := clone(one), clone(one), clone(one), clone(one)
	broken.Messages = broken.Messages[:3]
	other.Messages[0] = user("And what do 2 red lamps cost?")
	again.ID, again.Messages[3] = "mine", say("20 it is.")
	slices.Reverse(reordered.Tools)
	reordered.Messages[1].Calls[0].Arguments = []byte(`{ "count":2, "item":"red lamps"}`)
	c := importAll(t, own, broken, one, other, again, reordered)
	var got []string
	for _, r := range c.Rejected {
		got = append(got, r.Sample+" "+r.Reason+" "+r.Detail)
	}
	if len(got) != 3 || got[1] != "mine duplicate import/2" || got[2] != "import/5 duplicate import/2" || c.Kept != 2 {
		t.Errorf("%d kept, rejected %q", c.Kept, got)
	}
}

// Each conversation has an ID of its own, whether it came with one or not.
func TestIDs(t *testing.T) {
	for _, tt := range []struct {
		name   string
		ids    []string
		kept   []string
		lost   []string // ID and conversation that has it
		reason string
	}{
		{"given", []string{"a", "b"}, []string{"a", "b"}, nil, "all differ"},
		{"made", []string{"", ""}, []string{"import/1", "import/2"}, nil, "all are made"},
		{"twice", []string{"a", "b", "a", "a"}, []string{"a", "b"}, []string{"a 1", "a 1"}, "the first one has it"},
		{"made later", []string{"import/2", ""}, []string{"import/2", "import/2_2"}, nil, "a made one gives way"},
		{"made much later", []string{"import/3_2", "import/3", ""}, []string{"import/3_2", "import/3", "import/3_3"}, nil, "twice"},
		{"made before", []string{"", "import/1"}, []string{"import/1"}, []string{"import/1 1"}, "it is out already"},
		{"of a rejected one", []string{"cut", "cut"}, nil, []string{"cut turn_order", "cut 1"}, "IDs of rejections differ too"},
	} {
		var samples []midtool.Sample
		for k, id := range tt.ids {
			s := conversation(user(fmt.Sprintf("Do you like %d lamps?", k)), say("I have no taste."))
			if s.ID = id; id == "cut" && k == 0 {
				s.Messages = s.Messages[:1]
			}
			samples = append(samples, s)
		}
		c := importAll(t, own, samples...)
		var kept, lost []string
		for _, s := range c.Samples {
			kept = append(kept, s.ID)
		}
		for _, r := range c.Rejected {
			if r.Reason != "duplicate_id" {
				lost = append(lost, r.Sample+" "+r.Reason)
			} else if number, ok := strings.CutPrefix(r.Detail, "the ID of conversation "); ok && r.Path == "/id" {
				lost = append(lost, r.Sample+" "+number)
			}
		}
		if !slices.Equal(kept, tt.kept) || !slices.Equal(lost, tt.lost) || tt.reason == "" {
			t.Errorf("%s: kept %q, lost %q, want %q, %q (%s)", tt.name, kept, lost, tt.kept, tt.lost, tt.reason)
		}
	}
}

// A license is spelled as those of tools are.
func TestLicenseSpelling(t *testing.T) {
	s := conversation(user("Do you like lamps?"), say("I have no taste."))
	for _, license := range []string{"MIT", " the MIT License\n", "apache 2.0"} {
		c := importAll(t, &Options{License: license}, s)
		if c.Kept != 1 || !slices.Contains(midtool.DefaultLicenses(), c.Samples[0].Tools[0].License) {
			t.Errorf("%q: %v", license, c.Rejected)
		}
	}
	if c := importAll(t, &Options{License: "GPL"}, s); c.Kept != 0 || c.Rejected[0].Reason != "license" {
		t.Errorf("GPL: %v", c.Rejected)
	}
	c, err := Import(context.Background(), all(s), &Options{License: "\xff"})
	if c != nil || err == nil || !strings.Contains(err.Error(), `"\xff"`) {
		t.Errorf("no text: %v, %v", c, err)
	}
}

// A conversation that states its family is held to it.
func TestStatedFamily(t *testing.T) {
	s := conversation(user("What does a red lamp cost?"), call(`get_price {"item":"red lamp"}`), result(`{"price": 20}`), say("It costs 20."))
	s.Family, s.Ability = "their word", "theirs"
	if c := importAll(t, own, s); c.Kept != 1 || c.Samples[0].Family != midtool.Single || c.Samples[0].Ability != midtool.Grounding {
		t.Errorf("another word: %v", c.Rejected)
	}
	s.Family, s.Ability = midtool.NoCall, ""
	if c := importAll(t, own, s); c.Kept != 0 || c.Rejected[0].Reason != "proof" {
		t.Errorf("a call in no_call: %v", c.Rejected)
	}
	s.Family = midtool.Irrelevance
	if c := importAll(t, own, s); c.Kept != 0 || c.Rejected[0].Reason != "proof" {
		t.Errorf("a call in irrelevance: %v", c.Rejected)
	}
	s.Family = midtool.Single
	if c := importAll(t, own, s); c.Kept != 1 || c.Samples[0].Ability != midtool.Grounding {
		t.Errorf("single: %v", c.Rejected)
	}
}

func TestErrors(t *testing.T) {
	good := conversation(user("What does a red lamp cost?"), call(`get_price {"item":"red lamp"}`), result(`{"price": 20}`),
		say("It costs 20."))
	full := errors.New("disk full")
	ctx, cancel := context.WithCancel(context.Background())
	stopping := func(yield func(midtool.Sample, error) bool) {
		if yield(good, nil) {
			cancel()
			yield(good, nil)
		}
	}
	for _, tt := range []struct {
		name    string
		ctx     context.Context
		samples iter.Seq2[midtool.Sample, error]
		o       *Options
		want    string
		is      error
	}{
		{"window", context.Background(), all(), &Options{MaxTokens: 255}, "MaxTokens 255 is below 256", nil},
		{"negative", context.Background(), all(), &Options{MaxTokens: -1}, "MaxTokens -1", nil},
		{"nil", context.Background(), nil, nil, "samples is nil", nil},
		{"reader", context.Background(), lines(`{"messages":[{"role":"user","content":"Hi."}]}` + "\n{"), own, "agent.jsonl:2", nil},
		{"emit", context.Background(), all(good), &Options{Own: true, Emit: func(midtool.Sample) error { return full }}, `emit "import/1"`, full},
		{"stopped", ctx, stopping, own, "", context.Canceled},
	} {
		c, err := Import(tt.ctx, tt.samples, tt.o)
		if c != nil || err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v, %v", tt.name, c, err)
		}
	}
	if c, err := Import(ctx, all(), nil); c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("stopped before: %v", err)
	}
	if c := importAll(t, nil); c.Kept != 0 || c.Samples != nil || c.Rejected != nil {
		t.Errorf("nothing: %+v", c)
	}
}

// Handed out one by one, samples are the same and not kept.
func TestEmit(t *testing.T) {
	one := conversation(user("What does a red lamp cost?"), call(`get_price {"item":"red lamp"}`), result(`{"price": 20}`),
		say("It costs 20."))
	two := conversation(user("Do you like lamps?"), say("I have no taste."))
	want := importAll(t, own, one, one, two)
	var got []midtool.Sample
	c := importAll(t, &Options{Own: true, Emit: func(s midtool.Sample) error { got = append(got, s); return nil }}, one, one, two)
	if diff := cmp.Diff(want.Samples, got); diff != "" || c.Samples != nil {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, want.Samples = nil, nil
	if diff := cmp.Diff(want, c); diff != "" || c.Tools != len(shop) || c.Tokens == 0 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// item draws a word that stands in no other text.
func item(t *rapid.T, label string) string {
	return rapid.StringMatching(`[a-z]{6,9}( [a-z]{6,9})?`).Draw(t, label)
}

// What was imported once and written comes in again with the same calls, evidence, family and tools.
func TestImportAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var given []midtool.Sample
		for range rapid.IntRange(1, 4).Draw(t, "samples") {
			a, b := item(t, "a"), item(t, "b")
			text := rapid.SampledFrom([]string{"Tell me about %s and %s.", "Is <%s> & \"%s\" there?", "日本 %s\u2028%s!"}).Draw(t, "text")
			s := conversation(user(fmt.Sprintf(text, a, b)))
			s.Tools = rapid.Permutation(slices.Clone(shop)).Draw(t, "tools")
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				s.Messages = append(s.Messages, call(`get_price {"item":"`+a+`"}`), result(`{"price": 20}`))
			case 1:
				s.Messages = append(s.Messages, call(`get_price {"item":"`+a+`"}`, `get_price {"item":"`+b+`"}`), result(`{"price": 20}`), result(`[]`))
			case 2:
				s.Messages = append(s.Messages, call(`find_customer {"email":"`+a+`"}`), result(`{"id": "c-77"}`),
					call(`list_orders {"customer_id":"c-77"}`), result(`"none"`))
			}
			s.Messages = append(s.Messages, say("Done with it."))
			if rapid.Bool().Draw(t, "dots") {
				s.Tools = slices.Clone(s.Tools)
				for i := range s.Tools {
					s.Tools[i].Name = strings.Replace(s.Tools[i].Name, "_", ".", 1)
				}
				for i := range s.Messages {
					for j := range s.Messages[i].Calls {
						s.Messages[i].Calls[j].Name = strings.Replace(s.Messages[i].Calls[j].Name, "_", ".", 1)
					}
				}
			}
			given = append(given, s)
		}
		first, err := Import(context.Background(), all(given...), own)
		if err != nil {
			t.Fatal(err)
		}
		o := midtool.MessageOptions{StringArguments: rapid.Bool().Draw(t, "strings"), Meta: rapid.Bool().Draw(t, "meta")}
		var b bytes.Buffer
		if err := midtool.WriteMessages(&b, first.Samples, &o); err != nil {
			t.Fatal(err)
		}
		again, err := Import(context.Background(), lines(b.String()), own)
		if err != nil || len(again.Rejected) > 0 {
			t.Fatalf("%v, rejected %v", err, again.Rejected)
		}
		same := []cmp.Option{cmpopts.IgnoreFields(midtool.Sample{}, "ID"), cmpopts.IgnoreFields(midtool.Tool{}, "ID", "Original")}
		if diff := cmp.Diff(first.Samples, again.Samples, same...); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
	})
}

// FuzzImport: whatever can be read is kept or rejected, and what is kept is sound.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"What is it?"},{"role":"assistant","content":"No."}],` +
		`"tools":[{"function":{"name":"a.b"}},{"function":{"name":"a b"}}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"Say ab to it."},` +
		`{"role":"assistant","tool_calls":[{"function":{"name":"a.b","arguments":"{\"x\":\"ab\"}"}},` +
		`{"id":"1","function":{"name":"a_b","arguments":{}}}]},` +
		`{"role":"tool","content":"{\"error\":1}"},{"role":"tool","tool_call_id":"1","content":"2"},{"role":"assistant","content":"No."}],` +
		`"tools":[{"function":{"name":"a.b","parameters":{"properties":{"x":{"type":"str"}}}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		counted := func(yield func(midtool.Sample, error) bool) {
			for s, err := range lines(string(data)) {
				if err != nil {
					return
				}
				n++
				if !yield(s, nil) {
					return
				}
			}
		}
		c, err := Import(context.Background(), counted, own)
		if err != nil || c.Kept != len(c.Samples) || c.Kept+len(c.Rejected) != n {
			t.Fatalf("%v: %d samples gave %+v", err, n, c)
		}
		for _, s := range c.Samples {
			if v := midtool.Validate(s); v != nil {
				t.Fatalf("kept with %v", v)
			}
		}
	})
}

func BenchmarkImport(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		var samples []midtool.Sample
		for i := range n {
			item := fmt.Sprintf("lamp %d", i)
			samples = append(samples, conversation(user("What does the "+item+" cost?"), call(`get_price {"item":"`+item+`"}`),
				result(`{"price": 20}`), say("It costs 20.")))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c := importAll(b, own, samples...); c.Kept != n {
					b.Fatal(c.Rejected[0])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/sample")
		})
	}
}
