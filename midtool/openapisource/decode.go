package openapisource

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Bounds of one document.
const (
	maxDepth = 256     // levels; a schema has at most 64 of them
	maxNodes = 2 << 20 // values, aliases replaced by what they stand for
)

// A fault is why a document or an operation is left out.
type fault struct{ reason, detail string }

var (
	errDeep  = &fault{"too_deep", fmt.Sprintf("nested deeper than %d", maxDepth)}
	errLarge = &fault{"too_large", fmt.Sprintf("more than %d values", maxNodes)}
	errMore  = &fault{"syntax", "more than one value"}
)

// Error gives the reason and the detail.
func (f *fault) Error() string { return f.reason + ": " + f.detail }

// decode reads a document of either form.
func decode(data []byte) (*node, *fault) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, &fault{"invalid_utf8", "the document is not UTF-8"}
	}
	start := bytes.TrimLeft(data, " \t\r\n")
	if len(start) > 0 && start[0] == '{' {
		n, f := decodeJSON(data)
		if f == nil || f.reason != "syntax" || f == errMore {
			return n, f
		}
		// It may be YAML in braces, with comments or without quotes.
		if n, other := decodeYAML(data); other == nil {
			return n, nil
		}
		return nil, f
	}
	return decodeYAML(data)
}

// decodeJSON reads JSON: numbers stay as they are written, and half a surrogate pair becomes U+FFFD.
func decodeJSON(data []byte) (*node, *fault) {
	d := jsonDecoder{data: data, in: json.NewDecoder(bytes.NewReader(data)), line: 1}
	d.in.UseNumber()
	n, err := d.value(0)
	if err == nil {
		if _, more := d.in.Token(); more != io.EOF {
			err = errMore
		}
	}
	if f, ok := errors.AsType[*fault](err); ok {
		return nil, f
	}
	if err != nil {
		d.count()
		return nil, &fault{"syntax", fmt.Sprintf("line %d: %v", d.line, err)}
	}
	return n, nil
}

type jsonDecoder struct {
	data    []byte
	in      *json.Decoder
	counted int // bytes of data whose lines are counted
	line    int
	nodes   int
}

// count brings line to where the decoder is.
func (d *jsonDecoder) count() {
	at := int(d.in.InputOffset())
	d.line += bytes.Count(d.data[d.counted:at], []byte("\n"))
	d.counted = at
}

func (d *jsonDecoder) value(depth int) (*node, error) {
	token, err := d.in.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if d.nodes++; d.nodes > maxNodes {
		return nil, errLarge
	}
	if depth > maxDepth {
		return nil, errDeep
	}
	d.count()
	n := &node{line: d.line}
	switch t := token.(type) {
	case bool:
		n.kind, n.text = boolean, strconv.FormatBool(t)
	case json.Number:
		n.kind, n.text = number, t.String()
	case string:
		n.kind, n.text = text, t
	case json.Delim:
		n.kind = list
		if t == '{' {
			n.kind = object
		}
		for d.in.More() {
			key := ""
			if n.kind == object {
				k, err := d.in.Token()
				if err != nil {
					return nil, err
				}
				key, _ = k.(string)
			}
			item, err := d.value(depth + 1)
			if err != nil {
				return nil, err
			}
			if n.kind == object {
				n.add(key, item)
			} else {
				n.items = append(n.items, item)
			}
		}
		_, err = d.in.Token()
	}
	return n, err
}

// decodeYAML reads the first document of a YAML stream. Aliases are followed as long as the whole stays within bounds.
func decodeYAML(data []byte) (*node, *fault) {
	// The reader makes all its nodes at once, so they are counted before, by what can begin one.
	n := 0
	for _, mark := range []string{"\n", ",", "[", "{", "- ", ": "} {
		n += bytes.Count(data, []byte(mark))
	}
	if n > 2*maxNodes { // a key and its value are two
		return nil, errLarge
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, &fault{"syntax", strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) == 0 {
		return &node{}, nil
	}
	var d yamlDecoder
	return d.value(root.Content[0], 0)
}

type yamlDecoder struct{ nodes int }

func (d *yamlDecoder) value(y *yaml.Node, depth int) (*node, *fault) {
	if d.nodes++; d.nodes > maxNodes {
		return nil, errLarge
	}
	if depth > maxDepth {
		return nil, errDeep
	}
	n := &node{line: y.Line}
	switch y.Kind {
	case yaml.AliasNode:
		return d.value(y.Alias, depth+1)
	case yaml.ScalarNode:
		n.kind, n.text = scalar(y)
	case yaml.SequenceNode:
		n.kind = list
		for _, c := range y.Content {
			item, f := d.value(c, depth+1)
			if f != nil {
				return nil, f
			}
			n.items = append(n.items, item)
		}
	case yaml.MappingNode:
		n.kind = object
		// What is merged in comes first, so that the mapping's own members win.
		for i := 0; i+1 < len(y.Content); i += 2 {
			if y.Content[i].ShortTag() == "!!merge" {
				if f := d.merge(n, y.Content[i+1], depth+1); f != nil {
					return nil, f
				}
			}
		}
		for i := 0; i+1 < len(y.Content); i += 2 {
			key := y.Content[i]
			if key.ShortTag() == "!!merge" {
				continue
			}
			if key.Kind == yaml.AliasNode {
				key = key.Alias
			}
			if key.Kind != yaml.ScalarNode {
				return nil, &fault{"syntax", fmt.Sprintf("line %d: a key that is no text", y.Content[i].Line)}
			}
			item, f := d.value(y.Content[i+1], depth+1)
			if f != nil {
				return nil, f
			}
			n.add(key.Value, item)
		}
	}
	return n, nil
}

// merge adds the members of the mapping, or of the mappings, that a "<<" names; of equal keys the first counts.
func (d *yamlDecoder) merge(n *node, y *yaml.Node, depth int) *fault {
	from, f := d.value(y, depth)
	if f != nil {
		return f
	}
	sources := []*node{from}
	if from.kind == list {
		sources = from.items
	}
	for _, s := range sources {
		if s.kind != object {
			return &fault{"syntax", fmt.Sprintf("line %d: a merge of what is no mapping", y.Line)}
		}
		for i, key := range s.keys {
			if n.get(key) == nil {
				n.add(key, s.items[i])
			}
		}
	}
	return nil
}

// scalar says what a YAML scalar is in JSON. What JSON cannot say, such as .inf or a date, is a text.
func scalar(y *yaml.Node) (kind, string) {
	switch y.ShortTag() {
	case "!!null":
		return null, ""
	case "!!bool":
		return boolean, strconv.FormatBool(strings.EqualFold(y.Value, "true"))
	case "!!int":
		if json.Valid([]byte(y.Value)) {
			return number, y.Value
		}
		if i, ok := new(big.Int).SetString(strings.TrimPrefix(strings.ReplaceAll(y.Value, "_", ""), "+"), 0); ok {
			return number, i.String()
		}
	case "!!float":
		if json.Valid([]byte(y.Value)) {
			return number, y.Value
		}
		if x, err := strconv.ParseFloat(strings.ReplaceAll(y.Value, "_", ""), 64); err == nil {
			if b, err := json.Marshal(x); err == nil {
				return number, string(b)
			}
		}
	}
	return text, y.Value
}
