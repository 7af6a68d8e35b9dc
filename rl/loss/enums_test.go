package loss

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Names go into JSON and come back; others, and values without a name, are errors.
func TestEnums(t *testing.T) {
	type options struct {
		KL          []KLKind
		Aggregation []Aggregation
	}
	in := options{kinds, []Aggregation{TokenMean, SeqMeanTokenSum, SeqMeanTokenMean, TurnMeanTokenMean, SeqSumNorm, SeqMeanTokenSumNorm}}
	text, err := json.Marshal(in)
	want := `{"KL":["k3","k1","abs","k2","k3+","k1+","abs+"],"Aggregation":["token-mean","seq-mean-token-sum","seq-mean-token-mean",` +
		`"turn-mean-token-mean","seq-sum-norm","seq-mean-token-sum-norm"]}`
	var out options
	if diff := cmp.Diff(want, string(text)); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if err := json.Unmarshal(text, &out); err != nil || !cmp.Equal(in, out) {
		t.Errorf("%v, %v", out, err)
	}
	for _, text := range []string{`{"KL":["K3"]}`, `{"KL":[""]}`, `{"Aggregation":["mean"]}`} {
		if err := json.Unmarshal([]byte(text), &out); err == nil || !strings.Contains(err.Error(), "want one of") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, x := range []any{KLKind(7), Aggregation(6)} {
		if _, err := json.Marshal(x); err == nil || !strings.Contains(err.Error(), "has no name") {
			t.Errorf("%v: %v", x, err)
		}
	}
	if got := KLKind(7).String() + " " + Aggregation(6).String(); got != "KLKind(7) Aggregation(6)" {
		t.Error(got)
	}
}
