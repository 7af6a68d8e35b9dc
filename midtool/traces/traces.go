package traces

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/midtool"
)

// Options adjusts [Import]. A nil *Options equals &Options{}.
type Options struct {
	Source    string                     // tag of the samples, in place of their own; empty means "import"
	License   string                     // of conversations, and of tools that state none, spelled as by Normalize; empty means not stated
	Licenses  []string                   // allow-list; nil means [midtool.DefaultLicenses]
	Own       bool                       // conversations and tools that state no license are the caller's own and pass
	Skip      []string                   // rules of [midtool.Validate] that are not checked; nil means none
	MaxTokens int                        // window, at least 256; zero means 8192
	Emit      func(midtool.Sample) error // takes the samples one by one; nil collects them in the Corpus
}

func (o *Options) withDefaults() (Options, error) {
	var d Options
	if o != nil {
		d = *o
	}
	if d.MaxTokens != 0 && d.MaxTokens < 256 {
		return d, fmt.Errorf("traces: Options.MaxTokens %d is below 256", d.MaxTokens)
	}
	for _, rule := range d.Skip {
		if !slices.Contains(midtool.Rules(), rule) {
			return d, fmt.Errorf("traces: Options.Skip: no rule %q", rule)
		}
	}
	license, err := midtool.Normalize(midtool.Tool{Name: "license", License: d.License}) // the one place that spells licenses
	if err != nil {
		return d, fmt.Errorf("traces: Options.License %q: %w", d.License, err)
	}
	d.License = license.License
	d.Source = cmp.Or(d.Source, "import")
	if d.Licenses == nil {
		d.Licenses = midtool.DefaultLicenses()
	}
	return d, nil
}

// Import turns conversations, as [midtool.ReadMessages] yields them, into samples in the same order. For each one:
//
//   - The tools are normalized ([midtool.Normalize]); steps that lose something are in the tool's Lossy. Names are made
//     exportable, one to one, also in calls and results; the old one is the tool's Original. Calls without an ID, or with one
//     that was there before, get call_0001 and so on by their number in the sample; results without a call's ID answer the
//     calls of their turn in order.
//   - A conversation without an ID gets Source and its number among all, from 1: "import/7". If an earlier one has that ID,
//     it gets _2, _3, ... behind it.
//   - Messages of calls that break their schema or are not grounded, and that were all answered by errors, are marked
//     Untrained: a mistake that is shown and not learned.
//   - Family is kept if the conversation states a known one; where its proof fails, the conversation is rejected. That of
//     no_call, and of irrelevance without a Plan, asks for no calls alone: whether the assistant declines is not looked at,
//     so a stated irrelevance is taken on trust. Else Family is the first of recovery, parallel, sequential, multi_turn and
//     single whose proof in [midtool.Checker] holds, no_call without calls, and empty if none holds, which says nothing
//     against the sample.
//   - Ability follows from the family: composition for sequential and multi_turn, recovery for missing_info, missing_function
//     and recovery, else grounding, or affordance where there are no arguments; empty where there are no tools either. A
//     single call with an argument and two or more other tools teaches affordance besides.
//   - Evidence is found anew, whatever the conversation states.
//
// What cannot be used is in Rejected, with ID, place and reason: duplicate_id, if an earlier conversation, kept or not, has
// the ID, with the number of that one in Detail; those of Normalize; name (a tool is offered twice); license, if that of the
// conversation or of a tool is not allowed; duplicate, with the ID of the kept sample that has the same offered tools, calls
// and requests in Detail; or the first rule of Validate that is broken and not skipped. So the conversations are Kept and
// len(Rejected) together. Tools counts the distinct tools seen that can be normalized.
//
// The error is that of ctx, of samples or of Emit, or names a bad option; the corpus is then nil. Time grows linearly with the
// input; memory with the samples, if they are collected, else by some 100 bytes and the ID for each. Import is deterministic.
func Import(ctx context.Context, samples iter.Seq2[midtool.Sample, error], o *Options) (*midtool.Corpus, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if samples == nil {
		return nil, errors.New("traces: no conversations: samples is nil")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	im := importer{
		opts:  opts,
		check: midtool.Checker{MaxTokens: opts.MaxTokens},
		kept:  make(map[[sha256.Size]byte]string),
		ids:   make(map[string]bool),
		named: make(map[string]int),
	}
	n := 0
	for s, err := range samples {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		n++
		s = clone(s)
		s.Source = opts.Source
		rejected := im.identify(&s, n)
		if rejected == nil {
			rejected, err = im.add(ctx, &s)
		}
		if err != nil {
			return nil, err
		}
		if rejected != nil {
			rejected.Sample = s.ID
			im.corpus.Rejected = append(im.corpus.Rejected, *rejected)
		}
	}
	im.corpus.Tools = len(im.ids)
	return &im.corpus, nil
}

type importer struct {
	opts   Options
	check  midtool.Checker
	known  cache
	kept   map[[sha256.Size]byte]string // IDs by content
	ids    map[string]bool              // of tools
	named  map[string]int               // numbers of the conversations by ID
	corpus midtool.Corpus
}

// identify gives the n-th conversation an ID if it has none, and rejects one that an earlier conversation has.
func (im *importer) identify(s *midtool.Sample, n int) *midtool.Rejection {
	if s.ID == "" {
		base := im.opts.Source + "/" + strconv.Itoa(n)
		s.ID = base
		for k := 2; im.named[s.ID] != 0; k++ {
			s.ID = base + "_" + strconv.Itoa(k)
		}
	}
	if first := im.named[s.ID]; first != 0 {
		return &midtool.Rejection{Path: "/id", Reason: "duplicate_id", Detail: "the ID of conversation " + strconv.Itoa(first)}
	}
	im.named[s.ID] = n
	return nil
}

// add keeps a sample or says why not.
func (im *importer) add(ctx context.Context, s *midtool.Sample) (*midtool.Rejection, error) {
	if r := im.tools(s); r != nil {
		return r, nil
	}
	if r := im.license(s); r != nil {
		return r, nil
	}
	rename(s)
	link(s)
	key := s.ContentHash()
	if first, twice := im.kept[key]; twice {
		return &midtool.Rejection{Reason: "duplicate", Detail: first}, nil
	}
	found, err := im.judge(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, v := range found.Violations {
		if !slices.Contains(im.opts.Skip, v.Rule) {
			return &midtool.Rejection{Path: v.Path, Reason: v.Rule, Detail: v.Detail}, nil
		}
	}
	s.Evidence = found.Evidence
	im.kept[key] = s.ID
	im.corpus.Kept++
	im.corpus.Tokens += found.Tokens
	if im.opts.Emit == nil {
		im.corpus.Samples = append(im.corpus.Samples, *s)
	} else if err := im.opts.Emit(*s); err != nil {
		return nil, fmt.Errorf("traces: emit %q: %w", s.ID, err)
	}
	return nil, nil
}

// tools normalizes what is offered.
func (im *importer) tools(s *midtool.Sample) *midtool.Rejection {
	names := make(map[string]bool, len(s.Tools))
	for path, t := range offered(s) {
		if t.License == "" && im.opts.License != "" {
			t.License, t.LicenseFrom = im.opts.License, "conversation"
		}
		n, r := im.known.normalize(t)
		if r != nil {
			r.Path = path + r.Path
			return r
		}
		im.ids[n.ID] = true
		if names[n.Name] {
			return rejectTool(&n, path+"/name", "name", strconv.Quote(n.Name)+" is offered twice")
		}
		names[n.Name] = true
		*t = n
	}
	return nil
}

// license asks for one that is allowed on the conversation and on each tool.
func (im *importer) license(s *midtool.Sample) *midtool.Rejection {
	if why := im.forbidden(im.opts.License); why != "" {
		return &midtool.Rejection{Reason: "license", Detail: "the conversation's: " + why}
	}
	for path, t := range offered(s) {
		if why := im.forbidden(t.License); why != "" {
			return rejectTool(t, path+"/license", "license", why)
		}
	}
	return nil
}

func (im *importer) forbidden(license string) string {
	switch {
	case license == "" && !im.opts.Own:
		return "not stated; Options.License states it, Options.Own lets your own pass"
	case license != "" && !slices.Contains(im.opts.Licenses, license):
		return license
	}
	return ""
}

func rejectTool(t *midtool.Tool, path, reason, detail string) *midtool.Rejection {
	return &midtool.Rejection{Tool: t.Name, ToolID: t.ID, Group: t.Group, Origin: t.Origin, Path: path, Reason: reason, Detail: detail}
}
