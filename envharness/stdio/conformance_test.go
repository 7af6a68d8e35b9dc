package stdio

import (
	"context"
	"encoding/json"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envtest"
)

var hands = []envharness.Task{{ID: "3,3,8,8"}, {ID: "1,2,3,4"}}

// What the kit asks of an environment holds for one that is served, too; in short mode without a process of its own.
func TestServedEnvironmentConforms(t *testing.T) {
	c := program(t, "game24")
	e := envtest.Environment{
		New:       func(ctx context.Context) (envharness.Environment, error) { return Open(ctx, c) },
		Tasks:     hands,
		SeedBlind: true,
		Steps:     100,
	}
	if testing.Short() {
		e.New = func(ctx context.Context) (envharness.Environment, error) {
			return open(ctx, startPipe(func(r io.Reader, w io.Writer) error { return Serve(context.Background(), game24.New(nil), r, w) }))
		}
		e.Tasks, e.Steps = e.Tasks[:1], 30
	}
	e.Run(t)
}

// script writes the program of the package comment to a file and returns a command that runs it.
func script(t testing.TB) Command {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(f.Doc.Text(), "\n# An environment in Python\n")
	if !ok {
		t.Fatal("no Python in the package comment")
	}
	text, _, _ = strings.Cut(text, "\n# ")
	var code strings.Builder
	for line := range strings.Lines(text) {
		if line == "\n" || strings.HasPrefix(line, "\t") {
			code.WriteString(strings.TrimPrefix(line, "\t"))
		}
	}
	name := filepath.Join(t.TempDir(), "guess.py")
	if err := os.WriteFile(name, []byte(code.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return Command{Args: []string{python, "-S", "-E", name}, Stderr: os.Stderr}
}

// The program of the package comment is an environment.
func TestPythonEnvironment(t *testing.T) {
	c := script(t)
	w := World(c, envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
		var end struct{ Won bool }
		if err := json.Unmarshal(e.End, &end); err != nil {
			return envharness.Verdict{}, err
		}
		if end.Won {
			return envharness.Verdict{Status: envharness.Pass, Score: 1}, nil
		}
		return envharness.Verdict{Status: envharness.Fail}, nil
	}))
	bisect := func(int) (envharness.Policy, error) {
		low, high, n := 1, 9, 0
		return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
			switch t.Shown.Text {
			case "Higher.":
				low = n + 1
			case "Lower.":
				high = n - 1
			}
			n = (low + high) / 2
			return envharness.Action{Name: "guess", Args: []byte(`{"n":` + string(rune('0'+n)) + `}`)}, nil
		}), nil
	}
	traces, err := envharness.Rollouts(t.Context(), w, nil, bisect, make([]envharness.Task, 3), &envharness.RolloutOptions{Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range traces {
		if tr.Verdict.Status != envharness.Pass || tr.Verdict.Unreplayed {
			t.Errorf("%+v, %s", tr.Verdict, tr.Cause)
		}
	}
	if testing.Short() {
		return
	}
	envtest.Environment{
		New:   func(ctx context.Context) (envharness.Environment, error) { return Open(ctx, c) },
		Steps: 40,
	}.Run(t)
}
