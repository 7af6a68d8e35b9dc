package learn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const small = `{"format":"throughline/bps/learn","version":1,"form":"ceiling","dim":2,"kappa":0.0001,"base":[-0.1],` +
	`"skills":{"names":["a","b<"],"rows":[[1.5,0],[0,1]]},"queries":{"names":["q"],"rows":[[2,1]]}}` + "\n"

// What Load accepts is saved as it was, and predicts as before.
func TestSaveAndLoad(t *testing.T) {
	l := newLibrary(3)
	docs, tasks := l.add("", 20)
	records := l.records(200, docs, tasks)
	for name, o := range map[string]*Options{
		"rows":   {Epochs: 20},
		"offset": {Epochs: 20, Form: Offset},
		"maps":   {Epochs: 20, SkillFeatures: l.features, QueryFeatures: l.features},
		"both":   {Epochs: 20, SkillFeatures: l.features, SkillRows: true, Dim: 3},
	} {
		m, err := Fit(context.Background(), records, o)
		if err != nil {
			t.Fatal(err)
		}
		text := save(t, m)
		loaded, err := Load(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if save(t, loaded) != text {
			t.Errorf("%s: saved again, the model has other bytes", name)
		}
		loaded = loaded.WithFeatures(o.SkillFeatures, o.QueryFeatures)
		newDocs, _ := l.add("new-", 1)
		all := append(docs, newDocs...)
		for i := range all {
			set := all[i:min(i+2, len(all))]
			want, err1 := m.Predict(tasks[i%20], set, i)
			got, err2 := loaded.Predict(tasks[i%20], set, i)
			if got != want || (err1 == nil) != (err2 == nil) {
				t.Errorf("%s: Predict(%v) is %v, %v after loading and was %v, %v", name, set, got, err2, want, err1)
			}
		}
	}
	m, err := Load(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(small, save(t, m)); diff != "" {
		t.Errorf("a model written by hand (-want +got):\n%s", diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(small, old) {
			t.Fatalf("%q is not in the model", old)
		}
		return strings.Replace(small, old, new, 1)
	}
	for _, tt := range []struct{ name, in, text, reason string }{
		{"empty", "", "unexpected EOF", "no model"},
		{"cut", small[:len(small)-3], "unexpected EOF", "half a file"},
		{"not JSON", "model", "invalid character", "another format"},
		{"scalar", "3", "cannot unmarshal", "another shape"},
		{"array", "[]", "cannot unmarshal", "another shape"},
		{"more", small + "{}", "more after the end", "two files in one"},
		{"unknown field", replace(`"dim"`, `"note":1,"dim"`), `field "note" is unknown`, "a later version"},
		{"unknown inner field", replace(`"rows"`, `"base":[],"rows"`), `field "base" is unknown`, "known elsewhere only"},
		{"case", replace(`"dim"`, `"Dim"`), `field "Dim" is unknown`, "encoding/json would take it"},
		{"twice", replace(`"dim":2`, `"dim":3,"dim":2`), `field "dim" is there twice`, "encoding/json would take the last"},
		{"missing", replace(`"kappa":0.0001,`, ``), `field "kappa" is missing`, "zero is another model"},
		{"missing rows", replace(`,"rows":[[2,1]]`, ``), `field "rows" is missing`, "no demands"},
		{"null", replace(`-0.1`, `null`), "null is not allowed", "encoding/json would take it as 0"},
		{"deep", replace(`[2,1]`, `[[2,1]]`), "nested more than 4 deep", "bounded work"},
		{"very deep", strings.Repeat("[", 100_000), "nested more than 4 deep", "bounded work"},
		{"bytes", replace(`"a"`, "\"\xff\""), "not valid UTF-8", "two names could become one"},
		{"format", replace(`throughline/`, ``), `format is "bps/learn", version 1`, "another program"},
		{"version", replace(`"version":1`, `"version":2`), "version 2", "another version"},
		{"fraction", replace(`"dim":2`, `"dim":2.5`), "dim", "a count"},
		{"form", replace(`ceiling`, `Ceiling`), `form is "Ceiling"`, "one spelling"},
		{"dim zero", replace(`"dim":2`, `"dim":0`), "dim is 0", "no capability"},
		{"dim", replace(`"dim":2`, `"dim":3`), "has 2 numbers, want 3", "ragged"},
		{"kappa", replace(`0.0001`, `-0.0001`), "kappa is -0.0001", "tokens would be a gain"},
		{"infinite", replace(`0.0001`, `1e999`), "1e999", "not a float64"},
		{"large", replace(`1.5`, `1e10`), "is 1e+10, want 0..1e+09", "sums stay finite"},
		{"negative supply", replace(`1.5`, `-1.5`), "is -1.5, want", "not monotone"},
		{"positive ceiling", replace(`-0.1`, `0.1`), "base[0] is 0.1", "more than certain"},
		{"bases", replace(`-0.1`, `-0.1,0`), "base has 2 numbers, want 1", "one query"},
		{"order", replace(`"a","b<"`, `"b<","a"`), "do not ascend", "one order"},
		{"duplicate", replace(`"a","b<"`, `"a","a"`), "do not ascend", "one row a name"},
		{"rows", replace(`,[0,1]`, ``), "2 skill names and 1 rows", "one row a name"},
		{"map", replace(`"rows":[[2,1]]`, `"rows":[[2,1]],"map":[[1]]`), "has 1 numbers, want 2", "ragged"},
		{"no queries", replace(`["q"],"rows":[[2,1]]`, `[],"rows":[]`), "there are no queries", "no fit writes it"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		m, err := Load(strings.NewReader(tt.in))
		if m != nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: Load = %v, %v, want an ErrFormat with %q", tt.name, m, err, tt.text)
		}
	}
	_, err := Load(strings.NewReader(strings.Repeat(" ", maxFile+1)))
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "more than 16777216 bytes") {
		t.Errorf("Load of a large file: %v", err)
	}
	broken := errors.New("broken")
	if _, err := Load(iotest.ErrReader(broken)); !errors.Is(err, broken) || errors.Is(err, ErrFormat) {
		t.Errorf("Load from a broken reader: %v, want its error alone", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestSaveFails(t *testing.T) {
	m, err := Load(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Save(brokenWriter{}); err == nil {
		t.Error("Save to a broken writer: no error")
	}
	m.skills.names[1] = strings.Repeat("b", 16<<20)
	if err := m.Save(io.Discard); err == nil || !strings.Contains(err.Error(), "want at most 16777216") {
		t.Errorf("Save of a large model: %v", err)
	}
	if _, err := json.Marshal(m); err == nil || !strings.Contains(err.Error(), "want at most 16777216") {
		t.Errorf("Marshal of a large model: %v", err)
	}
}

// A model inside of other JSON is what Save writes, and is read as Load reads it.
func TestJSON(t *testing.T) {
	type file struct {
		Name  string
		Model *Model
	}
	m, err := Load(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	line, err := m.MarshalJSON()
	if err != nil || string(line)+"\n" != small {
		t.Errorf("MarshalJSON = %s, %v, want the line of Save", line, err)
	}
	data, err := json.Marshal(file{"x", m})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"Name":"x","Model":` + strings.TrimSpace(strings.Replace(small, "<", `\u003c`, 1)) + `}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("Marshal (-want +got):\n%s", diff)
	}
	var got file
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(small, save(t, got.Model)); diff != "" {
		t.Errorf("saved after Unmarshal (-want +got):\n%s", diff)
	}
	if data, err = json.Marshal(file{Name: "x"}); err != nil || string(data) != `{"Name":"x","Model":null}` {
		t.Errorf("Marshal without a model = %s, %v", data, err)
	}

	for _, in := range []string{
		"{}", "null", strings.Replace(small, `"dim":2`, `"dim":3`, 1), strings.Replace(small, `"kappa"`, `"x":1,"kappa"`, 1),
	} {
		_, want := Load(strings.NewReader(in))
		err := m.UnmarshalJSON([]byte(in))
		if !errors.Is(err, ErrFormat) || err.Error() != want.Error() {
			t.Errorf("UnmarshalJSON(%s) = %v, want that of Load, %v", in, err, want)
		}
	}
	if save(t, m) != small {
		t.Error("UnmarshalJSON has changed a model and returned an error")
	}
}

// What Load accepts can be saved and loaded again with the same bytes, and all its predictions lie in (0, 1).
func FuzzLoad(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(strings.Replace(small, "ceiling", "offset", 1)))
	f.Add([]byte(strings.NewReplacer("1.5", "1e9", "0.0001", "1e9", "-0.1", "-1e9", "[2,1]", "[1e9,1e9]").Replace(small)))
	f.Add([]byte(strings.Replace(small, "[[2,1]]", `[[2,1]],"map":[[0.5,0],[3,1e9]]`, 1)))
	f.Add([]byte(strings.NewReplacer(`"a"`, `"\ud800"`, `b<`, `\u2028`).Replace(small)))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Load(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrFormat) || m != nil {
				t.Fatalf("Load = %v, %v", m, err)
			}
			return
		}
		text := save(t, m)
		again, err := Load(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if got := save(t, again); got != text {
			t.Fatalf("saved again: %s\nwas: %s", got, text)
		}
		feature := func(name string) []float64 {
			x := make([]float64, max(len(m.skills.weight), len(m.queries.weight)))
			for j := range x {
				x[j] = math.MaxFloat64
			}
			return x
		}
		m = m.WithFeatures(feature, feature)
		for _, query := range append(m.queries.names, "other") {
			for _, set := range [][]string{nil, m.skills.names, {"other"}} {
				for _, tokens := range []int{0, math.MaxInt} {
					p, err := m.Predict(query, set, tokens)
					if err == nil && !(p > 0 && p < 1) {
						t.Fatalf("Predict(%q, %q, %d) = %v", query, set, tokens, p)
					}
				}
			}
			if b, err := m.Benefit(query, m.skills.names); err == nil {
				all := make([]int, len(m.skills.names))
				for i := range all {
					all[i] = i
				}
				if v := b.Value(all); !(v >= 0) || math.IsInf(v, 0) {
					t.Fatalf("the benefit of all skills is %v", v)
				}
			}
		}
	})
}
