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
	// Aggregation is that of the policy loss; with SharedValues it must be TokenMean. A sequence is a turn, and its length, where one is
	// needed, is MaxResponse.
	Aggregation loss.Aggregation
	// Bootstraps says that Credit reads the value of the state after an episode that a limit cut off (Trajectory.FinalValue).
	Bootstraps bool
	Tasks      int // drawn for each iteration,
	Rollouts   int // and episodes of each, which make a group
}

// bind fixes the options of an estimator.
func bind[O any](credit func(*rl.Credit, []rl.Trajectory, *O) (*rl.Credit, error), o *O) rl.Estimator {
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) { return credit(dst, batch, o) }
}

// Algorithms returns the algorithms, in a fixed order, with the defaults of their estimators. The numbers of tasks and rollouts are those of
// the papers of SAPO, 128 single rollouts, and MileGPO, 16 groups of 8.
func Algorithms() []Algorithm {
	singles := func(a Algorithm) Algorithm { a.Tasks, a.Rollouts = 128, 1; return a }
	groups := func(a Algorithm) Algorithm { a.Tasks, a.Rollouts = 16, 8; return a }
	return []Algorithm{
		singles(Algorithm{Name: "sapo", About: "turn-level GAE, V and Q read off the policy's own vocabulary (arXiv:2608.19842)",
			Credit: bind(rl.SAPO, nil), Values: SharedValues}),
		singles(Algorithm{Name: "ppo", About: "turn-level GAE with a critic apart (ours)",
			Credit: bind(rl.TurnGAE, nil), Values: TurnCritic, Bootstraps: true}),
		singles(Algorithm{Name: "ppo-published", About: "the score of the episode less a token's value, a critic apart, as in verl-agent",
			Credit: bind(token.PPOPublished, nil), Values: TokenCritic}),
		singles(Algorithm{Name: "ppo-shared", About: "turn-level GAE, V read off the policy's own vocabulary, no Q (ours)",
			Credit: bind(rl.TurnGAE, nil), Values: SharedValues, NoQ: true, Bootstraps: true}),
		groups(Algorithm{Name: "grpo", About: "scores normalised in their group (arXiv:2402.03300)", Credit: bind(rl.GRPO, nil)}),
		groups(Algorithm{Name: "drgrpo", About: "scores centred in their group, sums over tokens (arXiv:2503.20783)",
			Credit: bind(rl.GRPO, &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}}), Aggregation: loss.SeqMeanTokenSumNorm}),
		groups(Algorithm{Name: "rloo", About: "scores less the mean of the others in the group (arXiv:2402.14740)", Credit: bind(rl.RLOO, nil)}),
		singles(Algorithm{Name: "reinforce++", About: "returns normalised over the batch (arXiv:2501.03262)", Credit: bind(token.ReinforcePP, nil)}),
		groups(Algorithm{Name: "gigpo", About: "groups of scores and of returns from equal states (arXiv:2505.10978)", Credit: bind(rl.GiGPO, nil)}),
		groups(Algorithm{Name: "graphgpo", About: "distances to success in the graph of states (arXiv:2605.26684)", Credit: bind(rl.GraphGPO, nil)}),
		groups(Algorithm{Name: "milegpo", About: "milestones in the graph of states, preset ALFWorld (arXiv:2608.19803)", Credit: bind(rl.MileGPO, nil)}),
		groups(Algorithm{Name: "milegpo-webshop", About: "the same, preset WebShop", Credit: bind(rl.MileGPO, rl.MileGPOWebShop())}),
		groups(Algorithm{Name: "gagpo", About: "values of states estimated from the group, one ratio a turn (arXiv:2605.13217)",
			Credit: bind(rl.GAGPO, nil), TurnLoss: true}),
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
