// Package walkthrough replays ALFWorld's expert walkthroughs in worlds of package household that are made to fit them.
//
// A walkthrough is a list of commands that reached the goal of one of ALFWorld's games. The game itself, the room and what lies in it, is not
// part of it. [Scene] builds a room of what the commands speak of, and no more: whatever they tell of the start is taken over, nothing is
// added that would help, and the goal, which the game's id names, is not met at the start. [Replay] says whether the commands reach it.
package walkthrough

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness/envs/household"
)

// What a file may hold. The public one has 1.4 MB, 3,553 games and at most 10 actions a game.
const (
	maxBytes   = 16 << 20
	maxGames   = 100_000
	maxActions = 50 // no more fit into an episode of the household
	maxName    = 40 // bytes of the name of a type
	maxNumber  = 99 // of a receptacle or an object
)

// A Game is one walkthrough.
type Game struct {
	ID      string         // kind-Object-None-Receptacle-scene_trial_name
	Kind    household.Kind // the type of the task, with which the id begins
	Actions []string       // commands, at least one
}

// Read reads a file of walkthroughs as BEACON has them, expert_walkthroughs.json. It is strict: every id is unique and names its kind and its goal,
// every action is a command of ALFWorld, and the counts that the file states about itself are right. A key that stands twice in an object is
// not noticed.
func Read(path string) ([]Game, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, err
	}
	games, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return games, nil
}

// file is the form of a file of walkthroughs.
type file struct {
	Trajectories []struct {
		ID      string         `json:"id"`
		Kind    household.Kind `json:"task_type"`
		Actions []string       `json:"actions"`
	} `json:"trajectories"`
	Metadata struct {
		Source string                 `json:"source"`
		Games  int                    `json:"total_trajectories"`
		Total  int                    `json:"total_actions"`
		Mean   float64                `json:"average_actions"`
		Kinds  map[household.Kind]int `json:"task_type_distribution"`
	} `json:"metadata"`
}

func decode(data []byte) ([]Game, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("longer than %d bytes", maxBytes)
	}
	var in file
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the JSON value")
	}
	if len(in.Trajectories) > maxGames {
		return nil, fmt.Errorf("%d games, want at most %d", len(in.Trajectories), maxGames)
	}
	games := make([]Game, len(in.Trajectories))
	seen := make(map[string]bool, len(games))
	kinds := map[household.Kind]int{}
	total := 0
	for i, g := range in.Trajectories {
		games[i] = Game(g)
		if err := games[i].check(); err != nil {
			return nil, fmt.Errorf("game %d: %w", i, err)
		}
		if seen[g.ID] {
			return nil, fmt.Errorf("game %d: id %q is there twice", i, g.ID)
		}
		seen[g.ID] = true
		kinds[g.Kind]++
		total += len(g.Actions)
	}
	m := in.Metadata
	if m.Games != len(games) || m.Total != total || math.Abs(m.Mean*float64(m.Games)-float64(total)) > 1e-6 {
		return nil, fmt.Errorf("metadata: %d games with %d actions, %v on average; found %d with %d", m.Games, m.Total, m.Mean, len(games), total)
	}
	if !maps.Equal(m.Kinds, kinds) {
		return nil, fmt.Errorf("metadata: games by kind %v, found %v", m.Kinds, kinds)
	}
	return games, nil
}

func (g Game) check() error {
	if _, err := g.goal(); err != nil {
		return err
	}
	_, err := g.commands()
	return err
}

// goal reads the goal off the id.
func (g Game) goal() (household.Goal, error) {
	var none household.Goal
	switch g.Kind {
	case household.PickAndPlace, household.LookInLight, household.PickClean, household.PickHeat, household.PickCool, household.PickTwo:
	default:
		return none, fmt.Errorf("id %.100q: unknown kind %.40q", g.ID, g.Kind)
	}
	name, trial, ok := strings.Cut(g.ID, "_trial_")
	part := strings.Split(name, "-")
	if !ok || trial == "" || len(part) != 5 || part[0] != string(g.Kind) || part[2] != "None" || !isNumber(part[4], 1000) {
		return none, fmt.Errorf("id %.100q is not of the form %s-Object-None-Receptacle-scene_trial_name", g.ID, g.Kind)
	}
	goal := household.Goal{Kind: g.Kind, Object: strings.ToLower(part[1]), Receptacle: strings.ToLower(part[3])}
	if !isWord(goal.Object) || !isWord(goal.Receptacle) {
		return none, fmt.Errorf("id %.100q: object and receptacle must be words of letters", g.ID)
	}
	return goal, nil
}

// A command is an action taken apart. Names are a type and a number.
type command struct {
	verb   string
	object string // "" if there is none
	at     string // the receptacle, or the tool of slice; "" if there is none
}

// commands takes the actions apart.
func (g Game) commands() ([]command, error) {
	if len(g.Actions) == 0 || len(g.Actions) > maxActions {
		return nil, fmt.Errorf("game %.100q: %d actions, want 1 to %d", g.ID, len(g.Actions), maxActions)
	}
	list := make([]command, len(g.Actions))
	for i, action := range g.Actions {
		c, ok := parse(action)
		if !ok {
			return nil, fmt.Errorf("game %.100q: action %d, %.100q, is no command", g.ID, i, action)
		}
		list[i] = c
	}
	return list, nil
}

// parse reads one command that needs no more than names.
func parse(action string) (command, bool) {
	word := strings.Split(action, " ")
	name := func(i int) string { // "" where there is none
		if i+1 < len(word) && isWord(word[i]) && isNumber(word[i+1], maxNumber) {
			return word[i] + " " + word[i+1]
		}
		return ""
	}
	c := command{verb: word[0]}
	switch {
	case len(word) == 1:
		return c, c.verb == "look" || c.verb == "inventory" || c.verb == "help"
	case len(word) == 3:
		switch c.verb {
		case "open", "close":
			c.at = name(1)
			return c, c.at != ""
		case "use", "examine":
			c.object = name(1) // examine takes receptacles as well
			return c, c.object != ""
		}
	case len(word) == 4 && c.verb == "go" && word[1] == "to":
		c.at = name(2)
		return c, c.at != ""
	case len(word) == 6:
		c.object, c.at = name(1), name(4)
		between, ok := map[string]string{"take": "from", "move": "to", "clean": "with", "heat": "with", "cool": "with", "slice": "with"}[c.verb]
		return c, ok && c.object != "" && c.at != "" && word[3] == between
	}
	return c, false
}

// typeOf returns the type of a name.
func typeOf(name string) string {
	kind, _, _ := strings.Cut(name, " ")
	return kind
}

func isWord(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

func isNumber(s string, most int) bool {
	n, err := strconv.Atoi(s)
	return err == nil && 1 <= n && n <= most && s == strconv.Itoa(n)
}
