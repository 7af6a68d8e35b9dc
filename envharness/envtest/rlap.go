package envtest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/envharness"
)

// A course is the world that runners are checked in. Its tasks are a name and a number of turns, such as "a/3", after which the episode
// terminates; turn k has the reward k.
type course struct {
	maxTurns int // declared to the harness, zero for none
	// wait is called in every reset (turn 0) and step, once it has been counted; an error is the environment's.
	wait func(ctx context.Context, name string, turn int) error

	mu     sync.Mutex
	resets int
	steps  int
}

func (c *course) world() envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return &lap{course: c}, nil },
		Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			if e.EndReason == envharness.EndTerminated {
				return envharness.Verdict{Status: envharness.Pass}, nil
			}
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

func (c *course) counts() (resets, steps int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resets, c.steps
}

func (c *course) enter(ctx context.Context, name string, turn int) error {
	c.mu.Lock()
	if turn == 0 {
		c.resets++
	} else {
		c.steps++
	}
	c.mu.Unlock()
	if c.wait == nil {
		return nil
	}
	return c.wait(ctx, name, turn)
}

// A lap is an environment of a course.
type lap struct {
	course       *course
	name         string
	turn, length int
	seed         string
}

func (l *lap) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	name, length, _ := strings.Cut(o.Task, "/")
	n, err := strconv.Atoi(length)
	if err != nil {
		return envharness.Observation{}, fmt.Errorf("%w: %q", envharness.ErrNoTask, o.Task)
	}
	l.name, l.turn, l.length, l.seed = name, 0, n, "none"
	if o.Seed != nil {
		l.seed = strconv.FormatUint(*o.Seed, 16)
	}
	if err := l.course.enter(ctx, name, 0); err != nil {
		return envharness.Observation{}, err
	}
	return l.show(), nil
}

func (l *lap) show() envharness.Observation {
	return envharness.Observation{Text: lapText(l.name, l.turn, l.length), Data: map[string]any{"seed": l.seed}}
}

// lapText is the text of an observation.
func lapText(name string, turn, length int) string {
	return fmt.Sprintf("%s %d/%d", name, turn, length)
}

func (l *lap) Step(ctx context.Context, _ envharness.Action) (envharness.Transition, error) {
	l.turn++
	if err := l.course.enter(ctx, l.name, l.turn); err != nil {
		return envharness.Transition{}, err
	}
	return envharness.Transition{Observation: l.show(), Reward: float64(l.turn), Terminated: l.turn >= l.length}, nil
}

func (l *lap) Close() error { return nil }

func (l *lap) Describe() envharness.Description {
	return envharness.Description{MaxTurns: l.course.maxTurns}
}
