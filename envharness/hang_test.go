package envharness_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	eh "github.com/throughline-go/throughline/envharness"
)

// How code that hangs comes back.
type comeback string

const (
	obeys      comeback = "when the context is done"
	afterClose comeback = "after Close"
	never      comeback = "when the test releases it"
)

// A stall makes foreign code hang at one place.
type stall struct {
	place   string
	back    comeback
	release chan struct{}
}

func (s *stall) at(ctx context.Context, place string, closed <-chan struct{}) error {
	if s == nil || s.place != place {
		return nil
	}
	switch s.back {
	case obeys:
		<-ctx.Done()
		return ctx.Err()
	case afterClose:
		select {
		case <-closed:
		case <-s.release: // so that the bubble ends where nobody closes it
		}
	default:
		<-s.release
	}
	return errBoom
}

// A staller is a toy that may hang in each of its methods, and that shows and lists what it can.
type staller struct {
	*toy
	stall  *stall
	closed chan struct{}
	once   sync.Once
	open   *atomic.Int64
}

func (s *staller) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	if err := s.stall.at(ctx, "reset", s.closed); err != nil {
		return eh.Observation{}, err
	}
	return s.toy.Reset(ctx, o)
}

func (s *staller) Step(ctx context.Context, a eh.Action) (eh.Transition, error) {
	if s.steps == 1 {
		if err := s.stall.at(ctx, "step", s.closed); err != nil {
			return eh.Transition{}, err
		}
	}
	return s.toy.Step(ctx, a)
}

func (s *staller) State(ctx context.Context) (eh.State, error) {
	if err := s.stall.at(ctx, "state", s.closed); err != nil {
		return nil, err
	}
	return s.toy.State(ctx)
}

func (s *staller) Observe(ctx context.Context) (eh.Observation, error) {
	if err := s.stall.at(ctx, "observe", s.closed); err != nil {
		return eh.Observation{}, err
	}
	return s.observation(), nil
}

func (s *staller) RewindCounters(ctx context.Context) error {
	if err := s.stall.at(ctx, "rewind", s.closed); err != nil {
		return err
	}
	return s.toy.RewindCounters(ctx)
}

func (s *staller) Tools() []eh.Tool {
	_ = s.stall.at(context.Background(), "tools", s.closed)
	return s.Describe().Tools
}

func (s *staller) Describe() eh.Description {
	_ = s.stall.at(context.Background(), "describe", s.closed)
	return s.toy.Describe()
}

func (s *staller) TurnLimit() int {
	_ = s.stall.at(context.Background(), "limit", s.closed)
	return 0
}

func (s *staller) Close() error {
	err := s.stall.at(context.Background(), "close", nil)
	s.once.Do(func() { close(s.closed); s.open.Add(-1) })
	return err
}

// stallWorld makes toys of which those with the given numbers hang. Verify is told the number of the last one made.
func stallWorld(s *stall, open *atomic.Int64, hangs func(made int) bool) eh.World {
	var made atomic.Int64 // an episode that was left behind looks at it as well
	last := func() int { return int(made.Load()) - 1 }
	return eh.World{
		New: func(ctx context.Context) (eh.Environment, error) {
			made.Add(1)
			e := &staller{toy: &toy{start: []int{4, 6}}, closed: make(chan struct{}), open: open}
			if hangs(last()) {
				e.stall = s
				if err := s.at(ctx, "open", nil); err != nil {
					return nil, err
				}
			}
			open.Add(1)
			return e, nil
		},
		Verifier: eh.VerifierFunc(func(ctx context.Context, e eh.Evidence) (eh.Verdict, error) {
			if hangs(last()) && e.EndReason != "" {
				if err := s.at(ctx, "verifier", nil); err != nil {
					return eh.Verdict{}, err
				}
			}
			return toyVerifier.Verify(ctx, e)
		}),
	}
}

// hangingHooks hang for the task "[3,8]" in one of the hooks.
func hangingHooks(s *stall) eh.Component {
	return eh.Rules(eh.ComponentSpec{Tag: "lazy", Axis: eh.AxisStart}, func(ctx context.Context, e eh.EpisodeInfo) (eh.Hooks, error) {
		if e.Task != "[3,8]" {
			return eh.Hooks{}, nil
		}
		if err := s.at(ctx, "begin", nil); err != nil {
			return eh.Hooks{}, err
		}
		return eh.Hooks{
			Start: func(ctx context.Context, _ eh.View) ([]eh.StartEdit, error) { return nil, s.at(ctx, "start", nil) },
			Tools: func(ctx context.Context, ts []eh.Tool) ([]eh.Tool, error) { return ts, s.at(ctx, "tools hook", nil) },
			Action: func(ctx context.Context, v eh.View, _ eh.Action) (eh.ActionEdit, error) {
				if v.Turn == 0 {
					return eh.PassAction(), nil
				}
				return eh.PassAction(), s.at(ctx, "action", nil)
			},
			Transition: func(ctx context.Context, _ eh.View, _ eh.Transition) (eh.TransitionEdit, error) {
				return eh.TransitionEdit{}, s.at(ctx, "transition", nil)
			},
			Observe: func(ctx context.Context, v eh.View, o eh.Observation) (eh.Observation, error) {
				if v.Shown().Text == "" {
					return o, nil // the first observation
				}
				return o, s.at(ctx, "observe hook", nil)
			},
		}, nil
	})
}

// hangingPolicy hangs in slot 1, when it is made or in its second turn.
func hangingPolicy(s *stall) func(int) (eh.Policy, error) {
	return func(slot int) (eh.Policy, error) {
		if slot == 1 && s.place == "newPolicy" {
			if s.back == obeys { // it has no context
				return nil, errBoom
			}
			<-s.release
		}
		good := script(combine(0, 1, "mul"), stop)
		return eh.PolicyFunc(func(ctx context.Context, t eh.Turn) (eh.Action, error) {
			if slot == 1 && t.Index == 1 {
				if err := s.at(ctx, "policy", nil); err != nil {
					return eh.Action{}, err
				}
			}
			return good.Act(ctx, t)
		}), nil
	}
}

// Wherever foreign code hangs and however it comes back, its trace is Invalid and says where, the turns before it are kept, the other
// slots go on, and all of it takes no longer than the limit, a second to obey, and a second after Close. When what hangs is released in
// the end, no environment is open any more and no goroutine is left, without which the bubble would not end.
func TestHangs(t *testing.T) {
	const step, hook, episode = time.Minute, 10 * time.Second, 10 * time.Minute // the defaults
	type m = []comeback
	tests := []struct {
		place  string
		backs  m
		limit  time.Duration
		end    eh.EndReason
		says   string
		turns  int // those that are complete
		reason string
	}{
		{"open", m{obeys, never}, step, eh.EndTimeout, "open: no answer within 1m0s", 0, "World.New"},
		{"describe", m{never}, step, eh.EndTimeout, "describe: no answer within 1m0s", 0, "it has no context"},
		{"reset", m{obeys, afterClose, never}, step, eh.EndTimeout, "reset: no answer within 1m0s", 0, "ml-agents#1340"},
		{"step", m{obeys, afterClose, never}, step, eh.EndTimeout, "step: no answer within 1m0s", 1, "verl#7180"},
		{"state", m{obeys, afterClose, never}, step, eh.EndTimeout, "state: no answer within 1m0s", 0, "read before the first turn"},
		{"observe", m{obeys, afterClose, never}, step, eh.EndTimeout, "observe: no answer within 1m0s", 0, "asked for before the first turn"},
		{"tools", m{afterClose, never}, step, eh.EndTimeout, "tools: no answer within 1m0s", 0, "it has no context"},
		{"limit", m{afterClose, never}, step, eh.EndTimeout, "turn limit: no answer within 1m0s", 0, "it has no context"},
		{"close", m{never}, step, eh.EndTimeout, "close: no answer within 1m0s", 2, "after the verdict"},
		{"verifier", m{obeys, never}, step, eh.EndVerifierError, "verifier: no answer within 1m0s", 2, "StepTimeout is for it as well"},
		{"begin", m{obeys, never}, hook, eh.EndComponentError, "lazy: begin: no answer within 10s", 0, "HookTimeout"},
		{"start", m{obeys, never}, hook, eh.EndComponentError, "lazy: start: no answer within 10s", 0, "HookTimeout"},
		{"tools hook", m{obeys, never}, hook, eh.EndComponentError, "lazy: tools: no answer within 10s", 0, "HookTimeout"},
		{"action", m{obeys, never}, hook, eh.EndComponentError, "lazy: action: no answer within 10s", 1, "HookTimeout"},
		{"transition", m{obeys, never}, hook, eh.EndComponentError, "lazy: transition: no answer within 10s", 0, "HookTimeout"},
		{"observe hook", m{obeys, never}, hook, eh.EndComponentError, "lazy: observe: no answer within 10s", 0, "HookTimeout"},
		{"policy", m{obeys, never}, episode, eh.EndTimeout, "policy: the episode took too long", 1, "it may think until the episode's end"},
		{"newPolicy", m{never}, episode, eh.EndTimeout, "policy: the episode took too long", 0, "it has no context"},
	}
	for _, tt := range tests {
		for _, back := range tt.backs {
			t.Run(tt.place+" back "+string(back), func(t *testing.T) {
				if tt.reason == "" {
					t.Error("case without a reason")
				}
				synctest.Test(t, func(t *testing.T) {
					var open atomic.Int64
					s := &stall{tt.place, back, make(chan struct{})}
					defer func() {
						close(s.release)
						synctest.Wait()
						if n := open.Load(); n != 0 {
							t.Errorf("%d environments left open", n)
						}
					}()
					w := stallWorld(s, &open, func(made int) bool { return made == 2 }) // 0 and 1 are of the first slot
					began := time.Now()
					traces, err := eh.Rollouts(t.Context(), w, []eh.Component{hangingHooks(s)}, hangingPolicy(s),
						[]eh.Task{{ID: "[4,6]"}, {ID: "[3,8]"}, {ID: "[2,12]"}}, &noReruns)
					took := time.Since(began)
					if err != nil || len(traces) != 3 {
						t.Fatalf("%d traces, %v", len(traces), err)
					}
					if traces[0].Verdict.Status != eh.Pass || traces[2].Verdict.Status != eh.Pass {
						t.Errorf("the others: %+v %q, %+v %q", traces[0].Verdict, traces[0].Cause, traces[2].Verdict, traces[2].Cause)
					}
					want := tt.limit + map[comeback]time.Duration{obeys: 0, afterClose: time.Second, never: 2 * time.Second}[back]
					if took != want {
						t.Errorf("took %v, want %v", took, want)
					}
					got := traces[1]
					if got.Verdict.Status != eh.Invalid || got.End != tt.end || !strings.Contains(got.Cause, tt.says) || got.Verdict.Reason != got.Cause {
						t.Errorf("end %s, %+v, cause %q, want %q (%s)", got.End, got.Verdict, got.Cause, tt.says, tt.reason)
					}
					if n := strings.Count(got.Cause, "envharness:"); n != 1 {
						t.Errorf("cause %q names the package %d times", got.Cause, n)
					}
					if behind := strings.Contains(got.Cause, "was left behind"); behind != (took == tt.limit+2*time.Second) {
						t.Errorf("cause %q after %v", got.Cause, took)
					}
					whole := slices.DeleteFunc(slices.Clone(got.Turns), func(u eh.TurnTrace) bool { return u.Shown.Observation.Text == "" })
					if len(whole) != tt.turns {
						t.Errorf("%d complete turns are kept, want %d", len(whole), tt.turns)
					}
				})
			})
		}
	}
}

// What hangs in a replay is given up like what hangs in the episode, and its environment closed.
func TestHangInReplay(t *testing.T) {
	for _, tt := range []struct {
		place string
		back  comeback
		says  string
		took  time.Duration
	}{
		{"open", obeys, "replay: open: no answer within 1m0s", time.Minute},
		{"open", never, "replay: open: no answer within 1m0s", time.Minute + 2*time.Second},
		{"reset", obeys, "reset: no answer within 1m0s", time.Minute},
		{"reset", afterClose, "reset: no answer within 1m0s", time.Minute + time.Second},
		{"step", obeys, "step: no answer within 1m0s", time.Minute},
		{"step", afterClose, "step: no answer within 1m0s", time.Minute + time.Second},
		{"step", never, "step: no answer within 1m0s", time.Minute + 2*time.Second},
		{"state", obeys, "state: no answer within 1m0s", time.Minute},
		{"close", never, "close: no answer within 1m0s", time.Minute + 2*time.Second},
	} {
		t.Run(tt.place+" back "+string(tt.back), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var open atomic.Int64
				s := &stall{tt.place, tt.back, make(chan struct{})}
				defer func() {
					close(s.release)
					synctest.Wait()
					if n := open.Load(); n != 0 {
						t.Errorf("%d environments left open", n)
					}
				}()
				w := stallWorld(s, &open, func(made int) bool { return made == 1 })
				began := time.Now()
				traces, err := eh.Rollouts(t.Context(), w, nil, hangingPolicy(s), []eh.Task{{}, {}}, &noReruns)
				if err != nil || len(traces) != 2 {
					t.Fatalf("%d traces, %v", len(traces), err)
				}
				got := traces[0]
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if got.Verdict.Status != eh.Invalid || got.End != eh.EndTimeout || !strings.Contains(got.Cause, tt.says) || len(got.Turns) != 2 {
					t.Errorf("end %s, %+v, cause %q, %d turns, want %q", got.End, got.Verdict, got.Cause, len(got.Turns), tt.says)
				}
				if traces[1].Verdict.Status != eh.Pass {
					t.Errorf("the other: %+v", traces[1].Verdict)
				}
			})
		})
	}
}

// What was late is played again, also a hook and a verifier, and each attempt takes its full time.
func TestHangReruns(t *testing.T) {
	for _, tt := range []struct {
		place  string
		back   comeback
		hangs  func(made int) bool
		reruns *int
		want   int
		end    eh.EndReason
		status eh.Status
		took   time.Duration
		reason string
	}{
		{"step", obeys, func(int) bool { return true }, nil, 2, eh.EndTimeout, eh.Invalid, 3 * time.Minute, "three attempts of a minute"},
		{"step", never, func(int) bool { return true }, new(1), 1, eh.EndTimeout, eh.Invalid, 2 * (time.Minute + 2*time.Second),
			"each with the time to give it up"},
		{"step", obeys, func(made int) bool { return made < 2 }, nil, 2, eh.EndTerminated, eh.Pass, 2 * time.Minute, "the third is well"},
		{"step", never, func(made int) bool { return made == 0 }, nil, 1, eh.EndTerminated, eh.Pass, time.Minute + 2*time.Second,
			"the second is well"},
		{"verifier", obeys, func(int) bool { return true }, new(1), 1, eh.EndVerifierError, eh.Invalid, 2 * time.Minute,
			"it may have been the network"},
		{"verifier", never, func(made int) bool { return made == 0 }, nil, 1, eh.EndTerminated, eh.Pass, time.Minute + 2*time.Second,
			"it may have been the network"},
		{"open", never, func(made int) bool { return made == 0 }, nil, 1, eh.EndTerminated, eh.Pass, time.Minute + 2*time.Second,
			"the second opens"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var open atomic.Int64
			s := &stall{tt.place, tt.back, make(chan struct{})}
			began := time.Now()
			traces, err := eh.Rollouts(t.Context(), stallWorld(s, &open, tt.hangs), nil, hangingPolicy(s), []eh.Task{{}},
				&eh.RolloutOptions{Reruns: tt.reruns})
			took := time.Since(began)
			close(s.release)
			synctest.Wait()
			if err != nil || len(traces) != 1 {
				t.Fatalf("%s: %d traces, %v", tt.place, len(traces), err)
			}
			got := traces[0]
			if got.Reruns != tt.want || got.End != tt.end || got.Verdict.Status != tt.status || took != tt.took || open.Load() != 0 {
				t.Errorf("%s, back %s: %d reruns, end %s, %+v, %v, %d left open (%s)", tt.place, tt.back, got.Reruns, got.End, got.Verdict, took,
					open.Load(), tt.reason)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		s := &stall{"action", obeys, make(chan struct{})}
		began := time.Now()
		w := stallWorld(s, &open, func(int) bool { return false })
		traces, err := eh.Rollouts(t.Context(), w, []eh.Component{hangingHooks(s)}, hangingPolicy(s), []eh.Task{{ID: "[3,8]"}}, nil)
		if err != nil || traces[0].Reruns != 2 || traces[0].End != eh.EndComponentError || time.Since(began) != 30*time.Second {
			t.Errorf("a late hook: %+v, %v, %v", traces, err, time.Since(began))
		}
	})
}

// The limits are those of the options, and none where they are negative.
func TestHangLimits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		place string
		back  comeback
		o     eh.RolloutOptions
		end   eh.EndReason
		says  string
		took  time.Duration
	}{
		{"own step", "step", obeys, eh.RolloutOptions{StepTimeout: 5 * time.Second}, eh.EndTimeout, "step: no answer within 5s", 5 * time.Second},
		{"own hook", "action", obeys, eh.RolloutOptions{HookTimeout: 7 * time.Second}, eh.EndComponentError, "lazy: action: no answer within 7s",
			7 * time.Second},
		{"own episode", "policy", obeys, eh.RolloutOptions{EpisodeTimeout: 90 * time.Second}, eh.EndTimeout, "policy: the episode took too long",
			90 * time.Second},
		{"episode before step", "step", obeys, eh.RolloutOptions{EpisodeTimeout: 9 * time.Second}, eh.EndTimeout,
			"step: the episode took too long", 9 * time.Second},
		{"episode before hook", "action", never, eh.RolloutOptions{EpisodeTimeout: time.Millisecond}, eh.EndComponentError,
			"lazy: action: the episode took too long", 2*time.Second + time.Millisecond},
		{"episode and verifier", "verifier", obeys, eh.RolloutOptions{EpisodeTimeout: 9 * time.Second}, eh.EndVerifierError,
			"verifier: the episode took too long", 9 * time.Second},
		{"no step", "step", obeys, eh.RolloutOptions{StepTimeout: -1}, eh.EndTimeout, "step: the episode took too long", 10 * time.Minute},
		{"no hook", "action", obeys, eh.RolloutOptions{HookTimeout: -1}, eh.EndComponentError, "lazy: action: the episode took too long",
			10 * time.Minute},
		{"no episode", "step", never, eh.RolloutOptions{EpisodeTimeout: -1}, eh.EndTimeout, "step: no answer within 1m0s",
			time.Minute + 2*time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var open atomic.Int64
			s := &stall{tt.place, tt.back, make(chan struct{})}
			tt.o.Reruns = new(0)
			began := time.Now()
			w := stallWorld(s, &open, func(made int) bool { return made == 2 })
			traces, err := eh.Rollouts(t.Context(), w, []eh.Component{hangingHooks(s)}, hangingPolicy(s), []eh.Task{{ID: "[4,6]"}, {ID: "[3,8]"}},
				&tt.o)
			took := time.Since(began)
			close(s.release)
			if err != nil || len(traces) != 2 {
				t.Fatalf("%s: %d traces, %v", tt.name, len(traces), err)
			}
			if got := traces[1]; took != tt.took || got.End != tt.end || !strings.Contains(got.Cause, tt.says) {
				t.Errorf("%s: end %s, cause %q, after %v, want %s, %q, %v", tt.name, got.End, got.Cause, took, tt.end, tt.says, tt.took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // what is slow but in time is no fault, however many calls there are
		w := toyWorld(nil, onStep(func(context.Context) error { time.Sleep(59 * time.Second); return nil }))
		lazy := rule(eh.AxisAction, eh.Hooks{Action: func(_ context.Context, v eh.View, _ eh.Action) (eh.ActionEdit, error) {
			time.Sleep(900 * time.Millisecond)
			_, err := v.State()
			time.Sleep(900 * time.Millisecond) // the base was asked in between
			return eh.PassAction(), err
		}})
		traces, err := eh.Rollouts(t.Context(), w, []eh.Component{lazy}, hangingPolicy(&stall{}), []eh.Task{{}}, &noReruns)
		if err != nil || traces[0].Verdict.Status != eh.Pass {
			t.Errorf("slow but in time: %+v, %v", traces, err)
		}
	})
}

// When the caller gives up, the call returns within the two seconds that foreign code has, whatever hangs, with what was completed.
func TestHangCancel(t *testing.T) {
	for _, tt := range []struct {
		place string
		back  comeback
		after time.Duration
	}{
		{"step", obeys, 0}, {"step", afterClose, time.Second}, {"step", never, 2 * time.Second}, {"open", never, 2 * time.Second},
		{"verifier", never, 2 * time.Second}, {"policy", never, 2 * time.Second}, {"close", never, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var open atomic.Int64
			s := &stall{tt.place, tt.back, make(chan struct{})}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(7*time.Second, cancel)
			began := time.Now()
			w := stallWorld(s, &open, func(made int) bool { return made == 2 })
			traces, err := eh.Rollouts(ctx, w, nil, hangingPolicy(s), []eh.Task{{}, {}, {}}, nil)
			took := time.Since(began)
			close(s.release)
			synctest.Wait()
			if !errors.Is(err, context.Canceled) || len(traces) != 1 || traces[0].Verdict.Status != eh.Pass {
				t.Errorf("%s, back %s: %d traces, %v", tt.place, tt.back, len(traces), err)
			}
			if took != 7*time.Second+tt.after || open.Load() != 0 {
				t.Errorf("%s, back %s: returned after %v, want 7s and %v; %d left open", tt.place, tt.back, took, tt.after, open.Load())
			}
		})
	}
}

// A hundred that hang for ever, side by side, take no longer than one, and leave nothing when they are released.
func TestHangMany(t *testing.T) {
	before := runtime.NumGoroutine()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := toyWorld(nil, onStep(func(context.Context) error { <-release; return errBoom }))
		began := time.Now()
		traces, err := eh.Rollouts(t.Context(), w, nil, func(int) (eh.Policy, error) { return script(stop), nil }, make([]eh.Task, 100),
			&eh.RolloutOptions{Parallel: 100, Reruns: new(0)})
		if took := time.Since(began); err != nil || len(traces) != 100 || took != time.Minute+2*time.Second {
			t.Errorf("%d traces, %v, after %v", len(traces), err, took)
		}
		if n := runtime.NumGoroutine(); n < before+100 {
			t.Errorf("%d goroutines, where %d were and a hundred hang", n, before)
		}
		for i, tr := range traces {
			if tr.Slot != i || tr.End != eh.EndTimeout || tr.Verdict.Status != eh.Invalid {
				t.Errorf("slot %d: %+v", i, tr)
			}
		}
		held := fmt.Sprintf("%+v", traces)
		close(release)
		synctest.Wait()
		if fmt.Sprintf("%+v", traces) != held {
			t.Error("what came back late changed a trace that was given away")
		}
	}) // which waits for every goroutine
}

// Code that ends its goroutine, as a t.FailNow in it does, spoils its own slot alone.
func TestGoexit(t *testing.T) {
	exit := func(place string) *stall { return &stall{place: place} }
	for _, place := range []string{"open", "reset", "step", "state", "observe", "tools", "limit", "begin", "action", "policy", "newPolicy",
		"verifier"} {
		s := exit(place)
		s.release = nil
		var open atomic.Int64
		w := goexitWorld(place, &open)
		hooks := eh.Rules(eh.ComponentSpec{Tag: "lazy", Axis: eh.AxisStart}, func(_ context.Context, e eh.EpisodeInfo) (eh.Hooks, error) {
			if e.Task == "[3,8]" && place == "begin" {
				runtime.Goexit()
			}
			return eh.Hooks{Action: func(context.Context, eh.View, eh.Action) (eh.ActionEdit, error) {
				if e.Task == "[3,8]" && place == "action" {
					runtime.Goexit()
				}
				return eh.PassAction(), nil
			}}, nil
		})
		newPolicy := func(slot int) (eh.Policy, error) {
			if slot == 1 && place == "newPolicy" {
				runtime.Goexit()
			}
			good := script(combine(0, 1, "mul"), stop)
			return eh.PolicyFunc(func(ctx context.Context, t eh.Turn) (eh.Action, error) {
				if slot == 1 && place == "policy" {
					runtime.Goexit()
				}
				return good.Act(ctx, t)
			}), nil
		}
		traces, err := eh.Rollouts(t.Context(), w, []eh.Component{hooks}, newPolicy, []eh.Task{{ID: "[4,6]"}, {ID: "[3,8]"}, {ID: "[2,12]"}},
			&noReruns)
		if err != nil || len(traces) != 3 {
			t.Errorf("%s: %d traces, %v", place, len(traces), err)
			continue
		}
		if traces[0].Verdict.Status != eh.Pass || traces[2].Verdict.Status != eh.Pass {
			t.Errorf("%s: the others: %+v, %+v", place, traces[0].Verdict, traces[2].Verdict)
		}
		if got := traces[1]; got.Verdict.Status != eh.Invalid || !got.End.Infra() || !strings.Contains(got.Cause, "ended its goroutine") {
			t.Errorf("%s: end %s, %+v, cause %q", place, got.End, got.Verdict, got.Cause)
		}
		if n := open.Load(); n != 0 {
			t.Errorf("%s: %d environments left open", place, n)
		}
	}
}

// goexitWorld ends its goroutine at one place of the third environment.
func goexitWorld(place string, open *atomic.Int64) eh.World {
	made := -1
	exit := func(at string) {
		if made == 2 && place == at {
			runtime.Goexit()
		}
	}
	return eh.World{
		New: func(context.Context) (eh.Environment, error) {
			made++
			exit("open")
			open.Add(1)
			return &leaver{staller{toy: &toy{start: []int{4, 6}}, closed: make(chan struct{}), open: open}, exit}, nil
		},
		Verifier: eh.VerifierFunc(func(ctx context.Context, e eh.Evidence) (eh.Verdict, error) {
			exit("verifier")
			return toyVerifier.Verify(ctx, e)
		}),
	}
}

// A leaver ends its goroutine where it is told.
type leaver struct {
	staller
	exit func(at string)
}

func (l *leaver) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	l.exit("reset")
	return l.staller.Reset(ctx, o)
}

func (l *leaver) Step(ctx context.Context, a eh.Action) (eh.Transition, error) {
	l.exit("step")
	return l.staller.Step(ctx, a)
}

func (l *leaver) State(ctx context.Context) (eh.State, error) {
	l.exit("state")
	return l.staller.State(ctx)
}

func (l *leaver) Observe(ctx context.Context) (eh.Observation, error) {
	l.exit("observe")
	return l.staller.Observe(ctx)
}

func (l *leaver) Tools() []eh.Tool {
	l.exit("tools")
	return l.staller.Tools()
}

func (l *leaver) TurnLimit() int {
	l.exit("limit")
	return l.staller.TurnLimit()
}
