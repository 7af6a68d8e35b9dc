package scan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxExcerpt is the length of an excerpt in runes, without the ellipsis.
const maxExcerpt = 80

// excerpt shows s on one short line. If cut is set, s went on.
func excerpt(s string, cut bool) string {
	var b strings.Builder
	runes, space := 0, false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+size]
		i += size
		if unicode.IsSpace(r) {
			if space {
				continue
			}
			piece, space = " ", true
		} else {
			space = false
			switch {
			case r == utf8.RuneError && size == 1, r < utf8.RuneSelf && !unicode.IsPrint(r):
				piece = fmt.Sprintf(`\x%02x`, piece[0])
			case unicode.IsPrint(r) && !dropped(r):
			case r > 0xffff:
				piece = fmt.Sprintf(`\U%08x`, r)
			default:
				piece = fmt.Sprintf(`\u%04x`, r)
			}
		}
		n := utf8.RuneCountInString(piece)
		if runes+n > maxExcerpt {
			cut = true
			break
		}
		runes += n
		b.WriteString(piece)
	}
	if cut {
		b.WriteString("…")
	}
	return b.String()
}
