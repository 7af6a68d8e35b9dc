package openenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// The codes of error messages. After the first four the session goes on; the others end it.
const (
	codeInvalidJSON = "INVALID_JSON"
	codeUnknownType = "UNKNOWN_TYPE"
	codeValidation  = "VALIDATION_ERROR"
	codeExecution   = "EXECUTION_ERROR"
	codeCapacity    = "CAPACITY_REACHED"
	codeFactory     = "FACTORY_ERROR"
	codeSession     = "SESSION_ERROR"
)

const (
	maxDepth = 1024 // of nesting: the 1000 that package envharness allows to values, and what is around them
	maxName  = 255  // characters of an episode_id or a request_id
	maxInput = 1024 // bytes of an offending value that are sent back
)

// A message is one that a client may send.
type message struct {
	kind    string // reset, step, state, close or mcp
	reset   envharness.ResetOptions
	episode string // the episode_id of a reset
	step    stepData
	rpc     json.RawMessage // what an mcp message carries
}

// A fault says why a message was refused.
type fault struct {
	code, text string
	problems   []problem
}

// A problem is one broken rule, in the form that pydantic made common.
type problem struct {
	Type  string          `json:"type"`
	Loc   []any           `json:"loc"`
	Msg   string          `json:"msg"`
	Input json.RawMessage `json:"input"`
}

func broken(kind string, loc []any, input json.RawMessage, format string, args ...any) problem {
	if len(input) > maxInput {
		input, _ = json.Marshal(strings.ToValidUTF8(string(input[:maxInput]), "") + "...")
	}
	return problem{Type: kind, Loc: loc, Msg: fmt.Sprintf(format, args...), Input: input}
}

// at extends a location without sharing its memory.
func at(loc []any, name string) []any { return append(slices.Clone(loc), name) }

// readMessage reads a text frame of a client.
func readMessage(raw []byte) (message, *fault) {
	if err := wellFormed(raw); err != nil {
		return message{}, &fault{code: codeInvalidJSON, text: err.Error()}
	}
	fields, ok := object(raw)
	if !ok {
		return message{}, invalid(broken("dict_type", []any{}, raw, "a message is an object"))
	}
	var m message
	if json.Unmarshal(fields["type"], &m.kind) != nil {
		m.kind = ""
	}
	allowed := []string{"type", "data"}
	switch m.kind {
	case "reset", "step", "mcp":
	case "state", "close":
		allowed = allowed[:1]
	default:
		return message{}, &fault{code: codeUnknownType, text: "the type is none of reset, step, state, close and mcp"}
	}
	problems := extra(fields, nil, allowed...)
	data, given := fields["data"]
	loc := []any{"data"}
	inner, isObject := object(data)
	switch {
	case m.kind == "state" || m.kind == "close":
	case !given && m.kind == "reset":
	case !given:
		problems = append(problems, broken("missing", loc, raw, "data is required"))
	case !isObject:
		problems = append(problems, broken("dict_type", loc, data, "data is an object"))
	default:
		var more []problem
		switch m.kind {
		case "reset":
			m.reset, m.episode, more = readReset(loc, inner)
		case "step":
			m.step, more = readStep(loc, data, inner)
		case "mcp":
			m.rpc = data
		}
		problems = append(problems, more...)
	}
	if len(problems) > 0 {
		return message{}, invalid(problems...)
	}
	return m, nil
}

func invalid(problems ...problem) *fault {
	return &fault{code: codeValidation, text: "the message is invalid", problems: problems}
}

// extra reports the fields that are not allowed, in the order of their names.
func extra(fields map[string]json.RawMessage, loc []any, allowed ...string) (problems []problem) {
	for _, k := range sortedKeys(fields) {
		if !slices.Contains(allowed, k) {
			problems = append(problems, broken("extra_forbidden", at(loc, k), fields[k], "no such field"))
		}
	}
	return problems
}

// readReset reads the fields of a reset. The task is what task says, or else episode_id. All fields but these, seed and those in skip
// are the options of the episode.
func readReset(loc []any, fields map[string]json.RawMessage, skip ...string) (o envharness.ResetOptions, episode string, ps []problem) {
	if raw, ok := present(fields, "seed"); ok {
		if seed, p := readSeed(at(loc, "seed"), raw); p != nil {
			ps = append(ps, *p)
		} else {
			o.Seed = &seed
		}
	}
	episode, ps = readName(loc, fields, "episode_id", ps)
	o.Task = episode
	if raw, ok := present(fields, "task"); ok && json.Unmarshal(raw, &o.Task) != nil {
		ps = append(ps, broken("string_type", at(loc, "task"), raw, "task is a string"))
	}
	options := map[string]json.RawMessage{}
	for k, v := range fields {
		if k != "seed" && k != "episode_id" && k != "task" && !slices.Contains(skip, k) {
			options[k] = v
		}
	}
	if len(options) > 0 {
		o.Options, _ = encode(options) // parts of a document that is well-formed
	}
	return o, episode, ps
}

func readSeed(loc []any, raw json.RawMessage) (uint64, *problem) {
	text := string(raw)
	seed, err := strconv.ParseUint(text, 10, 64)
	var p problem
	switch {
	case err == nil:
		return seed, nil
	case strings.HasPrefix(text, "-") && text != "-0":
		p = broken("greater_than_equal", loc, raw, "seed is at least 0")
	case errors.Is(err, strconv.ErrRange):
		p = broken("int_parsing_size", loc, raw, "seed is below 2^64")
	default:
		p = broken("int_type", loc, raw, "seed is an integer")
	}
	return 0, &p
}

// readName reads an optional text of at most maxName characters.
func readName(loc []any, fields map[string]json.RawMessage, name string, ps []problem) (string, []problem) {
	raw, ok := present(fields, name)
	if !ok {
		return "", ps
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", append(ps, broken("string_type", at(loc, name), raw, "%s is a string", name))
	}
	if utf8.RuneCountInString(s) > maxName {
		return "", append(ps, broken("string_too_long", at(loc, name), raw, "%s has at most %d characters", name, maxName))
	}
	return s, ps
}

// readStep reads {"name":..,"args":..}, or one of the two forms of the reference's client for tools. Arguments that are no object are not
// refused here: a policy that wrote such has used up a turn, and it is the environment that says so. The metadata that the reference's
// actions carry along are ignored.
func readStep(loc []any, raw json.RawMessage, fields map[string]json.RawMessage) (d stepData, ps []problem) {
	nameKey, argsKey := "name", "args"
	switch string(fields["type"]) {
	case `"call_tool"`:
		d.manner, nameKey, argsKey = called, "tool_name", "arguments"
		ps = extra(fields, loc, "type", nameKey, argsKey, "metadata")
	case `"list_tools"`:
		d.manner = listing
		ps = extra(fields, loc, "type", "metadata")
	default:
		ps = extra(fields, loc, nameKey, argsKey, "metadata")
	}
	if d.manner != listing {
		name, ok := fields[nameKey]
		switch {
		case !ok:
			ps = append(ps, broken("missing", at(loc, nameKey), raw, "%s is required", nameKey))
		case name[0] != '"':
			ps = append(ps, broken("string_type", at(loc, nameKey), name, "%s is a string", nameKey))
		default:
			_ = json.Unmarshal(name, &d.action.Name) // a string of a document that is well-formed
		}
		if args, ok := present(fields, argsKey); ok {
			d.action.Args = args
		}
	}
	if meta, ok := present(fields, "metadata"); ok && meta[0] != '{' {
		ps = append(ps, broken("dict_type", at(loc, "metadata"), meta, "metadata is an object"))
	}
	return d, ps
}

// present returns a field that is there and not null.
func present(fields map[string]json.RawMessage, name string) (json.RawMessage, bool) {
	raw, ok := fields[name]
	return raw, ok && string(raw) != "null"
}

// object reads a JSON object field by field: encoding/json would find the fields of a struct in any letter case.
func object(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return nil, false
	}
	return m, true
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// wellFormed checks that raw is one JSON value, in UTF-8, and nested no deeper than maxDepth. It is called before anything is decoded.
func wellFormed(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("the message is not UTF-8")
	}
	depth, text := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("the message is nested deeper than %d", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	if !json.Valid(raw) {
		return errors.New("the message is not JSON")
	}
	return nil
}

// encode writes v as JSON with "<" and the like as they are, so that what is raw JSON in v keeps its letters.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
