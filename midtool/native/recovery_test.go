package native

import (
	"context"
	"testing"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/simulate"
)

// Every fault occurs, and what a tool says of a faulty call is what it says when the call is made again: no sample claims
// that something is not there which is.
func TestRecovery(t *testing.T) {
	c := generate(t, shop(), &Options{Samples: 300, Shares: map[midtool.Family]int{midtool.Recovery: 1}})
	counts := make(map[string]int)
	for _, s := range c.Samples {
		counts[s.Plan.Fault]++
		for i, m := range s.Messages {
			if !m.Untrained {
				continue
			}
			session, err := simulate.NewWorld(0).Open(context.Background(), s.ID, s.Tools)
			if err != nil {
				t.Fatal(err)
			}
			var called midtool.Tool
			for _, tool := range s.Tools {
				if tool.Name == m.Calls[0].Name {
					called = tool
				}
			}
			if called.Original != "" {
				called.Name = called.Original
			}
			r, err := session.Execute(context.Background(), called, m.Calls[0].Arguments)
			if err != nil || !r.IsError {
				t.Errorf("%s: %s answered %s, %v", s.ID, m.Calls[0].Arguments, r.Value, err)
			}
			v, _ := jsonval.Parse([]byte(s.Messages[i+1].Content))
			if kind := jsonval.StringOf(v.Get("error").Get("type")); kind != s.Plan.Fault {
				t.Errorf("%s: planned %s, answered %s", s.ID, s.Plan.Fault, kind)
			}
		}
	}
	for _, f := range faults {
		if counts[f.name] == 0 {
			t.Errorf("no %s: %v", f.name, counts)
		}
	}
	t.Logf("%v", counts)
}

// A tool that takes whatever it is given has no faulty calls; what the network does to it remains.
func TestRecoveryForgiving(t *testing.T) {
	c := generate(t, shop(), &Options{Samples: 60, Shares: map[midtool.Family]int{midtool.Recovery: 1},
		Executor: answering(midtool.Result{Value: []byte(`{"status":"ok","note":"all well"}`)}, nil)})
	for _, s := range c.Samples {
		if s.Plan.Fault == "bad_argument" || s.Plan.Fault == "not_found" {
			t.Errorf("%s: %s", s.ID, s.Plan.Fault)
		}
	}
	if c.Kept < 40 {
		t.Errorf("%d kept: %v", c.Kept, c.Reasons())
	}
}
