package stdio

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/throughline-go/throughline/envharness"
)

// A thousand programs at once each play an episode of their own, however the others end, and leave nothing.
func TestThousandProgramsAtOnce(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not installed")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close files that were forgotten
	n := 1000
	if runtime.GOOS != "linux" { // others allow a user fewer
		n = 100
	}
	const world = `read l; echo '{"id":1,"ok":{"protocol":1,"capabilities":{},"tools":[]}}'
read l; echo '{"id":2,"ok":{"obs":{"text":"door '$0'"}}}'
read l; `
	ends := []string{
		`echo '{"id":3,"ok":{"obs":{"text":"room '$0'"},"reward":1,"terminated":true,"truncated":false}}'; read l`,
		`exit 3`,
		`kill -9 $$`,
		`exec 1>&-; read l`,
		`echo garbage; read l`,
	}
	before := take()
	envs := make([]envharness.Environment, n)
	each(t, n, func(i int) (err error) {
		envs[i], err = Open(t.Context(), Command{Args: []string{sh, "-c", world + ends[i%len(ends)], fmt.Sprint(i)}})
		if err != nil {
			return err
		}
		o, err := envs[i].Reset(t.Context(), envharness.ResetOptions{})
		if want := fmt.Sprint("door ", i); err != nil || o.Text != want {
			return fmt.Errorf("shown %q %v, want %q", o.Text, err, want)
		}
		return nil
	})
	if now := take(); now.children > 0 && now.children < before.children+n {
		t.Errorf("%d programs at once", now.children-before.children)
	}
	each(t, n, func(i int) error {
		tr, err := envs[i].Step(t.Context(), envharness.Action{Name: "go"})
		if i%len(ends) > 0 {
			if err == nil {
				return fmt.Errorf("program %d ended well: %+v", i, tr)
			}
		} else if want := fmt.Sprint("room ", i); err != nil || tr.Observation.Text != want {
			return fmt.Errorf("shown %q %v, want %q", tr.Observation.Text, err, want)
		}
		return envs[i].Close()
	})
	before.settle(t)
}

// each calls f with 0 to n-1, on as many goroutines.
func each(t *testing.T, n int, f func(i int) error) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
}

// So do a thousand environments that are served at once, each to a peer that takes its answers byte by byte.
func TestThousandServedAtOnce(t *testing.T) {
	each(t, 1000, func(i int) error {
		in, ask := io.Pipe()
		answer, out := io.Pipe()
		env := new(fake)
		served := make(chan error, 1)
		go func() { served <- Serve(t.Context(), env, in, out); out.Close() }()
		lines := bufio.NewScanner(iotest.OneByteReader(answer))
		for id, call := range []string{
			`"hello","protocol":1`, fmt.Sprintf(`"reset","seed":%d`, i), fmt.Sprintf(`"step","action":{"name":"go%d"}`, i),
		} {
			fmt.Fprintf(ask, `{"id":%d,"op":%s}`+"\n", id, call)
			if !lines.Scan() || !strings.HasPrefix(lines.Text(), fmt.Sprintf(`{"id":%d,"ok":`, id)) {
				return fmt.Errorf("answered %s", lines.Text())
			}
		}
		if want := fmt.Sprintf(`"text":"go%d"`, i); !strings.Contains(lines.Text(), want) {
			return fmt.Errorf("shown %s, want %s", lines.Text(), want)
		}
		ask.Close()
		if err := <-served; err != nil || env.closed != 1 {
			return fmt.Errorf("%v, closed %d times", err, env.closed)
		}
		return nil
	})
}
