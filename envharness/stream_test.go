package envharness_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

// streamed collects a stream; traces of all slots must come in order.
func streamed(t testing.TB, seq iter.Seq2[eh.Trace, error]) (traces []eh.Trace, err error) {
	t.Helper()
	for tr, e := range seq {
		if err != nil {
			t.Fatalf("slot %d, %v after the error %v", tr.Slot, e, err)
		}
		if e != nil {
			err = e
			continue
		}
		if tr.Slot != len(traces) {
			t.Errorf("slot %d is number %d", tr.Slot, len(traces))
		}
		traces = append(traces, tr)
	}
	return traces, err
}

// after solves the toy after some time, which depends on the slot.
func after(d func(slot int) time.Duration) func(int) (eh.Policy, error) {
	return func(slot int) (eh.Policy, error) {
		return eh.PolicyFunc(func(ctx context.Context, t eh.Turn) (eh.Action, error) {
			if t.Index > 0 {
				return stop, nil
			}
			select {
			case <-time.After(d(slot)):
				return combine(0, 1, "mul"), nil
			case <-ctx.Done():
				return eh.Action{}, ctx.Err()
			}
		}), nil
	}
}

// counted yields n tasks, counts those pulled and notes that it was left.
func counted(n int, pulled *int, left *bool) iter.Seq[eh.Task] {
	return func(yield func(eh.Task) bool) {
		defer func() { *left = true }()
		for range n {
			*pulled++
			if !yield(eh.Task{}) {
				return
			}
		}
	}
}

// Traces come in the order of the tasks whatever the order in which they are done, and no sooner than that allows.
func TestStreamOrder(t *testing.T) {
	orders := map[string]func(slot int) time.Duration{
		"as they come": func(slot int) time.Duration { return time.Duration(slot+1) * time.Second },
		"last first":   func(slot int) time.Duration { return time.Duration(30-slot) * time.Second },
		"shuffled":     func(slot int) time.Duration { return time.Duration(1+slot*7%13) * time.Second },
		"first last":   func(slot int) time.Duration { return time.Duration(1+max(0, 100-100*slot)) * time.Second },
	}
	for name, d := range orders {
		for _, parallel := range []int{0, 1, 3, 50} {
			synctest.Test(t, func(t *testing.T) {
				var open atomic.Int64
				pulled, left := 0, false
				traces, err := streamed(t,
					eh.Stream(t.Context(), toyWorld(&open, nil), nil, after(d), counted(20, &pulled, &left), &eh.RolloutOptions{Parallel: parallel}))
				if err != nil || len(traces) != 20 || pulled != 20 || !left || open.Load() != 0 {
					t.Errorf("%s, %d at once: %d traces of %d, %v, %d left open", name, parallel, len(traces), pulled, err, open.Load())
				}
				for _, tr := range traces {
					if tr.Verdict.Status != eh.Pass {
						t.Errorf("%s, %d at once: slot %d: %+v", name, parallel, tr.Slot, tr.Verdict)
					}
				}
			})
		}
	}
}

// While the first task goes on, no more than four for each worker are pulled, and all of those are played meanwhile.
func TestStreamWindow(t *testing.T) {
	for _, parallel := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			pulled, yielded, most, left := 0, 0, 0, false
			tasks := func(yield func(eh.Task) bool) {
				for task := range counted(60, &pulled, &left) {
					most = max(most, pulled-yielded)
					if !yield(task) {
						return
					}
				}
			}
			slow := func(slot int) time.Duration {
				if slot == 0 {
					return time.Minute
				}
				return time.Second
			}
			began := time.Now()
			for tr, err := range eh.Stream(t.Context(), toyWorld(nil, nil), nil, after(slow), tasks, &eh.RolloutOptions{Parallel: parallel}) {
				if err != nil || tr.Slot != yielded {
					t.Fatalf("slot %d, %v, want slot %d", tr.Slot, err, yielded)
				}
				if tr.Slot == 0 && time.Since(began) != time.Minute {
					t.Errorf("%d at once: the first is there after %v, want a minute", parallel, time.Since(began))
				}
				if ready := tr.Slot < 4*parallel; parallel > 1 && ready && time.Since(began) != time.Minute {
					t.Errorf("%d at once: slot %d after %v, though it was in the window", parallel, tr.Slot, time.Since(began))
				}
				yielded++
			}
			if want := 4 * parallel; parallel > 1 && most != want || most > want {
				t.Errorf("%d at once: %d tasks pulled ahead, want %d", parallel, most, want)
			}
			if yielded != 60 {
				t.Errorf("%d traces", yielded)
			}
		})
	}
}

// Leaving the loop ends what is being played, closes everything and leaves the tasks alone. The bubble would not end before its goroutines.
func TestStreamBreak(t *testing.T) {
	for _, at := range []int{0, 1, 5} {
		synctest.Test(t, func(t *testing.T) {
			var open atomic.Int64
			pulled, left := 0, false
			began := time.Now()
			wait := func(slot int) time.Duration {
				if slot > at {
					return time.Hour // its turn is cut short
				}
				return time.Second
			}
			n := 0
			for tr, err := range eh.Stream(t.Context(), toyWorld(&open, nil), nil, after(wait), counted(1000, &pulled, &left),
				&eh.RolloutOptions{Parallel: 3, EpisodeTimeout: -1}) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; tr.Slot == at {
					break
				}
			}
			if d := time.Since(began); open.Load() != 0 || !left || n != at+1 || d > time.Minute {
				t.Errorf("left at %d: %d traces, %d left open, tasks left is %v, %v", at, n, open.Load(), left, d)
			}
			if most := at + 1 + 12; pulled > most {
				t.Errorf("left at %d: %d tasks pulled, want %d at most", at, pulled, most)
			}
		})
	}
}

// The error of ctx is the last thing yielded, once, and everything is closed.
func TestStreamCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		pulled, left := 0, false
		ctx, cancel := context.WithCancel(t.Context())
		endless := func(yield func(eh.Task) bool) {
			for task := range counted(1<<40, &pulled, &left) {
				if !yield(task) {
					return
				}
			}
		}
		time.AfterFunc(10*time.Second+time.Millisecond, cancel)
		each := func(int) time.Duration { return time.Second }
		traces, err := streamed(t, eh.Stream(ctx, toyWorld(&open, nil), nil, after(each), endless, &eh.RolloutOptions{Parallel: 2}))
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(),
			"stopped after 20") || len(traces) != 20 || !left || open.Load() != 0 {
			t.Errorf("%d traces, %v, tasks left is %v, %d left open", len(traces), err, left, open.Load())
		}
		done, cancelNow := context.WithCancel(t.Context())
		cancelNow()
		pulled = 0
		traces, err = streamed(t, eh.Stream(done, toyWorld(&open, nil), nil, after(each), endless, nil))
		if !errors.Is(err, context.Canceled) || len(traces) != 0 || pulled > 5 {
			t.Errorf("done before: %d traces, %v, %d tasks pulled", len(traces), err, pulled)
		}
	})
}

func TestStreamArguments(t *testing.T) {
	ok := func(int) (eh.Policy, error) { return script(), nil }
	w := toyWorld(nil, nil)
	some := slices.Values(tasks(1))
	tests := []struct {
		name string
		seq  iter.Seq2[eh.Trace, error]
		says []string
	}{
		{"no policy", eh.Stream(t.Context(), w, nil, nil, some, nil), []string{"newPolicy is nil"}},
		{"no tasks", eh.Stream(t.Context(), w, nil, ok, nil, nil), []string{"tasks is nil"}},
		{"no world", eh.Stream(t.Context(), eh.World{}, nil, ok, some, nil), []string{"a World needs both New and Verifier"}},
		{"negative", eh.Stream(t.Context(), w, nil, ok, some, &eh.RolloutOptions{Reruns: new(-1)}), []string{"Reruns -1 must not be negative"}},
		{"order", eh.Stream(t.Context(), w, []eh.Component{blockOp("x"), eh.Setup{}}, ok, some, nil), []string{eh.ErrOrder.Error()}},
		{"all at once", eh.Stream(t.Context(), eh.World{}, nil, nil, some, &eh.RolloutOptions{Parallel: -1}),
			[]string{"newPolicy is nil", "Parallel -1", "a World needs"}},
	}
	for _, tt := range tests {
		traces, err := streamed(t, tt.seq)
		for _, s := range tt.says {
			if err == nil || !strings.Contains(err.Error(), s) || len(traces) != 0 {
				t.Errorf("%s: %d traces, error %v, want %q", tt.name, len(traces), err, s)
			}
		}
	}
	if traces, err := streamed(t, eh.Stream(t.Context(), w, nil, ok, slices.Values([]eh.Task(nil)), nil)); err != nil || len(traces) != 0 {
		t.Errorf("an empty sequence: %d traces, %v", len(traces), err)
	}
}

// A stream gives the bytes that Rollouts gives, whatever the number of workers, and gives them again when it is ranged over again.
func TestStreamEqualsRollouts(t *testing.T) {
	stack := []eh.Component{noisy(), blockOp("add")}
	ts := tasks(30)
	want, err := eh.Rollouts(t.Context(), toyWorld(nil, nil), stack, randomPolicy, ts, &eh.RolloutOptions{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, parallel := range []int{0, 1, 4, 64} {
		total := 0
		seq := eh.Stream(t.Context(), toyWorld(nil, nil), stack, randomPolicy, slices.Values(ts), &eh.RolloutOptions{Parallel: parallel, Seed: 5,
			Progress: func(done, of int) { total += of }})
		for range 2 {
			got, err := streamed(t, seq)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(write(t, want), write(t, got)); d != "" {
				t.Errorf("%d at once (-want +got):\n%s", parallel, d)
			}
		}
		if total != 0 {
			t.Errorf("a total of %d was told, which nobody knows", total)
		}
	}
}

// What the tasks panic with reaches the caller, after everything is closed.
func TestStreamPanickingTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		bad := func(yield func(eh.Task) bool) {
			for range 3 {
				if !yield(eh.Task{}) {
					return
				}
			}
			panic("no more")
		}
		defer func() {
			if p := recover(); p != "no more" || open.Load() != 0 {
				t.Errorf("panic %v, %d left open", p, open.Load())
			}
		}()
		for range eh.Stream(t.Context(), toyWorld(&open, nil), nil, after(func(int) time.Duration { return time.Hour }), bad,
			&eh.RolloutOptions{Parallel: 8, EpisodeTimeout: -1}) {
			t.Error("a trace, though none was finished")
		}
		t.Error("it did not panic")
	})
}

// A panic in the loop itself goes on to the caller as well.
func TestStreamPanickingLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		pulled, left := 0, false
		defer func() {
			if p := recover(); p != "enough" || open.Load() != 0 || !left {
				t.Errorf("panic %v, %d left open, tasks left is %v", p, open.Load(), left)
			}
		}()
		for range eh.Stream(t.Context(), toyWorld(&open, nil), nil, after(func(s int) time.Duration { return time.Duration(s) * time.Minute }),
			counted(99, &pulled, &left), &eh.RolloutOptions{Parallel: 4}) {
			panic("enough")
		}
	})
}

// A hundred environments play at the same time, and none meets another.
func TestStreamHundredAtOnce(t *testing.T) {
	const n = 100
	var open, most atomic.Int64
	var all sync.WaitGroup
	all.Add(n)
	meet := func(slot int) (eh.Policy, error) {
		return eh.PolicyFunc(func(_ context.Context, t eh.Turn) (eh.Action, error) {
			if t.Index == 0 {
				all.Done()
				all.Wait() // for the last of a hundred
				most.Store(max(most.Load(), open.Load()))
				return combine(0, 1, "mul"), nil
			}
			return stop, nil
		}), nil
	}
	ts := make([]eh.Task, n)
	for i := range ts {
		ts[i].ID = fmt.Sprintf("[%d,%d]", i, i+1)
	}
	traces, err := streamed(t, eh.Stream(t.Context(), toyWorld(&open, nil), nil, meet, slices.Values(ts), &eh.RolloutOptions{Parallel: n}))
	if err != nil || len(traces) != n || open.Load() != 0 || most.Load() < n {
		t.Errorf("%d traces, %v, %d left open, %d at once", len(traces), err, open.Load(), most.Load())
	}
	for i, tr := range traces {
		if got := tr.Turns[0].Raw.Observation.Text; got != fmt.Sprint("numbers ", i*(i+1)) {
			t.Errorf("slot %d: %s", i, got)
		}
	}
}

// What infrastructure spoilt is played again, up to so many times, with the same seed and a new policy; what would fail again is not.
func TestReruns(t *testing.T) {
	stepFails := func(e *toy) {
		e.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) { return nil, errBoom }
	}
	good := func(int) (eh.Policy, error) { return script(combine(0, 1, "mul"), stop), nil }
	busy := func(int) (eh.Policy, error) { return failing(fmt.Errorf("%w: 503", eh.ErrInfra)), nil }
	always := func(int) bool { return true }
	before := func(n int) func(int) bool { return func(attempt int) bool { return attempt < n } }
	tests := []struct {
		name     string
		fails    func(attempt int) bool
		change   func(*toy) // where the attempt is to fail
		policy   func(int) (eh.Policy, error)
		verify   eh.VerifierFunc
		stack    []eh.Component
		reruns   *int
		want     int // Reruns
		attempts int
		end      eh.EndReason
		status   eh.Status
		reason   string
	}{
		{"well at once", always, nil, good, nil, nil, nil, 0, 1, eh.EndTerminated, eh.Pass, "nothing to repeat"},
		{"twice spoilt", before(2), stepFails, good, nil, nil, nil, 2, 3, eh.EndTerminated, eh.Pass, "nil means 2"},
		{"three times spoilt", before(3), stepFails, good, nil, nil, nil, 2, 3, eh.EndEnvError, eh.Invalid, "nil means 2"},
		{"none allowed", before(1), stepFails, good, nil, nil, new(0), 0, 1, eh.EndEnvError, eh.Invalid, "zero means none"},
		{"five allowed", before(5), stepFails, good, nil, nil, new(5), 5, 6, eh.EndTerminated, eh.Pass, "as many as are allowed"},
		{"reset fails", before(1), func(e *toy) { e.onReset = func() error { return errBoom } }, good, nil, nil, nil, 1, 2, eh.EndTerminated,
			eh.Pass, "of the environment as well"},
		{"environment panics", before(1), func(e *toy) {
			e.onStep = func(context.Context, *toy, eh.Action) (*eh.Transition, error) { panic("ouch") }
		}, good, nil, nil, nil, 1, 2, eh.EndTerminated, eh.Pass, "of the environment as well"},
		{"service of the policy", always, nil, busy, nil, nil, new(1), 1, 2, eh.EndPolicyInfra, eh.Invalid,
			"ErrInfra is no failure of the policy"},
		{"policy errs", always, nil, func(int) (eh.Policy, error) { return failing(errBoom), nil }, nil, nil, nil, 0, 1, eh.EndAgentError,
			eh.Fail, "its own failure counts"},
		{"policy fails", always, nil, func(int) (eh.Policy, error) { return script(stop), nil }, nil, nil, nil, 0, 1, eh.EndTerminated, eh.Fail,
			"its own failure counts"},
		{"component errs", always, nil, good, nil, []eh.Component{rule(eh.AxisAction, eh.Hooks{
			Action: func(context.Context, eh.View, eh.Action) (eh.ActionEdit, error) { return eh.PassAction(), errBoom },
		})}, nil, 0, 1, eh.EndComponentError, eh.Invalid, "it would fail again"},
		{"illegal start", always, nil, good, nil, []eh.Component{eh.Setup{Actions: []eh.Action{{Name: "x"}}}}, nil, 0, 1, eh.EndComponentError,
			eh.Invalid, "it would fail again"},
		{"verifier errs", always, nil, good, func(context.Context, eh.Evidence) (eh.Verdict, error) { return eh.Verdict{}, errBoom }, nil, nil,
			2, 3, eh.EndVerifierError, eh.Invalid, "a verifier may be a service"},
		{"verifier says invalid", always, nil, good,
			func(context.Context, eh.Evidence) (eh.Verdict, error) { return eh.Verdict{Reason: "unclear"}, nil }, nil, nil,
			2, 3, eh.EndVerifierError, eh.Invalid, "it may know next time"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		attempts := 0
		var slots []int
		var seeds []uint64
		w := toyWorld(nil, nil)
		mk := w.New
		w.New = func(ctx context.Context) (eh.Environment, error) {
			e, err := mk(ctx)
			toy := e.(*toy)
			if tt.change != nil && tt.fails(attempts-1) {
				tt.change(toy)
			}
			return resetNoter{toy, &seeds}, err
		}
		if tt.verify != nil {
			w.Verifier = tt.verify
		}
		newPolicy := func(slot int) (eh.Policy, error) {
			attempts++
			slots = append(slots, slot)
			return tt.policy(slot)
		}
		traces, err := eh.Rollouts(t.Context(), w, tt.stack, newPolicy, []eh.Task{{ID: "[4,6]"}}, &eh.RolloutOptions{Reruns: tt.reruns, Seed: 3})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		got := traces[0]
		if got.Reruns != tt.want || attempts != tt.attempts || got.End != tt.end || got.Verdict.Status != tt.status {
			t.Errorf("%s: %d reruns, %d attempts, end %s, %+v, cause %q (%s)", tt.name, got.Reruns, attempts, got.End, got.Verdict, got.Cause,
				tt.reason)
		}
		if slices.Max(slots) != 0 || slices.Min(seeds) != slices.Max(seeds) || seeds[0] != got.Seed {
			t.Errorf("%s: slots %v, seeds %v, want all the same", tt.name, slots, seeds)
		}
		if turns := len(got.Turns); tt.status == eh.Pass && turns != 2 {
			t.Errorf("%s: %d turns, want those of the last attempt alone", tt.name, turns)
		}
	}
}

// A resetNoter notes the seeds of its resets.
type resetNoter struct {
	*toy
	seeds *[]uint64
}

func (s resetNoter) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	*s.seeds = append(*s.seeds, *o.Seed)
	return s.toy.Reset(ctx, o)
}
