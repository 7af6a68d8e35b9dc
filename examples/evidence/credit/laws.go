package main

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/examples/internal/method"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rltest"
)

// A promised is an estimator with options and what it promises beyond the laws of every one.
type promised struct {
	method   string // of package method
	options  string // as JSON
	promises rltest.Promises

	estimator rl.Estimator // instead of both
}

// What most estimators that compare turns, trajectories of a group, or tokens promise.
var (
	ofTurns  = rltest.Promises{TurnLevel: true, Renamable: true, Centred: rltest.BatchTurns}
	ofGroup  = rltest.Promises{TurnLevel: true, ShiftFree: true, Renamable: true, ApartByGroup: true, SingletonZero: true, Centred: rltest.GroupTrajectories}
	ofStates = rltest.Promises{TurnLevel: true, Renamable: true, ApartByGroup: true, SingletonZero: true}
	ofTokens = rltest.Promises{Renamable: true, Centred: rltest.BatchTokens}
	ofEach   = rltest.Promises{Renamable: true, ApartByGroup: true, Apart: true}
)

// but returns promises with a change.
func but(p rltest.Promises, change func(p *rltest.Promises)) rltest.Promises {
	change(&p)
	return p
}

func centred(r rltest.Rows) func(p *rltest.Promises) {
	return func(p *rltest.Promises) { p.Centred = r }
}

func excludes(p *rltest.Promises)  { p.ExcludesNonFinite = true }
func turnLevel(p *rltest.Promises) { p.TurnLevel = true }
func shiftFree(p *rltest.Promises) { p.ShiftFree = true }

// rawSingleton takes the promises away that a group of one breaks which has its score.
func rawSingleton(p *rltest.Promises) { p.ShiftFree, p.SingletonZero = false, false }

// batchWide takes those away that scores break which are compared with all of the batch.
func batchWide(p *rltest.Promises) { p.ShiftFree, p.ApartByGroup = false, false }

// estimators returns all estimators with what they promise.
func estimators() []promised {
	overBatch := but(but(ofGroup, batchWide), centred(rltest.BatchTrajectories))
	overBatch.SingletonZero = false // a group of one is compared with the batch
	steps := but(ofGroup, centred(rltest.NoRows))
	return []promised{
		{"turn-gae", ``, ofTurns, nil},
		{"turn-gae", `{"Gamma":1,"Lambda":1,"InvalidPenalty":0}`, ofTurns, nil},
		{"turn-gae", `{"Truncation":"terminal","Norm":{"Std":"sample","EpsPlace":"inside sqrt"}}`, ofTurns, nil},
		{"turn-gae", `{"Truncation":"drop","Norm":{"Std":"none"},"ExcludeNonFinite":true}`, but(ofTurns, excludes), nil},
		{"turn-gae", `{"Norm":{"Std":"off"}}`, but(ofEach, turnLevel), nil},
		{"sapo", ``, ofTurns, nil},
		{"sapo", `{"Truncation":"bootstrap","ExcludeNonFinite":true}`, but(ofTurns, excludes), nil},
		{"sapo", `{"Norm":{"Std":"off"}}`, but(ofEach, turnLevel), nil},
		{"grpo", ``, ofGroup, nil},
		{"grpo", `{"Norm":{"Std":"population","EpsPlace":"inside sqrt"},"ExcludeNonFinite":true}`, but(ofGroup, excludes), nil},
		{"grpo", `{"PerTurn":true}`, but(ofGroup, centred(rltest.GroupTurns)), nil},
		{"grpo", `{"Scope":"batch"}`, overBatch, nil},
		{"grpo", `{"Scope":"group mean, batch std"}`, but(ofGroup, batchWide), nil},
		{"grpo", `{"Norm":{"Singleton":"raw"}}`, but(ofGroup, rawSingleton), nil},
		{"grpo", `{"Norm":{"Std":"off"}}`, but(ofEach, turnLevel), nil},
		{"dr-grpo", ``, ofGroup, nil},
		{"rloo", ``, ofGroup, nil},
		{"rloo", `{"OthersStd":true}`, but(ofGroup, centred(rltest.NoRows)), nil},
		{"rloo", `{"Singleton":"raw","ExcludeNonFinite":true}`, but(but(ofGroup, rawSingleton), excludes), nil},
		{"gigpo", ``, ofStates, nil},
		{"gigpo", `{"PerTurn":true}`, but(ofStates, centred(rltest.GroupTurns)), nil},
		{"gigpo", `{"PerTurn":true,"FirstVisit":true,"Norm":{"Std":"none"}}`, but(ofStates, centred(rltest.GroupTurns)), nil},
		{"gigpo", `{"StepWeight":0,"ExcludeNonFinite":true}`, but(ofGroup, excludes), nil},
		{"gagpo", ``, but(ofStates, centred(rltest.GroupTurns)), nil},
		{"gagpo", `{"Lambda":0,"Gamma":1,"Norm":{"Std":"none"},"ExcludeNonFinite":true}`, but(but(ofStates, centred(rltest.GroupTurns)), excludes), nil},
		{"graphgpo", ``, steps, nil},
		{"graphgpo", `{"StepWeight":0,"ExcludeNonFinite":true}`, but(ofGroup, excludes), nil},
		{"graphgpo", `{"EpisodeWeight":0,"Norm":{"Std":"none"}}`, but(ofGroup, centred(rltest.GroupTurns)), nil},
		{"milegpo", ``, steps, nil},
		{"milegpo", `{"Stage":"RCS","Mix":1,"ExcludeNonFinite":true}`, but(steps, excludes), nil},
		{"milegpo", `{"Stage":"MD","EpisodeWeight":0,"Mix":1}`, but(ofGroup, centred(rltest.GroupTurns)), nil},
		{"milegpo", `{"Stage":"PCC uniform","DropFactor":0.5,"Mix":0.5}`, steps, nil},
		{"milegpo-webshop", ``, steps, nil},
		{"milegpo-webshop", `{"EpisodeWeight":0}`, but(ofGroup, centred(rltest.GroupTurns)), nil},
		{"token-gae", ``, ofTokens, nil},
		{"token-gae", `{"Gamma":0.9,"Lambda":0.9,"TurnGamma":0.5,"KLPenalty":0.1,"ExcludeNonFinite":true}`, but(ofTokens, excludes), nil},
		{"token-gae", `{"Truncation":"drop","Norm":{"Std":"population"}}`, ofTokens, nil},
		{"token-gae", `{"TurnRows":true,"Norm":{"Std":"off"},"InvalidPenalty":0.1}`, ofEach, nil},
		{"reinforce++", ``, ofTokens, nil},
		{"reinforce++", `{"Gamma":0.9,"KLPenalty":0.1,"Norm":{"Std":"off"},"ExcludeNonFinite":true}`, but(ofEach, excludes), nil},
		{"reinforce++-baseline", ``, but(ofTokens, shiftFree), nil},
		{"reinforce++-baseline", `{"Norm":{"Std":"off"},"ExcludeNonFinite":true}`, but(ofGroup, excludes), nil},
		{"ppo-published", ``, ofTokens, nil},
		{"ppo-published", `{"Norm":{"Std":"off"},"ExcludeNonFinite":true}`, but(ofEach, excludes), nil},
	}
}

// bind returns the estimator of a row.
func (p *promised) bind() (rl.Estimator, error) {
	if p.estimator != nil {
		return p.estimator, nil
	}
	return method.New(p.method, p.options)
}

// lawResult is what became of the laws, by law and by estimator.
type lawResult struct {
	Runs        int            `json:"runs"`
	Failed      int            `json:"failed"`
	ByLaw       []count        `json:"by_law"`
	ByEstimator []estimatorRow `json:"by_estimator"`
	Failures    []lawFailure   `json:"failures"` // the first of each law and estimator
}

type count struct {
	Name   string `json:"name"`
	Runs   int    `json:"runs"`
	Failed int    `json:"failed"`
}

type estimatorRow struct {
	Method  string `json:"method"`
	Options string `json:"options,omitempty"`
	Runs    int    `json:"runs"`
	Failed  int    `json:"failed"`
}

type lawFailure struct {
	Method  string `json:"method"`
	Options string `json:"options,omitempty"`
	Law     string `json:"law"`
	Batches int    `json:"batches"` // that break it
	First   string `json:"first"`
}

// runLaws checks every law that an estimator keeps or promises on so many batches of its own.
func runLaws(ctx context.Context, s settings, rows []promised, batches int) (lawResult, error) {
	type task struct {
		row, law int
		name     string
		check    func(number int) error
		failed   int
		first    string
	}
	var tasks []task
	r := lawResult{Failures: []lawFailure{}}
	laws := 0 // over all rows
	for i := range rows {
		e, err := rows[i].bind()
		if err != nil {
			return r, err
		}
		r.ByEstimator = append(r.ByEstimator, estimatorRow{Method: rows[i].method, Options: rows[i].options})
		for _, law := range rltest.Laws(rows[i].promises) {
			laws++
			key := laws
			tasks = append(tasks, task{row: i, law: r.law(law.Name), name: law.Name, check: func(number int) error {
				return law.Check(e, stream(s.seed, lawPurpose, key, number))
			}})
		}
	}
	err := parallel(ctx, s.workers, len(tasks), func(i int) {
		for n := range batches {
			if ctx.Err() != nil {
				return
			}
			if err := tasks[i].check(n); err != nil {
				tasks[i].failed++
				if tasks[i].first == "" {
					tasks[i].first = fmt.Sprintf("batch %d: %v", n, err)
				}
			}
		}
	})
	for _, t := range tasks {
		r.Runs += batches
		r.Failed += t.failed
		r.ByLaw[t.law].Runs += batches
		r.ByLaw[t.law].Failed += t.failed
		row := &r.ByEstimator[t.row]
		row.Runs += batches
		row.Failed += t.failed
		if t.failed > 0 {
			r.Failures = append(r.Failures, lawFailure{row.Method, row.Options, t.name, t.failed, t.first})
		}
	}
	return r, err
}

// law returns the position of a law in the counts, which get it if it is new.
func (r *lawResult) law(name string) int {
	for i := range r.ByLaw {
		if r.ByLaw[i].Name == name {
			return i
		}
	}
	r.ByLaw = append(r.ByLaw, count{Name: name})
	return len(r.ByLaw) - 1
}
