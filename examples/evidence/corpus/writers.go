package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/grounded"
	"github.com/throughline-go/throughline/midtool/native"
)

// A writersResult says whether what was written can be read again.
type writersResult struct {
	Records int                     `json:"records"` // given to each form
	Failed  int                     `json:"read_back_failed"`
	Formats map[string]formatResult `json:"formats"`
}

// A formatResult is about one form.
type formatResult struct {
	Written int            `json:"written"`
	Skipped map[string]int `json:"skipped"` // by reason
	Failed  int            `json:"failed"`  // that came back as something else, or not at all
}

// writers writes documents, samples that are grounded in them and samples of tools, and reads all again.
func (e *evidence) writers(ctx context.Context, s effort) error {
	records, err := everyRecord(ctx, s)
	if err != nil {
		return err
	}
	e.Writers.Records = len(records)
	e.Writers.Formats = make(map[string]formatResult)
	for _, name := range format.Names() {
		r, example, err := readBack(ctx, name, records)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		e.Writers.Formats[name] = r
		e.Writers.Failed += r.Failed
		e.claim(r.Failed == 0, "writers: %d records of the form %s are not read back as they were, such as %s", r.Failed, name, example)
		e.claim(r.Written > 0, "writers: nothing was written in the form %s", name)
	}
	return nil
}

// everyRecord makes records of every kind and family.
func everyRecord(ctx context.Context, s effort) ([]format.Record, error) {
	tools, err := ownTools()
	if err != nil {
		return nil, err
	}
	corpus, err := native.Generate(ctx, tools, &native.Options{Seed: seed, Samples: s.samples, Workers: 2})
	if err != nil {
		return nil, err
	}
	generator, err := grounded.New(&grounded.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	defer generator.Close()
	var records []format.Record
	w := newWriter(5)
	grown := 0
	for i := 0; grown < s.samples && i < s.samples; i++ {
		d := w.document(kinds[i%len(kinds)], fmt.Sprintf("doc-%04d", i))
		records = append(records, format.Record{ID: d.ID, Source: string(d.Kind), Text: d.Text, Licenses: []string{d.License}})
		result, err := generator.Generate(ctx, &d)
		if err != nil {
			return nil, err
		}
		grown += len(result.Samples)
		for k := range result.Samples {
			records = append(records, format.Record{Sample: &result.Samples[k]})
		}
	}
	if grown == 0 {
		return nil, errors.New("no document gave a sample")
	}
	// What nobody would write, and somebody will.
	odd := document.Document{ID: "odd", Kind: document.Web, Text: "### User\nmarks \u2028 <b>&amp;</b> \U0001F600 東京\n### Call\n{}\n\n"}
	records = append(records, format.Record{ID: odd.ID, Source: "web", Text: odd.Text, Licenses: []string{"MIT"}})
	for i := range corpus.Samples {
		records = append(records, format.Record{Sample: &corpus.Samples[i]})
	}
	return records, nil
}

// readBack writes the records, and compares those that were written with those that are read.
func readBack(ctx context.Context, name string, records []format.Record) (formatResult, string, error) {
	var file bytes.Buffer
	options := &format.Options{Tokenizer: byteTokenizer{}, MaxTokens: 1 << 20}
	w, err := format.NewWriter(&file, name, options)
	if err != nil {
		return formatResult{}, "", err
	}
	var want []string
	for i := range records {
		if err := ctx.Err(); err != nil {
			return formatResult{}, "", err
		}
		err := w.Write(&records[i])
		if _, ok := errors.AsType[*format.SkipError](err); ok {
			continue
		}
		if err != nil {
			return formatResult{}, "", err
		}
		said, err := essence(name, &records[i])
		if err != nil {
			return formatResult{}, "", err
		}
		want = append(want, said)
	}
	if err := w.Close(); err != nil {
		return formatResult{}, "", err
	}
	c := w.Counts()
	out := formatResult{Written: c.Written, Skipped: c.Skipped}
	skipped := 0
	for _, n := range c.Skipped {
		skipped += n
	}
	if c.Written != len(want) || c.Written+skipped != len(records) {
		return out, "", fmt.Errorf("%d records given, %d counted as written and %d as skipped", len(records), c.Written, skipped)
	}
	read, example := 0, ""
	for got, err := range readEssence(&file, name) {
		if err != nil {
			return out, "", err
		}
		if read >= len(want) || got != want[read] {
			out.Failed++
			if example == "" && read < len(want) {
				example = fmt.Sprintf("%.2000q, want %.2000q", got, want[read])
			}
		}
		read++
	}
	out.Failed += max(0, len(want)-read)
	return out, example, nil
}

// readEssence reads a file of a form.
func readEssence(file *bytes.Buffer, name string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if name == "pretokenized" {
			for row, err := range format.ReadTokens(file, name) {
				var text []byte
				for _, id := range row.InputIDs {
					if id < 256 {
						text = append(text, byte(id))
					}
				}
				if !yield(string(text), err) || err != nil {
					return
				}
			}
			return
		}
		for r, err := range format.Read(file, name, name) {
			said := ""
			if err == nil {
				said, err = essence(name, &r)
			}
			if !yield(said, err) || err != nil {
				return
			}
		}
	}
}

// essence is what must come back of a record: the text, or the messages, calls and tools, calls known by their place.
func essence(name string, r *format.Record) (string, error) {
	if name == "pretokenized" {
		plain, err := format.Plain(r)
		return plain.Text, err
	}
	if r.Sample == nil {
		return r.Text, nil
	}
	var b strings.Builder
	tools := func(list []midtool.Tool) error {
		for i := range list {
			t := &list[i]
			schema, err := sorted(t.Parameters)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "tool %q %q %s\n", t.Name, t.Description, schema)
		}
		return nil
	}
	if err := tools(r.Sample.Tools); err != nil {
		return "", err
	}
	calls := make(map[string]int)
	results := make(map[int]string) // of a turn: by the place of their call, for a form may put them in that order
	flush := func() {
		keys := make([]int, 0, len(results))
		for k := range results {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			b.WriteString(results[k])
		}
		clear(results)
	}
	for i := range r.Sample.Messages {
		m := &r.Sample.Messages[i]
		if m.Role == midtool.RoleTool {
			n := calls[m.CallID]
			results[n] = fmt.Sprintf("result of %d %q %q\n", n, m.Name, m.Content)
			continue
		}
		flush()
		fmt.Fprintf(&b, "%s %q\n", m.Role, m.Content)
		for _, c := range m.Calls {
			arguments, err := sorted(c.Arguments)
			if err != nil {
				return "", err
			}
			calls[c.ID] = len(calls)
			fmt.Fprintf(&b, "call %q %s\n", c.Name, arguments)
		}
		if err := tools(m.Offers); err != nil {
			return "", err
		}
	}
	flush()
	return b.String(), nil
}

// sorted is JSON with sorted keys and numbers as they are written.
func sorted(raw json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// A byteTokenizer has a token for every byte.
type byteTokenizer struct{}

// Name is "bytes".
func (byteTokenizer) Name() string { return "bytes" }

// Encode returns the bytes.
func (byteTokenizer) Encode(text string) (ids []uint32, ends []int) {
	for i := range len(text) {
		ids, ends = append(ids, uint32(text[i])), append(ends, i+1)
	}
	return ids, ends
}

// EndOfText is no byte.
func (byteTokenizer) EndOfText() uint32 { return 256 }
