package shop

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
)

// A fullReader plays the full shop by nothing but the texts, with the rules of a careful buyer: search for all attributes with the noun, open
// what is cheap enough and has most of them in its title, read its features unless the title has all, and buy the first that fits. It
// remembers what does not fit, and buys what is open when the turns run out.
type fullReader struct {
	noun                string
	attributes, options []string
	bound               float64
	turn                int
	poor                []string // ids of products that do not fit
	open                string   // id of the product whose page is open
	read, fits          bool     // its features
	chosen              int      // options clicked
}

func (r *fullReader) act(text string) envharness.Action {
	parts := strings.Split(text, separator)
	if r.noun == "" {
		r.understand(parts[2])
	}
	r.turn++
	left := MaxTurns - r.turn + 1
	switch {
	case parts[0] == fullTitle:
		return searchFor(strings.Join(append(slices.Clone(r.attributes), r.noun), " "))
	case slices.Contains(parts, "Buy Now"):
		if r.fits || left <= len(r.options)-r.chosen+1 {
			if r.chosen < len(r.options) {
				r.chosen++
				return clickOn(r.options[r.chosen-1])
			}
			return clickOn(buyLink)
		}
		if !r.read {
			return clickOn("features")
		}
		r.poor = append(r.poor, r.open)
		return clickOn(prevLink)
	case !strings.HasPrefix(parts[3], "Page "):
		r.read, r.fits = true, r.has(text[strings.Index(text, "< Prev"):]) == len(r.attributes)
		return clickOn(prevLink)
	}
	best, most := "", -1
	for i := range parts {
		if !strings.HasPrefix(parts[i], "b-") || slices.Contains(r.poor, parts[i]) || !strings.Contains(parts[i+1], r.noun) {
			continue
		}
		if price, err := strconv.ParseFloat(parts[i+2][1:], 64); err != nil || price > r.bound {
			continue
		}
		if n := r.has(parts[i+1]); n > most {
			best, most = parts[i], n
		}
	}
	if best == "" {
		if slices.Contains(parts, "Next >") {
			return clickOn(nextLink)
		}
		return clickOn(backLink)
	}
	r.open, r.fits, r.read, r.chosen = best, most == len(r.attributes), false, 0
	return clickOn(best)
}

// understand reads the sentence.
func (r *fullReader) understand(sentence string) {
	head, list, _ := strings.Cut(sentence, " with these features: ")
	r.noun = strings.TrimPrefix(strings.TrimPrefix(head, "i'm looking for "), "a ")
	r.bound = math.Inf(1)
	for f := range strings.SplitSeq(list, ", ") {
		if bound, ok := strings.CutPrefix(f, "and price lower than "); ok {
			r.bound, _ = strconv.ParseFloat(strings.TrimSuffix(bound, " dollars"), 64)
		} else if _, value, ok := strings.Cut(f, ": "); ok {
			r.options = append(r.options, value)
		} else {
			r.attributes = append(r.attributes, f)
		}
	}
}

// has counts the wanted attributes that a text names.
func (r *fullReader) has(text string) int {
	n := 0
	for _, a := range r.attributes {
		if strings.Contains(text, a) {
			n++
		}
	}
	return n
}

// What one reaches who does not know what the oracle knows, in percent, as the package comment tells it. In the small shop it is all, by
// TestSmallTextIsEnough.
func TestReader(t *testing.T) {
	env := New(nil)
	got := map[string]float64{}
	for _, split := range splits {
		tasks := tasksOf(t, env, split)
		for _, k := range tasks {
			obs := reset(t, env, k.ID)
			for r := (&fullReader{}); ; {
				u := step(t, env, r.act(obs.Text))
				if obs = u.Observation; u.Error != nil {
					t.Fatalf("%s: %v on %q", k.ID, u.Error, obs.Text)
				}
				if u.Ended() {
					if u.Reward == 1 {
						got[split] += 100 / float64(len(tasks))
					}
					break
				}
			}
		}
		got[split] = math.Round(got[split])
	}
	if diff := cmp.Diff(map[string]float64{"train": 95, "validation": 94, "test": 94, "ood": 93}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
