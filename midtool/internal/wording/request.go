package wording

import (
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/names"
)

// Tables of requests (ours). A request is a lead, an opening, what is wanted, its arguments inside the sentence or after
// it, and a closing; each of them is drawn by itself.
var (
	leads = strings.Split(`hi, |hello, |hi there, |hey, |good morning, |for my notes, |before the meeting, |`+
		`when you have a moment, |for a project of mine, |to save me some time, |for a colleague, |for the team, |`+
		`here is what I need: |a small request: |for a write-up, |for the record, |so that I can carry on, |before I go home, |`+
		`to get me started, |when you get a chance, |a quick one: |one thing: |for something I am working on, `, "|")
	followLeads = strings.Split(`now |next, |with that, |and now |after that, |okay, now |great, next |good, now |`+
		`thanks, now |while you are at it, |that helps. Now |perfect. Next, |going on from there, |with that done, |`+
		`now that we have this, |as the next step, |very good. Then |understood. Now |following up on that, |building on that, |`+
		`to continue, |moving on, |alright, now |fine. After that, `, "|")
	asks = strings.Split(`could you |can you |would you |could you please |can you please |would you please |`+
		`are you able to |is it possible for you to |may I ask you to |can I ask you to |do you think you could |`+
		`would it be possible to |could you kindly |can you quickly |would you be able to |could you go ahead and |could I ask you to |`+
		`might you be able to |will you |would you be so kind as to `, "|")
	tells = strings.Split(`please |I need you to |I would like you to |I want you to |I'd like you to |go ahead and |`+
		`kindly ||it would help me if you could |I'd be glad if you could |I was hoping you could |do me a favor and |`+
		`be so kind as to |I'd appreciate it if you could |it would be great if you could |I would be grateful if you could |`+
		`please go ahead and |I wonder if you could |it would help me a lot if you could |I'd be happy if you could `, "|")
	askFor = strings.Split(`could I have |can I get |may I have |could I see |can I see |can I have |could I get |`+
		`may I see |may I get |is there a way to see |could you get hold of |can you dig up |could you find me `, "|")
	tellFor = strings.Split(`I need |I would like to have |I want to see |I'd like to see |I am looking for |I am after |`+
		`let me have |let me see |I could use |what I need is |please send me |I am interested in |I'd like |get me |`+
		`I am trying to find |what I am after is |I still need `, "|")
	closings = strings.Split(`Thanks!|Thank you.|That is all I need.|I will wait for the result.|Let me know how it goes.|`+
		`No rush.|Thanks in advance.|Tell me when it is done.|That would help a lot.|Much appreciated.|Cheers!|Thanks for your help.|`+
		`A short answer is enough.|Please be brief.|I appreciate it.|Just the essentials, please.|Let me know if something is off.|`+
		`Take your time.|Report back when you have it.|That is it for the moment.|Thanks a lot!|I appreciate the help.|`+
		`Tell me if there is any trouble.|Many thanks.`, "|")
	followClosings = strings.Split(`Thanks!|Thank you.|That should be it.|Then we are almost done.|Thanks again.|`+
		`Let me know how it goes.|Tell me when it is done.|I appreciate it.|Cheers!|That would be great.|Then I have what I need.|`+
		`That would help.`, "|")

	// How an argument is said inside the sentence; those of manyInline and manySentences also fit a plural.
	manyInline = []string{"with %p %v", "with the %p %v", "using %v as the %p", "with %v as the %p", "using the %p %v", "for the %p %v",
		"with the %p set to %v", "given the %p %v", "with %v for the %p"}
	oneInline     = append([]string{"where the %p is %v"}, manyInline...)
	manySentences = []string{"use %v as the %p.", "set the %p to %v.", "for the %p, use %v.", "the %p should be %v.",
		"take %v for the %p.", "as the %p, I want %v.", "%p: %v.", "please use %v for the %p.", "I want the %p to be %v.",
		"go with %v as the %p.", "for the %p, go with %v.", "for the %p, take %v.", "please set the %p to %v.",
		"choose %v as the %p.", "please take %v as the %p.", "make the %p %v."}
	oneSentences = append([]string{"the %p is %v.", "the %p has to be %v.", "the %p I have in mind is %v.", "the %p I mean is %v."},
		manySentences...)
	leadSlots = []string{"with %p %v, ", "for the %p %v, ", "given the %p %v, ", "using %v as the %p, ", "with %v as the %p, ",
		"with the %p set to %v, "}
	statedFirst = []string{"the %p is %v.", "I have the %p: %v.", "it concerns the %p %v.", "here is the %p: %v.",
		"this is about the %p %v.",
		"the %p in question: %v."}
	plainSentences = []string{"do it ", "I want it ", "it should be ", "please do it ", "I would like it ", "run it ", "I need it "}
	details        = []string{"details: ", "here are the details: ", "the values: ", "use these values: ",
		"what you need for it: ", "the settings: ",
		"these are the details: ", "please take these values: ", "here is what to use: ", "the particulars: "}
	alsoJoins = []string{" and ", " and also ", ", and also ", " and please also ", ", and ", " and besides ",
		", and on top of that "}
	thenJoins = []string{", then ", " and then ", ", and then ", ", and after that ", " and afterwards ", ", and from there ",
		" and next "}
	againJoins = []string{" and do the same ", ", and do the same ", " and repeat that ", ", then do it again ", ", and again ",
		" and once more ", ", and likewise "}
	againBetween  = []string{", then ", ", once more ", ", again ", ", then again "}
	alsoSentences = []string{"also, ", "in addition, ", "besides that, ", "on top of that, ", "apart from that, ", "please also ",
		"I also need you to ",
		"could you also ", "at the same time, ", "and please ", "beyond that, ", "I would also like you to ", "can you also ",
		"separately, "}
	thenSentences = []string{"then ", "after that, ", "once that is done, ", "with the result, ", "when you have that, ",
		"from there, ", "next, ",
		"with what comes back, ", "as soon as you have it, ", "when that is through, please ", "and then please ", "could you then ",
		"afterwards, ",
		"after this, please "}

	// How an argument that comes from a result is told: %p is the field of the result, %q the argument.
	backSame = []string{"with the %p that comes back", "using its %p", "with that %p", "using the %p from the result",
		"with the %p you get",
		"taking the %p from the result", "with the %p it gives you", "using the %p you find there", "with the resulting %p"}
	backOther = []string{"with the %p that comes back as the %q", "using its %p as the %q", "with that %p as the %q",
		"with the %p you get as the %q", "using the %p from the result as the %q", "with the resulting %p as the %q"}
	// The same where the earlier call gives a list, of which the first entry counts; in a later turn the list is known.
	firstSame = []string{"with the %p of the first one", "using the %p of the first entry", "with the %p of the first result",
		"taking the %p of the first one", "with the first %p from the list", "using the %p at the top of the list",
		"with the %p that came first", "for the first %p you found"}
	firstOther = []string{"with the %p of the first one as the %q", "using the %p of the first entry as the %q",
		"with the %p of the first result as the %q", "using the %p at the top of the list as the %q",
		"taking the %q from the %p of the first one", "with the first %p you found as the %q"}
	listSame = []string{"with the %p of the first one", "using the %p of the first entry", "with the first %p that comes back",
		"using the first %p you get", "with the %p of the first result", "taking the %p of the first one", "with the first %p from the list",
		"using the %p of whatever comes first"}
	listOther = []string{"with the %p of the first one as the %q", "using the %p of the first entry as the %q",
		"with the first %p that comes back as the %q", "using the first %p you get as the %q",
		"with the %p of the first result as the %q", "using the %p at the top of the list as the %q"}
	farSame    = []string{"with the %p from the ", "using the %p of the ", "taking the %p from the ", "with the %p you get from the "}
	beforeSame = []string{"with the %p from before", "using the %p you found", "with that %p", "using the %p that came back",
		"with the %p we got", "with the %p you already have", "taking the %p from the earlier result",
		"with the %p from above", "using the %p from the result above"}
	keptSame = []string{"for the same %p", "with the same %p as before", "again for that %p", "keeping the same %p", "with the %p unchanged",
		"for the %p I gave you", "using the %p from before", "leaving the %p as before", "using the same %p", "with the %p I gave earlier"}
	beforeOther = []string{"with the %p from before as the %q", "using the %p you found as the %q", "with that %p as the %q",
		"using the %p that came back as the %q", "with the %p from above as the %q", "using the %p we got as the %q"}
)

// Request is what the user says to get the tasks done, in order; follow marks a later turn of a conversation. Tasks that
// take nothing from another's result are asked for side by side, others one after the other.
func (w *Writer) Request(tasks []Task, follow bool) Text {
	w.start(tasks)
	return w.write(func(p *page) { w.request(p, tasks, follow) })
}

func (w *Writer) request(p *page, tasks []Task, follow bool) {
	if len(tasks) == 0 {
		return
	}
	c := w.clause(tasks[0].Tool)
	first := w.told(tasks, 0)
	if len(tasks) == 1 {
		w.single(p, c, first, follow)
	} else {
		w.several(p, tasks, c, first, follow)
	}
	// A text of one or two words is no request.
	if few := strings.Count(string(p.text), " ") < 2; few || w.percent(45) {
		p.next()
		if follow {
			p.say(w.one(followClosings))
		} else {
			p.say(w.one(closings))
		}
	}
}

// told is what is said of a task's arguments: those that another result gives, and those said by value.
type told struct {
	back  []func(p *page)
	items []item
}

func (w *Writer) told(tasks []Task, at int) told {
	task := &tasks[at]
	t := told{items: w.items(task)}
	for i := range task.Slots {
		if s := &task.Slots[i]; s.From > 0 && !s.Hidden {
			s.Text = ""
			t.back = append(t.back, w.reference(s, tasks, at))
		} else if s.Hidden {
			s.Text = ""
		}
	}
	return t
}

// reference says where the value of a slot comes from, without the value.
func (w *Writer) reference(s *Slot, tasks []Task, at int) func(p *page) {
	name := keyPhrase(s.Keys, false)
	field := name
	if s.Field != "" {
		field = keyPhrase([]string{s.Field}, false)
	}
	same := strings.HasSuffix(name, field) || strings.HasSuffix(field, name)
	if same && len(name) > len(field) && w.percent(50) {
		field = name
	}
	if w.leaks(field) {
		field = "result"
	}
	if w.leaks(name) {
		name, same = field, true
	}
	earlier := s.From > at // of an earlier turn
	alike, other := backSame, backOther
	switch {
	case s.First && earlier:
		alike, other = firstSame, firstOther
	case s.First:
		alike, other = listSame, listOther
	case earlier:
		alike, other = beforeSame, beforeOther
	}
	switch {
	case s.Same:
		f := w.one(keptSame)
		return func(p *page) { p.fill(f, name, "", "") }
	case !earlier && s.From < at:
		f := w.one(farSame) + names.Ordinal(s.From-1) + " result"
		return func(p *page) { p.fill(f, field, "", "") }
	case same:
		f := w.one(alike)
		return func(p *page) { p.fill(f, field, "", "") }
	}
	f := w.one(other)
	return func(p *page) { p.fill(f, field, name, "") }
}

// single asks for one task.
func (w *Writer) single(p *page, c clause, t told, follow bool) {
	n := len(t.items)
	early := -1 // an item said before the request
	if n > 0 && n <= 4 && t.items[0].plain == "" && len(t.back) == 0 && w.percent(25) {
		early = 0
		it := &t.items[0]
		switch {
		case follow:
			early = -1 // after "now" the request itself has to come
		case it.many() || w.percent(50):
			p.fill(w.one(leadSlots), it.phrase, it.value, "")
		default:
			p.fill(w.one(statedFirst), it.phrase, it.value, "")
			p.next()
		}
	}
	items := t.items[early+1:]
	mark := w.open(p, c, follow, early >= 0)
	inline := len(items)
	if inline > 2 || inline > 0 && w.percent(40) {
		inline = w.pick(min(inline, 2) + 1)
	}
	w.inline(p, t.back, items[:inline])
	p.end(mark)
	w.rest(p, items[inline:])
}

// open writes the request up to its arguments and returns the mark that will end the sentence.
func (w *Writer) open(p *page, c clause, follow, begun bool) (mark string) {
	switch {
	case follow:
		p.say(w.one(followLeads))
	case !begun && w.percent(45):
		p.say(w.one(leads))
	}
	ask := w.percent(45)
	if c.askable && w.percent(35) {
		if ask {
			p.say(w.one(askFor))
		} else {
			p.say(w.one(tellFor))
		}
		p.put("{request}", c.object, false)
	} else {
		if ask {
			p.say(w.one(asks))
		} else {
			p.say(w.one(tells))
		}
		p.put("{request}", c.verb+" "+c.object, false)
	}
	if ask {
		return "?"
	}
	return "."
}

// inline writes arguments inside a sentence.
func (w *Writer) inline(p *page, back []func(p *page), items []item) {
	and := " "
	for _, write := range back {
		p.say(and)
		write(p)
		and = " and "
	}
	for i := range items {
		p.say(and)
		it := &items[i]
		w.phrase(p, it)
		if and = " and "; it.short != "" {
			and = " "
		}
	}
}

func (w *Writer) phrase(p *page, it *item) {
	switch {
	case it.plain != "":
		w.plain(p, it)
	case it.short != "":
		p.fill(it.short, "", it.value, "")
	case it.many():
		p.fill(w.one(manyInline), it.phrase, it.value, "")
	default:
		p.fill(w.one(oneInline), it.phrase, it.value, "")
	}
}

func (w *Writer) plain(p *page, it *item) {
	before, after, _ := strings.Cut(it.form, "{name}")
	p.fill(before+"%p"+after, it.phrase, "", "")
}

// rest writes arguments after the sentence of the request.
func (w *Writer) rest(p *page, items []item) {
	if len(items) > 1 && (len(items) > 4 || w.percent(50)) {
		p.next()
		p.say(w.one(details))
		between, last := ", ", " and "
		if w.pick(2) == 0 {
			between, last = "; ", "; "
		}
		p.capital = false
		for i := range items {
			switch {
			case i > 0 && i == len(items)-1:
				p.say(last)
			case i > 0:
				p.say(between)
			}
			if items[i].plain != "" {
				w.plain(p, &items[i])
				continue
			}
			phrase := items[i].phrase
			if i > 0 && items[i-1].plain == "" { // "name of the first row Ada, its value 7"
				head, owner, nested := strings.Cut(phrase, " of the ")
				if _, before, ok := strings.Cut(items[i-1].phrase, " of the "); ok && nested && owner == before {
					phrase = "its " + head
				}
			}
			p.fill("%p %v", phrase, items[i].value, "")
		}
		p.end(".")
		return
	}
	for i := range items {
		p.next()
		w.sentence(p, &items[i])
	}
}

func (w *Writer) sentence(p *page, it *item) {
	switch {
	case it.plain != "":
		p.say(w.one(plainSentences))
		w.plain(p, it)
		p.end(".")
	case it.many():
		p.fill(w.one(manySentences), it.phrase, it.value, "")
	default:
		p.fill(w.one(oneSentences), it.phrase, it.value, "")
	}
}

// several asks for tasks in one sentence or in one for each.
func (w *Writer) several(p *page, tasks []Task, c clause, first told, follow bool) {
	all := []told{first}
	short, chained := len(first.items) <= 2, false
	for i := 1; i < len(tasks); i++ {
		t := w.told(tasks, i)
		short = short && len(t.items)+len(t.back) <= 3
		for j := range tasks[i].Slots {
			chained = chained || tasks[i].Slots[j].From > 0 && tasks[i].Slots[j].From <= i
		}
		all = append(all, t)
	}
	together := short && w.percent(65)
	mark := ""
	for i, t := range all {
		if i == 0 {
			c.askable = c.askable && !together // "I need the weather and delete the note" is no sentence
			mark = w.open(p, c, follow, false)
		} else {
			again := together && !chained && tasks[i].Tool == tasks[i-1].Tool && len(t.items) > 0 && len(t.back) == 0
			switch {
			case again && i+1 == len(all):
				p.say(w.one(againJoins))
				c = clause{}
			case again:
				p.say(w.one(againBetween))
				c = clause{}
			case together && i+1 < len(all) && !chained:
				p.say(", ")
				c = w.clause(tasks[i].Tool)
			case together && chained:
				p.say(w.one(thenJoins))
				c = w.clause(tasks[i].Tool)
			case together:
				p.say(w.one(alsoJoins))
				c = w.clause(tasks[i].Tool)
			case chained:
				p.next()
				mark = w.opened(p, w.one(thenSentences))
				c = w.clause(tasks[i].Tool)
			default:
				p.next()
				mark = w.opened(p, w.one(alsoSentences))
				c = w.clause(tasks[i].Tool)
			}
			if c.verb != "" {
				p.put("{request}", c.verb+" "+c.object, false)
			} else {
				// "do the same " has its blank already.
				p.trim()
			}
		}
		inline := len(t.items)
		if !together && inline > 2 {
			inline = w.pick(3)
		}
		w.inline(p, t.back, t.items[:inline])
		if !together {
			p.end(mark)
			w.rest(p, t.items[inline:])
		}
	}
	if together {
		p.end(mark)
	}
}

// opened writes the start of a further sentence and returns its mark.
func (w *Writer) opened(p *page, start string) string {
	p.say(start)
	if strings.HasPrefix(start, "could") || strings.HasPrefix(start, "can") {
		return "?"
	}
	return "."
}

// A clause is what a user wants: a verb with its object.
type clause struct {
	verb, object string
	askable      bool
}

// Clauses for a tool whose every word would give something away.
var vague = []string{"do this", "take care of this", "handle this", "see to this", "help me with this", "get this done", "deal with this"}

// clause draws what the user wants from what is said about a tool. It avoids words that give a name or a value away.
func (w *Writer) clause(t *Tool) clause {
	start := 0
	if n := len(t.said); n > 1 && w.percent(10) {
		start = w.pick(n)
	}
	for i := range t.said {
		if c, ok := w.phrased(&t.said[(start+i)%len(t.said)]); ok {
			return c
		}
	}
	if c, ok := w.phrased(&t.turned); ok {
		return c
	}
	verb, object, _ := strings.Cut(w.one(vague), " ")
	return clause{verb, object, false}
}

// phrased draws a verb for an object; false if none of them keeps what must be kept.
func (w *Writer) phrased(f *phrasing) (clause, bool) {
	if len(f.verbs) == 0 {
		return clause{}, false
	}
	at, object := w.pick(len(f.verbs)), mine(f.object)
	for j := range f.verbs {
		if verb := f.verbs[(at+j)%len(f.verbs)]; !w.leaks(verb + " " + object) {
			return clause{verb, object, f.askable}, true
		}
	}
	// A verb and its object may be the name together; an article keeps them apart.
	apart := definite(object)
	return clause{f.verbs[at], apart, f.askable}, apart != object && !w.leaks(f.verbs[at]+" "+apart)
}

// mine turns an object from the words of who describes a tool into those of who uses it.
func mine(object string) string {
	if !strings.Contains(object, "your") && !strings.Contains(object, "Your") {
		return object
	}
	words := strings.Fields(object)
	for i, w := range words {
		switch lowered(w) {
		case "your":
			words[i] = "my"
		case "yours":
			words[i] = "mine"
		}
	}
	return strings.Join(words, " ")
}
