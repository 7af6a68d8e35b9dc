package tooldesk

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// A task is one problem. Everything about it follows from its id, and nothing of it is written to once it was made.
type task struct {
	id       string
	preset   *preset
	text     string                     // the customer's message
	data     map[string]any             // of every observation
	mentions []mention                  // values in the message
	named    memory                     // the same in memory
	shelf    *shelf                     // what is made of the tables when it is needed
	bodies   [][]mention                // what the tickets mention, in the order of the table
	start    *world                     // the tables at the start
	written  *written                   // the same as JSON
	end      *world                     // the tables after the gold actions
	gold     []envharness.Action        // reads and writes of a solution, without the submit
	answer   string                     // of the gold submit
	required []string                   // words that an answer must have
	opening  string                     // text of the first observation
	first    offers                     // candidate calls at the start
	way      []offers                   // and after each of the gold actions
	args     map[string]json.RawMessage // of the calls among them that combine values, as they are likely to be made again
}

// A family is one sort of task, with the numbers of its tasks in each split.
type family struct {
	name   string
	splits []split
	build  func(*generator)
}

// A split is the range of numbers from from up to to, without to.
type split struct {
	name     string
	from, to int
}

// There are fewer of T7, so that whoever transfers everything passes less than one task in seven.
var (
	inside    = []split{{"train", 0, 200}, {"validation", 200, 240}, {"test", 240, 280}}
	outside   = []split{{"ood", 0, 80}}
	forbidden = []split{{"train", 0, 166}, {"validation", 200, 233}, {"test", 240, 273}}
)

var families = []family{
	{"T1", inside, func(g *generator) { g.single(cancelKind) }},
	{"T2", inside, func(g *generator) { g.single(addressKind) }},
	{"T3", inside, func(g *generator) { g.single(exchangeKind) }},
	{"T4", inside, func(g *generator) { g.single(refundKind) }},
	{"T5", inside, (*generator).ticketTask},
	{"T6", outside, (*generator).doubleTask},
	{"T7", forbidden, (*generator).forbiddenTask},
}

// list returns the tasks of a split, one of each family in turn.
func (p *preset) list(name string) ([]envharness.Task, error) {
	var out []envharness.Task
	known := false
	for more, i := true, 0; more; i++ {
		more = false
		for _, f := range families {
			for _, s := range f.splits {
				known = known || s.name == name
				if s.name == name && s.from+i < s.to {
					out = append(out, envharness.Task{ID: p.taskID(f.name, s.from+i), Split: name, Family: f.name})
					more = true
				}
			}
		}
	}
	if !known {
		return nil, rules.UnknownSplit(name)
	}
	return out, nil
}

func (p *preset) taskID(family string, number int) string {
	return fmt.Sprintf("%s%s-%04d", p.prefix, family, number)
}

// makeTask builds the task with the id. Where messages are dealt, a task whose message is another split's is drawn again, from the same
// random numbers: there are few messages, and without that most of those in test would be in train as well. Each family has several that
// fit, which is tested by making all tasks.
func (p *preset) makeTask(id string, drafts *sync.Pool) (*task, error) {
	rest, ok := strings.CutPrefix(id, p.prefix)
	for i, f := range families {
		if !ok || len(rest) != 7 || rest[:2] != f.name {
			continue
		}
		number, err := strconv.Atoi(rest[3:])
		if err != nil || p.taskID(f.name, number) != id {
			continue
		}
		for _, s := range f.splits {
			if s.from <= number && number < s.to {
				names := p.inside
				if s.name == "ood" {
					names = p.outside
				}
				r := envharness.RandStream(uint64(number), "env", p.stream+uint64(i))
				t := p.generate(id, names, r, f.build)
				for p.dealt && s.name != "ood" && messageSplit(t.text) != s.name {
					t = p.generate(id, names, r, f.build)
				}
				return complete(t, drafts)
			}
		}
	}
	return nil, fmt.Errorf("%w: %q: an id is %sT1 to %[3]sT7 with a hyphen and a number of four digits that is in a split",
		envharness.ErrNoTask, sim.Clip(id), p.prefix)
}

// messageSplit returns the split that a message is dealt to: of ten, six are for train and two each for validation and test, so that these
// have messages enough.
func messageSplit(message string) string {
	f := fnv.New64a()
	f.Write([]byte(message))
	switch n := f.Sum64() % 10; {
	case n < 2:
		return "validation"
	case n < 4:
		return "test"
	}
	return "train"
}

// policy is what every message of the full desk ends with.
const policy = "Rules: find the customer by e-mail before any change. Pending orders can be cancelled or get a new address. Items of " +
	"delivered orders can be exchanged for others of their family in stock, and refunded within 30 days of delivery. Transfer " +
	"what is forbidden and change nothing else. In the end submit an answer that names the orders changed, the amounts " +
	"refunded in cents and the tickets resolved, or says transferred."

func openFull(t *task) string {
	return "Day " + strconv.Itoa(t.start.Today) + ". Message of a customer: " + t.text + "\n" + policy
}

// complete adds to a generated task what follows from it. An error means that the task is broken.
func complete(t *task, drafts *sync.Pool) (*task, error) {
	t.data = map[string]any{"task": t.text}
	t.written = write(t.start)
	t.shelf = newShelf(t.preset, t.start)
	for _, m := range t.mentions {
		t.named.mention(t, m)
	}
	e := newEpisode(t, drafts)
	e.memory.stale = ofAll
	t.opening = e.Text()
	t.args = make(map[string]json.RawMessage)
	t.keep(e.candidates())
	t.first, t.named.stale = e.offers, 0
	way := make([]offers, 0, len(t.gold))
	for _, a := range t.gold {
		if refusal := e.do(a); refusal != nil {
			return nil, fmt.Errorf("task %s: gold action %s: %s", t.id, a, refusal.Message)
		}
		t.keep(e.candidates())
		way = append(way, e.offers)
	}
	t.way = way
	end := e.world
	t.end = &end
	return t, nil
}

// keep keeps the arguments of candidate calls that combine several values, for all episodes; cards have the others.
func (t *task) keep(calls []envharness.Action) {
	for _, c := range calls {
		switch c.Name {
		case "set_address", "exchange_item", "refund", "submit":
			if _, ok := t.args[string(c.Args)]; !ok {
				t.args[string(c.Args)] = c.Args
			}
		}
	}
}
