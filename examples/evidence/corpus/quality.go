package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/quality"
)

// A qualityResult says how well unfit documents of a kind are told from sound ones.
type qualityResult struct {
	Sound         int                `json:"sound"`
	CleanRejected float64            `json:"clean_rejected"` // share of these
	Planted       int                `json:"planted"`        // faults, each in a document of its own
	Caught        float64            `json:"caught"`         // share of these that is rejected
	Named         float64            `json:"named"`          // share that is rejected by the rule that is meant for it
	Faults        map[string]float64 `json:"faults"`         // share that is caught, by fault
}

// A flaw makes a sound document unfit.
type flaw struct {
	name  string
	rule  string // or how its name begins
	kinds []document.Kind
	plant func(w *writer, d *document.Document)
}

var (
	prosaic = []document.Kind{document.Web, document.PDF}
	coded   = []document.Kind{document.Code}
)

// each changes every n-th word of a text, and leaves the lines.
func each(text string, n int, change func(word string) string) string {
	count := 0
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		words := strings.Split(l, " ")
		for k := range words {
			if count++; words[k] != "" && count%n == 0 {
				words[k] = change(words[k])
			}
		}
		lines[i] = strings.Join(words, " ")
	}
	return strings.Join(lines, "\n")
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// phrase puts a phrase of n words between others so often that it has a share of the text.
func phrase(n int, part float64) func(w *writer, d *document.Document) {
	return func(w *writer, d *document.Document) {
		words := w.list(n)
		said := strings.Join(words, " ")
		all := strings.Fields(d.Text)
		own := len(strings.Join(all, " "))
		times := int(part * float64(own) / (1 - part) / float64(len(said)))
		var b strings.Builder
		for i, word := range all {
			b.WriteString(word)
			if i%max(1, len(all)/max(1, times)) == 1 {
				b.WriteString(" " + said)
			}
			b.WriteByte(" \n"[min(1, i%17/16)])
		}
		d.Text = b.String()
	}
}

// again repeats the words of a part of the text at its end, in other lines.
func again(part float64) func(w *writer, d *document.Document) {
	return func(w *writer, d *document.Document) {
		words := strings.Fields(d.Text)
		words = words[3 : 3+int(part/(1-part)*float64(len(words)))]
		for line := range slices.Chunk(words, 13) {
			d.Text += strings.Join(line, " ") + "\n"
		}
	}
}

func flaws() []flaw {
	return []flaw{
		{"stub", "words", kinds, func(w *writer, d *document.Document) { d.Text = strings.Join(w.list(9), " ") + "\n" }},
		{"glued", "mean_word_length", kinds, func(w *writer, d *document.Document) {
			var b strings.Builder
			for i := range 150 {
				b.WriteString(w.coin() + w.coin() + w.coin() + []string{" ", "\n"}[min(1, i%6/5)])
			}
			d.Text = b.String()
		}},
		{"one_line", "lines", []document.Kind{document.Web, document.PDF, document.Code}, func(_ *writer, d *document.Document) {
			d.Text = strings.Join(strings.Fields(d.Text), " ")
		}},
		{"minified", "longest_line", coded, func(w *writer, d *document.Document) { d.Text += "// " + strings.Join(w.list(250), ";") + "\n" }},
		{"wide", "mean_line_length", coded, func(w *writer, d *document.Document) {
			all := lines(d.Text)
			for i := range all {
				all[i] += " // " + strings.Join(w.list(20), " ")
			}
			d.Text = strings.Join(all, "\n")
		}},
		{"other_language", "language_score", []document.Kind{document.Web, document.PDF, document.Markdown}, func(_ *writer, d *document.Document) {
			d.LanguageScore = new(0.3)
		}},
		{"symbols", "letter_share", kinds, func(_ *writer, d *document.Document) {
			for i := range len(d.Text) / 10 {
				d.Text += "=+*%&" + fmt.Sprint(i%7) + "/;?!>|<~^$@}{[" + "\n"[:min(1, i%2)]
			}
		}},
		{"counters", "words_with_letter", prosaic, func(w *writer, d *document.Document) {
			d.Text = each(d.Text, 2, func(word string) string { return word + " " + fmt.Sprint(w.r.IntN(10)) })
		}},
		{"word_list", "stop_words", prosaic, func(w *writer, d *document.Document) {
			var b strings.Builder
			for range 20 {
				b.WriteString(strings.Join(w.list(12), " ") + "\n")
			}
			d.Text = b.String()
		}},
		{"hashtags", "hashes_per_word", prosaic, func(_ *writer, d *document.Document) {
			d.Text = each(d.Text, 4, func(word string) string { return "#" + word })
		}},
		{"pauses", "ellipses_per_word", prosaic, func(_ *writer, d *document.Document) {
			d.Text = each(d.Text, 4, func(word string) string { return word + "..." })
		}},
		{"bullets", "bullet_lines", prosaic, func(_ *writer, d *document.Document) {
			d.Text = "- " + strings.ReplaceAll(strings.TrimSpace(d.Text), "\n", "\n- ")
		}},
		{"teasers", "ellipsis_lines", prosaic, func(_ *writer, d *document.Document) {
			d.Text = strings.ReplaceAll(d.Text, "\n", " ...\n")
		}},
		{"digits", "digit_share", kinds, func(w *writer, d *document.Document) {
			var b strings.Builder
			percent := 80
			if !slices.Contains(prosaic, d.Kind) {
				percent = 140 // more digits are allowed there
			}
			for b.Len() < len(d.Text)*percent/100 {
				for range 4 {
					fmt.Fprintf(&b, "%d%d%s ", 1e8+w.r.IntN(9e8), 1e8+w.r.IntN(9e8), w.coin())
				}
				b.WriteByte('\n')
			}
			d.Text += b.String()
		}},
		{"repeated_line", "duplicate_lines", kinds, func(_ *writer, d *document.Document) {
			all := lines(d.Text)
			d.Text += strings.Repeat(all[0]+"\n", 2*len(all))
		}},
		{"repeated_paragraph", "duplicate_line_chars", []document.Kind{document.PDF}, func(w *writer, d *document.Document) {
			p := strings.ReplaceAll(w.prose(4), "\n", " ") + "\n"
			d.Text += p + p
		}},
		{"phrase_of_2", "top_2gram", prosaic, phrase(2, 0.35)}, {"phrase_of_3", "top_3gram", prosaic, phrase(3, 0.24)},
		{"phrase_of_4", "top_4gram", prosaic, phrase(4, 0.21)},
		{"copied_passage", "duplicate_5grams", prosaic, again(0.25)}, {"shorter_passage", "duplicate_", prosaic, again(0.18)},
		{"broken_encoding", "replacement_chars", kinds, func(_ *writer, d *document.Document) {
			d.Text = each(d.Text, 8, func(word string) string { return word + "\ufffd" })
		}},
		{"bad_scan", "single_letter_words", []document.Kind{document.PDF}, func(_ *writer, d *document.Document) {
			d.Text = each(d.Text, 12, func(word string) string { return strings.Join(strings.Split(word, ""), " ") })
		}},
		{"links", "url_chars", prosaic, func(w *writer, d *document.Document) {
			d.Text = each(d.Text, 6, func(word string) string {
				return word + " https://" + w.coin() + ".example/" + w.coin() + "/" + w.coin()
			})
		}},
		{"uncommented", "comment_lines", coded, func(_ *writer, d *document.Document) {
			d.Text = strings.Join(slices.DeleteFunc(lines(d.Text), func(l string) bool { return strings.HasPrefix(l, "//") }), "\n")
		}},
		{"golfed", "chars_per_token", coded, func(w *writer, d *document.Document) {
			for range 60 {
				for range 12 {
					d.Text += w.coin()[:2] + fmt.Sprint(w.r.IntN(10)) + string("+-*=(;"[w.r.IntN(6)])
				}
				d.Text += "\n"
			}
		}},
	}
}

// quality checks sound documents, and such in which a fault was planted.
func (e *evidence) quality(ctx context.Context, s effort) error {
	e.Quality = make(map[string]qualityResult)
	for n, kind := range kinds {
		w := newWriter(uint64(10 + n))
		rules := quality.Rules(kind)
		var checker quality.Checker
		r := qualityResult{Sound: s.sound, Faults: make(map[string]float64)}
		rejected, example := 0, ""
		for i := range s.sound {
			if err := ctx.Err(); err != nil {
				return err
			}
			d := w.document(kind, fmt.Sprint(i))
			if f := checker.Check(&d, rules); f != nil {
				rejected++
				example = f.String()
			}
		}
		r.CleanRejected = share(rejected, r.Sound)
		e.claim(r.CleanRejected <= 0.01, "quality: %.1f %% of sound documents of kind %s are rejected, such as for %s",
			100*r.CleanRejected, kind, example)
		each := max(10, s.sound/20)
		caught, named := 0, 0
		for _, f := range flaws() {
			if !slices.Contains(f.kinds, kind) {
				continue
			}
			found := 0
			for i := range each {
				d := w.document(kind, fmt.Sprint(i))
				f.plant(w, &d)
				failure := checker.Check(&d, rules)
				if failure != nil {
					found++
				}
				if failure != nil && strings.HasPrefix(failure.Reason(), f.rule) {
					named++
				}
			}
			r.Planted += each
			caught += found
			r.Faults[f.name] = share(found, each)
			e.claim(found == each, "quality: %s in documents of kind %s is caught in %d of %d", f.name, kind, found, each)
		}
		r.Caught, r.Named = share(caught, r.Planted), share(named, r.Planted)
		e.claim(r.Named >= 0.95, "quality: %.1f %% of the faults in documents of kind %s are rejected by the rule that is meant, want 95 %%",
			100*r.Named, kind)
		e.Quality[string(kind)] = r
	}
	return nil
}
