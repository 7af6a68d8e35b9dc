package rules

import (
	"fmt"
	"hash/fnv"

	"github.com/throughline-go/throughline/envharness/sim"
)

// UnknownSplit is the error for the name of a split that no world has.
func UnknownSplit(name string) error {
	return fmt.Errorf("unknown split %q, want train, validation, test or ood", sim.Clip(name))
}

// HashSplit returns the split of a task, or of whatever tells tasks apart, that is told by the FNV-1a hash of 64 bits of its id, modulo 10:
// "validation" for 0, "test" for 1, else "train".
func HashSplit(id string) string {
	f := fnv.New64a()
	f.Write([]byte(id))
	switch f.Sum64() % 10 {
	case 0:
		return "validation"
	case 1:
		return "test"
	}
	return "train"
}
