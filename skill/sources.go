package skill

import (
	"fmt"
	"reflect"
)

// A HoldOut says which tasks a skill is not credited for in a [MemoryScore], because it was made from them or from their
// like. They are found by the task IDs and groups in the origins of its [Record].
type HoldOut int

const (
	HoldOutTask  HoldOut = iota // the tasks that it was made from, by ID
	HoldOutGroup                // these, and all tasks of their groups
	HoldOutNone                 // none
)

// String returns "task", "group" or "none".
func (h HoldOut) String() string {
	switch h {
	case HoldOutTask:
		return "task"
	case HoldOutGroup:
		return "group"
	case HoldOutNone:
		return "none"
	}
	return fmt.Sprintf("HoldOut(%d)", int(h))
}

// self lets [missing] reach the document that a type embeds.
func (d *Document) self() *Document { return d }

// missing reports whether s is nil, a nil pointer, or embeds a nil *Document.
func missing(s Skill) bool {
	if v := reflect.ValueOf(s); s == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return true
	}
	d, ok := s.(interface{ self() *Document })
	return ok && d.self() == nil
}

// origins returns those of the record of a skill; none if it has no record. A fault of another field does not matter.
func origins(s Skill) ([]Origin, error) {
	p, ok := s.(interface{ ParseRecord() (Record, error) })
	if !ok {
		return nil, nil
	}
	r, err := p.ParseRecord()
	if len(r.Origins) > 0 {
		return r.Origins, nil
	}
	return nil, err
}

// sources finds tasks by what origins say. Tasks are numbered as they are scored against.
type sources struct {
	byID, byGroup map[string][]int
	groupsOf      map[string][]string // of the tasks, by ID
}

// newSources indexes tasks, where of[j] is the number of task j.
func newSources(tasks []Task, of []int) *sources {
	s := &sources{map[string][]int{}, map[string][]int{}, map[string][]string{}}
	for j, t := range tasks {
		if t.ID != "" {
			s.byID[t.ID] = append(s.byID[t.ID], of[j])
		}
		if t.Group != "" {
			s.byGroup[t.Group] = append(s.byGroup[t.Group], of[j])
		}
		if t.ID != "" && t.Group != "" {
			s.groupsOf[t.ID] = append(s.groupsOf[t.ID], t.Group)
		}
	}
	return s
}

// mark sets the tasks in dst that h names for a skill of the origins.
func (s *sources) mark(dst []bool, from []Origin, h HoldOut) {
	set := func(tasks []int) {
		for _, k := range tasks {
			dst[k] = true
		}
	}
	if h == HoldOutNone {
		return
	}
	for _, o := range from {
		set(s.byID[o.Task])
		if h == HoldOutGroup {
			set(s.byGroup[o.Group])
			for _, g := range s.groupsOf[o.Task] {
				set(s.byGroup[g])
			}
		}
	}
}

// distinct returns the texts to score against, and for each task which of them is its own. With dedup equal texts are one.
func distinct(tasks []Task, dedup bool) (texts []string, of []int) {
	of = make([]int, len(tasks))
	seen := make(map[string]int)
	for j, t := range tasks {
		k, ok := seen[t.Text]
		if !ok || !dedup {
			k = len(texts)
			texts = append(texts, t.Text)
			seen[t.Text] = k
		}
		of[j] = k
	}
	return texts, of
}

// duplicates counts the tasks whose text an earlier one has.
func duplicates(tasks []Task) int {
	seen := make(map[string]bool, len(tasks))
	for _, t := range tasks {
		seen[t.Text] = true
	}
	return len(tasks) - len(seen)
}
