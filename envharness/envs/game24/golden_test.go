package game24

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
)

// data opens a file of the public test data.
func data(t *testing.T, name string) *os.File {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set: the test needs the public test data (toy24)")
	}
	f, err := os.Open(filepath.Join(dir, "toy24", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the folder of THROUGHLINE_DATA has no toy24/" + name)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// The solver agrees with the list of solvable hands.
func TestSolvabilityOfAllHands(t *testing.T) {
	rows, err := csv.NewReader(data(t, "solve24_1to13.csv")).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	solvable := 0
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		id := strings.Join(row[:4], ",")
		seen[id] = true
		g := New(nil)
		reset(t, g, id)
		_, err := g.Plan(ctx)
		if err != nil && !errors.Is(err, envharness.ErrNoPlan) {
			t.Fatal(err)
		}
		if got := err == nil; got != (row[4] == "1") {
			t.Errorf("%s: solvable %v, want %s", id, got, row[4])
		} else if got {
			solvable++
		}
	}
	if len(seen) != 1820 || solvable != 1362 {
		t.Errorf("%d hands, %d solvable, want 1,820 and 1,362", len(seen), solvable)
	}
}

// A goldenEpisode is an episode of the reference implementation.
type goldenEpisode struct {
	Numbers  []int            `json:"numbers"`
	Stack    string           `json:"stack_outer_to_inner"`
	Setup    []goldenAction   `json:"setup_actions"`
	Reset    goldenResult     `json:"reset"`
	Steps    []goldenStep     `json:"steps"`
	Evaluate goldenEvaluation `json:"evaluate"`
}

type goldenEvaluation struct {
	Score   float64 `json:"score"`
	Success bool    `json:"success"`
	Metrics struct {
		History int `json:"history_len"`
	} `json:"metrics"`
}

type goldenAction struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"kwargs"`
}

type goldenResult struct {
	Text string         `json:"text"`
	Data map[string]any `json:"data"`
}

type goldenStep struct {
	Action     goldenAction `json:"action"`
	Obs        goldenResult `json:"obs"`
	Reward     float64      `json:"reward"`
	Terminated bool         `json:"terminated"`
	Truncated  bool         `json:"truncated"`
	Info       struct {
		Error  string          `json:"error"`
		Result json.RawMessage `json:"result"`
	} `json:"info"`
}

func (a goldenAction) ours() envharness.Action {
	if a.Name == "reset" {
		a.Name = restartTool
	}
	return envharness.Action{Name: a.Name, Args: a.Args}
}

// refusal returns the class that our game gives to what the reference reports as an error.
func (s goldenStep) refusal() envharness.ErrorClass {
	var result struct {
		Error string `json:"error"`
	}
	if s.Info.Result != nil {
		json.Unmarshal(s.Info.Result, &result)
	}
	switch {
	case s.Obs.Data["blocked"] == true:
		return envharness.ClassPermission
	case s.Info.Error != "":
		return envharness.ErrorClass(s.Info.Error)
	case strings.HasPrefix(result.Error, "invalid indices"):
		return envharness.ClassBadArgs
	case result.Error != "":
		return envharness.ClassPrecondition
	}
	return ""
}

// hideHistory is what the reference calls hide_history.
func hideHistory() envharness.Component {
	return envharness.Rules(envharness.ComponentSpec{Tag: "hide_history", Axis: envharness.AxisObservation},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return envharness.Hooks{Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
				delete(o.Data, "history")
				return o, nil
			}}, nil
		})
}

// stack returns the components of a golden episode, innermost first.
func (e goldenEpisode) stack(t *testing.T) []envharness.Component {
	var actions []envharness.Action
	for _, a := range e.Setup {
		actions = append(actions, a.ours())
	}
	setup, block := envharness.Setup{Actions: actions}, blockOp("div", "division disabled")
	switch e.Stack {
	case "none":
		return nil
	case "setup":
		return []envharness.Component{setup}
	case "block_div":
		return []envharness.Component{block}
	case "hide_history":
		return []envharness.Component{hideHistory()}
	case "block_div+setup": // outer + inner
		return []envharness.Component{setup, block}
	case "setup+block_div":
		return []envharness.Component{block, setup}
	}
	t.Fatalf("unknown stack %q", e.Stack)
	return nil
}

// Every golden episode replays step by step through the game with LooseStop: the numbers (within 1e-9, theirs are floats), the
// history, reward, flags, the class of a refusal, the marker of a block and the verdict. Documented differences:
//
//   - order: a setup outside of a rule is ErrOrder. The reference accepts it, and its rule then blocks the setup's division silently.
//   - tool name: restart is called reset there.
//   - texts: the text after the numbers, Python's spelling of fractions (0.4286 for 3/7), and what an unknown tool or bad arguments
//     are answered with; there the observation holds the numbers only, ours is the full one.
//   - steps: the reference counts the actions of a setup, ours begins anew; it does not count blocked turns, ours does.
//   - end: the turn that ends an episode is shown as it was before the components, so hide_history hides nothing there.
//   - strict stop: without LooseStop the one success, 24 among three numbers of the unsolvable 4,4,6,6, is a failure.
func TestGoldenEpisodes(t *testing.T) {
	type counts struct{ Episodes, Equal, Order, EndShown, Steps, Blocked, Refused, Passed, PassedStrictly int }
	got := map[string]counts{}
	lines := bufio.NewScanner(data(t, "golden.jsonl"))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var e goldenEpisode
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		c := got[e.Stack]
		c.Episodes++
		loose, err := envharness.New(World(&Options{LooseStop: true}), e.stack(t)...)
		if errors.Is(err, envharness.ErrOrder) {
			c.Order++
			got[e.Stack] = c
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		strict, err := envharness.New(World(nil), e.stack(t)...)
		if err != nil {
			t.Fatal(err)
		}
		equal, ended := true, false
		differ := func(step int, what string, want, got any) {
			equal = false
			t.Errorf("line %d (%s), step %d: %s %v, want %v", n, e.Stack, step, what, got, want)
		}
		var id []string
		for _, v := range e.Numbers {
			id = append(id, strconv.Itoa(v))
		}
		o, err := loose.Reset(ctx, envharness.ResetOptions{Task: strings.Join(id, ",")})
		if err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		if _, err := strict.Reset(ctx, envharness.ResetOptions{Task: strings.Join(id, ",")}); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		compareObservation(differ, -1, e.Reset, o)
		for i, s := range e.Steps {
			c.Steps++
			tr, err := loose.Step(ctx, s.Action.ours())
			if err != nil {
				t.Fatalf("line %d, step %d: %v", n, i, err)
			}
			ended = tr.Ended()
			if _, err := strict.Step(ctx, s.Action.ours()); err != nil {
				t.Fatalf("line %d, step %d: %v", n, i, err)
			}
			if _, hidden := s.Obs.Data["history"]; e.Stack == "hide_history" && !hidden && tr.Ended() {
				equal = false
				c.EndShown++
				delete(tr.Observation.Data, "history")
			}
			compareObservation(differ, i, s.Obs, tr.Observation)
			if tr.Reward != s.Reward || tr.Terminated != s.Terminated || tr.Truncated != s.Truncated {
				differ(i, "reward and flags", []any{s.Reward, s.Terminated, s.Truncated}, []any{tr.Reward, tr.Terminated, tr.Truncated})
			}
			var class envharness.ErrorClass
			if tr.Error != nil {
				class = tr.Error.Class
				c.Refused++
			}
			if class == envharness.ClassPermission {
				c.Blocked++
			}
			if class != s.refusal() {
				differ(i, "refusal", s.refusal(), class)
			}
		}
		v, err := loose.Verdict(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if (v.Status == envharness.Pass) != e.Evaluate.Success || v.Status == envharness.Invalid || v.Score != e.Evaluate.Score {
			differ(len(e.Steps), "verdict", e.Evaluate, v)
		}
		if v.Unreplayed && ended {
			differ(len(e.Steps), "verdict", "a replayed one", v)
		}
		ev, err := loose.Evidence(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var end struct {
			History []string `json:"history"`
		}
		if err := json.Unmarshal(ev.End, &end); err != nil || len(end.History) != e.Evaluate.Metrics.History {
			differ(len(e.Steps), "history", e.Evaluate.Metrics.History, end.History)
		}
		if v.Status == envharness.Pass {
			c.Passed++
		}
		if v, err := strict.Verdict(ctx); err != nil {
			t.Fatal(err)
		} else if v.Status == envharness.Pass {
			c.PassedStrictly++
		}
		if equal {
			c.Equal++
		}
		got[e.Stack] = c
		if err := errors.Join(loose.Close(), strict.Close()); err != nil {
			t.Error(err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	want := map[string]counts{
		"none":            {Episodes: 21, Equal: 21, Steps: 160, Refused: 101, Passed: 1},
		"setup":           {Episodes: 21, Equal: 21, Steps: 145, Refused: 94},
		"block_div":       {Episodes: 21, Equal: 21, Steps: 152, Blocked: 31, Refused: 96},
		"block_div+setup": {Episodes: 21, Equal: 21, Steps: 138, Blocked: 20, Refused: 100},
		"hide_history":    {Episodes: 21, Equal: 10, EndShown: 11, Steps: 155, Refused: 93},
		"setup+block_div": {Episodes: 21, Order: 21},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// compareObservation compares numbers, history and the marker of a block.
func compareObservation(differ func(step int, what string, want, got any), step int, want goldenResult, got envharness.Observation) {
	numbers, _ := got.Data["numbers"].([]any)
	theirs, _ := want.Data["numbers"].([]any)
	same := len(numbers) == len(theirs)
	for i := 0; same && i < len(numbers); i++ {
		same = near(theirs[i], numbers[i])
	}
	if !same {
		differ(step, "numbers", theirs, numbers)
	}
	for _, key := range []string{"blocked", "blocked_reason"} {
		if want.Data[key] != got.Data[key] {
			differ(step, key, want.Data[key], got.Data[key])
		}
	}
	if want.Data["target"] == nil {
		return // an unknown tool or bad arguments: the reference shows the numbers only
	}
	if want.Data["target"] != got.Data["target"] {
		differ(step, "target", want.Data["target"], got.Data["target"])
	}
	history, shown := got.Data["history"].([]any)
	theirs, theirsShown := want.Data["history"].([]any)
	same = shown == theirsShown && len(history) == len(theirs)
	for i := 0; same && i < len(history); i++ {
		a, b := strings.Fields(theirs[i].(string)), strings.Fields(history[i].(string))
		same = len(a) == len(b)
		for k := 0; same && k < len(a); k++ {
			same = a[k] == b[k] || a[k] == "reset" && b[k] == restartTool || near(a[k], b[k])
		}
	}
	if !same {
		differ(step, "history", theirs, history)
	}
}

// near compares a number of the reference, a float or its text, with one of ours.
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
