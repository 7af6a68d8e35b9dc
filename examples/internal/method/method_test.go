package method

import (
	"strings"
	"testing"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/token"
)

func TestNew(t *testing.T) {
	batch := []rl.Trajectory{{Turns: []rl.Turn{{Reward: 1, End: rl.Terminated, Tokens: []rl.Token{{Trainable: true}}}}}}
	for _, m := range All() {
		for _, options := range []string{"", " ", "{}"} {
			e, err := New(m.Name, options)
			if err != nil {
				t.Fatal(err)
			}
			if c, err := e(nil, batch); err != nil || !c.Vote[0] {
				t.Errorf("%s: %+v, %v", m.Name, c, err)
			}
		}
	}
	e, err := New("grpo", `{"Norm": {"Singleton": "raw"}, "InvalidPenalty": 0}`)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := e(nil, batch); err != nil || c.Advantage[0] != 1 {
		t.Errorf("options are not used: %+v, %v", c, err)
	}
	for _, bad := range []struct{ name, options, want string }{
		{"grpoo", "", `no method "grpoo", want one of sapo, turn-gae, grpo`},
		{"grpo", `{"Nrom": {}}`, `unknown field "Nrom"`},
		{"grpo", `{"Norm": {"Std": "median"}}`, `Std is "median", want one of`},
		{"grpo", `{"InvalidPenalty": -1}`, "GRPOOptions.InvalidPenalty is -1"},
		{"grpo", `{} {}`, "something follows"},
		{"grpo", `[`, "options of grpo"},
	} {
		if _, err := New(bad.name, bad.options); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s %s: error %v, want %q", bad.name, bad.options, err, bad.want)
		}
	}
}

// Names stand for what they say.
func TestPresets(t *testing.T) {
	options := func(name string) any {
		m, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		_, o, err := m.Bind("")
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := options("dr-grpo").(*rl.GRPOOptions); o.Norm.Std != rl.StdNone {
		t.Errorf("dr-grpo: %+v", o)
	}
	if o := options("milegpo-webshop").(*rl.MileGPOOptions); !o.KeepBranch || *o.Mix != 1 {
		t.Errorf("milegpo-webshop: %+v", o)
	}
	if o := options("reinforce++-baseline").(*token.ReinforcePPOptions); !o.GroupBaseline {
		t.Errorf("reinforce++-baseline: %+v", o)
	}
	batch := []rl.Trajectory{{Turns: []rl.Turn{{Reward: 1, End: rl.Terminated, Tokens: []rl.Token{{Trainable: true}}}}}}
	for name, q := range map[string]bool{"sapo": true, "turn-gae": false} {
		e, err := New(name, "")
		if err != nil {
			t.Fatal(err)
		}
		if c, err := e(nil, batch); err != nil || (c.QTarget != nil) != q {
			t.Errorf("%s: targets of Q %v, %v", name, c.QTarget, err)
		}
	}
}
