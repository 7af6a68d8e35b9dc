package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/throughline-go/throughline/midtool"
)

// A fault spoils a sample in one way.
type fault struct {
	kind   string
	rule   string // the rule that must find it
	replay bool   // found only by executing the calls again
	direct bool   // needs what the OpenAI form does not hold, such as result schemas
	plant  func(r *rand.Rand, s *midtool.Sample) bool
}

// faults lists all kinds in the order of the output. Those of families are in proofs.go. Borrowed values come from the samples.
func faults(samples []midtool.Sample) []fault {
	return slices.Concat(argumentFaults(valuesOf(samples)), resultFaults(), turnFaults(), textFaults(), proofFaults())
}

// valuesOf collects the strings that the calls of samples have for each parameter.
func valuesOf(samples []midtool.Sample) map[string][]string {
	values := make(map[string][]string)
	for i := range samples {
		for p := range trained(&samples[i]) {
			for _, name := range p.names() {
				var v string
				if json.Unmarshal(p.arguments[name], &v) == nil && !slices.Contains(values[name], v) && len(values[name]) < 50 {
					values[name] = append(values[name], v)
				}
			}
		}
	}
	return values
}

func argumentFaults(values map[string][]string) []fault {
	return []fault{
		{kind: "hallucinated_string", rule: "ungrounded", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			return replaceArgument(r, s, func(p *property) bool { return p.Type == "string" && p.free() },
				func(json.RawMessage) any { return coin(r) + " " + coin(r) })
		}},
		{kind: "hallucinated_number", rule: "ungrounded", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			return replaceArgument(r, s, func(p *property) bool { return (p.Type == "integer" || p.Type == "number") && p.free() },
				func(json.RawMessage) any { return 1_000_003 + r.IntN(8_000_000) })
		}},
		{kind: "hallucinated_list_member", rule: "ungrounded", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, name, ok := argument(r, s, func(p *place, name string) bool {
				pr, known := p.parameters.Properties[name]
				var list []string
				return known && pr.Type == "array" && pr.free() && json.Unmarshal(p.arguments[name], &list) == nil && len(list) > 0
			})
			if !ok {
				return false
			}
			rewrite(s, p, func(a map[string]json.RawMessage) {
				var list []string
				_ = json.Unmarshal(a[name], &list) // fits has done it before
				list[r.IntN(len(list))] = coin(r)
				a[name] = encode(list)
			})
			return true
		}},
		{kind: "borrowed_value", rule: "ungrounded", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			// A value that another call has for the parameter looks right; it is not in this conversation if one of its words is not.
			talk := squeeze(talkOf(s))
			foreign := func(v string) bool {
				return slices.ContainsFunc(strings.FieldsFunc(v, func(r rune) bool { return !isWord(r) }), func(w string) bool {
					return len(w) > 3 && !strings.Contains(talk, squeeze(w))
				})
			}
			p, name, ok := argument(r, s, func(p *place, name string) bool {
				pr, known := p.parameters.Properties[name]
				return known && pr.Type == "string" && pr.free() && slices.ContainsFunc(values[name], foreign)
			})
			if ok {
				pool := slices.DeleteFunc(slices.Clone(values[name]), func(v string) bool { return !foreign(v) })
				rewrite(s, p, func(a map[string]json.RawMessage) { a[name] = encode(pool[r.IntN(len(pool))]) })
			}
			return ok
		}},
		{kind: "wrong_type", rule: "schema", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			for _, typ := range []string{"string", "integer", "number", "boolean", "array", "object"} {
				if r.IntN(3) > 0 {
					continue
				}
				if replaceArgument(r, s, func(p *property) bool { return p.Type == typ }, func(json.RawMessage) any {
					if typ == "string" {
						return 7
					}
					return coin(r)
				}) {
					return true
				}
			}
			return false
		}},
		{kind: "outside_enum", rule: "schema", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			return replaceArgument(r, s, func(p *property) bool { return p.Type == "string" && p.Enum != nil }, func(json.RawMessage) any { return coin(r) })
		}},
		{kind: "enum_in_other_case", rule: "schema", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, name, ok := argument(r, s, func(p *place, name string) bool {
				pr, known := p.parameters.Properties[name]
				v := plain(p.arguments[name])
				return known && pr.Type == "string" && pr.Enum != nil && !slices.Contains(pr.Enum, any(swapCase(v))) && swapCase(v) != v
			})
			if ok {
				rewrite(s, p, func(a map[string]json.RawMessage) { a[name] = encode(swapCase(plain(a[name]))) })
			}
			return ok
		}},
		{kind: "missing_required", rule: "missing_required", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, name, ok := argument(r, s, func(p *place, name string) bool { return slices.Contains(p.parameters.Required, name) })
			if ok {
				rewrite(s, p, func(a map[string]json.RawMessage) { delete(a, name) })
			}
			return ok
		}},
		{kind: "extra_argument", rule: "unexpected_argument", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, ok := first(s)
			if !ok || !p.parameters.Closed {
				return false
			}
			rewrite(s, p, func(a map[string]json.RawMessage) { a[coin(r)] = encode(true) })
			return true
		}},
		{kind: "blank_call", rule: "blank_call", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, name, ok := argument(r, s, func(p *place, name string) bool {
				return p.parameters.Properties[name].Type == "string" && slices.Contains(p.parameters.Required, name)
			})
			if ok {
				rewrite(s, p, func(a map[string]json.RawMessage) { a[name] = encode(strings.Repeat(" ", r.IntN(3))) })
			}
			return ok
		}},
		{kind: "arguments_no_object", rule: "bad_arguments", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, ok := first(s)
			if ok {
				s.Messages[p.message].Calls[p.call].Arguments = json.RawMessage([]string{`[1]`, `"x"`, `null`, `{"a":`, ``}[r.IntN(5)])
			}
			return ok
		}},
		{kind: "unknown_tool", rule: "unknown_tool", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, ok := first(s)
			if ok {
				name := "get_" + coin(r)
				c := &s.Messages[p.message].Calls[p.call]
				c.Name = name
				for i := range s.Messages {
					if isResult(&s.Messages[i]) && s.Messages[i].CallID == c.ID {
						s.Messages[i].Name = name
					}
				}
			}
			return ok
		}},
		{kind: "swapped_arguments", rule: "contradiction", direct: true, plant: func(r *rand.Rand, s *midtool.Sample) bool {
			if s.Plan == nil {
				return false
			}
			p, ok := first(s)
			if !ok {
				return false
			}
			for _, a := range p.names() {
				for _, b := range p.names() {
					pa, pb := p.parameters.Properties[a], p.parameters.Properties[b]
					if a < b && pa.Type == "string" && pb.Type == "string" && string(p.arguments[a]) != string(p.arguments[b]) {
						rewrite(s, p, func(m map[string]json.RawMessage) { m[a], m[b] = m[b], m[a] })
						return true
					}
				}
			}
			return false
		}},
		{kind: "call_too_many", rule: "contradiction", direct: true, plant: func(r *rand.Rand, s *midtool.Sample) bool {
			return s.Plan != nil && repeatCall(s, func(*midtool.Message) bool { return true }, nil)
		}},
		{kind: "call_too_few", rule: "contradiction", direct: true, plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, ok := first(s)
			if !ok || s.Plan == nil || len(s.Messages[p.message].Calls) < 2 {
				return false
			}
			m := &s.Messages[p.message]
			id := m.Calls[0].ID
			m.Calls = m.Calls[1:]
			s.Messages = slices.DeleteFunc(s.Messages, func(m midtool.Message) bool { return isResult(&m) && m.CallID == id })
			return true
		}},
	}
}

// replaceArgument gives another value to an argument whose schema fits.
func replaceArgument(r *rand.Rand, s *midtool.Sample, fits func(p *property) bool, value func(old json.RawMessage) any) bool {
	p, name, ok := argument(r, s, func(p *place, name string) bool {
		pr, known := p.parameters.Properties[name]
		return known && fits(&pr)
	})
	if ok {
		rewrite(s, p, func(a map[string]json.RawMessage) { a[name] = encode(value(a[name])) })
	}
	return ok
}

// talkOf joins all that is said in a sample, results included.
func talkOf(s *midtool.Sample) string {
	var b strings.Builder
	for i := range s.Messages {
		b.WriteString(s.Messages[i].Content)
	}
	return b.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// squeeze leaves letters and digits, in lower case.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if !isWord(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

func swapCase(s string) string {
	if up := strings.ToUpper(s); up != s {
		return up
	}
	return strings.ToLower(s)
}

// repeatCall makes a call whose result fits a second time, right after its turn; other changes the second result.
func repeatCall(s *midtool.Sample, fits func(result *midtool.Message) bool, other func(result string) string) bool {
	for p := range trained(s) {
		if p.call < len(s.Messages[p.message].Calls)-1 {
			continue // a later call of the turn may change what this one reads
		}
		c := s.Messages[p.message].Calls[p.call]
		at := indexOf(s, func(m *midtool.Message) bool { return isResult(m) && m.CallID == c.ID })
		if at < 0 || !fits(&s.Messages[at]) {
			continue
		}
		c.ID = "call_again"
		result := s.Messages[at]
		result.CallID = c.ID
		if other != nil {
			result.Content = other(result.Content)
		}
		end := p.message + 1
		for end < len(s.Messages) && isResult(&s.Messages[end]) {
			end++
		}
		s.Messages = slices.Insert(s.Messages, end, midtool.Message{Role: midtool.RoleAssistant, Calls: []midtool.Call{c}}, result)
		return true
	}
	return false
}

func resultFaults() []fault {
	// replaceResult changes one result that reports no error.
	replaceResult := func(s *midtool.Sample, change func(m *midtool.Message)) bool {
		at := indexOf(s, func(m *midtool.Message) bool { return isResult(m) && !reportsError(m.Content) })
		if at >= 0 {
			change(&s.Messages[at])
		}
		return at >= 0
	}
	return []fault{
		{kind: "result_of_no_call", rule: "response", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			return replaceResult(s, func(m *midtool.Message) { m.CallID = "call_" + coin(r) })
		}},
		{kind: "results_of_each_other", rule: "response", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			for i := range len(s.Messages) - 1 {
				a, b := &s.Messages[i], &s.Messages[i+1]
				if isResult(a) && isResult(b) && a.Name != b.Name {
					a.CallID, b.CallID = b.CallID, a.CallID
					return true
				}
			}
			return false
		}},
		{kind: "result_twice", rule: "response", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			at := indexOf(s, isResult)
			if at >= 0 {
				s.Messages = slices.Insert(s.Messages, at, s.Messages[at])
			}
			return at >= 0
		}},
		{kind: "result_missing", rule: "response", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			at := indexOf(s, isResult)
			if at >= 0 {
				s.Messages = slices.Delete(s.Messages, at, at+1)
			}
			return at >= 0
		}},
		{kind: "result_against_schema", rule: "response", direct: true, plant: func(r *rand.Rand, s *midtool.Sample) bool {
			for p := range trained(s) {
				if len(p.tool.Returns) == 0 {
					continue
				}
				id := s.Messages[p.message].Calls[p.call].ID
				at := indexOf(s, func(m *midtool.Message) bool { return isResult(m) && m.CallID == id && !reportsError(m.Content) })
				if at >= 0 {
					s.Messages[at].Content = []string{`["` + coin(r) + `"]`, `"` + coin(r) + `"`, coin(r)}[r.IntN(3)]
					return true
				}
			}
			return false
		}},
		{kind: "truncated_result", rule: "truncated", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			return replaceResult(s, func(m *midtool.Message) {
				cut := 1
				if n := len(m.Content); n > 2 && (m.Content[0] == '{' || m.Content[0] == '[') {
					cut += r.IntN(n - 2)
				}
				m.Content = strings.ToValidUTF8(m.Content[:cut], "")
				if r.IntN(2) == 0 || m.Content[0] != '{' && m.Content[0] != '[' {
					m.Content += []string{"...", "…"}[r.IntN(2)]
				}
			})
		}},
		{kind: "other_result_of_equal_call", rule: "response", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			return repeatCall(s, func(m *midtool.Message) bool {
				return reads(m.Name) && !reportsError(m.Content) && strings.HasPrefix(m.Content, "{")
			},
				func(result string) string { return `{"` + coin(r) + `": ` + result + `}` })
		}},
		{kind: "state_against_replay", rule: "response", replay: true, direct: true, plant: func(r *rand.Rand, s *midtool.Sample) bool {
			for i := range s.Messages {
				m := &s.Messages[i]
				var object map[string]json.RawMessage
				if !isResult(m) || reportsError(m.Content) || json.Unmarshal([]byte(m.Content), &object) != nil {
					continue
				}
				for _, key := range []string{"id", "status", "name", "title", "city", "currency"} {
					if _, ok := object[key]; ok {
						object[key] = encode(coin(r))
						m.Content = string(encode(object))
						return true
					}
				}
			}
			return false
		}},
		{kind: "results_swapped", rule: "response", replay: true, direct: true, plant: func(r *rand.Rand, s *midtool.Sample) bool {
			for i := range len(s.Messages) - 1 {
				a, b := &s.Messages[i], &s.Messages[i+1]
				if isResult(a) && isResult(b) && a.Content != b.Content && !reportsError(a.Content) && !reportsError(b.Content) {
					a.Content, b.Content = b.Content, a.Content
					return true
				}
			}
			return false
		}},
		{kind: "mistake_that_succeeds", rule: "response", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			for i := range s.Messages {
				if m := &s.Messages[i]; m.Untrained && len(m.Calls) > 0 && i+1 < len(s.Messages) {
					s.Messages[i+1].Content = `{"status": "ok"}`
					return true
				}
			}
			return false
		}},
	}
}

// reads says whether a name starts with a verb of reading.
func reads(name string) bool {
	verbs := []string{"get", "list", "search", "fetch", "read", "show", "describe", "retrieve", "find", "query", "lookup"}
	w := toolWords(strings.ToLower(name))
	return len(w) > 1 && slices.Contains(verbs, w[0])
}

// reportsError says whether a result is an object with an error or a failing status.
func reportsError(content string) bool {
	var object struct {
		Error  any `json:"error"`
		Status any `json:"status"`
	}
	if json.Unmarshal([]byte(content), &object) != nil {
		return false
	}
	code, _ := object.Status.(float64)
	return object.Error != nil && object.Error != "" || code >= 400
}

func turnFaults() []fault {
	return []fault{
		{kind: "user_after_user", rule: "turn_order", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			at := indexOf(s, isUser)
			s.Messages = slices.Insert(s.Messages, at, s.Messages[at])
			return true
		}},
		{kind: "dropped_last_answer", rule: "turn_order", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			s.Messages = s.Messages[:len(s.Messages)-1]
			return true
		}},
		{kind: "assistant_first", rule: "turn_order", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			at := indexOf(s, isUser)
			s.Messages = slices.Delete(s.Messages, at, at+1)
			return true
		}},
		{kind: "user_before_result", rule: "turn_order", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			at := indexOf(s, isResult)
			if at >= 0 {
				s.Messages = slices.Insert(s.Messages, at, midtool.Message{Role: midtool.RoleUser, Content: "Is it done already?"})
			}
			return at >= 0
		}},
		{kind: "empty_answer", rule: "empty_turn", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			s.Messages[len(s.Messages)-1].Content = ""
			return true
		}},
		{kind: "over_window", rule: "window", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			s.Messages[len(s.Messages)-1].Content += strings.Repeat(" "+coin(r), window)
			return true
		}},
		{kind: "nothing_trained", rule: "untrained", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			for i := range s.Messages {
				s.Messages[i].Untrained = s.Messages[i].Role == midtool.RoleAssistant
			}
			return true
		}},
	}
}

func textFaults() []fault {
	return []fault{
		{kind: "tool_named_in_request", rule: "leak", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			for p := range trained(s) {
				if w := toolWords(p.tool.Name); len(w) > 1 {
					name := p.tool.Name
					if r.IntN(2) == 0 {
						name = strings.Join(w, " ")
					}
					m := &s.Messages[indexOf(s, isUser)]
					m.Content = say(m.Content, "Use "+name+" for it.")
					return true
				}
			}
			return false
		}},
		{kind: "template_slot_left", rule: "leak", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			m := &s.Messages[indexOf(s, isUser)]
			m.Content = say(m.Content, []string{"{request}", "Hello {name},", "{{city}}"}[r.IntN(3)])
			return true
		}},
		{kind: "request_cut_off", rule: "leak", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			m := &s.Messages[indexOf(s, isUser)]
			m.Content = strings.TrimRight(m.Content, ".?! ") + " and"
			return true
		}},
		{kind: "control_marker", rule: "marker", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			marker := markers()[r.IntN(len(markers()))]
			m := &s.Messages[r.IntN(len(s.Messages))]
			m.Content = say(m.Content, marker)
			return true
		}},
		{kind: "control_marker_in_argument", rule: "marker", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, ok := first(s)
			if ok {
				text := encode("x" + markers()[r.IntN(len(markers()))])
				if r.IntN(2) == 0 { // as encoding/json writes it
					text = json.RawMessage(strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(string(text)))
				}
				rewrite(s, p, func(a map[string]json.RawMessage) { a[coin(r)] = text })
			}
			return ok
		}},
		{kind: "invalid_utf8", rule: "invalid_utf8", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			bad := []string{"\xff", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80"}[r.IntN(4)]
			s.Messages[r.IntN(len(s.Messages))].Content += bad
			return true
		}},
		{kind: "name_twice", rule: "name", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			if len(s.Tools) == 0 {
				return false
			}
			s.Tools = append(s.Tools, s.Tools[r.IntN(len(s.Tools))])
			return true
		}},
		{kind: "name_not_exportable", rule: "name", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			if len(s.Tools) == 0 {
				return false
			}
			t := &s.Tools[r.IntN(len(s.Tools))]
			t.Name = []string{"", "a.b", "naïve", "get user", strings.Repeat("a", 65)}[r.IntN(5)]
			return true
		}},
		{kind: "broken_schema", rule: "bad_schema", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, ok := first(s)
			if ok {
				p.tool.Parameters = json.RawMessage([]string{`[]`, `{"type":`, `{"$ref":"#/nowhere"}`}[r.IntN(3)])
			}
			return ok
		}},
	}
}
