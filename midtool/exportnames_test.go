package midtool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"pgregory.net/rapid"
)

func TestExportNames(t *testing.T) {
	tools := []Tool{{ID: "3", Name: "a.b"}, {ID: "1", Name: "a b"}, {ID: "2", Name: "a_b"}, {ID: "4", Name: strings.Repeat("x", 70)}, {ID: "5", Name: strings.Repeat("x", 66)}}
	ExportNames(pointers(tools))
	var got []string
	for _, t := range tools {
		got = append(got, t.Name+"<"+t.Original)
	}
	want := []string{"a_b_3<a.b", "a_b_2<a b", "a_b<", strings.Repeat("x", 64) + "<" + strings.Repeat("x", 70), strings.Repeat("x", 62) + "_2<" + strings.Repeat("x", 66)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// In every offered set the exported names pass the lint and differ, and the original is kept where it changed.
func TestExportNamesOneToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfN(rapid.OneOf(rapid.StringN(1, 80, -1), rapid.SampledFrom([]string{"a.b", "a b", "a_b", "a_b_2", "ä_b", "a_b_3"})), 1, 12).Draw(t, "names")
		tools := make([]Tool, len(given))
		for i, n := range given {
			tools[i] = Tool{ID: fmt.Sprint(i), Name: n}
		}
		ExportNames(pointers(tools))
		seen := make(map[string]bool)
		for i, x := range tools {
			if !names.Exportable(x.Name) || seen[x.Name] || x.Name != given[i] && x.Original != given[i] || x.Name == given[i] && x.Original != "" {
				t.Fatalf("%q became %+v", given[i], x)
			}
			seen[x.Name] = true
		}
	})
}

func pointers(tools []Tool) []*Tool {
	out := make([]*Tool, len(tools))
	for i := range tools {
		out[i] = &tools[i]
	}
	return out
}
