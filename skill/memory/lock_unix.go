//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package memory

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lock takes the lock of a folder for this process. The system gives it up when the process ends, however that happens; the file
// stays, for to delete it would let two processes lock two files of one name. It is for processes of one machine, and of several
// where the file system passes flock on.
func lock(d *disk) (io.Closer, error) {
	f, err := d.openFile(lockName, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, d.fail("lock", lockName, err)
	}
}
