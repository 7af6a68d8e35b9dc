package midtool

import (
	"encoding/json"

	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct{ s *schema.Schema }

// CompileSchema reads a schema.
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	s, err := schema.CompileRaw(raw)
	if err != nil {
		return nil, err
	}
	return &Schema{s}, nil
}

// Check lists how a value breaks the schema.
func (s *Schema) Check(value json.RawMessage) []Violation { return nil }

// Instance makes a value that the schema accepts.
func (s *Schema) Instance(seed uint64, name string) (json.RawMessage, error) { return nil, nil }
