package native

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/throughline-go/throughline/midtool"
)

// shop is a small hand-written tool set in four groups.
func shop() []midtool.Tool {
	def := func(group, name, description, properties, required string) midtool.Tool {
		return midtool.Tool{Name: name, Description: description, Group: group, License: "MIT",
			Parameters: []byte(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)}
	}
	return []midtool.Tool{
		def("orders", "get_order", "Returns one order with its lines.", `"order_id":{"type":"string","description":"The order's number"},"verbose":{"type":"boolean"}`, `"order_id"`),
		def("orders", "delete_order", "Deletes an order for good.", `"order_id":{"type":"string"},"reason":{"type":"string","enum":["changed_mind","too_late","other"]}`, `"order_id","reason"`),
		def("orders", "list_orders", "List the orders of a customer.", `"customer":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":5},"since":{"type":"string","format":"date"}`, `"customer"`),
		def("orders", "createOrder", "", `"customer":{"type":"string"},"lines":{"type":"array","minItems":1,"items":{"type":"object","properties":{"sku":{"type":"string"},"quantity":{"type":"integer"}},"required":["sku","quantity"]}}`, `"customer","lines"`),
		def("weather-service", "forecast", "Get the forecast for a city", `"city":{"type":"string"},"at":{"type":"string","format":"date-time"},"code":{"type":"string","pattern":"^[A-Z]{2}-\\d{3}$"}`, `"city","at","code"`),
		def("weather-service", "station.status", "状態を返します。", `"station":{"type":"string"},"range":{"type":"number","exclusiveMinimum":0,"maximum":1}`, `"station","range"`),
		def("translation", "translate_text", "Translates a text into another language.", `"text":{"type":"string","description":"What to translate"},"target_language":{"type":"string"}`, `"text","target_language"`),
		def("translation", "detect_language", "Detects the language of a text.", `"text":{"type":"string"}`, `"text"`),
		def("misc", "ping", "Check that the service is up.", ``, ``),
	}
}

func generate(t testing.TB, tools []midtool.Tool, o *Options) *midtool.Corpus {
	t.Helper()
	c, err := Generate(context.Background(), tools, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// encode writes all there is to a corpus.
func encode(t testing.TB, c *midtool.Corpus) string {
	t.Helper()
	var b bytes.Buffer
	if err := midtool.WriteMessages(&b, c.Samples, &midtool.MessageOptions{Meta: true}); err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Rejected {
		b.WriteString(r.Error() + "\n")
	}
	return b.String()
}

func toJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
