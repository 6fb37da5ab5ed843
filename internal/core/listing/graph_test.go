package listing_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// line is an entry as a test writes it: "2 <1 -0,0.5 [<1.0.0]" is the version 2.0.0, which replaces 1.0.0,
// skips 0.0.0 and 0.5.0, and has a range. A name is of a bundle, unless it begins with a letter.
func line(text string) (e catalogue.Entry) {
	text, e.SkipRange, _ = strings.Cut(text, " [")
	e.SkipRange = strings.TrimSuffix(e.SkipRange, "]")
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			e.Name = word
		case word[0] == '<':
			e.Replaces = word[1:]
		case word[0] == '-':
			e.Skips = strings.Split(word[1:], ",")
		}
	}
	return e
}

// channelOf is a package with one channel, as the lines have it. Its bundles are those whose name is a version.
func channelOf(lines ...string) (*catalogue.Package, catalogue.Channel) {
	var b catalogue.Builder
	b.Package(catalogue.Package{Name: "p", DefaultChannel: "stable"}, catalogue.Where{})
	c := catalogue.Channel{Name: "stable", EdgesKnown: true}
	seen := map[string]bool{}
	for _, text := range lines {
		e := line(text)
		c.Entries = append(c.Entries, e)
		if _, err := strconv.Atoi(e.Name); err == nil && !seen[e.Name] {
			seen[e.Name] = true
			b.Bundle("p", catalogue.Bundle{Name: e.Name, Version: e.Name + ".0.0"}, catalogue.Where{})
		}
	}
	b.Channel("p", c, catalogue.Where{})
	made := b.Build()
	return &made.Packages[0], made.Packages[0].Channels[0]
}

// drawn is a graph as text: its nodes from the top, the head with a star, and the edges as "to<from", with a
// lane that is not 0.
func drawn(g *listing.Graph) (out []string) {
	for i, node := range g.Nodes {
		text := node.CSV
		if node.Head {
			text += "*"
		}
		if node.Missing {
			text += "?"
		}
		for _, edge := range g.Edges {
			if edge.To == i {
				text += " <" + g.Nodes[edge.From].CSV
				if edge.Lane > 0 {
					text += fmt.Sprintf("/%d", edge.Lane)
				}
			}
		}
		if len(node.Notes) > 0 {
			text += ": " + strings.Join(node.Notes, "; ")
		}
		out = append(out, text)
	}
	return out
}

func TestGraphOf(t *testing.T) {
	for name, test := range map[string]struct{ entries, want []string }{
		"no entry":                      {nil, nil},
		"one entry":                     {[]string{"1"}, []string{"1*: no upgrade leads to it or from it"}},
		"a line, the newest at the top": {[]string{"1", "3 <2", "2 <1"}, []string{"3* <2", "2 <1", "1: no upgrade leads to it"}},
		"versions are no texts":         {[]string{"9", "10 <9"}, []string{"10* <9", "9: no upgrade leads to it"}},
		"what is skipped has a lane, and one rail has all": {[]string{"1", "2 <1", "3 <1", "4 <3 -1,2"}, []string{
			"4* <3 <2/2 <1/2", "3 <1/1", "2 <1", "1: no upgrade leads to it"}},
		"a range":                       {[]string{"1", "2", "3 [<3.0.0]"}, []string{"3 <2 <1/1: one of 3 heads", "2: one of 3 heads; no upgrade leads to it", "1: one of 3 heads; no upgrade leads to it"}},
		"each lower bound of a range":   {[]string{"1", "2", "3 <2 -1 [>=2.0.0 <3.0.0]"}, []string{"3* <2 <1/1", "2: no upgrade leads to it", "1: no upgrade leads to it"}},
		"a branch":                      {[]string{"1", "2 <1", "3 <1"}, []string{"3 <1/1: one of 2 heads", "2 <1: one of 2 heads", "1: no upgrade leads to it"}},
		"an entry that nothing reaches": {[]string{"1", "2 <1", "3 <3", "4 <2"}, []string{"4* <2/1", "3: no upgrade leads to it or from it", "2 <1", "1: no upgrade leads to it"}},
		"an entry that replaces itself": {[]string{"1 <1", "2 <1"}, []string{"2* <1", "1: no upgrade leads to it"}},
		"a circle of neighbours":        {[]string{"1 <2", "2 <1"}, []string{"2 <1", "1 <2"}},
		"a circle of three":             {[]string{"1 <3", "2 <1", "3 <2"}, []string{"3 <2", "2 <1", "1 <3/1"}},
		"what is replaced is not there": {[]string{"2 <gone"}, []string{"2*: upgrades from 1, not drawn"}},
		"one of two is not there":       {[]string{"1", "2 <1 -gone"}, []string{"2* <1: upgrades from 1 more, not drawn", "1: no upgrade leads to it"}},
		"the catalogue lacks a bundle":  {[]string{"lost", "2 <lost"}, []string{"2* <lost", "lost?: no upgrade leads to it"}},
		"the first of two of one name":  {[]string{"1", "2 <1", "2 <gone"}, []string{"2 <1", "1: no upgrade leads to it"}},
		"a range that cannot be read":   {[]string{"1", "2 <1 [soon]"}, []string{"2* <1", "1: no upgrade leads to it"}},
		"rails side by side, and in a row": {[]string{"1", "2", "3 <1", "4 <2", "5 <3", "6 <4", "7 <6 -5"}, []string{
			"7* <6 <5/3", "6 <4/1", "5 <3/2", "4 <2/3", "3 <1/1", "2: no upgrade leads to it", "1: no upgrade leads to it"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, c := channelOf(test.entries...)
			if diff := cmp.Diff(test.want, drawn(listing.GraphOf(p, c))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A channel as large as strangers make them has a drawing of a bounded size, and says what is not in it.
func TestGraphOfALargeChannel(t *testing.T) {
	const entries = 5000
	var lines []string
	for i := range entries {
		lines = append(lines, fmt.Sprintf("%d <%d [<%d.0.0]", i, i-1, i))
	}
	p, c := channelOf(lines...)
	g := listing.GraphOf(p, c)
	if len(g.Nodes) != 100 || g.LeftOut != entries-100 || g.Lanes != 6 || len(g.Edges) > 1000 {
		t.Errorf("%d nodes, %d are left out, %d edges in %d lanes", len(g.Nodes), g.LeftOut, len(g.Edges), g.Lanes)
	}
	lines = drawn(g)
	for row, want := range map[int]string{0: ": upgrades from 4900 more, not drawn", 50: "4949 <4948: upgrades from 4948 more, not drawn", 99: "4900: upgrades from 4900, not drawn"} {
		if !strings.HasSuffix(lines[row], want) {
			t.Errorf("row %d is %q, want %q", row, lines[row], want)
		}
	}
	// An old entry to which a new one leads is not drawn; it leads on all the same.
	lines = []string{"old <150"}
	for i := range 151 {
		lines = append(lines, fmt.Sprint(i))
	}
	p, c = channelOf(lines...)
	if g := listing.GraphOf(p, c); strings.Contains(drawn(g)[0], "from it") {
		t.Errorf("of the newest node is said: %s", drawn(g)[0])
	}
}

func TestGraphOfWhatIsNotKnown(t *testing.T) {
	p, c := channelOf("1", "2")
	c.EdgesKnown = false
	if g := listing.GraphOf(p, c); g != nil {
		t.Errorf("upgrades that nobody knows are drawn: %v", drawn(g))
	}
}

// Of any channel the drawing ends, is bounded, and shows only upgrades that there are.
func FuzzGraphOf(f *testing.F) {
	for _, seed := range []string{"", "1\n2 <1\n3 <2 -1 [<3.0.0]", "1 <3\n2 <1\n3 <2", "2 <2 -2\n2 <gone", "a <b\nb <a -a,c [>0.0.0]\nc\n\n", "1\n2\n3 <1\n4 <2\n5 <3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, c := channelOf(strings.Split(text, "\n")...)
		g := listing.GraphOf(p, c)
		names := map[string]bool{}
		for _, e := range c.Entries {
			names[e.Name] = true
		}
		delete(names, "")
		if len(g.Nodes) > 100 || len(g.Nodes)+g.LeftOut != len(names) || g.Lanes > 6 {
			t.Errorf("%d nodes, %d left out of %d; %d lanes", len(g.Nodes), g.LeftOut, len(names), g.Lanes)
		}
		rows := map[[2]int]int{} // by lane and row, the node that the line is to
		for _, edge := range g.Edges {
			from, to := g.Nodes[edge.From].CSV, g.Nodes[edge.To].CSV
			if !slices.ContainsFunc(p.Upgrades(c, to), func(e catalogue.Edge) bool { return e.From == from }) {
				t.Errorf("%q does not upgrade to %q", from, to)
			}
			near := edge.From-edge.To == 1 || edge.To-edge.From == 1
			if near != (edge.Lane == 0) || edge.Lane > g.Lanes {
				t.Errorf("the edge %+v of %d lanes", edge, g.Lanes)
			}
			for row := min(edge.From, edge.To); !near && row <= max(edge.From, edge.To); row++ {
				if other, taken := rows[[2]int{edge.Lane, row}]; taken && other != edge.To {
					t.Errorf("lane %d has two lines in row %d", edge.Lane, row)
				}
				rows[[2]int{edge.Lane, row}] = edge.To
			}
		}
	})
}
