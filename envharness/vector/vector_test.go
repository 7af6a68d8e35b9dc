package vector_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	eh "github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/vector"
)

func TestModes(t *testing.T) {
	for _, tt := range []struct {
		mode   vector.Mode
		want   [][]string // a row a call: the reset, then steps; a column a slot
		reason string
	}{
		{vector.NextStep, [][]string{
			{"a 0/1", "b 0/2"},
			{"a 1/1 +1 T episode(a/1 return 1 turns 1 pass)", "b 1/2 +1"},
			{"a 0/1 auto", "b 2/2 +2 T episode(b/2 return 3 turns 2 pass)"},
			{"a 1/1 +1 T episode(a/1 return 1 turns 1 pass)", "b 0/2 auto"},
			{"a 0/1 auto", "b 1/2 +1"},
		}, "3.11: the call after an end ignores its action, returns the new first observation, marked AutoReset"},
		{vector.SameStep, [][]string{
			{"a 0/1", "b 0/2"},
			{"a 0/1 +1 T final(a 1/1 +1 T) episode(a/1 return 1 turns 1 pass)", "b 1/2 +1"},
			{"a 0/1 +1 T final(a 1/1 +1 T) episode(a/1 return 1 turns 1 pass)",
				"b 0/2 +2 T final(b 2/2 +2 T) episode(b/2 return 3 turns 2 pass)"},
			{"a 0/1 +1 T final(a 1/1 +1 T) episode(a/1 return 1 turns 1 pass)", "b 1/2 +1"},
		}, "3.11: the ending call returns the new first observation and carries the last transition in Final"},
		{vector.Disabled, [][]string{
			{"a 0/1", "b 0/2"},
			{"a 1/1 +1 T episode(a/1 return 1 turns 1 pass)", "b 1/2 +1"},
			{"!over", "b 2/2 +2 T episode(b/2 return 3 turns 2 pass)"},
			{"!over", "!over"},
		}, "3.11: ended slots must be reset explicitly"},
	} {
		t.Run(tt.mode.String(), func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			f := &field{}
			v := mustNew(t, f.world(), 2, &vector.Options{Mode: tt.mode})
			got := [][]string{briefs(mustReset(t, v, tasks("a/1", "b/2")))}
			for range tt.want[1:] {
				got = append(got, briefs(mustStep(t, v, acts(2, "go"))))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got) %s", d)
			}
			if f.opened != 2 {
				t.Errorf("%d environments opened, want one a slot", f.opened)
			}
		})
	}
}

// A slot that nobody has reset yet does not begin by itself.
func TestNoResetYet(t *testing.T) {
	for _, mode := range []vector.Mode{vector.NextStep, vector.SameStep, vector.Disabled} {
		v := mustNew(t, (&field{}).world(), 2, &vector.Options{Mode: mode})
		mustReset(t, v, tasks("b/9"), 1)
		if d := cmp.Diff([]string{"!reset", "b 1/9 +1"}, briefs(mustStep(t, v, acts(2, "go")))); d != "" {
			t.Errorf("%v: (-want +got) %s", mode, d)
		}
	}
}

// A Reset of some slots leaves the others where they are.
func TestResetOfSomeSlots(t *testing.T) {
	v := mustNew(t, (&field{}).world(), 3, &vector.Options{Mode: vector.Disabled})
	mustReset(t, v, tasks("c/1"), 2)
	got := [][]string{briefs(mustStep(t, v, acts(3, "go")))}
	got = append(got, briefs(mustReset(t, v, tasks("d/2", "a/2"), 2, 0)), briefs(mustStep(t, v, acts(3, "go"))))
	want := [][]string{
		{"!reset", "!reset", "c 1/1 +1 T episode(c/1 return 1 turns 1 pass)"},
		{"d 0/2", "a 0/2"}, // in the order asked for
		{"a 1/2 +1", "!reset", "d 1/2 +1"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got) %s", d)
	}
}

// single plays the actions of one slot on a harness of its own, with the bookkeeping that a loop over one environment has.
func single(t *rapid.T, mode vector.Mode, task string, seeds []uint64, actions []string) []string {
	h, err := eh.New((&field{}).world())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	resets := 0
	reset := func() eh.Observation {
		o, err := h.Reset(t.Context(), eh.ResetOptions{Task: task, Seed: new(seeds[resets])})
		if err != nil {
			t.Fatal(err)
		}
		resets++
		return o
	}
	rs := []vector.Result{{Transition: eh.Transition{Observation: reset()}}}
	over, sum, turns := false, 0.0, 0
	for _, a := range actions {
		if over {
			r := vector.Result{AutoReset: mode == vector.NextStep}
			if mode == vector.Disabled {
				r.Err = eh.ErrEpisodeOver
			} else {
				r.Observation, over, sum, turns = reset(), false, 0, 0
			}
			rs = append(rs, r)
			continue
		}
		tr, err := h.Step(t.Context(), eh.Action{Name: a})
		if err != nil {
			t.Fatal(err)
		}
		turns++
		sum += tr.Reward
		r := vector.Result{Transition: tr}
		if over = tr.Ended(); over {
			verdict, err := h.Verdict(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r.Episode = &vector.Episode{Task: task, Seed: seeds[resets-1], Return: sum, Turns: turns, Verdict: verdict}
			if mode == vector.SameStep {
				r.Final = &tr
				r.Observation, over, sum, turns = reset(), false, 0, 0
			}
		}
		rs = append(rs, r)
	}
	return lines(rs)
}

// lines writes results as JSON, errors included.
func lines(rs []vector.Result) []string {
	out := make([]string, len(rs))
	for i, r := range rs {
		cause := ""
		if r.Err != nil {
			cause = r.Err.Error()
		}
		for _, err := range []error{eh.ErrEpisodeOver, eh.ErrNeedReset} {
			if errors.Is(r.Err, err) {
				cause = err.Error()
			}
		}
		r.Err = nil
		b, err := json.Marshal(struct {
			R     vector.Result
			Cause string
		}{r, cause})
		if err != nil {
			panic(err)
		}
		out[i] = string(b)
	}
	return out
}

// slotSeed is the seed rule of the package comment.
func slotSeed(root uint64, slot int, k uint64) uint64 {
	return eh.RandStream(root, fmt.Sprint("vector/", slot), k).Uint64()
}

// Each slot of a vector shows what a loop over a single environment shows, whatever runs beside it.
func TestVectorEqualsSingles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]vector.Mode{vector.NextStep, vector.SameStep, vector.Disabled}).Draw(t, "mode")
		n := rapid.IntRange(1, 5).Draw(t, "slots")
		calls := rapid.IntRange(0, 12).Draw(t, "calls")
		o := vector.Options{Mode: mode, Parallel: rapid.IntRange(0, 6).Draw(t, "parallel"), Seed: rapid.Uint64().Draw(t, "seed")}
		v, err := vector.New((&field{}).world(), nil, n, &o)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		var os []eh.ResetOptions
		for i := range n {
			os = append(os, eh.ResetOptions{Task: fmt.Sprintf("t%d/%d", i, rapid.IntRange(1, 4).Draw(t, "length"))})
		}
		all := make([][]vector.Result, 0, calls+1)
		rs, err := v.Reset(t.Context(), os)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rs)
		var names []string
		for k := range calls {
			names = append(names, fmt.Sprint("go", k))
			if rs, err = v.Step(t.Context(), acts(n, names[k])); err != nil {
				t.Fatal(err)
			}
			all = append(all, rs)
		}
		for i := range n {
			var got []vector.Result
			for _, rs := range all {
				got = append(got, rs[i])
			}
			var seeds []uint64
			for k := range calls + 1 {
				seeds = append(seeds, slotSeed(o.Seed, i, uint64(k+1)))
			}
			if d := cmp.Diff(single(t, mode, os[i].Task, seeds, names), lines(got)); d != "" {
				t.Fatalf("slot %d (-single +vector) %s", i, d)
			}
		}
	})
}

// A hundred slots give the same bytes whatever the number of goroutines, and leave none behind.
func TestParallelEqualsSequential(t *testing.T) {
	const n, calls = 100, 30
	play := func(parallel int) string {
		f := &field{onStep: func(_ context.Context, k *track, _ eh.Action) error {
			if k.length == 5 && k.turn == 3 {
				return errBoom // so that failures are compared as well
			}
			return nil
		}}
		v := mustNew(t, f.world(), n, &vector.Options{Parallel: parallel, Seed: 3, Next: func(slot, episode int) eh.ResetOptions {
			return eh.ResetOptions{Task: fmt.Sprintf("s%d/%d", slot, 1+(slot+episode)%7)}
		}})
		out := lines(mustReset(t, v, nil))
		for range calls {
			out = append(out, lines(mustStep(t, v, acts(n, "go")))...)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		if open := f.stillOpen(); open != 0 {
			t.Errorf("parallel %d: %d environments still open", parallel, open)
		}
		return strings.Join(out, "\n")
	}
	want := play(1)
	if !strings.Contains(want, "boom") {
		t.Error("no failure was compared")
	}
	for _, parallel := range []int{2, 16, 1000} {
		synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
			if got := play(parallel); got != want {
				t.Errorf("parallel %d: results differ from one goroutine's", parallel)
			}
		})
	}
}

// Slots are served at the same time, up to Parallel of them, and come back in order however they finish.
func TestOrderOfFinishing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 6
		var now, most atomic.Int64
		f := &field{onStep: func(_ context.Context, k *track, _ eh.Action) error {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Duration(n-int(k.name[0]-'a')) * time.Second) // the last comes first; the time is not real
			return nil
		}}
		v := mustNew(t, f.world(), n, &vector.Options{Parallel: 3})
		mustReset(t, v, tasks("a/9", "b/9", "c/9", "d/9", "e/9", "f/9"))
		start := time.Now()
		got := briefs(mustStep(t, v, acts(n, "go")))
		if d := cmp.Diff([]string{"a 1/9 +1", "b 1/9 +1", "c 1/9 +1", "d 1/9 +1", "e 1/9 +1", "f 1/9 +1"}, got); d != "" {
			t.Errorf("(-want +got) %s", d)
		}
		if most.Load() != 3 {
			t.Errorf("%d slots at once, want 3", most.Load())
		}
		// a 6, b 5, c 4 begin at once; d 3 follows c until 7, e 2 follows b until 7, f 1 follows a until 7.
		if took := time.Since(start); took != 7*time.Second {
			t.Errorf("took %v, want 7s", took)
		}
	})
}

func TestFailures(t *testing.T) {
	bad := func(k *track) bool { return k.name == "b" && k.resets == 1 } // the first episode of an instance
	for _, tt := range []struct {
		name   string
		f      *field
		mode   vector.Mode
		want   []string // of slot b: a reset, then steps
		opened int      // environments, with one for a and one for c
		reason string
	}{
		{"error in a step", &field{onStep: func(_ context.Context, k *track, _ eh.Action) error {
			if bad(k) && k.order == 2 && k.turn == 2 {
				return errBoom
			}
			return nil
		}}, vector.NextStep, []string{"b 0/3", "b 1/3 +1", "episode(b/3 return 1 turns 2 invalid) !boom", "b 0/3 auto", "b 1/3 +1"}, 4,
			"openai/gym#3281: a dead worker is an error of its slot, its episode Invalid; the next call opens a fresh one"},
		{"same with SameStep", &field{onStep: func(_ context.Context, k *track, _ eh.Action) error {
			if bad(k) && k.order == 2 && k.turn == 2 {
				return errBoom
			}
			return nil
		}}, vector.SameStep, []string{"b 0/3", "b 1/3 +1", "episode(b/3 return 1 turns 2 invalid) !boom", "b 0/3 auto", "b 1/3 +1"}, 4,
			"package comment: NextStep and SameStep alike"},
		{"same with Disabled", &field{onStep: func(_ context.Context, k *track, _ eh.Action) error {
			if bad(k) && k.order == 2 && k.turn == 2 {
				return errBoom
			}
			return nil
		}}, vector.Disabled, []string{"b 0/3", "b 1/3 +1", "episode(b/3 return 1 turns 2 invalid) !boom", "!over", "!over"}, 3,
			"package comment: a Reset of the slot does"},
		{"panic in a step", &field{onStep: func(_ context.Context, k *track, _ eh.Action) error {
			if bad(k) && k.order == 2 {
				panic(errBoom)
			}
			return nil
		}}, vector.NextStep, []string{"b 0/3",
			"episode(b/3 return 0 turns 1 invalid) vector: slot 1: step: envharness: env_error: step 1: panic: boom", "b 0/3 auto", "b 1/3 +1"}, 4,
			"R03 a crash stays in its slot"},
		{"goroutine ended in a step", &field{onStep: func(_ context.Context, k *track, _ eh.Action) error {
			if bad(k) && k.order == 2 {
				runtime.Goexit()
			}
			return nil
		}}, vector.NextStep, []string{"b 0/3",
			"episode(b/3 return 0 turns 1 invalid) vector: slot 1: step: foreign code ended its goroutine", "b 0/3 auto", "b 1/3 +1"}, 4,
			"what t.FailNow does in an environment of a test"},
		{"error in the first reset", &field{onReset: func(_ context.Context, k *track) error {
			if bad(k) && k.order == 2 {
				return errBoom
			}
			return nil
		}}, vector.NextStep, []string{"!boom", "b 0/3 auto", "b 1/3 +1"}, 4, "a slot without an episode begins one"},
		{"same with Disabled", &field{onReset: func(_ context.Context, k *track) error {
			if bad(k) && k.order == 2 {
				return errBoom
			}
			return nil
		}}, vector.Disabled, []string{"!boom", "!reset", "!reset"}, 3, "2.4: a step before a reset is ErrNeedReset"},
		{"error in an own reset", &field{onReset: func(_ context.Context, k *track) error {
			if k.name == "b" && k.resets == 2 {
				return errBoom
			}
			return nil
		}}, vector.NextStep, []string{"b 0/3", "b 1/3 +1", "b 2/3 +2",
			"b 3/3 +3 T episode(b/3 return 6 turns 3 pass)", "auto !boom", "b 0/3 auto"}, 4,
			"a failed reset is tried again by the next call"},
		{"same with SameStep", &field{onReset: func(_ context.Context, k *track) error {
			if k.name == "b" && k.resets == 2 {
				return errBoom
			}
			return nil
		}}, vector.SameStep, []string{"b 0/3", "b 1/3 +1", "b 2/3 +2",
			"+3 T final(b 3/3 +3 T) episode(b/3 return 6 turns 3 pass) !boom", "b 0/3 auto", "b 1/3 +1"}, 4,
			"Result.Err: the result still shows how the last one ended"},
		{"error and close error", &field{
			onStep: func(_ context.Context, k *track, _ eh.Action) error {
				if bad(k) && k.order == 2 {
					return errBoom
				}
				return nil
			},
			onClose: func(k *track) error {
				if k.name == "b" {
					panic("close")
				}
				return nil
			},
		}, vector.NextStep, []string{"b 0/3", "episode(b/3 return 0 turns 1 invalid) !boom", "b 0/3 auto"}, 4, "Close is foreign code, too"},
		{"verifier error", &field{judge: func(_ context.Context, e eh.Evidence) (eh.Verdict, error) {
			if e.Task == "b/3" {
				return eh.Verdict{}, errBoom
			}
			return eh.Verdict{Status: eh.Pass}, nil
		}}, vector.NextStep, []string{"b 0/3", "b 1/3 +1", "b 2/3 +2", "b 3/3 +3 T episode(b/3 return 6 turns 3 invalid)", "b 0/3 auto"}, 3,
			"NeMo-RL#2207: Invalid, not 0; no failure of the slot"},
	} {
		t.Run(tt.name+" "+tt.mode.String(), func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			v := mustNew(t, tt.f.world(), 3, &vector.Options{Mode: tt.mode})
			w := mustNew(t, (&field{}).world(), 3, &vector.Options{Mode: tt.mode}) // where nothing fails
			os := tasks("a/2", "b/3", "c/9")
			rs, ws := mustReset(t, v, os), mustReset(t, w, os)
			got := []string{brief(rs[1])}
			for range tt.want[1:] {
				for _, i := range []int{0, 2} {
					if d := cmp.Diff(brief(ws[i]), brief(rs[i])); d != "" {
						t.Errorf("slot %d is touched by the failure of slot 1 (-want +got) %s", i, d)
					}
				}
				rs, ws = mustStep(t, v, acts(3, "go")), mustStep(t, w, acts(3, "go"))
				got = append(got, brief(rs[1]))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got) %s", d)
			}
			if tt.f.opened != tt.opened {
				t.Errorf("%d environments opened, want %d", tt.f.opened, tt.opened)
			}
			if _, err := v.Reset(t.Context(), os); err != nil {
				t.Error(err)
			}
			_ = v.Close()
			if open := tt.f.stillOpen(); open != 0 {
				t.Errorf("%d environments still open", open)
			}
		})
	}
}

// The verdict of an episode that a failure ended names the failure.
func TestVerdictOfFailure(t *testing.T) {
	f := &field{onStep: func(context.Context, *track, eh.Action) error { return errBoom }}
	v := mustNew(t, f.world(), 1, nil)
	mustReset(t, v, tasks("a/1"))
	r := mustStep(t, v, acts(1, "go"))[0]
	if got := r.Episode.Verdict; got.Status != eh.Invalid || !strings.Contains(got.Reason, "boom") {
		t.Errorf("verdict %+v", got)
	}
}

// Code that hangs costs its slot, never the others.
func TestHangs(t *testing.T) {
	for _, tt := range []struct {
		name   string
		place  string // where b hangs once
		heeds  string // what it heeds: "context", "close" or "nothing"
		mode   vector.Mode
		late   string // what the slot shows
		took   time.Duration
		reason string
	}{
		{"context", "step", "context", vector.NextStep, "episode(b/2 return 0 turns 1 invalid) !late", 10 * time.Second, "R04 deadline per step"},
		{"close", "step", "close", vector.NextStep, "episode(b/2 return 0 turns 1 invalid) !late", 11 * time.Second, "closed a second later"},
		{"nothing", "step", "nothing", vector.NextStep, "episode(b/2 return 0 turns 1 invalid) !late", 12 * time.Second,
			"verl#7180, ml-agents#1340: a hang without an error; left behind after another second"},
		{"nothing", "step", "nothing", vector.SameStep, "episode(b/2 return 0 turns 1 invalid) !late", 12 * time.Second, "the same in SameStep"},
		{"context", "reset", "context", vector.NextStep, "!late", 10 * time.Second, "ml-agents#1340: the start hangs"},
		{"nothing", "reset", "nothing", vector.NextStep, "!late", 12 * time.Second, "the same, left behind"},
		{"context", "verdict", "context", vector.NextStep, "b 2/2 +2 T episode(b/2 return 3 turns 2 invalid) !late", 50 * time.Second,
			"a verdict has three times the limit, and once more for each of 2 turns"},
		{"nothing", "verdict", "nothing", vector.SameStep, "b 2/2 +2 T episode(b/2 return 3 turns 2 invalid) !late", 52 * time.Second,
			"what was reached is kept"},
	} {
		t.Run(tt.place+" heeds "+tt.heeds+" "+tt.mode.String(), func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			synctest.Test(t, func(t *testing.T) {
				release, closed := make(chan struct{}), make(chan struct{})
				defer close(release) // what was left behind
				var stalled atomic.Bool
				stall := func(ctx context.Context, name, place string) error {
					if place != tt.place || name != "b" || stalled.Swap(true) {
						return nil
					}
					switch tt.heeds {
					case "context":
						<-ctx.Done()
					case "close":
						select {
						case <-closed:
						case <-release:
						}
					default:
						<-release
					}
					return nil // an answer that comes too late counts for nothing
				}
				f := &field{
					onReset: func(ctx context.Context, k *track) error { return stall(ctx, k.name, "reset") },
					onStep:  func(ctx context.Context, k *track, _ eh.Action) error { return stall(ctx, k.name, "step") },
					onClose: func(k *track) error {
						if k.name == "b" && k.order == 2 && tt.heeds == "close" {
							close(closed)
						}
						return nil
					},
					judge: func(ctx context.Context, e eh.Evidence) (eh.Verdict, error) {
						return eh.Verdict{Status: eh.Pass}, stall(ctx, e.Task[:1], "verdict")
					},
				}
				v := mustNew(t, f.world(), 3, &vector.Options{Mode: tt.mode, StepTimeout: 10 * time.Second})
				begin := time.Now()
				rs := mustReset(t, v, tasks("a/9", "b/2", "c/9"))
				for turn := 1; rs[1].Err == nil; turn++ {
					rs = mustStep(t, v, acts(3, "go"))
					if a, c := brief(rs[0]), brief(rs[2]); a != fmt.Sprintf("a %d/9 +%d", turn, turn) || c != fmt.Sprintf("c %d/9 +%d", turn, turn) {
						t.Errorf("the others show %q and %q", a, c)
					}
				}
				if took := time.Since(begin); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if got := brief(rs[1]); got != tt.late {
					t.Errorf("the late slot shows %q, want %q", got, tt.late)
				}
				if left := strings.Contains(rs[1].Err.Error(), "left behind"); left != (tt.heeds == "nothing") {
					t.Errorf("error %v", rs[1].Err)
				}
				rs = mustStep(t, v, acts(3, "go"))
				if got := brief(rs[1]); got != "b 0/2 auto" {
					t.Errorf("after it the slot shows %q", got)
				}
				if f.opened != 4 {
					t.Errorf("%d environments opened, want a fresh one for the late slot", f.opened)
				}
			})
		})
	}
}

// A slot whose goroutine comes back after it was left behind changes nothing any more.
func TestLateReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := &field{desc: eh.Description{Tools: []eh.Tool{{Name: "go"}}}}
		f.onStep = func(_ context.Context, k *track, _ eh.Action) error {
			if k.order == 1 && k.turn == 2 {
				<-release
			}
			return nil
		}
		v := mustNew(t, f.world(), 1, &vector.Options{StepTimeout: time.Second})
		mustReset(t, v, tasks("a/4"))
		var got []string
		for i := range 5 {
			if i == 3 {
				close(release)
				synctest.Wait()
				if len(v.Tools(0)) != 1 {
					t.Error("the tools of the fresh environment are gone")
				}
			}
			got = append(got, brief(mustStep(t, v, acts(1, "go"))[0]))
		}
		want := []string{"a 1/4 +1", "episode(a/4 return 1 turns 2 invalid) !late", "a 0/4 auto", "a 1/4 +1", "a 2/4 +2"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got) %s", d)
		}
	})
}

// The slots that a goroutine serves after a late one have all their time and a context that is not done.
func TestAfterLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &field{onStep: func(ctx context.Context, k *track, _ eh.Action) error {
			if k.name == "a" {
				<-ctx.Done()
				return nil
			}
			if ctx.Err() != nil {
				t.Errorf("%s is given a context that is done", k.name)
			}
			time.Sleep(9 * time.Second) // not real
			return ctx.Err()
		}}
		v := mustNew(t, f.world(), 2, &vector.Options{StepTimeout: 10 * time.Second})
		mustReset(t, v, tasks("a/9", "b/9"))
		want := []string{"episode(a/9 return 0 turns 1 invalid) !late", "b 1/9 +1"}
		if d := cmp.Diff(want, briefs(mustStep(t, v, acts(2, "go")))); d != "" {
			t.Errorf("(-want +got) %s", d)
		}
	})
}

// A Close that hangs after a failure is left behind as well; the failure comes first.
func TestHangingClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		f := &field{
			onStep: func(_ context.Context, k *track, _ eh.Action) error {
				if k.order == 1 {
					return errBoom
				}
				return nil
			},
			onClose: func(k *track) error {
				if k.order == 1 {
					<-release
				}
				return nil
			},
		}
		v := mustNew(t, f.world(), 2, &vector.Options{StepTimeout: 10 * time.Second})
		mustReset(t, v, tasks("a/9", "b/9"))
		begin := time.Now()
		rs := mustStep(t, v, acts(2, "go"))
		if took := time.Since(begin); took != 12*time.Second {
			t.Errorf("took %v, want 12s", took)
		}
		if err := rs[0].Err; !errors.Is(err, errBoom) || !errors.Is(err, context.DeadlineExceeded) || rs[0].Episode.Turns != 1 {
			t.Errorf("%s", brief(rs[0]))
		}
		if d := cmp.Diff([]string{"a 0/9 auto", "b 2/9 +2"}, briefs(mustStep(t, v, acts(2, "go")))); d != "" {
			t.Errorf("after it (-want +got) %s", d)
		}
	})
}

// Every slot may hang at once: the goroutines that are lost are replaced, so that the rest gets its turn.
func TestAllHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		f := &field{onStep: func(_ context.Context, k *track, _ eh.Action) error {
			if k.name != "e" {
				<-release
			}
			return nil
		}}
		v := mustNew(t, f.world(), 5, &vector.Options{StepTimeout: time.Minute, Parallel: 2})
		mustReset(t, v, tasks("a/9", "b/9", "c/9", "d/9", "e/9"))
		begin := time.Now()
		rs := mustStep(t, v, acts(5, "go"))
		for i, r := range rs {
			if late := errors.Is(r.Err, context.DeadlineExceeded); late != (i < 4) {
				t.Errorf("slot %d: %v", i, r.Err)
			}
		}
		if took := time.Since(begin); took != 2*62*time.Second {
			t.Errorf("took %v, want 2m4s: two by two", took)
		}
	})
}

// A negative StepTimeout waits, and a cancelled context still gets the caller out.
func TestNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		f := &field{onStep: func(_ context.Context, k *track, a eh.Action) error {
			if a.Name == "slow" {
				time.Sleep(1000 * time.Hour) // not real
			}
			if a.Name == "hang" {
				<-release
			}
			return nil
		}}
		v := mustNew(t, f.world(), 2, &vector.Options{StepTimeout: -1})
		mustReset(t, v, tasks("a/9", "b/9"))
		if got := brief(mustStep(t, v, acts(2, "slow"))[1]); got != "b 1/9 +1" {
			t.Error(got)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, errBoom)
		defer cancel()
		rs, err := v.Step(ctx, []eh.Action{{Name: "hang"}, {Name: "go"}})
		if !errors.Is(err, context.DeadlineExceeded) || len(rs) != 2 {
			t.Fatalf("%v, %v", rs, err)
		}
		if !strings.Contains(rs[0].Err.Error(), "left behind") || !errors.Is(rs[1].Err, context.DeadlineExceeded) || rs[1].Episode != nil {
			t.Errorf("%v", briefs(rs))
		}
		want := []string{"a 0/9 auto", "b 2/9 +2"} // b's turn never came, so it is where it was
		if d := cmp.Diff(want, briefs(mustStep(t, v, acts(2, "go")))); d != "" {
			t.Errorf("(-want +got) %s", d)
		}
	})
}

// A context that is done before the call touches nothing.
func TestDoneContext(t *testing.T) {
	f := &field{}
	v := mustNew(t, f.world(), 2, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if rs, err := v.Reset(ctx, tasks("a/2", "b/2")); rs != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", rs, err)
	}
	mustReset(t, v, tasks("a/2", "b/2"))
	if rs, err := v.Step(ctx, acts(2, "go")); rs != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", rs, err)
	}
	if d := cmp.Diff([]string{"a 1/2 +1", "b 1/2 +1"}, briefs(mustStep(t, v, acts(2, "go")))); d != "" {
		t.Errorf("(-want +got) %s", d)
	}
}

func TestBusyAndClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enter, release := make(chan struct{}), make(chan struct{})
		f := &field{onStep: func(_ context.Context, k *track, a eh.Action) error {
			if a.Name == "wait" && k.name == "a" {
				close(enter)
				<-release
			}
			return nil
		}}
		f.desc = eh.Description{Tools: []eh.Tool{{Name: "go"}}}
		v := mustNew(t, f.world(), 2, nil)
		if _, err := v.Step(t.Context(), acts(2, "go")); !errors.Is(err, eh.ErrNeedReset) {
			t.Errorf("before the first Reset: %v", err)
		}
		mustReset(t, v, tasks("a/9", "b/9"))
		stepped := make(chan error)
		go func() {
			_, err := v.Step(t.Context(), acts(2, "wait"))
			stepped <- err
		}()
		<-enter
		if _, err := v.Step(t.Context(), acts(2, "go")); !errors.Is(err, eh.ErrBusy) {
			t.Errorf("Step during a Step: %v", err)
		}
		if _, err := v.Reset(t.Context(), nil); !errors.Is(err, eh.ErrBusy) {
			t.Errorf("Reset during a Step: %v", err)
		}
		if got := v.Tools(1); len(got) != 1 || got[0].Name != "go" {
			t.Errorf("Tools during a Step: %v", got)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		close(release)
		if err := <-stepped; !errors.Is(err, eh.ErrClosed) {
			t.Errorf("a Step that was closed: %v", err)
		}
		if err := v.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
		if _, err := v.Step(t.Context(), acts(2, "go")); !errors.Is(err, eh.ErrClosed) {
			t.Errorf("Step after Close: %v", err)
		}
		if _, err := v.Reset(t.Context(), nil); !errors.Is(err, eh.ErrClosed) {
			t.Errorf("Reset after Close: %v", err)
		}
		if open := f.stillOpen(); open != 0 {
			t.Errorf("%d environments still open", open)
		}
	})
}

// A Close that comes while environments are being opened closes those, too.
func TestCloseDuringOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &field{}
		w, enter, release := f.world(), make(chan struct{}, 3), make(chan struct{})
		open := w.New
		w.New = func(ctx context.Context) (eh.Environment, error) {
			enter <- struct{}{}
			<-release
			return open(ctx)
		}
		v := mustNew(t, w, 3, nil)
		done := make(chan error)
		go func() {
			_, err := v.Reset(t.Context(), tasks("a/1", "b/1", "c/1"))
			done <- err
		}()
		<-enter
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		close(release)
		if err := <-done; !errors.Is(err, eh.ErrClosed) {
			t.Error(err)
		}
		if f.opened != 1 || f.stillOpen() != 0 {
			t.Errorf("%d opened, %d still open; want one that was closed", f.opened, f.stillOpen())
		}
	})
}

// Close reports every slot that could not be closed, and closes all.
func TestCloseErrors(t *testing.T) {
	f := &field{onClose: func(k *track) error {
		if k.name == "b" {
			return nil
		}
		return fmt.Errorf("%s stays", k.name)
	}}
	v := mustNew(t, f.world(), 3, nil)
	mustReset(t, v, tasks("a/1", "b/1", "c/1"))
	err := v.Close()
	if want := "vector: slot 0: close: a stays\nvector: slot 2: close: c stays"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if f.stillOpen() != 0 {
		t.Errorf("%d still open", f.stillOpen())
	}
}

func TestSeeds(t *testing.T) {
	f := &field{}
	v := mustNew(t, f.world(), 2, &vector.Options{Mode: vector.SameStep, Seed: 5})
	seed := func(rs []vector.Result, slot int) string { return rs[slot].Observation.Data["seed"].(string) }
	hex := func(s uint64) string { return fmt.Sprintf("%x", s) }
	rs := mustReset(t, v, []eh.ResetOptions{{Task: "a/1"}, {Task: "b/1", Seed: new(uint64(77))}})
	got := []string{seed(rs, 0), seed(rs, 1)}
	for range 2 {
		rs = mustStep(t, v, acts(2, "go"))
		got = append(got, seed(rs, 0), seed(rs, 1))
	}
	if r := rs[1]; r.Episode.Seed != slotSeed(77, 1, 1) {
		t.Errorf("the episode that ended has seed %x, want that with which it began", r.Episode.Seed)
	}
	rs = mustReset(t, v, tasks("a/1", "b/1"))
	got = append(got, seed(rs, 0), seed(rs, 1))
	want := []string{
		hex(slotSeed(5, 0, 1)), "4d", // given
		hex(slotSeed(5, 0, 2)), hex(slotSeed(77, 1, 1)),
		hex(slotSeed(5, 0, 3)), hex(slotSeed(77, 1, 2)),
		hex(slotSeed(5, 0, 4)), hex(slotSeed(77, 1, 3)), // a Reset without a seed goes on
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got) %s", d)
	}
}

// Next hands out a list of tasks in an order that does not depend on how long the episodes are.
func TestNext(t *testing.T) {
	list := []string{"p/1", "q/3", "r/2", "s/1", "t/1"}
	const n = 2
	v := mustNew(t, (&field{}).world(), n, &vector.Options{Next: func(slot, episode int) eh.ResetOptions {
		return eh.ResetOptions{Task: list[(slot+n*episode)%len(list)], Seed: new(uint64(episode))}
	}})
	got := [][]string{briefs(mustReset(t, v, nil))}
	for range 6 {
		got = append(got, briefs(mustStep(t, v, acts(n, "go"))))
	}
	want := [][]string{
		{"p 0/1", "q 0/3"},
		{"p 1/1 +1 T episode(p/1 return 1 turns 1 pass)", "q 1/3 +1"},
		{"r 0/2 auto", "q 2/3 +2"},
		{"r 1/2 +1", "q 3/3 +3 T episode(q/3 return 6 turns 3 pass)"},
		{"r 2/2 +2 T episode(r/2 return 3 turns 2 pass)", "s 0/1 auto"},
		{"t 0/1 auto", "s 1/1 +1 T episode(s/1 return 1 turns 1 pass)"},
		{"t 1/1 +1 T episode(t/1 return 1 turns 1 pass)", "p 0/1 auto"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got) %s", d)
	}
	if d := cmp.Diff([]string{"p 0/1", "q 0/3"}, briefs(mustReset(t, v, nil))); d != "" {
		t.Errorf("a Reset begins the list anew (-want +got) %s", d)
	}
}

// A panic of Next is a failure of the slot.
func TestNextPanics(t *testing.T) {
	v := mustNew(t, (&field{}).world(), 2, &vector.Options{Next: func(slot, episode int) eh.ResetOptions {
		if slot == 1 && episode == 0 {
			panic("no more")
		}
		return eh.ResetOptions{Task: "a/5"}
	}})
	got := briefs(mustReset(t, v, nil))
	if d := cmp.Diff([]string{"a 0/5", "vector: slot 1: next: panic: no more"}, got); d != "" {
		t.Errorf("(-want +got) %s", d)
	}
}

func TestFaultsInArguments(t *testing.T) {
	w := (&field{}).world()
	noop := eh.Rules(eh.ComponentSpec{Tag: "r", Axis: "X"}, func(context.Context, eh.EpisodeInfo) (eh.Hooks, error) { return eh.Hooks{}, nil })
	for _, tt := range []struct {
		name       string
		components []eh.Component
		n          int
		o          *vector.Options
		want       []string
		reason     string
	}{
		{"all of them", []eh.Component{noop}, 0, &vector.Options{Parallel: -1, Mode: 3}, []string{
			"vector: 0 slots, want 1 to 1048576", "vector: Parallel is -1, must not be negative",
			`vector: mode 3 is none of ["NextStep" "SameStep" "Disabled"]`, `envharness: component "r": unknown axis "X"`,
		}, "everything is checked once and joined"},
		{"negative n", nil, -1, nil, []string{"vector: -1 slots, want 1 to 1048576"}, "n >= 1"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		v, err := vector.New(w, tt.components, tt.n, tt.o)
		if err == nil || v != nil {
			t.Errorf("%s: accepted", tt.name)
			continue
		}
		if d := cmp.Diff(strings.Join(tt.want, "\n"), err.Error()); d != "" {
			t.Errorf("%s: (-want +got) %s", tt.name, d)
		}
	}
	v := mustNew(t, w, 2, nil)
	for _, tt := range []struct {
		o      []eh.ResetOptions
		slots  []int
		want   string
		reason string
	}{
		{tasks("a/1"), nil, "vector: reset: 1 options for 2 slots", "one for each slot"},
		{[]eh.ResetOptions{}, nil, "vector: reset: 0 options for 2 slots", "only nil leaves it to Next"},
		{tasks("a/1", "b/1"), []int{1}, "vector: reset: 2 options for 1 slots", "one for each slot given"},
		{tasks("a/1"), []int{2}, "vector: reset: slot 2 is outside [0, 2)", "no such slot"},
		{tasks("a/1"), []int{-1}, "vector: reset: slot -1 is outside [0, 2)", "no such slot"},
		{tasks("a/1", "b/1"), []int{1, 1}, "vector: reset: slot 1 is given twice", "one episode a slot"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		if _, err := v.Reset(t.Context(), tt.o, tt.slots...); err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %s (%s)", err, tt.want, tt.reason)
		}
	}
	if _, err := v.Step(t.Context(), acts(3, "go")); err == nil || err.Error() != "vector: step: 3 actions for 2 slots" {
		t.Errorf("error %v", err)
	}
	if _, err := v.Step(t.Context(), acts(2, "go")); !errors.Is(err, eh.ErrNeedReset) {
		t.Errorf("a refused Reset counted: %v", err)
	}
}

func TestModeText(t *testing.T) {
	for _, m := range []vector.Mode{vector.NextStep, vector.SameStep, vector.Disabled} {
		b, err := json.Marshal(m)
		if err != nil || string(b) != `"`+m.String()+`"` {
			t.Errorf("%s, %v", b, err)
		}
		back := vector.Mode(9)
		if err := json.Unmarshal(b, &back); err != nil || back != m {
			t.Errorf("%s comes back as %v, %v", b, back, err)
		}
	}
	if _, err := json.Marshal(vector.Mode(3)); err == nil || vector.Mode(3).String() != "Mode(3)" {
		t.Error("a mode that is none was written")
	}
	if err := new(vector.Mode).UnmarshalText([]byte("nextstep")); err == nil {
		t.Error("a name that is none was read")
	}
}

// Verdicts are those of the harness: replayed where the environment is deterministic, left out on demand.
func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name          string
		deterministic bool
		unjudged      bool
		want          eh.Verdict
		opened        int
		reason        string
	}{
		{"taken at its word", false, false, eh.Verdict{Status: eh.Pass, Score: 1, Unreplayed: true}, 1, "Harness.Verdict: marked Unreplayed"},
		{"replayed", true, false, eh.Verdict{Status: eh.Pass, Score: 1}, 2, "Harness.Verdict: the log is carried out on a fresh environment"},
		{"unjudged", true, true, eh.Verdict{}, 1, "Options.Unjudged: Invalid, and no replay"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		f := &field{desc: eh.Description{Deterministic: tt.deterministic}}
		v := mustNew(t, f.world(), 1, &vector.Options{Unjudged: tt.unjudged})
		mustReset(t, v, tasks("a/1"))
		r := mustStep(t, v, acts(1, "go"))[0]
		if d := cmp.Diff(tt.want, r.Episode.Verdict); d != "" {
			t.Errorf("%s: (-want +got) %s", tt.name, d)
		}
		if f.opened != tt.opened {
			t.Errorf("%s: %d environments opened, want %d", tt.name, f.opened, tt.opened)
		}
	}
}

func TestTools(t *testing.T) {
	f := &field{desc: eh.Description{Tools: []eh.Tool{{Name: "go"}}}, onStep: func(_ context.Context, k *track, _ eh.Action) error {
		if k.name == "b" {
			return errBoom
		}
		return nil
	}}
	v := mustNew(t, f.world(), 2, nil)
	names := func(slot int) (out []string) {
		for _, tool := range v.Tools(slot) {
			out = append(out, tool.Name)
		}
		return out
	}
	got := [][]string{names(0)}
	mustReset(t, v, tasks("a/2", "b/2"))
	got = append(got, names(0), names(1))
	mustStep(t, v, acts(2, "go"))
	got = append(got, names(0), names(1), names(2), names(-1))
	want := [][]string{nil, {"go"}, {"go"}, {"go"}, nil, nil, nil} // b has failed; there is no slot 2
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got) %s", d)
	}
}

// What a caller does to what it gave or was given changes nothing.
func TestCopies(t *testing.T) {
	v := mustNew(t, (&field{}).world(), 1, &vector.Options{Mode: vector.SameStep})
	os := []eh.ResetOptions{{Task: "a/1", Options: json.RawMessage(`{}`)}}
	rs := mustReset(t, v, os)
	os[0].Task, os[0].Options[0] = "z/9", '!'
	rs[0].Observation.Data["seed"] = "spoilt"
	rs = mustStep(t, v, acts(1, "go"))
	if got := brief(rs[0]); got != "a 0/1 +1 T final(a 1/1 +1 T) episode(a/1 return 1 turns 1 pass)" {
		t.Error(got)
	}
}

// A vector that nobody made has no slots.
func TestZeroVector(t *testing.T) {
	var v vector.Vector
	if _, err := v.Reset(t.Context(), nil); !errors.Is(err, eh.ErrNeedReset) {
		t.Error(err)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
}
