package dedup_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/dedup"
)

var pages = []dedup.Record{
	{ID: "a", Source: "web", Content: "Call the status endpoint with the ticket number to read whether a ticket is open or closed."},
	{ID: "b", Source: "web", Content: "Call the status endpoint, with the ticket number, to read whether a ticket is open or closed now."},
	{ID: "c", Source: "web", Content: "Call the status endpoint with the ticket number to read whether a ticket is open or closed.\r\n"},
	{ID: "d", Source: "web", Content: "Call the search endpoint with words of the title to list the tickets that hold all of them."},
	{ID: "e", Source: "web", Content: "Close a ticket with the close endpoint."},
}

// Records that are read once.
func ExampleRun() {
	records := func(yield func(dedup.Record, error) bool) {
		for _, r := range pages {
			if !yield(r, nil) {
				return
			}
		}
	}
	result, err := dedup.Run(context.Background(), records, &dedup.Options{Workers: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range result.Removed {
		fmt.Printf("%s repeats %s: exact %v, similarity %.2f\n", pages[r.Index].ID, pages[r.Witness].ID, r.Exact, r.Jaccard)
	}
	fmt.Println(result.Sources["web"])
	// Output:
	// a repeats b: exact false, similarity 0.93
	// c repeats b: exact true, similarity 0.93
	// {5 1 1 2}
}

// Sketches are made once, perhaps on many machines, and kept; the contents are read again where they are needed.
func ExampleFind() {
	sketcher, err := dedup.NewSketcher(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var file []byte
	for i := range pages {
		sketch := sketcher.Sketch(&pages[i])
		if file, err = sketch.AppendBinary(file); err != nil {
			fmt.Println(err)
			return
		}
	}
	content := func(i int) (string, error) { return pages[i].Content, nil }
	result, err := dedup.Find(context.Background(), dedup.ReadSketches(bytes.NewReader(file)), content, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Records, result.Exact, result.Near)
	// Output: 5 1 1
}

// A source of templates fails, with the whole result; who has looked at them allows it.
func ExampleLossError() {
	records := func(yield func(dedup.Record, error) bool) {
		for i := range 10 {
			text := fmt.Sprintf("The nightly job went through all of its steps and wrote its report to the usual place without a warning: %d", i)
			if !yield(dedup.Record{ID: fmt.Sprint(i), Source: "logs", Content: text}, nil) {
				return
			}
		}
	}
	result, err := dedup.Run(context.Background(), records, nil)
	if loss, ok := errors.AsType[*dedup.LossError](err); ok {
		fmt.Println(loss.Error())
		fmt.Println(result.Near)
	}
	_, err = dedup.Run(context.Background(), records, &dedup.Options{MaxLoss: new(1.0)})
	fmt.Println(err)
	// Output:
	// dedup: source "logs" would lose 9 of 10 records to near-duplicates, a share above MaxLoss 0.4
	// 9
	// <nil>
}

func ExampleSketch_UnmarshalBinary() {
	sketch := dedup.Sketch{ID: "a", Source: "web", Length: 6, Bands: []uint64{7, 8}}
	data, err := sketch.AppendBinary(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var read dedup.Sketch
	err = read.UnmarshalBinary(data)
	fmt.Println(read.ID, read.Source, read.Length, read.Bands, err)
	// Output: a web 6 [7 8] <nil>
}

func ExampleSimilarity() {
	const text = "get weather returns the current weather for a city city name of the city units metric or "
	fmt.Printf("%.4f\n", dedup.Similarity(text+"imperial", text+"kelvin", 5, false))
	// Output: 0.8667
}

// The S-curve of 14 bands of 8 rows.
func ExampleCandidateProbability() {
	for _, s := range []float64{0.5, 0.6, 0.7, 0.8, 0.9} {
		fmt.Printf("%.1f %.4f\n", s, dedup.CandidateProbability(s, 14, 8))
	}
	// Output:
	// 0.5 0.0533
	// 0.6 0.2111
	// 0.7 0.5645
	// 0.8 0.9235
	// 0.9 0.9996
}

func ExampleToolContent() {
	tool, err := midtool.Normalize(midtool.Tool{Name: "get_ticket", Description: "Reads a ticket.",
		Parameters: []byte(`{"type": "object", "properties": {"number": {"type": "integer", "description": "Of the ticket."}}}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := dedup.Record{ID: tool.ID, Source: "tools", Content: dedup.ToolContent(&tool), Exact: sha256.Sum256([]byte(tool.ID))}
	fmt.Println(r.Content)
	// Output:
	// get_ticket
	// Reads a ticket.
	// number
	// Of the ticket.
}

func ExampleSampleContent() {
	samples := map[string]midtool.Sample{
		"s1": {Messages: []midtool.Message{{Role: midtool.RoleUser, Content: "Is ticket 7 open?"}}},
		"s2": {Messages: []midtool.Message{{Role: midtool.RoleUser, Content: "Is ticket 8 open?"}}},
	}
	for _, id := range slices.Sorted(maps.Keys(samples)) {
		s := samples[id]
		r := dedup.Record{ID: id, Source: "native", Content: dedup.SampleContent(&s), Exact: s.ContentHash()}
		fmt.Println(r.Content)
	}
	// Output:
	// Is ticket 7 open?
	// Is ticket 8 open?
}
