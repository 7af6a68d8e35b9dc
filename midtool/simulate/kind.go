package simulate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A kind is what some tools that are about the same noun say of it: the plan of a table. It is immutable and shared by
// all sessions that offer these tools.
type kind struct {
	stem    string
	noun    string // of the identifiers: the stem in one word
	members []*tool
	usable  bool // there are identifiers that all tools accept, and a tool that uses them
	columns []column
	at      map[string]int // column by the words of its name; the identifier is -1
	idName  string
	idForm  func(d *draw.Draws, n int) (jsonval.Value, bool)
	idKnown bool           // idForm does without draws
	works   map[*tool]bool // the state can be told in the tool's result schema
	records map[*tool]schema.Record
	fields  map[*schema.Schema][]schema.Field // of the objects in results
}

// A column is a field of the records of a kind.
type column struct {
	name    string
	owner   string           // the noun that it identifies a record of; empty if it is no foreign identifier
	schemas []*schema.Schema // all that is said about its values; the first is a plan for them
}

// Words of parameters that steer a search and describe no record (ours).
var steering = names.WordSet(`limit offset page cursor sort order query q search filter filters keyword keywords term text format fields include
	exclude expand verbose with per from to since until before after start end min max top count size skip recursive depth mode dry force
	confirm return direction language locale timezone unit units`)

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

// kindOf makes the plan of a noun from the tools about it.
func (c *catalog) kindOf(stem string, members []*tool) *kind {
	slices.SortFunc(members, func(a, b *tool) int { // whatever the order of the session
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID), bytes.Compare(a.Parameters, b.Parameters), bytes.Compare(a.Returns, b.Returns))
	})
	members = slices.Compact(members)
	var room [256]byte
	key := append(room[:0], stem...)
	for _, t := range members {
		key = binary.BigEndian.AppendUint32(key, t.number)
	}
	c.mu.RLock()
	k := c.kinds[string(key)]
	c.mu.RUnlock()
	if k == nil {
		k = newKind(stem, slices.Clone(members))
		c.mu.Lock()
		if c.kinds == nil || len(c.kinds) >= maxTools {
			c.kinds = make(map[string]*kind)
		}
		c.kinds[string(key)] = k
		c.mu.Unlock()
	}
	return k
}

func newKind(stem string, members []*tool) *kind {
	k := &kind{stem: stem, noun: strings.ReplaceAll(stem, " ", "_"), members: members, at: make(map[string]int), works: make(map[*tool]bool),
		records: make(map[*tool]schema.Record), fields: make(map[*schema.Schema][]schema.Field)}
	ids := k.identifiers()
	if k.idName = cmp.Or(k.idName, "id"); !k.usable || !k.identify(ids) {
		k.usable = false
		return k
	}
	// Results first: they know the records best. Then what records are made and changed with, then what finds them.
	for _, classes := range [][]names.VerbClass{{names.GetVerb}, {names.ListVerb, names.SearchVerb}, {names.CreateVerb, names.UpdateVerb}} {
		for _, t := range members {
			if t.returns != nil && slices.Contains(classes, t.meaning.Class) {
				if r := schema.RecordOf(t.returns, stem); r.Schema != nil {
					k.add(slices.DeleteFunc(r.Schema.Fields(), func(f schema.Field) bool { return speaksOfCall(f, classes[0]) }), false)
				}
			}
		}
	}
	for _, classes := range [][]names.VerbClass{{names.CreateVerb}, {names.UpdateVerb}, {names.ListVerb, names.SearchVerb}} {
		for _, t := range members {
			if slices.Contains(classes, t.meaning.Class) {
				k.add(t.fields, classes[0] == names.ListVerb)
			}
		}
	}
	if len(k.columns) == 0 { // a record without anything would say nothing
		s, _ := schema.CompileRaw([]byte(`{"type":"string"}`))
		for _, name := range []string{"name", "status"} {
			k.add([]schema.Field{{Name: name, Words: []string{name}, Schema: s}}, false)
		}
	}
	for _, t := range members {
		if t.returns != nil {
			r := schema.RecordOf(t.returns, stem)
			k.records[t] = r
			at := t.returns
			for _, key := range r.Path {
				k.fields[at] = at.Fields()
				at = at.Member(key)
			}
			if r.Schema != nil {
				k.fields[r.Schema] = r.Schema.Fields()
			}
		}
		k.works[t] = k.tells(t)
	}
	return k
}

// identifiers collects what is said about the identifier and which names it has.
func (k *kind) identifiers() []*schema.Schema {
	var said []*schema.Schema
	note := func(f schema.Field) {
		k.at[strings.Join(f.Words, " ")] = -1
		s := f.Schema
		if f.Words[len(f.Words)-1] == "ids" && !s.Is(jsonval.String) && s.Items() != nil {
			s = s.Items()
		}
		said = append(said, s)
	}
	for _, t := range k.members {
		if t.returns == nil {
			continue
		}
		if r := schema.RecordOf(t.returns, k.stem); r.Schema != nil {
			fields := r.Schema.Fields()
			i := schema.IdentifierOf(fields, k.stem)
			if i < 0 || len(fields[i].Words) > 1 && strings.Join(fields[i].Words[:len(fields[i].Words)-1], " ") != k.stem {
				continue
			}
			note(fields[i])
			k.idName = cmp.Or(k.idName, fields[i].Name)
		}
	}
	for _, t := range k.members {
		switch t.meaning.Class {
		case names.CreateVerb:
			k.usable = true
			if t.id >= 0 && (t.owner() == "" || t.owner() == k.stem) {
				note(t.fields[t.id])
			}
		case names.GetVerb, names.UpdateVerb, names.DeleteVerb:
			if t.id >= 0 {
				k.usable = true
				note(t.fields[t.id])
				if owner := t.owner(); owner != "" && owner != k.stem {
					k.noun = strings.ReplaceAll(owner, " ", "_")
				}
			}
		}
	}
	return said
}

// identify finds a form of identifiers that all of their schemas accept.
func (k *kind) identify(said []*schema.Schema) bool {
	accepted := func(v jsonval.Value) bool {
		return !slices.ContainsFunc(said, func(s *schema.Schema) bool { return !s.Accepts(&v) })
	}
	word := func(_ *draw.Draws, n int) (jsonval.Value, bool) {
		return jsonval.NewString(k.noun + "_" + strconv.Itoa(10000 + n)[1:]), n < 10000
	}
	whole := func(_ *draw.Draws, n int) (jsonval.Value, bool) {
		return jsonval.Value{Kind: jsonval.Number, Text: strconv.Itoa(n)}, true
	}
	made := func(d *draw.Draws, n int) (jsonval.Value, bool) {
		for range 8 {
			m := schema.Maker{D: d}
			if v, ok := m.Value(said[0], k.noun+"_id", 1); ok && v.Kind != jsonval.Object && v.Kind != jsonval.List && v.Kind != jsonval.Null && accepted(v) {
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
				k.idForm, k.idKnown = form, true
				return true
			}
		}
	}
	if len(said) == 0 {
		return false
	}
	k.idForm = made
	_, ok := made(draw.New(0, "kind", k.stem), 1)
	return ok
}

// add makes columns of fields, unless they are there or, in a search, only steer it.
func (k *kind) add(fields []schema.Field, search bool) {
	for _, f := range fields {
		words := strings.Join(f.Words, " ")
		at, known := k.at[words]
		switch {
		case len(f.Words) == 0 || words == "error" || words == "status code" || search && !known && steers(f.Words):
		case !known && (words == "id" || words == k.stem+" id"):
			k.at[words] = -1
		case !known:
			c := column{name: f.Name, schemas: []*schema.Schema{f.Schema}}
			if n := len(f.Words); n > 1 && f.Words[n-1] == "id" {
				c.owner = strings.Join(f.Words[:n-1], " ")
			}
			k.at[words] = len(k.columns)
			k.columns = append(k.columns, c)
		case at >= 0:
			k.columns[at].schemas = append(k.columns[at].schemas, f.Schema)
		}
	}
}

// column returns the place of a field, -1 for the identifier.
func (k *kind) column(words []string) (int, bool) {
	at, ok := k.at[strings.Join(words, " ")]
	return at, ok
}

// A cell is a value of a record; an empty one is not there.
type cell struct {
	set   bool
	value jsonval.Value
}

// cells makes the values of a record. owned gives an identifier of another noun.
func (k *kind) cells(d *draw.Draws, owned func(noun string, d *draw.Draws) (jsonval.Value, bool)) []cell {
	out := make([]cell, len(k.columns))
	for i := range k.columns {
		c := &k.columns[i]
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
func (k *kind) tells(t *tool) bool {
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
		d := draw.New(0, "kind", k.stem, fmt.Sprint(n))
		id, ok := k.idForm(d, n)
		if !ok {
			return false
		}
		rows = append(rows, &row{id: id, cells: k.cells(d, nil)})
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
	trial := telling{kind: k, tool: t, args: &args, total: 2, d: draw.New(0, "kind", t.Name)}
	_, one := trial.result(rows[1:])
	if !one || !trial.many() {
		return one
	}
	_, both := trial.result(rows)
	return both
}
