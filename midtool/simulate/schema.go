package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// Schema is a [midtool.Executor] without state: equal calls of a tool get equal answers under a seed, whatever comes
// between them. The zero value has the seed 0.
//
// With a result schema the answer is drawn from it by a hash of the seed, the tool and the arguments; fields named like
// an argument repeat it, and what reports a failure is left out, for the call succeeds. Without one, or where no value
// of it can be found, the answer is a status and the arguments, with an id for what is created and two items for what
// is listed or searched. Arguments that break the parameters are a bad_argument; see the package comment for failures.
//
// A Schema is safe for concurrent use and must not be copied after its first use.
type Schema struct {
	seed    uint64
	catalog catalog
}

// NewSchema returns an executor whose answers depend on the seed.
func NewSchema(seed uint64) *Schema { return &Schema{seed: seed} }

// Open starts a session. It never fails; neither the identifier nor the tools matter.
func (s *Schema) Open(ctx context.Context, id string, tools []midtool.Tool) (midtool.Session, error) {
	return stateless{s}, nil
}

// stateless is a session of a [Schema].
type stateless struct{ of *Schema }

// Execute answers a call.
func (s stateless) Execute(ctx context.Context, called midtool.Tool, arguments json.RawMessage) (midtool.Result, error) {
	if err := ctx.Err(); err != nil {
		return midtool.Result{}, err
	}
	args, err := jsonval.Parse(arguments)
	if err != nil {
		return notJSON.written(), nil
	}
	return s.perform(&called, &args).written(), nil
}

// Answer is Execute without JSON to be read and written. What it returns may share memory with the arguments.
func (s stateless) Answer(ctx context.Context, called *midtool.Tool, args *jsonval.Value) (v jsonval.Value, failed bool, err error) {
	if err := ctx.Err(); err != nil {
		return jsonval.Value{}, false, err
	}
	r := s.perform(called, args)
	return r.value, r.failed, nil
}

func (s stateless) perform(called *midtool.Tool, args *jsonval.Value) result {
	t := s.of.catalog.get(called)
	if fault := t.refuse(args); fault != "" {
		return failure("bad_argument", fault)
	}
	return s.of.answer(t, args)
}

func (s *Schema) draws(t *tool, args *jsonval.Value) *draw.Draws {
	return draw.New(s.seed, "simulate", cmp.Or(t.ID, t.Name), args.Encode(jsonval.Canonical))
}

func (s *Schema) answer(t *tool, args *jsonval.Value) result {
	d := s.draws(t, args)
	v, ok := jsonval.Value{}, false
	if t.returns != nil {
		v, ok = drawn(d, t, args)
	}
	if !ok {
		v = plainAnswer(d, t, args)
	}
	return result{value: v}
}

// drawn makes a result of the tool's result schema.
func drawn(d *draw.Draws, t *tool, args *jsonval.Value) (jsonval.Value, bool) {
	m := schema.Maker{D: d, Optional: 1}
	v, ok := m.Value(t.returns, "result", 0)
	if !ok {
		return jsonval.Value{}, false
	}
	for i := range v.Members {
		old := v.Members[i].Value
		if a := echo(args, names.Words(v.Members[i].Key)); a != nil {
			if v.Members[i].Value = *a; !t.returns.Accepts(&v) {
				v.Members[i].Value = old
			}
		}
	}
	ok = succeed(t.returns, &v)
	return v, ok
}

// plainAnswer is for a tool that says nothing about its result.
func plainAnswer(d *draw.Draws, t *tool, args *jsonval.Value) jsonval.Value {
	out := jsonval.NewObject(jsonval.Pair("status", jsonval.NewString("ok")))
	stem := strings.ReplaceAll(t.meaning.Stem, " ", "_")
	if stem == "" {
		stem = "item"
	}
	switch t.meaning.Class {
	case names.CreateVerb:
		out.Set("id", numbered(stem, d.Between(1, 9999)))
	case names.ListVerb, names.SearchVerb:
		m := schema.Maker{D: d}
		first := d.Between(1, 9998)
		var items []jsonval.Value
		for i := range 2 {
			name := jsonval.NewString(m.Text("name"))
			items = append(items, jsonval.NewObject(jsonval.Pair("id", numbered(stem, first+i)), jsonval.Pair("name", name)))
		}
		out.Set("items", jsonval.NewList(items...))
	}
	for _, m := range args.Members {
		if out.Get(m.Key) == nil && m.Key != "error" && m.Key != "status_code" && m.Key != "statusCode" { // those report a failure
			out.Members = append(out.Members, m)
		}
	}
	return out
}

// succeed takes out of a made result what reports a failure: the conclusion says that all went well. It returns false
// where the schema demands a failure.
func succeed(s *schema.Schema, v *jsonval.Value) bool {
	for _, key := range []string{"success", "ok"} {
		if f := v.Get(key); f != nil && f.Kind == jsonval.Bool {
			made := *f
			if *f = jsonval.NewBool(true); !s.Accepts(v) {
				*f = made
			}
		}
	}
	if e := v.Get("error"); e != nil {
		for _, none := range []jsonval.Value{{}, jsonval.NewString(""), jsonval.NewBool(false)} {
			if *e = none; s.Accepts(v) {
				return !jsonval.ReportsError(v)
			}
		}
		v.Remove("error")
	}
	return s.Accepts(v) && !jsonval.ReportsError(v)
}

// echo finds the argument whose name has the same words.
func echo(args *jsonval.Value, words []string) *jsonval.Value {
	for i := range args.Members {
		if slices.Equal(names.Words(args.Members[i].Key), words) {
			return &args.Members[i].Value
		}
	}
	return nil
}
