package traces

import (
	"fmt"

	"github.com/throughline-go/throughline/midtool"
)

// link gives each call an ID of its own and each result the ID and the name of the call that it answers.
func link(s *midtool.Sample) {
	given := make(map[string]bool)
	for i := range s.Messages {
		for _, c := range s.Messages[i].Calls {
			given[c.ID] = true
		}
	}
	used := make(map[string]bool)
	n := 0
	for i := range s.Messages {
		if len(s.Messages[i].Calls) == 0 {
			continue
		}
		calls := s.Messages[i].Calls
		at := make(map[string][]int, len(calls)) // calls of the turn by the ID they came with
		for j := range calls {
			c := &calls[j]
			n++
			if c.ID != "" {
				at[c.ID] = append(at[c.ID], j)
			}
			if c.ID == "" || used[c.ID] {
				c.ID = fmt.Sprintf("call_%04d", n)
				for k := 2; used[c.ID] || given[c.ID]; k++ {
					c.ID = fmt.Sprintf("call_%04d_%d", n, k)
				}
			}
			used[c.ID] = true
		}
		end := i + 1
		for end < len(s.Messages) && s.Messages[end].Role == midtool.RoleTool {
			end++
		}
		answer(calls, s.Messages[i+1:end], at)
	}
	if p := s.Plan; p != nil {
		number(p, s)
	}
}

// answer links the results of a turn to its calls.
func answer(calls []midtool.Call, results []midtool.Message, at map[string][]int) {
	answered := make([]bool, len(calls))
	link := func(r *midtool.Message, j int) {
		answered[j] = true
		r.CallID = calls[j].ID
		if r.Name == "" {
			r.Name = calls[j].Name
		}
	}
	var blank []*midtool.Message
	for k := range results {
		r := &results[k]
		if r.CallID == "" {
			blank = append(blank, r)
		} else if list := at[r.CallID]; len(list) > 0 {
			at[r.CallID] = list[1:]
			link(r, list[0])
		}
	}
	j := 0
	for _, r := range blank {
		for j < len(calls) && answered[j] {
			j++
		}
		if j == len(calls) {
			return
		}
		link(r, j)
	}
}

// number gives the calls of the plan the IDs of those in the messages, if there are as many.
func number(p *midtool.Plan, s *midtool.Sample) {
	var ids []string
	for i := range s.Messages {
		for _, c := range s.Messages[i].Calls {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) != len(p.Calls) {
		return
	}
	for i := range ids {
		p.Calls[i].ID = ids[i]
	}
}
