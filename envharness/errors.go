package envharness

import "errors"

// Errors a caller may branch on with errors.Is.
var (
	ErrNeedReset   = errors.New("envharness: step before reset")
	ErrEpisodeOver = errors.New("envharness: episode is over")
	ErrClosed      = errors.New("envharness: closed")
	ErrBusy        = errors.New("envharness: another call is running")
	ErrStart       = errors.New("envharness: setup failed")
	ErrOrder       = errors.New("envharness: component order")
	ErrNoPlan      = errors.New("envharness: proved unsolvable")
	ErrNoTask      = errors.New("envharness: no such task")

	// A [Policy] returns these.
	ErrBadAction = errors.New("envharness: unreadable action")
	ErrStop      = errors.New("envharness: policy stops")
	ErrInfra     = errors.New("envharness: infrastructure failure")
)
