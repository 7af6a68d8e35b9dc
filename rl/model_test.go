package rl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSequences(t *testing.T) {
	read, wrote := func(id int) Token { return Token{ID: id} }, func(id int) Token { return Token{ID: id, Trainable: true} }
	tests := []struct {
		name   string
		turn   Turn
		want   Sequence
		reason string
	}{
		{"plain", Turn{Tokens: []Token{read(1), read(2), wrote(3)}}, Sequence{Tokens: []int{1, 2, 3}, Start: 2}, "the response begins with the first trainable token"},
		{"tail", Turn{Tokens: []Token{read(1), wrote(3), read(4)}}, Sequence{Tokens: []int{1, 3}, Start: 1}, "what follows the response is not read by it"},
		{"gap", Turn{Tokens: []Token{read(1), wrote(3), read(4), wrote(5)}}, Sequence{Tokens: []int{1, 3, 4, 5}, Start: 1}, "a gap stays, for later tokens were drawn after it"},
		{"no response", Turn{Tokens: []Token{read(1), read(2)}}, Sequence{Tokens: []int{1, 2}, Start: 2}, "all context"},
		{"nothing", Turn{}, Sequence{Tokens: []int{}}, "no tokens"},
		{"allowed", Turn{Tokens: []Token{read(1), wrote(3)}, Allowed: [][]int{{2, 3}}}, Sequence{Tokens: []int{1, 3}, Start: 1, Allowed: [][]int{{2, 3}}},
			"the choices are those of the turn"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			got := Sequences([]Sequence{{Start: 9}}, []Trajectory{{Turns: []Turn{tt.turn}}})
			if diff := cmp.Diff([]Sequence{{Start: 9}, tt.want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}
