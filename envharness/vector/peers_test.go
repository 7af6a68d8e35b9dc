package vector_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	eh "github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/vector"
)

// What went wrong elsewhere, and the right value here.
func TestPeers(t *testing.T) {
	for _, tt := range []struct {
		source, failure, right string
		check                  func(t *testing.T) string // returns the value
	}{
		{"huggingface/lerobot#4242", "the environment resets inside its step, and the vector layer resets again",
			"4 resets, 4 episodes begun", func(t *testing.T) string {
				f := &field{}
				v := mustNew(t, f.world(), 1, &vector.Options{Mode: vector.SameStep})
				mustReset(t, v, tasks("a/2"))
				begun := 1
				for range 6 {
					if mustStep(t, v, acts(1, "go"))[0].Final != nil {
						begun++
					}
				}
				resets, _ := f.counts("a")
				return fmt.Sprintf("%d resets, %d episodes begun", resets, begun)
			}},
		{"sail-sg/envpool#33, #194", "next-step autoreset swallows an action that the trainer counts",
			"7 actions carried out, 7 results without AutoReset, of 9", func(t *testing.T) string {
				f := &field{}
				v := mustNew(t, f.world(), 1, nil)
				mustReset(t, v, tasks("a/3"))
				counted := 0
				for range 9 {
					if !mustStep(t, v, acts(1, "go"))[0].AutoReset {
						counted++
					}
				}
				_, steps := f.counts("a")
				return fmt.Sprintf("%d actions carried out, %d results without AutoReset, of 9", steps, counted)
			}},
		{"Gymnasium#1451", "running statistics count the autoreset step",
			"episodes of 3, 3 turns with returns 6, 6", func(t *testing.T) string {
				v := mustNew(t, (&field{}).world(), 1, nil)
				mustReset(t, v, tasks("a/3"))
				var es []*vector.Episode
				for range 8 {
					if e := mustStep(t, v, acts(1, "go"))[0].Episode; e != nil {
						es = append(es, e)
					}
				}
				return fmt.Sprintf("episodes of %d, %d turns with returns %v, %v", es[0].Turns, es[1].Turns, es[0].Return, es[1].Return)
			}},
		{"Gymnasium#885, #760", "Reset in mid-episode leaves the step counter and the return",
			"2 turns, return 3", func(t *testing.T) string {
				v := mustNew(t, (&field{}).world(), 1, nil)
				mustReset(t, v, tasks("a/9"))
				for range 4 {
					mustStep(t, v, acts(1, "go"))
				}
				mustReset(t, v, tasks("a/2"))
				mustStep(t, v, acts(1, "go"))
				e := mustStep(t, v, acts(1, "go"))[0].Episode
				return fmt.Sprintf("%d turns, return %v", e.Turns, e.Return)
			}},
		{"poke-env#211", "a step after the end resets behind the caller's back",
			"ErrEpisodeOver, 1 resets, 1 actions", func(t *testing.T) string {
				f := &field{}
				v := mustNew(t, f.world(), 1, &vector.Options{Mode: vector.Disabled})
				mustReset(t, v, tasks("a/1"))
				mustStep(t, v, acts(1, "go"))
				r := mustStep(t, v, acts(1, "go"))[0]
				resets, steps := f.counts("a")
				if !errors.Is(r.Err, eh.ErrEpisodeOver) {
					return fmt.Sprint(r.Err)
				}
				return fmt.Sprintf("ErrEpisodeOver, %d resets, %d actions", resets, steps)
			}},
		{"PettingZoo#1085", "an episode ends without a flag, and the next step fails",
			"flag, then ErrEpisodeOver", func(t *testing.T) string {
				f := &field{desc: eh.Description{MaxTurns: 2}}
				v := mustNew(t, f.world(), 1, &vector.Options{Mode: vector.Disabled})
				mustReset(t, v, tasks("a/9"))
				mustStep(t, v, acts(1, "go"))
				flag, after := mustStep(t, v, acts(1, "go"))[0], mustStep(t, v, acts(1, "go"))[0]
				if !flag.Truncated || flag.Terminated || flag.Reason != "max_turns" || !errors.Is(after.Err, eh.ErrEpisodeOver) {
					return brief(flag) + ", " + brief(after)
				}
				return "flag, then ErrEpisodeOver"
			}},
		{"thu-ml/tianshou#166", "one user closes the pool, the next meets a broken pipe",
			"ErrClosed", func(t *testing.T) string {
				v := mustNew(t, (&field{}).world(), 2, nil)
				mustReset(t, v, tasks("a/9", "b/9"))
				if err := v.Close(); err != nil {
					return err.Error()
				}
				_, err := v.Step(t.Context(), acts(2, "go"))
				if !errors.Is(err, eh.ErrClosed) {
					return fmt.Sprint(err)
				}
				return "ErrClosed"
			}},
		{"Unity ml-agents#1167, #1550, osim-rl#58", "after a Close a new environment fails, or two share one backend",
			"50 opened and closed, interleaved ones independent", func(t *testing.T) string {
				f := &field{}
				for range 50 {
					v := mustNew(t, f.world(), 1, nil)
					mustReset(t, v, tasks("a/9"))
					if err := v.Close(); err != nil {
						return err.Error()
					}
				}
				v, w := mustNew(t, f.world(), 1, nil), mustNew(t, f.world(), 1, nil)
				mustReset(t, v, tasks("a/9"))
				mustReset(t, w, tasks("b/9"))
				mustStep(t, v, acts(1, "go"))
				_ = v.Close()
				if got := brief(mustStep(t, w, acts(1, "go"))[0]); got != "b 1/9 +1" {
					return got
				}
				return fmt.Sprintf("%d opened and closed, interleaved ones independent", f.opened-2)
			}},
		{"Unity ml-agents#1340, verl-project/verl#7180", "an environment hangs without an error, and all wait",
			"a deadline in its slot, b 1/9 +1", func(t *testing.T) (got string) {
				synctest.Test(t, func(t *testing.T) {
					f := &field{onStep: func(ctx context.Context, k *track, _ eh.Action) error {
						if k.name == "a" {
							<-ctx.Done()
						}
						return nil
					}}
					v := mustNew(t, f.world(), 2, nil)
					mustReset(t, v, tasks("a/9", "b/9"))
					rs := mustStep(t, v, acts(2, "go"))
					got = "a deadline in its slot, " + brief(rs[1])
					if !errors.Is(rs[0].Err, context.DeadlineExceeded) {
						got = fmt.Sprint(rs[0].Err)
					}
				})
				return got
			}},
		{"openai/gym#3281", "a dead worker shows as an opaque EOF of the pool",
			"boom in slot 0, its episode invalid, a fresh environment", func(t *testing.T) string {
				f := &field{onStep: func(_ context.Context, k *track, _ eh.Action) error {
					if k.order == 1 {
						return errBoom
					}
					return nil
				}}
				v := mustNew(t, f.world(), 1, nil)
				mustReset(t, v, tasks("a/9"))
				r := mustStep(t, v, acts(1, "go"))[0]
				if !errors.Is(r.Err, errBoom) || f.stillOpen() != 0 {
					return brief(r)
				}
				got := "boom in slot 0, its episode " + r.Episode.Verdict.Status.String()
				if mustStep(t, v, acts(1, "go")); f.opened == 2 {
					got += ", a fresh environment"
				}
				return got
			}},
		{"NVIDIA-NeMo/RL#2207", "an exception of the verifier becomes a score of 0",
			"invalid, no failure of the slot", func(t *testing.T) string {
				f := &field{judge: func(context.Context, eh.Evidence) (eh.Verdict, error) { return eh.Verdict{}, errBoom }}
				v := mustNew(t, f.world(), 1, nil)
				mustReset(t, v, tasks("a/1"))
				r := mustStep(t, v, acts(1, "go"))[0]
				if r.Err != nil {
					return r.Err.Error()
				}
				return r.Episode.Verdict.Status.String() + ", no failure of the slot"
			}},
		{"huggingface/OpenEnv#1102, NetHack-LE/nle#131", "the seed is dropped on the way",
			"6 seeded resets equal, 6 unseeded not", func(t *testing.T) string {
				v := mustNew(t, (&field{}).world(), 1, nil)
				seeded, unseeded := map[any]bool{}, map[any]bool{}
				for range 6 {
					seeded[mustReset(t, v, []eh.ResetOptions{{Task: "a/1", Seed: new(uint64(3))}})[0].Observation.Data["seed"]] = true
				}
				for range 6 {
					unseeded[mustReset(t, v, tasks("a/1"))[0].Observation.Data["seed"]] = true
				}
				if len(seeded) != 1 || len(unseeded) != 6 {
					return fmt.Sprintf("%d and %d different", len(seeded), len(unseeded))
				}
				return "6 seeded resets equal, 6 unseeded not"
			}},
	} {
		t.Run(tt.source, func(t *testing.T) {
			if tt.failure == "" {
				t.Fatal("case without a reason")
			}
			if got := tt.check(t); got != tt.right {
				t.Errorf("%s: got %q, want %q", tt.failure, got, tt.right)
			}
		})
	}
}
