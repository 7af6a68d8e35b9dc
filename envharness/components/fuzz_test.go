package components_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness/components"
)

// Whatever the bytes, Decode does not panic. What it accepts encodes to the canonical form of the bytes, decodes from that to the same, has
// a hash and can be built.
func FuzzDecodeSpec(f *testing.F) {
	for _, seed := range []string{
		file(tallyEnv, `[]`),
		stacked(blockFile, entry("step_budget", `{"turns":2}`)),
		stacked(entry("start_replay", `{"actions":[{"name":"add","args":{"n":1.0}}],"aid":true}`)),
		stacked(entry("permission", `{"grant":{"tool":"get","args":{"<":[null,1e3,"é\ud800"]}}}`)),
		file(chainOf(`{"carry":0}`, tallyLeg, leg(tallyEnv, "["+blockFile+"]")), "["+blockFile+"]"),
		file(chainOf(`{}`, leg(chainOf(`{}`, tallyLeg, tallyLeg), `[]`), tallyLeg), `[]`),
		bare(`7`, `18446744073709551615`),
		bare(`"env"`, `"meta":{"a":[-0,1e400,"\u2028"]},"env"`),
		bare(`"env"`, `"stack":null,"Env"`),
		file(tallyEnv, `[]`) + `}`,
	} {
		f.Add([]byte(seed))
	}
	r := withTally(f, components.Catalogue())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := r.Decode(data)
		if err != nil {
			return
		}
		raw, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if want := canonical(t, string(data)); string(raw) != want {
			t.Fatalf("\n got %s\nwant %s", raw, want)
		}
		again, err := r.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s, again); d != "" {
			t.Fatalf("(-first +again):\n%s", d)
		}
		if _, err := s.Hash(); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := r.Build(s); err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever the parameters, no kind panics, and what it builds has parameters from which it builds the same again.
func FuzzKindParams(f *testing.F) {
	all := kinds()
	for i, k := range all {
		for _, params := range built(f, k) {
			f.Add(uint8(i), []byte(params))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, params []byte) {
		k := all[int(which)%len(all)]
		c, err := k.New(json.RawMessage(params))
		if err != nil {
			return
		}
		first := c.Spec()
		again, err := k.New(first.Params)
		if err != nil {
			t.Fatalf("%s %s: its own parameters %s: %v", k.Tag, params, first.Params, err)
		}
		if d := cmp.Diff(first, again.Spec()); d != "" {
			t.Fatalf("%s %s: no fixed point (-first +again):\n%s", k.Tag, params, d)
		}
	})
}
