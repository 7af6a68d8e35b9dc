package openaitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// A fault is what is wrong with a request.
type fault struct {
	status  int
	param   string // the field, as a path
	message string
}

func (f *fault) Error() string {
	if f.param == "" {
		return f.message
	}
	return f.param + ": " + f.message
}

func bad(param, format string, args ...any) error {
	return &fault{http.StatusBadRequest, param, fmt.Sprintf(format, args...)}
}

// The fields of the public reference.
var (
	chatFields = strings.Fields(`messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
		max_tokens metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options
		prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options
		temperature tool_choice tools top_logprobs top_p user verbosity web_search_options`)
	embeddingFields = strings.Fields(`input model dimensions encoding_format user`)
	messageFields   = map[string][]string{
		"system": {"role", "content", "name"}, "developer": {"role", "content", "name"}, "user": {"role", "content", "name"},
		"assistant": {"role", "content", "name", "refusal", "audio", "function_call", "tool_calls"},
		"tool":      {"role", "content", "tool_call_id"}, "function": {"role", "content", "name"},
	}
	contentParts = map[string][]string{
		"system": {"text"}, "developer": {"text"}, "tool": {"text"}, "user": {"text", "image_url", "input_audio", "file"},
		"assistant": {"text", "refusal"},
	}
	partFields = map[string][]string{
		"text": {"type", "text", "prompt_cache_breakpoint"}, "refusal": {"type", "refusal"},
		"image_url":   {"type", "image_url", "prompt_cache_breakpoint"},
		"input_audio": {"type", "input_audio", "prompt_cache_breakpoint"}, "file": {"type", "file", "prompt_cache_breakpoint"},
	}
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// parse checks a request.
func parse(r *http.Request, body []byte) (Request, error) {
	q := Request{Path: strings.TrimPrefix(r.URL.Path, "/v1"), Header: r.Header.Clone(), Body: body}
	known := r.URL.Path == "/v1/chat/completions" || r.URL.Path == "/v1/embeddings"
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case !known:
		return q, &fault{http.StatusNotFound, "", "there is no path " + r.URL.Path}
	case r.Method != http.MethodPost:
		return q, &fault{http.StatusMethodNotAllowed, "", "the method is " + r.Method + ", not POST"}
	case err != nil || kind != "application/json":
		return q, &fault{http.StatusUnsupportedMediaType, "", fmt.Sprintf("the content type is %q, not application/json", kind)}
	}
	if a := r.Header.Get("Authorization"); a != "" && !strings.HasPrefix(a, "Bearer ") && !strings.HasPrefix(a, "Basic ") {
		return q, bad("", "the authorization is neither Bearer nor Basic")
	}
	if len(r.Header.Values("Authorization")) > 1 {
		return q, bad("", "there are two authorizations")
	}
	if err := once(body); err != nil {
		return q, err
	}
	if q.Path == "/embeddings" {
		return q, q.embeddings(body)
	}
	return q, q.chat(body)
}

// once checks that body is one JSON value without an object that has a field twice.
func once(body []byte) error {
	if !json.Valid(body) {
		return bad("", "the body is not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	var keys []map[string]bool // nil for a list
	name := false              // a name comes next
	for {
		token, err := d.Token()
		if err != nil {
			return nil // the end of what is valid
		}
		if s, ok := token.(string); ok && name {
			if keys[len(keys)-1][s] {
				return bad(s, "the field is there twice")
			}
			keys[len(keys)-1][s] = true
			name = false
			continue
		}
		switch token {
		case json.Delim('{'):
			keys = append(keys, map[string]bool{})
		case json.Delim('['):
			keys = append(keys, nil)
		case json.Delim('}'), json.Delim(']'):
			keys = keys[:len(keys)-1]
		}
		name = len(keys) > 0 && keys[len(keys)-1] != nil
	}
}

// An object is one in a body, with its path.
type object struct {
	path   string
	fields map[string]json.RawMessage
}

func newObject(path string, raw json.RawMessage, known []string) (object, error) {
	o := object{path: path}
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &o.fields) != nil {
		return o, bad(path, "it must be an object")
	}
	for _, name := range sorted(o.fields) {
		if known != nil && !slices.Contains(known, name) {
			return o, bad(o.at(name), "there is no such field")
		}
	}
	return o, nil
}

func sorted(m map[string]json.RawMessage) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// has tells whether a field has a value.
func (o object) has(name string) bool {
	raw, ok := o.fields[name]
	return ok && string(raw) != "null"
}

// string reads a text. One that need not be there is empty without a value.
func (o object) string(name string, need bool) (string, error) {
	if !o.has(name) {
		if need {
			return "", bad(o.at(name), "it is missing")
		}
		return "", nil
	}
	var s string
	if json.Unmarshal(o.fields[name], &s) != nil {
		return "", bad(o.at(name), "it must be a string")
	}
	return s, nil
}

func (o object) bool(name string) (bool, error) {
	var b bool
	if o.has(name) && json.Unmarshal(o.fields[name], &b) != nil {
		return false, bad(o.at(name), "it must be true or false")
	}
	return b, nil
}

func (o object) list(name string) ([]json.RawMessage, error) {
	var l []json.RawMessage
	if o.has(name) && json.Unmarshal(o.fields[name], &l) != nil {
		return nil, bad(o.at(name), "it must be a list")
	}
	return l, nil
}

// number checks that a field without which it does well is in [low, high].
func (o object) number(name string, low, high float64, whole bool) error {
	if !o.has(name) {
		return nil
	}
	var v float64
	if json.Unmarshal(o.fields[name], &v) != nil {
		return bad(o.at(name), "it must be a number")
	}
	if whole && v != math.Trunc(v) {
		return bad(o.at(name), "%v is not a whole number", v)
	}
	if v < low || v > high {
		return bad(o.at(name), "%v is not in [%v, %v]", v, low, high)
	}
	return nil
}

func (o object) oneOf(name string, values ...string) error {
	s, err := o.string(name, false)
	if err == nil && o.has(name) && !slices.Contains(values, s) {
		return bad(o.at(name), "%q is none of %s", s, strings.Join(values, ", "))
	}
	return err
}

func (q *Request) embeddings(body []byte) error {
	o, err := newObject("", body, embeddingFields)
	if err != nil {
		return err
	}
	if q.Model, err = o.string("model", true); err != nil {
		return err
	}
	var one string
	switch {
	case !o.has("input"):
		return bad("input", "it is missing")
	case json.Unmarshal(o.fields["input"], &one) == nil:
		q.Input = []string{one}
	case json.Unmarshal(o.fields["input"], &q.Input) != nil:
		return bad("input", "it must be a string or a list of strings; lists of tokens are not served here")
	}
	if n := len(q.Input); n < 1 || n > 2048 {
		return bad("input", "%d texts are not in [1, 2048]", n)
	}
	for i, text := range q.Input {
		if text == "" {
			return bad(fmt.Sprintf("input[%d]", i), "it is empty")
		}
	}
	if err := o.oneOf("encoding_format", "float", "base64"); err != nil {
		return err
	}
	format, _ := o.string("encoding_format", false)
	q.Base64 = format == "base64"
	if _, err := o.string("user", false); err != nil {
		return err
	}
	return o.number("dimensions", 1, math.MaxInt32, true)
}

func (q *Request) chat(body []byte) error {
	o, err := newObject("", body, chatFields)
	if err != nil {
		return err
	}
	if q.Model, err = o.string("model", true); err != nil {
		return err
	}
	if q.Model == "" {
		return bad("model", "it is empty")
	}
	if q.Stream, err = o.bool("stream"); err != nil {
		return err
	}
	if err := q.settings(o); err != nil {
		return err
	}
	if err := q.tools(o); err != nil {
		return err
	}
	return q.messages(o)
}

// settings checks what is neither a message nor a tool.
func (q *Request) settings(o object) error {
	const big = 1 << 53
	for _, n := range []struct {
		name      string
		low, high float64
		whole     bool
	}{
		{"temperature", 0, 2, false}, {"top_p", 0, 1, false}, {"frequency_penalty", -2, 2, false}, {"presence_penalty", -2, 2, false},
		{"n", 1, 128, true}, {"max_tokens", 1, big, true}, {"max_completion_tokens", 1, big, true}, {"seed", -1 << 63, 1 << 63, true},
		{"top_logprobs", 0, 20, true},
	} {
		if err := o.number(n.name, n.low, n.high, n.whole); err != nil {
			return err
		}
	}
	if o.has("max_tokens") && o.has("max_completion_tokens") {
		return bad("max_tokens", "it excludes max_completion_tokens")
	}
	for _, name := range []string{"logprobs", "store", "parallel_tool_calls"} {
		if _, err := o.bool(name); err != nil {
			return err
		}
	}
	if logprobs, _ := o.bool("logprobs"); o.has("top_logprobs") && !logprobs {
		return bad("top_logprobs", "it needs logprobs")
	}
	for _, name := range []string{"user", "safety_identifier", "prompt_cache_key"} {
		if _, err := o.string(name, false); err != nil {
			return err
		}
	}
	for name, values := range map[string]string{
		"reasoning_effort": "none minimal low medium high xhigh max", "service_tier": "auto default flex scale priority fast",
		"verbosity": "low medium high", "prompt_cache_retention": "in_memory 24h",
	} {
		if err := o.oneOf(name, strings.Fields(values)...); err != nil {
			return err
		}
	}
	if o.has("stop") {
		var one string
		var stops []string
		if json.Unmarshal(o.fields["stop"], &one) != nil && (json.Unmarshal(o.fields["stop"], &stops) != nil || len(stops) > 4) {
			return bad("stop", "it must be a string or a list of up to 4")
		}
	}
	if !o.has("stream_options") {
		return nil
	}
	if !q.Stream {
		return bad("stream_options", "it needs stream")
	}
	s, err := newObject("stream_options", o.fields["stream_options"], []string{"include_usage", "include_obfuscation"})
	if err != nil {
		return err
	}
	if _, err := s.bool("include_obfuscation"); err != nil {
		return err
	}
	q.Usage, err = s.bool("include_usage")
	return err
}

func (q *Request) tools(o object) error {
	list, err := o.list("tools")
	if err != nil {
		return err
	}
	if o.has("tools") && (len(list) == 0 || len(list) > 128) {
		return bad("tools", "%d tools are not in [1, 128]", len(list))
	}
	seen := map[string]bool{}
	for i, raw := range list {
		path := fmt.Sprintf("tools[%d]", i)
		outer, err := newObject(path, raw, []string{"type", "function"})
		if err != nil {
			return err
		}
		kind, err := outer.string("type", true)
		if err != nil {
			return err
		}
		if kind != "function" {
			return bad(outer.at("type"), "%q is not function", kind)
		}
		f, err := newObject(outer.at("function"), outer.fields["function"], []string{"name", "description", "parameters", "strict"})
		if err != nil {
			return err
		}
		t, err := tool(f)
		if err != nil {
			return err
		}
		if seen[t.Name] {
			return bad(f.at("name"), "%q is there twice", t.Name)
		}
		seen[t.Name] = true
		q.Tools = append(q.Tools, t)
	}
	if len(list) == 0 {
		for _, name := range []string{"tool_choice", "parallel_tool_calls"} {
			if o.has(name) {
				return bad(name, "it needs tools")
			}
		}
	}
	return choice(o, seen)
}

func tool(f object) (Tool, error) {
	var t Tool
	var err error
	if t.Name, err = f.string("name", true); err != nil {
		return t, err
	}
	if !toolName.MatchString(t.Name) {
		return t, bad(f.at("name"), "%q is not 1 to 64 of a-z, A-Z, 0-9, _ and -", t.Name)
	}
	if t.Description, err = f.string("description", false); err != nil {
		return t, err
	}
	if _, err := f.bool("strict"); err != nil {
		return t, err
	}
	if !f.has("parameters") {
		return t, nil
	}
	schema, err := newObject(f.at("parameters"), f.fields["parameters"], nil)
	if err != nil {
		return t, err
	}
	if kind, err := schema.string("type", true); err != nil || kind != "object" {
		return t, bad(schema.at("type"), "it must be object")
	}
	if _, err := newObject(schema.at("properties"), schema.fields["properties"], nil); err != nil {
		return t, err
	}
	t.Parameters = f.fields["parameters"]
	return t, nil
}

func choice(o object, tools map[string]bool) error {
	if !o.has("tool_choice") {
		return nil
	}
	if o.fields["tool_choice"][0] == '"' {
		return o.oneOf("tool_choice", "none", "auto", "required")
	}
	c, err := newObject("tool_choice", o.fields["tool_choice"], []string{"type", "function"})
	if err != nil {
		return err
	}
	if err := c.oneOf("type", "function"); err != nil {
		return err
	}
	f, err := newObject("tool_choice.function", c.fields["function"], []string{"name"})
	if err != nil {
		return err
	}
	name, err := f.string("name", true)
	if err == nil && !tools[name] {
		return bad("tool_choice.function.name", "%q is no tool", name)
	}
	return err
}

func (q *Request) messages(o object) error {
	list, err := o.list("messages")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return bad("messages", "there are none")
	}
	open := map[string]bool{} // calls that are yet to be answered
	for i, raw := range list {
		path := fmt.Sprintf("messages[%d]", i)
		o, err := newObject(path, raw, nil)
		if err != nil {
			return err
		}
		role, err := o.string("role", true)
		if err != nil {
			return err
		}
		if messageFields[role] == nil {
			return bad(o.at("role"), "there is no role %q", role)
		}
		if o, err = newObject(path, raw, messageFields[role]); err != nil {
			return err
		}
		m := Message{Role: role}
		if m.Content, err = content(o, role); err != nil {
			return err
		}
		if role == "tool" {
			if m.CallID, err = o.string("tool_call_id", true); err != nil {
				return err
			}
			if !open[m.CallID] {
				return bad(o.at("tool_call_id"), "%q is no call of the assistant's message before it that has no answer yet", m.CallID)
			}
			delete(open, m.CallID)
		} else if len(open) > 0 {
			return unanswered(path, open)
		}
		if m.Calls, err = calls(o, open); err != nil {
			return err
		}
		q.Messages = append(q.Messages, m)
	}
	if len(open) > 0 {
		return unanswered(fmt.Sprintf("messages[%d]", len(list)-1), open)
	}
	return nil
}

func unanswered(path string, open map[string]bool) error {
	var ids []string
	for id := range open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return bad(path, "calls without an answer: %s", strings.Join(ids, ", "))
}

// calls reads those of a message and puts their ids into open.
func calls(o object, open map[string]bool) ([]Call, error) {
	list, err := o.list("tool_calls")
	if err != nil {
		return nil, err
	}
	if o.has("tool_calls") && len(list) == 0 {
		return nil, bad(o.at("tool_calls"), "there are none")
	}
	var all []Call
	for i, raw := range list {
		c, err := newObject(fmt.Sprintf("%s[%d]", o.at("tool_calls"), i), raw, []string{"id", "type", "function"})
		if err != nil {
			return nil, err
		}
		var k Call
		if k.ID, err = c.string("id", true); err != nil {
			return nil, err
		}
		if k.ID == "" || len(k.ID) > 40 || open[k.ID] {
			return nil, bad(c.at("id"), "%q is empty, longer than 40 or there twice", k.ID)
		}
		if kind, err := c.string("type", true); err != nil || kind != "function" {
			return nil, bad(c.at("type"), "it must be function")
		}
		f, err := newObject(c.at("function"), c.fields["function"], []string{"name", "arguments"})
		if err != nil {
			return nil, err
		}
		if k.Name, err = f.string("name", true); err != nil {
			return nil, err
		}
		if !toolName.MatchString(k.Name) {
			return nil, bad(f.at("name"), "%q is not 1 to 64 of a-z, A-Z, 0-9, _ and -", k.Name)
		}
		if k.Args, err = f.string("arguments", true); err != nil {
			return nil, err
		}
		if !json.Valid([]byte(k.Args)) {
			return nil, bad(f.at("arguments"), "it must be a string with JSON in it")
		}
		open[k.ID] = true
		all = append(all, k)
	}
	return all, nil
}

// content reads the text of a message.
func content(o object, role string) (string, error) {
	if !o.has("content") {
		if role == "assistant" && (o.has("tool_calls") || o.has("function_call") || o.has("refusal")) || role == "function" {
			return "", nil
		}
		return "", bad(o.at("content"), "it is missing")
	}
	if o.fields["content"][0] != '[' || contentParts[role] == nil {
		return o.string("content", true)
	}
	list, err := o.list("content")
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", bad(o.at("content"), "it has no parts")
	}
	var b strings.Builder
	for i, raw := range list {
		path := fmt.Sprintf("%s[%d]", o.at("content"), i)
		p, err := newObject(path, raw, nil)
		if err != nil {
			return "", err
		}
		kind, err := p.string("type", true)
		if err != nil {
			return "", err
		}
		if !slices.Contains(contentParts[role], kind) {
			return "", bad(p.at("type"), "%q is no part of a message of the %s", kind, role)
		}
		if p, err = newObject(path, raw, partFields[kind]); err != nil {
			return "", err
		}
		if kind == "text" || kind == "refusal" {
			text, err := p.string(kind, true)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		} else if _, err := newObject(p.at(kind), p.fields[kind], nil); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}
