package memory

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lock takes the lock of a folder for this process by opening a file that nobody else may have open. The system closes it when the
// process ends, however that happens.
func lock(d *disk) (io.Closer, error) {
	path := d.shown(lockName)
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, d.fail("lock", lockName, err)
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL|syscall.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	const sharingViolation = syscall.Errno(32)
	if errors.Is(err, sharingViolation) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, d.fail("lock", lockName, err)
	}
	return os.NewFile(uintptr(h), path), nil
}
