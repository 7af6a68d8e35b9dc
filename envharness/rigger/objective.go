package rigger

import "github.com/throughline-go/throughline/envharness/components"

// An Objective says what a reshaped task is good for. [Difficulty] is the default; [RedTeam], [Learnability] and [Regret] are others.
type Objective interface {
	// Place says where a candidate stands. It must depend on the measure alone.
	Place(m Measure) Placement
	// Score orders accepted candidates, the larger the better.
	Score(m Measure) float64
	// String is the objective in words, for designers and records.
	String() string
}

// A Measure is what is known of a candidate: counts of rollouts, those of infrastructure left out.
type Measure struct {
	Confirmed bool                 // the counts are those of a confirmation, not of a screening
	Level     float64              // of the interval that a confirmation is to use: 1 - alpha/attempts
	Direction components.Direction // Harder or Easier
	Baseline  Tally                // the policy on the unmodified task
	Counts    Tally                // the policy behind the candidate
	Reference Tally                // the reference policy behind the candidate; zero without one
}

// A Placement is where a candidate stands.
type Placement int8

// The placements.
const (
	TooHard Placement = iota - 1
	Within
	TooEasy
)

// A Tally counts rollouts that could be judged.
type Tally struct {
	Pass  int `json:"pass"`
	Valid int `json:"valid"`
}
