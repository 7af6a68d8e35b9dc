package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/throughline-go/throughline/skill/internal/vector"
)

// Defaults of the paper's score and of the guards.
const (
	defaultTemperature = 0.1  // tau_s of the paper
	defaultMinSim      = 0.30 // retrieval threshold of the paper
	defaultExactTasks  = 4000 // 8 million pairs: a second and 64 MB
	defaultPairSamples = 1_000_000
	pairTolerance      = 1e-12 // two computations of the same cosine differ by less
)

// ScoreOptions adjusts [Score] and [ScoreMatrix]. A nil *ScoreOptions equals &ScoreOptions{}.
type ScoreOptions struct {
	// Embedder compares texts; it should be the one used for retrieval. An optional method ID() string names it in the
	// report. Nil means HashEmbedder{}. ScoreMatrix does not use it.
	Embedder Embedder

	Temperature float64  // of the softmax over tasks, greater than 0; zero means 0.1
	MinSim      *float64 // similarity in [-1, 1] above which a skill would be retrieved; nil means 0.30

	// TextOf returns the text that stands for a skill; nil means its description, as in the paper.
	TextOf func(Skill) string

	// Kind is the formula of each skill's numbers; the zero value is the paper's.
	Kind ScoreKind
	// NoiseFloor is the similarity that KindNoiseFloored takes off, at least 0; nil means the median of all.
	NoiseFloor *float64

	// ExcludeSources leaves the tasks out of the similarities of a skill from which it was made, by the task IDs of its
	// [Record]. False leaves all in, as in the paper.
	ExcludeSources bool
	// HoldOut says which tasks of its origins a skill cannot serve in Report.Memory; the zero value means the task itself.
	HoldOut HoldOut

	// Exclude leaves task j out of the similarities of skill i, for example because the skill was made from that task.
	// The pairs of tasks stay. Nil excludes nothing, as in the paper.
	Exclude func(skill, task int) bool

	DedupTasks bool // count equal task texts once; false counts each, as in the paper

	// With more than MaxExactTasks tasks (zero means 4,000) Score looks at PairSamples random pairs of tasks (zero means
	// 1,000,000) instead of all; Rand draws them, nil means a fixed seed.
	MaxExactTasks int
	PairSamples   int
	Rand          *rand.Rand
}

// A ScoreKind is a formula for the numbers of a [SkillScore].
type ScoreKind int

const (
	KindPaper        ScoreKind = iota // of arXiv:2608.20274
	KindSimple                        // ours: the largest similarity, and the effective share of all
	KindNoiseFloored                  // ours: as KindSimple, the evenness of what is above a floor
)

// A HoldOut says which tasks do not count for a skill that was made of them.
type HoldOut int

const (
	HoldOutTask  HoldOut = iota // the task itself, by ID
	HoldOutGroup                // every task of its group
	HoldOutNone                 // none
)

// A MemoryScore rates all skills together: each task is served by the best of them. Ours; with b_j the largest similarity, at
// least 0, of an admissible skill to task j,
//
//	Specificity = mean of b, Abstractness = 1 - Gini(b), Utility = their product
type MemoryScore struct {
	Specificity, Abstractness, Utility float64
	AbstractnessDefined                bool      // false with fewer than two tasks
	Best                               []float64 // b, by task scored against
}

// A SkillScore is the score of one skill against all tasks.
type SkillScore struct {
	Name    string  // empty from ScoreMatrix
	Nearest int     // most similar task that is not excluded, the first of equals; -1 if there is none
	MaxSim  float64 // similarity to it; 0 if there is none

	Specificity  float64 // share of task pairs that are no more alike than the skill and its nearest task
	Abstractness float64 // effective share of the tasks that the skill is about, in [1/N, 1]
	Utility      float64 // Specificity times Abstractness
	Defined      bool    // false with fewer than two tasks or all excluded: Specificity and Utility are then 0 and mean nothing

	EmptyText   bool    // no text to compare: the numbers are those of a zero vector, and the summary leaves them out
	Retrievable bool    // MaxSim is above MinSim: some task would find the skill
	Gated       float64 // Utility if Retrievable, else 0
}

// A Report is the result of [Score].
type Report struct {
	Embedder       string       // ID of the embedder; scores of different embedders do not compare. Empty from ScoreMatrix
	Tasks          int          // tasks scored against
	DuplicateTasks int          // task texts that repeat an earlier one, whether DedupTasks or not; 0 from ScoreMatrix
	Pairs          int          // task pairs looked at
	Sampled        bool         // Pairs are a sample, not all
	ZeroPairs      float64      // share of the task pairs with similarity 0 or less; many make the score degenerate
	Skills         []SkillScore // in the order given
	Summary        Summary
	Memory         MemoryScore
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
// Retrievable and Gated per skill, and in the summary Placebo, the utility of texts that are off topic by construction,
// and a status.
//
// The cost is O((M+N)·N) sparse products for M skills and N tasks and memory for N(N-1)/2 numbers; beyond MaxExactTasks
// the pairs are sampled. The result depends on the arguments only. No tasks, options out of range, an unusable answer of
// the embedder ([*VectorError]) and a done ctx are errors.
func Score[S Skill](ctx context.Context, skills []S, tasks []Task, o *ScoreOptions) (*Report, error) {
	opts, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if len(tasks) == 0 {
		return nil, errors.New("skill: score: there are no tasks")
	}
	rep := &Report{Embedder: embedderID(opts.Embedder), Skills: make([]SkillScore, len(skills))}

	index := make([]int, 0, len(tasks)) // of the tasks scored against
	var kept []string
	seen := make(map[string]bool, len(tasks))
	for j, task := range tasks {
		t := task.Text
		if seen[t] {
			rep.DuplicateTasks++
			if opts.DedupTasks {
				continue
			}
		}
		seen[t] = true
		index, kept = append(index, j), append(kept, t)
	}
	texts := slices.Concat(kept, placeboTexts[:])
	for i, s := range skills {
		if d, ok := any(s).(*Document); any(s) == nil || ok && d == nil {
			return nil, fmt.Errorf("skill: score: skill %d is nil", i)
		}
		texts = append(texts, opts.TextOf(s))
	}
	vecs, err := embed(ctx, opts.Embedder, texts)
	if err != nil {
		return nil, err
	}
	taskVecs, rest := vecs[:len(kept)], vecs[len(kept):]
	buf := make([]float64, vecs[0].Dim)
	pairs, err := taskPairs(ctx, taskVecs, buf, &opts)
	if err != nil {
		return nil, err
	}
	rep.setPairs(len(kept), pairs)
	rep.Sampled = len(kept) > opts.MaxExactTasks // also where the sample has as many pairs as there are
	row := make([]float64, len(kept))
	var placebo []float64
	for i, v := range rest {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: score: %w", err)
		}
		v.Cosines(row, taskVecs, buf)
		k := i - len(placeboTexts)
		if k < 0 {
			if s := scoreRow(row, pairs, &opts, nil); s.Defined {
				placebo = append(placebo, s.Utility)
			}
			continue
		}
		s := scoreRow(row, pairs, &opts, func(j int) bool { return opts.Exclude != nil && opts.Exclude(k, index[j]) })
		if s.Nearest >= 0 {
			s.Nearest = index[s.Nearest]
		}
		s.Name = skills[k].Name()
		s.EmptyText = v.Zero()
		rep.Skills[k] = s
	}
	rep.Summary, err = summarize(rep.Skills, placebo)
	return rep, err
}

// ScoreMatrix is [Score] for similarities that are known already: sims[i][j] of skill i and task j, and pairs, the
// similarities of the pairs of tasks in any order: all N(N-1)/2, or a uniform sample of another number. All lie in [-1,
// 1], within 1e-9. There is no placebo, so the status stays unchecked. It changes neither argument. The cost is O(MN + P
// log P).
//
// A ragged matrix, no skills or tasks, a missing sample with two tasks or more, and a value out of range, named by its
// indices, are errors.
func ScoreMatrix(sims [][]float64, pairs []float64, o *ScoreOptions) (*Report, error) {
	opts, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if len(sims) == 0 || len(sims[0]) == 0 {
		return nil, errors.New("skill: score: the matrix has no skills or no tasks")
	}
	n := len(sims[0])
	if (len(pairs) == 0) != (n == 1) {
		return nil, fmt.Errorf("skill: score: %d pairs for %d tasks", len(pairs), n)
	}
	clamp := func(x float64) (float64, bool) {
		return max(-1, min(1, x)), math.Abs(x) <= 1+1e-9 // false for NaN
	}
	sorted := make([]float64, len(pairs))
	for i, x := range pairs {
		y, ok := clamp(x)
		if !ok {
			return nil, fmt.Errorf("skill: score: pairs[%d] is %g, want it in [-1, 1]", i, x)
		}
		sorted[i] = y
	}
	slices.Sort(sorted)
	rep := &Report{Skills: make([]SkillScore, len(sims))}
	rep.setPairs(n, sorted)
	row := make([]float64, n)
	for i, r := range sims {
		if len(r) != n {
			return nil, fmt.Errorf("skill: score: row %d has %d similarities, want %d as row 0", i, len(r), n)
		}
		for j, x := range r {
			y, ok := clamp(x)
			if !ok {
				return nil, fmt.Errorf("skill: score: sims[%d][%d] is %g, want it in [-1, 1]", i, j, x)
			}
			row[j] = y
		}
		rep.Skills[i] = scoreRow(row, sorted, &opts, func(j int) bool { return opts.Exclude != nil && opts.Exclude(i, j) })
	}
	rep.Summary, err = summarize(rep.Skills, nil)
	return rep, err
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
	reject(r.MaxExactTasks >= 0 && r.MaxExactTasks != 1, "MaxExactTasks is %d, want at least 2", r.MaxExactTasks)
	r.MaxExactTasks = cmp.Or(r.MaxExactTasks, defaultExactTasks)
	reject(r.PairSamples >= 0, "PairSamples is %d, want at least 1", r.PairSamples)
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

func (r *Report) setPairs(tasks int, sorted []float64) {
	r.Tasks, r.Pairs = tasks, len(sorted)
	r.Sampled = len(sorted) != tasks*(tasks-1)/2
	if len(sorted) > 0 {
		r.ZeroPairs = shareUpTo(sorted, 0)
	}
}

// shareUpTo returns the share of sorted values that are at most x, within the tolerance.
func shareUpTo(sorted []float64, x float64) float64 {
	n := sort.Search(len(sorted), func(i int) bool { return sorted[i] > x+pairTolerance })
	return float64(n) / float64(len(sorted))
}

// taskPairs returns the sorted cosines of all pairs of tasks, or of a sample.
func taskPairs(ctx context.Context, vs []vector.Vector, buf []float64, o *ScoreOptions) ([]float64, error) {
	n := len(vs)
	check := func() error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("skill: score: %w", err)
		}
		return nil
	}
	if n <= o.MaxExactTasks {
		out := make([]float64, n*(n-1)/2)
		at := 0
		for i, v := range vs {
			if err := check(); err != nil {
				return nil, err
			}
			v.Cosines(out[at:], vs[i+1:], buf)
			at += n - 1 - i
		}
		slices.Sort(out)
		return out, nil
	}
	partners := make([][]vector.Vector, n)
	for range o.PairSamples {
		i, k := o.Rand.IntN(n), o.Rand.IntN(n-1)
		if k >= i {
			k++ // every ordered pair of two tasks is as likely, hence every unordered one
		}
		partners[i] = append(partners[i], vs[k])
	}
	out := make([]float64, o.PairSamples)
	at := 0
	for i, v := range vs {
		if err := check(); err != nil {
			return nil, err
		}
		v.Cosines(out[at:], partners[i], buf)
		at += len(partners[i])
	}
	slices.Sort(out)
	return out, nil
}

// scoreRow scores the similarities c of one skill, less the excluded tasks; a nil exclude excludes none.
func scoreRow(c, sortedPairs []float64, o *ScoreOptions, exclude func(task int) bool) SkillScore {
	s := SkillScore{Nearest: -1}
	n := 0
	for j, x := range c {
		if exclude != nil && exclude(j) {
			c[j] = math.Inf(-1) // a softmax weight of 0
			continue
		}
		n++
		if s.Nearest < 0 || x > s.MaxSim {
			s.Nearest, s.MaxSim = j, x
		}
	}
	if n == 0 {
		return s
	}
	s.Retrievable = s.MaxSim > *o.MinSim
	s.Abstractness = effectiveShare(c, s.MaxSim, n, o.Temperature)
	if len(sortedPairs) == 0 {
		return s
	}
	s.Defined = true
	s.Specificity = shareUpTo(sortedPairs, s.MaxSim)
	s.Utility = s.Specificity * s.Abstractness
	if s.Retrievable {
		s.Gated = s.Utility
	}
	return s
}

// effectiveShare returns exp(H(softmax(c/temperature)))/n: with x = (c - max c)/temperature and z the sum of exp(x), the
// entropy is ln z - sum(x exp(x))/z. Entries of -Inf weigh nothing; n counts the others.
func effectiveShare(c []float64, largest float64, n int, temperature float64) float64 {
	var z, zx float64
	for _, v := range c {
		x := (v - largest) / temperature
		if e := math.Exp(x); e > 0 {
			z += e
			zx += e * x
		}
	}
	return max(1/float64(n), min(1, math.Exp(math.Log(z)-zx/z)/float64(n)))
}
