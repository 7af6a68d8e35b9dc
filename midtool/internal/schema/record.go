package schema

import (
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
)

// A Field is a property of an object schema.
type Field struct {
	Name     string
	Words    []string // of the name
	Schema   *Schema
	Required bool
}

// Fields lists the properties that an object schema names, in order, through its references and allOf and the first
// branch of its unions.
func (s *Schema) Fields() []Field {
	v := lay(s, 0)
	if v.Never {
		return nil
	}
	requires := v.requires()
	out := make([]Field, len(v.props))
	for i, p := range v.props {
		out[i] = Field{p.name, names.Words(p.name), p.schema, requires(p.name)}
	}
	return out
}

// Is says whether the schema, if it names types at all, names this one.
func (s *Schema) Is(k jsonval.Kind) bool {
	t := lay(s, 0).types
	return t.Has(k) || k == jsonval.Number && t&integerType != 0
}

// Format is the format that the schema names; empty if none.
func (s *Schema) Format() string { return lay(s, 0).format }

// Items is the schema of the items of a list; nil if the schema does not describe a list of one kind of item.
func (s *Schema) Items() *Schema { return lay(s, 0).items }

// Alike says whether two schemas speak of values that can stand for each other: their types are equal, null aside, and
// their formats too. What one of them leaves open is no difference.
func Alike(a, b *Schema) bool {
	v, w := lay(a, 0), lay(b, 0)
	const null = 1 << jsonval.Null
	t, u := v.types&^null, w.types&^null
	return (t == 0 || u == 0 || t == u) && (v.format == "" || w.format == "" || v.format == w.format)
}

// IsIdentifier says whether a parameter or a field of these words identifies something.
func IsIdentifier(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "id", "ids", "uuid", "key", "slug":
		return true
	}
	return false
}

// IdentifierOf returns the index of the field that identifies what stem names: the identifier that has the words of the
// stem before its last one, else the one called just that, else the only one there is; -1 if there is none.
func IdentifierOf(fields []Field, stem string) int {
	plain, only, n := -1, -1, 0
	for i, f := range fields {
		if !IsIdentifier(f.Words) {
			continue
		}
		n++
		only = i
		switch head := strings.Join(f.Words[:len(f.Words)-1], " "); {
		case head == stem && stem != "":
			return i
		case head == "" && plain < 0:
			plain = i
		}
	}
	switch {
	case plain >= 0:
		return plain
	case n == 1:
		return only
	}
	return -1
}

// A Record says where a result speaks of the thing that its tool is about.
type Record struct {
	Path   []string // keys from the result to the record, or to the list of records
	List   bool     // there are many of them
	Schema *Schema  // of one; nil if the result has none
}

// Words of properties that hold the record, or the records, and say nothing else about it (ours).
var (
	wrapsOne  = names.WordSet("data result item record object response payload entity value")
	wrapsMany = names.WordSet("data result item record entry list row match hit value node")
)

// RecordOf finds the record in a result schema: the items of a list, an object with an identifier of its own, what a
// property named after the thing or after nothing in particular holds, or else the object itself.
func RecordOf(s *Schema, stem string) Record { return recordOf(s, stem, nil) }

func recordOf(s *Schema, stem string, path []string) Record {
	v := lay(s, 0)
	if items := v.items; items != nil && v.props == nil && s.Is(jsonval.List) {
		if items.Is(jsonval.Object) && len(items.Fields()) > 0 {
			return Record{path, true, items}
		}
		return Record{}
	}
	if !s.Is(jsonval.Object) || len(v.props) == 0 {
		return Record{}
	}
	fields := s.Fields()
	own := slices.ContainsFunc(fields, func(f Field) bool {
		return IsIdentifier(f.Words) && (len(f.Words) == 1 || strings.Join(f.Words[:len(f.Words)-1], " ") == stem)
	})
	last := stem[strings.LastIndexByte(stem, ' ')+1:]
	for _, f := range fields {
		if own || len(f.Words) == 0 || len(path) == 2 {
			break
		}
		word := names.Singular(f.Words[len(f.Words)-1])
		inner := lay(f.Schema, 0)
		wraps := wrapsOne
		if inner.items != nil {
			wraps = wrapsMany
		}
		if word != last && (len(f.Words) > 1 || !wraps[word]) || inner.props == nil && inner.items == nil {
			continue
		}
		if r := recordOf(f.Schema, stem, append(path[:len(path):len(path)], f.Name)); r.Schema != nil {
			return r
		}
	}
	return Record{path, false, s}
}
