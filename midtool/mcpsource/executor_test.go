package mcpsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/throughline-go/throughline/midtool"
)

// A call is one of a test, with the answer that is wanted, or a part of the error.
type call struct{ tool, arguments, want string }

func run(t *testing.T, e *Executor, id string, tools map[string]midtool.Tool, calls []call) {
	t.Helper()
	s, err := e.Open(t.Context(), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range calls {
		r, err := s.Execute(t.Context(), tools[c.tool], json.RawMessage(c.arguments))
		got := fmt.Sprintf("%s %v", r.Value, r.IsError)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want && (err == nil || !strings.HasPrefix(c.want, "error: ") || !strings.Contains(got, strings.TrimPrefix(c.want, "error: "))) {
			t.Errorf("%s: call %d, %s: got %s, want %s", id, i, c.tool, got, c.want)
		}
		if strings.Contains(got, marker) {
			t.Errorf("%s: call %d, %s: %s holds a secret", id, i, c.tool, got)
		}
	}
}

func recorded(t *testing.T, server Server, file string, allow func(midtool.Tool) bool) *Executor {
	t.Helper()
	e, err := Record(file, Options{Servers: map[string]Server{"notebook": server}, Allow: allow, Processes: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func all(midtool.Tool) bool { return true }

// A run with the recording of the first gives the same answers without a server, and the file stays as it is.
func TestRecordAndReplay(t *testing.T) {
	noLeaks(t)
	starts, file := filepath.Join(t.TempDir(), "starts"), filepath.Join(t.TempDir(), "answers.jsonl")
	server := program(t, "notebook", "MCPSOURCE_TEST_STARTS="+starts)
	tools := toolsOf(t, server)
	os.Remove(starts)
	reads := []call{
		{"read", `{}`, `{"lines":"","big":9007199254740993} false`},
		{"count_reads", `{}`, `1 false`},
		{"count_reads", ` { } `, `2 false`}, // equal calls, the second one
		{"count_reads", `{"line":"\u0061"}`, `3 false`},
		{"say", `{}`, `"plain words" false`},
		{"fail", `{}`, `{"error":"no paper"} true`},
		{"add_line", `{"line":"a"}`, "error: it is not read-only, and not allowed"},
	}
	e := recorded(t, server, file, nil)
	run(t, e, "one", tools, reads)
	run(t, e, "two", tools, reads) // from what the first asked
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if n := processes(t, starts); n != 1 {
		t.Errorf("%d processes for calls that only read, want 1", n)
	}
	first, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(first), marker) || !strings.Contains(string(first), `"value":{"lines":"","big":9007199254740993}`) {
		t.Errorf("the recording, %v:\n%s", err, first)
	}
	replay, err := Replay(file)
	if err != nil {
		t.Fatal(err)
	}
	run(t, replay, "three", tools, reads[:6])
	run(t, replay, "four", tools, []call{
		{"add_line", `{"line":"a"}`, "error: the recording has no such call"},
		{"count_reads", `{"line":"b"}`, "error: the recording has no such call"},
		{"read", `[]`, "error: arguments: want object, got list"},
		{"read", `{`, "error: arguments:"},
		{"nothing", `{}`, "error: it has no ID"},
	})
	if err := replay.Close(); err != nil {
		t.Error(err)
	}
	again := recorded(t, Server{Command: []string{"no-such-program"}}, file, nil)
	run(t, again, "one", tools, reads)
	if err := errors.Join(again.Close(), again.Close()); err != nil {
		t.Error(err)
	}
	if second, err := os.ReadFile(file); err != nil || string(second) != string(first) {
		t.Errorf("a run from the recording changed it: %v\n%s", err, second)
	}
	if _, err := again.Open(t.Context(), "late", nil); err == nil {
		t.Error("a session was opened after Close")
	}
}

// Sessions that change something do not see each other, go on where their process was given up, and go on from a recording.
func TestRecordChanges(t *testing.T) {
	noLeaks(t)
	starts, file := filepath.Join(t.TempDir(), "starts"), filepath.Join(t.TempDir(), "answers.jsonl")
	server := program(t, "notebook", "MCPSOURCE_TEST_STARTS="+starts)
	tools := toolsOf(t, server)
	os.Remove(starts)
	e := recorded(t, server, file, all)
	sessions := make([]midtool.Session, 4) // more than there are processes for
	for round := range 3 {
		for i := range sessions {
			if round == 0 {
				s, err := e.Open(t.Context(), fmt.Sprint("s", i), nil)
				if err != nil {
					t.Fatal(err)
				}
				sessions[i] = s
			}
			line := fmt.Sprintf(`{"line":"%d.%d"}`, i, round)
			if r, err := sessions[i].Execute(t.Context(), tools["add_line"], json.RawMessage(line)); err != nil ||
				string(r.Value) != fmt.Sprintf(`"%d lines"`, round+1) {
				t.Fatalf("session %d, round %d: %s, %v", i, round, r.Value, err)
			}
			r, err := sessions[i].Execute(t.Context(), tools["read"], json.RawMessage(`{}`))
			var state struct{ Lines string }
			if json.Unmarshal(r.Value, &state); err != nil || strings.Count(state.Lines, fmt.Sprintf("%d.", i)) != round+1 ||
				strings.Count(state.Lines, ",") != round {
				t.Fatalf("session %d, round %d: %s, %v", i, round, r.Value, err)
			}
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if n := processes(t, starts); n != 12 {
		t.Errorf("%d processes, want one a turn, for two are kept and four take turns", n)
	}

	os.Remove(starts)
	e = recorded(t, server, file, all)
	run(t, e, "again", tools, []call{
		{"add_line", `{"line":"1.0"}`, `"1 lines" false`},
		{"add_line", `{"line":"1.1"}`, `"2 lines" false`},
		{"add_line", `{"line":"new"}`, `"3 lines" false`}, // the server is asked for the first time, after the other two
		{"read", `{}`, `{"lines":"1.0,1.1,new","big":9007199254740993} false`},
	})
	if err := e.Close(); err != nil || processes(t, starts) != 1 {
		t.Errorf("%d processes, %v, want 1", processes(t, starts), err)
	}
}

// A server that dies costs one call, which is not recorded; the next one starts it anew. Close ends calls.
func TestExecutorFaults(t *testing.T) {
	noLeaks(t)
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	server := program(t, "notebook")
	tools := toolsOf(t, server)
	stray := tools["read"]
	stray.Group = "elsewhere"
	tools["stray"] = stray
	e := recorded(t, server, file, all)
	run(t, e, "one", tools, []call{
		{"exit", `{}`, "error: exit status 3"},
		{"say", `{}`, `"plain words" false`},
		{"add_line", `{"line":"a"}`, `"1 lines" false`},
		{"exit", `{}`, "error: exit status 3"},
		{"add_line", `{"line":"b"}`, `"2 lines" false`},
		{"stray", `{"line":"x"}`, `error: no server for the group "elsewhere"`},
	})
	s, err := e.Open(t.Context(), "two", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Execute(t.Context(), tools["exit"], json.RawMessage(`{}`)); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("got %v, want ErrNoAnswer", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Execute(ctx, tools["say"], json.RawMessage(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the error of the context", err)
	}
	if _, err := e.Open(ctx, "three", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the error of the context", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	_, err = s.Execute(t.Context(), tools["count_reads"], json.RawMessage(`{}`))
	if err == nil || !strings.Contains(err.Error(), "the executor is closed") {
		t.Errorf("after Close: %v", err)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), "exit") {
		t.Errorf("a call without an answer was recorded, %v:\n%s", err, text)
	}
}

// Sessions that ask the same at the same time get one answer, and what is recorded is what they got.
func TestExecutorAsksOnce(t *testing.T) {
	noLeaks(t)
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	server := program(t, "notebook")
	tools := toolsOf(t, server)
	e := recorded(t, server, file, nil)
	var running sync.WaitGroup
	for i := range 50 {
		running.Go(func() {
			s, err := e.Open(t.Context(), fmt.Sprint(i), nil)
			if err != nil {
				t.Error(err)
				return
			}
			for want := 1; want <= 3; want++ {
				if r, err := s.Execute(t.Context(), tools["count_reads"], json.RawMessage(`{}`)); err != nil || string(r.Value) != fmt.Sprint(want) {
					t.Errorf("session %d: %s, %v, want %d", i, r.Value, err, want)
				}
			}
		})
	}
	running.Wait()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestRecordChecks(t *testing.T) {
	noLeaks(t)
	_, err := Record("", Options{Processes: -1})
	for _, want := range []string{"file is empty", "Options.Servers is empty", "Options.Processes is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Replay(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing recording: %v", err)
	}
}

// A recording that could not be written in the end is refused at the start, and nothing is left of the trial.
func TestRecordUnwritable(t *testing.T) {
	dir := t.TempDir()
	o := Options{Servers: map[string]Server{"notebook": {}}}
	for _, file := range []string{dir, filepath.Join(dir, "nowhere", "answers.jsonl")} {
		if _, err := Record(file, o); err == nil {
			t.Errorf("%s: no error", file)
		}
	}
	e, err := Record(filepath.Join(dir, "answers.jsonl"), o)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

const id = `"tool":"t_0123456789abcdef"`

func TestReadRecording(t *testing.T) {
	good := `{` + id + `,"name":"n","arguments":{"b":1,"a":2},"ordinal":1,"value":null}`
	for _, tt := range []struct{ name, in, want, reason string }{
		{"good", header + "\n\n" + good + "\r\n", "", "blank lines are skipped"},
		{"empty", "", "x: empty, want a recording", "a truncated file is no recording"},
		{"other", "{}\n", "x line 1: the file does not begin as a recording does", "a file of another kind"},
		{"twice", header + "\n" + good + "\n" + strings.Replace(good, `"b":1,"a":2`, `"a":2,"b":1`, 1),
			`x: two answers to one call of "n"`, "in any order of keys"},
		{"no JSON", header + "\n" + marker, "x line 2: ", "nothing of it is said"},
		{"tool", header + "\n{}", `x line 2: "tool" is not the ID of a tool`, "all fields are checked"},
		{"after", header + "\n{" + id + `,"after":"x"}`, `"after" is not 16 hex digits`, "all fields are checked"},
		{"arguments", header + "\n{" + id + `,"arguments":[]}`, `"arguments" is not an object`, "all fields are checked"},
		{"ordinal", header + "\n{" + id + `,"arguments":{},"ordinal":0}`, `"ordinal" is not a number of 1 or more`, "all fields are checked"},
		{"value", header + "\n{" + id + `,"arguments":{},"ordinal":1}`, `"value" is missing`, "all fields are checked"},
		{"flag", header + "\n{" + id + `,"arguments":{},"ordinal":1,"value":1,"is_error":"no"}`,
			`"is_error" is not a boolean`, "all fields are checked"},
	} {
		r, err := read(strings.NewReader(tt.in), "x")
		if tt.want == "" && (err != nil || len(r.known) != 1) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), marker)) {
			t.Errorf("%s: %v, want %q (%s)", tt.name, err, tt.want, tt.reason)
		}
	}
}

// A recording that is accepted is written as bytes that are read as the same recording, and then stay the same.
func FuzzRecording(f *testing.F) {
	f.Add([]byte(header + "\n{" + id +
		`,"name":"é","after":"0123456789abcdef","arguments":{"b":1.0,"a":"<\u2028"},"ordinal":2,"value":9007199254740993}`))
	f.Add([]byte(header + "\n{" + id + `,"arguments":{},"ordinal":1,"value":{"z":[1e400,-0]},"is_error":true}` + "\n\n"))
	f.Add([]byte(header))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := read(strings.NewReader(string(text)), "x")
		if err != nil {
			return
		}
		write := func(r *records) string {
			file := filepath.Join(t.TempDir(), "r")
			if err := r.save(file); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		first := write(r)
		back, err := read(strings.NewReader(first), "x")
		if err != nil || len(back.known) != len(r.known) {
			t.Fatalf("%v, %d records, want %d:\n%s", err, len(back.known), len(r.known), first)
		}
		if second := write(back); second != first {
			t.Fatalf("got %q, want %q", second, first)
		}
	})
}

// Whoever has closed an executor finds the recording, also where others close it at the same time, and is told what went wrong with it.
func TestCloseTwice(t *testing.T) {
	for _, goes := range []bool{false, true} {
		folder := t.TempDir()
		file := filepath.Join(folder, "answers.jsonl")
		e, err := Record(file, Options{Servers: map[string]Server{"notebook": {}}})
		if err != nil {
			t.Fatal(err)
		}
		if goes {
			if err := os.Remove(folder); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				closing := e.Close()
				if _, err := os.Stat(file); (err == nil) != (closing == nil) {
					t.Errorf("closed with %v, and then %v", closing, err)
				}
			})
		}
		wg.Wait()
	}
}
