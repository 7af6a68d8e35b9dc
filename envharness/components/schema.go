package components

import (
	"encoding/json"
	"strings"
)

// Properties and schemas that several components share.
const (
	patternsSchema = `{"type":"array","items":{"type":"string"}}`
	toolsProperty  = `"tools":` + patternsSchema
	windowProperty = `"from":{"type":"integer","minimum":0},"until":{"type":"integer","minimum":0}`
	matchSchema    = `{"type":"object","properties":{"tool":{"type":"string"},"args":{"type":"object"}},"additionalProperties":false}`
	namesSchema    = `{"type":"object","additionalProperties":{"type":"string","minLength":1}}`
	chanceSchema   = `{"type":"number","minimum":0,"maximum":1}`
)

// objectSchema is the schema of parameters with the given properties, each `"name":schema`; required lists names with a comma between.
func objectSchema(required string, properties ...string) json.RawMessage {
	s := `{"type":"object","properties":{` + strings.Join(properties, ",") + `},`
	if required != "" {
		s += `"required":["` + strings.ReplaceAll(required, ",", `","`) + `"],`
	}
	return json.RawMessage(s + `"additionalProperties":false}`)
}
