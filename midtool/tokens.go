package midtool

// ApproxTokens estimates how many tokens a language model's tokenizer makes of a text, without a vocabulary: the
// counter "approx-1" (ours). It sums over maximal runs: of ASCII letters one for each ten begun; one for each ASCII
// digit and each non-ASCII code point; of blanks (space, tab) none for a single one, else one; of line breaks one; of
// other ASCII one for each five begun. It is an estimate of the size of a corpus, near the
// middle and not a tokenizer; for the budget of a prompt take one that errs high. The empty text has 0.
func ApproxTokens(text string) int {
	const (
		other = iota
		letter
		digit
		blank
		line
		wide
	)
	class := func(r rune) int {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			return letter
		case r >= '0' && r <= '9':
			return digit
		case r == ' ' || r == '\t':
			return blank
		case r == '\n' || r == '\r':
			return line
		case r >= 0x80:
			return wide
		}
		return other
	}
	total, run, current := 0, 0, other
	flush := func() {
		switch {
		case run == 0:
		case current == letter:
			total += (run + 9) / 10
		case current == digit || current == wide:
			total += run
		case current == blank && run > 1 || current == line:
			total++
		case current == other:
			total += (run + 4) / 5
		}
		run = 0
	}
	for _, r := range text {
		if c := class(r); c != current {
			flush()
			current = c
		}
		run++
	}
	flush()
	return total
}
