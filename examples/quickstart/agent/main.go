// Command agent lets a language model act with a few of many tools: in each turn those that the turn calls for, under a token budget.
//
//	go run ./examples/quickstart/agent [-budget N] [-distractors N]
//		[-endpoint URL -model NAME [-key-env NAME] [-allow-http] [-stream] [-retries N] [-price IN,OUT [-max-cost N]]]
//
// The world is the service desk of package tooldesk, whose 13 tools are hidden among those of other businesses. Without -endpoint the
// model is scripted, behind the offline endpoint of package openaitest: it knows what to do, but can do it only with tools that it is
// offered. So it fails for want of tools alone, which says nothing about a real one. The tokens of tools are an estimate that errs high.
// With -endpoint what the model used is told as well; if its server fails so that there is no verdict, the exit code is 1.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/budget"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
)

// skills are what others have learned at the desk.
var skills = []bps.Text{
	{
		Name: "cancel-an-order", Description: "How to cancel a pending order",
		Body: "Find the customer, list the orders, cancel the one that has the item.",
	},
	{Name: "book-a-trip", Description: "How to book flights and hotels", Body: "Ask for the dates first."},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	set := flag.NewFlagSet("agent", flag.ContinueOnError)
	set.SetOutput(errs)
	tokens := set.Int("budget", 2000, "most `tokens` of tools and skills in a turn")
	distractors := set.Int("distractors", 300, "`number` of tools of no use, up to 300")
	model := endpoint.Register(set, 0, "")
	if err := set.Parse(args); err != nil {
		return err
	}
	task := envharness.Task{ID: "T1-0240"} // a customer wants to cancel an order
	world, pool := tooldesk.World(nil), otherTools()
	acting, err := model.Open(os.Getenv)
	if err != nil {
		return err
	}
	var client *openai.Client
	rollout := envharness.RolloutOptions{Reruns: new(0)} // offers are those of one attempt
	if acting != nil {
		client, rollout.EpisodeTimeout = acting.Client(), acting.Rollouts().EpisodeTimeout
	} else {
		var closed func()
		if client, closed, err = scripted(ctx, world, task); err != nil {
			return err
		}
		defer closed()
	}
	chooser, err := budget.New(*tokens, skills, nil)
	if err != nil {
		return err
	}
	// The policy asks for its tools and instructions before each request.
	offers := map[int]string{}
	offer := func(ctx context.Context, t envharness.Turn) (string, []envharness.Tool, error) {
		instructions, tools, err := chooser.Offer(ctx, t)
		c := chooser.Last()
		offers[t.Index] = fmt.Sprintf("%d of %d tools and %d skills: %d tokens, not %d", len(tools), len(t.Tools), len(c.Skills), c.Tokens, c.All)
		return instructions, tools, err
	}
	hidden := components.Distractor{N: distractors, Pool: pool}
	traces, err := envharness.Rollouts(ctx, world, []envharness.Component{hidden}, func(int) (envharness.Policy, error) {
		return client.Policy(&openai.PolicyOptions{Offer: offer, Called: chooser.Called}), nil
	}, []envharness.Task{task}, &rollout)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, traces[0].Shown.Data["task"])
	for i, turn := range traces[0].Turns {
		said := turn.Said
		if turn.Proposed != nil {
			said = turn.Proposed.String()
		}
		fmt.Fprintf(out, "%d %s\n  %s\n", i, said, cmp.Or(offers[i], "of the same answer"))
	}
	parts := []string{traces[0].Verdict.Status.String(), traces[0].Verdict.Reason, traces[0].Cause}
	fmt.Fprintln(out, strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": "))
	if acting != nil {
		fmt.Fprintln(out, acting.Usage())
		if err := endpoint.Count(traces).Err(); err != nil {
			return err
		}
	}

	chosen, err := choose(ctx, "Book a flight to Oslo, then convert the price.", pool, 400)
	fmt.Fprintln(out, "in a loop of one's own:", strings.Join(chosen, ", "))
	return err
}

// choose is all that it takes in a loop of one's own: the tools to list in the request that answers a message.
func choose(ctx context.Context, message string, tools []envharness.Tool, tokens int) (names []string, err error) {
	texts := make([]bps.Text, len(tools))
	for i, t := range tools {
		texts[i] = bps.Text{Name: t.Name, Description: t.Description, Body: string(t.Schema)}
	}
	sel, err := bps.FromTexts(ctx, message, texts, tokens, nil) // or bps.NewIndex once, and Select for each message
	if err != nil {
		return nil, err
	}
	for _, i := range slices.Sorted(slices.Values(sel.Items)) { // in their order, so that the same choice is the same prompt
		names = append(names, tools[i].Name)
	}
	return names, nil
}
