package skill_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/throughline-go/throughline/skill"
)

// An episode becomes a skill, is scored against tasks, and saved for the next run.
func Example() {
	call := func(name string, args map[string]any) skill.Step { return skill.Step{Name: name, Args: args} }
	episode := skill.Trajectory{
		Task: "Refund an order of a customer",
		Steps: []skill.Step{
			call("find_customer", map[string]any{"email": "amy@example.com"}),
			call("get_order", map[string]any{"order_id": 1001}),
			call("refund_order", map[string]any{"order_id": 1001, "reason": "damaged"}),
		},
	}
	outcomes, err := skill.InduceAll(context.Background(), episode, &skill.SegmentOptions{TaskLevel: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	var docs []*skill.Document
	for _, o := range outcomes {
		if o.Err == nil { // else there was nothing to learn from its span, or its text is unsafe
			docs = append(docs, o.Document)
		}
	}
	tasks := []string{"Refund the last order of customer Bo", "Cancel the order of a customer", "Restock an item", "Close a ticket"}
	report, err := skill.Score(context.Background(), docs, skill.Tasks(tasks...), nil)
	if err != nil {
		log.Fatal(err)
	}
	s := report.Skills[0]
	fmt.Printf("%s: specificity %.2f, abstractness %.2f, utility %.2f (%s)\n", s.Name, s.Specificity, s.Abstractness, s.Utility, report.Embedder)

	dir, err := os.MkdirTemp("", "skills")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := skill.WriteDir(context.Background(), dir, docs); err != nil {
		log.Fatal(err)
	}
	set, err := skill.LoadFS(context.Background(), []skill.Source{{FS: os.DirFS(dir)}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(set.Skills[0].Body())
	// Output:
	// refund-an-order-of-a-customer: specificity 1.00, abstractness 0.46, utility 0.46 (hash-ngrams-1/4096)
	// - Procedure: find_customer(email) → get_order(order_id) → refund_order(order_id, reason)
}

func ExampleInduce() {
	episode := skill.Trajectory{Steps: []skill.Step{
		{Name: "go to cabinet 2"},
		{Name: "take mug 1 from cabinet 2", Observation: "cabinet 2 is closed", Err: true},
		{Name: "open cabinet 2"},
		{Name: "take mug 1 from cabinet 2"},
	}}
	doc, err := skill.Induce(context.Background(), episode, skill.Span{Start: 0, End: 4}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(doc.Name())
	fmt.Println(doc.Description())
	fmt.Print(doc.Body())
	// Output:
	// go-to-cabinet-then-take-mug-from-cabinet
	// go to cabinet then take mug from cabinet
	// - Procedure: go to cabinet <n> → open cabinet <n> → take mug <n_2> from cabinet <n>
	// - take mug <n_2> from cabinet <n> can fail: cabinet <n> is closed
}

func ExampleInduceAll() {
	step := func(marker, action string) skill.Step { return skill.Step{Marker: marker, Name: action} }
	episode := skill.Trajectory{ID: "run-1", TaskID: "t1", Task: "clean a mug and put it away", Reward: new(1.0), Steps: []skill.Step{
		step("find a mug", "go to cabinet 2"), step("", "open cabinet 2"), step("", "take mug 1 from cabinet 2"),
		step("clean it", "go to sink 1"), step("", "clean mug 1 with sink 1"),
	}}
	outcomes, err := skill.InduceAll(context.Background(), episode, nil, &skill.InduceOptions{Gate: skill.Solved})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			fmt.Println(o.Span, o.Err)
			continue
		}
		record, err := o.ParseRecord()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s\n  a %s of task %s\n", o.Name(), skill.ParseTextBody(o.Body()).Procedure, record.Level, record.Origins[0].Task)
	}
	// Output:
	// find-a-mug: [go to cabinet <n> open cabinet <n> take mug <n_2> from cabinet <n>]
	//   a subtask of task t1
	// clean-it: [go to sink <n> clean mug <n_2> with sink <n>]
	//   a subtask of task t1
}

func ExampleSolved() {
	err := skill.Solved(context.Background(), skill.Trajectory{ID: "run-1", Reward: new(0.5)})
	fmt.Println(err)
	fmt.Println(errors.Is(err, skill.ErrNotSolved))
	// Output:
	// skill: the trajectory is not known to be solved: the reward of "run-1" is 0.5
	// true
}

func ExampleContrast() {
	run := func(reward float64, steps ...skill.Step) skill.Trajectory {
		return skill.Trajectory{TaskID: "t1", Task: "refund an order", Steps: steps, Reward: &reward}
	}
	order := map[string]any{"order_id": 1001}
	failure := run(0, skill.Step{Name: "refund", Args: order, Observation: "order 1001 is not delivered", Err: true}, skill.Step{Name: "close_ticket", Args: order})
	success := run(1, skill.Step{Name: "get_order", Args: order}, skill.Step{Name: "cancel", Args: order})
	doc, err := skill.Contrast(context.Background(), []skill.Trajectory{failure, success}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(doc.Body())
	// Output:
	// - Procedure: get_order(order_id) → cancel(order_id)
	// - avoid: refund(order_id), refused: order <n> is not delivered; instead: get_order(order_id)
	// - avoid: close_ticket(order_id)
}

func ExampleCode() {
	order := map[string]any{"order_id": 1001, "notify": true}
	episode := skill.Trajectory{Task: "Refund an order", Steps: []skill.Step{
		{Name: "find_customer", Args: map[string]any{"email": "amy@example.com"}},
		{Name: "refund", Args: order},
		{Name: `say "done" to the customer`},
	}}
	doc, err := skill.Induce(context.Background(), episode, skill.Span{Start: 0, End: 3}, &skill.InduceOptions{Format: skill.FormatCode})
	if err != nil {
		log.Fatal(err)
	}
	lang, code, ok := skill.Code(doc.Body())
	fmt.Println(lang, ok)
	fmt.Print(code)
	// Output:
	// python true
	// def refund_an_order(email, order_id, text):
	//     find_customer(email=email)
	//     refund(notify=True, order_id=order_id)
	//     act(f"say {text} to the customer")
}

func ExampleParseTextBody() {
	body := skill.ParseTextBody("The desk closes at six.\n* procedure: find_customer(email) ->\n  refund_order(order_id)\n* Refunds take a day.\n")
	fmt.Printf("%q\n%q\n", body.Procedure, body.Notes)
	body.Notes = append(body.Notes, "Ask for the reason.")
	fmt.Print(body)
	// Output:
	// ["find_customer(email)" "refund_order(order_id)"]
	// ["The desk closes at six." "Refunds take a day."]
	// - Procedure: find_customer(email) → refund_order(order_id)
	// - The desk closes at six.
	// - Refunds take a day.
	// - Ask for the reason.
}
