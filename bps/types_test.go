package bps

import (
	"encoding/json"
	"fmt"
	"testing"
)

// Every mode has a name that JSON keeps; what is no mode, or no name of one, is an error.
func TestModeText(t *testing.T) {
	for _, mode := range allModes {
		out, err := json.Marshal(Guarantee{Mode: mode})
		var back Guarantee
		if err != nil || json.Unmarshal(out, &back) != nil || back.Mode != mode {
			t.Errorf("%v: %s, %v, read as %v", mode, out, err, back.Mode)
		}
	}
	for _, bad := range []Mode{-1, Exact + 1} {
		if out, err := bad.MarshalText(); err == nil {
			t.Errorf("%d is written as %q", int(bad), out)
		}
		if got, want := bad.String(), fmt.Sprintf("Mode(%d)", int(bad)); got != want {
			t.Errorf("%d is called %q, want %q", int(bad), got, want)
		}
	}
	for _, bad := range []string{"", "Paper", "level4", "Mode(1)"} { // langchain #4861 ignores a misspelt option
		mode := Level1
		if err := mode.UnmarshalText([]byte(bad)); err == nil || mode != Level1 {
			t.Errorf("%q is read as %v, %v", bad, mode, err)
		}
	}
}
