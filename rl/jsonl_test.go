package rl

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func readAll(r io.Reader) (out []Trajectory, err error) {
	for t, err := range ReadTrajectories(r) {
		if err != nil {
			return out, err
		}
		out = append(out, t)
	}
	return out, nil
}

// bitwise compares floats by their bits, so that -0 is not 0.
var bitwise = cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })}

func TestWriteTrajectories(t *testing.T) {
	batch := []Trajectory{
		{ID: "a", Group: "g<1>&", Task: "t", Split: "train", FinalState: "s1", FinalValue: new(math.Copysign(0, -1)), Success: new(false), Turns: []Turn{
			{State: "s0\u2028", Tokens: []Token{{ID: 3, Trainable: true, LogProb: -.1, RefLogProb: -.2, Value: .3}}, Reward: 0.30000000000000004, Invalid: true},
			{Value: 1e-300, QValue: math.MaxFloat64, End: Truncated, Excluded: true},
		}},
		{Excluded: "crashed"},
	}
	var b bytes.Buffer
	if err := WriteTrajectories(&b, batch); err != nil {
		t.Fatal(err)
	}
	want := `{"id":"a","group":"g<1>&","task":"t","split":"train","final_state":"s1","final_value":-0,"success":false,"turns":[` +
		`{"state":"s0\u2028","invalid":true,"tokens":[{"id":3,"trainable":true,"logprob":-0.1,"ref_logprob":-0.2,"value":0.3}],"reward":0.30000000000000004},` +
		`{"end":"truncated","excluded":true,"value":1e-300,"qvalue":1.7976931348623157e+308}]}` + "\n" +
		`{"excluded":"crashed","turns":[]}` + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err := readAll(iotest.OneByteReader(&b))
	if diff := cmp.Diff(batch, got, bitwise); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// What is written is read back bit for bit.
func TestRoundTrip(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 5e-324, 1e21, 1e-7}))
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		for i := range batch {
			b := &batch[i]
			b.FinalState = rapid.String().Draw(t, "state")
			if rapid.Bool().Draw(t, "no final value") {
				b.FinalValue = nil
			}
			for k := range b.Turns {
				u := &b.Turns[k]
				u.Reward, u.Value, u.QValue = number.Draw(t, "reward"), number.Draw(t, "value"), number.Draw(t, "q")
				u.State = rapid.String().Draw(t, "state")
				if u.Tokens[0].LogProb = number.Draw(t, "logprob"); u.Tokens[0].LogProb > 0 {
					u.Tokens[0].LogProb *= -1
				}
				u.Tokens[0].ID = rapid.Int().Draw(t, "id")
			}
		}
		var b bytes.Buffer
		if err := WriteTrajectories(&b, batch); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(&b)
		if diff := cmp.Diff(batch, got, bitwise); diff != "" || err != nil {
			t.Fatalf("error %v (-want +got):\n%s", err, diff)
		}
	})
}

func TestReadErrors(t *testing.T) {
	ok := `{"turns":[{"end":"terminated"}]}`
	tests := []struct{ name, in, text string }{
		{"syntax", ok + "\n{", "rl: line 2: unexpected end of JSON input"},
		{"after the object", ok + " 1", "rl: line 1: invalid character '1'"},
		{"unknown field", "\n \n" + `{"turns":[{"end":"terminated","rewrad":1}]}`, `rl: line 3: unknown field "rewrad" at byte 31`},
		{"spelling", `{"Turns":[{"end":"terminated"}]}`, `unknown field "Turns"`},
		{"field of another object", `{"turns":[{"end":"terminated","turns":[]}]}`, `unknown field "turns"`},
		{"twice", `{"turns":[{"end":"terminated","reward":1,"reward":2}]}`, `field "reward" a second time`},
		{"null", `{"turns":[{"end":"terminated","reward":null}]}`, "null at byte 39"},
		{"too deep", `{"turns":[{"tokens":[{"id":{"id":1}}]}]}`, "nested too deep"},
		{"end", `{"turns":[{"end":"done"}]}`, `End is "done"`},
		{"end as a number", `{"turns":[{"end":1}]}`, "cannot unmarshal number"},
		{"open", ok + "\n" + `{"turns":[{}]}`, "line 2: rl: trajectory 1, turn 0: End is continue"},
		{"no turns", `{}`, "trajectory 0: Turns is empty"},
		{"overflow", `{"turns":[{"end":"terminated","reward":1e999}]}`, "1e999"},
		{"fraction", `{"turns":[{"end":"terminated","tokens":[{"id":1.5}]}]}`, "1.5"},
		{"UTF-8", "{\"id\":\"\xff\"}", "invalid UTF-8"},
		{"array", `[]`, "cannot unmarshal array"},
		{"quote", `"`, "unexpected end"},
		{"braces", `}}}}{`, "invalid character"},
		{"many elements", `{"turns":[` + strings.Repeat("1,", maxCommas+1) + `1]}`, "more than 1048576 commas"},
	}
	for _, tt := range tests {
		_, err := readAll(strings.NewReader(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.text) || !strings.HasPrefix(err.Error(), "rl: line ") {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
	}
	if _, err := readAll(io.MultiReader(strings.NewReader(ok+"\n"), endless{})); err == nil || !strings.Contains(err.Error(), "line 2: longer than") {
		t.Errorf("endless line: %v", err)
	}
	padded := ok + strings.Repeat(" ", 64<<20-len(ok)) // as long as documented, and one more
	if got, err := readAll(strings.NewReader(padded + "\n" + padded + " \n")); len(got) != 1 || err == nil || !strings.Contains(err.Error(), "line 2: longer than 67108864 bytes") {
		t.Errorf("long lines: %d trajectories, %v", len(got), err)
	}
	broken := errors.New("broken")
	if got, err := readAll(io.MultiReader(strings.NewReader(ok+"\n"), iotest.ErrReader(broken))); !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("reader's error: got %d trajectories and %v", len(got), err)
	}
	n := 0
	for range ReadTrajectories(strings.NewReader(ok + "\n" + ok + "\n{")) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("stopping early yields %d trajectories", n)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	good := episode(Terminated, []float64{1}, nil)
	excluded := func(u Turn) Trajectory { return Trajectory{Excluded: "x", Turns: []Turn{u}} }
	tests := []struct {
		name string
		bad  Trajectory
		text string
	}{
		{"open", Trajectory{Turns: []Turn{{}}}, "trajectory 1, turn 0: End"},
		{"text", Trajectory{Turns: good.Turns, Group: "\xff"}, `trajectory 1: Group is "\xff", want valid UTF-8`},
		{"state", Trajectory{Turns: []Turn{{End: Terminated, State: "\xc0"}}}, "trajectory 1, turn 0: State"},
		{"unread token", Trajectory{Turns: []Turn{{End: Terminated, Tokens: []Token{{LogProb: math.Inf(-1)}}}}},
			"Tokens[0]"},
		{"unread final value", withFinal(good, math.NaN()), "FinalValue is NaN"},
		{"unread reward", excluded(Turn{Reward: math.NaN()}), "turn 0: Reward is NaN"},
		{"unread value", excluded(Turn{Value: math.Inf(1)}), "turn 0: Value is +Inf"},
		{"unread Q", excluded(Turn{QValue: math.NaN()}), "turn 0: QValue is NaN"},
		{"unread end", excluded(Turn{End: 5}), "turn 0: End is End(5)"},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		err := WriteTrajectories(&b, []Trajectory{good, tt.bad})
		if err == nil || !strings.Contains(err.Error(), tt.text) || b.Len() > 0 {
			t.Errorf("%s: got %v after %d bytes, want %q after none", tt.name, err, b.Len(), tt.text)
		}
	}
	if err := WriteTrajectories(failing{}, []Trajectory{good}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("writer's error: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// The names that checkFields takes are those of the structs.
func TestFieldNames(t *testing.T) {
	for depth, typ := range []reflect.Type{reflect.TypeFor[Trajectory](), reflect.TypeFor[Turn](), reflect.TypeFor[Token]()} {
		var want []string
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want = append(want, name)
		}
		if diff := cmp.Diff(want, fieldNames[depth]); diff != "" {
			t.Errorf("%v (-want +got):\n%s", typ, diff)
		}
	}
}

// Whatever is read is valid, and writing and reading it gives the same again.
func FuzzReadTrajectories(f *testing.F) {
	f.Add([]byte(`{"id":"a","turns":[{"tokens":[{"id":1,"trainable":true,"logprob":-0.5}],"reward":-0,"end":"terminated"}]}` + "\n"))
	f.Add([]byte(`{"turns":[{"end":"truncated"}],"final_value":1e300,"success":true}` + "\n\n" + `{"excluded":"x"}`))
	f.Add([]byte(`{"turns":[{"state":"a\"},{","end":"terminated"}]}`))
	f.Add([]byte(`{"turns":[{"reward":null}]}`))
	f.Add([]byte(`{"a`))
	f.Fuzz(func(t *testing.T, data []byte) {
		batch, err := readAll(bytes.NewReader(data))
		if err != nil && !strings.HasPrefix(err.Error(), "rl: line ") {
			t.Fatal(err)
		}
		if err := Validate(batch); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteTrajectories(&b, batch); err != nil {
			t.Fatal(err)
		}
		again, err := readAll(&b)
		if diff := cmp.Diff(batch, again, bitwise); diff != "" || err != nil {
			t.Fatalf("error %v (-first +again):\n%s", err, diff)
		}
	})
}

// A reader that breaks off is reported as such, not as bad JSON.
func TestReadTrajectoriesBrokenReader(t *testing.T) {
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("\n"+`{"id":"a","turns":[{"rew`), iotest.ErrReader(broken))
	for _, err := range ReadTrajectories(r) {
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("error %v, want the reader's on line 2", err)
		}
	}
}

// The tokens that could be drawn survive; a nil list among them, which JSON would make a null, comes back as an empty one and means the same.
func TestRoundTripAllowed(t *testing.T) {
	turn := Turn{Tokens: []Token{{ID: 4, Trainable: true}, {ID: 6, Trainable: true}}, Allowed: [][]int{nil, {5, 6}}, End: Terminated}
	batch := []Trajectory{{Turns: []Turn{turn}}}
	var b bytes.Buffer
	if err := WriteTrajectories(&b, batch); err != nil {
		t.Fatal(err)
	}
	if batch[0].Turns[0].Allowed[0] != nil {
		t.Error("writing changed the batch")
	}
	for got, err := range ReadTrajectories(&b) {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]int{{}, {5, 6}}, got.Turns[0].Allowed); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
