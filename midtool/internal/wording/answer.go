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
}

// facts are what an answer chooses from.
type facts struct {
	told  []fact // short scalars of different names, in order
	flags []fact // booleans
	any   string // the shortest scalar that is too long for told
	items []string
	count int // of the list that items come from; -1 if there is none
}

// Bounds of what is looked at in a result and of what is restated in a sentence.
const (
	maxLooked = 2048
	maxFacts  = 32
	maxFact   = 80
)

// gather reads a result, up to a bound on its size.
func gather(task *Task, result *jsonval.Value) facts {
	f := facts{count: -1}
	left := maxLooked
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
				f.list(n.List)
			}
			for i := range n.List {
				visit(&n.List[i], names.Singular(name), depth+1)
			}
		case jsonval.Bool:
			if len(f.flags) < maxFacts {
				f.flags = append(f.flags, fact{keyPhrase([]string{name}, false), n.Text, false})
			}
		case jsonval.String, jsonval.Number:
			switch {
			case !tellable(n.Text):
				if strings.TrimSpace(n.Text) != "" && (f.any == "" || len(n.Text) < len(f.any)) {
					f.any = n.Text
				}
			case len(f.told) < maxFacts:
				phrase := keyPhrase([]string{name}, false)
				if !slices.ContainsFunc(f.told, func(o fact) bool { return o.name == phrase }) {
					f.told = append(f.told, fact{phrase, n.Text, echoes(task, n.Text)})
				}
			}
		}
	}
	visit(result, "result", 0)
	return f
}

// list notes the first names of what a list holds.
func (f *facts) list(list []jsonval.Value) {
	for i := range list {
		if len(f.items) == 3 {
			break
		}
		v := &list[i]
		if v.Kind == jsonval.Object {
			v = nil
			for _, key := range []string{"name", "title", "label", "id", "key", "symbol", "url", "path"} {
				if m := list[i].Get(key); m != nil && (m.Kind == jsonval.String || m.Kind == jsonval.Number) && tellable(m.Text) {
					v = m
					break
				}
			}
		}
		if v == nil || v.Kind != jsonval.String && v.Kind != jsonval.Number || !tellable(v.Text) {
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

// Tables of answers (ours). %p is the name of a fact and %v its value, %q and %w those of another.
var (
	answerLeads = strings.Split(`done. |all done. |it worked. |that went through. |here is the outcome. |all set. |okay. |`+
		`finished. |here you go. |that worked out. |I have the result. |the call succeeded. |everything went well. |good news. |`+
		`this is what came back. |ready. |I looked into it. |there we are. |it is done. |completed. `, "|")
	oneFact = strings.Split(`the %p is %v.|I got %v as the %p.|the result gives the %p as %v.|`+
		`it came back with the %p %v.|the %p came out as %v.|according to the result, the %p is %v.|as for the %p, it is %v.|`+
		`the answer shows %v for the %p.|the %p reads %v.|%p: %v.|I found the %p: %v.|the %p now stands at %v.|`+
		`what came back is the %p %v.|the response lists the %p as %v.`, "|")
	twoFacts = strings.Split(`the %p is %v and the %q is %w.|the %p is %v, with %w as the %q.|`+
		`I got %v as the %p and %w as the %q.|it came back with the %p %v and the %q %w.|%p: %v, %q: %w.|`+
		`the %p reads %v; the %q is %w.|the result gives %p %v and %q %w.|as for the %p, it is %v; the %q is %w.|`+
		`the answer shows %v for the %p and %w for the %q.|the %p came out as %v, the %q as %w.|with the %q %w, the %p is %v.|`+
		`the %q is %w and the %p %v.`, "|")
	listFacts = strings.Split(`I found %n entries: %l.|there are %n of them: %l.|%n entries came back: %l.|`+
		`the result has %n entries: %l.|the list holds %n entries: %l.|I see %n results: %l.|in all there are %n: %l.|`+
		`%n matches came up: %l.|the search gave %n results: %l.|%n of them are there: %l.|I got a list of %n: %l.|`+
		`the answer names %n entries: %l.|it lists %n in total: %l.|the count is %n: %l.`, "|")
	singleItem = strings.Split(`I found a single entry: %l.|there is just %l.|the only entry is %l.|only %l came back.|`+
		`the list holds nothing but %l.|the result has a single entry, %l.|all that came up is %l.|`+
		`the answer names %l and nothing else.|it comes down to %l.`, "|")
	firstItems = strings.Split(`I found %n entries. The first are %l.|there are %n of them, beginning with %l.|`+
		`%n entries came back, starting with %l.|the result has %n entries; at the top are %l.|`+
		`the list holds %n entries. It begins with %l.|I see %n results, among them %l.|in all there are %n, the first being %l.|`+
		`I got a list of %n, headed by %l.|the answer names %n entries. Among them are %l.|of %n entries, the first are %l.`, "|")
	flagFacts = strings.Split(`%p is %v.|the result says %v for %p.|%p came back as %v.|%p: %v.|`+
		`the response has %p as %v.|I got %v for %p.|the value of %p is %v.|the answer to %p is %v.|for %p it says %v.|`+
		`%p was reported as %v.|%p is given as %v.|the field %p holds %v.`, "|")
	textFacts = strings.Split("here is what came back:\n\n%v\n\n|the result is this text:\n\n%v\n\n|"+
		"I got the following:\n\n%v\n\n|this is the content:\n\n%v\n\n|the answer reads as follows:\n\n%v\n\n", "|")
	noFacts = strings.Split(`the result is %v.|what came back is %v.|it returned %v.|the answer is just %v.|`+
		`all I got is %v.|the response was %v.`, "|")
	answerClosings = strings.Split(`Let me know if you need more.|Is there anything else?|`+
		`Tell me if you want the details.|Just ask if something is unclear.|I can look further if you like.|`+
		`That is what the result says.|Do you need anything more?|Happy to go on from here.|Tell me what to do next.|`+
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
	w.maybe(p, 75, answerLeads)
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
	if chained || last == 0 || last >= maxTold {
		w.conclude(p, gather(task(last), results[last]), true)
	} else {
		for i, r := range results {
			if i > 0 {
				p.next()
			}
			w.label(p, tasks, i)
			w.conclude(p, gather(task(i), r), false)
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
				p.fill(w.one([]string{"for %v, ", "with %v, ", "for %v: ", "with %v: ", "about %v: "}), "", s.Value.Text, "")
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
	p.say(w.one([]string{"for ", "from ", "as to ", "about "}) + n + w.one([]string{", ", ": "}))
}

// conclude writes a sentence about one result.
func (w *Writer) conclude(p *page, f facts, alone bool) {
	switch {
	case f.count > 0 && len(f.items) > 0 && (len(f.told) == 0 || w.percent(80)):
		w.tellList(p, f)
	case len(f.told) > 0:
		w.tellFacts(p, f, alone)
	case f.any != "":
		w.tellText(p, f.any)
	case len(f.flags) > 0:
		b := f.flags[w.pick(len(f.flags))]
		w.tell(p, w.one(flagFacts), b, fact{})
	default:
		w.tell(p, w.one(noFacts), fact{text: "empty"}, fact{})
	}
}

func (w *Writer) tellFacts(p *page, f facts, alone bool) {
	fresh := make([]fact, 0, len(f.told))
	for _, x := range f.told {
		if !x.echo {
			fresh = append(fresh, x)
		}
	}
	if len(fresh) == 0 {
		fresh = f.told
	}
	// The first facts of a result are the main ones.
	at := w.pick(min(len(fresh), 4))
	if others := len(f.told); others > 1 && alone && w.percent(60) || others > 1 && w.percent(25) {
		other := f.told[w.pick(others)]
		if other.name != fresh[at].name {
			w.tell(p, w.one(twoFacts), fresh[at], other)
			return
		}
	}
	w.tell(p, w.one(oneFact), fresh[at], fact{})
}

// tell fills a format with facts. A value that ends like a sentence stands in quotes, so that the text does not end in
// dots that mean something left out.
func (w *Writer) tell(p *page, format string, a, b fact) {
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
		}
		format = format[i+2:]
	}
}

func closed(s string) string {
	if names.HasAnySuffix(s, ".", "…", "!", "?", ",", ";", ":") {
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
