package openapisource_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/openapisource"
)

func ExampleSource_Tools() {
	doc := `
openapi: 3.0.3
info: {title: Weather, version: "1.2"}
paths:
  /forecast/{city}:
    get:
      summary: Get the forecast of a city.
      parameters:
        - {name: city, in: path, required: true, schema: {type: string}}
        - {name: days, in: query, schema: {type: integer, maximum: 14}}
        - {name: X-Trace, in: header, schema: {type: string}}
    delete: {deprecated: true, operationId: forget}
`
	source := openapisource.Source{
		Locator: "weather.yaml", // a file or a folder of the system where FS is not set
		FS:      fstest.MapFS{"weather.yaml": {Data: []byte(doc)}},
		Skip:    func(r midtool.Rejection) { fmt.Println("left out:", r.Tool, r.Reason) },
	}
	for tool, err := range source.Tools(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tool.Name, tool.ReadOnly, tool.Lossy)
		fmt.Println(string(tool.Parameters))
	}
	// Output:
	// left out: forget deprecated
	// get_forecast_city true [header_parameter:X-Trace]
	// {"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","maximum":14}},"required":["city"]}
}
