package rules

import (
	"slices"

	"github.com/throughline-go/throughline/internal/text"
)

// Vocabulary returns the words of the texts, each once and sorted, as [envharness.Description].Vocabulary wants them.
func Vocabulary(texts ...string) []string {
	var words []string
	for _, s := range texts {
		words = append(words, text.Words(s)...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}
