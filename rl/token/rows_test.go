package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/rl"
)

// bitwise compares floats by their bits, so that NaN is NaN and -0 is not 0.
var bitwise = cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })}

func readAll(r io.Reader) (out []Row, err error) {
	for row, err := range ReadRows(r) {
		if err != nil {
			return out, err
		}
		out = append(out, row)
	}
	return out, nil
}

func TestFromRows(t *testing.T) {
	mask := func(s string) Row { return row(s, nil) }
	tok := func(s string) (list []rl.Token) {
		for _, m := range s {
			list = append(list, rl.Token{Trainable: m == '1'})
		}
		return list
	}
	end := func(list ...rl.Turn) []rl.Turn {
		list[len(list)-1].End = rl.Terminated
		return list
	}
	step := func(id string, n int, r Row) Row { r.ID, r.Step = id, &n; return r }
	full := Row{
		ID: "a", Group: "g", Task: "t", Split: "s", End: rl.Truncated, FinalState: "f", FinalValue: new(2.), Success: new(false), Drop: "d",
		IDs: []int{5, 6, 7}, Mask: []bool{false, true, true}, LogProbs: []float64{0, -1, -2}, RefLogProbs: []float64{0, -3, -4}, Values: []float64{1, 2, 3},
		Turns: []int{0, 0, 1}, States: []string{"s0", "s1"}, TurnRewards: []float64{1, 2}, TurnValues: []float64{3, 4}, TurnQValues: []float64{5, 6},
		Invalid: []bool{true, false}, Excluded: []bool{false, true},
	}
	tests := []struct {
		name   string
		rows   []Row
		want   []rl.Trajectory
		reason string
	}{
		{"all fields", []Row{full}, []rl.Trajectory{{ID: "a", Group: "g", Task: "t", Split: "s", FinalState: "f", FinalValue: new(2.), Success: new(false), Excluded: "d", Turns: []rl.Turn{
			{State: "s0", Reward: 1, Value: 3, QValue: 5, Invalid: true, Tokens: []rl.Token{{ID: 5, Value: 1}, {ID: 6, Trainable: true, LogProb: -1, RefLogProb: -3, Value: 2}}},
			{State: "s1", Reward: 2, Value: 4, QValue: 6, Excluded: true, End: rl.Truncated, Tokens: []rl.Token{{ID: 7, Trainable: true, LogProb: -2, RefLogProb: -4, Value: 3}}},
		}}}, "each field has its place"},
		{"turns of a mask", []Row{mask("0011010")}, []rl.Trajectory{{Turns: end(rl.Turn{Tokens: tok("0011")}, rl.Turn{Tokens: tok("010")})}},
			"a turn begins at a masked token after a trainable one, unless none follows"},
		{"padding", []Row{mask("1100")}, []rl.Trajectory{{Turns: end(rl.Turn{Tokens: tok("1100")})}}, "one turn, padded"},
		{"no trainable token", []Row{mask("00")}, []rl.Trajectory{{Turns: end(rl.Turn{Tokens: tok("00")})}}, "one turn"},
		{"token rewards", []Row{row("010011", nil, 1, 2, 4, 8, 16, 32)}, []rl.Trajectory{{Turns: end(rl.Turn{Tokens: tok("01"), Reward: 3}, rl.Turn{Tokens: tok("0011"), Reward: 60})}},
			"the sum over all tokens of the turn"},
		{"turns without tokens", []Row{turns(Row{Mask: []bool{true, true}, TurnRewards: []float64{1, 2, 3, 4, 5}}, 1, 3)},
			[]rl.Trajectory{{Turns: end(rl.Turn{Reward: 1}, rl.Turn{Reward: 2, Tokens: tok("1")}, rl.Turn{Reward: 3}, rl.Turn{Reward: 4, Tokens: tok("1")}, rl.Turn{Reward: 5})}},
			"counted by turn_rewards"},
		{"no tokens", []Row{{TurnRewards: []float64{1, 2}}}, []rl.Trajectory{{Turns: end(rl.Turn{Reward: 1}, rl.Turn{Reward: 2})}}, "turns alone"},
		{"steps", []Row{step("x", 7, mask("1")), step("y", 0, mask("11")), mask("01"), step("x", 3, mask("00110")), {ID: "x", Mask: []bool{true}}},
			[]rl.Trajectory{
				{ID: "x", Turns: end(rl.Turn{Tokens: tok("00110")}, rl.Turn{Tokens: tok("1")})},
				{ID: "y", Turns: end(rl.Turn{Tokens: tok("11")})},
				{Turns: end(rl.Turn{Tokens: tok("01")})},
				{ID: "x", Turns: end(rl.Turn{Tokens: tok("1")})},
			}, "in the order of step; without one a row is alone, whatever its id"},
		{"fields in any row", []Row{{ID: "x", Step: new(1), Mask: []bool{true}, Group: "g", Success: new(true)}, {ID: "x", Step: new(0), Mask: []bool{true}, End: rl.Truncated, FinalValue: new(3.), Group: "g"}},
			[]rl.Trajectory{{ID: "x", Group: "g", Success: new(true), FinalValue: new(3.), Turns: []rl.Turn{{Tokens: tok("1")}, {Tokens: tok("1"), End: rl.Truncated}}}},
			"they are of the trajectory"},
		{"dropped and empty", []Row{{Drop: "failed"}}, []rl.Trajectory{{Excluded: "failed"}}, "nobody reads it"},
		{"none", nil, []rl.Trajectory{}, "no rows"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		got, err := FromRows(tt.rows)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %s: error %v (-want +got):\n%s", tt.name, tt.reason, err, diff)
		}
	}
}

func TestFromRowsErrors(t *testing.T) {
	two := func(change func(*Row)) []Row {
		rows := []Row{{ID: "x", Step: new(0), Mask: []bool{true}}, {ID: "x", Step: new(1), Mask: []bool{true, false}}}
		change(&rows[1])
		return rows
	}
	tests := []struct {
		name string
		rows []Row
		want RowError
	}{
		{"ids", two(func(r *Row) { r.IDs = []int{1} }), RowError{1, "ids", -1, "1 long", "2 elements, one for each of mask"}},
		{"no mask", []Row{{IDs: []int{1}}}, RowError{0, "mask", -1, "missing", "1 elements, one for each of ids"}},
		{"values", two(func(r *Row) { r.Values = []float64{1, 2, 3} }), RowError{1, "values", -1, "3 long", "2 elements, one for each of mask"}},
		{"per turn", two(func(r *Row) { r.States, r.Invalid = []string{"a"}, []bool{true, true} }), RowError{1, "invalid", -1, "2 long", "1 elements, one for each of states"}},
		{"runs", two(func(r *Row) { r.TurnValues = []float64{1, 2} }), RowError{1, "turn_values", -1, "2 long", "1 elements, the turns that mask has, or turns to say where they are"}},
		{"both rewards", two(func(r *Row) { r.Rewards, r.TurnRewards = []float64{1, 2}, []float64{1} }), RowError{1, "turn_rewards", -1, "given", "either rewards or turn_rewards"}},
		{"falling", two(func(r *Row) { r.Turns = []int{0, -1} }), RowError{1, "turns", 1, "-1", "0 or more, turns from 0 that never fall"}},
		{"gap", two(func(r *Row) { r.Turns = []int{0, 2} }), RowError{1, "turns", 1, "2", "no turn left out, unless a field with one element a turn counts them"}},
		{"first", two(func(r *Row) { r.Turns = []int{1, 1} }), RowError{1, "turns", 0, "1", "no turn left out, unless a field with one element a turn counts them"}},
		{"too many", two(func(r *Row) { r.Turns, r.States = []int{0, 1 << 60}, []string{"a", "b"} }), RowError{1, "turns", 1, "1152921504606846976", "less than 2, the number of states"}},
		{"end", two(func(r *Row) { r.End = 9 }), RowError{1, "end", -1, "End(9)", "terminated or truncated"}},
		{"turn too large", []Row{{Mask: []bool{true, true}, Turns: []int{0, 1}, TurnRewards: []float64{1}}}, RowError{0, "turns", 1, "1", "less than 1, the number of turn_rewards"}},
		{"step", []Row{{Step: new(3), Mask: []bool{true}}}, RowError{0, "step", -1, "3", "an id beside it"}},
		{"same step", two(func(r *Row) { r.Step = new(0) }), RowError{1, "step", -1, "0", "another one than row 0, of the same id"}},
		{"empty", []Row{{}}, RowError{0, "mask", -1, "empty", "at least one token or turn in the trajectory"}},
	}
	for _, f := range []struct {
		field string
		a, b  Row
		got   string
		want  string
	}{
		{"group", Row{Group: "g"}, Row{Group: "h"}, `"h"`, `"g" as in another row of the trajectory`},
		{"task", Row{Task: "g"}, Row{Task: "h"}, `"h"`, `"g" as in another row of the trajectory`},
		{"split", Row{Split: "g"}, Row{Split: "h"}, `"h"`, `"g" as in another row of the trajectory`},
		{"end", Row{End: rl.Terminated}, Row{End: rl.Truncated}, `"truncated"`, `"terminated" as in another row of the trajectory`},
		{"final_state", Row{FinalState: "g"}, Row{FinalState: "h"}, `"h"`, `"g" as in another row of the trajectory`},
		{"final_value", Row{FinalValue: new(1.)}, Row{FinalValue: new(2.)}, "2", "1 as in another row of the trajectory"},
		{"success", Row{Success: new(true)}, Row{Success: new(false)}, "false", "true as in another row of the trajectory"},
		{"drop", Row{Drop: "g"}, Row{Drop: "h"}, `"h"`, `"g" as in another row of the trajectory`},
	} {
		f.a.ID, f.a.Step, f.a.Mask = "x", new(0), []bool{true}
		f.b.ID, f.b.Step, f.b.Mask = "x", new(1), []bool{true}
		tests = append(tests, struct {
			name string
			rows []Row
			want RowError
		}{"different " + f.field, []Row{f.a, f.b}, RowError{1, f.field, -1, f.got, f.want}})
	}
	for _, tt := range tests {
		batch, err := FromRows(tt.rows)
		var got *RowError
		if !errors.As(err, &got) || batch != nil {
			t.Errorf("%s: got %v and %v", tt.name, batch, err)
		} else if diff := cmp.Diff(tt.want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for want, err := range map[string]error{
		"token: row 3: ids[4] is x, want y": &RowError{3, "ids", 4, "x", "y"},
		"token: the row is x, want y":       &RowError{-1, "", -1, "x", "y"},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

// From rows of a batch the batch is built again, bit for bit.
func TestToRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		for i := range batch {
			b := &batch[i]
			b.Task, b.Split, b.FinalState = rapid.String().Draw(t, "task"), rapid.String().Draw(t, "split"), rapid.String().Draw(t, "final state")
			if rapid.Bool().Draw(t, "success") {
				b.Success = new(rapid.Bool().Draw(t, "verdict"))
			}
			if rapid.Bool().Draw(t, "no final value") {
				b.FinalValue = nil
			}
			for k := range b.Turns {
				u := &b.Turns[k]
				u.State = rapid.SampledFrom([]string{"", "s", "t"}).Draw(t, "state")
				u.Value, u.QValue = eighths(t, "V"), eighths(t, "Q")
			}
		}
		got, err := FromRows(ToRows(batch))
		if diff := cmp.Diff(batch, got, bitwise); diff != "" || err != nil {
			t.Fatalf("error %v (-want +got):\n%s", err, diff)
		}
	})
	got := ToRows([]rl.Trajectory{{Turns: []rl.Turn{{Reward: 1, End: rl.Terminated, Tokens: []rl.Token{{ID: 2}, {ID: 3, Trainable: true}}}}}, {Excluded: "open"}})
	want := []Row{{End: rl.Terminated, IDs: []int{2, 3}, Mask: []bool{false, true}, Turns: []int{0, 0}, TurnRewards: []float64{1}}, {Drop: "open"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is 0 throughout is left out (-want +got):\n%s", diff)
	}
}

// What a row can ask for is bounded.
func TestRowBounds(t *testing.T) {
	for _, tt := range []struct {
		row  Row
		want string
	}{
		{Row{Mask: make([]bool, maxTokens+1)}, "mask is 4194305 long, want at most 4194304 elements"},
		{Row{TurnRewards: make([]float64, maxTurns+1)}, "turn_rewards is 1048577 long, want at most 1048576 elements"},
	} {
		if _, err := FromRows([]Row{tt.row}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
	alternating := make([]bool, 2*maxTurns+2)
	for j := range alternating {
		alternating[j] = j%2 == 1
	}
	if _, err := FromRows([]Row{{Mask: alternating}}); err == nil || !strings.Contains(err.Error(), "mask is of 1048577 turns, want at most 1048576") {
		t.Errorf("too many turns by the mask: %v", err)
	}
	if _, err := (&Row{Mask: make([]bool, maxTokens), TurnRewards: make([]float64, 1)}).starts(0); err != nil {
		t.Error(err)
	}
}

func TestSetCredit(t *testing.T) {
	rows := []Row{
		{ID: "x", Step: new(1), Mask: []bool{false, true, true}, Returns: []float64{9}, ValueTargets: []float64{9}},
		{ID: "z", Mask: []bool{true, false}, Drop: "no"},
		{ID: "x", Step: new(0), Mask: []bool{true, false, true}},
	}
	batch := mustBatch(t, rows...)
	c, err := rl.NewCredit(nil, batch)
	if err != nil {
		t.Fatal(err)
	}
	copy(c.Advantage, []float64{1, 2, 3})
	c.QTarget = []float64{4, 5, 6, 0}
	if err := SetCredit(rows, batch, c); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(rows)
	want[0].Advantages, want[0].TurnAdvantages, want[0].QTargets, want[0].Returns, want[0].ValueTargets = []float64{0, 3, 3}, []float64{3}, []float64{6}, nil, nil
	want[1].Advantages, want[1].TurnAdvantages, want[1].QTargets, want[1].NoVote = []float64{0, 0}, []float64{0}, []float64{0}, "no"
	want[2].Advantages, want[2].TurnAdvantages, want[2].QTargets = []float64{1, 0, 2}, []float64{1, 2}, []float64{4, 5}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("credit per turn (-want +got):\n%s", diff)
	}
	c.TokenAdvantage, c.TokenTarget, c.QTarget, c.ValueTarget = []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, nil, []float64{1, 2, 3, 4}
	if err := SetCredit(rows, batch, c); err != nil {
		t.Fatal(err)
	}
	for i, w := range [][4][]float64{
		{{0, 3, 4}, {0, 8, 9}, {3}, nil},
		{{0, 0}, {10, 0}, {4}, nil}, // no vote, whatever the credit says
		{{1, 0, 2}, {6, 0, 7}, {1, 2}, nil},
	} {
		got := [4][]float64{rows[i].Advantages, rows[i].Returns, rows[i].ValueTargets, rows[i].QTargets}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("credit per token, row %d (-want +got):\n%s", i, diff)
		}
	}

	before := slices.Clone(rows)
	fresh := func(change func(*rl.Credit)) *rl.Credit {
		c, err := rl.NewCredit(nil, batch)
		if err != nil {
			t.Fatal(err)
		}
		change(c)
		return c
	}
	longer := slices.Clone(batch)
	longer[0].Turns = append(slices.Clone(longer[0].Turns[:2]), rl.Turn{Tokens: longer[0].Turns[2].Tokens}, rl.Turn{End: rl.Terminated})
	other := slices.Clone(batch)
	other[0].Turns = slices.Clone(other[0].Turns)
	other[0].Turns[0].Tokens = []rl.Token{{}}
	shorter := slices.Clone(batch)
	shorter[0].Turns = []rl.Turn{{End: rl.Terminated, Tokens: batch[0].Turns[0].Tokens}}
	twins := mustBatch(t, Row{ID: "x", Mask: []bool{true, true}}, Row{ID: "z", Mask: []bool{true, true}})
	for name, bad := range map[string]struct {
		rows  []Row
		batch []rl.Trajectory
		c     *rl.Credit
		text  string
	}{
		"nil":              {rows, batch, nil, "another batch"},
		"no reasons":       {rows, batch, fresh(func(c *rl.Credit) { c.NoVote = nil }), "another batch"},
		"another batch":    {rows, batch[:1], c, "another batch"},
		"fewer rows":       {rows[:1], batch, c, "the rows have 1 trajectories, the batch 2"},
		"value targets":    {rows, batch, fresh(func(c *rl.Credit) { c.ValueTarget = []float64{1} }), "another batch"},
		"Q targets":        {rows, batch, fresh(func(c *rl.Credit) { c.QTarget = []float64{1} }), "another batch"},
		"token targets":    {rows, batch, fresh(func(c *rl.Credit) { c.TokenTarget = []float64{1} }), "another batch"},
		"token advantages": {rows, batch, fresh(func(c *rl.Credit) { c.TokenAdvantage = []float64{} }), "another batch"},
		"changed places":   {[]Row{{ID: "z", Mask: []bool{true, true}}, {ID: "x", Mask: []bool{true, true}}}, twins, nil, "row 0 is not the one that trajectory 0"},
		"same step":        {[]Row{rows[0], rows[1], rows[0]}, batch, c, "another one than row 0"},
		"bad row":          {[]Row{rows[0], {Mask: []bool{true}, IDs: []int{1, 2}}, rows[2]}, batch, c, "ids is 2 long"},
		"more turns":       {rows, longer, nil, "trajectory 0 has 1 turns more than its rows"},
		"fewer turns":      {rows, shorter, nil, "row 2 is not the one that trajectory 0 was built from"},
		"other tokens":     {rows, other, nil, "row 2 is not the one that trajectory 0 was built from"},
		"longer mask":      {[]Row{rows[0], {ID: "z", Mask: []bool{true, false, false}}, rows[2]}, batch, c, "row 1 is not the one that trajectory 1"},
		"other mask":       {[]Row{rows[0], {Mask: []bool{false, true}}, rows[2]}, batch, c, "row 1 is not the one that trajectory 1"},
	} {
		if bad.c == nil && name != "nil" {
			if bad.c, err = rl.NewCredit(nil, bad.batch); err != nil {
				t.Fatal(err)
			}
		}
		if err := SetCredit(bad.rows, bad.batch, bad.c); err == nil || !strings.Contains(err.Error(), bad.text) {
			t.Errorf("%s: got %v, want %q", name, err, bad.text)
		}
		if diff := cmp.Diff(before, rows); diff != "" {
			t.Fatalf("%s: rows changed (-want +got):\n%s", name, diff)
		}
	}
}

// Rows, batches and results have no memory in common, and neither have the turns of a batch.
func TestNothingIsShared(t *testing.T) {
	rows := []Row{{Mask: []bool{true, true}, Values: []float64{1, 2}, Turns: []int{0, 1}, FinalValue: new(3.), Success: new(true)}}
	batch := mustBatch(t, rows...)
	back := ToRows(batch)
	*batch[0].FinalValue, *batch[0].Success = 7, false
	batch[0].Turns[0].Tokens = append(batch[0].Turns[0].Tokens, rl.Token{ID: 9})
	if batch[0].Turns[1].Tokens[0].ID != 0 {
		t.Error("appending to a turn changes the next")
	}
	for _, r := range []Row{rows[0], back[0]} {
		if *r.FinalValue != 3 || !*r.Success {
			t.Errorf("the row has %v and %v of the batch", *r.FinalValue, *r.Success)
		}
	}
	batch = mustBatch(t, rows...)
	c, err := GAE(nil, batch, &GAEOptions{Norm: rl.Norm{Std: rl.StdOff}})
	if err != nil {
		t.Fatal(err)
	}
	c.ValueTarget, c.QTarget = []float64{1, 2}, []float64{3, 4}
	if err := SetCredit(rows, batch, c); err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(rows[0].TurnAdvantages)
	for _, x := range [][]float64{c.Advantage, c.TokenAdvantage, c.TokenTarget, c.ValueTarget, c.QTarget} {
		clear(x)
	}
	got := [][]float64{rows[0].TurnAdvantages, rows[0].Advantages, rows[0].Returns, rows[0].ValueTargets, rows[0].QTargets}
	if diff := cmp.Diff([][]float64{before, before, {0, 0}, {1, 2}, {3, 4}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every estimator of package rl reaches the rows: what stands there is the credit of the walk over the batch.
func TestSetCreditWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyBatch(t)
		rows := ToRows(batch)
		c, err := rl.GRPO(nil, batch, nil)
		if rapid.Bool().Draw(t, "tokens") {
			c, err = GAE(nil, batch, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := SetCredit(rows, batch, c); err != nil {
			t.Fatal(err)
		}
		got, perTurn := []float64{}, []float64{}
		for _, r := range rows {
			for j, m := range r.Mask {
				switch {
				case m:
					got = append(got, r.Advantages[j])
				case r.Advantages[j] != 0 || r.Returns != nil && r.Returns[j] != 0:
					t.Fatalf("token %d is masked and has an advantage or a return: %+v", j, r)
				}
			}
			perTurn = append(perTurn, r.TurnAdvantages...)
		}
		if diff := cmp.Diff(c.TokenAdvantages([]float64{}, batch), got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(c.Advantage, perTurn, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("per turn (-want +got):\n%s", diff)
		}
	})
}

// The names that are read and written are those of the tags, in their order.
func TestColumns(t *testing.T) {
	var want, got []string
	for f := range reflect.TypeFor[Row]().Fields() {
		if name := f.Tag.Get("json"); name != "-" {
			want = append(want, name)
		}
	}
	var r Row
	for _, c := range columns(&r) {
		got = append(got, c.name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A line as Python writes it, with a column of the trainer's own, survives.
func TestReadRows(t *testing.T) {
	in := "\n" + `{"id": "a", "step": 0, "group": null, "end": "truncated", "final_value": -0.0, "success": 1, "ids": [5, 6], "mask": [0.0, 1.0], "logprobs": [], ` +
		`"values": [0.1, 1e-07], "turns": [0, 0], "invalid": [true], "excluded": [0], "states": ["\u00e9,]\"\ud83d\ude00"], "reward_model": {"style": "rule", "x": [1.50, null, "NaN <&>"]}, "a": 12345678901234567890123}` + "\r\n  \n"
	rows, err := readAll(iotest.OneByteReader(strings.NewReader(in)))
	want := []Row{{
		ID: "a", Step: new(0), End: rl.Truncated, FinalValue: new(math.Copysign(0, -1)), Success: new(true), IDs: []int{5, 6}, Mask: []bool{false, true},
		Values: []float64{.1, 1e-7}, Turns: []int{0, 0}, Invalid: []bool{true}, Excluded: []bool{false}, States: []string{"é,]\"😀"},
		Extra: map[string]json.RawMessage{"reward_model": json.RawMessage(`{"style": "rule", "x": [1.50, null, "NaN <&>"]}`), "a": json.RawMessage(`12345678901234567890123`)},
	}}
	if diff := cmp.Diff(want, rows, bitwise); diff != "" || err != nil {
		t.Fatalf("error %v (-want +got):\n%s", err, diff)
	}
	var out bytes.Buffer
	if err := WriteRows(&out, rows); err != nil {
		t.Fatal(err)
	}
	wantOut := `{"id":"a","step":0,"end":"truncated","final_value":-0.0,"success":true,"ids":[5,6],"mask":[0,1],"values":[0.1,1e-07],"turns":[0,0],` +
		`"states":["é,]\"😀"],"invalid":[true],"excluded":[false],"a":12345678901234567890123,"reward_model":{"style":"rule","x":[1.50,null,"NaN <&>"]}}` + "\n"
	if diff := cmp.Diff(wantOut, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var one Row
	if err := json.Unmarshal(out.Bytes(), &one); err != nil {
		t.Fatal(err)
	}
	marshalled, err := json.Marshal([]*Row{&one})
	var back []Row
	if err2 := json.Unmarshal(marshalled, &back); err != nil || err2 != nil || len(back) != 1 {
		t.Fatalf("got %s, %v, %v", marshalled, err, err2)
	}
	var line bytes.Buffer // json.Marshal escapes some characters
	if err := WriteRows(&line, back); err != nil || strings.ReplaceAll(line.String(), `\u003c\u0026\u003e`, "<&>") != wantOut {
		t.Errorf("through encoding/json: %v\n%s", err, &line)
	}
	if err := json.Unmarshal([]byte("null"), &one); err != nil || one.ID != "a" {
		t.Errorf("null: %v, %+v", err, one)
	}
	if err := json.Unmarshal([]byte(`{"mask":[2]}`), &one); err == nil || err.Error() != "token: mask[0] is 2, want 0, 1, false or true" || one.ID != "a" {
		t.Errorf("got %v, %+v", err, one)
	}
	if _, err := json.Marshal(Row{Values: []float64{nan}}); err == nil || !strings.Contains(err.Error(), "values[0] is NaN") {
		t.Errorf("got %v", err)
	}
}

func TestReadRowsErrors(t *testing.T) {
	ok := `{"mask": [1]}`
	tests := []struct{ name, in, text string }{
		{"NaN", ok + "\n\n" + `{"mask": [0, 1], "values": [0.5, NaN]}`, "token: line 3: token: row 1: values[1] is NaN, want a finite number, as JSON has no other (json.dumps with allow_nan=False finds it)"},
		{"Infinity", `{"mask": [0, 1], "final_value": -Infinity}`, "row 0: final_value is Infinity, want a finite"},
		{"NaN elsewhere", `{"mine": {"x": [1, {"y": NaN}]}}`, "mine[0] is NaN"},
		{"null element", `{"mask": [0, 1], "logprobs": [null, -1]}`, "row 0: logprobs[0] is null, want a finite number"},
		{"null in a mask", `{"mask": [0, null]}`, "mask[1] is null, want 0, 1, false or true"},
		{"text", `{"mask": [1], "values": ["a,b"]}`, `values[0] is "a, want a finite number`},
		{"nested", `{"mask": [1], "values": [[1,2]]}`, `values[0] is [1, want a finite number`},
		{"overflow", `{"mask": [1], "values": [1e999]}`, "values[0] is 1e999, want a finite number"},
		{"fraction", `{"mask": [1], "ids": [1.5]}`, "ids[0] is 1.5, want an integer"},
		{"not an array", `{"mask": 1}`, "mask is 1, want an array"},
		{"object", `{"mask": {"0": 1}}`, `mask is {"0": 1}, want an array`},
		{"step", `{"step": 1.0}`, "step is 1.0, want an integer"},
		{"string", `{"id": 7}`, "id is 7, want a string"},
		{"strings", `{"states": [7]}`, "states is [7], want an array of strings"},
		{"half a pair", `{"id": "a\ud800"}`, `id is "a\ud800", want a string of Unicode characters`},
		{"other half", `{"states": ["\\ud800", "\udfff\ud800"]}`, `want an array of strings of Unicode characters`},
		{"half a pair in a name", `{"\ud800": 1}`, "not Unicode"},
		{"success", `{"success": "yes"}`, `success is "yes", want 0, 1, false or true`},
		{"final value", `{"final_value": true}`, "final_value is true, want a finite number"},
		{"end", `{"end": "continue"}`, `end is "continue", want "terminated" or "truncated"`},
		{"twice", `{"mask": [1], "mask": [0]}`, "mask is given twice, want one value"},
		{"twice, null", `{"mask": null, "mask": [0]}`, "mask is given twice, want one value"},
		{"twice, escaped", `{"mine": 1, "\u006dine": 2}`, "mine is given twice, want one value"},
		{"many", "{" + strings.Repeat(`"x":1,`, 3) + "}", "x is given twice"},
		{"length", `{"mask": [1], "values": [1, 2]}`, "row 0: values is 2 long, want 1 elements, one for each of mask"},
		{"syntax", ok + "\n{", "token: line 2: "},
		{"syntax inside", `{"mask": [1}`, "token: line 1: mask: invalid character '}'"},
		{"number as a name", `{1: 2}`, "token: line 1: "},
		{"after the object", ok + " 1", "row 0: the row is followed by"},
		{"array", `[{"mask": [1]}]`, "the row is [{"},
		{"UTF-8", "{\"id\": \"\xff\"}", "the row is not UTF-8"},
		{"deep", `{"mine": ` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "}", "mine[0] is nested too deep, want at most 64"},
		{"deep, unclosed", strings.Repeat("[", 1<<20), "nested too deep"},
		{"quote", `"`, "token: line 1: "},
		{"backslash", `{"a\`, "token: line 1: "},
		{"Nothing", `{"mask": None}`, "invalid character 'N'"},
	}
	for _, tt := range tests {
		_, err := readAll(strings.NewReader(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.text) || !strings.HasPrefix(err.Error(), "token: line ") || len(err.Error()) > 300 {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
	}
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(`,"x` + strings.Repeat("i", i) + `":1`)
		}
		return `{"mask":[1]` + b.String() + "}"
	}
	if _, err := readAll(strings.NewReader(many(1024))); err != nil {
		t.Errorf("1,024 other fields: %v", err)
	}
	if _, err := readAll(strings.NewReader(many(1025))); err == nil || !strings.Contains(err.Error(), "more than 1024 other fields") {
		t.Errorf("1,025 other fields: %v", err)
	}
	if _, err := readAll(strings.NewReader(`{"mine": ` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + "}")); err != nil {
		t.Errorf("64 deep: %v", err)
	}
	padded := ok + strings.Repeat(" ", 64<<20-len(ok)) // as long as documented, and one more
	if got, err := readAll(strings.NewReader(padded + "\n" + padded + " \n")); len(got) != 1 || err == nil || !strings.Contains(err.Error(), "line 2: longer than 67108864 bytes") {
		t.Errorf("long lines: %d rows, %v", len(got), err)
	}
	broken := errors.New("broken")
	for _, in := range []string{ok + "\n", ok + "\n" + `{"mask": [`} {
		if got, err := readAll(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken))); !errors.Is(err, broken) || len(got) != 1 || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("reader's error: got %d rows and %v", len(got), err)
		}
	}
	n := 0
	for range ReadRows(strings.NewReader(ok + "\n" + ok + "\n{")) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("stopping early yields %d rows", n)
	}
}

func TestWriteRowsErrors(t *testing.T) {
	good := Row{Mask: []bool{true}}
	extra := func(name, value string) Row {
		return Row{Mask: []bool{true}, Extra: map[string]json.RawMessage{name: json.RawMessage(value)}}
	}
	tooMany := good
	tooMany.Extra = map[string]json.RawMessage{}
	for i := range 1025 {
		tooMany.Extra[strings.Repeat("x", i)] = json.RawMessage("1")
	}
	tests := []struct {
		name string
		bad  Row
		text string
	}{
		{"length", Row{IDs: []int{1}}, "token: row 1: mask is missing, want 1 elements"},
		{"NaN", Row{Mask: []bool{true}, Advantages: []float64{nan}}, "token: row 1: advantages[0] is NaN, want a finite number"},
		{"NaN nobody reads", Row{Mask: []bool{false}, LogProbs: []float64{math.Inf(-1)}}, "logprobs[0] is -Inf"},
		{"final value", Row{Mask: []bool{false}, FinalValue: new(nan)}, "final_value is NaN"},
		{"text", Row{Mask: []bool{false}, Group: "\xff"}, `group is "\xff", want valid UTF-8`},
		{"state", Row{Mask: []bool{true}, States: []string{"\xff"}}, `states[0] is "\xff", want valid UTF-8`},
		{"ours", extra("mask", "[]"), `"mask" of Extra is the name of a field of Row`},
		{"not JSON", extra("x", "NaN"), `"x" of Extra is "NaN", want valid JSON`},
		{"nothing", extra("x", ""), `"x" of Extra is "", want valid JSON`},
		{"two values", extra("x", "1 2"), "want valid JSON"},
		{"not UTF-8", extra("x", "\"\xff\""), "want valid JSON"},
		{"name", extra("\xff", "1"), "not Unicode"},
		{"deep", extra("x", strings.Repeat("[", 64)+strings.Repeat("]", 64)), "nested too deep"},
		{"many", tooMany, "1025 other fields, want at most 1024"},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		err := WriteRows(&b, []Row{good, tt.bad})
		if err == nil || !strings.Contains(err.Error(), tt.text) || b.Len() > 0 {
			t.Errorf("%s: got %v after %d bytes, want %q after none", tt.name, err, b.Len(), tt.text)
		}
	}
	if err := WriteRows(failing{}, []Row{good}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("writer's error: %v", err)
	}
	if err := WriteRows(failing{}, []Row{{Mask: make([]bool, 1<<16), Task: strings.Repeat("x", 1<<16)}}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("writer's error on a long line: %v", err)
	}
	if err := WriteRows(io.Discard, []Row{{Task: strings.Repeat("x", 64<<20)}}); err == nil || !strings.Contains(err.Error(), "bytes long, want at most") {
		t.Errorf("long line: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// What is written is read back bit for bit, results and other columns included.
func TestRowsRoundTrip(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 5e-324, 1e15, -1e15, 999999999999999, 1e21, 1e-7, 3}))
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\"\\\n\x00\u2028<", "é\U0001f600", "\ufffd"}))
	rapid.Check(t, func(t *rapid.T) {
		rows := make([]Row, rapid.IntRange(0, 3).Draw(t, "rows"))
		for i := range rows {
			r := &rows[i]
			n, turns := rapid.IntRange(0, 4).Draw(t, "tokens"), rapid.IntRange(1, 3).Draw(t, "turns")
			given := func() bool { return rapid.Bool().Draw(t, "given") }
			floats := func(n int) (x []float64) {
				if given() {
					x = rapid.SliceOfN(number, n, n).Draw(t, "numbers")
				}
				return x
			}
			r.Mask = rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "mask")
			if n > 0 {
				r.Turns = rapid.SliceOfN(rapid.IntRange(0, turns-1), n, n).Draw(t, "turn")
				slices.Sort(r.Turns)
			}
			r.States = rapid.SliceOfN(text, turns, turns).Draw(t, "states")
			r.ID, r.Group, r.Task, r.Split, r.FinalState, r.Drop, r.NoVote = text.Draw(t, "id"), text.Draw(t, "group"), text.Draw(t, "task"), text.Draw(t, "split"), text.Draw(t, "final"), text.Draw(t, "drop"), text.Draw(t, "no vote")
			if given() {
				r.ID, r.Step, r.FinalValue, r.Success = "x", new(rapid.Int().Draw(t, "step")), new(number.Draw(t, "value")), new(given())
				r.IDs = rapid.SliceOfN(rapid.Int(), n, n).Draw(t, "ids")
				r.Invalid, r.Excluded = rapid.SliceOfN(rapid.Bool(), turns, turns).Draw(t, "invalid"), rapid.SliceOfN(rapid.Bool(), turns, turns).Draw(t, "excluded")
				r.Extra = map[string]json.RawMessage{"x" + strings.ReplaceAll(text.Draw(t, "name"), "\ufffd", ""): json.RawMessage(`{"a":[1.0,"\ud800<",{}]}`)}
			}
			r.End = rapid.SampledFrom([]rl.End{rl.Continue, rl.Terminated, rl.Truncated}).Draw(t, "end")
			r.LogProbs, r.RefLogProbs, r.Values, r.TurnValues, r.TurnQValues = floats(n), floats(n), floats(n), floats(turns), floats(turns)
			if given() {
				r.Rewards = floats(n)
			} else {
				r.TurnRewards = floats(turns)
			}
			r.Advantages, r.Returns, r.TurnAdvantages, r.ValueTargets, r.QTargets = floats(n), floats(n), floats(turns), floats(turns), floats(turns)
		}
		var b bytes.Buffer
		if err := WriteRows(&b, rows); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(&b)
		if diff := cmp.Diff(rows, got, bitwise); diff != "" || err != nil {
			t.Fatalf("error %v (-want +got):\n%s", err, diff)
		}
	})
}

// Whatever bytes come, reading neither panics nor yields a row that cannot be written and read again; and what the rows
// describe is refused or gets credit that fits back.
func FuzzReadRows(f *testing.F) {
	f.Add([]byte(`{"id": "a", "mask": [0, 1], "values": [0, 0.5], "rewards": [0, 1], "mine": {"x": [1, null]}}` + "\n\n" + `{"drop": "x"}`))
	f.Add([]byte(`{"id": "a", "step": 1, "mask": [true], "turns": [0], "turn_rewards": [1, 2]}` + "\n" + `{"id": "a", "step": 0, "mask": [1.0], "end": "truncated", "final_value": -0.0}`))
	f.Add([]byte(`{"states": ["\ud83d\ude00,]"], "invalid": [1], "excluded": [false], "success": null, "\u006d": "\ud800"}`))
	f.Add([]byte(`{"mask": [NaN]}`))
	f.Add([]byte(`{"a`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := readAll(bytes.NewReader(data))
		if err != nil && !strings.HasPrefix(err.Error(), "token: line ") {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteRows(&b, rows); err != nil {
			t.Fatal(err)
		}
		again, err := readAll(bytes.NewReader(b.Bytes()))
		compact := cmp.Comparer(func(a, b json.RawMessage) bool {
			var x, y bytes.Buffer
			return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
		})
		if diff := cmp.Diff(rows, again, bitwise, compact); diff != "" || err != nil {
			t.Fatalf("error %v (-first +again):\n%s", err, diff)
		}
		batch, err := FromRows(rows)
		if err != nil {
			return
		}
		c, err := GAE(nil, batch, &GAEOptions{Truncation: rl.TruncationTerminal})
		if err != nil {
			return // overflow
		}
		if err := SetCredit(rows, batch, c); err != nil {
			t.Fatal(err)
		}
		if err := WriteRows(io.Discard, rows); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkReadRows(b *testing.B) {
	var in bytes.Buffer
	if err := WriteRows(&in, ToRows(benchBatch(100_000))); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(in.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readAll(bytes.NewReader(in.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
