package shop

import (
	"math/bits"
	"slices"
	"strings"
)

// tokens returns the token set of a text: its distinct [words] in ascending order.
func tokens(text string) []string {
	found := words(text)
	slices.Sort(found)
	return slices.Compact(found)
}

// words returns the runs of letters and digits in the ASCII form of a text in lower case. That form leaves out what is not ASCII:
// "Café-Crème" has the words "caf" and "crme".
func words(text string) []string {
	var found []string
	lower := asciiLower(text)
	for i := 0; i < len(lower); {
		if !wordByte(lower[i]) {
			i++
			continue
		}
		from := i
		for i < len(lower) && wordByte(lower[i]) {
			i++
		}
		found = append(found, lower[from:i])
	}
	return found
}

// asciiLower returns the ASCII characters of a text in lower case. Texts that are so already come back as they are.
func asciiLower(text string) string {
	clean := func(b byte) bool { return b < 0x80 && (b < 'A' || b > 'Z') }
	for i := range len(text) {
		if clean(text[i]) {
			continue
		}
		out := append(make([]byte, 0, len(text)), text[:i]...)
		for ; i < len(text); i++ {
			switch b := text[i]; {
			case clean(b):
				out = append(out, b)
			case b < 0x80:
				out = append(out, b+'a'-'A')
			}
		}
		return string(out)
	}
	return text
}

func wordByte(b byte) bool { return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' }

// tokenSetRatio compares two token sets as made by [tokens]: 0 for nothing in common, 100 where one holds the other.
//
// With I the shared tokens, A = I and the rest of the first set, B = I and the rest of the second, all in ascending order and
// joined by spaces, it is 100 if I is not empty and a rest is, else the largest of 200*LCS(x, y)/(len x + len y) over the pairs
// (I, A), (I, B) and (A, B), where LCS is the length of the longest common subsequence and pairs with an empty I are left out.
// An empty set makes it 0. The value is not rounded.
//
// I starts A and B, so LCS(I, A) is len I, and of LCS(A, B) only the rests have to be compared. That takes time in proportion to
// the length of one rest times that of the other in words of 64 bytes, and no memory up to 64 bytes of the shorter one.
func tokenSetRatio(a, b []string) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	var roomA, roomB [96]byte
	restA, restB := roomA[:0], roomB[:0]
	shared := 0 // length of I
	for i, j := 0, 0; i < len(a) || j < len(b); {
		order := 0
		switch {
		case i == len(a):
			order = 1
		case j == len(b):
			order = -1
		default:
			order = strings.Compare(a[i], b[j])
		}
		switch {
		case order < 0:
			restA = appendToken(restA, a[i])
			i++
		case order > 0:
			restB = appendToken(restB, b[j])
			j++
		default:
			if shared > 0 {
				shared++
			}
			shared += len(a[i])
			i, j = i+1, j+1
		}
	}
	if shared == 0 {
		return likeness(commonLength(restA, restB), len(restA), len(restB))
	}
	if len(restA) == 0 || len(restB) == 0 {
		return 100
	}
	start := shared + 1 // I and the space after it, which A and B begin with
	return max(
		likeness(shared, shared, start+len(restA)),
		likeness(shared, shared, start+len(restB)),
		likeness(start+commonLength(restA, restB), start+len(restA), start+len(restB)))
}

// appendToken appends a token to a list of tokens with spaces between.
func appendToken(list []byte, token string) []byte {
	if len(list) > 0 {
		list = append(list, ' ')
	}
	return append(list, token...)
}

// likeness relates the length of what two texts have in common to their lengths.
func likeness(common, lenX, lenY int) float64 { return float64(200*common) / float64(lenX+lenY) }

// commonLength returns the length of the longest common subsequence of two texts of letters, digits and spaces.
//
// It keeps a row of the usual table as bits, one for each byte of the shorter text: a bit is 0 where the length grows (H. Hyyrö,
// Bit-parallel LCS-length computation revisited, 2004).
func commonLength(x, y []byte) int {
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) <= 64 {
		var at [37]uint64 // by symbol, the places of x that hold it
		for i, b := range x {
			at[symbol(b)] |= 1 << i
		}
		row := ^uint64(0)
		for _, b := range y {
			u := row & at[symbol(b)]
			row = (row + u) | (row &^ u)
		}
		return bits.OnesCount64(^row & (1<<len(x) - 1))
	}
	width := (len(x) + 63) / 64
	at := make([]uint64, 37*width)
	for i, b := range x {
		at[symbol(b)*width+i/64] |= 1 << (i % 64)
	}
	row := make([]uint64, width)
	for i := range row {
		row[i] = ^uint64(0)
	}
	for _, b := range y {
		places := at[symbol(b)*width:][:width]
		carry := uint64(0)
		for i, r := range row {
			u := r & places[i]
			var sum uint64
			sum, carry = bits.Add64(r, u, carry)
			row[i] = sum | r&^u
		}
	}
	n := 0
	for i, r := range row {
		last := uint64(1)<<min(64, len(x)-64*i) - 1 // a shift by 64 leaves 0, less 1 all bits
		n += bits.OnesCount64(^r & last)
	}
	return n
}

// symbol numbers the bytes that token lists are made of.
func symbol(b byte) int {
	switch {
	case 'a' <= b && b <= 'z':
		return int(b - 'a')
	case '0' <= b && b <= '9':
		return 26 + int(b-'0')
	}
	return 36
}
