package pdfsource

import (
	"errors"
	"fmt"
	"time"
)

// Options bounds a [Reader]. A nil *Options equals &Options{}.
type Options struct {
	MaxBytes  int           // of a file; zero means 32 MiB
	MaxPages  int           // of a file; zero means 10,000
	MaxChars  int           // code points of text in a file; zero means 16 Mi
	MaxMemory int           // bytes of the sandbox that one file is read in, at least 32 MiB, a file within it; zero means 128 MiB
	Timeout   time.Duration // for one file; zero means a minute

	Workers int // files that are read at the same time, whoever asks for them; zero means 1

	// CacheDir is a folder that keeps what PDFium is compiled to, for this version and machine. Whoever can write there can
	// run code in this process. Empty means that every Reader compiles it.
	CacheDir string
}

const (
	defaultBytes   = 32 << 20
	defaultPages   = 10_000
	defaultChars   = 16 << 20
	defaultMemory  = 128 << 20
	defaultTimeout = time.Minute

	// wasmPage is the unit of WebAssembly's memory. PDFium does not start with less than leastMemory.
	wasmPage    = 64 << 10
	leastMemory = 32 << 20
	mostMemory  = 2 << 30
)

// checked returns the options with their defaults.
func (o *Options) checked() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	var faults []error
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"MaxBytes", int64(c.MaxBytes)}, {"MaxPages", int64(c.MaxPages)}, {"MaxChars", int64(c.MaxChars)},
		{"Timeout", int64(c.Timeout)}, {"Workers", int64(c.Workers)},
	} {
		if f.value < 0 {
			faults = append(faults, fmt.Errorf("pdfsource: %s is %d, want 0 or more", f.name, f.value))
		}
	}
	if c.MaxMemory != 0 && (c.MaxMemory < leastMemory || c.MaxMemory > mostMemory) {
		faults = append(faults, fmt.Errorf("pdfsource: MaxMemory is %d, want 0 or %d to %d", c.MaxMemory, leastMemory, mostMemory))
	}
	if err := errors.Join(faults...); err != nil {
		return Options{}, err
	}
	fill(&c.MaxBytes, defaultBytes)
	fill(&c.MaxPages, defaultPages)
	fill(&c.MaxChars, defaultChars)
	fill(&c.MaxMemory, defaultMemory)
	fill(&c.Timeout, defaultTimeout)
	fill(&c.Workers, 1)
	return c, nil
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
