package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/build"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/parquetsink"
)

// outputs are the forms that -format names.
func (s *settings) outputs() ([]build.Output, error) {
	var out []build.Output
	for name := range strings.SplitSeq(s.formats, ",") {
		name = strings.TrimSpace(name)
		switch {
		case slices.ContainsFunc(out, func(o build.Output) bool { return o.Name == name }):
			return nil, fmt.Errorf("%w: -format names %q twice", errInput, name)
		case !slices.Contains(formats(), name):
			return nil, fmt.Errorf("%w: unknown format %q, want some of %s", errInput, name, strings.Join(formats(), ", "))
		case name == "parquet":
			out = append(out, build.Output{Name: name, Ext: ".parquet", New: func(w io.Writer) (build.Sink, error) { return parquetsink.New(w, nil) }})
		default:
			out = append(out, build.Output{Name: name, Ext: ".jsonl", New: func(w io.Writer) (build.Sink, error) { return format.NewWriter(w, name, nil) }})
		}
	}
	return out, nil
}
