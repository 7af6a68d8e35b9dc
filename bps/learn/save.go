package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

const (
	formatName    = "throughline/bps/learn"
	formatVersion = 1
	maxFile       = 16 << 20 // bytes
	maxDepth      = 4        // of arrays and objects in one another
)

type modelFile struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Form    string    `json:"form"`
	Dim     int       `json:"dim"`
	Kappa   float64   `json:"kappa"`
	Base    []float64 `json:"base"`
	Skills  rowsFile  `json:"skills"`
	Queries rowsFile  `json:"queries"`
}

type rowsFile struct {
	Names []string    `json:"names"`
	Rows  [][]float64 `json:"rows"`
	Map   [][]float64 `json:"map,omitempty"`
}

var formNames = [...]string{Ceiling: "ceiling", Offset: "offset"}

// Save writes m as one line of JSON, without the features. Equal models give equal bytes.
//
//	{"format":"throughline/bps/learn","version":1,"form":"ceiling","dim":5,"kappa":...,"base":[...],
//	 "skills":{"names":[...],"rows":[[...],...],"map":[[...],...]},"queries":{...}}
//
// Rows have dim numbers; names ascend and have a row each; a map has a row a feature and is absent where there are none; base has c or b of
// every query, or a single one where queries have a map. More than 16 MiB are an error.
func (m *Model) Save(w io.Writer) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// MarshalJSON returns the line that [Model.Save] writes, without the end of it, so that a model can be a part of other JSON. Note that
// [json.Marshal] then writes <, > and & in names as escapes, which make no other model but a longer text.
func (m *Model) MarshalJSON() ([]byte, error) {
	data, err := m.encode()
	return bytes.TrimSuffix(data, []byte("\n")), err
}

// UnmarshalJSON makes m the model that [Load] reads from data, with the same checks. Null is an [ErrFormat] too. Nobody else may use m
// meanwhile; after an error it is as it was.
func (m *Model) UnmarshalJSON(data []byte) error {
	loaded, err := decode(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	*m = *loaded
	return nil
}

// encode returns the line that Save writes.
func (m *Model) encode() ([]byte, error) {
	side := func(r *rows) rowsFile {
		return rowsFile{append([]string{}, r.names...), append([][]float64{}, r.row...), r.weight}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(modelFile{formatName, formatVersion, formNames[m.form], m.dim, m.kappa, m.base, side(&m.skills), side(&m.queries)})
	if err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	if buf.Len() > maxFile {
		return nil, fmt.Errorf("learn: the model takes %d bytes, want at most %d", buf.Len(), maxFile)
	}
	return buf.Bytes(), nil
}

// Load reads what [Model.Save] wrote, to the end of r. It is strict: anything else, such as an unknown or repeated field, a number that no
// fit produces, or more than 16 MiB, is an [ErrFormat]. Errors of r are returned as they are. What it accepts can be saved and loaded
// again with the same bytes. Time and memory are bounded by the length, but one of many tiny rows can take 50 times its bytes. For names
// that were in no record, the model needs [Model.WithFeatures].
func Load(r io.Reader) (*Model, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	m, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return m, nil
}

func decode(data []byte) (*Model, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if !utf8.Valid(data) {
		return nil, errors.New("it is not valid UTF-8")
	}
	if err := checkTokens(data); err != nil {
		return nil, err
	}
	var f modelFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	if f.Format != formatName || f.Version != formatVersion {
		return nil, fmt.Errorf("format is %q, version %d, want %q, %d", f.Format, f.Version, formatName, formatVersion)
	}
	m := &Model{dim: f.Dim, kappa: f.Kappa, base: f.Base}
	switch f.Form {
	case formNames[Ceiling]:
		m.form = Ceiling
	case formNames[Offset]:
		m.form = Offset
	default:
		return nil, fmt.Errorf("form is %q, want one of %q", f.Form, formNames)
	}
	if f.Dim < 1 || f.Dim > maxDim {
		return nil, fmt.Errorf("dim is %d, want 1..%d", f.Dim, maxDim)
	}
	if !inRange(f.Kappa) {
		return nil, fmt.Errorf("kappa is %v, want 0..%v", f.Kappa, float64(maxNumber))
	}
	var err error
	if m.skills, err = f.Skills.decode("skill", f.Dim); err != nil {
		return nil, err
	}
	if m.queries, err = f.Queries.decode("query", f.Dim); err != nil {
		return nil, err
	}
	n := len(m.queries.names)
	if n == 0 {
		return nil, errors.New("there are no queries")
	}
	if m.queries.weight != nil {
		n = 1
	}
	if len(m.base) != n {
		return nil, fmt.Errorf("base has %d numbers, want %d", len(m.base), n)
	}
	for i, b := range m.base {
		if math.Abs(b) > maxNumber || m.form == Ceiling && b > 0 {
			return nil, fmt.Errorf("base[%d] is %v, want at most 0 in the form ceiling and a magnitude of at most %v", i, b, float64(maxNumber))
		}
	}
	return m, nil
}

func (f *rowsFile) decode(kind string, dim int) (rows, error) {
	r := rows{kind: kind, names: f.Names, row: f.Rows, number: index(f.Names)}
	for i := 1; i < len(f.Names); i++ {
		if f.Names[i-1] >= f.Names[i] {
			return r, fmt.Errorf("the %s names %q, %q do not ascend", kind, f.Names[i-1], f.Names[i])
		}
	}
	if len(f.Rows) != len(f.Names) {
		return r, fmt.Errorf("there are %d %s names and %d rows", len(f.Names), kind, len(f.Rows))
	}
	if len(f.Map) > 0 {
		r.weight = f.Map
	}
	for _, table := range [][][]float64{f.Rows, f.Map} {
		for i, row := range table {
			if len(row) != dim {
				return r, fmt.Errorf("a %s row [%d] has %d numbers, want %d", kind, i, len(row), dim)
			}
			for k, v := range row {
				if !inRange(v) {
					return r, fmt.Errorf("number [%d] of %s row [%d] is %v, want 0..%v", k, kind, i, v, float64(maxNumber))
				}
			}
		}
	}
	return r, nil
}

func inRange(x float64) bool { return x >= 0 && x <= maxNumber }

// checkTokens refuses what json.Unmarshal lets pass: unknown fields, also such that differ in case only, repeated and missing ones, null,
// and more data after the end. It bounds the depth.
func checkTokens(data []byte) error {
	outer := []string{"format", "version", "form", "dim", "kappa", "base", "skills", "queries"}
	dec := json.NewDecoder(bytes.NewReader(data))
	type level struct {
		fields map[string]bool // nil in an array
		key    bool            // a field name comes next
	}
	var open []level
	for {
		token, err := dec.Token()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		value := true // the token ends a value
		switch x := token.(type) {
		case json.Delim:
			switch x {
			case '{', '[':
				l := level{}
				if x == '{' {
					l = level{fields: map[string]bool{}, key: true}
				}
				if open = append(open, l); len(open) > maxDepth {
					return fmt.Errorf("it is nested more than %d deep", maxDepth)
				}
				value = false
			default:
				l := open[len(open)-1]
				open = open[:len(open)-1]
				want := outer
				if len(open) > 0 {
					want = []string{"names", "rows"}
				}
				for _, name := range want {
					if l.fields != nil && !l.fields[name] {
						return fmt.Errorf("field %q is missing", name)
					}
				}
			}
		case string:
			if len(open) == 0 || !open[len(open)-1].key {
				break
			}
			l := &open[len(open)-1]
			known := []string{"names", "rows", "map"}
			if len(open) == 1 {
				known = outer
			}
			ok := false
			for _, name := range known {
				ok = ok || name == x
			}
			if !ok {
				return fmt.Errorf("field %q is unknown", x)
			}
			if l.fields[x] {
				return fmt.Errorf("field %q is there twice", x)
			}
			l.fields[x], l.key, value = true, false, false
		case nil:
			return errors.New("null is not allowed")
		}
		if !value {
			continue
		}
		if len(open) == 0 {
			break
		}
		if l := &open[len(open)-1]; l.fields != nil {
			l.key = true
		}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the end of the model")
	}
	return nil
}
