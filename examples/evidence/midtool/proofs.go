package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
)

// proofFaults break what makes a sample one of its family.
func proofFaults() []fault {
	return []fault{
		{kind: "other_family", rule: "proof", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			other, ok := map[midtool.Family]midtool.Family{
				midtool.Single: midtool.Parallel, midtool.Parallel: midtool.Single, midtool.Sequential: midtool.Irrelevance,
				midtool.MultiTurn: midtool.Sequential, midtool.MissingInfo: midtool.MissingFunction, midtool.MissingFunction: midtool.Irrelevance,
				midtool.Irrelevance: midtool.Single, midtool.Recovery: midtool.NoCall,
			}[s.Family]
			s.Family = other
			return ok
		}},
		{kind: "unknown_family", rule: "proof", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			s.Family = midtool.Family(coin(r))
			return true
		}},
		{kind: "withheld_said_early", rule: "proof", direct: true, plant: func(r *rand.Rand, s *midtool.Sample) bool {
			value, ok := withheld(s)
			if !ok {
				return false
			}
			m := &s.Messages[indexOf(s, isUser)]
			m.Content = say(m.Content, "By the way, it is about "+value+".")
			return true
		}},
		{kind: "withheld_said_by_the_system", rule: "proof", direct: true, plant: func(r *rand.Rand, s *midtool.Sample) bool {
			value, ok := withheld(s)
			if ok {
				s.Messages = slices.Insert(s.Messages, 0, midtool.Message{Role: midtool.RoleSystem, Content: "The last thing seen was " + value + "."})
			}
			return ok
		}},
		{kind: "withheld_has_default", rule: "proof", direct: true, plant: func(r *rand.Rand, s *midtool.Sample) bool {
			name, ok := withheldName(s)
			if !ok {
				return false
			}
			p, ok := first(s)
			if !ok {
				return false
			}
			var schema map[string]any
			if json.Unmarshal(p.tool.Parameters, &schema) != nil {
				return false
			}
			properties, _ := schema["properties"].(map[string]any)
			property, _ := properties[name].(map[string]any)
			if property == nil || property["type"] != "string" {
				return false
			}
			property["default"] = coin(r)
			p.tool.Parameters = encode(schema)
			return true
		}},
		{kind: "question_left_out", rule: "proof", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			if s.Family != midtool.MissingInfo && s.Family != midtool.MissingFunction {
				return false
			}
			at := indexOf(s, func(m *midtool.Message) bool { return m.Role == midtool.RoleAssistant && len(m.Calls) == 0 })
			call := indexOf(s, func(m *midtool.Message) bool { return len(m.Calls) > 0 })
			user := indexOf(s, isUser)
			if at < 0 || call < at || user > at {
				return false
			}
			s.Messages = slices.Delete(s.Messages, user+1, call) // the call follows the first request at once
			return true
		}},
		{kind: "tool_there_from_the_start", rule: "proof", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			at := indexOf(s, func(m *midtool.Message) bool { return len(m.Offers) > 0 })
			if s.Family != midtool.MissingFunction || at < 0 {
				return false
			}
			s.Tools = append(s.Tools, s.Messages[at].Offers...)
			s.Messages = slices.Delete(s.Messages, at, at+1)
			return true
		}},
		{kind: "call_before_offer", rule: "unknown_tool", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			at := indexOf(s, func(m *midtool.Message) bool { return len(m.Offers) > 0 })
			if at < 0 {
				return false
			}
			offer := s.Messages[at]
			s.Messages = slices.Delete(s.Messages, at, at+1)
			s.Messages = slices.Insert(s.Messages, len(s.Messages)-1, offer)
			return true
		}},
		{kind: "offer_not_shown", rule: "unknown_tool", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			at := indexOf(s, func(m *midtool.Message) bool { return len(m.Offers) > 0 })
			if at >= 0 {
				s.Messages[at].Content = "More tools can be called from now on."
			}
			return at >= 0
		}},
		{kind: "rival_offered", rule: "proof", direct: true, plant: func(r *rand.Rand, s *midtool.Sample) bool {
			if s.Plan == nil || s.Plan.Absent == nil {
				return false
			}
			rival := *s.Plan.Absent
			if rival.Original == "" {
				rival.Original = rival.Name
			}
			rival.Original += "_all" // does the same to the same noun
			rival.Name = "rival_" + coin(r)
			s.Tools = append(s.Tools, rival)
			return true
		}},
		{kind: "call_where_none_fits", rule: "proof", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			if s.Family != midtool.Irrelevance || len(s.Tools) == 0 {
				return false
			}
			name := s.Tools[0].Name
			at := len(s.Messages) - 1
			s.Messages = slices.Insert(s.Messages, at,
				midtool.Message{Role: midtool.RoleAssistant, Calls: []midtool.Call{{ID: "call_0001", Name: name, Arguments: json.RawMessage(`{}`)}}},
				midtool.Message{Role: midtool.RoleTool, Content: `{"status": "ok"}`, CallID: "call_0001", Name: name})
			return true
		}},
		{kind: "chain_not_needed", rule: "proof", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			if s.Family != midtool.Sequential {
				return false
			}
			start, _ := first(s)
			var said []string
			for p := range trained(s) {
				if p.message > start.message {
					for _, name := range p.names() {
						said = append(said, scalars(p.arguments[name])...)
					}
				}
			}
			if len(said) == 0 {
				return false
			}
			m := &s.Messages[indexOf(s, isUser)]
			m.Content = say(m.Content, "You will need "+strings.Join(said, ", ")+".")
			return true
		}},
		{kind: "calls_one_by_one", rule: "proof", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			p, ok := first(s)
			if s.Family != midtool.Parallel || !ok {
				return false
			}
			// Each call of the turn gets a turn of its own, with its result.
			var apart []midtool.Message
			calls := s.Messages[p.message].Calls
			for _, c := range calls {
				at := indexOf(s, func(m *midtool.Message) bool { return isResult(m) && m.CallID == c.ID })
				if at < 0 {
					return false
				}
				apart = append(apart, midtool.Message{Role: midtool.RoleAssistant, Calls: []midtool.Call{c}}, s.Messages[at])
			}
			s.Messages = slices.Replace(s.Messages, p.message, p.message+1+len(calls), apart...)
			return len(calls) > 1
		}},
		{kind: "nothing_failed", rule: "proof", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			if s.Family != midtool.Recovery {
				return false
			}
			at := -1
			for i := range s.Messages {
				if m := &s.Messages[i]; isResult(m) && reportsError(m.Content) {
					m.Content, at = `{"status": "ok"}`, i
				}
			}
			return at >= 0
		}},
		{kind: "failure_not_reported", rule: "proof", plant: func(r *rand.Rand, s *midtool.Sample) bool {
			// Only where the sample ends with the failure: a call that worked later is a recovery whatever is said.
			last := -1
			for i := range s.Messages {
				if isResult(&s.Messages[i]) {
					last = i
				}
			}
			if s.Family != midtool.Recovery || last < 0 || !reportsError(s.Messages[last].Content) {
				return false
			}
			s.Messages[len(s.Messages)-1].Content = "All of it is done."
			return true
		}},
	}
}

// withheldName is the top-level argument that the first request leaves out.
func withheldName(s *midtool.Sample) (string, bool) {
	if s.Family != midtool.MissingInfo || s.Plan == nil || len(s.Plan.Withheld) == 0 {
		return "", false
	}
	name := strings.TrimPrefix(s.Plan.Withheld[0], "/")
	return name, !strings.ContainsAny(name, "/~")
}

// withheld is the value of that argument.
func withheld(s *midtool.Sample) (string, bool) {
	name, ok := withheldName(s)
	p, called := first(s)
	if !ok || !called || p.arguments[name] == nil {
		return "", false
	}
	words := scalars(p.arguments[name])
	return strings.Join(words, ", "), len(words) > 0
}
