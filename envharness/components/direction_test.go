package components_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness/components"
)

func TestDirectionText(t *testing.T) {
	for _, tt := range []struct {
		text   string
		want   components.Direction
		fault  string // in the error of UnmarshalText; empty: none
		reason string
	}{
		{"", 0, "", "the empty set"},
		{"harder", components.Harder, "", "one"},
		{"easier", components.Easier, "", "one"},
		{"neutral", components.Neutral, "", "one"},
		{"harder|easier", components.Harder | components.Easier, "", "a set, in the order of the bits"},
		{"harder|easier|neutral", 7, "", "all"},
		{"neutral|harder", components.Harder | components.Neutral, "", "the order does not matter to a reader"},
		{"harder|harder", 0, `"harder" is given twice`, "a set has no repeats"},
		{"Harder", 0, `"Harder" is none of harder, easier, neutral`, "names have a case"},
		{"harder|", 0, `"" is none of`, "nothing is no direction next to one"},
		{"harder, easier", 0, "is none of", "another mark between them"},
		{"1", 0, "is none of", "no number"},
		{strings.Repeat("x", 500), 0, "...", "errors stay short"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.text)
		}
		const before = components.Neutral
		got := before
		err := got.UnmarshalText([]byte(tt.text))
		if (err == nil) != (tt.fault == "") || err != nil && (!strings.Contains(err.Error(), tt.fault) || len(err.Error()) > 200) {
			t.Errorf("%q: %v, want %q (%s)", tt.text, err, tt.fault, tt.reason)
		}
		if err != nil {
			if got != before {
				t.Errorf("%q: %v beside the error", tt.text, got)
			}
			continue
		}
		if got != tt.want {
			t.Errorf("%q: %d, want %d (%s)", tt.text, got, tt.want, tt.reason)
		}
	}
	for d := range components.Direction(8) {
		raw, err := json.Marshal(struct{ D components.Direction }{d})
		if want := `{"D":"` + d.String() + `"}`; err != nil || string(raw) != want {
			t.Errorf("%d: %s, %v, want %s", d, raw, err, want)
		}
	}
	for _, d := range []components.Direction{8, 9, 255} {
		if raw, err := json.Marshal(d); err == nil {
			t.Errorf("%d has a bit without a name and is written as %s", d, raw)
		}
	}
	if got := components.Direction(9).String(); got != "harder|Direction(8)" {
		t.Errorf("%q", got)
	}
}

// What is read is written in one way, which is read as the same.
func FuzzDirection(f *testing.F) {
	for _, seed := range []string{"", "harder", "easier|harder", "neutral|neutral", "|", "harder|easier|neutral|", "HARDER"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var d, again components.Direction
		if d.UnmarshalText(text) != nil {
			return
		}
		out, err := d.MarshalText()
		if err != nil || again.UnmarshalText(out) != nil || again != d || len(out) != len(text) {
			t.Fatalf("%q is %d, written as %q (%v), read as %d", text, d, out, err, again)
		}
	})
}
