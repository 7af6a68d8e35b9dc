package child

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// modeVariable makes the test binary a program that the tests run.
const modeVariable = "CHILD_TEST_MODE"

func TestMain(m *testing.M) {
	mode, ok := os.LookupEnv(modeVariable)
	if !ok {
		os.Exit(m.Run())
	}
	os.Exit(play(mode))
}

// play is the program.
func play(mode string) int {
	switch mode {
	case "echo": // copies its input to its output
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "exit3":
		fmt.Fprintln(os.Stderr, "the secret is", os.Getenv("SECRET"))
		return 3
	case "environ":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "deaf": // reads nothing and does not end
		fmt.Println("ready")
		hang()
	case "mute": // the same, and says nothing
		hang()
	case "farewell": // writes more than a pipe holds when its input ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Print(strings.Repeat("x", 1<<20))
		fmt.Fprintln(os.Stderr, "bye")
	case "heir", "heirs", "escape": // starts a program that holds all its streams and tells its number; heirs does not end
		self, err := os.Executable()
		if err != nil {
			return 1
		}
		cmd := exec.Command(self)
		cmd.Env = []string{modeVariable + "=mute"}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if mode == "escape" {
			cmd.SysProcAttr = ownGroup()
		}
		if err := cmd.Start(); err != nil {
			return 1
		}
		fmt.Println(cmd.Process.Pid)
		if mode == "heirs" {
			hang()
		}
	}
	return 0
}

// hang blocks for good; a channel would be a deadlock to the runtime.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}
