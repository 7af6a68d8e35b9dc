package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// An argument is one property of a tool's schema.
type argument struct {
	Type string `json:"type"`
	name string
}

// arguments returns those that a schema requires, in the order of their names, as [envharness.Action.Text] has them.
func arguments(raw json.RawMessage) ([]argument, error) {
	var schema struct {
		Properties map[string]argument `json:"properties"`
		Required   []string            `json:"required"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &schema); err != nil {
			return nil, err
		}
	}
	var out []argument
	for _, name := range slices.Sorted(slices.Values(schema.Required)) {
		out = append(out, argument{schema.Properties[name].Type, name})
	}
	return out, nil
}

// read makes an action of an answer: the number of an admissible one or its words, a tool's name and arguments, or the argument of the one tool
// that takes a text and nothing else.
func read(line string, actions []envharness.Action, tools []envharness.Tool) (envharness.Action, error) {
	if n, err := strconv.Atoi(line); err == nil {
		if n < 1 || n > len(actions) {
			return envharness.Action{}, fmt.Errorf("there is no action %d", n)
		}
		return actions[n-1], nil
	}
	words := strings.Join(strings.Fields(line), " ")
	for _, a := range actions {
		if strings.EqualFold(shown(a, tools), words) || strings.EqualFold(a.Text(), words) {
			return a, nil
		}
	}
	name, rest, _ := strings.Cut(line, " ")
	if i := slices.IndexFunc(tools, func(t envharness.Tool) bool { return t.Name == name }); i >= 0 {
		return call(tools[i], strings.TrimSpace(rest))
	}
	if t := plain(tools); t != nil {
		return call(*t, line)
	}
	return envharness.Action{}, fmt.Errorf("there is no tool %q", name)
}

// plain returns the tool of a world that has no other and whose one argument is a text, else nil.
func plain(tools []envharness.Tool) *envharness.Tool {
	if len(tools) != 1 {
		return nil
	}
	args, err := arguments(tools[0].Schema)
	if err != nil || len(args) != 1 || args[0].Type != "string" {
		return nil
	}
	return &tools[0]
}

// shown is an action in words, without the name of a tool that goes without saying.
func shown(a envharness.Action, tools []envharness.Tool) string {
	text := a.Text()
	if t := plain(tools); t != nil && a.Name == t.Name {
		text = strings.TrimPrefix(text, t.Name+" ")
	}
	return text
}

// call gives a tool its arguments: a JSON object as it is, else one word each and the last one the rest of the line.
func call(tool envharness.Tool, rest string) (envharness.Action, error) {
	if strings.HasPrefix(rest, "{") {
		if !json.Valid([]byte(rest)) {
			return envharness.Action{}, errors.New("the arguments are no JSON object")
		}
		return envharness.Action{Name: tool.Name, Args: json.RawMessage(rest)}, nil
	}
	args, err := arguments(tool.Schema)
	if err != nil {
		return envharness.Action{}, fmt.Errorf("the schema of %s: %w", tool.Name, err)
	}
	object := make(map[string]any)
	for i, a := range args {
		word := rest
		if i+1 < len(args) {
			word, rest, _ = strings.Cut(rest, " ")
			rest = strings.TrimSpace(rest)
		} else {
			rest = ""
		}
		if word == "" {
			return envharness.Action{}, fmt.Errorf("%s lacks its argument %s", tool.Name, a.name)
		}
		if a.Type == "string" {
			object[a.name] = word
			continue
		}
		if !json.Valid([]byte(word)) {
			return envharness.Action{}, fmt.Errorf("argument %s of %s must be JSON of type %s", a.name, tool.Name, a.Type)
		}
		object[a.name] = json.RawMessage(word)
	}
	if rest != "" {
		return envharness.Action{}, fmt.Errorf("%s takes no arguments", tool.Name)
	}
	if len(args) == 0 {
		return envharness.Action{Name: tool.Name}, nil
	}
	b, err := json.Marshal(object)
	return envharness.Action{Name: tool.Name, Args: b}, err
}
