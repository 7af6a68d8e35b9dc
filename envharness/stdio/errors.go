package stdio

import "fmt"

// An Error is a call that did not work because of the program. It wraps the error of package envharness that the program named, and
// [envharness.ErrInfra] in all other cases: the program failed, ended, or does not keep to the protocol.
type Error struct {
	Op string // the operation, such as "step"
	// Fault says what is wrong, in words of this package; empty where the wrapped error says all.
	Fault string
	// Message is what the program said about it, or what of its answer was wrong. It may hold anything, secrets too, and is no part of
	// what Error returns.
	Message string

	err error
}

// Error returns the operation, the error that is wrapped and the fault.
func (e *Error) Error() string {
	if e.Fault == "" {
		return fmt.Sprintf("stdio: %s: %v", e.Op, e.err)
	}
	return fmt.Sprintf("stdio: %s: %v: %s", e.Op, e.err, e.Fault)
}

// Unwrap returns the error of package envharness.
func (e *Error) Unwrap() error { return e.err }
