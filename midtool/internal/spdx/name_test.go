package spdx

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	for _, tt := range []struct{ in, want, reason string }{
		{"MIT", "MIT", "an identifier"},
		{" mit\n", "MIT", "case and space"},
		{"The MIT License", "MIT", "words around"},
		{"MIT License (Expat)", "MIT", "both names"},
		{"MIT-0", "MIT-0", "another license"},
		{"MIT OR Apache-2.0", "MIT OR Apache-2.0", "an expression stays"},
		{"Apache License, Version 2.0", "Apache-2.0", "the long name"},
		{"Apache 2", "Apache-2.0", "the short name"},
		{"apache-v2.0", "Apache-2.0", "a v"},
		{"Apache", "Apache", "no version, no guess"},
		{"BSD", "BSD", "no clauses, no guess"},
		{"BSD 3-Clause", "BSD-3-Clause", ""},
		{`BSD 2-Clause "Simplified" License`, "BSD-2-Clause", ""},
		{"CC0 1.0 Universal", "CC0-1.0", ""},
		{"", "", "none"},
		{"GPL-3.0", "GPL-3.0", "only, or later?"}, {strings.Repeat("MIT ", 30), strings.TrimSpace(strings.Repeat("MIT ", 30)), "a text"},
	} {
		if got := Name(tt.in); got != tt.want || Name(got) != got {
			t.Errorf("Name(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	for _, id := range Identifiers() {
		if Name(id) != id {
			t.Errorf("%s is no fixed point: %s", id, Name(id))
		}
	}
}
