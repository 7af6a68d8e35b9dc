// Package filelock opens files that one process at a time may have open.
//
// The system gives a lock up when the process ends, however that happens. The file stays, for to delete it would let two processes lock two
// files of one name. The lock is for processes of one machine, and of several where the file system passes it on; it binds those alone that
// open the file through this package, except on Windows. Plan 9, JS and WASI have no such lock: there files are opened without one.
package filelock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLocked says that the file is open already, in this process or another one.
var ErrLocked = errors.New("locked by another process")

var errNotRegular = errors.New("not a regular file")

// Open opens a file below root to read and write and takes its lock, which ends with the file's Close. The file is made, with permissions
// 0644 before umask, if it is not there. Open does not wait: the error is [ErrLocked] if somebody else holds the lock. Links are not followed,
// and what is no regular file is an error: to open a pipe would wait for its other end. All errors are *fs.PathError with the path that
// root was opened by.
func Open(root *os.Root, name string) (*os.File, error) {
	fail := func(op string, err error) (*os.File, error) {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		return nil, &fs.PathError{Op: op, Path: filepath.Join(root.Name(), filepath.FromSlash(name)), Err: err}
	}
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail("open", err)
	}
	f, err := open(root, name)
	if err != nil {
		return fail("open", err)
	}
	// Something else may have taken the name since.
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return fail("open", err)
	}
	if err := lock(f); err != nil {
		f.Close()
		return fail("lock", err)
	}
	return f, nil
}
