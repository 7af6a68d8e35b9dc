package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/throughline-go/throughline/internal/child"
)

// A stdio is a connection over the standard streams of a program: one message a line.
type stdio struct {
	*conn
	p       *child.Process
	program string // its base name, for errors
	out     chan line
	running sync.WaitGroup
}

// A line is a message on its way to the program.
type line struct {
	data []byte
	sent chan<- error
}

// start runs the program. Its error is that of package child.
func start(s Server, c *conn) (*stdio, error) {
	p, err := child.Start(child.Command{Args: s.Command, Dir: s.Dir, Env: s.Env, Grace: s.Grace, Stderr: s.Stderr})
	if err != nil {
		return nil, err
	}
	l := &stdio{conn: c, p: p, program: filepath.Base(s.Command[0]), out: make(chan line)}
	l.running.Go(l.read)
	l.running.Go(l.write)
	return l, nil
}

// Write sends a message. Since a program may not read, the write itself is left to another goroutine, and the context ends the wait.
func (l *stdio) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Request); ok {
		switch r.Method {
		case "server/discover":
			l.running.Go(func() {
				l.hand(&jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "not sent"}})
			})
			return nil
		case "notifications/cancelled": // a courtesy, for which nobody waits
			select {
			case l.out <- line{append(data, '\n'), make(chan error, 1)}:
			default:
			}
			return nil
		}
		l.expect(ctx, r)
	}
	return l.send(ctx, data)
}

func (l *stdio) send(ctx context.Context, data []byte) error {
	sent := make(chan error, 1)
	select {
	case l.out <- line{append(data, '\n'), sent}:
	case <-l.done:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-sent:
		return err
	case <-l.done:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write writes the messages until the connection breaks.
func (l *stdio) write() {
	for {
		select {
		case m := <-l.out:
			_, err := l.p.Write(m.data)
			if err != nil {
				l.fail(fmt.Errorf("the program no longer reads: %w", err))
			}
			m.sent <- err
		case <-l.done:
			return
		}
	}
}

// read reads the messages until the connection breaks, at the latest when the program ends its output.
func (l *stdio) read() {
	in := bufio.NewReaderSize(l.p, 64<<10)
	reply := func(m []byte) error {
		_ = l.send(context.Background(), m) // fails with the connection, as the next line then says
		return nil
	}
	for number := 1; !l.failed(); number++ {
		text, err := readLine(in, l.max)
		if err == nil && len(text) > 0 {
			err = l.receive(text, reply)
			if errors.Is(err, errNotJSONRPC) {
				err = fmt.Errorf("%w (%d bytes, not shown): a server must print nothing else there", err, len(text))
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			l.ended()
		default:
			l.fail(fmt.Errorf("standard output of %s, line %d: %w", l.program, number, err))
		}
	}
}

// ended makes the end of the output that of the program, so that it can be told how it ended.
func (l *stdio) ended() {
	l.p.Close()
	cause := errors.New("the program " + l.program + " ended")
	if err := l.p.Err(); err != nil {
		cause = fmt.Errorf("the program ended: %w", err)
	}
	l.fail(cause)
}

func (l *stdio) shut(now bool) {
	if now {
		l.p.Kill()
	}
	l.p.Close()
	l.running.Wait()
}

// readLine reads a line without the white space around it. It is valid until the next.
func readLine(in *bufio.Reader, most int) ([]byte, error) {
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(long)+len(bytes.TrimRight(part, "\r\n")) > most {
			return nil, fmt.Errorf("longer than %d bytes", most)
		}
		if err == nil && long == nil {
			return bytes.TrimSpace(part), nil
		}
		long = append(long, part...)
		switch {
		case err == nil:
			return bytes.TrimSpace(long), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(long)) > 0:
			return nil, errors.New("cut off before its line break")
		default:
			return nil, err
		}
	}
}
