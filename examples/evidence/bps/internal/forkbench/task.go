package forkbench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

const (
	testsPerTask = 3
	rowsPerTest  = 8
	maxDraws     = 200 // for one task, so that a rule that can never be told apart ends in an error
)

// A Task is a request and its hidden tests.
type Task struct {
	Text  string // all that a rule for choosing may look at
	Needs Set    // two or three kinds
	tests []test
}

type test struct {
	in   input
	want string
}

// passes reports whether all tests come out right under the rules.
func (t *Task) passes(s rules) bool {
	for _, test := range t.tests {
		if got, err := s.run(t.Needs, test.in); err != nil || got != test.want {
			return false
		}
	}
	return true
}

// needs lists all sets of two or three kinds: 20.
func needs() []Set {
	var list []Set
	for s := range Set(1 << kinds) {
		if n := len(s.members()); n == 2 || n == 3 {
			list = append(list, s)
		}
	}
	return list
}

// drawTask draws a task that is admitted, and says how many were drawn for it. With unseen set its wording comes from all phrases.
func drawTask(r *rand.Rand, needs Set, private rules, wrong []definition, unseen bool) (*Task, int, error) {
	for draw := 1; draw <= maxDraws; draw++ {
		t := &Task{Text: drawText(r, needs, unseen), Needs: needs}
		query, form := private.query.drawQuery(r), private.template.drawForm(r)
		broken := false
		for range testsPerTask {
			in := input{rows: drawRows(r, rowsPerTest), query: query, form: form}
			want, err := private.run(needs, in)
			broken = broken || err != nil || want == "" // a query that keeps nothing shows nothing
			t.tests = append(t.tests, test{in, want})
		}
		if !broken && admitted(t, private, wrong) {
			return t, draw, nil
		}
	}
	return nil, maxDraws, fmt.Errorf("forkbench: no task that needs %s was admitted in %d draws", needs, maxDraws)
}

// admitted reports whether a task passes with the private rules and with nothing less: not with the standard ones, not where any of the
// needed private rules is replaced by the standard one or by that of a look-alike.
func admitted(t *Task, private rules, wrong []definition) bool {
	if !t.passes(private) {
		return false
	}
	for known := range Set(1 << kinds) {
		if known&^t.Needs == 0 && known != t.Needs && t.passes(hybrid(private, known)) {
			return false
		}
	}
	for _, w := range wrong {
		fooled := private
		fooled.set(w.rule)
		if t.Needs.Has(w.kind) && t.passes(fooled) {
			return false
		}
	}
	return true
}

// hybrid takes the kinds in known from private and is standard for all others.
func hybrid(private rules, known Set) rules {
	s := standardRules()
	for _, k := range known.members() {
		s.set(private.get(k))
	}
	return s
}

// drawText words a request.
func drawText(r *rand.Rand, needs Set, unseen bool) string {
	w := wordings()
	subject := subjects()[r.IntN(len(subjects()))]
	lead := fmt.Sprintf(leads()[r.IntN(len(leads()))], subject)
	var asks []string
	for _, k := range needs.members() {
		phrases := w[k].asks[0]
		if unseen {
			phrases = slices.Concat(phrases, w[k].asks[1])
		}
		asks = append(asks, phrases[r.IntN(len(phrases))])
	}
	last := len(asks) - 1
	switch r.IntN(3) {
	case 0:
		for i := range asks {
			asks[i] = titleCase(asks[i])
		}
		return lead + " " + strings.Join(asks, ". ") + "."
	case 1:
		return lead + " First " + strings.Join(asks[:last], ", then ") + ", and at last " + asks[last] + "."
	default:
		return lead + " " + titleCase(strings.Join(asks[:last], ", ")) + " and " + asks[last] + "."
	}
}
