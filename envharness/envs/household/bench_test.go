package household

import (
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// A random episode, started anew when it ends; Reset is in it.
func BenchmarkStep(b *testing.B) {
	for _, small := range []bool{false, true} {
		name := "full"
		if small {
			name = "small"
		}
		b.Run(name, func(b *testing.B) {
			ctx := b.Context()
			env := New(&Options{Small: small})
			list, err := env.Tasks(ctx, "train")
			if err != nil {
				b.Fatal(err)
			}
			r := envharness.RandStream(1, "policy/bench", 0)
			i, over := 0, true
			var obs envharness.Observation
			b.ReportAllocs()
			for b.Loop() {
				if over {
					if obs, err = env.Reset(ctx, envharness.ResetOptions{Task: list[i%len(list)].ID}); err != nil {
						b.Fatal(err)
					}
					i++
				}
				tr, err := env.Step(ctx, obs.Actions[r.IntN(len(obs.Actions))])
				if err != nil {
					b.Fatal(err)
				}
				obs, over = tr.Observation, tr.Ended()
			}
		})
	}
}

func BenchmarkReset(b *testing.B) {
	for _, bench := range []struct {
		name, split string
		small       bool
	}{{"full", "train", false}, {"small", "train", true}, {"small/test", "test", true}} { // a test's scene is drawn some twenty times
		b.Run(bench.name, func(b *testing.B) {
			ctx := b.Context()
			env := New(&Options{Small: bench.small})
			list, err := env.Tasks(ctx, bench.split)
			if err != nil {
				b.Fatal(err)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				if _, err = env.Reset(ctx, envharness.ResetOptions{Task: list[i%len(list)].ID}); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// Nothing is allocated in a turn that changes neither text nor commands.
func TestUnchangedAllocatesNothing(t *testing.T) {
	e := mustEpisode(t, flat())
	e.Step(act("go to desk 1"))
	small := &compact{e}
	small.Text()
	e.Actions()
	for _, tt := range []struct {
		name   string
		action envharness.Action
	}{{"refused", act("go to desk 1")}, {"unknown", act("eat cd 1")}, {"help", act("help")}} {
		if n := testing.AllocsPerRun(100, func() {
			e.Step(tt.action)
			_, _, _, _ = e.Text(), e.Data(), e.Actions(), small.Text()
		}); n != 0 {
			t.Errorf("%s: %v allocations", tt.name, n)
		}
	}
	look := act("look")
	if n := testing.AllocsPerRun(100, func() {
		small.Step(look)
		_, _, _ = small.Text(), small.Data(), small.Actions()
	}); n != 0 {
		t.Errorf("small, look: %v allocations", n)
	}
}

// The room for the list of commands is never too small in generated scenes.
func TestRoomForCommands(t *testing.T) {
	r := envharness.RandStream(3, "test/most", 0)
	for _, p := range []*preset{&fullPreset, &smallPreset} {
		everyTask(t, p, 97, func(id string, _ task, s Scene) {
			e := mustEpisode(t, s)
			for range 50 {
				list := e.Actions()
				if most := e.most(e.here()); len(list) > most || cap(list) != most {
					t.Fatalf("%s: %d commands in room for %d, expected %d\n%s", id, len(list), cap(list), most, e.AppendState(nil))
				}
				if e.Step(list[r.IntN(len(list))]).Ended {
					break
				}
			}
		})
	}
}
