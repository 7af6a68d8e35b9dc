package train_test

import (
	"fmt"

	"github.com/throughline-go/throughline/rl/train"
)

// Ten steps of warm-up, then half a cosine down to a tenth at step 100.
func ExampleSchedule() {
	s := train.Schedule{Kind: train.Cosine, Steps: 100}
	for _, step := range []int{1, 5, 10, 55, 100} {
		fmt.Printf("step %3d: %.2f\n", step, s.Factor(step))
	}
	// Output:
	// step   1: 0.10
	// step   5: 0.50
	// step  10: 1.00
	// step  55: 0.55
	// step 100: 0.10
}
