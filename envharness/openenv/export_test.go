package openenv

import (
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// Hurry shortens what a server grants for things that have to end soon, and to its peers for one message.
func Hurry(s *Server, grace, patience time.Duration) { s.grace, s.patience = grace, patience }

// Slots is the number of environments that are open.
func Slots(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active
}

// HurryClient shortens what a client grants to a message and its answer. It must not be used during a call.
func HurryClient(env envharness.Environment, timeout time.Duration) {
	for env != nil {
		switch e := env.(type) {
		case *client:
			e.timeout = timeout
			return
		case interface{ Unwrap() envharness.Environment }:
			env = e.Unwrap()
		default:
			return
		}
	}
}
