//go:build unix

package child

import (
	"os"
	"syscall"
)

// ownGroup makes the program the leader of a new process group, whose id is that of the program.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// kill kills the program. The rest of its group is killed when it is reaped: only there is it known that its number is still its own.
func kill(p *os.Process) { _ = p.Kill() }

// reap waits for the end of the program, kills the rest of its group, and returns how the program ended.
func reap(p *os.Process) (*os.ProcessState, error) {
	if awaitExit(p.Pid) {
		killGroup(p.Pid)
		return p.Wait()
	}
	state, err := p.Wait()
	killGroup(p.Pid)
	return state, err
}

func killGroup(id int) { _ = syscall.Kill(-id, syscall.SIGKILL) } // ESRCH if the group is empty
