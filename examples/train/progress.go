package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/throughline-go/throughline/rl/train"
)

// progress shows how far training is: a line for each iteration, and on a terminal a bar below it that is drawn again and again.
type progress struct {
	w          io.Writer
	bar        bool
	iterations int // in all; 0 if that is not known
	number     int // of the last iteration
	training   bool
	stage      string
	drawn      int // length of the bar already drawn
	shown      int // columns of the line on the screen that the bar takes
}

const width = 30

// show is told of every episode and mini-batch. Elsewhere than on a terminal it notes the stages before and after the iterations alone.
func (p *progress) show(stage string, done, total int) {
	if !p.bar {
		if done == total && !p.training {
			fmt.Fprintf(p.w, "%s: %d of %d done\n", stage, done, total)
		}
		return
	}
	full := width
	if total > 0 {
		full = width * done / total
	}
	if stage != p.stage {
		p.stage, p.drawn = stage, -1
	}
	if full == p.drawn && done != total {
		return
	}
	p.drawn = full
	name := stage
	switch {
	case !p.training || strings.HasPrefix(stage, "evaluate"): // the first evaluation is before the first iteration
	case p.iterations > 0:
		name = fmt.Sprintf("%d/%d %s", p.number+1, p.iterations, stage)
	default:
		name = fmt.Sprintf("%d %s", p.number+1, stage)
	}
	line := fmt.Sprintf("%-26s [%s%s] %d/%d", name, strings.Repeat("#", full), strings.Repeat(".", width-full), done, total)
	fmt.Fprintf(p.w, "\r%-*s", p.shown, line)
	p.shown = len(line)
}

// iteration puts the line of an iteration where the bar was.
func (p *progress) iteration(it train.Iteration) {
	p.clear()
	p.number = it.Number
	line := fmt.Sprintf("iteration %d: %d steps", it.Number, it.EnvSteps)
	if it.Number == 0 {
		line = "before training"
	} else {
		line += ", train " + percent(it.Success)
	}
	if it.Evaluation != nil {
		line += fmt.Sprintf(", %s %s", it.Evaluation.Split, percent(it.Evaluation.Success))
		if it.Best {
			line += " (best)"
		}
	}
	fmt.Fprintln(p.w, line)
}

// say prints a line of text.
func (p *progress) say(format string, args ...any) {
	p.clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.shown > 0 {
		fmt.Fprintf(p.w, "\r%*s\r", p.shown, "")
	}
	p.stage, p.shown = "", 0
}

// percent writes a share.
func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
