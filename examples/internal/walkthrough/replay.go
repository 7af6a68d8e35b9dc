package walkthrough

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/household"
)

// The causes for which a walkthrough does not reach the goal.
const (
	noScene    = "no scene fits the commands"
	refused    = "refused: " // and the command without its object and the number, such as "clean with bathtubbasin"
	tooEarly   = "the goal is reached before the last command"
	notReached = "the goal is not reached"
)

// Replay plays a walkthrough in the world of its [Scene] and asks the world's verifier. It returns "" if that says Pass after the last
// command and not before, and else the cause in a few words, the same for the same kind of failure.
func Replay(ctx context.Context, g Game) (cause string, err error) {
	scene, err := Scene(g)
	if err != nil {
		return noScene, nil
	}
	return play(ctx, scene, g.Actions)
}

// play plays commands in a scene.
func play(ctx context.Context, scene household.Scene, commands []string) (cause string, err error) {
	world, err := household.FromScene(scene, nil)
	if err != nil {
		return noScene, nil
	}
	env := world.New()
	defer env.Close()
	obs, err := env.Reset(ctx, envharness.ResetOptions{})
	if err != nil {
		return "", err
	}
	ev := envharness.Evidence{
		Task: world.DefaultTask,
		Log:  []envharness.LogEntry{{Kind: envharness.LogReset, Transition: envharness.Transition{Observation: obs}}},
	}
	for i, command := range commands {
		args, err := json.Marshal(map[string]string{"text": command})
		if err != nil {
			return "", err
		}
		action := envharness.Action{Name: "do", Args: args}
		t, err := env.Step(ctx, action)
		switch {
		case err != nil:
			return "", err
		case t.Error != nil:
			return refused + outline(command), nil
		case t.Ended() && i+1 < len(commands):
			return tooEarly, nil
		}
		ev.Log = append(ev.Log, envharness.LogEntry{Kind: envharness.LogStep, Action: action, Transition: t})
	}
	if ev.End, err = env.State(ctx); err != nil {
		return "", err
	}
	verdict, err := world.Verify(ctx, ev)
	switch {
	case err != nil:
		return "", err
	case verdict.Status == envharness.Pass:
		return "", nil
	case verdict.Status == envharness.Fail:
		return notReached, nil
	}
	return "", fmt.Errorf("verdict %v: %s", verdict.Status, verdict.Reason)
}

// outline leaves of a command its verb and the type of the receptacle.
func outline(text string) string {
	c, ok := parse(text)
	switch {
	case !ok:
		return "no command"
	case c.at == "":
		return c.verb
	}
	between := map[string]string{"go": "to ", "take": "from ", "move": "to ", "clean": "with ", "heat": "with ", "cool": "with ", "slice": "with "}
	return c.verb + " " + between[c.verb] + typeOf(c.at)
}
