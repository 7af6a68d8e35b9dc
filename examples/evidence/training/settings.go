package main

import (
	"github.com/throughline-go/throughline/examples/internal/study"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// settings are the numbers of all runs. All methods have the same ones but for the rollouts of a group, which are their own.
type settings struct {
	Algorithms []string       `json:"algorithms"`
	Worlds     []worldSetting `json:"worlds"`
	Seeds      int            `json:"seeds"`
	Dim        int            `json:"dim"`
	Heads      int            `json:"heads"`
	Layers     int            `json:"layers"`
	Candidates bool           `json:"candidates"` // choose among admissible actions token by token
	WarmEpochs int            `json:"warm_epochs"`
	WarmRate   float64        `json:"warm_rate"`
	Rate       float64        `json:"rate"`
	Epochs     int            `json:"epochs"`
	MiniBatch  int            `json:"mini_batch"` // turns
	Penalty    float64        `json:"invalid_penalty"`
	EvalEvery  int            `json:"eval_every"` // iterations
	EvalTasks  int            `json:"eval_tasks"`

	tasks int // drawn for each iteration; zero means the method's own number
}

// worldSetting is what depends on the world.
type worldSetting struct {
	Name     string `json:"name"`
	Demos    int    `json:"demos"`     // plans imitated first: few, so that there is something left to learn
	History  int    `json:"history"`   // turns that the policy remembers: none where the text tells all
	EnvSteps int    `json:"env_steps"` // of training
}

var algorithms = []string{"sapo", "ppo", "grpo", "gigpo", "milegpo"}

var full = settings{
	Algorithms: algorithms,
	Worlds: []worldSetting{
		{"keydoor_small", 15, 0, 12000},
		{"tooldesk_small", 30, 0, 30000},
		{"household_small", 1500, 0, 12000},
	},
	Dim: 32, Heads: 2, Layers: 2, Candidates: true, WarmEpochs: 10, WarmRate: 2e-3,
	Rate: 2e-3, Epochs: 2, MiniBatch: 128, EvalEvery: 3, EvalTasks: 80,
}

// quickly has the first two worlds, with less of everything.
var quickly = settings{
	Algorithms: algorithms,
	Worlds: []worldSetting{
		{"keydoor_small", 15, 0, 2500},
		{"tooldesk_small", 30, 0, 2500},
	},
	Dim: 32, Heads: 2, Layers: 2, Candidates: true, WarmEpochs: 10, WarmRate: 2e-3,
	Rate: 2e-3, Epochs: 2, MiniBatch: 128, EvalEvery: 2, EvalTasks: 40,
}

// study returns the configuration of one run.
func (s *settings) study(w worldSetting, algorithm string, seed uint64) study.Config {
	return study.Config{
		World: w.Name, Algorithm: algorithm, Dim: s.Dim, Heads: s.Heads, Layers: s.Layers, Demos: w.Demos,
		Warm: train.WarmStartOptions{Epochs: s.WarmEpochs, Rate: s.WarmRate},
		Options: train.Options{
			Seed: seed, Workers: 1, Tasks: s.tasks, InvalidPenalty: &s.Penalty, MaxEnvSteps: w.EnvSteps,
			Agent: rollout.AgentOptions{History: new(w.History), Candidates: s.Candidates},
			Rate:  s.Rate, Epochs: s.Epochs, MiniBatch: s.MiniBatch, EvalEvery: s.EvalEvery, EvalTasks: s.EvalTasks,
		},
	}
}
