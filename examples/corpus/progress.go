package main

import (
	"fmt"
	"io"
	"strings"
)

// progress shows how far a stage is: one line that is drawn again on a terminal, a plain line at the end of each stage elsewhere.
type progress struct {
	w           io.Writer
	bar         bool
	stage       string
	done, drawn int // drawn is the length of the bar, or the hundreds of documents, on the screen
	ended       bool
}

const width = 30

// show is told total 0 where the end is not known.
func (p *progress) show(stage string, done, total int) {
	if stage != p.stage {
		p.end()
		p.stage, p.drawn, p.ended = stage, -1, false
	}
	p.done = done
	if total > 0 && done == total {
		p.ended = true
	}
	if !p.bar {
		if p.ended {
			fmt.Fprintf(p.w, "%s: %d of %d done\n", stage, done, total)
		}
		return
	}
	if total == 0 {
		if done/100 != p.drawn {
			p.drawn = done / 100
			fmt.Fprintf(p.w, "\r%-10s %d ", stage, done)
		}
		return
	}
	if full := width * done / total; full != p.drawn || done == total {
		p.drawn = full
		fmt.Fprintf(p.w, "\r%-10s [%s%s] %d/%d ", stage, strings.Repeat("#", full), strings.Repeat(".", width-full), done, total)
	}
}

// end finishes the line of the present stage.
func (p *progress) end() {
	switch {
	case p.stage == "":
	case p.bar:
		fmt.Fprintln(p.w)
	case !p.ended:
		fmt.Fprintf(p.w, "%s: %d done\n", p.stage, p.done)
	}
	p.stage = ""
}

func (p *progress) finish() { p.end() }
