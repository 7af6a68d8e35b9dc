// Command skills is a program of the README: what two finished episodes teach a third.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/memory"
)

// call is a step that a service desk accepted.
func call(marker, name, argument, value string) skill.Step {
	return skill.Step{Marker: marker, Name: name, Args: map[string]any{argument: value}, Observation: "ok"}
}

// episodes are two finished episodes; a marker opens a subtask.
func episodes() []skill.Trajectory {
	return []skill.Trajectory{
		{ID: "e1", TaskID: "t1", Task: "Refund the broken lamp of amy@example.com", Steps: []skill.Step{
			call("find the order of a customer", "find_customer", "email", "amy@example.com"),
			call("", "list_orders", "customer", "c-17"),
			call("refund an item", "get_item", "item", "lamp"),
			call("", "refund", "item", "lamp"),
		}},
		{ID: "e2", TaskID: "t2", Task: "Ship the order of bob@example.com to Elm Street 8", Steps: []skill.Step{
			call("find the order of a customer", "find_customer", "email", "bob@example.com"),
			call("", "list_orders", "customer", "c-23"),
			call("change an address", "check_address", "address", "Elm Street 8"),
			call("", "set_address", "address", "Elm Street 8"),
		}},
	}
}

// learn makes a skill of every subtask and keeps it, merged with what is alike. memory.Open does so in a folder of SKILL.md files.
func learn(ctx context.Context, episodes []skill.Trajectory) (*memory.Memory, error) {
	m, err := memory.New(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, episode := range episodes {
		skills, err := skill.InduceAll(ctx, episode, nil, nil)
		if err != nil {
			return nil, err
		}
		for _, s := range skills {
			if s.Err != nil {
				continue // nothing to learn
			}
			if _, err := m.Add(ctx, s.Document); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

func main() {
	ctx := context.Background()
	m, err := learn(ctx, episodes()) // skill.InduceAll makes a skill of each subtask, Memory.Add merges those that are alike
	if err != nil {
		log.Fatal(err)
	}
	found, err := m.Retrieve(ctx, memory.Query{Task: "Refund the last order of a customer"})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Selected {
		fmt.Printf("%.2f %s, episodes: %d\n%s", hit.Similarity, hit.Name(), len(hit.Record.Origins), hit.Body())
	}
}
