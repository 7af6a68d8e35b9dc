package grounded

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/simulate"
)

// Options adjusts [Plan] and a [Generator]. A nil *Options equals &Options{}. All defaults are ours: MidTool does not
// disclose its numbers.
type Options struct {
	Seed uint64 // of every random choice

	MinScore           *int // score in [0, 10000] from which a document gets questions; nil means 5000
	MinTrajectoryScore *int // score in [0, 10000] from which it gets conversations too; nil means 7000
	MinTokens          *int // length of a document that gets anything; nil means 64
	Percent            *int // augmentation in percent of the document's tokens at a score of 10000, in [0, 10000]; nil means 150
	Cap                *int // most tokens of augmentation for a document; nil means 4096

	CostQA         int // tokens set aside for a question; zero means 160
	CostTrajectory int // tokens set aside for a conversation of one turn; zero means 350
	CostChain      int // tokens set aside for one of several turns; zero means 900
	MaxTokens      int // largest sample in [midtool.Findings] Tokens, at least 256; zero means 8192

	// Tokens is the length of a sample in the corpus, which budgets are counted in. It must be safe for concurrent use. Nil means
	// [midtool.ApproxTokens] of [format.Plain].
	Tokens func(*midtool.Sample) int

	// Executor answers the calls; nil means a [simulate.World] under Seed. Answers of package simulate are executed once
	// more for every sample and must be the same again, those of a caller's own with Replay alone.
	Executor midtool.Executor
	Replay   bool

	// Teacher rewrites the words of samples, as in package native; nil leaves them to the templates. What it writes passes the
	// same checks; what was decided before stays.
	Teacher  midtool.Generator
	Attempts int    // answers of Teacher for a sample before it is dropped, 1 to 10; zero means 3
	Answers  string // file that keeps the answers of Teacher by prompt, for later runs; empty means none
}

// settings are options with their defaults.
type settings struct {
	Options
	minScore, minTrajectory, minTokens, percent, cap int
}

func (o *Options) withDefaults() (settings, error) {
	var s settings
	if o != nil {
		s.Options = *o
	}
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("grounded: Options."+format, args...))
	}
	for _, n := range []struct {
		name    string
		given   *int
		value   *int
		or, max int
	}{
		{"MinScore", s.MinScore, &s.minScore, 5000, 10000}, {"MinTrajectoryScore", s.MinTrajectoryScore, &s.minTrajectory, 7000, 10000},
		{"MinTokens", s.MinTokens, &s.minTokens, 64, maxTokens}, {"Percent", s.Percent, &s.percent, 150, 10000},
		{"Cap", s.Cap, &s.cap, 4096, maxTokens},
		{"CostQA", &s.CostQA, &s.CostQA, 0, maxTokens}, {"CostTrajectory", &s.CostTrajectory, &s.CostTrajectory, 0, maxTokens},
		{"CostChain", &s.CostChain, &s.CostChain, 0, maxTokens}, {"Attempts", &s.Attempts, &s.Attempts, 0, 10},
	} {
		if n.given == nil {
			*n.value = n.or
			continue
		}
		*n.value = *n.given
		if *n.value < 0 || *n.value > n.max {
			bad("%s %d is outside [0, %d]", n.name, *n.value, n.max)
		}
	}
	if s.MaxTokens != 0 && s.MaxTokens < 256 {
		bad("MaxTokens %d is below 256", s.MaxTokens)
	}
	if s.Answers != "" && s.Teacher == nil {
		bad("Answers %q without a Teacher", s.Answers)
	}
	if len(errs) > 0 {
		return s, errors.Join(errs...)
	}
	s.CostQA = cmp.Or(s.CostQA, 160)
	s.CostTrajectory = cmp.Or(s.CostTrajectory, 350)
	s.CostChain = cmp.Or(s.CostChain, 900)
	s.MaxTokens = cmp.Or(s.MaxTokens, 8192)
	s.Attempts = cmp.Or(s.Attempts, 3)
	if s.Tokens == nil {
		s.Tokens = plainTokens
	}
	switch s.Executor.(type) {
	case nil:
		s.Executor, s.Replay = simulate.NewWorld(s.Seed), true
	case *simulate.World, *simulate.Schema:
		s.Replay = true
	}
	return s, nil
}

// maxTokens bounds lengths, so that products of them are no overflow.
const maxTokens = 1 << 30

func plainTokens(s *midtool.Sample) int {
	text, err := format.Plain(&format.Record{Sample: s})
	if err != nil {
		return maxTokens // it has no place in a corpus
	}
	return midtool.ApproxTokens(text.Text)
}
