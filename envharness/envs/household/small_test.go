package household

import (
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/text"
)

// In random play, and on the way of the oracle, every text, every admissible command and the task are made of the vocabulary; in the small preset
// a text has at most 40 words and there are at most 25 commands.
func TestVocabularyAndSmallLaw(t *testing.T) {
	t.Parallel()
	for _, small := range []bool{false, true} {
		env := New(&Options{Small: small})
		vocabulary := env.Describe().Vocabulary
		if want := map[bool]int{false: 50, true: 12}[small]; env.Describe().MaxTurns != want {
			t.Errorf("small %v: %d turns, want %d", small, env.Describe().MaxTurns, want)
		}
		if !slices.IsSorted(vocabulary) || len(slices.Compact(slices.Clone(vocabulary))) != len(vocabulary) {
			t.Errorf("small %v: the vocabulary is not sorted and unique", small)
		}
		used := map[string]bool{}
		words, commands := 0, 0
		check := func(id string, o envharness.Observation) {
			texts := []string{o.Text, o.Data["task"].(string)}
			for _, a := range o.Actions {
				texts = append(texts, a.Text())
			}
			words, commands = max(words, len(text.Words(o.Text))), max(commands, len(o.Actions))
			for _, s := range texts {
				for _, w := range text.Words(s) {
					used[w] = true
					if _, ok := slices.BinarySearch(vocabulary, w); !ok {
						t.Fatalf("%s: %q in %q is not in the vocabulary", id, w, s)
					}
				}
			}
		}
		r := envharness.RandStream(1, "test/words", 0)
		for _, split := range []string{"train", "ood"} {
			tasks, err := env.Tasks(t.Context(), split)
			if err != nil {
				t.Fatal(err)
			}
			step := len(tasks) / 200
			for i := 0; i < len(tasks); i += step {
				o, err := env.Reset(t.Context(), envharness.ResetOptions{Task: tasks[i].ID})
				for err == nil {
					if check(tasks[i].ID, o); len(o.Actions) == 0 {
						break
					}
					a := o.Actions[r.IntN(len(o.Actions))]
					if plan, err := env.Plan(t.Context()); err == nil && r.IntN(3) > 0 {
						a = plan[0]
					}
					if r.IntN(20) == 0 {
						a = act("eat")
					}
					var tr envharness.Transition
					tr, err = env.Step(t.Context(), a)
					o = tr.Observation
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		var unused []string
		for _, w := range vocabulary {
			if !used[w] {
				unused = append(unused, w)
			}
		}
		t.Logf("small %v: %d words in the vocabulary, texts of at most %d words, at most %d commands, unused %v", small, len(vocabulary), words, commands, unused)
		if small && (words > 40 || commands > 25 || len(vocabulary) > 100) {
			t.Errorf("small: texts of %d words, %d commands, a vocabulary of %d", words, commands, len(vocabulary))
		}
		if len(unused) > len(vocabulary)/4 {
			t.Errorf("small %v: unused words %v", small, unused)
		}
	}
}

// The text of the small preset has room for the worst of its rooms: everything in one place.
func TestSmallTextFits(t *testing.T) {
	s := Scene{
		Receptacles: []Receptacle{{Name: "bed 1", Location: 1}, {Name: "desk 1", Location: 2}, {Name: "drawer 1", Location: 3},
			{Name: "dresser 1", Location: 4}, {Name: "safe 1", Location: 5, Open: true}, {Name: "shelf 1", Location: 6}},
		Objects: []Object{{Name: "cd 1", In: "desk 1"}, {Name: "cd 2", In: "desk 1"}, {Name: "pen 1", In: "desk 1"}, {Name: "watch 1", In: "safe 1"},
			{Name: "book 1", In: "desk 1"}, {Name: "desklamp 1", In: "desk 1"}},
		Goal: Goal{PickTwo, "book", "shelf"},
	}
	e := mustEpisode(t, s)
	c := &compact{e}
	want := []struct{ command, text string }{
		{"look", "put two book in shelf.\nin the middle\nhold nothing\nplaces bed 1 desk 1 drawer 1 dresser 1 safe 1 shelf 1"},
		{"go to desk 1", "put two book in shelf.\nat desk 1\nsee book 1 cd 1 cd 2 desklamp 1 unused pen 1\nhold nothing\nplaces bed 1 desk 1 drawer 1 dresser 1 safe 1 shelf 1"},
		{"use desklamp 1", "put two book in shelf.\nat desk 1\nsee book 1 cd 1 cd 2 desklamp 1 switched pen 1\nhold nothing\nplaces bed 1 desk 1 drawer 1 dresser 1 safe 1 shelf 1"},
		{"use desklamp 1", "put two book in shelf.\nat desk 1\nsee book 1 cd 1 cd 2 desklamp 1 switched pen 1\nhold nothing\nplaces bed 1 desk 1 drawer 1 dresser 1 safe 1 shelf 1"},
		{"take pen 1 from desk 1", "put two book in shelf.\nat desk 1\nsee book 1 cd 1 cd 2 desklamp 1 switched\nhold pen 1\nplaces bed 1 desk 1 drawer 1 dresser 1 safe 1 shelf 1"},
		{"go to safe 1", "put two book in shelf.\nat safe 1 open\nsee watch 1\nhold pen 1\nplaces bed 1 desk 1 drawer 1 dresser 1 safe 1 shelf 1"},
		{"close safe 1", "put two book in shelf.\nat safe 1 closed\nsee nothing\nhold pen 1\nplaces bed 1 desk 1 drawer 1 dresser 1 safe 1 shelf 1"},
	}
	for _, w := range want {
		if r := c.Step(act(w.command)); r.Refusal != nil {
			t.Fatal(w.command, r.Refusal)
		}
		if got := c.Text(); got != w.text {
			t.Errorf("%s: %q, want %q", w.command, got, w.text)
		}
		if n := len(text.Words(c.Text())); n > 40 {
			t.Errorf("%s: %d words", w.command, n)
		}
	}
	c.Step(act("eat pen 1"))
	if got := c.Text(); got != want[len(want)-1].text {
		t.Errorf("after a refusal %q", got)
	}
	kitchen := mustEpisode(t, Scene{
		Receptacles: []Receptacle{{Name: "microwave 1", Location: 1}, {Name: "fridge 1", Location: 2}, {Name: "sinkbasin 1", Location: 3}},
		Objects:     []Object{{Name: "mug 1", In: "sinkbasin 1"}},
		Goal:        Goal{PickHeat, "mug", "fridge"},
	})
	for _, c := range []string{"go to sinkbasin 1", "take mug 1 from sinkbasin 1", "clean mug 1 with sinkbasin 1", "go to microwave 1", "heat mug 1 with microwave 1"} {
		if r := kitchen.Step(act(c)); r.Refusal != nil {
			t.Fatal(c, r.Refusal)
		}
	}
	if got := (&compact{kitchen}).Text(); !strings.Contains(got, "\nhold clean hot mug 1\n") {
		t.Errorf("text %q, want what was done to the mug", got)
	}
}
