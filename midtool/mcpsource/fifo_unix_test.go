//go:build darwin || freebsd || linux || netbsd || openbsd

package mcpsource

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe is not opened: that would wait for its other end.
func TestRecordIntoPipe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	if _, err := Record(file, Options{Servers: map[string]Server{"notebook": {}}}); err == nil || !strings.Contains(err.Error(), "is no file") {
		t.Errorf("got %v", err)
	}
}
