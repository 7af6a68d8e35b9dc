package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestOwnServers(t *testing.T) {
	want := `Book a flight to Oslo, put the event into my calendar, then mail the file of the invoice to an address.
4 of 18 tools: 300 tokens, not 1208
1. travel, license: none stated; 1 of 6 tools, 70 tokens
   book_flight
2. office, license: none stated; 2 of 7 tools, 179 tokens
   create_event
   send_mail
3. money, license: none stated; 1 of 5 tools, 51 tokens
   get_invoice
`
	if diff := cmp.Diff(want, played(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Servers of the caller's take the place of our own.
func TestServer(t *testing.T) {
	self, err := os.Executable()
	if err != nil || strings.Contains(self, " ") {
		t.Skipf("the path of this program is %q, %v", self, err)
	}
	server := self + " " + serve + " money"
	out := played(t, "-server", server, "-query", "What is the balance of the account?",
		"-budget", "100", "-license", "MIT")
	if !strings.Contains(out, "1. money, license: MIT; 1 of 5 tools, ") || !strings.Contains(out, "get_balance") || strings.Contains(out, "2. ") {
		t.Errorf("printed\n%s", out)
	}
}

func TestArguments(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"-budget -1", "-1"},
		{"-server no-such-program", "server 1"},
		{"-server http://127.0.0.1:1/mcp", "server 1"},
		{"-what", "not defined"},
	} {
		if err := run(t.Context(), strings.Fields(tt.args), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
	if err := serveTools(t.Context(), "nothing"); err == nil || !strings.Contains(err.Error(), "travel") {
		t.Errorf("%v, want one that names the servers", err)
	}
}
