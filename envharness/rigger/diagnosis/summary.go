package diagnosis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// A Case is the episodes of one task, for [Summarize].
type Case struct {
	Name    string // of the task, for examples; empty means the id in the first trace
	Traces  []envharness.Trace
	Context Context
}

// A Summary says what a policy does wrong over many tasks.
type Summary struct {
	Tasks    int          `json:"tasks"`    // with at least one episode that could be judged
	Episodes int          `json:"episodes"` // that could be judged
	Passed   int          `json:"passed"`   // of these
	Flaws    []CommonFlaw `json:"flaws"`    // the gravest first
}

// A CommonFlaw is a flaw over many tasks.
type CommonFlaw struct {
	ID      ID      `json:"id"`
	Tasks   int     `json:"tasks"`   // that show it: with at least the support of the options
	Support float64 `json:"support"` // mean over all tasks with a judged episode; one that does not show it counts 0
	Lift    float64 `json:"lift"`    // likewise
	Case    string  `json:"case"`    // name of the first task that shows it most
	Example Finding `json:"example"` // the first there
}

// Summarize diagnoses each case and puts the flaws together: a report on a policy. They are ranked as in [Diagnose], by the means: by lift,
// then by support, then by id, and if no episode failed by support alone. The support in the options is what a task must show to count; Most
// bounds the flaws of the summary. The errors are those of Diagnose, with the number of the case, all of them at once. The result is a
// function of the arguments.
func Summarize(cases []Case, o *Options) (*Summary, error) {
	support, most, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("diagnosis: %w", err)
	}
	s := &Summary{}
	common := make(map[ID]*CommonFlaw)
	best := make(map[ID]float64)
	var errs []error
	for i, c := range cases {
		flaws, err := diagnose(c.Traces, c.Context, &Options{Support: &support, Most: -1})
		if err != nil {
			errs = append(errs, fmt.Errorf("case %d: %w", i, err))
			continue
		}
		judged := s.count(c.Traces)
		if c.Name == "" && judged != nil {
			c.Name = judged.Task.ID
		}
		for _, f := range flaws {
			all := common[f.ID]
			if all == nil {
				all = &CommonFlaw{ID: f.ID}
				common[f.ID] = all
			}
			all.Tasks++
			all.Support += f.Support
			all.Lift += f.Lift
			if f.Support > best[f.ID] {
				best[f.ID], all.Case, all.Example = f.Support, c.Name, f.Found[0]
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("diagnosis: %w", err)
	}
	for _, id := range IDs() {
		if f := common[id]; f != nil {
			f.Support /= float64(s.Tasks)
			f.Lift /= float64(s.Tasks)
			s.Flaws = append(s.Flaws, *f)
		}
	}
	failures := s.Passed < s.Episodes
	slices.SortFunc(s.Flaws, func(a, b CommonFlaw) int { return rank(failures, a.ID, b.ID, a.Lift, b.Lift, a.Support, b.Support) })
	if most >= 0 && len(s.Flaws) > most {
		s.Flaws = slices.Clip(s.Flaws[:most])
	}
	return s, nil
}

// count adds the judged traces of a case, and returns the first of them.
func (s *Summary) count(traces []envharness.Trace) (first *envharness.Trace) {
	for i := range traces {
		switch traces[i].Verdict.Status {
		case envharness.Pass:
			s.Passed++
		case envharness.Fail:
		default:
			continue
		}
		s.Episodes++
		if first == nil {
			first = &traces[i]
		}
	}
	if first != nil {
		s.Tasks++
	}
	return first
}

// String returns the summary in words, a line for each flaw. The text is for people and may change.
func (s *Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d episodes passed, on %d tasks", s.Passed, s.Episodes, s.Tasks)
	if len(s.Flaws) == 0 {
		b.WriteString("\nno flaw was found")
	}
	for _, f := range s.Flaws {
		fmt.Fprintf(&b, "\n%s %s: on %d of %d tasks, support %.2f, lift %+.2f; for example %s: %s",
			f.ID, f.ID.Name(), f.Tasks, s.Tasks, f.Support, f.Lift, clip(f.Case), f.Example.Note)
	}
	return b.String()
}
