package mainjob

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/traces"
)

// recordedSource tags the samples that are recorded plans.
const recordedSource = "desk"

// recorded imports the plans of the first training tasks as conversations. Customers of the small desk write in few words and without full
// stops, which the rule against requests that give the tool away would refuse.
func (j *job) recorded(ctx context.Context, tasks []envharness.Task) (*midtool.Corpus, error) {
	d, err := j.desk.Describe(ctx)
	if err != nil {
		return nil, err
	}
	tools := toolsOf(d)
	return traces.Import(ctx, func(yield func(midtool.Sample, error) bool) {
		for i, t := range tasks {
			s, err := j.conversation(ctx, t, tools)
			if err != nil {
				err = fmt.Errorf("record %s: %w", t.ID, err)
			}
			j.Progress("record conversations", i+1, len(tasks))
			if !yield(s, err) || err != nil {
				return
			}
		}
	}, &traces.Options{Source: recordedSource, Own: true, Skip: []string{"leak"}})
}

// conversation is a recorded plan in the words of the customer, the calls, and what the desk showed after each.
func (j *job) conversation(ctx context.Context, t envharness.Task, tools []midtool.Tool) (midtool.Sample, error) {
	episode, err := j.record(ctx, t)
	if err != nil {
		return midtool.Sample{}, err
	}
	s := midtool.Sample{ID: t.ID, Tools: tools, Messages: []midtool.Message{
		{Role: midtool.RoleSystem, Content: rules}, {Role: midtool.RoleUser, Content: episode.Task},
	}}
	for _, step := range episode.Steps {
		arguments, err := json.Marshal(step.Args)
		if err != nil {
			return midtool.Sample{}, err
		}
		shown, err := result(strings.TrimPrefix(step.Observation, episode.Task))
		if err != nil {
			return midtool.Sample{}, err
		}
		s.Messages = append(s.Messages,
			midtool.Message{Role: midtool.RoleAssistant, Calls: []midtool.Call{{Name: step.Name, Arguments: arguments}}},
			midtool.Message{Role: midtool.RoleTool, Name: step.Name, Content: shown})
	}
	last := episode.Steps[len(episode.Steps)-1]
	answer, _ := last.Args["answer"].(string)
	s.Messages = append(s.Messages, midtool.Message{Role: midtool.RoleAssistant, Content: "Done: " + answer + "."})
	return s, nil
}

// rules are what an agent of the desk is told.
const rules = "Look the customer up first. When all is handled, submit the ids and amounts, or that it was transferred. " +
	"The note of a ticket that is closed is: resolved."

// result is what the desk shows, as JSON: the values of each line, so that calls can be seen to take their arguments from it. An address,
// and the list of what was handled, are one value.
func result(shown string) (string, error) {
	lines := [][]any{}
	for line := range strings.Lines(shown) {
		var values []any
		words := strings.Fields(line)
		for len(words) > 0 {
			w, rest := words[0], words[1:]
			switch n, err := strconv.Atoi(w); {
			case err == nil:
				values = append(values, n)
			case w == "to" && len(rest) > 1:
				values, rest = append(values, w, strings.Join(rest, " ")), nil
			case w == "done" && len(rest) > 1:
				values, rest = append(values, w, strings.Join(rest, ", ")), nil
			default:
				values = append(values, w)
			}
			words = rest
		}
		if values != nil {
			lines = append(lines, values)
		}
	}
	out, err := json.Marshal(map[string]any{"shown": lines})
	return string(out), err
}

// toolsOf are the tools of an environment.
func toolsOf(d envharness.Description) []midtool.Tool {
	var out []midtool.Tool
	for _, t := range d.Tools {
		out = append(out, midtool.Tool{
			Name: t.Name, Description: t.Description, Parameters: t.Schema, ReadOnly: t.ReadOnly, Group: "tooldesk",
			Origin: midtool.Origin{Kind: "environment", Locator: "tooldesk"},
		})
	}
	return out
}
