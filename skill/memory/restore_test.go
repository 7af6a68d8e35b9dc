package memory_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/memory"
)

// What was removed together comes back in reverse order, and in no order does a stored function call a removed one that could be there.
func TestRestoreCallees(t *testing.T) {
	each(t, &memory.Options{Format: skill.FormatCode, MergeSim: new(1.0)}, func(t *testing.T, m *memory.Memory) {
		must[memory.Entry](t)(m.Put(t.Context(), code("last_order", "read the last order", "print")))
		must[memory.Entry](t)(m.Put(t.Context(), code("pay_order", "pay for it", "last_order", "confirm")))
		must[memory.Entry](t)(m.Put(t.Context(), code("confirm", "say yes", "pay_order")))
		must[memory.Entry](t)(m.Put(t.Context(), code("shop", "buy a kettle", "pay_order", "last_order")))
		removed := must[[]string](t)(m.Remove(t.Context(), "last-order", "crm is gone"))
		if diff := cmp.Diff([]string{"shop", "confirm", "pay-order", "last-order"}, removed); diff != "" {
			t.Fatalf("removed (-want +got):\n%s", diff)
		}
		for name, want := range map[string]string{
			"last-order": "crm is gone", "pay-order": "calls last_order, removed: crm is gone",
			"shop": "calls last_order, removed: crm is gone", "confirm": "calls pay_order, removed: crm is gone",
		} {
			if h := must[[]memory.Version](t)(m.History(t.Context(), name)); h[0].Removed != want {
				t.Errorf("%s was removed because %q, want %q", name, h[0].Removed, want)
			}
		}
		for name, want := range map[string]string{
			"shop":      `memory: version 1 of "shop" calls removed functions: restore "last-order", "pay-order" first`,
			"pay-order": `memory: version 1 of "pay-order" calls removed functions: restore "last-order" first`,
		} {
			if _, err := m.Restore(t.Context(), name, 1); err == nil || err.Error() != want {
				t.Errorf("%s alone: %v, want %s", name, err, want)
			}
		}
		if m.Len() != 0 {
			t.Errorf("%q came back", list(m))
		}
		slices.Reverse(removed)
		for _, name := range removed {
			must[memory.Entry](t)(m.Restore(t.Context(), name, 1))
		}
		if m.Len() != len(removed) {
			t.Errorf("back are %q", list(m))
		}

		// An old version of a current skill is bound by the same rule.
		must[memory.Entry](t)(m.Supersede(t.Context(), "shop", 2, code("shop", "buy a kettle")))
		must[[]string](t)(m.Remove(t.Context(), "last-order", "crm is gone"))
		if _, err := m.Restore(t.Context(), "shop", 2); err == nil || !strings.Contains(err.Error(), `"last-order"`) {
			t.Errorf("a version of a current skill: %v", err)
		}
	})
}

// The error of a restore ends with its context.
func TestRestoreCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := must[*memory.Memory](t)(memory.New(t.Context(), &memory.Options{Format: skill.FormatCode}))
	if m.Format() != skill.FormatCode {
		t.Errorf("the format is %v", m.Format())
	}
	must[memory.Entry](t)(m.Put(ctx, code("f", "wash the car", "g")))
	must[memory.Entry](t)(m.Put(ctx, code("g", "feed the cat")))
	must[[]string](t)(m.Remove(ctx, "g", ""))
	cancel()
	if _, err := m.Restore(ctx, "f", 1); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("%v", err)
	}
}
