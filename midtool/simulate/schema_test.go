package simulate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// Equal calls get equal answers; an answer follows the result schema and echoes the arguments it names.
func TestSimulate(t *testing.T) {
	tl := &tool{Tool: midtool.Tool{ID: "t_1"}, meaning: names.MeaningOf("list_users")}
	args, _ := jsonval.Parse([]byte(`{"city_name":"Oslo","limit":3}`))
	a, _ := answer(7, tl, &args)
	b, _ := answer(7, tl, &args)
	if a.Encode(jsonval.Compact) != b.Encode(jsonval.Compact) || len(a.Get("items").List) != 2 || jsonval.StringOf(a.Get("city_name")) != "Oslo" {
		t.Errorf("%s, %s", a.Encode(jsonval.Compact), b.Encode(jsonval.Compact))
	}
	other, _ := jsonval.Parse([]byte(`{"city_name":"Bergen","limit":3}`))
	if o, _ := answer(7, tl, &other); o.Get("items").Encode(jsonval.Compact) == a.Get("items").Encode(jsonval.Compact) {
		t.Error("other arguments got the same items")
	}
	tl.returns, _ = schema.CompileRaw([]byte(`{"type":"object","properties":{"cityName":{"type":"string"},"limit":{"type":"string"},"n":{"type":"integer"}},"required":["n"]}`))
	r, ok := answer(7, tl, &args)
	if !ok || !tl.returns.Accepts(&r) || jsonval.StringOf(r.Get("cityName")) != "Oslo" || r.Get("limit").Kind != jsonval.String {
		t.Errorf("%s", r.Encode(jsonval.Compact))
	}
}

// No made result reports a failure, for the conclusion says that all went well.
func TestSimulateSucceeds(t *testing.T) {
	args, _ := jsonval.Parse([]byte(`{"error":"E42"}`))
	for _, tt := range []struct{ returns, want, reason string }{
		{`{"type":"object","properties":{"error":{"type":"string","minLength":1},"success":{"type":"boolean"}}}`, `{"success":true}`, "an optional error goes"},
		{`{"type":"object","properties":{"error":{"type":["string","null"]},"ok":{"const":false}},"required":["error"]}`, `{"error":null,"ok":false}`, "null, and a constant stays"},
		{`{"type":"object","properties":{"error":{"type":"string"}},"required":["error"]}`, `{"error":""}`, "an empty one is none"},
		{`{"type":"object","properties":{"error":{"const":"x"}},"required":["error"]}`, ``, "the schema demands a failure"},
		{`{"type":"object","properties":{"status":{"const":404}},"required":["status"]}`, ``, "the schema demands a failure"},
	} {
		tl := &tool{Tool: midtool.Tool{ID: "t_1"}}
		tl.returns, _ = schema.CompileRaw([]byte(tt.returns))
		got := ""
		if v, ok := answer(1, tl, &args); ok {
			got = v.Encode(jsonval.Compact)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || tt.reason == "" {
			t.Errorf("%s (%s) (-want +got):\n%s", tt.returns, tt.reason, diff)
		}
	}
}
