package envharness

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// RandStream returns the random stream of one consumer in one episode. Streams with different seeds, paths or episodes are independent,
// so a consumer added or removed never shifts the draws of another. The paths in use are "env" for the environment,
// "c/" and a component's id, and "policy/" and a rollout's slot; an own path needs a name that is none of these.
//
// The stream is PCG with the first 16 bytes of SHA-256("envharness/v1" 00 be64(seed) 00 path 00 be64(episode)) as its state (ours).
// Each call makes a fresh generator, which is not safe for concurrent use.
func RandStream(seed uint64, path string, episode uint64) *rand.Rand {
	k := streamKey(seed, path, episode)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(k[:8]), binary.BigEndian.Uint64(k[8:16])))
}

// deriveSeed makes a seed that belongs to another one, for episodes whose seed nobody chose.
func deriveSeed(seed uint64, path string, episode uint64) uint64 {
	k := streamKey(seed, path, episode)
	return binary.BigEndian.Uint64(k[:8])
}

func streamKey(seed uint64, path string, episode uint64) [sha256.Size]byte {
	b := make([]byte, 0, 64)
	b = append(b, "envharness/v1\x00"...)
	b = binary.BigEndian.AppendUint64(b, seed)
	b = append(b, 0)
	b = append(b, path...)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint64(b, episode)
	return sha256.Sum256(b)
}
