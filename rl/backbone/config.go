package backbone

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/throughline-go/throughline/rl/loss"
)

// Config describes a model. Fields whose zero means a default stay zero in the Config of the caller.
type Config struct {
	Vocab  int // number of token ids, which are 0 to Vocab-1; at least one, and one more than the reserved entries of Head
	MaxLen int // tokens of the longest sequence; zero means 256
	Dim    int // width of the hidden vectors; zero means 64
	Heads  int // of attention, in a transformer alone; must divide Dim; zero means 4
	Layers int // in a transformer alone; zero means 2
	// Head has the reserved entries of the vocabulary, which are never sampled, count in no log-probability, and are an error in any
	// sequence, and the temperature of the log-probabilities. Its other fields are for those who read the logits.
	Head    loss.Head
	Seed    uint64 // of the initial parameters
	Workers int    // goroutines of one call; it changes the speed, and no result; zero means 1
	AdamW   AdamW  // settings of the optimiser
}

// The largest sizes: what is above them is a mistake, and with them no product of sizes overflows.
const (
	maxVocab  = 1 << 20
	maxLength = 1 << 16
	maxDim    = 1 << 12
	maxLayers = 1 << 8
	maxParams = 1 << 28 // 2 GiB
)

// filled returns c with its defaults in place, checked. The fields that an architecture does not read are 0.
func (c Config) filled(k kind) (Config, error) {
	or := func(x *int, def int) {
		if *x == 0 {
			*x = def
		}
	}
	or(&c.MaxLen, 256)
	or(&c.Dim, 64)
	or(&c.Workers, 1)
	if k == transformerKind {
		or(&c.Heads, 4)
		or(&c.Layers, 2)
	} else {
		c.Heads, c.Layers = 0, 0
	}
	if c.Head.Temperature == 0 {
		c.Head.Temperature = 1
	}
	c.AdamW = c.AdamW.clone()
	var faults []error
	size := func(name string, x, least, most int) {
		if x < least || x > most {
			faults = append(faults, fmt.Errorf("backbone: Config.%s is %d, want a number from %d to %d", name, x, least, most))
		}
	}
	least := 1
	if c.reserves() {
		least = max(3, c.Head.Plus+1, c.Head.Minus+1)
	}
	size("Vocab", c.Vocab, least, maxVocab)
	size("MaxLen", c.MaxLen, 1, maxLength)
	size("Dim", c.Dim, 1, maxDim)
	size("Workers", c.Workers, 1, 1<<16)
	if k == transformerKind {
		size("Heads", c.Heads, 1, maxDim)
		size("Layers", c.Layers, 1, maxLayers)
		if c.Heads > 0 && c.Dim%c.Heads != 0 {
			faults = append(faults, fmt.Errorf("backbone: Config.Heads is %d, want a divisor of Dim %d", c.Heads, c.Dim))
		}
	}
	// The head checks itself, against a smallest vocabulary that suits it.
	if least <= maxVocab {
		z := make([]float64, least)
		if _, err := c.Head.Entropy(nil, z, 0); err != nil {
			faults = append(faults, fmt.Errorf("backbone: Config.Head: %w", err))
		}
	}
	if err := c.AdamW.check(); err != nil {
		faults = append(faults, err)
	}
	if len(faults) == 0 {
		if n := c.weights(k); n > maxParams {
			faults = append(faults, fmt.Errorf("backbone: Config asks for %d parameters, want at most %d", n, maxParams))
		}
	}
	return c, errors.Join(faults...)
}

// weights returns about how many parameters a model has.
func (c Config) weights(k kind) int {
	n := 2 * c.Vocab * c.Dim
	if k == transformerKind {
		return n + c.MaxLen*c.Dim + c.Layers*12*c.Dim*c.Dim
	}
	return n + 6*c.Dim*c.Dim
}

// reserves reports whether the vocabulary has reserved entries.
func (c Config) reserves() bool { return c.Head.Plus != 0 || c.Head.Minus != 0 }

// reserved reports whether id is a reserved entry.
func (c Config) reserved(id int) bool {
	return c.reserves() && (id == c.Head.Plus || id == c.Head.Minus)
}

// A kind names an architecture; its numbers stand in files.
type kind uint8

const (
	transformerKind kind = 1
	gruKind         kind = 2
)

func (k kind) String() string {
	switch k {
	case transformerKind:
		return "transformer"
	case gruKind:
		return "gru"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// newTrunk makes the trunk of a filled Config.
func (c Config) newTrunk(k kind, rng *rand.Rand) trunk {
	if k == gruKind {
		return newGRU(c, rng)
	}
	return newTransformer(c, rng)
}
