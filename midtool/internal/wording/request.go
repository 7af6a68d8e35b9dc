package wording

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// conclude restates one or two short scalars of the result, of different names.
func conclude(d *draw.Draws, result *jsonval.Value) string {
	type fact struct{ name, text string }
	var facts []fact
	var collect func(n *jsonval.Value, name string)
	collect = func(n *jsonval.Value, name string) {
		switch n.Kind {
		case jsonval.Object:
			for i := range n.Members {
				collect(&n.Members[i].Value, n.Members[i].Key)
			}
		case jsonval.List:
			for i := range n.List {
				collect(&n.List[i], names.Singular(name))
			}
		case jsonval.String, jsonval.Number:
			f := fact{names.KeyPhrase([]string{name}, false), n.Text}
			told := slices.ContainsFunc(facts, func(o fact) bool { return o.name == f.name })
			if !told && len(n.Text) <= 80 && strings.TrimSpace(n.Text) != "" && !strings.Contains(n.Text, "\n") {
				facts = append(facts, f)
			}
		}
	}
	collect(result, "result")
	if len(facts) == 0 {
		return "Done. The result is " + result.Encode(jsonval.Display) + "."
	}
	first := facts[0]
	if len(facts) == 1 {
		return strings.NewReplacer("%p", first.name, "%v", first.text).Replace(draw.One(d, []string{
			"Done, the %p is %v.", "The call went through: %p %v.", "That worked, with %p %v.", "It is done. The %p is %v."}))
	}
	other := facts[1+d.Pick(len(facts)-1)]
	return strings.NewReplacer("%p", first.name, "%v", first.text, "%q", other.name, "%w", other.text).Replace(draw.One(d, []string{
		"Done: the %p is %v and the %q is %w.", "The %p is %v, for %q %w.", "It worked. The %q is %w and the %p %v.",
		"Here is the outcome: %p %v, %q %w.", "All set, with %q %w (%p %v)."}))
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
	verbPhrases = map[names.VerbClass][]string{
		names.GetVerb:    {"get", "look up", "show me", "fetch", "find out", "check", "pull up", "give me"},
		names.ListVerb:   {"list", "show me", "go through", "give me an overview of", "enumerate", "lay out"},
		names.SearchVerb: {"search for", "look for", "find", "hunt down", "track down"},
		names.CreateVerb: {"create", "add", "set up", "make", "put together"},
		names.UpdateVerb: {"update", "change", "edit", "adjust", "modify"},
		names.DeleteVerb: {"delete", "remove", "get rid of", "erase", "clear away"},
	}
	// Verbs that start descriptions and ask for something to be returned.
	returning = map[string]names.VerbClass{"return": names.GetVerb, "retrieve": names.GetVerb, "get": names.GetVerb, "fetch": names.GetVerb, "read": names.GetVerb, "show": names.GetVerb,
		"list": names.ListVerb, "search": names.SearchVerb, "find": names.SearchVerb, "create": names.CreateVerb, "add": names.CreateVerb, "update": names.UpdateVerb,
		"edit": names.UpdateVerb, "modify": names.UpdateVerb, "delete": names.DeleteVerb, "remove": names.DeleteVerb, "lookup": names.SearchVerb, "query": names.SearchVerb,
		"insert": names.CreateVerb, "describe": names.GetVerb}
	otherVerbs = names.WordSet(`analyze analyse apply approve archive assign attach book buy calculate call cancel capture check choose clear click
		clone close collect combine compare compile compress compute configure connect convert copy count crawl decode decrypt deploy detect
		determine disable download draw duplicate enable encode encrypt estimate evaluate execute explain export extract filter forward format
		generate identify import inspect install invite join launch load lock log make manage mark measure merge monitor move navigate notify open
		optimize parse pause perform place plan play predict prepare preview print process provide publish pull push record refresh register
		rename render reorder replace reply report request reserve reset resize resolve restart restore resume review rotate run save scan
		schedule scrape select send share sign simulate solve sort split start stop store submit subscribe summarize suspend switch sync take
		test track transfer transform translate trigger turn unlock unsubscribe upload validate verify view visit wait watch withdraw write`)
	// A description's object is cut before these words: what follows speaks about the arguments.
	cutWords = names.WordSet("by using with given based via from through including and that which where when if so optionally for in to on as or within")
)

// compose writes the request and notes in each leaf the words that carry its value.
func (w *Writer) compose(t *Tool, leaves []schema.Leaf) string {
	ask := w.Draws.Chance(0.35)
	openings := tellOpenings
	if ask {
		openings = askOpenings
	}
	var b strings.Builder
	b.WriteString(draw.One(w.Draws, openings))
	b.WriteString(w.clause(t))
	phrases := w.phrases(leaves)
	inline := len(leaves)
	if inline > 2 || w.Draws.Chance(0.5) {
		inline = w.Draws.Pick(min(inline, 1) + 1)
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
		w.slot(&b, l, phrases[i], i < inline)
	}
	if inline >= len(leaves) {
		b.WriteString(end)
	}
	b.WriteString(draw.One(w.Draws, closings))
	return capital(b.String())
}

func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// slot writes one argument, inside the sentence or as one of its own.
func (w *Writer) slot(b *strings.Builder, l *schema.Leaf, phrase string, inline bool) {
	value, plain := w.realize(l, phrase)
	var text string
	switch {
	case plain && inline:
		text = value
	case plain:
		text = draw.One(w.Draws, []string{"Do it ", "I want it ", "It should be "}) + value + "."
	default:
		templates := sentenceSlots
		if inline {
			templates = inlineSlots
		}
		text = draw.One(w.Draws, templates)
		if len(l.Keys) == 1 && w.Draws.Chance(0.5) {
			if t := prepositions[names.Singular(schema.LastWord(l.Keys[0]))]; t != "" && len(names.Words(l.Keys[0])) == 1 {
				text = t + " %v"
				if !inline {
					text = draw.One(w.Draws, []string{"That is ", "This is ", "It is "}) + text + "."
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
func (w *Writer) realize(l *schema.Leaf, phrase string) (words string, plain bool) {
	v := l.Value
	switch v.Kind {
	case jsonval.Bool:
		l.Text = "without " + phrase
		if v.Text == "true" {
			l.Text = "with " + phrase
		}
		return l.Text, true
	case jsonval.Null, jsonval.List, jsonval.Object: // an empty list or object
		l.Text = "with no " + phrase
		return l.Text, true
	case jsonval.Number:
		l.Text = v.Text
		if n, err := strconv.Atoi(v.Text); err == nil && n >= 0 && n < len(names.NumberWords) && w.Draws.Chance(0.2) {
			l.Text = names.NumberWords[n]
		}
		return l.Text, false
	}
	l.Text = v.Text
	if long, ok := names.LongDate(v.Text); ok && w.Draws.Chance(0.5) {
		l.Text = long
		return l.Text, false
	}
	isEnum := l.Schema != nil && len(l.Schema.Enum) > 0
	if isEnum && strings.ContainsAny(v.Text, "_-") && w.Draws.Chance(0.3) {
		if spaced := strings.NewReplacer("_", " ", "-", " ").Replace(v.Text); strings.TrimSpace(spaced) == spaced {
			l.Text = spaced
		}
	}
	quote := strings.ContainsAny(l.Text, " \t\n.,:;!?") || w.Draws.Chance(0.2)
	if quote && !strings.Contains(l.Text, `"`) {
		return `"` + l.Text + `"`, false
	}
	return l.Text, false
}

// phrases names each leaf in words, all different where the parameters allow it.
func (w *Writer) phrases(leaves []schema.Leaf) []string {
	out := make([]string, len(leaves))
	used := make(map[string]bool)
	for i, l := range leaves {
		out[i] = names.KeyPhrase(l.Keys, l.Value.Kind == jsonval.Bool)
		if len(l.Keys) == 1 && l.Value.Kind != jsonval.Bool && w.Draws.Chance(0.5) {
			if p := descriptionPhrase(l.Schema); p != "" && !used[p] && !w.leaks(p) {
				out[i] = p
			}
		}
		if used[out[i]] {
			out[i] = names.KeyPhrase(l.Keys, false)
		}
		used[out[i]] = true
	}
	return out
}

// descriptionPhrase takes a short noun phrase from the start of a parameter's description, or nothing.
func descriptionPhrase(s *schema.Schema) string {
	if s == nil {
		return ""
	}
	var out []string
	for _, w := range firstClause(s.Description) {
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
func (w *Writer) clause(t *Tool) string {
	var options []string
	if t.object != "" {
		for _, v := range verbs(t.verb) {
			options = append(options, v+" "+t.object)
		}
	}
	if len(options) == 0 || w.Draws.Chance(0.3) {
		m := t.Meaning
		// What a name says after "by" or "to" is about the arguments, as in a description.
		if i := slices.IndexFunc(m.Noun, func(w string) bool { return cutWords[w] }); i > 0 {
			m.Noun = m.Noun[:i]
		}
		noun := strings.Join(m.Noun, " ")
		switch {
		case len(m.Noun) == 0 && m.Verb != "":
			for _, v := range verbs(m.Class) {
				options = append(options, v+" what is there", v+" something for me")
			}
		case len(m.Noun) == 0: // a name without letters or digits
		case m.Class == names.OtherVerb && otherVerbs[noun]:
			options = append(options, noun+" this", noun+" something for me")
		case m.Class == names.OtherVerb && otherVerbs[m.Noun[0]]:
			options = append(options, m.Noun[0]+" the "+strings.Join(m.Noun[1:], " "), m.Noun[0]+" this "+strings.Join(m.Noun[1:], " "))
		case m.Class == names.OtherVerb:
			last := len(m.Noun) - 1
			options = append(options, "help me with the "+noun, "take care of the "+noun, "run the "+noun)
			if last > 0 {
				options = append(options, "help me with the "+m.Noun[last]+" of the "+strings.Join(m.Noun[:last], " "),
					"take care of the "+m.Noun[last]+" for "+strings.Join(m.Noun[:last], " "))
			}
		default:
			for _, v := range verbs(m.Class) {
				options = append(options, v+" the "+noun)
				if last := len(m.Noun) - 1; last > 0 {
					options = append(options, v+" the "+m.Noun[last]+" for the "+strings.Join(m.Noun[:last], " "))
				}
			}
		}
	}
	start := w.Draws.Pick(max(1, len(options)))
	for i := range options { // the first from a random start that gives no name away
		if o := options[(start+i)%len(options)]; !w.leaks(o) {
			return o
		}
	}
	return draw.One(w.Draws, []string{"do this for me", "take care of this", "handle this", "help me with this"})
}

// verbs lists ways to say a verb class; a verb without one stands for itself.
func verbs(class names.VerbClass) []string {
	if p := verbPhrases[class]; p != nil {
		return p
	}
	return []string{string(class)}
}

func (w *Writer) leaks(s string) bool {
	said := names.Words(s)
	for _, seq := range w.Avoid {
		if names.SequenceIn(said, seq) {
			return true
		}
	}
	return false
}

// describe splits the first clause of a description into its verb and what the verb is done to; the object is empty
// where it finds none.
func describe(description string) (verb names.VerbClass, object string) {
	clause := firstClause(description)
	if len(clause) < 2 {
		return "", ""
	}
	word := baseForm(strings.ToLower(clause[0]))
	if word == "" {
		return "", ""
	}
	verb = names.VerbClass(word)
	if c := returning[word]; c != names.OtherVerb {
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
