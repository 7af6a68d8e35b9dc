// Package mix chooses what goes into a corpus by shares of a token budget.
package mix
