package midtool

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// proof checks that the sample shows what makes its family, as [Validate] says.
func (v *validator) proof() {
	switch v.sample.Family {
	case "":
	case Single:
		v.single()
	case NoCall:
		v.noCall()
	case Parallel:
		v.parallel()
	case Sequential:
		v.sequential()
	case MultiTurn:
		v.multiTurn()
	case MissingInfo:
		v.missingInfo()
	case MissingFunction:
		v.missingFunction()
	case Irrelevance:
		v.irrelevance()
	case Recovery:
		v.recovery()
	case Clarification:
		v.clarification()
	case QA:
		v.qa()
	default:
		v.unproven("/family", "%q is no family", v.sample.Family)
	}
}

func (v *validator) unproven(path, format string, args ...any) {
	v.fault("proof", path, format, args...)
}

func (v *validator) trained(c *call) bool { return !v.sample.Messages[c.message].Untrained }

func (v *validator) single() {
	if n := len(v.calls); n != 1 {
		v.unproven("/messages", "%d calls, want 1", n)
		return
	}
	c := &v.calls[0]
	if !v.trained(c) {
		v.unproven(c.path(), "the call is not trained")
	} else if c.failed && !v.reported(c) {
		v.unproven(c.path(), "it fails, and the last message does not say so")
	}
}

func (v *validator) noCall() {
	if len(v.calls) > 0 {
		v.unproven(v.calls[0].path(), "a call, want none")
	}
}

func (v *validator) parallel() {
	first := slices.IndexFunc(v.sample.Messages, func(m Message) bool { return m.Role == RoleAssistant })
	seen := make(map[string]bool, len(v.calls))
	together := 0
	for i := range v.calls {
		c := &v.calls[i]
		if c.message != first {
			v.unproven(c.path(), "a call outside the first message of the assistant")
			return
		}
		if together++; together == 1 && !v.trained(c) {
			v.unproven(c.path(), "the calls are not trained")
		}
		key := c.key()
		if seen[key] {
			v.unproven(c.path(), "equal to an earlier call")
		}
		seen[key] = true
	}
	if together < 2 {
		v.unproven("/messages", "%d calls together, want at least 2", together)
	}
}

func (v *validator) sequential() {
	if n := v.count(RoleUser); n != 1 {
		v.unproven("/messages", "%d requests, want 1", n)
	}
	turns := 0
	seen := make(map[string]bool, len(v.calls))
	for i := 0; i < len(v.calls); {
		message, fed := v.calls[i].message, false
		for ; i < len(v.calls) && v.calls[i].message == message; i++ {
			key := v.calls[i].key()
			fed = fed || v.calls[i].fed && !seen[key]
			seen[key] = true
		}
		if turns++; turns > 1 && !fed {
			v.unproven(messagePath(message), "no argument comes from an earlier result alone")
		}
	}
	if turns < 2 {
		v.unproven("/messages", "calls in %d messages, want at least 2", turns)
	}
}

func (v *validator) count(r Role) int {
	n := 0
	for i := range v.sample.Messages {
		if v.sample.Messages[i].Role == r {
			n++
		}
	}
	return n
}

func (v *validator) multiTurn() {
	past, last := &v.spare[0], &v.spare[1] // the turns that are over, and the last message of a user
	var results []jsonval.Value
	turns, called, recalled := 0, false, false
	seen := make(map[string]bool, len(v.calls))
	next := 0
	for i := range v.sample.Messages {
		m := &v.sample.Messages[i]
		if m.Role == RoleUser {
			if last.text != "" {
				past.say(last.text)
			}
			for _, r := range results {
				past.answer(r)
			}
			results, called = results[:0], false
			*last = last.again()
			last.say(m.Content)
		}
		for range m.Calls {
			c := &v.calls[next]
			next++
			if !called {
				turns++
				called = true
			}
			if c.result >= 0 {
				results = append(results, v.learned(c))
			}
			key := c.key()
			if turns > 1 && !recalled && !m.Untrained && c.object && !seen[key] {
				recalled = v.anyLink(c, func(n *jsonval.Value) bool { return past.says(n) && !last.says(n) })
			}
			seen[key] = true
		}
	}
	if turns < 2 {
		v.unproven("/messages", "calls in %d turns, want at least 2", turns)
	} else if !recalled {
		v.unproven("/messages", "no argument of a later turn comes from an earlier one alone")
	}
}

// anyLeaf says whether a scalar of the arguments below a JSON Pointer passes the test. A search that would cost too much
// finds nothing.
func (v *validator) anyLeaf(c *call, pointer string, test func(*jsonval.Value) bool) bool {
	n := at(&c.args, pointer)
	if n == nil || !v.spend(pathBytes(n, 0)) {
		return false
	}
	return anyScalar(n, func(n *jsonval.Value) bool {
		return n.Text != "" && v.spend(len(v.scene.text)+len(n.Text)) && test(n)
	})
}

// anyLink is anyLeaf for the scalars that the schema neither names nor limits to true and false.
func (v *validator) anyLink(c *call, test func(*jsonval.Value) bool) bool {
	if !v.spend(pathBytes(&c.args, 0)) {
		return false
	}
	var s *schema.Schema
	if c.tool >= 0 {
		s, _ = v.offers[c.tool].facts.parameters()
	}
	return slices.ContainsFunc(schema.LeavesOf(s, &c.args, "", nil), func(l schema.Leaf) bool {
		return l.Value.Text != "" && l.Value.Kind != jsonval.Bool && !l.Schema.Offers(l.Value) &&
			v.spend(len(v.scene.text)+len(l.Value.Text)) && test(l.Value)
	})
}

// anyScalar says whether a scalar of a value passes the test.
func anyScalar(n *jsonval.Value, test func(*jsonval.Value) bool) bool {
	switch n.Kind {
	case jsonval.List:
		for i := range n.List {
			if anyScalar(&n.List[i], test) {
				return true
			}
		}
		return false
	case jsonval.Object:
		for i := range n.Members {
			if anyScalar(&n.Members[i].Value, test) {
				return true
			}
		}
		return false
	}
	return test(n)
}

// at follows a JSON Pointer, nil if it leads nowhere.
func at(n *jsonval.Value, pointer string) *jsonval.Value {
	if pointer == "" {
		return n
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if n == nil {
			return nil
		}
		if n.Kind == jsonval.List {
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(n.List) {
				return nil
			}
			n = &n.List[i]
			continue
		}
		n = n.Get(strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~"))
	}
	return n
}

func (v *validator) missingInfo() {
	before, given := &v.spare[0], &v.spare[1] // all that comes before the second message of a user, and that message
	messages := v.sample.Messages
	second, users, asked := -1, 0, false
	for i := range messages {
		m := &messages[i]
		if m.Role == RoleUser {
			if users++; users == 2 {
				second = i
				break
			}
		}
		if m.Role == RoleAssistant && !asked {
			if asked = true; len(m.Calls) > 0 {
				v.unproven(messagePath(i), "calls, where the assistant should ask")
				return
			}
		}
		before.say(m.Content)
	}
	next := slices.IndexFunc(v.calls, func(c call) bool { return c.message > second && v.trained(&c) })
	if second < 0 || !asked || next < 0 {
		v.unproven("/messages", "no question, answer and call")
		return
	}
	for i := range v.calls[:next] {
		if v.calls[i].message < second {
			before.answer(v.calls[i].value)
		}
	}
	given.say(messages[second].Content)
	c := &v.calls[next]
	if c.tool < 0 || !c.object {
		return // said by other rules
	}
	if p := v.sample.Plan; p != nil && len(p.Withheld) > 0 {
		for _, pointer := range p.Withheld {
			if fault := v.recoverable(c, pointer, before, given); fault != "" {
				v.unproven(c.path()+"/arguments"+pointer, "%s", fault)
			}
		}
		return
	}
	s, err := v.offers[c.tool].facts.parameters()
	if err != nil {
		return
	}
	if !slices.ContainsFunc(s.Required, func(name string) bool {
		return v.recoverable(c, "/"+jsonval.PointerEscape(name), before, given) == ""
	}) {
		v.unproven(c.path()+"/arguments", "each required argument could be known before the second request")
	}
}

// recoverable says why an argument could have been known before the user gave it, or was not given at all; empty if it was
// missing.
func (v *validator) recoverable(c *call, pointer string, before, given *scene) string {
	facts := v.offers[c.tool].facts
	s, err := facts.parameters()
	if err != nil {
		return "the schema cannot be read"
	}
	top, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	name := strings.ReplaceAll(strings.ReplaceAll(top, "~1", "/"), "~0", "~")
	value := at(&c.args, pointer)
	switch {
	case pointer == "" || value == nil:
		return "no such argument"
	case !slices.Contains(s.Required, name):
		return "not required"
	case facts.settled(pointer):
		return "the schema settles it"
	case v.anyLeaf(c, pointer, before.says):
		return "known before it was asked for"
	case !v.anyLeaf(c, pointer, func(*jsonval.Value) bool { return true }),
		v.anyLeaf(c, pointer, func(n *jsonval.Value) bool { return !given.says(n) }):
		return "not in the second request"
	}
	// Only tools of one group feed one another.
	for i := range v.offers {
		o := &v.offers[i]
		near := o.facts != facts && o.message < c.message && o.facts.tool.Group == facts.tool.Group
		if near && slices.Contains(v.checker.feeding(o.facts, facts), name) {
			return "the tool " + o.tool.Name + " feeds it"
		}
	}
	return ""
}

// settled says whether the schema of a parameter has a default, a const or an enum of one, at the parameter or below it
// along the pointer.
func (f *toolFacts) settled(pointer string) bool {
	known, ok := f.settles[pointer]
	if !ok {
		known = settled(f.tool.Parameters, pointer)
		if f.settles == nil || len(f.settles) == 64 {
			f.settles = make(map[string]bool)
		}
		f.settles[pointer] = known
	}
	return known
}

func settled(parameters []byte, pointer string) bool {
	n, err := jsonval.Parse(parameters)
	if err != nil {
		return true
	}
	s := &n
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if _, err := strconv.Atoi(part); err == nil && s.Get("items") != nil {
			s = s.Get("items")
		} else if props := s.Get("properties"); props != nil {
			s = props.Get(strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~"))
		} else {
			return false
		}
		if s == nil {
			return false
		}
		for range 64 { // references may lead in a circle
			ref := s.Get("$ref")
			if ref == nil {
				break
			}
			target, err := schema.Resolve(&n, ref.Text)
			if err != nil {
				break
			}
			s = target
		}
		if enum := s.Get("enum"); s.Get("default") != nil || s.Get("const") != nil || enum != nil && len(enum.List) == 1 {
			return true
		}
	}
	return false
}

func (v *validator) missingFunction() {
	messages := v.sample.Messages
	declined, offered := false, -1
	for i := range messages {
		if len(messages[i].Offers) > 0 {
			offered = i
			break
		}
		declined = declined || messages[i].Role == RoleAssistant && len(messages[i].Calls) == 0
	}
	if offered < 0 || !declined {
		v.unproven("/messages", "the assistant does not decline before tools are offered")
		return
	}
	late := slices.IndexFunc(v.calls, func(c call) bool { return c.tool >= 0 && v.offers[c.tool].message >= offered })
	if late < 0 {
		v.unproven("/messages", "no call of a tool that is offered late")
		return
	}
	c := &v.calls[late]
	o := &v.offers[c.tool]
	if p := v.sample.Plan; p != nil && p.Absent != nil && v.checker.facts(p.Absent).tool.Name != o.facts.tool.Name {
		v.unproven(c.path(), "the missing tool is %q", p.Absent.Name)
	}
	for i := range v.offers {
		if other := &v.offers[i]; other.message < 0 && other.facts.meaning.Rivals(o.facts.meaning) {
			v.unproven(other.path(), "does what %q does", o.facts.tool.Name)
		}
	}
}

func (v *validator) irrelevance() {
	v.noCall()
	if v.sample.Plan == nil || v.sample.Plan.Absent == nil {
		return
	}
	absent := v.checker.facts(v.sample.Plan.Absent)
	words := absent.contentWords()
	for i := range v.offers {
		o := &v.offers[i]
		if o.facts.tool.Name == absent.tool.Name {
			v.unproven(o.path(), "the absent tool %q is offered", absent.tool.Name)
			continue
		}
		if o.facts.meaning.Rivals(absent.meaning) {
			v.unproven(o.path(), "does what %q does", absent.tool.Name)
		}
		shared := 0
		for w := range o.facts.contentWords() {
			if words[w] {
				shared++
			}
		}
		if 2*shared > len(words) {
			v.unproven(o.path(), "has %d of the %d words that describe the absent tool", shared, len(words))
		}
	}
}

func (v *validator) recovery() {
	failed := slices.IndexFunc(v.calls, func(c call) bool { return c.failed })
	if failed < 0 {
		v.unproven("/messages", "no result reports an error")
		return
	}
	broken := make(map[string]int) // first message with an error, by tool
	for i := range v.calls {
		c := &v.calls[i]
		if at, before := broken[c.call.Name]; before && at < c.message && c.result >= 0 && !c.failed {
			return
		}
		if !c.failed {
			continue
		}
		if _, before := broken[c.call.Name]; !before {
			broken[c.call.Name] = c.message
		}
		if v.reported(c) {
			return
		}
	}
	v.unproven(v.calls[failed].path(), "the failure is neither repaired nor reported")
}

// reported says whether the last message of the assistant has the message of a call's error.
func (v *validator) reported(c *call) bool {
	last := &v.sample.Messages[len(v.sample.Messages)-1]
	text := strings.TrimSpace(errorMessage(&c.value))
	long := func(word string) bool { return utf8.RuneCountInString(word) >= 3 }
	return last.Role == RoleAssistant && slices.ContainsFunc(names.Words(text), long) &&
		v.spend(len(last.Content)+len(text)) && containsWhole(last.Content, text)
}

// errorMessage is the text of a result that reports an error; in a result of MCP it is the first of the content.
func errorMessage(v *jsonval.Value) string {
	e := v.Get("error")
	if e == nil {
		e = v
	}
	if e.Kind == jsonval.String {
		return e.Text
	}
	for _, key := range []string{"message", "detail", "reason", "title", "type"} {
		if text := jsonval.StringOf(e.Get(key)); text != "" {
			return text
		}
	}
	if e != v {
		return jsonval.StringOf(v.Get("message"))
	}
	if content := v.Get("content"); content != nil && len(content.List) > 0 {
		return jsonval.StringOf(content.List[0].Get("text"))
	}
	return ""
}
