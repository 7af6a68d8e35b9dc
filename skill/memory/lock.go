package memory

import (
	"errors"
	"io"

	"github.com/throughline-go/throughline/internal/filelock"
)

// lock takes the lock of a folder for this process, which holds it until the closer is closed or the process ends. On a system without locks
// that end with their process it takes none; what keeps two writers from losing each other's work there is that every write compares
// the file with what was read.
func lock(d *disk) (io.Closer, error) {
	f, err := filelock.Open(d.root, lockName)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}
