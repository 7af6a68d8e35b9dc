package midtool

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A leaf is one scalar of a call's arguments, or an empty list or object.
type leaf struct {
	path   string // JSON Pointer into the arguments
	keys   []string
	value  *node
	schema *schema // of the argument itself; nil if unknown
	text   string  // the words that carry the value, filled by the wording
}

// leavesOf lists the scalars of the arguments in order.
func leavesOf(s *schema, v *node, path string, keys []string) []leaf {
	switch {
	case v.kind == objectKind && len(v.members) > 0:
		var out []leaf
		for i := range v.members {
			m := &v.members[i]
			below := append(keys[:len(keys):len(keys)], m.key)
			out = append(out, leavesOf(s.member(m.key), &m.value, path+"/"+pointerEscape(m.key), below)...)
		}
		return out
	case v.kind == listKind && len(v.list) > 0:
		var out []leaf
		for i := range v.list {
			at := strconv.Itoa(i)
			below := append(keys[:len(keys):len(keys)], at)
			out = append(out, leavesOf(s.item(i), &v.list[i], path+"/"+at, below)...)
		}
		return out
	}
	return []leaf{{path: path, keys: keys, value: v, schema: s}}
}

// member and item find the schema below a key, through references and branches; a nil schema knows none.
func (s *schema) member(key string) *schema {
	var found *schema
	s.within(func(s *schema) bool { found = s.index[key]; return found != nil })
	return found
}

func (s *schema) item(i int) *schema {
	var found *schema
	s.within(func(s *schema) bool {
		if found = s.items; i < len(s.prefix) {
			found = s.prefix[i]
		}
		return found != nil
	})
	return found
}

// A request is the words of a user who wants one call.
type request struct {
	d     *draws
	tool  *tool
	avoid [][]string // token sequences that must not occur: names of tools and groups
}

// Template tables (ours). A template has the slot %p for the name of a parameter in words and %v for its value.
var (
	askOpenings  = []string{"Could you ", "Can you ", "Would you ", "Could you please ", "Can you please ", "Would you mind helping me: can you "}
	tellOpenings = []string{"Please ", "I need you to ", "I would like you to ", "I want you to ", "Hi! Please ", "Hello, please ", "Next, ",
		"For my notes, ", "Before the meeting, please ", "One more thing: please ", "When you have a moment, ", ""}
	closings = []string{"", "", "", " Thanks!", " Thank you.", " That is all I need.", " I will wait for the result.",
		" Let me know how it goes.", " No rush."}
	inlineSlots   = []string{"with %p %v", "with the %p %v", "using %v as the %p", "where the %p is %v", "taking %v for the %p", "with %v as %p"}
	sentenceSlots = []string{"The %p is %v.", "Use %v as the %p.", "Set the %p to %v.", "For the %p, use %v.", "The %p should be %v.",
		"Take %v for the %p.", "As %p I want %v.", "%P: %v."}
	verbPhrases = map[verbClass][]string{
		getVerb:    {"get", "look up", "show me", "fetch", "find out", "check", "pull up", "give me"},
		listVerb:   {"list", "show me", "go through", "give me an overview of", "enumerate", "lay out"},
		searchVerb: {"search for", "look for", "find", "hunt down", "track down"},
		createVerb: {"create", "add", "set up", "make", "put together"},
		updateVerb: {"update", "change", "edit", "adjust", "modify"},
		deleteVerb: {"delete", "remove", "get rid of", "erase", "clear away"},
	}
	// Verbs that start descriptions and ask for something to be returned.
	returning = map[string]verbClass{"return": getVerb, "retrieve": getVerb, "get": getVerb, "fetch": getVerb, "read": getVerb, "show": getVerb,
		"list": listVerb, "search": searchVerb, "find": searchVerb, "create": createVerb, "add": createVerb, "update": updateVerb,
		"edit": updateVerb, "modify": updateVerb, "delete": deleteVerb, "remove": deleteVerb, "lookup": searchVerb, "query": searchVerb,
		"insert": createVerb, "describe": getVerb}
	otherVerbs = wordSet(`analyze analyse apply approve archive assign attach book buy calculate call cancel capture check choose clear click
		clone close collect combine compare compile compress compute configure connect convert copy count crawl decode decrypt deploy detect
		determine disable download draw duplicate enable encode encrypt estimate evaluate execute explain export extract filter forward format
		generate identify import inspect install invite join launch load lock log make manage mark measure merge monitor move navigate notify open
		optimize parse pause perform place plan play predict prepare preview print process provide publish pull push record refresh register
		rename render reorder replace reply report request reserve reset resize resolve restart restore resume review rotate run save scan
		schedule scrape select send share sign simulate solve sort split start stop store submit subscribe summarize suspend switch sync take
		test track transfer transform translate trigger turn unlock unsubscribe upload validate verify view visit wait watch withdraw write`)
	// A description's object is cut before these words: what follows speaks about the arguments.
	cutWords = wordSet("by using with given based via from through including and that which where when if so optionally for in to on as or within")
)

func wordSet(s string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// compose writes the request and notes in each leaf the words that carry its value.
func (r *request) compose(leaves []leaf) string {
	ask := r.d.chance(0.35)
	openings := tellOpenings
	if ask {
		openings = askOpenings
	}
	var b strings.Builder
	b.WriteString(pickOne(r.d, openings))
	b.WriteString(r.clause())
	phrases := r.phrases(leaves)
	inline := len(leaves)
	if inline > 2 || r.d.chance(0.5) {
		inline = r.d.pick(min(inline, 1) + 1)
	}
	end := "."
	if ask {
		end = "?"
	}
	for i := range leaves {
		l := &leaves[i]
		if i == inline {
			b.WriteString(end)
		}
		b.WriteString(" ")
		if i > 0 && i < inline {
			b.WriteString("and ")
		}
		r.slot(&b, l, phrases[i], i < inline)
	}
	if inline >= len(leaves) {
		b.WriteString(end)
	}
	b.WriteString(pickOne(r.d, closings))
	return capital(b.String())
}

func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// slot writes one argument, inside the sentence or as one of its own.
func (r *request) slot(b *strings.Builder, l *leaf, phrase string, inline bool) {
	value, plain := r.realize(l, phrase)
	var text string
	switch {
	case plain && inline:
		text = value
	case plain:
		text = pickOne(r.d, []string{"Do it ", "I want it ", "It should be "}) + value + "."
	default:
		templates := sentenceSlots
		if inline {
			templates = inlineSlots
		}
		text = pickOne(r.d, templates)
		if len(l.keys) == 1 && r.d.chance(0.5) {
			if t := prepositions[singular(lastWord(l.keys[0]))]; t != "" && len(words(l.keys[0])) == 1 {
				text = t + " %v"
				if !inline {
					text = pickOne(r.d, []string{"That is ", "This is ", "It is "}) + text + "."
				}
			}
		}
		text = strings.NewReplacer("%p", phrase, "%P", capital(phrase), "%v", value).Replace(text)
	}
	b.WriteString(text)
}

// Prepositions that introduce a value of a parameter with a one-word name (ours).
var prepositions = map[string]string{
	"city": "in", "town": "in", "country": "in", "location": "in", "region": "in", "date": "on", "day": "on", "year": "for", "month": "for",
	"symbol": "for", "ticker": "for", "query": "about", "topic": "about", "email": "for", "recipient": "for", "path": "at", "url": "at",
	"domain": "for", "language": "in", "id": "for number", "name": "named", "username": "for user",
}

// realize writes a value in words. plain is true where the words stand alone, without the name of the parameter.
func (r *request) realize(l *leaf, phrase string) (words string, plain bool) {
	v := l.value
	switch v.kind {
	case boolKind:
		l.text = "without " + phrase
		if v.text == "true" {
			l.text = "with " + phrase
		}
		return l.text, true
	case nullKind, listKind, objectKind: // an empty list or object
		l.text = "with no " + phrase
		return l.text, true
	case numberKind:
		l.text = v.text
		if n, err := strconv.Atoi(v.text); err == nil && n >= 0 && n < len(numberWords) && r.d.chance(0.2) {
			l.text = numberWords[n]
		}
		return l.text, false
	}
	l.text = v.text
	if long, ok := longDate(v.text); ok && r.d.chance(0.5) {
		l.text = long
		return l.text, false
	}
	isEnum := l.schema != nil && len(l.schema.enum) > 0
	if isEnum && strings.ContainsAny(v.text, "_-") && r.d.chance(0.3) {
		if spaced := strings.NewReplacer("_", " ", "-", " ").Replace(v.text); strings.TrimSpace(spaced) == spaced {
			l.text = spaced
		}
	}
	quote := strings.ContainsAny(l.text, " \t\n.,:;!?") || r.d.chance(0.2)
	if quote && !strings.Contains(l.text, `"`) {
		return `"` + l.text + `"`, false
	}
	return l.text, false
}

var numberWords = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")

// longDate writes an ISO date as "3 March 2027".
func longDate(iso string) (string, bool) {
	if len(iso) != len(time.DateOnly) {
		return "", false
	}
	t, err := time.Parse(time.DateOnly, iso)
	return t.Format("2 January 2006"), err == nil
}

// phrases names each leaf in words, all different where the parameters allow it.
func (r *request) phrases(leaves []leaf) []string {
	out := make([]string, len(leaves))
	used := make(map[string]bool)
	for i, l := range leaves {
		out[i] = keyPhrase(l.keys, l.value.kind == boolKind)
		if len(l.keys) == 1 && l.value.kind != boolKind && r.d.chance(0.5) {
			if p := descriptionPhrase(l.schema); p != "" && !used[p] && !r.leaks(p) {
				out[i] = p
			}
		}
		if used[out[i]] {
			out[i] = keyPhrase(l.keys, false)
		}
		used[out[i]] = true
	}
	return out
}

var ordinals = strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth")

// keyPhrase turns ["filters", "0", "start_date"] into "start date of the first filter".
func keyPhrase(keys []string, flag bool) string {
	var parts []string
	for i := len(keys) - 1; i >= 0; i-- {
		if n, err := strconv.Atoi(keys[i]); err == nil && i > 0 {
			w := words(keys[i-1])
			if len(w) > 0 {
				w[len(w)-1] = singular(w[len(w)-1])
			}
			nth := "number " + strconv.Itoa(n+1)
			if n < len(ordinals) {
				nth = ordinals[n]
			}
			parts = append(parts, strings.TrimSpace(nth+" "+strings.Join(w, " ")))
			i--
			continue
		}
		w := words(keys[i])
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

// descriptionPhrase takes a short noun phrase from the start of a parameter's description, or nothing.
func descriptionPhrase(s *schema) string {
	if s == nil {
		return ""
	}
	var out []string
	for _, w := range firstClause(s.description) {
		lower := strings.ToLower(w)
		if len(out) == 0 && (lower == "the" || lower == "a" || lower == "an" || lower == "optional") {
			continue
		}
		if len(out) > 0 && (cutWords[lower] || lower == "of" && len(out) > 3) {
			break
		}
		out = append(out, lower)
	}
	if len(out) == 0 || len(out) > 5 || otherVerbs[out[0]] || returning[out[0]] != "" || cutWords[out[0]] ||
		out[0] == "whether" || out[0] == "how" || out[0] == "what" || out[len(out)-1] == "of" {
		return ""
	}
	return strings.Join(out, " ")
}

// firstClause returns the words of a text up to its first punctuation; nil if it has other than plain ASCII words.
func firstClause(s string) []string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, ".,;:()[]{}<>\n\"'`*#/|=!?"); i >= 0 {
		s = s[:i]
	}
	if before, _, ok := strings.Cut(s, " - "); ok {
		s = before
	}
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] < ' ' || s[i] == '_' || s[i] >= '0' && s[i] <= '9' {
			return nil
		}
	}
	return strings.Fields(s)
}

// clause says what the user wants, in the imperative, from the tool's description or its name. It avoids words that
// give the tool's name away.
func (r *request) clause() string {
	var options []string
	if r.tool.object != "" {
		for _, v := range verbs(r.tool.verb) {
			options = append(options, v+" "+r.tool.object)
		}
	}
	if len(options) == 0 || r.d.chance(0.3) {
		m := r.tool.meaning
		// What a name says after "by" or "to" is about the arguments, as in a description.
		if i := slices.IndexFunc(m.noun, func(w string) bool { return cutWords[w] }); i > 0 {
			m.noun = m.noun[:i]
		}
		noun := strings.Join(m.noun, " ")
		switch {
		case len(m.noun) == 0 && m.verb != "":
			for _, v := range verbs(m.class) {
				options = append(options, v+" what is there", v+" something for me")
			}
		case len(m.noun) == 0: // a name without letters or digits
		case m.class == otherVerb && otherVerbs[noun]:
			options = append(options, noun+" this", noun+" something for me")
		case m.class == otherVerb && otherVerbs[m.noun[0]]:
			options = append(options, m.noun[0]+" the "+strings.Join(m.noun[1:], " "), m.noun[0]+" this "+strings.Join(m.noun[1:], " "))
		case m.class == otherVerb:
			last := len(m.noun) - 1
			options = append(options, "help me with the "+noun, "take care of the "+noun, "run the "+noun)
			if last > 0 {
				options = append(options, "help me with the "+m.noun[last]+" of the "+strings.Join(m.noun[:last], " "),
					"take care of the "+m.noun[last]+" for "+strings.Join(m.noun[:last], " "))
			}
		default:
			for _, v := range verbs(m.class) {
				options = append(options, v+" the "+noun)
				if last := len(m.noun) - 1; last > 0 {
					options = append(options, v+" the "+m.noun[last]+" for the "+strings.Join(m.noun[:last], " "))
				}
			}
		}
	}
	start := r.d.pick(max(1, len(options)))
	for i := range options { // the first from a random start that gives no name away
		if o := options[(start+i)%len(options)]; !r.leaks(o) {
			return o
		}
	}
	return pickOne(r.d, []string{"do this for me", "take care of this", "handle this", "help me with this"})
}

// verbs lists ways to say a verb class; a verb without one stands for itself.
func verbs(class verbClass) []string {
	if p := verbPhrases[class]; p != nil {
		return p
	}
	return []string{string(class)}
}

func (r *request) leaks(s string) bool {
	w := words(s)
	for _, seq := range r.avoid {
		if sequenceIn(w, seq) {
			return true
		}
	}
	return false
}

// describe splits the first clause of a description into its verb and what the verb is done to; the object is empty
// where it finds none.
func describe(description string) (verb verbClass, object string) {
	clause := firstClause(description)
	if len(clause) < 2 {
		return "", ""
	}
	word := baseForm(strings.ToLower(clause[0]))
	if word == "" {
		return "", ""
	}
	verb = verbClass(word)
	if c := returning[word]; c != otherVerb {
		verb = c
	}
	var out []string
	for _, w := range clause[1:] {
		lower := strings.ToLower(w)
		if len(out) > 0 && cutWords[lower] {
			break
		}
		if len(out) == 0 && (cutWords[lower] || lower == "and") {
			return "", ""
		}
		out = append(out, w)
	}
	for len(out) > 0 {
		switch last := strings.ToLower(out[len(out)-1]); last {
		case "a", "an", "the", "of", "its", "their", "your", "all", "any":
			out = out[:len(out)-1]
			continue
		}
		break
	}
	if len(out) == 0 || len(out) > 10 {
		return "", ""
	}
	return verb, strings.Join(out, " ")
}

// baseForm returns the infinitive of a verb it knows, written so or in the third person.
func baseForm(w string) string {
	for _, f := range []string{w, strings.TrimSuffix(w, "s"), strings.TrimSuffix(w, "es"), strings.TrimSuffix(w, "ies") + "y"} {
		if otherVerbs[f] || returning[f] != "" {
			return f
		}
	}
	return ""
}
