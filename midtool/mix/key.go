package mix

import (
	"encoding/binary"
	"strconv"

	"github.com/throughline-go/throughline/midtool/internal/draw"
)

// A keyer hashes IDs for one use, without an allocation each.
type keyer struct {
	buf  []byte
	head int // length of what all keys begin with
}

func newKeyer(seed uint64, use string) *keyer {
	b := draw.Prefix("midtool/1", strconv.FormatUint(seed, 10), use)
	return &keyer{b, len(b)}
}

func (k *keyer) start(id string) {
	k.buf = append(binary.BigEndian.AppendUint32(k.buf[:k.head], uint32(len(id))), id...)
}

func (k *keyer) key(id string) uint64 {
	k.start(id)
	return draw.Hash(k.buf)
}

// numbered is the key of an ID with the number of a pass.
func (k *keyer) numbered(id string, pass int) uint64 {
	k.start(id)
	at := len(k.buf)
	k.buf = strconv.AppendInt(append(k.buf, 0, 0, 0, 0), int64(pass), 10)
	binary.BigEndian.PutUint32(k.buf[at:], uint32(len(k.buf)-at-4))
	return draw.Hash(k.buf)
}

// Shard returns which of n output files an ID belongs to, from 0; n below 2 is one file.
func Shard(seed uint64, id string, n int) int {
	if n < 2 {
		return 0
	}
	return int(newKeyer(seed, "shard").key(id) % uint64(n))
}
