package simulate

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// startRows is the number of records that a table starts with (ours): enough for a choice, few enough to be listed whole.
const startRows = 3

// World is a [midtool.Executor] whose sessions each hold a table of records for every noun that their tools are about
// (get_user, list_users and create_user are about a user). The zero value has the seed 0.
//
// # Tables
//
// A table starts with three records whose identifiers are user_0001, user_0002 and user_0003, or whatever form the tools
// accept; no identifier is used twice. A record has the fields of the results and of the parameters of the tools about
// its noun. Identifiers of other nouns are those of records that the session starts with.
//
//   - create appends a record with the given fields; those not given are made up.
//   - get, update and delete take the record of the identifier: the parameter whose last word is id, ids, uuid, key or
//     slug and that names the noun, or just that, or is the only one. It must be given even where the parameters leave
//     the choice. update changes the given fields. get with the identifier of another noun (get_user_profile of
//     user_id) reads the record of that, if the session has such a table and the name is not in the plural.
//   - list and search give the records whose fields equal the given ones, by identifier in order of making; limit and
//     offset hold where they are whole and not negative. A get without identifier, in the plural, is a list.
//
// # Results
//
// A result follows the tool's result schema if it has one: records are told by the words of its fields, and so are
// counts and flags of success. Without one it is the record; {"items": [...], "total": n} for a list; a status and the
// identifier for what is deleted. The package comment lists the failures, which change nothing: a create or update whose
// outcome breaks the result schema is one of them.
//
// A tool of another verb, of a noun without identifiers, or whose result schema has no place for the records works on no
// table and is answered as by [Schema], call for call.
//
// A World is safe for concurrent use and must not be copied after its first use.
type World struct {
	schema Schema
}

// NewWorld returns an executor whose tables depend on the seed.
func NewWorld(seed uint64) *World { return &World{Schema{seed: seed}} }

// A Knower is a session that knows what exists in it, as the sessions of a [World] do. Whoever makes arguments for a
// session, as package native does for that of its executor, can ask whether it is one and take the values from there; of
// a session that is none, nothing is known to exist.
type Knower interface {
	// Known returns the values that exist in the state for a parameter of a tool, in order: identifiers of records, and
	// for a list or search the values of the field that the parameter filters by. It is nil where the state has nothing
	// to do with the parameter. Asking changes nothing.
	Known(tool midtool.Tool, parameter string) []json.RawMessage
}

// Open starts a session with tables of its own. It never fails.
func (w *World) Open(ctx context.Context, id string, tools []midtool.Tool) (midtool.Session, error) {
	return &session{schema: &w.schema, id: id, offered: tools}, nil
}

// A session holds the tables of one conversation.
type session struct {
	schema  *Schema
	id      string
	offered []midtool.Tool
	tools   []*tool // of offered, once they are looked at
	tables  []*table
}

// A table holds the records of one noun.
type table struct {
	plan *tablePlan
	rows []*row // in the order of making; deleted ones stay, so that no identifier comes back
}

type row struct {
	n     int // place among all that were made, from 1
	id    jsonval.Value
	cells []cell // nil until asked for
	gone  bool
}

// Execute answers a call.
func (s *session) Execute(ctx context.Context, called midtool.Tool, arguments json.RawMessage) (midtool.Result, error) {
	if err := ctx.Err(); err != nil {
		return midtool.Result{}, err
	}
	args, err := jsonval.Parse(arguments)
	if err != nil {
		return notJSON.written(), nil
	}
	return s.perform(&called, &args).written(), nil
}

// Answer is Execute without JSON to be read and written. What it returns may share memory with the arguments and with
// the records; none of them may be changed.
func (s *session) Answer(ctx context.Context, called *midtool.Tool, args *jsonval.Value) (v jsonval.Value, failed bool, err error) {
	if err := ctx.Err(); err != nil {
		return jsonval.Value{}, false, err
	}
	r := s.perform(called, args)
	return r.value, r.failed, nil
}

func (s *session) perform(called *midtool.Tool, args *jsonval.Value) result {
	t := s.find(called)
	if fault := t.refuse(args); fault != "" {
		return failure("bad_argument", fault)
	}
	if table := s.table(s.home(t)); table != nil && table.plan.works(t) {
		return s.act(table, t, args)
	}
	return s.schema.answer(t, args)
}

// A result is what a call comes to.
type result struct {
	value  jsonval.Value
	failed bool
}

func (r result) written() midtool.Result {
	return midtool.Result{Value: r.value.Bytes(jsonval.Display), IsError: r.failed}
}

func failure(kind, message string) result {
	v := jsonval.NewObject(jsonval.Pair("error", jsonval.NewObject(
		jsonval.Pair("type", jsonval.NewString(kind)), jsonval.Pair("message", jsonval.NewString(message)))))
	return result{v, true}
}

var notJSON = failure("bad_argument", "arguments: are not JSON")

// look derives what is needed from the offered tools.
func (s *session) look() []*tool {
	if s.tools == nil {
		s.tools = s.schema.catalog.all(s.offered)
	}
	return s.tools
}

// find looks a tool up, among those of the session first: only they work on tables.
func (s *session) find(t *midtool.Tool) *tool {
	for _, known := range s.look() { // there are some tens of them, seldom more
		if known.is(t) {
			return known
		}
	}
	return s.schema.catalog.get(t)
}

// home is the noun of the table that a tool works on: its own, or the one whose identifier it takes.
func (s *session) home(t *tool) string {
	stem := t.meaning.Stem
	if t.id < 0 || t.meaning.Class != names.GetVerb && t.meaning.Class != names.UpdateVerb || t.plural && t.meaning.Class == names.GetVerb {
		return stem
	}
	owner := t.owner()
	if owner == "" || owner == stem {
		return stem
	}
	for _, o := range s.look() {
		if o.meaning.Stem == owner && o.meaning.Class != names.OtherVerb {
			return owner
		}
	}
	return stem
}

// table returns the table of a noun; nil if the session's tools say too little for one.
func (s *session) table(stem string) *table {
	if stem == "" {
		return nil
	}
	for _, t := range s.tables {
		if t.plan.stem == stem {
			if !t.plan.usable {
				return nil
			}
			return t
		}
	}
	var members []*tool
	for _, t := range s.look() {
		if t.meaning.Class != names.OtherVerb && s.home(t) == stem {
			members = append(members, t)
		}
	}
	t := &table{plan: s.schema.catalog.planOf(stem, members)}
	s.tables = append(s.tables, t)
	if !t.plan.usable {
		return nil
	}
	for range startRows {
		if s.append(t, nil) == nil {
			break
		}
	}
	return t
}

// append adds a record under the given identifier, or the next one; nil if there is none left.
func (s *session) append(t *table, id *jsonval.Value) *row {
	n := len(t.rows) + 1
	r := &row{n: n}
	switch {
	case id != nil:
		r.id = *id
	case t.plan.idKnown:
		for ; ; n++ { // a caller may have taken the next one
			var ok bool
			if r.id, ok = t.plan.idForm(nil, n); !ok {
				return nil
			}
			if t.find(&r.id) == nil {
				break
			}
		}
	default:
		d := s.draws(t, "id", n)
		for try := 0; ; try++ {
			var ok bool
			if r.id, ok = t.plan.idForm(d, n); !ok || try == 32 {
				return nil
			}
			if t.find(&r.id) == nil {
				break
			}
		}
	}
	t.rows = append(t.rows, r)
	return r
}

func (s *session) draws(t *table, what string, n int) *draw.Draws {
	return draw.New(s.schema.seed, "world", s.id, t.plan.stem, what, strconv.Itoa(n))
}

// fill makes up the values of a record that nobody has asked for yet.
func (s *session) fill(t *table, r *row) {
	if r.cells != nil {
		return
	}
	r.cells = t.plan.cells(s.draws(t, "row", r.n), func(noun string, d *draw.Draws) (jsonval.Value, bool) {
		o := s.table(noun)
		if o == nil || !o.plan.idKnown {
			return jsonval.Value{}, false
		}
		return o.plan.idForm(nil, d.Between(1, startRows))
	})
}

// find returns the record of an identifier, deleted or not.
func (t *table) find(id *jsonval.Value) *row {
	for _, r := range t.rows {
		if same(&r.id, id) {
			return r
		}
	}
	return nil
}

// same is equality as JSON Schema has it.
func same(a, b *jsonval.Value) bool {
	if a.Kind != b.Kind {
		return false
	}
	if a.Kind < jsonval.List && a.Text == b.Text {
		return true
	}
	return a.Kind >= jsonval.Number && a.Kind != jsonval.String && jsonval.EqualForm(a) == jsonval.EqualForm(b)
}

// act does what a tool that works on a table says to it.
func (s *session) act(t *table, by *tool, args *jsonval.Value) result {
	switch class := by.meaning.Class; {
	case class == names.CreateVerb:
		return s.create(t, by, args)
	case searches(class) || class == names.GetVerb && by.plural && by.identifier(args) == nil:
		return s.list(t, by, args)
	case by.identifier(args) == nil:
		return failure("bad_argument", named(by.fields[by.id].Name)+": is required")
	}
	return s.touch(t, by, args)
}

func (s *session) create(t *table, by *tool, args *jsonval.Value) result {
	var id *jsonval.Value
	if by.identifiesOwn(t.plan.stem) {
		if id = by.identifier(args); id != nil && t.find(id) != nil {
			return failure("conflict", t.about(id)+" was used before")
		}
	}
	r := s.append(t, id)
	if r == nil {
		return failure("conflict", "no identifier of a "+t.plan.stem+" is left")
	}
	s.fill(t, r)
	t.merge(r, args)
	told := s.tell(t, by, args, []*row{r}, 1)
	if told.failed {
		t.rows = t.rows[:r.n-1]
	}
	return told
}

// touch gets, updates or deletes the records of the given identifiers: all of them or, if one is unknown, none.
func (s *session) touch(t *table, by *tool, args *jsonval.Value) result {
	id := by.identifier(args)
	wanted := []jsonval.Value{*id}
	if id.Kind == jsonval.List {
		wanted = id.List
	}
	rows := make([]*row, 0, len(wanted))
	for i := range wanted {
		r := t.find(&wanted[i])
		if r == nil || r.gone {
			return failure("not_found", t.about(&wanted[i])+" does not exist")
		}
		s.fill(t, r)
		if by.meaning.Class == names.UpdateVerb {
			r = &row{n: r.n, id: r.id, cells: slices.Clone(r.cells)}
			t.merge(r, args)
		}
		rows = append(rows, r)
	}
	told := s.tell(t, by, args, rows, len(rows))
	if told.failed {
		return told
	}
	for _, r := range rows {
		switch by.meaning.Class {
		case names.UpdateVerb:
			t.rows[r.n-1].cells = r.cells
		case names.DeleteVerb:
			r.gone = true
		}
	}
	return told
}

// about names a record in a message.
func (t *table) about(id *jsonval.Value) string {
	if text := plain(id.Text); text != "" {
		return t.plan.stem + " " + text
	}
	return "this " + t.plan.stem
}

// merge writes the given fields into a record.
func (t *table) merge(r *row, args *jsonval.Value) {
	for i := range args.Members {
		if at, known := t.plan.column(names.Words(args.Members[i].Key)); known && at >= 0 {
			r.cells[at] = cell{true, args.Members[i].Value}
		}
	}
}

func (s *session) list(t *table, by *tool, args *jsonval.Value) result {
	limit, offset := math.MaxInt, 0
	type filter struct {
		at    int
		value *jsonval.Value
	}
	var filters []filter
	for i := range args.Members {
		m := &args.Members[i]
		words := names.Words(m.Key)
		if at, known := t.plan.column(words); known && m.Value.Kind != jsonval.Null {
			filters = append(filters, filter{at, &m.Value})
		} else if len(words) == 1 && words[0] == "limit" {
			limit = bound(&m.Value, limit)
		} else if len(words) == 1 && words[0] == "offset" {
			offset = bound(&m.Value, offset)
		}
	}
	var found []*row
next:
	for _, r := range t.rows {
		if r.gone {
			continue
		}
		for _, f := range filters {
			if f.at < 0 {
				wanted := func(id jsonval.Value) bool { return same(&r.id, &id) }
				if !wanted(*f.value) && !slices.ContainsFunc(f.value.List, wanted) {
					continue next
				}
				continue
			}
			if s.fill(t, r); !r.cells[f.at].set || !same(&r.cells[f.at].value, f.value) {
				continue next
			}
		}
		found = append(found, r)
	}
	total := len(found)
	found = found[min(offset, total):]
	found = found[:min(limit, len(found))]
	for _, r := range found {
		s.fill(t, r)
	}
	return s.tell(t, by, args, found, total)
}

// bound reads a limit or an offset; one that is not whole or negative counts as not given.
func bound(v *jsonval.Value, otherwise int) int {
	f, err := strconv.ParseFloat(v.Text, 64)
	if v.Kind != jsonval.Number || err != nil || f < 0 || f != math.Trunc(f) {
		return otherwise
	}
	return int(min(f, math.MaxInt32))
}

// tell puts records into a result. It fails where the tool's result schema has no place for them.
func (s *session) tell(t *table, by *tool, args *jsonval.Value, rows []*row, total int) result {
	told := telling{plan: t.plan, tool: by, args: args, total: total}
	if by.returns != nil {
		told.d = s.schema.draws(by, args)
	}
	v, ok := told.result(rows)
	switch class := by.meaning.Class; {
	case ok:
		return result{value: v}
	case class == names.CreateVerb || class == names.UpdateVerb:
		return failure("bad_argument", told.fault(&v))
	}
	return failure("conflict", "the result would break its schema")
}

// Known implements [Knower].
func (s *session) Known(of midtool.Tool, parameter string) []json.RawMessage {
	var out []json.RawMessage
	for _, v := range s.KnownValues(&of, parameter) {
		out = append(out, v.Bytes(jsonval.Compact))
	}
	return out
}

// KnownValues is Known without JSON to be written. The values may share memory with the records.
func (s *session) KnownValues(of *midtool.Tool, parameter string) []jsonval.Value {
	t := s.find(of)
	at := -1
	for i, f := range t.fields {
		if f.Name == parameter {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	f := t.fields[at]
	table, column := s.table(s.home(t)), -1
	switch class := t.meaning.Class; {
	case class == names.CreateVerb && at == t.id && t.identifiesOwn(t.meaning.Stem): // what is created is new
		return nil
	case searches(class):
		if table != nil && table.plan.works(t) {
			var known bool
			if column, known = table.plan.column(f.Words); known {
				break
			}
		}
		table = s.owner(f)
	case at == t.id && table != nil && table.plan.works(t) &&
		(class == names.GetVerb || class == names.UpdateVerb || class == names.DeleteVerb):
	default:
		table = s.owner(f)
	}
	if table == nil {
		return nil
	}
	out := make([]jsonval.Value, 0, len(table.rows))
	seen := make(jsonval.Set)
	for _, r := range table.rows {
		v := &r.id
		if column >= 0 {
			if s.fill(table, r); !r.cells[column].set {
				continue
			}
			v = &r.cells[column].value
		}
		if r.gone {
			continue
		}
		if f.Schema.Is(jsonval.List) && !f.Schema.Accepts(v) {
			list := jsonval.NewList(*v)
			v = &list
		}
		if f.Schema.Accepts(v) && (column < 0 || seen.Add(*v)) { // no two records have the same identifier
			out = append(out, *v)
		}
	}
	return out
}

// owner is the table of the noun that a parameter identifies: that of users for user_id.
func (s *session) owner(f schema.Field) *table {
	if len(f.Words) < 2 || !schema.IsIdentifier(f.Words) {
		return nil
	}
	return s.table(strings.Join(f.Words[:len(f.Words)-1], " "))
}
