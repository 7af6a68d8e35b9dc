package schema

import (
	"strconv"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A leaf is one scalar of a call's arguments, or an empty list or object.
type Leaf struct {
	Path   string // JSON Pointer into the arguments
	Keys   []string
	Value  *jsonval.Value
	Schema *Schema // of the argument itself; nil if unknown
	Text   string  // the words that carry the value, filled by the wording
}

// LeavesOf lists the scalars of the arguments in order. The path and the keys are those of v itself.
func LeavesOf(s *Schema, v *jsonval.Value, path string, keys []string) []Leaf {
	return appendLeaves(nil, s, v, path, keys)
}

func appendLeaves(out []Leaf, s *Schema, v *jsonval.Value, path string, keys []string) []Leaf {
	switch {
	case v.Kind == jsonval.Object && len(v.Members) > 0:
		for i := range v.Members {
			m := &v.Members[i]
			below := append(keys[:len(keys):len(keys)], m.Key)
			out = appendLeaves(out, s.Member(m.Key), &m.Value, path+"/"+jsonval.PointerEscape(m.Key), below)
		}
		return out
	case v.Kind == jsonval.List && len(v.List) > 0:
		for i := range v.List {
			at := strconv.Itoa(i)
			below := append(keys[:len(keys):len(keys)], at)
			out = appendLeaves(out, s.item(i), &v.List[i], path+"/"+at, below)
		}
		return out
	}
	return append(out, Leaf{Path: path, Keys: keys, Value: v, Schema: s})
}

// Member finds the schema of a member by its name, through references and branches; a nil schema knows none.
func (s *Schema) Member(key string) *Schema {
	var found *Schema
	s.within(func(s *Schema) bool { found = s.index[key]; return found != nil })
	return found
}

// item finds the schema of an item, as [Schema.Member] does.
func (s *Schema) item(i int) *Schema {
	var found *Schema
	s.within(func(s *Schema) bool {
		if found = s.items; i < len(s.prefix) {
			found = s.prefix[i]
		}
		return found != nil
	})
	return found
}
