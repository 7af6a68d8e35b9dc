package format

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A Row is a record of the form plain: what a line of it holds under the keys id, text, source, ability, tokens, license
// and meta, and what a table holds in columns of these names.
type Row struct {
	ID      string
	Text    string // that of [Plain]
	Source  string
	Ability string // what a conversation teaches; empty for a document
	Tokens  int    // of Text
	License []string

	// Meta is a JSON object. Of a document it has the strings of the record's Meta, sorted by key. Of a conversation it
	// has "messages" (how many), where they are set "family", "second_ability", "generator" and "document", "evidence"
	// (arguments by class), "loss" as a list of [start, end) if not the whole text is learned, and then the strings of
	// the record's Meta under other keys than these.
	Meta string
}

// NewRow makes the row of a record. Tokens counts those of the text; nil means [midtool.ApproxTokens]. The error is a
// [*SkipError].
func NewRow(r *Record, tokens func(text string) int) (*Row, error) {
	c, err := conversationOf(r)
	if err != nil {
		err.Format, err.Record = "plain", idOf(r)
		return nil, err
	}
	row, _ := plainRow(r, c, tokens)
	return row, nil
}

// plainRow also returns how many bytes of the text are learned.
func plainRow(r *Record, c *conversation, tokens func(string) int) (*Row, int) {
	if c == nil {
		return rowOf(r, r.Text, tokens, jsonval.Member{}), len(r.Text)
	}
	text, loss := plainText(c), jsonval.Value{}
	trained := text.trained()
	if trained < len(text.Text) {
		loss = spansValue(text.Loss)
	}
	return rowOf(r, text.Text, tokens, jsonval.Pair("loss", loss)), trained
}

// append writes a row as one JSON object, with the key "loss" behind the text if there are spans.
func (r *Row) append(dst []byte, loss []Span) []byte {
	dst = appendPair(append(dst, '{'), "id", r.ID)
	dst = appendPair(append(dst, ','), "text", r.Text)
	if loss != nil {
		v := spansValue(loss)
		dst = v.Append(append(dst, `,"loss":`...), jsonval.Compact)
	}
	dst = appendPair(append(dst, ','), "source", r.Source)
	dst = appendPair(append(dst, ','), "ability", r.Ability)
	dst = strconv.AppendInt(append(dst, `,"tokens":`...), int64(r.Tokens), 10)
	dst = append(dst, `,"license":[`...)
	for i, l := range r.License {
		dst = jsonval.AppendString(comma(dst, i), l)
	}
	dst = append(dst, `],"meta":`...)
	return append(append(dst, r.Meta...), '}')
}

// rowOf makes the row of a text. Extra goes into the meta of a conversation if its value is not null.
func rowOf(r *Record, text string, tokens func(string) int, extra jsonval.Member) *Row {
	if tokens == nil {
		tokens = midtool.ApproxTokens
	}
	out := &Row{ID: idOf(r), Text: text, Source: r.Source, Tokens: tokens(text), License: r.Licenses}
	var meta jsonval.Value
	if s := r.Sample; s != nil {
		out.Source, out.Ability = cmp.Or(r.Source, s.Source), string(s.Ability)
		if len(out.License) == 0 {
			out.License = licensesOf(s)
		}
		meta = sampleMeta(s)
		if extra.Value.Kind != jsonval.Null {
			meta.Members = append(meta.Members, extra)
		}
	}
	meta.Kind = jsonval.Object
	for _, key := range slices.Sorted(maps.Keys(r.Meta)) {
		if r.Sample == nil || !slices.Contains(metaKeys, key) {
			meta.Members = append(meta.Members, jsonval.Pair(key, jsonval.NewString(r.Meta[key])))
		}
	}
	out.Meta = meta.Encode(jsonval.Compact)
	return out
}

// metaKeys are those of a conversation that are not from [Record].Meta.
var metaKeys = []string{"messages", "family", "second_ability", "generator", "document", "evidence", "loss", "system"}

func sampleMeta(s *midtool.Sample) jsonval.Value {
	meta := jsonval.NewObject(jsonval.Pair("messages", count(len(s.Messages))))
	for _, m := range []struct{ key, text string }{
		{"family", string(s.Family)}, {"second_ability", string(s.SecondAbility)}, {"generator", s.Generator}, {"document", s.Document},
	} {
		if m.text != "" {
			meta.Members = append(meta.Members, jsonval.Pair(m.key, jsonval.NewString(m.text)))
		}
	}
	if len(s.Evidence) > 0 {
		classes := make(map[string]int)
		for _, e := range s.Evidence {
			classes[string(e.Class)]++
		}
		evidence := jsonval.NewObject()
		for _, class := range slices.Sorted(maps.Keys(classes)) {
			evidence.Members = append(evidence.Members, jsonval.Pair(class, count(classes[class])))
		}
		meta.Members = append(meta.Members, jsonval.Pair("evidence", evidence))
	}
	return meta
}

func count(n int) jsonval.Value { return jsonval.Value{Kind: jsonval.Number, Text: strconv.Itoa(n)} }

// licensesOf lists the licenses of all tools of a sample, sorted.
func licensesOf(s *midtool.Sample) []string {
	var out []string
	add := func(tools []midtool.Tool) {
		for i := range tools {
			if l := tools[i].License; l != "" && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	add(s.Tools)
	for i := range s.Messages {
		add(s.Messages[i].Offers)
	}
	slices.Sort(out)
	return out
}

// Trained counts the bytes of Text that are learned, by what Meta says: all but those of messages that are Untrained. It is
// the length of Text where Meta has no spans that fit it.
func (r *Row) Trained() int {
	meta, err := jsonval.ParseText(cmp.Or(r.Meta, "{}"))
	if err != nil {
		return len(r.Text)
	}
	loss := meta.Get("loss")
	if messages := meta.Get("messages"); loss == nil || messages == nil || messages.Kind != jsonval.Number {
		return len(r.Text)
	}
	spans, err := spansFrom(loss, len(r.Text))
	if err != nil {
		return len(r.Text)
	}
	text := Rendering{Loss: spans}
	return text.trained()
}

// Record reads a row back: the text, or the conversation with the tools, the messages and what Meta says about them. The
// error says what is wrong with Text or Meta, or that a text of the row is not UTF-8.
func (r *Row) Record() (Record, error) {
	if invalid(r.ID) || invalid(r.Text) || invalid(r.Source) || invalid(r.Ability) || slices.ContainsFunc(r.License, invalid) {
		return Record{}, fmt.Errorf("format: row %q: a text is not UTF-8", r.ID)
	}
	meta, err := jsonval.ParseText(cmp.Or(r.Meta, "{}"))
	if err != nil {
		return Record{}, fmt.Errorf("format: row %q: meta: %w", r.ID, err)
	}
	out, err := r.record(&meta, meta.Get("loss"), readPlain)
	if err != nil {
		return Record{}, fmt.Errorf("format: row %q: %w", r.ID, err)
	}
	return out, nil
}

// A textReader reads the text of a conversation with the meta beside it. Learned says whether the byte at an offset is.
type textReader func(text string, meta *jsonval.Value, learned func(int) bool) (*conversation, error)

// record reads a row whose text is read by read.
func (r *Row) record(meta, loss *jsonval.Value, read textReader) (Record, error) {
	out := Record{ID: r.ID, Source: r.Source, Licenses: r.License}
	messages := meta.Get("messages")
	sample := messages != nil && messages.Kind == jsonval.Number
	for _, m := range meta.Members {
		if m.Value.Kind == jsonval.String && !(sample && slices.Contains(metaKeys, m.Key)) {
			if out.Meta == nil {
				out.Meta = make(map[string]string)
			}
			out.Meta[m.Key] = m.Value.Text
		}
	}
	if !sample {
		out.Text = r.Text
		return out, nil
	}
	learned, err := learnedAt(loss, len(r.Text))
	if err != nil {
		return Record{}, err
	}
	c, err := read(r.Text, meta, learned)
	if err != nil {
		return Record{}, err
	}
	s, err := c.sample()
	if err != nil {
		return Record{}, err
	}
	r.describe(s, meta)
	out.Sample = s
	return out, nil
}

// describe gives a sample what stands beside its text.
func (r *Row) describe(s *midtool.Sample, meta *jsonval.Value) {
	text := func(key string) string { return jsonval.StringOf(meta.Get(key)) }
	s.ID, s.Source, s.Ability = r.ID, r.Source, midtool.Ability(r.Ability)
	s.Family, s.SecondAbility = midtool.Family(text("family")), midtool.Ability(text("second_ability"))
	s.Generator, s.Document = text("generator"), text("document")
}

func spansValue(spans []Span) jsonval.Value {
	list := jsonval.NewList()
	for _, s := range spans {
		list.List = append(list.List, jsonval.NewList(count(s.Start), count(s.End)))
	}
	return list
}

// spansFrom reads a list of spans of a text of n bytes.
func spansFrom(v *jsonval.Value, n int) ([]Span, error) {
	bad := errors.New(`"loss": want sorted, disjoint spans inside the text`)
	if v.Kind != jsonval.List {
		return nil, bad
	}
	var spans []Span
	last := 0
	for _, e := range v.List {
		if e.Kind != jsonval.List || len(e.List) != 2 || e.List[0].Kind != jsonval.Number || e.List[1].Kind != jsonval.Number {
			return nil, bad
		}
		start, okStart := jsonval.Count(e.List[0].Text)
		end, okEnd := jsonval.Count(e.List[1].Text)
		if !okStart || !okEnd || start < last || end <= start || end > n {
			return nil, bad
		}
		last = end
		spans = append(spans, Span{start, end})
	}
	return spans, nil
}

// learnedAt reads a list of spans of a text of n bytes; nil stands for the whole. The function that it returns says whether
// the byte at an offset is learned.
func learnedAt(v *jsonval.Value, n int) (func(int) bool, error) {
	if v == nil {
		return func(int) bool { return true }, nil
	}
	spans, err := spansFrom(v, n)
	if err != nil {
		return nil, err
	}
	return func(at int) bool {
		i, found := slices.BinarySearchFunc(spans, at, func(s Span, at int) int { return cmp.Compare(s.Start, at) })
		return found || i > 0 && at < spans[i-1].End
	}, nil
}
