package envharness

import "errors"

// Errors a caller may branch on with errors.Is.
var (
	ErrNeedReset    = errors.New("envharness: step before reset")
	ErrEpisodeOver  = errors.New("envharness: episode is over")
	ErrClosed       = errors.New("envharness: closed")
	ErrBusy         = errors.New("envharness: another call is running")
	ErrStart        = errors.New("envharness: setup failed")
	ErrOrder        = errors.New("envharness: component order")
	ErrReservedName = errors.New("envharness: reserved tool name")
	ErrTamper       = errors.New("envharness: the replay differs from the record")
	ErrNoPlan       = errors.New("envharness: proved unsolvable")
	ErrNotProven    = errors.New("envharness: no plan found, and none disproved")
	ErrNoTask       = errors.New("envharness: no such task")
	ErrInsufficient = errors.New("envharness: too few valid episodes")

	// An [Environment] returns this from a Reset with a seed that it can do nothing with.
	ErrSeedUnsupported = errors.New("envharness: seeds are not supported")

	// A [Policy] returns these.
	ErrBadAction   = errors.New("envharness: unreadable action")
	ErrStop        = errors.New("envharness: policy stops")
	ErrTokenBudget = errors.New("envharness: token budget used up")
	ErrInfra       = errors.New("envharness: infrastructure failure")
)
