package endpointtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness/openai/openaitest"
)

// In the environment of a program under test:
const (
	programVariable = "ENDPOINTTEST_PROGRAM" // the test binary is to be the program
	keyVariable     = "ENDPOINTTEST_KEY"     // holds marker
	marker          = "sk-MARKER-ENDPOINTTEST"
)

// Main is the TestMain of a program: where [Run] started the test binary again it is the program.
func Main(m *testing.M, program func()) {
	if os.Getenv(programVariable) != "" {
		program()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Run runs the program of the test with a scripted model, and returns what it printed. The test fails if that holds the key.
func Run(t *testing.T, script Script, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return run(t, command(t, script, args), nil)
}

// Interrupt runs the program and interrupts it when it asks the model for a call for the first time, which does not answer then.
func Interrupt(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted by another one there")
	}
	asked := make(chan struct{}, 1)
	cmd := command(t, func(q openaitest.Request) openaitest.Reply {
		if IsPing(q) {
			return Talk(q)
		}
		select {
		case asked <- struct{}{}:
		default: // by an episode that is played at the same time
		}
		return openaitest.Reply{Hang: true}
	}, args)
	return run(t, cmd, asked)
}

func command(t *testing.T, script Script, args []string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-endpoint", Serve(t, script), "-model", "scripted", "-key-env", keyVariable, "-retries", "0"}, args...)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), programVariable+"=1", keyVariable+"="+marker)
	return cmd
}

// run waits for the end of a command, and interrupts it when there is something in the channel.
func run(t *testing.T, cmd *exec.Cmd, interrupt <-chan struct{}) (code int, stdout, stderr string) {
	t.Helper()
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-interrupt:
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		err = <-ended
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	if strings.Contains(out.String()+diagnostics.String(), marker) {
		t.Error("the key was printed")
	}
	return cmd.ProcessState.ExitCode(), out.String(), diagnostics.String()
}
