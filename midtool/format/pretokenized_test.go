package format

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
	"pgregory.net/rapid"
)

// A byteTokenizer makes a token of each byte.
type byteTokenizer struct{}

func (byteTokenizer) Name() string      { return "bytes" }
func (byteTokenizer) EndOfText() uint32 { return 256 }

func (byteTokenizer) Encode(text string) (ids []uint32, ends []int) {
	for i := range len(text) {
		ids, ends = append(ids, uint32(text[i])), append(ends, i+1)
	}
	return ids, ends
}

// A cutTokenizer cuts at drawn places, some twice, and inside of characters.
type cutTokenizer struct{ t *rapid.T }

func (cutTokenizer) Name() string      { return "cuts" }
func (cutTokenizer) EndOfText() uint32 { return 1 << 31 }

func (c cutTokenizer) Encode(text string) (ids []uint32, ends []int) {
	for at := 0; at < len(text); {
		at = min(len(text), at+rapid.IntRange(0, 40).Draw(c.t, "step"))
		ids, ends = append(ids, uint32(len(ids))), append(ends, at)
	}
	return ids, ends
}

// Every token is learned if and only if each of its bytes is, looked up one by one.
func TestTokenLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := conversationIn(t, false)
		form := rapid.SampledFrom([]string{"plain", "hermes", "qwen"}).Draw(t, "form")
		tok := cutTokenizer{t}
		var text Rendering
		var err error
		if form == "plain" {
			text, err = Plain(&Record{Sample: &s})
		} else {
			f, bad := chatForm(form, &Options{})
			c, skipped := conversationOf(&Record{Sample: &s})
			if bad != nil || skipped != nil {
				t.Fatal(bad, skipped)
			}
			if text, _, skipped = f.render(c); skipped != nil {
				return
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		learned := make([]bool, len(text.Text)+1)
		for _, span := range text.Loss {
			for i := span.Start; i < span.End; i++ {
				learned[i] = true
			}
		}
		ids, ends := tok.Encode(text.Text)
		row, trained, err := tokenRow(&text, fixed{ids, ends})
		if err != nil {
			t.Fatal(err)
		}
		want := TokenRow{InputIDs: append(slices.Clone(ids), 9)}
		start, n := 0, 0
		for i, end := range ends {
			label := int64(ids[i])
			if slices.Contains(learned[start:max(end, start+1)], false) {
				label = -100
			} else {
				n++
			}
			want.Labels = append(want.Labels, label)
			start = end
		}
		want.Labels = append(want.Labels, 9)
		want.AttentionMask = slices.Repeat([]uint8{1}, len(ids)+1)
		if diff := cmp.Diff(&want, row); diff != "" || trained != n {
			t.Fatalf("%d of %d learned in %q (-want +got):\n%s", trained, n, text.Text, diff)
		}
		for got, err := range ReadTokens(strings.NewReader(string(row.append(nil))), "t") {
			if trained == 0 && err == nil { // the end of the text alone
				continue
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
		}
	})
}

// fixed returns the tokens that it holds.
type fixed struct {
	ids  []uint32
	ends []int
}

func (fixed) Name() string                      { return "fixed" }
func (fixed) EndOfText() uint32                 { return 9 }
func (f fixed) Encode(string) ([]uint32, []int) { return f.ids, f.ends }

func TestPretokenized(t *testing.T) {
	s := talk(midtool.Message{Role: user, Content: "é"}, midtool.Message{Role: assistant, Content: "a"})
	var b strings.Builder
	w, err := NewWriter(&b, "pretokenized", &Options{Tokenizer: byteTokenizer{}, Text: "qwen"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(&Record{Sample: s}), w.Write(&Record{Text: "é"}), w.Close()); err != nil {
		t.Fatal(err)
	}
	const text = "<|im_start|>user\né<|im_end|>\n<|im_start|>assistant\na<|im_end|>\n"
	var rows []TokenRow
	for row, err := range ReadTokens(strings.NewReader(b.String()), "t") {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if len(rows) != 2 || len(rows[0].InputIDs) != len(text)+1 {
		t.Fatalf("%d rows, want 2: %+v", len(rows), rows)
	}
	at := strings.Index(text, "a<|im_end|>")
	for i, label := range rows[0].Labels {
		want := int64(-100)
		if i >= at && i < at+len("a<|im_end|>") {
			want = int64(text[i])
		} else if i == len(text) {
			want = 256
		}
		if label != want {
			t.Errorf("label %d is %d, want %d", i, label, want)
		}
	}
	if want := `{"input_ids":[195,169,256],"attention_mask":[1,1,1],"labels":[195,169,256]}` + "\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("got %s, want %s at the end", b.String(), want)
	}
	want := Counts{Written: 2, Bytes: int64(b.Len()), Tokens: len(text) + 1 + 3, Trained: 12 + 3, Skipped: map[string]int{}}
	if diff := cmp.Diff(want, w.Counts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A token without bytes goes with the character behind it, and one that is learned in part is not learned.
func TestTokensAtBorders(t *testing.T) {
	r := Rendering{"abcd", []Span{{0, 1}, {2, 3}}}
	row, trained, err := tokenRow(&r, fixed{[]uint32{1, 2, 3, 4, 5, 6}, []int{0, 1, 1, 2, 2, 4}})
	if want := []int64{1, 2, -100, -100, 5, -100, 9}; err != nil || trained != 3 || !slices.Equal(row.Labels, want) {
		t.Errorf("%v: %d learned, labels %v, want %v", err, trained, row.Labels, want)
	}
	s := talk(midtool.Message{Role: user, Content: "Hi."}, midtool.Message{Role: assistant, Content: "Hello."})
	const length = len("<|im_start|>user\nHi.<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n")
	_, err = written(t, "pretokenized", &Options{Tokenizer: fixed{[]uint32{1}, []int{length}}, Text: "qwen"}, Record{Sample: s})
	if skipped, ok := errors.AsType[*SkipError](err); !ok || skipped.Reason != "untrained" {
		t.Errorf("got %v: the only token is not learned", err)
	}
}

// A row that is exactly as long as the window is written, one that is longer never cut.
func TestWindow(t *testing.T) {
	for n := range 9 {
		got, err := written(t, "pretokenized", &Options{Tokenizer: byteTokenizer{}, MaxTokens: 6}, Record{Text: "abcdefghi"[:n+1]})
		if fits := n+2 <= 6; fits != (err == nil) || !fits && got != "" {
			t.Errorf("%d bytes: %q, %v", n+1, got, err)
		}
	}
}

func TestBrokenTokenizer(t *testing.T) {
	for _, tt := range []struct {
		f      fixed
		reason string
	}{
		{fixed{[]uint32{1}, nil}, "no end"},
		{fixed{nil, nil}, "no token"},
		{fixed{[]uint32{1}, []int{1}}, "not the end of the text"},
		{fixed{[]uint32{1, 2, 3}, []int{2, 1, 3}}, "backwards"},
		{fixed{[]uint32{1, 2}, []int{4, 3}}, "behind the text"},
		{fixed{[]uint32{1, 2}, []int{-1, 3}}, "before the text"},
	} {
		w, err := NewWriter(io.Discard, "pretokenized", &Options{Tokenizer: tt.f})
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write(&Record{ID: "r1", Text: "abc"})
		if _, skipped := errors.AsType[*SkipError](err); err == nil || skipped || !strings.Contains(err.Error(), "tokenizer fixed") || w.Close() == nil {
			t.Errorf("%s: got %v, want an error that ends the writer", tt.reason, err)
		}
	}
}

func TestReadTokensErrors(t *testing.T) {
	for _, tt := range []struct{ line, reason string }{
		{`[]`, "no object"},
		{`{"input_ids":[1],"attention_mask":[1]}`, "no labels"},
		{`{"input_ids":[1],"attention_mask":[1],"labels":[1,1]}`, "longer"},
		{`{"input_ids":[1],"attention_mask":[0],"labels":[1]}`, "masked"},
		{`{"input_ids":[1],"attention_mask":[1],"labels":[2]}`, "another token"},
		{`{"input_ids":[1],"attention_mask":[1],"labels":[-1]}`, "no label"},
		{`{"input_ids":[1],"attention_mask":[1],"labels":[-100]}`, "nothing is learned"},
		{`{"input_ids":[4294967296],"attention_mask":[1],"labels":[-100]}`, "beyond 32 bits"},
		{`{"input_ids":[1.0],"attention_mask":[1],"labels":[1]}`, "no integer"},
		{`{"input_ids":["1"],"attention_mask":[1],"labels":[1]}`, "no number"},
		{`{"input_ids":`, "no JSON"},
	} {
		n := 0
		for _, err := range ReadTokens(strings.NewReader("\n"+tt.line+"\n"+tt.line), "t.jsonl") {
			if n++; n > 1 || err == nil || !strings.Contains(err.Error(), "t.jsonl line 2") {
				t.Errorf("%s: got %v, want one error at line 2", tt.reason, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d errors", tt.reason, n)
		}
	}
	if !utf8.ValidString(tokenLine(t)) {
		t.Error("a row is not UTF-8")
	}
}

// tokenLine is one row of a text.
func tokenLine(t testing.TB) string {
	t.Helper()
	line, err := written(t, "pretokenized", &Options{Tokenizer: byteTokenizer{}}, Record{Text: "ab"})
	if err != nil || !json.Valid([]byte(line)) {
		t.Fatal(err, line)
	}
	return line
}
