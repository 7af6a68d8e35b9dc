package stdio

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// A pipePeer is a program that is a goroutine.
type pipePeer struct {
	in   *io.PipeReader // its standard output
	out  *io.PipeWriter // its standard input
	done chan struct{}
	once sync.Once
	err  error
}

// startPipe runs serve as a program.
func startPipe(serve func(r io.Reader, w io.Writer) error) *pipePeer {
	r, out := io.Pipe()
	in, w := io.Pipe()
	p := &pipePeer{in: in, out: out, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = serve(r, w)
		r.Close()
		w.Close()
	}()
	return p
}

func (p *pipePeer) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p *pipePeer) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p *pipePeer) Done() <-chan struct{}       { return p.done }
func (p *pipePeer) Kill()                       { p.once.Do(func() { p.out.Close(); p.in.Close() }) }
func (p *pipePeer) Close() error                { p.Kill(); <-p.done; return nil }

func (p *pipePeer) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// openPipe drives an environment that is served in this process.
func openPipe(t testing.TB, env envharness.Environment) envharness.Environment {
	t.Helper()
	remote, err := open(t.Context(), startPipe(func(r io.Reader, w io.Writer) error { return Serve(context.Background(), env, r, w) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remote.Close() })
	return remote
}
