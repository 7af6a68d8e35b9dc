package backbone

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/rl/loss"
)

// savedConfig is of small models with settings that are not the defaults.
func savedConfig() Config {
	return Config{
		Vocab: 6, MaxLen: 7, Dim: 4, Heads: 2, Layers: 1, Seed: 3, Workers: 2,
		Head:  loss.Head{Plus: 1, Minus: 4, Temperature: 1.5, Tau: 2, Inward: true},
		AdamW: AdamW{Beta1: new(.8), WeightDecay: new(0.0), MaxGradNorm: new(0.0)},
	}
}

func mustModel(t testing.TB, make func(Config) (*Model, error), c Config) *Model {
	t.Helper()
	m, err := make(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// descend makes steps with gradients that a seed fixes.
func descend(t testing.TB, n *network, seed uint64, steps int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range steps {
		for _, p := range n.params {
			for i := range p.G {
				p.G[i] = rng.NormFloat64()
			}
		}
		if _, err := n.adam.step(n.params, 1e-2); err != nil {
			t.Fatal(err)
		}
	}
}

type saved interface {
	MarshalBinary() ([]byte, error)
	UnmarshalBinary([]byte) error
}

func mustMarshal(t testing.TB, m saved) []byte {
	t.Helper()
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// savedModels returns models and critics of both architectures, before and after training.
func savedModels(t testing.TB) map[string]saved {
	t.Helper()
	out := map[string]saved{}
	for _, a := range architectures {
		m := mustModel(t, a.make, savedConfig())
		critic, err := m.NewCritic(9)
		if err != nil {
			t.Fatal(err)
		}
		out[a.name+", new"], out[a.name+" critic, new"] = m.Clone(), critic.Clone()
		descend(t, m.net, 1, 3)
		descend(t, critic.net, 1, 3)
		out[a.name+", trained"], out[a.name+" critic, trained"] = m, critic
	}
	return out
}

var architectures = []struct {
	name string
	make func(Config) (*Model, error)
}{{"transformer", NewTransformer}, {"gru", NewGRU}}

func netOf(m saved) *network {
	if c, ok := m.(*Critic); ok {
		return c.net
	}
	return m.(*Model).net
}

// zeroOf returns a zero Model for a Model, and a zero Critic for a Critic.
func zeroOf(m saved) saved {
	if _, ok := m.(*Critic); ok {
		return new(Critic)
	}
	return new(Model)
}

// hiddenOf returns all that the network computes before its head, which is a product with one tensor.
func hiddenOf(n *network) []float64 {
	p := n.trunk.newPass()
	return slices.Clone(p.forward([]int{2, 0, 3, 3, 5}, []int{3, 2}, []int{0, 0}))
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// What is restored computes the same bits, has the same settings, and trains on with the same bits.
func TestMarshal(t *testing.T) {
	for name, m := range savedModels(t) {
		t.Run(name, func(t *testing.T) {
			data := mustMarshal(t, m)
			back := zeroOf(m)
			if err := back.UnmarshalBinary(data); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(mustMarshal(t, back), data) {
				t.Error("the restored model is saved with other bytes")
			}
			a, b := netOf(m), netOf(back)
			want, got := a.config, b.config
			if got.Workers != 1 {
				t.Errorf("%d workers, want 1", got.Workers)
			}
			want.AdamW, got.AdamW, want.Seed, want.Workers, got.Workers = AdamW{}, AdamW{}, 0, 0, 0
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
			for _, o := range []AdamW{b.config.AdamW, b.adam.AdamW} {
				if diff := cmp.Diff(a.adam.settings(), o.settings(), cmp.AllowUnexported(adamSettings{})); diff != "" {
					t.Errorf("optimiser (-want +got):\n%s", diff)
				}
			}
			if !same(hiddenOf(a), hiddenOf(b)) {
				t.Error("the restored model computes other vectors")
			}
			descend(t, a, 7, 2)
			descend(t, b, 7, 2)
			if !bytes.Equal(mustMarshal(t, m), mustMarshal(t, back)) {
				t.Error("the restored model goes on with other steps")
			}
		})
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	for name, m := range savedModels(t) {
		m, ok := m.(*Model)
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "model")
			if err := m.Save(path); err != nil {
				t.Fatal(err)
			}
			back, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(mustMarshal(t, m), mustMarshal(t, back)) {
				t.Error("the model that was loaded is not the one that was saved")
			}
			// A model that cannot be saved leaves the file.
			bad := m.Clone()
			bad.Params()[0].W[1] = math.NaN()
			if err := bad.Save(path); err == nil || !strings.Contains(err.Error(), "[1] is NaN") {
				t.Errorf("error %v, want one that names the parameter", err)
			}
			if _, err := Load(path); err != nil {
				t.Errorf("after a failed Save: %v", err)
			}
		})
	}
	if _, err := Load(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrFormat) {
		t.Errorf("error %v, want one of the file", err)
	}
	path := filepath.Join(dir, "text")
	if err := os.WriteFile(path, []byte("no model"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want ErrFormat with the path", err)
	}
	for _, m := range []saved{new(Model), (*Model)(nil), new(Critic), (*Critic)(nil)} {
		if _, err := m.MarshalBinary(); err == nil {
			t.Errorf("a %T without numbers was saved", m)
		}
	}
	for _, m := range []saved{(*Model)(nil), (*Critic)(nil)} {
		if err := m.UnmarshalBinary(nil); err == nil {
			t.Errorf("no error from a nil %T", m)
		}
	}
	if err := new(Model).Save(path); err == nil {
		t.Error("a zero Model was saved to a file")
	}
}

// A model keeps its settings and its tensors, gets the numbers, and loses the gradient.
func TestUnmarshalIntoModel(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			m := mustModel(t, a.make, savedConfig())
			fresh := mustMarshal(t, m)
			descend(t, m.net, 1, 3)
			trained := mustMarshal(t, m)

			c := savedConfig()
			c.Seed, c.AdamW.WeightDecay, c.Head.Tau, c.Head.Inward = 99, new(.5), 7, false
			other := mustModel(t, a.make, c)
			params := other.Params()
			params[0].G[0] = 1
			for _, data := range [][]byte{trained, fresh, trained} {
				if err := other.UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
				if *other.net.adam.WeightDecay != .5 || other.net.config.Head.Tau != 7 || other.net.config.Workers != 2 {
					t.Error("the settings of the model have changed")
				}
				if params[0].G[0] != 0 {
					t.Error("the gradient is still there")
				}
				// With the settings of the first it is the first.
				back := mustModel(t, a.make, savedConfig())
				for i, p := range params {
					copy(back.Params()[i].W, p.W)
				}
				back.net.adam.m, back.net.adam.v, back.net.adam.n = other.net.adam.m, other.net.adam.v, other.net.adam.n
				if !bytes.Equal(mustMarshal(t, back), data) {
					t.Error("the numbers are not those that were saved")
				}
			}
		})
	}
}

// refused demands that both a model like m and a zero one refuse data and stay as they are.
func refused(t *testing.T, m saved, data []byte, parts ...string) {
	t.Helper()
	before := mustMarshal(t, m)
	g := netOf(m).params[0].G
	g[0] = 3
	err := m.UnmarshalBinary(data)
	if !errors.Is(err, ErrFormat) {
		t.Fatalf("error %v, want ErrFormat", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want one with %q", err, part)
		}
	}
	if g[0] != 3 || !bytes.Equal(mustMarshal(t, m), before) {
		t.Error("the model has changed")
	}
	g[0] = 0
}

func TestUnmarshalOtherModel(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(c *Config)
		part   string
		reason string
	}{
		{"vocabulary", func(c *Config) { c.Vocab = 7 }, "Vocab is 7, want 6", "ids mean something else"},
		{"length", func(c *Config) { c.MaxLen = 8 }, "MaxLen is 8, want 7", "another limit"},
		{"width", func(c *Config) { c.Dim = 8 }, "Dim is 8, want 4", "other tensors"},
		{"reserved", func(c *Config) { c.Head.Plus = 2 }, "Head.Plus is 2, want 1", "other log-probabilities"},
		{"temperature", func(c *Config) { c.Head.Temperature = 0 }, "Head.Temperature is 1, want 1.5", "other log-probabilities"},
		{"heads", func(c *Config) { c.Heads = 4 }, "Heads is 4, want 2", "the same tensors, used otherwise"},
		{"layers", func(c *Config) { c.Layers = 2 }, "Layers is 2, want 1", "more tensors"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		for _, a := range architectures {
			if a.name == "gru" && (tt.name == "heads" || tt.name == "layers") {
				continue // it has neither
			}
			t.Run(a.name+", "+tt.name, func(t *testing.T) {
				c := savedConfig()
				tt.change(&c)
				refused(t, mustModel(t, a.make, savedConfig()), mustMarshal(t, mustModel(t, a.make, c)), tt.part)
			})
		}
	}
	t.Run("architecture", func(t *testing.T) {
		refused(t, mustModel(t, NewGRU, savedConfig()), mustMarshal(t, mustModel(t, NewTransformer, savedConfig())), "transformer, want a gru")
	})
	t.Run("critic", func(t *testing.T) {
		m := mustModel(t, NewGRU, savedConfig())
		c, err := m.NewCritic(1)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, m, mustMarshal(t, c), "role is 2, want 1")
		refused(t, c, mustMarshal(t, m), "role is 1, want 2")
	})
}

// Every truncation and every byte that is not what was written is noticed.
func TestUnmarshalDamage(t *testing.T) {
	for name, m := range savedModels(t) {
		t.Run(name, func(t *testing.T) {
			data := mustMarshal(t, m)
			zero := zeroOf(m)
			check := func(what string, at int, damaged []byte) {
				for _, into := range []saved{m, zero} {
					if err := into.UnmarshalBinary(damaged); !errors.Is(err, ErrFormat) {
						t.Fatalf("%s %d: error %v, want ErrFormat", what, at, err)
					}
				}
			}
			for i := range data {
				check("cut at", i, data[:i:i])
				damaged := slices.Clone(data)
				damaged[i] ^= 1 << (i % 8)
				check("bit flipped in byte", i, damaged)
			}
			check("bytes", len(data)+1, append(slices.Clone(data), 0))
			if netOf(zero) != nil {
				t.Error("the zero model has become one")
			}
			if !bytes.Equal(mustMarshal(t, m), data) {
				t.Error("the model has changed")
			}
		})
	}
}

// resum replaces the checksum by the right one.
func resum(data []byte) []byte {
	end := len(data) - sha256.Size
	sum := sha256.Sum256(data[:end])
	return append(slices.Clone(data[:end]), sum[:]...)
}

// Positions in a saved model.
const (
	atVersion     = 8
	atRole        = 12
	atKind        = 13
	atInward      = 14
	atVocab       = 15
	atMaxLen      = 19
	atDim         = 23
	atHeads       = 27
	atPlus        = 35
	atTemperature = 43
	atBeta1       = 59
	atEps         = 75
	atSteps       = 99
	atTensors     = 107
	atName        = 112
)

// What no MarshalBinary returns is refused although its checksum is right.
func TestUnmarshalContent(t *testing.T) {
	m := mustModel(t, NewGRU, savedConfig())
	descend(t, m.net, 1, 1)
	data := mustMarshal(t, m)
	if got := string(data[atName : atName+9]); got != "embedding" {
		t.Fatalf("the first tensor is %q: the positions of this test are wrong", got)
	}
	atW := atName + len("embedding") + 8
	put32 := func(at int, x uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], x); return b }
	}
	put64 := func(at int, x float64) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], math.Float64bits(x)); return b }
	}
	put8 := func(at int, x byte) func([]byte) []byte {
		return func(b []byte) []byte { b[at] = x; return b }
	}
	weights := len(m.net.params[0].W)
	for _, tt := range []struct {
		name   string
		change func([]byte) []byte
		part   string
		reason string
	}{
		{"magic", put8(0, 'X'), "it starts with", "another kind of file"},
		{"version", put32(atVersion, 2), "version is 2, want 1", "a later format"},
		{"role", put8(atRole, 7), "role is 7", "no such role"},
		{"kind", put8(atKind, 3), "kind is 3", "no such architecture"},
		{"inward", put8(atInward, 2), "inward is 2", "no truth value: it would be saved otherwise"},
		{"no vocabulary", put32(atVocab, 0), "", "a model has tokens"},
		{"huge vocabulary", put32(atVocab, 1<<32-1), "Vocab is 4294967295", "more than any model has"},
		{"large vocabulary", put32(atVocab, 1<<20), "", "more weights than there are bytes"},
		{"large width", put32(atDim, 1<<12), "", "the same"},
		{"default length", put32(atMaxLen, 0), "a setting is 0", "0 would be read as 256 and saved so"},
		{"heads of a GRU", put32(atHeads, 2), "a setting is 0", "it has none"},
		{"reserved beyond the vocabulary", put32(atPlus, 6), "reserved entries 6", "no such token"},
		{"reserved twice", put32(atPlus, 4), "Head", "two different entries"},
		{"temperature 0", put64(atTemperature, 0), "a setting is 0", "0 would be read as 1 and saved so"},
		{"temperature NaN", put64(atTemperature, math.NaN()), "Head.Temperature", "no number"},
		{"beta1", put64(atBeta1, 1), "AdamW.Beta1 is 1", "out of range"},
		{"eps 0", put64(atEps, 0), "a setting is 0", "0 would be read as 1e-8 and saved so"},
		{"steps", put64(atSteps, -1), "steps is", "more steps than an int has"},
		{"no steps", put64(atSteps, 0), "tensor 1", "without steps there is no m and no v"},
		{"tensors", put32(atTensors, 5), "5 tensors, want 6", "one is missing"},
		{"name", put8(atName, 'E'), `"Embedding"`, "an unknown tensor"},
		{"long name", put8(atName-1, 255), "tensor 0", "it takes in what follows"},
		{"rows", put32(atName+9, 4), "4 x 4, want \"embedding\", 6 x 4", "another shape"},
		{"NaN", put64(atW, math.NaN()), "number 0 of tensor embedding is NaN", "no training produces it"},
		{"infinite mean", put64(atW+8*weights, math.Inf(1)), fmt.Sprintf("number %d of tensor embedding is +Inf", weights), "the same"},
		{"negative square", put64(atW+8*2*weights, -1), "is -1", "its root would be NaN"},
		{"longer", func(b []byte) []byte { return append(b, make([]byte, 3)...) }, "3 bytes too many", "what are they?"},
		{"shorter", func(b []byte) []byte { return b[:len(b)-8] }, "ends early, in tensor 5, head", "a number is missing"},
		{"header alone", func(b []byte) []byte { return b[:atTensors+sha256.Size] }, "in 0 numbers", "all tensors are missing"},
		{"short header", func(b []byte) []byte { return b[:atBeta1+sha256.Size] }, "it ends early", "some settings are missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			damaged := resum(tt.change(slices.Clone(data)))
			refused(t, m, damaged, tt.part)
			zero := new(Model)
			if err := zero.UnmarshalBinary(damaged); !errors.Is(err, ErrFormat) || zero.net != nil {
				t.Errorf("zero model: error %v, want ErrFormat", err)
			}
		})
	}
}

// The size of a saved model bounds what is reserved for it.
func TestUnmarshalReservesLittle(t *testing.T) {
	data := mustMarshal(t, mustModel(t, NewTransformer, savedConfig()))
	for _, at := range []int{atVocab, atMaxLen, atDim, atHeads + 4, atPlus} {
		for shift := range 32 {
			damaged := slices.Clone(data)
			binary.LittleEndian.PutUint32(damaged[at:], 1<<shift)
			damaged = resum(damaged)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			new(Model).UnmarshalBinary(damaged)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > uint64(32*len(data)) {
				t.Errorf("byte %d, 1<<%d: %d bytes reserved for %d", at, shift, got, len(data))
			}
		}
	}
}

// Whatever the bytes, reading them does not panic, an error leaves the model as it was, and what is accepted is saved with the same bytes.
func FuzzUnmarshal(f *testing.F) {
	c := savedConfig() // as small as can be, so that a fault in the right place is likely
	c.Vocab, c.MaxLen, c.Dim, c.Heads = 5, 1, 1, 1
	model := mustModel(f, NewGRU, c)
	f.Add(mustMarshal(f, model))
	f.Add(mustMarshal(f, mustModel(f, NewTransformer, c)))
	critic, err := model.NewCritic(1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(mustMarshal(f, critic))
	descend(f, model.net, 1, 2)
	f.Add(mustMarshal(f, model))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		tries := [][]byte{data}
		if len(data) >= sha256.Size {
			tries = append(tries, resum(data)) // to get behind the checksum
		}
		for _, data := range tries {
			for _, m := range []saved{new(Model), new(Critic)} {
				err := m.UnmarshalBinary(data)
				if err != nil {
					if !errors.Is(err, ErrFormat) || netOf(m) != nil {
						t.Fatalf("error %v, network %v", err, netOf(m))
					}
					continue
				}
				if !bytes.Equal(mustMarshal(t, m), data) {
					t.Fatal("what was accepted is saved with other bytes")
				}
				if err := m.UnmarshalBinary(data); err != nil {
					t.Fatalf("the second time: %v", err)
				}
			}
		}
		before := mustMarshal(t, model)
		if err := model.UnmarshalBinary(data); err != nil && !bytes.Equal(mustMarshal(t, model), before) {
			t.Fatal("an error changed the model")
		}
	})
}
