// Package method names the estimators of packages rl and rl/token, with their options as JSON.
package method

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/token"
)

// A Method is an estimator with a name.
type Method struct {
	Name    string
	Reads   string     // fields that it needs besides rewards and masks
	Critic  bool       // whether values are among them
	Options func() any // fresh options, a pointer; what JSON says is written over them
	bind    func(options any) rl.Estimator
}

func method[O any](name, reads string, options func() *O, f func(*rl.Credit, []rl.Trajectory, *O) (*rl.Credit, error)) Method {
	return Method{name, reads, strings.Contains(reads, "values"), func() any { return options() }, func(o any) rl.Estimator {
		return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) { return f(dst, batch, o.(*O)) }
	}}
}

func zero[O any]() *O { return new(O) }

// All returns the methods in a fixed order.
func All() []Method {
	return []Method{
		method("sapo", "turn_values, turn_qvalues", zero[rl.TurnGAEOptions], rl.SAPO),
		method("turn-gae", "turn_values; final_value after a truncation", zero[rl.TurnGAEOptions], rl.TurnGAE),
		method("grpo", "group", zero[rl.GRPOOptions], rl.GRPO),
		method("dr-grpo", "group", func() *rl.GRPOOptions { return &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}} }, rl.GRPO),
		method("rloo", "group", zero[rl.RLOOOptions], rl.RLOO),
		method("gigpo", "group, states", zero[rl.GiGPOOptions], rl.GiGPO),
		method("gagpo", "group, states", zero[rl.GAGPOOptions], rl.GAGPO),
		method("graphgpo", "group, states, final_state; success, or a score above 0", zero[rl.GraphGPOOptions], rl.GraphGPO),
		method("milegpo", "group, states, final_state; success, or a score above 0", zero[rl.MileGPOOptions], rl.MileGPO),
		method("milegpo-webshop", "group, states, final_state; success, or a score above 0", rl.MileGPOWebShop, rl.MileGPO),
		method("token-gae", "values; final_value after a truncation", zero[token.GAEOptions], token.GAE),
		method("reinforce++", "", zero[token.ReinforceOptions], token.ReinforcePP),
		method("reinforce++-baseline", "group", func() *token.ReinforceOptions { return &token.ReinforceOptions{GroupBaseline: true} }, token.ReinforcePP),
		method("ppo-published", "values", zero[token.PPOPublishedOptions], token.PPOPublished),
	}
}

// New returns the estimator of a name. Options is a JSON object with fields of its options struct, under their Go names, or
// empty.
func New(name, options string) (rl.Estimator, error) {
	var names []string
	for _, m := range All() {
		names = append(names, m.Name)
		if m.Name != name {
			continue
		}
		o := m.Options()
		if strings.TrimSpace(options) != "" {
			dec := json.NewDecoder(bytes.NewReader([]byte(options)))
			dec.DisallowUnknownFields()
			if err := dec.Decode(o); err != nil {
				return nil, fmt.Errorf("options of %s: %w", name, err)
			}
			if _, err := dec.Token(); err != io.EOF {
				return nil, fmt.Errorf("options of %s: something follows the object", name)
			}
		}
		e := m.bind(o)
		if _, err := e(nil, nil); err != nil { // checks the options
			return nil, fmt.Errorf("options of %s: %w", name, err)
		}
		return e, nil
	}
	return nil, fmt.Errorf("no method %q, want one of %s", name, strings.Join(names, ", "))
}
