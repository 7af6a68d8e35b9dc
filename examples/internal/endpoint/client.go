package endpoint

import "github.com/throughline-go/throughline/envharness/openai"

// Client returns the client behind the model, for a policy with options of its own.
func (m *Model) Client() *openai.Client { return m.client }
