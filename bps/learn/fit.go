package learn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"unicode/utf8"
)

const (
	maxDim    = 64
	maxEpochs = 1_000_000
	rowL1     = 1e-4
	mapL1     = 1e-3 // larger, so that a few features that many names share win over many that few share
)

// Fit learns a model from records; the package comment describes the method. Records that nothing can be learned from are an
// [ErrRecords], bad features an [ErrFeatures]. When ctx ends there is no model, and the error wraps that of ctx, which is checked once
// a step. Nothing of records is kept. The order of records matters only if there is a validation part.
func Fit(ctx context.Context, records []Record, o *Options) (*Model, error) {
	o, err := o.fill()
	if err != nil {
		return nil, err
	}
	runs, skills, queries, err := enumerate(records)
	if err != nil {
		return nil, err
	}
	var skillFeatures, queryFeatures *features
	if o.SkillFeatures != nil && len(skills) > 0 {
		if skillFeatures, err = tabulate("skill", skills, o.SkillFeatures); err != nil {
			return nil, err
		}
	}
	if o.QueryFeatures != nil {
		if queryFeatures, err = tabulate("query", queries, o.QueryFeatures); err != nil {
			return nil, err
		}
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	train, held := split(runs, o.Validation, rng)
	twice := o.SkillRows && skillFeatures != nil
	first := skillFeatures
	if twice {
		first = nil
	}
	t := newTrainer(o, len(skills), len(queries), first, queryFeatures, rng)
	if twice {
		t.epochs = 2 * o.Epochs
	}
	trainGroups, heldGroups := group(train), group(held)
	if err := t.fit(ctx, trainGroups, heldGroups, o); err != nil {
		return nil, err
	}
	m := t.model(skills, queries, o)
	if !twice {
		return m, nil
	}
	next := t.mapSkills(o, skillFeatures, rng)
	if err := next.fit(ctx, trainGroups, heldGroups, o); err != nil {
		return nil, err
	}
	m.skills.weight = next.skill.weights()
	return m, nil
}

// fill returns a copy of o with its defaults filled in, or an error with all that is wrong with it. L1 and Kappa stay as they are.
func (o *Options) fill() (*Options, error) {
	f := Options{}
	if o != nil {
		f = *o
	}
	var errs []error
	check := func(ok bool, field string, got any, want string) {
		if !ok {
			errs = append(errs, fmt.Errorf("learn: Options.%s is %v, want %s", field, got, want))
		}
	}
	count := func(field string, x *int, most, otherwise int) {
		check(*x >= 0 && *x <= most, field, *x, fmt.Sprintf("0..%d", most))
		if *x == 0 {
			*x = otherwise
		}
	}
	check(f.Form == Ceiling || f.Form == Offset, "Form", int(f.Form), "Ceiling or Offset")
	count("Dim", &f.Dim, maxDim, 5)
	count("Epochs", &f.Epochs, maxEpochs, 600)
	count("Patience", &f.Patience, math.MaxInt, 100)
	count("Workers", &f.Workers, math.MaxInt, 1)
	check(f.LearningRate >= 0 && f.LearningRate <= 1, "LearningRate", f.LearningRate, "0..1")
	if f.LearningRate == 0 {
		f.LearningRate = 0.2
		if f.Form == Offset {
			f.LearningRate = 0.1 // at 0.2 its loss rises
		}
	}
	check(f.Validation >= 0 && f.Validation < 1, "Validation", f.Validation, "a number in [0, 1)")
	if f.L1 != nil {
		check(*f.L1 >= 0 && *f.L1 <= maxNumber, "L1", *f.L1, "0..1e9")
	}
	if f.Kappa != nil {
		check(*f.Kappa >= 0 && *f.Kappa <= maxNumber, "Kappa", *f.Kappa, "0..1e9")
	}
	check(!f.SkillRows || f.SkillFeatures != nil, "SkillRows", f.SkillRows, "false without SkillFeatures")
	return &f, errors.Join(errs...)
}

// enumerate checks records and puts numbers in place of names, which it returns in ascending order.
func enumerate(records []Record) (runs []run, skills, queries []string, err error) {
	passes := 0
	skillNumber, queryNumber := map[string]int{}, map[string]int{}
	for i, r := range records {
		if r.Tokens < 0 {
			return nil, nil, nil, fmt.Errorf("%w: records[%d] has %d tokens, want >= 0", ErrRecords, i, r.Tokens)
		}
		if !utf8.ValidString(r.Query) {
			return nil, nil, nil, fmt.Errorf("%w: records[%d] has the query %q, want valid UTF-8", ErrRecords, i, r.Query)
		}
		queryNumber[r.Query] = 0
		for _, name := range r.Skills {
			if !utf8.ValidString(name) {
				return nil, nil, nil, fmt.Errorf("%w: records[%d] has the skill %q, want valid UTF-8", ErrRecords, i, name)
			}
			skillNumber[name] = 0
		}
		if r.Pass {
			passes++
		}
	}
	if passes == 0 || passes == len(records) {
		return nil, nil, nil, fmt.Errorf("%w: %d of %d are passes, want passes and failures", ErrRecords, passes, len(records))
	}
	skills, queries = slices.Sorted(maps.Keys(skillNumber)), slices.Sorted(maps.Keys(queryNumber))
	skillNumber, queryNumber = index(skills), index(queries)
	runs = make([]run, len(records))
	for i, r := range records {
		members := make([]int32, len(r.Skills))
		for j, name := range r.Skills {
			members[j] = int32(skillNumber[name])
		}
		slices.Sort(members)
		for j := 1; j < len(members); j++ {
			if members[j] == members[j-1] {
				return nil, nil, nil, fmt.Errorf("%w: records[%d] has skill %q twice", ErrRecords, i, skills[members[j]])
			}
		}
		runs[i] = run{int32(queryNumber[r.Query]), members, r.Tokens, r.Pass}
	}
	return runs, skills, queries, nil
}

func index(names []string) map[string]int {
	m := make(map[string]int, len(names))
	for i, name := range names {
		m[name] = i
	}
	return m
}

// split draws the share of runs that is held out, of passes and failures apart. At least one of both is left to train on.
func split(runs []run, share float64, rng *rand.Rand) (train, held []run) {
	if share == 0 {
		return runs, nil
	}
	for _, pass := range []bool{true, false} {
		var part []run
		for _, r := range runs {
			if r.pass == pass {
				part = append(part, r)
			}
		}
		rng.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		n := int(share * float64(len(part)))
		held = append(held, part[:n]...)
		train = append(train, part[n:]...)
	}
	return train, held
}
