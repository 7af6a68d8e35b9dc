package doubles_test

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness/envtest/doubles"
)

// Whoever changes the kit can see that it still catches each fault.
func ExampleAll() {
	for _, d := range doubles.All() {
		if d.Rule == "E11" {
			fmt.Printf("%s: %s\n", d.Rule, d.Text)
			if err := d.Caught(context.Background()); err != nil {
				fmt.Println(err)
			}
		}
	}
	// Output:
	// E11: the second Step after the end is carried out
	// E11: a stop elsewhere than at the goal ends the episode without a flag
	// E11: a truncation has no reason
}

// Another checker can be tried on the same faults. This one finds nothing.
func ExampleDouble_Caught() {
	d := doubles.All()[0]
	d.Check = func(context.Context) error { return nil }
	fmt.Println(d.Caught(context.Background()))
	// Output: doubles: E01 (the first observation is empty): broken rules [], want ["E01"]
}
