package mcpenv_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/mcpenv"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// child holds the options of a server, for a copy of this program that is one.
const child = "MCPENV_TEST_SERVER"

func TestMain(m *testing.M) {
	raw, ok := os.LookupEnv(child)
	if !ok {
		os.Exit(m.Run())
	}
	var o mcptest.Options
	if err := errors.Join(json.Unmarshal([]byte(raw), &o), mcptest.Serve(context.Background(), &o)); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}

// must returns v, and panics on an error: in tests and examples, where there is nothing else to do.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// maxMessage is the bound on the messages of the servers of tests, and tooLong is beyond it.
const maxMessage, tooLong = 64 << 10, 100 << 10

// stockroom is a server of the test kit as a process, with its stock in the folder of the episode.
func stockroom(o mcptest.Options) func(dir string) mcpenv.Server {
	return func(dir string) mcpenv.Server {
		o := o
		o.File = filepath.Join(dir, "stock.json")
		return mcpenv.Server{
			Command: []string{must(os.Executable())},
			Env:     []string{child + "=" + string(must(json.Marshal(o))), "GORACE=atexit_sleep_ms=0"}, // else the race detector waits a second
			Grace:   200 * time.Millisecond, MaxMessage: maxMessage,
		}
	}
}

func act(name, args string) envharness.Action {
	return envharness.Action{Name: name, Args: json.RawMessage(args)}
}

// restock is a world of one task: five bolts are to become nine, and the nuts are to go.
func restock(server func(dir string) mcpenv.Server) mcpenv.Config {
	return mcpenv.Config{
		Name:   "stockroom",
		Server: server,
		Tasks: []mcpenv.Task{{
			Task:   envharness.Task{ID: "restock", Split: "train"},
			Prompt: "Set the bolts to 9 and remove the nuts.",
			Start: []envharness.Action{
				act("create_item", `{"name":"bolt","shelf":"A1","count":5}`), act("create_item", `{"name":"nut","shelf":"B2","count":1}`),
				act("create_item", `{"name":"gear","shelf":"C3","count":2}`),
			},
			Goal: json.RawMessage(`{"items":[{"name":"gear","shelf":"C3","count":2},{"count":9,"shelf":"A1","name":"bolt"}]}`),
		}},
		Read: act("list_items", `{}`),
	}
}

// solution solves restock.
func solution() []envharness.Action {
	return []envharness.Action{act("delete_item", `{"name":"nut"}`), act("update_item", `{"name":"bolt","count":9}`)}
}

// script is a policy that makes the calls and stops.
func script(actions ...envharness.Action) func(int) (envharness.Policy, error) {
	return func(int) (envharness.Policy, error) {
		next := 0
		return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
			if next == len(actions) {
				return envharness.Action{}, envharness.ErrStop
			}
			next++
			return actions[next-1], nil
		}), nil
	}
}

// world makes the world, or fails the test.
func world(t testing.TB, c mcpenv.Config) envharness.World {
	t.Helper()
	w, err := mcpenv.World(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// play plays the calls once, without another try.
func play(t testing.TB, w envharness.World, components []envharness.Component, actions ...envharness.Action) envharness.Trace {
	t.Helper()
	once := &envharness.RolloutOptions{Reruns: new(0)}
	traces, err := envharness.Rollouts(t.Context(), w, components, script(actions...), []envharness.Task{{}}, once)
	if err != nil {
		t.Fatal(err)
	}
	return traces[0]
}
