package midtool

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A Corpus is what was made and what was left out.
type Corpus struct {
	Samples []Sample // in a fixed order; nil where they were handed to a callback
	Kept    int      // number of samples
	Tokens  int      // sum over the samples of [Findings] Tokens
	Tools   int      // distinct usable tools

	// Planned counts the planned samples, kept or rejected, by family; nil for an import. A family that a group of tools
	// cannot have is planned as another.
	Planned map[Family]int

	Rejected []Rejection // tools first, then samples, in a fixed order
}

// Reasons counts what was left out by reason.
func (c *Corpus) Reasons() map[string]int {
	out := make(map[string]int)
	for _, r := range c.Rejected {
		out[r.Reason]++
	}
	return out
}

// DefaultLicenses returns the SPDX identifiers of the licenses whose tools are used unless a caller names others.
func DefaultLicenses() []string {
	return []string{"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "CC0-1.0"}
}

// ContentHash is equal for samples that say the same: the same tools offered (by ID, in any order and at any time), the
// same calls (arguments by meaning, keys in any order) and the same requests. Of samples that share it, one is enough.
func (s *Sample) ContentHash() [sha256.Size]byte {
	var ids []string
	b := make([]byte, 0, 1024)
	part := func(kind byte, text string) {
		b = binary.BigEndian.AppendUint32(append(b, kind), uint32(len(text)))
		b = append(b, text...)
	}
	for i := range s.Tools {
		ids = append(ids, s.Tools[i].ID)
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		for j := range m.Offers {
			ids = append(ids, m.Offers[j].ID)
		}
		if m.Role == RoleUser {
			part('u', m.Content)
		}
		for _, c := range m.Calls {
			part('n', c.Name)
			if arguments, err := jsonval.Parse(c.Arguments); err == nil {
				part('a', arguments.Encode(jsonval.Canonical))
			} else {
				part('x', string(c.Arguments))
			}
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		part('t', id)
	}
	return sha256.Sum256(b)
}
