package components

import (
	"context"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// ObsDelay shows the observation of some turns ago; in the first turns the first one. Refused turns count like others, and what
// components further outside write is not delayed. The result that ends the episode is shown at once.
//
// Tag obs_delay, axis O; the params are the struct with its defaults filled in. It is sound if the limits on turns leave room for
// waiting Delay turns wherever a solution depends on what it sees.
type ObsDelay struct {
	Delay *int `json:"delay"` // turns, at least 0; nil means 1
	Window
}

func (d ObsDelay) withDefaults() ObsDelay {
	if d.Delay == nil {
		d.Delay = new(1)
	}
	return d
}

// Spec implements [envharness.Component].
func (d ObsDelay) Spec() envharness.ComponentSpec {
	return spec("obs_delay", envharness.AxisObservation, d.withDefaults())
}

// Check reports a negative Delay and an empty range of turns.
func (d ObsDelay) Check() error {
	err := d.check()
	if d.Delay != nil && *d.Delay < 0 {
		err = errors.Join(err, fmt.Errorf("delay %d must not be negative", *d.Delay))
	}
	return err
}

// String says in words what the component does with its parameters.
func (d ObsDelay) String() string {
	d = d.withDefaults()
	if *d.Delay == 0 {
		return unchanged
	}
	return d.in("each observation is shown " + count(*d.Delay, "turn") + " late")
}

// Begin implements [envharness.Component].
func (d ObsDelay) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	d = d.withDefaults()
	var past []envharness.Observation // of the last Delay turns and the present one
	return envharness.Hooks{Observe: func(_ context.Context, v envharness.View, o envharness.Observation) (envharness.Observation, error) {
		past = append(past, o)
		if len(past)-1 > *d.Delay {
			past = past[1:]
		}
		if d.open(v.Turn) {
			return past[0], nil
		}
		return o, nil
	}}, nil
}

func obsDelayKind() Kind {
	return Kind{
		Tag: "obs_delay", Version: 1, Axis: envharness.AxisObservation, Direction: Harder,
		About:  "shows what was there some turns ago",
		Sound:  "The limits on turns leave room to wait wherever a solution depends on what it sees.",
		Schema: objectSchema("", `"delay":{"type":"integer","minimum":0}`, windowProperty),
		Ladder: ladder(`{"delay":1}`, `{"delay":2}`, `{"delay":3}`),
		New:    build[ObsDelay],
	}
}
