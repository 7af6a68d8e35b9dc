package bps

import "unicode"

// EstimateTokens guesses the tokens of s without a tokenizer: the larger of a third of its bytes, rounded up, and the number of its
// words, punctuation marks, symbols and newlines. It is meant to be high for prose, code and JSON, but it is an estimate, not a
// bound: long runs of digits, for example, can have more tokens. Use the counter of the model where the budget is tight.
func EstimateTokens(s string) int {
	pieces, inWord := 0, false
	for _, r := range s {
		switch {
		case r == '\n' || unicode.IsPunct(r) || unicode.IsSymbol(r):
			pieces++
			inWord = false
		case unicode.IsSpace(r):
			inWord = false
		case !inWord:
			pieces++
			inWord = true
		}
	}
	return max((len(s)+2)/3, pieces)
}
