package mainjob

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/grounded"
	"github.com/throughline-go/throughline/midtool/quality"
)

// handbook is what the staff of the desk reads about customers, orders and tickets.
//
//go:embed handbook
var handbook embed.FS

// readDocuments reads the pages of the handbook, or the caller's own documents. Beside tools of the caller's own the handbook has no place.
func (j *job) readDocuments(ctx context.Context) error {
	tree := document.Tree{Name: "docs", Dir: j.Docs}
	if j.Docs == "" {
		if j.ownTools() {
			return nil
		}
		tree = document.Tree{Name: "desk", FS: handbook}
	}
	for d, err := range tree.Documents(ctx, func(r midtool.Rejection) { j.Warn(r.Error()) }) {
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%w: docs: %w", ErrInput, err)
		}
		j.documents = append(j.documents, d)
	}
	if len(j.documents) == 0 {
		return fmt.Errorf("%w: no document in %s", ErrInput, j.Docs)
	}
	return nil
}

// An augmented document is one with what was made of it.
type augmented struct {
	document.Document
	tier    string
	samples []midtool.Sample
}

// A branch is what came of the documents.
type branch struct {
	documents []augmented
	made      int // samples
	rejected  []midtool.Rejection
}

// augment keeps the documents that are fit for a corpus, and makes questions and conversations that are grounded in them. A document that
// states no license is the caller's own.
func (j *job) augment(ctx context.Context) (*branch, error) {
	b := new(branch)
	generator, err := grounded.New(&grounded.Options{Seed: j.Seed})
	if err != nil {
		return nil, err
	}
	for i := range j.documents {
		d := &j.documents[i]
		if r := unfit(d); r != nil {
			b.rejected = append(b.rejected, *r)
			j.Warn(r.Error())
			continue
		}
		made, err := generator.Generate(ctx, d)
		if err != nil {
			return nil, errors.Join(err, generator.Close())
		}
		b.documents = append(b.documents, augmented{*d, string(made.Outline.Tier), made.Samples})
		b.made += len(made.Samples)
		b.rejected = append(b.rejected, made.Rejected...)
		j.Progress("read documents", i+1, len(j.documents))
	}
	return b, generator.Close()
}

// unfit says why a document is left out, nil if it stays.
func unfit(d *document.Document) *midtool.Rejection {
	if d.License != "" && !slices.Contains(midtool.DefaultLicenses(), d.License) {
		return &midtool.Rejection{Origin: d.Origin, Reason: "license", Detail: strings.TrimSpace(d.License + " " + d.LicenseFrom)}
	}
	if f := quality.Check(d, quality.Rules(d.Kind)); f != nil {
		return &midtool.Rejection{Origin: d.Origin, Reason: f.Reason(), Detail: f.String()}
	}
	return nil
}
