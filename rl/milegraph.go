package rl

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// A MileGraph is what [MileGPO] found in the trajectories of one group, for inspection.
type MileGraph struct {
	Group     string
	Successes int // voters that succeeded, |T+_q|
	Failures  int // other voters, |T-_q|
	Nodes     []MileNode
	Edges     []MileEdge // by From, then in the order in which turns first took them

	// Pairs counts pairs of turns that start in the same state and lead to different ones, and Ties those among them whose
	// returns by distance are equal, both 0 included. Ties/Pairs is the share of choices on which GraphGPO has no opinion.
	Pairs, Ties int
}

// A MileNode is a state of a [MileGraph]. Nodes are in order of first appearance. Numbers about milestones are 0 in other
// nodes, as are those about traps.
type MileNode struct {
	State     string // its key; empty is a state that is not known, a node of its own each time
	Goal      bool   // the final state of a success
	Distance  int    // steps to the nearest goal, d; -1 if none can be reached
	Visits    int    // times that trajectories were there, their ends included
	Revisits  int    // those that were not the first of a trajectory, n_re
	Successes int    // trajectories that visit it and succeed, |T+|
	Failures  int    // trajectories that visit it and fail, |T-|

	Milestone       bool    // whether it is a milestone
	Lift            float64 // share of successes among its visitors above that of the group, or 0; l+
	Support         float64 // share of the group's successes that visit it, m
	Connectivity    float64 // number of neighbours relative to the largest of a state that a success visits, C
	MilestoneScore  float64 // score of its discovery, S0+
	Branch          float64 // best branch contrast of an edge into it, or 0; b
	Progress        float64 // best progress of an edge into it relative to the best of a milestone, or 0; psi with a bar
	Evidence        float64 // weighted sum of the two, E
	Kept            bool    // whether calibration keeps it, z
	CalibratedScore float64 // score after calibration, S_pcc
	MilestoneWeight float64 // the score that the stage asks for, relative to the largest, in [0, 1]; S+ with a bar

	Trap           bool    // whether it is a trap; the four numbers below are also set where only the score was too low
	FailureLift    float64 // share of failures among its visitors above that of the group, or 0; l-
	FailureSupport float64 // share of the group's failures that visit it, f-
	Loop           float64 // returns to it per visitor, L
	TrapScore      float64 // score of its discovery, S-
	TrapWeight     float64 // the score that the stage asks for, relative to the largest, in [0, 1]; S- with a bar

	MilestonePotential float64 // Phi+, in [0, 1]
	TrapPotential      float64 // Phi-, in [0, 1]
}

// A MileEdge is a step of a [MileGraph], a self-loop perhaps.
type MileEdge struct {
	From, To        int     // positions in MileGraph.Nodes
	Turns           int     // turns that took it
	Successes       int     // trajectories that took it and succeed, |T+|
	Failures        int     // trajectories that took it and fail, |T-|
	SuccessShare    float64 // of the trajectories that took it, p+
	BranchContrast  float64 // SuccessShare less the mean of the other edges out of From, relative to the largest such difference, c_bcc
	Progress        float64 // weighted steps gained and success above the group's, less failure above the siblings', psi
	MilestoneGain   float64 // gain of the potential of milestones, weighted, delta+
	TrapGain        float64 // gain of the potential of traps, weighted, delta-
	GoalReturn      float64 // return by distance, r^G
	MilestoneReturn float64 // shaped return, r^M
}

// MileGraphs returns the graphs from which [MileGPO] with the same options takes its credit, one for each group with a
// voter, in order of first appearance; Mix plays no part. Errors are those of MileGPO, except that a group of one is none. It
// is deterministic and takes expected O(turns + tokens + bytes of keys + m log m) time
// with m milestones and traps.
func MileGraphs(batch []Trajectory, o *MileGPOOptions) ([]MileGraph, error) {
	s, m, err := o.fill()
	if err != nil {
		return nil, err
	}
	c, err := NewCredit(nil, batch)
	if err != nil {
		return nil, err
	}
	if err := c.scores(batch, s.penalty, s.exclude); err != nil {
		return nil, err
	}
	c.groupBy(batch)
	g := c.stateGraph()
	g.build(c, batch, s.successAbove)
	g.reach(s.goalReturn, s.goalDecay)
	m.shape(g, &s)
	for v := range g.mile.nodes {
		g.mile.nodes[v].State = c.keys.keys[v].key
	}
	graphs := make([]MileGraph, len(c.groups.size))
	for q := range graphs {
		from, to := g.firstNode[q], g.firstNode[q+1]
		x := MileGraph{
			Group:     batch[g.order[g.member[q]]].Group,
			Successes: g.mile.group[q].successes,
			Failures:  g.mile.group[q].failures,
			Nodes:     slices.Clone(g.mile.nodes[from:to]),
			Edges:     slices.Clone(g.mile.edges[g.out[from]:g.out[to]]),
		}
		for e := range x.Edges {
			x.Edges[e].From -= from
			x.Edges[e].To -= from
		}
		x.countTies()
		graphs[q] = x
	}
	return graphs, nil
}

// countTies sets Pairs and Ties.
func (g *MileGraph) countTies() {
	for from := 0; from < len(g.Edges); {
		to := from
		for to < len(g.Edges) && g.Edges[to].From == g.Edges[from].From {
			to++
		}
		siblings := g.Edges[from:to]
		from = to
		turns, same := 0, make(map[float64]int) // turns before this edge, and those with its return
		for i := range siblings {
			e := &siblings[i]
			g.Pairs += turns * e.Turns
			g.Ties += same[e.GoalReturn] * e.Turns
			turns += e.Turns
			same[e.GoalReturn] += e.Turns
		}
	}
}

// WriteDOT writes g in the language of Graphviz: goals as double circles, kept milestones green, others that calibration
// dropped pale with a dashed border, traps as red octagons, and every other state white. Labels have the state, shortened to
// 40 characters, distance, outcomes, scores and potentials; those of edges have their turns, share of successes and returns,
// and edges that gain towards a milestone are green, towards a trap red. The same graph gives the same bytes. It returns the
// error of w. O(nodes + edges).
func (g *MileGraph) WriteDOT(w io.Writer) error {
	b := bufio.NewWriter(w) // keeps the first error until Flush
	fmt.Fprintf(b, "digraph {\n\trankdir=LR\n\tlabelloc=t\n\tlabel=\"%s\\n%d successes, %d failures, %d of %d pairs tied\"\n",
		dotText(g.Group), g.Successes, g.Failures, g.Ties, g.Pairs)
	b.WriteString("\tnode [shape=ellipse, style=filled, fillcolor=white, fontname=\"sans-serif\"]\n\tedge [fontname=\"sans-serif\", fontsize=10]\n")
	for v := range g.Nodes {
		fmt.Fprintf(b, "\tn%d [%s]\n", v, g.Nodes[v].dot())
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		color := "gray40"
		switch {
		case e.MilestoneGain > e.TrapGain:
			color = "forestgreen"
		case e.TrapGain > e.MilestoneGain:
			color = "firebrick"
		}
		fmt.Fprintf(b, "\tn%d -> n%d [color=%s, label=\"%d× p %.3g\\nr %.4g, shaped %.4g\"]\n",
			e.From, e.To, color, e.Turns, e.SuccessShare, e.GoalReturn, e.MilestoneReturn)
	}
	b.WriteString("}\n")
	return b.Flush()
}

// dot returns the attributes of a node.
func (n *MileNode) dot() string {
	var b strings.Builder
	state, distance := dotText(n.State), "no way to a goal"
	if n.State == "" {
		state = "(unknown)"
	}
	if n.Distance >= 0 {
		distance = fmt.Sprintf("%d to a goal", n.Distance)
	}
	fmt.Fprintf(&b, "label=\"%s\\n%s\\n%d+ %d-", state, distance, n.Successes, n.Failures)
	if n.Milestone {
		fmt.Fprintf(&b, "\\nmilestone %.4g, calibrated %.4g", n.MilestoneScore, n.CalibratedScore)
	}
	if n.Trap {
		fmt.Fprintf(&b, "\\ntrap %.4g", n.TrapScore)
	}
	fmt.Fprintf(&b, "\\npotential +%.3g -%.3g\"", n.MilestonePotential, n.TrapPotential)
	switch {
	case n.Goal:
		b.WriteString(", shape=doublecircle, fillcolor=gold")
	case n.Milestone && n.Kept:
		b.WriteString(", fillcolor=palegreen")
	case n.Milestone:
		b.WriteString(", style=\"filled,dashed\", fillcolor=honeydew")
	case n.Trap:
		b.WriteString(", shape=octagon, fillcolor=lightpink")
	}
	return b.String()
}

// longestLabel is how many characters of a state or group a drawing shows.
const longestLabel = 40

// dotText returns s as part of a label in quotes, in one line and shortened. A label has escapes of its own and knows the
// entities of HTML, so backslash and ampersand need care, too.
func dotText(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n == longestLabel {
			b.WriteRune('…')
			break
		}
		n++
		switch {
		case r == '"':
			b.WriteString(`\"`)
		case r == '\\':
			b.WriteString(`\\`)
		case r == '&':
			b.WriteString("&amp;")
		case r == '\n':
			b.WriteString(`\\n`) // shown as the escape, since the lines of a label are ours
		case r == '\t':
			b.WriteString(`\\t`)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
