package simulate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A telling puts records into the form of a tool's result.
type telling struct {
	plan  *tablePlan
	tool  *tool
	args  *jsonval.Value
	total int // records found, of which some may not be told
	d     *draw.Draws
}

// many says whether the call asks for several records.
func (t *telling) many() bool {
	switch class := t.tool.meaning.Class; {
	case searches(class):
		return true
	case class == names.CreateVerb:
		return false
	}
	id := t.tool.identifier(t.args)
	return id == nil || id.Kind == jsonval.List
}

// result returns false where the tool's result schema has no place for the records, with the value that breaks it if there
// is one.
func (t *telling) result(rows []*row) (jsonval.Value, bool) {
	s := t.tool.returns
	if s == nil {
		return t.free(rows), true
	}
	r := t.plan.results[t.tool].record
	class := t.tool.meaning.Class
	var v jsonval.Value
	ok := false
	switch {
	case r.Schema != nil && (r.List || len(rows) == 1 && !t.many()):
		v, ok = t.along(s, r, r.Path, rows)
	case class == names.CreateVerb || class == names.UpdateVerb || class == names.DeleteVerb: // a flag, a text: it need not tell the record
		v, ok = drawn(t.d, t.tool, t.args)
	}
	return v, ok && s.Accepts(&v) && !jsonval.ReportsError(&v)
}

// free is the result where nothing is said about it: the record, a list of records, or what was deleted.
func (t *telling) free(rows []*row) jsonval.Value {
	switch {
	case t.tool.meaning.Class == names.DeleteVerb:
		return jsonval.NewObject(jsonval.Pair("status", jsonval.NewString("ok")),
			jsonval.Pair(t.tool.fields[t.tool.id].Name, *t.tool.identifier(t.args)))
	case !t.many():
		return t.plan.object(rows[0])
	}
	items := make([]jsonval.Value, len(rows))
	for i, r := range rows {
		items[i] = t.plan.object(r)
	}
	return jsonval.NewObject(jsonval.Pair("items", jsonval.NewList(items...)), jsonval.Pair("total", number(t.total)))
}

// object is a record with all it has.
func (p *tablePlan) object(r *row) jsonval.Value {
	members := make([]jsonval.Member, 1, len(r.cells)+1)
	members[0] = jsonval.Pair(p.idName, r.id)
	for i, c := range r.cells {
		if c.set {
			members = append(members, jsonval.Pair(p.columns[i].name, c.value))
		}
	}
	return jsonval.NewObject(members...)
}

func number(n int) jsonval.Value { return jsonval.Value{Kind: jsonval.Number, Text: strconv.Itoa(n)} }

// along builds what is on the way to the records.
func (t *telling) along(s *schema.Schema, r schema.Record, path []string, rows []*row) (jsonval.Value, bool) {
	if len(path) > 0 {
		return t.object(s, func(f schema.Field) (jsonval.Value, bool, bool) {
			if f.Name != path[0] {
				return jsonval.Value{}, false, false
			}
			v, ok := t.along(s.Member(f.Name), r, path[1:], rows)
			return v, true, ok
		})
	}
	if !r.List {
		return t.record(r.Schema, rows[0])
	}
	items := make([]jsonval.Value, len(rows))
	for i, row := range rows {
		var ok bool
		if items[i], ok = t.record(r.Schema, row); !ok {
			return jsonval.Value{}, false
		}
	}
	return jsonval.NewList(items...), true
}

func (t *telling) record(s *schema.Schema, r *row) (jsonval.Value, bool) {
	return t.object(s, func(f schema.Field) (jsonval.Value, bool, bool) {
		at, known := t.plan.column(f.Words)
		switch {
		case !known || at >= 0 && !r.cells[at].set:
			return jsonval.Value{}, false, false
		case at < 0:
			return r.id, true, true
		}
		return r.cells[at].value, true, true
	})
}

// object builds an object from what a function knows of its fields, and from what can be said without the state.
func (t *telling) object(s *schema.Schema, known func(schema.Field) (v jsonval.Value, found, ok bool)) (jsonval.Value, bool) {
	out := jsonval.NewObject()
	for _, f := range t.plan.results[t.tool].fields[s] {
		v, found, ok := known(f)
		if found && !ok {
			return v, false
		}
		if !found {
			if v, ok = t.aside(f); !ok {
				if f.Required {
					return v, false
				}
				continue
			}
		}
		out.Members = append(out.Members, jsonval.Pair(f.Name, v))
	}
	return out, true
}

// aside fills a field that is no part of a record: counts, flags of success, an argument, else whatever its schema
// demands of it.
func (t *telling) aside(f schema.Field) (jsonval.Value, bool) {
	word := ""
	if len(f.Words) > 0 {
		word = f.Words[len(f.Words)-1]
	}
	var try []jsonval.Value
	switch {
	case word == "total" || word == "count":
		try = append(try, number(t.total))
	case flags[word]:
		try = append(try, jsonval.NewBool(true))
	case reports[word]: // there is nothing to report
		if !f.Required {
			return jsonval.Value{}, false
		}
		try = append(try, jsonval.Value{}, jsonval.NewString(""), jsonval.NewBool(false), jsonval.NewList())
	case word == "status":
		try = append(try, jsonval.NewString("ok"), jsonval.NewString("success"))
	}
	if a := echo(t.args, f.Words); a != nil {
		try = append(try, *a)
	}
	for _, v := range try {
		if f.Schema.Accepts(&v) {
			return v, true
		}
	}
	if !f.Required {
		return jsonval.Value{}, false
	}
	m := schema.Maker{D: t.d, Optional: 1}
	return m.Value(f.Schema, f.Name, 1)
}

// fault says which argument makes a result break the result schema, and by which rule.
func (t *telling) fault(v *jsonval.Value) string {
	for _, f := range t.tool.returns.Faults(v) {
		words := names.Words(pointerUnescape(f.Path[strings.LastIndexByte(f.Path, '/')+1:]))
		for i := range t.args.Members {
			if key := t.args.Members[i].Key; len(words) > 0 && slices.Equal(words, names.Words(key)) {
				return explain(key, f)
			}
		}
	}
	return "arguments: the result would break its schema"
}
