package midtool

import "encoding/json"

// Advice is one thing about a tool definition that hurts those who use it, with a repair where one is known.
type Advice struct {
	Code   string          // for example "empty_description"
	Path   string          // JSON Pointer into {"name", "description", "parameters", "returns", "license"}
	Detail string          // what was found
	Repair json.RawMessage // what to put at Path; nil where only its author can know
}

// Lint reads a tool definition as it came and advises its author.
func Lint(t Tool) []Advice { return nil }
