package openenv

import "time"

// Hurry shortens what a server grants for things that have to end soon, and to its peers for one message.
func Hurry(s *Server, grace, patience time.Duration) { s.grace, s.patience = grace, patience }

// Slots is the number of environments that are open.
func Slots(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active
}
