// Package atomicfile replaces whole files so that a reader sees the old bytes or the new ones, never a part of either.
//
// The bytes go to a new file in the folder of the target, which is synced, closed and then renamed over the target. Until the rename
// nothing under the final name has changed, and every failure removes the new file. A process that is killed in between
// leaves at most a file named .NAME.tmp, with a random NAME, behind, which nothing refers to.
//
// The folder is synced as well, so that the rename survives a loss of power where the file system can promise that; its errors are not
// reported, because the new file is in place by then and not every system can sync a folder.
package atomicfile

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the file at path by one that holds data, or creates it. The permissions are perm before umask, also where the
// file exists. A symbolic link at path is replaced, not followed; a device, a pipe or a socket there is an error. The folder
// must exist. On error the old file is untouched. Concurrent calls for one path are safe: one of them wins.
func Write(path string, data []byte, perm os.FileMode) error {
	f, err := Create(path, perm)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Abort()
		return err
	}
	return f.Commit()
}

// A File is a replacement in the making. One goroutine uses it at a time.
type File struct {
	path string
	tmp  *os.File // nil after Commit and Abort
	err  error    // first failure of a Write
}

// Create starts a replacement of the file at path under the rules of [Write]. It appears there with [File.Commit]; defer
// [File.Abort] to leave nothing behind on other ways out.
func Create(path string, perm os.FileMode) (*File, error) {
	// Root could replace /dev/null by a file, for every program.
	const special = fs.ModeDevice | fs.ModeNamedPipe | fs.ModeSocket
	if info, err := os.Lstat(path); err == nil && info.Mode()&special != 0 {
		return nil, fmt.Errorf("atomicfile: create %s: it is no file (%v)", path, info.Mode())
	}
	// The target's own name may be as long as the file system allows, so the temporary name does not contain it.
	name := filepath.Join(filepath.Dir(path), "."+rand.Text()+".tmp")
	tmp, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, fmt.Errorf("atomicfile: create %s: %w", path, err)
	}
	return &File{path: path, tmp: tmp}, nil
}

// Write appends p. After a failure the replacement can only be given up: every later Write and Commit returns the first error.
func (f *File) Write(p []byte) (int, error) {
	if f.tmp == nil {
		return 0, fmt.Errorf("atomicfile: write %s: %w", f.path, fs.ErrClosed)
	}
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.tmp.Write(p)
	if err != nil {
		f.err = fmt.Errorf("atomicfile: write %s: %w", f.path, err)
	}
	return n, f.err
}

// Commit puts the file under its final name. On error the old file is untouched, the new one is gone and the File is used up, as it is
// after success.
func (f *File) Commit() error {
	if f.tmp == nil {
		return fmt.Errorf("atomicfile: commit %s: %w", f.path, fs.ErrClosed)
	}
	if f.err != nil {
		f.Abort()
		return f.err
	}
	if err := f.tmp.Sync(); err != nil {
		f.Abort()
		return fmt.Errorf("atomicfile: sync %s: %w", f.path, err)
	}
	name := f.tmp.Name()
	err := f.tmp.Close() // before the rename: some systems do not rename an open file
	f.tmp = nil
	if err == nil {
		err = os.Rename(name, f.path)
	}
	if err != nil {
		os.Remove(name)
		return fmt.Errorf("atomicfile: commit %s: %w", f.path, err)
	}
	if dir, err := os.Open(filepath.Dir(f.path)); err == nil {
		dir.Sync()
		dir.Close()
	}
	return nil
}

// Abort gives the replacement up and removes its bytes. It does nothing after Commit or Abort.
func (f *File) Abort() {
	if f.tmp == nil {
		return
	}
	f.tmp.Close()
	os.Remove(f.tmp.Name())
	f.tmp = nil
}
