package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/build"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/mix"
	"github.com/throughline-go/throughline/midtool/native"
	"github.com/throughline-go/throughline/midtool/openapisource"
	"github.com/throughline-go/throughline/midtool/pdfsource"
	"github.com/throughline-go/throughline/midtool/skillsource"
)

// desk is a small service desk: what the corpus is made of without flags.
//
//go:embed desk
var desk embed.FS

// options checks the flags and reads what is small: tools and benchmarks. Done ends the use of what was opened.
func (s *settings) options(ctx context.Context) (o *build.Options, done func(), err error) {
	o = &build.Options{
		Dir: s.out, Seed: s.seed, Own: s.own, Rank: s.rank, World: s.world, Workers: s.workers, ShardRecords: s.size, Redo: s.redo,
		Native: native.Options{Samples: s.samples},
		Mix:    mix.Options{Budget: s.budget, Shortfall: mix.Policy(s.shortfall)},
	}
	for _, n := range []struct {
		flag      string
		value, lo int
	}{{"budget", s.budget, 0}, {"samples", s.samples, 0}, {"part", s.size, 0}, {"rank", s.rank, 0}, {"world", s.world, 1}, {"workers", s.workers, 1}} {
		if n.value < n.lo {
			return nil, nil, fmt.Errorf("%w: -%s is %d, want %d or more", errInput, n.flag, n.value, n.lo)
		}
	}
	if s.rank >= s.world {
		return nil, nil, fmt.Errorf("%w: -rank is %d, want less than -world %d", errInput, s.rank, s.world)
	}
	if s.shortfall != "" && !strings.Contains(strings.Join(policies(), " "), s.shortfall) {
		return nil, nil, fmt.Errorf("%w: -shortfall %q, want one of %s", errInput, s.shortfall, strings.Join(policies(), ", "))
	}
	if o.Outputs, err = s.outputs(); err != nil {
		return nil, nil, err
	}
	if s.tools+s.openapi+s.skills+s.docs+s.code+s.web == "" {
		return o, func() {}, s.small(ctx, o)
	}
	if o.Tools, err = s.readTools(ctx); err != nil {
		return nil, nil, err
	}
	if o.Benchmarks, err = s.readBenchmarks(); err != nil {
		return nil, nil, err
	}
	pdf, err := pdfsource.NewReader(&pdfsource.Options{Workers: s.workers})
	if err != nil {
		return nil, nil, err
	}
	if err := s.documents(o, pdf); err != nil {
		pdf.Close()
		return nil, nil, err
	}
	return o, func() { pdf.Close() }, nil
}

// documents are the inputs that -docs, -code, -skills and -web name.
func (s *settings) documents(o *build.Options, pdf *pdfsource.Reader) error {
	for _, dir := range []string{s.docs, s.code, s.skills} {
		if info, err := os.Stat(dir); dir != "" && err != nil {
			return fmt.Errorf("%w: %w", errInput, err)
		} else if dir != "" && !info.IsDir() {
			return fmt.Errorf("%w: %s is no folder", errInput, dir)
		}
	}
	add := func(name string, source document.Source) {
		o.Documents = append(o.Documents, build.Input{Name: name, Source: source})
	}
	if s.docs != "" {
		add("docs", document.Tree{Name: base(s.docs), Dir: s.docs, License: s.license, Readers: map[string]document.Reader{".pdf": pdf.Read}})
	}
	if s.code != "" {
		add("code", document.Tree{Name: base(s.code), Dir: s.code, License: s.license})
	}
	if s.skills != "" {
		add("skills", skillsource.Source{Name: base(s.skills), Dir: s.skills, License: s.license})
	}
	if s.web != "" {
		if _, err := os.Stat(s.web); err != nil {
			return fmt.Errorf("%w: %w", errInput, err)
		}
		var web document.Source = document.WebText{Name: base(s.web), Locator: s.web, License: s.license}
		if s.screen {
			web = document.Prescreen{Source: web}
		}
		add("web", web)
	}
	return nil
}

// base names a file or folder in IDs, wherever it is.
func base(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	return filepath.Base(abs)
}

// readTools reads the tools that -tools and -openapi name.
func (s *settings) readTools(ctx context.Context) ([]midtool.Tool, error) {
	var sources []midtool.Source
	if s.tools != "" {
		sources = append(sources, midtool.ToolsJSONL{Locator: s.tools})
	}
	if s.openapi != "" {
		sources = append(sources, openapisource.Source{Locator: s.openapi, License: s.license})
	}
	var out []midtool.Tool
	for _, source := range sources {
		for t, err := range source.Tools(ctx) {
			if err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return nil, fmt.Errorf("%w: tools: %w", errInput, err)
			}
			if t.License == "" && s.license != "" {
				t.License, t.LicenseFrom = s.license, "flag"
			}
			out = append(out, t)
		}
	}
	if len(sources) > 0 && len(out) == 0 {
		return nil, fmt.Errorf("%w: no tool in %s", errInput, strings.TrimSpace(s.tools+" "+s.openapi))
	}
	return out, nil
}

// readBenchmarks reads the files that -benchmarks names.
func (s *settings) readBenchmarks() ([]decontaminate.Benchmark, error) {
	var out []decontaminate.Benchmark
	if s.benchmarks == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(s.benchmarks, ",") {
		f, err := os.Open(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errInput, err)
		}
		b, err := decontaminate.Read(filepath.Base(name), f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errInput, err)
		}
		out = append(out, b)
	}
	return out, nil
}

// small is the build without flags.
func (s *settings) small(ctx context.Context, o *build.Options) error {
	open := func(name string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return desk.Open("desk/" + name) }
	}
	below := func(name string) fs.FS {
		sub, err := fs.Sub(desk, "desk/"+name)
		if err != nil {
			return desk // the name is a valid one
		}
		return sub
	}
	var errs [2]error
	o.Tools, errs[0] = midtool.ReadTools(ctx, midtool.ToolsJSONL{Locator: "desk/tools.jsonl", Open: open("tools.jsonl")})
	var b decontaminate.Benchmark
	if f, err := desk.Open("desk/benchmark.jsonl"); err != nil {
		errs[1] = err
	} else {
		b, errs[1] = decontaminate.Read("benchmark.jsonl", f)
		f.Close()
	}
	o.Own, o.Benchmarks, o.Shards = true, []decontaminate.Benchmark{b}, 2
	o.Native.Samples = cmp.Or(s.samples, 40)
	if o.Mix.Shortfall == "" {
		o.Mix.Shortfall = mix.Under // of so little, scaling would leave next to nothing
	}
	o.Mix.Budget = cmp.Or(s.budget, 20_000)
	o.Documents = []build.Input{
		{Name: "docs", Source: document.Tree{Name: "desk", FS: below("docs")}},
		{Name: "code", Source: document.Tree{Name: "desk", FS: below("code")}},
		{Name: "skills", Source: skillsource.Source{Name: "desk", FS: below("skills")}},
		{Name: "web", Source: document.WebText{Name: "desk", Locator: "desk/web.jsonl", Open: open("web.jsonl"), BadShare: new(0.5)}},
	}
	return errors.Join(errs[:]...)
}
