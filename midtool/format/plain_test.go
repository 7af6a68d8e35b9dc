package format

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/throughline-go/throughline/midtool"
)

// weather asks once, calls once and answers.
func weather() midtool.Sample {
	return midtool.Sample{
		ID: "s1", Family: midtool.Single, Ability: midtool.Grounding, Source: "native",
		Tools: []midtool.Tool{{
			Name: "get_weather", Description: "Returns the current weather for a city.", License: "MIT",
			Parameters: []byte(`{"type":"object","properties":{"city":{"type":"string","description":"City name."},` +
				`"units":{"type":"string","enum":["metric","imperial"]}},"required":["city"]}`),
		}},
		Messages: []midtool.Message{
			{Role: midtool.RoleUser, Content: "What is the weather in Zürich? Use metric units."},
			{Role: midtool.RoleAssistant, Calls: []midtool.Call{
				{ID: "call_0001", Name: "get_weather", Arguments: []byte(`{"city":"Zürich","units":"metric"}`)},
			}},
			{Role: midtool.RoleTool, Content: `{"city": "Zürich", "temp_c": 7}`, CallID: "call_0001", Name: "get_weather"},
			{Role: midtool.RoleAssistant, Content: "It is 7 degrees Celsius in Zürich."},
		},
	}
}

// The bytes were computed by an independent script.
func TestPlainBytes(t *testing.T) {
	s := weather()
	got, err := Plain(&Record{Sample: &s})
	if err != nil {
		t.Fatal(err)
	}
	const want = "e141a2a1cdd3c16c114abab742aa55b1a4eda4b2af7c2ec65d9f54aec91d77bb"
	sum := sha256.Sum256([]byte(got.Text))
	if len(got.Text) != 533 || hex.EncodeToString(sum[:]) != want || len(got.Loss) != 1 || got.Loss[0] != (Span{0, 533}) {
		t.Errorf("%d bytes, SHA-256 %x, loss %v, want 533, %s and all:\n%s", len(got.Text), sum, got.Loss, want, got.Text)
	}
}
