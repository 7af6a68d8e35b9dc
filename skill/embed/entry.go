package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
)

// The file of one vector:
//
//	magic    8 bytes
//	key     32 bytes
//	n        4 bytes, little-endian: entries, 1 to maxEntries
//	entries  n times 8 bytes: IEEE 754, little-endian, finite
//	sum     32 bytes: SHA-256 of all before
const (
	magic      = "tl-vec1\n"
	headerSize = len(magic) + sha256.Size + 4
	maxEntries = 1 << 24 // bounds what a damaged file can make us read: 128 MiB
)

var errCorrupt = errors.New("embed: cache: a damaged file")

// entrySize returns the bytes of a file with n entries.
func entrySize(n int) int64 { return int64(headerSize + 8*n + sha256.Size) }

func encodeEntry(k key, v []float64) []byte {
	b := make([]byte, 0, entrySize(len(v)))
	b = append(b, magic...)
	b = append(b, k[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// decodeEntry returns the vector of a file that is whole and belongs to the key.
func decodeEntry(k key, b []byte) ([]float64, error) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic || !bytes.Equal(b[len(magic):headerSize-4], k[:]) {
		return nil, errCorrupt
	}
	n := binary.LittleEndian.Uint32(b[headerSize-4:])
	if n > maxEntries || int64(len(b)) != entrySize(int(n)) {
		return nil, errCorrupt
	}
	body := b[:len(b)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], b[len(body):]) {
		return nil, errCorrupt
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(body[headerSize+8*i:]))
	}
	if unusable(v) != "" {
		return nil, errCorrupt
	}
	return v, nil
}
