package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

const (
	mostShown   = 60  // actions that are listed unasked
	lineWidth   = 100 // characters of a line of several actions
	numberWidth = 7   // of them for the number of one and the spaces around it
)

const help = `Answer with the number of an action, or in words: an action, or a tool and its arguments.
  a  list all actions    o  ask the oracle    u  take the last action back    q  leave    ?  this help`

// A game is one episode played by a person.
type game struct {
	world worlds.World
	task  envharness.Task
	in    *lines
	out   io.Writer
	echo  bool

	env   envharness.Environment
	about envharness.Description
	now   envharness.Observation
	ended envharness.Transition // the last one, if it ended the episode
	moves []move                // those that were not taken back
	err   error                 // the first of out
}

// A move is an action and what there was before it.
type move struct {
	action   envharness.Action
	snapshot envharness.State
	before   envharness.Observation
}

func (g *game) say(format string, of ...any) {
	// A model may write what would control a terminal.
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, fmt.Sprintf(format+"\n", of...))
	if _, err := io.WriteString(g.out, text); g.err == nil {
		g.err = err
	}
}

// play plays to the end of the episode, or of the input.
func (g *game) play(ctx context.Context) error {
	var err error
	if g.env, err = g.world.New(ctx); err != nil {
		return err
	}
	defer g.env.Close()
	if d, ok := envharness.As[envharness.Describer](g.env); ok {
		g.about = d.Describe()
	}
	if g.now, err = g.env.Reset(ctx, envharness.ResetOptions{Task: g.task.ID, Seed: g.task.Seed, Options: g.task.Options}); err != nil {
		return err
	}
	g.say("%s, task %s; ? for help", g.world.Name, g.task.ID)
	if task, ok := g.now.Data["task"].(string); ok && !strings.Contains(g.now.Text, task) {
		g.say("\n%s", task)
	}
	g.show(mostShown)
	for !g.ended.Ended() && g.err == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		goesOn, err := g.answer(ctx)
		if err != nil {
			return err
		}
		if !goesOn {
			break
		}
	}
	return errors.Join(g.err, g.judge(ctx))
}

// show shows the observation, with so many actions in columns.
func (g *game) show(most int) {
	g.say("\n%s\n", g.now.Text)
	listed := make([]string, min(most, len(g.now.Actions)))
	longest := 0
	for i := range listed {
		listed[i] = shown(g.now.Actions[i], g.about.Tools)
		longest = max(longest, utf8.RuneCountInString(listed[i]))
	}
	var line strings.Builder
	across := max(1, lineWidth/(longest+numberWidth))
	for i, words := range listed {
		fmt.Fprintf(&line, "%4d %-*s", i+1, longest+2, words)
		if (i+1)%across == 0 || i+1 == len(listed) {
			g.say("%s", strings.TrimRight(line.String(), " "))
			line.Reset()
		}
	}
	if more := len(g.now.Actions) - len(listed); more > 0 {
		g.say("     and %d more: a lists them", more)
	}
}

// answer reads one line and does what it says. It reports whether the game goes on.
func (g *game) answer(ctx context.Context) (bool, error) {
	limit := g.about.MaxTurns
	if l, ok := envharness.As[envharness.TurnLimiter](g.env); ok && l.TurnLimit() > 0 {
		limit = l.TurnLimit()
	}
	if _, err := fmt.Fprintf(g.out, "turn %d of at most %d> ", len(g.moves)+1, limit); err != nil {
		return false, err
	}
	line, err := g.in.next()
	if g.echo || err != nil {
		g.say("%s", line)
	}
	switch {
	case errors.Is(err, io.EOF):
		return false, nil
	case errors.Is(err, errLine):
		g.say("%v", err)
		return true, nil
	case err != nil:
		return false, err
	}
	switch line {
	case "":
	case "?":
		g.say("%s", help)
		g.tools()
	case "a":
		g.show(len(g.now.Actions))
	case "o":
		g.ask(ctx)
	case "u":
		return true, g.undo(ctx)
	case "q":
		return false, nil
	default:
		a, err := read(line, g.now.Actions, g.about.Tools)
		if err != nil {
			g.say("not understood: %v", err) // takes no turn
			return true, nil
		}
		return true, g.step(ctx, a)
	}
	return true, nil
}

func (g *game) tools() {
	for _, t := range g.about.Tools {
		args, _ := arguments(t.Schema) // what cannot be read takes none
		var line strings.Builder
		line.WriteString(t.Name)
		for _, a := range args {
			line.WriteString(" <" + a.name + ">")
		}
		g.say("  %s: %s", line.String(), t.Description)
	}
}

func (g *game) step(ctx context.Context, a envharness.Action) error {
	m := move{action: a, before: g.now}
	if s, ok := envharness.As[envharness.Snapshotter](g.env); ok {
		var err error
		if m.snapshot, err = s.Snapshot(ctx); err != nil {
			return err
		}
	}
	t, err := g.env.Step(ctx, a)
	if err != nil {
		return err
	}
	g.moves, g.now = append(g.moves, m), t.Observation
	if t.Error != nil {
		g.say("refused (%s): %s", t.Error.Class, t.Error.Message)
	}
	if t.Reward != 0 {
		g.say("reward %v", t.Reward)
	}
	g.show(mostShown)
	g.ended = t
	if t.Truncated {
		g.say("truncated: %s", t.Reason)
	}
	return nil
}

func (g *game) undo(ctx context.Context) error {
	s, ok := envharness.As[envharness.Snapshotter](g.env)
	if !ok || len(g.moves) == 0 {
		g.say("there is nothing to take back")
		return nil
	}
	last := g.moves[len(g.moves)-1]
	if err := s.Restore(ctx, last.snapshot); err != nil {
		return err
	}
	g.moves, g.now = g.moves[:len(g.moves)-1], last.before
	g.say("taken back: %s", shown(last.action, g.about.Tools))
	g.show(mostShown)
	return nil
}

func (g *game) ask(ctx context.Context) {
	oracle, ok := envharness.As[envharness.Oracle](g.env)
	if !ok {
		g.say("there is no oracle")
		return
	}
	plan, err := oracle.Plan(ctx)
	switch {
	case err != nil:
		g.say("the oracle has no plan: %v", err)
	case len(plan) > 0:
		g.say("the oracle would: %s (%d to go)", shown(plan[0], g.about.Tools), len(plan))
	}
}

// judge plays the actions again through a harness and shows its verdict.
func (g *game) judge(ctx context.Context) error {
	h, err := envharness.New(g.world.World)
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := h.Reset(ctx, envharness.ResetOptions{Task: g.task.ID, Seed: g.task.Seed, Options: g.task.Options}); err != nil {
		return err
	}
	for _, m := range g.moves {
		if _, err := h.Step(ctx, m.action); err != nil {
			return err
		}
	}
	if !g.ended.Ended() {
		if err := h.Stop(ctx, envharness.EndAgentStop); err != nil {
			return err
		}
		g.say("left before the end")
	}
	v, err := h.Verdict(ctx)
	if err != nil {
		return err
	}
	g.say("verdict after %d turns: %s, score %.2f%s", len(g.moves), v.Status, v.Score, reason(v))
	return g.err
}

func reason(v envharness.Verdict) string {
	if v.Reason == "" {
		return ""
	}
	return ": " + v.Reason
}
