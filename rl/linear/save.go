package linear

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
)

// ErrFormat is wrapped by the errors of [Policy.Load] about what was read.
var ErrFormat = errors.New("linear: not a saved policy of this shape")

const (
	magic     = "TLlinear" // eight bytes
	version   = 1
	entrySize = 4 + 4 + 3*8 // index, n, w, m, v
)

// Save writes the weights and the state of the optimiser, not the gradient. All numbers are little-endian, floats as
// their bits:
//
//	"TLlinear", version uint32 = 1, dim uint32
//	twice, action weights first: count uint32, then by ascending index for each weight that has been trained
//	  index uint32, steps uint32, weight, m, v float64
//	SHA-256 of all that
func (p *Policy) Save(w io.Writer) error {
	if p == nil {
		return errNil
	}
	out := bufio.NewWriter(w)
	sum := sha256.New()
	put := func(b []byte) error {
		sum.Write(b)
		_, err := out.Write(b)
		return err
	}
	var buf [entrySize]byte
	header := binary.LittleEndian.AppendUint32([]byte(magic), version)
	if err := put(binary.LittleEndian.AppendUint32(header, uint32(p.dim))); err != nil {
		return err
	}
	for _, b := range []*block{&p.actions, &p.values} {
		var count uint32
		for _, n := range b.n {
			if n > 0 {
				count++
			}
		}
		binary.LittleEndian.PutUint32(buf[:], count)
		if err := put(buf[:4]); err != nil {
			return err
		}
		for i, n := range b.n {
			if n == 0 {
				continue
			}
			binary.LittleEndian.PutUint32(buf[0:], uint32(i))
			binary.LittleEndian.PutUint32(buf[4:], n)
			binary.LittleEndian.PutUint64(buf[8:], math.Float64bits(b.w[i]))
			binary.LittleEndian.PutUint64(buf[16:], math.Float64bits(b.m[i]))
			binary.LittleEndian.PutUint64(buf[24:], math.Float64bits(b.v[i]))
			if err := put(buf[:]); err != nil {
				return err
			}
		}
	}
	if _, err := out.Write(sum.Sum(nil)); err != nil {
		return err
	}
	return out.Flush()
}

// Load replaces p, which must not be nil, by what [Policy.Save] wrote, which must have the same dimension; the gradient is empty afterwards. It
// reads no byte beyond the end of it. An error that is not one of r wraps [ErrFormat] and says what is wrong: a cut, a
// changed byte, another dimension, numbers that no training produces. After an error p is as it was.
func (p *Policy) Load(r io.Reader) error {
	if p == nil {
		return errNil
	}
	d := decoder{r: r, sum: sha256.New()}
	header, err := d.next(len(magic) + 8)
	if err != nil {
		return err
	}
	if string(header[:len(magic)]) != magic {
		return fmt.Errorf("%w: it starts with %q, want %q", ErrFormat, header[:len(magic)], magic)
	}
	if v := binary.LittleEndian.Uint32(header[len(magic):]); v != version {
		return fmt.Errorf("%w: version is %d, want %d", ErrFormat, v, version)
	}
	if dim := binary.LittleEndian.Uint32(header[len(magic)+4:]); uint64(dim) != uint64(p.dim) {
		return fmt.Errorf("%w: dimension is %d, want %d", ErrFormat, dim, p.dim)
	}
	var actions, values block
	for _, b := range []*block{&actions, &values} {
		if err := d.block(b, p.dim); err != nil {
			return err
		}
	}
	want := d.sum.Sum(nil)
	got, err := d.next(sha256.Size)
	if err != nil {
		return err
	}
	if string(got) != string(want) {
		return fmt.Errorf("%w: the checksum does not match", ErrFormat)
	}
	p.actions, p.values = actions, values
	return nil
}

type decoder struct {
	r   io.Reader
	sum hash.Hash
	buf []byte
}

// next returns the next n bytes, valid until the next call.
func (d *decoder) next(n int) ([]byte, error) {
	if cap(d.buf) < n {
		d.buf = make([]byte, n)
	}
	b := d.buf[:n]
	if _, err := io.ReadFull(d.r, b); err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%w: it is cut short", ErrFormat)
	} else if err != nil {
		return nil, err
	}
	d.sum.Write(b)
	return b, nil
}

// block reads one weight vector into the empty b.
func (d *decoder) block(b *block, dim int) error {
	head, err := d.next(4)
	if err != nil {
		return err
	}
	left := int64(binary.LittleEndian.Uint32(head))
	if left > int64(dim) {
		return fmt.Errorf("%w: %d entries, want at most %d", ErrFormat, left, dim)
	}
	if left == 0 {
		return nil
	}
	b.grow(dim)
	before := int64(-1)
	for left > 0 {
		chunk := min(left, 1024)
		left -= chunk
		data, err := d.next(int(chunk) * entrySize)
		if err != nil {
			return err
		}
		for ; len(data) > 0; data = data[entrySize:] {
			i := int64(binary.LittleEndian.Uint32(data))
			if i <= before || i >= int64(dim) {
				return fmt.Errorf("%w: index %d after %d, want ascending ones below %d", ErrFormat, i, before, dim)
			}
			before = i
			b.n[i] = binary.LittleEndian.Uint32(data[4:])
			b.w[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))
			b.m[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[16:]))
			b.v[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[24:]))
			if b.n[i] == 0 || !finite(b.w[i]) || !finite(b.m[i]) || !finite(b.v[i]) || b.v[i] < 0 {
				return fmt.Errorf("%w: weight %d has numbers that no training produces", ErrFormat, i)
			}
		}
	}
	return nil
}
