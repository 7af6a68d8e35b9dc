package document

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The characters of windows-1252 from 0x80 to 0x9F; 0 stands for the code point of the byte.
var windows1252 = [32]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

// decodePage returns the text of an HTML page as UTF-8, as far as its encoding is one of a few: UTF-8; UTF-16 with a byte order
// mark; and ISO-8859-1 or windows-1252 where the page says so and is no UTF-8. What is left invalid is for [clean] to reject.
func decodePage(data []byte) (string, error) {
	switch {
	case len(data) >= 2 && data[0] == 0xFF && data[1] == 0xFE:
		return decodeUTF16(data[2:], binary.LittleEndian)
	case len(data) >= 2 && data[0] == 0xFE && data[1] == 0xFF:
		return decodeUTF16(data[2:], binary.BigEndian)
	case utf8.Valid(data):
		return string(data), nil
	}
	switch declared(data) {
	case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1", "windows-1252", "cp1252", "x-cp1252", "us-ascii", "ascii":
	default:
		return string(data), nil
	}
	var b strings.Builder
	b.Grow(len(data) + len(data)/8)
	for _, c := range data {
		r := rune(c)
		if c >= 0x80 && c < 0xA0 && windows1252[c-0x80] != 0 {
			r = windows1252[c-0x80]
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}

func decodeUTF16(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", fault("invalid_utf8", "UTF-16 of an odd number of bytes")
	}
	var b strings.Builder
	b.Grow(len(data))
	for i := 0; i < len(data); i += 2 {
		r := rune(order.Uint16(data[i:]))
		if utf16.IsSurrogate(r) {
			if i+4 > len(data) {
				return "", fault("invalid_utf8", "UTF-16 that ends in half a pair")
			}
			r = utf16.DecodeRune(r, rune(order.Uint16(data[i+2:])))
			if r == utf8.RuneError {
				return "", fault("invalid_utf8", "half a pair of UTF-16 at byte %d", i)
			}
			i += 2
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}

// maxProlog is how far a page may state its encoding from the start, as browsers look for it.
const maxProlog = 1024

// declared returns the encoding that a page states, in lower case.
func declared(data []byte) string {
	head := strings.ToLower(string(data[:min(len(data), maxProlog)]))
	for _, key := range []string{"charset=", "encoding="} {
		if _, after, ok := strings.Cut(head, key); ok {
			after = strings.TrimLeft(after, "\"' ")
			if i := strings.IndexAny(after, "\"' \t\n;/>?"); i >= 0 {
				after = after[:i]
			}
			return after
		}
	}
	return ""
}
