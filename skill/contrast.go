package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Contrast makes a text skill of two episodes of one task: the shortest success (reward 1) and the longest failure (a known
// reward below 1), both by their number of actions and the first of equals. The procedure is that of the success, the notes are
// at most 3 lessons: what the failure did and the success did not. arXiv:2608.19880 keeps such skills for environments; the
// rules are ours. Without a model:
//
//   - Both episodes become templates by the rules of [Induce] with one set of placeholders. Two actions are alike if their
//     templates differ in the numbers of placeholders alone.
//   - What the failure did and the success did not becomes "avoid: template": first refused actions, with the message if that is
//     short, then accepted ones; of each the more frequent first, then the earlier. "(repeat)" marks what it did more than once.
//   - The lesson about the action at which the failure first leaves the way of the success ends in what the success did next:
//     "; instead: template". If there is no such lesson and room for one, it is a note of its own: "do: template", with
//     ", after: template" unless it comes first.
//
// With Generate a model sees both episodes and writes the skill; more than 3 notes are a fault of the reply.
//
// All trajectories have one TaskID and one Task, else the error names the first that differs. [ErrNoPair] says that there is no
// success or no failure with an action, [ErrTrivial] that the success has fewer than MinActions useful actions or that no lesson is
// left. Gate is asked about the success alone, both texts are scanned, and the record has both origins, the success first. The skill
// is of LevelTask unless Level says otherwise; FormatCode is an error. Otherwise everything is as for [Induce].
func Contrast(ctx context.Context, trajs []Trajectory, o *InduceOptions) (*Induced, error) {
	good, bad, err := contrastPair(trajs)
	if err != nil {
		return nil, err
	}
	success, err := newInduction(ctx, trajs[good], o)
	if err != nil {
		return nil, err
	}
	if success.o.Format != FormatText {
		return nil, fmt.Errorf("skill: contrast: Format is %v, want text", success.o.Format)
	}
	if err := success.gate(ctx); err != nil {
		return nil, err
	}
	failure, err := newInduction(ctx, trajs[bad], o)
	if err != nil {
		return nil, err
	}
	success.place, failure.place = "success ", "failure "
	p, err := success.part(ctx, Span{0, len(success.traj.Steps)})
	if err != nil {
		return nil, err
	}
	if err := p.trivial(success.o); err != nil { // a failure teaches with every number of useful actions
		return nil, err
	}
	q, err := failure.part(ctx, Span{0, len(failure.traj.Steps)})
	if err != nil {
		return nil, err
	}
	v := newValues(success.o.Keep, success.o.Subtask, p, q)
	var d *Document
	var refused []error
	if success.o.Generate != nil {
		d, refused, err = success.generateContrast(ctx, failure, leakCheck(success.o, v))
	} else {
		d, err = contrastByRule(ctx, success.o, p, q, v)
	}
	if err != nil {
		return nil, err
	}
	findings := slices.Concat(p.findings, q.findings[len(failure.findings):]) // those about the task once
	return finish(success.o, d, refused, v, findings, success.origin(p, LevelTask), failure.origin(q, LevelTask))
}

// contrastPair returns the positions of the shortest success and the longest failure.
func contrastPair(trajs []Trajectory) (good, bad int, err error) {
	good, bad = -1, -1
	var faults []error
	var goodLen, badLen int
	for i, t := range trajs {
		if t.TaskID != trajs[0].TaskID || t.Task != trajs[0].Task {
			faults = append(faults, fmt.Errorf("skill: contrast: trajectory %d is of task %.80q %.80q, trajectory 0 of %.80q %.80q: want one task", i, t.TaskID, t.Task,
				trajs[0].TaskID, trajs[0].Task))
		}
		if t.Reward == nil {
			continue
		}
		r := *t.Reward
		if !(r >= 0 && r <= 1) {
			faults = append(faults, fmt.Errorf("skill: contrast: the reward of trajectory %d is %v, want 0 to 1", i, r))
			continue
		}
		n := 0
		for _, s := range t.Steps {
			if isAction(s) {
				n++
			}
		}
		switch {
		case n == 0:
		case r == 1:
			if good < 0 || n < goodLen {
				good, goodLen = i, n
			}
		case bad < 0 || n > badLen:
			bad, badLen = i, n
		}
	}
	if err := errors.Join(faults...); err != nil {
		return 0, 0, err
	}
	if good < 0 || bad < 0 {
		missing := "success"
		if good >= 0 {
			missing = "failure"
		}
		return 0, 0, fmt.Errorf("%w: no %s with an action among %d trajectories", ErrNoPair, missing, len(trajs))
	}
	return good, bad, nil
}

// contrastByRule makes the skill without a model, of the success p and the failure q.
func contrastByRule(ctx context.Context, o *InduceOptions, p, q *part, v *values) (*Document, error) {
	a := newAbstracter(o.Keep, v)
	actions, err := a.actions(ctx, p) // first, so that the placeholders of the procedure are numbered in its order
	if err != nil {
		return nil, err
	}
	notes, err := a.lessons(ctx, p, q)
	if err != nil {
		return nil, err
	}
	if len(notes) == 0 {
		return nil, fmt.Errorf("%w: the failure did what the success did", ErrTrivial)
	}
	description := p.describe(o, v)
	if description == "" {
		return nil, fmt.Errorf("%w: no words for a description", ErrTrivial)
	}
	return &Document{
		Frontmatter: Frontmatter{Name: slug(description), Description: description},
		Content:     TextBody{procedure(actions), notes}.String(),
	}, nil
}

// A lesson is an action that only the failure took.
type lesson struct {
	template, message string
	refused           bool
	count             int
	instead           string
}

// lessons returns the notes. The actions of the success p have their placeholders already.
func (a abstracter) lessons(ctx context.Context, p, q *part) ([]string, error) {
	alike := newAbstracter(a.literals.keep, a.literals.values)
	alike.literals.flat, alike.params.flat = true, true
	way, err := a.way(ctx, alike, p, "success")
	if err != nil {
		return nil, err
	}
	wrong, err := a.way(ctx, alike, q, "failure")
	if err != nil {
		return nil, err
	}
	did := make(map[string]bool) // by the success, refused or not
	for _, w := range way {
		did[w.key] = true
	}
	var lessons []*lesson // by first appearance
	byKey := make(map[string]*lesson)
	for _, w := range wrong {
		if did[w.key] {
			continue
		}
		l := byKey[w.key]
		if l == nil {
			l = &lesson{template: w.template}
			byKey[w.key] = l
			lessons = append(lessons, l)
		}
		l.count += w.count
		l.refused = l.refused || w.refused
		l.message = cmp.Or(l.message, w.message)
	}
	// Where the failure leaves the way of the success, and what that did next.
	at := 0
	for at < min(len(way), len(wrong)) && way[at].key == wrong[at].key {
		at++
	}
	next, before := "", ""
	if k := slices.IndexFunc(way[at:], func(w waypoint) bool { return !w.refused }); k >= 0 {
		next = way[at+k].template
	}
	if at > 0 {
		before = way[at-1].template
	}
	if next != "" && at < len(wrong) {
		if l := byKey[wrong[at].key]; l != nil {
			l.instead = next
		}
	}
	slices.SortStableFunc(lessons, func(x, y *lesson) int {
		if x.refused != y.refused {
			if x.refused {
				return -1
			}
			return 1
		}
		return cmp.Compare(y.count, x.count)
	})
	var notes []string
	told := false
	for _, l := range lessons[:min(len(lessons), maxLessons)] {
		note := "avoid: " + l.template
		if l.count > 1 {
			note += " (repeat)"
		}
		if l.refused {
			note += ", refused"
			if l.message != "" {
				note += ": " + l.message
			}
		}
		if l.instead != "" {
			note += "; instead: " + l.instead
			told = true
		}
		notes = append(notes, note)
	}
	if next != "" && !told && len(notes) < maxLessons {
		note := "do: " + next
		if before != "" {
			note += ", after: " + before
		}
		notes = append(notes, note)
	}
	return notes, nil
}

// A waypoint is an action that had an effect or was refused, with equal ones after it.
type waypoint struct {
	key, template, message string
	refused                bool
	count                  int
}

// way returns the waypoints of a part. alike makes the keys: equal for actions that differ in values alone.
func (a abstracter) way(ctx context.Context, alike abstracter, p *part, place string) ([]waypoint, error) {
	var out []waypoint
	kept := p.kept
	for i, s := range p.steps {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("skill: contrast: %s step %d: %w", place, i, err)
		}
		useful := len(kept) > 0 && kept[0] == i
		if useful {
			kept = kept[1:]
		}
		if !isAction(s) {
			continue
		}
		w := waypoint{key: alike.action(s, p.args[i]).template, refused: s.Err, count: 1}
		if n := len(out) - 1; n >= 0 && out[n].key == w.key && (out[n].refused == w.refused || !useful && !s.Err) {
			out[n].count++ // also a repetition without effect
			continue
		}
		w.template = a.action(s, p.args[i]).template
		if s.Err {
			w.message = a.message(s)
		}
		out = append(out, w)
	}
	return out, nil
}
