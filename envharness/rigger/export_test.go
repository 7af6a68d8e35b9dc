package rigger

import "testing"

// NewMemoryJournal is an empty journal in memory, for tests from outside that are not about files.
func NewMemoryJournal(t testing.TB) *Journal {
	t.Helper()
	j, _ := inMemory(t, nil)
	return j
}
