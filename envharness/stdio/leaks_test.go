package stdio

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// A stock is what must not grow; nothing where the system does not tell.
type stock struct{ goroutines, descriptors, children int }

func take() stock {
	var s stock
	list, _ := os.ReadDir("/proc/self/fd")
	s.descriptors = len(list)
	names, _ := filepath.Glob("/proc/self/task/*/children")
	for _, name := range names {
		list, _ := os.ReadFile(name)
		s.children += len(bytes.Fields(list))
	}
	b := make([]byte, 1<<20)
	for g := range strings.SplitSeq(string(b[:runtime.Stack(b, true)]), "\n\n") {
		if strings.Contains(g, "internal/child.(*Process)") || strings.Contains(g, "envharness/stdio.(*conn)") {
			s.goroutines++
		}
	}
	return s
}

// settle waits until there is no more than before: a goroutine that has done its work may still be ending.
func (s stock) settle(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		now := take()
		if now.goroutines <= s.goroutines && now.descriptors <= s.descriptors && now.children <= s.children {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left are %+v, and before there were %+v", now, s)
		}
		runtime.Gosched()
	}
}

// One program after the other, ended in every way, leaves nothing.
func TestManyProgramsLeaveNothing(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not installed")
	}
	const world = `read l; echo '{"id":1,"ok":{"protocol":1,"capabilities":{},"tools":[]}}'
read l; echo '{"id":2,"ok":{"obs":{"text":"a door"}}}'
read l; `
	ends := []string{
		`echo '{"id":3,"ok":{"obs":{},"reward":0,"terminated":true,"truncated":false}}'; read l`,
		`exit 3`,
		`kill -9 $$`,
		`sleep 1000 & exit 0`, // which holds the pipes
		`exec 1>&-; sleep 1000`,
		`echo garbage; sleep 1000`,
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close files that were forgotten
	before := take()
	for i := range 240 {
		end := i % len(ends)
		env, err := Open(t.Context(), Command{Args: []string{sh, "-c", world + ends[end]}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := env.Step(t.Context(), envharness.Action{Name: "go"}); (err == nil) != (end == 0) {
			t.Fatalf("%s: %v", ends[end], err)
		}
		if err := env.Close(); err != nil {
			t.Fatal(err)
		}
	}
	before.settle(t)
}

// So do programs that never become environments.
func TestFailedOpenLeavesNothing(t *testing.T) {
	c := program(t, "hello:silent")
	before := take()
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := Open(ctx, c); err == nil {
			t.Fatal("opened")
		}
		cancel()
	}
	for _, mode := range []string{"hello:exit", "hello:garbage", `hello:{"id":%,"error":{"code":"ErrInfra","message":""}}`} {
		if _, err := Open(t.Context(), program(t, mode)); err == nil {
			t.Fatal("opened")
		}
	}
	before.settle(t)
}
