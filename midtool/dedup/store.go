package dedup

import (
	"fmt"
	"os"
)

// A store is a sequence of bytes that grows at its end and can be read anywhere: in memory up to a limit, beyond it in a
// temporary file. Reads may run at the same time as other reads.
type store struct {
	dir   string
	limit int // bytes in memory

	file    *os.File
	removed bool   // its name is
	flushed int64  // bytes in file
	tail    []byte // behind those
}

// append returns where p begins.
func (s *store) append(p []byte) (int64, error) {
	if len(s.tail)+len(p) > s.limit {
		if err := s.flush(s.tail); err != nil {
			return 0, err
		}
		s.tail = s.tail[:0]
		if len(p) > s.limit {
			at := s.flushed
			return at, s.flush(p)
		}
	}
	at := s.flushed + int64(len(s.tail))
	s.tail = append(s.tail, p...)
	return at, nil
}

func (s *store) flush(p []byte) error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "dedup-*.tmp")
		if err != nil {
			return fmt.Errorf("dedup: temporary file: %w", err)
		}
		s.file = f
		// Where an open file can be removed, nothing is left of it even if the process is killed.
		s.removed = os.Remove(f.Name()) == nil
	}
	n, err := s.file.Write(p)
	s.flushed += int64(n)
	if err != nil {
		return fmt.Errorf("dedup: temporary file: %w", err)
	}
	return nil
}

// read fills p with the bytes at an offset, which were appended together or are parts of such.
func (s *store) read(p []byte, at int64) error {
	if at >= s.flushed {
		copy(p, s.tail[at-s.flushed:])
		return nil
	}
	if _, err := s.file.ReadAt(p, at); err != nil {
		return fmt.Errorf("dedup: temporary file: %w", err)
	}
	return nil
}

// close removes the file.
func (s *store) close() {
	s.tail = nil
	if s.file != nil {
		s.file.Close()
		if !s.removed {
			os.Remove(s.file.Name())
		}
		s.file = nil
	}
}
