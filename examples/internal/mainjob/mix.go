package mainjob

import (
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/dedup"
	"github.com/throughline-go/throughline/midtool/mix"
)

// nativeSource is the source, in the mix, of conversations that were made of tools or recorded.
const nativeSource = "native"

// deskShares are the shares of the sources in the mix, by tokens. Those of documents among themselves are MidTool's. Conversations with tools
// get as much as all documents together and not MidTool's 9 of 100, for the policy learns to act from them alone.
var deskShares = map[string]int{"web": 42, "code": 26, "pdf": 23, nativeSource: 91}

// mix leaves out what repeats itself and mixes both branches: all conversations with tools, and of the documents, each with what was made of
// it, as many as their shares allow beside these.
func (j *job) mix(ctx context.Context, made, desk *midtool.Corpus, b *branch) error {
	recorded := desk
	if j.ownTools() {
		recorded = &midtool.Corpus{}
	}
	repeated, err := j.distinct(ctx, made, recorded, b)
	if err != nil {
		return err
	}
	conversations := slices.Concat(made.Samples, recorded.Samples)
	units, err := unitsOf(ctx, conversations, b.documents)
	if err != nil {
		return err
	}
	mixed, err := mix.Select(units, &mix.Options{Seed: j.Seed, Budget: budgetFor(units), Shares: deskShares, Shortfall: mix.Under})
	if err != nil {
		return err
	}
	r := &j.result.Report.Corpus
	var sum midtool.Summary
	take := func(s midtool.Sample) {
		sum.Add(&s, 0)
		j.result.Samples = append(j.result.Samples, s)
	}
	for _, p := range mixed.Picks {
		if p.Index < len(conversations) {
			s := conversations[p.Index]
			if s.Source == recordedSource {
				r.Recorded++
			} else {
				r.Native++
			}
			take(s)
			continue
		}
		d := b.documents[p.Index-len(conversations)]
		j.result.Documents = append(j.result.Documents, d.Document)
		r.Grounded += len(d.samples)
		for _, s := range d.samples {
			take(s)
		}
	}
	j.imitated = j.result.Samples
	if j.ownTools() { // the policy plays in the desk, whatever the corpus is about
		j.imitated = desk.Samples
	}
	r.Samples, r.Tokens, r.Documents, r.Duplicates = len(j.result.Samples), mixed.Tokens, len(j.result.Documents), repeated
	r.Rejected = len(made.Rejected) + len(recorded.Rejected) + len(b.rejected)
	r.NativeShare = mixed.Sources[nativeSource].Got
	r.Families, r.Abilities = sum.Families, sum.Abilities

	left := made.Reasons()
	for _, rejected := range [][]midtool.Rejection{recorded.Rejected, b.rejected} {
		for _, rejection := range rejected {
			left[rejection.Reason]++
		}
	}
	if repeated > 0 {
		left["repeated"] = repeated
	}
	if n := len(units) - len(mixed.Picks); n > 0 {
		left["above their share"] = n
		if j.Docs != "" {
			j.Warn(fmt.Sprintf("docs: %d documents are above their share of the mix", n))
		}
	}
	available := 0
	for _, u := range units {
		available += u.Tokens
	}
	j.row("corpus", fmt.Sprintf("make samples of tools, of %d families", len(made.Planned)), "tools, samples that passed every check",
		fmt.Sprint(len(j.tools)), fmt.Sprint(made.Kept))
	j.row("", "read documents; make questions and conversations that are grounded in them", "documents, samples that passed every check",
		fmt.Sprint(len(j.documents)), fmt.Sprint(b.made))
	j.row("", fmt.Sprintf("mix both branches and %d recorded plans; %s of the tokens are of tools and plans", r.Recorded, percent(r.NativeShare)),
		"tokens, available and in the mix", fmt.Sprint(available), fmt.Sprint(r.Tokens))
	j.row("", "left out: "+reasons(left), "tokens, definitions and mix", fmt.Sprint(definitions(j.tools)), fmt.Sprint(r.Tokens))
	return nil
}

// unitsOf are the conversations, and behind them the documents, each with what was made of it, as units of the mix.
func unitsOf(ctx context.Context, conversations []midtool.Sample, documents []augmented) ([]mix.Unit, error) {
	var check midtool.Checker
	tokens := func(samples []midtool.Sample) (n int, err error) {
		for i := range samples {
			f, err := check.Check(ctx, &samples[i])
			if err != nil {
				return 0, err
			}
			n += f.Tokens
		}
		return n, nil
	}
	var units []mix.Unit
	for i, s := range conversations {
		n, err := tokens(conversations[i : i+1])
		if err != nil {
			return nil, err
		}
		units = append(units, mix.Unit{ID: nativeSource + "/" + s.ID, Source: nativeSource, Tokens: n})
	}
	for _, d := range documents {
		n, err := tokens(d.samples)
		if err != nil {
			return nil, err
		}
		n += midtool.ApproxTokens(d.Text)
		units = append(units, mix.Unit{ID: "document/" + d.ID, Source: mix.ShareOf(string(d.Kind)), Tier: d.tier, Tokens: n})
	}
	return units, nil
}

// budgetFor is the budget in which the conversations with tools are their whole share.
func budgetFor(units []mix.Unit) int {
	tokens := make(map[string]int)
	for _, u := range units {
		tokens[u.Source] += u.Tokens
	}
	shares := 0
	for source := range tokens {
		shares += deskShares[source]
	}
	if tokens[nativeSource] == 0 {
		return 0
	}
	return (tokens[nativeSource]*shares + deskShares[nativeSource] - 1) / deskShares[nativeSource]
}

// distinct takes what repeats itself out of the branches and returns how many documents and samples these are.
func (j *job) distinct(ctx context.Context, made, recorded *midtool.Corpus, b *branch) (int, error) {
	var documents, samples []dedup.Record
	for _, d := range b.documents {
		documents = append(documents, dedup.Record{ID: d.ID, Source: string(d.Kind), Content: d.Text, Zero: mix.ShareOf(string(d.Kind)) != "code"})
	}
	gone, err := j.repeated(ctx, documents)
	if err != nil {
		return 0, err
	}
	n := len(gone)
	b.documents = slices.DeleteFunc(b.documents, func(d augmented) bool { return gone[d.ID] })
	lists := []*[]midtool.Sample{&made.Samples, &recorded.Samples}
	for i := range b.documents {
		lists = append(lists, &b.documents[i].samples)
	}
	for _, list := range lists {
		for i := range *list {
			s := &(*list)[i]
			samples = append(samples, dedup.Record{ID: s.ID, Source: s.Source, Content: dedup.SampleContent(s), Exact: s.ContentHash()})
		}
	}
	if gone, err = j.repeated(ctx, samples); err != nil {
		return 0, err
	}
	for _, list := range lists {
		*list = slices.DeleteFunc(*list, func(s midtool.Sample) bool { return gone[s.ID] })
	}
	return n + len(gone), nil
}

// repeated are the IDs of records that repeat another one.
func (j *job) repeated(ctx context.Context, records []dedup.Record) (map[string]bool, error) {
	found, err := dedup.Run(ctx, func(yield func(dedup.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}, &dedup.Options{Seed: j.Seed, Workers: j.Workers, MaxLoss: new(1.0)}) // a loss is told in the table, however large
	if err != nil {
		return nil, err
	}
	gone := make(map[string]bool, len(found.Removed))
	for _, r := range found.Removed {
		gone[records[r.Index].ID] = true
	}
	return gone, nil
}
