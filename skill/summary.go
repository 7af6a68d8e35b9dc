package skill

import (
	"cmp"
	"fmt"

	"github.com/throughline-go/throughline/internal/stat"
)

// placeboTexts are off topic for the tasks of any software agent. If they score as well as a memory, its score says
// nothing.
var placeboTexts = [12]string{
	"tune a violin by ear",
	"prune apple trees in late winter",
	"knead sourdough and let it rise overnight",
	"identify migrating birds at dusk",
	"calibrate a mass spectrometer",
	"repair a leaking bicycle tube",
	"translate medieval Latin charters",
	"breed orchids from seed",
	"navigate by the stars at sea",
	"restore faded oil paintings",
	"brew green tea at low heat",
	"date rock layers with zircon",
}

// A Status says how far the utilities of a [Report] can be trusted, skill by skill. It says nothing about how well the tasks are served:
// SkillScore.Gated and Report.Memory do.
type Status int

const (
	StatusUndefined     Status = iota // no skill has a defined utility
	StatusUnchecked                   // the texts are not known, so there is no placebo
	StatusPassed                      // the median utility is above the placebo, and some skill is retrievable; others may be off topic all the same
	StatusUnreliable                  // texts that are off topic score as well: read Gated and Report.Memory instead of Utility
	StatusUnretrievable               // no scored skill would be found for any task, whatever its utility: the memory may be off topic as a whole
)

// String returns the status in words.
func (s Status) String() string {
	switch s {
	case StatusUndefined:
		return "undefined"
	case StatusUnchecked:
		return "unchecked"
	case StatusPassed:
		return "passed"
	case StatusUnreliable:
		return "unreliable: off-topic texts score as well, read Gated and Memory"
	case StatusUnretrievable:
		return "unretrievable: no task would find a skill, read Gated and Memory"
	}
	return fmt.Sprintf("Status(%d)", int(s))
}

// A Summary describes the utilities of a memory, skill by skill; what the skills do together is in Report.Memory. The paper reports the
// median. Skills whose utility is not defined and
// those with an empty text are left out of all numbers but Count; if nothing is left, Defined is false and the numbers
// are 0 and mean nothing.
type Summary struct {
	Count  int // skills
	Scored int // skills with a defined utility and a text

	Defined      bool
	Median, Mean float64
	Min, Max     float64
	Q1, Q3       float64 // quartiles, linear between ranks
	Retrievable  float64 // share of the scored skills
	GatedMedian  float64 // 0 if half of the scored skills or more are not retrievable

	Placebo float64 // median utility of 12 fixed off-topic texts under the same embedder, tasks and kind; 0 if the texts are not known
	Status  Status
}

// summarize summarizes scores; an empty placebo means that it is not known.
func summarize(scores, offTopic []SkillScore) (Summary, error) {
	var placebo []float64
	for _, s := range offTopic {
		if s.Defined {
			placebo = append(placebo, s.Utility)
		}
	}
	s := Summary{Count: len(scores)}
	var utility, gated []float64
	for _, k := range scores {
		if !k.Defined || k.EmptyText {
			continue
		}
		utility, gated = append(utility, k.Utility), append(gated, k.Gated)
		s.Mean += k.Utility
		if k.Retrievable {
			s.Retrievable++
		}
	}
	var err error
	quantile := func(x []float64, q float64) float64 {
		v, e := stat.Quantile(x, q)
		err = cmp.Or(err, e)
		return v
	}
	if len(placebo) > 0 {
		s.Placebo = quantile(placebo, 0.5)
	}
	s.Scored = len(utility)
	if s.Scored == 0 {
		return s, err
	}
	s.Defined = true
	s.Mean /= float64(s.Scored)
	s.Retrievable /= float64(s.Scored)
	s.Min, s.Median, s.Max = quantile(utility, 0), quantile(utility, 0.5), quantile(utility, 1)
	s.Q1, s.Q3 = quantile(utility, 0.25), quantile(utility, 0.75)
	s.GatedMedian = quantile(gated, 0.5)
	switch {
	case s.Retrievable == 0:
		s.Status = StatusUnretrievable
	case len(placebo) == 0:
		s.Status = StatusUnchecked
	case s.Placebo >= s.Median:
		s.Status = StatusUnreliable
	default:
		s.Status = StatusPassed
	}
	return s, err
}
