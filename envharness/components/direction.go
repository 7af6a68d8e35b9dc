package components

import (
	"fmt"
	"strings"
)

// Direction says how a component changes the difficulty of a task. It is a set: a component can work both ways.
type Direction uint8

// The directions.
const (
	Harder  Direction = 1 << iota
	Easier            // a scaffold
	Neutral           // only other, not harder
)

var directionNames = [...]string{"harder", "easier", "neutral"} // by bit

// String returns the names of the directions in the set, "harder", "easier" and "neutral", with "|" between them; the empty set is the
// empty text.
func (d Direction) String() string {
	var names []string
	for i, name := range directionNames {
		if d&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if rest := d >> len(directionNames) << len(directionNames); rest != 0 {
		names = append(names, fmt.Sprintf("Direction(%d)", uint8(rest)))
	}
	return strings.Join(names, "|")
}

// MarshalText returns what String does. A bit that stands for no direction is an error.
func (d Direction) MarshalText() ([]byte, error) {
	if d >= 1<<len(directionNames) {
		return nil, fmt.Errorf("components: direction %d is none", uint8(d))
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText wrote, the names in any order. An unknown name, and one given twice, is an error, and d stays as it
// was.
func (d *Direction) UnmarshalText(text []byte) error {
	var set Direction
	if len(text) == 0 {
		*d = set
		return nil
	}
names:
	for part := range strings.SplitSeq(string(text), "|") {
		for i, name := range directionNames {
			if part != name {
				continue
			}
			if set&(1<<i) != 0 {
				return fmt.Errorf("components: direction %q is given twice", name)
			}
			set |= 1 << i
			continue names
		}
		return fmt.Errorf("components: direction %q is none of %s", shorten(part), strings.Join(directionNames[:], ", "))
	}
	*d = set
	return nil
}
