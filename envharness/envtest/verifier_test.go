package envtest_test

import (
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/envtest"
)

// The verifiers of this module keep all rules.
func TestVerifiers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		v      envtest.Verifier
		reason string
	}{
		{"game24", envtest.Verifier{World: game24.World(nil), Tasks: []envharness.Task{{ID: "3,3,8,8"}, {ID: "1,2,3,4"}}},
			"random play does not find 24"},
		{"game24 loose", envtest.Verifier{World: game24.World(&game24.Options{LooseStop: true}), Tasks: []envharness.Task{{ID: "3,3,8,8"}}},
			"the same, with the verifier of the reference"},
		{"tooldesk", envtest.Verifier{World: tooldesk.World(nil), Tasks: []envharness.Task{{ID: "T1-0000"}, {ID: "T5-0001"}, {ID: "T6-0002"}},
			Independent: func(a, b envharness.Action) bool { return a.Name == b.Name && a.Name[:3] == "get" }}, "reads leave the tables alone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			tt.v.Run(t)
		})
	}
}
