package envtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

func closes(ctx context.Context, e Environment) error {
	t := e.tasks()[0]
	for _, c := range []struct {
		what   string
		before func(b *bench) error
	}{
		{"before Reset", func(*bench) error { return nil }},
		{"after Reset", func(b *bench) error { _, err := b.reset(ctx, t, seedOf(t, 1)); return err }},
		{"after a failed Reset", func(b *bench) error {
			_, _ = b.env.Reset(ctx, envharness.ResetOptions{Task: "envtest no such task"}) // an error, or a free form task
			return nil
		}},
		{"after a turn", func(b *bench) error { _, err := b.play(ctx, t, seedOf(t, 1), 1); return err }},
		{"during Step", func(b *bench) error { return b.closeDuringStep(ctx, t) }},
	} {
		err := e.with(ctx, func(b *bench) error {
			if err := c.before(b); err != nil {
				return err
			}
			for i := range 2 {
				if err := b.env.Close(); err != nil {
					return fmt.Errorf("close %d %s: %w", i+1, c.what, err)
				}
			}
			if err := b.refusesClosed(ctx, t); err != nil {
				return fmt.Errorf("after Close %s: %w", c.what, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// refusesClosed makes every call that must be ErrClosed.
func (b *bench) refusesClosed(ctx context.Context, t envharness.Task) error {
	calls := map[string]func() error{
		"Reset": func() error { _, err := b.env.Reset(ctx, envharness.ResetOptions{Task: t.ID}); return err },
		"Step":  func() error { _, err := b.env.Step(ctx, noTool); return err },
	}
	if o, ok := envharness.As[envharness.Observer](b.env); ok {
		calls["Observe"] = func() error { _, err := o.Observe(ctx); return err }
	}
	if b.state != nil {
		calls["State"] = func() error { _, err := b.state.State(ctx); return err }
	}
	if s, ok := envharness.As[envharness.Snapshotter](b.env); ok {
		calls["Snapshot"] = func() error { _, err := s.Snapshot(ctx); return err }
		calls["Restore"] = func() error { return s.Restore(ctx, envharness.State("{}")) }
	}
	for _, name := range []string{"Reset", "Step", "Observe", "State", "Snapshot", "Restore"} {
		if f := calls[name]; f != nil {
			if err := f(); !errors.Is(err, envharness.ErrClosed) {
				return fmt.Errorf("%s: %v, want %w", name, err, envharness.ErrClosed)
			}
		}
	}
	return nil
}

// closeDuringStep closes while another goroutine calls Step without a pause. The call under way may end in any way.
func (b *bench) closeDuringStep(ctx context.Context, t envharness.Task) error {
	if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
		return err
	}
	var closed atomic.Bool
	stepping := make(chan struct{})
	done := b.c.start(func() error {
		for i := 0; ; i++ {
			was := closed.Load()
			_, err := b.env.Step(ctx, noTool)
			if i == 0 {
				close(stepping)
			}
			if was || err != nil && !errors.Is(err, envharness.ErrEpisodeOver) {
				return nil
			}
			runtime.Gosched()
		}
	})
	if err := b.c.wait(stepping); err != nil {
		err = errors.Join(fmt.Errorf("the first Step: %w", err), b.env.Close())
		return errors.Join(err, b.c.await(done))
	}
	err := b.env.Close()
	closed.Store(true)
	if err != nil {
		err = fmt.Errorf("close during Step: %w", err)
	}
	if late := b.c.await(done); late != nil {
		err = errors.Join(err, fmt.Errorf("Step while Close was called: %w", late))
	}
	return err
}

// errLate is a call that took longer than Patience.
var errLate = errors.New("it has not returned in time")

// start calls f in another goroutine. The channel gets its error, or its panic as one.
func (e Environment) start(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- panicked(p)
			}
		}()
		done <- f()
	}()
	return done
}

// await waits for what was started.
func (e Environment) await(done <-chan error) error {
	timer := time.NewTimer(e.patience())
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errLate
	}
}

func (e Environment) wait(c <-chan struct{}) error {
	timer := time.NewTimer(e.patience())
	defer timer.Stop()
	select {
	case <-c:
		return nil
	case <-timer.C:
		return errLate
	}
}

// Calls are made with a context that is already canceled, and with one that is canceled while they run.
func cancels(ctx context.Context, e Environment) error {
	t := e.tasks()[0]
	for _, early := range []bool{true, false} {
		for _, call := range []string{"Reset", "Step"} {
			err := e.with(ctx, func(b *bench) error { return b.canceled(ctx, t, call, early) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) canceled(ctx context.Context, t envharness.Task, call string, early bool) error {
	if call == "Step" {
		if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
			return err
		}
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	if early {
		cancel()
	}
	a := b.c.Actions.draw(generator(), b.shown, b.tools())
	done := b.c.start(func() error {
		if call == "Step" {
			_, _ = b.env.Step(inner, a) // it may have been too fast to be canceled
		} else {
			_, _ = b.env.Reset(inner, envharness.ResetOptions{Task: t.ID, Seed: seedOf(t, 1)})
		}
		return nil
	})
	runtime.Gosched()
	cancel()
	late := b.c.await(done)
	err := b.c.await(b.c.start(b.env.Close))
	switch {
	case late != nil:
		return fmt.Errorf("%s with a canceled context: %w", call, late)
	case err != nil:
		return fmt.Errorf("close after a canceled %s: %w", call, err)
	}
	return nil
}

// cycles are so many that what other code of the process opens meanwhile is not mistaken for a leak of each instance.
const cycles = 20

// The first instance is not counted: what is made once for a process may stay.
func leavesNothing(ctx context.Context, e Environment) (err error) {
	label := fmt.Sprintf("%p", &err) // no other check that runs has the same
	pprof.Do(ctx, pprof.Labels("envtest", label), func(ctx context.Context) {
		if err = e.cycle(ctx); err != nil {
			return
		}
		before := countLeft(label)
		for range cycles {
			if err = e.cycle(ctx); err != nil {
				return
			}
		}
		err = e.settle(label, before)
	})
	return err
}

// cycle opens, plays a little and closes.
func (e Environment) cycle(ctx context.Context) error {
	t := e.tasks()[0]
	return e.with(ctx, func(b *bench) error {
		_, err := b.play(ctx, t, seedOf(t, 1), 3)
		return err
	})
}

// settle waits until nothing is left of what cycles began.
func (e Environment) settle(label string, before left) error {
	const naps = 20
	for i := range 2 * naps {
		for range 100 { // a goroutine that is about to end gets its turn
			runtime.Gosched()
		}
		err := before.grown(countLeft(label))
		if err == nil || i == 2*naps-1 {
			return err
		}
		if i >= naps {
			timer := time.NewTimer(e.patience() / naps)
			<-timer.C
		}
	}
	return nil
}

// left is what may be left behind; nothing where the system does not tell.
type left struct {
	goroutines, descriptors, children int
	files                             map[string]bool // names in the folder for temporary files, where other processes come and go
}

func countLeft(label string) left {
	descriptors := max(len(entries("/proc/self/fd")), len(entries("/dev/fd"))) // Linux and others
	l := left{labelled(label), descriptors, childProcesses(), map[string]bool{}}
	for _, f := range entries(os.TempDir()) {
		l.files[f.Name()] = true
	}
	return l
}

// grown reports what there is more of. Goroutines are known to be the environment's, the others are not.
func (l left) grown(now left) error {
	files := 0
	for name := range now.files {
		if !l.files[name] {
			files++
		}
	}
	switch {
	case now.goroutines > l.goroutines:
		return fmt.Errorf("%d goroutines are left of %d instances", now.goroutines-l.goroutines, cycles)
	case now.descriptors >= l.descriptors+cycles:
		return fmt.Errorf("%d descriptors are left of %d instances", now.descriptors-l.descriptors, cycles)
	case now.children >= l.children+cycles:
		return fmt.Errorf("%d child processes are left of %d instances", now.children-l.children, cycles)
	case files >= cycles:
		return fmt.Errorf("%d temporary files are left of %d instances", files, cycles)
	}
	return nil
}

// labelled counts the goroutines with our label, which those that the environment starts inherit.
func labelled(label string) int {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		return 0
	}
	n := 0
	want := fmt.Sprintf("%q:%q", "envtest", label)
	for record := range strings.SplitSeq(b.String(), "\n\n") {
		if !strings.Contains(record, want) {
			continue
		}
		for line := range strings.Lines(record) {
			if number, _, ok := strings.Cut(line, " @ "); ok {
				k, _ := strconv.Atoi(number)
				n += k
				break
			}
		}
	}
	return n
}

func entries(dir string) []os.DirEntry {
	list, _ := os.ReadDir(dir) // none where there is no such folder
	return list
}

func childProcesses() int {
	n := 0
	names, _ := filepath.Glob("/proc/self/task/*/children") // a pattern that is well formed
	for _, name := range names {
		list, _ := os.ReadFile(name) // a thread may be gone
		n += len(bytes.Fields(list))
	}
	return n
}

// One turn at a time, so that what is shared shows, and then all at once, for the race detector.
func sharesNothing(ctx context.Context, e Environment) error {
	const n = 4
	var want [n]trace
	tasks := e.tasks()
	var of [n]envharness.Task
	for i := range n {
		of[i] = tasks[i%len(tasks)]
		if of[i].Seed == nil {
			of[i].Seed = new(uint64(i + 1))
		}
		var err error
		if want[i], err = e.reference(ctx, of[i], e.short()); err != nil {
			return err
		}
	}
	if err := e.interleaved(ctx, of[:], want[:]); err != nil {
		return err
	}
	var errs [n]error
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = panicked(p)
				}
			}()
			errs[i] = e.with(ctx, func(b *bench) error { return b.replay(ctx, of[i], of[i].Seed, want[i]) })
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%d instances in goroutines: task %q: %w", n, of[i].ID, unblamed(err))
		}
	}
	return nil
}

// unblamed takes the attribution off what goes wrong only while several instances are open.
func unblamed(err error) error {
	if v, ok := errors.AsType[Violation](err); ok {
		return v.Err
	}
	return err
}

// interleaved opens an instance for every trace and steps them in turn.
func (e Environment) interleaved(ctx context.Context, of []envharness.Task, want []trace) error {
	var open func(i int, bs []*bench) error
	open = func(i int, bs []*bench) error {
		if i < len(of) {
			return e.with(ctx, func(b *bench) error { return open(i+1, append(bs, b)) })
		}
		for i, b := range bs {
			first, err := b.reset(ctx, of[i], of[i].Seed)
			if err != nil {
				return err
			}
			if d := b.diff(want[i][0].got, first.got); d != "" {
				return differs{0, d}
			}
		}
		for k := range e.short() {
			for i, b := range bs {
				if k+1 >= len(want[i]) {
					continue
				}
				if err := b.followOne(ctx, k+1, want[i][k+1]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := open(0, nil); err != nil {
		return fmt.Errorf("%d instances in turn: %w", len(of), unblamed(err))
	}
	return nil
}
