package dedup

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
)

// The form of a sketch: a byte for its version, the length of what follows, and then ID, Source (each after its length), a byte
// of flags, Exact where there is one, Length, the number of bands, and the bands, 8 bytes each with the lowest first. Lengths
// and numbers are those of binary.AppendUvarint.
const (
	sketchVersion = 1
	maxSketch     = 1 << 20 // bytes after the length: what a reader must hold at a time

	flagZero  = 1
	flagExact = 2
)

// AppendBinary appends a form of the sketch that tells its own length, so that many can stand one after the other in a file:
// see [ReadSketches]. The form has a version, and a later one will read it. It fails for a sketch of more than 1 MiB, which
// takes an ID or a Source of that length, and for one that no Sketcher makes.
func (s *Sketch) AppendBinary(b []byte) ([]byte, error) {
	body := make([]byte, 0, 2*binary.MaxVarintLen64+len(s.ID)+len(s.Source)+1+len(s.Exact)+2*binary.MaxVarintLen64+8*len(s.Bands))
	body = append(binary.AppendUvarint(body, uint64(len(s.ID))), s.ID...)
	body = append(binary.AppendUvarint(body, uint64(len(s.Source))), s.Source...)
	var flags byte
	if s.Zero {
		flags |= flagZero
	}
	exact := s.Exact != [32]byte{}
	if exact {
		flags |= flagExact
	}
	body = append(body, flags)
	if exact {
		body = append(body, s.Exact[:]...)
	}
	if s.Length < 0 || len(s.Bands) > maxFunctions {
		return b, fmt.Errorf("dedup: sketch of %.64q has the length %d and %d bands, want at least 0 and at most %d",
			s.ID, s.Length, len(s.Bands), maxFunctions)
	}
	body = binary.AppendUvarint(body, uint64(s.Length))
	body = binary.AppendUvarint(body, uint64(len(s.Bands)))
	for _, h := range s.Bands {
		body = binary.LittleEndian.AppendUint64(body, h)
	}
	if len(body) > maxSketch {
		return b, fmt.Errorf("dedup: sketch of %.64q has %d bytes, more than %d", s.ID, len(body), maxSketch)
	}
	b = binary.AppendUvarint(append(b, sketchVersion), uint64(len(body)))
	return append(b, body...), nil
}

// UnmarshalBinary sets s to the one sketch that data holds, in the form of [Sketch.AppendBinary]. What comes of bad data is
// an error, and s is as it was.
func (s *Sketch) UnmarshalBinary(data []byte) error {
	d := decoder{data: data}
	if version := d.byte(); version != sketchVersion && !d.short {
		return fmt.Errorf("dedup: sketch of version %d, want %d", version, sketchVersion)
	}
	if n := d.number(maxSketch); !d.bad() && n != len(d.data) {
		return fmt.Errorf("dedup: sketch of %d bytes in %d", n, len(d.data))
	}
	return d.sketch(s)
}

// ReadSketches reads sketches that stand one after the other in the form of [Sketch.AppendBinary]. It holds one at a time. An
// error, that of r too, names the number of the sketch from 0 and ends the sequence, which can be ranged over once.
func ReadSketches(r io.Reader) iter.Seq2[Sketch, error] {
	return func(yield func(Sketch, error) bool) {
		in := bufio.NewReaderSize(r, 1<<16)
		var body []byte
		for n := 0; ; n++ {
			var s Sketch
			var err error
			if body, err = readFrame(in, body); errors.Is(err, errEnd) {
				return
			}
			if err == nil {
				err = (&decoder{data: body}).sketch(&s)
			}
			if err != nil {
				yield(Sketch{}, fmt.Errorf("sketch %d: %w", n, err))
				return
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// errEnd says that there is no further sketch.
var errEnd = errors.New("end")

func readFrame(in *bufio.Reader, body []byte) ([]byte, error) {
	version, err := in.ReadByte()
	switch {
	case errors.Is(err, io.EOF):
		return body, errEnd
	case err != nil:
		return body, err
	case version != sketchVersion:
		return body, fmt.Errorf("dedup: sketch of version %d, want %d", version, sketchVersion)
	}
	n, err := binary.ReadUvarint(in)
	switch {
	case errors.Is(err, io.EOF):
		return body, io.ErrUnexpectedEOF
	case err != nil:
		return body, err
	case n > maxSketch:
		return body, fmt.Errorf("dedup: sketch of %d bytes, more than %d", n, maxSketch)
	}
	if uint64(cap(body)) < n {
		body = make([]byte, n)
	}
	body = body[:n]
	if _, err = io.ReadFull(in, body); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return body, err
}

// A decoder takes values off the front of data. After the first fault it returns zeros.
type decoder struct {
	data  []byte
	short bool // it ended too early
	wrong bool // a number is beyond its bound
}

func (d *decoder) bad() bool { return d.short || d.wrong }

func (d *decoder) take(n int) []byte {
	if d.bad() {
		return nil
	}
	if n > len(d.data) {
		d.short = true
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) number(most uint64) int {
	n, size := binary.Uvarint(d.data)
	switch {
	case size == 0:
		d.short = true
	case size < 0 || n > most:
		d.wrong = true
	}
	if d.bad() {
		return 0
	}
	d.data = d.data[size:]
	return int(n)
}

// maxInt is the largest length that a sketch can have.
const maxInt = uint64(^uint(0) >> 1)

// sketch decodes the part behind the length, which must be all of data.
func (d *decoder) sketch(s *Sketch) error {
	var k Sketch
	k.ID = string(d.take(d.number(maxSketch)))
	k.Source = string(d.take(d.number(maxSketch)))
	flags := d.byte()
	k.Zero = flags&flagZero != 0
	if flags&flagExact != 0 {
		copy(k.Exact[:], d.take(len(k.Exact)))
	}
	k.Length = d.number(maxInt)
	n := d.number(maxFunctions)
	if bands := d.take(8 * n); n > 0 && bands != nil {
		k.Bands = make([]uint64, n)
		for i := range k.Bands {
			k.Bands[i] = binary.LittleEndian.Uint64(bands[8*i:])
		}
	}
	switch {
	case d.short:
		return fmt.Errorf("dedup: sketch: %w", io.ErrUnexpectedEOF)
	case d.wrong:
		return errors.New("dedup: sketch: a number is too large")
	case flags&^(flagZero|flagExact) != 0:
		return fmt.Errorf("dedup: sketch: flags %#x are unknown", flags)
	case len(d.data) > 0:
		return fmt.Errorf("dedup: sketch: %d bytes are left over", len(d.data))
	}
	*s = k
	return nil
}
