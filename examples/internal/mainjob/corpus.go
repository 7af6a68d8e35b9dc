package mainjob

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/native"
)

// readInput reads the user's files, all of them before any work is done.
func (j *job) readInput(ctx context.Context) error {
	j.readOnly = make(map[string]bool)
	for _, t := range tooldesk.New(nil).Describe().Tools {
		j.readOnly[t.Name] = t.ReadOnly
	}
	if j.Tools == "" {
		for _, t := range tooldesk.New(nil).Describe().Tools {
			j.tools = append(j.tools, midtool.Tool{
				Name: t.Name, Description: t.Description, Parameters: t.Schema, ReadOnly: t.ReadOnly, Group: "tooldesk",
				Origin: midtool.Origin{Kind: "environment", Locator: "tooldesk"},
			})
		}
	} else {
		if info, err := os.Stat(j.Tools); err == nil && info.IsDir() {
			return fmt.Errorf("%w: tools: %s is a folder", ErrInput, j.Tools)
		}
		var err error
		if j.tools, err = midtool.ReadTools(ctx, midtool.ToolsJSONL{Locator: j.Tools}); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%w: tools: %w", ErrInput, err)
		}
		if len(j.tools) == 0 {
			return fmt.Errorf("%w: no tool in %s", ErrInput, j.Tools)
		}
	}
	if j.Skills == "" {
		return nil
	}
	loaded, err := j.loadSkills(ctx, j.Skills)
	if err != nil {
		return err
	}
	for _, s := range loaded {
		j.ownQueries = append(j.ownQueries, query{text: s.Description(), without: -1, gold: len(j.own)})
		j.own = append(j.own, bps.Text{Name: s.Name(), Description: s.Description(), Body: s.Body()})
	}
	return nil
}

// corpus makes checked samples of the tools, of all families that the tools can have.
func (j *job) corpus(ctx context.Context) error {
	made, err := native.Generate(ctx, j.tools, &native.Options{
		Seed: j.Seed, Samples: max(len(j.tools), min(j.perTool*len(j.tools), j.samples)), Own: true, MinQuality: new(0.0),
		Workers: j.Workers, Progress: j.stage("build corpus"),
	})
	if err != nil {
		return err
	}
	if j.Tools != "" {
		for _, r := range made.Rejected {
			if made.Kept == 0 {
				return fmt.Errorf("%w: no usable tool in %s: %w", ErrInput, j.Tools, &r)
			}
			j.Warn(r.Error())
		}
	}
	var sum midtool.Summary
	for i := range made.Samples {
		sum.Add(&made.Samples[i], 0)
	}
	j.result.Samples = made.Samples
	r := &j.result.Report.Corpus
	r.Samples, r.Tokens, r.Rejected = made.Kept, made.Tokens, len(made.Rejected)
	r.Families, r.Abilities = sum.Families, sum.Abilities
	j.row("corpus", fmt.Sprintf("make grounded samples of %d families", len(sum.Families)), "tools, samples that passed every check",
		fmt.Sprint(len(j.tools)), fmt.Sprint(r.Samples))
	j.row("", fmt.Sprintf("left out: %s", reasons(made)), "tokens, definitions and corpus",
		fmt.Sprint(definitions(j.tools)), fmt.Sprint(r.Tokens))
	if j.Tools != "" {
		j.offerTools(made.Samples)
	}
	return nil
}

// offerTools makes the user's tools candidates of the selection, and the requests of the corpus its queries: those that
// are answered with calls at once, each with the first tool called.
func (j *job) offerTools(samples []midtool.Sample) {
	at := map[string]int{}
	for _, s := range samples {
		for _, t := range s.Tools {
			if at[t.ID] != 0 {
				continue
			}
			j.own = append(j.own, bps.Text{Name: t.Name, Description: t.Description, Body: string(t.Parameters)})
			at[t.ID] = len(j.own) // index + 1
		}
	}
	for _, s := range samples {
		if len(s.Messages) < 2 || len(s.Messages[1].Calls) == 0 {
			continue
		}
		for _, t := range s.Tools {
			if t.Name == s.Messages[1].Calls[0].Name {
				j.ownQueries = append(j.ownQueries, query{text: s.Messages[0].Content, without: -1, gold: at[t.ID] - 1})
			}
		}
	}
}

func definitions(tools []midtool.Tool) int {
	n := 0
	for _, t := range tools {
		n += midtool.ApproxTokens(t.Name) + midtool.ApproxTokens(t.Description) + midtool.ApproxTokens(string(t.Parameters))
	}
	return n
}

// reasons lists why tools or samples were left out, in a fixed order.
func reasons(c *midtool.Corpus) string {
	counts := c.Reasons()
	if len(counts) == 0 {
		return "nothing"
	}
	var out []string
	for _, r := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[r], r))
	}
	return strings.Join(out, ", ")
}
