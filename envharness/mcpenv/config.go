package mcpenv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/jsonpointer"
)

// A Server says how to reach a server: Command or URL.
type Server struct {
	Command []string // program and arguments; the server speaks on its standard streams
	Dir     string   // working folder of the program; empty means that of the caller
	// Env are variables of the program, as "NAME=value", besides the few of this process without which programs do not run (PATH, HOME,
	// TMPDIR, ...). No other variable of this process is passed on, so that secrets go to those alone that they are given to.
	Env    []string
	Grace  time.Duration // how long the program may take to end by itself before it is killed; zero means 2 seconds
	Stderr io.Writer     // gets what the program writes there; nil discards it

	URL        string       // address of a streamable HTTP endpoint
	Header     http.Header  // sent with each request, such as Authorization
	HTTPClient *http.Client // nil means a client of its own without a proxy or cookies

	MaxMessage int // longest message of the server in bytes; zero means 4 MiB
}

// A Task is one problem: what the policy is told, how the server's world starts, and how it must end.
type Task struct {
	envharness.Task        // the ID is not empty and unique; a Seed is ignored, and Options must be empty
	Prompt          string // what the policy is shown first
	// Start are calls on the fresh server before the first turn, with the server's own names of tools. They are no part of the episode: the
	// first that is refused or fails is the error of Reset.
	Start []envharness.Action
	Goal  json.RawMessage // the state that the read tool must show in the end, as the server shows it; nil if Judge needs none
}

// Config describes a world. Server, Tasks, and Read or Judge are needed.
type Config struct {
	Name  string // of the world, in its description; empty means "mcp"
	About string // as in [envharness.Description]

	// Server returns the server of one episode. Dir is a new empty folder that is removed with the episode: for a server that keeps
	// its state in files. It must be safe for concurrent use.
	Server func(dir string) Server
	// Fresh makes the world of a server that outlives its sessions a fresh one; it is called at each Reset before Server. Nil means that
	// there is nothing to do, as with a program that Server starts. See the package comment on HTTP. It must be safe for concurrent use.
	Fresh func(ctx context.Context) error
	Tasks []Task

	// Rename gives tools other names, from the server's to those shown: for those that package envharness reserves, or that look like
	// another. What is not in it keeps its name. A name that the server does not list is an error of Reset.
	Rename map[string]string
	// Read is the call that shows the state, with the server's own name of the tool. It is made by the harness, on the session of the
	// episode, and is in no log; that it changes nothing is for the caller to see to. Without a name there is no state.
	Read envharness.Action
	// Unordered are the lists in the state whose order means nothing, as JSON pointers in which * stands for any key or index, such as
	// "/entities/*/observations". Nil means all lists that hold objects alone, and an empty slice none.
	Unordered []string
	// Judge compares the state in the end with the task. Nil means that the state equals Goal. The state is canonical JSON with unordered
	// lists sorted, nil without Read; the answer is empty without Answer. Judge must be a pure function and safe for concurrent use. An
	// error makes the episode Invalid.
	Judge func(t Task, state json.RawMessage, answer string) (envharness.Verdict, error)

	// Answer adds a tool submit{answer} of the adapter's own, which ends the episode; one that ends otherwise fails. Without Answer the
	// policy ends by stopping.
	Answer   bool
	MaxTurns int // after which an episode is truncated; zero means 50

	// Deterministic promises that a fresh server gives the same results to the same calls, but for what Volatile names, as in
	// [envharness.Description]: the harness then replays each episode on a fresh server before it believes a verdict. Without it verdicts
	// are marked Unreplayed. What the read tool shows is below /state/world.
	Deterministic bool
	Volatile      []string
}

const defaultMaxTurns = 50

// A world is a checked Config. It does not change.
type world struct {
	Config
	tasks     map[string]*Task
	unordered unordered
}

// World makes a world of the servers that c describes. It starts nothing. All faults in c are in one error.
//
// The environments are [envharness.ToolLister], [envharness.TaskLister], [envharness.Describer], [envharness.Observer] and
// [envharness.Rewinder], and with Read also [envharness.Stater]. Their Reset takes no seed unless c is Deterministic.
func World(c Config) (envharness.World, error) {
	w := &world{Config: c, tasks: map[string]*Task{}}
	if err := w.check(); err != nil {
		return envharness.World{}, fmt.Errorf("mcpenv: config: %w", err)
	}
	return envharness.World{
		New: func(ctx context.Context) (envharness.Environment, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			e := &environment{w: w}
			if w.Read.Name == "" {
				return e, nil
			}
			return stateful{e}, nil
		},
		Verifier: envharness.VerifierFunc(w.verify),
	}, nil
}

// check finds all faults, fills in the defaults, and makes what the caller may change its own.
func (w *world) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if w.Name == "" {
		w.Name = "mcp"
	}
	if w.Server == nil {
		fault("Server is nil")
	}
	if w.Read.Name == "" && w.Judge == nil {
		fault("Read has no name and Judge is nil: nothing can be judged")
	}
	w.Read = copyAction(w.Read)
	if !isObject(w.Read.Args) {
		fault("Read: arguments are no JSON object")
	}
	if w.MaxTurns < 0 {
		fault("MaxTurns is %d, want 0 or more", w.MaxTurns)
	}
	if w.MaxTurns == 0 {
		w.MaxTurns = defaultMaxTurns
	}
	w.Rename, w.Volatile = maps.Clone(w.Rename), slices.Clone(w.Volatile)
	for _, name := range slices.Sorted(maps.Keys(w.Rename)) {
		if to := w.Rename[name]; to == "" || envharness.ReservedTool(to) {
			fault("Rename: %q to %q, which is no name for a tool", name, to)
		}
	}
	for _, p := range w.Unordered {
		if p != "" && p[0] != '/' || jsonpointer.BadEscape(p) != "" {
			fault("Unordered: %q is no JSON pointer", p)
		}
	}
	w.unordered = newUnordered(w.Unordered)
	w.Tasks = slices.Clone(w.Tasks)
	if len(w.Tasks) == 0 {
		fault("there are no Tasks")
	}
	for i := range w.Tasks {
		t := &w.Tasks[i]
		if err := w.checkTask(t); err != nil {
			fault("task %d %q: %w", i, t.ID, err)
		}
		if w.tasks[t.ID] == nil {
			w.tasks[t.ID] = t
		}
	}
	return errors.Join(faults...)
}

func (w *world) checkTask(t *Task) error {
	var faults []error
	switch {
	case t.ID == "":
		faults = append(faults, errors.New("the ID is empty"))
	case w.tasks[t.ID] != nil:
		faults = append(faults, errors.New("the ID is used twice"))
	}
	if !noOptions(t.Options) {
		faults = append(faults, errors.New("there are Options, of which this world has none"))
	}
	t.Start = slices.Clone(t.Start)
	for k, a := range t.Start {
		if t.Start[k] = copyAction(a); a.Name == "" || !isObject(a.Args) {
			faults = append(faults, fmt.Errorf("start %d %q: want a name, and a JSON object or nil as arguments", k, a.Name))
		}
	}
	t.Goal = slices.Clone(t.Goal)
	switch {
	case t.Goal != nil && !json.Valid(t.Goal):
		faults = append(faults, errors.New("the Goal is no JSON"))
	case t.Goal == nil && w.Judge == nil:
		faults = append(faults, errors.New("there is no Goal, and Judge is nil"))
	}
	return errors.Join(faults...)
}

// task finds a task by its id; none means the first.
func (w *world) task(id string) (*Task, error) {
	if id == "" {
		return &w.Tasks[0], nil
	}
	t := w.tasks[id]
	if t == nil {
		return nil, fmt.Errorf("mcpenv: %w: %.80q", envharness.ErrNoTask, id)
	}
	return t, nil
}

// split lists the tasks of a split in order.
func (w *world) split(name string) ([]envharness.Task, error) {
	var tasks []envharness.Task
	var known []string
	for _, t := range w.Tasks {
		if t.Split == name {
			tasks = append(tasks, t.Task)
		}
		if !slices.Contains(known, t.Split) {
			known = append(known, t.Split)
		}
	}
	if tasks == nil {
		return nil, fmt.Errorf("mcpenv: unknown split %.80q, want one of %q", name, known)
	}
	return tasks, nil
}

func copyAction(a envharness.Action) envharness.Action {
	a.Args = slices.Clone(a.Args)
	return a
}

// isObject reports whether arguments are a JSON object, or nil, which means an empty one.
func isObject(args json.RawMessage) bool {
	trimmed := strings.TrimLeft(string(args), " \t\r\n")
	return len(args) == 0 || strings.HasPrefix(trimmed, "{") && json.Valid(args)
}

func noOptions(o json.RawMessage) bool {
	var m map[string]json.RawMessage
	return len(o) == 0 || json.Unmarshal(o, &m) == nil && len(m) == 0
}
