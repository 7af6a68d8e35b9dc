package main

import (
	"context"
	"io/fs"
	"os"
	"path"
	"reflect"

	"github.com/throughline-go/throughline/skill"
)

type parserResult struct {
	Files       int            `json:"files"`  // named SKILL.md or skill.md
	Loaded      int            `json:"loaded"` // quarantined and shadowed ones too
	Quarantined int            `json:"quarantined"`
	Diagnosed   int            `json:"diagnosed"` // files with a diagnostic of any severity
	Lost        int            `json:"lost"`      // files that were neither loaded nor diagnosed
	Changed     int            `json:"changed"`   // loaded ones that are not the same after writing and reading
	Codes       map[string]int `json:"codes"`     // diagnostics by code
}

// parser loads all skills below the folder and compares with a walk of its own.
func (e *evidence) parser(ctx context.Context, data string) error {
	root, err := os.OpenRoot(data)
	if err != nil {
		return err
	}
	defer root.Close()
	r := &e.Parser
	r.Codes = make(map[string]int)
	set, err := skill.LoadFS(ctx, []skill.Source{{FS: root.FS()}}, &skill.LoadOptions{MaxDepth: 8})
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, d := range set.Diagnostics {
		if !seen[d.Path] {
			seen[d.Path] = true
			r.Diagnosed++
		}
		r.Codes[d.Code]++
	}
	r.Quarantined = len(set.Quarantined)
	for _, skills := range [][]skill.Loaded{set.Skills, set.Shadowed, set.Quarantined} {
		for _, s := range skills {
			r.Loaded++
			seen[s.Path] = true
			if !survives(s.Document) {
				r.Changed++
			}
		}
	}
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := path.Base(p); d.Type().IsRegular() && (name == "SKILL.md" || name == "skill.md") {
			r.Files++
			if !seen[p] {
				r.Lost++
			}
		}
		return nil
	})
	e.claim(r.Files > 0, "parser: there is no SKILL.md below the folder")
	e.claim(r.Lost == 0, "parser: %d files are neither loaded nor diagnosed", r.Lost)
	e.claim(r.Changed == 0, "parser: %d skills change when they are written and read", r.Changed)
	return err
}

// survives says whether a document is the same after it was written and read; one that the format does not allow is not written.
func survives(d *skill.Document) bool {
	text, err := skill.Marshal(d)
	if err != nil {
		return true
	}
	got, _, err := skill.Parse(text, nil)
	return err == nil && reflect.DeepEqual(got.Frontmatter, d.Frontmatter) && got.Content == d.Content
}
