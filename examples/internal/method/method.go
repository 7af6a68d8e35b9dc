// Package method names the estimators of packages rl and rl/token, with their options as JSON.
package method

import (
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
		method("turn-gae", "turn_values; end and final_value", zero[rl.TurnGAEOptions], rl.TurnGAE),
		method("grpo", "group", zero[rl.GRPOOptions], rl.GRPO),
		method("dr-grpo", "group", func() *rl.GRPOOptions { return &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}} }, rl.GRPO),
		method("rloo", "group", zero[rl.RLOOOptions], rl.RLOO),
		method("gigpo", "group, states", zero[rl.GiGPOOptions], rl.GiGPO),
		method("gagpo", "group, states", zero[rl.GAGPOOptions], rl.GAGPO),
		method("graphgpo", "group, states, final_state; success, or a score above 0", zero[rl.GraphGPOOptions], rl.GraphGPO),
		method("milegpo", "group, states, final_state; success, or a score above 0", zero[rl.MileGPOOptions], rl.MileGPO),
		method("milegpo-webshop", "group, states, final_state; success, or a score above 0", rl.MileGPOWebShop, rl.MileGPO),
		method("token-gae", "values; end and final_value", zero[token.GAEOptions], token.GAE),
		method("reinforce++", "", zero[token.ReinforcePPOptions], token.ReinforcePP),
		method("reinforce++-baseline", "group", func() *token.ReinforcePPOptions { return &token.ReinforcePPOptions{GroupBaseline: true} }, token.ReinforcePP),
		method("ppo-published", "values", zero[token.PPOPublishedOptions], token.PPOPublished),
	}
}

// Find returns the method of a name.
func Find(name string) (Method, error) {
	var names []string
	for _, m := range All() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Method{}, fmt.Errorf("no method %q, want one of %s", name, strings.Join(names, ", "))
}

// Bind returns the estimator under options, a JSON object with fields of m.Options under their Go names or empty, and these
// options.
func (m Method) Bind(options string) (rl.Estimator, any, error) {
	o := m.Options()
	if strings.TrimSpace(options) != "" {
		dec := json.NewDecoder(strings.NewReader(options))
		dec.DisallowUnknownFields()
		if err := dec.Decode(o); err != nil {
			return nil, nil, fmt.Errorf("options of %s: %w", m.Name, err)
		}
		if _, err := dec.Token(); err != io.EOF {
			return nil, nil, fmt.Errorf("options of %s: something follows the object", m.Name)
		}
	}
	e := m.bind(o)
	if _, err := e(nil, nil); err != nil { // checks the options
		return nil, nil, fmt.Errorf("options of %s: %w", m.Name, err)
	}
	return e, o, nil
}

// New returns the estimator of a name under options as in [Method.Bind].
func New(name, options string) (rl.Estimator, error) {
	m, err := Find(name)
	if err != nil {
		return nil, err
	}
	e, _, err := m.Bind(options)
	return e, err
}
