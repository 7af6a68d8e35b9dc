package play

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/text"
	"github.com/throughline-go/throughline/rl/linear"
)

// A Situation is all that a player knows when it decides: what it was shown in this episode and what it did.
type Situation struct {
	Turn envharness.Turn // the present turn; its Shown.Actions are the candidates
	Task string          // text of the first observation
	Past []Past          // earlier turns, oldest first
	// Procedures are skills given to the player for this episode: action names in order, the most relevant skill first.
	Procedures [][]string
}

// Past is one earlier turn: the action and what came back.
type Past struct {
	Action envharness.Action
	Error  *envharness.ActionError // nil if it was carried out
	Shown  string
}

// Features describes every candidate action of a situation by a sparse vector, in the order of s.Turn.Shown.Actions. It must be pure and safe for
// concurrent use; it must not keep s.
type Features func(s *Situation) [][]linear.Feature

// CallFeatures describes tool calls without knowing the world, hashed into dim indices as [linear.Hash] does. The design is ours. A candidate
// call is described by
//   - its tool, together with each word of the task and of the latest result, with the tool and outcome of the previous turn, with earlier
//     refusals, and with whether the tool was used before;
//   - each argument by where its value was last shown (task, latest result, earlier result) and by the words around that place, so that
//     values never seen in training can still be told apart by their context; a value shown nowhere is one of a closed set and counts
//     by itself and together with each word of the task and of the latest result;
//   - whether the same call was made before, and how that ended;
//   - whether it is the next step of a given skill, and of which rank.
//
// A call whose only argument is a sentence, as in household or shop, is one value here, so little is learnt there: such worlds need features
// of their own. The time is linear in candidates times shown text.
func CallFeatures(dim int) Features {
	return func(s *Situation) [][]linear.Feature {
		f := newDescriber(dim, s)
		out := make([][]linear.Feature, len(s.Turn.Shown.Actions))
		for i, a := range s.Turn.Shown.Actions {
			out[i] = f.describe(a)
		}
		return out
	}
}

type describer struct {
	dim    int
	s      *Situation
	words  []string // distinct words of the task
	reply  []string // distinct words of the latest result
	last   string   // tool and outcome of the previous turn
	used   map[string]bool
	refuse []string          // distinct classes of earlier refusals, in order of time
	tries  map[string]string // call -> outcome of its latest try
	next   map[string]int    // tool -> best rank+1 of a skill whose next step it is
	tools  map[string][]linear.Feature
	places map[string][]string // argument value -> features of where it was shown
	name   []byte
}

func newDescriber(dim int, s *Situation) *describer {
	f := &describer{dim: dim, s: s, last: "start", used: map[string]bool{}, tries: map[string]string{},
		next: map[string]int{}, tools: map[string][]linear.Feature{}, places: map[string][]string{}}
	f.words = vocabulary(s.Task)
	if n := len(s.Past); n > 0 {
		f.reply = vocabulary(s.Past[n-1].Shown)
	}
	var done []string
	for _, p := range s.Past {
		o := outcome(p.Error)
		f.last = p.Action.Name + " " + o
		f.tries[key(p.Action)] = o
		if p.Error != nil && !slices.Contains(f.refuse, o) {
			f.refuse = append(f.refuse, o)
		}
		if p.Error == nil {
			f.used[p.Action.Name] = true
			done = append(done, p.Action.Name)
		}
	}
	for rank, proc := range s.Procedures {
		if n := nextStep(proc, done); n != "" {
			if _, ok := f.next[n]; !ok {
				f.next[n] = rank + 1
			}
		}
	}
	return f
}

// vocabulary returns the distinct words of s in order, without those that hold a digit.
func vocabulary(s string) []string {
	ws := text.Tokens(s)
	slices.Sort(ws)
	return slices.DeleteFunc(slices.Compact(ws), hasDigit)
}

// nextStep returns the first step of proc that is left when the done actions are matched against it in order; empty when none is.
func nextStep(proc, done []string) string {
	i := 0
	for _, d := range done {
		if i < len(proc) && proc[i] == d {
			i++
		}
	}
	if i == len(proc) {
		return ""
	}
	return proc[i]
}

func outcome(e *envharness.ActionError) string {
	if e == nil {
		return "ok"
	}
	return string(e.Class)
}

func key(a envharness.Action) string { return a.Name + "\x00" + string(a.Args) }

func (f *describer) describe(a envharness.Action) []linear.Feature {
	out := slices.Clone(f.tool(a.Name))
	if o, ok := f.tries[key(a)]; ok {
		out = f.add(out, "again", o)
		out = f.add(out, "again", a.Name, o)
	}
	var args map[string]any
	if len(a.Args) > 0 && json.Unmarshal(a.Args, &args) != nil {
		return f.add(out, "unreadable")
	}
	names := make([]string, 0, len(args))
	for n := range args {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		for _, p := range f.place(args[n]) {
			out = f.add(out, a.Name, n, p)
		}
	}
	return out
}

// add appends the feature named by the parts.
func (f *describer) add(dst []linear.Feature, parts ...string) []linear.Feature {
	f.name = f.name[:0]
	for _, p := range parts {
		f.name = append(append(f.name, p...), 0)
	}
	return linear.Hash(dst, f.dim, string(f.name))
}

// tool returns the features shared by all calls of one tool.
func (f *describer) tool(name string) []linear.Feature {
	if fs, ok := f.tools[name]; ok {
		return fs
	}
	fs := make([]linear.Feature, 0, len(f.words)+8)
	fs = f.add(fs, "tool", name)
	fs = f.add(fs, "after", name, f.last)
	if f.used[name] {
		fs = f.add(fs, "used", name)
	}
	if len(f.next) > 0 {
		if r, ok := f.next[name]; ok {
			fs = f.add(fs, "skill next")
			fs = f.add(fs, "skill next", strconv.Itoa(r))
		} else {
			fs = f.add(fs, "skill other")
		}
	}
	for _, c := range f.refuse {
		fs = f.add(fs, "refused before", name, c)
	}
	for _, w := range f.words {
		fs = f.add(fs, "word", name, w)
	}
	for _, w := range f.reply {
		fs = f.add(fs, "reply", name, w)
	}
	f.tools[name] = fs
	return fs
}

// place says where a value was last shown: the newest result that holds it, else the task, else nowhere; and the words around it there.
func (f *describer) place(v any) []string {
	val, ok := scalar(v)
	if !ok {
		return []string{"composite"}
	}
	if p, ok := f.places[val]; ok {
		return p
	}
	var p []string
	if i := find(f.s.Task, val); i >= 0 {
		p = f.around([]string{"value in task"}, "task", f.s.Task, i, len(val))
	}
	for k := len(f.s.Past) - 1; k >= 0; k-- {
		i := find(f.s.Past[k].Shown, val)
		if i < 0 {
			continue
		}
		where := "value in earlier result"
		if k == len(f.s.Past)-1 {
			where = "value in latest result"
		}
		p = f.around(append(p, where), "result", f.s.Past[k].Shown, i, len(val))
		break
	}
	if p == nil {
		p = []string{"value " + val}
		for _, w := range f.words {
			p = append(p, "value "+val+" task "+w)
		}
		for _, w := range f.reply {
			p = append(p, "value "+val+" reply "+w)
		}
	}
	f.places[val] = p
	return p
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, v != ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// find returns the last place of val in s where it is no part of a longer word or number, or -1.
func find(s, val string) int {
	for end := len(s); ; {
		i := strings.LastIndex(s[:end], val)
		if i < 0 {
			return -1
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(val):])
		if !wordRune(before) && !wordRune(after) {
			return i
		}
		end = i + len(val) - 1
	}
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Reach and number of the context words: enough for the key and the neighbouring fields of a JSON reply.
const (
	reach = 64 // bytes on either side
	near  = 4  // words on either side
)

// around appends the words before and after s[at:at+n], and whether words after it are the task's own: a row is told apart by what it
// shares with the request.
func (f *describer) around(dst []string, kind, s string, at, n int) []string {
	before, after := words(s[max(0, at-reach):at]), words(s[at+n:min(len(s), at+n+reach)])
	for i, w := range before[max(0, len(before)-near):] {
		dst = append(dst, kind+" before "+w)
		if i == min(near, len(before))-1 {
			dst = append(dst, kind+" just before "+w)
		}
	}
	for _, w := range after[:min(near, len(after))] {
		dst = append(dst, kind+" after "+w)
	}
	if kind == "result" {
		shared := 0
		for _, w := range after {
			if _, ok := slices.BinarySearch(f.words, w); ok {
				shared++
			}
		}
		dst = append(dst, "shares "+strconv.Itoa(min(shared, 3))+" words with the task")
	}
	return dst
}

// words splits at everything but letters and digits and replaces words with digits by "#".
func words(s string) []string {
	ws := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !wordRune(r) })
	for i, w := range ws {
		if hasDigit(w) {
			ws[i] = "#"
		}
	}
	return ws
}

func hasDigit(w string) bool { return strings.ContainsAny(w, "0123456789") }
