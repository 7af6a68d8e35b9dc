package bfcl_test

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/throughline-go/throughline/midtool/bfcl"
)

const questions = `{"id": "simple_python_0", "question": [[{"role": "user", "content": "Water the ferns for four minutes."}]], "function": [{"name": "water", "description": "Waters a bed.", "parameters": {"type": "dict", "properties": {"bed": {"type": "string"}, "minutes": {"type": "integer"}}, "required": ["bed"]}}]}`

const answers = `{"id": "simple_python_0", "ground_truth": [{"water": {"bed": ["ferns", "fern"], "minutes": [4, ""]}}]}`

// collect reads all rows.
func collect[T any](rows iter.Seq2[T, error]) ([]T, error) {
	var list []T
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, nil
}

func tasks() ([]bfcl.Task, error) {
	list, err := collect(bfcl.ReadTasks(strings.NewReader(questions), "questions"))
	if err != nil {
		return nil, err
	}
	gold, err := collect(bfcl.ReadAnswers(strings.NewReader(answers), "answers"))
	if err != nil {
		return nil, err
	}
	return list, bfcl.Join(list, gold)
}

func ExampleNewChecker() {
	list, err := tasks()
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := bfcl.NewChecker(list[0], nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, output := range []string{`[{"water": {"bed": "Ferns"}}]`, `[water(bed="ferns", minutes=4.0)]`} {
		v := c.CheckOutput([]byte(output))
		fmt.Printf("%v %q %q\n", v.Valid, v.Error, v.Path)
	}
	// Output:
	// true "" ""
	// false "type_error:simple" "/minutes"
}

func ExampleEvaluate() {
	list, err := tasks()
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := `{"id": "simple_python_0", "result": [{"name": "water", "arguments": {"bed": "moss"}}]}`
	outputs, err := collect(bfcl.ReadOutputs(strings.NewReader(rows), "outputs"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := bfcl.Evaluate(context.Background(), list, outputs, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range r.Scores {
		fmt.Println(s.Category, s.Correct, "of", s.Rows, s.Errors)
	}
	// Output: simple_python 0 of 1 [{value_error:string 1}]
}

func ExampleTask_GoldCalls() {
	list, err := tasks()
	if err != nil {
		fmt.Println(err)
		return
	}
	calls, err := list[0].GoldCalls(false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(calls[0].Name, string(calls[0].Arguments))
	// Output: water {"bed":"ferns","minutes":4}
}

func ExampleDecode() {
	calls, err := bfcl.Decode([]byte(`{"tool_calls": [{"type": "function", "function": {"name": "water", "arguments": "{\"bed\": \"moss\"}"}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(calls[0].Name, string(calls[0].Arguments))
	// Output: water {"bed":"moss"}
}

func ExampleParseCalls() {
	calls, err := bfcl.ParseCalls(`[garden.water("moss", minutes=-4, at=(6, 7.0), gentle=True)]`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %s %s\n", calls[0].Name, calls[0].Positional, calls[0].Arguments)
	_, err = bfcl.ParseCalls(`water(minutes=next(day))`)
	fmt.Println(err)
	// Output:
	// garden.water ["moss"] {"minutes":-4,"at":[6,7.0],"gentle":true}
	// bfcl: call text: offset 18: expected ',' or ')' after an argument
}

func ExampleReadFunctions() {
	doc := `{"name": "water", "description": "Waters a bed.", "parameters": {"type": "dict", "properties": {}}, "response": {"type": "dict"}}`
	for f, err := range bfcl.ReadFunctions(strings.NewReader(doc), "garden.json") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(f.Name, string(f.Response))
	}
	// Output: water {"type":"dict"}
}

func ExampleJoin() {
	list, err := collect(bfcl.ReadTasks(strings.NewReader(questions), "questions"))
	if err != nil {
		fmt.Println(err)
		return
	}
	gold, err := collect(bfcl.ReadAnswers(strings.NewReader(answers), "answers"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := bfcl.Join(list, gold); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(list[0].Category, list[0].Gold[0].Name, string(list[0].Gold[0].Options))
	// Output: simple_python water {"bed":["ferns","fern"],"minutes":[4,""]}
}
