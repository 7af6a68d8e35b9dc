package mainjob

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// deskName is the world of the run: the compact preset of the service desk, whose texts are short enough for a small language model.
const deskName = "tooldesk_small"

// wrapping returns the two components of the run, innermost first: a colleague has looked the customer up before the agent takes over (easier), and
// the order service fails on its first call (harder). The tasks, the verifier and what counts as success stay.
func wrapping() []envharness.Component {
	return []envharness.Component{handover(), components.ToolFail{Tools: []string{"get_order"}}}
}

// customer matches the name that a message begins with, which is the address of the account as well.
var customer = regexp.MustCompile(`^(\w+): `)

// handover is a component written by hand: it replays the look-up of the customer whose name stands before the request.
func handover() envharness.Component {
	return envharness.Rules(envharness.ComponentSpec{Tag: "handover", Axis: envharness.AxisStart},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return envharness.Hooks{Start: func(_ context.Context, v envharness.View) ([]envharness.StartEdit, error) {
				name := customer.FindStringSubmatch(v.Shown().Text)
				if name == nil {
					return nil, fmt.Errorf("no name before the request")
				}
				args, err := json.Marshal(map[string]string{"email": name[1]})
				return []envharness.StartEdit{{Action: envharness.Action{Name: "find_customer", Args: args}}}, err
			}}, nil
		})
}

// splits returns the tasks that the run uses.
func (j *job) splits(ctx context.Context) (train, validation, test, ood []envharness.Task, err error) {
	for _, s := range []struct {
		name  string
		tasks *[]envharness.Task
		limit int
	}{{"train", &train, j.train}, {"validation", &validation, j.eval}, {"test", &test, j.eval}, {"ood", &ood, j.eval}} {
		all, err := j.desk.Tasks(ctx, s.name)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		*s.tasks = all[:min(s.limit, len(all))]
	}
	return train, validation, test, ood, nil
}
