package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"

	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A Tokenizer cuts text into tokens. Control texts such as <|im_start|> are its own matter.
type Tokenizer interface {
	// Name tells tokenizers apart.
	Name() string

	// Encode returns the tokens of a text and the offset in bytes at which each ends: from one to the next the same or
	// more, at last the length of the text.
	Encode(text string) (ids []uint32, ends []int)

	// EndOfText is the token that ends a row.
	EndOfText() uint32
}

// ignored is the label of a token that is not learned.
const ignored = -100

// A TokenRow is a line of the pre-tokenized form. The lists have the same length.
type TokenRow struct {
	InputIDs      []uint32
	AttentionMask []uint8 // all 1
	Labels        []int64 // -100 for a token that is not learned, else the token
}

// tokenRow cuts a text. A token is learned if all its bytes are, one without bytes if the character behind it is; the end
// of the text is learned.
func tokenRow(r *Rendering, t Tokenizer) (*TokenRow, int, error) {
	ids, ends := t.Encode(r.Text)
	if len(ids) != len(ends) || len(ends) > 0 && ends[len(ends)-1] != len(r.Text) || len(ends) == 0 && r.Text != "" {
		return nil, 0, fmt.Errorf("format: tokenizer %s: %d tokens, %d ends, text of %d bytes", t.Name(), len(ids), len(ends), len(r.Text))
	}
	row := &TokenRow{make([]uint32, 0, len(ids)+1), bytes.Repeat([]byte{1}, len(ids)+1), make([]int64, 0, len(ids)+1)}
	trained, start, loss := 0, 0, r.Loss
	for i, id := range ids {
		end := ends[i]
		if end < start || end > len(r.Text) {
			return nil, 0, fmt.Errorf("format: tokenizer %s: token %d ends at byte %d, before %d or behind the text", t.Name(), i, end, start)
		}
		for len(loss) > 0 && loss[0].End <= start {
			loss = loss[1:]
		}
		label := int64(ignored)
		if len(loss) > 0 && loss[0].Start <= start && end <= loss[0].End {
			label = int64(id)
			trained++
		}
		row.InputIDs, row.Labels = append(row.InputIDs, id), append(row.Labels, label)
		start = end
	}
	row.InputIDs, row.Labels = append(row.InputIDs, t.EndOfText()), append(row.Labels, int64(t.EndOfText()))
	return row, trained, nil
}

func (t *TokenRow) append(dst []byte) []byte {
	dst = append(dst, `{"input_ids":[`...)
	for i, id := range t.InputIDs {
		dst = strconv.AppendUint(comma(dst, i), uint64(id), 10)
	}
	dst = append(dst, `],"attention_mask":[`...)
	for i, m := range t.AttentionMask {
		dst = strconv.AppendUint(comma(dst, i), uint64(m), 10)
	}
	dst = append(dst, `],"labels":[`...)
	for i, l := range t.Labels {
		dst = strconv.AppendInt(comma(dst, i), l, 10)
	}
	return append(dst, "]}"...)
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

// ReadTokens reads the pre-tokenized form. It checks that the lists are equally long, that the mask is 1, that each label is
// its token or -100 and that one is learned. The first bad line ends the sequence with an error that names locator and
// line. It can be ranged over once.
func ReadTokens(r io.Reader, locator string) iter.Seq2[TokenRow, error] {
	return jsonl.Values(r, jsonval.MaxBytes, "format: "+locator, func(line []byte, _ int) (TokenRow, error) {
		v, err := jsonval.Parse(line)
		if err != nil {
			return TokenRow{}, err
		}
		ids, err := integers(&v, "input_ids", 0, math.MaxUint32)
		mask, errMask := integers(&v, "attention_mask", 1, 1)
		labels, errLabels := integers(&v, "labels", ignored, math.MaxUint32)
		if err := errors.Join(err, errMask, errLabels); err != nil {
			return TokenRow{}, err
		}
		if len(mask) != len(ids) || len(labels) != len(ids) {
			return TokenRow{}, fmt.Errorf("%d input_ids, %d attention_mask, %d labels", len(ids), len(mask), len(labels))
		}
		row := TokenRow{make([]uint32, len(ids)), make([]uint8, len(ids)), labels}
		learned := false
		for i, id := range ids {
			if labels[i] != id && labels[i] != ignored {
				return TokenRow{}, fmt.Errorf("label %d of token %d at place %d", labels[i], id, i)
			}
			learned = learned || labels[i] == id
			row.InputIDs[i], row.AttentionMask[i] = uint32(id), uint8(mask[i])
		}
		if !learned {
			return TokenRow{}, errors.New("no token is learned")
		}
		return row, nil
	})
}

// integers reads a list of integers in [least, most].
func integers(v *jsonval.Value, key string, least, most int64) ([]int64, error) {
	list := v.Get(key)
	if list == nil || list.Kind != jsonval.List {
		return nil, fmt.Errorf("%q: want a list", key)
	}
	out := make([]int64, len(list.List))
	for i := range list.List {
		n, err := strconv.ParseInt(list.List[i].Text, 10, 64)
		if list.List[i].Kind != jsonval.Number || err != nil || n < least || n > most {
			return nil, fmt.Errorf("%q: place %d: want an integer from %d to %d", key, i, least, most)
		}
		out[i] = n
	}
	return out, nil
}
