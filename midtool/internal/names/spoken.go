package names

import (
	"strconv"
	"strings"
	"time"
)

// NumberWords are the words for zero to twelve, by number.
var NumberWords = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")

// LongDate writes an ISO date as "3 March 2027"; false for anything else.
func LongDate(iso string) (string, bool) {
	if len(iso) != len(time.DateOnly) || iso[4] != '-' || iso[7] != '-' {
		return "", false
	}
	t, err := time.Parse(time.DateOnly, iso)
	if err != nil {
		return "", false
	}
	return t.Format("2 January 2006"), true
}

var ordinals = strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth")

// Ordinal is the word for the nth of a list, counted from 0: "first", and "number 11" after the tenth.
func Ordinal(n int) string {
	if n < len(ordinals) {
		return ordinals[n]
	}
	return "number " + strconv.Itoa(n+1)
}

// KeyPhrase turns ["filters", "0", "start_date"] into "start date of the first filter". With flag, the key of a boolean
// loses the verb that makes it one: "include_details" is "details".
func KeyPhrase(keys []string, flag bool) string {
	var out strings.Builder
	buf := make([]string, 0, 8)
	for i := len(keys) - 1; i >= 0; i-- {
		if out.Len() > 0 {
			out.WriteString(" of the ")
		}
		if n, ok := index(keys[i]); ok && i > 0 {
			i--
			w := AppendWords(buf, keys[i])
			if len(w) > 0 {
				w[len(w)-1] = Singular(w[len(w)-1])
			}
			out.WriteString(Ordinal(n))
			for _, x := range w {
				out.WriteByte(' ')
				out.WriteString(x)
			}
			continue
		}
		w := AppendWords(buf, keys[i])
		if flag && len(w) > 1 && flagVerbs[w[0]] {
			w = w[1:]
		}
		switch {
		case len(w) == 0:
			out.WriteString("value")
		case len(w) == 1 && w[0] == "q":
			out.WriteString("query")
		default:
			for j, x := range w {
				if j > 0 {
					out.WriteByte(' ')
				}
				out.WriteString(x)
			}
		}
	}
	return out.String()
}

// index reads the place of an item in a list.
func index(key string) (int, bool) {
	if key == "" || key[0] != '+' && key[0] != '-' && (key[0] < '0' || key[0] > '9') {
		return 0, false // most keys are names: an error would cost more than the phrase
	}
	n, err := strconv.Atoi(key)
	return n, err == nil && n >= 0
}

var flagVerbs = WordSet("is has include includes enable enabled use with should show allow return")
