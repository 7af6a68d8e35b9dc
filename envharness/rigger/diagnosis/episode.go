package diagnosis

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// A task is what the episodes share.
type task struct {
	Context
	roles    map[string]role            // of the tools of the world, by name
	params   map[string]map[string]bool // names of their arguments
	split    bool                       // reads can be told from writes
	inWords  bool                       // calls with one string are spoken
	calls    []call                     // all different ones
	ids      map[string]int             // of calls, by name and arguments
	plan     []int                      // calls
	finals   map[string]bool            // tools that submit and end every episode in which they are carried out
	toolsFor map[string]bool            // names of those that a solution calls; nil if none is known
	circles  map[string]bool            // that solutions go round
	right    map[string]bool            // names and numbers in the arguments of solutions
	median   float64                    // length of the passed episodes; 0 without any
}

type role uint8

const (
	reads role = 1 << iota
	writes
	submits
)

// A call is one of the different actions that were proposed or planned.
type call struct {
	action envharness.Action
	args   map[string]any // numbers are of type json.Number; nil if there are none, or what there is cannot be read
	tool   string         // the name; of a spoken call with the first word
	spoken bool
	verbs  bool // spoken, and no description says what its first word can be
	role   role
}

// An episode is a trace as the rules read it.
type episode struct {
	*task
	trace   *envharness.Trace
	failed  bool
	turns   []turn
	stopped bool // the policy ended it
	fits    bool // the plan can be called as it is, with the tools that were offered

	told   *told   // what was shown, once it was asked for
	values [][]any // JSON that each turn showed, once it was asked for
}

// A turn is one that was used up.
type turn struct {
	at      int // index in Trace.Turns
	call    int // in task.calls; -1 if the answer could not be read
	shown   int // equal for equal text and data, in one episode
	refusal *envharness.ActionError
	passes  bool // the refusal is not for good
	blind   bool // refused for good again, and nothing can have changed since the last time
	again   bool // blind, and the turn before was the same
	wait    int  // of a limit on the rate that begins here: turns until a call is let through again
	waiting bool // another call during the wait
	hammers bool // the limited call during the wait
}

// read prepares the judged traces.
func read(traces []envharness.Trace, c Context) ([]*episode, error) {
	t := &task{Context: c, roles: make(map[string]role), params: make(map[string]map[string]bool), ids: make(map[string]int)}
	var judged []*envharness.Trace
	for i := range traces {
		if s := traces[i].Verdict.Status; s != envharness.Pass && s != envharness.Fail {
			continue
		}
		judged = append(judged, &traces[i])
		if first := judged[0].Task.ID; traces[i].Task.ID != first {
			return nil, fmt.Errorf("trace %d is of task %q, others of %q; all must be of one task, see Summarize for several", i, clip(traces[i].Task.ID), clip(first))
		}
	}
	t.describe(judged)
	episodes := make([]*episode, len(judged))
	for i, trace := range judged {
		episodes[i] = t.episode(trace)
	}
	for _, a := range c.Plan {
		t.plan = append(t.plan, t.intern(a))
	}
	t.learn(episodes)
	for _, e := range episodes {
		e.fits = t.planFits(e.trace)
	}
	return episodes, nil
}

// describe notes what kind of tools there are.
func (t *task) describe(judged []*envharness.Trace) {
	var all role
	for _, tool := range t.World.Tools {
		r := writes
		switch {
		case tool.ReadOnly:
			r = reads
		case tool.Submits:
			r = submits
		}
		all |= r
		t.roles[tool.Name], t.params[tool.Name] = r, parameters(tool)
	}
	t.split = all&reads != 0 && all&writes != 0
	t.inWords = len(t.World.Tools) > 0 && all&reads == 0
	if len(t.World.Tools) == 0 {
		names := make(map[string]bool)
		for _, trace := range judged {
			for i := range trace.Turns {
				if a := trace.Turns[i].Proposed; a != nil {
					names[a.Name] = true
				}
			}
		}
		t.inWords = len(names) == 1
	}
}

// parameters returns the names of a tool's arguments, nil if its schema does not say.
func parameters(t envharness.Tool) map[string]bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(t.Schema, &schema) != nil || schema.Properties == nil {
		return nil
	}
	names := make(map[string]bool, len(schema.Properties))
	for k := range schema.Properties {
		names[k] = true
	}
	return names
}

// intern returns the number of a call, the same for equal name and arguments.
func (t *task) intern(a envharness.Action) int {
	raw := a.Name + "\x00" + string(a.Args)
	if id, ok := t.ids[raw]; ok {
		return id
	}
	c := call{action: a, tool: a.Name, role: t.roles[a.Name]}
	form := string(a.Args)
	if args, ok := object(a.Args); ok {
		c.args = args
		if b, ok := appendValue(nil, args, 0); ok {
			form = string(b)
		}
	}
	key := a.Name + "\x00\x00" + form // no action has these bytes as its own, for no JSON begins with a zero
	id, ok := t.ids[key]
	if !ok {
		if text, one := onlyString(c.args); one && t.inWords {
			c.spoken, c.verbs = true, len(t.World.Tools) == 0
			first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
			c.tool = a.Name + " " + first
		}
		id = len(t.calls)
		t.calls, t.ids[key] = append(t.calls, c), id
	}
	t.ids[raw] = id
	return id
}

// object reads arguments; none are the empty object.
func object(raw json.RawMessage) (map[string]any, bool) {
	if len(raw) == 0 {
		return nil, true
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var args map[string]any
	if dec.Decode(&args) != nil || args == nil || dec.More() {
		return nil, false
	}
	return args, true
}

// onlyString returns the value of the only argument if it is a string.
func onlyString(args map[string]any) (string, bool) {
	if len(args) != 1 {
		return "", false
	}
	for _, v := range args {
		s, ok := v.(string)
		return s, ok
	}
	return "", false
}

// episode reads one trace.
func (t *task) episode(trace *envharness.Trace) *episode {
	e := &episode{task: t, trace: trace, failed: trace.Verdict.Status == envharness.Fail}
	shown := make(map[[sha256.Size]byte]int)
	var form []byte
	for i := range trace.Turns {
		tt := &trace.Turns[i]
		if saidOnly(trace, i) {
			continue
		}
		u := turn{at: i, call: -1, refusal: tt.Shown.Error}
		if tt.Proposed != nil {
			u.call = t.intern(*tt.Proposed)
		}
		form = append(append(form[:0], tt.Shown.Observation.Text...), 0)
		form, _ = appendValue(form, tt.Shown.Observation.Data, 0)
		if r := u.refusal; r != nil {
			form = append(append(append(form, 0), r.Class...), r.Message...)
			u.passes = passes(r)
		}
		hash := sha256.Sum256(form)
		if _, ok := shown[hash]; !ok {
			shown[hash] = len(shown)
		}
		u.shown = shown[hash]
		e.turns = append(e.turns, u)
	}
	e.markBlind()
	e.markWaits()
	switch n := len(e.turns); trace.End {
	case envharness.EndAgentStop:
		e.stopped = true
	case envharness.EndTerminated:
		e.stopped = n > 0 && e.done(n-1) && e.role(n-1) == submits
	}
	return e
}

// passes reports whether a refusal is not for good.
func passes(r *envharness.ActionError) bool {
	switch r.Class {
	case envharness.ClassRateLimit, envharness.ClassTimeout, envharness.ClassTransient:
		return true
	}
	return r.Retryable
}

// saidOnly reports whether turn i is the answer with which the policy ended the episode, which used up no turn.
func saidOnly(t *envharness.Trace, i int) bool {
	u := &t.Turns[i]
	o := &u.Shown.Observation
	return i == len(t.Turns)-1 && u.Left == 0 && u.Proposed == nil && u.Applied == nil && u.Raw == nil &&
		u.Shown.Error == nil && !u.Shown.Ended() && o.Text == "" && o.Data == nil
}

// done reports whether the call of turn i was carried out, as far as the policy was shown.
func (e *episode) done(i int) bool { return e.turns[i].call >= 0 && e.turns[i].refusal == nil }

// role returns what the tool that turn i calls does, 0 if that is not known.
func (e *episode) role(i int) role {
	if c := e.callOf(i); c != nil {
		return c.role
	}
	return 0
}

// callOf returns the call of turn i, or nil.
func (e *episode) callOf(i int) *call {
	if id := e.turns[i].call; id >= 0 {
		return &e.calls[id]
	}
	return nil
}

// tool returns the tool that turn i calls, empty if the answer could not be read.
func (e *episode) tool(i int) string {
	if c := e.callOf(i); c != nil {
		return c.tool
	}
	return ""
}

// counts reports whether turn i says something about what the policy does, and not about something that is out of order for a while.
func (e *episode) counts(i int) bool { return !e.turns[i].passes && !e.turns[i].waiting }

// learn notes what solutions do: the plan and the passed episodes.
func (t *task) learn(episodes []*episode) {
	t.finals, t.circles, t.right = make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, tool := range t.World.Tools {
		t.finals[tool.Name] = tool.Submits
	}
	note := func(sequence []int) {
		if t.toolsFor == nil {
			t.toolsFor = make(map[string]bool)
		}
		for _, id := range sequence {
			t.toolsFor[t.calls[id].action.Name] = true
		}
		for _, c := range circlesOf(sequence) {
			t.circles[c.key] = true
		}
	}
	uses := func(id int) {
		c := &t.calls[id]
		for _, w := range c.claims(c.args, false) {
			t.right[w] = true
		}
	}
	if len(t.plan) > 0 {
		note(t.plan)
	}
	for _, id := range t.plan {
		uses(id)
	}
	var lengths []float64
	for _, e := range episodes {
		for i := range e.turns {
			if e.done(i) && !e.trace.Turns[e.turns[i].at].Shown.Ended() {
				t.finals[e.callOf(i).action.Name] = false
			}
			if !e.failed && e.done(i) && e.role(i) == writes {
				uses(e.turns[i].call)
			}
		}
		if !e.failed {
			sequence, _ := e.sequence()
			note(sequence)
			lengths = append(lengths, float64(e.length()))
		}
	}
	if n := len(lengths); n > 0 {
		slices.Sort(lengths)
		t.median = (lengths[(n-1)/2] + lengths[n/2]) / 2
	}
}

// planFits reports whether all calls of the plan are of tools that were offered, with arguments that these have.
func (t *task) planFits(trace *envharness.Trace) bool {
	if len(t.plan) == 0 {
		return false
	}
	if len(trace.Tools) == 0 {
		return true
	}
	offered := make(map[string]map[string]bool, len(trace.Tools))
	for _, tool := range trace.Tools {
		offered[tool.Name] = parameters(tool)
	}
	for _, id := range t.plan {
		c := &t.calls[id]
		params, ok := offered[c.action.Name]
		if !ok {
			return false
		}
		for k := range c.args {
			if params != nil && !params[k] {
				return false
			}
		}
	}
	return true
}

// sequence returns the calls that count, with their positions.
func (e *episode) sequence() (calls, positions []int) {
	for i, u := range e.turns {
		if u.call >= 0 && e.counts(i) {
			calls, positions = append(calls, u.call), append(positions, i)
		}
	}
	return calls, positions
}

// length returns the number of turns that count.
func (e *episode) length() int {
	n := 0
	for i := range e.turns {
		if e.counts(i) {
			n++
		}
	}
	return n
}

// clip returns at most 60 characters of a text for a note.
func clip(s string) string {
	const most = 60
	n := 0
	for i := range s {
		if n++; n > most {
			s = s[:i] + ".."
			break
		}
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// words returns a call for a note.
func (c *call) words() string { return clip(c.action.Text()) }

// class returns the class of a refusal for a note.
func class(r *envharness.ActionError) string { return clip(string(r.Class)) }
