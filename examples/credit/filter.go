package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/token"
)

// The formats of the input.
const (
	formatRows         = "rows"
	formatTrajectories = "trajectories"
)

// maxLine bounds a line of the input, in bytes, as in packages rl and token.
const maxLine = 64 << 20

// A filter reads batches of lines and writes them back with credit.
type filter struct {
	method       string
	reads        []string // columns that the method cannot do without
	estimate     rl.Estimator
	format       string // empty until the first line tells
	guessed      bool   // whether that line told
	batches      bool   // whether empty lines end batches
	diagnostics  bool
	lenient      bool   // whether columns may be missing
	dot          string // file for the graphs; empty for none
	mile         *rl.MileGPOOptions
	successAbove float64 // score above which a trajectory without a verdict succeeded
	stdout       io.Writer
	stderr       io.Writer

	// The batch being read. Its lines became rows or trajectories, by format.
	rows         []token.Row
	trajectories []rl.Trajectory
	at           []place         // where each line stood
	answered     int             // batches before it
	warned       map[string]bool // kinds of warnings that were written

	credit *rl.Credit // memory of the last batch
	out    bytes.Buffer
}

// A place is a line of the input.
type place struct {
	file string
	line int // from 1
}

// run reads the files, or stdin if there are none, as one input.
func (f *filter) run(ctx context.Context, files []string, stdin io.Reader) error {
	if len(files) == 0 {
		if err := f.read(ctx, "stdin", stdin); err != nil {
			return err
		}
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		if err := errors.Join(f.read(ctx, name, file), file.Close()); err != nil {
			return err
		}
	}
	if len(f.at) == 0 {
		return nil
	}
	return f.answer(ctx) // the end of the input ends a batch, too
}

// read reads one file. It returns when ctx is done even where a read of r never does.
func (f *filter) read(ctx context.Context, name string, r io.Reader) error {
	pr, pw := io.Pipe()
	defer pr.Close() // releases the copy
	defer context.AfterFunc(ctx, func() { pw.CloseWithError(ctx.Err()) })()
	go func() {
		_, err := io.Copy(pw, r)
		pw.CloseWithError(err)
	}()
	at := place{name, 1}
	for line, err := range jsonl.Lines(pr, maxLine) {
		switch text := bytes.TrimSpace(line); {
		case errors.Is(err, jsonl.ErrTooLong):
			err = f.fault(at, len(f.at), fmt.Errorf("longer than %d bytes", maxLine))
		case err != nil:
			err = f.fault(at, len(f.at), err)
		case len(text) > 0:
			err = f.add(text, at)
		case f.batches:
			err = f.answer(ctx)
		}
		if err != nil {
			return err
		}
		at.line++
	}
	return ctx.Err()
}

// add takes a line into the batch.
func (f *filter) add(line []byte, at place) error {
	if f.format == "" {
		f.format, f.guessed = detect(line), true
	}
	var err error
	if f.format == formatRows {
		var row token.Row
		err = row.UnmarshalJSON(line)
		f.rows = append(f.rows, row)
	} else {
		var t rl.Trajectory
		t, err = parseTrajectory(len(f.trajectories), line)
		f.trajectories = append(f.trajectories, t)
	}
	if err != nil {
		if f.guessed {
			err = fmt.Errorf("%w (read as %s, see -in)", err, f.format)
		}
		return f.fault(at, len(f.at), err)
	}
	f.at = append(f.at, at)
	return nil
}

// detect tells the format from one line. What has turns but no mask cannot be a row, and what has a mask no trajectory. Of
// what is no JSON the reader of rows says more.
func detect(line []byte) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) != nil {
		return formatRows
	}
	_, turns := fields["turns"]
	_, mask := fields["mask"]
	if turns && !mask {
		return formatTrajectories
	}
	return formatRows
}

// parseTrajectory reads trajectory i of a batch from its line. The reader below knows of no other, and says line 1.
func parseTrajectory(i int, line []byte) (rl.Trajectory, error) {
	for t, err := range rl.ReadTrajectories(bytes.NewReader(line)) {
		if e, ok := errors.AsType[*rl.FieldError](err); ok {
			e.Trajectory = i
			return t, e
		}
		return t, cmp.Or(errors.Unwrap(err), err)
	}
	return rl.Trajectory{}, errors.New("no trajectory")
}

// fault says where in the input an error sits; i is the position in the batch.
func (f *filter) fault(at place, i int, err error) error {
	if f.batches {
		return fmt.Errorf("%s:%d (line %d of batch %d): %w", at.file, at.line, i+1, f.answered+1, err)
	}
	return fmt.Errorf("%s:%d: %w", at.file, at.line, err)
}

// locate is fault for an error that names a row or a trajectory of the batch.
func (f *filter) locate(err error) error {
	i := -1
	if e, ok := errors.AsType[*token.RowError](err); ok {
		i = e.Row
	}
	if e, ok := errors.AsType[*rl.FieldError](err); ok {
		i = f.first(e.Trajectory)
	}
	switch {
	case 0 <= i && i < len(f.at):
		return f.fault(f.at[i], i, err)
	case f.batches:
		return fmt.Errorf("batch %d: %w", f.answered+1, err)
	}
	return err
}

// first returns the position of the first line of a trajectory, -1 if there is none.
func (f *filter) first(trajectory int) int {
	if f.format == formatTrajectories {
		return trajectory
	}
	seen, n := map[string]bool{}, 0
	for i := range f.rows {
		if r := &f.rows[i]; r.Step != nil && r.ID != "" { // rows that token.FromRows joins
			if seen[r.ID] {
				continue
			}
			seen[r.ID] = true
		}
		if n == trajectory {
			return i
		}
		n++
	}
	return -1
}

// answer gives credit to the batch, writes it and begins a new one. Nothing is written to stdout before all has gone well.
func (f *filter) answer(ctx context.Context) error {
	f.out.Reset()
	if len(f.at) > 0 {
		if err := f.give(); err != nil {
			return f.locate(err)
		}
	}
	if f.batches {
		f.out.WriteByte('\n')
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := f.stdout.Write(f.out.Bytes()); err != nil {
		return err
	}
	f.answered++
	clear(f.rows) // their arrays would stay alive
	clear(f.trajectories)
	f.rows, f.trajectories, f.at = f.rows[:0], f.trajectories[:0], f.at[:0]
	return nil
}

// give writes the batch with its credit to out.
func (f *filter) give() error {
	rows, batch := f.rows, f.trajectories
	var err error
	if f.format == formatTrajectories {
		rows = token.ToRows(batch)
	} else {
		if batch, err = token.FromRows(rows); err != nil {
			return err
		}
		if err := f.complete(); err != nil {
			return err
		}
	}
	if f.credit, err = f.estimate(f.credit, batch); err != nil {
		return err
	}
	f.warn(rows, batch)
	if err := token.SetCredit(rows, batch, f.credit); err != nil {
		return err
	}
	if f.format == formatTrajectories {
		for i := range rows {
			r := &rows[i]
			*r = token.Row{ID: r.ID, Advantages: r.Advantages, Returns: r.Returns, TurnAdvantages: r.TurnAdvantages,
				ValueTargets: r.ValueTargets, QTargets: r.QTargets, NoVote: r.NoVote}
		}
	}
	if err := token.WriteRows(&f.out, rows); err != nil {
		return err
	}
	if f.mile != nil {
		if err := f.draw(batch); err != nil {
			return err
		}
	}
	if !f.diagnostics {
		return nil
	}
	d, err := f.credit.Diagnose(batch)
	if err != nil {
		return err
	}
	return json.NewEncoder(f.stderr).Encode(d)
}

// draw writes the graphs of the batch to the file of -dot.
func (f *filter) draw(batch []rl.Trajectory) error {
	graphs, err := rl.MileGraphs(batch, f.mile)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for i := range graphs {
		if err := graphs[i].WriteDOT(&b); err != nil {
			return err
		}
	}
	return os.WriteFile(f.dot, b.Bytes(), 0o666)
}

// given tells whether a row has a column.
var given = map[string]func(token.Row) bool{
	"group":        func(r token.Row) bool { return r.Group != "" },
	"states":       func(r token.Row) bool { return len(r.States) > 0 },
	"final_state":  func(r token.Row) bool { return r.FinalState != "" },
	"turn_values":  func(r token.Row) bool { return len(r.TurnValues) > 0 },
	"turn_qvalues": func(r token.Row) bool { return len(r.TurnQValues) > 0 },
	"values":       func(r token.Row) bool { return len(r.Values) > 0 },
	"logprobs":     func(r token.Row) bool { return len(r.LogProbs) > 0 },
	"ref_logprobs": func(r token.Row) bool { return len(r.RefLogProbs) > 0 },
	"end":          func(token.Row) bool { return true }, // terminated, if not given
	"mask":         func(r token.Row) bool { return len(r.Mask) > 0 },

	"rewards or turn_rewards": func(r token.Row) bool { return len(r.Rewards)+len(r.TurnRewards) > 0 },
}

// complete returns an error if no row of the batch has a column that the method reads: one under another name is kept and
// otherwise ignored, and then everything in its place is 0 or equal.
func (f *filter) complete() error {
	counts := func(r token.Row) bool { return r.Drop == "" }
	if f.lenient || !slices.ContainsFunc(f.rows, counts) {
		return nil
	}
	for _, column := range append([]string{"mask", "rewards or turn_rewards"}, f.reads...) {
		if slices.ContainsFunc(f.rows, func(r token.Row) bool { return counts(r) && given[column](r) }) {
			continue
		}
		others := map[string]bool{}
		for i := range f.rows {
			for name := range f.rows[i].Extra {
				others[fmt.Sprintf("%.40s", name)] = true
			}
		}
		hint := ""
		if len(others) > 0 {
			hint = "; columns that are not read: " + strings.Join(slices.Sorted(maps.Keys(others)), ", ")
		}
		return fmt.Errorf("no row of the batch has %s, which %s reads%s; -lenient goes on without", column, f.method, hint)
	}
	return nil
}

// warn tells, once each, of what is allowed and seldom meant.
func (f *filter) warn(rows []token.Row, batch []rl.Trajectory) {
	ids := map[string]int{}
	var truncated, withFinal bool
	for i := range rows {
		r := &rows[i]
		truncated = truncated || r.End == rl.Truncated
		withFinal = withFinal || r.FinalValue != nil
		if r.ID == "" || r.Step != nil {
			continue
		}
		if first, ok := ids[r.ID]; ok {
			f.warnOnce("id", "rows %d and %d have the id %.40q and no step: each is a trajectory of its own", first, i, r.ID)
		} else {
			ids[r.ID] = i
		}
	}
	if slices.Contains(f.reads, "group") {
		with, without := -1, -1 // trajectories with and without a group
		for i := range batch {
			switch {
			case batch[i].Excluded != "":
			case batch[i].Group == "":
				without = i
			default:
				with = i
			}
		}
		switch {
		case with >= 0 && without >= 0:
			f.warnOnce("group", "trajectory %d, from 0, has no group, others have one", without)
		case f.credit.Singletons > 0 && f.credit.Groups == 0:
			f.warnOnce("group", "every group has one rollout: there is nothing to compare")
		}
	}
	if withFinal && !truncated {
		f.warnOnce("end", "final_value is given, but no end is truncated: it is not used")
	}
	if !slices.Contains(f.reads, "final_state") {
		return
	}
	voters, successes, verdicts := 0, 0, 0
	for i := range batch {
		t := &batch[i]
		switch {
		case f.credit.NoVote[i] != "":
			continue
		case t.Success != nil:
			verdicts++
			if *t.Success {
				successes++
			}
		case t.Score() > f.successAbove:
			successes++
		}
		voters++
	}
	hint := ""
	if verdicts < voters {
		hint = ": give success, or the option SuccessAbove"
	}
	switch {
	case voters < 2:
	case successes == 0:
		f.warnOnce("success", "no trajectory is a success%s", hint)
	case successes == voters:
		f.warnOnce("success", "every trajectory is a success%s", hint)
	}
}

// warnOnce writes a warning of a kind unless there was one.
func (f *filter) warnOnce(kind, format string, args ...any) {
	if f.warned == nil {
		f.warned = map[string]bool{}
	}
	if !f.warned[kind] {
		f.warned[kind] = true
		fmt.Fprintf(f.stderr, "credit: warning: "+format+"\n", args...)
	}
}
