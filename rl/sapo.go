package rl

// SAPO computes the credit of SAPO (arXiv:2608.19842): the advantages and value targets of [TurnGAE] from one trajectory per
// task, a limit counting as an end (TruncationTerminal unless o says otherwise), and one-step SARSA targets for Q,
//
//	QTarget_t = r_t + gamma*Q_{t+1}
//
// with nothing after the last turn, or under TruncationBootstrap FinalValue, since no action exists at a cut (ours). The
// advantage is that of GAE alone and never Q - V, so that early errors of Q cannot move the policy. Both targets are in
// units of reward; package [github.com/throughline-go/throughline/rl/loss] scales them and has the joint loss.
//
// The paper does not give Gamma, Lambda, InvalidPenalty and the norm: their defaults are those of TurnGAE, and ours.
// Groups are not used. SAPO reads what TurnGAE reads and QValue; errors, cost and determinism are those of TurnGAE. Other
// methods go by the name, too: the soft-gated loss of arXiv:2511.20347, which is SoftGate in package loss, and
// arXiv:2603.10069.
func SAPO(dst *Credit, batch []Trajectory, o *TurnGAEOptions) (*Credit, error) {
	return turnGAE(dst, batch, o, TruncationTerminal, true)
}
