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

// simulate answers a call from its schema: equal calls of one tool under one seed get equal answers. With a result
// schema the value is drawn from it and fields named like an argument echo that; without, it is a status and the
// arguments, an id for what is created and two entries for what is listed.
func answer(seed uint64, t *tool, args *jsonval.Value) (jsonval.Value, bool) {
	d := draw.New(seed, "simulate", t.ID, args.Encode(jsonval.Canonical))
	if t.returns != nil {
		m := schema.Maker{D: d, Optional: 1}
		v, ok := m.Value(t.returns, "result", 0)
		if !ok {
			return jsonval.Value{}, false
		}
		for i := range v.Members {
			old := v.Members[i].Value
			if a := echo(args, v.Members[i].Key); a != nil {
				if v.Members[i].Value = *a; !t.returns.Accepts(&v) {
					v.Members[i].Value = old
				}
			}
		}
		ok = succeed(t.returns, &v)
		return v, ok
	}
	out := jsonval.NewObject(jsonval.Pair("status", jsonval.NewString("ok")))
	stem := strings.ReplaceAll(t.meaning.Stem, " ", "_")
	if stem == "" {
		stem = "item"
	}
	id := func(n int) jsonval.Value { return jsonval.NewString(stem + "_" + strconv.Itoa(10000 + n)[1:]) }
	switch t.meaning.Class {
	case names.CreateVerb:
		out.Set("id", id(d.Between(1, 9999)))
	case names.ListVerb, names.SearchVerb:
		m := schema.Maker{D: d}
		first := d.Between(1, 9998)
		var items []jsonval.Value
		for i := range 2 {
			items = append(items, jsonval.NewObject(jsonval.Pair("id", id(first+i)), jsonval.Pair("name", jsonval.NewString(m.ByName(&schema.View{}, "name")))))
		}
		out.Set("items", jsonval.NewList(items...))
	}
	for _, m := range args.Members {
		if out.Get(m.Key) == nil {
			out.Members = append(out.Members, m)
		}
	}
	return out, true
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
func echo(args *jsonval.Value, name string) *jsonval.Value {
	for i := range args.Members {
		if slices.Equal(names.Words(args.Members[i].Key), names.Words(name)) {
			return &args.Members[i].Value
		}
	}
	return nil
}
