package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// A victim is a skill that is to be removed after a version.
type victim struct {
	name    string
	version int
	reason  string
}

// A note is the content of a removal note, and one line of the journal.
type note struct {
	Skill   string    `json:"skill,omitempty"` // journal only
	Version int       `json:"version,omitempty"`
	Reason  string    `json:"reason"`
	Time    time.Time `json:"time"`
}

// parseNote reads a removal note. The reason is never empty; a zero time means that it has none.
func parseNote(data []byte) (note, error) {
	var n note
	if err := json.Unmarshal(data, &n); err != nil {
		return note{}, err
	}
	return note{Reason: reasonText(n.Reason), Time: n.Time.UTC().Truncate(time.Second)}, nil
}

// reasonText returns a reason that is never empty, so that it also says that there was a removal.
func reasonText(reason string) string {
	return cmp.Or(strings.ToValidUTF8(reason, "\ufffd"), "no reason given")
}

// remove moves skills out of the way, in the order given. Several are removed together: if a crash comes after the first step, load
// removes the rest. The errors are those of commit.
func (s *store) remove(ctx context.Context, victims []victim) (err error) {
	if len(victims) == 0 {
		return nil
	}
	name := victims[0].name
	fail := func(err error) error { return failed(fmt.Sprintf("remove %.80q", name), err) }
	if err := s.settle(ctx); err != nil {
		return fail(err)
	}
	states := make([]found, len(victims))
	seen := make(map[string]bool)
	for i, v := range victims {
		name = v.name
		if seen[name] {
			return fail(errors.New("it is named twice"))
		}
		seen[name] = true
		if v.version < 1 {
			return fail(fmt.Errorf("version is %d, want at least 1", v.version))
		}
		if states[i], err = s.agreed(name, v.version); err != nil {
			return fail(err)
		}
	}
	s.unclean = true
	decided := false // the journal is there: load would remove what is left
	defer func() {
		if err != nil && s.unclean {
			if s.recover() == nil && decided { // if that fails too, the next write tries again
				err = nil
			}
		}
	}()
	now := s.o.now().UTC().Truncate(time.Second)
	notes := make([]note, len(victims))
	for i, v := range victims {
		name = v.name
		if err := s.keep(name, states[i]); err != nil {
			return fail(err)
		}
		notes[i] = note{Skill: v.name, Version: v.version, Reason: reasonText(v.reason), Time: now}
	}
	if len(victims) > 1 {
		data, err := json.Marshal(notes)
		if err != nil {
			return fail(err)
		}
		if err := s.put(data, journal); err != nil {
			return fail(err)
		}
		decided = true
	}
	for _, n := range notes {
		name = n.Skill
		if err := s.removeOne(n); err != nil {
			return fail(err)
		}
	}
	if err := s.t.remove(journal); err != nil { // if it comes back after a loss of power, there is nothing left for it to do
		return fail(err)
	}
	s.unclean = false
	return nil
}

// removeOne writes the note and then moves the folder, which is what counts.
func (s *store) removeOne(n note) error {
	data, err := json.Marshal(note{Reason: n.Reason, Time: n.Time})
	if err != nil {
		return err
	}
	if err := s.put(append(data, '\n'), pastPath(n.Skill, n.Version, noteEnd)); err != nil {
		return err
	}
	if err := s.t.rename(skillDir(n.Skill), pastPath(n.Skill, n.Version, ".dir")); err != nil {
		return err
	}
	delete(s.known, n.Skill)
	if err := s.t.sync(pastDir(n.Skill)); err != nil {
		return err
	}
	return s.t.sync(skillsDir)
}

var errDamaged = errors.New("not a list of removals")

// readJournal returns the removals that were decided on together and may not all be done.
func (s *store) readJournal() ([]note, error) {
	data, err := readAll(s.t, journal, maxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var notes []note
	if err := json.Unmarshal(data, &notes); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return notes, nil
}

// journaled returns the removals of the journal by name. They count as done.
func (s *store) journaled() map[string]victim {
	notes, err := s.readJournal()
	if err != nil || len(notes) == 0 {
		return nil
	}
	m := make(map[string]victim, len(notes))
	for _, n := range notes {
		m[n.Skill] = victim{n.Skill, n.Version, reasonText(n.Reason)}
	}
	return m
}

// finishRemovals does what the journal says and was not done. A skill that has another version by now was changed by hand and stays.
func (s *store) finishRemovals() error {
	notes, err := s.readJournal()
	if errors.Is(err, errDamaged) {
		return nil // it goes with the rest of .tmp
	}
	if err != nil || notes == nil {
		return err
	}
	// What a crash has left of the note that was being written.
	if err := s.t.remove(tmpOther); err != nil {
		return err
	}
	for _, n := range notes {
		if !validName(n.Skill) {
			continue
		}
		f, err := s.look(n.Skill, nil)
		if err != nil {
			return err
		}
		if f.doc == nil || f.rec.Version != n.Version || !f.saved {
			continue
		}
		n.Reason = reasonText(n.Reason)
		if err := s.removeOne(n); err != nil {
			return err
		}
	}
	return s.t.remove(journal)
}
