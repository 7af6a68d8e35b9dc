package rl

import (
	"encoding"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every value has a name that comes back as the value, and no other text does.
func TestEnumText(t *testing.T) {
	type enum interface {
		fmt.Stringer
		encoding.TextMarshaler
	}
	tests := []struct {
		kind  string
		of    func(uint8) enum
		set   encoding.TextUnmarshaler
		names []string
	}{
		{"End", func(x uint8) enum { return End(x) }, new(End), []string{"continue", "terminated", "truncated"}},
		{"Std", func(x uint8) enum { return Std(x) }, new(Std), []string{"default", "sample", "population", "none", "off"}},
		{"EpsPlace", func(x uint8) enum { return EpsPlace(x) }, new(EpsPlace), []string{"default", "added", "inside sqrt"}},
		{"Singleton", func(x uint8) enum { return Singleton(x) }, new(Singleton), []string{"zero", "raw", "error"}},
		{"Truncation", func(x uint8) enum { return Truncation(x) }, new(Truncation), []string{"default", "bootstrap", "terminal", "drop"}},
		{"Scope", func(x uint8) enum { return Scope(x) }, new(Scope), []string{"group", "batch", "group mean, batch std"}},
		{"Stage", func(x uint8) enum { return Stage(x) }, new(Stage), []string{"PCC", "RCS", "MD", "PCC uniform"}},
	}
	for _, tt := range tests {
		for x, name := range tt.names {
			e := tt.of(uint8(x))
			text, err := e.MarshalText()
			err2 := tt.set.UnmarshalText([]byte(name))
			if got := fmt.Sprint(tt.set); err != nil || err2 != nil || string(text) != name || e.String() != name || got != name {
				t.Errorf("%s %d: %q, %v, back %v, %v, want %q", tt.kind, x, text, err, got, err2, name)
			}
		}
		n := uint8(len(tt.names))
		if _, err := tt.of(n).MarshalText(); err == nil || tt.of(n).String() != fmt.Sprintf("%s(%d)", tt.kind, n) {
			t.Errorf("%s %d has text, or the string %q", tt.kind, n, tt.of(n))
		}
		for _, bad := range []string{"", strings.ToUpper(tt.names[1]) + "x", "1", strings.Repeat("x", 1000)} {
			if err := tt.set.UnmarshalText([]byte(bad)); err == nil || len(err.Error()) > 200 {
				t.Errorf("%s, %.10q: error %v", tt.kind, bad, err)
			}
		}
	}
}

// Options can be kept as JSON.
func TestOptionsJSON(t *testing.T) {
	o := MileGPOWebShop()
	o.Stage, o.Norm.Singleton = StageRCS, SingletonRaw
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	got := new(MileGPOOptions)
	if err := json.Unmarshal(b, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`{"Norm":{"Std":"median"}}`), got); err == nil || !strings.Contains(err.Error(), `want one of ["default"`) {
		t.Errorf("unknown name: %v", err)
	}
}
