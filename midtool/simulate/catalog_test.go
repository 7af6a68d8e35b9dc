package simulate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool"
)

// A stream of tools without end does not fill the memory, whatever their names.
func TestCatalogBounds(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int
		tool func(i int) midtool.Tool
	}{
		{"many", maxKept + 10, func(i int) midtool.Tool { return midtool.Tool{Name: "search", ID: fmt.Sprint(i)} }},
		{"large", 40, func(i int) midtool.Tool {
			pad := strings.Repeat("x", maxText/32)
			return midtool.Tool{Name: "search_shops", Parameters: json.RawMessage(fmt.Sprintf(`{"description":"%s%d"}`, pad, i))}
		}},
	} {
		var c catalog
		for i := range tt.n {
			given := tt.tool(i)
			made := c.get(&given)
			if i%4096 == 0 || i == tt.n-1 {
				if c.get(&given) != made {
					t.Fatalf("%s: tool %d was not kept", tt.name, i)
				}
				c.planOf("shop", []*tool{made})
			}
			if len(c.tools) > maxKept || c.toolText > maxText || len(c.plans) > maxKept || c.planText > maxText {
				t.Fatalf("%s: after %d: %d tools of %d bytes, %d plans of %d", tt.name, i, len(c.tools), c.toolText, len(c.plans), c.planText)
			}
			if i == tt.n-1 && len(c.tools) >= i {
				t.Errorf("%s: all are there", tt.name)
			}
		}
	}
}

// Plans are bounded by themselves: a few tools have many subsets.
func TestPlanBounds(t *testing.T) {
	var c catalog
	var tools []*tool
	pad := strings.Repeat("x", maxText/64)
	for i := range 8 {
		given := midtool.Tool{Name: "get_shop", Parameters: json.RawMessage(fmt.Sprintf(`{"description":"%s%d"}`, pad, i))}
		tools = append(tools, c.get(&given))
	}
	for subset := 1; subset < 1<<len(tools); subset++ {
		var some []*tool
		for i, tool := range tools {
			if subset>>i&1 == 1 {
				some = append(some, tool)
			}
		}
		p := c.planOf("shop", some)
		if again := c.planOf("shop", some); again != p {
			t.Fatalf("subset %b was not kept", subset)
		}
		if c.planText > maxText || len(c.plans) == subset && subset == 1<<len(tools)-1 {
			t.Fatalf("subset %b: %d plans of %d bytes", subset, len(c.plans), c.planText)
		}
	}
	if len(c.tools) != len(tools) {
		t.Errorf("%d tools, want %d: plans do not push them out", len(c.tools), len(tools))
	}
}

// Finding a tool again copies none of its schemas.
func TestCatalogFindsWithoutCopies(t *testing.T) {
	var c catalog
	given := midtool.Tool{Name: "get_shop", Parameters: json.RawMessage(`{"description":"` + strings.Repeat("x", 1000) + `"}`)}
	c.get(&given)
	if n := testing.AllocsPerRun(10, func() { c.get(&given) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
