package main

// An absent is something of the specification that this program does not check, and why.
type absent struct {
	Item   string `json:"item"`
	Reason string `json:"reason"`
}

// notHere lists the worked examples, peer cases and properties that belong to other parts of the library.
func notHere() []absent {
	return []absent{
		{"E20, schedule", "the cosine schedule is that of a trainer; linear.AdamW has one learning rate"},
		{"E22", "the reward of the shop is that of a simulated world, not of a credit estimator"},
		{"case 29", "is about a critic and a policy that share the trunk of a model, which these packages do not have"},
		{"case 31", "is about the learning rates of a trainer's parameters"},
		{"case 32", "is about how a simulated world draws its goals"},
		{"case 33", "is about how a simulated world splits its goals"},
		{"properties 2, 3, 8 and 11", "are laws of rltest: masked tokens, order, other trajectories, non-voters, repeated tokens; among properties.laws"},
		{"property 5, shift", "is the law shifted scores; among properties.laws"},
		{"property 9, Norm of every option", "is the law centred; among properties.laws, with groups of up to 40 in properties.others"},
		{"property 13", "is in gradients, and at the edges in worked under 3.11"},
		{"property 19, order and names", "are the laws order and names; among properties.laws"},
		{"properties 21, 22, 23 and 25", "are about models, checkpoints, trainers and tokenizers"},
		{"property 26", "is about learning, not about numbers; the tests of rl/linear have one"},
	}
}
