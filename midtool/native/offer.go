package native

import (
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/names"
)

// exportNames renames the tools of one offered set so that all names are exportable and differ. Of equal names the
// smallest ID keeps it, the others get _2, _3, ... in ID order; an untouched name is never taken by a renamed tool.
func exportNames(tools []midtool.Tool) {
	order := make([]int, len(tools))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(tools[a].ID, tools[b].ID) })
	used := make(map[string]bool)
	claim := func(i int, name string) {
		used[name] = true
		if name != tools[i].Name {
			tools[i].Original, tools[i].Name = tools[i].Name, name
		}
	}
	var clash []int
	for _, i := range order { // names that need no change come first
		if n := tools[i].Name; names.Exportable(n) && !used[n] {
			claim(i, n)
		} else {
			clash = append(clash, i)
		}
	}
	for _, i := range clash {
		base := names.ExportName(tools[i].Name)
		name := base
		for k := 2; used[name]; k++ {
			suffix := "_" + strconv.Itoa(k)
			name = base[:min(len(base), 64-len(suffix))] + suffix
		}
		claim(i, name)
	}
}
