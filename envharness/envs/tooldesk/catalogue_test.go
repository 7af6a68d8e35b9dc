package tooldesk

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
)

// unexported lets go-cmp compare whole tasks.
var unexported = cmp.AllowUnexported(task{}, world{}, tables{}, written{}, memory{}, pair{}, next{})

// Whatever desks and the verifier do with a task that is kept, it stays what it was made as, and so does what comes of it.
func TestKeptTasksAreNotWrittenTo(t *testing.T) {
	c := &catalogue{}
	r := rand.New(rand.NewPCG(3, 4))
	for _, split := range splits {
		tasks, err := listTasks(split)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{tasks[0].ID, tasks[1].ID, tasks[2].ID, tasks[3].ID, tasks[4].ID, tasks[5].ID, ""} {
			first := trace(t, New(), id, nil)
			for range 3 {
				d := &Desk{catalogue: c}
				if got := trace(t, d, id, nil); got != first {
					t.Fatalf("%s: another episode than on a desk of its own", id)
				}
				rec := recordOn(t, d, id)
				rec.play(t, plan(t, d)...)
				if v, err := c.verify(ctx, rec.ev); err != nil || v.Status != envharness.Pass {
					t.Fatalf("%s: %+v, %v", id, v, err)
				}
				reset(t, d, id)
				wander(t, d, r, 30)
			}
			kept, err := c.task(id)
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := makeTask(kept.id)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(fresh, kept, unexported); d != "" {
				t.Fatalf("%s (-made +kept):\n%s", id, d)
			}
		}
	}
}

// Two desks in one world at the same task do not see each other's writes.
func TestDesksOfAWorldShareNothingThatChanges(t *testing.T) {
	c := &catalogue{}
	a, b := &Desk{catalogue: c}, &Desk{catalogue: c}
	reset(t, a, "T5-0001")
	reset(t, b, "T5-0001")
	before := everything(t, b)
	for _, call := range plan(t, a) {
		do(t, a, call)
	}
	if everything(t, b) != before {
		t.Error("a write on one desk changed another")
	}
}

func TestCatalogue(t *testing.T) {
	c := &catalogue{}
	a, err := c.task("T1-0000")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.task(""); err != nil || a != b {
		t.Errorf("made again: %v", err)
	}
	if _, err := c.task("T9-0000"); !errors.Is(err, envharness.ErrNoTask) || len(c.tasks) != 1 {
		t.Errorf("%v, %d kept", err, len(c.tasks))
	}
	var none *catalogue
	if b, err := none.task("T1-0000"); err != nil || a == b {
		t.Errorf("nothing is kept: %v", err)
	}
	for i := range maxKept + 5 {
		c.keep(&task{id: taskID("X", i)})
		if len(c.tasks) > maxKept {
			t.Fatalf("%d kept", len(c.tasks))
		}
	}
	if n := len(allTasks(t)); n > maxKept {
		t.Errorf("there are %d tasks, and %d are kept", n, maxKept)
	}
}

// A catalogue is for many at a time.
func TestCatalogueIsShared(t *testing.T) {
	c := &catalogue{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range 40 {
				id := taskID("T2", n)
				if got, err := c.task(id); err != nil || got.id != id {
					t.Errorf("%s: %v, %v", id, got, err)
				}
			}
		})
	}
	all.Wait()
	if len(c.tasks) != 40 {
		t.Errorf("%d kept", len(c.tasks))
	}
}

// All tasks together fit into 70 MB, as the package comment says.
func TestKeptTasksFit(t *testing.T) {
	used := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	c := &catalogue{}
	before := used()
	for _, task := range allTasks(t) {
		if _, err := c.task(task.ID); err != nil {
			t.Fatal(err)
		}
	}
	each := (used() - before) / uint64(len(c.tasks))
	t.Logf("%d bytes a task", each)
	if each > 39_500 {
		t.Errorf("a task takes %d bytes", each)
	}
	runtime.KeepAlive(c)
}
