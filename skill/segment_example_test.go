package skill_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/skill"
)

func ExampleSegment() {
	var episode skill.Trajectory
	for _, a := range []string{
		"go to cabinet 1", "open cabinet 1", "go to cabinet 2", "open cabinet 2", "take mug 1 from cabinet 2", "go to sink 1", "clean mug 1 with sink 1",
	} {
		episode.Steps = append(episode.Steps, skill.Step{Name: a})
	}
	spans, err := skill.Segment(context.Background(), episode, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(spans)
	// Output:
	// [{0 2} {2 5} {5 7}]
}

// A language model says where the subtasks start. What it says wrongly it is told, and asked again.
func ExampleSegment_generate() {
	var episode skill.Trajectory
	for _, a := range []string{"open mail 1", "read mail 1", "open calendar", "add meeting", "send reply"} {
		episode.Steps = append(episode.Steps, skill.Step{Name: a})
	}
	replies := []string{"[0, 2, 9]", "[0, 2, 4]"} // of a client of a model, in real life
	spans, err := skill.Segment(context.Background(), episode, &skill.SegmentOptions{
		Generate: func(ctx context.Context, prompt string) (string, error) {
			reply := replies[0]
			replies = replies[1:]
			return reply, nil
		},
		Warn: func(err error) { log.Print(err) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(spans)
	// Output:
	// [{0 2} {2 4} {4 5}]
}
