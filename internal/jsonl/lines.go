// Package jsonl reads lines of bounded length.
package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// ErrTooLong says that a line is longer than the limit.
var ErrTooLong = errors.New("line too long")

// Lines reads r line by line, without the line break "\n"; a last line that is empty is none. A line is valid until the next
// one. The error is ErrTooLong for a line of more than limit bytes, or that of r; it comes instead of the line that it cut
// short, and the sequence ends there. The sequence can be ranged over once and reads ahead.
//
// Time is linear in the length of r, however r cuts it: a bufio.Scanner searches all of a long line again after each read.
func Lines(r io.Reader, limit int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var line []byte
		for {
			line = line[:0]
			var err error
			for {
				var part []byte
				part, err = in.ReadSlice('\n')
				line = append(line, part...)
				if len(bytes.TrimSuffix(line, []byte("\n"))) > limit {
					err = ErrTooLong
				}
				if !errors.Is(err, bufio.ErrBufferFull) {
					break
				}
			}
			switch {
			case err == nil:
				if !yield(line[:len(line)-1], nil) {
					return
				}
			case errors.Is(err, io.EOF):
				if len(line) > 0 {
					yield(line, nil)
				}
				return
			default:
				yield(nil, err)
				return
			}
		}
	}
}
