package grounded

import (
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/wording"
)

// A question is one that the document answers.
type question struct {
	form   *form
	fields fields
	tool   *candidate // whose wish the question tells; nil for none
	pieces []string   // of the answer
	focus  Span       // what must be shown
}

// fields are the words that the question has from the document.
type fields struct{ name, of, noun, text string }

// Bounds of the texts that questions and answers take from a document, and of what is looked at for them (ours).
const (
	maxPiece     = 200
	maxFocus     = 700
	maxQuestions = 64 // of a kind
)

// ask collects the questions of all kinds.
func (m *material) ask() {
	m.questions, m.named = make(map[string][]question), make(map[string]int)
	for i := range m.r.candidates {
		m.named[m.r.candidates[i].surface.of(m.r.text)]++
	}
	m.askCandidates()
	m.askExamples()
	m.askParams()
	m.askSteps()
	m.askOutputs()
	m.askTroubles()
}

func (m *material) put(kind string, q question) {
	if len(m.questions[kind]) >= maxQuestions || q.focus.empty() || q.focus.End-q.focus.Start > maxFocus {
		return
	}
	for _, p := range q.pieces {
		if len(p) < 1 || len(p) > maxPiece || strings.ContainsAny(p, "\r\n") || q.form != &extracting && !balanced(p) {
			return
		}
	}
	m.questions[kind] = append(m.questions[kind], q)
}

var nouns = map[Feature]string{Endpoint: "endpoint", Command: "command", Callable: "function"}

// spanned is what has to be shown of a candidate: its name and what it does, where they are near each other.
func (c *candidate) spanned() Span {
	if all := c.surface.union(c.about); all.End-all.Start <= maxFocus {
		return all
	}
	return c.surface
}

// vague holds for a program of which each command does something else.
func (c *candidate) vague() bool { return c.feature == Command && c.poor }

func (m *material) askCandidates() {
	r := m.r
	same := make(map[string]int) // candidates by what they do
	for _, i := range r.told {
		same[strings.ToLower(r.candidates[i].prose)]++
	}
	for _, i := range r.told {
		c := &r.candidates[i]
		surface := c.surface.of(r.text)
		if m.named[surface] > 1 {
			continue
		}
		if c.about.empty() || !c.spanned().has(c.about) {
			continue
		}
		if same[strings.ToLower(c.prose)] == 1 && !tellsName(c.prose, surface) {
			q := question{form: &selecting, tool: c, pieces: []string{surface}, focus: c.spanned(), fields: fields{noun: nouns[c.feature]}}
			third := false
			if q.fields.text, third = wanted(c.prose); third {
				q.form = &selectingWhat
			}
			if q.fields.text != "" {
				m.put("tool_selection", q)
			}
		}
		if rest, ok := cutReturns(c.about.of(r.text)); ok && c.feature != Command && r.complete(c.about) {
			m.put("output_use", question{form: &returning, pieces: []string{rest}, focus: c.spanned(),
				fields: fields{of: surface, noun: nouns[c.feature]}})
		}
		var required []string
		focus := c.spanned()
		for j := range c.params {
			if p := &c.params[j]; p.required && p.flag == "" && !p.at.empty() {
				if !slices.Contains(required, p.at.of(r.text)) && (len(required) == 0 || p.at.Start > focus.Start) {
					required = append(required, p.at.of(r.text))
				}
				focus = focus.union(p.at)
			}
		}
		if len(required) > 0 && len(required) < 5 && c.feature != Command {
			m.put("prerequisite", question{form: &requiring, pieces: required, focus: focus, fields: fields{of: surface, noun: nouns[c.feature]}})
		}
	}
	for _, t := range m.tools {
		if t.owner < 0 {
			continue
		}
		for _, l := range t.feeds {
			if l.to.owner < 0 {
				continue
			}
			from, to := &r.candidates[t.owner], &r.candidates[l.to.owner]
			if m.named[from.surface.of(r.text)] > 1 || m.named[to.surface.of(r.text)] > 1 {
				continue
			}
			m.put("output_use", question{form: &feeding, pieces: []string{from.surface.of(r.text)}, focus: from.surface.union(to.surface),
				fields: fields{name: l.param, of: to.surface.of(r.text), noun: nouns[from.feature]}})
		}
	}
}

// wanted is a description that begins with a verb as a question says it: "list the jobs of a user" or, third, "lists the ...".
// It is empty where that is no way to say it.
func wanted(prose string) (text string, third bool) {
	text = strings.TrimRight(prose, ".!?")
	verb, rest, _ := strings.Cut(text, " ")
	if len(text) > maxPiece*3/4 || strings.ContainsAny(text, "{}\"?") || strings.Contains(text, ". ") || strings.HasSuffix(verb, "ing") ||
		!isVerb(verb) {
		return "", false
	}
	verb = strings.ToLower(verb)
	return verb + " " + rest, strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss")
}

// tellsName says whether one of the words of a description is the name.
func tellsName(prose, surface string) bool {
	for w := range strings.FieldsSeq(prose) {
		if strings.EqualFold(strings.Trim(w, ".,:;()[]'\""), surface) {
			return true
		}
	}
	return false
}

// cutReturns is what follows "Returns" at the start of a description.
func cutReturns(s string) (string, bool) {
	for _, w := range [...]string{"Returns ", "Return ", "returns ", "return "} {
		if rest, ok := strings.CutPrefix(s, w); ok && isPhrase(rest) {
			return rest, true
		}
	}
	return "", false
}

func (m *material) askExamples() {
	r := m.r
	for i := range r.examples {
		x := &r.examples[i]
		c := &r.candidates[x.owner]
		call := jsonval.NewObject(jsonval.Pair("name", jsonval.NewString(c.name)), jsonval.Pair("arguments", x.args))
		shown := x.shown.of(r.text)
		if c.vague() || len(shown) > 160 || strings.ContainsAny(shown, "\n`") {
			continue
		}
		m.put("argument_extraction", question{form: &extracting, pieces: []string{call.Encode(jsonval.Display)}, focus: x.shown,
			fields: fields{name: c.name, of: shown, noun: nouns[c.feature]}})
	}
}

func (m *material) askParams() {
	r := m.r
	said := make(map[string]int) // parameters of a name, and of a name and an owner
	owned := func(p *param) string { return r.candidates[p.owner].surface.of(r.text) + "\x00" + p.name.of(r.text) }
	for i := range r.params {
		p := &r.params[i]
		if said[p.name.of(r.text)]++; p.owner >= 0 {
			said[owned(p)]++
		}
	}
	for i := range r.params {
		p := &r.params[i]
		name := p.name.of(r.text)
		if p.owner < 0 && said[name] > 1 || p.owner >= 0 && r.candidates[p.owner].vague() ||
			p.owner >= 0 && (said[owned(p)] > 1 || m.named[r.candidates[p.owner].surface.of(r.text)] > 1) {
			continue
		}
		f := fields{name: name, noun: "parameter"}
		if strings.HasPrefix(name, "-") {
			f.noun = "option"
		}
		form := &meaning
		if p.owner >= 0 {
			f.of = r.candidates[p.owner].surface.of(r.text)
		} else if p.apart {
			form = &tabled
		} else if p.typ.empty() && f.noun != "option" {
			if form = &entry; !marked(name, r.text[max(0, p.name.Start-1):p.name.Start]) {
				continue // "- cli: allow several flags": a topic
			}
		}
		focus := p.name.union(p.about)
		if !p.about.empty() && r.complete(p.about) {
			m.put("argument_extraction", question{form: form, pieces: []string{p.about.of(r.text)}, focus: focus, fields: f})
		}
		if !p.def.empty() {
			m.put("argument_extraction", question{form: &defaulting, pieces: []string{p.def.of(r.text)}, focus: focus.union(p.def), fields: f})
		}
		if !p.typ.empty() && len(p.typ.of(r.text)) > 2 {
			m.put("argument_extraction", question{form: &typing, pieces: []string{p.typ.of(r.text)}, focus: focus.union(p.typ), fields: f})
		}
	}
}

// marked holds for a name that does not read like a word of a sentence: it has marks of code or emphasis, or a join.
func marked(name, before string) bool {
	return before == "`" || before == "*" || strings.ContainsAny(name, "_0123456789")
}

// balanced says whether no bracket and no piece of code is cut in two.
func balanced(s string) bool {
	return strings.Count(s, "(") == strings.Count(s, ")") && strings.Count(s, "`")%2 == 0
}

// short is the first sentence of a step, empty if it is long or no step.
func (r *reading) short(s step) Span {
	one := r.sentence(s.text)
	text := one.of(r.text)
	if n := one.End - one.Start; n < 8 || n > 160 || !r.complete(one) || !balanced(text) || labeled(text) {
		return Span{}
	}
	first, _, _ := strings.Cut(text, " ")
	if subjects[first] {
		return Span{} // a statement
	}
	// "If the card is expired:" is no more than the beginning of a step, and "Minimum age: It is 60 days." a criterion.
	behind := strings.TrimLeft(r.text[one.End:min(len(r.text), one.End+4)], "*")
	if (strings.Contains(text, ": ") || strings.HasPrefix(behind, ":")) && !isVerb(strings.Trim(first, "*")) {
		return Span{}
	}
	return one
}

// subjects begin a sentence that tells something, and nothing to do.
var subjects = wordSet("A An The This That These Those There It Each Every All You We")

// isVerb says whether a description that begins with a word tells what is done.
func isVerb(w string) bool { return wording.About("", w+" the thing").Described() }

// labeled holds for "**Fast** - It is fast": an item of such a list has a name, and is nothing that is done.
func labeled(s string) bool {
	mark := "**"
	if strings.HasPrefix(s, "`") {
		mark = "`"
	}
	rest, ok := strings.CutPrefix(s, mark)
	if !ok {
		return false
	}
	label, rest, ok := strings.Cut(rest, mark)
	rest = strings.TrimLeft(rest, " ")
	if strings.HasPrefix(rest, "(") { // an aside
		if i := strings.IndexByte(rest, ')'); i >= 0 {
			rest = strings.TrimLeft(rest[i+1:], " ")
		}
	}
	return ok && (strings.HasSuffix(label, ":") || strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "-") ||
		strings.HasPrefix(rest, "–") || strings.HasPrefix(rest, "—"))
}

func (m *material) askSteps() {
	r := m.r
	for i := range r.steps {
		one := r.short(r.steps[i])
		if one.empty() {
			continue
		}
		heading := r.sections[r.steps[i].section].heading.of(r.text)
		if lists(heading) {
			continue
		}
		if len(heading) > 80 || strings.ContainsAny(heading, "\"") {
			heading = ""
		}
		if i > 0 && r.steps[i-1].list == r.steps[i].list {
			if before := r.short(r.steps[i-1]); !before.empty() {
				m.put("prerequisite", question{form: &preceding, pieces: []string{before.of(r.text)}, focus: before.union(one),
					fields: fields{text: one.of(r.text)}})
			}
			continue
		}
		pieces, focus := []string{one.of(r.text)}, one
		whole := true
		for j := i + 1; j < len(r.steps) && r.steps[j].list == r.steps[i].list; j++ {
			next := r.short(r.steps[j])
			if whole = !next.empty() && len(pieces) < 5 && focus.union(next).End-focus.Start <= maxFocus; !whole {
				break
			}
			pieces, focus = append(pieces, next.of(r.text)), focus.union(next)
		}
		if len(pieces) < 2 {
			continue
		}
		q := question{form: &ordering, pieces: pieces, focus: focus, fields: fields{text: heading}}
		if !whole {
			q.form, q.fields.noun = &starting, counted[min(len(pieces), len(counted)-1)]
		}
		if heading == "" {
			q.form = map[bool]*form{true: &orderingHere, false: &startingHere}[whole]
		}
		m.put("workflow_recognition", q)
	}
}

// enumerations are words of headings over lists that are no procedures.
var enumerations = wordSet(`note notes principle principles rule rules tip tips feature features consideration considerations benefit
	benefits pitfall pitfalls limitation limitations type types example examples summary faq reference references goals goal overview
	advantages issues questions options concepts caveats mistakes errors resources requirements contents practices highlights`)

func lists(heading string) bool {
	if strings.HasSuffix(heading, "?") {
		return true
	}
	for w := range strings.FieldsFuncSeq(strings.ToLower(heading), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if enumerations[w] {
			return true
		}
	}
	return false
}

var counted = [...]string{"", "one", "two", "three", "four", "five"}

func (m *material) askOutputs() {
	r := m.r
	for i := range r.outputs {
		o := &r.outputs[i]
		c := &r.candidates[o.owner]
		focus := c.surface.union(o.about)
		if c.vague() || !r.complete(o.about) || m.named[c.surface.of(r.text)] > 1 {
			continue
		}
		m.put("output_use", question{form: &returning, pieces: []string{o.about.of(r.text)}, focus: focus,
			fields: fields{of: c.surface.of(r.text), noun: nouns[c.feature]}})
	}
}

func (m *material) askTroubles() {
	r := m.r
	said := make(map[string]int)
	for i := range r.troubles {
		said[r.troubles[i].code.of(r.text)]++
	}
	for i := range r.troubles {
		t := &r.troubles[i]
		q := question{pieces: []string{t.about.of(r.text)}, focus: t.about.union(t.code), fields: fields{name: t.code.of(r.text)}}
		switch {
		case !r.complete(t.about):
			continue
		case !t.code.empty() && said[q.fields.name] > 1:
			continue // which of them?
		case !t.code.empty() && t.when:
			q.form = &arising
		case !t.code.empty():
			q.form = &meaningOf
		case t.owner >= 0 && !r.candidates[t.owner].vague():
			q.form, q.fields.of = &breaking, r.candidates[t.owner].surface.of(r.text)
			q.focus = q.focus.union(r.candidates[t.owner].surface)
		default:
			continue
		}
		m.put("error_reading", q)
	}
}
