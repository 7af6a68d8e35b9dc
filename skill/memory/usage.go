package memory

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/throughline-go/throughline/skill"
)

// maxUse is the most bytes of a line of usage.jsonl.
const maxUse = 64 << 10

// A usageFault is a line that is not a use.
type usageFault struct {
	line int
	torn bool // the last line, broken off
	err  error
}

// readUses reads usage.jsonl. Of several records of one skill, version and episode the last counts, in the place of the first. A
// line that is none is a fault and skipped. end is where the next line belongs: behind the last whole line, so that a torn one is
// overwritten; open says that this line has no line end yet. The error is that of r.
func readUses(r io.Reader) (uses []Use, faults []usageFault, end int64, open bool, err error) {
	type key struct {
		skill   string
		version int
		episode string
	}
	seen := make(map[key]int)
	in := bufio.NewReaderSize(r, maxUse)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		size, long := int64(len(line)), false
		for errors.Is(err, bufio.ErrBufferFull) {
			long = true
			line, err = in.ReadSlice('\n')
			size += int64(len(line))
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, 0, false, err
		}
		last := err != nil
		if last && size == 0 {
			return uses, faults, end, open, nil
		}
		var u Use
		var bad error
		if long {
			bad = fmt.Errorf("line has %d bytes, want at most %d", size, maxUse)
		} else {
			u, bad = parseUse(line)
		}
		switch {
		case bad != nil && last:
			faults = append(faults, usageFault{n, true, bad})
			return uses, faults, end, open, nil
		case bad != nil:
			faults = append(faults, usageFault{n, false, bad})
		default:
			k := key{u.Skill, u.Version, u.Episode}
			if i, ok := seen[k]; ok {
				uses[i] = u
			} else {
				seen[k] = len(uses)
				uses = append(uses, u)
			}
		}
		end += size
		open = last
	}
}

func parseUse(line []byte) (Use, error) {
	var u Use
	if !utf8.Valid(line) {
		return u, errors.New("line is not UTF-8")
	}
	if err := json.Unmarshal(line, &u); err != nil {
		return u, err
	}
	return u, checkUse(u)
}

func checkUse(u Use) error {
	switch {
	case u.Skill == "":
		return errors.New("skill is empty")
	case u.Version < 1:
		return fmt.Errorf("version is %d, want at least 1", u.Version)
	case !utf8.ValidString(u.Skill):
		return fmt.Errorf("skill %.80q is not UTF-8", u.Skill)
	case !utf8.ValidString(u.Episode):
		return fmt.Errorf("episode %.80q is not UTF-8", u.Episode)
	}
	return nil
}

// loadUses reads the uses and notes where the next one belongs.
func (s *store) loadUses() ([]Use, []skill.Diagnostic, error) {
	s.usageSize = -1
	f, err := s.t.open(usageFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.usageSize, s.usageOpen = 0, false
		return nil, nil, nil
	case errors.Is(err, errNotRegular):
		return nil, []skill.Diagnostic{s.report(usageFile, skill.SeverityError, "not-regular", "%v; it is not read", err)}, nil
	case err != nil:
		return nil, nil, err
	}
	defer f.Close()
	uses, faults, end, open, err := readUses(f)
	if err != nil {
		return nil, nil, err
	}
	var diags []skill.Diagnostic
	for _, u := range faults {
		d := s.report(usageFile, skill.SeverityWarning, "bad-use", "%v; the line is left out", u.err)
		if u.torn {
			d = s.report(usageFile, skill.SeverityWarning, "torn-use", "%v; the line was broken off and is left out", u.err)
		}
		d.Line = u.line
		diags = append(diags, d)
	}
	s.usageSize, s.usageOpen = end, open
	return uses, diags, nil
}

// appendUses adds records to usage.jsonl, all or, after an error, perhaps the first ones: to record them again does no harm.
func (s *store) appendUses(ctx context.Context, uses []Use) error {
	if len(uses) == 0 {
		return nil
	}
	fail := func(err error) error { return fmt.Errorf("memory: record uses: %w", err) }
	if err := s.settle(ctx); err != nil {
		return fail(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, u := range uses {
		if err := checkUse(u); err != nil {
			return fail(fmt.Errorf("use %d: %w", i, err))
		}
		start := b.Len()
		if err := enc.Encode(u); err != nil {
			return fail(fmt.Errorf("use %d: %w", i, err))
		}
		if n := b.Len() - start; n > maxUse {
			return fail(fmt.Errorf("use %d of %.80q takes %d bytes, want at most %d", i, u.Skill, n, maxUse))
		}
	}
	info, err := s.t.stat(usageFile)
	size := int64(0)
	if err == nil {
		size = info.Size()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	if size != s.usageSize { // a write that failed has left a part, or a person has changed the file
		if _, _, err := s.loadUses(); err != nil {
			return fail(err)
		}
		if s.usageSize < 0 {
			return fail(fmt.Errorf("%s: %w", s.t.shown(usageFile), errNotRegular))
		}
	}
	data := b.Bytes()
	if s.usageOpen {
		data = append([]byte("\n"), data...)
	}
	end := s.usageSize // if this fails, the size is another one next time
	if err := s.t.extend(usageFile, end, data); err != nil {
		return fail(err)
	}
	s.usageSize, s.usageOpen = end+int64(len(data)), false
	if !s.usageSafe {
		if err := s.t.sync("."); err != nil {
			return fail(err)
		}
		s.usageSafe = true
	}
	return nil
}
