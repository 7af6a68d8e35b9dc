package stdio_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/stdio"
)

// A program serves an environment on its standard streams; here a string takes their place.
func ExampleServe() {
	requests := strings.NewReader(`{"id":1,"op":"reset","task":"3,3,8,8"}
{"id":2,"op":"step","action":{"name":"combine","args":{"i":2,"j":0,"op":"div"}}}
{"id":3,"op":"verify"}
{"id":4,"op":"state"}
{"id":5,"op":"close"}
`)
	var answers strings.Builder
	if err := stdio.Serve(context.Background(), game24.New(nil), requests, &answers); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(answers.String()) {
		line = strings.TrimSpace(line)
		fmt.Println(line[:min(len(line), 70)])
	}
	// Output:
	// {"id":1,"ok":{"obs":{"text":"target=24, numbers=[3, 3, 8, 8]","data":{
	// {"id":2,"ok":{"obs":{"text":"target=24, numbers=[3, 8, 8/3]","data":{"
	// {"id":3,"error":{"code":"ErrBadMessage","message":"there is no such op
	// {"id":4,"ok":{"state":{"history":["8 div 3 = 8/3"],"numbers":["3","8",
	// {"id":5,"ok":{}}
}

// gameProgram is a program that serves the game of 24: this one, which a variable tells to do so.
func gameProgram() stdio.Command {
	return stdio.Command{Args: []string{os.Args[0]}, Env: []string{"STDIO_TEST_MODE=game24"}}
}

// The environment of a program is used like any other; what it can do besides is found with As.
func ExampleOpen() {
	ctx := context.Background()
	env, err := stdio.Open(ctx, gameProgram())
	if err != nil {
		log.Fatal(err)
	}
	defer env.Close()
	if d, ok := envharness.As[envharness.Describer](env); ok {
		fmt.Println(d.Describe().Name, "has", len(d.Describe().Tools), "tools")
	}
	first, err := env.Reset(ctx, envharness.ResetOptions{Task: "4,4,10,10", Seed: new(uint64(1))})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Text)
	t, err := env.Step(ctx, envharness.Action{Name: "stop"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("terminated:", t.Terminated)
	_, err = env.Step(ctx, envharness.Action{Name: "stop"})
	fmt.Println("over:", errors.Is(err, envharness.ErrEpisodeOver))
	// Output:
	// game24 has 3 tools
	// target=24, numbers=[4, 4, 10, 10]
	// terminated: true
	// over: true
}

// An error of the program is one of package envharness. What the program says about it is kept apart, since it may hold anything.
func ExampleError() {
	ctx := context.Background()
	env, err := stdio.Open(ctx, gameProgram())
	if err != nil {
		log.Fatal(err)
	}
	defer env.Close()
	_, err = env.Reset(ctx, envharness.ResetOptions{Task: "1,2,3"})
	if e, ok := errors.AsType[*stdio.Error](err); ok {
		fmt.Println(e.Error())
		fmt.Println(e.Unwrap() == envharness.ErrNoTask)
		fmt.Println(e.Message)
	}
	// Output:
	// stdio: reset: envharness: no such task
	// true
	// game24: envharness: no such task: "1,2,3", want four numbers from 1 to 13 in ascending order, such as "1,2,3,4"
}

// Policies play the world of a program, and the verifier of this side judges.
func ExampleWorld() {
	world := stdio.World(gameProgram(), game24.World(nil).Verifier)
	first := func(int) (envharness.Policy, error) {
		return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
			return t.Shown.Actions[len(t.Shown.Actions)-1], nil
		}), nil
	}
	tasks := []envharness.Task{{ID: "3,3,8,8"}, {ID: "1,2,3,4"}}
	traces, err := envharness.Rollouts(context.Background(), world, nil, first, tasks, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range traces {
		fmt.Println(t.Task.ID, t.Verdict.Status, t.End, t.Verdict.Reason)
	}
	// Output:
	// 3,3,8,8 fail terminated 4 numbers are left
	// 1,2,3,4 fail terminated 4 numbers are left
}
