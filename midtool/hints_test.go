package midtool

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Hints are said, denied or not said. They come through the normalizer and through JSON, and change neither the ID nor the bytes of a tool
// that has none.
func TestHints(t *testing.T) {
	bare := Tool{Name: "drop_table", Parameters: []byte(`{"type":"object","properties":{}}`)}
	plain, err := Normalize(bare)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		hints  Hints
		want   string
		reason string
	}{
		{"none", Hints{}, ``, "bytes of tools without hints stay as they were"},
		{"all", Hints{new(true), new(false), new(true)}, `,"hints":{"destructive":true,"idempotent":false,"open_world":true}`, "all three"},
		{"denied", Hints{Destructive: new(false)}, `,"hints":{"destructive":false}`, "false is not the same as unsaid"},
	} {
		tool := bare
		tool.Hints = tt.hints
		got, err := Normalize(tool)
		if err != nil || got.ID != plain.ID {
			t.Errorf("%s: ID %s, %v, want %s (%s)", tt.name, got.ID, err, plain.ID, tt.reason)
		}
		text, err := json.Marshal(got)
		want := `{"id":"` + plain.ID + `","name":"drop_table","parameters":{"type":"object","properties":{}}` + tt.want + `}`
		if err != nil || string(text) != want {
			t.Errorf("%s: got %s, %v, want %s (%s)", tt.name, text, err, want, tt.reason)
		}
		var back Tool
		if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(got, back) {
			t.Errorf("%s: read back: %v\n%s", tt.name, err, cmp.Diff(got, back))
		}
	}
}
