// Package backbone has small language models in pure Go that are trained by the losses of
// [github.com/throughline-go/throughline/rl/loss]: a causal transformer and a GRU with their gradients, optimiser, sampling and files, to
// try credit and losses in minutes on a CPU, and to begin a training loop from. A larger model, in this process or behind a service, takes
// their place by implementing [rl.Backbone], and what it can of [rl.LogitModel].
//
// # Model
//
// A trunk turns tokens into one hidden vector each, which depends on the token and those before it; a linear head without bias turns these
// into logits, only at the positions that are asked for.
//
//	transformer  x = token + position, learned; blocks y = x + attention(norm(x)), z = y + W2 gelu(W1 norm(y) + b1) + b2; a last norm
//	             (arXiv:1706.03762, with the norms first as in 2002.04745, layer norm with 1e-5, GELU by tanh as in 1606.08415)
//	GRU          h = (1-z) n + z h, n = tanh(W x + b + r (U h + c)), gates r and z (arXiv:1406.1078, reset gate behind the product)
//
// Policy and values share all of it: package loss reads the log-probabilities of actions off the logits, and, as SAPO does
// (arXiv:2608.19842), the values V and Q off two reserved entries of the vocabulary, which [Config].Head names. A reserved entry is never
// sampled or read, and has no part in log-probabilities. A separate [Critic], for methods that want one, is a second network of equal size.
//
// # Training
//
//	m, err := backbone.NewTransformer(backbone.Config{Vocab: 200})
//	...
//	logProbs, err := m.LogProbs(ctx, batch)      // out
//	value, stats, err := loss.PPO(grad, b, nil)  // a loss of them, and its gradient
//	err = m.AddGrad(ctx, batch, weight)          // the gradient in
//	norm, err := m.Step(ctx, 1e-3)               // AdamW
//
// [Model.ForwardBackward] does the first three in one pass, with the loss in a callback, and gives all logits: for entropies, exact
// divergences and values. [Model.Freeze] makes the reference of a divergence.
//
// # In place of a service
//
// A service for training, as Tinker is one, has calls that match: sample is [Model.Sample]; forward is [Model.LogProbs]; forward_backward,
// given one weight per token as a linear loss, is [Model.AddGrad]; optim_step is [Model.Step], which must not be repeated blindly after a
// failure; save_state and load_state are [Model.MarshalBinary] and [Model.UnmarshalBinary]. A loop that is written against [rl.Backbone]
// and [rl.Sampler] runs on either. What a service does not give are logits: FromFull and FullWeights of loss.Head read values off its
// log-probabilities, and entropies are not to be had.
//
// # Cost
//
// Numbers are float64; products are those of gonum's blas64, row by row. Tokens a second with two workers on two shared cores of an AMD EPYC whose
// speed varies, in two runs of "go test -bench . ./rl/backbone", 2026-12-01; one worker does 0.5 to 0.9 of that. To train is a forward pass, a
// backward pass and the share of AdamW; context tokens count. The rest of a long context costs less than the tokens of a response, since the
// last block skips there all but keys and values.
//
//	transformer, parameters               tokens, of them response        train
//	110k: 64 tokens, Dim 64, 2 layers      32, 31                         15,400 to 17,800
//	19k: Dim 32, 1 layer                   32, 31                         53,000 to 78,000
//	384k: 128 tokens, Dim 96, 3 layers     32, 31                          4,700 to  5,400
//	142k: 200 tokens, Dim 64, 2 layers     80, 4                          23,900 to 26,000
//	                                      160, 4                          19,900 to 20,300
//	                                      240, 4                          17,900 to 21,600
//	GRU, 50k: 200 tokens, Dim 64           80, 4                          78,000 to 85,000
//
// Sampling with a transformer of 124k (64 tokens, Dim 64, 2 layers), in one goroutine, gives 20,600 to 24,100 tokens a second at length 16, 17,900 at 64, 14,900 to 15,400 at 128
// and 10,100 to 11,800 at 255, and a token allocates nothing; without the cache it would be 440 to 580 at 128.
//
// Memory: a parameter takes 32 bytes (itself, gradient, two numbers of AdamW) and 8 more for each worker; a worker also keeps the
// activations of its chunk: in a transformer about 8*Layers*(19*Dim + Heads*length/2) bytes a token.
//
// # Determinism
//
// The seed fixes the parameters. A batch is cut into chunks of consecutive sequences, 256 tokens or little more, by a rule that knows
// nothing of workers; each chunk has its own gradient, and these are added in order. So equal calls give equal bits on one architecture and
// Go version, whatever Config.Workers is. No goroutine outlives a call.
package backbone
