package webhook

import (
	"net"
	"net/netip"
	"testing"
)

// from makes connections of an address.
func from(address string, is stage, count int) (made []*connection) {
	for range count {
		made = append(made, &connection{group: group{netip.MustParsePrefix(address), is}})
	}
	return made
}

// TestAFloodDisplacesItself: whatever comes from elsewhere, and however it behaves,
// those of an address that holds few stay; and of those of one address, the ones in use
// stay when connections come that ask nothing, and those that are about to ask when
// others ask and stay.
func TestAFloodDisplacesItself(t *testing.T) {
	t.Parallel()
	const limit = 100
	tests := map[string]struct{ honest, flood group }{
		"new ones of another address":        {group{netip.MustParsePrefix("10.0.0.1/32"), begun}, group{netip.MustParsePrefix("10.0.0.2/32"), begun}},
		"answered ones of another address":   {group{netip.MustParsePrefix("10.0.0.1/32"), begun}, group{netip.MustParsePrefix("10.0.0.2/32"), served}},
		"new ones of the same address":       {group{netip.MustParsePrefix("10.0.0.1/32"), served}, group{netip.MustParsePrefix("10.0.0.1/32"), begun}},
		"answered ones of the same address":  {group{netip.MustParsePrefix("10.0.0.1/32"), begun}, group{netip.MustParsePrefix("10.0.0.1/32"), served}},
		"ones that ask, of the same address": {group{netip.MustParsePrefix("10.0.0.1/32"), begun}, group{netip.MustParsePrefix("10.0.0.1/32"), asked}},
		"new ones, of that which is asked":   {group{netip.MustParsePrefix("10.0.0.1/32"), asked}, group{netip.MustParsePrefix("10.0.0.1/32"), begun}},
		"new ones of another, while it asks": {group{netip.MustParsePrefix("10.0.0.1/32"), served}, group{netip.MustParsePrefix("10.0.0.2/32"), begun}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlaces(limit)
			var honest []*connection
			for range limit / 4 {
				one := &connection{group: test.honest}
				honest = append(honest, one)
				p.add(one)
			}
			for range 100 * limit {
				p.add(&connection{group: test.flood})
			}
			for i, one := range honest {
				if one.of == nil {
					t.Fatalf("number %d of %d has lost its place", i, len(honest))
				}
			}
			if p.held != limit {
				t.Errorf("%d places are taken, want %d", p.held, limit)
			}
		})
	}
}

// TestOfOneKindTheOldestGoes: one that is as far once more goes later.
func TestOfOneKindTheOldestGoes(t *testing.T) {
	t.Parallel()
	p := newPlaces(3)
	there := from("10.0.0.1/32", begun, 3)
	for _, one := range there {
		p.add(one)
	}
	p.move(there[0], begun)
	for i, want := range []*connection{there[1], there[2], there[0]} {
		if out := p.add(from("10.0.0.1/32", begun, 1)[0]); out != want {
			t.Errorf("number %d that comes displaces another than it should", i)
		}
	}
	p.remove(there[0]) // it has lost its place: nothing happens
	if p.held != 3 {
		t.Errorf("%d places are taken, want 3", p.held)
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
