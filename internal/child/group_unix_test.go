//go:build unix

package child

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// gone waits until a process that is no child of ours has ended. One that nobody reaps stays as a zombie, which is gone, too.
func gone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "grandchildren", 0, func() int {
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
			return 0
		}
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return 0
		}
		return 1
	})
}

func grandchild(t *testing.T, p *Process) int {
	t.Helper()
	pid, err := strconv.Atoi(line(t, p))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// A program that ends leaves nobody behind, and the end of its output is seen although another one held it.
func TestGroupEndsWithItsLeader(t *testing.T) {
	p := program(t, "heir", nil)
	pid := grandchild(t, p)
	if _, err := io.ReadAll(p); err != nil {
		t.Error(err)
	}
	<-p.Done()
	gone(t, pid)
	if p.Close(); p.Err() != nil {
		t.Error(p.Err())
	}
}

func TestCloseKillsTheGroup(t *testing.T) {
	p := program(t, "heirs", brief)
	pid := grandchild(t, p)
	p.Close()
	gone(t, pid)
}

// The same where somebody else kills the program.
func TestGroupEndsWithALeaderThatIsKilled(t *testing.T) {
	p := program(t, "heirs", nil)
	pid := grandchild(t, p)
	if err := syscall.Kill(p.os.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	gone(t, pid)
	if want := "child: " + selfName(t) + ": signal: killed"; p.Err() == nil || p.Err().Error() != want {
		t.Errorf("got %v, want %s", p.Err(), want)
	}
}

// Who leaves the group and holds the streams is not found, and holds up nobody for longer than the grace.
func TestEscapedGrandchildHoldsUpNobody(t *testing.T) {
	p := program(t, "escape", func(c *Command) { brief(c); c.Stderr = io.Discard })
	pid := grandchild(t, p)
	defer syscall.Kill(pid, syscall.SIGKILL)
	if _, err := io.ReadAll(p); err != nil {
		t.Error("read:", err)
	}
	if _, err := p.Write(make([]byte, 1<<20)); !errors.Is(err, io.ErrClosedPipe) {
		t.Error("write:", err)
	}
	p.Close()
}

// A program that is stopped can be killed all the same.
func TestCloseOfStoppedProgram(t *testing.T) {
	p := program(t, "deaf", brief)
	line(t, p)
	if err := syscall.Kill(p.os.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if p.Err() == nil {
		t.Error("no error")
	}
}
