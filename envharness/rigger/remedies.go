package rigger

import (
	"encoding/json"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// A remedy is a component for a flaw: its tag, and how its rungs are made, mild to strong; none where the brief does not tell enough.
type remedy struct {
	tag   string
	rungs func(c *clues, f diagnosis.Flaw) []json.RawMessage
}

// remedies has the components for a flaw, the preferred ones first. The empty id is F00.
func remedies(id diagnosis.ID, d components.Direction) []remedy {
	var (
		aid           = remedy{"start_replay", (*clues).aidRungs}
		budget        = remedy{"step_budget", (*clues).budgetRungs}
		fewRefusals   = remedy{"block", (*clues).fewRefusalRungs}
		noLoop        = remedy{"block", (*clues).noLoopRungs}
		noUnknownTool = remedy{"block", (*clues).noUnknownToolRungs}
		noDetour      = remedy{"block", (*clues).noDetourRungs}
		toldOrder     = remedy{"order_lock", (*clues).toldOrderRungs}
		untoldOrder   = remedy{"order_lock", (*clues).untoldOrderRungs}
		gate          = remedy{"submit_gate", (*clues).gateRungs}
		failures      = remedy{"tool_fail", (*clues).failureRungs}
		randomFailure = remedy{"tool_fail", (*clues).randomFailureRungs}
		outage        = remedy{"tool_down", (*clues).outageRungs}
		permission    = remedy{"permission", (*clues).permissionRungs}
		pages         = remedy{"paginate", (*clues).pageRungs}
		drift         = remedy{"schema_drift", (*clues).driftRungs}
		newNames      = remedy{"rename", (*clues).renameRungs}
		hiding        = remedy{"hide_keys", (*clues).hidingRungs}
		distraction   = remedy{"distractor", (*clues).distractionRungs}
		staleness     = remedy{"stale_read", (*clues).staleRungs}
		delay         = remedy{"obs_delay", (*clues).delayRungs}
		corruption    = remedy{"corrupt_read", (*clues).corruptionRungs}
		stickiness    = remedy{"sticky", (*clues).stickyRungs}
		writeCap      = remedy{"call_cap", (*clues).writeCapRungs}
		cooldown      = remedy{"call_cap", (*clues).cooldownRungs}
		rate          = remedy{"rate_limit", (*clues).rateRungs}
	)
	t := map[diagnosis.ID]struct{ harder, easier []remedy }{
		"":                          {[]remedy{budget, failures, hiding, pages, delay, distraction, untoldOrder}, []remedy{aid}},
		diagnosis.Loop:              {[]remedy{budget, fewRefusals}, []remedy{noLoop, toldOrder}},
		diagnosis.PrematureStop:     {[]remedy{gate}, []remedy{gate, aid}},
		diagnosis.IgnoredError:      {[]remedy{failures}, []remedy{toldOrder, aid}},
		diagnosis.NoRetry:           {[]remedy{failures}, []remedy{aid}},
		diagnosis.BlindRetry:        {[]remedy{outage, permission}, []remedy{noLoop}},
		diagnosis.UnreadPages:       {[]remedy{pages}, []remedy{aid}},
		diagnosis.OverLong:          {[]remedy{budget}, []remedy{aid}},
		diagnosis.BudgetExhausted:   {nil, []remedy{aid}},
		diagnosis.WrongArgument:     {[]remedy{drift, newNames}, []remedy{aid}},
		diagnosis.NoPrecondition:    {[]remedy{untoldOrder, permission}, []remedy{toldOrder}},
		diagnosis.UnverifiedWrite:   {[]remedy{gate, randomFailure}, []remedy{gate}},
		diagnosis.UngroundedValue:   {[]remedy{hiding, distraction}, nil},
		diagnosis.StaleBelief:       {[]remedy{staleness, delay}, []remedy{aid}},
		diagnosis.SingleSource:      {[]remedy{corruption}, nil},
		diagnosis.Unreadable:        {[]remedy{drift}, []remedy{noUnknownTool}},
		diagnosis.Distracted:        {[]remedy{distraction}, []remedy{noDetour}},
		diagnosis.LittleExploration: {[]remedy{hiding}, []remedy{aid}},
		diagnosis.OrderViolation:    {[]remedy{untoldOrder}, []remedy{toldOrder}},
		diagnosis.RepeatedWrite:     {[]remedy{stickiness, randomFailure}, []remedy{writeCap}},
		diagnosis.Hammering:         {[]remedy{rate}, []remedy{cooldown}},
	}[id]
	if d == components.Easier {
		return t.easier
	}
	return t.harder
}

// recipes returns what makes the treatments for all flaws, F00 and the caller's own components, in order. A treatment may come out without
// rungs.
func (c *clues) recipes() []func() *treatment {
	var all []func() *treatment
	add := func(f diagnosis.Flaw, tag string, rungs func() []json.RawMessage) {
		k, known := c.registry.Kind(tag)
		if !known || c.Direction == components.Harder && k.Axis == envharness.AxisBudget && c.has(diagnosis.BudgetExhausted) {
			return
		}
		all = append(all, func() *treatment {
			t := &treatment{flaw: f, tags: []string{tag}}
			for _, params := range rungs() {
				if params, err := envharness.CanonicalJSON(params); err == nil {
					t.add([]components.Entry{{Tag: tag, Version: k.Version, ID: tag, Params: params}})
				}
			}
			return t
		})
	}
	for _, f := range append(slices.Clip(c.Flaws), diagnosis.Flaw{}) {
		for _, r := range remedies(f.ID, c.Direction) {
			add(f, r.tag, func() []json.RawMessage { return r.rungs(c, f) })
		}
	}
	builtIn := components.Catalogue()
	for _, k := range c.registry.Kinds() {
		if _, ours := builtIn.Kind(k.Tag); !ours && k.Direction&c.Direction != 0 {
			add(diagnosis.Flaw{}, k.Tag, func() []json.RawMessage { return k.Ladder })
		}
	}
	return all
}
