package memory_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/memory"
)

func note(name, description, body string) *skill.Document {
	return &skill.Document{Frontmatter: skill.Frontmatter{Name: name, Description: description}, Content: body}
}

func function(name, description, body string) *skill.Document {
	d := note(strings.ReplaceAll(name, "_", "-"), description, "```python\ndef "+name+"():\n    "+body+"\n```\n")
	if err := d.SetRecord(skill.Record{Format: skill.FormatCode, Function: name}); err != nil {
		log.Fatal(err)
	}
	return d
}

// check ends an example that cannot go on.
func check[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// A memory that lives in the process: what is alike is merged, and a task finds what fits.
func Example() {
	ctx := context.Background()
	m := check(memory.New(ctx, nil))
	add := func(d *skill.Document) {
		a := check(m.Add(ctx, d))
		fmt.Println(a.Action, a.Name, a.Version)
	}
	add(note("order", "place an order", "- Procedure: show cart → pay\n- the card is needed\n"))
	add(note("place", "place the order", "- Procedure: log in → show cart → pay\n- The card is  needed\n- code 422 if empty\n"))
	add(note("reply", "answer a mail", "- Procedure: open → write → send\n"))

	r := check(m.Retrieve(ctx, memory.Query{Task: "order two books", Subtask: "place orders"}))
	for _, hit := range r.Selected {
		fmt.Printf("%.2f %s\n%s", hit.Similarity, hit.Name(), hit.Content)
	}
	// Output:
	// created order 1
	// merged order 2
	// created reply 1
	// 0.54 order
	// - Procedure: log in → show cart → pay
	// - the card is needed
	// - code 422 if empty
}

func ExampleOpen() {
	ctx := context.Background()
	dir := check(os.MkdirTemp("", "skills"))
	defer os.RemoveAll(dir)

	m := check(memory.Open(ctx, dir, nil))
	check(m.Put(ctx, note("order", "place an order", "- Procedure: show cart → pay\n")))
	if err := m.Close(); err != nil {
		log.Fatal(err)
	}

	// The files are the truth: a skill that comes by hand is there, a broken one hides no other.
	file := filepath.Join(dir, "skills", "broken")
	if err := os.Mkdir(file, 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(file, "SKILL.md"), []byte("no frontmatter\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	m = check(memory.Open(ctx, dir, &memory.Options{ReadOnly: true}))
	defer m.Close()
	fmt.Println(m.Len(), "skill,", len(m.Diagnostics()), "diagnostic")
	_, err := m.Put(ctx, note("pay", "pay an invoice", "- Procedure: open → pay\n"))
	fmt.Println(err)
	// Output:
	// 1 skill, 1 diagnostic
	// memory: opened for reading only
}

// Removing a function removes what calls it.
func ExampleMemory_Remove() {
	ctx := context.Background()
	m := check(memory.New(ctx, &memory.Options{Format: skill.FormatCode}))
	check(m.Add(ctx, function("open_cart", "open the cart", "click('cart')")))
	check(m.Add(ctx, function("pay_cart", "pay for everything in it", "open_cart(); click('pay')")))
	check(m.Add(ctx, function("search", "search for a product", "type('query')")))

	r := check(m.Retrieve(ctx, memory.Query{Task: "pay for everything"}))
	for _, e := range r.Skills() {
		fmt.Println(e.Record.Function, e.Record.Calls)
	}
	fmt.Println(m.Remove(ctx, "open-cart", "the site has changed"))
	// Output:
	// open_cart [click]
	// pay_cart [click open_cart]
	// [pay-cart open-cart] <nil>
}

func ExampleMemory_Check() {
	ctx := context.Background()
	m := check(memory.New(ctx, &memory.Options{Format: skill.FormatCode}))
	check(m.Add(ctx, function("open_cart", "open the cart", "click('cart'")))
	check(m.Add(ctx, function("pay_cart", "pay for everything in it", "open_cart()")))

	load := func(_ context.Context, e memory.Entry) error { // runs an interpreter in a sandbox, say
		if e.Record.Function == "open_cart" {
			return errors.New("a bracket was never closed")
		}
		return nil
	}
	fmt.Println(m.Check(ctx, load))
	// Output:
	// [pay-cart open-cart] <nil>
}

func ExampleMemory_Supersede() {
	ctx := context.Background()
	clock := func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }
	m := check(memory.New(ctx, &memory.Options{Now: clock}))
	old := check(m.Put(ctx, note("order", "place an order", "- Procedure: pay\n")))
	check(m.Supersede(ctx, "order", old.Record.Version, note("order", "place an order", "- Procedure: show cart → pay\n")))

	_, err := m.Supersede(ctx, "order", 1, note("order", "place an order", "- Procedure: give up\n"))
	fmt.Println(err)
	check(m.Remove(ctx, "order", "the shop is closed"))
	check(m.Restore(ctx, "order", 1))
	for _, v := range check(m.History(ctx, "order")) {
		fmt.Println(v.Record.Version, v.Time.Format(time.DateOnly), skill.ParseTextBody(v.Content).Procedure, v.Removed, v.Current)
	}
	if err := m.Purge(ctx, clock().Add(time.Hour)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(check(m.History(ctx, "order"))), "version is left")
	// Output:
	// memory: the skill has changed: "order" has version 2, not 1
	// 1 2026-05-01 [pay]  false
	// 2 2026-05-01 [show cart pay] the shop is closed false
	// 3 2026-05-01 [pay]  true
	// 1 version is left
}

// Skills that were used and failed are removed.
func ExampleMemory_Prune() {
	ctx := context.Background()
	m := check(memory.New(ctx, nil))
	check(m.Put(ctx, note("order", "place an order", "- Procedure: pay\n")))
	check(m.Put(ctx, note("reply", "answer a mail", "- Procedure: open → write → send\n")))
	for i, success := range []bool{false, true, false} {
		episode := fmt.Sprint("episode ", i)
		err := m.RecordUse(ctx,
			memory.Use{Skill: "order", Version: 1, Episode: episode, Success: &success},
			memory.Use{Skill: "reply", Version: 1, Episode: episode}, // nobody knows
		)
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%+v\n%+v\n", m.Usage("order"), m.Usage("reply"))
	fmt.Println(m.Prune(ctx, nil))
	// Output:
	// {Uses:3 Known:3 Successes:1}
	// {Uses:3 Known:0 Successes:0}
	// [order] <nil>
}

func ExampleMemory_All() {
	ctx := context.Background()
	m := check(memory.New(ctx, nil))
	check(m.Put(ctx, note("reply", "answer a mail", "- Procedure: open → write → send\n")))
	check(m.Put(ctx, note("order", "place an order", "- Procedure: pay\n")))
	for e := range m.All() {
		fmt.Println(e.Name(), e.Record.Version, e.Description())
	}
	e, ok := m.Get("order")
	fmt.Print(ok, " ", e.Content)
	// Output:
	// order 1 place an order
	// reply 1 answer a mail
	// true - Procedure: pay
}

func ExampleAction_String() {
	fmt.Println(memory.Created, memory.Merged, memory.Overwritten, memory.Dropped)
	// Output: created merged overwritten dropped
}
