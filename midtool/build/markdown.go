package build

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/mix"
)

// lossWorthTelling is the share of an input that one rule takes before a warning says so.
const lossWorthTelling = 0.25

// warnings says what a person should look at.
func (r *Report) warnings() []string {
	out := []string{}
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if r.Records == 0 {
		warn("the corpus is empty")
	}
	type loss struct {
		input, stage, reason string
		n, read              int
	}
	var losses []loss
	for _, name := range sortedKeys(r.Inputs) {
		f := r.Inputs[name]
		if f.Read == 0 {
			warn("input %s has no record", name)
		}
		for _, stage := range sortedKeys(f.Drops) {
			for _, reason := range sortedKeys(f.Drops[stage]) {
				if n := f.Drops[stage][reason]; stage != "mix" && float64(n) > lossWorthTelling*float64(f.Read) {
					losses = append(losses, loss{name, stage, reason, n, f.Read})
				}
			}
		}
	}
	slices.SortStableFunc(losses, func(a, b loss) int { return cmp.Compare(b.n*a.read, a.n*b.read) })
	for _, l := range losses {
		warn("input %s lost %s of its %d records to %s/%s%s", l.input, percent(l.n, l.read), l.read, l.stage, l.reason,
			exampleText(r.Inputs[l.input].Examples[l.stage+"/"+l.reason]))
	}
	for _, reason := range sortedKeys(r.Tools.Drops) {
		if n := r.Tools.Drops[reason]; float64(n) > lossWorthTelling*float64(r.Tools.Read) {
			warn("%s of the %d tools were left out: %s%s", percent(n, r.Tools.Read), r.Tools.Read, reason, exampleText(r.Tools.Examples["tools/"+reason]))
		}
	}
	scarcest, most := "", 0.0
	for _, name := range sortedKeys(r.Mix.Sources) {
		if s := r.Mix.Sources[name]; s.Want > 0 && float64(s.Tokens) > most*float64(s.Available) {
			scarcest, most = name, float64(s.Tokens)/float64(s.Available)
		}
	}
	for _, name := range sortedKeys(r.Mix.Sources) {
		s := r.Mix.Sources[name]
		if left := s.Available - s.Tokens; name != scarcest && left > s.Available/2 {
			warn("source %s: %s of its tokens do not fit into budget and shares; the scarcest source is %s", name, percent(left, s.Available), scarcest)
		}
		if d := s.Got - s.Want; d > 0.01 || d < -0.01 {
			warn("source %s is %.1f %% of the tokens, and should be %.1f %%", name, 100*s.Got, 100*s.Want)
		}
	}
	out = append(out, r.Mix.Notes...)
	out = append(out, r.Duplicates.Warnings...)
	if r.Contamination.Dropped > 0 {
		warn("%d records held items of benchmarks and were left out", r.Contamination.Dropped)
	}
	for _, name := range sortedKeys(r.Outputs) {
		o := r.Outputs[name]
		for _, reason := range sortedKeys(o.Skipped) {
			if n := o.Skipped[reason]; reason != "document" && n > 0 {
				warn("output %s: %d records have no place in this form: %s", name, n, reason)
			}
		}
	}
	if r.Samples != nil && r.Samples.Samples > 0 {
		out = append(out, r.Samples.Warnings()...)
	}
	return out
}

func exampleText(x []Example) string {
	if len(x) == 0 {
		return ""
	}
	parts := make([]string, len(x))
	for i, e := range x {
		parts[i] = e.ID
		if e.Detail != "" {
			parts[i] += " (" + e.Detail + ")"
		}
	}
	return "; for example " + strings.Join(parts, ", ")
}

func percent(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(of, 1))) }

// A page is a report in Markdown.
type page struct{ bytes.Buffer }

func (p *page) section(title string) { fmt.Fprintf(p, "\n## %s\n\n", title) }

// table writes a table whose first column is text and whose others are figures.
func (p *page) table(head string, rows ...[]string) {
	columns := strings.Split(head, "|")
	fmt.Fprintf(p, "| %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)-1))
	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(strings.Join(strings.Fields(row[i]), " "), "|", `\|`)
		}
		fmt.Fprintf(p, "| %s |\n", strings.Join(row, " | "))
	}
}

func num(n int) string       { return fmt.Sprint(n) }
func share(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// markdown writes the figures for a person.
func (r *Report) markdown() []byte {
	p := new(page)
	fmt.Fprintf(p, "# Corpus\n\n%d documents and samples, %d tokens (%s), seed %d, configuration %.12s.\n", r.Records, r.Tokens, r.Counter, r.Seed,
		r.Configuration)
	p.section("Look at")
	if len(r.Warnings) == 0 {
		fmt.Fprintln(p, "Nothing stands out.")
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(p, "- %s\n", strings.Join(strings.Fields(w), " "))
	}
	r.mixText(p)
	r.inputText(p)
	r.duplicateText(p)
	r.contaminationText(p)
	r.outputText(p)
	if r.Samples != nil && r.Samples.Samples > 0 {
		p.section("Conversations")
		table := r.Samples.String()
		if i := strings.Index(table, "\nwarning: "); i >= 0 {
			table = table[:i+1]
		}
		fmt.Fprintf(p, "```text\n%s```\n", table)
	}
	return p.Bytes()
}

func (r *Report) mixText(p *page) {
	p.section("Mix")
	var rows [][]string
	for _, name := range sortedKeys(r.Mix.Sources) {
		s := r.Mix.Sources[name]
		rows = append(rows, []string{name, num(s.Available), num(s.Target), num(s.Tokens), share(s.Got), share(s.Want), num(s.Units)})
	}
	p.table("source|available|target|tokens|share|wanted|units", rows...)
	rows = nil
	for _, name := range sortedKeys(r.Branches) {
		b := r.Branches[name]
		rows = append(rows, []string{name, num(b.Records), num(b.Tokens), share(b.Share)})
	}
	fmt.Fprintln(p)
	p.table("branch|records|tokens|share", rows...)
	rows = nil
	published := mix.DefaultTiers()
	for _, name := range sortedKeys(r.Mix.Sources) {
		for _, tier := range sortedKeys(r.Mix.Sources[name].Tiers) {
			t := r.Mix.Sources[name].Tiers[tier]
			paper := "-"
			if n, ok := published[name][tier]; ok {
				paper = fmt.Sprintf("%.1f %%", float64(n)/10)
			}
			rows = append(rows, []string{name + " " + tier, num(t.Units), num(t.Tokens), share(t.Got), paper})
		}
	}
	if len(rows) > 0 {
		fmt.Fprintln(p)
		p.table("source and tier|documents|tokens|share|MidTool", rows...)
	}
	rows = nil
	for _, name := range sortedKeys(r.Repetition) {
		x := r.Repetition[name]
		rows = append(rows, []string{name, num(x.Words), fmt.Sprintf("%.3f", x.Gzip), share(x.Distinct)})
	}
	fmt.Fprintln(p)
	p.table("source|words looked at|gzip ratio|distinct 4-grams", rows...)
	fmt.Fprintf(p, "\nTokens of a record: 1 %% have at most %d, 10 %% %d, 50 %% %d, 90 %% %d, 99 %% %d.\n",
		r.Percentiles["p1"], r.Percentiles["p10"], r.Percentiles["p50"], r.Percentiles["p90"], r.Percentiles["p99"])
}

func (r *Report) inputText(p *page) {
	p.section("Inputs")
	var rows [][]string
	for _, name := range sortedKeys(r.Inputs) {
		f := r.Inputs[name]
		row := []string{name, num(f.Read)}
		for _, stage := range stages {
			n := 0
			for _, k := range f.Drops[stage] {
				n += k
			}
			row = append(row, num(n))
		}
		rows = append(rows, append(row, num(f.Out)))
	}
	p.table("input|read|"+strings.Join(stages, "|")+"|out", rows...)
	rows = nil
	for _, name := range sortedKeys(r.Inputs) {
		f := r.Inputs[name]
		for _, stage := range stages {
			for _, reason := range sortedKeys(f.Drops[stage]) {
				example := ""
				if x := f.Examples[stage+"/"+reason]; len(x) > 0 {
					example = strings.TrimSpace(x[0].ID + " " + x[0].Detail)
				}
				rows = append(rows, []string{name + ": " + stage + "/" + reason, num(f.Drops[stage][reason]), percent(f.Drops[stage][reason], f.Read), example})
			}
		}
	}
	if len(rows) > 0 {
		fmt.Fprintln(p)
		p.table("left out|records|share|for example", rows...)
	}
	if r.Tools.Read > 0 {
		fmt.Fprintf(p, "\nOf %d tools %d are used", r.Tools.Read, r.Tools.Used)
		if len(r.Tools.Drops) > 0 {
			fmt.Fprintf(p, "; left out: %s", countsText(r.Tools.Drops))
		}
		fmt.Fprintln(p, ".")
	}
	for _, name := range sortedKeys(r.Inputs) {
		if f := r.Inputs[name]; len(f.Missed) > 0 {
			planned := 0
			for _, n := range f.Planned {
				planned += n
			}
			fmt.Fprintf(p, "\nOf %d pieces of augmentation for %s these were not made: %s.\n", planned, name, countsText(f.Missed))
		}
	}
}

// stages in which records are left out, in order.
var stages = []string{"ingest", "filter", "generate", "dedup", "decontaminate", "mix"}

func (r *Report) duplicateText(p *page) {
	p.section("Duplicates")
	d := &r.Duplicates
	fmt.Fprintf(p, "Of %d records %d repeat another one word for word and %d nearly so; the largest cluster has %d members", d.Records, d.Exact, d.Near, d.Largest)
	if d.Overflow > 0 {
		fmt.Fprintf(p, "; %d pairs were not compared, for there were too many", d.Overflow)
	}
	fmt.Fprint(p, ".\nTwo texts are compared with a probability of")
	for _, s := range sortedKeys(d.Curve) {
		fmt.Fprintf(p, " %.3f at a similarity of %s,", d.Curve[s], s)
	}
	p.Truncate(p.Len() - 1)
	fmt.Fprintln(p, ".")
}

func (r *Report) contaminationText(p *page) {
	p.section("Benchmarks")
	c := &r.Contamination
	if len(c.Counts) == 0 && len(c.Invisible) == 0 {
		fmt.Fprintln(p, "None were given, or no item was found.")
		return
	}
	var rows [][]string
	for _, name := range sortedKeys(c.Counts) {
		rows = append(rows, []string{name, countsText(c.Counts[name]), share(c.Invisible[name])})
	}
	p.table("benchmark|hits by rule|items that n-grams cannot see", rows...)
	fmt.Fprintf(p, "\n%d records were left out. This says nothing about benchmarks that were not given.\n", c.Dropped)
	for _, h := range c.Hits[:min(len(c.Hits), 10)] {
		fmt.Fprintf(p, "- %s holds %s of %s (%s): %s\n", h.Record, h.Item, h.Benchmark, h.Rule, strings.Join(strings.Fields(h.Text), " "))
	}
	if len(c.Ignored) > 0 {
		fmt.Fprintf(p, "\nIgnored, for they are common, are %d runs of words, such as", len(c.Ignored))
		for _, x := range c.Ignored[:min(len(c.Ignored), 5)] {
			fmt.Fprintf(p, " %q (%d records of %s),", x.Text, x.Records, x.Source)
		}
		p.Truncate(p.Len() - 1)
		fmt.Fprintln(p, ".")
	}
}

func (r *Report) outputText(p *page) {
	p.section("Outputs")
	var rows [][]string
	for _, name := range sortedKeys(r.Outputs) {
		o := r.Outputs[name]
		rows = append(rows, []string{name, num(o.Files), num(o.Records), fmt.Sprint(o.Bytes), num(o.Tokens), num(o.Trained), countsText(o.Skipped)})
	}
	p.table("output|files|records|bytes|tokens|learned|skipped", rows...)
}
