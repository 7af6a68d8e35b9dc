package midtool

import (
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

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
		got, err := session.Execute(ctx, tools[c.tool], c.call.Arguments)
		if err != nil {
			return fmt.Errorf("midtool: replay sample %q: call %q: %w", v.sample.ID, c.call.ID, err)
		}
		if c.result < 0 {
			continue // said by the rules on results
		}
		if string(got.Value) == v.sample.Messages[c.result].Content && got.IsError == c.failed {
			continue // nothing to compare by meaning
		}
		path := messagePath(c.result) + "/content"
		value, err := jsonval.Parse(got.Value)
		switch {
		case err != nil:
			return fmt.Errorf("midtool: replay sample %q: call %q: result: %w", v.sample.ID, c.call.ID, err)
		case value.Encode(jsonval.Canonical) != c.value.Encode(jsonval.Canonical):
			v.fault("response", path, "replay: the result was %s", got.Value)
		case (got.IsError || jsonval.ReportsError(&value)) != c.failed:
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
