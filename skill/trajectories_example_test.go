package skill_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/throughline-go/throughline/skill"
)

func ExampleReadTrajectories() {
	file := strings.NewReader(`{"task_id": "t1", "task": "Refund order 1001", "reward": 1, "steps": [{"name": "get_order", "args": {"id": 1001}}, {"name": "refund", "args": {"id": 1001}}]}
{"task_id": "t2", "task": "Refund order 1002", "reward": 1.5, "steps": []}
`)
	for episode, err := range skill.ReadTrajectories(file) {
		if err != nil {
			fmt.Println(err)
			break
		}
		outcomes, err := skill.InduceAll(context.Background(), episode, &skill.SegmentOptions{TaskLevel: true}, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(outcomes[0].Description(), "\n", outcomes[0].Body())
	}
	// Output:
	// Refund order
	// - Procedure: get_order(id) → refund(id)
	// skill: trajectories: line 2: reward is 1.5, want 0 to 1
}
