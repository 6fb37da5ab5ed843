package webhook

import (
	"container/list"
	"net"
	"net/netip"
)

// places are those that connections have. Where all are taken, the newcomer gets
// that of another: who holds most gives one up, so that nobody can keep others out
// by taking many. It is not safe for concurrent use.
type places struct {
	limit, held int
	// groups have their connections in the order in which each was last heard of.
	groups map[group]*list.List
}

// group are connections that compete with each other first: those of one address,
// and of these, those that are equally far. Who opens many and asks nothing displaces
// his own kind, not those that are in use; who asks on many and keeps them does not
// displace those that are about to ask.
type group struct {
	address netip.Prefix
	stage   stage
}

// stage is how far a connection is.
type stage uint8

const (
	// begun: nothing was asked on it yet.
	begun stage = iota
	// asked: a whole question came, and is being answered.
	asked
	// served: it was answered, and may be asked again.
	served
)

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

func newPlaces(limit int) places { return places{limit: limit, groups: map[group]*list.List{}} }

// add gives a place, and says who loses his, nil if nobody.
func (p *places) add(c *connection) (out *connection) {
	if p.held >= p.limit {
		if out = p.choose(c.group); out != nil {
			p.remove(out)
		}
	}
	members := p.groups[c.group]
	if members == nil {
		members = list.New()
		p.groups[c.group] = members
	}
	c.of, c.place = p, members.PushBack(c)
	p.held++
	return out
}

// choose picks who goes when one more comes to a group: of the largest group, the one
// that was longest not heard of.
func (p *places) choose(comes group) *connection {
	var largest *list.List
	most := 0
	for its, members := range p.groups {
		size := members.Len()
		if its == comes {
			size++
		}
		if size > most {
			largest, most = members, size
		}
	}
	if largest == nil {
		return nil
	}
	found, _ := largest.Front().Value.(*connection)
	return found
}

// remove takes a place back. Who has none keeps none.
func (p *places) remove(c *connection) {
	if c.of != p {
		return
	}
	members := p.groups[c.group]
	members.Remove(c.place)
	if members.Len() == 0 {
		delete(p.groups, c.group)
	}
	c.of, c.place = nil, nil
	p.held--
}

// move notes how far a connection has come. Its own place is free for it.
func (p *places) move(c *connection, to stage) {
	p.remove(c)
	c.group.stage = to
	p.add(c)
}
