package loss

import (
	"fmt"
	"strconv"
)

// Options have names in text, so that they can stand in a file or a flag as they do in code.

var (
	klNames          = [...]string{KL3: "k3", KL1: "k1", KLAbs: "abs", KL2: "k2", KL3Plus: "k3+", KL1Plus: "k1+", KLAbsPlus: "abs+"}
	aggregationNames = [...]string{
		TokenMean: "token-mean", SeqMeanTokenSum: "seq-mean-token-sum", SeqMeanTokenMean: "seq-mean-token-mean",
		TurnMeanTokenMean: "turn-mean-token-mean", SeqSumNorm: "seq-sum-norm", SeqMeanTokenSumNorm: "seq-mean-token-sum-norm",
	}
)

// String returns the name that verl has for it: "k3", "k1", "abs", "k2", "k3+", "k1+" or "abs+", and "KLKind(n)" for a
// value that is none of them.
func (k KLKind) String() string { return enumString("KLKind", klNames[:], uint8(k)) }

// MarshalText returns the name that [KLKind.String] gives, or an error for a value without a name.
func (k KLKind) MarshalText() ([]byte, error) { return enumText("KLKind", klNames[:], uint8(k)) }

// UnmarshalText accepts exactly the names of [KLKind.String].
func (k *KLKind) UnmarshalText(text []byte) error { return enumSet(k, "KLKind", klNames[:], text) }

// String returns "token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "turn-mean-token-mean", "seq-sum-norm" or
// "seq-mean-token-sum-norm", and "Aggregation(n)" for a value that is none of them.
func (a Aggregation) String() string { return enumString("Aggregation", aggregationNames[:], uint8(a)) }

// MarshalText returns the name that [Aggregation.String] gives, or an error for a value without a name.
func (a Aggregation) MarshalText() ([]byte, error) {
	return enumText("Aggregation", aggregationNames[:], uint8(a))
}

// UnmarshalText accepts exactly the names of [Aggregation.String].
func (a *Aggregation) UnmarshalText(text []byte) error {
	return enumSet(a, "Aggregation", aggregationNames[:], text)
}

func enumString(kind string, names []string, x uint8) string {
	if int(x) < len(names) {
		return names[x]
	}
	return kind + "(" + strconv.Itoa(int(x)) + ")"
}

func enumText(kind string, names []string, x uint8) ([]byte, error) {
	if int(x) >= len(names) {
		return nil, fmt.Errorf("loss: %s has no name, want one of %q", enumString(kind, names, x), names)
	}
	return []byte(names[x]), nil
}

func enumSet[T ~uint8](x *T, kind string, names []string, text []byte) error {
	for i, name := range names {
		if string(text) == name {
			*x = T(i)
			return nil
		}
	}
	return fmt.Errorf("loss: %s is %.40q, want one of %q", kind, text, names)
}
