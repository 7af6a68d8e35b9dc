package main

import (
	"fmt"
	"io"
	"strings"
)

// progress shows how far each stage is: one line that is drawn again on a terminal, a plain line at the end of each stage elsewhere.
type progress struct {
	w     io.Writer
	bar   bool
	stage string
	drawn int // length of the bar already drawn
	warns int
}

const width = 30

func (p *progress) show(stage string, done, total int) {
	if !p.bar {
		if done == total {
			fmt.Fprintf(p.w, "%s: %d of %d done\n", stage, done, total)
		}
		return
	}
	full := width
	if total > 0 {
		full = width * done / total
	}
	if stage != p.stage {
		p.end()
		p.stage, p.drawn = stage, -1
	}
	if full == p.drawn && done != total {
		return
	}
	p.drawn = full
	fmt.Fprintf(p.w, "\r%-22s [%s%s] %d/%d ", stage, strings.Repeat("#", full), strings.Repeat(".", width-full), done, total)
}

// mostWarnings is how many warnings are shown one by one.
const mostWarnings = 10

func (p *progress) warn(message string) {
	p.end()
	p.warns++
	if p.warns <= mostWarnings {
		fmt.Fprintln(p.w, "left out or repaired:", message)
	}
}

// end finishes the line of the present stage.
func (p *progress) end() {
	if p.bar && p.stage != "" {
		fmt.Fprintln(p.w)
		p.stage = ""
	}
}

// finish ends the display.
func (p *progress) finish() {
	p.end()
	if more := p.warns - mostWarnings; more > 0 {
		fmt.Fprintf(p.w, "and %d more left out or repaired\n", more)
	}
}
