package diagnosis_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// Whatever traces a file holds: there is no panic, the same result twice, and each finding points into its trace.
func FuzzDiagnose(f *testing.F) {
	seeds := [][]envharness.Trace{
		ranked(),
		{trace(failed, limit, get, get, get, refused(set, permit), refused(set, permit), refused(set, permit), step{})},
		{trace(failed, stop, step{get.call, "retry_after 3", rate}, get, step{`list {"page":1}`, `{"has_more":true,"value":50.5}`, ""})},
		{trace(pass, done, do("look", "r 1"), do("go to r 2", "you are at r 2"))},
		{listing(offering(trace(failed, done, get), "get"), "x", `get {"id":"a9"}`)},
	}
	for _, s := range seeds {
		var b bytes.Buffer
		if err := envharness.WriteTraces(&b, s); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), true)
		f.Add(b.Bytes(), false)
	}
	f.Fuzz(func(t *testing.T, file []byte, planning bool) {
		var traces []envharness.Trace
		for tr, err := range envharness.ReadTraces(bytes.NewReader(file)) {
			if err != nil {
				break
			}
			tr.Task.ID, tr.Slot = "a", len(traces)
			traces = append(traces, tr)
		}
		c := diagnosis.Context{World: desk()}
		if planning {
			c.Plan = actions(planned...)
		}
		for _, c := range []diagnosis.Context{{}, c, {World: hall()}} {
			flaws := diagnose(t, traces, c, all())
			for _, flaw := range flaws {
				for _, x := range flaw.Found {
					for _, turn := range x.Turns {
						if turn < 0 || turn >= len(traces[x.Slot].Turns) {
							t.Errorf("%s: turn %d of %d", flaw.ID, turn, len(traces[x.Slot].Turns))
						}
					}
				}
			}
			if diff := cmp.Diff(flaws, diagnose(t, traces, c, all())); diff != "" {
				t.Error(diff)
			}
			if _, err := json.Marshal(flaws); err != nil {
				t.Error(err)
			}
		}
	})
}
