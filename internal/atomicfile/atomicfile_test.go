package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names lists a folder, to show that no temporary file stays.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func put(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWrite(t *testing.T) {
	for _, tt := range []struct {
		name   string
		target string
		old    string
		data   string
		reason string
	}{
		{"new", "a.txt", "", "fresh\n", "no file stood there"},
		{"longer", "a.txt", "old", "much longer than before", "the target is replaced, not overwritten in place"},
		{"shorter", "a.txt", "much longer than before", "x", "no tail of the old bytes may stay"},
		{"empty", "a.txt", "old", "", "an empty file is a file"},
		{"long name", strings.Repeat("n", 255), "old", "new", "255 bytes is the usual limit of a name: the temporary name must not be longer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, tt.target)
			if tt.old != "" {
				if err := os.WriteFile(path, []byte(tt.old), 0o600); err != nil {
					t.Skipf("the file system does not take this name: %v", err)
				}
			}
			if err := Write(path, []byte(tt.data), 0o644); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.data, content(t, path)); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{tt.target}, names(t, dir)); diff != "" {
				t.Errorf("folder (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriteFailureLeavesNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		make   func(t *testing.T, dir string) (path string)
		want   []string // the folder afterwards
		is     error    // nil where the system decides which error it is
		reason string
	}{
		{
			name:   "no folder",
			make:   func(_ *testing.T, dir string) string { return filepath.Join(dir, "none", "a.txt") },
			is:     fs.ErrNotExist,
			reason: "folders are never made",
		},
		{
			name: "target is a folder",
			make: func(t *testing.T, dir string) string {
				if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
					t.Fatal(err)
				}
				return filepath.Join(dir, "sub")
			},
			want:   []string{"sub"},
			reason: "the rename is the step that fails",
		},
		{
			name: "target is a socket",
			make: func(t *testing.T, dir string) string {
				l, err := net.Listen("unix", filepath.Join(dir, "s"))
				if err != nil {
					t.Skipf("no sockets in folders here: %v", err)
				}
				t.Cleanup(func() { l.Close() })
				return filepath.Join(dir, "s")
			},
			want:   []string{"s"},
			reason: "what is no file, such as /dev/null, must not become one",
		},
		{
			name: "folder is a file",
			make: func(t *testing.T, dir string) string {
				put(t, filepath.Join(dir, "f"), "old")
				return filepath.Join(dir, "f", "a.txt")
			},
			want:   []string{"f"},
			reason: "a file holds no files",
		},
		{
			name: "read-only folder",
			make: func(t *testing.T, dir string) string {
				if runtime.GOOS == "windows" || os.Geteuid() == 0 {
					t.Skip("this user may write to read-only folders")
				}
				put(t, filepath.Join(dir, "a.txt"), "old")
				if err := os.Chmod(dir, 0o555); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.Chmod(dir, 0o755) })
				return filepath.Join(dir, "a.txt")
			},
			want:   []string{"a.txt"},
			is:     fs.ErrPermission,
			reason: "an existing file could be overwritten in place, which would not be atomic",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			dir := t.TempDir()
			path := tt.make(t, dir)
			err := Write(path, []byte("new"), 0o644)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), "atomicfile: ") || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q does not name the package and the path", err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v, want one that is %v", err, tt.is)
			}
			if diff := cmp.Diff(tt.want, names(t, dir)); diff != "" {
				t.Errorf("folder (-want +got):\n%s", diff)
			}
		})
	}
}

// Whichever step fails, the old file stays as it was and the temporary one goes. The descriptor is closed behind the File's back, so that
// the next system call on it fails as it would on a full or broken disk.
func TestFailureInjection(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fail   func(t *testing.T, f *File) error
		reason string
	}{
		{
			name: "write",
			fail: func(t *testing.T, f *File) error {
				f.tmp.Close()
				_, first := f.Write([]byte("second half"))
				if first == nil {
					t.Fatal("no error from Write")
				}
				if _, again := f.Write([]byte("third")); again != first {
					t.Errorf("later Write returned %v, want the first error", again)
				}
				err := f.Commit()
				if err != first {
					t.Errorf("Commit returned %v, want the first error", err)
				}
				return err
			},
			reason: "a caller that ignores the error of Write must not commit half a file",
		},
		{
			name: "sync",
			fail: func(t *testing.T, f *File) error {
				f.tmp.Close()
				err := f.Commit()
				if err == nil || !strings.Contains(err.Error(), "atomicfile: sync "+f.path) {
					t.Errorf("error %v, want one of the sync", err)
				}
				return err
			},
			reason: "bytes that may not be on disk are not renamed",
		},
		{
			name: "rename",
			fail: func(_ *testing.T, f *File) error {
				f.path = filepath.Join(f.path, "below a file")
				return f.Commit()
			},
			reason: "the last step that can fail",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "a.txt")
			put(t, path, "old")
			f, err := Create(path, 0o644)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte("first half")); err != nil {
				t.Fatal(err)
			}
			if err := tt.fail(t, f); err == nil {
				t.Error("no error")
			}
			f.Abort()
			if got := content(t, path); got != "old" {
				t.Errorf("content %q, want the old file", got)
			}
			if diff := cmp.Diff([]string{"a.txt"}, names(t, dir)); diff != "" {
				t.Errorf("folder (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFileLife(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	put(t, path, "old")

	f, err := Create(path, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "one ")
	fmt.Fprint(f, "two")
	if got := content(t, path); got != "old" {
		t.Errorf("before Commit: %q", got)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if got := content(t, path); got != "one two" {
		t.Errorf("after Commit and Abort: %q", got)
	}
	if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second Commit: %v", err)
	}
	if _, err := f.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write after Commit: %v", err)
	}

	f, err = Create(path, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "given up")
	f.Abort()
	f.Abort()
	if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Commit after Abort: %v", err)
	}
	if got := content(t, path); got != "one two" {
		t.Errorf("after Abort: %q", got)
	}
	if diff := cmp.Diff([]string{"a.txt"}, names(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permission bits mean little here")
	}
	path := filepath.Join(t.TempDir(), "a.txt")
	for _, perm := range []os.FileMode{0o600, 0o400, 0o600} { // no bit that a usual umask clears
		if err := Write(path, nil, perm); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != perm {
			t.Errorf("permissions %v, want %v", got, perm)
		}
	}
}

// A reader sees one whole version however many writers race.
func TestConcurrentWrites(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a rename fails there while the target is open for reading")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	version := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 1<<14) }
	put(t, path, string(version(0)))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 5 {
				if err := Write(path, version(i), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 || !bytes.Equal(b, version(int(b[0]-'a'))) {
			t.Fatalf("a torn read of %d bytes", len(b))
		}
	}
	wg.Wait()
	if diff := cmp.Diff([]string{"a.txt"}, names(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}
