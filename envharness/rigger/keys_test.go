package rigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// withKind is the catalogue with a kind that adds to what is shown.
func withKind(t testing.TB, change func(k *components.Kind)) *components.Registry {
	t.Helper()
	r := components.Catalogue()
	k := components.Kind{
		Tag: "broken", Version: 1, Axis: envharness.AxisObservation, Direction: components.Harder, Sound: "always", About: "adds a word",
		Schema: []byte(`{"type":"object"}`), Ladder: []json.RawMessage{[]byte(`{"how":"mild"}`)},
		New: func(params json.RawMessage) (envharness.Component, error) {
			var b broken
			err := json.Unmarshal(params, &b)
			return b, err
		},
	}
	change(&k)
	if err := r.Add(k); err != nil {
		t.Fatal(err)
	}
	return r
}

// An answer of the designer is used again for an equal brief and an equal name, and for no other.
func TestDesignKeys(t *testing.T) {
	journal, err := rigger.OpenJournal(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	made, asked, most := 0, 0, 0
	run := func(change func(p *rigger.Problem, o *rigger.Options, name *string)) {
		t.Helper()
		p, o, name := problem(t, 7), quick(nil), "none"
		inner := p.NewPolicy
		p.NewPolicy = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			made++
			return inner(task, rng)
		}
		p.Registry, o.Journal = withKind(t, func(*components.Kind) {}), journal
		change(&p, o, &name)
		o.Designer = named{rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
			asked, most = asked+1, b.MaxComponents
			return rigger.Candidate{}, nil
		}), name}
		rig(t, p, o)
	}
	same := func(*rigger.Problem, *rigger.Options, *string) {}
	run(same)
	if made != 5 || asked != 1 || most != 4 {
		t.Fatalf("%d rollouts and %d designs, at most %d components", made, asked, most)
	}
	kind := func(change func(k *components.Kind)) func(*rigger.Problem, *rigger.Options, *string) {
		return func(p *rigger.Problem, _ *rigger.Options, _ *string) { p.Registry = withKind(t, change) }
	}
	for _, tt := range []struct {
		change func(p *rigger.Problem, o *rigger.Options, name *string)
		again  bool
		reason string
	}{
		{same, false, "nothing"},
		{func(_ *rigger.Problem, _ *rigger.Options, name *string) { *name = "other" }, true, "the name"},
		{func(p *rigger.Problem, _ *rigger.Options, _ *string) {
			p.Edges = []components.Edge{{Before: components.Match{Tool: "restart"}, After: components.Match{Tool: "combine"}}}
		}, true, "the edges"},
		{func(_ *rigger.Problem, o *rigger.Options, _ *string) { o.MaxComponents = 3 }, true, "how many components there may be"},
		{func(_ *rigger.Problem, o *rigger.Options, _ *string) { o.MaxComponents = 4 }, false, "the default"},
		{func(p *rigger.Problem, _ *rigger.Options, _ *string) { p.Registry = nil }, true, "a kind more or less"},
		{kind(func(k *components.Kind) { k.Tag = "other" }), true, "a tag"},
		{kind(func(k *components.Kind) { k.Version = 2 }), true, "a version"},
		{kind(func(k *components.Kind) { k.Schema = []byte(`{"type":"object","minProperties":1}`) }), true, "a schema"},
		{kind(func(k *components.Kind) { k.Ladder = append(k.Ladder, []byte(`{"how":"strong"}`)) }), true, "a ladder"},
		{kind(func(k *components.Kind) { k.About = "adds words" }), true, "what a kind does"},
		{kind(func(k *components.Kind) {
			k.New = func(json.RawMessage) (envharness.Component, error) { return nil, errors.New("") }
		}), false,
			"what no designer can see"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		before := asked
		run(tt.change)
		if (asked > before) != tt.again || made != 5 {
			t.Errorf("another value of %s: it was asked %d times, and %d rollouts were played", tt.reason, asked-before, made-5)
		}
	}
}

// A rollout is another one if its components are of another version.
func TestRolloutKeys(t *testing.T) {
	journal, err := rigger.OpenJournal(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	for i, version := range []int{1, 1, 2, 2} {
		p := problem(t, 7)
		p.Registry = withKind(t, func(k *components.Kind) { k.Version = version })
		if _, err := rigger.Rollouts(t.Context(), p, &rigger.Options{Journal: journal}, rigger.Play{
			Name: "x", Task: hand, N: 1, Stack: []components.Entry{{Tag: "broken", Version: version, Params: []byte(`{"how":"x"}`)}},
		}); err != nil || journal.Len() != version {
			t.Errorf("run %d, version %d: %d records: %v", i, version, journal.Len(), err)
		}
	}
}

// Kept are rollouts of the policy and answers of the designer; those of policies that know nothing cost the world alone.
func TestJournalKeepsWhatIsPaid(t *testing.T) {
	journal, err := rigger.OpenJournal(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	o := quick(proposes(budget(7)))
	o.Journal = journal
	r := rig(t, problem(t, 7), o)
	if want := r.Cost.Rollouts() + r.Cost.Designs; r.Cost.Checks == 0 || journal.Len() != want {
		t.Errorf("%d records, want %d: %+v", journal.Len(), want, r.Cost)
	}
}

// What cannot be built says from which registry.
func TestItemComponentsFault(t *testing.T) {
	item := rigger.Item{Task: envharness.Task{ID: "t"}, Stack: []components.Entry{{Tag: "broken", Params: []byte(`{"how":"x"}`)}}}
	if _, err := item.Components(withKind(t, func(*components.Kind) {})); err != nil {
		t.Error(err)
	}
	for want, r := range map[string]*components.Registry{"components.Catalogue, as no registry was given": nil, "the registry that was given": components.NewRegistry()} {
		if _, err := item.Components(r); !errors.Is(err, components.ErrUnknownTag) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

// silent is a component that cannot say what it does.
type silent struct{ broken }

// gasping is one that fails to.
type gasping struct{ broken }

func (gasping) String() string { panic("no words") }

// A component is told in the words of its kind if it has none of its own; one that panics instead is rejected, and the next one is tried.
func TestRigWords(t *testing.T) {
	of := func(c func(broken) envharness.Component) *components.Registry {
		return withKind(t, func(k *components.Kind) {
			k.New = func(params json.RawMessage) (envharness.Component, error) {
				var b broken
				err := json.Unmarshal(params, &b)
				return c(b), err
			}
		})
	}
	odd := rigger.Candidate{Stack: []components.Entry{{Tag: "broken", Params: []byte(`{"how":"x"}`)}}}
	for _, tt := range []struct {
		registry *components.Registry
		want     string
		reason   string
	}{
		{of(func(b broken) envharness.Component { return silent{b} }), `  1. adds a word {"how":"x"}: accept`, "the About of the kind"},
		{of(func(b broken) envharness.Component { return gasping{b} }), "  1. broken: reject, static: rigger: panic: no words", "a panic"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		p, o := problem(t, 0), quick(proposes(odd, budget(7)))
		p.Registry, o.Preset, o.Attempts, o.Accept = tt.registry, rigger.Unchecked, 2, 2
		if got := rig(t, p, o).String(); !strings.Contains(got, tt.want) || !strings.Contains(got, "  2. the episode ends after 7 turns: accept") {
			t.Errorf("%s\nwant %q (%s)", got, tt.want, tt.reason)
		}
	}
}
