package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"time"

	"github.com/throughline-go/throughline/skill"
)

// commit makes d the current skill of its name and returns what a later load would. It replaces version base, or nothing if base is
// 0: then the name must be free. The store sets version and time in the record; d is not changed. ErrExists, ErrNotFound and
// ErrConflict, which also stands for a change by hand since the skill was read, leave everything as it is. After another
// error reload tells which state holds.
func (s *store) commit(ctx context.Context, d *skill.Document, base int) (stored, error) {
	fail := func(err error) (stored, error) { return stored{}, failed(fmt.Sprintf("store %.80q", d.Name()), err) }
	if err := s.settle(ctx); err != nil {
		return fail(err)
	}
	name := d.Name()
	if !validName(name) {
		if _, err := skill.Marshal(d); err != nil {
			return fail(err) // with the rule that the name breaks
		}
		return fail(errors.New("the name has white space around it"))
	}
	f, err := s.agreed(name, base)
	if err != nil {
		return fail(err)
	}
	version, err := f.next()
	if err != nil {
		return fail(err)
	}
	c := *d
	setMetadata(&c, keyVersion, strconv.Itoa(version))
	setMetadata(&c, keyTime, s.o.now().UTC().Format(time.RFC3339))
	data, err := skill.Marshal(&c)
	if err != nil {
		return fail(err)
	}
	// Parsed anew: what is returned shares nothing with d and is what the file says.
	doc, _, err := skill.Parse(data, &skill.ParseOptions{Dir: name})
	if err != nil {
		return fail(err)
	}
	rec, err := doc.ParseRecord()
	if err != nil {
		return fail(err)
	}
	if err := s.replace(name, f, version, data); err != nil {
		return fail(err)
	}
	return stored{doc, rec}, nil
}

// agreed looks at a name whose current version must be base, 0 for none, in the memory of the store and on disk.
func (s *store) agreed(name string, base int) (found, error) {
	k, ok := s.known[name]
	if base != 0 && !ok {
		return found{}, ErrNotFound
	}
	f, err := s.look(name, nil)
	switch {
	case err != nil && base == 0 && f.taken:
		return f, fmt.Errorf("%w: %w", ErrExists, err)
	case err != nil:
		return f, err
	case base == 0 && ok:
		return f, ErrExists
	case base == 0 && f.taken:
		return f, fmt.Errorf("%w: %s stands there", ErrExists, s.t.shown(skillPath(name)))
	case base == 0:
		return f, nil
	case k.version != base:
		return f, fmt.Errorf("%w: version %d is current, not %d", ErrConflict, k.version, base)
	case f.doc == nil || f.known() != k:
		return f, fmt.Errorf("%w: %s is not what was read", ErrConflict, s.t.shown(skillPath(name)))
	}
	return f, nil
}

// replace writes a version and makes it current.
func (s *store) replace(name string, f found, version int, data []byte) (err error) {
	s.unclean = true
	defer func() {
		if err != nil && s.unclean {
			_ = s.recover() // if that fails too, the next write tries again
		}
	}()
	if err := s.keep(name, f); err != nil {
		return err
	}
	for _, dir := range []string{skillDir(name), pastDir(name)} {
		if err := s.folder(dir); err != nil {
			return err
		}
	}
	if !f.taken || f.past.last == 0 { // the folders are new, or a crash came before this
		if err := errors.Join(s.t.sync(skillsDir), s.t.sync(historyDir)); err != nil {
			return err
		}
	}
	if err := s.t.write(tmpCurrent, data); err != nil {
		return err
	}
	if err := s.put(data, pastPath(name, version, ".md")); err != nil {
		return err
	}
	if err := s.t.rename(tmpCurrent, skillPath(name)); err != nil {
		return err
	}
	s.unclean = false
	s.known[name] = (&found{raw: data, rec: skill.Record{Version: version}}).known()
	return s.t.sync(skillDir(name))
}

// keep saves a text that was changed by hand as a version of its own.
func (s *store) keep(name string, f found) error {
	if f.doc == nil || f.saved {
		return nil
	}
	if err := s.folder(pastDir(name)); err != nil {
		return err
	}
	if err := s.t.sync(historyDir); err != nil {
		return err
	}
	return s.put(f.raw, pastPath(name, f.rec.Version, ".md"))
}

// put writes a whole file into a folder of history.
func (s *store) put(data []byte, name string) error {
	if err := s.t.write(tmpOther, data); err != nil {
		return err
	}
	if err := s.t.rename(tmpOther, name); err != nil {
		return err
	}
	return s.t.sync(path.Dir(name))
}

// folder makes a folder if it is not there yet.
func (s *store) folder(name string) error {
	info, err := s.t.stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.t.mkdir(name)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder (%v)", s.t.shown(name), info.Mode())
	}
	return err
}
