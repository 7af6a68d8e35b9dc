package mainjob

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/endpoint/endpointtest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
	"github.com/throughline-go/throughline/rl"
)

const marker = "sk-MARKER-7719"

// model returns one with a script.
func model(t *testing.T, script endpointtest.Script, args ...string) *endpoint.Model {
	t.Helper()
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	f := endpoint.Register(set, 5, "tasks")
	args = append([]string{"-endpoint", endpointtest.Serve(t, script), "-model", "scripted", "-key-env", "KEY", "-retries", "0"}, args...)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	m, err := f.Open(func(string) string { return marker })
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func oracle(t *testing.T) *endpointtest.Oracle {
	t.Helper()
	w, err := worlds.Find(deskName)
	if err != nil {
		t.Fatal(err)
	}
	o, err := endpointtest.NewOracle(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A model takes the place of the policy in every stage: one that needs the skills to be told passes with them and fails without.
func TestModel(t *testing.T) {
	knows := oracle(t)
	m := model(t, func(q openaitest.Request) openaitest.Reply {
		if !strings.Contains(endpointtest.System(q), "<skill name=") {
			return endpointtest.Talk(q)
		}
		return knows.Answer(q)
	}, "-price", "1,2")
	res, err := start(t.Context(), Config{Seed: 3, Workers: 2, Model: m}, tiny)
	if err != nil {
		t.Fatal(err)
	}
	did, used := res.Model, res.Report.Endpoint
	for name, got := range map[string][2]endpoint.Tally{"validation": did.Validation, "test": did.Test, "new family": did.OOD} {
		if got[0].Played != 5 || got[0].Passed != 0 || got[1].Played != 5 || got[1].Passed != 5 {
			t.Errorf("%s: without skills %v, with them %v", name, got[0], got[1])
		}
	}
	if r := res.Report.Training; r.SuccessBefore != 0 || r.SuccessAfter != 1 || r.Iterations != 0 || len(res.Curve) != 0 {
		t.Errorf("training %+v with %d points of a curve", r, len(res.Curve))
	}
	if env := res.Report.Environment; env.Tasks != 1 || env.Candidates == 0 || env.Rollouts == 0 {
		t.Errorf("environment %+v: a model that passes everything is to be given harder tasks", env)
	}
	if n := len(res.Trajectories); n != recordedAtOnce || did.Turns == 0 || did.Credit != "gigpo" || rl.Validate(res.Trajectories) != nil {
		t.Errorf("%d trajectories, %d turns with %s credit, %v", n, did.Turns, did.Credit, rl.Validate(res.Trajectories))
	}
	if used.Tasks != 5 || used.Invalid != 0 || used.Episodes < 30 || used.Requests < used.Episodes || used.Cost == nil {
		t.Errorf("used %+v", used)
	}
	if res.Oracle != 1 {
		t.Errorf("the oracle passes %v", res.Oracle)
	}
	var table bytes.Buffer
	if err := res.Table(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not trained", "scripted acts in place of the policy", "the model is told them"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, &table)
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := res.Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := CheckOut(dir); err != nil {
		t.Error(err)
	}
	for name, content := range files(t, dir) {
		if strings.Contains(content, marker) {
			t.Errorf("%s holds the key", name)
		}
	}
	var metrics struct {
		Endpoint Endpoint
		Curve    []Point
	}
	err = json.Unmarshal([]byte(files(t, dir)["metrics.json"]), &metrics)
	if err != nil || metrics.Endpoint.Model != "scripted" || metrics.Curve == nil {
		t.Errorf("metrics %+v, %v", metrics, err)
	}
}

// small runs the last stage alone, with skills that are not selected.
func small(t *testing.T, m *endpoint.Model) (*job, error) {
	t.Helper()
	j := newJob(t, 1)
	j.size = tinier
	j.Model, j.prompts = m, map[string]string{}
	return j, j.modelled(t.Context())
}

// A server that fails is no failure of the model: there is no rate.
func TestModelWithoutServer(t *testing.T) {
	_, err := small(t, model(t, endpointtest.Fail(503)))
	if err == nil {
		t.Fatal("a rate of nothing")
	}
	if text := err.Error(); !strings.Contains(text, "none of 5 episodes") || !strings.Contains(text, "status 503") || strings.Contains(text, marker) {
		t.Error(err)
	}
}

// One episode in some that the server spoils is not in the rates, and is told.
func TestModelInvalid(t *testing.T) {
	knows := oracle(t)
	var asked atomic.Int32
	j, err := small(t, model(t, func(q openaitest.Request) openaitest.Reply {
		if asked.Add(1) == 2 {
			return endpointtest.Fail(500)(q)
		}
		return knows.Answer(q)
	}, "-at-once", "1"))
	if err != nil {
		t.Fatal(err)
	}
	got := j.result.Model.Validation[0]
	if got.Invalid != 1 || got.Played != 4 || got.Rate != 1 || j.result.Report.Endpoint.Invalid != 1 || got.String() != "100.0 % of 4, 1 invalid" ||
		!strings.Contains(j.result.Report.Endpoint.String(), "1 of them invalid, the first: ") {
		t.Errorf("got %+v, endpoint %+v", got, j.result.Report.Endpoint)
	}
}

// After the 30 episodes that are evaluated come 5 of the rigger, which leaves a model alone that passes about half of them, and then those
// that are recorded. A part that the server spoils as a whole fails the run; one episode of the rigger is played again.
func TestModelFailsLater(t *testing.T) {
	knows := oracle(t)
	for _, tt := range []struct {
		name        string
		first, last int // episodes that the server spoils, from 1
		want        string
	}{
		{"one of the rigger's", 31, 31, ""},
		{"the rigger's", 31, 36, "rig tasks: none of 1 could be judged"},
		{"the recorded ones", 36, 99, "record model: none of 4 episodes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var episodes atomic.Int32
			j, err := small(t, model(t, func(q openaitest.Request) openaitest.Reply {
				if len(q.Messages) > 2 {
					return knows.Answer(q)
				}
				switch n := int(episodes.Add(1)); {
				case n >= tt.first && n <= tt.last:
					return endpointtest.Fail(500)(q)
				case n%2 == 0:
					return openaitest.Reply{Refusal: "Not today."}
				}
				return knows.Answer(q)
			}, "-at-once", "1"))
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "status 500") {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil || j.result.Rigged.Tasks[0].Baseline.Valid != 5 || j.result.Report.Endpoint.Invalid != 0 {
				t.Errorf("%v, %+v", err, j.result.Rigged.Tasks)
			}
		})
	}
}

// What nobody could measure is null, the counts behind a rate are there, and no row of the table shows credit where nothing was passed.
func TestModelNothingAccepted(t *testing.T) {
	knows := oracle(t)
	var episodes atomic.Int32
	for _, tt := range []struct {
		name   string
		script endpointtest.Script
		credit bool
	}{
		{"in band", func(q openaitest.Request) openaitest.Reply { // so that nothing is changed
			if len(q.Messages) == 2 && episodes.Add(1)%2 == 0 {
				return openaitest.Reply{Refusal: "Not today."}
			}
			return knows.Answer(q)
		}, true},
		{"talker", endpointtest.Talk, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, err := small(t, model(t, tt.script, "-at-once", "1"))
			if err != nil {
				t.Fatal(err)
			}
			env := j.result.Report.Environment
			if env.Accepted > 0 || env.SuccessBase != nil || env.SuccessWrapped != nil {
				t.Errorf("environment %+v", env)
			}
			for _, split := range []string{"validation", "test", "ood"} {
				got := j.result.Report.Endpoint.Splits[split]
				if got.Without.Judged != 5 || got.With.Judged != 5 || (got.With.Passed > 0) != tt.credit || got.With.Invalid != 0 {
					t.Errorf("%s: %+v", split, got)
				}
			}
			var table, account bytes.Buffer
			if err := j.result.Table(&table); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(table.String(), "turns with credit other than 0") != tt.credit {
				t.Errorf("of the credit\n%s", &table)
			}
			j.Model.Account(&account, "test")
			for _, want := range []string{"test: finished before that: model on validation ", "; record model ", "test: used: scripted: "} {
				if !strings.Contains(account.String(), want) {
					t.Errorf("want %q in %s", want, &account)
				}
			}
		})
	}
}

// A model that does not answer at all ends the run before the corpus is built.
func TestModelUnreachable(t *testing.T) {
	stages := 0
	_, err := start(t.Context(), Config{
		Seed: 3, Workers: 2, Model: model(t, endpointtest.Fail(404)), Progress: func(string, int, int) { stages++ },
	}, tiny)
	if err == nil || !strings.Contains(err.Error(), "status 404") || !strings.Contains(err.Error(), "/v1") || stages > 0 {
		t.Errorf("got %v after %d steps", err, stages)
	}
}

// An interrupt ends the run while the model is asked.
func TestModelInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	j := newJob(t, 1)
	j.size = tinier
	j.Model, j.prompts = model(t, func(q openaitest.Request) openaitest.Reply { cancel(); return endpointtest.Talk(q) }), map[string]string{}
	if err := j.modelled(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A turn is noted by the place of its action, however the arguments are written.
func TestChooser(t *testing.T) {
	act := func(name, args string) envharness.Action {
		return envharness.Action{Name: name, Args: json.RawMessage(args)}
	}
	shown := envharness.Turn{Shown: envharness.Observation{Actions: []envharness.Action{act("a", `{"x":1,"y":2}`), act("b", `{}`)}}}
	answers := []struct {
		action envharness.Action
		err    error
		want   int
	}{
		{act("a", `{"y": 2, "x": 1}`), nil, 0}, {act("b", ``), nil, 1}, {act("a", `{"x":2,"y":2}`), nil, 2},
		{act("a", `{"x":`), nil, 2}, {envharness.Action{}, envharness.ErrBadAction, 2},
	}
	i := 0
	c := &chooser{Policy: envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
		if i == len(answers) {
			return envharness.Action{}, envharness.ErrStop
		}
		i++
		return answers[i-1].action, answers[i-1].err
	})}
	for range len(answers) + 1 {
		_, _ = c.Act(t.Context(), shown)
	}
	turns := c.Turns()
	if len(turns) != len(answers) {
		t.Fatalf("%d turns of %d answers that use one up", len(turns), len(answers))
	}
	for k, a := range answers {
		if got := turns[k].Tokens[0].ID; got != a.want || !turns[k].Tokens[0].Trainable {
			t.Errorf("%s: place %d, want %d", a.action, got, a.want)
		}
	}
}
