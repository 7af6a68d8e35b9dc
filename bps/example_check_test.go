package bps_test

import (
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/bps"
)

// A bonus for having both of two tools makes a benefit that is not submodular.
func ExampleCheckSubmodular() {
	benefit := bps.BenefitFunc(func(set []int) float64 {
		value := float64(len(set))
		if len(set) >= 2 && set[0] == 0 && set[1] == 1 {
			value += 5
		}
		return value
	})
	err := bps.CheckSubmodular(benefit, 3, nil, 0)
	fmt.Println(err)
	var c *bps.Counterexample
	if errors.As(err, &c) {
		fmt.Println(c.Set, c.I, c.J, c.Got, c.Bound)
	}
	// Output:
	// bps: benefit is not submodular: candidate 1 gains 1 at the set [], but 6 with candidate 0 in it
	// [] 0 1 6 1
}
