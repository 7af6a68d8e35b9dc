package train

import (
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/token"
)

// Values says where the values come from that an algorithm's credit reads, and what is trained to predict them.
type Values uint8

// The sources of values.
const (
	NoValues     Values = iota // none: groups, or returns alone
	SharedValues               // read off two reserved entries of the policy's own vocabulary, as SAPO does: needs an [rl.LogitModel]
	TurnCritic                 // a critic apart, read at the end of each turn's context
	TokenCritic                // a critic apart, read before each token of each response
)

// An Algorithm is a method of credit with the loss and the amount of rollouts that go with it. Those of [Algorithms] can be changed field by
// field; an algorithm of the caller's own needs Name, Credit, Tasks and Rollouts.
type Algorithm struct {
	Name     string
	About    string       // one line: what it is, and whose
	Credit   rl.Estimator // turns into advantages and targets; safe for concurrent use
	Values   Values
	NoQ      bool // with SharedValues: V alone is trained
	TurnLoss bool // one ratio for each turn, as in GAGPO; else the clipped loss of PPO for each token
	// Loss, if not nil, is the policy loss instead, such as loss.CISPO with its options bound. It is called for the tokens of one turn at a time,
	// with their weights in the mini-batch, 0 for those that do not count, and sets grad to the derivative with respect to b.LogProb; and by New
	// for none, with a nil grad, for the sake of its error. b.RefLogProb is empty: the divergence is added apart. It must be safe for concurrent use.
	// With SharedValues, whose loss is that of PPO, and with TurnLoss it must be nil.
	Loss func(grad []float64, b loss.Batch) (float64, loss.Stats, error)
	// Aggregation is that of the policy loss; with SharedValues it must be TokenMean. A sequence is a turn, and its length, where one is
	// needed, is MaxResponse.
	Aggregation loss.Aggregation
	// Bootstraps says that Credit reads the value of the state after an episode that a limit cut off (Trajectory.FinalValue).
	Bootstraps bool
	Tasks      int // drawn for each iteration,
	Rollouts   int // and episodes of each, which make a group

	penalised func(penalty *float64) rl.Estimator // Credit with another penalty of invalid turns; nil if it is the caller's own
}

// with sets Credit to an estimator whose options are made for a penalty of invalid turns, nil meaning its default.
func (a Algorithm) with(penalised func(penalty *float64) rl.Estimator) Algorithm {
	a.penalised, a.Credit = penalised, penalised(nil)
	return a
}

// bind fixes the options of an estimator.
func bind[O any](credit func(*rl.Credit, []rl.Trajectory, *O) (*rl.Credit, error), o O) rl.Estimator {
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) { return credit(dst, batch, &o) }
}

// Algorithms returns the algorithms, in a fixed order, with the defaults of their estimators. The numbers of tasks and rollouts are those of
// the papers of SAPO, 128 single rollouts, and MileGPO, 16 groups of 8.
//
// graphgpo and milegpo, and less so gigpo and gagpo, live on states that several rollouts meet. Those that rollout.Collect makes by default
// never meet again on two routes: set Options.Rollout.States, to rollout.ShownTexts where the text holds the whole state.
//
// Estimators subtract 0.1 for an invalid turn unless Options.InvalidPenalty says otherwise. Where scores are divided by their deviation in a group,
// a group in which nobody succeeds then learns to avoid invalid turns with all its weight, and in worlds that refuse much little else.
func Algorithms() []Algorithm {
	singles := func(a Algorithm) Algorithm { a.Tasks, a.Rollouts = 128, 1; return a }
	groups := func(a Algorithm) Algorithm { a.Tasks, a.Rollouts = 16, 8; return a }
	return []Algorithm{
		singles(Algorithm{Name: "sapo", About: "turn-level GAE, V and Q read off the policy's own vocabulary (arXiv:2608.19842)", Values: SharedValues}).with(
			func(p *float64) rl.Estimator { return bind(rl.SAPO, rl.TurnGAEOptions{InvalidPenalty: p}) }),
		singles(Algorithm{Name: "ppo", About: "turn-level GAE with a critic apart (ours)", Values: TurnCritic, Bootstraps: true}).with(
			func(p *float64) rl.Estimator { return bind(rl.TurnGAE, rl.TurnGAEOptions{InvalidPenalty: p}) }),
		singles(Algorithm{Name: "ppo-published", About: "the score of the episode less a token's value, a critic apart, as in verl-agent", Values: TokenCritic}).with(
			func(p *float64) rl.Estimator {
				return bind(token.PPOPublished, token.PPOPublishedOptions{InvalidPenalty: p})
			}),
		singles(Algorithm{Name: "ppo-shared", About: "turn-level GAE, V read off the policy's own vocabulary, no Q (ours)", Values: SharedValues, NoQ: true,
			Bootstraps: true}).with(func(p *float64) rl.Estimator { return bind(rl.TurnGAE, rl.TurnGAEOptions{InvalidPenalty: p}) }),
		groups(Algorithm{Name: "grpo", About: "scores normalised in their group (arXiv:2402.03300)"}).with(
			func(p *float64) rl.Estimator { return bind(rl.GRPO, rl.GRPOOptions{InvalidPenalty: p}) }),
		groups(Algorithm{Name: "drgrpo", About: "scores centred in their group, sums over tokens (arXiv:2503.20783)", Aggregation: loss.SeqMeanTokenSumNorm}).with(
			func(p *float64) rl.Estimator {
				return bind(rl.GRPO, rl.GRPOOptions{InvalidPenalty: p, Norm: rl.Norm{Std: rl.StdNone}})
			}),
		groups(Algorithm{Name: "rloo", About: "scores less the mean of the others in the group (arXiv:2402.14740)"}).with(
			func(p *float64) rl.Estimator { return bind(rl.RLOO, rl.RLOOOptions{InvalidPenalty: p}) }),
		singles(Algorithm{Name: "reinforce++", About: "returns normalised over the batch (arXiv:2501.03262)"}).with(
			func(p *float64) rl.Estimator {
				return bind(token.ReinforcePP, token.ReinforcePPOptions{InvalidPenalty: p})
			}),
		groups(Algorithm{Name: "gigpo", About: "groups of scores and of returns from equal states (arXiv:2505.10978)"}).with(
			func(p *float64) rl.Estimator { return bind(rl.GiGPO, rl.GiGPOOptions{InvalidPenalty: p}) }),
		groups(Algorithm{Name: "graphgpo", About: "distances to success in the graph of states (arXiv:2605.26684)"}).with(
			func(p *float64) rl.Estimator { return bind(rl.GraphGPO, rl.GraphGPOOptions{InvalidPenalty: p}) }),
		groups(Algorithm{Name: "milegpo", About: "milestones in the graph of states, preset ALFWorld (arXiv:2608.19803)"}).with(
			func(p *float64) rl.Estimator {
				return bind(rl.MileGPO, rl.MileGPOOptions{GraphGPOOptions: rl.GraphGPOOptions{InvalidPenalty: p}})
			}),
		groups(Algorithm{Name: "milegpo-webshop", About: "the same, preset WebShop"}).with(
			func(p *float64) rl.Estimator {
				o := *rl.MileGPOWebShop()
				o.InvalidPenalty = p
				return bind(rl.MileGPO, o)
			}),
		groups(Algorithm{Name: "gagpo", About: "values of states estimated from the group, one ratio a turn (arXiv:2605.13217)", TurnLoss: true,
			Aggregation: loss.TurnMeanTokenMean}).with(func(p *float64) rl.Estimator { return bind(rl.GAGPO, rl.GAGPOOptions{InvalidPenalty: p}) }),
	}
}

// Find returns the algorithm of a name, or an error that lists the names.
func Find(name string) (Algorithm, error) {
	var names []string
	for _, a := range Algorithms() {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Algorithm{}, fmt.Errorf("train: no algorithm %q, want one of %s", name, strings.Join(names, ", "))
}
