package mcpenv_test

import (
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

func TestEpisode(t *testing.T) {
	w := world(t, restock(stockroom(mcptest.Options{})))
	for _, c := range []struct {
		name    string
		actions []envharness.Action
		want    envharness.Status
		reason  string
	}{
		{"solved", solution(), envharness.Pass, "the end state is the goal, its items in another order"},
		{"nothing", nil, envharness.Fail, "the start is not the goal"},
		{"half", solution()[:1], envharness.Fail, "the bolts are five still"},
		{"too much", append(solution(), act("create_item", `{"name":"nail","shelf":"A1","count":1}`)), envharness.Fail, "one item too many"},
	} {
		tr := play(t, w, nil, c.actions...)
		if tr.Verdict.Status != c.want || !tr.Verdict.Unreplayed {
			t.Errorf("%s: %+v %s, want %s: %s", c.name, tr.Verdict, tr.Cause, c.want, c.reason)
		}
	}
}
