//go:build unix

package document

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// A pipe, which nobody writes to, is not opened, even under the name of a license.
func TestTreePipe(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"pipe.md", "LICENSE"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Skipf("no pipes here: %v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "x.md"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	tree := Tree{Name: "t", Dir: dir}
	got, _ := told(t, tree)
	if want := []string{"! t/LICENSE not_regular", "! t/pipe.md not_regular", "t/x.md md"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := tree.Digest(context.Background()); err != nil {
		t.Error(err)
	}
}
