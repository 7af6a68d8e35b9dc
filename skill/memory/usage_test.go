package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestReadUses(t *testing.T) {
	a := `{"skill":"a","version":1,"episode":"e","success":true}`
	wrong := `{"skill":"a","version":1,"episode":"e","success":false}`
	b := `{"skill":"b","version":2,"episode":"e"}`
	useA, useB := Use{"a", 1, "e", new(true)}, Use{"b", 2, "e", nil}
	for _, tt := range []struct {
		name   string
		in     string
		want   []Use
		faults []int // lines
		torn   bool
		end    int
		open   bool
		reason string
	}{
		{"empty", "", nil, nil, false, 0, false, "no uses yet"},
		{"two", a + "\n" + b + "\n", []Use{useA, useB}, nil, false, len(a) + len(b) + 2, false, "in the order of the file"},
		{"repeated", wrong + "\n" + b + "\n" + a + "\n", []Use{useA, useB}, nil, false, 2*len(a) + len(b) + 4, false,
			"the later record of one skill, version and episode replaces the earlier, so that a retry does not double"},
		{"torn", a + "\n" + b[:10], []Use{useA}, []int{2}, true, len(a) + 1, false, "a crash in the middle of the line"},
		{"torn at once", b[:1], nil, []int{1}, true, 0, false, "nothing of the file is whole"},
		{"torn to zeros", a + "\n\x00\x00\x00", []Use{useA}, []int{2}, true, len(a) + 1, false, "a file system may fill a lost block with zeros"},
		{"no line end", a + "\n" + b, []Use{useA, useB}, nil, false, len(a) + 1 + len(b), true, "the record is whole: by hand, or torn at the line end alone"},
		{"bad in the middle", a + "\nxx\n" + b + "\n", []Use{useA, useB}, []int{2}, false, len(a) + len(b) + 5, false, "the others stay"},
		{"blank line", a + "\n\n" + b + "\n", []Use{useA, useB}, []int{2}, false, len(a) + len(b) + 3, false, "no record"},
		{"no skill", `{"version":1,"episode":"e"}` + "\n", nil, []int{1}, false, 28, false, "whose use is it"},
		{"version 0", `{"skill":"a","episode":"e"}` + "\n", nil, []int{1}, false, 28, false, "versions count from 1"},
		{"text as version", `{"skill":"a","version":"1"}` + "\n", nil, []int{1}, false, 28, false, "no number"},
		{"not UTF-8", "{\"skill\":\"\xff\",\"version\":1}\n", nil, []int{1}, false, 26, false, "two skills could become one"},
		{"long", a + "\n" + `{"skill":"` + strings.Repeat("x", maxUse) + "\"}\n" + b + "\n", []Use{useA, useB}, []int{2}, false,
			len(a) + 1 + 13 + maxUse + len(b) + 1, false, "what follows a line that is too long is read"},
		{"CRLF", a + "\r\n", []Use{useA}, nil, false, len(a) + 2, false, "an editor on another system"},
		{"no episode", `{"skill":"a","version":1}` + "\n", []Use{{"a", 1, "", nil}}, nil, false, 26, false, "an unknown episode is one episode"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			uses, faults, end, open, err := readUses(iotest.OneByteReader(strings.NewReader(tt.in)))
			if err != nil {
				t.Fatal(err)
			}
			var lines []int
			torn := false
			for _, f := range faults {
				lines = append(lines, f.line)
				torn = torn || f.torn
			}
			if diff := gocmp.Diff(tt.want, uses); diff != "" {
				t.Errorf("uses (-want +got):\n%s", diff)
			}
			if !slices.Equal(tt.faults, lines) || torn != tt.torn {
				t.Errorf("%s: faults in lines %v, torn %v; want %v, %v", tt.reason, lines, torn, tt.faults, tt.torn)
			}
			if end != int64(tt.end) || open != tt.open {
				t.Errorf("%s: next line at %d, open %v; want %d, %v", tt.reason, end, open, tt.end, tt.open)
			}
		})
	}
	if _, _, _, _, err := readUses(iotest.ErrReader(errBroken)); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want that of the reader", err)
	}
}

// The number of uses is that of the distinct triples of skill, version and episode, and of each the last outcome counts, over any
// calls, restarts and torn lines in between.
func TestUsesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := newTree(clock)
		o := storeOptions{now: clock}
		s, err := newStore(tr, o)
		if err != nil {
			t.Fatal(err)
		}
		type key struct {
			skill   string
			version int
			episode string
		}
		want := map[key]*bool{}
		for range rapid.IntRange(1, 8).Draw(t, "calls") {
			if rapid.IntRange(0, 2).Draw(t, "restart") == 0 {
				if raw, err := readAll(tr, usageFile, 1<<20); err == nil {
					torn := rapid.SampledFrom([]string{"", `{"skill":"a","ver`, "\x00\x00", "{"}).Draw(t, "torn")
					if err := tr.extend(usageFile, int64(len(raw)), []byte(torn)); err != nil {
						t.Fatal(err)
					}
				}
				if rapid.Bool().Draw(t, "reopen") {
					if s, err = newStore(tr, o); err != nil {
						t.Fatal(err)
					}
					if _, _, _, err := s.load(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			var uses []Use
			for range rapid.IntRange(0, 4).Draw(t, "uses") {
				u := Use{
					Skill:   rapid.SampledFrom([]string{"a", "b"}).Draw(t, "skill"),
					Version: rapid.IntRange(1, 2).Draw(t, "version"),
					Episode: rapid.SampledFrom([]string{"", "e", "<\n\u2028\">"}).Draw(t, "episode"),
					Success: rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(t, "success"),
				}
				uses = append(uses, u)
				want[key{u.Skill, u.Version, u.Episode}] = u.Success
			}
			if err := s.appendUses(t.Context(), uses); err != nil {
				t.Fatal(err)
			}
		}
		s, err = newStore(tr, o)
		if err != nil {
			t.Fatal(err)
		}
		_, uses, _, err := s.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[key]*bool{}
		for _, u := range uses {
			got[key{u.Skill, u.Version, u.Episode}] = u.Success
		}
		if len(got) != len(uses) {
			t.Errorf("%d uses of %d triples", len(uses), len(got))
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("uses (-want +got):\n%s", diff)
		}
	})
}

// What cannot be read back is refused before the first byte.
func TestAppendUsesFaults(t *testing.T) {
	dir := t.TempDir()
	s, _, _ := open(t, dir, storeOptions{noSync: true})
	good := Use{"a", 1, "e", nil}
	for _, tt := range []struct {
		bad    Use
		reason string
	}{
		{Use{"", 1, "e", nil}, "no skill"},
		{Use{"a", 0, "e", nil}, "versions count from 1"},
		{Use{"a", -1, "e", nil}, "versions count from 1"},
		{Use{"a\xff", 1, "e", nil}, "JSON would make another name of it"},
		{Use{"a", 1, "\xff", nil}, "JSON would make one of two episodes"},
		{Use{"a", 1, strings.Repeat("x", maxUse), nil}, "the line would be skipped when it is read"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		if err := s.appendUses(t.Context(), []Use{good, tt.bad}); err == nil || !strings.Contains(err.Error(), "use 1") {
			t.Errorf("%s: error %v, want one that names use 1", tt.reason, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "usage.jsonl")); err == nil {
		t.Error("something was written")
	}
	if err := s.appendUses(t.Context(), []Use{good}); err != nil {
		t.Fatal(err)
	}
	// Another program appends a line without an end.
	path := filepath.Join(dir, "usage.jsonl")
	raw, _ := os.ReadFile(path)
	put(t, path, string(raw)+`{"skill":"b","version":1}`)
	if err := s.appendUses(t.Context(), []Use{{"c", 1, "", nil}}); err != nil {
		t.Fatal(err)
	}
	_, uses, diags, err := s.load(t.Context())
	if err != nil || len(uses) != 3 || len(diags) != 0 {
		t.Errorf("%v, %v, %v; want three uses", uses, diags, err)
	}
}

func FuzzReadUses(f *testing.F) {
	for _, s := range []string{"", `{"skill":"a","version":1,"episode":"e","success":true}` + "\n", `{"skill":"a","version":1}`, "\n\n", "{", "null\n",
		`{"skill":"a","version":1e0}` + "\n", `{"Skill":"a","VERSION":1}` + "\n", "\xff\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		uses, _, end, open, err := readUses(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if end < 0 || end > int64(len(data)) {
			t.Fatalf("next line at %d of %d bytes", end, len(data))
		}
		whole := data[:end]
		if open == (len(whole) == 0 || bytes.HasSuffix(whole, []byte("\n"))) {
			t.Errorf("open %v after %q", open, whole)
		}
		seen := map[string]bool{}
		for _, u := range uses {
			if err := checkUse(u); err != nil {
				t.Errorf("%+v: %v", u, err)
			}
			k := fmt.Sprintf("%q %d %q", u.Skill, u.Version, u.Episode)
			if seen[k] {
				t.Errorf("%s occurs twice", k)
			}
			seen[k] = true
		}
		// What is kept, with a record behind it, reads as the same uses and that one.
		line, _ := json.Marshal(Use{"zz", 1, "e", nil})
		if open {
			whole = append(slices.Clip(whole), '\n')
		}
		more, _, _, _, err := readUses(bytes.NewReader(append(slices.Clip(whole), line...)))
		if err != nil {
			t.Fatal(err)
		}
		if !seen[`"zz" 1 "e"`] && (len(more) != len(uses)+1 || more[len(more)-1].Skill != "zz") {
			t.Errorf("%d uses and one more are read as %d", len(uses), len(more))
		}
	})
}
