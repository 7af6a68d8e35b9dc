package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
)

// goldenResult says how far our game of 24 and its components repeat episodes that were recorded from the paper's code.
//
// A documented difference is one of these:
//
//   - order: a setup outside of a rule is ErrOrder. The reference accepts it, and its rule then blocks the setup's division silently.
//   - end: the turn that ends an episode is shown as it was before the components, so hide_history hides nothing there.
//
// What is not compared: the text after the numbers, Python's spelling of fractions (0.4286 for 3/7), the text with which an unknown tool
// or bad arguments are answered, and the count of steps (ours is rewound after a setup and counts blocked turns).
type goldenResult struct {
	Skipped     string      `json:"skipped,omitempty"` // why nothing was compared
	Episodes    int         `json:"episodes"`
	Equal       int         `json:"equal"`
	Documented  int         `json:"documented_differences"` // episodes that differ in a documented way alone
	Steps       int         `json:"steps"`
	Stacks      []stackRow  `json:"stacks"`
	Failures    []string    `json:"failures,omitempty"`
	Hands       int         `json:"hands"`
	Solvable    int         `json:"solvable"`
	HandsDiffer int         `json:"hands_differ"` // hands whose solvability is not the listed one
	Strict      strictCount `json:"strict"`
}

// strictCount compares the reference's rule for a stop with the game's own.
type strictCount struct {
	LoosePasses int `json:"loose_passes"`
	Passes      int `json:"passes"`
}

// A stackRow counts the episodes of one stack of components, named as the reference does, outer first.
type stackRow struct {
	Stack    string `json:"stack"`
	Episodes int    `json:"episodes"`
	Equal    int    `json:"equal"`
	Order    int    `json:"order"`
	EndShown int    `json:"end_shown"`
	Steps    int    `json:"steps"`
	Blocked  int    `json:"blocked"`
	Refused  int    `json:"refused"`
}

// A goldenEpisode is an episode of the reference.
type goldenEpisode struct {
	Numbers  []int         `json:"numbers"`
	Stack    string        `json:"stack_outer_to_inner"`
	Setup    []theirAction `json:"setup_actions"`
	Reset    theirView     `json:"reset"`
	Steps    []theirStep   `json:"steps"`
	Evaluate struct {
		Score   float64 `json:"score"`
		Success bool    `json:"success"`
		Metrics struct {
			History int `json:"history_len"`
		} `json:"metrics"`
	} `json:"evaluate"`
}

type theirAction struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"kwargs"`
}

type theirView struct {
	Data map[string]any `json:"data"`
}

type theirStep struct {
	Action     theirAction `json:"action"`
	Obs        theirView   `json:"obs"`
	Reward     float64     `json:"reward"`
	Terminated bool        `json:"terminated"`
	Truncated  bool        `json:"truncated"`
	Info       struct {
		Error  string          `json:"error"`
		Result json.RawMessage `json:"result"`
	} `json:"info"`
}

// ours gives the action the name that it has here: reset is a reserved name.
func (a theirAction) ours() envharness.Action {
	if a.Name == "reset" {
		a.Name = "restart"
	}
	return envharness.Action{Name: a.Name, Args: a.Args}
}

// refusal returns the class that our game gives to what the reference reports as an error.
func (s theirStep) refusal() (envharness.ErrorClass, error) {
	var result struct {
		Error string `json:"error"`
	}
	if s.Info.Result != nil && s.Info.Result[0] == '{' {
		if err := json.Unmarshal(s.Info.Result, &result); err != nil {
			return "", err
		}
	}
	switch {
	case s.Obs.Data["blocked"] == true:
		return envharness.ClassPermission, nil
	case s.Info.Error != "":
		return envharness.ErrorClass(s.Info.Error), nil
	case strings.HasPrefix(result.Error, "invalid indices"):
		return envharness.ClassBadArgs, nil
	case result.Error != "":
		return envharness.ClassPrecondition, nil
	}
	return "", nil
}

// stack returns the components of an episode, innermost first.
func (e goldenEpisode) stack() ([]envharness.Component, error) {
	setup := envharness.Setup{}
	for _, a := range e.Setup {
		setup.Actions = append(setup.Actions, a.ours())
	}
	block := components.Block{Tools: []string{"combine"}, Args: map[string]any{"op": "div"}, Reason: "division disabled"}
	switch e.Stack {
	case "none":
		return nil, nil
	case "setup":
		return []envharness.Component{setup}, nil
	case "block_div":
		return []envharness.Component{block}, nil
	case "hide_history":
		return []envharness.Component{components.HideKeys{Keys: []string{"/history"}}}, nil
	case "block_div+setup":
		return []envharness.Component{setup, block}, nil
	case "setup+block_div":
		return []envharness.Component{block, setup}, nil
	}
	return nil, fmt.Errorf("stack %q is unknown", e.Stack)
}

// runGolden compares with the recorded episodes and the list of hands in a folder of public data; an empty name skips that.
func runGolden(ctx context.Context, dir string) (goldenResult, error) {
	var r goldenResult
	if dir == "" {
		r.Skipped = "no data: set THROUGHLINE_DATA or -data to a folder with toy24/golden.jsonl and toy24/solve24_1to13.csv"
		return r, nil
	}
	episodes, err := os.ReadFile(filepath.Join(dir, "toy24", "golden.jsonl"))
	var hands []byte
	if err == nil {
		hands, err = os.ReadFile(filepath.Join(dir, "toy24", "solve24_1to13.csv"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		r.Skipped = "the data folder has no toy24"
		return r, nil
	}
	if err != nil {
		return r, err
	}
	for n, line := range bytes.Split(bytes.TrimSpace(episodes), []byte("\n")) {
		var e goldenEpisode
		if err := json.Unmarshal(line, &e); err != nil {
			return r, fmt.Errorf("golden.jsonl line %d: %w", n+1, err)
		}
		if err := r.replay(ctx, n+1, e); err != nil {
			return r, fmt.Errorf("golden.jsonl line %d: %w", n+1, err)
		}
	}
	return r, r.countHands(ctx, hands)
}

// row returns the counts of a stack.
func (r *goldenResult) row(stack string) *stackRow {
	for i := range r.Stacks {
		if r.Stacks[i].Stack == stack {
			return &r.Stacks[i]
		}
	}
	r.Stacks = append(r.Stacks, stackRow{Stack: stack})
	return &r.Stacks[len(r.Stacks)-1]
}

// replay plays one recorded episode, with the reference's rule for a stop and with our own.
func (r *goldenResult) replay(ctx context.Context, n int, e goldenEpisode) error {
	row := r.row(e.Stack)
	r.Episodes++
	row.Episodes++
	stack, err := e.stack()
	if err != nil {
		return err
	}
	loose, err := envharness.New(game24.World(&game24.Options{LooseStop: true}), stack...)
	if errors.Is(err, envharness.ErrOrder) {
		row.Order++
		r.Documented++
		return nil
	}
	if err != nil {
		return err
	}
	defer loose.Close()
	strict, err := envharness.New(game24.World(nil), stack...)
	if err != nil {
		return err
	}
	defer strict.Close()
	task := envharness.ResetOptions{Task: strings.Trim(strings.ReplaceAll(fmt.Sprint(e.Numbers), " ", ","), "[]")}
	o, err := loose.Reset(ctx, task)
	if err != nil {
		return err
	}
	if _, err := strict.Reset(ctx, task); err != nil {
		return err
	}
	differences := compareViews(e.Reset, o)
	endShown := false
	for i, s := range e.Steps {
		t, err := loose.Step(ctx, s.Action.ours())
		if err != nil {
			return err
		}
		if _, err := strict.Step(ctx, s.Action.ours()); err != nil {
			return err
		}
		if _, theirs := s.Obs.Data["history"]; e.Stack == "hide_history" && !theirs && t.Ended() {
			endShown = true
			delete(t.Observation.Data, "history")
		}
		d, err := compareSteps(s, t)
		if err != nil {
			return err
		}
		for _, what := range d {
			differences = append(differences, fmt.Sprintf("step %d: %s", i, what))
		}
		r.Steps++
		row.count(t)
	}
	d, err := r.compareEnds(ctx, e, loose, strict)
	if err != nil {
		return err
	}
	differences = append(differences, d...)
	switch {
	case len(differences) > 0:
		r.Failures = append(r.Failures, fmt.Sprintf("line %d (%s): %s", n, e.Stack, strings.Join(differences, "; ")))
	case endShown:
		row.EndShown++
		r.Documented++
	default:
		row.Equal++
		r.Equal++
	}
	return nil
}

func (row *stackRow) count(t envharness.Transition) {
	row.Steps++
	if t.Error != nil {
		row.Refused++
		if t.Error.Class == envharness.ClassPermission {
			row.Blocked++
		}
	}
}

// compareSteps names what differs between two results.
func compareSteps(theirs theirStep, ours envharness.Transition) ([]string, error) {
	differences := compareViews(theirs.Obs, ours.Observation)
	if ours.Reward != theirs.Reward || ours.Terminated != theirs.Terminated || ours.Truncated != theirs.Truncated {
		differences = append(differences, "reward or flags")
	}
	class, err := theirs.refusal()
	if err != nil {
		return nil, err
	}
	var got envharness.ErrorClass
	if ours.Error != nil {
		got = ours.Error.Class
	}
	if got != class {
		differences = append(differences, fmt.Sprintf("refusal %q, want %q", got, class))
	}
	return differences, nil
}

// compareEnds compares the verdict and the length of the history.
func (r *goldenResult) compareEnds(ctx context.Context, e goldenEpisode, loose, strict *envharness.Harness) ([]string, error) {
	v, err := loose.Verdict(ctx)
	if err != nil {
		return nil, err
	}
	own, err := strict.Verdict(ctx)
	if err != nil {
		return nil, err
	}
	if v.Status == envharness.Pass {
		r.Strict.LoosePasses++
	}
	if own.Status == envharness.Pass {
		r.Strict.Passes++
	}
	var differences []string
	if (v.Status == envharness.Pass) != e.Evaluate.Success || v.Status == envharness.Invalid || v.Score != e.Evaluate.Score {
		differences = append(differences, fmt.Sprintf("verdict %s %v", v.Status, v.Score))
	}
	ev, err := loose.Evidence(ctx)
	if err != nil {
		return nil, err
	}
	var end struct {
		History []string `json:"history"`
	}
	if err := json.Unmarshal(ev.End, &end); err != nil {
		return nil, err
	}
	if len(end.History) != e.Evaluate.Metrics.History {
		differences = append(differences, "length of the history")
	}
	return differences, nil
}

// compareViews compares numbers, history and the marker of a block.
func compareViews(theirs theirView, ours envharness.Observation) []string {
	var differences []string
	if !sameList(theirs.Data["numbers"], ours.Data["numbers"], near) {
		differences = append(differences, "numbers")
	}
	for _, key := range []string{"blocked", "blocked_reason"} {
		if theirs.Data[key] != ours.Data[key] {
			differences = append(differences, key)
		}
	}
	if theirs.Data["target"] == nil {
		return differences // an unknown tool or bad arguments: the reference shows the numbers only
	}
	if theirs.Data["target"] != ours.Data["target"] {
		differences = append(differences, "target")
	}
	if !sameList(theirs.Data["history"], ours.Data["history"], sameMove) {
		differences = append(differences, "history")
	}
	return differences
}

// sameList compares two lists; one that is not there is the same as none.
func sameList(theirs, ours any, same func(theirs, ours any) bool) bool {
	a, ok := theirs.([]any)
	b, alsoOK := ours.([]any)
	if ok != alsoOK || len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// sameMove compares two lines of history word by word.
func sameMove(theirs, ours any) bool {
	x, ok := theirs.(string)
	y, alsoOK := ours.(string)
	a, b := strings.Fields(x), strings.Fields(y)
	if !ok || !alsoOK || len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !(a[i] == "reset" && b[i] == "restart") && !near(a[i], b[i]) {
			return false
		}
	}
	return true
}

// near compares a number of the reference, a float or its text, with one of ours, an exact fraction.
func near(theirs, ours any) bool {
	f, ok := theirs.(float64)
	if s, isText := theirs.(string); isText {
		var err error
		f, err = strconv.ParseFloat(s, 64)
		ok = err == nil
	}
	s, isText := ours.(string)
	r, isNumber := new(big.Rat).SetString(s)
	if !ok || !isText || !isNumber {
		return false
	}
	exact, _ := r.Float64()
	return math.Abs(f-exact) <= 1e-9*max(1, math.Abs(exact))
}

// countHands compares the oracle with the list of solvable hands.
func (r *goldenResult) countHands(ctx context.Context, list []byte) error {
	rows, err := csv.NewReader(bytes.NewReader(list)).ReadAll()
	if err != nil {
		return err
	}
	game := game24.New(nil)
	defer game.Close()
	for _, row := range rows[1:] {
		if _, err := game.Reset(ctx, envharness.ResetOptions{Task: strings.Join(row[:4], ",")}); err != nil {
			return err
		}
		_, err := game.Plan(ctx)
		if err != nil && !errors.Is(err, envharness.ErrNoPlan) {
			return err
		}
		r.Hands++
		if err == nil {
			r.Solvable++
		}
		if (err == nil) != (row[4] == "1") {
			r.HandsDiffer++
		}
	}
	return nil
}
