package doubles

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness/envtest"
)

// Every rule has a double, every double a rule of the kit and a text of its own, and the order is that of the rules.
func TestEveryRuleHasADouble(t *testing.T) {
	place := map[string]int{}
	for i, r := range envtest.Rules() {
		place[r.ID] = i
	}
	last := -1
	kind := byte(0)
	seen, texts := map[string]bool{}, map[string]bool{}
	for _, d := range All() {
		i, ok := place[d.Rule]
		if !ok {
			t.Errorf("%s (%s) is no rule", d.Rule, d.Text)
			continue
		}
		if i < last && d.Rule[0] == kind {
			t.Errorf("%s (%s) comes after a later rule", d.Rule, d.Text)
		}
		last, kind = i, d.Rule[0]
		for _, also := range d.Also {
			if _, ok := place[also]; !ok || also == d.Rule {
				t.Errorf("%s (%s): also %q, want another rule", d.Rule, d.Text, also)
			}
		}
		if d.Text == "" || texts[d.Rule+d.Text] {
			t.Errorf("%s (%s): want a text that no other double has", d.Rule, d.Text)
		}
		seen[d.Rule], texts[d.Rule+d.Text] = true, true
	}
	for _, r := range envtest.Rules() {
		if !seen[r.ID] {
			t.Errorf("%s has no double: %s", r.ID, r.Text)
		}
	}
}

// Caught demands exactly the rules that are declared.
func TestCaught(t *testing.T) {
	broken := func(ids ...string) error {
		var all []error
		for _, id := range ids {
			all = append(all, envtest.Violation{Rule: id, Err: errors.New("found")})
		}
		return errors.Join(all...)
	}
	for _, tt := range []struct {
		name   string
		found  error
		also   []string
		ok     bool
		reason string
	}{
		{"exactly", broken("E05"), nil, true, "the rule alone"},
		{"wrapped", fmt.Errorf("check: %w", broken("E05")), nil, true, "errors are unwrapped"},
		{"twice", broken("E05", "E05"), nil, true, "a rule counts once"},
		{"also, in another order", broken("E03", "E05"), []string{"E03"}, true, "both are declared"},
		{"nothing", nil, nil, false, "the fault is not seen"},
		{"another", broken("E06"), nil, false, "the wrong rule reports it"},
		{"more", broken("E05", "E06"), nil, false, "E06 is not declared"},
		{"less", broken("E05"), []string{"E06"}, false, "E06 is declared and not broken"},
		{"no violation", errors.Join(broken("E05"), context.Canceled), nil, false, "the check did not come to its end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			d := Double{Rule: "E05", Text: "a fault", Also: tt.also, Check: func(context.Context) error { return tt.found }}
			err := d.Caught(t.Context())
			if (err == nil) != tt.ok {
				t.Errorf("%v, want ok %v (%s)", err, tt.ok, tt.reason)
			}
			if err != nil && !strings.Contains(err.Error(), "E05 (a fault)") {
				t.Errorf("%q does not name the double", err)
			}
		})
	}
}
