package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/throughline-go/throughline/internal/stat"
	"github.com/throughline-go/throughline/skill/internal/vector"
)

// Defaults of the paper's score and of the guards.
const (
	defaultTemperature = 0.1  // tau_s of the paper
	defaultMinSim      = 0.30 // retrieval threshold of the paper
	defaultExactTasks  = 4000 // 8 million pairs: about a second
	defaultPairSamples = 1_000_000
	maxPairSamples     = 100_000_000
)

// ScoreOptions adjusts [Score] and [ScoreMatrix]. A nil *ScoreOptions equals &ScoreOptions{}. [ScoreMatrix] knows neither texts nor
// sources and samples nothing: it refuses what it could not honour, Embedder, TextOf, ExcludeSources, HoldOutGroup, DedupTasks,
// MaxExactTasks, PairSamples and Rand.
type ScoreOptions struct {
	// Embedder compares texts; it should be the one used for retrieval. An optional method ID() string names it in the
	// report. Nil means HashEmbedder{}.
	Embedder Embedder

	Temperature float64  // of the softmax over tasks, greater than 0; zero means 0.1. Only KindPaper has one
	MinSim      *float64 // similarity in [-1, 1] above which a skill would be retrieved; nil means 0.30

	// TextOf returns the text that stands for a skill; nil means its description, as in the paper.
	TextOf func(Skill) string

	// Kind is the formula of each skill's numbers; the zero value is the paper's.
	Kind ScoreKind
	// NoiseFloor is the similarity that KindNoiseFloored takes off, finite and at least 0; nil means the median over all
	// skills and the tasks that are not excluded.
	NoiseFloor *float64

	// Exclude leaves task j out of the similarities of skill i, in its own numbers and in Report.Memory, for example
	// because the skill was made from that task. The pairs of tasks stay. It can be asked twice and must answer the same.
	// Nil excludes nothing, as in the paper.
	Exclude func(skill, task int) bool
	// ExcludeSources excludes the tasks from which a skill was made, by the task IDs of its [Record]. False leaves them in,
	// as in the paper.
	ExcludeSources bool
	// HoldOut says which tasks, besides excluded ones, a skill is not credited for in Report.Memory; the zero value means
	// those that it was made from. In ScoreMatrix Exclude alone counts.
	HoldOut HoldOut

	// DedupTasks counts equal task texts once; false counts each, as in the paper. What excludes one of them or holds it
	// out does so to all.
	DedupTasks bool

	// With more than MaxExactTasks tasks (zero means 4,000) Score looks at PairSamples random pairs of tasks (zero means
	// 1,000,000, at most 100,000,000, which take 12 bytes each) instead of all; Rand draws them, nil means a fixed seed.
	MaxExactTasks int
	PairSamples   int
	Rand          *rand.Rand
}

// A SkillScore is the score of one skill against all tasks. What the numbers mean depends on the [ScoreKind]; here for
// KindPaper.
type SkillScore struct {
	Name    string  // empty from ScoreMatrix
	Nearest int     // most similar task that is not excluded, the first of equals; -1 if there is none
	MaxSim  float64 // similarity to it; 0 if there is none

	Specificity  float64 // share of task pairs that are no more alike than the skill and its nearest task
	Abstractness float64 // effective share of the tasks that the skill is about, in [1/N, 1]
	Utility      float64 // Specificity times Abstractness

	// Defined is false if all tasks are excluded, under KindPaper also with fewer than two tasks: Specificity and Utility
	// are then 0 and mean nothing.
	Defined bool
	// AbstractnessDefined is false if fewer than two tasks are left: a share of one task says nothing.
	AbstractnessDefined bool

	EmptyText   bool    // no text to compare: the numbers are those of a zero vector, and the summary leaves them out
	Retrievable bool    // MaxSim is above MinSim: some task would find the skill
	Gated       float64 // Utility if Retrievable, else 0
}

// A Report is the result of [Score]. To read it:
//
//   - Memory first: are the tasks served? Covered is the share of them that would find a skill. Utility says how well and how evenly they
//     are served; at Memory.Placebo, the same for off-topic texts, the memory is off topic, at 1 each task has a skill that reads
//     like it. With [HashEmbedder], the texts of public demonstrations in a household cover 0.38 of such tasks with a utility of 0.21 as
//     wholes and 0.78 with 0.34 cut in pieces; off-topic texts cover 0 with 0.03. Skills that are described by a goal or a thought can
//     order the other way. If HeldOut is 0 the skills may be credited for their own tasks.
//   - Then the skills: one whose Gated is 0 would be found for no task, however high its Utility. Of the others a low Specificity means a
//     description like any two tasks are alike, a low Abstractness one that is about few of the tasks. Compare utilities within a report
//     only: they depend on the embedder, the tasks and their number.
//   - Summary.Status says whether Utility tells these skills from off-topic texts at all. It rates the number, not the memory.
type Report struct {
	Embedder       string       // ID of the embedder; scores of different embedders do not compare. Empty from ScoreMatrix
	Kind           ScoreKind    // formula of Skills and Summary
	NoiseFloor     float64      // what KindNoiseFloored took off; 0 under the other kinds
	Tasks          int          // tasks scored against
	DuplicateTasks int          // task texts that repeat an earlier one, whether DedupTasks or not; 0 from ScoreMatrix
	Pairs          int          // task pairs looked at
	Sampled        bool         // Pairs are a sample, not all
	ZeroPairs      float64      // share of the task pairs with similarity 0 or less; many make the paper's score degenerate
	Skills         []SkillScore // in the order given
	Summary        Summary      // of Skills
	Memory         MemoryScore  // of all skills together, under every kind
}

// Score computes the paper's utility of every skill against the tasks that it should serve, from texts alone: nothing is
// run. With c_j the cosine of the skill's description and task j, of N:
//
//	specificity  = share of the pairs of tasks i < k with cos(i, k) <= max c
//	abstractness = exp(H(softmax(c / 0.1))) / N, H the entropy in nats
//	utility      = specificity · abstractness
//
// (arXiv:2608.20274; unordered pairs without self-pairs and a tolerance of 1e-12 are ours). Utility is a diagnosis of a
// memory, not a prediction for one task.
//
// The formula is blind where unrelated texts look orthogonal, as under lexical embedders: a skill that matches nothing is
// then "specific" and its flat softmax "abstract". Therefore the report also holds, ours and never mixed into Utility:
// Retrievable and Gated per skill, in the summary Placebo, the utility of texts that are off topic by construction, and a
// status; and Memory, which rates the skills together. Read Gated and Memory before Utility, whatever the status: see [Report]. Other
// formulas per skill are chosen by Kind.
//
// A skill with a method ParseRecord() (Record, error), as [*Document] and all that embed it have, says by it which tasks it was
// made from. Others have no sources. With HoldOutNone and without ExcludeSources no record is read.
//
// The cost is that of the products of common entries of the vectors, at most O((M+N)·N·dimensions) for M skills and N
// tasks, and one logarithm of M for each pair of tasks. Memory is that of the vectors, and for KindNoiseFloored without a
// NoiseFloor twice M·N numbers. Beyond MaxExactTasks the pairs are sampled. The result depends on the arguments only. No tasks,
// a nil skill, origins that cannot be read, options out of range, an unusable answer of the embedder ([*VectorError])
// and a done ctx are errors.
func Score[S Skill](ctx context.Context, skills []S, tasks []Task, o *ScoreOptions) (*Report, error) {
	opts, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if len(tasks) == 0 {
		return nil, errors.New("skill: score: there are no tasks")
	}
	texts, of := distinct(tasks, opts.DedupTasks)
	n := len(texts)
	texts = append(texts, placeboTexts[:]...)
	for i, s := range skills {
		if missing(s) {
			return nil, fmt.Errorf("skill: score: skill %d is nil", i)
		}
		texts = append(texts, opts.TextOf(s))
	}
	vecs, err := embed(ctx, opts.Embedder, texts)
	if err != nil {
		return nil, fmt.Errorf("skill: score: texts of %d tasks, %d off-topic ones and %d skills: %w", n, len(placeboTexts), len(skills), err)
	}
	taskVecs, placeboVecs, skillVecs := vecs[:n], vecs[n:n+len(placeboTexts)], vecs[n+len(placeboTexts):]
	index := newPostings(taskVecs)
	sources := newSources(tasks, of)
	rep, err := rate(len(skills), n, &opts, func(i int, c []float64, excluded, heldOut []bool) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("skill: score: %w", err)
		}
		index.cosines(c, skillVecs[i])
		if opts.Exclude != nil {
			for j, k := range of {
				excluded[k] = excluded[k] || opts.Exclude(i, j)
			}
		}
		if !opts.ExcludeSources && opts.HoldOut == HoldOutNone {
			return nil
		}
		from, err := origins(skills[i])
		if err != nil {
			return fmt.Errorf("skill: score: sources of skill %d: %w", i, err)
		}
		if opts.ExcludeSources {
			sources.mark(excluded, from, HoldOutTask)
		}
		sources.mark(heldOut, from, opts.HoldOut)
		return nil
	})
	if err != nil {
		return nil, err
	}
	rep.Embedder = vector.ID(opts.Embedder)
	first := make([]int, n) // place of each task scored against in the argument
	for j := len(of) - 1; j >= 0; j-- {
		first[of[j]] = j
	}
	for i := range rep.Skills {
		s := &rep.Skills[i]
		s.Name, s.EmptyText = skills[i].Name(), skillVecs[i].Zero()
		if s.Nearest >= 0 {
			s.Nearest = first[s.Nearest]
		}
	}
	placebo := make([]SkillScore, len(placeboVecs))
	c, offTopic := make([]float64, n), newCoverage(n)
	for i, v := range placeboVecs {
		index.cosines(c, v)
		offTopic.add(c, *opts.MinSim)
		placebo[i] = scoreRow(c, nil, &opts, nil) // can overwrite c
	}
	rep.Memory.Placebo = offTopic.score().Utility
	pairs := newTally(limits(rep.Skills, placebo))
	rep.Sampled = n > opts.MaxExactTasks // also where the sample has as many pairs as there are
	if rep.Sampled {
		err = samplePairs(ctx, taskVecs, &opts, pairs.add)
	} else {
		err = index.pairs(ctx, taskVecs, pairs.add)
	}
	if err != nil {
		return nil, err
	}
	rep.compare(pairs, placebo)
	rep.DuplicateTasks = duplicates(tasks)
	if rep.Summary, err = summarize(rep.Skills, placebo); err != nil {
		return nil, err
	}
	return rep, nil
}

// ScoreMatrix is [Score] for similarities that are known already: sims[i][j] of skill i and task j, and pairs, the
// similarities of the pairs of tasks in any order: all N(N-1)/2, or a uniform sample of another number. All lie in [-1,
// 1], within 1e-9. There is no placebo, so the status is at best unchecked, and nothing is known about sources: Exclude names
// them. It changes neither argument. The cost is O(MN + P log M).
//
// A ragged matrix, no skills or tasks, a missing sample with two tasks or more, a value out of range, named by its
// indices, and options about texts, sources and sampling, as [ScoreOptions] lists them, are errors.
func ScoreMatrix(sims [][]float64, pairs []float64, o *ScoreOptions) (*Report, error) {
	opts, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if err := o.checkMatrix(); err != nil {
		return nil, err
	}
	if len(sims) == 0 || len(sims[0]) == 0 {
		return nil, errors.New("skill: score: the matrix has no skills or no tasks")
	}
	n := len(sims[0])
	if (len(pairs) == 0) != (n == 1) {
		return nil, fmt.Errorf("skill: score: %d pairs for %d tasks", len(pairs), n)
	}
	for i, x := range pairs {
		if !isCosine(x) {
			return nil, fmt.Errorf("skill: score: pairs[%d] is %g, want it in [-1, 1]", i, x)
		}
	}
	rep, err := rate(len(sims), n, &opts, func(i int, c []float64, excluded, _ []bool) error {
		if len(sims[i]) != n {
			return fmt.Errorf("skill: score: row %d has %d similarities, want %d as row 0", i, len(sims[i]), n)
		}
		for j, x := range sims[i] {
			if !isCosine(x) {
				return fmt.Errorf("skill: score: sims[%d][%d] is %g, want it in [-1, 1]", i, j, x)
			}
			c[j] = clamp(x)
			excluded[j] = opts.Exclude != nil && opts.Exclude(i, j)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t := newTally(limits(rep.Skills))
	t.add(pairs)
	rep.Sampled = len(pairs) != n*(n-1)/2
	rep.compare(t, nil)
	if rep.Summary, err = summarize(rep.Skills, nil); err != nil {
		return nil, err
	}
	return rep, nil
}

// resolve checks the options and fills the defaults in.
func (o *ScoreOptions) resolve() (ScoreOptions, error) {
	var r ScoreOptions
	if o != nil {
		r = *o
	}
	var errs []error
	reject := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("skill: score: "+format, args...))
		}
	}
	reject(r.Temperature >= 0 && !math.IsInf(r.Temperature, 1), "Temperature is %g, want a finite number above 0", r.Temperature)
	r.Temperature = cmp.Or(r.Temperature, defaultTemperature)
	if r.MinSim == nil {
		r.MinSim = new(defaultMinSim)
	}
	reject(*r.MinSim >= -1 && *r.MinSim <= 1, "MinSim is %g, want it in [-1, 1]", *r.MinSim)
	reject(r.Kind >= KindPaper && r.Kind <= KindNoiseFloored, "there is no kind %d", int(r.Kind))
	if f := r.NoiseFloor; f != nil {
		reject(*f >= 0 && !math.IsInf(*f, 1), "NoiseFloor is %g, want a finite number of at least 0", *f)
	}
	reject(r.HoldOut >= HoldOutTask && r.HoldOut <= HoldOutNone, "there is no HoldOut %d", int(r.HoldOut))
	reject(r.MaxExactTasks >= 0 && r.MaxExactTasks != 1, "MaxExactTasks is %d, want at least 2", r.MaxExactTasks)
	r.MaxExactTasks = cmp.Or(r.MaxExactTasks, defaultExactTasks)
	reject(r.PairSamples >= 0 && r.PairSamples <= maxPairSamples, "PairSamples is %d, want 1 to %d", r.PairSamples, maxPairSamples)
	r.PairSamples = cmp.Or(r.PairSamples, defaultPairSamples)
	if r.Embedder == nil {
		r.Embedder = HashEmbedder{}
	}
	if r.TextOf == nil {
		r.TextOf = Skill.Description
	}
	if r.Rand == nil {
		r.Rand = rand.New(rand.NewPCG(1, 2))
	}
	return r, errors.Join(errs...)
}

// checkMatrix refuses options that similarities alone cannot honour.
func (o *ScoreOptions) checkMatrix() error {
	if o == nil {
		return nil
	}
	var errs []error
	for _, f := range []struct {
		set       bool
		name, why string
	}{
		{o.Embedder != nil, "Embedder", "has no texts"},
		{o.TextOf != nil, "TextOf", "has no texts"},
		{o.DedupTasks, "DedupTasks", "has no texts"},
		{o.ExcludeSources, "ExcludeSources", "has no sources, want Exclude"},
		{o.HoldOut == HoldOutGroup, "HoldOutGroup", "has no sources, want Exclude"},
		{o.MaxExactTasks != 0, "MaxExactTasks", "has its pairs given"},
		{o.PairSamples != 0, "PairSamples", "has its pairs given"},
		{o.Rand != nil, "Rand", "has its pairs given"},
	} {
		if f.set {
			errs = append(errs, fmt.Errorf("skill: score: %s is set, but a matrix %s", f.name, f.why))
		}
	}
	return errors.Join(errs...)
}

// rate scores skills against tasks, but for what only the pairs of tasks can say. row writes the similarities of skill i into
// c and sets, in slices that are all false, which tasks do not count for it and which it cannot serve in the memory.
func rate(skills, tasks int, o *ScoreOptions, row func(i int, c []float64, excluded, heldOut []bool) error) (*Report, error) {
	c, excluded, heldOut := make([]float64, tasks), make([]bool, tasks), make([]bool, tasks)
	each := func(use func(i int)) error {
		for i := range skills {
			clear(excluded)
			clear(heldOut)
			if err := row(i, c, excluded, heldOut); err != nil {
				return err
			}
			use(i)
		}
		return nil
	}
	rep := &Report{Kind: o.Kind, Tasks: tasks, Skills: make([]SkillScore, skills)}
	if o.Kind == KindNoiseFloored {
		if o.NoiseFloor == nil {
			all := make([]float64, 0, skills*tasks)
			if err := each(func(int) { all = appendCounted(all, c, excluded) }); err != nil {
				return nil, err
			}
			floor, err := medianFloor(all)
			if err != nil {
				return nil, err
			}
			o.NoiseFloor = new(floor)
		}
		rep.NoiseFloor = *o.NoiseFloor
	}
	memory := newCoverage(tasks)
	work := make([]float64, tasks)
	err := each(func(i int) {
		rep.Skills[i] = scoreRow(c, excluded, o, work)
		memory.add(c, *o.MinSim, excluded, heldOut)
	})
	if err != nil {
		return nil, err
	}
	rep.Memory = memory.score()
	return rep, nil
}

// scoreRow scores the similarities c of one skill, less the excluded tasks, but for what only the pairs of tasks can say.
// A nil excluded excludes none; else work has room for c.
func scoreRow(c []float64, excluded []bool, o *ScoreOptions, work []float64) SkillScore {
	s := SkillScore{Nearest: -1}
	for j, x := range c {
		if (excluded == nil || !excluded[j]) && (s.Nearest < 0 || x > s.MaxSim) {
			s.Nearest, s.MaxSim = j, x
		}
	}
	if s.Nearest < 0 {
		return s
	}
	if excluded != nil {
		c = appendCounted(work[:0], c, excluded)
	}
	s.AbstractnessDefined = len(c) > 1
	s.Retrievable = s.MaxSim > *o.MinSim
	switch o.Kind {
	case KindPaper: // specificity follows
		s.Abstractness = softmaxShare(c, s.MaxSim, o.Temperature)
		return s
	case KindSimple:
		s.Abstractness = effectiveShare(c)
	case KindNoiseFloored:
		s.Abstractness = evennessAbove(c, *o.NoiseFloor)
	}
	s.Specificity = max(0, s.MaxSim)
	s.finish()
	return s
}

// finish multiplies the factors.
func (s *SkillScore) finish() {
	s.Defined = true
	s.Utility = s.Specificity * s.Abstractness
	if s.Retrievable {
		s.Gated = s.Utility
	}
}

// medianFloor returns the median of the similarities, of which negative ones count as 0. It overwrites them. There is no
// noise without similarities.
func medianFloor(all []float64) (float64, error) {
	if len(all) == 0 {
		return 0, nil
	}
	for i, x := range all {
		all[i] = max(0, x)
	}
	return stat.Median(all)
}

// appendCounted appends those of c that are not excluded.
func appendCounted(dst, c []float64, excluded []bool) []float64 {
	for j, x := range c {
		if !excluded[j] {
			dst = append(dst, x)
		}
	}
	return dst
}

// limits returns the similarities against which pairs of tasks are counted: 0 and those that [Report.compare] asks for.
func limits(scores ...[]SkillScore) []float64 {
	out := []float64{0}
	for _, list := range scores {
		for _, s := range list {
			out = append(out, s.MaxSim)
		}
	}
	return out
}

// compare adds what the pairs of tasks say.
func (r *Report) compare(pairs *tally, placebo []SkillScore) {
	r.Pairs = pairs.total
	if pairs.total == 0 {
		return
	}
	pairs.sum()
	r.ZeroPairs = pairs.share(0)
	if r.Kind != KindPaper {
		return
	}
	for _, list := range [][]SkillScore{r.Skills, placebo} {
		for i := range list {
			if s := &list[i]; s.Nearest >= 0 {
				s.Specificity = pairs.share(s.MaxSim)
				s.finish()
			}
		}
	}
}
