package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openenv"
	"github.com/throughline-go/throughline/envharness/yardstick"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// start runs the program until the test ends, and returns its address.
func start(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(ctx, append([]string{"-listen", "127.0.0.1:0"}, args...), w, io.Discard)
		w.CloseWithError(err)
		done <- err
	}()
	lines := bufio.NewScanner(r)
	if !lines.Scan() {
		stop()
		t.Fatal(lines.Err(), <-done)
	}
	_, address, ok := strings.Cut(lines.Text(), " at ")
	if !ok {
		t.Errorf("it prints %q", lines.Text())
	}
	t.Cleanup(func() {
		stop()
		if !lines.Scan() || lines.Text() != "shutting down" {
			t.Errorf("it ends with %q", lines.Text())
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return address
}

// A client plays what the oracle plays, and gets the reward.
func TestEpisode(t *testing.T) {
	address := start(t)
	world, err := worlds.Find("tooldesk_small")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := world.Tasks(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := yardstick.Plan(t.Context(), world.World, tasks[0])
	if err != nil {
		t.Fatal(err)
	}
	env, err := openenv.Open(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	first, err := env.Reset(t.Context(), envharness.ResetOptions{Task: tasks[0].ID})
	if err != nil {
		t.Fatal(err)
	}
	if stated, _ := first.Data["task"].(string); stated == "" || !strings.HasPrefix(first.Text, stated) {
		t.Errorf("shown %q for the task %q", first.Text, stated)
	}
	var last envharness.Transition
	for i, a := range plan {
		if last, err = env.Step(t.Context(), a); err != nil || last.Error != nil {
			t.Fatalf("step %d, %v: %v, %v", i, a, last.Error, err)
		}
	}
	if got, want := fmt.Sprint(last.Terminated, last.Reward), "true 1"; got != want {
		t.Errorf("the plan ends with %s, want %s", got, want)
	}
}

// The Python client of the package comment plays to the end.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	if err := exec.CommandContext(t.Context(), python, "-c", "import openenv.core.generic_client").Run(); err != nil {
		t.Skip("python3 has no package openenv-core")
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	var program strings.Builder
	comment, _, _ := strings.Cut(string(source), "\npackage main\n")
	for line := range strings.Lines(comment) {
		if code, ok := strings.CutPrefix(line, "//\t"); ok && !strings.HasPrefix(code, "go run") {
			program.WriteString(code)
		}
	}
	const documented = "http://127.0.0.1:8000"
	if !strings.Contains(program.String(), documented) {
		t.Fatalf("the comment has no client:\n%s", program.String())
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", strings.ReplaceAll(program.String(), documented, start(t)))
	printed, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(printed), "\n0 False\n") {
		t.Errorf("%v, printed\n%s", err, printed)
	}
}

func TestArguments(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"-world nowhere", `no world "nowhere"`},
		{"-sessions -1", "Sessions"},
		{"-listen nowhere", "missing port"},
		{"-listen", "flag needs an argument"},
	} {
		if err := run(t.Context(), strings.Fields(tt.args), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
}
