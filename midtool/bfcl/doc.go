// Package bfcl checks function calls against the gold answers of the Berkeley Function Calling Leaderboard, with the
// verdicts of its reference checker.
package bfcl
