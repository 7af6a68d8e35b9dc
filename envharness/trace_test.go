package envharness_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/throughline-go/throughline/envharness"
)

// A reader that breaks off is reported as such, not as bad JSON.
func TestReadTracesBrokenReader(t *testing.T) {
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("\n"+`{"schema_version":1,"sl`), iotest.ErrReader(broken))
	for _, err := range envharness.ReadTraces(r) {
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("error %v, want the reader's on line 2", err)
		}
	}
}
