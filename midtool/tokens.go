package midtool

import "unicode/utf8"

// ApproxTokens estimates how many tokens a language model's tokenizer makes of a text, without a vocabulary: the
// counter "approx-1" (ours). It sums over maximal runs: of ASCII letters one for each ten begun; one for each ASCII
// digit and each non-ASCII code point; of blanks (space, tab) none for a single one, else one; of line breaks one; of
// other ASCII one for each five begun. It is an estimate of the size of a corpus, near the
// middle and not a tokenizer; for the budget of a prompt take one that errs high. The empty text has 0.
func ApproxTokens(text string) int {
	var c tokenCounter
	countTokens(&c, text)
	return c.sum()
}

// Classes of bytes for [ApproxTokens].
const (
	otherByte = iota
	letterByte
	digitByte
	blankByte
	breakByte
	wideByte
)

var byteClasses = func() (class [256]uint8) {
	for c := range class {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			class[c] = letterByte
		case c >= '0' && c <= '9':
			class[c] = digitByte
		case c == ' ' || c == '\t':
			class[c] = blankByte
		case c == '\n' || c == '\r':
			class[c] = breakByte
		case c >= utf8.RuneSelf:
			class[c] = wideByte
		}
	}
	return class
}()

// A tokenCounter counts a text that comes in pieces, none of which ends within a code point.
type tokenCounter struct {
	total int   // of the runs that have ended
	run   int   // characters of the run that goes on
	class uint8 // its class
}

// countTokens goes on with text.
func countTokens[T string | []byte](c *tokenCounter, text T) {
	for i := 0; i < len(text); {
		class := byteClasses[text[i]]
		if class != c.class {
			c.end(class)
		}
		if class == wideByte {
			_, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
			i += size
			c.run++
			continue
		}
		start := i
		for i++; i < len(text) && byteClasses[text[i]] == class; i++ {
		}
		c.run += i - start
	}
}

// end adds the run and starts one of another class.
func (c *tokenCounter) end(next uint8) {
	switch c.class {
	case letterByte:
		c.total += (c.run + 9) / 10
	case digitByte, wideByte:
		c.total += c.run
	case blankByte:
		c.total += min(c.run-1, 1)
	case breakByte:
		c.total++
	default:
		c.total += (c.run + 4) / 5
	}
	c.run, c.class = 0, next
}

// sum ends the text.
func (c *tokenCounter) sum() int {
	if c.run > 0 {
		c.end(otherByte)
	}
	return c.total
}

// A tokenSpan is the count of a piece of text that begins with "{" and '"' before a letter and ends with such
// characters, as a written tool does: it is made once and joined to what stands around it.
type tokenSpan struct {
	inner int // tokens between the first two characters and the last run
	tail  int // characters of the last run
}

const spanHead = `{"`

func spanOf(piece []byte) tokenSpan {
	var c tokenCounter
	countTokens(&c, piece[len(spanHead):])
	return tokenSpan{c.total, c.run}
}

// join counts the piece that t was made of.
func (c *tokenCounter) join(t tokenSpan) {
	countTokens(c, spanHead)
	c.end(otherByte)
	c.total += t.inner
	c.run = t.tail
}
