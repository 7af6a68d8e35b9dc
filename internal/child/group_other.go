//go:build !unix

package child

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

func kill(p *os.Process) { _ = p.Kill() }

func reap(p *os.Process) (*os.ProcessState, error) { return p.Wait() }
