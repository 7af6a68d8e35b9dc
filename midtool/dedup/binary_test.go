package dedup

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var anySketch = rapid.Custom(func(t *rapid.T) Sketch {
	s := Sketch{
		ID: rapid.String().Draw(t, "id"), Source: rapid.String().Draw(t, "source"), Length: rapid.IntMin(0).Draw(t, "length"),
		Zero: rapid.Bool().Draw(t, "zero"), Bands: rapid.SliceOfN(rapid.Uint64(), 0, 20).Draw(t, "bands"),
	}
	if len(s.Bands) == 0 {
		s.Bands = nil
	}
	copy(s.Exact[:], rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "exact"))
	return s
})

// What is read is what was written, alone and in a row, in whatever pieces the bytes come; a piece of it is an error.
func TestBinary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sketches := rapid.SliceOfN(anySketch, 0, 5).Draw(t, "sketches")
		var all []byte
		var ends []int
		for i := range sketches {
			b, err := sketches[i].AppendBinary(all)
			if err != nil {
				t.Fatal(err)
			}
			var one Sketch
			if err := one.UnmarshalBinary(b[len(all):]); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sketches[i], one); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			all = b
			ends = append(ends, len(all))
		}
		cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
		var got []Sketch
		var last error
		for s, err := range ReadSketches(iotest.OneByteReader(bytes.NewReader(all[:cut]))) {
			if err != nil {
				last = err
				break
			}
			got = append(got, s)
		}
		whole := 0
		for whole < len(ends) && ends[whole] <= cut {
			whole++
		}
		if len(got) != whole {
			t.Fatalf("%d sketches, want %d", len(got), whole)
		}
		for i := range got {
			if diff := cmp.Diff(sketches[i], got[i]); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
		atEnd := cut == 0 || whole > 0 && ends[whole-1] == cut
		if atEnd != (last == nil) || last != nil && !errors.Is(last, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %v", cut, last)
		}
	})
}

func TestBinaryErrors(t *testing.T) {
	long := Sketch{ID: strings.Repeat("x", maxSketch)}
	for _, s := range []Sketch{long, {Length: -1}, {Bands: make([]uint64, maxFunctions+1)}} {
		if b, err := s.AppendBinary([]byte("kept")); err == nil || string(b) != "kept" {
			t.Errorf("%.20q, %v: an error is wanted", b, err)
		}
	}
	good, err := (&Sketch{ID: "a", Bands: []uint64{1}}).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	flags := 2 + 1 + 1 + 1 // behind version and length, the ID and an empty source
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "unexpected EOF"},
		{"version", append([]byte{2}, good[1:]...), "version 2, want 1"},
		{"left over", append(slices.Clone(good), 0), "bytes in"},
		{"flags", append(append(slices.Clone(good[:flags]), 0x10), good[flags+1:]...), "flags 0x10"},
		{"length", []byte{1, 0xff, 0xff, 0xff, 0x7f}, "too large"},
		{"short", good[:len(good)-1], "bytes in"},
	} {
		s := Sketch{ID: "before"}
		if err := s.UnmarshalBinary(tt.data); err == nil || !strings.Contains(err.Error(), tt.want) || s.ID != "before" {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	broken := errors.New("broken")
	for _, r := range []io.Reader{iotest.ErrReader(broken), io.MultiReader(bytes.NewReader(good), iotest.ErrReader(broken))} {
		var last error
		for _, err := range ReadSketches(r) {
			last = err
		}
		if !errors.Is(last, broken) {
			t.Errorf("%v, want the error of the reader", last)
		}
	}
	for _, err := range ReadSketches(bytes.NewReader([]byte{1, 0xff, 0xff, 0xff, 0x7f})) {
		if err == nil || !strings.Contains(err.Error(), "more than 1048576") {
			t.Errorf("%v", err)
		}
	}
}

// Whatever the bytes, reading ends without a panic, and what is read can be written and read again.
func FuzzReadSketches(f *testing.F) {
	s, err := NewSketcher(nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", "one two three four five six"} {
		k := s.Sketch(&Record{ID: "a", Source: "web", Content: text, Zero: true})
		b, err := k.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(append(b, b...))
	}
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		for k, err := range ReadSketches(bytes.NewReader(data)) {
			if err != nil {
				return
			}
			b, err := k.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			var again Sketch
			if err := again.UnmarshalBinary(b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(k, again); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	})
}
