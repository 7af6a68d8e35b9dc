package stdio

import (
	"errors"

	"github.com/throughline-go/throughline/envharness"
)

// codeBadMessage says that a request could not be read. It is no error of an environment.
const codeBadMessage = "ErrBadMessage"

// codes name the errors of package envharness. Of an error that is several, the first one here counts.
var codes = []struct {
	name string
	err  error
}{
	{"ErrNeedReset", envharness.ErrNeedReset},
	{"ErrEpisodeOver", envharness.ErrEpisodeOver},
	{"ErrClosed", envharness.ErrClosed},
	{"ErrBusy", envharness.ErrBusy},
	{"ErrSeedUnsupported", envharness.ErrSeedUnsupported},
	{"ErrNoTask", envharness.ErrNoTask},
	{"ErrNoPlan", envharness.ErrNoPlan},
	{"ErrNotProven", envharness.ErrNotProven},
	{"ErrStart", envharness.ErrStart},
	{"ErrOrder", envharness.ErrOrder},
	{"ErrReservedName", envharness.ErrReservedName},
	{"ErrTamper", envharness.ErrTamper},
	{"ErrInsufficient", envharness.ErrInsufficient},
	{"ErrBadAction", envharness.ErrBadAction},
	{"ErrStop", envharness.ErrStop},
	{"ErrTokenBudget", envharness.ErrTokenBudget},
	{"ErrInfra", envharness.ErrInfra},
}

// codeOf names an error of an environment; one without a name is an ErrInfra.
func codeOf(err error) string {
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	return "ErrInfra"
}

// errorOf is the error that a code names; of an unknown one it is ErrInfra, and named is false.
func errorOf(code string) (err error, named bool) {
	for _, c := range codes {
		if c.name == code {
			return c.err, true
		}
	}
	return envharness.ErrInfra, false
}
