package listing

import (
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

// The bounds of a drawing, for catalogues of strangers: more nodes are no picture, and more lanes leave no
// room for names on a telephone.
const (
	mostNodes = 100
	mostLanes = 6
)

// Graph is a drawing of the upgrades in a channel: its versions in a column, and beside it lanes for edges.
type Graph struct {
	// Nodes are the newest versions of the channel, the newest first. Those without a version that can
	// be read are last.
	Nodes []GraphNode `json:"nodes"`
	// Edges are sorted by To, and then by From.
	Edges []GraphEdge `json:"edges"`
	// Lanes is how many lanes the edges take.
	Lanes int `json:"lanes"`
	// LeftOut counts the entries of the channel that are no nodes.
	LeftOut int `json:"leftOut"`
}

// GraphNode is an entry of a channel.
type GraphNode struct {
	Version string `json:"version,omitempty"`
	CSV     string `json:"csv"`
	// Head says that a new install takes it.
	Head bool `json:"head"`
	// Missing says that the catalogue names it, and does not have it.
	Missing bool `json:"missing"`
	// Notes say in words what the edges do not show of it.
	Notes []string `json:"notes"`
}

// GraphEdge is an upgrade between two nodes.
type GraphEdge struct {
	// From and To are places in Nodes. OLM upgrades From to To.
	From int `json:"from"`
	To   int `json:"to"`
	// Lane is 0 for an edge between neighbours, which is straight. The others go by a lane from 1 on. All
	// edges of a lane that meet in a row are to the same node.
	Lane int `json:"lane"`
}

// GraphOf draws a channel of a package. It is nil where the source does not tell which version upgrades
// from which.
func GraphOf(p *catalogue.Package, c catalogue.Channel) *Graph {
	if !c.EdgesKnown {
		return nil
	}
	d := newDrawing(p, c)
	upgrades := make([][]catalogue.Edge, len(d.drawn))
	for i, e := range d.drawn {
		upgrades[i] = p.Upgrades(alone(e), e.Name)
	}
	drawn := d.edges(upgrades)
	leads := d.leads()
	heads := slices.Compact(slices.Sorted(slices.Values(catalogue.Heads(c.Entries))))
	for i := range d.Nodes {
		node := &d.Nodes[i]
		node.Head = node.CSV == c.Head
		if len(heads) > 1 && slices.Contains(heads, node.CSV) {
			node.Notes = append(node.Notes, fmt.Sprintf("one of %d heads", len(heads)))
		}
		node.Notes = append(node.Notes, reached(len(upgrades[i]) > 0, leads[i], slices.Contains(heads, node.CSV))...)
		switch left := len(upgrades[i]) - drawn[i]; {
		case left > 0 && drawn[i] > 0:
			node.Notes = append(node.Notes, fmt.Sprintf("upgrades from %d more, not drawn", left))
		case left > 0:
			node.Notes = append(node.Notes, fmt.Sprintf("upgrades from %d, not drawn", left))
		}
	}
	return &d.Graph
}

// reached says which upgrades a version lacks. A head has none from it.
func reached(to, from, head bool) []string {
	switch {
	case !to && !from:
		return []string{"no upgrade leads to it or from it"}
	case !to:
		return []string{"no upgrade leads to it"}
	case !from && !head:
		return []string{"no upgrade leads from it"}
	}
	return nil
}

// alone is a channel with one entry, of which the upgrades are found without a search.
func alone(e catalogue.Entry) catalogue.Channel {
	return catalogue.Channel{EdgesKnown: true, Entries: []catalogue.Entry{e}}
}

// drawing is a graph that is being made.
type drawing struct {
	Graph
	// entries are those of the channel, each name once, and drawn are the first of them.
	entries, drawn []catalogue.Entry
	bundles        []catalogue.Bundle
	place          map[string]int
	// taken says of each lane from 1 on which rows have a line.
	taken [mostLanes][mostNodes]bool
}

// newDrawing has the nodes. The first of several entries of a name counts, as for Package.Upgrades.
func newDrawing(p *catalogue.Package, c catalogue.Channel) *drawing {
	bundles := make(map[string]catalogue.Bundle, len(p.Bundles))
	for _, b := range p.Bundles {
		bundles[b.Name] = b
	}
	d := &drawing{place: map[string]int{}, Graph: Graph{Nodes: []GraphNode{}, Edges: []GraphEdge{}}}
	seen := map[string]bool{"": true}
	for _, e := range c.Entries {
		if !seen[e.Name] {
			seen[e.Name] = true
			d.entries = append(d.entries, e)
		}
	}
	slices.SortStableFunc(d.entries, func(a, b catalogue.Entry) int {
		return CompareVersions(bundles[b.Name].Version, bundles[a.Name].Version)
	})
	d.drawn = d.entries[:min(len(d.entries), mostNodes)]
	d.LeftOut = len(d.entries) - len(d.drawn)
	for i, e := range d.drawn {
		b, has := bundles[e.Name]
		d.place[e.Name] = i
		d.Nodes = append(d.Nodes, GraphNode{Version: b.Version, CSV: e.Name, Missing: !has, Notes: []string{}})
		if has {
			d.bundles = append(d.bundles, b)
		}
	}
	return d
}

// leads says of each node whether an upgrade of the channel leads from it, also one to an entry that is left out.
func (d *drawing) leads() []bool {
	out := make([]bool, len(d.drawn))
	few := catalogue.Package{Bundles: d.bundles}
	for _, e := range d.entries {
		for _, edge := range few.Upgrades(alone(e), e.Name) {
			if i, is := d.place[edge.From]; is {
				out[i] = true
			}
		}
	}
	return out
}

// edges draws the upgrades into each node, as far as there is room, and returns how many are drawn. What
// replaces comes before what skips, and newer versions before older ones.
func (d *drawing) edges(upgrades [][]catalogue.Edge) []int {
	drawn := make([]int, len(upgrades))
	for _, replaces := range []bool{true, false} {
		for to, edges := range upgrades {
			var far []int
			for _, edge := range edges {
				from, is := d.place[edge.From]
				switch {
				case !is || (edge.By == catalogue.ByReplaces) != replaces:
				case from == to+1 || from == to-1:
					d.Edges = append(d.Edges, GraphEdge{from, to, 0})
					drawn[to]++
				default:
					far = append(far, from)
				}
			}
			if lane := d.lane(to, far); lane > 0 {
				for _, from := range far {
					d.Edges = append(d.Edges, GraphEdge{from, to, lane})
				}
				drawn[to] += len(far)
			}
		}
	}
	slices.SortFunc(d.Edges, func(a, b GraphEdge) int {
		if a.To != b.To {
			return a.To - b.To
		}
		return a.From - b.From
	})
	return drawn
}

// lane takes a lane for edges to a node; 0 if all are taken, or there is no edge.
func (d *drawing) lane(to int, from []int) int {
	if len(from) == 0 {
		return 0
	}
	first, last := min(to, slices.Min(from)), max(to, slices.Max(from))
	for i := range d.taken {
		rows := d.taken[i][first : last+1]
		if slices.Contains(rows, true) {
			continue
		}
		for row := range rows {
			rows[row] = true
		}
		d.Lanes = max(d.Lanes, i+1)
		return i + 1
	}
	return 0
}
