package native

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/simulate"
)

// A fault is a way in which a call fails, with its weight (ours) among those that a call can have.
type fault struct {
	name    string
	weight  int
	message string // of a fault that the tool does not see; of the others the tool says what is wrong
}

var faults = []fault{
	{"bad_argument", 40, ""},
	{"not_found", 25, ""},
	{"timeout", 15, "no answer within 30 seconds"},
	{"rate_limited", 10, "too many requests, try again in a moment"},
	{"permission", 10, "this account may not do that"},
}

// recovery has a call fail before a good one, or in its place. A faulty call is made for real, shown and not learned, and
// corrected from the error; after a timeout or a rate limit the same call is made again, at most twice; without permission
// the assistant reports and stops.
func (d *draft) recovery(ctx context.Context) (miss, error) {
	t := d.pick()
	if err := d.open(ctx, []*tool{t}, nil, nil); err != nil {
		return miss{}, err
	}
	s, ok := d.step(t, *d.g.opts.OptionalProb)
	if !ok {
		return noArguments(t), nil
	}
	f, broken := d.fault(s)
	switch {
	case f.message != "":
		broken.answer = jsonval.NewObject(jsonval.Pair("error", jsonval.NewObject(
			jsonval.Pair("type", jsonval.NewString(f.name)), jsonval.Pair("message", jsonval.NewString(f.message)))))
	default:
		if err := d.execute(ctx, broken); err != nil {
			return miss{}, err
		}
		if !broken.failed {
			return miss{reason: "no_value", detail: fmt.Sprintf("%q took a faulty call for a good one", t.Name)}, nil
		}
	}
	if f.name != "permission" {
		if m, err := d.succeed(ctx, s); err != nil || m.reason != "" {
			return m, err
		}
	}
	d.sample.Ability = midtool.Recover
	d.sample.Plan.Fault = f.name
	d.user(d.words.Request(tasks([]*step{s}), false))
	switch f.name {
	case "permission":
		d.calls(false, broken)
		d.assistant(d.words.Failed(&s.task, f.message))
		return miss{}, nil
	case "timeout", "rate_limited":
		for range d.values.Between(1, 2) {
			d.calls(false, broken)
		}
	default:
		d.calls(true, broken)
	}
	d.calls(false, s)
	d.answer(s)
	return miss{}, nil
}

// fault draws a fault that a step can have, by weight, and the step with it.
func (d *draft) fault(s *step) (fault, *step) {
	possible := slices.Clone(faults)
	for {
		sum := 0
		for _, f := range possible {
			sum += f.weight
		}
		x, i := d.values.Pick(sum), 0
		for x -= possible[0].weight; x >= 0; x -= possible[i].weight {
			i++
		}
		f := possible[i]
		broken := *s
		broken.args = s.args.Clone()
		if f.message != "" || f.name == "bad_argument" && d.breakArgument(s.tool, &broken.args) ||
			f.name == "not_found" && d.misspell(s.tool, &broken.args) {
			return f, &broken
		}
		possible = slices.Delete(possible, i, i+1) // those with a message stay
	}
}

// breakArgument makes one argument break its schema: one is left out, put in a list, or of another kind or spelling. It
// reports whether it found one.
func (d *draft) breakArgument(t *tool, args *jsonval.Value) bool {
	for tries := 0; tries < 4 && len(args.Members) > 0; tries++ {
		bad := args.Clone()
		m := &bad.Members[d.values.Pick(len(bad.Members))]
		switch d.values.Pick(3) {
		case 0:
			bad.Remove(m.Key)
		case 1:
			m.Value = jsonval.NewList(m.Value)
		default:
			if m.Value.Kind == jsonval.String {
				m.Value.Text += "_"
			} else {
				m.Value = jsonval.NewString(m.Value.Encode(jsonval.Compact))
			}
		}
		if !t.schema.Accepts(&bad) {
			*args = bad
			return true
		}
	}
	return false
}

// misspell changes the last character of an identifier, as a slip in copying it would. It reports whether the call has one
// and the schema accepts the result.
func (d *draft) misspell(t *tool, args *jsonval.Value) bool {
	for _, p := range t.params {
		v := args.Get(p.name)
		if !p.required || !p.isText || v == nil || v.Kind != jsonval.String || len(v.Text) < 3 || !schema.IsIdentifier(names.Words(p.name)) {
			continue
		}
		old := v.Text
		last := old[len(old)-1]
		for range 4 {
			switch {
			case last >= '0' && last <= '9':
				v.Text = old[:len(old)-1] + string('0'+(last-'0'+1+byte(d.values.Pick(9)))%10)
			case last >= 'a' && last <= 'z':
				v.Text = old[:len(old)-1] + string('a'+(last-'a'+1+byte(d.values.Pick(25)))%26)
			default:
				continue
			}
			if t.schema.Accepts(args) && !d.exists(t, p.name, v) {
				return true
			}
		}
		v.Text = old
	}
	return false
}

// exists says whether the session knows of a thing of that name.
func (d *draft) exists(t *tool, param string, v *jsonval.Value) bool {
	known, ok := d.session.(simulate.Knower)
	return ok && slices.ContainsFunc(known.Known(t.Tool, param), func(raw json.RawMessage) bool {
		return string(raw) == v.Encode(jsonval.Compact)
	})
}
