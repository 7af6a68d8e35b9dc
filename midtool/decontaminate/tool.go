package decontaminate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

var separators = strings.NewReplacer(".", "_", "-", "_", " ", "_")

// toolName is the form in which names are compared.
func toolName(name string) string { return strings.ToLower(separators.Replace(name)) }

// toolKey is equal for functions that are the same.
func toolKey(name string, parameters []string, description string) string {
	key := strconv.AppendQuote(nil, name)
	if len(parameters) == 0 {
		return string(append(append(key, ' '), Normalize(description)...))
	}
	for _, p := range slices.Compact(slices.Sorted(slices.Values(parameters))) {
		key = strconv.AppendQuote(append(key, ','), p)
	}
	return string(key)
}

// parametersOf returns the names of the parameters in a schema, false for one that cannot be read.
func parametersOf(schema []byte) ([]string, bool) {
	v, err := jsonval.Parse(schema)
	if err != nil {
		return nil, false
	}
	return propertyNames(&v), true
}

// propertyNames lists the properties of a schema.
func propertyNames(schema *jsonval.Value) []string {
	properties := schema.Get("properties")
	if properties == nil {
		return nil
	}
	var names []string
	for _, m := range properties.Members { // none of what is no object
		names = append(names, m.Key)
	}
	return names
}

// tool appends the matches of a tool: by the name that it has, and by that which it had.
func (s *scan) tool(t *midtool.Tool) {
	name := toolName(t.Name)
	s.toolNamed(name, t.Name, t)
	if t.Original != "" {
		if original := toolName(t.Original); original != name {
			s.toolNamed(original, t.Original, t)
		}
	}
}

func (s *scan) toolNamed(name, written string, t *midtool.Tool) {
	if !s.ix.names[name] {
		return
	}
	parameters, ok := parametersOf(t.Parameters)
	if !ok {
		return
	}
	for _, item := range s.ix.tools[toolKey(name, parameters, t.Description)] {
		s.match(SameTool, int(item), 0, written+"("+strings.Join(parameters, ", ")+")")
	}
}
