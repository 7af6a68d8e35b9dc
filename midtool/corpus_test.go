package midtool

import (
	"slices"
	"testing"
)

// The hash tells apart what a sample offers, calls and asks for, and nothing else.
func TestContentHash(t *testing.T) {
	base := clean()
	for _, tt := range []struct {
		change func(s *Sample)
		same   bool
		reason string
	}{
		{func(s *Sample) {}, true, "nothing changed"},
		{func(s *Sample) { slices.Reverse(s.Tools) }, true, "the order of the tools"},
		{func(s *Sample) { s.ID, s.Family, s.Evidence, s.Source = "x", Parallel, nil, "y" }, true, "what is said about the sample"},
		{func(s *Sample) { s.Messages[len(s.Messages)-1].Content = "Done." }, true, "what the assistant says"},
		{func(s *Sample) { edit(s, 0, RoleUser).Content += " Now." }, false, "the request"},
		{func(s *Sample) { c := call0(s); c.Arguments = append([]byte(" "), c.Arguments...) }, true, "spaces in the arguments"},
		{func(s *Sample) { call0(s).Arguments = []byte(`{}`) }, false, "the arguments"},
		{func(s *Sample) { call0(s).Arguments = []byte(`{`) }, false, "arguments that are no JSON"},
		{func(s *Sample) { call0(s).Name = "other" }, false, "the called tool"},
		{func(s *Sample) { s.Tools = append(s.Tools, Tool{ID: "t_new"}) }, false, "another tool offered"},
		{func(s *Sample) {
			s.Messages = append(s.Messages, Message{Role: RoleSystem, Offers: []Tool{{ID: "t_new"}}})
		}, false, "another tool offered late"},
	} {
		s := clean()
		tt.change(&s)
		if same := s.ContentHash() == base.ContentHash(); same != tt.same {
			t.Errorf("%s: same %v, want %v", tt.reason, same, tt.same)
		}
	}
}

// edit is the n-th message of a role.
func edit(s *Sample, n int, role Role) *Message {
	for i := range s.Messages {
		if m := &s.Messages[i]; m.Role == role {
			if n == 0 {
				return m
			}
			n--
		}
	}
	return nil
}

func call0(s *Sample) *Call {
	i := slices.IndexFunc(s.Messages, func(m Message) bool { return len(m.Calls) > 0 })
	return &s.Messages[i].Calls[0]
}
