package skill_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/skill"
)

// A language model writes the skill. Its first reply has two procedures: it is told so, and asked again.
func ExampleInduce_generate() {
	episode := skill.Trajectory{
		Task: "Refund order 1001 of amy@example.com",
		Steps: []skill.Step{
			{Name: "find_customer", Args: map[string]any{"email": "amy@example.com"}},
			{Name: "refund", Args: map[string]any{"order_id": 1001}, Observation: "not delivered", Err: true},
			{Name: "refund", Args: map[string]any{"order_id": 1001}, Observation: "done"},
		},
	}
	replies := []string{ // of a client of a model, in real life
		`{"description": "Refund an order", "content": "- Procedure: find_customer\n- Procedure: refund"}`,
		`{"description": "Refund an order", "content": "- Procedure: find_customer(email) -> refund(order_id)\n- Works only after delivery."}`,
	}
	doc, err := skill.Induce(context.Background(), episode, skill.Span{Start: 0, End: 3}, &skill.InduceOptions{
		Generate: func(ctx context.Context, prompt string) (string, error) {
			reply := replies[0]
			replies = replies[1:]
			return reply, nil
		},
		Model: "my-model",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(doc.Name())
	fmt.Print(doc.Body())
	for _, why := range doc.Refused {
		fmt.Println(why)
	}
	// Output:
	// refund-an-order
	// - Procedure: find_customer(email) → refund(order_id)
	// - Works only after delivery.
	// skill: reply 1: has two procedures in the content: want exactly one skill
}
