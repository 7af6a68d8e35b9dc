package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/traces"
)

const (
	window  = 8192 // tokens of a sample
	planted = 200  // samples of each kind of fault
)

// markers are the control tokens of common chat formats.
func markers() []string {
	return []string{"<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<|im_start|>", "<|im_end|>"}
}

// A faultResult says how well one kind of fault is found.
type faultResult struct {
	Rule     string  `json:"rule"` // that has to find it
	Planted  int     `json:"planted"`
	Caught   float64 `json:"caught"`         // share of these in which the rule finds something
	Rejected float64 `json:"clean_rejected"` // share of untouched samples in which it does, in the worst of the sets that the rule can judge
	Missed   string  `json:"missed,omitempty"`
}

// A cleanResult counts sound samples and the rules that reject some.
type cleanResult struct {
	Samples  int            `json:"samples"`
	Rejected map[string]int `json:"rejected"` // by rule
	Example  string         `json:"example,omitempty"`
}

// share of the samples that a rule rejects.
func (c cleanResult) share(rule string) float64 { return share(c.Rejected[rule], c.Samples) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// validation plants the faults one by one in generated samples, and runs the same checks over untouched ones.
func (e *evidence) validation(ctx context.Context, in *inputs) error {
	samples := slices.Concat(in.samples, in.rare)
	read, err := readBack(samples)
	if err != nil {
		return err
	}
	written, err := writtenSamples(ctx, slices.Concat(in.realTools, in.ownTools))
	if err != nil {
		return err
	}
	plain := &midtool.Checker{MaxTokens: window, Markers: markers()}
	again := &midtool.Checker{MaxTokens: window, Markers: markers(), Replay: world()}
	e.Clean = make(map[string]cleanResult)
	for _, set := range []struct {
		name    string
		samples []midtool.Sample
		checker *midtool.Checker
	}{{"read_back", read, plain}, {"written", written, plain}, {"replayed", samples, again}} {
		if e.Clean[set.name], err = checkClean(ctx, set.checker, set.samples); err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
		e.claim(len(set.samples) >= planted, "validation: only %d samples %s", len(set.samples), set.name)
	}
	e.Validation = make(map[string]faultResult)
	for i, f := range faults(samples) {
		from, checker, sets := read, plain, []string{"read_back", "written"}
		if f.direct {
			from, sets = samples, []string{"replayed"}
		}
		if f.replay {
			checker = again
		}
		r, err := measure(ctx, f, rand.New(rand.NewPCG(seed, uint64(i))), checker, from)
		if err != nil {
			return fmt.Errorf("%s: %w", f.kind, err)
		}
		for _, set := range sets {
			r.Rejected = max(r.Rejected, e.Clean[set].share(f.rule))
		}
		e.Validation[f.kind] = r
		e.kinds = append(e.kinds, f.kind)
		e.judge(f.kind, r)
	}
	return e.copies(ctx, read)
}

// copies imports conversations of which some occur twice, under another id: a copied question teaches nothing new.
func (e *evidence) copies(ctx context.Context, samples []midtool.Sample) error {
	const kind = "copied_question"
	samples = samples[:min(len(samples), planted)]
	all := slices.Clone(samples)
	for i := range samples {
		s := clone(samples[i])
		s.ID += "/copy"
		all = append(all, s)
	}
	imported := func(of []midtool.Sample) (int, error) {
		c, err := traces.Import(ctx, func(yield func(midtool.Sample, error) bool) {
			for i := range of {
				if !yield(of[i], nil) {
					return
				}
			}
		}, &traces.Options{Own: true})
		if err != nil {
			return 0, err
		}
		return c.Reasons()["duplicate"], nil
	}
	alone, err := imported(samples)
	if err != nil {
		return err
	}
	found, err := imported(all)
	if err != nil {
		return err
	}
	r := faultResult{Rule: "duplicate", Planted: len(samples), Caught: share(found-alone, len(samples)), Rejected: share(alone, len(samples))}
	e.Validation[kind] = r
	e.kinds = append(e.kinds, kind)
	e.judge(kind, r)
	return nil
}

// judge claims what must hold of every kind of fault.
func (e *evidence) judge(kind string, r faultResult) {
	e.claim(r.Planted == planted, "validation: %s was planted in %d samples, want %d", kind, r.Planted, planted)
	e.claim(r.Planted == 0 || r.Caught >= 0.99, "validation: %s is caught in %.1f %% by rule %s, want 99 %%: %s", kind, 100*r.Caught, r.Rule, r.Missed)
	e.claim(r.Rejected <= 0.01, "validation: rule %s of %s rejects %.1f %% of clean samples, want at most 1 %%", r.Rule, kind, 100*r.Rejected)
}

// measure plants a fault in samples drawn in random order, none twice.
func measure(ctx context.Context, f fault, r *rand.Rand, c *midtool.Checker, samples []midtool.Sample) (faultResult, error) {
	out := faultResult{Rule: f.rule}
	caught := 0
	for _, i := range r.Perm(len(samples)) {
		if out.Planted == planted {
			break
		}
		s := clone(samples[i])
		if !f.plant(r, &s) {
			continue
		}
		out.Planted++
		found, err := c.Check(ctx, &s)
		if err != nil {
			return out, err
		}
		if rulesIn(found.Violations)[f.rule] {
			caught++
		} else if out.Missed == "" {
			out.Missed = s.ID
		}
	}
	out.Caught = share(caught, out.Planted)
	return out, nil
}

// checkClean looks at samples that nothing was done to.
func checkClean(ctx context.Context, c *midtool.Checker, samples []midtool.Sample) (cleanResult, error) {
	out := cleanResult{Samples: len(samples), Rejected: make(map[string]int)}
	for i := range samples {
		found, err := c.Check(ctx, &samples[i])
		if err != nil {
			return out, err
		}
		for rule := range rulesIn(found.Violations) {
			out.Rejected[rule]++
		}
		if len(found.Violations) > 0 && out.Example == "" {
			out.Example = samples[i].ID + ": " + found.Violations[0].String()
		}
	}
	return out, nil
}

// rulesIn is the set of rules that are broken.
func rulesIn(found []midtool.Violation) map[string]bool {
	rules := make(map[string]bool)
	for _, v := range found {
		rules[v.Rule] = true
	}
	return rules
}

// readBack writes samples in the OpenAI form and reads them again: what is not in the messages or the meta is then gone.
func readBack(samples []midtool.Sample) ([]midtool.Sample, error) {
	var file bytes.Buffer
	if err := midtool.WriteMessages(&file, samples, &midtool.MessageOptions{Meta: true, StringArguments: true}); err != nil {
		return nil, err
	}
	out := make([]midtool.Sample, 0, len(samples))
	for s, err := range midtool.ReadMessages(&file, "samples.jsonl") {
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// writtenSamples makes samples without the generator, so that no filter has chosen them: one a tool, more where the tools are few. The values
// of the arguments stand in the request one after the other.
func writtenSamples(ctx context.Context, tools []midtool.Tool) ([]midtool.Sample, error) {
	var out []midtool.Sample
	for round := range 1 + 2*planted/max(1, len(tools)) {
		for _, t := range tools {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if s, ok := writtenSample(t, uint64(round)); ok {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// writtenSample returns false for a tool that arguments cannot be made for.
func writtenSample(raw midtool.Tool, round uint64) (midtool.Sample, bool) {
	t, err := midtool.Normalize(raw)
	if err != nil {
		return midtool.Sample{}, false
	}
	compiled, err := midtool.CompileSchema(t.Parameters)
	if err != nil {
		return midtool.Sample{}, false
	}
	arguments, err := compiled.Instance(seed+round, t.Name)
	if err != nil || arguments == nil {
		return midtool.Sample{}, false
	}
	t.Original, t.Name = t.Name, "tool" // what the tool is called does not matter here
	t.Returns = nil                     // nor what it gives back
	var request strings.Builder
	request.WriteString("Please take care of this for me")
	for i, v := range scalars(arguments) {
		request.WriteString([]string{": ", "; "}[min(i, 1)] + v)
	}
	const id = "call_0001"
	return midtool.Sample{
		ID: fmt.Sprintf("written/%s/%d", t.ID, round), Family: midtool.Single, Ability: midtool.Grounding, Source: "written", Tools: []midtool.Tool{t},
		Messages: []midtool.Message{
			{Role: midtool.RoleUser, Content: request.String() + "."},
			{Role: midtool.RoleAssistant, Calls: []midtool.Call{{ID: id, Name: t.Name, Arguments: arguments}}},
			{Role: midtool.RoleTool, Content: `{"status": "ok"}`, CallID: id, Name: t.Name},
			{Role: midtool.RoleAssistant, Content: "The status is ok."},
		},
	}, true
}
