package skill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// readAll returns the trajectories before the first error, and checks that nothing comes after it.
func readAll(t interface{ Fatalf(string, ...any) }, r io.Reader) ([]Trajectory, error) {
	var out []Trajectory
	var fault error
	for traj, err := range ReadTrajectories(r) {
		if fault != nil {
			t.Fatalf("%v, %v after the error %v", traj, err, fault)
		}
		if fault = err; err == nil {
			out = append(out, traj)
		}
	}
	return out, fault
}

func TestReadTrajectories(t *testing.T) {
	in := "\n" + `{"task_id":"t1","task":"x","steps":[]}` + "\r\n \t\n" +
		` {"id":"e1","group":"g","reward":0.5,"task":"Refund \ud83d\ude00\ufffd\\ud800","task_id":"","steps":[{},{"name":"wait","args":{}},` +
		`{"name":"f","args":{"b":null,"a":[1,12345678901234567890,{"x y":true,"":"é"}]},"err":true,"thought":"t","marker":"m","observation":"o"},{"name":"go"}]} `
	want := []Trajectory{
		{TaskID: "t1", Task: "x", Steps: []Step{}},
		{ID: "e1", Group: "g", Reward: new(0.5), Task: "Refund \U0001F600\uFFFD\\ud800", Steps: []Step{
			{}, {Name: "wait", Args: map[string]any{}},
			{Name: "f", Err: true, Thought: "t", Marker: "m", Observation: "o", Args: map[string]any{
				"b": nil, "a": []any{json.Number("1"), json.Number("12345678901234567890"), map[string]any{"x y": true, "": "é"}}}},
			{Name: "go"},
		}},
	}
	got, err := readAll(t, strings.NewReader(in))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for traj := range ReadTrajectories(strings.NewReader(in)) {
		if diff := cmp.Diff(want[0], traj); diff != "" {
			t.Errorf("the first alone (-want +got):\n%s", diff)
		}
		break
	}
	// What is read can be induced from, and no digit is lost.
	digits := `{"task_id":"t1","task":"Refund it","steps":[{"name":"get","args":{"id":12345678901234567891}},{"name":"say 12345678901234567891"}]}`
	if got, err = readAll(t, strings.NewReader(digits)); err != nil {
		t.Fatal(err)
	}
	reply := withText("Refund", "- Procedure: say 12345678901234567891 → b")
	d, err := Induce(context.Background(), got[0], Span{0, 2}, &InduceOptions{Generate: (&scripted{replies: []string{reply}}).reply})
	if err != nil || len(d.Leaks) != 1 || d.Leaks[0] != "12345678901234567891" {
		t.Errorf("%v, %v, want the number as it is", d, err)
	}
}

func TestReadTrajectoriesRefuses(t *testing.T) {
	line := func(steps string) string { return `{"task_id":"t","task":"x","steps":[` + steps + `]}` }
	with := func(field string) string { return `{"task_id":"t","task":"x","steps":[],` + field + `}` }
	nested := func(n int) string {
		return line(`{"name":"f","args":{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}`)
	}
	for _, c := range []struct {
		line   string
		want   string // of the error after the line; empty for a line that is read
		reason string
	}{
		{line(""), "", "the shortest"},
		{`{}`, "task_id is missing", "nothing"},
		{`{"task_id":"t","steps":[]}`, "task is missing", "no task"},
		{`{"task_id":"t","task":"x"}`, "steps is missing", "no steps"},
		{`[]`, "the object is a list, want an object", "a list"},
		{`null`, "the object is null, want an object", "null"},
		{`7`, "the object is a number, want an object", "a number"},
		{with(`"taskid":"t"`), "taskid is unknown, want one of id, task_id, task, group, steps, reward", "an unknown key"},
		{with(`"ID":"t"`), "ID is unknown", "keys have one spelling"},
		{with(`"a key":1`), `["a key"] is unknown`, "a key that is no name"},
		{with(`"task":"y"`), "task stands twice in one object", "a key twice"},
		{with(`"\u0074ask":"y"`), "task stands twice in one object", "a key twice, once in disguise"},
		{with(`"id":7`), "id is a number, want a text", "wrong type"},
		{with(`"group":null`), "group is null, want a text", "null is no text"},
		{`{"task_id":"t","task":"x","steps":null}`, "steps is null, want a list", "nor a list"},
		{`{"task_id":"t","task":"x","steps":{}}`, "steps is an object, want a list", "wrong type"},
		{with(`"reward":"1"`), "reward is a text, want a number", "wrong type"},
		{with(`"reward":null`), "reward is null, want a number", "null is no number"},
		{with(`"reward":1.01`), "reward is 1.01, want 0 to 1", "above 1"},
		{with(`"reward":-1e-9`), "reward is -1e-9, want 0 to 1", "below 0"},
		{with(`"reward":1e999`), "reward is 1e999, want 0 to 1", "beyond all numbers"},
		{with(`"reward":NaN`), "invalid character 'N'", "no JSON"},
		{with(`"reward":1`), "", "solved"},
		{with(`"reward":0`), "", "not solved"},
		{line(`{},7`), "steps[1] is a number, want an object", "a step of a wrong type"},
		{line(`{"action":"go"}`), "steps[0].action is unknown, want one of thought, name, args, observation, err, marker", "an unknown key of a step"},
		{line(`{},{"name":"a","name":"b"}`), "steps[1].name stands twice in one object", "a key of a step twice"},
		{line(`{"thought":[]}`), "steps[0].thought is a list, want a text", "wrong type"},
		{line(`{"name":{}}`), "steps[0].name is an object, want a text", "wrong type"},
		{line(`{"observation":true}`), "steps[0].observation is true or false, want a text", "wrong type"},
		{line(`{"marker":null}`), "steps[0].marker is null, want a text", "wrong type"},
		{line(`{"err":"no"}`), "steps[0].err is a text, want true or false", "wrong type"},
		{line(`{"err":null}`), "steps[0].err is null, want true or false", "wrong type"},
		{line(`{"name":"f","args":"x"}`), "steps[0].args is a text, want an object", "wrong type"},
		{line(`{"name":"f","args":null}`), "steps[0].args is null, want an object", "null is no object"},
		{line(`{"args":{"a":1}}`), "steps[0].args has no name beside it", "arguments of no tool"},
		{line(`{"name":" ","args":{}}`), "steps[0].args has no name beside it", "arguments of a blank tool"},
		{line(`{"name":"f","args":{"a":[0,{"b":1,"b":2}]}}`), "steps[0].args.a[1].b stands twice in one object", "a key twice in an argument"},
		{nested(96), "", "100 in one another: the object, the list, the step and args are 4 of them"},
		{nested(97), "is a list or an object inside 100 others, want fewer", "deep"},
		{nested(1 << 20), "exceeded max depth", "so deep that a walk would exhaust the stack"},
		{line(`{"name":"f","args":{"a":[` + strings.Repeat("0,", 1<<20) + `0]}}`), "is beyond the first 1048576 values of the line", "many values"},
		{line("") + line(""), "after top-level value", "two objects"},
		{line("") + " done", "after top-level value", "trailing data"},
		{line("")[:30], "unexpected end", "cut short"},
		{line(`{"name":"\ud800 x"}`), "half of a surrogate pair at byte", "the first half alone"},
		{line(`{"name":"x \udc00"}`), "half of a surrogate pair at byte", "the second half alone"},
		{line(`{"name":"\udc00\ud800"}`), "half of a surrogate pair at byte", "in the wrong order"},
		{line(`{"name":"\ud800\ud800\udc00"}`), "half of a surrogate pair at byte", "a half before a pair"},
		{line(`{"name":"\\\ud800"}`), "half of a surrogate pair at byte", "after a backslash"},
		{line(`{"name":"` + "\xff" + `"}`), "invalid UTF-8", "a wrong byte"},
		{line(`{"` + "\xed\xa0\x80" + `":1}`), "invalid UTF-8", "half of a pair as bytes"},
		{"\ufeff" + line(""), "invalid character", "a byte order mark"},
	} {
		good := line(`{"name":"a"}`)
		got, err := readAll(t, strings.NewReader(good+"\n\n"+c.line+"\n"+good+"\n"))
		if c.want == "" {
			if err != nil || len(got) != 3 {
				t.Errorf("%.80s (%s): %d trajectories, %v", c.line, c.reason, len(got), err)
			}
			continue
		}
		if len(got) != 1 || err == nil || !strings.HasPrefix(err.Error(), "skill: trajectories: line 3: ") || !strings.Contains(err.Error(), c.want) ||
			len(err.Error()) > 400 || c.reason == "" {
			t.Errorf("%.80s (%s): %d trajectories, %.600v, want %q", c.line, c.reason, len(got), err, c.want)
		}
	}
	broken := errors.New("cable cut")
	if got, err := readAll(t, io.MultiReader(strings.NewReader(line("")+"\n"), iotest.ErrReader(broken))); len(got) != 1 || !errors.Is(err, broken) {
		t.Errorf("%v, %v, want the error of the reader", got, err)
	}
	if testing.Short() {
		return
	}
	long := io.MultiReader(strings.NewReader(line("")+"\n\""), io.LimitReader(spaces{}, maxTrajectoryLine))
	if got, err := readAll(t, long); len(got) != 1 || err == nil || err.Error() != "skill: trajectories: line 2: longer than 67108864 bytes" {
		t.Errorf("%v, %.200v, want a line that is too long", got, err)
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// What json.Marshal writes is read as it was.
func TestTrajectoriesRoundTrip(t *testing.T) {
	text := rapid.Map(rapid.OneOf(rapid.SampledFrom([]string{"", "a\nb", "\u2028<&>\x00", "\\ud800", "\uFFFD"}), rapid.String()), valid)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		return rapid.Custom(func(t *rapid.T) any {
			switch rapid.IntRange(0, 4+min(depth, 2)).Draw(t, "kind") {
			case 0:
				return nil
			case 1:
				return rapid.Bool().Draw(t, "bool")
			case 2:
				return json.Number(fmt.Sprint(rapid.Int64().Draw(t, "number")))
			case 3, 4:
				return text.Draw(t, "text")
			case 5:
				return rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "list")
			}
			return map[string]any(rapid.MapOfN(text, value(depth-1), 0, 3).Draw(t, "object"))
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		var want []Trajectory
		var file bytes.Buffer
		for range rapid.IntRange(0, 3).Draw(t, "trajectories") {
			x := Trajectory{ID: text.Draw(t, "id"), TaskID: text.Draw(t, "task id"), Task: text.Draw(t, "task"), Group: text.Draw(t, "group"), Steps: []Step{}}
			if rapid.Bool().Draw(t, "has reward") {
				x.Reward = new(rapid.Float64Range(0, 1).Draw(t, "reward"))
			}
			for range rapid.IntRange(0, 3).Draw(t, "steps") {
				s := Step{Thought: text.Draw(t, "thought"), Name: text.Draw(t, "name"), Observation: text.Draw(t, "observation"),
					Marker: text.Draw(t, "marker"), Err: rapid.Bool().Draw(t, "err")}
				if rapid.Bool().Draw(t, "structured") {
					s.Name += "f"
					s.Args = map[string]any(rapid.MapOfN(text, value(2), 0, 3).Draw(t, "args"))
				}
				x.Steps = append(x.Steps, s)
			}
			b, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			file.Write(append(b, '\n'))
			want = append(want, x)
		}
		got, err := readAll(t, &file)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// Whatever is read can be written and is read again as it is; errors name a line and are short.
func FuzzReadTrajectories(f *testing.F) {
	for _, s := range []string{
		`{"task_id":"t","task":"x","steps":[{"name":"f","args":{"a":[1e400,{"b":null}]},"err":true}],"reward":0.5}`, "\n{}\n", `{"task_id":"t","task":"x","steps":[]}{}`,
		`{"task_id":"\ud83d\ude00","task":"\ud800","steps":[]}`, "\xff", `{"a":{"a":{"a":1,"a":2}}}`, `[[[[`, `{"task_id":"","task":"","steps":[{"args":{}}]}`, `{"":`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := readAll(t, strings.NewReader(s))
		if err != nil && (!strings.HasPrefix(err.Error(), "skill: trajectories: line ") || len(err.Error()) > 1_000) {
			t.Fatalf("%.2000v", err)
		}
		var file bytes.Buffer
		for _, x := range got {
			if x.Steps == nil || x.Reward != nil && !(*x.Reward >= 0 && *x.Reward <= 1) {
				t.Fatalf("%+v", x)
			}
			b, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			file.Write(append(b, '\n'))
		}
		again, err := readAll(t, &file)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Fatalf("%v (-first +second):\n%s", err, diff)
		}
	})
}

func BenchmarkReadTrajectories(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("steps/%d", n), func(b *testing.B) {
			traj := Trajectory{Steps: make([]Step, n)}
			for i := range traj.Steps {
				traj.Steps[i] = Step{Name: "get_order", Args: map[string]any{"order_id": i}, Observation: strings.Repeat("delivered ", 20)}
			}
			line, err := json.Marshal(traj)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := readAll(b, bytes.NewReader(line)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
