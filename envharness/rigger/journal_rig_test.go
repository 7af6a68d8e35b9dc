package rigger

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// tellingPolicy is a policy that begins every answer with the name of its rollout, so that a trace tells which one it was.
type tellingPolicy struct {
	envharness.Policy
	name string
}

func (p tellingPolicy) Explain() (string, int) { return p.name, 1 }

// interrupted is a problem with policies that tell the name of their rollout, which is the first number of its stream, to started before
// they play it. They are good at one task, half as good where turns are few, and bad at the other.
func interrupted(started func(name string) int) Problem {
	w := keydoor.World(nil)
	return Problem{
		World: w, Fingerprint: "telling",
		Tasks: []envharness.Task{{ID: "1,3,0,0"}, {ID: "2,3,1,1"}},
		NewPolicy: func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			name := strconv.FormatUint(rng.Uint64(), 36)
			started(name)
			oracle := yardstick.Oracle(w, task)
			able := false
			return tellingPolicy{envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
				if t.Index == 0 {
					able = task.ID == "1,3,0,0" && rng.IntN(10) < 8 && (t.Left > 7 || rng.IntN(10) < 6)
				}
				if able {
					return oracle.Act(ctx, t)
				}
				return t.Shown.Actions[rng.IntN(len(t.Shown.Actions))], nil
			}), name}, nil
		},
	}
}

// askedDesigner tells what it is asked for, and proposes fewer and fewer turns, or more and more of the plan before the first.
func askedDesigner(started func(name string) int) Designer {
	return asked{func(ctx context.Context, b Brief) (Candidate, error) {
		n := len(b.Attempts)
		started(fmt.Sprintf("design/%s/%d", b.Task.ID, n))
		entry := components.Entry{Tag: "step_budget", Params: json.RawMessage(fmt.Sprintf(`{"turns":%d}`, 9-2*n))}
		if b.Direction == components.Easier {
			plan, err := json.Marshal(b.Plan[:n+1])
			if err != nil {
				return Candidate{}, err
			}
			entry = components.Entry{Tag: "start_replay", Params: json.RawMessage(`{"aid":true,"actions":` + string(plan) + `}`)}
		}
		return Candidate{Stack: []components.Entry{entry}, Direction: b.Direction}, nil
	}}
}

// asked is a function with a name.
type asked struct{ DesignerFunc }

func (asked) String() string { return "asked" }

func isDesign(name string) bool { return strings.HasPrefix(name, "design/") }

// A short run takes 20 rollouts and a few milliseconds; a long one has the whole gate.
func interruptedOptions(long bool, j *Journal, parallel int) *Options {
	o := &Options{
		Preset: Paper, Seed: 7, Baseline: 3, Attempts: 2, Journal: j,
		Rollout: envharness.RolloutOptions{Parallel: parallel, MaxTurns: 10},
	}
	if long {
		o.Preset, o.Baseline, o.Confirm, o.Attempts, o.NullEpisodes, o.SearchLimit = Gated, 5, 8, 3, 2, new(500)
	}
	return o
}

// startCount counts how often each rollout was started.
type startCount struct {
	mu sync.Mutex
	n  map[string]int
}

func newStartCount() *startCount { return &startCount{n: map[string]int{}} }

// add counts a start, and returns how many there were.
func (s *startCount) add(name string) int {
	s.mu.Lock()
	s.n[name]++
	s.mu.Unlock()
	return s.total()
}

func (s *startCount) total() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.n {
		n += k
	}
	return n
}

func reportBytes(t journalTB, r *Report) []byte {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// An undisturbed run is one without an interruption: its report, and how often it plays each rollout and asks for each design.
type undisturbed struct {
	report []byte
	plays  map[string]int
}

var (
	shortRun = sync.OnceValues(func() (undisturbed, error) { return runUndisturbed(false) })
	longRun  = sync.OnceValues(func() (undisturbed, error) { return runUndisturbed(true) })
)

func runUndisturbed(long bool) (undisturbed, error) {
	s := newStartCount()
	p, o := interrupted(s.add), interruptedOptions(long, nil, 1)
	o.Designer = askedDesigner(s.add)
	r, err := Rig(context.Background(), p, o)
	if err != nil {
		return undisturbed{}, err
	}
	b, err := json.MarshalIndent(r, "", " ")
	return undisturbed{b, s.n}, err
}

func undisturbedRun(t journalTB, long bool) undisturbed {
	t.Helper()
	run := shortRun
	if long {
		run = longRun
	}
	u, err := run()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// recordedCalls returns the names of the rollouts of the policy that are in a journal, and how many designs are.
func recordedCalls(t journalTB, j *Journal) (rollouts map[string]bool, designs int) {
	t.Helper()
	rollouts = map[string]bool{}
	for id := range j.index {
		key := fmt.Sprintf("%x", id)
		raw, err := j.read(key)
		if err == nil && bytes.HasPrefix(raw, []byte(`{"candidate":`)) {
			designs++
			continue
		}
		var tr envharness.Trace
		if err == nil {
			tr, err = decodeTrace(raw)
		}
		if err != nil {
			t.Fatalf("%s is no trace and no design: %v", key, err)
		}
		if len(tr.Turns) > 0 && tr.Turns[0].Said != "" { // else of a policy of the gate
			rollouts[tr.Turns[0].Said] = true
		}
	}
	return rollouts, designs
}

// The two runs have all that is to be interrupted.
func TestUndisturbed(t *testing.T) {
	for _, long := range []bool{false, true} {
		u := undisturbedRun(t, long)
		var r Report
		if err := json.Unmarshal(u.report, &r); err != nil {
			t.Fatal(err)
		}
		designs := 0
		for name, n := range u.plays {
			if n != 1 {
				t.Errorf("%s was paid %d times", name, n)
			}
			if isDesign(name) {
				designs++
			}
		}
		if got := r.Cost.Baseline + r.Cost.Screen + r.Cost.Confirm; got != len(u.plays)-designs || r.Cost.Designs != designs {
			t.Errorf("the report has %d rollouts and %d designs, and %d and %d were paid", got, r.Cost.Designs, len(u.plays)-designs, designs)
		}
		if designs < 3 || r.Cost.Screen == 0 || long && (r.Cost.Confirm == 0 || r.Cost.Checks == 0) {
			t.Errorf("long %v: the cost is %+v", long, r.Cost)
		}
	}
}

// A run that ends at some rollout or design, because its context is done, because Progress panics, or because the disk is full, and is
// started anew, ends with the report of one that was not interrupted, and pays nothing again that is in the journal.
func TestInterrupted(t *testing.T) {
	ways := []string{"cancel", "panic", "disk"}
	stride := 3
	if testing.Short() {
		stride = 7
	}
	n := len(undisturbedRun(t, false).plays)
	for i, k := 0, 1; k <= n; i, k = i+1, k+stride { // three ways in turn, with one rollout at once and with three
		interruptedAt(t, false, ways[i%3], 1+i/3%2*2, k)
	}
	if testing.Short() {
		return
	}
	n = len(undisturbedRun(t, true).plays)
	for i := range 3 {
		interruptedAt(t, true, ways[i], 1+i, n*(i+1)/4)
	}
}

func interruptedAt(t *testing.T, long bool, way string, parallel, k int) {
	t.Helper()
	u := undisturbedRun(t, long)
	name := fmt.Sprintf("long %v, %s at %d of %d, %d at once", long, way, k, len(u.plays), parallel)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	j, f := inMemory(t, nil)
	s := newStartCount()
	boom := errors.New("boom")
	started := func(name string) int {
		total := s.add(name)
		if total == k {
			switch way {
			case "cancel":
				cancel()
			case "disk":
				f.set("write")
			}
		}
		return total
	}
	o := interruptedOptions(long, j, parallel)
	o.Designer = askedDesigner(started)
	if way == "panic" {
		o.Progress = func(Progress) {
			if s.total() >= k {
				panic(boom)
			}
		}
	}
	r, err := func() (r *Report, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = p.(error)
			}
		}()
		return Rig(ctx, interrupted(started), o)
	}()
	wanted := map[string]error{"cancel": context.Canceled, "panic": boom, "disk": errDisk}[way]
	switch {
	case err == nil && k > len(u.plays)-parallel && way != "disk": // the last one may come to its end before anybody looks
		if !bytes.Equal(reportBytes(t, r), u.report) {
			t.Errorf("%s: it ended with another report", name)
		}
	case !errors.Is(err, wanted) || r != nil:
		t.Errorf("%s: %v, want %v and no report", name, err, wanted)
	}
	if err := j.Close(); err != nil { // what is still under way is not recorded from here on
		t.Fatal(err)
	}
	f.set("")
	j, _ = inMemory(t, f.bytes())
	known, designs := recordedCalls(t, j)
	again := newStartCount()
	o = interruptedOptions(long, j, parallel)
	o.Designer = askedDesigner(again.add)
	r, err = Rig(t.Context(), interrupted(again.add), o)
	if err != nil {
		t.Fatalf("%s, resumed: %v", name, err)
	}
	if got := reportBytes(t, r); !bytes.Equal(got, u.report) {
		t.Errorf("%s: the report of the resumed run differs:\n%s\nwant\n%s", name, got, u.report)
	}
	for id, n := range again.n {
		if n != 1 || known[id] || u.plays[id] == 0 {
			t.Errorf("%s: %s was paid %d times after the interruption, recorded %v, known %v", name, id, n, known[id], u.plays[id] > 0)
		}
	}
	if len(known)+designs+len(again.n) != len(u.plays) {
		t.Errorf("%s: %d rollouts and %d designs were recorded, and %d paid then, want %d together", name, len(known), designs, len(again.n), len(u.plays))
	}
	if known, designs := recordedCalls(t, j); len(known)+designs != len(u.plays) {
		t.Errorf("%s: the journal has %d rollouts and %d designs in the end, want %d", name, len(known), designs, len(u.plays))
	}
}

// A run with a journal that has everything pays nothing, and the journal does not grow.
func TestResumeOfWhole(t *testing.T) {
	for _, long := range []bool{false, true} {
		if long && testing.Short() {
			continue
		}
		u := undisturbedRun(t, long)
		j, f := inMemory(t, nil)
		s := newStartCount()
		var size int
		for i := range 2 {
			o := interruptedOptions(long, j, 2-i)
			o.Designer = askedDesigner(s.add)
			r, err := Rig(t.Context(), interrupted(s.add), o)
			if err != nil {
				t.Fatal(err)
			}
			if s.total() != len(u.plays) || !bytes.Equal(reportBytes(t, r), u.report) {
				t.Errorf("long %v, run %d: %d paid, want %d; or the report differs", long, i, s.total(), len(u.plays))
			}
			if i > 0 && len(f.bytes()) != size {
				t.Errorf("long %v: the journal has grown from %d to %d bytes", long, size, len(f.bytes()))
			}
			size = len(f.bytes())
		}
	}
}

const (
	rigDir      = "THROUGHLINE_TEST_RIGGER_DIR" // the folder in which this test binary is to rig until it is killed
	killedKills = 4
)

// TestRigUntilKilled is the other process of TestKilled. It says on standard output that the journal is open, and then which rollout or
// design begins, and goes on with each when it has read one byte.
func TestRigUntilKilled(t *testing.T) {
	dir := os.Getenv(rigDir)
	if dir == "" {
		t.Skip("runs in a process of its own")
	}
	side, err := os.OpenFile(filepath.Join(dir, "started"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	say := func(what string) {
		fmt.Fprintf(os.Stdout, "\nkill: %s\n", what)
		if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
			t.Error(err)
		}
	}
	j := openJournal(t, filepath.Join(dir, "journal"))
	say("open")
	started := func(name string) int {
		if _, err := io.WriteString(side, name+"\n"); err != nil {
			t.Error(err)
		}
		say(name)
		return 0
	}
	o := interruptedOptions(true, j, 2)
	o.Designer = askedDesigner(started)
	r, err := Rig(t.Context(), interrupted(started), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "report"), reportBytes(t, r), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A process that rigs is killed at any moment, again and again, and started anew until it ends: its report is that of one that was not
// interrupted, and no rollout was started again that was in the journal.
func TestKilled(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "plan9" {
		t.Skip("starts processes and kills them")
	}
	t.Parallel()
	u := undisturbedRun(t, true)
	dir := t.TempDir()
	path := filepath.Join(dir, "journal")
	rng := rand.New(rand.NewPCG(1, 2))
	lines := func() []string {
		b, err := os.ReadFile(filepath.Join(dir, "started"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(b))
	}
	seen, kills := 0, 0
	known, designs := map[string]bool{}, 0
	for {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRigUntilKilled$")
		cmd.Env = append(os.Environ(), rigDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The answer after which it is killed. What is not in the journal has a line each, of which at least one has no answer by then, and
		// what has none is not recorded: it cannot end before it is killed, and something is left to do after that.
		end := -1
		if kills < killedKills {
			end = rng.IntN(min(len(u.plays)-len(known)-designs, 2*len(u.plays)/killedKills))
		}
		var rest []string
		killed := false
		said := bufio.NewScanner(out)
		for n := 0; said.Scan(); {
			if !strings.HasPrefix(said.Text(), "kill: ") {
				if said.Text() != "" {
					rest = append(rest, said.Text())
				}
				continue
			}
			if killed {
				continue
			}
			if n == 0 {
				if j, err := OpenJournal(path); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
					t.Errorf("opened the journal of another process: %v", err)
					j.Close()
				}
			}
			if _, err := in.Write([]byte{0}); err != nil {
				rest = append(rest, err.Error())
				break // Wait says what became of it
			}
			if n == end {
				for range rng.IntN(20_000_000) { // any moment of the rollouts under way
					_ = n
				}
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				killed = true
			}
			n++
		}
		err = cmd.Wait()
		if !killed && err != nil {
			t.Fatalf("%v:\n%s", err, strings.Join(rest, "\n"))
		}
		started := lines()
		for _, name := range started[seen:] {
			if known[name] {
				t.Errorf("after kill %d: rollout %s is in the journal, and was played again", kills, name)
			}
		}
		seen = len(started)
		if err == nil {
			break
		}
		kills++
		j := openJournal(t, path)
		now, n := recordedCalls(t, j)
		if n < designs {
			t.Errorf("after kill %d: %d designs are left of %d", kills, n, designs)
		}
		for name := range known {
			if !now[name] {
				t.Errorf("after kill %d: rollout %s is lost", kills, name)
			}
		}
		known, designs = now, n
		j.Close()
	}
	got, err := os.ReadFile(filepath.Join(dir, "report"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, u.report) {
		t.Errorf("the report differs:\n%s\nwant\n%s", got, u.report)
	}
	started := lines()
	t.Logf("%d kills; %d rollouts and designs, %d started", kills, len(u.plays), len(started))
	if names := slices.Compact(slices.Sorted(slices.Values(started))); len(names) != len(u.plays) || len(started) > len(u.plays)+2*kills {
		t.Errorf("%d rollouts and designs were started %d times with %d kills, want %d and at most two more for each kill", len(names), len(started), kills, len(u.plays))
	}
	if kills != killedKills {
		t.Errorf("it ended after %d kills, want %d", kills, killedKills)
	}
}
