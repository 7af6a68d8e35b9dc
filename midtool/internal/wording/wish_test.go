package wording

import (
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool/internal/draw"
)

func TestWish(t *testing.T) {
	var w Writer
	tool := About("get_users_orders", "Returns the orders of a user.")
	seen := make(map[string]bool)
	for i := range 200 {
		w.Begin(draw.New(1, "wish", strings.Repeat("x", i)))
		wish := w.Wish(tool)
		if !strings.HasSuffix(wish, "orders of a user") && !strings.HasSuffix(wish, "users orders") && !strings.HasSuffix(wish, "orders") {
			t.Fatalf("%q", wish)
		}
		seen[wish] = true
	}
	if len(seen) < 5 {
		t.Errorf("%d ways to say it: %v", len(seen), seen)
	}
}
