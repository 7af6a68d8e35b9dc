//go:build darwin || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe is not opened: that would wait for its other end.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "a"), 0o644); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	if _, err := Open(rootOf(t, dir), "a"); !errors.Is(err, errNotRegular) {
		t.Errorf("got %v", err)
	}
}
