package baseline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/plr"
)

func run(t *testing.T, d PLR, p rigger.Problem, o *rigger.Options) *rigger.Report {
	t.Helper()
	r, err := d.Run(ctx, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func encoded(t *testing.T, r *rigger.Report) []byte {
	t.Helper()
	out, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// budgets is a registry in which step_budget is all there is to draw.
func budgets(t fataler) *components.Registry {
	registry := components.NewRegistry()
	kind, _ := components.Catalogue().Kind("step_budget")
	if err := registry.Add(kind); err != nil {
		t.Fatal(err)
	}
	return registry
}

// What is accepted is what the buffer holds in the end, and what is told of it is its last play.
func TestPLRReport(t *testing.T) {
	for _, tt := range []struct {
		d      PLR
		o      rigger.Options
		reason string
	}{
		{PLR{}, rigger.Options{}, "the defaults"},
		{PLR{Replay: new(0.0)}, rigger.Options{Attempts: 4, Accept: 3}, "new levels alone"},
		{PLR{Replay: new(1.0)}, rigger.Options{Attempts: 8}, "nothing new once there is a level"},
		{PLR{Buffer: &plr.Options{Proportional: true, Beta: new(1.0), Rho: new(0.5)}}, rigger.Options{Screen: 8, Baseline: 3}, "by score"},
		{PLR{Components: 2}, rigger.Options{Budget: rigger.Budget{Rollouts: 13}, Attempts: 20}, "the rollouts run out"},
		{PLR{}, rigger.Options{Budget: rigger.Budget{Turns: 40}, Attempts: 20}, "the turns run out"},
		{PLR{Score: NearHalf{}}, rigger.Options{}, "another score"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		p := hands(3)
		if tt.d.Components == 0 {
			p.Registry = budgets(t)
		}
		r := run(t, tt.d, p, &tt.o)
		o := tt.o
		defaults := func(n *int, v int) {
			if *n == 0 {
				*n = v
			}
		}
		defaults(&o.Baseline, 5)
		defaults(&o.Screen, 5)
		defaults(&o.Attempts, 5)
		defaults(&o.Accept, 1)
		defaults(&o.Budget.Rollouts, 200)
		score := tt.d.Score
		if score == nil {
			score = rigger.Learnability{}
		}

		var total rigger.Cost
		attempts := 0
		last := make(map[string]rigger.Tally)
		plays := make(map[string]int)
		for _, task := range r.Tasks {
			if task.Task.Seed == nil {
				t.Fatalf("%s: task %q has no seed", tt.reason, task.Task.ID)
			}
			var paid int
			for i, a := range task.Attempts {
				if a.Number != i+1 || a.Screen.Valid != o.Screen || len(a.Words) != len(a.Candidate.Stack) {
					t.Errorf("%s: attempt %d: %+v", tt.reason, i, a)
				}
				key := task.Task.ID + a.Hash
				plays[key]++
				last[key] = a.Screen
				paid += a.Cost.Screen
			}
			attempts += len(task.Attempts)
			if task.Cost.Screen != paid || task.Cost.Baseline != o.Baseline {
				t.Errorf("%s: task %q: cost %+v, its attempts %d", tt.reason, task.Task.ID, task.Cost, paid)
			}
			total.Baseline += task.Cost.Baseline
			total.Screen += task.Cost.Screen
			total.Turns += task.Cost.Turns
			total.Designs += task.Cost.Designs
		}
		if total != r.Cost {
			t.Errorf("%s: cost %+v, its parts are %+v", tt.reason, r.Cost, total)
		}
		if r.Cost.Rollouts() > o.Budget.Rollouts*len(p.Tasks) || attempts > o.Attempts*len(p.Tasks) {
			t.Errorf("%s: %d rollouts and %d attempts are more than allowed", tt.reason, r.Cost.Rollouts(), attempts)
		}
		accepted := make(map[string]int)
		for _, item := range r.Items {
			if accepted[item.Task.ID]++; accepted[item.Task.ID] > o.Accept {
				t.Errorf("%s: more than %d items of task %q", tt.reason, o.Accept, item.Task.ID)
			}
			for key, counts := range last { // none that is left out is better, but where the buffer has dropped it
				if _, task := strings.CutPrefix(key, item.Task.ID); task && accepted[item.Task.ID] == 1 &&
					score.Score(rigger.Measure{Counts: counts}) > item.Score {
					t.Errorf("%s: task %q: the first item has score %v, and there is one at %v", tt.reason, item.Task.ID, item.Score, counts)
				}
			}
			if got := last[item.Task.ID+item.Hash]; item.Counts != got {
				t.Errorf("%s: item of %q: %v, last played %v", tt.reason, item.Task.ID, item.Counts, got)
			}
			if want := score.Score(rigger.Measure{Counts: item.Counts}); item.Score != want || want <= 0 {
				t.Errorf("%s: item of %q: score %v, want %v, above 0", tt.reason, item.Task.ID, item.Score, want)
			}
			hash, err := rigger.StackHash(p.Registry, item.Stack)
			if err != nil || hash != item.Hash {
				t.Errorf("%s: hash %s, want %s %v", tt.reason, item.Hash, hash, err)
			}
		}
		if tt.d.Replay != nil {
			for key, n := range plays {
				if *tt.d.Replay == 0 && n > 1 {
					t.Errorf("%s: level %s was played %d times", tt.reason, key, n)
				}
			}
			fresh := 0 // after the first level with a score above 0
			for key := range plays {
				if score.Score(rigger.Measure{Counts: last[key]}) > 0 {
					fresh++
				}
			}
			if *tt.d.Replay == 1 && fresh > 1 {
				t.Errorf("%s: %d levels with a score", tt.reason, fresh)
			}
		}
	}
}

// With rank, no staleness and the smallest temperature the buffer always gives its best level, so it is that which is played again.
func TestPLRPlaysTheBestAgain(t *testing.T) {
	p := hands(3)
	p.Registry = budgets(t)
	r := run(t, PLR{Buffer: &plr.Options{Beta: new(1e-3), Rho: new(0.0)}}, p, &rigger.Options{Attempts: 20, Accept: 20, Seed: 2})
	again := 0
	for _, task := range r.Tasks {
		for _, a := range task.Attempts {
			if a.Reason != "" {
				again++
			}
		}
	}
	if again < 10 || len(r.Items) < 2 {
		t.Fatalf("%d levels were played again, %d accepted", again, len(r.Items))
	}
}

// One seed gives one report, whatever is played at once and whether it was played before.
func TestPLRIsRepeatable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	var want []byte
	for _, tt := range []struct {
		parallel int
		journal  bool
		stop     int // cancelled when this many rollouts were made; 0 for never
		reason   string
	}{
		{1, false, 0, "one at once, no journal"},
		{3, false, 0, "three at once"},
		{1, true, 20, "broken off"},
		{2, true, 0, "gone on"},
		{1, true, 0, "all is there"},
	} {
		p := hands(2)
		stopped, cancel := context.WithCancel(ctx)
		made := 0
		newPolicy := p.NewPolicy
		p.NewPolicy = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			if tt.parallel == 1 {
				if made++; made == tt.stop {
					cancel()
				}
			}
			return newPolicy(task, rng)
		}
		o := &rigger.Options{Seed: 5, Rollout: envharness.RolloutOptions{Parallel: tt.parallel}}
		if tt.journal {
			var err error
			if o.Journal, err = rigger.OpenJournal(path); err != nil {
				t.Fatal(err)
			}
		}
		r, err := PLR{}.Run(stopped, p, o)
		if o.Journal != nil {
			if err := o.Journal.Close(); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if tt.stop > 0 {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: got %v", tt.reason, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := encoded(t, r)
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: another report:\n%s\nnot\n%s", tt.reason, got, want)
		}
		if tt.reason == "all is there" && made > 0 {
			t.Errorf("%d rollouts were played again", made)
		}
	}
}

func TestPLRWithReference(t *testing.T) {
	p := hands(2)
	p.Registry = budgets(t)
	p.NewReference = coin(p.World, 1, 1)
	r := run(t, PLR{Score: rigger.Regret{}}, p, &rigger.Options{RigInBand: true})
	if r.Cost.Reference != r.Cost.Baseline+r.Cost.Screen || r.Cost.Reference == 0 {
		t.Errorf("cost %+v: the reference plays as often as the policy", r.Cost)
	}
	if len(r.Items) == 0 {
		t.Fatal("nothing was accepted")
	}
	if r := run(t, PLR{}, p, &rigger.Options{RigInBand: true}); r.Cost.Reference != 0 {
		t.Errorf("cost %+v: nobody looks at the reference", r.Cost)
	}
	for rollouts, want := range map[int]int{19: 1, 20: 2} { // the baselines take 20 of both, and a level 10
		p.NewPolicy = coin(p.World, 0.98, 0.5)
		o := &rigger.Options{RigInBand: true, Budget: rigger.Budget{Rollouts: rollouts}}
		r := run(t, PLR{Score: rigger.Regret{}}, p, o)
		if got := len(r.Tasks[0].Attempts) + len(r.Tasks[1].Attempts); got != want {
			t.Errorf("%d levels were played with %d rollouts for a task, want %d", got, rollouts, want)
		}
	}
	for _, item := range r.Items {
		if want := 1 - item.Counts.Rate(); math.Abs(item.Score-want) > 1e-12 {
			t.Errorf("regret %v on %v, the reference passes always: want %v", item.Score, item.Counts, want)
		}
	}
}

// A policy that struggles is given a scaffold, and what is accepted says so.
func TestPLREasier(t *testing.T) {
	p := hands(2)
	p.NewPolicy = coin(p.World, 0, 0)
	p.NewPolicy = aidedBy(p.NewPolicy, coin(p.World, 1, 1))
	r := run(t, PLR{Components: 1}, p, &rigger.Options{Attempts: 10, Accept: 4})
	for _, task := range r.Tasks {
		for _, a := range task.Attempts {
			if a.Candidate.Direction != components.Easier {
				t.Fatalf("attempt %+v, want an easier one", a)
			}
		}
	}
	for _, item := range r.Items {
		if starts := item.Stack[0].Tag == "start_replay"; item.Aid != starts {
			t.Errorf("%v: aid %v", item.Words, item.Aid)
		}
	}
}

// aidedBy plays b on half of the episodes.
func aidedBy(a, b func(envharness.Task, *rand.Rand) (envharness.Policy, error)) func(envharness.Task, *rand.Rand) (envharness.Policy, error) {
	return func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		if rng.IntN(8) == 0 {
			return b(task, rng)
		}
		return a(task, rng)
	}
}

func TestPLROutcomes(t *testing.T) {
	infra := func(envharness.Task, *rand.Rand) (envharness.Policy, error) {
		return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
			return envharness.Action{}, envharness.ErrInfra
		}), nil
	}
	for _, tt := range []struct {
		set     func(p *rigger.Problem)
		o       rigger.Options
		outcome rigger.Outcome
		reason  string
	}{
		{func(p *rigger.Problem) { p.NewPolicy = infra }, rigger.Options{}, rigger.Infra, "no rollout could be judged"},
		{func(p *rigger.Problem) { p.Registry = components.NewRegistry() }, rigger.Options{}, rigger.NoCandidate, "nothing can be drawn"},
		{func(p *rigger.Problem) { p.Registry = budgets(t) }, rigger.Options{Budget: rigger.Budget{Rollouts: 6}}, rigger.OutOfBudget,
			"no level fits after the baseline"},
		{func(p *rigger.Problem) { p.NewPolicy = coin(p.World, 0.5, 0.5) }, rigger.Options{Baseline: 1, Objective: always{}}, rigger.InBand,
			"the unmodified task is what is asked for"},
		{func(p *rigger.Problem) { p.NewPolicy, p.Registry = coin(p.World, 1, 1), budgets(t) }, rigger.Options{}, rigger.Exhausted,
			"there is nothing to learn on any level"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		p := hands(1)
		tt.set(&p)
		r := run(t, PLR{}, p, &tt.o)
		if got := r.Tasks[0].Outcome; got != tt.outcome || len(r.Items) > 0 {
			t.Errorf("%s: %s with %d items, want %s", tt.reason, got, len(r.Items), tt.outcome)
		}
	}
}

// always is an objective that everything is within.
type always struct{ rigger.Learnability }

func (always) Place(rigger.Measure) rigger.Placement { return rigger.Within }

// Levels of which too few rollouts could be judged have no score, and the report says why.
func TestPLRInfra(t *testing.T) {
	p := hands(1)
	p.Registry = budgets(t)
	p.NewPolicy = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		fine, err := coin(p.World, 1, 1)(task, rng)
		return envharness.PolicyFunc(func(ctx context.Context, turn envharness.Turn) (envharness.Action, error) {
			if turn.Left < game24.MaxTurns && turn.Index == 0 {
				return envharness.Action{}, envharness.ErrInfra
			}
			return fine.Act(ctx, turn)
		}), err
	}
	o := &rigger.Options{Rollout: envharness.RolloutOptions{Reruns: new(0)}}
	r := run(t, PLR{Score: always{}}, p, o)
	if len(r.Items) != 0 || len(r.Tasks[0].Attempts) != 5 {
		t.Fatalf("%d items after %d attempts", len(r.Items), len(r.Tasks[0].Attempts))
	}
	for _, a := range r.Tasks[0].Attempts {
		if a.Screen.Valid != 0 || a.Reason != "0 of 5 rollouts could be judged" {
			t.Errorf("%v: %q", a.Screen, a.Reason)
		}
	}
}

func TestPLRErrors(t *testing.T) {
	good := hands(1)
	journal, err := rigger.OpenJournal(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	nameless := good
	nameless.Fingerprint = ""
	for _, tt := range []struct {
		d      PLR
		p      rigger.Problem
		o      rigger.Options
		want   string
		reason string
	}{
		{PLR{Replay: new(1.5)}, good, rigger.Options{}, "baseline: PLR: Replay 1.5", "more than always"},
		{PLR{Replay: new(math.NaN())}, good, rigger.Options{}, "baseline: PLR: Replay NaN", "not a number"},
		{PLR{Components: 9}, good, rigger.Options{}, "baseline: PLR: 9 components", "more than a candidate may have"},
		{PLR{Buffer: &plr.Options{Capacity: -3}}, good, rigger.Options{}, "Capacity -3", "an option of the buffer"},
		{PLR{Buffer: &plr.Options{Rho: new(2.0)}}, good, rigger.Options{}, "Rho 2", "an option of the buffer"},
		{PLR{}, good, rigger.Options{Screen: -1, Accept: -2}, "Screen -1", "less than none"},
		{PLR{}, good, rigger.Options{Screen: -1, Accept: -2}, "Accept -2", "all faults are told"},
		{PLR{}, good, rigger.Options{Objective: NearHalf{Beta: new(-1.0)}}, "Beta -1", "the objective tells its faults"},
		{PLR{}, good, rigger.Options{Objective: rigger.Regret{}}, "NewReference", "there is nobody to compare with"},
		{PLR{Score: &rigger.Regret{}}, good, rigger.Options{}, "NewReference", "nor for the score"},
		{PLR{Score: NearHalf{Beta: new(-2.0)}}, good, rigger.Options{}, "Beta -2", "the score tells its faults"},
		{PLR{}, rigger.Problem{World: good.World, Tasks: good.Tasks}, rigger.Options{}, "NewPolicy", "nobody plays"},
		{PLR{}, rigger.Problem{NewPolicy: good.NewPolicy, Tasks: good.Tasks}, rigger.Options{}, "no world", "nothing to play"},
		{PLR{}, rigger.Problem{World: good.World, NewPolicy: good.NewPolicy}, rigger.Options{}, "no tasks", "nothing to do"},
		{PLR{}, nameless, rigger.Options{Journal: journal}, "baseline: PLR: no Fingerprint", "another policy would get its rollouts"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		r, err := tt.d.Run(ctx, tt.p, &tt.o)
		if r != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.reason, err, tt.want)
		}
	}
}

// Progress tells which task is played.
func TestPLRProgress(t *testing.T) {
	p := hands(3)
	p.Registry = budgets(t)
	tasks := make(map[int]bool)
	run(t, PLR{}, p, &rigger.Options{Progress: func(at rigger.Progress) {
		if at.Tasks != 3 || at.Task < 0 || at.Task > 2 || at.ID != p.Tasks[at.Task].ID {
			t.Errorf("%+v is no task of %v", at, p.Tasks)
			return
		}
		if at.Phase == "screen" {
			tasks[at.Task] = true
		}
	}})
	if len(tasks) != 3 {
		t.Errorf("levels of %d tasks were played, want 3", len(tasks))
	}
}

// The policy draws anew for each level: a coin does not fall alike on all of them.
func TestPLRLevelsHaveTheirOwnStreams(t *testing.T) {
	p := hands(1)
	p.Registry = budgets(t)
	r := run(t, PLR{Replay: new(0.0)}, p, &rigger.Options{Screen: 12})
	first := r.Tasks[0].Attempts[0].Screen
	for _, a := range r.Tasks[0].Attempts {
		if a.Screen != first {
			return
		}
	}
	t.Errorf("%d levels all have %v", len(r.Tasks[0].Attempts), first)
}

// A negative score is 0: there is nothing to learn.
func TestPLRNegativeScore(t *testing.T) {
	p := hands(2)
	p.Registry = budgets(t)
	r := run(t, PLR{Score: lowRates{}}, p, &rigger.Options{Attempts: 12, Accept: 9})
	if len(r.Items) == 0 {
		t.Fatal("the seed shows nothing")
	}
	for _, item := range r.Items {
		if item.Counts.Rate() > 0.5 || item.Score <= 0 {
			t.Errorf("%v accepted with score %v", item.Counts, item.Score)
		}
	}
}

// lowRates has a negative score for rates above one half.
type lowRates struct{ rigger.Learnability }

func (lowRates) Score(m rigger.Measure) float64 { return 0.5 - m.Counts.Rate() + 0.01 }
