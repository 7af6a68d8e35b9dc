package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	maxLine  = 4 << 20 // bytes, without the line break
	maxDepth = 1024    // nesting on a line; values nested deeper than 1,000 are none to package envharness
)

var (
	errTooLong = fmt.Errorf("a line of more than %d bytes", maxLine)
	errText    = errors.New("not UTF-8")
	errDepth   = fmt.Errorf("nested deeper than %d", maxDepth)
)

// lines reads messages. It holds no more than one of them and what it reads ahead.
type lines struct{ in *bufio.Reader }

func newLines(r io.Reader) lines { return lines{bufio.NewReaderSize(r, 64<<10)} }

// next returns a line without its break. A last one that lacks it comes with io.ErrUnexpectedEOF. After errTooLong the rest of the line
// is still to come.
func (l lines) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		line = append(line, part...)
		if len(bytes.TrimSuffix(line, []byte("\n"))) > maxLine {
			if err == nil {
				_ = l.in.UnreadByte() // the break, for skip
			}
			return nil, errTooLong
		}
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// skip drops what is left of a line.
func (l lines) skip() error {
	for {
		if _, err := l.in.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// encode returns v as a line with its break.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // arguments arrive as they were sent
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	line := b.Bytes()
	if !utf8.Valid(line) { // in a json.RawMessage
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	switch {
	case len(line)-1 > maxLine:
		return nil, errTooLong
	case tooDeep(line): // the other side would take it for no message
		return nil, errDepth
	}
	return line, nil
}

// fields takes a line apart, which must be one JSON object.
func fields(line []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(line) {
		return nil, errText
	}
	if tooDeep(line) {
		return nil, errDepth
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New("not an object")
	}
	return m, nil
}

// tooDeep counts brackets before anything is built from them. Of what is no JSON it may say anything.
func tooDeep(line []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// strict decodes one value into v, which must know all fields.
func strict(raw json.RawMessage, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(v) // raw is one value
}

// whole reports whether raw is one JSON object.
func whole(raw json.RawMessage) bool { return object(raw) && json.Valid(raw) }

// object reports whether raw, a JSON value, is an object.
func object(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}
