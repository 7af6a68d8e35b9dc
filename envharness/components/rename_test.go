package components

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// Arguments pass through a naming and back as they were, up to white space and escapes; what is no object is refused.
func FuzzRewriteObject(f *testing.F) {
	seeds := []string{`{}`, ` { "a" : 1 , "b":[{"a":2}] } `, `{"a":1,"a":2}`, `{"\u0061":"\ud800"}`, `[]`, `null`, ``, `{"a"`, `{"a":1}x`}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	names := newRenames(map[string]string{"a": "b", "b": "a", "<": `"`})
	swap := func(rename func(string) string) rewriting {
		return func(key string, value json.RawMessage) (string, json.RawMessage, error) {
			return rename(key), value, nil
		}
	}
	inward := func(name string) string { present, _ := names.inward(name); return present }
	f.Fuzz(func(t *testing.T, object []byte) {
		var fields map[string]json.RawMessage
		valid := json.Unmarshal(object, &fields) == nil && fields != nil
		out, err := rewriteObject(object, swap(names.outward))
		if (err == nil) != valid {
			t.Fatalf("%q: %v, but valid is %t", object, err, valid)
		}
		if err != nil || bytes.Contains(object, []byte(`\"`)) || bytes.Contains(object, []byte(`\u`)) {
			return // a field named by a quotation mark would become another one
		}
		back, err := rewriteObject(out, swap(inward))
		if err != nil {
			t.Fatalf("%q became %q: %v", object, out, err)
		}
		want, errWant := envharness.CanonicalJSON(json.RawMessage(object))
		got, errGot := envharness.CanonicalJSON(back)
		if (errWant == nil) != (errGot == nil) || !bytes.Equal(want, got) {
			t.Fatalf("%q came back as %q (%v, %v)", object, back, errWant, errGot)
		}
	})
}
