package wording

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A page is a text in the making, with its template beside it.
type page struct {
	text, template []byte
	capital        bool // the next word starts a sentence
}

func (p *page) reset() { p.text, p.template, p.capital = p.text[:0], p.template[:0], true }

// say writes words of ours.
func (p *page) say(s string) {
	if s == "" {
		return
	}
	n, m := len(p.text), len(p.template)
	p.text, p.template = append(p.text, s...), append(p.template, s...)
	if p.capital && s[0] >= 'a' && s[0] <= 'z' {
		p.text[n] -= 'a' - 'A'
		p.template[m] -= 'a' - 'A'
	}
	p.capital = false
}

// put writes what comes from elsewhere, under the name of its slot. Words are capitalized at the start of a sentence;
// what has to stand verbatim never is.
func (p *page) put(slot, s string, verbatim bool) {
	n := len(p.text)
	p.text = append(p.text, s...)
	if p.capital && !verbatim && s != "" {
		if s[0] >= 'a' && s[0] <= 'z' {
			p.text[n] -= 'a' - 'A'
		} else if r, size := utf8.DecodeRuneInString(s); r >= utf8.RuneSelf && r != utf8.RuneError {
			p.text = append(utf8.AppendRune(p.text[:n], unicode.ToUpper(r)), s[size:]...)
		}
	}
	p.template = append(p.template, slot...)
	p.capital = false
}

// fill writes a format: %p is a name, %q another (given as value), %v a value, %r a request.
func (p *page) fill(format, name, value, request string) {
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			p.say(format)
			return
		}
		p.say(format[:i])
		switch format[i+1] {
		case 'p':
			p.put("{name}", name, false)
		case 'q':
			p.put("{name}", value, false)
		case 'v':
			p.put("{value}", value, true)
		case 'r':
			p.put("{request}", request, false)
		}
		format = format[i+2:]
	}
}

// end closes a sentence.
func (p *page) end(mark string) {
	p.say(mark)
	p.capital = true
}

// trim takes back the blank at the end.
func (p *page) trim() {
	if n := len(p.text); n > 0 && p.text[n-1] == ' ' {
		p.text, p.template = p.text[:n-1], p.template[:len(p.template)-1]
	}
}

// next begins a further sentence, after a blank.
func (p *page) next() {
	if n := len(p.text); n > 0 && p.text[n-1] != '\n' {
		p.text, p.template = append(p.text, ' '), append(p.template, ' ')
	}
	p.capital = true
}

func (p *page) done() Text { return Text{string(p.text), string(p.template)} }

// pick returns an index in [0, n). Several small choices share the bits of one draw: a choice takes the high half of the
// product, the low half is as good as a new number as long as bits are left.
func (w *Writer) pick(n int) int {
	if w.room < 1<<32 {
		w.bits, w.room = w.Draws.Key(), 1<<63
	}
	hi, lo := bits.Mul64(w.bits, uint64(n))
	w.bits, w.room = lo, w.room/uint64(n)
	return int(hi)
}

// percent is true p times in a hundred.
func (w *Writer) percent(p int) bool { return w.pick(100) < p }

func (w *Writer) one(items []string) string { return items[w.pick(len(items))] }

// leaks says whether a text has a word sequence that must not occur in it: a name, or a value that is not told.
func (w *Writer) leaks(s string) bool {
	w.said.Read(s)
	return w.contains(w.Avoid) || w.contains(w.untold) || slices.ContainsFunc(w.marks, func(n string) bool { return strings.Contains(s, n) })
}

func (w *Writer) contains(sequences [][]string) bool {
	for _, seq := range sequences {
		if len(seq) > 0 && w.said.Has(seq) {
			return true
		}
	}
	return false
}

// start begins a text. It notes the values that the tasks do not tell, so that no word of ours happens to say one.
func (w *Writer) start(tasks []Task) {
	w.room, w.untold, w.marks = 0, w.untold[:0], w.marks[:0]
	for i := range tasks {
		for j := range tasks[i].Slots {
			if s := &tasks[i].Slots[j]; s.Hidden || s.From > 0 {
				w.keep(&s.Leaf)
			}
		}
	}
}

// keep adds a value to what is not told.
func (w *Writer) keep(l *schema.Leaf) {
	said := names.Words(l.Value.Text)
	w.untold = append(w.untold, said)
	if l.Value.Kind == jsonval.Number || len(said) == 0 && l.Value.Text != "" {
		w.marks = append(w.marks, l.Value.Text)
	}
	if n, ok := smallNumber(l.Value.Text); ok {
		w.untold = append(w.untold, []string{names.NumberWords[n]})
	}
}

// write makes a text that keeps its secrets: in a few tries with other choices, and with the last one if all fail, as they
// do when a value that has to be told has a name in it. A user's text has three words at least.
func (w *Writer) write(compose func(p *page)) Text {
	const tries = 12
	for range tries {
		w.page.reset()
		compose(&w.page)
		if !w.leaks(string(w.page.text)) && len(w.said.Words) >= 3 {
			break
		}
	}
	return w.page.done()
}
