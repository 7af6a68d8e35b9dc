//go:build darwin || freebsd || linux || netbsd || openbsd

package memory

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe is never opened: that would wait for its other end. A socket and a device are no files either.
func TestPipes(t *testing.T) {
	for _, tt := range []struct {
		path   string
		open   bool   // the memory opens
		code   string // of a diagnostic
		reason string
	}{
		{"skills/bad/SKILL.md", true, "not-regular", "the text of a skill"},
		{"usage.jsonl", true, "not-regular", "the uses"},
		{"history/good/1.md", true, "", "the current version, of which history has a copy"},
		{"history/bad", true, "", "the history of a skill that is not there"},
		{".tmp/current", true, "", "the write that is under way"},
		{".tmp/removing.json", false, "", "the removals under way"},
		{".lock", false, "", "the lock"},
		{"skills", false, "", "the folder of the skills"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			dir := t.TempDir()
			s, _, _ := open(t, dir, storeOptions{noSync: true})
			commit(t, s, "good", "x", 0)
			s.close()
			path := filepath.Join(dir, tt.path)
			os.RemoveAll(path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o644); err != nil {
				t.Skipf("no pipes here: %v", err)
			}
			s, err := openDir(t.Context(), dir, storeOptions{noSync: true})
			if err == nil {
				defer s.close()
				_, _, diags, lerr := s.load(t.Context())
				err = lerr
				if tt.code != "" && (len(diags) != 1 || diags[0].Code != tt.code || diags[0].Path != path) {
					t.Errorf("diagnostics %v, want %s of %s", diags, tt.code, path)
				}
			}
			if tt.open != (err == nil) {
				t.Errorf("open: %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("error %v does not name %s", err, path)
			}
			if err != nil {
				return
			}
			if err := s.purge(t.Context(), clock()); err != nil { // looks into every history
				t.Errorf("purge: %v", err)
			}
			if tt.path == "usage.jsonl" {
				if err := s.appendUses(t.Context(), []Use{{"a", 1, "e", nil}}); !errors.Is(err, errNotRegular) {
					t.Errorf("record a use: %v", err)
				}
			}
			if tt.path == "skills/bad/SKILL.md" {
				if _, err := s.commit(t.Context(), document("bad", "x"), 0); !errors.Is(err, ErrExists) {
					t.Errorf("write over it: %v", err)
				}
			}
		})
	}
}

// A pipe that takes the place of a folder while the memory is open is not opened either.
func TestPipeMeanwhile(t *testing.T) {
	dir := t.TempDir()
	s, _, _ := open(t, dir, storeOptions{noSync: true})
	defer s.close()
	commit(t, s, "good", "x", 0)
	path := filepath.Join(dir, "history")
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	if err := s.purge(t.Context(), clock()); !errors.Is(err, errNotDir) || !strings.Contains(err.Error(), path) {
		t.Errorf("purge: %v", err)
	}
}
