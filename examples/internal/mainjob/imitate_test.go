package mainjob

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rollout"
)

// A recorded plan that went through the corpus is the demonstration that the desk's own oracle gives.
func TestRecordedPlans(t *testing.T) {
	ctx := context.Background()
	j := newJob(t, 1)
	if err := j.readInput(ctx); err != nil {
		t.Fatal(err)
	}
	tasks, _, _, _, err := j.splits(ctx)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := j.recorded(ctx, tasks[:j.demos])
	if err != nil {
		t.Fatal(err)
	}
	if recorded.Kept != j.demos || len(recorded.Rejected) > 0 {
		t.Errorf("%d of %d plans are kept, left out %v", recorded.Kept, j.demos, recorded.Rejected)
	}
	l, err := j.learner(ctx, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := l.Demonstrate(ctx, j.demos)
	if err != nil {
		t.Fatal(err)
	}
	got, heard, err := l.demonstrations(ctx, recorded.Samples)
	if err != nil || len(heard) > 0 {
		t.Fatalf("%d conversations, %v", len(heard), err)
	}
	turns := func(episodes []rollout.Episode) (out [][]rl.Turn) {
		for _, e := range episodes {
			if e.Trajectory.Success == nil || !*e.Trajectory.Success {
				t.Errorf("%s did not pass", e.Trajectory.Task)
			}
			out = append(out, e.Trajectory.Turns)
		}
		return out
	}
	if diff := cmp.Diff(turns(want), turns(got)); diff != "" {
		t.Errorf("(-oracle +corpus):\n%s", diff)
	}
}

func sampleOf(id string, tools []string, messages ...midtool.Message) midtool.Sample {
	s := midtool.Sample{ID: id, Source: nativeSource, Messages: messages}
	for _, name := range tools {
		s.Tools = append(s.Tools, midtool.Tool{Name: name})
	}
	return s
}

func user(text string) midtool.Message {
	return midtool.Message{Role: midtool.RoleUser, Content: text}
}

func calls(untrained bool, texts ...string) midtool.Message {
	m := midtool.Message{Role: midtool.RoleAssistant, Untrained: untrained}
	for _, text := range texts {
		name, args, _ := strings.Cut(text, " ")
		m.Calls = append(m.Calls, midtool.Call{Name: name, Arguments: json.RawMessage(args)})
	}
	return m
}

func answer(text string) midtool.Message {
	return midtool.Message{Role: midtool.RoleTool, Content: text}
}

// A conversation is played call by call; what is not to be learned, and whose tools the desk does not have, is not.
func TestConversations(t *testing.T) {
	ctx := context.Background()
	j := newJob(t, 1)
	if err := j.readInput(ctx); err != nil {
		t.Fatal(err)
	}
	l, err := j.learner(ctx, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	const order, product, other = `get_order {"order_id":"o1"}`, `get_product {"sku":"lamp1"}`, `get_order {"order_id":"o2"}`
	samples := []midtool.Sample{
		sampleOf("two turns", []string{"get_order", "get_product"}, user("Show order o1."), calls(true, other), answer("no"),
			calls(false, order), answer("o1 delivered"), user("And lamp1?"), calls(false, product), answer("lamp1 stocked")),
		sampleOf("another", []string{"get_order"}, user("Show order o2."), calls(false, other), answer("o2 pending")),
		sampleOf("foreign", []string{"ping"}, user("Ping o1."), calls(false, `ping {"host":"o1"}`), answer("ok")),
		sampleOf("long", []string{"get_order"}, user("Show it."),
			calls(false, `get_order {"order_id":"`+strings.Repeat("o1 ", mostWords)+`"}`), answer("ok")),
		sampleOf("silent", []string{"get_order"}, user("Hello there."), midtool.Message{Role: midtool.RoleAssistant, Content: "Hello."}),
	}
	talk := conversations{words: l.Problem.Tokenizer}
	for i := range samples {
		talk.add(&samples[i], j.readOnly)
	}
	talk.offer()
	if len(talk.episodes) != 2 {
		t.Fatalf("%d conversations can be played, want 2", len(talk.episodes))
	}
	type turn struct {
		Text, Action string
		Choices      []string
	}
	var got []turn
	for _, turns := range [][]heardTurn{talk.episodes[0].turns, talk.episodes[1].turns} {
		for _, h := range turns {
			one := turn{Text: h.text, Action: h.action.String()}
			for _, c := range h.choices {
				one.Choices = append(one.Choices, c.String())
			}
			got = append(got, one)
		}
	}
	want := []turn{
		{"Show order o1.\nno", order, []string{order, product}},
		{"Show order o1. And lamp1?\n", product, []string{order, other, product}},
		{"Show order o2.\n", other, []string{order, other}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	_, heard, err := l.demonstrations(ctx, samples)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range heard {
		if e.Trajectory.Success == nil || !*e.Trajectory.Success {
			t.Errorf("%s did not pass: %+v", e.Trajectory.Task, e.Trace.Verdict)
		}
	}
	if len(heard) != 2 || len(heard[0].Trajectory.Turns) != 2 {
		t.Errorf("%d episodes, the first of %d turns, want 2 and 2", len(heard), len(heard[0].Trajectory.Turns))
	}
	h := hearing{conversation: talk.episodes[1]}
	if r := h.Step(envharness.Action{Name: "get_order"}); r.Refusal == nil || h.Verdict().Status != envharness.Fail {
		t.Error("another call than that of the sample passes")
	}
}

// All conversations of the mix that are of the desk's tools are played, and the policy learns from them.
func TestWarmStartFromTheMix(t *testing.T) {
	ctx := context.Background()
	j := newJob(t, 1)
	if err := errors.Join(j.readInput(ctx), j.corpus(ctx)); err != nil {
		t.Fatal(err)
	}
	l, err := j.learner(ctx, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	recorded, heard, err := l.demonstrations(ctx, j.imitated)
	if err != nil {
		t.Fatal(err)
	}
	r := j.result.Report.Corpus
	if len(recorded) != r.Recorded || r.Recorded == 0 || len(heard) == 0 || len(heard) > r.Native+r.Grounded {
		t.Errorf("%d recorded and %d other episodes of %+v", len(recorded), len(heard), r)
	}
	for _, e := range slices.Concat(recorded, heard) {
		if e.Trajectory.Success == nil || !*e.Trajectory.Success {
			t.Errorf("%s did not pass", e.Trajectory.Task)
		}
	}
}

// What the desk shows becomes values that calls take their arguments from.
func TestResult(t *testing.T) {
	tests := []struct{ name, shown, want, reason string }{
		{"lines", "c1\no3 c1 pending chair2 20", `{"shown":[["c1"],["o3","c1","pending","chair2",20]]}`, "a list of values a line, numbers as numbers"},
		{"address", "k1 c1 open ship o1 to hill 7", `{"shown":[["k1","c1","open","ship","o1","to","hill 7"]]}`, "an address is one value"},
		{"done", "done o1 k2", `{"shown":[["done","o1, k2"]]}`, "as the answer names it"},
		{"one", "done 10", `{"shown":[["done",10]]}`, "a number alone stays one"},
		{"nothing", "", `{"shown":[]}`, "nothing was shown"},
	}
	for _, tt := range tests {
		if got, err := result(tt.shown); err != nil || got != tt.want {
			t.Errorf("%s: got %s, %v, want %s: %s", tt.name, got, err, tt.want, tt.reason)
		}
	}
}
