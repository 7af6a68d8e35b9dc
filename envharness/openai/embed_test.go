package openai_test

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
	"github.com/throughline-go/throughline/skill"
)

var _ skill.Embedder = (*openai.Client)(nil)

// Vectors come back in the order of the texts, whatever the size of the batches.
func TestEmbedInBatches(t *testing.T) {
	var texts []string
	for i := range 25 {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	texts[7] = strings.Repeat("long ", 120_000) // more than a request may have, but for a single one
	var want [][]float64
	for _, batch := range []int{0, 1, 7, 25} {
		var sizes []int
		s := serve(t, func(r openaitest.Request) openaitest.Reply {
			sizes = append(sizes, len(r.Input))
			return openaitest.Reply{}
		}, nil)
		c := connect(t, openai.Options{BaseURL: s.BaseURL, Batch: batch})
		got, err := c.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !cmp.Equal(got, want) {
			t.Errorf("batches of %d: other vectors", batch)
		}
		if u := c.Usage(); u.Requests != len(sizes) || u.Input < 100_000 || u.Output != 0 {
			t.Errorf("usage %+v for %v", u, sizes)
		}
		if batch == 0 && !cmp.Equal(sizes, []int{7, 1, 17}) {
			t.Error(sizes)
		}
	}
	c := connect(t, openai.Options{BaseURL: "http://localhost:1"})
	if got, err := c.Embed(t.Context(), nil); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	if _, err := c.Embed(t.Context(), []string{"a", ""}); err == nil || !strings.Contains(err.Error(), "text 1 is empty") {
		t.Error(err)
	}
}

// Only vectors that are there once, of one length and finite are taken, as numbers or in base64.
func TestVectors(t *testing.T) {
	base := func(v ...float32) string {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return `"` + base64.StdEncoding.EncodeToString(b) + `"`
	}
	for _, c := range []struct {
		name, data, want string // want: what is wrong
	}{
		{"numbers", `{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3,4]}`, ""},
		{"another order", `{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}`, ""},
		{"base64", `{"index":0,"embedding":` + base(1, 2) + `},{"index":1,"embedding":[3,4]}`, ""},
		{"one too few", `{"index":0,"embedding":[1,2]}`, "1 vectors for 2 texts"},
		{"one too many", `{"index":0,"embedding":[1]},{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}`, "3 vectors for 2 texts"},
		{"an index twice", `{"index":1,"embedding":[1,2]},{"index":1,"embedding":[3,4]}`, "index 1 is there twice"},
		{"no index", `{"embedding":[1,2]},{"index":1,"embedding":[3,4]}`, "vector 0 of the answer has no index"},
		{"an index too high", `{"index":0,"embedding":[1,2]},{"index":2,"embedding":[3,4]}`, "index 2, which is not in [0, 2)"},
		{"a negative index", `{"index":-1,"embedding":[1,2]},{"index":0,"embedding":[3,4]}`, "index -1"},
		{"other lengths", `{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3]}`, "vectors have 2 and 1 numbers"},
		{"empty", `{"index":0,"embedding":[]},{"index":1,"embedding":[]}`, "vector 0 is empty"},
		{"null", `{"index":0,"embedding":null},{"index":1,"embedding":[1]}`, "vector 0 is empty"},
		{"a null number", `{"index":0,"embedding":[1,null]},{"index":1,"embedding":[1,2]}`, "vector 0 is neither"},
		{"a number too large", `{"index":0,"embedding":[1,1e999]},{"index":1,"embedding":[1,2]}`, "vector 0 is neither"},
		{"NaN", `{"index":0,"embedding":` + base(1, float32(math.NaN())) + `},{"index":1,"embedding":[1,2]}`, "vector 0 is neither"},
		{"infinity", `{"index":0,"embedding":` + base(1, float32(math.Inf(1))) + `},{"index":1,"embedding":[1,2]}`, "vector 0 is neither"},
		{"half a number", `{"index":0,"embedding":"AAAA"},{"index":1,"embedding":[1,2]}`, "vector 0 is neither"},
		{"no base64", `{"index":0,"embedding":"?"},{"index":1,"embedding":[1,2]}`, "vector 0 is neither"},
		{"texts", `{"index":0,"embedding":["1"]},{"index":1,"embedding":[1]}`, "vector 0 is neither"},
	} {
		s := serve(t, always(openaitest.Reply{Raw: []byte(`{"object":"list","data":[` + c.data + `],"model":"m"}`)}), nil)
		got, err := connect(t, openai.Options{BaseURL: s.BaseURL}).Embed(t.Context(), []string{"a", "b"})
		if c.want == "" {
			if want := [][]float64{{1, 2}, {3, 4}}; err != nil || !cmp.Equal(got, want) {
				t.Errorf("%s: %v, %v", c.name, got, err)
			}
			continue
		}
		if err == nil || got != nil || !strings.Contains(err.Error(), c.want) || s.Requests() != 1 {
			t.Errorf("%s: %v, %v, want %q", c.name, got, err, c.want)
		}
	}
	s := serve(t, func(r openaitest.Request) openaitest.Reply {
		return openaitest.Reply{Vectors: [][]float64{make([]float64, 2+r.Index)}}
	}, nil)
	single := connect(t, openai.Options{BaseURL: s.BaseURL, Batch: 1})
	if _, err := single.Embed(t.Context(), []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "2 and 3") {
		t.Error("vectors of different lengths:", err)
	}
	for body, want := range map[string]string{
		`{"error":{"message":"gone","code":"model_not_found","type":"invalid_request_error"}}`: "model_not_found", `[]`: "not the JSON of embeddings",
		`{"a":` + strings.Repeat("[", 1001): "nested deeper",
	} {
		s := serve(t, always(openaitest.Reply{Raw: []byte(body)}), nil)
		if _, err := connect(t, openai.Options{BaseURL: s.BaseURL}).Embed(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}
