package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/budget"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
)

// marker is the secret of every part: whoever finds it in an error or a trace has found a leak.
const marker = "sk-marker-7f3a9c"

const modelName = "fake-1"

// solution solves the hand 3,3,8,8.
func solution() []openaitest.Call {
	return []openaitest.Call{
		{Name: "combine", Args: `{"i":2,"j":0,"op":"div"}`},
		{Name: "combine", Args: `{"i":0,"j":2,"op":"sub"}`},
		{Name: "combine", Args: `{"i":0,"j":1,"op":"div"}`},
		{Name: "stop", Args: `{}`},
	}
}

// script is the answers of a model: what is given, and then the solution, one call an answer.
func script(first ...openaitest.Reply) []openaitest.Reply {
	for _, c := range solution() {
		first = append(first, openaitest.Reply{Calls: []openaitest.Call{c}})
	}
	return first
}

// A conversation is one episode of the game of 24 with a scripted model.
type conversation struct {
	stream   bool
	replies  []openaitest.Reply
	options  func(*openai.Options)
	policy   openai.PolicyOptions
	requests []openaitest.Request // filled in
	usage    openai.Usage         // likewise
}

func (c *conversation) play(ctx context.Context) (envharness.Trace, error) {
	var mu sync.Mutex
	answer := openaitest.Script(c.replies...)
	server := openaitest.New(func(r openaitest.Request) openaitest.Reply {
		mu.Lock()
		defer mu.Unlock()
		c.requests = append(c.requests, r)
		return answer(r)
	}, &openaitest.Options{Key: marker, Model: modelName})
	defer server.Close()
	o := openai.Options{BaseURL: server.BaseURL, APIKey: marker, Model: modelName, Stream: c.stream, Backoff: time.Millisecond}
	if c.options != nil {
		c.options(&o)
	}
	client, err := openai.New(o)
	if err != nil {
		return envharness.Trace{}, err
	}
	traces, err := envharness.Rollouts(ctx, game24.World(nil), nil, func(int) (envharness.Policy, error) { return client.Policy(&c.policy), nil },
		[]envharness.Task{{ID: "3,3,8,8"}}, &envharness.RolloutOptions{Reruns: new(0)})
	if err != nil {
		return envharness.Trace{}, err
	}
	c.usage = client.Usage()
	text, err := json.Marshal(traces)
	switch {
	case err != nil:
	case bytes.Contains(text, []byte(marker)):
		err = errors.New("the key is in the trace")
	case len(server.Violations()) > 0:
		err = fmt.Errorf("what was sent is wrong: %s", strings.Join(server.Violations(), "; "))
	}
	return traces[0], err
}

// ends plays and compares how the episode ended.
func (c *conversation) ends(ctx context.Context, want envharness.Status, end envharness.EndReason, turns int) error {
	trace, err := c.play(ctx)
	if err != nil {
		return err
	}
	if trace.Verdict.Status != want || trace.End != end || len(trace.Turns) != turns {
		return fmt.Errorf("the episode ended %v, %s after %d turns, want %v, %s after %d: %s%s", trace.Verdict.Status, trace.End, len(trace.Turns),
			want, end, turns, trace.Cause, trace.Verdict.Reason)
	}
	return nil
}

// passes plays an episode that must pass after so many turns and requests.
func (c *conversation) passes(ctx context.Context, turns, requests int) error {
	if err := c.ends(ctx, envharness.Pass, envharness.EndTerminated, turns); err != nil {
		return err
	}
	return want("requests", c.usage.Requests, requests)
}

// told says whether the last message that the model was shown in a request has the words.
func (c *conversation) told(request int, words string) error {
	if request >= len(c.requests) {
		return fmt.Errorf("there were %d requests only", len(c.requests))
	}
	m := c.requests[request].Messages
	if last := m[len(m)-1]; last.Role != "tool" && last.Role != "user" || !strings.Contains(last.Content, words) {
		return fmt.Errorf("the model was shown %q by %s, want words with %q", last.Content, last.Role, words)
	}
	return nil
}

func want(what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %d, want %d", what, got, want)
	}
	return nil
}

// openaiCases are cases of an endpoint, each in one piece and as a stream.
func openaiCases(quick bool) []testCase {
	var cases []testCase
	for _, stream := range []bool{false, true} {
		how := ", in one piece"
		if stream {
			how = ", as a stream"
		}
		add := func(name string, check func(ctx context.Context, c *conversation) error, replies ...openaitest.Reply) {
			cases = append(cases, testCase{name + how, func(ctx context.Context) error {
				return check(ctx, &conversation{stream: stream, replies: replies})
			}})
		}
		add("one call an answer, content null", func(ctx context.Context, c *conversation) error {
			err := c.passes(ctx, 4, 4)
			if err == nil && c.usage.Input*c.usage.Output == 0 {
				err = errors.New("no tokens were counted")
			}
			return err
		}, script()...)
		add("text beside a call", func(ctx context.Context, c *conversation) error {
			trace, err := c.play(ctx)
			if err == nil && !strings.Contains(trace.Turns[0].Said, "I begin by dividing.") {
				err = fmt.Errorf("the trace has %q as what was said", trace.Turns[0].Said)
			}
			return err
		}, append([]openaitest.Reply{{Text: "I begin by dividing.", Calls: solution()[:1]}}, script()[1:]...)...)
		add("parallel calls", func(ctx context.Context, c *conversation) error { return c.passes(ctx, 4, 1) },
			openaitest.Reply{Calls: solution()})
		add("parallel calls, answered together", func(ctx context.Context, c *conversation) error {
			err := c.passes(ctx, 4, 2)
			if err == nil {
				n := 0
				for _, m := range c.requests[1].Messages {
					if m.Role == "tool" {
						n++
					}
				}
				err = want("answered calls", n, 3)
			}
			return err
		}, openaitest.Reply{Calls: solution()[:3]}, openaitest.Reply{Calls: solution()[3:]})
		add("a tool refuses", func(ctx context.Context, c *conversation) error {
			return errors.Join(c.passes(ctx, 5, 5), c.told(1, "position"))
		}, script(openaitest.Reply{Calls: []openaitest.Call{{Name: "combine", Args: `{"i":0,"j":9,"op":"add"}`}}})...)
		add("arguments that are no JSON", func(ctx context.Context, c *conversation) error {
			// What is no JSON must not go back to the server in the history either: the fake refuses it.
			return errors.Join(c.passes(ctx, 5, 5), c.told(1, "JSON"))
		}, script(openaitest.Reply{Calls: []openaitest.Call{{Name: "combine", Args: `{"i":`}}})...)
		add("an unknown tool", func(ctx context.Context, c *conversation) error {
			return errors.Join(c.passes(ctx, 5, 5), c.told(1, "solve"))
		}, script(openaitest.Reply{Calls: []openaitest.Call{{Name: "solve", Args: `{}`}}})...)
		add("a text without a call", func(ctx context.Context, c *conversation) error {
			return errors.Join(c.passes(ctx, 5, 5), c.told(1, "call"))
		}, script(openaitest.Reply{Text: "The answer is 24."})...)
		add("a refusal", func(ctx context.Context, c *conversation) error {
			trace, err := c.play(ctx)
			if err == nil && (trace.End != envharness.EndAgentStop || trace.Verdict.Status != envharness.Fail) {
				err = fmt.Errorf("the episode ended %v, %s", trace.Verdict.Status, trace.End)
			}
			return err
		}, openaitest.Reply{Refusal: "I cannot help with that."})
		retried := func(n int) func(ctx context.Context, c *conversation) error {
			return func(ctx context.Context, c *conversation) error {
				return errors.Join(c.passes(ctx, 4, 4+n), want("retries", c.usage.Retries, n))
			}
		}
		busy := openaitest.Reply{Status: http.StatusTooManyRequests, RetryAfter: "0", Error: openaitest.Error{Message: "slow down", Code: "rate_limit_exceeded"}}
		broken := openaitest.Reply{Status: http.StatusInternalServerError, Error: openaitest.Error{Message: "oops", Type: "server_error"}}
		cut := openaitest.Reply{Calls: solution()[:1], Cut: new(40)}
		add("status 429, then well", retried(1), script(busy)...)
		add("status 500 twice, then well", retried(2), script(broken, broken)...)
		add("a connection cut in the answer, then well", retried(1), script(cut)...)
		add("a connection cut before the answer, then well", retried(1), script(openaitest.Reply{Cut: new(0)})...)
		add("a server that hangs, then well", func(ctx context.Context, c *conversation) error {
			c.options = func(o *openai.Options) { o.Timeout = 2 * time.Second }
			return errors.Join(c.passes(ctx, 4, 5), want("retries", c.usage.Retries, 1))
		}, script(openaitest.Reply{Hang: true})...)
		forGood := func(ctx context.Context, c *conversation) error {
			c.options = func(o *openai.Options) { o.Retries = new(2) }
			return errors.Join(c.ends(ctx, envharness.Invalid, envharness.EndPolicyInfra, 0), want("requests", c.usage.Requests, 3))
		}
		add("status 429 for good is no failure of the policy", forGood, busy, busy, busy)
		add("status 500 for good is no failure of the policy", forGood, broken, broken, broken)
		add("a cut connection for good is no failure of the policy", forGood, cut, cut, cut)
		add("a refused key, which the server repeats", func(ctx context.Context, c *conversation) error {
			return errors.Join(c.ends(ctx, envharness.Invalid, envharness.EndPolicyInfra, 0), want("requests", c.usage.Requests, 1))
		}, openaitest.Reply{Status: http.StatusUnauthorized, Error: openaitest.Error{Message: "Incorrect API key provided: " + marker}})
		add("a conversation that is too long for the server", func(ctx context.Context, c *conversation) error {
			return c.ends(ctx, envharness.Fail, envharness.EndTokenBudget, 1)
		}, script()[0], openaitest.Reply{Status: http.StatusBadRequest, Error: openaitest.Error{Message: "too long", Type: "invalid_request_error", Code: "context_length_exceeded"}})
		add("a conversation that is too long for the caller", func(ctx context.Context, c *conversation) error {
			c.policy.Context = 10
			return errors.Join(c.ends(ctx, envharness.Fail, envharness.EndTokenBudget, 0), want("requests", c.usage.Requests, 0))
		}, script()...)
		add("a body that is no JSON", func(ctx context.Context, c *conversation) error {
			c.options = func(o *openai.Options) { o.Retries = new(0) }
			return c.ends(ctx, envharness.Invalid, envharness.EndPolicyInfra, 0)
		}, openaitest.Reply{Raw: []byte(`<html>` + marker + `</html>`)})
		add("tools under a budget, and a skill", func(ctx context.Context, c *conversation) error {
			chooser, err := budget.New(2000, []bps.Text{{Name: "divide-first", Description: "Make 24 of four numbers.", Body: "Try divisions first."}}, nil)
			if err != nil {
				return err
			}
			c.policy.Offer = chooser.Offer
			if err := c.passes(ctx, 4, 4); err != nil {
				return err
			}
			for _, r := range c.requests {
				for _, m := range r.Messages {
					if m.Role == "system" && strings.Contains(m.Content, "Try divisions first.") {
						return nil
					}
				}
			}
			return errors.New("no request has the skill")
		}, script()...)
		cases = append(cases, testCase{"a generated text, a refusal and an empty answer" + how, func(ctx context.Context) error { return generates(ctx, stream) }})
	}
	sessions := 1000
	if quick {
		sessions = 100
	}
	return append(cases,
		testCase{"vectors in the order of their texts", embeds},
		testCase{"vectors of two lengths", unequal},
		testCase{fmt.Sprintf("%d requests at once", sessions), func(ctx context.Context) error { return atOnce(ctx, sessions) }})
}
