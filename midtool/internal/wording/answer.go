package wording

import (
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
)

// A fact is a scalar of a result with its name.
type fact struct {
	name string
	text string
	echo bool // an argument of the call come back
	thin bool // a word that says no more than that the call went through: "ok"
}

// facts are what an answer chooses from.
type facts struct {
	told    []fact // short scalars of different names, in order; those inside lists only if there are no others
	flags   []fact // booleans
	any     string // the shortest scalar that is too long for told
	anyEcho bool   // any is an argument of the call come back
	items   []string
	count   int  // of the list that items come from; -1 if there is none
	main    bool // the result is the list, or says so
}

// Bounds of what is looked at in a result and of what is restated in a sentence.
const (
	maxLooked = 2048
	maxFacts  = 32
	maxFact   = 80
	maxText   = 600 // of a text that is told although shorter facts are there that say nothing
	// Phrases that are kept for later samples.
	maxPhrases = 1 << 12
)

// gather reads a result, up to a bound on its size.
func (w *Writer) gather(task *Task, result *jsonval.Value) facts {
	f := facts{count: -1}
	left := maxLooked
	var inside []fact // lists
	listed := false
	var visit func(n *jsonval.Value, name string, depth int)
	visit = func(n *jsonval.Value, name string, depth int) {
		if left--; left < 0 {
			return
		}
		switch n.Kind {
		case jsonval.Object:
			for i := range n.Members {
				visit(&n.Members[i].Value, n.Members[i].Key, depth+1)
			}
		case jsonval.List:
			if f.count < 0 && depth < 2 && len(n.List) > 0 {
				f.list(task, n.List)
				f.main = depth == 0 || mainLists[lowered(name)]
			}
			outer := listed
			listed = true
			for i := range n.List {
				visit(&n.List[i], names.Singular(name), depth+1)
			}
			listed = outer
		case jsonval.Bool:
			if len(f.flags) < maxFacts {
				f.flags = append(f.flags, fact{name: w.keyPhrase(name), text: n.Text, echo: echoes(task, n.Text)})
			}
		case jsonval.String, jsonval.Number:
			switch {
			case !tellable(n.Text):
				if strings.TrimSpace(n.Text) == "" {
					return
				}
				if echo := echoes(task, n.Text); f.any == "" || f.anyEcho && !echo || f.anyEcho == echo && len(n.Text) < len(f.any) {
					f.any, f.anyEcho = n.Text, echo
				}
			case len(f.told)+len(inside) < maxFacts:
				phrase := w.keyPhrase(name)
				named := func(o fact) bool { return o.name == phrase }
				if slices.ContainsFunc(f.told, named) || slices.ContainsFunc(inside, named) {
					return
				}
				x := fact{phrase, n.Text, echoes(task, n.Text), thinWords[strings.ToLower(n.Text)]}
				if listed {
					inside = append(inside, x)
				} else {
					f.told = append(f.told, x)
				}
			}
		}
	}
	visit(result, "result", 0)
	if !f.main && slices.ContainsFunc(f.told, fact.fresh) { // the tags of a thing are not what was asked for
		f.count, f.items = -1, nil
	}
	if len(f.told) == 0 {
		f.told = inside
	}
	return f
}

// keyPhrase is [keyPhrase] for one key of a result. The same keys come again and again.
func (w *Writer) keyPhrase(key string) string {
	phrase, ok := w.phrases[key]
	if !ok {
		phrase = keyPhrase([]string{key}, false)
		if w.phrases == nil || len(w.phrases) >= maxPhrases {
			w.phrases = make(map[string]string)
		}
		if len(key) <= maxFact {
			w.phrases[strings.Clone(key)] = phrase
		}
	}
	return phrase
}

// fresh says whether a fact tells what was not known before.
func (x fact) fresh() bool { return !x.echo && !x.thin }

// Keys of the lists that a result is about, whatever stands beside them.
var mainLists = names.WordSet("items results data entries records list matches hits")

// What a result says when it says nothing but that the call went through.
var thinWords = names.WordSet("ok okay success successful succeeded done true completed complete accepted")

// list notes the first names of what a list holds.
func (f *facts) list(task *Task, list []jsonval.Value) {
	for i := range list {
		if len(f.items) == 3 {
			break
		}
		v := &list[i]
		if v.Kind == jsonval.Object {
			v = nil
			for _, key := range []string{"name", "title", "label", "subject", "username", "id", "key", "symbol", "url", "path"} {
				if m := list[i].Get(key); m != nil && (m.Kind == jsonval.String || m.Kind == jsonval.Number) && tellable(m.Text) {
					v = m
					break
				}
			}
		}
		if v == nil || v.Kind != jsonval.String && v.Kind != jsonval.Number || !tellable(v.Text) || echoes(task, v.Text) {
			f.items = nil
			return
		}
		f.items = append(f.items, v.Text)
	}
	f.count = len(list)
}

func tellable(s string) bool {
	return len(s) <= maxFact && strings.TrimSpace(s) != "" && !strings.ContainsAny(s, "\r\n")
}

func echoes(task *Task, text string) bool {
	return task != nil && slices.ContainsFunc(task.Slots, func(s Slot) bool { return s.Value.Text == text })
}

// Tables of answers (ours). %p is the name of a fact and %v its value, %q and %w those of another, %r what was done.
var (
	answerLeads = strings.Split(`done. |all done. |it worked. |that went through. |all set. |okay. |here you are. |`+
		`finished. |here you go. |that worked out. |I have the result. |the call succeeded. |everything went well. |good news. |`+
		`ready. |I looked into it. |there we are. |it is done. |completed. |that is done. `, "|")
	oneFact = strings.Split(`the %p is %v.|I got %v as the %p.|the result gives the %p as %v.|`+
		`it came back with %v as the %p.|the %p came out as %v.|according to the result, the %p is %v.|it says %v for the %p.|`+
		`the answer shows %v for the %p.|the result has the %p %v.|%p: %v.|I found the %p: %v.|the %p turned out to be %v.|`+
		`what came back for the %p is %v.|the response lists the %p as %v.`, "|")
	oneFacts = strings.Split(`the %p are %v.|I got %v as the %p.|the result gives the %p as %v.|it came back with %v as the %p.|`+
		`the %p came out as %v.|according to the result, the %p are %v.|the answer shows %v for the %p.|the result has the %p %v.|`+
		`%p: %v.|I found the %p: %v.|the %p turned out to be %v.|%v came back for the %p.|the response lists the %p as %v.`, "|")
	twoFacts = strings.Split(`the %p is %v and the %q is %w.|the %p is %v, with %w as the %q.|`+
		`I got %v as the %p and %w as the %q.|it came back with %v as the %p and %w as the %q.|%p: %v, %q: %w.|`+
		`the %p is %v; the %q is %w.|the result gives %v as the %p and %w as the %q.|it says %v for the %p and %w for the %q.|`+
		`the answer shows %v for the %p and %w for the %q.|the %p came out as %v, the %q as %w.|I found the %p %v and the %q %w.|`+
		`the %q is %w and the %p %v.`, "|")
	manyFacts = strings.Split(`I got %v as the %p and %w as the %q.|it came back with %v as the %p and %w as the %q.|%p: %v, %q: %w.|`+
		`the result gives %v as the %p and %w as the %q.|the answer shows %v for the %p and %w for the %q.|`+
		`the %p came out as %v, the %q as %w.|I found the %p %v and the %q %w.|the response has %v for the %p and %w for the %q.|`+
		`%v is what came back for the %p, %w for the %q.|the result lists the %p as %v and the %q as %w.`, "|")
	// What stands before several facts.
	severalFacts = strings.Split(`I got |the result gives |it came back with |I found |here is what I have: |the response has |`+
		`this is what I found: |the answer shows |here are the main points: |what I have is |the result lists `, "|")
	// A fact whose name says nothing: "result".
	bareFact = strings.Split(`the result is %v.|it comes to %v.|I got %v.|it returned %v.|what came back is %v.|the answer is %v.|`+
		`that gives %v.|the outcome is %v.|the result came out as %v.|the call returned %v.|the response is %v.`, "|")
	// All that came back is that it went through, or what was given.
	thinFacts = strings.Split(`the request to %r went through; the %p is %v.|the %p is %v: the request to %r went through.|`+
		`I managed to %r, and the %p is %v.|the request to %r came back with %v as the %p.|`+
		`the tool answered the request to %r with %v as the %p.|I was able to %r; the result gives the %p as %v.|`+
		`the call to %r returned %v as the %p.|the result of the request to %r has the %p %v.|`+
		`for the request to %r, the %p is %v.|the %p came out as %v, so the request to %r went through.|`+
		`there were no problems with the request to %r: the %p is %v.|the attempt to %r worked out, with %v as the %p.`, "|")
	allThin = strings.Split(`all %n calls went through; the %p is %v for each of them.|each of the %n calls came back with %v as the %p.|`+
		`the %p is %v for all %n of them.|all %n of them worked out, with %v as the %p.|the %n calls all give the %p as %v.|`+
		`none of the %n calls met a problem: the %p is %v each time.|every one of the %n requests has the %p %v.|`+
		`%n times the %p came out as %v, so all requests went through.|all %n calls worked: the %p is %v.|`+
		`for all %n requests, the %p is %v.|I got %v as the %p for each of the %n.|the %p came out as %v all %n times.`, "|")
	bothThin = strings.Split(`both calls went through; the %p is %v for each of them.|both calls came back with %v as the %p.|`+
		`the %p is %v for both of them.|both of them worked out, with %v as the %p.|the two calls both give the %p as %v.|`+
		`neither of the calls met a problem: the %p is %v each time.|both requests have the %p %v.|`+
		`twice the %p came out as %v, so both requests went through.|both calls worked: the %p is %v.|`+
		`for both requests, the %p is %v.|I got %v as the %p for both of them.|the %p came out as %v both times.`, "|")
	listFacts = strings.Split(`I found %n entries: %l.|there are %n of them: %l.|%n entries came back: %l.|`+
		`the result has %n entries: %l.|the list holds %n entries: %l.|I see %n results: %l.|in all there are %n: %l.|`+
		`%n entries came up: %l.|there are %n results: %l.|I count %n of them: %l.|I got a list of %n: %l.|`+
		`the answer names %n entries: %l.|it lists %n in total: %l.|the count is %n: %l.`, "|")
	singleItem = strings.Split(`I found a single entry: %l.|there is just %l.|the only entry is %l.|only %l came back.|`+
		`the list holds nothing but %l.|the result has a single entry, %l.|all that came up is %l.|`+
		`the answer names %l and nothing else.|it comes down to %l.|one entry came back: %l.|there is one result: %l.|`+
		`I got a list of one: %l.`, "|")
	firstItems = strings.Split(`I found %n entries. The first are %l.|there are %n of them, beginning with %l.|`+
		`%n entries came back, starting with %l.|the result has %n entries; at the top are %l.|`+
		`the list holds %n entries. It begins with %l.|I see %n results, among them %l.|in all there are %n, the first being %l.|`+
		`I got a list of %n, headed by %l.|the answer names %n entries. Among them are %l.|of %n entries, the first are %l.`, "|")
	flagFacts = strings.Split(`%p is said to be %v.|the result says %v for %p.|%p came back as %v.|%p: %v.|`+
		`the response has %p as %v.|I got %v for %p.|the value for %p is %v.|the answer says %v for %p.|for %p it says %v.|`+
		`%p was reported as %v.|%p is given as %v.|the field for %p holds %v.`, "|")
	textFacts = strings.Split("here is what came back:\n\n%v\n\n|the result is this text:\n\n%v\n\n|"+
		"I got the following:\n\n%v\n\n|this is the content:\n\n%v\n\n|the answer reads as follows:\n\n%v\n\n", "|")
	noFacts = strings.Split(`the result is %v.|what came back is %v.|it returned %v.|the answer is just %v.|`+
		`all I got is %v.|the response was %v.`, "|")
	answerClosings = strings.Split(`Let me know if you need more.|Is there anything else?|`+
		`Tell me if you want the details.|Just ask if something is unclear.|I can look further if you like.|`+
		`Do you need anything more?|Happy to go on from here.|What should I do next?|Let me know how to go on.|`+
		`I hope this helps.|That should cover it.|Shall I do anything else?`, "|")
)

// Answer restates at least one scalar of the last result verbatim; results are those of the tasks of the turn. For tasks
// side by side it tells something of each result.
func (w *Writer) Answer(tasks []Task, results []*jsonval.Value) Text {
	w.start(nil)
	w.page.reset()
	p := &w.page
	if len(results) == 0 {
		p.say("There is nothing to report.")
		return p.done()
	}
	w.maybe(p, 80, answerLeads)
	task := func(i int) *Task {
		if i < len(tasks) {
			return &tasks[i]
		}
		return nil
	}
	chained := false
	for i := range tasks {
		for j := range tasks[i].Slots {
			from := tasks[i].Slots[j].From
			chained = chained || from > 0 && from <= i
		}
	}
	last := len(results) - 1
	switch {
	case chained || last == 0 || last >= maxTold:
		w.conclude(p, w.gather(task(last), results[last]), task(last), true)
	case w.tellAll(p, tasks, results):
	default:
		for i, r := range results {
			if i > 0 {
				p.next()
			}
			w.label(p, tasks, i)
			w.conclude(p, w.gather(task(i), r), task(i), false)
		}
	}
	if p.text[len(p.text)-1] == '\n' || w.percent(50) {
		p.next()
		p.say(w.one(answerClosings))
	}
	return p.done()
}

// maxTold bounds the results that are told one by one.
const maxTold = 8

// tellAll writes one sentence about results that say the same of each call and no more; false if they do not.
func (w *Writer) tellAll(p *page, tasks []Task, results []*jsonval.Value) bool {
	var all fact
	for i, r := range results {
		if i >= len(tasks) {
			return false
		}
		f := w.gather(&tasks[i], r)
		at := slices.IndexFunc(f.told, func(x fact) bool { return x.thin })
		if at < 0 || f.count > 0 || slices.ContainsFunc(f.told, fact.fresh) || i > 0 && f.told[at] != all {
			return false
		}
		all = f.told[at]
	}
	formats := allThin
	if len(results) == 2 {
		formats = bothThin
	}
	w.tell(p, w.one(formats), all, fact{text: strconv.Itoa(len(results))}, "")
	return true
}

// label says which of several results a sentence is about: by the argument that tells the calls apart, or by number.
func (w *Writer) label(p *page, tasks []Task, i int) {
	if i < len(tasks) && len(tasks[i].Slots) > 0 && w.percent(70) {
		for j := range tasks[i].Slots {
			s := &tasks[i].Slots[j]
			different := s.Value.Kind == jsonval.String && tellable(s.Value.Text) && len(s.Value.Text) <= 40
			for k := range tasks {
				if k != i {
					different = different && tasks[k].Tool == tasks[i].Tool && j < len(tasks[k].Slots) && tasks[k].Slots[j].Value.Text != s.Value.Text
				}
			}
			if different {
				p.fill(w.one([]string{"for %v, ", "with %v, ", "for %v: ", "as for %v: ", "with %v: "}), "", closed(s.Value.Text), "")
				return
			}
		}
	}
	n := names.Ordinal(i)
	if i >= 10 {
		n = "result " + n
	} else {
		n = "the " + n + " " + w.one([]string{"call", "request"})
	}
	p.say(w.one([]string{"for ", "as for ", "regarding "}) + n + w.one([]string{", ", ": "}))
}

// conclude writes a sentence about one result.
func (w *Writer) conclude(p *page, f facts, task *Task, alone bool) {
	switch {
	case f.count > 0 && len(f.items) > 0:
		w.tellList(p, f)
	case f.any != "" && len(f.any) <= maxText && !f.anyEcho && !slices.ContainsFunc(f.told, fact.fresh):
		w.tellText(p, f.any)
	case len(f.told) > 0 && (slices.ContainsFunc(f.told, fact.fresh) || !slices.ContainsFunc(f.flags, fact.fresh)):
		w.tellFacts(p, f, task, alone)
	case f.any != "" && len(f.told) == 0:
		w.tellText(p, f.any)
	case len(f.flags) > 0:
		b := f.flags[max(0, slices.IndexFunc(f.flags, fact.fresh))]
		w.tell(p, w.one(flagFacts), b, fact{}, "")
	default:
		w.tell(p, w.one(noFacts), fact{text: "empty"}, fact{}, "")
	}
}

// tellFacts tells what is new in a result; where nothing is, that the call went through.
func (w *Writer) tellFacts(p *page, f facts, task *Task, alone bool) {
	fresh := make([]fact, 0, len(f.told))
	for _, x := range f.told {
		if x.fresh() {
			fresh = append(fresh, x)
		}
	}
	if len(fresh) == 0 {
		x := f.told[0]
		if i := slices.IndexFunc(f.told, func(x fact) bool { return x.thin }); i >= 0 {
			x = f.told[i]
		}
		if task != nil && task.Tool != nil && alone && !emptyNames[x.name] && !manyOf(x.name) {
			if deed := w.done(task.Tool); deed != "" {
				w.tell(p, w.one(thinFacts), x, fact{}, deed)
				return
			}
		}
		fresh = append(fresh, x)
	}
	if alone && len(fresh) > 2 && w.percent(40) {
		w.tellSeveral(p, fresh)
		return
	}
	// The first facts of a result are the main ones. A unit says nothing alone.
	n := min(len(fresh), 3)
	at := w.pick(n)
	for i := 0; i < n && sideNames[fresh[at].name]; i++ {
		at = (at + 1) % n
	}
	a, b := fresh[at], fact{}
	if len(fresh) > 1 && (w.percent(25) || alone && w.percent(50)) {
		b = fresh[(at+1+w.pick(len(fresh)-1))%len(fresh)]
	}
	switch many := manyOf(a.name); {
	case b.name != "" && b.name != a.name && !emptyNames[a.name] && !emptyNames[b.name]:
		if many || manyOf(b.name) {
			w.tell(p, w.one(manyFacts), a, b, "")
		} else {
			w.tell(p, w.one(twoFacts), a, b, "")
		}
	case emptyNames[a.name]:
		w.tell(p, w.one(bareFact), a, fact{}, "")
	case many:
		w.tell(p, w.one(oneFacts), a, fact{}, "")
	default:
		w.tell(p, w.one(oneFact), a, fact{}, "")
	}
}

// tellSeveral tells the first facts of a result in one sentence.
func (w *Writer) tellSeveral(p *page, facts []fact) {
	p.say(w.one(severalFacts))
	facts = facts[:min(len(facts), 3+w.pick(2))]
	with := w.one([]string{"the %p %v", "%v as the %p", "%v for the %p"})
	for i := range facts {
		switch {
		case i > 0 && i == len(facts)-1:
			p.say(" and ")
		case i > 0:
			p.say(", ")
		}
		w.tell(p, with, facts[i], fact{}, "")
	}
	p.say(".")
}

// Names of facts that say something beside others only.
var sideNames = names.WordSet("currency unit units type timezone format language")

// Names of facts that say nothing beside "the result".
var emptyNames = names.WordSet("result results output response answer value values outcome")

// manyOf says whether the name of a fact is a plural.
func manyOf(name string) bool {
	head, _, _ := strings.Cut(name, " of ")
	return plural(head[strings.LastIndexByte(head, ' ')+1:])
}

// tell fills a format with facts and, for %r, with a deed. A value that ends like a sentence stands in quotes,
// so that the text does not end in dots that mean something left out.
func (w *Writer) tell(p *page, format string, a, b fact, deed string) {
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			p.say(format)
			return
		}
		p.say(format[:i])
		switch format[i+1] {
		case 'p':
			p.put("{name}", a.name, false)
		case 'v':
			p.put("{fact}", closed(a.text), true)
		case 'q':
			p.put("{name}", b.name, false)
		case 'w':
			p.put("{fact}", closed(b.text), true)
		case 'n':
			p.put("{count}", b.text, true)
		case 'r':
			p.put("{request}", deed, false)
		}
		format = format[i+2:]
	}
}

// closed puts a text in quotes that would run into the sentence.
func closed(s string) string {
	words := strings.Count(s, " ")
	if names.HasAnySuffix(s, ".", "…", "!", "?", ",", ";", ":") ||
		words > 0 && !strings.Contains(s, `"`) && (words > 3 || s[0] >= 'a' && s[0] <= 'z' || strings.ContainsAny(s, ",;:()")) {
		return `"` + s + `"`
	}
	return s
}

// tellList counts the entries of a list and names the first.
func (w *Writer) tellList(p *page, f facts) {
	formats := listFacts
	switch {
	case f.count == 1:
		formats = singleItem
	case f.count > len(f.items):
		formats = firstItems
	}
	format := w.one(formats)
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			p.say(format)
			return
		}
		p.say(format[:i])
		if format[i+1] == 'n' {
			p.put("{count}", strconv.Itoa(f.count), true)
		} else {
			for j, it := range f.items {
				switch {
				case j > 0 && j == len(f.items)-1:
					p.say(" and ")
				case j > 0:
					p.say(", ")
				}
				p.put("{item}", closed(it), true)
			}
		}
		format = format[i+2:]
	}
}

// tellText restates a text that is too long for a sentence, whole; another sentence has to follow.
func (w *Writer) tellText(p *page, text string) {
	before, after, _ := strings.Cut(w.one(textFacts), "%v")
	p.say(before)
	p.put("{fact}", text, true)
	p.say(after)
}
