package dedup

import (
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// SampleContent returns the text by which samples are compared: what the user and the assistant say and the scalar values of the
// arguments, each on a line, in order. It has neither the offered tools nor results, which many samples share. Set the
// Exact of the [Record] to [midtool.Sample.ContentHash] and leave Zero off: two samples that differ in a number are no
// duplicates.
func SampleContent(s *midtool.Sample) string {
	var c lines
	for i := range s.Messages {
		m := &s.Messages[i]
		if m.Role == midtool.RoleUser || m.Role == midtool.RoleAssistant {
			c.add(m.Content)
		}
		for j := range m.Calls {
			arguments, err := jsonval.Parse(m.Calls[j].Arguments)
			if err != nil { // a faulty call is compared as it stands
				c.add(string(m.Calls[j].Arguments))
				continue
			}
			c.values(&arguments)
		}
	}
	return c.String()
}

// ToolContent returns the text by which tools are compared: name and description of the tool and of its parameters, those in
// objects and lists too, each on a line, in the order of the schema. It has none of the words of JSON Schema, which all tools
// share.
func ToolContent(t *midtool.Tool) string {
	var c lines
	c.add(t.Name)
	c.add(t.Description)
	if parameters, err := jsonval.Parse(t.Parameters); err == nil {
		c.parameters(&parameters)
	}
	return c.String()
}

// lines joins texts that are not empty.
type lines struct{ strings.Builder }

func (c *lines) add(text string) {
	if text == "" {
		return
	}
	if c.Len() > 0 {
		c.WriteByte('\n')
	}
	c.WriteString(text)
}

func (c *lines) values(v *jsonval.Value) {
	c.add(v.Text)
	for i := range v.List {
		c.values(&v.List[i])
	}
	for i := range v.Members {
		c.values(&v.Members[i].Value)
	}
}

// parameters walks the places of a schema where other schemas stand.
func (c *lines) parameters(schema *jsonval.Value) {
	for i := range schema.Members {
		key, v := schema.Members[i].Key, &schema.Members[i].Value
		switch key {
		case "properties", "$defs", "definitions":
			for j := range v.Members {
				p := &v.Members[j]
				if key == "properties" {
					c.add(p.Key)
				}
				c.add(jsonval.StringOf(p.Value.Get("description")))
				c.parameters(&p.Value)
			}
		case "items", "additionalProperties":
			c.add(jsonval.StringOf(v.Get("description")))
			c.parameters(v)
		case "prefixItems", "anyOf", "oneOf", "allOf":
			for j := range v.List {
				c.add(jsonval.StringOf(v.List[j].Get("description")))
				c.parameters(&v.List[j])
			}
		}
	}
}
