package midtool

import (
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/names"
)

// ExportNames renames the tools of one offered set so that all names match [A-Za-z0-9_-]{1,64}, as trainers and model APIs
// ask, and differ. Other characters become "_" and long names are cut. Of equal names the smallest ID keeps it, the others
// get _2, _3, ... in the order of the IDs; an untouched name is never taken by a renamed tool. A renamed tool has its old
// name in Original. It reports whether any name changed; the order of the tools does not matter where their IDs differ.
func ExportNames(tools []*Tool) (changed bool) {
	if allExportable(tools) {
		return false
	}
	order := slices.Clone(tools)
	slices.SortStableFunc(order, func(a, b *Tool) int { return strings.Compare(a.ID, b.ID) })
	used := make(map[string]bool, len(order))
	var clash []*Tool
	for _, t := range order { // names that need no change come first
		if names.Exportable(t.Name) && !used[t.Name] {
			used[t.Name] = true
		} else {
			clash = append(clash, t)
		}
	}
	next := make(map[string]int) // number to try, by name, so that many equal names take linear time
	for _, t := range clash {
		base := names.ExportName(t.Name)
		if base == "" {
			base = "_"
		}
		name := base
		for k := max(2, next[base]); used[name]; k++ {
			suffix := "_" + strconv.Itoa(k)
			name = base[:min(len(base), 64-len(suffix))] + suffix
			next[base] = k + 1
		}
		used[name] = true
		t.Original, t.Name = t.Name, name
	}
	return len(clash) > 0
}

// allExportable holds for nearly all sets.
func allExportable(tools []*Tool) bool {
	if len(tools) > 64 {
		return false // a map is faster
	}
	for i, t := range tools {
		if !names.Exportable(t.Name) || slices.ContainsFunc(tools[:i], func(o *Tool) bool { return o.Name == t.Name }) {
			return false
		}
	}
	return true
}
