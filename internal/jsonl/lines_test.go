package jsonl

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func collect(r io.Reader, limit int) (lines []string, err error) {
	for line, e := range Lines(r, limit) {
		if e != nil {
			return lines, e
		}
		lines = append(lines, string(line))
	}
	return lines, nil
}

func TestLines(t *testing.T) {
	broken := errors.New("cable cut")
	long := strings.Repeat("x", 200_000)
	tests := []struct {
		name   string
		r      io.Reader
		limit  int
		want   []string
		err    error
		reason string
	}{
		{"empty", strings.NewReader(""), 9, nil, nil, "no line"},
		{"one", strings.NewReader("a"), 9, []string{"a"}, nil, "the last line break may be missing"},
		{"two", strings.NewReader("a\nb\n"), 9, []string{"a", "b"}, nil, "and if it is there no line follows"},
		{"blank", strings.NewReader("\n\na\r\n"), 9, []string{"", "", "a\r"}, nil, "only the line break is taken off"},
		{"limit", strings.NewReader("abc\nabcd\n"), 3, []string{"abc"}, ErrTooLong, "the line break does not count"},
		{"limit at the end", strings.NewReader("abc"), 3, []string{"abc"}, nil, "nor where it is missing"},
		{"long", strings.NewReader("a\n" + long + "\nb"), 200_000, []string{"a", long, "b"}, nil, "longer than the buffer"},
		{"too long", strings.NewReader("a\n" + long + "\nb"), 199_999, []string{"a"}, ErrTooLong, "longer than the buffer"},
		{"endless", io.MultiReader(strings.NewReader("a\n"), zeros{}), 1 << 20, []string{"a"}, ErrTooLong, "memory is bounded"},
		{"broken", io.MultiReader(strings.NewReader("a\nhal"), iotest.ErrReader(broken)), 9, []string{"a"}, broken, "half a line is none"},
	}
	for _, tt := range tests {
		got, err := collect(tt.r, tt.limit)
		if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
			t.Errorf("%s: got %.40q, %v, want %.40q, %v (%s)", tt.name, got, err, tt.want, tt.err, tt.reason)
		}
	}
	for line := range Lines(strings.NewReader("a\nb\n"), 9) {
		if string(line) != "a" {
			t.Errorf("after the loop has ended: %q", line)
		}
		break
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Lines are those of strings.Split, however the reader cuts them.
func TestLinesAgainstSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\r")), 0, 30, -1).Draw(t, "text")
		want := strings.Split(s, "\n")
		if last := len(want) - 1; want[last] == "" {
			want = want[:last]
		}
		for _, r := range []io.Reader{strings.NewReader(s), iotest.OneByteReader(strings.NewReader(s)), iotest.DataErrReader(strings.NewReader(s))} {
			got, err := collect(r, 30)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("got %q, %v, want %q", got, err, want)
			}
		}
	})
}

func TestValues(t *testing.T) {
	boom := errors.New("boom")
	for _, tt := range []struct {
		name, in string
		end      error // of the reader; nil means io.EOF
		want     []string
		err      string
		reason   string
	}{
		{"lines", "a\n\n \t\r\nb", nil, []string{"1 a", "4 b"}, "", "blank lines count, but have no value"},
		{"empty", "", nil, nil, "", "nothing"},
		{"bad", "a\n\nx\nb\n", nil, []string{"1 a"}, "test: line 3: no value", "the sequence ends"},
		{"long", "a\naaaaaaaaaa\nb\n", nil, []string{"1 a"}, "test: line 2: longer than 9 bytes", "10 bytes"},
		{"reader", "a\nb", boom, []string{"1 a"}, "test: line 2: boom", "what was cut short is no line"},
	} {
		if tt.reason == "" {
			t.Fatalf("%s has no reason", tt.name)
		}
		r := io.Reader(strings.NewReader(tt.in))
		if tt.end != nil {
			r = io.MultiReader(r, iotest.ErrReader(tt.end))
		}
		var got []string
		var last error
		for v, err := range Values(r, 9, "test:", func(line []byte, number int) (string, error) {
			if string(line) == "x" {
				return "half", errors.New("no value")
			}
			return fmt.Sprint(number, " ", string(line)), nil
		}) {
			if last != nil || err != nil && v != "" {
				t.Errorf("%s: %q, %v after %v", tt.name, v, err, last)
			}
			if last = err; err == nil {
				got = append(got, v)
			}
		}
		if !slices.Equal(got, tt.want) || (last == nil) != (tt.err == "") || last != nil && last.Error() != tt.err || tt.end != nil && !errors.Is(last, tt.end) {
			t.Errorf("%s: %q, %v, want %q, %q: %s", tt.name, got, last, tt.want, tt.err, tt.reason)
		}
	}
	for range Values(strings.NewReader("a\nb\n"), 9, "", func([]byte, int) (int, error) { return 0, nil }) {
		break // must not be called again
	}
}
