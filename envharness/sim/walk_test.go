package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// A walk is the episode of the tests: along a corridor to a goal, where one stops. It is passed in the episode's last move, which a stop is.
type walk struct {
	At      int  `json:"at"`
	Width   int  `json:"width"`
	Goal    int  `json:"goal"`
	Stopped bool `json:"stopped"`

	said  string
	fault *Result      // what a call of "break" leads to
	calls *shownCounts // nil where nobody counts
}

// shownCounts counts calls of an episode's methods.
type shownCounts struct{ text, data, actions, opening int }

func (w *walk) Step(a envharness.Action) Result {
	if a.Name == "break" {
		if w.fault == nil {
			panic("broken")
		}
		w.At = (w.At + 1) % w.Width // half of something
		return *w.fault
	}
	refuse := func(class envharness.ErrorClass, format string, args ...any) Result {
		r := Refuse(class, format, args...)
		w.said = "refused: " + string(r.Class)
		return Result{Refusal: r}
	}
	switch a.Name {
	case "go":
		to, refusal := StringArg(a.Args, "to")
		if refusal != nil {
			return refuse(refusal.Class, "%s", refusal.Message)
		}
		by := map[string]int{"left": -1, "right": 1}[to]
		switch {
		case by == 0:
			return refuse(envharness.ClassNotFound, "there is no %q", Clip(to))
		case w.At+by < 0 || w.At+by >= w.Width:
			return refuse(envharness.ClassPrecondition, "there is a wall")
		}
		w.At += by
		w.said = "you go " + to
		return Result{Info: map[string]any{"by": float64(by)}}
	case "stop":
		if _, refusal := Args(a.Args); refusal != nil {
			return refuse(refusal.Class, "%s", refusal.Message)
		}
		w.Stopped, w.said = true, "you stop"
		return Result{Ended: true, Reward: w.Verdict().Score}
	}
	return refuse(envharness.ClassUnknownTool, "no tool named %q", Clip(a.Name))
}

func (w *walk) Text() string {
	if w.calls != nil {
		w.calls.text++
	}
	return fmt.Sprintf("you are at %d, the goal is %d of %d", w.At, w.Goal, w.Width)
}

func (w *walk) Data() map[string]any {
	if w.calls != nil {
		w.calls.data++
	}
	return map[string]any{"at": float64(w.At)}
}

func (w *walk) Actions() []envharness.Action {
	if w.calls != nil {
		w.calls.actions++
	}
	var list []envharness.Action
	if w.At > 0 {
		list = append(list, goTo("left"))
	}
	if w.At < w.Width-1 {
		list = append(list, goTo("right"))
	}
	return append(list, envharness.Action{Name: "stop"})
}

func goTo(to string) envharness.Action {
	return envharness.Action{Name: "go", Args: json.RawMessage(`{"to":"` + to + `"}`)}
}

func (w *walk) AppendState(b []byte) []byte {
	s, err := json.Marshal(w)
	if err != nil {
		panic(err) // integers and booleans
	}
	return append(b, s...)
}

func (w *walk) Verdict() envharness.Verdict {
	if w.Stopped && w.At == w.Goal {
		return envharness.Verdict{Status: envharness.Pass, Score: 1}
	}
	return envharness.Verdict{Status: envharness.Fail, Score: 0.25, Reason: "not stopped at the goal"}
}

// A planned walk knows the way.
type planned struct{ *walk }

func (p planned) Plan() ([]envharness.Action, error) {
	var plan []envharness.Action
	for at := p.At; at < p.Goal; at++ {
		plan = append(plan, goTo("right"))
	}
	for at := p.At; at > p.Goal; at-- {
		plan = append(plan, goTo("left"))
	}
	return append(plan, envharness.Action{Name: "stop"}), nil
}

// A told walk has texts that tell the last move alone, a goal that can be set and a limit of its own.
type told struct{ planned }

func (w told) Text() string {
	if w.calls != nil {
		w.calls.text++
	}
	if w.said == "" {
		return w.planned.Text()
	}
	return w.said
}

func (w told) Opening() string {
	if w.calls != nil {
		w.calls.opening++
	}
	return fmt.Sprintf("you are at 0, the goal is %d of %d", w.Goal, w.Width)
}

func (w told) Settings() json.RawMessage { return fmt.Appendf(nil, `{"goal":%d}`, w.Goal) }

func (w told) Set(settings json.RawMessage) error {
	var s struct {
		Goal *int `json:"goal"`
	}
	if err := json.Unmarshal(settings, &s); err != nil {
		return err
	}
	if s.Goal == nil || *s.Goal < 1 || *s.Goal >= w.Width {
		return errors.New("a goal must be in the corridor and not at its start")
	}
	w.Goal = *s.Goal
	return nil
}

func (w told) Limit() int { return w.Width + 3 }

// walkVocabulary has the words of all walks.
var walkVocabulary = []string{
	",", "-", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", ":", ">", "_", "are", "args", "at", "bad", "done", "far", "found", "go", "goal",
	"is", "left", "not", "of", "precondition", "refused", "right", "so", "stop", "the", "tool", "unknown", "you",
}

// walks is a simulation of corridors 3 to 9 wide, whose id is the width. Its episodes are what dress makes of a walk.
func walks(dress func(w *walk) Episode) *Simulation {
	none := json.RawMessage(`{"additionalProperties":false,"properties":{},"type":"object"}`)
	return &Simulation{
		Description: envharness.Description{
			Name: "walks",
			Tools: []envharness.Tool{
				{Name: "go", Schema: json.RawMessage(`{"additionalProperties":false,"properties":{"to":{"enum":["left","right"],"type":"string"}},` +
					`"required":["to"],"type":"object"}`)},
				{Name: "stop", Schema: none, Submits: true},
			},
			Graded: []string{"at", "stopped"},
			Refusals: []envharness.ErrorClass{
				envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassNotFound, envharness.ClassPrecondition,
			},
			Vocabulary: walkVocabulary,
			MaxTurns:   12,
		},
		Start: func(task string) (Episode, error) {
			width, err := strconv.Atoi(task)
			if err != nil || width < 3 || width > 9 || strconv.Itoa(width) != task {
				return nil, fmt.Errorf("%w: %q, want 3 to 9", envharness.ErrNoTask, Clip(task))
			}
			return dress(&walk{Width: width, Goal: width / 2}), nil
		},
		DefaultTask: "5",
		Tasks: func(split string) ([]envharness.Task, error) {
			if split != "train" {
				return nil, fmt.Errorf("unknown split %q, want train", Clip(split))
			}
			return []envharness.Task{{ID: "5"}, {ID: "9"}, {ID: "3"}}, nil
		},
		Shortest: true,
	}
}

// The dresses, from none to all.
var (
	bare  = func(w *walk) Episode { return w }
	plans = func(w *walk) Episode { return planned{w} }
	tells = func(w *walk) Episode { return told{planned{w}} }
)

func tellingWalks() *Simulation {
	s := walks(tells)
	s.Description.Mutable = []string{"/start/goal"}
	return s
}
