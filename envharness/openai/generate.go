package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/throughline-go/throughline/bps"
)

// Generate answers a prompt: it is the generator func of the other packages. An answer that is empty, a refusal, withheld by a filter or
// cut off at its longest is an error; so is everything that fails for good, as an [*Error].
func (c *Client) Generate(ctx context.Context, prompt string) (string, error) {
	a, err := c.complete(ctx, c.request([]sdk.ChatCompletionMessageParamUnion{sdk.UserMessage(prompt)}), func() int {
		return bps.EstimateTokens(prompt)
	})
	if err != nil {
		return "", err
	}
	switch {
	case a.refusal != "":
		return "", fmt.Errorf("openai: the model refuses: %s", c.redact.text(a.refusal))
	case a.finish == finishFilter:
		return "", errors.New("openai: the answer was withheld by a content filter")
	case a.finish == finishLength:
		return "", fmt.Errorf("openai: the answer was cut off after %d tokens", a.used.output)
	case strings.TrimSpace(a.content) == "":
		return "", errors.New("openai: the answer is empty")
	}
	return a.content, nil
}

// Reasons for which an answer ends.
const (
	finishFilter = "content_filter"
	finishLength = "length"
)

// request returns the parameters of one request, without tools.
func (c *Client) request(messages []sdk.ChatCompletionMessageParamUnion) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{Model: c.o.Model, Messages: messages}
	if c.o.Temperature != nil {
		p.Temperature = param.NewOpt(*c.o.Temperature)
	}
	if c.o.Seed != nil {
		p.Seed = param.NewOpt(*c.o.Seed)
	}
	if c.o.MaxTokens > 0 {
		if c.isOpenAI { // whose models no longer take the older name, which is the one that other servers know
			p.MaxCompletionTokens = param.NewOpt(int64(c.o.MaxTokens))
		} else {
			p.MaxTokens = param.NewOpt(int64(c.o.MaxTokens))
		}
	}
	if c.o.Stream {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	return p
}

// complete sends a request until it is answered. Where the server does not tell what it used, input tells the tokens of the request.
func (c *Client) complete(ctx context.Context, p sdk.ChatCompletionNewParams, input func() int) (answer, error) {
	var a answer
	err := c.do(ctx, func() uint64 { return seedOf(p) }, func(ctx context.Context, opts ...option.RequestOption) error {
		if c.o.Stream {
			opts = append(opts, option.WithJSONSet("stream", true))
		}
		_, err := c.chat.New(ctx, p, opts...)
		return err
	}, func(res *http.Response) (tokens, error) {
		got, err := c.answer(res)
		if err != nil {
			return tokens{}, err
		}
		if !got.counted {
			got.used = tokens{input: input(), output: got.estimate()}
		}
		a = got
		return a.used, nil
	})
	return a, err
}

// estimate guesses the tokens of an answer.
func (a *answer) estimate() int {
	n := bps.EstimateTokens(a.content) + bps.EstimateTokens(a.refusal)
	for _, k := range a.calls {
		n += bps.EstimateTokens(k.name) + bps.EstimateTokens(k.args)
	}
	return n
}

// seedOf follows from what is sent alone.
func seedOf(params any) uint64 {
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode(params) // what cannot be encoded was never sent
	return h.Sum64()
}
