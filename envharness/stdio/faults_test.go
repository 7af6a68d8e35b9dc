package stdio

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

var always = envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
	return envharness.Verdict{Status: envharness.Fail}, nil
})

func goes(int) (envharness.Policy, error) {
	return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
		return envharness.Action{Name: "go"}, nil
	}), nil
}

// playOnce returns the trace of one rollout, and it as written.
func playOnce(t *testing.T, c Command, o *envharness.RolloutOptions) (envharness.Trace, string) {
	t.Helper()
	if o == nil {
		o = &envharness.RolloutOptions{}
	}
	o.Reruns = new(0)
	traces, err := envharness.Rollouts(t.Context(), World(c, always), nil, goes, make([]envharness.Task, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := envharness.WriteTraces(&b, traces); err != nil {
		t.Fatal(err)
	}
	return traces[0], b.String()
}

// The rogue is an environment like another until it misbehaves; the verdict is then a real one.
func TestRogueThatKeepsQuietIsJudged(t *testing.T) {
	if tr, _ := playOnce(t, program(t, "never"), nil); tr.Verdict.Status != envharness.Fail {
		t.Errorf("%+v %s", tr.Verdict, tr.Cause)
	}
}

// Whatever a program does instead of answering, the episode is Invalid and nothing secret is told.
func TestProgramThatDoesNotAnswerAsItShould(t *testing.T) {
	const lacks = "lacks one of obs, reward, terminated and truncated"
	for _, tt := range []struct {
		mode   string
		want   string // in the cause
		reason string
	}{
		{"step:exit", "exit status 3", "it died"},
		{"step:half", "exit status 3", "it died in the middle of its answer"},
		{"step:kill", "signal: killed", "it was killed"},
		{"step:shut", "closed its streams", "it is half open"},
		{"step:oversized", "a line of more than 4194304 bytes", "the bound of the protocol"},
		{"step:endless", "a line of more than 4194304 bytes", "a line without an end is not read to its end"},
		{"step:hello there", "what is no message", "no JSON"},
		{"step:", "what is no message", "an empty line"},
		{"step:[1]", "what is no message", "no object"},
		{"step:null", "what is no message", "no object"},
		{"step:{} {}", "what is no message", "two values"},
		{"step:{\"id\":%,\"ok\":{\"obs\":{\"text\":\"\xff\"}}}", "what is no message", "not UTF-8"},
		{`step:{"id":%,"ok":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "}", "what is no message", "too deep"},
		{`step:{"ok":{}}`, "no id", "no id"},
		{`step:{"id":"%","ok":{}}`, "no id", "an id is a number"},
		{`step:{"id":null,"ok":{}}`, "another request", "an answer to nothing"},
		{`step:{"id":1,"ok":{}}`, "another request", "an answer to an earlier request"},
		{`step:{"id":1,"error":{"code":"ErrEpisodeOver","message":""}}`, "another request", "an error for an earlier request"},
		{`step:{"id":%}`, "neither ok nor error", "neither"},
		{`step:{"id":%,"ok":{},"error":{"code":"ErrInfra","message":""}}`, "neither ok nor error", "both"},
		{`step:{"id":%,"ok":{},"verdict":"pass"}`, "a field that it does not know", "no verdict comes over the wire"},
		{`step:{"id":%,"ok":null}`, "ok is not an object", "null is none"},
		{`step:{"id":%,"ok":[]}`, "ok is not an object", "a list is none"},
		{`step:{"id":%,"ok":{}}`, lacks, "nothing in it"},
		{`step:{"id":%,"ok":{"obs":{},"reward":0,"terminated":true}}`, lacks, "truncated is missing"},
		{`step:{"id":%,"ok":{"obs":{},"reward":0,"truncated":true}}`, lacks, "terminated is missing"},
		{`step:{"id":%,"ok":{"obs":{},"terminated":true,"truncated":true}}`, lacks, "reward is missing"},
		{`step:{"id":%,"ok":{"reward":0,"terminated":true,"truncated":true}}`, lacks, "obs is missing"},
		{`step:{"id":%,"ok":{"obs":{},"reward":1e999,"terminated":true,"truncated":false}}`, "not one to this request", "not finite"},
		{`step:{"id":%,"ok":{"obs":{},"reward":1,"done":true}}`, "not one to this request", "no field of ours"},
		{`step:{"id":%,"ok":{"obs":{"txt":""},"reward":0,"terminated":true,"truncated":false}}`, "not one to this request", "an unknown field"},
		{`step:{"id":%,"ok":{"obs":{},"reward":0,"terminated":true,"truncated":false,"tools":[]}}`, "did not declare", "the tools may not change"},
		{`step:{"id":%,"ok":{"obs":{},"reward":0,"terminated":true,"truncated":false,"turn_limit":3}}`, "turn_limit", "out of place"},
		{`step:{"id":%,"error":{}}`, "an error without a code", "no code"},
		{`step:{"id":%,"error":{"code":"ErrEpisodeOver","trace":[]}}`, "an error without a code", "an unknown field"},
		{`step:{"id":null,"error":{"code":"ErrBadMessage","message":"what"}}`, "could not read the request", "it does not speak the protocol"},
		{"step:secret", "infrastructure failure: the environment failed", "the message is not shown"},
		{"step:secretcode", "infrastructure failure: the environment failed", "an unknown code is ErrInfra and is not shown"},
		{"step:twice", "wrote without being asked", "the state is asked for next"},
		{`reset:{"id":%,"ok":{"obs":{},"seed":99}}`, "another seed", "a seed that was dropped"},
		{`reset:{"id":%,"ok":{}}`, "lacks obs", "nothing to show"},
		{`reset:{"id":%,"ok":{"obs":{},"turn_limit":3}}`, "did not declare", "no limit was declared"},
		{`state:{"id":%,"ok":{"state":[]}}`, "lacks a state", "a state is an object"},
		{`state:{"id":%,"ok":{}}`, "lacks a state", "a state is an object"},
		{"state:exit", "exit status 3", "it died between two turns"},
		{"hello:welcome to the game", "what is no message", "a banner"},
		{"hello:exit", "exit status 3", "it died at once"},
		{`hello:{"id":%,"ok":{"protocol":2,"capabilities":{}}}`, "another protocol", "a newer one"},
		{`hello:{"id":%,"ok":{}}`, "another protocol", "none"},
		{`hello:{"id":%,"ok":{"protocol":1,"capabilities":{"grade":true}}}`, "not one to this request", "an unknown capability"},
	} {
		t.Run(tt.mode[:min(len(tt.mode), 60)], func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			t.Parallel()
			c := program(t, tt.mode)
			tr, written := playOnce(t, c, nil)
			if tr.Verdict.Status != envharness.Invalid || !strings.Contains(tr.Cause, tt.want) {
				t.Errorf("%s: got %v, %q, want %q: %s", tt.mode, tr.Verdict.Status, tr.Cause, tt.want, tt.reason)
			}
			if strings.Contains(written, secret) {
				t.Errorf("the trace tells the secret: %s", written)
			}
		})
	}
}

// After a fault every call says what it was, Close works, and the message of the program is there for who asks.
func TestErrorsOfABrokenConnection(t *testing.T) {
	env, err := Open(t.Context(), program(t, "step:exit"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{Seed: new(uint64(1))}); err != nil {
		t.Fatal(err)
	}
	_, first := env.Step(t.Context(), envharness.Action{Name: "go"})
	_, second := env.Reset(t.Context(), envharness.ResetOptions{})
	for _, err := range []error{first, second} {
		if e, ok := errors.AsType[*Error](err); !ok || e.Op != "step" || !errors.Is(err, envharness.ErrInfra) || err.Error() != first.Error() {
			t.Errorf("%#v", err)
		}
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if _, err := env.Step(t.Context(), envharness.Action{}); !errors.Is(err, envharness.ErrClosed) {
		t.Error(err)
	}
}

func TestMessageIsKeptApart(t *testing.T) {
	env, err := Open(t.Context(), program(t, "step:secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	_, err = env.Step(t.Context(), envharness.Action{Name: "go"})
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Message != secret || strings.Contains(err.Error(), secret) {
		t.Errorf("%#v", err)
	}
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{Seed: new(uint64(1))}); err != nil {
		t.Error("the connection is in step after an error of the environment, and a reset failed:", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]Command{
		"nothing": {},
		"grace":   {Args: []string{"x"}, Grace: -1},
		"missing": {Args: []string{"/no/such/" + secret + "/program", secret}, Env: []string{"A=" + secret}},
	} {
		if _, err := Open(t.Context(), c); !errors.Is(err, envharness.ErrInfra) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A sighting is a standard error that tells when the program begins to misbehave.
type sighting struct {
	mu   sync.Mutex
	b    bytes.Buffer
	seen chan int // gets the number of the process, once
}

func watchFor() *sighting { return &sighting{seen: make(chan int, 1)} }

func (s *sighting) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Write(p)
	if _, after, ok := strings.Cut(s.b.String(), begun+" "); ok && strings.HasSuffix(after, "\n") {
		if pid, err := strconv.Atoi(strings.TrimSpace(after)); err == nil {
			s.seen <- pid
			s.b.Reset()
		}
	}
	return len(p), nil
}

// during opens a program and runs what in the middle of a step, whose error it returns.
func during(
	t *testing.T, mode string, grace time.Duration, what func(env envharness.Environment, cancel func(), pid int),
) (envharness.Environment, error) {
	t.Helper()
	w := watchFor()
	c := program(t, mode)
	c.Stderr, c.Grace = w, grace
	env, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { env.Close() })
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{Seed: new(uint64(1))}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { what(env, cancel, <-w.seen) })
	_, err = env.Step(ctx, envharness.Action{Name: "go"})
	wg.Wait()
	return env, err
}

func TestKillMidStep(t *testing.T) {
	env, err := during(t, "step:silent", 0, func(_ envharness.Environment, _ func(), pid int) {
		p, err := os.FindProcess(pid)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, envharness.ErrInfra) || !strings.Contains(err.Error(), "signal: killed") && !strings.Contains(err.Error(), "exit status") {
		t.Error(err)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
}

func TestCancelMidStep(t *testing.T) {
	env, err := during(t, "step:silent", time.Minute, func(_ envharness.Environment, cancel func(), _ int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); !errors.Is(err, envharness.ErrInfra) {
		t.Error("the program that was killed answers:", err)
	}
	if err := env.Close(); err != nil { // which does not take the minute
		t.Error(err)
	}
}

func TestCloseMidStep(t *testing.T) {
	_, err := during(t, "step:silent", 50*time.Millisecond, func(env envharness.Environment, _ func(), _ int) {
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, envharness.ErrClosed) {
		t.Error(err)
	}
}

// A program in the middle of a step has the grace all the same, whose call returns at once.
func TestCloseMidStepLetsTheProgramEnd(t *testing.T) {
	w := watchFor()
	c := program(t, "step:parts")
	c.Stderr = w
	env, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var closing sync.WaitGroup
	closing.Go(func() { <-w.seen; env.Close() })
	if _, err := env.Step(t.Context(), envharness.Action{Name: "go"}); !errors.Is(err, envharness.ErrClosed) {
		t.Error(err)
	}
	closing.Wait()
	if got := w.b.String(); got != goodbye+"\n" {
		t.Errorf("it said %q", got)
	}
}

func TestSecondCallMidStep(t *testing.T) {
	_, err := during(t, "step:silent", time.Minute, func(env envharness.Environment, cancel func(), _ int) {
		if _, err := env.Step(t.Context(), envharness.Action{}); !errors.Is(err, envharness.ErrBusy) {
			t.Error(err)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A context that is done already costs nothing: the program lives on.
func TestCanceledBeforeTheCall(t *testing.T) {
	env, err := Open(t.Context(), program(t, "game24"))
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := env.Reset(ctx, envharness.ResetOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
		t.Error(err)
	}
}

// A program that does not read lets a request hang that does not fit into the pipe; the context ends it.
func TestProgramThatDoesNotRead(t *testing.T) {
	c := program(t, "reset:deaf")
	env, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	args := []byte(`{"a":"` + strings.Repeat("x", 1<<19) + `"}`)
	if _, err := env.Step(ctx, envharness.Action{Name: "go", Args: args}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestProgramThatDoesNotSpeak(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, program(t, "mute")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	c := program(t, "step:silent")
	c.Grace = 50 * time.Millisecond
	tr, _ := playOnce(t, c, &envharness.RolloutOptions{StepTimeout: 500 * time.Millisecond})
	if tr.Verdict.Status != envharness.Invalid || tr.End != envharness.EndTimeout {
		t.Errorf("%+v %v %s", tr.Verdict, tr.End, tr.Cause)
	}
}
