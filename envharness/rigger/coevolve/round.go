package coevolve

import (
	"github.com/throughline-go/throughline/envharness/rigger"
)

// A Round is what happened in one round. Equal problems and options give equal rounds, whatever the number of rollouts at once and however
// often the run was interrupted and resumed.
type Round struct {
	Number int `json:"number"` // from 1; 0 is before any training, where only Policy, HeldOut and Cost are set

	Measured []Measurement  `json:"measured,omitempty"` // of items of earlier rounds, in the order in which they were accepted
	Retired  []rigger.Item  `json:"retired,omitempty"`  // in this round
	Report   *rigger.Report `json:"report,omitempty"`   // of the rigging; nil if no task was to be rigged
	Items    []rigger.Item  `json:"items,omitempty"`    // in the pool, in the order in which they were accepted
	Drawn    Drawn          `json:"drawn"`
	Explored *Explored      `json:"explored,omitempty"` // nil unless [Options].Play is set

	Policy      Policy       `json:"-"`              // after training
	Fingerprint string       `json:"fingerprint"`    // of Policy
	HeldOut     rigger.Tally `json:"held_out"`       // of Policy on the held-out tasks
	HalfWidth   float64      `json:"half_width"`     // of the Wilson interval of its success rate, at level 0.95
	Fell        bool         `json:"fell,omitempty"` // HeldOut is lower than in the round before, by more than HalfWidth
	Stop        string       `json:"stop,omitempty"` // why this is the last round before Rounds were done
	Cost        Cost         `json:"cost"`
}

// A Measurement is what the present policy does on an item.
type Measurement struct {
	Task   string       `json:"task"` // id of the item's task, and the hash of its stack
	Hash   string       `json:"hash"`
	Counts rigger.Tally `json:"counts"`
	Misses int          `json:"misses"` // times in a row that the rate was outside of [Options].Keep, this one included
}

// Drawn counts the draws for training.
type Drawn struct {
	Unmodified int `json:"unmodified"`
	Items      int `json:"items"` // without the aided ones
	Aided      int `json:"aided"`
}

// Explored counts the exploration episodes. Success with an aid is not to be added to success without one.
type Explored struct {
	Unmodified rigger.Tally `json:"unmodified"`
	Items      rigger.Tally `json:"items"` // without the aided ones
	Aided      rigger.Tally `json:"aided"`
}

// A Cost counts rollouts by what they were for.
type Cost struct {
	Rigging rigger.Cost `json:"rigging"`
	Measure int         `json:"measure,omitempty"`  // of items again
	Explore int         `json:"explore,omitempty"`  // for training
	HeldOut int         `json:"held_out,omitempty"` // of held-out tasks
	Turns   int         `json:"turns,omitempty"`    // of these three
	Tokens  int         `json:"tokens,omitempty"`   // likewise, where a policy tells
}
