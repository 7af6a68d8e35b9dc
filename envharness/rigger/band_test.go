package rigger_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness/rigger"
)

func TestBandCounts(t *testing.T) {
	for _, tt := range []struct {
		band   rigger.Band
		k      int
		want   []int
		reason string
	}{
		{rigger.Band{Lo: .4, Hi: .6}, 3, nil, "worked example 5, and 7.1 case 13: never reachable"},
		{rigger.Band{Lo: .4, Hi: .6}, 5, []int{2, 3}, "worked example 5"},
		{rigger.Band{Lo: .4, Hi: .6}, 10, []int{4, 5, 6}, "worked example 5"},
		{rigger.Band{Lo: .4, Hi: .6}, 16, []int{7, 8, 9}, "worked example 5"},
		{rigger.Band{Lo: .25, Hi: .75}, 16, []int{4, 5, 6, 7, 8, 9, 10, 11, 12}, "the band of a confirmation"},
		{rigger.Band{Lo: 0, Hi: 1}, 1, []int{0, 1}, "all rates"},
	} {
		got, err := tt.band.Counts(tt.k)
		if d := cmp.Diff(tt.want, got); d != "" || errors.Is(err, rigger.ErrBandUnreachable) != (tt.want == nil) {
			t.Errorf("%v of %d: %v (%s)\n%s", tt.band, tt.k, err, tt.reason, d)
		}
	}
	for name, b := range map[string]rigger.Band{"NaN": {math.NaN(), 1}, "crossed": {.6, .4}, "negative": {-.1, 1}, "above": {0, 1.1}} {
		if _, err := b.Counts(5); err == nil || errors.Is(err, rigger.ErrBandUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (rigger.Band{Lo: 0, Hi: 1}).Counts(0); err == nil {
		t.Error("no rollouts: accepted")
	}
}

// A count is listed exactly if its rate lies in the band.
func TestBandCountsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 40).Draw(t, "k")
		lo := rapid.IntRange(0, 100).Draw(t, "lo")
		hi := rapid.IntRange(lo, 100).Draw(t, "hi")
		var want []int
		for x := range k + 1 {
			if 100*x >= lo*k && 100*x <= hi*k {
				want = append(want, x)
			}
		}
		got, _ := rigger.Band{Lo: float64(lo) / 100, Hi: float64(hi) / 100}.Counts(k)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

func ExampleBand_Counts() {
	band := rigger.Band{Lo: .4, Hi: .6}
	fmt.Println(band.Counts(5))
	_, err := band.Counts(3)
	fmt.Println(errors.Is(err, rigger.ErrBandUnreachable))
	// Output:
	// [2 3] <nil>
	// true
}
