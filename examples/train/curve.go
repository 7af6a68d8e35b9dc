package main

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"text/tabwriter"

	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

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

// A tick is a mark on an axis.
type tick struct {
	value float64
	label string
}

// ticks returns the marks from 0 up to a number, each with a label; they are 1, 2 or 5 times a power of ten apart, which makes six to eleven of them.
func ticks(most float64) []tick {
	step := math.Pow(10, math.Floor(math.Log10(most)))
	if most < 2*step {
		step /= 5
	} else if most < 5*step {
		step /= 2
	}
	var marks []tick
	for i := 0; float64(i)*step <= most; i++ {
		value := float64(i) * step
		marks = append(marks, tick{value, strconv.FormatFloat(value, 'g', 10, 64)})
	}
	return marks
}

// The curve is drawn in a frame within a page; margins are in points, 1/72 of an inch.
const (
	pageWidth, pageHeight                         = 16 * vg.Centimeter, 10 * vg.Centimeter
	leftMargin, rightMargin, lowMargin, topMargin = vg.Length(48), vg.Length(18), vg.Length(40), vg.Length(30)
)

// drawCurve writes curve.png into a folder: success over the steps of training episodes, in training for each iteration, on validation where it
// was evaluated. Equal iterations make equal files.
func drawCurve(dir, title string, all []train.Iteration) error {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return err
	}
	plain := text.Plain{Fonts: font.NewCache(font.Collection{{Face: regular}})}
	write := func(c draw.Canvas, at vg.Point, x text.XAlignment, y text.YAlignment, size, turn float64, s string) {
		c.FillText(draw.TextStyle{Color: color.Black, Font: font.Font{Size: vg.Length(size)}, Rotation: turn, XAlign: x, YAlign: y, Handler: plain}, at, s)
	}
	canvas := vgimg.New(pageWidth, pageHeight)
	page := draw.New(canvas)
	frame := draw.Crop(page, leftMargin, -rightMargin, lowMargin, -topMargin)

	most := 1.0 // a curve of one point needs a range, too
	if n := len(all); n > 0 && all[n-1].EnvSteps > 0 {
		most = float64(all[n-1].EnvSteps)
	}
	grid := draw.LineStyle{Color: color.Gray{Y: 210}, Width: 0.5}
	for _, mark := range ticks(most) {
		x := frame.X(mark.value / most)
		frame.StrokeLine2(grid, x, frame.Min.Y, x, frame.Max.Y)
		write(frame, vg.Point{X: x, Y: frame.Min.Y - 5}, text.XCenter, text.YTop, 9, 0, mark.label)
	}
	for _, mark := range ticks(1) {
		y := frame.Y(mark.value)
		frame.StrokeLine2(grid, frame.Min.X, y, frame.Max.X, y)
		write(frame, vg.Point{X: frame.Min.X - 5, Y: y}, text.XRight, text.YCenter, 9, 0, mark.label)
	}
	axes := draw.LineStyle{Color: color.Black, Width: 0.7}
	frame.StrokeLines(axes, []vg.Point{{X: frame.Min.X, Y: frame.Max.Y}, frame.Min, {X: frame.Max.X, Y: frame.Min.Y}})
	write(page, vg.Point{X: frame.Center().X, Y: page.Min.Y + 6}, text.XCenter, text.YBottom, 10, 0, "environment steps")
	write(page, vg.Point{X: page.Min.X + 6, Y: frame.Center().Y}, text.XCenter, text.YTop, 10, math.Pi/2, "success")
	above := frame.Max.Y + 14
	write(page, vg.Point{X: frame.Min.X, Y: above}, text.XLeft, text.YCenter, 12, 0, title)

	var training, validation []vg.Point
	for _, it := range all {
		x := frame.X(float64(it.EnvSteps) / most)
		if it.Number > 0 {
			training = append(training, vg.Point{X: x, Y: frame.Y(it.Success)})
		}
		if it.Evaluation != nil {
			validation = append(validation, vg.Point{X: x, Y: frame.Y(it.Evaluation.Success)})
		}
	}
	legend := frame.Max.X
	for _, s := range []struct {
		name   string
		points []vg.Point
		color  color.Color
		dashes []vg.Length
	}{
		{"train", training, vermillion, []vg.Length{4, 2}},
		{"validation", validation, blue, nil},
	} {
		if len(s.points) == 0 {
			continue
		}
		line := draw.LineStyle{Color: s.color, Width: 1.2, Dashes: s.dashes}
		dot := draw.GlyphStyle{Color: s.color, Radius: 1.8, Shape: draw.CircleGlyph{}}
		frame.StrokeLines(line, s.points)
		for _, p := range s.points {
			frame.DrawGlyphNoClip(dot, p) // whole, on the edge as well
		}
		write(page, vg.Point{X: legend, Y: above}, text.XRight, text.YCenter, 10, 0, s.name)
		width, _, _ := plain.Box(s.name, font.Font{Size: 10})
		legend -= width + 6
		page.StrokeLine2(line, legend-20, above, legend, above)
		page.DrawGlyphNoClip(dot, vg.Point{X: legend - 10, Y: above})
		legend -= 20 + 14
	}
	var b bytes.Buffer
	fast := png.Encoder{CompressionLevel: png.BestSpeed} // small pictures, drawn often
	if err := fast.Encode(&b, canvas.Image()); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, curveName), b.Bytes(), 0o666)
}
