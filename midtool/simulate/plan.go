package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A tablePlan is what some tools that are about the same noun say of its table. It is immutable and shared by all
// sessions that offer these tools.
type tablePlan struct {
	stem    string
	noun    string  // of the identifiers: the stem in one word
	members []*tool // sorted
	usable  bool    // there are identifiers that all tools accept, and a tool that uses them
	columns []column
	at      map[string]int // column by the words of its name; the identifier is -1
	idName  string
	idForm  func(d *draw.Draws, n int) (jsonval.Value, bool)
	idKnown bool                  // idForm does without draws
	results map[*tool]*resultPlan // of the members
}

// A resultPlan is how the results of a tool tell of records.
type resultPlan struct {
	record schema.Record                     // without a schema where the result has no place for one
	fields map[*schema.Schema][]schema.Field // of the objects on the way to the record and of the record itself
	works  bool                              // records can be told so
}

// A column is a field of the records of a table.
type column struct {
	name    string
	owner   string           // the noun that it identifies a record of; empty if it is no foreign identifier
	schemas []*schema.Schema // all that is said about its values; the first is a plan for them
}

// Words of parameters that steer a search and describe no record (ours).
var steering = names.WordSet(`limit offset page cursor sort order query q search filter filters keyword keywords term text format fields
	include exclude expand verbose with per from to since until before after start end min max top count size skip recursive depth mode dry
	force confirm return direction language locale timezone unit units`)

func steers(words []string) bool {
	last := words[len(words)-1]
	return steering[last] || steering[words[0]] && last != "id"
}

// Words of fields of a result that speak of the call and of no record (ours).
var (
	flags   = names.WordSet("success ok found created updated deleted removed done")
	reports = names.WordSet("error errors warning warnings cursor next previous")
)

// speaksOfCall holds for fields of a result that are no part of a record.
func speaksOfCall(f schema.Field, class names.VerbClass) bool {
	if len(f.Words) == 0 {
		return true
	}
	last := f.Words[len(f.Words)-1]
	changes := class == names.CreateVerb || class == names.UpdateVerb
	return flags[last] && f.Schema.Is(jsonval.Bool) || reports[last] || changes && (last == "message" || last == "msg")
}

func newTablePlan(stem string, members []*tool) *tablePlan {
	p := &tablePlan{stem: stem, noun: strings.ReplaceAll(stem, " ", "_"), members: members, at: make(map[string]int)}
	p.readResults()
	ids := p.identifiers()
	p.idName = cmp.Or(p.idName, "id")
	if p.usable = p.usable && p.identify(ids); p.usable {
		p.addColumns()
		for _, t := range members {
			p.results[t].works = p.tells(t)
		}
	}
	return p
}

// readResults finds the records in the result schemas.
func (p *tablePlan) readResults() {
	p.results = make(map[*tool]*resultPlan, len(p.members))
	for _, t := range p.members {
		r := &resultPlan{fields: make(map[*schema.Schema][]schema.Field)}
		p.results[t] = r
		if t.returns == nil {
			continue
		}
		r.record = schema.RecordOf(t.returns, p.stem)
		at := t.returns
		for _, key := range r.record.Path {
			r.fields[at] = at.Fields()
			at = at.Member(key)
		}
		if r.record.Schema != nil {
			r.fields[r.record.Schema] = r.record.Schema.Fields()
		}
	}
}

// works says whether a tool works on the table; only members do.
func (p *tablePlan) works(t *tool) bool {
	r := p.results[t]
	return r != nil && r.works
}

// addColumns collects the fields of records: first what results have, which know the records best, then what records are
// made and changed with, and last what finds them.
func (p *tablePlan) addColumns() {
	for _, t := range inOrder(p.members, resultOrder) {
		if r := p.results[t]; r.record.Schema != nil {
			fields := slices.Clone(r.fields[r.record.Schema])
			p.add(slices.DeleteFunc(fields, func(f schema.Field) bool { return speaksOfCall(f, t.meaning.Class) }), false)
		}
	}
	for _, t := range inOrder(p.members, parameterOrder) {
		p.add(t.fields, searches(t.meaning.Class))
	}
	if len(p.columns) == 0 { // a record without anything would say nothing
		s, _ := schema.CompileRaw([]byte(`{"type":"string"}`))
		for _, name := range []string{"name", "status"} {
			p.add([]schema.Field{{Name: name, Words: []string{name}, Schema: s}}, false)
		}
	}
}

func searches(class names.VerbClass) bool {
	return class == names.ListVerb || class == names.SearchVerb
}

// resultOrder says how soon the results of a tool are asked about records; a negative number is never.
func resultOrder(class names.VerbClass) int {
	switch {
	case class == names.GetVerb:
		return 0
	case searches(class):
		return 1
	case class == names.CreateVerb || class == names.UpdateVerb:
		return 2
	}
	return -1
}

// parameterOrder is resultOrder for parameters.
func parameterOrder(class names.VerbClass) int {
	switch {
	case class == names.CreateVerb:
		return 0
	case class == names.UpdateVerb:
		return 1
	case searches(class):
		return 2
	}
	return -1
}

// inOrder selects and sorts tools by the order of their class; tools of the same order stay as they are.
func inOrder(tools []*tool, order func(names.VerbClass) int) []*tool {
	tools = slices.DeleteFunc(slices.Clone(tools), func(t *tool) bool { return order(t.meaning.Class) < 0 })
	slices.SortStableFunc(tools, func(a, b *tool) int { return order(a.meaning.Class) - order(b.meaning.Class) })
	return tools
}

// identifiers collects what is said about the identifier and which names it has.
func (p *tablePlan) identifiers() []*schema.Schema {
	var said []*schema.Schema
	note := func(f schema.Field) {
		p.at[strings.Join(f.Words, " ")] = -1
		s := f.Schema
		if f.Words[len(f.Words)-1] == "ids" && !s.Is(jsonval.String) && s.Items() != nil {
			s = s.Items()
		}
		said = append(said, s)
	}
	for _, t := range p.members {
		if r := p.results[t]; r.record.Schema != nil {
			fields := r.fields[r.record.Schema]
			i := schema.IdentifierOf(fields, p.stem)
			if i < 0 || len(fields[i].Words) > 1 && strings.Join(fields[i].Words[:len(fields[i].Words)-1], " ") != p.stem {
				continue
			}
			note(fields[i])
			p.idName = cmp.Or(p.idName, fields[i].Name)
		}
	}
	for _, t := range p.members {
		switch t.meaning.Class {
		case names.CreateVerb:
			p.usable = true
			if t.identifiesOwn(p.stem) {
				note(t.fields[t.id])
			}
		case names.GetVerb, names.UpdateVerb, names.DeleteVerb:
			if t.id >= 0 {
				p.usable = true
				note(t.fields[t.id])
				if owner := t.owner(); owner != "" && owner != p.stem {
					p.noun = strings.ReplaceAll(owner, " ", "_")
				}
			}
		}
	}
	return said
}

// numbered is the usual form of an identifier: user_0001.
func numbered(noun string, n int) jsonval.Value {
	return jsonval.NewString(fmt.Sprintf("%s_%04d", noun, n))
}

// identify finds a form of identifiers that all of their schemas accept.
func (p *tablePlan) identify(said []*schema.Schema) bool {
	accepted := func(v jsonval.Value) bool {
		return !slices.ContainsFunc(said, func(s *schema.Schema) bool { return !s.Accepts(&v) })
	}
	word := func(_ *draw.Draws, n int) (jsonval.Value, bool) {
		return numbered(p.noun, n), n < 10000
	}
	whole := func(_ *draw.Draws, n int) (jsonval.Value, bool) {
		return number(n), true
	}
	made := func(d *draw.Draws, n int) (jsonval.Value, bool) {
		for range 8 {
			m := schema.Maker{D: d}
			v, ok := m.Value(said[0], p.noun+"_id", 1)
			if ok && v.Kind != jsonval.Object && v.Kind != jsonval.List && v.Kind != jsonval.Null && accepted(v) {
				return v, true
			}
		}
		return jsonval.Value{}, false
	}
	if !slices.ContainsFunc(said, func(s *schema.Schema) bool { return s.Format() != "" }) {
		for _, form := range []func(*draw.Draws, int) (jsonval.Value, bool){word, whole} {
			first, _ := form(nil, 1)
			later, _ := form(nil, 1234)
			if accepted(first) && accepted(later) {
				p.idForm, p.idKnown = form, true
				return true
			}
		}
	}
	if len(said) == 0 {
		return false
	}
	p.idForm = made
	_, ok := made(draw.New(0, "kind", p.stem), 1)
	return ok
}

// add makes columns of fields, unless they are there or, in a search, only steer it.
func (p *tablePlan) add(fields []schema.Field, search bool) {
	for _, f := range fields {
		words := strings.Join(f.Words, " ")
		at, known := p.at[words]
		switch {
		case len(f.Words) == 0 || words == "error" || words == "status code" || search && !known && steers(f.Words):
		case !known && (words == "id" || words == p.stem+" id"):
			p.at[words] = -1
		case !known:
			c := column{name: f.Name, schemas: []*schema.Schema{f.Schema}}
			if n := len(f.Words); n > 1 && f.Words[n-1] == "id" {
				c.owner = strings.Join(f.Words[:n-1], " ")
			}
			p.at[words] = len(p.columns)
			p.columns = append(p.columns, c)
		case at >= 0:
			p.columns[at].schemas = append(p.columns[at].schemas, f.Schema)
		}
	}
}

// column returns the place of a field, -1 for the identifier.
func (p *tablePlan) column(words []string) (int, bool) {
	at, ok := p.at[strings.Join(words, " ")]
	return at, ok
}

// A cell is a value of a record; an empty one is not there.
type cell struct {
	set   bool
	value jsonval.Value
}

// cells makes the values of a record. owned gives an identifier of another noun.
func (p *tablePlan) cells(d *draw.Draws, owned func(noun string, d *draw.Draws) (jsonval.Value, bool)) []cell {
	out := make([]cell, len(p.columns))
	for i := range p.columns {
		c := &p.columns[i]
		fits := func(v jsonval.Value) bool {
			return !slices.ContainsFunc(c.schemas, func(s *schema.Schema) bool { return !s.Accepts(&v) })
		}
		if c.owner != "" && owned != nil {
			if v, ok := owned(c.owner, d); ok && fits(v) {
				out[i] = cell{true, v}
				continue
			}
		}
		for try := range 4 { // two tools may say different things about a field
			m := schema.Maker{D: d, Optional: 1}
			if v, ok := m.Value(c.schemas[try%len(c.schemas)], c.name, 1); ok && (len(c.schemas) == 1 || fits(v)) {
				out[i] = cell{true, v}
				break
			}
		}
	}
	return out
}

// tells tries out whether results of a tool can be built from records.
func (p *tablePlan) tells(t *tool) bool {
	switch t.meaning.Class {
	case names.UpdateVerb, names.DeleteVerb:
		if t.id < 0 { // it works on no record in particular
			return false
		}
	case names.GetVerb:
		if t.id < 0 && !t.plural {
			return false
		}
	}
	var rows []*row
	for n := 1; n <= 2; n++ {
		d := draw.New(0, "kind", p.stem, fmt.Sprint(n))
		id, ok := p.idForm(d, n)
		if !ok {
			return false
		}
		rows = append(rows, &row{id: id, cells: p.cells(d, nil)})
	}
	args := jsonval.NewObject()
	if t.id >= 0 {
		f := t.fields[t.id]
		id := rows[0].id
		if !f.Schema.Accepts(&id) {
			id = jsonval.NewList(id)
		}
		args.Members = append(args.Members, jsonval.Pair(f.Name, id))
	}
	trial := telling{plan: p, tool: t, args: &args, total: 2, d: draw.New(0, "kind", t.Name)}
	_, one := trial.result(rows[1:])
	if !one || !trial.many() {
		return one
	}
	_, both := trial.result(rows)
	return both
}
