// Package jsonl reads lines of bounded length, and the values on them.
package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
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

// Values reads a value from each line that is not blank by decode, which gets the line as [Lines] yields it and its number, from 1. Any
// error, that of a line of more than limit bytes too, comes with place and the number before it, "place line 7: ...", and ends the
// sequence, which can be ranged over once and reads ahead.
func Values[T any](r io.Reader, limit int, place string, decode func(line []byte, number int) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		number := 0
		for line, err := range Lines(r, limit) {
			number++
			var v T
			switch {
			case errors.Is(err, ErrTooLong):
				err = fmt.Errorf("longer than %d bytes", limit)
			case err == nil && len(bytes.TrimSpace(line)) == 0:
				continue
			case err == nil:
				v, err = decode(line, number)
			}
			if err != nil {
				var none T
				yield(none, fmt.Errorf("%s line %d: %w", place, number, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}
