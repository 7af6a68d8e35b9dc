package memory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/memory"
)

// rewrite changes a file of a memory as a person would.
func rewrite(t *testing.T, path, from, to string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), from) {
		t.Fatalf("%v: no %q in %q", err, from, data)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Each of two edits by hand is seen, also if both leave the number of the version as it was, and no merge writes over one unseen.
func TestHandEditTwice(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, nil)
	must[memory.Entry](t)(m.Put(t.Context(), text("s", "wash the car", "- first")))
	version := 1
	for _, edit := range [][2]string{{"first", "second"}, {"second", "third"}} {
		rewrite(t, filepath.Join(dir, "skills", "s", "SKILL.md"), edit[0], edit[1])
		if _, err := m.Supersede(t.Context(), "s", version, text("s", "wash the car", "- x")); !errors.Is(err, memory.ErrConflict) {
			t.Fatalf("supersede: %v", err)
		}
		e, _ := m.Get("s")
		if version = e.Record.Version; e.Content != "- "+edit[1]+"\n" {
			t.Errorf("the memory has %q, the file %q", e.Content, edit[1])
		}
	}
	must[memory.Added](t)(m.Add(t.Context(), text("other", "wash the car", "- note")))
	if e, _ := m.Get("s"); e.Content != "- third\n- note\n" {
		t.Errorf("merged into %q", e.Content)
	}
}

// The failures of a skill that is gone do not count against a new one of its name, also after a purge.
func TestPruneAfterPurge(t *testing.T) {
	for _, purge := range []bool{false, true} {
		each(t, &memory.Options{Now: func() time.Time { return time.Unix(1e9, 0) }}, func(t *testing.T, m *memory.Memory) {
			must[memory.Entry](t)(m.Put(t.Context(), text("s", "wash the car", "- x")))
			for i := range 5 {
				if err := m.RecordUse(t.Context(), memory.Use{Skill: "s", Version: 1, Episode: fmt.Sprint(i), Success: new(false)}); err != nil {
					t.Fatal(err)
				}
			}
			must[[]string](t)(m.Remove(t.Context(), "s", "bad"))
			if purge {
				if err := m.Purge(t.Context(), time.Unix(2e9, 0)); err != nil {
					t.Fatal(err)
				}
			}
			e := must[memory.Entry](t)(m.Put(t.Context(), text("s", "feed the cat", "- y")))
			if e.Record.Version != 2 || e.Record.Replaced != 1 {
				t.Errorf("purged %v: %+v, want version 2 in the place of 1", purge, e.Record)
			}
			if removed := must[[]string](t)(m.Prune(t.Context(), nil)); removed != nil {
				t.Errorf("purged %v: a skill that was never used is pruned", purge)
			}
		})
	}
}

// An embedder that waits for its context is asked with that of the caller, so that no write keeps its turn for ever.
func TestEditThatCannotBeEmbedded(t *testing.T) {
	type key struct{}
	dir := t.TempDir()
	stuck := false
	m := open(t, dir, &memory.Options{Embedder: skill.EmbedderFunc(func(ctx context.Context, texts []string) ([][]float64, error) {
		for _, s := range texts {
			if !stuck || !strings.Contains(s, "by hand") {
				continue
			}
			cancel, ok := ctx.Value(key{}).(context.CancelFunc)
			if !ok || ctx.Done() == nil {
				return nil, errors.New("a context that nobody can cancel")
			}
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return skill.HashEmbedder{}.Embed(ctx, texts)
	})})
	must[memory.Entry](t)(m.Put(t.Context(), text("s", "wash the car", "- x")))
	rewrite(t, filepath.Join(dir, "skills", "s", "SKILL.md"), "wash the car", "wash the car by hand")
	stuck = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := m.Supersede(context.WithValue(ctx, key{}, cancel), "s", 1, text("s", "wash the car", "- y"))
	if !errors.Is(err, memory.ErrConflict) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if e, _ := m.Get("s"); !e.Quarantined || m.Len() != 0 {
		t.Error("a skill without a vector is found or shown")
	}
	stuck = false
	if _, err := m.Supersede(t.Context(), "s", 1, text("s", "wash the car", "- y")); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("%v", err)
	}
	must[[]string](t)(m.Remove(t.Context(), "s", "test"))
}

// A folder that cannot be read is no taken name: Add says so and does not try names for ever.
func TestAddToNoFolder(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, nil)
	skills := filepath.Join(dir, "skills")
	if err := errors.Join(os.Remove(skills), os.WriteFile(skills, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for what, err := range map[string]error{
		"add": second(m.Add(ctx, text("s", "wash the car", "- x"))), "put": second(m.Put(ctx, text("s", "wash the car", "- x"))),
	} {
		if err == nil || errors.Is(err, memory.ErrExists) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), skills) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What a merge cannot read it would lose: such a skill stays as it is.
func TestUnreadableRecordIsNotMerged(t *testing.T) {
	for _, record := range []string{"throughline-format: wasm", "throughline-origins: '{'"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "skills", "s", "SKILL.md")
		content := "---\nname: s\ndescription: wash the car\nmetadata:\n  " + record + "\n---\n\n- x\n"
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
		m := open(t, dir, nil)
		if a := must[memory.Added](t)(m.Add(t.Context(), text("s", "wash the car", "- y"))); a.Action != memory.Created {
			t.Errorf("%s: %+v", record, a)
		}
		if data, _ := os.ReadFile(file); string(data) != content {
			t.Errorf("%s: the file is %q now", record, data)
		}
	}
}

// atLook is a context that is done from its k-th look on.
type atLook struct {
	context.Context
	k int
}

func (c *atLook) Err() error {
	if c.k--; c.k < 0 {
		return context.Canceled
	}
	return nil
}

// A use of a removed skill is not called unknown where the context has ended.
func TestRecordUseCanceled(t *testing.T) {
	each(t, nil, func(t *testing.T, m *memory.Memory) {
		must[memory.Entry](t)(m.Put(t.Context(), text("s", "wash the car", "- x")))
		must[[]string](t)(m.Remove(t.Context(), "s", ""))
		for k := range 20 {
			err := m.RecordUse(&atLook{t.Context(), k}, memory.Use{Skill: "s", Version: 1, Episode: "e"})
			if err == nil {
				return
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("done at look %d: %v", k, err)
			}
		}
		t.Error("it never succeeds")
	})
}

// The zero Memory holds nothing and hangs nobody.
func TestZeroMemory(t *testing.T) {
	var m memory.Memory
	if _, err := m.Remove(t.Context(), "s", ""); err == nil || m.Len() != 0 {
		t.Errorf("remove: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
