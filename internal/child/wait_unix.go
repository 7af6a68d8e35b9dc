//go:build unix && !linux

package child

// awaitExit says that there is no way here to wait without reaping.
func awaitExit(int) bool { return false }
