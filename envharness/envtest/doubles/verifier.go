package doubles

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
)

// lookFirst solves a maze with one look before that is not needed.
func lookFirst(ctx context.Context, t envharness.Task, seed uint64) ([]envharness.Action, error) {
	m := newMaze()
	if _, err := m.Reset(ctx, envharness.ResetOptions{Task: t.ID, Seed: &seed}); err != nil {
		return nil, err
	}
	plan, err := m.Plan(ctx)
	return append([]envharness.Action{look}, plan...), err
}

// mazeVerifier says how a verifier of mazes is checked. A random walk may well find the goal.
func mazeVerifier(w envharness.World) envtest.Verifier {
	return envtest.Verifier{
		World: w, Tasks: mazeTasks(), Plan: lookFirst, Chance: 0.5,
		Independent: func(first, second envharness.Action) bool { return first.Name == "look" && second.Name == "move" },
	}
}

type verify = func(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error)

// judging is a double of correct mazes with a wrong verifier.
func judging(rule, text string, v verify, also ...string) Double {
	return judgingAnew(rule, text, func() verify { return v }, also...)
}

// judgingAnew makes the verifier anew for each check.
func judgingAnew(rule, text string, v func() verify, also ...string) Double {
	return Double{Rule: rule, Text: text, Also: also, Check: func(ctx context.Context) error {
		w := mazeWorld()
		w.Verifier = envharness.VerifierFunc(v())
		return mazeVerifier(w).Check(ctx)
	}}
}

func verifiers() []Double {
	return []Double{
		judgingAnew("V01", "the reason counts the calls", countCalls),
		judging("V02", "only episodes with two looks pass", passTwoLooks),
		{Rule: "V02", Text: "the plan begins with an action that is refused", Check: func(ctx context.Context) error {
			v := mazeVerifier(mazeWorld())
			v.Plan = func(ctx context.Context, t envharness.Task, seed uint64) ([]envharness.Action, error) {
				plan, err := lookFirst(ctx, t, seed)
				return append([]envharness.Action{clone(moveLeft)}, plan...), err
			}
			return v.Check(ctx)
		}},
		judging("V03", "every stop passes", passStop),
		judging("V03", "every episode of full length passes", passLimit),
		judging("V04", "an episode passes before anything was done", passStart),
		judging("V05", "a text with the word success passes", passText),
		judging("V05", "a reward of 1 passes", passReward),
		judging("V06", "an error becomes a failure", swallowError),
		judging("V06", "a state that cannot be read becomes a failure", swallowState),
		judging("V07", "the score of a failure is above 1", scoreTooHigh),
		judging("V07", "the score of a pass is 0.5", scoreTooLow),
		{Rule: "V08", Text: "the environment claims to be deterministic and is not", Check: func(ctx context.Context) error {
			f, _ := unrepeatable()
			w := mazeWorld()
			w.New = func(context.Context) (envharness.Environment, error) {
				b := &brokenMaze{maze: newMaze()}
				f(b)
				return b, nil
			}
			return mazeVerifier(w).Check(ctx)
		}},
		judging("V09", "an episode passes only if it begins with a look", passLookFirst),
		judging("V10", "being at the goal passes before the stop", passAtGoal),
		judging("V10", "an episode under way is an error", refuseRunning),
		judging("V11", "the log is written to", writeLog),
		{Rule: "V11", Text: "the environment is written to", Check: func(ctx context.Context) error {
			w := mazeWorld()
			var mu sync.Mutex
			var last *maze
			w.New = func(context.Context) (envharness.Environment, error) {
				mu.Lock()
				defer mu.Unlock()
				last = newMaze()
				return last, nil
			}
			w.Verifier = envharness.VerifierFunc(func(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
				mu.Lock()
				defer mu.Unlock()
				last.now.At++
				return verifyMaze(ctx, e)
			})
			return mazeVerifier(w).Check(ctx)
		}},
	}
}

var pass = envharness.Verdict{Status: envharness.Pass, Score: 1}

// unless judges correctly, but passes also what ok says.
func unless(ctx context.Context, e envharness.Evidence, ok func() bool) (envharness.Verdict, error) {
	v, err := verifyMaze(ctx, e)
	if err == nil && ok() {
		return pass, nil
	}
	return v, err
}

// only judges correctly, but fails what ok does not say.
func only(ctx context.Context, e envharness.Evidence, ok func() bool) (envharness.Verdict, error) {
	v, err := verifyMaze(ctx, e)
	if err == nil && !ok() {
		return envharness.Verdict{Status: envharness.Fail}, nil
	}
	return v, err
}

func lastEntry(e envharness.Evidence) envharness.LogEntry {
	if len(e.Log) == 0 {
		return envharness.LogEntry{}
	}
	return e.Log[len(e.Log)-1]
}

func countCalls() verify {
	var calls atomic.Int64
	return func(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
		v, err := verifyMaze(ctx, e)
		v.Reason = fmt.Sprint("call ", calls.Add(1))
		return v, err
	}
}

func passTwoLooks(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	return only(ctx, e, func() bool {
		looks := 0
		for _, entry := range e.Log {
			if entry.Action.Name == "look" {
				looks++
			}
		}
		return looks >= 2
	})
}

func passStop(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	return unless(ctx, e, func() bool { return lastEntry(e).Transition.Terminated })
}

func passLimit(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	return unless(ctx, e, func() bool { return lastEntry(e).Transition.Truncated })
}

func passStart(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	return unless(ctx, e, func() bool { return len(e.Log) == 1 })
}

func passText(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	return unless(ctx, e, func() bool { return strings.Contains(lastEntry(e).Transition.Observation.Text, "success") })
}

func passReward(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	return only(ctx, e, func() bool { return lastEntry(e).Transition.Reward == 1 })
}

func swallowError(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	v, err := verifyMaze(ctx, e)
	if err != nil {
		return envharness.Verdict{Status: envharness.Fail, Reason: err.Error()}, nil
	}
	return v, nil
}

func swallowState(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	v, err := verifyMaze(ctx, e)
	if err != nil && len(e.End) > 0 {
		return envharness.Verdict{Status: envharness.Fail, Reason: err.Error()}, nil
	}
	return v, err
}

func scoreTooHigh(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	v, err := verifyMaze(ctx, e)
	if err == nil && v.Status == envharness.Fail {
		v.Score = float64(len(e.Log))
	}
	return v, err
}

func scoreTooLow(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	v, err := verifyMaze(ctx, e)
	v.Score /= 2
	return v, err
}

func passLookFirst(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	return only(ctx, e, func() bool { return len(e.Log) > 1 && e.Log[1].Action.Name == "look" })
}

func passAtGoal(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	return unless(ctx, e, func() bool {
		var s mazeState
		return decodeStrictly(e.End, &s) == nil && s.At == s.Goal && !s.over()
	})
}

func refuseRunning(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	if e.EndReason == "" && len(e.Log) > 1 {
		return envharness.Verdict{}, fmt.Errorf("maze: the episode has not ended")
	}
	return verifyMaze(ctx, e)
}

func writeLog(ctx context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	for i := range e.Log {
		e.Log[i].Transition.Observation.Text = ""
	}
	return verifyMaze(ctx, e)
}
