package memory

import (
	"slices"
	"testing"

	"github.com/throughline-go/throughline/skill"
)

// For any two bodies: no note of the stored one is lost or moved, every note of the other is there, the procedure is that of the newer
// one that has one, and merging again changes nothing.
func FuzzMergeBodies(f *testing.F) {
	for _, s := range [][2]string{
		{"- Procedure: a → b\n- token is a dict\n", "- Procedure: a → c → b\n-  Token is a  dict\n- code 422 if empty\n"},
		{"text before\n- x\n", "- procedure: ->\n* X\n"},
		{"", ""}, {"- x", ""}, {"", "- x\n- X"}, {"- Procedure: a\n- procedure: b", "- procedure: b\n"}, {"\u212a", "- k"}, {"- a\u00a0b", "- a b"}, {"- =>", "- →"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, stored, other string) {
		merged, changed := mergeBodies(stored, other)
		old, add, got := skill.ParseTextBody(stored), skill.ParseTextBody(other), skill.ParseTextBody(merged)
		if len(got.Notes) < len(old.Notes) || !slices.Equal(got.Notes[:len(old.Notes)], old.Notes) {
			t.Fatalf("notes %q became %q", old.Notes, got.Notes)
		}
		keys := make(map[string]bool)
		for _, n := range got.Notes {
			keys[noteKey(n)] = true
		}
		for _, n := range add.Notes {
			if !keys[noteKey(n)] {
				t.Fatalf("note %q is not in %q", n, got.Notes)
			}
		}
		procedure := old.Procedure
		if len(add.Procedure) > 0 {
			procedure = add.Procedure
		}
		if !slices.Equal(procedure, got.Procedure) {
			t.Fatalf("procedure is %q, want %q", got.Procedure, procedure)
		}
		if !changed && len(got.Notes) != len(old.Notes) {
			t.Fatalf("%d notes became %d without a change", len(old.Notes), len(got.Notes))
		}
		if again, changed := mergeBodies(merged, other); changed || again != merged {
			t.Fatalf("merging again makes %q of %q", again, merged)
		}
	})
}
