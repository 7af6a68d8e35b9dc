package rl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/throughline-go/throughline/internal/jsonl"
)

// Bounds of one line of a trajectory file. A comma stands for about one token or one field, so the second bounds the
// memory that a line can ask for.
const (
	maxLine   = 64 << 20 // bytes
	maxCommas = 1 << 20
)

// WriteTrajectories writes one JSON object per line, which [ReadTrajectories] turns into an equal batch: floats, -0
// included, keep their bits, and only the difference between nil and empty slices is lost. Fields with their zero value
// are left out.
//
// The whole batch is checked before the first byte is written: it has to pass [Validate], strings have to be valid
// UTF-8, and every number has to be finite, also one that nobody reads, for JSON has no other. Errors are a
// [*FieldError], those of w, or name a trajectory too large for one line (64 MiB, 1 Mi commas), which comes after the
// lines before it have been written. O(turns + tokens) time, and memory for one line.
func WriteTrajectories(w io.Writer, batch []Trajectory) error {
	if err := Validate(batch); err != nil {
		return err
	}
	for i := range batch {
		if err := checkWritable(i, &batch[i]); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(w)
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	for i := range batch {
		line.Reset()
		if err := enc.Encode(newRecord(&batch[i])); err != nil {
			return fmt.Errorf("rl: trajectory %d: %w", i, err)
		}
		if line.Len() > maxLine || bytes.Count(line.Bytes(), []byte{','}) > maxCommas {
			return fmt.Errorf("rl: trajectory %d takes %d bytes, want at most %d, and %d commas", i, line.Len(), maxLine, maxCommas)
		}
		if _, err := out.Write(line.Bytes()); err != nil {
			return err
		}
	}
	return out.Flush()
}

// The records are what they embed, but with numbers that are left out only if they are +0: omitempty drops -0 as well.
type (
	trajectoryRecord struct {
		*Trajectory
		Turns []turnRecord `json:"turns"`
	}
	turnRecord struct {
		*Turn
		Tokens  []tokenRecord `json:"tokens,omitempty"`
		Allowed [][]int       `json:"allowed,omitempty"`
		Reward  number        `json:"reward,omitzero"`
		Value   number        `json:"value,omitzero"`
		QValue  number        `json:"qvalue,omitzero"`
	}
	tokenRecord struct {
		*Token
		LogProb    number `json:"logprob,omitzero"`
		RefLogProb number `json:"ref_logprob,omitzero"`
		Value      number `json:"value,omitzero"`
	}
	number float64
)

func (n number) IsZero() bool { return math.Float64bits(float64(n)) == 0 }

func newRecord(t *Trajectory) trajectoryRecord {
	r := trajectoryRecord{t, make([]turnRecord, len(t.Turns))} // not nil: the reader takes no null
	for k := range t.Turns {
		turn := &t.Turns[k]
		tokens := make([]tokenRecord, len(turn.Tokens))
		for j := range turn.Tokens {
			tok := &turn.Tokens[j]
			tokens[j] = tokenRecord{tok, number(tok.LogProb), number(tok.RefLogProb), number(tok.Value)}
		}
		r.Turns[k] = turnRecord{turn, tokens, allowedRecord(turn.Allowed), number(turn.Reward), number(turn.Value), number(turn.QValue)}
	}
	return r
}

// allowedRecord returns allowed with empty lists for nil ones, since the reader takes no null.
func allowedRecord(allowed [][]int) [][]int {
	if !slices.ContainsFunc(allowed, func(ids []int) bool { return ids == nil }) {
		return allowed
	}
	out := slices.Clone(allowed)
	for j, ids := range out {
		if ids == nil {
			out[j] = []int{}
		}
	}
	return out
}

// checkWritable checks what JSON cannot carry.
func checkWritable(i int, t *Trajectory) error {
	text := func(turn int, field, s string) error {
		if utf8.ValidString(s) {
			return nil
		}
		return &FieldError{i, turn, field, fmt.Sprintf("%.40q", s), "valid UTF-8", nil}
	}
	for _, f := range [...][2]string{
		{"ID", t.ID}, {"Group", t.Group}, {"Task", t.Task}, {"Split", t.Split}, {"FinalState", t.FinalState}, {"Excluded", t.Excluded},
	} {
		if err := text(-1, f[0], f[1]); err != nil {
			return err
		}
	}
	if t.FinalValue != nil && !finite(*t.FinalValue) {
		return nonFinite(i, -1, "FinalValue", *t.FinalValue)
	}
	for k := range t.Turns {
		turn := &t.Turns[k]
		if err := text(k, "State", turn.State); err != nil {
			return err
		}
		if turn.End > Truncated {
			return &FieldError{i, k, "End", turn.End.String(), "Continue, Terminated or Truncated", nil}
		}
		for j := range turn.Tokens {
			tok := &turn.Tokens[j]
			if !finite(tok.LogProb) || !finite(tok.RefLogProb) || !finite(tok.Value) {
				return &FieldError{i, k, fmt.Sprintf("Tokens[%d]", j), fmt.Sprintf("%+v", *tok), "finite numbers only", ErrNonFinite}
			}
		}
	}
	return checkFinite(i, t, readValue|readFinal|readQ)
}

// ReadTrajectories reads what [WriteTrajectories] writes: one JSON object per line, blank lines skipped. Only the
// fields of [Trajectory], [Turn] and [Token] are taken, with their exact names, each at most once in an object, and no
// null; every trajectory passes [Validate]. A line is at most 64 MiB long and has at most 1 Mi commas, so memory is
// bounded whatever r holds.
//
// Time is linear in the bytes of r. After an error, which names the line counted from 1, the sequence ends. It can be
// ranged over once, reads ahead of what it yields, and does not close r.
func ReadTrajectories(r io.Reader) iter.Seq2[Trajectory, error] {
	count := 0
	return jsonl.Values(r, maxLine, "rl:", func(line []byte, _ int) (Trajectory, error) {
		count++
		return parseTrajectory(count-1, bytes.TrimSpace(line))
	})
}

// parseTrajectory reads trajectory i of a file.
func parseTrajectory(i int, line []byte) (Trajectory, error) {
	if !utf8.Valid(line) {
		return Trajectory{}, errors.New("invalid UTF-8")
	}
	if err := checkFields(line); err != nil {
		return Trajectory{}, err
	}
	var t Trajectory
	if err := json.Unmarshal(line, &t); err != nil {
		return Trajectory{}, err
	}
	return t, validate(i, &t)
}

// Field names by depth of the object: trajectory, turn, token.
var fieldNames = [...][]string{
	{"id", "group", "task", "split", "turns", "final_state", "final_value", "success", "excluded"},
	{"state", "tokens", "allowed", "reward", "value", "qvalue", "end", "invalid", "excluded"},
	{"id", "trainable", "logprob", "ref_logprob", "value"},
}

// checkFields demands what encoding/json lets pass, ahead of it: field names in their exact spelling, none twice in an
// object, no null, and a bounded number of commas. Malformed JSON is left to the decoder.
func checkFields(line []byte) error {
	var seen [len(fieldNames)]uint // a bit for each name of the open object at that depth
	depth, commas := 0, 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{':
			if depth == len(fieldNames) {
				return fmt.Errorf("object at byte %d is nested too deep", i)
			}
			seen[depth] = 0
			depth++
		case '}':
			depth = max(0, depth-1)
		case ',':
			if commas++; commas > maxCommas {
				return fmt.Errorf("more than %d commas", maxCommas)
			}
		case 'n': // neither true, false nor a number has this letter
			return fmt.Errorf("null at byte %d, want the field left out", i)
		case '"':
			from := i + 1
			for i = from; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' {
					i++
				}
			}
			if rest := bytes.TrimLeft(line[min(i+1, len(line)):], " \t\r"); len(rest) == 0 || rest[0] != ':' || depth == 0 {
				continue
			}
			name := string(line[from:i])
			bit := slices.Index(fieldNames[depth-1], name)
			if bit < 0 {
				return fmt.Errorf("unknown field %.40q at byte %d", name, from)
			}
			if seen[depth-1]&(1<<bit) != 0 {
				return fmt.Errorf("field %q a second time at byte %d", name, from)
			}
			seen[depth-1] |= 1 << bit
		}
	}
	return nil
}
