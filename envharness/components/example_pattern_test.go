package components_test

import (
	"encoding/json"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

func ExampleMatch_Fits() {
	m := components.Match{Tool: "open_*", Args: map[string]any{"door": "red"}}
	for _, args := range []string{`{"slowly":true,"door":"red"}`, `{"door":"blue"}`, `{}`} {
		fmt.Println(m.Fits(envharness.Action{Name: "open_with_key", Args: json.RawMessage(args)}))
	}
	// Output:
	// true
	// false
	// false
}
