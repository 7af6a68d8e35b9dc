package schema

import (
	"strconv"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A Leaf is one scalar of a call's arguments, or an empty list or object.
type Leaf struct {
	Path   string // JSON Pointer into the arguments
	Keys   []string
	Value  *jsonval.Value
	Schema *Schema // of the argument itself; nil if unknown
	Text   string  // the words that carry the value, filled by the wording
}

// LeavesOf lists the scalars of the arguments in order. The path and the keys are those of v itself.
func LeavesOf(s *Schema, v *jsonval.Value, path string, keys []string) []Leaf {
	return appendLeaves(make([]Leaf, 0, max(1, len(v.Members), len(v.List))), s, v, path, keys)
}

// AppendLeaves adds the [LeavesOf] of all arguments of a call.
func AppendLeaves(dst []Leaf, s *Schema, args *jsonval.Value) []Leaf {
	return appendLeaves(dst, s, args, "", nil)
}

func appendLeaves(out []Leaf, s *Schema, v *jsonval.Value, path string, keys []string) []Leaf {
	switch {
	case v.Kind == jsonval.Object && len(v.Members) > 0:
		room := make([]string, 0, len(v.Members)*(len(keys)+1)) // for the keys of all members
		for i := range v.Members {
			m := &v.Members[i]
			from := len(room)
			room = append(append(room, keys...), m.Key)
			below := room[from:len(room):len(room)]
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

// Member finds the schema of a member by its name, through references and branches: that of a property, or else of the
// first pattern that matches. Where nothing else does and a pattern outside Go's syntax may, it is a schema that says
// nothing. A nil schema knows no member.
func (s *Schema) Member(key string) *Schema {
	var found *Schema
	patterns := false
	s.within(func(s *Schema) bool {
		found = s.index[key]
		patterns = patterns || s.patterns != nil
		return found != nil
	})
	if found != nil || !patterns {
		return found
	}
	tried := 0
	s.within(func(s *Schema) bool {
		for _, p := range s.patterns {
			if tried++; tried > maxPatterns {
				return true
			}
			switch {
			case p.pattern == nil:
				found = unknown
			case p.pattern.MatchString(key):
				found = p.schema
				return true
			}
		}
		return false
	})
	return found
}

// Names are compared with so many patterns at most: arguments may have many names, and both come from strangers.
const maxPatterns = 256

var unknown = &Schema{lengths: [4]int{-1, -1, -1, -1}}

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
