package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// programs are those of the README, in order. The first Go block is a complete program, without its first comment; the others are what the main function
// does, without its indentation. The text block after each is what the program prints.
var programs = []string{"quickstart/select", "quickstart/corpus", "quickstart/skills", "quickstart/rigger", "quickstart/credit"}

func TestReadme(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	if n := strings.Count(readme, "\n"); n >= 200 {
		t.Errorf("README.md has %d lines, want fewer than 200", n)
	}
	code, output := blocks(readme, "go"), blocks(readme, "text")
	if len(code) != len(programs) || len(output) != len(programs) {
		t.Fatalf("README.md has %d Go blocks and %d text blocks, want %d of each", len(code), len(output), len(programs))
	}
	for i, dir := range programs {
		t.Run(dir, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join(dir, "main.go"))
			if err != nil {
				t.Fatal(err)
			}
			_, program, _ := strings.Cut(string(source), "package main")
			want := "package main" + program
			if i > 0 {
				want = mainBody(t, program)
			}
			if diff := cmp.Diff(want, code[i]); diff != "" {
				t.Errorf("Go block %d of README.md differs from %s (-source +README):\n%s", i, dir, diff)
			}
			cmd := exec.Command("go", "run", "./"+dir)
			cmd.Stderr = os.Stderr
			printed, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(printed), output[i]); diff != "" {
				t.Errorf("text block %d of README.md differs from the output of %s (-printed +README):\n%s", i, dir, diff)
			}
		})
	}
	// The dependencies that the README lists are those of the root module.
	mod, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, listed, _ := strings.Cut(readme, "Dependencies of the root module:")
	listed, _, _ = strings.Cut(listed, "\n\n")
	required := regexp.MustCompile(`(?m)^(?:require )?\s*(\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1)
	if len(required) == 0 {
		t.Error("no requirement found in go.mod")
	}
	for _, m := range required {
		if !strings.Contains(listed, m[1]) {
			t.Errorf("README.md does not list the dependency %s", m[1])
		}
	}
	if n := len(regexp.MustCompile(`[a-z]+\.(?:[a-z]+\.)?[a-z]+/\S`).FindAllString(listed, -1)); n != len(required) {
		t.Errorf("README.md lists %d dependencies, go.mod has %d", n, len(required))
	}
	for _, command := range []string{"go run ./examples/pipeline\n", "go test work\n"} {
		if !strings.Contains(readme, "\n"+command) {
			t.Errorf("README.md lacks the command %q", command)
		}
	}
}

// mainBody returns what is between the braces of the main function, which is the last of the program.
func mainBody(t *testing.T, program string) string {
	t.Helper()
	_, body, found := strings.Cut(program, "\nfunc main() {\n")
	body, closed := strings.CutSuffix(body, "\n}\n")
	if !found || !closed {
		t.Fatal("main is not the last function of the program")
	}
	return strings.ReplaceAll("\n"+body, "\n\t", "\n")[1:] + "\n"
}

// blocks returns the fenced blocks of a language.
func blocks(markdown, language string) []string {
	var out []string
	for _, part := range strings.Split(markdown, "\n```"+language+"\n")[1:] {
		body, _, _ := strings.Cut(part, "```")
		out = append(out, body)
	}
	return out
}
