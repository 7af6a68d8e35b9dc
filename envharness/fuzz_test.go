package envharness_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	eh "github.com/throughline-go/throughline/envharness"
)

// Whatever is read neither panics nor counts, and each trace comes back from WriteTraces and ReadTraces exactly as it is.
func FuzzReadMessages(f *testing.F) {
	for _, line := range []string{
		conv(sys, ask, oneC, sunny, done),
		conv(ask, calls("Let me see.", `"{}"`, `{"b":[1e9,-0.0]}`, `"{bad"`, `null`), answer("c3", "3"), answer("c1", "1"), answer("c4", ""),
			answer("c2", "2"), ask),
		conv(`{"role":"assistant","function_call":{"name":"a","arguments":"{\"k\":\"\u2028\\ud800\"}"}}`,
			`{"role":"function","name":"a","content":"<&>"}`),
		conv(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{}}]}`, `{"role":"assistant","refusal":"no"}`),
		`{"id":"a","task_id":7,"tools":[{}],` + conv(done)[1:] + "\n\n" + conv(done, "{\"role\":\"user\",\"content\":\"\xff\"}"),
		conv(oneC), conv(sunny), `{"messages":[null]}`, "[", "",
		conv(calls("", nested(40)), answer("c1", "")),
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, _ := importAll(bytes.NewReader(in))
		for i, tr := range got {
			if tr.Slot != i || tr.Kind != eh.KindImported || tr.Verdict.Status != eh.Invalid || tr.Task.ID == "" {
				t.Fatalf("trace %d: %+v", i, tr)
			}
		}
		back, err := read(write(t, got))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(got, back); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	})
}
