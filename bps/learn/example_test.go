package learn_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/bps/learn"
)

// skills are what an agent may be given, with the tokens of each.
var (
	skills = []string{"order-handbook", "order-lookup", "payments", "weather"}
	tokens = []int{900, 250, 300, 150}
)

// logs returns 20 runs of three tasks with every set of one or two skills. A refund needs orders and payments, the other tasks one of
// them. With what is needed 18 of 20 runs pass, otherwise one does.
func logs() []learn.Record {
	var records []learn.Record
	for i := range skills {
		for j := i; j < len(skills); j++ {
			set, sum := skills[i:i+1], tokens[i]
			if j > i {
				set, sum = []string{skills[i], skills[j]}, tokens[i]+tokens[j]
			}
			text := strings.Join(set, " ")
			orders, payments := strings.Contains(text, "order"), strings.Contains(text, "payments")
			for _, task := range []struct {
				query string
				works bool
			}{{"refund", orders && payments}, {"where is it", orders}, {"pay", payments}} {
				passes := 1
				if task.works {
					passes = 18
				}
				for n := range 20 {
					records = append(records, learn.Record{Query: task.query, Skills: set, Tokens: sum, Pass: n < passes})
				}
			}
		}
	}
	return records
}

// Learn from logs what helps with what, and choose by it.
func ExampleFit() {
	ctx := context.Background()
	model, err := learn.Fit(ctx, logs(), &learn.Options{Dim: 2})
	if err != nil {
		log.Fatal(err)
	}
	benefit, err := model.Benefit("refund", skills)
	if err != nil {
		log.Fatal(err)
	}
	sel, err := bps.Select(ctx, bps.Problem{Tokens: tokens, Budget: 1200, Benefit: benefit, PenaltyPerToken: 1e-4}, nil)
	if err != nil {
		log.Fatal(err)
	}
	var chosen []string
	for _, i := range sel.Items {
		chosen = append(chosen, skills[i])
	}
	p, err := model.Predict("refund", chosen, sel.Tokens)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d skills, %d tokens, passes with probability %.1f\n", len(chosen), sel.Tokens, p)
	_, err = model.Predict("refund", []string{"calendar"}, 100)
	fmt.Println(err)
	// Output:
	// 2 skills, 550 tokens, passes with probability 0.9
	// learn: unknown name: skill "calendar" was in no record
}

// With features, a model also judges skills and queries that were in no record. Here they count words.
func ExampleLoad() {
	words := []string{"order", "payments", "refund", "pay", "where", "weather"}
	count := func(name string) []float64 {
		x := make([]float64, len(words))
		for j, w := range words {
			x[j] = float64(strings.Count(name, w))
		}
		return x
	}
	model, err := learn.Fit(context.Background(), logs(), &learn.Options{Dim: 2, SkillFeatures: count, QueryFeatures: count})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := model.Save(&file); err != nil {
		log.Fatal(err)
	}
	loaded, err := learn.Load(&file)
	if err != nil {
		log.Fatal(err)
	}
	loaded = loaded.WithFeatures(count, count)
	for _, set := range [][]string{{"list of orders", "guide to payments"}, {"list of orders", "weather report"}} {
		p, err := loaded.Predict("refund, please", set, 500)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q: %.1f\n", set, p)
	}
	// Output:
	// ["list of orders" "guide to payments"]: 0.9
	// ["list of orders" "weather report"]: 0.1
}
