package webhook

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

// noon is when connections come that come at no other time.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// from makes connections of an address.
func from(address string, is stage, count int) (made []*connection) {
	for range count {
		made = append(made, &connection{came: noon, group: group{netip.MustParsePrefix(address), is}})
	}
	return made
}

// address is the number-th of many.
func address(number int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(number >> 8), byte(number)}), 32)
}

// TestFloodsDisplaceThemselves: however many come, and from however many addresses, those stay
// of an API server that are further than the flood; and from a single address, whatever it
// does, nobody displaces those of another.
func TestFloodsDisplaceThemselves(t *testing.T) {
	t.Parallel()
	const limit = 100
	for name, test := range map[string]struct {
		honest, flood stage
		// addresses of the flood, and how many of limit the honest have.
		addresses, held int
	}{
		"silent ones of one address, while it says hello":  {silent, silent, 1, 20},
		"silent ones of one address":                       {begun, silent, 1, 50},
		"silent ones of many":                              {begun, silent, 1000, 50},
		"silent ones of many, while it was served":         {served, silent, 1000, 50},
		"silent ones of many, while it asks":               {asked, silent, 1000, 50},
		"ones that begin, of one address, as it does":      {begun, begun, 1, 20},
		"ones that begin, of many":                         {served, begun, 1000, 60},
		"ones that begin, of many, while it asks":          {asked, begun, 1000, 60},
		"ones that were served, of one address, as it was": {served, served, 1, 20},
		"ones that were served, of many, while it asks":    {asked, served, 1000, 60},
		"ones that begin, of many, while it says hello":    {silent, begun, 1000, 10},
		"ones that were served, of many, as it begins":     {begun, served, 1000, 20},
		"ones that ask, of many, as it begins":             {begun, asked, 1000, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlaces(limit)
			honest := from("10.0.0.1/32", test.honest, test.held)
			for _, one := range honest {
				p.add(one)
			}
			for i := range 100 * limit {
				one := &connection{came: noon.Add(time.Duration(i) * time.Second / 2000), group: group{address(i % test.addresses), silent}}
				p.add(one)
				if test.flood != silent {
					p.move(one, test.flood)
				}
			}
			for i, one := range honest {
				if one.of == nil {
					t.Fatalf("number %d of %d has lost its place", i, len(honest))
				}
			}
			if p.held > limit || p.stages[silent].Len() > limit/2 {
				t.Errorf("%d places are taken, %d by silent ones; want at most %d and half of them", p.held, p.stages[silent].Len(), limit)
			}
		})
	}
}

// TestANewcomerIsHeard: at three hundred new connections a second of a thousand addresses, an
// API server that takes half a second to say hello, and as long to ask, keeps its place to the
// answer, whatever the flood does.
func TestANewcomerIsHeard(t *testing.T) {
	t.Parallel()
	const limit, between = 512, 150
	for name, flood := range map[string]stage{"silent": silent, "begun": begun, "asked": asked, "served": served} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlaces(limit)
			number := 0
			comes := func(count int) {
				for range count {
					one := &connection{came: noon.Add(time.Duration(number) * time.Second / 300), group: group{address(number % 1000), silent}}
					p.add(one)
					if flood != silent {
						p.move(one, flood)
					}
					number++
				}
			}
			comes(10 * limit)
			for round := range 20 {
				one := from("10.0.0.1/32", silent, 1)[0]
				one.came = noon.Add(time.Duration(number) * time.Second / 300)
				p.add(one)
				for _, next := range []stage{begun, asked, served} {
					comes(between)
					if one.of == nil {
						t.Fatalf("round %d: it has lost its place before it was %d", round, next)
					}
					p.move(one, next)
				}
			}
		})
	}
}

// TestTheOrderInWhichTheyGive: by stage, and of one stage the oldest; one that is heard of
// anew goes later.
func TestTheOrderInWhichTheyGive(t *testing.T) {
	t.Parallel()
	p := newPlaces(8)
	var there []*connection
	for i, is := range []stage{asked, served, begun, silent, asked, served, begun, silent} {
		one := &connection{came: noon, group: group{address(i), is}}
		there = append(there, one)
		p.add(one)
	}
	p.move(there[1], served)
	// One that is silent and two that have begun are the shares.
	for i, want := range []int{3, 5, 1, 0, 4} {
		comes := &connection{came: noon.Add(timeToSayHello), group: group{address(100 + i), asked}}
		if out := p.add(comes); out != there[want] {
			t.Fatalf("number %d that comes displaces another than number %d", i, want)
		}
	}
	p.remove(there[0]) // it has lost its place: nothing happens
	if p.held != 8 {
		t.Errorf("%d places are taken, want 8", p.held)
	}
}

// TestABurstLeavesTimeToSayHello: where a server accepts hundreds of connections in the same
// moment, the one that came first of them has its time to say hello; then it goes before others.
// However many come, none of them takes a place of one that was served.
func TestABurstLeavesTimeToSayHello(t *testing.T) {
	t.Parallel()
	const limit = 512
	p := newPlaces(limit)
	comes := func(after time.Duration, count int) (made []*connection) {
		for i := range count {
			made = append(made, &connection{came: noon.Add(after), group: group{address(i), silent}})
			p.add(made[i])
		}
		return made
	}
	idle := from("10.0.0.2/32", served, limit/8)
	for _, one := range idle {
		p.add(one)
	}
	for range limit {
		p.move(comes(0, 1)[0], begun)
	}
	first := comes(time.Second, 1)[0]
	comes(time.Second+timeToSayHello-1, limit/2-1)
	if first.of == nil {
		t.Error("it has lost its place before it had time to say hello")
	}
	comes(time.Second+timeToSayHello, 1)
	if first.of != nil {
		t.Error("one that has said nothing in its time keeps its place")
	}
	comes(time.Second+timeToSayHello, 4*limit)
	for i, one := range idle {
		if one.of == nil {
			t.Fatalf("number %d of %d that were served has lost its place", i, len(idle))
		}
	}
	if p.held != limit {
		t.Errorf("%d places are taken, want %d", p.held, limit)
	}
}

func TestAddressesOfConnections(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.1.2.3": "10.1.2.3/32", "::ffff:10.1.2.3": "10.1.2.3/32", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
	} {
		if got := groupOf(&net.TCPAddr{IP: net.ParseIP(text), Port: 1}).address; got != netip.MustParsePrefix(want) {
			t.Errorf("%s is of %s, want %s", text, got, want)
		}
	}
}
