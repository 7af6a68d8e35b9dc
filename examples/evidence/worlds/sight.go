package main

import (
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/text"
)

// sizes are the longest that was shown.
type sizes struct {
	Turns   int `json:"turns"`   // of an episode
	Words   int `json:"words"`   // of a text
	Actions int `json:"actions"` // of a list of admissible actions
}

// mostStrange is how many words outside the vocabulary are kept.
const mostStrange = 10

// sight keeps what was shown.
type sight struct {
	sizes
	longest    string          // text
	vocabulary map[string]bool // nil if it is not known
	strange    map[string]bool // words that are not in it
	known      map[string]bool // actions that have been read
	offList    bool            // the oracle did what was not listed
}

func newSight(vocabulary []string) *sight {
	s := &sight{strange: make(map[string]bool), known: make(map[string]bool)}
	if vocabulary != nil {
		s.vocabulary = make(map[string]bool)
		for _, w := range vocabulary {
			s.vocabulary[w] = true
		}
		if !slices.IsSorted(vocabulary) || len(s.vocabulary) < len(vocabulary) {
			s.strange["(the list is not sorted, or a word occurs twice)"] = true
		}
	}
	return s
}

// trace looks at all observations of an episode.
func (s *sight) trace(t envharness.Trace) {
	s.Turns = max(s.Turns, len(t.Turns))
	s.observation(t.Shown)
	for _, turn := range t.Turns {
		s.observation(turn.Shown.Observation)
	}
}

func (s *sight) observation(o envharness.Observation) {
	if n := s.words(o.Text); n > s.Words {
		s.Words, s.longest = n, o.Text
	}
	s.Actions = max(s.Actions, len(o.Actions))
	if s.vocabulary == nil {
		return
	}
	if task, ok := o.Data["task"].(string); ok {
		s.words(task)
	}
	for _, a := range o.Actions {
		key := a.String()
		if !s.known[key] {
			s.known[key] = true
			s.words(a.Text())
		}
	}
}

// words counts the words of a text, and keeps those that are not in the vocabulary.
func (s *sight) words(line string) int {
	words := text.Words(line)
	for _, w := range words {
		if s.vocabulary != nil && !s.vocabulary[w] && len(s.strange) < mostStrange {
			s.strange[w] = true
		}
	}
	return len(words)
}

// unlisted returns the first action of an episode that was not among the admissible ones when its turn came, or nil.
func unlisted(t envharness.Trace) *envharness.Action {
	shown := t.Shown
	for _, turn := range t.Turns {
		if turn.Proposed != nil {
			want := turn.Proposed.String()
			if !slices.ContainsFunc(shown.Actions, func(a envharness.Action) bool { return a.String() == want }) {
				return turn.Proposed
			}
		}
		shown = turn.Shown.Observation
	}
	return nil
}
