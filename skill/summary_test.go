package skill

import (
	"context"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestSummary(t *testing.T) {
	scores := func(utility ...float64) []SkillScore {
		var out []SkillScore
		for _, u := range utility {
			out = append(out, SkillScore{Utility: u, Gated: u, Defined: true, Retrievable: u > 0.25})
		}
		return out
	}
	hidden := scores(.1, .2)
	for i := range hidden {
		hidden[i].Gated = 0
	}
	unseen := Summary{Count: 2, Scored: 2, Defined: true, Median: .15, Mean: .15, Min: .1, Max: .2, Q1: .125, Q3: .175, Status: StatusUnretrievable}
	checked := func(placebo float64) Summary {
		s := unseen
		s.Placebo = placebo
		return s
	}
	gated := scores(.25, .75)
	gated[0].Gated = 0
	for _, c := range []struct {
		scores  []SkillScore
		placebo []float64
		want    Summary
		reason  string
	}{
		{scores(.2, .4, .3, .1), nil, Summary{Count: 4, Scored: 4, Defined: true, Median: .25, Mean: .25, Min: .1, Max: .4, Q1: .175, Q3: .325, Retrievable: .5, GatedMedian: .25, Status: StatusUnchecked}, "no placebo; even count: the mean of the middle two"},
		{hidden, []float64{.05}, checked(.05), "above the placebo, but nothing is found: never passed"},
		{hidden, []float64{.5}, checked(.5), "below the placebo: the graver of two statuses"},
		{hidden, nil, unseen, "without a placebo the threshold is known all the same"},
		{append([]SkillScore{{Utility: 1, Defined: true, EmptyText: true, Retrievable: true}}, hidden...), []float64{.05},
			func() Summary { s := checked(.05); s.Count = 3; return s }(), "of the scored skills alone"},
		{nil, []float64{.5}, Summary{Placebo: .5}, "none is undefined, not 0"},
		{gated, []float64{.5, .5}, Summary{Count: 2, Scored: 2, Defined: true, Median: .5, Mean: .5, Min: .25, Max: .75, Q1: .375, Q3: .625, Retrievable: .5, GatedMedian: .375, Placebo: .5, Status: StatusUnreliable}, "placebo as high as the median"},
		{gated, []float64{.49}, Summary{Count: 2, Scored: 2, Defined: true, Median: .5, Mean: .5, Min: .25, Max: .75, Q1: .375, Q3: .625, Retrievable: .5, GatedMedian: .375, Placebo: .49, Status: StatusPassed}, "placebo lower"},
		{append(scores(.7), SkillScore{Utility: 1, Defined: true, EmptyText: true}, SkillScore{}), nil, Summary{Count: 3, Scored: 1, Defined: true, Median: .7, Mean: .7, Min: .7, Max: .7, Q1: .7, Q3: .7, Retrievable: 1, GatedMedian: .7, Status: StatusUnchecked}, "empty texts and undefined scores are left out"},
	} {
		got, err := summarize(c.scores, scores(c.placebo...))
		if diff := gocmp.Diff(c.want, got, approx); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.reason, err, diff)
		}
	}
}

// A memory that is off topic as a whole has a median utility above the placebo more often than not: no status may praise it.
func TestOffTopicMemoryDoesNotPass(t *testing.T) {
	tasks := Tasks("Refund the last order of customer Bo", "Look up orders of Amy", "Restock the red mug", "Close ticket 7", "Look up a ticket")
	for _, c := range []struct {
		skills []*Document
		want   Status
		reason string
	}{
		{documents("Tune a violin", "Tune a piano", "Boil the eggs"), StatusUnretrievable, "nothing in common"},
		{documents("Tune a violin", "Tune a piano", "Look up orders"), StatusPassed, "one of three is found"},
		{documents("the of"), StatusUndefined, "no text at all"},
	} {
		rep, err := Score(context.Background(), c.skills, tasks, nil)
		if err != nil || rep.Summary.Status != c.want {
			t.Errorf("%s: status %v, %v, want %v", c.reason, rep.Summary.Status, err, c.want)
		}
		if c.want == StatusUnretrievable && (rep.Memory.Covered != 0 || rep.Summary.Median <= rep.Summary.Placebo) {
			t.Errorf("%s: covered %g, median %g, placebo %g: not the case to test", c.reason, rep.Memory.Covered, rep.Summary.Median, rep.Summary.Placebo)
		}
	}
}

// Every value has a name of its own, and values that are none show their number.
func TestScoreNames(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range []fmt.Stringer{StatusUndefined, StatusUnchecked, StatusPassed, StatusUnreliable, StatusUnretrievable, HoldOutTask, HoldOutGroup, HoldOutNone, KindPaper, KindSimple, KindNoiseFloored} {
		if s := v.String(); seen[s] || s == "" || strings.Contains(s, "(") {
			t.Errorf("%T is called %q", v, s)
		} else {
			seen[s] = true
		}
	}
	for want, v := range map[string]fmt.Stringer{"Status(5)": Status(5), "HoldOut(3)": HoldOut(3), "HoldOut(-1)": HoldOut(-1), "ScoreKind(3)": ScoreKind(3)} {
		if v.String() != want {
			t.Errorf("%q, want %q", v, want)
		}
	}
}
