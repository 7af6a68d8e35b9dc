package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/envharness/yardstick"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// detectorsResult is how well planted flaws are found.
type detectorsResult struct {
	Planted     int      `json:"planted"`      // policies with a flaw, in a task each
	Found       int      `json:"found"`        // in which the diagnosis has it
	FalseAlarms int      `json:"false_alarms"` // flaws that are neither planted nor come with the planted one
	Checked     int      `json:"checked"`      // pairs of a policy and a flaw that it has not
	Recall      float64  `json:"recall"`
	AlarmRate   float64  `json:"false_alarm_rate"` // of Checked
	Kinds       []string `json:"kinds"`
	Worlds      int      `json:"worlds"`
	Clean       int      `json:"clean_policies"` // without a flaw, part of Checked
	CleanAlarms int      `json:"clean_policies_with_an_alarm"`
	Missed      []string `json:"missed,omitempty"`
	Alarms      []string `json:"alarms,omitempty"`
}

// flaws are those that a diagnosis knows.
var flaws = len(diagnosis.IDs())

var detectorWorlds = []string{"tooldesk_small", "household_small", "shop_small", "keydoor_small", "game24", "tooldesk", "household"}

func (e *evidence) detectors(ctx context.Context, s size) error {
	d := &e.Detectors
	kinds := map[string]bool{}
	for _, name := range detectorWorlds {
		w, err := worlds.Find(name)
		if err != nil {
			return err
		}
		tasks, err := w.Tasks(ctx, "train")
		if err != nil {
			return err
		}
		d.Worlds++
		for i := range 2 {
			task := tasks[i*len(tasks)/2]
			task.Seed = new(uint64(1))
			plants, err := rigtest.Plants(ctx, w.World, task)
			if err != nil {
				return err
			}
			about, err := w.Describe(ctx)
			if err != nil {
				return err
			}
			plan, err := yardstick.Plan(ctx, w.World, task)
			if err != nil {
				return err
			}
			c := diagnosis.Context{World: about, Plan: plan}
			for _, p := range plants {
				c.Edges = p.Edges
				kinds[string(p.Flaw)] = true
				flawed, err := rigtest.Flawed(w.World, p.Flaw, nil)
				if err != nil {
					return err
				}
				found, err := diagnose(ctx, w, task, p.Stack, flawed, c, s.episodes)
				if err != nil {
					return err
				}
				d.note(fmt.Sprintf("%s, task %s, %s", name, task.ID, p.Flaw), p.Flaw, append([]diagnosis.ID{p.Flaw}, p.Entails...), found)
				found, err = diagnose(ctx, w, task, p.Stack, rigtest.Clean(w.World), c, s.episodes)
				if err != nil {
					return err
				}
				d.clean(fmt.Sprintf("%s, task %s, without a flaw behind the components of %s", name, task.ID, p.Flaw), found)
			}
			coin, err := rigtest.Coin(w.World, .5)
			if err != nil {
				return err
			}
			c.Edges = nil
			found, err := diagnose(ctx, w, task, nil, coin, c, s.episodes)
			if err != nil {
				return err
			}
			d.clean(fmt.Sprintf("%s, task %s, gives up half of the time", name, task.ID), found)
		}
	}
	d.Kinds = slices.Sorted(maps.Keys(kinds))
	d.Recall, d.AlarmRate = share(d.Found, d.Planted), share(d.FalseAlarms, d.Checked)
	e.claim(d.Recall >= .95, "detectors: recall %.3f, want at least 0.95", d.Recall)
	e.claim(d.AlarmRate <= .05, "detectors: false alarms %.3f, want at most 0.05", d.AlarmRate)
	e.claim(d.CleanAlarms*20 <= d.Clean, "detectors: %d of %d policies without a flaw raise an alarm, want at most one in twenty",
		d.CleanAlarms, d.Clean)
	e.claim(len(d.Kinds) >= 12 && d.Worlds >= 3, "detectors: %d kinds in %d worlds, want 12 in 3", len(d.Kinds), d.Worlds)
	return nil
}

// diagnose plays episodes and returns the flaws that a report would have, however many.
func diagnose(ctx context.Context, w worlds.World, task envharness.Task, stack []envharness.Component, maker rigtest.Maker,
	c diagnosis.Context, n int) ([]diagnosis.ID, error) {
	traces, err := envharness.Rollouts(ctx, w.World, stack, func(slot int) (envharness.Policy, error) {
		return maker(task, envharness.RandStream(1, "detectors", uint64(slot)))
	}, slices.Repeat([]envharness.Task{task}, n), &envharness.RolloutOptions{Parallel: runtime.NumCPU()})
	if err != nil {
		return nil, err
	}
	found, err := diagnosis.Diagnose(traces, c, &diagnosis.Options{Most: -1})
	var ids []diagnosis.ID
	for _, f := range found {
		ids = append(ids, f.ID)
	}
	return ids, err
}

func (d *detectorsResult) note(where string, flaw diagnosis.ID, expected, found []diagnosis.ID) {
	d.Planted++
	if slices.Contains(found, flaw) {
		d.Found++
	} else {
		d.Missed = append(d.Missed, where)
	}
	d.Checked += flaws - len(expected)
	for _, f := range found {
		if !slices.Contains(expected, f) {
			d.FalseAlarms++
			d.Alarms = append(d.Alarms, fmt.Sprintf("%s: %s", where, f))
		}
	}
}

func (d *detectorsResult) clean(where string, found []diagnosis.ID) {
	d.Clean++
	d.Checked += flaws
	d.FalseAlarms += len(found)
	if len(found) > 0 {
		d.CleanAlarms++
		d.Alarms = append(d.Alarms, fmt.Sprintf("%s: %v", where, found))
	}
}

func (e *evidence) writeDetectors(line func(string, ...any)) {
	d := e.Detectors
	if d.Planted == 0 {
		return
	}
	line("\ndetectors: %d of %d planted flaws found (%.3f), of %d kinds in %d worlds; %d false alarms in %d (%.4f)", d.Found, d.Planted,
		d.Recall, len(d.Kinds),
		d.Worlds, d.FalseAlarms, d.Checked, d.AlarmRate)
	line("policies without a flaw: %d, with an alarm %d", d.Clean, d.CleanAlarms)
	if len(d.Missed) > 0 {
		line("missed: %s", strings.Join(d.Missed, "; "))
	}
	if len(d.Alarms) > 0 {
		line("alarms: %s", strings.Join(d.Alarms, "; "))
	}
}
