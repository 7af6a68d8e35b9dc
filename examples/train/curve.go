package main

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"text/tabwriter"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/throughline-go/throughline/internal/atomicfile"
	"github.com/throughline-go/throughline/rl/train"
)

// A point is a row of the learning curve: an evaluation, with the iterations since the one before it.
type point struct {
	Iteration  int      `json:"iteration"`
	EnvSteps   int      `json:"env_steps"`
	Train      *float64 `json:"success_train,omitempty"` // mean over the episodes of those iterations; nil before training
	Validation *float64 `json:"success_val,omitempty"`   // nil without evaluations
}

// curve returns the points of the learning curve. Without evaluations every iteration is one.
func curve(all []train.Iteration) []point {
	evaluated := false
	for _, it := range all {
		evaluated = evaluated || it.Evaluation != nil
	}
	var points []point
	var passed, episodes float64
	for i, it := range all {
		judged := float64(it.Episodes - it.Excluded)
		passed += it.Success * judged
		episodes += judged
		if evaluated && it.Evaluation == nil && i < len(all)-1 {
			continue
		}
		p := point{Iteration: it.Number, EnvSteps: it.EnvSteps}
		if episodes > 0 {
			p.Train = new(passed / episodes)
		}
		if it.Evaluation != nil {
			p.Validation = new(it.Evaluation.Success)
		}
		points = append(points, p)
		passed, episodes = 0, 0
	}
	return points
}

// printCurve prints the points as a table.
func printCurve(w io.Writer, points []point) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "iteration\tenv steps\ttrain\tvalidation\t")
	cell := func(share *float64) string {
		if share == nil {
			return "-"
		}
		return percent(*share)
	}
	for _, p := range points {
		fmt.Fprintf(tw, "%d\t%d\t%s\t%s\t\n", p.Iteration, p.EnvSteps, cell(p.Train), cell(p.Validation))
	}
	return tw.Flush()
}

// Two colours that the colour-blind can tell apart (Okabe and Ito).
var (
	blue       = color.NRGBA{G: 114, B: 178, A: 255}
	vermillion = color.NRGBA{R: 213, G: 94, A: 255}
)

// ticks returns the marks from 0 up to a number, each with a label; they are 1, 2 or 5 times a power of ten apart, which makes six to eleven of them.
func ticks(most float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10(most)))
	if most < 2*step {
		step /= 5
	} else if most < 5*step {
		step /= 2
	}
	var marks []plot.Tick
	for i := 0; float64(i)*step <= most; i++ {
		value := float64(i) * step
		marks = append(marks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'g', 10, 64)})
	}
	return marks
}

// drawCurve writes curve.svg and curve.png into a folder: success over the steps of training episodes, in training for each iteration, on validation
// where it was evaluated. Equal iterations make equal files.
func drawCurve(dir, title string, all []train.Iteration) error {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text = "environment steps"
	p.Y.Label.Text = "success"
	p.X.Tick.Marker = plot.TickerFunc(func(_, most float64) []plot.Tick { return ticks(most) })
	p.Y.Tick.Marker = plot.TickerFunc(func(_, _ float64) []plot.Tick { return ticks(1) })
	p.Title.Padding = vg.Points(6)
	p.Legend.Padding = vg.Points(2)
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	var training, validation plotter.XYs
	for _, it := range all {
		if it.Number > 0 {
			training = append(training, plotter.XY{X: float64(it.EnvSteps), Y: it.Success})
		}
		if it.Evaluation != nil {
			validation = append(validation, plotter.XY{X: float64(it.EnvSteps), Y: it.Evaluation.Success})
		}
	}
	for _, s := range []struct {
		name   string
		points plotter.XYs
		color  color.Color
		dashes []vg.Length
	}{
		{"train", training, vermillion, []vg.Length{vg.Points(4), vg.Points(2)}},
		{"validation", validation, blue, nil},
	} {
		if len(s.points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(s.points)
		if err != nil {
			return err
		}
		line.Color, line.Dashes, line.Width = s.color, s.dashes, vg.Points(1.2)
		dots.Color, dots.Radius = s.color, vg.Points(1.8)
		p.Add(line, dots)
		p.Legend.Add(s.name, line, dots)
	}
	// Points at the edge of the range are not to be cut, and a curve of one point needs a range.
	p.Y.Min, p.Y.Max = -0.02, 1.02
	if p.X.Max <= p.X.Min {
		p.X.Min, p.X.Max = 0, 1
	}
	p.X.Min = 0
	for _, format := range []string{"svg", "png"} {
		to, err := p.WriterTo(16*vg.Centimeter, 10*vg.Centimeter, format)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if _, err := to.WriteTo(&b); err != nil {
			return err
		}
		if err := atomicfile.Write(filepath.Join(dir, "curve."+format), b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}
