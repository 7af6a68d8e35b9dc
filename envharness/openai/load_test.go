package openai_test

import (
	"errors"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
)

// solve plays 1,1,4,6 by looking at the last message: each model's conversation is its own.
func solve(r openaitest.Request) openaitest.Reply {
	mul := `{"i":0,"j":1,"op":"mul"}`
	switch last := r.Messages[len(r.Messages)-1].Content; {
	case r.Index%10 == 3:
		return openaitest.Reply{Status: 503}
	case r.Index%10 == 7:
		return openaitest.Reply{Text: "cut", Cut: new(20)}
	case strings.Contains(last, "numbers=[1, 1, 4, 6]"):
		return calls("combine", mul, "combine", mul, "combine", mul, "stop", "")
	}
	return openaitest.Reply{Text: "what?"}
}

// A thousand policies at once on one client, a fifth of whose requests fail, play as one alone; nothing is left behind.
func TestThousandPolicies(t *testing.T) {
	const n = 1000
	files := openFiles(t)
	transport := &http.Transport{MaxIdleConnsPerHost: n}
	s := openaitest.New(solve, nil)
	c := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: true, HTTPClient: &http.Client{Transport: transport}, Retries: new(100)})
	tasks := make([]envharness.Task, n)
	for i := range tasks {
		tasks[i].ID = "1,1,4,6"
	}
	traces, err := envharness.Rollouts(t.Context(), game24.World(nil), nil, func(int) (envharness.Policy, error) {
		return c.Policy(nil), nil
	}, tasks, &envharness.RolloutOptions{Parallel: n, Reruns: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	output := 0
	for _, trace := range traces {
		if trace.Verdict.Status != envharness.Pass || len(trace.Turns) != 4 {
			t.Fatalf("slot %d: %+v %s", trace.Slot, trace.Verdict, trace.Cause)
		}
		for _, tt := range trace.Turns {
			output += tt.Tokens
		}
	}
	if u := c.Usage(); u.Requests-u.Retries != n || u.Requests != s.Requests() || u.Input+u.Output != output {
		t.Errorf("usage %+v for %d requests with %d tokens", u, s.Requests(), output)
	}
	transport.CloseIdleConnections()
	s.Close()
	for _, v := range s.Violations() {
		t.Fatal(v)
	}
	leftBehind(t, files)
}

// Requests that hang, break off and are given up leave nothing behind either.
func TestNothingIsLeftBehind(t *testing.T) {
	files := openFiles(t)
	transport := &http.Transport{}
	s := openaitest.New(func(r openaitest.Request) openaitest.Reply {
		return []openaitest.Reply{
			{Hang: true}, {Text: "half an answer", Hang: true, Cut: new(60)}, {Text: "half an answer", Cut: new(60)}, {Status: 500},
			{Raw: []byte("data: {\"error\":{\"message\":\"busy\"}}\n\n" + strings.Repeat(": more\n", 10_000)), ContentType: "text/event-stream"},
		}[r.Index%5]
	}, nil)
	c := connect(t, openai.Options{
		BaseURL: s.BaseURL, Stream: true, HTTPClient: &http.Client{Transport: transport}, Retries: new(1), Timeout: 50 * time.Millisecond,
	})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if _, err := c.Generate(t.Context(), "hi"); !errors.Is(err, envharness.ErrInfra) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	transport.CloseIdleConnections()
	s.Close()
	leftBehind(t, files)
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1 // not on this system
	}
	return len(entries)
}

// leftBehind waits until no goroutine of the client, its transport or the server is left, and no file.
func leftBehind(t *testing.T, files int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		buf := make([]byte, 4<<20)
		buf = buf[:runtime.Stack(buf, true)]
		goroutines := 0
		for stack := range strings.SplitSeq(string(buf), "\n\n") {
			if strings.Contains(stack, "net/http.(*persistConn)") || strings.Contains(stack, "openaitest.") || strings.Contains(stack, "openai.(*Client)") {
				goroutines++
			}
		}
		now := openFiles(t)
		if goroutines == 0 && (files < 0 || now <= files+5) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines and %d files are left, %d files were there before", goroutines, now, files)
		}
		time.Sleep(5 * time.Millisecond) // there is nothing to wait for that tells when a goroutine of another package has ended
	}
}
