package doubles

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
)

// The correct environment keeps every rule, and no rule is skipped.
func TestMaze(t *testing.T) {
	e := envtest.Environment{New: mazeWorld().New, Tasks: mazeTasks()}
	if err := e.Check(t.Context()); err != nil {
		t.Error(err)
	}
	e.Run(t)
}

// Each double is caught for its fault and for nothing else. What waits, waits for the clock of the bubble.
func TestEnvironmentsAreCaught(t *testing.T) {
	for _, d := range environments() {
		t.Run(d.Rule+" "+d.Text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := d.Caught(t.Context()); err != nil {
					t.Errorf("%v\n%v", err, d.Check(t.Context()))
				}
			})
		})
	}
}

// A plain environment hides all abilities.
type plain struct{ envharness.Environment }

// A described maze says what is volatile.
type described struct {
	*brokenMaze
	volatile []string
}

// A noRewinder hides RewindCounters behind a method of another form.
type noRewinder struct{ described }

func (noRewinder) RewindCounters() {}

func (d described) Describe() envharness.Description {
	desc := d.brokenMaze.Describe()
	desc.Volatile = d.volatile
	return desc
}

// What is declared is not held against an environment, and what is absent is not missed.
func TestDeclarations(t *testing.T) {
	open := func(f fault) *brokenMaze {
		b := &brokenMaze{maze: newMaze()}
		if f != nil {
			f(b)
		}
		return b
	}
	noise, _ := unrepeatable()
	unseedable := func(b *brokenMaze) {
		b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
			if o.Seed != nil {
				return envharness.Observation{}, envharness.ErrSeedUnsupported
			}
			return b.maze.Reset(ctx, o)
		}
	}
	oneTurn := func(b *brokenMaze) {
		b.afterStep(func(_ envharness.Action, t *envharness.Transition) {
			if !t.Ended() {
				b.now.Turn = mazeLimit
				t.Truncated, t.Reason, t.Observation = true, "max_turns", b.observation()
			}
		})
	}
	flicker := func(b *brokenMaze) { // rounding, say
		step := 0.0
		b.afterStep(func(_ envharness.Action, t *envharness.Transition) {
			step = 1e-6 - step
			t.Info["about"] = 1 + step
		})
	}
	for _, tt := range []struct {
		name   string
		open   func() envharness.Environment
		e      envtest.Environment
		want   []string // broken rules
		reason string
	}{
		{"no abilities", func() envharness.Environment { return plain{newMaze()} }, envtest.Environment{}, nil, "none is required"},
		{"one turn", func() envharness.Environment {
			return open(func(b *brokenMaze) { oneTurn(b); b.limit = func() int { return 0 } })
		},
			envtest.Environment{MaxTurns: 1}, nil, "the limit is declared"},
		{"one turn, told", func() envharness.Environment {
			return open(func(b *brokenMaze) { oneTurn(b); b.limit = func() int { return 1 } })
		},
			envtest.Environment{}, nil, "the limit is that of the episode, and lower than MaxTurns"},
		{"twelve turns, told alone", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.MaxTurns = 0 }))
		}, envtest.Environment{}, nil, "no more is needed"},
		{"thirteen turns, told alone", func() envharness.Environment {
			return open(func(b *brokenMaze) { describing(func(d *envharness.Description) { d.MaxTurns = 0 })(b); tellHigher(b) })
		}, envtest.Environment{}, []string{"E21"}, "it is one too many"},
		{"negative limit", func() envharness.Environment { return open(func(b *brokenMaze) { b.limit = func() int { return -1 } }) },
			envtest.Environment{}, []string{"E21"}, "none is 0"},
		{"one turn, undeclared", func() envharness.Environment { return open(oneTurn) }, envtest.Environment{}, []string{"E10"},
			"the description says 12"},
		{"no seeds", func() envharness.Environment { return open(unseedable) }, envtest.Environment{}, []string{"E05"},
			"it claims to be deterministic and goes on in its own stream"},
		{"no seeds, no claim", func() envharness.Environment { return plain{open(unseedable)} }, envtest.Environment{}, nil,
			"nothing is promised"},
		{"ignored info", func() envharness.Environment { return open(noise) }, envtest.Environment{IgnoreInfo: []string{"call"}}, nil,
			"it may differ"},
		{"volatile info", func() envharness.Environment { return described{open(noise), []string{"/info/call"}} },
			envtest.Environment{}, nil, "the description says so"},
		{"volatile elsewhere", func() envharness.Environment { return described{open(noise), []string{"/info/cal"}} }, envtest.Environment{},
			[]string{"E05", "E06"}, "another key"},
		{"counters", func() envharness.Environment { return noRewinder{described{open(nil), nil}} },
			envtest.Environment{Counters: []string{"/turn"}}, nil, "a refused action counts a turn"},
		{"counters, undeclared", func() envharness.Environment { return noRewinder{described{open(nil), nil}} }, envtest.Environment{},
			[]string{"E17", "E18"}, "the state has a turn and nobody says that it is no part of the world"},
		{"refusals", func() envharness.Environment { return open(refuseListed) },
			envtest.Environment{Refusals: []envharness.ErrorClass{envharness.ClassPrecondition}}, nil, "an admissible action may be refused"},
		{"other refusals", func() envharness.Environment { return open(refuseListed) },
			envtest.Environment{Refusals: []envharness.ErrorClass{envharness.ClassPermission}}, []string{"E17"}, "not with that class"},
		{"seed blind", func() envharness.Environment {
			return open(func(b *brokenMaze) { seedDeaf(b); deaf := b.reset; b.reset = seeded(deaf) })
		}, envtest.Environment{SeedBlind: true}, nil, "the seed changes nothing"},
		{"seed blind, undeclared", func() envharness.Environment {
			return open(func(b *brokenMaze) { seedDeaf(b); deaf := b.reset; b.reset = seeded(deaf) })
		}, envtest.Environment{}, []string{"E04", "E07"}, "the seed changes nothing"},
		{"nothing declared", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Vocabulary, d.Refusals = nil, nil }))
		}, envtest.Environment{}, nil, "nothing is promised"},
		{"a class is missing", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Refusals = d.Refusals[1:] }))
		}, envtest.Environment{}, []string{"E31"}, "an unknown tool is refused as such"},
		{"a class is missing and no words are declared", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Vocabulary, d.Refusals = nil, d.Refusals[1:] }))
		}, envtest.Environment{}, []string{"E31"}, "each is a promise by itself"},
		{"foreign actions told", func() envharness.Environment { return open(tellLast) },
			envtest.Environment{Actions: func(r *rand.Rand, o envharness.Observation, _ []envharness.Tool) envharness.Action {
				if r.IntN(2) == 0 || len(o.Actions) == 0 {
					return envharness.Action{Name: "zap"}
				}
				return clone(o.Actions[r.IntN(len(o.Actions))])
			}}, nil, "a setup that is admissible has no such word"},
		{"an invented class", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Refusals = append(d.Refusals, "no idea") }))
		}, envtest.Environment{}, []string{"E31"}, "a policy can do nothing with it"},
		{"a word is missing", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Vocabulary = d.Vocabulary[:len(d.Vocabulary)-1] }))
		}, envtest.Environment{}, []string{"E31"}, "stop"},
		{"no words", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Vocabulary = []string{} }))
		}, envtest.Environment{}, []string{"E31"}, "empty is not unknown"},
		{"a word too many", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Vocabulary = append(d.Vocabulary, "zoo") }))
		}, envtest.Environment{}, nil, "it may come in another episode"},
		{"words out of order", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Vocabulary = append(d.Vocabulary, "a") }))
		}, envtest.Environment{}, []string{"E31"}, "it is sorted"},
		{"a word twice", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Vocabulary = append(d.Vocabulary, "stop") }))
		}, envtest.Environment{}, []string{"E31"}, "stop is the last"},
		{"two words in one", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Vocabulary = append(d.Vocabulary, "to-do") }))
		}, envtest.Environment{}, []string{"E31"}, "they are three"},
		{"a word in capitals", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Vocabulary = slices.Insert(d.Vocabulary, 12, "A") }))
		}, envtest.Environment{}, []string{"E31"}, "words are in lower case"},
		{"chance below 0", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Chance = -0.25 }))
		}, envtest.Environment{}, []string{"E16"}, "a rate"},
		{"chance 1", func() envharness.Environment {
			return open(describing(func(d *envharness.Description) { d.Chance = 1 }))
		}, envtest.Environment{}, nil, "whatever is done passes"},
		{"task sentence", func() envharness.Environment {
			return open(func(b *brokenMaze) {
				b.changeObservations(func(o *envharness.Observation) { o.Data["task"] = "walk to the goal" })
			})
		}, envtest.Environment{}, []string{"E31"}, "it is read like the text"},
		{"task number", func() envharness.Environment {
			return open(func(b *brokenMaze) { b.changeObservations(func(o *envharness.Observation) { o.Data["task"] = 77.0 }) })
		}, envtest.Environment{}, nil, "no sentence"},
		{"tolerance", func() envharness.Environment { return open(flicker) }, envtest.Environment{Tolerance: 1e-5}, nil, "numbers are near"},
		{"tolerance too small", func() envharness.Environment { return open(flicker) }, envtest.Environment{Tolerance: 1e-7},
			[]string{"E05", "E19", "E27"}, "numbers are not near enough"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			e := tt.e
			e.New, e.Tasks = func(context.Context) (envharness.Environment, error) { return tt.open(), nil }, mazeTasks()
			err := e.Check(t.Context())
			if got := brokenRules(err); !slices.Equal(got, tt.want) {
				t.Errorf("(-want +got)\n%s\n%v", cmp.Diff(tt.want, got), err)
			}
		})
	}
}

// tellLast shows the last action after RewindCounters.
func tellLast(b *brokenMaze) {
	last, told := "", false
	b.changeObservations(func(o *envharness.Observation) {
		if told && last != "" {
			o.Text += ", " + last
		}
	})
	step, reset := b.step, b.reset
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		if b.playing(ctx) == nil && !b.now.over() {
			last, told = strings.ToValidUTF8(a.Text(), "?"), false
		}
		return step(ctx, a)
	}
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		last, told = "", false
		return reset(ctx, o)
	}
	b.rewind = func(ctx context.Context) error {
		err := b.maze.RewindCounters(ctx)
		told = told || err == nil
		return err
	}
}

// describing changes the description.
func describing(f func(d *envharness.Description)) fault {
	return func(b *brokenMaze) {
		b.describe = func() envharness.Description {
			d := b.maze.Describe()
			f(&d)
			return d
		}
	}
}

// seeded gives every reset the same seed.
func seeded(reset func(context.Context, envharness.ResetOptions) (envharness.Observation, error),
) func(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	return func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		o.Seed = new(uint64(1))
		return reset(ctx, o)
	}
}

// An environment that cannot be had or used is one violation, not thirty.
func TestUnusableEnvironments(t *testing.T) {
	for _, tt := range []struct {
		name   string
		new    func(context.Context) (envharness.Environment, error)
		tasks  []envharness.Task
		want   []string
		reason string
	}{
		{"no New", nil, nil, []string{"E01"}, "there is nothing to check"},
		{"New fails", func(context.Context) (envharness.Environment, error) { return nil, envharness.ErrInfra }, nil, []string{"E01"},
			"every time"},
		{"New returns nothing", func(context.Context) (envharness.Environment, error) { return nil, nil }, nil, []string{"E01"}, "every time"},
		{"no such task", mazeWorld().New, []envharness.Task{{ID: "x"}}, []string{"E02"}, "every Reset fails"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			err := envtest.Environment{New: tt.new, Tasks: tt.tasks}.Check(t.Context())
			if got := brokenRules(err); !slices.Equal(got, tt.want) {
				t.Errorf("(-want +got)\n%s\n%v", cmp.Diff(tt.want, got), err)
			}
		})
	}
}
