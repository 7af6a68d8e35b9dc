package rl

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// MileGPOOptions adjusts [MileGPO] and [MileGraphs]. A nil *MileGPOOptions equals &MileGPOOptions{}, which is the setting of
// the paper for ALFWorld; [MileGPOWebShop] returns the other one. Numbers without another range are in [0, 1e100], so that
// no product of them overflows. The symbols are the paper's.
type MileGPOOptions struct {
	GraphGPOOptions

	Stage Stage // which scores milestones and traps have; zero means StagePCC

	PotentialDecay *float64 // factor of a potential per step of distance, omega, in (0, 1); nil means 0.2
	PotentialGamma *float64 // discount of the potential after a step, gamma_Phi, in [0, 1]; nil means 1
	ShapingWeight  *float64 // of the gains against the return of the goal, lambda_s; nil means 0.25
	PositiveWeight *float64 // of the potential of milestones, w_+; nil means 1
	NegativeWeight *float64 // of the potential of traps, w_-; nil means 0.25

	LiftWeight         *float64 // of success above the group's, in the score of a milestone, w_s; nil means 1
	SupportWeight      *float64 // of the share of the successes that visit it, w_m; nil means 1
	ConnectivityWeight *float64 // of its number of neighbours, w_c; nil means 0.25
	FailureWeight      *float64 // of failure above the group's, in the score of a trap, w_f; nil means 1
	LoopWeight         *float64 // of returns to it, w_l; nil means 0.25

	DistanceWeight    *float64 // of steps gained, in the progress of an edge, a_d; nil means 1
	SuccessWeight     *float64 // of success above the group's, a_s; nil means 1
	FailureLiftWeight *float64 // of failure above that of the siblings, which counts against it, a_f; nil means 1
	BranchWeight      *float64 // of branch contrast, in the evidence for a milestone, w_bc; nil means 1
	ProgressWeight    *float64 // of progress, w_pg; nil means 1
	CalibrationWeight *float64 // of that evidence, in the calibrated score, w_pcc; nil means 1

	TrapScore  *float64 // least score of a trap; nil means 0.1
	TrapVisits int      // fewest failures that visit a trap to which none returns, >= 1; zero means 2

	KeepSupport *float64 // share of the successes that keeps a milestone without progress, theta_m; nil means 1.1: no share does
	KeepBranch  bool     // whether branch contrast keeps a milestone without progress, kappa_bc
	DropFactor  float64  // factor of the score of milestones that are not kept, rho, in [0, 1]; zero drops them
	Mix         *float64 // share of the shaped return in the step part, eta, in [0, 1]; nil means 0.2, and 0 is GraphGPO
}

// Stage says which scores milestones and traps have: those of the paper, or of an ablation.
type Stage uint8

// The stages. MD is milestone discovery, RCS reliability-calibrated shaping and PCC progress-contrastive calibration.
const (
	StagePCC        Stage = iota // all three
	StageRCS                     // without PCC: milestones have the score of their discovery
	StageMD                      // without PCC and RCS: each milestone and each trap has score 1
	StagePCCUniform              // PCC without the scores of milestones: 1 where kept, else DropFactor; traps as in PCC (ours)
)

// MileGPOWebShop returns the options of MileGPO's paper for WebShop: StdNone, so that advantages are centred but not scaled,
// KeepSupport 0.5, KeepBranch true, DropFactor 0.5 and Mix 1. They are new at each call, so the caller may change them.
func MileGPOWebShop() *MileGPOOptions {
	return &MileGPOOptions{
		GraphGPOOptions: GraphGPOOptions{Norm: Norm{Std: StdNone}},
		KeepSupport:     new(0.5),
		KeepBranch:      true,
		DropFactor:      0.5,
		Mix:             new(1.0),
	}
}

// MileGPO computes the credit of MileGPO (arXiv:2608.19803): that of [GraphGPO], with returns shaped by milestones, states
// that successes of the group visit, and traps, states that only failures visit. Within each group:
//
// Discovery. A milestone is a state, other than a goal, that a success visits. A trap is a state that no success visits, that
// at least TrapVisits failures visit or that a failure revisits, and whose score is at least TrapScore. The scores are
//
//	S+ = w_s * success above the group's + w_m * share of the successes + w_c * relative number of neighbours
//	S- = w_f * failure above the group's + w_l * share of the failures * returns per visitor
//
// Calibration, of milestones only. With p+(x) and p-(x) the shares of successes and failures among the trajectories that visit
// a state or edge x, and p+ and p- those of the group, an edge e from u to v has a contrast and a progress,
//
//	contrast(e) = p+(e) - mean of p+ over the other edges out of u
//	progress(e) = a_d * (d(u, goal) - d(v, goal)) + a_s * (p+(v) - p+) - a_f * l(e)
//
// where l(e) is how far p-(e) exceeds the mean of p- over the other edges out of u, or p-(v) exceeds p- if there are none. Divided
// by the largest of the group, the best contrast and the best progress of edges into v, if above 0, make the evidence
// E = w_bc * contrast + w_pg * progress. A milestone is kept if it has progress, or by KeepSupport or KeepBranch; its score
// becomes S+ * (1 + w_pcc*E), that of others DropFactor * S+.
//
// Shaping. The scores, divided by the largest of the group, give each state the potentials
//
//	Phi(s) = max over v of score(v) * omega^d(s, v)
//
// Phi+ by the milestones v and Phi- by the traps. With r_t that of GraphGPO, the return of turn t is
//
//	r^M_t = r_t + c * lambda_s * (gain+ - gain-),  gain = max(gamma_Phi * w * Phi(s_{t+1}) - w * Phi(s_t), 0)
//
// and its advantage
//
//	A_t = w_step * (A^G + eta * (A^mix - A^G)) + w_episode * Norm(Z over the group)
//
// where A^G and A^mix are the norms of r_t and r^M_t over the turns that start in s_t. Gains are never negative, so this
// is no potential-based shaping: it can change which policy is best, and a cycle that leaves a milestone and comes back
// gains each time. Milestones are found by correlation with success; they need not cause it.
//
// Where the paper is silent these are ours: the initial state may be a milestone, and a final state a trap; neighbours are
// distinct edges in and out, without self-loops; self-loops are siblings of other edges but lead into nothing; progress is
// relative to the largest of a milestone. Contrasts and progress that differ from 0 by rounding only, 1e-12, are 0, and a
// trap may lack as much, so that the order of trajectories does not decide which states are kept.
//
// [MileGraphs] shows what was found. What is read, votes, errors, counts and determinism are those of GraphGPO; time has
// another O(m log m) for m milestones and traps, since with one factor for all edges the potentials need a queue
// and no heap. With Mix 0 the result equals that of GraphGPO in every bit, and costs as much.
func MileGPO(dst *Credit, batch []Trajectory, o *MileGPOOptions) (*Credit, error) {
	s, m, err := o.fill()
	if err != nil {
		return nil, err
	}
	return s.credit(dst, batch, &m)
}

// mileSettings is what MileGPOOptions has beyond GraphGPOOptions, with its defaults filled in.
type mileSettings struct {
	stage                                      Stage
	decay, gamma                               float64
	shaping, positive, negative                float64
	lift, support, connectivity, failure, loop float64
	distance, success, failureLift             float64
	branch, progress, calibration              float64
	trapScore                                  float64
	trapVisits                                 int
	keepSupport                                float64
	keepBranch                                 bool
	drop, mix                                  float64
}

func (o *MileGPOOptions) fill() (graphSettings, mileSettings, error) {
	if o == nil {
		o = &MileGPOOptions{}
	}
	const options = "MileGPOOptions"
	s, err := o.GraphGPOOptions.fill(options, "MileGPOOptions.Norm")
	if err != nil {
		return graphSettings{}, mileSettings{}, err
	}
	m := mileSettings{
		stage:        o.Stage,
		decay:        orDefault(o.PotentialDecay, 0.2),
		gamma:        orDefault(o.PotentialGamma, 1),
		shaping:      orDefault(o.ShapingWeight, 0.25),
		positive:     orDefault(o.PositiveWeight, 1),
		negative:     orDefault(o.NegativeWeight, 0.25),
		lift:         orDefault(o.LiftWeight, 1),
		support:      orDefault(o.SupportWeight, 1),
		connectivity: orDefault(o.ConnectivityWeight, 0.25),
		failure:      orDefault(o.FailureWeight, 1),
		loop:         orDefault(o.LoopWeight, 0.25),
		distance:     orDefault(o.DistanceWeight, 1),
		success:      orDefault(o.SuccessWeight, 1),
		failureLift:  orDefault(o.FailureLiftWeight, 1),
		branch:       orDefault(o.BranchWeight, 1),
		progress:     orDefault(o.ProgressWeight, 1),
		calibration:  orDefault(o.CalibrationWeight, 1),
		trapScore:    orDefault(o.TrapScore, 0.1),
		keepSupport:  orDefault(o.KeepSupport, 1.1),
		trapVisits:   cmp.Or(o.TrapVisits, 2),
		keepBranch:   o.KeepBranch,
		drop:         o.DropFactor,
		mix:          orDefault(o.Mix, 0.2),
	}
	if err := errors.Join(
		known(options, "Stage", uint8(o.Stage), 4),
		within(options, "PotentialDecay", m.decay),
		inRange(options, "PotentialGamma", m.gamma, 0, 1),
		inRange(options, "ShapingWeight", m.shaping, 0, heaviest),
		inRange(options, "PositiveWeight", m.positive, 0, heaviest),
		inRange(options, "NegativeWeight", m.negative, 0, heaviest),
		inRange(options, "LiftWeight", m.lift, 0, heaviest),
		inRange(options, "SupportWeight", m.support, 0, heaviest),
		inRange(options, "ConnectivityWeight", m.connectivity, 0, heaviest),
		inRange(options, "FailureWeight", m.failure, 0, heaviest),
		inRange(options, "LoopWeight", m.loop, 0, heaviest),
		inRange(options, "DistanceWeight", m.distance, 0, heaviest),
		inRange(options, "SuccessWeight", m.success, 0, heaviest),
		inRange(options, "FailureLiftWeight", m.failureLift, 0, heaviest),
		inRange(options, "BranchWeight", m.branch, 0, heaviest),
		inRange(options, "ProgressWeight", m.progress, 0, heaviest),
		inRange(options, "CalibrationWeight", m.calibration, 0, heaviest),
		inRange(options, "TrapScore", m.trapScore, 0, heaviest),
		inRange(options, "KeepSupport", m.keepSupport, 0, heaviest),
		inRange(options, "DropFactor", m.drop, 0, 1),
		inRange(options, "Mix", m.mix, 0, 1),
	); err != nil {
		return graphSettings{}, mileSettings{}, err
	}
	if m.trapVisits < 1 {
		return graphSettings{}, mileSettings{}, fmt.Errorf("rl: %s.TrapVisits is %d, want a number >= 1, or 0 for 2", options, o.TrapVisits)
	}
	return s, m, nil
}

// milestones is what MileGPO finds out about the nodes and edges of a stateGraph. Its memory is reused.
type milestones struct {
	nodes []MileNode
	edges []MileEdge // From and To are nodes of the union of graphs
	group []outcomes

	seenNode, seenEdge []int     // the last trajectory that was there
	degree             []int     // per node
	weight, potential  []float64 // per node
	starts             []int
}

// outcomes counts trajectories, each once.
type outcomes struct{ successes, failures int }

// residue is above what rounding makes of shares of trajectories that are equal, and below any other difference of theirs.
const residue = 1e-12

// shape finds the milestones and traps of g, whose distances are known, and the returns of its edges.
func (m *mileSettings) shape(g *stateGraph, s *graphSettings) {
	g.count()
	for q := range g.mile.group {
		from, to := g.firstNode[q], g.firstNode[q+1]
		nodes, edges := g.mile.nodes[from:to], g.mile.edges[g.out[from]:g.out[to]]
		m.discover(nodes, g.mile.degree[from:to], g.mile.group[q])
		m.calibrate(g, nodes, edges, g.mile.group[q])
		m.weigh(nodes)
	}
	x := &g.mile
	x.weight = resize(x.weight, g.nodes)
	for v := range x.nodes {
		x.weight[v] = x.nodes[v].MilestoneWeight
	}
	g.spread(m.decay)
	for v := range x.nodes {
		x.nodes[v].MilestonePotential = x.potential[v]
		x.weight[v] = x.nodes[v].TrapWeight
	}
	g.spread(m.decay)
	for v := range x.nodes {
		x.nodes[v].TrapPotential = x.potential[v]
	}
	for i := range x.edges {
		e := &x.edges[i]
		u, v := &x.nodes[e.From], &x.nodes[e.To]
		e.MilestoneGain = max(m.gamma*m.positive*v.MilestonePotential-m.positive*u.MilestonePotential, 0)
		e.TrapGain = max(m.gamma*m.negative*v.TrapPotential-m.negative*u.TrapPotential, 0)
		e.GoalReturn = g.worth[e.To]
		e.MilestoneReturn = e.GoalReturn + s.goalReturn*m.shaping*(e.MilestoneGain-e.TrapGain)
	}
}

// count counts visits, visitors and neighbours.
func (g *stateGraph) count() {
	x := &g.mile
	x.nodes = resize(x.nodes, g.nodes)
	x.edges = resize(x.edges, len(g.to))
	x.group = resize(x.group, len(g.firstNode)-1)
	x.degree = resize(x.degree, g.nodes)
	x.seenNode = resize(x.seenNode, g.nodes)
	x.seenEdge = resize(x.seenEdge, len(g.to))
	for v := range x.nodes {
		x.nodes[v].Goal, x.nodes[v].Distance = g.goal[v], g.distance[v]
	}
	for e := range x.edges {
		u, v := g.from[e], g.to[e]
		x.edges[e].From, x.edges[e].To = u, v
		if u != v {
			x.degree[u]++
			x.degree[v]++
		}
	}
	for q := range x.group {
		for _, i := range g.order[g.member[q]:g.member[q+1]] {
			success := g.success[i]
			x.group[q].add(success)
			for k := g.start[i]; k < g.start[i+1]; k++ {
				x.visit(g.source[k], i, success)
				e := g.edge[k]
				x.edges[e].Turns++
				if x.seenEdge[e] != i+1 {
					x.seenEdge[e] = i + 1
					tally(&x.edges[e].Successes, &x.edges[e].Failures, success)
				}
			}
			x.visit(g.final[i], i, success)
		}
	}
}

// visit counts a visit of trajectory i to node v.
func (x *milestones) visit(v, i int, success bool) {
	node := &x.nodes[v]
	node.Visits++
	if x.seenNode[v] == i+1 {
		node.Revisits++
		return
	}
	x.seenNode[v] = i + 1
	tally(&node.Successes, &node.Failures, success)
}

// add counts a trajectory.
func (o *outcomes) add(success bool) { tally(&o.successes, &o.failures, success) }

func tally(successes, failures *int, success bool) {
	if success {
		*successes++
	} else {
		*failures++
	}
}

// excess returns a/n - b/m. One rounding only: equal shares give 0, and 1 in 10 is 0.1.
func excess(a, n, b, m int) float64 { return float64(a*m-b*n) / float64(n*m) }

// discover finds the candidates of a group and their scores (MD).
func (m *mileSettings) discover(nodes []MileNode, degree []int, group outcomes) {
	largest := 0
	for v := range nodes {
		if nodes[v].Successes > 0 {
			largest = max(largest, degree[v])
		}
	}
	voters := group.successes + group.failures
	for v := range nodes {
		node := &nodes[v]
		visitors := node.Successes + node.Failures
		switch {
		case node.Successes > 0 && !node.Goal:
			node.Milestone = true
			node.Lift = max(excess(node.Successes, visitors, group.successes, voters), 0)
			node.Support = float64(node.Successes) / float64(group.successes)
			if largest > 0 {
				node.Connectivity = float64(degree[v]) / float64(largest)
			}
			node.MilestoneScore = m.lift*node.Lift + m.support*node.Support + m.connectivity*node.Connectivity
		case node.Successes == 0 && (node.Failures >= m.trapVisits || node.Revisits > 0):
			node.FailureLift = max(excess(node.Failures, visitors, group.failures, voters), 0)
			node.FailureSupport = float64(node.Failures) / float64(group.failures)
			node.Loop = float64(node.Revisits) / float64(visitors)
			node.TrapScore = m.failure*node.FailureLift + m.loop*node.FailureSupport*node.Loop
			node.Trap = node.TrapScore >= m.trapScore*(1-residue)
		}
	}
}

// calibrate computes the evidence for the milestones of a group (PCC).
func (m *mileSettings) calibrate(g *stateGraph, nodes []MileNode, edges []MileEdge, group outcomes) {
	if len(nodes) == 0 {
		return
	}
	voters := group.successes + group.failures
	all := g.mile.nodes
	largest := 0.0
	for from := 0; from < len(edges); {
		u := edges[from].From
		siblings := edges[from : from+g.out[u+1]-g.out[u]]
		from += len(siblings)
		sum := 0.0
		for i := range siblings {
			e := &siblings[i]
			e.SuccessShare = float64(e.Successes) / float64(e.Successes+e.Failures)
			sum += e.SuccessShare
		}
		for i := range siblings {
			e := &siblings[i]
			v := &all[e.To]
			// Success above the group's. Shares of success and failure add up to 1: failure above is success below.
			lift := excess(v.Successes, v.Successes+v.Failures, group.successes, voters)
			failure := max(-lift, 0)
			if len(siblings) > 1 {
				contrast := e.SuccessShare - (sum-e.SuccessShare)/float64(len(siblings)-1)
				if math.Abs(contrast) < residue {
					contrast = 0
				}
				e.BranchContrast = contrast
				failure = max(-contrast, 0)
			}
			largest = max(largest, math.Abs(e.BranchContrast))
			steps := 0.0
			if d := all[u].Distance; d >= 0 && v.Distance >= 0 {
				steps = float64(d - v.Distance)
			}
			e.Progress = m.distance*steps + m.success*lift - m.failureLift*failure
			if math.Abs(e.Progress) < residue*(m.distance*math.Abs(steps)+m.success+m.failureLift) {
				e.Progress = 0
			}
		}
	}
	for i := range edges {
		e := &edges[i]
		if largest > 0 {
			e.BranchContrast /= largest
		}
		if v := &all[e.To]; e.From != e.To && v.Milestone {
			v.Branch = max(v.Branch, e.BranchContrast)
			if e.Successes > 0 {
				v.Progress = max(v.Progress, e.Progress)
			}
		}
	}
	furthest := 0.0
	for v := range nodes {
		furthest = max(furthest, nodes[v].Progress)
	}
	for v := range nodes {
		node := &nodes[v]
		if !node.Milestone {
			continue
		}
		if furthest > 0 {
			node.Progress /= furthest
		}
		node.Evidence = m.branch*node.Branch + m.progress*node.Progress
		node.Kept = node.Progress > 0 || node.Support >= m.keepSupport || m.keepBranch && node.Branch > 0
		if node.Kept {
			node.CalibratedScore = node.MilestoneScore * (1 + m.calibration*node.Evidence)
		} else {
			node.CalibratedScore = m.drop * node.MilestoneScore
		}
	}
}

// weigh sets the weights of a group from the scores that the stage asks for, divided by the largest.
func (m *mileSettings) weigh(nodes []MileNode) {
	milestone, trap := 0.0, 0.0
	for v := range nodes {
		node := &nodes[v]
		if node.Milestone {
			switch {
			case m.stage == StagePCC:
				node.MilestoneWeight = node.CalibratedScore
			case m.stage == StageRCS:
				node.MilestoneWeight = node.MilestoneScore
			case m.stage == StagePCCUniform && !node.Kept:
				node.MilestoneWeight = m.drop
			default:
				node.MilestoneWeight = 1
			}
			milestone = max(milestone, node.MilestoneWeight)
		}
		if node.Trap {
			node.TrapWeight = node.TrapScore
			if m.stage == StageMD {
				node.TrapWeight = 1
			}
			trap = max(trap, node.TrapWeight)
		}
	}
	if m.stage == StagePCCUniform {
		milestone = 1 // a drop factor is a weight as it is, even if nothing was kept
	}
	for v := range nodes {
		if milestone > 0 {
			nodes[v].MilestoneWeight /= milestone
		}
		if trap > 0 {
			nodes[v].TrapWeight /= trap
		}
	}
}

// spread sets the potential of each node to the largest of weight(v) * decay^d(node, v). This is Dijkstra's search against
// the edges with products for sums. Every edge has the same factor, so values arise in falling order: a queue beside the
// sorted weights replaces the heap, and each node is done when it is first reached.
func (g *stateGraph) spread(decay float64) {
	x := &g.mile
	x.potential = append(x.potential[:0], x.weight...)
	x.starts = x.starts[:0]
	for v, w := range x.weight {
		if w > 0 {
			x.starts = append(x.starts, v)
		}
	}
	slices.SortFunc(x.starts, func(a, b int) int { return cmp.Compare(x.weight[b], x.weight[a]) })
	g.queue = g.queue[:0]
	for next, head := 0, 0; next < len(x.starts) || head < len(g.queue); {
		var v int
		if head < len(g.queue) && (next == len(x.starts) || x.potential[g.queue[head]] >= x.weight[x.starts[next]]) {
			v = g.queue[head]
			head++
		} else {
			v = x.starts[next]
			next++
			if x.potential[v] > x.weight[v] {
				continue // reached from another
			}
		}
		p := decay * x.potential[v]
		for _, e := range g.inEdge[g.in[v]:g.in[v+1]] {
			if u := g.from[e]; p > x.potential[u] {
				x.potential[u] = p
				g.queue = append(g.queue, u)
			}
		}
	}
}
