package mix

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// slowKey is the hash over parts with their lengths.
func slowKey(parts ...string) uint64 {
	var b []byte
	for _, p := range parts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:8])
}

func TestKey(t *testing.T) {
	tests := []struct {
		seed uint64
		id   string
		want uint64
	}{
		{7, "web/doc-000", 0x5fcd71404d1d5fae},
		{7, "web/doc-001", 0x3baaaea68ecf4516},
		{7, "web/doc-002", 0x7410589b21c311d9},
		{8, "web/doc-000", 0x1e05a9646f6cf1ce},
	}
	for _, tt := range tests {
		if got := newKeyer(tt.seed, "mix").key(tt.id); got != tt.want {
			t.Errorf("seed %d, %s: %#x, want %#x", tt.seed, tt.id, got, tt.want)
		}
	}
	k := newKeyer(3, "order")
	for _, id := range []string{"a", "", strings.Repeat("long ", 99), "é"} {
		for _, pass := range []int{0, 7, 123} {
			if got, want := k.numbered(id, pass), slowKey("midtool/1", "3", "order", id, strconv.Itoa(pass)); got != want {
				t.Errorf("%q in pass %d: %#x, want %#x", id, pass, got, want)
			}
		}
	}
}

// units makes n units of a source, of so many tokens each.
func units(source string, n, tokens int) []Unit {
	out := make([]Unit, n)
	for i := range out {
		out[i] = Unit{ID: fmt.Sprintf("%s/%d", source, i), Source: source, Tokens: tokens}
	}
	return out
}

func ids(all []Unit, picks []Pick) []string {
	out := make([]string, len(picks))
	for i, p := range picks {
		out[i] = all[p.Index].ID
	}
	return out
}

func TestOrderOfUnits(t *testing.T) {
	all := []Unit{{ID: "web/doc-000", Source: "web", Tokens: 1}, {ID: "web/doc-001", Source: "web", Tokens: 1},
		{ID: "web/doc-002", Source: "web", Tokens: 1}}
	want := []string{"web/doc-001", "web/doc-000", "web/doc-002"} // by the keys of TestKey
	for n := 1; n <= 3; n++ {
		s, err := Select(all, &Options{Seed: 7, Budget: n})
		if err != nil {
			t.Fatal(err)
		}
		got := ids(all, s.Picks)
		slices.Sort(got)
		if !slices.Equal(got, slices.Sorted(slices.Values(want[:n]))) {
			t.Errorf("budget of %d units takes %v, want %v", n, got, want[:n])
		}
	}
}

func TestPolicies(t *testing.T) {
	// of units of one token, so that every part is met exactly
	stock := slices.Concat(units("web", 300, 1), units("code", 400, 1), units("pdf", 500, 1), units("native", 100, 1))
	tests := []struct {
		name   string
		units  []Unit
		o      Options
		budget int
		want   map[string]int // tokens
		err    string
		reason string
	}{
		{"enough", stock, Options{Budget: 100}, 100, map[string]int{"web": 42, "code": 26, "pdf": 23, "native": 9}, "", "the shares as they stand"},
		{"scale", stock, Options{Budget: 1000}, 714, map[string]int{"web": 300, "code": 186, "pdf": 164, "native": 64}, "",
			"floor(100*300/42) = 714: 299.88, 185.64, 164.22, 64.26"},
		{"zero", stock, Options{}, 714, map[string]int{"web": 300, "code": 186, "pdf": 164, "native": 64}, "", "the most without a shortfall"},
		{"under", stock, Options{Budget: 1000, Shortfall: Under}, 1000, map[string]int{"web": 300, "code": 260, "pdf": 230, "native": 90}, "",
			"web lacks 120 of its 420"},
		{"strict", stock, Options{Budget: 1000, Shortfall: Strict}, 0, nil, `source "web" has 300 tokens, its part of 1000 is 420`, "web falls short"},
		{"strict enough", stock, Options{Budget: 100, Shortfall: Strict}, 100, map[string]int{"web": 42, "code": 26, "pdf": 23, "native": 9}, "", ""},
		{"repeat", stock, Options{Budget: 1000, Shortfall: Repeat, Epochs: map[string]int{"web": 2}}, 1000,
			map[string]int{"web": 420, "code": 260, "pdf": 230, "native": 90}, "", "a second pass gives the missing 120"},
		{"repeat once", stock, Options{Budget: 1000, Shortfall: Repeat}, 1000, map[string]int{"web": 300, "code": 260, "pdf": 230, "native": 90}, "",
			"one pass is none again"},
		{"tools alone", units("native", 50, 1), Options{Budget: 40}, 40, map[string]int{"native": 40, "web": 0, "code": 0, "pdf": 0}, "",
			"nobody else is there"},
		{"tools alone, zero", units("native", 50, 1), Options{}, 50, map[string]int{"native": 50, "web": 0, "code": 0, "pdf": 0}, "", "all of them"},
		{"tools alone, strict", units("native", 50, 1), Options{Shortfall: Strict}, 0, nil, `source "code" has a share of 26 and no tokens`, ""},
		{"nothing", nil, Options{Budget: 10}, 0, map[string]int{"native": 0, "web": 0, "code": 0, "pdf": 0}, "", "no units, no picks"},
		{"the first that exceeds ends", []Unit{{ID: "web/doc-001", Source: "web", Tokens: 6}, {ID: "web/doc-000", Source: "web", Tokens: 9},
			{ID: "web/doc-002", Source: "web", Tokens: 1}}, Options{Seed: 7, Budget: 10}, 10,
			map[string]int{"native": 0, "web": 6, "code": 0, "pdf": 0}, "", "6, then 9 is too many, and 1 is not asked"},
		{"zero weight", stock, Options{Budget: 10, Shares: map[string]int{"web": 1, "code": 0, "pdf": 0, "native": 0}}, 10,
			map[string]int{"native": 0, "web": 10, "code": 0, "pdf": 0}, "", "units of a source without weight are left"},
		{"unknown source", units("mail", 1, 1), Options{}, 0, nil, `unit "mail/0": source "mail" has no share`, ""},
		{"negative", units("web", 1, -1), Options{}, 0, nil, `unit "web/0": -1 tokens`, ""},
		{"too many", units("web", 2, math.MaxInt/2+1), Options{}, 0, nil, "the tokens up to here are more than", "the sum has no room"},
		{"twice", append(units("web", 1, 1), units("web", 1, 1)...), Options{}, 0, nil, `unit "web/0" occurs twice`, ""},
		{"unknown tier", units("web", 1, 1), Options{Tiers: DefaultTiers()}, 0, nil, `tier "" has no weight in source "web"`, ""},
	}
	for _, tt := range tests {
		s, err := Select(tt.units, &tt.o)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || s != nil {
				t.Errorf("%s: got %v, %v, want %q", tt.name, s, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got := make(map[string]int)
		for name, share := range s.Sources {
			got[name] = share.Tokens
		}
		if s.Budget != tt.budget || !maps.Equal(got, tt.want) {
			t.Errorf("%s: got %d %v, want %d %v (%s)", tt.name, s.Budget, got, tt.budget, tt.want, tt.reason)
		}
		if absent := len(s.Notes); absent > 0 && !strings.Contains(s.Notes[0], "has nothing to take") {
			t.Errorf("%s: notes %q", tt.name, s.Notes)
		}
	}
}

func TestScaleOfMillions(t *testing.T) {
	all := []Unit{{ID: "w", Source: "web", Tokens: 300_000}, {ID: "c", Source: "code", Tokens: 400_000},
		{ID: "p", Source: "pdf", Tokens: 500_000}, {ID: "n", Source: "native", Tokens: 100_000}}
	s, err := Select(all, &Options{Budget: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int)
	for name, share := range s.Sources {
		got[name] = share.Target
	}
	if want := map[string]int{"web": 300_000, "code": 185_714, "pdf": 164_285, "native": 64_286}; s.Budget != 714_285 || !maps.Equal(got, want) {
		t.Errorf("got %d %v, want 714285 %v", s.Budget, got, want)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := Select(nil, &Options{Budget: -1, Shares: map[string]int{"web": -1}, Shortfall: "half", Epochs: map[string]int{"web": 0, "x": 1},
		Tiers: map[string]map[string]int{"web": {}, "pdf": {"qa": maxWeight, "traj": 1}}})
	for _, want := range []string{"Budget is -1", `weight of "web" is -1`, `Shortfall is "half"`, `Epochs of "web" is 0`, `Epochs has "x"`,
		`Tiers of "web": no weight`, `Tiers of "pdf": the weights add up to`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// slowSelect takes units of sources that are not repeated and have no tiers, by the letter.
func slowSelect(all []Unit, seed uint64, targets map[string]int) []string {
	byKey := slices.Clone(all)
	key := func(u Unit) uint64 { return slowKey("midtool/1", strconv.FormatUint(seed, 10), "mix", u.ID) }
	slices.SortFunc(byKey, func(a, b Unit) int { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.ID, b.ID)) })
	var out []string
	for source, target := range targets {
		sum := 0
		for _, u := range byKey {
			if u.Source != source {
				continue
			}
			if sum += u.Tokens; sum > target {
				break
			}
			out = append(out, u.ID)
		}
	}
	order := func(id string) uint64 {
		return slowKey("midtool/1", strconv.FormatUint(seed, 10), "order", id, "0")
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b)) })
	return out
}

var sources = []string{"web", "code", "pdf", "native"}

func anyUnits(t *rapid.T) []Unit {
	n := rapid.IntRange(0, 60).Draw(t, "units")
	out := make([]Unit, n)
	for i := range out {
		source := rapid.SampledFrom(sources).Draw(t, "source")
		out[i] = Unit{ID: fmt.Sprintf("%s/%d", source, i), Source: source, Tokens: rapid.IntRange(0, 40).Draw(t, "tokens"),
			Tier: rapid.SampledFrom([]string{"source", "qa", "traj"}).Draw(t, "tier")}
	}
	return out
}

// The picks are those of the slow way, in any order of the units; each source has at most its part, and more than that less its largest unit
// where it has enough.
func TestSelectAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := anyUnits(t)
		o := Options{Seed: rapid.Uint64().Draw(t, "seed"), Budget: rapid.IntRange(0, 1500).Draw(t, "budget"),
			Shortfall: rapid.SampledFrom([]Policy{Scale, Under}).Draw(t, "policy")}
		s, err := Select(all, &o)
		if err != nil {
			t.Fatal(err)
		}
		targets := make(map[string]int)
		sum := 0
		for name, share := range s.Sources {
			targets[name] = share.Target
			sum += share.Target
			largest := 0
			for _, u := range all {
				if u.Source == name {
					largest = max(largest, u.Tokens)
				}
			}
			if share.Tokens > share.Target || share.Available >= share.Target && share.Target > 0 && share.Tokens <= share.Target-largest &&
				share.Tokens < share.Available {
				t.Fatalf("%s: %+v, largest unit %d", name, share, largest)
			}
			if o.Shortfall == Scale && share.Available < share.Target {
				t.Fatalf("%s falls short of a scaled budget: %+v", name, share)
			}
		}
		if sum != s.Budget {
			t.Fatalf("parts %v add up to %d, not to %d", targets, sum, s.Budget)
		}
		got := ids(all, s.Picks)
		if want := slowSelect(all, o.Seed, targets); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		shuffled := slices.Clone(all)
		rand.New(rand.NewPCG(o.Seed, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		again, err := Select(shuffled, &o)
		if err != nil || !slices.Equal(ids(shuffled, again.Picks), got) {
			t.Fatalf("in another order: %v, %v, want %v", ids(shuffled, again.Picks), err, got)
		}
		if diff := gocmp.Diff(s.Sources, again.Sources); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Under a larger budget everything stays that a smaller one chose, with and without tiers and passes.
func TestLargerBudgetKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := anyUnits(t)
		o := Options{Seed: rapid.Uint64().Draw(t, "seed"), Shortfall: rapid.SampledFrom([]Policy{Under, Repeat}).Draw(t, "policy"),
			Epochs: map[string]int{"web": 2, "pdf": 3}}
		if rapid.Bool().Draw(t, "tiers") {
			o.Tiers = DefaultTiers()
		}
		o.Budget = rapid.IntRange(1, 1000).Draw(t, "budget")
		small, err := Select(all, &o)
		if err != nil {
			t.Fatal(err)
		}
		o.Budget += rapid.IntRange(1, 1000).Draw(t, "more")
		large, err := Select(all, &o)
		if err != nil {
			t.Fatal(err)
		}
		in := make(map[Pick]bool)
		for _, p := range large.Picks {
			in[p] = true
		}
		for _, p := range small.Picks {
			if !in[p] {
				t.Fatalf("%+v is gone", p)
			}
		}
	})
}

// Every beginning of the order has the tiers in proportion, each less than one and a half units off.
func TestTiersInProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := map[string]int{"source": rapid.IntRange(1, 9).Draw(t, "source"), "qa": rapid.IntRange(1, 9).Draw(t, "qa"),
			"traj": rapid.IntRange(1, 9).Draw(t, "traj")}
		var all []Unit
		sum := 0
		for _, tier := range slices.Sorted(maps.Keys(weights)) {
			sum += weights[tier]
			for i := range 30 {
				all = append(all, Unit{ID: fmt.Sprint(tier, i), Source: "web", Tier: tier, Tokens: 1})
			}
		}
		budget := rapid.IntRange(1, 30).Draw(t, "budget")
		s, err := Select(all, &Options{Budget: budget, Tiers: map[string]map[string]int{"web": weights}})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Picks) != budget {
			t.Fatalf("%d picks, want %d", len(s.Picks), budget)
		}
		for tier, got := range s.Sources["web"].Tiers {
			if want := float64(budget) * float64(weights[tier]) / float64(sum); math.Abs(float64(got.Units)-want) >= 1.5 {
				t.Fatalf("%d of %d units are of tier %q, whose weight is %d of %d", got.Units, budget, tier, weights[tier], sum)
			}
		}
	})
}

// Of tiers that are equally far behind comes first the one whose name does.
func TestEqualTiers(t *testing.T) {
	all := []Unit{{ID: "1", Source: "web", Tier: "b", Tokens: 1}, {ID: "2", Source: "web", Tier: "a", Tokens: 1}}
	s, err := Select(all, &Options{Budget: 1, Tiers: map[string]map[string]int{"web": {"a": 1, "b": 1}}})
	if err != nil || len(s.Picks) != 1 || s.Picks[0].Index != 1 {
		t.Errorf("%+v, %v, want the unit of tier a", s, err)
	}
}

func TestTiersThatAreAbsent(t *testing.T) {
	all := slices.Concat(units("web", 10, 1), units("code", 10, 1))
	for i := range all {
		all[i].Tier = []string{"source", "qa"}[i%2]
	}
	s, err := Select(all, &Options{Shares: map[string]int{"web": 1, "code": 1},
		Tiers: map[string]map[string]int{"web": {"source": 1, "qa": 0, "traj": 9}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`source "web" has no unit of tier "traj"; its weight of 9 goes to the others`}
	if !slices.Equal(s.Notes, want) || s.Budget != 10 {
		t.Errorf("budget %d, notes %q, want 10, %q", s.Budget, s.Notes, want)
	}
	if web := s.Sources["web"].Tiers; web["source"].Units != 5 || web["traj"] != (Tier{Want: 0.9}) || web["qa"].Units != 0 {
		t.Errorf("%+v", web)
	}
	if code := s.Sources["code"].Tiers; code["source"].Want != 689./999 || code["source"].Units+code["qa"].Units != 5 {
		t.Errorf("%+v", code)
	}
}

// A pass has each unit once, and the passes differ in their order.
func TestPasses(t *testing.T) {
	all := units("web", 50, 1)
	s, err := Select(all, &Options{Budget: 120, Shortfall: Repeat, Epochs: map[string]int{"web": 3}})
	if err != nil {
		t.Fatal(err)
	}
	var count [3]map[int]bool
	for _, p := range s.Picks {
		if count[p.Pass] == nil {
			count[p.Pass] = make(map[int]bool)
		}
		count[p.Pass][p.Index] = true
	}
	if len(s.Picks) != 120 || len(count[0]) != 50 || len(count[1]) != 50 || len(count[2]) != 20 {
		t.Errorf("%d picks, %d, %d, %d different ones", len(s.Picks), len(count[0]), len(count[1]), len(count[2]))
	}
	half, err := Select(all, &Options{Budget: 20})
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, p := range half.Picks {
		if count[2][p.Index] {
			same++
		}
	}
	if same == 20 {
		t.Error("the third pass begins with the units of the first")
	}
}

// Passes that are allowed and not needed cost nothing, whether or not tiers are kept.
func TestPassesAreMadeWhenNeeded(t *testing.T) {
	all := units("web", 10_000, 1)
	for i := range all {
		all[i].Tier = "qa"
	}
	for _, tt := range []struct {
		epochs int
		tiers  map[string]map[string]int
	}{{1000, nil}, {20, map[string]map[string]int{"web": {"qa": 1}}}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := Select(all, &Options{Budget: 15_000, Shortfall: Repeat, Epochs: map[string]int{"web": tt.epochs}, Tiers: tt.tiers})
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := s.Sources["web"]; got.Available != tt.epochs*10_000 || got.Units != 15_000 {
			t.Errorf("%+v, want %d passes of 10,000 to be there, and one and a half to be taken", got, tt.epochs)
		}
		if n := after.TotalAlloc - before.TotalAlloc; tt.tiers == nil && n > 8<<20 {
			t.Errorf("%d bytes for two passes of 10,000 units", n)
		}
	}
}

// With many small units the shares are met.
func TestShareError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all []Unit
	for i := range 8000 {
		source := sources[i%4]
		all = append(all, Unit{ID: fmt.Sprintf("%s/%d", source, i), Source: source, Tokens: 200 + r.IntN(1800)})
	}
	s, err := Select(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e := s.ShareError(); e > 0.002 || e == 0 {
		t.Errorf("shares are off by %v: %+v", e, s.Sources)
	}
	if e := new(Selection).ShareError(); e != 0 {
		t.Errorf("an empty selection is off by %v", e)
	}
}

// Files get about as many records each, and a record's file does not depend on anything but its ID, the seed and the number of files.
func TestShard(t *testing.T) {
	var counts [16]int
	for i := range 16_000 {
		id := fmt.Sprint("doc/", i)
		k := Shard(5, id, 16)
		if want := int(slowKey("midtool/1", "5", "shard", id) % 16); k != want {
			t.Fatalf("%s is in %d, want %d", id, k, want)
		}
		counts[k]++
	}
	for k, n := range counts {
		if n < 850 || n > 1150 { // 1000 and five standard deviations of 31
			t.Errorf("file %d has %d of 16000", k, n)
		}
	}
	for _, n := range []int{-1, 0, 1} {
		if got := Shard(5, "x", n); got != 0 {
			t.Errorf("of %d files: %d", n, got)
		}
	}
}

func TestShareOf(t *testing.T) {
	for kind, want := range map[string]string{"web": "web", "md": "web", "skill": "web", "code": "code", "pdf": "pdf", "native": "native"} {
		if got := ShareOf(kind); got != want {
			t.Errorf("%s counts for %s, want %s", kind, got, want)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			if n > 100_000 && testing.Short() {
				b.Skip("takes seconds")
			}
			all := make([]Unit, n)
			for i := range all {
				all[i] = Unit{ID: fmt.Sprintf("%s/%d", sources[i%4], i), Source: sources[i%4], Tokens: 1000}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Select(all, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/unit")
		})
	}
}
