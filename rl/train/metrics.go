package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/rl"
)

// An Iteration is what one iteration did: number 0 is the evaluation before training and has nothing else. Means and shares of losses are over
// the mini-batches of all epochs, norms are the largest of them.
type Iteration struct {
	Number    int    `json:"iteration"`
	Algorithm string `json:"algorithm"`
	EnvSteps  int    `json:"env_steps"` // turns of training episodes so far, in all iterations
	Overshoot int    `json:"overshoot,omitempty"`

	// The episodes of the iteration.
	Episodes int     `json:"episodes,omitempty"`
	Turns    int     `json:"turns,omitempty"`
	Tokens   int     `json:"tokens,omitempty"`         // of responses
	Context  int     `json:"context_tokens,omitempty"` // that these were responses to
	Success  float64 `json:"success"`                  // share of episodes that the verifier passed, of those it could judge
	Score    float64 `json:"score"`                    // mean sum of rewards of these
	Invalid  float64 `json:"invalid"`                  // share of turns whose action could not be carried out
	Excluded int     `json:"excluded,omitempty"`       // episodes that infrastructure, or an error of the agent, spoilt

	// The update.
	Credit         *rl.Diagnostics `json:"credit,omitempty"`
	PolicyLoss     float64         `json:"policy_loss"`
	ValueLoss      float64         `json:"value_loss"`
	QLoss          float64         `json:"q_loss"`
	KL             float64         `json:"kl"` // to the reference
	Beta           float64         `json:"beta"`
	Entropy        float64         `json:"entropy"`
	ApproxKL       float64         `json:"approx_kl"` // KL(old||new), estimate k3
	MeanKL         float64         `json:"mean_kl"`   // the same, estimate k1
	ESS            float64         `json:"ess"`       // effective sample size of the ratios within a turn, as a share; mean over turns by tokens
	ClipFraction   float64         `json:"clip_fraction"`
	ZeroGradient   float64         `json:"zero_gradient"`
	SaturatedV     float64         `json:"saturated_v"`
	SaturatedQ     float64         `json:"saturated_q"` // where both are 1 no value learns (see loss.Head.Inward)
	ClippedV       float64         `json:"clipped_v"`   // share of values beyond ValueClip from the old ones
	ClippedQ       float64         `json:"clipped_q"`
	ClippedTargets int             `json:"clipped_targets,omitempty"` // beyond RMax, counted once for each epoch
	GradNorm       float64         `json:"grad_norm"`
	CriticGradNorm float64         `json:"critic_grad_norm,omitempty"`
	Rate           float64         `json:"rate"` // learning rate of the last step
	Steps          int             `json:"steps"`
	Skipped        int             `json:"skipped,omitempty"` // steps whose gradient was not finite
	StoppedEarly   bool            `json:"stopped_early,omitempty"`

	Evaluation *Evaluation `json:"evaluation,omitempty"`
	Best       bool        `json:"best,omitempty"` // the evaluation is the best so far
	// Trajectories are what was trained on, with the log-probabilities and values of the old policy. They are not in the metrics.
	Trajectories []rl.Trajectory    `json:"-"`
	Traces       []envharness.Trace `json:"-"` // of the same episodes: what was shown and done

	Done    string   `json:"done,omitempty"`    // why training ends here: "iterations", "env_steps" or "patience"
	Seconds *Seconds `json:"seconds,omitempty"` // only with Options.Clock: the one thing that differs between equal runs
}

// Seconds is the time that the phases of an iteration took.
type Seconds struct {
	Generation float64 `json:"generation"`
	LogProbs   float64 `json:"logprobs"` // of the old policy and the reference, with the values where they are read off the same pass
	Values     float64 `json:"values"`   // of a critic apart, and after cuts
	Update     float64 `json:"update"`   // credit and epochs
	Evaluation float64 `json:"evaluation,omitempty"`
}

// Training returns the time without evaluations.
func (s Seconds) Training() float64 { return s.Generation + s.LogProbs + s.Values + s.Update }

// note averages the parts of the mini-batches.
func (it *Iteration) note(parts []part) {
	it.Steps = len(parts)
	if len(parts) == 0 {
		return
	}
	all := sum(parts)
	n := float64(len(parts))
	it.PolicyLoss, it.ValueLoss, it.QLoss, it.KL, it.Entropy = all.policy/n, all.value/n, all.q/n, all.kl/n, all.entropy/n
	it.ApproxKL, it.ClipFraction, it.ZeroGradient = all.stats.ApproxKL, all.stats.ClipFraction, all.stats.ZeroGradient
	it.MeanKL, it.ESS = all.stats.MeanKL, all.stats.ESS
	it.SaturatedV, it.SaturatedQ = all.v.Saturated, all.qv.Saturated
	it.ClippedV, it.ClippedQ = all.v.Clipped, all.qv.Clipped
	it.ClippedTargets = all.v.OutOfRange + all.qv.OutOfRange
}

const maxMetricsLine = 1 << 20

// ReadMetrics reads what Options.Metrics was given: one JSON object per line, no other fields, at most 1 MiB a line. After an error, which
// names the line, the sequence ends. It can be ranged over once.
func ReadMetrics(r io.Reader) iter.Seq2[Iteration, error] {
	return jsonl.Values(r, maxMetricsLine, "train: metrics,", func(line []byte, _ int) (Iteration, error) {
		var it Iteration
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&it); err != nil {
			return it, err
		}
		if _, more := dec.Token(); more != io.EOF {
			return it, errors.New("something follows the object")
		}
		return it, nil
	})
}

// describe notes what was collected.
func (it *Iteration) describe(b *batch) {
	judged, passed, invalid := 0, 0, 0
	var score float64
	for i := range b.trajectories {
		tr := &b.trajectories[i]
		it.Turns += len(tr.Turns)
		for k := range tr.Turns {
			if tr.Turns[k].Invalid {
				invalid++
			}
		}
		if tr.Excluded != "" || tr.Success == nil {
			it.Excluded++
			continue
		}
		judged++
		score += tr.Score()
		if *tr.Success {
			passed++
		}
	}
	it.Episodes = len(b.trajectories)
	for i := range b.rows {
		it.Context += b.rows[i].Start
		it.Tokens += len(b.rows[i].Tokens) - b.rows[i].Start
	}
	it.Success = float64(passed) / float64(max(1, judged))
	it.Score = score / float64(max(1, judged))
	it.Invalid = float64(invalid) / float64(max(1, it.Turns))
}

// reasons returns the reasons why trajectories are excluded, each once, sorted.
func reasons(trajectories []rl.Trajectory) []string {
	var out []string
	for i := range trajectories {
		if r := trajectories[i].Excluded; r != "" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	slices.Sort(out)
	return out
}
