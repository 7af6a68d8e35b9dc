package midtool

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A scene is what a call can take its arguments from: the texts of the system and the user, and the results of
// earlier calls. What is derived from them is made when first asked for, and goes on from there when more is said.
type scene struct {
	text  string // texts joined by a line break
	joint strings.Builder

	folded  folded
	words   map[string]spoken // by word
	worded  int               // bytes of text whose words are in words
	numbers map[string]string // by [numberKey]: as found
	counted int               // bytes of text whose numbers are in numbers

	list    []string        // room for words
	key     []byte          // room for keys of results
	pending []jsonval.Value // results whose scalars are not yet in results
	results map[string]bool // of the scalars: forms after '=', texts after '#', folded texts of strings after '~'
}

// spoken is a word of a text.
type spoken struct {
	field string // the letters and digits in the text that have it first
	times int
}

// again is an empty scene that uses the room of c.
func (c *scene) again() scene {
	if len(c.words) > maxKept || len(c.numbers) > maxKept || len(c.results) > maxKept || cap(c.list) > maxKept ||
		cap(c.pending) > maxKept || cap(c.key) > maxKept {
		return scene{}
	}
	clear(c.words)
	clear(c.numbers)
	clear(c.results)
	clear(c.list[:cap(c.list)])
	clear(c.pending[:cap(c.pending)])
	return scene{words: c.words, numbers: c.numbers, results: c.results, list: c.list[:0], pending: c.pending[:0], key: c.key[:0]}
}

// say adds a text.
func (c *scene) say(text string) {
	if c.text == "" {
		c.text = text // most scenes have one text: nothing is copied
		return
	}
	if c.joint.Len() == 0 {
		c.joint.WriteString(c.text)
	}
	c.joint.WriteByte('\n')
	c.joint.WriteString(text)
	c.text = c.joint.String()
}

// answer adds the scalars of a result.
func (c *scene) answer(n jsonval.Value) { c.pending = append(c.pending, n) }

// scalars adds those of a value to the results.
func (c *scene) scalars(n *jsonval.Value) {
	for i := range n.List {
		c.scalars(&n.List[i])
	}
	for i := range n.Members {
		c.scalars(&n.Members[i].Value)
	}
	if n.Kind == jsonval.String || n.Kind == jsonval.Number {
		c.results[string(c.form(n))] = true
		c.results["#"+n.Text] = true
	}
	if n.Kind == jsonval.String {
		if isNumeral(n.Text) {
			c.results[string(c.form(numeral(n)))] = true
		}
		c.results["~"+fold(n.Text)] = true
	}
}

// form is the key of a scalar in results, valid until the next call.
func (c *scene) form(n *jsonval.Value) []byte {
	c.key = jsonval.AppendEqualForm(append(c.key[:0], '='), n)
	return c.key
}

// inResult says whether a result has the scalar, for a numeral also as a number and for other strings in other spelling.
func (c *scene) inResult(v *jsonval.Value) bool {
	if len(c.pending) > 0 && c.results == nil {
		c.results = make(map[string]bool)
	}
	for i := range c.pending {
		c.scalars(&c.pending[i])
	}
	c.pending = c.pending[:0]
	if len(c.results) == 0 {
		return false
	}
	if c.results[string(c.form(v))] || c.results["#"+v.Text] {
		return true
	}
	if v.Kind == jsonval.String && isNumeral(v.Text) {
		return c.results[string(c.form(numeral(v)))]
	}
	f := fold(v.Text)
	return v.Kind == jsonval.String && f != "" && c.results["~"+f]
}

// without is the value with null for each scalar that a result has.
func (c *scene) without(n *jsonval.Value) jsonval.Value {
	out := jsonval.Value{Kind: n.Kind, Text: n.Text}
	switch n.Kind {
	case jsonval.List:
		for i := range n.List {
			out.List = append(out.List, c.without(&n.List[i]))
		}
	case jsonval.Object:
		for i := range n.Members {
			m := &n.Members[i]
			out.Members = append(out.Members, jsonval.Pair(m.Key, c.without(&m.Value)))
		}
	case jsonval.String, jsonval.Number:
		if c.inResult(n) {
			return jsonval.Value{Kind: jsonval.Null}
		}
	}
	return out
}

// find gives the best class of evidence for one leaf, trying them in order, and the words that carry the value.
func (c *scene) find(l *schema.Leaf) (EvidenceClass, string) {
	v := l.Value
	switch v.Kind {
	case jsonval.Null, jsonval.List, jsonval.Object: // an empty one has no text of its own
		if l.Schema != nil && l.Schema.Accepts(v) {
			return EvidenceEnumDefault, ""
		}
		return EvidenceUngrounded, ""
	}
	if strings.TrimSpace(v.Text) != "" {
		contains := containsWhole
		if isNumber(v) {
			contains = containsNumber
		}
		if contains(c.text, v.Text) {
			return EvidenceLiteral, v.Text
		}
		if v.Kind == jsonval.Bool {
			return EvidenceEnumDefault, ""
		}
		if text := c.normalized(v); text != "" {
			return EvidenceNormalized, text
		}
		if c.inResult(v) {
			return EvidenceToolResult, ""
		}
	}
	if l.Schema.Offers(v) {
		return EvidenceEnumDefault, ""
	}
	if date := c.date(v); date != "" {
		return EvidenceDerived, date
	}
	return EvidenceUngrounded, ""
}

// says reports whether the scene has a scalar in words or in a result, whatever its schema offers.
func (c *scene) says(v *jsonval.Value) bool {
	class, _ := c.find(&schema.Leaf{Value: v})
	return class == EvidenceLiteral || class == EvidenceNormalized || class == EvidenceToolResult || class == EvidenceDerived
}

// normalized finds the words that carry a value in another form, empty for none.
func (c *scene) normalized(v *jsonval.Value) string {
	if isNumber(v) {
		return c.number(v.Text) // sign and point matter, so that nothing is folded
	}
	c.folded.grow(c.text)
	if text := c.folded.find(c.text, fold(v.Text)); text != "" {
		return text
	}
	if strings.ContainsFunc(v.Text, unicode.IsDigit) {
		return "" // the order of digits matters: 2026-02-01 is not 2026-01-02
	}
	return c.anyOrder(names.Words(v.Text))
}

// anyOrder finds words wherever they stand, each as often as it is asked for; empty if one is missing.
func (c *scene) anyOrder(words []string) string {
	if c.words == nil {
		c.words = make(map[string]spoken)
	}
	for field := range strings.FieldsFuncSeq(c.text[c.worded:], func(r rune) bool { return !isWordRune(r) }) {
		c.list = names.AppendWords(c.list[:0], field)
		for _, w := range c.list {
			s := c.words[w]
			if s.times++; s.times == 1 {
				s.field = field
			}
			c.words[w] = s
		}
	}
	c.worded = len(c.text)
	fields := make([]string, len(words))
	for i, w := range words {
		if fields[i] = c.words[w].field; fields[i] == "" {
			return ""
		}
	}
	slices.Sort(words)
	for from, i := 0, 0; i < len(words); i++ {
		if words[i] != words[from] {
			from = i
		}
		if i-from >= c.words[words[i]].times {
			return ""
		}
	}
	return strings.Join(fields, " ")
}

// isNumber holds for a number and for a string that is one as a whole.
func isNumber(v *jsonval.Value) bool {
	return v.Kind == jsonval.Number || v.Kind == jsonval.String && isNumeral(v.Text)
}

const minus = "\u2212" // the sign of printed texts

// numeral is the number that a string is, as it stands in JSON.
func numeral(v *jsonval.Value) *jsonval.Value {
	n, err := jsonval.ParseText(hyphened(v.Text))
	if err != nil {
		return v
	}
	return &n
}

// hyphened writes the sign of a number as programs do.
func hyphened(s string) string {
	if digits, ok := strings.CutPrefix(s, minus); ok {
		return "-" + digits
	}
	return s
}

// isNumeral holds for the decimal writing of a number, not for codes such as 007.
func isNumeral(s string) bool {
	if s == "" || s[0] > '9' && s[0] != minus[0] {
		return false // most strings
	}
	s = strings.TrimPrefix(hyphened(s), "-")
	points := 0
	for i := range len(s) {
		if isDigit(s, i) {
			continue
		}
		if points++; s[i] != '.' || points > 1 || i == 0 || i == len(s)-1 {
			return false
		}
	}
	return s != "" && len(s) < 20 && (s[0] != '0' || len(s) == 1 || s[1] == '.')
}

// number compares numbers by value: number words to twelve, thousands separators, 5 and 5.0, percent.
func (c *scene) number(text string) string {
	text = hyphened(text)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return ""
	}
	if c.numbers == nil {
		c.numbers = make(map[string]string)
	}
	if c.counted < len(c.text) {
		addNumbers(c.numbers, c.text[c.counted:])
		c.counted = len(c.text)
	}
	return c.numbers[numberKey(text, f)]
}

// numberKey is equal for equal numbers, of which f is the value: integers keep all digits, which a float64 may not.
func numberKey(text string, f float64) string {
	switch {
	case !strings.ContainsAny(text, ".eE"):
		digits, negative := strings.CutPrefix(text, "-")
		if digits = strings.TrimLeft(digits, "0"); digits == "" {
			return "0"
		}
		if negative {
			return "-" + digits
		}
		return digits
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// addNumbers finds the numbers of a text, each as it is first written.
func addNumbers(out map[string]string, text string) {
	add := func(key, found string) {
		if _, known := out[key]; !known {
			out[key] = found
		}
	}
	for field := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWordRune(r) }) {
		if len(field) > 6 || len(field) < 3 {
			continue // from "one" to "twelve"
		}
		if n := slices.IndexFunc(names.NumberWords, func(w string) bool { return strings.EqualFold(w, field) }); n >= 0 {
			add(strconv.Itoa(n), field)
		}
	}
	for i := 0; i < len(text); {
		if !isDigit(text, i) {
			i++
			continue
		}
		start := i
		for isDigit(text, i) || i < len(text) && (text[i] == '.' || text[i] == ',') && isDigit(text, i+1) {
			i++
		}
		start -= signBefore(text, start)
		plain := hyphened(text[start:i])
		if strings.IndexByte(plain, ',') >= 0 {
			if grouped(strings.TrimPrefix(plain, "-")) {
				plain = strings.ReplaceAll(plain, ",", "")
			} else { // a list; the unit is that of its last number
				for comma := 0; ; start += comma + 1 {
					if comma = strings.IndexByte(text[start:i], ','); comma < 0 {
						break
					}
					one := text[start : start+comma]
					if f, err := strconv.ParseFloat(hyphened(one), 64); err == nil {
						add(numberKey(hyphened(one), f), one)
					}
				}
				plain = text[start:i]
			}
		}
		f, err := strconv.ParseFloat(plain, 64)
		if err != nil {
			continue // 1.2.3 and the like
		}
		add(numberKey(plain, f), text[start:i])
		for _, unit := range []string{"%", " %", "percent", " percent"} {
			if strings.HasPrefix(text[i:], unit) {
				share := math.Round(f*1e10) / 1e12
				add(numberKey(jsonval.FloatText(share), share), text[start:i+len(unit)])
			}
		}
	}
}

// grouped holds for a number with commas between groups of three digits.
func grouped(s string) bool {
	whole, _, _ := strings.Cut(s, ".")
	first, rest, _ := strings.Cut(whole, ",")
	if len(first) > 3 || first[0] == '0' || strings.IndexByte(s[len(whole):], ',') >= 0 {
		return false
	}
	for group := range strings.SplitSeq(rest, ",") {
		if len(group) != 3 {
			return false
		}
	}
	return true
}

// signBefore is the length of the minus before a number, 0 for none: a hyphen after a word is no sign.
func signBefore(s string, i int) int {
	n := 0
	switch {
	case i > 0 && s[i-1] == '-':
		n = 1
	case strings.HasSuffix(s[:i], minus):
		n = len(minus)
	}
	if n > 0 && wordBefore(s, i-n) {
		return 0
	}
	return n
}

// Forms in which people write a date.
var dateForms = []string{"2 January 2006", "January 2, 2006", "January 2 2006", "2 Jan 2006", "Jan 2, 2006"}

// date finds an ISO date in another form.
func (c *scene) date(v *jsonval.Value) string {
	if v.Kind != jsonval.String || len(v.Text) != len(time.DateOnly) {
		return ""
	}
	day, err := time.Parse(time.DateOnly, v.Text)
	if err != nil {
		return ""
	}
	for _, form := range dateForms {
		if written := day.Format(form); containsWhole(c.text, written) {
			return written
		}
	}
	return ""
}

func isDigit(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isUnspaced holds for letters of scripts that put no spaces between words: a word may begin and end at each of them.
func isUnspaced(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return r == 'ー' || r == 'ｰ' ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// joins says whether two runes side by side are inside a word.
func joins(a, b rune) bool {
	return isWordRune(a) && isWordRune(b) && !isUnspaced(a) && !isUnspaced(b)
}

// insideWord says whether a place in a text is inside a word.
func insideWord(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return joins(before, after)
}

func wordBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return isWordRune(r) && !isUnspaced(r)
}

// containsWhole finds sub at word boundaries.
func containsWhole(s, sub string) bool {
	return findFrom(s, sub, func(i, j int) bool { return !insideWord(s, i) && !insideWord(s, j) }) >= 0
}

// containsNumber finds the digits of a number that are not part of a longer or a negative one.
func containsNumber(s, number string) bool {
	return findFrom(s, number, func(i, j int) bool {
		before := isDigit(s, i-1) || i > 1 && s[i-1] == '.' && isDigit(s, i-2) || signBefore(s, i) > 0
		after := isDigit(s, j) || j < len(s) && s[j] == '.' && isDigit(s, j+1)
		return !before && !after
	}) >= 0
}

// findFrom returns where sub stands in s and fits, -1 for nowhere.
func findFrom(s, sub string, fits func(i, j int) bool) int {
	if sub == "" {
		return -1
	}
	for from := 0; ; {
		i := strings.Index(s[from:], sub)
		if i < 0 {
			return -1
		}
		if i += from; fits(i, i+len(sub)) {
			return i
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
	text strings.Builder
	edge []bool // by byte of text: the character there does not continue a word
	from []int  // for every stride bytes of text: where the character there, or the next one, stands in the source
	upto int    // bytes of the source that were folded
	prev rune   // the last of them
}

const stride = 64

// grow folds the rest of the source.
func (f *folded) grow(source string) {
	for i, r := range source[f.upto:] {
		if x := foldRune(r); x >= 0 {
			for len(f.from)*stride <= len(f.edge) {
				f.from = append(f.from, f.upto+i)
			}
			edge := !joins(f.prev, r)
			for range utf8.RuneLen(x) {
				f.edge = append(f.edge, edge)
			}
			f.text.WriteRune(x)
		}
		f.prev = r
	}
	f.upto = len(source)
}

// find gives the part of the source that folds to sub, empty for none.
func (f *folded) find(source, sub string) string {
	text := f.text.String()
	at := findFrom(text, sub, func(i, j int) bool {
		return (i == 0 || f.edge[i]) && (j == len(text) || f.edge[j])
	})
	if at < 0 {
		return ""
	}
	start := f.source(source, at)
	last, _ := utf8.DecodeLastRuneInString(sub)
	end := f.source(source, at+len(sub)-utf8.RuneLen(last))
	_, size := utf8.DecodeRuneInString(source[end:])
	return source[start : end+size]
}

// source finds where the character at a byte of text stands in the source. Folding drops characters and changes their
// length, so it walks along from the last known place.
func (f *folded) source(source string, at int) int {
	k := at / stride
	passed := k * stride
	for passed > 0 && passed < len(f.edge) && !utf8.RuneStart(f.text.String()[passed]) {
		passed++ // the known place is that of the next character
	}
	for i, r := range source[f.from[k]:] {
		x := foldRune(r)
		if x < 0 {
			continue
		}
		if passed >= at {
			return f.from[k] + i
		}
		passed += utf8.RuneLen(x)
	}
	return len(source)
}
