package rl_test

import (
	"fmt"
	"log"
	"os"

	"github.com/throughline-go/throughline/rl"
)

// through returns a trajectory through the given states.
func through(score float64, states ...string) rl.Trajectory {
	t := rl.Trajectory{Group: "find the key", FinalState: states[len(states)-1]}
	for _, s := range states[:len(states)-1] {
		t.Turns = append(t.Turns, rl.Turn{State: s, Tokens: []rl.Token{{Trainable: true}}})
	}
	last := &t.Turns[len(t.Turns)-1]
	last.Reward, last.End = score, rl.Terminated
	return t
}

// rooms are rollouts of one task. Two ways from the hall are equally long, but one of them leads to the cellar.
func rooms() []rl.Trajectory {
	return []rl.Trajectory{
		through(10, "hall", "study", "drawer", "key"),
		through(10, "hall", "kitchen", "drawer", "key"),
		through(0, "hall", "study", "attic", "attic"),
		through(0, "hall", "kitchen", "cellar"),
		through(0, "hall", "kitchen", "cellar"),
	}
}

// By distance to the goal, going to the study is as good as going to the kitchen.
func ExampleGraphGPO() {
	credit, err := rl.GraphGPO(nil, rooms(), &rl.GraphGPOOptions{EpisodeWeight: new(0.0)})
	if err != nil {
		log.Fatal(err)
	}
	for i, t := range rooms()[:4] {
		fmt.Printf("%.3f by way of the %s\n", credit.Advantage[credit.Start[i]:credit.Start[i+1]], t.Turns[1].State)
	}
	// Output:
	// [0.000 0.707 0.000] by way of the study
	// [0.000 1.155 0.000] by way of the kitchen
	// [0.000 -0.707 0.000] by way of the study
	// [0.000 -0.577] by way of the kitchen
}

// Milestones break the tie in the hall: from there the study leads to success more often.
func ExampleMileGPO() {
	credit, err := rl.MileGPO(nil, rooms(), &rl.MileGPOOptions{
		GraphGPOOptions: rl.GraphGPOOptions{EpisodeWeight: new(0.0)},
	})
	if err != nil {
		log.Fatal(err)
	}
	for i, t := range rooms()[:4] {
		fmt.Printf("%.3f by way of the %s\n", credit.Advantage[credit.Start[i]:credit.Start[i+1]], t.Turns[1].State)
	}
	// Output:
	// [0.219 0.707 0.000] by way of the study
	// [-0.146 1.155 0.000] by way of the kitchen
	// [0.219 -0.707 0.000] by way of the study
	// [-0.146 -0.577] by way of the kitchen
}

func ExampleMileGPOWebShop() {
	o := rl.MileGPOWebShop()
	o.EpisodeWeight = new(0.5)
	credit, err := rl.MileGPO(nil, rooms(), o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", credit.Advantage[:3])
	// Output: [3.098 5.145 3.000]
}

func ExampleMileGraphs() {
	graphs, err := rl.MileGraphs(rooms(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range graphs {
		fmt.Printf("%s: %d of %d pairs are tied by distance\n", g.Group, g.Ties, g.Pairs)
		for _, n := range g.Nodes {
			switch {
			case n.Goal:
				fmt.Printf("goal      %s\n", n.State)
			case n.Milestone && n.Kept:
				fmt.Printf("milestone %-8s %.3f\n", n.State, n.CalibratedScore)
			case n.Trap:
				fmt.Printf("trap      %-8s %.3f\n", n.State, n.TrapScore)
			}
		}
	}
	// Output:
	// find the key: 6 of 9 pairs are tied by distance
	// milestone study    1.576
	// milestone drawer   5.550
	// goal      key
	// milestone kitchen  1.109
	// trap      attic    0.483
	// trap      cellar   0.400
}

func ExampleMileGraph_WriteDOT() {
	graphs, err := rl.MileGraphs([]rl.Trajectory{through(10, "hall", "drawer", "key")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := graphs[0].WriteDOT(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// digraph {
	// 	rankdir=LR
	// 	labelloc=t
	// 	label="find the key\n1 successes, 0 failures, 0 of 0 pairs tied"
	// 	node [shape=ellipse, style=filled, fillcolor=white, fontname="sans-serif"]
	// 	edge [fontname="sans-serif", fontsize=10]
	// 	n0 [label="hall\n2 to a goal\n1+ 0-\nmilestone 1.125, calibrated 0\npotential +0.2 -0", style="filled,dashed", fillcolor=honeydew]
	// 	n1 [label="drawer\n1 to a goal\n1+ 0-\nmilestone 1.25, calibrated 2.5\npotential +1 -0", fillcolor=palegreen]
	// 	n2 [label="key\n0 to a goal\n1+ 0-\npotential +0 -0", shape=doublecircle, fillcolor=gold]
	// 	n0 -> n1 [color=forestgreen, label="1× p 1\nr 2, shaped 4"]
	// 	n1 -> n2 [color=gray40, label="1× p 1\nr 10, shaped 10"]
	// }
}
