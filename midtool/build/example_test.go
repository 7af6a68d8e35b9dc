package build_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log"
	"os"
	"path/filepath"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/build"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/mix"
	"github.com/throughline-go/throughline/midtool/native"
	"github.com/throughline-go/throughline/midtool/quality"
)

// A corpus of two notes and the samples of one tool.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "corpus")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	notes := document.SourceFunc(func(context.Context, func(midtool.Rejection)) iter.Seq2[document.Document, error] {
		return func(yield func(document.Document, error) bool) {
			for id, text := range []string{"The harbor closes at ten in the evening.", "Boats of more than twelve meters need a permit.", "Ahoy."} {
				if !yield(document.Document{ID: fmt.Sprint("note-", id), Kind: document.Markdown, Text: text}, nil) {
					return
				}
			}
		}
	})
	report, err := build.Run(context.Background(), &build.Options{
		Dir:       filepath.Join(dir, "corpus"),
		Documents: []build.Input{{Name: "notes", Source: notes}},
		Tools: []midtool.Tool{{Name: "book_berth", Description: "Books a berth for a boat.",
			Parameters: []byte(`{"type": "object", "properties": {"boat": {"type": "string"}, "nights": {"type": "integer"}}, "required": ["boat"]}`)}},
		Own:     true, // notes and tool are ours
		Native:  native.Options{Samples: 2},
		Rules:   map[document.Kind][]quality.Rule{document.Markdown: {{Measure: quality.Words, Min: 5, Max: 1000}}},
		Mix:     mix.Options{Budget: 2000, Shortfall: mix.Under, Shares: map[string]int{"web": 1, "native": 1}},
		Outputs: []build.Output{{Name: "plain", Ext: ".jsonl", New: func(w io.Writer) (build.Sink, error) { return format.NewWriter(w, "plain", nil) }}},
		Shards:  1,
	})
	if err != nil {
		log.Fatal(err)
	}
	in := report.Inputs["notes"]
	fmt.Printf("%d of %d notes\n", in.Out, in.Read)
	for _, x := range in.Examples["filter/words"] {
		fmt.Println("left out:", x.ID, x.Detail)
	}
	fmt.Println(report.Outputs["plain"].Records, "records")
	// Output:
	// 2 of 3 notes
	// left out: notes/note-2 words 1 is below 5
	// 4 records
}
