package grounded

import (
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool"
)

// Lengths of the excerpts that samples show, in tokens (ours): with the words around them they leave an item near its cost.
const (
	questionRoom = 80
	callRoom     = 100
	chainRoom    = 200
)

// Lengths in bytes from which a line is cut into sentences, and a sentence into words.
const (
	longUnit = 320
	maxUnit  = 4 * longUnit
)

// excerpt is a range of whole lines of a section, or of whole sentences of a long line, around a focus. It has so many tokens
// or, where the focus alone has more, the focus with what its lines and sentences have besides.
func (r *reading) excerpt(focus Span, room int) Span {
	section := r.sectionSpan(r.sectionAt(focus.Start)).union(focus)
	out := Span{r.unitStart(focus.Start, section.Start), r.unitEnd(focus.End, section.End)}
	room -= midtool.ApproxTokens(out.of(r.text))
	up, down := true, true
	for (up || down) && room > 0 {
		if up {
			start := r.unitStart(out.Start-1, section.Start)
			up = out.Start > section.Start && start < out.Start && r.fits(Span{start, out.Start}, &room)
			if up {
				out.Start = start
			}
		}
		if down {
			end := r.unitEnd(out.End+1, section.End)
			down = out.End < section.End && end > out.End && r.fits(Span{out.End, end}, &room)
			if down {
				out.End = end
			}
		}
	}
	return r.trimLines(out)
}

func (r *reading) fits(s Span, room *int) bool {
	if s.End-s.Start > 16*chainRoom {
		return false
	}
	n := midtool.ApproxTokens(s.of(r.text))
	if n > *room {
		return false
	}
	*room -= n
	return true
}

// trimLines takes empty lines off both ends, and keeps the blanks before the first word.
func (r *reading) trimLines(s Span) Span {
	inner := r.trim(s)
	if i := strings.LastIndexByte(r.text[s.Start:inner.Start], '\n'); i >= 0 {
		s.Start += i + 1
	}
	s.End = inner.End
	return s
}

// unitStart is where the line, or the sentence of a long line, begins that a place is in.
func (r *reading) unitStart(at, least int) int {
	if at <= least {
		return least
	}
	start := max(least, at-maxUnit)
	if i := strings.LastIndexByte(r.text[start:at], '\n'); i >= 0 {
		start += i + 1
	}
	if at-start <= longUnit {
		return start
	}
	for i := at - 1; i > start+1; i-- {
		if isBlank(r.text[i]) && strings.IndexByte(".!?", r.text[i-1]) >= 0 {
			return i + 1
		}
	}
	if at-start < maxUnit {
		return start
	}
	for i := at; i > start; i-- { // one endless line
		if isBlank(r.text[i-1]) || at-i > longUnit && utf8.RuneStart(r.text[i]) {
			return i
		}
	}
	return start
}

// unitEnd is where it ends.
func (r *reading) unitEnd(at, most int) int {
	if at >= most {
		return most
	}
	end := min(most, at+maxUnit)
	if i := strings.IndexByte(r.text[at:end], '\n'); i >= 0 {
		end = at + i
	}
	if end-at <= longUnit {
		return end
	}
	for i := at; i+1 < end; i++ {
		if strings.IndexByte(".!?", r.text[i]) >= 0 && isBlank(r.text[i+1]) {
			return i + 1
		}
	}
	if end-at < maxUnit {
		return end
	}
	for i := at; i < end; i++ {
		if isBlank(r.text[i]) || i-at > longUnit && utf8.RuneStart(r.text[i]) {
			return i
		}
	}
	return end
}

// shown is an excerpt with the heading above it.
func (r *reading) shown(s Span) string {
	heading := r.sections[r.sectionAt(s.Start)].heading
	text := s.of(r.text)
	if heading.empty() || s.has(heading) || heading.End-heading.Start > 120 || heading.Start >= s.Start {
		return text
	}
	return "# " + heading.of(r.text) + "\n\n" + text
}
