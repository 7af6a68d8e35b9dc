package document_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"strings"
	"testing/fstest"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
)

// The files of a small repository; on disk, set Dir in place of FS.
var repository = fstest.MapFS{
	"README.md":         {Data: []byte("# Desk\n\nBook a table with `desk book`.\n")},
	"docs/api.html":     {Data: []byte("<title>API</title><nav>Home</nav><h1>API</h1><p>GET <code>/tables</code> lists tables.")},
	"cmd/desk/main.go":  {Data: []byte("// SPDX-License-Identifier: MIT\n\npackage main\n")},
	"vendor/x/x.go":     {Data: []byte("package x\n")},
	"model.safetensors": {Data: []byte{0}},
}

func ExampleTree() {
	tree := document.Tree{Name: "desk", FS: repository, License: "Apache-2.0"}
	reject := func(r midtool.Rejection) { fmt.Println("not read:", r.Origin.Locator, r.Reason) }
	for d, err := range tree.Documents(context.Background(), reject) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.ID, d.Kind, d.License)
	}
	// Output:
	// desk/README.md md Apache-2.0
	// desk/cmd/desk/main.go code MIT
	// desk/docs/api.html web Apache-2.0
	// not read: desk/model.safetensors unknown_type
	// not read: desk/vendor vendor_folder
}

func ExampleTree_Documents() {
	tree := document.Tree{Name: "desk", FS: repository, HighQuality: true} // what teaches
	for d, err := range tree.Documents(context.Background(), nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.ID)
	}
	// Output:
	// desk/docs/api.html
}

func ExampleTree_Split() {
	tree := document.Tree{Name: "desk", FS: repository}
	parts, err := tree.Split(context.Background(), 2)
	if err != nil {
		log.Fatal(err)
	}
	for i, part := range parts {
		for d, err := range part.Documents(context.Background(), nil) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("part", i, d.ID)
		}
	}
	// Output:
	// part 0 desk/README.md
	// part 0 desk/cmd/desk/main.go
	// part 1 desk/docs/api.html
}

func ExampleTree_Digest() {
	before, err := document.Tree{Name: "desk", FS: fstest.MapFS{"a.md": {Data: []byte("one")}}}.Digest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	after, err := document.Tree{Name: "desk", FS: fstest.MapFS{"a.md": {Data: []byte("two")}}}.Digest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(before), before == after)
	// Output:
	// 64 false
}

const crawl = `{"text": "The API lists orders: send a request to the endpoint.", "url": "https://example.com/api", "language": "en", "language_score": 0.99}
{"text": "A poem about the sea.", "url": "https://example.com/poem", "id": "poem"}
{"text": "Tasks of a benchmark, by API.", "url": "https://taubench.com/tasks", "id": "tasks"}
{"text":
`

func webText() document.WebText {
	return document.WebText{Name: "crawl", Locator: "crawl.jsonl", BadShare: new(0.5), License: "CC0-1.0",
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(crawl)), nil }}
}

func ExampleWebText() {
	reject := func(r midtool.Rejection) { fmt.Printf("line %d: %s\n", r.Origin.Line, r.Reason) }
	for d, err := range webText().Documents(context.Background(), reject) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.ID, d.Kind, d.URL)
	}
	// Output:
	// crawl/5bfd554a3cf795a2 web https://example.com/api
	// crawl/poem web https://example.com/poem
	// crawl/tasks web https://taubench.com/tasks
	// line 4: bad_json
}

func ExampleWebText_Documents() {
	w := webText()
	w.BadShare = nil // 1 %
	for _, err := range w.Documents(context.Background(), nil) {
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// document: crawl.jsonl: 1 of 4 lines are bad, want a share of at most 0.01
}

func ExampleWebText_Split() {
	parts, err := webText().Split(context.Background(), 3)
	if err != nil {
		log.Fatal(err)
	}
	digest, err := webText().Digest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(parts), len(digest))
	// Output:
	// 2 64
}

func ExampleWebText_Digest() {
	a, err := webText().Digest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	other := webText()
	other.Kind = document.PDF
	b, err := other.Digest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a == b)
	// Output:
	// false
}

func ExamplePrescreen() {
	fmt.Println(len(document.DefaultKeywords()) > 10, len(document.DefaultBlockedURLs()) > 5, len(document.DefaultBlocked()) > 5)
	p := document.Prescreen{Source: webText()}
	reject := func(r midtool.Rejection) { fmt.Println("line", r.Origin.Line, r.Reason, r.Detail) }
	for d, err := range p.Documents(context.Background(), reject) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.URL)
	}
	// Output:
	// true true true
	// https://example.com/api
	// line 2 prescreen_keyword 0 keywords, want 2
	// line 3 prescreen_url below taubench.com
	// line 4 bad_json offset 8: unexpected end
}

func ExamplePrescreen_Split() {
	p := document.Prescreen{Source: webText()}
	parts, err := p.Split(context.Background(), 1)
	if err != nil {
		log.Fatal(err)
	}
	digest, err := p.Digest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(parts), len(digest))
	// Output:
	// 4 64
}

func ExampleReadHTML() {
	page := `<html lang="en"><title>Orders</title><nav>Home</nav>
<h1>Orders</h1><p>Lists the <b>open</b> orders.
<table><tr><th>name<th>type<tr><td>limit<td>integer</table>
<pre class="language-sh">curl /orders</pre>`
	d, err := document.ReadHTML(context.Background(), "orders.html", []byte(page))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Title, d.Language)
	fmt.Println(d.Text)
	// Output:
	// Orders en
	// # Orders
	//
	// Lists the open orders.
	//
	// name | type
	// limit | integer
	//
	// ```sh
	// curl /orders
	// ```
}

func ExampleReadNotebook() {
	notebook := `{"cells": [{"cell_type": "markdown", "source": ["# Orders"]}, {"cell_type": "code", "source": ["orders = desk.list()"], "outputs": []}]}`
	d, err := document.ReadNotebook(context.Background(), "orders.ipynb", []byte(notebook))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Kind, d.Syntax, d.Title)
	fmt.Println(d.Text)
	// Output:
	// code python Orders
	// # %%
	// # # Orders
	//
	// # %%
	// orders = desk.list()
}

func ExampleFault() {
	_, err := document.ReadHTML(context.Background(), "x.html", []byte("<p>\x00"))
	if f, ok := errors.AsType[*document.Fault](err); ok {
		fmt.Println(f.Reason())
		fmt.Println(f.Error())
	}
	// Output:
	// binary
	// document: binary: a NUL at byte 3
}

func ExampleRedact() {
	text, n := document.Redact("export TOKEN=gh" + "p_" + strings.Repeat("x7", 20))
	fmt.Println(text, n)
	// Output:
	// export TOKEN=<SECRET> 1
}

func ExampleSourceFunc() {
	one := document.SourceFunc(func(context.Context, func(midtool.Rejection)) iter.Seq2[document.Document, error] {
		return func(yield func(document.Document, error) bool) {
			yield(document.Document{ID: "note", Kind: document.Markdown, Text: "Water the plants."}, nil)
		}
	})
	for d, err := range one.Documents(context.Background(), nil) {
		fmt.Println(d.ID, d.Text, err)
	}
	// Output:
	// note Water the plants. <nil>
}
