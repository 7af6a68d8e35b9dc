package chain_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/chain"
)

// An umbrella of length 3: the first action decides, coins pay in between, the last step shows it.
func ExampleNew() {
	ctx := context.Background()
	env, err := chain.New(chain.UmbrellaLengthShort)
	if err != nil {
		log.Fatal(err)
	}
	defer env.Close()
	first, err := env.Reset(ctx, envharness.ResetOptions{Task: "3-0"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Text)
	plan, err := env.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range plan {
		t, err := env.Step(ctx, a)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s, reward %v\n%s\n", a, t.Reward, t.Observation.Text)
	}
	// Output:
	// Has must be need; action 1 sets it. Need 0, has 1, left 3 of 3, signs 1 1 0 0 0 0 0 1 1 0
	// act {"action":0}, reward 1
	// Has must be need; action 1 sets it. Need 0, has 0, left 2 of 3, signs 0 0 1 0 0 1 0 1 1 1
	// act {"action":0}, reward -1
	// Has must be need; action 1 sets it. Need 0, has 0, left 1 of 3, signs 1 0 1 0 1 0 0 1 0 0
	// act {"action":0}, reward 1
	// Has must be need; action 1 sets it. Need 0, has 0, left 0 of 3, signs 0 1 0 0 0 0 0 0 1 0
}

// The harness plays, and the verifier says whether the bit was remembered.
func ExampleWorld() {
	ctx := context.Background()
	w, err := chain.World(chain.MemoryLen)
	if err != nil {
		log.Fatal(err)
	}
	h, err := envharness.New(w)
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	o, err := h.Reset(ctx, envharness.ResetOptions{Task: "2-3"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Text)
	for _, args := range []string{`{"action":0}`, `{"action":0}`, `{"action":1}`} {
		t, err := h.Step(ctx, envharness.Action{Name: "act", Args: []byte(args)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(t.Observation.Text)
	}
	v, err := h.Verdict(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Status)
	// Output:
	// Remember the bit and act it at the end, when 1 is left again. Bit 1, left 2 of 2
	// Remember the bit and act it at the end, when 1 is left again. Bit 1, left 2 of 2
	// Remember the bit and act it at the end, when 1 is left again. Bit hidden, left 1 of 2
	// Remember the bit and act it at the end, when 1 is left again. Bit hidden, left 0 of 2
	// pass
}

func ExampleExperiments() {
	for _, e := range chain.Experiments() {
		settings := e.Settings()
		fmt.Printf("%s: %d settings, up to %d steps\n", e, len(settings), settings[len(settings)-1].Steps)
	}
	// Output:
	// umbrella_length: 23 settings, up to 100 steps
	// umbrella_distract: 23 settings, up to 20 steps
	// discounting_chain: 20 settings, up to 100 steps
	// memory_len: 23 settings, up to 101 steps
	// deep_sea: 21 settings, up to 50 steps
	// umbrella_length_short: 10 settings, up to 10 steps
	// umbrella_distract_short: 13 settings, up to 10 steps
	// discounting_chain_short: 20 settings, up to 10 steps
	// memory_len_short: 9 settings, up to 10 steps
	// deep_sea_short: 7 settings, up to 10 steps
}

// The short sweeps are for learners that are small.
func ExampleExperiment_Short() {
	for _, e := range chain.Experiments() {
		if e.Short() {
			fmt.Println(e)
		}
	}
	// Output:
	// umbrella_length_short
	// umbrella_distract_short
	// discounting_chain_short
	// memory_len_short
	// deep_sea_short
}

// A sweep has settings; those beyond a point are out of distribution.
func ExampleExperiment_Settings() {
	for _, s := range chain.DeepSeaShort.Settings() {
		fmt.Printf("%+v\n", s)
	}
	// Output:
	// {Number:4 Steps:4 Episodes:1000 OOD:false Chance:0.0625}
	// {Number:5 Steps:5 Episodes:1000 OOD:false Chance:0.03125}
	// {Number:6 Steps:6 Episodes:1000 OOD:false Chance:0.015625}
	// {Number:7 Steps:7 Episodes:1000 OOD:false Chance:0.0078125}
	// {Number:8 Steps:8 Episodes:1000 OOD:true Chance:0.00390625}
	// {Number:9 Steps:9 Episodes:1000 OOD:true Chance:0.001953125}
	// {Number:10 Steps:10 Episodes:1000 OOD:true Chance:0.0009765625}
}

// Half of the umbrellas are right by chance, which scores nothing; one in five of the chains is the best, and all pay at least 1.
func ExampleExperiment_Score() {
	var umbrellas, chains []chain.Result
	for i := range 100 {
		umbrellas = append(umbrellas, chain.Result{Setting: 10, Pass: i%2 == 0})
		best := i%5 == 0
		r := chain.Result{Setting: 0, Pass: best, Return: 1}
		if best {
			r.Return = 1.1
		}
		chains = append(chains, r)
	}
	u, err := chain.UmbrellaLength.Score(umbrellas)
	if err != nil {
		log.Fatal(err)
	}
	c, err := chain.DiscountingChain.Score(chains)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f %.2f\n", u, c)
	// Output: 0.00 0.20
}
