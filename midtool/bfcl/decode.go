package bfcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A call is a [Call] with its arguments read.
type call struct {
	name       string
	args       jsonval.Value // an object
	positional []jsonval.Value
}

// errNoCall is the fault of [{}], which the irrelevance rule counts as an answer without a call.
var errNoCall = errors.New("call 0: want one key, the name of the function, got none")

// Decode reads the calls of a model's output, which is one of
//
//   - a JSON list of objects with one key: [{"f": {"x": 1}}], the form of the reference;
//   - a JSON list of named calls: [{"name": "f", "arguments": {"x": 1}}], where arguments may be JSON in a string too;
//   - OpenAI tool calls: the list [{"type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}] or a
//     message {"tool_calls": [...]} that holds it;
//   - Python call text: [f(x=1), g()], see [ParseCalls];
//   - a JSON string that holds one of these.
//
// An object with one key is always of the first form. An empty list has no calls and no error. Anything else, more
// than 64 MiB, JSON nested deeper than 64 levels (the outer list counted) or invalid UTF-8 is an error that says where.
// Of equal keys the last value counts, as in Python.
func Decode(output []byte) ([]Call, error) {
	calls, err := decode(output)
	if err != nil {
		return nil, fmt.Errorf("bfcl: output: %w", err)
	}
	return public(calls), nil
}

// ParseCalls reads Python call text: a list of calls [f(x=1), g.h(y="a")], or the same without brackets, spaces and
// backticks around it passed over. Names may have dots. Values are literals: strings with Python's escapes, in any
// quotes, side by side to be joined; decimal integers and floats, with a minus; True, False and None; lists, tuples
// (they become lists) and dicts with string keys. A bare name counts as a string, as in the reference. Anything that
// would have to be run is an error: operators, nested calls, subscripts, comprehensions, f-strings, star arguments. So
// are numbers beyond float64, a repeated keyword, nesting deeper than 64 levels, more than 64 MiB and invalid UTF-8.
// The error gives the byte.
func ParseCalls(text string) ([]Call, error) {
	calls, err := parseCalls(text)
	if err != nil {
		return nil, fmt.Errorf("bfcl: call text: %w", err)
	}
	return public(calls), nil
}

func public(calls []call) []Call {
	list := make([]Call, len(calls))
	for i := range calls {
		list[i] = Call{Name: calls[i].name, Arguments: calls[i].args.Bytes(jsonval.Compact)}
		for j := range calls[i].positional {
			list[i].Positional = append(list[i].Positional, json.RawMessage(calls[i].positional[j].Bytes(jsonval.Compact)))
		}
	}
	return list
}

func decode(output []byte) ([]call, error) {
	v, err := jsonval.Parse(output)
	if err == nil && v.Kind == jsonval.String {
		text := v.Text
		if v, err = jsonval.Parse([]byte(text)); err != nil {
			return decodeText(text, err)
		}
	} else if err != nil {
		return decodeText(string(output), err)
	}
	return callsOf(&v)
}

// decodeText reads what is no JSON; invalid is why it is none.
func decodeText(text string, invalid error) ([]call, error) {
	calls, err := parseCalls(text)
	if err == nil {
		return calls, nil
	}
	if start := strings.TrimLeft(text, "[ \t\r\n"); start == "" || strings.ContainsRune(`{"`, rune(start[0])) {
		return nil, invalid
	}
	return nil, fmt.Errorf("neither JSON nor call text: %w", err)
}

func callsOf(v *jsonval.Value) ([]call, error) {
	if v.Kind == jsonval.Object {
		inner := v.Get("tool_calls")
		switch {
		case inner == nil:
			return nil, errors.New(`want a list of calls or "tool_calls", got another object`)
		case inner.Kind == jsonval.Null:
			return nil, nil
		}
		v = inner
	}
	if v.Kind != jsonval.List {
		return nil, fmt.Errorf("want a list of calls, got %s", v.Kind)
	}
	if len(v.List) == 1 && v.List[0].Kind == jsonval.Object && len(v.List[0].Members) == 0 {
		return nil, errNoCall
	}
	calls := make([]call, len(v.List))
	for i := range v.List {
		var err error
		if calls[i], err = callOf(&v.List[i]); err != nil {
			return nil, fmt.Errorf("call %d: %w", i, err)
		}
	}
	return calls, nil
}

func callOf(v *jsonval.Value) (call, error) {
	if v.Kind != jsonval.Object {
		return call{}, fmt.Errorf("want an object, got %s", v.Kind)
	}
	if len(v.Members) == 1 {
		m := &v.Members[0]
		if m.Value.Kind != jsonval.Object {
			return call{}, fmt.Errorf("want an object of arguments, got %s", m.Value.Kind)
		}
		return call{name: m.Key, args: m.Value}, nil
	}
	if f := v.Get("function"); f != nil && f.Kind == jsonval.Object {
		v = f
	}
	name, args := v.Get("name"), v.Get("arguments")
	if name == nil || name.Kind != jsonval.String || args == nil {
		return call{}, fmt.Errorf(`want one key, or "name" and "arguments", got %d keys`, len(v.Members))
	}
	if args.Kind == jsonval.String {
		inner, err := jsonval.Parse([]byte(args.Text))
		if err != nil {
			return call{}, fmt.Errorf("arguments of %q: %w", brief(name.Text), err)
		}
		args = &inner
	}
	if args.Kind != jsonval.Object {
		return call{}, fmt.Errorf("arguments of %q: want an object, got %s", brief(name.Text), args.Kind)
	}
	return call{name: name.Text, args: *args}, nil
}
