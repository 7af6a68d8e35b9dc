package grounded

import (
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/midtool/internal/draw"
)

// A Tier is what a document is good for.
type Tier string

// The tiers.
const (
	TierText       Tier = "source" // the text alone
	TierQA         Tier = "qa"     // text, questions and answers
	TierTrajectory Tier = "traj"   // and conversations with calls
)

// Kinds of items: conversations, then questions. Some are also names of features of a corpus; see [Plan].
const (
	chainKind         = "chain"
	singleKind        = "single"
	parallelKind      = "parallel"
	clarificationKind = "clarification"
	longContextKind   = "long_context"
)

var (
	trajectoryKinds = [...]string{singleKind, parallelKind, clarificationKind, longContextKind}
	questionKinds   = [...]string{"tool_selection", "argument_extraction", "workflow_recognition", "prerequisite", "output_use", "error_reading"}
)

// asksAbout are the features of which a document must have one for a kind of question.
var asksAbout = map[string][]Feature{
	"tool_selection": {Endpoint, Command, Callable}, "argument_extraction": {Param}, "workflow_recognition": {Step},
	"prerequisite": {Step, Param}, "output_use": {Endpoint, Command, Callable}, "error_reading": {ErrorRef},
}

// An Item is one piece of augmentation that is bought for a document.
type Item struct {
	Kind string // see [Plan]
	Cost int    // tokens that are set aside for it
}

// An Outline is what a document gets.
type Outline struct {
	Tier   Tier
	Budget int    // tokens; 0 for the text alone
	Items  []Item // in the order in which they are bought; their costs are at most Budget
}

// Distance from the value to the end of the conversation in a long_context sample, and the length of a document that has one.
const (
	longDistance = 1024
	longDocument = 2048
)

// Plan decides what a document of so many tokens gets. One of fewer than MinTokens or with a lower score than MinScore
// gets nothing, and is of the tier source. The budget is
//
//	min(Cap, floor(Percent tokens (Score - MinScore) / (100 (10000 - MinScore))))
//
// and below CostQA there is none. From MinTrajectoryScore, and with a tool, the tier is traj, else qa. Then items are bought
// as long as their cost is within what is left of the budget, in this order:
//
//   - traj: one chain, for CostChain, if there are 3 steps or two tools of which one feeds the other. Up to two of single,
//     parallel, clarification and long_context, for CostTrajectory each, in turn: parallel takes two tools or one with a
//     parameter, clarification a required parameter, long_context a document of 2,048 tokens with a value that stands more than
//     1,024 before the end. It shows all those tokens, so that it costs 1,024 more.
//   - tool_selection, argument_extraction, workflow_recognition, prerequisite, output_use and error_reading, for CostQA each, in
//     turn and at most twice, each only if the document has a feature that it asks about.
//
// A profile made by [Read] also says what can be asked indeed, and the turns begin at a kind drawn for the document: a small
// budget would else buy the first kinds always. The error names the options or the figures that are out of range.
func Plan(p *Profile, tokens int, o *Options) (Outline, error) {
	s, err := o.withDefaults()
	if err != nil {
		return Outline{}, err
	}
	if tokens < 0 || tokens > maxTokens {
		return Outline{}, fmt.Errorf("grounded: %d tokens, want 0 to %d", tokens, maxTokens)
	}
	if p == nil || p.Score < 0 || p.Score > 10000 {
		return Outline{}, errors.New("grounded: Plan needs a profile with a score from 0 to 10000")
	}
	return s.plan(p, newMaterial(p, tokens, &s), tokens), nil
}

// budget is what a document of so many tokens may cost.
func (s *settings) budget(score, tokens int) int {
	if tokens < s.minTokens || score < s.minScore {
		return 0
	}
	part, whole := score-s.minScore, 10000-s.minScore
	if whole == 0 {
		part, whole = 1, 1
	}
	b := min(int64(s.cap), int64(s.percent)*int64(tokens)*int64(part)/(100*int64(whole)))
	if b < int64(s.CostQA) {
		return 0
	}
	return int(b)
}

// plan buys what the material is good for.
func (s *settings) plan(p *Profile, m *material, tokens int) Outline {
	out := Outline{Tier: TierText, Budget: s.budget(p.Score, tokens)}
	if out.Budget == 0 {
		return out
	}
	left := out.Budget
	buy := func(kind string, cost int) bool {
		if cost > left {
			return false
		}
		out.Items = append(out.Items, Item{kind, cost})
		left -= cost
		return true
	}
	out.Tier = TierQA
	if p.Score >= s.minTrajectory && len(m.tools) > 0 {
		out.Tier = TierTrajectory
		if m.chains {
			buy(chainKind, s.CostChain)
		}
		bought := 0
		for i := range trajectoryKinds {
			kind, cost := trajectoryKinds[(m.turn+i)%len(trajectoryKinds)], s.CostTrajectory
			if kind == longContextKind {
				cost += longDistance
			}
			if bought < 2 && m.suits[kind] && buy(kind, cost) {
				bought++
			}
		}
	}
	for round := range 2 {
		for i := range questionKinds {
			if kind := questionKinds[(m.turn+i)%len(questionKinds)]; m.askable[kind] > round {
				buy(kind, s.CostQA)
			}
		}
	}
	return out
}

// turnOf is the kind with which a document begins.
func (s *settings) turnOf(r *reading) int {
	return draw.New(s.Seed, "grounded/turn", r.doc.ID).Pick(len(questionKinds) * len(trajectoryKinds))
}
