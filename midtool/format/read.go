package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// Read reads what a [Writer] of the form writes: documents as they were, and conversations with the same messages, calls
// and tools. Calls are numbered call_0001 and on, results stand in the order of their calls, and arguments are JSON
// without spaces. The text forms also give back source, ability, family and the like, and Meta; no form gives back
// plans, templates, evidence, or of a tool more than name, description and parameters, from which its ID is made. The
// openai form has no IDs. Pre-tokenized rows are read by [ReadTokens].
//
// It reads what others write in these forms as well, as far as it can be understood: tools and arguments as strings or
// objects in all flavors of openai, and calls of hermes and qwen by their JSON and not by their closing tag. Keys that it does
// not know are passed over.
//
// A line has at most 64 MiB and 72 levels of JSON. The first bad line ends the sequence with an error that names
// locator and line, a [*midtool.SyntaxError] unless r fails. Blank lines and a missing last line break are accepted.
// The sequence can be ranged over once.
func Read(r io.Reader, name, locator string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		read, err := lineReader(name)
		if err != nil {
			yield(Record{}, err)
			return
		}
		number := 0
		for line, err := range jsonl.Lines(r, jsonval.MaxBytes) {
			number++
			if errors.Is(err, jsonl.ErrTooLong) {
				err = &midtool.SyntaxError{Locator: locator, Line: number, Rule: fmt.Sprintf("line longer than %d bytes", jsonval.MaxBytes)}
			} else if err != nil {
				err = fmt.Errorf("format: %s:%d: %w", locator, number, err)
			}
			if err == nil && len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			var out Record
			if err == nil {
				var bad *midtool.SyntaxError
				if out, bad = readLine(line, read); bad != nil {
					bad.Locator, bad.Line, err = locator, number, bad
				}
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

func lineReader(name string) (func(v *jsonval.Value) (Record, error), error) {
	if _, ok := flavors[name]; ok {
		return readOpenAI, nil
	}
	switch name {
	case "plain":
		return readPlainLine, nil
	case "hermes", "qwen":
		return readChatLine, nil
	case "sharegpt":
		return readShareGPT, nil
	case "pretokenized":
		return nil, errors.New("format: pretokenized is read by ReadTokens")
	}
	return nil, fmt.Errorf("format: unknown form %q, want one of %s", name, strings.Join(Names(), ", "))
}

func readLine(line []byte, read func(*jsonval.Value) (Record, error)) (Record, *midtool.SyntaxError) {
	v, err := jsonval.ParseNested(line, jsonval.LineDepth)
	if bad, ok := errors.AsType[*jsonval.Error](err); ok {
		return Record{}, &midtool.SyntaxError{Offset: bad.Offset, Rule: bad.Rule}
	}
	if v.Kind != jsonval.Object {
		return Record{}, &midtool.SyntaxError{Rule: "want object, got " + v.Kind.String()}
	}
	out, err := read(&v)
	if err != nil {
		return Record{}, &midtool.SyntaxError{Rule: err.Error()}
	}
	return out, nil
}

func readPlainLine(v *jsonval.Value) (Record, error) {
	row, meta, err := readRow(v)
	if err != nil {
		return Record{}, err
	}
	return row.record(meta, meta.Get("loss"), readPlain)
}

func readChatLine(v *jsonval.Value) (Record, error) {
	row, meta, err := readRow(v)
	if err != nil {
		return Record{}, err
	}
	if meta.Get("messages") == nil && strings.HasPrefix(row.Text, turnStart) {
		meta.Set("messages", count(0)) // another's row, which says only by its text that it is a conversation
	}
	return row.record(meta, v.Get("loss"), readChatML)
}

// readRow reads the keys of a [Row].
func readRow(v *jsonval.Value) (*Row, *jsonval.Value, error) {
	row := &Row{ID: jsonval.StringOf(v.Get("id")), Source: jsonval.StringOf(v.Get("source")), Ability: jsonval.StringOf(v.Get("ability"))}
	text := v.Get("text")
	if text == nil || text.Kind != jsonval.String {
		return nil, nil, errors.New(`"text": want a string`)
	}
	row.Text = text.Text
	if n := v.Get("tokens"); n != nil && n.Kind == jsonval.Number {
		row.Tokens, _ = jsonval.Count(n.Text)
	}
	if list := v.Get("license"); list != nil {
		for i := range list.List {
			row.License = append(row.License, jsonval.StringOf(&list.List[i]))
		}
	}
	meta := v.Get("meta")
	if meta == nil || meta.Kind == jsonval.Null {
		meta = &jsonval.Value{Kind: jsonval.Object}
	}
	if meta.Kind != jsonval.Object {
		return nil, nil, fmt.Errorf(`"meta": want object, got %s`, meta.Kind)
	}
	return row, meta, nil
}
