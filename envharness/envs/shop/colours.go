package shop

import "strings"

// colours are the words that options are reduced to: common names of colours, in alphabetical order. The list is ours; what is
// done with it is WebShop's rule.
var colours = [...]string{
	"amber", "aqua", "beige", "black", "blue", "bronze", "brown", "burgundy", "charcoal", "copper", "coral", "cream", "gold", "gray",
	"green", "grey", "indigo", "ivory", "khaki", "lavender", "lilac", "lime", "magenta", "maroon", "mint", "navy", "olive", "orange",
	"peach", "pink", "plum", "purple", "red", "rose", "rust", "silver", "tan", "teal", "turquoise", "violet", "white", "yellow",
}

// colourOf returns the first of [colours] that an option contains, also within a word ("navyblue" gives "blue"), or the option
// itself if it has none. So "light blue" and "navy blue" count as one colour.
func colourOf(option string) string {
	lower := asciiLower(option)
	for _, c := range colours {
		if strings.Contains(lower, c) {
			return c
		}
	}
	return option
}
