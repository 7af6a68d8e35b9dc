package mcpenv_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/mcpenv"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// desk is a server with tools of these names, each of which says its own; a name with an exclamation mark is read-only.
func desk(names ...string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
	for _, n := range names {
		name, reads := strings.CutSuffix(n, "!")
		s.AddTool(&mcp.Tool{
			Name: name, Title: "title of " + name, InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads},
		}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name}, &mcp.TextContent{Text: "done"}}}, nil
		})
	}
	return s
}

func judged(server func(string) mcpenv.Server) mcpenv.Config {
	return mcpenv.Config{
		Server: server, Tasks: []mcpenv.Task{{Task: envharness.Task{ID: "a"}, Prompt: "Do."}},
		Judge: func(_ mcpenv.Task, _ json.RawMessage, answer string) (envharness.Verdict, error) {
			if answer == "done" {
				return envharness.Verdict{Status: envharness.Pass}, nil
			}
			return envharness.Verdict{Status: envharness.Fail}, nil
		},
	}
}

// Names that are reserved, taken or unknown are errors of Reset that say what to do; renaming helps.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		names  []string
		edit   func(*mcpenv.Config)
		want   string // part of the error, or the names shown
		reason string
	}{
		{[]string{"look!", "turn"}, func(*mcpenv.Config) {}, "look turn", "as they are"},
		{[]string{"close"}, func(*mcpenv.Config) {}, `reserved tool name: "close", give it another name by Config.Rename`, "reserved"},
		{[]string{"close"}, func(c *mcpenv.Config) { c.Rename = map[string]string{"close": "shut"} }, "shut", "renamed"},
		{[]string{"submit"}, func(*mcpenv.Config) {}, "submit", "a name like any other"},
		{[]string{"submit"}, func(c *mcpenv.Config) { c.Answer = true }, `"submit" of its own, give it another name`, "taken"},
		{[]string{"submit"}, func(c *mcpenv.Config) { c.Answer, c.Rename = true, map[string]string{"submit": "send"} }, "send submit", "both"},
		{[]string{"a", "b"}, func(c *mcpenv.Config) { c.Rename = map[string]string{"a": "b"} }, `"b" is there twice`, "renamed into another"},
		{[]string{"a", "b"}, func(c *mcpenv.Config) { c.Rename = map[string]string{"a": "b", "b": "a"} }, "b a", "names change places"},
		{[]string{"a"}, func(c *mcpenv.Config) { c.Rename = map[string]string{"z": "y"} },
			`Config.Rename: the server lists no tool "z"`, "a slip"},
		{[]string{"a"}, func(c *mcpenv.Config) { c.Read.Name = "z" }, `Config.Read: the server lists no tool "z"`, "a slip"},
		{[]string{"a"}, func(c *mcpenv.Config) { c.Tasks[0].Start = []envharness.Action{act("a", ""), act("z", "")} },
			`task "a": start 1 z: the server lists no such tool`, "named by index and call"},
		{[]string{"a"}, func(c *mcpenv.Config) {
			c.Rename, c.Tasks[0].Start = map[string]string{"a": "b"}, []envharness.Action{act("a", "")}
		}, "b", "a start has the server's names"},
	} {
		cfg := judged(serve(t, desk(c.names...)))
		c.edit(&cfg)
		env := must(world(t, cfg).New(t.Context()))
		_, err := env.Reset(t.Context(), envharness.ResetOptions{})
		lister, _ := envharness.As[envharness.ToolLister](env)
		var shown []string
		for _, tool := range lister.Tools() {
			shown = append(shown, tool.Name)
		}
		got := strings.Join(shown, " ")
		if err != nil {
			got = err.Error()
		}
		if ok := strings.Contains(got, c.want) && (err != nil || got == c.want); !ok {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Tools have the schema and the hints of the server; a title stands in for a description.
func TestToolsKept(t *testing.T) {
	c := judged(serve(t, desk("look!", "turn")))
	c.Answer = true
	got, err := json.Marshal(play(t, world(t, c), nil).Tools)
	const want = `[{"name":"look","description":"title of look","input_schema":{"type":"object"},"read_only":true},` +
		`{"name":"turn","description":"title of turn","input_schema":{"type":"object"}},` +
		`{"name":"submit","description":"Submits the answer and ends the episode.","input_schema":{"type":"object",` +
		`"properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false},"submits":true}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

// Each kind of answer becomes a result of a step.
func TestResults(t *testing.T) {
	c := restock(stockroom(mcptest.Options{}))
	c.Answer = true
	env := open(t, c)
	for _, k := range []struct {
		action envharness.Action
		text   string
		class  envharness.ErrorClass
		data   string
		reason string
	}{
		{act("get_item", `{"name":"nut"}`), `{"name":"nut","shelf":"B2","count":1}`, "", `{"count":1,"name":"nut","shelf":"B2"}`, "carried out"},
		{act("get_item", `{"name":"nail"}`), `no item "nail"`, envharness.ClassOther, "", "refused by the tool"},
		{act("get_item", `{"name":1}`), "arguments of get_item", envharness.ClassBadArgs, "", "code -32602"},
		{act("get_item", ""), "arguments of get_item", envharness.ClassBadArgs, "", "no arguments"},
		{act("get_item", `[1]`), "no JSON object", envharness.ClassBadArgs, "", "the server is not asked"},
		{act("get_item", `{"name":`), "no JSON object", envharness.ClassBadArgs, "", "nor here"},
		{act("teleport", `{}`), `no tool "teleport"`, envharness.ClassUnknownTool, "", "nor here"},
		{act("submit", `{}`), "submit takes", envharness.ClassBadArgs, "", "without an answer"},
		{act("submit", `{"answer":4}`), "submit takes", envharness.ClassBadArgs, "", "of another type"},
		{act("submit", `{"answer":"x","sure":true}`), "submit takes", envharness.ClassBadArgs, "", "one too many"},
		{act("submit", ``), "submit takes", envharness.ClassBadArgs, "", "none at all"},
	} {
		tr, err := env.Step(t.Context(), k.action)
		if err != nil {
			t.Fatal(err)
		}
		class := envharness.ErrorClass("")
		if tr.Error != nil {
			class = tr.Error.Class
			if tr.Error.Message != tr.Observation.Text {
				t.Errorf("%v: message %q, text %q", k.action, tr.Error.Message, tr.Observation.Text)
			}
		}
		data := ""
		if tr.Observation.Data != nil {
			data = string(must(envharness.CanonicalJSON(tr.Observation.Data)))
		}
		if !strings.Contains(tr.Observation.Text, k.text) || class != k.class || data != k.data || tr.Ended() {
			t.Errorf("%v: %+v %+v: %s", k.action, tr, tr.Error, k.reason)
		}
	}
	tr, err := env.Step(t.Context(), act("submit", `{"answer":"x"}`))
	if err != nil || !tr.Terminated || tr.Info["submitted"] != true {
		t.Errorf("%+v, %v", tr, err)
	}
	if _, err := env.Step(t.Context(), act("list_items", `{}`)); !errors.Is(err, envharness.ErrEpisodeOver) {
		t.Error(err)
	}
}

// The answer that counts is the one that reached the base, whatever else was called or shown.
func TestAnswer(t *testing.T) {
	c := judged(serve(t, desk("look!")))
	c.Answer = true
	w := world(t, c)
	for _, k := range []struct {
		actions []envharness.Action
		want    envharness.Status
		reason  string
	}{
		{[]envharness.Action{act("submit", `{"answer":"done"}`)}, envharness.Pass, "the right one"},
		{[]envharness.Action{act("submit", `{"answer":"Done"}`)}, envharness.Fail, "a wrong one"},
		{[]envharness.Action{act("look", `{"answer":"done"}`)}, envharness.Fail, "not submitted"},
		{nil, envharness.Fail, "nothing done"},
		{[]envharness.Action{act("submit", `{"answer":["done"]}`), act("submit", `{"answer":"done"}`)}, envharness.Pass, "after a refusal"},
	} {
		if tr := play(t, w, nil, k.actions...); tr.Verdict.Status != k.want {
			t.Errorf("%s: %+v: %s", k.reason, tr.Verdict, tr.Cause)
		}
	}
}

// A limit on turns counts every turn, and truncates.
func TestMaxTurns(t *testing.T) {
	c := restock(stockroom(mcptest.Options{}))
	c.MaxTurns = 2
	tr := play(t, world(t, c), nil, act("teleport", ""), act("teleport", ""), act("teleport", ""))
	if len(tr.Turns) != 2 || tr.Verdict.Status != envharness.Fail || tr.Turns[1].Raw.Reason != "max_turns" {
		t.Errorf("%d turns, %+v", len(tr.Turns), tr.Verdict)
	}
}

func TestTasks(t *testing.T) {
	c := judged(serve(t, desk("look")))
	c.Tasks = []mcpenv.Task{
		{Task: envharness.Task{ID: "a", Split: "train"}},
		{Task: envharness.Task{ID: "b", Split: "test"}},
		{Task: envharness.Task{ID: "c", Split: "train"}},
	}
	env := must(world(t, c).New(t.Context()))
	lister, _ := envharness.As[envharness.TaskLister](env)
	got, err := lister.Tasks(t.Context(), "train")
	if want := []envharness.Task{c.Tasks[0].Task, c.Tasks[2].Task}; err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := lister.Tasks(t.Context(), "dev"); err == nil || err.Error() != `mcpenv: unknown split "dev", want one of ["train" "test"]` {
		t.Error(err)
	}
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{Task: "z"}); !errors.Is(err, envharness.ErrNoTask) {
		t.Error(err)
	}
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{Seed: new(uint64(1))}); !errors.Is(err, envharness.ErrSeedUnsupported) {
		t.Error(err)
	}
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{Options: json.RawMessage(`{"a":1}`)}); err == nil {
		t.Error("options that nobody reads must not pass")
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if _, err := lister.Tasks(t.Context(), "train"); !errors.Is(err, envharness.ErrClosed) {
		t.Error(err)
	}
}

// What becomes of a config later does not change the world.
func TestConfigCopied(t *testing.T) {
	c := goal(`{"a":1}`, nil)
	w := world(t, c)
	c.Tasks[0].ID = "b"
	copy(c.Tasks[0].Goal, `{"a":2}`)
	if v, err := w.Verifier.Verify(t.Context(), evidence(`{"a":1}`)); err != nil || v.Status != envharness.Pass {
		t.Errorf("%+v, %v", v, err)
	}
}

// All faults of a config are in one error.
func TestConfig(t *testing.T) {
	_, err := mcpenv.World(mcpenv.Config{
		Read: act("", `[1]`), MaxTurns: -1, Rename: map[string]string{"a": "reset", "b": ""}, Unordered: []string{"items", "/a~2"},
		Tasks: []mcpenv.Task{
			{Goal: json.RawMessage(`{`), Start: []envharness.Action{act("a", `3`), act("", `{}`)}},
			{Task: envharness.Task{ID: "x", Options: json.RawMessage(`{"a":1}`)}}, {Task: envharness.Task{ID: "x"}},
		},
	})
	if err == nil {
		t.Fatal("all that is wrong has passed")
	}
	for _, want := range []string{
		"Server is nil", "nothing can be judged", "Read: arguments", "MaxTurns is -1", `"a" to "reset"`, `"b" to ""`,
		`"items" is no JSON pointer`, `"/a~2" is no JSON pointer`, "the Goal is no JSON", `start 0 "a"`, `start 1 ""`,
		"the ID is empty", "there are Options",
		"the ID is used twice", "there is no Goal",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	if _, err := mcpenv.World(mcpenv.Config{}); err == nil || !strings.Contains(err.Error(), "there are no Tasks") {
		t.Error(err)
	}
}
