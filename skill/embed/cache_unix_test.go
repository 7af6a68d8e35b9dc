//go:build unix

package embed

import (
	"os"
	"syscall"
	"testing"
)

// A pipe where a file should be is replaced; reading it would wait for ever.
func TestCachePipe(t *testing.T) {
	m := &model{id: "m", dim: 3}
	dir := t.TempDir()
	c := newCache(t, m, dir, nil)
	check(t, c, m, "a")
	file := entries(t, dir)[0]
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Skip(err)
	}
	c = newCache(t, m, dir, nil)
	check(t, c, m, "a")
	if got := c.Stats(); got.Corrupt != 1 {
		t.Errorf("%+v, want the pipe counted as damage", got)
	}
}
