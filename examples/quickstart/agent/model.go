package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// scripted returns the model that acts where the flags name none, and what ends its server.
func scripted(ctx context.Context, w envharness.World, t envharness.Task) (*openai.Client, func(), error) {
	plan, err := yardstick.Plan(ctx, w, t)
	if err != nil {
		return nil, nil, err
	}
	fake := openaitest.New(func(q openaitest.Request) openaitest.Reply { return script(plan, q) }, nil)
	client, err := openai.New(openai.Options{BaseURL: fake.BaseURL, Model: "scripted"})
	if err != nil {
		fake.Close()
		return nil, nil, err
	}
	return client, fake.Close, nil
}

// script makes the next call of a plan if the tool is among those that are offered.
func script(plan []envharness.Action, q openaitest.Request) openaitest.Reply {
	made := 0
	for _, m := range q.Messages {
		made += len(m.Calls)
	}
	if made >= len(plan) {
		return openaitest.Reply{Refusal: "I have done all that I know."}
	}
	next := plan[made]
	if !slices.ContainsFunc(q.Tools, func(t openaitest.Tool) bool { return t.Name == next.Name }) {
		return openaitest.Reply{Refusal: "I lack the tool " + next.Name + "."}
	}
	return openaitest.Reply{Calls: []openaitest.Call{{Name: next.Name, Args: cmp.Or(string(next.Args), "{}")}}}
}

// otherTools are 300 tools of other businesses.
func otherTools() []envharness.Tool {
	var tools []envharness.Tool
	for thing := range strings.FieldsSeq("flight hotel car ticket_sale invoice contract song playlist recipe workout survey lecture exam " +
		"patient prescription sensor camera shipment warehouse currency stock_price mortgage insurance meeting calendar") {
		for verb := range strings.FieldsSeq("get list search create update delete book cancel convert export share archive") {
			words := strings.ReplaceAll(thing, "_", " ")
			tools = append(tools, envharness.Tool{
				Name:        verb + "_" + thing,
				Description: fmt.Sprintf("%s%s a %s, or several of them, in the system that keeps them.", strings.ToUpper(verb[:1]), verb[1:], words),
				Schema: fmt.Appendf(nil, `{"type":"object","properties":{"%s_id":{"type":"string","description":"which %s"},`+
					`"note":{"type":"string","description":"what to bear in mind"}},"required":["%s_id"]}`, thing, words, thing),
			})
		}
	}
	return tools
}
