package schema

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
)

// Bounds of a made value (ours): objects nest to depth 4, optional members are left out once a call has 12 scalars,
// and the search ends after looking at 4096 schemas and properties, so that hostile schemas end too.
const (
	maxObjectDepth = 4
	maxLeaves      = 12
	maxWork        = 4096
)

// A Maker makes values for schemas. What it returns always validates.
type Maker struct {
	D        *draw.Draws
	Optional float64 // probability that an optional member is included
	leaves   int
	work     int
	checker  checker // of all values, so that their costs add up
}

// Value makes a value for a schema; name is that of the parameter, whose last words choose among built-in tables. It
// returns false where it finds none: a binary string, a pattern out of reach, a recursion that must go on.
func (m *Maker) Value(s *Schema, name string, depth int) (jsonval.Value, bool) {
	if depth > 2*maxObjectDepth || m.work > maxWork {
		return jsonval.Value{}, false
	}
	branches := 1
	for _, list := range [][]*Schema{s.anyOf, s.oneOf} {
		branches = max(branches, len(list))
	}
	for branch := range min(branches, 8) { // the first branch that yields a valid value
		v := lay(s, branch)
		m.work += v.work
		leaves := m.leaves
		if n, ok := m.fromView(&v, name, depth); ok && m.checker.check(s, &n, "", 0) {
			return n, true
		}
		m.leaves = leaves
	}
	return jsonval.Value{}, false
}

// A view is a schema with its reference, its allOf and one branch of its unions laid over each other: a plan for one
// value, which is checked against the schema afterwards. It must not be changed.
type view struct {
	*Schema
	speaker *Schema // whose description the view has, where it is not its own
	work    int     // how many schemas and properties were laid over each other
}

// lay makes the view of a schema; one that stands for itself is its own.
func lay(s *Schema, branch int) view {
	if s.ref == nil && s.allOf == nil && s.anyOf == nil && s.oneOf == nil {
		return view{Schema: s, work: 1 + len(s.props)}
	}
	v := view{Schema: &Schema{lengths: [4]int{-1, -1, -1, -1}}}
	v.add(s, branch, 0)
	return v
}

// requires tells which names are required, for as many questions as there are properties.
func (v *view) requires() func(name string) bool {
	if len(v.Required)*len(v.props) < 1024 {
		return func(name string) bool { return slices.Contains(v.Required, name) }
	}
	set := make(map[string]bool, len(v.Required))
	for _, name := range v.Required {
		set[name] = true
	}
	return func(name string) bool { return set[name] }
}

// add lays s under what is there: the first schema to say something wins, and types and required names are combined.
func (v *view) add(s *Schema, branch, nesting int) {
	if v.work += 1 + len(s.props); nesting > 16 || v.work > maxWork {
		v.Never = true
		return
	}
	v.Never = v.Never || s.Never
	if s.types != 0 {
		if v.types == 0 {
			v.types, v.typeOrder = s.types, s.typeOrder
		} else {
			both := v.types & s.types
			if v.types.Has(jsonval.Number) && s.types&integerType != 0 || s.types.Has(jsonval.Number) && v.types&integerType != 0 {
				both |= integerType
			}
			v.types = both
			v.Never = v.Never || both == 0
			if len(s.typeOrder) < len(v.typeOrder) {
				v.typeOrder = s.typeOrder
			}
		}
	}
	for _, p := range s.props {
		if v.index == nil {
			v.index = make(map[string]*Schema)
		}
		if v.index[p.name] == nil {
			v.index[p.name] = p.schema
			v.props = append(v.props, p)
		}
	}
	v.Required = append(v.Required, s.Required...)
	if v.Additional == nil {
		v.Additional = s.Additional
	}
	if v.items == nil {
		v.items = s.items
	}
	if v.prefix == nil {
		v.prefix = s.prefix
	}
	if v.Enum == nil {
		v.Enum = s.Enum
	}
	if v.constant == nil {
		v.constant = s.constant
	}
	if v.examples == nil {
		v.examples = s.examples
	}
	if v.pattern == nil {
		v.pattern = s.pattern
	}
	if v.badPattern == "" {
		v.badPattern = s.badPattern
	}
	if v.multipleOf == nil {
		v.multipleOf = s.multipleOf
	}
	for i := range v.bounds {
		if v.bounds[i] == nil {
			v.bounds[i] = s.bounds[i]
		}
		if v.lengths[i] < 0 {
			v.lengths[i] = s.lengths[i]
		}
	}
	v.unique = v.unique || s.unique
	if v.format == "" {
		v.format = s.format
	}
	if v.Description == "" {
		v.Description, v.speaker = s.Description, s
	}
	if s.ref != nil {
		v.add(s.ref, branch, nesting+1)
	}
	for _, sub := range s.allOf {
		v.add(sub, branch, nesting+1)
	}
	for _, list := range [][]*Schema{s.anyOf, s.oneOf} {
		if len(list) > 0 {
			v.add(list[branch%len(list)], branch, nesting+1)
		}
	}
}

func (m *Maker) fromView(v *view, name string, depth int) (jsonval.Value, bool) {
	switch {
	case v.Never:
		return jsonval.Value{}, false
	case v.constant != nil:
		m.leaves++
		return v.constant.Clone(), true // what is made may be changed
	case len(v.Enum) > 0:
		m.leaves++
		return m.fromEnum(v), true
	case len(v.examples) > 0:
		m.leaves++
		return draw.One(m.D, v.examples).Clone(), true
	}
	switch m.kindOf(v) {
	case jsonval.Object:
		return m.object(v, depth)
	case jsonval.List:
		return m.array(v, name, depth)
	}
	m.leaves++
	switch m.kindOf(v) {
	case jsonval.Null:
		return jsonval.Value{}, true
	case jsonval.Bool:
		return jsonval.NewBool(m.D.Chance(0.5)), true
	case jsonval.Number:
		return m.number(v, name)
	default:
		s, ok := m.str(v, name)
		return jsonval.NewString(s), ok
	}
}

// fromEnum avoids null and blank members where it can: nobody asks for them in words.
func (m *Maker) fromEnum(v *view) jsonval.Value {
	good := func(e *jsonval.Value) bool {
		return v.types.Accepts(e) && e.Kind != jsonval.Null && (e.Kind != jsonval.String || strings.TrimSpace(e.Text) != "")
	}
	n := 0
	for i := range v.Enum {
		if good(&v.Enum[i]) {
			n++
		}
	}
	if n == 0 {
		return draw.One(m.D, v.Enum).Clone()
	}
	n = m.D.Pick(n)
	for i := range v.Enum {
		if good(&v.Enum[i]) {
			if n == 0 {
				return v.Enum[i].Clone()
			}
			n--
		}
	}
	return jsonval.Value{} // not reached
}

// kindOf takes the first type named that is not null, or guesses from the other keywords.
func (m *Maker) kindOf(v *view) jsonval.Kind {
	for _, name := range v.typeOrder {
		bit := typeBit(name)
		if v.types&bit == 0 && (bit != 1<<jsonval.Number || v.types&integerType == 0) {
			continue
		}
		for k := jsonval.Bool; k <= jsonval.Object; k++ {
			if bit == 1<<k || k == jsonval.Number && bit == integerType {
				return k
			}
		}
	}
	switch {
	case v.types == 1<<jsonval.Null:
		return jsonval.Null
	case v.props != nil:
		return jsonval.Object
	case v.items != nil || v.prefix != nil:
		return jsonval.List
	case v.bounds != [4]*decimal{} || v.multipleOf != nil:
		return jsonval.Number
	}
	return jsonval.String
}

func (m *Maker) object(v *view, depth int) (jsonval.Value, bool) {
	requires := v.requires()
	out := jsonval.NewObject()
	out.Members = make([]jsonval.Member, 0, min(len(v.Required)+1, len(v.props), maxLeaves))
	for _, p := range v.props {
		required := requires(p.name)
		if !required && (depth >= maxObjectDepth || m.leaves >= maxLeaves || !m.D.Chance(m.Optional)) {
			continue
		}
		leaves := m.leaves
		val, ok := m.Value(p.schema, p.name, depth+1)
		switch {
		case ok && !required && (val.Kind == jsonval.Object || val.Kind == jsonval.List) && len(val.Members)+len(val.List) == 0:
			m.leaves = leaves // nobody asks for an empty one
		case ok:
			out.Members = append(out.Members, jsonval.Pair(p.name, val))
		case required:
			return jsonval.Value{}, false
		}
	}
	return out, true
}

func (m *Maker) array(v *view, name string, depth int) (jsonval.Value, bool) {
	lo, hi := max(1, len(v.prefix)), max(3, len(v.prefix))
	if k := v.lengths[2]; k >= 0 {
		lo = max(lo, k)
		hi = max(hi, lo)
	}
	if k := v.lengths[3]; k >= 0 {
		lo, hi = min(lo, k), min(hi, k)
	}
	if lo > 16 {
		return jsonval.Value{}, false
	}
	if m.leaves >= maxLeaves {
		hi = lo
	}
	words := names.Words(name)
	if len(words) > 0 {
		words[len(words)-1] = names.Singular(words[len(words)-1])
	}
	itemName := strings.Join(words, "_")
	out := jsonval.NewList()
	seen := make(jsonval.Set)
	for n, tries := m.D.Between(lo, hi), 0; len(out.List) < n && tries < n+8; tries++ {
		item := v.items
		if i := len(out.List); i < len(v.prefix) {
			item = v.prefix[i]
		}
		if item == nil {
			item = &Schema{lengths: [4]int{-1, -1, -1, -1}}
		}
		val, ok := m.Value(item, itemName, depth+1)
		if !ok {
			return jsonval.Value{}, lo == 0
		}
		if seen.Add(val) || len(v.prefix) > 0 && !v.unique { // equal items read badly even where they are allowed
			out.List = append(out.List, val)
		}
	}
	return out, len(out.List) >= lo
}

// number makes an integer, or a number with one decimal, within the bounds; without bounds from 1 to 100.
func (m *Maker) number(v *view, name string) (jsonval.Value, bool) {
	lo, hi := 1.0, 100.0
	if r, ok := numberRanges[lastWord(name)]; ok {
		lo, hi = r[0], r[1]
	}
	if told := v.tells(); told.ranged {
		lo, hi = told.lo, told.hi
	}
	integer := v.types&integerType != 0 && v.types&(1<<jsonval.Number) == 0 || wholeNumbers[lastWord(name)]
	step := 0.1
	if integer {
		step = 1
	}
	least, most := math.Inf(-1), math.Inf(1)
	for i, inset := range []float64{0, 0, step, step} { // exclusive bounds are passed by one step
		switch b := v.bounds[i]; {
		case b == nil:
		case i%2 == 0:
			least = max(least, b.value+inset)
		default:
			most = min(most, b.value-inset)
		}
	}
	if least > most && !integer { // too narrow for a step: halve it
		least = (least + most) / 2
		most = least
	}
	switch {
	case least > hi || most < lo: // the usual range is out of bounds: start at the bound
		if math.IsInf(least, -1) {
			lo, hi = most-(hi-lo), most
		} else {
			lo, hi = least, min(most, least+(hi-lo))
		}
	default:
		lo, hi = max(lo, least), min(hi, most)
	}
	if v.multipleOf != nil {
		return m.multiple(v.multipleOf, lo, hi)
	}
	if integer {
		lo, hi = math.Ceil(lo), math.Floor(hi)
	}
	if hi < lo || math.Abs(lo) > 1<<53 || math.Abs(hi) > 1<<53 {
		return jsonval.Value{}, false
	}
	if integer {
		return jsonval.Value{Kind: jsonval.Number, Text: strconv.FormatInt(int64(lo)+int64(m.D.Pick(int(hi-lo)+1)), 10)}, true
	}
	if hi-lo < step { // too narrow for one decimal
		return numberNode(lo + (hi-lo)/2), true
	}
	return numberNode(math.Round((lo+float64(m.D.Pick(int((hi-lo)/step)+1))*step)*10) / 10), true
}

// numberNode writes whole values as people do, without a point.
func numberNode(f float64) jsonval.Value {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return jsonval.Value{Kind: jsonval.Number, Text: strconv.FormatInt(int64(f), 10)}
	}
	return jsonval.Value{Kind: jsonval.Number, Text: jsonval.FloatText(f)}
}

func (m *Maker) multiple(of *decimal, lo, hi float64) (jsonval.Value, bool) {
	first, last := math.Ceil(lo/of.value), math.Floor(hi/of.value)
	if !(last >= first) || math.Abs(first) > 1<<31 || math.Abs(last) > 1<<31 {
		return jsonval.Value{}, false
	}
	times := int64(first) + int64(m.D.Pick(int(last-first)+1))
	product := new(big.Rat).Mul(jsonval.Rational(of.text), new(big.Rat).SetInt64(times))
	if product.IsInt() {
		return jsonval.Value{Kind: jsonval.Number, Text: product.RatString()}, true
	}
	f, _ := product.Float64()
	return jsonval.Value{Kind: jsonval.Number, Text: jsonval.FloatText(f)}, true
}

// Ranges and integers by the last word of a name, where 1 to 100 with a decimal would be odd (ours).
var (
	numberRanges = map[string][2]float64{
		"lat": {-60, 70}, "latitude": {-60, 70}, "lon": {-180, 180}, "lng": {-180, 180}, "longitude": {-180, 180}, "year": {2015, 2030},
		"month": {1, 12}, "day": {1, 28}, "hour": {0, 23}, "minute": {0, 59}, "page": {1, 12}, "port": {1024, 9000}, "limit": {1, 50},
		"width": {320, 1920}, "height": {240, 1080}, "timeout": {5, 120}, "temperature": {0, 1}, "probability": {0, 1}, "price": {2, 900},
		"amount": {5, 5000}, "budget": {200, 20000}, "quantity": {1, 40}, "age": {18, 85}, "rating": {1, 5}, "stars": {1, 5}, "radius": {1, 60},
		"zoom": {1, 18}, "days": {1, 30}, "nights": {1, 14}, "weeks": {1, 12}, "hours": {1, 48}, "minutes": {5, 180}, "seconds": {1, 300},
		"guests": {1, 12}, "people": {1, 20}, "passengers": {1, 9}, "adults": {1, 6}, "children": {1, 5}, "weight": {1, 250},
		"distance": {1, 800}, "duration": {5, 240}, "salary": {20000, 150000}, "seed": {1, 99999}, "number": {1, 999}, "offset": {0, 200},
		"threshold": {0, 1}, "confidence": {0, 1}, "opacity": {0, 1}, "fps": {12, 60}, "volume": {1, 100}, "id": {1, 9999}, "count": {1, 50},
	}
	wholeNumbers = func() map[string]bool {
		m := make(map[string]bool)
		for w := range strings.FieldsSeq(`year month day hour minute page port limit offset count num size max min depth width height timeout
			results items id number index top skip guests people passengers adults children nights weeks stars age zoom seed fps days hours minutes seconds per quantity length level priority pages x y line lines`) {
			m[w] = true
		}
		return m
	}()
)

// lastWord is the last word of a name in lower case; empty if it has none.
func lastWord(name string) string {
	var room [8]string
	w := names.AppendWords(room[:0], name)
	if len(w) == 0 {
		return ""
	}
	return w[len(w)-1]
}

func (m *Maker) str(v *view, name string) (string, bool) {
	d := m.D
	switch v.format {
	case "binary":
		return "", false
	case "date":
		return m.date(), true
	case "date-time":
		return m.dateTime(), true
	case "time":
		return fmt.Sprintf("%02d:%02d:00", d.Between(6, 21), 15*d.Pick(4)), true
	case "email":
		return valueTables["email"].value(d), true
	case "uri", "url":
		return valueTables["url"].value(d), true
	case "hostname":
		return valueTables["domain"].value(d), true
	case "ipv4":
		return fmt.Sprintf("192.0.2.%d", d.Between(1, 254)), true
	case "ipv6":
		return fmt.Sprintf("2001:db8::%x", d.Between(1, 0xfffe)), true
	case "uuid":
		a, b := d.Key(), d.Key()
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff), true
	}
	if v.pattern != nil || v.badPattern != "" {
		if v.pattern == nil {
			return "", false
		}
		for range 8 {
			s, ok := fromPattern(d, v.pattern.String())
			if ok && v.pattern.MatchString(s) && m.fits(v, s) {
				return s, true
			}
		}
		return "", false
	}
	s := m.byName(v, name)
	if k := v.lengths[1]; k >= 0 && utf8.RuneCountInString(s) > k {
		s = strings.TrimSpace(string([]rune(s)[:k]))
	}
	for k := v.lengths[0]; k >= 0 && utf8.RuneCountInString(s) < k; {
		if s += " " + draw.One(d, lists["noun"]); len(s) > 4096 {
			return "", false
		}
	}
	return s, true
}

// Text makes a string for a name alone.
func (m *Maker) Text(name string) string { return m.byName(&view{Schema: &Schema{}}, name) }

func (m *Maker) fits(v *view, s string) bool {
	n := utf8.RuneCountInString(s)
	return (v.lengths[0] < 0 || n >= v.lengths[0]) && (v.lengths[1] < 0 || n <= v.lengths[1])
}

func (m *Maker) date() string {
	return fmt.Sprintf("%d-%02d-%02d", m.D.Between(2025, 2028), m.D.Between(1, 12), m.D.Between(1, 28))
}

func (m *Maker) dateTime() string {
	return fmt.Sprintf("%sT%02d:%02d:00Z", m.date(), m.D.Between(6, 21), 15*m.D.Pick(4))
}

// byName makes what the description asks for, takes a value from the table of the parameter's last words, makes an
// identifier, or else a phrase of two words.
func (m *Maker) byName(v *view, name string) string {
	var room [8]string
	w := names.AppendWords(room[:0], name)
	last, both := "", ""
	if n := len(w); n > 0 {
		last = names.Singular(w[n-1])
		if n > 1 {
			both = w[n-2] + last
		}
	}
	t := valueTables[both]
	if t == nil {
		t = valueTables[last]
	}
	told := v.tells()
	if s, ok := told.word(m, t != nil); ok {
		return s
	}
	vague := last == "from" || last == "since" || last == "until"
	switch {
	case dateNames[both] || dateNames[last] && (!vague || told.dated):
		return m.date()
	case last == "time" || last == "start" || last == "end" || last == "timestamp":
		return m.dateTime()
	case t != nil:
		return t.value(m.D)
	case last == "id" || last == "uuid" || last == "slug":
		stem := "item"
		if n := len(w); n > 1 {
			stem = names.Singular(w[n-2])
		}
		return stem + "-" + strconv.Itoa(10000 + m.D.Between(1, 9999))[1:]
	case last != "": // perhaps a number sent as a string
		word := w[len(w)-1]
		if r, ok := numberRanges[word]; ok {
			return strconv.Itoa(m.D.Between(int(r[0]), int(r[1])))
		} else if wholeNumbers[word] {
			return strconv.Itoa(m.D.Between(1, 100))
		}
	}
	return phrase.value(m.D)
}
