package peers_test

import (
	"fmt"
	"log"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/peers"
	"github.com/throughline-go/throughline/rl/token"
)

// score returns a trajectory of some one-token turns; the last one has the reward.
func score(group string, turns int, reward float64) rl.Trajectory {
	t := rl.Trajectory{Group: group, Turns: make([]rl.Turn, turns)}
	for k := range t.Turns {
		t.Turns[k].Tokens = []rl.Token{{Trainable: true}}
	}
	t.Turns[turns-1].Reward, t.Turns[turns-1].End = reward, rl.Terminated
	return t
}

func scores(group string, rewards ...float64) (batch []rl.Trajectory) {
	for _, r := range rewards {
		batch = append(batch, score(group, 1, r))
	}
	return batch
}

func grpo(o *rl.GRPOOptions) rl.Estimator {
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) { return rl.GRPO(dst, batch, o) }
}

func gae(o *token.GAEOptions) rl.Estimator {
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) { return token.GAE(dst, batch, o) }
}

// Presets give the numbers of the frameworks on small batches.
func TestPresets(t *testing.T) {
	rloo := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		return rl.RLOO(dst, batch, peers.VerlRLOO())
	}
	gigpo := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		return rl.GiGPO(dst, batch, peers.VerlAgentGiGPO())
	}
	ppo := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		return token.PPOPublished(dst, batch, peers.VerlAgentPPO())
	}
	plusPlus := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		return token.ReinforcePP(dst, batch, peers.VerlReinforcePP())
	}
	sb3 := func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		return rl.TurnGAE(dst, batch, peers.StableBaselines3GAE())
	}
	noStd := peers.VerlGRPO()
	noStd.Norm.Std = rl.StdNone
	trlBatch := peers.TRLGRPO()
	trlBatch.Scope = rl.ScopeGroupMeanBatchStd

	masked := score("", 1, 1)
	masked.Turns[0].Tokens = nil
	for j, v := range []float64{.5, .6, 9, 9, .7, .8} {
		masked.Turns[0].Tokens = append(masked.Turns[0].Tokens, rl.Token{Trainable: j != 2 && j != 3, Value: v})
	}
	cut := rl.Trajectory{FinalValue: new(.9), Turns: make([]rl.Turn, 3)}
	for k := range cut.Turns {
		cut.Turns[k] = rl.Turn{Value: .5, Tokens: []rl.Token{{Trainable: true}}}
	}
	cut.Turns[2].End = rl.Truncated
	a, b := score("", 1, 1), score("", 1, 0)
	a.Turns[0].Tokens = make([]rl.Token, 2)
	b.Turns[0].Tokens = make([]rl.Token, 3)
	for j := range a.Turns[0].Tokens {
		a.Turns[0].Tokens[j].Trainable = true
	}
	for j := range b.Turns[0].Tokens {
		b.Turns[0].Tokens[j].Trainable = true
	}
	pair := 2 * math.Sqrt(.5) // distance of [1, 0] after the sample deviation

	tests := []struct {
		name   string
		e      rl.Estimator
		batch  []rl.Trajectory
		want   []float64
		reason string
	}{
		{"verl GRPO", grpo(peers.VerlGRPO()), scores("a", 1, 1, 1, 0, 0, 0, 0, 0),
			[]float64{1.2076, 1.2076, 1.2076, -.7246, -.7246, -.7246, -.7246, -.7246}, "sample deviation .5175"},
		{"verl GRPO, alone", grpo(peers.VerlGRPO()), scores("a", .7), []float64{.7}, "the raw score"},
		{"Dr. GRPO", grpo(noStd), scores("a", 1, 1, 1, 0, 0, 0, 0, 0),
			[]float64{.625, .625, .625, -.375, -.375, -.375, -.375, -.375}, "no deviation"},
		{"verl GRPO, eps", grpo(peers.VerlGRPO()), scores("a", 1, 0), []float64{.70710578, -.70710578}, "1e-6"},
		{"TRL, eps", grpo(peers.TRLGRPO()), scores("a", 1, 0), []float64{.7070068, -.7070068}, "1e-4"},
		{"TRL, alone", grpo(peers.TRLGRPO()), scores("a", .7), []float64{0}, "0"},
		{"TRL, batch", grpo(trlBatch), append(scores("a", 1, 0), scores("b", 5, 4)...),
			[]float64{.5 / 2.380576, -.5 / 2.380576, .5 / 2.380576, -.5 / 2.380576}, "sample deviation of 1, 0, 5, 4 is 2.380476, and 1e-4"},
		{"OpenRLHF GRPO", grpo(peers.OpenRLHFGRPO()), scores("a", 1, 0), []float64{.7071067802, -.7071067802}, "1e-9"},
		{"verl RLOO", rloo, scores("a", 1, 1, 0), []float64{.5, .5, -1}, "mean of the others"},
		{"verl RLOO, alone", rloo, scores("a", 4), []float64{4}, "the raw score, not 0 as in rloo_vectorized"},
		{"verl-agent GRPO", grpo(peers.VerlAgentGRPO()), []rl.Trajectory{score("a", 2, 10), score("a", 8, 0)},
			[]float64{1.897366, 1.897366, -.474342, -.474342, -.474342, -.474342, -.474342, -.474342, -.474342, -.474342}, "10 rows of mean 2"},
		{"verl-agent GiGPO", gigpo, []rl.Trajectory{score("a", 2, 10), score("a", 8, 0)},
			[]float64{1.897366, 1.897366, -.474342, -.474342, -.474342, -.474342, -.474342, -.474342, -.474342, -.474342},
			"the same and no shared states"},
		{"verl-agent GiGPO, alone", gigpo, scores("a", .7), []float64{.7}, "the raw score, and nothing for the state"},
		{"verl GAE", gae(peers.VerlGAE()), []rl.Trajectory{masked}, white(.5, .4, .3, .2), "gamma and lambda 1: 1 - V, whitened"},
		{"verl REINFORCE++", plusPlus, []rl.Trajectory{a, b}, []float64{1.095445, 1.095445, -.730297, -.730297, -.730297}, "sample deviation"},
		{"OpenRLHF GAE", gae(peers.OpenRLHFGAE()), []rl.Trajectory{a, b}, []float64{1.224745, 1.224745, -.816497, -.816497, -.816497},
			"population deviation"},
		{"verl-agent PPO", ppo, scores("a", 1, 0), []float64{pair / 2, -pair / 2}, "scores less values of 0"},
		{"SB3", sb3, []rl.Trajectory{cut}, white(.3362, .3627, .391), "the final value after a limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := tt.e(nil, tt.batch)
			if err != nil {
				t.Fatal(err)
			}
			margin := cmpopts.EquateApprox(0, 5.1e-5)
			if tt.name == "verl GRPO, eps" || tt.name == "TRL, eps" || tt.name == "OpenRLHF GRPO" {
				margin = cmpopts.EquateApprox(0, 5.1e-8) // told apart by their eps alone
			}
			if tt.name == "SB3" {
				margin = cmpopts.EquateApprox(0, 5e-3) // of numbers with four decimals that differ by .027
			}
			if diff := cmp.Diff(tt.want, c.TokenAdvantages(nil, tt.batch), margin); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
	if _, err := rl.GRPO(nil, scores("a", 1), peers.OpenRLHFGRPO()); err == nil {
		t.Error("OpenRLHF: a group of one is accepted")
	}
}

// white returns x after the sample deviation, eps left out.
func white(x ...float64) []float64 {
	var mean, sq float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sq += (v - mean) * (v - mean)
	}
	for i := range x {
		x[i] = (x[i] - mean) / math.Sqrt(sq/float64(len(x)-1))
	}
	return x
}

// The same two scores in three frameworks, told apart by what keeps the divisor away from 0.
func Example() {
	batch := scores("a", 1, 0)
	for _, f := range []struct {
		name string
		o    *rl.GRPOOptions
	}{{"verl", peers.VerlGRPO()}, {"TRL", peers.TRLGRPO()}, {"OpenRLHF", peers.OpenRLHFGRPO()}, {"verl-agent", peers.VerlAgentGRPO()}} {
		c, err := rl.GRPO(nil, batch, f.o)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %.7f\n", f.name, c.Advantage[0])
	}
	rloo, err := rl.RLOO(nil, batch, peers.VerlRLOO())
	if err != nil {
		log.Fatal(err)
	}
	gigpo, err := rl.GiGPO(nil, batch, peers.VerlAgentGiGPO())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("RLOO %v, GiGPO %.7f\n", rloo.Advantage[0], gigpo.Advantage[0])
	// Output:
	// verl 0.7071058
	// TRL 0.7070068
	// OpenRLHF 0.7071068
	// verl-agent 0.7071058
	// RLOO 1, GiGPO 0.7071058
}

// A batch of one trajectory in four frameworks, over tokens and over turns.
func Example_critics() {
	batch := scores("a", 1, 0, 0)
	for _, f := range []struct {
		name string
		e    rl.Estimator
	}{
		{"verl GAE", gae(peers.VerlGAE())},
		{"OpenRLHF GAE", gae(peers.OpenRLHFGAE())},
		{"verl REINFORCE++", func(dst *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) {
			return token.ReinforcePP(dst, b, peers.VerlReinforcePP())
		}},
		{"verl-agent PPO", func(dst *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) {
			return token.PPOPublished(dst, b, peers.VerlAgentPPO())
		}},
		{"SB3 GAE", func(dst *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) {
			return rl.TurnGAE(dst, b, peers.StableBaselines3GAE())
		}},
	} {
		c, err := f.e(nil, batch)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %.4f\n", f.name, c.TokenAdvantages(nil, batch))
	}
	// Output:
	// verl GAE [1.1547 -0.5774 -0.5774]
	// OpenRLHF GAE [1.4142 -0.7071 -0.7071]
	// verl REINFORCE++ [1.1547 -0.5774 -0.5774]
	// verl-agent PPO [1.1547 -0.5774 -0.5774]
	// SB3 GAE [1.1547 -0.5774 -0.5774]
}
