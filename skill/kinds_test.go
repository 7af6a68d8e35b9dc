package skill

import (
	"context"
	"math"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestScoreKinds(t *testing.T) {
	x := []float64{.5, .3, .1, .05}
	all := func(int, int) bool { return true }
	for _, c := range []struct {
		kind             ScoreKind
		c                [][]float64
		floor            *float64
		exclude          func(skill, task int) bool
		spec, abst, util float64 // of skill 0
		undefined        bool
		usedFloor        float64
		reason           string
	}{
		{kind: KindSimple, c: [][]float64{x}, spec: .5, abst: 0.746377, util: 0.373189, reason: "worked example"},
		{kind: KindSimple, c: [][]float64{{.2, .2, .2}}, spec: .2, abst: 1, util: .2, reason: "even"},
		{kind: KindSimple, c: [][]float64{{0, .9, 0, 0}}, spec: .9, abst: .25, util: .225, reason: "one match of four"},
		{kind: KindSimple, c: [][]float64{{-.9, .9, 0, -.1}}, spec: .9, abst: .25, util: .225, reason: "negative similarities count as 0"},
		{kind: KindSimple, c: [][]float64{{0, 0, 0}}, reason: "no match: 0, where the paper's formula says 1"},
		{kind: KindSimple, c: [][]float64{{-.5, -.2, -.5}}, reason: "opposite of all tasks"},
		{kind: KindSimple, c: [][]float64{{5e-324, 5e-324}}, spec: 5e-324, abst: 1, util: 5e-324, reason: "the smallest numbers there are"},
		{kind: KindSimple, c: [][]float64{{.4}}, spec: .4, abst: 1, util: .4, reason: "one task: defined, but for abstractness"},
		{kind: KindSimple, c: [][]float64{{0}}, reason: "one task, no match"},
		{kind: KindSimple, c: [][]float64{x}, exclude: func(_, j int) bool { return j != 1 }, spec: .3, abst: 1, util: .3, reason: "one task left"},
		{kind: KindSimple, c: [][]float64{x}, exclude: all, undefined: true, reason: "no task left"},
		{kind: KindSimple, c: [][]float64{x}, floor: new(.04), spec: .5, abst: 0.746377, util: 0.373189, reason: "a floor that the kind does not take off"},

		{kind: KindNoiseFloored, c: [][]float64{x}, floor: new(.04), spec: .5, abst: 0.509494, util: 0.254747, usedFloor: .04, reason: "worked example"},
		{kind: KindNoiseFloored, c: [][]float64{x}, floor: new(0.0), spec: .5, abst: 0.592105, util: 0.296053, reason: "no floor: 1 - Gini"},
		{kind: KindNoiseFloored, c: [][]float64{x}, floor: new(.5), spec: .5, usedFloor: .5, reason: "nothing above the floor"},
		{kind: KindNoiseFloored, c: [][]float64{x}, floor: new(7.0), spec: .5, usedFloor: 7, reason: "a floor above all cosines"},
		{kind: KindNoiseFloored, c: [][]float64{x}, floor: new(.4), spec: .5, abst: .25, util: .125, usedFloor: .4, reason: "one task of four above the floor"},
		{kind: KindNoiseFloored, c: [][]float64{x}, spec: .5, abst: .375, util: .1875, usedFloor: .2, reason: "the median of one skill: (.3, .1, 0, 0) are left"},
		{kind: KindNoiseFloored, c: [][]float64{x, {-.5, -.4, -.3, -.2}}, spec: .5, abst: 0.544118, util: 0.272059, usedFloor: .025, reason: "the median over all skills, negative ones as 0"},
		{kind: KindNoiseFloored, c: [][]float64{x, {.3, .3, .3, .3}}, exclude: func(i, _ int) bool { return i == 1 }, spec: .5, abst: .375, util: .1875, usedFloor: .2,
			reason: "the median of what is not excluded"},
		{kind: KindNoiseFloored, c: [][]float64{{.4, .4, .4}}, spec: .4, usedFloor: .4, reason: "even: nothing above the median"},
		{kind: KindNoiseFloored, c: [][]float64{{math.Nextafter(.3, 1), .3}}, floor: new(.3), spec: .3, usedFloor: .3, reason: "rounding is not above the floor"},
		{kind: KindNoiseFloored, c: [][]float64{{.4}}, floor: new(.1), spec: .4, abst: 1, util: .4, usedFloor: .1, reason: "one task"},
		{kind: KindNoiseFloored, c: [][]float64{x}, exclude: all, undefined: true, reason: "no task left, and no noise"},
	} {
		n := len(c.c[0])
		pairs := make([]float64, n*(n-1)/2)
		rep, err := ScoreMatrix(c.c, pairs, &ScoreOptions{Kind: c.kind, NoiseFloor: c.floor, Exclude: c.exclude})
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		got := rep.Skills[0]
		want := SkillScore{Specificity: c.spec, Abstractness: c.abst, Utility: c.util, Defined: !c.undefined}
		ignore := cmpopts.IgnoreFields(SkillScore{}, "Nearest", "MaxSim", "AbstractnessDefined", "Retrievable", "Gated")
		if diff := gocmp.Diff(want, got, cmpopts.EquateApprox(0, 5e-7), ignore); diff != "" {
			t.Errorf("%v, %s (-want +got):\n%s", c.kind, c.reason, diff)
		}
		left := 0
		for j := range n {
			if c.exclude == nil || !c.exclude(0, j) {
				left++
			}
		}
		if got.AbstractnessDefined != (left > 1) || got.Retrievable != (got.MaxSim > .3) || got.Retrievable && got.Gated != got.Utility || !got.Retrievable && got.Gated != 0 {
			t.Errorf("%v, %s: %+v", c.kind, c.reason, got)
		}
		if rep.Kind != c.kind || !near(rep.NoiseFloor, c.usedFloor, 1e-12) || rep.ZeroPairs != 1 && n > 1 {
			t.Errorf("%v, %s: report %+v, want a floor of %g", c.kind, c.reason, rep, c.usedFloor)
		}
	}
}

// The placebo is scored by the kind, and the floor, of the skills: a memory of just these texts has it as its median.
func TestPlaceboByKind(t *testing.T) {
	tasks := Tasks("tune the piano of a customer", "repair a bike", "refund an order", "brew coffee and tea", "restore a backup")
	for _, kind := range kinds {
		rep, err := Score(context.Background(), documents(placeboTexts[:]...), tasks, &ScoreOptions{Kind: kind})
		if err != nil || rep.Summary.Median == 0 || rep.Summary.Placebo != rep.Summary.Median || rep.Summary.Status != StatusUnreliable {
			t.Errorf("%v: %v, summary %+v", kind, err, rep.Summary)
		}
	}
}

// Where the kinds differ: a sharp match on a floor of noise is abstract to 1 - Gini alone, and copies of tasks change neither.
func TestEvenness(t *testing.T) {
	noise := append([]float64{.6}, make([]float64, 62)...)
	for j := range noise[1:] {
		noise[1+j] = .02
	}
	x := []float64{.5, .3, .1, .05}
	for _, c := range []struct {
		x      []float64
		floor  float64
		effect float64 // effective share; 0 where it is not asked for
		gini   float64
		reason string
	}{
		{x, 0, .746377, .592105, "four similarities"},
		{append(append(append([]float64{}, x...), x...), x...), 0, .746377, .592105, "each three times"},
		{noise, 0, .482, .690, "one match over noise"},
		{noise, .05, 0, 1. / 63, "the noise taken off"},
	} {
		work := append([]float64(nil), c.x...)
		if got := evennessAbove(work, c.floor); !near(got, c.gini, 5e-4) {
			t.Errorf("%s: 1 - Gini = %.6f, want %g", c.reason, got, c.gini)
		}
		if got := effectiveShare(c.x); c.effect != 0 && !near(got, c.effect, 5e-4) {
			t.Errorf("%s: effective share %.6f, want %g", c.reason, got, c.effect)
		}
	}
}

func TestScoreKindString(t *testing.T) {
	for k, want := range map[ScoreKind]string{KindPaper: "paper", KindSimple: "simple", KindNoiseFloored: "noise-floored", 3: "ScoreKind(3)", -1: "ScoreKind(-1)"} {
		if k.String() != want {
			t.Errorf("%d is %q, want %q", int(k), k, want)
		}
	}
}
