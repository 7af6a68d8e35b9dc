package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serve {
		main()
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill() // where the race detector is at work, exit waits a second
		}
		return
	}
	os.Exit(m.Run())
}

func played(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestStockroom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "traces.jsonl")
	want := `the first call of "update_*" or "delete_*" fails once, and can be retried
the episode ends after 4 turns

Set the count of the bolts to 9 and remove the nuts. (tries again: true)
  update_item {"name":"bolt","count":9}: update_item is temporarily unavailable, try again
  update_item {"name":"bolt","count":9}: done
  delete_item {"name":"nut"}: done
pass

Set the count of the bolts to 9 and remove the nuts. (tries again: false)
  update_item {"name":"bolt","count":9}: update_item is temporarily unavailable, try again
  delete_item {"name":"nut"}: done
fail: the end state is not the goal
`
	if diff := cmp.Diff(want, played(t, "-out", file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var ends []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var tr envharness.Trace
		if err := json.Unmarshal(lines.Bytes(), &tr); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, tr.Verdict.Status.String())
		if len(tr.Components) != 2 || tr.Components[0].ID != "flaky" || tr.Verdict.Unreplayed {
			t.Errorf("components %v, unreplayed %v", tr.Components, tr.Verdict.Unreplayed)
		}
	}
	if diff := cmp.Diff([]string{"pass", "fail"}, ends); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A specification of one's own: too few turns for a second try.
func TestSpec(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.json")
	if err := os.WriteFile(file, []byte(strings.Replace(stockroomSpec, `"turns":4`, `"turns":2`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := played(t, "-spec", file); strings.Contains(out, "\npass") || strings.Count(out, "\nfail") != 2 {
		t.Errorf("two turns are enough:\n%s", out)
	}
}

func TestMemory(t *testing.T) {
	if _, err := exec.LookPath(memoryServer); err != nil {
		t.Skipf("%s is not installed", memoryServer)
	}
	out := played(t, "-memory")
	if !strings.Contains(out, "\npass\n") || !strings.HasSuffix(out, "\nfail: the end state is not the goal\n") {
		t.Errorf("want a pass and a failure:\n%s", out)
	}
}

func TestArguments(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte(`{"schema_version":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"-spec " + bad, "/env"},
		{"-spec " + filepath.Join(t.TempDir(), "absent"), "absent"},
		{"-out " + t.TempDir(), "directory"},
		{"-what", "not defined"},
	} {
		if err := run(t.Context(), strings.Fields(tt.args), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
}
