package household_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/household"
)

// The oracle plays a task of the full preset.
func ExampleNew() {
	ctx := context.Background()
	home := household.New(nil)
	defer home.Close()
	first, err := home.Reset(ctx, envharness.ResetOptions{Task: "pick_clean_then_place_in_recep-407-3"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Text)
	plan, err := home.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range plan {
		t, err := home.Step(ctx, a)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("> %s\n%s\n", a.Args, t.Observation.Text)
		if t.Ended() {
			fmt.Println("reward", t.Reward)
		}
	}
	// Output:
	// You are in the middle of a room. Looking quickly around you, you see a bathtubbasin 1, a cabinet 1, a cabinet 2, a cabinet 3, a countertop 1, a garbagecan 1, a sinkbasin 1, and a toilet 1.
	//
	// Your task is to: put a clean dishsponge in countertop.
	// > {"text":"go to garbagecan 1"}
	// You arrive at garbagecan 1. On the garbagecan 1, you see a dishsponge 1, and a lettuce 1.
	// > {"text":"take dishsponge 1 from garbagecan 1"}
	// You pick up the dishsponge 1 from the garbagecan 1.
	// > {"text":"go to sinkbasin 1"}
	// You arrive at sinkbasin 1. On the sinkbasin 1, you see a bowl 1, and a spoon 1.
	// > {"text":"clean dishsponge 1 with sinkbasin 1"}
	// You clean the dishsponge 1 using the sinkbasin 1.
	// > {"text":"go to countertop 1"}
	// You arrive at countertop 1. On the countertop 1, you see a alarmclock 1, a apple 1, a candle 1, a creditcard 1, a creditcard 2, a glassbottle 1, a keychain 1, a knife 1, and a statue 1.
	// > {"text":"move dishsponge 1 to countertop 1"}
	// You move the dishsponge 1 to the countertop 1.
	// reward 1
}

// The small preset tells how things stand; a command that is not applicable changes nothing.
func ExampleOptions() {
	ctx := context.Background()
	home := household.New(&household.Options{Small: true})
	defer home.Close()
	first, err := home.Reset(ctx, envharness.ResetOptions{Task: "small-pick_heat_then_place_in_recep-7-12"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Text)
	for _, args := range []string{`{"text":"go to diningtable 1"}`, `{"text":"open diningtable 1"}`, `{"text":"take egg 1 from diningtable 1"}`} {
		t, err := home.Step(ctx, envharness.Action{Name: "do", Args: []byte(args)})
		if err != nil {
			log.Fatal(err)
		}
		if t.Error != nil {
			fmt.Printf("%s: %s\n", t.Error.Class, t.Error.Message)
			continue
		}
		fmt.Printf("\n%s\n", t.Observation.Text)
	}
	// Output:
	// put a hot egg in diningtable.
	// in the middle
	// hold nothing
	// places countertop 1 diningtable 1 fridge 1 microwave 1 sinkbasin 1
	//
	// put a hot egg in diningtable.
	// at diningtable 1
	// see apple 1 egg 1
	// hold nothing
	// places countertop 1 diningtable 1 fridge 1 microwave 1 sinkbasin 1
	// precondition: no such command can be carried out here and now
	//
	// put a hot egg in diningtable.
	// at diningtable 1
	// see apple 1
	// hold egg 1
	// places countertop 1 diningtable 1 fridge 1 microwave 1 sinkbasin 1
}

// A component moves the egg before the first turn; the harness judges by a replay.
func ExampleWorld() {
	ctx := context.Background()
	patch := components.StartPatch{Set: map[string]json.RawMessage{"/start/objects/egg 1": []byte(`"countertop 1"`)}}
	h, err := envharness.New(household.World(&household.Options{Small: true}), patch)
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{Task: "small-pick_heat_then_place_in_recep-7-12"}); err != nil {
		log.Fatal(err)
	}
	for _, command := range []string{"go to countertop 1", "take egg 1 from countertop 1", "go to microwave 1", "heat egg 1 with microwave 1"} {
		if _, err := h.Step(ctx, envharness.Action{Name: "do", Args: fmt.Appendf(nil, `{"text":%q}`, command)}); err != nil {
			log.Fatal(err)
		}
	}
	v, err := h.Verdict(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Status, v.Score, v.Reason)
	// Output:
	// fail 0.5 no egg that is hot is in a diningtable
}

// A scene of one's own.
func ExampleFromScene() {
	scene := household.Scene{
		Receptacles: []household.Receptacle{{Name: "desk 1", Location: 1}, {Name: "drawer 1", Location: 1}, {Name: "bed 1", Location: 2}},
		Objects:     []household.Object{{Name: "book 1", In: "drawer 1"}, {Name: "desklamp 1", In: "desk 1"}},
		Goal:        household.Goal{Kind: household.LookInLight, Object: "book", Receptacle: "desklamp"},
	}
	made, err := household.FromScene(scene, nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	home := made.New()
	if _, err := home.Reset(ctx, envharness.ResetOptions{}); err != nil {
		log.Fatal(err)
	}
	plan, err := home.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range plan {
		fmt.Println(a.Text())
	}
	// Output:
	// do go to drawer 1
	// do open drawer 1
	// do take book 1 from drawer 1
	// do use desklamp 1
}
