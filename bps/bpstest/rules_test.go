package bpstest

import (
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throughline-go/throughline/bps"
)

// right is the correct benefit behind the doubles: 5 and the square root of a sum.
func right(set []int) float64 {
	sum := 0.0
	for _, i := range set {
		sum += float64(i + 1)
	}
	return 5 + math.Sqrt(sum)
}

// double is right with a fast path; a field that is set replaces a correct method.
type double struct {
	gain  func(s *state, i int) float64
	value func(s *state) float64
	clone func(s *state) bps.Gains
	copy  func(s, src *state)
}

// sized is a double that says how many candidates it is for.
type sized struct {
	double
	n int
}

func (s sized) Len() int { return s.n }

func (d double) Value(set []int) float64 { return right(set) }
func (d double) Start() bps.Gains        { return &state{d: d} }

type state struct {
	d    double
	sum  float64
	tied *state // another state that wrongly grows too
}

func (s *state) Add(i int) {
	s.sum += float64(i + 1)
	if s.tied != nil {
		s.tied.sum += float64(i + 1)
	}
}

func (s *state) Gain(i int) float64 {
	if s.d.gain != nil {
		return s.d.gain(s, i)
	}
	return math.Sqrt(s.sum+float64(i+1)) - math.Sqrt(s.sum)
}

func (s *state) Value() float64 {
	if s.d.value != nil {
		return s.d.value(s)
	}
	return math.Sqrt(s.sum)
}

func (s *state) Clone() bps.Gains {
	if s.d.clone != nil {
		return s.d.clone(s)
	}
	c := *s
	return &c
}

func (s *state) CopyFrom(src bps.Gains) {
	if s.d.copy != nil {
		s.d.copy(s, src.(*state))
		return
	}
	*s = *src.(*state)
}

// keeps remembers the last set by the slice it was given, the classic mistake.
func keeps() bps.Benefit {
	var mu sync.Mutex
	var last []int
	value := 0.0
	return bps.BenefitFunc(func(set []int) float64 {
		mu.Lock()
		defer mu.Unlock()
		if last == nil || !slices.Equal(set, last) {
			last, value = set, right(set)
		}
		return value
	})
}

// entered is wrong while another goroutine is in it, for which it waits a little.
func entered() bps.Benefit {
	var inside atomic.Int64
	return bps.BenefitFunc(func(set []int) float64 {
		inside.Add(1)
		defer inside.Add(-1)
		for range 100 {
			if inside.Load() > 1 {
				return 2 * right(set)
			}
			runtime.Gosched()
		}
		return right(set)
	})
}

// Each double has one defect, and exactly the rule for it reports it, for few candidates and for many.
func TestRulesFindDefects(t *testing.T) {
	size := func(set []int) float64 { return float64(len(set)) }
	for _, tt := range []struct {
		name   string
		double func() bps.Benefit
		want   []string
		reason string
	}{
		{"function", func() bps.Benefit { return bps.BenefitFunc(right) }, nil, "correct"},
		{"fast path", func() bps.Benefit { return double{} }, nil, "correct"},
		{"other size", func() bps.Benefit { return sized{n: 5} }, []string{"len"}, "Select refuses it for 4 candidates and for 12"},
		{"NaN", func() bps.Benefit {
			return bps.BenefitFunc(func(set []int) float64 {
				if len(set) == 3 {
					return math.NaN()
				}
				return right(set)
			})
		}, []string{"finite"}, "NaN compares as false everywhere else"},
		{"infinite", func() bps.Benefit {
			return bps.BenefitFunc(func(set []int) float64 { return right(set) + math.Inf(1) })
		}, []string{"finite"}, "+Inf is not below +Inf"},
		{"drift", func() bps.Benefit {
			var calls atomic.Int64
			return bps.BenefitFunc(func(set []int) float64 { return right(set) + 1e-14*float64(calls.Add(1)) })
		}, []string{"pure"}, "as sums in the order of a map: below every tolerance, but not the same"},
		{"falling", func() bps.Benefit {
			return bps.BenefitFunc(func(set []int) float64 { return -size(set) })
		}, []string{"monotone"}, "modular, so submodular"},
		{"square", func() bps.Benefit {
			return bps.BenefitFunc(func(set []int) float64 { return size(set) * size(set) })
		}, []string{"submodular"}, "growing, so monotone"},
		{"reverses", func() bps.Benefit {
			return bps.BenefitFunc(func(set []int) float64 { defer slices.Reverse(set); return right(set) })
		}, []string{"slice"}, "changes its argument"},
		{"keeps", keeps, []string{"slice"}, "keeps its argument"},
		{"shared scratch", entered, []string{"concurrent"}, "wrong only while two goroutines are in it"},
		{"gain", func() bps.Benefit {
			return double{gain: func(s *state, i int) float64 { return math.Sqrt(float64(i + 1)) }}
		}, []string{"gains"}, "the gain at the empty set, whatever the set"},
		{"NaN gain", func() bps.Benefit {
			return double{gain: func(s *state, i int) float64 { return math.NaN() }}
		}, []string{"gains"}, "submodlib #8"},
		{"base", func() bps.Benefit {
			return double{value: func(s *state) float64 { return 5 + math.Sqrt(s.sum) }}
		}, []string{"state value"}, "a state must start at 0"},
		{"greedy gain", func() bps.Benefit {
			return double{gain: func(s *state, i int) float64 {
				gain := math.Sqrt(s.sum+float64(i+1)) - math.Sqrt(s.sum)
				s.sum += 1e-3
				return gain
			}}
		}, []string{"gain changes nothing"}, "right the first time, then on another set"},
		{"same state", func() bps.Benefit {
			return double{clone: func(s *state) bps.Gains { return s }}
		}, []string{"clone"}, "not a copy"},
		{"writes to the original", func() bps.Benefit {
			return double{clone: func(s *state) bps.Gains { return &state{s.d, s.sum, s} }}
		}, []string{"clone"}, "shared until the original writes"},
		{"writes to the copy", func() bps.Benefit {
			return double{clone: func(s *state) bps.Gains { s.tied = &state{s.d, s.sum, nil}; return s.tied }}
		}, []string{"clone"}, "shared until the copy writes"},
		{"new state", func() bps.Benefit {
			return double{clone: func(s *state) bps.Gains { return &state{d: s.d} }}
		}, []string{"clone"}, "independent, but empty"},
		{"copies nothing", func() bps.Benefit {
			return double{copy: func(s, src *state) {}}
		}, []string{"clone"}, "a state that CopyFrom leaves as it was"},
		{"adds up", func() bps.Benefit {
			return double{copy: func(s, src *state) { s.sum += src.sum }}
		}, []string{"clone"}, "CopyFrom keeps what the state had before"},
		{"copy writes to the original", func() bps.Benefit {
			return double{copy: func(s, src *state) { s.sum, s.tied = src.sum, src }}
		}, []string{"clone"}, "shared until the original writes"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		for _, n := range []int{4, 12} {
			var got []string
			for _, r := range Rules() {
				if err := r.Check(tt.double(), n); err != nil {
					got = append(got, r.Name)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s of %d candidates (%s): rules that report it, -want +got:\n%s", tt.name, n, tt.reason, diff)
			}
		}
	}
}

// Rules bear no candidates and one, and a benefit may say how many there are.
func TestRulesFewCandidates(t *testing.T) {
	for n := range 3 {
		Run(t, n, func() bps.Benefit { return double{} })
		Run(t, n, func() bps.Benefit { return sized{n: n} })
	}
}

// Up to 8 candidates walks are all sets; above there are 200, the empty and the full one among them.
func TestWalks(t *testing.T) {
	for _, n := range []int{0, 1, 8, 9, 100} {
		all := walks(n)
		want := 200
		if n <= 8 {
			want = 1 << n
			seen := map[int]bool{}
			for _, w := range all {
				m := 0
				for _, i := range w.set() {
					m |= 1 << i
				}
				seen[m] = true
				if len(w.set(w.next...)) != n || len(slices.Compact(w.set(w.next...))) != n {
					t.Errorf("%v and %v are not %d candidates", w.order, w.next, n)
				}
			}
			if len(seen) != want {
				t.Errorf("n=%d: %d different sets, want %d", n, len(seen), want)
			}
		}
		if len(all) != want || len(all[0].order) != 0 || len(all[len(all)-1].order) != n {
			t.Errorf("n=%d: %d walks, the first of %d and the last of %d candidates; want %d, 0, %d",
				n, len(all), len(all[0].order), len(all[len(all)-1].order), want, n)
		}
	}
}

// few panics, as an index into a slice does, for a candidate that it was not made for.
type few []float64

func (f few) Len() int { return len(f) }

func (f few) Value(set []int) float64 {
	sum := 0.0
	for _, i := range set {
		sum += f[i]
	}
	return sum
}

// Run fails in the subtest of the broken rule and in no other, and does not go on with a wrong number of candidates. The test runs
// itself again, since a failure cannot be taken back.
func TestRunFails(t *testing.T) {
	const variable = "BPSTEST_BROKEN"
	broken := map[string]func() bps.Benefit{"keeps": keeps, "few": func() bps.Benefit { return few{1, 2, 3} }}
	if newBenefit := broken[os.Getenv(variable)]; newBenefit != nil {
		Run(t, 4, newBenefit)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"keeps": {"len PASS", "finite PASS", "pure PASS", "monotone PASS", "submodular PASS", "slice FAIL", "concurrent PASS", "gains PASS",
			"state_value PASS", "gain_changes_nothing PASS", "clone PASS"},
		"few": {"len FAIL"},
	} {
		cmd := exec.Command(exe, "-test.run=^TestRunFails$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"="+name)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%s: the test of a broken benefit passes", name)
		}
		var got []string
		for _, m := range regexp.MustCompile(`--- (\w+): TestRunFails/(\w+)`).FindAllSubmatch(out, -1) {
			got = append(got, string(m[2])+" "+string(m[1]))
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: -want +got:\n%s\n%s", name, diff, out)
		}
	}
}
