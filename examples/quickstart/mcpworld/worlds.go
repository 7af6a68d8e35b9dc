package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/mcpenv"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// What is played without -spec. The first call that changes an item, or the graph, fails; and there is little time.
const (
	stockroomSpec = `{"schema_version":1,
		"env":{"tag":"stockroom","version":1,"params":{}},
		"task":{"id":"restock"},
		"stack":[
			{"tag":"tool_fail","version":1,"id":"flaky","params":{"tools":["update_*","delete_*"],"count":1}},
			{"tag":"step_budget","version":1,"id":"short","params":{"turns":4}}]}`
	memorySpec = `{"schema_version":1,
		"env":{"tag":"memory","version":1,"params":{}},
		"task":{"id":"remember"},
		"stack":[
			{"tag":"tool_fail","version":1,"id":"flaky","params":{"tools":["create_*"],"count":1}},
			{"tag":"step_budget","version":1,"id":"short","params":{"turns":4}}]}`
)

// stock is what the stockroom begins with.
var stock = []mcptest.Item{
	{Name: "bolt", Shelf: "A1", Count: 5}, {Name: "nut", Shelf: "B2", Count: 1}, {Name: "gear", Shelf: "C3", Count: 2},
}

const memoryServer = "mcp-server-memory"

func call(name, args string) envharness.Action {
	return envharness.Action{Name: name, Args: json.RawMessage(args)}
}

// addWorlds adds the two worlds, and returns the solution of the task of each.
func addWorlds(r *components.Registry) (map[string][]envharness.Action, error) {
	add := func(tag string, c mcpenv.Config) error {
		c.Name, c.Deterministic = tag, true
		return r.AddWorld(tag, 1, func(params json.RawMessage) (envharness.World, error) {
			if _, err := components.DecodeParams[struct{}](params); err != nil {
				return envharness.World{}, err
			}
			return mcpenv.World(c)
		})
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	err = add("stockroom", mcpenv.Config{
		Server: func(dir string) mcpenv.Server {
			return mcpenv.Server{Command: []string{self, serve, dir}}
		},
		Tasks: []mcpenv.Task{{
			Task:   envharness.Task{ID: "restock"},
			Prompt: "Set the count of the bolts to 9 and remove the nuts.",
			Goal:   json.RawMessage(`{"items":[{"name":"bolt","shelf":"A1","count":9},{"name":"gear","shelf":"C3","count":2}]}`),
		}},
		Read: call("list_items", "{}"),
	})
	if err != nil {
		return nil, err
	}
	err = add("memory", mcpenv.Config{
		Server: func(dir string) mcpenv.Server {
			return mcpenv.Server{
				Command: []string{memoryServer},
				Env:     []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.json")},
			}
		},
		Tasks: []mcpenv.Task{{
			Task:   envharness.Task{ID: "remember"},
			Prompt: "Remember that Ann, a person, likes tea and knows Bob, a person.",
			Goal: json.RawMessage(`{"entities":[{"name":"Ann","entityType":"person","observations":["likes tea"]},` +
				`{"name":"Bob","entityType":"person","observations":[]}],"relations":[{"from":"Ann","to":"Bob","relationType":"knows"}]}`),
		}},
		Read: call("read_graph", "{}"),
	})
	return map[string][]envharness.Action{
		"stockroom": {call("update_item", `{"name":"bolt","count":9}`), call("delete_item", `{"name":"nut"}`)},
		"memory": {
			call("create_entities", `{"entities":[{"name":"Ann","entityType":"person","observations":["likes tea"]},`+
				`{"name":"Bob","entityType":"person","observations":[]}]}`),
			call("create_relations", `{"relations":[{"from":"Ann","to":"Bob","relationType":"knows"}]}`),
		},
	}, err
}
