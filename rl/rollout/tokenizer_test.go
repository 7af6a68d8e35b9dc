package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/shop"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/internal/text"
)

func tokenizer(t testing.TB, o *TokenizerOptions, words ...string) *Tokenizer {
	t.Helper()
	tok, err := NewTokenizer(words, o)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestNewTokenizer(t *testing.T) {
	tests := []struct {
		name   string
		words  string
		o      *TokenizerOptions
		want   string // words in order of ids, or part of the error after a !
		vocab  int
		reason string
	}{
		{"counts", "b a c c", nil, "c a b", 12, "by descending count, ties by bytes"},
		{"text", "Go, Go!", nil, "go ! ,", 12, "words of a text count, in lower case"},
		{"case", "Go go go", &TokenizerOptions{KeepCase: true}, "go Go", 11, "words that differ in case are two"},
		{"max", "b a c c", &TokenizerOptions{Max: 11}, "c a", 11, "the limit is that of all ids"},
		{"max slots", "b a c c", &TokenizerOptions{Max: 12, Slots: 2}, "c", 12, "slots are ids too"},
		{"max above", "b a", &TokenizerOptions{Max: 99, Slots: 2}, "a b", 13, "a limit that does not bind"},
		{"marks", "<v+> <pad>", nil, "< > + pad v", 14, "a text with a mark in it is ordinary words"},
		{"none", " \n", nil, "!without words", 0, "nothing to say"},
		{"slots", "a", &TokenizerOptions{Slots: -1}, "!Slots is -1", 0, "no count"},
		{"many slots", "a", &TokenizerOptions{Slots: 1 << 30}, "!Slots is 1073741824", 0, "more than a model can have"},
		{"max too low", "a", &TokenizerOptions{Max: 11, Slots: 2}, "!Max is 11", 0, "no room for a word"},
		{"negative max", "a", &TokenizerOptions{Max: -1}, "!Max is -1", 0, "no count"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			tok, err := NewTokenizer(strings.Split(tt.words, " "), tt.o)
			if part, bad := strings.CutPrefix(tt.want, "!"); bad && part != "" {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Fatalf("%s: error %v, want %q", tt.reason, err, part)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(tok.Words(), " "); got != tt.want || tok.Vocab() != tt.vocab {
				t.Errorf("%s: words %q of %d ids, want %q of %d", tt.reason, got, tok.Vocab(), tt.want, tt.vocab)
			}
			for i, w := range tok.Words() {
				if ids := tok.Encode(nil, nil, w); !slices.Equal(ids, []int{9 + i}) {
					t.Errorf("%q has ids %v, want %d", w, ids, 9+i)
				}
			}
		})
	}
}

// texts draws strings with what can go wrong in them.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune("aAbB09 .,<>+-_v\t\n\u00a0éÉİſKΣςǅ漢\u0301\uFFFD"))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"<v+>", "<pad> <bos>", "O-7012", "naïve Ünïcode", "a\xffb", "<slot0>"}),
	)
}

// If all words are known, decoding gives the words as internal/text splits them, slow and obvious; if not, each is one id all the same. Only
// Unk is a mark that a text has.
func TestEncodeDecode(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, other := texts().Draw(rt, "s"), texts().Draw(rt, "other")
		words := text.Words(s)
		if len(words) > 0 {
			tok := tokenizer(t, nil, s)
			ids := tok.Encode(nil, nil, s)
			if got, want := tok.Decode(nil, ids), strings.Join(words, " "); got != want {
				rt.Errorf("decoded %q, want %q", got, want)
			}
			if again := tok.Encode(nil, nil, tok.Decode(nil, ids)); !slices.Equal(ids, again) {
				rt.Errorf("%v becomes %v", ids, again)
			}
		}
		tok := tokenizer(t, &TokenizerOptions{Slots: rapid.IntRange(0, 3).Draw(rt, "slots")}, other, "x")
		names := NewNames()
		ids := tok.Encode([]int{-7}, names, s)
		if ids[0] != -7 || len(ids) != 1+len(words) {
			rt.Fatalf("%q: %v, want one id for each of the words %q after the -7", s, ids, words)
		}
		known := text.Words(other + " x")
		slots := map[string]int{}
		for i, id := range ids[1:] {
			w := words[i]
			if id < 9 && id != Unk || id >= tok.Vocab() {
				rt.Errorf("word %q has id %d", w, id)
			}
			if slices.Contains(known, w) {
				if got := tok.Decode(nil, []int{id}); got != w {
					rt.Errorf("%q is known, and reads %q", w, got)
				}
				continue
			}
			want := Unk // the oracle: slots in the order of first sight
			if _, ok := slots[w]; !ok && len(slots) < tok.Vocab()-9-len(tok.Words()) {
				slots[w] = len(slots)
			}
			if k, ok := slots[w]; ok {
				want = 9 + len(tok.Words()) + k
				if got := tok.Decode(names, []int{id}); got != w {
					rt.Errorf("the slot of %q reads %q", w, got)
				}
			}
			if id != want {
				rt.Errorf("unknown word %q has id %d, want %d", w, id, want)
			}
		}
	})
}

// Case is kept where it is asked for: the words are those of the text, letter by letter.
func TestKeepCase(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := texts().Draw(rt, "s")
		tok := tokenizer(t, &TokenizerOptions{KeepCase: true}, s, "x")
		ids := tok.Encode(nil, nil, s)
		want := strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
		if got := strings.ReplaceAll(tok.Decode(nil, ids), " ", ""); got != want || len(ids) != len(text.Words(s)) {
			rt.Errorf("%d words, %q, want %d, %q", len(ids), got, len(text.Words(s)), want)
		}
	})
}

// Ids without a word are shown as marks that no text encodes to.
func TestDecodeMarks(t *testing.T) {
	tok := tokenizer(t, &TokenizerOptions{Slots: 2}, "a")
	names := NewNames()
	tok.Encode(nil, names, "zoe")
	got := tok.Decode(names, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -1})
	if want := "<pad> <bos> <eos> <unk> <sep> <act> <end> <v+> <v-> a zoe <slot1> <12> <-1>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := tok.Decode(nil, []int{10}); got != "<slot0>" {
		t.Errorf("without names: %q", got)
	}
	for f := range strings.FieldsSeq(got) {
		if ids := tok.Encode(nil, nil, f); strings.HasPrefix(f, "<") && len(ids) < 3 {
			t.Errorf("the mark %s is the word %v", f, ids)
		}
	}
	if tok.Decode(nil, nil) != "" {
		t.Error("no ids are a text")
	}
}

func TestEncodeAllocations(t *testing.T) {
	tok := tokenizer(t, &TokenizerOptions{Slots: 1}, "the Quick brown fox , <")
	names := NewNames()
	dst := tok.Encode(nil, names, "The quick Zebra, <fox> THE zebra")
	if n := testing.AllocsPerRun(100, func() { dst = tok.Encode(dst[:0], names, "The quick zebra, <fox> THE unknown zebra") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Every text of a small world, whoever acts, is in the words of its tokenizer.
func TestWorldTokenizer(t *testing.T) {
	for name, w := range smallWorlds() {
		t.Run(name, func(t *testing.T) {
			tok, err := WorldTokenizer(t.Context(), w, &TokenizerOptions{Slots: 3})
			if err != nil {
				t.Fatal(err)
			}
			a, err := NewAgent(guess{tok.Vocab()}, tok, nil)
			if err != nil {
				t.Fatal(err)
			}
			tasks := tasksOf(t, w, 12)
			episodes, err := Collect(t.Context(), w, nil, playing(a, 1), tasks, nil)
			if err != nil {
				t.Fatal(err)
			}
			demos, err := Demonstrations(t.Context(), w, a, tasks, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range append(episodes, demos...) {
				for _, turn := range e.Trajectory.Turns {
					for _, tk := range turn.Tokens {
						if !tk.Trainable && (tk.ID == Unk || tk.ID >= tok.Vocab()-3) {
							t.Fatalf("task %s: a context has an unknown word or a name", e.Trace.Task.ID)
						}
					}
				}
			}
		})
	}
}

func smallWorlds() map[string]envharness.World {
	return map[string]envharness.World{
		"keydoor": keydoor.World(&keydoor.Options{Small: true}), "household": household.World(&household.Options{Small: true}),
		"tooldesk": tooldesk.World(&tooldesk.Options{Small: true}), "shop": shop.World(&shop.Options{Small: true}),
	}
}

func tasksOf(t testing.TB, w envharness.World, n int) []envharness.Task {
	t.Helper()
	env, err := w.New(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	l, ok := envharness.As[envharness.TaskLister](env)
	if !ok {
		t.Fatal("the world lists no tasks")
	}
	tasks, err := l.Tasks(context.Background(), "train")
	if err != nil {
		t.Fatal(err)
	}
	var out []envharness.Task
	for i := range n { // over the whole list
		out = append(out, tasks[i*len(tasks)/n])
	}
	return out
}

func TestWorldTokenizerErrors(t *testing.T) {
	tests := []struct {
		name, want, reason string
		w                  envharness.World
		o                  *TokenizerOptions
	}{
		{"names", `"tooldesk"`, "its names are invented", tooldesk.World(nil), nil},
		{"names", "Words", "says what to do", tooldesk.World(nil), nil},
		{"silent", "not known", "it does not describe itself", world(1), nil},
		{"no world", "no New", "nothing to open", envharness.World{}, nil},
		{"closed", "cable cut", "it cannot be opened", envharness.World{New: func(context.Context) (envharness.Environment, error) {
			return nil, errors.New("cable cut")
		}}, nil},
		{"case", "KeepCase", "no word of a text with a capital would be known", smallWorlds()["tooldesk"],
			&TokenizerOptions{KeepCase: true}},
		{"options", "Slots", "those of NewTokenizer", tooldesk.World(&tooldesk.Options{Small: true}), &TokenizerOptions{Slots: -1}},
	}
	for _, tt := range tests {
		if _, err := WorldTokenizer(t.Context(), tt.w, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) || tt.reason == "" {
			t.Errorf("%s: %s: error %v, want %q", tt.name, tt.reason, err, tt.want)
		}
	}
}

// described is a world with a vocabulary.
type described struct {
	counter
	d envharness.Description
}

func (d *described) Describe() envharness.Description { return d.d }

// The words of refusals are those that the world declares, or all; each word counts once.
func TestWorldTokenizerRefusals(t *testing.T) {
	tests := []struct {
		refusals []envharness.ErrorClass
		want     string
		reason   string
	}{
		{[]envharness.ErrorClass{envharness.ClassNotFound}, "args bad found not zoo", "and that of an unreadable answer"},
		{[]envharness.ErrorClass{}, "args bad not zoo", "none is known to be all"},
		{nil, "args bad found limit not other permission precondition rate timeout tool transient unknown zoo", "unknown, so all"},
	}
	for _, tt := range tests {
		w := envharness.World{New: func(context.Context) (envharness.Environment, error) {
			return &described{d: envharness.Description{Vocabulary: []string{"not", "zoo"}, Refusals: tt.refusals}}, nil
		}}
		tok, err := WorldTokenizer(t.Context(), w, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(tok.Words(), " "); got != tt.want {
			t.Errorf("refusals %v: %q, want %q: %s", tt.refusals, got, tt.want, tt.reason)
		}
	}
	// The list of classes is complete: what a world may declare is what envharness has.
	for _, w := range smallWorlds() {
		env, err := w.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d, _ := envharness.As[envharness.Describer](env)
		for _, c := range d.Describe().Refusals {
			if !slices.Contains(classes, c) {
				t.Errorf("class %s is not listed", c)
			}
		}
	}
}

func TestWords(t *testing.T) {
	obs := func(s string, data map[string]any, actions ...string) envharness.Observation {
		o := envharness.Observation{Text: s, Data: data}
		for _, a := range actions {
			o.Actions = append(o.Actions, envharness.Action{Name: a})
		}
		return o
	}
	trace := func(task string, first envharness.Observation, turns ...envharness.TurnTrace) envharness.Trace {
		return envharness.Trace{Task: envharness.Task{ID: task}, Shown: first, Turns: turns}
	}
	a := trace("a", obs("Find zoe, zoe", map[string]any{"task": "help", "n": 7.0}, "look"),
		envharness.TurnTrace{Proposed: &envharness.Action{Name: "ask", Args: json.RawMessage(`{"who":"zoe"}`)},
			Shown: envharness.Transition{Observation: obs("end", nil, "stop"), Error: &envharness.ActionError{Class: "not_found", Message: "message"}}})
	b := trace("b", obs("find Max", nil), envharness.TurnTrace{Said: "said"})
	again := trace("a", obs("find zoe too", nil))
	count := func(words []string) string {
		var out []string
		for _, w := range slices.Compact(slices.Clone(words)) {
			if !slices.Contains(strings.Fields("args bad limit not other permission precondition rate timeout tool transient unknown"), w) {
				n := 0
				for _, x := range words {
					if x == w {
						n++
					}
				}
				out = append(out, w+strings.Repeat("'", n-1))
			}
		}
		return strings.Join(out, " ")
	}
	for _, tt := range []struct {
		least        int
		want, reason string
	}{
		{0, ", Find Max ask end find' found help look stop too zoe", "of two tasks, though one was played twice and apart"},
		{2, "find' found", "words of both tasks, and those of refusals"},
		{3, "found", "no word is in three tasks"},
	} {
		if got := count(Words([]envharness.Trace{a, b, again}, tt.least)); got != tt.want {
			t.Errorf("least %d: %q, want %q: %s", tt.least, got, tt.want, tt.reason)
		}
	}
	if _, err := NewTokenizer(Words(nil, 1), nil); err != nil {
		t.Errorf("no episodes: %v", err)
	}
}

func TestTokenizerJSON(t *testing.T) {
	tok := tokenizer(t, &TokenizerOptions{Slots: 2, KeepCase: true}, "b b A <")
	data, err := json.Marshal(tok)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"words":["b","\u003c","A"],"slots":2,"keep_case":true}`; string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
	var back Tokenizer
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tok, &back, cmp.AllowUnexported(Tokenizer{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ data, reason string }{
		{`{`, "no JSON"},
		{`{}`, "no words"},
		{`{"words":["a","a"]}`, "a word has one id"},
		{`{"words":["a b"]}`, "no text has it"},
		{`{"words":[""]}`, "no text has it"},
		{`{"words":[" a"]}`, "no text has it"},
		{`{"words":["A"]}`, "in lower case no text has it"},
		{`{"words":["a"],"slots":-1}`, "no count"},
		{`{"words":["a"],"slots":99999999}`, "no vocabulary of that size"},
	} {
		before := back
		if err := json.Unmarshal([]byte(tt.data), &back); err == nil || back.Vocab() != before.Vocab() {
			t.Errorf("%s: %s was accepted, or changed the receiver", tt.data, tt.reason)
		}
	}
}

// What is accepted encodes every word to its id and comes back as it was.
func FuzzTokenizerJSON(f *testing.F) {
	for _, s := range []string{
		`{"words":["a","b","<"],"slots":3}`, `{"words":["A"],"keep_case":true}`, `{"words":["é","\ufffd"]}`, `null`, `{"words":["\ud800"]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var tok Tokenizer
		if tok.UnmarshalJSON(data) != nil {
			return
		}
		for i, w := range tok.Words() {
			if ids := tok.Encode(nil, nil, w); !slices.Equal(ids, []int{9 + i}) {
				t.Fatalf("word %d, %q, has ids %v", i, w, ids)
			}
		}
		out, err := json.Marshal(&tok)
		if err != nil {
			t.Fatal(err)
		}
		var back Tokenizer
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&tok, &back, cmp.AllowUnexported(Tokenizer{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func FuzzEncode(f *testing.F) {
	f.Add("Goal: leave <v+> room 1.", "ab\xff İ")
	f.Fuzz(func(t *testing.T, s, other string) {
		tok := tokenizer(t, &TokenizerOptions{Slots: 2}, other, "x")
		names := NewNames()
		ids := tok.Encode(nil, names, s)
		want := text.Words(s)
		if len(ids) != len(want) {
			t.Fatalf("%d ids for %d words", len(ids), len(want))
		}
		for i, id := range ids {
			if got := tok.Decode(names, ids[i:i+1]); id != Unk && got != want[i] || id < 9 && id != Unk {
				t.Fatalf("%q has id %d, %q", want[i], id, got)
			}
		}
	})
}
