package tooldesk

import (
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

// MaxTurns is the number of turns after which an episode of the full desk is truncated with the reason "max_turns". One of the small desk
// has 12.
const MaxTurns = 30

// Options adjusts [New] and [World]. A nil *Options equals &Options{}.
type Options struct {
	// Small asks for the desk with few things and a closed vocabulary, "tooldesk_small", which has tasks of its own.
	Small bool
}

func (o *Options) preset() *preset {
	if o != nil && o.Small {
		return &small
	}
	return &full
}

// New returns a desk that waits for its first reset. It shares nothing with other desks, and makes a task anew at each reset.
func New(o *Options) *sim.Env { return newCatalogue(o.preset(), false).simulation().New() }

// World returns the maker of desks and their verifier, for a harness. What was made of a task is kept for the next use and shared by all
// of them; nothing that they share is ever written to.
func World(o *Options) envharness.World { return newCatalogue(o.preset(), true).simulation().World() }

func (c *catalogue) simulation() *sim.Simulation {
	p := c.preset
	return &sim.Simulation{
		Description: envharness.Description{
			Name: p.name, About: about + p.about, Tools: describe(p.tools), MaxTurns: p.maxTurns, Vocabulary: p.vocabulary(),
			Graded: []string{"customers", "products", "orders", "tickets", "transfers", "answer"},
			Refusals: []envharness.ErrorClass{
				envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassNotFound, envharness.ClassPermission,
				envharness.ClassPrecondition,
			},
		},
		Start: func(id string) (sim.Episode, error) {
			t, err := c.task(id)
			if err != nil {
				return nil, err
			}
			return p.episode(newEpisode(t, &c.drafts)), nil
		},
		DefaultTask: p.prefix + "T1-0000",
		Tasks:       p.list,
	}
}

const about = "A service desk with customers, products, orders and support tickets. A customer's message asks to cancel a pending order or " +
	"change its address, to exchange an item of a delivered order or refund money for it within 30 days, to work through a ticket, or for " +
	"something that the rules forbid, which has to be transferred to a human with the right reason. Anything may be read; a customer " +
	"has to be looked up with find_customer before that customer's data can be changed. A task passes if at the submit the tables are " +
	"those that a correct solution leaves, no more and no less changed (a ticket's note is free), and the answer names the orders " +
	"changed, the amounts refunded in cents and the tickets resolved, or says transferred."
