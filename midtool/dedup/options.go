package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Options adjusts the search. A nil *Options equals &Options{}. All numbers are ours but those of the shingles and bands, which
// are common in the field; MidTool does not disclose its own.
type Options struct {
	Seed         uint64 // of the hash functions; other seeds find other candidates among records that are less alike
	ShingleWords int    // words of a shingle, at most 1000; zero means 5
	Bands        int    // zero means 14
	Rows         int    // hash functions of a band; zero means 8. Bands times Rows is at most 4096

	Jaccard       *float64 // least similarity of a duplicate, in (0, 1]; nil means 0.8
	MaxCandidates int      // kept records that a record is compared with, the first ones in the global order; zero means 1000
	ClusterCap    int      // members of a cluster that stay, the kept record among them; exact copies never do. Zero means 1
	MaxLoss       *float64 // largest share in [0, 1] of a source's records that near-duplicates may be; nil means 0.4

	// Memory bounds, in bytes and roughly, the bands and shingles in memory; beyond it they go to temporary files in TempDir.
	// What does not count: some 130 bytes and the ID of each record, and some 30 bytes of each band that records share. Zero
	// means 256 MiB; fewer than 1 MiB count as 1 MiB.
	Memory  int64
	TempDir string // an existing folder, looked at once Memory is full; empty means os.TempDir

	Workers  int            // goroutines; zero means 1. The result does not depend on it
	Progress func(done int) // called now and then with the number of records read; nil means not
}

const (
	maxShingleWords = 1000
	maxFunctions    = 4096
	leastMemory     = 1 << 20
)

func (o *Options) withDefaults() (Options, error) {
	var d Options
	if o != nil {
		d = *o
	}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("dedup: Options."+format, args...)) }
	for _, n := range []struct {
		name  string
		value *int
		or    int
		most  int
	}{
		{"ShingleWords", &d.ShingleWords, 5, maxShingleWords},
		{"Bands", &d.Bands, 14, maxFunctions}, {"Rows", &d.Rows, 8, maxFunctions},
		{"MaxCandidates", &d.MaxCandidates, 1000, math.MaxInt32}, {"ClusterCap", &d.ClusterCap, 1, math.MaxInt32},
		{"Workers", &d.Workers, 1, 1024},
	} {
		if *n.value < 0 || *n.value > n.most {
			bad("%s %d is outside [0, %d]", n.name, *n.value, n.most)
		}
		*n.value = cmp.Or(*n.value, n.or)
	}
	if len(errs) == 0 && d.Bands*d.Rows > maxFunctions {
		bad("Bands %d times Rows %d is more than %d", d.Bands, d.Rows, maxFunctions)
	}
	if d.Jaccard == nil {
		d.Jaccard = new(0.8)
	}
	if v := *d.Jaccard; !(v > 0 && v <= 1) {
		bad("Jaccard %v is outside (0, 1]", v)
	}
	if d.MaxLoss == nil {
		d.MaxLoss = new(0.4)
	}
	if v := *d.MaxLoss; !(v >= 0 && v <= 1) {
		bad("MaxLoss %v is outside [0, 1]", v)
	}
	if d.Memory < 0 {
		bad("Memory %d is negative", d.Memory)
	}
	d.Memory = max(cmp.Or(d.Memory, 256<<20), leastMemory)
	return d, errors.Join(errs...)
}
