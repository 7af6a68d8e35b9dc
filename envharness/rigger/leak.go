package rigger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

const (
	leastSecret = 4    // bytes of a graded value that must not be shown; shorter ones are in many a word
	leastChunk  = 16   // bytes of a field of the state, as JSON, that must not be shown
	mostJSON    = 4096 // bytes of a JSON value in a text that is read as one
)

// A secret is something that components must not add to what is shown.
type secret struct {
	text string
	what string // it is
	word bool   // it counts only where it stands as a word
	list bool   // the list of admissible actions may show it
}

// secrets are the actions of the plan with their arguments, as a policy may write them, the values of graded fields, and whole fields of
// the state. That an action is admissible tells nobody that it is one of the plan, so the list of those may show it, and makes it no less a
// secret in what else is shown.
func (in *inspector) secrets(stack []envharness.Component, states []envharness.State) []secret {
	var found []secret
	known := make(map[string]bool)
	add := func(s secret) {
		s.text = strings.ToLower(s.text) // as a page has it
		if !known[s.text] {
			known[s.text] = true
			found = append(found, s)
		}
	}
	for _, a := range in.plan {
		if noArgs(a.Args) {
			continue // its name is on the list of tools
		}
		for _, form := range slices.Concat(forms(a), forms(outwards(stack, a))) {
			add(secret{text: form, what: "the action " + a.String() + " of the plan", word: true, list: true})
		}
	}
	for _, s := range states {
		fields := fieldsOf(s)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if raw := fields[name]; len(raw) >= leastChunk {
				add(secret{text: string(raw), what: fmt.Sprintf("the field %q of the state", name)})
				if c := sortedJSON(string(raw)); len(c) >= leastChunk {
					add(secret{text: c, what: fmt.Sprintf("the field %q of the state", name)})
				}
			}
			if slices.Contains(in.about.Graded, name) {
				for _, form := range []string{name + ": ", name + "=", name + `":`} {
					add(secret{text: form + string(fields[name]), what: fmt.Sprintf("the graded field %q", name)})
				}
				for _, v := range stringsOf(fields[name]) {
					if len(v) >= leastSecret {
						add(secret{text: v, what: fmt.Sprintf("%q, a value in the graded field %q", v, name), word: true})
					}
				}
			}
		}
	}
	return found
}

// forms are the ways to write an action with its arguments that count.
func forms(a envharness.Action) []string {
	out := []string{a.String(), a.Name + string(a.Args), string(a.Args), a.Text()}
	if c := sortedJSON(string(a.Args)); c != "" {
		out = append(out, c)
	}
	var args map[string]any
	if json.Unmarshal(a.Args, &args) == nil && len(args) == 1 {
		for _, v := range args {
			if command, ok := v.(string); ok && strings.Contains(command, " ") {
				out = append(out, command)
			}
		}
	}
	return out
}

// sortedJSON returns the canonical form of a JSON value in small letters, empty if there is none. As keys are put in order when the letters are
// small, it is the same one for what is written in others.
func sortedJSON(value string) string {
	c, err := envharness.CanonicalJSON(json.RawMessage(value)) // letters may be written as numbers
	if err == nil {
		c, err = envharness.CanonicalJSON(json.RawMessage(bytes.ToLower(c)))
	}
	if err != nil {
		return ""
	}
	return string(c)
}

// valuesIn returns the JSON objects and lists that stand in a text, but those within others. The cost is at most mostJSON a brace; what is
// longer is only seen as the values in it.
func valuesIn(text string) []string {
	var values []string
	for {
		at := strings.IndexAny(text, "{[")
		if at < 0 {
			return values
		}
		text = text[at:]
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(text[:min(len(text), mostJSON)])).Decode(&raw) != nil {
			text = text[1:]
			continue
		}
		values = append(values, string(raw))
		text = text[len(raw):]
	}
}

// stringsOf returns the strings in a JSON value, in the order of the keys, and the keys that are more than a name of letters, each before
// what is below it.
func stringsOf(raw json.RawMessage) []string {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return appendStrings(nil, v)
}

func appendStrings(out []string, v any) []string {
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, item := range v {
			out = appendStrings(out, item)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if strings.ContainsFunc(k, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }) { // a thing, not the name of a field
				out = append(out, k)
			}
			out = appendStrings(out, v[k])
		}
	}
	return out
}

// A page is what was shown, as text in small letters in which something may be found.
type page struct {
	text   strings.Builder
	list   strings.Builder // of admissible actions
	beside *page           // a text that it has is left out here; nil means none
	known  map[string]bool // texts
	unread []string        // texts that may hold JSON values
}

func (p *page) add(texts ...string) {
	for _, t := range texts {
		if p.known[t] || p.beside != nil && p.beside.known[t] {
			continue
		}
		if p.known == nil {
			p.known = make(map[string]bool)
		}
		p.known[t] = true
		p.text.WriteString(strings.ToLower(t))
		p.text.WriteByte('\n')
		if strings.ContainsAny(t, "{[") {
			p.unread = append(p.unread, t)
		}
	}
}

// read returns the texts, with the canonical form of the JSON values in them and the strings in those: who reads one order of keys, or one
// way to write a letter, can read another.
func (p *page) read() string {
	for len(p.unread) > 0 {
		t := p.unread[0]
		p.unread = p.unread[1:]
		for _, v := range valuesIn(t) {
			p.text.WriteString(sortedJSON(v))
			p.text.WriteByte('\n')
			p.add(stringsOf(json.RawMessage(v))...)
		}
	}
	return p.text.String()
}

// addCalls adds what a policy said, or is the same behind the stack.
func (p *page) addCalls(stack []envharness.Component, calls ...envharness.Action) {
	for _, a := range calls {
		p.add(forms(a)...)
		p.add(forms(outwards(stack, a))...)
		p.add(stringsOf(a.Args)...)
	}
}

func (p *page) addObservation(o envharness.Observation) {
	p.add(o.Text)
	p.add(appendStrings(nil, o.Data)...)
	if len(o.Data) > 0 {
		if raw, err := json.Marshal(o.Data); err == nil { // an object in it may be a field of the state
			p.add(string(raw))
		}
	}
	for _, a := range o.Actions {
		for _, t := range append(stringsOf(a.Args), a.String()) {
			p.list.WriteString(strings.ToLower(t))
			p.list.WriteByte('\n')
		}
	}
}

func (p *page) addTransition(t *envharness.Transition) {
	p.addObservation(t.Observation)
	p.add(t.Reason)
	if t.Error != nil {
		p.add(string(t.Error.Class), t.Error.Message)
	}
	p.add(appendStrings(nil, t.Info)...)
}

func (p *page) addTools(tools []envharness.Tool) {
	for _, t := range tools {
		p.add(t.Name, t.Description, string(t.Schema))
		p.add(stringsOf(t.Schema)...)
	}
}

// leak says which secret the components added to what an episode showed, or nothing. What the base has shown by then, or says of itself, is
// no secret any more, and neither is what the policy said.
func (in *inspector) leak(stack []envharness.Component, t *envharness.Trace, secrets []secret) string {
	var public page
	public.add(in.about.Name, in.about.About)
	public.addTools(in.about.Tools)
	for i := range t.Log {
		public.addTransition(&t.Log[i].Transition)
		public.addCalls(stack, t.Log[i].Action)
	}
	public.addObservation(rawStart(t))
	shown := page{beside: &public}
	shown.addObservation(t.Shown)
	shown.addTools(t.Tools)
	secrets = slices.Clone(secrets)
	if s := told(&secrets, &shown, &public); s != "" {
		return "at the start: " + s
	}
	for i := range t.Turns {
		u := &t.Turns[i]
		if u.Proposed != nil {
			public.addCalls(stack, *u.Proposed)
		}
		if u.Applied != nil {
			public.addCalls(stack, *u.Applied)
		}
		if u.Raw != nil {
			public.addTransition(u.Raw)
		}
		shown := page{beside: &public}
		shown.addTransition(&u.Shown)
		shown.addTools(u.Tools)
		if s := told(&secrets, &shown, &public); s != "" {
			return fmt.Sprintf("in turn %d: %s", i, s)
		}
	}
	return ""
}

// told returns what a page holds and another one does not. Secrets that both hold are none any more, so that it takes no second look at all
// that is public.
func told(secrets *[]secret, shown, public *page) (what string) {
	*secrets = slices.DeleteFunc(*secrets, func(s secret) bool {
		if what != "" || !s.on(shown) { // mostly it is not
			return false
		}
		if s.on(public) {
			return true
		}
		what = s.what
		return false
	})
	return what
}

// hint says when components named the next action of the plan, turn by turn, where the plan was followed. It is for what is no secret by
// itself: actions without arguments, whose names anybody may mention, and the order of the list of admissible ones. Told is a plan of
// which each name is mentioned in its turn, and no other one of the plan, or of which each action heads the list in its turn, and does not
// always do so in that of the base.
func (in *inspector) hint(stack []envharness.Component, t *envharness.Trace) string {
	names := make(map[string]bool)
	for _, a := range in.plan {
		names[a.Name] = true
	}
	if len(in.plan) < 2 || len(t.Turns) < len(in.plan) {
		return ""
	}
	named, heads, moved := len(names) > 1, true, false
	shown, raw := t.Shown, rawStart(t)
	for i, next := range in.plan {
		for name := range names {
			s := secret{text: name, word: true}
			if added := s.count(shown.Text) > s.count(raw.Text); added != (name == next.Name) {
				named = false
			}
		}
		heads = heads && len(shown.Actions) > 1 && (sameCall(shown.Actions[0], next) || sameCall(shown.Actions[0], outwards(stack, next)))
		moved = moved || len(raw.Actions) > 0 && !sameCall(raw.Actions[0], next)
		u := &t.Turns[i]
		if !named && !heads || u.Applied == nil || u.Raw == nil || !sameCall(*u.Applied, next) {
			return ""
		}
		shown, raw = u.Shown.Observation, u.Raw.Observation
	}
	switch {
	case named:
		return "from turn 0 on each text names the next action of the plan"
	case moved:
		return "from turn 0 on the list begins with the next action of the plan"
	}
	return ""
}

// on reports whether a page holds the secret where that counts.
func (s secret) on(p *page) bool {
	return s.count(p.read()) > 0 || !s.list && s.count(p.list.String()) > 0
}

// count returns how often a text holds the secret.
func (s secret) count(text string) int {
	if !s.word {
		return strings.Count(text, s.text)
	}
	n := 0
	for from := 0; from <= len(text); {
		i := strings.Index(text[from:], s.text)
		if i < 0 || s.text == "" {
			break
		}
		at := from + i
		end := at + len(s.text)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if (at == 0 || !wordly(before)) && (end == len(text) || !wordly(after)) {
			n++
		}
		from = at + 1
	}
	return n
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
