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
	"github.com/throughline-go/throughline/midtool/openapisource"
)

// readInput reads the user's files, all of them before any work is done.
func (j *job) readInput(ctx context.Context) error {
	j.readOnly = make(map[string]bool)
	for _, t := range tooldesk.New(nil).Describe().Tools {
		j.readOnly[t.Name] = t.ReadOnly
	}
	if !j.ownTools() {
		j.tools = toolsOf(tooldesk.New(nil).Describe())
	}
	if j.Tools != "" {
		if info, err := os.Stat(j.Tools); err == nil && info.IsDir() {
			return fmt.Errorf("%w: tools: %s is a folder", ErrInput, j.Tools)
		}
		if err := j.readTools(ctx, "tools", j.Tools, midtool.ToolsJSONL{Locator: j.Tools}); err != nil {
			return err
		}
	}
	if j.OpenAPI != "" {
		source := openapisource.Source{Locator: j.OpenAPI, Skip: func(r midtool.Rejection) { j.Warn(r.Error()) }}
		if err := j.readTools(ctx, "openapi", j.OpenAPI, source); err != nil {
			return err
		}
	}
	if err := j.readDocuments(ctx); err != nil {
		return err
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

// ownTools says whether the corpus is made of tools of the caller's own.
func (j *job) ownTools() bool { return j.Tools != "" || j.OpenAPI != "" }

// readTools adds the tools of one of the caller's files, which has some.
func (j *job) readTools(ctx context.Context, flag, name string, source midtool.Source) error {
	tools, err := midtool.ReadTools(ctx, source)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %s: %w", ErrInput, flag, err)
	}
	if len(tools) == 0 {
		return fmt.Errorf("%w: no tool in %s", ErrInput, name)
	}
	j.tools = append(j.tools, tools...)
	return nil
}

// corpus makes checked samples of both branches, of all families that the tools can have and of what the documents show, and mixes them.
func (j *job) corpus(ctx context.Context) error {
	made, err := native.Generate(ctx, j.tools, &native.Options{
		Seed: j.Seed, Samples: max(len(j.tools), min(j.perTool*len(j.tools), j.samples)), Own: true, MinQuality: new(0.0),
		Workers: j.Workers, Progress: j.stage("build corpus"),
	})
	if err != nil {
		return err
	}
	if j.ownTools() {
		for _, r := range made.Rejected {
			if made.Kept == 0 {
				return fmt.Errorf("%w: no usable tool in %s: %w", ErrInput, strings.TrimSpace(j.Tools+" "+j.OpenAPI), &r)
			}
			j.Warn(r.Error())
		}
		j.offerTools(made.Samples)
	}
	tasks, _, _, _, err := j.splits(ctx)
	if err != nil {
		return err
	}
	recorded, err := j.recorded(ctx, tasks[:j.demos])
	if err != nil {
		return err
	}
	documents, err := j.augment(ctx)
	if err != nil {
		return err
	}
	return j.mix(ctx, made, recorded, documents)
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

// reasons lists why something was left out, in a fixed order.
func reasons(counts map[string]int) string {
	if len(counts) == 0 {
		return "nothing"
	}
	var out []string
	for _, r := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[r], r))
	}
	return strings.Join(out, ", ")
}
