package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// play runs the program with a script as its input.
func play(t *testing.T, script string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(script), &out, &errs, true)
	return out.String(), errs.String(), code
}

// A script gives the same transcript always: all sorts of answers, refusals, the oracle, actions taken back, and the verdict.
func TestTranscripts(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		args         []string
		script       string
	}{
		{"game24", "a game that is won, by number, in words and as JSON", []string{"-world", "game24", "-task", "1,1,2,6"},
			"?\n\no\ncombine 0 1 add\nu\nu\ncombine 0 9 add\ncombine one 1 add\ncombine 0 1\n0\n51\nwhat\ncombine {\"i\":0\n" +
				"combine {\"i\":0,\"j\":1,\"op\":\"add\"}\ncombine 0 2  mul\nCOMBINE 0 1 MUL\nu\nstop now\no\n3\no\nstop\nnot read any more\n"},
		{"keydoor_small", "left before the end, and a refusal", []string{"-world", "keydoor_small", "-split", "validation", "-n", "3"},
			"a\nuse\n1\no\nu\nnoop\nq\n"},
		{"household_small", "commands without the name of the tool; the input ends", []string{"-world", "household_small", "-split", "test", "-n", "1"},
			"?\nlook\nopen the window\no\n1\ninventory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			got, stderr, code := play(t, tt.script, tt.args...)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d, %q", code, stderr)
			}
			file := filepath.Join("testdata", tt.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The limit that is shown is that of the task, where the world has a higher one for others.
func TestShowsTheLimitOfTheTask(t *testing.T) {
	for task, want := range map[string]string{"2,5,0,0": "turn 1 of at most 42> ", "4,8,2,0": "turn 1 of at most 120> "} {
		if out, stderr, code := play(t, "q\n", "-world", "keydoor", "-task", task); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, %s, want %q in\n%s", task, code, stderr, want, out)
		}
	}
}

// Whoever does what the oracle says wins in every world, and the harness says so.
func TestFollowTheOracle(t *testing.T) {
	for _, w := range worlds.All() {
		tasks, err := w.Tasks(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := w.Plan(t.Context(), tasks[0])
		if err != nil {
			t.Fatal(err)
		}
		var script strings.Builder
		for _, a := range plan {
			script.WriteString("o\n" + a.Name + " " + string(a.Args) + "\n")
		}
		out, stderr, code := play(t, script.String(), "-world", w.Name, "-split", "test")
		if code != 0 || !strings.Contains(out, ": pass, score 1.00\n") {
			t.Errorf("%s: exit code %d, %s\n%s", w.Name, code, stderr, out)
		}
		if strings.Count(out, "the oracle would: ") != len(plan) {
			t.Errorf("%s: the oracle was asked %d times:\n%s", w.Name, len(plan), out)
		}
	}
}

func TestLists(t *testing.T) {
	out, _, code := play(t, "")
	for _, w := range worlds.All() {
		if code != 0 || !strings.Contains(out, "\n"+w.Name+" ") {
			t.Errorf("exit code %d; %s is not among the worlds:\n%s", code, w.Name, out)
		}
	}
	out, _, code = play(t, "", "-world", "game24", "-split", "ood", "-list")
	if code != 0 || strings.Count(out, "\n") != 797 || !strings.HasPrefix(out, "INDEX") || !strings.Contains(out, "\n795 ") {
		t.Errorf("exit code %d, %d lines of tasks", code, strings.Count(out, "\n"))
	}
}

func TestBadInput(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-nope"}, "-nope"},
		{[]string{"extra"}, `"extra"`},
		{[]string{"-world", "none"}, `no world "none"`},
		{[]string{"-world", "game24", "-split", "none"}, `"none"`},
		{[]string{"-world", "game24", "-n", "436"}, "index 436 is not below 436"},
		{[]string{"-world", "game24", "-n", "-1"}, "index -1"},
		{[]string{"-world", "game24", "-task", "0,0,0,0"}, "0,0,0,0"},
	} {
		out, stderr, code := play(t, "1\n", tt.args...)
		if code != 2 || !strings.Contains(stderr, tt.want) || out != "" {
			t.Errorf("%q: exit code %d, %q, printed %q", tt.args, code, stderr, out)
		}
	}
	if _, _, code := play(t, "", "-help"); code != 0 {
		t.Errorf("-help: exit code %d", code)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"-world", "game24"}, strings.NewReader("1\n"), &out, &errs, false); code != 130 {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
}

// broken is a writer, or a reader, that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
func (broken) Read([]byte) (int, error)  { return 0, errors.New("broken pipe") }

func TestBrokenPipes(t *testing.T) {
	for _, args := range [][]string{{"-world", "game24"}, {"-world", "game24", "-list"}, nil} {
		if code := run(t.Context(), args, strings.NewReader("50\n"), broken{}, io.Discard, true); code != 1 {
			t.Errorf("%q to a broken pipe: exit code %d", args, code)
		}
	}
	if code := run(t.Context(), []string{"-world", "game24"}, broken{}, io.Discard, io.Discard, true); code != 1 {
		t.Errorf("from a broken pipe: exit code %d", code)
	}
}

// Lines are bounded, and what cannot be an answer is no end of the game.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, tt := range []struct {
		in   string
		want []string // a line, or "!" for one that cannot be an answer
	}{
		{"", nil},
		{"a", []string{"a"}},
		{"a\n", []string{"a"}},
		{"a\r\n\t b \n\nc", []string{"a", "b", "", "c"}},
		{long + "\n" + long + "\r\nb", []string{long, long, "b"}},
		{long + "x\nb\n", []string{"!", "b"}},
		{strings.Repeat(long, 5) + "\nb\n", []string{"!", "b"}},
		{strings.Repeat(long, 5), []string{"!"}},
		{"\x1b[2J\nb\xff\nc\n", []string{"!", "!", "c"}},
	} {
		var got []string
		for l := newLines(strings.NewReader(tt.in)); ; {
			line, err := l.next()
			if errors.Is(err, errLine) {
				line = "!"
			} else if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				break
			}
			got = append(got, line)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%.20q (-want +got):\n%s", tt.in, d)
		}
	}
	out, _, code := play(t, long+"x\nq\n", "-world", "game24")
	if code != 0 || !strings.Contains(out, errLine.Error()) {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// Whatever is typed is an action with a JSON object, or none, or an error.
func FuzzRead(f *testing.F) {
	w, err := worlds.Find("tooldesk")
	if err != nil {
		f.Fatal(err)
	}
	d, err := w.Describe(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	actions := []envharness.Action{{Name: "submit", Args: []byte(`{"answer":"transferred"}`)}}
	for _, line := range []string{"1", "submit transferred", "list_orders c1", `refund {"amount_cents":5,"order_id":"o"}`, "refund 5 o",
		"refund five o", "x", ""} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a, err := read(line, actions, d.Tools)
		if err != nil {
			return
		}
		var object map[string]any
		if a.Args != nil && (json.Unmarshal(a.Args, &object) != nil || object == nil) {
			t.Errorf("%q is read as %s %s", line, a.Name, a.Args)
		}
		if !slices.ContainsFunc(d.Tools, func(tool envharness.Tool) bool { return tool.Name == a.Name }) {
			t.Errorf("%q calls %q, which is no tool", line, a.Name)
		}
	})
}

// What an answer is read as.
func TestRead(t *testing.T) {
	object := func(properties, required string) []byte {
		return []byte(`{"properties":{` + properties + `},"required":[` + required + `],"type":"object"}`)
	}
	several := []envharness.Tool{
		{Name: "send", Schema: object(`"text":{"type":"string"},"to":{"type":"string"},"copy":{"type":"boolean"}`, `"text","to"`)},
		{Name: "wait", Schema: object(`"days":{"type":"integer"}`, `"days"`)},
		{Name: "end"},
	}
	one := []envharness.Tool{{Name: "do", Schema: object(`"text":{"type":"string"}`, `"text"`)}}
	actions := []envharness.Action{{Name: "wait", Args: []byte(`{"days":3}`)}, {Name: "end"}, {Name: "do", Args: []byte(`{"text":"go to desk 1"}`)}}
	for _, tt := range []struct {
		line   string
		tools  []envharness.Tool
		want   string
		reason string
	}{
		{"1", several, `wait {"days":3}`, "the number of an action"},
		{"2", several, `end`, "and of one without arguments"},
		{"4", several, "error: there is no action 4", "there are three"},
		{"-1", several, "error: there is no action -1", "numbers begin at 1"},
		{"Wait  3", several, `wait {"days":3}`, "an action in words, whatever the case"},
		{"wait 4", several, `wait {"days":4}`, "a number stays one"},
		{"wait long", several, "error: argument days of wait must be JSON of type integer", "a word is no number"},
		{"wait", several, "error: wait lacks its argument days", "it is needed"},
		{"wait 4 more", several, "error: argument days", "the last argument is the rest of the line"},
		{"end", several, "end", "no arguments"},
		{"end it", several, "error: end takes no arguments", "there are none"},
		{"send hello me and you", several, `send {"text":"hello","to":"me and you"}`, "the last argument may have spaces"},
		{`send {"to":"me","text":"a b","copy":true}`, several, `send {"to":"me","text":"a b","copy":true}`, "JSON as it is"},
		{`send {"to":`, several, "error: the arguments are no JSON object", "broken JSON"},
		{"go to desk 1", several, `error: there is no tool "go"`, "the tool does not go without saying here"},
		{"go to desk 1", one, `do {"text":"go to desk 1"}`, "an admissible command"},
		{"do go to desk 1", one, `do {"text":"go to desk 1"}`, "with the tool's name as well"},
		{"open the \"window\"", one, `do {"text":"open the \"window\""}`, "any other command"},
	} {
		got := ""
		a, err := read(tt.line, actions, tt.tools)
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = a.String()
		}
		if got != tt.want && !(err != nil && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s: %q is read as %s, want %s", tt.reason, tt.line, got, tt.want)
		}
	}
}
