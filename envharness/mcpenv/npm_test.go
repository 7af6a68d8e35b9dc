package mcpenv_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/mcpenv"
)

// installed returns a server of npm's that is on the path; else the test is
// skipped. Nothing is ever downloaded.
func installed(t *testing.T, name string, env func(dir string) []string) func(dir string) mcpenv.Server {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return func(dir string) mcpenv.Server {
		return mcpenv.Server{Command: []string{path}, Env: env(dir)}
	}
}

// graph is a world on npm's server of a memory: a graph of entities with observations, and relations.
func graph(t *testing.T) mcpenv.Config {
	return mcpenv.Config{
		Name: "memory",
		Server: installed(t, "mcp-server-memory", func(dir string) []string {
			return []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.json")}
		}),
		Tasks: []mcpenv.Task{{
			Task:   envharness.Task{ID: "move"},
			Prompt: "Ada has moved from Turin to Oslo, and nobody lives in Turin any more.",
			Start: []envharness.Action{
				act("create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["paints","sings"]},
					{"name":"Turin","entityType":"city","observations":[]}]}`),
				act("create_relations", `{"relations":[{"from":"Ada","to":"Turin","relationType":"lives in"}]}`),
			},
			Goal: json.RawMessage(`{"entities":[{"name":"Oslo","entityType":"city","observations":[]},
				{"name":"Ada","entityType":"person","observations":["sings","paints"]}],
				"relations":[{"from":"Ada","to":"Oslo","relationType":"lives in"}]}`),
		}},
		Read:      act("read_graph", `{}`),
		Unordered: []string{"/entities", "/entities/*/observations", "/relations"},
	}
}

func moved() []envharness.Action {
	return []envharness.Action{
		act("delete_entities", `{"entityNames":["Turin"]}`),
		act("create_entities", `{"entities":[{"name":"Oslo","entityType":"city","observations":[]}]}`),
		act("create_relations", `{"relations":[{"from":"Ada","to":"Oslo","relationType":"lives in"}]}`),
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	c := graph(t)
	w := world(t, c)
	c.Deterministic = true
	tr := play(t, world(t, c), nil, moved()...)
	if tr.Verdict.Status != envharness.Pass || tr.Verdict.Unreplayed || len(tr.Tools) < 9 {
		t.Errorf("%+v, %d tools: %s", tr.Verdict, len(tr.Tools), tr.Cause)
	}
	reads := 0
	for _, tool := range tr.Tools {
		if tool.ReadOnly {
			reads++
		}
	}
	if reads < 3 {
		t.Errorf("%d tools read only, want read_graph, search_nodes and open_nodes", reads)
	}
	extras := []envharness.Action{ // an entity, an observation and a relation too many
		act("create_entities", `{"entities":[{"name":"Bo","entityType":"person","observations":[]}]}`),
		act("add_observations", `{"observations":[{"entityName":"Ada","contents":["cooks"]}]}`),
		act("create_relations", `{"relations":[{"from":"Oslo","to":"Ada","relationType":"holds"}]}`),
	}
	if testing.Short() {
		extras = extras[:1] // each costs a start of Node
	}
	traces, err := envharness.Rollouts(t.Context(), w, nil, func(slot int) (envharness.Policy, error) {
		if slot == len(extras) {
			return script()(slot) // nothing done
		}
		return script(append(moved(), extras[slot])...)(slot)
	}, make([]envharness.Task, len(extras)+1), &envharness.RolloutOptions{Reruns: new(0), Parallel: 4})
	if err != nil {
		t.Fatal(err)
	}
	for i, tr := range traces {
		if tr.Verdict.Status != envharness.Fail {
			t.Errorf("slot %d: %+v: %s", i, tr.Verdict, tr.Cause)
		}
	}
	stack := []envharness.Component{
		envharness.Setup{Actions: moved()[:1], Aid: true}, components.Block{Tools: []string{"delete_*"}}, components.StepBudget{Turns: 4},
	}
	if tr := play(t, w, stack, append([]envharness.Action{moved()[0]}, moved()[1:]...)...); tr.Verdict.Status != envharness.Pass {
		t.Errorf("with components: %+v: %s", tr.Verdict, tr.Cause)
	}
}

// What this server does in its corners, as a policy meets it.
func TestMemoryFacts(t *testing.T) {
	t.Parallel()
	env := open(t, graph(t))
	for _, c := range []struct {
		action envharness.Action
		class  envharness.ErrorClass
		text   string
		reason string
	}{
		{act("create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":[]}]}`), "", "[]",
			"there is one of that name"},
		{act("create_relations", `{"relations":[{"from":"Ada","to":"Nowhere","relationType":"seeks"}]}`), "", "Nowhere",
			"the entity need not exist"},
		{act("add_observations", `{"observations":[{"entityName":"Nobody","contents":["x"]}]}`), envharness.ClassOther, "Nobody", "here it must"},
		{act("search_nodes", `{"query":7}`), envharness.ClassBadArgs, "-32602", "an argument of another type"},
		{act("forget_all", `{}`), envharness.ClassUnknownTool, "forget_all", "no such tool"},
	} {
		tr, err := env.Step(t.Context(), c.action)
		if err != nil {
			t.Fatal(err)
		}
		class := envharness.ErrorClass("")
		if tr.Error != nil {
			class = tr.Error.Class
		}
		if class != c.class || !strings.Contains(tr.Observation.Text, c.text) {
			t.Errorf("%v: %q %q: %s", c.action, class, tr.Observation.Text, c.reason)
		}
	}
}

func TestEverything(t *testing.T) {
	t.Parallel()
	c := judged(installed(t, "mcp-server-everything", func(string) []string { return nil }))
	c.Answer = true
	c.Tasks[0].Prompt = "Submit the sum of 19 and 23."
	c.Judge = func(_ mcpenv.Task, _ json.RawMessage, answer string) (envharness.Verdict, error) {
		if answer == "42" {
			return envharness.Verdict{Status: envharness.Pass}, nil
		}
		return envharness.Verdict{Status: envharness.Fail}, nil
	}
	w := world(t, c)
	tr := play(t, w, nil, act("echo", `{"message":"hello"}`), act("get-sum", `{"a":19,"b":23}`),
		act("get-structured-content", `{"location":"New York"}`), act("get-sum", `{"a":"x"}`), act("submit", `{"answer":"42"}`))
	if tr.Verdict.Status != envharness.Pass || len(tr.Tools) < 13+1 {
		t.Fatalf("%+v, %d tools: %s", tr.Verdict, len(tr.Tools), tr.Cause)
	}
	turn := func(i int) envharness.Transition { return tr.Turns[i].Shown }
	if got := turn(0).Observation.Text; got != "Echo: hello" {
		t.Errorf("%q", got)
	}
	if got := turn(1).Observation.Text; !strings.Contains(got, "42") {
		t.Errorf("%q", got)
	}
	if got := turn(2).Observation.Data; len(got) != 3 {
		t.Errorf("%v, want the fields of a weather report", got)
	}
	if e := turn(3).Error; e == nil || e.Class != envharness.ClassBadArgs {
		t.Errorf("%+v", e)
	}
	if tr := play(t, w, nil, act("get-sum", `{"a":19,"b":23}`)); tr.Verdict.Status != envharness.Fail {
		t.Errorf("not submitted: %+v: %s", tr.Verdict, tr.Cause)
	}
}
