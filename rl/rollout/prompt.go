package rollout

import (
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// A prompt is what an agent remembers of an episode, as tokens. Its sequence for a turn is
//
//	BOS task [ Sep notes ] { Sep shown Act action EndAct } Sep shown Act
//
// with the last turns in braces, the oldest first, and without the part in brackets where there are no notes.
type prompt struct {
	words   *Tokenizer
	history int // turns in braces
	room    int // most tokens
	names   Names
	notes   string
	given   []int // the notes
	task    []int
	told    string // the task as it was told in Data; empty where it is the first text that says anything
	unread  bool   // the last answer could not be read
	past    []exchange
}

// An exchange is one turn of the past.
type exchange struct{ shown, action []int }

// banner is what the harness puts above the present observation after an answer that could not be read.
const banner = "[invalid action] "

// read returns the tokens of what a turn shows, without the task.
func (p *prompt) read(t envharness.Turn) []int {
	if t.Index == 0 {
		p.names.reset()
		p.task, p.given, p.told, p.unread, p.past = nil, nil, "", false, p.past[:0]
	}
	if told, ok := t.Shown.Data["task"].(string); ok && told != p.told {
		if task := p.words.Encode(nil, &p.names, told); len(task) > 0 {
			p.task, p.told = task, told
		}
	}
	var shown []int
	if t.Error != nil {
		shown = p.words.Encode(shown, &p.names, refusalText(t.Error.Class))
	}
	text := t.Shown.Text
	if p.unread && strings.HasPrefix(text, banner) {
		_, text, _ = strings.Cut(text, "\n\n") // that the class says, in fewer words
	}
	start := len(shown)
	shown = p.words.Encode(shown, &p.names, text)
	if len(p.task) == 0 {
		p.task = slices.Clone(shown[start:])
	}
	if t.Index == 0 {
		if p.given = p.words.Encode([]int{Sep}, &p.names, p.notes); len(p.given) == 1 {
			p.given = nil // no notes
		}
	}
	// Texts that repeat the task are common. A first text that has to serve as the task may be part of later ones by chance.
	rest := shown[start:]
	if n := len(p.task); len(rest) >= n && slices.Equal(rest[:n], p.task) && (p.told != "" || len(rest) == n) {
		shown = append(shown[:start], rest[n:]...)
	}
	return shown
}

// context appends the sequence for a turn that shows what read returned. What does not fit is left out: the oldest turns first, then what
// is shown from the left, then the notes and the task from the right.
func (p *prompt) context(dst, shown []int) []int {
	task, past := p.task, p.past[max(0, len(p.past)-p.history):]
	given := p.given
	n := 3 + len(task) + len(given) + len(shown)
	for _, e := range past {
		n += 3 + len(e.shown) + len(e.action)
	}
	for n > p.room && len(past) > 0 {
		n -= 3 + len(past[0].shown) + len(past[0].action)
		past = past[1:]
	}
	if n > p.room {
		k := min(n-p.room, len(shown))
		shown, n = shown[k:], n-k
	}
	if n > p.room {
		k := min(n-p.room, len(given))
		given, n = given[:len(given)-k], n-k
	}
	if n > p.room {
		task = task[:len(task)-(n-p.room)]
	}
	dst = append(append(dst, BOS), task...)
	dst = append(dst, given...)
	for _, e := range past {
		dst = append(append(dst, Sep), e.shown...)
		dst = append(append(dst, Act), e.action...)
		dst = append(dst, EndAct)
	}
	dst = append(append(dst, Sep), shown...)
	return append(dst, Act)
}

// acted notes the turn that read was called for. Of an answer that could not be read no action stays.
func (p *prompt) acted(shown, action []int, readable bool) {
	p.unread = !readable
	if p.history == 0 {
		return
	}
	if len(p.past) == p.history {
		copy(p.past, p.past[1:])
		p.past = p.past[:len(p.past)-1]
	}
	p.past = append(p.past, exchange{shown, action})
}
