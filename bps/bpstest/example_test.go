package bpstest_test

import (
	"fmt"
	"testing"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/bps/bpstest"
)

// A test of one's own benefit is one call.
func ExampleRun() {
	testTopics := func(t *testing.T) {
		topics := [][]string{{"tax", "law"}, {"tax"}, {"travel"}}
		bpstest.Run(t, len(topics), func() bps.Benefit {
			return bps.BenefitFunc(func(set []int) float64 {
				covered := map[string]bool{}
				for _, i := range set {
					for _, topic := range topics[i] {
						covered[topic] = true
					}
				}
				return float64(len(covered))
			})
		})
	}
	_ = testTopics // in a test file: func TestTopics(t *testing.T)
	// Output:
}

// Rules can be checked without a test, too. This benefit pays a bonus for every pair.
func ExampleRules() {
	pairs := bps.BenefitFunc(func(set []int) float64 { return float64(len(set) * len(set)) })
	for _, rule := range bpstest.Rules() {
		if err := rule.Check(pairs, 2); err != nil {
			fmt.Printf("%s: %v\n", rule.Name, err)
		}
	}
	// Output: submodular: candidate 1 gains 1 at [], but 3 with candidate 0 in it
}
