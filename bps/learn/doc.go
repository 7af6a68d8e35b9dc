// Package learn learns the benefit of a set of skills from logs of passes and failures, for [bps.Select].
//
// [Fit] takes records of what was asked, which skills lay in the context, and whether the run passed. Its [Model] gives the benefit and the
// price of a token for a [bps.Problem], predicts probabilities, and is saved as JSON.
//
// # Method
//
// The form is that of arXiv:2608.19993, equation 3, with a price of kappa for a token: every skill i has a supply u[i][k] >= 0 and every
// query q a demand w[q][k] >= 0 of each capability k, and
//
//	G(q,S) = sum over k of w[q][k] * (1 - exp(-sum over i in S of u[i][k]))
//	z(q,S) = c[q] - (sum over k of w[q][k] - G(q,S)) - kappa*(tokens of S)
//	probability of a pass = exp(z)
//
// The paper does not say how the probability stays below 1. Here c[q] <= 0 is the ceiling that a query reaches once all of its demand is
// covered, so z <= 0 (ours). The form [Offset] has a free offset instead and cuts z off at 0; from 5,000 synthetic records it recovers the
// supplies with an AUC of 0.98 where the ceiling has 1.00.
//
// The objective is the mean log loss, -z for a pass and -ln(1-exp(z)) for a failure, plus L1 times the sum of all supplies and demands.
// Parameters are unbounded: supplies and demands are softplus of them, c is minus that, and kappa 1e-3 times that. Adam (arXiv:1412.6980)
// descends the exact gradient over all records, with a fifth of the learning rate for the last 30 % of the steps. The loss of a
// failure goes on as a line above a probability of 0.999, where its slope is 1000, so that the gradient stays bounded and does not vanish.
// The starting points and constants are ours.
//
// Options.Validation holds out a part and keeps the best step. It is off by default, since with separate rows for names it costs more
// records than it saves: with 2,000 synthetic records the AUC falls from 0.96 to 0.89.
//
// # Names that are in no record
//
// Separate rows say nothing about other skills and queries, which are an [ErrUnknown], never a zero row. With features f, for example
// counts of words, a row is a linear map of them, A*f with A >= 0 (ours), which serves any name. Weights of a map are exponentials of
// parameters, so steps multiply them; L1 is ten times as large and counts the weights themselves, so that a few words that many
// texts share win over many that few share. All queries then have the same c.
//
// With both kinds of features, every row is a map. Options.SkillRows learns separate rows for the skills in the records and, after that,
// a map for the others. How many records that takes was measured on synthetic texts: 31 documents and 60 tasks for the records, 31
// other documents of which a fifth only looks as if it helped, 200 other tasks, and 512 hashed words. These are the mean probabilities
// of a pass with the three documents that the model adds first, over 5 seeds; three at random have 0.10, those with the most words in
// common with the task 0.42, and the best 0.81:
//
//	records                                1,000  2,000  4,000  10,000
//	new tasks, documents of the records     0.56   0.73   0.77    0.78
//	new tasks, new documents                0.42   0.61   0.63    0.62
//	the same with SkillRows                 0.39   0.65   0.78    0.79
//	                                        0.20   0.46   0.70    0.73
//
// So a map alone is better below about 100 records a skill, and SkillRows above. A Validation of 0.1 helped the map alone with 10,000
// records (0.72 in the second row) and with 500, and made little difference between.
//
// # What the numbers mean
//
// Capabilities come in any order, and another seed orders them differently. Supplies and demands are told apart only until supplies
// saturate: above a supply of about 4 hardly anything changes. kappa is weakly identified, since tokens say little beside what skills do:
// from 20,000 synthetic records it came out as half of the truth, from 2,000 as a tenth. Set Options.Kappa, or the price in the problem,
// where a price is known. Probabilities for sets unlike those in the records are extrapolations. The objective has several
// minima: where records are few, fit with several seeds and compare on records that were held out.
//
// Logs of synthetic agents with 31 skills, 5 capabilities and 21 tasks give, over 5 seeds, these mean (and smallest) AUC of covered
// against uncovered pairs of skill and capability, and mean absolute errors of the probability for new sets of 3-5 skills:
//
//	records     AUC            error
//	   500      0.74 (0.68)    0.34
//	 1,000      0.85 (0.76)    0.20
//	 2,000      0.96 (0.85)    0.10
//	 5,000      1.00 (1.00)    0.05
//	20,000      1.00 (1.00)    0.02
//
// # Cost and determinism
//
// Records that are equal in everything but the outcome are counted together. A step costs about 2*|S|*Dim additions and multiplications
// and one exponential for each group; 600 steps over 20,000 records of the above, in 11,000 groups, take about a second on one core.
// Memory is the groups, and up to 16 copies of the rows.
//
// Equal records, options and features give equal models, bit by bit on one architecture and version of Go, whatever Options.Workers;
// without a validation part, the order of the records does not matter either.
package learn
