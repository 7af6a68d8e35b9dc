package household_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/envharness/envs/household"
)

// A demonstration is an episode of ALFWorld as ReAct's prompts tell it, without the thoughts.
type demonstration struct {
	name, room, task string
	turns            []struct{ command, reply string }
}

func demonstrations(t *testing.T) []demonstration {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set: the test needs the public test data (skills/react)")
	}
	data, err := os.ReadFile(filepath.Join(dir, "skills", "react", "alfworld_3prompts.json"))
	if os.IsNotExist(err) {
		t.Skip("the folder of THROUGHLINE_DATA has no skills/react/alfworld_3prompts.json")
	}
	var prompts map[string]string
	if err == nil {
		err = json.Unmarshal(data, &prompts)
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []demonstration
	for _, name := range slices.Sorted(maps.Keys(prompts)) {
		d := demonstration{name: name}
		unknown := func(name string) bool { return takes[typeOf(name)] == nil && !ours(name) } // a toaster is gone to, in vain
		command := ""
		for line := range strings.Lines(prompts[name]) {
			line = strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(line, "You are in the middle"):
				d.room = line
			case strings.HasPrefix(line, "Your task is to: "):
				d.task = strings.TrimPrefix(line, "Your task is to: ")
			case strings.HasPrefix(line, ">"):
				// Thoughts stand between, once between a command and its reply; they are answered with OK.
				if said := strings.TrimSpace(line[1:]); !strings.HasPrefix(said, "think:") {
					command = said
				}
			case line != "" && line != "OK." && !slices.ContainsFunc(oneName.FindAllString(command, -1), unknown):
				d.turns = append(d.turns, struct{ command, reply string }{command, line})
			}
		}
		if d.room == "" || d.task == "" || len(d.turns) == 0 {
			t.Fatalf("%s: no room, no task or no turns", name)
		}
		list = append(list, d)
	}
	return list
}

// A room is built of what a demonstration shows: what was first seen in a receptacle lay there. Of two receptacles that one faces the second
// was gone to, and the first is with it.
func (d demonstration) scene(t *testing.T) (household.Scene, map[string]bool) {
	t.Helper()
	var s household.Scene
	index := map[string]int{}
	for i, name := range read(d.room).items {
		if takes[typeOf(name)] != nil {
			index[name] = len(s.Receptacles)
			s.Receptacles = append(s.Receptacles, household.Receptacle{Name: name, Location: i + 1})
		}
	}
	fixed := map[string]bool{} // has a door here and none in the demonstration
	known := map[string]bool{}
	for _, turn := range d.turns {
		reply := read(turn.reply)
		if reply.form == "You are facing the LIST. Next to it, you see LIST." {
			for _, name := range reply.names {
				s.Receptacles[index[name]].Location = s.Receptacles[index[reply.names[0]]].Location
			}
			continue
		}
		if len(reply.items) > 0 || reply.form == "On the N, you see LIST." {
			in := reply.names[len(reply.names)-1]
			if strings.HasPrefix(reply.form, "On the") && is(opening, in) {
				fixed[in] = true
				s.Receptacles[index[in]].Open = true
			}
			for _, name := range reply.items {
				if !known[name] && ours(name) {
					known[name] = true
					s.Objects = append(s.Objects, household.Object{Name: name, In: in})
				}
			}
		}
		for _, used := range reply.names { // a lamp that is switched without having been seen
			if is(lamps, used) && !known[used] {
				t.Fatalf("%s: where is %s?", d.name, used)
			}
		}
	}
	s.Goal = d.goal(t)
	return s, fixed
}

// ours reports whether an object's type is known here; ALFWorld's others, such as mirror and houseplant, are only seen.
func ours(name string) bool {
	return is(lamps, name) || slices.Contains(strings.Fields(onTables+" pillow"), typeOf(name))
}

// goal reads the task. ALFWorld has several sentences for each kind.
func (d demonstration) goal(t *testing.T) household.Goal {
	t.Helper()
	for _, form := range []struct {
		kind household.Kind
		task string
	}{
		{household.LookInLight, `(?:look at|examine the) (\w+) (?:under|with) the (\w+)\.`},
		{household.PickTwo, `put two (\w+) in (\w+)\.`},
		{household.PickClean, `put a clean (\w+) in (\w+)\.`},
		{household.PickClean, `clean some (\w+) and put it in (\w+)\.`},
		{household.PickHeat, `put a hot (\w+) in (\w+)\.`},
		{household.PickHeat, `heat some (\w+) and put it in (\w+)\.`},
		{household.PickCool, `put a cool (\w+) in (\w+)\.`},
		{household.PickCool, `cool some (\w+) and put it in (\w+)\.`},
		{household.PickAndPlace, `put (?:a|some) (\w+) (?:in|on) (\w+)\.`},
		{household.PickAndPlace, `find some (\w+) and put it in (\w+)\.`},
	} {
		if m := regexp.MustCompile("^" + form.task + "$").FindStringSubmatch(d.task); m != nil {
			return household.Goal{Kind: form.kind, Object: m[1], Receptacle: m[2]}
		}
	}
	t.Fatalf("%s: unknown task %q", d.name, d.task)
	return household.Goal{}
}

// Every demonstration, played in a room of what it shows, gets the replies that ALFWorld gave, and reaches the goal with its last command. What
// differs in the texts is listed here: all else is the same to the letter, the order of lists aside.
func TestDemonstrations(t *testing.T) {
	forms := map[string]int{} // of the replies compared
	for _, d := range demonstrations(t) {
		scene, fixed := d.scene(t)
		env, obs := play(t, scene, &household.Options{LegacyPut: true})
		room, task, _ := strings.Cut(obs.Text, "\n\n")
		theirs, own := read(d.room), read(room)
		theirs.items = slices.DeleteFunc(theirs.items, func(name string) bool { return takes[typeOf(name)] == nil })
		if diff := cmp.Diff(theirs, own, cmp.AllowUnexported(telling{})); diff != "" {
			t.Fatalf("%s: room (-ALFWorld +ours)\n%s", d.name, diff)
		}
		if sentence, _ := obs.Data["task"].(string); task != "Your task is to: "+sentence || strings.HasPrefix(d.task, "put a ") && sentence != d.task ||
			strings.HasPrefix(d.task, "look at ") && sentence != d.task || strings.HasPrefix(d.task, "put two ") && sentence != d.task {
			t.Errorf("%s: task %q, in ALFWorld %q", d.name, task, d.task)
		}
		for i, turn := range d.turns {
			verb, first, _ := strings.Cut(turn.command, " ")
			if verb == "open" && i == 0 {
				step(t, env, "go to "+first) // two of the prompts begin with what was gone to before
			}
			tr := step(t, env, turn.command)
			theirs, own := read(turn.reply), read(tr.Observation.Text)
			forms[theirs.form]++

			// ALFWorld says since version 0.4.0 where one arrives, and "move" for "put".
			if verb == "go" && tr.Error == nil {
				own.form, _ = strings.CutPrefix(own.form, "You arrive at N. ")
				own.names = own.names[1:]
			}
			theirs.form = strings.Replace(theirs.form, "You put the N in/on the N.", "You move the N to the N.", 1)
			// There are cabinets and drawers without a door there; here they are open.
			if len(theirs.names) > 0 && fixed[theirs.names[len(theirs.names)-1]] {
				theirs.form = strings.Replace(theirs.form, "On the N, you see", "The N is open. In it, you see", 1)
				if strings.HasPrefix(theirs.form, "The N is open") {
					theirs.names = append(theirs.names, own.names[len(own.names)-1])[:len(own.names)]
				}
			}
			theirs.items = slices.DeleteFunc(theirs.items, func(name string) bool { return !ours(name) })
			if diff := cmp.Diff(theirs, own, cmp.AllowUnexported(telling{})); diff != "" {
				t.Errorf("%s: %s: %q, in ALFWorld %q\n%s", d.name, turn.command, tr.Observation.Text, turn.reply, diff)
			}
			if tr.Ended() != (i == len(d.turns)-1) || tr.Truncated {
				t.Fatalf("%s: %s ends: %v", d.name, turn.command, tr.Ended())
			}
		}
	}
	t.Log(forms)
	if len(forms) != 12 {
		t.Errorf("%d forms of replies, want 12: %v", len(forms), forms)
	}
}
