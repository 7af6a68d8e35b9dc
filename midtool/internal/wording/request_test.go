package wording

import (
	"fmt"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
)

// The wording avoids the names by itself; the check after it is a second line.
func TestClauseKeepsNames(t *testing.T) {
	for _, name := range []string{"web_search", "get_the_weather", "showMe", "run_report", "data-export_job"} {
		tl := About(name, "Runs report data export job of web search")
		w := Writer{Draws: draw.New(1, "test", name), Avoid: names.GivenAway(name)}
		for range 200 {
			if c := w.clause(tl); names.SequenceIn(names.Words(c), names.Words(name)) {
				t.Fatalf("%s is given away by %q", name, c)
			}
		}
	}
}

// A clause made of a name alone is cut before what speaks of the arguments, and a lone verb is used as one.
func TestClauseOfName(t *testing.T) {
	for _, tt := range []struct{ name, never, reason string }{
		{"calculate", "the calculate", "a verb is no noun"}, {"convert_to_base_unit", "the to", "as in a description"},
		{"congress_trades_by_name", "by", "as in a description"}, {"by", "the the", "nothing is left before it"},
	} {
		for i := range 50 {
			tl := About(tt.name, "")
			w := Writer{Draws: draw.New(1, "test", fmt.Sprint(i)), Avoid: names.GivenAway(tt.name)}
			if c := w.clause(tl); c == "" || names.SequenceIn(names.Words(c), names.Words(tt.never)) {
				t.Errorf("%s (%s): %q", tt.name, tt.reason, c)
			}
		}
	}
}

// A conclusion says two things of different names, and a member of a list in the singular.
func TestConclude(t *testing.T) {
	result, _ := jsonval.Parse([]byte(`[{"ids":["a","b"]},{"ids":["c"]}]`))
	for i := range 20 {
		if got := conclude(draw.New(1, "test", fmt.Sprint(i)), &result); strings.Count(got, "id") != 1 || strings.Contains(got, "ids") || !strings.Contains(got, " a") {
			t.Errorf("%q", got)
		}
	}
}
