package token

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/rl"
)

// Bounds of one line. Reading takes a small multiple of its bytes.
const (
	maxLine  = 64 << 20 // bytes
	maxDepth = 64       // of arrays and objects in each other
	maxExtra = 1024     // fields that are not ours
)

// ReadRows reads rows as Python writes them with json.dumps, one object per line, blank lines skipped. Names are those of
// the tags of [Row]; a field that is null or an empty array counts as not given. Fields with other names go to Extra, up to
// 1,024 of them, and so does a misspelt one. The end of a trajectory is "terminated" or "truncated"; elements of mask,
// invalid and excluded, and success, are 0, 1, 0.0, 1.0, false or true. Numbers are finite: NaN and Infinity, which json.dumps
// writes unless told allow_nan=False, are errors anywhere, and so is null among numbers. Write 0 at masked positions, where
// nothing is read. The lengths of the fields of a row are checked, as [FromRows] does.
//
// Errors name the line counted from 1 and wrap a [*RowError] where a field is at fault; after one the sequence ends. A
// line is at most 64 MiB long and nested at most 64 deep, so memory is bounded whatever r holds, by a multiple of the
// line. The sequence can be ranged over once, reads ahead of what it yields, and does not close r.
func ReadRows(r io.Reader) iter.Seq2[Row, error] {
	count := 0
	return jsonl.Values(r, maxLine, "token:", func(line []byte, _ int) (Row, error) {
		row, err := parseRow(count, bytes.TrimSpace(line))
		if err == nil {
			_, err = row.starts(count)
		}
		count++
		return row, err
	})
}

// UnmarshalJSON replaces r by the row that data describes, in the form that [ReadRows] takes; null changes nothing. It does
// not check lengths.
func (r *Row) UnmarshalJSON(data []byte) error {
	if string(data) == "null" { // the custom of encoding/json
		return nil
	}
	row, err := parseRow(-1, data)
	if err == nil {
		*r = row
	}
	return err
}

// parseRow reads row i.
func parseRow(i int, line []byte) (Row, error) {
	var r Row
	if !utf8.Valid(line) {
		return r, &RowError{i, "", -1, "not UTF-8", "valid UTF-8"}
	}
	if err := checkLine(i, line); err != nil {
		return r, err
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	whole := func(err error) error { // what the decoder says of a line that stops before the object does
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return &RowError{i, "", -1, "cut short", "a whole JSON object on one line"}
		}
		return err
	}
	if tok, err := dec.Token(); err != nil {
		return r, whole(err)
	} else if tok != json.Delim('{') {
		return r, &RowError{i, "", -1, fmt.Sprintf("%.40s", line), "an object"}
	}
	all := columns(&r)
	var seen [len(all)]bool
	for dec.More() {
		tok, err := dec.Token()
		name, ok := tok.(string)
		if err != nil || !ok {
			return r, fmt.Errorf("name of a field: %w", cmp.Or(whole(err), errors.New("not a string")))
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return r, fmt.Errorf("%.40s: %w", name, whole(err))
		}
		c := slices.IndexFunc(all[:], func(c column) bool { return c.name == name })
		_, extra := r.Extra[name]
		switch {
		case strings.ContainsRune(name, utf8.RuneError):
			return r, &RowError{i, fmt.Sprintf("%.40q", name), -1, "not Unicode", "a name without U+FFFD or half a surrogate pair"}
		case extra || c >= 0 && seen[c]:
			return r, &RowError{i, fmt.Sprintf("%.40s", name), -1, "given twice", "one value"}
		case c < 0 && len(r.Extra) == maxExtra:
			return r, &RowError{i, "", -1, fmt.Sprintf("an object with more than %d other fields", maxExtra), "fewer"}
		case c < 0:
			if r.Extra == nil {
				r.Extra = make(map[string]json.RawMessage)
			}
			r.Extra[name] = raw
		default:
			seen[c] = true
			if string(raw) == "null" {
				continue
			}
			if err := all[c].parse(i, raw); err != nil {
				return r, err
			}
		}
	}
	if _, err := dec.Token(); err != nil { // the brace
		return r, whole(err)
	}
	if tok, err := dec.Token(); err != io.EOF {
		return r, &RowError{i, "", -1, fmt.Sprintf("followed by %.40q", fmt.Sprint(cmp.Or[any](tok, err))), "one object a line"}
	}
	return r, nil
}

// checkLine looks, ahead of the decoder, for what it would not stop at or would explain badly: the numbers that JSON does not
// have, and nesting. Malformed JSON is left to the decoder.
func checkLine(i int, line []byte) error {
	depth, index, name := 0, 0, ""
	fault := func(got, want string) error {
		if depth < 2 {
			return &RowError{i, name, -1, got, want}
		}
		return &RowError{i, name, index, got, want}
	}
	for p := 0; p < len(line); p++ {
		switch line[p] {
		case '{', '[':
			if depth++; depth == 2 {
				index = 0
			}
			if depth > maxDepth {
				return fault("nested too deep", fmt.Sprintf("at most %d arrays and objects in each other", maxDepth))
			}
		case '}', ']':
			depth = max(0, depth-1)
		case ',':
			if depth == 2 {
				index++
			}
		case 'N', 'I': // in no word of JSON
			for _, word := range [...]string{"NaN", "Infinity"} {
				if bytes.HasPrefix(line[p:], []byte(word)) {
					return fault(word, "a finite number, as JSON has no other (json.dumps with allow_nan=False finds it)")
				}
			}
		case '"':
			from := p + 1
			for p = from; p < len(line) && line[p] != '"'; p++ {
				if line[p] == '\\' {
					p++
				}
			}
			if depth != 1 {
				continue
			}
			if rest := bytes.TrimLeft(line[min(p+1, len(line)):], " \t\r"); len(rest) > 0 && rest[0] == ':' {
				name = fmt.Sprintf("%.40s", line[from:min(p, len(line))])
			}
		}
	}
	return nil
}

// parse sets the column of row i from valid JSON.
func (c *column) parse(i int, raw []byte) error {
	fault := func(index int, got []byte, want string) error {
		return &RowError{i, c.name, index, fmt.Sprintf("%.40s", got), want}
	}
	switch p := c.at.(type) {
	case *string:
		if json.Unmarshal(raw, p) != nil || halfPair(raw) {
			return fault(-1, raw, "a string of Unicode characters")
		}
	case **int:
		v, err := strconv.Atoi(string(raw))
		if err != nil {
			return fault(-1, raw, "an integer")
		}
		*p = &v
	case **float64:
		v, err := number(raw)
		if err != nil {
			return fault(-1, raw, err.Error())
		}
		*p = &v
	case **bool:
		v, err := flag(raw)
		if err != nil {
			return fault(-1, raw, err.Error())
		}
		*p = &v
	case *rl.End:
		switch string(raw) {
		case `"terminated"`:
			*p = rl.Terminated
		case `"truncated"`:
			*p = rl.Truncated
		default:
			return fault(-1, raw, `"terminated" or "truncated"`)
		}
	case *[]string:
		var texts []*string // nil where there is a null
		if json.Unmarshal(raw, &texts) != nil || halfPair(raw) || slices.Contains(texts, nil) {
			return fault(-1, raw, "an array of strings of Unicode characters")
		}
		*p = make([]string, len(texts))
		for i, text := range texts {
			(*p)[i] = *text
		}
	case *[]int:
		return array(p, raw, fault, func(text []byte) (int, error) {
			v, err := strconv.Atoi(string(text))
			if err != nil {
				err = errors.New("an integer")
			}
			return v, err
		})
	case *[]float64:
		return array(p, raw, fault, number)
	case *[]bool:
		return array(p, raw, fault, flag)
	case *bits:
		return array((*[]bool)(p), raw, fault, flag)
	}
	return nil
}

// halfPair reports whether valid JSON has an escape for half a surrogate pair, as json.dumps writes for bytes that are not
// UTF-8. The decoder would turn each of them into the same character, and different states into one.
func halfPair(raw []byte) bool {
	for p := 0; p < len(raw); p++ {
		if raw[p] != '\\' {
			continue
		}
		p++
		high := escaped(raw[p:])
		if !utf16.IsSurrogate(high) {
			continue
		}
		p += 5
		if p+1 >= len(raw) || raw[p] != '\\' || utf16.DecodeRune(high, escaped(raw[p+1:])) == utf8.RuneError {
			return true
		}
		p += 5
	}
	return false
}

// escaped returns the character that u and four hexadecimal digits stand for, or -1.
func escaped(text []byte) rune {
	if len(text) < 5 || text[0] != 'u' {
		return -1
	}
	v, err := strconv.ParseUint(string(text[1:5]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(v)
}

// array reads valid JSON into dst, if it is an array of what one reads. The error of one says what that is.
func array[T any](dst *[]T, raw []byte, fault func(int, []byte, string) error, one func([]byte) (T, error)) error {
	if raw[0] != '[' {
		return fault(-1, raw, "an array")
	}
	rest := bytes.TrimSpace(raw[1 : len(raw)-1])
	if len(rest) == 0 {
		return nil
	}
	out := make([]T, 0, bytes.Count(rest, []byte{','})+1)
	for more := true; more; {
		var text []byte
		text, rest, more = bytes.Cut(rest, []byte{','}) // also inside a string or an array, of which no part is an element
		text = bytes.TrimSpace(text)
		v, err := one(text)
		if err != nil {
			return fault(len(out), text, err.Error())
		}
		out = append(out, v)
	}
	*dst = out
	return nil
}

// number reads a JSON number. Valid JSON has digits, or a minus, at the start of numbers only.
func number(text []byte) (float64, error) {
	if len(text) > 0 && (text[0] == '-' || '0' <= text[0] && text[0] <= '9') {
		if v, err := strconv.ParseFloat(string(text), 64); err == nil {
			return v, nil
		}
	}
	return 0, errors.New("a finite number")
}

// flag reads a truth value in the ways of Python.
func flag(text []byte) (bool, error) {
	switch string(text) {
	case "0", "0.0", "false":
		return false, nil
	case "1", "1.0", "true":
		return true, nil
	}
	return false, errors.New("0, 1, false or true")
}

// WriteRows writes one JSON object per line, which [ReadRows] turns into equal rows: floats keep their bits. Fields that are
// nil, empty or have their zero value are left out, and so is an end that is not given. Those of Extra follow in the order of
// their names, their values as they are but for white space.
//
// All rows are checked before the first byte is written: lengths as by [FromRows], numbers finite, also where nobody reads
// them, text valid UTF-8, Extra valid JSON under names that are not ours. Errors are a [*RowError], those of w, or name a row
// too large for one line of 64 MiB, which comes after the lines before it have been written.
func WriteRows(w io.Writer, rows []Row) error {
	for i := range rows {
		if _, err := rows[i].starts(i); err != nil {
			return err
		}
		if err := rows[i].checkJSON(i); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(w)
	var line []byte
	for i := range rows {
		line = append(rows[i].appendJSON(line[:0]), '\n')
		if len(line) > maxLine {
			return &RowError{i, "", -1, fmt.Sprintf("%d bytes long", len(line)), fmt.Sprintf("at most %d", maxLine)}
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// MarshalJSON returns the object that [WriteRows] writes. It does not check lengths.
func (r Row) MarshalJSON() ([]byte, error) {
	if err := r.checkJSON(-1); err != nil {
		return nil, err
	}
	return r.appendJSON(nil), nil
}

// checkJSON checks what JSON cannot carry.
func (r *Row) checkJSON(i int) error {
	all := columns(r)
	for _, c := range all {
		switch p := c.at.(type) {
		case *string:
			if !utf8.ValidString(*p) {
				return &RowError{i, c.name, -1, fmt.Sprintf("%.40q", *p), "valid UTF-8"}
			}
		case *[]string:
			for j, s := range *p {
				if !utf8.ValidString(s) {
					return &RowError{i, c.name, j, fmt.Sprintf("%.40q", s), "valid UTF-8"}
				}
			}
		case **float64:
			if *p != nil && **p-**p != 0 {
				return &RowError{i, c.name, -1, fmt.Sprint(**p), "a finite number"}
			}
		case *[]float64:
			for j, v := range *p {
				if v-v != 0 {
					return &RowError{i, c.name, j, fmt.Sprint(v), "a finite number"}
				}
			}
		}
	}
	if len(r.Extra) > maxExtra {
		return &RowError{i, "", -1, fmt.Sprintf("an object with %d other fields", len(r.Extra)), fmt.Sprintf("at most %d", maxExtra)}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Extra)) {
		raw, field := r.Extra[name], fmt.Sprintf("%.40q of Extra", name)
		switch {
		case strings.ContainsRune(name, utf8.RuneError): // also what is not UTF-8
			return &RowError{i, field, -1, "not Unicode", "a name without U+FFFD, in valid UTF-8"}
		case slices.ContainsFunc(all[:], func(c column) bool { return c.name == name }):
			return &RowError{i, field, -1, "the name of a field of Row", "another name"}
		case !json.Valid(raw) || !utf8.Valid(raw):
			return &RowError{i, field, -1, fmt.Sprintf("%.40q", raw), "valid JSON"}
		}
		if err := checkLine(i, slices.Concat([]byte(`[`), raw, []byte(`]`))); err != nil {
			return &RowError{i, field, -1, "nested too deep", fmt.Sprintf("at most %d arrays and objects in each other", maxDepth-1)}
		}
	}
	return nil
}

// appendJSON appends the object of a row that passed checkJSON.
func (r *Row) appendJSON(b []byte) []byte {
	b = append(b, '{')
	open := len(b)
	name := func(s string) {
		if len(b) > open {
			b = append(b, ',')
		}
		b = append(appendString(b, s), ':')
	}
	for _, c := range columns(r) {
		switch p := c.at.(type) {
		case *string:
			if *p != "" {
				name(c.name)
				b = appendString(b, *p)
			}
			continue
		case *rl.End:
			if *p != rl.Continue {
				name(c.name)
				b = appendString(b, p.String())
			}
			continue
		case **int:
			if *p != nil {
				name(c.name)
				b = strconv.AppendInt(b, int64(**p), 10)
			}
			continue
		case **float64:
			if *p != nil {
				name(c.name)
				b = appendFloat(b, **p)
			}
			continue
		case **bool:
			if *p != nil {
				name(c.name)
				b = strconv.AppendBool(b, **p)
			}
			continue
		}
		if c.size() == 0 {
			continue
		}
		name(c.name)
		switch p := c.at.(type) {
		case *[]string:
			b = appendArray(b, *p, appendString)
		case *[]int:
			b = appendArray(b, *p, func(b []byte, v int) []byte { return strconv.AppendInt(b, int64(v), 10) })
		case *[]float64:
			b = appendArray(b, *p, appendFloat)
		case *[]bool:
			b = appendArray(b, *p, strconv.AppendBool)
		case *bits:
			b = appendArray(b, *p, func(b []byte, v bool) []byte {
				if v {
					return append(b, '1')
				}
				return append(b, '0')
			})
		}
	}
	for _, extra := range slices.Sorted(maps.Keys(r.Extra)) {
		name(extra)
		var compact bytes.Buffer
		if json.Compact(&compact, r.Extra[extra]) == nil { // always: checked
			b = append(b, compact.Bytes()...)
		}
	}
	return append(b, '}')
}

func appendArray[T any](b []byte, x []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for j, v := range x {
		if j > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

// appendFloat appends the shortest decimal that reads back as v. Whole numbers keep a point, as in Python, where 1 and 1.0
// are different types; -0 keeps its sign.
func appendFloat(b []byte, v float64) []byte {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.AppendFloat(b, v, 'f', 1, 64)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// appendString appends the JSON string of valid UTF-8.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				return append(b, `""`...) // never: strings have no errors
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
