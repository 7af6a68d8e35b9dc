package quality

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// counts is what one pass over a text finds.
type counts struct {
	chars, solid, letters, digits, replaced int // characters: all, those that are no white space, ...
	hashes, ellipses, address               int // signs, signs, characters

	words, lettered, single int
	stops                   stopSet

	lines, longest, lineChars int
	bullets, trailing         int // lines
}

// Classes of ASCII characters. Those from letterClass on make words.
const (
	spaceClass = iota
	signClass
	dotClass
	hashClass
	digitClass
	letterClass
)

var asciiClasses = func() (class [utf8.RuneSelf]uint8) {
	for c := range class {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			class[c] = letterClass
		case c >= '0' && c <= '9':
			class[c] = digitClass
		case c == '.':
			class[c] = dotClass
		case c == '#':
			class[c] = hashClass
		case !unicode.IsSpace(rune(c)):
			class[c] = signClass
		}
	}
	return class
}()

// count counts a text.
func count(text string) counts {
	var n counts
	for {
		end := strings.IndexByte(text, '\n')
		if end < 0 {
			n.line(text)
			return n
		}
		n.line(text[:end])
		n.chars++ // the line break
		text = text[end+1:]
	}
}

// line counts a line without its line break.
func (n *counts) line(line string) {
	chars, solid := 0, 0
	addressEnd := 0 // of the last address
	for i := 0; i < len(line); {
		c := line[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(line[i:])
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				size, wordChars := n.word(line[i:])
				i += size
				chars += wordChars
				solid += wordChars
				continue
			}
			i += size
			chars++
			if !unicode.IsSpace(r) {
				solid++
			}
			switch r {
			case utf8.RuneError:
				n.replaced++
			case '…':
				n.ellipses++
			}
			continue
		}
		switch asciiClasses[c] {
		case letterClass, digitClass:
			if i >= addressEnd && startsAddress(line[i:]) {
				end := i + addressLength(line[i:])
				n.address += utf8.RuneCountInString(line[i:end])
				addressEnd = end
			}
			size, wordChars := n.word(line[i:])
			i += size
			chars += wordChars
			solid += wordChars
			continue
		case dotClass:
			start := i
			for i++; i < len(line) && line[i] == '.'; i++ {
			}
			n.ellipses += (i - start) / 3
			chars += i - start
			solid += i - start
			continue
		case hashClass:
			n.hashes++
			solid++
		case signClass:
			solid++
		}
		chars++
		i++
	}
	n.chars += chars
	n.solid += solid
	if solid == 0 {
		return
	}
	n.lines++
	n.lineChars += chars
	n.longest = max(n.longest, chars)
	trimmed := strings.TrimSpace(line)
	if startsBullet(trimmed) {
		n.bullets++
	}
	if strings.HasSuffix(trimmed, "...") || strings.HasSuffix(trimmed, "…") {
		n.trailing++
	}
}

// word counts the word that text starts with, and returns its bytes and characters, marks included.
func (n *counts) word(text string) (size, chars int) {
	letters, digits, marks := 0, 0, 0
	i := 0
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			switch asciiClasses[c] {
			case letterClass:
				letters++
			case digitClass:
				digits++
			default:
				goto end
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		case unicode.IsMark(r):
			marks++
		default:
			goto end
		}
		i += size
	}
end:
	n.words++
	n.letters += letters
	n.digits += digits
	if letters > 0 {
		n.lettered++
		if letters+digits == 1 {
			n.single++
		}
	}
	n.stops.add(text[:i])
	return i, letters + digits + marks
}

// startsBullet tells if a line without white space around it is an item of a list.
func startsBullet(line string) bool {
	switch line[0] {
	case '-', '*', '+':
		return len(line) > 1 && (line[1] == ' ' || line[1] == '\t')
	}
	if line[0] < utf8.RuneSelf {
		return false
	}
	r, _ := utf8.DecodeRuneInString(line)
	return strings.ContainsRune("•‣◦▪●○", r) && r != utf8.RuneError
}

// startsAddress tells if text, which starts with a word, starts with an address.
func startsAddress(text string) bool {
	switch text[0] {
	case 'h', 'H':
		return hasPrefixFold(text, "http://") || hasPrefixFold(text, "https://")
	case 'w', 'W':
		return hasPrefixFold(text, "www.")
	}
	return false
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// addressLength returns the bytes of the address that text starts with.
func addressLength(text string) int {
	end := strings.IndexFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("<>\"`)]}", r)
	})
	if end < 0 {
		return len(text)
	}
	return end
}

// A stopSet has a bit for each stop word that occurs.
type stopSet uint8

func (s stopSet) size() int { return bits.OnesCount8(uint8(s)) }

func (s *stopSet) add(word string) {
	if len(word) < 2 || len(word) > 4 {
		return
	}
	var key uint32
	for i := range len(word) {
		key = key<<8 | uint32(word[i]|0x20) // folds the case of letters; no other word becomes one of letters that way
	}
	switch key {
	case 't'<<16 | 'h'<<8 | 'e':
		*s |= 1
	case 'b'<<8 | 'e':
		*s |= 2
	case 't'<<8 | 'o':
		*s |= 4
	case 'o'<<8 | 'f':
		*s |= 8
	case 'a'<<16 | 'n'<<8 | 'd':
		*s |= 16
	case 't'<<24 | 'h'<<16 | 'a'<<8 | 't':
		*s |= 32
	case 'h'<<24 | 'a'<<16 | 'v'<<8 | 'e':
		*s |= 64
	case 'w'<<24 | 'i'<<16 | 't'<<8 | 'h':
		*s |= 128
	}
}
