// Package child runs a program that speaks on its standard streams, and owns it to the end: when the owner closes it, the program and
// all that it started are gone.
//
// # How
//
// On Unix the program leads a process group of its own. When it ends, by itself or because it was killed, the group is killed with
// SIGKILL, so that nothing that it left behind lives on. On Linux that is done before the program is reaped, while its number cannot be
// that of another one; elsewhere right after. The standard streams are pipes of which this package closes its own ends: a call that hangs
// returns, whoever holds the other end.
//
// # Limits
//
// What leaves the group (setsid, a daemon) is not found; it does not hold up Close, which then takes as long as the grace. On Windows
// and Plan 9 there is no group: the program alone is killed. A program in a group of its own does not get the signals of the terminal.
// If this process is killed, its programs see the end of their standard input and should end by themselves; Linux's signal at the death
// of a parent is not asked for, because it comes at the end of the thread that started the program.
//
// # Cost
//
// Two goroutines a program, one of which waits in the system on a thread, as [os.Process.Wait] does, and three descriptors.
package child
