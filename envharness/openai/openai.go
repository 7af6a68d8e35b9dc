// Package openai puts a language model behind an OpenAI-compatible endpoint to work: as a policy that calls tools, as the generator
// func of packages midtool, skill and rigger, and as an embedder of package skill.
package openai

import (
	"context"
	"errors"
	"net/http"
	"time"

	sdk "github.com/openai/openai-go/v3"

	"github.com/throughline-go/throughline/envharness"
)

// Options says which model to use and how. Nothing is read from the environment.
type Options struct {
	BaseURL    string       // such as "http://localhost:8000/v1"; empty means the address of OpenAI
	APIKey     string       // sent as a bearer token; empty means none. It is in no error, trace or log.
	Model      string       // required
	Header     http.Header  // sent with each request
	HTTPClient *http.Client // nil means a client of its own

	Stream      bool     // ask for answers in pieces: some servers answer long requests in no other way
	Temperature *float64 // nil means that of the server
	Seed        *int64   // nil sends none
	MaxTokens   int      // of one answer; zero means that of the server
	NoParallel  bool     // ask for at most one call an answer

	Timeout time.Duration // of one attempt; zero means 2 minutes
	Retries *int          // further attempts after 408, 409, 429, 5xx and broken connections; nil means 4
	Price   Price         // for [Usage].Cost; the zero value makes it 0
}

// A Price is what a million tokens cost, in a currency of the caller's.
type Price struct{ Input, Cached, Output float64 }

// Usage is what a client has used so far.
type Usage struct {
	Requests, Retries     int
	Input, Cached, Output int     // tokens, as the server counts them; Cached are part of Input
	Cost                  float64 // by [Options].Price
}

// A Client is one model behind one endpoint. It is safe for concurrent use.
type Client struct{ _ sdk.ChatCompletionService }

// New checks the options and makes a client. Nothing is sent.
func New(o Options) (*Client, error) { return nil, errors.New("openai: not implemented") }

// Usage returns what was used so far, by all policies of the client as well.
func (c *Client) Usage() Usage { return Usage{} }

// Generate answers a prompt: it is the generator func of the other packages.
func (c *Client) Generate(ctx context.Context, prompt string) (string, error) {
	return "", errors.New("openai: not implemented")
}

// Embed returns one vector per text: it is a skill.Embedder.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float64, error) {
	return nil, errors.New("openai: not implemented")
}

// PolicyOptions adjusts a policy. A nil *PolicyOptions equals &PolicyOptions{}.
type PolicyOptions struct {
	System string // the first message; empty means a short text of our own
	// Offer chooses, before each request, what the model is offered: the tools, of those that the turn shows, and instructions that are
	// part of this request alone. Nil means all tools and no instructions. It is called once a request, in order of the turns.
	Offer func(ctx context.Context, t envharness.Turn) (instructions string, tools []envharness.Tool, err error)
	// Context is how many tokens one request may have, as Count counts them; beyond it the episode ends with
	// [envharness.ErrTokenBudget], or the oldest turns are left out where Forget is set. Zero means no limit but the server's.
	Context int
	Count   func(text string) int // tokens of a text; nil means an estimate that errs high
	Forget  bool
}

// Policy returns a policy for one episode after another. Each rollout needs one of its own.
func (c *Client) Policy(o *PolicyOptions) *Policy { return &Policy{} }

// A Policy is an [envharness.Policy] and [envharness.Explainer].
type Policy struct{}

// Act implements envharness.Policy.
func (p *Policy) Act(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	return envharness.Action{}, errors.New("openai: not implemented")
}

// Explain implements envharness.Explainer.
func (p *Policy) Explain() (text string, tokens int) { return "", 0 }
