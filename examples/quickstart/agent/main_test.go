package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness/openai/openaitest"
)

func played(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// With a twentieth of the tokens the model has all that it needs.
func TestDefault(t *testing.T) {
	want := `Dear team, I have an account with bruno.novak@example.com (Bruno Novak). ` +
		`I want to stop the order that has the Pebble lamp in it: my plans have changed and it is not needed now.
0 find_customer {"email":"bruno.novak@example.com"}
  12 of 313 tools and 1 skills: 1923 tokens, not 41899
1 list_orders {"customer_id":"C-198"}
  12 of 313 tools and 1 skills: 1923 tokens, not 41899
2 list_orders {"customer_id":"C-198","page":2}
  12 of 313 tools and 1 skills: 1923 tokens, not 41899
3 get_order {"order_id":"O-5544"}
  12 of 313 tools and 1 skills: 1923 tokens, not 41899
4 cancel_order {"order_id":"O-5544","reason":"no longer needed"}
  12 of 313 tools and 1 skills: 1923 tokens, not 41899
5 submit {"answer":"O-5544"}
  12 of 313 tools and 1 skills: 1923 tokens, not 41899
pass
in a loop of one's own: book_flight, convert_flight, convert_stock_price
`
	if diff := cmp.Diff(want, played(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// With fewer it lacks a tool, and says so.
func TestTooFew(t *testing.T) {
	out := played(t, "-budget", "800")
	if !strings.Contains(out, "\n1 I lack the tool list_orders.\n") || !strings.Contains(out, "\nfail: nothing was submitted\n") {
		t.Errorf("printed\n%s", out)
	}
}

// A model behind an endpoint acts in place of the scripted one.
func TestEndpoint(t *testing.T) {
	offered := 0
	s := openaitest.New(func(q openaitest.Request) openaitest.Reply {
		offered = len(q.Tools)
		return openaitest.Reply{Calls: []openaitest.Call{{Name: "submit", Args: `{"answer":"done"}`}}}
	}, &openaitest.Options{Key: "sk-marker", Model: "tiny"})
	defer s.Close()
	t.Setenv("AGENT_TEST_KEY", "sk-marker")
	out := played(t, "-endpoint", s.BaseURL, "-model", "tiny", "-key-env", "AGENT_TEST_KEY")
	if !strings.Contains(out, "\n0 submit {\"answer\":\"done\"}\n") || !strings.Contains(out, "\nfail") || strings.Contains(out, "sk-marker") {
		t.Errorf("printed\n%s", out)
	}
	if !strings.Contains(out, "\ntiny: 1 requests and 0 retries") {
		t.Errorf("no usage in\n%s", out)
	}
	if offered == 0 || offered > 20 || len(s.Violations()) > 0 {
		t.Errorf("%d tools were offered; %v", offered, s.Violations())
	}
}

// Where the server fails there is no verdict, and an error.
func TestServerFails(t *testing.T) {
	s := openaitest.New(func(openaitest.Request) openaitest.Reply { return openaitest.Reply{Status: 500} }, nil)
	defer s.Close()
	err := run(t.Context(), []string{"-endpoint", s.BaseURL, "-model", "tiny", "-retries", "0"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "could be judged") || !strings.Contains(err.Error(), "status 500") || s.Requests() != 1 {
		t.Errorf("%v after %d requests", err, s.Requests())
	}
}

func TestArguments(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"-budget -1", "-1"},
		{"-distractors 301", "301"},
		{"-model tiny", "-endpoint"},
		{"-what", "not defined"},
	} {
		if err := run(t.Context(), strings.Fields(tt.args), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
}

func TestOtherTools(t *testing.T) {
	tools := otherTools()
	seen := map[string]bool{}
	for _, tool := range tools {
		if seen[tool.Name] || !json.Valid(tool.Schema) {
			t.Errorf("%s is there twice, or its schema is no JSON: %s", tool.Name, tool.Schema)
		}
		seen[tool.Name] = true
	}
	if len(tools) != 300 {
		t.Errorf("%d tools, want 300", len(tools))
	}
}
