package openaitest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Options adjusts a [Server]. A nil *Options equals &Options{}.
type Options struct {
	Key   string // what must come as a bearer token, else the status is 401; empty means that nothing need come
	Model string // the only model there is, any other has status 404; empty means any
}

// A Server is a fake endpoint.
type Server struct {
	BaseURL string // for a client; it ends with "/v1"

	http  *httptest.Server
	reply func(Request) Reply
	o     Options
	done  chan struct{}
	close sync.Once

	mu         sync.Mutex
	requests   int
	violations []string
}

// New starts a server that answers requests as reply says, which must be safe for concurrent use where requests are concurrent. It must be
// closed.
func New(reply func(Request) Reply, o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	s := &Server{reply: reply, o: *o, done: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.BaseURL = s.http.URL + "/v1"
	return s
}

// Script returns a func for [New] that gives the replies one after the other. What is asked after the last one has status 400.
func Script(replies ...Reply) func(Request) Reply {
	var mu sync.Mutex
	next := 0
	return func(Request) Reply {
		mu.Lock()
		defer mu.Unlock()
		if next == len(replies) {
			return Reply{Status: http.StatusBadRequest, Error: Error{Message: fmt.Sprintf("the script has %d replies", next), Code: "script_ended"}}
		}
		next++
		return replies[next-1]
	}
}

// Close ends what hangs and stops the server. It can be called more than once.
func (s *Server) Close() {
	s.close.Do(func() {
		close(s.done)
		s.http.Close()
	})
}

// Violations returns what was wrong with requests so far, each with the number of the request, from 0. A test should end with none.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Requests returns how many there were so far.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// maxRequest bounds the body of a request.
const maxRequest = 64 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n := s.requests
	s.requests++
	s.mu.Unlock()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return // the client went away, or sends without end
	}
	if s.o.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.o.Key {
		refuse(w, http.StatusUnauthorized, Error{"the key is not one of this server", "invalid_request_error", "invalid_api_key"}, "")
		return
	}
	request, err := parse(r, body)
	if err != nil {
		f, ok := errors.AsType[*fault](err)
		if !ok {
			f = &fault{status: http.StatusBadRequest, message: err.Error()}
		}
		s.mu.Lock()
		s.violations = append(s.violations, fmt.Sprintf("request %d: %v", n, f))
		s.mu.Unlock()
		refuse(w, f.status, Error{f.Error(), "invalid_request_error", ""}, f.param)
		return
	}
	if s.o.Model != "" && request.Model != s.o.Model {
		refuse(w, http.StatusNotFound, Error{fmt.Sprintf("there is no model %q", request.Model), "invalid_request_error", "model_not_found"}, "")
		return
	}
	request.Index = n
	s.write(w, r, request, s.reply(request))
}
