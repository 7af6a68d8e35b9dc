package doubles

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
)

// A brokenMaze is a maze with a fault: a func that is not nil takes the place of a method.
type brokenMaze struct {
	*maze
	reset    func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error)
	step     func(ctx context.Context, a envharness.Action) (envharness.Transition, error)
	observe  func(ctx context.Context) (envharness.Observation, error)
	snapshot func(ctx context.Context) (envharness.State, error)
	restore  func(ctx context.Context, s envharness.State) error
	tools    func() []envharness.Tool
	describe func() envharness.Description
	rewind   func(ctx context.Context) error
	limit    func() int
	close    func() error
}

func (b *brokenMaze) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if b.reset != nil {
		return b.reset(ctx, o)
	}
	return b.maze.Reset(ctx, o)
}

func (b *brokenMaze) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if b.step != nil {
		return b.step(ctx, a)
	}
	return b.maze.Step(ctx, a)
}

func (b *brokenMaze) Observe(ctx context.Context) (envharness.Observation, error) {
	if b.observe != nil {
		return b.observe(ctx)
	}
	return b.maze.Observe(ctx)
}

func (b *brokenMaze) Snapshot(ctx context.Context) (envharness.State, error) {
	if b.snapshot != nil {
		return b.snapshot(ctx)
	}
	return b.maze.Snapshot(ctx)
}

func (b *brokenMaze) Restore(ctx context.Context, s envharness.State) error {
	if b.restore != nil {
		return b.restore(ctx, s)
	}
	return b.maze.Restore(ctx, s)
}

func (b *brokenMaze) Tools() []envharness.Tool {
	if b.tools != nil {
		return b.tools()
	}
	return b.maze.Tools()
}

func (b *brokenMaze) Describe() envharness.Description {
	if b.describe != nil {
		return b.describe()
	}
	return b.maze.Describe()
}

func (b *brokenMaze) RewindCounters(ctx context.Context) error {
	if b.rewind != nil {
		return b.rewind(ctx)
	}
	return b.maze.RewindCounters(ctx)
}

func (b *brokenMaze) TurnLimit() int {
	if b.limit != nil {
		return b.limit()
	}
	return b.maze.TurnLimit()
}

func (b *brokenMaze) Close() error {
	if b.close != nil {
		return b.close()
	}
	return b.maze.Close()
}

// afterStep lets f change every result of Step.
func (b *brokenMaze) afterStep(f func(a envharness.Action, t *envharness.Transition)) {
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		t, err := b.maze.Step(ctx, a)
		if err == nil {
			f(a, &t)
		}
		return t, err
	}
}

// checkMaze runs the kit on what open makes.
func checkMaze(ctx context.Context, open func() envharness.Environment) error {
	return envtest.Environment{
		New:   func(context.Context) (envharness.Environment, error) { return open(), nil },
		Tasks: mazeTasks(),
		Steps: 200,
	}.Check(ctx)
}

// A fault breaks one maze.
type fault func(b *brokenMaze)

// inEach is a double whose instances have the fault each for itself.
func inEach(rule, text string, f fault, also ...string) Double {
	return across(rule, text, func() (fault, func()) { return f, func() {} }, also...)
}

// across is a double whose instances have the fault together. Each check begins with begin and ends with the function it returns.
func across(rule, text string, begin func() (fault, func()), also ...string) Double {
	return Double{Rule: rule, Text: text, Also: also, Check: func(ctx context.Context) error {
		f, end := begin()
		defer end()
		return checkMaze(ctx, func() envharness.Environment {
			b := &brokenMaze{maze: newMaze()}
			f(b)
			return b
		})
	}}
}

func environments() []Double {
	return []Double{
		inEach("E01", "the first observation is empty", emptyStart),
		inEach("E02", "Reset refuses options {}", refuseOptions),
		inEach("E03", "a seed does not restart the stream of the resets without one", keepStream),
		inEach("E04", "the seed is ignored", seedDeaf),
		inEach("E05", "Info counts the episodes of the instance", countEpisodes),
		across("E05", "Info has a number that nobody can repeat", unrepeatable, "E06"),
		across("E06", "Info numbers the instances", numberInstances),
		inEach("E07", "no seed means seed 0", defaultSeed),
		inEach("E08", "Step before Reset starts an episode", stepResets),
		inEach("E09", "Step after the end returns a last transition again", repeatEnd),
		inEach("E09", "Step after the end counts a turn", countAfterEnd),
		inEach("E10", "a look on the first turn truncates the episode", truncateFirst),
		inEach("E11", "the second Step after the end is carried out", resurrect),
		inEach("E11", "a stop elsewhere than at the goal ends the episode without a flag", endSilently),
		inEach("E11", "a truncation has no reason", truncateWithoutReason),
		inEach("E12", "Info[\"return\"] lacks the last reward", returnLate),
		inEach("E13", "the reward of a look is not a number", rewardNaN),
		inEach("E14", "a number in Data is an int", dataInt),
		inEach("E15", "Observe draws from the episode's stream", observeDraws),
		inEach("E16", "a tool is named close", reservedTool),
		inEach("E16", "the pass rate of chance is 2", chanceAboveOne),
		inEach("E17", "the look that is listed is refused", refuseListed),
		inEach("E17", "an unknown action moves all the same", unknownMoves),
		inEach("E17", "a move into the wall is refused and bounces off it", bounce),
		inEach("E17", "an unknown action is refused with a class of its own", ownClass),
		inEach("E17", "the environment fails after 30 turns", flaky, "E30"),
		inEach("E18", "look and stop ignore their arguments", ignoreArguments),
		inEach("E19", "Reset in mid-episode keeps the turn", keepTurn),
		inEach("E20", "Reset after a full episode fails", resetOnce),
		inEach("E21", "the episode is one turn too short", oneTurnEarly),
		inEach("E21", "refused actions use up no turn", refusalsFree),
		inEach("E21", "TurnLimit is one turn too low", tellLower),
		inEach("E21", "TurnLimit is above MaxTurns", tellHigher),
		inEach("E21", "TurnLimit tells the turns left", tellLeft),
		inEach("E21", "RewindCounters stops at 1", rewindToOne),
		inEach("E22", "the second Close fails", closeOnce),
		inEach("E22", "Step after Close is carried out", stepAfterClose),
		across("E23", "a goroutine of each instance stays", leakGoroutine),
		across("E23", "a descriptor of each instance stays open", leakDescriptor),
		across("E23", "a temporary file of each instance stays", leakFile),
		inEach("E24", "a canceled Step waits for Close", deafToCancel),
		across("E25", "the instances share where they are", sharePosition),
		inEach("E26", "all observations share their Data", shareData),
		inEach("E26", "Step writes to the arguments that it was given", writeArguments),
		inEach("E26", "Step keeps the arguments and reads them again later", keepArguments),
		inEach("E27", "a snapshot forgets how far the stream was drawn", forgetDraws),
		inEach("E27", "a snapshot is a number that only its instance understands", snapshotHandles),
		inEach("E28", "Restore takes any version", anyVersion),
		inEach("E28", "a Restore that is refused moves", restoreMoves),
		{Rule: "E29", Text: "New returns a Harness", Check: func(ctx context.Context) error {
			return checkMaze(ctx, func() envharness.Environment {
				h, _ := envharness.New(mazeWorld()) // a world that is complete
				return h
			})
		}},
		inEach("E30", "a tool name that is not UTF-8 panics", panicOnBytes),
		inEach("E31", "the text has a word that is not in the vocabulary, at the right end alone", foreignText),
		inEach("E31", "an admissible action has a word that is not in the vocabulary", foreignAction),
		inEach("E31", "the text repeats the name of an unknown tool", quoteUnknown),
		inEach("E31", "after RewindCounters the text has a word that is not in the vocabulary", foreignRewind),
		inEach("E31", "arguments are refused with a class that is not declared", undeclaredClass),
	}
}

func emptyStart(b *brokenMaze) {
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		_, err := b.maze.Reset(ctx, o)
		return envharness.Observation{}, err
	}
	b.observe = func(ctx context.Context) (envharness.Observation, error) {
		o, err := b.maze.Observe(ctx)
		if b.now.Turn == 0 {
			o = envharness.Observation{}
		}
		return o, err
	}
}

func refuseOptions(b *brokenMaze) {
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		if o.Options != nil {
			return envharness.Observation{}, errors.New("maze: there are no options")
		}
		return b.maze.Reset(ctx, o)
	}
}

func keepStream(b *brokenMaze) {
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		own := b.own
		obs, err := b.maze.Reset(ctx, o)
		if o.Seed != nil {
			b.own = own
		}
		return obs, err
	}
}

// Seeds are dropped in huggingface/OpenEnv#1102 and NetHack-LE/nle#131.
func seedDeaf(b *brokenMaze) {
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		if o.Seed != nil {
			o.Seed = new(uint64(1))
		}
		return b.maze.Reset(ctx, o)
	}
}

func countEpisodes(b *brokenMaze) {
	episodes := 0.0
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		episodes++
		return b.maze.Reset(ctx, o)
	}
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) { t.Info["episode"] = episodes })
}

func unrepeatable() (fault, func()) {
	var calls atomic.Int64
	return func(b *brokenMaze) {
		b.afterStep(func(_ envharness.Action, t *envharness.Transition) { t.Info["call"] = float64(calls.Add(1)) })
	}, func() {}
}

func numberInstances() (fault, func()) {
	var instances atomic.Int64
	return func(b *brokenMaze) {
		number := float64(instances.Add(1))
		b.afterStep(func(_ envharness.Action, t *envharness.Transition) { t.Info["instance"] = number })
	}, func() {}
}

func defaultSeed(b *brokenMaze) {
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		if o.Seed == nil {
			o.Seed = new(uint64(0))
		}
		return b.maze.Reset(ctx, o)
	}
}

func stepResets(b *brokenMaze) {
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		t, err := b.maze.Step(ctx, a)
		if !errors.Is(err, envharness.ErrNeedReset) {
			return t, err
		}
		if _, err := b.maze.Reset(ctx, envharness.ResetOptions{}); err != nil {
			return t, err
		}
		return b.maze.Step(ctx, a)
	}
}

func repeatEnd(b *brokenMaze) {
	var last envharness.Transition
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		t, err := b.maze.Step(ctx, a)
		if errors.Is(err, envharness.ErrEpisodeOver) {
			return last, nil
		}
		last = t
		return t, err
	}
}

func countAfterEnd(b *brokenMaze) {
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		t, err := b.maze.Step(ctx, a)
		if errors.Is(err, envharness.ErrEpisodeOver) {
			b.now.Turn++
		}
		return t, err
	}
}

func truncateFirst(b *brokenMaze) {
	b.afterStep(func(a envharness.Action, t *envharness.Transition) {
		if b.now.Turn == 1 && a.Name == "look" && t.Error == nil {
			b.now.Turn = mazeLimit
			t.Truncated, t.Reason, t.Observation = true, "dark", b.observation()
		}
	})
}

// A hidden reset after the end: poke-env#211.
func resurrect(b *brokenMaze) {
	told := false
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		if told && b.now.over() {
			b.now.Turn, b.now.Stopped = 0, false
		}
		t, err := b.maze.Step(ctx, a)
		told = errors.Is(err, envharness.ErrEpisodeOver)
		return t, err
	}
}

// The end comes as an error, and no transition before it said so: PettingZoo#1085.
func endSilently(b *brokenMaze) {
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) {
		if t.Reward <= 0 {
			t.Terminated = false
		}
	})
}

func truncateWithoutReason(b *brokenMaze) {
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) { t.Reason = "" })
}

func returnLate(b *brokenMaze) {
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) { t.Info["return"] = b.now.Return - t.Reward })
}

func rewardNaN(b *brokenMaze) {
	b.afterStep(func(a envharness.Action, t *envharness.Transition) {
		if a.Name == "look" {
			t.Reward = math.NaN()
		}
	})
}

func dataInt(b *brokenMaze) {
	change := func(o envharness.Observation, err error) (envharness.Observation, error) {
		if err == nil {
			o.Data["at"] = b.now.At
		}
		return o, err
	}
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		return change(b.maze.Reset(ctx, o))
	}
	b.observe = func(ctx context.Context) (envharness.Observation, error) { return change(b.maze.Observe(ctx)) }
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) { t.Observation.Data["at"] = b.now.At })
}

func observeDraws(b *brokenMaze) {
	b.observe = func(ctx context.Context) (envharness.Observation, error) {
		o, err := b.maze.Observe(ctx)
		if err == nil {
			b.now.draw(100)
		}
		return o, err
	}
}

func reservedTool(b *brokenMaze) {
	b.tools = func() []envharness.Tool {
		tools := b.maze.Tools()
		if tools != nil {
			tools = append(tools, envharness.Tool{Name: "close"})
		}
		return tools
	}
}

func chanceAboveOne(b *brokenMaze) {
	b.describe = func() envharness.Description {
		d := b.maze.Describe()
		d.Chance = 2
		return d
	}
}

func refuseListed(b *brokenMaze) {
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		if a.Name != "look" || len(a.Args) > 0 {
			return b.maze.Step(ctx, a)
		}
		t, err := b.maze.Step(ctx, envharness.Action{Name: "look", Args: json.RawMessage("[]")})
		if err == nil {
			t.Error = refuse(envharness.ClassPrecondition, "it is dark")
		}
		return t, err
	}
}

func unknownMoves(b *brokenMaze) {
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) {
		if t.Error != nil && t.Error.Class == envharness.ClassUnknownTool && !b.now.over() {
			b.now.At = (b.now.At + 1) % b.now.Width
			t.Observation = b.observation()
		}
	})
}

func bounce(b *brokenMaze) {
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) {
		if t.Error == nil || t.Error.Class != envharness.ClassPrecondition || b.now.over() {
			return
		}
		if b.now.At == 0 {
			b.now.At++
		} else {
			b.now.At--
		}
		t.Observation = b.observation()
	})
}

func ownClass(b *brokenMaze) {
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) {
		if t.Error != nil && t.Error.Class == envharness.ClassUnknownTool {
			t.Error.Class = "no idea"
		}
	})
}

func flaky(b *brokenMaze) {
	turns := 0
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		if turns++; turns > 30 && b.playing(ctx) == nil && !b.now.over() {
			return envharness.Transition{}, envharness.ErrInfra
		}
		return b.maze.Step(ctx, a)
	}
}

func ignoreArguments(b *brokenMaze) {
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		if a.Name == "look" || a.Name == "stop" {
			a.Args = nil
		}
		return b.maze.Step(ctx, a)
	}
}

// Reset leaves the step counter: Gymnasium#885.
func keepTurn(b *brokenMaze) {
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		turn := 0
		if b.ready && !b.now.over() {
			turn = b.now.Turn
		}
		obs, err := b.maze.Reset(ctx, o)
		b.now.Turn = turn
		return obs, err
	}
}

func resetOnce(b *brokenMaze) {
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		if b.usable(ctx) == nil && b.ready && b.now.over() {
			return envharness.Observation{}, errors.New("maze: make a new one")
		}
		return b.maze.Reset(ctx, o)
	}
}

func oneTurnEarly(b *brokenMaze) {
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) {
		if b.now.Turn == mazeLimit-1 && !t.Ended() {
			b.now.Turn = mazeLimit
			t.Truncated, t.Reason, t.Observation = true, "max_turns", b.observation()
		}
	})
}

func refusalsFree(b *brokenMaze) {
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) {
		if t.Error != nil {
			b.now.Turn--
			t.Truncated, t.Reason, t.Observation = false, "", b.observation()
		}
	})
}

func tellLower(b *brokenMaze) { b.limit = func() int { return mazeLimit - 1 } }

func tellHigher(b *brokenMaze) { b.limit = func() int { return mazeLimit + 1 } }

func tellLeft(b *brokenMaze) { b.limit = func() int { return mazeLimit - b.now.Turn } }

func rewindToOne(b *brokenMaze) {
	b.rewind = func(ctx context.Context) error {
		err := b.maze.RewindCounters(ctx)
		if err == nil {
			b.now.Turn = 1
		}
		return err
	}
}

func closeOnce(b *brokenMaze) {
	b.close = func() error {
		if b.closed.Swap(true) {
			return envharness.ErrClosed
		}
		return nil
	}
}

func stepAfterClose(b *brokenMaze) {
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		t, err := b.maze.Step(ctx, a)
		if errors.Is(err, envharness.ErrClosed) {
			return envharness.Transition{}, nil
		}
		return t, err
	}
}

// In openai/gym#1544 it is a worker that keeps the process alive.
func leakGoroutine() (fault, func()) {
	end := make(chan struct{})
	return func(*brokenMaze) { go func() { <-end }() }, func() { close(end) }
}

// A heap holds what doubles leave behind until the end of the check.
type heap struct {
	mu      sync.Mutex
	release []func()
}

func (h *heap) add(release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release = append(h.release, release)
}

func (h *heap) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.release {
		f()
	}
}

func leakDescriptor() (fault, func()) {
	h := &heap{}
	return func(*brokenMaze) {
		if f, err := os.Open(os.DevNull); err == nil {
			h.add(func() { _ = f.Close() }) // read only
		}
	}, h.clear
}

func leakFile() (fault, func()) {
	h := &heap{}
	return func(*brokenMaze) {
		f, err := os.CreateTemp("", "maze")
		if err != nil {
			return
		}
		_ = f.Close() // nothing was written
		h.add(func() { _ = os.Remove(f.Name()) })
	}, h.clear
}

func deafToCancel(b *brokenMaze) {
	closed := make(chan struct{})
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		if ctx.Err() != nil {
			<-closed
		}
		return b.maze.Step(ctx, a)
	}
	b.close = func() error {
		if !b.closed.Swap(true) {
			close(closed)
		}
		return nil
	}
}

// A shared backend: osim-rl#58.
func sharePosition() (fault, func()) {
	var mu sync.Mutex
	at := 0
	return func(b *brokenMaze) {
		b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
			mu.Lock()
			defer mu.Unlock()
			obs, err := b.maze.Reset(ctx, o)
			at = b.now.At
			return obs, err
		}
		b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
			mu.Lock()
			defer mu.Unlock()
			b.now.At = min(at, max(b.now.Width-1, 0))
			t, err := b.maze.Step(ctx, a)
			at = b.now.At
			return t, err
		}
		b.restore = func(ctx context.Context, s envharness.State) error {
			mu.Lock()
			defer mu.Unlock()
			err := b.maze.Restore(ctx, s)
			at = b.now.At
			return err
		}
	}, func() {}
}

func shareData(b *brokenMaze) {
	shared := map[string]any{}
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) {
		maps.Copy(shared, t.Observation.Data)
		t.Observation.Data = shared
	})
}

func writeArguments(b *brokenMaze) {
	b.afterStep(func(a envharness.Action, _ *envharness.Transition) {
		for i := range a.Args {
			a.Args[i] = ' '
		}
	})
}

func keepArguments(b *brokenMaze) {
	var kept json.RawMessage
	b.afterStep(func(a envharness.Action, t *envharness.Transition) {
		t.Info["readable"] = len(kept) == 0 || json.Valid(kept)
		kept = nil
		if t.Error == nil {
			kept = a.Args
		}
	})
}

func forgetDraws(b *brokenMaze) {
	b.snapshot = func(ctx context.Context) (envharness.State, error) {
		if err := b.playing(ctx); err != nil {
			return nil, err
		}
		s := b.now
		s.Draws = 0
		return json.Marshal(s)
	}
}

// A number is one JSON object too, but not the state.
func snapshotHandles(b *brokenMaze) {
	type handle struct {
		Kind    string `json:"kind"`
		Version int    `json:"version"`
		Number  int    `json:"number"`
	}
	var kept []mazeState
	b.snapshot = func(ctx context.Context) (envharness.State, error) {
		if err := b.playing(ctx); err != nil {
			return nil, err
		}
		n := slices.Index(kept, b.now)
		if n < 0 {
			n = len(kept)
			kept = append(kept, b.now)
		}
		return json.Marshal(handle{mazeKind, 1, n})
	}
	b.restore = func(ctx context.Context, doc envharness.State) error {
		if err := b.playing(ctx); err != nil {
			return err
		}
		var h handle
		if err := decodeStrictly(doc, &h); err != nil || h.Kind != mazeKind || h.Version != 1 || h.Number >= len(kept) {
			return errors.New("maze: no such snapshot")
		}
		b.now = kept[h.Number]
		return nil
	}
}

func anyVersion(b *brokenMaze) {
	b.restore = func(ctx context.Context, doc envharness.State) error {
		var s map[string]any
		if json.Unmarshal(doc, &s) == nil && s["version"] != nil {
			s["version"] = 1
			doc, _ = json.Marshal(s) // came from JSON
		}
		return b.maze.Restore(ctx, doc)
	}
}

func restoreMoves(b *brokenMaze) {
	b.restore = func(ctx context.Context, doc envharness.State) error {
		err := b.maze.Restore(ctx, doc)
		if err != nil && b.playing(ctx) == nil {
			b.now.At = (b.now.At + 1) % b.now.Width
		}
		return err
	}
}

func panicOnBytes(b *brokenMaze) {
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		if !utf8.ValidString(a.Name) {
			panic("maze: a name that is not UTF-8")
		}
		return b.maze.Step(ctx, a)
	}
}

// changeObservations changes all observations in the same way, which must be one that does not add up.
func (b *brokenMaze) changeObservations(f func(o *envharness.Observation)) {
	change := func(o envharness.Observation, err error) (envharness.Observation, error) {
		if err == nil {
			f(&o)
		}
		return o, err
	}
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		return change(b.maze.Reset(ctx, o))
	}
	b.observe = func(ctx context.Context) (envharness.Observation, error) { return change(b.maze.Observe(ctx)) }
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) { f(&t.Observation) })
}

func foreignText(b *brokenMaze) {
	b.changeObservations(func(o *envharness.Observation) {
		if b.now.At == b.now.Width-1 {
			o.Text += ", wall"
		}
	})
}

// What is listed is carried out, like a look.
func foreignAction(b *brokenMaze) {
	b.changeObservations(func(o *envharness.Observation) {
		if len(o.Actions) > 0 {
			o.Actions = append(slices.Clone(o.Actions), envharness.Action{Name: "see"})
		}
	})
	step := b.step
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		if a.Name == "see" && len(a.Args) == 0 {
			a.Name = "look"
		}
		return step(ctx, a)
	}
}

func quoteUnknown(b *brokenMaze) {
	said := ""
	b.changeObservations(func(o *envharness.Observation) { o.Text += said })
	step := b.step
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		if b.playing(ctx) == nil && !b.now.over() {
			if said = ""; !slices.ContainsFunc(mazeTools(), func(t envharness.Tool) bool { return t.Name == a.Name }) {
				said = ", " + strings.ToValidUTF8(a.Name, "?")
			}
		}
		return step(ctx, a)
	}
	reset := b.reset
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		said = ""
		return reset(ctx, o)
	}
}

func undeclaredClass(b *brokenMaze) {
	b.afterStep(func(_ envharness.Action, t *envharness.Transition) {
		if t.Error != nil && t.Error.Class == envharness.ClassBadArgs {
			t.Error.Class = envharness.ClassPermission
		}
	})
}

// Until the next Step it is told that the turns were rewound.
func foreignRewind(b *brokenMaze) {
	rewound := false
	b.changeObservations(func(o *envharness.Observation) {
		if rewound {
			o.Text += ", rewound"
		}
	})
	b.rewind = func(ctx context.Context) error {
		err := b.maze.RewindCounters(ctx)
		rewound = rewound || err == nil
		return err
	}
	step, reset := b.step, b.reset
	b.step = func(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
		rewound = false
		return step(ctx, a)
	}
	b.reset = func(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
		rewound = false
		return reset(ctx, o)
	}
}
