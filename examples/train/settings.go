package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/examples/internal/study"
	"github.com/throughline-go/throughline/internal/atomicfile"
)

var (
	errInput   = errors.New("bad input")
	errPrinted = errors.New("package flag has told it already")
)

// settings are what the flags say.
type settings struct {
	study                     study.Config
	out                       string
	resume, times, list, json bool
	values                    map[string]string // by the names of the flags: all that shapes the numbers, and how long to train
}

// Flags that run.json does not hold, as they change no number,
var unsaved = []string{"workers", "out", "resume", "times", "json", "list"}

// and those that may be another when a run is resumed.
var amounts = []string{"iterations", "env-steps", "patience"}

// parse reads the flags, with -resume also those of the earlier run, and checks them.
func parse(args []string, stderr io.Writer) (*settings, error) {
	s := &settings{}
	c, o := &s.study, &s.study.Options
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&c.World, "world", "keydoor_small", "`name` of the world, see -list")
	flags.StringVar(&c.Algorithm, "algo", "sapo", "`name` of the algorithm, see -list")
	flags.StringVar(&c.Model, "model", "transformer", "`name` of the architecture: transformer or gru")
	flags.IntVar(&c.Dim, "dim", 32, "`width` of hidden vectors")
	flags.IntVar(&c.Heads, "heads", 4, "`number` of attention heads, a divisor of -dim; not read by a gru")
	flags.IntVar(&c.Layers, "layers", 1, "`number` of layers; not read by a gru")
	flags.IntVar(&c.Demos, "demos", 0, "imitate the world's plans for this `number` of training tasks first")
	flags.IntVar(&c.Warm.Epochs, "warm-epochs", 10, "`passes` over them")
	flags.Float64Var(&c.Warm.Rate, "warm-rate", 3e-3, "learning `rate` of that")
	flags.IntVar(&o.Iterations, "iterations", 20, "train for this `number` of iterations at most; 0 means no limit")
	flags.IntVar(&o.MaxEnvSteps, "env-steps", 0, "train until this `number` of environment steps at most; 0 means no limit")
	flags.IntVar(&o.Patience, "patience", 0, "train until this `number` of evaluations in a row were no better than the best; 0 means no limit")
	flags.IntVar(&o.Tasks, "tasks", 0, "`number` of tasks in an iteration; 0 means that of the algorithm")
	flags.IntVar(&o.Rollouts, "rollouts", 0, "`number` of episodes of each; 0 means that of the algorithm")
	flags.Float64Var(&o.Rate, "rate", 1e-3, "learning `rate`")
	flags.IntVar(&o.Epochs, "epochs", 1, "`passes` over the episodes of an iteration")
	flags.IntVar(&o.MiniBatch, "batch", 128, "`turns` in an optimiser step; 0 means all of the iteration")
	flags.IntVar(&o.EvalEvery, "eval-every", 4, "`iterations` between evaluations; 0 means none, and the last parameters count as the best")
	flags.IntVar(&o.EvalTasks, "eval-tasks", 0, "`number` of tasks in an evaluation; 0 means all of the split")
	history := flags.Int("history", 1, "earlier `turns` that the model is shown")
	flags.IntVar(&o.Agent.MaxLen, "maxlen", 256, "most `tokens` of a context and an action together")
	flags.IntVar(&o.Agent.MaxResponse, "maxresponse", 16, "most `tokens` of an action, one of them for its end; AgentOptions.MaxResponse in messages")
	flags.BoolVar(&o.Agent.Candidates, "candidates", true, "let the model choose among the admissible actions; if false, it writes what it likes")
	flags.Uint64Var(&o.Seed, "seed", 1, "random `number`; the same seed writes the same bytes")
	flags.IntVar(&o.Workers, "workers", runtime.NumCPU(), "`number` of processors used; changes the speed alone")
	flags.StringVar(&s.out, "out", "", "keep the run in this `folder`")
	flags.BoolVar(&s.resume, "resume", false, "go on with the run in the folder of -out")
	flags.BoolVar(&s.times, "times", false, "add the seconds that phases take to metrics.jsonl")
	flags.BoolVar(&s.json, "json", false, "print one JSON object instead of the tables")
	flags.BoolVar(&s.list, "list", false, "list algorithms and worlds instead of training")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, errPrinted
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if s.list {
		return s, nil
	}
	if s.resume {
		if s.out == "" {
			return nil, errors.New("-resume needs the folder of the run, -out")
		}
		if err := adopt(flags, s.out); err != nil {
			return nil, err
		}
	}
	s.values = map[string]string{}
	flags.VisitAll(func(f *flag.Flag) {
		if !slices.Contains(unsaved, f.Name) {
			s.values[f.Name] = f.Value.String()
		}
	})
	if err := check(flags); err != nil {
		return nil, err
	}
	if o.Iterations == 0 && o.MaxEnvSteps == 0 && (o.Patience == 0 || o.EvalEvery == 0) {
		return nil, errors.New("training would never end: one of -iterations, -env-steps, and -patience with -eval-every, must be positive")
	}
	o.Agent.History = history
	if o.EvalEvery == 0 {
		o.EvalEvery = -1 // none
	}
	return s, nil
}

// check reports the first flag in the order of names that is out of range.
func check(flags *flag.FlagSet) error {
	positive := []string{"dim", "heads", "layers", "warm-epochs", "epochs", "maxlen", "maxresponse", "workers"}
	var fault error
	flags.VisitAll(func(f *flag.Flag) {
		if fault != nil {
			return
		}
		switch v := f.Value.(flag.Getter).Get().(type) {
		case int:
			least := 0
			if slices.Contains(positive, f.Name) {
				least = 1
			}
			if v < least {
				fault = fmt.Errorf("-%s is %d, want at least %d", f.Name, v, least)
			}
		case float64: // all of them are rates
			if !(v > 0) || math.IsInf(v, 1) {
				fault = fmt.Errorf("-%s is %v, want a finite number > 0", f.Name, v)
			}
		}
	})
	return fault
}

const runName = "run.json"

// saved is the content of run.json.
type saved struct {
	Command  string            `json:"command"` // says whose the folder is
	Version  int               `json:"version"`
	Settings map[string]string `json:"settings"`
}

const (
	command = "examples/train"
	version = 1
)

// readSettings returns the settings of the run in a folder.
func readSettings(dir string) (map[string]string, error) {
	path := filepath.Join(dir, runName)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r saved
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil || r.Command != command {
		return nil, fmt.Errorf("%s is of another command", path)
	}
	if r.Version != version {
		return nil, fmt.Errorf("%s has version %d, want %d", path, r.Version, version)
	}
	return r.Settings, nil
}

// save writes run.json.
func (s *settings) save() error {
	data, err := json.MarshalIndent(saved{command, version, s.values}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(s.out, runName), append(data, '\n'), 0o666)
}

// adopt gives the flags that are not set the values of the run in a folder, and refuses others than those.
func adopt(flags *flag.FlagSet, dir string) error {
	values, err := readSettings(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no run to resume in %s", dir)
	}
	if err != nil {
		return fmt.Errorf("-resume: %w", err)
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var there, here []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f := flags.Lookup(name)
		switch {
		case f == nil || slices.Contains(unsaved, name):
			return fmt.Errorf("-resume: %s has a setting %q, which there is no more", filepath.Join(dir, runName), name)
		case !given[name]:
			if err := flags.Set(name, values[name]); err != nil {
				return fmt.Errorf("-resume: %s: -%s: %w", filepath.Join(dir, runName), name, err)
			}
		case f.Value.String() != values[name] && !slices.Contains(amounts, name):
			there = append(there, fmt.Sprintf("-%s %s", name, values[name]))
			here = append(here, fmt.Sprintf("-%s %s", name, f.Value))
		}
	}
	if len(there) > 0 {
		return fmt.Errorf("-resume: the run in %s is one with %s, not %s", dir, strings.Join(there, " "), strings.Join(here, " "))
	}
	return nil
}
