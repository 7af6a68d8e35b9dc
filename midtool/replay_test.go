package midtool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

func parsed(t *testing.T, s string) jsonval.Value {
	t.Helper()
	n, err := jsonval.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A counting executor answers each call with the number of calls so far and notes what it was asked.
func counting(asked *[]string) Executor {
	return ExecutorFunc(func(_ context.Context, id string, tools []Tool) (Session, error) {
		var names []string
		for _, t := range tools {
			names = append(names, t.Name+t.Original)
		}
		*asked = append(*asked, "open "+id+" "+strings.Join(names, ","))
		n := 0
		return SessionFunc(func(_ context.Context, t Tool, args json.RawMessage) (Result, error) {
			*asked = append(*asked, t.Name+" "+string(args))
			n++
			switch string(args) {
			case `{"item_code":"bad"}`:
				return Result{Value: []byte(`{"error":"no such item"}`), IsError: true}, nil
			case `{"item_code":"flag"}`:
				return Result{Value: []byte(`{"n":` + fmt.Sprint(n) + `}`), IsError: true}, nil
			case `{"item_code":"broken"}`:
				return Result{}, errors.New("no connection")
			case `{"item_code":"nothing"}`:
				return Result{Value: []byte(`{`)}, nil
			}
			return Result{Value: fmt.Appendf(nil, `{"n":%d}`, n)}, nil
		}), nil
	})
}

func TestReplay(t *testing.T) {
	calls := func(parts ...string) *talk {
		return shop("").user("Keep a, b, bad, flag, broken and nothing for me.").calls(parts...).says("Done.")
	}
	for _, tt := range []struct {
		name, reason string
		talk         *talk
		want         string // violation or error; empty for none
		asked        []string
	}{
		{"equal", "as JSON, under original names", calls("reserve", `{"item_code":"a"}`, `{"n": 1}`, "reserve", `{"item_code":"b"}`, `{"n":2}`).tool("reserve", func(t *Tool) { t.Original = "re/serve" }),
			"", []string{`re/serve {"item_code":"a"}`, `re/serve {"item_code":"b"}`}},
		{"other state", "the second result is that of a first", calls("reserve", `{"item_code":"a"}`, `{"n": 1}`, "reserve", `{"item_code":"b"}`, `{"n": 1}`),
			`response at /messages/3/content: replay: the result was {"n":2}`, []string{`reserve {"item_code":"a"}`, `reserve {"item_code":"b"}`}},
		{"an error", "equal, and both report it", calls("reserve", `{"item_code":"bad"}`, `{"error": "no such item"}`), "", []string{`reserve {"item_code":"bad"}`}},
		{"hidden error", "the message does not show the failure", calls("reserve", `{"item_code":"flag"}`, `{"n": 1}`), "only one of the two is an error", []string{`reserve {"item_code":"flag"}`}},
		{"text", "a result that is no JSON", calls("reserve", `{"item_code":"a"}`, `one`), `the result was {"n":1}`, []string{`reserve {"item_code":"a"}`}},
		{"injected", "the failing call never reached the tool", calls("reserve", `{"item_code":"a"}`, `{"error": "timeout"}`, "reserve", `{"item_code":"b"}`, `{"n": 1}`).plan(Plan{Fault: "timeout"}),
			"", []string{`reserve {"item_code":"b"}`}},
		{"not injected", "no fault was planned", calls("reserve", `{"item_code":"a"}`, `{"error": "timeout"}`), `the result was {"n":1}`, []string{`reserve {"item_code":"a"}`}},
		{"a mistake", "an untrained call is made again too", func() *talk {
			s := shop("").user("Keep a for me.").calls("reserve", `{"item_code":"bad"}`, `{"error": "no such item"}`).
				calls("reserve", `{"item_code":"a"}`, `{"n": 2}`).says("Done.").plan(Plan{Fault: "not_found"})
			s.Messages[1].Untrained = true
			return s
		}(), "", []string{`reserve {"item_code":"bad"}`, `reserve {"item_code":"a"}`}},
		{"unreadable", "nothing to execute", calls("reserve", `[]`, `{"n": 1}`), "bad_arguments", nil},
		{"no such tool", "nothing to execute", calls("keep", `{"item_code":"a"}`, `{"n": 1}`), "unknown_tool", nil},
		{"executor", "its error ends the check", calls("reserve", `{"item_code":"broken"}`, `{"n": 1}`), "no connection", []string{`reserve {"item_code":"broken"}`}},
		{"no JSON", "a result that is none ends the check", calls("reserve", `{"item_code":"nothing"}`, `{"n": 1}`), "result: ", []string{`reserve {"item_code":"nothing"}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []string
			c := Checker{Replay: counting(&asked)}
			tt.talk.ID = "s/1"
			f, err := c.Check(t.Context(), &tt.talk.Sample)
			got := fmt.Sprint(f.Violations, err)
			if tt.want == "" && (f.Violations != nil || err != nil) || !strings.Contains(got, tt.want) || tt.reason == "" {
				t.Errorf("(%s) %s, want %q", tt.reason, got, tt.want)
			}
			if err != nil && !cmp.Equal(f, Findings{}) {
				t.Errorf("findings beside an error: %v", f)
			}
			if len(asked) > 0 {
				names := "get_price,find_shelf,reserve"
				if tt.name == "equal" {
					names = "get_price,find_shelf,re/serve"
				}
				if asked[0] != "open s/1 "+names {
					t.Error(asked[0])
				}
				asked = asked[1:]
			}
			if diff := cmp.Diff(tt.asked, asked); diff != "" && len(tt.asked)+len(asked) > 0 {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			// A checker that was stopped by an error is as good as new.
			again := clean()
			c.Replay = nil
			if f := check(t, &c, again); f.Violations != nil {
				t.Error(f.Violations)
			}
		})
	}
}

// Skipping the rules that guard a replay does not make it execute what cannot be executed; a cancellation ends it.
func TestReplayStops(t *testing.T) {
	s := shop("").user("Keep a for me.").calls("keep", `[]`, `{"n": 1}`).says("Done.").Sample
	var asked []string
	c := Checker{Replay: counting(&asked), Skip: []string{"unknown_tool", "bad_arguments"}}
	if f := check(t, &c, s); f.Violations != nil || asked != nil {
		t.Errorf("%v, %v", f.Violations, asked)
	}

	s = shop("").user("Keep a and b for me.").calls("reserve", `{"item_code":"a"}`, `{"n": 1}`, "reserve", `{"item_code":"b"}`, `{"n": 2}`).says("Done.").Sample
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	c.Replay = ExecutorFunc(func(context.Context, string, []Tool) (Session, error) {
		return SessionFunc(func(context.Context, Tool, json.RawMessage) (Result, error) {
			n++
			cancel()
			return Result{Value: []byte(`{"n": 1}`)}, nil
		}), nil
	})
	if _, err := c.Check(ctx, &s); !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%v after %d calls", err, n)
	}
	c.Replay = ExecutorFunc(func(context.Context, string, []Tool) (Session, error) { return nil, errors.New("closed") })
	if _, err := c.Check(t.Context(), &s); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
	if slices.Contains(asked, "open") {
		t.Error(asked)
	}
}
