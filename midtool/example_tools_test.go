package midtool_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/midtool"
)

func ExampleCompileSchema() {
	for _, raw := range []string{`{"type": "integer"}`, `{"items": {"$ref": "#/$defs/point"}}`, `{"$ref": "https://example.com/point.json"}`} {
		_, err := midtool.CompileSchema(json.RawMessage(raw))
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// midtool: bad_ref: #/$defs/point
	// midtool: remote_ref: https://example.com/point.json
}

const orderSchema = `{"type": "object", "properties": {
	"item_id": {"type": "string", "pattern": "^I[0-9]{4}$"},
	"quantity": {"type": "integer", "minimum": 1, "maximum": 9},
	"deliver_on": {"type": "string", "format": "date"}},
	"required": ["item_id", "quantity"], "additionalProperties": false}`

func ExampleSchema_Check() {
	order, err := midtool.CompileSchema(json.RawMessage(orderSchema))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(order.Check(json.RawMessage(`{"item_id": "I0042", "quantity": 5.0}`)))
	for _, v := range order.Check(json.RawMessage(`{"item_id": "42", "quantity": 12, "gift": true}`)) {
		fmt.Println(v)
	}
	fmt.Println(order.Check(json.RawMessage(`{"item_id": NaN}`))[0].Rule)
	// Output:
	// []
	// pattern at /item_id: does not match ^I[0-9]{4}$
	// maximum at /quantity: 12 against 9
	// false at /gift: no value is allowed here
	// json
}

func ExampleSchema_Unchecked() {
	word, err := midtool.CompileSchema(json.RawMessage(`{"type": "string", "pattern": "^(?!admin)[a-z]+$"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(word.Unchecked(), len(word.Check(json.RawMessage(`"admin"`))))
	// Output:
	// ^(?!admin)[a-z]+$ 0
}

func ExampleSchema_Instance() {
	order, err := midtool.CompileSchema(json.RawMessage(orderSchema))
	if err != nil {
		log.Fatal(err)
	}
	for seed := range uint64(3) {
		arguments, err := order.Instance(seed, "place_order")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(arguments), len(order.Check(arguments)))
	}
	never, err := midtool.CompileSchema(json.RawMessage(`{"type": "integer", "minimum": 5, "maximum": 4}`))
	if err != nil {
		log.Fatal(err)
	}
	_, err = never.Instance(0, "n")
	fmt.Println(err)
	// Output:
	// {"item_id":"I8288","quantity":6} 0
	// {"item_id":"I0840","quantity":4} 0
	// {"item_id":"I0487","quantity":6} 0
	// midtool: no_value: none found for "n"
}

const untidy = `{"type": "object", "properties": {
	"day": {"type": "str", "description": "Day of arrival (YYYY-MM-DD)."},
	"guests": {"type": "integer", "default": "2"}}, "required": ["day", "name"]}`

func ExampleLint() {
	for _, a := range midtool.Lint(midtool.Tool{Name: "book.table", Description: "Books.", License: "MIT License", Parameters: json.RawMessage(untidy)}) {
		fmt.Println(a)
	}
	// Output:
	// /description: description_short: "Books."
	// /license: license_spelling: "MIT License" -> "MIT"
	// /name: name_characters: "book.table" -> "book_table"
	// /parameters/properties/day: type_word: "str" -> {"type":"string","description":"Day of arrival (YYYY-MM-DD)."}
	// /parameters/properties/guests: parameter_description
	// /parameters/properties/guests/default: default_type: "2" -> 2
	// /parameters/required: required_unknown: name -> ["day"]
}

func ExampleRepair() {
	tool, left := midtool.Repair(midtool.Tool{Name: "book.table", Description: "Books.", License: "MIT License", Parameters: json.RawMessage(untidy)})
	fmt.Println(tool.Name, tool.License)
	fmt.Println(string(tool.Parameters))
	for _, a := range left {
		fmt.Println(a)
	}
	// Output:
	// book_table MIT
	// {"type":"object","properties":{"day":{"type":"string","description":"Day of arrival (YYYY-MM-DD).","format":"date"},"guests":{"type":"integer","default":2}},"required":["day"]}
	// /description: description_short: "Books."
	// /parameters/properties/guests: parameter_description
}

func ExampleDropNullUnions() {
	tool, err := midtool.DropNullUnions(midtool.Tool{Name: "list_orders", Parameters: json.RawMessage(`{"type": "object", "properties": {
		"tags": {"type": ["null", "array"], "items": {"type": "string"}}, "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(tool.Parameters))
	fmt.Println(tool.Lossy)
	// Output:
	// {"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer"}}}
	// [null_union_dropped null_union_dropped]
}
