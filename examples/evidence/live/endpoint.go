package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
)

// ask lets use work with a client of a fake endpoint that answers as reply says.
func ask(reply func(openaitest.Request) openaitest.Reply, stream bool, use func(*openai.Client) error) error {
	server := openaitest.New(reply, &openaitest.Options{Key: marker, Model: modelName})
	defer server.Close()
	client, err := openai.New(openai.Options{BaseURL: server.BaseURL, APIKey: marker, Model: modelName, Stream: stream, Backoff: time.Millisecond})
	if err != nil {
		return err
	}
	if err := use(client); err != nil {
		return err
	}
	if v := server.Violations(); len(v) > 0 {
		return fmt.Errorf("what was sent is wrong: %s", strings.Join(v, "; "))
	}
	return nil
}

// refused wants an error, and one without the secret.
func refused(what string, err error) error {
	switch {
	case err == nil:
		return fmt.Errorf("%s is no error", what)
	case strings.Contains(err.Error(), marker):
		return fmt.Errorf("%s: the key is in the error", what)
	}
	return nil
}

func generates(ctx context.Context, stream bool) error {
	replies := openaitest.Script(openaitest.Reply{Text: "As asked: <b>&amp;</b> é 語"}, openaitest.Reply{Refusal: "No: " + marker}, openaitest.Reply{})
	return ask(replies, stream, func(c *openai.Client) error {
		got, err := c.Generate(ctx, "Say it.")
		if err == nil && got != "As asked: <b>&amp;</b> é 語" {
			err = fmt.Errorf("generated %q", got)
		}
		_, no := c.Generate(ctx, "Say no.")
		_, empty := c.Generate(ctx, "Say nothing.")
		return errors.Join(err, refused("a refusal", no), refused("an empty answer", empty))
	})
}

func embeds(ctx context.Context) error {
	reply := func(r openaitest.Request) openaitest.Reply {
		var vectors [][]float64
		for _, text := range r.Input {
			vectors = append(vectors, []float64{float64(len(text)), 1})
		}
		return openaitest.Reply{Vectors: vectors}
	}
	texts := make([]string, 1000) // more than one request has
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	return ask(reply, false, func(c *openai.Client) error {
		got, err := c.Embed(ctx, texts)
		if err != nil {
			return err
		}
		if err := want("vectors", len(got), len(texts)); err != nil {
			return err
		}
		for i, v := range got {
			if len(v) != 2 || v[0] != float64(i+1) {
				return fmt.Errorf("the vector of text %d is %v", i, v)
			}
		}
		return nil
	})
}

func unequal(ctx context.Context) error {
	return ask(openaitest.Script(openaitest.Reply{Vectors: [][]float64{{1, 2}, {1}}}), false, func(c *openai.Client) error {
		_, err := c.Embed(ctx, []string{"a", "b"})
		return refused("vectors of two lengths", err)
	})
}

// atOnce sends n requests from n policies at once; each must get its own answer.
func atOnce(ctx context.Context, n int) error {
	echo := func(r openaitest.Request) openaitest.Reply {
		shown := r.Messages[len(r.Messages)-1].Content
		return openaitest.Reply{Calls: []openaitest.Call{{Name: "say", Args: `{"text":"` + shown + `"}`}}}
	}
	return ask(echo, false, func(c *openai.Client) error {
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				shown := fmt.Sprintf("number %d", i)
				action, err := c.Policy(nil).Act(ctx, envharness.Turn{
					Shown: envharness.Observation{Text: shown},
					Tools: []envharness.Tool{{Name: "say", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"}}}`)}},
				})
				if err == nil && string(action.Args) != `{"text":"`+shown+`"}` {
					err = fmt.Errorf("policy %d was answered %s", i, action.Args)
				}
				errs[i] = err
			})
		}
		wg.Wait()
		return errors.Join(append(errs, want("requests", c.Usage().Requests, n))...)
	})
}
