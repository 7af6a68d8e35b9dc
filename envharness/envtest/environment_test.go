package envtest_test

import (
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/envtest"
)

// The environments of this module keep all rules.
func TestEnvironments(t *testing.T) {
	for _, tt := range []struct {
		name   string
		e      envtest.Environment
		reason string
	}{
		{"game24", envtest.Environment{New: game24.World(nil).New, SeedBlind: true}, "a hand has no chance in it"},
		{"game24 loose", envtest.Environment{New: game24.World(&game24.Options{LooseStop: true}).New, SeedBlind: true,
			Tasks: []envharness.Task{{ID: "3,3,8,8"}, {ID: "4,4,6,6"}}}, "with a hand that has no solution"},
		{"tooldesk", envtest.Environment{New: tooldesk.World().New, SeedBlind: true,
			Tasks:    []envharness.Task{{ID: "T1-0000"}, {ID: "T5-0001"}, {ID: "T6-0002"}},
			Refusals: []envharness.ErrorClass{envharness.ClassPrecondition, envharness.ClassPermission}}, "the desk's rules may refuse candidates"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			tt.e.Run(t)
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, bb := range []struct {
		name string
		e    envtest.Environment
	}{
		{"game24", envtest.Environment{New: game24.World(nil).New, SeedBlind: true}},
		{"tooldesk", envtest.Environment{New: tooldesk.World().New, SeedBlind: true,
			Refusals: []envharness.ErrorClass{envharness.ClassPrecondition, envharness.ClassPermission}}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bb.e.Check(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
