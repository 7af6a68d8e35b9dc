// Package train trains a language model by reinforcement in a world: it collects episodes, gives every turn its credit, and updates the
// model, over and over.
//
// A [Problem] joins a world, a model, the words it reads, and an [Algorithm], one of [Algorithms] or the caller's own. [Trainer.Run] is an
// iterator that the caller owns: one [Iteration] of metrics for each pass of
//
//  1. draw tasks, and play them in groups ([github.com/throughline-go/throughline/rl/rollout]);
//  2. read the log-probabilities, and the values where the algorithm has any, of all turns with the model as it is (the old policy);
//  3. credit, an [rl.Estimator];
//  4. epochs of mini-batches of whole turns: loss, gradient, AdamW;
//  5. every few iterations an evaluation on tasks that are not trained on, and a checkpoint.
//
// [Trainer.WarmStart] imitates demonstrations before that. The losses are those of [github.com/throughline-go/throughline/rl/loss]; models are
// reached through [rl.Backbone] and [rl.Sampler], so that a training service can stand in for
// [github.com/throughline-go/throughline/rl/backbone]: without logits there are no shared values and no entropy term, and the reference of
// the divergence must be given, or Options.KLWeight be 0.
//
// # Algorithms
//
// sapo is the method of arXiv:2608.19842, values read off two entries of the vocabulary; not the soft-gated loss of arXiv:2511.20347, which
// verl and TRL call sapo and package loss calls SoftGate, nor arXiv:2603.10069. ppo has advantages over turns and a critic apart;
// ppo-published is what the tables of agent papers call PPO; ppo-shared reads its values as sapo does and has no Q.
//
// Those that compare states (gigpo, gagpo, graphgpo, milegpo) read the keys that Options.Rollout.States makes; see [Algorithms].
//
// # Tasks behind components
//
// Problem.Items lists tasks that are each behind components of their own, by hand or as a rigger accepted them: aids, obstacles, limits.
// Training draws from them alone, those without components among them; evaluations are of the bare world.
//
// # Rewards
//
// An episode earns 10 when the world's verifier passes it, and nothing else: rewards that the world itself gives are left out unless
// Options.Rollout.Rewards asks for them. An invalid turn costs Options.InvalidPenalty.
//
// # Where to begin
//
// The defaults are those of the papers, for large models. A small one learns in minutes with Agent.Candidates, so that each answer is an admissible
// action, a Rate of 1e-3 to 1e-2, a MiniBatch of about 128 and two Epochs, as in the Examples of this package: an environment of one's own in
// 40 lines, a training loop without a Trainer in 60. If nothing is learned, look at Invalid, Entropy, ApproxKL and, in Credit, at
// EffectiveShare and ZeroVarianceShare of the iterations. Iteration.Traces and Evaluation.Traces are the transcripts, for envharness.WriteTraces.
//
// # Cost
//
// One iteration of 128 single rollouts on keydoor small, some 1,300 turns of 57 tokens, with a transformer of 124,000 parameters and one worker took
// (seconds, "go run ./examples/evidence/training -speed", two shared cores of an AMD EPYC, 2026-12-01)
//
//	        generation  log-probabilities  values  update  all
//	sapo          1.79               4.53       -    5.28  11.7
//	ppo           2.15               4.55    2.23   10.33  19.5
//
// with the reference among the log-probabilities, and one epoch. A profile of the benchmark of training on contexts of 76 tokens
// with responses of 4 has 63 % in products of matrices and vectors, 9 % in exponentials (GELU and attention), 7 % in outer products and 15 % in the
// attention of the backward pass, which are in part these.
//
// # Determinism
//
// All randomness comes from Options.Seed, one stream for each purpose, iteration and slot. Equal problems and options give equal
// parameters and metrics, bit for bit on one processor and one version of Go, whatever the number of workers, and whether or not the run
// was interrupted: [Trainer.Load] continues a run from a checkpoint as if nothing had happened. An iteration that is cancelled, or fails,
// leaves no trace: parameters, optimiser and counters are those of the last complete one. Nothing reads a clock but Options.Clock.
package train
