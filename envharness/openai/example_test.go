package openai_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/budget"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
	"github.com/throughline-go/throughline/skill"
)

// A model plays a world. The endpoint is a fake one here; BaseURL may be that of any server with chat completions and tools.
func Example() {
	ctx := context.Background()
	server := openaitest.New(openaitest.Script(
		openaitest.Reply{Text: "1*1*4*6 is 24.", Calls: []openaitest.Call{
			{Name: "combine", Args: `{"i":0,"j":1,"op":"mul"}`}, {Name: "combine", Args: `{"i":0,"j":1,"op":"mul"}`},
		}},
		openaitest.Reply{Calls: []openaitest.Call{{Name: "combine", Args: `{"i":0,"j":1,"op":"mul"}`}}},
		openaitest.Reply{Calls: []openaitest.Call{{Name: "stop", Args: `{}`}}},
	), nil)
	defer server.Close()

	client, err := openai.New(openai.Options{BaseURL: server.BaseURL, Model: "my-model"})
	if err != nil {
		log.Fatal(err)
	}
	newPolicy := func(int) (envharness.Policy, error) { return client.Policy(nil), nil }
	traces, err := envharness.Rollouts(ctx, game24.World(nil), nil, newPolicy, []envharness.Task{{ID: "1,1,4,6"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range traces[0].Turns {
		fmt.Println(t.Proposed, "->", t.Shown.Observation.Text)
	}
	fmt.Println(traces[0].Verdict.Status, "after", client.Usage().Requests, "requests")
	// Output:
	// combine {"i":0,"j":1,"op":"mul"} -> target=24, numbers=[4, 6, 1]
	// combine {"i":0,"j":1,"op":"mul"} -> target=24, numbers=[1, 24]
	// combine {"i":0,"j":1,"op":"mul"} -> target=24, numbers=[24]
	// stop {} -> target=24, numbers=[24]
	// pass after 3 requests
}

// What a request offers is chosen turn by turn, within a budget of tokens.
func ExampleClient_Policy_offer() {
	server := openaitest.New(func(r openaitest.Request) openaitest.Reply {
		for _, t := range r.Tools {
			fmt.Println("offered:", t.Name)
		}
		return openaitest.Reply{Calls: []openaitest.Call{{Name: "cancel_order", Args: `{}`}}}
	}, nil)
	defer server.Close()
	client, err := openai.New(openai.Options{BaseURL: server.BaseURL, Model: "my-model"})
	if err != nil {
		log.Fatal(err)
	}
	chooser, err := budget.New(60, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	policy := client.Policy(&openai.PolicyOptions{Offer: chooser.Offer, Called: chooser.Called})
	action, err := policy.Act(context.Background(), envharness.Turn{
		Shown: envharness.Observation{Text: "Please cancel my order."},
		Tools: []envharness.Tool{
			{Name: "play_music", Description: "Play a song."}, {Name: "get_weather", Description: "Forecast for a city."},
			{Name: "cancel_order", Description: "Cancel an order."},
		},
	})
	fmt.Println(action, err)
	// Output:
	// offered: cancel_order
	// cancel_order {} <nil>
}

// Act asks the model once for all calls of an answer; Explain tells what the last answer was.
func ExamplePolicy_Act() {
	ctx := context.Background()
	server := openaitest.New(openaitest.Script(
		openaitest.Reply{Text: "Two looks.", Calls: []openaitest.Call{{Name: "look"}, {Name: "look"}}, Usage: &openaitest.Usage{Input: 30, Output: 6}},
		openaitest.Reply{Text: "I am done."},
	), nil)
	defer server.Close()
	client, err := openai.New(openai.Options{BaseURL: server.BaseURL, Model: "my-model"})
	if err != nil {
		log.Fatal(err)
	}
	policy := client.Policy(nil)
	for i, shown := range []string{"A room.", "A door.", "A dark door."} {
		action, err := policy.Act(ctx, envharness.Turn{
			Index: i, Shown: envharness.Observation{Text: shown}, Tools: []envharness.Tool{{Name: "look"}},
		})
		fmt.Println(action, err, server.Requests())
	}
	// Output:
	// look {} <nil> 1
	// look {} <nil> 1
	//  envharness: unreadable action: the answer calls no tool: call one of look 2
}

func ExamplePolicy_Explain() {
	server := openaitest.New(openaitest.Script(openaitest.Reply{
		Text: "I look.", Calls: []openaitest.Call{{Name: "look", Args: `{"far":true}`}}, Usage: &openaitest.Usage{Input: 30, Output: 6},
	}), nil)
	defer server.Close()
	client, err := openai.New(openai.Options{BaseURL: server.BaseURL, Model: "my-model"})
	if err != nil {
		log.Fatal(err)
	}
	policy := client.Policy(nil)
	if _, err := policy.Act(context.Background(), envharness.Turn{Tools: []envharness.Tool{{Name: "look"}}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(policy.Explain())
	// Output:
	// I look.
	// look {"far":true} 36
}

// The faults of the options come together.
func ExampleNew() {
	_, err := openai.New(openai.Options{BaseURL: "localhost:8000", Temperature: new(3.0)})
	fmt.Println(err)
	// Output:
	// openai: BaseURL must begin with http:// or https://
	// openai: Model is empty
	// openai: Temperature 3 is not in [0, 2]
}

// Generate is the func that skill.InduceOptions, rigger and others ask for.
func ExampleClient_Generate() {
	server := openaitest.New(openaitest.Script(openaitest.Reply{Text: "Hello."}), nil)
	defer server.Close()
	client, err := openai.New(openai.Options{BaseURL: server.BaseURL, Model: "my-model"})
	if err != nil {
		log.Fatal(err)
	}
	o := skill.InduceOptions{Generate: client.Generate}
	fmt.Println(o.Generate(context.Background(), "Greet me."))
	// Output: Hello. <nil>
}

func ExampleClient_Embed() {
	server := openaitest.New(openaitest.Script(openaitest.Reply{Vectors: [][]float64{{1, 0}, {0.6, 0.8}}}), nil)
	defer server.Close()
	client, err := openai.New(openai.Options{BaseURL: server.BaseURL, Model: "my-embedding-model"})
	if err != nil {
		log.Fatal(err)
	}
	var embedder skill.Embedder = client
	fmt.Println(embedder.Embed(context.Background(), []string{"a cat", "a dog"}))
	// Output: [[1 0] [0.6 0.8]] <nil>
}

func ExampleClient_Usage() {
	server := openaitest.New(openaitest.Script(
		openaitest.Reply{Status: 429, RetryAfter: "0"},
		openaitest.Reply{Text: "Hello.", Usage: &openaitest.Usage{Input: 2000, Cached: 1000, Output: 500}},
	), nil)
	defer server.Close()
	client, err := openai.New(openai.Options{
		BaseURL: server.BaseURL, Model: "my-model", Backoff: 1, Price: openai.Price{Input: 2, Cached: 0.5, Output: 10},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Generate(context.Background(), "Greet me."); err != nil {
		log.Fatal(err)
	}
	u := client.Usage()
	fmt.Println(u.Requests, u.Retries, u.Input, u.Cached, u.Output, u.Cost)
	// Output: 2 1 2000 1000 500 0.0075
}

// An Error has the words of the server, and no secret.
func ExampleError_Error() {
	server := openaitest.New(func(r openaitest.Request) openaitest.Reply {
		return openaitest.Reply{Status: 403, Error: openaitest.Error{
			Message: "not allowed: " + r.Header.Get("Authorization"), Type: "invalid_request_error", Code: "model_not_allowed",
		}}
	}, nil)
	defer server.Close()
	client, err := openai.New(openai.Options{BaseURL: server.BaseURL, APIKey: "sk-secret", Model: "my-model"})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Generate(context.Background(), "Greet me.")
	fmt.Println(err)
	// Output: openai: status 403: model_not_allowed: invalid_request_error: not allowed: Bearer [redacted]
}

func ExampleError_Is() {
	var err error = &openai.Error{Status: 503, Message: "overloaded"}
	e, ok := errors.AsType[*openai.Error](fmt.Errorf("wrapped: %w", err))
	fmt.Println(ok, e.Status, errors.Is(err, envharness.ErrInfra))
	// Output: true 503 true
}

// Show is the default of PolicyOptions.Show, and can be a part of another.
func ExampleShow() {
	show := func(t envharness.Turn) string {
		return fmt.Sprintf("%s\n%d turns left", openai.Show(t), t.Left)
	}
	fmt.Println(strings.TrimSpace(show(envharness.Turn{
		Shown: envharness.Observation{Text: "A room.", Actions: []envharness.Action{{Name: "look"}}}, Left: 3,
	})))
	// Output:
	// A room.
	//
	// Possible calls:
	// - look
	// 3 turns left
}
