package skill_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"github.com/throughline-go/throughline/skill"
)

// An episode becomes a skill, is scored against tasks, and saved for the next run.
func Example() {
	call := func(name string, args map[string]any) skill.Step { return skill.Step{Name: name, Args: args} }
	episode := skill.Trajectory{
		Task: "Refund order 1001 of amy@example.com",
		Steps: []skill.Step{
			call("find_customer", map[string]any{"email": "amy@example.com"}),
			call("get_order", map[string]any{"order_id": 1001}),
			call("refund_order", map[string]any{"order_id": 1001, "reason": "damaged"}),
		},
	}
	spans, err := skill.Segment(context.Background(), episode, &skill.SegmentOptions{TaskLevel: true})
	if err != nil {
		log.Fatal(err)
	}
	var docs []*skill.Document
	for _, span := range spans {
		doc, err := skill.Induce(context.Background(), episode, span, &skill.InduceOptions{Subtask: "Refund an order of a customer"})
		if errors.Is(err, skill.ErrTrivial) {
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		docs = append(docs, doc.Document)
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

func ExampleParse() {
	file := "---\nname: rainy-day\ndescription: Use when: it rains\n---\nTake an umbrella.\n"
	doc, diagnostics, err := skill.Parse([]byte(file), &skill.ParseOptions{Path: "rainy-day/SKILL.md", Dir: "rainy-day"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", doc.Description())
	for _, d := range diagnostics {
		fmt.Println(d)
	}
	// Output:
	// "Use when: it rains"
	// rainy-day/SKILL.md:3: warning: value of description needs quotes; repaired [repaired-unquoted]
}

func ExampleLoadFS() {
	mine := fstest.MapFS{
		"notes/SKILL.md":  {Data: []byte("---\nname: notes\ndescription: Take notes.\n---\nWrite it down.\n")},
		"broken/SKILL.md": {Data: []byte("---\nname: broken\n")},
	}
	set, err := skill.LoadFS(context.Background(), []skill.Source{{Label: "mine", FS: mine}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range set.Skills {
		fmt.Println(s.Path, s.Name())
	}
	for _, d := range set.Diagnostics {
		fmt.Println(d)
	}
	// Output:
	// mine/notes/SKILL.md notes
	// mine/broken/SKILL.md:1: error: no line "---" closes the frontmatter [unclosed-frontmatter]
}

func ExampleMarshal() {
	data, err := skill.Marshal(&skill.Document{
		Frontmatter: skill.Frontmatter{Name: "notes", Description: "Take notes: short ones.", AllowedTools: []string{"Read", "Bash(git log:*)"}},
		Content:     "Write it down.\n",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(data))
	// Output:
	// ---
	// name: notes
	// description: 'Take notes: short ones.'
	// allowed-tools: Read Bash(git log:*)
	// ---
	// Write it down.
}

func ExampleWriteDir() {
	dir, err := os.MkdirTemp("", "skills")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	doc := &skill.Document{Frontmatter: skill.Frontmatter{Name: "no spaces", Description: "x"}}
	fmt.Println(skill.WriteDir(context.Background(), dir, []*skill.Document{doc}))
	// Output:
	// skill: marshal "no spaces": SKILL.md:2: error: name "no spaces" holds ' ', want lower-case letters, digits and '-' [invalid-name]
}

func ExampleScore() {
	skills := []skill.Skill{
		&skill.Document{Frontmatter: skill.Frontmatter{Name: "orders", Description: "Look up and refund orders of a customer"}},
		&skill.Document{Frontmatter: skill.Frontmatter{Name: "violin", Description: "Tune a violin"}},
	}
	tasks := []string{"Refund the last order of customer Bo", "Look up orders of Amy", "Restock the red mug", "Close ticket 7", "Look up a ticket"}
	report, err := skill.Score(context.Background(), skills, skill.Tasks(tasks...), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Skills {
		fmt.Printf("%s: utility %.2f, gated %.2f\n", s.Name, s.Utility, s.Gated)
	}
	fmt.Printf("median %.2f, placebo %.2f: %s\n", report.Summary.Median, report.Summary.Placebo, report.Summary.Status)
	// Output:
	// orders: utility 0.45, gated 0.45
	// violin: utility 0.77, gated 0.00
	// median 0.61, placebo 0.60: passed
}

func ExampleScoreMatrix() {
	sims := [][]float64{{.45, .35, .30, .20}, {.9, .1, .1, .1}}
	pairs := []float64{.1, .2, .3, .4, .5, .6}
	report, err := skill.ScoreMatrix(sims, pairs, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Skills {
		fmt.Printf("%.6f %.6f %.6f\n", s.Specificity, s.Abstractness, s.Utility)
	}
	// Output:
	// 0.666667 0.719614 0.479743
	// 1.000000 0.252272 0.252272
}

func ExampleHashEmbedder() {
	v, err := skill.HashEmbedder{}.Embed(context.Background(), []string{"Place an order", "Place orders"})
	if err != nil {
		log.Fatal(err)
	}
	var cosine float64
	for i := range v[0] {
		cosine += v[0][i] * v[1][i]
	}
	fmt.Printf("%.6f\n", cosine)
	// Output:
	// 0.537665
}

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

func ExampleProcedure() {
	fmt.Printf("%q\n", skill.Procedure("- The desk closes at six.\n- Procedure: find_customer(email) -> refund_order(order_id)\n"))
	// Output:
	// ["find_customer(email)" "refund_order(order_id)"]
}
