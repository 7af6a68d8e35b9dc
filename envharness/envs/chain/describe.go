package chain

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
)

// sentence is the task in words.
func (d *design) sentence() string {
	switch d.kind {
	case umbrella:
		return "Has must be need; action 1 sets it."
	case discounting:
		return "Action 1 chooses a chain; one pays 1.1, the others 1."
	case memory:
		return "Remember the bit and act it at the end, when 1 is left again."
	}
	return "Dive to the last column of the last row; which action goes right differs by place."
}

// missed says why an episode that has ended did not pass.
func (d *design) missed() string {
	switch d.kind {
	case umbrella:
		return "has was not need"
	case discounting:
		return "another chain pays more"
	case memory:
		return "that was not the bit"
	}
	return "the last column was not reached"
}

func (d *design) about() string {
	swept := "The setting is the length."
	switch d.kind {
	case umbrella:
		if d.name == UmbrellaDistract || d.name == UmbrellaDistractShort {
			swept = "The setting is the number of signs."
		}
		return "Each text shows two bits, need and has, the steps left, and signs that are drawn anew and mean nothing. " +
			"The first action sets has; later ones do nothing. Each step but the last pays 1 or -1 by a coin, the last one 1 if has is " +
			"need and else -1. An episode passes if has is need at its end. " + swept
	case discounting:
		return fmt.Sprintf("The first action chooses one of five chains, later ones do nothing. A chain pays once, on step %d, %d, %d, %d or %d "+
			"of %d; one of them pays 1.1 and the others 1, and which one depends on the map. An episode passes if that chain was chosen. "+
			"The map is that of the setting, and nothing but trying tells what it means.",
			d.pays[0], d.pays[1], d.pays[2], d.pays[3], d.pays[4], d.longest())
	case memory:
		return "A bit is shown before and after the first action, and then hidden. The last action pays 1 and passes if it is the bit, " +
			"else it pays -1; the actions before it do nothing. The setting is how many actions come before the last."
	}
	return "A square of rows and columns, from the top left. Each action goes down a row and one column to the left or to the right; " +
		"which of the two goes right differs from place to place and is the same in all episodes of a size. Going right costs a little; " +
		"going right in the last column of the last row pays 1 and passes. The setting is the size."
}

func (d *design) graded() []string {
	switch d.kind {
	case umbrella:
		return []string{"has", "left", "need"}
	case discounting:
		return []string{"bonus", "chain", "left"}
	case memory:
		return []string{"bit", "step", "told"}
	}
	return []string{"reached", "row"}
}

func (d *design) description(task string) envharness.Description {
	enum := make([]string, d.choices())
	for i := range enum {
		enum[i] = strconv.Itoa(i)
	}
	return envharness.Description{
		Name:  string(d.name),
		About: d.about(),
		Tools: []envharness.Tool{{
			Name: tool, Description: "Do an action.", Submits: true,
			Schema: json.RawMessage(`{"additionalProperties":false,"properties":{"` + argument + `":{"enum":[` + strings.Join(enum, ",") +
				`],"type":"integer"}},"required":["` + argument + `"],"type":"object"}`),
		}},
		Graded:     d.graded(),
		Refusals:   []envharness.ErrorClass{envharness.ClassUnknownTool, envharness.ClassBadArgs},
		Vocabulary: d.vocabulary(task),
		Chance:     d.chance(d.numbers[0]),
		MaxTurns:   d.longest() + slack,
	}
}

// vocabulary lists the words of all texts.
func (d *design) vocabulary(task string) []string {
	words := []string{task, tool}
	switch d.kind {
	case umbrella:
		words = append(words, "Need, has, left of, signs")
	case discounting:
		words = append(words, "Map, chain none, left of")
		words = append(words, strings.Split(maps, "")...)
	case memory:
		words = append(words, "Bit hidden, left of", "Done so far: ->") // the latter by sim.Narrator
	case sea:
		words = append(words, "Size, row, column, bottom")
	}
	for i := range d.longest() + 1 {
		words = append(words, strconv.Itoa(i))
	}
	return rules.Vocabulary(words...)
}
