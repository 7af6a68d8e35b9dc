package mcpsource

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// noLeaks fails the test if it leaves goroutines of a connection, of which each program that runs has some, or descriptors.
func noLeaks(t *testing.T) {
	t.Helper()
	r, w, err := os.Pipe() // the first of a process makes the runtime open descriptors that stay
	if err = errors.Join(err, r.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	before := descriptors()
	t.Cleanup(func() {
		deadline := time.Now().Add(5 * time.Second)
		for {
			left := goroutines()
			if left == "" && descriptors() <= before {
				return
			}
			if time.Now().After(deadline) {
				t.Errorf("left behind: %d descriptors, before %d; goroutines:\n%s", descriptors(), before, left)
				return
			}
			runtime.Gosched()
		}
	})
}

func goroutines() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var left []string
	for one := range strings.SplitSeq(string(buf), "\n\n") {
		if strings.Contains(one, "/internal/mcpclient.") || strings.Contains(one, "/internal/child.") {
			left = append(left, one)
		}
	}
	return strings.Join(left, "\n\n")
}

// descriptors counts those that are open; 0 where that cannot be told.
func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
