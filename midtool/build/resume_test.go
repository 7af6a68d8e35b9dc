package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool/dedup"
	"github.com/throughline-go/throughline/midtool/document"
)

const killedDir, killedAt = "THROUGHLINE_TEST_BUILD_DIR", "THROUGHLINE_TEST_BUILD_AT"

// TestKilled is the process of TestKill that is killed.
func TestKilled(t *testing.T) {
	dir := os.Getenv(killedDir)
	if dir == "" {
		t.Skip("runs in a process of its own")
	}
	at, err := strconv.Atoi(os.Getenv(killedAt))
	if err != nil {
		t.Fatal(err)
	}
	o := worldIn(dir)
	o.Workers = 1
	o.fault = func(string, string) error {
		if at--; at < 0 {
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			if err != nil {
				return err
			}
			select {} // until it arrives
		}
		return nil
	}
	build(t, o)
}

// A process that is killed, over and over, leaves a folder from which the next one makes the same corpus.
func TestKill(t *testing.T) {
	o := world(t)
	o.Workers = 1
	count := 0
	o.fault = func(string, string) error { count++; return nil }
	build(t, o)
	want := files(t, o.Dir)
	kills := 10
	if testing.Short() {
		kills = 3
	}
	dir := t.TempDir()
	killed := 0
	for i := range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		// Each gets a little further, the first one hardly anywhere.
		cmd.Env = append(os.Environ(), killedDir+"="+dir, fmt.Sprintf("%s=%d", killedAt, 1+i*count/(3*kills)))
		if out, err := cmd.CombinedOutput(); err != nil {
			if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.Exited() && strings.Contains(string(out), "FAIL") {
				t.Fatalf("%v: %s", err, out)
			}
			killed++
		}
		for name, data := range files(t, dir) {
			if !strings.HasPrefix(name, workDir+"/"+temporaryName) && want[name] != data {
				t.Fatalf("after kill %d %s is not that of a whole run", i, name)
			}
		}
	}
	if killed < 2 {
		t.Fatalf("%d processes were killed", killed)
	}
	o.Dir, o.fault = dir, nil
	build(t, o)
	if diff := differing(want, files(t, dir)); len(diff) > 0 {
		t.Errorf("after %d kills %v differ", killed, diff)
	}
}

// A folder has one configuration. What comes after the parts can be done again with other options, and is then what it would
// be in a folder of its own.
func TestConfiguration(t *testing.T) {
	o := world(t)
	build(t, o)
	for _, tt := range []struct {
		name   string
		change func(*Options)
		redo   bool // it may be done again
	}{
		{"seed", func(o *Options) { o.Seed++ }, false},
		{"tool", func(o *Options) { o.Tools = o.Tools[:3] }, false},
		{"description", func(o *Options) { o.Tools[0].Description += "!" }, false},
		{"input", func(o *Options) { o.Documents = o.Documents[:2] }, false},
		{"rule", func(o *Options) { o.Rules = nil }, false},
		{"license", func(o *Options) { o.Own = true }, false},
		{"native", func(o *Options) { o.Native.Samples++ }, false},
		{"grounded", func(o *Options) { o.Grounded.Cap = new(5) }, false},
		{"benchmark", func(o *Options) { o.Benchmarks = nil }, false},
		{"shingles", func(o *Options) { o.Dedup.ShingleWords = 4 }, false},
		{"parts", func(o *Options) { o.ShardRecords++ }, false},
		{"names", func(o *Options) { o.Names = map[string]string{"outputs": "2"} }, false},
		{"classifier", func(o *Options) {
			o.Classifier = func(*document.Document) float64 { return 1 }
			o.Names = map[string]string{"classifier": "all"}
		}, false},
		{"similarity", func(o *Options) { o.Dedup.Jaccard = new(0.99) }, true},
		{"budget", func(o *Options) { o.Mix.Budget = 5000 }, true},
		{"shares", func(o *Options) { o.Mix.Shares = map[string]int{"web": 1, "native": 1} }, true},
		{"files", func(o *Options) { o.Shards = 2 }, true},
		{"outputs", func(o *Options) { o.Outputs = o.Outputs[1:] }, true},
	} {
		c := *o
		c.Tools = append(c.Tools[:0:0], c.Tools...)
		tt.change(&c)
		before := files(t, o.Dir)
		if _, err := Run(context.Background(), &c); !errors.Is(err, ErrConfiguration) || len(differing(before, files(t, o.Dir))) > 0 {
			t.Errorf("%s: %v", tt.name, err)
		}
		c.Redo = true
		if !tt.redo {
			if _, err := Run(context.Background(), &c); !errors.Is(err, ErrConfiguration) || len(differing(before, files(t, o.Dir))) > 0 {
				t.Errorf("%s, to be done again: %v", tt.name, err)
			}
			continue
		}
		build(t, &c)
		got := files(t, c.Dir)
		c.Dir = t.TempDir()
		build(t, &c)
		if diff := differing(files(t, c.Dir), got); len(diff) > 0 {
			t.Errorf("%s, done again: %v differ", tt.name, diff)
		}
		again := *o
		again.Redo = true
		build(t, &again)
		if diff := differing(before, files(t, o.Dir)); len(diff) > 0 {
			t.Errorf("%s, done again and back: %v differ", tt.name, diff)
		}
	}
}

// Inputs that have changed are read again, and files that were damaged are made again.
func TestChanges(t *testing.T) {
	o := world(t)
	build(t, o)
	want := files(t, o.Dir)
	for i, name := range slices.Sorted(maps.Keys(want)) {
		data := want[name]
		ways := []string{data[:len(data)/2], data + "x", strings.Replace(data, "e", "i", 1)}
		if strings.HasSuffix(name, doneExt) || name == configFile {
			ways = ways[:1] // what a person writes into a manifest is believed
		}
		if testing.Short() {
			ways = ways[i%len(ways):][:1]
		}
		for _, damaged := range ways {
			if err := os.WriteFile(filepath.Join(o.Dir, filepath.FromSlash(name)), []byte(damaged), 0o644); err != nil {
				t.Fatal(err)
			}
			build(t, o)
			if diff := differing(want, files(t, o.Dir)); len(diff) > 0 {
				t.Fatalf("%s damaged: %v differ", name, diff)
			}
		}
	}
	// Another process would read the same inputs: a change in the middle is one to all of them.
	web := o.Documents[0].Source.(list)
	web.docs[30].Text = words(777, 90)
	build(t, o)
	changed := files(t, o.Dir)
	o.Dir = t.TempDir()
	build(t, o)
	if diff := differing(files(t, o.Dir), changed); len(diff) > 0 || len(differing(want, changed)) == 0 {
		t.Errorf("after a change %v differ", diff)
	}
}

// partless is split into parts that have no digest.
type partless struct{ list }

func (p partless) Split(ctx context.Context, size int) ([]document.Source, error) {
	parts, err := p.list.Split(ctx, size)
	for i := range parts {
		parts[i] = document.SourceFunc(parts[i].Documents)
	}
	return parts, err
}

// A change in an input whose parts cannot tell is one to all of them; one that cannot tell itself is taken to be the same.
func TestDigests(t *testing.T) {
	for _, tt := range []struct {
		name    string
		source  func(list) document.Source
		noticed bool
	}{
		{"parts", func(l list) document.Source { return l }, true},
		{"whole", func(l list) document.Source { return partless{l} }, true},
		{"neither", func(l list) document.Source { return document.SourceFunc(l.Documents) }, false},
		{"unsupported", func(l list) document.Source {
			return document.Prescreen{Source: document.SourceFunc(l.Documents), Least: -1}
		}, false},
	} {
		var l list
		for i := range 40 {
			l.docs = append(l.docs, document.Document{ID: fmt.Sprint(i), Kind: document.Web, Text: words(i, 20), License: "MIT"})
		}
		o := alone(t, tt.source(l))
		build(t, o)
		before := files(t, o.Dir)
		l.docs[33].Text = words(99, 25)
		build(t, o)
		if noticed := len(differing(before, files(t, o.Dir))) > 0; noticed != tt.noticed {
			t.Errorf("%s: noticed %v", tt.name, noticed)
		}
	}
}

// An input that would lose too much stops the build, and what was read is still there for another bound.
func TestLoss(t *testing.T) {
	var l list
	for i := range 20 {
		l.docs = append(l.docs, document.Document{ID: fmt.Sprint(i), Kind: document.Web, Text: words(1, 90) + words(i+2, 3), License: "MIT"})
	}
	o := alone(t, l)
	_, err := Run(context.Background(), o)
	if lost, ok := errors.AsType[*dedup.LossError](err); !ok || lost.Source != "in" || !strings.Contains(err.Error(), "Redo") {
		t.Fatalf("got %v", err)
	}
	o.Dedup.MaxLoss, o.Redo = new(1.0), true
	o.Progress = func(stage string, _, _ int) {
		if stage == "read" {
			t.Error("read again")
		}
	}
	if r := build(t, o); r.Duplicates.Near != 19 || r.Duplicates.Largest != 20 || r.Inputs["in"].Out != 1 {
		t.Errorf("%+v", r.Duplicates)
	}
}

func TestLocked(t *testing.T) {
	o := world(t)
	f, err := openFolder(&Options{Dir: o.Dir, Rank: 1, World: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	o.World, o.Rank = 2, 1
	if _, err := Run(context.Background(), o); !errors.Is(err, ErrLocked) {
		t.Skipf("no locks here: %v", err)
	}
	o.Rank = 0
	if _, err := Run(context.Background(), o); !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "parts") {
		t.Errorf("rank 0 alone: %v", err)
	}
}

// What ranks that nobody has any more left unfinished is removed by who is alone.
func TestClean(t *testing.T) {
	o := world(t)
	left := filepath.Join(o.Dir, workDir, "tmp-00007")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	build(t, o)
	if _, err := os.Stat(left); err == nil {
		t.Error("still there")
	}
}
