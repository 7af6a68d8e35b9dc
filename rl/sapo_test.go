package rl

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func withQ(t Trajectory, q ...float64) Trajectory {
	for k, v := range q {
		t.Turns[k].QValue = v
	}
	return t
}

func TestSAPO(t *testing.T) {
	e1 := func(end End) Trajectory {
		return withQ(episode(end, []float64{0, 0, 0, 10}, []float64{2, 3, 5, 8}), 2.5, 4, 6, 9)
	}
	invalid := e1(Terminated)
	invalid.Turns[1].Invalid = true
	cut := withFinal(e1(Truncated), 7)
	cut.Turns[3].Reward = 0
	tests := []struct {
		name              string
		t                 Trajectory
		o                 *TurnGAEOptions
		advantage, vt, qt []float64
		reason            string
	}{
		{"E1", e1(Terminated), nil, []float64{.933558, .749560, -.083211, -1.599907}, []float64{8.017275, 8.725512, 9.405, 10},
			[]float64{3.8, 5.7, 8.55, 10}, "E1, population"},
		{"E1, sample", e1(Terminated), &TurnGAEOptions{Norm: Norm{Std: StdSample}}, []float64{.808485, .649138, -.072063, -1.385560},
			[]float64{8.017275, 8.725512, 9.405, 10}, []float64{3.8, 5.7, 8.55, 10}, "E1, sample"},
		{"E1, off", e1(Terminated), &TurnGAEOptions{Norm: Norm{Std: StdOff}}, []float64{6.017275, 5.725512, 4.405, 2},
			[]float64{8.017275, 8.725512, 9.405, 10}, []float64{3.8, 5.7, 8.55, 10}, "E1 before the norm: without batch norm"},
		{"E2", invalid, nil, []float64{.960379, .710440, -.068231, -1.602589}, []float64{8.017275, 8.725512, 9.405, 10},
			[]float64{3.8, 5.7, 8.55, 10}, "E2: the penalty changes no target"},
		{"E3, terminal", cut, &TurnGAEOptions{Norm: Norm{Std: StdOff}}, []float64{-1.333644, -2.41955, -4.62, -8},
			[]float64{.666356, .58045, .38, 0}, []float64{3.8, 5.7, 8.55, 0}, "E3: SAPO's own treatment of a limit"},
		{"E3, bootstrap", cut, &TurnGAEOptions{Truncation: TruncationBootstrap, Norm: Norm{Std: StdOff}},
			[]float64{3.554717, 2.996917, 1.381625, -1.35}, []float64{5.554717, 5.996917, 6.381625, 6.65}, []float64{3.8, 5.7, 8.55, 6.65}, "E3"},
		{"drop", cut, &TurnGAEOptions{Truncation: TruncationDrop}, make([]float64, 4), make([]float64, 4), make([]float64, 4), "3.1: excluded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := SAPO(nil, []Trajectory{tt.t}, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			got := [][]float64{c.Advantage, c.ValueTarget, c.QTarget}
			if diff := cmp.Diff([][]float64{tt.advantage, tt.vt, tt.qt}, got, digits); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// Q moves nothing but the targets of Q (property 10): SAPO's advantages and value targets are, to the bit, those of TurnGAE.
func TestSAPOIgnoresQ(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		for i := range batch {
			for k := range batch[i].Turns {
				batch[i].Turns[k].QValue = anyFloat(100).Draw(t, "Q")
			}
		}
		want, err := TurnGAE(nil, batch, &TurnGAEOptions{Truncation: TruncationTerminal})
		if err != nil {
			t.Fatal(err)
		}
		got, err := SAPO(nil, batch, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !cmp.Equal(want.Advantage, got.Advantage) || !cmp.Equal(want.ValueTarget, got.ValueTarget) || want.QTarget != nil || got.QTarget == nil {
			t.Fatalf("TurnGAE %v, SAPO %v", want, got)
		}
		for i := range batch {
			b := &batch[i]
			for k := range b.Turns {
				at := got.Start[i] + k
				q := b.Turns[k].Reward
				if k+1 < len(b.Turns) {
					q += 0.95 * b.Turns[k+1].QValue
				}
				if b.Excluded != "" {
					q = 0
				}
				if math.Abs(got.QTarget[at]-q) > 1e-12 {
					t.Fatalf("trajectory %d, turn %d: target %v, want %v", i, k, got.QTarget[at], q)
				}
			}
		}
	})
}

func TestSAPONonFinite(t *testing.T) {
	for _, k := range []int{0, 1, 2} {
		bad := withQ(episode(Terminated, []float64{0, 1, 2}, nil), 1, 1, 1)
		bad.Turns[k].QValue = math.NaN()
		batch := []Trajectory{withQ(episode(Terminated, []float64{1}, nil), 1), bad}
		_, err := SAPO(nil, batch, nil)
		var f *FieldError
		if !errors.Is(err, ErrNonFinite) || !errors.As(err, &f) || f.Trajectory != 1 || f.Turn != k || f.Field != "QValue" {
			t.Errorf("Q of turn %d is NaN: error %v", k, err)
		}
		if _, err := TurnGAE(nil, batch, nil); err != nil {
			t.Errorf("TurnGAE does not read Q, but: %v", err)
		}
		c, err := SAPO(nil, batch, &TurnGAEOptions{ExcludeNonFinite: true})
		if err != nil || c.NoVote[1] != reasonNonFinite || c.QTarget[2] != 0 || c.QTarget[0] != 1 {
			t.Errorf("excluded: %+v, %v", c, err)
		}
	}
	// What is not read is not blamed, and an excluded turn costs nothing.
	huge := withFinal(episode(Truncated, []float64{1e308, 1e308, 1e308}, nil), math.NaN())
	_, err := SAPO(nil, []Trajectory{huge}, &TurnGAEOptions{Gamma: new(1.0)})
	if !errors.Is(err, ErrNonFinite) || strings.Contains(err.Error(), "FinalValue") {
		t.Errorf("rewards that overflow: %v", err)
	}
	out := episode(Terminated, []float64{-1.7e308, 0}, nil)
	out.Turns[0].Invalid, out.Turns[0].Excluded = true, true
	if _, err := SAPO(nil, []Trajectory{out}, &TurnGAEOptions{InvalidPenalty: new(1e308)}); err != nil {
		t.Errorf("an excluded turn is penalised: %v", err)
	}
	if c, err := TurnGAE(nil, []Trajectory{episode(Terminated, []float64{1}, nil)}, &TurnGAEOptions{Norm: Norm{Singleton: SingletonError}}); c != nil || err == nil {
		t.Errorf("an error comes with a credit: %v, %v", c, err)
	}
	// A Credit goes from one method to another and carries nothing over.
	c, err := SAPO(nil, []Trajectory{withQ(episode(Terminated, []float64{1}, nil), 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = GRPO(c, []Trajectory{scored("a", 1)}, nil); err != nil || c.QTarget != nil || c.ValueTarget != nil {
		t.Errorf("targets of SAPO in a credit of GRPO: %+v, %v", c, err)
	}
}

// The three targets are the sums that define them.
func TestReturns(t *testing.T) {
	tr := withQ(episode(Terminated, []float64{1, 0, -2}, []float64{.5, 1, 2}), 3, 4, 5)
	const g, l, after = .9, .8, 10.0
	tests := []struct {
		name      string
		got, want []float64
		reason    string
	}{
		{"MonteCarlo", tr.MonteCarlo(nil, g, after), []float64{1 - 2*g*g + g*g*g*after, -2*g + g*g*after, -2 + g*after}, "discounted sum"},
		{"MonteCarlo, no end", tr.MonteCarlo(nil, 1, 0), []float64{-1, -2, -2}, "reward-to-go"},
		{"lambda 1", tr.LambdaReturns(nil, g, 1, after), tr.MonteCarlo(nil, g, after), "property 1"},
		{"lambda 0", tr.LambdaReturns(nil, g, 0, after), []float64{1 + g*1, 0 + g*2, -2 + g*after}, "one-step target"},
		{"lambda", tr.LambdaReturns(nil, g, l, after), []float64{
			1 + g*(.2*1+.8*(0+g*(.2*2+.8*(-2+g*after)))), 0 + g*(.2*2+.8*(-2+g*after)), -2 + g*after}, "by hand"},
		{"SARSA", tr.SARSATargets(nil, g, after), []float64{1 + g*4, 0 + g*5, -2 + g*after}, "3.1"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got, near); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", tt.name, tt.reason, diff)
		}
	}
	dst := make([]float64, 8)
	if got := tr.MonteCarlo(dst, 1, 0); &got[0] != &dst[0] || len(got) != 3 {
		t.Error("the memory of dst is not used")
	}
}

// V + A of TurnGAE is the lambda-return, and the targets of SAPO are SARSATargets, whatever follows the last turn.
func TestReturnsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		o := &TurnGAEOptions{Truncation: rapid.SampledFrom([]Truncation{TruncationBootstrap, TruncationTerminal}).Draw(t, "truncation")}
		c, err := SAPO(nil, batch, o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			if batch[i].Excluded != "" {
				continue
			}
			after, err := batch[i].Bootstrap(o.Truncation)
			if err != nil {
				t.Fatal(err)
			}
			from, to := c.Start[i], c.Start[i+1]
			if diff := cmp.Diff(batch[i].LambdaReturns(nil, .95, .95, after), c.ValueTarget[from:to], near); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(batch[i].SARSATargets(nil, .95, after), c.QTarget[from:to], near); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestBootstrap(t *testing.T) {
	cut := withFinal(episode(Truncated, []float64{1}, nil), 7)
	tests := []struct {
		name   string
		t      Trajectory
		tr     Truncation
		want   float64
		err    error
		reason string
	}{
		{"terminated", withFinal(episode(Terminated, []float64{1}, nil), 7), TruncationBootstrap, 0, nil, "property 4"},
		{"cut", cut, TruncationBootstrap, 7, nil, "3.1"},
		{"cut, default", cut, TruncationDefault, 7, nil, "a limit is no failure"},
		{"cut, terminal", cut, TruncationTerminal, 0, nil, "3.1"},
		{"unknown", noFinal(cut), TruncationBootstrap, 0, ErrNoFinalValue, "3.1"},
		{"unknown, terminal", noFinal(cut), TruncationTerminal, 0, nil, "not read"},
		{"empty", Trajectory{}, TruncationBootstrap, 0, nil, "nothing was cut"},
	}
	for _, tt := range tests {
		got, err := tt.t.Bootstrap(tt.tr)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: got %v, %v, want %v, %v (%s)", tt.name, got, err, tt.want, tt.err, tt.reason)
		}
	}
}

// Cases 14 and 15 of terminal values and truncation, 16 of returns.
func TestPeersGAE(t *testing.T) {
	off := Norm{Std: StdOff}
	tests := []struct {
		name   string
		t      Trajectory
		o      TurnGAEOptions
		want   []float64 // advantages
		reason string
	}{
		{"case 14", withFinal(episode(Terminated, []float64{1, 1, 1}, []float64{2, 2, 2}), 2), TurnGAEOptions{Gamma: new(.99), Norm: off},
			[]float64{.98 + .9405*(.98+.9405*-1), .98 + .9405*-1, -1}, "the value after the end is not used: the last is r - V"},
		{"case 15", withFinal(episode(Truncated, []float64{0, 0, 0}, []float64{.5, .5, .5}), .9), TurnGAEOptions{Gamma: new(.99), Norm: off},
			[]float64{.3362, .3627, .391}, "a limit is no end"},
	}
	for _, tt := range tests {
		c := mustTurnGAE(t, []Trajectory{tt.t}, &tt.o)
		if diff := cmp.Diff(tt.want, c.Advantage, cmpopts.EquateApprox(0, 5.1e-5)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.name, tt.reason, diff)
		}
	}
	c := mustTurnGAE(t, []Trajectory{episode(Terminated, []float64{1.5, 3}, []float64{1, 3})}, &TurnGAEOptions{Gamma: new(0.0)})
	if c.ValueTarget[0] != 1.5 { // A is .5, and normalised to +-1 afterwards
		t.Errorf("case 16: target %v, want A + V = 1.5 with A before any norm", c.ValueTarget[0])
	}
}

func BenchmarkSAPO(b *testing.B) {
	for _, turns := range []int{6_400, 64_000, 1_000_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			batch := benchBatch(turns/50, 50)
			c, err := SAPO(nil, batch, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := SAPO(c, batch, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
