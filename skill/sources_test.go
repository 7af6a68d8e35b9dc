package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// withOrigins writes origins into the metadata of d, as a SKILL.md file has them.
func withOrigins(d *Document, o ...Origin) *Document {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // rewards are the only fields without JSON
	}
	d.Frontmatter.Metadata = map[string]string{"throughline-origins": string(b)}
	return d
}

// shadowed embeds a document and hides its method Record.
type shadowed struct {
	*Document
	Record string
}

// noted is a skill of a user's own, which says where it is from.
type noted struct {
	Skill
	record Record
	err    error
}

func (n noted) ParseRecord() (Record, error) { return n.record, n.err }

// silent is a skill of a user's own, which does not.
type silent struct{ Skill }

// The tasks that a skill was made from count neither for the memory nor, if so asked for, for its own score.
func TestHoldOut(t *testing.T) {
	const text = "place an order"
	tasks := []Task{{ID: "a", Text: text, Group: "orders"}, {ID: "b", Text: text, Group: "orders"}, {ID: "c", Text: text, Group: "tickets"}, {Text: text}}
	doc := func() *Document { return &Document{Frontmatter: Frontmatter{Name: "s", Description: text}} }
	for _, c := range []struct {
		skill           Skill
		hold            HoldOut
		dedup           bool
		held, heldGroup []int // tasks that do not count, under HoldOutTask and HoldOutGroup
		reason          string
	}{
		{skill: doc(), reason: "a person made it"},
		{skill: withOrigins(doc(), Origin{Task: "b"}), held: []int{1}, heldGroup: []int{0, 1}, reason: "the group is that of the task with the ID"},
		{skill: withOrigins(doc(), Origin{Task: "b", Group: "tickets"}), held: []int{1}, heldGroup: []int{0, 1, 2}, reason: "the group that the origin says, too"},
		{skill: withOrigins(doc(), Origin{Group: "orders"}), heldGroup: []int{0, 1}, reason: "an origin without an ID"},
		{skill: withOrigins(doc(), Origin{Task: "z", Group: "orders"}), heldGroup: []int{0, 1}, reason: "another task of the group"},
		{skill: withOrigins(doc(), Origin{Task: "z"}), reason: "none of these tasks"},
		{skill: withOrigins(doc(), Origin{}), reason: "unknown is not the ID of a task without an ID"},
		{skill: withOrigins(doc(), Origin{Task: "a"}, Origin{Task: "c"}), held: []int{0, 2}, heldGroup: []int{0, 1, 2}, reason: "two origins"},
		{skill: Loaded{Document: withOrigins(doc(), Origin{Task: "a"})}, held: []int{0}, heldGroup: []int{0, 1}, reason: "a skill from a file"},
		{skill: &Induced{Document: withOrigins(doc(), Origin{Task: "a"})}, held: []int{0}, heldGroup: []int{0, 1}, reason: "an induced skill"},
		{skill: shadowed{Document: withOrigins(doc(), Origin{Task: "a"})}, held: []int{0}, heldGroup: []int{0, 1}, reason: "a field hides the method"},
		{skill: &shadowed{Document: withOrigins(doc(), Origin{Task: "a"})}, held: []int{0}, heldGroup: []int{0, 1}, reason: "a field hides the method, pointer"},
		{skill: noted{doc(), Record{Origins: []Origin{{Task: "a"}}}, nil}, held: []int{0}, heldGroup: []int{0, 1}, reason: "a type of a user's own"},
		{skill: noted{doc(), Record{Origins: []Origin{{Task: "a"}}}, errors.New("bad version")}, held: []int{0}, heldGroup: []int{0, 1},
			reason: "a fault of another field of the record"},
		{skill: silent{withOrigins(doc(), Origin{Task: "a"})}, reason: "a type without a record"},
		{skill: withOrigins(doc(), Origin{Task: "b"}), dedup: true, held: []int{0}, heldGroup: []int{0}, reason: "equal texts are one task, whichever is the source"},
	} {
		for hold, want := range map[HoldOut][]int{HoldOutTask: c.held, HoldOutGroup: c.heldGroup, HoldOutNone: nil} {
			rep, err := Score(context.Background(), []Skill{c.skill}, tasks, &ScoreOptions{HoldOut: hold, DedupTasks: c.dedup})
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			var held []int
			for j, b := range rep.Memory.Best {
				if b == 0 {
					held = append(held, j)
				}
			}
			if !slices.Equal(held, want) || rep.Skills[0].Nearest != 0 {
				t.Errorf("%s, HoldOut %d: held out %v, want %v; score %+v", c.reason, hold, held, want, rep.Skills[0])
			}
		}
		rep, err := Score(context.Background(), []Skill{c.skill}, tasks, &ScoreOptions{HoldOut: HoldOutNone, ExcludeSources: true, DedupTasks: c.dedup})
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		nearest := 0
		for slices.Contains(c.held, nearest) {
			nearest++
		}
		if nearest == rep.Tasks {
			nearest = -1
		}
		if rep.Skills[0].Nearest != nearest {
			t.Errorf("%s, sources excluded: nearest is %d, want %d", c.reason, rep.Skills[0].Nearest, nearest)
		}
		for j, b := range rep.Memory.Best {
			if (b == 0) != slices.Contains(c.held, j) {
				t.Errorf("%s, sources excluded: task %d is served with %g", c.reason, j, b)
			}
		}
	}
}

// Origins that cannot be read are an error that names the skill, unless nobody asks for them.
func TestUnreadableOrigins(t *testing.T) {
	broken := documents("fine", "broken")
	broken[1].Frontmatter.Metadata = map[string]string{"throughline-origins": "["}
	for _, c := range []struct {
		o      *ScoreOptions
		fails  bool
		reason string
	}{
		{nil, true, "the memory holds out the task"},
		{&ScoreOptions{HoldOut: HoldOutGroup}, true, "the memory holds out the group"},
		{&ScoreOptions{HoldOut: HoldOutNone, ExcludeSources: true}, true, "the score leaves the task out"},
		{&ScoreOptions{HoldOut: HoldOutNone}, false, "nobody asks"},
	} {
		rep, err := Score(context.Background(), broken, Tasks("fine"), c.o)
		if (err != nil) != c.fails || (rep == nil) != c.fails || c.fails && !strings.Contains(fmt.Sprint(err), "sources of skill 1: ") {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
}
