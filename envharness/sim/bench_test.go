package sim

import (
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// A tick is the smallest episode: whatever one does, a number grows. What it shows is always the same.
type tick struct {
	n       int
	actions []envharness.Action
}

func (k *tick) Step(envharness.Action) Result {
	k.n++
	return Result{}
}

func (k *tick) Text() string                 { return "tick" }
func (k *tick) Data() map[string]any         { return nil }
func (k *tick) Actions() []envharness.Action { return k.actions }
func (k *tick) AppendState(b []byte) []byte  { return append(b, `{"tick":true}`...) }
func (k *tick) Verdict() envharness.Verdict  { return envharness.Verdict{Status: envharness.Fail} }

type ticking struct{ *tick }

func (ticking) Opening() string { return "tick" }

func ticks(narrates bool) *Simulation {
	list := []envharness.Action{goTo("right")}
	return &Simulation{
		Description: envharness.Description{Name: "ticks", MaxTurns: 1000},
		Start: func(string) (Episode, error) {
			k := &tick{actions: list}
			if narrates {
				return ticking{k}, nil
			}
			return k, nil
		},
	}
}

// An environment makes no garbage of its own in a step, once its log has the memory for an episode, and next to none before.
func TestStepAllocates(t *testing.T) {
	for _, narrates := range []bool{false, true} {
		e := open(t, ticks(narrates), "")
		a := goTo("right")
		episode := func() {
			for range 1000 {
				step(t, e, a)
			}
			must(e.Reset(ctx, envharness.ResetOptions{}))
		}
		episode()
		if n := testing.AllocsPerRun(5, episode); n > 4 {
			t.Errorf("narrator %v: %v allocations in an episode of 1,000 steps, want those of the reset", narrates, n)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, bm := range []struct {
		name string
		s    *Simulation
	}{{"plain", ticks(false)}, {"narrator", ticks(true)}} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			e := open(b, bm.s, "")
			a := goTo("right")
			for b.Loop() {
				t, err := e.Step(ctx, a)
				if err != nil {
					b.Fatal(err)
				}
				if t.Ended() {
					if _, err := e.Reset(ctx, envharness.ResetOptions{}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkReset(b *testing.B) {
	b.ReportAllocs()
	e := open(b, ticks(false), "")
	for b.Loop() {
		if _, err := e.Reset(ctx, envharness.ResetOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkState(b *testing.B) {
	b.ReportAllocs()
	e := open(b, walks(bare), "")
	for b.Loop() {
		if _, err := e.State(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// Of an episode of 100 steps.
func BenchmarkSnapshot(b *testing.B) {
	e := open(b, ticks(false), "")
	for range 100 {
		step(b, e, goTo("right"))
	}
	snap := must(e.Snapshot(ctx))
	b.Run("take", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must(e.Snapshot(ctx))
		}
	})
	b.Run("restore", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := e.Restore(ctx, snap); err != nil {
				b.Fatal(err)
			}
		}
	})
	canon := must(envharness.CanonicalJSON(snap))
	b.Run("restore in another form", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := e.Restore(ctx, canon); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	b.ReportAllocs()
	s := ticks(false)
	ev := envharness.Evidence{Log: []envharness.LogEntry{{Kind: envharness.LogReset}}}
	for range 100 {
		ev.Log = append(ev.Log, envharness.LogEntry{Kind: envharness.LogStep, Action: goTo("right")})
	}
	for b.Loop() {
		if _, err := s.Verify(ctx, ev); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkArgs(b *testing.B) {
	raw := []byte(`{"text":"go to desk 1"}`)
	b.Run("string", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, refusal := StringArg(raw, "text"); refusal != nil {
				b.Fatal(refusal)
			}
		}
	})
	b.Run("object", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, refusal := Args(raw, "text"); refusal != nil {
				b.Fatal(refusal)
			}
		}
	})
	long := strings.Repeat("é", 1<<20)
	b.Run("clip", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Clip(long)
		}
	})
}
