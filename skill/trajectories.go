package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/internal/jsonl"
)

// Bounds of one line of a file of trajectories. A value can take many times the memory of its text, hence the second.
const (
	maxTrajectoryLine   = 64 << 20 // bytes
	maxTrajectoryValues = 1 << 20  // JSON values
	maxTrajectoryDepth  = 100      // lists and objects in one another
)

// ReadTrajectories reads episodes from JSON Lines: one object per line, blank lines skipped. The keys are those of [Trajectory] and
// [Step], and json.Marshal writes such a line of a Trajectory whose Steps are not nil. An example, folded here:
//
//	{"id": "run-1", "task_id": "t1", "task": "Refund order 1001", "group": "refunds", "reward": 1, "steps": [
//	  {"marker": "Find the order", "thought": "First the order.", "name": "get_order", "args": {"order_id": 1001}, "observation": "paid"},
//	  {"name": "refund", "args": {"order_id": 1001, "full": true}, "observation": "not delivered", "err": true},
//	  {"name": "tell the customer"}]}
//
// The keys task_id, task and steps must be there, all others may be missing. An action with "args", which may be {}, is a structured
// one, without it a free text. Numbers in arguments are of type [json.Number], so that no digit of an identifier is lost.
//
// Reading is strict. These are errors, which name the line, counted from 1, and the field: a key that is unknown or stands twice in
// one object, a value of the wrong type, null outside of arguments, arguments without a name, a reward outside [0, 1]. So are, with the
// line: what is no JSON, anything after the object, invalid UTF-8, half of a surrogate pair, more than 64 MiB, more than 1,048,576
// values, and more than 100 lists and objects in one another. An error of r is passed on.
//
// The sequence ends after an error. It can be ranged over once, reads ahead of what it yields and does not close r. Time is linear in the
// bytes of r, and one line is held at a time. Nothing is scanned: [Induce] and [Segment] do that. The format is ours.
func ReadTrajectories(r io.Reader) iter.Seq2[Trajectory, error] {
	return jsonl.Values(r, maxTrajectoryLine, "skill: trajectories:", func(line []byte, _ int) (Trajectory, error) {
		return decodeTrajectory(line)
	})
}

func decodeTrajectory(line []byte) (Trajectory, error) {
	if !utf8.Valid(line) {
		return Trajectory{}, errors.New("invalid UTF-8")
	}
	if n := halfPair(line); n >= 0 {
		return Trajectory{}, fmt.Errorf("half of a surrogate pair at byte %d", n)
	}
	var whole json.RawMessage // finds what is no JSON, also after the value, and what is too deep for a recursive walk
	if err := json.Unmarshal(line, &whole); err != nil {
		return Trajectory{}, err
	}
	d := strictDecoder{dec: json.NewDecoder(bytes.NewReader(line))}
	d.dec.UseNumber()
	v, err := d.value(0)
	if err != nil {
		return Trajectory{}, err
	}
	o := newFields(v, "id", "task_id", "task", "group", "steps", "reward")
	for _, key := range []string{"task_id", "task", "steps"} {
		if _, ok := o.values[key]; !ok {
			o.fault(key, "is missing")
		}
	}
	t := Trajectory{ID: o.text("id"), TaskID: o.text("task_id"), Task: o.text("task"), Group: o.text("group")}
	if v, ok := o.values["reward"]; ok {
		t.Reward = new(float64)
		number, isNumber := v.(json.Number)
		if !isNumber {
			o.fault("reward", "is %s, want a number", strictKind(v))
		} else if *t.Reward, err = number.Float64(); err != nil || !(*t.Reward >= 0 && *t.Reward <= 1) {
			o.fault("reward", "is %.40s, want 0 to 1", number)
		}
	}
	steps, isList := o.values["steps"].([]any)
	if !isList {
		o.fault("steps", "is %s, want a list", strictKind(o.values["steps"]))
	}
	if o.err != nil {
		return Trajectory{}, o.err
	}
	t.Steps = make([]Step, len(steps))
	for i, v := range steps {
		if t.Steps[i], err = decodeStep(v); err != nil {
			return Trajectory{}, within(keySegment("steps")+indexSegment(i), err)
		}
	}
	return t, nil
}

func decodeStep(v any) (Step, error) {
	o := newFields(v, "thought", "name", "args", "observation", "err", "marker")
	s := Step{Thought: o.text("thought"), Name: o.text("name"), Observation: o.text("observation"), Marker: o.text("marker")}
	if v, ok := o.values["err"]; ok {
		if s.Err, ok = v.(bool); !ok {
			o.fault("err", "is %s, want true or false", strictKind(v))
		}
	}
	if v, ok := o.values["args"]; ok {
		if s.Args, ok = v.(map[string]any); !ok {
			o.fault("args", "is %s, want an object", strictKind(v))
		} else if blank(s.Name) {
			o.fault("args", "has no name beside it, want that of the tool")
		}
	}
	return s, o.err
}

// fields are those of a JSON object. The first fault stays.
type fields struct {
	values map[string]any
	err    error
}

func newFields(v any, known ...string) *fields {
	values, ok := v.(map[string]any)
	o := &fields{values: values}
	if !ok {
		o.err = within("", fmt.Errorf("is %s, want an object", strictKind(v)))
		return o
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, key) {
			o.fault(key, "is unknown, want one of %s", strings.Join(known, ", "))
		}
	}
	return o
}

func (o *fields) fault(key, format string, args ...any) {
	if o.err == nil {
		o.err = within(keySegment(key), fmt.Errorf(format, args...))
	}
}

// text returns a text; empty if there is none.
func (o *fields) text(key string) string {
	v, ok := o.values[key]
	s, isText := v.(string)
	if ok && !isText {
		o.fault(key, "is %s, want a text", strictKind(v))
	}
	return s
}

func strictKind(v any) string {
	if _, ok := v.(map[string]any); ok {
		return "an object"
	}
	return jsonKind(v)
}

// A strictDecoder reads valid JSON into maps, lists, texts, json.Number, bool and nil.
type strictDecoder struct {
	dec    *json.Decoder
	values int
}

func (d *strictDecoder) value(depth int) (any, error) {
	if d.values++; d.values > maxTrajectoryValues {
		return nil, within("", fmt.Errorf("is beyond the first %d values of the line", maxTrajectoryValues))
	}
	t, err := d.dec.Token()
	if err != nil {
		return nil, err
	}
	open, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth == maxTrajectoryDepth {
		return nil, within("", fmt.Errorf("is a list or an object inside %d others, want fewer", depth))
	}
	if open == '[' {
		list := []any{}
		for d.dec.More() {
			v, err := d.value(depth + 1)
			if err != nil {
				return nil, within(indexSegment(len(list)), err)
			}
			list = append(list, v)
		}
		_, err := d.dec.Token()
		return list, err
	}
	values := make(map[string]any)
	for d.dec.More() {
		k, err := d.dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := k.(string)
		if _, ok := values[key]; ok {
			return nil, within(keySegment(key), errors.New("stands twice in one object"))
		}
		if values[key], err = d.value(depth + 1); err != nil {
			return nil, within(keySegment(key), err)
		}
	}
	_, err = d.dec.Token()
	return values, err
}

// A pathError is what is wrong with the value at a path, for example steps[2].args.
type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string {
	if e.path == "" {
		return "the object " + e.err.Error()
	}
	return shorten(strings.TrimPrefix(e.path, "."), 200) + " " + e.err.Error()
}

func (e *pathError) Unwrap() error { return e.err }

// within puts a segment before the path of an error.
func within(segment string, err error) error {
	if e, ok := err.(*pathError); ok {
		return &pathError{segment + e.path, e.err}
	}
	return &pathError{segment, err}
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,39}$`)

func keySegment(key string) string {
	if plainKey.MatchString(key) {
		return "." + key
	}
	return fmt.Sprintf("[%.40q]", key)
}

func indexSegment(i int) string { return "[" + strconv.Itoa(i) + "]" }

// halfPair returns where an escape stands for half of a surrogate pair, which a decoder would turn into U+FFFD; -1 if none does.
func halfPair(line []byte) int {
	unit := func(b []byte) uint64 {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return 0
		}
		n, _ := strconv.ParseUint(string(b[2:6]), 16, 16) // a wrong one is no JSON
		return n
	}
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		switch n := unit(line[i:]) >> 10; {
		case n == 0xD800>>10 && unit(line[i+6:])>>10 == 0xDC00>>10:
			i += 11
		case n == 0xD800>>10 || n == 0xDC00>>10:
			return i
		default:
			i++ // what is escaped
		}
	}
	return -1
}
