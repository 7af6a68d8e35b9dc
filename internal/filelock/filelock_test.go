package filelock

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const lockedDir = "THROUGHLINE_TEST_FILELOCK_DIR" // the folder in which this test binary is to hold a lock until it is killed

// locks reports whether this system has locks.
func locks() bool { return !strings.Contains("aix js plan9 solaris wasip1", runtime.GOOS) }

func rootOf(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func isLocked(t *testing.T, root *os.Root, name string) {
	t.Helper()
	f, err := Open(root, name)
	var p *fs.PathError
	if !errors.Is(err, ErrLocked) || !errors.As(err, &p) || p.Path != filepath.Join(root.Name(), name) || f != nil {
		t.Fatalf("%v, want ErrLocked with the path", err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	root := rootOf(t, dir)
	f, err := Open(root, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "kept"); err != nil {
		t.Error(err)
	}
	other, err := Open(root, "b")
	if err != nil {
		t.Fatalf("another file: %v", err)
	}
	defer other.Close()
	if locks() {
		isLocked(t, root, "a")
		isLocked(t, rootOf(t, dir), "a")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the lock ends with the file, which stays as it is
		f, err := Open(root, "a")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(f); err != nil || string(b) != "kept" {
			t.Errorf("read %q, %v", b, err)
		}
		f.Close()
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	root := rootOf(t, dir)
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "folder"), 0o755), os.WriteFile(filepath.Join(dir, "file"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, link string
		is         error
		reason     string
	}{
		{"folder", "", errNotRegular, "it cannot be written"},
		{"none/file", "", fs.ErrNotExist, "folders are not made"},
		{"file/file", "", nil, "a file holds no files"},
		{"../file", "", nil, "outside"},
		{"link", "file", errNotRegular, "links are not followed"},
		{"dangling", "nothing", errNotRegular, "nor used to make files"},
	} {
		if tt.reason == "" {
			t.Fatalf("%s has no reason", tt.name)
		}
		if tt.link != "" {
			if err := os.Symlink(tt.link, filepath.Join(dir, tt.name)); err != nil {
				t.Logf("%s: no links here: %v", tt.name, err)
				continue
			}
		}
		f, err := Open(root, tt.name)
		var p *fs.PathError
		if f != nil || !errors.As(err, &p) || p.Path != filepath.Join(dir, tt.name) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v (%s)", tt.name, err, tt.reason)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "nothing")); err == nil {
		t.Error("a file was made behind a link")
	}
}

// TestHold is the other process of TestOtherProcess.
func TestHold(t *testing.T) {
	dir := os.Getenv(lockedDir)
	if dir == "" {
		t.Skip("runs in a process of its own")
	}
	if _, err := Open(rootOf(t, dir), "a"); err != nil {
		t.Fatal(err)
	}
	io.WriteString(os.Stdout, "\nlocked\n")
	io.Copy(io.Discard, os.Stdin) // until it is killed
}

// A lock of another process ends with it.
func TestOtherProcess(t *testing.T) {
	if !locks() {
		t.Skip("no locks here")
	}
	dir := t.TempDir()
	root := rootOf(t, dir)
	cmd := exec.Command(os.Args[0], "-test.run=^TestHold$")
	cmd.Env = append(os.Environ(), lockedDir+"="+dir)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for in.Scan() && in.Text() != "locked" {
	}
	isLocked(t, root, "a")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the other process ended by itself")
	}
	f, err := Open(root, "a")
	if err != nil {
		t.Fatalf("after it was killed: %v", err)
	}
	f.Close()
}
