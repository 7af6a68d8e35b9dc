package rules

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
)

func TestUnknownSplit(t *testing.T) {
	if got, want := UnknownSplit("dev").Error(), `unknown split "dev", want train, validation, test or ood`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := UnknownSplit(strings.Repeat("x", 1000)).Error(); len(got) > 150 || !strings.Contains(got, `x...", want train`) {
		t.Errorf("a long name is not cut: %q", got)
	}
}

// slowSplit is the rule in its own arithmetic.
func slowSplit(id string) string {
	h := uint64(14695981039346656037) // the offset basis of FNV-1a, and its prime below
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	if h%10 < 2 {
		return []string{"validation", "test"}[h%10]
	}
	return "train"
}

func FuzzHashSplit(f *testing.F) {
	for _, id := range []string{"", "1,2,3,4", "1,1,4,6", "5,5,5,9", "a", "household", "\xff"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if got, want := HashSplit(id), slowSplit(id); got != want {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	})
}

// The splits of these are part of what worlds promise.
func TestHashSplit(t *testing.T) {
	for id, want := range map[string]string{"1,1,4,6": "train", "": "train"} {
		if got := HashSplit(id); got != want {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	}
	n := map[string]int{}
	for i := range 10_000 {
		n[HashSplit(strings.Repeat("x", i%100)+"-"+string(rune('a'+i/100)))]++
	}
	if len(n) != 3 || n["validation"] < 800 || n["validation"] > 1200 || n["test"] < 800 || n["test"] > 1200 {
		t.Errorf("of 10,000 ids: %v, want about a tenth for validation and for test", n)
	}
}

func TestUnknownTool(t *testing.T) {
	want := &envharness.ActionError{Class: envharness.ClassUnknownTool, Message: `no tool named "fly"`}
	if d := cmp.Diff(want, UnknownTool("fly")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got := UnknownTool(strings.Repeat("\xff", 1000) + strings.Repeat("x", 1000)).Message; len(got) > 150 || !strings.Contains(got, "...") {
		t.Errorf("a long name is not cut: %q", got)
	}
}

func TestNoArgs(t *testing.T) {
	s := NoArgs()
	canon, err := envharness.CanonicalJSON(s)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(canon), string(s)); d != "" {
		t.Errorf("not canonical (-want +got):\n%s", d)
	}
	var got map[string]any
	if err := json.Unmarshal(s, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"type": "object", "properties": map[string]any{}, "additionalProperties": false}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	s[0] = 'x'
	if string(NoArgs()) != string(canon) {
		t.Error("what a caller changes comes back to the next one")
	}
}

func TestVocabulary(t *testing.T) {
	for _, tt := range []struct {
		texts  []string
		want   []string
		reason string
	}{
		{nil, nil, "no words of nothing"},
		{[]string{"", " \n"}, nil, "nor of white space"},
		{[]string{"Go to Desk 1.", "go", "the desk, 12"}, []string{",", ".", "1", "12", "desk", "go", "the", "to"}, "sorted, each once, in lower case"},
	} {
		got := Vocabulary(tt.texts...)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q (%s)", tt.texts, got, tt.want, tt.reason)
		}
	}
}
