package main

import (
	"context"
	"iter"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/worlds"
	"github.com/throughline-go/throughline/internal/stat"
)

// effort says how much is played.
type effort struct {
	quick        bool
	tasks        int           // of each split, by the oracle
	null         int           // episodes of each null policy
	train        int           // training tasks that the others are compared with; 0 means all
	heldOut      int           // tasks of each other split that are compared; 0 means all
	timed        time.Duration // steps of one world
	walkthroughs int           // 0 means all
	model        *acting       // plays too; nil means none
}

var (
	full    = effort{tasks: 1000, null: 1000, timed: time.Second}
	quickly = effort{quick: true, tasks: 60, null: 200, train: 14_000, heldOut: 1000, timed: 100 * time.Millisecond, walkthroughs: 600}
)

const (
	mostNull   = 0.02 // pass rate of a policy that knows nothing, in a world without a chance rate
	smallTurns = 12   // of an episode of a compact preset
	smallWords = 40   // of a text in it
)

// worldResult is what was found out about one world.
type worldResult struct {
	Small      bool   `json:"small"`
	MaxTurns   int    `json:"max_turns"`  // declared
	Vocabulary int    `json:"vocabulary"` // declared words; 0 means that they are not known
	Tasks      counts `json:"tasks"`
	Oracle     struct {
		Passed    float64                `json:"passed"`
		MeanTurns float64                `json:"mean_turns"`
		BySplit   map[string]splitResult `json:"by_split"`
	} `json:"oracle"`
	Null         map[string]float64 `json:"null"`
	NullEpisodes map[string]int     `json:"null_episodes"`
	Order        map[string]float64 `json:"order"`                  // pass rates of always the first and always the last admissible action; no claim
	Model        *endpoint.Tally    `json:"model,omitempty"`        // of a model behind an endpoint, if one plays here
	Chance       float64            `json:"chance"`                 // declared
	ChanceLower  *float64           `json:"chance_lower,omitempty"` // highest Wilson 95 % lower bound of a null rate; for worlds with a chance rate
	Shown        sizes              `json:"shown"`
	Repeats      bool               `json:"repeats"`      // held-out tasks may start as training tasks do
	SharedStart  heldOut            `json:"shared_start"` // state and first text are those of a training task
	SharedText   heldOut            `json:"shared_text"`  // the first text is
	SharedPlan   heldOut            `json:"shared_plan"`  // sentence and oracle's plan are

	StepsPerSecond float64            `json:"steps_per_second"`
	Allocations    float64            `json:"allocations_per_step"`
	ResetMicros    float64            `json:"reset_us"`
	ToolMicros     map[string]float64 `json:"tool_us"` // mean of a step by the tool that was called
}

type counts struct {
	Train      int `json:"train"`
	Validation int `json:"val"`
	Test       int `json:"test"`
	OOD        int `json:"ood"`
}

type splitResult struct {
	Played int `json:"played"`
	Passed int `json:"passed"`
}

// measure plays one world.
func (e *evidence) measure(ctx context.Context, w worlds.World, s effort) (*worldResult, error) {
	d, err := w.Describe(ctx)
	if err != nil {
		return nil, err
	}
	r := &worldResult{
		Small: w.Small, MaxTurns: d.MaxTurns, Vocabulary: len(d.Vocabulary), Chance: d.Chance,
		Null: make(map[string]float64), NullEpisodes: make(map[string]int), Order: make(map[string]float64), Repeats: w.Repeats,
	}
	e.claim(&e.Claims.Splits, d.Name == w.Name, "%s calls itself %s", w.Name, d.Name)
	splits, err := e.splits(ctx, w, r)
	if err != nil {
		return nil, err
	}
	if err := s.model.act(ctx, w, splits["test"], r); err != nil { // first, as it may fail soon
		return nil, err
	}
	if err := e.overlap(ctx, w, s, splits, r); err != nil {
		return nil, err
	}
	saw := newSight(d.Vocabulary)
	if err := e.oracle(ctx, w, s, splits, saw, r); err != nil {
		return nil, err
	}
	if err := e.null(ctx, w, s, slices.Concat(splits["validation"], splits["test"], splits["ood"]), saw, r); err != nil {
		return nil, err
	}
	r.Shown = saw.sizes
	if w.Small {
		e.claim(&e.Claims.Small, d.MaxTurns <= smallTurns && saw.Turns <= smallTurns, "%s: %d turns, declared %d, want at most %d",
			w.Name, saw.Turns, d.MaxTurns, smallTurns)
		e.claim(&e.Claims.Small, saw.Words <= smallWords, "%s: a text of %d words, want at most %d: %q", w.Name, saw.Words, smallWords, saw.longest)
	}
	e.claim(&e.Claims.Vocabulary, len(saw.strange) == 0, "%s: not in the vocabulary: %q", w.Name, slices.Sorted(maps.Keys(saw.strange)))
	return r, r.time(ctx, w, s, splits["train"])
}

// splits lists the tasks, and checks that no id occurs twice.
func (e *evidence) splits(ctx context.Context, w worlds.World, r *worldResult) (map[string][]envharness.Task, error) {
	of := make(map[string][]envharness.Task)
	owner := make(map[string]string)
	for _, split := range worlds.Splits() {
		tasks, err := w.Tasks(ctx, split)
		if err != nil {
			return nil, err
		}
		of[split] = tasks
		e.claim(&e.Claims.Splits, len(tasks) > 0, "%s: split %s is empty", w.Name, split)
		for _, t := range tasks {
			other, twice := owner[t.ID]
			e.claim(&e.Claims.Splits, !twice, "%s: task %s is in %s and in %s", w.Name, t.ID, other, split)
			owner[t.ID] = split
		}
	}
	r.Tasks = counts{len(of["train"]), len(of["validation"]), len(of["test"]), len(of["ood"])}
	return of, nil
}

// oracle plays the first tasks of each split as planned.
func (e *evidence) oracle(ctx context.Context, w worlds.World, s effort, of map[string][]envharness.Task, saw *sight, r *worldResult) error {
	r.Oracle.BySplit = make(map[string]splitResult)
	var all splitResult
	turns := 0
	for _, split := range worlds.Splits() {
		tasks := of[split]
		tasks = tasks[:min(s.tasks, len(tasks))]
		var in splitResult
		policy := func(slot int) (envharness.Policy, error) { return w.Oracle(tasks[slot]), nil }
		for t, err := range play(ctx, w, policy, tasks) {
			if err != nil {
				return err
			}
			saw.trace(t)
			if a := unlisted(t); a != nil && !saw.offList { // one example is enough
				saw.offList = true
				e.claim(&e.Claims.Listed, false, "%s: oracle: %s task %s: %s is not among the admissible actions", w.Name, split, t.Task.ID, a)
			}
			turns += len(t.Turns)
			in.Played++
			if t.Verdict.Status == envharness.Pass {
				in.Passed++
			} else if in.Played-in.Passed == 1 { // one example is enough
				e.claim(&e.Claims.Oracle, false,
					"%s: oracle: %s task %s: %s %s %s", w.Name, split, t.Task.ID, t.Verdict.Status, t.Verdict.Reason, t.Cause)
			}
		}
		r.Oracle.BySplit[split] = in
		all.Played, all.Passed = all.Played+in.Played, all.Passed+in.Passed
	}
	r.Oracle.Passed = share(all.Passed, all.Played)
	r.Oracle.MeanTurns = share(turns, all.Played)
	return nil
}

// null plays with policies that know nothing.
func (e *evidence) null(ctx context.Context, w worlds.World, s effort, tasks []envharness.Task, saw *sight, r *worldResult) error {
	for _, n := range w.Orders() {
		var got splitResult
		policy := func(int) (envharness.Policy, error) { return n.New(nil), nil }
		for t, err := range play(ctx, w, policy, sample(tasks, s.null, false)) {
			if err != nil {
				return err
			}
			got.Played++
			if t.Verdict.Status == envharness.Pass {
				got.Passed++
			}
		}
		r.Order[n.Name] = share(got.Passed, got.Played)
	}
	for _, n := range w.Nulls() {
		chosen := sample(tasks, s.null, n.Draws)
		policy := func(slot int) (envharness.Policy, error) {
			return n.New(envharness.RandStream(1, "policy/"+w.Name+"/"+n.Name, uint64(slot))), nil
		}
		var got splitResult
		for t, err := range play(ctx, w, policy, chosen) {
			if err != nil {
				return err
			}
			if n.Name == "random" {
				saw.trace(t)
			}
			if t.Verdict.Status == envharness.Invalid {
				e.claim(&e.Claims.Null, false, "%s: %s: task %s: %s", w.Name, n.Name, t.Task.ID, t.Cause)
				continue
			}
			got.Played++
			if t.Verdict.Status == envharness.Pass {
				got.Passed++
			}
		}
		rate := share(got.Passed, got.Played)
		r.Null[n.Name], r.NullEpisodes[n.Name] = rate, got.Played
		if got.Played == 0 {
			continue // none could be judged, as claimed above
		}
		if r.Chance == 0 {
			e.claim(&e.Claims.Null, rate <= mostNull,
				"%s: %s passes %d of %d episodes, want at most %s", w.Name, n.Name, got.Passed, got.Played, percent(mostNull))
			continue
		}
		interval, err := stat.Wilson(got.Passed, got.Played, 0.95)
		if err != nil {
			return err
		}
		if r.ChanceLower == nil || interval.Lo > *r.ChanceLower {
			r.ChanceLower = &interval.Lo
		}
		e.claim(&e.Claims.Null, interval.Lo <= r.Chance, "%s: %s passes %d of %d episodes, which the chance rate %v does not explain",
			w.Name, n.Name, got.Passed, got.Played, r.Chance)
	}
	return nil
}

// play yields the traces of one policy for each task.
func play(
	ctx context.Context, w worlds.World, policy func(slot int) (envharness.Policy, error), tasks []envharness.Task,
) iter.Seq2[envharness.Trace, error] {
	o := &envharness.RolloutOptions{Parallel: runtime.GOMAXPROCS(0), Seed: 1}
	return envharness.Stream(ctx, w.World, nil, policy, slices.Values(tasks), o)
}

// sample draws n tasks, no one twice; where there are fewer it takes all, and again if a task has more than one episode.
func sample(tasks []envharness.Task, n int, again bool) []envharness.Task {
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(tasks)) // not every k-th, as lists repeat their families in turn
	if len(tasks) < n && !again {
		n = len(tasks)
	}
	chosen := make([]envharness.Task, 0, n)
	for i := 0; i < n && len(tasks) > 0; i++ {
		chosen = append(chosen, tasks[order[i%len(order)]])
	}
	return chosen
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// micros is the mean of n durations in microseconds.
func micros(d time.Duration, n int) float64 {
	if n == 0 {
		return 0 // JSON has no NaN
	}
	return float64(d.Nanoseconds()) / 1e3 / float64(n)
}
