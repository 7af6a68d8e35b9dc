package scan

import (
	"strings"
	"unicode/utf8"
)

const (
	minSecret = 8   // runes of a value after password= or token=
	minBlob   = 200 // characters of base64
	keyLetter = 16  // capitals and digits after AKIA
	maxHead   = 60  // bytes of the head of a private key
)

// matchRaw returns the hits of the rules that see the text as it is: invisible, secret-text and blob.
func matchRaw(text string) []hit {
	var hits hitList
	line, run := 1, 0 // of base64 up to i
	for i := 0; i < len(text); {
		c := text[i]
		if base64Byte(c) {
			run++
		} else {
			if run >= minBlob {
				hits.add(hit{rule: blob, start: i - run, end: i}, line)
			}
			run = 0
		}
		size := 1
		switch {
		case c >= utf8.RuneSelf:
			var found bool
			if size, found = invisibleAt(text, i); found {
				hits.add(hit{rule: invisible, start: wordStart(text, i), end: wordEnd(text, i+size)}, line)
			}
		case c == '\n':
			line++
		case c == 'A':
			if strings.HasPrefix(text[i:], "AKIA") && keyAt(text[i+4:]) {
				hits.add(hit{rule: secretText, start: i, end: i + 4, cut: true}, line)
			}
		case c == '-':
			if n := keyHead(text[i:]); n > 0 {
				hits.add(hit{rule: secretText, start: i, end: i + n}, line)
			}
		case c == '=':
			for _, name := range [...]string{"password", "token"} {
				if n := i - len(name); n >= 0 && strings.EqualFold(text[n:i], name) && valueAt(text[i+1:]) {
					hits.add(hit{rule: secretText, start: n, end: i + 1, cut: true}, line)
				}
			}
		}
		i += size
	}
	if run >= minBlob {
		hits.add(hit{rule: blob, start: len(text) - run, end: len(text)}, line)
	}
	return hits.list
}

func base64Byte(c byte) bool {
	return letter(c) || '0' <= c && c <= '9' || c == '+' || c == '/'
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// invisibleAt reports whether the runes at i, outside ASCII, hide text or its order, and how many bytes were looked at.
func invisibleAt(text string, i int) (size int, found bool) {
	r, size := utf8.DecodeRuneInString(text[i:])
	switch {
	case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
		return size, true
	case tag(r):
		for r, n := utf8.DecodeRuneInString(text[i+size:]); tag(r); r, n = utf8.DecodeRuneInString(text[i+size:]) {
			size += n
		}
		return size, true
	case r == 0x1f3f4:
		return size + flagTags(text[i+size:]), false
	case zeroWidth(r):
		for r, n := utf8.DecodeRuneInString(text[i+size:]); zeroWidth(r); r, n = utf8.DecodeRuneInString(text[i+size:]) {
			size += n
		}
		end := i + size
		return size, i > 0 && letter(text[i-1]) && end < len(text) && letter(text[end])
	}
	return size, false
}

func tag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

func zeroWidth(r rune) bool { return r >= 0x200b && r <= 0x200d || r == 0x2060 || r == 0xfeff }

// flagTags returns the bytes of the tag characters that make a black flag the flag of a region: 3 to 6 letters or digits,
// the longest code of a region in Unicode, and the end. It is 0 if there are none such.
func flagTags(s string) int {
	const tagSize = 4
	for n := range 7 {
		r, _ := utf8.DecodeRuneInString(s[min(len(s), n*tagSize):])
		switch c := r - 0xe0000; {
		case c == 0x7f && n >= 3:
			return (n + 1) * tagSize
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		default:
			return 0
		}
	}
	return 0
}

// maxContext is the number of bytes by which a word is shown on either side of what is invisible in it.
const maxContext = 20

func wordStart(text string, i int) int {
	for n := 0; n < maxContext && i > 0 && letter(text[i-1]); n++ {
		i--
	}
	return i
}

func wordEnd(text string, i int) int {
	for n := 0; n < maxContext && i < len(text) && letter(text[i]); n++ {
		i++
	}
	return i
}

// keyAt reports whether s starts with the rest of the ID of a key.
func keyAt(s string) bool {
	if len(s) < keyLetter {
		return false
	}
	for i := range keyLetter {
		if c := s[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// keyHead returns the length of the head of a PEM private key that s starts with, 0 if it starts with none.
func keyHead(s string) int {
	const begin, key = "-----BEGIN ", "PRIVATE KEY"
	if len(s) < len(begin) || !strings.EqualFold(s[:len(begin)], begin) {
		return 0
	}
	s = s[:min(len(s), maxHead)]
	for i := len(begin); i+len(key) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(key)], key) {
			return i + len(key)
		}
		if c := s[i]; c != ' ' && !letter(c) && (c < '0' || c > '9') {
			return 0
		}
	}
	return 0
}

// valueAt reports whether s starts with a value of at least minSecret runes that is no variable, placeholder or comparison.
func valueAt(s string) bool {
	if s != "" && strings.IndexByte(`"'`, s[0]) >= 0 {
		s = s[1:]
	}
	if s != "" && strings.IndexByte(`$<{=`, s[0]) >= 0 {
		return false
	}
	n := 0
	for _, r := range s {
		if r <= ' ' || strings.ContainsRune("\"'`&;,)<>", r) {
			return false
		}
		if n++; n == minSecret {
			return true
		}
	}
	return false
}
