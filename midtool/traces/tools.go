package traces

import (
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/midtool"
)

// clone copies all that is changed, so that the caller's sample stays as it is.
func clone(s midtool.Sample) midtool.Sample {
	s.Tools = slices.Clone(s.Tools)
	s.Messages = slices.Clone(s.Messages)
	for i := range s.Messages {
		m := &s.Messages[i]
		m.Calls, m.Offers = slices.Clone(m.Calls), slices.Clone(m.Offers)
	}
	if s.Plan != nil {
		p := *s.Plan
		p.Calls = slices.Clone(p.Calls)
		s.Plan = &p
	}
	return s
}

// offered yields the tools offered from the start and later, each with its place.
func offered(s *midtool.Sample) iter.Seq2[string, *midtool.Tool] {
	return func(yield func(string, *midtool.Tool) bool) {
		for i := range s.Tools {
			if !yield("/tools/"+strconv.Itoa(i), &s.Tools[i]) {
				return
			}
		}
		for i := range s.Messages {
			for j := range s.Messages[i].Offers {
				if !yield("/messages/"+strconv.Itoa(i)+"/offers/"+strconv.Itoa(j), &s.Messages[i].Offers[j]) {
					return
				}
			}
		}
	}
}

// A cache keeps normalized tools, for the conversations of an agent offer the same ones again and again.
type cache struct {
	key   []byte
	tools map[string]midtool.Tool
}

const cacheSize = 1 << 14 // tools; more start it anew

// normalize is [midtool.Normalize] with a memory.
func (c *cache) normalize(t *midtool.Tool) (midtool.Tool, *midtool.Rejection) {
	c.key = c.key[:0]
	for _, part := range []string{t.Name, t.Description, t.Title, t.License, string(t.Parameters), string(t.Returns)} {
		c.key = binary.AppendUvarint(c.key, uint64(len(part)))
		c.key = append(c.key, part...)
	}
	for _, step := range t.Lossy {
		c.key = append(append(c.key, step...), 0)
	}
	n, ok := c.tools[string(c.key)]
	if !ok {
		var err error
		if n, err = midtool.Normalize(*t); err != nil {
			if r, ok := errors.AsType[*midtool.Rejection](err); ok {
				return n, r
			}
			return n, rejectTool(t, "", "bad_schema", err.Error())
		}
		if c.tools == nil || len(c.tools) == cacheSize {
			c.tools = make(map[string]midtool.Tool)
		}
		c.tools[string(c.key)] = n
	}
	n.Original, n.ReadOnly, n.Hints = t.Original, t.ReadOnly, t.Hints
	n.Group, n.Origin, n.LicenseFrom = t.Group, t.Origin, t.LicenseFrom
	return n, nil
}

// rename makes the names of the offered tools exportable, one to one, wherever they stand.
func rename(s *midtool.Sample) {
	var tools []*midtool.Tool
	var before []string
	for _, t := range offered(s) {
		tools, before = append(tools, t), append(before, t.Name)
	}
	if midtool.ExportNames(tools) {
		exported := make(map[string]string, len(tools))
		for i, t := range tools {
			exported[before[i]] = t.Name
		}
		replace(s, exported)
	}
	for i := range s.Messages {
		if m := &s.Messages[i]; len(m.Offers) > 0 {
			m.Content = midtool.OfferText(m.Offers)
		}
	}
}

func replace(s *midtool.Sample, exported map[string]string) {
	change := func(name *string) {
		if to, ok := exported[*name]; ok {
			*name = to
		}
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		change(&m.Name)
		for j := range m.Calls {
			change(&m.Calls[j].Name)
		}
	}
	if s.Plan != nil {
		for i := range s.Plan.Calls {
			change(&s.Plan.Calls[i].Name)
		}
	}
}
