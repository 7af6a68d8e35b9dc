package openai

import (
	"errors"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// events makes a stream of deltas.
func events(deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(`data: {"choices":[{"delta":` + d + "}]}\n\n")
	}
	return b.String() + "data: [DONE]\n\n"
}

// An answer within its bytes may still be so many values that a machine has no room for them.
func TestCrowdedAnswers(t *testing.T) {
	c := testClient(t)
	many := func(value string, n int) string { return strings.TrimSuffix(strings.Repeat(value+",", n), ",") }
	piece := `{"tool_calls":[` + many(`{}`, 500) + `]}`
	for _, a := range []struct{ kind, body, want, reason string }{
		{"application/json", `{"choices":[{"message":{"tool_calls":[` + many(`{}`, maxCalls+1) + `]}}]}`, "more than 1000 calls", "calls"},
		{"text/event-stream", events(piece, piece, `{"tool_calls":[{}]}`), "", "one call without an index and a name"},
		{"text/event-stream", events(strings.ReplaceAll(piece, "{}", `{"id":"a","function":{"name":"f"}}`),
			strings.ReplaceAll(piece, "{}", `{"function":{"name":"f"}}`), `{"tool_calls":[{"function":{"name":"f"}}]}`),
			"more than 1000 calls", "calls in pieces"},
		{"application/json", `{"choices":[{"message":{"tool_calls":[` + many(`0`, maxValues+1) + `]}}]}`, "more than 262144 values", "no calls"},
		{"application/json", `{"choices":[` + many(`{}`, maxValues+1) + `]}`, "more than 262144 values", "choices"},
		{"application/json", `{"choices":[{"message":{"content":"` + many(`{}`, maxValues+1) + `"}}]}`, "", "a text with as many commas"},
	} {
		got, err := c.answer(response(a.kind, a.body))
		if a.want == "" && err == nil {
			continue
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || a.want == "" || !strings.Contains(e.Message, a.want) || e.retry {
			t.Errorf("%s: %d calls, %v, want %s", a.reason, len(got.calls), err, a.want)
		}
	}
	if _, _, err := c.parseVectors([]byte(`{"data":[`+many(`{}`, maxValues+1)+`]}`), 1); err == nil || !strings.Contains(err.Error(), "values") {
		t.Errorf("vectors: %v", err)
	}
	numbers := `{"data":[{"index":0,"embedding":[` + many(`1`, maxValues+1) + `]}]}`
	if v, _, err := c.parseVectors([]byte(numbers), 1); err != nil || len(v[0]) != maxValues+1 {
		t.Errorf("one long vector: %v", err)
	}
}

// A name that comes with each piece neither grows without end nor has all arguments read again each time.
func TestRepeatedNames(t *testing.T) {
	var g gatherer
	long := strings.Repeat(" ", 1<<20)
	g.call(wireCall{Index: new(0), Function: wireFunction{Name: "a", Arguments: []byte(`"[` + long + `"`)}})
	for i := range 100_000 {
		g.call(wireCall{Index: new(0), Function: wireFunction{Name: string(rune('b' + i%2)), Arguments: []byte(`" "`)}})
	}
	if n := len(g.calls[0].name); len(g.calls) != 1 || n > 4*maxName+1 || g.again > maxAgain+2<<20 {
		t.Errorf("%d calls, a name of %d bytes, %d bytes read again", len(g.calls), n, g.again)
	}
}

// What a server broke off is no answer of the model, whom it would be counted against.
func TestServerGivesUp(t *testing.T) {
	c := testClient(t)
	for _, finish := range []string{"error", "abort", "insufficient_system_resource", "network_error"} {
		for kind, body := range map[string]string{
			"application/json":  `{"choices":[{"message":{"content":"Let me"},"finish_reason":"` + finish + `"}]}`,
			"text/event-stream": `data: {"choices":[{"delta":{"content":"Let me"},"finish_reason":"` + finish + `"}]}` + "\n\ndata: [DONE]\n\n",
		} {
			_, err := c.answer(response(kind, body))
			if e, ok := errors.AsType[*Error](err); !ok || !e.retry || !errors.Is(err, envharness.ErrInfra) || !strings.Contains(e.Message, finish) {
				t.Errorf("%s, %s: %v", finish, kind, err)
			}
		}
	}
	_, err := c.answer(response("text/event-stream", `data: {"error":{"code":502,"message":"upstream"},`+
		`"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`+"\n\n"))
	if e, ok := errors.AsType[*Error](err); !ok || e.Status != 502 || !e.retry || e.Message != "upstream" {
		t.Errorf("an error beside a choice: %v", err)
	}
	if _, err := c.answer(response("application/json", `{"error":{},"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`)); err != nil {
		t.Errorf("an answer beside an empty error: %v", err)
	}
}
