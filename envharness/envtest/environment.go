package envtest

import (
	"context"
	"testing"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// An Environment says which environment to check, and what it does not promise. Only New is needed.
//
// A check opens a few hundred instances, closes each, and takes a few thousand turns in all. Nothing runs on afterwards that the
// environment did not leave running.
type Environment struct {
	// New makes a fresh environment, bare: not a [envharness.Harness]. It must be safe for concurrent use.
	New func(ctx context.Context) (envharness.Environment, error)
	// Tasks are the tasks to play, the first three of them most; a task without a seed is played with seed 1 and others. None means
	// the default task.
	Tasks []envharness.Task
	// Actions makes the actions; nil as described at [Source]. It is needed where the environment has neither tools nor admissible actions.
	Actions Source

	// SeedBlind declares that the seed changes nothing: the task alone says what happens. Rules E04 and E07 are then skipped.
	SeedBlind bool
	// MaxTurns is the turn after which an episode ends; 0 means that of the [envharness.Description]. What an [envharness.TurnLimiter] says
	// of an episode goes first. If all are 0, rule E21 is skipped.
	MaxTurns int
	// Refusals are the classes with which an admissible action may be refused all the same. None means that it must be carried out.
	Refusals []envharness.ErrorClass
	// Counters are JSON pointers into the state of what changes in every turn, such as "/turn". They are needed where the environment has
	// such counters and is no [envharness.Rewinder].
	Counters []string
	// IgnoreInfo are keys of Info that no comparison looks at, besides what the description calls volatile.
	IgnoreInfo []string
	// Tolerance is how far numbers may differ where equal ones are promised; 0 means not at all.
	Tolerance float64

	// Steps is the length of the longest comparison in turns, over several episodes; 0 means 500. Less takes less time and finds less.
	Steps int
	// Patience is how long a call may take that has to be prompt, and how long is waited for what may still be ending after Close;
	// 0 means 2 s. A check that finds nothing wrong does not wait.
	Patience time.Duration
}

// Check returns a joined error with the first [Violation] of each broken rule E01 to E31, in order, or nil. If the context ends, its
// cause is joined last. If no actions can be made, an error that is no Violation is all that is returned.
//
// Rules E22 and E25 find more with the race detector. Rule E23 knows the environment's goroutines from others; for the rest it looks at
// the whole process, so that other code that opens and keeps dozens of files meanwhile may be mistaken for the environment.
func (e Environment) Check(ctx context.Context) error {
	if err := e.playable(ctx); err != nil {
		return err
	}
	return checkAll(ctx, e, environmentTable())
}

// Run checks each rule in a subtest of its own, named by its id.
func (e Environment) Run(t *testing.T) {
	t.Helper()
	if err := e.playable(t.Context()); err != nil {
		t.Fatal(err)
	}
	runAll(t, e, environmentTable())
}

func environmentRules() []Rule { return listed(environmentTable()) }

func environmentTable() []rule[Environment] {
	return []rule[Environment]{
		{"E01", "Reset returns an observation", resetShows},
		{"E02", "Reset takes no seed, any seed, and empty options", resetTakes},
		{"E03", "the same seed gives the same first observation, and the same next reset without a seed", seedRepeats},
		{"E04", "another seed gives another episode, unless that is declared otherwise", seedMatters},
		{"E05", "the same seed and actions give the same episode again", episodeRepeats},
		{"E06", "the same seed and actions give the same episode in another instance", instancesAgree},
		{"E07", "Reset without a seed goes on in the instance's own stream", unseededGoesOn},
		{"E08", "Step before the first Reset is ErrNeedReset", needsReset},
		{"E09", "Step after the end is ErrEpisodeOver and changes nothing", overIsOver},
		{"E10", "no episode is truncated on its first turn, unless its limit is 1", firstTurnCounts},
		{"E11", "one transition carries the end of an episode, a truncation its reason, and none comes after it", endsOnce},
		{"E12", "the return that is reported is the sum of the rewards", returnIsSum},
		{"E13", "rewards are finite", rewardsFinite},
		{"E14", "what is returned is made of JSON values and comes back from JSON as it was", resultsAreJSON},
		{"E15", "Observe changes nothing and equals the last observation", observePure},
		{"E16", "the description is constant, its Chance in [0, 1]; tools are at least one, unique, with an object schema, and not named as reserved",
			toolsListed},
		{"E17", "every admissible action is carried out, an unknown one is refused; a refused one has a class and leaves the world as it was",
			actionsAnswered},
		{"E18", "malformed arguments are refused with a class and leave the world as it was", malformedRefused},
		{"E19", "Reset in mid-episode gives the episode that a Reset elsewhere gives", resetClean},
		{"E20", "two full episodes can be played in a row", playsTwice},
		{"E21", "an episode ends on the turn of its limit, refused actions included, and has as many turns again after RewindCounters", limitExact},
		{"E22", "Close may come twice, before Reset and during Step; after it Reset, Step, Observe, State, Snapshot and Restore are ErrClosed",
			closes},
		{"E23", "no goroutine, child process, descriptor or temporary file is left after Close", leavesNothing},
		{"E24", "a call whose context is canceled returns promptly, and Close works after it", cancels},
		{"E25", "instances at the same time share nothing that can change", sharesNothing},
		{"E26", "what was handed out is not changed afterwards, and what was handed in is neither kept nor changed", aliasesNothing},
		{"E27", "the same actions after Restore give the same future, in the same instance and in another", restores},
		{"E28", "a snapshot is one JSON object; one that is damaged or of another version is refused and changes nothing",
			restoreStrict},
		{"E29", "the environment is bare, without a Harness around it", bare},
		{"E30", "random bytes as actions do no harm in 1,000 turns", survivesBytes},
		{"E31", "texts and admissible actions are made of the declared vocabulary, and refusals are of the declared classes", declaredKept},
	}
}

// tasks returns the tasks that rules go through.
func (e Environment) tasks() []envharness.Task {
	if len(e.Tasks) == 0 {
		return []envharness.Task{{}}
	}
	return e.Tasks[:min(len(e.Tasks), 3)]
}

func (e Environment) steps() int {
	if e.Steps > 0 {
		return e.Steps
	}
	return 500
}

// short is the length of the ordinary comparison.
func (e Environment) short() int { return max(e.steps()/10, 1) }

func (e Environment) patience() time.Duration {
	if e.Patience > 0 {
		return e.Patience
	}
	return 2 * time.Second
}

// forTasks calls f with a new environment for every task, until it finds something.
func (e Environment) forTasks(ctx context.Context, f func(b *bench, t envharness.Task) error) error {
	for _, t := range e.tasks() {
		if err := e.with(ctx, func(b *bench) error { return f(b, t) }); err != nil {
			return err
		}
	}
	return nil
}
