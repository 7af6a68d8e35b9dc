package openenv_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/openenv"
)

// A world is served with a component around it, and played by a client over the wire.
func Example() {
	ctx := context.Background()
	world := game24.World(nil)
	server, err := openenv.NewServer(func(context.Context) (envharness.Environment, error) {
		return envharness.New(world, components.StepBudget{Turns: 2})
	}, &openenv.ServerOptions{Sessions: 16})
	if err != nil {
		log.Fatal(err)
	}
	listener := httptest.NewServer(server)
	defer listener.Close()

	env, err := openenv.Open(ctx, listener.URL, nil)
	if err != nil {
		log.Fatal(err)
	}
	o, err := env.Reset(ctx, envharness.ResetOptions{Task: "3,3,8,8", Seed: new(uint64(7))})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Text)
	for range 2 {
		t, err := env.Step(ctx, envharness.Action{Name: "combine", Args: []byte(`{"i":0,"j":1,"op":"add"}`)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s terminated=%t truncated=%t %q\n", t.Observation.Text, t.Terminated, t.Truncated, t.Reason)
	}
	if err := env.Close(); err != nil {
		log.Fatal(err)
	}
	if err := server.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// target=24, numbers=[3, 3, 8, 8]
	// target=24, numbers=[8, 8, 6] terminated=false truncated=false ""
	// target=24, numbers=[6, 16] terminated=false truncated=true "budget:step_budget"
}

// A server is a handler like any other.
func ExampleNewServer() {
	server, err := openenv.NewServer(game24.World(nil).New, &openenv.ServerOptions{Name: "the game of 24", Version: "1"})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/game/", http.StripPrefix("/game", server))

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/game/metadata", nil))
	fmt.Println(w.Body)

	_, err = openenv.NewServer(nil, &openenv.ServerOptions{Sessions: -1})
	fmt.Println(err)
	// Output:
	// {"name":"the game of 24","description":"the game of 24","readme_content":null,"version":"1","author":null,"documentation_url":null}
	// openenv: open is nil
	// openenv: Sessions is -1, want at least 0
}

func ExampleServer_ServeHTTP() {
	server, err := openenv.NewServer(game24.World(nil).New, nil)
	if err != nil {
		log.Fatal(err)
	}
	w := httptest.NewRecorder()
	server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/health", nil))
	fmt.Println(w.Code, w.Body)
	// Output: 200 {"status":"healthy"}
}

// The server around the handler is stopped first: it takes no new connections, and then the sessions end.
func ExampleServer_Shutdown() {
	ctx := context.Background()
	server, err := openenv.NewServer(game24.World(nil).New, nil)
	if err != nil {
		log.Fatal(err)
	}
	listener := httptest.NewServer(server)
	env, err := openenv.Open(ctx, listener.URL, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := listener.Config.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	if err := server.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	_, err = env.Reset(ctx, envharness.ResetOptions{})
	fmt.Println(errors.Is(err, envharness.ErrInfra))
	fmt.Println(env.Close())
	// Output:
	// true
	// <nil>
}

// A server at its limit says so; a client can tell and come back later.
func ExampleOpen() {
	ctx := context.Background()
	server, err := openenv.NewServer(game24.World(nil).New, nil) // one session
	if err != nil {
		log.Fatal(err)
	}
	listener := httptest.NewServer(server)
	defer listener.Close()
	first, err := openenv.Open(ctx, listener.URL, &openenv.ClientOptions{Header: http.Header{"Authorization": {"Bearer token"}}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = openenv.Open(ctx, listener.URL, nil)
	if e, ok := errors.AsType[*openenv.Error](err); ok {
		fmt.Println(e.Code)
	}
	if d, ok := envharness.As[envharness.Describer](first); ok {
		for _, tool := range d.Describe().Tools {
			fmt.Println(tool.Name)
		}
	}
	if err := first.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// CAPACITY_REACHED
	// combine
	// restart
	// stop
}

// Rollouts play at a server as they do in process, and the verdict is made here, from the log.
func ExampleWorld() {
	ctx := context.Background()
	local := game24.World(nil)
	server, err := openenv.NewServer(local.New, &openenv.ServerOptions{Sessions: 2, ExposeState: true})
	if err != nil {
		log.Fatal(err)
	}
	listener := httptest.NewServer(server)
	defer listener.Close()

	remote := openenv.World(listener.URL, local.Verifier, nil)
	stop := envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
		return envharness.Action{Name: "stop"}, nil
	})
	traces, err := envharness.Rollouts(ctx, remote, nil, func(int) (envharness.Policy, error) { return stop, nil },
		[]envharness.Task{{ID: "3,3,8,8"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(traces[0].Verdict.Status, traces[0].End, traces[0].Verdict.Unreplayed)
	// Output: fail terminated false
}

func ExampleError_Error() {
	err := &openenv.Error{Code: "EXECUTION_ERROR", Class: "timeout"}
	fmt.Println(err.Error())
	// Output: openenv: the server reports EXECUTION_ERROR (timeout)
}

func ExampleError_Unwrap() {
	fmt.Println(errors.Is(&openenv.Error{Code: "CAPACITY_REACHED"}, envharness.ErrInfra))
	fmt.Println(errors.Is(&openenv.Error{Code: "EXECUTION_ERROR", Class: "no_task"}, envharness.ErrNoTask))
	// Output:
	// true
	// true
}
