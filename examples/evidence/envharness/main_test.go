package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// Each fault of others has the right behaviour here.
func TestWeaknesses(t *testing.T) {
	for _, list := range [][]weakness{referenceFaults(), peerFaults(), vectorFaults()} {
		for _, w := range list {
			t.Run(w.Source, func(t *testing.T) {
				if err := w.Check(t.Context()); err != nil {
					t.Errorf("%s: %v", w.Fault, err)
				}
			})
		}
	}
}

// The recorded episodes replay step by step but for the documented differences, and the oracle agrees on every hand.
func TestGolden(t *testing.T) {
	got, err := runGolden(t.Context(), os.Getenv("THROUGHLINE_DATA"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Skipped != "" {
		t.Skip(got.Skipped)
	}
	want := goldenResult{
		Episodes: 126, Equal: 94, Documented: 32, Steps: 750, Hands: 1820, Solvable: 1362,
		Strict: strictCount{LoosePasses: 1, Passes: 0}, // the one success has 24 among three numbers
		Stacks: []stackRow{
			{Stack: "none", Episodes: 21, Equal: 21, Steps: 160, Refused: 101},
			{Stack: "setup", Episodes: 21, Equal: 21, Steps: 145, Refused: 94},
			{Stack: "block_div", Episodes: 21, Equal: 21, Steps: 152, Blocked: 31, Refused: 96},
			{Stack: "hide_history", Episodes: 21, Equal: 10, EndShown: 11, Steps: 155, Refused: 93},
			{Stack: "block_div+setup", Episodes: 21, Equal: 21, Steps: 138, Blocked: 20, Refused: 100},
			{Stack: "setup+block_div", Episodes: 21, Order: 21},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestGoldenWithoutData(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		got, err := runGolden(t.Context(), dir)
		if err != nil || got.Skipped == "" || got.Episodes != 0 {
			t.Errorf("%q: %+v, %v", dir, got, err)
		}
	}
}

// Every kind has parameters here, and no parameters are left over.
func TestEveryKindIsChecked(t *testing.T) {
	kinds := components.Catalogue().Kinds()
	for _, k := range kinds {
		if c, err := componentCheck(k); err != nil || c.New == nil {
			t.Errorf("%s: %v", k.Tag, err)
		}
	}
	if len(kinds) != 22 || len(kindParams) != len(kinds)-1 { // a chain is a world
		t.Errorf("%d kinds, parameters for %d", len(kinds), len(kindParams))
	}
}

// Every reference world goes through the kit, and all that does keeps its rules.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("the packages of the worlds and components run the kit themselves")
	}
	r, err := runConformance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := len(worlds.All()) + 1 // and the loose game
	if r.Envs != n || r.Verifiers != n || r.Components != len(components.Catalogue().Kinds()) || r.Runners != 1 || r.Failed != 0 {
		t.Errorf("want %d worlds: %+v", n, r)
	}
}

// What failed is counted, named, and fails the program.
func TestFailure(t *testing.T) {
	var e evidence
	if err := e.failure(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*evidence){
		"checks of conformance": func(e *evidence) {
			e.Conformance.note("x", components.Block{Tools: []string{"["}}.Check())
		},
		"doubles": func(e *evidence) { e.Doubles = doublesResult{Doubles: 2, Caught: 1, Failures: []string{"left"}} },
		"weaknesses": func(e *evidence) {
			e.Weaknesses = weaknessResult{Cases: 1, Rows: []caseRow{{Source: "s", Fault: "f", Error: "left"}}}
		},
		"golden episodes": func(e *evidence) { e.Golden.Failures = []string{"left"} },
		"hands":           func(e *evidence) { e.Golden.HandsDiffer = 1 },
	} {
		bad := e
		spoil(&bad)
		if err := bad.failure(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		var out bytes.Buffer
		if err := bad.write(&out, false); err != nil {
			t.Error(err)
		}
		if name != "hands" && !strings.Contains(out.String(), "FAILED") {
			t.Errorf("%s: the table does not say so:\n%s", name, out.String())
		}
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := (&evidence{}).write(&out, true); err != nil {
		t.Fatal(err)
	}
	var got map[string]map[string]any
	if err := json.Unmarshal(bytes.Replace(out.Bytes(), []byte(`"quick": false,`), nil, 1), &got); err != nil {
		t.Fatal(err)
	}
	for part, keys := range map[string]string{
		"conformance": "envs components verifiers rules failed", "doubles": "rules caught", "weaknesses": "cases held",
		"golden": "episodes equal documented_differences", "overhead": "ns_per_component",
	} {
		for key := range strings.FieldsSeq(keys) {
			if _, ok := got[part][key]; !ok {
				t.Errorf("%s has no %s", part, key)
			}
		}
	}
}
