package teach

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/internal/filelock"
	"github.com/throughline-go/throughline/midtool"
	"pgregory.net/rapid"
)

// never is a model that must not be asked.
func never(t testing.TB) midtool.Generator {
	return func(_ context.Context, prompt string) (string, error) {
		t.Errorf("asked for %.40q", prompt)
		return "", errors.New("asked")
	}
}

func remember(t testing.TB, g midtool.Generator, path string) (midtool.Generator, io.Closer) {
	t.Helper()
	got, c, err := Remember(g, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return got, c
}

// A second run asks nothing and gets the same, whatever the answers are.
func TestRemember(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		answers := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()),
			func(b []byte) string { return string(b) }))).Draw(rt, "answers")
		g, c := remember(t, func(_ context.Context, p string) (string, error) { return answers[p], nil }, path)
		first := make(map[string]string)
		for p, want := range answers {
			got, err := g(context.Background(), p)
			if err != nil || got != strings.ToValidUTF8(want, "\uFFFD") {
				rt.Fatalf("%q: %q, %v", p, got, err)
			}
			first[p] = got
		}
		for range 2 {
			if err := c.Close(); err != nil {
				rt.Fatal(err)
			}
		}
		again, c := remember(t, never(t), path)
		for p := range answers {
			if got, err := again(context.Background(), p); err != nil || got != first[p] {
				rt.Fatalf("%q: %q, %v, want %q", p, got, err, first[p])
			}
		}
		c.Close()
		os.Remove(path)
	})
}

// Rewriting with remembered answers gives the same samples without a model.
func TestRememberRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	down := errors.New("down")
	var prompts []string
	g, c := remember(t, func(ctx context.Context, p string) (string, error) {
		prompts = append(prompts, p)
		if len(prompts) == 1 {
			return "", down
		}
		return []string{"?", "?", say(both, goodUser, goodReply)}[len(prompts)-2], nil
	}, path)
	first, rejected, err := (&Teacher{Generate: g, Attempts: 4}).Rewrite(context.Background(), weather(), validate)
	if rejected != nil || err != nil || len(prompts) != 4 {
		t.Fatalf("%v, %v after %d prompts", rejected, err, len(prompts))
	}
	c.Close()
	g, _ = remember(t, never(t), path)
	again, rejected, err := (&Teacher{Generate: g, Attempts: 3}).Rewrite(context.Background(), weather(), validate)
	if diff := cmp.Diff(first, again); diff != "" || rejected != nil || err != nil {
		t.Errorf("%v, %v (-first +again):\n%s", rejected, err, diff)
	}
}

const (
	record1 = `{"prompt":"` + "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" + `","answer":"to nothing"}` + "\n"
	record2 = `{"prompt":"` + "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" + `","answer":"to a"}` + "\n"
)

// The file as documented, cut at any byte, still gives the whole records and takes new ones.
func TestRememberTorn(t *testing.T) {
	whole := answersHeader + record1 + record2
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(path, []byte(whole[:cut]), 0o644); err != nil {
			t.Fatal(err)
		}
		asked := 0
		g, c := remember(t, func(_ context.Context, p string) (string, error) {
			asked++
			return map[string]string{"": "to nothing", "a": "to a"}[p], nil
		}, path)
		for p, want := range map[string]string{"": "to nothing", "a": "to a"} {
			if got, err := g(context.Background(), p); err != nil || got != want {
				t.Fatalf("cut at %d: %q, %v", cut, got, err)
			}
		}
		c.Close()
		lines := strings.Count(whole[:cut], "\n")
		if want := 2 - max(0, lines-1); asked != want {
			t.Errorf("cut at %d: asked %d times, want %d", cut, asked, want)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != whole && string(got) != answersHeader+record2+record1 {
			t.Errorf("cut at %d: %s, %v", cut, got, err)
		}
	}
	// Zeros where the power went first.
	if err := os.WriteFile(path, []byte(answersHeader+record1+strings.Repeat("\x00", 20)+record2[20:]), 0o644); err != nil {
		t.Fatal(err)
	}
	_, c := remember(t, never(t), path)
	c.Close()
	if got, err := os.ReadFile(path); err != nil || string(got) != answersHeader+record1 {
		t.Errorf("zeros: %s, %v", got, err)
	}
}

func TestRememberErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	for _, tt := range []struct{ file, want, reason string }{
		{"# Notes\n", "another kind of file", "somebody else's"},
		{"# Notes", "another kind of file", "nor is half of it ours"},
		{`{"midtool_answers":2}` + "\n", "another kind of file", "another version"},
		{strings.Repeat("x", maxRecord+1), "another kind of file", "bounded"},
		{answersHeader + "{}\n" + record1, "line 2: want an object", "no record"},
		{answersHeader + record1 + "\x00\n" + record2, "line 3", "zeros are cut off at the end alone"},
		{answersHeader + record1[:20] + record1, "line 2", "two lines in one"},
		{answersHeader + strings.Replace(record1, "e3", "xx", 1), `line 2: "prompt": want 64 hex digits`, "no hash"},
		{answersHeader + strings.Replace(record1, "e3", "", 1), `line 2: "prompt": want 64 hex digits`, "a short one"},
		{answersHeader + strings.Replace(record1, `"to nothing"`, "5", 1), "line 2: want an object", "no text"},
		{answersHeader + strings.Repeat("x", maxRecord+1), "line 2", "bounded"},
	} {
		if err := os.WriteFile(path, []byte(tt.file), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := Remember(never(t), path)
		if !errors.Is(err, ErrAnswers) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) || tt.reason == "" {
			t.Errorf("%.60q: %v, want %q (%s)", tt.file, err, tt.want, tt.reason)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tt.file {
			t.Errorf("%.60q: the file has changed", tt.file)
		}
	}
	if _, _, err := Remember(never(t), filepath.Join(path, "x")); !errors.Is(err, ErrAnswers) {
		t.Errorf("no folder: %v", err)
	}
}

// One at a time has the file, nothing works after Close, and what cannot be kept ends the run.
func TestRememberFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	g, c := remember(t, func(context.Context, string) (string, error) { return "x", nil }, path)
	if _, _, err := Remember(g, path); !errors.Is(err, filelock.ErrLocked) || !errors.Is(err, ErrAnswers) {
		t.Logf("open twice: %v", err) // no locks on some systems
	}
	if err := c.(*answers).file.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := g(context.Background(), "p"); !errors.Is(err, ErrAnswers) {
			t.Errorf("broken file: %v", err)
		}
	}
	_, rejected, err := (&Teacher{Generate: g, Attempts: 3}).Rewrite(context.Background(), weather(), validate)
	if !errors.Is(err, ErrAnswers) || rejected != nil {
		t.Errorf("broken file: %v, %v", rejected, err)
	}
	c.Close()
	if _, err := g(context.Background(), "p"); !errors.Is(err, fs.ErrClosed) || !errors.Is(err, ErrAnswers) {
		t.Errorf("after Close: %v", err)
	}
}

// A long answer is too long the second time as well, and the file stays bounded.
func TestRememberLong(t *testing.T) {
	for _, long := range []string{strings.Repeat("x", maxAnswer+100), strings.Repeat("日", maxAnswer), strings.Repeat("\x80", maxAnswer+100),
		strings.Repeat("\x00", maxAnswer+9)} {
		path := filepath.Join(t.TempDir(), "answers.jsonl")
		g, c := remember(t, func(context.Context, string) (string, error) { return long, nil }, path)
		first, err := g(context.Background(), "p")
		if err != nil || len(first) <= maxAnswer && !strings.Contains(first, "\uFFFD") || len(first) > maxAnswer+4 &&
			!strings.Contains(first, "\uFFFD") {
			t.Errorf("%d bytes of %d, %v", len(first), len(long), err)
		}
		c.Close()
		g, _ = remember(t, never(t), path)
		if again, err := g(context.Background(), "p"); err != nil || again != first {
			t.Errorf("again: %d bytes, %v", len(again), err)
		}
	}
}

// Of two answers to one prompt, asked at the same time, the first counts for both.
func TestRememberAtOnce(t *testing.T) {
	var asked atomic.Int64
	var both sync.WaitGroup
	both.Add(2)
	g, _ := remember(t, func(context.Context, string) (string, error) {
		both.Done()
		both.Wait() // for the other one
		return fmt.Sprint(asked.Add(1)), nil
	}, filepath.Join(t.TempDir(), "answers.jsonl"))
	var got [2]string
	var wg sync.WaitGroup
	for w := range got {
		wg.Go(func() {
			var err error
			if got[w], err = g(context.Background(), "p"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got[0] != got[1] {
		t.Errorf("%q and %q", got[0], got[1])
	}
}

// Goroutines share the file.
func TestRememberConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	var asked atomic.Int64
	g, c := remember(t, func(context.Context, string) (string, error) { return fmt.Sprint(asked.Add(1)), nil }, path)
	got := make([][20]string, 8)
	var wg sync.WaitGroup
	for w := range got {
		wg.Go(func() {
			for i := range got[w] {
				var err error
				if got[w][i], err = g(context.Background(), fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for w := range got {
		if got[w] != got[0] {
			t.Errorf("%v and %v", got[0], got[w])
		}
	}
	c.Close()
	again, _ := remember(t, never(t), path)
	for i, want := range got[0] {
		if text, err := again(context.Background(), fmt.Sprint(i)); err != nil || text != want {
			t.Errorf("%d: %q, %v, want %q", i, text, err, want)
		}
	}
}

// FuzzRemember: a file is refused and left alone, or it is ours from then on.
func FuzzRemember(f *testing.F) {
	f.Add([]byte(answersHeader + record1 + record2))
	f.Add([]byte(answersHeader + record1[:50]))
	f.Add([]byte(`{"midtool`))
	f.Fuzz(func(t *testing.T, file []byte) {
		path := filepath.Join(t.TempDir(), "answers.jsonl")
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
		_, c, err := Remember(never(t), path)
		if err != nil {
			if got, _ := os.ReadFile(path); !bytes.Equal(got, file) {
				t.Fatalf("%v, and the file has changed", err)
			}
			return
		}
		c.Close()
		a, c2, err := Remember(func(context.Context, string) (string, error) { return "new", nil }, path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := a(context.Background(), "prompt")
		_, known := c2.(*answers).at[sha256.Sum256([]byte("prompt"))]
		if err != nil || text == "" && !known {
			t.Fatalf("%q, %v", text, err)
		}
		c2.Close()
	})
}
