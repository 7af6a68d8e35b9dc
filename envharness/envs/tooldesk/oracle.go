package tooldesk

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// Plan implements [sim.Planner]. It returns writes that lead back to the gold path where earlier ones left it, then the reads and writes of
// the gold path that are still to do, then the submit. From a fresh episode that is 4 to 8 calls, each of which is a candidate when its turn
// comes. It is [envharness.ErrNoPlan] when something was written that no call can undo.
func (e *episode) Plan() ([]envharness.Action, error) {
	fixes, err := repair(&e.world, e.task.end)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", envharness.ErrNoPlan, err)
	}
	var rest []envharness.Action
	for _, a := range e.task.gold {
		if !e.task.preset.tool(a.Name).write {
			if !e.known(a) {
				rest = append(rest, a)
			}
			continue
		}
		if i := slices.IndexFunc(fixes, func(f envharness.Action) bool { return sameCall(f, a) }); i >= 0 {
			fixes = slices.Delete(fixes, i, i+1)
			rest = append(rest, a)
		}
	}
	plan := append(append(fixes, rest...), call("submit", e.task.answer))

	trial := newEpisode(e.task, e.drafts)
	trial.world, trial.way = e.world.share(), -1
	trial.session.Verified = slices.Clone(e.session.Verified)
	for i, a := range plan {
		plan[i].Args = slices.Clone(a.Args) // the task keeps its own
		if refusal := trial.do(a); refusal != nil {
			return nil, fmt.Errorf("%w: %s would be refused: %s", envharness.ErrNotProven, a.Name, refusal.Message)
		}
	}
	if db, comm := trial.passed(); !db || !comm {
		return nil, envharness.ErrNotProven
	}
	return plan, nil
}

func sameCall(a, b envharness.Action) bool {
	return a.Name == b.Name && string(a.Args) == string(b.Args)
}

// known reports whether a reading call of the gold path has nothing new to show.
func (e *episode) known(a envharness.Action) bool {
	var in inputs
	e.task.preset.tool(a.Name).parse(a.Args, &in)
	id := string(in[0].s)
	switch a.Name {
	case "find_customer":
		return slices.ContainsFunc(e.world.Customers, func(c *customer) bool {
			return c.Email == id && contains(e.session.Verified, c.ID)
		})
	case "list_orders":
		return slices.ContainsFunc(e.task.gold, func(g envharness.Action) bool { return g.Name == "get_order" && e.known(g) })
	case "list_tickets":
		return slices.ContainsFunc(e.task.gold, func(g envharness.Action) bool { return g.Name == "get_ticket" && e.known(g) })
	}
	return contains(e.session.Read, id)
}

// repair returns writes that turn the tables into the gold ones, addresses and exchanges first, since an order that is
// cancelled takes no more changes. The error names a difference that no write can undo: money paid back, an order
// cancelled, a ticket closed or a transfer made. An exchange can be undone by exchanging further: prices and stock
// telescope.
func repair(now, gold *world) ([]envharness.Action, error) {
	var early, late []envharness.Action
	for i := range now.Orders {
		o, want := now.Orders[i], gold.Orders[i]
		if o.Status == cancelled && (want.Status != cancelled || o.Reason != want.Reason || o.Address != want.Address) {
			return nil, fmt.Errorf("order %s was cancelled", o.ID)
		}
		if o.Address != want.Address {
			early = append(early, call("set_address", want.Address, o.ID))
		}
		for j := range o.Lines {
			if o.Lines[j] != want.Lines[j] {
				early = append(early, call("exchange_item", want.Lines[j].SKU, o.ID, o.Lines[j].SKU))
			}
		}
		switch back := want.Refunded - o.Refunded; {
		case o.Status != want.Status:
			late = append(late, call("cancel_order", o.ID, want.Reason))
		case back > 0:
			late = append(late, call("refund", strconv.Itoa(back), o.ID))
		case back < 0:
			return nil, fmt.Errorf("order %s was refunded %d cents too much", o.ID, -back)
		}
	}
	for i := range now.Tickets {
		t, want := now.Tickets[i], gold.Tickets[i]
		switch {
		case t.Status == resolved && want.Status == open:
			return nil, fmt.Errorf("ticket %s was closed", t.ID)
		case t.Status != want.Status:
			late = append(late, call("resolve_ticket", want.Note, t.ID))
		}
	}
	if len(now.Transfers) > len(gold.Transfers) || !slices.Equal(now.Transfers, gold.Transfers[:len(now.Transfers)]) {
		return nil, fmt.Errorf("a request was transferred")
	}
	for _, t := range gold.Transfers[len(now.Transfers):] {
		late = append(late, call("transfer", t.Customer, t.Reason))
	}
	return append(early, late...), nil
}
