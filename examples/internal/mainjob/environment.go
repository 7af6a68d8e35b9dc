package mainjob

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
)

// wrapping returns the two components of the run, innermost first: a colleague has looked the customer up before the agent takes over (easier), and
// the order service fails on its first call (harder). The tasks, the verifier and what counts as success stay.
func wrapping() []envharness.Component {
	return []envharness.Component{handover(), components.ToolFail{Tools: []string{"get_order"}}}
}

var email = regexp.MustCompile(`[\w.]+@[\w.]+\w`)

// handover is a component written by hand: it replays the look-up of the customer whose e-mail address stands in the request.
func handover() envharness.Component {
	return envharness.Rules(envharness.ComponentSpec{Tag: "handover", Axis: envharness.AxisStart},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return envharness.Hooks{Start: func(_ context.Context, v envharness.View) ([]envharness.StartEdit, error) {
				address := email.FindString(v.Shown().Text)
				if address == "" {
					return nil, fmt.Errorf("no e-mail address in the request")
				}
				args, err := json.Marshal(map[string]string{"email": address})
				return []envharness.StartEdit{{Action: envharness.Action{Name: "find_customer", Args: args}}}, err
			}}, nil
		})
}

// splits returns the tasks that the run uses.
func (j *job) splits(ctx context.Context) (train, validation, test, ood []envharness.Task, err error) {
	desk := tooldesk.New(nil)
	defer desk.Close()
	for _, s := range []struct {
		name  string
		tasks *[]envharness.Task
		limit int
	}{{"train", &train, j.train}, {"validation", &validation, j.eval}, {"test", &test, j.eval}, {"ood", &ood, j.eval}} {
		all, err := desk.Tasks(ctx, s.name)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		*s.tasks = all[:min(s.limit, len(all))]
	}
	return train, validation, test, ood, nil
}
