// Package endpointtest has scripted models behind the strict fake endpoint of package openaitest, for tests of programs that take a model.
package endpointtest

import (
	"sync/atomic"
	"testing"

	"github.com/throughline-go/throughline/envharness/openai/openaitest"
)

// A Script is a model. It must be safe for concurrent use.
type Script func(openaitest.Request) openaitest.Reply

// Serve returns the base URL of a server that answers by the script until the test ends. The test fails if a request is not one of the API.
func Serve(tb testing.TB, answer Script) string {
	s := openaitest.New(answer, nil)
	tb.Cleanup(func() {
		s.Close()
		for _, v := range s.Violations() {
			tb.Error(v)
		}
	})
	return s.BaseURL
}

// Talk answers with a text, and calls nothing.
func Talk(openaitest.Request) openaitest.Reply {
	return openaitest.Reply{Text: "Let me think about it."}
}

// Fail returns the script of a server that fails with a status, and repeats what came as a key.
func Fail(status int) Script {
	return func(q openaitest.Request) openaitest.Reply {
		said := "no luck with " + q.Header.Get("Authorization")
		return openaitest.Reply{Status: status, Error: openaitest.Error{Message: said, Type: "server_error"}}
	}
}

// IsPing says whether a request only asks whether the model is there.
func IsPing(q openaitest.Request) bool { return len(q.Tools) == 0 && First(q) == "ping" }

// FailAfter returns a script that answers so many requests as another one does, and then fails with a status.
func FailAfter(n int32, then int, script Script) Script {
	var asked atomic.Int32
	return func(q openaitest.Request) openaitest.Reply {
		if asked.Add(1) > n {
			return Fail(then)(q)
		}
		return script(q)
	}
}

// System returns what a model is told about its part.
func System(q openaitest.Request) string { return content(q, "system") }

// First returns what the first turn of an episode shows.
func First(q openaitest.Request) string { return content(q, "user") }

func content(q openaitest.Request, role string) string {
	for _, m := range q.Messages {
		if m.Role == role {
			return m.Content
		}
	}
	return ""
}

// Calls returns how many calls the model has made so far.
func Calls(q openaitest.Request) int {
	n := 0
	for _, m := range q.Messages {
		n += len(m.Calls)
	}
	return n
}
