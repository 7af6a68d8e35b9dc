package sim_test

import (
	"context"
	"fmt"
	"log"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/sim"
)

// Stairs are to be climbed by one or two steps at a time; at the top the bell has to be rung.
type stairs struct {
	at, top int
	rung    bool
}

var steps = map[string]int{"one": 1, "two": 2}

func (s *stairs) Step(a envharness.Action) sim.Result {
	switch a.Name {
	case "climb":
		n, refusal := sim.StringArg(a.Args, "steps")
		switch {
		case refusal != nil:
			return sim.Result{Refusal: refusal}
		case steps[n] == 0:
			return sim.Result{Refusal: sim.Refuse(envharness.ClassBadArgs, "steps must be one or two, got %q", sim.Clip(n))}
		case s.at+steps[n] > s.top:
			return sim.Result{Refusal: sim.Refuse(envharness.ClassPrecondition, "there are only %d steps", s.top)}
		}
		s.at += steps[n]
		return sim.Result{}
	case "ring":
		if _, refusal := sim.Args(a.Args); refusal != nil {
			return sim.Result{Refusal: refusal}
		}
		s.rung = true
		return sim.Result{Ended: true, Reward: s.Verdict().Score}
	}
	return sim.Result{Refusal: sim.Refuse(envharness.ClassUnknownTool, "no tool named %q", sim.Clip(a.Name))}
}

func (s *stairs) Text() string { return fmt.Sprintf("step %d of %d", s.at, s.top) }

func (s *stairs) Data() map[string]any { return nil }

func (s *stairs) Actions() []envharness.Action {
	list := []envharness.Action{{Name: "ring"}}
	for _, n := range []string{"one", "two"} {
		if s.at+steps[n] <= s.top {
			list = append(list, envharness.Action{Name: "climb", Args: []byte(`{"steps":"` + n + `"}`)})
		}
	}
	return list
}

func (s *stairs) AppendState(b []byte) []byte {
	return fmt.Appendf(b, `{"at":%d,"top":%d,"rung":%t}`, s.at, s.top, s.rung)
}

func (s *stairs) Verdict() envharness.Verdict {
	if s.rung && s.at == s.top {
		return envharness.Verdict{Status: envharness.Pass, Score: 1}
	}
	return envharness.Verdict{Status: envharness.Fail, Reason: "the bell at the top was not rung"}
}

// A custom environment from its first line to a verdict, with what the conformance kit says of it.
func ExampleSimulation() {
	simulation := &sim.Simulation{
		Description: envharness.Description{
			Name: "stairs",
			Tools: []envharness.Tool{
				{Name: "climb", Schema: []byte(`{"additionalProperties":false,"properties":{"steps":{"enum":["one","two"],"type":"string"}},` +
					`"required":["steps"],"type":"object"}`)},
				{Name: "ring", Submits: true},
			},
			Graded:     []string{"at", "rung"},
			Refusals:   []envharness.ErrorClass{envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassPrecondition},
			Vocabulary: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "climb", "of", "one", "ring", "step", "two"},
			MaxTurns:   10,
		},
		DefaultTask: "5",
		Start: func(task string) (sim.Episode, error) { // the task is the number of steps
			top, err := strconv.Atoi(task)
			if err != nil || top < 1 || top > 9 || strconv.Itoa(top) != task {
				return nil, fmt.Errorf("%w: %q, want 1 to 9", envharness.ErrNoTask, sim.Clip(task))
			}
			return &stairs{top: top}, nil
		},
	}

	ctx := context.Background()
	h, err := envharness.New(simulation.World())
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	first, err := h.Reset(ctx, envharness.ResetOptions{Task: "3"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Text, first.Actions)
	for _, a := range []envharness.Action{
		{Name: "climb", Args: []byte(`{"steps":"two"}`)}, {Name: "climb", Args: []byte(`{"steps":"two"}`)},
		{Name: "climb", Args: []byte(`{"steps":"one"}`)}, {Name: "ring"},
	} {
		t, err := h.Step(ctx, a)
		if err != nil {
			log.Fatal(err)
		}
		if t.Error != nil {
			fmt.Println(t.Error.Class+":", t.Error.Message)
		}
		fmt.Println(t.Observation.Text)
	}
	v, err := h.Verdict(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Status)

	fmt.Println("broken rules:", envtest.Environment{New: simulation.World().New, SeedBlind: true}.Check(ctx))
	// Output:
	// step 0 of 3 [ring climb {"steps":"one"} climb {"steps":"two"}]
	// step 2 of 3
	// precondition: there are only 3 steps
	// step 2 of 3
	// step 3 of 3
	// step 3 of 3
	// pass
	// broken rules: <nil>
}
