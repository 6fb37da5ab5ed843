package webhook

import (
	"container/list"
	"net"
	"net/netip"
	"time"
)

// timeToSayHello is how long a new connection is as good as one that has begun. A server whose
// processors are short accepts hundreds at once, and a client whose own are short needs tens of
// milliseconds to say hello: without that time the API server's would go two milliseconds after
// it came.
const timeToSayHello = 100 * time.Millisecond

// places are those that connections have. Where all are taken, the newcomer gets that of
// another, by how far that one is: who has sent nothing gives way first, and whose review is
// in hand last. It is not safe for concurrent use.
type places struct {
	limit, held int
	// stages have their connections in the order in which each was last heard of.
	stages [stages]*list.List
	// groups are how many connections are of an address and equally far.
	groups map[group]int
	// unread says that something of a connection has come and was not read yet. Where
	// processors are short, who said hello would else go for one who says nothing.
	unread func(*connection) bool
}

// group are connections of one address that are equally far.
type group struct {
	address netip.Prefix
	stage   stage
}

// stage is how far a connection is.
type stage uint8

const (
	// silent: not a byte has come.
	silent stage = iota
	// begun: something came, but no whole question yet.
	begun
	// asked: a whole question came, and is being answered.
	asked
	// served: it was answered, and may be asked again.
	served
	stages
)

// share is how many of a stage give way to nobody further, of so many places. Without a share
// those that say hello would give way to each other, where others hold all the places by a
// single byte. Of those that were served none has to be there: an API server opens another.
func share(of stage, limit int) int {
	switch of {
	case silent:
		return limit / 8
	case begun:
		return limit / 4
	}
	return 0
}

// groupOf is the group of a new connection. What comes from one network of IPv6 may
// be one machine.
func groupOf(remote net.Addr) group {
	tcp, is := remote.(*net.TCPAddr)
	if !is {
		return group{}
	}
	address := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return group{} // not reached: the address has so many bits
	}
	return group{address: prefix}
}

func newPlaces(limit int) places {
	p := places{limit: limit, groups: map[group]int{}, unread: hasUnread}
	for i := range p.stages {
		p.stages[i] = list.New()
	}
	return p
}

// add gives a place, and says who loses his, nil if nobody. One that was chosen because it said
// nothing, or nothing since it was served, and of which something is there to be read, has
// begun: another is chosen.
func (p *places) add(c *connection) (out *connection) {
	for out = p.choose(c); out != nil; out = p.choose(c) {
		stage := out.group.stage
		if stage != silent && stage != served || !p.unread(out) {
			p.remove(out)
			break
		}
		p.move(out, begun)
	}
	p.enter(c)
	return out
}

// choose picks who goes when another comes. Where all but the shares have a review in hand,
// the one that has it longest goes: an API server's is answered within milliseconds, and the
// oldest wait for names that somebody has made up.
func (p *places) choose(comes *connection) *connection {
	// However many come that say nothing, half of the places are for others.
	if comes.group.stage == silent && p.stages[silent].Len() >= max(p.limit/2, 1) {
		return p.first(silent)
	}
	if p.held < p.limit {
		return nil
	}
	order := []stage{silent, begun, served}
	if quiet, is := p.oldest(silent); is && comes.came.Sub(quiet.came) < timeToSayHello {
		order = []stage{begun, silent, served}
	}
	for _, stage := range order {
		if p.beyond(stage) {
			return p.first(stage)
		}
	}
	return p.first(asked)
}

// oldest is who was longest not heard of, of a stage.
func (p *places) oldest(of stage) (c *connection, is bool) {
	if front := p.stages[of].Front(); front != nil {
		c, is = front.Value.(*connection)
	}
	return c, is
}

// beyond says that there are more of a stage than its share.
func (p *places) beyond(of stage) bool { return p.stages[of].Len() > share(of, p.limit) }

// first picks who goes first of a stage: who was longest not heard of. Only where one address
// has more of it than a quarter of all places, one of those goes, so that nobody displaces
// others from a single address. To count below that would be for the good of those who have
// many addresses: each holds one place, and the API server is the largest.
func (p *places) first(of stage) *connection {
	var greedy *group
	most := p.limit / 4
	for its, size := range p.groups {
		if its.stage == of && of != asked && size > most {
			greedy, most = &its, size
		}
	}
	for each := p.stages[of].Front(); each != nil; each = each.Next() {
		if found, is := each.Value.(*connection); is && (greedy == nil || found.group == *greedy) {
			return found
		}
	}
	return nil // not reached: the shares leave places
}

// enter gives a place that is free.
func (p *places) enter(c *connection) {
	c.of, c.place = p, p.stages[c.group.stage].PushBack(c)
	p.groups[c.group]++
	p.held++
}

// remove takes a place back. Who has none keeps none.
func (p *places) remove(c *connection) {
	if c.of != p {
		return
	}
	p.stages[c.group.stage].Remove(c.place)
	if p.groups[c.group]--; p.groups[c.group] == 0 {
		delete(p.groups, c.group)
	}
	c.of, c.place = nil, nil
	p.held--
}

// move notes how far a connection has come. Its own place is free for it.
func (p *places) move(c *connection, to stage) {
	p.remove(c)
	c.group.stage = to
	p.enter(c)
}
