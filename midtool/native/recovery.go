package native

import (
	"context"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// faults and their percents (ours).
var faults = []struct {
	name    string
	percent int
}{{"bad_argument", 40}, {"not_found", 25}, {"timeout", 15}, {"rate_limited", 10}, {"permission", 10}}

// recovery injects a fault before one good call. A faulty call is shown and not learned, and corrected from the error;
// after a timeout or a rate limit the same call is made again, at most twice; without permission the assistant reports
// and stops.
func (d *draft) recovery(ctx context.Context) (miss, error) {
	t := d.pick()
	if err := d.open(ctx, []*tool{t}, nil, nil); err != nil {
		return miss{}, err
	}
	s, m, err := d.made(ctx, t)
	if err != nil || m.reason != "" {
		return m, err
	}
	fault := ""
	x := d.values.Pick(100)
	for _, f := range faults {
		if x -= f.percent; x < 0 {
			fault = f.name
			break
		}
	}
	broken := *s
	broken.args = s.args.Clone()
	message := ""
	switch fault {
	case "bad_argument":
		message = d.breakArgument(t, &broken.args)
	case "not_found":
		message = d.misspell(t, &broken.args)
	}
	if message == "" && (fault == "bad_argument" || fault == "not_found") {
		fault = "timeout" // the call has no argument to get wrong
	}
	d.sample.Ability = midtool.Recover
	d.sample.Plan.Fault = fault
	d.user(d.words.Request(tasks([]*step{s}), false))
	switch fault {
	case "bad_argument", "not_found":
		broken.answer = failure(fault, message)
		d.calls(true, &broken)
		d.calls(false, s)
		d.answer(s)
	case "timeout", "rate_limited":
		broken.answer = failure(fault, map[string]string{
			"timeout": "no answer within 30 seconds", "rate_limited": "too many requests, try again in a moment"}[fault])
		for range d.values.Between(1, 2) {
			d.calls(false, &broken)
		}
		d.calls(false, s)
		d.answer(s)
	default:
		message = "this account may not do that"
		broken.answer = failure(fault, message)
		d.calls(false, &broken)
		d.assistant(d.words.Failed(&s.task, message))
	}
	return miss{}, nil
}

func failure(kind, message string) jsonval.Value {
	return jsonval.NewObject(jsonval.Pair("error", jsonval.NewObject(
		jsonval.Pair("type", jsonval.NewString(kind)), jsonval.Pair("message", jsonval.NewString(message)))))
}

// breakArgument makes one argument break its schema and says how the tool complains: a required one is left out, a
// number is written as a word, a member of an enum is changed. It returns "" where nothing can be broken.
func (d *draft) breakArgument(t *tool, args *jsonval.Value) string {
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
		if f := t.schema.Faults(&bad); len(f) > 0 {
			*args = bad
			at := strings.ReplaceAll(strings.TrimPrefix(f[0].Path, "/"), "/", ".")
			if at == "" {
				at = "arguments"
			}
			return at + ": " + f[0].Detail
		}
	}
	return ""
}

// misspell changes the last character of a required string, as a slip in copying an identifier would. It returns ""
// where there is none, or where the schema forbids the result.
func (d *draft) misspell(t *tool, args *jsonval.Value) string {
	for _, p := range t.params {
		v := args.Get(p.name)
		if !p.required || !p.askable || v == nil || v.Kind != jsonval.String || len(v.Text) < 3 {
			continue
		}
		old := v.Text
		last := old[len(old)-1]
		switch {
		case last >= '0' && last <= '9':
			v.Text = old[:len(old)-1] + string('0'+(last-'0'+1+byte(d.values.Pick(9)))%10)
		case last >= 'a' && last <= 'z':
			v.Text = old[:len(old)-1] + string('a'+(last-'a'+1+byte(d.values.Pick(25)))%26)
		default:
			continue
		}
		if t.schema.Accepts(args) {
			return "nothing found for " + p.name + " " + v.Text
		}
		v.Text = old
	}
	return ""
}
