package openenv

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// route answers one request, by its path.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	method, handle := http.MethodGet, http.HandlerFunc(nil)
	switch r.URL.Path {
	case "/ws":
		handle = s.serveSession
	case "/reset":
		method, handle = http.MethodPost, s.post(s.serveReset)
	case "/step":
		method, handle = http.MethodPost, s.post(s.serveStep)
	case "/mcp":
		method, handle = http.MethodPost, s.post(s.serveCall)
	case "/state":
		if s.o.ExposeState {
			handle = s.serveState
		}
	case "/metadata":
		handle = s.serveKnown(func(a *about) any { return s.metadata(a) })
	case "/schema":
		handle = s.serveKnown(func(a *about) any { return schemas(a) })
	case "/health":
		handle = func(w http.ResponseWriter, _ *http.Request) {
			s.respond(w, http.StatusOK, map[string]string{"status": "healthy"})
		}
	}
	switch {
	case handle == nil:
		s.refuse(w, http.StatusNotFound, "Not Found")
	case r.Method != method && (method != http.MethodGet || r.Method != http.MethodHead):
		w.Header().Set("Allow", method)
		s.refuse(w, http.StatusMethodNotAllowed, "Method Not Allowed")
	default:
		handle(w, r)
	}
}

// post opens an environment for one request and reads its body. The slot is taken before anything is read, so that what is held in memory
// is bounded, and free again before anything is written.
func (s *Server) post(serve func(ctx context.Context, p *play, body []byte) (status int, answer []byte)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		active, ok := s.acquire()
		if !ok {
			s.full(w, &fullError{active, s.o.Sessions})
			return
		}
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(s.patience))
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.o.MaxMessage)))
		if err != nil {
			s.release()
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				s.refuse(w, http.StatusRequestEntityTooLarge, "the body is too long")
			} else {
				s.refuse(w, http.StatusBadRequest, "the body cannot be read")
			}
			return
		}
		_ = control.SetReadDeadline(time.Time{}) // what is read from here on is whether the client leaves
		in, err := s.newInstance(r.Context())
		if err != nil {
			s.fail(w, err)
			return
		}
		status, answer := in.last(func(p *play) (int, []byte) { return serve(r.Context(), p, body) })
		s.send(w, status, answer)
	}
}

// send writes to a client that takes it in time.
func (s *Server) send(w http.ResponseWriter, status int, answer []byte) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(s.patience)) // not all kinds of connections have one
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(answer) // a client that has left needs no answer
	if control.Flush() == nil {
		_ = control.SetWriteDeadline(time.Time{})
	}
}

func (s *Server) serveReset(ctx context.Context, p *play, body []byte) (int, []byte) {
	fields, problems := bodyFields(body, true)
	var o envharness.ResetOptions
	var episode string
	if len(problems) == 0 {
		o, episode, problems = readReset([]any{"body"}, fields)
	}
	if len(problems) > 0 {
		return unprocessable(problems)
	}
	return outcome(p.reset(ctx, o, episode, bare))
}

// serveStep steps an environment that is reset before, as the fields besides those of a step say: one that is fresh has no episode.
func (s *Server) serveStep(ctx context.Context, p *play, body []byte) (int, []byte) {
	loc := []any{"body"}
	fields, problems := bodyFields(body, false)
	if len(problems) > 0 {
		return unprocessable(problems)
	}
	var d stepData
	raw, given := fields["action"]
	inner, isObject := object(raw)
	switch {
	case !given:
		problems = append(problems, broken("missing", at(loc, "action"), body, "action is required"))
	case !isObject:
		problems = append(problems, broken("dict_type", at(loc, "action"), raw, "action is an object"))
	default:
		d, problems = readStep(at(loc, "action"), raw, inner)
	}
	if raw, ok := present(fields, "timeout_s"); ok {
		var seconds float64
		switch {
		case json.Unmarshal(raw, &seconds) != nil:
			problems = append(problems, broken("float_type", at(loc, "timeout_s"), raw, "timeout_s is a number"))
		case seconds <= 0:
			problems = append(problems, broken("greater_than", at(loc, "timeout_s"), raw, "timeout_s is above 0"))
		case seconds < s.stepTimeout.Seconds():
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(seconds*float64(time.Second)), errLate)
			defer cancel()
		}
	}
	_, problems = readName(loc, fields, "request_id", problems)
	o, episode, more := readReset(loc, fields, "action", "timeout_s", "request_id")
	if problems = append(problems, more...); len(problems) > 0 {
		return unprocessable(problems)
	}
	if d.manner != listing {
		if status, answer := outcome(p.reset(ctx, o, episode, bare)); status != http.StatusOK {
			return status, answer
		}
	}
	return outcome(p.take(ctx, d, func(v any) any { return v }))
}

// serveCall answers a JSON-RPC request on its own. A tool is called in an episode of the default task.
func (s *Server) serveCall(ctx context.Context, p *play, body []byte) (int, []byte) {
	same := func(r response) any { return r }
	fault := &rpcError{Code: rpcParse, Message: "the body is not JSON"}
	var c call
	if wellFormed(body) == nil {
		c, _ = readCall(body)
		if c.method != "tools/call" {
			return http.StatusOK, p.call(ctx, body, same)
		}
		_, err := p.reset(ctx, envharness.ResetOptions{}, "", bare)
		if err == nil {
			return http.StatusOK, p.call(ctx, body, same)
		}
		fault = rpcFailure(err)
	}
	b, _ := encode(response{Version: "2.0", ID: c.id, Error: fault}) // strings and numbers
	return http.StatusOK, b
}

// serveState tells the state of an environment that is in its default episode.
func (s *Server) serveState(w http.ResponseWriter, r *http.Request) {
	in, err := s.instance(r.Context())
	if err != nil {
		s.full(w, err)
		return
	}
	status, answer := in.last(func(p *play) (int, []byte) {
		status, answer := outcome(p.reset(r.Context(), envharness.ResetOptions{}, "", bare))
		if status == http.StatusOK {
			status, answer = outcome(p.state(r.Context(), func(st state) any { return st }))
		}
		return status, answer
	})
	s.send(w, status, answer)
}

// serveKnown answers with what is known of all environments.
func (s *Server) serveKnown(tell func(*about) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := s.known(r.Context())
		if err != nil {
			s.full(w, err)
			return
		}
		b, err := encode(tell(a))
		if err != nil { // a schema that is no JSON
			s.refuse(w, http.StatusInternalServerError, "the answer cannot be written")
			return
		}
		s.send(w, http.StatusOK, b)
	}
}

// last makes the only calls of an instance, and closes it whatever becomes of them.
func (in *instance) last(calls func(p *play) (status int, answer []byte)) (status int, answer []byte) {
	defer in.close()
	return calls(&play{instance: in})
}

func bare(r result) any { return r }

// bodyFields reads a body that is a JSON object; one that may be empty is then an empty one.
func bodyFields(body []byte, optional bool) (map[string]json.RawMessage, []problem) {
	loc := []any{"body"}
	if len(body) == 0 {
		if optional {
			return nil, nil
		}
		return nil, []problem{broken("missing", loc, nil, "a body is required")}
	}
	if err := wellFormed(body); err != nil {
		return nil, []problem{broken("json_invalid", loc, json.RawMessage("{}"), "%v", err)}
	}
	fields, ok := object(body)
	if !ok {
		return nil, []problem{broken("dict_type", loc, body, "the body is an object")}
	}
	return fields, nil
}

func unprocessable(problems []problem) (int, []byte) {
	b, _ := encode(map[string]any{"detail": problems}) // strings and what was JSON before
	return http.StatusUnprocessableEntity, b
}

// outcome makes the answer to a call of an environment.
func outcome(message []byte, err error) (int, []byte) {
	if err == nil {
		return http.StatusOK, message
	}
	class, text := classify(err)
	b, _ := encode(map[string]string{"detail": text, "class": class}) // strings
	return http.StatusInternalServerError, b
}

// full says that no slot is free, or that the environment could not be made.
func (s *Server) full(w http.ResponseWriter, err error) {
	if full, ok := errors.AsType[*fullError](err); ok {
		w.Header().Set("Retry-After", "1")
		s.respond(w, http.StatusServiceUnavailable, map[string]any{
			"detail": "all environments are in use", "active_sessions": full.active, "max_sessions": full.limit,
		})
		return
	}
	s.fail(w, err)
}

func (s *Server) fail(w http.ResponseWriter, err error) {
	status, answer := outcome(nil, err)
	s.send(w, status, answer)
}

func (s *Server) refuse(w http.ResponseWriter, status int, text string) {
	s.respond(w, status, map[string]string{"detail": text})
}

func (s *Server) respond(w http.ResponseWriter, status int, v any) {
	b, _ := encode(v) // strings and numbers
	s.send(w, status, b)
}
