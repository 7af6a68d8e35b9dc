package skill

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// genRecord draws records, some of which no file can hold.
func genRecord() *rapid.Generator[Record] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "e 1", "<|im_start|>", "\u2028", "\"\\'", "\x00\x1b", "ä, b", " x", "y\u0085", "-1", "null", "\xff"}))
	word := rapid.OneOf(rapid.StringMatching(`[a-zA-Z_.äß][a-zA-Z0-9_.]{0,6}`), rapid.SampledFrom([]string{"a", "b", "x'y", "#", "---"}), text)
	level := rapid.SampledFrom([]Level{"", LevelTask, LevelSubtask, LevelTask, "tasks"})
	return rapid.Custom(func(t *rapid.T) Record {
		hostile := rapid.IntRange(0, 2).Draw(t, "hostile") == 0
		pick := func(name string, g *rapid.Generator[string]) string {
			s := g.Draw(t, name)
			if !hostile {
				s = strings.ToValidUTF8(strings.TrimSpace(s), "")
			}
			return s
		}
		one := func(name string) string {
			s := pick(name, word)
			if !hostile {
				s = strings.Map(func(r rune) rune {
					if r == ',' || unicode.IsSpace(r) {
						return '_'
					}
					return r
				}, s)
			}
			return s
		}
		lv := func(name string) Level {
			l := level.Draw(t, name)
			if !hostile && l == "tasks" {
				l = ""
			}
			return l
		}
		low := 0
		if hostile {
			low = -1
		}
		r := Record{
			Version: rapid.IntRange(low, 9).Draw(t, "version"), Replaced: rapid.IntRange(low, 9).Draw(t, "replaced"),
			Level: lv("level"), Format: Format(rapid.IntRange(0, 1-low).Draw(t, "format")),
			Function: one("function"), Inducer: pick("inducer", text),
		}
		for range rapid.IntRange(0, 4).Draw(t, "calls") {
			if c := one("call"); c != "" || hostile {
				r.Calls = append(r.Calls, c)
			}
		}
		for range rapid.IntRange(0, 3).Draw(t, "origins") {
			o := Origin{
				Trajectory: pick("trajectory", text), Task: pick("task", text), Group: pick("group", text),
				Start: rapid.IntRange(low, 3).Draw(t, "start"), Level: lv("origin level"),
				Inducer: pick("origin inducer", text), Tainted: rapid.Bool().Draw(t, "tainted"), SHA256: pick("sha256", text),
			}
			o.End = o.Start + rapid.IntRange(low, 9).Draw(t, "length")
			if rapid.Bool().Draw(t, "has reward") {
				o.Reward = new(rapid.Float64().Draw(t, "reward"))
				if hostile && rapid.IntRange(0, 5).Draw(t, "odd reward") == 0 {
					o.Reward = new(rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "odd"))
				}
			}
			r.Origins = append(r.Origins, o)
		}
		return r
	})
}

// holdable says, rule by rule, whether a file can hold r.
func holdable(r Record) bool {
	level := func(l Level) bool { return l == "" || l == LevelTask || l == LevelSubtask }
	word := func(s string) bool { return strings.Join(strings.Fields(s), "") == s && !strings.Contains(s, ",") }
	texts := append([]string{r.Function, r.Inducer}, r.Calls...)
	ok := r.Version >= 0 && r.Replaced >= 0 && level(r.Level) && (r.Format == FormatText || r.Format == FormatCode) &&
		word(r.Function) && strings.TrimSpace(r.Inducer) == r.Inducer
	for _, c := range r.Calls {
		ok = ok && c != "" && word(c)
	}
	for _, o := range r.Origins {
		texts = append(texts, o.Trajectory, o.Task, o.Group, o.Inducer, o.SHA256)
		ok = ok && o.Start >= 0 && o.Start <= o.End && level(o.Level)
		ok = ok && (o.Reward == nil || !math.IsNaN(*o.Reward) && math.Abs(*o.Reward) <= math.MaxFloat64)
	}
	for _, s := range texts {
		ok = ok && utf8.ValidString(s)
	}
	return ok
}

// A record that a file can hold comes back from the file as it was, every other is an error that changes nothing; other keys
// of the metadata stay.
func TestRecordRoundTrip(t *testing.T) {
	good, bad := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := genRecord().Draw(t, "record")
		own := rapid.MapOfN(rapid.SampledFrom([]string{"version", "throughline", "throughline-time", "origins", "THROUGHLINE-VERSION"}), rapid.SampledFrom([]string{"1.0", "", "x"}), 0, 3).Draw(t, "own")
		d := &Document{Frontmatter: Frontmatter{Name: "a", Description: "x", Metadata: maps.Clone(own)}, Content: "b\n"}
		if len(own) == 0 {
			d.Frontmatter.Metadata = nil
		}
		if rapid.Bool().Draw(t, "has one already") {
			if err := d.SetRecord(Record{Version: 7, Replaced: 6, Level: LevelTask, Format: FormatCode, Function: "f", Calls: []string{"g"}, Inducer: "i", Origins: []Origin{{}}}); err != nil {
				t.Fatal(err)
			}
		}
		before := *d
		kept := maps.Clone(d.Frontmatter.Metadata)
		err := d.SetRecord(r)
		if (err == nil) != holdable(r) {
			t.Fatalf("SetRecord(%+v): %v", r, err)
		}
		if diff := cmp.Diff(kept, before.Frontmatter.Metadata); diff != "" {
			t.Fatalf("the map of a copy has changed (-want +got):\n%s", diff)
		}
		if err != nil {
			bad++
			if diff := cmp.Diff(&before, d); diff != "" {
				t.Fatalf("changed in spite of %v (-want +got):\n%s", err, diff)
			}
			return
		}
		good++
		data, err := Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Parse(data, &ParseOptions{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := again.ParseRecord()
		slices.Sort(r.Calls)
		r.Calls = slices.Compact(r.Calls)
		if diff := cmp.Diff(r, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got):\n%s\n%s", err, diff, data)
		}
		for k, v := range own {
			if again.Frontmatter.Metadata[k] != v {
				t.Fatalf("key %q is %q, want %q", k, again.Frontmatter.Metadata[k], v)
			}
		}
		if err := again.SetRecord(Record{}); err != nil || !maps.Equal(again.Frontmatter.Metadata, own) {
			t.Fatalf("the zero record leaves %v, want %v: %v", again.Frontmatter.Metadata, own, err)
		}
	})
	if !testing.Short() && (good == 0 || bad == 0) {
		t.Errorf("%d records that a file can hold and %d others were drawn", good, bad)
	}
}

func TestSetRecordRefuses(t *testing.T) {
	for _, c := range []struct {
		r    Record
		want []string // parts of the error
	}{
		{Record{Version: -1}, []string{keyVersion, "-1"}},
		{Record{Replaced: -2}, []string{keyReplaced, "-2"}},
		{Record{Level: "tasks"}, []string{keyLevel, `"tasks"`}},
		{Record{Format: 7}, []string{keyFormat, "Format(7)"}},
		{Record{Function: "f g"}, []string{keyFunction, `"f g"`}},
		{Record{Function: "f\xff"}, []string{keyFunction, "UTF-8"}},
		{Record{Calls: []string{"f", ""}}, []string{keyCalls, "call 1"}},
		{Record{Calls: []string{"f,g"}}, []string{keyCalls, "call 0"}},
		{Record{Calls: []string{"f\xff"}}, []string{keyCalls, "UTF-8"}},
		{Record{Inducer: "me "}, []string{keyInducer, `"me "`}},
		{Record{Inducer: "\xff"}, []string{keyInducer, "UTF-8"}},
		{Record{Origins: []Origin{{}, {Start: 2, End: 1}}}, []string{keyOrigins, "origin 1", "[2, 1)"}},
		{Record{Origins: []Origin{{Start: -1}}}, []string{keyOrigins, "origin 0"}},
		{Record{Origins: []Origin{{Reward: new(math.NaN())}}}, []string{keyOrigins, "NaN"}},
		{Record{Origins: []Origin{{Reward: new(math.Inf(1))}}}, []string{keyOrigins, "+Inf"}},
		{Record{Origins: []Origin{{Level: "x"}}}, []string{keyOrigins, `"x"`}},
		{Record{Origins: []Origin{{SHA256: "\xff"}}}, []string{keyOrigins, "UTF-8"}},
		{Record{Version: -1, Level: "x", Inducer: " "}, []string{keyVersion, keyLevel, keyInducer}},
	} {
		d := &Document{Frontmatter: Frontmatter{Name: "the-skill"}}
		err := d.SetRecord(c.r)
		if d.Frontmatter.Metadata != nil {
			t.Errorf("%+v was written", c.r)
		}
		if err := d.SetRecord(Record{}); err != nil || d.Frontmatter.Metadata != nil {
			t.Errorf("the zero record: metadata %v, %v", d.Frontmatter.Metadata, err)
		}
		for _, part := range append(c.want, "the-skill") {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: error %v, want one with %s", c.r, err, part)
			}
		}
	}
}

// The keys in the file are as documented.
func TestRecordFile(t *testing.T) {
	d := &Document{Frontmatter: Frontmatter{Name: "a", Description: "x", Metadata: map[string]string{"version": "1.0"}}}
	err := d.SetRecord(Record{Version: 3, Replaced: 2, Level: LevelSubtask, Format: FormatCode, Function: "refund_last_order",
		Calls: []string{"refund", "get_order", "refund"}, Inducer: "rules-1",
		Origins: []Origin{{Trajectory: "e1", Task: "<t1>", End: 5, Level: LevelSubtask, Reward: new(1.0)}}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Marshal(d)
	want := `---
name: a
description: x
metadata:
  throughline-calls: get_order refund
  throughline-format: code
  throughline-function: refund_last_order
  throughline-inducer: rules-1
  throughline-level: subtask
  throughline-origins: '[{"trajectory":"e1","task":"<t1>","start":0,"end":5,"level":"subtask","reward":1}]'
  throughline-replaced: "2"
  throughline-version: "3"
  version: "1.0"
---
`
	if diff := cmp.Diff(want, string(b)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestRecordEdited(t *testing.T) {
	full := map[string]string{
		keyVersion: "3", keyReplaced: "2", keyLevel: "task", keyFormat: "code", keyFunction: "f", keyCalls: "g h", keyInducer: "i", keyOrigins: `[{"start":1,"end":2}]`,
	}
	record := Record{Version: 3, Replaced: 2, Level: LevelTask, Format: FormatCode, Function: "f", Calls: []string{"g", "h"}, Inducer: "i", Origins: []Origin{{Start: 1, End: 2}}}
	for _, c := range []struct {
		key, value string
		bad        bool
		want       func(r *Record) // change to record
		reason     string
	}{
		{keyVersion, " 4 ", false, func(r *Record) { r.Version = 4 }, "blanks around a value are dropped"},
		{keyVersion, "1.0", true, func(r *Record) { r.Version = 0 }, "no whole number"},
		{keyVersion, "0", true, func(r *Record) { r.Version = 0 }, "versions start at 1"},
		{keyVersion, "-3", true, func(r *Record) { r.Version = 0 }, "negative"},
		{keyVersion, "", true, func(r *Record) { r.Version = 0 }, "empty is no number"},
		{keyVersion, "99999999999999999999", true, func(r *Record) { r.Version = 0 }, "beyond an int"},
		{keyReplaced, "two", true, func(r *Record) { r.Replaced = 0 }, "no number"},
		{keyLevel, "Task", true, func(r *Record) { r.Level = "" }, "letter case counts"},
		{keyLevel, "", false, func(r *Record) { r.Level = "" }, "empty is unknown"},
		{keyFormat, "text", false, func(r *Record) { r.Format = FormatText }, "the default may be stated"},
		{keyFormat, "python", true, func(r *Record) { r.Format = FormatText }, "no format"},
		{keyFunction, "f g", true, func(r *Record) { r.Function = "" }, "two words"},
		{keyCalls, "h,g , h\n\tx", false, func(r *Record) { r.Calls = []string{"g", "h", "x"} }, "any separator, any order, each once"},
		{keyCalls, " , ", false, func(r *Record) { r.Calls = nil }, "no call"},
		{keyInducer, " me ", false, func(r *Record) { r.Inducer = "me" }, "blanks around a value are dropped"},
		{keyOrigins, `[{"start":1,"end":2,"more":[1]}]`, false, func(r *Record) {}, "unknown members are ignored"},
		{keyOrigins, `null`, false, func(r *Record) { r.Origins = nil }, "none"},
		{keyOrigins, `[]`, false, func(r *Record) { r.Origins = nil }, "none"},
		{keyOrigins, ``, true, func(r *Record) { r.Origins = nil }, "no JSON"},
		{keyOrigins, `[{"start":1,"end":2}`, true, func(r *Record) { r.Origins = nil }, "cut off"},
		{keyOrigins, `[{"start":1,"end":2}] x`, true, func(r *Record) { r.Origins = nil }, "text behind"},
		{keyOrigins, `{"start":1,"end":2}`, true, func(r *Record) { r.Origins = nil }, "no list"},
		{keyOrigins, `[{"start":"1","end":2}]`, true, func(r *Record) { r.Origins = nil }, "wrong type"},
		{keyOrigins, `[{"start":1,"end":2},{"start":2,"end":1}]`, true, func(r *Record) { r.Origins = nil }, "a span that ends before it starts"},
		{keyOrigins, `[{"start":-1,"end":1}]`, true, func(r *Record) { r.Origins = nil }, "a span before the episode"},
		{keyOrigins, `[{"reward":1e999}]`, true, func(r *Record) { r.Origins = nil }, "a reward beyond a float64"},
		{keyOrigins, `[{"level":"x"}]`, true, func(r *Record) { r.Origins = nil }, "no level"},
		{keyOrigins, strings.Repeat("[", 1<<20), true, func(r *Record) { r.Origins = nil }, "nested without end"},
	} {
		m := maps.Clone(full)
		m[c.key] = c.value
		want := record
		c.want(&want)
		got, err := (&Document{Frontmatter: Frontmatter{Name: "a", Metadata: m}}).ParseRecord()
		if diff := cmp.Diff(want, got); diff != "" || c.reason == "" {
			t.Errorf("%s %.40q (%s) (-want +got):\n%s", c.key, c.value, c.reason, diff)
		}
		if (err != nil) != c.bad || err != nil && (!strings.Contains(err.Error(), c.key) || len(err.Error()) > 500) {
			t.Errorf("%s %.40q (%s): error %v", c.key, c.value, c.reason, err)
		}
	}

	garbage := make(map[string]string)
	for k := range full {
		garbage[k] = "\x00 ,{"
	}
	r, err := (&Document{Frontmatter: Frontmatter{Metadata: garbage}}).ParseRecord()
	for _, k := range []string{keyVersion, keyReplaced, keyLevel, keyFormat, keyFunction, keyOrigins} {
		if err == nil || !strings.Contains(err.Error(), k) {
			t.Errorf("all keys are garbage: %s is not named in %v", k, err)
		}
	}
	if diff := cmp.Diff(Record{Calls: []string{"\x00", "{"}, Inducer: "\x00 ,{"}, r); diff != "" {
		t.Errorf("all keys are garbage (-want +got):\n%s", diff)
	}
	if r, err := (&Document{Frontmatter: Frontmatter{Metadata: map[string]string{"version": "1.0", "level": "x"}}}).ParseRecord(); err != nil || !cmp.Equal(r, Record{}) {
		t.Errorf("a person's own keys: %+v, %v", r, err)
	}
}

// A file holds 10,000 full origins; more than fit are an error, not a loss.
func TestRecordOfNothing(t *testing.T) {
	for _, s := range []interface{ ParseRecord() (Record, error) }{(*Document)(nil), Loaded{}} {
		if _, err := s.ParseRecord(); err == nil || err.Error() != "skill: record: document is nil" {
			t.Errorf("%T: %v", s, err)
		}
	}
}

func TestRecordSize(t *testing.T) {
	origins := func(n int) Record {
		r := Record{Version: 1}
		for i := range n {
			r.Origins = append(r.Origins, Origin{Trajectory: fmt.Sprintf("episode-%05d", i), Task: "task-1", Start: 1, End: 9, Level: LevelSubtask,
				Reward: new(1.0), Inducer: "rules-1", SHA256: strings.Repeat("0f", 32)})
		}
		return r
	}
	d := &Document{Frontmatter: Frontmatter{Name: "a", Description: "x"}, Content: "b\n"}
	n := 10000
	if testing.Short() {
		n = 1000
	}
	want := origins(n)
	if err := d.SetRecord(want); err != nil {
		t.Fatal(err)
	}
	b, err := Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := Parse(b, &ParseOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.ParseRecord(); err != nil || !reflect.DeepEqual(want, got) {
		t.Errorf("%d origins read, %v", len(got.Origins), err)
	}
	if err := d.SetRecord(origins(12000)); err == nil || !strings.Contains(err.Error(), keyOrigins) {
		t.Errorf("more than a file can hold: %v", err)
	}
}
