package pdfsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// An engine is PDFium, compiled, with a place for each file that may be read at a time.
type engine struct {
	pool  pdfium.Pool
	cache wazero.CompilationCache // nil without a folder
}

// zeros is the source of randomness that PDFium gets: none, so that it does the same each time.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func startEngine(o *Options) (*engine, error) {
	e := new(engine)
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling). // what this build of PDFium uses
		WithMemoryLimitPages(uint32(o.MaxMemory / wasmPage)).
		WithCloseOnContextDone(true).
		WithDebugInfoEnabled(false)
	if o.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(o.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("pdfsource: CacheDir: %w", err)
		}
		e.cache, config = cache, config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context:       experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(newMemory)),
		MaxTotal:      o.Workers,
		FSConfig:      wazero.NewFSConfig(), // no file is in reach
		RuntimeConfig: config,
		Stdout:        io.Discard,
		Stderr:        io.Discard,
		RandomSource:  zeros{},
	})
	if err != nil {
		if e.cache != nil {
			err = errors.Join(err, e.cache.Close(context.Background()))
		}
		return nil, fmt.Errorf("pdfsource: starting PDFium: %w", err)
	}
	e.pool = pool
	return e, nil
}

func (e *engine) close() error {
	err := e.pool.Close()
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(context.Background()))
	}
	return err
}

var errTimeout = errors.New("pdfsource: the time for one file is over")

// run calls f with a sandbox of its own as soon as there is room for one. It stops f, and returns the error of ctx or errTimeout,
// when ctx is done or the time is over.
func (e *engine) run(ctx context.Context, timeout time.Duration, f func(pdfium.Pdfium) error) error {
	p, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("pdfsource: starting a sandbox: %w", err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	killed := make(chan struct{})
	kill := func() {
		// Closing would run code of PDFium on what a hostile file has left. The sandbox is thrown away as a whole, whatever
		// state it is in, so that there is nothing to do about an error.
		p.Kill()
		close(killed)
	}
	stop := context.AfterFunc(limited, kill)
	err = f(p)
	if stop() {
		kill()
		return err
	}
	<-killed
	return context.Cause(limited)
}

// A memory is that of a sandbox. It doubles when it is too small, so that little is copied and thrown away.
type memory struct {
	buffer []byte
	limit  uint64
}

func newMemory(_, limit uint64) experimental.LinearMemory { return &memory{limit: limit} }

// Reallocate makes the memory as large as size, which is never above the limit.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(cap(m.buffer)) {
		larger := make([]byte, size, min(m.limit, max(size, 2*uint64(cap(m.buffer)))))
		copy(larger, m.buffer)
		m.buffer = larger
	}
	m.buffer = m.buffer[:size]
	return m.buffer
}

// Free leaves the buffer to the garbage collector: code that is being stopped may still write to it.
func (m *memory) Free() {}
