package decontaminate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// textKeys have a message of a user, or a list of messages of which those of users count, or a list of such lists.
var textKeys = []string{"question", "messages", "prompt", "instruction", "query", "text"}

// toolKeys have functions.
var toolKeys = []string{"function", "functions", "tools"}

// schemaKeys have the parameters of a function.
var schemaKeys = []string{"parameters", "inputSchema", "input_schema"}

// Read reads a benchmark. A file whose name ends in ".txt" or whose first character is neither "{" nor "[" is plain text, with an item on
// every line that is not blank. Any other is JSON Lines, a single list of rows being none: the items of a row are
//
//   - the messages of users in "question", "messages", "prompt", "instruction", "query" and "text", each a string, a list of messages
//     {"role": "user", "content": "..."}, or a list of such lists, as the Berkeley leaderboard has it;
//   - the functions in "function", "functions" and "tools", each {"name", "description", "parameters"}, also inside of
//     {"type": "function", "function": ...}; and the row itself, if it has a "name" and none of the other keys. "inputSchema" and
//     "input_schema" are names for "parameters".
//
// An item's ID is the row's "id", or "line 7" without one; where there is more than one item, with "/" and a number or a
// function's name after it. A byte order mark is passed over, and so is a text without words.
//
// The error names the benchmark, line and rule: a line longer than 64 MiB, invalid UTF-8, JSON that is broken or too deep, a row
// without any of the keys, or a value of another form. Memory is that of the items and the longest line.
func Read(name string, r io.Reader) (Benchmark, error) {
	sum := sha256.New()
	b := Benchmark{Name: name}
	asJSON, first := false, true
	number := 0
	for line, err := range jsonl.Lines(io.TeeReader(r, sum), jsonval.MaxBytes) {
		number++
		if errors.Is(err, jsonl.ErrTooLong) {
			err = fmt.Errorf("longer than %d bytes", jsonval.MaxBytes)
		}
		if err == nil {
			if number == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			if first {
				first = false
				asJSON = (line[0] == '{' || line[0] == '[') && !strings.HasSuffix(name, ".txt")
			}
			id := "line " + strconv.Itoa(number)
			if asJSON {
				err = b.row(id, line)
			} else {
				err = b.plain(id, line)
			}
		}
		if err != nil {
			return Benchmark{}, fmt.Errorf("decontaminate: benchmark %q: line %d: %w", name, number, err)
		}
	}
	b.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return b, nil
}

// plain adds a line of plain text.
func (b *Benchmark) plain(id string, line []byte) error {
	if !utf8.Valid(line) {
		return errors.New("invalid UTF-8")
	}
	b.Items = append(b.Items, Item{ID: id, Text: string(line)})
	return nil
}

// row adds the items of a row.
func (b *Benchmark) row(id string, line []byte) error {
	v, err := jsonval.ParseNested(line, jsonval.LineDepth)
	if err != nil {
		return err
	}
	if v.Kind != jsonval.Object {
		return fmt.Errorf("is of kind %s, want an object a line", v.Kind)
	}
	if given := v.Get("id"); given != nil && (given.Kind == jsonval.String || given.Kind == jsonval.Number) && given.Text != "" {
		id = given.Text
	}
	known := false
	var texts []string
	for _, key := range textKeys {
		if field := v.Get(key); field != nil {
			known = true
			if texts, err = appendMessages(texts, field, key, 0); err != nil {
				return err
			}
		}
	}
	var tools []Item
	for _, key := range toolKeys {
		if field := v.Get(key); field != nil {
			known = true
			if tools, err = appendTools(tools, field, key); err != nil {
				return err
			}
		}
	}
	if !known {
		if v.Get("name") == nil {
			return fmt.Errorf("has none of the keys %q, %q and \"name\"", textKeys, toolKeys)
		}
		it, err := tool(&v, "the row")
		if err != nil {
			return err
		}
		it.ID = id
		b.Items = append(b.Items, it)
		return nil
	}
	alone := len(texts)+len(tools) == 1
	for i, text := range texts {
		it := Item{ID: id, Text: text}
		if !alone {
			it.ID += "/" + strconv.Itoa(i+1)
		}
		b.Items = append(b.Items, it)
	}
	for _, it := range tools {
		if name := it.Function; alone {
			it.ID = id
		} else {
			it.ID = id + "/" + name
		}
		b.Items = append(b.Items, it)
	}
	return nil
}

// appendMessages appends the texts of users in a field; depth counts the lists around it.
func appendMessages(texts []string, v *jsonval.Value, key string, depth int) ([]string, error) {
	const most = 2 // a list of turns, each a list of messages
	switch {
	case v.Kind == jsonval.Null:
		return texts, nil
	case v.Kind == jsonval.String:
		return appendText(texts, v.Text), nil
	case v.Kind == jsonval.List && depth < most:
		for i := range v.List {
			var err error
			if texts, err = appendMessages(texts, &v.List[i], key, depth+1); err != nil {
				return nil, err
			}
		}
		return texts, nil
	case v.Kind == jsonval.Object && depth > 0:
		role := v.Get("role")
		if role == nil || role.Kind != jsonval.String {
			return nil, fmt.Errorf("%s: a message has no role", key)
		}
		if role.Text != "user" {
			return texts, nil
		}
		text, err := content(v.Get("content"), key)
		if err != nil {
			return nil, err
		}
		return appendText(texts, text), nil
	}
	return nil, fmt.Errorf("%s: a value is of kind %s, want a text or a list of messages", key, v.Kind)
}

// content of a message: a string, or a list of parts whose texts are joined.
func content(v *jsonval.Value, key string) (string, error) {
	switch {
	case v == nil || v.Kind == jsonval.Null:
		return "", nil
	case v.Kind == jsonval.String:
		return v.Text, nil
	case v.Kind != jsonval.List:
		return "", fmt.Errorf("%s: the content of a message is of kind %s, want a string", key, v.Kind)
	}
	var parts []string
	for i := range v.List {
		if text := v.List[i].Get("text"); text != nil && text.Kind == jsonval.String {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n"), nil
}

func appendText(texts []string, text string) []string {
	if w := (words{text: text}); !w.next() {
		return texts
	}
	return append(texts, text)
}

// appendTools appends the functions in a field.
func appendTools(tools []Item, v *jsonval.Value, key string) ([]Item, error) {
	var list []jsonval.Value
	switch v.Kind {
	case jsonval.Null:
	case jsonval.Object:
		list = []jsonval.Value{*v}
	case jsonval.List:
		list = v.List
	default:
		return nil, fmt.Errorf("%s: is of kind %s, want a list of functions", key, v.Kind)
	}
	for i := range list {
		f := &list[i]
		if inner := f.Get("function"); inner != nil {
			f = inner
		}
		it, err := tool(f, key)
		if err != nil {
			return nil, err
		}
		tools = append(tools, it)
	}
	return tools, nil
}

// tool reads a function.
func tool(v *jsonval.Value, key string) (Item, error) {
	name := v.Get("name")
	if name == nil || name.Kind != jsonval.String || name.Text == "" {
		return Item{}, fmt.Errorf("%s: a function has no name", key)
	}
	it := Item{Function: name.Text, Text: name.Text}
	if d := v.Get("description"); d != nil && d.Kind == jsonval.String {
		it.Description = d.Text
		it.Text += " " + d.Text
	}
	for _, key := range schemaKeys {
		if schema := v.Get(key); schema != nil {
			it.Parameters = propertyNames(schema)
			break
		}
	}
	return it, nil
}
