package skill

import (
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
	gated := scores(.25, .75)
	gated[0].Gated = 0
	for _, c := range []struct {
		scores  []SkillScore
		placebo []float64
		want    Summary
		reason  string
	}{
		{scores(.2, .4, .3, .1), nil, Summary{Count: 4, Scored: 4, Defined: true, Median: .25, Mean: .25, Min: .1, Max: .4, Q1: .175, Q3: .325, Retrievable: .5, GatedMedian: .25, Status: StatusUnchecked}, "no placebo; even count: the mean of the middle two"},
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
