package child

import "syscall"

// awaitExit waits until the program has ended and leaves it to be reaped, so that its number stays taken.
func awaitExit(pid int) bool {
	const idIsPid = 1 // P_PID of waitid(2)
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idIsPid, uintptr(pid), 0, syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return errno == 0
		}
	}
}
