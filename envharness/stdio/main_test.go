package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/throughline-go/throughline/envharness/envs/game24"
)

// modeVariable makes the test binary a program that the tests run.
const modeVariable = "STDIO_TEST_MODE"

func TestMain(m *testing.M) {
	mode, ok := os.LookupEnv(modeVariable)
	if !ok {
		os.Exit(m.Run())
	}
	os.Exit(play(mode))
}

// program is the command of the test binary in a mode. Its environment and its standard error hold the secret.
func program(t testing.TB, mode string) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{
		Args: []string{self, "--key=" + secret},
		// The race detector lets a program that ends sleep for a second.
		Env:   []string{modeVariable + "=" + mode, "SECRET=" + secret, "GORACE=atexit_sleep_ms=0"},
		Grace: 20 * time.Second, // far more than a program takes that ends by itself
	}
}

const secret = "marker-secret-4711"

// play is the program.
func play(mode string) int {
	fmt.Fprintln(os.Stderr, "the secret is", os.Getenv("SECRET"))
	switch mode {
	case "game24":
		if err := Serve(context.Background(), game24.New(nil), os.Stdin, os.Stdout); err != nil {
			return 1
		}
		return 0
	case "mute": // reads nothing and says nothing
		hang()
	}
	return rogue(mode, bufio.NewReader(os.Stdin), os.Stdout)
}

// rogue serves a world of one step, until it is to do it: then it does what the mode says.
func rogue(mode string, r *bufio.Reader, w io.Writer) int {
	op, what, _ := strings.Cut(mode, ":")
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var q request
		if json.Unmarshal(line, &q) != nil {
			return 2
		}
		if q.Op == op {
			if code, ended := misbehave(what, q, w); ended {
				return code
			}
			continue
		}
		switch q.Op {
		case "hello":
			fmt.Fprintf(w, `{"id":%d,"ok":{"protocol":1,"env":"rogue","capabilities":{"state":true},"tools":[{"name":"go"}]}}`+"\n", q.ID)
		case "reset":
			fmt.Fprintf(w, `{"id":%d,"ok":{"obs":{"text":"a door"},"seed":%d}}`+"\n", q.ID, *q.Seed)
		case "state":
			fmt.Fprintf(w, `{"id":%d,"ok":{"state":{}}}`+"\n", q.ID)
		case "step":
			fmt.Fprintf(w, `{"id":%d,"ok":{"obs":{},"reward":1,"terminated":true,"truncated":false}}`+"\n", q.ID)
		}
	}
}

// begun is what a program writes to its standard error before it misbehaves, with its number after it.
const begun = "misbehaving as"

const goodbye = "goodbye"

const fine = `{"id":%d,"ok":{"obs":{},"reward":1,"terminated":true,"truncated":false}}` + "\n"

// misbehave answers, or ends the program.
func misbehave(what string, q request, w io.Writer) (code int, ended bool) {
	fmt.Fprintln(os.Stderr, begun, os.Getpid())
	switch what {
	case "exit":
		return 3, true
	case "half": // ends in the middle of its answer
		fmt.Fprintf(w, fine[:20], q.ID)
		return 3, true
	case "kill":
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		if err == nil {
			hang()
		}
		return 2, true
	case "silent":
		hang()
	case "parts": // says goodbye when its input ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Fprintln(os.Stderr, goodbye)
		return 0, true
	case "shut": // lives on with its output closed
		os.Stdout.Close()
		hang()
	case "oversized":
		fmt.Fprintf(w, `{"id":%d,"ok":{"obs":{"text":"%s"}}}`+"\n", q.ID, strings.Repeat("x", maxLine))
		hang()
	case "endless":
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
				return 2, true
			}
		}
	case "deaf": // answers, and then reads nothing more
		fmt.Fprintf(w, `{"id":%d,"ok":{"obs":{"text":"a door"}}}`+"\n", q.ID)
		hang()
	case "twice":
		fmt.Fprintf(w, fine+fine, q.ID, q.ID)
	case "secret": // in whatever is shown of an error
		fmt.Fprintf(w, `{"id":%d,"error":{"code":"ErrInfra","message":%q}}`+"\n", q.ID, secret)
	case "secretcode":
		fmt.Fprintf(w, `{"id":%d,"error":{"code":%q,"message":%q}}`+"\n", q.ID, secret, secret)
	default: // verbatim, with % for the id
		fmt.Fprintln(w, strings.ReplaceAll(what, "%", fmt.Sprint(q.ID)))
	}
	return 0, false
}

// hang blocks for good; a channel would be a deadlock to the runtime.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}
