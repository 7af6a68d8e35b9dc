package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/rl/train"
)

// tiny is a run of a few seconds, in which nothing is learned.
func tiny() settings {
	return settings{
		Algorithms: []string{"sapo", "ppo", "milegpo"}, Worlds: []worldSetting{{"tooldesk_small", 2, 0, 20}}, Seeds: 1, Dim: 8, Heads: 2, Layers: 1,
		Candidates: true, WarmEpochs: 1, WarmRate: 1e-3, Rate: 1e-3, Epochs: 1, MiniBatch: 16, EvalEvery: 1, EvalTasks: 2, tasks: 2,
	}
}

// timeless takes the times out, which differ from run to run.
func timeless(e *evidence) *evidence {
	for i := range e.Runs {
		e.Runs[i].SecondsPerIteration = train.Seconds{}
	}
	return e
}

// A run that is continued from a file, or done by more jobs, has the results of one that is not.
func TestResume(t *testing.T) {
	ctx := context.Background()
	want, err := run(ctx, tiny(), 1, "", false, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Runs) != 3 || len(want.Gains) != 3 || len(want.Claims) != 3 {
		t.Fatalf("got %d runs, %d gains and %d claims, want 3 of each", len(want.Runs), len(want.Gains), len(want.Claims))
	}
	for _, r := range want.Runs {
		if r.EnvSteps < 20 || r.Iterations < 1 || len(r.Curve) < 2 || r.SuccessAfter < r.SuccessBefore {
			t.Errorf("%s: %+v: want 20 steps or more, a curve, and a best evaluation that is not below the first", r.Algorithm, r)
		}
	}
	file := filepath.Join(t.TempDir(), "results.json")
	part := timeless(want)
	cut := *part
	cut.Runs = cut.Runs[1:2]
	if err := cut.save(file); err != nil {
		t.Fatal(err)
	}
	got, err := run(ctx, tiny(), 2, file, false, false)
	if err != nil {
		t.Fatal(err)
	}
	opts := cmp.AllowUnexported(settings{})
	if diff := cmp.Diff(part, timeless(got), opts); diff != "" {
		t.Errorf("continued with two jobs (-want +got):\n%s", diff)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var saved evidence
	if err := json.Unmarshal(data, &saved); err != nil || len(saved.Runs) != 3 {
		t.Errorf("the file has %d runs, error %v, want 3", len(saved.Runs), err)
	}
	other := tiny()
	other.Rate = 2e-3
	if _, err := run(ctx, other, 1, file, false, false); err == nil || !strings.Contains(err.Error(), "other settings") {
		t.Errorf("a file of other settings: got %v", err)
	}
	cut.Runs[0].Seed = 2
	if err := cut.save(file); err != nil {
		t.Fatal(err)
	}
	if _, err := run(ctx, tiny(), 1, file, false, false); err == nil || !strings.Contains(err.Error(), "would drop") {
		t.Errorf("a file with runs of more seeds: got %v", err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := run(ctx, tiny(), 1, file, false, false); err == nil {
		t.Error("a file that is cut: got no error")
	}
}

// The claim is about means over seeds, world by world.
func TestClaims(t *testing.T) {
	s := settings{Algorithms: []string{"sapo", "ppo"}, Worlds: []worldSetting{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Seeds: 2}
	e := &evidence{}
	add := func(world, algorithm string, gains ...float64) {
		for i, g := range gains {
			e.Runs = append(e.Runs, result{World: world, Algorithm: algorithm, Seed: uint64(i + 1), SuccessBefore: 0.25, SuccessAfter: 0.25 + g})
		}
	}
	add("a", "sapo", 0.125, 0.375)
	add("b", "sapo", 0.25, 0.25)
	add("c", "sapo", 0, 0)
	add("a", "ppo", 0.5, 0.5)
	add("b", "ppo", 0.125, 0.25)
	add("c", "ppo", 0, 0)
	e.sum(s, true)
	for i, want := range []bool{true, false} {
		if e.Claims[i].Holds != want {
			t.Errorf("%s: %s: holds %v, want %v", e.Claims[i].Claim, e.Claims[i].Found, e.Claims[i].Holds, want)
		}
	}
	if e.failure() == nil {
		t.Error("a claim that does not hold gives no error")
	}
	if g := e.Gains[0]; g.Seeds != 2 || g.Gain != 0.25 || g.Worst != 0.125 {
		t.Errorf("gain of the first: %+v, want 2 seeds, mean 0.25, worst 0.125", g)
	}
	e.sum(s, false)
	if len(e.Claims) != 0 {
		t.Error("claims before all runs are there")
	}
	var b bytes.Buffer
	if err := e.write(&b, false); err != nil || !strings.Contains(b.String(), "+25.0") {
		t.Errorf("table: %v\n%s", err, &b)
	}
}

// The file that is kept with the code is complete, of the present settings, and its sums are those of its runs.
func TestCommittedResults(t *testing.T) {
	data, err := os.ReadFile("results.json")
	if err != nil {
		t.Fatal(err)
	}
	var e evidence
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		t.Fatal(err)
	}
	want := full
	want.Seeds = 3
	if diff := cmp.Diff(want, e.Settings, cmp.AllowUnexported(settings{})); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if n := want.Seeds * len(want.Worlds) * len(want.Algorithms); len(e.Runs) != n {
		t.Errorf("%d runs, want %d", len(e.Runs), n)
	}
	again := evidence{Settings: e.Settings, Runs: e.Runs, Speed: e.Speed}
	again.sum(want, true)
	if diff := cmp.Diff(again.Gains, e.Gains); diff != "" {
		t.Errorf("gains (-sums of the runs +file):\n%s", diff)
	}
	if diff := cmp.Diff(again.Claims, e.Claims); diff != "" {
		t.Errorf("claims (-sums of the runs +file):\n%s", diff)
	}
}
