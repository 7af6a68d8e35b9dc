package endpoint

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// A Model is one behind an endpoint. It is safe for concurrent use.
type Model struct {
	Name   string
	Tasks  int // that it is to play, at least 1
	AtOnce int // episodes at once, at least 1

	client *openai.Client
	short  *openai.Client // of the same model, for one token in one attempt
	priced bool

	mu       sync.Mutex
	finished []string
}

// Usage is what the model has used so far.
type Usage struct {
	Model    string   `json:"model"`
	Requests int      `json:"requests"`
	Retries  int      `json:"retries"` // further attempts, after a request that failed
	Tokens   int      `json:"tokens"`  // read and written, as the server counts them
	Input    int      `json:"input_tokens"`
	Cached   int      `json:"cached_tokens"` // part of the input
	Output   int      `json:"output_tokens"`
	Cost     *float64 `json:"cost,omitempty"` // by -price; absent without
}

// Usage returns what the model has used so far.
func (m *Model) Usage() Usage {
	u, first := m.client.Usage(), m.short.Usage()
	out := Usage{
		Model: m.Name, Requests: u.Requests + first.Requests, Retries: u.Retries + first.Retries,
		Input: u.Input + first.Input, Cached: u.Cached + first.Cached, Output: u.Output + first.Output,
	}
	out.Tokens = out.Input + out.Output
	if m.priced {
		out.Cost = new(u.Cost + first.Cost)
	}
	return out
}

// String tells the usage in one line.
func (u Usage) String() string {
	cost := "cost unknown without -price"
	if u.Cost != nil {
		cost = fmt.Sprintf("cost %.4f", *u.Cost)
	}
	return fmt.Sprintf("%s: %d requests and %d retries, %d tokens read (%d of them cached) and %d written, %s",
		u.Model, u.Requests, u.Retries, u.Input, u.Cached, u.Output, cost)
}

// Generate answers a prompt, for what takes a func.
func (m *Model) Generate(ctx context.Context, prompt string) (string, error) {
	return m.client.Generate(ctx, prompt)
}

// Policy returns a policy for one episode of a world that is described. The instructions, if there are any, are part of what it is told
// first.
func (m *Model) Policy(d envharness.Description, instructions string) envharness.Policy {
	var system strings.Builder
	system.WriteString("You act in a small simulated world by calling its tools, one call in each turn. Do what the task asks for in as few " +
		"turns as you can. A call that is refused uses up a turn, and so does an answer without a call.")
	if d.About != "" {
		fmt.Fprintf(&system, "\n\nThe world: %s", d.About)
	}
	if instructions != "" {
		fmt.Fprintf(&system, "\n\n%s", instructions)
	}
	return m.client.Policy(&openai.PolicyOptions{System: system.String()})
}

// A Play is what the model is to play.
type Play struct {
	World        worlds.World
	Components   []envharness.Component
	Tasks        []envharness.Task
	Instructions func(t envharness.Task) string // nil means none; safe for concurrent use
	Seed         uint64
	Progress     func(done, total int) // nil means that nobody asks
}

// Play plays one episode for each task. What the client could not get from the server with its own retries is not asked for again: the
// episode is invalid.
func (m *Model) Play(ctx context.Context, p Play) ([]envharness.Trace, error) {
	d, err := p.World.Describe(ctx)
	if err != nil {
		return nil, err
	}
	o := m.Rollouts()
	o.Seed, o.Progress, o.Reruns = p.Seed, p.Progress, new(0)
	return envharness.Rollouts(ctx, p.World.World, p.Components, func(slot int) (envharness.Policy, error) {
		instructions := ""
		if p.Instructions != nil {
			instructions = p.Instructions(p.Tasks[slot])
		}
		return m.Policy(d, instructions), nil
	}, p.Tasks, &o)
}

// Rollouts returns options for episodes of the model.
func (m *Model) Rollouts() envharness.RolloutOptions {
	return envharness.RolloutOptions{Parallel: m.AtOnce, EpisodeTimeout: episodeTimeout}
}

// These are long, as a model on a small machine takes its time.
const (
	requestTimeout = 5 * time.Minute
	episodeTimeout = 30 * time.Minute
)

// A Tally is how episodes ended. The invalid ones, which infrastructure spoilt, count for nothing.
type Tally struct {
	Played  int     `json:"played"` // and judged
	Passed  int     `json:"passed"`
	Invalid int     `json:"invalid"`
	Rate    float64 `json:"rate"`            // of the judged; 0 if there are none
	Turns   float64 `json:"mean_turns"`      // likewise
	Cause   string  `json:"cause,omitempty"` // of the first invalid one
}

// Count counts traces.
func Count(traces []envharness.Trace) Tally {
	var t Tally
	turns := 0
	for i := range traces {
		if traces[i].Verdict.Status == envharness.Invalid {
			t.Invalid++
			if t.Invalid == 1 {
				t.Cause = traces[i].Cause
			}
			continue
		}
		t.Played++
		turns += len(traces[i].Turns)
		if traces[i].Verdict.Status == envharness.Pass {
			t.Passed++
		}
	}
	if t.Played > 0 {
		t.Rate, t.Turns = float64(t.Passed)/float64(t.Played), float64(turns)/float64(t.Played)
	}
	return t
}

// Err returns an error if no episode could be judged, with the cause.
func (t Tally) Err() error {
	if t.Played > 0 || t.Invalid == 0 {
		return nil
	}
	return fmt.Errorf("none of %d episodes of the model could be judged; the first: %s", t.Invalid, t.Cause)
}

// String tells the rate, and of how many episodes it is, as in "40.0 % of 10" or "50.0 % of 8, 2 invalid"; "-" without any.
func (t Tally) String() string {
	if t.Played == 0 && t.Invalid == 0 {
		return "-"
	}
	if t.Played == 0 {
		return fmt.Sprintf("- of 0, %d invalid", t.Invalid)
	}
	s := fmt.Sprintf("%.1f %% of %d", 100*t.Rate, t.Played)
	if t.Invalid > 0 {
		s += fmt.Sprintf(", %d invalid", t.Invalid)
	}
	return s
}
