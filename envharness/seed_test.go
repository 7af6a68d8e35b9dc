package envharness_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	eh "github.com/throughline-go/throughline/envharness"
)

// Worked example 11.
func TestRandStream(t *testing.T) {
	tests := []struct {
		path    string
		episode uint64
		key     string
		float   float64 // 0: not stated
	}{
		{"env", 0, "67d210a5ba7d9bdb51bd1811c0743abe", .1608613399637847},
		{"c/obs_noise", 0, "befac1a16e4ae52e505c899697d45e4e", .2631556706817946},
		{"env", 1, "a3439a33e7a59eea8e87afdac19148e9", 0},
	}
	for _, tt := range tests {
		k, err := hex.DecodeString(tt.key)
		if err != nil {
			t.Fatal(err)
		}
		want := rand.New(rand.NewPCG(binary.BigEndian.Uint64(k[:8]), binary.BigEndian.Uint64(k[8:])))
		got := eh.RandStream(42, tt.path, tt.episode)
		for i := range 5 {
			w, g := want.Float64(), got.Float64()
			if g != w {
				t.Fatalf("%s, episode %d: draw %d is %v, want %v", tt.path, tt.episode, i, g, w)
			}
			if i == 0 && tt.float != 0 && g != tt.float {
				t.Errorf("%s: first draw %v, want %v", tt.path, g, tt.float)
			}
		}
	}
}

func TestCanonicalJSON(t *testing.T) {
	tests := []struct {
		in     any
		want   string
		reason string
	}{
		{map[string]any{"b": 1.0, "a": map[string]any{"y": []any{1.0, 2.5, "é<"}, "x": nil}}, `{"a":{"x":null,"y":[1,2.5,"é<"]},"b":1}`, "worked example 12"},
		{json.RawMessage(" { \"b\" : 1, \"a\":{\"y\":[1,2.5,\"\\u00e9\\u003c\"],\"x\":null}} "), `{"a":{"x":null,"y":[1,2.5,"é<"]},"b":1}`, "the same as text"},
		{[]any{1e21, 1e-7, math.Copysign(0, -1), 100.0, 0.000001, 1.5e-10}, `[1000000000000000000000,1e-7,0,100,0.000001,1.5e-10]`, "integers without exponent, shortest floats"},
		{json.RawMessage(`[18446744073709551615,1e2,1.0,-0,-0.0]`), `[18446744073709551615,100,1,0,0]`, "64-bit seeds survive"},
		{struct {
			B uint64
			A []string `json:"a"`
		}{1 << 63, nil}, `{"B":9223372036854775808,"a":null}`, "structs go through encoding/json"},
		{"\x00\t\n\r\"\\\u2028\xff/&", "\"\\u0000\\t\\n\\r\\\"\\\\\u2028\uFFFD/&\"", "escapes only what must be, invalid bytes replaced"},
		{true, "true", "plain"},
		{map[string]any{"\xff": 1.0, "\xfe": 2.0, "😀": 3.0}, "{\"\uFFFD\":1,\"😀\":3}", "keys are sorted and unique after invalid bytes were replaced"},
	}
	for _, tt := range tests {
		got, err := eh.CanonicalJSON(tt.in)
		if err != nil || string(got) != tt.want {
			t.Errorf("%#v: %s, %v, want %s (%s)", tt.in, got, err, tt.want, tt.reason)
		}
	}
	got, err := eh.CanonicalJSON(tests[0].in)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(got)
	if h := hex.EncodeToString(sum[:]); h != "95d94b4a3e066910e1e491519ddcb2a451ba040d5e746546b8bc16f7a98a674b" {
		t.Errorf("hash %s differs from worked example 12", h)
	}
	loop := map[string]any{}
	loop["x"] = []any{loop}
	for name, v := range map[string]any{
		"NaN": math.NaN(), "infinity": []any{math.Inf(-1)}, "func": func() {}, "cycle": loop, "huge": json.RawMessage("1e400"),
		"bad raw": json.RawMessage("{"), "bad number": json.Number("true"), "empty number": json.Number(""), "spaced number": json.Number("1 "),
		"deep": json.RawMessage(strings.Repeat("[", 1002) + strings.Repeat("]", 1002)),
	} {
		if b, err := eh.CanonicalJSON(v); err == nil {
			t.Errorf("%s: no error but %s", name, b)
		}
	}
}

// The canonical form decodes to the value it was made from, and is its own canonical form.
func TestCanonicalJSONProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := jsonValue(3).Draw(t, "value")
		b, err := eh.CanonicalJSON(v)
		if err != nil {
			t.Fatal(err)
		}
		var back any
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !reflect.DeepEqual(v, back) {
			t.Fatalf("%#v became %#v through %s", v, back, b)
		}
		again, err := eh.CanonicalJSON(json.RawMessage(b))
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%s became %s, %v", b, again, err)
		}
	})
}

func jsonValue(depth int) *rapid.Generator[any] {
	gens := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Float64().AsAny(),
		rapid.Map(rapid.IntRange(-1e6, 1e6), func(i int) any { return float64(i) }),
	}
	if depth > 0 {
		gens = append(gens, rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return jsonValue(depth - 1) }), 0, 4).AsAny(),
			rapid.MapOfN(rapid.String(), rapid.Deferred(func() *rapid.Generator[any] { return jsonValue(depth - 1) }), 0, 4).AsAny())
	}
	return rapid.OneOf(gens...)
}

func FuzzCanonicalJSON(f *testing.F) {
	f.Add([]byte(`{"b":[1e5,-0,0.1,"\ud800"],"a":{"":null}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := eh.CanonicalJSON(json.RawMessage(in))
		if err != nil {
			return
		}
		again, err := eh.CanonicalJSON(json.RawMessage(b))
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("%s became %s, %v", b, again, err)
		}
	})
}

// ParseFloat knows more numbers than JSON.
func TestCanonicalJSONNumbers(t *testing.T) {
	for _, n := range []json.Number{"0x1.8p1", "+1.5", "1e", ".5", "1_0.0", "Inf", "1.", "01.5"} {
		if b, err := eh.CanonicalJSON(n); err == nil {
			t.Errorf("%s became %s", n, b)
		}
	}
}
