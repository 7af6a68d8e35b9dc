package shop_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/shop"
)

// The small shop tells in few words what is wanted and what the page shows.
func ExampleNew() {
	ctx := context.Background()
	env := shop.New(&shop.Options{Small: true})
	defer env.Close()
	obs, err := env.Reset(ctx, envharness.ResetOptions{Task: "small-0001"})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := env.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(obs.Text)
	for _, a := range plan {
		t, err := env.Step(ctx, a)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("> %s\n%s\n", a.Text(), t.Observation.Text)
	}
	// Output:
	// want modern wooden lamp white small under 60
	// search
	// > search modern wooden lamp
	// want modern wooden lamp white small under 60
	// results page 1 of 3
	// 1 modern wooden lamp 65
	// 2 modern wooden lamp 35
	// 3 bright wooden lamp 85
	// 4 bright wooden lamp 35
	// > click 2
	// want modern wooden lamp white small under 60
	// item modern wooden lamp 35
	// color red blue green white chosen -
	// size small medium large chosen -
	// > click white
	// want modern wooden lamp white small under 60
	// item modern wooden lamp 35
	// color red blue green white chosen white
	// size small medium large chosen -
	// > click small
	// want modern wooden lamp white small under 60
	// item modern wooden lamp 35
	// color red blue green white chosen white
	// size small medium large chosen small
	// > click buy now
	// bought
}

// A purchase that fits in part is a failure with a score.
func ExampleWorld() {
	ctx := context.Background()
	h, err := envharness.New(shop.World(nil))
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	obs, err := h.Reset(ctx, envharness.ResetOptions{Task: "goal-0013"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(obs.Data["task"])
	for range 2 { // search for the whole sentence, open the first product
		t, err := h.Step(ctx, obs.Actions[min(2, len(obs.Actions)-1)])
		if err != nil {
			log.Fatal(err)
		}
		obs = t.Observation
	}
	if _, err := h.Step(ctx, envharness.Action{Name: "click", Args: []byte(`{"text":"Buy Now"}`)}); err != nil {
		log.Fatal(err)
	}
	v, err := h.Verdict(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %.3f: %s\n", v.Status, v.Score, v.Reason)
	// Output:
	// i'm looking for granola bars with these features: low sugar, size: trio, and price lower than 50.00 dollars
	// fail 0.333: 1 of 1 attributes and 0 of 1 options fit, it is too expensive
}
