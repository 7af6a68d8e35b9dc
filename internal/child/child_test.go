package child

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const secret = "marker-secret-4711"

// program starts the test binary in a mode.
func program(t testing.TB, mode string, change func(*Command)) *Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The race detector lets a program that ends sleep for a second.
	c := Command{
		Args:  []string{self, "--key=" + secret},
		Env:   []string{modeVariable + "=" + mode, "SECRET=" + secret, "GORACE=atexit_sleep_ms=0"},
		Grace: time.Minute, // far more than a test waits
	}
	if change != nil {
		change(&c)
	}
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); p.Close() })
	return p
}

func brief(c *Command) { c.Grace = 50 * time.Millisecond }

func line(t testing.TB, p *Process) string {
	t.Helper()
	s, err := bufio.NewReader(p).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(s)
}

func selfName(t testing.TB) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(self)
}

func TestSpeaks(t *testing.T) {
	p := program(t, "echo", nil)
	if _, err := io.WriteString(p, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if got := line(t, p); got != "hello" {
		t.Errorf("%q", got)
	}
	if p.Err() != nil {
		t.Error("it runs, and has ended:", p.Err())
	}
	if err := p.Close(); err != nil || p.Err() != nil {
		t.Error(err, p.Err())
	}
	<-p.Done()
	if _, err := p.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Error("read after close:", err)
	}
	if _, err := p.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Error("write after close:", err)
	}
}

func TestErrTellsTheEndAndNoSecret(t *testing.T) {
	var stderr bytes.Buffer
	p := program(t, "exit3", func(c *Command) { c.Stderr = &stderr })
	if _, err := io.ReadAll(p); err != nil {
		t.Error(err)
	}
	<-p.Done()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if want := "child: " + selfName(t) + ": exit status 3"; p.Err() == nil || p.Err().Error() != want {
		t.Errorf("got %v, want %s", p.Err(), want)
	}
	if got := stderr.String(); got != "the secret is "+secret+"\n" {
		t.Errorf("stderr %q", got)
	}
}

func TestWriteAfterTheEndOfTheProgram(t *testing.T) {
	p := program(t, "exit3", nil)
	<-p.Done()
	if _, err := p.Write([]byte("x")); err == nil || strings.Contains(err.Error(), secret) {
		t.Error(err)
	}
}

func TestEnvironHoldsNoSecret(t *testing.T) {
	t.Setenv("API_KEY", secret)
	t.Setenv("TMPDIR", "/somewhere")
	if got := Environ(); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, secret) }) {
		t.Error(got)
	}
	elsewhere := slices.DeleteFunc(Environ(), func(s string) bool { return strings.HasPrefix(s, "TMPDIR=") })
	for _, tt := range []struct {
		name   string
		env    []string
		want   []string
		reason string
	}{
		{"none", nil, Environ(), "the few that programs need"},
		{"one", []string{"A=1"}, append(Environ(), "A=1"), "besides these"},
		{"twice", []string{"TMPDIR=/elsewhere", "A=1", "A=2"}, append(elsewhere, "TMPDIR=/elsewhere", "A=2"), "the later counts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := exec.LookPath("env"); err != nil {
				t.Skip("no program env")
			}
			p, err := Start(Command{Args: []string{"env"}, Env: tt.env})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			got, err := io.ReadAll(p)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(got)), "\n")
			slices.Sort(lines)
			slices.Sort(tt.want)
			if !slices.Equal(lines, tt.want) {
				t.Errorf("got %q, want %q", lines, tt.want)
			}
		})
	}
}

func TestStartRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		c      Command
		is     error
		want   string
		reason string
	}{
		{"no program", Command{}, nil, "child: Args name no program", "there is none"},
		{"empty program", Command{Args: []string{""}}, nil, "child: Args name no program", "an empty name names none"},
		{"grace", Command{Args: []string{"x"}, Grace: -1}, nil, "child: Grace -1ns is negative", "a time to wait"},
		{"both", Command{Grace: -1}, nil, "child: Args name no program\nchild: Grace -1ns is negative", "all faults at once"},
		{"path", Command{Args: []string{filepath.Join(t.TempDir(), secret, "none"), secret}}, fs.ErrNotExist,
			"child: start none: no such file or directory", "of the path the last element, no argument"},
		{"lookup", Command{Args: []string{"no-such-program-here", secret}}, exec.ErrNotFound,
			"child: start no-such-program-here: executable file not found in $PATH", "no argument"},
		{"folder", Command{Args: []string{os.Args[0]}, Dir: filepath.Join(t.TempDir(), secret)}, fs.ErrNotExist,
			"child: start " + filepath.Base(os.Args[0]) + ": working folder: no such file or directory", "not the path of the folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := open(t)
			p, err := Start(tt.c)
			if err == nil {
				p.Close()
				t.Fatal("started")
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is no %v", err, tt.is)
			}
			if strings.Contains(err.Error(), secret) || filepath.Separator == '/' && err.Error() != tt.want {
				t.Errorf("got %q, want %q: %s", err, tt.want, tt.reason)
			}
			if after := open(t); after > before {
				t.Errorf("%d descriptors are left", after-before)
			}
		})
	}
}

// A program that listens to nothing is killed, and the calls that hang in it return.
func TestCloseOfDeafProgram(t *testing.T) {
	p := program(t, "deaf", brief)
	if got := line(t, p); got != "ready" {
		t.Fatal(got)
	}
	var calls sync.WaitGroup
	calls.Go(func() {
		if _, err := p.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
			t.Error("read:", err)
		}
	})
	calls.Go(func() {
		if _, err := p.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrClosed) {
			t.Error("write:", err)
		}
	})
	for range 3 {
		calls.Go(func() {
			if err := p.Close(); err != nil {
				t.Error("close:", err)
			}
			select {
			case <-p.Done():
			default:
				t.Error("Close returned before the end of the program")
			}
		})
	}
	calls.Wait()
	if p.Err() == nil {
		t.Error("a program that was killed has no error")
	}
}

// Close lets Read return at once, however long the program may take to end.
func TestCloseInterruptsReadBeforeTheGraceIsOver(t *testing.T) {
	p := program(t, "deaf", nil)
	line(t, p)
	read, closed := make(chan error), make(chan struct{})
	go func() {
		_, err := p.Read(make([]byte, 1))
		read <- err
	}()
	for p.reading.TryLock() { // until the Read is at it
		p.reading.Unlock()
		runtime.Gosched()
	}
	go func() { p.Close(); close(closed) }()
	if err := <-read; !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	p.Kill() // else Close takes the minute of grace
	<-closed
}

func TestKill(t *testing.T) {
	p := program(t, "deaf", nil)
	line(t, p)
	var calls sync.WaitGroup
	calls.Go(func() {
		if _, err := io.ReadAll(p); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error("read:", err)
		}
	})
	calls.Go(func() {
		if _, err := p.Write(make([]byte, 1<<20)); err == nil {
			t.Error("written")
		}
	})
	p.Kill()
	p.Kill()
	calls.Wait()
	<-p.Done()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	p.Kill()
}

// What a program still has to say when its input ends does not hold it up, and its stderr is complete.
func TestCloseDrains(t *testing.T) {
	var stderr bytes.Buffer
	p := program(t, "farewell", func(c *Command) { c.Stderr = &stderr })
	p.Close()
	if p.Err() != nil || stderr.String() != "bye\n" {
		t.Error(p.Err(), stderr.String())
	}
}

type blocked chan struct{}

func (b blocked) Write(p []byte) (int, error) { <-b; return len(p), nil }

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestStderrOfTheCaller(t *testing.T) {
	t.Run("blocks", func(t *testing.T) {
		w := make(blocked)
		p := program(t, "farewell", func(c *Command) { brief(c); c.Grace *= 4; c.Stderr = w })
		p.Close()
		close(w)
		<-p.copied
	})
	t.Run("fails", func(t *testing.T) {
		p := program(t, "farewell", func(c *Command) { c.Stderr = failing{} })
		p.Close()
		if p.Err() != nil {
			t.Error(p.Err())
		}
	})
	t.Run("file", func(t *testing.T) {
		f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		program(t, "farewell", func(c *Command) { c.Stderr = f }).Close()
		if got, err := os.ReadFile(f.Name()); string(got) != "bye\n" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}
