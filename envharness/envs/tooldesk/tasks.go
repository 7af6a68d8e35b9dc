package tooldesk

import (
	"fmt"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// A task is one problem. Everything about it follows from its id, and nothing of it is written to once it was made.
type task struct {
	id       string
	text     string              // the customer's message
	opening  string              // text of the first observation
	named    memory              // values in the message
	start    *world              // the tables at the start
	written  *written            // the same as JSON
	end      *world              // the tables after the gold actions
	gold     []envharness.Action // reads and writes of a solution, without the submit
	answer   string              // of the gold submit
	required []string            // words that an answer must have
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

var (
	inside  = []split{{"train", 0, 200}, {"validation", 200, 240}, {"test", 240, 280}}
	outside = []split{{"ood", 0, 80}}
)

var families = []family{
	{"T1", inside, func(g *generator) { g.single(cancelKind) }},
	{"T2", inside, func(g *generator) { g.single(addressKind) }},
	{"T3", inside, func(g *generator) { g.single(exchangeKind) }},
	{"T4", inside, func(g *generator) { g.single(refundKind) }},
	{"T5", inside, (*generator).ticketTask},
	{"T6", outside, (*generator).doubleTask},
	{"T7", inside, (*generator).forbiddenTask},
}

// listTasks returns the tasks of a split, one of each family in turn.
func listTasks(name string) ([]envharness.Task, error) {
	var out []envharness.Task
	known := false
	for more, i := true, 0; more; i++ {
		more = false
		for _, f := range families {
			for _, s := range f.splits {
				known = known || s.name == name
				if s.name == name && s.from+i < s.to {
					out = append(out, envharness.Task{ID: taskID(f.name, s.from+i), Split: name, Family: f.name})
					more = true
				}
			}
		}
	}
	if !known {
		return nil, fmt.Errorf("tooldesk: unknown split %q, want train, validation, test or ood", name)
	}
	return out, nil
}

func taskID(family string, number int) string { return fmt.Sprintf("%s-%04d", family, number) }

// makeTask builds the task with the id.
func makeTask(id string) (*task, error) {
	for i, f := range families {
		if len(id) != 7 || id[:2] != f.name {
			continue
		}
		number, err := strconv.Atoi(id[3:])
		if err != nil || taskID(f.name, number) != id {
			continue
		}
		for _, s := range f.splits {
			if s.from <= number && number < s.to {
				names := &familiar
				if s.name == "ood" {
					names = &unfamiliar
				}
				return complete(generate(id, names, envharness.RandStream(uint64(number), "env", uint64(i)), f.build))
			}
		}
	}
	return nil, fmt.Errorf("%w: tooldesk: %q", envharness.ErrNoTask, clip(id))
}

// policy is what every message ends with.
const policy = "Rules: find the customer by e-mail before any change. Pending orders can be cancelled or get a new address. Items of " +
	"delivered orders can be exchanged for others of their family in stock, and refunded within 30 days of delivery. Transfer " +
	"what is forbidden and change nothing else. In the end submit an answer that names the orders changed, the amounts " +
	"refunded in cents and the tickets resolved, or says transferred."

// complete adds to a generated task what follows from it. An error means that the task is broken.
func complete(t *task) (*task, error) {
	t.opening = fmt.Sprintf("Day %d. Message of a customer: %s\n%s", t.start.Today, t.text, policy)
	t.named.scan(t.text)
	t.written = write(t.start)
	e := newEpisode(t)
	for _, a := range t.gold {
		if _, refusal := e.do(a); refusal != nil {
			return nil, fmt.Errorf("tooldesk: task %s: gold action %s %s: %s", t.id, a.Name, a.Args, refusal.Message)
		}
	}
	t.end = e.world
	return t, nil
}
