package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/throughline-go/throughline/bps"
)

// maxBatchBytes bounds one request for embeddings, but for a single text that is longer. OpenAI takes 300,000 tokens.
const maxBatchBytes = 512 << 10

// Embed returns one vector per text, in their order: it is a skill.Embedder. The texts go out in batches of [Options].Batch and half a
// megabyte, one after the other. All vectors have the same length, at least 1, and finite numbers. An empty text is an error, as the API
// refuses it, and so is an answer that does not have each vector once. No texts are no vectors, and nothing is sent.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float64, error) {
	for i, t := range texts {
		if t == "" {
			return nil, fmt.Errorf("openai: text %d is empty", i)
		}
	}
	vectors := make([][]float64, 0, len(texts))
	for len(vectors) < len(texts) {
		rest := texts[len(vectors):]
		n, size := 0, 0
		for n < len(rest) && n < c.o.Batch && (n == 0 || size+len(rest[n]) <= maxBatchBytes) {
			size += len(rest[n])
			n++
		}
		batch, err := c.embed(ctx, rest[:n])
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, batch...)
		for _, v := range batch {
			if len(v) != len(vectors[0]) {
				return nil, &Error{Message: fmt.Sprintf("vectors have %d and %d numbers", len(vectors[0]), len(v)), Attempts: 1}
			}
		}
	}
	return vectors, nil
}

// embed sends one batch.
func (c *Client) embed(ctx context.Context, texts []string) ([][]float64, error) {
	p := sdk.EmbeddingNewParams{Model: c.o.Model, Input: sdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}}
	var vectors [][]float64
	err := c.do(ctx, func() uint64 { return seedOf(p) }, func(ctx context.Context, opts ...option.RequestOption) error {
		_, err := c.embeddings.New(ctx, p, opts...)
		return err
	}, func(res *http.Response) (tokens, error) {
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return tokens{}, err
		}
		var used tokens
		vectors, used, err = c.parseVectors(body, len(texts))
		if err == nil && used == (tokens{}) {
			for _, t := range texts {
				used.input += bps.EstimateTokens(t)
			}
		}
		return used, err
	})
	return vectors, err
}

// parseVectors reads an answer that should have n vectors.
func (c *Client) parseVectors(body []byte, n int) ([][]float64, tokens, error) {
	var w struct {
		Data []struct {
			Index     *int
			Embedding json.RawMessage
		}
		Usage json.RawMessage
		Error json.RawMessage
	}
	fail := func(format string, args ...any) ([][]float64, tokens, error) {
		return nil, tokens{}, &Error{Message: fmt.Sprintf(format, args...)}
	}
	if deep(body) {
		return fail("the answer is nested deeper than %d", maxDepth)
	}
	if wide(body, 2) { // the list of vectors, not the numbers in them
		return nil, tokens{}, errWide()
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, tokens{}, &Error{
			Message: "the answer is not the JSON of embeddings: " + c.redact.text(err.Error()), retry: cutOff(body),
		}
	}
	if len(w.Error) > 0 && string(w.Error) != "null" && len(w.Data) == 0 {
		return nil, tokens{}, c.streamError(body)
	}
	if len(w.Data) != n {
		return fail("%d vectors for %d texts", len(w.Data), n)
	}
	vectors := make([][]float64, n)
	for i, d := range w.Data {
		switch {
		case d.Index == nil:
			return fail("vector %d of the answer has no index", i)
		case *d.Index < 0 || *d.Index >= n:
			return fail("vector %d of the answer has index %d, which is not in [0, %d)", i, *d.Index, n)
		case vectors[*d.Index] != nil:
			return fail("index %d is there twice", *d.Index)
		}
		v, ok := vector(d.Embedding)
		if !ok {
			return fail("vector %d is neither a list of finite numbers nor the base64 of one", *d.Index)
		}
		if len(v) == 0 {
			return fail("vector %d is empty", *d.Index)
		}
		vectors[*d.Index] = v
	}
	var g gatherer
	g.use(w.Usage)
	return vectors, g.used, nil
}

// vector reads numbers, or the base64 of little-endian numbers of 32 bits.
func vector(raw json.RawMessage) ([]float64, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		var numbers []*float64 // null is none
		if json.Unmarshal(raw, &numbers) != nil {
			return nil, false
		}
		v := make([]float64, len(numbers))
		for i, x := range numbers {
			if x == nil {
				return nil, false
			}
			v[i] = *x
		}
		return v, true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil, false
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(b)%4 != 0 {
		return nil, false
	}
	v := make([]float64, len(b)/4)
	for i := range v {
		v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		if math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
			return nil, false
		}
	}
	return v, true
}
