package openenv

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// hijacked remembers the connection under a WebSocket, to end it by force: a farewell waits for the peer longer than we want to.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.conn = conn
	return conn, rw, err
}

// A link is one WebSocket of a client.
type link struct {
	s      *Server
	conn   *websocket.Conn
	raw    net.Conn
	frames chan []byte          // the messages that came; closed when no more will come
	code   websocket.StatusCode // why no more will, set before that
	quit   chan struct{}        // closed when nobody takes them any more
	done   chan struct{}        // closed when the reader is gone
}

// serveSession holds a session: an environment of its own for as long as the connection lasts.
func (s *Server) serveSession(w http.ResponseWriter, r *http.Request) {
	h := &hijacked{ResponseWriter: w}
	conn, err := websocket.Accept(h, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // the origin was checked before
	if err != nil {
		return // the answer was given
	}
	conn.SetReadLimit(int64(s.o.MaxMessage))
	l := &link{s: s, conn: conn, raw: h.conn, frames: make(chan []byte), quit: make(chan struct{}), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	// The reader goes on while the environment works: it answers pings, and finds out when the client has left.
	go l.read(ctx, cancel)
	code, last := l.converse(ctx)
	if last != nil {
		_ = l.write(ctx, last)
	}
	l.part(code)
}

// read hands on text frames until there are none, and then ends whatever is done for the client.
func (l *link) read(ctx context.Context, cancel context.CancelFunc) {
	defer close(l.done)
	defer cancel()
	defer close(l.frames)
	for {
		kind, frame, err := l.conn.Read(ctx)
		switch {
		case err != nil:
			l.code = websocket.StatusProtocolError // if the connection is still there, then nobody has said farewell
			return
		case kind != websocket.MessageText:
			l.code = websocket.StatusUnsupportedData
			return
		case !utf8.Valid(frame):
			l.code = websocket.StatusInvalidFramePayloadData
			return
		}
		select {
		case l.frames <- frame:
		case <-l.quit:
			return
		}
	}
}

// converse answers messages until the session ends, and closes its environment. It returns the status to close with and a last
// message, if there is one.
func (l *link) converse(ctx context.Context) (code websocket.StatusCode, last []byte) {
	in, err := l.s.instance(ctx)
	if err != nil && ctx.Err() != nil {
		for range l.frames { // until the reader has said why there are no more
		}
		return l.code, nil
	}
	if err != nil {
		return l.refusal(err)
	}
	p := &play{instance: in}
	defer in.close()
	idle := time.NewTimer(l.s.idle)
	defer idle.Stop()
	for l.s.ending.Err() == nil {
		select {
		case frame, ok := <-l.frames:
			if !ok {
				return l.code, nil
			}
			reply, more := p.answer(ctx, frame)
			if in.hangs {
				return websocket.StatusInternalError, errorMessage(codeSession, "the environment does not return", nil)
			}
			if !more {
				return websocket.StatusNormalClosure, nil
			}
			if ctx.Err() != nil || l.write(ctx, reply) != nil {
				return websocket.StatusGoingAway, nil
			}
			idle.Reset(l.s.idle)
		case <-idle.C:
			return websocket.StatusGoingAway, errorMessage(codeSession, "the session was idle for too long", nil)
		case <-l.s.ending.Done():
		}
	}
	return websocket.StatusGoingAway, nil
}

// refusal tells why there is no session.
func (l *link) refusal(err error) (websocket.StatusCode, []byte) {
	if full, ok := errors.AsType[*fullError](err); ok {
		return websocket.StatusTryAgainLater, errorMessage(codeCapacity, "all sessions are in use",
			map[string]any{"active_sessions": full.active, "max_sessions": full.limit})
	}
	return websocket.StatusInternalError, errorMessage(codeFactory, "the environment could not be made",
		map[string]any{"factory_name": or(l.s.o.Name, "environment")})
}

// write sends a message to a peer that takes it in time; one that does not is cut off.
func (l *link) write(ctx context.Context, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, l.s.patience)
	defer cancel()
	return l.conn.Write(ctx, websocket.MessageText, message)
}

// part says farewell and waits for the peer's, though not for long.
func (l *link) part(code websocket.StatusCode) {
	close(l.quit)
	force := time.AfterFunc(l.s.grace, func() { _ = l.raw.Close() })
	defer force.Stop()
	_ = l.conn.Close(code, "")
	<-l.done
}
