package walkthrough

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/household"
)

func public(t *testing.T) []Game {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set: the test needs the public test data (alfworld)")
	}
	path := filepath.Join(dir, "alfworld", "expert_walkthroughs.json")
	if _, err := os.Stat(path); os.IsNotExist(err) {
		t.Skip("the folder of THROUGHLINE_DATA has no alfworld/expert_walkthroughs.json")
	}
	games, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return games
}

// All of ALFWorld's walkthroughs are read, and each reaches its goal in the world that is made to fit it.
func TestPublicWalkthroughs(t *testing.T) {
	games := public(t)
	kinds := map[household.Kind]int{}
	lengths := map[int]int{}
	causes := map[string]int{}
	twoPlaces, unnamed := 0, 0
	for _, g := range games {
		kinds[g.Kind]++
		lengths[len(g.Actions)]++
		cause, err := Replay(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		if cause != "" {
			t.Logf("%s: %s: %q", cause, g.ID, g.Actions)
		}
		causes[cause]++
		if InTwoPlaces(g) {
			twoPlaces++
		}
		if actsElsewhere(t, g) {
			unnamed++
		}
		// The way is as long as in ALFWorld: the world's shortest plan has the walkthrough's length, which is a shortest one there.
		// To find it is easier here, as the room has nothing that the walkthrough does not speak of.
		if length := shortest(t, g); cause == "" && length != len(g.Actions) {
			t.Errorf("%s: the shortest plan has %d actions, the walkthrough %d", g.ID, length, len(g.Actions))
		}
	}
	// The counts by kind and the 91 walkthroughs that end with the appliance were counted apart from this package.
	wantKinds := map[household.Kind]int{
		household.PickTwo: 813, household.PickAndPlace: 790, household.PickClean: 650, household.PickCool: 533, household.PickHeat: 459,
		household.LookInLight: 308,
	}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("games by kind (-want +got)\n%s", diff)
	}
	wantLengths := map[int]int{3: 119, 4: 954, 5: 113, 6: 1023, 7: 523, 8: 605, 9: 202, 10: 14} // 21,335 in all, 6.005 on average
	if diff := cmp.Diff(wantLengths, lengths); diff != "" {
		t.Errorf("games by number of actions (-want +got)\n%s", diff)
	}
	// In one bathroom ALFWorld takes the bathtub's basin for a sink's; the domain and its other games clean at sinkbasins.
	wantCauses := map[string]int{"": 3549, "refused: clean with bathtubbasin": 4}
	if diff := cmp.Diff(wantCauses, causes); diff != "" {
		t.Errorf("games by cause (-want +got)\n%s", diff)
	}
	if twoPlaces != 91 {
		t.Errorf("%d games need an object in two receptacles, want 91", twoPlaces)
	}
	if unnamed != 382 {
		t.Errorf("%d games act at a receptacle that they did not go to, want 382", unnamed)
	}
}

// actsElsewhere reports whether an action is at another receptacle than the one last gone to.
func actsElsewhere(t *testing.T, g Game) bool {
	commands, err := g.commands()
	if err != nil {
		t.Fatal(err)
	}
	at := ""
	for _, c := range commands {
		if c.verb == "go" {
			at = c.at
		} else if c.at != "" && c.at != at {
			return true
		}
	}
	return false
}

// shortest returns the length of the world's own plan, 0 if there is none.
func shortest(t *testing.T, g Game) int {
	scene, err := Scene(g)
	if err != nil {
		t.Fatal(err)
	}
	world, err := household.FromScene(scene, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := world.New()
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
		t.Fatal(err)
	}
	plan, err := env.Plan(t.Context())
	if err != nil && !errors.Is(err, envharness.ErrNoPlan) {
		t.Fatal(err)
	}
	return len(plan)
}

// The worlds are no easier than they have to be: what is not the walkthrough does not pass. Leaving out any action fails, and so does swapping two
// neighbours, but for those whose order is of no account.
func TestMutatedWalkthroughsFail(t *testing.T) {
	games := public(t)
	passed := map[string]int{} // swapped verbs
	tried := 0
	for i, g := range games {
		if i%4 != 0 && !InTwoPlaces(g) || testing.Short() && i%40 != 0 {
			continue
		}
		scene, err := Scene(g)
		if err != nil {
			t.Fatal(err)
		}
		for k := range g.Actions {
			tried++
			without := slices.Delete(slices.Clone(g.Actions), k, k+1)
			if cause, err := play(t.Context(), scene, without); err != nil || cause == "" {
				t.Errorf("%s passes without action %d of %q (%v)", g.ID, k, g.Actions, err)
			}
			if k == 0 {
				continue
			}
			swapped := slices.Clone(g.Actions)
			swapped[k-1], swapped[k] = swapped[k], swapped[k-1]
			cause, err := play(t.Context(), scene, swapped)
			if err != nil {
				t.Fatal(err)
			}
			if cause == "" {
				verbs := strings.Fields(g.Actions[k-1])[0] + " " + strings.Fields(g.Actions[k])[0]
				passed[verbs]++
			}
		}
	}
	t.Logf("%d actions left out, swaps that pass: %v", tried, passed)
	// A lamp can be switched before or after, and a door at the same place opened before or after the appliance is used.
	for _, verbs := range slices.Sorted(maps.Keys(passed)) {
		if !slices.Contains([]string{"use take", "open clean"}, verbs) {
			t.Errorf("%q swapped pass in %d games", verbs, passed[verbs])
		}
	}
	if !testing.Short() && tried < 5000 {
		t.Errorf("%d mutations tried", tried)
	}
}
