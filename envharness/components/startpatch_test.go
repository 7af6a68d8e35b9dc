package components_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A till holds coins; only coins may be patched, and won is graded.
type till struct {
	state tillState
}

type tillState struct {
	Coins []any `json:"coins"`
	Won   bool  `json:"won"`
	Name  any   `json:"name"`
}

func (t *till) show() envharness.Observation {
	raw, _ := json.Marshal(t.state)
	return envharness.Observation{Text: string(raw)}
}

func (t *till) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	t.state = tillState{Coins: []any{1.0, 2.0}, Name: "till"}
	return t.show(), nil
}

func (t *till) Step(context.Context, envharness.Action) (envharness.Transition, error) {
	return envharness.Transition{Observation: t.show()}, nil
}

func (t *till) Close() error { return nil }

func (t *till) Observe(context.Context) (envharness.Observation, error) { return t.show(), nil }

func (t *till) Snapshot(context.Context) (envharness.State, error) { return json.Marshal(t.state) }

func (t *till) Restore(_ context.Context, s envharness.State) error {
	return json.Unmarshal(s, &t.state)
}

func (t *till) Describe() envharness.Description {
	return envharness.Description{Mutable: []string{"/coins", "/won"}, Graded: []string{"won"}}
}

// blind hides that a till can be restored.
type blind struct{ till envharness.Environment }

func (b blind) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	return b.till.Reset(ctx, o)
}

func (b blind) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	return b.till.Step(ctx, a)
}

func (b blind) Close() error { return b.till.Close() }

func (b blind) Describe() envharness.Description { return (&till{}).Describe() }

func tillWorld(env envharness.Environment) envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return env, nil },
		Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

func set(pairs ...string) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage)
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return out
}

func TestStartPatch(t *testing.T) {
	tests := []struct {
		name   string
		set    map[string]json.RawMessage
		env    envharness.Environment
		want   string // of the first observation, empty if the reset fails
		start  bool   // fails with ErrStart, not at the beginning of the component
		reason string
	}{
		{"item", set("/coins/1", "50"), &till{}, `{"coins":[1,50],"won":false,"name":"till"}`, false, "below what is mutable"},
		{"list", set("/coins", `[5,null,"x"]`), &till{}, `{"coins":[5,null,"x"],"won":false,"name":"till"}`, false, "what is mutable itself"},
		{"two", set("/coins/0", "7", "/coins/1", "8"), &till{}, `{"coins":[7,8],"won":false,"name":"till"}`, false, "together"},
		{"none", nil, blind{&till{}}, `{"coins":[1,2],"won":false,"name":"till"}`, false, "an empty set is no edit and asks for nothing"},
		{"not mutable", set("/name", `"x"`), &till{}, "", true, "only coins and won are"},
		{"graded", set("/won", "true"), &till{}, "", true, "mutable, but graded"},
		{"beside", set("/coins2", "1"), &till{}, "", true, "a longer name is another place"},
		{"absent", set("/coins/2", "1"), &till{}, "", true, "the place must exist"},
		{"blind", set("/coins/0", "1"), blind{&till{}}, "", true, "needs a Snapshotter and an Observer"},
	}
	for _, tt := range tests {
		c := components.StartPatch{Set: tt.set}
		h, err := envharness.New(tillWorld(tt.env), c)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			o, err := h.Reset(t.Context(), envharness.ResetOptions{})
			if o.Text != tt.want || (err == nil) != (tt.want != "") || errors.Is(err, envharness.ErrStart) != tt.start {
				t.Errorf("%s: %s, %v (%s)", tt.name, o.Text, err, tt.reason)
			}
		}
	}
}

func TestStartPatchCheck(t *testing.T) {
	for name, s := range map[string]map[string]json.RawMessage{
		"empty pointer": set("", "1"),
		"no slash":      set("coins", "1"),
		"tilde":         set("/a~", "1"),
		"no JSON":       set("/coins", "{"),
		"no value":      set("/coins", ""),
		"inside":        set("/coins", "[]", "/coins/0", "1"),
	} {
		if err := (components.StartPatch{Set: s}).Check(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func ExampleStartPatch() {
	h, err := envharness.New(tillWorld(&till{}), components.StartPatch{Set: map[string]json.RawMessage{"/coins/0": json.RawMessage("20")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	o, err := h.Reset(context.Background(), envharness.ResetOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.Text)
	// Output: {"coins":[20,2],"won":false,"name":"till"}
}
