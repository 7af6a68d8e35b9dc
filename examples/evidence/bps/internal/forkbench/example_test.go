package forkbench_test

import (
	"fmt"
	"log"

	"github.com/throughline-go/throughline/examples/evidence/bps/internal/forkbench"
)

// One task, the cheapest documents that it passes with, and what is missing without them.
func ExampleNew() {
	b, err := forkbench.New(1)
	if err != nil {
		log.Fatal(err)
	}
	task := b.UnseenTasks[0]
	fmt.Println(task.Text)
	best := b.Unseen.Oracle(task)
	for _, i := range best {
		d := b.Unseen.Documents[i]
		fmt.Println("-", d.Name, d.Tokens, "tokens")
	}
	fmt.Println("with them:", b.Unseen.Passes(task, best))
	fmt.Println("without the last one:", b.Unseen.Passes(task, best[:len(best)-1]))
	// Output:
	// For the attached samples: First lay out each line by the supplied pattern, and at last finish with the check code.
	// - check-digits 100 tokens
	// - template-lines 87 tokens
	// with them: true
	// without the last one: false
}
