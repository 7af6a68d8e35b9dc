package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/mix"
	"github.com/throughline-go/throughline/midtool/quality"
	"pgregory.net/rapid"
)

// alone is a build of one source that passes no filter but those of the package.
func alone(t testing.TB, s document.Source) *Options {
	o := world(t)
	o.Documents = []Input{{"in", s}}
	o.Tools, o.Benchmarks, o.Rules = nil, nil, map[document.Kind][]quality.Rule{}
	o.Outputs = o.Outputs[:1]
	return o
}

// An error of a source ends the build, names the input, and leaves no part.
func TestSourceError(t *testing.T) {
	boom := errors.New("cable cut")
	for _, n := range []int{0, 1, 700} {
		l := list{err: boom}
		for i := range n {
			l.docs = append(l.docs, document.Document{ID: fmt.Sprint(i), Kind: document.Web, Text: words(i, 20), License: "MIT"})
		}
		o := alone(t, document.SourceFunc(l.Documents))
		if r, err := Run(context.Background(), o); r != nil || !errors.Is(err, boom) || !strings.Contains(err.Error(), `input "in"`) {
			t.Errorf("after %d documents: %v", n, err)
		}
		if parts, err := os.ReadDir(filepath.Join(o.Dir, workDir, "parts")); err != nil || len(parts) > 0 {
			t.Errorf("after %d documents: %v, %v", n, parts, err)
		}
	}
	o := alone(t, broken{list{}, boom})
	if _, err := Run(context.Background(), o); !errors.Is(err, boom) {
		t.Errorf("Split: %v", err)
	}
}

// broken cannot be split.
type broken struct {
	list
	err error
}

func (b broken) Split(context.Context, int) ([]document.Source, error) { return nil, b.err }

// Without a source of any kind of content, or with nothing that passes, the corpus is empty, and the report says so.
func TestEmpty(t *testing.T) {
	for _, l := range []list{{}, {docs: []document.Document{{ID: "a", Kind: document.Web, Text: "Hello.", License: "GPL-2.0-only"}}}} {
		o := alone(t, l)
		r, err := Run(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Records != 0 || len(r.Warnings) == 0 || r.Warnings[0] != "the corpus is empty" || r.Inputs["in"].Read != len(l.docs) {
			t.Errorf("%d records, warnings %q", r.Records, r.Warnings)
		}
	}
}

// Whatever a source yields and rejects, and in whatever batches it is worked on, each record is counted once and the units are
// in the order of the source.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.Just(-1), rapid.IntRange(0, 30), rapid.Just(200_000)), 0, 400).Draw(rt, "sizes")
		var l list
		var want []string
		rejected := 0
		for i, n := range sizes {
			d := document.Document{ID: fmt.Sprint(i), Kind: document.Code, Text: strings.Repeat("x", max(n, 0)), License: "MIT"}
			switch {
			case n < 0:
				d.Kind = "reject"
				rejected++
			case n > 0:
				want = append(want, "in/"+d.ID)
			}
			l.docs = append(l.docs, d)
		}
		dir, err := os.MkdirTemp("", "order")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		o := alone(t, document.SourceFunc(l.Documents))
		o.Dir, o.Workers = dir, rapid.IntRange(1, 4).Draw(rt, "workers")
		made := onePart(rt, o)
		if made.Part.Read != len(sizes) || made.Drops["ingest"]["bad_json"] != rejected || made.Records != len(want) {
			rt.Fatalf("%d read, want %d; %d kept, want %d; %v", made.Part.Read, len(sizes), made.Records, len(want), made.Drops)
		}
		f := folder{path: dir}
		var got []string
		for e, err := range f.entries(partsDir + "/in-00000.index.jsonl") {
			if err != nil {
				rt.Fatal(err)
			}
			got = append(got, e.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("units (-want +got):\n%s", diff)
		}
	})
}

// onePart makes the only part of a build.
func onePart(t *rapid.T, o *Options) *done {
	opts, err := o.withDefaults()
	b := &builder{opts: &opts}
	if err == nil {
		err = b.prepare(context.Background())
	}
	if err == nil {
		b.dir, err = openFolder(&opts)
	}
	if err == nil {
		defer b.dir.close()
		err = b.plan(context.Background())
	}
	if err == nil {
		err = b.makePart(context.Background(), b.parts[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.made[0]
}

// A unit that is written is read back as it was.
func TestUnitRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		u := &unit{document: &document.Document{ID: "a", Kind: document.Web, Text: text, Title: text}, samples: []midtool.Sample{{ID: text,
			Messages: []midtool.Message{{Role: midtool.RoleUser, Content: text}}, Tools: []midtool.Tool{{Name: "x", Parameters: []byte(`{"type":"object","title":"<&>"}`)}}}}}
		var b bytes.Buffer
		head, err := u.encode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := bytes.Cut(b.Bytes(), []byte("\n")); int(head) != len(first)+1 {
			t.Fatalf("the first line has %d bytes, told are %d", len(first)+1, head)
		}
		got, err := decodeUnit(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(u, got, cmp.AllowUnexported(unit{})); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
}

// endless yields documents of which each is like no other, until so many bytes.
func endless(size int) document.Source {
	return document.SourceFunc(func(ctx context.Context, _ func(midtool.Rejection)) iter.Seq2[document.Document, error] {
		return func(yield func(document.Document, error) bool) {
			kinds := []document.Kind{document.Web, document.Code, document.PDF}
			for i, n := 0, 0; n < size; i++ {
				text := words(i, 600)
				n += len(text)
				if !yield(document.Document{ID: fmt.Sprint(i), Kind: kinds[i%3], Text: text, License: "MIT"}, nil) {
					return
				}
			}
		}
	})
}

// Memory does not grow with the input, but for what is kept of each unit.
func BenchmarkRun(b *testing.B) {
	sizes := []int{8, 64, 256}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, mb := range sizes {
		b.Run(fmt.Sprintf("%dMB", mb), func(b *testing.B) {
			b.SetBytes(int64(mb) << 20)
			b.ReportAllocs()
			peak := uint64(0)
			for b.Loop() {
				o := alone(b, endless(mb<<20))
				o.Workers = runtime.NumCPU()
				o.Dir = filepath.Join(b.TempDir(), fmt.Sprint(b.N))
				o.Mix.Shortfall = mix.Under
				steps := 0
				o.Progress = func(string, int, int) {
					if steps++; steps%16 == 0 {
						var m runtime.MemStats
						runtime.ReadMemStats(&m)
						peak = max(peak, m.HeapInuse)
					}
				}
				if _, err := Run(b.Context(), o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(peak)/(1<<20), "MB-heap")
		})
	}
}
