package format

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// BenchmarkWrite shows bytes a second for documents and for conversations that grow tenfold.
func BenchmarkWrite(b *testing.B) {
	page := Record{ID: "d1", Source: "web", Text: strings.Repeat("The \"quick\" brown fox jumps over 13 lazy dogs in Zürich.\n", 100)}
	run := func(name, form string, r *Record) {
		b.Run(name+"/"+form, func(b *testing.B) {
			w, err := NewWriter(io.Discard, form, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Write(r); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(w.Counts().Bytes / int64(w.Counts().Written))
		})
	}
	run("document", "plain", &page)
	for _, turns := range []int{1, 10, 100, 1000} {
		s := weather()
		s.Messages = slices.Repeat(s.Messages, turns)
		for _, form := range []string{"plain", "trl", "sharegpt", "qwen"} {
			run(fmt.Sprintf("turns=%d", turns), form, &Record{ID: "s", Sample: &s})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, turns := range []int{1, 10, 100, 1000} {
		s := weather()
		s.Messages = slices.Repeat(s.Messages, turns)
		for _, form := range []string{"plain", "trl", "sharegpt", "qwen"} {
			b.Run(fmt.Sprintf("turns=%d/%s", turns, form), func(b *testing.B) {
				line, err := written(b, form, nil, Record{ID: "s", Sample: &s})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(line)))
				b.ReportAllocs()
				for b.Loop() {
					for _, err := range Read(bytes.NewReader([]byte(line)), form, "c") {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// BenchmarkTokens shows pre-tokenizing apart from the tokenizer.
func BenchmarkTokens(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 13, 1 << 16} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			ids, ends := byteTokenizer{}.Encode(strings.Repeat("a", n))
			r := Rendering{strings.Repeat("a", n), nil}
			for at := 0; at < n; at += 64 {
				r.Loss = append(r.Loss, Span{at, at + 32})
			}
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := tokenRow(&r, fixed{ids, ends}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
