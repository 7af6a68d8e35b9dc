package schema

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/draw"
)

// A hint is what the description of a parameter says about its values. Only the beginning of a description is read:
// what it says later is seldom about the form of a value, and reading must not cost more than making.
type hint struct {
	text string
	low  [320]byte // text in lower case
}

// A told is what comes of a hint.
type told struct {
	choices  []string // values that are listed; none for fewer than two
	forms    []table  // of the values, at most one
	date     bool     // values are dates
	time     bool     // values are dates with a time
	examples []string
	lo, hi   float64 // with ranged
	ranged   bool
	dated    bool // the word date occurs
}

var silent told

// tells reads the description, once for all values that are made.
func (v *view) tells() *told {
	s := v.Schema
	if v.speaker != nil {
		s = v.speaker
	}
	if s.Description == "" {
		return &silent
	}
	t := s.told.Load()
	if t == nil {
		var h hint
		h.read(s.Description)
		t = h.all()
		s.told.Store(t)
	}
	return t
}

func (h *hint) all() *told {
	t := &told{examples: h.examples(), dated: h.says("date") >= 0}
	if list := h.choices(); len(list) > 1 {
		t.choices = list
	}
	t.date = h.says("yyyy-mm-dd") >= 0 && h.says("hh:mm", "yyyy-mm-ddt") < 0
	t.time = h.says("iso 8601", "iso8601", "rfc 3339", "rfc3339") >= 0
	for _, f := range namedForms {
		if h.says(f.words...) >= 0 {
			t.forms = []table{f.forms}
			break
		}
	}
	t.lo, t.hi, t.ranged = h.numbers()
	return t
}

// read takes a description; a hint read anew forgets the old one, so that it can live on the stack.
func (h *hint) read(description string) {
	h.text = description[:min(len(description), len(h.low))]
	for i := range len(h.text) {
		c := h.text[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		h.low[i] = c
	}
}

// says returns the place after the first of the words that the description has; -1 if it has none.
func (h *hint) says(words ...string) int {
	for _, w := range words {
		if i := bytes.Index(h.low[:len(h.text)], []byte(w)); i >= 0 {
			return i + len(w)
		}
	}
	return -1
}

// Forms of values that descriptions name, most special first (ours).
var namedForms = []struct {
	words []string
	forms table
}{
	{[]string{"iso 4217", "currency code"}, newTable("<money>")},
	{[]string{"alpha-3", "three-letter country", "3-letter country"}, newTable("<code3>")},
	{[]string{"two-letter country", "2-letter country", "alpha-2", "iso 3166", "country code"}, newTable("<code2>")},
	{[]string{"iso 639", "language code"}, newTable("<lang2>")},
	{[]string{"iata", "airport code"}, newTable("<air>")},
	{[]string{"hex color", "hexadecimal color", "hex colour"}, newTable("#<hex><hex><hex><hex><hex><hex>")},
	{[]string{"iana time", "time zone name", "iana timezone"}, newTable("<zone>")},
	{[]string{"ticker symbol", "stock symbol"}, newTable("<tick>")},
}

// word makes a string as the description says: one of the values that it lists, of a form that it names, or like an
// example. Where the name of the parameter has a table, examples are followed half of the time only, for variety.
func (t *told) word(m *Maker, tabled bool) (string, bool) {
	switch {
	case len(t.choices) > 0:
		return draw.One(m.D, t.choices), true
	case t.date:
		return m.date(), true
	case t.time:
		return m.dateTime(), true
	case len(t.forms) > 0:
		return t.forms[0].value(m.D), true
	case len(t.examples) > 0 && (!tabled || m.D.Chance(0.5)):
		return draw.One(m.D, t.examples), true
	}
	return "", false
}

// choices are the values of a list such as "one of: a, b, c", "'asc' or 'desc'" or "(low|medium|high)".
func (h *hint) choices() []string {
	if at := h.says("one of", "allowed values", "possible values", "valid values", "options:", "options are", "supported values"); at >= 0 {
		if list := listAt(h.text[at:]); len(list) > 1 {
			return list
		}
	}
	if at := strings.IndexByte(h.text, '|'); at >= 0 {
		from := strings.LastIndexAny(h.text[:at], " (:[") + 1
		to := at + strings.IndexAny(h.text[at:]+" ", " ).]")
		list := strings.Split(h.text[from:to], "|")
		for i, w := range list {
			if list[i] = strings.Trim(w, "'`\""); !choosable(list[i]) {
				return nil
			}
		}
		return list
	}
	if at := strings.IndexAny(h.text, "'\"`"); at >= 0 && h.says("e.g.", "example", "such as") < 0 && h.says(" or ") >= 0 {
		return listAt(h.text[at:])
	}
	return nil
}

// examples are the values after "e.g." and the like.
func (h *hint) examples() []string {
	at := h.says("e.g.", "for example", "for instance", "example:", "examples:", "such as")
	if at < 0 {
		return nil
	}
	return listAt(h.text[at:])
}

// listAt reads values, in quotes or single words, with commas, "or", "and" or slashes between them. Values in quotes may
// have spaces; a bare word ends the list where anything but a separator follows, and does not count then.
func listAt(s string) []string {
	var out []string
	s = strings.TrimLeft(s, ":,( [")
	for s != "" && len(out) < 24 {
		var word string
		if q := s[0]; q == '\'' || q == '"' || q == '`' {
			end := strings.IndexByte(s[1:], q)
			if end < 0 {
				break
			}
			word, s = s[1:1+end], s[2+end:]
		} else {
			end := strings.IndexAny(s, " ,;)]|")
			if end < 0 {
				end = len(s)
			}
			word = strings.TrimRight(s[:end], ".:")
			s = s[end:]
			if trimmed := strings.TrimLeft(s, " "); trimmed != "" && !strings.ContainsRune(",;)]|", rune(trimmed[0])) &&
				!strings.HasPrefix(trimmed, "or ") && !strings.HasPrefix(trimmed, "and ") {
				return out
			}
		}
		if !choosable(word) {
			break
		}
		out = append(out, word)
		rest := strings.TrimLeft(s, " ")
		separated := false
		for _, sep := range []string{",", "|", "/", "or ", "and "} {
			if after, ok := strings.CutPrefix(rest, sep); ok {
				rest, separated = strings.TrimLeft(after, " "), true
			}
		}
		if !separated {
			break
		}
		s = rest
	}
	return out
}

// choosable says whether a word can be a value that people say.
func choosable(w string) bool {
	return w != "" && len(w) <= 40 && strings.TrimSpace(w) == w && !strings.ContainsAny(w, "<>{}\\\n\t\r\"`") && !strings.HasSuffix(w, "..") &&
		!strings.HasSuffix(w, "…") && w != "etc" && w != "or" && w != "and" && w != "the" && w != "a" && w != "an"
}

// numbers gives the range that the description names: "between 1 and 50", "(1-50)", "1 to 50".
func (h *hint) numbers() (lo, hi float64, ok bool) {
	if len(h.text) == 0 {
		return 0, 0, false
	}
	if h.says("unix time", "epoch") >= 0 {
		return 1_700_000_000, 1_900_000_000, true
	}
	if at := h.says("between ", "range ", "from ", "range: ", "("); at >= 0 {
		s := string(h.low[at:len(h.text)])
		lo, rest, ok1 := leadingNumber(s)
		for _, sep := range []string{" and ", " to ", "-", " - ", "–", ".."} {
			if after, found := strings.CutPrefix(rest, sep); found && ok1 {
				if hi, _, ok2 := leadingNumber(after); ok2 && lo < hi {
					return lo, hi, true
				}
			}
		}
	}
	if h.says("percent") >= 0 {
		return 1, 100, true
	}
	return 0, 0, false
}

func leadingNumber(s string) (float64, string, bool) {
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && s[end] == '-' || s[end] == '.' && end+1 < len(s) && s[end+1] >= '0' && s[end+1] <= '9') {
		end++
	}
	f, err := strconv.ParseFloat(s[:end], 64)
	return f, s[end:], err == nil && math.Abs(f) <= 1e9
}
