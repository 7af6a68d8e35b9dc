package memory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	killDir  = "THROUGHLINE_TEST_MEMORY_DIR"  // the folder in which this test binary is to write until it is killed
	killSeed = "THROUGHLINE_TEST_MEMORY_SEED" // of its script
)

// TestWriteUntilKilled is the writer of TestKill. It says on standard output what it is about to do and what is done.
func TestWriteUntilKilled(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("runs in a process of its own")
	}
	seed, err := strconv.ParseUint(os.Getenv(killSeed), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	// What a process has written outlives it without a sync. Few writers wait for the disk, which takes most of the time.
	s, err := openDir(ctx, dir, storeOptions{noSync: seed > 1})
	if err != nil {
		t.Fatal(err)
	}
	cur, _, _, err := s.load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for _, c := range cur {
		at[c.doc.Name()] = c.rec.Version
	}
	say := func(format string, args ...any) { fmt.Fprintf(os.Stdout, "\nkill: "+format+"\n", args...) }
	rng := rand.New(rand.NewPCG(seed, 0))
	names := []string{"a", "b", "c", "d"}
	for n := 0; ; n++ {
		name := names[rng.IntN(len(names))]
		switch kind := rng.IntN(8); {
		case kind < 4 || at[name] == 0:
			text := fmt.Sprintf("%s-%d-%d", name, seed, n)
			say("try write %s %s", name, text)
			d := document(name, text)
			d.Content = text + strings.Repeat(" x", 2000) + "\n"
			c, err := s.commit(ctx, d, at[name])
			if err != nil {
				t.Fatal(err)
			}
			at[name] = c.rec.Version
			say("did write %s %s %d", name, text, c.rec.Version)
		case kind < 6:
			text := fmt.Sprintf("%s/%d/e-%d-%d", name, at[name], seed, n)
			say("try use %s", text)
			if err := s.appendUses(ctx, []Use{{name, at[name], fmt.Sprintf("e-%d-%d", seed, n), new(true)}}); err != nil {
				t.Fatal(err)
			}
			say("did use %s", text)
		default:
			var vs []victim
			var gone []string
			for _, n := range names {
				if at[n] > 0 && (n == name || rng.IntN(2) == 0) {
					vs = append(vs, victim{n, at[n], "killed"})
					gone = append(gone, n)
				}
			}
			say("try remove %s", strings.Join(gone, " "))
			if err := s.remove(ctx, vs); err != nil {
				t.Fatal(err)
			}
			for _, n := range gone {
				delete(at, n)
			}
			say("did remove %s", strings.Join(gone, " "))
		}
	}
}

// A process that writes is killed at any moment, again and again in one folder: whatever it said it had done is there afterwards, and
// what it was about to do is done or not done.
func TestKill(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "plan9" {
		t.Skip("starts many processes and kills them")
	}
	t.Parallel()
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "memory")
	rng := rand.New(rand.NewPCG(3, 4))
	type text struct {
		name    string
		version int
	}
	written := map[text]string{}
	uses := map[string]bool{}
	cur := map[string]string{} // name to text
	tries := map[string]int{}
	done, undone := 0, 0
	for round := range 30 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriteUntilKilled$")
		cmd.Env = append(os.Environ(), killDir+"="+dir, killSeed+"="+strconv.Itoa(round))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := rng.IntN(8)
		if round > 1 {
			end = rng.IntN(60)
		}
		var try []string
		var rest []string
		in := bufio.NewScanner(out)
		for n := 0; in.Scan(); {
			line, ok := strings.CutPrefix(in.Text(), "kill: ")
			if !ok {
				if in.Text() != "" {
					rest = append(rest, in.Text())
				}
				continue
			}
			if n == 0 && round == 0 {
				if s, err := openDir(ctx, dir, storeOptions{}); !errors.Is(err, ErrLocked) {
					t.Errorf("opened the folder of another writer: %v, %v", s, err)
				}
			}
			if n == end {
				for range rng.IntN(200_000) { // any moment of the next operation
					_ = n
				}
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			n++
			f := strings.Fields(line)
			if f[0] == "try" {
				try = f[1:]
				continue
			}
			try = nil
			switch f[1] {
			case "write":
				v, _ := strconv.Atoi(f[4])
				written[text{f[2], v}] = f[3]
				cur[f[2]] = f[3]
			case "use":
				uses[f[2]] = true
			case "remove":
				for _, name := range f[2:] {
					delete(cur, name)
				}
			}
		}
		if err := cmd.Wait(); err == nil || len(rest) > 0 {
			t.Fatalf("the writer ended by itself: %v\n%s", err, strings.Join(rest, "\n"))
		}
		s, err := openDir(ctx, dir, storeOptions{noSync: true})
		if err != nil {
			t.Fatal(err)
		}
		got, gotUses, _, err := s.load(ctx)
		if err != nil {
			t.Fatal(err)
		}
		now := map[string]string{}
		for _, c := range got {
			now[c.doc.Name()] = strings.Fields(c.doc.Content)[0]
		}
		want := func(old map[string]string, step []string) map[string]string {
			m := map[string]string{}
			maps.Copy(m, old)
			if len(step) > 0 && step[0] == "write" {
				m[step[1]] = step[2]
			} else if len(step) > 0 && step[0] == "remove" {
				for _, name := range step[1:] {
					delete(m, name)
				}
			}
			return m
		}
		if old, next := fmt.Sprint(want(cur, nil)), fmt.Sprint(want(cur, try)); fmt.Sprint(now) == next && old != next {
			done++
		} else if fmt.Sprint(now) == old {
			undone++
		} else {
			t.Fatalf("round %d: the folder holds %v, want %s or, after %v, %s", round, now, old, try, next)
		}
		if len(try) > 0 {
			tries[try[0]]++
		}
		cur = now
		for name := range map[string]bool{"a": true, "b": true, "c": true, "d": true} {
			vs, err := s.versions(ctx, name)
			if err != nil && !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
			for k, want := range written {
				if k.name == name && !slices.ContainsFunc(vs, func(v Version) bool {
					return v.Record.Version == k.version && strings.Fields(v.Content)[0] == want
				}) {
					t.Fatalf("round %d: version %d of %s is lost", round, k.version, name)
				}
			}
		}
		have := map[string]bool{}
		for _, u := range gotUses {
			have[useKey(u)] = true
		}
		for k := range uses {
			if !have[k] {
				t.Fatalf("round %d: use %s is lost", round, k)
			}
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d texts, %d uses; interrupted %v; %d times the interrupted step was done, %d times not", len(written), len(uses), tries, done, undone)
	if len(written) < 50 || len(tries) < 2 {
		t.Errorf("the writers did too little: %d texts, interrupted %v", len(written), tries)
	}
}
