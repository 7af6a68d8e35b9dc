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
var unexported = cmp.Options{
	cmp.AllowUnexported(task{}, world{}, tables{}, written{}, memory{}, card{}, mention{}, offers{}),
	cmp.Comparer(func(a, b *shelf) bool { return (a == nil) == (b == nil) }), // filled as episodes go
	cmp.Comparer(func(a, b *preset) bool { return a == b }),
}

// Whatever desks and the verifier do with a task that is kept, it stays what it was made as, and so does what comes of it.
func TestKeptTasksAreNotWrittenTo(t *testing.T) {
	c := newCatalogue(&full, true)
	r := rand.New(rand.NewPCG(3, 4))
	for _, split := range splits {
		tasks, err := full.list(split)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{tasks[0].ID, tasks[1].ID, tasks[2].ID, tasks[3].ID, tasks[4].ID, tasks[5].ID, "T1-0000"} {
			first := trace(t, aloneDesk(), id, nil)
			for range 2 {
				d := deskOf(c)
				if got := trace(t, d, id, nil); got != first {
					t.Fatalf("%s: another episode than on a desk of its own", id)
				}
				rec := recordOn(t, d, id)
				rec.play(t, plan(t, d)...)
				if v, err := verify(rec.ev); err != nil || v.Status != envharness.Pass {
					t.Fatalf("%s: %+v, %v", id, v, err)
				}
				reset(t, d, id)
				wander(t, d, r, 30)
			}
			was, err := c.task(id)
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := full.makeTask(id, drafts())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(fresh, was, unexported); d != "" {
				t.Fatalf("%s (-made +kept):\n%s", id, d)
			}
		}
	}
}

// Two desks in one world at the same task do not see each other's writes.
func TestDesksOfAWorldShareNothingThatChanges(t *testing.T) {
	c := newCatalogue(&full, true)
	a, b := deskOf(c), deskOf(c)
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
	c := newCatalogue(&full, true)
	a, err := c.task("T1-0000")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.task("T1-0000"); err != nil || a != b {
		t.Errorf("made again: %v", err)
	}
	if _, err := c.task("T9-0000"); !errors.Is(err, envharness.ErrNoTask) || len(c.tasks) != 1 {
		t.Errorf("%v, %d kept", err, len(c.tasks))
	}
	if b, err := newCatalogue(&full, false).task("T1-0000"); err != nil || a == b {
		t.Errorf("nothing is kept: %v", err)
	}
	for i := range maxKept + 5 {
		c.keep(&task{id: full.taskID("X", i)})
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
	c := newCatalogue(&full, true)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range 40 {
				id := full.taskID("T2", n)
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

// A task takes what the package comment says, as made and when all has been read, refused and transferred that there is.
func TestKeptTasksFit(t *testing.T) {
	used := func() uint64 {
		for range 3 { // what lies in pools goes with the second
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, x := range []struct {
		preset     *preset
		made, most uint64
	}{{&full, 46_000, 132_000}, {&small, 14_500, 21_000}} {
		c := newCatalogue(x.preset, true)
		before := used()
		list := allTasks(t)
		for i, task := range list {
			if i%8 == 0 { // of all families in turn
				if _, err := c.task(x.preset.prefix + task.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		each := func() uint64 { return (used() - before) / uint64(len(c.tasks)) }
		made := each()
		for _, m := range c.tasks {
			readAll(m)
		}
		most := each()
		t.Logf("%s: %d bytes a task, %d when all was read", x.preset.name, made, most)
		if made > x.made || most > x.most {
			t.Errorf("%s: a task takes %d bytes, %d when all was read; want at most %d and %d", x.preset.name, made, most, x.made, x.most)
		}
		for _, m := range c.tasks {
			readAll(m)
		}
		if again := each(); again > most+most/10 {
			t.Errorf("%s: %d bytes a task when all was read twice, %d before", x.preset.name, again, most)
		}
		runtime.KeepAlive(c)
	}
}

// readAll makes every call whose reply a task keeps.
func readAll(m *task) {
	e := begin(m)
	do := func(name string, args ...string) {
		e.do(call(name, args...))
		e.Text()
		e.candidates()
	}
	for range 2 { // first nobody has been looked up
		for _, o := range m.start.Orders {
			do("get_order", o.ID)
			do("cancel_order", o.ID, cancelReasons[0])
			do("refund", "100000000", o.ID)
		}
		for _, p := range m.start.Products {
			do("get_product", p.SKU)
		}
		for _, k := range m.start.Tickets {
			do("get_ticket", k.ID)
		}
		for _, c := range m.start.Customers {
			do("list_orders", c.ID)
			do("list_tickets", c.ID)
			do("list_orders", c.ID, "2")
			do("list_tickets", c.ID, "2")
			do("find_customer", c.Email)
			for _, reason := range transferReasons {
				do("transfer", c.ID, reason)
			}
		}
		e = begin(m)
		for _, c := range m.start.Customers {
			do("find_customer", c.Email)
		}
	}
}
