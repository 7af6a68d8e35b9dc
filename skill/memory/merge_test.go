package memory

import (
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/skill"
)

// For any two bodies: no note of the stored one is lost or moved, every note of the other is there, the procedure is that of the newer
// one that has one, and merging again changes nothing. A stored body in a form of its own keeps its text, and its procedure if it has one.
func FuzzMergeBodies(f *testing.F) {
	for _, s := range [][2]string{
		{"- Procedure: a → b\n- token is a dict\n", "- Procedure: a → c → b\n-  Token is a  dict\n- code 422 if empty\n"},
		{"text before\n- x\n", "- procedure: ->\n* X\n"},
		{"", ""}, {"- x", ""}, {"", "- x\n- X"}, {"- Procedure: a\n- procedure: b", "- procedure: b\n"}, {"\u212a", "- k"}, {"- a\u00a0b", "- a b"}, {"- =>", "- →"},
		{"# Shop\n\nLog in first.\n\n```sh\ncurl x\n```\n", "- Procedure: a → b\n- log in first.\n- wait\n"}, {"1. x\n2. y", "- Procedure: a"},
		{"- Procedure: a → b\n  - nested\n", "- Procedure: c\n- x"}, {"* x\n\n\n", "- y\n"}, {"- procedure:\n\ttab\r\n", "- procedure: b"},
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
		free := strings.TrimSpace(old.String()) != strings.TrimSpace(stored)
		if free && !strings.HasPrefix(merged, stored) || free && !changed && merged != stored {
			t.Fatalf("the text %q became %q", stored, merged)
		}
		procedure := old.Procedure
		if len(add.Procedure) > 0 && !(free && len(procedure) > 0) {
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

// Markdown written by hand is not flattened: it keeps every byte, and what is new stands behind it as bullets.
func TestMergeKeepsMarkdown(t *testing.T) {
	const page = "# Shop\n\nLog in first:\n\n1. open the page\n2. type the password\n\n```sh\ncurl  x\n```\n\n| a | b |\n|---|---|\n"
	for _, tt := range []struct{ name, stored, other, want, reason string }{
		{"page", page, "- Procedure: a → b\n- wait for the cart\n", page + "\n- Procedure: a → b\n- wait for the cart\n", "it has no procedure"},
		{"own procedure", page + "\n* procedure: x -> y\n", "- Procedure: a → b\n- wait\n", page + "\n* procedure: x -> y\n" + "\n- wait\n", "it keeps the one that it has"},
		{"seen", "Wait for\nthe cart.", "- wait for the CART.\n", "Wait for\nthe cart.", "the note is there already"},
		{"no line end", "Wait.", "- x\n", "Wait.\n\n- x\n", "a blank line comes between"},
		{"nested", "- a\n  - b\n", "- x\n", "- a\n  - b\n\n- x\n", "a list in a list is a form of its own"},
		{"canonical", "- Procedure: a\n- x", "- Procedure: b\n- y\n", "- Procedure: b\n- x\n- y\n", "but for the last line end it is what TextBody writes"},
		{"blank", " \n", "- Procedure: b\n- y\n", "- Procedure: b\n- y\n", "there is nothing to keep"},
	} {
		if tt.reason == "" {
			t.Fatalf("%s: no reason", tt.name)
		}
		got, changed := mergeBodies(tt.stored, tt.other)
		if got != tt.want || changed != (tt.want != tt.stored) {
			t.Errorf("%s: %q, changed %v, want %q: %s", tt.name, got, changed, tt.want, tt.reason)
		}
	}
}

// Large origins do not grow a skill beyond what a file can hold: the last ones stay.
func TestLastOrigins(t *testing.T) {
	large := func(i int) skill.Origin {
		return skill.Origin{Trajectory: strings.Repeat(string(rune('a'+i)), 100_000), End: 1}
	}
	var all []skill.Origin
	for i := range 20 {
		all = append(all, large(i))
	}
	if got := lastOrigins(all); len(got) != 10 || got[9].Trajectory != all[19].Trajectory {
		t.Errorf("%d of 20 origins of 100 kB stay, want the last 10", len(got))
	}
	if got := lastOrigins([]skill.Origin{{Trajectory: strings.Repeat("x", 2<<20)}}); len(got) != 0 {
		t.Errorf("%d origins of 2 MiB stay", len(got))
	}
	if got := lastOrigins(all[:3]); len(got) != 3 {
		t.Errorf("%d of 3 small origins stay", len(got))
	}
}
