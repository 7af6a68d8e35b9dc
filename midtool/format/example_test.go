package format_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/format"
)

// weather is a conversation of one call.
var weather = midtool.Sample{
	ID: "s1", Family: midtool.Single, Ability: midtool.Grounding, Source: "native",
	Tools: []midtool.Tool{{
		Name: "get_weather", Description: "Returns the weather in a city.", License: "MIT",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`),
	}},
	Messages: []midtool.Message{
		{Role: midtool.RoleUser, Content: "How warm is it in Zürich?"},
		{Role: midtool.RoleAssistant, Calls: []midtool.Call{{ID: "1", Name: "get_weather", Arguments: json.RawMessage(`{"city":"Zürich"}`)}}},
		{Role: midtool.RoleTool, Content: `{"temp_c": 7}`, CallID: "1", Name: "get_weather"},
		{Role: midtool.RoleAssistant, Content: "7 °C."},
	},
}

func ExamplePlain() {
	r, err := format.Plain(&format.Record{Sample: &weather})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(r.Text)
	fmt.Println(r.Loss)
	// Output:
	// ### Tools
	// {"name": "get_weather", "description": "Returns the weather in a city.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
	// ### User
	// How warm is it in Zürich?
	// ### Call
	// {"name": "get_weather", "arguments": {"city": "Zürich"}}
	// ### Result get_weather
	// {"temp_c": 7}
	// ### Assistant
	// 7 °C.
	// [{0 322}]
}

func ExampleWriter() {
	records := []format.Record{
		{ID: "s1", Sample: &weather},
		{ID: "d1", Source: "web", Text: "A page about weather.", Licenses: []string{"CC0-1.0"}, Meta: map[string]string{"title": "Weather"}},
	}
	for _, form := range []string{"plain", "sharegpt"} {
		w, err := format.NewWriter(os.Stdout, form, nil)
		if err != nil {
			log.Fatal(err)
		}
		for i := range records {
			err := w.Write(&records[i])
			if skipped, ok := errors.AsType[*format.SkipError](err); ok {
				defer fmt.Println(skipped.Error()) // after the lines
			} else if err != nil {
				log.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%+v\n", w.Counts())
	}
	// Output:
	// {"id":"s1","text":"### Tools\n{\"name\": \"get_weather\", \"description\": \"Returns the weather in a city.\", \"parameters\": {\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}}\n### User\nHow warm is it in Zürich?\n### Call\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Zürich\"}}\n### Result get_weather\n{\"temp_c\": 7}\n### Assistant\n7 °C.\n","source":"native","ability":"grounding","tokens":103,"license":["MIT"],"meta":{"messages":4,"family":"single"}}
	// {"id":"d1","text":"A page about weather.","source":"web","ability":"","tokens":5,"license":["CC0-1.0"],"meta":{"title":"Weather"}}
	// {Written:2 Bytes:630 Tokens:108 Trained:343 Skipped:map[]}
	// {"id":"s1","conversations":[{"from":"human","value":"How warm is it in Zürich?"},{"from":"function_call","value":"[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Zürich\"}}]"},{"from":"observation","value":"{\"temp_c\": 7}"},{"from":"gpt","value":"7 °C."}],"system":"","tools":"[{\"name\": \"get_weather\", \"description\": \"Returns the weather in a city.\", \"parameters\": {\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}}]"}
	// {Written:1 Bytes:467 Tokens:103 Trained:0 Skipped:map[document:1]}
	// format: sharegpt: record "d1": document
}

func ExampleRead() {
	for _, form := range format.Names() {
		if form == "pretokenized" {
			continue // see ReadTokens
		}
		var b bytes.Buffer
		w, err := format.NewWriter(&b, form, nil)
		if err != nil {
			log.Fatal(err)
		}
		if err := errors.Join(w.Write(&format.Record{Sample: &weather}), w.Close()); err != nil {
			log.Fatal(err)
		}
		for r, err := range format.Read(&b, form, "corpus.jsonl") {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%-12s %d messages, calls %s\n", form, len(r.Sample.Messages), r.Sample.Messages[1].Calls[0].Arguments)
		}
	}
	// Output:
	// plain        4 messages, calls {"city":"Zürich"}
	// openai       4 messages, calls {"city":"Zürich"}
	// trl          4 messages, calls {"city":"Zürich"}
	// axolotl      4 messages, calls {"city":"Zürich"}
	// llamafactory 4 messages, calls {"city":"Zürich"}
	// sharegpt     4 messages, calls {"city":"Zürich"}
	// hermes       4 messages, calls {"city":"Zürich"}
	// qwen         4 messages, calls {"city":"Zürich"}
}

// A toy is a tokenizer whose tokens are bytes.
type toy struct{}

func (toy) Name() string { return "toy" }

func (toy) Encode(text string) (ids []uint32, ends []int) {
	for i := range len(text) {
		ids, ends = append(ids, uint32(text[i])), append(ends, i+1)
	}
	return ids, ends
}

func (toy) EndOfText() uint32 { return 256 }

func ExampleReadTokens() {
	var b bytes.Buffer
	w, err := format.NewWriter(&b, "pretokenized", &format.Options{Tokenizer: toy{}, Text: "qwen"})
	if err != nil {
		log.Fatal(err)
	}
	s := midtool.Sample{Messages: []midtool.Message{{Role: midtool.RoleUser, Content: "Hi."}, {Role: midtool.RoleAssistant, Content: "Hello."}}}
	if err := errors.Join(w.Write(&format.Record{Sample: &s}), w.Close()); err != nil {
		log.Fatal(err)
	}
	for row, err := range format.ReadTokens(&b, "corpus.jsonl") {
		if err != nil {
			log.Fatal(err)
		}
		var learned strings.Builder
		for i, label := range row.Labels {
			if label >= 0 && i < len(row.Labels)-1 {
				learned.WriteByte(byte(label))
			}
		}
		fmt.Printf("%d tokens, learned: %s and the end %d\n", len(row.InputIDs), learned.String(), row.Labels[len(row.Labels)-1])
	}
	// Output: 71 tokens, learned: Hello.<|im_end|> and the end 256
}

func ExampleNewRow() {
	row, err := format.NewRow(&format.Record{ID: "r1", Sample: &weather}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(row.ID, row.Source, row.Ability, row.Tokens, row.License, row.Meta, row.Trained() == len(row.Text))
	r, err := row.Record()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Sample.Family, len(r.Sample.Messages))
	// Output:
	// r1 native grounding 103 [MIT] {"messages":4,"family":"single"} true
	// single 4
}
