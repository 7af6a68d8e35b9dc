package rigtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// A Maker makes the policy of one rollout, which draws from rng alone. It is safe for concurrent use. For the first rollout of a task it plans
// on an environment of its own, while others that ask for this task wait, and those for other tasks do not; that takes some resets of the
// world and cannot be cancelled. Its error is that of the world: it cannot be opened, has no such task, or has no plan for it
// ([envharness.ErrNotProven], [envharness.ErrNoPlan]).
type Maker = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error)

// A habit is how a player departs from what a sensible one does.
type habit uint8

const (
	sensible      habit = iota
	dropsFailed         // never calls again a tool that failed for the moment
	ignoresFailed       // takes a write that failed for the moment as done
	leavesPages         // does not read on
	chasesTools         // calls tools that only a component offers
	hammers             // does not wait
)

// A player makes moves, one after the other, and does what is sensible about what comes in between.
type player struct {
	p     *part
	moves []move
	habit habit
	retry func() bool // whether to try again what failed for the moment; nil means always

	next   int
	aside  bool            // the last call was none of the moves
	wait   int             // turns until a call is let through
	tried  bool            // the move was blocked, and tried again
	dead   map[string]bool // tools that are not called again
	chased int
	spoilt bool // the last move will not be made
	over   bool
}

// Act implements [envharness.Policy].
func (q *player) Act(_ context.Context, t envharness.Turn) (envharness.Action, error) {
	if t.Index == 0 {
		q.takeUp(t.Shown.Text)
	} else if !q.aside {
		q.learn(t.Error)
	}
	q.aside = false
	if q.over {
		return envharness.Action{}, envharness.ErrStop
	}
	if next, ok := q.more(t); ok {
		return q.say(next)
	}
	if q.wait > 0 {
		q.wait--
		if a, ok := q.harmless(); ok {
			return q.say(a)
		}
	}
	if extra := q.extra(t.Tools); q.habit == chasesTools && len(extra) > 0 && q.chased < 2 && q.next > 0 {
		a := envharness.Action{Name: extra[q.chased%len(extra)].Name, Args: json.RawMessage(`{}`)}
		q.chased, q.spoilt = q.chased+1, true
		return q.say(a)
	}
	for q.next < len(q.moves) && q.dead[q.moves[q.next].action.Name] {
		if m := q.moves[q.next]; m.verify {
			if i := slices.IndexFunc(q.p.plan, func(a envharness.Action) bool { return q.p.readOnly(a.Name) && !q.dead[a.Name] }); i >= 0 {
				return q.p.plan[i], nil // another look; it counts as the move
			}
		}
		q.next++
	}
	if q.next >= len(q.moves) || q.spoilt && q.next == len(q.moves)-1 {
		return envharness.Action{}, envharness.ErrStop
	}
	switch m := q.moves[q.next]; m.do {
	case garble:
		return envharness.Action{}, fmt.Errorf("%w: no call in it", envharness.ErrBadAction)
	case stop:
		return envharness.Action{}, envharness.ErrStop
	default:
		return m.action, nil
	}
}

// say makes a call that is none of the moves.
func (q *player) say(a envharness.Action) (envharness.Action, error) {
	q.aside = true
	return a, nil
}

// takeUp begins where the first text shows that the plan is.
func (q *player) takeUp(text string) {
	if text == q.p.texts[0] {
		return
	}
	for k := len(q.p.texts) - 1; k > 0; k-- {
		if q.p.texts[k] != text {
			continue
		}
		if q.moves[0].at < 0 {
			q.moves = q.p.clean
		}
		q.next = max(0, slices.IndexFunc(q.moves, func(m move) bool { return m.at >= k }))
		return
	}
}

// learn decides what the result of the last move means.
func (q *player) learn(refused *envharness.ActionError) {
	if q.next >= len(q.moves) {
		return
	}
	m := q.moves[q.next]
	switch {
	case refused == nil || m.do != act:
		q.next, q.tried = q.next+1, false
	case refused.Class == envharness.ClassRateLimit && refused.Retryable:
		if q.habit != hammers {
			q.wait = retryAfter(refused.Message) - 1
		}
	case refused.Retryable:
		q.failed(m)
	case refused.Class == envharness.ClassPermission && m.at >= 0 && !q.tried && !q.scripted(m):
		q.tried = true // some blocks are lifted after a while
	default:
		q.next, q.tried = q.next+1, false
	}
}

// scripted reports whether the move is one that the plan does not have.
func (q *player) scripted(m move) bool {
	return !slices.ContainsFunc(q.p.clean, func(c move) bool { return c.at == m.at && c.verify == m.verify && same(c.action, m.action) })
}

// failed decides about a move that failed for the moment.
func (q *player) failed(m move) {
	switch {
	case q.habit == dropsFailed:
		if q.dead == nil {
			q.dead = make(map[string]bool)
		}
		q.dead[m.action.Name] = true
		q.over = !q.p.skippable[m.action.Name]
	case q.habit == ignoresFailed && !q.p.readOnly(m.action.Name):
		q.next++
		q.moves = slices.DeleteFunc(slices.Clone(q.moves), func(m move) bool { return m.verify })
	case q.retry != nil && !q.retry():
		q.over = true
	}
}

// more returns the call that shows the next page.
func (q *player) more(t envharness.Turn) (envharness.Action, bool) {
	extra := q.extra(t.Tools)
	if more, _ := t.Shown.Data["has_more"].(bool); !more || len(extra) == 0 {
		return envharness.Action{}, false
	}
	if q.habit == leavesPages {
		q.spoilt = true
		return envharness.Action{}, false
	}
	return envharness.Action{Name: extra[0].Name, Args: json.RawMessage(`{}`)}, true
}

// extra returns the tools that the world itself does not have.
func (q *player) extra(tools []envharness.Tool) []envharness.Tool {
	return slices.DeleteFunc(slices.Clone(tools), func(t envharness.Tool) bool {
		return slices.ContainsFunc(q.p.about.Tools, func(b envharness.Tool) bool { return b.Name == t.Name })
	})
}

// harmless returns a call that changes nothing, of another tool than the one that is waited for.
func (q *player) harmless() (envharness.Action, bool) {
	waiting := q.moves[q.next].action.Name
	for _, m := range q.moves[:q.next] {
		if m.do == act && m.action.Name != waiting && q.p.readOnly(m.action.Name) {
			return m.action, true
		}
	}
	for _, t := range q.p.about.Tools {
		if t.ReadOnly && t.Name != waiting && noArguments(t) {
			return envharness.Action{Name: t.Name}, true
		}
	}
	return envharness.Action{}, false
}

func noArguments(t envharness.Tool) bool {
	var schema struct{ Required []string }
	return t.Schema == nil || json.Unmarshal(t.Schema, &schema) == nil && len(schema.Required) == 0
}

var waitWords = regexp.MustCompile(`retry_after (\d+)`)

// retryAfter reads after how many turns a call is let through, 1 if the message does not say.
func retryAfter(message string) int {
	if m := waitWords.FindStringSubmatch(message); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return max(1, n)
		}
	}
	return 1
}

func same(a, b envharness.Action) bool { return a.Name == b.Name && string(a.Args) == string(b.Args) }
