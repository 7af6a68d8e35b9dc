package backbone

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/throughline-go/throughline/internal/atomicfile"
)

// ErrFormat is wrapped by the errors of [Load], [Model.UnmarshalBinary] and [Critic.UnmarshalBinary] about what was read: a cut, a changed
// byte, another model, numbers that no training produces.
var ErrFormat = errors.New("backbone: not a saved model of this shape")

var errZero = errors.New("backbone: a model that was not made by NewTransformer, NewGRU, NewCritic, Clone or Load")

const (
	magic         = "TLbackbn" // eight bytes
	formatVersion = 1
	modelRole     = 1
	criticRole    = 2
)

// MarshalBinary returns the parameters, the state of the optimiser, and all of the [Config] but Seed and Workers; not the gradient. Numbers are
// little-endian, floats as their bits:
//
//	"TLbackbn", version uint32 = 1, role uint8 (1 model, 2 critic), kind uint8 (1 transformer, 2 GRU), inward uint8
//	Vocab, MaxLen, Dim, Heads, Layers, Head.Plus, Head.Minus uint32; Head.Temperature, Head.Tau float64
//	Beta1, Beta2, Eps, WeightDecay, MaxGradNorm float64, steps uint64, tensors uint32
//	for each tensor in the order of Params:
//	  length of the name uint8, name, rows uint32, columns uint32, w float64...; if steps > 0, m float64..., v float64...
//	SHA-256 of all that
//
// It returns an error for a parameter that is not finite. O(NumParams) time and memory.
func (m *Model) MarshalBinary() ([]byte, error) {
	if err := m.ready(); err != nil {
		return nil, err
	}
	return m.net.encode(modelRole)
}

// UnmarshalBinary sets m to the parameters and the state of the optimiser that [Model.MarshalBinary] returned, and drops the gradient. The
// architecture, the sizes, the reserved entries and the temperature must be those of m; its other settings stay as they are. A zero
// Model takes all from data, with one worker, as [Load] does.
//
// Errors wrap [ErrFormat], and m is then as it was. Training goes on from a saved state with the same bits as without the save. Sessions
// made before are of no use until their Reset. Whatever data holds, memory is at most a fixed multiple of its length.
func (m *Model) UnmarshalBinary(data []byte) error {
	if m == nil {
		return errZero
	}
	return decodeInto(&m.net, modelRole, data)
}

// MarshalBinary is as [Model.MarshalBinary].
func (c *Critic) MarshalBinary() ([]byte, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	return c.net.encode(criticRole)
}

// UnmarshalBinary is as [Model.UnmarshalBinary].
func (c *Critic) UnmarshalBinary(data []byte) error {
	if c == nil {
		return c.ready()
	}
	return decodeInto(&c.net, criticRole, data)
}

// Save writes what [Model.MarshalBinary] returns to a file, whole or not at all.
func (m *Model) Save(path string) error {
	data, err := m.MarshalBinary()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data, 0o644)
}

// Load makes the model that [Model.Save] wrote, with one worker. Errors about the content wrap [ErrFormat], others are those of the file.
func Load(path string) (*Model, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("backbone: load: %w", err)
	}
	m := &Model{}
	if err := m.UnmarshalBinary(data); err != nil {
		return nil, fmt.Errorf("backbone: load %s: %w", path, err)
	}
	return m, nil
}

func (n *network) encode(role uint8) ([]byte, error) {
	c, s := n.config, n.adam.settings()
	count := 0
	for _, p := range n.params {
		for i, w := range p.W {
			if w-w != 0 {
				return nil, fmt.Errorf("backbone: parameter %s[%d] is %v, want a finite number", p.Name, i, w)
			}
		}
		count += len(p.W)
	}
	if n.adam.n > 0 {
		count *= 3
	}
	le := binary.LittleEndian
	out := make([]byte, 0, 256+64*len(n.params)+8*count)
	put := func(numbers ...float64) {
		for _, x := range numbers {
			out = le.AppendUint64(out, math.Float64bits(x))
		}
	}
	out = le.AppendUint32(append(out, magic...), formatVersion)
	var inward uint8
	if c.Head.Inward {
		inward = 1
	}
	out = append(out, role, uint8(n.kind), inward)
	for _, x := range []int{c.Vocab, c.MaxLen, c.Dim, c.Heads, c.Layers, c.Head.Plus, c.Head.Minus} {
		out = le.AppendUint32(out, uint32(x))
	}
	put(c.Head.Temperature, c.Head.Tau, s.beta1, s.beta2, s.eps, s.decay, s.maxNorm)
	out = le.AppendUint64(out, uint64(n.adam.n))
	out = le.AppendUint32(out, uint32(len(n.params)))
	for i, p := range n.params {
		out = append(append(out, uint8(len(p.Name))), p.Name...)
		out = le.AppendUint32(le.AppendUint32(out, uint32(p.Rows)), uint32(p.Cols))
		put(p.W...)
		if n.adam.n > 0 {
			put(n.adam.m[i]...)
			put(n.adam.v[i]...)
		}
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

// decodeInto sets *net, or makes it where it is nil, once data has turned out to be right in all parts.
func decodeInto(net **network, role uint8, data []byte) error {
	r, err := newReader(data)
	if err != nil {
		return err
	}
	k, c, steps, err := r.header(role)
	if err != nil {
		return err
	}
	n := *net
	if n == nil {
		width := c.Vocab
		if role == criticRole {
			width = 1
		}
		n = newNetwork(k, c, width, 0)
	} else if err := n.sameShape(k, c); err != nil {
		return err
	}
	bodies, err := r.tensors(n.params, steps)
	if err != nil {
		return err
	}
	// Nothing fails from here on.
	n.adam.n = steps
	if steps == 0 {
		n.adam.m, n.adam.v = nil, nil
	} else if n.adam.m == nil {
		n.adam.m, n.adam.v = zerosLike(n.params), zerosLike(n.params)
	}
	for i, p := range n.params {
		body := bodies[i].read(p.W)
		if steps > 0 {
			body = body.read(n.adam.m[i])
			body.read(n.adam.v[i])
		}
		clear(p.G)
	}
	*net = n
	return nil
}

// sameShape reports in what a saved model differs from n, of all that its parameters depend on.
func (n *network) sameShape(k kind, c Config) error {
	if k != n.kind {
		return fmt.Errorf("%w: it is a %v, want a %v", ErrFormat, k, n.kind)
	}
	for _, f := range [...]struct {
		name      string
		got, want any
	}{
		{"Vocab", c.Vocab, n.config.Vocab},
		{"MaxLen", c.MaxLen, n.config.MaxLen},
		{"Dim", c.Dim, n.config.Dim},
		{"Heads", c.Heads, n.config.Heads},
		{"Layers", c.Layers, n.config.Layers},
		{"Head.Plus", c.Head.Plus, n.config.Head.Plus},
		{"Head.Minus", c.Head.Minus, n.config.Head.Minus},
		{"Head.Temperature", c.Head.Temperature, n.config.Head.Temperature},
	} {
		if f.got != f.want {
			return fmt.Errorf("%w: %s is %v, want %v", ErrFormat, f.name, f.got, f.want)
		}
	}
	return nil
}

// floats are numbers as they stand in a file.
type floats []byte

func (f floats) at(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(f[8*i:])) }

// read fills dst and returns the numbers after it.
func (f floats) read(dst []float64) floats {
	for i := range dst {
		dst[i] = f.at(i)
	}
	return f[8*len(dst):]
}

// A reader takes a saved model apart. What it returns refers to the bytes read.
type reader struct {
	rest []byte
	cut  bool // whether more was asked for than there is; what is returned from then on are zeros
}

// newReader checks what does not depend on the content.
func newReader(data []byte) (*reader, error) {
	start := len(magic) + 4
	if len(data) < start+sha256.Size {
		return nil, fmt.Errorf("%w: %d bytes are too few", ErrFormat, len(data))
	}
	if string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it starts with %q, want %q", ErrFormat, data[:len(magic)], magic)
	}
	if v := binary.LittleEndian.Uint32(data[len(magic):]); v != formatVersion {
		return nil, fmt.Errorf("%w: version is %d, want %d", ErrFormat, v, formatVersion)
	}
	end := len(data) - sha256.Size
	if sha256.Sum256(data[:end]) != [sha256.Size]byte(data[end:]) {
		return nil, fmt.Errorf("%w: the checksum does not match", ErrFormat)
	}
	return &reader{rest: data[start:end]}, nil
}

var zeros [8]byte

func (r *reader) next(n int) []byte {
	if r.cut || len(r.rest) < n {
		r.cut = true
		return zeros[:min(n, len(zeros))]
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) uint8() uint8     { return r.next(1)[0] }
func (r *reader) uint32() uint32   { return binary.LittleEndian.Uint32(r.next(4)) }
func (r *reader) uint64() uint64   { return binary.LittleEndian.Uint64(r.next(8)) }
func (r *reader) float64() float64 { return math.Float64frombits(r.uint64()) }

// maxSteps is more than any optimiser takes, and less than what overflows.
const maxSteps = 1 << 40

// header reads all before the tensors. The config is filled, and a network of its size is no larger than what follows allows.
func (r *reader) header(role uint8) (k kind, c Config, steps int, err error) {
	fail := func(format string, args ...any) (kind, Config, int, error) {
		return 0, Config{}, 0, fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...)
	}
	if got := r.uint8(); got != role {
		return fail("role is %d, want %d (1 model, 2 critic)", got, role)
	}
	if k = kind(r.uint8()); k != transformerKind && k != gruKind {
		return fail("kind is %d, want 1 or 2", uint8(k))
	}
	inward := r.uint8()
	if inward > 1 {
		return fail("inward is %d, want 0 or 1", inward)
	}
	c.Head.Inward = inward == 1
	for _, f := range [...]struct {
		name string
		to   *int
		most uint32
	}{
		{"Vocab", &c.Vocab, maxVocab},
		{"MaxLen", &c.MaxLen, maxLength},
		{"Dim", &c.Dim, maxDim},
		{"Heads", &c.Heads, maxDim},
		{"Layers", &c.Layers, maxLayers},
		{"Head.Plus", &c.Head.Plus, maxVocab},
		{"Head.Minus", &c.Head.Minus, maxVocab},
	} {
		x := r.uint32()
		if x > f.most {
			return fail("%s is %d, want at most %d", f.name, x, f.most)
		}
		*f.to = int(x)
	}
	c.Head.Temperature, c.Head.Tau = r.float64(), r.float64()
	beta1, beta2, eps, decay, maxNorm := r.float64(), r.float64(), r.float64(), r.float64(), r.float64()
	c.AdamW = AdamW{Beta1: &beta1, Beta2: &beta2, Eps: eps, WeightDecay: &decay, MaxGradNorm: &maxNorm}
	n := r.uint64()
	if n > maxSteps {
		return fail("steps is %d, want at most %d", n, int64(maxSteps))
	}
	if r.cut {
		return fail("it ends early")
	}
	// A header alone must not make anyone reserve gigabytes: the weights that it asks for must follow.
	least := c.weights(k)
	if role == criticRole {
		least -= c.Vocab * c.Dim // its head has no column for each token
	}
	if have := len(r.rest) / 8; least > have || max(c.Head.Plus, c.Head.Minus) >= c.Vocab {
		return fail("a vocabulary of %d with reserved entries %d and %d and %d weights or more, in %d numbers",
			c.Vocab, c.Head.Plus, c.Head.Minus, least, have)
	}
	c.Workers = 1
	full, err := c.filled(k)
	if err != nil {
		return fail("%w", err)
	}
	before, after := c, full
	before.AdamW, after.AdamW = AdamW{}, AdamW{}
	if before != after || eps == 0 {
		return fail("a setting is 0 that is saved with its value, or another that does not exist here")
	}
	return k, full, int(n), nil
}

// tensors reads the rest, which must be that of params, and returns the numbers of each, checked.
func (r *reader) tensors(params []*Param, steps int) ([]floats, error) {
	if got := r.uint32(); int64(got) != int64(len(params)) {
		return nil, fmt.Errorf("%w: it has %d tensors, want %d", ErrFormat, got, len(params))
	}
	out := make([]floats, len(params))
	for i, p := range params {
		name := string(r.next(int(r.uint8())))
		rows, cols := r.uint32(), r.uint32()
		if !r.cut && (name != p.Name || int64(rows) != int64(p.Rows) || int64(cols) != int64(p.Cols)) {
			return nil, fmt.Errorf("%w: tensor %d is %.50q, %d x %d, want %q, %d x %d", ErrFormat, i, name, rows, cols, p.Name, p.Rows, p.Cols)
		}
		count := len(p.W)
		if steps > 0 {
			count *= 3
		}
		out[i] = r.next(8 * count)
		if r.cut {
			return nil, fmt.Errorf("%w: it ends early, in tensor %d, %s", ErrFormat, i, p.Name)
		}
		for j := range count {
			if x := out[i].at(j); x-x != 0 || j >= 2*len(p.W) && x < 0 {
				return nil, fmt.Errorf("%w: number %d of tensor %s is %v, which no training produces", ErrFormat, j, p.Name, x)
			}
		}
	}
	if len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrFormat, len(r.rest))
	}
	return out, nil
}
