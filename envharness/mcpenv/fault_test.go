package mcpenv_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/mcpenv"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// breaks are the ways in which a server breaks off without being asked to hang.
var breaks = []mcptest.Kind{mcptest.Exit, mcptest.Close, mcptest.Malformed, mcptest.Oversized}

// The world of restock makes three calls at the start, reads the state, makes two calls for the solution, and reads the state again.
// A server that breaks off at any of them spoils the episode: it is neither passed nor failed.
func TestServerBreaksOff(t *testing.T) {
	check := leaks(t)
	for _, kind := range breaks {
		for _, at := range []mcptest.Fault{
			{Method: "initialize"}, {Method: "tools/list"}, {Call: 1}, {Call: 3}, {Call: 4}, {Call: 5}, {Call: 6}, {Call: 7},
		} {
			at.Kind, at.Size = kind, tooLong
			tr := play(t, world(t, restock(stockroom(mcptest.Options{Fault: at}))), nil, solution()...)
			if tr.Verdict.Status != envharness.Invalid || tr.End != envharness.EndEnvError || !strings.Contains(tr.Cause, "infrastructure failure") {
				t.Errorf("%+v: %s, %s: %s", at, tr.Verdict.Status, tr.End, tr.Cause)
			}
		}
		late := mcptest.Fault{Kind: kind, Call: 8}
		if tr := play(t, world(t, restock(stockroom(mcptest.Options{Fault: late}))), nil, solution()...); tr.Verdict.Status != envharness.Pass {
			t.Errorf("%+v: %s: %s, want what there is without a fault", late, tr.Verdict.Status, tr.Cause)
		}
	}
	check()
}

// Without a bound of the caller's there is one all the same.
func TestMessageBound(t *testing.T) {
	server := stockroom(mcptest.Options{Fault: mcptest.Fault{Kind: mcptest.Oversized, Call: 5}})
	c := restock(func(dir string) mcpenv.Server {
		s := server(dir)
		s.MaxMessage = 0
		return s
	})
	if tr := play(t, world(t, c), nil, solution()...); tr.Verdict.Status != envharness.Invalid {
		t.Errorf("%s: %s", tr.Verdict.Status, tr.Cause)
	}
}

// A flood of notifications is dropped, and the episode goes on.
func TestServerFloods(t *testing.T) {
	o := mcptest.Options{Fault: mcptest.Fault{Kind: mcptest.Flood, Call: 5, Size: 5000}}
	if tr := play(t, world(t, restock(stockroom(o))), nil, solution()...); tr.Verdict.Status != envharness.Pass {
		t.Errorf("%s: %s", tr.Verdict.Status, tr.Cause)
	}
}

// open makes an environment and resets it.
func open(t testing.TB, c mcpenv.Config) envharness.Environment {
	t.Helper()
	env, err := world(t, c).New(t.Context())
	if err == nil {
		_, err = env.Reset(t.Context(), envharness.ResetOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Close() })
	return env
}

// A server that hangs in a call is given up at the deadline of the context; nothing can be told of the episode any more.
func TestServerHangs(t *testing.T) {
	check := leaks(t)
	env := open(t, restock(stockroom(mcptest.Options{Fault: mcptest.Fault{Kind: mcptest.Hang, Call: 4}})))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := env.Step(ctx, act("list_items", `{}`))
	if !errors.Is(err, envharness.ErrInfra) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := env.Step(t.Context(), act("list_items", `{}`)); !errors.Is(err, envharness.ErrInfra) {
		t.Errorf("the next step: %v", err)
	}
	stater, _ := envharness.As[envharness.Stater](env)
	if _, err := stater.State(t.Context()); !errors.Is(err, envharness.ErrInfra) {
		t.Errorf("the state: %v", err)
	}
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
		t.Errorf("the next reset: %v", err)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	check()
}

// The same by the harness's own deadline.
func TestServerHangsInRollouts(t *testing.T) {
	check := leaks(t)
	w := world(t, restock(stockroom(mcptest.Options{Fault: mcptest.Fault{Kind: mcptest.Hang, Call: 5}})))
	traces, err := envharness.Rollouts(t.Context(), w, nil, script(solution()...), []envharness.Task{{}},
		&envharness.RolloutOptions{Reruns: new(0), StepTimeout: 150 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if tr := traces[0]; tr.Verdict.Status != envharness.Invalid || tr.End != envharness.EndTimeout {
		t.Errorf("%s, %s: %s", tr.Verdict.Status, tr.End, tr.Cause)
	}
	check()
}

// A server that stops reading in the middle of an episode is given up as well, while a call is only half sent.
func TestServerStopsReading(t *testing.T) {
	check := leaks(t)
	// What comes before the first step are seven messages.
	const script = `{ i=0; while [ $i -lt 7 ] && read -r l; do printf '%s\n' "$l"; i=$((i+1)); done; exec sleep 60; } | "$0"`
	var dir string
	env := open(t, restock(shell(t, script, mcptest.Options{}, &dir)))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	long := act("get_item", `{"name":"`+strings.Repeat("x", 1<<20)+`"}`) // more than a pipe holds
	if _, err := env.Step(ctx, long); !errors.Is(err, envharness.ErrInfra) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := env.Step(t.Context(), act("list_items", `{}`)); !errors.Is(err, envharness.ErrInfra) {
		t.Errorf("the next step: %v", err)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	check()
}

// Close ends a Reset and a Step that hang.
func TestCloseEndsCalls(t *testing.T) {
	check := leaks(t)
	t.Run("reset", func(t *testing.T) {
		for _, f := range []mcptest.Fault{
			{Kind: mcptest.Hang, Method: "initialize"}, {Kind: mcptest.Hang, Method: "tools/list"}, {Kind: mcptest.Hang, Call: 2},
		} {
			begun := make(chan string, 1)
			server := stockroom(mcptest.Options{Fault: f})
			env := must(world(t, restock(func(dir string) mcpenv.Server { begun <- dir; return server(dir) })).New(t.Context()))
			done := make(chan error)
			go func() {
				_, err := env.Reset(t.Context(), envharness.ResetOptions{})
				done <- err
			}()
			dir := <-begun
			if err := env.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%+v: the folder is there after Close: %v", f, err)
			}
			if err := <-done; !errors.Is(err, envharness.ErrClosed) {
				t.Errorf("%+v: %v", f, err)
			}
		}
	})
	t.Run("step", func(t *testing.T) {
		env := open(t, restock(stockroom(mcptest.Options{Fault: mcptest.Fault{Kind: mcptest.Hang, Call: 4}})))
		done := make(chan error)
		go func() {
			_, err := env.Step(t.Context(), act("list_items", `{}`))
			done <- err
		}()
		if err := env.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, envharness.ErrClosed) {
			t.Error(err)
		}
	})
	check()
}

// shell wraps a server into a script that leaves a number of a process in the file pid of the episode's folder; "$0" is the server.
func shell(t *testing.T, script string, o mcptest.Options, dir *string) func(string) mcpenv.Server {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	server := stockroom(o)
	return func(d string) mcpenv.Server {
		*dir = d
		s := server(d)
		s.Command = append([]string{"sh", "-c", script}, s.Command...)
		s.Dir = d
		return s
	}
}

func readPid(t *testing.T, dir string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	return must(strconv.Atoi(strings.TrimSpace(string(raw))))
}

// When a Close returns, all is gone, also where another Close does the work.
func TestCloseWaitsForClose(t *testing.T) {
	check := leaks(t)
	var dir string
	env := open(t, restock(shell(t, `"$0"; exec sleep 60`, mcptest.Options{}, &dir))) // it does not end by itself
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := env.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder is there after Close: %v", err)
			}
		})
	}
	wg.Wait()
	check()
}

// A server that is killed in the middle of a step is an infrastructure failure.
func TestServerKilled(t *testing.T) {
	check := leaks(t)
	var dir string
	env := open(t, restock(shell(t, `echo $$ >pid; exec "$0"`, mcptest.Options{Fault: mcptest.Fault{Kind: mcptest.Hang, Call: 4}}, &dir)))
	server := must(os.FindProcess(readPid(t, dir)))
	done := make(chan error)
	go func() {
		_, err := env.Step(t.Context(), act("list_items", `{}`))
		done <- err
	}()
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, envharness.ErrInfra) {
		t.Error(err)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	check()
}

// A script between adapter and server does not keep either alive.
func TestGrandchildEnds(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc to see processes in")
	}
	check := leaks(t)
	const script = `exec 3<&0; "$0" <&3 & echo $! >pid; wait`
	for _, kind := range []mcptest.Kind{"", mcptest.Hang} {
		var dir string
		env := open(t, restock(shell(t, script, mcptest.Options{Fault: mcptest.Fault{Kind: kind, Call: 4}}, &dir)))
		pid := readPid(t, dir)
		if !alive(pid) {
			t.Fatal("the server does not run")
		}
		ctx, cancel := context.WithCancel(t.Context())
		if kind == mcptest.Hang {
			ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
		}
		_, err := env.Step(ctx, act("list_items", `{}`))
		cancel()
		if (err != nil) != (kind == mcptest.Hang) {
			t.Errorf("%q: %v", kind, err)
		}
		if err := env.Close(); err != nil {
			t.Errorf("%q: %v", kind, err)
		}
		eventually(t, func() error {
			if alive(pid) {
				return fmt.Errorf("%q: the server runs on", kind)
			}
			return nil
		})
	}
	check()
}

// Many episodes, good and bad ones, eight at a time, each in a world of its own.
func TestManyEpisodes(t *testing.T) {
	check := leaks(t)
	episodes := 120
	if testing.Short() {
		episodes = 40
	}
	var faults []mcptest.Fault
	for _, k := range append(breaks, "", "", "", "") {
		faults = append(faults, mcptest.Fault{Kind: k, Call: 5, Size: 5 << 20})
	}
	traces := make([]envharness.Trace, 0, episodes)
	for _, f := range faults {
		tasks := make([]envharness.Task, episodes/len(faults))
		some, err := envharness.Rollouts(t.Context(), world(t, restock(stockroom(mcptest.Options{Fault: f}))), nil, script(solution()...), tasks,
			&envharness.RolloutOptions{Reruns: new(0), Parallel: 8})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range some {
			want := envharness.Pass
			if f.Kind != "" {
				want = envharness.Invalid
			}
			if tr.Verdict.Status != want {
				t.Errorf("%+v: %s: %s", f, tr.Verdict.Status, tr.Cause)
			}
		}
		traces = append(traces, some...)
	}
	if rate, err := envharness.SuccessRate(traces, episodes/2); err != nil || rate != 1 {
		t.Errorf("rate %v, %v: what broke off counts neither way", rate, err)
	}
	check()
}
