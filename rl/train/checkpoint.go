package train

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/internal/atomicfile"
	"github.com/throughline-go/throughline/rl"
)

// ErrCheckpoint is wrapped by the errors of [Trainer.Load] about what was read: a cut, a changed byte, another problem.
var ErrCheckpoint = errors.New("train: not a checkpoint of this run")

const (
	magic   = "TLtrain\x00"
	version = 1
	// A header is a few hundred bytes.
	maxHeader     = 1 << 16
	maxCheckpoint = 4 << 30
	maxCount      = 1 << 40 // no run gets there, and sums do not overflow
)

// header is the part of a checkpoint that is not parameters, as JSON.
type header struct {
	Config      string `json:"config"` // hash of all that shapes the numbers
	Iteration   int    `json:"iteration"`
	EnvSteps    int    `json:"env_steps"`
	Drawn       int    `json:"drawn"`
	Steps       int    `json:"steps"`
	Skipped     int    `json:"skipped"`
	Evaluated   int    `json:"evaluated"`
	BestSuccess uint64 `json:"best_success"` // bits
	Stale       int    `json:"stale"`
	Beta        uint64 `json:"beta"` // bits
}

// config is what must be equal for a run to be continued, as far as it can be seen: not how much of it there is, nor how it is watched.
func (t *Trainer) config() (string, error) {
	s, a := &t.s, t.algorithm
	tokenizer, err := json.Marshal(t.problem.Tokenizer)
	if err != nil {
		return "", err
	}
	words := sha256.Sum256(tokenizer)
	shape := []any{
		a.Name, a.Values, a.NoQ, a.TurnLoss, a.Aggregation, a.Bootstraps, s.Seed, s.Tasks, s.Rollouts, s.TrainSplit, s.TrainTasks,
		s.history, s.maxResponse, s.Agent.MaxLen, s.Agent.Candidates, s.Agent.Parse != nil, a.Loss != nil, s.SkipFlat,
		s.Rollout.States != nil, s.Rollout.MaxTurns, s.Rollout.SuccessReward, s.Rollout.Rewards, len(t.problem.Stacks),
		s.Rate, s.CriticRate, s.schedule, s.Epochs, s.MiniBatch, s.PPO, s.TurnRatio, s.Head, s.RMax, s.valueWeight, s.qWeight, s.klWeight, s.entropyWeight,
		s.KL, s.KLTarget, s.KLHorizon, s.TargetKL, s.InvalidPenalty, s.valueClip, s.EvalEvery, s.EvalSplit, s.EvalTasks, s.evalTemperature, s.MinDelta,
		t.problem.Tokenizer.Vocab(), hex.EncodeToString(words[:]), s.Reference != nil, t.problem.Notes != nil,
	}
	for _, item := range t.problem.Items { // nothing is added without items: there are checkpoints from before there were any
		spec := []any{item.Task}
		for _, c := range item.Components {
			spec = append(spec, c.Spec())
		}
		shape = append(shape, spec)
	}
	b, err := json.Marshal(shape)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Save writes the state of the run to a file, whole or not at all: parameters and optimiser of model and critic, the reference, the best
// parameters so far, and all counters. The format is
//
//	"TLtrain\0", version uint32, length uint32 of a JSON object, the object
//	model, critic, reference, best model: each a length uint64 and the bytes of its MarshalBinary, length 0 where there is none
//	SHA-256 of all that
//
// with numbers little-endian. A model that cannot be marshalled is an error.
func (t *Trainer) Save(path string) error {
	data, err := t.encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data, 0o666)
}

// encode returns a checkpoint.
func (t *Trainer) encode() ([]byte, error) {
	config, err := t.config()
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(header{config, t.iteration, t.envSteps, t.drawn, t.steps, t.skipped, t.evaluated,
		math.Float64bits(t.bestSuccess), t.stale, math.Float64bits(t.kl.Beta)})
	if err != nil {
		return nil, err
	}
	model, err := saved(t.model)
	if err != nil {
		return nil, err
	}
	if model == nil {
		return nil, fmt.Errorf("%w: it has no MarshalBinary and UnmarshalBinary, which a checkpoint needs", ErrUnsupported)
	}
	critic, err := saved(t.critic)
	if err != nil {
		return nil, err
	}
	if t.critic != nil && critic == nil {
		return nil, fmt.Errorf("%w: the critic has no MarshalBinary and UnmarshalBinary, which a checkpoint needs", ErrUnsupported)
	}
	var reference []byte
	if t.s.Reference == nil { // one that was given is given again
		if reference, err = saved(t.reference); err != nil {
			return nil, err
		}
		if t.reference != nil && reference == nil {
			return nil, fmt.Errorf("%w: the reference has no MarshalBinary and UnmarshalBinary, which a checkpoint needs", ErrUnsupported)
		}
	}
	out := binary.LittleEndian.AppendUint32([]byte(magic), version)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(head)))
	out = append(out, head...)
	for _, part := range [][]byte{model, critic, reference, t.best} {
		out = binary.LittleEndian.AppendUint64(out, uint64(len(part)))
		out = append(out, part...)
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

// parse takes a checkpoint apart; the parts share memory with data.
func parse(data []byte) (h header, parts [4][]byte, err error) {
	bad := func(format string, args ...any) (header, [4][]byte, error) {
		return header{}, [4][]byte{}, fmt.Errorf("%w: "+format, append([]any{ErrCheckpoint}, args...)...)
	}
	const fixed = len(magic) + 8
	if len(data) < fixed+sha256.Size {
		return bad("it is %d bytes long, too short", len(data))
	}
	if string(data[:len(magic)]) != magic {
		return bad("it starts with %q, want %q", data[:len(magic)], magic)
	}
	if v := binary.LittleEndian.Uint32(data[len(magic):]); v != version {
		return bad("version is %d, want %d", v, version)
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) {
		return bad("the checksum does not match: it is cut short or changed")
	}
	n := binary.LittleEndian.Uint32(body[len(magic)+4:])
	rest := body[fixed:]
	if n > maxHeader || uint64(n) > uint64(len(rest)) {
		return bad("the header is %d bytes long", n)
	}
	dec := json.NewDecoder(bytes.NewReader(rest[:n]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&h); err != nil {
		return bad("header: %v", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return bad("something follows the header")
	}
	for _, x := range []int{h.Iteration, h.EnvSteps, h.Drawn, h.Steps, h.Skipped, h.Evaluated, h.Stale} {
		if x < 0 || x > maxCount {
			return bad("a counter is %d, want 0 to %d", x, int64(maxCount))
		}
	}
	success, beta := math.Float64frombits(h.BestSuccess), math.Float64frombits(h.Beta)
	if !(success >= 0 && success <= 1) || !(beta >= 0) || math.IsInf(beta, 1) {
		return bad("best success %v and beta %v, want a share and a finite number >= 0", success, beta)
	}
	rest = rest[n:]
	for k := range parts {
		if len(rest) < 8 {
			return bad("part %d is missing", k)
		}
		size := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		if size > uint64(len(rest)) {
			return bad("part %d has %d bytes of %d", k, len(rest), size)
		}
		if size > 0 {
			parts[k] = rest[:size]
		}
		rest = rest[size:]
	}
	if len(rest) > 0 {
		return bad("%d bytes follow the last part", len(rest))
	}
	return h, parts, nil
}

// read reads a file that is not larger than a checkpoint can be.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxCheckpoint {
		return nil, fmt.Errorf("%w: %s is %d bytes long, want at most %d", ErrCheckpoint, path, info.Size(), int64(maxCheckpoint))
	}
	return os.ReadFile(path)
}

// Load goes on from what [Trainer.Save] wrote, in a trainer made from an equal problem with equal options (amounts of training, workers,
// and what watches may differ). The run continues with the numbers that it would have had. What cannot be seen is not compared: the world and its
// tasks, functions and the options bound in them, and the settings of the models' optimisers. An error about the file wraps [ErrCheckpoint];
// after any error the trainer is as it was.
func (t *Trainer) Load(path string) error {
	data, err := read(path)
	if err != nil {
		return err
	}
	if err := t.load(data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if dir, err := os.Stat(filepath.Dir(path)); err == nil && t.s.Dir != "" {
		if own, err := os.Stat(t.s.Dir); err == nil && os.SameFile(dir, own) {
			t.owns = true
		}
	}
	return nil
}

func (t *Trainer) load(data []byte) error {
	h, parts, err := parse(data)
	if err != nil {
		return err
	}
	config, err := t.config()
	if err != nil {
		return err
	}
	if h.Config != config {
		return fmt.Errorf("%w: it is of another problem or other options (%.12s, want %.12s)", ErrCheckpoint, h.Config, config)
	}
	undo, err := t.snapshot()
	if err != nil {
		return err
	}
	into := func(what string, model any, state []byte) error {
		m, ok := model.(encoding.BinaryUnmarshaler)
		if !ok {
			return fmt.Errorf("%w: the %s has no UnmarshalBinary", ErrUnsupported, what)
		}
		if err := m.UnmarshalBinary(bytes.Clone(state)); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrCheckpoint, what, err)
		}
		return nil
	}
	fail := func(err error) error { return t.undone(err, undo) }
	if (parts[1] != nil) != (t.critic != nil) {
		return fmt.Errorf("%w: it has a critic is %v, want %v", ErrCheckpoint, parts[1] != nil, t.critic != nil)
	}
	if parts[3] != nil { // the best model is only kept as bytes: see that it fits
		if err := into("best model", t.model, parts[3]); err != nil {
			return fail(err)
		}
	}
	if err := into("model", t.model, parts[0]); err != nil {
		return fail(err)
	}
	if t.critic != nil {
		if err := into("critic", t.critic, parts[1]); err != nil {
			return fail(err)
		}
	}
	var reference rl.Backbone = t.s.Reference
	if parts[2] != nil {
		f, ok := t.model.(freezer)
		if !ok || t.s.Reference != nil {
			return fail(fmt.Errorf("%w: it has a reference of its own", ErrCheckpoint))
		}
		reference = f.Freeze()
		if err := into("reference", reference, parts[2]); err != nil {
			return fail(err)
		}
	}
	t.reference = reference
	t.best = bytes.Clone(parts[3])
	t.counters = counters{iteration: h.Iteration, envSteps: h.EnvSteps, drawn: h.Drawn, steps: h.Steps, skipped: h.Skipped, evaluated: h.Evaluated,
		bestSuccess: math.Float64frombits(h.BestSuccess), stale: h.Stale}
	t.kl.Beta = math.Float64frombits(h.Beta)
	switch { // the amounts may have changed
	case t.s.MaxEnvSteps > 0 && t.envSteps >= t.s.MaxEnvSteps:
		t.done = "env_steps"
	case t.s.Iterations > 0 && t.iteration >= t.s.Iterations:
		t.done = "iterations"
	case t.s.Patience > 0 && t.stale >= t.s.Patience:
		t.done = "patience"
	}
	return nil
}

const checkpointPrefix, checkpointSuffix = "iteration-", ".ckpt"

// checkpoint saves into Dir and removes what is older than the last Keep.
func (t *Trainer) checkpoint() error {
	if err := os.MkdirAll(t.s.Dir, 0o777); err != nil {
		return err
	}
	before, err := checkpoints(t.s.Dir)
	if err != nil {
		return err
	}
	if len(before) > 0 && !t.owns {
		return fmt.Errorf("%w: %s holds %s, which this trainer has not loaded: load it, or choose another folder", ErrCheckpoint, t.s.Dir, before[0])
	}
	t.owns = true
	if err := t.Save(filepath.Join(t.s.Dir, fmt.Sprintf("%s%06d%s", checkpointPrefix, t.iteration, checkpointSuffix))); err != nil {
		return err
	}
	names, err := checkpoints(t.s.Dir)
	if err != nil {
		return err
	}
	kept := 0
	for _, name := range names {
		// Later ones are of a run that was taken back to an earlier iteration.
		if n := number(name); n <= t.iteration {
			if kept++; kept <= t.s.Keep {
				continue
			}
		}
		if err := os.Remove(filepath.Join(t.s.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// number returns the iteration in the name of a checkpoint, or -1 if it is none.
func number(name string) int {
	s, ok := strings.CutPrefix(name, checkpointPrefix)
	s, found := strings.CutSuffix(s, checkpointSuffix)
	n, err := strconv.Atoi(s)
	if !ok || !found || err != nil {
		return -1
	}
	return n
}

// checkpoints returns the names of the checkpoints in a folder, the latest first.
func checkpoints(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && number(e.Name()) >= 0 {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return number(b) - number(a) })
	return names, nil
}

// LoadLatest loads the latest checkpoint of Options.Dir that is whole, and reports the number of iterations done, 0 if there is none. A
// checkpoint of another problem or of other options is an error.
func (t *Trainer) LoadLatest() (iterations int, err error) {
	names, err := checkpoints(t.s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		path := filepath.Join(t.s.Dir, name)
		data, err := read(path)
		if err != nil && !errors.Is(err, ErrCheckpoint) {
			return 0, err
		}
		if _, _, err := parse(data); err != nil {
			continue // a crash of the system may leave one; the one before it is as good
		}
		if err := t.load(data); err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		t.owns = true
		return t.iteration, nil
	}
	if len(names) > 0 {
		return 0, fmt.Errorf("%w: none of the %d checkpoints in %s is whole", ErrCheckpoint, len(names), t.s.Dir)
	}
	return 0, nil
}
