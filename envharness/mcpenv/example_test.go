package mcpenv_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/mcpenv"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// A stockroom, which is a program of its own for each episode, as a world of one task.
func ExampleWorld() {
	w, err := mcpenv.World(mcpenv.Config{
		Server: stockroom(mcptest.Options{}), // func(dir string) mcpenv.Server
		Tasks: []mcpenv.Task{{
			Task:   envharness.Task{ID: "count"},
			Prompt: "There are 9 bolts. Correct the stock.",
			Start:  []envharness.Action{{Name: "create_item", Args: json.RawMessage(`{"name":"bolt","shelf":"A1","count":5}`)}},
			Goal:   json.RawMessage(`{"items":[{"name":"bolt","shelf":"A1","count":9}]}`),
		}},
		Read: envharness.Action{Name: "list_items"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	policy := script(
		envharness.Action{Name: "update_item", Args: json.RawMessage(`{"name":"bolts","count":9}`)},
		envharness.Action{Name: "update_item", Args: json.RawMessage(`{"name":"bolt","count":9}`)},
	)
	traces, err := envharness.Rollouts(context.Background(), w, nil, policy, []envharness.Task{{ID: "count"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tr := traces[0]
	fmt.Println(tr.Shown.Text)
	for _, turn := range tr.Turns {
		fmt.Println(turn.Proposed, "->", turn.Shown.Observation.Text)
	}
	fmt.Println(tr.End, tr.Verdict.Status)
	// Output:
	// There are 9 bolts. Correct the stock.
	// update_item {"name":"bolts","count":9} -> no item "bolts"
	// update_item {"name":"bolt","count":9} -> {"name":"bolt","shelf":"A1","count":9}
	// agent_stop pass
}

// Components change what the policy meets: the nuts are gone before the first turn, nothing else can be deleted, and turns are few.
func ExampleWorld_components() {
	w, err := mcpenv.World(restock(stockroom(mcptest.Options{})))
	if err != nil {
		fmt.Println(err)
		return
	}
	stack := []envharness.Component{
		envharness.Setup{Actions: []envharness.Action{act("delete_item", `{"name":"nut"}`)}, Aid: true},
		components.Block{Tools: []string{"delete_*"}, Reason: "ask the keeper"},
		components.StepBudget{Turns: 3},
	}
	policy := script(act("delete_item", `{"name":"gear"}`), act("update_item", `{"name":"bolt","count":9}`))
	traces, err := envharness.Rollouts(context.Background(), w, stack, policy, []envharness.Task{{}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, turn := range traces[0].Turns {
		text, _, _ := strings.Cut(turn.Shown.Observation.Text, "\n")
		fmt.Println(turn.Left, "left:", turn.Proposed.Name, "->", text)
	}
	fmt.Println(traces[0].Verdict.Status)
	// Output:
	// 3 left: delete_item -> [blocked] ask the keeper
	// 2 left: update_item -> {"name":"bolt","shelf":"A1","count":9}
	// pass
}

// A server over HTTP that outlives its sessions, and a judge of the submitted answer. The stock is only read, so that each session finds
// the same.
func ExampleWorld_http() {
	stock := []mcptest.Item{{Name: "bolt", Shelf: "A1", Count: 5}, {Name: "nut", Shelf: "A1", Count: 7}}
	handler, err := mcptest.Handler(&mcptest.Options{Items: stock})
	if err != nil {
		fmt.Println(err)
		return
	}
	srv := httptest.NewServer(handler)
	defer srv.Close()
	w, err := mcpenv.World(mcpenv.Config{
		Server: func(string) mcpenv.Server { return mcpenv.Server{URL: srv.URL} },
		Tasks: []mcpenv.Task{{
			Task: envharness.Task{ID: "sum"}, Prompt: "How many pieces are on shelf A1?", Goal: json.RawMessage(`"12"`),
		}},
		Answer: true,
		Judge: func(t mcpenv.Task, _ json.RawMessage, answer string) (envharness.Verdict, error) {
			var want string
			if err := json.Unmarshal(t.Goal, &want); err != nil || answer != want {
				return envharness.Verdict{Status: envharness.Fail}, err
			}
			return envharness.Verdict{Status: envharness.Pass}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, answer := range []string{"12", "13"} {
		policy := script(act("list_items", `{"shelf":"A1"}`), act("submit", `{"answer":"`+answer+`"}`))
		traces, err := envharness.Rollouts(context.Background(), w, nil, policy, []envharness.Task{{}}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(answer, traces[0].End, traces[0].Verdict.Status)
	}
	// Output:
	// 12 terminated pass
	// 13 terminated fail
}
