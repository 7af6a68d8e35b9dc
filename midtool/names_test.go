package midtool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWordsAndMeaning(t *testing.T) {
	for _, tt := range []struct{ name, words, class, stem string }{ // spec 3.5
		{"get_user_by_id", "get user by id", "get", "user"}, {"listAllCategories", "list all categories", "list", "category"},
		{"API-delete-boxes", "api delete boxes", "delete", "api box"}, {"weatherStatus", "weather status", "", "weather status"},
		{"web.search_v2", "web search v2", "search", "web v2"}, {"createÄpfel", "create äpfel", "create", "äpfel"}, {"___", "", "", ""},
	} {
		m := meaningOf(tt.name)
		if got := strings.Join(words(tt.name), " "); got != tt.words || string(m.class) != tt.class || m.stem != tt.stem {
			t.Errorf("%s: %q %q %q, want %q %q %q", tt.name, got, m.class, m.stem, tt.words, tt.class, tt.stem)
		}
	}
}

func TestExportNames(t *testing.T) {
	tools := []Tool{{ID: "3", Name: "a.b"}, {ID: "1", Name: "a b"}, {ID: "2", Name: "a_b"}, {ID: "4", Name: strings.Repeat("x", 70)}, {ID: "5", Name: strings.Repeat("x", 66)}}
	exportNames(tools)
	var got []string
	for _, t := range tools {
		got = append(got, t.Name+"<"+t.Original)
	}
	want := []string{"a_b_3<a.b", "a_b_2<a b", "a_b<", strings.Repeat("x", 64) + "<" + strings.Repeat("x", 70), strings.Repeat("x", 62) + "_2<" + strings.Repeat("x", 66)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// P4: in every offered set the exported names pass the lint and differ, and the original is kept where it changed.
func TestExportNamesOneToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.OneOf(rapid.StringN(1, 80, -1), rapid.SampledFrom([]string{"a.b", "a b", "a_b", "a_b_2", "ä_b", "a_b_3"})), 1, 12).Draw(t, "names")
		tools := make([]Tool, len(names))
		for i, n := range names {
			tools[i] = Tool{ID: fmt.Sprint(i), Name: n}
		}
		exportNames(tools)
		seen := make(map[string]bool)
		for i, x := range tools {
			if !exportable(x.Name) || seen[x.Name] || x.Name != names[i] && x.Original != names[i] || x.Name == names[i] && x.Original != "" {
				t.Fatalf("%q became %+v", names[i], x)
			}
			seen[x.Name] = true
		}
	})
}
