package midtool

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A scene is what a call can take its arguments from: the texts of the system and the user, and the results of
// earlier calls. What is derived from them is made once, when first asked for.
type scene struct {
	text    string          // texts joined by a line break
	results map[string]bool // forms of the scalars of results, after '=', and their folded texts, after '~'
	folded  *folded
	words   map[string]bool
	numbers []float64
}

// say adds a text.
func (c *scene) say(text string) {
	if c.text != "" {
		c.text += "\n"
	}
	c.text += text
	c.folded, c.words, c.numbers = nil, nil, nil
}

// answer adds the scalars of a result.
func (c *scene) answer(n *jsonval.Value) {
	switch n.Kind {
	case jsonval.List:
		for i := range n.List {
			c.answer(&n.List[i])
		}
	case jsonval.Object:
		for i := range n.Members {
			c.answer(&n.Members[i].Value)
		}
	case jsonval.String, jsonval.Number:
		if c.results == nil {
			c.results = make(map[string]bool)
		}
		c.results["="+jsonval.EqualForm(n)] = true
		c.results["~"+fold(n.Text)] = true
	}
}

// classify finds the best class of evidence for one leaf, trying them in order.
func (c *scene) classify(l *schema.Leaf) EvidenceClass {
	v := l.Value
	switch v.Kind {
	case jsonval.Null, jsonval.List, jsonval.Object: // an empty one has no text of its own
		if l.Schema != nil && l.Schema.Accepts(v) {
			return EvidenceEnumDefault
		}
		return EvidenceUngrounded
	}
	if strings.TrimSpace(v.Text) != "" {
		switch {
		case v.Kind == jsonval.Number && containsNumber(c.text, v.Text), v.Kind != jsonval.Number && containsWhole(c.text, v.Text):
			return EvidenceLiteral
		case c.normalized(v):
			return EvidenceNormalized
		case c.results["="+jsonval.EqualForm(v)] || c.results["~"+fold(v.Text)] && fold(v.Text) != "":
			return EvidenceToolResult
		}
	}
	if v.Kind == jsonval.Bool || l.Schema.Offers(v) {
		return EvidenceEnumDefault
	}
	if long, ok := names.LongDate(v.Text); ok && containsWhole(c.text, long) {
		return EvidenceDerived
	}
	return EvidenceUngrounded
}

func (c *scene) normalized(v *jsonval.Value) bool {
	if v.Kind == jsonval.Number {
		return c.hasNumber(v.Text)
	}
	if c.folded == nil {
		c.folded = foldText(c.text)
	}
	if f := fold(v.Text); f != "" && c.folded.contains(f) {
		return true
	}
	if c.words == nil {
		c.words = make(map[string]bool)
		for _, w := range names.Words(c.text) {
			c.words[w] = true
		}
	}
	w := names.Words(v.Text)
	return len(w) > 0 && !slices.ContainsFunc(w, func(w string) bool { return !c.words[w] })
}

// hasNumber compares numbers by value: number words to twelve, thousands separators, 5 and 5.0, percent.
func (c *scene) hasNumber(text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false
	}
	if c.numbers == nil {
		c.numbers = numbersIn(c.text)
	}
	return slices.Contains(c.numbers, f)
}

func numbersIn(text string) []float64 {
	out := []float64{}
	for _, w := range names.Words(text) {
		if n := slices.Index(names.NumberWords, w); n >= 0 {
			out = append(out, float64(n))
		}
	}
	for i := 0; i < len(text); {
		if !isDigit(text, i) {
			i++
			continue
		}
		start := i
		for isDigit(text, i) || (text[i] == '.' || text[i] == ',') && isDigit(text, i+1) {
			if i++; i == len(text) {
				break
			}
		}
		f, err := strconv.ParseFloat(strings.ReplaceAll(text[start:i], ",", ""), 64)
		if err != nil {
			continue // 1.2.3 and the like
		}
		if start > 0 && text[start-1] == '-' && !wordBefore(text, start-1) {
			f = -f
		}
		out = append(out, f)
		if rest := strings.TrimPrefix(text[i:], " "); strings.HasPrefix(rest, "%") || strings.HasPrefix(rest, "percent") {
			out = append(out, math.Round(f*1e10)/1e12)
		}
	}
	return out
}

func isDigit(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func wordBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return isWordRune(r)
}

func wordAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return isWordRune(r)
}

// containsWhole finds sub at word boundaries.
func containsWhole(s, sub string) bool {
	return findFrom(s, sub, func(i, j int) bool {
		return !(wordBefore(s, i) && wordAt(s, i)) && !(wordBefore(s, j) && wordAt(s, j))
	})
}

// containsNumber finds the digits of a number that are not part of a longer or a negative one.
func containsNumber(s, number string) bool {
	return findFrom(s, number, func(i, j int) bool {
		before := isDigit(s, i-1) || i > 1 && s[i-1] == '.' && isDigit(s, i-2) || i > 0 && s[i-1] == '-' && !wordBefore(s, i-1)
		after := isDigit(s, j) || j < len(s) && s[j] == '.' && isDigit(s, j+1)
		return !before && !after
	})
}

func findFrom(s, sub string, fits func(i, j int) bool) bool {
	if sub == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(s[from:], sub)
		if i < 0 {
			return false
		}
		if i += from; fits(i, i+len(sub)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		from = i + size
	}
}

// foldRune drops the characters that people leave out and unifies case and quotes; it returns -1 for a dropped one.
func foldRune(r rune) rune {
	switch r {
	case ' ', ',', '.', '/', '-', '_', '*', '^':
		return -1
	case '\'':
		return '"'
	}
	return unicode.ToLower(r)
}

func fold(s string) string { return strings.Map(foldRune, s) }

// A folded text remembers where words could start and end before folding.
type folded struct {
	text string
	edge []bool // by byte of text: the character there does not continue a word
}

func foldText(s string) *folded {
	var f folded
	var b strings.Builder
	var prev rune
	for _, r := range s {
		if x := foldRune(r); x >= 0 {
			edge := !isWordRune(prev) || !isWordRune(r)
			for range utf8.RuneLen(x) {
				f.edge = append(f.edge, edge)
			}
			b.WriteRune(x)
		}
		prev = r
	}
	f.text = b.String()
	return &f
}

func (f *folded) contains(sub string) bool {
	return findFrom(f.text, sub, func(i, j int) bool {
		return (i == 0 || f.edge[i]) && (j == len(f.text) || f.edge[j])
	})
}
