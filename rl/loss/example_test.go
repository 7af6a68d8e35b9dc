package loss_test

import (
	"fmt"
	"log"
	"math"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// rollout returns a trajectory of one-token turns with the given rewards.
func rollout(group string, rewards ...float64) rl.Trajectory {
	t := rl.Trajectory{Group: group}
	for _, r := range rewards {
		t.Turns = append(t.Turns, rl.Turn{Reward: r, Tokens: []rl.Token{{Trainable: true, LogProb: -0.7}}})
	}
	t.Turns[len(t.Turns)-1].End = rl.Terminated
	return t
}

// From rollouts to credit and the gradient of the loss with respect to the log-probability of each token. The last rollout
// broke: it stays in the batch, and its token has weight 0.
func Example() {
	batch := []rl.Trajectory{rollout("task 1", 0, 1), rollout("task 1", 0, 0, 0), rollout("task 1", 0)}
	batch[2].Excluded = "the tool server was down"
	credit, err := rl.GRPO(nil, batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	b, err := loss.NewBatch(nil, batch, credit, nil)
	if err != nil {
		log.Fatal(err)
	}
	// Here b.LogProb gets the log-probabilities under the model being trained. It has not moved yet, so they are the old ones.
	grad := make([]float64, len(b.LogProb))
	value, stats, err := loss.PPO(grad, *b, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f over %d tokens\n", value, stats.Tokens)
	fmt.Printf("gradient %.4f\n", grad)
	// Output:
	// loss 0.1414 over 5 tokens
	// gradient [-0.1414 -0.1414 0.1414 0.1414 0.1414 0.0000]
}

// two returns two tokens with advantage 1: the ratio of the first is 1.1, that of the second 1.5.
func two() loss.Batch {
	return loss.Batch{
		LogProb:    []float64{-1 + math.Log(1.1), -1 + math.Log(1.5)},
		OldLogProb: []float64{-1, -1},
		Advantage:  []float64{1, 1},
	}
}

func ExamplePPO() {
	grad := make([]float64, 2)
	value, stats, err := loss.PPO(grad, two(), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.3f, gradient %.3f, clipped %.2f, effective sample size %.3f\n", value, grad, stats.ClipFraction, stats.ESS)
	// Output:
	// loss -1.150, gradient [-0.550 0.000], clipped 0.50, effective sample size 0.977
}

// Both tokens are one turn, whose ratio is the geometric mean.
func ExampleTurnRatio() {
	grad := make([]float64, 2)
	value, _, err := loss.TurnRatio(grad, two(), []int{0, 0}, &loss.TurnRatioOptions{ClipHigh: 0.3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.3f, gradient %.3f\n", value, grad)
	// Output:
	// loss -1.285, gradient [-0.642 -0.642]
}

func ExampleTurns() {
	fmt.Println(loss.Turns(nil, []rl.Trajectory{rollout("a", 0, 1), rollout("a", 1)}))
	// Output:
	// [0 1 2]
}

func ExampleCISPO() {
	grad := make([]float64, 2)
	if _, _, err := loss.CISPO(grad, two(), nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("gradient %.3f\n", grad) // the second token keeps one
	// Output:
	// gradient [-0.550 -0.600]
}

func ExampleReinforce() {
	grad := make([]float64, 2)
	value, err := loss.Reinforce(grad, loss.Batch{LogProb: []float64{-1, -2}, Advantage: []float64{1, -1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(value, grad)
	// Output:
	// -0.5 [-0.5 0.5]
}

func ExampleSoftGate() {
	grad := make([]float64, 2)
	if _, _, err := loss.SoftGate(grad, two(), nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("gradient %.3f\n", grad)
	// Output:
	// gradient [-0.549 -0.705]
}

func ExampleKL() {
	b := loss.Batch{
		LogProb:    []float64{-1, -1, -1},
		RefLogProb: []float64{-1, -0.5, -700},
		Weight:     []float64{0.5, 0.5, 0}, // the last one is not read
	}
	for _, kind := range []loss.KLKind{loss.KL3, loss.KL1, loss.KL3Plus} {
		grad := make([]float64, 3)
		value, err := loss.KL(grad, b, kind)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v: %.4f, gradient %.4f\n", kind, value, grad)
	}
	// Output:
	// k3: 0.0744, gradient [0.0000 -0.3244 0.0000]
	// k1: -0.2500, gradient [0.5000 0.5000 0.0000]
	// k3+: 0.0744, gradient [0.0000 -0.2500 0.0000]
}

func ExampleKLKind_String() {
	fmt.Println(loss.KLAbsPlus.String())
	// Output:
	// abs+
}

func ExampleKLKind_MarshalText() {
	text, err := loss.KL2.MarshalText()
	fmt.Println(string(text), err)
	// Output:
	// k2 <nil>
}

func ExampleKLKind_UnmarshalText() {
	var k loss.KLKind
	err := k.UnmarshalText([]byte("k1+"))
	fmt.Println(k == loss.KL1Plus, err)
	// Output:
	// true <nil>
}

func ExampleAggregation_String() {
	fmt.Println(loss.SeqMeanTokenSumNorm.String())
	// Output:
	// seq-mean-token-sum-norm
}

func ExampleAggregation_MarshalText() {
	text, err := loss.TokenMean.MarshalText()
	fmt.Println(string(text), err)
	// Output:
	// token-mean <nil>
}

func ExampleAggregation_UnmarshalText() {
	var a loss.Aggregation
	err := a.UnmarshalText([]byte("mean"))
	fmt.Println(err != nil)
	// Output:
	// true
}

func ExampleKLController_Update() {
	c := loss.KLController{Beta: 0.01, Adaptive: true, Target: 0.01}
	for _, kl := range []float64{0.03, 0.009} {
		if err := c.Update(kl, 128); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.7f\n", c.Beta)
	}
	// Output:
	// 0.0100256
	// 0.0100128
}

func ExampleValue() {
	grad := make([]float64, 2)
	b := loss.ValueBatch{
		Value:  []float64{0.5, 0.15},
		Old:    []float64{0.1, 0.1},
		Target: []float64{0.8, 0.8},
	}
	value, stats, err := loss.Value(grad, b, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f, gradient %.4f, clipped %.1f\n", value, grad, stats.Clipped)
	// Output:
	// loss 0.1681, gradient [0.0000 -0.3250], clipped 0.5
}

// head reads a vocabulary of six, whose last two entries hold the value.
var (
	head   = loss.Head{Plus: 4, Minus: 5, Tau: 2}
	logits = []float64{1, 0, 0, -1, 1.2, 0.4}
)

func ExampleHead_LogProb() {
	dz := make([]float64, 6)
	l, err := head.LogProb(dz, logits, 0, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f, gradient %.4f\n", l, dz)
	// Output:
	// -0.6265, gradient [0.4656 -0.1966 -0.1966 -0.0723 0.0000 0.0000]
}

func ExampleHead_Entropy() {
	h, err := head.Entropy(nil, logits, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f nats\n", h)
	// Output:
	// 1.1644 nats
}

func ExampleHead_KL() {
	kl, err := head.KL(nil, logits, []float64{0, 0, 0, 0, 9, -9}, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f nats from uniform\n", kl)
	// Output:
	// 0.2219 nats from uniform
}

func ExampleHead_Value() {
	for _, z := range [][]float64{logits, {0, 0, 0, 0, 3, 0}} {
		dz := make([]float64, 6)
		p, saturated, err := head.Value(dz, z, 1)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.1f, saturated %v, gradient %.1f\n", p, saturated, dz[4:])
	}
	// Output:
	// 0.4, saturated false, gradient [0.5 -0.5]
	// 1.0, saturated true, gradient [0.0 0.0]
}

// A service has log-probabilities over all of the vocabulary: .4 for the action, and .3 and .1 for the reserved entries.
func ExampleHead_FromFull() {
	l, p, err := head.FromFull(math.Log(0.4), math.Log(0.3), math.Log(0.1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("probability %.4f, value %.4f\n", math.Exp(l), p)
	// Output:
	// probability 0.6667, value 0.5493
}

func ExampleHead_FullWeights() {
	action, plus, minus, err := head.FullWeights(math.Log(0.3), math.Log(0.1), -1, 0.2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f %.4f %.4f\n", action, plus, minus)
	// Output:
	// -1.0000 -0.4000 -0.2667
}

func ExampleCalibrateTau() {
	tau, err := loss.CalibrateTau([]float64{0.3, -1.2, 0.8})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tau)
	// Output:
	// 2.4
}

// One turn with one response token, whose value is read at the same place; Q is read after it.
func ExampleSAPO() {
	turns := []loss.SAPOTurn{{
		Logits: [][]float64{logits}, After: []float64{0, 0, 0, 0, 0.5, 0},
		Actions: []int{0}, OldLogProb: []float64{-0.6265}, RefLogProb: []float64{-0.6265},
		Advantage: 1, OldV: 4, TargetV: 8, OldQ: 2.5, TargetQ: 12.5, // in units of reward
	}}
	grad := loss.NewSAPOGrad(turns)
	value, stats, err := loss.SAPO(grad, turns, &loss.SAPOOptions{Head: head})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f: policy %.2f, V %.4f, Q %.3f, entropy %.4f\n", value, stats.PolicyLoss, stats.ValueLoss, stats.QLoss, stats.Entropy)
	fmt.Printf("gradient %.4f\n", grad[0].Logits[0])
	fmt.Printf("and after %.4f, %d target clipped\n", grad[0].After, stats.Q.OutOfRange)
	// Output:
	// loss -0.8205: policy -1.00, V 0.0800, Q 0.281, entropy 1.1644
	// gradient [-0.4653 0.1965 0.1965 0.0722 -0.1000 0.1000]
	// and after [0.0000 0.0000 0.0000 0.0000 -0.1875 0.1875], 1 target clipped
}

// Denominators of a step whose parts run one by one.
func ExampleCountSAPO() {
	turns := []loss.SAPOTurn{{Actions: []int{1, 2}}, {Actions: []int{3}, NoQ: true}}
	fmt.Printf("%+v\n", loss.CountSAPO(turns))
	// Output:
	// {Tokens:3 V:2 Q:1}
}

func ExampleWeights() {
	batch := []rl.Trajectory{rollout("a", 1), rollout("a", 0, 0, 0)}
	credit, err := rl.GRPO(nil, batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, mode := range []loss.Aggregation{loss.TokenMean, loss.SeqMeanTokenMean} {
		w, err := loss.Weights(nil, batch, credit, &loss.WeightOptions{Aggregation: mode})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.3f\n", w)
	}
	// Output:
	// [0.250 0.250 0.250 0.250]
	// [0.500 0.167 0.167 0.167]
}

// The second turn is excluded, and an observation follows the first response.
func ExampleNewBatch() {
	t := rollout("a", 0, 0, 1)
	t.Turns[0].Tokens = []rl.Token{{ID: 8}, {ID: 3, Trainable: true, LogProb: -0.5, RefLogProb: -0.4}, {ID: 9}}
	t.Turns[1].Excluded = true
	batch := []rl.Trajectory{t, rollout("a", 0)}
	credit, err := rl.GRPO(nil, batch, &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}})
	if err != nil {
		log.Fatal(err)
	}
	b, err := loss.NewBatch(nil, batch, credit, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("OldLogProb", b.OldLogProb)
	fmt.Println("RefLogProb", b.RefLogProb)
	fmt.Println("Advantage ", b.Advantage)
	fmt.Printf("Weight     %.2f\n", b.Weight)
	// Output:
	// OldLogProb [-0.5 -0.7 -0.7 -0.7]
	// RefLogProb [-0.4 0 0 0]
	// Advantage  [0.5 0 0.5 -0.5]
	// Weight     [0.33 0.00 0.33 0.33]
}

func ExampleTurnWeights() {
	batch := []rl.Trajectory{rollout("a", 0, 1), rollout("a", 1)}
	batch[0].Turns[0].Excluded = true
	credit, err := rl.TurnGAE(nil, batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	w, err := loss.TurnWeights(nil, batch, credit)
	fmt.Println(w, err)
	// Output:
	// [0 0.5 0.5] <nil>
}

// The value loss of a critic of turns, here one that still predicts what it did at collection.
func ExampleNewValueBatch() {
	batch := []rl.Trajectory{rollout("a", 0, 1), rollout("a", 0)}
	credit, err := rl.TurnGAE(nil, batch, &rl.TurnGAEOptions{Gamma: new(0.5)})
	if err != nil {
		log.Fatal(err)
	}
	b, err := loss.NewValueBatch(nil, batch, credit)
	if err != nil {
		log.Fatal(err)
	}
	grad := make([]float64, len(b.Value))
	value, _, err := loss.Value(grad, *b, &loss.ValueOptions{Clip: new(0.0)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("targets %.3f, loss %.3f, gradient %.3f\n", b.Target, value, grad)
	// Output:
	// targets [0.475 1.000 0.000], loss 0.204, gradient [-0.158 -0.333 0.000]
}

// From rollouts to the turns of the joint loss. The caller fills in the logits.
func ExampleSAPOTurns() {
	t := rollout("", 10)
	t.Turns[0].Tokens = []rl.Token{{ID: 2}, {ID: 0, Trainable: true, LogProb: -0.6265, RefLogProb: -0.6265}, {ID: 3}}
	t.Turns[0].Value, t.Turns[0].QValue = 4, 2.5
	batch := []rl.Trajectory{t}
	credit, err := rl.SAPO(nil, batch, &rl.TurnGAEOptions{Norm: rl.Norm{Std: rl.StdOff}})
	if err != nil {
		log.Fatal(err)
	}
	turns, err := loss.SAPOTurns(nil, batch, credit)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("actions %v, advantage %v, V from %v to %v\n", turns[0].Actions, turns[0].Advantage, turns[0].OldV, turns[0].TargetV)
	turns[0].Logits = [][]float64{logits} // that predict the token 0
	turns[0].After = []float64{0, 0, 0, 0, 0.5, 0}
	grad := loss.NewSAPOGrad(turns)
	value, _, err := loss.SAPO(grad, turns, &loss.SAPOOptions{Head: head})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f, gradient %.4f\n", value, grad[0].Logits[0])
	// Output:
	// actions [0], advantage 6, V from 4 to 10
	// loss -5.7704, gradient [-2.7930 1.1796 1.1796 0.4339 -0.1500 0.1500]
}

func ExampleNewSAPOGrad() {
	grad := loss.NewSAPOGrad([]loss.SAPOTurn{{Logits: [][]float64{{1, 2, 3}, {4, 5, 6}}, After: []float64{7, 8, 9}}})
	fmt.Println(grad)
	// Output:
	// [{[[0 0 0] [0 0 0]] [0 0 0]}]
}
