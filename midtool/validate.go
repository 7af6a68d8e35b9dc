package midtool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A Violation is one fault of a [Sample], or of a value that a [Schema] checks.
type Violation struct {
	Rule   string // one of the rules of [Validate]; from [Schema.Check] a keyword
	Path   string // JSON Pointer into the sample, such as /messages/1/calls/0/arguments/city; empty for the whole
	Detail string // what was found, at most 300 bytes
}

// String gives rule, place and detail; the whole needs no place.
func (v Violation) String() string {
	if v.Path == "" {
		return v.Rule + ": " + v.Detail
	}
	return v.Rule + " at " + v.Path + ": " + v.Detail
}

const maxDetail = 300 // bytes, as [Violation] says

// clipped is a detail of at most maxDetail bytes.
func clipped(detail string) string {
	if len(detail) > maxDetail {
		detail = strings.ToValidUTF8(detail[:maxDetail-len("…")], "") + "…"
	}
	return detail
}

// The rules in the order in which they are reported.
var rules = []string{"invalid_utf8", "name", "bad_schema", "turn_order", "empty_turn", "unknown_tool", "bad_arguments",
	"missing_required", "unexpected_argument", "schema", "response", "truncated", "ungrounded", "leak", "blank_call", "contradiction",
	"window", "untrained", "proof", "marker"}

// Rules returns the names of the rules of [Validate], in the order in which their violations are reported.
func Rules() []string { return slices.Clone(rules) }

// Validate lists everything that is wrong with a sample, by rule and then by place; a sound sample gives nil. It
// trusts nothing that the sample says about itself: evidence is found again. It is the Check of a zero [Checker]. MidTool
// names turn order, schema grounding, required arguments and the consistency of tool responses (arXiv:2608.20314); the
// exact list is ours:
//
//   - invalid_utf8: a text is not UTF-8. name: an offered name is outside [A-Za-z0-9_-]{1,64} or occurs twice, counting
//     the tools that messages offer. bad_schema: a schema of a called tool cannot be read.
//   - turn_order: system messages may stand anywhere but before the results of a call; the first other message is of
//     the user; the assistant follows the user, a result or the offer of more tools; results follow their calls at once; the user follows a
//     finished answer; the last message is of the assistant, without calls. Only system messages offer tools, only those of
//     the assistant are untrained.
//   - empty_turn: a message without content or calls.
//   - unknown_tool: a called name is not offered yet, or a message does not show the tools that it offers.
//     bad_arguments: the arguments are no JSON object.
//   - missing_required, unexpected_argument: by name, at the top level; an argument that is not a property is
//     unexpected unless additionalProperties is true or a schema. schema: any other value that breaks its schema. A
//     pattern outside Go's syntax is skipped.
//   - response: results that do not answer the calls one by one, a call id used twice, results that break the tool's
//     result schema without reporting an error, or that differ for equal calls with only reading calls between and no
//     error among the two. A mistake that is shown (Untrained) has errors for results.
//   - truncated: a result ends in "..." or "…", or starts like JSON and is none.
//   - ungrounded: an argument supported by nothing that came before it (see [EvidenceClass]). A string that is a number
//     as a whole is looked for as a number. Texts are compared as they are, without normalization to NFC. What the
//     arguments of an untrained call hold is not supported by the result of that call.
//   - leak: a user message names an offered tool or its group, both of two words or more, has a template slot left that no system
//     message shows, has fewer than 3 or more than 400 words, or does not end as a sentence. Scripts without spaces need 3 letters.
//   - blank_call: a required string argument is blank.
//   - contradiction: the calls are not those of the Plan, in order. window: more tokens than a [Checker] allows.
//     untrained: no message of the assistant is trained.
//   - proof: the sample does not show what makes its Family. An empty Family needs no proof; an unknown one has none.
//   - marker: a content, or a text in the arguments of a call, contains a control marker of a [Checker].
//
// The arguments of an untrained message may miss, break or invent what they like. The families are proven so:
//
//   - single: exactly one call, a trained one; if it fails, the last message has the error's message as for recovery.
//     parallel: the first message of the assistant is trained and has two calls or more, no two of them equal, and no
//     other message has any. no_call: no calls.
//   - sequential: one user message, and calls in several messages, each later one with an argument that an earlier result
//     has and no text. Here and in multi_turn, neither booleans and what the schema itself names (enum, const, default,
//     examples) count, nor a call that is equal to an earlier one.
//   - multi_turn: calls after two user messages or more, and in a later turn an argument that an earlier turn has in a
//     user's words or a result, and the last user message has not.
//   - missing_info: the assistant first answers without calls, and a trained call follows the second user message, which
//     has the withheld arguments of the Plan, of the tool's required ones (without a Plan at least one such argument), and
//     nothing before it has them: no text, no result, no default, const or enum of one, and no other offered tool that
//     feeds the parameter ([Dependencies]).
//   - missing_function: the assistant answers without calls before more tools are offered, and calls one of these
//     afterwards (the Absent one of the Plan, if named). No tool offered from the start has the verb class and noun of that one.
//   - irrelevance: no calls. With an Absent tool in the Plan: it is not offered, nor one of its verb class and noun, nor
//     one whose description has more than half of the content words of its own.
//   - clarification: one user message, no calls, and a Plan of one call, which has all required arguments of its tool but
//     the withheld ones, each supported as those of a call that is made; no default, const, enum of one or other offered
//     tool supplies those withheld.
//   - qa: no calls. The assistant's messages have all pieces of the Plan's Answer, in order, the last message the last one.
//     Each piece stands word for word in a system message, or is {"name", "arguments"} as JSON, of which each word of a name
//     and each scalar stands there or in a user message.
//   - recovery: a result reports an error, and afterwards a call of the same tool succeeds or the last message has the
//     error's message verbatim, between word boundaries and with a word of 3 letters or digits.
func Validate(s Sample) []Violation {
	var c Checker
	f, err := c.Check(context.Background(), &s)
	if err != nil {
		panic(err) // nothing is configured that could fail
	}
	return f.Violations
}

// A validator holds the state of one check.
type validator struct {
	checker *Checker
	sample  *Sample
	offers  []offer
	tools   map[string]int // positions in offers, by exported name
	calls   []call         // of all messages, in order
	ids     map[string]bool
	scene   scene
	spare   [2]scene         // for proofs
	answers map[string]*call // last calls with a result by name and arguments
	epoch   int              // number of calls so far that may have changed something

	found    []Violation
	evidence []Evidence
	buf      []byte
	words    names.Spoken // of the text looked at last
	work     int          // bytes looked at by searches
}

// An offer is a tool with the message that offers it, -1 for those offered from the start.
type offer struct {
	tool    *Tool
	facts   *toolFacts
	message int
	index   int
}

func (o *offer) path() string {
	if o.message < 0 {
		return "/tools/" + strconv.Itoa(o.index)
	}
	return messagePath(o.message) + "/offers/" + strconv.Itoa(o.index)
}

// A call is one use of a tool with what became of it.
type call struct {
	call    *Call
	message int // where it stands
	index   int // among the calls of its message
	args    jsonval.Value
	object  bool // args is an object
	tool    int  // position in offers of the called tool; -1 if it is not offered
	result  int  // message that answers it; -1 if none
	value   jsonval.Value
	failed  bool   // the result reports an error
	fed     bool   // an argument comes from an earlier result
	epoch   int    // of the validator when it was answered
	form    string // canonical arguments, once asked for
}

// canonical is equal for equal arguments.
func (c *call) canonical() string {
	if c.form == "" {
		c.form = c.args.Encode(jsonval.Canonical)
	}
	return c.form
}

// key is equal for equal calls.
func (c *call) key() string { return c.call.Name + "\x00" + c.canonical() }

func (c *call) path() string {
	return messagePath(c.message) + "/calls/" + strconv.Itoa(c.index)
}

func messagePath(i int) string { return "/messages/" + strconv.Itoa(i) }

// Buffers of more elements are not kept for the next sample.
const maxKept = 512

func (v *validator) start(c *Checker, s *Sample) {
	old := *v // as done has left it
	*v = validator{checker: c, sample: s, tools: old.tools, ids: old.ids, answers: old.answers,
		scene: old.scene, spare: old.spare, words: old.words,
		offers: old.offers[:0], calls: old.calls[:0], evidence: old.evidence[:0], buf: old.buf[:0]}
	if v.tools == nil || len(v.tools) > maxKept {
		v.tools = make(map[string]int)
	}
	if v.ids == nil || len(v.ids) > maxKept {
		v.ids = make(map[string]bool)
	}
	if v.answers == nil || len(v.answers) > maxKept {
		v.answers = make(map[string]*call)
	}
	clear(v.tools)
	clear(v.ids)
	clear(v.answers)
}

// done lets go of the sample, and of buffers that a large one needed.
func (v *validator) done() {
	v.sample, v.found, v.scene = nil, nil, v.scene.again()
	v.spare = [2]scene{v.spare[0].again(), v.spare[1].again()}
	if cap(v.offers) > maxKept || cap(v.calls) > maxKept || cap(v.evidence) > maxKept ||
		cap(v.words.Words) > maxKept || cap(v.buf) > 1024*maxKept {
		*v = validator{}
		return
	}
	clear(v.offers)
	clear(v.calls)
	clear(v.evidence)
	clear(v.answers)
	clear(v.words.Words)
}

func (v *validator) fault(rule, path, format string, args ...any) {
	if slices.Contains(v.checker.Skip, rule) {
		return
	}
	v.found = append(v.found, Violation{rule, path, clipped(fmt.Sprintf(format, args...))})
}

// sorted brings the violations into the order of the rules and of the messages.
func (v *validator) sorted() []Violation {
	message := func(path string) int {
		rest, ok := strings.CutPrefix(path, "/messages/")
		if !ok {
			return -1
		}
		number, _, _ := strings.Cut(rest, "/")
		i, _ := strconv.Atoi(number)
		return i
	}
	slices.SortStableFunc(v.found, func(a, b Violation) int {
		return cmp.Or(slices.Index(rules, a.Rule)-slices.Index(rules, b.Rule), message(a.Path)-message(b.Path))
	})
	return v.found
}

// maxWork bounds the bytes that the searches in one sample look at; a window of 8192 tokens needs a thousandth of it.
const maxWork = 1 << 28

// spend reports whether a search through n bytes is still within the bound.
func (v *validator) spend(n int) bool {
	v.work += n
	return v.work <= maxWork
}

// offered collects the tools that are offered from the start and by messages.
func (v *validator) offered() {
	add := func(tools []Tool, message int) {
		for i := range tools {
			t := &tools[i]
			o := offer{t, v.checker.facts(t), message, i}
			if !o.facts.exportable {
				v.fault("name", o.path()+"/name", "%q does not match [A-Za-z0-9_-]{1,64}", t.Name)
			}
			if !o.facts.valid {
				v.fault("invalid_utf8", o.path()+"/description", "not UTF-8")
			}
			if _, twice := v.tools[t.Name]; twice {
				v.fault("name", o.path()+"/name", "%q is offered twice", t.Name)
			} else {
				v.tools[t.Name] = len(v.offers)
			}
			v.offers = append(v.offers, o)
		}
	}
	add(v.sample.Tools, -1)
	for i := range v.sample.Messages {
		m := &v.sample.Messages[i]
		if len(m.Offers) == 0 {
			continue
		}
		if m.Role != RoleSystem {
			v.fault("turn_order", messagePath(i)+"/offers", "tools offered by a %s message", m.Role)
		}
		var w messageWriter
		if v.buf = w.offer(v.buf[:0], m.Offers); string(v.buf) != m.Content {
			v.fault("unknown_tool", messagePath(i)+"/content", "does not show the offered tools")
		}
		add(m.Offers, i)
	}
}

func (v *validator) order() {
	started, trained, pending := false, false, 0
	var last Role
	for i := range v.sample.Messages {
		m := &v.sample.Messages[i]
		if !utf8.ValidString(m.Content) {
			v.fault("invalid_utf8", messagePath(i)+"/content", "not UTF-8")
		}
		if !utf8.ValidString(m.CallID) {
			v.fault("invalid_utf8", messagePath(i)+"/call_id", "not UTF-8")
		}
		if !utf8.ValidString(m.Name) {
			v.fault("invalid_utf8", messagePath(i)+"/name", "not UTF-8")
		}
		v.marker(m.Content, i, "/content")
		v.parse(m, i)
		if m.Content == "" && len(m.Calls) == 0 {
			v.fault("empty_turn", messagePath(i), "%s message without content or calls", m.Role)
		}
		if len(m.Calls) > 0 && m.Role != RoleAssistant {
			v.fault("turn_order", messagePath(i)+"/calls", "calls in a %s message", m.Role)
		}
		if m.Untrained && m.Role != RoleAssistant {
			v.fault("turn_order", messagePath(i)+"/untrained", "a %s message is never trained", m.Role)
		}
		if m.Role != RoleTool && pending > 0 {
			v.fault("turn_order", messagePath(i), "%d results are due before a %s message", pending, m.Role)
			pending = 0
		}
		switch m.Role {
		case RoleSystem:
			if started && len(m.Offers) > 0 {
				last = RoleSystem // the assistant may act on what is offered
			}
			continue // else it changes nothing for those around it
		case RoleUser:
			if started && last != RoleAssistant && last != RoleSystem {
				v.fault("turn_order", messagePath(i), "user after %s", last)
			}
			started = true
		case RoleAssistant:
			if !started {
				v.fault("turn_order", messagePath(i), "the assistant speaks before the user")
			} else if last == RoleAssistant {
				v.fault("turn_order", messagePath(i), "assistant after assistant")
			}
			trained = trained || !m.Untrained
			pending = len(m.Calls)
			started = true
		case RoleTool:
			if pending == 0 {
				v.fault("turn_order", messagePath(i), "a result that no call waits for")
			} else {
				pending--
			}
		default:
			v.fault("turn_order", messagePath(i), "unknown role %q", m.Role)
		}
		last = m.Role
	}
	n := len(v.sample.Messages)
	if !trained {
		v.fault("untrained", "/messages", "no message of the assistant is trained")
	}
	if n == 0 {
		v.fault("turn_order", "/messages", "no messages")
	} else if end := &v.sample.Messages[n-1]; end.Role != RoleAssistant || len(end.Calls) > 0 {
		v.fault("turn_order", messagePath(n-1), "the last message must be of the assistant, without calls")
	}
}

// parse reads the calls of a message.
func (v *validator) parse(m *Message, at int) {
	for j := range m.Calls {
		c := call{call: &m.Calls[j], message: at, index: j, tool: -1, result: -1}
		if !utf8.ValidString(c.call.ID) {
			v.fault("invalid_utf8", c.path()+"/id", "not UTF-8")
		}
		if v.ids[c.call.ID] {
			v.fault("response", c.path()+"/id", "%q is the id of an earlier call", c.call.ID)
		}
		v.ids[c.call.ID] = true
		if i, known := v.tools[c.call.Name]; known && v.offers[i].message < at {
			c.tool = i
		} else if known {
			v.fault("unknown_tool", c.path()+"/name", "%q is offered later", c.call.Name)
		} else {
			v.fault("unknown_tool", c.path()+"/name", "%q is not offered", c.call.Name)
		}
		var err error
		c.args, err = jsonval.Parse(c.call.Arguments)
		if c.object = err == nil && c.args.Kind == jsonval.Object; !c.object {
			v.fault("bad_arguments", c.path()+"/arguments", "want a JSON object")
		}
		if len(v.checker.Markers) > 0 {
			v.markers(&c.args, at, j)
		}
		v.calls = append(v.calls, c)
	}
}

// marker looks for control markers in a text.
func (v *validator) marker(text string, message int, below string) {
	for _, mark := range v.checker.Markers {
		if mark != "" && strings.Contains(text, mark) {
			v.fault("marker", messagePath(message)+below, "contains %q", mark)
		}
	}
}

// markers looks for control markers in the texts of arguments.
func (v *validator) markers(n *jsonval.Value, message, index int) {
	below := "/calls/" + strconv.Itoa(index) + "/arguments"
	if n.Kind == jsonval.String {
		v.marker(n.Text, message, below)
	}
	for i := range n.List {
		v.markers(&n.List[i], message, index)
	}
	for i := range n.Members {
		v.marker(n.Members[i].Key, message, below)
		v.markers(&n.Members[i].Value, message, index)
	}
}

// conversation follows the calls and what they can be grounded in.
func (v *validator) conversation() {
	messages := v.sample.Messages
	next := 0 // of v.calls
	for i := 0; i < len(messages); i++ {
		m := &messages[i]
		first := next
		next += len(m.Calls)
		switch m.Role {
		case RoleSystem:
			if len(m.Offers) == 0 { // offered tools are no context, wherever they stand
				v.scene.say(m.Content)
			}
		case RoleUser:
			v.scene.say(m.Content)
			v.lint(m.Content, i)
		case RoleAssistant:
			calls := v.calls[first:next]
			if !m.Untrained {
				for j := range calls {
					v.arguments(&calls[j])
				}
			}
			end := i + 1
			for end < len(messages) && messages[end].Role == RoleTool {
				next += len(messages[end].Calls)
				end++
			}
			v.results(calls, i, end)
			i = end - 1
		}
	}
}

// arguments checks those of a call against the schema and finds their evidence.
func (v *validator) arguments(c *call) {
	if c.tool < 0 || !c.object {
		return
	}
	o := &v.offers[c.tool]
	s, err := o.facts.parameters()
	if err != nil {
		v.fault("bad_schema", o.path()+"/parameters", "%v", err)
		return
	}
	var unexpected map[string]bool
	argument := c.args.Lookup(len(s.Required))
	for _, name := range s.Required {
		value := argument(name)
		switch {
		case value == nil:
			v.fault("missing_required", c.path()+"/arguments/"+jsonval.PointerEscape(name), "required")
		case value.Kind == jsonval.String && strings.TrimSpace(value.Text) == "":
			v.fault("blank_call", c.path()+"/arguments/"+jsonval.PointerEscape(name), "a required string is blank")
		}
	}
	for i := range c.args.Members {
		m := &c.args.Members[i]
		p := o.facts.param(m.Key)
		if p.schema == nil && (s.Additional == nil || s.Additional.Never) {
			if unexpected == nil {
				unexpected = make(map[string]bool)
			}
			unexpected[p.path] = true
			v.fault("unexpected_argument", c.path()+"/arguments"+p.path, "not a property")
		}
		v.ground(c, p, &m.Value)
	}
	for _, f := range s.Faults(&c.args) {
		if f.Path == "" && f.Keyword == "required" || unexpected[f.Path] {
			continue // said above
		}
		v.fault("schema", c.path()+"/arguments"+f.Path, "%s: %s", f.Keyword, f.Detail)
	}
}

// ground finds the evidence of one argument.
func (v *validator) ground(c *call, p param, value *jsonval.Value) {
	if len(value.List) == 0 && len(value.Members) == 0 {
		v.groundLeaf(c, &schema.Leaf{Path: p.path, Value: value, Schema: p.schema})
		return
	}
	// The paths of all leaves are as long as leaves and names together: hostile arguments could ask for terabytes.
	if !v.spend(pathBytes(value, len(p.path))) {
		v.fault("ungrounded", c.path()+"/arguments"+p.path, "too large to be searched for")
		return
	}
	for _, l := range schema.LeavesOf(p.schema, value, p.path, nil) {
		v.groundLeaf(c, &l)
	}
}

func (v *validator) groundLeaf(c *call, l *schema.Leaf) {
	e := Evidence{CallID: c.call.ID, Path: l.Path, Class: EvidenceUngrounded}
	if !v.spend(len(v.scene.text) + len(l.Value.Text)) {
		v.fault("ungrounded", c.path()+"/arguments"+l.Path, "the sample is too large to be searched")
	} else if e.Class, e.Text = v.scene.find(l); e.Class == EvidenceUngrounded {
		v.fault("ungrounded", c.path()+"/arguments"+l.Path, "%s is in no earlier message, result or schema", l.Value.Encode(jsonval.Compact))
	}
	c.fed = c.fed || e.Class == EvidenceToolResult && !l.Schema.Offers(l.Value) // what the schema names is met by chance
	v.evidence = append(v.evidence, e)
}

func pathBytes(n *jsonval.Value, path int) int {
	total := path
	for i := range n.List {
		total += pathBytes(&n.List[i], path+4)
	}
	for i := range n.Members {
		total += pathBytes(&n.Members[i].Value, path+1+len(n.Members[i].Key))
	}
	return total
}

// results checks the messages from at+1 to end, which follow an assistant's message at, against its calls.
func (v *validator) results(calls []call, at, end int) {
	if n := end - at - 1; n != len(calls) {
		v.fault("response", messagePath(at), "%d results for %d calls", n, len(calls))
	}
	find := func(id string) int { return slices.IndexFunc(calls, func(c call) bool { return c.call.ID == id }) }
	if len(calls) > 32 {
		index := make(map[string]int, len(calls))
		for i := range slices.Backward(calls) {
			index[calls[i].call.ID] = i
		}
		find = func(id string) int {
			if i, ok := index[id]; ok {
				return i
			}
			return -1
		}
	}
	untrained := v.sample.Messages[at].Untrained
	for k := at + 1; k < end; k++ {
		r := &v.sample.Messages[k]
		value := v.content(r, k)
		if !untrained {
			v.scene.answer(value)
		}
		i := find(r.CallID)
		if i < 0 {
			v.fault("response", messagePath(k)+"/call_id", "%q answers no call of the turn", r.CallID)
			continue
		}
		c := &calls[i]
		switch {
		case c.result >= 0:
			v.fault("response", messagePath(k)+"/call_id", "%q is answered twice", r.CallID)
			continue
		case r.Name != "" && r.Name != c.call.Name:
			v.fault("response", messagePath(k)+"/name", "%q answers a call of %q", r.Name, c.call.Name)
		}
		c.result, c.value, c.failed = k, value, jsonval.ReportsError(&value)
		if untrained {
			v.scene.answer(v.learned(c))
			if !c.failed {
				v.fault("response", messagePath(k)+"/content", "a mistake that is shown has no error for a result")
			}
		}
		if c.tool >= 0 {
			v.result(c)
		}
	}
}

// learned is what later calls can take from the result of a call. What a mistake invents is not true for being repeated.
func (v *validator) learned(c *call) jsonval.Value {
	if !v.sample.Messages[c.message].Untrained {
		return c.value
	}
	var own scene
	own.answer(c.args)
	return own.without(&c.value)
}

// content reads a result: as JSON, or else as the text that it is.
func (v *validator) content(r *Message, at int) jsonval.Value {
	value, err := jsonval.ParseText(r.Content)
	text := strings.TrimSpace(r.Content)
	switch {
	case strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…"):
		v.fault("truncated", messagePath(at)+"/content", "ends in dots")
	case err != nil && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")):
		v.fault("truncated", messagePath(at)+"/content", "starts like JSON: %v", err)
	}
	if err != nil {
		return jsonval.NewString(r.Content)
	}
	return value
}

// result checks one against the tool and against those of equal calls.
func (v *validator) result(c *call) {
	o := &v.offers[c.tool]
	if len(o.tool.Returns) > 0 && !c.failed {
		s, err := o.facts.returns.get(o.facts.tool.Returns)
		if err != nil {
			v.fault("bad_schema", o.path()+"/returns", "%v", err)
		} else {
			for _, f := range s.Faults(&c.value) {
				v.fault("response", messagePath(c.result)+"/content"+f.Path, "%s: %s", f.Keyword, f.Detail)
			}
		}
	}
	if !o.facts.reads {
		v.epoch++ // the call may have changed what others see
		return
	}
	if len(v.calls) == 1 || !c.object || c.failed {
		return
	}
	c.epoch = v.epoch
	key := c.key()
	if old := v.answers[key]; old != nil && old.epoch == v.epoch && old.value.Encode(jsonval.Canonical) != c.value.Encode(jsonval.Canonical) {
		v.fault("response", messagePath(c.result)+"/content", "an equal call had another result")
	}
	v.answers[key] = c
}

// lint checks the wording of a user message.
func (v *validator) lint(text string, at int) {
	v.words.Read(text)
	for i := range v.offers {
		if len(v.offers[i].facts.given) == 0 || !v.spend(len(v.words.Words)) {
			continue
		}
		for _, seq := range v.offers[i].facts.given {
			if v.words.Has(seq) {
				v.fault("leak", messagePath(at)+"/content", "names %q", strings.Join(seq, " "))
			}
		}
	}
	if slot := templateSlot(text); slot != "" && !v.shows(slot) {
		v.fault("leak", messagePath(at)+"/content", "template slot %s", slot)
	}
	if n := len(v.words.Words); n < 3 && unspaced(text) < 3 || n > 400 {
		v.fault("leak", messagePath(at)+"/content", "%d words, want 3 to 400", n)
	}
	if t := strings.TrimSpace(text); !names.HasAnySuffix(t, ".", "?", "!", "。", "！", "？", "؟", "।", "॥") {
		v.fault("leak", messagePath(at)+"/content", "does not end in '.', '?' or '!'")
	}
}

// shows says whether a system message has a text: a document may have slots, and a question may name them.
func (v *validator) shows(text string) bool {
	return slices.ContainsFunc(v.sample.Messages, func(m Message) bool {
		return m.Role == RoleSystem && len(m.Offers) == 0 && v.spend(len(m.Content)) && strings.Contains(m.Content, text)
	})
}

// unspaced counts the letters of scripts without spaces.
func unspaced(text string) int {
	n := 0
	for _, r := range text {
		if isUnspaced(r) {
			n++
		}
	}
	return n
}

// templateSlot finds {name}, {name1}, {0}, {{, %s or %d, as templates write what is to be filled in.
func templateSlot(text string) string {
	for i := range len(text) {
		switch text[i] {
		case '{':
			if strings.HasPrefix(text[i:], "{{") {
				return "{{"
			}
			j, letters := i+1, false
			for j < len(text) && (text[j] == '_' || isDigit(text, j) || isLetter(text, j)) {
				letters = letters || !isDigit(text, j)
				j++
			}
			if j == i+1 || j == len(text) || text[j] != '}' {
				continue
			}
			if letters || i == 0 || strings.IndexByte(" \n\t\"'(", text[i-1]) >= 0 { // else a count or a power, such as \d{3} or x^{2}
				return text[i : j+1]
			}
		case '%':
			end := i + 2
			if end <= len(text) && (text[i+1] == 's' || text[i+1] == 'd') && !isDigit(text, i-1) && !isDigit(text, end) && !isLetter(text, end) {
				return text[i:end]
			}
		}
	}
	return ""
}

func isLetter(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z')
}

// plan compares the calls with those that were decided.
func (v *validator) plan() {
	p := v.sample.Plan
	if p == nil {
		return
	}
	if v.sample.Family == Clarification {
		return // its call is not made; see there
	}
	if len(p.Calls) != len(v.calls) {
		v.fault("contradiction", "/plan/calls", "%d calls are planned, and %d made", len(p.Calls), len(v.calls))
	}
	for i := range min(len(p.Calls), len(v.calls)) {
		c, want := &v.calls[i], &p.Calls[i]
		switch {
		case c.call.Name != want.Name:
			v.fault("contradiction", c.path()+"/name", "%q, planned is %q", c.call.Name, want.Name)
		case c.call.ID != want.ID:
			v.fault("contradiction", c.path()+"/id", "%q, planned is %q", c.call.ID, want.ID)
		case string(c.call.Arguments) != string(want.Arguments) && !sameJSON(c, want.Arguments):
			v.fault("contradiction", c.path()+"/arguments", "planned are %s", want.Arguments)
		}
	}
}

func sameJSON(c *call, raw []byte) bool {
	n, err := jsonval.Parse(raw)
	return err == nil && c.object && n.Encode(jsonval.Canonical) == c.canonical()
}

// tokens counts the line of the sample. Definitions were counted when they were first seen.
func (v *validator) tokens() int {
	var w messageWriter
	buf := append(append(v.buf[:0], '{'), messagesKey...)
	next := 0
	for i := range v.sample.Messages {
		m := &v.sample.Messages[i]
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = w.message(buf, m, v.calls[next:next+len(m.Calls)])
		next += len(m.Calls)
	}
	var c tokenCounter
	v.buf = append(buf, ']')
	countTokens(&c, v.buf)
	if n := len(v.sample.Tools); n > 0 {
		countTokens(&c, toolsKey)
		for i := range n {
			if i > 0 {
				countTokens(&c, ",")
			}
			c.join(v.offers[i].facts.span)
		}
		countTokens(&c, "]")
	}
	countTokens(&c, "}")
	return c.sum()
}
