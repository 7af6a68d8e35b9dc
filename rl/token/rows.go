package token

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/rl"
)

// A Row is what trainers elsewhere hold of a trajectory, or of one turn of it: flat arrays over its tokens, and over its
// turns. Only Mask is needed; an empty field is one that was not given, and then everywhere 0. The tags are the names in
// JSON, see [ReadRows].
//
// Fields per token are as long as Mask, at most 4 Mi; those per turn as long as there are turns, at most 1 Mi. Without
// Turns, each run of trainable tokens is a turn, together with the masked tokens before it; masked tokens at the end,
// padding for one, belong to the last turn. A turn thus begins at the first masked token after a trainable one.
//
// Rows with the same ID, not empty, and different Step are the turns of one trajectory, in the order of Step, wherever
// they lie (the layout of verl-agent; such a row may also hold several turns). All other rows are trajectories of their own.
// Fields of the trajectory may then be given in any of its rows, but must not differ.
type Row struct {
	// Of the trajectory, as in rl.Trajectory.
	ID         string   `json:"id"`
	Step       *int     `json:"step"` // position among the rows of ID
	Group      string   `json:"group"`
	Task       string   `json:"task"`
	Split      string   `json:"split"`
	End        rl.End   `json:"end"` // how the trajectory ended; Continue, the zero value, means not given: Terminated
	FinalState string   `json:"final_state"`
	FinalValue *float64 `json:"final_value"`
	Success    *bool    `json:"success"`
	Drop       string   `json:"drop"` // rl.Trajectory.Excluded: the reason why the trajectory does not count; empty if it does

	// Per token, as in rl.Token.
	IDs         []int     `json:"ids"`
	Mask        []bool    `json:"mask"` // whether the policy sampled the token and is trained on it; 1 and 0 in JSON
	LogProbs    []float64 `json:"logprobs"`
	RefLogProbs []float64 `json:"ref_logprobs"`
	Values      []float64 `json:"values"`
	Turns       []int     `json:"turns"`   // turn of the token in this row, from 0, never falling; see above
	Rewards     []float64 `json:"rewards"` // their sum over a turn, masked tokens too, is its reward; not beside TurnRewards

	// Per turn, as in rl.Turn.
	States      []string  `json:"states"`
	TurnRewards []float64 `json:"turn_rewards"`
	TurnValues  []float64 `json:"turn_values"`
	TurnQValues []float64 `json:"turn_qvalues"`
	Invalid     []bool    `json:"invalid"`
	Excluded    []bool    `json:"excluded"`

	// The results, set by [SetCredit] and read by nothing here.
	Advantages     []float64 `json:"advantages"` // per token, 0 where Mask is false
	Returns        []float64 `json:"returns"`    // per token, rl.Credit.TokenTarget, 0 where Mask is false; empty without a critic of tokens
	TurnAdvantages []float64 `json:"turn_advantages"`
	ValueTargets   []float64 `json:"value_targets"` // per turn; empty without a critic of turns
	QTargets       []float64 `json:"q_targets"`     // per turn; empty without a critic of actions
	NoVote         string    `json:"no_vote"`       // rl.Credit.NoVote: why all advantages are 0 and nothing here is to be trained on

	// Extra has the columns that a trainer keeps besides, by their names in JSON. Values must be valid JSON.
	Extra map[string]json.RawMessage `json:"-"`
}

// A RowError reports one unusable field of a row.
type RowError struct {
	Row   int    // position of the row, from 0; -1 if it has none
	Field string // name in JSON; empty if the row as a whole is meant
	Index int    // position in the field; -1 if the fault is not in an element
	Got   string // value found
	Want  string // condition broken
}

// Error names the row, the field, the index, the value and the rule.
func (e *RowError) Error() string {
	var b strings.Builder
	b.WriteString("token: ")
	if e.Row >= 0 {
		fmt.Fprintf(&b, "row %d: ", e.Row)
	}
	b.WriteString(cmp.Or(e.Field, "the row"))
	if e.Index >= 0 {
		fmt.Fprintf(&b, "[%d]", e.Index)
	}
	fmt.Fprintf(&b, " is %s, want %s", e.Got, e.Want)
	return b.String()
}

// column is a field of a row: what reading, writing and checking have to know of it.
type column struct {
	name string
	at   any // pointer to the field
	per  int8
	out  bool // a result, whose length says nothing
}

// The kinds of columns.
const (
	perRow int8 = iota
	perToken
	perTurn
)

// bits are written as 1 and 0 instead of true and false.
type bits []bool

// columns lists the fields of r in the order in which they are written.
func columns(r *Row) [29]column {
	return [...]column{
		{"id", &r.ID, perRow, false},
		{"step", &r.Step, perRow, false},
		{"group", &r.Group, perRow, false},
		{"task", &r.Task, perRow, false},
		{"split", &r.Split, perRow, false},
		{"end", &r.End, perRow, false},
		{"final_state", &r.FinalState, perRow, false},
		{"final_value", &r.FinalValue, perRow, false},
		{"success", &r.Success, perRow, false},
		{"drop", &r.Drop, perRow, false},
		{"ids", &r.IDs, perToken, false},
		{"mask", (*bits)(&r.Mask), perToken, false},
		{"logprobs", &r.LogProbs, perToken, false},
		{"ref_logprobs", &r.RefLogProbs, perToken, false},
		{"values", &r.Values, perToken, false},
		{"turns", &r.Turns, perToken, false},
		{"rewards", &r.Rewards, perToken, false},
		{"states", &r.States, perTurn, false},
		{"turn_rewards", &r.TurnRewards, perTurn, false},
		{"turn_values", &r.TurnValues, perTurn, false},
		{"turn_qvalues", &r.TurnQValues, perTurn, false},
		{"invalid", &r.Invalid, perTurn, false},
		{"excluded", &r.Excluded, perTurn, false},
		{"advantages", &r.Advantages, perToken, true},
		{"returns", &r.Returns, perToken, true},
		{"turn_advantages", &r.TurnAdvantages, perTurn, true},
		{"value_targets", &r.ValueTargets, perTurn, true},
		{"q_targets", &r.QTargets, perTurn, true},
		{"no_vote", &r.NoVote, perRow, true},
	}
}

// size returns the length of the column, 0 if it is not a slice.
func (c *column) size() int {
	switch p := c.at.(type) {
	case *[]int:
		return len(*p)
	case *[]float64:
		return len(*p)
	case *[]bool:
		return len(*p)
	case *bits:
		return len(*p)
	case *[]string:
		return len(*p)
	}
	return 0
}

// Bounds of one row, so that what a batch of it takes is bounded.
const (
	maxTokens = 1 << 22
	maxTurns  = 1 << 20
)

// starts returns the position of the first token of each turn of row i and, at the end, the number of tokens. It checks all
// lengths.
func (r *Row) starts(i int) ([]int, error) {
	fault := func(field string, index int, got any, want string, args ...any) error {
		return &RowError{i, field, index, fmt.Sprint(got), fmt.Sprintf(want, args...)}
	}
	turns, from := -1, "" // as many as the column from has
	for _, c := range columns(r) {
		n := c.size()
		switch {
		case n == 0 || c.out || c.per == perRow:
		case c.per == perToken:
			if len(r.Mask) == 0 {
				return nil, fault("mask", -1, "missing", "%d elements, one for each of %s", n, c.name)
			}
			if n != len(r.Mask) {
				return nil, fault(c.name, -1, fmt.Sprintf("%d long", n), "%d elements, one for each of mask", len(r.Mask))
			}
		case turns < 0:
			turns, from = n, c.name
		case turns != n:
			return nil, fault(c.name, -1, fmt.Sprintf("%d long", n), "%d elements, one for each of %s", turns, from)
		}
	}
	switch {
	case len(r.Mask) > maxTokens:
		return nil, fault("mask", -1, fmt.Sprintf("%d long", len(r.Mask)), "at most %d elements", maxTokens)
	case turns > maxTurns:
		return nil, fault(from, -1, fmt.Sprintf("%d long", turns), "at most %d elements", maxTurns)
	case r.End > rl.Truncated:
		return nil, fault("end", -1, r.End, "terminated or truncated")
	case r.Step != nil && r.ID == "":
		return nil, fault("step", -1, *r.Step, "an id beside it")
	case len(r.Rewards) > 0 && len(r.TurnRewards) > 0:
		return nil, fault("turn_rewards", -1, "given", "either rewards or turn_rewards")
	}
	starts := []int{0}
	switch {
	case len(r.Turns) > 0:
		last := 0
		for j, k := range r.Turns {
			switch {
			case k < last:
				return nil, fault("turns", j, k, "%d or more, turns from 0 that never fall", last)
			case turns >= 0 && k >= turns:
				return nil, fault("turns", j, k, "less than %d, the number of %s", turns, from)
			case turns < 0 && k > last+1, turns < 0 && j == 0 && k > 0:
				return nil, fault("turns", j, k, "no turn left out, unless a field with one element a turn counts them")
			}
			for ; last < k; last++ {
				starts = append(starts, j)
			}
		}
		for ; last < turns-1; last++ {
			starts = append(starts, len(r.Mask))
		}
	case len(r.Mask) == 0:
		for k := 1; k < turns; k++ {
			starts = append(starts, 0)
		}
		if turns < 1 {
			return starts, nil // no turn
		}
	default:
		gap := -1 // first masked token since the last trainable one
		for j, trained := range r.Mask {
			switch {
			case !trained && j > 0 && r.Mask[j-1]:
				gap = j
			case trained && gap >= 0:
				starts = append(starts, gap)
				gap = -1
			}
		}
		if turns >= 0 && turns != len(starts) {
			return nil, fault(from, -1, fmt.Sprintf("%d long", turns),
				"%d elements, the turns that mask has, or turns to say where they are", len(starts))
		}
	}
	if len(starts) > maxTurns {
		return nil, fault("mask", -1, fmt.Sprintf("of %d turns", len(starts)), "at most %d", maxTurns)
	}
	return append(starts, len(r.Mask)), nil
}

// assemble returns the positions of the rows of each trajectory, trajectories in order of first appearance and the rows of
// one in the order of Step.
func assemble(rows []Row) ([][]int, error) {
	var all [][]int
	index := map[string]int{}
	for i := range rows {
		if rows[i].Step == nil || rows[i].ID == "" {
			all = append(all, []int{i})
			continue
		}
		at, ok := index[rows[i].ID]
		if !ok {
			at = len(all)
			index[rows[i].ID] = at
			all = append(all, nil)
		}
		all[at] = append(all[at], i)
	}
	for _, parts := range all {
		slices.SortStableFunc(parts, func(a, b int) int { return cmp.Compare(*rows[a].Step, *rows[b].Step) })
		for p := 1; p < len(parts); p++ {
			if a, b := parts[p-1], parts[p]; *rows[a].Step == *rows[b].Step {
				return nil, &RowError{b, "step", -1, fmt.Sprint(*rows[b].Step), fmt.Sprintf("another one than row %d, of the same id", a)}
			}
		}
	}
	return all, nil
}

// FromRows builds the batch that rows describe, trajectories in order of first appearance. Estimators of package rl and of
// this one take it, and [SetCredit] writes their result into the rows. Nothing of the rows is shared with the batch.
//
// The error is a [*RowError] for the first fault: fields that differ in length, both kinds of rewards, turns that fall, a
// trajectory without any turn and without Drop, two rows of one trajectory with the same Step or with different fields of the
// trajectory. Numbers are not looked at: estimators check those that they read. Deterministic, O(tokens + turns) time, and
// O(n log n) for trajectories of n rows.
func FromRows(rows []Row) ([]rl.Trajectory, error) {
	starts := make([][]int, len(rows))
	for i := range rows {
		var err error
		if starts[i], err = rows[i].starts(i); err != nil {
			return nil, err
		}
	}
	all, err := assemble(rows)
	if err != nil {
		return nil, err
	}
	batch := make([]rl.Trajectory, len(all))
	for b, parts := range all {
		t := &batch[b]
		end := rl.Continue
		for _, i := range parts {
			r := &rows[i]
			if err := cmp.Or(
				agree(i, "id", &t.ID, r.ID),
				agree(i, "group", &t.Group, r.Group),
				agree(i, "task", &t.Task, r.Task),
				agree(i, "split", &t.Split, r.Split),
				agree(i, "end", &end, r.End),
				agree(i, "final_state", &t.FinalState, r.FinalState),
				agreeAt(i, "final_value", &t.FinalValue, r.FinalValue),
				agreeAt(i, "success", &t.Success, r.Success),
				agree(i, "drop", &t.Excluded, r.Drop),
			); err != nil {
				return nil, err
			}
			t.Turns = r.appendTurns(t.Turns, starts[i])
		}
		if n := len(t.Turns); n > 0 {
			t.Turns[n-1].End = cmp.Or(end, rl.Terminated)
		} else if t.Excluded == "" {
			return nil, &RowError{parts[0], "mask", -1, "empty", "at least one token or turn in the trajectory"}
		}
	}
	return batch, nil
}

// agree takes the value of row i for the trajectory, if it has one.
func agree[T comparable](i int, field string, of *T, v T) error {
	var none T
	switch {
	case v == none || v == *of:
	case *of == none:
		*of = v
	default:
		got, want := fmt.Sprint(v), fmt.Sprint(*of)
		return &RowError{i, field, -1, fmt.Sprintf("%.40q", got), fmt.Sprintf("%.40q as in another row of the trajectory", want)}
	}
	return nil
}

// agreeAt is agree for a field where nil means none.
func agreeAt[T comparable](i int, field string, of **T, v *T) error {
	switch {
	case v == nil:
	case *of == nil:
		*of = new(*v)
	case **of != *v:
		return &RowError{i, field, -1, fmt.Sprint(*v), fmt.Sprintf("%v as in another row of the trajectory", **of)}
	}
	return nil
}

// appendTurns appends the turns of r, which begin at starts.
func (r *Row) appendTurns(turns []rl.Turn, starts []int) []rl.Turn {
	tokens := make([]rl.Token, len(r.Mask))
	for j := range tokens {
		tok := &tokens[j]
		tok.Trainable = r.Mask[j]
		tok.ID = element(r.IDs, j)
		tok.LogProb = element(r.LogProbs, j)
		tok.RefLogProb = element(r.RefLogProbs, j)
		tok.Value = element(r.Values, j)
	}
	for k := range len(starts) - 1 {
		from, to := starts[k], starts[k+1]
		turn := rl.Turn{
			State:    element(r.States, k),
			Reward:   element(r.TurnRewards, k),
			Value:    element(r.TurnValues, k),
			QValue:   element(r.TurnQValues, k),
			Invalid:  element(r.Invalid, k),
			Excluded: element(r.Excluded, k),
		}
		if to > from {
			turn.Tokens = tokens[from:to:to]
		}
		if len(r.Rewards) > 0 {
			for _, v := range r.Rewards[from:to] {
				turn.Reward += v
			}
		}
		turns = append(turns, turn)
	}
	return turns
}

// element returns x[i], or zero where the field was not given.
func element[T any](x []T, i int) (v T) {
	if len(x) > 0 {
		v = x[i]
	}
	return v
}

// ToRows returns one row for each trajectory, with Turns and TurnRewards, and of the other fields per token and per turn
// those that are not zero throughout. It is the reverse of [FromRows]: from these rows that builds an equal batch, if each
// trajectory ends on its last turn and on no other, which an excluded one need not. Nothing is shared with the batch.
// O(turns + tokens) time.
func ToRows(batch []rl.Trajectory) []Row {
	rows := make([]Row, len(batch))
	for i := range batch {
		t, r := &batch[i], &rows[i]
		r.ID, r.Group, r.Task, r.Split, r.FinalState, r.Drop = t.ID, t.Group, t.Task, t.Split, t.FinalState, t.Excluded
		if t.FinalValue != nil {
			r.FinalValue = new(*t.FinalValue)
		}
		if t.Success != nil {
			r.Success = new(*t.Success)
		}
		for k := range t.Turns {
			turn := &t.Turns[k]
			r.End = turn.End
			r.TurnRewards = append(r.TurnRewards, turn.Reward)
			r.States = append(r.States, turn.State)
			r.TurnValues = append(r.TurnValues, turn.Value)
			r.TurnQValues = append(r.TurnQValues, turn.QValue)
			r.Invalid = append(r.Invalid, turn.Invalid)
			r.Excluded = append(r.Excluded, turn.Excluded)
			for j := range turn.Tokens {
				tok := &turn.Tokens[j]
				r.IDs = append(r.IDs, tok.ID)
				r.Mask = append(r.Mask, tok.Trainable)
				r.LogProbs = append(r.LogProbs, tok.LogProb)
				r.RefLogProbs = append(r.RefLogProbs, tok.RefLogProb)
				r.Values = append(r.Values, tok.Value)
				r.Turns = append(r.Turns, k)
			}
		}
		r.IDs, r.States = given(r.IDs), given(r.States)
		r.Invalid, r.Excluded = given(r.Invalid), given(r.Excluded)
		for _, x := range [...]*[]float64{&r.LogProbs, &r.RefLogProbs, &r.Values, &r.TurnValues, &r.TurnQValues} {
			*x = given(*x)
		}
	}
	return rows
}

// given returns nil instead of zeros only. A -0 goes with them.
func given[T comparable](x []T) []T {
	var zero T
	for _, v := range x {
		if v != zero {
			return x
		}
	}
	return nil
}

// SetCredit writes c into the result fields of rows, those of an earlier result included: Advantages and Returns per
// token, TurnAdvantages, ValueTargets and QTargets per turn, NoVote per trajectory. Tokens have the advantage of their
// turn where c has none per token. Batch is what [FromRows] built from rows and c what an estimator made of it; the error
// says where they do not fit, by their ids, masks and turns, and rows is unchanged then; steps must not have changed. The
// results share no memory with c. O(turns + tokens) time.
func SetCredit(rows []Row, batch []rl.Trajectory, c *rl.Credit) error {
	if !c.Fits(batch) {
		return fmt.Errorf("token: the credit is of another batch: %w", rl.ErrShape)
	}
	all, err := assemble(rows)
	if err != nil {
		return err
	}
	if len(all) != len(batch) {
		return fmt.Errorf("token: the rows have %d trajectories, the batch %d: %w", len(all), len(batch), rl.ErrShape)
	}
	starts := make([][]int, len(rows))
	for b, parts := range all {
		turns := batch[b].Turns
		for _, i := range parts {
			if starts[i], err = rows[i].starts(i); err != nil {
				return err
			}
			n := len(starts[i]) - 1
			if rows[i].ID != batch[b].ID || n > len(turns) || !rows[i].matches(turns[:n], starts[i]) {
				return fmt.Errorf("token: row %d is not the one that trajectory %d was built from: %w", i, b, rl.ErrShape)
			}
			turns = turns[n:]
		}
		if len(turns) > 0 {
			return fmt.Errorf("token: trajectory %d has %d turns more than its rows: %w", b, len(turns), rl.ErrShape)
		}
	}
	advantage := c.TokenAdvantages(nil, batch)
	token, turn := 0, 0
	for b, parts := range all {
		for _, i := range parts {
			r := &rows[i]
			to := turn + len(starts[i]) - 1
			r.NoVote = c.NoVote[b]
			r.TurnAdvantages = slices.Clone(c.Advantage[turn:to])
			r.ValueTargets, r.QTargets, r.Returns = nil, nil, nil
			if c.ValueTarget != nil {
				r.ValueTargets = slices.Clone(c.ValueTarget[turn:to])
			}
			if c.QTarget != nil {
				r.QTargets = slices.Clone(c.QTarget[turn:to])
			}
			r.Advantages = scatter(r.Mask, advantage[token:])
			if c.TokenTarget != nil {
				r.Returns = scatter(r.Mask, c.TokenTarget[token:])
			}
			turn = to
			for _, trained := range r.Mask {
				if trained {
					token++
				}
			}
		}
	}
	return nil
}

// matches reports whether turns have the tokens of r, which begin at starts.
func (r *Row) matches(turns []rl.Turn, starts []int) bool {
	for k := range turns {
		mask, tokens := r.Mask[starts[k]:starts[k+1]], turns[k].Tokens
		if len(mask) != len(tokens) {
			return false
		}
		for j := range tokens {
			if tokens[j].Trainable != mask[j] {
				return false
			}
		}
	}
	return true
}

// scatter puts the first numbers of x where mask is true.
func scatter(mask []bool, x []float64) []float64 {
	out := make([]float64, len(mask))
	next := 0
	for j, trained := range mask {
		if trained {
			out[j] = x[next]
			next++
		}
	}
	return out
}
