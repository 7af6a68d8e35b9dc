package rollout_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rollout"
)

// uniform is a model to which all tokens are equally likely; package backbone has models that learn.
type uniform struct{ vocab int }

func (u uniform) Sample(_ context.Context, dst, _ []int, o rl.SampleOptions) ([]int, error) {
	for start := len(dst); len(dst) < start+o.Limit; {
		id := o.Rand.IntN(u.vocab)
		if o.Allowed != nil {
			list := o.Allowed(dst[start:])
			id = list[o.Rand.IntN(len(list))]
		}
		if dst = append(dst, id); id == o.Stop {
			break
		}
	}
	return dst, nil
}

func (u uniform) LogProbs(_ context.Context, batch []rl.Sequence) ([][]float64, error) {
	out := make([][]float64, len(batch))
	for i, s := range batch {
		for j := range len(s.Tokens) - s.Start {
			n := u.vocab
			if s.Allowed != nil {
				n = len(s.Allowed[j])
			}
			out[i] = append(out[i], -math.Log(float64(n)))
		}
	}
	return out, nil
}

func (uniform) AddGrad(context.Context, []rl.Sequence, [][]float64) error { return nil }
func (uniform) Step(context.Context, float64) (float64, error)            { return 0, nil }

// A model that knows nothing plays two groups of two episodes, choosing among the admissible actions.
func Example() {
	ctx := context.Background()
	world := keydoor.World(&keydoor.Options{Small: true})
	words, err := rollout.WorldTokenizer(ctx, world, nil)
	if err != nil {
		log.Fatal(err)
	}
	agent, err := rollout.NewAgent(uniform{words.Vocab()}, words, &rollout.AgentOptions{Candidates: true, History: new(0)})
	if err != nil {
		log.Fatal(err)
	}
	tasks := rollout.Repeat([]envharness.Task{{ID: "small-2,2,0,0"}, {ID: "small-2,2,1,1"}}, 2)
	player := func(slot int) (rollout.Player, error) {
		return agent.Play(envharness.RandStream(1, "agent", uint64(slot))), nil
	}
	episodes, err := rollout.Collect(ctx, world, nil, player, tasks, &rollout.Options{GroupSize: 2, Parallel: 4})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range episodes {
		fmt.Printf("group %s: %d turns, success %v\n", e.Trajectory.Group, len(e.Trajectory.Turns), *e.Trajectory.Success)
	}
	fmt.Println(words.Decode(nil, episodes[0].Final))
	// Output:
	// group small-2,2,0,0@0: 12 turns, success false
	// group small-2,2,0,0@0: 12 turns, success false
	// group small-2,2,1,1@1: 12 turns, success false
	// group small-2,2,1,1@1: 12 turns, success false
	// <bos> walk to the right through all rooms and leave the last one . every door needs a key of its own . <sep> goal : leave room 1 . doors green , pink . room 0 , cell 1 . door green open . keys held : blue . keys here : none . <act>
}

func ExampleNewTokenizer() {
	t, err := rollout.NewTokenizer([]string{"Go to the door.", "Open the door."}, &rollout.TokenizerOptions{Slots: 2})
	if err != nil {
		log.Fatal(err)
	}
	names := rollout.NewNames()
	ids := t.Encode(nil, names, "Open the door to Zoe, Zoe!")
	fmt.Printf("%q\n", t.Words())
	fmt.Println(t.Vocab(), ids)
	fmt.Println(t.Decode(names, ids))
	// Output:
	// ["." "door" "the" "go" "open" "to"]
	// 17 [13 11 10 14 15 16 15 3]
	// open the door to zoe , zoe <unk>
}

// In two episodes a slot stands for two names.
func ExampleNewNames() {
	t, err := rollout.NewTokenizer([]string{"ask"}, &rollout.TokenizerOptions{Slots: 4})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"ask zoe", "ask max"} {
		names := rollout.NewNames()
		ids := t.Encode(nil, names, text)
		fmt.Println(ids, t.Decode(names, ids))
	}
	// Output:
	// [9 10] ask zoe
	// [9 10] ask max
}

// A world that invents names has no list of words. Those of the oracle's episodes are read off a first round of demonstrations, in which every
// word is a name.
func ExampleWords() {
	ctx := context.Background()
	world := tooldesk.World(nil)
	if _, err := rollout.WorldTokenizer(ctx, world, nil); err != nil {
		fmt.Println("no vocabulary")
	}
	names, err := rollout.NewTokenizer([]string{"submit"}, &rollout.TokenizerOptions{Slots: 1000})
	if err != nil {
		log.Fatal(err)
	}
	var tasks []envharness.Task
	for i := range 20 {
		tasks = append(tasks, envharness.Task{ID: fmt.Sprintf("T1-%04d", i)})
	}
	traces := func(t *rollout.Tokenizer) (traces []envharness.Trace) {
		agent, err := rollout.NewAgent(uniform{t.Vocab()}, t, &rollout.AgentOptions{Candidates: true})
		if err != nil {
			log.Fatal(err)
		}
		episodes, err := rollout.Demonstrations(ctx, world, agent, tasks, nil)
		if err != nil {
			log.Fatal(err)
		}
		for _, e := range episodes {
			traces = append(traces, e.Trace)
		}
		return traces
	}
	words, err := rollout.NewTokenizer(rollout.Words(traces(names), 3), &rollout.TokenizerOptions{Slots: 40})
	if err != nil {
		log.Fatal(err)
	}
	first := traces(words)[0]
	fmt.Println(first.Turns[1].Said, "of", first.Turns[1].Tokens, "tokens;", first.Verdict.Status)
	// Output:
	// no vocabulary
	// get _ order o - 7012 of 241 tokens; pass
}

// The oracle shows how it is done: sequences to imitate, of which the response is trainable.
func ExampleDemonstrations() {
	ctx := context.Background()
	world := tooldesk.World(&tooldesk.Options{Small: true})
	words, err := rollout.WorldTokenizer(ctx, world, nil)
	if err != nil {
		log.Fatal(err)
	}
	agent, err := rollout.NewAgent(uniform{words.Vocab()}, words, &rollout.AgentOptions{History: new(1)})
	if err != nil {
		log.Fatal(err)
	}
	episodes, err := rollout.Demonstrations(ctx, world, agent, []envharness.Task{{ID: "small-T1-0000"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range rl.Sequences(nil, rollout.Trajectories(episodes)) {
		fmt.Println(words.Decode(nil, s.Tokens[:s.Start]), "|", words.Decode(nil, s.Tokens[s.Start:]))
	}
	// Output:
	// <bos> finn : cancel o3 mistake <sep> <act> | find _ customer finn <end>
	// <bos> finn : cancel o3 mistake <sep> <act> find _ customer finn <end> <sep> c1 <act> | get _ order o3 <end>
	// <bos> finn : cancel o3 mistake <sep> c1 <act> get _ order o3 <end> <sep> c1 o3 c1 pending chair2 20 kettle2 40 left 60 <act> | cancel _ order o3 ordered by mistake <end>
	// <bos> finn : cancel o3 mistake <sep> c1 o3 c1 pending chair2 20 kettle2 40 left 60 <act> cancel _ order o3 ordered by mistake <end> <sep> c1 o3 c1 cancelled chair2 20 kettle2 40 left 0 done o3 <act> | submit o3 <end>
}

// Any policy can be a teacher. Its episode is scored too: how probable was each admissible action to the model?
func ExampleAgent_Scores() {
	ctx := context.Background()
	world := keydoor.World(&keydoor.Options{Small: true})
	words, err := rollout.WorldTokenizer(ctx, world, nil)
	if err != nil {
		log.Fatal(err)
	}
	model := uniform{words.Vocab()}
	agent, err := rollout.NewAgent(model, words, &rollout.AgentOptions{Candidates: true})
	if err != nil {
		log.Fatal(err)
	}
	teacher := envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		if t.Index == 2 {
			return envharness.Action{}, envharness.ErrStop
		}
		return t.Shown.Actions[t.Index], nil
	})
	episodes, err := rollout.Collect(ctx, world, nil, func(int) (rollout.Player, error) { return agent.Follow(teacher), nil },
		[]envharness.Task{{ID: "small-2,2,0,0"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	trace := episodes[0].Trace
	scores, err := agent.Scores(ctx, model, trace)
	if err != nil {
		log.Fatal(err)
	}
	for k, turn := range trace.Turns {
		fmt.Printf("%s:", turn.Said)
		for _, l := range scores[k] {
			fmt.Printf(" %.3f", math.Exp(l))
		}
		fmt.Println()
	}
	// Output:
	// right: 0.333 0.333 0.333
	// pickup: 0.333 0.333 0.333
}

// An agent with a hint: notes stand after the task in every context.
func ExampleAgent_Given() {
	words, err := rollout.NewTokenizer([]string{"open the door first take key then"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	agent, err := rollout.NewAgent(fixed(append(words.Encode(nil, nil, "take key"), rollout.EndAct)), words, nil)
	if err != nil {
		log.Fatal(err)
	}
	player := agent.Given("first take the key").Play(nil)
	turn := envharness.Turn{Shown: envharness.Observation{
		Text: "door, key", Data: map[string]any{"task": "open the door"}, Actions: []envharness.Action{{Name: "take key"}},
	}}
	if _, err := player.Act(context.Background(), turn); err != nil {
		log.Fatal(err)
	}
	s := rl.Sequences(nil, []rl.Trajectory{{Turns: player.Turns()}})[0]
	fmt.Println(words.Decode(nil, s.Tokens))
	// Output: <bos> open the door <sep> first take the key <sep> door <unk> key <act> take key <end>
}

// fixed is a model that always responds with the same tokens.
type fixed []int

func (f fixed) Sample(_ context.Context, dst, _ []int, _ rl.SampleOptions) ([]int, error) {
	return append(dst, f...), nil
}

// Where a world lists no actions, a function of one's own reads them from the words of a response.
func ExampleNewAgent() {
	words, err := rollout.NewTokenizer([]string{"guess 1 2 3"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	model := fixed(append(words.Encode(nil, nil, "guess 3"), rollout.EndAct))
	agent, err := rollout.NewAgent(model, words, &rollout.AgentOptions{
		Parse: func(response string, _ envharness.Turn) (envharness.Action, error) {
			var n int
			if _, err := fmt.Sscanf(response, "guess %d", &n); err != nil {
				return envharness.Action{}, envharness.ErrBadAction
			}
			return envharness.Action{Name: "guess", Args: fmt.Appendf(nil, `{"n":%d}`, n)}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	// A player is a policy; Collect gives it the turns of an episode.
	action, err := agent.Play(nil).Act(context.Background(), envharness.Turn{Shown: envharness.Observation{Text: "Guess!"}})
	fmt.Println(action, err)
	// Output: guess {"n":3} <nil>
}
