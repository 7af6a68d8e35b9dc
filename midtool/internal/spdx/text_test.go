package spdx

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// What the forms of a license have in common, in words that the licenses do not have beside.
func sample(id string) string {
	i := slices.IndexFunc(forms, func(f form) bool { return f.id == id })
	return "Copyright (c) 2027, The Desk. " + strings.ToUpper(strings.Join(forms[i].has, ".\n * ")) + "."
}

func TestText(t *testing.T) {
	filler := strings.Repeat("and so on ", 300)
	for _, tt := range []struct{ name, in, want, reason string }{
		{"MIT", sample("MIT"), "MIT", "its sentences"},
		{"MIT with more", sample("MIT") + filler, "", "a further condition may be in it"},
		{"MIT with a rule", sample("MIT") + " The Software shall be used for Good, not Evil.", "", "a further condition"},
		{"X11", sample("MIT") + " The name shall not be used in advertising.", "", "another license"},
		{"MIT-0", mitGrant, "", "without its condition another license"},
		{"Apache", sample("Apache-2.0") + filler, "Apache-2.0", "a long text"},
		{"Apache notice", "Licensed under the Apache License, Version 2.0 (the License)", "", "a notice is no license text"},
		{"BSD 3", sample("BSD-3-Clause"), "BSD-3-Clause", "with the clause on names"},
		{"BSD 2", sample("BSD-2-Clause"), "BSD-2-Clause", "without it"},
		{"BSD 4", sample("BSD-3-Clause") + " All advertising materials must say so.", "", "with the clause on advertising"},
		{"ISC", sample("ISC"), "ISC", "its sentences"},
		{"0BSD", iscGrant, "", "without the condition another license"},
		{"CC0", sample("CC0-1.0"), "CC0-1.0", "its sentences"},
		{"MPL", sample("MPL-2.0"), "MPL-2.0", "its sentences"},
		{"two", sample("MIT") + sample("Apache-2.0"), "", "a choice, or both; the text alone does not tell"},
		{"none", "All rights reserved.", "", "no license"},
		{"empty", "", "", "nothing"},
		{"long", sample("MIT") + strings.Repeat(" ", maxText), "", "more than is read"},
	} {
		if tt.reason == "" {
			t.Fatalf("%s has no reason", tt.name)
		}
		if got := Text(tt.in); got != tt.want {
			t.Errorf("%s: %q, want %q (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

// The licenses of the public data are known for what they are.
func TestTextOnData(t *testing.T) {
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set")
	}
	for name, want := range map[string]string{"mcp/LICENSE.Toucan": "MIT", "bfcl/LICENSE.gorilla": "Apache-2.0", "tau2/LICENSE.tau2-bench": "MIT"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := Text(string(b)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestFolder(t *testing.T) {
	fsys := fstest.MapFS{
		"LICENSE": {Data: []byte(sample("MIT"))}, "COPYING": {Data: []byte("mine")}, "License.txt": {Data: []byte(sample("ISC"))},
		"LICENSE-MIT": {Data: []byte(sample("MIT"))}, "LICENSE-APACHE": {Data: []byte(sample("Apache-2.0"))},
	}
	for _, tt := range []struct {
		files            string
		id, from, reason string
	}{
		{"README.md main.go", "", "", "none"},
		{"LICENSE main.go", "MIT", "file LICENSE", "one"},
		{"COPYING", Unknown, "file COPYING", "not known"},
		{"COPYING LICENSE", Unknown, "file COPYING, LICENSE", "one of two not known"},
		{"LICENSE License.txt", "ISC AND MIT", "file LICENSE, License.txt", "both hold"},
		{"LICENSE-APACHE LICENSE-MIT", "Apache-2.0 OR MIT", "file LICENSE-APACHE, LICENSE-MIT", "a choice"},
		{"LICENSE LICENSE-MIT", "MIT", "file LICENSE, LICENSE-MIT", "the same"},
		{"LICENCE", Unknown, "file LICENCE", "not there any more"},
	} {
		if id, from := Folder(fsys, ".", strings.Fields(tt.files)); id != tt.id || from != tt.from {
			t.Errorf("%s: %q, %q, want %q, %q (%s)", tt.files, id, from, tt.id, tt.from, tt.reason)
		}
	}
}

func TestHead(t *testing.T) {
	for _, tt := range []struct{ in, want, reason string }{
		{"// SPDX-License-Identifier: MIT\n", "MIT", "a comment"},
		{"#!/bin/sh\n# SPDX-License-Identifier: Apache 2.0", "Apache-2.0", "spelled as usual"},
		{"/* SPDX-License-Identifier: BSD-3-Clause */", "BSD-3-Clause", "with its end"},
		{"<!-- SPDX-License-Identifier: CC0-1.0 -->", "CC0-1.0", "of a page"},
		{"// SPDX-License-Identifier: MIT OR GPL-2.0-only\n", "MIT OR GPL-2.0-only", "an expression stays"},
		{"Write `SPDX-License-Identifier: MIT` there", "", "prose"},
		{"`SPDX-License-Identifier: MIT`", "", "a quotation"},
		{"// SPDX-License-Identifier:\n", "", "empty"}, {strings.Repeat(" ", maxHead) + "// SPDX-License-Identifier: MIT", "", "too late"},
		{"", "", "nothing"},
	} {
		if got := Head(tt.in); got != tt.want {
			t.Errorf("%.60q: %q, want %q (%s)", tt.in, got, tt.want, tt.reason)
		}
	}
}

func TestIsFile(t *testing.T) {
	var got strings.Builder
	for _, name := range []string{"LICENSE", "license.md", "LICENCE.txt", "COPYING", "LICENSE-MIT", "UNLICENSE", "license.go", "licenses", "LICENSE.old", "README"} {
		got.WriteString(fmt.Sprint(IsFile(name), " "))
	}
	if want := "true true true true true true false false false false "; got.String() != want {
		t.Errorf("%s, want %s", got.String(), want)
	}
}
