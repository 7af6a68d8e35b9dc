package stdio

import (
	"encoding/json"

	"github.com/throughline-go/throughline/envharness"
)

const protocol = 1

// abilities say which optional interfaces of package envharness there are.
type abilities struct {
	Observe   bool `json:"observe,omitempty"`
	State     bool `json:"state,omitempty"`
	Tasks     bool `json:"tasks,omitempty"`
	Rewind    bool `json:"rewind,omitempty"`
	Snapshot  bool `json:"snapshot,omitempty"` // and restore
	Plan      bool `json:"plan,omitempty"`
	Tools     bool `json:"tools,omitempty"`      // the tools change in an episode
	TurnLimit bool `json:"turn_limit,omitempty"` // episodes have limits of their own
}

// A greeting answers a hello. What there is besides protocol and capabilities is the [envharness.Description]; nothing, if there is none.
type greeting struct {
	Protocol      int                     `json:"protocol"`
	Env           string                  `json:"env,omitempty"`
	Capabilities  abilities               `json:"capabilities"`
	About         string                  `json:"about,omitempty"`
	Tools         []envharness.Tool       `json:"tools,omitzero"`
	Graded        []string                `json:"graded,omitzero"`
	Mutable       []string                `json:"mutable,omitzero"`
	Volatile      []string                `json:"volatile,omitzero"`
	Refusals      []envharness.ErrorClass `json:"refusals,omitzero"`
	Vocabulary    []string                `json:"vocabulary,omitzero"`
	Chance        float64                 `json:"chance,omitempty"`
	MaxTurns      int                     `json:"max_turns,omitempty"`
	Deterministic bool                    `json:"deterministic,omitempty"`
}

func greet(a abilities, d envharness.Description) greeting {
	return greeting{
		Protocol: protocol, Env: d.Name, Capabilities: a, About: d.About, Tools: d.Tools, Graded: d.Graded, Mutable: d.Mutable,
		Volatile: d.Volatile, Refusals: d.Refusals, Vocabulary: d.Vocabulary, Chance: d.Chance, MaxTurns: d.MaxTurns,
		Deterministic: d.Deterministic,
	}
}

func (g *greeting) description() envharness.Description {
	return envharness.Description{
		Name: g.Env, About: g.About, Tools: g.Tools, Graded: g.Graded, Mutable: g.Mutable, Volatile: g.Volatile, Refusals: g.Refusals,
		Vocabulary: g.Vocabulary, Chance: g.Chance, MaxTurns: g.MaxTurns, Deterministic: g.Deterministic,
	}
}

// The answers. What has to be there is a pointer, so that it is missed.

// A situation is what may be new after a reset, a step, a rewind and a restore.
type situation struct {
	Tools     *[]envharness.Tool `json:"tools,omitempty"` // always after a reset; else nil where nothing changed
	TurnLimit *int               `json:"turn_limit,omitempty"`
}

type started struct {
	Obs  *envharness.Observation `json:"obs"`
	Seed *uint64                 `json:"seed,omitempty"`
	Info map[string]any          `json:"info,omitzero"` // nothing in package envharness can hold it
	situation
}

type stepped struct {
	Obs        *envharness.Observation `json:"obs"`
	Reward     *float64                `json:"reward"`
	Terminated *bool                   `json:"terminated"`
	Truncated  *bool                   `json:"truncated"`
	Reason     string                  `json:"reason,omitempty"`
	Error      *envharness.ActionError `json:"error,omitempty"`
	Info       map[string]any          `json:"info,omitzero"`
	situation
}

type observed struct {
	Obs *envharness.Observation `json:"obs"`
}

type stated struct {
	State json.RawMessage `json:"state"`
}

type snapped struct {
	Snapshot json.RawMessage `json:"snapshot"`
}

type listed struct {
	Tasks *[]envharness.Task `json:"tasks"`
}

type planned struct {
	Actions *[]envharness.Action `json:"actions"`
}
