package midtool

import (
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A valued session takes and gives values as they are, without JSON to be written and read; those of package simulate do.
type valued interface {
	Answer(ctx context.Context, t *Tool, args *jsonval.Value) (v jsonval.Value, failed bool, err error)
}

// again executes a call once more. The text of the result is valid until the next call.
func (v *validator) again(ctx context.Context, s Session, t *Tool, c *call) (text []byte, failed bool, err error) {
	if s, ok := s.(valued); ok {
		value, failed, err := s.Answer(ctx, t, &c.args)
		v.buf = value.Append(v.buf[:0], jsonval.Display)
		return v.buf, failed, err
	}
	got, err := s.Execute(ctx, *t, c.call.Arguments)
	return got.Value, got.IsError, err
}

// replay executes the calls again and compares the results with the messages.
func (v *validator) replay(ctx context.Context) error {
	unsound := slices.Index(rules, "bad_arguments")
	if slices.ContainsFunc(v.found, func(f Violation) bool { return slices.Index(rules, f.Rule) <= unsound }) {
		return nil
	}
	if slices.ContainsFunc(v.calls, func(c call) bool { return c.tool < 0 || !c.object }) {
		return nil // the same, where those rules are skipped
	}
	tools := v.sample.Tools
	if len(tools) != len(v.offers) || slices.ContainsFunc(tools, func(t Tool) bool { return t.Original != "" }) {
		tools = make([]Tool, len(v.offers))
		for i := range v.offers {
			tools[i] = original(v.offers[i].tool)
		}
	}
	session, err := v.checker.Replay.Open(ctx, v.sample.ID, tools)
	if err != nil {
		return fmt.Errorf("midtool: replay sample %q: %w", v.sample.ID, err)
	}
	// Calls that failed on their way never reached the tool.
	var lost bool
	if p := v.sample.Plan; p != nil {
		lost = p.Fault == "timeout" || p.Fault == "rate_limited" || p.Fault == "permission"
	}
	for i := range v.calls {
		c := &v.calls[i]
		if lost && c.failed {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		text, failed, err := v.again(ctx, session, &tools[c.tool], c)
		if err != nil {
			return fmt.Errorf("midtool: replay sample %q: call %q: %w", v.sample.ID, c.call.ID, err)
		}
		if c.result < 0 {
			continue // said by the rules on results
		}
		if string(text) == v.sample.Messages[c.result].Content && failed == c.failed {
			continue // nothing to compare by meaning
		}
		path := messagePath(c.result) + "/content"
		value, err := jsonval.Parse(text)
		switch {
		case err != nil:
			return fmt.Errorf("midtool: replay sample %q: call %q: result: %w", v.sample.ID, c.call.ID, err)
		case value.Encode(jsonval.Canonical) != c.value.Encode(jsonval.Canonical):
			v.fault("response", path, "replay: the result was %s", text)
		case (failed || jsonval.ReportsError(&value)) != c.failed:
			v.fault("response", path, "replay: only one of the two is an error")
		}
	}
	return nil
}

// original gives a tool back the name that executors know.
func original(t *Tool) Tool {
	o := *t
	if o.Original != "" {
		o.Name, o.Original = o.Original, ""
	}
	return o
}
