package child

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// open counts the descriptors of this process, 0 where the system does not tell.
func open(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// children counts the processes that this one started and did not reap, 0 where the system does not tell.
func children() int {
	n := 0
	names, _ := filepath.Glob("/proc/self/task/*/children")
	for _, name := range names {
		list, _ := os.ReadFile(name)
		n += len(strings.Fields(string(list)))
	}
	return n
}

// running counts goroutines of this package that are no test.
func running() int {
	b := make([]byte, 1<<20)
	b = b[:runtime.Stack(b, true)]
	n := 0
	for g := range strings.SplitSeq(string(b), "\n\n") {
		if strings.Contains(g, "internal/child.(*Process)") || strings.Contains(g, "internal/child.Start") {
			n++
		}
	}
	return n
}

// eventually waits until there is no more of something than before; a goroutine that has done its work may still be ending.
func eventually(t testing.TB, what string, before int, count func() int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for n := count(); n > before; n = count() {
		if time.Now().After(deadline) {
			t.Fatalf("%d %s, and %d before", n, what, before)
		}
		runtime.Gosched()
	}
}

func TestManyChildrenLeaveNothing(t *testing.T) {
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip("no program cat")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close files that were forgotten
	descriptors, processes, goroutines := open(t), children(), running()
	for i := range 250 {
		p, err := Start(Command{Args: []string{cat}, Stderr: failing{}})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if _, err := p.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if i%3 == 0 {
			p.Kill()
		}
		p.Close()
	}
	eventually(t, "descriptors", descriptors, func() int { return open(t) })
	eventually(t, "children", processes, children)
	eventually(t, "goroutines", goroutines, running)
}
