package names

import (
	"strconv"
	"strings"
	"time"
)

var NumberWords = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")

// longDate writes an ISO date as "3 March 2027".
func LongDate(iso string) (string, bool) {
	if len(iso) != len(time.DateOnly) {
		return "", false
	}
	t, err := time.Parse(time.DateOnly, iso)
	return t.Format("2 January 2006"), err == nil
}

var ordinals = strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth")

// keyPhrase turns ["filters", "0", "start_date"] into "start date of the first filter".
func KeyPhrase(keys []string, flag bool) string {
	var parts []string
	for i := len(keys) - 1; i >= 0; i-- {
		if n, err := strconv.Atoi(keys[i]); err == nil && i > 0 {
			w := Words(keys[i-1])
			if len(w) > 0 {
				w[len(w)-1] = Singular(w[len(w)-1])
			}
			nth := "number " + strconv.Itoa(n+1)
			if n < len(ordinals) {
				nth = ordinals[n]
			}
			parts = append(parts, strings.TrimSpace(nth+" "+strings.Join(w, " ")))
			i--
			continue
		}
		w := Words(keys[i])
		if flag && len(w) > 1 {
			switch w[0] {
			case "is", "has", "include", "includes", "enable", "enabled", "use", "with", "should", "show", "allow", "return":
				w = w[1:]
			}
		}
		if len(w) == 0 {
			w = []string{"value"}
		}
		if len(w) == 1 && w[0] == "q" {
			w[0] = "query"
		}
		parts = append(parts, strings.Join(w, " "))
	}
	return strings.Join(parts, " of the ")
}
