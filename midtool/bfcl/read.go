package bfcl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// ReadTasks reads a question file: JSON Lines, whatever the name says. A row is
//
//	{"id": "simple_python_0", "question": [[{"role": "user", "content": "..."}]], "function": [{"name", "description", "parameters"}]}
//
// or one of a multi-turn task, which has "initial_config", "involved_classes", "path", "missed_function" and
// "excluded_function" in place of "function". Category is the ID up to its last "_". Gold is nil: [Join] adds it.
//
// A byte order mark, blank lines and a missing last newline are accepted, and keys that are not known are passed over.
// The first bad line ends the sequence with an error that names locator, line and rule: JSON that is broken, deeper
// than 72 levels or longer than 64 MiB, invalid UTF-8, a missing id, or a member of the wrong type. The sequence can
// be ranged over once.
func ReadTasks(r io.Reader, locator string) iter.Seq2[Task, error] {
	return rows(r, locator, func(f *fields, v *jsonval.Value) Task {
		t := Task{ID: f.id(v)}
		if cut := strings.LastIndexByte(t.ID, '_'); cut >= 0 {
			t.Category = t.ID[:cut]
		} else {
			f.fail("id %q has no category before a \"_\"", brief(t.ID))
		}
		for _, turn := range f.list(v, "question") {
			f.want("turn of the question", &turn, jsonval.List)
			messages := make([]Message, 0, len(turn.List))
			for _, m := range turn.List {
				f.want("message", &m, jsonval.Object)
				messages = append(messages, Message{Role: f.text(&m, "role"), Content: f.text(&m, "content")})
			}
			t.Turns = append(t.Turns, messages)
		}
		for _, fn := range f.list(v, "function") {
			t.Functions = append(t.Functions, f.function(&fn))
		}
		t.InitialConfig = f.object(v, "initial_config")
		t.Path, t.Classes, t.Excluded = f.words(v, "path"), f.words(v, "involved_classes"), f.words(v, "excluded_function")
		if missed := f.of(v, "missed_function", jsonval.Object); missed != nil {
			t.Missed = make(map[int][]string, len(missed.Members))
			for i := range missed.Members {
				m := &missed.Members[i]
				turn, err := strconv.Atoi(m.Key)
				if err != nil || turn < 0 {
					f.fail("missed_function: turn %q is no number from 0", brief(m.Key))
				}
				f.want("turn of missed_function", &m.Value, jsonval.List)
				t.Missed[turn] = f.strings("missed_function", m.Value.List)
			}
		}
		return t
	})
}

// ReadAnswers reads a gold file, as [ReadTasks] reads questions. A row is {"id", "ground_truth"}, where the latter is a
// list of objects with one key, the function, or in multi-turn tasks a list of lists of call text.
func ReadAnswers(r io.Reader, locator string) iter.Seq2[Answer, error] {
	return rows(r, locator, func(f *fields, v *jsonval.Value) Answer {
		a := Answer{ID: f.id(v)}
		if v.Get("ground_truth") == nil {
			f.fail(`no "ground_truth"`)
		}
		for i, g := range f.list(v, "ground_truth") {
			switch {
			case g.Kind == jsonval.Object && len(g.Members) == 1 && g.Members[0].Value.Kind == jsonval.Object && len(a.Turns) == 0:
				m := &g.Members[0]
				a.Gold = append(a.Gold, Gold{Name: m.Key, Options: m.Value.Bytes(jsonval.Compact)})
			case g.Kind == jsonval.List && len(a.Gold) == 0:
				turn := make([]string, 0, len(g.List))
				for _, c := range g.List {
					f.want("call", &c, jsonval.String)
					turn = append(turn, c.Text)
				}
				a.Turns = append(a.Turns, turn)
			default:
				f.fail("ground_truth %d: want an object with one function, or a turn as a list of calls; never both in a row", i)
			}
		}
		return a
	})
}

// ReadFunctions reads a function document, one {"name", "description", "parameters", "response"} a line, as [ReadTasks]
// reads questions.
func ReadFunctions(r io.Reader, locator string) iter.Seq2[Function, error] {
	return rows(r, locator, func(f *fields, v *jsonval.Value) Function { return f.function(v) })
}

// ReadOutputs reads the outputs of a model, one {"id", "result"} a line, as [ReadTasks] reads questions. A result may be
// anything: [Decode] judges it. A row without one has a nil Result.
func ReadOutputs(r io.Reader, locator string) iter.Seq2[Output, error] {
	return rows(r, locator, func(f *fields, v *jsonval.Value) Output {
		o := Output{ID: f.id(v)}
		if result := v.Get("result"); result != nil {
			o.Result = result.Bytes(jsonval.Compact)
		}
		return o
	})
}

// Join gives each task the gold of the answer with its ID, in place. It is an error if two answers have one ID. Tasks without an
// answer and answers without a task are left as they are: files hold one category each, and no gold belongs to a task
// that expects no call.
func Join(tasks []Task, answers []Answer) error {
	byID := make(map[string]*Answer, len(answers))
	for i := range answers {
		if byID[answers[i].ID] != nil {
			return fmt.Errorf("bfcl: two answers have the id %q", brief(answers[i].ID))
		}
		byID[answers[i].ID] = &answers[i]
	}
	for i := range tasks {
		if a := byID[tasks[i].ID]; a != nil {
			tasks[i].Gold = a.Gold
		}
	}
	return nil
}

// rows reads an object from each line.
func rows[T any](r io.Reader, locator string, read func(*fields, *jsonval.Value) T) iter.Seq2[T, error] {
	return jsonl.Values(r, jsonval.MaxBytes, "bfcl: "+locator, func(line []byte, number int) (T, error) {
		var f fields
		var none T
		mark := 0
		if number == 1 && bytes.HasPrefix(line, []byte("\ufeff")) {
			mark = len("\ufeff")
		}
		v, err := jsonval.ParseNested(line[mark:], jsonval.LineDepth)
		if je, ok := errors.AsType[*jsonval.Error](err); ok {
			return none, fmt.Errorf("byte %d: %s", mark+je.Offset, je.Rule)
		}
		if v.Kind != jsonval.Object {
			return none, fmt.Errorf("want an object, got %s", v.Kind)
		}
		row := read(&f, &v)
		if f.rule != "" {
			return none, errors.New(f.rule)
		}
		return row, nil
	})
}

// A fields reads members of objects and keeps the first rule broken.
type fields struct{ rule string }

func (f *fields) fail(format string, args ...any) {
	if f.rule == "" {
		f.rule = fmt.Sprintf(format, args...)
	}
}

func (f *fields) want(what string, v *jsonval.Value, k jsonval.Kind) {
	if v.Kind != k {
		f.fail("%s: want %s, got %s", what, k, v.Kind)
	}
}

// of returns a member of the kind, nil where it is absent or null.
func (f *fields) of(v *jsonval.Value, key string, k jsonval.Kind) *jsonval.Value {
	m := v.Get(key)
	if m == nil || m.Kind == jsonval.Null {
		return nil
	}
	if f.want(fmt.Sprintf("%q", key), m, k); m.Kind != k {
		return nil
	}
	return m
}

func (f *fields) text(v *jsonval.Value, key string) string {
	return jsonval.StringOf(f.of(v, key, jsonval.String))
}

func (f *fields) list(v *jsonval.Value, key string) []jsonval.Value {
	if l := f.of(v, key, jsonval.List); l != nil {
		return l.List
	}
	return nil
}

func (f *fields) words(v *jsonval.Value, key string) []string {
	return f.strings(key, f.list(v, key))
}

func (f *fields) strings(what string, list []jsonval.Value) []string {
	var words []string
	for i := range list {
		if list[i].Kind != jsonval.String {
			f.fail("member %d of %q: want string, got %s", i, what, list[i].Kind)
		}
		words = append(words, list[i].Text)
	}
	return words
}

func (f *fields) object(v *jsonval.Value, key string) json.RawMessage {
	if o := f.of(v, key, jsonval.Object); o != nil {
		return o.Bytes(jsonval.Compact)
	}
	return nil
}

func (f *fields) id(v *jsonval.Value) string {
	id := f.text(v, "id")
	if id == "" {
		f.fail("no id")
	}
	return id
}

func (f *fields) function(v *jsonval.Value) Function {
	f.want("function", v, jsonval.Object)
	fn := Function{Name: f.text(v, "name"), Description: f.text(v, "description")}
	fn.Parameters, fn.Response = f.object(v, "parameters"), f.object(v, "response")
	if fn.Name == "" {
		f.fail("a function has no name")
	}
	if fn.Parameters == nil {
		f.fail("function %q has no parameters", brief(fn.Name))
	}
	return fn
}
