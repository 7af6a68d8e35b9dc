package midtool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A Violation is one fault of a [Sample].
type Violation struct {
	Rule   string // one of the rules of [Validate]
	Path   string // JSON Pointer into the sample, such as /messages/1/calls/0/arguments/city
	Detail string // what was found
}

// String gives rule, place and detail.
func (v Violation) String() string { return v.Rule + " at " + v.Path + ": " + v.Detail }

// The rules in the order in which they are reported.
var rules = []string{"invalid_utf8", "name", "bad_schema", "turn_order", "empty_turn", "unknown_tool", "bad_arguments", "missing_required",
	"unexpected_argument", "schema", "response", "truncated", "ungrounded", "leak", "blank_call"}

// Validate lists everything that is wrong with a sample, by rule and then by place; a sound sample gives nil. It
// trusts nothing that the sample says about itself: evidence is found again. MidTool names turn order, schema
// grounding, required arguments and the consistency of tool responses (arXiv:2608.20314); the exact list is ours:
//
//   - invalid_utf8: a text is not UTF-8. name: an offered name is outside [A-Za-z0-9_-]{1,64} or occurs twice.
//     bad_schema: the schema of a called tool cannot be read.
//   - turn_order: system messages may stand anywhere but before the results of a call; the first other message is of
//     the user; the assistant follows the user or a result; results follow their calls at once; the user follows a
//     finished answer; the last message is of the assistant, without calls.
//   - empty_turn: a message without content or calls.
//   - unknown_tool: a called name is not offered. bad_arguments: the arguments are no JSON object.
//   - missing_required, unexpected_argument: by name, at the top level; an argument that is not a property is
//     unexpected unless additionalProperties is true or a schema. schema: any other value that breaks its schema. A
//     pattern outside Go's syntax is skipped.
//   - response: results that do not answer the calls one by one, that break the tool's result schema without
//     reporting an error, or that differ for equal calls with only reading calls between.
//   - truncated: a result ends in "..." or "…", or starts like JSON and is none.
//   - ungrounded: an argument supported by nothing that came before it (see [EvidenceClass]).
//   - leak: a user message names an offered tool or its group, both of two words or more, has a template slot left,
//     has fewer than 3 or more than 400 words, or does not end as a sentence.
//   - blank_call: a required string argument is blank.
func Validate(s Sample) []Violation {
	v := validator{sample: &s}
	v.run()
	return v.found
}

func (v *validator) run() {
	v.tools, v.schemas, v.answers = make(map[string]int), make(map[int]*schema.Schema), make(map[string]string)
	v.offered()
	v.order()
	v.conversation()
	slices.SortStableFunc(v.found, func(a, b Violation) int { return slices.Index(rules, a.Rule) - slices.Index(rules, b.Rule) })
}

type validator struct {
	sample  *Sample
	tools   map[string]int // by exported name
	schemas map[int]*schema.Schema
	scene   scene
	answers map[string]string // of calls by name and arguments, since the last call that may change something
	found   []Violation

	evidence []Evidence
}

func (v *validator) fault(rule, path, format string, args ...any) {
	v.found = append(v.found, Violation{rule, path, fmt.Sprintf(format, args...)})
}

func (v *validator) utf8(path, text string) {
	if !utf8.ValidString(text) {
		v.fault("invalid_utf8", path, "not UTF-8")
	}
}

func (v *validator) offered() {
	for i, t := range v.sample.Tools {
		path := "/tools/" + strconv.Itoa(i)
		if !names.Exportable(t.Name) {
			v.fault("name", path+"/name", "%q does not match [A-Za-z0-9_-]{1,64}", t.Name)
		}
		if _, twice := v.tools[t.Name]; twice {
			v.fault("name", path+"/name", "%q is offered twice", t.Name)
			continue
		}
		v.tools[t.Name] = i
		v.utf8(path+"/description", t.Description)
	}
}

// schemaOf compiles the schema of an offered tool when it is first called.
func (v *validator) schemaOf(i int) *schema.Schema {
	if s, ok := v.schemas[i]; ok {
		return s
	}
	t := v.sample.Tools[i]
	s, err := schema.CompileRaw(t.Parameters)
	if err != nil {
		v.fault("bad_schema", "/tools/"+strconv.Itoa(i)+"/parameters", "%v", err)
	}
	v.schemas[i] = s
	return s
}

func (v *validator) order() {
	started, pending := false, 0
	var last Role
	for i, m := range v.sample.Messages {
		path := "/messages/" + strconv.Itoa(i)
		v.utf8(path+"/content", m.Content)
		v.utf8(path+"/call_id", m.CallID)
		v.utf8(path+"/name", m.Name)
		for j, c := range m.Calls {
			v.utf8(path+"/calls/"+strconv.Itoa(j)+"/id", c.ID)
		}
		if m.Content == "" && len(m.Calls) == 0 {
			v.fault("empty_turn", path, "%s message without content or calls", m.Role)
		}
		if len(m.Calls) > 0 && m.Role != RoleAssistant {
			v.fault("turn_order", path+"/calls", "calls in a %s message", m.Role)
		}
		if m.Role != RoleTool && pending > 0 {
			v.fault("turn_order", path, "%d results are due before a %s message", pending, m.Role)
			pending = 0
		}
		switch m.Role {
		case RoleSystem:
			continue // changes nothing for those around it
		case RoleUser:
			if started && last != RoleAssistant {
				v.fault("turn_order", path, "user after %s", last)
			}
			started = true
		case RoleAssistant:
			if !started {
				v.fault("turn_order", path, "the assistant speaks before the user")
			} else if last == RoleAssistant {
				v.fault("turn_order", path, "assistant after assistant")
			}
			pending = len(m.Calls)
			started = true
		case RoleTool:
			if pending == 0 {
				v.fault("turn_order", path, "a result that no call waits for")
			} else {
				pending--
			}
		default:
			v.fault("turn_order", path, "unknown role %q", m.Role)
		}
		last = m.Role
	}
	n := len(v.sample.Messages)
	if n == 0 {
		v.fault("turn_order", "/messages", "no messages")
		return
	}
	if end := v.sample.Messages[n-1]; end.Role != RoleAssistant || len(end.Calls) > 0 {
		v.fault("turn_order", "/messages/"+strconv.Itoa(n-1), "the last message must be of the assistant, without calls")
	}
}

func (v *validator) conversation() {
	messages := v.sample.Messages
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		path := "/messages/" + strconv.Itoa(i)
		switch m.Role {
		case RoleSystem:
			v.scene.say(m.Content)
		case RoleUser:
			v.scene.say(m.Content)
			v.lint(m.Content, path)
		case RoleAssistant:
			for j := range m.Calls {
				v.call(&m.Calls[j], path+"/calls/"+strconv.Itoa(j))
			}
			end := i + 1
			for end < len(messages) && messages[end].Role == RoleTool {
				end++
			}
			v.results(m.Calls, messages[i+1:end], i)
			i = end - 1
		}
	}
}

func (v *validator) call(c *Call, path string) {
	at, known := v.tools[c.Name]
	if !known {
		v.fault("unknown_tool", path+"/name", "%q is not offered", c.Name)
	}
	args, err := jsonval.Parse(c.Arguments)
	path += "/arguments"
	if err != nil || args.Kind != jsonval.Object {
		v.fault("bad_arguments", path, "want a JSON object")
		return
	}
	var s *schema.Schema
	if known {
		s = v.schemaOf(at)
	}
	if s == nil {
		return
	}
	unexpected := make(map[string]bool)
	argument := args.Lookup(len(s.Required))
	for _, name := range s.Required {
		value := argument(name)
		switch {
		case value == nil:
			v.fault("missing_required", path+"/"+jsonval.PointerEscape(name), "required")
		case value.Kind == jsonval.String && strings.TrimSpace(value.Text) == "":
			v.fault("blank_call", path+"/"+jsonval.PointerEscape(name), "a required string is blank")
		}
	}
	for i := range args.Members {
		name := args.Members[i].Key
		if s.Member(name) == nil && (s.Additional == nil || s.Additional.Never) {
			unexpected["/"+jsonval.PointerEscape(name)] = true
			v.fault("unexpected_argument", path+"/"+jsonval.PointerEscape(name), "not a property")
		}
	}
	for _, f := range s.Faults(&args) {
		if f.Path == "" && f.Keyword == "required" || unexpected[f.Path] {
			continue // said above
		}
		v.fault("schema", path+f.Path, "%s: %s", f.Keyword, f.Detail)
	}
	for _, l := range schema.LeavesOf(s, &args, "", nil) {
		if l.Path == "" {
			continue // no arguments at all
		}
		class := v.scene.classify(&l)
		v.evidence = append(v.evidence, Evidence{CallID: c.ID, Path: l.Path, Class: class})
		if class == EvidenceUngrounded {
			v.fault("ungrounded", path+l.Path, "%s is in no earlier message, result or schema", l.Value.Encode(jsonval.Compact))
		}
	}
}

// results checks the messages after an assistant's turn against its calls.
func (v *validator) results(calls []Call, results []Message, at int) {
	seen := make(map[string]bool)
	if len(results) != len(calls) {
		v.fault("response", "/messages/"+strconv.Itoa(at), "%d results for %d calls", len(results), len(calls))
	}
	for k, r := range results {
		path := "/messages/" + strconv.Itoa(at+1+k)
		i := slices.IndexFunc(calls, func(c Call) bool { return c.ID == r.CallID })
		switch {
		case i < 0:
			v.fault("response", path+"/call_id", "%q answers no call of the turn", r.CallID)
		case seen[r.CallID]:
			v.fault("response", path+"/call_id", "%q is answered twice", r.CallID)
		case r.Name != "" && r.Name != calls[i].Name:
			v.fault("response", path+"/name", "%q answers a call of %q", r.Name, calls[i].Name)
		}
		seen[r.CallID] = true
		v.result(r, calls, i, path)
	}
}

func (v *validator) result(r Message, calls []Call, i int, path string) {
	value, err := jsonval.Parse([]byte(r.Content))
	isJSON := err == nil
	text := strings.TrimSpace(r.Content)
	switch {
	case strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…"):
		v.fault("truncated", path+"/content", "ends in dots")
	case !isJSON && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")):
		v.fault("truncated", path+"/content", "starts like JSON: %v", err)
	}
	if isJSON {
		v.scene.answer(&value)
	} else {
		value = jsonval.NewString(r.Content)
		v.scene.answer(&value)
	}
	if i < 0 {
		return
	}
	tool, known := v.tools[calls[i].Name]
	if !known {
		return
	}
	t := v.sample.Tools[tool]
	if len(t.Returns) > 0 && !jsonval.ReportsError(&value) {
		if s, err := schema.CompileRaw(t.Returns); err == nil {
			for _, f := range s.Faults(&value) {
				v.fault("response", path+"/content"+f.Path, "%s: %s", f.Keyword, f.Detail)
			}
		}
	}
	if m := names.MeaningOf(t.Name); !t.ReadOnly && m.Class != names.GetVerb && m.Class != names.ListVerb && m.Class != names.SearchVerb {
		clear(v.answers) // the call may have changed what others see
		return
	}
	args, err := jsonval.Parse(calls[i].Arguments)
	if err != nil {
		return
	}
	key := calls[i].Name + "\x00" + args.Encode(jsonval.Canonical)
	if old, ok := v.answers[key]; ok && old != r.Content {
		v.fault("response", path+"/content", "an equal call had another result")
	}
	v.answers[key] = r.Content
}

// lint checks the wording of a user message.
func (v *validator) lint(text, path string) {
	path += "/content"
	w := names.Words(text)
	for _, t := range v.sample.Tools {
		for _, seq := range names.GivenAway(t.Name, t.Original, t.Group) {
			if names.SequenceIn(w, seq) {
				v.fault("leak", path, "names %q", strings.Join(seq, " "))
			}
		}
	}
	if slot := templateSlot(text); slot != "" {
		v.fault("leak", path, "template slot %s", slot)
	}
	if n := len(w); n < 3 || n > 400 {
		v.fault("leak", path, "%d words, want 3 to 400", n)
	}
	if t := strings.TrimSpace(text); !names.HasAnySuffix(t, ".", "?", "!") {
		v.fault("leak", path, "does not end in '.', '?' or '!'")
	}
}

// templateSlot finds {name} or {{, as templates write what is to be filled in.
func templateSlot(text string) string {
	for i := range len(text) {
		if text[i] != '{' {
			continue
		}
		if strings.HasPrefix(text[i:], "{{") {
			return "{{"
		}
		j := i + 1
		for j < len(text) && (text[j] == '_' || text[j] >= 'a' && text[j] <= 'z' || text[j] >= 'A' && text[j] <= 'Z') {
			j++
		}
		if j > i+1 && j < len(text) && text[j] == '}' {
			return text[i : j+1]
		}
	}
	return ""
}
