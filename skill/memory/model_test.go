package memory_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/internal/vector"
	"github.com/throughline-go/throughline/skill/memory"
)

// words counts the words "a" to "l" of a text, so that similar descriptions are frequent; a text without them has no content. With a
// dim of 12 the vectors are dense for the index, with one of 200 sparse.
type words struct{ dim int }

func (w words) Embed(_ context.Context, texts []string) ([][]float64, error) {
	out := make([][]float64, len(texts))
	for i, s := range texts {
		out[i] = make([]float64, w.dim)
		for f := range strings.FieldsSeq(s) {
			if len(f) == 1 && f[0] >= 'a' && f[0] <= 'l' {
				out[i][int(f[0]-'a')*(w.dim/12)]++
			}
		}
	}
	return out, nil
}

// A model is a memory as one would write it down: maps, searched from end to end.
type model struct {
	embed    words
	format   skill.Format
	topK     int
	minSim   float64
	mergeSim float64
	current  map[string]modelSkill
	history  map[string][]modelVersion
	uses     map[memory.Use]string // the keys without Success; "yes", "no" or "?"
}

type modelSkill struct {
	Name, Description string
	Body              string
	Tools             []string
	ToolsStated       bool // Tools is not nil
	Origins           []skill.Origin
	Function          string
	Calls             []string
	Version           int
	Replaced          int
}

type modelVersion struct {
	Skill   modelSkill
	Removed bool
}

func (m *model) vector(text string) vector.Vector {
	v, _ := m.embed.Embed(context.Background(), []string{text})
	return vector.Unit(v[0])
}

func (m *model) similarity(a, b string) float64 {
	x, y := m.vector(a), m.vector(b)
	u, v := make([]float64, x.Dim), make([]float64, y.Dim)
	for i, at := range x.At {
		u[at] = x.Val[i]
	}
	for i, at := range y.At {
		v[at] = y.Val[i]
	}
	var sum float64
	for i := range u {
		sum += u[i] * v[i]
	}
	return math.Max(-1, math.Min(1, sum))
}

func (m *model) names() []string { return slices.Sorted(maps.Keys(m.current)) }

// store makes s the next version of its name.
func (m *model) store(s modelSkill) {
	s.Version = len(m.history[s.Name]) + 1
	m.current[s.Name] = s
	m.history[s.Name] = append(m.history[s.Name], modelVersion{Skill: s})
}

// storeNew stores s under a name without a current skill.
func (m *model) storeNew(s modelSkill) {
	s.Replaced = len(m.history[s.Name])
	m.store(s)
}

func (m *model) add(s modelSkill) memory.Added {
	best, most := "", 0.0
	for _, name := range m.names() {
		if m.vector(s.Description).Zero() || m.vector(m.current[name].Description).Zero() {
			continue
		}
		if c := m.similarity(s.Description, m.current[name].Description); best == "" || c > most {
			best, most = name, c
		}
	}
	similar := best != "" && most > m.mergeSim
	if m.format == skill.FormatCode {
		for _, name := range m.names() {
			if old := m.current[name]; old.Function == s.Function {
				s.Name, s.Version, s.Replaced = name, old.Version, old.Replaced
				if !cmp.Equal(s, old) {
					s.Replaced = old.Version
					m.store(s)
				}
				return memory.Added{Action: memory.Overwritten, Name: name, Version: m.current[name].Version, Similarity: most}
			}
		}
		if similar {
			return memory.Added{Action: memory.Dropped, Name: best, Version: m.current[best].Version, Similarity: most}
		}
	}
	if similar && s.ToolsStated == m.current[best].ToolsStated && slices.Equal(s.Tools, m.current[best].Tools) {
		old := m.current[best]
		merged := old
		merged.Body, merged.Origins = modelMerge(old.Body, s.Body), slices.Clone(old.Origins)
		for _, o := range s.Origins {
			if !slices.ContainsFunc(merged.Origins, func(p skill.Origin) bool { return cmp.Equal(o, p) }) {
				merged.Origins = append(merged.Origins, o)
			}
		}
		if !cmp.Equal(merged, old) {
			m.store(merged)
		}
		return memory.Added{Action: memory.Merged, Name: best, Version: m.current[best].Version, Similarity: most}
	}
	asked := s.Name
	for k := 2; ; k++ {
		if _, taken := m.current[s.Name]; !taken {
			break
		}
		suffix := fmt.Sprintf("-%d", k)
		s.Name = strings.TrimRight(asked[:min(len(asked), 64-len(suffix))], "-") + suffix // the names of the test are ASCII
	}
	m.storeNew(s)
	return memory.Added{Action: memory.Created, Name: s.Name, Version: m.current[s.Name].Version, Similarity: most}
}

// modelMerge merges bodies that are in canonical form.
func modelMerge(old, other string) string {
	split := func(body string) (procedure string, notes []string) {
		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "- Procedure:") {
				procedure = line
			} else {
				notes = append(notes, line)
			}
		}
		return procedure, notes
	}
	key := func(note string) string { return strings.ToLower(strings.Join(strings.Fields(note), " ")) }
	procedure, notes := split(old)
	procedure2, notes2 := split(other)
	if procedure2 != "" {
		procedure = procedure2
	}
	for _, n := range notes2 {
		if !slices.ContainsFunc(notes, func(o string) bool { return key(o) == key(n) }) {
			notes = append(notes, n)
		}
	}
	return procedure + strings.Join(notes, "")
}

// graph returns the adjacency matrix of the current functions in the order of names.
func (m *model) graph(calledBy bool) (names []string, edge [][]bool) {
	names = m.names()
	edge = make([][]bool, len(names))
	for i := range names {
		edge[i] = make([]bool, len(names))
	}
	for i, a := range names {
		for j, b := range names {
			if i != j && slices.Contains(m.current[a].Calls, m.current[b].Function) {
				if calledBy {
					edge[j][i] = true
				} else {
					edge[i][j] = true
				}
			}
		}
	}
	return names, edge
}

// reach returns what can be reached from start: levels from the ends, cycles together, by name.
func (m *model) reach(start []string, calledBy bool) []string {
	names, edge := m.graph(calledBy)
	n := len(names)
	for i := range n {
		edge[i][i] = true
	}
	for k := range n {
		for i := range n {
			for j := range n {
				edge[i][j] = edge[i][j] || edge[i][k] && edge[k][j]
			}
		}
	}
	var level func(i int) int
	level = func(i int) (l int) {
		for j := range n {
			if edge[i][j] && !edge[j][i] {
				l = max(l, level(j)+1)
			}
		}
		return l
	}
	var out []int
	for j := range n {
		if slices.ContainsFunc(start, func(s string) bool { return edge[slices.Index(names, s)][j] }) {
			out = append(out, j)
		}
	}
	first := func(i int) int {
		return slices.IndexFunc(names, func(s string) bool { j := slices.Index(names, s); return edge[i][j] && edge[j][i] })
	}
	slices.SortFunc(out, func(a, b int) int {
		return slices.Compare([]int{level(a), first(a), a}, []int{level(b), first(b), b})
	})
	var reached []string
	for _, j := range out {
		reached = append(reached, names[j])
	}
	return reached
}

func (m *model) remove(start []string) []string {
	if len(start) == 0 {
		return nil
	}
	gone := start
	if m.format == skill.FormatCode {
		gone = m.reach(start, true)
	} else {
		slices.Sort(gone)
	}
	for _, name := range gone {
		delete(m.current, name)
		h := m.history[name]
		h[len(h)-1].Removed = true
	}
	return gone
}

func (m *model) usage(name string, after int) (n memory.Usage) {
	for k, success := range m.uses {
		if k.Skill == name && k.Version > after {
			n.Uses++
			if success != "?" {
				n.Known++
			}
			if success == "yes" {
				n.Successes++
			}
		}
	}
	return n
}

func (m *model) prune(minUses int, below float64) []string {
	var failed []string
	for _, name := range m.names() {
		n := m.usage(name, m.current[name].Replaced)
		if n.Known >= minUses && float64(n.Successes)/float64(n.Known) < below {
			failed = append(failed, name)
		}
	}
	return m.remove(failed)
}

// gone returns the names of the removed skills, sorted.
func (m *model) gone() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.history)), func(name string) bool { _, ok := m.current[name]; return ok })
}

// early says whether a function calls a removed one that does not lead back to it over removed ones.
func (m *model) early(d modelSkill) bool {
	owned, removed := map[string]bool{d.Function: true}, map[string][]string{}
	for _, s := range m.current {
		owned[s.Function] = true
	}
	for _, name := range slices.Backward(m.gone()) {
		last := m.history[name][len(m.history[name])-1].Skill
		removed[last.Function] = last.Calls
	}
	if m.format == skill.FormatText {
		return false
	}
	for _, call := range d.Calls {
		if _, ok := removed[call]; !ok || owned[call] {
			continue
		}
		reached := map[string]bool{call: true}
		for range len(removed) + 1 {
			for function := range maps.Clone(reached) {
				if !owned[function] {
					for _, c := range removed[function] {
						reached[c] = true
					}
				}
			}
		}
		if !reached[d.Function] {
			return true
		}
	}
	return false
}

type modelHit struct {
	Name       string
	Similarity float64
}

func (m *model) retrieve(q memory.Query) (selected []modelHit, pulled, all []string, empty bool) {
	subtask := q.Subtask
	if strings.TrimSpace(subtask) == "" {
		subtask = q.Task
	}
	texts := map[memory.QueryBy][]string{memory.BySubtask: {subtask}, memory.ByTask: {q.Task}, memory.ByBoth: {q.Task, subtask}}[q.By]
	empty = true
	for _, s := range texts {
		empty = empty && m.vector(s).Zero()
	}
	if empty {
		return nil, nil, nil, true
	}
	for _, name := range m.names() {
		d := m.current[name].Description
		if m.vector(d).Zero() {
			continue
		}
		c := math.Inf(-1)
		for _, s := range texts {
			if !m.vector(s).Zero() {
				c = math.Max(c, m.similarity(s, d))
			}
		}
		if c > m.minSim {
			selected = append(selected, modelHit{name, c})
		}
	}
	slices.SortStableFunc(selected, func(a, b modelHit) int {
		switch {
		case a.Similarity > b.Similarity:
			return -1
		case a.Similarity < b.Similarity:
			return 1
		}
		return 0
	})
	selected = selected[:min(len(selected), m.topK)]
	for _, h := range selected {
		all = append(all, h.Name)
	}
	if m.format == skill.FormatCode && len(all) > 0 {
		chosen := all
		all = m.reach(chosen, false)
		for _, name := range all {
			if !slices.Contains(chosen, name) {
				pulled = append(pulled, name)
			}
		}
	}
	return selected, pulled, all, false
}

// document returns the skill as it is given to the memory.
func (s modelSkill) document(t interface{ Fatal(...any) }, format skill.Format) *skill.Document {
	d := &skill.Document{
		Frontmatter: skill.Frontmatter{Name: s.Name, Description: s.Description, AllowedTools: s.Tools},
		Content:     s.Body,
	}
	if s.ToolsStated && s.Tools == nil {
		d.Frontmatter.AllowedTools = []string{}
	}
	if err := d.SetRecord(skill.Record{Format: format, Function: s.Function, Origins: s.Origins, Version: 77, Replaced: 33}); err != nil {
		t.Fatal(err)
	}
	return d
}

func modelOf(d *skill.Document, r skill.Record) modelSkill {
	return trim(modelSkill{
		Name: d.Name(), Description: d.Description(), Body: d.Body(), Tools: d.Frontmatter.AllowedTools,
		ToolsStated: d.Frontmatter.AllowedTools != nil, Origins: r.Origins, Function: r.Function, Calls: r.Calls, Version: r.Version, Replaced: r.Replaced,
	})
}

// trim makes empty lists nil: they mean the same.
func trim(s modelSkill) modelSkill {
	s.Tools, s.Calls = append([]string(nil), s.Tools...), append([]string(nil), s.Calls...)
	s.Origins = append([]skill.Origin(nil), s.Origins...)
	return s
}

// differ returns the difference, which is costly to find, only if there is one.
func differ(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// A machine runs a memory and its model side by side.
type machine struct {
	ctx   context.Context
	m     *memory.Memory
	want  *model
	dir   string // empty for a memory in the process
	o     memory.Options
	steps map[string]int // by what happened
	told  map[string]int // by name, the length of the history that was compared, negative if it ended in a removal
}

func (s *machine) drawDescription(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "the"}), 1, 5).Draw(t, "description"), " ")
}

func (s *machine) drawSkill(t *rapid.T) modelSkill {
	d := modelSkill{
		Name:        rapid.SampledFrom([]string{"x", "y", "x-2", strings.Repeat("x", 64), strings.Repeat("y", 61) + "-zz"}).Draw(t, "name"),
		Description: s.drawDescription(t),
		Origins: rapid.SliceOfN(rapid.SampledFrom([]skill.Origin{
			{Trajectory: "e1", Task: "t1", End: 3}, {Trajectory: "e1", Task: "t1", Start: 3, End: 5, Level: skill.LevelSubtask},
			{Trajectory: "e2", Task: "t2", End: 4, Reward: new(1.0)}, {Trajectory: "e2", Task: "t2", End: 4, Reward: new(0.0)},
		}), 0, 2).Draw(t, "origins"),
	}
	if s.want.format == skill.FormatText {
		d.Tools = rapid.SampledFrom([][]string{nil, nil, nil, {}, {"Read"}}).Draw(t, "tools")
		d.ToolsStated = d.Tools != nil
		notes := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"token is a dict", "Token is  a dict", "code 422 if empty", "pages start at 1", "wait",
		}), 0, 3, rapid.ID).Draw(t, "notes")
		if steps := rapid.SampledFrom([]string{"", "go", "go → take"}).Draw(t, "procedure"); steps != "" || len(notes) == 0 {
			if steps == "" {
				steps = "look"
			}
			d.Body = "- Procedure: " + steps + "\n"
		}
		for _, n := range notes {
			d.Body += "- " + n + "\n"
		}
		return trim(d)
	}
	d.Function = rapid.SampledFrom([]string{"f", "g", "h", "k", "p", "q"}).Draw(t, "function")
	d.Body = "```python\ndef " + d.Function + "():\n"
	calls := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"f", "g", "h", "k", "p", "q", "print"}), 0, 2, rapid.ID).Draw(t, "calls")
	for _, c := range calls {
		d.Body += "    " + c + "()\n"
		if c != d.Function {
			d.Calls = append(d.Calls, c)
		}
	}
	d.Body += "    pass # " + rapid.SampledFrom([]string{"1", "2"}).Draw(t, "comment") + "\n```\n"
	slices.Sort(d.Calls)
	return trim(d)
}

// ownerOf returns the name of the skill with a function, or "".
func (s *machine) ownerOf(function string) string {
	for name, d := range s.want.current {
		if function != "" && d.Function == function {
			return name
		}
	}
	return ""
}

func (s *machine) drawName(t *rapid.T) string {
	names := slices.Sorted(maps.Keys(s.want.history))
	return rapid.SampledFrom(append(names, "none")).Draw(t, "which")
}

func (s *machine) Add(t *rapid.T) { s.add(t, s.drawSkill(t)) }

func (s *machine) add(t *rapid.T, d modelSkill) {
	got, err := s.m.Add(s.ctx, d.document(t, s.want.format))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.want.add(d), got); diff != "" {
		t.Fatalf("added (-want +got):\n%s", diff)
	}
	s.steps[got.Action.String()]++
}

func (s *machine) Put(t *rapid.T) {
	d := s.drawSkill(t)
	_, taken := s.want.current[d.Name]
	taken = taken || s.ownerOf(d.Function) != ""
	e, err := s.m.Put(s.ctx, d.document(t, s.want.format))
	if taken {
		if !errors.Is(err, memory.ErrExists) {
			t.Fatalf("got %v, want ErrExists", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	s.want.storeNew(d)
	s.steps["put"]++
	s.same(t, "put", d.Name, e)
}

// same compares an entry that came back with the current skill of the model.
func (s *machine) same(t *rapid.T, what, name string, e memory.Entry) {
	if diff := differ(s.want.current[name], modelOf(e.Document, e.Record)); diff != "" {
		t.Fatalf("%s %q (-want +got):\n%s", what, name, diff)
	}
}

func (s *machine) Supersede(t *rapid.T) {
	name, d := s.drawName(t), s.drawSkill(t)
	old := s.want.current[name].Version
	s.supersede(t, name, rapid.IntRange(max(1, old-1), old+1).Draw(t, "version"), d)
}

func (s *machine) supersede(t *rapid.T, name string, version int, d modelSkill) {
	old, ok := s.want.current[name]
	e, err := s.m.Supersede(s.ctx, name, version, d.document(t, s.want.format))
	switch {
	case !ok:
		if !errors.Is(err, memory.ErrNotFound) {
			t.Fatalf("got %v, want ErrNotFound", err)
		}
	case version != old.Version:
		if !errors.Is(err, memory.ErrConflict) {
			t.Fatalf("got %v, want ErrConflict", err)
		}
	case d.Function != old.Function:
		if err == nil {
			t.Fatalf("function %q in the place of %q", d.Function, old.Function)
		}
	case err != nil:
		t.Fatal(err)
	default:
		d.Name, d.Replaced = name, old.Version
		s.want.store(d)
		s.steps["superseded"]++
		s.same(t, "supersede", name, e)
	}
}

func (s *machine) Remove(t *rapid.T) { s.remove(t, s.drawName(t)) }

func (s *machine) remove(t *rapid.T, name string) {
	_, ok := s.want.current[name]
	got, err := s.m.Remove(s.ctx, name, "test")
	if !ok {
		if !errors.Is(err, memory.ErrNotFound) {
			t.Fatalf("got %v, want ErrNotFound", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.want.remove([]string{name}), got); diff != "" {
		t.Fatalf("removed (-want +got):\n%s", diff)
	}
	s.steps["removed"]++
	if len(got) > 1 {
		s.steps["cascade"]++
	}
}

func (s *machine) Check(t *rapid.T) {
	bad := map[string]bool{rapid.SampledFrom([]string{"f", "g", "h", "k"}).Draw(t, "bad"): true}
	if rapid.Bool().Draw(t, "none") {
		bad = nil
	}
	got, err := s.m.Check(s.ctx, func(_ context.Context, e memory.Entry) error {
		if bad[e.Record.Function] {
			return errors.New("syntax error")
		}
		return nil
	})
	if s.want.format == skill.FormatText {
		if err == nil {
			t.Fatal("text was checked")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var failing []string
	for name, d := range s.want.current {
		if bad[d.Function] {
			failing = append(failing, name)
		}
	}
	if diff := cmp.Diff(s.want.remove(failing), got); diff != "" {
		t.Fatalf("check removed (-want +got):\n%s", diff)
	}
}

func (s *machine) Restore(t *rapid.T) {
	name := s.drawName(t)
	version := rapid.IntRange(1, len(s.want.history[name])+1).Draw(t, "version")
	if gone := s.want.gone(); len(gone) > 0 && rapid.Bool().Draw(t, "removed") { // else one that calls a removed one is rare
		name = rapid.SampledFrom(gone).Draw(t, "which removed")
		version = len(s.want.history[name])
	}
	s.restore(t, name, version)
}

func (s *machine) restore(t *rapid.T, name string, version int) {
	h := s.want.history[name]
	e, err := s.m.Restore(s.ctx, name, version)
	if version > len(h) {
		if !errors.Is(err, memory.ErrNotFound) {
			t.Fatalf("got %v, want ErrNotFound", err)
		}
		return
	}
	d := h[version-1].Skill
	cur, current := s.want.current[name]
	owner := s.ownerOf(d.Function)
	switch {
	case current && cur.Version == version:
		if err != nil {
			t.Fatal(err)
		}
		s.same(t, "restore of the current version of", name, e)
	case current && cur.Function != d.Function || !current && owner != "":
		if err == nil {
			t.Fatalf("function %q restored in %q", d.Function, name)
		}
	case s.want.early(d):
		if err == nil || !strings.Contains(err.Error(), "first") {
			t.Fatalf("%q, which calls %q, was restored before them: %v", name, d.Calls, err)
		}
		s.steps["refused"]++
	case err != nil:
		t.Fatal(err)
	default:
		d.Replaced = len(h)
		s.want.store(d)
		s.steps["restored"]++
		s.same(t, "restore", name, e)
	}
}

func (s *machine) RecordUse(t *rapid.T) {
	var uses []memory.Use
	for range rapid.IntRange(1, 4).Draw(t, "uses") {
		name := s.drawName(t)
		last := len(s.want.history[name])
		u := memory.Use{
			Skill: name, Version: rapid.IntRange(max(1, last-1), max(1, last)).Draw(t, "version"),
			Episode: rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6"}).Draw(t, "episode"),
			Success: rapid.SampledFrom([]*bool{nil, new(true), new(false), new(false)}).Draw(t, "success"),
		}
		uses = append(uses, u)
	}
	s.recordUse(t, uses...)
}

func (s *machine) recordUse(t *rapid.T, uses ...memory.Use) {
	valid := !slices.ContainsFunc(uses, func(u memory.Use) bool { return len(s.want.history[u.Skill]) == 0 })
	err := s.m.RecordUse(s.ctx, uses...)
	if !valid {
		if !errors.Is(err, memory.ErrNotFound) {
			t.Fatalf("got %v, want ErrNotFound", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range uses {
		outcome := "?"
		if u.Success != nil {
			outcome = map[bool]string{true: "yes", false: "no"}[*u.Success]
		}
		u.Success = nil
		s.want.uses[u] = outcome
	}
}

func (s *machine) Prune(t *rapid.T) {
	s.prune(t, rapid.SampledFrom([]*memory.PruneOptions{nil, {MinUses: 1}, {MinUses: 2, Below: new(0.0)}, {MinUses: 2, Below: new(1.0)}}).Draw(t, "options"))
}

func (s *machine) prune(t *rapid.T, o *memory.PruneOptions) {
	minUses, below := 3, 0.5
	if o != nil {
		minUses = o.MinUses
		if o.Below != nil {
			below = *o.Below
		}
	}
	got, err := s.m.Prune(s.ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.want.prune(minUses, below), got); diff != "" {
		t.Fatalf("pruned (-want +got):\n%s", diff)
	}
	if len(got) > 0 {
		s.steps["pruned"]++
	}
}

func (s *machine) Retrieve(t *rapid.T) {
	s.retrieve(t, memory.Query{
		Task: s.drawDescription(t), By: rapid.SampledFrom([]memory.QueryBy{memory.BySubtask, memory.ByTask, memory.ByBoth}).Draw(t, "by"),
		Subtask: rapid.SampledFrom([]string{"", " ", "a", "b c", "the", "d e f"}).Draw(t, "subtask"),
	})
}

func (s *machine) retrieve(t *rapid.T, q memory.Query) {
	r, err := s.m.Retrieve(s.ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	selected, pulled, all, empty := s.want.retrieve(q)
	var gotSelected []modelHit
	for _, h := range r.Selected {
		gotSelected = append(gotSelected, modelHit{h.Name(), h.Similarity})
	}
	nameList := func(es []memory.Entry) (names []string) {
		for _, e := range es {
			names = append(names, e.Name())
			s.same(t, "retrieved", e.Name(), e)
		}
		return names
	}
	type answer struct {
		Selected    []modelHit
		Pulled, All []string
		Empty       bool
	}
	want, got := answer{selected, pulled, all, empty}, answer{gotSelected, nameList(r.Pulled), nameList(r.Skills()), r.EmptyQuery}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("retrieved for %+v (-want +got):\n%s", q, diff)
	}
	if len(pulled) > 0 {
		s.steps["pulled"]++
	}
	if empty {
		s.steps["empty query"]++
	}
}

// Life has steps that rarely follow each other by chance, in an order in which each has an effect unless what is there already stands in
// the way.
func (s *machine) Life(t *rapid.T) {
	if s.want.format == skill.FormatText {
		s.add(t, trim(modelSkill{Name: "x", Description: "a", Body: "- Procedure: go\n- wait\n"}))
		s.add(t, trim(modelSkill{Name: "y", Description: "a", Body: "- Procedure: go\n- code 422 if empty\n"}))
		var uses []memory.Use
		for _, episode := range []string{"7", "8", "9"} {
			uses = append(uses, memory.Use{Skill: "x", Version: max(1, len(s.want.history["x"])), Episode: episode, Success: new(false)})
		}
		s.recordUse(t, uses...)
		s.prune(t, nil)
		s.restore(t, "x", 1)
		s.supersede(t, "x", len(s.want.history["x"]), trim(modelSkill{Name: "x", Description: "a b", Body: "- wait\n"}))
	} else {
		body := func(function, call string) string {
			return "```python\ndef " + function + "():\n    " + call + "\n```\n"
		}
		s.add(t, trim(modelSkill{Name: "x", Description: "a", Function: "g", Body: body("g", "pass")}))
		s.add(t, trim(modelSkill{Name: "y", Description: "b", Function: "f", Calls: []string{"g"}, Body: body("f", "g()")}))
		s.add(t, trim(modelSkill{Name: "y", Description: "a", Function: "q", Body: body("q", "pass")}))
		s.retrieve(t, memory.Query{Subtask: "b"})
		s.remove(t, "x")
		s.restore(t, "y", 1)
		s.restore(t, "x", 1)
		s.restore(t, "y", 1)
		s.supersede(t, "x", len(s.want.history["x"]), trim(modelSkill{Name: "x", Description: "a b", Function: "g", Body: body("g", "pass # 1")}))
	}
	s.retrieve(t, memory.Query{Subtask: " "})
}

func (s *machine) Reopen(t *rapid.T) {
	if s.dir == "" {
		t.Skip("in process")
	}
	if err := s.m.Close(); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	clear(s.told)
	if d := s.m.Diagnostics(); len(d) > 0 {
		t.Fatalf("reopen: %v", d)
	}
}

func (s *machine) open(t *rapid.T) {
	var err error
	if s.dir == "" {
		s.m, err = memory.New(s.ctx, &s.o)
	} else {
		s.m, err = memory.Open(s.ctx, s.dir, &s.o)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// check compares everything that can be seen.
func (s *machine) check(t *rapid.T) {
	var got, want []modelSkill
	for e := range s.m.All() {
		got = append(got, modelOf(e.Document, e.Record))
		if e.Quarantined {
			t.Fatalf("%q is quarantined", e.Name())
		}
	}
	for e := range s.m.Quarantined() {
		t.Fatalf("%q is quarantined", e.Name())
	}
	for _, name := range s.want.names() {
		want = append(want, s.want.current[name])
	}
	if diff := differ(want, got); diff != "" {
		t.Fatalf("skills (-want +got):\n%s", diff)
	}
	if s.m.Len() != len(want) {
		t.Fatalf("Len is %d, want %d", s.m.Len(), len(want))
	}
	counted := 0
	for name, h := range s.want.history {
		n := s.m.Usage(name)
		if diff := cmp.Diff(s.want.usage(name, 0), n); diff != "" {
			t.Fatalf("usage of %q (-want +got):\n%s", name, diff)
		}
		counted += n.Uses
		e, ok := s.m.Get(name)
		if _, current := s.want.current[name]; ok != current {
			t.Fatalf("Get(%q) is %v", name, ok)
		} else if ok {
			s.same(t, "get", name, e)
		}
		length := len(h)
		if h[length-1].Removed {
			length = -length
		}
		if s.told[name] == length {
			continue
		}
		s.told[name] = length
		versions, err := s.m.History(s.ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		var gotHistory []modelVersion
		for i, v := range versions {
			gotHistory = append(gotHistory, modelVersion{modelOf(v.Document, v.Record), v.Removed != ""})
			if v.Current != (ok && i == len(versions)-1) {
				t.Fatalf("version %d of %q: Current is %v", i+1, name, v.Current)
			}
		}
		if diff := differ(h, gotHistory); diff != "" {
			t.Fatalf("history of %q (-want +got):\n%s", name, diff)
		}
	}
	if counted != len(s.want.uses) { // uses are neither lost nor counted twice
		t.Fatalf("%d uses are counted, want %d", counted, len(s.want.uses))
	}
}

// Whatever is done to a memory in whatever order, it is what a slow and obvious model says: entries, history, counts and answers, also
// after it was opened again.
func TestModel(t *testing.T) {
	steps := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		s := &machine{ctx: context.Background(), steps: steps, told: map[string]int{}}
		s.want = &model{
			embed:    words{rapid.SampledFrom([]int{12, 204}).Draw(t, "dim")},
			format:   rapid.SampledFrom([]skill.Format{skill.FormatText, skill.FormatCode}).Draw(t, "format"),
			topK:     rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "TopK"),
			minSim:   rapid.SampledFrom([]float64{-1, 0, 0.3, 0.5}).Draw(t, "MinSim"),
			mergeSim: rapid.SampledFrom([]float64{0.7, 0.85, 1}).Draw(t, "MergeSim"),
			current:  map[string]modelSkill{}, history: map[string][]modelVersion{}, uses: map[memory.Use]string{},
		}
		s.o = memory.Options{
			Embedder: s.want.embed, Format: s.want.format, TopK: s.want.topK, MinSim: &s.want.minSim, MergeSim: &s.want.mergeSim,
			NoSync: true, Now: func() time.Time { return time.Unix(1e9, 0) },
		}
		if rapid.IntRange(0, 4).Draw(t, "on disk") == 0 {
			dir, err := os.MkdirTemp("", "memory")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			s.dir = dir
		}
		s.open(t)
		defer func() { s.m.Close() }()
		if rapid.Bool().Draw(t, "lived") || rapid.Bool().Draw(t, "lived too") {
			s.Life(t)
		}
		t.Repeat(map[string]func(*rapid.T){
			"Add": s.Add, "Add again": s.Add, "Put": s.Put, "Supersede": s.Supersede, "Remove": s.Remove, "Check": s.Check,
			"Restore": s.Restore, "Life": s.Life, "Restore again": s.Restore, "RecordUse": s.RecordUse, "RecordUse again": s.RecordUse, "Prune": s.Prune,
			"Retrieve": s.Retrieve, "Retrieve again": s.Retrieve, "Reopen": s.Reopen, "": s.check,
		})
	})
	if testing.Short() {
		return
	}
	for _, what := range []string{
		"created", "merged", "overwritten", "dropped", "put", "superseded", "removed", "cascade", "restored", "refused", "pruned", "pulled", "empty query",
	} {
		if steps[what] == 0 {
			t.Errorf("%s: never happened", what)
		}
	}
}
