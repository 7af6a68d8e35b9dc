package mcpenv_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// leaks makes a temporary folder of the test the one of the process, and returns a check that there is nothing in it, and no goroutine,
// process or descriptor more than now. What is ending is waited for.
func leaks(t *testing.T) func() {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp)   // of Windows
	r, w, err := os.Pipe() // the first one of a process makes the runtime open descriptors that stay
	if err = errors.Join(err, r.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	before := descriptors()
	return func() {
		t.Helper()
		eventually(t, func() error {
			var found []error
			if left := must(os.ReadDir(tmp)); len(left) > 0 {
				found = append(found, fmt.Errorf("%d files in the temporary folder, such as %s", len(left), left[0].Name()))
			}
			if g := goroutines(); g != "" {
				found = append(found, fmt.Errorf("goroutine: %s", g))
			}
			if c := children(); len(c) > 0 {
				found = append(found, fmt.Errorf("child processes %v", c))
			}
			if after := descriptors(); after > before {
				found = append(found, fmt.Errorf("%d descriptors, %d before", after, before))
			}
			return errors.Join(found...)
		})
	}
}

// eventually waits until there is no error any more.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	end := time.Now().Add(10 * time.Second)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
}

// goroutines returns the stack of a goroutine in the packages under test, other than those of tests.
func goroutines() string {
	buf := make([]byte, 1<<20)
	for stack := range bytes.SplitSeq(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
		for _, p := range []string{"/envharness/mcpenv.", "/internal/mcpclient.", "/internal/child."} {
			if bytes.Contains(stack, []byte(p)) && !bytes.Contains(stack, []byte("mcpenv_test.")) {
				return string(stack)
			}
		}
	}
	return ""
}

// descriptors counts those that are open, where that can be told; else 0.
func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// children lists the processes that this one has started and that have not been waited for, where that can be told.
func children() []int {
	var all []int
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(raw), ") ") // after the name, which may hold anything
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			all = append(all, must(strconv.Atoi(filepath.Base(filepath.Dir(f)))))
		}
	}
	slices.Sort(all)
	return all
}

// alive reports whether a process runs, where that can be told; one that nobody has waited for does not.
func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return !strings.HasPrefix(rest, "Z")
}
