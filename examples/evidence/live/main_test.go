package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

func TestMain(m *testing.M) {
	if serveChild(os.Args[1:]) {
		return
	}
	os.Exit(m.Run())
}

// Every episode on a server is judged as it must be.
func TestServers(t *testing.T) {
	if testing.Short() {
		t.Skip("the packages test their connections themselves")
	}
	r, err := runMCP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if len(row.Errors) > 0 {
			t.Errorf("%s: %s", row.Server, strings.Join(row.Errors, "; "))
		}
		if row.Skipped != "" {
			t.Logf("%s: %s", row.Server, row.Skipped)
		}
	}
	if r.Servers < 2 || r.Failed > 0 || r.Verified != r.Episodes || r.Tools < 14 {
		t.Errorf("%+v", r)
	}
}

// An episode that is not judged as it must be is told.
func TestWrongVerdict(t *testing.T) {
	s := stockroomByStreams()
	s.plays = s.plays[:1]
	s.plays[0].want = envharness.Fail
	var row serverRow
	if err := s.run(t.Context(), &row); err != nil {
		t.Fatal(err)
	}
	if row.Episodes != 1 || row.Verified != 0 || len(row.Errors) != 1 {
		t.Errorf("%+v", row)
	}
}

func TestCases(t *testing.T) {
	if testing.Short() {
		t.Skip("the packages test their connections themselves")
	}
	for part, cases := range map[string][]testCase{"openai": openaiCases(true), "openenv": openenvCases(true)} {
		names := map[string]bool{}
		for _, c := range cases {
			if names[c.Name] {
				t.Errorf("%s: two cases are named %s", part, c.Name)
			}
			names[c.Name] = true
		}
		table, err := runCases(t.Context(), cases)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table.Rows {
			if row.Error != "" {
				t.Errorf("%s: %s: %s", part, row.Name, row.Error)
			}
		}
		if table.Cases != len(cases) || table.Failed > 0 {
			t.Errorf("%s: %d cases of %d, %d failed", part, table.Cases, len(cases), table.Failed)
		}
	}
}

// What failed is counted, named, and fails the program.
func TestFailure(t *testing.T) {
	left := testCase{"left", func(context.Context) error { return errors.New("behind") }}
	table, err := runCases(t.Context(), []testCase{left})
	if err != nil || table.Failed != 1 {
		t.Fatal(table, err)
	}
	sound := evidence{MCP: mcpResult{Servers: 1}}
	if err := sound.failure(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*evidence){
		"episodes":       func(e *evidence) { e.MCP.Episodes = 1 },
		"servers failed": func(e *evidence) { e.MCP.Failed = 1 },
		"reached":        func(e *evidence) { e.MCP.Servers = 0 },
		"model endpoint": func(e *evidence) { e.OpenAI = table },
		"OpenEnv":        func(e *evidence) { e.OpenEnv = table },
	} {
		bad := sound
		spoil(&bad)
		if err := bad.failure(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var out bytes.Buffer
	if err := (&evidence{OpenEnv: table, MCP: mcpResult{Rows: []serverRow{{Server: "x", Errors: []string{"bent"}}, {Server: "y", Skipped: "absent"}}}}).write(&out, false); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"FAILED  left", "behind", "FAILED bent", "skipped: absent"} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("the table has no %q:\n%s", words, out.String())
		}
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := (&evidence{}).write(&out, true); err != nil {
		t.Fatal(err)
	}
	var got struct {
		MCP, OpenAI, OpenEnv map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		got  map[string]any
		keys string
	}{{got.MCP, "servers tools episodes verified"}, {got.OpenAI, "cases failed"}, {got.OpenEnv, "cases failed"}} {
		for key := range strings.FieldsSeq(part.keys) {
			if _, ok := part.got[key]; !ok {
				t.Errorf("there is no %s in %v", key, part.got)
			}
		}
	}
}
