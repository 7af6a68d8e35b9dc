package envtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/vector"
)

// A Vector steps several slots at once, as [vector.Vector] does and documents it.
type Vector interface {
	Reset(ctx context.Context, o []envharness.ResetOptions, slots ...int) ([]vector.Result, error)
	Step(ctx context.Context, actions []envharness.Action) ([]vector.Result, error)
	Close() error
}

// A Runner says which vector runner to check. The worlds are the kit's own.
type Runner struct {
	// New makes a runner with n slots of w. Of the options only Mode, Parallel, Seed and StepTimeout are set.
	New func(w envharness.World, n int, o *vector.Options) (Vector, error)
	// Patience is how long a call may take that should not wait for anything, by the clock; zero means five seconds. It is used up only
	// where something hangs.
	Patience time.Duration
}

// Check checks R01 to R08 and returns the violations, joined, or nil.
func (r Runner) Check(ctx context.Context) error { return checkAll(ctx, r, runnerTable) }

// Run checks each rule in a subtest.
func (r Runner) Run(t *testing.T) { t.Helper(); runAll(t, r, runnerTable) }

func runnerRules() []Rule { return listed(runnerTable) }

var runnerTable = []rule[Runner]{
	{"R01", "the three modes show the end of an episode and the start of the next as documented", vectorModes},
	{"R02", "as many results lack the mark AutoReset as actions reached an environment, and only they count", vectorActionCount},
	{"R03", "an error or a panic stays in its slot, and the slot recovers", vectorCrash},
	{"R04", "a reset or step that takes longer than StepTimeout costs its slot alone", vectorDeadline},
	{"R05", "results come in the order of the slots", vectorOrder},
	{"R06", "results do not depend on Parallel", vectorParallel},
	{"R07", "the limit on turns is respected, and an environment is reset once an episode", vectorTotals},
	{"R08", "a call during another is ErrBusy, one after Close ErrClosed", vectorExclusion},
}

// A vectorTrial is a runner in the midst of a check.
type vectorTrial struct {
	v        Vector
	n        int
	patience time.Duration
}

// start makes a runner and resets it to the tasks, one a slot.
func (r Runner) start(ctx context.Context, c *course, o vector.Options, tasks ...string) (*vectorTrial, []vector.Result, error) {
	t, err := r.open(c, o, len(tasks))
	if err != nil {
		return nil, nil, err
	}
	rs, err := t.reset(ctx, tasks)
	if err != nil {
		t.close()
		return nil, nil, blame("R01", "Reset: %w", err)
	}
	return t, rs, nil
}

func (r Runner) open(c *course, o vector.Options, n int) (*vectorTrial, error) {
	v, err := r.New(c.world(), n, &o)
	if err == nil && v == nil {
		err = errors.New("no runner")
	}
	if err != nil {
		return nil, blame("R01", "New: %w", err)
	}
	return &vectorTrial{v: v, n: n, patience: cmp.Or(r.Patience, 5*time.Second)}, nil
}

func (t *vectorTrial) close() { _ = t.v.Close() }

func (t *vectorTrial) reset(ctx context.Context, tasks []string, slots ...int) ([]vector.Result, error) {
	o := make([]envharness.ResetOptions, len(tasks))
	for i := range o {
		o[i].Task = tasks[i]
	}
	return t.call(ctx, len(tasks), func(ctx context.Context) ([]vector.Result, error) { return t.v.Reset(ctx, o, slots...) })
}

func (t *vectorTrial) step(ctx context.Context) ([]vector.Result, error) {
	actions := make([]envharness.Action, t.n)
	for i := range actions {
		actions[i].Name = "go"
	}
	return t.call(ctx, t.n, func(ctx context.Context) ([]vector.Result, error) { return t.v.Step(ctx, actions) })
}

// call makes a call that is to return in time and with as many results as there are slots. A late one is cancelled, and left behind if
// that does not help.
func (t *vectorTrial) call(ctx context.Context, n int, f func(context.Context) ([]vector.Result, error)) (rs []vector.Result, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		rs  []vector.Result
		err error
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- answer{nil, panicked(p)}
			}
		}()
		rs, err := f(ctx)
		done <- answer{rs, err}
	}()
	timer := time.NewTimer(t.patience)
	defer timer.Stop()
	select {
	case a := <-done:
		if a.err == nil && len(a.rs) != n {
			a.err = fmt.Errorf("%d results for %d slots", len(a.rs), n)
		}
		return a.rs, a.err
	case <-timer.C:
	}
	cancel()
	timer.Reset(t.patience)
	select {
	case <-done:
	case <-timer.C:
	}
	return nil, fmt.Errorf("the call did not return within %v", t.patience)
}

// vectorModes is R01: one slot at a time, against a loop over a single lap.
func vectorModes(ctx context.Context, r Runner) error {
	for _, mode := range []vector.Mode{vector.NextStep, vector.SameStep, vector.Disabled} {
		for length := 1; length <= 3; length++ {
			if err := r.mode(ctx, mode, length); err != nil {
				return fmt.Errorf("%v, episodes of %d turns: %w", mode, length, err)
			}
		}
	}
	return nil
}

func (r Runner) mode(ctx context.Context, mode vector.Mode, length int) error {
	task := fmt.Sprint("a/", length)
	t, err := r.open(&course{}, vector.Options{Mode: mode}, 1)
	if err != nil {
		return err
	}
	defer t.close()
	turn := 0
	for call := range 3 * (length + 1) {
		var rs []vector.Result
		want := envharness.Transition{}
		ended := turn == length // in the call before
		reset := call == 0 || ended && mode == vector.Disabled
		if ended && mode == vector.Disabled {
			if rs, err = t.step(ctx); err != nil || !errors.Is(rs[0].Err, envharness.ErrEpisodeOver) {
				return fmt.Errorf("Step after the end: %v, want ErrEpisodeOver in the slot", cmp.Or(err, resultErr(rs)))
			}
		}
		if reset {
			rs, err = t.reset(ctx, []string{task}, 0)
		} else {
			rs, err = t.step(ctx)
		}
		if err == nil {
			err = rs[0].Err
		}
		if err != nil {
			return fmt.Errorf("call %d: %w", call, err)
		}
		switch {
		case reset || ended && mode == vector.NextStep:
			turn = 0
		default:
			if turn == length { // SameStep: the episode began with the call before
				turn = 0
			}
			turn++
			want.Reward, want.Terminated = float64(turn), turn == length
		}
		want.Observation.Text = lapText("a", turn, length)
		if err := sameShown(want, rs[0], mode == vector.SameStep && want.Terminated, lapText("a", 0, length)); err != nil {
			return fmt.Errorf("call %d: %w", call, err)
		}
	}
	return nil
}

func resultErr(rs []vector.Result) error {
	if len(rs) == 0 {
		return nil
	}
	return rs[0].Err
}

// sameShown compares what a slot shows with a transition, which is in Final if first, the next first observation, is shown in its place.
func sameShown(want envharness.Transition, got vector.Result, final bool, first string) error {
	flags := func(t envharness.Transition) string {
		return fmt.Sprintf("%q, reward %v, terminated %v, truncated %v", t.Observation.Text, t.Reward, t.Terminated, t.Truncated)
	}
	if final != (got.Final != nil) {
		return fmt.Errorf("the Final is given: %v, want %v", got.Final != nil, final)
	}
	if final {
		if flags(*got.Final) != flags(want) {
			return fmt.Errorf("the Final is %s, want %s", flags(*got.Final), flags(want))
		}
		want.Observation.Text = first
	}
	if flags(got.Transition) != flags(want) {
		return fmt.Errorf("shown is %s, want %s", flags(got.Transition), flags(want))
	}
	return nil
}

// vectorActionCount is R02.
func vectorActionCount(ctx context.Context, r Runner) error {
	for _, mode := range []vector.Mode{vector.NextStep, vector.SameStep} {
		c := &course{}
		t, _, err := r.start(ctx, c, vector.Options{Mode: mode}, "a/2", "b/3")
		if err != nil {
			return err
		}
		defer t.close()
		counted := 0
		for call := range 12 {
			rs, err := t.step(ctx)
			if err != nil {
				return blame("R01", "Step: %w", err)
			}
			for _, res := range rs {
				if !res.AutoReset && res.Err == nil {
					counted++
				}
				if err := sameEpisode(res.Episode); err != nil {
					return fmt.Errorf("%v, call %d: %w", mode, call, err)
				}
			}
			if _, steps := c.counts(); steps != counted {
				return fmt.Errorf("%v: after call %d %d actions have reached an environment, %d results were not marked AutoReset",
					mode, call, steps, counted)
			}
		}
	}
	return nil
}

// sameEpisode compares the statistics of an episode that came to its end with its task.
func sameEpisode(e *vector.Episode) error {
	if e == nil {
		return nil
	}
	var length int
	if _, err := fmt.Sscanf(e.Task[strings.Index(e.Task, "/")+1:], "%d", &length); err != nil {
		return fmt.Errorf("the Episode.Task is %q", e.Task)
	}
	if sum := float64(length*(length+1)) / 2; e.Turns != length || e.Return != sum {
		return fmt.Errorf("the Episode %s has %d turns and return %v, want %d and %v", e.Task, e.Turns, e.Return, length, sum)
	}
	return nil
}

// vectorCrash is R03.
func vectorCrash(ctx context.Context, r Runner) error {
	for _, tt := range []struct {
		what  string
		turn  int
		crash func() error
	}{
		{"an error in a step", 2, func() error { return errors.New("crash") }},
		{"a panic in a step", 2, func() error { panic("crash") }},
		{"an error in a reset", 0, func() error { return errors.New("crash") }},
	} {
		var crashed atomic.Bool
		c := &course{wait: func(_ context.Context, name string, turn int) error {
			if name == "b" && turn == tt.turn && !crashed.Swap(true) {
				return tt.crash()
			}
			return nil
		}}
		if err := r.lost(ctx, c, vector.Options{}, tt.turn); err != nil {
			return fmt.Errorf("%s: %w", tt.what, err)
		}
	}
	return nil
}

// lost plays three slots of which b fails once, in the turn given; the others must not notice, and b must come back.
func (r Runner) lost(ctx context.Context, c *course, o vector.Options, turn int) error {
	t, err := r.open(c, o, 3)
	if err != nil {
		return err
	}
	defer t.close()
	for call := range turn + 2 {
		var rs []vector.Result
		if call == 0 {
			rs, err = t.reset(ctx, []string{"a/9", "b/9", "c/9"})
		} else {
			rs, err = t.step(ctx)
		}
		if err != nil {
			return fmt.Errorf("call %d: %w", call, err)
		}
		want := []string{lapText("a", call, 9), lapText("c", call, 9)}
		switch {
		case call < turn:
			want = append(want, lapText("b", call, 9))
		case call > turn:
			want = append(want, lapText("b", 0, 9))
		}
		if err := sameTexts(rs, want, call == turn, turn > 0); err != nil {
			return fmt.Errorf("call %d: %w", call, err)
		}
	}
	return nil
}

// sameTexts compares what the slots show, in any order. Where one has failed it shows nothing, and the verdict of an episode that
// it had is Invalid.
func sameTexts(rs []vector.Result, want []string, failed, episode bool) error {
	var got []string
	for _, res := range rs {
		if res.Err == nil {
			got = append(got, res.Observation.Text)
			continue
		}
		if !failed {
			return res.Err
		}
		if episode && (res.Episode == nil || res.Episode.Verdict.Status != envharness.Invalid) {
			return errors.New("the failed slot reports no episode with an Invalid verdict")
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("slots without an error show %q, want %q", got, want)
	}
	return nil
}

// vectorDeadline is R04.
func vectorDeadline(ctx context.Context, r Runner) error {
	for _, turn := range []int{2, 0} {
		for _, parallel := range []int{1, 3} {
			var late atomic.Bool
			c := &course{wait: func(ctx context.Context, name string, at int) error {
				if name == "b" && at == turn && !late.Swap(true) {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}}
			if err := r.lost(ctx, c, vector.Options{Parallel: parallel, StepTimeout: 20 * time.Millisecond}, turn); err != nil {
				return fmt.Errorf("an environment that waits for the end of its context in turn %d, Parallel %d: %w", turn, parallel, err)
			}
		}
	}
	return nil
}

// vectorOrder is R05. Each slot's environment waits for that of the next slot, so that the last one is the first to finish.
func vectorOrder(ctx context.Context, r Runner) error {
	names := []string{"a", "b", "c", "d"}
	finished := make([]chan struct{}, len(names)+1)
	for i := range finished {
		finished[i] = make(chan struct{}, 100)
	}
	c := &course{wait: func(ctx context.Context, name string, _ int) error {
		i := slices.Index(names, name)
		defer func() { finished[i] <- struct{}{} }()
		if i+1 == len(names) {
			return nil
		}
		timer := time.NewTimer(5 * time.Millisecond) // a runner need not step all at once, and the next slot may have nothing to do
		defer timer.Stop()
		select {
		case <-finished[i+1]:
		case <-timer.C:
		case <-ctx.Done():
		}
		return nil
	}}
	t, rs, err := r.start(ctx, c, vector.Options{Parallel: len(names)}, "a/9", "b/3", "c/2", "d/1")
	if err != nil {
		return err
	}
	defer t.close()
	for call := range 6 {
		for i, res := range rs {
			if res.Err != nil {
				return blame("R01", "Step: %w", res.Err)
			}
			if !strings.HasPrefix(res.Observation.Text, names[i]+" ") {
				return fmt.Errorf("call %d: slot %d shows %q, its task is %s", call, i, res.Observation.Text, names[i])
			}
		}
		if rs, err = t.step(ctx); err != nil {
			return blame("R01", "Step: %w", err)
		}
	}
	return nil
}

// vectorParallel is R06.
func vectorParallel(ctx context.Context, r Runner) error {
	for _, mode := range []vector.Mode{vector.NextStep, vector.SameStep} {
		var first []string
		for _, parallel := range []int{1, 2, 5} {
			got, err := r.transcript(ctx, vector.Options{Mode: mode, Parallel: parallel, Seed: 11})
			if err != nil {
				return err
			}
			if first == nil {
				first = got
			}
			for i := range got {
				if got[i] != first[i] {
					return fmt.Errorf("%v: with Parallel %d a result of call %d is %s, with 1 %s", mode, parallel, i/5, got[i], first[i])
				}
			}
		}
	}
	return nil
}

// transcript plays ten calls in five slots and writes the results, sorted within a call, so that their order is not judged here.
func (r Runner) transcript(ctx context.Context, o vector.Options) ([]string, error) {
	t, rs, err := r.start(ctx, &course{}, o, "a/1", "b/2", "c/3", "d/4", "e/9")
	if err != nil {
		return nil, err
	}
	defer t.close()
	var out []string
	for range 10 {
		var lines []string
		for _, res := range rs {
			if res.Err != nil {
				return nil, blame("R01", "Step: %w", res.Err)
			}
			b, err := json.Marshal(res)
			if err != nil {
				return nil, err
			}
			lines = append(lines, string(b))
		}
		slices.Sort(lines)
		out = append(out, lines...)
		if rs, err = t.step(ctx); err != nil {
			return nil, blame("R01", "Step: %w", err)
		}
	}
	return out, nil
}

// vectorTotals is R07: three episodes a slot, each cut off after three turns.
func vectorTotals(ctx context.Context, r Runner) error {
	for _, tt := range []struct {
		mode          vector.Mode
		calls, resets int
	}{{vector.NextStep, 11, 3}, {vector.SameStep, 9, 4}} {
		c := &course{maxTurns: 3}
		t, _, err := r.start(ctx, c, vector.Options{Mode: tt.mode}, "a/99", "b/99")
		if err != nil {
			return err
		}
		defer t.close()
		ends, episodes := 0, 0
		for range tt.calls {
			rs, err := t.step(ctx)
			if err != nil {
				return blame("R01", "Step: %w", err)
			}
			for _, res := range rs {
				if res.Ended() {
					ends++
				}
				if res.Episode != nil {
					episodes++
				}
			}
		}
		resets, steps := c.counts()
		if ends != 6 || episodes != 6 || steps != 18 || resets != 2*tt.resets {
			return fmt.Errorf("%v: %d calls with episodes of 3 turns in 2 slots: %d ends, %d episodes, %d turns, %d resets; want 6, 6, 18, %d",
				tt.mode, tt.calls, ends, episodes, steps, resets, 2*tt.resets)
		}
	}
	return nil
}

// vectorExclusion is R08.
func vectorExclusion(ctx context.Context, r Runner) error {
	entered, release := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	c := &course{wait: func(ctx context.Context, _ string, turn int) error {
		if turn == 1 && !once.Swap(true) {
			close(entered)
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return nil
	}}
	t, _, err := r.start(ctx, c, vector.Options{StepTimeout: -1}, "a/9", "b/9")
	if err != nil {
		return err
	}
	defer t.close()
	first := make(chan error, 1)
	slow := &vectorTrial{v: t.v, n: t.n, patience: 4 * t.patience}
	go func() {
		_, err := slow.step(ctx)
		first <- err
	}()
	select {
	case <-entered:
	case err := <-first:
		return blame("R01", "Step: no environment was stepped: %w", err)
	}
	busy := t.whileBusy(ctx)
	close(release)
	if err := <-first; err != nil {
		return cmp.Or(busy, fmt.Errorf("a Step with another call during it: %w", err))
	}
	if busy != nil {
		return busy
	}
	return t.afterClose(ctx)
}

func (t *vectorTrial) whileBusy(ctx context.Context) error {
	if _, err := t.step(ctx); !errors.Is(err, envharness.ErrBusy) {
		return fmt.Errorf("Step during a Step: %v, want ErrBusy", err)
	}
	if _, err := t.reset(ctx, []string{"a/9", "b/9"}); !errors.Is(err, envharness.ErrBusy) {
		return fmt.Errorf("Reset during a Step: %v, want ErrBusy", err)
	}
	return nil
}

func (t *vectorTrial) afterClose(ctx context.Context) error {
	for range 2 {
		if err := t.v.Close(); err != nil {
			return fmt.Errorf("Close: %w", err)
		}
	}
	if _, err := t.step(ctx); !errors.Is(err, envharness.ErrClosed) {
		return fmt.Errorf("Step after Close: %v, want ErrClosed", err)
	}
	if _, err := t.reset(ctx, []string{"a/9", "b/9"}); !errors.Is(err, envharness.ErrClosed) {
		return fmt.Errorf("Reset after Close: %v, want ErrClosed", err)
	}
	return nil
}
