package rollout

import (
	"context"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
)

func BenchmarkEncode(b *testing.B) {
	const s = "Goal: leave room 1. Doors green, pink. Room 0, cell 1. Door green closed. Keys held: none. Keys here: zoe."
	tok := tokenizer(b, &TokenizerOptions{Slots: 4}, "goal leave room doors green pink cell door closed keys held none here 0 1 : . ,")
	names := NewNames()
	var dst []int
	b.ReportAllocs()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		dst = tok.Encode(dst[:0], names, s)
	}
}

// BenchmarkPlay measures episodes of a model that costs nothing, worlds and harness included.
func BenchmarkPlay(b *testing.B) {
	worlds := smallWorlds()
	for _, bench := range []struct {
		name string
		o    AgentOptions
	}{{"candidates", AgentOptions{Candidates: true}}, {"free", AgentOptions{}}} {
		for _, name := range []string{"keydoor", "household", "tooldesk", "shop"} {
			w := worlds[name]
			b.Run(bench.name+"/"+name, func(b *testing.B) {
				tok, err := WorldTokenizer(context.Background(), w, nil)
				if err != nil {
					b.Fatal(err)
				}
				a := agent(b, guess{tok.Vocab()}, tok, &bench.o)
				tasks := tasksOf(b, w, 16)
				turns := 0
				b.ReportAllocs()
				for b.Loop() {
					es, err := Collect(context.Background(), w, nil, playing(a, 1), tasks, nil)
					if err != nil {
						b.Fatal(err)
					}
					for _, e := range es {
						turns += len(e.Trajectory.Turns)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(turns), "ns/turn")
			})
		}
	}
}

// BenchmarkAct measures one turn of an agent alone, with about 20 admissible actions and a context of about 200 tokens.
func BenchmarkAct(b *testing.B) {
	w := tooldesk.World(nil)
	first := agent(b, guess{999}, tokenizer(b, &TokenizerOptions{Slots: 500}, "x"), &AgentOptions{Candidates: true})
	es, err := Demonstrations(context.Background(), w, first, tasksOf(b, w, 20), nil)
	if err != nil {
		b.Fatal(err)
	}
	var traces []envharness.Trace
	for _, e := range es {
		traces = append(traces, e.Trace)
	}
	tok := tokenizer(b, &TokenizerOptions{Slots: 60}, Words(traces, 3)...)
	for _, candidates := range []bool{true, false} {
		name := "free"
		if candidates {
			name = "candidates"
		}
		b.Run(name, func(b *testing.B) {
			p := agent(b, guess{tok.Vocab()}, tok, &AgentOptions{Candidates: candidates}).player(nil, nil)
			p.rng = envharness.RandStream(1, "agent", 0)
			t := traces[0]
			turns := 0
			b.ReportAllocs()
			for b.Loop() {
				turn := envharness.Turn{Shown: t.Shown}
				for k := range len(t.Turns) {
					turn.Index = k
					_, _ = p.Act(context.Background(), turn) // what it answers does not matter
					turn.Shown = t.Turns[k].Shown.Observation
					turns++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(turns), "ns/turn")
		})
	}
}
