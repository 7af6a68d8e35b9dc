package decontaminate_test

import (
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/decontaminate"
)

const questions = `{"id": "q1", "question": [[{"role": "user", "content": "How far is it from Oslo to Bergen by the coastal road?"}]]}
{"id": "q2", "question": [[{"role": "user", "content": "Convert 5 miles to kilometers"}]], "function": [
  {"name": "convert.length", "description": "Converts a length.", "parameters": {"type": "dict", "properties": {"from": {}, "to": {}}}}]}
`

// The records of a corpus are scanned in any order, and added in one.
func ExampleIndex_Scan() {
	file := strings.ReplaceAll(questions, "[\n", "[")
	bench, err := decontaminate.Read("roads", strings.NewReader(file))
	if err != nil {
		log.Fatal(err)
	}
	ix, err := decontaminate.NewIndex([]decontaminate.Benchmark{bench}, nil)
	if err != nil {
		log.Fatal(err)
	}
	records := []decontaminate.Record{
		{ID: "page/1", Source: "web", Texts: []string{"A forum asks how far is it from Oslo to Bergen, by the coastal road of course."}},
		{ID: "page/2", Source: "web", Texts: []string{"The coastal road from Oslo to Bergen is long."}},
		{ID: "sample/1", Source: "native", Messages: []string{"Convert 12 miles to kilometers, please."}},
		{ID: "sample/2", Source: "native", Messages: []string{"What are 12 miles?"}, Tools: []midtool.Tool{
			{Name: "convert_length", Parameters: json.RawMessage(`{"type":"object","properties":{"to":{},"from":{}}}`)}}},
	}
	tally := ix.Tally()
	for i := range records {
		r := &records[i]
		if err := tally.Add(r.ID, r.Source, ix.Scan(r)); err != nil {
			log.Fatal(err)
		}
	}
	report := tally.Report()
	for _, h := range report.Hits {
		fmt.Printf("%s: %s of %s by %s: %q\n", h.Record, h.Item, h.Benchmark, h.Rule, h.Text)
	}
	fmt.Println("dropped", report.Dropped)
	for _, rule := range decontaminate.Rules() {
		fmt.Println(rule, report.Counts["roads"][rule])
	}
	fmt.Printf("invisible to runs of words: %.2f\n", report.Invisible["roads"])
	// Output:
	// page/1: q1 of roads by n_gram: "how far is it from Oslo to Bergen"
	// sample/1: q2/1 of roads by short_item: "Convert 12 miles to kilometers"
	// sample/2: q2/convert.length of roads by same_tool: "convert_length(to, from)"
	// dropped [page/1 sample/1 sample/2]
	// short_item 1
	// n_gram 1
	// same_tool 1
	// invisible to runs of words: 0.67
}

func ExampleNormalize() {
	fmt.Println(decontaminate.Normalize("Find the price of AAPL, 3.5% below 1,200 USD_now!"))
	// Output: find the price of aapl 0 below 0 usd now
}

func ExampleRead() {
	bench, err := decontaminate.Read("questions.txt", strings.NewReader("How far is it to Bergen?\n\nWhat is that in miles?\n"))
	if err != nil {
		log.Fatal(err)
	}
	for _, it := range bench.Items {
		fmt.Println(it.ID, it.Text)
	}
	fmt.Println(bench.SHA256[:8])
	// Output:
	// line 1 How far is it to Bergen?
	// line 3 What is that in miles?
	// 2d77b566
}

// Matches can be kept, as here in JSON, between the scan and the report.
func ExampleTally_Add() {
	bench := decontaminate.Benchmark{Name: "b", Items: []decontaminate.Item{{ID: "1", Text: "play some music"}}}
	reported := &decontaminate.Options{ReportOnly: []decontaminate.Rule{decontaminate.ShortItem}}
	ix, err := decontaminate.NewIndex([]decontaminate.Benchmark{bench}, reported)
	if err != nil {
		log.Fatal(err)
	}
	kept, err := json.Marshal(ix.Scan(&decontaminate.Record{Messages: []string{"Play some music!"}}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(kept))
	var matches []decontaminate.Match
	if err := json.Unmarshal(kept, &matches); err != nil {
		log.Fatal(err)
	}
	tally := ix.Tally()
	fmt.Println(tally.Add("sample/1", "native", matches))
	fmt.Println(tally.Add("sample/2", "native", []decontaminate.Match{{Rule: decontaminate.NGram, Gram: 7}}))
	report := tally.Report()
	fmt.Println(len(report.Hits), "hit,", len(report.Dropped), "dropped")
	// Output:
	// [{"rule":"short_item","item":0,"text":"Play some music"}]
	// <nil>
	// decontaminate: record "sample/2": a match of rule "n_gram", item 0, gram 7 is not of this index
	// 1 hit, 0 dropped
}

func ExampleNewIndex() {
	_, err := decontaminate.NewIndex(nil, &decontaminate.Options{N: 50})
	fmt.Println(err)
	// Output: decontaminate: N is 50, want 2 to 32
}

// Without anything added, a report still names all that is counted.
func ExampleTally_Report() {
	ix, err := decontaminate.NewIndex([]decontaminate.Benchmark{{Name: "b", Items: []decontaminate.Item{{ID: "1", Text: "stop"}}}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	report := ix.Tally().Report()
	fmt.Println(report.Counts, report.Invisible)
	// Output: map[b:map[n_gram:0 same_tool:0 short_item:0]] map[b:1]
}
