package bps

import "slices"

// Start returns the state of the empty set for any benefit: that of an [Incremental], else one that asks Value for every gain. It
// serves algorithms and benefits that are built on others. It panics if b is nil.
func Start(b Benefit) Gains {
	if inc, ok := b.(Incremental); ok {
		return inc.Start()
	}
	base := b.Value(nil)
	return &plainGains{benefit: b, base: base, value: base}
}

// plainGains makes gains of a benefit that has only Value. The value of the set, and those of the sets one candidate larger that
// were asked for, are kept until the set grows: Value may be costly.
type plainGains struct {
	benefit Benefit
	base    float64
	set     []int // ascending
	value   float64
	with    map[int]float64 // value of set+i
	larger  []int           // scratch
}

func (g *plainGains) valueWith(i int) float64 {
	if v, ok := g.with[i]; ok {
		return v
	}
	at, _ := slices.BinarySearch(g.set, i)
	g.larger = append(append(append(g.larger[:0], g.set[:at]...), i), g.set[at:]...)
	v := g.benefit.Value(g.larger)
	if g.with == nil {
		g.with = make(map[int]float64)
	}
	g.with[i] = v
	return v
}

func (g *plainGains) Gain(i int) float64 { return g.valueWith(i) - g.value }

func (g *plainGains) Add(i int) {
	g.value = g.valueWith(i)
	at, _ := slices.BinarySearch(g.set, i)
	g.set = slices.Insert(g.set, at, i)
	clear(g.with)
}

func (g *plainGains) Value() float64 { return g.value - g.base }

func (g *plainGains) Clone() Gains {
	return &plainGains{benefit: g.benefit, base: g.base, set: slices.Clone(g.set), value: g.value}
}
