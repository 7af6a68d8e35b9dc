package rl

import (
	"fmt"
	"slices"
	"strconv"
)

// Options have names in text, so that they can stand in a file or a flag as they do in code.

var (
	stdNames        = []string{"default", "sample", "population", "none", "off"}
	epsNames        = []string{"default", "added", "inside sqrt"}
	singletonNames  = []string{"zero", "raw", "error"}
	truncationNames = []string{"default", "bootstrap", "terminal", "drop"}
	scopeNames      = []string{"group", "batch", "group mean, batch std"}
	stageNames      = []string{"PCC", "RCS", "MD", "PCC uniform"}
)

// String returns "default", "sample", "population", "none" or "off".
func (s Std) String() string { return enumString("Std", stdNames, uint8(s)) }

// MarshalText returns the name that [Std.String] gives, or an error for a value without a name.
func (s Std) MarshalText() ([]byte, error) { return enumText("Std", stdNames, uint8(s)) }

// UnmarshalText accepts exactly the names of [Std.String].
func (s *Std) UnmarshalText(text []byte) error { return enumSet(s, "Std", stdNames, text) }

// String returns "default", "added" or "inside sqrt".
func (p EpsPlace) String() string { return enumString("EpsPlace", epsNames, uint8(p)) }

// MarshalText returns the name that [EpsPlace.String] gives, or an error for a value without a name.
func (p EpsPlace) MarshalText() ([]byte, error) { return enumText("EpsPlace", epsNames, uint8(p)) }

// UnmarshalText accepts exactly the names of [EpsPlace.String].
func (p *EpsPlace) UnmarshalText(text []byte) error { return enumSet(p, "EpsPlace", epsNames, text) }

// String returns "zero", "raw" or "error".
func (s Singleton) String() string { return enumString("Singleton", singletonNames, uint8(s)) }

// MarshalText returns the name that [Singleton.String] gives, or an error for a value without a name.
func (s Singleton) MarshalText() ([]byte, error) {
	return enumText("Singleton", singletonNames, uint8(s))
}

// UnmarshalText accepts exactly the names of [Singleton.String].
func (s *Singleton) UnmarshalText(text []byte) error {
	return enumSet(s, "Singleton", singletonNames, text)
}

// String returns "default", "bootstrap", "terminal" or "drop".
func (t Truncation) String() string { return enumString("Truncation", truncationNames, uint8(t)) }

// MarshalText returns the name that [Truncation.String] gives, or an error for a value without a name.
func (t Truncation) MarshalText() ([]byte, error) {
	return enumText("Truncation", truncationNames, uint8(t))
}

// UnmarshalText accepts exactly the names of [Truncation.String].
func (t *Truncation) UnmarshalText(text []byte) error {
	return enumSet(t, "Truncation", truncationNames, text)
}

// String returns "group", "batch" or "group mean, batch std".
func (s Scope) String() string { return enumString("Scope", scopeNames, uint8(s)) }

// MarshalText returns the name that [Scope.String] gives, or an error for a value without a name.
func (s Scope) MarshalText() ([]byte, error) { return enumText("Scope", scopeNames, uint8(s)) }

// UnmarshalText accepts exactly the names of [Scope.String].
func (s *Scope) UnmarshalText(text []byte) error { return enumSet(s, "Scope", scopeNames, text) }

// String returns "PCC", "RCS", "MD" or "PCC uniform".
func (s Stage) String() string { return enumString("Stage", stageNames, uint8(s)) }

// MarshalText returns the name that [Stage.String] gives, or an error for a value without a name.
func (s Stage) MarshalText() ([]byte, error) { return enumText("Stage", stageNames, uint8(s)) }

// UnmarshalText accepts exactly the names of [Stage.String].
func (s *Stage) UnmarshalText(text []byte) error { return enumSet(s, "Stage", stageNames, text) }

func enumString(kind string, names []string, x uint8) string {
	if int(x) < len(names) {
		return names[x]
	}
	return kind + "(" + strconv.Itoa(int(x)) + ")"
}

func enumText(kind string, names []string, x uint8) ([]byte, error) {
	if int(x) < len(names) {
		return []byte(names[x]), nil
	}
	return nil, fmt.Errorf("rl: %s(%d) has no name, want one of %q", kind, x, names)
}

func enumSet[E ~uint8](dst *E, kind string, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("rl: %s is %.40q, want one of %q", kind, text, names)
	}
	*dst = E(i)
	return nil
}
