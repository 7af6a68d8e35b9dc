package rl_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/rl"
	"pgregory.net/rapid"
)

// Scores, voters, groups.

// literalElectorate is who votes in the estimators of groups, and with which scores.
type literalElectorate struct {
	voter   []bool
	votes   [][]bool
	R, Z    []float64 // scores without and with the penalty
	cInv    float64
	groups  [][]int    // voters of each group
	sources [][][2]int // voting turns (trajectory, turn) of each (group, state)
}

// literalIsPenalised reports whether a turn costs c_inv.
func literalIsPenalised(turn rl.Turn) bool { return turn.Invalid && !turn.Excluded }

func literalElect(batch []rl.Trajectory, cInv float64, exclude bool) (*literalElectorate, error) {
	e := &literalElectorate{voter: make([]bool, len(batch)), R: make([]float64, len(batch)), Z: make([]float64, len(batch)), cInv: cInv}
	out := make([]bool, len(batch))
	for i, tr := range batch {
		for _, turn := range tr.Turns {
			if tr.Excluded == "" && !turn.Excluded && literalTrains(turn) {
				e.voter[i] = true
			}
		}
		if !e.voter[i] {
			out[i] = true
			continue // its rewards are not read
		}
		for _, turn := range tr.Turns {
			if !literalFinite(turn.Reward) {
				if !exclude {
					return nil, errLiteralNonFinite
				}
				e.voter[i], out[i] = false, true
			}
			e.R[i] += turn.Reward
		}
		e.Z[i] = e.R[i]
		for _, turn := range tr.Turns {
			if literalIsPenalised(turn) {
				e.Z[i] -= cInv
			}
		}
	}
	e.votes = literalVotes(batch, out)

	var names []string
	for i, tr := range batch {
		if e.voter[i] && !slices.Contains(names, tr.Group) {
			names = append(names, tr.Group)
		}
	}
	for _, name := range names {
		var members []int
		var states []string
		bySource := map[string][][2]int{}
		for i, tr := range batch {
			if !e.voter[i] || tr.Group != name {
				continue
			}
			members = append(members, i)
			for t := range tr.Turns {
				if !e.votes[i][t] {
					continue
				}
				s := literalNode(batch, i, t)
				if _, seen := bySource[s]; !seen {
					states = append(states, s)
				}
				bySource[s] = append(bySource[s], [2]int{i, t})
			}
		}
		e.groups = append(e.groups, members)
		for _, s := range states {
			e.sources = append(e.sources, bySource[s])
		}
	}
	return e, nil
}

// literalNode is the node of position t = 0..T of trajectory i; an empty key is a node of its own.
func literalNode(batch []rl.Trajectory, i, t int) string {
	key := batch[i].FinalState
	if t < len(batch[i].Turns) {
		key = batch[i].Turns[t].State
	}
	if key == "" {
		return fmt.Sprintf("unknown (%d, %d)", i, t)
	}
	return key
}

// rows repeats each trajectory once, or once a voting turn.
func (e *literalElectorate) rows(members []int, perTurn bool) []int {
	var rows []int
	for _, i := range members {
		if !perTurn {
			rows = append(rows, i)
			continue
		}
		for _, vote := range e.votes[i] {
			if vote {
				rows = append(rows, i)
			}
		}
	}
	return rows
}

// normOfScores is Norm over the Z of the members; one number per trajectory.
func (e *literalElectorate) normOfScores(members []int, perTurn bool, rule literalNormRule) (map[int]float64, error) {
	rows := e.rows(members, perTurn)
	if len(members) == 1 {
		rows = members // Singleton is about voters, not about rows
	}
	var x []float64
	for _, i := range rows {
		x = append(x, e.Z[i])
	}
	y, err := literalNorm(x, rule)
	if err != nil {
		return nil, err
	}
	A := map[int]float64{}
	for k, i := range rows {
		A[i] = y[k]
	}
	return A, nil
}

// episodes is Norm_group(Z_i) for all groups.
func (e *literalElectorate) episodes(perTurn bool, rule literalNormRule) (map[int]float64, error) {
	all := map[int]float64{}
	for _, members := range e.groups {
		A, err := e.normOfScores(members, perTurn, rule)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, A)
	}
	return all, nil
}

// steps is Norm of x over all voting turns with the same (group, source state). A state with one turn is no error.
func (e *literalElectorate) steps(batch []rl.Trajectory, x literalTable, rule literalNormRule) (literalTable, error) {
	if rule.singleton == rl.SingletonError {
		rule.singleton = rl.SingletonZero
	}
	A := newLiteralTable(batch)
	for _, turns := range e.sources {
		var values []float64
		for _, it := range turns {
			values = append(values, x[it[0]][it[1]])
		}
		y, err := literalNorm(values, rule)
		if err != nil {
			return nil, err
		}
		for k, it := range turns {
			A[it[0]][it[1]] = y[k]
		}
	}
	return A, nil
}

// broadcast gives every voting turn the number of its trajectory.
func (e *literalElectorate) broadcast(batch []rl.Trajectory, A map[int]float64) literalTable {
	table := newLiteralTable(batch)
	for i := range batch {
		for t := range batch[i].Turns {
			if e.votes[i][t] {
				table[i][t] = A[i]
			}
		}
	}
	return table
}

// GRPO and RLOO.

func literalGRPO(batch []rl.Trajectory, o rl.GRPOOptions) (literalTable, *literalElectorate, error) {
	e, err := literalElect(batch, literalOr(o.InvalidPenalty, .1), o.ExcludeNonFinite)
	if err != nil {
		return nil, nil, err
	}
	rule := literalRule(o.Norm, rl.StdSample, 1e-6)
	var everyone []int
	for _, members := range e.groups {
		everyone = append(everyone, members...)
	}
	if o.Scope == rl.ScopeBatch && len(everyone) > 0 {
		e.groups = [][]int{everyone}
	}
	A := map[int]float64{}
	switch o.Scope {
	case rl.ScopeGroup, rl.ScopeBatch:
		A, err = e.episodes(o.PerTurn, rule)
	case rl.ScopeGroupMeanBatchStd:
		var all []float64
		for _, i := range e.rows(everyone, o.PerTurn) {
			all = append(all, e.Z[i])
		}
		_, sigma := literalDeviation(all, rule.std)
		for _, members := range e.groups {
			// A group of one and a group of equals are as in Norm.
			centring := literalNormRule{std: rl.StdNone, singleton: rule.singleton}
			if rule.std == rl.StdOff {
				centring.std = rl.StdOff
			}
			centred, fault := e.normOfScores(members, o.PerTurn, centring)
			if fault != nil {
				return nil, nil, fault
			}
			for i, c := range centred {
				A[i] = c
				if len(members) > 1 && rule.std != rl.StdOff {
					A[i] = literalScale(c, sigma, all, rule)
				}
			}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return e.broadcast(batch, A), e, nil
}

func literalRLOO(batch []rl.Trajectory, o rl.RLOOOptions) (literalTable, *literalElectorate, error) {
	e, err := literalElect(batch, literalOr(o.InvalidPenalty, .1), o.ExcludeNonFinite)
	if err != nil {
		return nil, nil, err
	}
	floor := literalOr(o.StdFloor, 1e-8)
	A := map[int]float64{}
	for _, members := range e.groups {
		for _, i := range members {
			var others []float64
			for _, j := range members {
				if j != i {
					others = append(others, e.Z[j])
				}
			}
			if len(others) == 0 {
				switch o.Singleton {
				case rl.SingletonRaw:
					A[i] = e.Z[i]
				case rl.SingletonError:
					return nil, nil, errLiteralSingleton
				}
				continue
			}
			mean, _ := literalDeviation(others, rl.StdNone)
			A[i] = e.Z[i] - mean
			if o.OthersStd && len(others) >= 2 {
				_, sigma := literalDeviation(others, rl.StdSample)
				A[i] = literalScale(A[i], sigma, others, literalNormRule{std: rl.StdSample, floor: floor})
			}
		}
	}
	return e.broadcast(batch, A), e, nil
}

// GiGPO and GAGPO.

func literalGiGPO(batch []rl.Trajectory, o rl.GiGPOOptions) (literalTable, *literalElectorate, error) {
	gamma, omega := literalOr(o.Gamma, .95), literalOr(o.StepWeight, 1)
	e, err := literalElect(batch, literalOr(o.InvalidPenalty, .1), o.ExcludeNonFinite)
	if err != nil {
		return nil, nil, err
	}
	rule := literalRule(o.Norm, rl.StdSample, 1e-6)
	G := literalReturns(batch, e, gamma)
	if o.FirstVisit {
		for k, turns := range e.sources {
			var first [][2]int
			seen := map[int]bool{}
			for _, it := range turns {
				if !seen[it[0]] {
					first = append(first, it)
				}
				seen[it[0]] = true
			}
			e.sources[k] = first
		}
	}
	AE, err := e.episodes(o.PerTurn, rule)
	if err != nil {
		return nil, nil, err
	}
	AS, err := e.steps(batch, G, rule)
	if err != nil {
		return nil, nil, err
	}
	A := e.broadcast(batch, AE)
	for i := range A {
		for t := range A[i] {
			A[i][t] += omega * AS[i][t]
		}
	}
	return A, e, nil
}

// literalReturns is G_t = r_t - c_inv*1[Invalid_t] + gamma G_{t+1} of the voters.
func literalReturns(batch []rl.Trajectory, e *literalElectorate, gamma float64) literalTable {
	G := newLiteralTable(batch)
	for i, tr := range batch {
		var next float64
		for t := len(tr.Turns) - 1; t >= 0 && e.voter[i]; t-- {
			next = tr.Turns[t].Reward + gamma*next
			if literalIsPenalised(tr.Turns[t]) {
				next -= e.cInv
			}
			G[i][t] = next
		}
	}
	return G
}

func literalGAGPO(batch []rl.Trajectory, o rl.GAGPOOptions) (literalTable, *literalElectorate, error) {
	gamma, lambda := literalOr(o.Gamma, .95), literalOr(o.Lambda, .95)
	e, err := literalElect(batch, literalOr(o.InvalidPenalty, .1), o.ExcludeNonFinite)
	if err != nil {
		return nil, nil, err
	}
	rule := literalRule(o.Norm, rl.StdSample, 1e-6)
	G := literalReturns(batch, e, gamma)
	A := newLiteralTable(batch)
	for _, members := range e.groups {
		sum, count := map[string]float64{}, map[string]float64{}
		for _, i := range members {
			for t := range batch[i].Turns {
				if e.votes[i][t] {
					sum[literalNode(batch, i, t)] += G[i][t]
					count[literalNode(batch, i, t)]++
				}
			}
		}
		// V^(s) is the mean of the voting turns there; a turn in a state in which none votes has its own return.
		value := func(i, t int) float64 {
			s := literalNode(batch, i, t)
			if count[s] == 0 {
				return G[i][t]
			}
			return sum[s] / count[s]
		}
		var turns [][2]int
		var x []float64
		for _, i := range members {
			T := len(batch[i].Turns)
			a := make([]float64, T+1)
			for t := T - 1; t >= 0; t-- {
				var next float64 // V^(s_T) = 0
				if t < T-1 {
					next = value(i, t+1)
				}
				delta := batch[i].Turns[t].Reward + gamma*next - value(i, t)
				if literalIsPenalised(batch[i].Turns[t]) {
					delta -= e.cInv
				}
				a[t] = delta + gamma*lambda*a[t+1]
			}
			for t := range T {
				if e.votes[i][t] {
					turns, x = append(turns, [2]int{i, t}), append(x, a[t])
				}
			}
		}
		ruleHere := rule
		if rule.singleton == rl.SingletonError && rule.std != rl.StdOff {
			if len(members) == 1 {
				return nil, nil, errLiteralSingleton // here, too, it is about voters
			}
			ruleHere.singleton = rl.SingletonZero
		}
		y, err := literalNorm(x, ruleHere)
		if err != nil {
			return nil, nil, err
		}
		for k, it := range turns {
			A[it[0]][it[1]] = y[k]
		}
	}
	return A, e, nil
}

// GraphGPO and MileGPO.

type (
	literalEdge [2]string
	literalSet  map[int]bool // of trajectories
)

// literalGraph is the graph of one group.
type literalGraph struct {
	members   []int
	nodes     []string
	edges     []literalEdge
	T         map[string]literalSet      // T(v)
	TE        map[literalEdge]literalSet // T(e)
	y         map[int]bool
	goal      map[string]bool
	revisits  map[string]int // n_re
	distances map[string]map[string]float64
}

func literalGraphOf(batch []rl.Trajectory, e *literalElectorate, members []int, thetaR float64) *literalGraph {
	g := &literalGraph{
		members: members, T: map[string]literalSet{}, TE: map[literalEdge]literalSet{}, y: map[int]bool{},
		goal: map[string]bool{}, revisits: map[string]int{}, distances: map[string]map[string]float64{},
	}
	for _, i := range members {
		g.y[i] = e.R[i] > thetaR
		if batch[i].Success != nil {
			g.y[i] = *batch[i].Success
		}
		T := len(batch[i].Turns)
		for t := 0; t <= T; t++ {
			v := literalNode(batch, i, t)
			if g.T[v] == nil {
				g.T[v] = literalSet{}
				g.nodes = append(g.nodes, v)
			}
			if g.T[v][i] {
				g.revisits[v]++
			}
			g.T[v][i] = true
			if t == 0 {
				continue
			}
			edge := literalEdge{literalNode(batch, i, t-1), v}
			if g.TE[edge] == nil {
				g.TE[edge] = literalSet{}
				g.edges = append(g.edges, edge)
			}
			g.TE[edge][i] = true
		}
		if g.y[i] {
			g.goal[literalNode(batch, i, T)] = true
		}
	}
	// Floyd-Warshall.
	d := g.distances
	for _, u := range g.nodes {
		d[u] = map[string]float64{}
		for _, v := range g.nodes {
			d[u][v] = math.Inf(1)
		}
		d[u][u] = 0
	}
	for _, edge := range g.edges {
		if edge[0] != edge[1] {
			d[edge[0]][edge[1]] = 1
		}
	}
	for _, k := range g.nodes {
		for _, u := range g.nodes {
			du, dk := d[u], d[k]
			via := du[k]
			if math.IsInf(via, 1) {
				continue
			}
			for _, v := range g.nodes {
				if via+dk[v] < du[v] {
					du[v] = via + dk[v]
				}
			}
		}
	}
	return g
}

// toGoal is d(v, g), +Inf if no goal can be reached.
func (g *literalGraph) toGoal(v string) float64 {
	nearest := math.Inf(1)
	for goal := range g.goal {
		nearest = math.Min(nearest, g.distances[v][goal])
	}
	return nearest
}

// literalDecay is gamma^d, 0 at infinity.
func literalDecay(gamma, d float64) float64 {
	if math.IsInf(d, 1) {
		return 0
	}
	return math.Pow(gamma, d)
}

// count returns |T|, |T+| and |T-| of a set of trajectories.
func (g *literalGraph) count(set literalSet) (all, success, failure float64) {
	for i := range set {
		all++
		if g.y[i] {
			success++
		} else {
			failure++
		}
	}
	return all, success, failure
}

func (g *literalGraph) share(set literalSet) (pPlus, pMinus float64) {
	all, success, failure := g.count(set)
	return success / all, failure / all
}

func (g *literalGraph) everyone() literalSet {
	all := literalSet{}
	for _, i := range g.members {
		all[i] = true
	}
	return all
}

type literalMileSettings struct {
	stage                    rl.Stage
	c, gammaG, omega, gPhi   float64
	lambdaS, wPlus, wMinus   float64
	wS, wM, wC, wF, wL       float64
	aD, aS, aF               float64
	wBC, wPG, wPCC           float64
	trapScore, trapVisits    float64
	thetaM, rho, eta, thetaR float64
	kappaBC                  bool
	wStep, wEpisode, cInv    float64
	rule                     literalNormRule
	exclude                  bool
}

func literalSettings(o rl.MileGPOOptions) literalMileSettings {
	s := literalMileSettings{
		stage: o.Stage,
		c:     literalOr(o.GoalReturn, 10), gammaG: literalOr(o.GoalDecay, .2),
		omega: literalOr(o.PotentialDecay, .2), gPhi: literalOr(o.PotentialGamma, 1),
		lambdaS: literalOr(o.ShapingWeight, .25), wPlus: literalOr(o.PositiveWeight, 1), wMinus: literalOr(o.NegativeWeight, .25),
		wS: literalOr(o.LiftWeight, 1), wM: literalOr(o.SupportWeight, 1), wC: literalOr(o.ConnectivityWeight, .25),
		wF: literalOr(o.FailureWeight, 1), wL: literalOr(o.LoopWeight, .25),
		aD: literalOr(o.DistanceWeight, 1), aS: literalOr(o.SuccessWeight, 1), aF: literalOr(o.FailureLiftWeight, 1),
		wBC: literalOr(o.BranchWeight, 1), wPG: literalOr(o.ProgressWeight, 1), wPCC: literalOr(o.CalibrationWeight, 1),
		trapScore: literalOr(o.TrapScore, .1), trapVisits: float64(o.TrapVisits),
		thetaM: literalOr(o.KeepSupport, 1.1), kappaBC: o.KeepBranch, rho: o.DropFactor, eta: literalOr(o.Mix, .2),
		thetaR: o.SuccessAbove, wStep: literalOr(o.StepWeight, 1), wEpisode: literalOr(o.EpisodeWeight, 1),
		cInv: literalOr(o.InvalidPenalty, .1), rule: literalRule(o.Norm, rl.StdSample, 1e-6), exclude: o.ExcludeNonFinite,
	}
	if o.TrapVisits == 0 {
		s.trapVisits = 2
	}
	return s
}

// literalMile is one group on its way through MD, RCS and PCC.
type literalMile struct {
	*literalGraph
	lPlus, m, conn, s0Plus       map[string]float64 // of the candidates S+
	lMinus, fMinus, loop, sMinus map[string]float64 // of nodes with visits enough for S-
	trap                         map[string]bool    // the candidates S-: those with score enough
	cBCC, psi                    map[literalEdge]float64
	b, psiBar, e, sPCC           map[string]float64 // of the candidates S+
	keep                         map[string]bool    // z
	plus, minus                  map[string]float64 // S+ and S- with a bar, of the candidates
	phiPlus, phiMinus            map[string]float64 // of every node
}

// literalSnap removes the rounding error of sums that are 0 in exact arithmetic: with shares of a few trajectories and weights
// of a few digits nothing else is that small, and the sign of such a sum decides.
func literalSnap(x float64) float64 {
	if math.Abs(x) < 1e-12 {
		return 0
	}
	return x
}

func literalMilestones(g *literalGraph, o literalMileSettings) *literalMile {
	q := &literalMile{
		literalGraph: g,
		lPlus:        map[string]float64{}, m: map[string]float64{}, conn: map[string]float64{}, s0Plus: map[string]float64{},
		lMinus: map[string]float64{}, fMinus: map[string]float64{}, loop: map[string]float64{}, sMinus: map[string]float64{},
		trap: map[string]bool{}, keep: map[string]bool{},
		cBCC: map[literalEdge]float64{}, psi: map[literalEdge]float64{},
		b: map[string]float64{}, psiBar: map[string]float64{}, e: map[string]float64{}, sPCC: map[string]float64{},
		phiPlus: map[string]float64{}, phiMinus: map[string]float64{},
	}
	pPlusQ, pMinusQ := g.share(g.everyone())
	_, successes, failures := g.count(g.everyone())

	// MD.
	deg := map[string]float64{}
	for _, edge := range g.edges {
		if edge[0] != edge[1] {
			deg[edge[0]]++
			deg[edge[1]]++
		}
	}
	var maxDeg float64
	for _, v := range g.nodes {
		if _, success, _ := g.count(g.T[v]); success >= 1 {
			maxDeg = math.Max(maxDeg, deg[v])
		}
	}
	for _, v := range g.nodes {
		all, success, failure := g.count(g.T[v])
		pPlus, pMinus := g.share(g.T[v])
		if success >= 1 && !g.goal[v] {
			q.lPlus[v] = math.Max(pPlus-pPlusQ, 0)
			q.m[v] = success / math.Max(successes, 1)
			q.conn[v] = 0
			if maxDeg > 0 {
				q.conn[v] = deg[v] / maxDeg
			}
			q.s0Plus[v] = o.wS*q.lPlus[v] + o.wM*q.m[v] + o.wC*q.conn[v]
		}
		if success == 0 && (failure >= o.trapVisits || g.revisits[v] >= 1) {
			l := math.Max(pMinus-pMinusQ, 0)
			f := failure / math.Max(failures, 1)
			L := float64(g.revisits[v]) / math.Max(all, 1)
			S := o.wF*l + o.wL*f*L
			q.lMinus[v], q.fMinus[v], q.loop[v], q.sMinus[v] = l, f, L, S
			q.trap[v] = literalSnap(S-o.trapScore) >= 0
		}
	}

	// PCC.
	siblings := func(edge literalEdge) (others []literalEdge) {
		for _, other := range g.edges {
			if other[0] == edge[0] && other[1] != edge[1] {
				others = append(others, other)
			}
		}
		return others
	}
	var maxC float64
	cTilde := map[literalEdge]float64{}
	for _, edge := range g.edges {
		pPlus, pMinus := g.share(g.TE[edge])
		pPlusV, pMinusV := g.share(g.T[edge[1]])
		lMinus := math.Max(pMinusV-pMinusQ, 0)
		if others := siblings(edge); len(others) > 0 {
			var meanPlus, meanMinus float64
			for _, other := range others {
				plus, minus := g.share(g.TE[other])
				meanPlus += plus / float64(len(others))
				meanMinus += minus / float64(len(others))
			}
			cTilde[edge] = literalSnap(pPlus - meanPlus)
			lMinus = math.Max(pMinus-meanMinus, 0)
		}
		maxC = math.Max(maxC, math.Abs(cTilde[edge]))
		var progress float64
		du, dv := g.toGoal(edge[0]), g.toGoal(edge[1])
		if !math.IsInf(du, 1) && !math.IsInf(dv, 1) {
			progress = du - dv
		}
		q.psi[edge] = literalSnap(o.aD*progress + o.aS*(pPlusV-pPlusQ) - o.aF*lMinus)
	}
	for _, edge := range g.edges {
		if maxC > 0 {
			q.cBCC[edge] = cTilde[edge] / maxC
		}
	}
	psiTilde := map[string]float64{}
	var maxPsi float64
	for v := range q.s0Plus {
		for _, edge := range g.edges {
			if edge[1] != v || edge[0] == v {
				continue
			}
			if q.cBCC[edge] > 0 {
				q.b[v] = math.Max(q.b[v], q.cBCC[edge])
			}
			if _, success, _ := g.count(g.TE[edge]); success >= 1 && q.psi[edge] > 0 {
				psiTilde[v] = math.Max(psiTilde[v], q.psi[edge])
			}
		}
		maxPsi = math.Max(maxPsi, psiTilde[v])
	}
	for v := range q.s0Plus {
		if maxPsi > 0 {
			q.psiBar[v] = psiTilde[v] / maxPsi
		}
		q.e[v] = o.wBC*q.b[v] + o.wPG*q.psiBar[v]
		q.keep[v] = q.psiBar[v] > 0 || q.m[v] >= o.thetaM || o.kappaBC && q.b[v] > 0
		if q.keep[v] {
			q.sPCC[v] = q.s0Plus[v] * (1 + o.wPCC*q.e[v])
		} else {
			q.sPCC[v] = o.rho * q.s0Plus[v]
		}
	}

	// Stages.
	normalised := func(S map[string]float64) map[string]float64 {
		var max float64
		for _, s := range S {
			max = math.Max(max, s)
		}
		bar := map[string]float64{}
		for v, s := range S {
			bar[v] = 0
			if max > 0 {
				bar[v] = s / max
			}
		}
		return bar
	}
	traps := map[string]float64{}
	for v, S := range q.sMinus {
		if q.trap[v] {
			traps[v] = S
		}
	}
	q.plus, q.minus = normalised(q.sPCC), normalised(traps)
	switch o.stage {
	case rl.StageRCS:
		q.plus = normalised(q.s0Plus)
	case rl.StageMD:
		for v := range q.plus {
			q.plus[v] = 1
		}
		for v := range q.minus {
			q.minus[v] = 1
		}
	case rl.StagePCCUniform:
		for v := range q.plus {
			q.plus[v] = o.rho
			if q.keep[v] {
				q.plus[v] = 1
			}
		}
	}
	potential := func(s string, bar map[string]float64) (phi float64) {
		for v := range bar {
			phi = math.Max(phi, bar[v]*literalDecay(o.omega, g.distances[s][v]))
		}
		return phi
	}
	for _, s := range g.nodes {
		q.phiPlus[s] = potential(s, q.plus)
		q.phiMinus[s] = potential(s, q.minus)
	}
	return q
}

type literalMileResult struct {
	*literalElectorate
	groups              []*literalMile
	dltPlus, dltMinus   literalTable
	rG, rM              literalTable
	AG, AMix, advantage literalTable
}

// literalShaped is everything of MileGPO ahead of the norms.
func literalShaped(batch []rl.Trajectory, o literalMileSettings) (*literalMileResult, error) {
	elect, err := literalElect(batch, o.cInv, o.exclude)
	if err != nil {
		return nil, err
	}
	res := &literalMileResult{
		literalElectorate: elect, dltPlus: newLiteralTable(batch), dltMinus: newLiteralTable(batch),
		rG: newLiteralTable(batch), rM: newLiteralTable(batch),
	}
	for _, members := range elect.groups {
		g := literalGraphOf(batch, elect, members, o.thetaR)
		q := literalMilestones(g, o)
		res.groups = append(res.groups, q)
		for _, i := range members {
			for t := range batch[i].Turns {
				s, next := literalNode(batch, i, t), literalNode(batch, i, t+1)
				res.rG[i][t] = o.c * literalDecay(o.gammaG, g.toGoal(next))
				dltPlus := math.Max(o.gPhi*o.wPlus*q.phiPlus[next]-o.wPlus*q.phiPlus[s], 0)
				dltMinus := math.Max(o.gPhi*o.wMinus*q.phiMinus[next]-o.wMinus*q.phiMinus[s], 0)
				res.dltPlus[i][t], res.dltMinus[i][t] = dltPlus, dltMinus
				res.rM[i][t] = res.rG[i][t] + o.c*o.lambdaS*(dltPlus-dltMinus)
			}
		}
	}
	return res, nil
}

func literalMileGPO(batch []rl.Trajectory, o literalMileSettings) (*literalMileResult, error) {
	res, err := literalShaped(batch, o)
	if err != nil {
		return nil, err
	}
	elect := res.literalElectorate
	if res.AG, err = elect.steps(batch, res.rG, o.rule); err != nil {
		return nil, err
	}
	if res.AMix, err = elect.steps(batch, res.rM, o.rule); err != nil {
		return nil, err
	}
	AE, err := elect.episodes(false, o.rule)
	if err != nil {
		return nil, err
	}
	res.advantage = newLiteralTable(batch)
	for i := range batch {
		for t := range batch[i].Turns {
			if elect.votes[i][t] {
				AG, AMix := res.AG[i][t], res.AMix[i][t]
				res.advantage[i][t] = o.wStep*(AG+o.eta*(AMix-AG)) + o.wEpisode*AE[i]
			}
		}
	}
	return res, nil
}

func literalGraphGPO(batch []rl.Trajectory, o rl.GraphGPOOptions) (literalTable, *literalElectorate, error) {
	rule := literalRule(o.Norm, rl.StdSample, 1e-6)
	e, err := literalElect(batch, literalOr(o.InvalidPenalty, .1), o.ExcludeNonFinite)
	if err != nil {
		return nil, nil, err
	}
	rG := newLiteralTable(batch)
	for _, members := range e.groups {
		g := literalGraphOf(batch, e, members, o.SuccessAbove)
		for _, i := range members {
			for t := range batch[i].Turns {
				d := g.toGoal(literalNode(batch, i, t+1))
				rG[i][t] = literalOr(o.GoalReturn, 10) * literalDecay(literalOr(o.GoalDecay, .2), d)
			}
		}
	}
	AG, err := e.steps(batch, rG, rule)
	if err != nil {
		return nil, nil, err
	}
	AE, err := e.episodes(false, rule)
	if err != nil {
		return nil, nil, err
	}
	A := newLiteralTable(batch)
	for i := range batch {
		for t := range batch[i].Turns {
			if e.votes[i][t] {
				A[i][t] = literalOr(o.StepWeight, 1)*AG[i][t] + literalOr(o.EpisodeWeight, 1)*AE[i]
			}
		}
	}
	return A, e, nil
}

// Worked examples.

func literalColumn(table literalTable) (column []float64) {
	for _, row := range table {
		column = append(column, row...)
	}
	return column
}

// The literal code alone gives the worked numbers E6, E7 and E10.
func TestLiteralGroupsAlone(t *testing.T) {
	scores := func(x ...float64) (batch []rl.Trajectory) {
		for _, r := range x {
			batch = append(batch, literalEpisodeOf("", rl.Terminated, "", nil, r))
		}
		return batch
	}
	grpo := func(batch []rl.Trajectory, o rl.GRPOOptions) []float64 {
		t.Helper()
		A, _, err := literalGRPO(batch, o)
		if err != nil {
			t.Fatal(err)
		}
		return literalColumn(A)
	}
	rloo := func(batch []rl.Trajectory, o rl.RLOOOptions) []float64 {
		t.Helper()
		A, _, err := literalRLOO(batch, o)
		if err != nil {
			t.Fatal(err)
		}
		return literalColumn(A)
	}
	e6 := scores(1, 1, 1, 0, 0, 0, 0, 0)
	pick := func(x []float64) []float64 {
		if len(x) != 8 || x[0] != x[2] || x[3] != x[7] {
			t.Fatalf("equal scores, unequal advantages: %v", x)
		}
		return []float64{math.Round(x[0]*1e4) / 1e4, math.Round(x[7]*1e4) / 1e4}
	}
	literalRow(t, "E6 sample", pick(grpo(e6, rl.GRPOOptions{})), 1.2076, -.7246)
	literalRow(t, "E6 population", pick(grpo(e6, rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdPopulation}})), 1.2910, -.7746)
	literalRow(t, "E6 none", pick(grpo(e6, rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}})), .625, -.375)
	literalRow(t, "E6 RLOO", pick(rloo(e6, rl.RLOOOptions{})), .7143, -.4286)
	for _, c := range []struct{ eps, want float64 }{{1e-4, .7070068}, {1e-6, .70710578}, {1e-8, .70710677}} {
		literalRow(t, "E7", grpo(scores(1, 0), rl.GRPOOptions{Norm: rl.Norm{Eps: new(c.eps)}}), c.want, -c.want)
	}
	literalRow(t, "E7 RLOO", rloo(scores(1, 1, 0), rl.RLOOOptions{}), .5, .5, -1)
	literalRow(t, "E7 RLOO of one", rloo(scores(4), rl.RLOOOptions{}), 0)
	case8 := rloo(scores(0, .95, .95, .95, .95, .95, .95, .95), rl.RLOOOptions{OthersStd: true})
	literalRow(t, "case 8", case8[:1], -.95)

	e10 := []rl.Trajectory{
		literalEpisodeOf("", rl.Terminated, "", []string{"s0", "s1", "s2"}, 0, 0, 10),
		literalEpisodeOf("", rl.Truncated, "", []string{"s0", "s1", "s1"}, 0, 0, 0),
	}
	gigpo := func(batch []rl.Trajectory, o rl.GiGPOOptions) []float64 {
		t.Helper()
		A, _, err := literalGiGPO(batch, o)
		if err != nil {
			t.Fatal(err)
		}
		return literalColumn(A)
	}
	none := rl.Norm{Std: rl.StdNone}
	literalRow(t, "E10 with std", gigpo(e10, rl.GiGPOOptions{}), 1.414213, 1.861807, .707107, -1.414213, -1.284457, -1.284457)
	literalRow(t, "E10 w/o std", gigpo(e10, rl.GiGPOOptions{Norm: none}), 9.5125, 11.333333, 5, -9.5125, -8.166667, -8.166667)
	weights := []rl.Trajectory{
		literalEpisodeOf("", rl.Terminated, "", nil, 0, 10),
		literalEpisodeOf("", rl.Terminated, "", nil, 0, 0, 0, 0, 0, 0, 0, 0),
	}
	ends := func(x []float64) []float64 { return []float64{x[0], x[9]} }
	literalRow(t, "E10 per turn", ends(gigpo(weights, rl.GiGPOOptions{PerTurn: true, Norm: none})), 8, -2)
	literalRow(t, "E10 per turn, std", ends(gigpo(weights, rl.GiGPOOptions{PerTurn: true})), 1.897366, -.474342)
	literalRow(t, "E10 per trajectory", ends(gigpo(weights, rl.GiGPOOptions{Norm: none})), 5, -5)
}

func literalE11() []rl.Trajectory {
	return []rl.Trajectory{
		literalEpisodeOf("", rl.Terminated, "g", []string{"s0", "a", "m"}, 0, 0, 10),
		literalEpisodeOf("", rl.Terminated, "g", []string{"s0", "b", "m"}, 0, 0, 10),
		literalEpisodeOf("", rl.Truncated, "y", []string{"s0", "a", "y"}, 0, 0, 0),
		literalEpisodeOf("", rl.Truncated, "x", []string{"s0", "b"}, 0, 0),
		literalEpisodeOf("", rl.Truncated, "x", []string{"s0", "b"}, 0, 0),
	}
}

// literalWebShop is the second preset, written out.
func literalWebShop() rl.MileGPOOptions {
	o := rl.MileGPOOptions{KeepSupport: new(.5), KeepBranch: true, DropFactor: .5, Mix: new(1.0)}
	o.Norm.Std = rl.StdNone
	return o
}

// The literal code alone gives the worked numbers E11 and E12.
func TestLiteralMileGPOAlone(t *testing.T) {
	run := func(batch []rl.Trajectory, o rl.MileGPOOptions) (*literalMileResult, *literalMile) {
		t.Helper()
		res, err := literalMileGPO(batch, literalSettings(o))
		if err != nil {
			t.Fatal(err)
		}
		return res, res.groups[0]
	}
	at := func(m map[string]float64, keys ...string) (row []float64) {
		for _, key := range keys {
			row = append(row, m[key])
		}
		return row
	}
	atEdge := func(m map[literalEdge]float64, edges ...literalEdge) (row []float64) {
		for _, edge := range edges {
			row = append(row, m[edge])
		}
		return row
	}
	res, q := run(literalE11(), rl.MileGPOOptions{})
	if len(q.plus) != 4 || len(q.minus) != 2 {
		t.Fatalf("E11: milestones %v, traps %v", q.plus, q.minus)
	}
	literalRow(t, "E11 l+", at(q.lPlus, "s0", "a", "b", "m"), 0, .1, 0, .6)
	literalRow(t, "E11 m", at(q.m, "s0", "a", "b", "m"), 1, .5, .5, 1)
	literalRow(t, "E11 C", at(q.conn, "s0", "a", "b", "m"), .666667, 1, 1, 1)
	literalRow(t, "E11 S0+", at(q.s0Plus, "s0", "a", "b", "m"), 1.166667, .85, .75, 1.85)
	literalRow(t, "E11 b", at(q.b, "s0", "a", "b", "m"), 0, .166667, 0, 1)
	literalRow(t, "E11 psi-bar", at(q.psiBar, "s0", "a", "b", "m"), 0, .6875, .479167, 1)
	literalRow(t, "E11 E", at(q.e, "s0", "a", "b", "m"), 0, .854167, .479167, 2)
	literalRow(t, "E11 S_pcc", at(q.sPCC, "s0", "a", "b", "m"), 0, 1.576042, 1.109375, 5.55)
	literalRow(t, "E11 l-", at(q.lMinus, "y", "x"), .4, .4)
	literalRow(t, "E11 f-", at(q.fMinus, "y", "x"), .333333, .666667)
	literalRow(t, "E11 L", at(q.loop, "y", "x"), 1, 0)
	literalRow(t, "E11 S-", at(q.sMinus, "y", "x"), .483333, .4)
	literalRow(t, "E11 psi", atEdge(q.psi, literalEdge{"s0", "a"}, literalEdge{"s0", "b"}, literalEdge{"a", "m"}, literalEdge{"b", "m"},
		literalEdge{"m", "g"}), 1.1, .766667, 1.6, 1.6, 1.6)
	literalRow(t, "E11 c_bcc", atEdge(q.cBCC, literalEdge{"s0", "a"}, literalEdge{"s0", "b"}, literalEdge{"a", "m"}, literalEdge{"b", "m"},
		literalEdge{"a", "y"}, literalEdge{"b", "x"}, literalEdge{"m", "g"}, literalEdge{"y", "y"}), .166667, -.166667, 1, 1, -1, -1, 0, 0)
	literalRow(t, "E11 Phi+", at(q.phiPlus, "s0", "a", "b", "m", "g", "x", "y"), .056794, .283971, .2, 1, 0, 0, 0)
	literalRow(t, "E11 Phi-", at(q.phiMinus, "s0", "a", "b", "x", "y", "m", "g"), .04, .2, .165517, .827586, 1, 0, 0)
	literalRow(t, "E11 r^G", literalColumn(res.rG), .4, 2, 10, .4, 2, 10, .4, 0, 0, .4, 0, .4, 0)
	literalRow(t, "E11 r^M", literalColumn(res.rM), .867943, 3.790071, 10, .679566, 4, 10, .867943, -.5, 0, .679566,
		-.413793, .679566, -.413793)
	literalRow(t, "E11 A^G", literalColumn(res.AG), 0, .707106, 0, 0, 1.154700, 0, 0, -.707106, 0, 0, -.577350, 0, -.577350)
	literalRow(t, "E11 A^mix", literalColumn(res.AMix), 1.095434, .707107, 0, -.730290, 1.154700, 0, 1.095434, -.707107,
		0, -.730290, -.577350, -.730290, -.577350)
	literalRow(t, "E11 A", literalColumn(res.advantage), 1.314532, 1.802551, 1.095445, .949387, 2.250145, 1.095445,
		-.511210, -1.437403, -.730297, -.876355, -1.307646, -.876355, -1.307646)

	res, q = run(literalE11(), literalWebShop())
	literalRow(t, "E11 WebShop S_pcc", at(q.sPCC, "s0", "a", "b", "m"), 1.166667, 1.576042, 1.109375, 5.55)
	literalRow(t, "E11 WebShop Phi+", at(q.phiPlus, "s0", "a", "b", "m", "g", "x", "y"), .210210, .283971, .2, 1, 0, 0, 0)
	literalRow(t, "E11 WebShop r^M", literalColumn(res.rM), .484403, 3.790071, 10, .321552, 4, 10, .484403, -.5, 0,
		.321552, -.413793, .321552, -.413793)
	literalRow(t, "E11 WebShop A^G", literalColumn(res.AG), 0, 1, 0, 0, 1.333333, 0, 0, -1, 0, 0, -.666667, 0, -.666667)
	literalRow(t, "E11 WebShop A^mix", literalColumn(res.AMix), .097711, 2.145036, 0, -.065141, 2.942529, 0, .097711,
		-2.145036, 0, -.065141, -1.471264, -.065141, -1.471264)
	literalRow(t, "E11 WebShop A", literalColumn(res.advantage), 6.097711, 8.145036, 6, 5.934859, 8.942529, 6, -3.902289,
		-6.145036, -4, -4.065141, -5.471264, -4.065141, -5.471264)

	_, q = run(literalE11(), rl.MileGPOOptions{Stage: rl.StageRCS})
	literalRow(t, "E11 RCS Phi+", at(q.phiPlus, "s0", "a", "b", "m", "g", "x", "y"), .630631, .459459, .405405, 1, 0, 0, 0)
	_, q = run(literalE11(), rl.MileGPOOptions{Stage: rl.StageMD})
	literalRow(t, "E11 MD Phi+", at(q.phiPlus, "s0", "a", "b", "m", "g", "x", "y"), 1, 1, 1, 1, 0, 0, 0)
	literalRow(t, "E11 MD Phi-", at(q.phiMinus, "s0", "a", "b", "x", "y", "m", "g"), .04, .2, .2, 1, 1, 0, 0)

	res, q = run([]rl.Trajectory{
		literalEpisodeOf("", rl.Terminated, "a", []string{"s0", "a"}, 0, 0),
		literalEpisodeOf("", rl.Terminated, "b", []string{"s0"}, 0),
	}, rl.MileGPOOptions{})
	if len(q.plus) != 0 || len(q.minus) != 1 {
		t.Fatalf("E12: milestones %v, traps %v", q.plus, q.minus)
	}
	literalRow(t, "E12 S-", at(q.sMinus, "a"), .125)
	literalRow(t, "E12 r^M", literalColumn(res.rM), -.5, 0, 0)
	literalRow(t, "E12 A", literalColumn(res.advantage), -.141421, 0, .141421)
	res, q = run([]rl.Trajectory{
		literalEpisodeOf("", rl.Terminated, "g", []string{"s0", "a"}, 0, 10),
		literalEpisodeOf("", rl.Terminated, "g", []string{"s0"}, 10),
	}, rl.MileGPOOptions{})
	literalRow(t, "E12 S0+", at(q.s0Plus, "s0", "a"), 1.25, .75)
	literalRow(t, "E12 psi-bar", at(q.psiBar, "s0", "a"), 0, 0)
	literalRow(t, "E12 Phi+", at(q.phiPlus, "s0", "a", "g"), 0, 0, 0)
	literalRow(t, "E12 all success A", literalColumn(res.advantage), -.707107, 0, .707107)

	// Property 20: leaving and entering a milestone again pays each time.
	res, q = run([]rl.Trajectory{
		literalEpisodeOf("", rl.Terminated, "g", []string{"s0", "m", "n", "m", "n", "m"}, 0, 0, 0, 0, 0, 10),
		literalEpisodeOf("", rl.Terminated, "n", []string{"s0"}, 0),
	}, rl.MileGPOOptions{})
	literalRow(t, "20 Phi+(m) - Phi+(n)", []float64{q.phiPlus["m"] - q.phiPlus["n"]}, .8)
	literalRow(t, "20 r^M - r^G", []float64{res.rM[0][2] - res.rG[0][2], res.rM[0][4] - res.rG[0][4]}, 2, 2)
}

// The literal code alone gives the worked numbers E13.
func TestLiteralGAGPOAlone(t *testing.T) {
	e13 := []rl.Trajectory{
		literalEpisodeOf("", rl.Terminated, "end", []string{"s0", "s1"}, 0, 10),
		literalEpisodeOf("", rl.Terminated, "end", []string{"s0", "s2"}, 0, 0),
	}
	A, _, err := literalGAGPO(e13, rl.GAGPOOptions{Norm: rl.Norm{Std: rl.StdNone}, Lambda: new(0.0)})
	if err != nil {
		t.Fatal(err)
	}
	literalRow(t, "E13", literalColumn(A), 4.75, 0, -4.75, 0)
	A, _, err = literalGAGPO(e13, rl.GAGPOOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sigma := math.Sqrt(2 * 4.75 * 4.75 / 3)
	literalRow(t, "E13 normalised", literalColumn(A), 4.75/(sigma+1e-6), 0, -4.75/(sigma+1e-6), 0)
}

// The presets of the package are those, number by number.
func TestLiteralPresets(t *testing.T) {
	want, got := literalSettings(literalWebShop()), literalSettings(*rl.MileGPOWebShop())
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(literalMileSettings{}, literalNormRule{})); diff != "" {
		t.Errorf("WebShop (-want +got):\n%s", diff)
	}
}

// Comparison with the package.

// literalCheck compares one call of the package, with a fresh and with a used result, with the literal one.
func literalCheck(t *rapid.T, batch []rl.Trajectory, dst **rl.Credit, estimate func(dst *rl.Credit) (*rl.Credit, error),
	want literalTable, e *literalElectorate, wantErr error,
) {
	t.Helper()
	for _, reused := range []*rl.Credit{nil, *dst} {
		got, err := estimate(reused)
		if literalErrors(t, err, wantErr) {
			continue
		}
		literalAgree(t, batch, got, want, e.votes)
		var groups, singletons int
		for _, members := range e.groups {
			if len(members) == 1 {
				singletons++
			} else {
				groups++
			}
		}
		if got.Groups != groups || got.Singletons != singletons {
			t.Fatalf("%d groups and %d singletons, literal %d and %d", got.Groups, got.Singletons, groups, singletons)
		}
		*dst = got
	}
}

func TestLiteralGRPO(t *testing.T) {
	var dst *rl.Credit
	literalOnWorlds(t, func(t *rapid.T, batch []rl.Trajectory) {
		var o *rl.GRPOOptions
		if !literalOneIn(t, 4, "default options") {
			o = &rl.GRPOOptions{
				InvalidPenalty:   literalPointer(t, "penalty", 0, .5),
				Norm:             literalNormOf(t, true),
				Scope:            rapid.SampledFrom([]rl.Scope{rl.ScopeGroup, rl.ScopeBatch, rl.ScopeGroupMeanBatchStd}).Draw(t, "scope"),
				PerTurn:          rapid.Bool().Draw(t, "per turn"),
				ExcludeNonFinite: rapid.Bool().Draw(t, "exclude"),
			}
		}
		want, e, wantErr := literalGRPO(batch, literalOptions(o))
		literalCheck(t, batch, &dst, func(dst *rl.Credit) (*rl.Credit, error) { return rl.GRPO(dst, batch, o) }, want, e, wantErr)
	})
}

func TestLiteralRLOO(t *testing.T) {
	var dst *rl.Credit
	literalOnWorlds(t, func(t *rapid.T, batch []rl.Trajectory) {
		var o *rl.RLOOOptions
		if !literalOneIn(t, 4, "default options") {
			o = &rl.RLOOOptions{
				InvalidPenalty: literalPointer(t, "penalty", 0, .5),
				OthersStd:      rapid.Bool().Draw(t, "others"),
				// Without a floor a division by the rounding error of equal scores is as asked for, but equal on no two machines.
				StdFloor:         literalPointer(t, "floor", 1e-8, 1e-9, .0123, .4567),
				Singleton:        literalNormOf(t, false).Singleton,
				ExcludeNonFinite: rapid.Bool().Draw(t, "exclude"),
			}
		}
		want, e, wantErr := literalRLOO(batch, literalOptions(o))
		literalCheck(t, batch, &dst, func(dst *rl.Credit) (*rl.Credit, error) { return rl.RLOO(dst, batch, o) }, want, e, wantErr)
	})
}

func TestLiteralGiGPO(t *testing.T) {
	var dst *rl.Credit
	literalOnWorlds(t, func(t *rapid.T, batch []rl.Trajectory) {
		var o *rl.GiGPOOptions
		if !literalOneIn(t, 4, "default options") {
			o = &rl.GiGPOOptions{
				Gamma:            literalPointer(t, "gamma", 0, 1, .9),
				StepWeight:       literalPointer(t, "omega", 0, .5, 2),
				InvalidPenalty:   literalPointer(t, "penalty", 0, .5),
				Norm:             literalNormOf(t, true),
				PerTurn:          rapid.Bool().Draw(t, "per turn"),
				FirstVisit:       rapid.Bool().Draw(t, "first visit"),
				ExcludeNonFinite: rapid.Bool().Draw(t, "exclude"),
			}
		}
		want, e, wantErr := literalGiGPO(batch, literalOptions(o))
		literalCheck(t, batch, &dst, func(dst *rl.Credit) (*rl.Credit, error) { return rl.GiGPO(dst, batch, o) }, want, e, wantErr)
	})
}

func TestLiteralGAGPO(t *testing.T) {
	var dst *rl.Credit
	literalOnWorlds(t, func(t *rapid.T, batch []rl.Trajectory) {
		var o *rl.GAGPOOptions
		if !literalOneIn(t, 4, "default options") {
			o = &rl.GAGPOOptions{
				Gamma:            literalPointer(t, "gamma", 0, 1, .9),
				Lambda:           literalPointer(t, "lambda", 0, 1, .9),
				InvalidPenalty:   literalPointer(t, "penalty", 0, .5),
				Norm:             literalNormOf(t, true),
				ExcludeNonFinite: rapid.Bool().Draw(t, "exclude"),
			}
		}
		want, e, wantErr := literalGAGPO(batch, literalOptions(o))
		literalCheck(t, batch, &dst, func(dst *rl.Credit) (*rl.Credit, error) { return rl.GAGPO(dst, batch, o) }, want, e, wantErr)
	})
}

func literalGraphOptions(t *rapid.T) rl.GraphGPOOptions {
	return rl.GraphGPOOptions{
		GoalReturn:       literalPointer(t, "c", 1, 3.5),
		GoalDecay:        literalPointer(t, "gamma_G", .5, .9),
		StepWeight:       literalPointer(t, "w_step", 0, 2, .5),
		EpisodeWeight:    literalPointer(t, "w_episode", 0, 2, .5),
		SuccessAbove:     rapid.SampledFrom([]float64{0, 0, .5, -1}).Draw(t, "theta_R"),
		InvalidPenalty:   literalPointer(t, "penalty", 0, .5),
		Norm:             literalNormOf(t, true),
		ExcludeNonFinite: rapid.Bool().Draw(t, "exclude"),
	}
}

func TestLiteralGraphGPO(t *testing.T) {
	var dst *rl.Credit
	literalOnWorlds(t, func(t *rapid.T, batch []rl.Trajectory) {
		var o *rl.GraphGPOOptions
		if !literalOneIn(t, 4, "default options") {
			o = new(literalGraphOptions(t))
		}
		want, e, wantErr := literalGraphGPO(batch, literalOptions(o))
		literalCheck(t, batch, &dst, func(dst *rl.Credit) (*rl.Credit, error) { return rl.GraphGPO(dst, batch, o) }, want, e, wantErr)
	})
}

func literalMileOptions(t *rapid.T) *rl.MileGPOOptions {
	stage := rapid.SampledFrom([]rl.Stage{rl.StagePCC, rl.StageRCS, rl.StageMD, rl.StagePCCUniform}).Draw(t, "stage")
	switch rapid.IntRange(0, 7).Draw(t, "options") {
	case 0:
		return nil
	case 1:
		return rl.MileGPOWebShop()
	case 2:
		return &rl.MileGPOOptions{Stage: stage}
	case 3:
		o := literalWebShop()
		o.Stage = stage
		return &o
	}
	weight := func(label string) *float64 { return literalPointer(t, label, 0, .5, 2, 1, .3) }
	return &rl.MileGPOOptions{
		GraphGPOOptions:    literalGraphOptions(t),
		Stage:              stage,
		PotentialDecay:     literalPointer(t, "omega", .5, .9, .3),
		PotentialGamma:     literalPointer(t, "gamma_Phi", 0, 1, .9),
		ShapingWeight:      weight("lambda_s"),
		PositiveWeight:     weight("w_+"),
		NegativeWeight:     weight("w_-"),
		LiftWeight:         weight("w_s"),
		SupportWeight:      weight("w_m"),
		ConnectivityWeight: weight("w_c"),
		FailureWeight:      weight("w_f"),
		LoopWeight:         weight("w_l"),
		DistanceWeight:     weight("a_d"),
		SuccessWeight:      weight("a_s"),
		FailureLiftWeight:  weight("a_f"),
		BranchWeight:       weight("w_bc"),
		ProgressWeight:     weight("w_pg"),
		CalibrationWeight:  weight("w_pcc"),
		TrapScore:          literalPointer(t, "trap score", 0, .1, .125, .25, .5),
		TrapVisits:         rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "trap visits"),
		KeepSupport:        literalPointer(t, "theta_m", .5, 1, .3, 0),
		KeepBranch:         rapid.Bool().Draw(t, "kappa_bc"),
		DropFactor:         rapid.SampledFrom([]float64{0, .5, 1}).Draw(t, "rho"),
		Mix:                literalPointer(t, "eta", 0, .5, 1),
	}
}

func TestLiteralMileGPO(t *testing.T) {
	var dst *rl.Credit
	literalOnWorlds(t, func(t *rapid.T, batch []rl.Trajectory) {
		o := literalMileOptions(t)
		want, wantErr := literalMileGPO(batch, literalSettings(literalOptions(o)))
		if wantErr != nil {
			want = &literalMileResult{}
		}
		estimate := func(dst *rl.Credit) (*rl.Credit, error) { return rl.MileGPO(dst, batch, o) }
		literalCheck(t, batch, &dst, estimate, want.advantage, want.literalElectorate, wantErr)
	})
}

// rl.MileGraphs shows the numbers of literalMilestones, every one of them.
func TestLiteralMileGraphs(t *testing.T) {
	literalOnWorlds(t, func(t *rapid.T, batch []rl.Trajectory) {
		o := literalMileOptions(t)
		want, wantErr := literalShaped(batch, literalSettings(literalOptions(o)))
		got, err := rl.MileGraphs(batch, o)
		if literalErrors(t, err, wantErr) {
			return
		}
		if len(got) != len(want.groups) {
			t.Fatalf("%d graphs, literal %d", len(got), len(want.groups))
		}
		for k := range got {
			literalSameGraph(t, batch, &got[k], want, want.groups[k])
		}
	})
}

func literalSameGraph(t *rapid.T, batch []rl.Trajectory, g *rl.MileGraph, res *literalMileResult, q *literalMile) {
	t.Helper()
	same := func(what string, got, want float64) {
		t.Helper()
		if !literalNear(got, want, 1e-9) {
			t.Fatalf("%s is %v, literal %v", what, got, want)
		}
	}
	truth := func(x bool) float64 {
		if x {
			return 1
		}
		return 0
	}
	_, successes, failures := q.count(q.everyone())
	same("Successes", float64(g.Successes), successes)
	same("Failures", float64(g.Failures), failures)
	if group := batch[q.members[0]].Group; g.Group != group {
		t.Fatalf("group is %q, literal %q", g.Group, group)
	}
	if len(g.Nodes) != len(q.nodes) || len(g.Edges) != len(q.edges) {
		t.Fatalf("%d nodes and %d edges, literal %d and %d", len(g.Nodes), len(g.Edges), len(q.nodes), len(q.edges))
	}
	visits, first := map[string]float64{}, map[literalEdge][2]int{}
	turns := map[literalEdge]float64{}
	for _, i := range q.members {
		for k := 0; k <= len(batch[i].Turns); k++ {
			visits[literalNode(batch, i, k)]++
			if k > 0 {
				edge := literalEdge{literalNode(batch, i, k-1), literalNode(batch, i, k)}
				if turns[edge] == 0 {
					first[edge] = [2]int{i, k - 1}
				}
				turns[edge]++
			}
		}
	}
	for k, node := range g.Nodes {
		v := q.nodes[k]
		if node.State != v && (node.State != "" || v[:1] != "u") {
			t.Fatalf("node %d is %q, literal %q", k, node.State, v)
		}
		distance := q.toGoal(v)
		if math.IsInf(distance, 1) {
			distance = -1
		}
		_, success, failure := q.count(q.T[v])
		for _, number := range []struct {
			name      string
			got, want float64
		}{
			{"Goal", truth(node.Goal), truth(q.goal[v])},
			{"Distance", float64(node.Distance), distance},
			{"Visits", float64(node.Visits), visits[v]},
			{"Revisits", float64(node.Revisits), float64(q.revisits[v])},
			{"Successes", float64(node.Successes), success},
			{"Failures", float64(node.Failures), failure},
			{"Lift", node.Lift, q.lPlus[v]},
			{"Support", node.Support, q.m[v]},
			{"Connectivity", node.Connectivity, q.conn[v]},
			{"MilestoneScore", node.MilestoneScore, q.s0Plus[v]},
			{"Branch", node.Branch, q.b[v]},
			{"Progress", node.Progress, q.psiBar[v]},
			{"Evidence", node.Evidence, q.e[v]},
			{"Kept", truth(node.Kept), truth(q.keep[v])},
			{"CalibratedScore", node.CalibratedScore, q.sPCC[v]},
			{"MilestoneWeight", node.MilestoneWeight, q.plus[v]},
			{"Trap", truth(node.Trap), truth(q.trap[v])},
			{"FailureLift", node.FailureLift, q.lMinus[v]},
			{"FailureSupport", node.FailureSupport, q.fMinus[v]},
			{"Loop", node.Loop, q.loop[v]},
			{"TrapScore", node.TrapScore, q.sMinus[v]},
			{"TrapWeight", node.TrapWeight, q.minus[v]},
			{"MilestonePotential", node.MilestonePotential, q.phiPlus[v]},
			{"TrapPotential", node.TrapPotential, q.phiMinus[v]},
		} {
			same(fmt.Sprintf("%s of %q", number.name, v), number.got, number.want)
		}
		if _, candidate := q.plus[v]; node.Milestone != candidate {
			t.Fatalf("Milestone of %q is %v, literal %v", v, node.Milestone, candidate)
		}
	}
	for _, edge := range g.Edges {
		e := literalEdge{q.nodes[edge.From], q.nodes[edge.To]}
		it, ok := first[e]
		if !ok {
			t.Fatalf("edge %q is in no trajectory", e)
		}
		_, success, failure := q.count(q.TE[e])
		for _, number := range []struct {
			name      string
			got, want float64
		}{
			{"Turns", float64(edge.Turns), turns[e]},
			{"Successes", float64(edge.Successes), success},
			{"Failures", float64(edge.Failures), failure},
			{"SuccessShare", edge.SuccessShare, success / (success + failure)},
			{"BranchContrast", edge.BranchContrast, q.cBCC[e]},
			{"Progress", edge.Progress, q.psi[e]},
			{"MilestoneGain", edge.MilestoneGain, res.dltPlus[it[0]][it[1]]},
			{"TrapGain", edge.TrapGain, res.dltMinus[it[0]][it[1]]},
			{"GoalReturn", edge.GoalReturn, res.rG[it[0]][it[1]]},
			{"MilestoneReturn", edge.MilestoneReturn, res.rM[it[0]][it[1]]},
		} {
			same(fmt.Sprintf("%s of %q", number.name, e), number.got, number.want)
		}
	}
	var pairs, ties float64
	for _, i := range q.members {
		for k := range batch[i].Turns {
			for _, j := range q.members {
				for l := range batch[j].Turns {
					later := j > i || j == i && l > k
					if later && literalNode(batch, i, k) == literalNode(batch, j, l) &&
						literalNode(batch, i, k+1) != literalNode(batch, j, l+1) {
						pairs++
						ties += truth(res.rG[i][k] == res.rG[j][l])
					}
				}
			}
		}
	}
	same("Pairs", float64(g.Pairs), pairs)
	same("Ties", float64(g.Ties), ties)
}
