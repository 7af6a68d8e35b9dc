package doubles

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSoundComponent(t *testing.T) {
	if err := soundComponent().Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// Each fault is caught by its rule and those declared, and each rule has a fault.
func TestComponentDoubles(t *testing.T) {
	broken := make(map[string]bool)
	for _, d := range components() {
		broken[d.Rule] = true
		if d.Text == "" {
			t.Errorf("%s: no text", d.Rule)
		}
		if err := d.Caught(t.Context()); err != nil {
			t.Errorf("%v\n%v", err, d.Check(t.Context()))
		}
	}
	for i := range 20 {
		if id := fmt.Sprintf("C%02d", i+1); !broken[id] {
			t.Errorf("no component breaks %s", id)
		}
	}
	if !slices.IsSortedFunc(components(), func(a, b Double) int { return strings.Compare(a.Rule, b.Rule) }) {
		t.Error("the doubles are not in the order of the rules")
	}
}
