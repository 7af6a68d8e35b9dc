package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/skill"
)

// A crash test runs one step of a script on a tree that breaks at its n-th operation, opens what is left, and compares it with the
// script's model before the step and after it. The model is a few maps that know nothing of files.

var errBroken = errors.New("the disk is broken")

// How a tree breaks at operation number at.
type breakage int

const (
	failTorn    breakage = iota // the operation reports an error and did half of its work, or nothing of what has no half; the rest works
	failAfter                   // it did all of it, and still reports an error
	failForever                 // from here on nothing can be written, as on a full disk
	killTorn                    // the process ends in the middle of the operation
	killAfter                   // the process ends after it, and so before the next one
	powerCut                    // the machine stops after it: what was not synced may be lost
	breakages
)

var breakageNames = [...]string{"error", "error after", "disk full", "kill torn", "kill after", "power cut"}

func (b breakage) String() string { return breakageNames[b] }

func (b breakage) ends() bool { return b >= killTorn }

// faulty breaks at one operation that changes something.
type faulty struct {
	tree
	how  breakage
	at   int // -1: never
	n    int // operations so far
	dead bool
}

func (f *faulty) do(op, half func() error) error {
	if f.dead {
		return errBroken
	}
	i := f.n
	f.n++
	if f.at < 0 || i < f.at || i > f.at && f.how != failForever {
		return op()
	}
	f.dead = f.how.ends()
	switch f.how {
	case failTorn, killTorn:
		if half != nil {
			_ = half()
		}
	case failAfter, killAfter, powerCut:
		_ = op()
	}
	return errBroken
}

func (f *faulty) stat(name string) (fs.FileInfo, error) {
	if f.dead {
		return nil, errBroken
	}
	return f.tree.stat(name)
}

func (f *faulty) list(dir string) ([]fs.DirEntry, error) {
	if f.dead {
		return nil, errBroken
	}
	return f.tree.list(dir)
}

func (f *faulty) open(name string) (io.ReadCloser, error) {
	if f.dead {
		return nil, errBroken
	}
	return f.tree.open(name)
}

func (f *faulty) write(name string, data []byte) error {
	return f.do(func() error { return f.tree.write(name, data) },
		func() error { return f.tree.write(name, data[:len(data)/2]) })
}

func (f *faulty) extend(name string, end int64, data []byte) error {
	return f.do(func() error { return f.tree.extend(name, end, data) },
		func() error { return f.tree.extend(name, end, data[:len(data)/2]) })
}

func (f *faulty) mkdir(name string) error {
	return f.do(func() error { return f.tree.mkdir(name) }, nil)
}

func (f *faulty) rename(from, to string) error {
	return f.do(func() error { return f.tree.rename(from, to) }, nil)
}

func (f *faulty) remove(name string) error {
	return f.do(func() error { return f.tree.remove(name) }, func() error {
		entries, err := f.tree.list(name)
		if err != nil || len(entries) == 0 {
			return err
		}
		return f.tree.remove(name + "/" + entries[0].Name())
	})
}

func (f *faulty) rmdir(name string) error {
	return f.do(func() error { return f.tree.rmdir(name) }, nil)
}

func (f *faulty) sync(dir string) error {
	return f.do(func() error { return f.tree.sync(dir) }, nil)
}

// power is a tree that remembers which changes of names are not safe yet. Those of one folder reach the disk in their order, those of
// different folders in any; what is in a folder is lost with the folder, synced or not.
type power struct {
	*inProcess
	base    *inProcess // before all changes
	changes []change
}

type change struct {
	dirs  []string // whose entries change
	paths []string // that are not as they were if the change is lost
	apply func(*inProcess) error
	safe  bool
}

func (p *power) change(c change) error {
	if err := c.apply(p.inProcess); err != nil {
		return err
	}
	p.changes = append(p.changes, c)
	return nil
}

func (p *power) write(name string, data []byte) error {
	data = slices.Clone(data)
	return p.change(change{[]string{path.Dir(name)}, []string{name}, func(t *inProcess) error { return t.write(name, data) }, false})
}

// extend makes the bytes safe, but not the name if it is new.
func (p *power) extend(name string, end int64, data []byte) error {
	data = slices.Clone(data)
	_, err := p.inProcess.stat(name)
	safe := err == nil && !slices.ContainsFunc(p.changes, func(c change) bool { return !c.safe && slices.Contains(c.paths, name) })
	return p.change(change{[]string{path.Dir(name)}, []string{name}, func(t *inProcess) error { return t.extend(name, end, data) }, safe})
}

func (p *power) mkdir(name string) error {
	return p.change(change{[]string{path.Dir(name)}, []string{name}, func(t *inProcess) error { return t.mkdir(name) }, false})
}

func (p *power) rename(from, to string) error {
	return p.change(change{[]string{path.Dir(from), path.Dir(to)}, []string{from, to},
		func(t *inProcess) error { return t.rename(from, to) }, false})
}

func (p *power) remove(name string) error {
	return p.change(change{[]string{path.Dir(name)}, []string{name}, func(t *inProcess) error { return t.remove(name) }, false})
}

func (p *power) rmdir(name string) error {
	return p.change(change{[]string{path.Dir(name)}, []string{name}, func(t *inProcess) error { return t.rmdir(name) }, false})
}

// sync makes the changes of a folder safe, with those that came before them in folders that they share.
func (p *power) sync(dir string) error {
	need := map[string]bool{dir: true}
	for i := len(p.changes) - 1; i >= 0; i-- {
		c := &p.changes[i]
		if slices.ContainsFunc(c.dirs, func(d string) bool { return need[d] }) {
			c.safe = true
			for _, d := range c.dirs {
				need[d] = true
			}
		}
	}
	return nil
}

// cut returns what is left after a loss of power; lose decides about one change that is not safe.
func (p *power) cut(lose func() bool) *inProcess {
	stopped := map[string]bool{} // folders of which a change was lost
	gone := map[string]bool{}
	lost := func(name string) bool { // with a folder above it
		for ; name != "."; name = path.Dir(name) {
			if gone[name] {
				return true
			}
		}
		return false
	}
	for _, c := range p.changes {
		if slices.ContainsFunc(c.dirs, lost) || slices.ContainsFunc(c.paths, lost) ||
			!c.safe && (slices.ContainsFunc(c.dirs, func(d string) bool { return stopped[d] }) || lose()) {
			for _, d := range c.dirs {
				stopped[d] = true
			}
			for _, name := range c.paths {
				gone[name] = true
			}
			continue
		}
		if err := c.apply(p.base); err != nil {
			panic(err) // the model of the disk is wrong
		}
	}
	return p.base
}

func cloneTree(t *inProcess) *inProcess {
	var clone func(n *node) *node
	clone = func(n *node) *node {
		c := *n
		c.data = slices.Clip(c.data)
		if n.sub != nil {
			c.sub = make(map[string]*node, len(n.sub))
			for k, v := range n.sub {
				c.sub[k] = clone(v)
			}
		}
		return &c
	}
	n := clone(t.root)
	t.root = clone(t.root) // its spare room is the clone's no more
	return &inProcess{now: t.now, root: n}
}

// A script step.
type step struct {
	kind  string   // write, remove, restore, use, purge; by hand: edit, drop
	names []string // one, but for remove
	text  string   // write and edit: the body
	n     int      // restore: which version, counted from the oldest; use: the episode; purge: seconds before now
}

func (s step) String() string { return fmt.Sprintf("%s %v %q %d", s.kind, s.names, s.text, s.n) }

// model is what a store holds.
type model struct {
	now  int64
	of   map[string]*modelSkill
	uses map[string]bool // skill, version and episode
}

type modelSkill struct {
	Cur  int // current version; 0: none
	Last int
	All  map[int]modelVersion
}

type modelVersion struct {
	Text    string
	Time    int64
	Removed string
	Gone    int64 // when
	hand    bool  // changed by hand and not yet in history
}

func (m *model) clone() *model {
	c := &model{m.now, map[string]*modelSkill{}, maps.Clone(m.uses)}
	for n, s := range m.of {
		c.of[n] = &modelSkill{s.Cur, s.Last, maps.Clone(s.All)}
	}
	return c
}

func (m *model) skill(name string) *modelSkill {
	if m.of[name] == nil {
		m.of[name] = &modelSkill{All: map[int]modelVersion{}}
	}
	return m.of[name]
}

// keep notes that a text changed by hand was saved.
func (m *model) keep(s *modelSkill) {
	if v := s.All[s.Cur]; v.hand {
		v.hand, v.Time = false, m.now
		s.All[s.Cur] = v
	}
}

func (m *model) write(name, text string) {
	s := m.skill(name)
	m.keep(s)
	s.Last++
	s.Cur = s.Last
	s.All[s.Cur] = modelVersion{Text: text, Time: m.now}
}

func useKey(u Use) string { return fmt.Sprintf("%s/%d/%s", u.Skill, u.Version, u.Episode) }

// fits says whether a step can be taken.
func (m *model) fits(p step) bool {
	switch p.kind {
	case "remove", "edit":
		return !slices.ContainsFunc(p.names, func(n string) bool { return m.skill(n).Cur == 0 })
	case "drop":
		return m.skill(p.names[0]).Cur == 0
	case "restore":
		return len(m.skill(p.names[0]).All) > 0
	}
	return true
}

func (m *model) restored(p step) int {
	vs := slices.Sorted(maps.Keys(m.skill(p.names[0]).All))
	return vs[p.n%len(vs)]
}

func (m *model) apply(p step) {
	switch p.kind {
	case "write":
		m.write(p.names[0], p.text)
	case "restore":
		m.write(p.names[0], m.skill(p.names[0]).All[m.restored(p)].Text)
	case "remove":
		for _, n := range p.names {
			s := m.skill(n)
			m.keep(s)
			v := s.All[s.Cur]
			v.Removed, v.Gone = p.reason(), m.now
			s.All[s.Cur] = v
			s.Cur = 0
		}
	case "edit", "drop":
		s := m.skill(p.names[0])
		if v := s.All[s.Cur]; v.hand { // a second change before the first was saved
			delete(s.All, s.Cur)
			s.Last--
		}
		s.Last++
		s.Cur = s.Last
		s.All[s.Cur] = modelVersion{Text: p.text, Time: m.now, hand: true}
	case "use":
		m.uses[useKey(p.use(m))] = p.n%2 == 0
	case "purge":
		for _, s := range m.of {
			for i, v := range s.All {
				if i == s.Cur || max(v.Time, v.Gone) >= m.now-int64(p.n) || i == s.Last && v.Removed == "" {
					continue
				}
				if s.All[s.Cur].hand && i == s.Last-1 && v.Removed == "" {
					continue // the highest one in history
				}
				delete(s.All, i)
			}
		}
	}
}

func (p step) reason() string { return "because of " + p.text }

func (p step) use(m *model) Use {
	return Use{Skill: p.names[0], Version: max(1, m.skill(p.names[0]).Last), Episode: fmt.Sprint("e", p.n), Success: new(p.n%2 == 0)}
}

// run takes a step on a store whose state is m.
func (p step) run(s *store, m *model) error {
	ctx := context.Background()
	switch p.kind {
	case "write":
		_, err := s.commit(ctx, document(p.names[0], p.text), m.skill(p.names[0]).Cur)
		return err
	case "restore":
		d, err := s.version(ctx, p.names[0], m.restored(p))
		if err != nil {
			return err
		}
		_, err = s.commit(ctx, d, m.skill(p.names[0]).Cur)
		return err
	case "remove":
		var vs []victim
		for _, n := range p.names {
			vs = append(vs, victim{n, m.skill(n).Cur, p.reason()})
		}
		return s.remove(ctx, vs)
	case "edit":
		return edit(s, p.names[0], p.text)
	case "drop":
		return drop(s, p.names[0], p.text)
	case "use":
		return s.appendUses(ctx, []Use{p.use(m)})
	case "purge":
		return s.purge(ctx, time.Unix(m.now-int64(p.n), 0))
	}
	return errors.New("no such step")
}

// edit changes the body of a SKILL.md as an editor does, behind the back of the store, and has the store read it again.
func edit(s *store, name, text string) error {
	raw, err := readAll(s.t, skillPath(name), maxText)
	if err != nil {
		return err
	}
	head, _, _ := strings.Cut(strings.TrimPrefix(string(raw), "---\n"), "---\n")
	if err := s.t.extend(skillPath(name), 0, []byte("---\n"+head+"---\n"+text+"\n")); err != nil {
		return err
	}
	if err := s.t.sync(skillDir(name)); err != nil {
		return err
	}
	_, _, err = s.reload(context.Background(), name)
	return err
}

// drop makes a folder with a skill from elsewhere.
func drop(s *store, name, text string) error {
	if err := s.t.mkdir(skillDir(name)); err != nil {
		return err
	}
	if err := s.t.write(skillPath(name), []byte("---\nname: "+name+"\ndescription: Does it.\n---\n"+text+"\n")); err != nil {
		return err
	}
	_, _, err := s.reload(context.Background(), name)
	return err
}

func document(name, text string) *skill.Document {
	return &skill.Document{
		Frontmatter: skill.Frontmatter{Name: name, Description: "Does " + text + "."},
		Content:     text + "\n",
	}
}

// read returns what a store holds as a model, checked against itself.
func read(s *store, names []string) (*model, error) {
	ctx := context.Background()
	cur, uses, diags, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range diags {
		if d.Code != "changed-by-hand" && d.Code != "torn-use" {
			return nil, d
		}
	}
	m := &model{of: map[string]*modelSkill{}, uses: map[string]bool{}}
	for _, u := range uses {
		m.uses[useKey(u)] = *u.Success
	}
	for _, c := range cur {
		m.skill(c.doc.Name()).Cur = c.rec.Version
	}
	for _, name := range names {
		all, err := s.versions(ctx, name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		k := m.skill(name)
		for _, v := range all {
			k.All[v.Record.Version] = modelVersion{Text: strings.TrimSpace(v.Content), Removed: v.Removed}
			if v.Current != (v.Record.Version == k.Cur) {
				return nil, fmt.Errorf("%s: version %d has Current %v, loaded is %d", name, v.Record.Version, v.Current, k.Cur)
			}
			if d, err := s.version(ctx, name, v.Record.Version); err != nil || d.Content != v.Content {
				return nil, fmt.Errorf("%s: version %d differs from the one in the history: %v", name, v.Record.Version, err)
			}
		}
		if k.Cur > 0 && len(all) == 0 {
			return nil, fmt.Errorf("%s: the current version is not in the history", name)
		}
	}
	if left, err := s.t.list(tmpDir); err != nil || len(left) > 0 {
		return nil, fmt.Errorf("%s holds %v after load (%v)", tmpDir, left, err)
	}
	return m, nil
}

// agree compares one name, without the times and what only the model knows.
func agree(want, got *modelSkill) bool {
	bare := func(s *modelSkill) modelSkill {
		c := modelSkill{Cur: s.Cur, All: map[int]modelVersion{}}
		for i, v := range s.All {
			c.All[i] = modelVersion{Text: v.Text, Removed: v.Removed}
		}
		return c
	}
	return gocmp.Equal(bare(want), bare(got), gocmp.AllowUnexported(modelVersion{}))
}

var crashNames = []string{"a", "b", "c"}

// judge says what is wrong with a store that was opened after a step went from one state to another, or broke.
func judge(before, after, got *model, p step, acknowledged bool) error {
	isNew, isOld := 0, 0
	for _, name := range crashNames {
		o, n, g := before.skill(name), after.skill(name), got.skill(name)
		if agree(n, g) && !agree(o, g) {
			isNew++
		} else if agree(o, g) && !agree(n, g) {
			isOld++
		} else if !agree(n, g) && p.kind != "purge" {
			return fmt.Errorf("%s is neither old nor new\nold %+v\nnew %+v\ngot %+v", name, *o, *n, *g)
		} else if p.kind == "purge" { // version by version
			for i, v := range n.All {
				if g.All[i].Text != v.Text {
					return fmt.Errorf("%s: purge has lost version %d", name, i)
				}
			}
			for i, v := range g.All {
				if o.All[i].Text != v.Text {
					return fmt.Errorf("%s: purge has made version %d", name, i)
				}
			}
			if g.Cur != o.Cur {
				return fmt.Errorf("%s: purge changed the current version from %d to %d", name, o.Cur, g.Cur)
			}
		}
	}
	if p.kind != "purge" && isNew > 0 && isOld > 0 {
		return fmt.Errorf("%v was done by half: %d new and %d old", p, isNew, isOld)
	}
	if acknowledged && isOld > 0 {
		return fmt.Errorf("%v was acknowledged and is lost", p)
	}
	for k, v := range before.uses {
		if g, ok := got.uses[k]; !ok || g != v && g != after.uses[k] {
			return fmt.Errorf("use %s is lost", k)
		}
	}
	if acknowledged && !maps.Equal(after.uses, got.uses) {
		return fmt.Errorf("uses are %v, want %v", got.uses, after.uses)
	}
	return nil
}

// next checks that a name can be written and removed, with a number that was never used.
func next(s *store, got *model, name string, last int) error {
	ctx := context.Background()
	c, err := s.commit(ctx, document(name, "again"), got.skill(name).Cur)
	if err != nil {
		return fmt.Errorf("next write: %w", err)
	}
	if c.rec.Version <= last {
		return fmt.Errorf("%s: version %d was used before", name, c.rec.Version)
	}
	if err := s.appendUses(ctx, []Use{{Skill: name, Version: c.rec.Version, Episode: "next"}}); err != nil {
		return fmt.Errorf("next use: %w", err)
	}
	return s.remove(ctx, []victim{{name, c.rec.Version, ""}})
}

// A world is a tree and the model of it.
type world struct {
	t    *inProcess
	m    *model
	time *int64
}

func newWorld() *world {
	now := new(int64(1_000))
	return &world{newTree(func() time.Time { return time.Unix(*now, 0) }), &model{*now, map[string]*modelSkill{}, map[string]bool{}}, now}
}

func (w *world) open(t tree) *store {
	s, err := newStore(t, storeOptions{now: w.t.now})
	if err != nil {
		panic(err)
	}
	return s
}

// tick moves the clock.
func (w *world) tick() {
	*w.time++
	w.m.now = *w.time
}

// advance takes a step without a fault.
func (w *world) advance(p step) error {
	w.tick()
	s := w.open(w.t)
	if _, err := read(s, crashNames); err != nil {
		return fmt.Errorf("before %v: %w", p, err)
	}
	if err := p.run(s, w.m); err != nil {
		return fmt.Errorf("%v: %w", p, err)
	}
	w.m.apply(p)
	got, err := read(w.open(w.t), crashNames)
	if err != nil {
		return fmt.Errorf("after %v: %w", p, err)
	}
	for _, name := range crashNames {
		if !agree(w.m.skill(name), got.skill(name)) {
			return fmt.Errorf("after %v: %s (-want +got):\n%s", p, name,
				gocmp.Diff(w.m.skill(name), got.skill(name), gocmp.AllowUnexported(modelVersion{})))
		}
	}
	if !maps.Equal(w.m.uses, got.uses) {
		return fmt.Errorf("after %v: uses %v, want %v", p, got.uses, w.m.uses)
	}
	return nil
}

// strike takes a step that breaks at operation at, on a copy of the world; more says that the step has such an operation.
func (w *world) strike(p step, how breakage, at int, lose func() bool) (more bool, err error) {
	disk := cloneTree(w.t)
	before := w.m.clone()
	before.now = *w.time
	after := before.clone()
	after.apply(p)
	f := &faulty{tree: disk, how: how, at: -1}
	var pw *power
	if how == powerCut {
		pw = &power{inProcess: disk, base: cloneTree(disk)}
		f.tree = pw
	}
	s := w.open(f)
	if _, _, _, err := s.load(context.Background()); err != nil {
		return false, err
	}
	f.at, f.n = at, 0
	rerr := p.run(s, before)
	more = f.n > at
	f.at = -1
	if rerr != nil && !errors.Is(rerr, errBroken) {
		return more, fmt.Errorf("error %v hides its cause", rerr)
	}
	if !how.ends() && rerr != nil {
		if left, err := disk.list(tmpDir); how != failForever && (err != nil || len(left) > 0) {
			return more, fmt.Errorf("%s holds %d files after an error that was not the disk's last word (%v)", tmpDir, len(left), err)
		}
		// The process goes on: what reload says must be what the next process finds.
		view := map[string]int{}
		for _, name := range crashNames {
			c, ok, err := s.reload(context.Background(), name)
			if err != nil {
				return more, fmt.Errorf("reload: %w", err)
			}
			if ok {
				view[name] = c.rec.Version
			}
		}
		got, err := read(w.open(cloneTree(disk)), crashNames)
		if err != nil {
			return more, err
		}
		for _, name := range crashNames {
			if view[name] != got.skill(name).Cur {
				return more, fmt.Errorf("%s: reload says version %d, a new process %d", name, view[name], got.skill(name).Cur)
			}
		}
		if err := judge(before, after, got, p, false); err != nil {
			return more, err
		}
		return more, next(s, got, p.names[0], last(p.names[0], before, got))
	}
	if pw != nil {
		disk = pw.cut(lose)
	}
	s = w.open(disk)
	got, err := read(s, crashNames)
	if err != nil {
		return more, fmt.Errorf("open: %w", err)
	}
	if err := judge(before, after, got, p, rerr == nil); err != nil {
		return more, err
	}
	return more, next(s, got, p.names[0], last(p.names[0], before, got))
}

// last returns the highest number of a name that must not be used again: that of a text that was current.
func last(name string, before, got *model) int {
	n := 0
	for v := range got.skill(name).All {
		n = max(n, v)
	}
	if got.skill(name).Cur == before.skill(name).Cur {
		n = max(n, before.skill(name).Last)
	}
	return n
}

// Every step kind, each from the states in which it does something else.
var crashScript = []step{
	{kind: "write", names: []string{"a"}, text: "one"},
	{kind: "write", names: []string{"a"}, text: "two"},
	{kind: "use", names: []string{"a"}, n: 1},
	{kind: "use", names: []string{"a"}, n: 2},
	{kind: "use", names: []string{"a"}, n: 1},
	{kind: "write", names: []string{"b"}, text: "one of b"},
	{kind: "edit", names: []string{"a"}, text: "by hand"},
	{kind: "write", names: []string{"a"}, text: "after the hand"},
	{kind: "edit", names: []string{"a"}, text: "by hand again"},
	{kind: "remove", names: []string{"a", "b"}, text: "both fail"},
	{kind: "restore", names: []string{"a"}, n: 0},
	{kind: "write", names: []string{"b"}, text: "new b"},
	{kind: "remove", names: []string{"a"}, text: "it fails"},
	{kind: "purge", names: []string{"a"}, n: 3},
	{kind: "write", names: []string{"a"}, text: "after the purge"},
	{kind: "edit", names: []string{"b"}, text: "b by hand"},
	{kind: "restore", names: []string{"b"}, n: 1},
	{kind: "purge", names: []string{"a"}, n: 0},
	{kind: "remove", names: []string{"b", "a"}, text: "the end"},
	{kind: "purge", names: []string{"a"}, n: -5},
	{kind: "drop", names: []string{"c"}, text: "from elsewhere"},
	{kind: "remove", names: []string{"c"}, text: "not from here"},
	{kind: "drop", names: []string{"b"}, text: "from elsewhere"},
	{kind: "write", names: []string{"b"}, text: "ours"},
	{kind: "write", names: []string{"a"}, text: "after everything is gone"},
}

// Whatever operation breaks, and however, each skill is the old version or the new one, no version that was current is lost, a removal
// of several is done as a whole, and the next write works.
func TestCrashAtEveryOperation(t *testing.T) {
	t.Parallel()
	w := newWorld()
	strikes := map[breakage]int{}
	for i, p := range crashScript {
		if !w.m.fits(p) {
			t.Fatalf("step %d, %v, does not fit", i, p)
		}
		*w.time++
		w.m.now = *w.time
		for how := range breakages {
			if testing.Short() && (i+int(how))%5 != 0 {
				continue
			}
			if p.kind == "edit" || p.kind == "drop" {
				continue // not ours to keep whole
			}
			for at := 0; ; at++ {
				// Of a power cut: nothing that was not synced survives, or every second change. That all of it does is a kill.
				flips := 0
				for variant := range 2 {
					if how != powerCut && variant > 0 {
						break
					}
					lose := func() bool { flips++; return variant == 0 || flips%2 == 0 }
					more, err := w.strike(p, how, at, lose)
					if err != nil {
						t.Fatalf("step %d, %v, %v at operation %d, variant %d: %v", i, p, how, at, variant, err)
					}
					if !more {
						at = -2
						break
					}
					strikes[how]++
				}
				if at == -2 {
					break
				}
			}
		}
		*w.time--
		if err := w.advance(p); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	if testing.Short() {
		return
	}
	for how := range breakages {
		if strikes[how] < 150 {
			t.Errorf("%v: only %d operations broken, want the script to have more", how, strikes[how])
		}
	}
}

func drawStep(t *rapid.T, m *model) step {
	for {
		name := rapid.SampledFrom(crashNames).Draw(t, "name")
		p := step{
			kind:  rapid.SampledFrom([]string{"write", "write", "write", "remove", "restore", "edit", "drop", "use", "purge"}).Draw(t, "kind"),
			names: []string{name},
			text:  rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "text"),
			n:     rapid.IntRange(-2, 6).Draw(t, "n"),
		}
		if p.kind != "purge" {
			p.n = max(p.n, 0)
		}
		if p.kind == "edit" || p.kind == "drop" {
			p.text += fmt.Sprint(" at ", m.now) // to write the same text again is no edit
		}
		if p.kind == "remove" {
			p.names = nil
			for _, n := range crashNames {
				if m.skill(n).Cur > 0 && (n == name || rapid.Bool().Draw(t, "too")) {
					p.names = append(p.names, n)
				}
			}
			if len(p.names) == 0 {
				continue
			}
		}
		if m.fits(p) {
			return p
		}
	}
}

// The same over random scripts, of which the last step breaks somewhere.
func TestCrashAfterRandomScript(t *testing.T) {
	checks := 0
	rapid.Check(t, func(t *rapid.T) {
		if checks++; testing.Short() && checks > 20 {
			return
		}
		w := newWorld()
		for range rapid.IntRange(0, 7).Draw(t, "steps") {
			if err := w.advance(drawStep(t, w.m)); err != nil {
				t.Fatal(err)
			}
		}
		p := drawStep(t, w.m)
		if p.kind == "edit" || p.kind == "drop" {
			return
		}
		w.tick()
		how := breakage(rapid.IntRange(0, int(breakages)-1).Draw(t, "how"))
		at := rapid.IntRange(0, 25).Draw(t, "at")
		if _, err := w.strike(p, how, at, func() bool { return rapid.Bool().Draw(t, "lose") }); err != nil {
			t.Fatalf("%v, %v at operation %d: %v", p, how, at, err)
		}
	})
}

// Recovery may be broken off as well: a crash in the middle of a cascade, and then at every operation of the opening that ends it.
func TestCrashDuringRecovery(t *testing.T) {
	for _, tt := range []struct {
		p      step
		reason string
	}{
		{step{kind: "remove", names: []string{"a", "b"}, text: "x"}, "the journal is rolled forward"},
		{step{kind: "write", names: []string{"a"}, text: "new"}, "the attempt is taken back"},
		{step{kind: "write", names: []string{"c"}, text: "new"}, "the attempt at a new skill is taken back"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		w := newWorld()
		for _, p := range []step{
			{kind: "write", names: []string{"a"}, text: "one"},
			{kind: "write", names: []string{"b"}, text: "two"},
			{kind: "edit", names: []string{"b"}, text: "three"},
		} {
			if err := w.advance(p); err != nil {
				t.Fatal(err)
			}
		}
		before := w.m.clone()
		after := before.clone()
		after.apply(tt.p)
		for at := 0; ; at++ {
			disk := cloneTree(w.t)
			f := &faulty{tree: disk, how: killAfter, at: -1}
			s := w.open(f)
			if _, err := read(s, crashNames); err != nil {
				t.Fatal(err)
			}
			f.at, f.n = at, 0
			if err := tt.p.run(s, before); err == nil {
				break
			}
			for second := 0; ; second++ {
				again := cloneTree(disk)
				f := &faulty{tree: again, how: killTorn, at: -1}
				s := w.open(f)
				f.at, f.n = second, 0
				_, _, _, err := s.load(context.Background())
				s = w.open(again)
				got, rerr := read(s, crashNames)
				if rerr != nil {
					t.Fatalf("%s: operations %d and %d: %v", tt.reason, at, second, rerr)
				}
				if jerr := judge(before, after, got, tt.p, false); jerr != nil {
					t.Fatalf("%s: operations %d and %d: %v", tt.reason, at, second, jerr)
				}
				if nerr := next(s, got, tt.p.names[0], 0); nerr != nil {
					t.Fatalf("%s: operations %d and %d: %v", tt.reason, at, second, nerr)
				}
				if err == nil {
					break
				}
			}
		}
	}
}

// The removal of several skills takes effect for a reader at one point, however far the writer is.
func TestReaderSeesCascadeAsOne(t *testing.T) {
	w := newWorld()
	for _, n := range crashNames {
		if err := w.advance(step{kind: "write", names: []string{n}, text: n}); err != nil {
			t.Fatal(err)
		}
	}
	p := step{kind: "remove", names: crashNames, text: "x"}
	seen := map[int]int{}
	for at := 0; ; at++ {
		disk := cloneTree(w.t)
		f := &faulty{tree: disk, how: killAfter, at: -1}
		s := w.open(f)
		if _, err := read(s, crashNames); err != nil {
			t.Fatal(err)
		}
		f.at, f.n = at, 0
		err := p.run(s, w.m)
		r, oerr := newStore(disk, storeOptions{readOnly: true})
		if oerr != nil {
			t.Fatal(oerr)
		}
		cur, _, _, lerr := r.load(context.Background())
		if lerr != nil {
			t.Fatal(lerr)
		}
		seen[len(cur)]++
		for _, name := range crashNames {
			vs, err := r.versions(context.Background(), name)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := vs[0].Removed != "", len(cur) == 0; got != want || vs[0].Current == want {
				t.Errorf("operation %d: %s: removed %q, current %v, with %d skills", at, name, vs[0].Removed, vs[0].Current, len(cur))
			}
		}
		if err == nil {
			break
		}
	}
	if seen[0] < 2 || seen[3] < 1 || len(seen) != 2 {
		t.Errorf("readers saw so many skills: %v, want all or none", seen)
	}
}

// The power model itself: what is synced stays, what is not can go.
func TestPowerModel(t *testing.T) {
	w := newWorld()
	p := &power{inProcess: cloneTree(w.t), base: cloneTree(w.t)}
	for _, err := range []error{p.mkdir("d"), p.sync("."), p.write("d/x", []byte("x")), p.sync("d"), p.write("d/y", []byte("y")),
		p.mkdir("e"), p.write("e/x", []byte("x")), p.sync("e")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := p.cut(func() bool { return true })
	if _, err := got.stat("d/x"); err != nil {
		t.Errorf("synced: %v", err)
	}
	for _, name := range []string{"d/y", "e"} {
		if _, err := got.stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was not synced: %v, want that it is lost", name, err)
		}
	}
}
