package mainjob

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/rl/rollout"
)

// demonstrations turns samples of the mix into episodes to imitate: those whose calls are all of the desk's tools. A recorded plan is
// played in the desk that it was recorded in; the policy is given the skills of its task. Any other conversation becomes an episode of its
// own, in which the policy reads what was said and answered, and chooses among the calls of the sample and those that other samples make of
// the tools that it offers.
func (l *learner) demonstrations(ctx context.Context, mixed []midtool.Sample) (recorded, heard []rollout.Episode, err error) {
	o := l.agent()
	agent, err := rollout.NewAgent(l.Model, l.Problem.Tokenizer, &o)
	if err != nil {
		return nil, nil, err
	}
	tasks, _, _, _, err := l.job.splits(ctx)
	if err != nil {
		return nil, nil, err
	}
	byID := make(map[string]envharness.Task, len(tasks))
	for _, t := range tasks {
		byID[t.ID] = t
	}
	var played []envharness.Task
	var plans [][]envharness.Action
	talk := conversations{words: l.Problem.Tokenizer}
	for i := range mixed {
		s := &mixed[i]
		if s.Source == recordedSource {
			played, plans = append(played, byID[s.ID]), append(plans, actionsOf(s))
		} else {
			talk.add(s, l.job.readOnly)
		}
	}
	collect := func(stage string, w envharness.World, tasks []envharness.Task, player func(slot int) rollout.Player) ([]rollout.Episode, error) {
		return rollout.Collect(ctx, w, nil, func(slot int) (rollout.Player, error) { return player(slot), nil }, tasks,
			&rollout.Options{Seed: l.job.Seed, Parallel: l.job.Workers, States: rollout.ShownTexts, Progress: l.job.stage(stage)})
	}
	recorded, err = collect("record plans", l.job.desk.World, played, func(slot int) rollout.Player {
		return agent.Given(l.notes(played[slot])).Follow(teacher(plans[slot]))
	})
	if err != nil || len(talk.episodes) == 0 {
		return recorded, nil, err
	}
	talk.offer()
	heard, err = collect("hear conversations", talk.world(), talk.tasks(), func(slot int) rollout.Player {
		return agent.Follow(teacher(talk.episodes[slot].plan()))
	})
	return recorded, heard, err
}

// teacher does what is planned.
func teacher(plan []envharness.Action) envharness.Policy {
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		if t.Index >= len(plan) {
			return envharness.Action{}, fmt.Errorf("the plan of %d calls does not end the episode", len(plan))
		}
		return plan[t.Index], nil
	})
}

// actionsOf are the calls of a sample in order.
func actionsOf(s *midtool.Sample) []envharness.Action {
	var out []envharness.Action
	for _, m := range s.Messages {
		for _, c := range m.Calls {
			out = append(out, envharness.Action{Name: c.Name, Args: c.Arguments})
		}
	}
	return out
}

// conversations are episodes that go as their samples did.
type conversations struct {
	words    *rollout.Tokenizer
	episodes []*conversation
	calls    map[string][]envharness.Action // that the samples make of each tool
}

// A conversation is a sample as an episode. Its turns are the calls that are to be learned.
type conversation struct {
	request string
	offered []string
	turns   []heardTurn
}

type heardTurn struct {
	text    string // what was answered last
	action  envharness.Action
	choices []envharness.Action
}

// mostWords is the longest call that the policy can make, in tokens; one more ends it.
const mostWords = 15

// add takes a sample whose calls are all of the desk's tools and short enough.
func (c *conversations) add(s *midtool.Sample, known map[string]bool) {
	var one conversation
	text := ""
	for _, t := range s.Tools {
		one.offered = append(one.offered, t.Name)
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		switch m.Role {
		case midtool.RoleUser:
			one.request, text = strings.TrimSpace(one.request+" "+m.Content), ""
		case midtool.RoleTool:
			text = m.Content
		}
		for _, t := range m.Offers {
			one.offered = append(one.offered, t.Name)
		}
		for _, call := range m.Calls {
			a := envharness.Action{Name: call.Name, Args: call.Arguments}
			if _, ok := known[a.Name]; !ok || len(c.words.Encode(nil, nil, a.Text())) > mostWords {
				return
			}
			if !m.Untrained {
				one.turns = append(one.turns, heardTurn{text: one.request + "\n" + text, action: a})
			}
		}
	}
	if len(one.turns) == 0 {
		return
	}
	if c.calls == nil {
		c.calls = make(map[string][]envharness.Action)
	}
	for _, t := range one.turns {
		c.calls[t.action.Name] = append(c.calls[t.action.Name], t.action)
	}
	c.episodes = append(c.episodes, &one)
}

// offer lists for each turn its own call and those of others: of the same sample, and one that some sample makes of each tool that is offered.
// Those that read alike are one.
func (c *conversations) offer() {
	next := make(map[string]int)
	for _, e := range c.episodes {
		for i := range e.turns {
			t := &e.turns[i]
			list := []envharness.Action{t.action}
			for _, other := range e.turns {
				list = append(list, other.action)
			}
			for _, name := range e.offered {
				if some := c.calls[name]; len(some) > 0 {
					list = append(list, some[next[name]%len(some)])
					next[name]++
				}
			}
			seen := make(map[string]bool)
			for _, a := range list {
				key := fmt.Sprint(c.words.Encode(nil, nil, a.Text()))
				if !seen[key] {
					seen[key] = true
					t.choices = append(t.choices, a)
				}
			}
			slices.SortFunc(t.choices, func(a, b envharness.Action) int { return cmp.Compare(a.String(), b.String()) }) // the place tells nothing
		}
	}
}

func (c *conversations) tasks() []envharness.Task {
	out := make([]envharness.Task, len(c.episodes))
	for i := range out {
		out[i] = envharness.Task{ID: strconv.Itoa(i)}
	}
	return out
}

func (c *conversations) world() envharness.World {
	most := 0
	for _, e := range c.episodes {
		most = max(most, len(e.turns))
	}
	return (&sim.Simulation{
		Description: envharness.Description{Name: "conversations", MaxTurns: most},
		Start: func(task string) (sim.Episode, error) {
			i, err := strconv.Atoi(task)
			if err != nil || i < 0 || i >= len(c.episodes) {
				return nil, envharness.ErrNoTask
			}
			return &hearing{conversation: c.episodes[i]}, nil
		},
	}).World()
}

func (c *conversation) plan() []envharness.Action {
	var out []envharness.Action
	for _, t := range c.turns {
		out = append(out, t.action)
	}
	return out
}

// A hearing is a conversation under way. It implements [sim.Episode]: the calls of the sample, in order, pass.
type hearing struct {
	*conversation
	at int
}

func (h *hearing) Step(a envharness.Action) sim.Result {
	if t := h.turns[h.at].action; a.Name != t.Name || string(a.Args) != string(t.Args) {
		return sim.Result{Refusal: sim.Refuse(envharness.ClassPrecondition, "the conversation goes on in another way")}
	}
	h.at++
	return sim.Result{Ended: h.at == len(h.turns)}
}

func (h *hearing) Text() string { return h.turns[min(h.at, len(h.turns)-1)].text }

func (h *hearing) Data() map[string]any { return map[string]any{"task": h.request} }

func (h *hearing) Actions() []envharness.Action { return h.turns[h.at].choices }

func (h *hearing) AppendState(b []byte) []byte {
	state, err := json.Marshal(map[string]int{"at": h.at})
	if err != nil {
		return b // of a number there is no error
	}
	return append(b, state...)
}

func (h *hearing) Verdict() envharness.Verdict {
	if h.at == len(h.turns) {
		return envharness.Verdict{Status: envharness.Pass}
	}
	return envharness.Verdict{Status: envharness.Fail}
}
